"""The choice by answers on rows held out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from mercer.tabular.choosing import Held
from mercer.tabular.metrics import metric_of
from mercer.tabular.problem import Problem

N = 300


def held(errors: list[float], names: list[str], repeats: int = 1, most: int = 4) -> Held:
    """Candidates that are the truth and independent errors of these sizes."""
    random = np.random.default_rng(0)
    y = random.standard_normal(N)
    rows = np.tile(np.arange(N), repeats)
    problem = Problem(pl.DataFrame({"x": y}), y, [], metric_of("regression")).at(rows)
    answers = np.stack([y[rows] + size * random.standard_normal(len(rows)) for size in errors])
    return Held(problem, names, answers, repeats, most)


def test_independent_errors_are_averaged_by_their_sizes() -> None:
    """Weights of independent errors are in inverse proportion to their squares, 4 : 1."""
    members, beta, leaders = held([0.5, 1.0], ["a", "b"]).choose()
    assert members == leaders == [0, 1]
    assert beta == pytest.approx([0.8, 0.2], abs=0.05)


def test_the_best_setting_stands_for_its_name() -> None:
    _, _, leaders = held([1.0, 0.5, 0.8], ["a", "a", "b"]).choose()
    assert leaders == [1, 2]


def test_the_best_alone_where_an_average_gains_nothing() -> None:
    good = held([0.3, 3.0], ["a", "b"])
    members, beta, _ = good.choose()
    assert members == [0]
    assert beta.tolist() == [1.0]


def test_no_more_members_than_are_wanted() -> None:
    members, beta, _ = held([1.0] * 6, list("abcdef"), most=2).choose()
    assert len(members) == 2
    assert beta.sum() == pytest.approx(1)


def test_a_claim_of_copies_is_of_as_many_rows_as_there_are() -> None:
    once, thrice = held([0.5], ["a"]).claim(0), held([0.5], ["a"], repeats=3).claim(0)
    assert once.rows == thrice.rows == N
    assert once.score == pytest.approx(0.5, rel=0.15)
    # three independent errors of a row say more than one
    assert thrice.error < once.error
