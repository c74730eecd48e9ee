"""Samples of rows against the matrix of all rows, written out."""

from __future__ import annotations

import numpy as np
import pytest

import mercer as mc
from mercer.gram import Landmarks
from mercer.native.linalg import NotPositive
from mercer.solvers import landmark_sample
from mercer.solvers.landmark_sample import Sample, sample_size

RNG = np.random.default_rng(0)
X = RNG.standard_normal((900, 4))


def _marks(m: int, gamma: float = 0.5, *, among: bool = True) -> Landmarks:
    k, chosen = mc.Gaussian(gamma), np.arange(0, 900, 900 // m)[:m]
    return Landmarks.of(k.gram(X, X[chosen]), k.gram(X[chosen]), chosen if among else None)


def _features(marks: Landmarks) -> np.ndarray:
    return np.linalg.solve(marks.factor, marks.values.dense().T).T


def _is(L: np.ndarray, expected: np.ndarray, atol: float) -> None:
    np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("once", [False, True])
def test_all_rows(once: bool, bias: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of all rows says the matrix itself, from values and from features."""
    monkeypatch.setattr(landmark_sample, "together", lambda m, budget: 256)
    marks, w = _marks(40, among=False), RNG.uniform(0.5, 2, 900)
    sample = Sample(marks, 1e-8, once=once)
    sample.count = 900
    full = np.column_stack([_features(marks), np.ones(900)]) if bias else _features(marks)
    expected = full.T @ (w[:, None] * full) + np.diag([0.3] * 40 + [0.0] * bias)
    _is(sample.inverse(w, 0.3, bias=bias), expected, 1e-8)


@pytest.mark.thorough
@pytest.mark.parametrize("bias", [False, True])
def test_the_landmarks_as_a_sample(bias: bool) -> None:
    """Where they are many of the rows their features, which are L, are the sample; no eigenvalue is below m/n."""
    marks, w = _marks(450, gamma=4.0), np.ones(900)
    sample = Sample(marks, 1e-3, once=True)
    assert sample.count == 0
    L = np.tril(sample.inverse(w, 0.1, bias=bias))
    full = marks.factor if not bias else np.column_stack([marks.factor, np.ones(450)])
    _is(L, 2 * full.T @ full + np.diag([0.1] * 450 + [0.0] * bias), 1e-8)
    values = _preconditioned(marks, L, 0.1, bias)
    assert values.min() >= 0.5 - 1e-6
    assert values.mean() < 1.5


@pytest.mark.thorough
@pytest.mark.parametrize("once", [False, True])
def test_landmarks_that_are_not_like_the_others(once: bool) -> None:
    """A matrix among the landmarks with small eigenvalues: random rows take their place."""
    marks, w = _marks(450, gamma=0.5), np.ones(900)
    sample = Sample(marks, 1e-3, once=once)
    assert sample.count == 0
    L = np.tril(sample.inverse(w, 1e-3, bias=True))
    assert sample.count == 900
    values = _preconditioned(marks, L, 1e-3, True)
    assert 0.99 < values.min() <= values.max() < 1.01
    full = np.column_stack([marks.factor, np.ones(450)])
    own = np.linalg.cholesky(2 * full.T @ full + np.diag([1e-3] * 450 + [1e-6]))
    assert _preconditioned(marks, own, 1e-3, True).max() > 50


def _preconditioned(marks: Landmarks, L: np.ndarray, ridge: float, bias: bool) -> np.ndarray:
    """Eigenvalues of (L L^T)^−1 (Φ^T Φ + λI)."""
    n, m = marks.values.shape
    Phi = np.column_stack([_features(marks), np.ones(n)]) if bias else _features(marks)
    system = Phi.T @ Phi + np.diag([ridge] * m + [0.0] * bias)
    return np.linalg.eigvalsh(np.linalg.solve(L, np.linalg.solve(L, system).T))


@pytest.mark.thorough
def test_an_ill_conditioned_factor_is_not_squared() -> None:
    """Landmarks whose matrix is nearly singular: from the values alone the matrix would not be positive."""
    marks, w = _marks(300, gamma=1e-3, among=False), np.ones(900)
    sample = Sample(marks, 1e-8, once=True)
    sample.count = 900
    sample._draw(w)
    assert not sample._by_values(w, 1e-4)
    values = np.linalg.eigvalsh(_features(marks).T @ _features(marks))
    L = np.tril(sample.inverse(w, 1e-4, bias=False))
    np.testing.assert_allclose(np.linalg.eigvalsh(L @ L.T)[-5:], values[-5:] + 1e-4, rtol=1e-6)
    sample._by_values = lambda d, ridge: True  # type: ignore[method-assign]
    with pytest.raises(NotPositive):
        sample.inverse(w, 1e-9, bias=False)


def test_few_weights_that_count() -> None:
    """Where most weights are 0 the sample is of the others."""
    marks, w = _marks(50), np.zeros(900)
    w[::10] = 1.0
    sample = Sample(marks, 1e-2)
    Phi = _features(marks)[::10]
    _is(sample.inverse(w, 0.1, bias=False), Phi.T @ Phi + 0.1 * np.eye(50), 1e-9)


def test_how_many_rows() -> None:
    """Few landmarks among many rows: several times their number. Many of few: themselves, where they are rows."""
    assert 2000 * 2 <= sample_size(200_000, 2000, 1e-3, 2**40, once=True, among=True) <= 2000 * 32
    assert sample_size(60_000, 20_000, 1e-3, 2**40, once=True, among=True) == 0
    assert sample_size(60_000, 20_000, 1e-3, 2**40, once=True, among=False) >= 40_000
    # features that are kept: no more than a quarter of the budget, and as many as the landmarks
    assert sample_size(10**6, 2000, 1e-3, 2**28, once=False, among=False) == 2**26 // (8 * 2000)
    assert sample_size(10**6, 2000, 1e-3, 2**20, once=False, among=False) == 2000
