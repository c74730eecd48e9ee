"""Gaussian mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning

from mercer.annotations import RandomNumbers, RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data.notices import warn
from mercer.distributed import is_collection
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.checks import check_whole, checked_table
from mercer.estimators.generative import GenerativeModel
from mercer.estimators.parameters import estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.spread_mixture import MixtureData, spread_data
from mercer.estimators.verbose import speak
from mercer.estimators.weights import checked, relative
from mercer.runtime.randomness import drawn_from
from mercer.solvers.covariances import FAMILIES, Family
from mercer.solvers.em import Mixture, climbed, expected, from_labels, from_shares, joint, log_likelihoods
from mercer.solvers.lloyd import Points, at_random, cluster, spread_out
from mercer.troubles import coded

STARTS: dict[str, Any] = {"kmeans": None, "k-means++": spread_out, "random": None, "random_from_data": at_random}


@estimator
class GaussianMixture(DensityMixin, GenerativeModel):  # type: ignore[misc]  # scikit-learn has no types
    """p(x) = Σ_k π_k N(x; μ_k, Σ_k), fitted by expectation–maximisation: each step makes the likelihood larger, never
    smaller.

    Parameters
    ----------
    n_components : int, default=1
        How many normal distributions.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        "full" (one matrix for each component), "tied" (one for all), "diag" (a variance for each column) or "spherical"
        (one variance).
    tol : float, default=1e-3
        Steps end when the mean log-likelihood of a sample gains less.
    reg_covar : float, default=1e-6
        Added to the variances, so that no component shrinks to a point.
    max_iter : int, default=100
        Steps of each start; 0 gives the start itself.
    n_init : int, default=1
        Starts; the likeliest is kept.
    init_params : {"kmeans", "k-means++", "random_from_data", "random"}, default="kmeans"
        What a start is made from: "kmeans" (its clusters), "k-means++" or "random_from_data" (what is nearest to each
        of n_components samples, chosen far from each other or not) or "random" (random shares of all samples).
    weights_init, means_init, precisions_init : array-like or None, default=None
        Where to start instead, as in scikit-learn: arrays of the shapes of ``weights_``, ``means_`` and
        ``precisions_``.
    warm_start : bool, default=False
        Whether a further ``fit`` goes on from the mixture that the last one found.
    verbose : int, default=0
        1 writes a line for every ``verbose_interval`` steps.
    verbose_interval : int, default=10
        Steps between two lines.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        π.
    means_ : ndarray of shape (n_components, n_features)
        μ.
    covariances_ : ndarray
        Σ: of shape (n_components, n_features, n_features) for "full", (n_features, n_features) for "tied",
        (n_components, n_features) for "diag", (n_components,) for "spherical", as in scikit-learn.
    precisions_ : ndarray of the same shape
        Σ^−1.
    precisions_cholesky_ : ndarray of the same shape
        U with U U^T = Σ^−1, upper triangular; of variances, 1/σ.
    converged_ : bool
        Whether the last step gained less than ``tol``.
    n_iter_ : int
        Steps of the likeliest start.
    lower_bound_ : float
        The mean log-likelihood before the last step.
    lower_bounds_ : list of float
        That before each step.
    n_features_in_, feature_names_in_

    Warns
    -----
    ConvergenceWarning
        Where ``max_iter`` was reached.

    See Also
    --------
    KMeans : Clusters without covariances.
    Fisher : A kernel made of the mixture's score vectors.

    References
    ----------
    A. P. Dempster, N. M. Laird and D. B. Rubin, Maximum likelihood from incomplete data via the EM algorithm, JRSS B 39
    (1977).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-3, 1, (100, 1)), rng.normal(3, 0.5, (300, 1))])
    >>> mixture = mc.GaussianMixture(2, random_state=0).fit(X)
    >>> order = np.argsort(mixture.means_[:, 0])
    >>> mixture.weights_[order].round(2), mixture.means_[order, 0].round(1)
    (array([0.25, 0.75]), array([-2.9,  3. ]))
    >>> mixture.predict_proba([[3.0]])[:, order].round(3)
    array([[0., 1.]])
    >>> bool(mixture.bic(X) < mc.GaussianMixture(1).fit(X).bic(X))
    True
    """

    n_components: int = 1
    _: KW_ONLY
    covariance_type: str = "full"
    tol: float = 1e-3
    reg_covar: float = 1e-6
    max_iter: int = 100
    n_init: int = 1
    init_params: str = "kmeans"
    weights_init: Sequence[Any] | Array | None = None
    means_init: ArrayLike | None = None
    precisions_init: Sequence[Any] | Array | None = None
    random_state: RandomState = None
    warm_start: bool = False
    verbose: int = 0
    verbose_interval: int = 10

    @property
    def _family(self) -> Family:
        if self.covariance_type not in FAMILIES:
            raise ValueError(
                coded(
                    f"covariance_type={self.covariance_type!r}: choose one of {', '.join(map(repr, FAMILIES))}.", "M205"
                )
            )
        return FAMILIES[self.covariance_type]

    @all_or_nothing
    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Fit the mixture to a table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two rows, and ``n_components``.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its row; the common size of all weights does not matter.

        Returns
        -------
        self
        """
        self._check()
        source = self._spread_data(X, sample_weight) if is_collection(X) else self._data(X, sample_weight)
        family, rng, centre = self._family, drawn_from(self.random_state), source.centre
        last = self._last(centre) if self.warm_start else None
        runs = []
        for number in range(1 if last is not None else self.n_init):
            start, before = last or (self._start(source.table, source.weights, centre, family, rng), -np.inf)
            runs.append(
                climbed(
                    source.sums, source.total, start, family, floor=self.reg_covar, tol=self.tol,
                    max_iter=self.max_iter, before=before, progress=self._spoken(number) if self.verbose else None,
                )
            )  # fmt: skip
        best = max(runs, key=lambda run: run.bound)
        mixture = best.mixture
        self.lower_bound_, self.lower_bounds_, self.n_iter_, self.converged_ = (
            best.bound,
            best.bounds,
            len(best.bounds),
            best.converged,
        )
        self.weights_, self.means_, self.covariances_ = mixture.weights, mixture.means + centre, mixture.covariances
        self.precisions_cholesky_ = family.factors(mixture.covariances)
        self.precisions_ = family.precisions(self.precisions_cholesky_)
        if self.verbose:
            speak(f"Initialization {'converged' if self.converged_ else 'did not converge'}.")
        if not self.converged_ and self.max_iter:
            warn(
                f"GaussianMixture stopped after max_iter={self.max_iter} steps, the last of which still gained"
                f" {self.tol:g} or more in the mean log-likelihood. Raise max_iter or tol.",
                "M301",
                ConvergenceWarning,
            )
        return self

    def _check(self) -> None:
        check_whole(self, "n_components", "n_init", "verbose_interval")
        check_whole(self, "max_iter", least=0)
        for name in ("reg_covar", "tol"):
            if not getattr(self, name) >= 0:
                raise ValueError(coded(f"{name}={getattr(self, name)!r}: give a number of at least 0.", "M205"))
        if self.init_params not in STARTS:
            raise ValueError(
                coded(f"init_params={self.init_params!r}: choose one of {', '.join(map(repr, STARTS))}.", "M205")
            )

    def _data(self, X: Samples, sample_weight: Weights) -> MixtureData:
        """A table in memory, checked."""
        X = checked_table(self, X, accept_sparse=False, dtype=np.float64, ensure_min_samples=2)
        w, _ = relative(checked(sample_weight, len(X)))
        X, w = (X, w) if (w > 0).all() else (X[w > 0], w[w > 0])
        self._check_enough(len(X))
        w = w * (len(w) / w.sum())  # their common size does not matter
        centre = np.average(X, axis=0, weights=w)  # far from the origin, sums of squares would lose digits
        Z, family = X - centre, self._family
        return MixtureData(Z, w, centre, float(w.sum()), lambda mixture: expected(Z, w, mixture, family))

    def _spread_data(self, X: Samples, sample_weight: Weights) -> MixtureData:
        """A Dask collection, of which some rows are here, for starts."""
        data = spread_data(self, X, sample_weight, self.n_components, self.covariance_type)
        self._check_enough(len(data.table))
        return data

    def _check_enough(self, n: int) -> None:
        if n < self.n_components:
            raise ValueError(coded(f"n_components={self.n_components} is more than the n_samples={n}.", "M310"))

    def _spoken(self, number: int) -> Any:
        speak(f"Initialization {number}")

        def step(n: int, gain: float) -> None:
            if n % self.verbose_interval == 0:
                speak(f"  Iteration {n}, gain of the mean log-likelihood {gain:.6g}")

        return step

    def _last(self, centre: Array) -> tuple[Mixture, float] | None:
        """The mixture that was found before, if any, about ``centre``, and its mean log-likelihood."""
        if not hasattr(self, "converged_"):
            return None
        shape = _shape(self.covariance_type, self.n_components, len(centre))
        if self.means_.shape != (self.n_components, len(centre)) or np.shape(self.covariances_) != shape:
            raise ValueError(
                coded(
                    f"warm_start=True cannot go on from {len(self.means_)} components of {self.means_.shape[1]} columns"
                    f" with covariances of the shape {np.shape(self.covariances_)}: n_components={self.n_components},"
                    f" covariance_type={self.covariance_type!r} and {len(centre)} columns need {shape}. Set"
                    " warm_start=False, or change nothing of these.",
                    "M314",
                )
            )
        return Mixture(self.weights_, self.means_ - centre, self.covariances_), float(self.lower_bound_)

    def _start(self, Z: Array, w: Array, centre: Array, family: Family, rng: RandomNumbers) -> Mixture:
        k, d = self.n_components, Z.shape[1]
        weights = _given(self.weights_init, (k,), "weights_init")
        means = _given(self.means_init, (k, d), "means_init")
        precisions = _given(self.precisions_init, _shape(self.covariance_type, k, d), "precisions_init")
        if weights is not None and (np.any(weights < 0) or not np.isclose(weights.sum(), 1)):
            raise ValueError(
                coded(f"weights_init must be shares that sum to 1, got a sum of {weights.sum():g}.", "M205")
            )
        means = None if means is None else means - centre
        if weights is None or means is None or precisions is None:
            if self.init_params == "random" and means is None:
                shares = rng.uniform(size=(len(Z), k))
                start = from_shares(Z, w, shares / shares.sum(axis=1)[:, None], family, self.reg_covar)
            else:
                start = from_labels(
                    Z, w, self._labels(Points(Z, w, Compute().workers), means, rng), k, family, self.reg_covar
                )
            weights, means = start.weights if weights is None else weights, start.means if means is None else means
            covariances = start.covariances if precisions is None else _inverted(family, precisions)
        else:
            covariances = _inverted(family, precisions)
        return Mixture(weights, means, covariances)

    def _labels(self, points: Points, means: Array | None, rng: RandomNumbers) -> Array:
        if means is not None:
            return points.assigned(means)[0]
        if self.init_params == "kmeans":
            return cluster(points, self.n_components, n_init=1, max_iter=100, random_state=rng, tol=1e-4).labels
        return STARTS[self.init_params](points, self.n_components, rng)

    def _accepted(self, X: Samples) -> tuple[Array, Mixture]:
        """X and the mixture, both about the mean of the components."""
        check_is_fitted(self)
        X = checked_table(self, X, accept_sparse=False, dtype=np.float64, reset=False)
        centre = self.weights_ @ self.means_
        return X - centre, Mixture(self.weights_, self.means_ - centre, self.covariances_)

    def score_samples(self, X: Samples) -> Array:
        """log p(x) of each row of X, an array of shape (n_samples,)."""
        return log_likelihoods(*self._accepted(X), self._family)

    def score(self, X: Samples, y: Targets = None) -> float:
        """The mean of log p(x) over the rows of X; larger is better, y is not used."""
        return float(self.score_samples(X).mean())

    def predict_proba(self, X: Samples) -> Array:
        """The share of each component in p(x): an array of shape (n_samples, n_components) whose rows sum to 1."""
        logs = joint(*self._accepted(X), self._family)
        return np.exp(logs - logsumexp(logs, axis=1)[:, None])

    def predict(self, X: Samples) -> Array:
        """The number of the component with the largest share, for each row of X."""
        return np.argmax(joint(*self._accepted(X), self._family), axis=1)

    def fit_predict(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Array:
        """``fit(X, sample_weight=sample_weight).predict(X)``."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def bic(self, X: Samples) -> float:
        """−2 log-likelihood of X + log(n)·parameters: smaller is better."""
        return -2 * self.score(X) * len(X) + self._n_parameters() * float(np.log(len(X)))

    def aic(self, X: Samples) -> float:
        """−2 log-likelihood of X + 2·parameters: smaller is better."""
        return -2 * self.score(X) * len(X) + 2 * self._n_parameters()

    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        return int(self._family.count(k, d) + k * d + k - 1)

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw new samples; with an int as ``random_state`` the same in every call.

        Parameters
        ----------
        n_samples : int, default=1
            How many.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The samples, component by component.
        labels : ndarray of shape (n_samples,)
            The components they come from.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(coded(f"n_samples={n_samples}: draw at least one.", "M205"))
        rng = drawn_from(self.random_state)
        k, d = self.means_.shape
        counts = rng.multinomial(n_samples, self.weights_)
        labels = np.repeat(np.arange(k), counts)
        roots = np.linalg.cholesky(self._family.dense(self.covariances_, k, d))
        noise = rng.standard_normal((n_samples, d))
        return self.means_[labels] + np.einsum("ide,ie->id", roots[labels], noise), labels

    def score_vectors(self, X: Samples) -> Array:
        """∇ log p(x) in η (π = softmax of η_1, …, η_{k−1}, 0), in the means and in the free numbers of the covariances
        (of a symmetric matrix, those on and above its diagonal).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_parameters)
            One gradient a row: what the kernel ``Fisher`` is made of.
        """
        X, mixture = self._accepted(X)
        logs = joint(X, mixture, self._family)
        R = np.exp(logs - logsumexp(logs, axis=1)[:, None])
        deviations = X[:, None, :] - mixture.means
        k, d = mixture.means.shape
        precisions = np.linalg.inv(self._family.dense(mixture.covariances, k, d))
        means = R[:, :, None] * np.einsum("kde,ike->ikd", precisions, deviations)
        slopes = self._family.slopes(R, deviations, mixture.covariances)
        return np.concatenate([(R - self.weights_)[:, :-1], means.reshape(len(X), -1), slopes], axis=1)


def _shape(covariance_type: str, k: int, d: int) -> tuple[int, ...]:
    """That of the covariances of k components of d columns."""
    return {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[covariance_type]


def _inverted(family: Family, precisions: Array) -> Array:
    least = float(np.linalg.eigvalsh(precisions).min() if family.matrices else precisions.min())
    if not least > 0:
        raise ValueError(
            coded(f"precisions_init must be positive definite, and has an eigenvalue of {least:.3g}.", "M209")
        )
    return family.of_precisions(precisions)


def _given(value: object, shape: tuple[int, ...], name: str) -> Array | None:
    if value is None:
        return None
    out = np.asarray(value, np.float64)
    if out.shape != shape:
        raise ValueError(coded(f"{name} should have the shape {shape}, got {out.shape}.", "M205"))
    if not np.isfinite(out).all():
        raise ValueError(coded(f"{name} holds NaN or infinity.", "M101"))
    return out
