"""The dual quadratic programme over functions of landmarks, by proximal points: passes over the data, no n × n matrix.

    min ½ b^T K b + p^T b,  lower ≤ b ≤ upper,  sum of b kept,  K = Φ Φ^T

With the term Σ_t δ_t/2 (b_t − b_kt)² added, b is a function of f = Φθ + β alone, b(f) = clip(b_k − (f + p)/δ), and θ, β
minimise ½‖θ‖² + Σ_t max_b [−b (f + p) − δ_t/2 (b − b_kt)²], a smooth problem in m variables for Newton's method
(``landmark_newton``), whose curvature is 1/δ_t at the variables that are free. Its b is the next b_k. δ_t is s over the
width of the bounds of t: f moves a variable from one bound to the other by s, whatever its weight, and s falls from
round to round. This is the method of multipliers with semismooth Newton steps inside (Rockafellar 1976; Li, Sun and Toh
2018), in a norm with the weights 1/width, the same in all rounds, so that its proof holds as it is. The gap is that of
the programme itself, from f = Φ Φ^T b in float64: no δ is in it. Where f is the inner optimum, a variable below its
upper bound has −(f + p) < s and one above its lower bound f + p < s, so that the gap is at most 2s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Landmarks, Outline, Work
from mercer.losses import Loss
from mercer.native.linalg import cholesky_solve
from mercer.problems import DualQP, SmoothERM, Solution
from mercer.runtime.watch import Stopped, look, report
from mercer.solvers import landmark_newton
from mercer.solvers.interior import with_sums
from mercer.solvers.landmark_newton import LandmarkRun
from mercer.solvers.landmark_sample import FeaturesOfRows, Sample, system_factor
from mercer.solvers.landmarks import adjoint, in_float64
from mercer.solvers.smooth import Descent

if TYPE_CHECKING:
    from mercer.solvers.dual import ActiveSet

ROUNDS = 24
_NEWTON = 24  # steps, by experience
FIRST = 2.0  # δ times the width of the bounds, in units of p: then no variable starts at a bound
FASTER = 0.2  # by which δ falls from round to round, until δ times the width is half the gap that is wanted
_NEAR = 8  # times the landmarks: items near their bounds that are solved for with stored features
_FEW_STEPS, _FEW = 30, 1e-3  # Newton's steps of those, and what share of the first decrease ends them
_SLOW = 0.7  # of the gap before: a round that leaves more of it is at the end of float32
_LEAST = 1e-8  # of the largest curvature of the bias: what it has where no variable is free
INNER = 0.2  # of what a round smooths: how far from its f another may be


@dataclass(frozen=True, eq=False)
class Proximal(Loss):
    """Σ_t max_b [−b (f + p) − δ_t/2 (b − b_kt)²] of the variables of each item, within their bounds."""

    problem: DualQP
    centre: Array
    delta: Array
    n: int

    def point(self, f: Array) -> Array:
        """The b of the maximum."""
        q = self.problem
        return np.clip(self.centre - (q.of_items(f) + q.linear) / self.delta, q.lower, q.upper)

    def part(self, items: Array) -> Proximal:
        """Of some of the items, which are in order."""
        q = self.problem
        if q.index is None:
            chosen, index = items, None
        else:
            number = np.full(self.n, -1)
            number[items] = np.arange(len(items))
            chosen = np.flatnonzero(number[q.index] >= 0)
            index = number[q.index[chosen]]
        some = replace(
            q, linear=q.linear[chosen], lower=q.lower[chosen], upper=q.upper[chosen], start=q.start[chosen], index=index
        )
        return Proximal(some, self.centre[chosen], self.delta[chosen], len(items))

    def near(self, f: Array, most: int) -> Array | None:
        """The ``most`` items nearest to where their variables are free, in order; None where more than half as many are
        free.
        """
        q = self.problem
        if self.n <= most:
            return np.arange(self.n)
        slope = q.of_items(f) + q.linear
        beyond = self.centre - slope / self.delta
        # how much f is to change until the first variable of an item is free
        far = np.maximum(np.maximum(q.lower - beyond, beyond - q.upper), 0.0) * self.delta
        if q.index is not None:
            each = np.full(self.n, np.inf)
            np.minimum.at(each, q.index, far)
            far = each
        free = int(np.count_nonzero(far == 0))
        if free > most // 2:
            return None
        return np.sort(np.argpartition(far, most - 1)[:most])

    def value(self, y: Array, f: Array) -> Array:
        b, q = self.point(f), self.problem
        each = -b * (q.of_items(f) + q.linear) - self.delta / 2 * (b - self.centre) ** 2
        return q.items(each, self.n)

    def gradient(self, y: Array, f: Array) -> Array:
        return -self.problem.items(self.point(f), self.n)

    def curvature(self, y: Array, f: Array) -> Array:
        b, q = self.point(f), self.problem
        return q.items(np.where((b > q.lower) & (b < q.upper), 1.0 / self.delta, 0.0), self.n)


class _NearRun(LandmarkRun):
    """Newton's method whose steps are those of the items near their bounds, where these are few.

    An item whose variables are all beyond their bounds has a constant slope, and only those near them, the set W, say
    how the objective bends. With the slope of the others kept, the minimum over W is found by exact steps of Newton's
    method on stored features; that is the direction, along which all items are searched. Two passes for each such step,
    however many inner ones it takes.
    """

    near: FeaturesOfRows

    def newton(self) -> tuple[Array, Array, Array]:
        loss, f = self.problem.loss, self.f[:, 0]
        assert isinstance(loss, Proximal)
        m = len(self.marks)
        rows = loss.near(f, min(_NEAR * m, _stored(self.marks.values.compute.budget, m)))
        return super().newton() if rows is None else self._of_few(loss, f, rows)

    def _search(self, delta: Array, Kd: Array, beta: Array, value: float, slope: float, *, exact: bool) -> float:
        loss, d, theta = self.problem.loss, (Kd + beta)[:, 0], self.alpha
        assert isinstance(loss, Proximal)
        if slope < 0:
            linear, square = float(np.vdot(theta, delta)), float(np.vdot(delta, delta))
            f = self.f[:, 0]
            t = _down(loss, f, d, linear, square)
            grown = t * linear + t * t / 2 * square + float(np.vdot(theta, theta)) / 2
            if self.data_term((f + t * d)[:, None]) + grown <= value + 1e-4 * t * slope:
                return t
        return super()._search(delta, Kd, beta, value, slope, exact=exact)

    def _of_few(self, loss: Proximal, f: Array, rows: Array) -> tuple[Array, Array, Array]:
        bias, workers = self.problem.bias, self.marks.values.compute.workers
        features, part = self.near.take(rows), loss.part(rows)
        m = features.shape[1]
        b = -loss.gradient(f, f)
        fixed = self._pass(np.zeros_like(self.alpha), lambda some, _: b[some, None])[:, 0] - features.T @ b[rows]
        fixed_sum = float(b.sum() - b[rows].sum()) if bias else 0.0
        theta, beta, values, first = self.alpha[:, 0], 0.0, f[rows], 0.0
        for _ in range(_FEW_STEPS):
            look("Newton's step")
            b = -part.gradient(values, values)
            right = fixed + features.T @ b - theta
            h = part.curvature(values, values)
            free = np.flatnonzero(h) if h.any() else np.arange(1)
            least = _LEAST * float(np.sum(1.0 / part.delta))
            factor = system_factor(features[free], h[free], 1.0, workers, bias=bias, least=least)
            full = np.append(right, fixed_sum + b.sum()) if bias else right
            solved = cholesky_solve(factor, full[:, None])[:, 0]
            step, shift = solved[:m], float(solved[m]) if bias else 0.0
            slope = -float(full @ solved)
            if not slope < 0:
                break
            along = features @ step + shift
            linear = float(step @ (theta - fixed)) - fixed_sum * shift
            t = _down(part, values, along, linear, float(step @ step))
            theta, beta, values, first = theta + t * step, beta + t * shift, values + t * along, min(first, slope)
            if slope > _FEW * first:
                break
        delta = theta[:, None] - self.alpha
        found = np.asarray(arrays.to_numpy(self.marks.values @ self.marks.coefficients(delta)))
        return delta, found, np.array([beta])


def _stored(budget: int, m: int) -> int:
    """Items whose features are a sixth of the budget."""
    return max(m, budget // 6 // (8 * m))


def _down(loss: Proximal, values: Array, along: Array, linear: float, square: float) -> float:
    """How far to the minimum along a step, roughly: the slope grows with t."""

    def slope(t: float) -> float:
        return linear + t * square + float(loss.gradient(values, values + t * along) @ along)

    low, high, start, t = 0.0, 1.0, slope(0.0), 1.0
    for _ in range(30):
        now = slope(t)
        if abs(now) <= 0.1 * abs(start) or (t >= 1.0 and now <= 0):
            break
        low, high = (t, high) if now < 0 else (low, t)
        t = (low + high) / 2
    return t


def usable(problem: DualQP) -> bool:
    """Whether there is at most one sum to keep, and 0 is the sum."""
    return problem.group is None and (not problem.coupled or abs(float(problem.start.sum())) <= 1e-12)


def outlook(outline: Outline) -> Work:
    """``solve_dual``: some twenty steps of Newton's method in all, whose curvature has few samples."""
    found = landmark_newton.outlook(outline, 1, _NEWTON, 4)
    n, m = outline.shape[0], len(outline.landmarks())
    plan = f"proximal points by passes over {n} × {m} values with landmarks: about {_NEWTON} steps of 5 passes"
    rows = min(n, _NEAR * m, _stored(outline.compute.budget, m))
    return replace(found.beside(8.0 * 3 * rows * m, 0.0), plan=plan, solver="landmarks")


