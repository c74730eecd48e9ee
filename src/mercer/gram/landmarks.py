"""Which items of a Gram matrix stand for all: m rows of K from which the rest follows nearly.

    uniform     equal chances; nothing is computed
    kmeans++    each with a chance as its squared distance to the nearest before: they cover the data
    leverage    with chances as ridge leverage scores, ℓ_i = [K(K + λI)^−1]_ii: rare items are not missed
    pivoted     with chances as what is left of the diagonal (randomly pivoted Cholesky): the trace of what is missed
                falls nearly as fast as it can, and is known

Cost: n m values, and n m² operations for leverage and pivoted, which also need n m numbers of memory.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.compute import human
from mercer.data import chunks
from mercer.gram.contract import Gram
from mercer.gram.nystrom import Landmarks
from mercer.native.linalg import cholesky, lower_triangle
from mercer.native.products import inner, product, triangular_inverse
from mercer.runtime.watch import look
from mercer.troubles import coded

_ROWS = 4096  # whose scores are computed together
_DRAWS = 16  # of pivots, at least: those of one draw know nothing of each other


def pivoted_cholesky(
    gram: Gram, rank: int, random: np.random.Generator, *, tol: float = 1e-12, block: int = 64
) -> tuple[Array, Array]:
    """F (n, k), k ≤ rank, with F F^T ≈ K, and the k pivots: columns at random items, drawn by what is left of the
    diagonal (RPCholesky, Chen et al. 2023), until that is ``tol`` of the trace.

    Sixty-four pivots at a time, so that it is products of matrices.
    """
    n = gram.shape[0]
    left = np.array(arrays.to_numpy(gram.diag()), np.float64)
    enough = tol * float(left.sum())
    F = np.empty((rank, n)).T  # a column lies together: what is written to for the first time is little
    k, pivots = 0, np.zeros(0, np.int64)
    while k < rank and left.sum() > enough:
        look("landmarks", k / rank)
        drawn = np.unique(random.choice(n, min(block, rank - k), p=left / left.sum()))
        columns = np.array(arrays.to_numpy(gram.rows(drawn)), np.float64).T
        columns -= product(F[:, :k], F[drawn, :k].T, gram.compute.workers)
        core = (columns[drawn] + columns[drawn].T) / 2
        values, vectors = np.linalg.eigh(core)
        used = values > 1e-10 * max(values[-1], 0.0)
        if not used.any() or values[-1] <= 0:
            break
        new = columns @ (vectors[:, used] / np.sqrt(values[used]))
        for j, column in enumerate(new.T):
            F[:, k + j] = column
        k += new.shape[1]
        left = np.maximum(left - np.einsum("ij,ij->i", new, new), 0.0)
        left[drawn] = 0.0
        pivots = np.concatenate([pivots, drawn])
    return (F[:, :k], pivots) if k else (np.zeros((n, 1)), pivots)


def uniform(n: int, count: int, random: np.random.Generator, weights: Array) -> Array:
    """Numbers of items, each with a chance as its weight."""
    chances = None if (weights == weights[0]).all() else weights / weights.sum()
    return random.choice(n, min(count, int(np.count_nonzero(weights))), replace=False, p=chances)


def plus_plus(gram: Gram, count: int, random: np.random.Generator, weights: Array, tol: float) -> Array:
    own = np.asarray(arrays.to_numpy(gram.diag()), np.float64)
    chosen = [int(random.choice(len(own), p=weights / weights.sum()))]
    near = np.full(len(own), np.inf)
    while len(chosen) < count:
        look("landmarks", len(chosen) / count)
        i = chosen[-1]
        row = np.asarray(arrays.to_numpy(gram.rows([i])), np.float64)[0]
        near = np.minimum(near, np.maximum(own + own[i] - 2 * row, 0.0))
        near[chosen] = 0.0
        mass = near * weights
        if not mass.sum() > 1e-14 * float(own.mean()) * weights.sum():
            break  # all others are copies
        chosen.append(int(random.choice(len(own), p=mass / mass.sum())))
    return np.array(chosen)


def by_leverage(gram: Gram, count: int, random: np.random.Generator, weights: Array, tol: float) -> Array:
    """Scores from a uniform sample as large as what is wanted (Musco and Musco 2017, one level): λ is the mean of what
    the sample misses, as the tail of the spectrum would be.
    """
    first = uniform(gram.shape[0], count, random, weights)
    marks = Landmarks.of(gram.sub(slice(None), first), gram.sub(first, first))
    own = np.asarray(arrays.to_numpy(gram.diag()), np.float64)
    workers = gram.compute.workers
    system = (len(own) / len(first)) * inner(marks.factor, workers)
    parts = chunks(len(own), _ROWS)
    seen = np.concatenate([np.sum(marks.features(rows, np.float64) ** 2, axis=1) for rows in parts])
    missed = np.maximum(own - seen, 0.0)
    ridge = max(float(missed.sum()) / count, 1e-10 * float(own.mean()))
    system[np.diag_indices_from(system)] += ridge
    root = triangular_inverse(lower_triangle(cholesky(system, workers)), workers).T
    scores = np.empty(len(own))
    for rows in parts:
        half = product(marks.features(rows, np.float64), root, workers)
        scores[rows] = np.einsum("ij,ij->i", half, half)
    scores = np.minimum(scores + missed / (ridge or 1.0), 1.0) * weights
    if not scores.any():  # all values are 0
        return first
    return random.choice(
        len(own), min(count, int(np.count_nonzero(scores))), replace=False, p=scores / float(scores.sum())
    )


def pivoted(gram: Gram, count: int, random: np.random.Generator, weights: Array, tol: float) -> Array:
    need = 8 * gram.shape[0] * count
    if need > gram.compute.budget // 2:
        raise MemoryError(
            coded(
                f"To choose {count} pivoted landmarks of {gram.shape[0]} items takes {human(need)}, and half the memory"
                f" budget is {human(gram.compute.budget // 2)}: choose them by 'leverage' or 'uniform', or from a"
                " part.",
                "M401",
            )
        )
    used = np.flatnonzero(weights)
    part = gram if len(used) == len(weights) else gram.sub(used, used)
    block = max(1, min(64, count // _DRAWS))
    found = pivoted_cholesky(part, min(count, len(used)), random, tol=max(tol, 1e-12), block=block)[1]
    if not len(found):  # all values are 0
        return used[:1]
    return used[found[: min(count, len(found))]]


Choice = Callable[[Gram, int, np.random.Generator, Array, float], Array]
CHOICES: dict[str, Choice] = {"kmeans++": plus_plus, "leverage": by_leverage, "pivoted": pivoted}  # by values
