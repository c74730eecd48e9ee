"""Kernels between labelled graphs with a finite feature map: one file, since all of them count codes of labels.

Counts of vertices, edges, shortest paths, simple paths, and refined labels. Features are codes of what they stand for,
not numbers in a list: labels that were never seen before are no matter, and isomorphic graphs have the same features to
the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Items, Samples
from mercer.arrays import Array
from mercer.data import Domain, Graphs, HashedRows, PackedGraphs, repeated, salted, side_by_side
from mercer.data.representations import batches, offsets_of
from mercer.formula import dot, sqnorm
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.composite import Composite
from mercer.kernels.graphs.routes import arcs_of, around, distances, packed_paths, walks_of
from mercer.kernels.graphs.words import OnVertices, Written, words_of
from mercer.kernels.occurrences import Occurrences, together
from mercer.kernels.parameters import natural
from mercer.kernels.sequences.cells import gathered
from mercer.runtime import threads
from mercer.troubles import coded

_TASKS = 16  # of a large set, for the threads
_LEAST = 4096  # vertices of a task
_STEPS = 2**20  # of a search between two looks for an interrupt
_FIRST = 1024  # entries that a search has room for at first


def _together(X: PackedGraphs) -> list[slice]:
    """Graphs of a task."""
    return batches(X.offsets, max(_LEAST, int(X.offsets[-1]) // _TASKS))


def by_batches(X: PackedGraphs, count: Callable[[PackedGraphs], tuple[Any, Any, Any]]) -> HashedRows:
    """Features of graphs, some graphs to a task; ``count`` gives codes, values, and how many each graph has."""
    some = _together(X)
    parts: list[Any] = [None] * len(some)

    def task(b: int) -> None:
        parts[b] = count(X.take(some[b]))

    threads.run_loops(task, range(len(some)))
    return gathered(parts)


def counted(codes: Array, offsets: Array) -> tuple[Any, Any, Any]:
    """The distinct codes of each row and their numbers."""
    from mercer.native import graphs

    room = len(codes)
    out = np.empty(room, np.uint64), np.empty(room), np.zeros(len(offsets) - 1, np.int64)
    end = graphs.counts(codes, offsets, *out)
    return out[0][:end], out[1][:end], out[2]


@kernel
class VertexHistogram(OnVertices):
    """Σ over labels of the product of the numbers of vertices that have it: graphs as bags of vertices.

    The simplest comparison of labelled graphs, and the base of ``WeisfeilerLehman``. Cost: O(vertices).

    See Also
    --------
    EdgeHistogram : Graphs as bags of edges.
    WeisfeilerLehman : Labels refined by those of the neighbours.

    Examples
    --------
    >>> import mercer as mc
    >>> triangle = mc.Graph([(0, 1), (1, 2), (2, 0)], labels=["C", "C", "O"])
    >>> pair = mc.Graph([(0, 1)], labels=["C", "N"])
    >>> mc.VertexHistogram()([triangle, pair])
    array([[5., 2.],
           [2., 2.]])
    """

    domain: ClassVar[Domain] = Graphs()
    _integer_features = True

    def _map(self, X: PackedGraphs) -> HashedRows:
        return by_batches(X, lambda some: counted(some.labels, some.offsets))

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        return Occurrences.of(x.labels, [(v,) for v in range(len(x.labels))], len(x.labels))

    def _word(self, g: Written, places: tuple[int, ...]) -> Any:
        return g.names[places[0]]


@kernel
class EdgeHistogram(OnVertices):
    """Σ over labels of the product of the numbers of edges that have it: graphs as bags of edges.

    Without edge labels it is the product of the numbers of edges.

    See Also
    --------
    VertexHistogram : Graphs as bags of vertices.
    PathBag : Paths by the labels along them.

    Examples
    --------
    >>> import mercer as mc
    >>> x = mc.Graph([(0, 1), (1, 2)], edge_labels=["single", "double"])
    >>> z = mc.Graph([(0, 1), (1, 2)], edge_labels=["single", "single"])
    >>> mc.EdgeHistogram()([x, z])
    array([[2., 2.],
           [2., 4.]])
    """

    domain: ClassVar[Domain] = Graphs()
    _integer_features = True

    def _map(self, X: PackedGraphs) -> HashedRows:
        from mercer.native import graphs

        def count(some: PackedGraphs) -> tuple[Any, Any, Any]:
            codes, lengths = np.empty(len(some.ends), np.uint64), np.zeros(len(some), np.int64)
            end = graphs.edge_codes(some.offsets, some.starts, some.ends, some.marks, some.directed, codes, lengths)
            return counted(codes[:end], offsets_of(lengths))

        return by_batches(X, count)

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        from mercer.native import graphs

        codes, n = np.empty(len(x.ends), np.uint64), len(x.labels)
        end = graphs.edge_codes(x.offsets, x.starts, x.ends, x.marks, x.directed, codes, np.zeros(1, np.int64))
        arcs = [(u, v) for u, v in arcs_of(x) if x.directed[0] or v >= u]
        return Occurrences.of(codes[:end], [tuple(dict.fromkeys(arc)) for arc in arcs], n)

    def _word(self, g: Written, places: tuple[int, ...]) -> Any:
        return g.sign(places[0], places[-1])


def pairs_by_distance(X: PackedGraphs, lengths: Callable[[PackedGraphs], Any], unit: int) -> HashedRows:
    """Counts of pairs of joined vertices by both labels and distance in whole units: the number of edges, or the least
    sum of whole ``lengths`` of arcs, where there are any.
    """
    from mercer.native import graphs

    def count(some: PackedGraphs) -> tuple[Any, Any, Any]:
        n = np.diff(some.offsets)
        room = int(np.sum(n * (n - 1) // np.where(some.directed, 1, 2)))
        out = np.empty(room, np.uint64), np.empty(room), np.zeros(len(some), np.int64)
        arcs = some.offsets, some.labels, some.starts, some.ends, some.directed, lengths(some), unit
        end = graphs.shortest_paths(*arcs, *out)
        return out[0][:end].copy(), out[1][:end].copy(), out[2]

    return by_batches(X, count)


@kernel
class ShortestPath(OnVertices):
    """Σ over pairs of vertices u ≠ v of x and pairs of z: 1[same labels, same distance].

    A pair counts once, {u, v}; in directed graphs both ways, (u, v). The distance is the number of edges; pairs that no
    path joins do not count. Cost: O(vertices · edges) per graph. ``normalized()`` keeps large graphs from having large
    values.

    See Also
    --------
    PathBag : All simple paths, by the labels along them.
    PathLength : Lengths of edges in place of their number.
    WeisfeilerLehman : Neighbourhoods in place of distances.

    References
    ----------
    .. [1] K. M. Borgwardt and H.-P. Kriegel. Shortest-path kernels on graphs. ICDM 2005.

    Examples
    --------
    >>> import mercer as mc
    >>> path = mc.Graph([(0, 1), (1, 2)])
    >>> triangle = mc.Graph([(0, 1), (1, 2), (2, 0)])
    >>> mc.ShortestPath()([path, triangle])
    array([[5., 6.],
           [6., 9.]])
    """

    domain: ClassVar[Domain] = Graphs()
    _integer_features = True

    def _map(self, X: PackedGraphs) -> HashedRows:
        return pairs_by_distance(X, lambda some: np.empty(0, np.int64), 1)

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        from mercer.native import graphs

        directed = bool(x.directed[0])
        found = [
            (graphs.pair_code(x.labels[u], x.labels[v], int(apart), directed), (u, v))
            for u, row in enumerate(distances(x))
            for v, apart in enumerate(row)
            if apart > 0 and (directed or v > u)
        ]
        return Occurrences.of(np.array([code for code, _ in found], np.uint64), [p for _, p in found], len(x.labels))

    def _word(self, g: Written, places: tuple[int, ...]) -> Any:
        first, last = (g.text(v) for v in places)
        if not g.graph.directed:
            first, last = sorted((first, last))
        return f"{first} to {last} in {g.apart[places]}"


# ---------------------------------------------------------------------------------------------------------------------
# Paths
# ---------------------------------------------------------------------------------------------------------------------


@kernel
class PathBag(OnVertices):
    """Σ over label sequences of the product of 1[a path of x reads so], paths with at most ``length`` edges.

    A path visits no vertex twice. Edge labels are part of the sequence. Read backwards it is the same path, except in
    directed graphs. ``Tanimoto(PathBag(7))`` is the kernel of [1]_ for molecules. Cost: the number of paths, which is
    small in molecules and exponential in ``length`` in dense graphs.

    Parameters
    ----------
    length : int
        The largest number of edges, at least 0.
    counts : bool, default=False
        Multiply the numbers of such paths in x and z, in place of whether there is one.

    See Also
    --------
    Walk : Walks, which may visit a vertex again.
    ShortestPath : The ends and the lengths of shortest paths.
    Tanimoto : The share of common paths among all.

    References
    ----------
    .. [1] L. Ralaivola, S. J. Swamidass, H. Saigo and P. Baldi. Graph kernels for chemical informatics. Neural Networks
       18,
       2005.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.PathBag(2)
    >>> ethanol = mc.Graph([(0, 1), (1, 2)], labels=["C", "C", "O"])
    >>> ethane = mc.Graph([(0, 1)], labels=["C", "C"])
    >>> k([ethanol, ethane])
    array([[5., 2.],
           [2., 2.]])
    >>> sorted(k.feature_names([ethanol]))
    ['C', 'C-C', 'C-C-O', 'C-O', 'O']
    """

    domain: ClassVar[Domain] = Graphs()
    _integer_features = True
    length: int = natural(minimum=0)
    counts: bool = False

    def _map(self, X: PackedGraphs) -> HashedRows:
        from mercer.native import graphs

        length = min(int(self.length), max(0, int(np.diff(X.offsets).max(initial=0)) - 1))

        def count(some: PackedGraphs) -> tuple[Any, Any, Any]:
            largest = int(np.diff(some.offsets).max(initial=0))
            state, lengths = np.array([0, 0, -1, 0, 0, 0]), np.zeros(len(some), np.int64)
            walk, visited, hashes = (
                np.zeros((length + 1, 2), np.int64),
                np.zeros(largest, bool),
                np.zeros((length + 1, 2), np.uint64),
            )
            slots, codes, values = np.full(_FIRST, -1, np.int64), np.empty(_FIRST, np.uint64), np.empty(_FIRST)
            arrays = (some.offsets, some.labels, some.starts, some.ends, some.marks, some.directed)
            while state[graphs.GRAPH] < len(some) and not threads.stopping():
                slots, codes, values = graphs.paths(
                    *arrays,
                    length,
                    bool(self.counts),
                    _STEPS,
                    state,
                    walk,
                    visited,
                    hashes,
                    slots,
                    codes,
                    values,
                    lengths,
                )
            end = state[graphs.END]
            return codes[:end].copy(), values[:end].copy(), lengths

        return by_batches(X, count)

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        directed = bool(x.directed[0])
        walks = [walk for walk in walks_of(x, int(self.length)) if directed or walk[0] <= walk[0][::-1]]
        codes = np.empty(len(walks), np.uint64)
        for length in {len(marks) for _, marks in walks}:
            of = [i for i, (_, marks) in enumerate(walks) if len(marks) == length]
            labels = np.array([x.labels[list(walks[i][0])] for i in of], np.uint64)
            marks = np.array([walks[i][1] for i in of], np.uint64).reshape(len(of), length)
            kinds, kind = np.unique(np.hstack([labels, marks]), axis=0, return_inverse=True)
            paths = packed_paths(kinds[:, : length + 1], kinds[:, length + 1 :], directed=directed)
            codes[of] = longest_codes(paths, length)[kind.reshape(-1)]
        return Occurrences.of(codes, [vertices for vertices, _ in walks], len(x.labels))

    def _word(self, g: Written, places: tuple[int, ...]) -> Any:
        return g.path(places)


def longest_codes(paths: PackedGraphs, length: int) -> Any:
    """The code of each of some graphs that are a path of so many edges: the one that its shorter paths do not have."""
    longer, shorter = PathBag(length)._map(paths), PathBag(max(0, length - 1))._map(paths)
    codes = np.empty(len(paths), np.uint64)
    for i in range(len(paths)):
        mine = set(longer.codes[longer.offsets[i] : longer.offsets[i + 1]].tolist())
        new = mine - set(shorter.codes[shorter.offsets[i] : shorter.offsets[i + 1]].tolist()) if length else mine
        codes[i] = next(iter(new))
    return codes


# ---------------------------------------------------------------------------------------------------------------------
# Refined labels
# ---------------------------------------------------------------------------------------------------------------------


def refinements(X: PackedGraphs, depth: int) -> Iterator[PackedGraphs]:
    """The graphs with their labels refined 0, 1, … ``depth`` times: a new label stands for the old one and the multiset
    of (edge label, old label) of the neighbours; in directed graphs for those ahead and those behind.
    """
    from mercer.native import graphs

    behind = X.reversed() if X.directed.any() else None
    if behind is not None:
        kept = np.repeat(np.repeat(X.directed, np.diff(X.offsets)), np.diff(behind.starts))
        lengths = np.where(np.repeat(X.directed, np.diff(X.offsets)), np.diff(behind.starts), 0)
        behind = PackedGraphs(
            X.offsets, X.labels, offsets_of(lengths), behind.ends[kept], behind.marks[kept], X.directed
        )
    some, codes = _together(X), X.labels
    for d in range(depth + 1):
        if d:
            codes = _refined(graphs, X, behind, codes, some)
        yield X.relabelled(codes)


def _refined(graphs: ModuleType, X: PackedGraphs, behind: PackedGraphs | None, codes: Array, some: list[slice]) -> Any:
    out = np.empty_like(codes)

    def task(rows: slice) -> None:
        vertices = slice(X.offsets[rows.start], X.offsets[rows.stop])
        total = codes[vertices] * np.uint64(3)
        for t, side in enumerate([X] if behind is None else [X, behind]):
            part = side.take(rows)
            graphs.refined(part.offsets, codes[vertices], part.starts, part.ends, part.marks, np.uint64(t), total)
        graphs.mixed(total, out[vertices])

    threads.run_loops(task, some)
    return out


def between_graphs(k: object) -> bool:
    """Whether k, or each of the kernels that it is made of, compares graphs."""
    parts = [child for _, child in k._children()] if isinstance(k, Kernel) else []
    return isinstance(k, Kernel) and (isinstance(k.domain, Graphs) or (bool(parts) and all(map(between_graphs, parts))))


class OverLabellings(Composite):
    """Σ over labellings of a graph of ``base``, times a constant: leaves ``_labellings`` to write."""

    base: Kernel
    _share: float = 1.0  # the constant

    def _labellings(self, X: PackedGraphs) -> Iterator[PackedGraphs]:
        raise NotImplementedError

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return self.base.psd

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.base.explicit

    def _written(self, x: PackedGraphs, g: Written) -> Iterator[Written]:
        """The graph with its vertices called by the labels of each labelling."""
        raise NotImplementedError

    def _called(self, t: int, word: object) -> Any:
        """A feature of the base in labelling t."""
        return word

    def _names(self, X: Samples) -> dict[int, Any]:
        return words_of(self._words, X)

    def _words(self, x: PackedGraphs, g: Written) -> dict[int, Any]:
        """What the base's features are called in each of the labellings."""
        if not isinstance(self.base, OnVertices | OverLabellings):
            raise TypeError(coded(f"The features of {self} have no names.", "M212"))
        found: dict[int, Any] = {}
        for t, (labelled, written) in enumerate(zip(self._labellings(x), self._written(x, g), strict=False)):
            words = self.base._words(labelled, written)
            names = [self._called(t, word) for word in words.values()]
            found |= zip(salted(np.array(list(words), np.uint64), t).tolist(), names, strict=True)
        return found

    def _validate(self) -> None:
        if not between_graphs(self.base) or self.base._data_driven:
            raise TypeError(
                coded(
                    f"{type(self).__name__}(base={self.base}): the base must be a kernel between graphs, as"
                    " ShortestPath().",
                    "M215",
                )
            )

    def _prepare(self, X: PackedGraphs) -> Any:
        parts = [self.base._prepare(labelled) for labelled in self._labellings(X)]
        if not self.explicit:
            return tuple(parts)
        phi = side_by_side([self.base._features(p) for p in parts])
        return phi if self._share == 1.0 else self._share**0.5 * phi

    def _block(self, A: Items, B: Items) -> Any:
        if self.explicit:
            return dot(A, B)
        return self._share * sum(self.base._pairs(a, b) for a, b in zip(A, B, strict=True))

    def _diag(self, A: Items) -> Any:
        return sqnorm(A) if self.explicit else self._share * sum(self.base._selfs(a) for a in A)

    def _features(self, A: Items) -> Any:
        return A

    def _width(self, A: Items) -> int:
        return int(A.per_row)


