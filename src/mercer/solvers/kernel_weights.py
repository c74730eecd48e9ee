"""The weights of a sum of kernels, learnt with the machine that uses it, and certified.

    min over β ≥ 0, ‖β‖_p ≤ 1 of J(β) = max over B of −φ(B) − ½ Σ_m β_m ⟨B, K_m B⟩

B are the coefficients of the machine, one column for each function, and φ its dual problem without the kernel. J is
convex, and its slope is −½ s with s_m = ⟨B, K_m B⟩ at the best B. Any B gives a lower bound of the minimum,
−φ(B) − ½‖s‖_q with 1/p + 1/q = 1, and J(β) is an upper one: the gap between them is measured in each round.

A round takes Newton's step: how B answers to a change of β follows from the free variables alone, so the curvature of J
costs one factorisation (Chapelle and Rakotomamonjy 2008). The quadratic model is minimised over ‖β‖_p ≤ 1, in steps of
Newton's method over the simplex of γ = β^p, by the solver of dual quadratic programmes: at p = 1 it takes one, and
weights become exactly 0. At p > 1 the model in γ would not do: its slope at 0 is infinite. Where the model is too
costly or does not hold, β_m ∝ (β_m² s_m)^{1/(p + 1)}, which lowers J in any case (Kloft et al. 2011).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import DenseGram, Gram, SumGram, Use, held
from mercer.native.linalg import NotPositive, cholesky, cholesky_solve
from mercer.problems import DualQP, LinearSystem, Solution
from mercer.runtime.threads import single_threaded_blas
from mercer.runtime.watch import Stopped, asked_to_stop
from mercer.solvers.dual import ActiveSet
from mercer.solvers.linear import ConjugateGradients
from mercer.solvers.newton import indicators, without_sums
from mercer.solvers.small import LARGEST

_INNER = 0.05  # of the gap of the weights: that of the inner problem may be so large
_FREE = 4096  # variables of a problem up to which its curvature is worth a factorisation
_MOST_ADDED = 1e-5  # of the mean of the diagonal: what rounding of float32 values can take
_TRIALS = 8  # points on the way to the minimum of the model
_ENOUGH = 1e-4  # of the fall that the model promises
_NOTHING = 1e-12  # of the whole: a weight that is 0 to rounding
_STEPS = 12  # of Newton's method to the minimum of the model, where p > 1
_SETTLED = 1e-2  # of the fall to it: a step that adds less is the last
_LEAST = 1e-15  # of all γ: a weight that is 0 for the sum, but can grow again
_NEARER = 0.1  # of its γ, below which a weight does not fall in one round where p > 1: its slope at 0 is infinite


@dataclass(frozen=True, eq=False)
class InnerSolution:
    """The best coefficients for one sum of kernels.

    coef
        B, (n, functions).
    rows
        The samples whose coefficients are not 0, or may yet move.
    value
        −φ(B) − ½⟨B, K_β B⟩.
    slack
        By how much J(β) may be larger than that.
    state
        What the next answer starts from.
    """

    coef: Array
    rows: Array
    value: float
    slack: float
    state: Any


class InnerProblem(ABC):
    """What is learnt over a sum of kernels; ``size`` is that of its objective where there is nothing to learn."""

    size: float

    @abstractmethod
    def solve(self, gram: Gram, before: InnerSolution | None) -> InnerSolution:
        """The best coefficients for a matrix, started from those for one like it."""

    @abstractmethod
    def curvature(self, gram: Gram, answer: InnerSolution, products: Array) -> Array | None:
        """∂²J/∂β_l∂β_m from K_m B at ``answer.rows`` as an array (parts, rows, functions); None where it would cost too
        much.
        """


@dataclass(frozen=True, eq=False)
class SupportVectors(InnerProblem):
    """Dual quadratic programmes, each on some of the samples (None: all of them); solved so well that their own gaps
    are a small part of ``tol``, that of the weights.
    """

    problems: Sequence[DualQP]
    samples: Sequence[Array | None]
    solver: ActiveSet
    tol: float

    @property
    def size(self) -> float:  # type: ignore[override]
        return sum(float(np.abs(p.linear) @ np.maximum(np.abs(p.lower), np.abs(p.upper))) for p in self.problems)

    def solve(self, gram: Gram, before: InnerSolution | None) -> InnerSolution:
        found = self._solved(gram, before)
        coef = np.zeros((gram.shape[0], len(found)))
        kept = np.zeros(gram.shape[0], bool)
        for t, (problem, rows, s) in enumerate(zip(self.problems, self.samples, found, strict=True)):
            mine = slice(None) if rows is None else rows
            coef[mine, t] = problem.items(s.coef, gram.shape[0] if rows is None else len(rows))
            kept[_items(problem, rows, _free(problem, s))] = True
        slack = sum(duality_gap(problem, s) for problem, s in zip(self.problems, found, strict=True))
        kept |= coef.any(axis=1)
        return InnerSolution(coef, np.flatnonzero(kept), -float(sum(s.objective for s in found)), slack, found)

    def _solved(self, gram: Gram, before: InnerSolution | None) -> list[Solution]:
        solver = self.solver
        if before is not None:
            reach = sum(float(np.sum(problem.upper - problem.lower)) for problem in self.problems)
            solver = replace(solver, tol=min(solver.tol, max(_INNER * self.tol * abs(before.value) / reach, 1e-10)))
        if len(self.problems) > 1 and all(rows is not None for rows in self.samples):
            return solver.solve_all(self.problems, gram, [rows for rows in self.samples if rows is not None])
        starts = [None] * len(self.problems) if before is None else [s.coef for s in before.state]
        # small ones are solved sooner than a start is looked at
        return [
            solver.solve(problem, gram, start if len(problem) > LARGEST else None)
            for problem, start in zip(self.problems, starts, strict=True)
        ]

    def curvature(self, gram: Gram, answer: InnerSolution, products: Array) -> Array | None:
        total = np.zeros((len(products), len(products)))
        for t, (problem, rows, s) in enumerate(zip(self.problems, self.samples, answer.state, strict=True)):
            free = _free(problem, s)
            if len(free) > _FREE:
                return None
            if not len(free):
                continue
            at = _items(problem, rows, free)
            here = np.searchsorted(answer.rows, at)
            group = np.zeros(len(free), np.int64) if problem.group is None else problem.group[free]
            ones = indicators(group, problem.coupled)
            K = np.asarray(arrays.to_numpy(gram.sub(at, at).fresh(np.float64)))
            K[np.diag_indices(len(K))] += 1e-10 * float(np.mean(np.abs(np.diagonal(K)))) + 1e-300
            try:
                total += _projected(cholesky(K, gram.compute.workers), products[:, here, t].T, ones)
            except NotPositive:
                return None
        return total


def _free(problem: DualQP, s: Solution) -> Array:
    """The variables that are strictly between their bounds."""
    return np.flatnonzero((s.coef > problem.lower) & (s.coef < problem.upper))


def _items(problem: DualQP, rows: Array | None, variables: Array) -> Array:
    """The samples of some variables of a problem on some samples."""
    at = variables if problem.index is None else problem.index[variables]
    return at if rows is None else rows[at]


def duality_gap(problem: DualQP, s: Solution) -> float:
    """By how much the objective at a point is above the minimum, at most: Σ_i of what each variable could gain alone,
    the multipliers held (the gap between primal and dual of the machine).
    """
    slope = s.gradient
    if problem.coupled:
        slope = slope + s.multipliers[0 if problem.group is None else problem.group]
    down, up = s.coef - problem.lower, problem.upper - s.coef
    return float(np.sum(np.maximum(slope, 0.0) * down + np.maximum(-slope, 0.0) * up))


def _factored(gram: Gram, noise: Array) -> Array:
    """The Cholesky factor of K + diag(noise); where rounding has made that indefinite, of as little more as it takes:
    what that costs is a part of the slack.
    """
    more = 0.0
    while True:
        K = np.array(gram.dense(), np.float64)
        size = float(np.mean(np.abs(np.diagonal(K))))
        K[np.diag_indices(len(K))] += noise + more * size
        try:
            return cholesky(K, gram.compute.workers)
        except NotPositive:
            if more >= _MOST_ADDED:
                raise
            more = max(1e-12, 100 * more)


@dataclass(frozen=True, eq=False)
class SquaredErrors(InnerProblem):
    """Ridge regression, in units of 2λ: Σ_i w_i (y_i − f(x_i))²/2λ + ½‖f‖²."""

    system: LinearSystem
    tol: float

    @property
    def size(self) -> float:  # type: ignore[override]
        return float(np.sum(self.system.weights[:, None] * self.system.targets**2)) / (2 * self.system.ridge)

    def solve(self, gram: Gram, before: InnerSolution | None) -> InnerSolution:
        p = self.system
        noise, factor = p.ridge / p.weights, None
        if gram.shape[0] <= _FREE:
            factor = _factored(gram, noise)
            solved = cholesky_solve(factor, np.column_stack([p.targets, np.ones(len(noise))]))
            bias = solved[:, :-1].sum(0) / solved[:, -1].sum() if p.bias else np.zeros(p.targets.shape[1])
            coef = solved[:, :-1] - solved[:, -1:] * bias
        else:
            found = ConjugateGradients(min(self.tol, 1e-6), 500, solver="auto").solve(p, gram)
            coef, bias = found.coef, found.bias
        values = np.asarray(gram @ coef)
        left = p.targets - values - bias
        norm = float(np.sum(coef * values))
        value = float(np.sum(coef * (p.targets - bias))) - 0.5 * float(np.sum(noise[:, None] * coef**2)) - 0.5 * norm
        primal = 0.5 * float(np.sum(left**2 / noise[:, None])) + 0.5 * norm
        return InnerSolution(coef, np.arange(len(coef)), value, max(0.0, primal - value), factor)

    def curvature(self, gram: Gram, answer: InnerSolution, products: Array) -> Array | None:
        if answer.state is None:
            return None
        ones = np.ones((gram.shape[0], 1 if self.system.bias else 0))
        total = np.zeros((len(products), len(products)))
        for t in range(answer.coef.shape[1]):
            total += _projected(answer.state, products[:, :, t].T, ones)
        return total


def _projected(factor: Array, R: Array, ones: Array) -> Array:
    """R^T Q R, Q the inverse of the factored matrix where the sums of ``ones`` are kept."""
    solved = cholesky_solve(factor, np.column_stack([R, ones]))
    H = R.T @ without_sums(solved[:, : R.shape[1]], solved[:, R.shape[1] :], ones)
    return (H + H.T) / 2


@dataclass(frozen=True, eq=False)
class Round:
    """One set of weights, and what was measured there."""

    gamma: Array  # β^p
    weights: Array
    gram: Gram
    answer: InnerSolution
    products: Array  # K_m B
    s: Array  # ⟨B, K_m B⟩
    upper: float  # of the minimum
    lower: float


@dataclass(frozen=True, eq=False)
class KernelWeights:
    """Weights of a sum of kernels, and how near to the optimum they are.

    weights
        β, ‖β‖_p = 1.
    objective
        J(β), an upper bound of the minimum.
    gap
        The upper bound minus the best lower one, over the size of the objective.
    gram
        The sum with these weights, as it was held.
    history
        Of each round: objective, gap, and how many weights are not 0.
    """

    weights: Array
    objective: float
    gap: float
    n_iter: int
    stop_reason: str
    gram: Gram
    history: list[dict[str, float]] = field(default_factory=list)


def learn_weights(
    total: SumGram,
    inner: InnerProblem,
    p: float,
    tol: float,
    max_iter: int,
    start: Array | None = None,
    *,
    keep: bool = False,
) -> KernelWeights:
    """The weights of the parts of a sum (a Gram with ``parts`` and ``weighted``), to a relative gap of ``tol``, from
    ``start`` or from equal ones. The weights that the sum has are the units of its parts.

    ``keep``: Ctrl-C ends with the best round so far, as a deadline does where the watch takes what there is.
    """
    with single_threaded_blas():  # products of a few columns, whose bits must not depend on threads
        gamma = np.full(len(total.parts), 1.0 / len(total.parts)) if start is None else start**p
        return _rounds(total, inner, gamma, p, tol, max_iter, keep)


def _rounds(
    total: SumGram, inner: InnerProblem, gamma: Array, p: float, tol: float, max_iter: int, keep: bool
) -> KernelWeights:
    now = _round(total, inner, gamma, p, None)
    lower, history, reason = now.lower, [], "max_iter"
    for n_iter in range(max_iter + 1):
        lower = max(lower, now.lower)
        gap = max(0.0, now.upper - lower) / max(abs(now.upper), abs(lower), 1e-12 * inner.size, 1e-300)
        history.append({"objective": now.upper, "gap": gap, "kernels": int(np.count_nonzero(now.weights))})
        if gap <= tol:
            reason = "gap"
            break
        if n_iter == max_iter:
            break
        after, ended = None, "stalled"
        try:
            told = asked_to_stop(gap=gap, objective=now.upper, n_iter=n_iter, kernels=history[-1]["kernels"])
            after, ended = (None, told) if told else (_descended(total, inner, now, p), ended)
        except Stopped as stop:
            ended = stop.accepted()
        except KeyboardInterrupt:
            if not keep:
                raise
            ended = "interrupted"
        if after is None:
            reason = ended
            break
        now = after
    return KernelWeights(now.weights, now.upper, gap, n_iter, reason, now.gram, history)


def _round(total: SumGram, inner: InnerProblem, gamma: Array, p: float, before: Round | None) -> Round:
    weights = gamma ** (1.0 / p)
    gram = held(total.weighted(weights * total.weights), Use.SYSTEMS)
    answer = inner.solve(gram, None if before is None else before.answer)
    rows, some = answer.rows, answer.coef[answer.rows]
    products = total.sub(rows, rows).products(some)
    products *= total.weights[:, None, None]
    s = np.maximum(0.0, np.einsum("mit,it->m", products, some))
    largest = float(s.max())  # in units of it no power overflows
    shares = s / (largest or 1.0)
    dual_norm = largest if p == 1 else largest * float(np.sum(shares ** (p / (p - 1))) ** ((p - 1) / p))
    lower = answer.value + 0.5 * float(s @ weights) - 0.5 * dual_norm
    return Round(gamma, weights, gram, answer, products, s, answer.value + answer.slack, lower)


def _descended(total: SumGram, inner: InnerProblem, now: Round, p: float) -> Round | None:
    """A round with a smaller J, or None where none is found."""
    rounding = 1e-12 * abs(now.upper)
    model = _model(inner, now, p)
    if model is not None:
        (target, slope, promised), step = model, 1.0
        for _ in range(_TRIALS):
            trial = _round(total, inner, (1 - step) * now.gamma + step * target, p, now)
            risen = trial.answer.value - now.answer.value
            noise = now.answer.slack + trial.answer.slack + rounding
            # near the optimum the bound below still tells what the values, to rounding, do not
            if risen <= -_ENOUGH * step * promised or (risen <= noise and trial.lower > now.lower + rounding):
                return trial
            # the lowest point of the parabola through the two values with the slope here
            bend = max(risen - step * slope, 1e-300)
            step *= float(np.clip(-step * slope / (2 * bend), 0.02, 0.5))
    powers = (now.weights**2 * now.s) ** (1.0 / (p + 1))
    if not powers.any():
        return None
    trial = _round(total, inner, powers**p / np.sum(powers**p), p, now)
    return trial if trial.answer.value < now.answer.value - rounding else None


def _model(inner: InnerProblem, now: Round, p: float) -> tuple[Array, float, float] | None:
    """The minimum of the quadratic model of J(β) over ‖β‖_p ≤ 1, as γ, the slope of J on the way there, and how far it
    is below J; None where there is no model, or nothing to gain.
    """
    H = inner.curvature(now.gram, now.answer, now.products)
    if H is None or not np.isfinite(H).all():
        return None
    H = H + 1e-9 * max(float(np.mean(np.diagonal(H))), 1e-300) * np.eye(len(H))
    slope = -0.5 * now.s
    target, promised = now.gamma, 0.0
    for _ in range(_STEPS if p > 1 else 1):
        nearer = _nearer(H, slope, now.weights, target, p)
        step = nearer ** (1.0 / p) - now.weights
        fallen = -float(slope @ step + 0.5 * step @ H @ step)
        if fallen <= promised:
            break
        target, settled = nearer, fallen - promised <= _SETTLED * fallen
        promised = fallen
        if settled:
            break
    first = now.gamma ** (1 / p - 1) / p if p > 1 else np.ones(len(H))
    return (target, float((slope * first) @ (target - now.gamma)), promised) if promised > 0 else None


def _nearer(H: Array, slope: Array, weights: Array, gamma: Array, p: float) -> Array:
    """One step of Newton's method from γ to the minimum of a quadratic function of β, whose slope at ``weights`` is
    given: over the simplex of γ, where bounds and sum are linear.
    """
    lower = np.zeros(len(gamma))
    if p > 1:
        first = gamma ** (1 / p - 1) / p
        slope = slope + H @ (gamma ** (1 / p) - weights)
        # β is concave in γ: where the function falls with β it bends upwards
        H = first[:, None] * H * first + np.diag(np.minimum(slope, 0.0) * (1 / p - 1) * first / gamma)
        slope, lower = slope * first, np.minimum(gamma, np.maximum(_NEARER * gamma, _LEAST))
    size = float(np.max(np.abs(slope))) or 1.0
    H, slope = H / size, slope / size
    H[np.diag_indices(len(H))] += 1e-9 * max(float(np.mean(np.diagonal(H))), 1e-3)
    problem = DualQP(slope - H @ gamma, lower, np.ones(len(gamma)), gamma)
    target = ActiveSet(tol=1e-10).solve(problem, DenseGram(H)).coef
    target = np.where(target > _NOTHING, target, 0.0) if p == 1 else np.maximum(target, lower)
    return target / target.sum()
