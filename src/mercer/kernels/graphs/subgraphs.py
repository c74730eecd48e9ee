"""Kernels that count the small connected subgraphs of labelled graphs, up to isomorphism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mercer.data import DataError, Domain, Graphs, HashedRows, PackedGraphs
from mercer.data.representations import offsets_of, spans
from mercer.kernels.base import kernel
from mercer.kernels.graphs.labelled import by_batches
from mercer.kernels.graphs.routes import arcs_of
from mercer.kernels.graphs.words import OnVertices, Written
from mercer.kernels.occurrences import Occurrences
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


class _Part(NamedTuple):
    """A connected subgraph: its vertices, and its edges, an undirected one once."""

    vertices: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]


class _Counted(OnVertices):
    """Counts of connected subgraphs of ``_least`` … ``_most`` vertices, induced ones or all."""

    _induced: ClassVar[bool]

    @property
    def _sizes(self) -> tuple[int, int]:
        raise NotImplementedError

    def _map(self, X: PackedGraphs) -> HashedRows:
        return _subgraphs(X, *self._sizes, induced=self._induced)

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        found = self._found(x)
        return Occurrences.of(
            np.array([code for code, _ in found], np.uint64), [part.vertices for _, part in found], len(x.labels)
        )

    def _words(self, x: PackedGraphs, g: Written) -> dict[int, Any]:
        """Subgraphs as SMILES are written: C-C(=O)-O."""
        first: dict[int, _Part] = {}
        for code, part in self._found(x):
            first.setdefault(code, part)
        return {code: g.part(*part) for code, part in first.items()}

    def _found(self, x: PackedGraphs) -> list[tuple[int, _Part]]:
        """Every occurrence of a subgraph in one graph, with its code: that of the subgraph as a graph of its own."""
        least, most = self._sizes
        directed = bool(x.directed[0])
        out: list[tuple[int, _Part]] = []
        arcs = dict(zip(arcs_of(x), x.marks.tolist(), strict=True))
        parts = [
            part
            for vertices in _connected(arcs, len(x.labels), most)
            if len(vertices) >= least
            for part in _carried(vertices, arcs, directed=directed, induced=self._induced)
        ]
        for size in range(least, most + 1):
            some = [part for part in parts if len(part.vertices) == size]
            if some:
                phi = _subgraphs(_alone(some, x, arcs, directed=directed), size, size, induced=True)
                out += zip(phi.codes.tolist(), some, strict=True)
        return out


def _connected(arcs: Mapping[tuple[int, int], int], n: int, most: int) -> Iterator[tuple[int, ...]]:
    """The connected sets of at most so many vertices, each once."""
    near: list[set[int]] = [set() for _ in range(n)]
    for u, v in arcs:
        near[u].add(v)
        near[v].add(u)

    def grown(own: tuple[int, ...], seen: set[int], more: list[int]) -> Iterator[tuple[int, ...]]:
        yield own
        if len(own) < most:
            for i, w in enumerate(more):
                fresh = sorted(u for u in near[w] if u > own[0] and u not in seen)
                yield from grown((*own, w), seen | set(fresh), more[i + 1 :] + fresh)

    for root in range(n):
        after = sorted(w for w in near[root] if w > root)
        yield from grown((root,), {root, *after}, after)


def _carried(
    vertices: tuple[int, ...], arcs: Mapping[tuple[int, int], int], *, directed: bool, induced: bool
) -> Iterator[_Part]:
    """The subgraph that a set of vertices induces; or one for each choice of its edges that joins all of them."""
    edges = [(u, v) for u in vertices for v in vertices if (u, v) in arcs and (directed or u <= v)]
    if induced:
        yield _Part(vertices, tuple(edges))
        return
    for chosen in chain.from_iterable(combinations(edges, m) for m in range(len(vertices) - 1, len(edges) + 1)):
        if _joins(vertices, chosen):
            yield _Part(vertices, chosen)


def _joins(vertices: tuple[int, ...], edges: Sequence[tuple[int, int]]) -> bool:
    reached, before = {vertices[0]}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {w for edge in edges if reached.intersection(edge) for w in edge}
    return len(reached) == len(vertices)


def _alone(parts: list[_Part], x: PackedGraphs, arcs: Mapping[tuple[int, int], int], *, directed: bool) -> PackedGraphs:
    """Parts of a graph, of equally many vertices, each as a graph of its own."""
    size, ends, marks = len(parts[0].vertices), [], []
    degrees = np.zeros((len(parts), size), np.int64)
    for p, (vertices, edges) in enumerate(parts):
        place = {v: i for i, v in enumerate(vertices)}
        both = set(edges) if directed else {end for u, v in edges for end in ((u, v), (v, u))}
        for i, j, mark in sorted((place[u], place[v], arcs[u, v]) for u, v in both):
            degrees[p, i] += 1
            ends.append(j)
            marks.append(mark)
    return PackedGraphs(
        np.arange(len(parts) + 1) * size,
        x.labels[np.array([part.vertices for part in parts]).reshape(-1)],
        offsets_of(degrees.reshape(-1)),
        np.array(ends, np.int32),
        np.array(marks, np.uint64),
        np.full(len(parts), directed),
    )


@kernel
class Graphlet(_Counted):
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
    _induced: ClassVar[bool] = True
    size: int = natural(maximum=7)

    @property
    def _sizes(self) -> tuple[int, int]:
        return int(self.size), int(self.size)


@kernel
class Subgraph(_Counted):
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
    _induced: ClassVar[bool] = False
    max_size: int = natural(maximum=6)

    @property
    def _sizes(self) -> tuple[int, int]:
        return 1, int(self.max_size)

    def _map(self, X: PackedGraphs) -> HashedRows:
        if self.max_size > 4 and X.directed.any():
            raise DataError(
                f"Subgraph(max_size={self.max_size}): 5 vertices of a directed graph have up to 2^20 subgraphs; take"
                " max_size ≤ 4.",
                "M205",
            )
        return super()._map(X)
