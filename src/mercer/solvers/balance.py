"""The free variables of a small dual quadratic programme at once: gradients made equal, in compiled code.

    K_FF δ + g_F = level of the group,  Σ δ = 0 over each group

One free variable of each group, its reference r, takes what the others give: with H_st = K_st − K_rt − K_sr + K_rr over
the others the sums are kept whatever they do, and H is positive definite where the free points are independent.
"""

from __future__ import annotations

from mercer.native.positive import solve_positive
from mercer.runtime import compiling

_LEAST = 1e-12  # of the largest diagonal entry: a pivot below it is that of points that depend on each other


def _balance_loop(  # type: ignore[no-untyped-def]
    K, ld, q, g, b, lower, upper, grow, shrink, groups, coupled, worth, buffer, free, reference, routine
):  # fmt: skip
    """Move the free variables b to where their gradients are equal, or as far on the way as the bounds allow; whether
    they have moved. Not where a factorisation takes more than ``worth`` multiplications. The gradient g, and what can
    move (``grow``, ``shrink``), is for the caller to compute anew.

    Arrays are those of ``smo.iterate``; ``buffer`` holds (q + 3)·q values, ``free`` and ``reference`` q, ``routine`` is
    where LAPACK's dposv is.
    """
    m = 0
    for k in range(groups):
        r = -1
        for a in range(q):
            if grow[k * ld + a] == 0 and shrink[k * ld + a] == 0:
                if coupled and r < 0:
                    r = a
                else:
                    free[m], reference[m] = a, r
                    m += 1
    if m == 0 or m * m * m > worth:
        return False
    step, delta, largest = buffer[m * m :], buffer[m * m + m :], 0.0
    for s in range(m):
        i, r = free[s], reference[s]
        step[s] = g[r] - g[i] if coupled else -g[i]
        for t in range(s, m):
            j, w = free[t], reference[t]
            value = K[i * ld + j]
            if coupled:
                value += K[r * ld + w] - K[i * ld + w] - K[r * ld + j]
            buffer[s * m + t] = value
        if buffer[s * m + s] > largest:
            largest = buffer[s * m + s]
    if solve_positive(routine, buffer, m, step) != 0:
        return False
    for a in range(q):
        delta[a] = 0.0
    for s in range(m):
        if not buffer[s * m + s] ** 2 > _LEAST * largest:  # a pivot
            return False
        delta[free[s]] += step[s]
        if coupled:
            delta[reference[s]] -= step[s]
    share, blocked = 1.0, -1
    for a in range(q):
        if delta[a] != 0:
            most = ((upper[a] if delta[a] > 0 else lower[a]) - b[a]) / delta[a]
            if most < share:
                share, blocked = most, a
    if not share > 0:
        return False
    for a in range(q):
        if delta[a] != 0:
            new = b[a] + share * delta[a]
            bound = upper[a] if delta[a] > 0 else lower[a]
            b[a] = bound if a == blocked or (new - bound) * delta[a] > 0 else new
    return True


balanced = compiling.jit(_balance_loop)
