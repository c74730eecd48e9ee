"""A kernel between graphs that matches their vertices in the space of the first eigenvectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Array
from mercer.data import Domain, Graphs, HashedRows, PackedGraphs, repeated, salted, side_by_side
from mercer.data.representations import offsets_of
from mercer.kernels.base import kernel
from mercer.kernels.graphs.labelled import counted, ranks
from mercer.kernels.graphs.words import OnVertices, Written
from mercer.kernels.occurrences import Occurrences, together
from mercer.kernels.parameters import natural
from mercer.native.mixing import mix
from mercer.runtime import threads

_EQUAL = 1e-8  # of the largest eigenvalue: those that differ by less are one
_EDGE = 1e-9  # coordinates so near below the border of a cell are on it


@kernel
class PyramidMatch(OnVertices):
    """Σ_{l=0}^{levels} w_l I_l, I_l the vertices of x and z in common cells of side 2^−l: Σ over cells of the smaller
    of both numbers; w_l = 2^(l − levels − 1), w_0 = 2^−levels.

    A vertex has ``dimension`` coordinates in [0, 1], its entries in the eigenvectors of the adjacency matrix with the
    largest |λ|, without sign, each with cells of its own: what is common in finer cells counts more. Vertices match
    only where their labels agree. Where several eigenvalues are equal in size the entry is the root of the mean square
    over their eigenvectors, which does not depend on how these are chosen, so that isomorphic graphs have the same
    features. Arcs count in both directions; edge labels and numbers of vertices play no part. Cost:
    vertices³ for a graph, levels·dimension·vertices for a pair.

    Parameters
    ----------
    dimension : int, default=6
        How many eigenvectors, at least 1; a graph with fewer vertices has fewer.
    levels : int, default=4
        How often cells are halved, at least 0.

    See Also
    --------
    VertexHistogram : Labels alone.
    HistogramIntersection : Σ min of rows of numbers.

    References
    ----------
    .. [1] G. Nikolentzos, P. Meladianos and M. Vazirgiannis. Matching node embeddings for graph similarity. AAAI 2017.

    Examples
    --------
    >>> import mercer as mc
    >>> triangle = mc.Graph([(0, 1), (1, 2), (2, 0)])
    >>> path = mc.Graph([(0, 1), (1, 2)])
    >>> mc.PyramidMatch(dimension=1, levels=4)([triangle, path])
    array([[3.  , 1.25],
           [1.25, 3.  ]])
    """

    domain: ClassVar[Domain] = Graphs()
    dimension: int = natural(6)
    levels: int = natural(4, minimum=0)

    def _map(self, X: PackedGraphs) -> HashedRows:
        places = self._coordinates(X)
        there = np.isfinite(places)
        offsets = offsets_of(
            np.add.reduceat(np.append(there.sum(axis=1), 0), X.offsets[:-1]) * (np.diff(X.offsets) > 0)
        )
        parts = []
        for level in range(int(self.levels) + 1):
            codes = _codes(X, _cells(places, level))
            found, values, lengths = counted(np.ascontiguousarray(codes[there]), offsets)
            weight = 2.0 ** (max(level, 1) - int(self.levels) - 1)
            parts.append(weight**0.5 * HashedRows(found, values, offsets_of(lengths)).unary())
        return side_by_side(parts)

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        return together([found for found, _ in self._levels(x)])

    def _levels(self, x: PackedGraphs) -> Iterator[tuple[Occurrences, list[tuple[int, int, int, int]]]]:
        """Of one graph, level by level: where features are, and the vertex, coordinate, cell and rank of each."""
        places = self._coordinates(x)
        v, d = np.nonzero(np.isfinite(places))
        for level in range(int(self.levels) + 1):
            cells = _cells(places, level)
            codes = _codes(x, cells)[v, d]
            rank = ranks(codes)
            of = zip(v.tolist(), d.tolist(), cells[v, d].tolist(), rank.tolist(), strict=True)
            own = salted(repeated(codes, rank), level)
            yield Occurrences.of(own, [(i,) for i in v.tolist()], len(x.labels)), list(of)

    def _words(self, x: PackedGraphs, g: Written) -> dict[int, Any]:
        """The second vertex in a cell is a feature of its own: C: coordinate 1, level 2, cell 3 of 4 ×2."""
        words: dict[int, Any] = {}
        for level, (found, of) in enumerate(self._levels(x)):
            for code, (v, d, cell, rank) in zip(found.codes.tolist(), of, strict=True):
                often = f" ×{rank + 1}" if rank else ""
                words[code] = f"{g.text(v)}: coordinate {d + 1}, level {level}, cell {cell + 1} of {2**level}{often}"
        return words

    def _coordinates(self, X: PackedGraphs) -> Array:
        """A row for each vertex; NaN where there are no more eigenvectors."""
        out = np.full((len(X.labels), int(self.dimension)), np.nan)

        def task(g: int) -> None:
            x = X.take(slice(g, g + 1))
            n = len(x.labels)
            A = np.zeros((n, n))
            sources = np.repeat(np.arange(n), np.diff(x.starts))
            A[sources, x.ends] = A[x.ends, sources] = 1.0
            found = _entries(A)[:, : out.shape[1]]
            out[X.offsets[g] : X.offsets[g + 1], : found.shape[1]] = found

        threads.run_tasks(task, np.flatnonzero(np.diff(X.offsets)).tolist(), threads.default_workers())
        return out


def _cells(places: Array, level: int) -> Array:
    """The cell of each vertex in each coordinate; where there is none, the first."""
    cells = np.minimum(np.floor(np.where(np.isfinite(places), places, 0.0) * 2.0**level + _EDGE), 2.0**level - 1.0)
    return cells.astype(np.uint64)


def _codes(X: PackedGraphs, cells: Array) -> Any:
    """A code of the label, the coordinate and the cell."""
    dimensions = np.arange(cells.shape[1], dtype=np.uint64) << np.uint64(32)
    return mix(salted(X.labels, 0)[:, None] + mix(cells + dimensions))


def _entries(A: Array) -> Array:
    """The entries of each vertex in the eigenvectors, the largest |λ| first."""
    values, vectors = np.linalg.eigh(A)
    sizes = np.abs(values)
    order = np.argsort(-sizes, kind="stable")
    sizes, squares = sizes[order], vectors[:, order] ** 2
    first = np.flatnonzero(np.diff(sizes, prepend=np.inf) < -_EQUAL * max(sizes[0], 1.0))
    counts = np.diff(np.append(first, len(sizes)))
    means = np.add.reduceat(squares, first, axis=1) / counts
    return np.asarray(np.repeat(np.sqrt(means), counts, axis=1))
