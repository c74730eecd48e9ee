"""All common substrings of two sequences, by the suffix automaton of one: linear in both lengths.

A state of the automaton of x stands for the substrings that end at the same places; their lengths are those above its
link's, up to its own. Reading z, the automaton is always at the longest suffix of what was read that occurs in x: what
ends here are that suffix and its suffixes, and their weighted numbers of occurrences are a sum along the links, kept in
each state.
"""

import numpy as np

from mercer.native.scaled import UNIT, in_range, plus
from mercer.runtime import compiling

_DOWN = 2.0**-UNIT


@compiling.jit
def automaton(x, letters, root, first, following, symbol, target, length, link, count):  # type: ignore[no-untyped-def]
    """The suffix automaton of x, of letters 1 … ``letters``; the letter 0 starts anew. Returns the number of states and
    of edges.

    ``root[c]`` is the state after c from the start; the edges of other states are lists that begin at ``first``.
    ``count`` becomes the number of places where a state's substrings end.
    """
    states, edges, last = 1, 0, 0
    root[:] = -1
    length[0], link[0], count[0], first[0] = 0, -1, 0.0, -1
    for i in range(len(x)):
        c = x[i]
        if c == 0:
            last = 0
            continue
        known = follow(last, c, root, first, following, symbol, target)
        if known >= 0 and length[known] == length[last] + 1:  # only after the letter 0: the substring is there already
            last = known
            count[last] += 1.0
            continue
        p, new = last, states
        states += 1
        if known >= 0:  # likewise, but in a state of longer substrings as well
            clone = new
            edges = _clone(clone, known, length[p] + 1, first, following, symbol, target, edges, length, link)
            count[clone] = 1.0
            while p >= 0 and follow(p, c, root, first, following, symbol, target) == known:
                edges = connect(p, c, clone, root, first, following, symbol, target, edges)
                p = link[p]
            link[known] = clone
            last = clone
            continue
        length[new], count[new], first[new] = length[last] + 1, 1.0, -1
        while p >= 0 and follow(p, c, root, first, following, symbol, target) < 0:
            edges = connect(p, c, new, root, first, following, symbol, target, edges)
            p = link[p]
        if p < 0:
            link[new] = 0
        else:
            q = follow(p, c, root, first, following, symbol, target)
            if length[q] == length[p] + 1:
                link[new] = q
            else:
                clone = states
                states += 1
                edges = _clone(clone, q, length[p] + 1, first, following, symbol, target, edges, length, link)
                count[clone] = 0.0
                while p >= 0 and follow(p, c, root, first, following, symbol, target) == q:
                    edges = connect(p, c, clone, root, first, following, symbol, target, edges)
                    p = link[p]
                link[q] = link[new] = clone
        last = new
    order = by_length(length, states)
    for k in range(states - 1, 0, -1):
        count[link[order[k]]] += count[order[k]]
    return states


@compiling.jit
def _clone(clone, of, size, first, following, symbol, target, edges, length, link):  # type: ignore[no-untyped-def]
    """A state with the edges and the link of another, for its substrings of at most ``size`` letters."""
    length[clone], link[clone], first[clone] = size, link[of], -1
    e = first[of]
    while e >= 0:
        symbol[edges], target[edges], following[edges] = symbol[e], target[e], first[clone]
        first[clone] = edges
        edges += 1
        e = following[e]
    return edges


@compiling.jit
def follow(state, c, root, first, following, symbol, target):  # type: ignore[no-untyped-def]
    """The state after c, −1 if there is none."""
    if state == 0:
        return root[c]
    e = first[state]
    while e >= 0 and symbol[e] != c:
        e = following[e]
    return target[e] if e >= 0 else np.int64(-1)


@compiling.jit
def connect(state, c, to, root, first, following, symbol, target, edges):  # type: ignore[no-untyped-def]
    if state == 0:
        root[c] = to
        return edges
    e = first[state]
    while e >= 0 and symbol[e] != c:
        e = following[e]
    if e >= 0:
        target[e] = to
        return edges
    symbol[edges], target[edges], following[edges] = c, to, first[state]
    first[state] = edges
    return edges + 1


