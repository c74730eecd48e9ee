"""The dual quadratic programme by an active set: one file, since rounds, gradient and precision decide together.

The set is found anew from the exact gradient each time.

    min ½ b^T K b + p^T b,  lower ≤ b ≤ upper,  sums of groups kept

Outer rounds choose the variables that may still move, store their block of K, solve it by SMO, and bring the full
gradient up to date with the columns of what changed, computed on the fly. Since the set is derived from the full
gradient, there is nothing to shrink and nothing to reconstruct. The block is in float32; whenever rounding could matter
to the gap, the gradient is computed again in float64, until the gap holds.

Where the kernel has features and there are many variables, one variable at a time comes first (``coordinate``): it
needs no block at all.

Memory: the block, at most a quarter of the budget, and a few vectors. How the matrix itself is held is for
``gram.policy`` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.compute import release_workspace, workspace
from mercer.gram import Cost, DenseGram, Gram, Outline, Use, Work, borrowed, held, outlined
from mercer.problems import DualQP, Solution
from mercer.runtime.threads import Interrupted, cached_property, run_tasks, single_threaded_blas, stopping
from mercer.runtime.watch import Stopped, Watch, begin, current, report, unwatched, watching
from mercer.solvers import coordinate, landmark_dual
from mercer.solvers.interior import interior_point, with_sums
from mercer.solvers.newton import free_step
from mercer.solvers.small import LARGEST, solve_small
from mercer.solvers.smo import MARGIN, Block, row_length

_ALL = 4096  # up to so many variables, all of them are active at once
_ALL_COSTLY = 12_000  # the same where a value is costly: then the block is the matrix, and each value is computed once
_FIRST = 2048  # random variables of the first round
_LARGEST = 16_384  # active variables
_KEPT = 0.75  # of the places for those that are free
_INTERIOR = 1500  # variables; up to here some twenty factorisations take a second
_POLISHING = 6  # times
_INNER = 0.1  # of the gap: how far a round goes
EPS32 = 3e-7  # relative error of a float32 kernel value, a few units in the last place
_LARGEST_SINGLE = 1e15  # of kernel values; beyond, sums of float32 could overflow
# of a forecast, by experience: rounds, seconds of a step and for each variable in it, epochs of one variable at a time
_ROUNDS, _STEP, _ELEMENT, _EPOCHS = 4, 3e-7, 2.5e-10, 30
_BESIDE, _AT_MOST = 4e-6, 0.012  # seconds of all else: for each variable, and where these are many
_SLICE = 0.1  # seconds between two looks at the clock

Progress = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class ActiveSet:
    """Solver of ``DualQP``.

    tol
        The gap to reach, in units of the gradient (libsvm's).
    max_iter, max_time
        Steps and seconds; None: 10⁶ + 1000 per variable, and no limit.
    polish
        Solve the free variables exactly at the end where that costs little beside what has been done: the answer is
        then the optimum to rounding, not one of many within ``tol``.
    progress
        Called several times a second with gap, steps, seconds and active variables; returns True to stop.
    keep_on_interrupt
        Whether Ctrl-C ends the solver with the point found so far instead of an error.
    """

    tol: float = 1e-3
    max_iter: int | None = None
    max_time: float | None = None
    polish: bool = True
    progress: Progress | None = None
    keep_on_interrupt: bool = False
    seed: int = 0

    def solve(self, problem: DualQP, gram: Gram, start: Array | None = None) -> Solution:
        """From ``start``, if given, moved into the bounds and to the sums that are to be kept."""
        with self._watched():
            try:
                begin()
                by_passes = self._by_landmarks(problem, gram)
                if by_passes is not None:
                    return by_passes
                gram = held(gram, Use.ACTIVE)
                if start is None:
                    items = np.arange(len(problem)) if problem.index is None else problem.index
                    found = self._small([problem], gram, [items])[0]
                    if found is not None:
                        return found
                return self._solve(problem, gram, start)
            except Stopped as stop:
                return _at_zero(problem, stop)

    def _by_landmarks(self, problem: DualQP, gram: Gram) -> Solution | None:
        """By passes over the values with landmarks, where the matrix has those and is not small."""
        marks = gram.landmarks()
        if marks is None or not _many(len(problem)) or not landmark_dual.usable(problem):
            return None
        return landmark_dual.solve_dual(problem, marks, self)

    def _watched(self) -> AbstractContextManager[Watch | None]:
        return watching(self.max_time, self.progress, partial=True, gap=np.inf, tol=self.tol, n_iter=0, active=0)

    def solve_all(self, problems: Sequence[DualQP], gram: Gram, parts: Sequence[Array]) -> list[Solution]:
        """Several problems, each on some of the items of one matrix: small ones together."""
        with self._watched():
            try:
                begin()
                return self._solve_all(problems, gram, parts)
            except Stopped as stop:
                return [_at_zero(problem, stop) for problem in problems]

    def _solve_all(self, problems: Sequence[DualQP], gram: Gram, parts: Sequence[Array]) -> list[Solution]:
        gram = held(gram, Use.ACTIVE_PARTS)
        with borrowed(gram) if max(map(len, problems)) <= LARGEST else nullcontext(gram) as whole:
            found = self._small(
                problems,
                whole,
                [items if p.index is None else items[p.index] for p, items in zip(problems, parts, strict=True)],
            )

            if gram.landmarks() is not None:  # one after the other: passes take all threads, and memory
                for t, (problem, items) in enumerate(zip(problems, parts, strict=True)):
                    found[t] = found[t] or self._by_landmarks(problem, whole.sub(items, items))

            def task(t: int) -> None:
                found[t] = self._solve(problems[t], held(whole.sub(parts[t], parts[t]), Use.ACTIVE), None)

            run_tasks(task, [t for t, solution in enumerate(found) if solution is None], gram.compute.workers)
        return [solution for solution in found if solution is not None]

    def _small(self, problems: Sequence[DualQP], gram: Gram, items: Sequence[Array]) -> list[Solution | None]:
        """Those that are solved in no time, where nobody wants to watch or to limit it; None for the others."""
        watched = ((watch := current()) is not None and watch.partial) or self.max_iter is not None or not self.polish
        K = gram.at_hand(np.float64)
        if watched or K is None or max(map(len, problems)) > LARGEST:
            return [None] * len(problems)
        return solve_small(problems, K, items, self.tol, gram.compute.workers)

    def _solve(self, problem: DualQP, gram: Gram, start: Array | None) -> Solution:
        features = coordinate.usable(problem, gram) if start is None and _many(len(problem)) else None
        if features is not None:
            start = coordinate.descend(problem, features, gram, self.seed)
        first = (
            problem.start
            if start is None
            else with_sums(problem, np.clip(np.asarray(start, np.float64), problem.lower, problem.upper))
        )
        with single_threaded_blas():  # the systems inside are small, and their bits must not depend on threads
            run = _Run(self, problem, gram, first)
            try:
                return run.solve()
            finally:
                release_workspace(run.buffer)


def _at_zero(problem: DualQP, stop: Stopped) -> Solution:
    """The point 0, where it is feasible: what there is when the limit comes before the first values of the matrix. Its
    gradient needs none.
    """
    if problem.start.any():
        raise stop
    note = f"the kernel matrix was not there in time{stop.watch.doing}, so nothing was learned"
    reason, b, g = stop.accepted(), np.zeros(len(problem)), problem.linear.astype(np.float64)
    return Solution(
        b, problem.multipliers(b, g), 0.0, problem.violation(b, g)[0], 0, reason, g, np.zeros(len(b), bool), note
    )


class _Limit(Exception):
    """The most steps have been made; the point so far stands."""


def _many(variables: int) -> bool:
    """Whether there are ways that are quicker than blocks, where the matrix has landmarks or features."""
    return variables > _ALL


def _at_once(gram: Gram) -> int:
    """Up to so many variables, all are active at once."""
    return _ALL_COSTLY if gram.cost > Cost.CHEAP else _ALL


def _most(budget: int, itemsize: int) -> int:
    """Variables whose block is a quarter of the budget."""
    return int(max(64, min(_LARGEST, np.sqrt(budget // 4 / itemsize))))


@dataclass(frozen=True)
class Tried:
    """What a problem on a few of the samples came to: how many of the variables are not 0, and not at a bound, and
    steps for each variable.
    """

    support: float = 0.5
    free: float = 0.2
    steps: float = 2.0


def outlook(outline: Outline, variables: int, tried: Tried, *, usable: bool = True, prepared: bool = False) -> Work:
    """``solve``; of a matrix that is held for it already where ``prepared``. Bytes are those of the block; seconds are
    rough: rounds, and steps for each variable, are those of a small problem.
    """
    if outline.landmarks() is not None and _many(variables) and usable:
        return landmark_dual.outlook(outline)
    matrix, made = (outline, Work()) if prepared else outlined(outline, Use.ACTIVE)
    n = outline.shape[0]
    most = _most(outline.compute.budget, 4)
    if variables <= min(_at_once(outline), most):
        active, rounds = float(variables), 1
    else:
        # those that are free, or violate: after the first round, no more than a third
        active = min(most, max(_ALL, 1.5 * tried.free * variables), max(_FIRST, variables / 3))
        rounds = _ROUNDS
    moved = min(1.0, 1.5 * tried.support) * n  # items whose columns change the gradient
    block = matrix.storing(np.float32, active, active)
    gradient = 2 * matrix.product(dtype=np.float32) * min(0.5, 0.5 * min(active, moved) / n)
    exact = min(outline.product(dtype=np.float64), 2 * outline.product(dtype=np.float64) * tried.support**2)
    steps = tried.steps * variables
    smo = steps * (_ELEMENT * active + _STEP) / min(2, outline.compute.workers)  # with a helper
    beside = min(_BESIDE * variables, _AT_MOST)
    seconds = beside + made.seconds + rounds * (block + (gradient if rounds > 1 else 0.0)) + exact + smo
    first = ""
    if outline.features(at_most=np.inf) is not None and _many(variables):
        width = outline.features(at_most=np.inf).width
        seconds += 2 * _EPOCHS * variables * min(width, outline.sample.item / 8 + 1) * 1e-9
        first = "one variable at a time by the features, then "
    ld = row_length(int(active), np.dtype(np.float32))
    memory = made.memory + 4.0 * (active + 1) * ld + 8.0 * 16 * variables
    if (found := outline.features(at_most=np.inf)) is not None and not found.fixed:
        memory += 4.0 * active**2  # inner products of counts are made apart from the block
    where = "all at once" if rounds == 1 else f"blocks of about {round(active)} in some {rounds} rounds"
    plan = f"{first}an active set of {variables} variables, {where}; the seconds are rough"
    return Work(memory, seconds, plan, "dual")


class _Run:
    def __init__(self, solver: ActiveSet, problem: DualQP, gram: Gram, start: Array) -> None:
        self.solver, self.problem, self.gram = solver, problem, gram
        n = len(problem)
        self.b = np.array(start, np.float64)
        self.g = problem.linear.astype(np.float64)
        # the length of all steps that float32 values have added to the gradient since it was computed in float64
        self.drift = 0.0
        self.scale = float(np.max(np.abs(gram.diag()), initial=0.0))
        single = gram.astype(np.float32)
        self.working = single if self.scale < _LARGEST_SINGLE else self.double
        self.patience = 60  # sweeps of SMO after which the free variables are solved at once
        self.n_iter = self.negative = 0
        self.all_at_once = _at_once(single)  # variables that are all active at once
        self.stored = single.stored
        self.tried = False  # whether interior points have had their turn
        self.limit = 10**6 + 1000 * n if solver.max_iter is None else solver.max_iter
        self.random = np.random.default_rng(solver.seed)
        self.active = np.empty(0, np.int64)
        self.buffer = np.empty(0)
        if self.b.any():
            self._go(self.b, gram)

    # -- the rounds --------------------------------------------------------------------------------------------------

    def solve(self) -> Solution:
        reason, note = "gap", ""
        try:
            note = self._rounds()
            reason = "stalled" if note else "gap"
            if not note and self.solver.polish:
                self._polish()
        except _Limit:
            reason = "max_iter"
        except Stopped as stop:
            reason = stop.accepted()
        except KeyboardInterrupt:
            if not self.solver.keep_on_interrupt:
                raise
            reason = "interrupted"
        gap, _, _ = self.problem.violation(self.b, self.g)
        if reason == "gap" and gap > self.solver.tol:
            reason = "stalled"
        objective, multipliers = self.problem.objective(self.b, self.g), self.problem.multipliers(self.b, self.g)
        free = (self.b > self.problem.lower) & (self.b < self.problem.upper)
        return Solution(
            self.b, multipliers, objective, gap, self.n_iter, reason, self.g, free, note or self._cause(reason)
        )

    def _rounds(self) -> str:
        """Until the gap is reached, or why it cannot be."""
        tol = self.solver.tol
        best, without, refined = (np.inf, np.inf), 0, 0
        while True:
            gap, _, key = self.problem.violation(self.b, self.g)
            self._look(gap)
            if not np.isfinite(gap):
                return "the gradient is no longer finite"
            if gap <= tol:
                if not self.drift or gap + self._hidden(self.drift) <= tol:
                    return ""
                self._refine(gap, key)
                refined += 1
                if refined > 2:
                    self.working = self.double
                continue
            # the gap goes up and down, the objective only down: progress is either of them
            objective = self.problem.objective(self.b, self.g)
            progress = gap < 0.99 * best[0] or objective < best[1] - 1e-7 * abs(best[1])
            best, without = (min(gap, best[0]), min(objective, best[1])), 0 if progress else without + 1
            if without == 6:
                self._only_double()
            if without >= 12:
                return self._cause("stalled")
            active, final = self._choose(gap, key)
            target = 0.9 * tol if final or gap < 3 * tol else max(0.9 * tol, _INNER * gap)
            self._round(active, target, gap)

    def _choose(self, gap: float, key: Array) -> tuple[Array, bool]:
        """The variables of the next round, and whether it should go all the way: no others want to move."""
        n, b, p = len(key), self.b, self.problem
        if n <= min(self.all_at_once, self._largest()) and not len(self.active):
            return np.arange(n), True
        if not len(self.active) and not b.any():
            return np.sort(self.random.permutation(n)[: min(_FIRST, n)]), False
        if n <= self.all_at_once == _ALL_COSTLY and 4 * n * n * self.working.dtype.itemsize <= self.gram.compute.budget:
            return self.active, True  # nothing is gained by leaving some of a stored matrix out
        chosen = np.flatnonzero(key > -MARGIN * gap)
        free = (b[chosen] < p.upper[chosen]) & (b[chosen] > p.lower[chosen])
        most = min(self._largest(), max(int(1.5 * free.sum()), _ALL))
        if len(chosen) > most:
            # All that are free, and a sample of the others by how much they violate: the worst violators alone are
            # mostly of one region, and end at their bounds together.
            weight = np.log(np.maximum(key[chosen], 0.0) + 1e-3 * gap) + self.random.gumbel(size=len(chosen))
            kept = np.flatnonzero(free)
            if len(kept) > _KEPT * most:  # room for those that want to leave a bound
                kept = kept[np.argpartition(-weight[kept], int(_KEPT * most))[: int(_KEPT * most)]]
            weight[kept] += 100.0
            chosen = np.sort(chosen[np.argpartition(-weight, most - 1)[:most]])
        inside = np.isin(chosen, self.active, assume_unique=True).all()
        if inside and len(chosen) > 0.85 * len(self.active) <= 0.85 * self._largest():
            chosen = self.active  # the block is there already
        return chosen, bool(inside) or n <= self.all_at_once

    def _largest(self) -> int:
        return _most(self.gram.compute.budget, self.working.dtype.itemsize)

    def _round(self, active: Array, target: float, gap: float, most: int | None = None) -> None:
        """SMO on the active variables to the gap ``target``; at most so many steps, or until SMO is too slow for
        them.
        """
        block = self._block(active)
        before = self.b[active].copy()
        inner = Block(block, self.problem.part(active), before, self.g[active], self.gram.compute.workers, _INNER * gap)
        slow = self.patience * (len(active) + 100) if most is None else most
        ended: BaseException | None = None
        try:
            taken, pace = 0, max(64, int(_SLICE / (1e-9 * len(active) + 3e-7)))
            while True:
                steps, left, stuck = inner.run(target, min(pace, slow - taken, self.limit - self.n_iter))
                self.n_iter += steps
                taken += steps
                if left <= target <= self.solver.tol and most is None:
                    target = min(target, self._goal(inner.moved()))
                if left <= target or stuck or taken >= slow or self.n_iter >= self.limit:
                    break
                self._look(left)
        except (Stopped, _Limit) as limit:
            ended = limit
        except KeyboardInterrupt as signal:
            if not self.solver.keep_on_interrupt:
                raise
            ended = signal
        after = inner.b
        self.negative += inner.negative
        changed = np.flatnonzero(after != before)
        if len(changed):
            delta = (after - before)[changed]
            with unwatched():  # one product, without which the round would be lost
                self._move(active[changed], delta, self.working)
            self.b[active] = after  # to the last bit, at its bounds
            if (
                ended is None
                and self.working.dtype == np.float32
                and EPS32 * self.scale * float(np.linalg.norm(delta)) > 0.3 * gap
            ):
                self._only_double()  # the steps were larger than float32 can follow to such a gap
        if ended is not None:
            raise ended
        if (taken >= slow or stuck) and most is None:
            self._hard()

    def _block(self, active: Array) -> Array:
        """K of the active variables, with the zero row and the padding that SMO wants."""
        q, dtype = len(active), self.working.dtype
        if len(active) == len(self.active) and self.buffer.dtype == dtype and np.array_equal(active, self.active):
            return self._view(q)
        need = (q + 1) * row_length(q, dtype)
        if self.buffer.dtype != dtype or self.buffer.size < need:
            self.buffer = workspace(need, dtype)  # kept from round to round: fresh memory is slower than the kernel
        items = active if self.problem.index is None else self.problem.index[active]
        block = self._view(q)
        part = self.working if self.problem.index is None and q == len(self.b) else self.working.sub(items, items)
        part.dense(out=block[:q, :q])
        block[:q, q:] = 0
        block[q] = 0
        self.active = active
        return block

    def _view(self, q: int) -> Array:
        ld = row_length(q, self.buffer.dtype)
        return self.buffer[: (q + 1) * ld].reshape(q + 1, ld)

    # -- the gradient ------------------------------------------------------------------------------------------------

    def _move(self, variables: Array, delta: Array, gram: Gram) -> None:
        """b += δ for some variables, and the gradient with it: both or neither."""
        change = self._times(variables, delta, gram)
        self.b[variables] += delta
        self.g += change
        if gram.dtype == np.float32:
            self.drift = float(np.hypot(self.drift, np.linalg.norm(delta)))

    def _times(self, variables: Array, delta: Array, gram: Gram) -> Array:
        """K[:, items of the variables] δ, for each variable."""
        items = variables if self.problem.index is None else self.problem.index[variables]
        n = gram.shape[0]
        # all of it is stored
        if (
            gram is self.working
            and self.problem.index is None
            and len(self.active) == n
            and self.buffer.dtype == gram.dtype
        ):
            return DenseGram(self._view(n)[:n, :n], gram.compute) @ np.bincount(items, weights=delta, minlength=n)
        # of a symmetric matrix one half is computed, which from half the columns on is less than the columns; a stored
        # one is read faster whole
        if (4 if self.stored else 2) * len(items) >= n or gram.quick_products:
            moved = gram @ np.bincount(items, weights=delta, minlength=n)
        else:  # rows lie together in a matrix that is stored
            moved = gram.sub(items, slice(None)).T @ delta if self.stored else gram.sub(slice(None), items) @ delta
        return self.problem.of_items(moved)

    def _go(self, b: Array, gram: Gram) -> None:
        """To the point b, its gradient computed anew."""
        moved = np.flatnonzero(b)
        g = self.problem.linear.astype(np.float64)
        if len(moved):
            g += self._times(moved, b[moved], gram)
        self.b, self.g, self.drift = b, g, float(np.linalg.norm(b)) if gram.dtype == np.float32 else 0.0

    @cached_property
    def double(self) -> Gram:
        return self.gram.astype(np.float64)

    def _only_double(self) -> None:
        self.working = self.double
        if self.drift:
            self._go(self.b, self.double)

    def _refine(self, gap: float, key: Array) -> None:
        """The gradient in float64 wherever float32 could hide a part of the gap: not for variables that are safely at a
        bound.
        """
        near, moved = np.flatnonzero(key > -gap - 2 * self._hidden(self.drift)), np.flatnonzero(self.b)
        if 2 * len(near) >= len(key):
            self._go(self.b, self.double)
            return
        index = np.arange(len(key)) if self.problem.index is None else self.problem.index
        items, place = np.unique(index[near], return_inverse=True)
        self.g[near] = self.problem.linear[near] + (self.double.sub(items, index[moved]) @ self.b[moved])[place]
        self.drift = 0.0

    def _hidden(self, drift: float) -> float:
        """How much of the gap errors of float32 kernel values could hide, summed with coefficients of such a length."""
        return 2 * EPS32 * self.scale * drift

    def _goal(self, step: float) -> float:
        """A gap that leaves room for rounding, where that is little: it is then below the tolerance without a float64
        gradient; else any.
        """
        hidden = self._hidden(float(np.hypot(self.drift, step)))
        return (
            0.95 * self.solver.tol - 1.2 * hidden
            if self.working.dtype == np.float32 and hidden < 0.4 * self.solver.tol
            else np.inf
        )

    # -- the free variables at once ----------------------------------------------------------------------------------

    def _hard(self) -> None:
        """SMO is slow: the whole problem by interior points where it is small, once; else the free variables at once,
        again and again.
        """
        if len(self.b) <= _INTERIOR and not self.tried:
            self.tried = True
            items = np.arange(len(self.b)) if self.problem.index is None else self.problem.index
            K = np.array(self.double.sub(items, items).dense(), np.float64)
            found = interior_point(self.problem, K)
            if found is not None and np.isfinite(found).all():
                self._only_double()
                before, objective = (self.b, self.g), self.problem.objective(self.b, self.g)
                self._go(found, self.double)
                if self.problem.objective(self.b, self.g) > objective + 1e-9 * abs(objective):
                    self.b, self.g = before
                return
        self.patience = 5 if self._newton() else 60

    def _newton(self, largest: int = 3000) -> bool:
        moved = free_step(self.problem, self.double, self.b, self.g, largest)
        if moved is None:
            return False
        changed = np.flatnonzero(moved != self.b)
        if len(changed):
            self._move(changed, moved[changed] - self.b[changed], self.double)
        self.b = moved  # to the last bit, at its bounds
        return True

    def _polish(self) -> None:
        """The free variables exactly, those that then want to leave a bound by SMO, and again."""
        if self.gram.mixed and (self.stored or self.all_at_once == _ALL_COSTLY):
            return  # values in float64 would have to be computed anew
        free = int(np.count_nonzero((self.b > self.problem.lower) & (self.b < self.problem.upper)))
        # a flop of a factorisation costs about a tenth of an element of an SMO step
        if not 0 < free <= max(200, int((0.3 * self.n_iter * min(len(self.b), _ALL)) ** (1 / 3))):
            return
        self._go(self.b, self.double)
        gap, _, _ = self.problem.violation(self.b, self.g)
        kept = gap, self.b.copy(), self.g.copy()
        for _ in range(_POLISHING):
            if not self._newton():
                break
            gap, _, key = self.problem.violation(self.b, self.g)
            if gap < 0.5 * kept[0]:
                kept = gap, self.b.copy(), self.g.copy()
            if gap <= 1e-12 * max(1.0, float(np.max(np.abs(self.g)))):
                break
            chosen = np.flatnonzero(key > -MARGIN * gap)
            if not 1 < len(chosen) <= 500:
                break
            self.working = self.double
            self._round(chosen, 1e-3 * gap, gap, most=10 * len(chosen))
        _, self.b, self.g = kept

    # -- limits and their causes -------------------------------------------------------------------------------------

    def _look(self, gap: float) -> None:
        """The clock, the count and the callback."""
        if stopping():
            raise Interrupted
        if self.n_iter >= self.limit and gap > self.solver.tol:
            raise _Limit
        report(gap=gap, tol=self.solver.tol, n_iter=self.n_iter, active=len(self.active))

    def _cause(self, reason: str) -> str:
        """What was measured about the end."""
        if reason in ("gap", "callback", "interrupted"):
            return ""
        size = self.scale * float(np.sum(np.abs(self.b)))
        if self.negative:
            return (
                f"the kernel matrix is indefinite ({self.negative} steps met negative curvature), so there may be no"
                " single optimum; repair it: kernel.repaired('clip')"
            )
        if np.finfo(np.float64).eps * size * 10 > self.solver.tol:
            return (
                f"the sums have magnitude {size:.1e}, so float64 cannot resolve a gap of {self.solver.tol:g}; "
                "scale the data or the kernel, or take a smaller C or a larger tol"
            )
        if reason == "stalled":
            return (
                "the gap no longer shrinks; the matrix may be asymmetric, or nearly singular: check it with"
                " mercer.check_gram"
            )
        return f"the limit {reason} came first; a larger one, a smaller C or a larger tol would let it converge"
