"""Two classes as reduced convex hulls: the nearest points of the two give the machine, and where the hulls meet there
is none.

    min ½‖Σ_i b_i φ(x_i)‖²  with 0 ≤ y_i b_i ≤ w_i and Σ y_i b_i = s over each class

Σ y_i b_i φ(x_i)/s over a class is a mean of its samples in which none counts more than w_i/s: a point of its hull, the
smaller the larger s. The ν machine has s = ν Σw/2; bounds that do not bind give the hard margin. Where the hulls meet,
w = 0 is optimal and the margin 0 to rounding.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mercer.arrays import Array
from mercer.estimators.machine import filled
from mercer.gram import Gram
from mercer.losses import Hinge
from mercer.problems import DualQP, Solution
from mercer.solvers.dual import ActiveSet

_PRICE = 100.0  # over the kernel's size: the C of the machine whose ν is recommended
_NONE = 1e-8  # of the kernel's size: a margin below that belongs to a price C beyond 10⁸, and is called none
_CURE = "a larger nu gives a wider one, a larger max_iter more steps to find it"
_STEPS = 50_000, 20  # that are spent on a margin which is hard to tell from none, and for each sample


def kernel_size(gram: Gram) -> float:
    """The mean of ‖φ(x) − mean‖², in whose units the problem is solved: tolerances then mean the same for any scale and
    origin of the features.
    """
    diagonal = float(np.mean(np.abs(np.asarray(gram.diag(), np.float64))))
    spread = (
        diagonal
        - float(np.mean(np.asarray(gram.astype(np.float64) @ np.ones(gram.shape[1]), np.float64))) / gram.shape[1]
    )
    return max(spread, 1e-12 * diagonal) or 1.0


def nearest_points(y: Array, weights: Array, half: float, unit: float) -> DualQP:
    """The problem above for s = ``half``, its variables divided by ``unit``, the size of the kernel: a margin m is that
    of SVC at C = 1/(m·unit).
    """
    w, s = weights / unit, half / unit
    start = np.where(y > 0, filled(np.where(y > 0, w, 0.0), s), -filled(np.where(y < 0, w, 0.0), s))
    return DualQP(
        np.zeros(len(y)), np.minimum(0.0, y * w), np.maximum(0.0, y * w), start, group=(y > 0).astype(np.int8)
    )


def margin(s: Solution) -> float:
    """Where f = ±margin are the edges of the classes."""
    negative, positive = s.multipliers
    return float(negative - positive) / 2


def bound(s: Solution) -> float:
    """A margin that the best one does not exceed: ‖w‖²/2s, which is the margin of the optimum and larger anywhere
    else.
    """
    return 2 * s.objective / float(np.abs(s.coef).sum())


def none(s: Solution, gram: Gram) -> float:
    """The margin that cannot be told from none: what rounding does to the values of f."""
    return 20 * float(
        np.finfo(np.float64).eps * np.max(np.abs(np.asarray(gram.diag(), np.float64))) * np.linalg.norm(s.coef)
    )


def refined(s: Solution, problem: DualQP, gram: Gram, solver: ActiveSet, least: float = _NONE) -> Solution:
    """``s``, solved on until its gap is a share ``tol`` of its margin, as SVC's is, or until no margin of ``least`` is
    left to be found.
    """
    most = _STEPS[0] + _STEPS[1] * len(problem) if least and solver.max_iter is None else solver.max_iter
    while s.converged and s.gap > solver.tol * margin(s) and bound(s) > max(least, none(s, gram)):
        tol = max(
            0.1 * least, 0.1 * none(s, gram), min(solver.tol * margin(s) if margin(s) > s.gap else np.inf, 0.01 * s.gap)
        )
        if tol >= s.gap:
            break
        finer = replace(solver, tol=tol, max_iter=most).solve(problem, gram, s.coef)
        s = replace(finer, n_iter=s.n_iter + finer.n_iter)
    reached = s.gap <= solver.tol * margin(s) or meet(s, gram, least)
    if s.stop_reason not in ("gap", "stalled", "max_iter"):
        return s
    if reached:
        return replace(s, stop_reason="gap", note="")
    return replace(
        s,
        stop_reason="stalled" if s.converged else s.stop_reason,
        note=f"the margin is below {bound(s):.1g} of the kernel's size; {_CURE}",
    )


def meet(s: Solution, gram: Gram, least: float = _NONE) -> bool:
    """Whether the hulls of the two classes meet: no margin of ``least`` is between them, or none that rounding would
    show.
    """
    return bound(s) <= max(least, none(s, gram))


def largest_nu(y: Array, weights: Array) -> float:
    """The ν at which the lighter class is its mean alone; beyond, there is no point whose weights sum to s."""
    return 2 * min(float(weights[y > 0].sum()), float(weights[y < 0].sum())) / float(weights.sum())


def least_nu(y: Array, weights: Array, gram: Gram, solver: ActiveSet) -> float | None:
    """A ν near the smallest at which the hulls do not meet, found to be so; None where there is none.

    The machine of a price C is the ν machine for ν = Σ|b|/(C Σw) (Chang and Lin 2001), which falls to the smallest one
    as C grows.
    """
    solver, unit, most = replace(solver, progress=None), kernel_size(gram), largest_nu(y, weights)
    prices = weights / weights.mean() * (_PRICE / unit)
    soft = solver.solve(Hinge().dual(y, prices, True), gram)
    near = float(np.abs(soft.coef).sum() / prices.sum())
    for nu in (math.ceil(1002 * near) / 1000, math.floor(500 * (near + most)) / 1000, math.floor(1000 * most) / 1000):
        if nu <= most:
            problem = nearest_points(y, weights, nu * float(weights.sum()) / 2, unit)
            found = refined(solver.solve(problem, gram), problem, gram, solver)
            if found.converged and not meet(found, gram):
                return nu
    return None
