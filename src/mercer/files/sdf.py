"""Tables of molecules, from SDF files: a structure and its data fields to a record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from mercer.data import DataError
from mercer.data.archives import check_fields
from mercer.data.molecules import smiles_of_block
from mercer.data.tables import excerpt
from mercer.files.fields import as_columns
from mercer.files.text import lines_of

_HEADER = re.compile(r">[^<]*<([^>]*[^>\s][^>]*)>")  # > <LogP>, >  25 <LogP> (MD-08974)


class _Record(NamedTuple):
    number: int
    block: str  # the structure
    fields: dict[str, str]

    @property
    def title(self) -> str:
        return self.block.partition("\n")[0].strip()

    def wrong(self, path: Path, what: str) -> DataError:
        """The error for this record."""
        return DataError(
            f"{path}, record {self.number} ({excerpt(self.title) if self.title else 'no title'}): {what}", "M502"
        )


def read_sdf_table(text: str, path: Path, limit: int) -> pl.DataFrame:
    """One row for each record: ``smiles`` of its structure, by RDKit, ``name``, its first line, where some record has
    one, and a column for each data field (``> <LogP>``), null where a record lacks it, typed as those of a CSV file
    are.

    A field that is called as one of these two is ``smiles_field``, ``name_field``.
    """
    records = list(_records(text, path))
    if not records:
        raise DataError(f"{path} holds no molecules.", "M502")
    names = list(dict.fromkeys(name for record in records for name in record.fields))
    check_fields(path, len(records) * (2 + len(names)), limit)  # each record may have fields of its own
    columns: dict[str, list[str | None]] = {"name": [record.title for record in records]}
    if not any(columns["name"]):
        del columns["name"]
    for name in names:
        own = name
        while own == "smiles" or own in columns or (own != name and own in names):
            own += "_field"
        columns[own] = [record.fields.get(name) for record in records]
    smiles = pl.Series("smiles", [_smiles(record, path) for record in records])
    return pl.DataFrame([smiles, *as_columns(columns).values()])


def _smiles(record: _Record, path: Path) -> str:
    found = smiles_of_block(record.block)
    if found is None:
        raise record.wrong(path, "RDKit cannot read its structure; mend it, or leave the record out.")
    return found


def _records(text: str, path: Path) -> Iterator[_Record]:
    """The records of an SDF file, each ended by $$$$; the last may lack it."""
    block: list[str] = []
    number = 1
    for line in lines_of(text):
        if line.startswith("$$$$"):
            yield _record(number, block, path)
            block, number = [], number + 1
        else:
            block.append(line)
    if any(line.strip() for line in block):
        yield _record(number, block, path)


def _record(number: int, lines: list[str], path: Path) -> _Record:
    # three lines are free texts, and may look like anything
    end = next((i for i, line in enumerate(lines) if i > 2 and line.startswith(("M  END", ">"))), len(lines) - 1)
    end += not lines[end].startswith(">") if lines else 1
    record = _Record(number, "".join(f"{line}\n" for line in lines[:end]), {})
    name: str | None = None
    values: dict[str, list[str]] = {}
    for line in lines[end:]:
        header = _HEADER.match(line)  # which a value such as >100 is not
        if header:
            name = header[1].strip()
            if name in values:
                raise record.wrong(path, f"the field {excerpt(name)} is there twice; leave one out.")
            values[name] = []
        elif not line.strip():
            name = None
        elif name is not None:
            values[name].append(line)
        else:
            raise record.wrong(
                path, f"the line {excerpt(line)} is of no field; a field is > <name>, its value, and a blank line."
            )
    record.fields.update({name: "\n".join(value) for name, value in values.items()})
    return record
