"""How far the mass of two sets is apart on each of some lines."""

import numpy as np

from mercer.runtime import compiling


@compiling.jit
def transport(values, offsets, others, other_offsets, squared, same, first, out):  # type: ignore[no-untyped-def]
    """out[i, j] = mean over columns of ∫ |F⁻¹ − G⁻¹| dq, or of its square; F⁻¹ and G⁻¹ have the sorted columns of two
    sets as their steps. −1 where one is empty. If the rows are the ``same`` as those of the others from ``first`` on,
    for j ≥ first + i.

    Where the steps of two sets meet depends on their sizes alone, so that all columns are gone through together.
    """
    columns = values.shape[1]
    total = np.empty(columns)
    for i in range(len(offsets) - 1):
        x, n = offsets[i], offsets[i + 1] - offsets[i]
        for j in range(first + i if same else 0, len(other_offsets) - 1):
            z, m = other_offsets[j], other_offsets[j + 1] - other_offsets[j]
            if n == 0 or m == 0:
                out[i, j] = -1.0
                continue
            total[:] = 0.0
            a, b, left, other_left = 0, 0, m, n  # of each point a share of 1/(nm) is a unit
            while a < n:
                units = min(left, other_left)
                share = float(units)
                if squared:
                    for t in range(columns):
                        gap = values[x + a, t] - others[z + b, t]
                        total[t] += share * (gap * gap)
                else:
                    for t in range(columns):
                        total[t] += share * abs(values[x + a, t] - others[z + b, t])
                left -= units
                other_left -= units
                if left == 0:
                    a, left = a + 1, m
                if other_left == 0:
                    b, other_left = b + 1, n
            out[i, j] = total.sum() / (float(n) * float(m) * columns)


@compiling.jit
def _next(values, below, a, others, other_below, b, last):  # type: ignore[no-untyped-def]
    """One step of a merge, to the next value of either side: both places, that value, and the area before it.
    Arithmetic in place of a branch, which could not be foreseen.
    """
    x, z = values[a], others[b]
    mine, place = np.int64(x <= z), min(x, z)
    return a + mine, b + 1 - mine, place, abs(below[a] - other_below[b]) * (place - last)


@compiling.jit
def signed_transport(  # type: ignore[no-untyped-def]
    values, below, offsets, others, other_below, other_offsets, lines, same, first, out,
):  # fmt: skip
    """out[i, j] = mean over lines of ∫ |F − G| dt, F and G steps: each set has one sorted row of values for each line,
    which ends with ∞, one row after the other, and F is ``below`` up to the value, from the one before. ``same`` and
    ``first`` as in ``transport``.

    Five lines are gone through side by side, since each step of one waits for the last.
    """
    last = lines - 1
    for i in range(len(offsets) - 1):
        n = (offsets[i + 1] - offsets[i]) // lines
        for j in range(first + i if same else 0, len(other_offsets) - 1):
            m = (other_offsets[j + 1] - other_offsets[j]) // lines
            x, z, total = offsets[i], other_offsets[j], 0.0
            for t in range(0, lines, 5):
                t1, t2, t3, t4 = min(t + 1, last), min(t + 2, last), min(t + 3, last), min(t + 4, last)
                a, a1, a2, a3, a4 = x + t * n, x + t1 * n, x + t2 * n, x + t3 * n, x + t4 * n
                b, b1, b2, b3, b4 = z + t * m, z + t1 * m, z + t2 * m, z + t3 * m, z + t4 * m
                at = at1 = at2 = at3 = at4 = area = area1 = area2 = area3 = area4 = 0.0
                for _ in range(n + m - 2):  # all but the two ends
                    a, b, at, more = _next(values, below, a, others, other_below, b, at)
                    area += more
                    a1, b1, at1, more = _next(values, below, a1, others, other_below, b1, at1)
                    area1 += more
                    a2, b2, at2, more = _next(values, below, a2, others, other_below, b2, at2)
                    area2 += more
                    a3, b3, at3, more = _next(values, below, a3, others, other_below, b3, at3)
                    area3 += more
                    a4, b4, at4, more = _next(values, below, a4, others, other_below, b4, at4)
                    area4 += more
                total += area
                total += area1 if t + 1 < lines else 0.0
                total += area2 if t + 2 < lines else 0.0
                total += area3 if t + 3 < lines else 0.0
                total += area4 if t + 4 < lines else 0.0
            out[i, j] = total / lines
