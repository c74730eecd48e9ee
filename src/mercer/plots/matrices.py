"""What pictures take from a Gram matrix: its numbers, and how small an eigenvalue is nothing but rounding."""

from __future__ import annotations

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Gram
from mercer.gram.validity import check_symmetric
from mercer.troubles import coded


def rows_of(gram: Gram) -> int:
    """How many rows a square matrix has; an error for others."""
    if gram.shape[0] != gram.shape[1] or gram.shape[0] == 0:
        raise ValueError(
            coded(f"A Gram matrix of the data with itself is square, got {gram.shape[0]} × {gram.shape[1]}.", "M213")
        )
    return int(gram.shape[0])


def symmetric(gram: Gram) -> Array:
    """The numbers in float64: finite and symmetric, or an error that says where not."""
    K = arrays.to_numpy(gram.dense())
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(coded(f"The matrix has no finite value at K[{i}, {j}]: {K[i, j]}.", "M210"))
    check_symmetric(K)
    return K.astype(np.float64)


def rounding(eigenvalues: Array, gram: Gram) -> float:
    """|λ| up to here is rounding."""
    return len(eigenvalues) * float(np.finfo(gram.dtype).eps) * float(np.abs(eigenvalues).max())