def solve_dual(problem: DualQP, marks: Landmarks, solver: ActiveSet) -> Solution:
    """The programme to a gap of ``solver.tol``."""
    n = marks.values.shape[0]
    width = problem.upper - problem.lower
    # a variable that cannot move stays where it is, whatever its δ
    width = np.where(width > 0, width, float(width.max(initial=0.0)) or 1.0)
    smoothed = FIRST * (float(np.max(np.abs(problem.linear), initial=0.0)) or 1.0)
    largest = float(np.max(np.abs(np.diagonal(marks.factor)))) ** 2 or 1.0
    exact = in_float64(marks.values)
    sample, near = Sample(marks, 1e-2), FeaturesOfRows(marks)
    b = np.clip(np.zeros(len(problem)), problem.lower, problem.upper)
    best = (np.inf, b, problem.linear.astype(np.float64))
    start: LandmarkRun | None = None
    steps, reason, note = 0, "stalled", "the gap no longer shrinks"
    try:
        for _ in range(ROUNDS):
            loss = Proximal(problem, b, smoothed / width, n)
            erm = SmoothERM(loss, np.zeros(n), np.ones(n), 0.5, problem.coupled)
            run = _NearRun(Descent(max_iter=50), erm, marks, sample)
            run.near = near
            if start is not None:
                run.alpha, run.Ka, run.b = start.alpha, start.Ka, start.b
            # ½‖θ − θ*‖² is at most what the objective is above its minimum
            wanted = (INNER * smoothed) ** 2 / 2 / largest / max(abs(run.objective()), 1e-300)
            run.settings = Descent(tol=max(wanted, 1e-14), max_iter=50)
            found = run.solve()
            steps, start = steps + found.n_iter, run
            b = with_sums(problem, loss.point(run.f[:, 0]))
            theta = marks.of_values(adjoint(exact, problem.items(b, n)[:, None]))
            f = np.asarray(arrays.to_numpy(exact @ marks.coefficients(theta)))[:, 0]
            g = problem.of_items(f) + problem.linear
            gap = problem.violation(b, g)[0]
            slow = gap > _SLOW * best[0]
            if gap < best[0]:
                best = (gap, b, g)
            report(gap=best[0], tol=solver.tol, n_iter=steps, active=int(np.count_nonzero(loss.curvature(b, f))))
            if gap <= solver.tol:
                reason, note = "gap", ""
                break
            if slow and marks.values.dtype == np.float32 and marks.values.recomputable:
                marks = replace(marks, values=exact)  # rounding is what is left
                sample, near = Sample(marks, 1e-2), FeaturesOfRows(marks)
                run.Ka = np.asarray(arrays.to_numpy(exact @ marks.coefficients(run.alpha)))
            smoothed = max(FASTER * smoothed, 0.5 * solver.tol)
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
