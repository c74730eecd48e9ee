"""The metric under which f = Σ_i α_i k_M(·, x_i) + b predicts best: one file, its rounds and the race between kernels.

    f by ridge with k_M,   M ← Σ_i w_i ∇f(x_i) ∇f(x_i)^T, scaled to a largest diagonal entry of 1,   and again

(recursive feature machines). Directions in which f does not change stop to count, so the next f is smoother in what is
left. Each round also tries M^½, a step half as bold. Widths, λ and the round are those of the least error on samples
held out, of which there is always the first round: what is found is never worse there than the kernel without M.

Every kernel runs on few samples first; those that fall behind end there, and the best goes on with more samples from
the metric that it has. The samples held out stay the same, or some would have been learnt from. Equal samples are one,
of their weights together: else they would be on both sides of the split.

A full M of more columns than samples is one of the space that the samples span, which f does not leave.
"""

from __future__ import annotations

import math
import threading
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
from mercer.native.linalg import NotPositive
from mercer.problems import LinearSystem
from mercer.runtime import threads
from mercer.solvers.inverses import Factored
from mercer.solvers.linear import solved_directly

_FIRST = 800  # samples that every kernel is tried on
_HELD_OUT = 2000  # samples that are enough to judge by, and not fewer than are learnt from
_LEAST_HELD_OUT = 500
_FIRST_ROUNDS = 2
_BEHIND = 1.15  # times the least error after a round: a kernel as far behind does not catch up in another
_SPLITS = 3  # of so few samples that one would be noise
_FEW = 2000
_GRADIENTS = 2000  # samples whose gradients are averaged
_COMPILED = 256  # samples; with fewer it is over before a compiler has started
_AT_ONCE = 2**22  # derivatives that are held together
_NOTHING = 1e-20  # of the variance of the targets: a change that is rounding
_MEDIAN = 128  # samples whose distances say what is wide
_SINGLE = 3e-6  # of the number of samples: what float32 rounds away of λ is a small part of such a one
_BETTER = 0.998  # times the error: less is not worth a step, which flat valleys have no end of
_WORTH = 0.995  # times the error: less is not worth another round
_CLEARLY = 0.9  # times the error without M: by so much a better λ without M would not make up
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


class Seen(NamedTuple):
    """A metric M, scaled to a largest diagonal entry of 1, and its root: of columns, or of the axes of ``basis``."""

    metric: Array
    root: Array

    @classmethod
    def nothing(cls, columns: int, diagonal: bool) -> Seen:
        one = np.ones(columns) if diagonal else np.eye(columns)
        return cls(one, one)


class Learned:
    """The average outer product of gradients; its powers have the same eigenvectors, which are found once."""

    def __init__(self, M: Array, basis: Array | None) -> None:
        self.M, self.basis = M, basis
        self.vectors: Array | None = None
        if M.ndim == 1:
            self.values = M
        else:
            values, self.vectors = np.linalg.eigh(M)
            self.values = np.maximum(values, 0.0)

    def power(self, power: float) -> Seen:
        values = self.values**power
        M = self.M if power == 1.0 else self._with(values)
        largest = float(diagonal(M, self.basis).max())
        return Seen(M / largest, self._with(np.sqrt(values / largest)))

    def _with(self, values: Array) -> Array:
        return values if self.vectors is None else np.asarray((self.vectors * values) @ self.vectors.T)


def diagonal(M: Array, basis: Array | None) -> Array:
    """That of M by columns."""
    if M.ndim == 1:
        return M
    return np.diagonal(M) if basis is None else np.einsum("ij,ij->i", basis @ M, basis)


class Solved(NamedTuple):
    """f of one split: the width of its kernel, α and b."""

    width: int
    coef: Array
    intercept: Array


class Split:
    """Samples to learn from and samples held out."""

    def __init__(self, X: Array, Y: Array, w: Array, rows: Array, held: Array, bias: bool, compute: Compute) -> None:
        self.X, self.Y, self.w, self.rows = X[rows], Y[rows], w[rows], rows
        self.V, self.v, self.u = X[held], Y[held], w[held]
        self.bias, self.compute = bias, compute


