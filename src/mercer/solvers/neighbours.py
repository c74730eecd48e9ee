"""Graphs of nearest neighbours as sparse matrices of similarities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer import backend
from mercer.backend import Array, Compute
from mercer.data import chunks
from mercer.gram import Gram, as_index

_STRIP = 512  # rows whose distances to all others are held


class SparseGram(Gram):
    """A matrix most of whose values are 0: a graph's, by its edges."""

    def __init__(self, K: Any, compute: Compute | None = None) -> None:
        self.K, self.compute = sparse.csr_array(K), compute or Compute()
        self.shape, self.dtype = (self.K.shape[0], self.K.shape[1]), self.K.dtype

    def rows(self, idx: Any) -> Array:
        return np.asarray(self.K[as_index(idx, self.shape[0])].toarray())

    def sub(self, rows: Any, cols: Any) -> SparseGram:
        return SparseGram(self.K[as_index(rows, self.shape[0])][:, as_index(cols, self.shape[1])], self.compute)

    def astype(self, dtype: Any) -> SparseGram:
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

    def with_loops(self, where: Array) -> SparseGram:
        """With 1 added on the diagonal ``where``."""
        return SparseGram(self.K + sparse.diags_array(where.astype(self.dtype)), self.compute)


def nearest(gram: Gram, count: int) -> Any:
    """C (n, n), sparse: 1 where j is among the ``count`` items nearest to i, i itself the first, by ‖φ(x_i) − φ(x_j)‖² = k_ii − 2k_ij + k_jj.

    Memory: the result and a strip of rows.
    """
    n = gram.shape[0]
    norms = np.asarray(backend.to_numpy(gram.diag()), np.float64)
    places = np.empty((n, count), np.int64)
    for some in chunks(n, _STRIP):
        own = np.arange(some.start, some.stop)
        squares = norms - 2 * np.asarray(backend.to_numpy(gram.rows(own)), np.float64)  # less k_ii
        squares[own - some.start, own] = -np.inf
        places[some] = np.argpartition(squares, count - 1, axis=1)[:, :count]
    return sparse.csr_array((np.ones(n * count), places.reshape(-1), np.arange(0, n * count + 1, count)), shape=(n, n))
