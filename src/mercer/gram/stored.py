"""Matrices whose values are in memory: dense, some rows and columns of a dense one, sparse."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import chunks, take
from mercer.gram.contract import Gram, as_index, precision
from mercer.runtime import compiling, threads
from mercer.runtime.threads import cached_property
from mercer.runtime.watch import look
from mercer.troubles import coded

_WORTH_COMPILING = 2**20  # values
_STRIP = 512  # rows that are multiplied in one task
_FEW = 64  # blocks that are copied one by one
_GROUPS = 16  # independent sums of a pass
_IN_CACHE, _ON_DEVICE = 2**21, 2**28  # bytes of a strip of it


def as_gram(K: ArrayLike | Gram, compute: Compute | None = None) -> Gram:
    """A matrix of numbers as a Gram; a Gram as it is."""
    return K if isinstance(K, Gram) else DenseGram(K, compute)


class DenseGram(Gram):
    """A matrix of numbers that is already there, as a Gram.

    Estimators take it in the place of data; it holds the array, without a copy.

    Parameters
    ----------
    K : array-like or torch.Tensor of shape (n, m)
        The values; what is not float32 or float64 becomes float64.
    compute : Compute, optional
        Device, precision, memory and threads.

    See Also
    --------
    Precomputed : The same as a kernel between the numbers 0 … n − 1.
    CachedGram : Rows that are kept as they are computed.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> gram = mc.DenseGram([[2.0, 1.0], [1.0, 2.0]])
    >>> gram @ np.array([1.0, -1.0])
    array([ 1., -1.])
    >>> mc.SVC(C=1.0).fit(gram, [0, 1]).predict(gram)
    array([0, 1])
    """

    stored = True

    def __init__(self, K: Any, compute: Compute | None = None) -> None:
        K = K if arrays.is_tensor(K) else np.asarray(K)
        if K.ndim != 2:
            raise ValueError(coded(f"A Gram matrix has two dimensions, got shape {K.shape}.", "M103"))
        if arrays.numpy_dtype(K).kind != "f":
            K = arrays.astype(K, np.float64)
        self.K, self.compute = K, compute or Compute()
        self.shape, self.dtype = (K.shape[0], K.shape[1]), arrays.numpy_dtype(K)

    def rows(self, idx: Index) -> Array:
        return take(self.K, as_index(idx, self.shape[0]))

    def sub(self, rows: Index, cols: Index) -> Gram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        if arrays.is_tensor(self.K) or not (isinstance(rows, np.ndarray) and isinstance(cols, np.ndarray)):
            return DenseGram(take(take(self.K, rows).T, cols).T, self.compute)
        return DensePart(self, rows, cols)

    def astype(self, dtype: DTypeLike) -> DenseGram:
        return DenseGram(arrays.astype(self.K, precision(dtype)), self.compute)

    def diag(self) -> Array:
        k = np.arange(min(self.shape))
        return self.K[k, k]

    @property
    def T(self) -> DenseGram:
        return DenseGram(self.K.T, self.compute)

    def dense(self, out: Array | None = None) -> Array:
        return self._dense(out)  # it exists: there is no memory to refuse

    def _dense(self, out: Array | None = None) -> Array:
        if out is None:
            return self.K
        out[...] = self.K
        return out

    def fresh(self, dtype: DTypeLike) -> Array:
        return 1 * self.K if precision(dtype) == self.dtype else arrays.astype(self.K, dtype)

    def at_hand(self, dtype: DTypeLike) -> Array | None:
        return self.K if not arrays.is_tensor(self.K) and self.dtype == dtype else None

    def _product(self, V: Array) -> Array:
        V = arrays.astype(arrays.like(V, self.K), self.dtype)
        if arrays.is_tensor(self.K) or self.K.size < _WORTH_COMPILING:
            return arrays.astype(self.K @ V, np.float64)
        out = np.empty((self.shape[0], V.shape[1]))

        def task(rows: slice) -> None:  # strips of fixed size: the same bits for any number of threads
            out[rows] = self.K[rows] @ V

        threads.run_tasks(task, chunks(self.shape[0], _STRIP), self.compute.workers)
        return out

    def _normal(self, V: Array, between: Callable[[slice, Array], Array] | None = None) -> Array:
        """In float64, by strips that are read once and used twice; groups of strips add up apart, each in its order."""
        tensor, (n, m) = arrays.is_tensor(self.K), self.shape
        V = arrays.astype(arrays.like(V, self.K), np.float64)
        strips = chunks(n, max(16, (_ON_DEVICE if tensor else _IN_CACHE) // (8 * max(1, m))))
        count = max(1, min(_GROUPS, len(strips), self.compute.budget // 8 // max(1, 8 * m * V.shape[1])))
        sums = [arrays.zeros((m, V.shape[1]), np.float64, V) for _ in range(count)]

        def task(group: int) -> None:
            for rows in strips[group::count]:
                if threads.stopping():
                    return
                look("pass over the matrix")
                strip = arrays.astype(self.K[rows], np.float64)
                values = strip @ V
                if between is not None:
                    values = arrays.like(between(rows, arrays.to_numpy(values)), strip)
                sums[group] += strip.T @ values

        threads.run_tasks(task, range(count), 1 if tensor else self.compute.workers)
        return sum(sums[1:], sums[0])


def _gather_loop(K, rows, cols, out):  # type: ignore[no-untyped-def]
    for i in range(len(rows)):
        row, place = K[rows[i]], out[i]
        for j in range(len(cols)):
            place[j] = row[cols[j]]


def _runs(index: Array) -> list[tuple[slice, slice]]:
    """Places and values of an index that count up by one: a few blocks where whole classes are chosen."""
    cuts = (
        np.concatenate([[0], np.flatnonzero(np.diff(index) != 1) + 1, [len(index)]])
        if len(index)
        else np.zeros(1, np.int64)
    )
    return [(slice(a, b), slice(int(index[a]), int(index[a]) + b - a)) for a, b in pairwise(cuts.tolist())]


@cache
def _gather() -> Any:
    return compiling.jit(_gather_loop)


class DensePart(Gram):
    """Some rows and columns of a matrix that is there, gathered when they are asked for."""

    stored = True

    def __init__(self, matrix: DenseGram, rows: Array, cols: Array) -> None:
        self.matrix, self.index, self.compute = matrix, (rows, cols), matrix.compute
        self.shape, self.dtype = (len(rows), len(cols)), matrix.dtype

    @cached_property
    def _gathered(self) -> DenseGram:
        return DenseGram(self._dense(), self.compute)

    def rows(self, idx: Index) -> Array:
        rows = self.index[0][as_index(idx, self.shape[0])]
        return DensePart(self.matrix, rows, self.index[1])._dense()

    def at_hand(self, dtype: DTypeLike) -> Array | None:
        return self._gathered.K if "_gathered" in self.__dict__ and self.dtype == dtype else None

    def sub(self, rows: Index, cols: Index) -> Gram:
        chosen = (as_index(rows, self.shape[0]), as_index(cols, self.shape[1]))
        return self.matrix.sub(*(of[part] for of, part in zip(self.index, chosen, strict=True)))

    def astype(self, dtype: DTypeLike) -> Gram:
        return self if precision(dtype) == self.dtype else self._gathered.astype(dtype)

    def diag(self) -> Array:
        n = min(self.shape)
        return self.matrix.K[self.index[0][:n], self.index[1][:n]]

    @property
    def T(self) -> Gram:
        return self.matrix.T.sub(*self.index[::-1])

    def dense(self, out: Array | None = None) -> Array:
        return self._dense(out)

    def _dense(self, out: Array | None = None) -> Array:
        out = np.empty(self.shape, self.dtype) if out is None else out
        breaks = [np.count_nonzero(np.diff(index) != 1) for index in self.index]
        if (breaks[0] + 1) * (breaks[1] + 1) <= _FEW:
            rows_in_runs, cols_in_runs = (_runs(index) for index in self.index)
            for r, i in rows_in_runs:
                for c, j in cols_in_runs:
                    out[r, c] = self.matrix.K[i, j]
        elif self.shape[0] * self.shape[1] < _WORTH_COMPILING:
            out[...] = self.matrix.K[np.ix_(*self.index)]
        else:
            gather, (rows, cols) = _gather(), self.index
            threads.run_tasks(
                lambda i: gather(self.matrix.K, rows[i], cols, out[i]), chunks(len(rows), 256), self.compute.workers
            )
        return out

    def _product(self, V: Array) -> Array:
        return self._gathered._product(V)


class SparseGram(Gram):
    """A matrix most of whose values are 0: a graph's, by its edges."""

    stored, quick_products = True, True

    def __init__(self, K: sparse.sparray | sparse.spmatrix, compute: Compute | None = None) -> None:
        self.K, self.compute = sparse.csr_array(K), compute or Compute()
        self.shape, self.dtype = (self.K.shape[0], self.K.shape[1]), self.K.dtype

    def rows(self, idx: Index) -> Array:
        return np.asarray(self.K[as_index(idx, self.shape[0])].toarray())

    def sub(self, rows: Index, cols: Index) -> SparseGram:
        return SparseGram(self.K[as_index(rows, self.shape[0])][:, as_index(cols, self.shape[1])], self.compute)

    def astype(self, dtype: DTypeLike) -> SparseGram:
        return SparseGram(self.K.astype(dtype), self.compute)

    def diag(self) -> Array:
        return np.asarray(self.K.diagonal())

    @property
    def T(self) -> SparseGram:
        return SparseGram(self.K.T, self.compute)

    def _dense(self, out: Array | None = None) -> Array:
        return np.asarray(self.K.toarray(out=out))

    def _product(self, V: Array) -> Array:
        return np.asarray(self.K @ np.asarray(V, np.float64))

    def sparse(self) -> Any:
        return self.K
