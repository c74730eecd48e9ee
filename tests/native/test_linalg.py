"""Factorisations against NumPy's, their bits against those of other numbers of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from mercer.native import linalg
from mercer.native.linalg import NotPositive, cholesky, cholesky_solve, eigh, inverse, symmetric_svd, triangular_solve

SIZES = [1, 2, 255, 256, 257, 513, *(pytest.param(n, marks=pytest.mark.slow) for n in (1100, 2100))]
PIVOTS = [
    (1, 0),
    (40, 0),
    (40, 39),
    (256, 255),
    (257, 256),
    (600, 0),
    (600, 299),
    (1100, 256),
    (1100, 1099),
    (2100, 1777),
]


def _positive(n: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Well conditioned, with eigenvalues between 1 and about 5."""
    A = np.random.default_rng(seed).standard_normal((n, n)) / np.sqrt(n)
    return (A @ A.T + np.eye(n)).astype(dtype)


def _poisoned(A: Any) -> Any:
    """A copy with NaN above the diagonal."""
    out = A.copy()
    out[np.triu_indices(len(A), 1)] = np.nan
    return out


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
def test_the_factor_is_numpys_and_only_the_lower_triangle_is_read(n: int, dtype: Any) -> None:
    A = _positive(n, dtype)
    given = _poisoned(A)
    L = cholesky(given, 2)
    assert L is given
    assert L.dtype == dtype
    expected = np.linalg.cholesky(A.astype(np.float64))
    np.testing.assert_allclose(np.tril(L), expected, rtol=0, atol=50 * np.finfo(dtype).eps * np.sqrt(n))


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "n", [100, 256, 700, pytest.param(1100, marks=pytest.mark.slow), pytest.param(2100, marks=pytest.mark.slow)]
)
def test_the_same_bits_for_any_number_of_threads(n: int, dtype: Any) -> None:
    """Mercer's threads, and those that BLAS is allowed when it is called."""
    A = _positive(n, dtype)
    with threadpool_limits(1):
        one = np.tril(cholesky(A.copy(), 1))
    for workers in (1, 2, 3):
        with threadpool_limits(workers):
            np.testing.assert_array_equal(np.tril(cholesky(A.copy(), workers)), one)


@pytest.mark.thorough
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(("n", "pivot"), PIVOTS)
def test_the_first_minor_that_is_not_positive_is_named(n: int, pivot: int, workers: int) -> None:
    """Rows before the pivot are fine; its own Schur complement is below zero by far more than rounding."""
    A = _positive(n)
    before = A[:pivot, :pivot]
    A[pivot, pivot] = (A[pivot, :pivot] @ np.linalg.solve(before, A[:pivot, pivot]) if pivot else 0.0) - 1e-3
    with pytest.raises(NotPositive) as found:
        cholesky(A, workers)
    assert found.value.pivot == pivot


def test_nan_is_not_positive() -> None:
    """Nor is what overflowed on the way: a factor of NaN would be taken for a solution."""
    A = _positive(300)
    A[270, 3] = np.nan
    with pytest.raises(NotPositive):
        cholesky(A)


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 30, 257, 700])
def test_solving_with_the_factor(n: int, dtype: Any) -> None:
    """Of which only the lower triangle counts, and which is left as it is."""
    A = _positive(n, dtype)
    B = np.random.default_rng(1).standard_normal((n, 3))
    L = cholesky(_poisoned(A))
    kept = L.copy()
    tolerance = {"rtol": 0, "atol": 200 * float(np.finfo(dtype).eps) * np.sqrt(n)}
    exact = A.astype(np.float64)
    for right in (B, np.asfortranarray(B), B[:, :1]):
        copy = right.copy()
        np.testing.assert_allclose(cholesky_solve(L, right), np.linalg.solve(exact, right), **tolerance)
        np.testing.assert_allclose(
            triangular_solve(L, right), np.linalg.solve(np.linalg.cholesky(exact), right), **tolerance
        )
        np.testing.assert_array_equal(right, copy)
    np.testing.assert_array_equal(L, kept)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 512, 700])
