"""Smooth convex losses over functions of landmarks: Newton's method whose systems are solved by passes over the data.

    min F(θ, b) = Σ_i w_i ℓ(y_i, f_i) + λ‖θ‖²,  f = Φθ + b,  Φ = C L^−T

With g = wℓ′ and H = wℓ″ the step solves (Φ^T H Φ + 2λI)Δ + Φ^T H 1β = −(Φ^T g + 2λθ), 1^T H(ΦΔ + 1β) = −1^T g, by
conjugate gradients with the preconditioner of ``solvers.landmarks``: one pass for the gradient, one for each inner
step, as many as the accuracy of the step is worth. f moves linearly along a step, so that the search along it costs
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Landmarks, Outline, Work
from mercer.native.linalg import cholesky_solve
from mercer.problems import SmoothERM, SmoothSolution
from mercer.runtime.watch import look
from mercer.solvers.landmark_sample import Sample
from mercer.solvers.landmarks import foundation, system_seconds
from mercer.solvers.smooth import Run

if TYPE_CHECKING:
    from mercer.solvers.smooth import Descent

Precondition = Callable[[Array, Array], tuple[Array, Array]]

_FLOOR = 1e-8  # of the largest curvature, as in ``solvers.smooth``
_INNER = 60  # steps of conjugate gradients for one of Newton's
_LOOSE, _TIGHT = 0.1, 1e-3  # how far the residual of a step is brought down, at first and near the end


def outlook(outline: Outline, outputs: int, steps: int = 8, inner: int = 5) -> Work:
    """So many steps of Newton's method with so many passes each, and one for the gradient."""
    n, m, q = outline.shape[0], len(outline.landmarks()), max(1, outputs)
    factors = q if q * 8 * m**2 <= outline.compute.budget // 4 else 1
    base, count = foundation(outline, 1e-2, factors)
    seconds = steps * (inner + 1) * outline.passing(q) + (steps - 1) * factors * system_seconds(outline, count)
    plan = f"Newton's method by passes over {n} × {m} values with landmarks: about {steps} steps of {inner + 1} passes"
    return replace(base.beside(8.0 * 12 * n * q, seconds), plan=plan, solver="newton-landmarks")


class LandmarkRun(Run):
    """Coefficients are θ, and values are those of all items."""

    def __init__(self, settings: Descent, problem: SmoothERM, marks: Landmarks, sample: Sample | None = None) -> None:
        self.settings, self.problem, self.marks = settings, problem, marks
        self.gram, self.inverse = marks.values, None
        self.max_iter = settings.max_iter
        self.outputs = problem.loss.outputs(problem.targets)
        (n, m), q = marks.values.shape, max(1, self.outputs)
        self.w = problem.weights[:, None]
        self.alpha, self.Ka = np.zeros((m, q)), np.zeros((n, q))
        self.b = np.zeros(q) + (problem.loss.start(problem.targets, problem.weights) if problem.bias else 0.0)
        self.sample, self.steepest = sample or Sample(marks, 1e-2), 0.0

    def inner(self, a: Array, b: Array, Kb: Array) -> float:
        return float(np.vdot(a, b))

    def solve(self) -> SmoothSolution:
        return self.until_done(self.newton)

    def solution(self, reason: str, value: float, gap: float, n_iter: int) -> SmoothSolution:
        gradient = self.gradient(self.f)
        coef = -gradient / (2 * self.problem.ridge)
        bias = self.b if self.outputs else float(self.b[0])
        c = self.marks.coefficients(self.alpha)
        return SmoothSolution(
            coef if self.outputs else coef[:, 0],
            bias,
            self.shaped(self.f),
            value,
            gap,
            n_iter,
            reason,
            "newton-landmarks",
            of_landmarks=c,
        )

    def _pass(self, theta: Array, between: Callable[[slice, Array], Array]) -> Array:
        """Φ^T h(Φθ)."""
        found = self.marks.values.normal(self.marks.coefficients(theta), between)
        return self.marks.of_values(np.asarray(arrays.to_numpy(found)))

    def newton(self) -> tuple[Array, Array, Array]:
        loss, y, f, lam = self.problem.loss, self.problem.targets, self.shaped(self.f), self.problem.ridge
        bias = self.problem.bias
        curvature = self.w * np.asarray(loss.curvature(y, f), np.float64).reshape(self.Ka.shape)
        curvature = np.maximum(curvature, _FLOOR * max(float(curvature.max(initial=0.0)), 1e-12))
        precondition = self._preconditioner(curvature)
        g = self.gradient(self.f)
        zero = np.zeros_like(self.alpha)
        right = -(self._pass(zero, lambda rows, _: g[rows]) + 2 * lam * self.alpha)
        right_b = -g.sum(axis=0) if bias else np.zeros(len(self.b))
        size = float(np.sqrt(np.sum(right**2) + np.sum(right_b**2)))
        self.steepest = max(self.steepest, size)
        wanted = accuracy(size, self.steepest)
        values, weighed = np.empty_like(self.Ka), np.empty_like(self.Ka)

        def multiply(p: Array, shift: Array) -> tuple[Array, Array, Array]:
            def between(rows: slice, found: Array) -> Array:
                values[rows] = found + shift
                weighed[rows] = (
                    self.w[rows] * loss.hessian(y[rows], f[rows], values[rows])
                    if self.outputs
                    else curvature[rows] * values[rows]
                )
                return weighed[rows]

            Ap = self._pass(p, between) + 2 * lam * p
            return Ap, weighed.sum(axis=0) if bias else np.zeros(len(self.b)), values

        delta, beta, d = bordered_steps(multiply, precondition, right, right_b, wanted, np.zeros_like(self.Ka))
        return delta, d - beta, beta

    def _preconditioner(self, curvature: Array) -> Precondition:
        lam, bias, relative = self.problem.ridge, self.problem.bias, self.problem.loss.relative
        return preconditioned(self.sample, curvature, 2 * lam, bias=bias, relative=relative)


