"""Partitions one after the other: each follows what the ones before it have left of the target (boosting).

Trees that are grown apart from each other all divide by the few strongest columns; a tree for the residuals of those
before it finds what else matters, and where. The shares of trees in one cell are again a kernel, and a ridge over it
gives every cell its value anew, from all trees at once.

Several chains are grown beside each other, each on columns and halves of the rows of its own: that is what threads
share, and how many threads there are says nothing of the result.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mercer.arrays import Array
from mercer.native import boosting
from mercer.runtime import threads
from mercer.runtime.watch import look
from mercer.tabular.partitions import Partitions, Tree

TREES = 400
_CHAIN = 100  # trees: of shorter chains the last ones have not come to what is left over
_LEAVES, _MORE_LEAVES, _MANY = 16, 32, 4000  # of a tree; the second from so many rows
_LEAST = 5  # rows of a leaf
_RATE = 0.1  # of what a tree says that is taken off
_ROWS, _COLUMNS = 0.5, 0.5  # shares, for each tree and for each of its cells
_LOOKED_AT = 100_000  # rows whose values say where the bins of a column end


class _Binned(NamedTuple):
    """Columns as codes of their bins, (columns, rows): code b says that a value is above edge b − 1 and not above b."""

    codes: Array
    edges: list[Array]

    @classmethod
    def of(cls, X: Array) -> _Binned:
        edges = [_edges(x) for x in X.T]
        codes = np.empty((X.shape[1], len(X)), np.uint8)
        for j, cuts in enumerate(edges):
            codes[j] = np.searchsorted(cuts, X[:, j].astype(np.float64), side="left")
        return cls(codes, edges)


def _edges(x: Array) -> Array:
    """Between neighbouring values where a byte can tell them apart; else between equal shares of the rows."""
    some = x[np.linspace(0, len(x) - 1, min(len(x), _LOOKED_AT)).astype(int)].astype(np.float64)
    found = np.unique(some)
    if len(found) > boosting.BINS:
        found = np.unique(np.quantile(some, np.linspace(0, 1, boosting.BINS), method="lower"))
    return np.asarray((found[1:] + found[:-1]) / 2)


def boosted(X: Array, Y: Array, weights: Array | None, seed: int, trees: int = TREES, jobs: int = 1) -> Partitions:
    """Trees for targets of one or several columns, in chains of which each learns Y by least squares, on halves of the
    rows (stochastic gradient boosting, Friedman 2002).
    """
    narrow = np.ascontiguousarray(X, np.float32)  # as the cells see them
    binned = _Binned.of(narrow)
    w = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
    targets = np.ascontiguousarray(Y.reshape(len(X), -1), np.float64)
    chains = math.ceil(trees / _CHAIN)
    found: list[list[Tree]] = [[] for _ in range(chains)]

    def grow(chain: int) -> None:
        found[chain] = _chain(binned, targets, w, np.random.default_rng([seed, chain]), min(trees, _CHAIN))

    threads.run_tasks(grow, range(chains), jobs, blas=False, stage="trees")
    return Partitions.joined([tree for chain in found for tree in chain][:trees])


def _chain(binned: _Binned, Y: Array, w: Array, random: np.random.Generator, trees: int) -> list[Tree]:
    columns, n = binned.codes.shape
    cells = 2 * (_LEAVES if n < _MANY else _MORE_LEAVES) - 1
    rows, some = max(1, round(_ROWS * n)), math.ceil(_COLUMNS * columns)
    left_over = Y - np.average(Y, axis=0, weights=w) if w.any() else Y.copy()
    out = []
    for _ in range(trees):
        if threads.stopping():
            raise threads.Interrupted
        look("trees", None)
        feature, cut, left, right = (np.empty(cells, np.int64) for _ in range(4))
        value = np.empty((cells, Y.shape[1]))
        taken = np.sort(random.permutation(n)[:rows])
        drawn = np.argsort(random.random((cells, columns)), axis=1)[:, :some]
        many = boosting.tree(binned.codes, left_over, w, taken, drawn, _LEAST, feature, cut, left, right, value)
        boosting.learn(binned.codes, feature, cut, left, right, value, _RATE, left_over)
        out.append(_in_values(binned.edges, feature[:many], cut[:many], left[:many], right[:many]))
    return out


def _in_values(edges: list[Array], feature: Array, cut: Array, left: Array, right: Array) -> Tree:
    """With thresholds in the place of codes."""
    threshold = np.array([edges[f][c] if f >= 0 else -2.0 for f, c in zip(feature, cut, strict=True)])
    return feature, threshold, left, right
