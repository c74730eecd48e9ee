"""Words over a small alphabet, counted in cells: a word is its number in base a, so nothing is hashed and nothing
compared.

A pattern is a window and the places in it whose letters count; the cells of one pattern follow those of the one before.
"""

import numpy as np

from mercer.runtime import compiling


@compiling.jit
def mark(values, seen):  # type: ignore[no-untyped-def]
    for x in values:
        seen[np.uint64(x)] = 1


@compiling.jit
def look_up(values, table, out):  # type: ignore[no-untyped-def]
    for i in range(len(values)):
        out[i] = table[np.uint64(values[i])]


@compiling.jit
def count(ranks, offsets, a, windows, sizes, places, bases, factors, table, out_cells, out_values, out_lengths):  # type: ignore[no-untyped-def]
    """For each row, the cells that occur, pattern by pattern, with their counts times ``factors``; returns how many.

    ``ranks`` are letters 0 … a − 1, and a for one that equals nothing. ``table`` has room for the cells of a pattern,
    and is zero before and after.
    """
    cells, end = np.empty(longest(offsets) + 1, np.int32), 0
    for r in range(len(offsets) - 1):
        begin, x = end, ranks[offsets[r] : offsets[r + 1]]
        whole = _is_whole(x, a)
        for m in range(len(windows)):
            start, base = end, bases[m]
            many = _spell(x, a, whole, windows[m], places[m, : sizes[m]], cells)
            for i in range(many):
                cell = np.uint32(cells[i])
                if table[cell] == 0:
                    out_cells[end] = base + cells[i]
                    end += 1
                table[cell] += 1
            for e in range(start, end):
                cell = np.uint32(out_cells[e] - base)
                out_values[e] = factors[m] * table[cell]
                table[cell] = 0
        out_lengths[r] = end - begin
    return end


@compiling.jit
def tally(ranks, offsets, a, window, places, out):  # type: ignore[no-untyped-def]
    """out[r, c] += how often the cell c of one pattern occurs in row r."""
    cells = np.empty(longest(offsets) + 1, np.int32)
    for r in range(len(offsets) - 1):
        x, line = ranks[offsets[r] : offsets[r + 1]], out[r]
        for i in range(_spell(x, a, _is_whole(x, a), window, places, cells)):
            line[np.uint32(cells[i])] += np.float32(1)


@compiling.jit
def longest(offsets):  # type: ignore[no-untyped-def]
    """The length of the longest row."""
    most = 0
    for r in range(len(offsets) - 1):
        most = max(most, offsets[r + 1] - offsets[r])
    return most


@compiling.jit
def _is_whole(x, a):  # type: ignore[no-untyped-def]
    """Whether all letters equal something."""
    whole = True
    for i in range(len(x)):
        whole = whole and x[i] < a
    return whole


@compiling.jit
def _spell(x, a, whole, window, places, cells):  # type: ignore[no-untyped-def]
    """The cells of a pattern's words in a row; returns how many there are."""
    many = max(0, len(x) - window + 1)
    cells[:many] = 0
    for p in places:
        line = x[p : p + many]
        for i in range(many):
            cells[i] = cells[i] * np.int32(a) + np.int32(line[i])
    return many if whole else _without_strange(x, a, places, cells, many)


@compiling.jit
def _without_strange(x, a, places, cells, many):  # type: ignore[no-untyped-def]
    """Leaves out windows with a letter that equals nothing at one of the places."""
    kept = 0
    for i in range(many):
        whole = True
        for p in places:
            whole = whole and x[i + p] < a
        if whole:
            cells[kept] = cells[i]
            kept += 1
    return kept
