"""Clusters by eigenvectors of a similarity."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from mercer import backend
from mercer.backend import Array, Compute, human
from mercer.data import chunks, size
from mercer.estimators.base import KernelEstimator
from mercer.estimators.kmeans import check_clusters
from mercer.estimators.whole import whole
from mercer.gram import DenseGram, Gram
from mercer.kernels.base import Kernel
from mercer.kernels.families import squared_distances
from mercer.kernels.vectors import Gaussian
from mercer.solvers.cuts import association, by_means, by_pivots, on_sphere, relaxed

_CUTS = ("normalized", "ratio")
_ROUNDINGS = ("auto", "qr", "kmeans")
_NEIGHBOUR = 7
_WIDTHS = (0.5, 0.35, 0.7, 0.25, 1.0, 1.4, 2.0)  # of the median distance to a neighbour, the likeliest first
_TIGHT, _GOOD = 0.003, 0.02  # what is added to a tightness of 0; a criterion with which no other width need be tried


class SpectralClustering(ClusterMixin, KernelEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Partitions that make Σ_c within(c)/mass(c) large, by the k largest eigenvectors of W^½KW^½.

    cut
        "normalized": mass is the degree, W = D^−1 (normalised cut: spirals, rings, graphs). "ratio": mass is the number (or weight) of the samples,
        which is kernel k-means (``KernelKMeans``), relaxed.
    kernel
        Similarities of at least 0 for the normalised cut; "precomputed" for a graph's adjacency matrix. None: a Gaussian whose width is chosen from
        multiples of the median distance to the seventh neighbour: that whose rows on the sphere of eigenvectors are tightest, clusters
        being of like size, (tightness + 0.003)·n/(k·smallest cluster). The diagonal is then 0.
    rounding
        From eigenvectors to labels: "qr" (pivoted QR), "kmeans" of the rows; "auto": both, and the one with the better objective; ``rounding_`` says
        which.

    ``objective_``: k − Σ_c within(c)/mass(c), the normalised cut; or the objective of kernel k-means.
    """

    labels_: Array
    embedding_: Array

    def __init__(
        self, n_clusters: int = 8, kernel: Kernel | str | None = None, *, cut: str = "normalized", rounding: str = "auto", n_init: int = 10,
        random_state: Any = None, compute: Compute | None = None,
    ) -> None:  # fmt: skip
        self.n_clusters, self.kernel, self.cut, self.rounding = n_clusters, kernel, cut, rounding
        self.n_init, self.random_state, self.compute = n_init, random_state, compute

    @whole
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        if self._precomputed and sparse.issparse(X):
            X = X.toarray()
        X = self._accept(X, reset=True)
        for name, value, known in (("cut", self.cut, _CUTS), ("rounding", self.rounding, _ROUNDINGS)):
            if value not in known:
                raise ValueError(f"{name}={value!r}: choose one of {', '.join(map(repr, known))}.")
        check_clusters(self, size(X))
        weights = self._weights(X, sample_weight)
        used = np.arange(size(X)) if weights is None else np.flatnonzero(weights > 0)
        weights = np.ones(size(X)) if weights is None else weights[used]
        part = X if len(used) == size(X) else self._some(X, used)
        check_clusters(self, len(used))
        rng = check_random_state(self.random_state)
        if self.kernel is None and self.cut == "normalized":
            weights = weights / min(1.0, float(weights.min()))  # less than one repetition is none
            gram = self._automatic(part, weights, rng)
        else:
            self._bind(part, weights)
            gram = self._gram(part)
        self._cut(gram, weights, rng)
        if len(used) < size(X):  # samples of weight 0 go with the most similar one
            everyone = np.empty(size(X), np.int32)
            everyone[used] = self.labels_
            unused = np.setdiff1d(np.arange(size(X)), used)
            cross = X[np.ix_(unused, used)] if self.kernel_ is None else self.kernel_.gram(self._some(X, unused), part, self.compute).dense()
            like = np.argmax(np.asarray(backend.to_numpy(cross)), axis=1)
            everyone[unused] = self.labels_[like]
            rows = np.empty((size(X), self.embedding_.shape[1]))
            rows[used], rows[unused] = self.embedding_, self.embedding_[like]
            self.labels_, self.embedding_ = everyone, rows
        return self

    def _cut(self, gram: Gram, weights: Array, rng: Any) -> None:
        """Eigenvectors, both roundings, the better one."""
        k, normalised = self.n_clusters, self.cut == "normalized"
        gram = _with_loops(gram, weights) if normalised else gram
        mass = weights * _degrees(gram, weights) if normalised else weights
        R, values = _eigenvectors(gram, weights, mass, k, normalised)
        pivoted = by_pivots(R)
        labels = {"qr": pivoted}
        if self.rounding != "qr":
            labels["kmeans"] = by_means(R, weights, pivoted, k, self.n_init, rng).labels
        if self.rounding == "kmeans":
            del labels["qr"]
        found = {name: association(gram, some, k, weights, mass) for name, some in labels.items()}
        self.rounding_ = max(found, key=lambda name: (len(np.unique(labels[name])), found[name]))
        self.labels_ = labels[self.rounding_].astype(np.int32)
        whole = k if normalised else float(weights @ np.asarray(backend.to_numpy(gram.diag()), np.float64))
        self.objective_ = whole - found[self.rounding_]
        self.embedding_, self.eigenvalues_ = R, values

    def _automatic(self, X: Any, weights: Array, rng: Any) -> Gram:
        """The Gaussian similarity of the best width, its diagonal 0; sets ``kernel_``."""
        k, n = self.n_clusters, size(X)
        base = _typical_neighbour(X, weights)
        best: tuple[float, Kernel] | None = None
        for width in _WIDTHS:
            kernel = Gaussian(0.5 / (width * base) ** 2)
            gram = _with_loops(self._affinity(kernel, X, weights), weights)
            mass = weights * _degrees(gram, weights)
            R, _ = _eigenvectors(gram, weights, mass, k, True)
            tried = by_means(R, weights, by_pivots(R), k, 0, rng)
            smallest = float(np.bincount(tried.labels, weights=weights, minlength=k).min())
            value = (tried.objective / weights.sum() + _TIGHT) * float(weights.sum()) / (k * max(smallest, 0.1))
            if best is None or value < best[0]:
                best = (value, kernel)
            if value < _GOOD or n <= k:
                break
        assert best is not None
        self.kernel_ = best[1]
        return self._affinity(best[1], X, weights)

    def _affinity(self, kernel: Kernel, X: Any, weights: Array) -> Gram:
        """Nobody is similar to himself, but to his repetitions."""
        gram = kernel.gram(self._unpacked(X), compute=self.compute)
        if 8 * size(X) ** 2 > gram.compute.budget // 2:
            raise MemoryError(
                f"Choosing a width holds the {size(X)} × {size(X)} matrix and its factor, more than the memory budget of "
                f"{human(gram.compute.budget)}. Give a kernel, cluster a sample of the rows, or raise Compute(memory=…)."
            )
        K = np.asarray(backend.to_numpy(gram.dense()))
        K[np.arange(len(K)), np.arange(len(K))] = np.maximum(1 - 1 / weights, 0.0)
        return DenseGram(K, self.compute)


