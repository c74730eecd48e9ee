"""Words with mismatches, by tables over all words: what is within so many differences is found one place at a time.

Let P_d(u) count the words of a sequence at distance d from u in the places seen so far. A further place takes P_d(u) to
P_d(u) + Σ over the other letters there of P_{d−1}: sums over one axis of the table.
"""

import numpy as np

from mercer.native.cells import longest
from mercer.native.lanes import FLOATS
from mercer.runtime import compiling

_INNER = 1024  # words of a part of the table that stays in cache


@compiling.jit
def word_numbers(x, letters, k, numbers):  # type: ignore[no-untyped-def]
    """The words of x, of letters 1 …, as numbers in base ``letters``; those with the letter 0 are left out. Returns how
    many.
    """
    size = letters**k
    number, since, found = 0, 0, 0
    for i in range(len(x)):
        since = 0 if x[i] == 0 else since + 1
        number = number * letters + max(0, np.int64(x[i]) - 1)
        if i >= k:
            number -= size * max(0, np.int64(x[i - k]) - 1)
        if since >= k:
            numbers[found] = number
            found += 1
    return found


@compiling.jit
def spread(P, begin, end, stride, letters):  # type: ignore[no-untyped-def]
    """One more place, of the given stride, for the words begin … end: P is distances × words × lanes."""
    block, lanes = stride * letters, P.shape[2]
    total = np.empty(lanes)
    for first in range(begin, end, block):
        for d in range(len(P) - 1, 0, -1):
            for s in range(first, first + stride):
                total[:] = 0.0
                for t in range(letters):
                    nearer = P[d - 1, s + t * stride]
                    for lane in range(lanes):
                        total[lane] += nearer[lane]
                for t in range(letters):
                    nearer, here = P[d - 1, s + t * stride], P[d, s + t * stride]
                    for lane in range(lanes):
                        here[lane] += total[lane] - nearer[lane]


@compiling.jit
def spread_all(P, letters):  # type: ignore[no-untyped-def]
    """All places: the last ones part by part, while they are in cache, then the others."""
    size = P.shape[1]
    if letters == 1:  # there are no other letters
        return
    inner = 1
    while inner * letters <= min(_INNER, size):
        inner *= letters
    for begin in range(0, size, inner):
        stride = 1
        while stride < inner:
            spread(P, begin, begin + inner, stride, letters)
            stride *= letters
    stride = inner
    while stride < size:
        spread(P, 0, size, stride, letters)
        stride *= letters


@compiling.jit
def neighbourhoods(values, offsets, letters, k, m, out):  # type: ignore[no-untyped-def]
    """out[r, u] = the number of words of row r within m differences of u; FLOATS rows at a time."""
    P = np.zeros((m + 1, out.shape[1], min(FLOATS, len(out))))
    numbers = np.empty(longest(offsets) + 1, np.int64)
    for first in range(0, len(offsets) - 1, FLOATS):
        P[:] = 0.0
        rows = min(FLOATS, len(offsets) - 1 - first)
        for lane in range(rows):
            r = first + lane
            count = word_numbers(values[offsets[r] : offsets[r + 1]], letters, k, numbers)
            for n in range(count):
                P[0, numbers[n], lane] += 1.0
        spread_all(P, letters)
        for d in range(1, m + 1):
            P[0] += P[d]
        for lane in range(rows):
            out[first + lane] = P[0, :, lane]


@compiling.jit
def table(packed, letters, k, weights):  # type: ignore[no-untyped-def]
    """[u, lane]: Σ over the words of the sequence in the lane of weights[its distance from u]; farther words do not
    count.
    """
    P = np.zeros((len(weights), letters**k, FLOATS))
    numbers = np.empty(len(packed) + 1, np.int64)
    for lane in range(FLOATS):
        count = word_numbers(packed[:, lane].copy(), letters, k, numbers)
        for n in range(count):
            P[0, numbers[n], lane] += 1.0
    spread_all(P, letters)
    for u in range(P.shape[1]):
        for lane in range(FLOATS):
            P[0, u, lane] *= weights[0]
        for d in range(1, len(weights)):
            for lane in range(FLOATS):
                P[0, u, lane] += weights[d] * P[d, u, lane]
    return P[0].copy()


@compiling.jit
def table_sums(values, offsets, rows, table, letters, k, out):  # type: ignore[no-untyped-def]
    """out[r, lane] = Σ over the words of the row of table[word, lane]."""
    longest = 0
    for r in range(len(rows)):
        longest = max(longest, offsets[rows[r] + 1] - offsets[rows[r]])
    numbers = np.empty(longest + 1, np.int64)
    for r in range(len(rows)):
        count = word_numbers(values[offsets[rows[r]] : offsets[rows[r] + 1]], letters, k, numbers)
        for n in range(count):
            for lane in range(FLOATS):
                out[r, lane] += table[numbers[n], lane]


@compiling.jit
def near_sums(values, offsets, rows, packed, letters, k, weights, out):  # type: ignore[no-untyped-def]
    """The same for distances up to two: the words near each word of a lane are listed, which costs less than sums over
    axes.
    """
    size = letters**k
    near = np.empty(size)
    longest = len(packed)
    for r in range(len(rows)):
        longest = max(longest, offsets[rows[r] + 1] - offsets[rows[r]])
    numbers = np.empty(longest + 1, np.int64)
    found, begin = np.empty(offsets[-1] + 1, np.int64), np.zeros(len(rows) + 1, np.int64)
    for r in range(len(rows)):
        count = word_numbers(values[offsets[rows[r]] : offsets[rows[r] + 1]], letters, k, numbers)
        found[begin[r] : begin[r] + count] = numbers[:count]
        begin[r + 1] = begin[r] + count
    for lane in range(packed.shape[1]):
        near[:] = 0.0
        count = word_numbers(packed[:, lane].copy(), letters, k, numbers)
        for n in range(count):
            word = numbers[n]
            near[word] += weights[0]
            step = 1
            for _ in range(k):
                own = (word // step) % letters
                for a in range(letters):
                    if a != own:
                        one = word + (a - own) * step
                        near[one] += weights[1]
                        further = step * letters
                        while len(weights) > 2 and further < size:
                            other = (word // further) % letters
                            for b in range(letters):
                                if b != other:
                                    near[one + (b - other) * further] += weights[2]
                            further *= letters
                step *= letters
        for r in range(len(rows)):
            total = 0.0
            for n in range(begin[r], begin[r + 1]):
                total += near[found[n]]
            out[r, lane] = total
