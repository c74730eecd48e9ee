"""Tables from files, and back: one call for every kind of file.

``read_table`` turns a file (CSV and its relatives, Parquet, svmlight, NPZ, FASTA, FASTQ, SMILES, SDF) into one
polars data frame whose columns have types: numbers, booleans, ISO dates, texts, with missing values as null. What
cannot be read without guessing is refused with the place and the cure.

A svmlight file that is mostly zeros comes as a ``SparseTable``. What a file unpacks to is limited: see ``read_table``.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, overload

import polars as pl

from mercer.data import DataError
from mercer.data.archives import check_fields, most_bytes, too_large
from mercer.data.tables import excerpt
from mercer.files.delimited import delimiter_of, read_delimited, read_lines
from mercer.files.fasta import read_fasta
from mercer.files.fastq import read_fastq
from mercer.files.npz import read_npz
from mercer.files.parquet import read_parquet
from mercer.files.places import PARQUET, TABLES, check_place, check_readable, kind_of, listed
from mercer.files.sdf import read_sdf_table
from mercer.files.smiles import read_smiles
from mercer.files.svmlight import SparseTable, looks_like_svmlight, read_svmlight
from mercer.files.text import lines_of, read_text


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

    Columns have types: integers, numbers, booleans, ISO dates or texts, with missing values as null. What cannot be
    read without guessing is refused.

    Parameters
    ----------
    path : str or Path
        CSV and its relatives, svmlight, and files of sequences and molecules (FASTA, FASTQ, SMILES, SDF; see Notes), as
        they are or packed by gzip, bzip2 or xz; Parquet; NPZ.
    columns : sequence of str, optional
        The columns to return, in this order; None for all. Of a svmlight file, a feature that no line mentions is 0.
    sparse : bool, optional
        Whether a svmlight file comes as a ``SparseTable``; None: where it has many times more zeros than entries, or
        more than 10 000 columns. Other formats have no sparse form.
    max_bytes : int or str, optional
        How much may be read of a file after unpacking, in bytes or as "2GB"; None: an eighth of the machine's memory,
        for reading takes several times the size of a text. A field of a text counts for 16 bytes at least.
    lines : str, optional
        The name of the one column of a text file in which every line is a value: SMILES, texts. A first line that is
        this name is a header.

    Returns
    -------
    polars.DataFrame or SparseTable
        Estimators take both: a data frame as it is, of a ``SparseTable`` its ``X``.

    Raises
    ------
    DataError
        A ``ValueError``: for whatever is wrong with the file, with the place and the cure.

    See Also
    --------
    read_tu, read_sdf : Files of graphs and molecules.

    Notes
    -----
    FASTA (.fa, .fasta, .fna, .faa, .ffn) has the columns ``id``, the first word after >; ``description``, the rest of
    that line, where some record has one; ``sequence``; and one for each field ``key=value`` that every header has,
    after a blank, a bar or a semicolon: ``>P1 label=1``. FASTQ (.fastq, .fq) has ``quality`` as well, a character for
    each letter. Records of Biopython are samples themselves.

    SMILES (.smi, .smiles) has ``smiles``, ``name`` and ``column_3``, …, between tabs, else blanks, or what a first line
    calls them that says "smiles". Where RDKit is installed, what it cannot read is refused.

    SDF (.sdf, with RDKit) has ``smiles``, ``name``, the first line of a record, where some record has one, and a column
    for each data field, ``> <LogP>``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer as mc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("height,city,left-handed\\n1.81,Bonn,true\\n,Kiel,false\\n")
    ...     table = mc.read_table(path)
    >>> table["height"].to_list()
    [1.81, None]
    >>> [str(kind) for kind in table.dtypes]
    ['Float64', 'String', 'Boolean']
    """
    path = Path(path)
    kind = kind_of(path)
    check_readable(path)
    limit = most_bytes(max_bytes)
    if kind == "parquet":
        return _selected(read_parquet(path, limit), columns, path)
    if kind == "npz":
        return _selected(read_npz(path, limit), columns, path)
    text = read_text(path, limit)
    if lines is not None:
        check_fields(path, text.count("\n"), limit)
        return _selected(read_lines(text, lines, path), columns, path)
    if kind == "fasta":
        check_fields(path, 3 * text.count("\n>") + text.count("="), limit)
        return _selected(read_fasta(text, path), columns, path)
    if kind == "fastq":
        check_fields(path, text.count("\n") + text.count("="), limit)
        return _selected(read_fastq(text, path), columns, path)
    if kind == "smiles":
        check_fields(path, text.count("\n") + text.count(" ") + text.count("\t"), limit)
        return _selected(read_smiles(text, path, limit), columns, path)
    if kind == "sdf":
        return _selected(read_sdf_table(text, path, limit), columns, path)
    if kind == "svmlight" or (kind == "text" and looks_like_svmlight(text)):
        check_fields(path, text.count(":") + text.count("\n"), limit)
        return _of_pairs(read_svmlight(lines_of(text), path), columns, path, sparse, limit)
    delimiter = delimiter_of(text, path)
    check_fields(path, text.count("\n") + (text.count(delimiter) if delimiter else 0), limit)
    return _selected(read_delimited(text, delimiter, path), columns, path)


def read_pairs(path: str | Path, max_bytes: int | str | None = None) -> SparseTable:
    """The table in a svmlight file of any name, as libsvm's programs take it."""
    path = Path(path)
    check_readable(path)
    limit = most_bytes(max_bytes)
    text = read_text(path, limit)
    check_fields(path, text.count(":") + text.count("\n"), limit)
    return read_svmlight(lines_of(text), path)


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


def _selected(frame: pl.DataFrame, columns: Sequence[str] | None, path: Path) -> pl.DataFrame:
    if frame.height == 0:
        raise DataError(f"{path} has a header but no rows.", "M502")
    if columns is None:
        return frame
    absent = [c for c in columns if c not in frame.columns]
    if absent:
        near = difflib.get_close_matches(absent[0], frame.columns, n=1)
        hint = f" Did you mean {excerpt(near[0])}?" if near else ""
        raise DataError(
            f"{path} has no column {listed(absent)}; its columns are {listed(frame.columns)}.{hint}", "M105"
        )
    return pl.DataFrame([frame.get_column(name) for name in columns])


def write_table(frame: pl.DataFrame, path: str | Path | None = None) -> str | None:
    """The table written as CSV, tab-separated text or Parquet, by extension; without a path, its CSV text. Numbers read
    back as the same numbers.
    """
    if path is None:
        return frame.write_csv()
    path = Path(path)
    check_place(path, TABLES)
    kind = path.suffix.lower()
    if kind in PARQUET:
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="," if kind == ".csv" else "\t")
    return None
