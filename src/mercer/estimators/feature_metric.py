"""The metric under which f = Σ_i α_i k_M(·, x_i) + b predicts best: one file, its rounds and the race between kernels.

    f by ridge with k_M,   M ← Σ_i w_i ∇f(x_i) ∇f(x_i)^T, scaled to a largest diagonal entry of 1,   and again

(recursive feature machines). Directions in which f does not change stop to count, so the next f is smoother in what is
left. Each round also tries M^½, a step half as bold. Widths, λ and the round are those of the least error on samples
held out, of which there is always the first round: what is found is never worse there than the kernel without M.

Every kernel runs on few samples first; the one that comes out best runs on more. Equal samples are one, of their
weights together: else they would be on both sides of the split.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import chunks
from mercer.functions import RKHSFunction
from mercer.gram import DenseGram, Gram
from mercer.kernels.base import Kernel
from mercer.native.linalg import NotPositive, symmetric_root
from mercer.problems import LinearSystem
from mercer.solvers.inverses import Factored
from mercer.solvers.linear import solved_directly

_FIRST = 800  # samples that every kernel is tried on
_HELD_OUT = 2000  # samples that are enough to judge by, and not fewer than are learnt from
_LEAST_HELD_OUT = 500
_FIRST_ROUNDS = 2
_SPLITS = 3  # of so few samples that one would be noise
_FEW = 2000
_GRADIENTS = 2000  # samples whose gradients are averaged
_AT_ONCE = 2**22  # derivatives that are held together
_NOTHING = 1e-20  # of the variance of the targets: a change that is rounding
_MEDIAN = 256  # samples whose distances say what is wide
_SINGLE = 3e-6  # of the number of samples: what float32 rounds away of λ is a small part of such a one
_BETTER = 0.998  # times the error: less is not worth a step, which flat valleys have no end of
_WIDEST, _SMALLEST, _LARGEST = 8, -9, 4  # log₂ of a width, log₁₀ of λ


@dataclass(frozen=True)
class Candidate:
    """A kernel whose metric is sought; where its width is a word, that is sought too. ``start``: log₂ of the width over
    what the word says, and log₁₀ λ, where the search begins.
    """

    kernel: Kernel
    diagonal: bool
    start: tuple[int, float] = (0, -1.0)

    @property
    def free(self) -> bool:
        """Whether the width is sought: it is a word, and the kernel's own, not that of a part."""
        return self.kernel._data_driven and self.kernel._has_width


@dataclass(frozen=True)
class Step:
    """One round: the width and λ that were best in it, the power of M that led to it (0: the first, M = I), and the
    error held out.
    """

    width: int
    log_alpha: float
    power: float
    error: float


@dataclass(frozen=True, eq=False)
class Trial:
    """A kernel after some rounds: its steps, and what they led to."""

    candidate: Candidate
    steps: tuple[Step, ...]
    metric: Array
    kernel: Kernel
    rows: Array
    coef: Array
    bias: Array

    @property
    def error(self) -> float:
        return self.steps[-1].error


class Solved(NamedTuple):
    """f of one split: the width of its kernel, α and b."""

    width: int
    coef: Array
    intercept: Array


