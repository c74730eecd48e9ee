"""Questions about arrays."""

from __future__ import annotations

import numpy as np

from mercer import arrays


def test_all_finite() -> None:
    x = np.zeros((3, 4))
    assert arrays.all_finite(x)
    assert arrays.all_finite(x[:0])
    assert arrays.all_finite(np.full(10, 1e308))  # the sum would overflow
    for bad in (np.nan, np.inf, -np.inf):
        x[1, 2] = bad
        assert not arrays.all_finite(x)
