"""The representer theorem as an estimator: any convex loss, any kernel.

    min Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖²,   f = Σ_i α_i k(·, x_i) + b

Whatever the loss, the minimiser is a sum over the training items; the bias is not penalised.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from mercer.arrays import Array
from mercer.estimators.machine import Supervised, Weighted
from mercer.estimators.parameters import KernelLike, SolverParameters, estimator
from mercer.gram import Gram, Use, held
from mercer.kernels.vectors.radial import Gaussian
from mercer.losses import Expectile, Huber, Loss, Pinball, Poisson, Squared
from mercer.problems import SmoothSolution
from mercer.solvers.erm import Limits, minimise


class LossMachine(Supervised, Weighted):
    """What machines with a loss share: the call of the solver, and its report."""

    alpha: Any
    fit_intercept: bool
    solver: str

    def _limits(self) -> Limits:
        keep = self.on_interrupt == "keep"
        return Limits(self.tol, self.max_iter, solver=self.solver, keep_on_interrupt=keep)

    def _report(self, fits: list[SmoothSolution], X: Any) -> None:
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

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Any = None) -> None:
        ridge, limits, losses = self._positive("alpha"), self._limits(), self._losses()
        for loss in losses:
            loss.check(y)
            if loss.outputs(y):
                raise ValueError(
                    f"{loss} is of several functions at once, which this machine does not fit; for classes there is"
                    " KernelLogistic."
                )
        gram = held(gram, Use.ACTIVE) if len(losses) > 1 else gram
        fits = [minimise(loss, y, weights, ridge, self.fit_intercept, gram, limits) for loss in losses]
        self._keep(np.column_stack([fit.coef for fit in fits]))
        self.intercept_, self._trained = np.array([fit.bias for fit in fits]), losses
        self._report(fits, X)

    def predict(self, X: Any) -> Array:
        """What the loss predicts for each sample: E[y] or the like."""
        values = self._values(X)
        return self._trained[0].mean(values[:, 0])


@estimator
class RepresenterMachine(LossRegressor, SolverParameters):
    """min Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖² + (no penalty on b), for a loss of ``mercer.losses`` or of your own.

    loss
        A ``mercer.losses.Loss``; None: ``Squared()``. A loss of ±1 labels is given those.
    alpha
        λ.
    kernel
        Any kernel; None: ``Gaussian()``; "precomputed": X is the matrix.
    solver
        How systems are solved: "auto", "cholesky", "woodbury" (explicit kernels) or "cg". ``solver_`` says what was
        used.
    tol
        The gap to reach, in the units of the solver; None: its own.
    """

    loss: Loss | None = None
    alpha: float = 1.0
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    fit_intercept: bool = True
    solver: str = "auto"
    tol: float = 1e-9

    def _losses(self) -> list[Loss]:
        if self.loss is not None and not isinstance(self.loss, Loss):
            raise TypeError(
                f"loss={self.loss!r}: give a loss such as mercer.losses.Huber(1.0), or a subclass of"
                " mercer.losses.Loss."
            )
        return [self.loss or Squared()]


@estimator
class KernelHuber(LossRegressor, SolverParameters):
    """Regression that outliers do not bend: errors are squared up to ``delta`` and count by their size beyond it."""

    alpha: float = 1.0
    delta: float = 1.35
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    fit_intercept: bool = True
    solver: str = "auto"
    tol: float = 1e-9

    def _losses(self) -> list[Loss]:
        return [Huber(self.delta)]


@estimator
class KernelExpectile(LossRegressor, SolverParameters):
    """The τ-expectile of y given x: errors above count τ, below 1 − τ, squared. τ = ½ is the mean."""

    alpha: float = 1.0
    tau: float = 0.5
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    fit_intercept: bool = True
    solver: str = "auto"
    tol: float = 1e-9

    def _losses(self) -> list[Loss]:
        return [Expectile(self.tau)]


@estimator
class KernelPoisson(LossRegressor, SolverParameters):
    """Counts: E[y | x] = e^f(x), by maximum likelihood with a penalty on ‖f‖²."""

    alpha: float = 1.0
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    fit_intercept: bool = True
    solver: str = "auto"
    tol: float = 1e-9

    def _losses(self) -> list[Loss]:
        return [Poisson()]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


@estimator
class KernelQuantile(LossRegressor, SolverParameters):
    """Quantiles of y given x, one or several at once, that never cross.

    Each minimises the pinball loss by a quadratic programme of its own over one matrix. Predictions are then sorted
    across the quantiles, which never raises the summed loss.

    quantiles
        A share between 0 and 1, or a list of them; predictions have one column for each, in their order.
    """

    quantiles: Any = 0.5
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
                f"KernelQuantile(quantiles={self.quantiles!r}): a share between 0 and 1, or a list of them."
            )
        return [Pinball(float(tau)) for tau in wanted]

    @property
    def _one(self) -> bool:
        return np.ndim(self.quantiles) == 0 and len(self._trained) == 1

    def predict(self, X: Any) -> Array:
        """(n,) for one quantile, (n, quantiles) for a list."""
        values = self._values(X)
        if self._one:
            return values[:, 0]
        order = np.argsort([loss.tau for loss in self._trained], kind="stable")  # type: ignore[attr-defined]
        out = np.empty_like(values)
        out[:, order] = np.sort(values, axis=1)
        return out