@pytest.mark.thorough
def test_the_inverse_is_symmetric_and_in_place(n: int, dtype: Any) -> None:
    A = _positive(n, dtype)
    L = cholesky(_poisoned(A))
    found = inverse(L)
    assert np.shares_memory(found, L)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(
        found, np.linalg.inv(A.astype(np.float64)), rtol=0, atol=200 * float(np.finfo(dtype).eps) * np.sqrt(n)
    )


@pytest.mark.parametrize("n", [1, 5, 63, 64, 65, 300])
def test_eigenvectors_diagonalise(n: int) -> None:
    R = np.random.default_rng(n).standard_normal((n, n))
    A = R + R.T
    values, vectors = eigh(A.copy())
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A), rtol=0, atol=1e-11 * n)
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, rtol=0, atol=1e-12 * n)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), rtol=0, atol=1e-12)


@pytest.mark.thorough
@given(n=st.integers(1, 40), p=st.integers(1, 40), rank=st.integers(0, 40), seed=st.integers(0, 100))
def test_the_decomposition_of_features(n: int, p: int, rank: int, seed: int) -> None:
    """V diag(s) V^T is Φ Φ^T, of as many columns as the rank."""
    rng = np.random.default_rng(seed)
    rank = min(rank, n, p)
    Phi = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p))
    s, V = symmetric_svd(Phi.copy())
    assert V.shape == (n, rank)
    assert s.shape == (rank,)
    assert (s > 0).all()
    size = max(float(np.abs(Phi).max(initial=0.0)) ** 2, 1e-300)
    np.testing.assert_allclose((V * s) @ V.T, Phi @ Phi.T, rtol=0, atol=1e-12 * (n + p) * size)
    np.testing.assert_allclose(V.T @ V, np.eye(rank), rtol=0, atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_is_passed_on_after_the_tile_at_hand(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    real = linalg._Cholesky.subtract

    def interrupted(self: Any, rows: slice, cols: slice, inner: slice) -> None:
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt
        real(self, rows, cols, inner)

    A = _positive(2100)
    monkeypatch.setattr(linalg._Cholesky, "subtract", lambda *given: (calls.append(0), real(*given))[1])
    cholesky(A.copy(), workers)
    whole = len(calls)
    calls.clear()
    monkeypatch.setattr(linalg._Cholesky, "subtract", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cholesky(A.copy(), workers)
    assert 3 <= len(calls) <= 3 + 4 * (workers - 1) < whole  # another thread may finish the rows it is at
    monkeypatch.setattr(linalg._Cholesky, "subtract", real)
    # nothing is left behind
    np.testing.assert_allclose(np.tril(cholesky(A.copy(), workers)), np.linalg.cholesky(A), rtol=0, atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("n", [1, 5, 700, 1100])
def test_congruence_and_symmetric_part(n: int) -> None:
    rng = np.random.default_rng(n)
    A, s = rng.standard_normal((n, n)), rng.standard_normal(n)
    P = A + A.T
    np.testing.assert_allclose(linalg.congruence(P, s), P @ np.diag(s) @ P, rtol=0, atol=1e-10 * n)
    np.testing.assert_array_equal(linalg.congruence(P, s, 2), linalg.congruence(P, s, 1))
    np.testing.assert_array_equal(linalg.symmetric_part(A.copy()), (A + A.T) / 2)


@pytest.mark.thorough
@pytest.mark.parametrize("n", [1, 5, 300, 700, 1300])
def test_whitened(n: int) -> None:
    rng = np.random.default_rng(n)
    B, A = rng.standard_normal((n, n + 5)), rng.standard_normal((n, n))
    A, L = A + A.T, linalg.lower_triangle(cholesky(B @ B.T / n + 0.1 * np.eye(n)))
    room = np.zeros((n + 1, n + 1))  # a part of a larger matrix
    found = []
    for workers in (1, 2):
        room[:n, :n] = A
        found.append(np.tril(linalg.whitened(room[:n, :n], L, workers)))
    expected = np.linalg.solve(L, np.linalg.solve(L, A).T)
    np.testing.assert_allclose(found[0], np.tril(expected), rtol=0, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_array_equal(found[0], found[1])
    assert not room[n].any()
    assert not room[:, n].any()
