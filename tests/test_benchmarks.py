"""Every benchmark states a promise, measures it and is judged by it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.__main__ import keep, verdicts

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
FILES = sorted(FOLDER.glob("bench_*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_promises_and_is_judged(path: Path) -> None:
    tree = ast.parse(path.read_text())
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    options = {option.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for option in node.keywords}
    assert (ast.get_docstring(tree) or "").startswith("Promise")
    assert "promise" in called or "promised" in options
    assert "judged" in called


@pytest.mark.parametrize(
    ("promises", "status", "said"),
    [
        ("promise('a', 1.34, at_least=1.0)", 0, "kept a: 1.34× ≥ 1×"),
        ("promise('a', 0.8, at_least=1.0)", 1, "FELL SHORT a: 0.8× < 1×"),
        ("promise('a', 1.0, at_most=1.5, unit='GB')", 0, "kept a: 1 GB ≤ 1.5 GB"),
        ("promise('a', 2.0, at_most=1.5, unit='GB')", 1, "FELL SHORT a: 2 GB > 1.5 GB"),
        ("promise('a', float('nan'), at_least=1.0)", 1, "FELL SHORT a: nan× < 1×"),
        ("(promise('a', 0.8, at_least=1.0), promise('b', 2.0, at_least=1.0))", 1, "kept b: 2× ≥ 1×"),
        ("table('t', {'us': [1.0], 'a': [3.0]}, 'us', promised={'a': 2.0})", 0, "kept t, a: 3× ≥ 2×"),
        ("table('t', {'us': [1.0]}, 'us', promised={'fastsk': 2.0})", 0, "skipped: fastsk is not installed"),
    ],
)
def test_verdicts(promises: str, status: int, said: str) -> None:
    code = f"from benchmarks.measure import judged, promise, table; judged(lambda: {promises})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=FOLDER.parent)
    assert (done.returncode, done.stderr) == (status, "")
    assert f"  {said}\n" in done.stdout


def test_verdicts_are_kept_in_the_place_of_older_ones(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    keep("svm", 0, ["kept a: 2× ≥ 1×"], path)
    keep("gram", 1, ["FELL SHORT b: 0.5× < 1×", "skipped: x is not installed", "skipped: x is not installed"], path)
    keep("svm", 1, ["kept a: 3× ≥ 1×"], path)
    gram, svm = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    assert (gram["benchmark"], gram["ended"]) == ("gram", True)
    assert gram["verdicts"] == ["FELL SHORT b: 0.5× < 1×", "skipped: x is not installed"]
    assert (svm["verdicts"], svm["ended"]) == (["kept a: 3× ≥ 1×"], False)
    assert svm["date"]
    assert "cores" in svm["machine"]


def test_what_a_benchmark_leaves_behind_is_ended_and_none_outlives_the_run(tmp_path: Path) -> None:
    leaving = tmp_path / "leaving.py"
    leaving.write_text("import subprocess; subprocess.Popen(['sleep', '60']); print('  kept a: 2× ≥ 1×', flush=True)")
    start = time.monotonic()
    assert verdicts(leaving, []) == (0, ["kept a: 2× ≥ 1×"])
    assert time.monotonic() - start < 30  # not the sixty seconds of what it left
    staying = tmp_path / "staying.py"
    staying.write_text("import time; print('  kept a: 2× ≥ 1×', flush=True); time.sleep(60)")
    status, lines = verdicts(staying, [], 1.0)
    assert (status < 0, lines) == (True, ["kept a: 2× ≥ 1×"])
