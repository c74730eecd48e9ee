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

_REFERENCE = 2.0**37  # operations a second in float32 of the machine that the numbers below are from
_FIRST = 1200  # rows of the first round
_SECOND = 8000  # rows of the second, in a minute
_SEVERAL = 3000  # rows up to which the second round has folds
_EXACT = 16_000  # rows up to which the last fit is exact, in a minute
_CENTERS = 4000  # rows over which it is a sum, beyond
_LATE = 1.5  # times the time that is given: what is not begun by then is left out


@dataclass(frozen=True)
class Plan:
    """Rows of the two rounds, folds of the second, rows that the last fit takes exactly, centers beyond."""

    first: int
    second: int
    folds: int
    exact: int
    centers: int
    deadline: float

    @classmethod
    def of(cls, n: int, columns: int, outputs: int, seconds: float, compute: Compute | None) -> Plan:
        rate = speed((compute or Compute()).workers).single
        work = seconds / 60 * 2.0 ** round(np.log2(rate / _REFERENCE))
        # a value of the matrix costs the columns, an output a solution: both beside n³/3 of the factor
        burden = max(1.0, columns / 100, outputs / 20)
        second = _rounded(_SECOND * (work / burden) ** (1 / 3))
        folds = 5 if n <= _SEVERAL * min(1.0, work / burden) else 3 if n <= second / 2 else 1
        return cls(
            min(n, _FIRST if work >= 0.2 else _FIRST // 2),
            min(n, max(second, _FIRST // 2)),
            folds,
            max(2000, _rounded(_EXACT * (work / burden) ** (1 / 3))),
            int(np.clip(_rounded(_CENTERS * (work / burden) ** (1 / 3)), 250, 10_000)),
            _LATE * seconds,
        )


def _rounded(rows: float) -> int:
    """To a power of √2, so that the plan does not hang on the last digit of the time."""
    return int(2.0 ** (round(2 * np.log2(max(rows, 1.0))) / 2))
