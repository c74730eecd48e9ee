"""Tables of reads with their qualities, from FASTQ files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from mercer.data import DataError
from mercer.files.fasta import COLUMNS, as_table, common_keys, parsed
from mercer.files.text import lines_of

_COLUMNS = (*COLUMNS, "quality")
_LOWEST, _HIGHEST = "!", "~"


def read_fastq(text: str, path: Path) -> pl.DataFrame:
    """One row for each record: the columns of a FASTA file, and ``quality``, a character for each letter.

    A record is a header that starts with @, the lines of its sequence, a line that starts with +, and as many
    characters of quality as the sequence has letters, on one line or several.
    """
    keys = common_keys((header for header, _, _ in _records(text, path)), _COLUMNS)

    def rows() -> Iterator[tuple[str, ...]]:
        for header, sequence, quality in _records(text, path):
            head, values = parsed(header, keys)
            yield (*head, sequence, quality, *values)

    return as_table(rows(), _COLUMNS, keys, path, "a line that starts with '@'")


def _records(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    """The header, the sequence and the quality of each record."""
    lines = enumerate(lines_of(text), start=1)
    for number, line in lines:
        if not line.strip():
            continue
        if not line.startswith("@"):
            raise DataError(
                f"{path}, line {number}: a FASTQ record begins with a line that starts with '@', not with"
                f" {line[:20]!r}; the record before may have more letters of quality than of sequence.",
                "M502",
            )
        sequence = _sequence(lines, path, number)
        yield line[1:], sequence, _quality(lines, path, number, len(sequence))


def _sequence(lines: Iterator[tuple[int, str]], path: Path, begin: int) -> str:
    """The letters up to the line that starts with +."""
    parts: list[str] = []
    for _, line in lines:
        if line.startswith("+"):
            return "".join(parts)
        parts.append("".join(line.split()))
    raise DataError(
        f"{path}: the record of line {begin} has no line that starts with '+'; the file ends before its quality. Get"
        " the whole file, or cut the last record off.",
        "M502",
    )


def _quality(lines: Iterator[tuple[int, str]], path: Path, begin: int, length: int) -> str:
    """So many characters, from one line or several."""
    parts: list[str] = []
    count = 0
    for number, line in lines:
        part = line.strip()
        wrong = next((c for c in part if not _LOWEST <= c <= _HIGHEST), None)
        if wrong is not None:
            raise DataError(
                f"{path}, line {number}: {wrong!r} is no quality; they are characters from '!' to '~', without blanks.",
                "M502",
            )
        parts.append(part)
        count += len(part)
        if count >= length:
            break
    if count != length:
        raise DataError(
            f"{path}: the record of line {begin} has {length} letters and {count} characters of quality; there must be"
            " as many. Correct it, or cut it off.",
            "M502",
        )
    return "".join(parts)
