"""Incomplete Cholesky factors: K ≈ G G^T from a few of its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from mercer import backend
from mercer.backend import Array
from mercer.gram import Gram


@dataclass(frozen=True, eq=False)
class Incomplete:
    """G (n, m) with G G^T the projection of K onto the features of the ``pivots``; ``left`` is the trace of what is missing, over that of K."""

    factor: Array
    pivots: Array
    left: float

    def coefficients(self, V: Array) -> Array:
        """A with k(x, pivots) A = g(x) V: what is linear in the rows of G, as functions of the kernel."""
        root = self.factor[self.pivots]
        return np.asarray(linalg.solve_triangular(root, V, lower=True, trans="T", check_finite=False))


def incomplete_cholesky(gram: Gram, rank: int, tol: float = 1e-12) -> Incomplete:
    """Columns taken one by one where the most is missing, until m = ``rank`` or the trace of what is missing is ``tol`` of the whole.

    Cost n m² and m columns of K; the error is never less than that of the best rank m, and for kernels whose spectrum falls quickly near it.
    """
    n = gram.shape[0]
    rank = min(rank, n)
    missing = np.array(backend.to_numpy(gram.diag()), np.float64)
    whole = max(float(missing.sum()), 1e-300)
    largest = max(float(missing.max(initial=0.0)), 1e-300)
    factor = np.zeros((n, rank), order="F")
    pivots: list[int] = []
    with backend.single_threaded_blas():
        while len(pivots) < rank:
            i = int(np.argmax(missing))
            if missing[i] <= 1e-14 * largest or float(missing.sum()) <= tol * whole:
                break
            m = len(pivots)
            column = np.asarray(backend.to_numpy(gram.rows([i])), np.float64)[0]
            factor[:, m] = (column - factor[:, :m] @ factor[i, :m]) / np.sqrt(missing[i])
            missing = np.maximum(missing - factor[:, m] ** 2, 0.0)
            missing[[*pivots, i]] = 0.0
            factor[pivots, m] = 0.0
            pivots.append(i)
    return Incomplete(factor[:, : len(pivots)], np.array(pivots, np.int64), float(missing.sum()) / whole)
