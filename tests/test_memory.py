"""The budget is kept: the peak of every estimator, of narrow tables and of wide ones."""

from __future__ import annotations

import sys

import pytest
from benchmarks import bench_memory

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")]


@pytest.mark.parametrize("width", bench_memory.WIDTHS)
@pytest.mark.parametrize("name", bench_memory.CASES)
def test_the_peak_is_within_the_budget(name: str, width: int) -> None:
    assert bench_memory.peak(name, width) <= 1.1 * bench_memory.BUDGET
