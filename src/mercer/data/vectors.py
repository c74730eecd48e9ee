"""Rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Items, Samples
from mercer.arrays import Array
from mercer.data.objects import Domain
from mercer.data.representations import Rep
from mercer.data.tables import DataError, as_frame, column_to_numpy, frame_to_numpy, shown

_CURE = "Drop or fill it, or say what it means with kernel.imputed()."


@dataclass(frozen=True)
class Vectors(Domain):
    """Rows of numbers: NumPy, SciPy sparse (kept as CSR), pandas or polars, torch. float32 stays float32, the rest is
    float64.

    minimum, below
        If given, entries must satisfy minimum ≤ x < below.
    columns
        If given, the exact number of columns.
    missing
        Whether NaN is accepted.
    """

    minimum: float | None = None
    below: float | None = None
    columns: int | None = None
    missing: bool = False

    def check(self, X: Samples) -> Rep:
        if arrays.is_recorded(X):
            return X  # there is nothing to look at yet
        names: Sequence[Any] | None = None
        plain = type(X) is np.ndarray and X.dtype.kind == "f"  # nothing to find out, and small data waits for it
        frame = None if plain else as_frame(X)
        if frame is not None:
            names, X = frame.columns, frame_to_numpy(frame)
        elif not plain and not arrays.is_tensor(X) and not sparse.issparse(X):
            X = self._array(X)
        if arrays.is_tensor(X):
            X = X.detach() if X.requires_grad else X
            if not X.is_floating_point() or X.element_size() < 4:
                X = arrays.astype(X, np.float32 if X.is_floating_point() else np.float64)
        elif X.dtype not in (np.float32, np.float64):
            if X.dtype.kind == "c":
                raise DataError(
                    "The data is complex; kernels here take real numbers: use abs, angle, or real and imaginary"
                    " columns.",
                    "M103",
                )
            X = X.astype(np.float32 if X.dtype == np.float16 else np.float64)
        if len(X.shape) != 2:
            raise DataError(
                f"Expected a 2-D array, samples × columns, got shape {tuple(X.shape)}. "
                "Use X.reshape(-1, 1) for one column, X.reshape(1, -1) for one sample.",
                "M103",
            )
        if X.shape[1] == 0:
            raise DataError(f"The data has {X.shape[0]} rows but no columns; there is nothing to compare.", "M103")
        if self.columns is not None and X.shape[1] != self.columns:
            raise DataError(
                f"This kernel is defined on {self.columns} column(s), the data has {X.shape[1]}; choose with"
                " kernel.on([column]).",
                "M104",
            )
        if sparse.issparse(X):
            X = X.tocsr()
        self._check_values(X, names)
        return X

    def pair(self, x: Any, z: Any) -> tuple[Any, Any] | None:
        if getattr(x, "ndim", None) == 1 and getattr(z, "ndim", None) == 1 and arrays.numpy_dtype(x).kind in "fiub":
            return x[None], z[None]
        if sparse.issparse(x) or sparse.issparse(z) or hasattr(x, "dtype") or hasattr(z, "dtype"):
            return None
        if _is_row_of_numbers(x) and _is_row_of_numbers(z):
            return [x], [z]
        return None

    def _array(self, X: Samples) -> Any:
        series = nw.from_native(X, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):  # one column of a table
            return column_to_numpy(series, 0)[:, None]
        if hasattr(X, "collect"):
            raise DataError(f"A {type(X).__name__} is a plan, not data yet: collect() it first.", "M103")
        try:
            X = np.asarray(X)
        except ValueError:
            raise DataError(
                "The rows have different lengths; vectors need the same columns in every row.", "M103"
            ) from None
        if X.dtype.kind not in "fiubc":
            if X.ndim != 2:
                raise DataError(f"Expected a 2-D array of numbers, got shape {X.shape} of {X.dtype}.", "M103")
            X = _to_float(X)
        return X

    def check_finite(self, X: Samples, names: Sequence[Any] | None = None, cure: str = _CURE) -> None:
        """Raise where an entry is infinite, or missing (``cure`` says what to do then) and must not be; one cheap pass,
        and the entry is looked for only when there is one.
        """
        values = X.data if sparse.issparse(X) else X
        if values.shape[0] == 0 or arrays.all_finite(values):
            return
        xp = arrays.namespace(values)
        bad = xp.isinf(values) if self.missing else ~xp.isfinite(values)
        if bool(bad.any()):
            row, column, found = _locate(X, bad)
            what = "a missing value (NaN)" if found != found else "infinite"
            raise DataError(
                f"Row {row}, column {_column(column, names)} is {what}. "
                f"{cure if found != found else 'Drop the row, or clip the column to finite values.'}",
                "M101",
            )

    def _check_values(self, X: Samples, names: Sequence[Any] | None) -> None:
        self.check_finite(X, names)
        values = X.data if sparse.issparse(X) else X
        if values.shape[0] == 0:
            return
        if self.minimum is not None and bool((values < self.minimum).any()):
            row, column, found = _locate(X, values < self.minimum)
            raise DataError(
                f"Row {row}, column {_column(column, names)} is {found:g}; this kernel needs entries of at least"
                f" {self.minimum:g}. Shift or clip the data, or choose a kernel that allows any sign (Gaussian,"
                " Laplacian).",
                "M106",
            )
        if self.below is not None and bool((values >= self.below).any()):
            row, column, found = _locate(X, values >= self.below)
            raise DataError(
                f"Row {row}, column {_column(column, names)} is {found:g}; this kernel needs entries below"
                f" {self.below:g}, where it diverges. Rescale the data.",
                "M106",
            )


@dataclass(frozen=True)
class Histograms(Vectors):
    """Rows of non-negative numbers, checked."""

    minimum: float | None = 0.0


def check_same_width(A: Items, B: Items) -> None:
    """Refuse to compare vectors of different lengths."""
    a, b = (x.shape[1] if len(getattr(x, "shape", ())) == 2 else None for x in (A, B))
    if a is not None and b is not None and a != b:
        raise DataError(
            f"X has {a} columns and Y has {b}; both must have the columns the kernel was made for, in the same order.",
            "M104",
        )


def _is_row_of_numbers(x: object) -> bool:
    return isinstance(x, list | tuple) and len(x) > 0 and all(isinstance(v, int | float | np.number) for v in x)


def _locate(X: Samples, bad: Array) -> tuple[int, int, float]:
    """Row, column and value of the first offending entry; ``bad`` is over X, or over the stored entries of a CSR
    matrix.
    """
    if sparse.issparse(X):
        k = int(np.argmax(bad))
        return int(np.searchsorted(X.indptr, k, side="right") - 1), int(X.indices[k]), float(X.data[k])
    k = int(np.argmax(arrays.to_numpy(bad)))
    row, column = divmod(k, X.shape[1])
    return row, column, float(X[row, column])


def _column(column: int, names: Sequence[Any] | None) -> str:
    return str(column) if names is None else f"{names[column]!r} ({column})"


def _to_float(X: Samples) -> Any:
    """An object or text array as float64; None counts as missing."""
    out = np.empty(X.shape, np.float64)
    for (row, column), value in np.ndenumerate(X):
        try:
            out[row, column] = np.nan if value is None else float(value)
        except (TypeError, ValueError):
            raise DataError(
                f"Row {row}, column {column} is {shown(value)}, not a number. Encode it, or compare that column with"
                f" Categorical().on({column}).",
                "M102",
            ) from None
    return out
