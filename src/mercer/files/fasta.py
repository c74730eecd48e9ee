"""Tables of sequences, from FASTA files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from mercer.data import DataError
from mercer.files.fields import as_columns
from mercer.files.text import lines_of

_BATCH = 10_000  # records of a FASTA file that are Python texts at a time
_COLUMNS = ("id", "description", "sequence")
_HEADER = re.compile(r"^>(.*)", re.MULTILINE)
_KEY = re.compile(r"(?<=[\s|;])([^\W\d][\w.-]*)=")
_END = re.compile(r"[|;]")


def read_fasta(text: str, path: Path) -> pl.DataFrame:
    """One row for each record: ``id``, the first word after >, ``description``, the rest of that line, ``sequence``,
    its lines joined, and one column for each field ``key=value`` that every record has.

    A field stands after a blank, a bar or a semicolon, and its value ends where the next begins:
    ``>P1|label=1 OS=Homo sapiens``. Fields that all headers have, each once, leave the id and the description for a
    column of their own; others stay where they are. These columns and the description, which is left out where no
    record has one, are typed as those of a CSV file are: ``>P1 1`` has its label in the column ``description``.
    """
    keys = _common_keys(text)
    records = _records(text, path, keys)
    # by batches: three Python texts take 150 bytes more than they have letters
    batches = iter(lambda: list(islice(records, _BATCH)), [])
    names = [*_COLUMNS, *keys]
    frames = [
        pl.DataFrame(batch, schema={f"column_{j}": pl.String for j in range(len(names))}, orient="row")
        for batch in batches
    ]
    if not frames:
        raise DataError(f"{path}: there are no records in the file; a record begins with a line that starts with '>'.")
    found = pl.concat(frames)
    columns = {name: column.alias(name) for name, column in zip(names, found.get_columns(), strict=True)}
    # an id is a name, and a sequence is letters, also where all of them could be numbers
    columns |= as_columns({name: column for name, column in columns.items() if name not in ("id", "sequence")})
    if columns["description"].null_count() == found.height:
        del columns["description"]
    return pl.DataFrame(list(columns.values()))


def _common_keys(text: str) -> list[str]:
    """The keys of the fields that every header has once, in the order of the first."""
    common: list[str] | None = None
    for header in _HEADER.finditer(text):
        counts = Counter(_KEY.findall(header[1]))
        common = [
            key
            for key in (counts if common is None else common)
            if counts[key] == 1 and key not in _COLUMNS  # a column of that name is there already
        ]
        if not common:
            return []
    return common or []


def _records(text: str, path: Path, keys: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The records of a FASTA file: id, description, sequence, and the values of these fields."""
    head: tuple[str, str] | None = None
    values: tuple[str, ...] = ()
    parts: list[str] = []
    for number, line in enumerate(lines_of(text), start=1):
        if line.startswith(">"):
            if head is not None:
                yield (*head, "".join(parts), *values)
            rest, values = _without_fields(line[1:], keys)
            first, _, rest = rest.strip().partition(" ")
            head, parts = (first, rest.strip()), []
        elif line.startswith(";") or not line.strip():
            continue
        elif head is None:
            raise DataError(
                f"{path}, line {number}: a FASTA file begins with a line that starts with '>', not with {line[:20]!r}."
            )
        else:
            parts.append("".join(line.split()))
    if head is not None:
        yield (*head, "".join(parts), *values)


def _without_fields(header: str, keys: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """What is left of a header without these fields, and their values."""
    if not keys:
        return header, ()
    values = dict.fromkeys(keys, "")
    found = list(_KEY.finditer(header))
    left, start = [], 0
    for field, after in zip(found, [*(following.start() for following in found[1:]), len(header)], strict=True):
        if field[1] in values:
            sign = _END.search(header, field.end(), after)
            end = after if sign is None else sign.start()  # a value may have blanks in it
            values[field[1]] = header[field.end() : end].strip()
            left.append(header[start : field.start() - 1])  # without the sign before the field
            start = end
    rest = " ".join(part.strip() for part in [*left, header[start:]] if part.strip())
    return rest.strip(" |;"), tuple(values.values())
