"""Codes of cells, against the leaves that scikit-learn puts rows in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from mercer.kernels.vectors.codes import Overlap
from mercer.tabular import partitions
from mercer.tabular.partitions import Partitions


def grown(monkeypatch: pytest.MonkeyPatch, *args: Any, **options: Any) -> tuple[Partitions, ExtraTreesRegressor]:
    """Partitions, and the forest of scikit-learn that they are from."""
    made: list[ExtraTreesRegressor] = []

    class Kept(ExtraTreesRegressor):
        def fit(self, *args: Any, **options: Any) -> Any:
            made.append(self)
            return super().fit(*args, **options)

    monkeypatch.setattr(partitions, "ExtraTreesRegressor", Kept)
    found = Partitions.grown(*args, **options)
    return found, made[0]


def agree(codes: Any, leaves: Any) -> bool:
    """Whether rows are in one cell just where they are in one leaf, in every tree."""
    return all(
        np.array_equal(codes[:, t][:, None] == codes[:, t], leaves[:, t][:, None] == leaves[:, t])
        for t in range(leaves.shape[1])
    )


@pytest.mark.parametrize("outputs", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_cells_are_the_leaves_of_the_trees(
    monkeypatch: pytest.MonkeyPatch, outputs: int | None, weighted: bool
) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((150, 3)), rng.integers(0, 3, 150)])
    Y = rng.standard_normal(150 if outputs is None else (150, outputs)) + (X[:, :1] if outputs else X[:, 0])
    weights = rng.random(150) if weighted else None
    found, forest = grown(monkeypatch, X, Y, weights, seed=3, trees=12)
    new = np.column_stack([2 * rng.standard_normal((200, 3)), rng.integers(-1, 5, 200)])
    both = np.concatenate([X, new])
    codes, leaves = found.codes(both), forest.apply(both)
    assert codes.shape == (350, 12)
    assert codes.dtype == np.float32
    assert agree(codes, leaves)
    assert max(len(np.unique(codes[:, t])) for t in range(12)) > 20


def test_values_at_the_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell is divided by float32 values: on a threshold, and a last digit to either side."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 1)) * 1e-3 + 1.0
    found, forest = grown(monkeypatch, X, rng.standard_normal(80), None, seed=0, trees=5)
    at = np.concatenate([t.tree_.threshold[t.tree_.feature >= 0] for t in forest.estimators_])
    narrow = at.astype(np.float32)
    edges = np.concatenate(
        [
            at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf), narrow,
            np.nextafter(narrow, np.float32(-np.inf)), np.nextafter(narrow, np.float32(np.inf)),
            [0.0, -0.0, 1e-45, np.finfo(np.float32).max, np.finfo(np.float32).min],
        ]
    )[:, None]  # fmt: skip
    assert agree(found.codes(edges), forest.apply(edges))


def test_the_seed_decides() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.standard_normal(60)
    a, b, c = (Partitions.grown(X, y, None, seed, trees=4).codes(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_the_share_of_common_cells_is_the_overlap() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    codes = Partitions.grown(X, y, None, 0, trees=9).codes(X)
    expected = [[sum(a == b for a, b in zip(x, z, strict=True)) for z in codes] for x in codes]
    np.testing.assert_array_equal(Overlap()(codes), expected)


def test_two_rows_and_more_are_in_a_cell() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    codes = Partitions.grown(X, X[:, 0], None, 0, trees=6).codes(X)
    for t in range(6):
        assert np.unique(codes[:, t], return_counts=True)[1].min() >= 2


def test_a_tree_by_hand() -> None:
    """x₁ ≤ 0.5, and of those x₀ ≤ −1: what is equal goes to the left, as in scikit-learn."""
    found = Partitions(
        np.array([1, 0, -1, -1, -1]), np.array([0.5, -1.0, -2.0, -2.0, -2.0]), np.array([1, 2, -1, -1, -1]),
        np.array([4, 3, -1, -1, -1]), np.array([0]),
    )  # fmt: skip
    rows = np.array([[-1.0, 0.5], [-0.5, 0.5], [-2.0, 0.25], [-2.0, 0.75]])
    assert found.codes(rows)[:, 0].tolist() == [2, 3, 2, 4]
