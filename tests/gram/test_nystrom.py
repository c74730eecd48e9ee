"""C (G + εI)^−1 C^T as a matrix, against the same written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.gram import Landmarks, NystromGram, root_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
INDEX = np.array([3, 70, 15, 41, 0, 22, 68, 9])
KERNELS = {"gaussian": mc.Gaussian(0.5), "laplacian": mc.Laplacian(0.3), "polynomial": mc.Polynomial(2)}


def _gram(kernel: mc.Kernel, data: Array = X, **compute: Any) -> NystromGram:
    whole = kernel.gram(data, compute=Compute(**compute))
    return NystromGram(Landmarks.of(whole.sub(slice(None), INDEX), whole.sub(INDEX, INDEX), INDEX))


def _written(kernel: mc.Kernel) -> Array:
    C, G = kernel(X, X[INDEX]), kernel(X[INDEX])
    return C @ np.linalg.solve(G, C.T)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.thorough
def test_all_ways_to_look_at_it(name: str) -> None:
    K = _written(KERNELS[name])
    close = {"rtol": 1e-9, "atol": 1e-9 * float(np.abs(K).max())}
    V = np.random.default_rng(1).standard_normal((80, 3))
    i, j = np.array([5, 2, 77]), np.arange(10, 40)
    stored = _gram(KERNELS[name])
    stored.dense()  # what is asked for its numbers keeps its features
    for gram in (_gram(KERNELS[name]), stored):
        assert gram.shape == (80, 80)
        assert gram.width == len(gram.landmarks()) == 8
        assert gram.T is gram
        np.testing.assert_allclose(gram @ V, K @ V, **close)
        np.testing.assert_allclose(gram @ V[:, 0], K @ V[:, 0], **close)
        np.testing.assert_allclose(gram.diag(), np.diag(K), **close)
        np.testing.assert_allclose(gram.sub(i, i).dense(), K[np.ix_(i, i)], **close)
        np.testing.assert_allclose(gram.sub(i, i) @ V[:3], K[np.ix_(i, i)] @ V[:3], **close)
        np.testing.assert_allclose(gram.normal(V), K @ K @ V, rtol=1e-8, atol=1e-8 * float(np.abs(K @ K).max()))
        np.testing.assert_allclose(gram.sub(i, j).dense(), K[np.ix_(i, j)], **close)
        np.testing.assert_allclose(gram.rows([4, 5]), K[[4, 5]], **close)
        np.testing.assert_allclose(gram.dense(), K, **close)
        phi = gram.features().array()
        assert phi.shape == (80, 8)
        np.testing.assert_allclose(phi @ phi.T, K, **close)


def test_what_it_misses_is_positive_and_the_landmarks_are_seen_whole() -> None:
    kernel = KERNELS["gaussian"]
    K, near = kernel(X), _gram(kernel).dense()
    np.testing.assert_allclose(near[INDEX], K[INDEX], atol=1e-12)
    assert np.linalg.eigvalsh(K - near)[0] > -1e-12


@pytest.mark.parametrize("first", [np.float32, np.float64])
def test_precision(first: Any) -> None:
    K = _written(KERNELS["laplacian"])
    gram = _gram(KERNELS["laplacian"], X.astype(first))
    for dtype in (np.float32, np.float64):
        other = gram.astype(dtype)
        assert other.dtype == other.dense().dtype == dtype
        single = np.float32 in (first, dtype)
        np.testing.assert_allclose(other.dense(), K, atol=1e-4 if single else 1e-11)
    assert gram.astype(first) is gram
    gram.dense()
    assert gram.astype(np.float32).dense().dtype == np.float32


@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Polynomial(2), mc.Gaussian(0.01)], ids=str)
def test_rounding_where_the_landmarks_are_dependent(kernel: mc.Kernel) -> None:
    """In float32 too: rounding is that of the features, not of what the inverse makes of it."""
    index = np.arange(40)
    whole = kernel.gram(X)
    gram = NystromGram(Landmarks.of(whole.sub(slice(None), index), whole.sub(index, index), index))
    K = kernel(X)
    single = gram.astype(np.float32)
    assert single.dtype == single.dense().dtype == np.float32
    for seen in (single, single.sub(index, index), single.astype(np.float64)):
        n = seen.shape[0]
        np.testing.assert_allclose(seen.dense(), K[:n, :n], atol=1e-4 * float(np.abs(K).max()))


def test_features_of_some_rows() -> None:
    kernel = KERNELS["gaussian"]
    marks = _gram(kernel).landmarks()
    L = np.linalg.cholesky(kernel(X[INDEX]))
    phi = np.linalg.solve(L, kernel(X[INDEX], X)).T
    np.testing.assert_allclose(marks.features(), phi, atol=1e-11)
    np.testing.assert_allclose(marks.features([7, 3]), phi[[7, 3]], atol=1e-11)
    np.testing.assert_allclose(marks.features(slice(5, 60)), phi[5:60], atol=1e-11)
    assert marks.features(slice(5), np.float32).dtype == np.float32
    theta = np.arange(8.0)
    np.testing.assert_allclose(kernel(X, X[INDEX]) @ marks.coefficients(theta), phi @ theta, atol=1e-10)
    u = np.random.default_rng(0).standard_normal(80)
    np.testing.assert_allclose(marks.of_values(kernel(X[INDEX], X) @ u), phi.T @ u, atol=1e-10)


def test_any_number_of_threads_gives_the_same_bits() -> None:
    data = np.random.default_rng(0).standard_normal((5000, 3))
    V = np.random.default_rng(1).standard_normal((5000, 2))
    one, two = (_gram(KERNELS["gaussian"], data, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one @ V, two @ V)
    np.testing.assert_array_equal(one.diag(), two.diag())
    np.testing.assert_array_equal(one.features().array(), two.features().array())


def test_features_beyond_the_budget_are_refused_and_products_are_not() -> None:
    data = np.random.default_rng(0).standard_normal((20_000, 3))
    gram = _gram(KERNELS["gaussian"], data, memory="1MB")
    phi = np.linalg.solve(np.linalg.cholesky(KERNELS["gaussian"](data[INDEX])), KERNELS["gaussian"](data[INDEX], data))
    np.testing.assert_allclose(gram @ np.ones(20_000), phi.T @ phi.sum(axis=1), rtol=1e-9)
    with pytest.raises(MemoryError, match="20000 items by 8 landmarks"):
        gram.features().array()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_copies_among_the_landmarks(dtype: Any) -> None:
    twice = np.vstack([X[:20], X[:20]]).astype(dtype)
    gram = KERNELS["gaussian"].gram(twice)
    L = root_of(gram, gram.dtype)
    np.testing.assert_allclose(L @ L.T, KERNELS["gaussian"](twice), atol=1e-5 if dtype == np.float32 else 1e-13)
    near = NystromGram(Landmarks.of(gram, gram, np.arange(40)))
    np.testing.assert_allclose(near.dense(), KERNELS["gaussian"](twice), atol=1e-3 if dtype == np.float32 else 1e-7)


def test_an_indefinite_matrix_has_no_root() -> None:
    with pytest.raises(ValueError, match=r"negative eigenvalue.*Sigmoid.*repaired"):
        root_of(mc.Sigmoid(-1.0, 1.0).gram(X), np.dtype(np.float64))
