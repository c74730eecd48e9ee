"""Labelled graphs, as users have them and as kernels read them.

A label, whatever it is, becomes a 64-bit code of its value: the same label has the same code in every graph, data set
and process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import Index
from mercer.arrays import Array
from mercer.data.representations import offsets_of, spans
from mercer.data.sequences import canonical, is_missing, token_code
from mercer.data.tables import DataError, shown
from mercer.native.mixing import mix
from mercer.runtime import compiling

UNLABELLED = None  # the label of a vertex or edge without one
_SALT = np.uint64(0x5851F42D4C957F2D)
_OWN = 2**62  # whole numbers below are coded by their value, others as any token


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph with the vertices 0 … n − 1: its edges (u, v), labels of vertices and edges, and numbers for each vertex.

    What the kernels between graphs compare; ``as_graphs`` makes it from graphs of networkx and igraph, adjacency
    matrices, molecules and more. It is immutable.

    Parameters
    ----------
    edges : array-like of shape (m, 2), default=()
        Pairs of vertex numbers. An undirected edge is given once, or in both directions alike; a loop is an edge (u,
        u).
    labels : sequence or dict, optional
        A label for each vertex, in order or by number: strings, numbers or tuples of them. None: all vertices are
        alike.
    edge_labels : sequence, dict or matrix, optional
        A label for each edge, in the order of ``edges`` or by its ends (u, v). None: all edges are alike.
    attributes : array-like of shape (n,) or (n, d), optional
        Numbers for each vertex, which ``GraphHopper``, ``KernelWalk``, ``HashedAttributes``, ``WassersteinAttributes``,
        ``PathLength`` and ``Propagation`` compare.
    n_vertices : int, optional
        n, needed where vertices without edges come last and there are neither labels nor attributes.
    directed : bool, default=False
        Whether (u, v) and (v, u) are different edges.

    Raises
    ------
    DataError
        When an edge names a vertex that is not there, an edge has two labels, or the numbers of labels do not fit.

    See Also
    --------
    as_graphs : Graphs from other forms.
    Network : One weighted graph whose vertices are the samples.

    Examples
    --------
    >>> import mercer as mc
    >>> water = mc.Graph([(0, 1), (0, 2)], labels=["O", "H", "H"])
    >>> water
    <graph of 3 vertices and 2 edges>
    >>> mc.ShortestPath()([water])
    array([[5.]])
    """

    edges: Any = field(default_factory=list)
    labels: Any = None
    edge_labels: Any = None
    attributes: Any = None
    n_vertices: int | None = None
    directed: bool = False

    def __post_init__(self) -> None:
        pairs = _pairs(self.edges)
        n = self._count(pairs)
        if len(pairs) and (pairs.min() < 0 or pairs.max() >= n):
            u, v = pairs[int(np.argmax((pairs < 0).any(1) | (pairs >= n).any(1)))]
            raise DataError(
                f"the edge ({u}, {v}) names a vertex that is not there: there are {n}, numbered from 0", "M109"
            )
        marks = (
            None
            if self.edge_labels is None
            else _listed(labels_by_edge(self.edge_labels, pairs, directed=self.directed))
        )
        if marks is not None and len(marks) != len(pairs):
            raise DataError(f"there are {len(pairs)} edges and {len(marks)} edge labels", "M109")
        pairs, marks = _once(pairs, marks, n, directed=self.directed)
        numbers = None if self.attributes is None else _attributes(self.attributes, n)
        values = {
            "edges": pairs,
            "labels": None if self.labels is None else _listed(_by_vertex_name(self.labels, n)),
            "edge_labels": marks,
            "attributes": numbers,
        }
        for name, value in {**values, "n_vertices": n, "directed": bool(self.directed)}.items():
            object.__setattr__(self, name, value)

    def _count(self, pairs: Array) -> int:
        counts = {
            "n_vertices": self.n_vertices,
            "labels": None if self.labels is None else len(self.labels),
            "attributes": None if self.attributes is None else len(self.attributes),
        }
        if self.n_vertices is not None and not (isinstance(self.n_vertices, int | np.integer) and self.n_vertices >= 0):
            raise DataError(f"n_vertices must be a whole number of at least 0, got {shown(self.n_vertices)}", "M109")
        given = {name: int(c) for name, c in counts.items() if c is not None}
        if len(set(given.values())) > 1:
            raise DataError(
                "the number of vertices is not clear: " + ", ".join(f"{name} say {c}" for name, c in given.items()),
                "M109",
            )
        return next(iter(given.values())) if given else int(pairs.max(initial=-1)) + 1

    def __repr__(self) -> str:
        kind = "directed graph" if self.directed else "graph"
        return f"<{kind} of {self.n_vertices} vertices and {len(self.edges)} edges>"


