"""Support vector regression: the ε-insensitive loss, and ν in ε's place, for any number of outputs over one matrix."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.estimators.machine import ManyOutputs, Supervised, SupportVectorMachine, check_nu, filled
from mercer.estimators.parameters import CenterParameters, KernelLike, SolverParameters, estimator
from mercer.estimators.spread import Column, SpreadPasses, SpreadSamples
from mercer.gram import Gram, Landmarks, Outline, Use, Work, held, outlined
from mercer.kernels.vectors.radial import Gaussian
from mercer.losses import EpsilonInsensitive
from mercer.problems import DualQP, Solution
from mercer.solvers import landmark_dual
from mercer.solvers.dual import Tried, outlook
from mercer.solvers.spread import Spread
from mercer.solvers.spread_dual import solve_spread_dual
from mercer.troubles import coded


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

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Samples = None) -> None:
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

    def _cost(self, outline: Outline, y: Array, tried: Tried) -> Work:
        outputs = 1 if np.ndim(y) == 1 else np.shape(y)[1]
        matrix, made = outlined(outline, Use.ACTIVE) if outputs > 1 else (outline, Work())
        some = np.arange(2.0)
        problem = self._dual(some, np.ones(2))
        variables = outline.shape[0] * len(problem) // len(some)
        found = outlook(matrix, variables, tried, usable=landmark_dual.usable(problem), prepared=outputs > 1)
        return found.times(outputs).beside(made.memory, made.seconds)

    def predict(self, X: Samples) -> Array:
        """f(x) for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_outputs) where y had columns
        """
        values = self._values(X)
        return values[:, 0] if self._single else values


@estimator
class SVR(Regressor, CenterParameters, SolverParameters):
    """min ½‖w‖² + Σ_i C w_i max(0, |y_i − f(x_i)| − ε): errors up to ε are free. Several outputs share the matrix.

    Samples inside the tube |y − f| < ε have no coefficient, so f is sparse where ε is large. y may have several
    columns; each has a problem of its own.

    Parameters
    ----------
    C : float, default=1.0
        The weight of an error against ½‖w‖²; ``sample_weight`` multiplies it. It bounds the coefficients, |α_i| ≤ C, so
        it should grow with the scale of y.
    epsilon : float, default=0.1
        ε, in the units of y, at least 0; about as large as the noise. 0 is the absolute error.
    tol : float, default=1e-3
        The gap to reach: the largest violation of the optimality conditions, in the units of y.
    max_iter : int or None, default=None
        The most steps of two variables, for each output; None: 10⁶ + 2000 n_samples.

    Attributes
    ----------
    n_support_ : ndarray of shape (1,)
        The number of support vectors, of all outputs together.
    support_, support_vectors_
    dual_coef_ : array of shape (n_outputs, n_support)
        α_i − α_i*; sparse where X was.
    intercept_ : ndarray of shape (n_outputs,)
        b of each output.
    coef_ : array of shape (n_outputs, n_features_of_kernel)
        w, for kernels with a finite feature map such as ``Linear()``; sparse where X was.
    objective_ : float
        The minimum of the dual problem; of several outputs, the sum.
    function_, gap_, converged_, stop_reason_, n_iter_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    NuSVR : A share of samples outside the tube in place of ε.
    KernelRidge : Squared errors; every sample has a coefficient.
    KernelHuber : Squared for small errors, absolute for large ones.

    References
    ----------
    A. Smola and B. Schölkopf, A tutorial on support vector regression, Statistics and Computing 14 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> machine = mc.SVR(C=10.0, epsilon=0.1, kernel=mc.Gaussian(1.0)).fit(X, y)
    >>> bool(np.abs(machine.predict(X) - y).max() < 0.101), len(machine.support_)
    (True, 8)
    """

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

    def _learn_spread(self, passes: SpreadPasses, samples: SpreadSamples, marks: Landmarks) -> None:
        self._feasible()
        fits = []
        for t in range(samples.outputs or 1):
            spread = Spread(passes.behind(Column(t), passes.count, passes.weight), marks.factor)
            sample = spread.few(1e-2, marks.values.compute.budget, once=False)
            loss, cost = EpsilonInsensitive(self.epsilon), self._positive("C")
            fits.append(solve_spread_dual(loss, cost, spread, self.fit_intercept, self._solver(), sample))
        self.intercept_ = np.array([self._bias(s) for s, _ in fits])
        self._of_landmarks = np.column_stack([c for _, c in fits])
        self.n_support_, self._coarse = np.array([len(marks)], np.int32), False
        self._single = samples.outputs is None
        self._report([s for s, _ in fits], None)

    def _bias(self, solution: Solution) -> float:
        return float(solution.multipliers[0]) if self.fit_intercept else 0.0


@estimator
class NuSVR(Regressor, SolverParameters):
    """SVR where ν, not ε, is chosen: at most a share ν of the samples lie outside the tube, whose width ``epsilon_``
    follows.

    At least a share ν are support vectors. y may have several columns; each has a problem of its own.

    Parameters
    ----------
    nu : float, default=0.5
        The share, above 0 and at most 1.
    C : float, default=1.0
        The weight of an error against ½‖w‖²; ``sample_weight`` multiplies it. C times the sum of the weights must be
        small enough for float64 to resolve ``tol`` beside it.
    tol : float, default=1e-3
        The gap to reach: the largest violation of the optimality conditions, in the units of y.
    max_iter : int or None, default=None
        The most steps of two variables, for each output; None: 10⁶ + 2000 n_samples.

    Attributes
    ----------
    epsilon_ : float
        ε, half the width of the tube, in the units of y; of several outputs, that of the last.
    n_support_ : ndarray of shape (1,)
        The number of support vectors, of all outputs together.
    support_, support_vectors_
    dual_coef_ : array of shape (n_outputs, n_support)
        α_i − α_i*; sparse where X was.
    intercept_ : ndarray of shape (n_outputs,)
        b of each output.
    objective_ : float
        The minimum of the dual problem; of several outputs, the sum.
    coef_, function_, gap_, converged_, stop_reason_, n_iter_, kernel_, n_features_in_, feature_names_in_

    See Also
    --------
    SVR : ε in place of ν.
    KernelQuantile : Quantiles of y, for which a tube of one width is too little.

    References
    ----------
    B. Schölkopf et al., New support vector algorithms, Neural Computation 12 (2000).

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(100)
    >>> machine = mc.NuSVR(nu=0.2, C=10.0, kernel=mc.Gaussian(1.0)).fit(X, y)
    >>> outside = np.abs(machine.predict(X) - y) > machine.epsilon_ + 1e-6
    >>> round(machine.epsilon_, 2), bool(outside.mean() <= 0.2)
    (0.11, True)
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
                coded(
                    f"NuSVR: C times the weights adds up to {float(C.sum()):.3g}, and float64 cannot resolve"
                    f" tol={self.tol:g} beside such a sum. Give a smaller C, or smaller weights: beyond some 10⁹ the"
                    " machine no longer changes.",
                    "M302",
                )
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
