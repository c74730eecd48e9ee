"""Support vector regression: the ε-insensitive loss, and ν in ε's place, for any number of outputs over one matrix."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from mercer.arrays import Array
from mercer.estimators.machine import ManyOutputs, Supervised, SupportVectorMachine, check_nu, filled
from mercer.estimators.parameters import KernelLike, SolverParameters, estimator
from mercer.gram import Gram, Use, held
from mercer.kernels.vectors.radial import Gaussian
from mercer.losses import EpsilonInsensitive
from mercer.problems import DualQP, Solution


class Regressor(ManyOutputs, RegressorMixin, Supervised, SupportVectorMachine):  # type: ignore[misc]
    """Regression machines: one problem for each output, over one matrix."""

    C: float
    _targets: ClassVar[dict[str, bool]] = {"y_numeric": True, "multi_output": True}

    def _dual(self, y: Array, C: Array) -> DualQP:
        raise NotImplementedError

    def _bias(self, solution: Solution) -> float:
        raise NotImplementedError

    def _feasible(self) -> None:
        self._positive("C")

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Any = None) -> None:
        self._feasible()
        solver, targets = self._solver(), y.reshape(len(y), -1)
        gram = held(gram, Use.ACTIVE) if targets.shape[1] > 1 else gram
        solutions = []
        coef = np.zeros(targets.shape)
        for t in range(targets.shape[1]):
            problem = self._dual(targets[:, t], self._positive("C") * weights)
            s = solver.solve(problem, gram)
            coef[:, t] = problem.items(s.coef, len(y))
            solutions.append(s)
        self._keep(coef)
        self.n_support_ = np.array([len(self.support_)], np.int32)
        self.intercept_ = np.array([self._bias(s) for s in solutions])
        self._single = y.ndim == 1
        self._report(solutions, X)

    def predict(self, X: Any) -> Array:
        """f(x) for each sample."""
        values = self._values(X)
        return values[:, 0] if self._single else values


@estimator
class SVR(Regressor, SolverParameters):
    """min ½‖w‖² + Σ_i C w_i max(0, |y_i − f(x_i)| − ε): errors up to ε are free. Several outputs share the matrix."""

    C: float = 1.0
    epsilon: float = 0.1
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    fit_intercept: bool = True

    def _feasible(self) -> None:
        super()._feasible()
        EpsilonInsensitive(self.epsilon)

    def _dual(self, y: Array, C: Array) -> DualQP:
        return EpsilonInsensitive(self.epsilon).dual(y, C, self.fit_intercept)

    def _bias(self, solution: Solution) -> float:
        return float(solution.multipliers[0]) if self.fit_intercept else 0.0


@estimator
class NuSVR(Regressor, SolverParameters):
    """SVR where ν, not ε, is chosen: at most a share ν of the samples lie outside the tube, whose width ``epsilon_``
    follows.
    """

    nu: float = 0.5
    C: float = 1.0
    kernel: KernelLike = Gaussian()

    def _feasible(self) -> None:
        super()._feasible()
        check_nu(self)

    def _dual(self, y: Array, C: Array) -> DualQP:
        if float(C.sum()) * np.finfo(np.float64).eps > self.tol:
            raise ValueError(
                f"NuSVR: C times the weights adds up to {float(C.sum()):.3g}, and float64 cannot resolve"
                f" tol={self.tol:g} beside such a sum. Give a smaller C, or smaller weights: beyond some 10⁹ the"
                " machine no longer changes."
            )
        n, zero = len(y), np.zeros(len(y))
        half = filled(C, self.nu * C.sum() / 2)
        item, group = np.concatenate([np.arange(n), np.arange(n)]), np.repeat(np.array([0, 1], np.int8), n)
        start = np.concatenate([half, -half])
        return DualQP(
            np.concatenate([-y, -y]), np.concatenate([zero, -C]), np.concatenate([C, zero]), start, item, group
        )

    def _bias(self, solution: Solution) -> float:
        above, below = solution.multipliers
        self.epsilon_ = float(above - below) / 2
        return float(above + below) / 2
