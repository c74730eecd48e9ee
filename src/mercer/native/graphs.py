"""Labelled graphs, one after the other: one file of compiled loops that call each other.

Refined labels, counted codes, shortest paths, simple paths.

Graphs come as the arrays of ``PackedGraphs``. What can take long (paths) does a number of steps and returns, to go on
from where it was.
"""

import numpy as np

from mercer.native.mixing import mix
from mercer.native.words import gather, table_of
from mercer.runtime import compiling

_A, _B, _C = np.uint64(0xD1342543DE82EF95), np.uint64(0xA0761D6478BD642F), np.uint64(0x8BB84B93962EACC9)
_mix = compiling.jit(mix)


@compiling.jit
def refined(offsets, labels, starts, ends, marks, salt, out):  # type: ignore[no-untyped-def]
    """Adds to each ``out[v]`` a code of the multiset of (edge label, label) of its neighbours: a sum, so that their
    order has no say.
    """
    for g in range(len(offsets) - 1):
        base = offsets[g]
        for v in range(base, offsets[g + 1]):
            total = np.uint64(0)
            for a in range(starts[v], starts[v + 1]):
                total += _mix(labels[base + ends[a]] * _A + marks[a] * _B + salt)
            out[v] += total


@compiling.jit
def mixed(codes, out):  # type: ignore[no-untyped-def]
    for v in range(len(codes)):
        out[v] = _mix(codes[v])


@compiling.jit
def counts(codes, offsets, out_codes, out_values, out_lengths):  # type: ignore[no-untyped-def]
    """For each row, its distinct codes and how often each occurs."""
    _, slots = table_of(offsets)
    end = 0
    for r in range(len(offsets) - 1):
        begin, row = end, codes[offsets[r] : offsets[r + 1]]
        end = gather(row, len(row), slots, out_codes, out_values, end)
        out_lengths[r] = end - begin
    return end


@compiling.jit
def edge_codes(offsets, starts, ends, marks, directed, out, out_lengths):  # type: ignore[no-untyped-def]
    """The label of each edge, once."""
    end = 0
    for g in range(len(offsets) - 1):
        begin = end
        for v in range(offsets[g], offsets[g + 1]):
            for a in range(starts[v], starts[v + 1]):
                if directed[g] or ends[a] >= v - offsets[g]:
                    out[end] = _mix(marks[a])
                    end += 1
        out_lengths[g] = end - begin
    return end


@compiling.jit
def pair_code(u, v, distance, directed):  # type: ignore[no-untyped-def]
    """Of two labels and the number of edges between their vertices; in undirected graphs in either order."""
    if directed:
        return _mix(u * _A + v * _B + np.uint64(distance) * _C + np.uint64(1))
    return _mix((u + v) * _A + u * v + np.uint64(distance) * _C)


@compiling.jit
def searched(source, base, starts, ends, distance, queue):  # type: ignore[no-untyped-def]
    """Numbers of edges from one vertex, −1 where no path leads, and the vertices reached in their order; how many these
    are.
    """
    distance[:] = -1
    distance[source], queue[0] = 0, source
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for a in range(starts[base + v], starts[base + v + 1]):
            if distance[ends[a]] < 0:
                distance[ends[a]] = distance[v] + 1
                queue[tail] = ends[a]
                tail += 1
    return tail


@compiling.jit
def measured(source, base, starts, ends, lengths, distance, queue):  # type: ignore[no-untyped-def]
    """The same of the lengths of arcs, whole numbers: Dijkstra's algorithm."""
    distance[:] = -1
    distance[source], queue[0] = 0, source
    settled, tail = 0, 1
    while settled < tail:
        near = settled
        for k in range(settled + 1, tail):
            if distance[queue[k]] < distance[queue[near]]:
                near = k
        queue[settled], queue[near] = queue[near], queue[settled]
        v = queue[settled]
        settled += 1
        for a in range(starts[base + v], starts[base + v + 1]):
            through, u = distance[v] + lengths[a], ends[a]
            if distance[u] < 0:
                queue[tail] = u
                tail += 1
            if distance[u] < 0 or through < distance[u]:
                distance[u] = through
    return tail


