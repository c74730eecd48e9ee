"""Clusters by eigenvectors of a similarity: one file, since widths, cuts and roundings are chosen together."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from mercer import arrays
from mercer.annotations import RandomNumbers, RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute, human
from mercer.data import chunks, size, take
from mercer.data.notices import warn
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.base import KernelEstimator
from mercer.estimators.checks import check_whole, checked_table
from mercer.estimators.kmeans import check_clusters
from mercer.estimators.parameters import KernelLike, estimator
from mercer.estimators.weights import NEGLIGIBLE, checked, relative, unit
from mercer.gram import DenseGram, Gram, Outline, SparseGram, Use, Work, held, outlined
from mercer.kernels.base import Kernel
from mercer.kernels.families import squared_distances
from mercer.kernels.vectors.radial import Gaussian
from mercer.runtime.randomness import drawn_from
from mercer.solvers import cuts
from mercer.solvers.cuts import association, by_means, by_pivots, on_sphere, relaxed
from mercer.solvers.neighbours import nearest
from mercer.troubles import coded

if TYPE_CHECKING:
    from mercer.solvers.dual import Tried

_AFFINITIES = ("kernel", "nearest_neighbors", "precomputed_nearest_neighbors")
_CUTS = ("normalized", "ratio")
_ROUNDINGS = ("auto", "qr", "kmeans")
_NEIGHBOUR = 7
_WIDTHS = (0.5, 0.35, 0.7, 0.25, 1.0, 1.4, 2.0)  # of the median distance to a neighbour, the likeliest first
_TIGHT, _GOOD = 0.003, 0.02  # what is added to a tightness of 0; a criterion with which no other width need be tried


class _Partition(KernelEstimator):
    """What ``SpectralClustering`` finds, its types declared."""

    labels_: Array
    embedding_: Array
    eigenvalues_: Array
    objective_: float


@estimator
class SpectralClustering(ClusterMixin, _Partition):  # type: ignore[misc]  # scikit-learn has no types
    """Partitions that make Σ_c within(c)/mass(c) large, by the k largest eigenvectors of W^½AW^½, A a matrix of
    similarities.

    within(c) is the sum of the similarities inside cluster c. Clusters are connected, not compact: rings, spirals,
    graphs. Choosing the width of a kernel holds the n × n matrix in memory; sparse graphs stay sparse.

    Parameters
    ----------
    n_clusters : int, default=8
        k.
    kernel : Kernel, str, callable or None, default="auto"
        Similarities of at least 0 for the normalised cut; "precomputed" for a graph's adjacency matrix, which may be
        sparse and stays so. "auto" or None: a Gaussian whose width is chosen from multiples of the median distance to
        the seventh neighbour: that whose rows on the sphere of eigenvectors are tightest, clusters being of like size,
        (tightness + 0.003)·n/(k·smallest cluster). The diagonal is then 0.
    affinity : {"kernel", "nearest_neighbors", "precomputed_nearest_neighbors"}, default="kernel"
        "kernel": its values are the similarities. "nearest_neighbors": A = (C + C^T)/2, C_ij = 1 where j is among the
        ``n_neighbors`` samples nearest to i in the space of the kernel, ‖φ(x) − φ(z)‖² = k(x, x) − 2k(x, z) + k(z, z),
        i itself included; kernel "auto": of the vectors themselves. Sparse: memory n·n_neighbors.
        "precomputed_nearest_neighbors": the same of distances, X, as ``sklearn.neighbors`` writes them.
    n_neighbors : int, default=10
        Neighbours are counted as samples, whatever their weights.
    cut : {"normalized", "ratio"}, default="normalized"
        "normalized": mass is the degree, W = D^−1 (normalised cut: spirals, rings, graphs). "ratio": mass is the number
        (or weight) of the samples, which is kernel k-means (``KernelKMeans``), relaxed. A may have negative
        eigenvalues; only the largest are used.
    rounding : {"auto", "qr", "kmeans"}, default="auto"
        From eigenvectors to labels: "qr" (pivoted QR), "kmeans" of the rows; "auto": both, and the one with the better
        objective; ``rounding_`` says which.
    n_init : int, default=10
        How many descents of the k-means of the rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The clusters, numbered as they appear in the data.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        For each sample its row of the eigenvectors, of length 1 for the normalised cut.
    eigenvalues_ : ndarray of shape (n_clusters,)
        The largest eigenvalues.
    objective_ : float
        k − Σ_c within(c)/mass(c), the normalised cut; or the objective of kernel k-means.
    rounding_ : str
        The rounding that was better.
    affinity_matrix_ : sparse array of shape (n_samples, n_samples)
        The graph of neighbours, where there is one.
    kernel_ : Kernel or None
        The kernel bound to the data, the chosen width in it; None where similarities are of a matrix or of distances.
    n_features_in_, feature_names_in_

    See Also
    --------
    KernelKMeans : The objective of ``cut="ratio"``, descended from many starts.
    ClusterDisplay : A picture.

    References
    ----------
    J. Shi and J. Malik, Normalized cuts and image segmentation, IEEE TPAMI 22 (2000). A. Y. Ng, M. Jordan and Y. Weiss,
    On spectral clustering, NIPS 14 (2002). A. Damle, V. Minden and L. Ying, Simple, direct and efficient multi-way
    spectral clustering, Information and Inference 8 (2019), for pivoted QR.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 200)
    >>> radius = np.repeat([1.0, 3.0], 100)
    >>> X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> rings = mc.SpectralClustering(2, random_state=0).fit_predict(X)
    >>> bool((rings[:100] == 0).all() and (rings[100:] == 1).all())
    True
    """

    n_clusters: int = 8
    kernel: KernelLike = "auto"
    _: KW_ONLY
    affinity: str = "kernel"
    n_neighbors: int = 10
    cut: str = "normalized"
    rounding: str = "auto"
    n_init: int = 10
    random_state: RandomState = None
    compute: Compute | None = None

    _needs_psd = False  # the largest eigenvalues alone are used

    @property
    def _chosen_width(self) -> bool:
        """Whether the kernel is left to the estimator."""
        return self.kernel is None or (isinstance(self.kernel, str) and self.kernel == "auto")

    @property
    def _given_kernel(self) -> Kernel:
        return Gaussian() if self._chosen_width else super()._given_kernel

    @property
    def _of_distances(self) -> bool:
        return self.affinity == "precomputed_nearest_neighbors"

    @all_or_nothing
    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Find the clusters of the samples X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or n_samples items
            The samples; their similarities with ``kernel="precomputed"``, their distances with
            ``affinity="precomputed_nearest_neighbors"``, (n_samples, n_samples).
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its sample; one of weight 0 goes with the most similar other.

        Returns
        -------
        self
        """
        choices = (
            ("affinity", self.affinity, _AFFINITIES),
            ("cut", self.cut, _CUTS),
            ("rounding", self.rounding, _ROUNDINGS),
        )
        for name, value, known in choices:
            if value not in known:
                also = (
                    " Other similarities are kernels: kernel=mercer.Gaussian(), kernel='precomputed'."
                    if name == "affinity"
                    else ""
                )
                raise ValueError(coded(f"{name}={value!r}: choose one of {', '.join(map(repr, known))}.{also}", "M205"))
        sparse_graph = self._precomputed and sparse.issparse(X) and self.affinity == "kernel"
        if self._of_distances or sparse_graph:
            X = self._accept_graph(X)
        else:
            X = self._accept(X.toarray() if self._precomputed and sparse.issparse(X) else X, reset=True)
        self.__dict__.pop("affinity_matrix_", None)  # of a fit before
        check_clusters(self, size(X))
        weights, scale = relative(checked(sample_weight, size(X)), NEGLIGIBLE)
        used = np.flatnonzero(weights > 0)
        weights = weights[used]
        part = X if len(used) == size(X) else self._part(X, used)
        check_clusters(self, len(used))
        rng = drawn_from(self.random_state)
        if self.affinity != "kernel":
            gram = self._neighbours(part, weights)
        elif self._chosen_width and self.cut == "normalized":
            gram = self._automatic(part, weights, weights / unit(weights, scale), rng)
        elif sparse_graph:
            self.kernel_, gram = None, SparseGram(part, self.compute)
        else:
            gram = self._matrix(part, weights)
        self._learn(gram, weights, rng)
        if self.cut == "ratio":  # as large as the weights
            self.objective_ *= scale
            self.eigenvalues_ = scale * self.eigenvalues_
        if len(used) < size(X):  # samples of weight 0 go with the most similar one
            everyone = np.empty(size(X), np.int32)
            everyone[used] = self.labels_
            unused = np.setdiff1d(np.arange(size(X)), used)
            like = np.argmax(self._similarities(X, unused, used), axis=1)
            everyone[unused] = self.labels_[like]
            rows = np.empty((size(X), self.embedding_.shape[1]))
            rows[used], rows[unused] = self.embedding_, self.embedding_[like]
            self.labels_, self.embedding_ = everyone, rows
        return self

    def _accept_graph(self, X: Samples) -> Any:
        """A square matrix, symmetric where it is one of similarities; a sparse one stays so."""
        X = checked_table(self, X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                coded(
                    f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.", "M213"
                )
            )
        if self._of_distances:
            return X
        X = sparse.csr_array(X)
        if abs(X - X.T).max() > (1e-10 if X.dtype == np.float64 else 1e-5) * abs(X).max():
            warn(
                "The precomputed matrix is not symmetric. The clusters are those of its symmetric part, (A + A^T)/2.",
                "M208",
                ConvergenceWarning,
            )
            X = sparse.csr_array((X + X.T) / 2)
        return X

    def _part(self, X: Samples, chosen: Array) -> Any:
        return (
            X[chosen][:, chosen]
            if self._of_distances or (self._precomputed and sparse.issparse(X))
            else self._some(X, chosen)
        )

    def _neighbours(self, X: Samples, weights: Array) -> Gram:
        """The graph of nearest neighbours; sets ``affinity_matrix_``, and ``kernel_`` where one says what is near."""
        check_whole(self, "n_neighbors")
        if self.n_neighbors > size(X):
            raise ValueError(
                coded(
                    f"n_neighbors={self.n_neighbors} is more than the n_samples={size(X)} (of positive weight), each"
                    " its own first neighbour.",
                    "M310",
                )
            )
        if self._of_distances or self._chosen_width:  # trees where columns are few
            self.kernel_ = None
            metric = "precomputed" if self._of_distances else "euclidean"
            C = NearestNeighbors(n_neighbors=self.n_neighbors, metric=metric).fit(X).kneighbors_graph(X)
        else:
            C = nearest(self._matrix(X, weights), self.n_neighbors)
        self.affinity_matrix_ = sparse.csr_array((C + C.T) / 2)
        return SparseGram(self.affinity_matrix_, self.compute)

    def _similarities(self, X: Samples, some: Array, others: Array) -> Array:
        """Of some samples to others: values of the kernel, or minus distances."""
        if self._of_distances:
            D = X[some][:, others]
            return np.where(D.astype(bool).toarray(), -D.toarray(), -np.inf) if sparse.issparse(D) else -np.asarray(D)
        if self.affinity != "kernel" and self._chosen_width:
            return -np.asarray(squared_distances(X[some], X[others]))
        if self.kernel_ is None:
            values = X[some][:, others]
            own = X.diagonal()[others] if self.affinity != "kernel" else 0.0
            return 2 * np.asarray(values.toarray() if sparse.issparse(values) else values) - own
        near = take(X, others)
        values = np.asarray(arrays.to_numpy(self.kernel_.gram(take(X, some), near, self.compute).dense()))
        return (
            2 * values - np.asarray(arrays.to_numpy(self.kernel_.diag(near))) if self.affinity != "kernel" else values
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed or self._of_distances
        return tags

    def _learn(self, gram: Gram, weights: Array, rng: RandomNumbers) -> None:
        """Eigenvectors, both roundings, the better one."""
        k, normalised = self.n_clusters, self.cut == "normalized"
        gram = held(gram, Use.AGAIN)
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
        self.labels_ = _by_appearance(labels[self.rounding_])
        whole = k if normalised else float(weights @ np.asarray(arrays.to_numpy(gram.diag()), np.float64))
        self.objective_ = whole - found[self.rounding_]
        self.embedding_, self.eigenvalues_ = R, values

    def _cost(self, outline: Outline, y: Targets = None, tried: Tried | None = None) -> Work:
        n, k, normalised = outline.shape[0], self.n_clusters, self.cut == "normalized"
        if self.affinity != "kernel":
            edges = n * self.n_neighbors
            strip = 8.0 * 3 * 512 * n if not self._chosen_width else 0.0
            seconds = 0.0 if self._of_distances else outline.storing(rows=n, columns=n)
            vectors = 8.0 * n * 16 * max(8, 2 * k)
            return Work(
                max(strip, 60.0 * edges + vectors), seconds + 60 * outline.speed.reading(4 * vectors),
                f"a graph of {self.n_neighbors} neighbours of {n} samples, and its eigenvectors", "graph",
            )  # fmt: skip
        if self._chosen_width and normalised:
            size = outline.bytes()
            matrix, made = outline.in_memory(), Work(size, outline.storing())
            widths = 3  # of which one is found good, by experience
            once = cuts.outlook(matrix, k, normalised=True)
            refused = "choosing a width holds the matrix twice" if self._too_large(n, outline.compute) else ""
            return replace(
                once.beside(seconds=made.seconds).times(widths + 1).beside(size, outline.storing(rows=n, columns=n)),
                plan=f"{widths} or more widths of a Gaussian, each {once.plan}",
                refused=refused,
            )
        matrix, made = outlined(outline, Use.AGAIN)
        found = cuts.outlook(matrix, k, normalised=normalised)
        return found.beside(made.memory, made.seconds + 3 * matrix.product() + 2 * matrix.product(k))

    @staticmethod
    def _too_large(n: int, compute: Compute) -> bool:
        return 8 * n**2 > compute.budget // 2

    def _automatic(self, X: Samples, weights: Array, repeats: Array, rng: RandomNumbers) -> Gram:
        """The Gaussian similarity of the best width, its diagonal 0; sets ``kernel_``. ``repeats``: how often each
        sample is there.
        """
        k, n = self.n_clusters, size(X)
        base = _typical_neighbour(X, weights)
        best: tuple[float, Kernel] | None = None
        for width in _WIDTHS:
            kernel = Gaussian(0.5 / (width * base) ** 2)
            gram = _with_loops(self._affinity(kernel, X, repeats), weights)
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
        return self._affinity(best[1], X, repeats)

    def _affinity(self, kernel: Kernel, X: Samples, repeats: Array) -> Gram:
        """Values of the kernel, the diagonal 0 but for repetitions: a sample of weight r has r − 1 copies of itself as
        neighbours, a mean similarity of 1 − 1/r.
        """
        gram = kernel.gram(self._unpacked(X), compute=self.compute)
        if self._too_large(size(X), gram.compute):
            raise MemoryError(
                coded(
                    f"Choosing a width holds the {size(X)} × {size(X)} matrix and its factor, more than the memory"
                    f" budget of {human(gram.compute.budget)}. Give a kernel, cluster a sample of the rows, or raise"
                    " Compute(memory=…).",
                    "M401",
                )
            )
        K = np.asarray(arrays.to_numpy(gram.dense()))
        K[np.arange(len(K)), np.arange(len(K))] = np.maximum(1 - 1 / repeats, 0.0)
        return DenseGram(K, self.compute)


def _by_appearance(labels: Array) -> Array:
    """The same clusters, numbered as they come: not by the signs and the order of eigenvectors, which rounding may
    change.
    """
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int32)[which.reshape(-1)]


