"""Weights at the door: checked, and without their common size."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from mercer.backend import Array


def checked(sample_weight: Any, n: int) -> Array:
    """Weights of n samples in float64, each of at least 0 and one of them positive; ones for None."""
    if sample_weight is None:
        return np.ones(n)
    given = np.asarray(sample_weight)
    if given.size and given.dtype.kind in "biuf" and not given.any():  # not by scikit-learn, which refuses them only since version 1.8
        raise ValueError("sample_weight is zero for every sample: there is nothing to fit.")
    return np.asarray(_check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True))


def relative(w: Array) -> tuple[Array, float]:
    """(w/s, s), s the power of two that brings the largest weight between 1 and 2.

    Sums and squares of such weights neither overflow nor vanish, whatever the weights were, and a power of two changes no digit: what follows from
    1, 2 and 3 follows to the bit from 2, 4 and 6. What is proportional to the weights is s times what it is of w/s. A weight that is nothing
    beside the largest, 10^−308 of it, becomes 0.
    """
    exponent = int(np.frexp(w.max(initial=0.0))[1]) - 1
    return np.ldexp(w, -exponent), float(np.ldexp(1.0, exponent))


def unit(w: Array, scale: float) -> float:
    """What counts as one sample among weights w·scale, in the units of w: 1, as weights are repetitions; or, where all are less than that, the
    largest: they are then shares."""
    return 1 / scale if scale >= 1 else float(w.max())
