"""Gaussian mixtures by EM, in logarithms."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from mercer.backend import Array
from mercer.estimators.model import Model

_LOG_TWO_PI = float(np.log(2 * np.pi))


class GaussianMixture(DensityMixin, Model):  # type: ignore[misc]  # scikit-learn has no types
    """p(x) = Σ_k π_k N(x; μ_k, diag v_k), fitted by expectation–maximisation: each step makes the likelihood larger, never smaller.

    n_init
        Starts, from k-means++ centres; the likeliest is kept.
    reg_covar
        Added to the variances, so that no component shrinks to a point.

    ``score_vectors`` is the gradient of log p(x) in the parameters, for the ``Fisher`` kernel.
    """

    def __init__(self, n_components: int = 1, *, tol: float = 1e-6, reg_covar: float = 1e-6, max_iter: int = 500, n_init: int = 1,
                 random_state: Any = None) -> None:  # fmt: skip
        self.n_components, self.tol, self.reg_covar = n_components, tol, reg_covar
        self.max_iter, self.n_init, self.random_state = max_iter, n_init, random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if not (isinstance(self.n_components, int | np.integer) and self.n_components >= 1):
            raise ValueError(f"n_components={self.n_components!r}: give a whole number of at least 1.")
        if len(X) < self.n_components:
            raise ValueError(f"n_components={self.n_components} is more than the n_samples={len(X)}.")
        w = np.ones(len(X)) if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        rng = check_random_state(self.random_state)
        centre = X.mean(axis=0)  # far from the origin, x² − mean² would lose the variance
        best = max((self._climb(X - centre, w, rng) for _ in range(self.n_init)), key=lambda run: run[0])
        self.lower_bound_, self.weights_, means, self.covariances_, self.n_iter_, self.converged_ = best
        self.means_ = means + centre
        return self

    def _climb(self, X: Array, w: Array, rng: Any) -> tuple[Any, ...]:
        """One start: (mean log-likelihood, weights, means, variances, steps, whether it converged)."""
        parameters = self._maximise(X, w, _nearest(X, _spread_out(X, w, self.n_components, rng)))
        before, converged = -np.inf, False
        steps = 0
        while steps < self.max_iter and not converged:
            steps += 1
            joint = _joint(X, *parameters)
            log_p = logsumexp(joint, axis=1)
            bound = float(w @ log_p / w.sum())
            parameters = self._maximise(X, w, np.exp(joint - log_p[:, None]))
            converged, before = bound - before < self.tol, bound
        bound = float(w @ logsumexp(_joint(X, *parameters), axis=1) / w.sum())
        return bound, *parameters, steps, converged

    def _maximise(self, X: Array, w: Array, shares: Array) -> tuple[Array, Array, Array]:
        R = shares * w[:, None]
        total = R.sum(axis=0) + 10 * np.finfo(np.float64).eps
        means = R.T @ X / total[:, None]
        variances = np.maximum(R.T @ (X * X) / total[:, None] - means**2, 0.0) + self.reg_covar
        return total / total.sum(), means, variances

    def _accepted(self, X: Any) -> Array:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def score_samples(self, X: Any) -> Array:
        """log p(x)."""
        out: Array = logsumexp(_joint(self._accepted(X), self.weights_, self.means_, self.covariances_), axis=1)
        return out

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of log p(x)."""
        return float(self.score_samples(X).mean())

    def predict_proba(self, X: Any) -> Array:
        """The share of each component in p(x)."""
        joint = _joint(self._accepted(X), self.weights_, self.means_, self.covariances_)
        return np.exp(joint - logsumexp(joint, axis=1)[:, None])

    def predict(self, X: Any) -> Array:
        """The component with the largest share."""
        return np.argmax(self.predict_proba(X), axis=1)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def score_vectors(self, X: Any) -> Array:
        """∇ log p(x) in η (π = softmax of η_1, …, η_{k−1}, 0), in the means and in the variances, one row for each sample."""
        X = self._accepted(X)
        R = self.predict_proba(X)
        deviation = (X[:, None, :] - self.means_) / self.covariances_
        means = R[:, :, None] * deviation
        variances = R[:, :, None] * (deviation**2 - 1 / self.covariances_) / 2
        return np.concatenate([(R - self.weights_)[:, :-1], means.reshape(len(X), -1), variances.reshape(len(X), -1)], axis=1)


def _joint(X: Array, weights: Array, means: Array, variances: Array) -> Array:
    """log π_k N(x; μ_k, v_k) for each sample and component, distances as sums of products."""
    inverse = 1 / variances
    centre = X.mean(axis=0)
    Z, M = X - centre, means - centre
    distance = (Z * Z) @ inverse.T - 2 * Z @ (M * inverse).T + (M * M * inverse).sum(axis=1)
    return np.log(weights) - 0.5 * (np.maximum(distance, 0.0) + np.log(variances).sum(axis=1) + X.shape[1] * _LOG_TWO_PI)


def _spread_out(X: Array, w: Array, k: int, rng: Any) -> Array:
    """k-means++: each next centre a sample, chosen by its squared distance to the nearest so far."""
    chosen = [int(rng.choice(len(X), p=w / w.sum()))]
    distance = np.full(len(X), np.inf)
    while len(chosen) < k:
        distance = np.minimum(distance, ((X - X[chosen[-1]]) ** 2).sum(axis=1))
        share = w * distance
        chosen.append(int(rng.choice(len(X), p=share / share.sum()) if share.sum() > 0 else rng.choice(len(X))))
    return X[chosen]


def _nearest(X: Array, centres: Array) -> Array:
    """1 for the nearest centre, 0 for the others."""
    distance = (centres**2).sum(axis=1) - 2 * X @ centres.T
    return np.eye(len(centres))[np.argmin(distance, axis=1)]