@compiling.jit
def shortest_paths(offsets, labels, starts, ends, directed, lengths, unit, out_codes, out_values, out_lengths):  # type: ignore[no-untyped-def]
    """For each pair of vertices that are joined: a code of both labels and of their distance in whole units; counted.

    The distance is the number of edges, or the least sum of ``lengths`` of arcs, where there are any.
    """
    largest = 0
    for g in range(len(offsets) - 1):
        largest = max(largest, offsets[g + 1] - offsets[g])
    distance, queue, codes = np.empty(largest, np.int64), np.empty(largest, np.int64), np.empty(largest, np.uint64)
    room = 16
    while room < 2 * largest * largest and room < 2**22:
        room *= 2
    slots, end = np.full(room, -1, np.int64), 0
    for g in range(len(offsets) - 1):
        begin, base, n = end, offsets[g], offsets[g + 1] - offsets[g]
        for u in range(n):
            if len(lengths):
                tail = measured(u, base, starts, ends, lengths, distance[:n], queue)
            else:
                tail = searched(u, base, starts, ends, distance[:n], queue)
            found = 0
            for k in range(1, tail):
                v = queue[k]
                if directed[g] or v > u:
                    apart = distance[v] // unit
                    codes[found] = pair_code(labels[base + u], labels[base + v], apart, directed[g])
                    found += 1
            if 2 * (end - begin + found) > len(slots):
                slots = _wider(slots, out_codes, begin, end, found)
            end = _gathered(codes, found, slots, out_codes, out_values, begin, end)
        out_lengths[g] = end - begin
    return end


@compiling.jit
def _gathered(codes, count, slots, out_codes, out_values, begin, end):  # type: ignore[no-untyped-def]
    """``gather`` that goes on with the codes from ``begin`` to ``end``."""
    mask = np.uint64(len(slots) - 1)
    for n in range(count):
        h = codes[n] & mask
        while slots[h] >= begin and out_codes[slots[h]] != codes[n]:
            h = (h + np.uint64(1)) & mask
        if slots[h] >= begin:
            out_values[slots[h]] += 1.0
        else:
            slots[h], out_codes[end], out_values[end] = end, codes[n], 1.0
            end += 1
    return end


@compiling.jit
def _wider(slots, codes, begin, end, more):  # type: ignore[no-untyped-def]
    """A table for so many more codes, with those from ``begin`` to ``end`` in it."""
    room = len(slots)
    while room < 4 * (end - begin + more):
        room *= 2
    wider, mask = np.full(room, -1, np.int64), np.uint64(room - 1)
    for k in range(begin, end):
        h = codes[k] & mask
        while wider[h] >= 0:
            h = (h + np.uint64(1)) & mask
        wider[h] = k
    return wider


# ---------------------------------------------------------------------------------------------------------------------
# Simple paths
# ---------------------------------------------------------------------------------------------------------------------

GRAPH, ROOT, DEPTH, BEGIN, END, FRESH = 0, 1, 2, 3, 4, 5  # places in the state


