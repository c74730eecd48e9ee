"""Tables of sequences, from FASTA files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from mercer.data import DataError
from mercer.files.text import lines_of

_BATCH = 10_000  # records of a FASTA file that are Python texts at a time


def read_fasta(text: str, path: Path) -> pl.DataFrame:
    """One row for each record: ``id``, the first word after >, ``description``, the rest of that line, and
    ``sequence``, its lines joined.
    """
    records = _records(text, path)
    # by batches: three Python texts take 150 bytes more than they have letters
    batches = iter(lambda: list(islice(records, _BATCH)), [])
    frames = [
        pl.DataFrame(batch, schema={"id": pl.String, "description": pl.String, "sequence": pl.String}, orient="row")
        for batch in batches
    ]
    if not frames:
        raise DataError(f"{path}: there are no records in the file; a record begins with a line that starts with '>'.")
    return pl.concat(frames)


def _records(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    """The records of a FASTA file."""
    head: tuple[str, str] | None = None
    parts: list[str] = []
    for number, line in enumerate(lines_of(text), start=1):
        if line.startswith(">"):
            if head is not None:
                yield (*head, "".join(parts))
            first, _, rest = line[1:].strip().partition(" ")
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
        yield (*head, "".join(parts))
