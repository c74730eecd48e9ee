"""64-bit codes of anything: one mixing function, for arrays and for compiled loops alike."""

from __future__ import annotations

from typing import Any

import numpy as np


def mix(x: Any) -> Any:
    """A bijection of 64-bit numbers after which each bit depends on all (splitmix64's finaliser)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
