"""Tables from files, and back.

``read_table`` turns a file (CSV and its relatives, Parquet, svmlight, NPZ, FASTA) into one polars data frame whose
columns have types: numbers, booleans, ISO dates, texts, with missing values as null. What cannot be read without
guessing is refused with the place and the cure.

A svmlight file that is mostly zeros comes as a ``SparseTable``. What a file unpacks to is limited: see ``read_table``.

Text is UTF-8, with or without a byte order mark, or UTF-16 with one. Latin-1 is not tried: any bytes at all are valid
Latin-1, so a wrong guess would pass unseen into the categories of a model.
"""

from __future__ import annotations

import difflib
import os
import re
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import polars as pl

from mercer.data import DataError
from mercer.data.archives import Archive, check_fields, most_bytes, read_array, too_large, unpacked
from mercer.data.tables import excerpt
from mercer.files.parquet import check_parquet
from mercer.files.svmlight import SparseTable, read_svmlight

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "?")
# the comma last: it also stands inside numbers and sentences
_DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}
_COMPRESSED = (".gz", ".bz2", ".xz")
_DELIMITED = (".csv", ".tsv", ".tab")
_PARQUET = (".parquet", ".pq")
_SVMLIGHT = (".libsvm", ".svmlight", ".svm")
_FASTA = (".fasta", ".fa", ".fna", ".faa", ".ffn")
_UNSPECIFIC = ("", ".txt", ".data", ".dat", ".test", ".t", ".tr", ".scale")
_EXTENSIONS = {*_COMPRESSED, *_DELIMITED, *_PARQUET, ".npz", *_SVMLIGHT, *_FASTA, *_UNSPECIFIC}
_SAMPLE = 100  # records that a delimiter is judged by
_BATCH = 10_000  # records of a FASTA file that are Python texts at a time
_NAMES = ("columns", "feature_names")  # of an array with the names of the columns of X

_PAIR = r"\d+:[^\s:]+"
_SVMLIGHT_LINE = re.compile(rf"[+-]?[\d.]+(e[+-]?\d+)?(\s+qid:\d+)?(\s+{_PAIR})+\s*(#.*)?", re.IGNORECASE)
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


@overload
def read_table(
    path: str | Path,
    *,
    columns: Sequence[str] | None = ...,
    sparse: Literal[False],
    max_bytes: int | str | None = ...,
    lines: str | None = ...,
) -> pl.DataFrame: ...


@overload
def read_table(
    path: str | Path,
    *,
    columns: Sequence[str] | None = ...,
    sparse: bool | None = ...,
    max_bytes: int | str | None = ...,
    lines: str | None = ...,
) -> pl.DataFrame | SparseTable: ...


def read_table(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    sparse: bool | None = None,
    max_bytes: int | str | None = None,
    lines: str | None = None,
) -> pl.DataFrame | SparseTable:
    """The table in a file; its format is told by the extension, and by its first lines where the extension says
    nothing.

    Parameters
    ----------
    path
        CSV and its relatives, svmlight, FASTA, as they are or packed by gzip, bzip2 or xz; Parquet; NPZ.
    columns
        The columns to return, in this order; None for all. Of a svmlight file, a feature that no line mentions is 0.
    sparse
        Whether a svmlight file comes as a ``SparseTable``; None: where it has many times more zeros than entries, or
        more than 10 000 columns. Other formats have no sparse form.
    max_bytes
        How much may be read of a file after unpacking, in bytes or as "2GB"; None: an eighth of the machine's memory,
        for reading takes several times the size of a text. A field of a text counts for 16 bytes at least.
    lines
        The name of the one column of a text file in which every line is a value: SMILES, texts. A first line that is
        this name is a header.

    Returns
    -------
    polars.DataFrame, or SparseTable

    Raises
    ------
    DataError
        A ``ValueError``: for whatever is wrong with the file, with the place and the cure.
    """
    path = Path(path)
    kind = _kind(path)
    _check_readable(path)
    limit = most_bytes(max_bytes)
    if kind == "parquet":
        return _selected(_read_parquet(path, limit), columns, path)
    if kind == "npz":
        return _selected(_read_npz(path, limit), columns, path)
    text = _text(path, limit)
    if lines is not None:
        check_fields(path, text.count("\n"), limit)
        return _selected(_read_lines(text, lines, path), columns, path)
    if kind == "fasta":
        check_fields(path, 3 * text.count("\n>"), limit)
        return _selected(_read_fasta(text, path), columns, path)
    if kind == "svmlight" or (kind == "text" and _looks_like_svmlight(text)):
        check_fields(path, text.count(":") + text.count("\n"), limit)
        return _of_pairs(read_svmlight(_lines(text), path), columns, path, sparse, limit)
    delimiter = _delimiter(text, path)
    check_fields(path, text.count("\n") + (text.count(delimiter) if delimiter else 0), limit)
    return _selected(_read_delimited(text, delimiter, path), columns, path)


