"""Scales of targets: there and back, the mean of what was learnt as a logarithm, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer.tabular.targets import Scale, scales

rng = np.random.default_rng(0)
TARGETS = {
    "normal": rng.standard_normal(300) * 7 - 3,
    "skewed": np.exp(1.5 * rng.standard_normal(300)),
    "skewed, with 0": np.r_[np.zeros(20), np.exp(1.5 * rng.standard_normal(280))],
    "huge": np.exp(rng.standard_normal(300)) * 1e12,
    "count": rng.poisson(3, 300).astype(float),
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("logarithm", [False, True])
def test_there_and_back(name: str, logarithm: bool) -> None:
    y = TARGETS[name]
    if logarithm and y.min() < 0:
        pytest.skip("has no logarithm")
    scale = Scale.of(y, logarithm=logarithm)
    z = scale.to(y)
    assert z.mean() == pytest.approx(0, abs=1e-9)
    assert z.std() == pytest.approx(1)
    np.testing.assert_allclose(scale.back(z), y, rtol=1e-9, atol=1e-9 * np.ptp(y))


def test_weights_are_repetitions() -> None:
    y, times = TARGETS["skewed"], np.arange(300) % 4
    a, b = Scale.of(y, times.astype(float)), Scale.of(np.repeat(y, times))
    assert (a.mean, a.spread) == pytest.approx((b.mean, b.spread))


@pytest.mark.parametrize("name", ["skewed", "skewed, with 0"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_smear_makes_the_mean_right(name: str, weighted: bool) -> None:
    """Predictions of the logarithm that are right on average are too small on the scale of the target."""
    y = TARGETS[name]
    w = rng.random(300) if weighted else None
    scale = Scale.of(y, w, logarithm=True)
    z = 0.5 * scale.to(y)
    plain, smeared = scale.back(z), scale.smeared(y, z, w)
    mean = np.average(y, weights=w)
    assert np.average(plain, weights=w) < 0.8 * mean
    assert smeared.smear > 1
    free = smeared.smear * np.exp(z * scale.spread + scale.mean) - scale.shift  # without bounds
    assert np.average(free, weights=w) == pytest.approx(mean)
    np.testing.assert_allclose(smeared.back(z), np.maximum(free, scale.low))


def test_without_a_logarithm_nothing_is_smeared() -> None:
    scale = Scale.of(TARGETS["normal"])
    assert scale.smeared(TARGETS["normal"], np.zeros(300)) is scale


@pytest.mark.parametrize(
    ("y", "logarithm", "low", "high"),
    [
        (TARGETS["normal"], False, -np.inf, np.inf),
        (np.r_[TARGETS["normal"], [20.0] * 10], False, -np.inf, 20.0),
        (np.r_[TARGETS["normal"], [-30.0] * 10], False, -30.0, np.inf),
        (TARGETS["skewed, with 0"], False, 0.0, np.inf),
        (TARGETS["skewed"], True, 0.0, np.inf),
        (np.r_[0.0, TARGETS["skewed"]], False, 0.0, np.inf),
    ],
)
def test_bounds(y: Any, logarithm: bool, low: float, high: float) -> None:
    """Many rows at the least or largest value say that there are no others; what is never negative starts at 0."""
    scale = Scale.of(y, logarithm=logarithm)
    assert (scale.low, scale.high) == (low, high)
    found = scale.back(np.array([-1e6, 0.0, 1e6]))
    assert (found >= low).all()
    assert (found <= high).all()
    assert np.isfinite(found[1])
    assert not np.isnan(found).any()


def test_which_scales_are_tried() -> None:
    def logarithms(y: Any) -> list[bool]:
        return [s.logarithm for s in scales(y)]

    assert logarithms(TARGETS["skewed"]) == [False, True]
    assert logarithms(TARGETS["skewed, with 0"]) == [False, True]
    assert logarithms(TARGETS["normal"]) == [False]
    assert logarithms(np.abs(TARGETS["normal"]) + 100) == [False]
    assert logarithms(TARGETS["skewed"] - 1) == [False]  # negative values
    assert logarithms(np.r_[np.zeros(200), TARGETS["skewed"]]) == [False]  # mostly 0
    assert logarithms(np.r_[np.ones(200), 2 * np.ones(20), 50.0]) == [False]  # three values


def test_a_target_that_does_not_change() -> None:
    scale = Scale.of(np.full(10, 4.0))
    np.testing.assert_array_equal(scale.back(scale.to(np.full(3, 4.0))), 4.0)