@compiling.jit
def by_length(length, states):  # type: ignore[no-untyped-def]
    """The states in the order of their lengths, by counting."""
    longest = 0
    for s in range(states):
        longest = max(longest, length[s])
    begin = np.zeros(longest + 2, np.int64)
    for s in range(states):
        begin[length[s] + 1] += 1
    for n in range(longest + 1):
        begin[n + 1] += begin[n]
    order = np.empty(states, np.int64)
    for s in range(states):
        order[begin[length[s]]] = s
        begin[length[s]] += 1
    return order


@compiling.jit
def cumulated(decay, count, longest):  # type: ignore[no-untyped-def]
    """Σ_{l ≤ n} decay^l for n = 0 … count, up to ``longest`` letters, as m·2^(512 e)."""
    sums, units = np.zeros(count + 1), np.zeros(count + 1, np.int64)
    m, e, total, unit = 1.0, 0, 0.0, 0
    for n in range(1, count + 1):
        if n <= longest:
            m, e = in_range(m * decay, e)
            total, unit = plus(total, unit, m, e)
        sums[n], units[n] = total, unit
    return sums, units


@compiling.jit
def between(sums, units, n, m):  # type: ignore[no-untyped-def]
    """Σ_{m < l ≤ n} of the weights."""
    if units[n] == units[m]:
        return sums[n] - sums[m], units[n]
    return sums[n] - (sums[m] * _DOWN if units[n] == units[m] + 1 else 0.0), units[n]


@compiling.jit
def substrings(values, offsets, rows, others, other_offsets, columns, letters, sums, units, out, powers):  # type: ignore[no-untyped-def]
    """out[r, c]·2^powers[r, c] = Σ over substrings u of w(|u|)·occurrences in x·occurrences in z, for rows × columns.

    ``sums[n]``·2^(512 ``units[n]``) = Σ_{l ≤ n} w(l).
    """
    longest = 0
    for r in range(len(rows)):
        longest = max(longest, offsets[rows[r] + 1] - offsets[rows[r]])
    size = 2 * longest + 2
    root = np.empty(letters + 1, np.int64)
    first, length, link = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    following, symbol, target = np.empty(4 * size, np.int64), np.empty(4 * size, np.int64), np.empty(4 * size, np.int64)
    count, below, level = np.empty(size), np.empty(size), np.empty(size, np.int64)
    for r in range(len(rows)):
        x = values[offsets[rows[r]] : offsets[rows[r] + 1]]
        states = automaton(x, letters, root, first, following, symbol, target, length, link, count)
        order = by_length(length, states)
        below[0], level[0] = 0.0, 0
        for k in range(1, states):  # the weights of all suffixes of the longest substring of a state
            s = order[k]
            own, unit = between(sums, units, length[s], length[link[s]])
            own, unit = in_range(count[s] * own, unit)
            below[s], level[s] = plus(below[link[s]], level[link[s]], own, unit)
        for c in range(len(columns)):
            total, high, state, reached = 0.0, 0, 0, 0
            for j in range(other_offsets[columns[c]], other_offsets[columns[c] + 1]):
                letter = others[j]
                if letter == 0:
                    state, reached = 0, 0
                    continue
                found = follow(state, letter, root, first, following, symbol, target)
                while found < 0 and state > 0:
                    state = link[state]
                    reached = length[state]
                    found = follow(state, letter, root, first, following, symbol, target)
                if found < 0:
                    continue
                state, reached = found, reached + 1
                up = link[state]
                own, unit = between(sums, units, reached, length[up])
                own, unit = in_range(count[state] * own, unit)
                own, unit = plus(below[up], level[up], own, unit)
                total, high = plus(total, high, own, unit)
            out[r, c], powers[r, c] = total, UNIT * high
