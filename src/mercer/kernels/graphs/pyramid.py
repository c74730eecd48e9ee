"""A kernel between graphs that matches their vertices in the space of the first eigenvectors."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mercer.arrays import Array
from mercer.data import Domain, Graphs, HashedRows, PackedGraphs, salted, side_by_side
from mercer.data.representations import offsets_of
from mercer.kernels.base import kernel
from mercer.kernels.families import Explicit
from mercer.kernels.graphs.labelled import counted
from mercer.kernels.parameters import natural
from mercer.native.mixing import mix
from mercer.runtime import threads

_EQUAL = 1e-8  # of the largest eigenvalue: those that differ by less are one
_EDGE = 1e-9  # coordinates so near below the border of a cell are on it


@kernel
class PyramidMatch(Explicit):
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
        dimensions = np.arange(places.shape[1], dtype=np.uint64) << np.uint64(32)
        parts = []
        for level in range(int(self.levels) + 1):
            cells = np.minimum(np.floor(np.where(there, places, 0.0) * 2.0**level + _EDGE), 2.0**level - 1.0)
            codes = mix(salted(X.labels, 0)[:, None] + mix(cells.astype(np.uint64) + dimensions))
            found, values, lengths = counted(np.ascontiguousarray(codes[there]), offsets)
            weight = 2.0 ** (max(level, 1) - int(self.levels) - 1)
            parts.append(weight**0.5 * HashedRows(found, values, offsets_of(lengths)).unary())
        return side_by_side(parts)

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