def accuracy(slope: float, steepest: float) -> float:
    """To what share of itself the residual of a step is brought down: the less is left to gain, the further."""
    return float(np.clip(np.sqrt(slope / (steepest or 1.0)), _TIGHT / _LOOSE, 1.0)) * _LOOSE


def bordered_steps(
    multiply: Callable[[Array, Array], tuple[Array, Array, Array]],
    precondition: Precondition,
    right: Array,
    right_b: Array,
    wanted: float,
    d: Array,
) -> tuple[Array, Array, Array]:
    """(Δ, β, d): the step of f and of the bias, by conjugate gradients to a residual of ``wanted`` of the right side.

    ``multiply`` gives the system's product for f and for the bias, and values that are linear in them, whose sum along
    the steps is d.
    """
    size = float(np.sqrt(np.sum(right**2) + np.sum(right_b**2)))
    delta, beta = np.zeros_like(right), np.zeros(len(right_b))
    r, rb = right, right_b
    z, zb = precondition(r, rb)
    p, pb, rz = z, zb, float(np.vdot(r, z) + rb @ zb)
    for _ in range(_INNER):
        if not rz > 0:
            break
        look("Newton's step")
        Ap, Apb, values = multiply(p, pb)
        curved = float(np.vdot(p, Ap) + pb @ Apb)
        if not curved > 0:
            break
        t = rz / curved
        delta, beta, d = delta + t * p, beta + t * pb, d + t * values
        before, before_b = r, rb
        r, rb = r - t * Ap, rb - t * Apb
        if np.sqrt(np.sum(r**2) + np.sum(rb**2)) <= wanted * size:
            break
        z, zb = precondition(r, rb)
        new = float(np.vdot(r, z) + rb @ zb)
        ratio = max((new - float(np.vdot(before, z) + before_b @ zb)) / rz, 0.0)
        p, pb, rz = z + ratio * p, zb + ratio * pb, new
    return delta, beta, d


def preconditioned(sample: Sample, curvature: Array, ridge: float, *, bias: bool, relative: bool) -> Precondition:
    """The system of Newton's step as a sample of the rows says it, for each output with its curvature; with the mean of
    them where the factors of all would not fit.
    """
    q, m = curvature.shape[1], len(sample.marks)
    if q * 8 * m**2 > sample.marks.values.compute.budget // 4:
        curvature = curvature.mean(axis=1, keepdims=True)
    factors = [sample.inverse(h, ridge, bias=bias) for h in curvature.T]

    def solve(r: Array, rb: Array) -> tuple[Array, Array]:
        full = np.vstack([r, rb]) if bias else r
        out = (
            np.column_stack([cholesky_solve(L, full[:, [k]])[:, 0] for k, L in enumerate(factors)])
            if len(factors) == q
            else cholesky_solve(factors[0], full)
        )
        if relative:  # what is common to all outputs has no curvature in such a loss
            out = out - out.mean(axis=1, keepdims=True)
        return (out[:-1], out[-1]) if bias else (out, np.zeros(q))

    return solve