@kernel
class WeisfeilerLehman(OverLabellings):
    """Σ_{d=0}^{depth} base(x_d, z_d), x_d the graph with labels refined d times by those of their neighbours.

    After d refinements a label describes the neighbourhood of a vertex up to d edges away. With ``VertexHistogram()``
    as the base it is the Weisfeiler–Lehman subtree kernel, whose features cost O(depth · edges) per graph. Edge labels
    take part in refinement where there are any; in directed graphs neighbours ahead and behind are told apart.

    Parameters
    ----------
    depth : int
        How often labels are refined, at least 0; 2 to 5 is common.
    base : Kernel, default=VertexHistogram()
        A kernel between graphs, which is applied to the graphs with refined labels.

    See Also
    --------
    WLOptimalAssignment : The best assignment of the vertices by the same labels.
    HashedAttributes : The same for graphs whose vertices have numbers.

    References
    ----------
    .. [1] N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt. Weisfeiler–Lehman graph
       kernels. JMLR 12, 2011.

    Examples
    --------
    >>> import mercer as mc
    >>> path = mc.Graph([(0, 1), (1, 2), (2, 3)])
    >>> star = mc.Graph([(0, 1), (0, 2), (0, 3)])
    >>> mc.WeisfeilerLehman(2).normalized()([path, star]).round(3)
    array([[1.   , 0.648],
           [0.648, 1.   ]])
    """

    usage: ClassVar[str] = "WeisfeilerLehman(depth, base=VertexHistogram())"
    depth: int = natural(minimum=0)
    base: Kernel = VertexHistogram()

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return self.base.domain if isinstance(self.base.domain, Graphs) else Graphs()

    @property
    def _integer_features(self) -> bool:  # type: ignore[override]
        return self.base._integer_features

    def _labellings(self, X: PackedGraphs) -> Iterator[PackedGraphs]:
        return refinements(X, int(self.depth))

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        """A label refined d times tells what is up to d edges away, and covers that."""
        if not self.explicit:
            return None
        near, found = around(x), []
        for d, refined in enumerate(refinements(x, int(self.depth))):
            part = self.base._occurrences(refined)
            if part is None:
                return None
            wide = [np.flatnonzero((near[places] <= d).any(axis=0)) for places in part.places]
            found.append(Occurrences.of(salted(part.codes, d), wide, part.size))
        return together(found)

    def _written(self, x: PackedGraphs, g: Written) -> Iterator[Written]:
        """A refined label as the tree of neighbours that it stands for: C(-C,=O)."""
        return g.trees()


