"""Where the vertices of a graph are on its shortest paths: one file of compiled loops over the arrays of
``PackedGraphs``.
"""

import numpy as np

from mercer.native.graphs import searched
from mercer.runtime import compiling


@compiling.jit
def longest(offsets, starts, ends, out):  # type: ignore[no-untyped-def]
    """The number of vertices on the longest of the shortest paths of each graph."""
    for g in range(len(offsets) - 1):
        base, n = offsets[g], offsets[g + 1] - offsets[g]
        distance, queue = np.empty(n, np.int64), np.empty(n, np.int64)
        out[g] = 0
        for s in range(n):
            reached = searched(s, base, starts, ends, distance, queue)
            out[g] = max(out[g], distance[queue[reached - 1]] + 1)


@compiling.jit
def places(offsets, starts, ends, longest, begins, out):  # type: ignore[no-untyped-def]
    """out[begins[g] + v·w + j(j + 1)/2 + i] += the shortest paths with j edges on which v is i edges from the first
    vertex, w = longest(longest + 1)/2.

    Of each first vertex s: as many paths lead from s to v as to all vertices before v together (``ahead``), and as many
    lead from v on by k edges as from all vertices behind v by k − 1 (``on``).
    """
    for g in range(len(offsets) - 1):
        base, n, most = offsets[g], offsets[g + 1] - offsets[g], longest[g]
        distance, queue, ahead, on = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty((n, most))
        width = most * (most + 1) // 2
        for s in range(n):
            reached = searched(s, base, starts, ends, distance, queue)
            far = distance[queue[reached - 1]]
            ahead[:] = 0.0
            ahead[s] = 1.0
            for k in range(reached):
                v = queue[k]
                for a in range(starts[base + v], starts[base + v + 1]):
                    if distance[ends[a]] == distance[v] + 1:
                        ahead[ends[a]] += ahead[v]
            for k in range(reached - 1, -1, -1):
                v = queue[k]
                i = distance[v]
                on[v, 0] = 1.0
                on[v, 1 : far - i + 1] = 0.0
                for a in range(starts[base + v], starts[base + v + 1]):
                    u = ends[a]
                    if distance[u] == i + 1:
                        for e in range(far - i):
                            on[v, e + 1] += on[u, e]
                row = begins[g] + v * width
                for e in range(far - i + 1):
                    j = i + e
                    out[row + j * (j + 1) // 2 + i] += ahead[v] * on[v, e]


@compiling.jit
def padded(offsets, widths, begins, values, vertices, graphs, out):  # type: ignore[no-untyped-def]
    """out[k] = the numbers of the vertex ``vertices[k]`` of the graph ``graphs[k]``, as many as a row holds; 0 behind
    them.
    """
    for k in range(len(vertices)):
        g = graphs[k]
        width = min(widths[g], out.shape[1])
        row = begins[g] + (vertices[k] - offsets[g]) * widths[g]
        out[k, :width] = values[row : row + width]
        out[k, width:] = 0.0
