"""Sums over alignments, in lanes, of numbers with an exponent for each column.

The sums grow and shrink beyond what a float can hold. Cell (i, j) of the programme is kept as a float times 2^e_j; every sixteen rows the floats are brought back to
about 1. Neighbours in a row are made comparable by ratio_j = 2^(e_{j−1} − e_j), so a cell costs one multiplication more than without exponents. What is lost
is 2^−900 of its neighbour, for all that follows is linear in the cells. Results are logarithms.
"""

import math

import numpy as np

from mercer import backend
from mercer.loops.lanes import FLOATS, gaussian_step, global_step, local_step

_PERIOD = 16  # rows
_FARTHEST = 900  # binary digits that neighbours may be apart


@backend.jit
def exponents_anew(exponents, ratio, one):  # type: ignore[no-untyped-def]
    """ratio_j = 2^(e_{j−1} − e_j) and one_j = 2^−e_j."""
    for j in range(1, len(exponents)):
        for lane in range(FLOATS):
            ratio[j, lane] = math.ldexp(1.0, exponents[j - 1, lane] - exponents[j, lane])
            one[j, lane] = math.ldexp(1.0, -exponents[j, lane])


@backend.jit
def scale_back(states, exponents):  # type: ignore[no-untyped-def]
    """Bring the largest of the states (kinds × columns × lanes) of each column to about 1, and note by how much."""
    for j in range(1, states.shape[1]):
        for lane in range(FLOATS):
            largest = 0.0
            for kind in range(len(states)):
                largest = max(largest, states[kind, j, lane])
            wanted = exponents[j, lane] + math.frexp(largest)[1] if largest > 0.0 else exponents[j - 1, lane]
            wanted = max(wanted, exponents[j - 1, lane] - _FARTHEST)  # else the ratio would be infinite
            if wanted != exponents[j, lane]:
                for kind in range(len(states)):  # not by a factor: of numbers near the smallest, it would be infinite
                    states[kind, j, lane] = math.ldexp(states[kind, j, lane], exponents[j, lane] - wanted)
                exponents[j, lane] = wanted


@backend.jit
def global_alignments(values, offsets, rows, packed, lengths, rate, apart, out):  # type: ignore[no-untyped-def]
    """out[r, lane] = log Σ over alignments of Π e/(2 − e), e = exp(rate·‖x_i − z_j‖²); −∞ where one is empty.

    Frames are rows of ``values``, or of numbers of letters where ``apart`` ≥ 0: e/(2 − e) of different letters.
    """
    places, channels = len(packed), values.shape[1]
    paths, local = np.zeros((1, places + 1, FLOATS)), np.empty((places + 1, FLOATS))
    ratio, one, corner = np.ones((places + 1, FLOATS)), np.ones((places + 1, FLOATS)), np.zeros(FLOATS)
    exponents = np.zeros((places + 1, FLOATS), np.int64)
    lanes = packed.transpose(0, 2, 1).copy()  # places × channels × lanes
    P, L, R, C, Z = paths.ctypes.data, local.ctypes.data, ratio.ctypes.data, corner.ctypes.data, lanes.ctypes.data
    row_bytes = FLOATS * 8
    for r in range(len(rows)):
        x = values[offsets[rows[r]] : offsets[rows[r] + 1]].copy()
        X = x.ctypes.data
        paths[:] = 0.0
        exponents[:] = 0
        ratio[:] = 1.0
        for i in range(len(x)):
            if apart >= 0.0:
                for j in range(places):
                    for lane in range(FLOATS):
                        local[j + 1, lane] = 1.0 if lanes[j, 0, lane] == x[i, 0] and x[i, 0] != 0 else apart
            else:
                for j in range(places):
                    gaussian_step(Z, j, X, i, channels, rate, L + row_bytes)
            corner[:] = 1.0 if i == 0 else 0.0
            for j in range(1, places + 1):
                global_step(L, 0, j, P, C, R)
            if i % _PERIOD == _PERIOD - 1:
                scale_back(paths, exponents)
                exponents_anew(exponents, ratio, one)
        for lane in range(FLOATS):
            end = lengths[lane] if lane < len(lengths) else 0
            reached = paths[0, end, lane] if end > 0 else 0.0
            out[r, lane] = math.log(reached) + exponents[end, lane] * math.log(2.0) if reached > 0.0 else -np.inf


@backend.jit
def local_alignments(values, offsets, rows, packed, lengths, scores, opening, extending, out):  # type: ignore[no-untyped-def]
    """out[r, lane] = log(1 + Σ over local alignments of Π scores·gaps): ``scores[a, b]`` of letters 0 …, of which −1 matches nothing.

    M, X, Y of a cell are the sums over alignments that end there with a pair, or after it with a gap in one sequence, or in the other (Saigo et al. 2004).
    """
    places, letters = len(packed), len(scores)
    states, total = np.zeros((3, places + 1, FLOATS)), np.zeros((places + 1, FLOATS))
    ratio, one, corner = np.ones((places + 1, FLOATS)), np.ones((places + 1, FLOATS)), np.zeros(FLOATS)
    exponents = np.zeros((places + 1, FLOATS), np.int64)
    profile = np.zeros((letters, places + 1, FLOATS))  # of each letter against all places
    for j in range(places):
        for lane in range(FLOATS):
            if lane < len(lengths) and j < lengths[lane] and packed[j, lane] >= 0:
                for a in range(letters):
                    profile[a, j + 1, lane] = scores[a, packed[j, lane]]
    nothing = np.zeros((places + 1, FLOATS))
    S, T, R, O, C = states.ctypes.data, total.ctypes.data, ratio.ctypes.data, one.ctypes.data, corner.ctypes.data
    sums, powers = np.zeros(FLOATS), np.zeros(FLOATS, np.int64)
    for r in range(len(rows)):
        states[:] = 0.0
        exponents[:] = 0
        ratio[:] = 1.0
        one[:] = 1.0
        sums[:] = 1.0  # the alignment of nothing
        powers[:] = 0
        begin, end = offsets[rows[r]], offsets[rows[r] + 1]
        for i in range(begin, end):
            profile_row = profile[values[i]].ctypes.data if values[i] >= 0 else nothing.ctypes.data
            if (i - begin) % _PERIOD == 0:
                total[:] = 0.0
            corner[:] = 0.0
            for j in range(1, places + 1):
                local_step(profile_row, 0, j, S, places + 1, C, R, O, T, opening, extending)
            if (i - begin) % _PERIOD == _PERIOD - 1 or i == end - 1:
                for j in range(1, places + 1):
                    for lane in range(FLOATS):
                        if total[j, lane] > 0.0:
                            power = exponents[j, lane]
                            if power > powers[lane]:
                                sums[lane] = math.ldexp(sums[lane], powers[lane] - power)
                                powers[lane] = power
                            sums[lane] += math.ldexp(total[j, lane], power - powers[lane])
                scale_back(states, exponents)
                exponents_anew(exponents, ratio, one)
        for lane in range(FLOATS):
            out[r, lane] = math.log(sums[lane]) + powers[lane] * math.log(2.0)
