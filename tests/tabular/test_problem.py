"""Parts of a problem, how rows are held out, and decisions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import polars as pl
import pytest

from mercer.tabular.metrics import metric_of
from mercer.tabular.problem import Problem, decided
from mercer.tabular.targets import Scale

N = 400


def problem(metric: str | None = None, *, shares: tuple[float, ...] = (), n: int = N, **options: Any) -> Problem:
    """Of numbers; of classes where their shares are given."""
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"row": np.arange(n)})
    if not shares:
        return Problem(X, rng.standard_normal(n), [], metric_of("regression", metric), **options)
    counts = np.round(n * np.array(shares)).astype(int)
    y = rng.permutation(np.repeat(np.arange(len(shares)), counts))
    return Problem(X, y, [f"c{k}" for k in range(len(shares))], metric_of("classification", metric), **options)


def groups_of(sizes: list[int]) -> Any:
    return np.random.default_rng(1).permutation(np.repeat([f"g{j}" for j in range(len(sizes))], sizes))


# -- parts -------------------------------------------------------------------------------------------------------------


def test_a_part_keeps_rows_of_every_class() -> None:
    p = problem(shares=(0.7, 0.28, 0.015, 0.005))
    rows = p.part(60, np.random.default_rng(0))
    assert (np.diff(rows) > 0).all()
    counts = np.bincount(p.y[rows], minlength=4)
    assert counts[0] == 42
    assert counts[1] == 17
    assert counts[2:].tolist() == [6, 2]  # all there are
    assert p.at(rows).X["row"].to_list() == rows.tolist()


def test_a_part_has_several_groups() -> None:
    """Whole ones, but where five of them are more rows than were asked for."""
    p = problem(groups=groups_of([40, 60, 100, 20, 80, 50, 50]))
    for seed in range(5):
        rows = p.part(150, np.random.default_rng(seed))
        assert len(rows) == 150
        assert len(np.unique(p.groups[rows])) == 5
    small = problem(groups=groups_of([20] * 20))
    rows = small.part(150, np.random.default_rng(0))
    assert len(rows) == 140
    assert all((small.groups[rows] == name).sum() == 20 for name in np.unique(small.groups[rows]))


@pytest.mark.parametrize("shares", [(), (0.5, 0.5)])
def test_a_part_of_large_groups_can_still_be_split(shares: tuple[float, ...]) -> None:
    """Each group has more rows than were asked for: two are needed all the same."""
    p = problem(shares=shares, groups=groups_of([130, 140, 130]))
    part = p.at(p.part(100, np.random.default_rng(0)))
    names = np.unique(part.groups)
    assert len(names) >= 2
    assert part.splits(5, 0)


def test_a_part_of_times_is_the_latest() -> None:
    times = np.random.default_rng(3).permutation(N).astype(float)
    rows = problem(times=times).part(50, np.random.default_rng(0))
    assert sorted(times[rows]) == list(range(N - 50, N))


def test_all_rows_and_no_more() -> None:
    for p in (problem(), problem(shares=(0.5, 0.5)), problem(times=np.arange(N) * 1.0)):
        assert p.part(N + 1, np.random.default_rng(0)).tolist() == list(range(N))
        assert len(p.part(100, np.random.default_rng(0))) == 100


# -- splits ------------------------------------------------------------------------------------------------------------

FOLDED = {
    "numbers": problem(),
    "classes": problem(shares=(0.6, 0.3, 0.1)),
    "groups": problem(groups=groups_of([40] * 10)),
    "groups of classes": problem(shares=(0.6, 0.4), groups=groups_of([20] * 20)),
}


@pytest.mark.parametrize("kind", FOLDED)
@pytest.mark.parametrize("folds", [3, 5])
def test_every_row_is_tested_once(kind: str, folds: int) -> None:
    p = FOLDED[kind]
    splits = p.splits(folds, 0)
    assert len(splits) == folds
    assert sorted(np.concatenate([test for _, test in splits]).tolist()) == list(range(N))
    for train, test in splits:
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(N))
        if p.groups is not None:
            assert not set(p.groups[train]) & set(p.groups[test])
        if kind == "classes":
            expected = np.bincount(p.y) / folds
            assert np.abs(np.bincount(p.y[test]) - expected).max() <= 1


@pytest.mark.parametrize("kind", FOLDED)
def test_one_fold_is_a_fifth(kind: str) -> None:
    ((train, test),) = FOLDED[kind].splits(1, 0)
    assert len(test) == pytest.approx(N / 5, rel=0.25)
    assert len(train) + len(test) == N


def test_the_seed_decides() -> None:
    a, b, c = (problem().splits(5, seed)[0][1].tolist() for seed in (0, 0, 1))
    assert a == b != c


@pytest.mark.parametrize("folds", [1, 3, 5])
@pytest.mark.parametrize("shares", [(), (0.5, 0.5)])
def test_times_go_forward_only(folds: int, shares: tuple[float, ...]) -> None:
    times = np.random.default_rng(3).permutation(N).astype(float)
    splits = problem(shares=shares, times=times).splits(folds, 0)
    assert len(splits) == folds
    for train, test in splits:
        assert times[train].max() < times[test].min()
    tests = np.concatenate([test for _, test in splits])
    assert len(np.unique(tests)) == len(tests)
    assert times[tests].max() == N - 1  # the latest are tested


def test_rows_of_one_time_are_on_one_side() -> None:
    """What is trained on is earlier than what is tested, not of the same day."""
    times = np.repeat(np.arange(8.0), 50)
    for train, test in problem(times=times).splits(5, 0):
        latest, first = times[train].max(), times[test].min()
        assert latest < first


def test_a_rare_class_is_no_obstacle() -> None:
    p = problem(shares=(0.6, 0.395, 0.005))
    splits = p.splits(5, 0)
    assert len(splits) == 5
    assert all((p.y[train] == 2).any() for train, _ in splits)


def test_a_training_part_has_two_classes() -> None:
    """Of the parts of a time, those after which there is but one class are left out."""
    y = np.r_[np.zeros(200, int), np.ones(200, int)]
    p = Problem(None, y, ["a", "b"], metric_of("classification"), times=np.arange(N) * 1.0)
    assert p.splits(5, 0)
    assert all(len(np.unique(y[train])) == 2 for train, _ in p.splits(5, 0))


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_the_shift_puts_the_right_share_below(level: float) -> None:
    p = problem(f"pinball:{level}")
    answers = np.random.default_rng(5).standard_normal(N)
    shifted = answers + p.shift(answers)
    assert np.mean(p.y <= shifted) == pytest.approx(level, abs=1.5 / N)
    grid = [p.metric(p.y, answers + s) for s in np.linspace(-4, 4, 401)]
    assert p.metric(p.y, shifted) <= min(grid) + 1e-12  # no other shift has less loss
    assert problem("rmse").shift(answers) == problem(shares=(0.5, 0.5)).shift(answers) == 0.0


def test_decisions_of_balanced_accuracy_are_the_best_of_all() -> None:
    """Three kinds of rows, three classes, the probabilities known: all 27 rules are tried."""
    rng = np.random.default_rng(0)
    joint = rng.dirichlet(np.ones(9)).reshape(3, 3) * np.array([1.0, 0.2, 0.05])  # rows by classes, the last rare
    joint /= joint.sum()
    priors = joint.sum(axis=0)
    given_x = joint / joint.sum(axis=1, keepdims=True)

    def balanced(rule: Any) -> float:
        return float(np.mean([sum(joint[x, k] for x in range(3) if rule[x] == k) / priors[k] for k in range(3)]))

    def plain(rule: Any) -> float:
        return float(sum(joint[x, rule[x]] for x in range(3)))

    rules = list(itertools.product(range(3), repeat=3))
    by_balance = decided(given_x, metric_of("classification", "balanced_accuracy"), priors)
    by_accuracy = decided(given_x, metric_of("classification", "accuracy"), priors)
    assert balanced(by_balance) == pytest.approx(max(map(balanced, rules)))
    assert plain(by_accuracy) == pytest.approx(max(map(plain, rules)))
    assert by_balance.tolist() != by_accuracy.tolist()


def test_balanced_weights_and_priors() -> None:
    weights = np.random.default_rng(0).random(N)
    p = problem(shares=(0.7, 0.2, 0.1), weights=weights)
    totals = [p.balanced()[p.y == k].sum() for k in range(3)]
    np.testing.assert_allclose(totals, 1)
    np.testing.assert_allclose(p.priors(), [weights[p.y == k].sum() / weights.sum() for k in range(3)])


def test_losses_are_near_the_metrics() -> None:
    p = problem(shares=(0.7, 0.3))
    truth = (p.y[:, None] == np.arange(2)) * 1.0
    assert p.loss(truth) == 0
    assert p.loss(np.full((N, 2), 0.5)) == pytest.approx(0.5)
    always = np.tile([1.0, 0.0], (N, 1))
    assert p.loss(always) == pytest.approx(2 * 0.3)
    assert problem("balanced_accuracy", shares=(0.7, 0.3)).loss(always) == pytest.approx(2 * 0.5)
    numbers = problem()
    assert numbers.loss(np.zeros(N)) == pytest.approx(np.mean(numbers.y**2))
    assert problem("mae").loss(np.full(N, 9.0)) == pytest.approx(np.abs(numbers.y - np.median(numbers.y)).mean())


def test_targets_as_machines_learn_them() -> None:
    p = problem(shares=(0.5, 0.3, 0.2))
    coded = p.coded(None)
    assert coded.numbers.shape == (N, 3)
    assert all(row[k] == 1 and sorted(row) == [-1, -1, 1] for row, k in zip(coded.numbers.tolist(), p.y, strict=True))
    two = problem(shares=(0.5, 0.5))
    assert two.coded(None).numbers.tolist() == [1.0 if k else -1.0 for k in two.y]
    numbers = problem()
    scale = Scale.of(numbers.y)
    np.testing.assert_allclose(numbers.coded(scale).numbers * scale.spread + scale.mean, numbers.y)
    assert numbers.coded(scale).y is numbers.y
    rows = np.array([5, 3])
    assert coded.at(rows).codes.tolist() == p.y[rows].tolist()
