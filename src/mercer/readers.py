"""Tables from files, and back.

``read_table`` turns a file (CSV and its relatives, Parquet, svmlight, NPZ, FASTA) into one polars data frame whose columns have types: numbers,
booleans, ISO dates, texts, with missing values as null. What cannot be read without guessing is refused with the place and the cure.

Text is UTF-8, with or without a byte order mark, or UTF-16 with one. Latin-1 is not tried: any bytes at all are valid Latin-1, so a wrong guess
would pass unseen into the categories of a model.
"""

from __future__ import annotations

import bz2
import csv
import difflib
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mercer.data import DataError

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "?")
_DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}  # the comma last: it also stands inside numbers and sentences
_COMPRESSED = (".gz", ".bz2", ".xz")
_UNPACK: dict[bytes, Callable[[bytes], bytes]] = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}
_DELIMITED = (".csv", ".tsv", ".tab")
_PARQUET = (".parquet", ".pq")
_SVMLIGHT = (".libsvm", ".svmlight", ".svm")
_FASTA = (".fasta", ".fa", ".fna", ".faa", ".ffn")
_UNSPECIFIC = ("", ".txt", ".data", ".dat", ".test", ".t", ".tr", ".scale")
_SAMPLE = 100  # records that a delimiter is judged by
_NAMES = ("columns", "feature_names")  # of an array with the names of the columns of X
_MOST_CELLS = 250_000_000  # of a sparse file written out as a table: 2 GB

_PAIR = r"\d+:[^\s:]+"
_SVMLIGHT_LINE = re.compile(rf"[+-]?[\d.]+(e[+-]?\d+)?(\s+qid:\d+)?(\s+{_PAIR})+\s*(#.*)?", re.IGNORECASE)
_WITH_COMMA = r"^[+-]?\d*(,\d+)+(\.\d+)?([eE][+-]?\d+)?$"
_DATES = ("%Y-%m-%d",)
_TIMES = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M")


