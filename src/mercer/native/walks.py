"""Common walks of two labelled graphs, on the pairs of vertices with equal labels, without their product graph.

Vertices from which the same label sequences start are one class (``classes``): a class u has ``sizes[u]`` vertices,
each with ``counts[a]`` arcs to vertices of the class ``ends[a]``.
"""

import numpy as np

from mercer.native.graphs import mixed, refined
from mercer.native.scaled import UNIT
from mercer.runtime import compiling

DIVERGES = -1.0
_BIG, _DOWN = 2.0**256, 2.0**-UNIT
_LEAST = 2.0 ** (UNIT - 1022)  # what is smaller has digits missing when it is brought down


@compiling.jit
def classes(  # type: ignore[no-untyped-def]
    offsets, labels, starts, ends, marks, out_offsets, out_labels, out_sizes, out_starts, out_ends, out_marks,
    out_counts,
):  # fmt: skip
    """The coarsest classes whose members have one label and as many arcs into each class; returns the numbers of
    classes and arcs.
    """
    found, arcs = 0, 0
    out_offsets[0] = out_starts[0] = 0
    for g in range(len(offsets) - 1):
        base, n = offsets[g], offsets[g + 1] - offsets[g]
        colours, own = labels[base : base + n].copy(), np.array([0, n])
        kinds = len(np.unique(colours))
        near = starts[base : base + n + 1]
        rounds = 0
        while kinds < n:
            rounds += 1
            if rounds > 64:  # a long path: each vertex is a class of its own, which is also right
                colours, kinds = np.arange(n).astype(np.uint64), n
                break
            total = colours * np.uint64(3)
            refined(own, colours, near, ends, marks, np.uint64(0), total)
            mixed(total, total)
            more = len(np.unique(total))
            if more == kinds:
                break
            colours, kinds = total, more
        names = np.unique(colours)
        place = np.searchsorted(names, colours)
        one = np.zeros(kinds, np.int64)  # a member of each class
        for c in range(kinds):
            out_sizes[found + c] = 0.0
        for v in range(n):
            one[place[v]] = v
            out_sizes[found + place[v]] += 1.0
        for c in range(kinds):
            v = base + one[c]
            out_labels[found + c] = labels[v]
            begin = arcs
            for a in range(starts[v], starts[v + 1]):
                k = begin
                while k < arcs and (out_ends[k] != place[ends[a]] or out_marks[k] != marks[a]):
                    k += 1
                if k == arcs:
                    out_ends[k], out_marks[k], out_counts[k] = place[ends[a]], marks[a], 0.0
                    arcs += 1
                out_counts[k] += 1.0
            out_starts[found + c + 1] = arcs
        found += kinds
        out_offsets[g + 1] = found
    return found, arcs


@compiling.jit
def _match(labels, u0, m, others, v0, n, W):  # type: ignore[no-untyped-def]
    """W[u, v] = 1 where labels agree, else 0; whether any do."""
    found = False
    for u in range(m):
        for v in range(n):
            same = labels[u0 + u] == others[v0 + v]
            W[u, v] = 1.0 if same else 0.0
            found = found or same
    return found


@compiling.jit
def _along(W, out, starts, ends, counts, u0, m, n):  # type: ignore[no-untyped-def]
    """out[u, :] = Σ over arcs of u of W[end, :]."""
    for u in range(m):
        for v in range(n):
            out[u, v] = 0.0
        for a in range(starts[u0 + u], starts[u0 + u + 1]):
            x, line = counts[a], W[ends[a]]
            for v in range(n):
                out[u, v] += x * line[v]


@compiling.jit
def _transposed(W, out, m, n):  # type: ignore[no-untyped-def]
    for u in range(m):
        for v in range(n):
            out[v, u] = W[u, v]


@compiling.jit
def _step(  # type: ignore[no-untyped-def]
    W, M, S, T, out, labels, starts, ends, marks, counts, u0, m, others, other_starts, other_ends, other_marks,
    other_counts, v0, n, alike,
):  # fmt: skip
    """out = M ∘ A_× W: Σ over arcs of u and of v with the same label of W[ends], times M, which is 0 where the labels
    of u and v differ.

    Where all edges are alike, first over the arcs of u and then over those of v, both along rows.
    """
    if alike:
        _along(W, out, starts, ends, counts, u0, m, n)
        _transposed(out, S, m, n)
        _along(S, T, other_starts, other_ends, other_counts, v0, n, m)
        _transposed(T, out, n, m)
        for u in range(m):
            for v in range(n):
                out[u, v] *= M[u, v]
        return
    for u in range(m):
        for v in range(n):
            total = 0.0
            if M[u, v] != 0.0:
                for a in range(starts[u0 + u], starts[u0 + u + 1]):
                    for b in range(other_starts[v0 + v], other_starts[v0 + v + 1]):
                        if marks[a] == other_marks[b]:
                            total += counts[a] * other_counts[b] * W[ends[a], other_ends[b]]
            out[u, v] = total * M[u, v]


