"""What a sample is.

A domain turns what users have (NumPy, SciPy sparse, pandas or polars, torch, lists) into one internal form, or raises an error
that names the first offending row and column, what was found there, and what to do. All parsing of user input is here.

The internal form of n samples, and whatever a kernel prepares from it, is a *representation*: an array, a CSR matrix, a list,
a ``Ragged``, or a tuple of representations, with n rows in every leaf. ``size``, ``take`` and ``leaves`` are all that blocks,
laziness and devices need to know about it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from mercer import backend

Rep = Any


class DataError(ValueError):
    """Input that a domain cannot accept; the message names the place and the cure."""


# ---------------------------------------------------------------------------------------------------------------------
# Representations
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths in one buffer: row i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Any
    offsets: Any

    @classmethod
    def of(cls, rows: Sequence[Any], dtype: Any = np.float64) -> Ragged:
        lengths = [len(r) for r in rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        values = np.concatenate([np.asarray(r, dtype) for r in rows]) if rows else np.empty(0, dtype)
        return cls(values, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Any:
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def take(self, rows: Any) -> Ragged:
        return Ragged.of([self[i] for i in np.arange(len(self))[rows]], self.values.dtype)


def leaves(rep: Rep) -> Iterator[Any]:
    """The leaves of a representation, from left to right."""
    if isinstance(rep, tuple):
        for part in rep:
            yield from leaves(part)
    else:
        yield rep


def size(rep: Rep) -> int:
    """The number of samples."""
    leaf = next(leaves(rep))
    shape = getattr(leaf, "shape", None)
    return int(shape[0]) if shape is not None else len(leaf)


def take(rep: Rep, rows: Any) -> Rep:
    """The samples ``rows`` (a slice or an index array) of a representation; a slice of an array is a view."""
    if isinstance(rep, tuple):
        return tuple(take(part, rows) for part in rep)
    if isinstance(rep, list):
        return rep[rows] if isinstance(rows, slice) else [rep[i] for i in np.arange(len(rep))[rows]]
    if isinstance(rep, Ragged):
        return rep.take(rows)
    frame = as_frame(rep) if hasattr(rep, "columns") else None
    if frame is not None:
        return frame[np.arange(len(frame))[rows].tolist()].to_native()
    if backend.is_tensor(rep) and not isinstance(rows, slice):
        rows = backend.like(np.asarray(rows, np.int64), rep)
    return rep[rows]


def stack(a: Rep, b: Rep) -> Rep:
    """The samples of a, then those of b."""
    if isinstance(a, list):
        return a + list(b)
    if sparse.issparse(a):
        return sparse.vstack([a, b], format="csr")
    first, second = as_frame(a), as_frame(b)
    if first is not None and second is not None:
        return nw.concat([first, second.select(first.columns)]).to_native()
    return backend.namespace(a, b).concatenate([a, b])


def distinct(rep: Rep, y: Any) -> tuple[Any, Any]:
    """(numbers of the first of each kind, the kind of each sample): samples are of one kind if item and target are the same to the last bit.

    Items that cannot be hashed are each of their own kind.
    """
    if sparse.issparse(rep):
        csr = rep.tocsr()
        items = [csr.indices[a:b].tobytes() + csr.data[a:b].tobytes() for a, b in pairwise(csr.indptr)]
    elif isinstance(rep, np.ndarray) and rep.dtype != object:
        items = [row.tobytes() for row in rep]
    elif backend.is_tensor(rep):
        items = [row.tobytes() for row in backend.to_numpy(rep)]
    elif hasattr(rep, "columns") and (frame := as_frame(rep)) is not None:
        items = frame.rows()
    else:
        items = list(rep) if isinstance(rep, list | np.ndarray) else list(range(size(rep)))
    first: dict[Any, int] = {}
    kinds = np.empty(len(items), np.int64)
    for i, (item, target) in enumerate(zip(items, y, strict=True)):
        key = (item if isinstance(item, Hashable) else i, np.asarray(target).tobytes())
        kinds[i] = first.setdefault(key, len(first))
    numbers = np.empty(len(first), np.int64)
    numbers[kinds[::-1]] = np.arange(len(items))[::-1]
    return numbers, kinds


def check_weights(n: int, weights: Any) -> Any:
    """Weights of n samples as float64, ones if None; each counts as that many repetitions."""
    if n == 0:
        raise DataError("There are no rows: data-driven parameters have nothing to follow.")
    w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    if w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any() or w.sum() == 0:
        raise ValueError(f"weights must be {n} numbers of at least 0, not all 0.")
    return w


def weighted_median(value: Any, weight: Any) -> float:
    """The median where each value counts as often as its weight says."""
    order = np.argsort(value, kind="stable")
    cumulative = np.cumsum(weight[order])
    lower, upper = (value[order[np.searchsorted(cumulative, cumulative[-1] / 2, side=side)]] for side in ("left", "right"))
    return float(lower + upper) / 2


def chunks(n: int, step: int) -> list[slice]:
    """0…n in consecutive slices of at most ``step``."""
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


# ---------------------------------------------------------------------------------------------------------------------
# Tables: columns by name, from any data frame
# ---------------------------------------------------------------------------------------------------------------------


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """X as a narwhals data frame if it is a data frame of any library, else None."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def in_order_of(X: Any, Y: Any) -> Any:
    """X with its columns in the order of Y's, where both are data frames of the same columns; else X as it is."""
    mine, theirs = (as_frame(t) if hasattr(t, "columns") else None for t in (X, Y))
    if mine is None or theirs is None or mine.columns == theirs.columns or sorted(map(str, mine.columns)) != sorted(map(str, theirs.columns)):
        return X
    return mine.select(theirs.columns).to_native()


