"""Any convex loss over functions of landmarks, on samples that are spread: what ``erm.minimise`` does in memory.

squared                      conjugate gradients          solvers.spread_ridge
straight pieces (``dual``)   proximal points, C = 1/(2λ)  solvers.spread_dual
curved                       Newton's method              solvers.spread_newton
"""

from __future__ import annotations

import numpy as np

from mercer.losses import Loss, Squared
from mercer.problems import SmoothSolution
from mercer.solvers.dual import ActiveSet
from mercer.solvers.erm import Limits
from mercer.solvers.linear import ConjugateGradients
from mercer.solvers.smooth import Descent
from mercer.solvers.spread import Spread
from mercer.solvers.spread_dual import solve_spread_dual
from mercer.solvers.spread_newton import minimise_smooth
from mercer.solvers.spread_ridge import solve_spread
from mercer.troubles import coded

_NONE = np.zeros(0)


def minimise_spread(
    loss: Loss, spread: Spread, ridge: float, bias: bool, limits: Limits, budget: int
) -> SmoothSolution:
    """The minimiser, by the table above; ``coef`` and ``values`` stay with the samples."""
    if type(loss) is Squared:
        solver = ConjugateGradients(**limits.given("tol", "max_iter", "max_time", "progress"))
        found = solve_spread(spread, np.array([ridge]), bias, solver, budget)
        value, steps, reason = float(found.square[0]), found.n_iter, found.stop_reason
        b, c = float(found.bias[0]), found.of_landmarks
        return SmoothSolution(_NONE, b, _NONE, value, found.residual, steps, reason, "landmarks", of_landmarks=c)
    sample = spread.few(1e-2, budget, once=False)
    _, targets, weights = sample
    if loss.dual(targets, weights, bias) is not None:
        active = ActiveSet(**limits.given("tol", "max_iter", "max_time", "progress", "keep_on_interrupt"))
        s, c = solve_spread_dual(loss, 1 / (2 * ridge), spread, bias, active, sample)
        b = float(s.multipliers[0])
        # the duality gap is nothing beside the objective: that of the minimum is −2λ times that of the programme
        value = -2 * ridge * s.objective
        return SmoothSolution(_NONE, b, _NONE, value, s.gap, s.n_iter, s.stop_reason, "dual", s.note, of_landmarks=c)
    outputs = loss.outputs(targets)
    if loss.curvature(targets, np.zeros((len(targets), outputs) if outputs else len(targets))) is None:
        raise TypeError(
            coded(
                f"{loss!r} has neither a curvature nor straight pieces alone, which learning from a Dask collection"
                " needs: give its ``curvature``, or samples in memory.",
                "M316",
            )
        )
    descent = Descent(**limits.given("tol", "max_iter", "max_time", "progress", "keep_on_interrupt"))
    return minimise_smooth(loss, spread, ridge, bias, descent, sample)
