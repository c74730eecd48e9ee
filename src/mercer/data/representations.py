"""The internal form of n samples, and whatever a kernel prepares from it: a *representation*.

It is an array, a CSR matrix, a list, a ``Ragged``, a ``HashedRows``, or a tuple of representations, with n rows in
every leaf. ``size``, ``take`` and ``leaves`` are all that blocks, laziness and devices need to know about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data.tables import DataError, as_frame
from mercer.troubles import coded

Rep = Any


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths in one buffer: row i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Array
    offsets: Array

    @classmethod
    def of(cls, rows: Sequence[Any], dtype: DTypeLike = np.float64) -> Ragged:
        values = np.concatenate([np.asarray(r, dtype) for r in rows]) if rows else np.empty(0, dtype)
        return cls(values, offsets_of([len(r) for r in rows]))

    @property
    def lengths(self) -> Any:
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Any:
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def take(self, rows: Index) -> Ragged:
        """The rows of a slice share the buffer; others are copied."""
        part, offsets = spans(self.offsets, rows)
        return Ragged(self.values[part], offsets)


def offsets_of(lengths: Array | Sequence[int]) -> Any:
    """Where rows of these lengths begin in one buffer, and where the last ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def spans(offsets: Array, rows: Index) -> tuple[Any, Any]:
    """Where the entries of some rows lie in a buffer of rows (a slice where they lie together), and the offsets of
    these rows alone.
    """
    if isinstance(rows, slice) and rows.step in (None, 1):
        a, b, _ = rows.indices(len(offsets) - 1)
        kept = offsets[a : max(a, b) + 1]
        return slice(kept[0], kept[-1]), kept - kept[0]
    chosen = np.arange(len(offsets) - 1)[rows]
    lengths = np.diff(offsets)[chosen]
    fresh = offsets_of(lengths)
    return np.repeat(offsets[chosen] - fresh[:-1], lengths) + np.arange(fresh[-1]), fresh


def batches(offsets: Array, wanted: int) -> list[slice]:
    """Consecutive rows of about ``wanted`` entries together, at least one row each."""
    n, cuts = len(offsets) - 1, [0]
    while cuts[-1] < n:
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(offsets, offsets[cuts[-1]] + wanted, side="right")) - 1))
    return [slice(a, min(b, n)) for a, b in pairwise(cuts)]


def touched(offsets: Array, part: slice) -> tuple[slice, Any]:
    """The rows that have entries in a part of a buffer, and where they begin and end in that part."""
    first = int(np.searchsorted(offsets, part.start, side="right")) - 1
    last = int(np.searchsorted(offsets, part.stop))
    return slice(first, last), np.clip(offsets[first : last + 1] - part.start, 0, part.stop - part.start)


def sums_of_rows(K: Array, offsets: Array) -> Any:
    """The rows of a matrix added up group by group, in its precision; a group may be empty."""
    out = np.zeros((len(offsets) - 1, K.shape[1]), K.dtype)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        out[filled] = np.add.reduceat(K, offsets[filled], axis=0)
    return out


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


def take(rep: Rep, rows: Index) -> Rep:
    """The samples ``rows`` (a slice or an index array) of a representation; a slice of an array is a view."""
    if isinstance(rep, tuple):
        return tuple(take(part, rows) for part in rep)
    if isinstance(rep, list):
        return rep[rows] if isinstance(rows, slice) else [rep[i] for i in np.arange(len(rep))[rows]]
    if hasattr(rep, "offsets") or hasattr(rep, "numbered"):  # Ragged, HashedRows; Blocks
        return rep.take(rows)
    frame = as_frame(rep) if hasattr(rep, "columns") else None
    if frame is not None:
        return frame[np.arange(len(frame))[rows].tolist()].to_native()
    if hasattr(rep, "to_list"):  # a column of a data frame, whose brackets may mean labels
        return take(listed(rep), rows)
    if arrays.is_tensor(rep) and not isinstance(rows, slice):
        rows = arrays.like(np.asarray(rows, np.int64), rep)
    return rep[rows]


