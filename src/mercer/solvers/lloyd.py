"""k-means by Lloyd's alternation, in a space of vectors or in that of a kernel.

min over partitions of Σ_i w_i ‖φ(x_i) − μ_c(i)‖², μ_c the weighted mean of cluster c. Not a reduction to a problem with
a known optimum: it descends from several starts to where no sample is nearer to another mean, and keeps the best. Each
step lowers the objective or ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import RandomState, Samples
from mercer.arrays import Array
from mercer.data import chunks
from mercer.gram import Gram, Outline, Use, Work, held, outlined
from mercer.runtime import compiling, threads
from mercer.runtime.threads import cached_property
from mercer.runtime.watch import asked_to_stop
from mercer.troubles import coded

_STRIP = 2048  # rows that are assigned in one task
_LITTLE = 2**20  # multiplications that are one task
_STEPS, _WHOLE = 30, 8  # of a descent, and those in which many samples move, by experience
_FEW = 4  # where fewer than one in so many samples change their cluster, sums are corrected instead of computed anew


@dataclass(frozen=True, eq=False)
class Clustering:
    """A partition: ``labels`` of the samples, the ``objective``, and what it was after each step of the best run."""

    labels: Array
    objective: float
    objectives: list[float]
    n_iter: int
    converged: bool


class Space(ABC):
    """Weighted items and their distances to means of clusters."""

    weights: Array

    def __len__(self) -> int:
        return len(self.weights)

    @abstractmethod
    def squares_from(self, some: Array) -> Array:
        """‖φ(x_i) − φ(x_j)‖² from a few items i to all j."""

    @abstractmethod
    def nearest(self, runs: list[Run]) -> list[tuple[Array, Array]]:
        """For each run the cluster with the nearest mean, the means being those of its labels, and the squared distance
        to it.
        """

    @cached_property
    @abstractmethod
    def order(self) -> Array:
        """The items by their distance to the mean of all: an order that does not depend on that in which they came, nor
        on repetitions.
        """


@dataclass(eq=False)
class Run:
    """One start and where it has come to."""

    labels: Array
    count: int
    memory: Any = None  # what its space keeps for it


def cluster(
    space: Space, count: int, *, n_init: int, max_iter: int, random_state: RandomState, tol: float = 0.0,
    starts: Sequence[Array] = (), draw: str = "k-means++", begun: int = 0,
) -> Clustering:  # fmt: skip
    """The best of ``n_init`` descents from starts drawn by ``draw``, stepping together so that they share each pass
    over the data.

    ``tol``: a run also ends when a step gains less than this share of its objective. ``starts``: labels to descend from
    as well. ``begun``: how many steps starts are taken for.
    """
    with threads.single_threaded_blas():  # threads of our own, or vectors too short for two
        given = [_filled(labels, np.ones(len(space)), space.weights, count) for labels in starts]
        drawn = [DRAWS[draw](space, count, random_state) for _ in range(n_init)]
        return _descended(space, [Run(labels, count) for labels in given + drawn], begun, max_iter, tol)


def _descended(space: Space, runs: list[Run], step: int, max_iter: int, tol: float) -> Clustering:
    histories: list[list[float]] = [[] for _ in runs]
    ended: list[Clustering] = []
    active = list(range(len(runs)))
    while active:
        step += 1
        found = space.nearest([runs[r] for r in active])
        going = []
        for r, (labels, squares) in zip(active, found, strict=True):
            labels = _filled(labels, squares, space.weights, runs[r].count)
            objective, before = float(space.weights @ squares), runs[r].labels
            # the kernel is not positive semi-definite here
            if histories[r] and objective > histories[r][-1] + 1e-9 * abs(histories[r][-1]):
                ended.append(Clustering(before, histories[r][-1], histories[r], step, False))
                continue
            histories[r].append(objective)
            if step > max_iter:  # the start is all there was to be
                ended.append(Clustering(before, objective, histories[r], max_iter, False))
                continue
            same = bool(np.array_equal(labels, before))
            slow = len(histories[r]) > 1 and histories[r][-2] - objective <= tol * objective
            if same or slow or step >= max_iter:
                # the labels are those of the means they were compared with
                ended.append(Clustering(before if same else labels, objective, histories[r], step, same or slow))
                continue
            runs[r].labels = labels
            going.append(r)
        if asked_to_stop(step=step, objective=min(h[-1] for h in histories)):
            ended += [Clustering(runs[r].labels, histories[r][-1], histories[r], step, False) for r in going]
            break
        active = going
    return min(ended, key=lambda c: c.objective)


def spread_out(space: Space, count: int, rng: np.random.RandomState | np.random.Generator) -> Array:
    """k-means++: labels by the nearest of ``count`` items, chosen one after the other: the best of a few drawn by
    weight and squared distance to the others.

    Items are drawn by their share of the sum, in an order of their own, so that a weight is a repetition also here.
    """
    order, w = space.order, space.weights
    trials = 2 + int(np.log(count))
    labels = np.zeros(len(space), np.int64)
    closest = space.squares_from(_drawn(rng, w, order, 1))[0]
    for k in range(1, count):
        potential = w * closest
        some = _drawn(rng, potential if potential.sum() > 0 else w, order, trials)
        squares = space.squares_from(some)
        better = np.minimum(squares, closest)
        best = int(np.argmin(better @ w))
        labels[squares[best] < closest] = k
        closest = better[best]
    return _filled(labels, closest, w, count)


def at_random(space: Space, count: int, rng: np.random.RandomState | np.random.Generator) -> Array:
    """Labels by the nearest of ``count`` different items, drawn by their weight alone."""
    order, w = space.order, space.weights
    some = order[rng.choice(len(order), size=count, replace=False, p=w[order] / w.sum())]
    labels, closest = np.zeros(len(space), np.int64), np.full(len(space), np.inf)
    for k, item in enumerate(some):
        squares = space.squares_from(some[k : k + 1])[0]
        squares[item] = 0.0
        nearer = squares < closest
        labels[nearer], closest[nearer] = k, squares[nearer]
    return _filled(labels, closest, w, count)


DRAWS: dict[str, Callable[[Space, int, Any], Array]] = {"k-means++": spread_out, "random": at_random}


def _drawn(rng: np.random.RandomState | np.random.Generator, shares: Array, order: Array, count: int) -> Array:
    heights = np.cumsum(shares[order])
    return order[
        np.minimum(np.searchsorted(heights, rng.uniform(size=count) * heights[-1], side="right"), len(order) - 1)
    ]


def _filled(labels: Array, squares: Array, weights: Array, count: int) -> Array:
    """Empty clusters seeded with the samples that are farthest from their means; such a move lowers the objective."""
    sizes = np.bincount(labels, minlength=count)
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    for i in np.argsort(-weights * squares, kind="stable"):
        if not len(empty):
            break
        if sizes[labels[i]] > 1:
            sizes[labels[i]] -= 1
            labels[i], empty = empty[0], empty[1:]
    return labels


class Points(Space):
    """Vectors, dense or sparse. Memory: a strip of rows per thread."""

    def __init__(self, X: Samples, weights: Array, workers: int) -> None:
        self.X, self.weights, self.workers = X, weights, workers
        squared = X.multiply(X) if sparse.issparse(X) else None
        self.norms = np.asarray(squared.sum(axis=1)).reshape(-1) if squared is not None else np.einsum("ij,ij->i", X, X)
        self.norms = self.norms.astype(np.float64)
        if not np.isfinite(self.norms).all():
            raise ValueError(
                coded(
                    f"The squared length of row {int(np.argmin(np.isfinite(self.norms)))} is not finite: scale the"
                    " data.",
                    "M120",
                )
            )

    def squares_from(self, some: Array) -> Array:
        picked = self.X[some]
        inner = (picked @ self.X.T).toarray() if sparse.issparse(self.X) else self._across(picked)
        return np.maximum(self.norms[some][:, None] - 2 * inner + self.norms, 0.0)

    def _across(self, picked: Array) -> Array:
        out = np.empty((len(picked), len(self)))

        def task(rows: slice) -> None:
            out[:, rows] = picked @ self.X[rows].T

        threads.run_tasks(task, self._strips(len(picked)), self.workers)
        return out

    @cached_property
    def order(self) -> Array:
        mean = np.asarray(self.weights @ self.X / self.weights.sum()).reshape(-1)
        return np.argsort(self.norms - 2 * np.asarray(self.X @ mean).reshape(-1), kind="stable")

    def means(self, labels: Array, count: int) -> Array:
        if not sparse.issparse(self.X):
            sums, mass = np.zeros((count, self.X.shape[1])), np.zeros(count)
            compiling.compiled(_sum_loop)(self.X, labels, self.weights, sums, mass)
            return sums / np.maximum(mass, 1e-300)[:, None]
        members = sparse.csr_array((self.weights, labels, np.arange(len(labels) + 1)), shape=(len(labels), count))
        sums = (members.T @ self.X).toarray()
        return sums / np.maximum(np.bincount(labels, weights=self.weights, minlength=count), 1e-300)[:, None]

    def nearest(self, runs: list[Run]) -> list[tuple[Array, Array]]:
        return [self.assigned(self.means(run.labels, run.count)) for run in runs]

    def assigned(self, means: Array) -> tuple[Array, Array]:
        """The nearest mean of each item, and the squared distance to it."""
        right = np.ascontiguousarray(means.T, dtype=self.X.dtype)
        half = (0.5 * np.einsum("ij,ij->i", means, means)).astype(self.X.dtype)
        labels, squares = np.empty(len(self), np.int64), np.empty(len(self))

        choose = compiling.compiled(_choose_loop)

        def task(rows: slice) -> None:
            choose(np.asarray(self.X[rows] @ right), half, self.norms[rows], labels[rows], squares[rows])

        threads.run_tasks(task, self._strips(len(means)), self.workers)
        return labels, squares

    def around(self, centres: Array) -> Array:
        """Labels by the nearest of given centres; one that is nobody's nearest gets the sample that is farthest from
        its own.
        """
        return _filled(*self.assigned(centres), self.weights, len(centres))

    def _strips(self, count: int) -> list[slice]:
        """Rows for one task: all, where it is over before a second thread is awake."""
        little = len(self) * count * self.X.shape[1] <= _LITTLE
        return chunks(len(self), len(self) if little else _STRIP)


def _sum_loop(X, labels, weights, sums, mass):  # type: ignore[no-untyped-def]
    for i in range(X.shape[0]):
        c, w = labels[i], weights[i]
        mass[c] += w
        for j in range(X.shape[1]):
            sums[c, j] += w * X[i, j]


def _choose_loop(inner, half, norms, labels, squares):  # type: ignore[no-untyped-def]
    """The c of the largest ⟨x_i, μ_c⟩ − ‖μ_c‖²/2, and ‖x_i − μ_c‖²."""
    for i in range(len(labels)):
        best, place = inner[i, 0] - half[0], 0
        for c in range(1, len(half)):
            value = inner[i, c] - half[c]
            if value > best:
                best, place = value, c
        labels[i] = place
        squares[i] = max(norms[i] - 2.0 * best, 0.0)


class Pairs(Space):
    """Items known by their Gram matrix: ‖φ(x_i) − μ_c‖² = k_ii − 2 S_ic/m_c + Σ_{j∈c} w_j S_jc/m_c², S_ic = Σ_{j∈c} w_j
    k_ij, m_c = Σ_{j∈c} w_j.

    S is one product for all runs together. Once few items move, it is corrected by their columns alone. The matrix is
    stored where half the memory budget holds it, else computed in each step.
    """

    def __init__(self, gram: Gram, weights: Array) -> None:
        self.gram = held(gram, Use.VALUES)
        self.weights = weights
        self.norms = np.asarray(arrays.to_numpy(gram.diag()), np.float64)

    def squares_from(self, some: Array) -> Array:
        rows = np.asarray(arrays.to_numpy(self.gram.rows(some)), np.float64)
        return np.maximum(self.norms[some][:, None] - 2 * rows + self.norms, 0.0)

    @cached_property
    def order(self) -> Array:
        return np.argsort(self.norms - 2 * self._times(self.weights[:, None] / self.weights.sum())[:, 0], kind="stable")

    def _times(self, V: Array) -> Array:
        return np.asarray(arrays.to_numpy(self.gram @ V), np.float64)

    def nearest(self, runs: list[Run]) -> list[tuple[Array, Array]]:
        n = len(self)
        whole = [run for run in runs if run.memory is None or _FEW * int(np.sum(run.labels != run.memory[0])) >= n]
        if whole:
            sums = self._times(np.concatenate([_members(run.labels, self.weights, run.count) for run in whole], axis=1))
            for run, part in zip(
                whole, np.split(sums, np.cumsum([run.count for run in whole])[:-1], axis=1), strict=True
            ):
                run.memory = (run.labels, np.ascontiguousarray(part))
        for run in runs:
            moved = np.flatnonzero(run.labels != run.memory[0])
            if len(moved):
                change = _members(run.labels[moved], self.weights[moved], run.count) - _members(
                    run.memory[0][moved], self.weights[moved], run.count
                )
                run.memory = (run.labels, run.memory[1] + self._columns(moved, change))
        return [self._assigned(run) for run in runs]

    def _columns(self, moved: Array, change: Array) -> Array:
        """K[:, moved] change."""
        if self.gram.stored:  # rows lie together
            return np.asarray(arrays.to_numpy(self.gram.rows(moved)), np.float64).T @ change
        return np.asarray(arrays.to_numpy(self.gram.sub(slice(None), moved) @ change), np.float64)

    def _assigned(self, run: Run) -> tuple[Array, Array]:
        sums = run.memory[1]
        inner, own = mean_products(sums, run.labels, self.weights)
        gaps = own - 2 * inner
        labels = np.argmin(gaps, axis=1)
        return labels, self.norms + gaps[np.arange(len(labels)), labels]


def outlook(outline: Outline, count: int, n_init: int, max_iter: int) -> Work:
    """``cluster`` of ``Pairs``: so many descents share each product with the matrix until they are near their ends."""
    n, columns = outline.shape[0], count * n_init
    matrix, made = outlined(outline, Use.VALUES)
    trials = 2 + int(np.log(count))
    steps = min(max_iter, _STEPS)
    # rows of the matrix for the starts, then products with the members of all clusters
    seconds = matrix.product() + made.seconds
    drawn = n_init * (count - 1) * trials * n
    seconds += outline.speed.reading(3 * 8.0 * drawn) if matrix.stored else matrix.storing(rows=drawn / n, columns=n)
    seconds += min(steps, _WHOLE) * matrix.product(columns) + steps * outline.speed.reading(6 * 8.0 * n * columns)
    # the columns of those that move, up to one in _FEW
    memory = made.memory + 8.0 * n * (3 * columns + 4 * trials) + 0.8 * made.memory / _FEW
    where = "stored" if made.memory else "computed in each step"
    plan = f"{n_init} descents to {count} clusters, about {steps} steps, with the {n} × {n} matrix {where}"
    return Work(memory, seconds, plan)


def mean_products(sums: Array, labels: Array, weights: Array) -> tuple[Array, Array]:
    """(⟨φ(x_i), μ_c⟩, ‖μ_c‖²) from S."""
    mass = np.maximum(np.bincount(labels, weights=weights, minlength=sums.shape[1]), 1e-300)
    own = np.bincount(labels, weights=weights * sums[np.arange(len(labels)), labels], minlength=sums.shape[1]) / mass**2
    return sums / mass, own


def _members(labels: Array, weights: Array, count: int) -> Array:
    out = np.zeros((len(labels), count))
    out[np.arange(len(labels)), labels] = weights
    return out
