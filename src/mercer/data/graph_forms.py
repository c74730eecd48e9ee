"""Graphs in the forms that users have them in: the domain of graph kernels, and all its parsing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index, Items, Samples
from mercer.arrays import Array
from mercer.data.graph_libraries import of_ase, of_dgl, of_igraph, of_networkx
from mercer.data.graph_notices import is_matrix, tell_of_names, tell_of_numbers
from mercer.data.graphs import Graph, PackedGraphs, labels_by_edge, pack
from mercer.data.invariants import Invariants
from mercer.data.notices import one_call
from mercer.data.objects import Domain
from mercer.data.representations import Rep
from mercer.data.sequences import is_missing, items_of
from mercer.data.tables import DataError, shown


@dataclass(frozen=True)
class Graphs(Domain):
    """Labelled graphs: ``mercer.Graph``, networkx or igraph objects, (adjacency, labels), (edges, labels[, edge
    labels]), dictionaries with "edge_index" or "edges", RDKit molecules, and SMILES as strings.

    ``label``, ``edge_label`` and ``attributes`` name what to read where vertices and edges have named attributes;
    ``charge`` and ``chirality`` whether those of molecules are part of their labels (None: they are not, with a warning
    where there are any), ``invariants`` what else is. ``numbers``: whether the kernel reads the attributes of vertices.
    The internal form is ``PackedGraphs``.
    """

    label: str | None = "label"
    edge_label: str | None = "label"
    attributes: str | tuple[str, ...] | None = None
    charge: bool | None = None
    chirality: bool | None = None
    invariants: Invariants | None = None
    numbers: bool = False

    def check(self, X: Samples) -> Rep:
        if isinstance(X, PackedGraphs):
            return X
        found = pack(self.graphs(X))
        tell_of_numbers(found.attributes, read=self.numbers)
        return found

    def labels(self, X: Samples) -> list[list[Any]] | None:
        if isinstance(X, PackedGraphs):
            return None
        return [[None] * int(g.n_vertices or 0) if g.labels is None else list(g.labels) for g in self.graphs(X)]

    def to_store(self, X: Samples) -> Any:
        return X if isinstance(X, PackedGraphs) or all(isinstance(item, str) for item in X) else self.graphs(X)

    def graphs(self, X: Samples) -> list[Graph]:
        """Each item as a ``Graph``."""
        if _is_one(X):
            cure = "unpack a batch: batch.to_data_list()" if hasattr(X, "to_data_list") else "put it in a list: [graph]"
            raise DataError(f"Expected a collection of graphs, got one {type(X).__name__}; {cure}.", "M103")
        items = items_of(X, "graphs")
        found = [self.graph(i, item) for i, item in enumerate(items)]
        tell_of_names(items, self.label, self.edge_label, self.attributes)
        molecules = [item for item in items if isinstance(item, str) or hasattr(item, "GetAtoms")]
        if molecules and (self.charge is None or self.chirality is None):
            from mercer.data.molecules import tell_of_charge_and_chirality

            tell_of_charge_and_chirality(molecules, charge=self.charge, chirality=self.chirality)
        for name, default in (("label", "label"), ("edge_label", "label")):
            wanted = getattr(self, name)
            if wanted not in (default, None) and items and all(getattr(g, f"{name}s") is None for g in found):
                raise DataError(
                    f"No {'edge' if name == 'edge_label' else 'vertex'} of any graph has an attribute {wanted!r}.",
                    "M109",
                )
        return found

    def graph(self, i: int, item: object) -> Graph:
        """Item i as a ``Graph``; errors name it."""
        if isinstance(item, Graph):
            return item
        if is_missing(item):
            raise DataError(
                f"Item {i} of the graphs is missing ({item}); drop it, or put Graph() in its place.", "M101"
            )
        try:
            return self._read(item)
        except (DataError, ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
            said = (
                str(error)
                if isinstance(error, DataError)
                else f"its edges, labels or attributes cannot be read ({type(error).__name__}: {error})"
            )
            raise DataError(f"Graph {i}: {said}".rstrip(".") + ".", "M109") from None

    def _read(self, item: object) -> Graph:
        if isinstance(item, str) or hasattr(item, "GetAtoms"):
            from mercer.data.molecules import atom_numbers, molecule_graph

            found = molecule_graph(
                item, charge=bool(self.charge), chirality=bool(self.chirality), invariants=self.invariants
            )
            return found if self.attributes is None else replace(found, attributes=atom_numbers(item, self.attributes))
        if hasattr(item, "adj") and hasattr(item, "is_directed"):
            return of_networkx(item, self.label, self.edge_label, self.attributes)
        if hasattr(item, "vs") and hasattr(item, "get_edgelist"):
            return of_igraph(item, self.label, self.edge_label, self.attributes)
        if hasattr(item, "ndata") and hasattr(item, "edata"):
            return _of_mapping(of_dgl(item, self.label, self.edge_label, self.attributes))
        if hasattr(item, "get_chemical_symbols") and hasattr(item, "positions"):
            return of_ase(item)
        if isinstance(item, Mapping) or hasattr(item, "edge_index"):
            return _of_mapping(item if isinstance(item, Mapping) else _as_mapping(item))
        if is_matrix(item):
            return _of_adjacency(item, None, None)
        if isinstance(item, tuple) and item and not _is_pair_of_numbers(item[0]) and 1 <= len(item) <= 4:
            return _of_tuple(*item)
        if isinstance(item, np.ndarray) and item.shape == (2, 2):
            if not ((item == item.T).all() and ((item == 0) | (item == 1)).all()):
                raise DataError(
                    "an array of shape (2, 2) may be an adjacency matrix or two edges; give mercer.Graph(edges), or"
                    " (adjacency, labels)",
                    "M109",
                )
            return _of_adjacency(item, None, None)
        if isinstance(item, list | np.ndarray | set | frozenset):
            return _of_edges(item, None, None)
        raise DataError(
            f"a {type(item).__name__} is not a graph here; give mercer.Graph(edges, labels), a networkx graph,"
            " (adjacency, labels), (edges, labels), a dictionary, an RDKit molecule or a SMILES string",
            "M109",
        )


def as_graphs(
    X: Samples,
    label: str | None = "label",
    edge_label: str | None = "label",
    attributes: str | Sequence[str] | None = None,
    charge: bool | None = None,
    chirality: bool | None = None,
) -> list[Graph]:
    """Graphs in any accepted form as a list of ``Graph``.

    Kernels between graphs do this by themselves; call it to say which attributes of the graphs of networkx, igraph and
    DGL are labels, or to look at what a kernel sees.

    Parameters
    ----------
    X : collection of graphs
        ``Graph``, graphs of networkx, igraph, PyTorch Geometric (``Data``) and DGL, (adjacency, labels), (edges,
        labels[, edge labels]), adjacency matrices, lists of edges, dictionaries with "edge_index" or "edges", RDKit
        molecules, SMILES strings, ASE's ``Atoms`` (bonds by covalent radii).
    label : str, optional
        What vertices call their labels where they have named attributes. None: they have no labels.
    edge_label : str, optional
        What edges call theirs.
    attributes : str or list of str, optional
        What vertices call their numbers; those of RDKit's atoms are properties, as "_GasteigerCharge". None: none are
        read.
    charge : bool, optional
        Whether the labels of atoms tell charges (N+). None: not, with a warning where there are any.
    chirality : bool, optional
        Whether the labels of atoms tell chirality (C@R), and those of double bonds E and Z. None: not, with a warning
        where there is any.

    Returns
    -------
    list of Graph
        One for each item.

    Raises
    ------
    DataError
        When an item is not a graph; the message names it.

    Warns
    -----
    IgnoredWarning
        When graphs have names, weights, charges or chirality that are not read.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> by_edges = ([(0, 1), (1, 2)], ["red", "blue", "red"])
    >>> by_matrix = (np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]), ["red", "red", "blue"])
    >>> mc.as_graphs([by_edges, by_matrix, {"edges": [(0, 1)]}])
    [<graph of 3 vertices and 2 edges>, <graph of 3 vertices and 3 edges>, <graph of 2 vertices and 1 edges>]
    """
    with one_call():
        names = attributes if attributes is None or isinstance(attributes, str) else tuple(attributes)
        return Graphs(label, edge_label, names, charge, chirality).graphs(X)


_KEYS = (
    "edge_index", "edges", "labels", "node_labels", "label", "z", "x", "attributes", "edge_attr", "edge_labels",
    "num_nodes", "n_vertices", "directed",
)  # fmt: skip


def _is_one(X: Samples) -> bool:
    table = sparse.issparse(X) or (
        isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iufb" and X.shape[1] > 1
    )
    return (
        table
        or isinstance(X, Graph | str | Mapping)
        or hasattr(X, "GetAtoms")
        or hasattr(X, "is_directed")
        or hasattr(X, "edge_index")
        or hasattr(X, "ndata")
        or hasattr(X, "get_chemical_symbols")
    )


def _is_pair_of_numbers(x: object) -> bool:
    return isinstance(x, tuple | list) and len(x) == 2 and all(isinstance(v, int | np.integer) for v in x)


def _of_tuple(first: Any, labels: Any = None, edge_labels: Any = None, attributes: Any = None) -> Graph:
    two = isinstance(first, np.ndarray) and first.shape == (2, 2) and labels is not None and len(labels) == 2
    if is_matrix(first) or two:
        return _of_adjacency(first, labels, edge_labels, attributes)
    nested = (
        isinstance(first, list)
        and first
        and all(isinstance(row, list) and len(row) == len(first) != 2 for row in first)
    )
    if nested:
        return _of_adjacency(np.asarray(first), labels, edge_labels, attributes)
    return _of_edges(first, labels, edge_labels, attributes)


def _of_adjacency(A: Items, labels: Any, edge_labels: Any, attributes: Any = None) -> Graph:
    A = sparse.coo_array(A)
    if A.shape[0] != A.shape[1]:
        raise DataError(f"an adjacency matrix is square, got shape {A.shape}", "M109")
    if A.dtype.kind == "f" and not np.isfinite(A.data).all():
        raise DataError(
            "an adjacency matrix has 0 where there is no edge; it holds a number that is not finite", "M101"
        )
    kept = A.data != 0
    edges = np.stack([A.row[kept], A.col[kept]], axis=1).astype(np.int64)
    return Graph(edges, labels, edge_labels, attributes, A.shape[0], _one_way(edges, A.shape[0]))


def _one_way(edges: Array, n: int) -> bool:
    """Whether some edge has no partner in the other direction."""
    there, back = (np.unique(edges[:, a] * n + edges[:, b]) for a, b in ((0, 1), (1, 0)))
    return not np.array_equal(there, back)


def _of_edges(edges: Any, labels: Any, edge_labels: Any, attributes: Any = None, *, directed: bool = False) -> Graph:
    """Edges as pairs, or a dictionary of neighbours; vertices may have names where labels are given by name, or a
    dictionary names them.
    """
    names = list(labels) if isinstance(labels, Mapping) else None
    if isinstance(edges, Mapping) and not all(isinstance(p, tuple) for p in edges):
        names = list(edges) if names is None and not isinstance(labels, list | tuple | np.ndarray | str) else names
        pairs = [(p, q) for p, near in edges.items() for q in near]
    else:
        pairs = edges.tolist() if hasattr(edges, "tolist") else list(edges)
    if names is None:
        return Graph(pairs, labels, edge_labels, attributes, directed=directed)
    number = {name: k for k, name in enumerate(names)}
    unknown = next((v for p in pairs for v in p if v not in number), None)
    if unknown is not None:
        raise DataError(f"an edge names the vertex {shown(unknown)}, which has no label", "M109")
    marks = None if edge_labels is None else labels_by_edge(edge_labels, pairs, directed=directed)
    values = None if labels is None else [labels[name] for name in names]
    return Graph([(number[u], number[v]) for u, v in pairs], values, marks, attributes, len(names), directed)


def _as_mapping(data: Any) -> dict[str, Any]:
    """PyTorch Geometric's ``Data``, which guesses the number of vertices, with a warning, where it is not told."""
    found = {k: getattr(data, k, None) for k in _KEYS if k != "num_nodes"}
    told = any(found[k] is not None for k in ("labels", "node_labels", "label", "z", "x", "attributes", "n_vertices"))
    return found if told else found | {"num_nodes": getattr(data, "num_nodes", None)}


