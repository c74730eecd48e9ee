"""Incomplete Cholesky factors: K ≈ G G^T from a few of its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Gram
from mercer.runtime import threads


@dataclass(frozen=True, eq=False)
class Incomplete:
    """G (n, m) with G G^T the projection of K onto the features of the ``pivots``.

    ``indefinite``: by how much of the largest k_ii a 2 × 2 minor of what was left of K failed to be positive
    semi-definite, k_ij² > k_ii k_jj; 0 but for rounding where K is the matrix of a kernel.
    """

    factor: Array
    pivots: Array
    indefinite: float = 0.0

    def coefficients(self, V: Array) -> Array:
        """A with k(x, pivots) A = g(x) V: what is linear in the rows of G, as functions of the kernel."""
        root = self.factor[self.pivots]
        return np.asarray(linalg.solve_triangular(root, V, lower=True, trans="T", check_finite=False))


def incomplete_cholesky(
    gram: Gram, rank: int, tol: float = 1e-12, *, before: Array | None = None, least: float = 0.0
) -> Incomplete:
    """Columns taken one by one where the most is missing, until m = ``rank``, the trace of what is missing is ``tol``
    of the whole, or nothing more than ``least`` is missing anywhere.

    ``before``: columns from pivots that are not among the items. Cost n m² and the new columns of K; the error is never
    less than that of the best rank m, and for kernels whose spectrum falls quickly near it.
    """
    n = gram.shape[0]
    before = np.zeros((n, 0)) if before is None else before
    start = before.shape[1]
    rank = min(rank, start + n)
    norms = np.array(arrays.to_numpy(gram.diag()), np.float64)
    missing = np.maximum(norms - np.sum(before**2, axis=1), 0.0)
    enough = max(least, 1e-14 * float(norms.max(initial=0.0)), 1e-300)
    factor = np.zeros((n, rank), order="F")
    factor[:, :start] = before
    pivots: list[int] = []
    indefinite = -float(norms.min(initial=0.0))
    with threads.single_threaded_blas():
        for m in range(start, rank):
            i = int(np.argmax(missing))
            if missing[i] <= enough or float(missing.sum()) <= tol * float(norms.sum()):
                break
            column = np.asarray(arrays.to_numpy(gram.rows([i])), np.float64)[0]
            factor[:, m] = (column - factor[:, :m] @ factor[i, :m]) / np.sqrt(missing[i])
            left = missing - factor[:, m] ** 2
            left[pivots] = 0.0
            indefinite = max(indefinite, -float(left.min()))
            missing = np.maximum(left, 0.0)
            missing[[*pivots, i]] = 0.0
            factor[pivots, m] = 0.0
            pivots.append(i)
    largest = float(np.abs(norms).max(initial=0.0))
    return Incomplete(
        factor[:, : start + len(pivots)], np.array(pivots, np.int64), indefinite / largest if largest else 0.0
    )
