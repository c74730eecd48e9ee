"""Words of sequences, counted by a 64-bit code: linear in the total length, whatever the alphabet.

The code of a word c_1 … c_k is Σ mix(c_i)·B^(k−i) mod 2^64, mixed once more with k: one multiplication per letter as the window moves on.
"""

import numpy as np

from mercer import backend
from mercer.data.coded import mix

_BASE = np.uint64(0xD1342543DE82EF95)
_mix = backend.jit(mix)


@backend.jit
def letter(code):  # type: ignore[no-untyped-def]
    return _mix(np.uint64(code) + np.uint64(0x9E3779B97F4A7C15))


@backend.jit
def window_codes(x, k, codes, where):  # type: ignore[no-untyped-def]
    """The codes of the words of length k of x, and where they begin; words with the letter 0 are left out. Returns how many."""
    power = np.uint64(1)
    for _ in range(k):
        power *= _BASE
    salt = _mix(np.uint64(k))
    h, since, found = np.uint64(0), 0, 0
    for i in range(len(x)):
        h = h * _BASE + letter(x[i])
        if i >= k:
            h -= letter(x[i - k]) * power
        since = 0 if x[i] == 0 else since + 1
        if since >= k:
            codes[found], where[found] = _mix(h ^ salt), i - k + 1
            found += 1
    return found


@backend.jit
def gather(codes, count, keys, slots, stamps, stamp, out_codes, out_values, start):  # type: ignore[no-untyped-def]
    """Append the distinct codes, each with its number of occurrences, at ``start``; returns where they end. ``stamp`` marks what is in the table."""
    mask, end = np.uint64(len(keys) - 1), start
    for n in range(count):
        code = codes[n]
        h = code & mask
        while stamps[h] == stamp and keys[h] != code:
            h = (h + np.uint64(1)) & mask
        if stamps[h] == stamp:
            out_values[slots[h]] += 1.0
        else:
            keys[h], slots[h], stamps[h] = code, end, stamp
            out_codes[end], out_values[end] = code, 1.0
            end += 1
    return end


@backend.jit
def spectrum(values, offsets, k_min, factors, out_codes, out_values, out_lengths):  # type: ignore[no-untyped-def]
    """For each row, the words of lengths k_min, k_min + 1, … with their counts times ``factors``."""
    longest = 0
    for r in range(len(offsets) - 1):
        longest = max(longest, offsets[r + 1] - offsets[r])
    room = 16
    while room < 2 * longest:
        room *= 2
    keys, slots, stamps = np.empty(room, np.uint64), np.empty(room, np.int64), np.full(room, -1, np.int64)
    codes, where = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.int64)
    end = 0
    for r in range(len(offsets) - 1):
        begin = end
        x = values[offsets[r] : offsets[r + 1]]
        for n in range(len(factors)):
            count = window_codes(x, k_min + n, codes, where)
            start, end = end, gather(codes, count, keys, slots, stamps, r * len(factors) + n, out_codes, out_values, end)
            if factors[n] != 1.0:
                for e in range(start, end):
                    out_values[e] *= factors[n]
        out_lengths[r] = end - begin
    return end


@backend.jit
def gapped(values, offsets, g, masks, out_codes, out_values, out_lengths):  # type: ignore[no-untyped-def]
    """For each row and each set of places (a row of ``masks``), the letters at these places of all windows of length g, counted."""
    longest = 0
    for r in range(len(offsets) - 1):
        longest = max(longest, offsets[r + 1] - offsets[r])
    room = 16
    while room < 2 * longest:
        room *= 2
    keys, slots, stamps = np.empty(room, np.uint64), np.empty(room, np.int64), np.full(room, -1, np.int64)
    codes, letters = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.uint64)
    place = np.empty(g, np.uint64)
    for p in range(g):
        place[p] = _mix(np.uint64(p + 1)) | np.uint64(1)
    end, k = 0, masks.shape[1]
    for r in range(len(offsets) - 1):
        begin = end
        x = values[offsets[r] : offsets[r + 1]]
        for i in range(len(x)):
            letters[i] = letter(x[i])
        for m in range(len(masks)):
            count, salt = 0, _mix(np.uint64(m + 1) * _BASE)
            for i in range(len(x) - g + 1):
                h, whole = salt, True
                for p in range(k):
                    h += letters[i + masks[m, p]] * place[masks[m, p]]
                    whole = whole and x[i + masks[m, p]] != 0
                if whole:
                    codes[count] = _mix(h)
                    count += 1
            end = gather(codes, count, keys, slots, stamps, r * len(masks) + m, out_codes, out_values, end)
        out_lengths[r] = end - begin
    return end


@backend.jit
def positioned(values, offsets, degree, factors, out_codes, out_values, out_lengths):  # type: ignore[no-untyped-def]
    """For each row, the words of lengths 1 … degree at each place, as features of that place."""
    end = 0
    for r in range(len(offsets) - 1):
        begin = end
        x = values[offsets[r] : offsets[r + 1]]
        for i in range(len(x)):
            h = _mix(np.uint64(i + 1) * _BASE)
            for d in range(min(degree, len(x) - i)):
                if x[i + d] == 0:
                    break
                h = _mix(h * _BASE + letter(x[i + d]))
                out_codes[end], out_values[end] = h, factors[d]
                end += 1
        out_lengths[r] = end - begin
    return end
