"""Arcs, distances and paths of one graph, as vertices: where the features of graphs come from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from mercer.arrays import Array
from mercer.data import PackedGraphs
from mercer.data.representations import offsets_of


def arcs_of(x: PackedGraphs) -> list[tuple[int, int]]:
    """The two ends of every arc of a graph, in order; an undirected edge is two."""
    sources = np.repeat(np.arange(len(x.labels)), np.diff(x.starts))
    return list(zip(sources.tolist(), x.ends.tolist(), strict=True))


def distances(x: PackedGraphs) -> Array:
    """The number of edges between every two vertices, along arcs; 0 of a vertex to itself, −1 where no path joins
    them.
    """
    return _apart(x, directed=True)


def around(x: PackedGraphs) -> Array:
    """The same, along arcs in either direction; where no path joins them, more than any path has."""
    found = _apart(x, directed=False)
    return np.where(found < 0, len(found) + 1, found)


def _apart(x: PackedGraphs, *, directed: bool) -> Array:
    n = len(x.labels)
    joined = sparse.csr_array((np.ones(len(x.ends)), x.ends, x.starts), shape=(n, n))
    found = csgraph.shortest_path(joined, directed=directed, unweighted=True) if n else np.zeros((0, 0))
    return np.where(np.isfinite(found), found, -1).astype(np.int64)


def walks_of(x: PackedGraphs, length: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The simple paths with at most ``length`` edges, as their vertices and the marks of their arcs; an undirected one
    from each of its ends.
    """
    stack: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((v,), ()) for v in range(len(x.labels))]
    while stack:
        vertices, marks = stack.pop()
        yield vertices, marks
        if len(marks) < length:
            for a in range(int(x.starts[vertices[-1]]), int(x.starts[vertices[-1] + 1])):
                if (w := int(x.ends[a])) not in vertices:
                    stack.append(((*vertices, w), (*marks, int(x.marks[a]))))


def packed_paths(labels: Array, marks: Array, *, directed: bool) -> PackedGraphs:
    """Graphs that are paths: codes of the labels of their vertices and edges in the rows of two arrays."""
    count, n = labels.shape
    arcs = np.full(n, 1 if directed else 2)
    arcs[-1] -= 1
    arcs[0] -= 0 if directed else 1
    forth = [(v, v + 1, v) for v in range(n - 1)]
    back = [] if directed else [(v + 1, v, v) for v in range(n - 1)]
    _, ends, edges = np.array(sorted(forth + back), np.int64).reshape(-1, 3).T
    return PackedGraphs(
        np.arange(count + 1, dtype=np.int64) * n,
        np.ascontiguousarray(labels.reshape(-1)),
        offsets_of(np.tile(arcs, count)),
        np.tile(ends, count),
        np.ascontiguousarray(marks[:, edges].reshape(-1)),
        np.full(count, directed),
    )