def _pairs(edges: Iterable[Any]) -> Any:
    try:
        pairs = np.asarray(edges if hasattr(edges, "dtype") else list(edges))
    except ValueError:
        raise DataError("edges must be pairs of vertex numbers, and are of different lengths", "M109") from None
    if pairs.size == 0:
        return np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise DataError(
            f"edges must be pairs of vertex numbers, got an array of {pairs.dtype} of shape {pairs.shape}", "M109"
        )
    return pairs.astype(np.int64)


def _by_vertex_name(labels: Array | Sequence[Any] | Mapping[Any, Any], n: int) -> Any:
    """Labels in the order of the vertices, where a dictionary gives them by number."""
    if not isinstance(labels, Mapping):
        return labels
    missing = next((v for v in range(n) if v not in labels), None)
    if missing is not None:
        raise DataError(f"vertex {missing} has no label; give one to each vertex, numbered from 0", "M109")
    return [labels[v] for v in range(n)]


def labels_by_edge(labels: Any, pairs: Array | Sequence[Any], *, directed: bool) -> Any:
    """Edge labels in the order of the edges, where a dictionary or a matrix gives them by both ends."""
    if not isinstance(labels, Mapping):
        matrix = hasattr(labels, "shape") and len(labels.shape) == 2
        return [labels[int(u), int(v)] for u, v in pairs] if matrix else labels
    ends = [tuple(p) for p in (pairs.tolist() if hasattr(pairs, "tolist") else pairs)]
    lost = next((e for e in ends if e not in labels and (directed or e[::-1] not in labels)), None)
    if lost is not None:
        raise DataError(f"the edge {lost} has no label; give one to each edge or to none", "M109")
    return [labels[e] if e in labels else labels[e[::-1]] for e in ends]


def _listed(labels: Iterable[Any]) -> Any:
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        return labels.copy()
    if arrays.is_tensor(labels):
        return arrays.to_numpy(labels)
    return list(labels)


def _attributes(attributes: Iterable[Any], n: int) -> Any:
    numbers = arrays.to_numpy(attributes) if arrays.is_tensor(attributes) else _as_floats(attributes)
    if numbers.ndim > 2:
        raise DataError(
            f"attributes are numbers for each vertex, a table of two dimensions; got shape {numbers.shape}", "M109"
        )
    numbers = numbers.astype(np.float64).reshape((n, -1) if n else (0, numbers.shape[-1] if numbers.ndim > 1 else 1))
    if not np.isfinite(numbers).all():
        v, column = (int(place) for place in np.argwhere(~np.isfinite(numbers))[0])
        raise DataError(
            f"vertex {v} has an attribute that is not a finite number: {numbers[v, column]} in column {column}; fill it"
            " by the mean of the column, or leave the graph out",
            "M101",
        )
    return numbers


