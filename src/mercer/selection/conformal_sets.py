"""Sets of classes that hold the true one with a promised probability, whatever the model: conformal prediction for
classifiers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mercer.arrays import Array
from mercer.selection.ranks import check_coverage, rank
from mercer.troubles import coded


def conformal_sets(held_out: ArrayLike, probabilities: ArrayLike, coverage: float = 0.9) -> Array:
    """{c : p_c(x) ≥ t}, t the largest bound that enough of the samples held out reach: for exchangeable samples
    P(true class ∈ set) ≥ coverage, however wrong the probabilities are.

    Of m samples that the model was not trained on, t is the ⌊(m + 1)(1 − coverage)⌋-th smallest probability of the true
    class. Among sets of a given coverage those above one bound have the fewest classes on average, if the probabilities
    are right (Sadinle et al. 2019): easy samples get one class, doubtful ones several. The probability is over samples
    of all classes together; a rare class may be covered less.

    Parameters
    ----------
    held_out : array-like of shape (m,)
        For each sample held out, the probability that the model gives its true class.
    probabilities : array-like of shape (n, n_classes)
        Those of every class, of new samples.
    coverage : float, default=0.9
        The share of new samples whose set must hold the true class, between 0 and 1.

    Returns
    -------
    ndarray of shape (n, n_classes), bool
        Which classes are in the set of each new sample. The most probable one always is: it can only add to the
        coverage, and no class at all answers nothing. All are, where m < coverage/(1 − coverage): so few samples rule
        out none.

    References
    ----------
    Sadinle, M., Lei, J. and Wasserman, L. (2019). Least ambiguous set-valued classifiers with bounded error levels.
    Journal of the American Statistical Association 114.

    Examples
    --------
    >>> held_out = [0.9, 0.8, 0.3, 0.6, 0.7, 0.95, 0.5, 0.85, 0.99]
    >>> conformal_sets(held_out, [[0.96, 0.03, 0.01], [0.45, 0.55, 0.0], [0.35, 0.33, 0.32]], 0.8).astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [1, 0, 0]])
    >>> conformal_sets(held_out, [[0.96, 0.03, 0.01], [0.45, 0.55, 0.0], [0.35, 0.33, 0.32]], 0.9).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    check_coverage(coverage)
    own, p = np.asarray(held_out, np.float64), np.asarray(probabilities, np.float64)
    if own.ndim != 1:
        raise ValueError(
            coded(
                f"held_out has shape {own.shape}: give one number for each sample, the probability of its true class.",
                "M111",
            )
        )
    if p.ndim != 2 or p.shape[1] == 0:
        raise ValueError(
            coded(
                f"probabilities has shape {p.shape}: give one row for each sample, one column for each class.", "M103"
            )
        )
    for name, values in (("held_out", own), ("probabilities", p)):
        if np.isnan(values).any():
            place = ", ".join(str(int(i)) for i in np.argwhere(np.isnan(values))[0])
            raise ValueError(
                coded(f"{name}[{place}] is NaN, which is no probability; leave such a sample out.", "M101")
            )
    m, k = len(own), rank(len(own), coverage)
    if k > m:
        return np.ones(p.shape, bool)
    sets = p >= np.partition(own, m - k)[m - k]  # as many reach it as are the k largest
    sets[np.arange(len(p)), p.argmax(axis=1)] = True
    return np.asarray(sets)
