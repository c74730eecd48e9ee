"""Sums over alignments, in lanes, of numbers that no float could hold (``lanes``: a float times a power of 2^512).
Results are logarithms.
"""

import math

import numpy as np

from mercer.native.lanes import (
    FAR_BELOW,
    FLOATS,
    SMALL,
    STEPS,
    gaussian_step,
    global_step,
    local_step,
    moved_step,
    own_gaussian_step,
    plain_step,
)
from mercer.native.series_steps import soft_step, triangle_step
from mercer.runtime import compiling

_LOG_TWO = math.log(2.0)
_LOG_UNIT = 512 * _LOG_TWO
_PERIOD = 8  # rows between two looks at the range of numbers
_BLOCK = 32  # places whose numbers share a power of 2
_STEEP = -40.0  # log e below which a row could leave the range of numbers by itself
# beyond the first two, the largest number of a block is brought to about 2^700
_HIGH, _LOW, _AIM = 2.0**800, 2.0**600, 700
_LEAST = -540  # exponent of the smallest number: _PERIOD rows may make it 2^−470 times smaller
# how far the exponents of a block may be below those to the left of it, which may all come to it within a row
_BELOW = 850
_AFRESH = 16  # rows after which e is computed from the distance again, before roundings add up


@compiling.jit
def state_rows(places):  # type: ignore[no-untyped-def]
    """Rows of the ``state`` of ``global_alignments``: 1 as long as no exponents are needed, then the power of 2 of each
    block of places.
    """
    return 1 + max(1, -(-places // _BLOCK))


@compiling.jit
def in_range(paths, shifts, factors):  # type: ignore[no-untyped-def]
    """Keep the largest number of each block and lane within range by powers of 2, ``shifts`` ≥ 0; ``factors`` are those
    between two blocks.

    Where the power is 0, numbers may become 0. What the alignments through them add to the normalised value is at most
    thrice they themselves, for k(x, x) ≥ Σ of the alignments of the beginning of x with itself × Σ of those of the end,
    and the first sum is at least 1. False, and nothing done, if other numbers are too far apart.
    """
    places, blocks = len(paths) - 1 - STEPS, len(shifts)
    power, left = np.zeros(shifts.shape), np.full(FLOATS, -np.inf)
    for b in range(blocks):
        largest, smallest = np.zeros(FLOATS), np.full(FLOATS, np.inf)
        for j in range(1 + b * _BLOCK, 1 + min(places, (b + 1) * _BLOCK)):
            for lane in range(FLOATS):
                x = paths[j, lane]
                largest[lane] = x if x > largest[lane] else largest[lane]
                smallest[lane] = x if (x > 0.0) & (x < smallest[lane]) else smallest[lane]
        for lane in range(FLOATS):
            most = largest[lane]
            if not most < np.inf:
                return False
            if most > _HIGH or (most < _LOW and shifts[b, lane] > 0.0):
                power[b, lane] = max(float(math.frexp(most)[1] - _AIM), -shifts[b, lane])
            power[b, lane] = max(power[b, lane], left[lane] - _BELOW - shifts[b, lane])
            if shifts[b, lane] + power[b, lane] > 0.0 and not math.frexp(smallest[lane])[1] - power[b, lane] > _LEAST:
                return False
            if most > 0.0:
                left[lane] = max(left[lane], shifts[b, lane] + math.frexp(most)[1])
    for b in range(blocks):
        for lane in range(FLOATS):
            if power[b, lane] != 0.0:
                shifts[b, lane] += power[b, lane]
                factor = math.ldexp(1.0, -int(power[b, lane]))
                for j in range(1 + b * _BLOCK, 1 + min(places, (b + 1) * _BLOCK)):
                    paths[j, lane] *= factor
            factors[b, lane] = math.ldexp(1.0, int(shifts[b - 1, lane] - shifts[b, lane])) if b > 0 else 1.0
    return True


@compiling.jit
def take_apart(paths, exponents, shifts):  # type: ignore[no-untyped-def]
    """From one power of 2 for each block and lane to one for a lane, and exponents for each number."""
    for lane in range(FLOATS):
        power = shifts[:, lane].max()
        for j in range(len(paths) - STEPS):
            x, own = math.frexp(paths[j, lane])
            own += int(shifts[max(j - 1, 0) // _BLOCK, lane] - power)
            unit = math.floor((own + 256) / 512)
            paths[j, lane], exponents[j, lane] = (
                (math.ldexp(x, int(own - 512 * unit)), unit) if x != 0.0 else (0.0, FAR_BELOW)
            )
        shifts[:, lane] = power


@compiling.jit
def move(x, i, rate, largest, slopes):  # type: ignore[no-untyped-def]
    """log e changes from frame i − 1 to i by the number returned + Σ slopes·z; NaN if that may be more than SMALL for a
    z up to ``largest``.
    """
    change, bound = 0.0, 0.0
    for c in range(x.shape[1]):
        step, total = rate * (x[i, c] - x[i - 1, c]), x[i, c] + x[i - 1, c]
        slopes[c] = -2.0 * step
        change += step * total
        bound += abs(step) * (abs(total) + 2.0 * largest[c])
    return change if bound <= SMALL else np.nan


@compiling.jit
def global_alignments(  # type: ignore[no-untyped-def]
    values, offsets, rows, begin, end, own, lanes, lengths, rate, apart, times, lane_times, width, soft, paths,
    exponents, state, out,
):  # fmt: skip
    """out[r, lane] = log Σ over alignments of Π e/(2 − e), e = exp(rate·‖x_i − z_j‖²); −∞ where one is empty.

    With ``width`` > 0 ωe in the place of e, ω = max(0, 1 − |t_i − t_j|/width) of the ``times`` of frames and those of
    the lanes. With ``soft`` Π e in the place of Π e/(2 − e). Frames are rows of ``values``, and places × channels ×
    lanes in ``lanes``; or numbers of letters where ``apart`` ≥ 0: e/(2 − e) of different letters. Places begin … end of
    the rows; ``paths`` and their ``exponents``, of which row 0 stands before the first frame, and ``state`` are kept
    from one call to the next. With ``own``, instead of rows, each lane with itself. As long as the numbers of a block
    lie close enough together they need no exponents, but one for the block. Where x moves on by little, so does e, and
    a short series gives its factor.
    """
    places, channels = len(lanes), values.shape[1]
    if places == 0:
        return
    local, powers, corner = np.ones((places + 1 + STEPS, FLOATS)), np.zeros((places + 1, FLOATS)), np.zeros((2, FLOATS))
    plain, shifts, least, near = state[0], state[1:], np.zeros(FLOATS), np.zeros((places, FLOATS))
    factors, largest, slopes = np.ones(shifts.shape), np.zeros(channels), np.zeros(channels)
    for j in range(places):
        for c in range(channels):
            largest[c] = max(largest[c], np.abs(lanes[j, c]).max())
    for b in range(1, len(shifts)):
        for lane in range(FLOATS):
            factors[b, lane] = math.ldexp(1.0, int(shifts[b - 1, lane] - shifts[b, lane]))
    P, E, L, S = paths.ctypes.data, exponents.ctypes.data, local.ctypes.data, powers.ctypes.data
    C, Z, D, N, B, row = (
        corner.ctypes.data,
        lanes.ctypes.data,
        least.ctypes.data,
        near.ctypes.data,
        slopes.ctypes.data,
        FLOATS * 8,
    )
    local[places + 1 :] = 0.0
    now = np.zeros(FLOATS)
    T, W = lane_times.ctypes.data, now.ctypes.data
    for r in range(1 if own else len(rows)):
        x = lanes[:, :, 0].copy() if own else values[offsets[rows[r]] : offsets[rows[r] + 1]].copy()
        X = lanes.ctypes.data if own else x.ctypes.data
        if begin == 0:
            paths[:] = 0.0
            shifts[:] = 0.0
            plain[:] = 1.0
            factors[:] = 1.0
        age = _AFRESH
        for i in range(begin, min(end, len(x))):
            age += 1
            change = move(x, i, rate, largest, slopes) if age < _AFRESH and plain[0] > 0.0 else np.nan
            least[:] = 0.0
            if not np.isnan(change):
                for j in range(places):
                    moved_step(Z, j, B, channels, change, N, L + row)
            elif apart >= 0.0:
                for j in range(places):
                    for lane in range(FLOATS):
                        letter = lanes[i, 0, lane] if own else x[i, 0]
                        local[j + 1, lane] = 1.0 if lanes[j, 0, lane] == letter and letter != 0 else apart
                least[0] = math.log(apart) if apart > 0.0 else -np.inf
            elif own:
                for j in range(places):
                    own_gaussian_step(Z, j, X, i, channels, rate, L + row, S + row, N, D)
            else:
                for j in range(places):
                    gaussian_step(Z, j, X, i, channels, rate, L + row, S + row, N, D)
                age = 0 if least.min() > _STEEP + _AFRESH * SMALL else _AFRESH
            known = 1.0 if np.isnan(change) and apart < 0.0 else 0.0  # whether the powers are of this row
            if width > 0.0:
                for lane in range(FLOATS):
                    now[lane] = lane_times[i, lane] if own else times[offsets[rows[r]] + i]
                for j in range(places):
                    triangle_step(L, S, j, known, T, W, width)
            elif soft:
                for j in range(places):
                    soft_step(L, S, j, known)
            if plain[0] > 0.0 and (least.min() < _STEEP or (i % _PERIOD == 0 and not in_range(paths, shifts, factors))):
                plain[:] = 0.0  # from here on with exponents
                take_apart(paths, exponents, shifts)
            corner[0] = 1.0 if i == 0 else 0.0
            if plain[0] > 0.0:
                corner[1] = 0.0
                for b in range(len(shifts)):
                    if b > 0:
                        corner *= factors[b]
                    for j in range(1 + b * _BLOCK, 1 + min(places, (b + 1) * _BLOCK), STEPS):
                        plain_step(L, j, P, C)
            else:
                corner[1] = 0.0 if i == 0 else FAR_BELOW
                for j in range(1, places + 1):
                    global_step(L, S, j, P, E, C)
            powers[0] = 0.0  # an array lives until it is last named: not by its address
            near[0] += 0.0
            now[0] += 0.0
            local[0] = 0.0
            for lane in range(len(lengths)):
                if i + 1 == (lengths[lane] if own else len(x)):
                    reached = paths[lengths[lane], lane]
                    power = shifts[max(lengths[lane] - 1, 0) // _BLOCK, lane] * _LOG_TWO
                    if plain[0] == 0.0:
                        power += exponents[lengths[lane], lane] * _LOG_UNIT
                    out[r, lane] = math.log(reached) + power if reached != 0.0 else -np.inf


@compiling.jit
def profile_of(packed, lengths, scores):  # type: ignore[no-untyped-def]
    """[a, place + 1, lane]: the score of letter a there; of one more letter, which matches nothing, 0."""
    places, letters = len(packed), len(scores)
    profile = np.zeros((letters + 1, places + 1, FLOATS))
    for j in range(places):
        for lane in range(min(FLOATS, len(lengths))):
            if j < lengths[lane] and packed[j, lane] >= 0:
                for a in range(letters):
                    profile[a, j + 1, lane] = scores[a, packed[j, lane]]
    return profile


@compiling.jit
def local_alignments(values, offsets, rows, begin, end, profile, opening, extending, states, total, out):  # type: ignore[no-untyped-def]
    """out[r, lane] = log(1 + Σ over local alignments of Π scores·gaps), by the ``profile`` of the lanes. Letters are 0
    …; −1 matches nothing.

    M, X, Y of a cell are the sums over alignments that end there with a pair, or with a gap in one sequence, or in the
    other (Saigo et al. 2004). Places begin … end of the rows; ``states`` and ``total`` are kept from one call to the
    next.
    """
    places, letters, corner = profile.shape[1] - 1, len(profile) - 1, np.zeros((2, FLOATS))
    S, C, T = states.ctypes.data, corner.ctypes.data, total.ctypes.data
    for r in range(len(rows)):
        if begin == 0:
            states[:] = 0.0
            total[0] = 1.0  # the alignment of nothing
            total[1] = 0.0
        for i in range(offsets[rows[r]] + begin, min(offsets[rows[r]] + end, offsets[rows[r] + 1])):
            against = profile[values[i] if values[i] >= 0 else letters].ctypes.data
            corner[:] = 0.0
            for j in range(1, places + 1):
                local_step(against, j, S, places + 1, C, T, opening, extending)
        for lane in range(FLOATS):
            out[r, lane] = math.log(total[0, lane]) + total[1, lane] * _LOG_UNIT
