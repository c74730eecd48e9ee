"""What a test found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.arrays import Array


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a test found: a statistic, and how often chance alone gives one as large.

    ``print(outcome)`` says it in one line.

    Attributes
    ----------
    name : str
        Of the statistic.
    statistic : float
        Its value on the data; large ones speak against the hypothesis.
    pvalue : float
        The probability, under the hypothesis, of a statistic at least as large. Of permutations,
        (1 + #{null ≥ statistic})/(B + 1): never 0, and its level is exact.
    null : ndarray
        The statistic of each of the B permutations; empty where a limit distribution was used.
    note : str
        How it was computed: the number of blocks, or which of several kernels was the best.

    See Also
    --------
    mmd_test, hsic_test, kci_test : The tests.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> outcome = mc.mmd_test(np.arange(10.0), np.arange(10.0) + 5, n_permutations=99, random_state=0)
    >>> outcome.pvalue, len(outcome.null)
    (0.02, 99)
    >>> print(outcome)
    maximum mean discrepancy: statistic 0.2984, p = 0.02 (99 permutations)
    """

    name: str
    statistic: float
    pvalue: float
    null: Array = field(default_factory=lambda: np.empty(0), repr=False)
    note: str = ""

    def __str__(self) -> str:
        """Statistic, p and how it was found, in one line."""
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
