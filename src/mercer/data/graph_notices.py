"""What graphs have, in the forms that users have them in, and kernels do not use."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer.arrays import Array
from mercer.data.graph_xml import Drawn
from mercer.data.notices import lost, used


def is_matrix(x: object) -> bool:
    """Whether x is an adjacency matrix: two rows of two numbers may be two edges."""
    return sparse.issparse(x) or (
        isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[0] == x.shape[1] and x.shape[0] != 2
    )


def has_named_attributes(item: object) -> bool:
    """Whether it is a graph of networkx or igraph."""
    return (hasattr(item, "adj") and hasattr(item, "is_directed")) or (
        hasattr(item, "vs") and hasattr(item, "get_edgelist")
    )


def tell_of_names(
    items: list[Any], label: str | None, edge_label: str | None, attributes: str | tuple[str, ...] | None
) -> None:
    """Compare the names of the attributes of graphs with those that are read, and look at weights."""
    for i, item in enumerate(items):
        if has_named_attributes(item):
            vertices, edges, weights = _attribute_names(item)
            call = "mercer.read_graphs(path, " if isinstance(item, Drawn) else "mercer.as_graphs(X, "
            if attributes is None:
                _compare("vertex", "vertices", vertices, label, i, f"{call}label", "; attributes=… reads numbers")
            _compare(
                "edge", "edges", edges, edge_label, i, f"{call}edge_label", "; edge_label=None says it is not meant"
            )
            if edge_label not in ("weight", None) and len(set(weights)) > 1:
                _tell_of_weights(f"{call}edge_label='weight')", f"{call}edge_label=None)")
        elif sparse.issparse(item) or isinstance(item, np.ndarray | tuple):
            _look_at_weights(item)


def tell_of_numbers(attributes: Array | None, *, read: bool) -> None:
    """Say that vertices have numbers, where the kernel does not read them."""
    if read:
        used("attributes")
    elif attributes is not None:
        lost(
            "attributes",
            "The vertices of the graphs have attributes (numbers), which this kernel does not use: GraphHopper,"
            " KernelWalk, WassersteinAttributes, PathLength and Propagation do, and HashedAttributes(kernel) makes"
            " labels of them. mercer.Graph(g.edges, g.labels, g.edge_labels), without them, says that they are not"
            " meant.",
        )


def _compare(noun: str, nouns: str, found: set[Any], wanted: str | None, i: int, option: str, more: str) -> None:
    if found and wanted is not None and wanted not in found:
        names = ", ".join(map(repr, sorted(found, key=str)))
        lost(
            f"{noun} attributes",
            f"The {nouns} of graph {i} have {names}, and nothing called {wanted!r}: it is not used, and all {nouns} are"
            f" alike. {option}={min(found, key=str)!r}) reads labels of another name{more}.",
        )


def _attribute_names(g: Any) -> tuple[set[Any], set[Any], list[Any]]:
    """The names of the attributes of vertices and of edges, but for weights, and the weights."""
    if hasattr(g, "adj"):
        marks = [data for _, _, data in g.edges(data=True)]
        vertices = {key for _, data in g.nodes(data=True) for key in data}
        return (
            vertices,
            {key for data in marks for key in data} - {"weight"},
            [data.get("weight", 1.0) for data in marks],
        )
    weights = list(g.es["weight"]) if "weight" in g.es.attributes() else []
    return set(g.vs.attributes()) - {"name"}, set(g.es.attributes()) - {"weight"}, weights


def _look_at_weights(item: Any) -> None:
    """An adjacency matrix whose numbers say more than whether there is an edge, without edge labels that would say
    it.
    """
    first, *rest = item if isinstance(item, tuple) and item else (item,)
    if (len(rest) < 2 or rest[1] is None) and is_matrix(first):
        present = first.tocoo().data if sparse.issparse(first) else first
        if len(np.unique(present[present != 0])) > 1:
            _tell_of_weights("(adjacency, labels, adjacency)", "a matrix of 0 and 1")


def _tell_of_weights(instead: str, not_meant: str) -> None:
    lost(
        "weights",
        "The edges of the graphs have weights, which kernels between graphs do not use. Where they stand for kinds of"
        f" edges they are labels: {instead}; {not_meant} says that they are not meant.",
    )
