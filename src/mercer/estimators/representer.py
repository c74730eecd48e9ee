"""The representer theorem as an estimator, any loss and kernel: one file, since the machines differ in the loss alone.

    min Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖²,   f = Σ_i α_i k(·, x_i) + b

Whatever the loss, the minimiser is a sum over the training items; the bias is not penalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.estimators.machine import Supervised, Weighted
from mercer.estimators.parameters import CenterParameters, KernelLike, LossParameters, SolverParameters, estimator
from mercer.estimators.spread import SpreadPasses, SpreadSamples, checked_targets
from mercer.gram import Gram, Landmarks, Outline, Use, Work, held, outlined
from mercer.kernels.vectors.radial import Gaussian
from mercer.losses import Expectile, Huber, Loss, Pinball, Poisson, Squared
from mercer.problems import SmoothSolution
from mercer.solvers import erm
from mercer.solvers.dual import Tried
from mercer.solvers.erm import Limits, minimise
from mercer.solvers.spread import Spread
from mercer.solvers.spread_erm import minimise_spread
from mercer.troubles import coded

_FEW = 100  # targets that a loss is asked about


class LossMachine(Supervised, Weighted):
    """What machines with a loss share: the call of the solver, and its report."""

    alpha: float
    fit_intercept: bool
    solver: str

    def _limits(self) -> Limits:
        keep = self.on_interrupt == "keep"
        return Limits(self.tol, self.max_iter, solver=self.solver, keep_on_interrupt=keep)

    def _keep_fits(self, fits: list[SmoothSolution]) -> None:
        """The coefficients of all functions, and of their landmarks where the solver knows those."""
        self._keep(np.column_stack([fit.coef for fit in fits]))
        known = [fit.of_landmarks for fit in fits if fit.of_landmarks is not None]
        if len(known) == len(fits):
            self._of_landmarks = np.column_stack(known)

    def _spread_fit(
        self, loss: Loss, passes: SpreadPasses, marks: Landmarks, ridge: float, limits: Limits
    ) -> SmoothSolution:
        """The function that minimises one loss, on samples that are spread."""
        if self.solver != "auto":
            raise ValueError(coded(f"solver={self.solver!r}: of a Dask collection there is but 'auto'.", "M205"))
        budget = marks.values.compute.budget
        return minimise_spread(loss, Spread(passes, marks.factor), ridge, self.fit_intercept, limits, budget)

    def _finish_spread(self, fits: list[SmoothSolution]) -> None:
        """The fitted attributes, from functions of the landmarks."""
        self._of_landmarks = np.column_stack([np.asarray(fit.of_landmarks) for fit in fits])
        self.intercept_ = np.concatenate([np.atleast_1d(np.asarray(fit.bias, np.float64)) for fit in fits])
        self._report(fits, None)

    def _report(self, fits: list[SmoothSolution], X: Samples) -> None:
        """The fitted attributes about convergence, and a warning where there was none."""
        worst = max(fits, key=lambda fit: (fit.stop_reason != "gap", fit.gap))
        self.n_iter_ = int(sum(fit.n_iter for fit in fits))
        self.gap_, self.objective_ = worst.gap, float(sum(fit.objective for fit in fits))
        self.converged_, self.stop_reason_ = all(fit.stop_reason == "gap" for fit in fits), worst.stop_reason
        self.solver_ = fits[0].solver
        if not self.converged_:
            self._warn(worst.stop_reason, worst.gap, worst.note, X)


class LossRegressor(RegressorMixin, LossMachine):  # type: ignore[misc]
    """Regression with a loss; ``_losses`` says which, one for each function that is sought."""

    _targets: ClassVar[dict[str, bool]] = {"y_numeric": True}

    def _losses(self) -> list[Loss]:
        raise NotImplementedError

    @property
    def _one(self) -> bool:
        return True

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Samples = None) -> None:
        ridge, limits, losses = self._positive("alpha"), self._limits(), self._losses()
        for loss in losses:
            loss.check(y)
            if loss.outputs(y):
                raise ValueError(
                    coded(
                        f"{loss} is of several functions at once, which this machine does not fit; for classes there is"
                        " KernelLogistic.",
                        "M316",
                    )
                )
        gram = held(gram, Use.ACTIVE) if len(losses) > 1 else gram
        fits = [minimise(loss, y, weights, ridge, self.fit_intercept, gram, limits) for loss in losses]
        self._keep_fits(fits)
        self.intercept_, self._trained = np.array([fit.bias for fit in fits]), losses
        self._report(fits, X)

    def _learn_spread(self, passes: SpreadPasses, samples: SpreadSamples, marks: Landmarks) -> None:
        ridge, limits, losses = self._positive("alpha"), self._limits(), self._losses()
        for loss in losses:
            passes.each("looking at the targets", checked_targets, loss)
        fits = [self._spread_fit(loss, passes, marks, ridge, limits) for loss in losses]
        self._trained = losses
        self._finish_spread(fits)

    def _cost(self, outline: Outline, y: Array, tried: Tried) -> Work:
        losses = self._losses()
        matrix, made = outlined(outline, Use.ACTIVE) if len(losses) > 1 else (outline, Work())
        some = np.asarray(y, np.float64)[:_FEW]
        found = erm.outlook(losses[0], some, self.fit_intercept, matrix, self.solver, self.tol, tried)
        return found.times(len(losses)).beside(made.memory, made.seconds)

    def predict(self, X: Samples) -> Array:
        """What the loss predicts for each sample: E[y] or the like.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``loss.mean(f(x))``: f(x) itself for most losses, e^f(x) for Poisson's, P(y = 1) for the logistic one.
        """
        values = self._values(X)
        return self._trained[0].mean(values[:, 0])


@estimator
class RepresenterMachine(LossRegressor, LossParameters):
    """min Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖² + (no penalty on b), for a loss of ``mercer.losses`` or of your own.

    Whatever the loss, the minimiser is a sum over the training samples, f = Σ_i α_i k(·, x_i) + b. The solver follows
    from the loss: one linear system for ``Squared``, a quadratic programme for straight pieces (``Hinge``, ``Pinball``,
    ``EpsilonInsensitive``), splitting for corners with a ``prox``, else Newton's method, or L-BFGS without a curvature.

    Parameters
    ----------
    loss : Loss or None, default=None
        A ``mercer.losses.Loss``; None: ``Squared()``. A loss of ±1 labels is given those. One of your own is a subclass
        with ``value`` and ``gradient``.
    alpha : float, default=1.0
        λ > 0; the C of a support vector machine is 1/(2λ).
    tol : float or None, default=1e-9
        The gap to reach, in the units of the solver: of a linear system its residual as a share of y; of Newton's
        method and L-BFGS the fall of the objective that is still expected, as a share of it; of a quadratic programme
        the violation of the optimality conditions, in units of f; of splitting the relative distance of its two halves,
        at least 1e-6. None: the solver's own.
    max_iter : int or None, default=None
        The most steps of the solver; None: 200 of Newton's method, 2000 of L-BFGS, 5000 of splitting, 500 of conjugate
        gradients, 10⁶ + 1000 n of a quadratic programme.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_support)
        α of the samples where it is not 0.
    intercept_ : ndarray of shape (1,)
        b.
    support_, support_vectors_, coef_, function_, gap_, objective_, converged_, stop_reason_, n_iter_, solver_, kernel_
    n_features_in_, feature_names_in_

    See Also
    --------
    KernelRidge : The squared loss, several outputs, and its uncertainty.
    KernelHuber, KernelExpectile, KernelPoisson, KernelQuantile : Losses with a name.
    KernelLogistic : Classes.

    References
    ----------
    B. Schölkopf, R. Herbrich and A. Smola, A generalized representer theorem, COLT (2001).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> from mercer.losses import EpsilonInsensitive, Squared
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> machine = mc.RepresenterMachine(EpsilonInsensitive(0.1), alpha=0.05, kernel=mc.Gaussian(1.0)).fit(X, y)
    >>> same = mc.SVR(C=10.0, epsilon=0.1, kernel=mc.Gaussian(1.0)).fit(X, y)  # C = 1/(2λ)
    >>> bool(np.allclose(machine.predict(X), same.predict(X), atol=1e-3)), machine.solver_
    (True, 'dual')
    >>> mc.RepresenterMachine(Squared(), alpha=0.05).fit(X, y).solver_
    'cholesky'
    """

    loss: Loss | None = None
    alpha: float = 1.0
    kernel: KernelLike = Gaussian()

    def _losses(self) -> list[Loss]:
        if self.loss is not None and not isinstance(self.loss, Loss):
            raise TypeError(
                coded(
                    f"loss={self.loss!r}: give a loss such as mercer.losses.Huber(1.0), or a subclass of"
                    " mercer.losses.Loss.",
                    "M205",
                )
            )
        return [self.loss or Squared()]


@estimator
class KernelHuber(LossRegressor, LossParameters):
    """Regression that outliers do not bend: errors are squared up to ``delta`` and count by their size beyond it.

    min Σ_i w_i ℓ(y_i − f(x_i)) + λ‖f‖², ℓ(r) = ½r² for |r| ≤ δ, δ(|r| − δ/2) beyond.

    Parameters
    ----------
    alpha : float, default=1.0
        λ > 0; half that of ``KernelRidge`` for the same f, where no error exceeds δ.
    delta : float, default=1.35
        δ > 0, in the units of y: about 1.35 times the standard deviation of the errors that are not outliers.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_support)
        α of the samples.
    intercept_ : ndarray of shape (1,)
        b.
    support_, support_vectors_, coef_, function_, gap_, objective_, converged_, stop_reason_, n_iter_, solver_, kernel_
    n_features_in_, feature_names_in_

    See Also
    --------
    KernelQuantile : The median, which no size of an outlier moves.
    SVR : Errors up to ε are free.
    RepresenterMachine : Any other loss.

    References
    ----------
    P. J. Huber, Robust estimation of a location parameter, Annals of Mathematical Statistics 35 (1964).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> y = 2 * X[:, 0]
    >>> y[40] = 50.0  # an outlier
    >>> robust = mc.KernelHuber(alpha=0.1, delta=0.1, kernel=mc.Linear()).fit(X, y)
    >>> squared = mc.KernelRidge(alpha=0.2, kernel=mc.Linear()).fit(X, y)
    >>> robust.coef_.round(1), squared.coef_.round(1)
    (array([2.]), array([3.7]))
    """

    alpha: float = 1.0
    delta: float = 1.35
    kernel: KernelLike = Gaussian()

    def _losses(self) -> list[Loss]:
        return [Huber(self.delta)]


@estimator
class KernelExpectile(LossRegressor, LossParameters):
    """The τ-expectile of y given x: errors above count τ, below 1 − τ, squared. τ = ½ is the mean.

    min Σ_i w_i |τ − [y_i < f(x_i)]| (y_i − f(x_i))² + λ‖f‖². Expectiles lie between the mean and the extremes as
    quantiles do, but follow the size of errors, not their number.

    Parameters
    ----------
    alpha : float, default=1.0
        λ > 0; half that of ``KernelRidge`` for the same f at τ = ½.
    tau : float, default=0.5
        τ, between 0 and 1.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_support)
        α of the samples.
    intercept_ : ndarray of shape (1,)
        b.
    support_, support_vectors_, coef_, function_, gap_, objective_, converged_, stop_reason_, n_iter_, solver_, kernel_
    n_features_in_, feature_names_in_

    See Also
    --------
    KernelQuantile : Quantiles, several at once.
    KernelRidge : The mean.

    References
    ----------
    W. K. Newey and J. L. Powell, Asymmetric least squares estimation and testing, Econometrica 55 (1987).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (200, 1))
    >>> y = X[:, 0] * (1 + rng.exponential(size=200))  # wider to the right
    >>> machines = [mc.KernelExpectile(0.1, tau, mc.Gaussian(1.0)).fit(X, y) for tau in (0.1, 0.9)]
    >>> low, high = (machine.predict([[0.1], [0.9]]) for machine in machines)
    >>> (high - low).round(1)
    array([0.2, 1.3])
    """

    alpha: float = 1.0
    tau: float = 0.5
    kernel: KernelLike = Gaussian()

    def _losses(self) -> list[Loss]:
        return [Expectile(self.tau)]


@estimator
class KernelPoisson(LossRegressor, LossParameters):
    """Counts: E[y | x] = e^f(x), by maximum likelihood with a penalty on ‖f‖².

    min Σ_i w_i (e^f(x_i) − y_i f(x_i)) + λ‖f‖², y_i ≥ 0.

    Parameters
    ----------
    alpha : float, default=1.0
        λ > 0.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_support)
        α of the samples.
    intercept_ : ndarray of shape (1,)
        b.
    support_, support_vectors_, coef_, function_, gap_, objective_, converged_, stop_reason_, n_iter_, solver_, kernel_
    n_features_in_, feature_names_in_

    See Also
    --------
    KernelLogistic : Classes.
    RepresenterMachine : Any other loss.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (300, 1))
    >>> y = rng.poisson(np.exp(1 + X[:, 0]))
    >>> counts = mc.KernelPoisson(alpha=0.1, kernel=mc.Linear()).fit(X, y)
    >>> counts.coef_.round(1), counts.intercept_.round(1)  # of log E[y]
    (array([1.]), array([1.]))
    >>> counts.predict([[0.0]]).round(1)
    array([2.7])
    """

    alpha: float = 1.0
    kernel: KernelLike = Gaussian()

    def _losses(self) -> list[Loss]:
        return [Poisson()]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


@estimator
class KernelQuantile(LossRegressor, CenterParameters, SolverParameters):
    """Quantiles of y given x, one or several at once, that never cross.

    Each minimises the pinball loss, Σ_i w_i max(τr_i, (τ − 1)r_i) + λ‖f‖² with r_i = y_i − f(x_i), by a quadratic
    programme of its own over one matrix. Predictions are then sorted across the quantiles, which never raises the
    summed loss.

    Parameters
    ----------
    quantiles : float or list of float, default=0.5
        A share τ between 0 and 1, or a list of them; predictions have one column for each, in their order.
    alpha : float, default=1.0
        λ > 0; the coefficients are between (τ − 1)/(2λ) and τ/(2λ).
    tol : float, default=1e-4
        The gap to reach: the largest violation of the optimality conditions, in the units of y.
    max_iter : int or None, default=None
        The most steps of two variables, for each quantile; None: 10⁶ + 1000 n_samples.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_quantiles, n_support)
        Coefficients, one row for each quantile.
    intercept_ : ndarray of shape (n_quantiles,)
        b of each quantile.
    support_, support_vectors_, coef_, function_, gap_, objective_, converged_, stop_reason_, n_iter_, solver_, kernel_
    n_features_in_, feature_names_in_

    See Also
    --------
    KernelExpectile : Squared errors, counted differently above and below.
    ConformalRegressor : Intervals that hold the promised share of new y.
    NuSVR : A tube of one width.

    References
    ----------
    I. Takeuchi et al., Nonparametric quantile estimation, JMLR 7 (2006).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (200, 1))
    >>> y = X[:, 0] * rng.standard_normal(200)  # wider to the right
    >>> machine = mc.KernelQuantile([0.1, 0.5, 0.9], alpha=0.01, kernel=mc.Gaussian(1.0)).fit(X, y)
    >>> below = y[:, None] < machine.predict(X)
    >>> below.mean(axis=0).round(1)
    array([0.1, 0.5, 0.9])
    >>> np.diff(machine.predict([[0.1], [0.9]])[:, [0, 2]]).ravel().round(1)
    array([0.2, 2.1])
    """

    quantiles: float | Sequence[float] | Array = 0.5
    alpha: float = 1.0
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    fit_intercept: bool = True
    tol: float = 1e-4

    solver = "auto"

    def _losses(self) -> list[Loss]:
        wanted = np.atleast_1d(np.asarray(self.quantiles, np.float64))
        if wanted.ndim != 1 or not len(wanted):
            raise ValueError(
                coded(
                    f"KernelQuantile(quantiles={self.quantiles!r}): a share between 0 and 1, or a list of them.", "M205"
                )
            )
        return [Pinball(float(tau)) for tau in wanted]

    @property
    def _one(self) -> bool:
        return np.ndim(self.quantiles) == 0 and len(self._trained) == 1

    def predict(self, X: Samples) -> Array:
        """The quantiles of y at each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples.

        Returns
        -------
        ndarray of shape (n_samples,) for one quantile, (n_samples, n_quantiles) for a list
        """
        values = self._values(X)
        if self._one:
            return values[:, 0]
        order = np.argsort([loss.tau for loss in self._trained], kind="stable")  # type: ignore[attr-defined]
        out = np.empty_like(values)
        out[:, order] = np.sort(values, axis=1)
        return out