def _as_floats(attributes: Iterable[Any]) -> Any:
    """The attributes as numbers; an error names the vertex that has none."""
    try:
        return np.asarray(attributes, np.float64)
    except (TypeError, ValueError):
        pass
    widths: dict[int, int] = {}
    for v, row in enumerate(attributes):
        try:
            widths[v] = np.asarray(row, np.float64).size
        except (TypeError, ValueError):
            raise DataError(
                f"vertex {v} has the attribute {shown(row)}, and attributes are numbers; words are labels:"
                " mercer.Graph(edges, labels=…)",
                "M109",
            ) from None
    other = next((v for v, width in widths.items() if width != widths[0]), 0)
    raise DataError(
        f"vertex {other} has {widths[other]} attributes and vertex 0 has {widths[0]}; all must have the same", "M109"
    )


def _once(pairs: Array, marks: Array | list[Any] | None, n: int, *, directed: bool) -> tuple[Any, Any]:
    """Each edge once, an undirected one from its smaller end; edges that are given twice must agree."""
    if not directed:
        pairs = np.sort(pairs, axis=1)
    if len(pairs) < 2:
        return pairs, marks
    keys = pairs[:, 0] * n + pairs[:, 1]
    if (np.diff(keys) > 0).all():
        return pairs, marks
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if marks is not None:
        for k, f in enumerate(first[which]):
            if marks[k] != marks[f]:
                raise DataError(
                    f"the edge ({pairs[k, 0]}, {pairs[k, 1]}) has two labels, {marks[f]!r} and {marks[k]!r}", "M109"
                )
        marks = [marks[f] for f in first]
    return pairs[first], marks


# ---------------------------------------------------------------------------------------------------------------------
# A set of graphs, packed
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PackedGraphs:
    """Graph i has the vertices ``offsets[i]`` … ``offsets[i + 1]``; vertex v the arcs ``starts[v]`` … ``starts[v + 1]``
    to ``ends`` (numbers within the graph) with ``marks``, the codes of their labels. An undirected edge is two arcs, a
    loop one.
    """

    offsets: Array
    labels: Array
    starts: Array
    ends: Array
    marks: Array
    directed: Array
    attributes: Array | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Index) -> PackedGraphs:
        vertices, offsets = spans(self.offsets, rows)
        arcs, starts = spans(self.starts, vertices)
        attributes = None if self.attributes is None else self.attributes[vertices]
        return PackedGraphs(
            offsets, self.labels[vertices], starts, self.ends[arcs], self.marks[arcs], self.directed[rows], attributes
        )

    def relabelled(self, labels: Array) -> PackedGraphs:
        return PackedGraphs(self.offsets, labels, self.starts, self.ends, self.marks, self.directed, self.attributes)

    def reversed(self) -> PackedGraphs:
        """All arcs turned round."""
        sources = np.repeat(np.arange(len(self.labels)), np.diff(self.starts))
        base = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return PackedGraphs(
            self.offsets,
            self.labels,
            *_by_vertex(self.ends + base[sources], sources, base, self.marks),
            self.directed,
            self.attributes,
        )


def pack(graphs: Sequence[Graph]) -> PackedGraphs:
    """Graphs in one buffer; errors name graph and vertex."""
    counts = np.array([g.n_vertices for g in graphs], np.int64)
    offsets = offsets_of(counts)
    edges = np.concatenate([g.edges for g in graphs]) if graphs else np.empty((0, 2), np.int64)
    sizes = [len(g.edges) for g in graphs]
    edges = edges + np.repeat(offsets[:-1], sizes)[:, None]
    labels = label_codes([g.labels for g in graphs], counts, "vertex")
    marks = label_codes([g.edge_labels for g in graphs], sizes, "edge")
    directed = np.array([g.directed for g in graphs], bool)
    both = np.flatnonzero(~np.repeat(directed, sizes) & (edges[:, 0] != edges[:, 1]))
    sources, targets = np.concatenate([edges[:, 0], edges[both, 1]]), np.concatenate([edges[:, 1], edges[both, 0]])
    base = np.repeat(offsets[:-1], counts)
    starts, ends, marks = _by_vertex(sources, targets, base, np.concatenate([marks, marks[both]]))
    return PackedGraphs(
        offsets, labels, starts, ends, marks, directed, _side_by_side([g.attributes for g in graphs], counts)
    )


