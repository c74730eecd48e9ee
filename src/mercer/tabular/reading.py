"""Files as tables for a model that is trained."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from mercer.data import DataError
from mercer.files.persistence import load
from mercer.files.places import is_text
from mercer.files.readers import read_table
from mercer.files.svmlight import SparseTable
from mercer.files.text import first_line
from mercer.tabular.model import TableModel
from mercer.troubles import coded


def load_table_model(path: Path) -> TableModel:
    """The model of a table in a file; a ValueError where the file holds another."""
    found = load(path)
    if not isinstance(found, TableModel):
        raise ValueError(
            coded(
                f"{path} holds a {type(found).__name__}, not a model of mercer fit; load it in Python:"
                f" mercer.load({str(path)!r}).",
                "M504",
            )
        )
    return found


def read_for(
    model: TableModel, path: Path, max_bytes: int | str | None = None
) -> tuple[pl.DataFrame | SparseTable, str]:
    """The table in a file, read for a model, and a note where something was assumed.

    For a model of one column the file may be of one column, its values one a line: with the name of the column above
    them, or without.
    """
    used = [name for name, kind in model.kinds_.items() if kind.used]
    if len(used) != 1 or not is_text(path):
        return read_table(path, sparse=True, max_bytes=max_bytes), ""
    name = used[0]
    try:
        table = read_table(path, sparse=True, max_bytes=max_bytes)
    except DataError:  # lines of text hold different numbers of commas
        values, first = _lines_of(path, name, max_bytes)
        if name in first and first.strip() != name:
            raise  # a header of several columns
        return values, _assumed(path, name, first)
    if isinstance(table, SparseTable) or (name in table.columns and table.width > 1):
        return table, ""
    if table.width > 1:
        raise DataError(
            f"{path} lacks the column {name!r} that the model was trained on; it has"
            f" {', '.join(map(repr, table.columns[:8]))}. If it is of one column, write the name {name!r} above it.",
            "M602",
        )
    values, first = _lines_of(path, name, max_bytes)
    return values, _assumed(path, name, first)


def _lines_of(path: Path, name: str, max_bytes: int | str | None) -> tuple[pl.DataFrame, str]:
    """A file of one column, and its first line."""
    values = read_table(path, lines=name, sparse=False, max_bytes=max_bytes)
    return values, first_line(path, max_bytes)


def _assumed(path: Path, name: str, first: str) -> str:
    return (
        ""
        if first.strip().casefold() == name.casefold()
        else f"{path} has no header: every line was taken as a value of {name!r}."
    )
