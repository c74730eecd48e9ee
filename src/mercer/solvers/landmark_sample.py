"""What Φ^T D Φ of all rows is like, from some of them: the preconditioner of systems over landmarks.

Of ρm random rows the eigenvalues of the preconditioned matrix are within about (1 ± ρ^−½)², so that a step leaves a
share of ρ^−½ of the error. The rows may also be the landmarks themselves, whose features are the rows of L: they cost
nothing, and since they are m of the n rows no eigenvalue is below m/n (FALKON's choice: Rudi, Carratino and Rosasco
2017); where other rows show that the largest are too large, which is so for a G of small eigenvalues, random rows are
taken after all. Whichever makes factor and steps together cheapest is tried.

The features are C_s L^−T. Where they are asked for once, Φ_s^T D Φ_s = L^−1 (C_s^T D C_s) L^−T is formed from the
values by blocks, a third of the work, and nothing but m × m is stored; where L is so ill conditioned that rounding
would show beside λ, from the features of each block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.data import chunks
from mercer.gram import Landmarks
from mercer.gram.nystrom import together
from mercer.native.linalg import cholesky, triangular_solve, whitened
from mercer.native.products import add_inner, mirrored

_LEAST = 512  # rows of a sample
_EVEN = 0.5  # (Σw)²/(nΣw²) from which on rows are sampled with equal chances
_RATIOS = (2, 3, 4, 6, 8, 12, 16, 24, 32)  # of the rows of a sample to the landmarks
_PASS, _FLOP = 0.5e-9, 1.5e-11  # seconds for a value in a pass, and for an operation of a factor
_LARGER = 3.0  # a mean eigenvalue that says that the landmarks are not like the other rows
_ROUNDED = 0.1  # of λ: what rounding may amount to


def sample_size(n: int, m: int, tol: float, budget: int, *, once: bool, among: bool) -> int:
    """How many of n rows are the sample, for m landmarks; 0: the landmarks, which must be ``among`` the rows."""
    passes = np.log(2 / min(tol, 0.5)) * _PASS / _FLOP * n * m

    def effort(ratio: int) -> float:
        return (1 if once else 2) * ratio * m**3 + 2 * passes / np.log(ratio)

    ratio = min(_RATIOS, key=effort)
    if among and m**3 / 3 + np.sqrt(n / m) * passes < effort(ratio):
        return 0
    kept = n if once else max(m, budget // 4 // (8 * m))
    return min(n, max(_LEAST, int(ratio * m)), kept)


def expected_steps(n: int, m: int, tol: float, count: int) -> float:
    """Of conjugate gradients, to a residual of ``tol``."""
    if count == 0:
        return float(np.sqrt(n / m) * np.log(2 / tol))
    return 3.0 if count >= n else float(2 * np.log(2 / tol) / np.log(max(2.0, count / m)))


def system_factor(features: Array, d: Array, ridge: float, workers: int, *, bias: bool, least: float = 1e-300) -> Array:
    """The Cholesky factor of Φ^T D Φ + λI, bordered by Φ^T D 1 and 1^T D 1 + ``least`` where there is a bias."""
    inner = inner_product([(features, d)], features.shape[1], workers, bias=bias)
    return factored(inner, ridge, workers, bias=bias, least=least)


def inner_product(
    blocks: Iterable[tuple[Array, Array]], m: int, workers: int, *, bias: bool, root: Array | None = None
) -> Array:
    """Φ^T D Φ, bordered where there is a bias, on and below the diagonal, from blocks of rows and their D; with a
    ``root`` L the rows are those of C, Φ = C L^−T.
    """
    whole, sums, total = np.zeros((m + bias, m + bias)), np.zeros(m), 0.0
    for rows, d in blocks:
        wide = rows.shape[1]  # rows of L end at the diagonal
        sums[:wide] += rows.T @ d
        total += float(d.sum())
        add_inner(whole[:wide, :wide], rows, workers, np.sqrt(d))
    if root is not None:
        whitened(mirrored(whole[:m, :m]), root, workers)
        sums = triangular_solve(root, sums[:, None])[:, 0]
    if bias:
        whole[-1, :m], whole[-1, -1] = sums, total
    return whole


def factored(inner: Array, ridge: float, workers: int, *, bias: bool, least: float = 1e-300) -> Array:
    """That of Φ^T D Φ + λI, in the memory of Φ^T D Φ."""
    k = np.arange(len(inner) - bias)
    inner[k, k] += ridge
    if bias:
        inner[-1, -1] = inner[-1, -1] * (1 + 1e-12) + least
    return np.asarray(cholesky(inner, workers))


class FeaturesOfRows:
    """Φ of some rows, in float64: of those asked for last, so that what the next ones share with them is at hand."""

    def __init__(self, marks: Landmarks) -> None:
        self.marks, self.rows, self.found = marks, np.zeros(0, np.int64), np.zeros((0, len(marks)))

    def take(self, rows: Array) -> Array:
        """Those of ``rows``, which are in order."""
        rows = np.asarray(rows, np.int64)
        place = np.searchsorted(self.rows, rows)
        known = np.zeros(len(rows), bool)
        if len(self.rows):
            known = self.rows[np.minimum(place, len(self.rows) - 1)] == rows
        if not known.any():
            self.found = self.marks.features(rows, np.float64)
        elif not (known.all() and len(rows) == len(self.rows)):
            found = np.empty((len(rows), self.found.shape[1]))
            found[known] = self.found[place[known]]
            if not known.all():
                found[~known] = self.marks.features(rows[~known], np.float64)
            self.found = found
        self.rows = rows
        return self.found


class Sample:
    """Rows whose features say what Φ^T D Φ is like, for one D or, where not ``once``, for several.

    Where D is most unequal, rows are sampled with chances in proportion to it, and count for 1/chance: all of those
    that are not 0, if they are few. ``every``: the rows are themselves a sample, and all are taken.
    """

    def __init__(self, marks: Landmarks, tol: float, seed: int = 0, *, once: bool = False, every: bool = False) -> None:
        n, m = marks.values.shape
        self.marks, self.tol, self.random, self.once = marks, tol, np.random.default_rng(seed), once
        self.workers = marks.values.compute.workers
        budget, among = marks.values.compute.budget, marks.index is not None
        self.count = n if every else sample_size(n, m, tol, budget, once=once, among=among)
        self.rows, self.chances, self.evenly = np.zeros(0, np.int64), np.ones(0), True
        self.kept = FeaturesOfRows(marks)
        self.features: Array | None = None
        self.luck: Array | None = None  # what chances are held against, of each row

    def inverse(self, weights: Array, ridge: float, *, bias: bool) -> Array:
        """The Cholesky factor of Φ^T D Φ + λI as the sample says it, with one row and column more for the bias."""
        return self.inverses(weights, [ridge], bias=bias)[0]

    def inverses(self, weights: Array, ridges: Sequence[float], *, bias: bool) -> list[Array]:
        """The factors for several λ."""
        inner = self.inner(weights, min(ridges), bias=bias)
        found = [factored(1 * inner, ridge, self.workers, bias=bias) for ridge in ridges[1:]]
        found = [factored(inner, ridges[0], self.workers, bias=bias), *found]
        if self._is_landmarks and self._larger(found[int(np.argmin(ridges))], weights, bias) > _LARGER:
            self.count, self.rows = self._random_rows(), np.zeros(0, np.int64)
            return self.inverses(weights, ridges, bias=bias)
        return found

    def _larger(self, factor: Array, weights: Array, bias: bool) -> float:
        """How large Φ^T D Φ is for the matrix of the sample, whose factor is given: their quotient's mean eigenvalue,
        from some rows.
        """
        rows = self.random.choice(len(weights), min(len(weights), _LEAST), replace=False)
        Phi = self.marks.features(rows, np.float64)
        full = np.column_stack([Phi, np.ones(len(rows))]) if bias else Phi
        found = triangular_solve(factor, full.T)
        each = np.einsum("ij,ij->j", found, found)
        return float(weights.sum() * np.average(each, weights=weights[rows] + 1e-300) / len(factor))

    def inner(self, weights: Array, ridge: float, *, bias: bool) -> Array:
        """Φ^T D Φ as the sample says it, on and below the diagonal; ``ridge`` is the least λ that is added to it."""
        self._draw(weights)
        d = weights[self.rows] / self.chances
        d = d * (float(weights.sum()) / max(float(d.sum()), 1e-300))
        from_values = self._by_values(d, ridge)
        blocks = ((block, d[rows]) for rows, block in self._blocks(from_values))
        root = self.marks.factor if from_values else None
        return inner_product(blocks, len(self.marks), self.workers, bias=bias, root=root)

    @property
    def _is_landmarks(self) -> bool:
        """Whether the rows are the landmarks, whose features are L."""
        return self.features is self.marks.factor

    def _draw(self, weights: Array) -> None:
        n, total = len(weights), float(weights.sum())
        if total**2 > _EVEN * n * float(np.sum(weights**2)) or self.count >= n:
            if len(self.rows) and self.evenly:
                return  # those of the last time
            self.evenly = True
            if self.count == 0 and self.marks.index is not None:
                self.rows, self.features = self.marks.index, self.marks.factor
            else:
                self._choose(np.sort(self.random.choice(n, min(self.count, n), replace=False)))
            self.chances = np.ones(len(self.rows))
            return
        # in proportion to their weight, the heaviest for certain; those of the last time where chances are the same
        self.count = self.count or self._random_rows()
        chances = np.minimum(1.0, weights * (self.count / total))
        for _ in range(3):
            rare = chances < 1
            left = self.count - (n - np.count_nonzero(rare))
            chances[rare] = np.minimum(1.0, weights[rare] * (left / max(float(weights[rare].sum()), 1e-300)))
        if self.luck is None:
            self.luck = self.random.random(n)
        self.evenly = False
        self._choose(np.flatnonzero(self.luck < chances))
        self.chances = chances[self.rows]

    def _choose(self, rows: Array) -> None:
        self.rows, self.features = rows, None if self.once else self.kept.take(rows)

    def _random_rows(self) -> int:
        """How many, where the landmarks are not to be the sample."""
        (n, m), budget = self.marks.values.shape, self.marks.values.compute.budget
        return sample_size(n, m, self.tol, budget, once=self.once, among=False)

    def _blocks(self, from_values: bool) -> Iterator[tuple[slice, Array]]:
        """The features of the sample, or its values, in float64, some rows at a time."""
        values, height = self.marks.values, together(len(self.marks), self.marks.values.compute.budget)
        if self.features is not None:
            for rows in chunks(len(self.rows), height):
                yield rows, self.features[rows, : rows.stop if self._is_landmarks else None]
            return
        for block, gram in values.sub(self.rows, slice(None)).by_blocks():
            for some in chunks(gram.shape[0], height):
                found = np.asarray(arrays.to_numpy(gram.rows(some)), np.float64)
                place = slice(block.start + some.start, block.start + some.stop)
                yield place, found if from_values else self.marks.of_values(found.T).T

    def _by_values(self, d: Array, ridge: float) -> bool:
        """Whether Φ^T D Φ is formed from C^T D C: L^−1 enlarges the rounding of that by no more than the square of its
        least pivot.
        """
        if self.features is not None:
            return False
        few = self.rows[:: max(1, len(self.rows) // 64)]
        values = np.asarray(arrays.to_numpy(self.marks.values.sub(few, slice(None)).rows(slice(None))), np.float64)
        trace = float(d.sum()) * float(np.mean(np.einsum("ij,ij->i", values, values)))
        pivot = float(np.min(np.abs(np.diagonal(self.marks.factor))))
        return bool(np.finfo(np.float64).eps * trace <= _ROUNDED * ridge * pivot**2)