@compiling.jit
def _brought_down(W, m, n):  # type: ignore[no-untyped-def]
    """W divided by 2^512 where its largest number is beyond 2^256; whether it was, and whether a number has become too
    small for that.
    """
    largest, lost = 0.0, False
    for u in range(m):
        for v in range(n):
            largest = max(largest, abs(W[u, v]))
    if largest <= _BIG:
        return False, False
    for u in range(m):
        for v in range(n):
            lost = lost or 0.0 < abs(W[u, v]) < _LEAST
            W[u, v] *= _DOWN
    return True, lost


@compiling.jit
def walks(offsets, labels, sizes, starts, ends, marks, counts, directed, other_offsets, others, other_sizes, other_starts, other_ends, other_marks, other_counts, other_directed, length, alike, same, first, out, powers):  # type: ignore[no-untyped-def]  # noqa: E501  # fmt: skip
    """out[i, j]·2^powers[i, j] = the number of common walks with ``length`` edges; with ``same``, of the upper half
    from row ``first`` on.

    A number that no float holds is computed again with the power of 2 apart. Numbers that become too small beside the
    largest then do not matter in undirected graphs: with A_× symmetric and ρ its largest eigenvalue, a vertex starts at
    most √n ρ^l walks of length l, and all together start ρ^l or more (every second l); what goes through a vertex that
    starts 2^−700 of that is lost in the last digit. In a directed graph walks may end, and others remain: NaN, if so.
    """
    most, other_most = np.max(np.diff(offsets)), np.max(np.diff(other_offsets))
    M, W, V = np.empty((most, other_most)), np.empty((most, other_most)), np.empty((most, other_most))
    S, T = np.empty((other_most, most)), np.empty((other_most, most))
    for i in range(len(offsets) - 1):
        u0, m = offsets[i], offsets[i + 1] - offsets[i]
        for j in range(first + i if same else 0, len(other_offsets) - 1):
            v0, n = other_offsets[j], other_offsets[j + 1] - other_offsets[j]
            out[i, j] = 0.0
            if not _match(labels, u0, m, others, v0, n, M):
                continue
            total, units, lost = np.inf, 0, False
            for apart in range(2):
                W[:m, :n] = M[:m, :n]
                for _ in range(length):
                    _step(W, M, S, T, V, labels, starts, ends, marks, counts, u0, m, others, other_starts, other_ends, other_marks, other_counts, v0, n, alike)  # noqa: E501  # fmt: skip
                    W, V = V, W
                    if apart == 1:
                        down, small = _brought_down(W, m, n)
                        units, lost = units + down, lost or small
                total = 0.0
                for u in range(m):
                    line = 0.0
                    for v in range(n):
                        line += other_sizes[v0 + v] * W[u, v]
                    total += sizes[u0 + u] * line
                if total < np.inf:
                    break
            out[i, j], powers[i, j] = (
                total if not lost or not (directed[i] or other_directed[j]) else np.nan,
                UNIT * units,
            )


@compiling.jit
def alike_walks(offsets, labels, starts, ends, marks, counts, directed, other_offsets, others, other_starts, other_ends, other_marks, other_counts, other_directed, values, length, alike, same, first, out, powers):  # type: ignore[no-untyped-def]  # noqa: E501  # fmt: skip
    """out[i, j]·2^powers[i, j] = Σ over walks with ``length`` edges of both graphs of the product of ``values`` of
    their vertices, place by place; rows and columns of the upper half as in ``walks``.

    Numbers too small beside the largest do not matter while values do not change sign and walks do not end; else NaN.
    """
    most, other_most = np.max(np.diff(offsets)), np.max(np.diff(other_offsets))
    W, V = np.empty((most, other_most)), np.empty((most, other_most))
    S, T = np.empty((other_most, most)), np.empty((other_most, most))
    for i in range(len(offsets) - 1):
        u0, m = offsets[i], offsets[i + 1] - offsets[i]
        for j in range(max(0, first + i) if same else 0, len(other_offsets) - 1):
            v0, n = other_offsets[j], other_offsets[j + 1] - other_offsets[j]
            M = values[u0 : u0 + m, v0 : v0 + n]
            W[:m, :n] = M
            units, lost = 0, False
            for _ in range(length):
                _step(W, M, S, T, V, labels, starts, ends, marks, counts, u0, m, others, other_starts, other_ends, other_marks, other_counts, v0, n, alike)  # noqa: E501  # fmt: skip
                W, V = V, W
                down, small = _brought_down(W, m, n)
                units, lost = units + down, lost or small
            total = 0.0
            for u in range(m):
                line = 0.0
                for v in range(n):
                    line += W[u, v]
                total += line
            safe = not lost or (np.min(M) >= 0.0 and not directed[i] and not other_directed[j])
            out[i, j], powers[i, j] = total if safe else np.nan, UNIT * units