def _typical_neighbour(X: Samples, weights: Array) -> float:
    """The median over samples of the distance to the seventh neighbour; equal rows are one, so that neither repetitions
    nor weights count as neighbours.
    """
    if not sparse.issparse(X) and not arrays.is_tensor(X):
        X, which = np.unique(X, axis=0, return_inverse=True)
        weights = np.bincount(which.reshape(-1), weights=weights)
    n = size(X)
    out = np.empty(n)
    place = min(_NEIGHBOUR, n - 1)
    for some in chunks(n, 512):
        out[some] = np.partition(squared_distances(X[some], X), place, axis=1)[:, place]
    distances = np.sqrt(np.maximum(out, 0.0))
    order = np.argsort(distances, kind="stable")
    middle = float(distances[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)])
    return middle or float(np.max(distances, initial=0.0)) or 1.0


def _degrees(gram: Gram, weights: Array) -> Array:
    """Σ_j w_j k_ij."""
    degrees = np.asarray(arrays.to_numpy(gram @ weights), np.float64)
    least = float(degrees.min())
    if least < -1e-12 * float(np.abs(degrees).max()):
        i = int(np.argmin(degrees))
        raise ValueError(
            coded(
                f"The normalised cut is of similarities of at least 0, and those of sample {i} sum to {least:.3g}. Use"
                " a kernel that is not negative (Gaussian, histograms, counts), or cut='ratio'.",
                "M106",
            )
        )
    return np.maximum(degrees, 0.0)


