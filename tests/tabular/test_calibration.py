"""Probabilities from scores: the optimum against SciPy's on the same likelihood, written out once more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.tabular.calibration import Calibration


def sample(classes: int, n: int = 300, seed: int = 0) -> tuple[Any, Any, Any]:
    """Scores that tell something of classes of unequal size, the classes, weights."""
    rng = np.random.default_rng(seed)
    shares = np.arange(1, classes + 1) / sum(range(1, classes + 1))
    codes = rng.choice(classes, n, p=shares)
    scores = 0.7 * (codes[:, None] == np.arange(classes)) + 0.4 * rng.standard_normal((n, classes))
    return (scores[:, 1] - scores[:, 0] if classes == 2 else scores), codes, rng.random(n) + 0.2


def by_hand(F: Any, a: float, b: Any) -> Any:
    """exp(a f_k + b_k) over their sum."""
    e = np.exp(a * F + b)
    return e / e.sum(axis=1, keepdims=True)


def columns(scores: Any) -> Any:
    return np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum(classes: int, weighted: bool) -> None:
    scores, codes, weights = sample(classes)
    w = weights if weighted else np.ones(len(codes))
    F = columns(scores)

    def cost(theta: Any) -> float:
        p = by_hand(F, theta[0], theta[1:])
        return float(-w @ np.log(p[np.arange(len(codes)), codes]) + theta[1:] @ theta[1:] / 2)

    best = minimize(cost, np.r_[1.0, np.zeros(classes)], method="BFGS", options={"gtol": 1e-6})
    found = Calibration.of(scores, codes, classes, weights if weighted else None)
    assert cost(np.r_[found.slope, found.offsets]) <= best.fun * (1 + 1e-6)
    assert found.slope == pytest.approx(best.x[0], rel=2e-3)
    np.testing.assert_allclose(found.offsets, best.x[1:], atol=2e-3)
    np.testing.assert_allclose(found(scores), by_hand(F, found.slope, found.offsets), rtol=1e-10)


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities(classes: int) -> None:
    scores, codes, _ = sample(classes)
    p = Calibration.of(scores, codes, classes)(scores * 1e3)
    assert p.shape == (len(codes), classes)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_one_column_is_two_of_opposite_sign() -> None:
    scores, codes, weights = sample(2)
    one = Calibration.of(scores, codes, 2, weights)
    two = Calibration.of(columns(scores), codes, 2, weights)
    np.testing.assert_allclose(one(scores), two(columns(scores)), rtol=1e-9)
    np.testing.assert_array_equal(one(scores[:, None]), one(scores))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_larger_score_is_a_larger_probability(sign: int) -> None:
    """Also where scores are worse than nothing: the order is the machine's."""
    scores, codes, _ = sample(2)
    p = Calibration.of(sign * scores, codes, 2)(np.linspace(-3, 3, 50))[:, 1]
    assert (np.diff(p) > 0).all()


def test_the_unit_of_scores_does_not_matter() -> None:
    scores, codes, _ = sample(3)
    a, b = (Calibration.of(c * scores, codes, 3)(c * scores) for c in (1.0, 1e6))
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_a_weight_is_a_repetition() -> None:
    scores, codes, _ = sample(3, 60)
    times = np.random.default_rng(0).integers(1, 4, 60)
    a = Calibration.of(scores, codes, 3, times.astype(float))
    b = Calibration.of(np.repeat(scores, times, axis=0), np.repeat(codes, times), 3)
    assert a.slope == pytest.approx(b.slope, rel=0.02)  # the unit of the scores is that of other rows


def test_what_is_separated_and_what_says_nothing() -> None:
    codes = np.repeat([0, 1], 20)
    p = Calibration.of(np.where(codes, 1.0, -1.0), codes, 2)(np.array([-1.0, 1.0]))
    assert np.isfinite(p).all()
    assert p[0, 0] > 0.97 < p[1, 1]
    p = Calibration.of(np.zeros(40), codes, 2)(np.zeros(3))
    np.testing.assert_allclose(p, 0.5, atol=1e-6)


def test_the_mean_probability_is_the_share_of_the_class() -> None:
    """A property of the likelihood, up to what holds the offsets back."""
    scores, codes, _ = sample(3, 2000)
    p = Calibration.of(scores, codes, 3)(scores)
    np.testing.assert_allclose(p.mean(axis=0), np.bincount(codes) / len(codes), atol=2 / 2000 + 1e-4)
