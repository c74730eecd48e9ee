"""Tables of lines and fields, CSV and its relatives: delimiter, quotes, header, and what the texts of a column are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from mercer.data import DataError
from mercer.data.tables import excerpt
from mercer.files.text import lines_of

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "?")
# the comma last: it also stands inside numbers and sentences
_DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}
_SAMPLE = 100  # records that a delimiter is judged by
_WITH_COMMA = r"^[+-]?\d*(,\d+)+(\.\d+)?([eE][+-]?\d+)?$"
_MAYBE_MORE = re.compile(r"(?i:true|false)$|[+-]?[\d,]")
_DATES = ("%Y-%m-%d",)
_TIMES = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
)
_DELIMITER_HIDDEN, _LINE_END_HIDDEN = "\0d", "\0n"  # no text that is read has a \0


def read_delimited(text: str, delimiter: str, path: Path) -> pl.DataFrame:
    """Every line a row of fields, with or without names of the columns above them, and each column as what it is."""
    cells, width = _cells(text, delimiter, path)
    cells = cells.str.strip_chars()
    first = cells.head(width).to_list()
    plain = _without_missing(cells)
    texts = pl.DataFrame({f"column_{j + 1}": plain.gather_every(width, j) for j in range(width)})
    header = _is_header(first, texts.slice(1))
    if header and texts.height == 1:
        raise DataError(f"{path} has a header but no rows.")
    names = _names(first, path) if header else texts.columns
    body = texts.slice(int(header))
    if header and not first[-1] and body[:, -1].null_count() == body.height:
        body, names = body[:, :-1], names[:-1]  # what a delimiter at the end of every line leaves
    table = _typed(body, names, path)
    table.columns = names  # only now: to polars, "*" and "^a.*$" are patterns, also as the name of a series
    return table


def read_lines(text: str, name: str, path: Path) -> pl.DataFrame:
    """Every line a value of one column, a blank one a missing value; the first is none, if it is the name of the
    column.
    """
    lines = _split(_unquoted(text.strip("\n"), "")).str.replace_all(_LINE_END_HIDDEN, "\n", literal=True)
    column = _without_missing(lines.str.strip_chars())
    values = column.slice(int((column[0] or "").casefold() == name.casefold()))
    if not len(values):
        raise DataError(f"{path} has a header but no rows.")
    return pl.DataFrame({name: values})


def delimiter_of(text: str, path: Path) -> str:
    """The delimiter that splits most of the first records into the same number, above 1, of fields; "" where none does:
    there is one column.
    """
    best, share = "", 0.0
    head = _head(text)
    for delimiter in _DELIMITERS:
        records = (line for line in lines_of(_unquoted(head, delimiter)) if line.strip())
        counts = Counter(record.count(delimiter) + 1 for record in islice(records, _SAMPLE))
        # none where all there is, is quoted blanks
        width, often = max(counts.items(), key=lambda item: item[1], default=(1, 0))
        if width > 1 and often / counts.total() > share:
            best, share = delimiter, often / counts.total()
    words = head.lstrip().partition("\n")[0].split()
    if not best and len(words) > 1 and not any(_is_text(word) for word in words):
        raise DataError(f"{path}: its fields seem to be separated by blanks: put commas in their place.")
    return best


def _head(text: str) -> str:
    """Enough of a text for a sample of its records; cut where a line ends."""
    text = text.lstrip("\n")
    if len(text) < 1_000_000:
        return text
    head = text[: text.rfind("\n", 0, 1_000_000) + 1]
    return head if head.strip() else text


def _unquoted(text: str, delimiter: str) -> str:
    """The text without quotes around fields; delimiters and ends of lines that were inside them are hidden.

    A field is quoted if its quotes enclose all of it; then two quotes inside are one. Elsewhere a quote is a character:
    5" pipe.
    """
    if '"' not in text:
        return text
    border = re.escape(delimiter) + r"\n"

    def hidden(found: re.Match[str]) -> str:
        inside = found[1].replace('""', '"').replace("\n", _LINE_END_HIDDEN)
        return inside.replace(delimiter, _DELIMITER_HIDDEN) if delimiter else inside

    return re.sub(rf'(?:\A|(?<=[{border}]))[ ]*+"([^"]*+(?:""[^"]*+)*+)"(?=[ ]*+(?:[{border}]|\Z))', hidden, text)


def _split(text: str) -> pl.Series:
    """The lines of a text; made by polars, for as a Python text each takes 50 bytes more."""
    return pl.Series("text", [text]).str.split("\n").explode()


def _cells(text: str, delimiter: str, path: Path) -> tuple[pl.Series, int]:
    """The fields of every record, the first included, one after the other, and how many a record has; blank lines are
    left out.
    """
    plain = _unquoted(text, delimiter)
    lines = _split(plain).to_frame().with_row_index("line", offset=1).filter(pl.col("text").str.strip_chars() != "")
    if not lines.height:
        raise DataError(f"{path} is empty: it holds only blank lines.")
    cells, width = lines["text"], 1
    if delimiter:
        counts = cells.str.count_matches(delimiter, literal=True)
        width = int(counts[0]) + 1
        wrong = (counts != width - 1).arg_true()
        if len(wrong):
            # lines that were in fields
            inside = int(cells.head(int(wrong[0])).str.count_matches(_LINE_END_HIDDEN, literal=True).sum())
            raise _ragged(path, int(lines["line"][wrong[0]]) + inside, int(counts[wrong[0]]) + 1, width)
        cells = cells.str.split(delimiter).explode()
    if "\0" in plain:
        cells = cells.str.replace_all(_LINE_END_HIDDEN, "\n", literal=True).str.replace_all(
            _DELIMITER_HIDDEN, delimiter, literal=True
        )
    return cells, width


def _ragged(path: Path, line: int, found: int, expected: int) -> DataError:
    cure = "put quotes around fields that hold the delimiter, and two for each one inside"
    return DataError(f"{path}, line {line} has {found} fields, the first line has {expected}; {cure}.")


def _without_missing(texts: pl.Series) -> pl.Series:
    """Null where a value is missing."""
    return texts.set(texts.is_in(list(MISSING)), None)


def _is_header(first: Sequence[str], body: pl.DataFrame) -> bool:
    """Whether a first line names the columns below it.

    A text over numbers does; a number never does. Where all is text, a line of different texts does, none of which is
    found again below.
    """
    texts = [_is_text(cell) for cell in first]
    if any(text and number for text, number in zip(texts, _are_numbers(body, pl.Float64), strict=True)):
        return True
    if not all(text or not cell for text, cell in zip(texts, first, strict=True)) or not any(texts):
        return False
    filled = {name: cell for name, cell in zip(body.columns, first, strict=True) if cell}
    again = any(body.select((pl.col(name) == cell).any() for name, cell in filled.items()).row(0))
    return len(set(filled.values())) == len(filled) and not again


def _is_text(cell: str) -> bool:
    if cell in MISSING:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def _are_numbers(texts: pl.DataFrame, kind: Any) -> list[bool]:
    """For each column of texts, whether it has some that are present and all of these are numbers of a kind."""
    missing, lost = texts.null_count().row(0), texts.select(pl.all().cast(kind, strict=False)).null_count().row(0)
    return [a == b < texts.height for a, b in zip(missing, lost, strict=True)]


def _names(header: Sequence[str], path: Path) -> list[str]:
    """The names of a header; the nameless first column, as pandas writes its index, is ``index``, another nameless one
    ``column_j``.
    """
    names = [cell or ("index" if j == 0 else f"column_{j + 1}") for j, cell in enumerate(header)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        places = [j + 1 for j, name in enumerate(names) if name == twice[0]]
        raise DataError(
            f"{path}: columns {_numbers(places)} are all named {excerpt(twice[0])}; a table needs different names."
        )
    return names


def _numbers(places: Sequence[int]) -> str:
    return ", ".join(map(str, places[:-1])) + f" and {places[-1]}"


def _typed(texts: pl.DataFrame, names: Sequence[str], path: Path) -> pl.DataFrame:
    """Columns of texts, to be called ``names``, as what all of them are: integers, numbers, booleans, ISO dates;
    else as texts.
    """
    kinds: dict[str, Any] = {}
    for name, missing, number, whole in zip(
        texts.columns,
        texts.null_count().row(0),
        _are_numbers(texts, pl.Float64),
        _are_numbers(texts, pl.Int64),
        strict=True,
    ):
        if number or missing == texts.height:
            kinds[name] = pl.Int64 if whole else pl.Float64
    return pl.DataFrame(
        [
            c.cast(kinds[c.name]) if c.name in kinds else _not_numbers(c, name, path)
            for c, name in zip(texts, names, strict=True)
        ]
    )


def _not_numbers(column: pl.Series, name: str, path: Path) -> pl.Series:
    """A column of texts that are not all numbers, as booleans or ISO dates if they are that."""
    present = column.drop_nulls()
    # what the first is not, the column is not: there may be thousands of columns
    if _MAYBE_MORE.match(present[0]) is None:
        return column
    if present.str.to_lowercase().is_in(["true", "false"]).all():
        return column.str.to_lowercase() == "true"
    for dtype, formats in ((pl.Date, _DATES), (pl.Datetime("us"), _TIMES)):
        for form in formats:
            dates = column.str.strptime(dtype, form, strict=False)
            if dates.null_count() == column.null_count():
                return dates
    commas = present.str.contains(_WITH_COMMA)
    if commas.any() and (commas | present.str.contains(r"^[+-]?\d+$")).all():
        row = int(column.str.contains(_WITH_COMMA).fill_null(False).arg_true()[0])
        raise DataError(
            f"{path}: row {row}, column {excerpt(name)} is {excerpt(column[row])}, a number with a comma in it. Decimal"
            " commas and separators of thousands are not read: save the file with decimal points and no separators."
        )
    return column
