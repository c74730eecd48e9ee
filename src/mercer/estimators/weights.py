"""Weights at the door: checked, and without their common size."""

from __future__ import annotations

import numpy as np

from mercer.annotations import Weights
from mercer.arrays import Array
from mercer.estimators.scikit_checks import check_sample_weight
from mercer.troubles import coded

LARGEST_SUM = 1e9  # of the variables of a dual problem
NEGLIGIBLE = 1e-20  # of the largest weight: what is divided by the square roots of such weights is rounding


def checked(sample_weight: Weights, n: int) -> Array:
    """Weights of n samples in float64, each of at least 0 and one of them positive; ones for None."""
    if sample_weight is None:
        return np.ones(n)
    given = np.asarray(sample_weight)
    # versions of scikit-learn differ in whether they refuse these
    if given.size and given.dtype.kind in "biuf" and not given.any():
        raise ValueError(coded("sample_weight is zero for every sample: there is nothing to fit.", "M114"))
    return np.asarray(check_sample_weight(sample_weight, np.empty((n, 1)), dtype=np.float64, ensure_non_negative=True))


def relative(w: Array, least: float = 0.0) -> tuple[Array, float]:
    """(w/s, s), s the power of two that brings the largest weight between 1 and 2; what is below ``least`` of that is
    nothing, 0.

    Sums and squares of such weights neither overflow nor vanish, whatever the weights were, and a power of two changes
    no digit: what follows from 1, 2 and 3 follows to the bit from 2, 4 and 6. What is proportional to the weights is s
    times what it is of w/s.
    """
    exponent = int(np.frexp(w.max(initial=0.0))[1]) - 1
    out = np.ldexp(w, -exponent)
    return np.where(out >= least, out, 0.0) if least else out, float(np.ldexp(1.0, exponent))


def countable(w: Array) -> Array:
    """Weights in the same ratios whose sum is that of ones at least, and small enough for float64 to resolve a solver's
    tolerance beside it.
    """
    total = float(w.sum())
    return w * (min(max(total, float(len(w))), max(LARGEST_SUM, float(len(w)))) / total)


def unit(w: Array, scale: float) -> float:
    """What counts as one sample among weights w·scale, in the units of w: 1, as weights are repetitions; where they are
    less than that on average, their mean: they are then shares.
    """
    return float(min(1 / scale, w.mean()))
