"""How much is tried: rows of each round, folds, and what the last fit may take, from the time and a measured speed.

The plan follows from the number of rows, the time that is given and the speed of the machine, which is measured once
and rounded to a power of 2: the same seed gives the same plan, whatever else the machine does meanwhile. Work that is
planned is done to its end; only what is not begun when half as much again of the time is over is left out, and said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.compute import Compute
from mercer.native.speed import speed

_REFERENCE = 2.1e11  # operations a second in float32 of the machine that the numbers below are from
_FIRST, _HALF = 1000, 0.5  # rows of the first round; minutes of such a machine, in less of which half as many
_SECOND = 8192  # rows of the second, in a minute
_FIVE, _THREE = 3500, 7000  # rows up to which the second round has so many folds
_FOUR_TIMES, _SIX_TIMES = 2000, 1000  # rows up to which they are dealt so often
_EXACT = 23_170  # rows up to which the last fit is exact, in a minute
_CENTERS = 4096  # rows over which it is a sum, beyond
_VALUES = 2.5e8  # of the matrix of rows and centers: a pass over more takes too long
_SUPPORT = 2  # times as many rows are few for support vectors, which need no factor
_GROWN = 2**0.5  # times as many rows are few for trees
_LATE = 1.5  # times the time that is given: what is not begun by then is left out


@dataclass(frozen=True)
class Plan:
    """Rows of the two rounds, folds of the second and how often they are dealt, rows of an exact last fit, centers
    beyond that, and the seconds after which nothing is begun.
    """

    first: int
    second: int
    folds: int
    repeats: int
    exact: int
    centers: int
    deadline: float

    @property
    def support(self) -> int:
        """Rows that the last fit of support vectors takes exactly."""
        return _SUPPORT * self.exact

    @property
    def grown(self) -> int:
        """Rows that trees are grown from."""
        return int(_GROWN * self.exact)

    @classmethod
    def of(cls, n: int, columns: int, outputs: int, seconds: float, compute: Compute | None) -> Plan:
        rate = speed((compute or Compute()).workers).single
        work = seconds / 60 * 2.0 ** round(np.log2(rate / _REFERENCE))
        # a value of the matrix costs the columns, an output a machine of the search; beside n³/3 of the one factor of
        # the last fit, an output is n²
        width = max(1.0, columns / 100)
        burden = max(width, outputs / 6)
        second = _rounded(_SECOND * (work / burden) ** (1 / 3))
        share = min(1.0, work / burden)
        folds = 5 if n <= _FIVE * share else 3 if n <= _THREE * share else 1
        return cls(
            min(n, _FIRST if work >= _HALF else _FIRST // 2),
            min(n, max(second, _FIRST // 2)),
            folds,
            6 if n <= _SIX_TIMES * share else 4 if n <= _FOUR_TIMES * share else 1,
            max(2000, _rounded(_EXACT * (work / width) ** (1 / 3))),
            int(
                np.clip(min(_rounded(_CENTERS * (work / burden) ** (1 / 3)), _rounded(_VALUES * work / n)), 250, 10_000)
            ),
            _LATE * seconds,
        )


def _rounded(rows: float) -> int:
    """To a power of √2, so that the plan does not hang on the last digit of the time."""
    return int(2.0 ** (round(2 * np.log2(max(rows, 1.0))) / 2))
