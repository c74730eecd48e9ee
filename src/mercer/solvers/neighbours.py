"""Graphs of nearest neighbours as sparse matrices of similarities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.data import chunks
from mercer.gram import Gram

_STRIP = 512  # rows whose distances to all others are held


def nearest(gram: Gram, count: int) -> Any:
    """C (n, n), sparse: 1 where j is among the ``count`` items nearest to i, i itself the first, by ‖φ(x_i) − φ(x_j)‖²
    = k_ii − 2k_ij + k_jj.

    Memory: the result and a strip of rows.
    """
    n = gram.shape[0]
    norms = np.asarray(arrays.to_numpy(gram.diag()), np.float64)
    places = np.empty((n, count), np.int64)
    for some in chunks(n, _STRIP):
        own = np.arange(some.start, some.stop)
        squares = norms - 2 * np.asarray(arrays.to_numpy(gram.rows(own)), np.float64)  # less k_ii
        squares[own - some.start, own] = -np.inf
        places[some] = np.argpartition(squares, count - 1, axis=1)[:, :count]
    return sparse.csr_array((np.ones(n * count), places.reshape(-1), np.arange(0, n * count + 1, count)), shape=(n, n))
