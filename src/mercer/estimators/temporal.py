"""Canonical correlation in time: which past or future of one series goes with another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np

from mercer.annotations import RandomState, Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import listed, size
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.cca import Column, as_pair, candidates_of, split
from mercer.estimators.checks import check_whole
from mercer.estimators.parameters import KernelLike, WithKernels, estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.kernels.vectors.radial import Gaussian
from mercer.runtime.randomness import drawn_from
from mercer.solvers.correlation import Spectra, canonical, choose_reg, correlations
from mercer.solvers.incomplete import incomplete_cholesky
from mercer.troubles import coded

_COLUMNS = 2000  # of all lags together, without a rank given
_FEW = 300  # components with which regularisations are compared
_FOLDS = 5


class TimeFeatures(Column):
    """A series as features g(t) of its moments, from an incomplete factor: k(x(t), x(t′)) = ⟨g(t), g(t′)⟩."""

    def __init__(self, kernel: KernelLike = None, *, compute: Compute | None = None) -> None:
        self.kernel, self.compute = kernel, compute

    def fit(self, X: Samples, rank: int) -> Array:
        """Returns g, one row for each moment."""
        if isinstance(self.kernel, str):
            raise ValueError(
                coded(
                    "TemporalKernelCCA compares moments at several lags; give kernels, not precomputed matrices.",
                    "M213",
                )
            )
        X = self._accept(X, reset=True)
        gram = self._matrix(X, None)
        found = incomplete_cholesky(gram, rank)
        self._keep_pivots(found, np.eye(len(found.pivots)), np.zeros(len(found.pivots)))
        self._remember(X, gram, np.arange(size(X)))
        return found.factor


def embedded(G: Array, max_lag: int) -> Array:
    """(t, τ, features): g(t − τ) for τ = −max_lag … max_lag, at the moments t for which all of them exist."""
    n = len(G) - 2 * max_lag
    return np.stack([G[max_lag - lag : max_lag - lag + n] for lag in range(-max_lag, max_lag + 1)], axis=1)


@estimator
class TemporalKernelCCA(WithKernels):
    """max corr(Σ_τ f_τ(x(t − τ)), g(y(t))) over τ = −max_lag … max_lag: kernel CCA of the embedded x, K̃_x(t, t′) = Σ_τ
    k_x(x(t − τ), x(t′ − τ)), with y.

    It finds which past or future of one series goes with another. Series are on one clock, a row for each moment.

    Parameters
    ----------
    kernel_x, kernel_y : Kernel, str or callable, default=Gaussian()
        A kernel for the moments of each series; not "precomputed".
    max_lag : int, default=10
        In moments. The first and last max_lag moments have no complete past or future and serve only as such.
    n_components : int, default=1
        How many pairs of functions.
    alpha : float, pair, list of these or None, default=None
        As in ``KernelCCA``; regularisations are compared on blocks of time.
    rank : int or None, default=None
        Features of each moment of x and y (incomplete Cholesky); None: as many as there are, at most 2000 over all
        lags.
    n_bootstrap : int, default=200
        How many resamplings ``band_`` is of; 0: there is none.
    random_state : int, RandomState, Generator or None, default=None
        The source of the resamplings.

    Attributes
    ----------
    correlogram_ : ndarray of shape (n_components, 2 max_lag + 1)
        λ(τ) = corr(f_τ(x(t − τ)), g(y(t))).
    lags_ : ndarray of shape (2 max_lag + 1,)
        τ = −max_lag … max_lag.
    best_lag_ : int
        Where |λ| of the first component is largest; positive when y follows x.
    band_ : ndarray of shape (2, n_components, 2 max_lag + 1) or None
        What 95 % of resamplings of blocks of time give for λ(τ), the functions being kept: its lower and upper end.
    alpha_ : tuple of two floats
        γ of each view.
    alpha_scores_ : ndarray of shape (n_candidates,)
        The correlation on held-out blocks of each candidate, where there were several.
    canonical_values_ : ndarray of shape (n_components,)
        The values of the regularised problem, falling.
    correlations_ : ndarray of shape (n_components,)
        The empirical correlations in training, all lags together.
    n_features_in_

    See Also
    --------
    KernelCCA : Of items without an order.
    CorrelogramDisplay : A picture of ``correlogram_`` and ``band_``.

    References
    ----------
    F. Bießmann et al., Temporal kernel CCA and its application in multimodal neuronal data analysis, Machine Learning
    79 (2010).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(150)
    >>> y = np.roll(x, 2) ** 2 + 0.1 * rng.standard_normal(150)  # two moments later
    >>> k = mc.Gaussian(0.5)
    >>> model = mc.TemporalKernelCCA(k, k, max_lag=4, alpha=1.0, rank=20, n_bootstrap=50, random_state=0).fit(x, y)
    >>> model.best_lag_, model.correlogram_.shape, model.band_.shape
    (2, (1, 9), (2, 1, 9))
    """

    kernel_x: KernelLike = Gaussian()
    kernel_y: KernelLike = Gaussian()
    max_lag: int = 10
    _: KW_ONLY
    n_components: int = 1
    alpha: float | Sequence[float | tuple[float, float]] | Array | None = None
    rank: int | None = None
    n_bootstrap: int = 200
    random_state: RandomState = None
    compute: Compute | None = None

    @all_or_nothing
    def fit(self, X: Samples, Y: Samples) -> Self:
        """Find the functions of two series that correlate.

        Parameters
        ----------
        X : array-like of shape (n_moments, n_features) or (n_moments,), or n_moments items
            The series that comes at every lag, a row for each moment.
        Y : array-like of shape (n_moments, n_targets) or (n_moments,), or n_moments items
            The other series, of the same length, at the same moments.

        Returns
        -------
        self
        """
        lag = self.max_lag
        if X is None or Y is None:
            raise ValueError(coded("TemporalKernelCCA correlates two series: fit(X, Y).", "M112"))
        check_whole(self, "n_components")
        check_whole(self, "n_bootstrap", "max_lag", least=0)
        self.__dict__.pop("alpha_scores_", None)  # of a fit before
        X, Y = listed(X), listed(Y)
        T = size(X)
        if size(Y) != T:
            raise ValueError(coded(f"The series have {T} and {size(Y)} moments: they must be on one clock.", "M111"))
        if T - 2 * lag < 10:
            raise ValueError(
                coded(
                    f"{T} moments leave {max(T - 2 * lag, 0)} with a complete past and future of max_lag={lag}: at"
                    " least 10 are needed.",
                    "M310",
                )
            )
        rank = self.rank if self.rank is not None else max(1, _COLUMNS // (2 * lag + 1))
        x, y = TimeFeatures(self.kernel_x, compute=self.compute), TimeFeatures(self.kernel_y, compute=self.compute)
        E = embedded(x.fit(X, min(rank, T)), lag)
        G = y.fit(Y, min(self.rank or _COLUMNS, T))[lag : T - lag]
        n, lags, m = E.shape
        (sx, Vx, mean_x), (sy, Vy, mean_y) = Spectra.of(E.reshape(n, -1)), Spectra.of(G)
        if not (sx.rank and sy.rank):
            raise ValueError(coded("A series is constant to its kernel: there is nothing to correlate.", "M214"))
        candidates = candidates_of(self.alpha, sx, sy)
        if candidates is None:
            self.alpha_ = as_pair(self.alpha)
        else:
            scores = [(s.vectors * np.sqrt(s.values))[:, :_FEW] for s in (sx, sy)]
            self.alpha_, self.alpha_scores_ = choose_reg(
                scores[0], scores[1], self.n_components, candidates, split(np.arange(n), _FOLDS)
            )
        found = canonical(sx, sy, self.n_components, self.alpha_)
        self.canonical_values_ = found.values
        # back to the features of single moments
        weights_x = (Vx @ found.x).reshape(lags, m, -1)
        weights_y = Vy @ found.y
        parts = np.einsum("tlm,lmc->tlc", E, weights_x)  # f_τ(x(t − τ))
        g = G @ weights_y
        self.lags_ = np.arange(-lag, lag + 1)
        self.correlations_ = correlations(parts.sum(axis=1), g)
        self.correlogram_ = np.stack([correlations(parts[:, j], g) for j in range(lags)], axis=1)
        self.best_lag_ = int(self.lags_[np.argmax(np.abs(self.correlogram_[0]))])
        self.band_ = self._band(parts, g) if self.n_bootstrap else None
        x.dual_coef_ = np.einsum("mp,lmc->lcp", x.dual_coef_, weights_x).reshape(-1, x.dual_coef_.shape[1])
        x.intercept_ = np.zeros(len(x.dual_coef_))
        y.dual_coef_, y.intercept_ = weights_y.T @ y.dual_coef_, -(mean_y @ weights_y)
        self._x, self._y, self._offset = x, y, mean_x @ (Vx @ found.x)
        if hasattr(x, "n_features_in_"):
            self.n_features_in_ = x.n_features_in_
        return self

    def _band(self, parts: Array, g: Array) -> Array:
        """The 2.5 and 97.5 % quantiles of λ(τ) over resampled blocks of time, long enough to hold the longest lag."""
        n, lags, count = parts.shape
        rng = drawn_from(self.random_state)
        length = int(min(max(2 * self.max_lag, round(n ** (1 / 3)), 1), max(n // 4, 1)))
        f = parts - parts.mean(axis=0)
        h = (g - g.mean(axis=0))[:, None, :]
        # sums over a block from running sums: 1, f, h, f², h², fh
        terms = np.stack([f, np.broadcast_to(h, f.shape), f * f, np.broadcast_to(h * h, f.shape), f * h])
        running = np.concatenate([np.zeros((5, 1, lags, count)), np.cumsum(terms, axis=1)], axis=1)
        blocks = running[:, length:] - running[:, :-length]
        draws = np.empty((self.n_bootstrap, count, lags))
        for b in range(len(draws)):
            start = rng.choice(blocks.shape[1], size=max(n // length, 1))
            sums = blocks[:, start].sum(axis=1) / (length * len(start))
            cov = sums[4] - sums[0] * sums[1]
            spread = np.sqrt(np.maximum((sums[2] - sums[0] ** 2) * (sums[3] - sums[1] ** 2), 0.0))
            draws[b] = np.divide(cov, spread, out=np.zeros_like(cov), where=spread > 0).T
        return np.quantile(draws, [0.025, 0.975], axis=0)

    def transform(self, X: Samples, Y: Samples = None) -> Any:
        """Σ_τ f_τ(x(t − τ)) at each moment that has max_lag moments before and after it; with the other series, also
        g(y(t)) there.

        Parameters
        ----------
        X : array-like of shape (n_moments, n_features) or (n_moments,), or n_moments items
            A new part of the first series.
        Y : array-like, n_moments items or None, default=None
            The other series at the same moments, or None.

        Returns
        -------
        ndarray of shape (n_moments − 2 max_lag, n_components), or two of them
        """
        check_is_fitted(self)
        lag, X = int(self.lags_[-1]), listed(X)
        scores = self._by_lag(X).sum(axis=1) - self._offset
        if Y is None:
            return scores
        values = self._y._values(Y)
        if len(values) != size(X):
            raise ValueError(
                coded(f"The series have {size(X)} and {len(values)} moments: they must be on one clock.", "M111")
            )
        return scores, values[lag : len(values) - lag]

    def _by_lag(self, X: Samples) -> Array:
        """f_τ(x(t − τ)), (moments, lags, components): what adds up, less ``_offset``, to ``transform``."""
        lag, count = int(self.lags_[-1]), len(self.canonical_values_)
        n = size(X) - 2 * lag
        if n <= 0:
            raise ValueError(
                coded(
                    f"{size(X)} moments are too few for a past and future of max_lag={lag}: give more than {2 * lag}.",
                    "M310",
                )
            )
        values = self._x._values(X).reshape(size(X), 2 * lag + 1, count)
        return np.stack([values[lag - j : lag - j + n, j + lag] for j in range(-lag, lag + 1)], axis=1)