class Split:
    """Samples to learn from and samples held out, seen through a metric."""

    def __init__(self, X: Array, Y: Array, w: Array, rows: Array, held: Array, bias: bool, compute: Compute) -> None:
        self.X, self.Y, self.w, self.rows = X[rows], Y[rows], w[rows], rows
        self.V, self.v, self.u = X[held], Y[held], w[held]
        self.bias, self.compute = bias, compute
        self.state: Solved

    def enter(self, candidate: Candidate, metric: Array) -> None:
        self.candidate, self.metric, self._root = candidate, metric, _root(metric)
        self.Z, self.ZV = (self._seen(A) for A in (self.X, self.V))
        few = np.linspace(0, len(self.w) - 1, min(len(self.w), _MEDIAN)).astype(int)
        self.bound = candidate.kernel.bind(self.Z[few], self.w[few])
        self._matrix: tuple[Any, Gram] | None = None

    def _seen(self, A: Array) -> Array:
        root = arrays.like(self._root, A)
        return A * root if root.ndim == 1 else A @ root

    def kernel(self, width: int) -> Kernel:
        """Between samples that are seen through the metric."""
        return self.bound._widened(2.0**width) if self.candidate.free else self.bound

    def solve(self, width: int, alpha: float, *, exact: bool = False) -> tuple[Array, Array]:
        """α and b. In float32 where its rounding, as that of λ, does not count, and nobody wants it ``exact``."""
        dtype = np.dtype(np.float32 if alpha >= _SINGLE * float(self.w.sum()) and not exact else np.float64)
        if self._matrix is None or self._matrix[0] != (width, dtype):
            gram = self.kernel(width).gram(self.Z, compute=self.compute)
            self._matrix = (width, dtype), DenseGram(gram.compiled().astype(dtype).dense(), self.compute)
        inverse = Factored(self._matrix[1], single=dtype == np.float32)
        return solved_directly(LinearSystem(self.Y, self.w, alpha, self.bias), inverse)

    def error(self, width: int, alpha: float) -> float:
        """The mean squared error held out, as a share of that of the mean; infinite where there is no solution."""
        try:
            coef, intercept = self.solve(width, alpha)
        except NotPositive:
            coef, intercept = np.zeros(self.Y.shape), np.average(self.Y, axis=0, weights=self.w)
            self.state = Solved(width, coef, intercept)
            return math.inf
        self.state = Solved(width, coef, intercept)
        f = arrays.to_numpy(self.kernel(width).gram(self.ZV, self.Z, compute=self.compute) @ coef)
        left = np.average((self.v - f - intercept) ** 2, axis=0, weights=self.u)
        whole = np.average((self.v - np.average(self.Y, axis=0, weights=self.w)) ** 2, axis=0, weights=self.u)
        used = whole > 0
        return float(np.sum(left[used]) / np.sum(whole[used])) if used.any() else float(np.sum(left))

    def learned(self, random: np.random.Generator, blocks: Array | None) -> Array | None:
        """The average outer product of the gradients of f; None where f is constant."""
        n = len(self.w)
        some = np.sort(random.permutation(n)[:_GRADIENTS]) if n > _GRADIENTS else np.arange(n)
        f = RKHSFunction(self.kernel(self.state.width), self.Z, self.state.coef)
        d = self.Z.shape[1]
        M = np.zeros(d) if self.candidate.diagonal else np.zeros((d, d))
        for few in chunks(len(some), max(1, _AT_ONCE // (d * self.Y.shape[1]))):
            G = arrays.to_numpy(f.gradient(self.Z[some[few]], self.compute))
            G *= np.sqrt(self.w[some[few]])[:, None, None]
            G = G.reshape(-1, d)
            G = G * self._root if self._root.ndim == 1 else G @ self._root
            M += np.sum(G**2, axis=0) if self.candidate.diagonal else G.T @ G
        if blocks is not None and M.ndim == 2:
            M = np.where(blocks[:, None] == blocks, M, 0.0)
        largest = float((M if M.ndim == 1 else np.diagonal(M)).max(initial=0.0))
        # columns have variance 1, so that this is what f changes by, squared
        least = _NOTHING * float(np.sum(self.w[some]) * np.max(np.var(self.Y, axis=0), initial=0.0))
        return M / largest if np.isfinite(M).all() and largest > least else None


def _root(metric: Array) -> Array:
    return np.sqrt(metric) if metric.ndim == 1 else symmetric_root(metric)


def _powered(metric: Array, power: float) -> Array:
    """M^power, scaled to a largest diagonal entry of 1."""
    if power == 1.0:
        return metric
    M = metric**power if metric.ndim == 1 else _root(metric)
    return M / (M if M.ndim == 1 else np.diagonal(M)).max()


def _within(width: int, log_alpha: float) -> bool:
    return abs(width) <= _WIDEST and _SMALLEST <= log_alpha <= _LARGEST


@dataclass
class Race:
    """The search for a metric over samples X, targets Y (n, outputs) and weights.

    ``alpha``: λ, or None to seek it; ``rounds`` of each kernel at most; ``most`` samples to learn from; ``blocks``: of
    the columns, of which M is made. ``tell`` is called with each step.
    """

    X: Array
    Y: Array
    w: Array
    candidates: Sequence[Candidate]
    alpha: float | None
    rounds: int
    most: int | None
    share: float
    bias: bool
    random: np.random.Generator
    compute: Compute
    tell: Callable[[dict[str, Any]], None]
    blocks: Array | None = None
    best: Trial | None = None  # of all that have run on as many samples
    fallback: Trial | None = None  # of those that have run on fewer
    history: list[dict[str, Any]] = field(default_factory=list)

    def run(self) -> Trial:
        """The best trial, with the metric that its steps lead to on all samples, where these are few."""
        n = len(self.w)
        most = n if self.most is None else min(n, self.most)
        candidates, splits = list(self.candidates), _SPLITS if n <= _FEW else 1
        if not np.ptp(self.Y, axis=0).any():  # f is constant, and its gradients are rounding
            self.rounds = 0
        if len(candidates) > 1:
            best = min(self._stage(candidates, _FIRST, splits, _FIRST_ROUNDS, sweeps=2), key=lambda trial: trial.error)
            candidates = [replace(best.candidate, start=(best.steps[0].width, best.steps[0].log_alpha))]
            self.fallback, self.best = self.best, None
        self._stage(candidates, most, splits, self.rounds, sweeps=2 if self.fallback is None else 1)
        assert self.best is not None
        try:
            return self._on_all(self.best) if n <= most else self.best
        except NotPositive:  # of all samples, though not of those that were learnt from
            return self.best

    def so_far(self) -> Trial | None:
        """The best trial when somebody wants no more."""
        return self.best or self.fallback

    def nothing(self) -> Trial:
        """What there is before the first round: the mean of the targets."""
        candidate, d = self.candidates[0], self.X.shape[1]
        rows = np.arange(min(len(self.w), _MEDIAN))
        mean = np.average(self.Y, axis=0, weights=self.w)
        step = Step(0, math.log10(self.alpha) if self.alpha is not None else candidate.start[1], 0.0, 1.0)
        metric = np.ones(d) if candidate.diagonal else np.eye(d)
        kernel = candidate.kernel.bind(self.X[rows], self.w[rows])
        return Trial(candidate, (step,), metric, kernel, rows, np.zeros((len(rows), len(mean))), mean)

    def _stage(
        self, candidates: Sequence[Candidate], most: int, splits: int, rounds: int, *, sweeps: int
    ) -> list[Trial]:
        """Every kernel on the same splits of at most so many samples; the best trial of each."""
        n = len(self.w)
        held = int(np.clip(round(self.share * n), 1, min(n - 1, _HELD_OUT, max(most, _LEAST_HELD_OUT))))
        made = []
        for _ in range(splits):
            order = self.random.permutation(n)
            rows = np.sort(order[held : held + most])
            made.append(Split(self.X, self.Y, self.w, rows, np.sort(order[:held]), self.bias, self.compute))
        return [self._path(candidate, made, min(rounds, self.rounds), sweeps) for candidate in candidates]

    def _path(self, candidate: Candidate, splits: list[Split], rounds: int, sweeps: int) -> Trial:
        d = self.X.shape[1]
        for split in splits:
            split.enter(candidate, np.ones(d) if candidate.diagonal else np.eye(d))
        point = (candidate.start[0], math.log10(self.alpha) if self.alpha is not None else candidate.start[1])
        along = self._free_directions(candidate)
        step = self._search(splits, point, 0.0, along * sweeps)
        best = now = self._trial(candidate, splits, (step,))
        for number in range(rounds):
            # λ and the width in turn: what one round leaves, the next one finds
            after = self._next(candidate, splits, now.steps[-1], along[number % len(along) :][:1] if along else [])
            if after is None:
                break
            now = self._trial(candidate, splits, (*now.steps, after))
            if now.error >= best.error:
                break
            best = now
        return best

    def _free_directions(self, candidate: Candidate) -> list[tuple[int, int]]:
        """In which width and log λ are sought."""
        return [(0, 1)] * (self.alpha is None) + [(1, 0)] * candidate.free

    def _next(
        self, candidate: Candidate, splits: list[Split], before: Step, along: list[tuple[int, int]]
    ) -> Step | None:
        """The metric of the f that there is, or its root, whichever is better."""
        learned = [split.learned(self.random, self.blocks) for split in splits]
        if any(M is None for M in learned):
            return None
        point, tried = (before.width, before.log_alpha), []
        for power in (0.5, 1.0):
            for split, M in zip(splits, learned, strict=True):
                assert M is not None
                split.enter(candidate, _powered(M, power))
            tried.append((self._error(splits, point), power))
        if min(tried)[1] == 0.5:
            for split, M in zip(splits, learned, strict=True):
                assert M is not None
                split.enter(candidate, _powered(M, 0.5))
        return self._search(splits, point, min(tried)[1], along)

    def _error(self, splits: list[Split], point: tuple[int, float]) -> float:
        return float(np.mean([split.error(point[0], 10.0 ** point[1]) for split in splits]))

    def _search(
        self, splits: list[Split], point: tuple[int, float], power: float, along: list[tuple[int, int]]
    ) -> Step:
        """From a point along one direction after the other, either way, as long as that is better."""
        known: dict[tuple[int, float], tuple[float, list[Solved]]] = {}

        def error(at: tuple[int, float]) -> float:
            if at not in known:
                found = self._error(splits, at) if at == first or _within(*at) else math.inf
                known[at] = found, [split.state for split in splits]
            return known[at][0]

        first = point
        error(point)
        for direction in along:
            for sign in (1, -1):
                here = point
                while error(after := (point[0] + sign * direction[0], point[1] + sign * direction[1])) < (
                    _BETTER * error(point)
                ):
                    point = after
                if point != here:
                    break
        for split, state in zip(splits, known[point][1], strict=True):
            split.state = state
        return Step(point[0], point[1], power, error(point))

    def _trial(self, candidate: Candidate, splits: list[Split], steps: tuple[Step, ...]) -> Trial:
        first = splits[0]
        width, coef, intercept = first.state
        trial = Trial(candidate, steps, first.metric, first.kernel(width), first.rows, coef, intercept)
        last = steps[-1]
        told = {
            "kernel": str(candidate.kernel),
            "diagonal": candidate.diagonal,
            "round": len(steps) - 1,
            "error": last.error,
        }
        self.history.append(
            {
                **told,
                "power": last.power,
                "width": last.width,
                "alpha": 10.0**last.log_alpha,
                "samples": len(first.rows),
            }
        )
        if self.best is None or trial.error < self.best.error:
            self.best = trial
        self.tell(told)
        return trial

    def _on_all(self, trial: Trial) -> Trial:
        """The same steps from all samples, none held out."""
        rows = np.arange(len(self.w))
        split = Split(self.X, self.Y, self.w, rows, rows[:0], self.bias, self.compute)
        metric = np.ones(self.X.shape[1]) if trial.candidate.diagonal else np.eye(self.X.shape[1])
        for before, step in zip((None, *trial.steps), trial.steps, strict=False):
            if before is not None:
                split.state = Solved(before.width, *split.solve(before.width, 10.0**before.log_alpha, exact=True))
                found = split.learned(self.random, self.blocks)
                if found is None:
                    return trial
                metric = _powered(found, step.power)
            split.enter(trial.candidate, metric)
        return replace(trial, metric=metric, kernel=split.kernel(trial.steps[-1].width))