def _of_pairs(
    table: SparseTable, columns: Sequence[str] | None, path: Path, sparse: bool | None, limit: int
) -> pl.DataFrame | SparseTable:
    """A table of index:value pairs in the form that is wanted, or suits it."""
    if sparse and columns is None:
        return table
    size = 8 * table.height * (len(columns) if columns is not None else table.width)
    if sparse is None and columns is None and (size > limit or not table.suits_a_frame):
        return table
    if size > limit:
        raise too_large(f"{path}, with every zero written out,", size, limit)
    return _selected(table.frame(columns), columns, path)


def is_text(path: str | Path) -> bool:
    """Whether a file is a text of lines and fields, by its name."""
    return _kind(Path(path)) in ("delimited", "text")


def first_line(path: str | Path, max_bytes: int | str | None = None) -> str:
    """The first line of a text file that is not blank."""
    return next(line for line in _lines(_text(Path(path), most_bytes(max_bytes))) if line.strip())


def check_place(path: str | Path, extensions: Sequence[str] = ()) -> None:
    """Raise DataError unless a file can be written there, with one of these extensions if some are given."""
    path = Path(path)
    if extensions and path.suffix.lower() not in extensions:
        raise DataError(
            f"{path}: a table is written as {_listed(extensions)}, not as"
            f" {path.suffix or 'a file without extension'!r}."
        )
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it.")
    if not path.resolve().parent.is_dir():
        raise DataError(f"{path}: there is no folder {str(path.parent)!r} to put {path.name} in; make it first.")
    if path.exists() and not os.access(path, os.W_OK):
        raise DataError(f"{path} cannot be written: it is there, and protected. Choose another name.")
    beside = path.with_name(f".{uuid.uuid4().hex}")
    try:
        beside.touch()
        beside.unlink()
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Choose another folder.") from None


TABLES = (*_DELIMITED, *_PARQUET)  # extensions of what ``write_table`` writes


def write_table(frame: pl.DataFrame, path: str | Path | None = None) -> str | None:
    """The table written as CSV, tab-separated text or Parquet, by extension; without a path, its CSV text. Numbers read
    back as the same numbers.
    """
    if path is None:
        return frame.write_csv()
    path = Path(path)
    check_place(path, TABLES)
    kind = path.suffix.lower()
    if kind in _PARQUET:
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="," if kind == ".csv" else "\t")
    return None


# ---------------------------------------------------------------------------------------------------------------------
# The file
# ---------------------------------------------------------------------------------------------------------------------


def _kind(path: Path) -> str:
    """What a file claims to be by its extension, compression aside."""
    suffixes = [s.lower() for s in path.suffixes]
    suffix = next((s for s in reversed(suffixes) if s not in _COMPRESSED), "")
    groups = {
        "delimited": _DELIMITED,
        "parquet": _PARQUET,
        "npz": (".npz",),
        "svmlight": _SVMLIGHT,
        "fasta": _FASTA,
        "text": _UNSPECIFIC,
    }
    for kind, extensions in groups.items():
        # heart.numer_scale, as svmlight files are named
        if suffix in extensions or (kind == "text" and suffix.endswith("scale")):
            return kind
    known = (*_DELIMITED, *_PARQUET, ".npz", *_SVMLIGHT, *_FASTA, *_UNSPECIFIC[1:])
    raise DataError(
        f"{path}: {suffix!r} is not a kind of table that is known; known are {_listed(known)}, text also with"
        f" {_listed(_COMPRESSED)}."
    )


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it.")
    if not path.exists():
        near = (
            difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=3)
            if path.parent.is_dir()
            else []
        )
        raise DataError(
            f"There is no file {path}." + (f" Did you mean {_listed(near)}?" if near else " Check the path.")
        )
    if not os.access(path, os.R_OK):
        raise DataError(f"{path} may not be read; ask for the permission, or name a copy.")
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path} is empty.")


