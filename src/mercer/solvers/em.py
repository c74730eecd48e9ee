"""Gaussian mixtures by expectation–maximisation, in logarithms and in one pass over the data for each step.

p(x) = Σ_k π_k N(x; μ_k, Σ_k). A step takes shares q_ik ∝ π_k N(x_i; μ_k, Σ_k) and then the means and covariances
weighted by them; the likelihood never falls. Second moments are summed about the means of the step before, which are
near: no second pass, and no difference of large numbers where deviations are taken (one matrix for each component, and
where components are far apart for their size; else sums of products serve).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import chunks
from mercer.runtime import threads
from mercer.solvers.covariances import STRIP, Family

_GROUPS = 16  # sums that are formed apart and added in order: the same bits for any number of threads
_LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Mixture:
    """The parameters of a mixture; the shape of ``covariances`` is that of their ``family``."""

    weights: Array
    means: Array
    covariances: Array


def joint(X: Array, mixture: Mixture, family: Family) -> Array:
    """log π_k N(x; μ_k, Σ_k) for each row and component."""
    out = np.empty((len(X), len(mixture.weights)))
    values = _density(X.shape[1], mixture, family)

    def task(rows: slice) -> None:
        out[rows] = values(X[rows])[0]

    threads.run_tasks(task, chunks(len(X), STRIP * 8), Compute().workers)
    return out


def _density(d: int, mixture: Mixture, family: Family) -> Callable[[Array], tuple[Array, Any]]:
    factors = family.factors(mixture.covariances)
    constant = (
        np.log(np.maximum(mixture.weights, 1e-300))
        + family.log_root(factors, d, len(mixture.weights))
        - 0.5 * d * _LOG_TWO_PI
    )

    def values(X: Array) -> tuple[Array, Any]:
        squares, differences = family.squares(X, mixture.means, factors)
        return constant - 0.5 * squares, differences

    return values


@dataclass(eq=False)
class Sums:
    """What a step needs of the data: the likelihood, and moments about some means."""

    likelihood: float
    mass: Array
    first: Array
    second: Array


def _collected(
    X: Array, w: Array, means: Array, family: Family, shares: Callable[[slice], tuple[Array, float, Any]]
) -> Sums:
    groups = min(_GROUPS, -(-len(X) // family.strip))
    parts: list[Sums | None] = [None] * groups
    length = -(-len(X) // groups)

    def task(group: int) -> None:
        total = None
        for piece in chunks(max(min(length, len(X) - group * length), 0), family.strip):
            rows = slice(group * length + piece.start, group * length + piece.stop)
            R, likelihood, differences = shares(rows)
            R = R * w[rows][:, None]
            new = Sums(likelihood, R.sum(axis=0), R.T @ X[rows], family.moments(X[rows], R, means, differences))
            total = new if total is None else _added(total, new)
        parts[group] = total

    threads.run_tasks(task, range(groups), Compute().workers if groups > 1 else 1)
    found = [part for part in parts if part is not None]
    out = found[0]
    for part in found[1:]:
        out = _added(out, part)
    return out


def _added(a: Sums, b: Sums) -> Sums:
    a.mass += b.mass
    a.first += b.first
    a.second += b.second
    a.likelihood += b.likelihood
    return a


def _maximised(sums: Sums, about: Array, family: Family, floor: float) -> Mixture:
    mass = sums.mass + 10 * np.finfo(np.float64).eps
    # where nothing is left of a component, it stays
    means = about + (sums.first - sums.mass[:, None] * about) / mass[:, None]
    return Mixture(mass / mass.sum(), means, family.covariances(sums.second, mass, means - about, floor))


def from_shares(X: Array, w: Array, shares: Array, family: Family, floor: float) -> Mixture:
    """The mixture whose components have the given shares (n, k) of the samples."""
    mass = np.maximum(w @ shares, 1e-300)
    about = ((shares * w[:, None]).T @ X) / mass[:, None]
    return _maximised(_collected(X, w, about, family, lambda rows: (shares[rows], 0.0, None)), about, family, floor)


def from_labels(X: Array, w: Array, labels: Array, count: int, family: Family, floor: float) -> Mixture:
    """The mixture whose components are the given clusters."""
    hard = np.eye(count)
    mass = np.maximum(np.bincount(labels, weights=w, minlength=count), 1e-300)
    about = (
        np.stack([np.bincount(labels, weights=w * column, minlength=count) for column in X.T], axis=1) / mass[:, None]
    )
    return _maximised(
        _collected(X, w, about, family, lambda rows: (hard[labels[rows]], 0.0, None)), about, family, floor
    )


@dataclass(frozen=True, eq=False)
class Climb:
    """A mixture, the mean log-likelihoods at the start of each step that led to it, and whether the last one gained
    little enough.
    """

    mixture: Mixture
    bounds: list[float]
    converged: bool

    @property
    def bound(self) -> float:
        return self.bounds[-1] if self.bounds else -np.inf


def climb(
    X: Array, w: Array, start: Mixture, family: Family, *, floor: float, tol: float, max_iter: int,
    before: float = -np.inf, progress: Callable[[int, float], Any] | None = None,
) -> Climb:  # fmt: skip
    """Steps until one gains less than ``tol``; ``before`` is the mean log-likelihood that an earlier climb ended
    with.
    """
    return climbed(
        lambda mixture: expected(X, w, mixture, family), float(w.sum()), start, family, floor=floor, tol=tol,
        max_iter=max_iter, before=before, progress=progress,
    )  # fmt: skip


def climbed(
    sums_of: Callable[[Mixture], Sums], total: float, start: Mixture, family: Family, *, floor: float, tol: float,
    max_iter: int, before: float = -np.inf, progress: Callable[[int, float], Any] | None = None,
) -> Climb:  # fmt: skip
    """``climb`` on data that are wherever ``sums_of`` asks them; ``total`` is their weight."""
    mixture, bounds = start, list[float]()
    for step in range(1, max_iter + 1):
        sums = sums_of(mixture)
        mixture = _maximised(sums, mixture.means, family, floor)
        bounds.append(sums.likelihood / total)
        gain, before = bounds[-1] - before, bounds[-1]
        if progress is not None:
            progress(step, gain)
        if abs(gain) < tol:
            return Climb(mixture, bounds, True)
    return Climb(mixture, bounds, False)


def expected(X: Array, w: Array, mixture: Mixture, family: Family) -> Sums:
    """What a step needs of the data, whose components have their shares in the mixture."""
    values = _density(X.shape[1], mixture, family)

    def shares(rows: slice) -> tuple[Array, float, Any]:
        logs, differences = values(X[rows])
        top = logs.max(axis=1)
        R = np.exp(logs - top[:, None])
        sums = R.sum(axis=1)
        R /= sums[:, None]
        return R, float(w[rows] @ (top + np.log(sums))), differences

    return _collected(X, w, mixture.means, family, shares)


def log_likelihoods(X: Array, mixture: Mixture, family: Family) -> Array:
    """log p(x) for each row."""
    out: Array = logsumexp(joint(X, mixture, family), axis=1)
    return out
