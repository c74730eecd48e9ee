"""The dual quadratic programme over functions of landmarks, by proximal points: passes over the data, no n × n matrix.

    min ½ b^T K b + p^T b,  lower ≤ b ≤ upper,  sum of b kept,  K = Φ Φ^T

With the term δ/2 ‖b − b_k‖² added, b is a function of f = Φθ + β alone, b(f) = clip(b_k − (f + p)/δ), and θ, β minimise
½‖θ‖² + Σ_t max_b [−b (f + p) − δ/2 (b − b_k)²], a smooth problem in m variables for Newton's method
(``landmark_newton``), whose curvature is 1/δ at the variables that are free. Its b is the next b_k; δ falls where the
gap falls slowly. This is the method of multipliers with semismooth Newton steps inside (Rockafellar 1976; Li, Sun and
Toh 2018). The gap is that of the programme itself, from f = Φ Φ^T b in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Landmarks, Outline, Work
from mercer.losses import Loss
from mercer.problems import DualQP, SmoothERM, Solution
from mercer.runtime.watch import Stopped, report
from mercer.solvers import landmark_newton
from mercer.solvers.interior import with_sums
from mercer.solvers.landmark_newton import LandmarkRun
from mercer.solvers.landmark_sample import Sample
from mercer.solvers.landmarks import adjoint, in_float64
from mercer.solvers.smooth import Descent

if TYPE_CHECKING:
    from mercer.solvers.dual import ActiveSet

_ROUNDS = 24
_NEWTON = 24  # steps, by experience
_FIRST = 2.0  # δ times the width of the bounds, in units of p: then no variable starts at a bound
_FASTER = 0.2  # by which δ falls from round to round, until δ times the width is half the gap that is wanted
_INNER = 0.2  # of what a round smooths: how far from its f another may be


@dataclass(frozen=True, eq=False)
class _Proximal(Loss):
    """Σ_t max_b [−b (f + p) − δ/2 (b − b_k)²] of the variables of each item, within their bounds."""

    problem: DualQP
    centre: Array
    delta: float
    n: int

    def point(self, f: Array) -> Array:
        """The b of the maximum."""
        q = self.problem
        return np.clip(self.centre - (q.of_items(f) + q.linear) / self.delta, q.lower, q.upper)

    def value(self, y: Array, f: Array) -> Array:
        b, q = self.point(f), self.problem
        each = -b * (q.of_items(f) + q.linear) - self.delta / 2 * (b - self.centre) ** 2
        return q.items(each, self.n)

    def gradient(self, y: Array, f: Array) -> Array:
        return -self.problem.items(self.point(f), self.n)

    def curvature(self, y: Array, f: Array) -> Array:
        b, q = self.point(f), self.problem
        return q.items(np.where((b > q.lower) & (b < q.upper), 1.0 / self.delta, 0.0), self.n)


def usable(problem: DualQP) -> bool:
    """Whether there is at most one sum to keep, and 0 is the sum."""
    return problem.group is None and (not problem.coupled or abs(float(problem.start.sum())) <= 1e-12)


def outlook(outline: Outline) -> Work:
    """``solve_dual``: some twenty steps of Newton's method in all, whose curvature has few samples."""
    found = landmark_newton.outlook(outline, 1, _NEWTON, 4)
    n, m = outline.shape[0], len(outline.landmarks())
    plan = f"proximal points by passes over {n} × {m} values with landmarks: about {_NEWTON} steps of 5 passes"
    return replace(found, plan=plan, solver="landmarks")


def solve_dual(problem: DualQP, marks: Landmarks, solver: ActiveSet) -> Solution:
    """The programme to a gap of ``solver.tol``."""
    n = marks.values.shape[0]
    width = float(np.max(problem.upper - problem.lower))
    smoothed = _FIRST * (float(np.max(np.abs(problem.linear), initial=0.0)) or 1.0)
    largest = float(np.max(np.abs(np.diagonal(marks.factor)))) ** 2 or 1.0
    exact = in_float64(marks.values)
    sample = Sample(marks, 1e-2)
    b = np.clip(np.zeros(len(problem)), problem.lower, problem.upper)
    best = (np.inf, b, problem.linear.astype(np.float64))
    start: LandmarkRun | None = None
    steps, reason, note = 0, "stalled", "the gap no longer shrinks"
    try:
        for _ in range(_ROUNDS):
            loss = _Proximal(problem, b, smoothed / width, n)
            erm = SmoothERM(loss, np.zeros(n), np.ones(n), 0.5, problem.coupled)
            run = LandmarkRun(Descent(max_iter=50), erm, marks, sample)
            if start is not None:
                run.alpha, run.Ka, run.b = start.alpha, start.Ka, start.b
            # ½‖θ − θ*‖² is at most what the objective is above its minimum
            wanted = (_INNER * smoothed) ** 2 / 2 / largest / max(abs(run.objective()), 1e-300)
            run.settings = Descent(tol=max(wanted, 1e-14), max_iter=50)
            found = run.solve()
            steps, start = steps + found.n_iter, run
            b = with_sums(problem, loss.point(run.f[:, 0]))
            theta = marks.of_values(adjoint(exact, problem.items(b, n)[:, None]))
            f = np.asarray(arrays.to_numpy(exact @ marks.coefficients(theta)))[:, 0]
            g = problem.of_items(f) + problem.linear
            gap = problem.violation(b, g)[0]
            if gap < best[0]:
                best = (gap, b, g)
            report(gap=best[0], tol=solver.tol, n_iter=steps, active=int(np.count_nonzero(loss.curvature(b, f))))
            if gap <= solver.tol:
                reason, note = "gap", ""
                break
            smoothed = max(_FASTER * smoothed, 0.5 * solver.tol)
    except Stopped as stop:
        reason, note = stop.accepted(), ""
    except KeyboardInterrupt:
        if not solver.keep_on_interrupt:
            raise
        reason, note = "interrupted", ""
    gap, b, g = best
    free = (b > problem.lower) & (b < problem.upper)
    return Solution(
        b, problem.multipliers(b, g, free), problem.objective(b, g), float(gap), steps, reason, g, free, note
    )
