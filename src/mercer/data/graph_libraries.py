"""Graphs of networkx, igraph, DGL and ASE. None of them is imported here but ASE, by who has its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer import arrays
from mercer.arrays import Tensor
from mercer.data.graphs import Graph
from mercer.data.tables import DataError

if TYPE_CHECKING:
    from ase import Atoms

_NUMBERS = ("feat", "attr", "x", "h")  # what DGL's sets call the features of vertices
_BONDED = 1.2  # times the sum of their covalent radii, two atoms are no farther apart


def of_networkx(g: Any, label: str | None, edge_label: str | None, attributes: str | tuple[str, ...] | None) -> Graph:
    """A graph of networkx, or of a file."""
    if g.is_multigraph():
        raise DataError(
            "it is a multigraph; several edges between two vertices must become one, as with networkx.Graph(g)", "M109"
        )
    names = list(g)
    number = {name: k for k, name in enumerate(names)}
    labels = _all_or_none([(name, g.nodes[name].get(label)) for name in names], "vertex", label)
    pairs = list(g.edges(data=True))
    marks = _all_or_none([((u, v), data.get(edge_label)) for u, v, data in pairs], "edge", edge_label)
    numbers = None
    if attributes is not None:
        wanted = (attributes,) if isinstance(attributes, str) else attributes
        for name in names:
            bare = next((each for each in wanted if each not in g.nodes[name]), None)
            if bare is not None:
                raise DataError(f"vertex {name!r} has no attribute {bare!r}", "M109")
        numbers = [_together([g.nodes[name][each] for each in wanted]) for name in names]
    edges = [(number[u], number[v]) for u, v, _ in pairs]
    return Graph(edges, labels, marks, numbers, len(names), g.is_directed())


def _together(values: list[Any]) -> Any:
    """The numbers of a vertex: one attribute as it is, several side by side."""
    return values[0] if len(values) == 1 else np.concatenate([np.atleast_1d(each) for each in values])


def _all_or_none(found: list[tuple[Any, Any]], noun: str, name: str | None) -> list[Any] | None:
    missing = [who for who, label in found if label is None]
    if len(missing) == len(found):
        return None
    if missing:
        raise DataError(
            f"{noun} {missing[0]!r} has no attribute {name!r}, others have; give it to each {noun} or to none", "M109"
        )
    return [label for _, label in found]


def of_igraph(g: Any, label: str | None, edge_label: str | None, attributes: str | tuple[str, ...] | None) -> Graph:
    """A graph of igraph."""
    if callable(getattr(g, "has_multiple", None)) and g.has_multiple():
        raise DataError("it has several edges between two vertices; they must become one: g.simplify()", "M109")
    labels = g.vs[label] if label in g.vs.attributes() else None
    marks = g.es[edge_label] if edge_label in g.es.attributes() else None
    if attributes is None or isinstance(attributes, str):
        numbers = None if attributes is None else g.vs[attributes]
    else:
        numbers = [_together(list(each)) for each in zip(*(g.vs[name] for name in attributes), strict=True)]
    return Graph(g.get_edgelist(), labels, marks, numbers, g.vcount(), g.is_directed())


def of_dgl(
    g: Any, label: str | None, edge_label: str | None, attributes: str | tuple[str, ...] | None
) -> dict[str, Any]:
    """A graph of DGL with the names of PyTorch Geometric."""
    if not getattr(g, "is_homogeneous", True):
        raise DataError(
            "it has several kinds of vertices or edges; one kind is compared: dgl.to_homogeneous(g)", "M109"
        )
    if getattr(g, "batch_size", 1) > 1:
        raise DataError("it is a batch; give its graphs one by one: dgl.unbatch(g)", "M109")
    wanted = (attributes,) if isinstance(attributes, str) else attributes
    for name in wanted or ():
        if name not in g.ndata:
            raise DataError(
                f"its vertices have no {name!r}; ndata has {', '.join(map(repr, g.ndata)) or 'nothing'}", "M109"
            )
    columns = [arrays.to_numpy(g.ndata[name]) for name in wanted or [n for n in _NUMBERS if n in g.ndata][:1]]
    return {
        "edge_index": np.stack([arrays.to_numpy(end) for end in g.edges()]),
        "labels": None if label not in g.ndata else _plain(g.ndata[label]),
        "x": np.concatenate([each.reshape(len(each), -1) for each in columns], axis=1) if columns else None,
        "edge_attr": next((_plain(g.edata[k]) for k in (edge_label, "feat", "attr") if k in g.edata), None),
        "num_nodes": int(g.num_nodes()),
    }


def _plain(labels: Tensor) -> Any:
    """A label for each vertex or edge: numbers, or rows as tuples."""
    values = arrays.to_numpy(labels)
    return values if values.ndim == 1 else [tuple(row) for row in values.tolist()]


def of_ase(atoms: Atoms) -> Graph:
    """Atoms labelled by their element, joined where they are as near as bonds are; across the borders of a cell too."""
    from ase.neighborlist import natural_cutoffs, neighbor_list

    i, j = neighbor_list("ij", atoms, natural_cutoffs(atoms, mult=_BONDED))
    edges = np.stack([i, j], axis=1)
    return Graph(edges[i <= j], atoms.get_chemical_symbols(), n_vertices=len(atoms))