def select(X: Any, columns: Any) -> Any:
    """The named (data frame) or numbered (array) columns of a table; one column given alone comes as a column, unless it is of numbers."""
    frame = as_frame(X)
    many = isinstance(columns, list | tuple | np.ndarray)
    if frame is not None:
        names = list(columns) if many else [columns]
        names = [frame.columns[c] if isinstance(c, int | np.integer) and -len(frame.columns) <= c < len(frame.columns) else c for c in names]
        for name in names:
            if name not in frame.columns:
                raise DataError(f"There is no column {name!r} in the table; its columns are {_listing(frame.columns)}.")
        return frame.select(names).to_native() if many else frame.get_column(names[0]).to_native()
    if not hasattr(X, "shape"):
        X = np.asarray(X, dtype=object)
    if len(X.shape) != 2:
        raise DataError(f"Columns {columns!r} were asked of an object of shape {tuple(X.shape)}; give a data frame or a 2-D array.")
    for c in columns if many else [columns]:
        if not isinstance(c, int | np.integer) or not -X.shape[1] <= c < X.shape[1]:
            raise DataError(f"There is no column {c!r} in an array of {X.shape[1]} columns; use 0…{X.shape[1] - 1}, or a data frame for names.")
    if sparse.issparse(X):
        X = X.tocsr()
    numbers = sparse.issparse(X) or backend.numpy_dtype(X).kind in "fiub"
    return X[:, list(columns)] if many else X[:, [columns]] if numbers else X[:, columns]