def _text(path: Path, limit: int) -> str:
    """The characters of a text file, unpacked, with \\n at the end of lines."""
    raw = unpacked(path, limit)
    encoding, name = ("utf-16", "UTF-16") if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "UTF-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        cure = "save it again as UTF-8 (a spreadsheet's 'CSV UTF-8'; or: iconv -f latin1 -t utf-8)"
        raise DataError(f"{path}, line {line}: byte {raw[error.start]:#04x} is not {name}; {cure}.") from None
    del raw
    if "\0" in text:
        raise DataError(
            f"{path} is not text, though its name says so; known are"
            f" {_listed((*_DELIMITED, *_PARQUET, '.npz', *_SVMLIGHT))}."
        )
    if not text.strip():
        raise DataError(f"{path} is empty: it holds only blank lines.")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, one after the other."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    if start < len(text):
        yield text[start:]


def _selected(frame: pl.DataFrame, columns: Sequence[str] | None, path: Path) -> pl.DataFrame:
    if frame.height == 0:
        raise DataError(f"{path} has a header but no rows.")
    if columns is None:
        return frame
    absent = [c for c in columns if c not in frame.columns]
    if absent:
        near = difflib.get_close_matches(absent[0], frame.columns, n=1)
        hint = f" Did you mean {excerpt(near[0])}?" if near else ""
        raise DataError(f"{path} has no column {_listed(absent)}; its columns are {_listed(frame.columns)}.{hint}")
    return pl.DataFrame([frame.get_column(name) for name in columns])


def _listed(names: Sequence[str], most: int = 16) -> str:
    shown = ", ".join(n if n in _EXTENSIONS else excerpt(n) for n in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


# ---------------------------------------------------------------------------------------------------------------------
# Delimited text
# ---------------------------------------------------------------------------------------------------------------------


def _read_delimited(text: str, delimiter: str, path: Path) -> pl.DataFrame:
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


def _read_lines(text: str, name: str, path: Path) -> pl.DataFrame:
    """Every line a value of one column, a blank one a missing value; the first is none, if it is the name of the
    column.
    """
    lines = _split(_unquoted(text.strip("\n"), "")).str.replace_all(_LINE_END_HIDDEN, "\n", literal=True)
    column = _without_missing(lines.str.strip_chars())
    values = column.slice(int((column[0] or "").casefold() == name.casefold()))
    if not len(values):
        raise DataError(f"{path} has a header but no rows.")
    return pl.DataFrame({name: values})


def _delimiter(text: str, path: Path) -> str:
    """The delimiter that splits most of the first records into the same number, above 1, of fields; "" where none does:
    there is one column.
    """
    best, share = "", 0.0
    head = _head(text)
    for delimiter in _DELIMITERS:
        records = (line for line in _lines(_unquoted(head, delimiter)) if line.strip())
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


_DELIMITER_HIDDEN, _LINE_END_HIDDEN = "\0d", "\0n"  # no text that is read has a \0


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
    """Columns of texts, to be called ``names``, as what all of them are: whole numbers, numbers, booleans, ISO dates;
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


# ---------------------------------------------------------------------------------------------------------------------
# FASTA, svmlight, Parquet, NPZ
# ---------------------------------------------------------------------------------------------------------------------


def _read_fasta(text: str, path: Path) -> pl.DataFrame:
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
    for number, line in enumerate(_lines(text), start=1):
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


def _looks_like_svmlight(text: str) -> bool:
    lines = [line for line in text[:100_000].split("\n")[:10] if line.strip() and not line.startswith("#")]
    return bool(lines) and _SVMLIGHT_LINE.fullmatch(lines[0].strip()) is not None


def _read_parquet(path: Path, limit: int) -> pl.DataFrame:
    check_parquet(path, limit)
    try:
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise DataError(
            f"{path} cannot be read as Parquet: {str(error).splitlines()[0][:200] if str(error) else 'it is damaged'}"
        ) from None


def _read_npz(path: Path, limit: int) -> pl.DataFrame:
    """Arrays of n rows side by side: X as ``x1`` … ``xd``, y as ``target``, any other by its name, numbered where it
    has several columns.

    Beside X, an array of texts ``columns`` or ``feature_names`` names its columns, and what has other than n rows (a
    test set) is left out.
    """
    arrays: dict[str, Any] = {}
    try:
        archive = Archive(path, limit)
    except DataError:
        raise DataError(f"{path} is not an NPZ file, or is damaged; write it with numpy.savez.") from None
    with archive:
        for part in archive.parts:
            name = part.removesuffix(".npy")
            arrays[name] = read_array(archive.read(part), f"{path}: array {excerpt(name)}")
    if not arrays:
        raise DataError(f"{path} holds no arrays.")
    X = arrays.get("X")
    names: list[str] = []
    if X is not None and X.ndim == 2:
        given = [
            a.tolist()
            for name in _NAMES
            if (a := arrays.pop(name, None)) is not None and a.dtype.kind == "U" and a.shape == X.shape[1:]
        ]
        names = given[0] if given else []
        arrays = {name: a for name, a in arrays.items() if name == "y" or (a.shape[:1] == X.shape[:1] and a.ndim <= 2)}
    if len(names) > len(set(names)) or any(map(_is_surrogate, names)):
        raise DataError(f"{path}: the columns of X need different names, of characters.")
    if len({a.shape[:1] for a in arrays.values()}) > 1 or any(a.ndim not in (1, 2) for a in arrays.values()):
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise DataError(f"{path}: the columns of a table are 1-D or 2-D arrays of the same length; found {shapes}.")
    columns: dict[str, pl.Series] = {}
    for name, array in arrays.items():
        stem = {"X": "x", "y": "target"}.get(name, name)
        wide = array[:, None] if array.ndim == 1 else array
        several = [f"{stem}{j + 1}" if name == "X" else f"{stem}_{j + 1}" for j in range(wide.shape[1])]
        labels = [stem] if wide.shape[1] == 1 and name != "X" else names if name == "X" and names else several
        for j, label in enumerate(labels):
            if label in columns:
                raise DataError(f"{path}: two arrays give a column {excerpt(label)}; rename {excerpt(name)}.")
            columns[label] = _column_of(wide[:, j], f"{path}: array {excerpt(name)}")
    return pl.DataFrame(columns)


def _is_surrogate(name: str) -> bool:
    """Whether a name has halves of characters in it, which no file can hold."""
    return any(0xD800 <= ord(letter) <= 0xDFFF for letter in name)


def _column_of(values: Any, place: str) -> pl.Series:
    try:
        if values.dtype.kind in "fiub" and values.dtype.itemsize <= 8:
            return pl.Series(_native(values.astype(np.float32) if values.dtype == np.float16 else values))
        if values.dtype.kind == "f":
            return pl.Series(values.astype(np.float64))
        if values.dtype.kind == "U":
            return pl.Series(values.tolist(), dtype=pl.String)
        if values.dtype.kind == "M":
            return pl.Series(_native(values.astype("datetime64[us]")))
    except (
        ValueError,
        TypeError,
        OverflowError,
        pl.exceptions.PolarsError,
    ) as error:  # characters and dates that there are not
        raise DataError(f"{place} holds what cannot be read as {values.dtype}: {error}") from None
    raise DataError(f"{place} is of {values.dtype}; a column is of numbers, booleans, texts or dates.")


def _native(values: Any) -> Any:
    """In the order of bytes of this machine, one after the other."""
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="), copy=False))
