"""Gaussian mixtures."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from mercer.backend import Array, Compute
from mercer.estimators.checks import check_whole, checked_table
from mercer.estimators.model import Model
from mercer.estimators.whole import whole
from mercer.solvers.em import FAMILIES, Family, Mixture, climb, from_labels, joint, log_likelihoods
from mercer.solvers.lloyd import Points, cluster


class GaussianMixture(DensityMixin, Model):  # type: ignore[misc]  # scikit-learn has no types
    """p(x) = Σ_k π_k N(x; μ_k, Σ_k), fitted by expectation–maximisation: each step makes the likelihood larger, never smaller.

    covariance_type
        "full" (one matrix for each component), "tied" (one for all), "diag" (a variance for each column) or "spherical" (one variance).
    n_init
        Starts, from k-means of k-means++ centres; the likeliest is kept.
    reg_covar
        Added to the variances, so that no component shrinks to a point.
    weights_init, means_init, precisions_init
        Where to start instead, as in scikit-learn.
    """

    def __init__(
        self, n_components: int = 1, *, covariance_type: str = "full", tol: float = 1e-3, reg_covar: float = 1e-6, max_iter: int = 100,
        n_init: int = 1, weights_init: Any = None, means_init: Any = None, precisions_init: Any = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.covariance_type, self.tol, self.reg_covar = n_components, covariance_type, tol, reg_covar
        self.max_iter, self.n_init, self.random_state = max_iter, n_init, random_state
        self.weights_init, self.means_init, self.precisions_init = weights_init, means_init, precisions_init

    @property
    def _family(self) -> Family:
        if self.covariance_type not in FAMILIES:
            raise ValueError(f"covariance_type={self.covariance_type!r}: choose one of {', '.join(map(repr, FAMILIES))}.")
        return FAMILIES[self.covariance_type]

    @whole
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        X = checked_table(self, X, accept_sparse=False, dtype=np.float64, ensure_min_samples=2)
        check_whole(self, "n_components", "n_init", "max_iter")
        for name in ("reg_covar", "tol"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name}={getattr(self, name)!r}: give a number of at least 0.")
        w = np.ones(len(X)) if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        X, w = (X, w) if (w > 0).all() else (X[w > 0], w[w > 0])
        if len(X) < self.n_components:
            raise ValueError(f"n_components={self.n_components} is more than the n_samples={len(X)}.")
        w = w * (len(w) / w.sum())  # their common size does not matter
        family, rng = self._family, check_random_state(self.random_state)
        centre = np.average(X, axis=0, weights=w)  # far from the origin, sums of squares would lose digits
        Z = X - centre
        runs = [
            climb(Z, w, self._start(Z, w, centre, family, rng), family, floor=self.reg_covar, tol=self.tol, max_iter=self.max_iter)
            for _ in range(self.n_init)
        ]
        mixture, self.lower_bound_, self.n_iter_, self.converged_ = max(runs, key=lambda run: run[1])
        self.weights_, self.means_, self.covariances_ = mixture.weights, mixture.means + centre, mixture.covariances
        if not self.converged_:
            warnings.warn(
                f"GaussianMixture stopped after max_iter={self.max_iter} steps, the last of which still gained {self.tol:g} or more in the mean "
                "log-likelihood. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _start(self, Z: Array, w: Array, centre: Array, family: Family, rng: Any) -> Mixture:
        k, d = self.n_components, Z.shape[1]
        weights = _given(self.weights_init, (k,), "weights_init")
        means = _given(self.means_init, (k, d), "means_init")
        shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[self.covariance_type]
        precisions = _given(self.precisions_init, shape, "precisions_init")
        if weights is not None and (np.any(weights < 0) or not np.isclose(weights.sum(), 1)):
            raise ValueError(f"weights_init must be shares that sum to 1, got a sum of {weights.sum():g}.")
        means = None if means is None else means - centre
        if weights is None or means is None or precisions is None:
            points = Points(Z, w, Compute().workers)
            if means is not None:
                labels = points.assigned(means)[0]
            else:
                labels = cluster(points, k, n_init=1, max_iter=100, random_state=rng, tol=1e-4).labels
            start = from_labels(Z, w, labels, k, family, self.reg_covar)
            weights, means = start.weights if weights is None else weights, start.means if means is None else means
            covariances = start.covariances if precisions is None else _inverted(family, precisions)
        else:
            covariances = _inverted(family, precisions)
        return Mixture(weights, means, covariances)

    def _accepted(self, X: Any) -> tuple[Array, Mixture]:
        """X and the mixture, both about the mean of the components."""
        check_is_fitted(self)
        X = checked_table(self, X, accept_sparse=False, dtype=np.float64, reset=False)
        centre = self.weights_ @ self.means_
        return X - centre, Mixture(self.weights_, self.means_ - centre, self.covariances_)

    def score_samples(self, X: Any) -> Array:
        """log p(x)."""
        return log_likelihoods(*self._accepted(X), self._family)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of log p(x)."""
        return float(self.score_samples(X).mean())

    def predict_proba(self, X: Any) -> Array:
        """The share of each component in p(x)."""
        logs = joint(*self._accepted(X), self._family)
        return np.exp(logs - logsumexp(logs, axis=1)[:, None])

    def predict(self, X: Any) -> Array:
        """The component with the largest share."""
        return np.argmax(joint(*self._accepted(X), self._family), axis=1)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def bic(self, X: Any) -> float:
        """−2 log-likelihood + log(n)·parameters: smaller is better."""
        return -2 * self.score(X) * len(X) + self._n_parameters() * float(np.log(len(X)))

    def aic(self, X: Any) -> float:
        """−2 log-likelihood + 2·parameters: smaller is better."""
        return -2 * self.score(X) * len(X) + 2 * self._n_parameters()

    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        return int(self._family.count(k, d) + k * d + k - 1)

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """New samples and the components they come from."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"n_samples={n_samples}: draw at least one.")
        rng = check_random_state(self.random_state)
        k, d = self.means_.shape
        counts = rng.multinomial(n_samples, self.weights_)
        labels = np.repeat(np.arange(k), counts)
        roots = np.linalg.cholesky(self._family.dense(self.covariances_, k, d))
        noise = rng.standard_normal((n_samples, d))
        return self.means_[labels] + np.einsum("ide,ie->id", roots[labels], noise), labels

    def score_vectors(self, X: Any) -> Array:
        """∇ log p(x) in η (π = softmax of η_1, …, η_{k−1}, 0), in the means and in the free numbers of the covariances (of a symmetric matrix, those
        on
        and above its diagonal), one row for each sample."""
        X, mixture = self._accepted(X)
        logs = joint(X, mixture, self._family)
        R = np.exp(logs - logsumexp(logs, axis=1)[:, None])
        deviations = X[:, None, :] - mixture.means
        k, d = mixture.means.shape
        precisions = np.linalg.inv(self._family.dense(mixture.covariances, k, d))
        means = R[:, :, None] * np.einsum("kde,ike->ikd", precisions, deviations)
        slopes = self._family.slopes(R, deviations, mixture.covariances)
        return np.concatenate([(R - self.weights_)[:, :-1], means.reshape(len(X), -1), slopes], axis=1)


def _inverted(family: Family, precisions: Array) -> Array:
    least = float(np.linalg.eigvalsh(precisions).min() if family.matrices else precisions.min())
    if not least > 0:
        raise ValueError(f"precisions_init must be positive definite, and has an eigenvalue of {least:.3g}.")
    return family.of_precisions(precisions)


def _given(value: Any, shape: tuple[int, ...], name: str) -> Array | None:
    if value is None:
        return None
    out = np.asarray(value, np.float64)
    if out.shape != shape:
        raise ValueError(f"{name} should have the shape {shape}, got {out.shape}.")
    if not np.isfinite(out).all():
        raise ValueError(f"{name} holds NaN or infinity.")
    return out
