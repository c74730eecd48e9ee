"""Files for a model of one column."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mercer.data import DataError
from mercer.tabular.kinds import Kind
from mercer.tabular.reading import read_for


def model(*columns: str) -> Any:
    return SimpleNamespace(kinds_={name: Kind("text", "") for name in columns} | {"gone": Kind("constant", "")})


@pytest.mark.parametrize("name", ["new.txt", "new.csv"])
def test_lines_are_values(tmp_path: Path, name: str) -> None:
    lines = ["the goal, late", "bread", "a, b, c", "soup"]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    table, note = read_for(model("note"), tmp_path / name)
    assert table["note"].to_list() == lines
    assert "has no header: every line was taken as a value of 'note'" in note
    (tmp_path / name).write_text("\n".join(["Note", *lines]) + "\n")
    table, note = read_for(model("note"), tmp_path / name)
    assert table["note"].to_list() == lines
    assert not note


def test_tables_are_tables(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("number,note\n1,the goal\n2,bread\n")
    table, note = read_for(model("note"), path)
    assert (table.columns, note) == (["number", "note"], "")
    table, _ = read_for(model("note", "number"), path)
    assert table["number"].to_list() == [1, 2]
    with pytest.raises(DataError, match="lacks the column 'words'"):
        read_for(model("words"), path)
    path.write_text("number,note\n1,the goal\n2,bread,butter\n")
    with pytest.raises(DataError, match="line 3 has 3 fields"):
        read_for(model("note"), path)
