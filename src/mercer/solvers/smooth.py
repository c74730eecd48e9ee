"""Smooth convex losses: min F(α, b) = Σ_i w_i ℓ(y_i, f_i) + λ α^T K α, f = K α + b.

With g = w ℓ′ and H = w ℓ″, Newton's step (Δ, β) solves 2λΔ + H(KΔ + 1β) = −(g + 2λα), 1^T Δ = 0. K has been divided
out, so nothing is squared; the operator is self-adjoint in the inner product of K, and conjugate gradients run in that,
preconditioned by the same system with the diagonal of H (``solvers.inverses``). For a loss of one output that is the
system itself and one step is enough; for coupled outputs a few are. A loss without curvature is solved by L-BFGS in the
same inner product. Along a direction f changes linearly: line searches cost O(n).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Gram, Outline, Use, Work, held, outlined
from mercer.problems import SmoothERM, SmoothSolution
from mercer.runtime import threads
from mercer.runtime.watch import Stopped, asked_to_stop, begin, watching
from mercer.solvers import inverses
from mercer.solvers.inverses import Inverse, choose

_FLOOR = 1e-8  # of the largest curvature: a straight piece gets as much, so that the step is defined
_INNER = 60  # steps of conjugate gradients for one of Newton's
_TIRED = 12  # steps after which the preconditioner is made anew
_MEMORY = 20  # pairs of L-BFGS
_NEWTON, _COUPLED, _SLOW = 5, 8, 150  # steps, those for coupled outputs, and those of L-BFGS, by experience
_SHORT = 1e-6  # of Newton's step: then it was not worth its name

Progress = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Descent:
    """Solver of ``SmoothERM``: Newton's method where the loss has a curvature, else L-BFGS.

    tol
        How far the objective may be above its minimum, as a share of it (estimated by what the next step would gain).
    """

    tol: float = 1e-9
    max_iter: int = 200
    max_time: float | None = None
    solver: str = "auto"
    progress: Progress | None = None
    keep_on_interrupt: bool = False

    def solve(self, problem: SmoothERM, gram: Gram, start: SmoothSolution | None = None) -> SmoothSolution:
        limits = watching(self.max_time, self.progress, partial=True, gap=np.inf, tol=self.tol, n_iter=0)
        marks = gram.landmarks() if self.solver == "auto" else None
        if marks is not None and _is_curved(problem):
            from mercer.solvers.landmark_newton import LandmarkRun

            with limits:
                return LandmarkRun(self, problem, marks).solve()
        with limits, threads.single_threaded_if_small(gram.shape[0]):
            try:
                begin()
                run = Run(self, problem, held(gram, Use.SYSTEMS))
            except Stopped as stop:  # before there was a matrix to learn from
                run = Run(self, problem, gram)
                return run.solution(stop.accepted(), run.data_term(run.f), np.inf, 0)
            if start is not None:
                run.begin(start)
            known = _is_curved(problem)
            step = run.newton if known else run.lbfgs
            if not known:
                run.max_iter *= 10  # of cheap steps
            return run.until_done(step)


def outlook(outline: Outline, outputs: int, solver: str = "auto", *, curved: bool = True) -> Work:
    """Newton's method, or L-BFGS for a loss that is not ``curved``."""
    if curved and solver == "auto" and outline.landmarks() is not None:
        from mercer.solvers import landmark_newton

        return landmark_newton.outlook(outline, outputs)
    n, q = outline.shape[0], max(1, outputs)
    matrix, made = outlined(outline, Use.SYSTEMS)
    if not curved:
        vectors = 8.0 * (6 * _MEMORY + 12) * n * q
        plan = f"L-BFGS, about {_SLOW} products with the matrix of {n} rows"
        return Work(vectors, _SLOW * matrix.product(q), plan, "lbfgs").beside(made.memory, made.seconds)
    # one factor for each output, unless those would not all fit
    separate = q if outputs and 8 * n * q * n <= 0.5 * outline.compute.budget else 1
    factors = separate if outputs else _NEWTON
    found = inverses.outlook(matrix, solver, factors, 1)
    inner = _COUPLED if outputs else 1
    # products, and the factors that are solved with in each step
    seconds = _NEWTON * (inner + 2) * (matrix.product(q, np.float64) + q * matrix.speed.reading(3 * matrix.bytes()))
    plan = f"Newton's method, about {_NEWTON} steps, with {found.plan}"
    return replace(
        found,
        memory=found.memory * separate + made.memory + 8.0 * 12 * n * q,
        seconds=found.seconds + made.seconds + seconds,
        plan=plan,
        solver=f"newton-{found.solver}",
    )


