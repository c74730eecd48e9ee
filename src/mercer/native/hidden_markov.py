"""Hidden Markov models: forward and backward sums, several sequences side by side, and the most probable states."""

import numpy as np

from mercer.runtime import compiling

LANES = 16  # sequences side by side: as many as packed has columns; a long one is alone
_SMALL, _TINY = 1e-100, 1e-200  # a product of factors is turned into a logarithm before it can leave the floats


@compiling.jit
def _seen(letters, emission, out):  # type: ignore[no-untyped-def]
    """out[s, lane] = the probability of the letter of each lane in each state."""
    for s in range(len(out)):
        for lane in range(len(letters)):
            out[s, lane] = emission[letters[lane], s]


@compiling.jit
def _moved(before, transition, here):  # type: ignore[no-untyped-def]
    """here[s, lane] += Σ_r before[r, lane]·transition[r, s]. Of one lane the states lie side by side in its place."""
    S, lanes = here.shape
    for r in range(S):
        if lanes == 1:
            p = before[r, 0]
            for s in range(S):
                here[s, 0] += p * transition[r, s]
        else:
            row = before[r]
            for s in range(S):
                p, into = transition[r, s], here[s]
                for lane in range(lanes):
                    into[lane] += p * row[lane]


@compiling.jit
def _passed(before, ahead, counted, transition, behind, moves):  # type: ignore[no-untyped-def]
    """behind[r, lane] = Σ_s transition[r, s]·ahead[s, lane], moves[r, s, lane] += before[r, lane]·counted[s, lane]."""
    S, lanes = ahead.shape
    for r in range(S):
        if lanes == 1:
            p, total = before[r, 0], 0.0
            for s in range(S):
                total += transition[r, s] * ahead[s, 0]
                moves[r, s, 0] += p * counted[s, 0]
            behind[r, 0] = total
        else:
            row, back = before[r], behind[r]
            back[:] = 0.0
            for s in range(S):
                p, one, own, moved = transition[r, s], ahead[s], counted[s], moves[r, s]
                for lane in range(lanes):
                    back[lane] += p * one[lane]
                    moved[lane] += row[lane] * own[lane]


@compiling.jit
def forward(packed, initial, transition, emission, states, factors, logs):  # type: ignore[no-untyped-def]
    """states[t, s, lane] = p(state s at t | letters 0 … t), logs[lane] = log p(all letters).

    ``packed`` is places × lanes of letters, whose row of ``emission`` (letters × states) is all ones where a letter is
    not known. factors[t] are one over the probability of letter t given those before it.
    """
    (n, lanes), S = packed.shape, len(initial)
    seen, total, product = np.empty((S, lanes)), np.empty(lanes), np.ones(lanes)
    logs[:] = 0.0
    for t in range(n):
        _seen(packed[t], emission, seen)
        here = states[t]
        for s in range(S):
            for lane in range(lanes):
                here[s, lane] = initial[s] if t == 0 else 0.0
        if t:
            _moved(states[t - 1], transition, here)
        total[:] = 0.0
        for s in range(S):
            for lane in range(lanes):
                here[s, lane] *= seen[s, lane]
                total[lane] += here[s, lane]
        for lane in range(lanes):
            c = total[lane]
            factors[t, lane] = 1.0 / c if c > 0.0 else 0.0
            if c < _TINY:
                logs[lane] += np.log(c)
            else:
                product[lane] *= c
                if product[lane] < _SMALL:
                    logs[lane] += np.log(product[lane])
                    product[lane] = 1.0
        for s in range(S):
            for lane in range(lanes):
                here[s, lane] *= factors[t, lane]
    for lane in range(lanes):
        logs[lane] += np.log(product[lane])


@compiling.jit
def backward(packed, lengths, transition, emission, states, factors, first, moves, letters):  # type: ignore[no-untyped-def]
    """The expected counts given all letters, for each lane: of first states, of moves from one state to another, of
    letters (letters × states). ``states`` and ``factors`` are those of ``forward``.
    """
    (n, lanes), S = packed.shape, len(transition)
    seen, later, ahead, counted = np.ones((S, lanes)), np.ones((S, lanes)), np.ones((S, lanes)), np.ones((S, lanes))
    inside = np.empty(lanes)
    first[:] = 0.0
    moves[:] = 0.0
    letters[:] = 0.0
    for t in range(n - 1, -1, -1):
        here = states[t]
        for lane in range(lanes):
            inside[lane] = 1.0 if t < lengths[lane] else 0.0
        for s in range(S):
            for lane in range(lanes):
                letters[packed[t, lane], s, lane] += inside[lane] * here[s, lane] * later[s, lane]
        if t == 0:
            for s in range(S):
                for lane in range(lanes):
                    first[s, lane] = inside[lane] * here[s, lane] * later[s, lane]
            break
        _seen(packed[t], emission, seen)
        for s in range(S):
            for lane in range(lanes):
                ahead[s, lane] = seen[s, lane] * later[s, lane] * factors[t, lane]
                counted[s, lane] = ahead[s, lane] * inside[lane]
        _passed(states[t - 1], ahead, counted, transition, later, moves)
    for r in range(S):
        for s in range(S):
            for lane in range(lanes):
                moves[r, s, lane] *= transition[r, s]


@compiling.jit
def most_probable(letters, initial, transition, emission, came, out):  # type: ignore[no-untyped-def]
    """The states of one sequence that are together most probable, from logarithms of the probabilities."""
    n, S = len(letters), len(initial)
    best, fresh = np.empty(S), np.empty(S)
    for t in range(n):
        for s in range(S):
            if t == 0:
                fresh[s] = initial[s]
            else:
                top, place = best[0] + transition[0, s], 0
                for r in range(1, S):
                    value = best[r] + transition[r, s]
                    if value > top:
                        top, place = value, r
                fresh[s], came[t, s] = top, place
            fresh[s] += emission[letters[t], s]
        best[:] = fresh
    if n:
        out[n - 1] = np.argmax(best)
        for t in range(n - 1, 0, -1):
            out[t - 1] = came[t, out[t]]
