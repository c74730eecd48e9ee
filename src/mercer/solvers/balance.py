"""The free variables of a small dual quadratic programme at once: gradients made equal, in compiled code.

    K_FF δ + g_F = level of the group,  Σ δ = 0 over each group

One free variable of each group, its reference r, takes what the others give: with H_st = K_st − K_rt − K_sr + K_rr over
the others the sums are kept whatever they do, and H is positive definite where the free points are independent.
"""

from __future__ import annotations

import numpy as np

from mercer.runtime import compiling

_LEAST = 1e-12  # of the largest diagonal entry: a pivot below it is that of points that depend on each other


def _factor_loop(H, m):  # type: ignore[no-untyped-def]
    """U with U^T U = H, rows one after the other in place of the upper half; whether there is one."""
    largest = 0.0
    for i in range(m):
        largest = max(largest, H[i * m + i])
    for i in range(m):
        row, k = H[i * m + i : (i + 1) * m], 0
        while k + 4 <= i:  # four rows in one pass: the row that is made is read and written once for them
            first, second = H[k * m + i : (k + 1) * m], H[(k + 1) * m + i : (k + 2) * m]
            third, fourth = H[(k + 2) * m + i : (k + 3) * m], H[(k + 3) * m + i : (k + 4) * m]
            a, b, c, d = first[0], second[0], third[0], fourth[0]
            for j in range(len(row)):
                row[j] -= a * first[j] + b * second[j] + c * third[j] + d * fourth[j]
            k += 4
        while k < i:
            above = H[k * m + i : (k + 1) * m]
            a = above[0]
            for j in range(len(row)):
                row[j] -= a * above[j]
            k += 1
        if not row[0] > _LEAST * largest:
            return False
        scale = 1.0 / np.sqrt(row[0])
        for j in range(len(row)):
            row[j] *= scale
    return True


_factor = compiling.jit(_factor_loop)


def _balance_loop(  # type: ignore[no-untyped-def]
    K, ld, q, g, b, lower, upper, grow, shrink, groups, coupled, worth, buffer
):  # fmt: skip
    """Move the free variables to where their gradients are equal, or as far on the way as the bounds allow; whether
    they have moved. Not where a factorisation takes more than ``worth`` multiplications.

    Arrays are those of ``smo.iterate``; ``buffer`` holds (q + 3)·q values.
    """
    free, reference = np.empty(q, np.int64), np.empty(q, np.int64)
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
    H, step = buffer[: m * m], buffer[m * m : m * m + m]
    for s in range(m):
        i, r = free[s], reference[s]
        line, other = K[i * ld : (i + 1) * ld], K[max(r, 0) * ld : (max(r, 0) + 1) * ld]
        step[s] = -g[i]
        if coupled:
            step[s] += g[r]
        for t in range(s, m):
            j, w = free[t], reference[t]
            H[s * m + t] = line[j] - line[w] - other[j] + other[w] if coupled else line[j]
    if not _factor(H, m):
        return False
    for s in range(m):  # U^T z = step, then U step = z
        step[s] /= H[s * m + s]
        for t in range(s + 1, m):
            step[t] -= H[s * m + t] * step[s]
    for s in range(m - 1, -1, -1):
        total = step[s]
        for t in range(s + 1, m):
            total -= H[s * m + t] * step[t]
        step[s] = total / H[s * m + s]
    delta = buffer[m * m + m : m * m + m + q]
    delta[:] = 0.0
    for s in range(m):
        delta[free[s]] += step[s]
        if coupled:
            delta[reference[s]] -= step[s]
    share, blocked = 1.0, -1
    for a in range(q):
        if delta[a] != 0:
            most = (upper[a] - b[a] if delta[a] > 0 else lower[a] - b[a]) / delta[a]
            if most < share:
                share, blocked = most, a
    if not share > 0:
        return False
    for a in range(q):
        if delta[a] != 0:
            new = b[a] + share * delta[a]
            if a == blocked:
                new = upper[a] if delta[a] > 0 else lower[a]
            new = min(max(new, lower[a]), upper[a])
            change = new - b[a]
            b[a] = new
            line = K[a * ld : a * ld + q]
            for c in range(q):
                g[c] += change * line[c]
            for k in range(groups):
                at = k * ld + a
                if grow[at] == 0 or shrink[at] == 0:
                    grow[at] = 0.0 if new < upper[a] else -np.inf
                    shrink[at] = 0.0 if new > lower[a] else -np.inf
    return True


balanced = compiling.jit(_balance_loop)
