"""A matrix that is given in the place of samples: square, and symmetric."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Array
from mercer.data.notices import warn
from mercer.gram.validity import asymmetry
from mercer.troubles import coded


def symmetric(K: Array) -> Array:
    """A precomputed matrix, or its symmetric part with a warning."""
    found = asymmetry(K, 1e-10 if K.dtype == np.float64 else 1e-5)
    if found is None:
        return K
    i, j = found
    warn(
        f"The precomputed matrix is not symmetric: entry ({i}, {j}) is {K[i, j]:.6g} and ({j}, {i}) is {K[j, i]:.6g},"
        " so no training problem belongs to it. The model is that of its symmetric part; the kernel that made the"
        " matrix has an error.",
        "M208",
        ConvergenceWarning,
    )
    return (K + K.T) / 2


def check_square(K: Array) -> None:
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            coded(f"Precomputed matrix must be a square matrix. Input is a {K.shape[0]}x{K.shape[1]} matrix.", "M213")
        )
