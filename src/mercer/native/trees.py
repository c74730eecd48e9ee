"""Common fragments of two ordered trees."""

import numpy as np

from mercer.native.scaled import UNIT, in_range, plus
from mercer.runtime import compiling


@compiling.jit
def fragments(  # type: ignore[no-untyped-def]
    offsets, productions, starts, children, other_offsets, others, other_starts, other_children, decay, complete,
    same, first, out, powers,
):  # fmt: skip
    """out[i, j]·2^powers[i, j] = Σ over pairs of nodes of C(u, v): 0 where their productions differ, else decay · Π
    over children of 1 + C(children).

    With ``complete`` the factor is C(children), and 1 for two leaves. Children come before parents.
    """
    most, other_most = np.max(np.diff(offsets)), np.max(np.diff(other_offsets))
    C, E = np.empty((most, other_most)), np.empty((most, other_most), np.int64)  # m·2^(512 e)
    for i in range(len(offsets) - 1):
        x, m = offsets[i], offsets[i + 1] - offsets[i]
        for j in range(first + i if same else 0, len(other_offsets) - 1):
            z, n = other_offsets[j], other_offsets[j + 1] - other_offsets[j]
            total, high = 0.0, 0
            for u in range(m):
                production = productions[x + u]
                if production == 0:
                    continue
                for v in range(n):
                    if others[z + v] != production:
                        continue
                    value, unit = in_range(decay, 0)
                    s, t = starts[x + u], other_starts[z + v]
                    for k in range(starts[x + u + 1] - s):
                        a, b = children[s + k], other_children[t + k]
                        alike = productions[x + a] == others[z + b]
                        leaves = productions[x + a] == 0 and others[z + b] == 0
                        below, level = (C[a, b], E[a, b]) if alike and not leaves else (0.0, np.int64(0))
                        if not complete:
                            below, level = plus(1.0, 0, below, level)
                        elif leaves:
                            continue
                        value, unit = in_range(value * below, unit + level)
                    C[u, v], E[u, v] = value, unit
                    total, high = plus(total, high, value, unit)
            out[i, j], powers[i, j] = total, UNIT * high
