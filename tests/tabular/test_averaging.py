"""Weights of an average against all points of a grid, and claims that choosing among noise does not flatter."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from mercer.tabular.averaging import claimed, weights_of


def loss(beta: Any, answers: Any, truth: Any, weights: Any) -> float:
    """Σ_i w_i ‖Σ_c β_c p_c(x_i) − y_i‖², written out."""
    total = 0.0
    for i in range(len(truth)):
        mean = sum(b * a[i] for b, a in zip(beta, answers, strict=True))
        total += (1.0 if weights is None else weights[i]) * float(np.sum((mean - truth[i]) ** 2))
    return total


def candidates(shape: tuple[int, ...], weighted: bool) -> tuple[list[Any], Any, Any]:
    """Three that err in different places, of unequal worth."""
    rng = np.random.default_rng(0)
    truth = rng.random(shape)
    answers = [truth + size * rng.standard_normal(shape) for size in (1.0, 1.2, 1.5)]
    return answers, truth, 3 * rng.random(shape[0]) if weighted else None


@pytest.mark.parametrize("shape", [(40,), (20, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_the_best_of_a_grid(shape: tuple[int, ...], weighted: bool) -> None:
    answers, truth, weights = candidates(shape, weighted)
    found = weights_of(answers, truth, weights)
    steps = 40
    grid = [
        np.array([a, b, steps - a - b]) / steps
        for a, b in itertools.product(range(steps + 1), repeat=2)
        if a + b <= steps
    ]
    losses = [loss(beta, answers, truth, weights) for beta in grid]
    assert min(found) > 0.08  # all three are kept
    assert found.sum() == pytest.approx(1)
    assert loss(found, answers, truth, weights) <= min(losses) * (1 + 1e-6)
    np.testing.assert_allclose(found, grid[int(np.argmin(losses))], atol=1.5 / steps)


def test_a_candidate_of_little_weight_is_dropped() -> None:
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(200)
    answers = [truth + rng.standard_normal(200), truth + 6 * rng.standard_normal(200)]
    assert weights_of(answers, truth, None).tolist() == [1.0, 0.0]


def test_few_are_kept_of_many() -> None:
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(300)
    answers = [truth + rng.standard_normal(300) for _ in range(9)]
    found = weights_of(answers, truth, None)
    assert 1 < (found > 0).sum() <= 4
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0


def test_one_alone_twins_and_those_that_are_all_wrong() -> None:
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(50)
    assert weights_of([truth + 1.0], truth, None).tolist() == [1.0]
    twins = weights_of([truth, truth], truth, None)
    assert twins.sum() == pytest.approx(1)
    against = weights_of([-truth, -2 * truth], truth, None)
    np.testing.assert_allclose(against, [1, 0], atol=1e-9)
    nothing = weights_of([np.zeros(50), np.zeros(50)], truth, None)
    assert np.isfinite(nothing).all()
    assert nothing.sum() == pytest.approx(1)


def accuracy_of_the_best(right: Any) -> Any:
    """What would be chosen by some rows, and its score on others: ``right`` is (candidates, rows) of 0 and 1."""

    def choose(rows: Any) -> Any:
        best = right[:, rows].mean(axis=1).argmax()
        return lambda rest: right[best, rest].mean()

    return choose


@pytest.mark.thorough
def test_choosing_among_noise_is_worth_nothing() -> None:
    """Fifty candidates that toss a coin: the best of them looks good on 60 rows, and the claim says one half."""
    rng = np.random.default_rng(0)
    claims, seeming = [], []
    for repetition in range(200):
        right = (rng.random((50, 60)) < 0.5).astype(float)
        best = right[right.mean(axis=1).argmax()]
        claims.append(
            claimed(60, 1, accuracy_of_the_best(right), lambda rows, best=best: best[rows].mean(), repetition)
        )
        seeming.append(best.mean())
    scores = np.array([c.score for c in claims])
    error = scores.std() / np.sqrt(len(scores))
    assert abs(scores.mean() - 0.5) < 4 * error < 0.02
    assert np.mean(seeming) > 0.6


def test_a_claim_without_choice_is_the_score_and_its_standard_error() -> None:
    rng = np.random.default_rng(0)
    right = (rng.random((1, 400)) < 0.8).astype(float)
    found = claimed(400, 1, accuracy_of_the_best(right), lambda rows: right[0, rows].mean(), 0)
    assert found.rows == 400
    assert found.score == pytest.approx(right.mean(), abs=0.01)
    assert found.error == pytest.approx(np.sqrt(0.8 * 0.2 / 400), rel=0.3)


def test_a_better_candidate_is_found_and_claimed() -> None:
    rng = np.random.default_rng(0)
    right = (rng.random((20, 500)) < np.r_[0.9, np.full(19, 0.5)][:, None]).astype(float)
    found = claimed(500, 1, accuracy_of_the_best(right), lambda rows: right[0, rows].mean(), 0)
    assert found.score == pytest.approx(right[0].mean(), abs=0.01)


def test_the_seed_decides() -> None:
    right = (np.random.default_rng(0).random((5, 40)) < 0.5).astype(float)
    a, b, c = (claimed(40, 1, accuracy_of_the_best(right), lambda rows: right[0, rows].mean(), s) for s in (0, 0, 1))
    assert a == b != c
