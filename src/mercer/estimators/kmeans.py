"""k-means, of vectors and of anything with a kernel: one file, since both check, descend and warn alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from mercer import arrays
from mercer.annotations import Estimator, RandomNumbers, RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import chunks, size
from mercer.data.notices import warn
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.checks import check_whole, checked_table
from mercer.estimators.lazy import LazyAnswers
from mercer.estimators.machine import Unsupervised
from mercer.estimators.parameters import KernelLike, Progress, estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.spread import SpreadPasses, SpreadSamples
from mercer.estimators.verbose import speak
from mercer.estimators.weights import checked, relative
from mercer.gram import Gram, Landmarks, Outline, Use, Work, held, outlined
from mercer.kernels.families import squared_distances
from mercer.kernels.vectors.radial import Gaussian
from mercer.runtime.randomness import drawn_from, for_scikit_learn
from mercer.runtime.watch import watching
from mercer.solvers.lloyd import DRAWS, Clustering, Pairs, Points, Space, cluster, outlook
from mercer.solvers.spread import Spread
from mercer.solvers.spread_lloyd import cluster_spread
from mercer.troubles import coded

if TYPE_CHECKING:
    from mercer.solvers.dual import Tried

_AT_ONCE = 8192  # rows whose distances to all centres are held
_AUTO = 10  # descents from starts that are not spread out


def check_clusters(machine: Estimator, n: int) -> None:
    """Raise where the number of clusters or of starts is not one."""
    auto = isinstance(machine, KMeans) and isinstance(machine.n_init, str) and machine.n_init == "auto"
    check_whole(
        machine,
        *(
            name
            for name in ("n_clusters", "n_init", "max_iter")
            if hasattr(machine, name) and not (auto and name == "n_init")
        ),
    )
    tol = getattr(machine, "tol", 0.0)
    if not (isinstance(tol, int | float | np.number) and tol >= 0):
        raise ValueError(coded(f"{type(machine).__name__}(tol={tol!r}): give a number of at least 0.", "M205"))
    if machine.n_clusters > n:
        raise ValueError(
            coded(
                f"n_samples={n} should be >= n_clusters={machine.n_clusters}: there cannot be more clusters than"
                " samples.",
                "M310",
            )
        )


def warn_of_fewer(labels: Array, wanted: int) -> None:
    found = len(np.unique(labels))
    if found < wanted:
        warn(
            f"Number of distinct clusters ({found}) found smaller than n_clusters ({wanted}). Possibly due to duplicate"
            " points in X.",
            "M310",
            ConvergenceWarning,
        )


@estimator
class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, LazyAnswers, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """min Σ_i w_i ‖x_i − μ_c(i)‖²: the best of ``n_init`` descents.

    Clusters do not depend on the order of rows; a weight is a repetition. Sparse tables stay sparse.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    init : {"k-means++", "random"}, array-like of shape (n_clusters, n_features) or callable, default="k-means++"
        Where descents start: "k-means++" (rows far from each other), "random" (rows), the centres themselves as an
        array, or a function ``init(X, n_clusters, random_state)`` that returns such an array.
    n_init : int or "auto", default=10
        How many descents; from given centres there is but one. "auto": one for "k-means++", 10 for "random" and
        functions.
    max_iter : int, default=300
        The most steps of a descent.
    tol : float, default=1e-6
        A descent ends when a step lowers the objective by less than this share of it.
    verbose : int, default=0
        1 writes a line for each step.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The means.
    labels_ : ndarray of shape (n_samples,)
        The nearest mean of each row.
    inertia_ : float
        The objective.
    n_iter_ : int
        The steps of the best descent, the first of them to its start.
    n_features_in_, feature_names_in_

    See Also
    --------
    KernelKMeans : The same in the space of a kernel.
    GaussianMixture : Clusters with covariances.
    SpectralClustering : Clusters that are connected, not compact.

    References
    ----------
    D. Arthur and S. Vassilvitskii, k-means++: the advantages of careful seeding, SODA (2007).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([centre + rng.standard_normal((50, 2)) for centre in ([0, 0], [8, 0], [0, 8])])
    >>> clusters = mc.KMeans(3, random_state=0).fit(X)
    >>> np.bincount(clusters.labels_).tolist()
    [50, 50, 50]
    >>> bool(clusters.predict([[8.0, 1.0]])[0] == clusters.labels_[50])
    True
    >>> clusters.transform(X).shape, round(clusters.inertia_ / 150, 2)
    ((150, 3), 2.02)
    """

    n_clusters: int = 8
    _: KW_ONLY
    init: str | Callable[..., Any] | Samples = "k-means++"
    n_init: int | str = 10
    max_iter: int = 300
    tol: float = 1e-6
    verbose: int = 0
    random_state: RandomState = None

    @all_or_nothing
    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Find the clusters of a table.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            At least ``n_clusters`` rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its row.

        Returns
        -------
        self
        """
        X = checked_table(self, X)
        check_clusters(self, X.shape[0])
        w, scale = relative(checked(sample_weight, X.shape[0]))
        used = w > 0
        # far from the origin, distances would lose digits
        shift = 0.0 if sparse.issparse(X) else np.average(X, axis=0, weights=w).astype(X.dtype)
        kept = X if used.all() else X[used]
        if sparse.issparse(kept) and 4 * kept.nnz > kept.shape[0] * kept.shape[1]:  # dense but for its form
            kept = kept.toarray()
            shift = np.average(kept, axis=0, weights=w[used]).astype(X.dtype)
        space = Points(kept if sparse.issparse(kept) else kept - shift, w[used], Compute().workers)
        check_clusters(self, len(space))
        rng = drawn_from(self.random_state)
        starts = [space.around(centres - shift) for centres in self._centres(kept, rng)]
        with watching(listener=self._spoken(scale) if self.verbose else None, partial=True):
            found = cluster(
                space, self.n_clusters, n_init=0 if starts else self._n_starts(), max_iter=self.max_iter,
                random_state=rng, tol=self.tol, starts=starts, begun=1,
                draw=self.init if isinstance(self.init, str) else "k-means++",
            )  # fmt: skip
        self.cluster_centers_ = (space.means(found.labels, self.n_clusters) + shift).astype(X.dtype)
        self.n_iter_ = found.n_iter
        self.labels_, squares = self._assigned(X)
        self.inertia_ = float(w @ squares) * scale
        if self.verbose:
            speak(
                f"Converged at iteration {found.n_iter - 1}."
                if found.converged
                else f"Stopped at max_iter={self.max_iter}."
            )
        warn_of_fewer(self.labels_, self.n_clusters)
        return self

    def _n_starts(self) -> int:
        if self.n_init == "auto":
            return 1 if isinstance(self.init, str) and self.init == "k-means++" else _AUTO
        return int(self.n_init)

    def _centres(self, X: Samples, rng: RandomNumbers) -> list[Array]:
        """Centres that were given, or that a function gives, checked; none where they are drawn."""
        if isinstance(self.init, str):
            if self.init not in DRAWS:
                raise ValueError(
                    coded(
                        f"KMeans(init={self.init!r}): choose one of {', '.join(map(repr, DRAWS))}, an array of centres,"
                        " or a function.",
                        "M205",
                    )
                )
            return []
        given = (
            [self.init(X, self.n_clusters, random_state=for_scikit_learn(rng)) for _ in range(self._n_starts())]
            if callable(self.init)
            else [self.init]
        )
        centres = [np.asarray(one.toarray() if sparse.issparse(one) else one, np.float64) for one in given]
        for one in centres:
            if one.shape != (self.n_clusters, X.shape[1]):
                what = "clusters" if one.ndim != 2 or len(one) != self.n_clusters else "features of the data"
                raise ValueError(
                    coded(
                        f"The shape of the initial centers {one.shape} does not match the number of {what}: give an"
                        f" array of shape (n_clusters, n_features) = ({self.n_clusters}, {X.shape[1]}).",
                        "M205",
                    )
                )
            if not np.isfinite(one).all():
                raise ValueError(coded("KMeans(init=…): the initial centres hold NaN or infinity.", "M101"))
        return centres

    def _spoken(self, scale: float) -> Callable[[dict[str, Any]], None]:
        """What writes a line for each step it hears of."""
        speak("Initialization complete")

        def heard(state: dict[str, Any]) -> None:
            if state["stage"] == "solver":
                speak(f"Iteration {state['step'] - 1}, inertia {state['objective'] * scale:.6g}.")

        return heard

    def _assigned(self, X: Samples) -> tuple[Array, Array]:
        """The nearest centre of each row and the squared distance to it, without loss for near ones."""
        labels, squares = np.empty(X.shape[0], np.int32), np.empty(X.shape[0])
        for rows in chunks(X.shape[0], _AT_ONCE):
            distances = np.asarray(squared_distances(X[rows], self.cluster_centers_))
            labels[rows] = np.argmin(distances, axis=1)
            squares[rows] = np.take_along_axis(distances, labels[rows][:, None], axis=1)[:, 0]
        return labels, np.maximum(squares, 0.0)

    def _accepted(self, X: Samples) -> Any:
        check_is_fitted(self)
        return checked_table(self, X, reset=False)

    def predict(self, X: Samples) -> Array:
        """The number of the nearest centre, for each row of X."""
        return self._assigned(self._accepted(X))[0]

    def transform(self, X: Samples) -> Array:
        """The distance of each row of X to each centre, an array of shape (n_samples, n_clusters)."""
        X = self._accepted(X)
        return np.asarray(np.sqrt(np.maximum(squared_distances(X, self.cluster_centers_), 0.0)), X.dtype)

    def score(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> float:
        """Minus the objective on X, with weights where they are given; y is not used."""
        X = self._accepted(X)
        return -float(checked(sample_weight, X.shape[0]) @ self._assigned(X)[1])

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@estimator
class KernelKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Unsupervised):  # type: ignore[misc]
    """min Σ_i w_i ‖φ(x_i) − μ_c(i)‖², ‖φ(x) − μ_c‖² = k(x, x) − 2 Σ_{j∈c} w_j k(x, x_j)/m_c + Σ_{j,l∈c} w_j w_l k(x_j,
    x_l)/m_c².

    m_c is the weight of cluster c. All starts share the matrix; kernels with few features are clustered by these. The
    best of ``n_init`` descents from "k-means++" in feature space is kept; its objective never rises.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters.
    n_init : int, default=10
        How many descents.
    max_iter : int, default=300
        The most steps of a descent.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each sample.
    inertia_ : float
        The objective.
    objectives_ : list of float
        That of each step of the best descent.
    converged_ : bool
        Whether its last step moved no sample, or lowered the objective no more.
    n_iter_ : int
        Its steps.
    dual_coef_ : ndarray of shape (n_clusters + 1, n_support)
        Coefficients of the means less the mean of all, and as the last row those of the mean of all.
    intercept_ : ndarray of shape (n_clusters + 1,)
        Their constants.
    support_, support_vectors_, function_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    KMeans : Of vectors.
    SpectralClustering : The same objective relaxed (``cut="ratio"``), or the normalised cut.

    References
    ----------
    I. S. Dhillon, Y. Guan and B. Kulis, Kernel k-means, spectral clustering and normalized cuts, KDD (2004).

    Examples
    --------
    >>> import mercer as mc
    >>> words = ["banana", "bandana", "cabana", "kernel", "colonel", "kennel"]
    >>> clusters = mc.KernelKMeans(2, mc.Spectrum(2), random_state=0).fit(words)
    >>> bool(len({*clusters.labels_[:3]}) == len({*clusters.labels_[3:]}) == 1)
    True
    >>> bool(clusters.predict(["ananas"])[0] == clusters.labels_[0])
    True
    """

    n_clusters: int = 8
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    n_init: int = 10
    max_iter: int = 300
    random_state: RandomState = None
    progress: Progress | None = None
    compute: Compute | None = None

    _first_report: ClassVar[dict[str, Any]] = {"step": 0, "objective": np.inf}

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> None:
        check_clusters(self, gram.shape[0])
        gram = held(gram, Use.AGAIN)
        weights, scale = relative(weights)
        self._describe(gram, weights, self._clustered(gram, weights), scale)

    def _fitted_spread(self, X: Samples, y: Targets, sample_weight: Weights) -> Self:
        super()._fitted_spread(X, y, sample_weight)
        self.labels_ = self.predict(X)  # a Dask array: nobody has to look at all of them
        return self

    def _learn_spread(self, passes: SpreadPasses, samples: SpreadSamples, marks: Landmarks) -> None:
        """Means in the span of the landmarks: of as many samples as there are, each step one pass."""
        check_clusters(self, len(samples))
        found = cluster_spread(
            Spread(passes, marks.factor),
            self.n_clusters,
            n_init=self.n_init,
            max_iter=self.max_iter,
            random_state=drawn_from(self.random_state),
            workers=marks.values.compute.workers,
        )
        shifted = found.means - found.mean
        self._of_landmarks = marks.coefficients(np.vstack([shifted, found.mean]).T)
        self.intercept_ = np.append(-(shifted @ found.mean), 0.0)
        self._square_norms = np.einsum("cj,cj->c", shifted, shifted)
        self._mean_norm = float(found.mean @ found.mean)
        self.objectives_, self.inertia_ = found.objectives, found.objectives[-1]
        self.n_iter_, self.converged_ = len(found.objectives), found.converged

    def _remember(self, X: Samples, gram: Gram, used: Array) -> None:
        super()._remember(X, gram, used)
        if len(used) < size(X):
            self.labels_ = self.predict(X)
        warn_of_fewer(self.labels_, self.n_clusters)

    def _clustered(self, gram: Gram, weights: Array) -> Clustering:
        rng = drawn_from(self.random_state)
        return cluster(
            space_of(gram, weights), self.n_clusters, n_init=self.n_init, max_iter=self.max_iter, random_state=rng
        )

    def _cost(self, outline: Outline, y: Targets = None, tried: Tried | None = None) -> Work:
        n, k = outline.shape[0], self.n_clusters
        matrix, made = outlined(outline, Use.AGAIN)
        features = _few_features(matrix)
        if features is None:
            found = outlook(matrix, k, self.n_init, self.max_iter)
        else:
            p = features.width
            steps = min(self.max_iter, 20) * self.n_init
            plan = f"{self.n_init} descents to {k} clusters of {n} × {p} features"
            found = Work(8.0 * n * (2 * p + 6), steps * outline.speed.reading(3 * 8.0 * n * (p + k)), plan)
        return found.beside(made.memory + 8.0 * 3 * n * (k + 1), made.seconds + matrix.product(k + 1))

    def _describe(self, gram: Gram, weights: Array, found: Clustering, scale: float) -> None:
        """Centres as functions h_c(x) = ⟨φ(x) − μ, μ_c − μ⟩, μ the mean of all: far from the origin nothing is lost.
        One more, ⟨φ(x), μ⟩, for distances.
        """
        n, k = len(weights), self.n_clusters
        share = weights / weights.sum()
        coef = np.repeat(-share[:, None], k + 1, axis=1)
        coef[np.arange(n), found.labels] += (
            weights / np.bincount(found.labels, weights=weights, minlength=k)[found.labels]
        )
        coef[:, k] = share
        inner = np.asarray(arrays.to_numpy(gram @ coef), np.float64)
        self._keep(coef, every=True)
        self.intercept_ = np.append(-(inner[:, k] @ coef[:, :k]), 0.0)
        self._square_norms = np.einsum("ic,ic->c", coef[:, :k], inner[:, :k])  # ‖μ_c − μ‖²
        self._mean_norm = float(share @ inner[:, k])
        self.labels_, self.inertia_ = found.labels.astype(np.int32), scale * found.objective
        if not found.converged:  # labels are of the centres that are kept
            gaps = self._square_norms - 2 * (inner + self.intercept_)[:, :k]
            self.labels_ = np.argmin(gaps, axis=1).astype(np.int32)
            norms = np.asarray(arrays.to_numpy(gram.diag()), np.float64) - 2 * inner[:, k] + self._mean_norm
            self.inertia_ = scale * float(weights @ (norms + gaps[np.arange(n), self.labels_]))
        self.objectives_, self.n_iter_, self.converged_ = (
            [scale * value for value in found.objectives],
            found.n_iter,
            found.converged,
        )

    def predict(self, X: Samples) -> Array:
        """The cluster whose mean is nearest in feature space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.argmin(self._square_norms - 2 * self._values(X)[:, :-1], axis=1).astype(np.int32)

    def transform(self, X: Samples) -> Array:
        """The distance to each mean in feature space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; not of a precomputed matrix, which lacks k(x, x).

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        inner, own = self._inner(self._accept_new(X), own=True)
        return self._distances(own, inner + self.intercept_)

    def fit_transform(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Array:
        """Distances in training: also of a precomputed matrix.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        self.fit(X, y, sample_weight)
        return (
            self.transform(X)
            if self.kernel_ is not None
            else self._distances(np.diag(np.asarray(X)).astype(np.float64), self._values(X))
        )

    def _distances(self, own: Array, values: Array) -> Array:
        squares = (own - 2 * values[:, -1] + self._mean_norm)[:, None] - 2 * values[:, :-1] + self._square_norms
        rounding = 1e-14 * (np.abs(own) + abs(self._mean_norm))[:, None]
        return np.sqrt(np.where(squares > rounding, squares, 0.0))

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters


def _few_features(gram: Gram) -> Any:
    return gram.features(at_most=0.5)


def space_of(gram: Gram, weights: Array) -> Space:
    """By features where these are few, else by the matrix."""
    features = _few_features(gram)
    if features is not None and features.on_host:
        phi = features.phi
        return Points(
            phi if sparse.issparse(phi) else phi - np.average(phi, axis=0, weights=weights).astype(phi.dtype),
            weights,
            gram.compute.workers,
        )
    return Pairs(gram, weights)
