"""Kernel recursive least squares: the ridge of a stream, inside a budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY
from typing import ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from mercer.annotations import Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.callbacks import watched, with_callbacks
from mercer.estimators.parameters import KernelLike, Progress, estimator
from mercer.estimators.streams import StreamLearner
from mercer.gram import Gram
from mercer.kernels.vectors.radial import Gaussian
from mercer.solvers.recursive import Recursive
from mercer.troubles import coded


@estimator
class KernelRLS(RegressorMixin, StreamLearner):  # type: ignore[misc]
    """min Σ_i w_i (y_i − f(x_i))² + λ‖f‖² over all samples so far, f in the span of those that are kept: kernel
    recursive least squares.

    A sample is kept where its features are not nearly a combination of those of others,
    ‖φ(x) − projection‖² > threshold·k(x, x) (approximate linear dependence), and there is room; else its projection is
    learnt from. The solution is that of ``KernelRidge`` for the projected samples, at any time, for any order: with
    ``threshold=0`` and room for all, of the samples themselves. A sample costs n_support², memory as much.

    Parameters
    ----------
    alpha : float, default=1.0
        λ > 0, that of ``KernelRidge``: it does not grow with the number of samples.
    threshold : float, default=1e-3
        The share of ‖φ(x)‖² that may lie outside the span; 0 keeps every sample while there is room.
    budget : int, default=500
        The most samples that are kept; afterwards the span stays as it is.

    Attributes
    ----------
    projection_error_ : float
        The largest ‖φ(x) − projection‖ of the samples that were not kept.
    n_samples_seen_, support_, support_vectors_, dual_coef_, intercept_, coef_, function_, converged_, stop_reason_
    n_iter_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    KernelRidge : Of samples that are at hand, without a budget.
    KernelSGDRegressor : Any loss, and budget instead of budget² for a sample.

    References
    ----------
    Y. Engel, S. Mannor and R. Meir, The kernel recursive least-squares algorithm, IEEE TSP 52 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (2000, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(2000)
    >>> stream = mc.KernelRLS(0.1, mc.Gaussian(1.0))
    >>> for start in range(0, 2000, 100):
    ...     _ = stream.partial_fit(X[start : start + 100], y[start : start + 100])
    >>> batch = mc.KernelRidge(0.1, mc.Gaussian(1.0)).fit(X, y)
    >>> bool(np.abs(stream.predict(X) - batch.predict(X)).max() < 0.02), len(stream.support_) < 20
    (True, True)
    """

    alpha: float = 1.0
    kernel: KernelLike = Gaussian()
    threshold: float = 1e-3
    budget: int = 500
    _: KW_ONLY
    fit_intercept: bool = True
    max_time: float | None = None
    progress: Progress | None = None
    on_interrupt: str = "raise"
    compute: Compute | None = None

    _targets: ClassVar[dict[str, bool]] = {"y_numeric": True}

    @property
    def _one(self) -> bool:
        return True

    @with_callbacks
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Start anew with these samples, passed once in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            Samples of the kind that the kernel compares. With ``kernel="precomputed"`` their matrix.
        y : array-like of shape (n_samples,)
            The target of each.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its sample; 0 leaves it out.

        Returns
        -------
        self
        """
        self.__dict__.pop("_stream", None)
        return self._fitted(X, y, sample_weight)

    @all_or_nothing
    @watched
    def partial_fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Go on with more samples, in their order. What a kernel takes from data is fixed by the first call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            The next samples of the stream.
        y : array-like of shape (n_samples,)
            The target of each.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its sample; 0 leaves it out.

        Returns
        -------
        self
        """
        X, y = self._entering(X, y)
        self._check()
        fresh = Recursive.empty(self.fit_intercept)
        return self._continued(X, np.asarray(y, np.float64), sample_weight, fresh)

    def _check(self) -> None:
        super()._check()
        self._positive("alpha")
        if not (isinstance(self.threshold, int | float | np.number) and 0 <= self.threshold < 1):
            raise ValueError(
                coded(f"KernelRLS(threshold={self.threshold!r}): a share, at least 0 and less than 1.", "M205")
            )

    def _taking_in(self, gram: Gram, y: Array, weights: Array, order: Array) -> Iterable[int]:
        return self._stream.pass_over(gram, order, y, weights, self.alpha, self.threshold, self.budget)

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Samples = None) -> None:
        self._stream = Recursive.empty(self.fit_intercept)
        self._passed(gram, y, weights, [np.arange(len(y))])

    def _publish(self) -> None:
        coef, bias = self._stream.function()
        self.dual_coef_, self.intercept_ = coef[None], np.array([bias])
        self.projection_error_ = float(np.sqrt(max(self._stream.far[0], 0.0)))

    def predict(self, X: Samples) -> Array:
        """f(x) for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._values(X)[:, 0]
