"""The cheapest way to carry one set of points to another: exact optimal transport between uniform weights.

The network simplex: n sources and m sinks are the nodes of a spanning tree, whose arcs carry the flow. An arc that
would make it cheaper enters, the first arc of its cycle to run empty leaves, and one side of the tree is hung up
elsewhere.
"""

import numpy as np

from mercer.runtime import compiling

_LEAST = 1e-14  # of the largest cost: what a new arc must gain


@compiling.jit
def _divisor(a, b):  # type: ignore[no-untyped-def]
    while b:
        a, b = b, a % b
    return a


@compiling.jit
def _hung(node, parent, up, child, after, before):  # type: ignore[no-untyped-def]
    """The node becomes the first child of ``parent``."""
    up[node], before[node], after[node] = parent, -1, child[parent]
    if child[parent] >= 0:
        before[child[parent]] = node
    child[parent] = node


@compiling.jit
def _cut(node, up, child, after, before):  # type: ignore[no-untyped-def]
    """The node is no longer a child of its parent."""
    if before[node] >= 0:
        after[before[node]] = after[node]
    else:
        child[up[node]] = after[node]
    if after[node] >= 0:
        before[after[node]] = before[node]


@compiling.jit
def _started(C, n, m, supply, demand, flow, up, child, after, before, depth, potential, arcs, stack):  # type: ignore[no-untyped-def]
    """A first tree: each sink takes from its nearest sources that have some left.

    Sources have 1 more, and the last sink n more, than so many times their units: no two sides of a tree then balance,
    so that each step empties one node, and later each new arc carries something.
    """
    left = arcs[2]
    for i in range(n):
        left[i] = supply * (n + 1) + 1
    count = 0
    for j in range(m):
        wanted = demand * (n + 1) + (n if j == m - 1 else 0)
        while wanted > 0:
            best = -1
            for i in range(n):
                if left[i] > 0 and (best < 0 or C[i, j] < C[best, j]):
                    best = i
            units = min(wanted, left[best])
            wanted -= units
            left[best] -= units
            arcs[0, count], arcs[1, count], flow[count] = best, n + j, units
            count += 1
    # from lists of arcs at each node to a tree below source 0
    head, following = stack[1], stack[2]
    head[: n + m] = -1
    for k in range(2 * count):
        node = arcs[k % 2, k // 2]
        following[k], head[node] = head[node], k
    child[: n + m] = -1
    carried = flow[:count].copy()
    up[0], depth[0], potential[0], top = -1, 0, 0.0, 1
    stack[0, 0] = 0
    while top:
        top -= 1
        node = stack[0, top]
        k = head[node]
        while k >= 0:
            other = arcs[1 - k % 2, k // 2]
            if other != up[node]:
                _hung(other, node, up, child, after, before)
                i, j = (node, other - n) if node < n else (other, node - n)
                depth[other], potential[other], flow[other] = (
                    depth[node] + 1,
                    C[i, j] - potential[node],
                    carried[k // 2],
                )
                stack[0, top] = other
                top += 1
            k = following[k]


@compiling.jit
def _entered(i, j, n, C, flow, up, child, after, before, depth, potential, stack):  # type: ignore[no-untyped-def]
    """The arc from the source i to the sink j joins the tree, and another one leaves it."""
    reduced = C[i, j - n] - potential[i] - potential[j]
    first, second, units, leaving = i, j, np.int64(2**62), -1
    while first != second:  # the arcs that lose are those of the sources above i and of the sinks above j
        if depth[first] >= depth[second]:
            if first < n and flow[first] < units:
                units, leaving = flow[first], first
            first = up[first]
        else:
            if second >= n and flow[second] < units:
                units, leaving = flow[second], -2 - second
            second = up[second]
    meeting = first
    for start, losing in ((i, True), (j, False)):
        node = start
        while node != meeting:
            flow[node] += -units if (node < n) == losing else units
            node = up[node]
    below_i = leaving >= 0
    last = leaving if below_i else -2 - leaving
    node, parent = (i, j) if below_i else (j, i)
    top, carried = node, units
    while True:  # turn the arcs from the new one to the one that leaves
        above, amount = up[node], flow[node]
        _cut(node, up, child, after, before)
        _hung(node, parent, up, child, after, before)
        flow[node] = carried
        if node == last:
            break
        parent, node, carried = node, above, amount
    shift = reduced if below_i else -reduced  # of sources; sinks change the other way
    stack[0, 0], count = top, 1
    while count:
        count -= 1
        node = stack[0, count]
        depth[node] = depth[up[node]] + 1
        potential[node] += shift if node < n else -shift
        node = child[node]
        while node >= 0:
            stack[0, count] = node
            count += 1
            node = after[node]


@compiling.jit
def _cost(C, n, m, flow, up, child, after, before, depth, potential, arcs, stack):  # type: ignore[no-untyped-def]
    """The least Σ C times the mass carried, for a mass of 1 on each side: that of the dual, which is the same."""
    g = _divisor(n, m)
    supply, demand = m // g, n // g
    _started(C, n, m, supply, demand, flow, up, child, after, before, depth, potential, arcs, stack)
    least = -_LEAST * np.max(C[:n, :m])
    idle, i = 0, 0
    while idle < n:  # the best new arc of each source in turn
        best, gain = -1, least
        for j in range(m):
            reduced = C[i, j] - potential[n + j] - potential[i]
            if reduced < gain:
                best, gain = j, reduced
        if best >= 0:
            _entered(i, n + best, n, C, flow, up, child, after, before, depth, potential, stack)
            idle = 0
        else:
            idle += 1
        i = i + 1 if i + 1 < n else 0
    total = 0.0
    for k in range(n):
        total += supply * potential[k]
    for k in range(m):
        total += demand * potential[n + k]
    return max(0.0, total / (float(n) * supply))


@compiling.jit
def distances(offsets, other_offsets, squares, same, first, out):  # type: ignore[no-untyped-def]
    """out[i, j] = W₁ of the points of i and those of j, whose squared distances are ``squares``; with ``same`` of the
    upper half from row ``first`` on. 0 where there are no points.
    """
    most, other_most = np.max(np.diff(offsets)), np.max(np.diff(other_offsets))
    C, nodes = np.empty((most, other_most)), most + other_most
    flow, potential = np.empty(nodes, np.int64), np.empty(nodes)
    up, child, after = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    before, depth = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    arcs, stack = np.empty((3, nodes), np.int64), np.empty((3, 2 * nodes), np.int64)
    for i in range(len(offsets) - 1):
        a, n = offsets[i], offsets[i + 1] - offsets[i]
        for j in range(max(0, first + i) if same else 0, len(other_offsets) - 1):
            b, m = other_offsets[j], other_offsets[j + 1] - other_offsets[j]
            out[i, j] = 0.0
            if n > 0 and m > 0:
                for p in range(n):
                    for q in range(m):
                        C[p, q] = np.sqrt(squares[a + p, b + q])
                out[i, j] = _cost(C, n, m, flow, up, child, after, before, depth, potential, arcs, stack)