@compiling.jit
def paths(  # type: ignore[no-untyped-def]
    offsets, labels, starts, ends, marks, directed, length, counting, steps, state, walk, visited, hashes, slots,
    codes, values, lengths,
):  # fmt: skip
    """Depth first from each vertex, without one twice, up to ``length`` edges; a path read backwards is the same in an
    undirected graph.

    ``walk[d]`` is the vertex after d edges and the arc to try next; ``hashes[d]`` the code of the labels so far,
    forwards and backwards. Does about ``steps`` steps; returns the table and the arrays of codes and values, which may
    have grown. Done when ``state[GRAPH]`` is past the last graph.
    """
    powers = np.empty(2 * length + 3, np.uint64)
    powers[0] = np.uint64(1)
    for k in range(1, len(powers)):
        powers[k] = powers[k - 1] * _A
    while state[GRAPH] < len(offsets) - 1 and steps > 0:
        g = state[GRAPH]
        base, n = offsets[g], offsets[g + 1] - offsets[g]
        while state[ROOT] < n and steps > 0:
            root, d = state[ROOT], state[DEPTH]
            if d < 0:  # a new root
                walk[0, 0], walk[0, 1] = root, starts[base + root]
                hashes[0, 0] = hashes[0, 1] = labels[base + root]
                visited[root], d = True, 0
                if state[END] == len(codes):
                    codes, values = _longer(codes, values)
                slots = _emit(_mix(hashes[0, 0]), counting, slots, codes, values, state)
            while d >= 0 and steps > 0:
                steps -= 1
                v = base + walk[d, 0]
                if d == length or walk[d, 1] == starts[v + 1]:
                    visited[walk[d, 0]] = False
                    d -= 1
                    continue
                a = walk[d, 1]
                walk[d, 1] += 1
                u = ends[a]
                if visited[u]:
                    continue
                edge, label = _mix(marks[a] * _B), labels[base + u]
                hashes[d + 1, 0] = (hashes[d, 0] * _A + edge) * _A + label
                hashes[d + 1, 1] = hashes[d, 1] + edge * powers[2 * d + 1] + label * powers[2 * d + 2]
                d += 1
                walk[d, 0], walk[d, 1] = u, starts[base + u]
                visited[u] = True
                if directed[g] or root < u:
                    if state[END] == len(codes):
                        codes, values = _longer(codes, values)
                    h = hashes[d, 0] if directed[g] else min(hashes[d, 0], hashes[d, 1])
                    slots = _emit(_mix(h + np.uint64(2 * d + directed[g])), counting, slots, codes, values, state)
            state[DEPTH] = d
            if d < 0:
                state[ROOT] += 1
        if state[ROOT] == n:
            lengths[g] = state[END] - state[BEGIN]
            state[GRAPH], state[ROOT], state[DEPTH], state[BEGIN] = g + 1, 0, -1, state[END]
    return slots, codes, values


@compiling.jit
def _longer(codes, values):  # type: ignore[no-untyped-def]
    more_codes, more_values = np.empty(2 * len(codes), np.uint64), np.empty(2 * len(codes))
    more_codes[: len(codes)], more_values[: len(codes)] = codes, values
    return more_codes, more_values


@compiling.jit
def _emit(code, counting, slots, codes, values, state):  # type: ignore[no-untyped-def]
    begin, end = state[BEGIN], state[END]
    if 2 * (end - begin) >= len(slots):
        slots = _wider(slots, codes, begin, end, 1)
    mask = np.uint64(len(slots) - 1)
    h = code & mask
    while slots[h] >= begin and codes[slots[h]] != code:
        h = (h + np.uint64(1)) & mask
    if slots[h] >= begin:
        if counting:
            values[slots[h]] += 1.0
    else:
        slots[h], codes[end], values[end] = end, code, 1.0
        state[END] = end + 1
    return slots


# ---------------------------------------------------------------------------------------------------------------------
# Connected subgraphs
# ---------------------------------------------------------------------------------------------------------------------


