"""What a file is by its name, and whether it can be read or written where it is."""

from __future__ import annotations

import difflib
import os
import uuid
from collections.abc import Sequence
from pathlib import Path

from mercer.data import DataError
from mercer.data.tables import excerpt

_COMPRESSED = (".gz", ".bz2", ".xz")
DELIMITED = (".csv", ".tsv", ".tab")
PARQUET = (".parquet", ".pq")
SVMLIGHT = (".libsvm", ".svmlight", ".svm")
_FASTA = (".fasta", ".fa", ".fna", ".faa", ".ffn")
_FASTQ = (".fastq", ".fq")
_SMILES = (".smi", ".smiles")
_SDF = (".sdf",)
_UNSPECIFIC = ("", ".txt", ".data", ".dat", ".test", ".t", ".tr", ".scale")
_EXTENSIONS = {*_COMPRESSED, *DELIMITED, *PARQUET, ".npz", *SVMLIGHT, *_FASTA, *_FASTQ, *_SMILES, *_SDF, *_UNSPECIFIC}
TABLES = (*DELIMITED, *PARQUET)  # extensions of what ``write_table`` writes


def kind_of(path: Path) -> str:
    """What a file claims to be by its extension, compression aside."""
    suffixes = [s.lower() for s in path.suffixes]
    suffix = next((s for s in reversed(suffixes) if s not in _COMPRESSED), "")
    groups = {
        "delimited": DELIMITED,
        "parquet": PARQUET,
        "npz": (".npz",),
        "svmlight": SVMLIGHT,
        "fasta": _FASTA,
        "fastq": _FASTQ,
        "smiles": _SMILES,
        "sdf": _SDF,
        "text": _UNSPECIFIC,
    }
    for kind, extensions in groups.items():
        # heart.numer_scale, as svmlight files are named
        if suffix in extensions or (kind == "text" and suffix.endswith("scale")):
            return kind
    known = (*DELIMITED, *PARQUET, ".npz", *SVMLIGHT, *_FASTA, *_FASTQ, *_SMILES, *_SDF, *_UNSPECIFIC[1:])
    raise DataError(
        f"{path}: {suffix!r} is not a kind of table that is known; known are {listed(known)}, text also with"
        f" {listed(_COMPRESSED)}.",
        "M502",
    )


def is_text(path: str | Path) -> bool:
    """Whether a file is a text of lines and fields, by its name."""
    return kind_of(Path(path)) in ("delimited", "text")


def check_readable(path: Path) -> None:
    """Raise DataError unless there is a file that can be read, and something in it."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it.", "M501")
    if not path.exists():
        near = (
            difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=3)
            if path.parent.is_dir()
            else []
        )
        raise DataError(
            f"There is no file {path}." + (f" Did you mean {listed(near)}?" if near else " Check the path."), "M501"
        )
    if not os.access(path, os.R_OK):
        raise DataError(f"{path} may not be read; ask for the permission, or name a copy.", "M501")
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path} is empty.", "M502")


def check_place(path: str | Path, extensions: Sequence[str] = ()) -> None:
    """Raise DataError unless a file can be written there, with one of these extensions if some are given."""
    path = Path(path)
    if extensions and path.suffix.lower() not in extensions:
        raise DataError(
            f"{path}: a table is written as {listed(extensions)}, not as"
            f" {path.suffix or 'a file without extension'!r}.",
            "M502",
        )
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it.", "M501")
    if not path.resolve().parent.is_dir():
        raise DataError(
            f"{path}: there is no folder {str(path.parent)!r} to put {path.name} in; make it first.", "M501"
        )
    if path.exists() and not os.access(path, os.W_OK):
        raise DataError(f"{path} cannot be written: it is there, and protected. Choose another name.", "M501")
    beside = path.with_name(f".{uuid.uuid4().hex}")
    try:
        beside.touch()
        beside.unlink()
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Choose another folder.", "M501") from None


def listed(names: Sequence[str], most: int = 16) -> str:
    """The first of some names or extensions, for a sentence."""
    shown = ", ".join(n if n in _EXTENSIONS else excerpt(n) for n in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
