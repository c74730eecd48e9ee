"""Words that are probable at some place of a profile, by a search that leaves a beginning as soon as no word with it
can be.
"""

import numpy as np

from mercer.runtime import compiling


@compiling.jit
def words_at(costs, order, i, k, threshold, rest, choice, spent, most, out, found):  # type: ignore[no-untyped-def]
    """The words of k letters with Σ costs[i + p, letter p] < threshold, by their number in base a, behind ``found`` in
    ``out``, for which there need be no room if it is empty; returns where they end, or where ``most`` do.

    ``order`` has the letters of each place from the cheapest; ``rest``, ``choice`` and ``spent`` are room.
    """
    a = costs.shape[1]
    rest[k] = 0.0
    for p in range(k - 1, -1, -1):
        rest[p] = rest[p + 1] + costs[i + p, order[i + p, 0]]
    if not rest[0] < threshold:
        return found
    depth, choice[0], spent[0] = 0, 0, 0.0
    number = np.uint64(0)
    base = np.uint64(a)
    end = found + most
    while depth >= 0 and found < end:
        place = i + depth
        if choice[depth] == a:
            depth, number = depth - 1, number // base
            continue
        letter = order[place, choice[depth]]
        cost = spent[depth] + costs[place, letter]
        if not cost + rest[depth + 1] < threshold:  # nor for any letter after it
            depth, number = depth - 1, number // base
            continue
        choice[depth] += 1
        if depth == k - 1:
            if len(out):
                out[found] = number * base + np.uint64(letter)
            found += 1
        else:
            number = number * base + np.uint64(letter)
            depth += 1
            choice[depth], spent[depth] = 0, cost
    return found


@compiling.jit
def words_from(costs, order, whole, first, k, threshold, most, counts):  # type: ignore[no-untyped-def]
    """counts[i] = how many words the window that begins at first + i has, at most ``most``; 0 where it is not whole."""
    rest, spent, choice, out = np.empty(k + 1), np.empty(k), np.empty(k, np.int64), np.empty(0, np.uint64)
    for i in range(len(counts)):
        if whole[first + i]:
            counts[i] = words_at(costs, order, first + i, k, threshold, rest, choice, spent, most, out, 0)


@compiling.jit
def words_of(costs, order, offsets, k, threshold, starts, most, out, counts):  # type: ignore[no-untyped-def]
    """counts[r] = how many words the windows of row r have together; they stand in ``out`` from starts[r]."""
    rest, spent, choice = np.empty(k + 1), np.empty(k), np.empty(k, np.int64)
    for r in range(len(offsets) - 1):
        found = starts[r]
        for i in range(offsets[r], offsets[r + 1] - k + 1):
            found = words_at(costs, order, i, k, threshold, rest, choice, spent, most, out, found)
        counts[r] = found - starts[r]


@compiling.jit
def tallied(words, starts, counts, codes, values, lengths):  # type: ignore[no-untyped-def]
    """The distinct words of each row, in order, and how often they are there; returns how many in all."""
    end = 0
    for r in range(len(counts)):
        begin = end
        own = np.sort(words[starts[r] : starts[r] + counts[r]])
        for n in range(len(own)):
            if n and own[n] == own[n - 1]:
                values[end - 1] += 1.0
            else:
                codes[end], values[end] = own[n], 1.0
                end += 1
        lengths[r] = end - begin
    return end
