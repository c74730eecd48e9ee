"""Partitions of the space of rows that follow a target: the leaves of trees, as codes for ``Overlap``.

The share of trees in one leaf of which two rows fall is a kernel: the partition kernel of a forest. Cells are narrow
where the target changes and long where it does not, column by column, which no distance is; for tables of thresholds
and unlike columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from mercer.arrays import Array
from mercer.data import chunks
from mercer.native.partitions import cells
from mercer.runtime import threads

TREES = 200
_BLOCK = 4096  # rows that a thread takes at a time
_LEAF = 2  # rows, at least
_SHARE = 0.5  # of the columns, among which each cell is divided by the best

Tree = tuple[Array, Array, Array, Array]  # of each cell its column, threshold, and the cells to its left and right


@dataclass(eq=False)
class Partitions:
    """Trees of cells: a cell is divided where column ``feature`` exceeds ``threshold``; −1 says that it is not."""

    feature: Array
    threshold: Array
    left: Array
    right: Array
    roots: Array

    @classmethod
    def grown(
        cls, X: Array, Y: Array, weights: Array | None, seed: int, trees: int = TREES, jobs: int = 1
    ) -> Partitions:
        """Extremely randomised trees (Geurts et al. 2006) of targets, one or several columns."""
        forest = ExtraTreesRegressor(
            trees, min_samples_leaf=_LEAF, max_features=_SHARE, random_state=seed, n_jobs=jobs
        ).fit(X, Y[:, 0] if Y.ndim == 2 and Y.shape[1] == 1 else Y, sample_weight=weights)
        found = [tree.tree_ for tree in forest.estimators_]
        return cls.joined(
            [
                (np.where(t.children_left < 0, -1, t.feature), t.threshold, t.children_left, t.children_right)
                for t in found
            ]
        )

    @classmethod
    def joined(cls, trees: Sequence[Tree]) -> Partitions:
        """Of trees whose cells are counted from 0 each."""
        features, thresholds, lefts, rights = zip(*trees, strict=True)
        roots = np.concatenate([[0], np.cumsum([len(f) for f in features])[:-1]])
        return cls(
            np.concatenate(features).astype(np.int32),
            np.concatenate(thresholds),
            np.concatenate([cells + root for cells, root in zip(lefts, roots, strict=True)]).astype(np.int32),
            np.concatenate([cells + root for cells, root in zip(rights, roots, strict=True)]).astype(np.int32),
            roots.astype(np.int32),
        )

    @property
    def offsets(self) -> Array:
        """Where the cells of each tree begin among all of them, and how many there are."""
        return np.append(self.roots, len(self.feature)).astype(np.int64)

    def codes(self, X: Array) -> Array:
        """The leaf of every row in each tree, counted from the tree's root: (n, trees), float32, which holds them."""
        narrow = np.ascontiguousarray(X, np.float32)  # as the trees have seen them
        out = np.empty((len(narrow), len(self.roots)), np.float32)

        def fill(rows: slice) -> None:
            cells(narrow[rows], self.feature, self.threshold, self.left, self.right, self.roots, out[rows])

        threads.run_loops(fill, chunks(len(narrow), _BLOCK))
        return out
