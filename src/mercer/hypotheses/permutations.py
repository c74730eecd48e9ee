"""Permutation tests over one or several kernels."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Array
from mercer.hypotheses.result import Outcome, permutation_outcome
from mercer.troubles import coded


def check_permutations(count: object) -> int:
    if isinstance(count, bool) or not (isinstance(count, int | np.integer) and count >= 1):
        raise ValueError(
            coded(
                f"n_permutations={count!r}: give an integer of at least 1; p is never below 1/(n_permutations + 1).",
                "M205",
            )
        )
    return int(count)


def aggregated(name: str, statistics: Array, note: str = "") -> Outcome:
    """The outcome for rows (kernels) of statistics whose first column is that of the data, the others those of
    permutations.

    One kernel: its own test. Several: each statistic becomes its rank among all columns, the best rank over kernels is
    the statistic of a column, and the data are compared with permutations by that. All columns are treated alike, so
    the level is exact whatever the kernels (Westfall and Young 1993). ``statistic`` and ``null`` are then minus the
    logarithm of the smallest share.
    """
    if len(statistics) == 1:
        return permutation_outcome(name, float(statistics[0, 0]), statistics[0, 1:], note)
    columns = statistics.shape[1]
    close = 1e-12 * np.max(np.abs(statistics), axis=1, keepdims=True)
    order = np.sort(statistics, axis=1)
    above = np.stack(
        [columns - np.searchsorted(o, s - c, side="left") for o, s, c in zip(order, statistics, close, strict=True)]
    )
    evidence = -np.log(above.min(axis=0) / columns)
    best = int(np.argmin(above[:, 0]))
    return permutation_outcome(
        name, float(evidence[0]), evidence[1:], note or f"over {len(statistics)} kernels, best the one at place {best}"
    )
