"""The dual quadratic programme over functions of landmarks, on samples that are spread: the proximal points of
``landmark_dual``, whose b_k stay with the pieces.

A round is Newton's method on a smooth problem in m variables (``spread_newton``). Then each piece moves its own
variables, b = clip(b_k − (f + p)/δ), they are mended to sum to 0, and the gap is that of the programme itself: f = Φ
Φ^T b in float64, of which each piece returns the largest −g of what may rise and the largest g of what may fall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.losses import Loss
from mercer.problems import DualQP, Solution
from mercer.runtime.watch import Stopped, report
from mercer.solvers.dual import ActiveSet
from mercer.solvers.landmark_dual import FASTER, FIRST, INNER, ROUNDS, Proximal
from mercer.solvers.smooth import Descent
from mercer.solvers.spread import Passes, Piece, Spread
from mercer.solvers.spread_newton import Point, Rows, SpreadNewton

_SLOW = 0.7  # of the gap before: a round that leaves more of it is at the end of float32
_DIRECT = 3000  # landmarks: the systems that pieces add up are then of 72 MB at most
_MENDED = 8  # times that the sum is mended, at most


@dataclass(frozen=True)
class _Programme:
    """The programme of the samples of a piece: ``loss.dual`` of their targets, C = ``cost`` times their weights."""

    loss: Loss
    cost: float
    bias: bool

    def of(self, piece: Piece) -> DualQP:
        found = self.loss.dual(piece.targets, self.cost * piece.weights, self.bias)
        assert found is not None
        return found


@dataclass(frozen=True)
class _Smoothed:
    """The programme with the term Σ_t δ_t/2 (b_t − b_kt)², as a loss of f; b_k is the state of the piece."""

    programme: _Programme
    smoothed: float

    def of(self, piece: Piece) -> Proximal:
        """The loss of all samples of a piece."""
        q = self.programme.of(piece)
        return Proximal(q, _variables(q, piece), self.smoothed / (q.upper - q.lower), len(piece.weights))

    def __call__(self, piece: Piece) -> Rows:
        loss = self.of(piece)

        def some(rows: slice) -> tuple[Loss, Array, Array]:
            n = rows.stop - rows.start
            return loss.part(np.arange(rows.start, rows.stop)), np.zeros(n), np.ones(n)

        return some


def _variables(q: DualQP, piece: Piece) -> Array:
    return np.clip(np.zeros(len(q)), q.lower, q.upper) if piece.state is None else np.asarray(piece.state)


def solve_spread_dual(
    loss: Loss, cost: float, spread: Spread, bias: bool, solver: ActiveSet, sample: tuple[Any, Array, Array]
) -> tuple[Solution, Array]:
    """The programme to a gap of ``solver.tol``, and the coefficients of the landmarks."""
    programme = _Programme(loss, cost, bias)
    few, targets, weights = sample
    largest = float(np.max(np.abs(np.diagonal(spread.factor)))) ** 2 or 1.0
    passes = spread.passes
    sizes = passes.each("size of the programme", _size, programme)
    smoothed = FIRST * (max((size for size, _ in sizes), default=0.0) or 1.0)
    best: tuple[Any, ...] = (np.inf, np.zeros((len(few), 1)), 0.0, 0.0)
    at: Point | None = None
    of_sample, exact, direct = None, not passes.coarse, len(few) <= _DIRECT
    steps, reason, note = 0, "stalled", "the gap no longer shrinks"
    try:
        for _ in range(ROUNDS):
            here = Spread(passes, spread.factor)
            terms = _Smoothed(programme, smoothed)
            newton = SpreadNewton(
                here, terms, 0.5, bias, 0, Descent(max_iter=50), sample, state=of_sample, exact=exact, direct=direct
            )
            at = newton.begin() if at is None else newton.at(at.theta, at.b)
            wanted = (INNER * smoothed) ** 2 / 2 / largest / max(abs(at.value), 1e-300)
            newton.settings = Descent(tol=max(wanted, 1e-14), max_iter=50)
            at, _, taken, _ = newton.solve(at)
            steps += taken
            c = few.coefficients(at.theta)
            of_sample = _moved(Piece(few.values, few.factor, targets, weights, of_sample), terms, c, at.b)
            passes = passes.leaving("variables", _moved, terms, c, at.b)
            passes = _mended(passes, programme) if bias else passes
            (sums,) = passes.total("right side", _adjoint, programme, len(few))
            theta = few.of_values(sums)
            gap, multiplier, objective = _violation(
                passes.each("gap", _edges, programme, few.coefficients(theta)), bias
            )
            exact = exact or gap > _SLOW * best[0]  # rounding of float32 is what is left
            if gap < best[0]:
                best = (gap, theta, multiplier, objective)
            report(gap=best[0], tol=solver.tol, n_iter=steps)
            if gap <= solver.tol:
                reason, note = "gap", ""
                break
            smoothed = max(FASTER * smoothed, 0.5 * solver.tol)
    except Stopped as stop:
        reason, note = stop.accepted(), ""
    except KeyboardInterrupt:
        if not solver.keep_on_interrupt:
            raise
        reason, note = "interrupted", ""
    gap, theta, multiplier, objective = best
    none = np.zeros(0)
    solution = Solution(
        none, np.array([multiplier]), objective, float(gap), steps, reason, none, none.astype(bool), note
    )
    return solution, few.coefficients(theta)


def _mended(passes: Passes, programme: _Programme) -> Any:
    """The variables with a sum of 0, what is missing given out to those that have room."""
    for _ in range(_MENDED):
        total, size, *room = (float(value) for value in passes.total("sum of the variables", _room, programme))
        inside, every = (room[0], room[1]) if total < 0 else (room[2], room[3])
        free = inside > abs(total)
        available = inside if free else every
        if abs(total) <= 1e-15 * max(1.0, size) or available == 0:
            break
        passes = passes.leaving("variables", _shifted, programme, -total / available, free)
    return passes


def _violation(edges: list[tuple[float, ...]], bias: bool) -> tuple[float, float, float]:
    """(gap, multiplier, objective) from what pieces say of their variables."""
    found = np.array(edges)
    highest, lowest = found[:, 0].max(), found[:, 1].max()
    total, count, objective = found[:, 2:].sum(axis=0).tolist()
    if not bias:
        return max(highest, lowest, 0.0), 0.0, objective
    if np.isinf(highest) or np.isinf(lowest):  # nothing can move: the one bound that is left is the multiplier
        one = -lowest if np.isinf(highest) else highest
        return 0.0, 0.0 if np.isinf(one) else float(one), objective
    return float(highest + lowest), -total / count if count else float(highest - lowest) / 2, objective


# -- where the samples are ------------------------------------------------------------------------------------------


def _size(piece: Piece, programme: _Programme) -> tuple[float, int]:
    q = programme.of(piece)
    return float(np.max(np.abs(q.linear), initial=0.0)), len(q)


def _moved(piece: Piece, terms: _Smoothed, c: Array, b: Array) -> Array:
    """The variables of the maximum at f = C c + b, in float64."""
    return terms.of(piece).point((piece.product(c) + b)[:, 0])


def _room(piece: Piece, programme: _Programme) -> tuple[Array, ...]:
    """Σ b, Σ |b|, and the room upwards and downwards, of variables between their bounds and of all."""
    q = programme.of(piece)
    b = _variables(q, piece)
    inside = (b > q.lower) & (b < q.upper)
    up, down = q.upper - b, b - q.lower
    return tuple(np.array(x.sum()) for x in (b, np.abs(b), up * inside, up, down * inside, down))


def _shifted(piece: Piece, programme: _Programme, share: float, free: bool) -> Array:
    """Each variable moved by a share of its room, those between their bounds or all."""
    q = programme.of(piece)
    b = _variables(q, piece)
    room = (q.upper - b) if share > 0 else (b - q.lower)
    if free:
        room = room * ((b > q.lower) & (b < q.upper))
    return np.clip(b + share * room, q.lower, q.upper)


def _adjoint(piece: Piece, programme: _Programme, m: int) -> tuple[Array]:
    """C^T b."""
    q, n = programme.of(piece), len(piece.weights)
    b = q.items(_variables(q, piece), n)[:, None]
    return (piece.normal(np.zeros((m, 1)), lambda rows, _: b[rows]),)


def _edges(piece: Piece, programme: _Programme, c: Array) -> tuple[float, ...]:
    """The largest −g of what may rise, the largest g of what may fall, Σ g and the number of what is free, and what the
    piece adds to the objective ½ b^T (g + p); g = C c + p.
    """
    q = programme.of(piece)
    b = _variables(q, piece)
    g = q.of_items(piece.product(c)[:, 0]) + q.linear
    up, down = b < q.upper, b > q.lower
    highest = float(np.max(-g, where=up, initial=-np.inf))
    lowest = float(np.max(g, where=down, initial=-np.inf))
    free = up & down
    return highest, lowest, float(g[free].sum()), float(free.sum()), q.objective(b, g)
