"""Tables of lines and fields, CSV and its relatives: delimiter, quotes, header, and what the texts of a column are.

**Numbers** are what a program writes, 1234.5 and 1e-3. Commas between semicolons are decimal, 1.234,5, unless another
column of the file has decimal points; where they are, points are between thousands in all columns. All else ("$1,234",
"3.1%", 29.02.2024) stays text, for ``mercer.data.cells`` to read where a column is known to be meant so.

**Gaps** are the words of ``MISSING``. Three of them are also names: NA of Namibia and North America, None and null of a
level such as None, Low, High. In a column of texts they are values, not gaps,

- where the column has empty cells as well: then those are its gaps, and whoever wrote NA meant it;
- NA, where all other values, at least three, are two capital letters, as the codes of countries and continents;
- None, where it is one of at most 20 values and in at least one of 20 cells: programs leave a cell empty for a gap, or
  write NaN, and a gap that common would be seen.

In columns of numbers, dates and booleans, however these are written, they are gaps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from mercer.data import DataError
from mercer.data.cell_numbers import Numbers, numbers_of
from mercer.data.cells import form_of
from mercer.data.tables import excerpt
from mercer.files.text import lines_of

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "?")
_NAMES = ("NA", "None", "null")  # of MISSING, what may be a value
_CODES = 3  # different values of two capital letters, from which on NA is one
_LEVELS, _LEVEL_SHARE = 20, 0.05  # values of which None is one, and its least share
# the comma last: it also stands inside numbers and sentences
_DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}
_SAMPLE = 100  # records that a delimiter is judged by
_WITH_COMMA = r"^[+-]?[0-9.' ]*,[0-9]+(?:[eE][+-]?[0-9]+)?$"  # decimal, before it is known
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
_THOUSANDS = Numbers(",", ".")
_DELIMITER_HIDDEN, _LINE_END_HIDDEN = "\0d", "\0n"  # no text that is read has a \0


def read_delimited(text: str, delimiter: str, path: Path) -> pl.DataFrame:
    """Every line a row of fields, with or without names of the columns above them, and each column as what it is."""
    cells, width = _cells(text, delimiter, path)
    cells = cells.str.strip_chars()
    first = cells.head(width).to_list()
    plain = _without_missing(cells)
    texts = pl.DataFrame({f"column_{j + 1}": plain.gather_every(width, j) for j in range(width)})
    commas = delimiter == ";" and not _have_points(texts.slice(1))
    header = _is_header(first, texts.slice(1), commas)
    if header and texts.height == 1:
        raise DataError(f"{path} has a header but no rows.", "M502")
    names = _names(first, path) if header else texts.columns
    body = texts.slice(int(header))
    if header and not first[-1] and body[:, -1].null_count() == body.height:
        body, names = body[:, :-1], names[:-1]  # what a delimiter at the end of every line leaves
    table = typed(body, commas and not _have_points(body))
    if cells.is_in(_NAMES).any():
        written = (cells.gather_every(width, j).slice(int(header)) for j in range(table.width))
        table = pl.DataFrame(
            [_with_names(c, w) if c.dtype == pl.String else c for c, w in zip(table, written, strict=True)]
        )
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
        raise DataError(f"{path} has a header but no rows.", "M502")
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
        raise DataError(f"{path}: its fields seem to be separated by blanks: put commas in their place.", "M502")
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
        raise DataError(f"{path} is empty: it holds only blank lines.", "M502")
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
    return DataError(f"{path}, line {line} has {found} fields, the first line has {expected}; {cure}.", "M502")


def _without_missing(texts: pl.Series) -> pl.Series:
    """Null where a value is missing."""
    return texts.set(texts.is_in(list(MISSING)), None)


def _with_names(column: pl.Series, written: pl.Series) -> pl.Series:
    """A column of texts with NA, None and null as values where they are names (see above), by its cells as written."""
    if not written.is_in(_NAMES).any() or form_of(column) is not None:
        return column
    if (written == "").any():
        return written.zip_with(written.is_in(_NAMES), column).alias(column.name)
    others, none = column.drop_nulls(), written == "None"
    if others.n_unique() >= _CODES and others.str.contains("^[A-Z]{2}$").all():
        column = written.zip_with(written == "NA", column).alias(column.name)
    if none.sum() >= _LEVEL_SHARE * len(column) and others.n_unique() < _LEVELS:
        column = written.zip_with(none, column).alias(column.name)
    return column


def _is_header(first: Sequence[str], body: pl.DataFrame, commas: bool) -> bool:
    """Whether a first line names the columns below it.

    A text over numbers does; a number never does. Where all is text, a line of different texts does, none of which is
    found again below.
    """
    texts = [_is_text(cell) and not (commas and re.match(_WITH_COMMA, cell)) for cell in first]
    numbers = _are_numbers(body, pl.Float64)
    if commas:
        numbers = [number or _decimal(column) is not None for number, column in zip(numbers, body, strict=True)]
    if any(text and number for text, number in zip(texts, numbers, strict=True)):
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


def _are_numbers(texts: pl.DataFrame, kind: type[pl.DataType]) -> list[bool]:
    """For each column of texts, whether it has some that are present and all of these are numbers of a kind."""
    missing, lost = texts.null_count().row(0), texts.select(pl.all().cast(kind, strict=False)).null_count().row(0)
    return [a == b < texts.height for a, b in zip(missing, lost, strict=True)]


def _have_points(texts: pl.DataFrame) -> bool:
    """Whether some column is of numbers with a point that does not stand between thousands."""
    numbers = [column for column, number in zip(texts, _are_numbers(texts, pl.Float64), strict=True) if number]
    return any(
        (column.str.contains(".", literal=True) & _THOUSANDS.parse(column).is_null()).any() for column in numbers
    )


def _decimal(column: pl.Series) -> pl.Series | None:
    """The numbers of a column whose texts are all numbers, some with decimal commas; None of another."""
    present = column.drop_nulls()
    if not present.str.contains(_WITH_COMMA).any():
        return None
    found = numbers_of(present, comma_first=True)
    if found is None or found != Numbers(",", found.thousands):
        return None
    numbers = found.parse(column)
    return numbers if numbers.null_count() == column.null_count() else None


def _names(header: Sequence[str], path: Path) -> list[str]:
    """The names of a header; the nameless first column, as pandas writes its index, is ``index``, another nameless one
    ``column_j``.
    """
    names = [cell or ("index" if j == 0 else f"column_{j + 1}") for j, cell in enumerate(header)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        places = [j + 1 for j, name in enumerate(names) if name == twice[0]]
        raise DataError(
            f"{path}: columns {_numbers(places)} are all named {excerpt(twice[0])}; a table needs different names.",
            "M502",
        )
    return names


def _numbers(places: Sequence[int]) -> str:
    return ", ".join(map(str, places[:-1])) + f" and {places[-1]}"


def typed(texts: pl.DataFrame, commas: bool = False) -> pl.DataFrame:
    """Columns of texts as what all of them are: integers, numbers (also with decimal ``commas``), booleans, ISO dates;
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
    if commas and any(_decimal(c) is not None for c in texts if c.name not in kinds):
        # where commas are decimal, 1.234 beside them is a thousand
        texts = texts.with_columns(c.str.replace_all(".", "", literal=True) for c in texts if c.name in kinds)
    return pl.DataFrame([c.cast(kinds[c.name]) if c.name in kinds else _not_numbers(c, commas) for c in texts])


def _not_numbers(column: pl.Series, commas: bool) -> pl.Series:
    """A column of texts that are not all numbers to a program, as booleans, ISO dates or numbers with decimal
    ``commas`` if they are that.
    """
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
    numbers = _decimal(column) if commas else None
    return column if numbers is None else numbers
