"""How many components: a number, a share of the variance, or all."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.backend import Array


def component_count(wanted: Any, most: int, what: str) -> int | None:
    """``wanted`` as a number of components; None where it is a share of the variance, or all. ``what`` names the limit ``most``."""
    if wanted is None or (isinstance(wanted, float | np.floating) and 0 < wanted < 1):
        return None
    if isinstance(wanted, bool) or not isinstance(wanted, int | np.integer) or wanted < 1:
        raise ValueError(f"n_components={wanted!r}: give a whole number of at least 1, a share of the variance between 0 and 1, or None for all.")
    if wanted > most:
        raise ValueError(f"n_components={wanted} is more than {what}.")
    return int(wanted)


def share_of_variance(values: Array, total: float, wanted: Any) -> int:
    """How many of the falling ``values`` are needed for a share ``wanted`` of ``total``; all of them for None."""
    if wanted is None:
        return len(values)
    return min(int(np.searchsorted(np.cumsum(values), wanted * total * (1 - 1e-12))) + 1, len(values))