@compiling.jit
def subgraphs(offsets, labels, starts, ends, marks, joined_starts, joined, directed, least, most, induced, steps, state, places, slots, codes, values, lengths):  # type: ignore[no-untyped-def]  # noqa: E501  # fmt: skip
    """The connected sets of ``least`` … ``most`` vertices, each once (Wernicke's ESU), counted by a code of the
    subgraph they carry.

    ``joined`` are the neighbours in either direction. With ``induced`` a set carries one subgraph, else one for each
    connected choice of its edges. ``places`` is the state of the search: for each vertex since when it is near, and its
    place in the set; for each size the vertices to add; how many these are; the set.
    """
    near, place = places[0], places[1]
    names, arcs, work = np.empty(most, np.uint64), np.zeros((most, most), np.uint64), np.zeros((most, most), np.uint64)
    extension, counts, chosen = places[2 : 2 + most], places[2 + most], places[3 + most]
    while state[GRAPH] < len(offsets) - 1 and steps > 0:
        g = state[GRAPH]
        base, n = offsets[g], offsets[g + 1] - offsets[g]
        while state[ROOT] < n and steps > 0:
            root, size, fresh = state[ROOT], state[DEPTH], state[FRESH] == 1
            if size < 0:  # a new root
                _start(root, base, joined_starts, joined, near, extension, counts)
                chosen[0], size, fresh = root, 1, True
                place[root] = 0
            while size > 0 and steps > 0:
                steps -= 1
                if fresh and size >= least:
                    _carried(chosen, size, base, labels, starts, ends, marks, place, names, arcs)
                    slots, codes, values = _note(
                        size, names, arcs, work, directed[g], induced, slots, codes, values, state
                    )
                if size == most or counts[size - 1] == 0:
                    last = chosen[size - 1]
                    place[last] = -1
                    for k in range(joined_starts[base + last], joined_starts[base + last + 1]):
                        if near[joined[k]] == size:
                            near[joined[k]] = 0
                    size -= 1
                    fresh = False
                    if size == 0:
                        near[root] = 0
                    continue
                counts[size - 1] -= 1
                w = extension[size - 1, counts[size - 1]]
                for k in range(counts[size - 1]):
                    extension[size, k] = extension[size - 1, k]
                counts[size] = counts[size - 1]
                chosen[size], place[w] = w, size
                size += 1
                fresh = True
                for k in range(joined_starts[base + w], joined_starts[base + w + 1]):
                    u = joined[k]
                    if near[u] == 0 and u > root:
                        near[u] = size
                        extension[size - 1, counts[size - 1]] = u
                        counts[size - 1] += 1
            state[DEPTH], state[FRESH] = size, int(fresh)
            if size == 0:
                state[ROOT], state[DEPTH] = root + 1, -1
        if state[ROOT] == n:
            lengths[g] = state[END] - state[BEGIN]
            state[GRAPH], state[ROOT], state[BEGIN] = g + 1, 0, state[END]
    return slots, codes, values


@compiling.jit
def _start(root, base, starts, ends, near, extension, counts):  # type: ignore[no-untyped-def]
    near[root], counts[0] = 1, 0
    for k in range(starts[base + root], starts[base + root + 1]):
        u = ends[k]
        if u > root and near[u] == 0:
            near[u] = 1
            extension[0, counts[0]] = u
            counts[0] += 1


@compiling.jit
def _carried(chosen, size, base, labels, starts, ends, marks, place, names, arcs):  # type: ignore[no-untyped-def]
    """Labels of the chosen vertices, and codes of the arcs between them, 0 where there is none."""
    for i in range(size):
        v = base + chosen[i]
        names[i] = labels[v]
        for j in range(size):
            arcs[i, j] = np.uint64(0)
        for a in range(starts[v], starts[v + 1]):
            j = place[ends[a]]
            if j >= 0:
                arcs[i, j] = _mix(marks[a] + _C) | np.uint64(1)


