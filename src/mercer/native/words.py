"""Words of sequences, counted by a 64-bit code: linear in the total length, whatever the alphabet.

The code of a word c_1 … c_k is Σ mix(c_i)·B^(k−i) mod 2^64, mixed once more with k: one multiplication per letter as
the window moves on.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.native.cells import longest
from mercer.native.mixing import mix
from mercer.runtime import compiling

_BASE = np.uint64(0xD1342543DE82EF95)
_mix = compiling.jit(mix)


@compiling.jit
def letter(code):  # type: ignore[no-untyped-def]
    return _mix(np.uint64(code) + np.uint64(0x9E3779B97F4A7C15))


@compiling.jit
def letters_of(x, out):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        out[i] = letter(x[i])


@compiling.jit
def window_codes(x, letters, k, codes):  # type: ignore[no-untyped-def]
    """The codes of the words of length k of x; words with the letter 0 are left out. Returns how many."""
    power = np.uint64(1)
    for _ in range(k):
        power *= _BASE
    salt = _mix(np.uint64(k))
    h, since, found = np.uint64(0), 0, 0
    for i in range(len(x)):
        h = h * _BASE + letters[i]
        if i >= k:
            h -= letters[i - k] * power
        since = 0 if x[i] == 0 else since + 1
        if since >= k:
            codes[found] = _mix(h ^ salt)
            found += 1
    return found


@compiling.jit
def gather(codes, count, slots, out_codes, out_values, start):  # type: ignore[no-untyped-def]
    """Append the distinct codes, each with its number of occurrences, at ``start``; returns where they end.

    ``slots`` is a table of places behind ``start``: what points before it is of an earlier row, and free.
    """
    mask, end = np.uint64(len(slots) - 1), start
    for n in range(count):
        code = codes[n]
        h = code & mask
        while slots[h] >= start and out_codes[slots[h]] != code:
            h = (h + np.uint64(1)) & mask
        slot = slots[h]
        if slot >= start:
            out_values[slot] += 1.0
        else:
            slots[h], out_codes[end], out_values[end] = end, code, 1.0
            end += 1
    return end


@compiling.jit
def table_of(offsets):  # type: ignore[no-untyped-def]
    """The longest row, and an empty table for its words."""
    most, room = longest(offsets), 16
    while room < 2 * most:
        room *= 2
    return most, np.full(room, -1, np.int64)


@compiling.jit
def spectrum(values, offsets, k_min, factors, out_codes, out_values, out_lengths):  # type: ignore[no-untyped-def]
    """For each row, the words of lengths k_min, k_min + 1, … with their counts times ``factors``."""
    most, slots = table_of(offsets)
    codes, letters = np.empty(most + 1, np.uint64), np.empty(most + 1, np.uint64)
    end = 0
    for r in range(len(offsets) - 1):
        begin = end
        x = values[offsets[r] : offsets[r + 1]]
        letters_of(x, letters)
        for n in range(len(factors)):
            count = window_codes(x, letters, k_min + n, codes)
            start, end = end, gather(codes, count, slots, out_codes, out_values, end)
            if factors[n] != 1.0:
                for e in range(start, end):
                    out_values[e] *= factors[n]
        out_lengths[r] = end - begin
    return end


@compiling.jit
def factor_of(p):  # type: ignore[no-untyped-def]
    """What the letter at a place of a window is multiplied by."""
    return _mix(np.uint64(p + 1)) | np.uint64(1)


@compiling.jit
def salt_of(m):  # type: ignore[no-untyped-def]
    """What tells the sets of places apart."""
    return _mix(np.uint64(m + 1) * _BASE)


@compiling.jit
def gapped(values, offsets, g, masks, out_codes, out_values, out_lengths):  # type: ignore[no-untyped-def]
    """For each row and each set of places (a row of ``masks``), the letters at these places of all windows of length g,
    counted.
    """
    most, slots = table_of(offsets)
    codes, letters = np.empty(most + 1, np.uint64), np.empty(most + 1, np.uint64)
    placed = np.empty((g, most + 1), np.uint64)  # the letters as those of each place of a window
    end, k = 0, masks.shape[1]
    for r in range(len(offsets) - 1):
        begin = end
        x = values[offsets[r] : offsets[r + 1]]
        letters_of(x, letters)
        for p in range(g):
            factor = factor_of(p)
            for i in range(len(x)):
                placed[p, i] = letters[i] * factor
        whole = True
        for i in range(len(x)):
            whole = whole and x[i] != 0
        for m in range(len(masks)):
            salt, count = salt_of(m), max(0, len(x) - g + 1)
            for i in range(count):
                codes[i] = salt
            for p in range(k):
                line = placed[masks[m, p], masks[m, p] :]
                for i in range(count):
                    codes[i] += line[i]
            for i in range(count):
                codes[i] = _mix(codes[i])
            if not whole:
                count = _without_strange(x, masks[m], codes, count)
            end = gather(codes, count, slots, out_codes, out_values, end)
        out_lengths[r] = end - begin
    return end


def _sums(parts: list[Any]) -> Any:
    """One summand from each list, all combinations, the last list first to change."""
    total = np.zeros(1, np.uint64)
    for part in parts:
        total = np.add.outer(total, part).reshape(-1)
    return total


def codes_of_gapped(letters: Array, m: int, places: Sequence[int]) -> Any:
    """The codes that ``gapped`` gives to all words of a set of places, the last letter first to change."""
    known = np.array([letter(c) for c in letters], np.uint64)
    return mix(_sums([known * np.uint64(factor_of(p)) for p in places]) + np.uint64(salt_of(m)))


def codes_of_words(letters: Array, k: int) -> Any:
    """The codes that ``spectrum`` gives to all words of length k, the last letter first to change."""
    known = np.array([letter(c) for c in letters], np.uint64)
    powers = [np.uint64(pow(int(_BASE), k - 1 - i, 2**64)) for i in range(k)]
    return mix(_sums([known * power for power in powers]) ^ np.uint64(_mix(np.uint64(k))))


@compiling.jit
def _without_strange(x, places, codes, count):  # type: ignore[no-untyped-def]
    """Leaves out windows with a letter 0 at one of the places."""
    kept = 0
    for i in range(count):
        whole = True
        for p in places:
            whole = whole and x[i + p] != 0
        if whole:
            codes[kept] = codes[i]
            kept += 1
    return kept


@compiling.jit
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
