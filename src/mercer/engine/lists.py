"""Compiled loops of sparse inner products: entries dealt to rows and columns, lists of columns, and their sums.

Imported only when they are needed: it imports Numba.
"""

import numpy as np

from mercer.runtime import compiling


@compiling.jit
def are_integers(values):  # type: ignore[no-untyped-def]
    broken = 0
    for x in values:
        broken += x != np.floor(x)
    return broken == 0


@compiling.jit
def tally(places, counts):  # type: ignore[no-untyped-def]
    """How often each number occurs."""
    for k in range(len(places)):
        counts[places[k]] += 1
    return counts


@compiling.jit
def share(offsets, columns, shift, counts):  # type: ignore[no-untyped-def]
    """How many entries of some rows each group of columns has."""
    for k in range(offsets[0], offsets[-1]):
        counts[columns[k] >> shift] += 1


@compiling.jit
def deal(offsets, columns, values, first, shift, at, out_columns, out_rows, out_values):  # type: ignore[no-untyped-def]
    """Entries of some rows to their groups, from the places ``at`` on."""
    for r in range(len(offsets) - 1):
        for k in range(offsets[r], offsets[r + 1]):
            group = columns[k] >> shift
            place = at[group]
            at[group] += 1
            out_columns[place], out_rows[place], out_values[place] = columns[k], first + r, values[k]


@compiling.jit
def sort_out(keys, others, same, first, least, column):  # type: ignore[no-untyped-def]
    """A number for each column of a group: rare ones 0, 1, …, frequent ones (``least`` pairs of rows or more) −2, −3,
    …; −1 where nothing can meet.

    ``same``: both sides are one, and a column of one row meets nothing. Returns how many are rare and frequent, and the
    rare entries of both sides.
    """
    left = np.zeros(len(column), np.int64)
    for key in keys:
        left[key - first] += 1
    right = left
    if not same:
        right = np.zeros(len(column), np.int64)
        for key in others:
            right[key - first] += 1
    rare, frequent, entries, other_entries = 0, 0, 0, 0
    for c in range(len(column)):
        column[c] = -1
        if left[c] == 0 or right[c] == 0 or (same and left[c] == 1):
            continue
        if np.float64(left[c]) * right[c] >= least:
            column[c] = -2 - frequent
            frequent += 1
        else:
            column[c] = rare
            rare += 1
            entries += left[c]
            other_entries += right[c]
    return rare, frequent, entries, other_entries


@compiling.jit
def place(keys, rows, values, first, column, often, base, starts, list_rows, list_values, frequent):  # type: ignore[no-untyped-def]
    """The entries of a group to their places: those of frequent columns in a matrix, from column ``often`` on, those of
    rare ones in lists.
    """
    at = np.zeros(len(starts) + 1, np.int64)
    for key in keys:
        c = column[key - first]
        if c >= 0:
            at[c + 1] += 1
    for c in range(len(starts)):
        at[c + 1] += at[c]
        starts[c] = base + at[c]
    for k in range(len(keys)):
        c = column[keys[k] - first]
        if c >= 0:
            list_rows[at[c]], list_values[at[c]] = rows[k], values[k]
            at[c] += 1
        elif c < -1:
            frequent[rows[k], often - 2 - c] = values[k]


@compiling.jit
def chain(keys, values, offsets, least, column, tables, lists, ways, norms):  # type: ignore[no-untyped-def]
    """Lists of the columns of a part, and for each entry the rest of its list: the rows below that have the column too.

    ``lists`` are the rows and values in them. ``ways``: row r has the rests from ``starts[r]`` to ``starts[r + 1]`` of
    lists of ones, and ``marked_…`` of others, with its own value as a factor; entries with nothing below have none.
    ``tables`` is room for where the next entry of a list goes, and whether it is one of ones. ``column`` becomes the
    number of a column among the lists; −1: one row has it; −2, −3, …: among the frequent ones (``least`` pairs of rows
    or more), whose number is returned. Squares of all values are added to ``norms``.
    """
    (at, plain), (list_rows, list_values) = tables, lists
    starts, begins, ends, marked_starts, marked_begins, marked_ends, factors = ways
    n = len(offsets) - 1
    column[:] = 0
    for key in keys:
        column[np.uint32(key)] += 1
    rare, frequent, end = 0, 0, 0
    for c in range(len(column)):
        many = column[c]
        if many < 2:
            column[c] = -1
        elif np.float64(many) * many >= least:
            column[c] = -2 - frequent
            frequent += 1
        else:
            column[c], at[rare], plain[rare] = rare, end, True
            rare += 1
            end += many
    list_values[:end] = 1
    for r in range(n):
        total = 0.0
        for k in range(offsets[r], offsets[r + 1]):
            x, c = values[k], column[np.uint32(keys[k])]
            total += np.float64(x) * np.float64(x)
            ends[k] = c
            if c >= 0:
                place = at[np.uint32(c)]
                at[np.uint32(c)] = place + 1
                list_rows[np.uint32(place)], begins[k] = r, place
                if x != 1:
                    list_values[np.uint32(place)], plain[np.uint32(c)] = x, False
        norms[r] += total
    kept, marked = 0, 0
    for r in range(n):  # written whether or not it is kept: to foresee that would be wrong too often
        starts[r], marked_starts[r] = kept, marked
        for k in range(offsets[r], offsets[r + 1]):
            number, place = np.uint32(max(ends[k], 0)), begins[k] + 1
            end = at[number]
            rest = (ends[k] >= 0) & (end > place)
            begins[kept], ends[kept] = place, end
            marked_begins[marked], marked_ends[marked], factors[marked] = place, end, values[k]
            kept += rest & plain[number]
            marked += rest & ~plain[number]
    starts[n], marked_starts[n] = kept, marked
    return frequent


