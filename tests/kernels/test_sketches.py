"""Tensor sketches: their mean is the product of the kernels, and all they take and refuse."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer as mc
from mercer.testing import assert_kernel_contract

X = np.random.default_rng(0).standard_normal((6, 5)) / 2
PRODUCTS = [
    mc.Polynomial(3),
    mc.Polynomial(2, 0.0, 0.5),
    mc.Linear() ** 3,
    mc.Linear().on([0, 1]) * mc.Linear().on([2, 3, 4]),
    2 * mc.Linear() * mc.Polynomial(2),
    mc.Linear() * (mc.Linear() + 0.5),
]


def drawn(k: mc.Kernel, D: int, seeds: int, rows: Any = X) -> Any:
    return np.array([mc.TensorSketch(k, D, seed).bind(rows)(rows) for seed in range(seeds)])


@pytest.mark.thorough
@pytest.mark.parametrize("k", PRODUCTS, ids=str)
def test_the_mean_over_draws_is_the_kernel(k: mc.Kernel) -> None:
    found = drawn(k, 31, 200)
    spread = found.std(axis=0, ddof=1) / math.sqrt(200)
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - k(X)), 4 * spread + 1e-12)


@pytest.mark.thorough
def test_the_error_falls() -> None:
    """Sixteen times the features, a quarter of the error."""
    rows = np.random.default_rng(1).standard_normal((20, 60)) / 8  # many columns, so that collisions are many
    k = mc.Polynomial(3)
    few, many = (np.sqrt(np.mean((drawn(k, D, 100, rows) - k(rows)) ** 2)) for D in (64, 1024))
    assert few / many == pytest.approx(4.0, rel=0.15)


def test_a_product_with_random_features() -> None:
    rows = np.random.default_rng(1).standard_normal((50, 3))
    k = mc.TensorSketch(mc.RandomFeatures(mc.Gaussian(0.3), 500, random_state=0) * mc.Polynomial(2), 4000, 0)
    expected = (mc.Gaussian(0.3) * mc.Polynomial(2))(rows)
    assert np.abs(k(rows) - expected).mean() < 0.03 * expected.max()


@pytest.mark.parametrize("k", PRODUCTS, ids=str)
def test_precision_and_sparse_tables(k: mc.Kernel) -> None:
    rows = np.where(np.random.default_rng(0).random((20, 5)) < 0.5, 0.0, 1.5)
    bound = mc.TensorSketch(k, 33, 0).bind(rows)
    phi = bound.features(rows)
    single = bound.features(rows.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, phi, atol=1e-4)
    if "on(" not in str(k):
        np.testing.assert_allclose(bound.features(sparse.csr_array(rows)), phi, atol=1e-12)


@pytest.mark.torch
def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    bound = mc.TensorSketch(mc.Polynomial(3), 33, 0).bind(X)
    found = bound.features(torch.tensor(X))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_allclose(found.numpy(), bound.features(X), atol=1e-12)


@pytest.mark.thorough
def test_a_value_like_any_other(tmp_path: Path) -> None:
    k = mc.TensorSketch(mc.Polynomial(3), 200, 0)
    assert str(k) == "TensorSketch(kernel=Polynomial(degree=3), n_components=200, random_state=0)"
    assert mc.parse(str(k)) == mc.parse(repr(k)) == clone(k) == pickle.loads(pickle.dumps(k)) == k
    assert k.bind(X) == k.bind(X[:2])
    rows = np.random.default_rng(0).standard_normal((200, 4)) / 2
    y = rows[:, 0] * rows[:, 1] * rows[:, 2]
    machine = mc.KernelRidge(kernel=k, alpha=1e-6).fit(rows[:150], y[:150])
    assert machine.score(rows[150:], y[150:]) > 0.99  # as many features as monomials, and more
    assert mc.SVC(kernel=k.normalized(), C=100).fit(rows, y > 0).score(rows, y > 0) > 0.9
    mc.save(machine, tmp_path / "machine.mercer")
    np.testing.assert_array_equal(mc.load(tmp_path / "machine.mercer").predict(rows), machine.predict(rows))
    assert_kernel_contract(k + mc.Linear(), rows[:20])


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="n_components must be a whole number of at least 1"):
        mc.TensorSketch(mc.Polynomial(3), 0)
    with pytest.raises(TypeError, match=r"Gaussian\(γ=0.3\) has no finite feature map.*RandomFeatures\(k\) or Nystrom"):
        mc.TensorSketch(mc.Gaussian(0.3) * mc.Linear())
    with pytest.raises(TypeError, match="no finite feature map"):
        mc.TensorSketch(mc.Polynomial(3, -1.0))
    with pytest.raises(ValueError, match="random_state"):
        mc.TensorSketch(mc.Polynomial(3), 10, -1)
    with pytest.raises(mc.DataError, match="another number of columns"):
        mc.TensorSketch(mc.Polynomial(3), 10).bind(X)(X[:, :2])
    with pytest.raises(mc.DataError, match="fixed columns"):
        mc.TensorSketch(mc.Spectrum(2) ** 2, 10).bind(["ACGT", "AC"])
