"""Sums over alignments, in lanes, of numbers that no float could hold (``lanes``: a float times a power of 2^512). Results are logarithms."""

import math

import numpy as np

from mercer import backend
from mercer.loops.lanes import FAR_BELOW, FLOATS, STEPS, gaussian_step, global_step, local_step, own_gaussian_step, plain_step

_LOG_TWO = math.log(2.0)
_LOG_UNIT = 512 * _LOG_TWO
_PERIOD = 8  # rows between two looks at the range of numbers
_STEEP = -40.0  # log e below which a row could leave that range by itself
_LARGE, _FARTHEST = 2.0**100, 2.0**-400


@backend.jit
def in_range(paths, shifts):  # type: ignore[no-untyped-def]
    """Bring the largest number of each lane to about 1, and note by how much; False if numbers of a lane are too far apart for that."""
    for lane in range(FLOATS):
        largest, smallest = 0.0, np.inf
        for j in range(1, len(paths) - STEPS):
            x = paths[j, lane]
            largest = max(largest, x)
            if 0.0 < x < smallest:
                smallest = x
        if not largest < np.inf or (largest > 0.0 and not smallest > largest * _FARTHEST):
            return False
        if largest > _LARGE or 0.0 < largest < 1.0 / _LARGE:
            power = math.frexp(largest)[1]
            for j in range(1, len(paths) - STEPS):
                paths[j, lane] = math.ldexp(paths[j, lane], -power)
            shifts[lane] += power
    return True


@backend.jit
def global_alignments(values, offsets, rows, begin, end, own, lanes, lengths, rate, apart, paths, exponents, state, out):  # type: ignore[no-untyped-def]
    """out[r, lane] = log Σ over alignments of Π e/(2 − e), e = exp(rate·‖x_i − z_j‖²); −∞ where one is empty.

    Frames are rows of ``values``, and places × channels × lanes in ``lanes``; or numbers of letters where ``apart`` ≥ 0: e/(2 − e) of different
    letters. Places begin … end of the rows; ``paths`` and their ``exponents``, of which row 0 stands before the first frame, and ``state`` are kept
    from one call to the next. With ``own``, instead of rows, each lane with itself. As long as the numbers of a lane lie close enough together
    they need no exponents, but one for the lane (``state[0]``).
    """
    places, channels = len(lanes), values.shape[1]
    local, powers, corner = np.ones((places + 1 + STEPS, FLOATS)), np.zeros((places + 1, FLOATS)), np.zeros((2, FLOATS))
    shifts, plain, least = state[0], state[1], np.zeros(FLOATS)
    P, E, L, S = paths.ctypes.data, exponents.ctypes.data, local.ctypes.data, powers.ctypes.data
    C, Z, D, row = corner.ctypes.data, lanes.ctypes.data, least.ctypes.data, FLOATS * 8
    local[places + 1 :] = 0.0
    for r in range(1 if own else len(rows)):
        x = lanes[:, :, 0].copy() if own else values[offsets[rows[r]] : offsets[rows[r] + 1]].copy()
        X = lanes.ctypes.data if own else x.ctypes.data
        if begin == 0:
            paths[:] = 0.0
            shifts[:] = 0.0
            plain[:] = 1.0
        for i in range(begin, min(end, len(x))):
            least[:] = 0.0
            if apart >= 0.0:
                for j in range(places):
                    for lane in range(FLOATS):
                        letter = lanes[i, 0, lane] if own else x[i, 0]
                        local[j + 1, lane] = 1.0 if lanes[j, 0, lane] == letter and letter != 0 else apart
                least[0] = math.log(apart) if apart > 0.0 else -np.inf
            elif own:
                for j in range(places):
                    own_gaussian_step(Z, j, X, i, channels, rate, L + row, S + row, D)
            else:
                for j in range(places):
                    gaussian_step(Z, j, X, i, channels, rate, L + row, S + row, D)
            if plain[0] > 0.0 and (least.min() < _STEEP or (i % _PERIOD == 0 and not in_range(paths, shifts))):
                plain[:] = 0.0  # from here on with exponents
                for j in range(places + 1):
                    for lane in range(FLOATS):
                        exponents[j, lane] = 0.0 if paths[j, lane] > 0.0 else FAR_BELOW
            corner[0] = 1.0 if i == 0 else 0.0
            corner[1] = 0.0 if i == 0 else FAR_BELOW
            if plain[0] > 0.0:
                for j in range(1, places + 1, STEPS):
                    plain_step(L, j, P, C)
            else:
                for j in range(1, places + 1):
                    global_step(L, S, j, P, E, C)
            powers[0] = 0.0  # an array lives until it is last named: not by its address
            local[0] = 0.0
            for lane in range(len(lengths)):
                if i + 1 == (lengths[lane] if own else len(x)):
                    reached = paths[lengths[lane], lane]
                    power = shifts[lane] * _LOG_TWO + (0.0 if plain[0] > 0.0 else exponents[lengths[lane], lane] * _LOG_UNIT)
                    out[r, lane] = math.log(reached) + power if reached > 0.0 else -np.inf


@backend.jit
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


@backend.jit
def local_alignments(values, offsets, rows, begin, end, profile, opening, extending, states, total, out):  # type: ignore[no-untyped-def]
    """out[r, lane] = log(1 + Σ over local alignments of Π scores·gaps), by the ``profile`` of the lanes. Letters are 0 …; −1 matches nothing.

    M, X, Y of a cell are the sums over alignments that end there with a pair, or with a gap in one sequence, or in the other (Saigo et al. 2004).
    Places begin … end of the rows; ``states`` and ``total`` are kept from one call to the next.
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