@compiling.jit
def spread(keys, values, offsets, column, out):  # type: ignore[no-untyped-def]
    """Values of the frequent columns (see ``chain``) to their places in a matrix of zeros."""
    for r in range(len(offsets) - 1):
        line = out[r]
        for k in range(offsets[r], offsets[r + 1]):
            c = column[np.uint32(keys[k])]
            if c < -1:
                line[-2 - c] = values[k]


@compiling.jit
def follow(first, ways, lists, out):  # type: ignore[no-untyped-def]
    """out[r − first, j] += x y for the rows of ``out`` and all j below that have one of their columns: a row of ``out``
    stays in cache meanwhile.
    """
    starts, begins, ends, marked_starts, marked_begins, marked_ends, factors = ways
    list_rows, list_values = lists
    for r in range(len(out)):
        line = out[r]
        for q in range(starts[first + r], starts[first + r + 1]):
            for t in range(np.uint32(begins[q]), np.uint32(ends[q])):
                line[np.uint64(list_rows[t])] += np.float32(1)
        for q in range(marked_starts[first + r], marked_starts[first + r + 1]):
            x = factors[q]
            for t in range(np.uint32(marked_begins[q]), np.uint32(marked_ends[q])):
                line[np.uint64(list_rows[t])] += x * list_values[t]


@compiling.jit
def transposed(starts, members, values, count, kind):  # type: ignore[no-untyped-def]
    """Lists of the ``count`` members instead: which list each is in, in their order, as numbers of the type of
    ``kind``; and the values.
    """
    at = np.zeros(count + 2, np.int64)
    for m in members:
        at[np.int64(m) + 2] += 1
    for m in range(2, count + 2):
        at[m] += at[m - 1]
    numbers, by_member = np.empty(len(members), type(kind)), np.empty_like(values)
    for c in range(len(starts) - 1):
        for k in range(starts[c], starts[c + 1]):
            place = at[np.int64(members[k]) + 1]
            at[np.int64(members[k]) + 1] += 1
            numbers[place], by_member[place] = c, values[k]
    return at[:-1], numbers, by_member


@compiling.jit
def _first_from(rows, low, high, wanted):  # type: ignore[no-untyped-def]
    """The first place of a list whose row is at least ``wanted``."""
    while high - low > 8:
        middle = (low + high) // 2
        if rows[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    while low < high and rows[low] < wanted:
        low += 1
    return low


@compiling.jit
def add(starts, rows, values, other_starts, other_rows, others, top, bottom, left, right, out):  # type: ignore[no-untyped-def]
    """out[i − top, j − left] += x y for all x in row i and y in row j of one column, top ≤ i < bottom and left ≤ j <
    right.

    Column by column, so that lists are read straight on; four rows of ``out`` at a time, which stay in cache while a
    list is added to them.
    """
    for c in range(len(starts) - 1):
        end = starts[c + 1]
        s = _first_from(rows, starts[c], end, top)
        if s == end or rows[s] >= bottom:
            continue
        low, high = _first_from(other_rows, other_starts[c], other_starts[c + 1], left), other_starts[c + 1]
        if high > low and other_rows[high - 1] >= right:
            high = _first_from(other_rows, low, high, right)
        end = _first_from(rows, s, end, bottom)
        while s + 4 <= end:
            a, b = out[np.int64(rows[s]) - top], out[np.int64(rows[s + 1]) - top]
            d, e = out[np.int64(rows[s + 2]) - top], out[np.int64(rows[s + 3]) - top]
            for t in range(low, high):
                j, y = np.uint64(np.int64(other_rows[t]) - left), others[t]
                a[j] += values[s] * y
                b[j] += values[s + 1] * y
                d[j] += values[s + 2] * y
                e[j] += values[s + 3] * y
            s += 4
        while s < end:
            line = out[np.int64(rows[s]) - top]
            for t in range(low, high):
                line[np.uint64(np.int64(other_rows[t]) - left)] += values[s] * others[t]
            s += 1
