"""Tables of arrays side by side, from NPZ files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mercer.arrays import Array
from mercer.data import DataError
from mercer.data.archives import Archive, read_array
from mercer.data.tables import excerpt

_NAMES = ("columns", "feature_names")  # of an array with the names of the columns of X


def read_npz(path: Path, limit: int) -> pl.DataFrame:
    """Arrays of n rows side by side: X as ``x1`` … ``xd``, y as ``target``, any other by its name, numbered where it
    has several columns.

    Beside X, an array of texts ``columns`` or ``feature_names`` names its columns, and what has other than n rows (a
    test set) is left out.
    """
    arrays: dict[str, Any] = {}
    try:
        archive = Archive(path, limit)
    except DataError:
        raise DataError(f"{path} is not an NPZ file, or is damaged; write it with numpy.savez.", "M502") from None
    with archive:
        for part in archive.parts:
            name = part.removesuffix(".npy")
            arrays[name] = read_array(archive.read(part), f"{path}: array {excerpt(name)}")
    if not arrays:
        raise DataError(f"{path} holds no arrays.", "M502")
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
        raise DataError(f"{path}: the columns of X need different names, of characters.", "M502")
    if len({a.shape[:1] for a in arrays.values()}) > 1 or any(a.ndim not in (1, 2) for a in arrays.values()):
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise DataError(
            f"{path}: the columns of a table are 1-D or 2-D arrays of the same length; found {shapes}.", "M502"
        )
    columns: dict[str, pl.Series] = {}
    for name, array in arrays.items():
        stem = {"X": "x", "y": "target"}.get(name, name)
        wide = array[:, None] if array.ndim == 1 else array
        several = [f"{stem}{j + 1}" if name == "X" else f"{stem}_{j + 1}" for j in range(wide.shape[1])]
        labels = [stem] if wide.shape[1] == 1 and name != "X" else names if name == "X" and names else several
        for j, label in enumerate(labels):
            if label in columns:
                raise DataError(f"{path}: two arrays give a column {excerpt(label)}; rename {excerpt(name)}.", "M502")
            columns[label] = _column_of(wide[:, j], f"{path}: array {excerpt(name)}")
    return pl.DataFrame(columns)


def _is_surrogate(name: str) -> bool:
    """Whether a name has halves of characters in it, which no file can hold."""
    return any(0xD800 <= ord(letter) <= 0xDFFF for letter in name)


def _column_of(values: Array, place: str) -> pl.Series:
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
        raise DataError(f"{place} holds what cannot be read as {values.dtype}: {error}", "M502") from None
    raise DataError(f"{place} is of {values.dtype}; a column is of numbers, booleans, texts or dates.", "M502")


def _native(values: Array) -> Any:
    """In the order of bytes of this machine, one after the other."""
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="), copy=False))