def _is_curved(problem: SmoothERM) -> bool:
    """Whether the loss has a curvature."""
    y, outputs = problem.targets, problem.loss.outputs(problem.targets)
    return problem.loss.curvature(y, np.zeros((len(y), outputs) if outputs else len(y))) is not None


class Run:
    """A point on the way to the minimum, and the steps from it."""

    def __init__(self, settings: Descent, problem: SmoothERM, gram: Gram) -> None:
        self.settings, self.problem, self.gram = settings, problem, gram.astype(np.float64)
        self.inverse: Inverse | None = None
        self.max_iter = settings.max_iter
        self.outputs = problem.loss.outputs(problem.targets)
        n, m = gram.shape[0], max(1, self.outputs)
        self.w = problem.weights[:, None]
        self.alpha, self.Ka = np.zeros((n, m)), np.zeros((n, m))
        first = problem.loss.start(problem.targets, problem.weights) if problem.bias else 0.0
        self.b = np.zeros(m) + first
        self.precondition: Callable[[Array], tuple[Array, Array]] | None = None
        self.pairs: deque[tuple[Any, ...]] = deque(maxlen=_MEMORY)
        self.before: tuple[Any, ...] | None = None

    def begin(self, start: SmoothSolution) -> None:
        self.alpha = np.asarray(start.coef, np.float64).reshape(self.alpha.shape).copy()
        self.b = np.zeros(len(self.b)) + start.bias
        self.Ka = self._times(self.alpha)

    # -- the objective -----------------------------------------------------------------------------------------------

    @property
    def f(self) -> Array:
        return self.Ka + self.b

    def shaped(self, f: Array) -> Array:
        """f as the loss wants it."""
        return f if self.outputs else f[:, 0]

    def _times(self, V: Array) -> Array:
        return np.asarray(arrays.to_numpy(self.gram @ V))

    def data_term(self, f: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.sum(self.problem.weights * self.problem.loss.value(self.problem.targets, self.shaped(f))))

    def inner(self, a: Array, b: Array, Kb: Array) -> float:
        """⟨f, g⟩ of functions with coefficients a and b, K b at hand."""
        return float(np.vdot(a, Kb))

    def objective(self) -> float:
        return self.data_term(self.f) + self.problem.ridge * self.inner(self.alpha, self.alpha, self.Ka)

    def gradient(self, f: Array) -> Array:
        return self.w * np.asarray(
            self.problem.loss.gradient(self.problem.targets, self.shaped(f)), np.float64
        ).reshape(f.shape)

    # -- the loop ----------------------------------------------------------------------------------------------------

    def until_done(self, step: Callable[[], tuple[Array, Array, Array]]) -> SmoothSolution:
        """``step`` returns a direction (Δ, KΔ, β); the loop goes along it as far as it is good."""
        reason, gap, n_iter = "max_iter", np.inf, 0
        value = self.objective()
        try:
            while n_iter < self.max_iter:
                delta, Kd, beta = step()
                slope = self._slope(delta, Kd, beta, self.f)
                gap = max(-slope, 0.0) / 2 / max(abs(value), 1e-300)
                t = self._search(delta, Kd, beta, value, slope, exact=self.inverse is None)
                if t < _SHORT and self.inverse is not None and gap > self.settings.tol:
                    # there is no curvature that tells how far: down the slope instead
                    delta, Kd, beta = self.lbfgs()
                    slope = self._slope(delta, Kd, beta, self.f)
                    t = self._search(delta, Kd, beta, value, slope, exact=True)
                if gap <= self.settings.tol or t == 0.0:
                    reason = (
                        "gap"
                        if gap <= self.settings.tol or (t == 0.0 and gap <= 1e3 * self.settings.tol)
                        else "stalled"
                    )
                    break
                self._move(t, delta, Kd, beta)
                value, n_iter = self.objective(), n_iter + 1
                if asked := asked_to_stop(gap=gap, tol=self.settings.tol, n_iter=n_iter, objective=value):
                    reason = asked
                    break
            if reason == "gap":  # the last step is there already, and squares what is left
                self._move(t, delta, Kd, beta)
                value = self.objective()
        except Stopped as stop:
            reason = stop.accepted()
        except KeyboardInterrupt:
            if not self.settings.keep_on_interrupt:
                raise
            reason = "interrupted"
        return self.solution(reason, value, float(gap), n_iter)

    def solution(self, reason: str, value: float, gap: float, n_iter: int) -> SmoothSolution:
        """The point as it is."""
        coef, bias = (self.alpha, self.b) if self.outputs else (self.alpha[:, 0], float(self.b[0]))
        solver = (
            "lbfgs"
            if self.inverse is None and n_iter
            else f"newton-{self.inverse.name}"
            if self.inverse is not None
            else "newton"
        )
        return SmoothSolution(coef, bias, self.shaped(self.f), value, gap, n_iter, reason, solver)

    def _move(self, t: float, delta: Array, Kd: Array, beta: Array) -> None:
        self.alpha, self.Ka, self.b = self.alpha + t * delta, self.Ka + t * Kd, self.b + t * beta

    def _slope(self, delta: Array, Kd: Array, beta: Array, f: Array) -> float:
        """∂F along the direction."""
        along = self.inner(self.alpha, delta, Kd)
        return float(np.vdot(self.gradient(f), Kd + beta)) + 2 * self.problem.ridge * along

    def _search(self, delta: Array, Kd: Array, beta: Array, value: float, slope: float, *, exact: bool) -> float:
        """A step that lowers F enough (Armijo); ``exact``: the one that lowers it most. 0 where there is none."""
        if not slope < 0:
            return 0.0
        lam, d = self.problem.ridge, Kd + beta
        linear, square = 2 * lam * self.inner(self.alpha, delta, Kd), lam * self.inner(delta, delta, Kd)
        penalty = lam * self.inner(self.alpha, self.alpha, self.Ka)

        def F(t: float) -> float:
            total = self.data_term(self.f + t * d) + penalty + t * linear + t * t * square
            return total if np.isfinite(total) else np.inf

        def derivative(t: float) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                total = float(np.vdot(self.gradient(self.f + t * d), d)) + linear + 2 * t * square
            return total if np.isfinite(total) else np.inf

        t = 1.0
        while F(t) > value + 1e-4 * t * slope:
            t /= 2
            if t < 1e-12:
                return 0.0
        if exact:  # a direction without a scale of its own: to the minimum along it
            low, high = 0.0, t
            while derivative(high) < 0 and high < 1e6:
                low, high = high, 2 * high
            for _ in range(30):
                middle = (low + high) / 2
                low, high = (middle, high) if derivative(middle) < 0 else (low, middle)
                if high - low < 1e-3 * high:
                    break
            t = (low + high) / 2 if F((low + high) / 2) <= F(t) else t
        return t

    # -- Newton ------------------------------------------------------------------------------------------------------

    def newton(self) -> tuple[Array, Array, Array]:
        loss, y, f, lam = self.problem.loss, self.problem.targets, self.shaped(self.f), self.problem.ridge
        curvature = self.w * np.asarray(loss.curvature(y, f), np.float64).reshape(self.alpha.shape)
        curvature = np.maximum(curvature, _FLOOR * max(float(curvature.max(initial=0.0)), 1e-12))
        coupled = bool(self.outputs)

        def hessian(D: Array) -> Array:
            return self.w * loss.hessian(y, f, D) if coupled else curvature * D

        if self.inverse is None:
            self.inverse = choose(self.gram, self.settings.solver)
        # one factor for all outputs: they would not all fit
        if coupled and 8 * curvature.size * len(curvature) > 0.5 * self.gram.compute.budget:
            curvature = np.repeat(curvature.mean(axis=1, keepdims=True), curvature.shape[1], axis=1)
        if self.precondition is None or not coupled:
            self.precondition = None  # its factor makes room for the next
            self.precondition = bordered(self.inverse, curvature, 2 * lam, self.problem.bias, relative=loss.relative)
        rho = -(self.gradient(self.f) + 2 * lam * self.alpha)
        size = float(np.linalg.norm(rho))
        delta, Kd, beta = np.zeros_like(rho), np.zeros_like(rho), np.zeros(rho.shape[1])
        sums = self.alpha.sum(axis=0)
        # steps below keep sums: put right first
        if self.problem.bias and float(np.max(np.abs(sums))) > 1e-13 * float(np.sum(np.abs(self.alpha))):
            delta = delta - sums / len(delta)
            Kd = self._times(delta)
            rho = rho - 2 * lam * delta - hessian(Kd)
        precondition = self.precondition
        z, zeta = precondition(rho)
        p, p_beta, Kp = z, zeta, self._times(z)
        d = Kp + zeta
        rz = float(np.vdot(rho, d))
        steps = 0
        while steps < _INNER and rz > 0:
            Hd = hessian(d)
            curved = 2 * lam * float(np.vdot(p, d)) + float(np.vdot(d, Hd))
            if not curved > 0:
                break
            t = rz / curved
            delta, Kd, beta = delta + t * p, Kd + t * Kp, beta + t * p_beta
            before = rho
            rho = rho - t * (2 * lam * p + Hd)
            steps += 1
            if float(np.linalg.norm(rho)) <= 1e-3 * size:
                break
            z, zeta = precondition(rho)
            Kz = self._times(z)
            dz = Kz + zeta
            new = float(np.vdot(rho, dz))
            ratio = max((new - float(np.vdot(before, dz))) / rz, 0.0)
            p, p_beta, Kp, d, rz = z + ratio * p, zeta + ratio * p_beta, Kz + ratio * Kp, dz + ratio * d, new
        if steps > _TIRED:
            self.precondition = None
        if steps > 1:
            # conjugate gradients do not see what K does not; a plain step of the preconditioner, which is exact there,
            # keeps α from drifting
            z, zeta = precondition(rho)
            delta, Kd, beta = delta + z, Kd + self._times(z), beta + zeta
        return delta, Kd, beta

    # -- L-BFGS ------------------------------------------------------------------------------------------------------

    def lbfgs(self) -> tuple[Array, Array, Array]:
        """In the inner product ⟨(α, a), (α′, a′)⟩ = α^T K α′ + a a′, b being c a with c² a typical k(x, x)."""
        c = float(np.sqrt(np.mean(np.abs(arrays.to_numpy(self.gram.diag()))))) or 1.0
        c = c if self.problem.bias else 0.0
        g = self.gradient(self.f)
        v, va = g + 2 * self.problem.ridge * self.alpha, c * g.sum(axis=0)
        Kv = self._times(v)
        if self.before is not None:
            alpha, Ka, b, v0, Kv0, va0 = self.before
            s, Ks, sa = self.alpha - alpha, self.Ka - Ka, (self.b - b) / (c or 1.0)
            y, Ky, ya = v - v0, Kv - Kv0, va - va0
            curved = float(np.vdot(s, Ky)) + float(sa @ ya)
            if curved > 1e-14 * abs(float(np.vdot(y, Ky))):
                self.pairs.append((s, Ks, sa, y, Ky, ya, curved))
        self.before = (self.alpha, self.Ka, self.b, v, Kv, va)
        q, Kq, qa, factors = -v, -Kv, -va, []
        for _, Ks, sa, y, Ky, ya, curved in reversed(self.pairs):
            a = (float(np.vdot(Ks, q)) + float(sa @ qa)) / curved
            q, Kq, qa = q - a * y, Kq - a * Ky, qa - a * ya
            factors.append(a)
        if self.pairs:
            _, _, _, y, Ky, ya, curved = self.pairs[-1]
            scale = curved / (float(np.vdot(y, Ky)) + float(ya @ ya))
            q, Kq, qa = scale * q, scale * Kq, scale * qa
        for (s, Ks, sa, _, Ky, ya, curved), a in zip(self.pairs, reversed(factors), strict=True):
            e = (float(np.vdot(Ky, q)) + float(ya @ qa)) / curved
            q, Kq, qa = q + (a - e) * s, Kq + (a - e) * Ks, qa + (a - e) * sa
        return q, Kq, c * qa


