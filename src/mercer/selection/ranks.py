"""Which of n errors a new one exceeds with no more than a given probability: what all conformal prediction rests on.

Of n + 1 exchangeable errors each is as likely as any other to be the largest, the second, …: a new one is at most the
k-th smallest of n others with probability k/(n + 1) or more, exactly k/(n + 1) where no two are equal.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from mercer.troubles import coded

_ROUNDING = 1e-9  # 0.55·100 is 55.00000000000001 in floating point, and not meant to be 56


def rank(n: int, coverage: float) -> int:
    """k = ⌈(n + 1)·coverage⌉: P(new error ≤ the k-th smallest of n) ≥ coverage. n + 1 says that n are too few."""
    return max(1, int(np.ceil((n + 1) * coverage - _ROUNDING)))


def check_enough(n: int, coverage: float) -> None:
    """Raise ValueError where n errors are too few for a finite bound, with the number that is enough."""
    if rank(n, coverage) > n:
        least = next(m for m in count(1) if rank(m, coverage) <= m)
        raise ValueError(
            coded(
                f"Coverage {coverage:g} needs errors of at least {least} samples, n_samples = {n}: the interval"
                " would be infinite.",
                "M310",
            )
        )


def check_coverage(coverage: float) -> None:
    """Raise ValueError unless it is a share."""
    if not 0 < coverage < 1:
        raise ValueError(coded(f"coverage={coverage!r}: a share between 0 and 1.", "M205"))
