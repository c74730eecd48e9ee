"""Inverses applied against inverses written out, pivoted factors against the best there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mercer as mc
from mercer.compute import Compute
from mercer.gram import DenseGram, LowRankGram
from mercer.native.linalg import NotPositive
from mercer.solvers.inverses import Factored, Woodbury, choose, fits, pivoted_cholesky


def _data(n: int, d: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((n, d))


def _written_out(K: Any, scale: Any, ridge: float) -> Any:
    return np.linalg.inv(ridge * np.eye(len(K)) + scale[:, None] * np.asarray(K, np.float64) * scale)


SCALES = [np.ones(80), np.random.default_rng(1).uniform(0.1, 3.0, 80), np.where(np.arange(80) % 5 == 0, 0.0, 1.5)]


@pytest.mark.parametrize("scale", SCALES, ids=["ones", "uneven", "zeros"])
def test_factored(scale: Any) -> None:
    X, V = _data(80), _data(80, 4, 1)
    kernel = mc.Gaussian(0.5)
    K = kernel(X)
    for gram in (kernel.gram(X), DenseGram(K), DenseGram(K.astype(np.float32)), LowRankGram(X)):
        dense = np.asarray(gram.astype(np.float64).dense())
        expected = _written_out(dense, scale, 0.3) @ V
        np.testing.assert_allclose(Factored(gram, single=False).shifted(scale, 0.3)(V), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(Factored(gram, single=True).shifted(scale, 0.3)(V), expected, rtol=0, atol=1e-3)


def test_a_matrix_that_was_given_is_not_touched() -> None:
    for dtype in (np.float32, np.float64):
        K = mc.Gaussian(0.5)(_data(80)).astype(dtype)
        kept = K.copy()
        for single in (True, False):
            Factored(DenseGram(K), single).shifted(SCALES[1], 0.3)
        np.testing.assert_array_equal(K, kept)


@pytest.mark.parametrize("scale", SCALES, ids=["ones", "uneven", "zeros"])
def test_woodbury(scale: Any) -> None:
    Phi, V = _data(80, 6), _data(80, 4, 1)
    Phi[np.abs(Phi) < 0.8] = 0.0
    expected = _written_out(Phi @ Phi.T, scale, 0.3) @ V
    for left in (Phi, sparse.csr_matrix(Phi)):
        np.testing.assert_allclose(
            Woodbury.of(LowRankGram(left).features(np.inf), 1).shifted(scale, 0.3)(V), expected, rtol=0, atol=1e-12
        )
    single = Woodbury.of(LowRankGram(Phi.astype(np.float32)).features(np.inf), 1).shifted(scale, 0.3)(V)
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-5)


def test_a_whole_pivoted_factor_is_exact() -> None:
    X, V = _data(80), _data(80, 4, 1)
    K = mc.Gaussian(0.5)(X)
    inverse = Woodbury.pivoted(mc.Gaussian(0.5).gram(X))
    assert not inverse.exact
    np.testing.assert_allclose(
        inverse.shifted(SCALES[1], 0.3)(V), _written_out(K, SCALES[1], 0.3) @ V, rtol=0, atol=1e-9
    )


def test_the_least_ridge_that_makes_it_positive() -> None:
    """Of rank 3 with no ridge at all: positive only by rounding, so as much is added, and what is in the range of the
    matrix is solved.
    """
    Phi = _data(60, 3)
    K = Phi @ Phi.T
    V = K @ _data(60, 2, 1)
    x = Factored(DenseGram(K)).shifted(np.ones(60), 0.0)(V)
    assert np.isfinite(x).all()
    np.testing.assert_allclose(K @ x, V, rtol=0, atol=1e-2 * np.abs(V).max())


def test_indefinite_is_refused() -> None:
    K = mc.Gaussian(0.5)(_data(60)) - 0.5 * np.eye(60)
    for single in (True, False):
        with pytest.raises(NotPositive):
            Factored(DenseGram(K), single).shifted(np.ones(60), 0.1)


# -- the choice
# ---------------------------------------------------------------------------------------------------------


def test_the_table() -> None:
    X = _data(100)
    narrow, wide, dense = LowRankGram(X), LowRankGram(_data(20, 50)), mc.Gaussian(0.5).gram(X)
    assert choose(narrow).name == "woodbury"
    assert choose(narrow).exact
    assert choose(wide).name == "cholesky"
    assert choose(dense).name == "cholesky"
    assert choose(DenseGram(mc.Gaussian(0.5)(X))).name == "cholesky"
    small = mc.Gaussian(0.5).gram(X, compute=Compute(memory=60_000))  # 80 kB would be needed
    assert not fits(small)
    assert fits(dense)
    assert choose(small).name == "cg"
    assert not choose(small).exact


@pytest.mark.parametrize("name", ["cholesky", "cg"])
def test_what_was_asked_for(name: str) -> None:
    for gram in (LowRankGram(_data(100)), mc.Gaussian(0.5).gram(_data(100))):
        assert choose(gram, name).name == name


def test_woodbury_is_for_features() -> None:
    assert choose(LowRankGram(_data(20, 50)), "woodbury").name == "woodbury"
    with pytest.raises(ValueError, match="fewer features than samples"):
        choose(mc.Gaussian(0.5).gram(_data(20)), "woodbury")


def test_large_factors_are_in_single_precision() -> None:
    assert not Factored(DenseGram(np.eye(2047))).single
    assert Factored(DenseGram(np.eye(2048))).single
    assert not Factored(DenseGram(np.eye(2048)), single=False).single


# -- pivoted factors
# ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.05, 0.5])
@pytest.mark.parametrize("rank", [30, 100, 200])
def test_what_is_left_is_nearly_the_least_there_could_be(rank: int, gamma: float) -> None:
    """K − F F^T is positive semi-definite, and its trace is near that of the best of two thirds of the columns."""
    X = _data(300)
    K = mc.Gaussian(gamma)(X)
    F = pivoted_cholesky(mc.Gaussian(gamma).gram(X), rank)
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
    F = pivoted_cholesky(LowRankGram(Phi), n)
    np.testing.assert_allclose(F @ F.T, Phi @ Phi.T, rtol=0, atol=1e-5 * float(np.max(np.sum(Phi**2, axis=1))))
    assert F.shape[1] <= n


def test_duplicates_are_of_no_use_twice() -> None:
    X = np.repeat(_data(20), 30, axis=0)
    F = pivoted_cholesky(mc.Gaussian(0.5).gram(X), 600)
    assert F.shape[1] <= 25
    np.testing.assert_allclose(F @ F.T, mc.Gaussian(0.5)(X), rtol=0, atol=1e-8)


def test_nothing_to_factor() -> None:
    F = pivoted_cholesky(DenseGram(np.zeros((5, 5))), 3)
    assert F.shape[0] == 5
    assert not F.any()


def test_the_same_bits_again() -> None:
    gram = mc.Gaussian(0.5).gram(_data(300))
    one = pivoted_cholesky(gram, 100)
    np.testing.assert_array_equal(one, pivoted_cholesky(gram, 100))
    threads = mc.Gaussian(0.5).gram(_data(300), compute=Compute(threads=3))
    np.testing.assert_array_equal(one, pivoted_cholesky(threads, 100))
    assert np.abs(one - pivoted_cholesky(gram, 100, seed=1)).max() > 0.01


def test_memory_limits_the_rank() -> None:
    gram = mc.Gaussian(0.5).gram(_data(400), compute=Compute(memory=8 * 8 * 400 * 40))
    assert Woodbury.pivoted(gram).features.shape[1] == 40