def bordered(
    inverse: Inverse, curvature: Array, ridge: float, bias: bool, *, relative: bool = False
) -> Callable[[Array], tuple[Array, Array]]:
    """ρ ↦ (z, ζ) with ridge z + h(Kz + 1ζ) = ρ and 1^T z = 0, for each column with its own h.

    ``relative``: the columns then less their mean. What is common to all outputs has no curvature in such a loss but
    has some here; left in, it would be a direction in which conjugate gradients find no end.
    """
    columns: list[Any] = []
    for k, h in enumerate(curvature.T):
        if k and np.array_equal(h, curvature[:, k - 1]):
            columns.append(columns[-1])
            continue
        s = np.sqrt(h)
        apply = inverse.shifted(s, ridge)
        mu = arrays.to_numpy(apply(s[:, None]))[:, 0] if bias else None
        columns.append((s, apply, mu))

    def solve(rho: Array) -> tuple[Array, Array]:
        z, zeta = np.empty_like(rho), np.zeros(rho.shape[1])
        for k, (s, apply, mu) in enumerate(columns):
            x = arrays.to_numpy(apply((rho[:, k] / s)[:, None]))[:, 0]
            if mu is not None:
                zeta[k] = float(s @ x) / float(s @ mu)
                x = x - zeta[k] * mu
            z[:, k] = s * x
        return (z - z.mean(axis=1, keepdims=True), zeta - zeta.mean()) if relative else (z, zeta)

    return solve
