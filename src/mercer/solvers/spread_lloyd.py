"""Means of clusters and principal directions in the span of landmarks, on samples that are spread.

k-means descends as ``lloyd`` does, each step one pass: a piece gives its samples to the nearest means and returns, for
each cluster, C^T of their weights. Starts are clustered on a few samples that are fetched; the best descends on all.
Principal directions are those of Φ^T W Φ, which pieces add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.annotations import RandomState
from mercer.arrays import Array
from mercer.gram import Landmarks
from mercer.runtime.watch import asked_to_stop
from mercer.solvers.lloyd import Points, cluster
from mercer.solvers.spread import Piece, Spread

_FEW = 5000  # samples that starts are clustered on
_OF_EACH = 50  # of them for each cluster, at least


class SpreadClusters(NamedTuple):
    """Means θ_c in the space of features (k, m), the mean of all, the objective after each step, and whether the last
    changed nothing.
    """

    means: Array
    mean: Array
    objectives: list[float]
    converged: bool


def cluster_spread(
    spread: Spread, count: int, *, n_init: int, max_iter: int, random_state: RandomState, workers: int
) -> SpreadClusters:
    """min Σ w ‖φ(x) − μ_c(x)‖², μ_c functions of the landmarks."""
    values, _, weights = spread.passes.drawn(max(_FEW, _OF_EACH * count))
    few = Landmarks(values, spread.factor)
    features = few.features(dtype=np.float64)
    start = cluster(
        Points(features, weights, workers), count, n_init=n_init, max_iter=max_iter, random_state=random_state
    )
    means = np.stack(
        [np.average(features, axis=0, weights=weights * (start.labels == c) + 1e-300) for c in range(count)]
    )
    objectives: list[float] = []
    converged, mean = False, np.zeros(means.shape[1])
    for step in range(1, max_iter + 1):
        norms = np.einsum("cj,cj->c", means, means)
        sums, mass, objective = spread.passes.total("nearest means", _assigned, few.coefficients(means.T), norms)
        theta = few.of_values(sums).T
        mean = theta.sum(axis=0) / mass.sum()
        there = mass > 0  # a cluster that lost all its samples stays where it is
        new = np.where(there[:, None], theta / np.where(there, mass, 1.0)[:, None], means)
        objectives.append(float(objective))
        converged = len(objectives) > 1 and objectives[-1] >= objectives[-2]
        if converged or asked_to_stop(step=step, objective=objectives[-1]):
            break
        means = new
    return SpreadClusters(means, mean, objectives, converged)


def second_moments(spread: Spread) -> tuple[Array, Array, float]:
    """Φ^T W Φ, Φ^T w and Σ w."""
    (found,) = spread.passes.total("second moments", _second)
    inner = np.tril(found) + np.tril(found, -1).T
    return inner[:-1, :-1], inner[-1, :-1], float(inner[-1, -1])


def largest_values(spread: Spread, c: Array, b: Array) -> Array:
    """Of Σ_j c_j k(·, z_j) + b, for each column of c, the value of the largest size among all samples."""
    found = np.stack(spread.passes.each("largest scores", _largest, c, b))
    return found[np.argmax(np.abs(found), axis=0), np.arange(c.shape[1])]


# -- where the samples are ------------------------------------------------------------------------------------------


def _assigned(piece: Piece, c: Array, norms: Array) -> tuple[Array, Array, Array]:
    """C^T of the weights of each cluster, the weights themselves, and what the samples add to the objective."""
    w, k = piece.weights, len(norms)
    mass, gaps = np.zeros((len(w), k)), np.zeros(len(w))

    def between(rows: slice, found: Array) -> Array:
        distance = norms - 2 * found
        nearest = np.argmin(distance, axis=1)
        each = np.arange(len(nearest))
        mass[rows] = 0.0
        mass[rows.start + each, nearest] = w[rows]
        gaps[rows] = distance[each, nearest]
        return mass[rows]

    sums = piece.normal(c, between)
    return sums, mass.sum(axis=0), np.array(w @ (gaps + piece.own()))


def _second(piece: Piece) -> tuple[Array]:
    return (piece.inner(piece.weights, bias=True),)


def _largest(piece: Piece, c: Array, b: Array) -> Array:
    values = piece.product(c) + b
    return np.asarray(values[np.argmax(np.abs(values), axis=0), np.arange(values.shape[1])])