@compiling.jit
def _note(size, names, arcs, work, directed, induced, slots, codes, values, state):  # type: ignore[no-untyped-def]
    if induced:
        if state[END] == len(codes):
            codes, values = _longer(codes, values)
        slots = _emit(_canonical(size, names, arcs, directed), True, slots, codes, values, state)
        return slots, codes, values
    rows, columns, edges = np.empty(size * size, np.int64), np.empty(size * size, np.int64), 0
    for i in range(size):
        for j in range(0 if directed else i, size):
            if arcs[i, j] != 0:
                rows[edges], columns[edges] = i, j
                edges += 1
    for subset in range(1 << edges):
        work[:size, :size] = 0
        reach = np.zeros(size, np.int64)
        for i in range(size):
            reach[i] = 1 << i
        for e in range(edges):
            if subset >> e & 1:
                i, j = rows[e], columns[e]
                work[i, j] = arcs[i, j]
                if not directed:
                    work[j, i] = arcs[j, i]
                reach[i] |= 1 << j
                reach[j] |= 1 << i
        connected = 1
        for _ in range(size):
            for i in range(size):
                if connected >> i & 1:
                    connected |= reach[i]
        if connected == (1 << size) - 1:
            if state[END] == len(codes):
                codes, values = _longer(codes, values)
            slots = _emit(_canonical(size, names, work, directed), True, slots, codes, values, state)
    return slots, codes, values


@compiling.jit
def _canonical(size, names, arcs, directed):  # type: ignore[no-untyped-def]
    """A code that subgraphs share if and only if they are isomorphic (but for 64-bit chance).

    Refined labels tell undirected graphs of up to five vertices apart. Else they order the vertices, and the least code
    of all orders of equals counts.
    """
    colours, fresh = np.empty(size, np.uint64), np.empty(size, np.uint64)
    for i in range(size):
        colours[i] = _mix(names[i] * _A + arcs[i, i])
    for _ in range(size - 1):
        for i in range(size):
            total = colours[i] * _C
            for j in range(size):
                if j != i and (arcs[i, j] != 0 or arcs[j, i] != 0):
                    total += _mix(colours[j] * _A + arcs[i, j] * _B + arcs[j, i])
            fresh[i] = _mix(total)
        colours, fresh = fresh, colours
    if size == 1 or (size <= 5 and not directed):
        total = np.uint64(size)
        for i in range(size):
            total += _mix(colours[i])
        return _mix(total)
    order = np.argsort(colours)
    best, last = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0)
    position = np.zeros(size, np.int64)  # the permutation as choices among those left, place by place
    used = np.zeros(size, np.bool_)
    permuted = np.empty(size, np.int64)
    depth = 0
    position[0] = -1
    while depth >= 0:
        if position[depth] >= 0 and position[depth] < size:
            used[order[position[depth]]] = False
        position[depth] += 1
        while position[depth] < size and (
            used[order[position[depth]]] or colours[order[position[depth]]] != colours[order[depth]]
        ):
            position[depth] += 1
        if position[depth] == size:
            depth -= 1
            continue
        permuted[depth] = order[position[depth]]
        used[permuted[depth]] = True
        if depth < size - 1:
            depth += 1
            position[depth] = -1
            continue
        last = np.uint64(size)
        for i in range(size):
            last = _mix(last * _A + colours[permuted[i]])
            for j in range(size):
                last = _mix(last * _B + arcs[permuted[i], permuted[j]])
        best = min(best, last)
    return best


@compiling.jit
def means(offsets, starts, ends, values):  # type: ignore[no-untyped-def]
    """For each vertex the mean of its neighbours' whole numbers, rounded down; its own where it has none."""
    out = values.copy()
    for g in range(len(offsets) - 1):
        base = offsets[g]
        for v in range(base, offsets[g + 1]):
            degree = starts[v + 1] - starts[v]
            if degree:
                total = 0
                for a in range(starts[v], starts[v + 1]):
                    total += values[base + ends[a]]
                out[v] = total // degree
    return out


@compiling.jit
def mean_rows(offsets, starts, ends, rows):  # type: ignore[no-untyped-def]
    """For each vertex the mean of its neighbours' rows of numbers; its own where it has none."""
    out = rows.copy()
    for g in range(len(offsets) - 1):
        base = offsets[g]
        for v in range(base, offsets[g + 1]):
            degree = starts[v + 1] - starts[v]
            if degree:
                out[v] = 0.0
                for a in range(starts[v], starts[v + 1]):
                    out[v] += rows[base + ends[a]]
                out[v] /= degree
    return out
