"""Tables of sequences, from FASTA files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import polars as pl

from mercer.data import DataError
from mercer.files.fields import as_columns
from mercer.files.text import lines_of

_BATCH = 10_000  # records of a FASTA file that are Python texts at a time
COLUMNS = ("id", "description", "sequence")
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
    keys = common_keys((header[1] for header in _HEADER.finditer(text)), COLUMNS)
    return as_table(_records(text, path, keys), COLUMNS, keys, path, "a line that starts with '>'")


def as_table(
    records: Iterator[tuple[str, ...]], own: Sequence[str], keys: Sequence[str], path: Path, beginning: str
) -> pl.DataFrame:
    """One row for each record, of its own columns and those of fields; ``beginning`` is that of a record, in words."""
    names = [*own, *keys]
    # by batches: three Python texts take 150 bytes more than they have letters
    batches = iter(lambda: list(islice(records, _BATCH)), [])
    frames = [
        pl.DataFrame(batch, schema={f"column_{j}": pl.String for j in range(len(names))}, orient="row")
        for batch in batches
    ]
    if not frames:
        raise DataError(f"{path}: there are no records in the file; a record begins with {beginning}.", "M502")
    found = pl.concat(frames)
    columns = {name: column.alias(name) for name, column in zip(names, found.get_columns(), strict=True)}
    # an id is a name, a sequence is letters, and so are qualities, also where all of them could be numbers
    columns |= as_columns({name: columns[name] for name in ("description", *keys)})
    if columns["description"].null_count() == found.height:
        del columns["description"]
    return pl.DataFrame(list(columns.values()))


def common_keys(headers: Iterable[str], own: Sequence[str]) -> list[str]:
    """The keys of the fields that every header has once, in the order of the first; ``own`` are columns already."""
    common: list[str] | None = None
    for header in headers:
        counts = Counter(_KEY.findall(header))
        common = [key for key in (counts if common is None else common) if counts[key] == 1 and key not in own]
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
            head, values = parsed(line[1:], keys)
            parts = []
        elif line.startswith(";") or not line.strip():
            continue
        elif head is None:
            raise DataError(
                f"{path}, line {number}: a FASTA file begins with a line that starts with '>', not with {line[:20]!r}.",
                "M502",
            )
        else:
            parts.append("".join(line.split()))
    if head is not None:
        yield (*head, "".join(parts), *values)


def parsed(header: str, keys: Sequence[str]) -> tuple[tuple[str, str], tuple[str, ...]]:
    """The id and the description in a header, and the values of these fields."""
    rest, values = _without_fields(header, keys)
    first, _, rest = rest.strip().partition(" ")
    return (first, rest.strip()), values


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
