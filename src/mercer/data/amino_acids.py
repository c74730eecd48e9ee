"""Amino acids: which replace which, how often they are there, and what a letter of a protein says of its relatives."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYVBZX*"
_BLOSUM62 = """
4
-1 5
-2 0 6
-2 -2 1 6
0 -3 -3 -3 9
-1 1 0 0 -3 5
-1 0 0 2 -4 2 5
0 -2 0 -1 -3 -2 -2 6
-2 0 1 -1 -3 0 0 -2 8
-1 -3 -3 -3 -1 -3 -3 -4 -3 4
-1 -2 -3 -4 -1 -2 -3 -4 -3 2 4
-1 2 0 -1 -3 1 1 -2 -1 -3 -2 5
-1 -1 -2 -3 -1 0 -2 -3 -2 1 2 -1 5
-2 -3 -3 -3 -2 -3 -3 -3 -1 0 0 -3 0 6
-1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4 7
1 -1 1 0 -1 0 0 0 -1 -2 -2 0 -1 -2 -1 4
0 -1 0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1 1 5
-3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1 1 -4 -3 -2 11
-2 -2 -2 -3 -2 -1 -2 -3 2 -1 -1 -2 -1 3 -3 -2 -2 2 7
0 -3 -3 -3 -1 -2 -2 -3 -3 3 1 -2 1 -1 -2 -2 0 -3 -1 4
-2 -1 3 4 -3 0 1 -1 0 -3 -4 0 -3 -3 -2 0 -1 -4 -3 -3 4
-1 0 0 1 -3 3 4 -2 0 -3 -3 1 -1 -3 -1 0 -1 -3 -2 -2 1 4
0 -1 -1 -1 -2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -2 0 0 -2 -1 -1 -1 -1 -1
-4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 1
"""


@cache
def blosum62() -> Any:
    """The scores of the letters, in half bits."""
    rows = [list(map(float, line.split())) for line in _BLOSUM62.split("\n") if line.strip()]
    lower = np.array([row + [0.0] * (len(rows) - len(row)) for row in rows])
    return lower + np.tril(lower, -1).T


STANDARD = AMINO_ACIDS[:20]
_HALF_BIT = np.log(2.0) / 2
# how often each of them is in proteins: A. B. Robinson and L. R. Robinson, PNAS 88, 1991
_FREQUENCIES = (
    0.07805, 0.05129, 0.04487, 0.05364, 0.01925, 0.04264, 0.06295, 0.07377, 0.02199, 0.05142,
    0.09019, 0.05744, 0.02243, 0.03856, 0.05203, 0.07120, 0.05841, 0.01330, 0.03216, 0.06441,
)  # fmt: skip
_SEVERAL = {"B": "ND", "Z": "QE", "J": "IL", "X": STANDARD, "U": "C", "O": "K"}


@cache
def substitutions() -> dict[str, Any]:
    """For each letter, the probabilities of the standard amino acids where a relative has that letter: p_b exp(λ s_ab),
    made to sum to 1. Those of a letter for several are their mean.
    """
    S, p = blosum62()[:20, :20], np.array(_FREQUENCIES)
    P = p * np.exp(_HALF_BIT * S)
    rows = dict(zip(STANDARD, P / P.sum(axis=1, keepdims=True), strict=True))
    for letter, stands_for in _SEVERAL.items():
        rows[letter] = np.mean([rows[a] for a in stands_for], axis=0)
    return rows
