"""Any convex loss: Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖² over any Gram, by the solver that fits the loss.

squared                      ``LinearSystem``    conjugate gradients on a factor            solvers.linear
straight pieces (``dual``)   ``DualQP``          active sets, C = 1/(2λ)                    solvers.dual
corners, with ``prox``       ``SmoothERM``       splitting                                  solvers.proximal
anything else                ``SmoothERM``       Newton; without curvature, L-BFGS          solvers.smooth
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.gram import Gram, Outline, Use, Work, held, outlined
from mercer.losses import Loss, Squared
from mercer.problems import LinearSystem, SmoothERM, SmoothSolution
from mercer.solvers import dual, inverses, landmarks, smooth
from mercer.solvers.dual import ActiveSet
from mercer.solvers.linear import ConjugateGradients
from mercer.solvers.proximal import Splitting
from mercer.solvers.smooth import Descent
from mercer.troubles import coded

_CORNERS = 1e-6  # the gap that splitting is asked for at most: it approaches slowly
_SPLITTING = 300  # steps, by experience
SOLVERS = ("auto", "cholesky", "woodbury", "cg")


@dataclass(frozen=True)
class Limits:
    """When to stop: the gap to reach (None: the solver's own), steps, seconds, a callback, and what Ctrl-C does."""

    tol: float | None = None
    max_iter: int | None = None
    max_time: float | None = None
    solver: str = "auto"
    progress: Callable[[dict[str, Any]], Any] | None = None
    keep_on_interrupt: bool = False

    def given(self, *names: str) -> dict[str, Any]:
        """Those of the named limits that are set."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def minimise(
    loss: Loss, y: Array, weights: Array, ridge: float, bias: bool, gram: Gram, limits: Limits
) -> SmoothSolution:
    """The minimiser, by the table above."""
    if limits.solver not in SOLVERS:
        raise ValueError(coded(f"solver={limits.solver!r}: choose one of {', '.join(map(repr, SOLVERS))}.", "M205"))
    # only their ratio matters: with weights about 1 nothing is too small to be seen; by a power of 2, nothing is
    # rounded
    unit = float(2.0 ** np.floor(np.log2(weights.max())))
    found = _minimise(loss, y, weights / unit, ridge / unit, bias, gram, limits)
    return replace(found, objective=unit * found.objective)


def _minimise(
    loss: Loss, y: Array, weights: Array, ridge: float, bias: bool, gram: Gram, limits: Limits
) -> SmoothSolution:
    if type(loss) is Squared:  # a subclass may be another loss
        return _squared(y, weights, ridge, bias, gram, limits)
    programme = loss.dual(y, weights / (2 * ridge), bias)
    if programme is not None:
        s = ActiveSet(**limits.given("tol", "max_iter", "max_time", "progress", "keep_on_interrupt")).solve(
            programme, gram
        )
        bias_value = float(s.multipliers[0]) if bias else 0.0
        values = (s.gradient - programme.linear)[: len(y)] + bias_value
        coef = programme.items(s.coef, len(y))
        objective = float(np.sum(weights * loss.value(y, values))) + ridge * float(coef @ (values - bias_value))
        return SmoothSolution(coef, bias_value, values, objective, s.gap, s.n_iter, s.stop_reason, "dual", s.note)
    problem = SmoothERM(loss, y, weights, ridge, bias)
    given = limits.given("tol", "max_iter", "max_time", "solver", "progress", "keep_on_interrupt")
    zero = np.zeros((len(y), loss.outputs(y)) if loss.outputs(y) else len(y))
    if loss.curvature(y, zero) is None and loss.prox(y, zero, weights) is not None:
        return Splitting(**given | {"tol": max(limits.tol or 0.0, _CORNERS)}).solve(problem, gram)
    smooth = Descent(**given).solve(problem, gram)
    note = "the objective no longer falls although its slope is not zero" if smooth.stop_reason == "stalled" else ""
    return replace(smooth, note=note)


def outlook(loss: Loss, y: Array, bias: bool, outline: Outline, solver: str, tol: float, tried: dual.Tried) -> Work:
    """``minimise`` for targets like ``y``, of which a few will do."""
    ones = np.ones(len(y))
    if type(loss) is Squared:
        if solver == "auto" and outline.landmarks() is not None:
            return landmarks.outlook(outline, tol)
        matrix, made = outlined(outline, Use.AGAIN)
        return inverses.outlook(matrix, solver).beside(made.memory, made.seconds)
    problem = loss.dual(y, ones, bias)
    if problem is not None:
        return dual.outlook(outline, round(outline.shape[0] * len(problem) / len(y)), tried)
    outputs = loss.outputs(y)
    zero = np.zeros((len(y), outputs) if outputs else len(y))
    curved = loss.curvature(y, zero) is not None
    if not curved and loss.prox(y, zero, ones) is not None:
        found = inverses.outlook(outline, solver, 1, _SPLITTING)
        return replace(
            found, plan=f"splitting, about {_SPLITTING} steps, with {found.plan}", solver=f"splitting-{found.solver}"
        )
    return smooth.outlook(outline, outputs, solver, curved=curved)


def _squared(y: Array, weights: Array, ridge: float, bias: bool, gram: Gram, limits: Limits) -> SmoothSolution:
    system = LinearSystem(y, weights, ridge, bias)
    solver = ConjugateGradients(**limits.given("tol", "max_iter", "max_time", "solver", "progress"))
    s = solver.solve(system, held(gram, Use.AGAIN))
    values = y - ridge * s.coef.reshape(y.shape) / (weights if y.ndim == 1 else weights[:, None])
    loss = float(np.sum(weights * (y - values).reshape(len(y), -1).T ** 2))
    objective = loss + ridge * float(np.vdot(s.coef, values.reshape(s.coef.shape) - s.bias))
    coef, bias_value = (s.coef[:, 0], float(s.bias[0])) if y.ndim == 1 else (s.coef, s.bias)
    return SmoothSolution(coef, bias_value, values, objective, s.residual, s.n_iter, s.stop_reason, s.solver)