def _listing(names: Sequence[Any], most: int = 8) -> str:
    shown = ", ".join(repr(n) for n in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"


# ---------------------------------------------------------------------------------------------------------------------
# Domains
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Domain:
    """A kind of sample. ``check`` is idempotent: what it returns, it accepts and returns unchanged."""

    def check(self, X: Any) -> Rep:
        """The internal form of a collection of samples."""
        raise NotImplementedError

    def pair(self, x: Any, z: Any) -> tuple[Any, Any] | None:
        """If x and z are two single samples rather than two collections: each as a collection of one. Else None."""
        return None


@dataclass(frozen=True)
class Anything(Domain):
    """Any collection with a length; the kernel, or a part of it, looks closer."""

    def check(self, X: Any) -> Rep:
        if hasattr(X, "shape") or isinstance(X, tuple | list | Ragged) or as_frame(X) is not None:
            return list(X) if isinstance(X, tuple) else X
        if isinstance(X, str | bytes) or not isinstance(X, Iterable):
            raise DataError(f"Expected a collection of samples, got a single {type(X).__name__}; put it in a list.")
        return list(X)


@dataclass(frozen=True)
class Objects(Domain):
    """A list of objects of one kind, unexamined but for what a single one would look like."""

    noun: str = "objects"
    single: tuple[type, ...] = (str, bytes)

    def check(self, X: Any) -> Rep:
        if isinstance(X, self.single):
            raise DataError(f"Expected a collection of {self.noun}, got one {type(X).__name__}; put it in a list: [x].")
        series = nw.from_native(X, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            X = series.to_list()
        if not isinstance(X, Iterable):
            raise DataError(f"Expected a collection of {self.noun}, got {type(X).__name__}.")
        items = X if isinstance(X, list) else list(X)
        for i, item in enumerate(items):
            self._check_item(i, item)
        return items

    def _check_item(self, i: int, item: Any) -> None:
        if item is None:
            raise DataError(f"Item {i} of the {self.noun} is missing (None); drop it or put an empty one in its place.")


@dataclass(frozen=True)
class Sequences(Objects):
    """Strings, bytes, lists of tokens, integer arrays."""

    noun: str = "sequences"

    def _check_item(self, i: int, item: Any) -> None:
        if not hasattr(item, "__len__"):
            raise DataError(f"Item {i} of the sequences is {item!r}, a {type(item).__name__}; give strings, bytes or lists of tokens.")


@dataclass(frozen=True)
class Graphs(Objects):
    """Graphs, each an object that the graph kernels read."""

    noun: str = "graphs"


@dataclass(frozen=True)
class Nodes(Domain):
    """The numbers 0…count−1 of the objects of a fixed set: vertices of one graph, rows of a precomputed matrix."""

    count: int

    def check(self, X: Any) -> Rep:
        series = nw.from_native(X, series_only=True, pass_through=True)
        ids = backend.to_numpy(series.to_numpy() if isinstance(series, nw.Series) else X)
        if ids.ndim == 2 and ids.shape[1] == 1:
            ids = ids[:, 0]
        if ids.ndim != 1:
            raise DataError(f"Expected a list of object numbers 0…{self.count - 1}, got an array of shape {ids.shape}.")
        numbers = ids.astype(np.int64) if ids.dtype.kind in "iufb" else None
        wrong = np.ones(len(ids), bool) if numbers is None else (numbers != ids) | (numbers < 0) | (numbers >= self.count)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise DataError(f"Row {i} is {ids[i]!r}; expected a whole number from 0 to {self.count - 1}, the number of an object.")
        return numbers


@dataclass(frozen=True)
class Vectors(Domain):
    """Rows of numbers: NumPy, SciPy sparse (kept as CSR), pandas or polars, torch. float32 stays float32, the rest is float64.

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

    def check(self, X: Any) -> Rep:
        names: Sequence[Any] | None = None
        frame = as_frame(X)
        if frame is not None:
            names, X = frame.columns, _frame_to_numpy(frame)
        elif not backend.is_tensor(X) and not sparse.issparse(X):
            X = self._array(X)
        if backend.is_tensor(X):
            X = X.detach() if X.requires_grad else X
            if not X.is_floating_point() or X.element_size() < 4:
                X = backend.astype(X, np.float32 if X.is_floating_point() else np.float64)
        elif X.dtype not in (np.float32, np.float64):
            if X.dtype.kind == "c":
                raise DataError("The data is complex; kernels here take real numbers: use abs, angle, or real and imaginary columns.")
            X = X.astype(np.float32 if X.dtype == np.float16 else np.float64)
        if len(X.shape) != 2:
            raise DataError(
                f"Expected a 2-D array, samples × columns, got shape {tuple(X.shape)}. "
                "Use X.reshape(-1, 1) for one column, X.reshape(1, -1) for one sample."
            )
        if X.shape[1] == 0:
            raise DataError(f"The data has {X.shape[0]} rows but no columns; there is nothing to compare.")
        if self.columns is not None and X.shape[1] != self.columns:
            raise DataError(f"This kernel is defined on {self.columns} column(s), the data has {X.shape[1]}; choose with kernel.on([column]).")
        if sparse.issparse(X):
            X = X.tocsr()
        self._check_values(X, names)
        return X

    def pair(self, x: Any, z: Any) -> tuple[Any, Any] | None:
        if getattr(x, "ndim", None) == 1 and getattr(z, "ndim", None) == 1 and backend.numpy_dtype(x).kind in "fiub":
            return x[None], z[None]
        if sparse.issparse(x) or sparse.issparse(z) or hasattr(x, "dtype") or hasattr(z, "dtype"):
            return None
        if _is_row_of_numbers(x) and _is_row_of_numbers(z):
            return [x], [z]
        return None

    def _array(self, X: Any) -> Any:
        series = nw.from_native(X, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):  # one column of a table
            return _column_to_numpy(series, 0)[:, None]
        if hasattr(X, "collect"):
            raise DataError(f"A {type(X).__name__} is a plan, not data yet: collect() it first.")
        try:
            X = np.asarray(X)
        except ValueError:
            raise DataError("The rows have different lengths; vectors need the same columns in every row.") from None
        if X.dtype.kind not in "fiubc":
            if X.ndim != 2:
                raise DataError(f"Expected a 2-D array of numbers, got shape {X.shape} of {X.dtype}.")
            X = _to_float(X)
        return X

    def _check_values(self, X: Any, names: Sequence[Any] | None) -> None:
        """One cheap pass; the offending entry is looked for only when there is one."""
        values = X.data if sparse.issparse(X) else X
        if values.shape[0] == 0:
            return
        xp = backend.namespace(values)
        if not backend.all_finite(values):
            bad = xp.isinf(values) if self.missing else ~xp.isfinite(values)
            if bool(bad.any()):
                row, column, found = _locate(X, bad)
                what = "a missing value (NaN)" if found != found else "infinite"
                cure = (
                    "Drop or fill it, or say what it means with kernel.imputed()."
                    if found != found
                    else "Drop the row, or clip the column to finite values."
                )
                raise DataError(f"Row {row}, column {_column(column, names)} is {what}. {cure}")
        if self.minimum is not None and bool((values < self.minimum).any()):
            row, column, found = _locate(X, values < self.minimum)
            raise DataError(
                f"Row {row}, column {_column(column, names)} is {found:g}; this kernel needs entries of at least {self.minimum:g}. "
                "Shift or clip the data, or choose a kernel that allows any sign (Gaussian, Laplacian)."
            )
        if self.below is not None and bool((values >= self.below).any()):
            row, column, found = _locate(X, values >= self.below)
            raise DataError(
                f"Row {row}, column {_column(column, names)} is {found:g}; this kernel needs entries below {self.below:g}, "
                "where it diverges. Rescale the data."
            )


@dataclass(frozen=True)
class Histograms(Vectors):
    """Rows of non-negative numbers, checked."""

    minimum: float | None = 0.0


def check_same_width(A: Any, B: Any) -> None:
    """Refuse to compare vectors of different lengths."""
    a, b = (x.shape[1] if len(getattr(x, "shape", ())) == 2 else None for x in (A, B))
    if a is not None and b is not None and a != b:
        raise DataError(f"X has {a} columns and Y has {b}; both must have the columns the kernel was made for, in the same order.")


def _is_row_of_numbers(x: Any) -> bool:
    return isinstance(x, list | tuple) and len(x) > 0 and all(isinstance(v, int | float | np.number) for v in x)


def _locate(X: Any, bad: Any) -> tuple[int, int, float]:
    """Row, column and value of the first offending entry; ``bad`` is over X, or over the stored entries of a CSR matrix."""
    if sparse.issparse(X):
        k = int(np.argmax(bad))
        return int(np.searchsorted(X.indptr, k, side="right") - 1), int(X.indices[k]), float(X.data[k])
    k = int(np.argmax(backend.to_numpy(bad)))
    row, column = divmod(k, X.shape[1])
    return row, column, float(X[row, column])


def _column(column: int, names: Sequence[Any] | None) -> str:
    return str(column) if names is None else f"{names[column]!r} ({column})"


def _to_float(X: Any) -> Any:
    """An object or text array as float64; None counts as missing."""
    out = np.empty(X.shape, np.float64)
    for (row, column), value in np.ndenumerate(X):
        try:
            out[row, column] = np.nan if value is None else float(value)
        except (TypeError, ValueError):
            raise DataError(
                f"Row {row}, column {column} is {value!r}, not a number. Encode it, or compare that column with Categorical().on({column})."
            ) from None
    return out


def _frame_to_numpy(frame: nw.DataFrame[Any]) -> Any:
    columns = [_column_to_numpy(frame.get_column(name), i) for i, name in enumerate(frame.columns)]
    if not columns:
        return np.empty((len(frame), 0))
    return np.stack(columns, axis=1)  # float32 only when every column is


def _column_to_numpy(column: nw.Series[Any], position: int) -> Any:
    kind = column.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        values = column.cast(nw.Float32 if kind == nw.Float32 else nw.Float64).to_numpy()
        return np.asarray(values, np.float32 if kind == nw.Float32 else np.float64)
    try:
        return np.array([np.nan if v is None else float(v) for v in column.to_list()])
    except (TypeError, ValueError):
        row, value = next((i, v) for i, v in enumerate(column.to_list()) if not _is_number(v))
        raise DataError(
            f"Row {row}, column {column.name!r} ({position}) is {value!r}, not a number. "
            f"Encode it, or compare that column with Categorical().on({column.name!r})."
        ) from None


def _is_number(value: Any) -> bool:
    try:
        return value is None or float(value) is not None
    except (TypeError, ValueError):
        return False
