"""Inner products of signatures, in lanes: dynamic programmes over the increments of two series.

An increment d_ij is ⟨φ(x_{i+1}) − φ(x_i), φ(z_{j+1}) − φ(z_j)⟩: of frames as they are, or of their features under a
Gaussian kernel, by second differences of its values.
"""

import math

import numpy as np

from mercer.native.lanes import FLOATS, STEPS, gaussian_step
from mercer.native.series_steps import chain_step, difference_step, fine_signature_rows, product_step, signature_step
from mercer.runtime import compiling

_PERIOD = 4  # rows between two looks at the range of numbers
_HIGH, _LOW = 2.0**300, 2.0**-300


@compiling.jit
def padded(places):  # type: ignore[no-untyped-def]
    """Places of a row of increments: a whole number of ``STEPS``, and one."""
    return -(-places // STEPS) * STEPS + 1


@compiling.jit
def increments(x, i, lanes, steps, rate, scratch, edges, out):  # type: ignore[no-untyped-def]
    """out[j] = the increments between frames i − 1, i of x and j, j + 1 of the lanes.

    With ``rate`` < 0 of features under exp(rate·‖x_i − z_j‖²), else of the frames themselves; ``edges`` keeps what the
    next row needs of this one, and the first row has nothing else to do.
    """
    channels, D = x.shape[1], out.ctypes.data
    if rate < 0.0:
        Z, X, L, S, N, E = (
            lanes.ctypes.data, x.ctypes.data, scratch[0].ctypes.data, scratch[1].ctypes.data, scratch[2].ctypes.data,
            edges.ctypes.data,
        )  # fmt: skip
        least = np.zeros((1, FLOATS))
        T = least.ctypes.data
        for j in range(len(lanes)):
            gaussian_step(Z, j, X, i, channels, rate, L, S, N, T)
        for j in range(len(lanes) - 1):
            difference_step(N, j, E, D)
        least[0] += 0.0  # an array lives until it is last named: not by its address
    elif i > 0:
        step = x[i] - x[i - 1]
        Z, X = steps.ctypes.data, step.ctypes.data
        for j in range(0, len(steps), STEPS):
            product_step(Z, j, X, channels, D)
        step[0] += 0.0


@compiling.jit
def into_range(sums, ends, powers):  # type: ignore[no-untyped-def]
    """Numbers of each lane brought to about 1 by a power of 2, ≥ 0, which is added to ``powers``, where they are far
    from it.

    What becomes 0 beside the largest number of its lane is less than the rounding of that.
    """
    largest = np.zeros(FLOATS)
    for j in range(len(sums)):
        for lane in range(FLOATS):
            most = max(abs(sums[j, lane]), abs(ends[j, lane]))
            largest[lane] = most if most > largest[lane] else largest[lane]
    for lane in range(FLOATS):
        most = largest[lane]
        if most < np.inf and (most > _HIGH or (most < _LOW and powers[lane] > 0)):
            power = max(math.frexp(most)[1], -powers[lane])
            sums[:, lane] *= math.ldexp(1.0, -int(power))
            ends[:, lane] *= math.ldexp(1.0, -int(power))
            powers[lane] += power


@compiling.jit
def signatures(  # type: ignore[no-untyped-def]
    values, offsets, rows, begin, end, lanes, steps, lengths, rate, order, scratch, edges, row, sums, ends, powers, out,
    exponents,
):  # fmt: skip
    """out[r, lane]·2^exponents[r, lane] = ⟨S(x), S(z)⟩, S the product of 1 + δ + δ²/2 over increments δ, each of which
    is taken in 2^order equal steps.

    Of a row i and a place j, with S_i the product of the first i factors: sums = ⟨S_i, S_j⟩, ends = ⟨S_i, S_j δ_j⟩, and
    carried along the row a = ⟨S_i δ_i, S_j⟩, h = ⟨S_i δ_i², S_j⟩/2. Places begin … end of the rows; all that is between
    ``scratch`` and ``out`` is kept from one call to the next.
    """
    carried = np.zeros((3, FLOATS))
    D, U, B, C = row.ctypes.data, sums.ctypes.data, ends.ctypes.data, carried.ctypes.data
    fine = 1 << order
    share = 1.0 / (fine * fine)
    for r in range(len(rows)):
        x = values[offsets[rows[r]] : offsets[rows[r] + 1]].copy()
        if begin == 0:
            sums[:] = 1.0
            ends[:] = 0.0
            edges[:] = 0.0
            powers[:] = 0
        for i in range(begin, min(end, len(x))):
            increments(x, i, lanes, steps, rate, scratch, edges, row)
            if i == 0:
                continue
            if order == 0:
                carried[:2] = 0.0
                carried[2] = sums[0]
                for j in range(0, len(row) - 1, STEPS):
                    signature_step(D, j, U, B, C)
            for _ in range(fine // 2):
                fine_signature_rows(D, len(lanes) - 1, order, share, U, B)
            if fine >= _PERIOD or i % _PERIOD == 0:
                into_range(sums, ends, powers)
        for lane in range(len(lengths)):
            out[r, lane] = sums[max(lengths[lane] - 1, 0) * fine, lane]
            exponents[r, lane] = powers[lane]
    carried[0] += 0.0
    row[0] += 0.0


@compiling.jit
def truncated_signatures(  # type: ignore[no-untyped-def]
    values, offsets, rows, begin, end, lanes, steps, lengths, rate, scratch, edges, row, sums, out,
):  # fmt: skip
    """out[r, lane] = Σ over levels l of Σ over i_1 < … < i_l, j_1 < … < j_l of Π d_{i_k j_k}; ``sums`` has a row of
    places for each level from 0.
    """
    carried = np.zeros((1, FLOATS))
    D, C = row.ctypes.data, carried.ctypes.data
    for r in range(len(rows)):
        x = values[offsets[rows[r]] : offsets[rows[r] + 1]].copy()
        if begin == 0:
            sums[0] = 1.0
            sums[1:] = 0.0
            edges[:] = 0.0
        for i in range(begin, min(end, len(x))):
            increments(x, i, lanes, steps, rate, scratch, edges, row)
            if i == 0:
                continue
            for level in range(len(sums) - 1, 0, -1):  # from above: each reads the level below as it was
                carried[:] = 0.0
                below, above = sums[level - 1].ctypes.data, sums[level].ctypes.data
                for j in range(0, len(row) - 1, STEPS):
                    chain_step(D, j, below, above, C)
        for lane in range(len(lengths)):
            place = max(lengths[lane] - 1, 0)
            total = 0.0
            for level in range(len(sums)):
                total += sums[level, place, lane]
            out[r, lane] = total
    carried[0] += 0.0
    row[0] += 0.0
