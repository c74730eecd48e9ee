"""Inverses applied against inverses written out, pivoted factors against the best there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import mercer as mc
from mercer.compute import Compute
from mercer.gram import DenseGram, LowRankGram
from mercer.native.linalg import NotPositive
from mercer.solvers.inverses import Factored, Woodbury, choose, fits


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


def test_memory_limits_the_rank() -> None:
    gram = mc.Gaussian(0.5).gram(_data(400), compute=Compute(memory=8 * 8 * 400 * 40))
    assert Woodbury.pivoted(gram).features.shape[1] == 40
