"""One graph in the forms that users have it in: the matrix of its weights, and the names of its vertices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index, Weights
from mercer.data.graphs import Graph
from mercer.data.notices import lost
from mercer.data.tables import DataError, as_frame, shown

_FORMS = (
    "give a symmetric matrix of weights, a networkx or igraph graph, a mercer.Graph, a list of edges (u, v) or (u, v,"
    " weight), or a dictionary of neighbours"
)
_CLOSE = 1e-10  # of the largest weight: what is as good as equal


def weights_and_names(graph: object, names: Iterable[Any] | None = None) -> tuple[Any, list[Any] | None]:
    """The matrix of weights as a sparse array, and the names of the vertices (None: 0 … n − 1), those given or those
    that the graph has.
    """
    names = None if names is None else [_plain(name) for name in names]
    if isinstance(graph, Graph):
        edges, count = np.asarray(graph.edges).reshape(-1, 2), int(graph.n_vertices or 0)
        return _matrix(edges[:, 0], edges[:, 1], np.ones(len(edges)), count, directed=graph.directed), names
    if hasattr(graph, "adj") and hasattr(graph, "is_directed"):
        return _of_networkx(graph, names)
    if hasattr(graph, "vs") and hasattr(graph, "get_edgelist"):
        return _of_igraph(graph, names)
    if isinstance(graph, Mapping):
        near = [
            (u, v, w)
            for u, some in graph.items()
            for v, w in (some.items() if isinstance(some, Mapping) else ((v, 1.0) for v in some))
        ]
        return _of_edges(near, list(dict.fromkeys([*graph, *(v for _, v, _ in near)])) if names is None else names)
    frame = as_frame(graph) if hasattr(graph, "columns") else None
    if frame is not None:
        return _of_frame(graph, frame, names)
    matrix = _as_matrix(graph)
    if matrix is not None:
        return matrix, names
    if isinstance(graph, str | bytes | Path) or not isinstance(graph, Iterable):
        raise DataError(
            f"A {type(graph).__name__}{f' ({str(graph)[:60]!r})' if isinstance(graph, str | Path) else ''} is not a"
            f" graph here; {_FORMS}.",
            "M109",
        )
    return _of_edges(graph.tolist() if isinstance(graph, np.ndarray) else list(graph), names)


def _plain(name: object) -> Any:
    return name.item() if isinstance(name, np.generic) else name


def _as_matrix(graph: object) -> Any:
    """A matrix of weights; None for what must be a list of edges."""
    if sparse.issparse(graph):
        return sparse.csr_array(graph)
    if arrays.is_tensor(graph):
        graph = arrays.to_numpy(graph)
    rows = (
        graph
        if isinstance(graph, list) and graph and all(isinstance(row, list | np.ndarray) for row in graph)
        else None
    )
    if rows is not None and all(len(row) == len(rows) for row in rows):
        graph = np.asarray(graph)
    if not isinstance(graph, np.ndarray) or graph.ndim != 2:
        return None
    numeric = graph.dtype.kind in "iufb"
    if (graph.shape[1] in (2, 3) and not numeric) or (
        graph.shape[1] == 2 != graph.shape[0] and graph.dtype.kind in "iu"
    ):
        return None
    if not numeric:
        raise DataError(
            f"The weights of a graph are a square matrix of numbers, got {graph.dtype} of shape {graph.shape};"
            f" {_FORMS}.",
            "M109",
        )
    return sparse.csr_array(graph)


def _of_networkx(g: Any, given: list[Any] | None) -> tuple[Any, list[Any] | None]:
    names = list(g)
    number = {name: k for k, name in enumerate(names)}
    found = list(g.edges(data=True))
    _warn_of_attributes({key for _, _, data in found for key in data}, "nx.to_numpy_array(g, weight={!r}), list(g)")
    try:
        weights = np.array([float(data.get("weight", 1.0)) for _, _, data in found])
    except (TypeError, ValueError):
        u, v, weight = next(
            (u, v, d["weight"]) for u, v, d in found if not isinstance(d.get("weight", 1.0), int | float | np.number)
        )
        raise DataError(
            f"The edge ({u!r}, {v!r}) has the weight {shown(weight)}, which is not a number.", "M109"
        ) from None
    ends = np.array([(number[u], number[v]) for u, v, _ in found], np.int64).reshape(-1, 2)
    W = _matrix(ends[:, 0], ends[:, 1], weights, len(names), directed=g.is_directed())
    return W, given if given is not None else None if names == list(range(len(names))) else names


def _of_igraph(g: Any, given: list[Any] | None) -> tuple[Any, list[Any] | None]:
    _warn_of_attributes(set(g.es.attributes()), "g.get_adjacency_sparse({!r})")
    weights = np.asarray(g.es["weight"] if "weight" in g.es.attributes() else np.ones(g.ecount()), np.float64)
    ends = np.array(g.get_edgelist(), np.int64).reshape(-1, 2)
    names = list(g.vs["name"]) if "name" in g.vs.attributes() else None
    return _matrix(ends[:, 0], ends[:, 1], weights, g.vcount(), directed=g.is_directed()), (
        names if given is None else given
    )


def _warn_of_attributes(found: set[str], instead: str) -> None:
    if found and "weight" not in found:
        name = min(found)
        lost(
            "weights",
            "All edges weigh 1: weights are read from the attribute 'weight', and the edges have"
            f" {', '.join(map(repr, sorted(found)))}. For {name!r}: mercer.Network({instead.format(name)}).",
        )


def _of_frame(graph: object, frame: nw.DataFrame[Any], names: list[Any] | None) -> tuple[Any, list[Any] | None]:
    """A table of edges, of two or three columns; or a square one of weights whose rows are named as its columns."""
    columns = list(getattr(graph, "columns", []))
    rows = list(getattr(graph, "index", []))
    if len(columns) > 3 or (rows == columns and len(rows) == len(frame)):
        if rows != columns:
            raise DataError(
                f"A table of {len(columns)} columns is not a graph here: edges have two or three; weights have rows"
                " named as columns.",
                "M109",
            )
        return sparse.csr_array(frame.to_numpy().astype(np.float64)), columns if names is None else names
    return _of_edges(list(frame.iter_rows()), names)


def _of_edges(edges: list[Any], names: list[Any] | None) -> tuple[Any, list[Any] | None]:
    """Edges (u, v) or (u, v, weight) between vertices with names; each once, or in both directions alike."""
    weights: dict[tuple[Any, Any], float] = {}
    seen: dict[Any, None] = {}
    for k, edge in enumerate(edges):
        u, v, weight = _ends(k, edge)
        seen[u] = seen[v] = None
        known = weights.get((u, v), weights.get((v, u), weight))
        if known != weight:
            raise DataError(f"The edge ({u!r}, {v!r}) has two weights, {known:g} and {weight:g}; give one.", "M109")
        weights[u, v] = weight
    order = list(seen) if names is None else names
    if names is None and all(isinstance(v, int) for v in order):
        order = sorted(order)
    number = {name: k for k, name in enumerate(order)}
    unknown = next((v for v in seen if v not in number), None)
    if unknown is not None:
        raise DataError(f"An edge ends at {shown(unknown)}, which is not among the names of the vertices.", "M109")
    once = {
        (number[u], number[v]) if number[u] <= number[v] else (number[v], number[u]): w for (u, v), w in weights.items()
    }
    ends = np.array(list(once), np.int64).reshape(-1, 2)
    W = _matrix(ends[:, 0], ends[:, 1], np.array(list(once.values())), len(order), directed=False)
    return W, None if order == list(range(len(order))) else order


def _ends(k: int, edge: object) -> tuple[Any, Any, float]:
    if isinstance(edge, str | bytes) or not isinstance(edge, Iterable):
        raise DataError(f"Edge {k} is {shown(edge)}; an edge is (u, v) or (u, v, weight).", "M109")
    parts = [_plain(part) for part in islice(edge, 4)]
    if len(parts) not in (2, 3):
        raise DataError(
            f"Edge {k} has {'more than 3' if len(parts) > 3 else len(parts)} parts; an edge is (u, v) or (u, v,"
            " weight).",
            "M109",
        )
    try:
        hash((parts[0], parts[1]))
        weight = (
            float(parts[2]["weight"] if len(parts) == 3 and isinstance(parts[2], Mapping) else parts[2])
            if len(parts) == 3
            else 1.0
        )
    except (TypeError, ValueError, KeyError):
        raise DataError(
            f"Edge {k} is {shown(tuple(parts))}; its ends are names or numbers, its weight is a number.", "M109"
        ) from None
    return parts[0], parts[1], weight


def _matrix(rows: Index, cols: Index, weights: Weights, n: int, *, directed: bool) -> Any:
    """The weights both ways; of arcs, if each has its partner."""
    W = sparse.coo_array((weights, (rows, cols)), shape=(n, n)).tocsr()
    if not directed:
        return W + W.T - sparse.diags_array(W.diagonal())
    apart = abs(W - W.T)
    if W.nnz and apart.max() > _CLOSE * max(1.0, float(abs(W).max())):
        raise DataError(
            "The graph is directed, and not the same in both directions; these kernels are for undirected graphs:"
            " graph.to_undirected(), or the matrix (W + W.T) / 2.",
            "M109",
        )
    return W
