"""How many components: a number, a share of the variance, all, or the likeliest number."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from mercer.arrays import Array
from mercer.troubles import coded


def component_count(wanted: object, most: int, what: str) -> int | None:
    """``wanted`` as a number of components; None where it is a share of the variance, or all. ``what`` names the limit
    ``most``.
    """
    if wanted is None or (isinstance(wanted, float | np.floating) and 0 < wanted < 1):
        return None
    if isinstance(wanted, bool) or not isinstance(wanted, int | np.integer) or wanted < 1:
        raise ValueError(
            coded(
                f"n_components={wanted!r}: give a whole number of at least 1, a share of the variance between 0 and 1,"
                " or None for all.",
                "M205",
            )
        )
    if wanted > most:
        raise ValueError(coded(f"n_components={wanted} is more than {what}.", "M315"))
    return int(wanted)


def share_of_variance(values: Array, total: float, wanted: float | None) -> int:
    """How many of the falling ``values`` are needed for a share ``wanted`` of ``total``; all of them for None."""
    if wanted is None:
        return len(values)
    return min(int(np.searchsorted(np.cumsum(values), wanted * total * (1 - 1e-12))) + 1, len(values))


def likeliest_count(variances: Array, n: float) -> int:
    """The k < d of the largest evidence of n samples whose covariance has these eigenvalues, falling (Minka 2000,
    equation 77).

    log p(k) = log p(U) − n/2 Σ_{j≤k} log λ_j − n(d − k)/2 log v + (m + k)/2 log 2π − ½ log|A| − k/2 log n, v the mean
    of the other eigenvalues, m = dk − k(k + 1)/2 and |A| = Π_{i≤k} Π_{j>i} n(λ_i − λ_j)(1/λ̂_j − 1/λ̂_i). Units do not
    matter: multiplying all by a number adds the same to all.
    """
    d = len(variances)
    values = variances / variances[0] if variances[0] > 0 else variances
    n = max(min(n, 1e150), 2.0)
    possible = [k for k in range(1, d) if values[k - 1] > 1e-15]
    return 1 + int(np.argmax([_evidence(values, k, n) for k in possible])) if possible else 1


def _evidence(values: Array, k: int, n: float) -> float:
    d = len(values)
    halves = (d - np.arange(k)) / 2
    subspace = -k * np.log(2.0) + float(np.sum(gammaln(halves) - np.log(np.pi) * halves))
    rest = max(1e-15, float(np.mean(values[k:])))
    fit = -0.5 * n * (float(np.sum(np.log(values[:k]))) + (d - k) * np.log(rest))
    m = d * k - k * (k + 1) / 2
    flat = np.concatenate([values[:k], np.full(d - k, rest)])
    i, j = np.nonzero(np.arange(k)[:, None] < np.arange(d))
    curvature = (values[i] - values[j]) * (1 / flat[j] - 1 / flat[i])
    if not (curvature > 0).all():  # equal eigenvalues, of which none can be cut off from the others
        return -np.inf
    determinant = float(np.sum(np.log(curvature))) + len(i) * np.log(n)
    return float(subspace + fit + 0.5 * (m + k) * np.log(2 * np.pi) - 0.5 * determinant - 0.5 * k * np.log(n))
