"""Is this matrix a Gram matrix? Symmetry and the sign of the smallest eigenvalue, measured cheaply."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from mercer import arrays
from mercer.arrays import Array
from mercer.data import chunks
from mercer.gram.stored import DenseGram
from mercer.native.linalg import eigenvalues
from mercer.troubles import coded

_EDGE = 512
_DENSE_EIGENVALUES = 1000  # up to here LAPACK is faster and needs no convergence


def asymmetry(K: Array, tolerance: float) -> tuple[int, int] | None:
    """The first pair i < j (tile by tile) with |K_ij − K_ji| > tolerance·max|K|, or None. Stops at the first tile that
    has one.
    """
    K = arrays.to_numpy(K)
    strips = chunks(K.shape[0], _EDGE)
    if all(np.array_equal(K[i, j], K[j, i].T) for a, i in enumerate(strips) for j in strips[a:]):
        return None
    largest = 0.0
    worst: tuple[float, int, int] | None = None
    for a, i in enumerate(strips):
        for j in strips[a:]:
            tile, mirror = K[i, j], K[j, i].T
            largest = max(largest, float(np.max(tile, initial=0.0)), -float(np.min(tile, initial=0.0)))
            difference = tile - mirror
            gap = max(float(np.max(difference, initial=0.0)), -float(np.min(difference, initial=0.0)))
            if gap > tolerance * largest and (worst is None or gap > worst[0]):
                row, column = np.unravel_index(int(np.argmax(np.abs(difference))), difference.shape)
                worst = (gap, i.start + int(row), j.start + int(column))
                if gap > 100 * tolerance * largest:
                    return worst[1:]
    return None if worst is None or worst[0] <= tolerance * largest else worst[1:]


def beyond_schwarz(K: Array, root: Array, tolerance: float) -> tuple[int, int] | None:
    """The pair with the most of |K_ij| above √(K_ii K_jj), beyond rounding, or None; ``root`` is √K_ii. Strip by strip:
    no second matrix.
    """
    worst: tuple[float, int, int] = (0.0, -1, -1)
    slack = tolerance * float(np.max(root, initial=0.0)) ** 2
    for i in chunks(K.shape[0], _EDGE):
        excess = np.abs(K[i]) - root[i, None] * root * (1 + tolerance) - slack
        if (most := float(excess.max(initial=-np.inf))) > worst[0]:
            row, column = divmod(int(np.argmax(excess)), K.shape[1])
            worst = (most, i.start + row, column)
    return None if worst[1] < 0 else worst[1:]


def check_symmetric(K: Array, tolerance: float | None = None) -> None:
    """Raise ValueError, naming a pair, if K is not symmetric up to rounding."""
    tolerance = (1e-10 if arrays.numpy_dtype(K) == np.float64 else 1e-5) if tolerance is None else tolerance
    found = asymmetry(K, tolerance)
    if found is not None:
        i, j = found
        raise ValueError(
            coded(
                f"The matrix is not symmetric: K[{i}, {j}] = {float(K[i, j]):.6g} but K[{j}, {i}] ="
                f" {float(K[j, i]):.6g}. If both mean the same similarity, use (K + K.T)/2.",
                "M208",
            )
        )


def extreme_eigenvalues(K: Array) -> tuple[float, float]:
    """The smallest and the largest eigenvalue of a symmetric matrix: LAPACK when small, Lanczos when large."""
    K = arrays.to_numpy(K).astype(np.float64, copy=False)
    n = K.shape[0]
    if n == 0:
        return 0.0, 0.0
    if n > _DENSE_EIGENVALUES:
        start = np.random.default_rng(0).standard_normal(n)  # the same question gets the same answer
        options: dict[str, Any] = {"v0": start, "return_eigenvectors": False, "tol": 1e-6}
        try:
            gram = DenseGram(K)  # whose products are made in strips, between which Ctrl-C is heard
            largest = float(
                eigsh(LinearOperator((n, n), matvec=gram.__matmul__, dtype=np.float64), k=1, which="LA", **options)[0]
            )
            # Lanczos finds the outer end of a spectrum; shifted by the largest, the smallest is the outer end, well
            # separated or not
            shift = LinearOperator((n, n), matvec=lambda v: gram @ v - largest * v, dtype=np.float64)
            shifted = eigsh(shift, k=1, which="LM", maxiter=40 * n, **options)
            return largest + float(shifted[0]), largest
        except ArpackNoConvergence:
            pass
    values = eigenvalues((K + K.T) / 2)
    return float(values[0]), float(values[-1])
