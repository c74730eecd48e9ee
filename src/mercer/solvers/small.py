"""Small dual quadratic programmes, many of them on parts of one stored matrix: gathered and solved in float64, in one
compiled call for all.

SMO to the tolerance, then the free variables at once and SMO in turn, to the optimum to rounding: for a few hundred
variables that takes less time than to look at them from outside.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array
from mercer.native.atomics import count
from mercer.native.lapack import address
from mercer.problems import DualQP, Solution
from mercer.runtime import compiling, threads
from mercer.solvers.balance import balanced
from mercer.solvers.smo import iterate, job_memory, row_length

LARGEST = 512  # variables of a problem
_TOGETHER = 64  # problems of one call: some tens of milliseconds
_EXACT = 1e-11
_ATTEMPTS = 4  # to solve for the free variables at once
_BETWEEN = 32  # steps, and an eighth of the variables: for those that have to leave a bound
_PER_STEP = 10_000  # multiplications of a factorisation that are worth a step of SMO done already
_PATIENCE = 20  # steps for each variable, before another solver has its turn


def solve_small(
    problems: Sequence[DualQP], K: Array, items: Sequence[Array], tol: float, workers: int = 1
) -> list[Solution | None]:
    """The solution of each problem, whose variables are the items (rows of K) of the same number; None where SMO is too
    slow for it.
    """
    found: list[Solution | None] = []
    K = np.ascontiguousarray(K)
    for some in range(0, len(problems), _TOGETHER):
        found += _together(problems[some : some + _TOGETHER], K, items[some : some + _TOGETHER], tol, workers)
    return found


def _together(
    problems: Sequence[DualQP], K: Array, items: Sequence[Array], tol: float, workers: int
) -> list[Solution | None]:
    sizes = [len(p) for p in problems]
    lengths = np.array([row_length(q, np.float64) for q in sizes])
    largest = int(lengths.max())
    # a row for each problem, in the layout of SMO: what pads it is 0, and cannot move
    table, moves = np.zeros((6, len(problems), largest)), np.full((2, len(problems), 2 * largest), -np.inf)
    linear, lower, upper, b, g, diagonal = table
    group, at = np.zeros((2, len(problems), largest), np.int64)
    every = K.diagonal()
    for t, (p, q, rows) in enumerate(zip(problems, sizes, items, strict=True)):
        linear[t, :q], lower[t, :q], upper[t, :q], b[t, :q] = p.linear, p.lower, p.upper, p.start
        at[t, :q], diagonal[t, :q] = rows, every[rows]
        if p.group is not None:
            group[t, :q] = p.group
    groups = np.array([1 if p.group is None else len(p.groups) for p in problems])
    coupled = np.array([p.coupled for p in problems])
    bounds = _EXACT * np.maximum(1.0, np.abs(linear).max(1))
    steps, gaps, turn = np.zeros(len(problems), np.int64), np.full(len(problems), np.inf), np.zeros(1, np.int64)

    def task(_: int) -> None:
        _solving(
            turn, K, np.array(sizes), lengths, at, linear, lower, upper, group, groups, coupled, tol, bounds,
            *job_memory(np.float64), b, g, diagonal, *moves, steps, gaps, address("dposv"),
            np.empty((largest + 1) * largest), np.empty((largest + 3) * largest), *np.empty((3, largest + 1), np.int64),
        )  # fmt: skip

    # a few are solved before a thread is awake
    threads.run_tasks(task, range(min(workers, -(-len(problems) // 4))), workers, blas=False)
    out: list[Solution | None] = []
    free = (b > lower) & (b < upper)
    for t, p in enumerate(problems):
        if not gaps[t] <= tol:
            out.append(None)
            continue
        point, gradient, inside = b[t, : sizes[t]], g[t, : sizes[t]], free[t, : sizes[t]]
        gap = max(0.0, float(gaps[t]))
        multipliers, objective = p.multipliers(point, gradient, inside), p.objective(point, gradient)
        out.append(Solution(point, multipliers, objective, gap, int(steps[t]), "gap", gradient, inside))
    return out


def _place_loop(block, ld, q, linear, lower, upper, group, point, gradient, grow, shrink):  # type: ignore[no-untyped-def]
    """The gradient at a point, from the beginning, and which variables can move which way from there."""
    for a in range(q):
        gradient[a] = linear[a]
    for a in range(q):
        if point[a] != 0:
            row = block[a * ld : a * ld + q]
            for c in range(q):
                gradient[c] += point[a] * row[c]
        where = group[a] * ld + a
        grow[where] = 0.0 if point[a] < upper[a] else -np.inf
        shrink[where] = 0.0 if point[a] > lower[a] else -np.inf


_placed = compiling.jit(_place_loop, inner=True)


def _gather_loop(K, items, q, block, ld, runs):  # type: ignore[no-untyped-def]
    """K of the items of one problem, row by row of length ld, with the zero row and the padding that SMO wants."""
    many = 0  # runs of items that lie side by side, as those of a class do
    for c in range(q):
        if c == 0 or items[c] != items[c - 1] + 1:
            runs[many] = c
            many += 1
    runs[many] = q
    for c in range((q + 1) * ld):
        block[c] = 0.0
    for a in range(q):
        row, line = K[items[a]], block[a * ld : (a + 1) * ld]
        if 16 * many > q:  # scattered
            for c in range(q):
                line[c] = row[items[c]]
            continue
        for r in range(many):
            at = items[runs[r]]
            source, target = row[at : at + runs[r + 1] - runs[r]], line[runs[r] : runs[r + 1]]
            for c in range(len(target)):
                target[c] = source[c]


_gathered = compiling.jit(_gather_loop, inner=True)


def _solve_loop(  # type: ignore[no-untyped-def]
    turn, K, sizes, lengths, items, linear, lower, upper, group, groups, coupled, tol, bounds, flags, number, value,
    found, place, b, g, diagonal, can_grow, can_shrink, steps, gaps, routine, buffer, system, runs, free, reference
):  # fmt: skip
    """Each problem in turn: SMO to ``tol``, then the free variables at once and SMO in turn, to the optimum to
    rounding; at last the gap, measured with a gradient that was computed from the beginning. One call of SMO for all of
    these, since each would be compiled.
    """
    while True:
        t = count(turn, 0)
        if t >= len(gaps):
            return
        q, ld, low, high, point, gradient = sizes[t], lengths[t], lower[t], upper[t], b[t], g[t]
        grow, shrink = can_grow[t], can_shrink[t]
        _gathered(K, items[t], q, buffer, ld, runs)
        most, bound, taken, against, attempt = _PATIENCE * (q + 100), bounds[t], 0, 0, 0
        target, limit, alone, measured = tol, most, False, False
        while True:
            if not alone:
                _placed(buffer, ld, q, linear[t], low, high, group[t], point, gradient, grow, shrink)
            more, gap, negative, _ = iterate(
                buffer, ld, q, gradient[:ld], point, low, high, diagonal[t], grow, shrink, groups[t], coupled[t],
                target, limit, ld, flags, number, value, found, place,
            )  # fmt: skip
            if measured:
                gaps[t], steps[t] = gap, taken
                break
            taken, against = taken + more, against + negative
            if attempt == 0:
                for a in range(q):
                    bound += 1e-15 * abs(point[a] * diagonal[t, a])
            if against > 0 or (attempt == 0 and gap > tol):
                break
            if gap > bound and not alone:
                alone = attempt == _ATTEMPTS or not balanced(
                    buffer, ld, q, gradient, point, low, high, grow, shrink, groups[t], coupled[t],
                    _PER_STEP * taken, system, free, reference, routine,
                )  # fmt: skip
                attempt, target = attempt + 1, bound
                limit = most if alone else _BETWEEN + q // 8
            elif gap > 1e3 * bound:
                break
            else:
                measured, alone, target, limit = True, False, tol, 0


_solving = compiling.jit(_solve_loop)
