"""The characters of a text file, and its lines.

Text is UTF-8, with or without a byte order mark, or UTF-16 with one. Latin-1 is not tried: any bytes at all are valid
Latin-1, so a wrong guess would pass unseen into the categories of a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mercer.data import DataError
from mercer.data.archives import most_bytes, unpacked
from mercer.files.places import DELIMITED, PARQUET, SVMLIGHT, listed


def read_text(path: Path, limit: int) -> str:
    """The characters of a text file, unpacked, with \\n at the end of lines."""
    raw = unpacked(path, limit)
    encoding, name = ("utf-16", "UTF-16") if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "UTF-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        cure = "save it again as UTF-8 (a spreadsheet's 'CSV UTF-8'; or: iconv -f latin1 -t utf-8)"
        raise DataError(f"{path}, line {line}: byte {raw[error.start]:#04x} is not {name}; {cure}.", "M502") from None
    del raw
    if "\0" in text:
        raise DataError(
            f"{path} is not text, though its name says so; known are"
            f" {listed((*DELIMITED, *PARQUET, '.npz', *SVMLIGHT))}.",
            "M502",
        )
    if not text.strip():
        raise DataError(f"{path} is empty: it holds only blank lines.", "M502")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text, one after the other."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    if start < len(text):
        yield text[start:]


def first_line(path: str | Path, max_bytes: int | str | None = None) -> str:
    """The first line of a text file that is not blank."""
    return next(line for line in lines_of(read_text(Path(path), most_bytes(max_bytes))) if line.strip())