def _typical_neighbour(X: Any, weights: Array) -> float:
    """The median over samples of the distance to the seventh neighbour, repetitions counted."""
    n = size(X)
    out = np.empty(n)
    for some in chunks(n, 512):
        squares = squared_distances(X[some], X)
        near = np.argsort(squares, axis=1) if (weights != 1).any() else None
        if near is None:
            out[some] = np.partition(squares, min(_NEIGHBOUR, n - 1), axis=1)[:, min(_NEIGHBOUR, n - 1)]
        else:  # the first sample at which the weight of the nearer ones and itself passes that of seven others and itself
            reached = np.cumsum(weights[near], axis=1) > _NEIGHBOUR
            place = np.where(reached.any(axis=1), np.argmax(reached, axis=1), n - 1)
            out[some] = np.take_along_axis(squares, np.take_along_axis(near, place[:, None], axis=1), axis=1)[:, 0]
    distances = np.sqrt(np.maximum(out, 0.0))
    order = np.argsort(distances, kind="stable")
    middle = float(distances[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)])
    return middle or float(np.max(distances, initial=0.0)) or 1.0


def _degrees(gram: Gram, weights: Array) -> Array:
    """Σ_j w_j k_ij."""
    degrees = np.asarray(backend.to_numpy(gram @ weights), np.float64)
    least = float(degrees.min())
    if least < -1e-12 * float(np.abs(degrees).max()):
        i = int(np.argmin(degrees))
        raise ValueError(
            f"The normalised cut is of similarities of at least 0, and those of sample {i} sum to {least:.3g}. Use a kernel that is not negative "
            "(Gaussian, histograms, counts), or cut='ratio'."
        )
    return np.maximum(degrees, 0.0)


def _with_loops(gram: Gram, weights: Array) -> Gram:
    """Who is similar to nobody is a component of his own."""
    alone = _degrees(gram, weights) <= 1e-300
    if not alone.any():
        return gram
    K = np.array(backend.to_numpy(gram.dense()), np.float64)
    K[alone, alone] = 1.0
    return DenseGram(K, gram.compute)


def _eigenvectors(gram: Gram, weights: Array, mass: Array, k: int, normalised: bool) -> tuple[Array, Array]:
    """(R, values): for each sample its row of the eigenvectors, of length 1 where ``normalised``, and the eigenvalues."""
    inverse = np.divide(weights**2, mass, out=np.zeros_like(weights), where=mass > 1e-300)  # W: w/degree, or w
    s = relaxed(gram, inverse, k, normalised=normalised)
    seen = s.values > 1e-12 * np.abs(s.values).max()  # other directions say nothing
    rows = np.where(seen | normalised, s.vectors, 0.0) / np.sqrt(weights)[:, None]
    return on_sphere(rows) if normalised else rows, s.values