def _of_mapping(g: Mapping[str, Any]) -> Graph:
    """PyTorch Geometric's names ("z" are numbers of elements), or those of ``Graph``.

    "x" of which all rows are 0 but for a single 1 are labels, others attributes; a row of "edge_attr" is a label, its
    place where it has a single 1.
    """
    get = {k: v for k, v in g.items() if v is not None}
    labels = next((get[k] for k in ("labels", "node_labels", "label", "z") if k in get), None)
    attributes = next((get[k] for k in ("attributes", "x") if k in get), None)
    n = next((get[k] for k in ("n_vertices", "num_nodes") if k in get), None)
    marks = next((get[k] for k in ("edge_labels", "edge_attr") if k in get), None)
    if "edge_index" in get:
        index = (
            arrays.to_numpy(get["edge_index"]) if arrays.is_tensor(get["edge_index"]) else np.asarray(get["edge_index"])
        )
        if index.size and (index.ndim != 2 or len(index) != 2 or (index.dtype.kind not in "iu" and (index % 1).any())):
            raise DataError(
                f"edge_index holds two rows of vertex numbers, got {index.dtype} of shape {index.shape}", "M109"
            )
        edges = index.astype(np.int64).reshape(2, -1).T
        directed = bool(get.get("directed", _one_way(edges, int(edges.max(initial=0)) + 1)))
    elif "edges" in get:
        edges, directed = get["edges"], bool(get.get("directed", False))
    else:
        raise DataError(
            f"a dictionary needs 'edge_index' or 'edges'; it has {', '.join(map(repr, g)) or 'nothing'}", "M109"
        )
    if attributes is not None and labels is None and (found := _one_hot(attributes)) is not None:
        labels, attributes = found, None
    if marks is not None and not isinstance(marks, Mapping):
        marks = _rows(marks)
    if isinstance(labels, Mapping):  # by name
        return _of_edges(edges, labels, marks, attributes, directed=directed)
    return Graph(edges, labels, marks, attributes, n, directed)


def _one_hot(rows: Index) -> Any:
    try:
        x = arrays.to_numpy(rows) if arrays.is_tensor(rows) else np.asarray(rows)
    except ValueError:
        return None  # ragged; what reads it says so
    if (
        x.ndim == 2
        and x.shape[1] > 1
        and x.dtype.kind in "iufb"
        and ((x == 0) | (x == 1)).all()
        and (x.sum(1) == 1).all()
    ):
        return np.argmax(x, axis=1)
    return None


def _rows(marks: Any) -> Any:
    x = arrays.to_numpy(marks) if arrays.is_tensor(marks) else marks
    if isinstance(x, np.ndarray) and x.ndim == 2:
        return (
            x[:, 0]
            if x.shape[1] == 1
            else [row.index(1) if set(row) == {0, 1} and sum(row) == 1 else tuple(row) for row in x.tolist()]
        )
    return x
