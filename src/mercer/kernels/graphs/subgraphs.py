"""Kernels that count the small connected subgraphs of labelled graphs, up to isomorphism."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.data import DataError, Domain, Graphs, HashedRows, PackedGraphs
from mercer.data.representations import offsets_of, spans
from mercer.kernels.base import kernel
from mercer.kernels.families import Explicit
from mercer.kernels.graphs.labelled import by_batches
from mercer.kernels.parameters import natural
from mercer.runtime import threads

_STEPS = 2**16  # of a search between two looks for an interrupt
_FIRST = 1024  # entries that a search has room for at first


def _subgraphs(X: PackedGraphs, least: int, most: int, *, induced: bool) -> HashedRows:
    from mercer.native import graphs

    def count(some: PackedGraphs) -> tuple[Any, Any, Any]:
        starts, joined = _either_way(some)
        largest = int(np.diff(some.offsets).max(initial=0))
        state, lengths = np.array([0, 0, -1, 0, 0, 0]), np.zeros(len(some), np.int64)
        places = np.zeros((most + 4, max(largest, most + 1)), np.int64)
        places[1] = -1
        slots, codes, values = np.full(_FIRST, -1, np.int64), np.empty(_FIRST, np.uint64), np.empty(_FIRST)
        arrays = (some.offsets, some.labels, some.starts, some.ends, some.marks, starts, joined, some.directed)
        while state[graphs.GRAPH] < len(some) and not threads.stopping():
            slots, codes, values = graphs.subgraphs(
                *arrays, least, most, induced, _STEPS, state, places, slots, codes, values, lengths
            )
        end = state[graphs.END]
        return codes[:end].copy(), values[:end].copy(), lengths

    return by_batches(X, count)


def _either_way(X: PackedGraphs) -> tuple[Any, Any]:
    """Neighbours in either direction."""
    if not X.directed.any():
        return X.starts, X.ends
    back = X.reversed()
    n = len(X.labels)
    starts = offsets_of(np.diff(X.starts) + np.diff(back.starts))
    ends = np.empty(int(starts[-1]), np.int32)
    begin = starts[:-1].copy()
    for side in (X, back):
        part, _ = spans(side.starts, np.arange(n))
        ends[np.repeat(begin - side.starts[:-1], np.diff(side.starts)) + part] = side.ends
        begin += np.diff(side.starts)
    return starts, ends


@kernel
class Graphlet(Explicit):
    """Σ over connected labelled graphs H of ``size`` vertices of (vertex sets of x that induce H)·(those of z).

    Graphs H are counted up to isomorphism. Labels of vertices and edges, directions and loops count. Cost: the number
    of connected sets of ``size`` vertices, at most vertices · degree^(size − 1).

    Parameters
    ----------
    size : int
        The number of vertices of H, 1 to 7; 3 to 5 is common.

    See Also
    --------
    Subgraph : Subgraphs that need not be induced, of several sizes.

    References
    ----------
    .. [1] N. Shervashidze, S. V. N. Vishwanathan, T. Petri, K. Mehlhorn and K. M. Borgwardt. Efficient graphlet kernels
       for
       large graph comparison. AISTATS 2009.

    Examples
    --------
    >>> import mercer as mc
    >>> square = mc.Graph([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> kite = mc.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    >>> mc.Graphlet(3)([square, kite])  # 4 paths, and 2 paths with 2 triangles
    array([[16.,  8.],
           [ 8.,  8.]])
    """

    domain: ClassVar[Domain] = Graphs()
    _integer_features = True
    size: int = natural(maximum=7)

    def _map(self, X: PackedGraphs) -> HashedRows:
        return _subgraphs(X, int(self.size), int(self.size), induced=True)


@kernel
class Subgraph(Explicit):
    """Σ over connected labelled graphs H of at most ``max_size`` vertices of (subgraphs of x like H)·(those of z).

    A subgraph is like H when it is isomorphic to it, labels included. Subgraphs need not be induced: any connected
    choice of the edges of a set of vertices counts. Without the bound on their size the kernel is NP-hard to compute
    (with it one could find Hamiltonian paths [1]_); with it the cost grows exponentially in ``max_size``.

    Parameters
    ----------
    max_size : int
        The largest number of vertices of H, 1 to 6; in directed graphs 1 to 4.

    See Also
    --------
    Graphlet : Induced subgraphs of one size.

    References
    ----------
    .. [1] T. Gärtner, P. Flach and S. Wrobel. On graph kernels: hardness results and efficient alternatives. COLT 2003.

    Examples
    --------
    >>> import mercer as mc
    >>> path = mc.Graph([(0, 1), (1, 2)])
    >>> triangle = mc.Graph([(0, 1), (1, 2), (2, 0)])
    >>> mc.Subgraph(3)([path, triangle])
    array([[14., 18.],
           [18., 28.]])
    """

    domain: ClassVar[Domain] = Graphs()
    _integer_features = True
    max_size: int = natural(maximum=6)

    def _map(self, X: PackedGraphs) -> HashedRows:
        if self.max_size > 4 and X.directed.any():
            raise DataError(
                f"Subgraph(max_size={self.max_size}): 5 vertices of a directed graph have up to 2^20 subgraphs; take"
                " max_size ≤ 4."
            )
        return _subgraphs(X, 1, int(self.max_size), induced=False)
