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
def signed_transport(  # type: ignore[no-untyped-def]
    values, steps, offsets, others, other_steps, other_offsets, same, first, out,
):  # fmt: skip
    """out[i, j] = mean over columns of ∫ |F − G| dt, F(t) the sum of ``steps`` up to t; the columns of each set are
    sorted. ``same`` and ``first`` as in ``transport``.
    """
    columns = values.shape[1]
    for i in range(len(offsets) - 1):
        for j in range(first + i if same else 0, len(other_offsets) - 1):
            total = 0.0
            for t in range(columns):
                a, b, height, last = offsets[i], other_offsets[j], 0.0, 0.0
                end, other_end = offsets[i + 1], other_offsets[j + 1]
                while a < end or b < other_end:
                    mine = b == other_end or (a < end and values[a, t] <= others[b, t])
                    place = values[a, t] if mine else others[b, t]
                    if height != 0.0:
                        total += abs(height) * (place - last)
                    last = place
                    if mine:
                        height += steps[a, t]
                        a += 1
                    else:
                        height -= other_steps[b, t]
                        b += 1
            out[i, j] = total / columns
