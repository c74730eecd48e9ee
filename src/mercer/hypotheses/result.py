"""What a test found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.arrays import Array


@dataclass(frozen=True, eq=False)
class Outcome:
    """A statistic, how often chance alone gives one as large, and the sample of chance it was compared with (empty
    where a formula was used).
    """

    name: str
    statistic: float
    pvalue: float
    null: Array = field(default_factory=lambda: np.empty(0), repr=False)
    note: str = ""

    def __str__(self) -> str:
        how = f"{len(self.null)} permutations" if len(self.null) else "a limit distribution"
        return (
            f"{self.name}: statistic {self.statistic:.4g}, p = {self.pvalue:.4g}"
            f" ({how}{'; ' + self.note if self.note else ''})"
        )


def permutation_outcome(name: str, statistic: float, null: Array, note: str = "") -> Outcome:
    """p = (1 + #{null ≥ statistic})/(B + 1): valid for any number B of permutations, never 0. Ties up to rounding count
    as ties.
    """
    close = 1e-12 * max(abs(statistic), float(np.max(np.abs(null), initial=0.0)))
    return Outcome(name, statistic, (1 + int(np.sum(null >= statistic - close))) / (len(null) + 1), null, note)
