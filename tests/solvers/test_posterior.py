"""Uncertainty against inverses written out and against scikit-learn's Gaussian process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

import mercer as mc
from mercer.gram import DenseGram, LowRankGram
from mercer.solvers.posterior import Posterior


def _data(n: int, d: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((n, d))


X, NEW = _data(80), np.vstack([_data(28, 3, 1), _data(80)[:2]])
W = np.random.default_rng(2).uniform(0.2, 3.0, 80)


def _kriging(K: Any, cross: Any, diagonal: Any, w: Any, ridge: float, bias: bool) -> Any:
    """k(x, x) − (c, 1) [Σ, 1; 1^T, 0]^−1 (c, 1): universal kriging's variance, or the simple one."""
    n = len(K)
    M = np.zeros((n + bias, n + bias))
    M[:n, :n] = K + ridge * np.diag(1 / w)
    if bias:
        M[n, :n] = M[:n, n] = 1.0
    c = np.column_stack([cross, np.ones(len(cross))]) if bias else cross
    return diagonal - np.einsum("ij,ji->i", c, np.linalg.solve(M, c.T))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("w", [np.ones(80), W], ids=["ones", "weights"])
@pytest.mark.parametrize("ridge", [1e-3, 0.5])
def test_the_formula_written_out(ridge: float, w: Any, bias: bool) -> None:
    kernel = mc.Gaussian(0.5)
    expected = _kriging(kernel(X), kernel(NEW, X), np.ones(30), w, ridge, bias)
    assert expected.min() > 0
    for gram, cross in ((kernel.gram(X), kernel.gram(NEW, X)), (DenseGram(kernel(X)), DenseGram(kernel(NEW, X)))):
        found = Posterior.of(gram, w, ridge, bias).variance(cross, np.ones(30))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("new", [1, 3, 28])
def test_of_features(bias: bool, new: int) -> None:
    """However many new items there are: few of them have fewer rows than features."""
    kernel = mc.Polynomial(2)
    diagonal = kernel.diag(NEW[:new])
    expected = _kriging(kernel(X), kernel(NEW[:new], X), diagonal, W, 0.5, bias)
    assert isinstance(kernel.gram(X), LowRankGram)
    found = Posterior.of(kernel.gram(X), W, 0.5, bias).variance(kernel.gram(NEW[:new], X), diagonal)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * diagonal.max())


@pytest.mark.parametrize("bias", [True, False])
def test_of_sparse_features(bias: bool) -> None:
    left, right = (np.where(np.abs(A) < 0.7, 0.0, A) for A in (_data(80, 9), _data(30, 9, 1)))
    diagonal = np.sum(right**2, axis=1)
    expected = _kriging(left @ left.T, right @ left.T, diagonal, W, 0.5, bias)
    posterior = Posterior.of(LowRankGram(sparse.csr_matrix(left)), W, 0.5, bias)
    found = posterior.variance(LowRankGram(sparse.csr_matrix(right), sparse.csr_matrix(left)), diagonal)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("w", [np.ones(80), W], ids=["ones", "weights"])
def test_is_a_gaussian_process(w: Any) -> None:
    """scikit-learn's, whose ``alpha`` is the noise of each sample."""
    y = np.sin(X[:, 0])
    for kernel, theirs in ((mc.Gaussian(0.5), RBF(1.0)), (mc.Linear() + 4.0 * mc.Constant(), DotProduct(2.0))):
        peer = GaussianProcessRegressor(theirs, alpha=0.1 / w, optimizer=None).fit(X, y)
        diagonal = kernel.diag(NEW)
        found = Posterior.of(kernel.gram(X), w, 0.1, False).variance(kernel.gram(NEW, X), diagonal)
        np.testing.assert_allclose(np.sqrt(found), peer.predict(NEW, return_std=True)[1], rtol=0, atol=1e-8)


def test_a_free_bias_is_a_constant_of_large_variance() -> None:
    kernel = mc.Gaussian(0.5)
    peer = GaussianProcessRegressor(RBF(1.0) + ConstantKernel(1e6), alpha=0.1, optimizer=None).fit(X, np.sin(X[:, 0]))
    found = Posterior.of(kernel.gram(X), np.ones(80), 0.1, True).variance(kernel.gram(NEW, X), np.ones(30))
    np.testing.assert_allclose(np.sqrt(found), peer.predict(NEW, return_std=True)[1], rtol=1e-4)


def test_never_below_zero_and_in_blocks() -> None:
    """At training points with next to no noise rounding would be; more new items than a block has."""
    kernel = mc.Gaussian(0.05)
    many = np.tile(X, (30, 1))
    found = Posterior.of(kernel.gram(X), np.ones(80), 1e-13, False).variance(kernel.gram(many, X), np.ones(2400))
    assert found.shape == (2400,)
    assert (found >= 0).all()
    assert found.max() < 1e-6
    np.testing.assert_allclose(found[:80], found[-80:], atol=1e-12)
    assert Posterior.of(kernel.gram(X), np.ones(80), 0.1, True).variance(kernel.gram(X[:0], X), np.ones(0)).shape == (
        0,
    )
