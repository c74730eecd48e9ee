"""Labelled graphs, as users have them and as kernels read them.

A label, whatever it is, becomes a 64-bit code of its value: the same label has the same code in every graph, data set and process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from mercer import backend
from mercer.data.coded import mix
from mercer.data.objects import Domain
from mercer.data.representations import Rep, offsets_of, spans
from mercer.data.sequences import canonical, is_missing, items_of, token_code
from mercer.data.tables import DataError

UNLABELLED = None  # the label of a vertex or edge without one
_SALT = np.uint64(0x5851F42D4C957F2D)
_OWN = 2**62  # whole numbers below are coded by their value, others as any token


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph with the vertices 0 … n − 1: its edges (u, v), a label for each vertex and edge, and numbers for each vertex.

    An undirected edge is given once, or in both directions alike; a loop is an edge (u, u). Labels are strings, numbers or tuples of them; without
    ``labels`` all vertices are alike, without ``edge_labels`` all edges. ``n_vertices`` is needed where vertices without edges come last and there
    are no labels.
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
            raise DataError(f"the edge ({u}, {v}) names a vertex that is not there: there are {n}, numbered from 0")
        marks = None if self.edge_labels is None else _listed(_by_edge(self.edge_labels, pairs, directed=self.directed))
        if marks is not None and len(marks) != len(pairs):
            raise DataError(f"there are {len(pairs)} edges and {len(marks)} edge labels")
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

    def _count(self, pairs: Any) -> int:
        counts = {
            "n_vertices": self.n_vertices,
            "labels": None if self.labels is None else len(self.labels),
            "attributes": None if self.attributes is None else len(self.attributes),
        }
        if self.n_vertices is not None and not (isinstance(self.n_vertices, int | np.integer) and self.n_vertices >= 0):
            raise DataError(f"n_vertices must be a whole number of at least 0, got {self.n_vertices!r}")
        given = {name: int(c) for name, c in counts.items() if c is not None}
        if len(set(given.values())) > 1:
            raise DataError("the number of vertices is not clear: " + ", ".join(f"{name} say {c}" for name, c in given.items()))
        return next(iter(given.values())) if given else int(pairs.max(initial=-1)) + 1

    def __repr__(self) -> str:
        kind = "directed graph" if self.directed else "graph"
        return f"<{kind} of {self.n_vertices} vertices and {len(self.edges)} edges>"


def _pairs(edges: Any) -> Any:
    try:
        pairs = np.asarray(edges if hasattr(edges, "dtype") else list(edges))
    except ValueError:
        raise DataError("edges must be pairs of vertex numbers, and are of different lengths") from None
    if pairs.size == 0:
        return np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise DataError(f"edges must be pairs of vertex numbers, got an array of {pairs.dtype} of shape {pairs.shape}")
    return pairs.astype(np.int64)


def _by_vertex_name(labels: Any, n: int) -> Any:
    """Labels in the order of the vertices, where a dictionary gives them by number."""
    if not isinstance(labels, Mapping):
        return labels
    missing = next((v for v in range(n) if v not in labels), None)
    if missing is not None:
        raise DataError(f"vertex {missing} has no label; give one to each vertex, numbered from 0")
    return [labels[v] for v in range(n)]


def _by_edge(labels: Any, pairs: Any, *, directed: bool) -> Any:
    """Edge labels in the order of the edges, where a dictionary or a matrix gives them by both ends."""
    if not isinstance(labels, Mapping):
        matrix = hasattr(labels, "shape") and len(labels.shape) == 2
        return [labels[int(u), int(v)] for u, v in pairs] if matrix else labels
    ends = [tuple(p) for p in (pairs.tolist() if hasattr(pairs, "tolist") else pairs)]
    lost = next((e for e in ends if e not in labels and (directed or e[::-1] not in labels)), None)
    if lost is not None:
        raise DataError(f"the edge {lost} has no label; give one to each edge or to none")
    return [labels[e] if e in labels else labels[e[::-1]] for e in ends]


def _listed(labels: Any) -> Any:
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        return labels.copy()
    if backend.is_tensor(labels):
        return backend.to_numpy(labels)
    return list(labels)


def _attributes(attributes: Any, n: int) -> Any:
    numbers = backend.to_numpy(attributes) if backend.is_tensor(attributes) else np.asarray(attributes, np.float64)
    if numbers.ndim > 2:
        raise DataError(f"attributes are numbers for each vertex, a table of two dimensions; got shape {numbers.shape}")
    numbers = numbers.astype(np.float64).reshape((n, -1) if n else (0, numbers.shape[-1] if numbers.ndim > 1 else 1))
    if not np.isfinite(numbers).all():
        raise DataError(f"vertex {int(np.argmax(~np.isfinite(numbers).all(1)))} has an attribute that is not a finite number")
    return numbers


def _once(pairs: Any, marks: Any, n: int, *, directed: bool) -> tuple[Any, Any]:
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
                raise DataError(f"the edge ({pairs[k, 0]}, {pairs[k, 1]}) has two labels, {marks[f]!r} and {marks[k]!r}")
        marks = [marks[f] for f in first]
    return pairs[first], marks


# ---------------------------------------------------------------------------------------------------------------------
# A set of graphs, packed
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PackedGraphs:
    """Graph i has the vertices ``offsets[i]`` … ``offsets[i + 1]``; vertex v the arcs ``starts[v]`` … ``starts[v + 1]`` to ``ends`` (numbers within
    the graph) with ``marks``, the codes of their labels. An undirected edge is two arcs, a loop one."""

    offsets: Any
    labels: Any
    starts: Any
    ends: Any
    marks: Any
    directed: Any
    attributes: Any = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Any) -> PackedGraphs:
        vertices, offsets = spans(self.offsets, rows)
        arcs, starts = spans(self.starts, vertices)
        attributes = None if self.attributes is None else self.attributes[vertices]
        return PackedGraphs(offsets, self.labels[vertices], starts, self.ends[arcs], self.marks[arcs], self.directed[rows], attributes)

    def relabelled(self, labels: Any) -> PackedGraphs:
        return PackedGraphs(self.offsets, labels, self.starts, self.ends, self.marks, self.directed, self.attributes)

    def reversed(self) -> PackedGraphs:
        """All arcs turned round."""
        sources = np.repeat(np.arange(len(self.labels)), np.diff(self.starts))
        base = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return PackedGraphs(
            self.offsets, self.labels, *_by_vertex(self.ends + base[sources], sources, base, self.marks), self.directed, self.attributes
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
    return PackedGraphs(offsets, labels, starts, ends, marks, directed, _side_by_side([g.attributes for g in graphs], counts))


def _side_by_side(attributes: list[Any], counts: Any) -> Any:
    widths = {a.shape[1] for a, n in zip(attributes, counts, strict=True) if a is not None and n}
    if len(widths) > 1:
        raise DataError(f"The vertices of all graphs must have as many attributes; there are graphs with {' and '.join(map(str, sorted(widths)))}.")
    if not widths:
        return None
    bare = next((i for i, (a, n) in enumerate(zip(attributes, counts, strict=True)) if a is None and n), None)
    if bare is not None:
        raise DataError(f"Graph {bare} has no vertex attributes, others have; give them to all or to none.")
    return np.concatenate([a for a, n in zip(attributes, counts, strict=True) if n])


def _by_vertex(sources: Any, targets: Any, base: Any, marks: Any) -> tuple[Any, Any, Any]:
    """(starts, ends, marks) of arcs in the order of their sources; ends are numbered within their graph."""
    return _compiled(_by_vertex_loop)(sources, targets, base, marks)  # type: ignore[no-any-return]


@cache
def _compiled(loop: Any) -> Any:
    return backend.jit(loop)


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


def label_codes(parts: Sequence[Any], counts: Any, noun: str) -> Any:
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
        out[place : place + n] = label_code(UNLABELLED) if part is None else [_known_code(i, j, x, noun, known) for j, x in enumerate(part)]
        place += n
    return out


def _number_codes(numbers: Any) -> Any:
    return mix(numbers.astype(np.int64).view(np.uint64) + _SALT)


def label_code(label: Any) -> int:
    """The code of one label."""
    if label is None:
        return int(_SALT)
    value = canonical(label)
    small = isinstance(value, int) and abs(value) < _OWN
    return int(_number_codes(np.array([value if small else token_code(value)], np.int64))[0])


def _known_code(i: int, j: int, label: Any, noun: str, known: dict[Any, int]) -> int:
    try:
        if label not in known:
            if is_missing(label):
                raise DataError(f"Graph {i}, {noun} {j}: the label is missing ({label}); give one to each {noun}, or to none.")
            known[label] = label_code(label)
        return known[label]
    except (TypeError, DataError) as error:
        if str(error).startswith("Graph "):
            raise
        raise DataError(f"Graph {i}, {noun} {j}: a label must be a string, a number or a tuple of them, got {type(label).__name__}.") from None


# ---------------------------------------------------------------------------------------------------------------------
# What users have
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Graphs(Domain):
    """Labelled graphs: ``mercer.Graph``, networkx or igraph objects, (adjacency, labels), (edges, labels[, edge labels]), dictionaries with
    "edge_index" or "edges", RDKit molecules, and SMILES as strings. ``label``, ``edge_label`` and ``attributes`` name what to read where vertices and
    edges have named attributes. The internal form is ``PackedGraphs``."""

    label: str = "label"
    edge_label: str = "label"
    attributes: str | None = None

    def check(self, X: Any) -> Rep:
        return X if isinstance(X, PackedGraphs) else pack(self.graphs(X))

    def kept(self, X: Any) -> Any:
        return X if isinstance(X, PackedGraphs) or all(isinstance(item, str) for item in X) else self.graphs(X)

    def graphs(self, X: Any) -> list[Graph]:
        """Each item as a ``Graph``."""
        if _is_one(X):
            raise DataError(f"Expected a collection of graphs, got one {type(X).__name__}; put it in a list: [graph].")
        items = items_of(X, "graphs")
        found = [self._graph(i, item) for i, item in enumerate(items)]
        for name, default in (("label", "label"), ("edge_label", "label")):
            wanted = getattr(self, name)
            if wanted != default and items and all(getattr(g, f"{name}s") is None for g in found):
                raise DataError(f"No {'edge' if name == 'edge_label' else 'vertex'} of any graph has an attribute {wanted!r}.")
        return found

    def _graph(self, i: int, item: Any) -> Graph:
        if isinstance(item, Graph):
            return item
        if is_missing(item):
            raise DataError(f"Item {i} of the graphs is missing ({item}); drop it, or put Graph() in its place.")
        try:
            return self._read(item)
        except (DataError, ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
            said = str(error) if isinstance(error, DataError) else f"its edges, labels or attributes cannot be read ({type(error).__name__}: {error})"
            raise DataError(f"Graph {i}: {said}".rstrip(".") + ".") from None

    def _read(self, item: Any) -> Graph:
        if isinstance(item, str) or hasattr(item, "GetAtoms"):
            from mercer.data.molecules import molecule_graph

            return molecule_graph(item)
        if hasattr(item, "adj") and hasattr(item, "is_directed"):
            return self._of_networkx(item)
        if hasattr(item, "vs") and hasattr(item, "get_edgelist"):
            return self._of_igraph(item)
        if isinstance(item, Mapping) or hasattr(item, "edge_index"):
            return _of_mapping(item if isinstance(item, Mapping) else {k: getattr(item, k, None) for k in _KEYS})
        if _is_matrix(item):
            return _of_adjacency(item, None, None)
        if isinstance(item, tuple) and item and not _is_pair_of_numbers(item[0]) and 1 <= len(item) <= 4:
            return _of_tuple(*item)
        if isinstance(item, np.ndarray) and item.shape == (2, 2):
            if not ((item == item.T).all() and ((item == 0) | (item == 1)).all()):
                raise DataError("an array of shape (2, 2) may be an adjacency matrix or two edges; give mercer.Graph(edges), or (adjacency, labels)")
            return _of_adjacency(item, None, None)
        if isinstance(item, list | np.ndarray | set | frozenset):
            return _of_edges(item, None, None)
        raise DataError(
            f"a {type(item).__name__} is not a graph here; give mercer.Graph(edges, labels), a networkx graph, (adjacency, labels), "
            "(edges, labels), a dictionary, an RDKit molecule or a SMILES string"
        )

    def _of_networkx(self, g: Any) -> Graph:
        if g.is_multigraph():
            raise DataError("it is a multigraph; several edges between two vertices must become one, as with networkx.Graph(g)")
        names = list(g)
        number = {name: k for k, name in enumerate(names)}
        labels = _all_or_none([(name, g.nodes[name].get(self.label)) for name in names], "vertex", self.label)
        pairs = list(g.edges(data=True))
        marks = _all_or_none([((u, v), data.get(self.edge_label)) for u, v, data in pairs], "edge", self.edge_label)
        bare = next((name for name in names if self.attributes is not None and self.attributes not in g.nodes[name]), None)
        if bare is not None:
            raise DataError(f"vertex {bare!r} has no attribute {self.attributes!r}")
        numbers = None if self.attributes is None else [g.nodes[name][self.attributes] for name in names]
        edges = [(number[u], number[v]) for u, v, _ in pairs]
        return Graph(edges, labels, marks, numbers, len(names), g.is_directed())

    def _of_igraph(self, g: Any) -> Graph:
        if callable(getattr(g, "has_multiple", None)) and g.has_multiple():
            raise DataError("it has several edges between two vertices; they must become one: g.simplify()")
        labels = g.vs[self.label] if self.label in g.vs.attributes() else None
        marks = g.es[self.edge_label] if self.edge_label in g.es.attributes() else None
        numbers = None if self.attributes is None else g.vs[self.attributes]
        return Graph(g.get_edgelist(), labels, marks, numbers, g.vcount(), g.is_directed())


def as_graphs(X: Any, label: str = "label", edge_label: str = "label", attributes: str | None = None) -> list[Graph]:
    """Graphs in any accepted form as a list of ``Graph``; ``label``, ``edge_label``, ``attributes``: what vertices and edges call theirs."""
    return Graphs(label, edge_label, attributes).graphs(X)


_KEYS = (
    "edge_index",
    "edges",
    "labels",
    "node_labels",
    "label",
    "x",
    "attributes",
    "edge_attr",
    "edge_labels",
    "num_nodes",
    "n_vertices",
    "directed",
)


def _is_one(X: Any) -> bool:
    table = sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iufb" and X.shape[1] > 1)
    return table or isinstance(X, Graph | str | Mapping) or hasattr(X, "GetAtoms") or hasattr(X, "is_directed") or hasattr(X, "edge_index")


def _is_matrix(x: Any) -> bool:
    return sparse.issparse(x) or (isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[0] == x.shape[1] and x.shape[0] != 2)


def _is_pair_of_numbers(x: Any) -> bool:
    return isinstance(x, tuple | list) and len(x) == 2 and all(isinstance(v, int | np.integer) for v in x)


def _all_or_none(found: list[tuple[Any, Any]], noun: str, name: str) -> list[Any] | None:
    missing = [who for who, label in found if label is None]
    if len(missing) == len(found):
        return None
    if missing:
        raise DataError(f"{noun} {missing[0]!r} has no attribute {name!r}, others have; give it to each {noun} or to none")
    return [label for _, label in found]


def _of_tuple(first: Any, labels: Any = None, edge_labels: Any = None, attributes: Any = None) -> Graph:
    two = isinstance(first, np.ndarray) and first.shape == (2, 2) and labels is not None and len(labels) == 2
    if _is_matrix(first) or two:
        return _of_adjacency(first, labels, edge_labels, attributes)
    nested = isinstance(first, list) and first and all(isinstance(row, list) and len(row) == len(first) != 2 for row in first)
    if nested:
        return _of_adjacency(np.asarray(first), labels, edge_labels, attributes)
    return _of_edges(first, labels, edge_labels, attributes)


def _of_adjacency(A: Any, labels: Any, edge_labels: Any, attributes: Any = None) -> Graph:
    A = sparse.coo_array(A)
    if A.shape[0] != A.shape[1]:
        raise DataError(f"an adjacency matrix is square, got shape {A.shape}")
    if A.dtype.kind == "f" and not np.isfinite(A.data).all():
        raise DataError("an adjacency matrix has 0 where there is no edge; it holds a number that is not finite")
    kept = A.data != 0
    edges = np.stack([A.row[kept], A.col[kept]], axis=1).astype(np.int64)
    return Graph(edges, labels, edge_labels, attributes, A.shape[0], _one_way(edges, A.shape[0]))


def _one_way(edges: Any, n: int) -> bool:
    """Whether some edge has no partner in the other direction."""
    there, back = (np.unique(edges[:, a] * n + edges[:, b]) for a, b in ((0, 1), (1, 0)))
    return not np.array_equal(there, back)


def _of_edges(edges: Any, labels: Any, edge_labels: Any, attributes: Any = None, *, directed: bool = False) -> Graph:
    """Edges as pairs, or a dictionary of neighbours; vertices may have names where labels are given by name, or a dictionary names them."""
    names = list(labels) if isinstance(labels, Mapping) else None
    if isinstance(edges, Mapping) and not all(isinstance(p, tuple) for p in edges):
        names = list(edges) if names is None and not isinstance(labels, list | tuple | np.ndarray | str) else names
        pairs = [(p, q) for p, near in edges.items() for q in near]
    else:
        pairs = edges.tolist() if hasattr(edges, "tolist") else list(edges)
    if names is None:
        return Graph(pairs, labels, edge_labels, attributes, directed=directed)
    number = {name: k for k, name in enumerate(names)}
    lost = next((v for p in pairs for v in p if v not in number), None)
    if lost is not None:
        raise DataError(f"an edge names the vertex {lost!r}, which has no label")
    marks = None if edge_labels is None else _by_edge(edge_labels, pairs, directed=directed)
    values = None if labels is None else [labels[name] for name in names]
    return Graph([(number[u], number[v]) for u, v in pairs], values, marks, attributes, len(names), directed)


def _of_mapping(g: Mapping[str, Any]) -> Graph:
    """PyTorch Geometric's names, or those of ``Graph``.

    "x" of which all rows are 0 but for a single 1 are labels, others attributes; a row of "edge_attr" is a label, its place where it has a single 1.
    """
    get = {k: v for k, v in g.items() if v is not None}
    labels = next((get[k] for k in ("labels", "node_labels", "label") if k in get), None)
    attributes = next((get[k] for k in ("attributes", "x") if k in get), None)
    n = next((get[k] for k in ("n_vertices", "num_nodes") if k in get), None)
    marks = next((get[k] for k in ("edge_labels", "edge_attr") if k in get), None)
    if "edge_index" in get:
        index = backend.to_numpy(get["edge_index"]) if backend.is_tensor(get["edge_index"]) else np.asarray(get["edge_index"])
        if index.size and (index.ndim != 2 or len(index) != 2 or (index.dtype.kind not in "iu" and (index % 1).any())):
            raise DataError(f"edge_index holds two rows of vertex numbers, got {index.dtype} of shape {index.shape}")
        edges = index.astype(np.int64).reshape(2, -1).T
        directed = bool(get.get("directed", _one_way(edges, int(edges.max(initial=0)) + 1)))
    elif "edges" in get:
        edges, directed = get["edges"], bool(get.get("directed", False))
    else:
        raise DataError(f"a dictionary needs 'edge_index' or 'edges'; it has {', '.join(map(repr, g)) or 'nothing'}")
    if attributes is not None and labels is None and (found := _one_hot(attributes)) is not None:
        labels, attributes = found, None
    if marks is not None and not isinstance(marks, Mapping):
        marks = _rows(marks)
    if isinstance(labels, Mapping) or isinstance(marks, Mapping):
        return _of_edges(edges, labels, marks, attributes, directed=directed)
    return Graph(edges, labels, marks, attributes, n, directed)


def _one_hot(rows: Any) -> Any:
    try:
        x = backend.to_numpy(rows) if backend.is_tensor(rows) else np.asarray(rows)
    except ValueError:
        return None  # ragged; what reads it says so
    if x.ndim == 2 and x.shape[1] > 1 and x.dtype.kind in "iufb" and ((x == 0) | (x == 1)).all() and (x.sum(1) == 1).all():
        return np.argmax(x, axis=1)
    return None


def _rows(marks: Any) -> Any:
    x = backend.to_numpy(marks) if backend.is_tensor(marks) else marks
    if isinstance(x, np.ndarray) and x.ndim == 2:
        return x[:, 0] if x.shape[1] == 1 else [row.index(1) if set(row) == {0, 1} and sum(row) == 1 else tuple(row) for row in x.tolist()]
    return x
