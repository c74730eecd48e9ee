"""Learning from samples that pass one after the other: a step for each, inside a fixed number of samples that are kept.

``Stream`` is stochastic gradient descent in the space of a kernel for any loss, ``Recursive`` least squares solved
anew with each sample. Both take rows of a Gram in an order, a block at a time: the values k(block, kept) and
k(block, block) are computed together, then a compiled loop goes over the samples of the block, so that a block gives
what its samples give one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg

from mercer import arrays
from mercer.arrays import Array
from mercer.data import chunks
from mercer.gram import Cost, DenseGram, Gram
from mercer.losses import (
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Perceptron,
    Pinball,
    Poisson,
    Squared,
    SquaredHinge,
)
from mercer.runtime import compiling, threads
from mercer.runtime.watch import Stopped, asked_to_stop

STEPS = {"sqrt": 0, "inverse": 1, "constant": 2}
REMOVALS = {"project": 0, "oldest": 1, "smallest": 2}
_BLOCK = 512  # samples whose values are computed together
_SMALL = 1024  # rows whose whole matrix is computed once, however often they are passed
_WORK = 1 << 27  # multiplications of a block between two looks at the clock, about
_SPANNED = 1e-7  # of k(x, x): what is less is taken for rounding, so that entries of K⁻¹ stay below its inverse
_NEAR = 1e-2  # of k(x, x): where less than this is left, rounding of K⁻¹ tells, and its product is refined
_ROUNDING = 1e-11  # of k(x, x): what is less of K cannot be told from rounding
_OWN = -1  # a loss of the user's, whose slope Python computes
_KINDS: list[tuple[type[Loss], str]] = [
    (Squared, ""), (Huber, "delta"), (Expectile, "tau"), (Pinball, "tau"), (EpsilonInsensitive, "epsilon"),
    (Poisson, ""), (Logistic, ""), (Hinge, ""), (SquaredHinge, ""), (Perceptron, ""), (Multinomial, ""),
]  # fmt: skip


class Rule(NamedTuple):
    """What does not change in a stream, in numbers that compiled code reads."""

    loss: int
    shape: float  # the parameter of the loss
    ridge: float
    step: int
    first: float  # η0; 0: what curvature and k(x, x) allow
    budget: int
    removal: int
    average: bool
    bias: bool
    classes: int  # 0: targets are numbers; 2: they are ±1; more: numbers of classes, one function for each


class Kept(NamedTuple):
    """What is kept of a stream: arrays with room for the budget and one more, changed in place."""

    counts: Array  # how many are kept; steps so far; mistakes; changes since the inverse was computed
    sums: Array  # the largest k(x, x) so far; the norm of what removals took
    coef: Array  # (room, m)
    mean: Array  # (room, m), of the average of all functions so far; empty without
    bias: Array  # (2, m): that of f, and of the average
    row: Array  # of the Gram
    place: Array  # the column of its values in a block
    age: Array  # the step at which it was last given weight
    own: Array  # k(x, x)
    K: Array  # (room, room), and its inverse: of removal by projection alone
    inverse: Array


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
        for some, values in _blocks(gram, order, lambda: self.rows, rule.budget, heavy):
            self._make_room(len(values), rule)
            self.kept.place[: self.count] = np.arange(self.count)
            block = (values, self.count, order[some], y[some], weights[some])
            at = 0
            while at < len(values):
                at = self._advance(at, block, rule, loss)
                if self.kept.counts[3] >= max(rule.budget, 64):
                    self._invert()
            yield some.stop

    def _advance(self, at: int, block: Any, rule: Rule, loss: Loss) -> int:
        """The samples of a block from ``at`` on, until all are taken in or the inverse is to be computed anew."""
        if rule.loss != _OWN:
            return int(_running(at, *block, self.kept, rule))
        values, _, _, y, _ = block
        m = self.kept.coef.shape[1]
        k, f, slope = np.empty(len(self.kept.row)), np.empty(m), np.empty(m)
        _evaluating(values[at], self.kept, k, f)
        target = np.where(np.arange(m) == y[at], 1.0, -1.0) if rule.classes > 2 else np.full(m, y[at])
        slope[:] = loss.gradient(target, f)
        bend = loss.curvature(target, f)
        _updating(at, *block, self.kept, rule, k, f, slope, max(1.0, float(np.max(1.0 if bend is None else bend))))
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
    kind = next((i for i, (cls, _) in enumerate(_KINDS) if type(loss) is cls), _OWN)
    name = _KINDS[kind][1] if kind != _OWN else ""
    shape = float(getattr(loss, name)) if name else 0.0
    return Rule(
        kind, shape, float(ridge), STEPS[step], 0.0 if first is None else float(first), int(budget), REMOVALS[removal],
        bool(average), bool(bias), classes,
    )  # fmt: skip


@dataclass(eq=False)
class Recursive:
    """f that minimises Σ_i w_i (y_i − f(x_i))² + λ‖f‖² over the span of the samples that are kept.

    A sample is kept while there is room, if ‖φ(x) − its projection onto the span‖² > ``threshold``·k(x, x); of others
    only the projection is seen. A threshold of 0 keeps every sample. With L L^T = K of those that are kept,
    c = L⁻¹k(kept, x) are the coordinates of the projection, and least squares in these are kept as a triangle,
    R^T R = Σ w c c^T + λI, by rotations. With a bias the first coordinate is the constant, without penalty.
    """

    bias: bool
    rows: Array  # of the Gram
    root: Array  # L^T
    triangle: Array  # R, beside it R⁻ᵀ Σ w c y as the last column
    far: Array  # the largest ‖φ(x) − projection‖² of what was not kept; the sum over all

    @classmethod
    def empty(cls, bias: bool) -> Self:
        return cls(bias, np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros((int(bias), int(bias) + 1)), np.zeros(2))

    @property
    def count(self) -> int:
        """How many samples are kept."""
        return len(self.rows)

    def renumbered(self) -> None:
        """The samples that are kept are henceforth the first rows of a Gram, in their order."""
        self.rows = np.arange(self.count)

    def copied(self) -> Recursive:
        return Recursive(self.bias, self.rows.copy(), self.root.copy(), self.triangle.copy(), self.far.copy())

    def function(self) -> tuple[Array, float]:
        """(coefficients (count,), bias) of f."""
        R, b = self.triangle[:, :-1], int(self.bias)
        if not len(R):
            return np.zeros(0), 0.0
        R = R + np.diag(np.where(np.diagonal(R) == 0, 1.0, 0.0))  # nothing seen yet of the bias
        beta = linalg.solve_triangular(R, self.triangle[:, -1], check_finite=False)
        coef = linalg.solve_triangular(self.root, beta[b:], check_finite=False)
        return np.asarray(coef), float(beta[0]) if b else 0.0

    def pass_over(
        self, gram: Gram, order: Array, y: Array, weights: Array, ridge: float, threshold: float, budget: int
    ) -> Iterator[int]:
        """Learn from the rows ``order`` of the Gram, of targets y and weights in that order; yields how many have been
        taken in, after each block.
        """
        b = int(self.bias)
        for some, values in _blocks(gram, order, lambda: self.rows, budget, 4 * budget**2):
            start, room = self.count, max(self.count, min(budget, self.count + len(values)))
            root, triangle, place = np.zeros((room, room)), np.zeros((room + b, room + b + 1)), np.zeros(room, np.int64)
            root[:start, :start] = self.root
            triangle[: start + b, : start + b] = self.triangle[:, :-1]
            triangle[: start + b, -1] = self.triangle[:, -1]
            place[:start] = np.arange(start)
            n = int(
                _solving(
                    values, start, y[some], weights[some], root, triangle, place, self.far, b, ridge, threshold, budget
                )
            )
            self.rows = np.concatenate([self.rows, order[some][place[start:n] - start]])
            self.root = root[:n, :n].copy()
            self.triangle = np.column_stack([triangle[: n + b, : n + b], triangle[: n + b, -1]])
            yield some.stop


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


def _blocks(
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


# -- compiled ----------------------------------------------------------------------------------------------------------


def _slope(kind, shape, y, f):  # type: ignore[no-untyped-def]
    """(∂ℓ/∂f, a bound of the curvature on the way of a step, at least 1) of the losses of ``_KINDS``.

    Numbers one by one, where ``Loss.gradient`` is of arrays: tests compare the two.
    """
    if kind == 0:
        return 2 * (f - y), 2.0
    if kind == 1:
        return min(max(f - y, -shape), shape), 1.0
    if kind == 2:
        return 2 * (1 - shape if y < f else shape) * (f - y), 2.0
    if kind == 3:
        return (-shape if y > f else (1 - shape if y < f else 0.0)), 1.0
    if kind == 4:
        return (0.0 if abs(y - f) <= shape else (1.0 if f > y else -1.0)), 1.0
    if kind == 5:
        rate = np.exp(min(f, 700.0))
        return rate - y, max(1.0, y, rate)
    if kind == 6:
        return -y / (1 + np.exp(min(y * f, 700.0))), 1.0
    if kind == 7:
        return (-y if y * f < 1 else 0.0), 1.0
    if kind == 8:
        return -2 * y * max(0.0, 1 - y * f), 2.0
    return (-y if y * f <= 0 else 0.0), 1.0


slope = compiling.jit(_slope)


def _slopes(rule, y, f, out):  # type: ignore[no-untyped-def]
    """The slope of each function; returns the bound of the curvature."""
    m = len(f)
    if rule.loss == 10:
        top, total = f[0], 0.0
        for c in range(m):
            top = max(top, f[c])
        for c in range(m):
            out[c] = np.exp(f[c] - top)
            total += out[c]
        for c in range(m):
            out[c] = out[c] / total - (1.0 if c == y else 0.0)
        return 1.0
    bend = 1.0
    for c in range(m):
        target = y if rule.classes <= 2 else (1.0 if c == y else -1.0)
        out[c], bent = slope(rule.loss, rule.shape, target, f[c])
        bend = max(bend, bent)
    return bend


_sloping = compiling.jit(_slopes, inner=True)


def _evaluate(row, kept, k, f):  # type: ignore[no-untyped-def]
    """The values k(x, kept) and f(x)."""
    n = kept.counts[0]
    for s in range(n):
        k[s] = row[kept.place[s]]
    for c in range(len(f)):
        value = kept.bias[0, c]
        for s in range(n):
            value += kept.coef[s, c] * k[s]
        f[c] = value


_evaluating = compiling.jit(_evaluate)


def _length(rule, t, largest, bend):  # type: ignore[no-untyped-def]
    """η: η0/√t, min(η0, 1/(2λt)) or η0; η0 = 1/(L R²) where it is not given."""
    first = rule.first
    if first == 0:
        first = 1 / (bend * largest) if largest > 0 else 1.0
    if rule.step == 0:
        return first / np.sqrt(t)
    return min(first, 1 / (2 * rule.ridge * t)) if rule.step == 1 else first


_stepping = compiling.jit(_length, inner=True)


def _replace(r, k, own, row, place, coef, kept, average):  # type: ignore[no-untyped-def]
    """A new sample in slot r."""
    m = len(coef)
    for c in range(m):
        kept.coef[r, c] = coef[c]
        if average:
            kept.mean[r, c] = 0.0
    kept.row[r], kept.place[r], kept.age[r], kept.own[r] = row, place, kept.counts[1], own


_replacing = compiling.jit(_replace, inner=True)


def _multiply(A, v, n, factor, out, before):  # type: ignore[no-untyped-def]
    """out = before·out + factor·A v of a symmetric A: row after row, which vector instructions take side by side."""
    for s in range(n):
        out[s] = before * out[s] if before != 0 else 0.0
    for q in range(n):
        line, value = A[q], factor * v[q]
        for s in range(n):
            out[s] += value * line[s]


_multiplied = compiling.jit(_multiply, inner=True)


def _dot(v, w, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for s in range(n):
        total += v[s] * w[s]
    return total


_dotted = compiling.jit(_dot, inner=True)


def _project(k, own, row, place, coef, kept, rule, d, u):  # type: ignore[no-untyped-def]
    """A new sample with its coefficients: kept, or its projection; then another may go. Returns the norm of what f
    loses.
    """
    n, m, inverse = kept.counts[0], len(coef), kept.inverse
    square = 0.0
    _multiplied(inverse, k, n, 1.0, d, 0.0)
    rest = own - _dotted(k, d, n)
    if rest <= _NEAR * abs(own):
        for s in range(n):
            u[s] = k[s]
        _multiplied(kept.K, d, n, -1.0, u, 1.0)
        _multiplied(inverse, u, n, 1.0, d, 1.0)
        rest = own - _dotted(k, d, n)
    for c in range(m):
        square += coef[c] ** 2
    spanned = rest <= _SPANNED * abs(own)
    r, least = -1, square * max(rest, 0.0)  # −1: the new one itself
    if not spanned and n < rule.budget:
        for s in range(n):
            scaled, line = d[s] / rest, inverse[s]
            for q in range(n):
                line[q] += scaled * d[q]
            line[n] = inverse[n, s] = -scaled
            kept.K[s, n] = kept.K[n, s] = k[s]
        inverse[n, n], kept.K[n, n] = 1 / rest, own
        _replacing(n, k, own, row, place, coef, kept, rule.average)
        kept.counts[0] += 1
        kept.counts[3] += 1
        return 0.0
    if not spanned:
        for s in range(n):
            square = 0.0
            for c in range(m):
                square += kept.coef[s, c] ** 2
                if rule.average:
                    square += kept.mean[s, c] ** 2
            cost = square / (inverse[s, s] + d[s] ** 2 / rest)
            if cost < least:
                r, least = s, cost
    if r < 0:
        for s in range(n):
            for c in range(m):
                kept.coef[s, c] += d[s] * coef[c]
        return np.sqrt(least)
    # column r of the inverse with the new sample, which then takes the place of r in that without r
    for s in range(n):
        u[s] = inverse[r, s] + d[s] * d[r] / rest
    own_r, new = u[r], -d[r] / rest
    lost = 0.0
    for c in range(m):
        a = kept.coef[r, c]
        lost += a * a
        for s in range(n):
            kept.coef[s, c] -= u[s] / own_r * a
        kept.coef[r, c] = coef[c] - new / own_r * a
        if rule.average:
            a = kept.mean[r, c]
            for s in range(n):
                kept.mean[s, c] -= u[s] / own_r * a
            kept.mean[r, c] = -new / own_r * a
    for s in range(n):
        left, right, line = d[s] / rest, u[s] / own_r, inverse[s]
        for q in range(n):
            line[q] += left * d[q] - right * u[q]
    for s in range(n):
        inverse[s, r] = inverse[r, s] = -d[s] / rest - new * u[s] / own_r
        kept.K[s, r] = kept.K[r, s] = k[s]
    inverse[r, r], kept.K[r, r] = 1 / rest - new * new / own_r, own
    kept.row[r], kept.place[r], kept.age[r], kept.own[r] = row, place, kept.counts[1], own
    kept.counts[3] += 1
    return np.sqrt(lost / own_r)


_projecting = compiling.jit(_project, inner=True)


def _drop(k, own, row, place, coef, kept, rule):  # type: ignore[no-untyped-def]
    """A new sample with its coefficients; where there is no room, in the place of the oldest or smallest. Returns the
    norm of what f loses.
    """
    n, m = kept.counts[0], len(coef)
    if n < rule.budget:
        _replacing(n, k, own, row, place, coef, kept, rule.average)
        kept.counts[0] += 1
        return 0.0
    r, least = 0, np.inf
    for s in range(n):
        size = float(kept.age[s])
        if rule.removal == 2:
            size = 0.0
            for c in range(m):
                size += kept.coef[s, c] ** 2
            size *= abs(kept.own[s])
        if size < least:
            r, least = s, size
    lost = 0.0
    for c in range(m):
        lost += kept.coef[r, c] ** 2
    lost = np.sqrt(lost * abs(kept.own[r]))
    _replacing(r, k, own, row, place, coef, kept, rule.average)
    return lost


_dropping = compiling.jit(_drop, inner=True)


def _update(at, values, start, rows, y, weights, kept, rule, k, f, slope, bend):  # type: ignore[no-untyped-def]
    """One step down the ``slope``, which is overwritten, and what it changes in what is kept."""
    n, m, counts, sums = kept.counts[0], len(f), kept.counts, kept.sums
    own = values[at, start + at]
    counts[1] += 1
    t = counts[1]
    sums[0] = max(sums[0], own + (1.0 if rule.bias else 0.0))
    if rule.classes == 2:
        counts[2] += y[at] * f[0] <= 0
    elif rule.classes > 2:
        label = int(y[at])
        for c in range(m):
            if c != label and f[c] >= f[label]:
                counts[2] += 1
                break
    length = _stepping(rule, t, sums[0], bend)
    shrunk = max(0.0, 1 - 2 * length * rule.ridge)
    factor, moved = length * weights[at], False
    if rule.first == 0 and bend > 1 and sums[0] > 0:  # a weight, too, must not carry a step past
        factor = min(factor, 1 / (bend * sums[0]))
    for c in range(m):
        slope[c] *= -factor
        moved = moved or slope[c] != 0
        kept.bias[0, c] *= shrunk
        if rule.bias:
            kept.bias[0, c] += slope[c]
        if shrunk != 1:
            for s in range(n):
                kept.coef[s, c] *= shrunk
    sums[1] *= shrunk
    if moved:
        again = -1
        for s in range(n):
            if kept.row[s] == rows[at]:
                again = s
        if again >= 0:
            for c in range(m):
                kept.coef[again, c] += slope[c]
            kept.age[again] = t
        elif rule.removal == 0:
            room = len(kept.row)
            sums[1] += _projecting(k, own, rows[at], start + at, slope, kept, rule, np.empty(room), np.empty(room))
        else:
            sums[1] += _dropping(k, own, rows[at], start + at, slope, kept, rule)
    if rule.average:
        for c in range(m):
            kept.bias[1, c] += (kept.bias[0, c] - kept.bias[1, c]) / t
            for s in range(counts[0]):
                kept.mean[s, c] += (kept.coef[s, c] - kept.mean[s, c]) / t


_updating = compiling.jit(_update)


def _run(at, values, start, rows, y, weights, kept, rule):  # type: ignore[no-untyped-def]
    """The samples of a block from ``at`` on; returns the first that is left, where the inverse is to be computed
    anew.
    """
    m, most = kept.coef.shape[1], max(rule.budget, 64)
    k, f, slope = np.empty(len(kept.row)), np.empty(m), np.empty(m)
    while at < len(values):
        _evaluating(values[at], kept, k, f)
        bend = _sloping(rule, y[at], f, slope)
        _updating(at, values, start, rows, y, weights, kept, rule, k, f, slope, bend)
        at += 1
        if kept.counts[3] >= most:
            break
    return at


_running = compiling.jit(_run)


def _solve(values, start, y, weights, root, triangle, place, far, b, ridge, threshold, budget):  # type: ignore[no-untyped-def]
    """Each sample of a block into the triangle; returns how many samples are then kept."""
    n, last = start, triangle.shape[1] - 1
    z = np.empty(last + 1)
    for i in range(len(values)):
        own = values[i, start + i]
        rest = own
        for s in range(n):
            z[b + s] = values[i, place[s]]
        for s in range(n):
            line = root[s]
            value = z[b + s] / line[s]
            z[b + s] = value
            rest -= value * value
            for q in range(s + 1, n):
                z[b + q] -= value * line[q]
        room, least = n < budget, max(threshold, 0.1 * _ROUNDING) * own
        if threshold == 0 and room:
            rest += _ROUNDING * own  # every sample is kept: K + 1e-11·diag K has a root whatever K
            least = 0.0
        if room and rest > least:
            for s in range(n):
                root[s, n] = z[b + s]
            root[n, n] = z[b + n] = np.sqrt(rest)
            triangle[b + n, b + n] = np.sqrt(ridge)
            place[n] = start + i
            n += 1
        else:
            far[0] = max(far[0], rest)
            far[1] += max(rest, 0.0)
        size, target = np.sqrt(weights[i]), y[i]
        if b:
            z[0] = 1.0
        for s in range(b + n):
            z[s] *= size
        target *= size
        for s in range(b + n):  # rotations that make z 0
            if z[s] == 0:
                continue
            line = triangle[s]
            length = np.hypot(line[s], z[s])
            c, e = line[s] / length, z[s] / length
            line[s] = length
            for q in range(s + 1, b + n):
                old = line[q]
                line[q] = c * old + e * z[q]
                z[q] = c * z[q] - e * old
            old = line[last]
            line[last] = c * old + e * target
            target = c * target - e * old
    return n


_solving = compiling.jit(_solve)
