"""Regularised problems over functions of m landmarks: conjugate gradients whose step is one pass over the data.

    min Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖²,  f = Σ_j c_j k(·, z_j) + b

In the coordinates θ = L^T c of the features Φ = C L^−T (``gram.nystrom``) a squared loss is the system
(Φ^T W Φ + λI)θ = Φ^T W y, centred where there is a bias, and a smooth loss a few such systems with W its curvature. Φ^T
W Φ is applied by one pass over C, in which each value is computed once and used twice, and never formed. The
preconditioner is the same matrix of a sample of the rows (``landmark_sample``; for smooth losses so do Marteau-Ferey,
Bach and Rudi 2019). Passes run in the precision of the data, residuals in float64.

Memory: two m × m matrices in float64, a few vectors of n, and the tiles of a pass.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Gram, Landmarks, Outline, Work
from mercer.gram.nystrom import together
from mercer.native.linalg import cholesky_solve
from mercer.problems import LinearSolution, LinearSystem
from mercer.solvers.landmark_sample import Sample, expected_steps, sample_size

if TYPE_CHECKING:
    from mercer.solvers.inverses import Apply
    from mercer.solvers.linear import ConjugateGradients

_STAGES = 3  # times that steps begin anew from the residual in float64; where data are float32 the first are in that
_ROUNDING = 1e-7  # a residual that float64 may not go below: these are normal equations
_COARSE = 1e-3  # the residual that steps in float32 come to
STRIPS = 1.5e7  # bytes that passes work in, however small the budget


def foundation(outline: Outline, tol: float, factors: int = 1, *, once: bool = False) -> tuple[Work, int]:
    """The landmarks, their factor, the sample and the factors of its system; and how many rows it has."""
    n, m, speed = outline.shape[0], len(outline.landmarks()), outline.speed
    budget, among = outline.compute.budget, outline.landmarks().index is not None
    count = sample_size(n, m, tol, budget, once=once, among=among)
    memory = 8.0 * (1 + factors) * m**2 + STRIPS
    seconds = outline.storing(rows=m, columns=m) + 2 * speed.factor(m)
    rows = together(m, budget)
    strips = 8.0 * (1 if once and outline.dtype == np.float64 else 2) * min(rows, max(count, m)) * m
    if once and count:  # the values of a block; L^−1 A L^−T is the work of four factors
        memory += strips
        seconds += outline.storing(rows=count, columns=m) + 4 * speed.factor(m)
    elif count:  # L^−1, the features, and the strips in which threads compute them
        memory += 8.0 * m**2 + 8.0 * count * m + min(outline.compute.workers, -(-count // rows)) * strips
        seconds += outline.storing(rows=count, columns=m) + speed.products(1.0 * count * m**2)
    refused = "two matrices of the landmarks are larger than the budget" if memory - STRIPS > budget else ""
    return Work(memory, seconds + factors * system_seconds(outline, count, once=once), refused=refused), count


def system_seconds(outline: Outline, count: int, *, once: bool = False) -> float:
    """Of one more factor of the system of the sample."""
    m = len(outline.landmarks())
    return outline.speed.products((1.0 if once else 1.5) * (count or m / 3) * m**2) + outline.speed.factor(m)


def outlook(outline: Outline, tol: float, columns: int = 1, ridges: int = 1) -> Work:
    """``solve_system``."""
    n, m = outline.shape[0], len(outline.landmarks())
    base, count = foundation(outline, tol, ridges, once=True)
    steps = expected_steps(n, m, tol, count)
    coarse = outline.dtype == np.float32 and outline.recomputable
    early = min(steps, expected_steps(n, m, _COARSE, count)) if coarse else 0.0
    # the right side and one residual, or two, in float64 as all steps that are not early
    seconds = early * outline.passing(columns, np.float32)
    seconds += (steps - early + 2 + coarse) * outline.passing(columns, np.float64)
    seconds += steps * outline.speed.reading(6 * 8.0 * m**2)
    plan = f"passes over {n} × {m} values with landmarks: about {round(steps)} steps"
    return replace(base.beside(8.0 * 6 * n * columns, seconds), plan=plan, solver="landmarks")


def adjoint(C: Gram, U: Array) -> Array:
    """C^T U by strips of the rows of C, whatever their number."""
    nothing = np.zeros((C.shape[1], U.shape[1]))
    return np.asarray(arrays.to_numpy(C.normal(nothing, lambda rows, _: U[rows])))


def in_float64(C: Gram) -> Gram:
    """C for passes in float64: computed in it, or as it is stored, since passes over what is stored are in float64."""
    return C if C.stored else C.astype(np.float64)


class NormalEquations:
    """(Φ^T W Φ + λI)θ = B for any B, the weighted mean of the rows of Φ taken out of them where there is a bias.

    With sides R and ρ of f and of the bias, θ and b solve both where B = R − g ρ/Σw and b = (ρ − ⟨g, θ⟩)/Σw, g = Φ^T w.

    Parameters
    ----------
    marks : Landmarks
        Φ.
    weights : ndarray of shape (n,)
        W.
    sums : ndarray of shape (m,) or None
        g; None: there is no bias.
    ridges : ndarray of shape (k,)
        λ of each column of B.
    solver : ConjugateGradients
        The residual to reach, and limits.
    apply : callable, optional
        The preconditioner, where one is at hand that was made for a matrix that is nearly the same.
    """

    def __init__(
        self,
        marks: Landmarks,
        weights: Array,
        sums: Array | None,
        ridges: Array,
        solver: ConjugateGradients,
        apply: Apply | None = None,
    ) -> None:
        self.marks, self.weights, self.sums, self.ridges, self.solver = marks, weights, sums, ridges, solver
        self.exact = replace(marks, values=in_float64(marks.values))
        self.total, self.rows = float(weights.sum()), len(weights)
        self.coarse = marks.values.dtype == np.float32 and marks.values.recomputable
        self.apply = apply or preconditioner(marks, weights, ridges, solver.tol, bias=sums is not None)

    def weighed(self, theta: Array, exact: bool, keep: Array | None = None) -> Array:
        """Φ^T W Φ θ by one pass, in float64 where it is to be ``exact``; Φθ in ``keep``, where that is given."""

        def weigh(rows: slice, found: Array) -> Array:
            if keep is not None:
                keep[rows] = found
            return self.weights[rows, None] * found

        by = self.exact if exact else self.marks
        return by.of_values(np.asarray(arrays.to_numpy(by.values.normal(by.coefficients(theta), weigh))))

    def multiplied(self, theta: Array, exact: bool = True, keep: Array | None = None) -> Array:
        """The matrix times θ."""
        out = self.weighed(theta, exact, keep)
        if self.sums is not None:
            out -= np.outer(self.sums, self.sums @ theta / self.total)
        return out + self.ridges * theta

    def solve(self, B: Array, floor: Array) -> tuple[Array, Array, float, int, str]:
        """(θ, Φθ, residual, steps, what ended them); a column of B of less than ``floor`` is rounding."""
        solver = self.solver
        values, found = (np.zeros((self.rows, B.shape[1])) for _ in range(2))
        size = np.linalg.norm(B, axis=0)
        theta, left, n_iter, residual, reason = np.zeros_like(B), 1 * B, 0, np.inf, "stalled"
        stages = [(True, solver.patience, 1e-12)] * _STAGES
        if self.coarse:
            stages[0] = (False, 1, _COARSE)
        for exact, patience, least in stages:
            # the residual to reach, as a share of what is left
            now = np.maximum(np.linalg.norm(left, axis=0), floor)
            share = solver.tol * float(np.min(np.maximum(size, floor) / now))
            inner = replace(solver, tol=max(share, least), max_iter=solver.max_iter - n_iter, patience=patience)
            multiply = partial(self.multiplied, exact=exact, keep=found if exact else None)
            step, last, _, steps, reason = inner._steps(multiply, self.apply, left, np.zeros_like(B), None, floor)
            theta, n_iter, before = theta + step, n_iter + steps, residual
            if exact:  # the last pass was that of the residual
                left, values = last, values + found
            else:
                left = B - self.multiplied(theta, keep=values)
            residual = float(np.max(np.linalg.norm(left, axis=0) / np.maximum(size, floor), initial=0.0))
            if residual <= solver.tol or residual > 0.9 * before or reason != "stalled" or n_iter >= solver.max_iter:
                break
        return theta, values, residual, n_iter, reason


def solve_system(system: LinearSystem, marks: Landmarks, solver: ConjugateGradients) -> LinearSolution:
    """The ridge system over functions of the landmarks; λ may be one for each output."""
    w = system.weights
    Y = system.targets.reshape(len(w), -1)
    ridges = np.broadcast_to(np.asarray(system.ridge, np.float64), (Y.shape[1],))
    shift = np.average(Y, axis=0, weights=w) if system.bias else np.zeros(Y.shape[1])
    right = w[:, None] * (Y - shift)
    sums = marks.of_values(adjoint(in_float64(marks.values), np.column_stack([right, w])))
    equations = NormalEquations(marks, w, sums[:, -1] if system.bias else None, ridges, solver)
    # what is left of constant targets is rounding: no right side to be measured by
    floor = 1e-14 * np.sqrt(np.sum(w[:, None] * Y**2, axis=0) * float(w.sum())) + 1e-300
    theta, values, residual, n_iter, reason = equations.solve(sums[:, :-1], floor)
    b = shift - (np.average(values, axis=0, weights=w) if system.bias else 0.0)
    coef = w[:, None] * (Y - values - b) / np.where(ridges > 0, ridges, 1.0)
    reason = ended(residual, solver.tol, reason)
    return LinearSolution(coef, b, residual, n_iter, "landmarks", reason, marks.coefficients(theta))


def ended(residual: float, tol: float, reason: str) -> str:
    """What ended the steps: "gap" also where rounding left no less."""
    return "gap" if residual <= max(tol, _ROUNDING if reason == "stalled" else 0.0) else reason


def preconditioner(marks: Landmarks, w: Array, ridges: Array, tol: float, *, bias: bool, every: bool = False) -> Apply:
    """V ↦ (Φ^T W Φ + λI)^−1 V as a sample of the rows says it, for each column with its λ; one λ for all where the
    factors of several would not fit. ``every``: the rows are a sample already.
    """
    sample = Sample(marks, tol, once=True, every=every)
    different = np.unique(ridges)
    fit = max(1, marks.values.compute.budget // 4 // (8 * len(marks) ** 2))
    used = different.tolist() if len(different) <= fit else [float(np.exp(np.mean(np.log(different))))]
    factors = dict(zip(used, sample.inverses(w, used, bias=bias), strict=True))

    def apply(V: Array) -> Array:
        full = np.vstack([V, np.zeros((1, V.shape[1]))]) if bias else V
        if len(factors) == 1:
            return cholesky_solve(next(iter(factors.values())), full)[: len(V)]
        out = np.empty_like(V)
        for ridge, L in factors.items():
            mine = ridges == ridge
            out[:, mine] = cholesky_solve(L, full[:, mine])[: len(V)]
        return out

    return apply
