"""What ``mercer cv`` and ``mercer check`` give a kernel: the samples in a file, and their targets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data import DataError
from mercer.files.places import listed
from mercer.files.readers import read_table
from mercer.files.svmlight import SparseTable
from mercer.kernels.base import Kernel
from mercer.kernels.compose.inputs import OnColumns

_NARROW = 1000  # columns of a svmlight table whose zeros are written out


class Rows(NamedTuple):
    """Samples, as a matrix of numbers where all columns are that, a list where there is one column of texts, else the
    table itself; and targets, None where there are none.
    """

    X: Samples
    y: Array | None

    def __len__(self) -> int:
        return self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)


def read_rows(
    path: Path, target: str | None, drop: Sequence[str] = (), max_bytes: str | None = None, kernel: Kernel | None = None
) -> Rows:
    """The samples of a file; of a svmlight file the target is the label of each line. For a kernel that names columns
    they stay a table.
    """
    table = read_table(path, sparse=True, max_bytes=max_bytes)
    if isinstance(table, SparseTable):
        if target not in (None, "target"):
            raise DataError(
                f"{path}: the target of a svmlight file is the label of each line; leave --target out.", "M217"
            )
        return Rows(table.X.toarray() if table.X.shape[1] <= _NARROW else table.X, np.asarray(table.target))
    for name in (*([target] if target is not None else ()), *drop):
        if name not in table.columns:
            raise DataError(f"{path} has no column {name!r}; its columns are {listed(table.columns)}.", "M601")
    y = None
    if target is not None:
        table = table.filter(table.get_column(target).is_not_null())
        y = table.get_column(target).to_numpy()
        if not len(y):
            raise DataError(f"{path}: the column {target!r} is empty.", "M603")
    table = table.drop([*([target] if target is not None else ()), *drop])
    if not table.width:
        raise DataError(f"{path}: there is no column beside the target.", "M605")
    if kernel is not None and _names_columns(kernel):
        return Rows(table, y)
    if all(kind.is_numeric() or kind == pl.Boolean for kind in table.dtypes):
        return Rows(table.cast(pl.Float64).fill_null(float("nan")).to_numpy(), y)
    if table.width == 1 and table.dtypes[0] == pl.String:
        return Rows(table.to_series().to_list(), y)
    return Rows(table, y)


def _names_columns(kernel: Kernel) -> bool:
    """Whether a part of a kernel is of columns by their names."""
    if isinstance(kernel, OnColumns):
        asked = kernel.columns if isinstance(kernel.columns, list | tuple) else [kernel.columns]
        return any(isinstance(column, str) for column in asked)
    return any(_names_columns(child) for _, child in kernel._children())
