"""Tables of molecules, from files of SMILES: one to a line, what is known of it after a blank or a tab."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from mercer.data import DataError
from mercer.data.archives import check_fields
from mercer.data.molecules import first_unreadable
from mercer.data.tables import excerpt
from mercer.files.fields import as_columns
from mercer.files.text import lines_of


class _Line(NamedTuple):
    number: int  # in the file
    record: int
    fields: list[str]

    def wrong(self, path: Path, what: str) -> DataError:
        """The error for this line."""
        title = f", {excerpt(self.fields[1])}" if len(self.fields) > 1 else ""
        return DataError(f"{path}, line {self.number} (record {self.record}{title}): {what}", "M502")


def read_smiles(text: str, path: Path, limit: int) -> pl.DataFrame:
    """One row for each line that is not blank: ``smiles``, ``name``, and what follows as ``column_3``, ….

    Fields are separated by tabs, if every line has one; else by blanks, if all lines have equally many fields; else
    the name is all that follows the first blank. A first line that says "smiles" where the others have a molecule
    names the columns, the first of which is ``smiles`` whatever it says. All but the SMILES are typed as the columns of
    a CSV file are. Where RDKit is installed, each SMILES is read once: what it cannot read is refused.
    """
    lines = [(number, line.strip(" ")) for number, line in enumerate(lines_of(text), start=1) if line.strip()]
    names = _names(lines[0][1], path)
    lines = lines[bool(names) :]
    if not lines:
        raise DataError(f"{path} has a header but no rows.", "M502")
    rows = [
        _Line(number, record, fields)
        for record, ((number, _), fields) in enumerate(
            zip(lines, _fields([line for _, line in lines], len(names)), strict=True), start=1
        )
    ]
    if names:
        _check_widths(rows, len(names), path)
    else:
        width = max(len(row.fields) for row in rows)
        names = ["smiles", "name", *(f"column_{j + 1}" for j in range(2, width))][:width]
    check_fields(path, len(rows) * len(names), limit)  # one line may have more than all others
    smiles = [row.fields[0] or None for row in rows]
    wrong = first_unreadable([text or "" for text in smiles])
    if wrong is not None:
        raise rows[wrong].wrong(
            path,
            f"{excerpt(smiles[wrong])} is not a SMILES string that RDKit can read; mend the line or leave it out."
            " (Fields are separated by tabs or blanks; with commas, name the file .csv.)",
        )
    rest = {
        name: [row.fields[j] if j < len(row.fields) else None for row in rows]
        for j, name in enumerate(names[1:], start=1)
    }
    return pl.DataFrame([pl.Series("smiles", smiles, dtype=pl.String), *as_columns(rest).values()])


def _names(first: str, path: Path) -> list[str]:
    """The names of the columns, where a first line has them; else none."""
    cells = [cell.strip() for cell in (first.split("\t") if "\t" in first else first.split())]
    if "smiles" not in cells[0].casefold():  # no molecule is written so
        return []
    names = ["smiles", *(cell or f"column_{j}" for j, cell in enumerate(cells[1:], start=2))]
    places: dict[str, int] = {}
    for j, name in enumerate(names, start=1):
        if places.setdefault(name, j) < j:
            raise DataError(
                f"{path}: columns {places[name]} and {j} are both named {excerpt(name)}; a table needs different"
                " names.",
                "M502",
            )
    return names


def _fields(lines: list[str], named: int) -> list[list[str]]:
    """The fields of each line. Where so many columns are ``named``, two say that the second is all the rest of a line,
    more that each word is a field.
    """
    if all("\t" in line for line in lines):
        return [[field.strip() for field in line.split("\t")] for line in lines]
    words = [line.split() for line in lines]
    if named > 2 or (named != 2 and len({len(row) for row in words}) == 1):
        return words
    return [line.split(maxsplit=1) for line in lines]


def _check_widths(rows: list[_Line], width: int, path: Path) -> None:
    for row in rows:
        if len(row.fields) > width or (width > 2 and len(row.fields) < width):
            raise row.wrong(
                path,
                f"it has {len(row.fields)} fields, the first line has {width}; separate all fields by tabs where one"
                " has blanks in it or is missing.",
            )