def _with_loops(gram: Gram, weights: Array) -> Gram:
    """A sample that is similar to none, whose degree is 0, gets a similarity of 1 to itself: it is a component of its
    own.
    """
    alone = _degrees(gram, weights) <= 1e-300
    if not alone.any():
        return gram
    graph = gram.sparse()
    if graph is not None:
        return SparseGram(graph + sparse.diags_array(alone.astype(graph.dtype)), gram.compute)
    K = np.asarray(arrays.to_numpy(gram.fresh(np.float64)))
    K[alone, alone] = 1.0
    return DenseGram(K, gram.compute)


def _eigenvectors(gram: Gram, weights: Array, mass: Array, k: int, normalised: bool) -> tuple[Array, Array]:
    """(R, values): for each sample its row of the eigenvectors, of length 1 where ``normalised``, and the
    eigenvalues.
    """
    inverse = np.divide(weights**2, mass, out=np.zeros_like(weights), where=mass > 1e-300)  # W: w/degree, or w
    s = relaxed(gram, inverse, k, normalised=normalised)
    seen = s.values > 1e-12 * np.abs(s.values).max()  # other directions say nothing
    rows = np.where(seen | normalised, s.vectors, 0.0) / np.sqrt(weights)[:, None]
    return on_sphere(rows) if normalised else rows, s.values
