"""What comes in from outside, spoiled at random: some cases for each door. ``tests/fuzz_doors.py`` runs for as
long as one likes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import mercer as mc
from tests.fuzz_doors import Door, attempt, doors, in_lines, spoiled

SCRIPT = Path(__file__).resolve().parents[1] / "fuzz_doors.py"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "names",
    [
        ["csv", "text", "lines", "svmlight", "fasta", "fastq", "npz", "tu", "graphml", "gexf", "edges", "parse"],
        ["parquet", "packed", "load"],
        ["sdf"],
    ],
    ids=" ".join,
)
def test_whatever_comes_in_is_taken_or_refused_in_words(names: list[str]) -> None:
    """In a process of its own, whose memory is limited."""
    if "sdf" in names:
        pytest.importorskip("rdkit")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--cases", "60", "--seconds", "60", *names],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == names


def test_every_reader_is_a_door() -> None:
    readers = {name for name in dir(mc) if name.startswith("read_")} | {"parse", "load"}
    assert readers == {"read_table", "read_tu", "read_graphs", "read_sdf", "parse", "load"}
    known = {"csv", "svmlight", "fasta", "fastq", "parquet", "npz", "tu", "sdf", "parse", "load", "libsvm"}
    assert known <= doors().keys()


def test_the_script_finds_what_is_wrong(tmp_path: Path) -> None:
    """A door with an error of another kind, one that is too slow, one that warns; and the same case again by its
    number.
    """

    def enter(content: bytes, _: Path) -> None:
        if b"1" in content:
            raise mc.DataError("refused")
        raise KeyError("not said in words")

    door = Door([b"a,b\n1,2\n"], in_lines, enter, mc.DataError)
    assert attempt(door, b"1", tmp_path) is None
    assert "KeyError" in (attempt(door, b"2", tmp_path) or "")
    cases = [spoiled(door, "x", 0, case) for case in range(100)]
    assert cases == [spoiled(door, "x", 0, case) for case in range(100)]
    assert len(set(cases)) > 50
    assert any(attempt(door, content, tmp_path) for content in cases)
