"""Gap-weighted subsequences (Lodhi et al. 2002): the dynamic programme in lanes, and the features themselves where the
alphabet is small.
"""

import numpy as np

from mercer.native.lanes import FLOATS, STEPS, subsequence_end, subsequence_step
from mercer.native.scaled import in_range, plus
from mercer.runtime import compiling

_CACHED = 24 * 1024  # bytes of columns that stay in the first cache while all places of a row go over them


@compiling.jit
def subsequences(values, offsets, rows, begin, end, letters, length, decay, K, total, out):  # type: ignore[no-untyped-def]
    """out[r, lane] = Σ over subsequences u of ``length`` letters of Σ λ^(spans in x and z), for some rows and the
    sequences in the lanes.

    ``letters`` is places × lanes, with at least four places of the letter 0 at the end. O(length·|x||z|). Places begin
    … end of the rows; ``K``, the K′_l(i, ·) for l = 0 … length − 1, and ``total`` are kept from one call to the next.
    """
    places, most = len(letters) - STEPS, max(1, end - begin)
    columns = max(STEPS, _CACHED // ((length + 1) * FLOATS * 8) // STEPS * STEPS)
    # K′_l(i − 1, ·) and K″_l(i, ·) at the last place of the columns before, for each place i of a row
    edge, carried = np.empty((most, length, FLOATS)), np.empty((most, length, FLOATS))
    last = np.empty((length, FLOATS))
    Z, T = letters.ctypes.data, total.ctypes.data
    for r in range(len(rows)):
        x = values[offsets[rows[r]] : offsets[rows[r] + 1]]
        if begin == 0:
            K[0] = 1.0
            K[1:] = 0.0
            total[:] = 0.0
        count = min(end, len(x)) - begin
        edge[:], carried[:] = K[:, 0], 0.0
        for first in range(0, places, columns):
            beyond = min(first + columns, places)
            last[:] = K[:, first]
            for i in range(count):
                letter = float(x[begin + i]) if x[begin + i] != 0 else -1.0
                for level in range(length):
                    for lane in range(FLOATS):
                        K[level, first, lane] = edge[i, level, lane]
                        edge[i, level, lane] = K[level, beyond, lane]
                for j in range(first, beyond, STEPS):
                    subsequence_end(Z, j, letter, K[length - 1].ctypes.data, T)
                for level in range(length - 1, 0, -1):  # from above: each reads the level below as it was for i − 1
                    below, above, C = K[level - 1].ctypes.data, K[level].ctypes.data, carried[i, level].ctypes.data
                    for j in range(first, beyond, STEPS):
                        subsequence_step(Z, j, letter, below, above, C, decay)
            K[:, first] = last
        for lane in range(FLOATS):
            out[r, lane] = decay * decay * total[lane]


@compiling.jit
def features(values, offsets, letters, length, decay, out):  # type: ignore[no-untyped-def]
    """out[r, u] = Σ over occurrences of u in x of λ^span, for all words u of ``length`` of the letters 0 … letters − 1.

    One pass: state[v] is Σ λ^(places from its first letter to here) over the occurrences of v so far; a letter appends
    itself to all of them. O(|x|·letters^(length − 1)). Words are numbered with the last letter first, so that what a
    letter appends to lies together.
    """
    sizes = np.empty(length + 1, np.int64)
    sizes[0] = 1
    for n in range(length):
        sizes[n + 1] = sizes[n] * letters
    begin = np.zeros(length + 1, np.int64)
    for n in range(length):
        begin[n + 1] = begin[n] + sizes[n]
    state = np.zeros(begin[length])  # words of 0 … length − 1 letters
    for r in range(len(offsets) - 1):
        state[:] = 0.0
        state[0] = 1.0
        word = out[r]
        word[:] = 0.0
        for i in range(offsets[r], offsets[r + 1]):
            c = values[i]
            for s in range(1, begin[length]):
                state[s] *= decay
            if c < 0:
                continue
            top, full = begin[length - 1], sizes[length - 1]
            for v in range(full):
                word[c * full + v] += state[top + v] if length > 1 else decay
            for n in range(length - 1, 0, -1):
                below, above = begin[n - 1], begin[n] + c * sizes[n - 1]
                for v in range(sizes[n - 1]):
                    state[above + v] += state[below + v] if n > 1 else decay


@compiling.jit
def with_exponents(x, z, length, decay):  # type: ignore[no-untyped-def]
    """The same sum for two sequences, as m·2^(512 e), by the recurrences of ``subsequences``: for numbers that no float
    could hold.
    """
    n = len(z)
    # K′_l(i, ·), row 0 standing before the first letter
    K, E = np.zeros((length, n + 1)), np.zeros((length, n + 1), np.int64)
    K[0] = 1.0
    total, high = 0.0, 0
    for i in range(len(x)):
        letter = x[i]
        for j in range(length - 1, n):
            if z[j] == letter and letter != 0:
                total, high = plus(total, high, K[length - 1, j], E[length - 1, j])
        for level in range(min(length - 1, i + 1), 0, -1):  # shorter beginnings have no such subsequences
            m, e = 0.0, 0
            for j in range(level - 1, n):
                m, e = in_range(decay * m, e)
                if z[j] == letter and letter != 0:
                    met, unit = in_range(K[level - 1, j] * decay, E[level - 1, j])
                    met, unit = in_range(met * decay, unit)
                    m, e = plus(m, e, met, unit)
                old, unit = in_range(decay * K[level, j + 1], E[level, j + 1])
                K[level, j + 1], E[level, j + 1] = plus(old, unit, m, e)
    total, high = in_range(decay * total, high)
    return in_range(decay * total, high)
