"""The budget is kept: the peak of every estimator, of narrow tables and of wide ones."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import mercer as mc
from benchmarks import bench_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")


@pytest.mark.slow
@pytest.mark.parametrize("width", bench_memory.WIDTHS)
@pytest.mark.parametrize("name", bench_memory.CASES)
def test_the_peak_is_within_the_budget(name: str, width: int) -> None:
    assert bench_memory.peak(name, width) <= 1.1 * bench_memory.BUDGET


QUICK = ("KernelRidge", "KernelPCA, Nystrom")  # the others take longer, and keep to the same code


def _quick(names: Iterable[str]) -> list[Any]:
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.thorough
@pytest.mark.parametrize("name", _quick(bench_memory.CENTERS))
def test_the_peak_with_centers(name: str) -> None:
    assert bench_memory.lean(name) <= 1.1 * 3 * bench_memory.LEAN


@pytest.mark.thorough
@pytest.mark.parametrize("name", _quick(bench_memory.CENTERS))
def test_the_peak_with_centers_from_a_file_larger_than_the_budget(name: str) -> None:
    assert 8e-6 * bench_memory.ROWS * bench_memory.COLUMNS > bench_memory.LEAN
    assert bench_memory.lean(name, "blocks") <= 1.1 * bench_memory.LEAN


@pytest.mark.slow
@pytest.mark.parametrize("name", bench_memory.FEATURES)
def test_the_peak_with_features(name: str) -> None:
    assert bench_memory.lean(name) <= 1.1 * 3 * bench_memory.LEAN


@pytest.mark.thorough
def test_a_broken_budget_is_seen() -> None:
    """The same check of a loop that stores what it should pass over."""
    code = "import numpy as np\nX = np.ones((16_000, 400))\ndef work():\n    return X.copy()"
    assert bench_memory.peak_memory(code) > 1.1e6 * bench_memory.LEAN


@pytest.mark.parametrize("kernel", [mc.Nystrom(mc.Gaussian(0.1), 200), mc.RandomFeatures(mc.Gaussian(0.1), 200)])
@pytest.mark.parametrize("machine", [mc.KernelPCA(2), mc.KernelKMeans(2)])
@pytest.mark.thorough
def test_features_that_do_not_fit_are_refused(machine: mc.KernelPCA, kernel: mc.Kernel) -> None:
    X = np.random.default_rng(0).standard_normal((2000, 3))
    with pytest.raises(MemoryError, match="two fifths of the memory budget"):
        machine.set_params(kernel=kernel, compute=mc.Compute(memory="7.9MB")).fit(X)
    machine.set_params(compute=mc.Compute(memory="8.1MB")).fit(X)
