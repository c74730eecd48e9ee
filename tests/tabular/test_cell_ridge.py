"""A ridge by cells, against the same ridge by its matrix."""

from __future__ import annotations

import numpy as np
import pytest

import mercer as mc
from mercer.tabular import cell_ridge
from mercer.tabular.cell_ridge import CellRidge
from mercer.tabular.partitions import Partitions


@pytest.mark.parametrize("outputs", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_is_the_ridge_over_overlap(monkeypatch: pytest.MonkeyPatch, outputs: int | None, weighted: bool) -> None:
    monkeypatch.setattr(cell_ridge, "_TOLERANCE", 1e-10)
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((120, 3)), rng.standard_normal((40, 3))
    Y = rng.standard_normal(120 if outputs is None else (120, outputs)) + (X[:, :1] if outputs else X[:, 0])
    w = rng.integers(0, 3, 120).astype(float) if weighted else None
    partitions = Partitions.grown(X, Y, w, seed=1, trees=10)
    codes, others = partitions.codes(X), partitions.codes(T)
    found = CellRidge.fitted(0.3, codes, partitions.offsets, Y, w, None)
    ridge = mc.KernelRidge(0.3, mc.Overlap() * 0.1).fit(codes, Y, sample_weight=w)
    np.testing.assert_allclose(found.predict(others), ridge.predict(others), atol=1e-5)
    assert found.stop_reason_ == "gap"
    np.testing.assert_allclose(found.kernel_(codes[:5]), (codes[:5, None] == codes[:5]).mean(axis=2))


@pytest.mark.parametrize("numbers", [0, 10**6])
def test_with_a_preconditioner_and_without(monkeypatch: pytest.MonkeyPatch, numbers: int) -> None:
    """Of very many rows there is none; the solution is the same."""
    monkeypatch.setattr(cell_ridge, "_TOLERANCE", 1e-8)
    monkeypatch.setattr(cell_ridge, "_NUMBERS", numbers)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = X[:, 0] * X[:, 1]
    partitions = Partitions.grown(X, y, None, seed=1, trees=10)
    found = CellRidge.fitted(0.3, partitions.codes(X), partitions.offsets, y, None, None)
    ridge = mc.KernelRidge(0.3, mc.Overlap() * 0.1).fit(partitions.codes(X), y)
    np.testing.assert_allclose(found.predict(partitions.codes(X)), ridge.predict(partitions.codes(X)), atol=1e-5)
    assert found.stop_reason_ == "gap"


def test_few_rows() -> None:
    codes, offsets = np.zeros((1, 2), np.float32), np.array([0, 1, 2])
    assert CellRidge.fitted(1.0, codes, offsets, np.array([3.0]), None, None).predict(codes) == pytest.approx(3.0)


@pytest.mark.thorough
def test_rows_of_which_many_are_alike() -> None:
    """Few and large eigenvalues: residuals stay for long before they fall."""
    rng = np.random.default_rng(0)
    which = np.minimum(rng.geometric(0.03, 1200) - 1, 149)
    X = rng.standard_normal((150, 5))[which]
    Y = np.where(rng.integers(0, 6, 150)[which][:, None] == np.arange(6), 1.0, -1.0)
    partitions = Partitions.grown(X, Y, None, seed=0, trees=50)
    codes = partitions.codes(X)
    found = CellRidge.fitted(0.003, codes, partitions.offsets, Y, None, None)
    assert found.stop_reason_ == "gap"
    K = (codes[:, None] == codes).mean(axis=2)
    right = np.column_stack([Y, np.ones(1200)])
    solved = np.linalg.solve(K + 0.003 * np.eye(1200), right)
    b = solved[:, :-1].sum(axis=0) / solved[:, -1].sum()
    expected = K @ (solved[:, :-1] - solved[:, -1:] * b) + b
    np.testing.assert_allclose(found.predict(codes), expected, atol=1e-3)
