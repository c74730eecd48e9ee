"""Learning from samples that pass one after the other: a step for each, inside a fixed number of samples that are kept.

Rows of a Gram are taken in an order, a block at a time: the values k(block, kept) and k(block, block) are computed
together, then a compiled loop (``gradient_steps``, ``recursive``) goes over the samples of the block, so that a block
gives what its samples give one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import linalg

from mercer import arrays
from mercer.arrays import Array
from mercer.data import chunks
from mercer.gram import Cost, DenseGram, Gram
from mercer.losses import Loss
from mercer.runtime import threads
from mercer.runtime.watch import Stopped, asked_to_stop
from mercer.solvers.gradient_steps import KINDS, OWN, REMOVALS, STEPS, Kept, Rule, evaluating, running, updating

_BLOCK = 512  # samples whose values are computed together
_SMALL = 1024  # rows whose whole matrix is computed once, however often they are passed
_WORK = 1 << 27  # multiplications of a block between two looks at the clock, about


@dataclass(eq=False)
class Stream:
    """f = Σ_i a_i k(·, x_i) + b, learnt by steps down the slope of mean ℓ(y, f(x)) + λ(‖f‖² + b²).

        f ← (1 − 2ηλ) f − η w ℓ′(y, f(x)) k(x, ·),   b ← (1 − 2ηλ) b − η w ℓ′(y, f(x))

    Where more samples than the budget would have a coefficient, one is taken out: the oldest, the smallest |a|√k(x, x),
    or the one whose projection onto the span of the others, which take its place, leaves the least: |a|²/[K⁻¹]_ii.
    """

    kept: Kept

    @classmethod
    def empty(cls, functions: int) -> Self:
        none, whole, square = np.zeros((0, functions)), np.zeros(0, np.int64), np.zeros((0, 0))
        start = Kept(
            np.zeros(4, np.int64), np.zeros(2), none, none, np.zeros((2, functions)), whole, whole, whole, np.zeros(0),
            square, square,
        )  # fmt: skip
        return cls(start)

    @property
    def count(self) -> int:
        """How many samples are kept."""
        return int(self.kept.counts[0])

    @property
    def rows(self) -> Array:
        """Their rows in the Gram."""
        return self.kept.row[: self.count]

    @property
    def mistakes(self) -> int:
        """How many labels f had wrong when they came."""
        return int(self.kept.counts[2])

    @property
    def removed(self) -> float:
        """The sum of the norms of what each removal took from f, shrunk since as f is."""
        return float(self.kept.sums[1])

    def function(self, average: bool) -> tuple[Array, Array]:
        """(coefficients (count, m), biases (m,)) of f, or of the average of all f so far."""
        kept = self.kept
        return (kept.mean if average else kept.coef)[: self.count].copy(), kept.bias[int(average)].copy()

    def renumbered(self) -> None:
        """The samples that are kept are henceforth the first rows of a Gram, in their order."""
        self.kept.row[: self.count] = np.arange(self.count)

    def copied(self) -> Stream:
        return Stream(Kept(*(part.copy() for part in self.kept)))

    def pass_over(self, gram: Gram, order: Array, y: Array, weights: Array, rule: Rule, loss: Loss) -> Iterator[int]:
        """Learn from the rows ``order`` of the Gram, of targets y and weights in that order; yields how many have been
        taken in, after each block.
        """
        heavy = rule.budget**2 if REMOVALS["project"] == rule.removal else rule.budget
        for some, values in blocks(gram, order, lambda: self.rows, rule.budget, heavy):
            self._make_room(len(values), rule)
            self.kept.place[: self.count] = np.arange(self.count)
            block = (values, self.count, order[some], y[some], weights[some])
            at = 0
            while at < len(values):
                at = self._advance(at, block, rule, loss)
                if self.kept.counts[3] >= max(rule.budget, 64):
                    self._invert()
            yield some.stop

    def _advance(self, at: int, block: tuple[Array, int, Array, Array, Array], rule: Rule, loss: Loss) -> int:
        """The samples of a block from ``at`` on, until all are taken in or the inverse is to be computed anew."""
        if rule.loss != OWN:
            return int(running(at, *block, self.kept, rule))
        values, _, _, y, _ = block
        m = self.kept.coef.shape[1]
        k, f, slope = np.empty(len(self.kept.row)), np.empty(m), np.empty(m)
        evaluating(values[at], self.kept, k, f)
        target = np.where(np.arange(m) == y[at], 1.0, -1.0) if rule.classes > 2 else np.full(m, y[at])
        slope[:] = loss.gradient(target, f)
        bend = loss.curvature(target, f)
        updating(at, *block, self.kept, rule, k, f, slope, max(1.0, float(np.max(1.0 if bend is None else bend))))
        return at + 1

    def _make_room(self, more: int, rule: Rule) -> None:
        room = min(rule.budget, self.count + more) + 1
        if len(self.kept.row) >= room:
            return
        room = min(rule.budget + 1, max(room, 2 * len(self.kept.row)))
        kept, grown = self.kept, {}
        for name in ("coef", "row", "place", "age", "own") + (("mean",) if rule.average else ()):
            old = getattr(kept, name)
            grown[name] = np.zeros((room, *old.shape[1:]), old.dtype)
            grown[name][: len(old)] = old
        for name in ("K", "inverse") if rule.removal == REMOVALS["project"] else ():
            old = getattr(kept, name)
            grown[name] = np.zeros((room, room))
            grown[name][: len(old), : len(old)] = old
        self.kept = kept._replace(**grown)

    def _invert(self) -> None:
        """K⁻¹ from the beginning: what has been added and taken off again leaves rounding."""
        n, kept = self.count, self.kept
        with threads.single_threaded_blas():
            kept.inverse[:n, :n] = _inverse(kept.K[:n, :n])
        kept.counts[3] = 0


def as_rule(
    loss: Loss, ridge: float, step: str, first: float | None, budget: int, removal: str, average: bool, bias: bool,
    classes: int,
) -> Rule:  # fmt: skip
    """The numbers of a rule; ``first`` is η0, None: 1/(L R²), as ``_length`` has it."""
    kind = next((i for i, (cls, _) in enumerate(KINDS) if type(loss) is cls), OWN)
    name = KINDS[kind][1] if kind != OWN else ""
    shape = float(getattr(loss, name)) if name else 0.0
    return Rule(
        kind, shape, float(ridge), STEPS[step], 0.0 if first is None else float(first), int(budget), REMOVALS[removal],
        bool(average), bool(bias), classes,
    )  # fmt: skip


def passes(
    take_in: Callable[[Array], Iterable[int]], orders: Iterable[Array], keep: bool, **state: Any
) -> tuple[int, int, int, str]:
    """(passes begun, samples taken in, those of the last pass, why it ended: "passed", "max_time", "callback" or
    "interrupted").

    ``take_in(order)`` goes over the rows of one pass and says after each block how many it has had. A stream that is
    stopped ends with what it has; before its first block it has nothing, and ``Stopped`` is raised. ``keep``: Ctrl-C
    ends it in the same way.
    """
    number, before, at = 0, 0, 0
    try:
        for number, order in enumerate(orders, 1):
            before, at = before + at, 0
            for at in take_in(order):
                reason = asked_to_stop(n_iter=number, n_samples=before + at, **state)
                if reason:
                    return number, before + at, at, reason
    except Stopped as stop:
        if not before + at:
            raise
        return number, before + at, at, stop.accepted()
    except KeyboardInterrupt:
        if not (keep and before + at):
            raise
        return number, before + at, at, "interrupted"
    return number, before + at, at, "passed"


def values_at_hand(gram: Gram) -> Gram:
    """The matrix of a few rows as numbers, if they are to be passed more than once; else as it is."""
    return DenseGram(_dense(gram)) if gram.shape[0] <= _SMALL else gram


def blocks(
    gram: Gram, order: Array, kept: Callable[[], Array], budget: int, heavy: int
) -> Iterator[tuple[slice, Array]]:
    """Parts of ``order`` with their values, k(block, kept) beside k(block, block). ``heavy``: multiplications of a
    sample in the loop to come.
    """
    size = max(16, min(_BLOCK, _WORK // max(heavy, 1)))
    if gram.cost is not Cost.CHEAP:  # values among the block that may never be asked for
        size = min(size, max(32, budget))
    for some in chunks(len(order), size):
        block, rows = order[some], kept()
        among = _dense(gram.sub(block, block))
        yield some, np.concatenate([_dense(gram.sub(block, rows)), among], axis=1) if len(rows) else among


def _dense(gram: Gram) -> Array:
    return np.ascontiguousarray(arrays.to_numpy(gram.dense()), np.float64)


def _inverse(K: Array) -> Array:
    """K⁻¹ of a matrix that is positive but for rounding."""
    ridge, size = 0.0, float(np.max(np.diagonal(K), initial=0.0))
    while True:
        try:
            factor = linalg.cho_factor(K + ridge * np.eye(len(K)), lower=True, check_finite=False)
            return np.asarray(linalg.cho_solve(factor, np.eye(len(K)), check_finite=False))
        except linalg.LinAlgError:
            ridge = max(10 * ridge, 1e-14 * size, 1e-300)