def _side_by_side(attributes: list[Any], counts: Array) -> Any:
    widths = {a.shape[1] for a, n in zip(attributes, counts, strict=True) if a is not None and n}
    if len(widths) > 1:
        raise DataError(
            "The vertices of all graphs must have as many attributes; there are graphs with"
            f" {' and '.join(map(str, sorted(widths)))}.",
            "M109",
        )
    if not widths:
        return None
    bare = next((i for i, (a, n) in enumerate(zip(attributes, counts, strict=True)) if a is None and n), None)
    if bare is not None:
        raise DataError(f"Graph {bare} has no vertex attributes, others have; give them to all or to none.", "M109")
    return np.concatenate([a for a, n in zip(attributes, counts, strict=True) if n])


def _by_vertex(sources: Array, targets: Array, base: Array, marks: Array) -> tuple[Any, Any, Any]:
    """(starts, ends, marks) of arcs in the order of their sources; ends are numbered within their graph."""
    return compiling.compiled(_by_vertex_loop)(sources, targets, base, marks)


def _by_vertex_loop(sources, targets, base, marks):  # type: ignore[no-untyped-def]
    starts = np.zeros(len(base) + 1, np.int64)
    for s in sources:
        starts[s + 1] += 1
    for v in range(len(base)):
        starts[v + 1] += starts[v]
    at, ends, out = starts.copy(), np.empty(len(sources), np.int32), np.empty(len(sources), np.uint64)
    for k in range(len(sources)):
        place = at[sources[k]]
        at[sources[k]] += 1
        ends[place], out[place] = targets[k] - base[targets[k]], marks[k]
    return starts, ends, out


# ---------------------------------------------------------------------------------------------------------------------
# Labels
# ---------------------------------------------------------------------------------------------------------------------


def label_codes(parts: Sequence[Any], counts: Array | Sequence[int], noun: str) -> Any:
    """The codes of the labels of all graphs, one after the other; None for a graph without."""
    whole = [p for p, n in zip(parts, counts, strict=True) if n]
    if whole and all(isinstance(p, np.ndarray) and p.dtype.kind in "iu" and p.dtype != np.uint64 for p in whole):
        numbers = np.concatenate(whole)
        if int(numbers.max()) < _OWN and int(numbers.min()) > -_OWN:
            return _number_codes(numbers)
    known: dict[Any, int] = {}
    out = np.empty(int(np.sum(counts)), np.uint64)
    place = 0
    for i, (part, n) in enumerate(zip(parts, counts, strict=True)):
        if part is None:
            out[place : place + n] = label_code(UNLABELLED)
        else:
            try:  # most labels were met before
                out[place : place + n] = [known[label] for label in part]
            except (KeyError, TypeError):
                out[place : place + n] = [_known_code(i, j, label, noun, known) for j, label in enumerate(part)]
        place += n
    return out


def _number_codes(numbers: Array) -> Any:
    return mix(numbers.astype(np.int64).view(np.uint64) + _SALT)


def label_code(label: object) -> int:
    """The code of one label."""
    if label is None:
        return int(_SALT)
    value = canonical(label)
    small = isinstance(value, int) and abs(value) < _OWN
    return int(_number_codes(np.array([value if small else token_code(value)], np.int64))[0])


def _known_code(i: int, j: int, label: object, noun: str, known: dict[Any, int]) -> int:
    try:
        if label not in known:
            if is_missing(label):
                raise DataError(
                    f"Graph {i}, {noun} {j}: the label is missing ({label}); give one to each {noun}, or to none.",
                    "M101",
                )
            known[label] = label_code(label)
        return known[label]
    except (TypeError, DataError) as error:
        if str(error).startswith("Graph "):
            raise
        raise DataError(
            f"Graph {i}, {noun} {j}: a label must be a string, a number or a tuple of them, got"
            f" {type(label).__name__}.",
            "M109",
        ) from None
