"""The examples run, and say what they promise."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.thorough
def test_molecule_activity(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("rdkit")
    runpy.run_path(str(EXAMPLES / "molecule_activity.py"))["main"](["--out", str(tmp_path)])
    said = capsys.readouterr().out
    assert "AUC on those ranked: 0.9" in said
    assert "C=O" in said  # what the labels were made of pushes up
    assert "<svg" in (tmp_path / "activity.html").read_text(encoding="utf-8")