def read_table(path: str | Path, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The table in a file; its format is told by the extension, and by its first lines where the extension says nothing.

    columns
        The columns to return, in this order; None for all. Of a svmlight file, a feature that no line mentions is 0.
    """
    path = Path(path)
    kind = _kind(path)
    _check_readable(path)
    if kind == "parquet":
        return _selected(_read_parquet(path), columns, path)
    if kind == "npz":
        return _selected(_read_npz(path), columns, path)
    text = _text(path)
    if kind == "fasta":
        return _selected(_read_fasta(text, path), columns, path)
    if kind == "svmlight" or (kind == "text" and _looks_like_svmlight(text)):
        return _read_svmlight(text, path, columns)
    return _selected(_read_delimited(text, path), columns, path)


def write_table(frame: pl.DataFrame, path: str | Path | None = None) -> str | None:
    """The table written as CSV, tab-separated text or Parquet, by extension; without a path, its CSV text. Numbers read back as the same numbers."""
    if path is None:
        return frame.write_csv()
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (*_DELIMITED, *_PARQUET):
        raise DataError(f"{path}: a table is written as {_listed((*_DELIMITED, *_PARQUET))}, not as {path.suffix or 'a file without extension'!r}.")
    if not path.parent.is_dir():
        raise DataError(f"{path}: there is no folder {str(path.parent)!r}; make it first.")
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
    groups = {"delimited": _DELIMITED, "parquet": _PARQUET, "npz": (".npz",), "svmlight": _SVMLIGHT, "fasta": _FASTA, "text": _UNSPECIFIC}
    for kind, extensions in groups.items():
        if suffix in extensions or (kind == "text" and suffix.endswith("scale")):  # heart.numer_scale, as svmlight files are named
            return kind
    known = (*_DELIMITED, *_PARQUET, ".npz", *_SVMLIGHT, *_FASTA, *_UNSPECIFIC[1:])
    raise DataError(f"{path}: {suffix!r} is not a kind of table that is known; known are {_listed(known)}, text also with {_listed(_COMPRESSED)}.")


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it.")
    if not path.exists():
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=3) if path.parent.is_dir() else []
        raise DataError(f"There is no file {path}." + (f" Did you mean {_listed(near)}?" if near else " Check the path."))
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty.")


def _text(path: Path) -> str:
    """The characters of a text file, unpacked, with \\n at the end of lines."""
    raw = path.read_bytes()
    for magic, unpack in _UNPACK.items():
        if not raw.startswith(magic):
            continue
        try:
            raw = unpack(raw)
            break
        except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error):
            raise DataError(f"{path} is compressed, and damaged or cut off; fetch or pack it again.") from None
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        cure = "save it again as UTF-8 (a spreadsheet's 'CSV UTF-8'; or: iconv -f latin1 -t utf-8)"
        raise DataError(f"{path}, line {line}: byte {raw[error.start]:#04x} is not UTF-8; {cure}.") from None
    if "\0" in text:
        raise DataError(f"{path} is not text, though its name says so; known are {_listed((*_DELIMITED, *_PARQUET, '.npz', *_SVMLIGHT))}.")
    if not text.strip():
        raise DataError(f"{path} is empty: it holds only blank lines.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _selected(frame: pl.DataFrame, columns: Sequence[str] | None, path: Path) -> pl.DataFrame:
    if frame.height == 0:
        raise DataError(f"{path} has a header but no rows.")
    if columns is None:
        return frame
    absent = [c for c in columns if c not in frame.columns]
    if absent:
        near = difflib.get_close_matches(absent[0], frame.columns, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise DataError(f"{path} has no column {_listed(absent)}; its columns are {_listed(frame.columns)}.{hint}")
    return frame.select(list(columns))


def _listed(names: Sequence[str], most: int = 16) -> str:
    shown = ", ".join(n if n.startswith(".") else repr(n) for n in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


# ---------------------------------------------------------------------------------------------------------------------
# Delimited text
# ---------------------------------------------------------------------------------------------------------------------


def _read_delimited(text: str, path: Path) -> pl.DataFrame:
    cells = _cells(text, _delimiter(text, path), path)
    first = [str(cell).strip() for cell in cells.row(0)]
    texts = [_plain(column) for column in cells]
    header = _is_header(first, [column.slice(1) for column in texts])
    names = _names(first, path) if header else [f"column_{j + 1}" for j in range(len(first))]
    columns = dict(zip(names, (column.slice(int(header)) for column in texts), strict=True))
    if header and cells.height == 1:
        raise DataError(f"{path} has a header but no rows.")
    if header and not first[-1] and columns[names[-1]].null_count() == cells.height - 1:
        del columns[names[-1]]  # what a delimiter at the end of every line leaves
    return pl.DataFrame({name: _typed(column, name, path) for name, column in columns.items()})


def _records(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)


def _delimiter(text: str, path: Path) -> str:
    """The delimiter that splits most of the first records into the same number, above 1, of fields."""
    best, share = "", 0.0
    head = _head(text)
    for delimiter in _DELIMITERS:
        counts = Counter(len(record) for _, record in zip(range(_SAMPLE), filter(None, _records(head, delimiter)), strict=False))
        width, often = max(counts.items(), key=lambda item: item[1])
        if width > 1 and often / counts.total() > share:
            best, share = delimiter, often / counts.total()
    if not best:
        tried = ", ".join(_DELIMITERS.values())
        blanks = " The fields seem to be separated by blanks: put commas in their place." if re.match(r"\s*\S+[ ]+\S+", text) else ""
        raise DataError(f"{path} has only one column, whichever delimiter is tried ({tried}); a table needs two.{blanks}")
    return best


def _head(text: str) -> str:
    """Enough of a text for a sample of its records; cut where a line ends."""
    if len(text) < 1_000_000:
        return text
    return text[: text.rfind("\n", 0, 1_000_000) + 1] or text


def _cells(text: str, delimiter: str, path: Path) -> pl.DataFrame:
    """Every record, the first included, as texts. Lines are split by polars; where quotes may hide a delimiter, by the standard library."""
    return _quoted_cells(text, delimiter, path) if '"' in text else _bare_cells(text, delimiter, path)


def _bare_cells(text: str, delimiter: str, path: Path) -> pl.DataFrame:
    lines = pl.DataFrame({"text": text.split("\n")}).with_row_index("line", offset=1).filter(pl.col("text").str.strip_chars() != "")
    counts = lines["text"].str.count_matches(delimiter, literal=True)
    width = int(counts[0]) + 1
    wrong = (counts != width - 1).arg_true()
    if len(wrong):
        raise _ragged(path, int(lines["line"][wrong[0]]), int(counts[wrong[0]]) + 1, width)
    return lines["text"].str.split_exact(delimiter, width - 1).struct.unnest()


def _quoted_cells(text: str, delimiter: str, path: Path) -> pl.DataFrame:
    rows: list[list[str]] = []
    records, before = _records(text, delimiter), 0
    try:
        for record in records:
            line, before = before + 1, records.line_num
            if not record or (len(record) == 1 and not record[0].strip()):
                continue
            if rows and len(record) != len(rows[0]):
                raise _ragged(path, line, len(record), len(rows[0]))
            rows.append(record)
    except csv.Error as error:
        raise DataError(f"{path}, line {records.line_num}: {error}; a quote that is never closed does this.") from None
    return pl.DataFrame(rows, schema=[(f"field_{j}", pl.String) for j in range(len(rows[0]))], orient="row")


def _ragged(path: Path, line: int, found: int, expected: int) -> DataError:
    return DataError(f"{path}, line {line} has {found} fields, the first line has {expected}; quote fields that hold the delimiter.")


def _plain(column: pl.Series) -> pl.Series:
    """Texts without blanks around them, null where a value is missing."""
    stripped = column.cast(pl.String).str.strip_chars()
    return stripped.set(stripped.is_in(MISSING), None)


def _is_header(first: Sequence[str], body: Sequence[pl.Series]) -> bool:
    """Whether a first line names the columns below it.

    A text over numbers does; a number never does. Where all is text, a line of different texts does, none of which is found again below.
    """
    texts = [_is_text(cell) for cell in first]
    if any(text and _are_numbers(column) for text, column in zip(texts, body, strict=True)):
        return True
    if not all(text or not cell for text, cell in zip(texts, first, strict=True)) or not any(texts):
        return False
    filled = [cell for cell in first if cell]
    again = any(cell and bool((column == cell).any()) for cell, column in zip(first, body, strict=True))
    return len(set(filled)) == len(filled) and not again


def _is_text(cell: str) -> bool:
    if cell in MISSING:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def _are_numbers(column: pl.Series) -> bool:
    present = column.drop_nulls()
    return len(present) > 0 and present.cast(pl.Float64, strict=False).null_count() == 0


def _names(header: Sequence[str], path: Path) -> list[str]:
    """The names of a header; the nameless first column, as pandas writes its index, is ``index``, another nameless one ``column_j``."""
    names = [cell or ("index" if j == 0 else f"column_{j + 1}") for j, cell in enumerate(header)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        places = [j + 1 for j, name in enumerate(names) if name == twice[0]]
        raise DataError(f"{path}: columns {_numbers(places)} are all named {twice[0]!r}; a table needs different names.")
    return names


def _numbers(places: Sequence[int]) -> str:
    return ", ".join(map(str, places[:-1])) + f" and {places[-1]}"


def _typed(column: pl.Series, name: str, path: Path) -> pl.Series:
    """A column of texts as what all of them are: whole numbers, numbers, booleans, ISO dates; else as texts."""
    present = column.drop_nulls()
    if len(present) == 0 or _are_numbers(column):
        whole = column.cast(pl.Int64, strict=False)
        return whole if len(present) and whole.null_count() == column.null_count() else column.cast(pl.Float64)
    lower = present.str.to_lowercase()
    if lower.is_in(["true", "false"]).all():
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
            f"{path}: row {row}, column {name!r} is {column[row]!r}, a number with a comma in it. Decimal commas and separators of thousands "
            "are not read: save the file with decimal points and no separators."
        )
    return column


# ---------------------------------------------------------------------------------------------------------------------
# FASTA, svmlight, Parquet, NPZ
# ---------------------------------------------------------------------------------------------------------------------


def _read_fasta(text: str, path: Path) -> pl.DataFrame:
    """One row for each record: ``id``, the first word after >, ``description``, the rest of that line, and ``sequence``, its lines joined."""
    ids: list[str] = []
    descriptions: list[str] = []
    sequences: list[list[str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(">"):
            first, _, rest = line[1:].strip().partition(" ")
            ids.append(first)
            descriptions.append(rest.strip())
            sequences.append([])
        elif line.startswith(";") or not line.strip():
            continue
        elif not sequences:
            raise DataError(f"{path}, line {number}: a FASTA file begins with a line that starts with '>', not with {line[:20]!r}.")
        else:
            sequences[-1].append("".join(line.split()))
    if not ids:
        raise DataError(f"{path}: there are no records in the file; a record begins with a line that starts with '>'.")
    return pl.DataFrame({"id": ids, "description": descriptions, "sequence": ["".join(parts) for parts in sequences]})


def _looks_like_svmlight(text: str) -> bool:
    lines = [line for line in text[:100_000].split("\n")[:10] if line.strip() and not line.startswith("#")]
    return bool(lines) and _SVMLIGHT_LINE.fullmatch(lines[0].strip()) is not None


def _read_svmlight(text: str, path: Path, wanted: Sequence[str] | None) -> pl.DataFrame:
    """``label index:value …`` as columns ``target``, ``x1`` … ``xd``, named by index (``x0`` only where an index is 0)."""
    target: list[float] = []
    rows: list[int] = []
    indices: list[int] = []
    values: list[float] = []
    for number, line in enumerate(text.split("\n"), start=1):
        parts = line.partition("#")[0].split()
        if not parts:
            continue
        for part in parts[1:]:
            index, colon, value = part.partition(":")
            if index == "qid":
                continue
            if not colon or not index.isascii() or not index.isdigit() or (amount := _float(value)) is None:
                raise DataError(f"{path}, line {number}: {part!r} is not 'index:value'.")
            rows.append(len(target))
            indices.append(int(index))
            values.append(amount)
        label = _float(parts[0])
        if label is None:
            raise DataError(f"{path}, line {number}: the label {parts[0]!r} is not a number; several labels a line are not supported.")
        target.append(label)
    if not target:
        raise DataError(f"{path} has no rows.")
    labels = np.array(target)
    whole = pl.Series("target", labels.astype(np.int64) if np.array_equal(labels, np.rint(labels)) and (abs(labels) < 2**53).all() else labels)
    first, last = (min(indices), max(indices)) if indices else (1, 0)
    if wanted is not None:  # also those that this file happens not to mention
        last = max([last, *(int(c[1:]) for c in wanted if re.fullmatch(r"x[1-9]\d*", c))])
    start = 0 if first == 0 else 1
    width = last + 1 - start
    if len(target) * width > _MOST_CELLS:
        raise DataError(
            f"{path}: {len(target)} rows × {width} columns are too many for a table. Read it as a sparse matrix, "
            "sklearn.datasets.load_svmlight_file, which all estimators take."
        )
    table = np.zeros((len(target), width))
    table[rows, np.array(indices, np.int64) - start] = values
    frame = pl.DataFrame([whole, *(pl.Series(f"x{j + start}", table[:, j]) for j in range(width))])
    return _selected(frame, wanted, path)


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}") from None


def _read_npz(path: Path) -> pl.DataFrame:
    """Arrays of n rows side by side: X as ``x1`` … ``xd``, y as ``target``, any other by its name, numbered where it has several columns.

    Beside X, an array of texts ``columns`` or ``feature_names`` names its columns, and what has other than n rows (a test set) is left out.
    """
    arrays: dict[str, Any] = {}
    try:
        with np.load(path, allow_pickle=False) as file:
            for name in file.files:
                try:
                    arrays[name] = file[name]
                except ValueError as error:
                    cure = "save it as numbers or texts, X.astype(float) or X.astype(str)" if "Object arrays" in str(error) else "save it again"
                    raise DataError(f"{path}: array {name!r} cannot be read: {error} Instead, {cure}.") from None
    except DataError:
        raise
    except (OSError, ValueError, EOFError, AttributeError, zipfile.BadZipFile):
        raise DataError(f"{path} is not an NPZ file, or is damaged; write it with numpy.savez.") from None
    if not arrays:
        raise DataError(f"{path} holds no arrays.")
    X = arrays.get("X")
    names: list[str] = []
    if X is not None and X.ndim == 2:
        given = [a.tolist() for name in _NAMES if (a := arrays.pop(name, None)) is not None and a.dtype.kind == "U" and a.shape == X.shape[1:]]
        names = given[0] if given else []
        arrays = {name: a for name, a in arrays.items() if name == "y" or (a.shape[:1] == X.shape[:1] and a.ndim <= 2)}
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
                raise DataError(f"{path}: two arrays give a column {label!r}; rename {name!r}.")
            columns[label] = _column_of(wide[:, j], f"{path}: array {name!r}")
    return pl.DataFrame(columns)


def _column_of(values: Any, place: str) -> pl.Series:
    if values.dtype.kind in "fiub":
        return pl.Series(values.astype(np.float32) if values.dtype == np.float16 else np.ascontiguousarray(values))
    if values.dtype.kind == "U":
        return pl.Series(values.tolist(), dtype=pl.String)
    if values.dtype.kind == "M":
        return pl.Series(values.astype("datetime64[us]"))
    raise DataError(f"{place} is of {values.dtype}; a column is of numbers, booleans, texts or dates.")
