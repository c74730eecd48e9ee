"""The choice of landmarks, and pivoted Cholesky factors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer as mc
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.gram import DenseGram, Gram, LowRankGram, pivoted_cholesky


def _data(n: int, d: int = 3) -> Array:
    return np.random.default_rng(0).standard_normal((n, d))


def _factor(gram: Gram, rank: int, seed: int = 0) -> Array:
    return pivoted_cholesky(gram, rank, np.random.default_rng(seed))[0]


@pytest.mark.parametrize("gamma", [0.05, 0.5])
@pytest.mark.parametrize("rank", [30, 100, 200])
def test_what_is_left_is_nearly_the_least_there_could_be(rank: int, gamma: float) -> None:
    """K − F F^T is positive semi-definite, and its trace is near that of the best of two thirds of the columns."""
    X = _data(300)
    K = mc.Gaussian(gamma)(X)
    F = _factor(mc.Gaussian(gamma).gram(X), rank)
    assert F.shape[0] == 300
    assert F.shape[1] <= rank
    left = K - F @ F.T
    values = np.linalg.eigvalsh(K)[::-1]
    assert np.linalg.eigvalsh(left)[0] > -1e-9
    assert np.trace(left) <= 2 * values[2 * rank // 3 :].sum() + 1e-8


@given(rank=st.integers(1, 20), n=st.integers(1, 90), seed=st.integers(0, 50))
def test_features_are_found_again(rank: int, n: int, seed: int) -> None:
    """Of a matrix of rank r a factor of r columns (or a few more, of rounding) is all of it."""
    Phi = np.random.default_rng(seed).standard_normal((n, rank))
    F = _factor(LowRankGram(Phi), n)
    np.testing.assert_allclose(F @ F.T, Phi @ Phi.T, rtol=0, atol=1e-5 * float(np.max(np.sum(Phi**2, axis=1))))
    assert F.shape[1] <= n


def test_duplicates_are_of_no_use_twice() -> None:
    X = np.repeat(_data(20), 30, axis=0)
    F = _factor(mc.Gaussian(0.5).gram(X), 600)
    assert F.shape[1] <= 25
    np.testing.assert_allclose(F @ F.T, mc.Gaussian(0.5)(X), rtol=0, atol=1e-8)


def test_nothing_to_factor() -> None:
    F = _factor(DenseGram(np.zeros((5, 5))), 3)
    assert F.shape[0] == 5
    assert not F.any()


def test_the_same_bits_again() -> None:
    gram = mc.Gaussian(0.5).gram(_data(300))
    one = _factor(gram, 100)
    np.testing.assert_array_equal(one, _factor(gram, 100))
    threads = mc.Gaussian(0.5).gram(_data(300), compute=Compute(threads=3))
    np.testing.assert_array_equal(one, _factor(threads, 100))
    assert np.abs(one - _factor(gram, 100, 1)).max() > 0.01
