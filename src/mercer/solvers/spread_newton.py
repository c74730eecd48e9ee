"""Smooth losses over functions of landmarks, on samples that are spread: Newton's method of ``landmark_newton`` whose
every quantity is a sum over the pieces.

    evaluation   (Σ w ℓ, C^T g, 1^T g) at (c, b), f = C c + b
    product      (C^T H (C v + β), 1^T H (C v + β)), H the curvature at f

Both are functions of what is sent, (c, b) and (v, β): f is computed again in the pass that needs it, from the same
values of the kernel, and no piece remembers anything. A step is accepted by the evaluation at its end, which is the
next step's gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.losses import Loss
from mercer.native.linalg import cholesky_solve
from mercer.problems import SmoothSolution
from mercer.runtime.watch import Stopped, asked_to_stop, watching
from mercer.solvers.landmark_newton import accuracy, bordered_steps, preconditioned
from mercer.solvers.landmark_sample import Sample, factored
from mercer.solvers.smooth import Descent
from mercer.solvers.spread import Piece, Spread

_FLOOR = 1e-8  # of the largest curvature, as in ``solvers.smooth``
_SHORTEST = 1e-6  # of Newton's step

# what some rows of a piece add to the objective: a loss, targets and weights
Rows = Callable[[slice], tuple[Loss, Array, Array]]
Terms = Callable[[Piece], Rows]


@dataclass(frozen=True)
class Weighted:
    """Σ w ℓ(y, f) of the targets themselves, weights in units of ``unit``."""

    loss: Loss
    unit: float = 1.0

    def __call__(self, piece: Piece) -> Rows:
        w = piece.weights / self.unit
        return lambda rows: (self.loss, piece.targets[rows], w[rows])


@dataclass
class Point:
    """Where the method stands: θ, b, and the objective and its slopes there."""

    theta: Array
    b: Array
    value: float
    slope: Array
    slope_b: Array


class SpreadNewton:
    """min Σ w ℓ(y, Φθ + b) + λ‖θ‖².

    Parameters
    ----------
    spread : Spread
        The samples.
    terms : callable
        What a piece adds to the objective.
    ridge : float
        λ.
    bias : bool
        Whether there is a b.
    outputs : int
        The functions of a loss of several; 0 where it has one.
    settings : Descent
        The gap to reach, and limits.
    sample : (Landmarks, targets, weights)
        Some samples, which say what the curvature is like.
    relative : bool
        Whether what is common to all outputs changes nothing.
    state : object
        The state of the piece that these samples are.
    exact : bool
        Whether passes are in float64 whatever the data are in.
    direct : bool
        Whether the system of a step is added up, m × m, and solved: where few samples have a curvature, which others
        say little about.
    """

    def __init__(
        self,
        spread: Spread,
        terms: Terms,
        ridge: float,
        bias: bool,
        outputs: int,
        settings: Descent,
        sample: tuple[Any, Array, Array],
        relative: bool = False,
        state: Any = None,
        exact: bool = False,
        direct: bool = False,
    ) -> None:
        self.spread, self.terms, self.ridge, self.bias, self.settings = spread, terms, ridge, bias, settings
        self.outputs, self.relative, self.state, self.exact, self.direct = outputs, relative, state, exact, direct
        self.few, self.targets, self.weights = sample
        self.sample = Sample(self.few, 1e-2, every=True)
        self.steepest = 0.0

    def begin(self, b: float | Array = 0.0) -> Point:
        """f = b."""
        q = max(1, self.outputs)
        return self.at(np.zeros((len(self.few), q)), np.zeros(q) + (b if self.bias else 0.0))

    def at(self, theta: Array, b: Array) -> Point:
        """The objective and its slopes, by one pass."""
        c = self.few.coefficients(theta)
        value, slope, slope_b = self.spread.passes.total(
            "objective and gradient", _evaluated, self.terms, c, b, self.exact
        )
        value = float(value) + self.ridge * float(np.vdot(theta, theta))
        slope = self.few.of_values(slope) + 2 * self.ridge * theta
        return Point(theta, b, value, slope, slope_b if self.bias else np.zeros_like(slope_b))

    def solve(self, at: Point) -> tuple[Point, float, int, str]:
        """(the minimum, the fall that is still expected as a share of it, steps, what ended them)."""
        reason, gap, n_iter, settings = "max_iter", np.inf, 0, self.settings
        try:
            while n_iter < settings.max_iter:
                delta, beta = self._newton(at)
                slope = float(np.vdot(at.slope, delta) + at.slope_b @ beta)
                gap = max(-slope, 0.0) / 2 / max(abs(at.value), 1e-300)
                new = self._along(at, delta, beta, slope)
                if new is None or gap <= settings.tol:  # the last step squares what is left
                    within = gap <= settings.tol or gap <= 1e3 * settings.tol
                    at, reason = new or at, "gap" if within else "stalled"
                    break
                at, n_iter = new, n_iter + 1
                if asked := asked_to_stop(gap=gap, tol=settings.tol, n_iter=n_iter, objective=at.value):
                    reason = asked
                    break
        except Stopped as stop:
            reason = stop.accepted()
        except KeyboardInterrupt:
            if not settings.keep_on_interrupt:
                raise
            reason = "interrupted"
        return at, float(gap), n_iter, reason

    def _along(self, at: Point, delta: Array, beta: Array, slope: float) -> Point | None:
        """The end of a step that lowers the objective enough (Armijo)."""
        t = 1.0
        while slope < 0 and t >= _SHORTEST:
            new = self.at(at.theta + t * delta, at.b + t * beta)
            if new.value <= at.value + 1e-4 * t * slope:
                return new
            t /= 2
        return None

    def _newton(self, at: Point) -> tuple[Array, Array]:
        size = float(np.sqrt(np.sum(at.slope**2) + np.sum(at.slope_b**2)))
        self.steepest = max(self.steepest, size)
        curvature, floor = self._curvature(at)
        if self.direct:
            return self._solved(at, floor)
        precondition = preconditioned(self.sample, curvature, 2 * self.ridge, bias=self.bias, relative=self.relative)
        c, none = self.few.coefficients(at.theta), np.zeros((0, len(at.b)))

        def multiply(p: Array, shift: Array) -> tuple[Array, Array, Array]:
            v = self.few.coefficients(p)
            found, sums = self.spread.passes.total(
                "product with the curvature", _curved, self.terms, c, at.b, v, shift, floor, self.exact
            )
            out = self.few.of_values(found) + 2 * self.ridge * p
            return out, sums if self.bias else np.zeros_like(sums), none

        wanted = accuracy(size, self.steepest)
        return bordered_steps(multiply, precondition, -at.slope, -at.slope_b, wanted, none)[:2]

    def _solved(self, at: Point, floor: float) -> tuple[Array, Array]:
        c = self.few.coefficients(at.theta)
        (inner,) = self.spread.passes.total("system of the curvature", _system, self.terms, c, at.b, self.bias)
        workers = self.few.values.compute.workers
        factor = factored(inner, 2 * self.ridge, workers, bias=self.bias, least=floor * self.spread.passes.count)
        full = np.vstack([at.slope, at.slope_b]) if self.bias else at.slope
        found = cholesky_solve(factor, -full)
        m = len(at.theta)
        return found[:m], found[m] if self.bias else np.zeros_like(at.b)

    def _curvature(self, at: Point) -> tuple[Array, float]:
        """w ℓ″ of the few samples that are here, and what ℓ″ is at least to be."""
        values = np.asarray(arrays.to_numpy(self.few.values @ self.few.coefficients(at.theta))) + at.b
        loss, y, w = self.terms(Piece(self.few.values, self.few.factor, self.targets, self.weights, self.state))(
            slice(0, len(values))
        )
        found = _shaped_curvature(loss, y, values, self.outputs)
        floor = _FLOOR * max(float(found.max(initial=0.0)), 1e-12)
        return w[:, None] * np.maximum(found, floor), floor


def minimise_smooth(
    loss: Loss, spread: Spread, ridge: float, bias: bool, settings: Descent, sample: tuple[Any, Array, Array]
) -> SmoothSolution:
    """The minimiser, a function of the landmarks."""
    few, targets, weights = sample
    # only the ratio of weights matters: with weights about 1 nothing is too small to be seen
    unit = float(2.0 ** np.floor(np.log2(spread.passes.weight / spread.passes.count)))
    outputs = loss.outputs(targets)
    terms = Weighted(loss, unit)
    limits = watching(settings.max_time, settings.progress, partial=True, gap=np.inf, tol=settings.tol, n_iter=0)
    with limits:
        newton = SpreadNewton(
            spread, terms, ridge / unit, bias, outputs, settings, (few, targets, weights), loss.relative
        )
        at, gap, n_iter, reason = newton.solve(newton.begin(loss.start(targets, weights) if bias else 0.0))
    b = at.b if outputs else float(at.b[0])
    note = "the objective no longer falls although its slope is not zero" if reason == "stalled" else ""
    c, none = few.coefficients(at.theta), np.zeros(0)
    return SmoothSolution(none, b, none, unit * at.value, gap, n_iter, reason, "newton-landmarks", note, of_landmarks=c)


def _shaped(f: Array, outputs: int) -> Array:
    return f if outputs else f[:, 0]


def _shaped_curvature(loss: Loss, y: Array, f: Array, outputs: int) -> Array:
    found = loss.curvature(y, _shaped(f, outputs))
    assert found is not None
    return np.asarray(found, np.float64).reshape(f.shape)


def _evaluated(piece: Piece, terms: Terms, c: Array, b: Array, exact: bool) -> tuple[Array, Array, Array]:
    """(Σ w ℓ, C^T g, 1^T g) at f = C c + b."""
    some = terms(piece)
    sums = np.zeros((len(piece.weights), 1 + len(b)))

    def between(rows: slice, found: Array) -> Array:
        loss, y, w = some(rows)
        f = _shaped(found + b, loss.outputs(y))
        with np.errstate(over="ignore", invalid="ignore"):
            g = w[:, None] * np.asarray(loss.gradient(y, f), np.float64).reshape(found.shape)
            sums[rows, 0], sums[rows, 1:] = w * loss.value(y, f), g
        return g

    slope = piece.normal(c, between, exact=exact)
    total = sums.sum(axis=0)
    return (total[0] if np.isfinite(total[0]) else np.array(np.inf)), slope, total[1:]


def _curved(
    piece: Piece, terms: Terms, c: Array, b: Array, v: Array, shift: Array, floor: float, exact: bool
) -> tuple[Array, Array]:
    """(C^T H (C v + β), 1^T H (C v + β)), H the curvature at f = C c + b."""
    some, q = terms(piece), len(b)
    sums = np.zeros((len(piece.weights), q))

    def between(rows: slice, found: Array) -> Array:
        loss, y, w = some(rows)
        f, d = found[:, :q] + b, found[:, q:] + shift
        if loss.outputs(y):
            bent = w[:, None] * loss.hessian(y, f, d)
        else:
            bent = w[:, None] * np.maximum(_shaped_curvature(loss, y, f, 0), floor) * d
        sums[rows] = bent
        return np.column_stack([np.zeros_like(bent), bent])

    found = piece.normal(np.column_stack([c, v]), between, exact=exact)
    return found[:, q:], sums.sum(axis=0)


def _system(piece: Piece, terms: Terms, c: Array, b: Array, bias: bool) -> tuple[Array]:
    """Φ^T H Φ, bordered, H the curvature at f = C c + b of a loss of one output."""
    f = piece.product(c) + b
    loss, y, w = terms(piece)(slice(0, len(f)))
    return (piece.inner(w * _shaped_curvature(loss, y, f, 0)[:, 0], bias=bias),)