class View:
    """A split seen through a metric: functions are fitted to it, and judged."""

    def __init__(self, split: Split, candidate: Candidate, seen: Seen) -> None:
        self.split, self.candidate, self.seen = split, candidate, seen
        self.Z, self.ZV = (self._through(A) for A in (split.X, split.V))
        few = np.linspace(0, len(split.w) - 1, min(len(split.w), _MEDIAN)).astype(int)
        self.bound = candidate.kernel.bind(self.Z[few], split.w[few])
        self.fit: Solved
        self._known: tuple[Any, Gram, Array] | None = None

    def _through(self, A: Array) -> Array:
        root = arrays.like(self.seen.root, A)
        return A * root if root.ndim == 1 else A @ root

    def kernel(self, width: int) -> Kernel:
        """Between samples that are seen through the metric."""
        return self.bound._widened(2.0**width) if self.candidate.free else self.bound

    def _matrices(self, width: int, dtype: np.dtype[Any]) -> tuple[Gram, Array]:
        """Of the samples to learn from, and of those held out with them; of the last width, which every λ shares."""
        if self._known is None or self._known[0] != (width, dtype):
            self._known = None
            kernel, compute = self.kernel(width), self.split.compute
            gram, between = (kernel.gram(A, self.Z, compute=compute).astype(dtype) for A in (self.Z, self.ZV))
            if len(self.split.w) >= _COMPILED:
                gram, between = gram.compiled(), between.compiled()
            self._known = (width, dtype), DenseGram(gram.dense(), compute), between.dense()
        return self._known[1:]

    def forget(self) -> None:
        """The matrices, where all that is left to ask for is the gradient."""
        self._known = None

    def solve(self, width: int, alpha: float, *, exact: bool = False) -> tuple[Solved, Array]:
        """f, and its values held out. In float32 where its rounding, as that of λ, does not count, and nobody wants it
        ``exact``.
        """
        split = self.split
        dtype = np.dtype(np.float32 if alpha >= _SINGLE * float(split.w.sum()) and not exact else np.float64)
        gram, between = self._matrices(width, dtype)
        inverse = Factored(gram, single=dtype == np.float32)
        coef, intercept = solved_directly(LinearSystem(split.Y, split.w, alpha, split.bias), inverse)
        values = between @ arrays.astype(arrays.like(coef, between), dtype)
        return Solved(width, coef, intercept), np.asarray(arrays.to_numpy(values), np.float64) + intercept

    def error(self, width: int, alpha: float) -> float:
        """The mean squared error held out, as a share of that of the mean; infinite where there is no solution."""
        split = self.split
        mean = np.average(split.Y, axis=0, weights=split.w)
        try:
            self.fit, f = self.solve(width, alpha)
        except NotPositive:
            self.fit = Solved(width, np.zeros(split.Y.shape), mean)
            return math.inf
        left = np.average((split.v - f) ** 2, axis=0, weights=split.u)
        whole = np.average((split.v - mean) ** 2, axis=0, weights=split.u)
        used = whole > 0
        return float(np.sum(left[used]) / np.sum(whole[used])) if used.any() else float(np.sum(left))

    def learned(self, random: np.random.Generator, blocks: Array | None, basis: Array | None) -> Learned | None:
        """The average outer product of the gradients of f; None where f is constant."""
        w, Y, n = self.split.w, self.split.Y, len(self.split.w)
        some = np.sort(random.permutation(n)[:_GRADIENTS]) if n > _GRADIENTS else np.arange(n)
        f = RKHSFunction(self.kernel(self.fit.width), self.Z, self.fit.coef)
        d, root = self.Z.shape[1], self.seen.root
        M = np.zeros(d) if self.candidate.diagonal else np.zeros((d, d))
        for few in chunks(len(some), max(1, _AT_ONCE // (d * Y.shape[1]))):
            G = arrays.to_numpy(f.gradient(self.Z[some[few]], self.split.compute))
            G *= np.sqrt(w[some[few]])[:, None, None]
            G = G.reshape(-1, d)
            G = G * root if root.ndim == 1 else G @ root
            M += np.sum(G**2, axis=0) if self.candidate.diagonal else G.T @ G
        if blocks is not None and M.ndim == 2:
            M = np.where(blocks[:, None] == blocks, M, 0.0)
        largest = float(diagonal(M, basis).max(initial=0.0))
        # columns have variance 1, so that this is what f changes by, squared
        least = _NOTHING * float(np.sum(w[some]) * np.max(np.var(Y, axis=0), initial=0.0))
        return Learned(M / largest, basis) if np.isfinite(M).all() and largest > least else None


def _within(width: int, log_alpha: float) -> bool:
    return abs(width) <= _WIDEST and _SMALLEST <= log_alpha <= _LARGEST


def _row_space(X: Array) -> Array | None:
    """Orthonormal axes (columns, axes) of the space that fewer samples than columns span; None where they are more."""
    n, d = X.shape
    if arrays.is_tensor(X) or n >= d:
        return None
    _, values, axes = np.linalg.svd(X, full_matrices=False)
    return np.asarray(axes[values > 1e-12 * values.max(initial=0.0)].T) if values.any() else None


@dataclass(eq=False)
class Path:
    """A kernel on its way: the views of all splits after its last step, and what was best."""

    candidate: Candidate
    steps: tuple[Step, ...]
    views: list[View]
    best: Trial
    best_views: list[View]
    going: bool = True  # whether another round is worth while
    still: frozenset[tuple[int, int]] = frozenset()  # directions in which the last search did not move


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

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self.basis = None if self.blocks is not None else _row_space(self.X)
        self.turned = self.X if self.basis is None else self.X @ self.basis

    def run(self) -> Trial:
        """The best trial, with the metric that its steps lead to on all samples, where these are few."""
        with threads.single_threaded_blas():  # else the bits would depend on the number of threads
            return self._run()

    def _run(self) -> Trial:
        n = len(self.w)
        most = n if self.most is None else min(n, self.most)
        if not np.ptp(self.Y, axis=0).any():  # f is constant, and its gradients are rounding
            self.rounds = 0
        orders = [self.random.permutation(n) for _ in range(_SPLITS if n <= _FEW else 1)]
        paths = self._stage(self.candidates, orders, most if len(self.candidates) == 1 else min(most, _FIRST))
        path = min(paths, key=lambda path: path.best.error)
        if len(paths) == 1:
            self._finish(path)
        elif self._held(most)[1] <= len(path.best.rows):  # they are all there are
            self.best = path.best
            self._finish(path)
        else:
            self.fallback, self.best = self.best, None
            self._stage([path.candidate], orders, most, path)
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

    def metric(self, trial: Trial) -> Array:
        """M by columns."""
        M, d = trial.metric, self.X.shape[1]
        if M.ndim == 1 or self.basis is None or len(M) == d:
            return M
        return np.eye(d) if len(trial.steps) == 1 else np.asarray(self.basis @ M @ self.basis.T)

    def _table(self, candidate: Candidate) -> Array:
        """The samples by columns, or by the axes of what they span."""
        return self.X if candidate.diagonal else self.turned

    def _basis(self, candidate: Candidate) -> Array | None:
        return None if candidate.diagonal else self.basis

    def _held(self, most: int) -> tuple[int, int]:
        """How many samples are held out, and how many are left to learn from."""
        n = len(self.w)
        held = int(np.clip(round(self.share * n), 1, min(n - 1, _HELD_OUT, max(self.most or n, _LEAST_HELD_OUT))))
        return held, min(most, n - held)

    def _stage(
        self, candidates: Sequence[Candidate], orders: list[Array], most: int, before: Path | None = None
    ) -> list[Path]:
        """Every kernel on the same splits of at most so many samples, or one that has come so far on fewer."""
        held, count = self._held(most)
        drawn = [(np.sort(order[held : held + count]), np.sort(order[:held])) for order in orders]
        splits = [
            [Split(self._table(c), self.Y, self.w, rows, out, self.bias, self.compute) for rows, out in drawn]
            for c in candidates
        ]
        if before is not None:
            path = self._resumed(before, splits[0])
            self._finish(path)
            return [path]
        paths: list[Path | None] = [None] * len(candidates)
        if len(candidates) == 1:
            return [self._begun(candidates[0], splits[0])]

        def first(k: int) -> None:
            paths[k] = path = self._begun(candidates[k], splits[k], number=k)
            if self.rounds:
                self._advance(path, number=k)

        self._each(first, range(len(candidates)))
        found = [path for path in paths if path is not None]
        least = min(path.best.error for path in found)
        on = [k for k, path in enumerate(found) if path.best.error <= _BEHIND * least]
        for _ in range(1, min(self.rounds, _FIRST_ROUNDS)):
            self._each(lambda k: self._advance(found[k], number=k), [k for k in on if found[k].going])
        return found

    def _each(self, task: Callable[[int], None], numbers: Sequence[int]) -> None:
        """On all threads; what was recorded of it is then put in order, and told."""
        begun = len(self.history)
        workers = 1 if arrays.is_tensor(self.X) else self.compute.workers
        try:
            threads.run_tasks(task, numbers, workers, stage="rounds")
        finally:
            new = sorted(self.history[begun:], key=lambda told: told["_number"])
            self.history[begun:] = [{k: v for k, v in told.items() if k != "_number"} for told in new]
        for told in self.history[begun:]:
            self._told(told)

    def _told(self, step: dict[str, Any]) -> None:
        self.tell({name: step[name] for name in ("kernel", "diagonal", "round", "error")})

    def _begun(self, candidate: Candidate, splits: list[Split], number: int | None = None) -> Path:
        """M = I, and the best width and λ."""
        seen = Seen.nothing(splits[0].X.shape[1], candidate.diagonal)
        views = [View(split, candidate, seen) for split in splits]
        point = (candidate.start[0], math.log10(self.alpha) if self.alpha is not None else candidate.start[1])
        step, still = self._search(views, point, 0.0, self._free_directions(candidate) * 2)
        trial = self._trial(candidate, views, (step,), number)
        return Path(candidate, (step,), views, trial, views, still=still)

    def _resumed(self, before: Path, splits: list[Split]) -> Path:
        """A kernel with the metric that it has found on fewer samples, or without one where that is as good."""
        candidate, steps = before.candidate, before.best.steps
        begun = replace(candidate, start=(steps[0].width, steps[0].log_alpha))
        if len(steps) == 1 or len(steps) > self.rounds:
            return self._begun(begun, splits)
        seen = Seen.nothing(splits[0].X.shape[1], candidate.diagonal)
        plain = self._error([View(split, candidate, seen) for split in splits], begun.start)
        views = [View(s, candidate, view.seen) for s, view in zip(splits, before.best_views, strict=True)]
        last = steps[-1]
        step, still = self._search(views, (last.width, last.log_alpha), last.power, self._free_directions(candidate))
        if step.error > _CLEARLY * plain:
            path = self._begun(begun, splits)
            if step.error >= path.best.error:
                return path
        trial = self._trial(candidate, views, (*steps[:-1], step))
        return Path(candidate, trial.steps, views, trial, views, still=still)

    def _finish(self, path: Path) -> None:
        while path.going and len(path.steps) <= self.rounds:
            self._advance(path)

    def _advance(self, path: Path, number: int | None = None) -> None:
        """One more round: the metric of the f that there is, or its root, whichever is better."""
        path.going = False
        basis = self._basis(path.candidate)
        learned = [view.learned(self.random, self.blocks, basis) for view in path.views]
        if any(M is None for M in learned):
            return
        last, found = path.steps[-1], []
        for power in (0.5, 1.0):
            views = [
                View(view.split, path.candidate, M.power(power))
                for view, M in zip(path.views, learned, strict=True)
                if M is not None
            ]
            found.append((self._error(views, (last.width, last.log_alpha)), power, views))
        _, power, views = min(found[::-1], key=lambda one: one[0])
        # λ and the width in turn: what one round leaves, the next one finds; not where the last one found nothing
        along = self._free_directions(path.candidate)
        turn = along[(len(path.steps) - 1) % len(along) :][:1] if along else []
        step, still = self._search(
            views, (last.width, last.log_alpha), power, [way for way in turn if way not in path.still]
        )
        path.still = (path.still - set(turn)) | still
        trial = self._trial(path.candidate, views, (*path.steps, step), number)
        path.going = trial.error < _WORTH * path.best.error
        path.steps, path.views = trial.steps, views
        if trial.error < path.best.error:
            path.best, path.best_views = trial, views

    def _free_directions(self, candidate: Candidate) -> list[tuple[int, int]]:
        """In which width and log λ are sought."""
        return [(0, 1)] * (self.alpha is None) + [(1, 0)] * candidate.free

    def _error(self, views: list[View], point: tuple[int, float]) -> float:
        errors = np.empty(len(views))

        def task(k: int) -> None:
            errors[k] = views[k].error(point[0], 10.0 ** point[1])

        threads.run_tasks(task, range(len(views)), 1 if arrays.is_tensor(self.X) else self.compute.workers)
        return float(np.mean(errors))

    def _search(
        self, views: list[View], point: tuple[int, float], power: float, along: list[tuple[int, int]]
    ) -> tuple[Step, frozenset[tuple[int, int]]]:
        """From a point along one direction after the other, either way, as long as that is better; and the directions
        in which it was not.
        """
        known: dict[tuple[int, float], tuple[float, list[Solved]]] = {}

        def error(at: tuple[int, float]) -> float:
            if at not in known:
                found = self._error(views, at) if at == first or _within(*at) else math.inf
                known[at] = found, [view.fit for view in views]
            return known[at][0]

        first = point
        error(point)
        moved = set()
        for direction in along:
            for sign in (1, -1):
                here = point
                while error(after := (point[0] + sign * direction[0], point[1] + sign * direction[1])) < (
                    _BETTER * error(point)
                ):
                    point = after
                if point != here:
                    moved.add(direction)
                    break
        for view, fit in zip(views, known[point][1], strict=True):
            view.fit = fit
            view.forget()
        return Step(point[0], point[1], power, error(point)), frozenset(along) - moved

    def _trial(
        self, candidate: Candidate, views: list[View], steps: tuple[Step, ...], number: int | None = None
    ) -> Trial:
        """What the steps led to, recorded; and told, unless it is one of several kernels at once, this ``number``."""
        first, last = views[0], steps[-1]
        width, coef, intercept = first.fit
        trial = Trial(candidate, steps, first.seen.metric, first.kernel(width), first.split.rows, coef, intercept)
        told = {
            "kernel": str(candidate.kernel),
            "diagonal": candidate.diagonal,
            "round": len(steps) - 1,
            "error": last.error,
            "power": last.power,
            "width": last.width,
            "alpha": 10.0**last.log_alpha,
            "samples": len(first.split.rows),
        }
        with self._lock:
            self.history.append(told if number is None else {**told, "_number": number})
            if self.best is None or trial.error < self.best.error:
                self.best = trial
        if number is None:
            self._told(told)
        return trial

    def _on_all(self, trial: Trial) -> Trial:
        """The same steps from all samples, none held out."""
        rows, candidate = np.arange(len(self.w)), trial.candidate
        split = Split(self._table(candidate), self.Y, self.w, rows, rows[:0], self.bias, self.compute)
        view = View(split, candidate, Seen.nothing(split.X.shape[1], candidate.diagonal))
        for before, step in zip(trial.steps, trial.steps[1:], strict=False):
            view.fit, _ = view.solve(before.width, 10.0**before.log_alpha, exact=True)
            found = view.learned(self.random, self.blocks, self._basis(candidate))
            if found is None:
                return trial
            view = View(split, candidate, found.power(step.power))
        return replace(trial, metric=view.seen.metric, kernel=view.kernel(trial.steps[-1].width))
