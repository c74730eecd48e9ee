"""Every example of the gallery runs as it stands, draws, and warns of nothing: with real data and without.

Each runs in a process of its own. Its figures are drawn at the end, since a missing letter or a layout without room is
only noticed there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FILES = sorted(EXAMPLES.glob("*/*.py"))
NEEDS = {"molecules": "rdkit"}  # folder to package
MADE_UP = {"mixed_table"}  # whose data are always made up, and said to be
CHILD = """
import runpy, sys, warnings
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
shown = []
plt.show = lambda: shown.extend(plt.get_fignums())
warnings.simplefilter("error")
runpy.run_path(sys.argv[1], run_name="__main__")
assert shown, "nothing was shown"
for number in shown:
    plt.figure(number).canvas.draw()
    assert plt.figure(number).get_figwidth() <= 8, "wider than a page of the gallery"
"""


def run(path: Path, data: Path, here: Path) -> str:
    """What the example prints, run in an empty folder."""
    environment = os.environ | {"MERCER_DATA": str(data), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)],
        env=environment, cwd=here, capture_output=True, encoding="utf-8", timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def test_examples_are_found() -> None:
    assert len(FILES) >= 8
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert text.startswith('"""\n'), f"{path} begins with its question"
        assert "assert " in text, f"{path} checks nothing of what it says"
        assert (path.parent / "README.rst").is_file(), f"{path.parent.name} has no title in the gallery"


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_example_without_data(path: Path, tmp_path: Path) -> None:
    if needed := NEEDS.get(path.parent.name):
        pytest.importorskip(needed)
    said = run(path, tmp_path, tmp_path)
    if "import at_hand" in path.read_text(encoding="utf-8"):
        assert "made up" in said or "scikit-learn" in said, "the example says where its data come from"


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in FILES if "import at_hand" in path.read_text(encoding="utf-8")],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_example_with_data(path: Path, shared_data: Path, tmp_path: Path) -> None:
    if needed := NEEDS.get(path.parent.name):
        pytest.importorskip(needed)
    assert ("made up" in run(path, shared_data, tmp_path)) == (path.stem in MADE_UP)
