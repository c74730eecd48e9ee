"""Windows of one sequence compared with those of 64 others: how many pairs agree in so many places."""

import numpy as np

from mercer.native.lanes import BYTES, STEPS, UNROLLED, add_matches, count, count_valid, roll, runs, weigh
from mercer.runtime import compiling

_LARGEST = 31 * UNROLLED  # steps after which a byte could overflow
_HALVES = 256  # steps after which 16 bits could, by bytes
_LONGEST = 2**16  # steps after which 32 bits could


@compiling.jit
def window_sums(  # type: ignore[no-untyped-def]
    values, offsets, rows, begin, end, letters, valid, width, exclude_unknown, least, weights, matches, totals, out
):
    """out[r, lane] = Σ over pairs of windows of weights[number of equal places − least], for some rows and 64
    sequences.

    ``letters`` is places × 64, ``valid`` tells for each place whether a window begins there. The letter 0 equals
    nothing; with ``exclude_unknown``, windows that contain it do not count. The matches of window i with all windows j
    follow from those of i − 1 with j − 1; each number of matches that has a weight is then counted over j. Places begin
    … end of the rows; ``matches`` and ``totals`` are kept from one call to the next.
    """
    places = len(valid)
    clear = 0  # places where windows begin in all lanes
    while clear < places and valid[clear].min() > 0:
        clear += 1
    clear -= clear % UNROLLED
    counts = np.zeros(BYTES, np.uint8)
    M, Z, C, V = matches.ctypes.data, letters.ctypes.data, counts.ctypes.data, valid.ctypes.data
    for r in range(len(rows)):
        x = values[offsets[rows[r]] : offsets[rows[r] + 1]]
        if begin == 0:
            totals[:] = 0
        strange = -1  # the last place of the letter 0
        for i in range(max(0, begin - width), begin):
            strange = i if x[i] == 0 else strange
        for i in range(begin, min(end, len(x))):
            strange = i if x[i] == 0 else strange
            first = i - width + 1
            if first < 0:
                continue
            _compare(M, Z, x, first, width, places, matches)
            if exclude_unknown and strange >= first:
                continue
            for w in range(len(weights)):
                wanted = np.uint8(least + w)
                for low in range(0, places, _LARGEST):
                    high = min(low + _LARGEST, places)
                    for lane in range(BYTES):
                        counts[lane] = 0
                    for j in range(low, min(high, clear), UNROLLED):
                        count(M, j, wanted, C)
                    for j in range(max(low, clear), high):
                        count_valid(M, V, j, wanted, C)
                    for lane in range(BYTES):
                        totals[w, lane] += counts[lane]
        for lane in range(BYTES):
            total = 0.0
            for w in range(len(weights)):
                total += weights[w] * totals[w, lane]
            out[r, lane] = total


@compiling.jit
def _compare(M, Z, x, first, width, places, matches):  # type: ignore[no-untyped-def]
    """The matches of the window of x that begins at ``first`` with all others, from those of the window before."""
    if first == 0:
        matches[:] = 0
        for p in range(width):
            for j in range(places):
                add_matches(M, j, Z, j + p, _letter(x[p]))
        return
    for j in range(places - 1, 0, -1):
        roll(M, Z, width, j, _letter(x[first + width - 1]), _letter(x[first - 1]))
    matches[0] = 0
    for p in range(width):
        add_matches(M, 0, Z, p, _letter(x[first + p]))


@compiling.jit
def weighted_window_sums(  # type: ignore[no-untyped-def]
    values, offsets, rows, begin, end, letters, tall, own, starts, width, least, weights, matches, totals, out
):
    """The same sum with each pair times own[window of the row] · tall[window, lane], whole numbers from 0 to 255; the
    windows of row number r begin at starts[r] of ``own``. Windows with the letter 0 do not count.
    """
    places = len(tall)
    counts = np.zeros(BYTES, np.uint16)
    M, Z, C, T = matches.ctypes.data, letters.ctypes.data, counts.ctypes.data, tall.ctypes.data
    for r in range(len(rows)):
        x = values[offsets[rows[r]] : offsets[rows[r] + 1]]
        if begin == 0:
            totals[:] = 0
        strange = -1  # the last place of the letter 0
        for i in range(max(0, begin - width), min(end, len(x))):
            strange = i if x[i] == 0 else strange
            first = i - width + 1
            if i < begin or first < 0:
                continue
            _compare(M, Z, x, first, width, places, matches)
            if strange >= first:
                continue
            height = own[starts[r] + first]
            for w in range(len(weights)):
                for low in range(0, places, _HALVES):
                    for lane in range(BYTES):
                        counts[lane] = 0
                    for j in range(low, min(low + _HALVES, places)):
                        weigh(M, T, j, np.uint8(least + w), C)
                    for lane in range(BYTES):
                        totals[w, lane] += height * counts[lane]
        for lane in range(BYTES):
            total = 0.0
            for w in range(len(weights)):
                total += weights[w] * totals[w, lane]
            out[r, lane] = total


@compiling.jit
def _letter(code):  # type: ignore[no-untyped-def]
    """255, which no letter has, for the letter that equals nothing: padding is 0."""
    return np.uint8(255) if code == 0 else code


@compiling.jit
def window_sums_of_two(x, z, width, exclude_unknown, least, weights):  # type: ignore[no-untyped-def]
    """The same for two sequences of any symbols, diagonal by diagonal."""
    total = 0.0
    for offset in range(-(len(x) - width), len(z) - width + 1):
        i, j = max(0, -offset), max(0, offset)
        matches, strange = 0, 0
        for p in range(min(len(x) - i, len(z) - j)):
            matches += x[i + p] == z[j + p] and x[i + p] != 0
            strange += x[i + p] == 0 or z[j + p] == 0
            if p >= width:
                q = p - width
                matches -= x[i + q] == z[j + q] and x[i + q] != 0
                strange -= x[i + q] == 0 or z[j + q] == 0
            if p >= width - 1 and matches >= least and not (exclude_unknown and strange):
                total += weights[matches - least]
    return total


@compiling.jit
def weighted_degree(values, offsets, rows, letters, degree, shift, out):  # type: ignore[no-untyped-def]
    """out[r, lane] = Σ_s δ_s Σ over places of r (2·degree + 1 − r)/(degree (degree + 1)), r the run of equal letters
    that ends there, at most ``degree``, of x and of z shifted by s. Sequences of one length; ``letters`` has some
    places more, of the letter 0.
    """
    run, total = np.zeros(BYTES, np.uint8), np.zeros(BYTES, np.int32)
    sums = np.zeros(BYTES)
    R, T, Z = run.ctypes.data, total.ctypes.data, letters.ctypes.data
    padded = np.zeros(len(letters), np.uint8)
    for r in range(len(rows)):
        x = values[offsets[rows[r]] : offsets[rows[r] + 1]]
        padded[: len(x)] = x
        X = padded.ctypes.data
        for lane in range(BYTES):
            out[r, lane] = 0.0
        for s in range(-shift, shift + 1):  # x[i] against z[i + s]
            run[:] = 0
            sums[:] = 0.0
            end = len(x) - max(0, s)
            for begin in range(max(0, -s), end, _LONGEST):
                total[:] = 0
                for i in range(begin, min(begin + _LONGEST, end), STEPS):
                    runs(Z, i + s, X, i, degree, R, T)
                for lane in range(BYTES):
                    sums[lane] += total[lane]
            factor = (1.0 if s == 0 else 0.5 / (abs(s) + 1)) / (degree * (degree + 1))
            for lane in range(BYTES):
                out[r, lane] += factor * sums[lane]
