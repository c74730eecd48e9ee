"""Small dual quadratic programmes, many of them on parts of one stored matrix: gathered and solved in float64, in one
compiled call for all.

SMO to the tolerance, then the free variables at once and SMO in turn, to the optimum to rounding: for a few hundred
variables that takes less time than to look at them from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

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
    begins = list(accumulate(map(len, problems), initial=0))
    linear, lower, upper, b, g = np.empty((5, begins[-1]))
    group, at = np.zeros(begins[-1], np.int8), np.empty(begins[-1], np.int64)
    parts = [slice(*ends) for ends in pairwise(begins)]
    for p, mine, rows in zip(problems, parts, items, strict=True):
        linear[mine], lower[mine], upper[mine], b[mine], at[mine] = p.linear, p.lower, p.upper, p.start, rows
        if p.group is not None:
            group[mine] = p.group
    groups = np.array([1 if p.group is None else len(p.groups) for p in problems])
    coupled = np.array([p.coupled for p in problems])
    steps, gaps, turn = np.zeros(len(problems), np.int64), np.full(len(problems), np.inf), np.zeros(1, np.int64)
    lengths = [row_length(len(p), np.float64) for p in problems]
    largest, places = max(lengths), (np.array(begins), np.array(lengths))

    def task(_: int) -> None:
        _solving(
            turn, K, places[0], at, linear, lower, upper, group, groups, coupled, tol, places[1],
            *job_memory(np.float64), b, g, steps, gaps, address("dposv"),
            np.empty((largest + 1) * largest), np.empty((largest + 3) * largest), *np.empty((3, largest + 1), np.int64),
            *np.empty((5, largest)), *np.empty((2, 2 * largest)),
        )  # fmt: skip

    # a few are solved before a thread is awake
    threads.run_tasks(task, range(min(workers, -(-len(problems) // 4))), workers, blas=False)
    out: list[Solution | None] = []
    free = (b > lower) & (b < upper)
    for t, p in enumerate(problems):
        if not gaps[t] <= tol:
            out.append(None)
            continue
        point, gradient, inside = b[parts[t]], g[parts[t]], free[parts[t]]
        gap = max(0.0, float(gaps[t]))
        multipliers, objective = p.multipliers(point, gradient, inside), p.objective(point, gradient)
        out.append(Solution(point, multipliers, objective, gap, int(steps[t]), "gap", gradient, inside))
    return out


def _place_loop(  # type: ignore[no-untyped-def]
    block, ld, q, linear, lower, upper, group, begin, point, gradient, grow, shrink
):  # fmt: skip
    """The gradient at a point, from the beginning, and which variables can move which way from there."""
    for a in range(q):
        gradient[a] = linear[begin + a]
    for a in range(q):
        if point[a] != 0:
            row = block[a * ld : a * ld + q]
            for c in range(q):
                gradient[c] += point[a] * row[c]
        where = group[begin + a] * ld + a
        grow[where] = 0.0 if point[a] < upper[begin + a] else -np.inf
        shrink[where] = 0.0 if point[a] > lower[begin + a] else -np.inf


_placed = compiling.jit(_place_loop)


def _gather_loop(K, items, begin, q, block, ld, runs):  # type: ignore[no-untyped-def]
    """K of the items of one problem, row by row of length ld, with the zero row and the padding that SMO wants."""
    many = 0  # runs of items that lie side by side, as those of a class do
    for c in range(q):
        if c == 0 or items[begin + c] != items[begin + c - 1] + 1:
            runs[many] = c
            many += 1
    runs[many] = q
    block[: (q + 1) * ld] = 0.0
    for a in range(q):
        row, line = K[items[begin + a]], block[a * ld : (a + 1) * ld]
        if 16 * many > q:  # scattered
            for c in range(q):
                line[c] = row[items[begin + c]]
            continue
        for r in range(many):
            at = items[begin + runs[r]]
            source, target = row[at : at + runs[r + 1] - runs[r]], line[runs[r] : runs[r + 1]]
            for c in range(len(target)):
                target[c] = source[c]


_gathered = compiling.jit(_gather_loop)


def _solve_loop(  # type: ignore[no-untyped-def]
    turn, K, first, items, linear, lower, upper, group, groups, coupled, tol, lengths, flags, number, value,
    found, place, b, g, steps, gaps, routine, buffer, system, runs, free, reference, point, gradient, low, high,
    diagonal, grow, shrink
):  # fmt: skip
    """Each problem in turn: SMO to ``tol``, then the free variables at once and SMO in turn, to the optimum to
    rounding; at last the gap, measured with a gradient that was computed from the beginning. One call of SMO for all of
    these, since each would be compiled.
    """
    while True:
        t = count(turn, 0)
        if t >= len(gaps):
            return
        begin, q, ld = first[t], first[t + 1] - first[t], lengths[t]
        _gathered(K, items, begin, q, buffer, ld, runs)
        for c in range(ld):
            point[c] = gradient[c] = low[c] = high[c] = diagonal[c] = 0.0
        for c in range(2 * ld):
            grow[c] = shrink[c] = -np.inf
        size = 1.0
        for a in range(q):
            point[a], low[a], high[a] = b[begin + a], lower[begin + a], upper[begin + a]
            diagonal[a] = buffer[a * ld + a]
            if abs(linear[begin + a]) > size:
                size = abs(linear[begin + a])
        most, bound, taken, against, attempt = _PATIENCE * (q + 100), _EXACT * size, 0, 0, 0
        target, limit, alone, measured = tol, most, False, False
        _placed(buffer, ld, q, linear, lower, upper, group, begin, point, gradient, grow, shrink)
        while True:
            more, gap, negative, _ = iterate(
                buffer, ld, q, gradient[:ld], point, low, high, diagonal, grow, shrink, groups[t], coupled[t],
                target, limit, ld, flags, number, value, found, place,
            )  # fmt: skip
            if measured:
                gaps[t], steps[t] = gap, taken
                for a in range(q):
                    b[begin + a], g[begin + a] = point[a], gradient[a]
                break
            taken, against = taken + more, against + negative
            if attempt == 0:
                for a in range(q):
                    bound += 1e-15 * abs(point[a]) * abs(diagonal[a])
            if against > 0 or (attempt == 0 and gap > tol):
                break
            if gap > bound and not alone:
                alone = attempt == _ATTEMPTS or not balanced(
                    buffer, ld, q, gradient, point, low, high, grow, shrink, groups[t], coupled[t],
                    _PER_STEP * taken, system, free, reference, routine,
                )  # fmt: skip
                attempt, target, limit = attempt + 1, bound, most
                if alone:
                    continue
                limit = _BETWEEN + q // 8
            elif gap > 1e3 * bound:
                break
            else:
                measured, target, limit = True, tol, 0
            _placed(buffer, ld, q, linear, lower, upper, group, begin, point, gradient, grow, shrink)


_solving = compiling.jit(_solve_loop)
