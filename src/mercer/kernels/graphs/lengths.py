"""A kernel between graphs whose vertices have places: shortest paths by their length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from mercer.data import DataError, Domain, Graphs, HashedRows, PackedGraphs
from mercer.kernels.base import kernel
from mercer.kernels.graphs.labelled import pairs_by_distance
from mercer.kernels.graphs.points import attributes_of
from mercer.kernels.graphs.words import OnVertices, Written
from mercer.kernels.occurrences import Occurrences
from mercer.kernels.parameters import positive

_UNIT = 2**20  # steps of a width: lengths are whole numbers of them, whose sums do not depend on their order
_LONGEST = 2.0**60


@kernel
class PathLength(OnVertices):
    """Σ over pairs of vertices u ≠ v of x and pairs of z: 1[same labels, ⌊d/width⌋ the same], d the length of the
    shortest path.

    ``ShortestPath`` for vertices with places, as atoms and residues: an edge is as long as the numbers of its ends are
    apart, a path as its edges together. Rotations and shifts of all places of a graph do not matter. A pair counts
    once, {u, v}; in directed graphs both ways, (u, v); edge labels play no part. Lengths are rounded to a millionth of
    the width. Cost: O(vertices³) per graph at most.

    Parameters
    ----------
    width : float, default=1.0
        The length of a bin, > 0.

    See Also
    --------
    ShortestPath : The number of edges in place of lengths.
    GraphHopper : The numbers of all vertices on shortest paths.

    References
    ----------
    .. [1] K. M. Borgwardt and H.-P. Kriegel. Shortest-path kernels on graphs. ICDM 2005.

    Examples
    --------
    >>> import mercer as mc
    >>> bent = mc.Graph([(0, 1), (1, 2)], ["C", "C", "O"], attributes=[[0.0, 0.0], [1.5, 0.0], [1.5, 1.4]])
    >>> long = mc.Graph([(0, 1), (1, 2)], ["C", "C", "O"], attributes=[[0.0, 0.0], [1.5, 0.0], [4.0, 0.0]])
    >>> mc.PathLength(0.5)([bent, long])
    array([[3., 2.],
           [2., 3.]])
    """

    domain: ClassVar[Domain] = Graphs(numbers=True)
    _integer_features = True
    width: float = positive(1.0, continuous=False)

    def _map(self, X: PackedGraphs) -> HashedRows:
        if len(X.labels):
            attributes_of(X, self)
        return pairs_by_distance(X, self._lengths, _UNIT)

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        found = list(self._pairs_in_bins(x))
        codes = np.array([code for code, _, _ in found], np.uint64)
        return Occurrences.of(codes, [pair for _, pair, _ in found], len(x.labels))

    def _words(self, x: PackedGraphs, g: Written) -> dict[int, Any]:
        """Both labels and the bin of the length: C … O, 2.1–2.8; in directed graphs C -> O."""
        words: dict[int, Any] = {}
        for code, pair, b in self._pairs_in_bins(x):
            first, last = (g.text(v) for v in pair)
            if not g.graph.directed:
                first, last = sorted((first, last))
            between = "->" if g.graph.directed else "…"
            low, high = b * float(self.width), (b + 1) * float(self.width)
            words[code] = f"{first} {between} {last}, {low:g}–{high:g}"
        return words

    def _pairs_in_bins(self, x: PackedGraphs) -> Iterator[tuple[int, tuple[int, int], int]]:
        """The code, the ends and the bin of each pair that a path joins, of one graph."""
        from mercer.native import graphs

        n, directed, lengths = len(x.labels), bool(x.directed[0]), self._lengths(x)
        distance, queue = np.empty(n, np.int64), np.empty(n, np.int64)
        for u in range(n):
            graphs.measured(u, 0, x.starts, x.ends, lengths, distance, queue)
            for v in np.flatnonzero(distance >= 0).tolist():
                if v > u or (directed and v != u):
                    b = int(distance[v]) // _UNIT
                    yield int(graphs.pair_code(x.labels[u], x.labels[v], b, directed)), (u, v), b

    def _lengths(self, X: PackedGraphs) -> Any:
        """Of each arc, in units."""
        if not len(X.ends):
            return np.empty(0, np.int64)
        sources = np.repeat(np.arange(len(X.labels)), np.diff(X.starts))
        base = np.repeat(X.offsets[:-1], np.diff(X.offsets))
        rows = attributes_of(X, self)
        apart = rows[X.ends + base[sources]] - rows[sources]
        lengths = np.sqrt((apart * apart).sum(axis=1)) / float(self.width) * _UNIT
        if lengths.max() * np.diff(X.offsets).max() >= _LONGEST:
            raise DataError(
                f"{self}: paths of edges as long as {lengths.max() / _UNIT * float(self.width):.3g} fall into more bins"
                " than can be counted; take a larger width.",
                "M120",
            )
        return np.rint(lengths).astype(np.int64)