@compiling.jit
def geometric(offsets, labels, sizes, starts, ends, marks, counts, directed, other_offsets, others, other_sizes, other_starts, other_ends, other_marks, other_counts, other_directed, decay, alike, same, first, tolerance, most, out):  # type: ignore[no-untyped-def]  # noqa: E501  # fmt: skip
    """out[i, j] = 1ᵀ(I − decay·A_×)⁻¹1, or DIVERGES where decay·ρ(A_×) ≥ 1.

    Undirected: conjugate gradients, in the inner product in which a class counts as its members; I − decay·A_× has a
    direction of negative curvature where the sum diverges. Else the sum itself, term by term.
    """
    large, other_large = np.max(np.diff(offsets)), np.max(np.diff(other_offsets))
    M, R, V, P = (
        np.empty((large, other_large)),
        np.empty((large, other_large)),
        np.empty((large, other_large)),
        np.empty((large, other_large)),
    )
    S, T, weight = np.empty((other_large, large)), np.empty((other_large, large)), np.empty((large, other_large))
    for i in range(len(offsets) - 1):
        u0, m = offsets[i], offsets[i + 1] - offsets[i]
        for j in range(first + i if same else 0, len(other_offsets) - 1):
            v0, n = other_offsets[j], other_offsets[j + 1] - other_offsets[j]
            out[i, j] = 0.0
            if not _match(labels, u0, m, others, v0, n, M):
                continue
            rr = 0.0
            for u in range(m):
                for v in range(n):
                    weight[u, v] = sizes[u0 + u] * other_sizes[v0 + v]
                    P[u, v] = R[u, v] = M[u, v]
                    rr += weight[u, v] * M[u, v]
            start, total, lowest = rr, 0.0, 1.0
            if directed[i] or other_directed[j]:
                total, term, count = rr, rr, 0
                while term > tolerance * total and count < most:
                    _step(P, M, S, T, V, labels, starts, ends, marks, counts, u0, m, others, other_starts, other_ends, other_marks, other_counts, v0, n, alike)  # noqa: E501  # fmt: skip
                    P, V = V, P
                    term = 0.0
                    for u in range(m):
                        for v in range(n):
                            P[u, v] *= decay
                            term += weight[u, v] * P[u, v]
                    total += term
                    count += 1
                out[i, j] = total if count < most and total < np.inf else DIVERGES
                continue
            for _ in range(most):
                _step(P, M, S, T, V, labels, starts, ends, marks, counts, u0, m, others, other_starts, other_ends, other_marks, other_counts, v0, n, alike)  # noqa: E501  # fmt: skip
                curvature, along, size = 0.0, 0.0, 0.0
                for u in range(m):
                    for v in range(n):
                        V[u, v] = P[u, v] - decay * V[u, v]
                        curvature += weight[u, v] * P[u, v] * V[u, v]
                        along += weight[u, v] * P[u, v]
                        size += weight[u, v] * P[u, v] * P[u, v]
                if curvature <= 1e-12 * size:
                    total = DIVERGES
                    break
                step, lowest = rr / curvature, min(lowest, curvature / size)
                total += step * along  # 1ᵀ of the solution so far, whose start is 0
                before, rr = rr, 0.0
                for u in range(m):
                    for v in range(n):
                        R[u, v] -= step * V[u, v]
                        rr += weight[u, v] * R[u, v] * R[u, v]
                if rr <= tolerance * lowest * start:  # what is missing of the total is rᵀ(I − decay·A_×)⁻¹r
                    break
                for u in range(m):
                    for v in range(n):
                        P[u, v] = R[u, v] + rr / before * P[u, v]
            out[i, j] = total