def listed(X: Samples) -> Any:
    """A collection that can be counted and taken from: arrays, tables and representations as they are, any other (a
    generator, a tuple, a column of a data frame) as a list.
    """
    if isinstance(X, list | np.ndarray):
        return X
    series = nw.from_native(X, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series.to_list()
    if (
        hasattr(X, "shape")
        or hasattr(X, "columns")
        or isinstance(X, str | bytes | bytearray)
        or not isinstance(X, Iterable)
    ):
        return X
    return list(X)


def stack(a: Rep, b: Rep) -> Rep:
    """The samples of a, then those of b."""
    if isinstance(a, list):
        return a + list(b)
    if isinstance(a, Ragged):
        return Ragged(np.concatenate([a.values, b.values]), np.concatenate([a.offsets, b.offsets[1:] + a.offsets[-1]]))
    if sparse.issparse(a):
        return sparse.vstack([a, b], format="csr")
    first, second = as_frame(a), as_frame(b)
    if first is not None and second is not None:
        return nw.concat([first, second.select(first.columns)]).to_native()
    return arrays.namespace(a, b).concatenate([a, b])


def distinct(rep: Rep, y: Targets) -> tuple[Any, Any]:
    """(numbers of the first of each kind, the kind of each sample): samples are of one kind if item and target are the
    same to the last bit.

    Items that cannot be hashed are each of their own kind.
    """
    if sparse.issparse(rep):
        csr = rep.tocsr()
        items = [csr.indices[a:b].tobytes() + csr.data[a:b].tobytes() for a, b in pairwise(csr.indptr)]
    elif isinstance(rep, np.ndarray) and rep.dtype != object:
        items = [row.tobytes() for row in rep]
    elif arrays.is_tensor(rep):
        items = [row.tobytes() for row in arrays.to_numpy(rep)]
    elif hasattr(rep, "columns") and (frame := as_frame(rep)) is not None:
        items = frame.rows()
    else:
        items = list(rep) if isinstance(rep, list | np.ndarray) else list(range(size(rep)))
    first: dict[Any, int] = {}
    kinds = np.empty(len(items), np.int64)
    for i, (item, target) in enumerate(zip(items, y, strict=True)):
        key = (item if _can_be_hashed(item) else i, np.asarray(target).tobytes())
        kinds[i] = first.setdefault(key, len(first))
    numbers = np.empty(len(first), np.int64)
    numbers[kinds[::-1]] = np.arange(len(items))[::-1]
    return numbers, kinds


def _can_be_hashed(item: object) -> bool:
    try:
        hash(item)
    except TypeError:  # a tuple has a hash if all that is in it has one
        return False
    return True


_WEIGHTS = 1e-100, 1e100  # the largest weight of all; beyond, the answer is that of the limit to every digit
_NOTHING = 1e-150  # of the largest weight: what counts so little is not there


def check_weights(n: int, weights: Weights) -> Any:
    """Weights of n samples as float64, ones if None; each counts as that many repetitions."""
    if n == 0:
        raise DataError("There are no rows: data-driven parameters have nothing to follow.", "M116")
    w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    if w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any() or not w.any():
        raise ValueError(coded(f"weights must be {n} numbers of at least 0, not all 0.", "M114"))
    return w if weights is None else moderate_weights(w)


def moderate_weights(w: Array) -> Any:
    """The weights, not all 0, in a range where their squares and sums are numbers: what is common to all of them from
    1e−100 to 1e100.
    """
    largest = float(w.max())
    unit = 2.0 ** math.floor(math.log2(largest))  # a power of 2, by which nothing is rounded
    within = min(max(unit, _WEIGHTS[0]), _WEIGHTS[1])
    scaled = w if within == unit else w / unit * within
    faint = (scaled > 0) & (scaled < _NOTHING * within)
    return np.where(faint, 0.0, scaled) if faint.any() else scaled


def weighted_median(value: Array, weight: Array) -> float:
    """The median where each value counts as often as its weight says."""
    order = np.argsort(value, kind="stable")
    cumulative = np.cumsum(weight[order])
    lower, upper = (
        value[order[np.searchsorted(cumulative, cumulative[-1] / 2, side=side)]] for side in ("left", "right")
    )
    return float(lower + upper) / 2


def chunks(n: int, step: int) -> list[slice]:
    """0…n in consecutive slices of at most ``step``."""
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]