@kernel
class WLOptimalAssignment(OnVertices):
    """The largest Σ s(u, v) over one-to-one assignments of vertices, s(u, v) the number of refinements they share.

    s(u, v) is the number of refinements 0 … depth, as in ``WeisfeilerLehman``, after which u and v have the same label.
    The kernel is Σ over refined labels of the smaller of both counts. Cost: as of ``WeisfeilerLehman``.

    Parameters
    ----------
    depth : int
        How often labels are refined, at least 0.

    See Also
    --------
    WeisfeilerLehman : The product of the counts in place of the smaller.

    References
    ----------
    .. [1] N. M. Kriege, P.-L. Giscard and R. C. Wilson. On valid optimal assignment kernels and applications to graph
       classification. NIPS 2016.

    Examples
    --------
    >>> import mercer as mc
    >>> path = mc.Graph([(0, 1), (1, 2), (2, 3)])
    >>> star = mc.Graph([(0, 1), (0, 2), (0, 3)])
    >>> mc.WLOptimalAssignment(1)([path, star])
    array([[8., 6.],
           [6., 8.]])
    """

    domain: ClassVar[Domain] = Graphs()
    _integer_features = True
    depth: int = natural(minimum=0)

    def _map(self, X: PackedGraphs) -> HashedRows:
        counts: HashedRows = self._subtrees._prepare(X)
        return counts.unary()

    @property
    def _subtrees(self) -> WeisfeilerLehman:
        return WeisfeilerLehman(int(self.depth))

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        found = self._subtrees._occurrences(x)
        assert found is not None
        return Occurrences(repeated(found.codes, ranks(found.codes)), found.places, found.size)

    def _words(self, x: PackedGraphs, g: Written) -> dict[int, Any]:
        """The second vertex with a label is a feature of its own: C(-C) ×2."""
        found, words = self._subtrees._occurrences(x), self._subtrees._words(x, g)
        assert found is not None
        rank = ranks(found.codes)
        names = [
            f"{words[code]} ×{r + 1}" if r else words[code]
            for code, r in zip(found.codes.tolist(), rank.tolist(), strict=True)
        ]
        return dict(zip(repeated(found.codes, rank).tolist(), names, strict=True))


def ranks(codes: Array) -> Array:
    """How many equal codes come before each."""
    order = np.argsort(codes, kind="stable")
    found = np.empty(len(codes), np.int64)
    found[order] = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    return found
