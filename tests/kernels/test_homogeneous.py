"""Maps of homogeneous kernels: the error by their order, scikit-learn's, and what they take."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_approximation import AdditiveChi2Sampler

import mercer as mc
from tests.cases import histograms

KERNELS = [mc.AdditiveChiSquared(), mc.HistogramIntersection()]
H = histograms(60, 8)
H = H / H.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("k", "last"), list(zip(KERNELS, [0.0005, 0.08], strict=True)), ids=str)
def test_the_error_falls_with_the_order(k: mc.Kernel, last: float) -> None:
    errors = [np.abs(mc.HomogeneousMap(k, order)(H) - k(H)).max() for order in range(9)]
    assert (np.diff(errors) < 0).all()
    assert errors[-1] < last


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_scikit_learns_map(steps: int) -> None:
    interval = {1: 0.8, 2: 0.5, 3: 0.4}[steps]
    theirs = AdditiveChi2Sampler(sample_steps=steps).fit(H).transform(H)
    ours = mc.HomogeneousMap(mc.AdditiveChiSquared(), steps - 1, 2 * math.pi / interval)
    np.testing.assert_allclose(ours.features(H), theirs, atol=1e-14)
    K = mc.AdditiveChiSquared()(H)
    chosen = mc.HomogeneousMap(mc.AdditiveChiSquared(), steps - 1)(H)  # the period that Mercer finds is better
    assert steps == 1 or np.mean((chosen - K) ** 2) < 0.5 * np.mean((theirs @ theirs.T - K) ** 2)


@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_the_spectrum_is_that_of_the_formula(k: mc.Kernel) -> None:
    """With many frequencies in small steps the sum is the integral."""
    x, z = np.array([[0.3, 2.0]]), np.array([[1.7, 0.1]])
    fine = mc.HomogeneousMap(k, 4000, 60.0)
    assert fine(x, z)[0, 0] == pytest.approx(float(k(x, z)[0, 0]), abs=1e-3)
    assert fine(7 * x, 7 * z)[0, 0] == pytest.approx(7 * float(fine(x, z)[0, 0]))


@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_sparse_tables_stay_sparse(k: mc.Kernel) -> None:
    m = mc.HomogeneousMap(k, 2)
    phi = m.features(sparse.csr_array(H))
    assert sparse.issparse(phi)
    np.testing.assert_allclose(phi.toarray(), m.features(H), atol=1e-15)
    assert phi.nnz <= 5 * np.count_nonzero(H)
    assert m.features(H.astype(np.float32)).dtype == np.float32
    twice = sparse.csr_array(([0.25, 0.25], [1, 1], [0, 2]), (1, 3))  # one entry in two parts
    np.testing.assert_allclose(m(twice, twice), m([[0.0, 0.5, 0.0]], [[0.0, 0.5, 0.0]]))


@pytest.mark.torch
def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    m = mc.HomogeneousMap(mc.AdditiveChiSquared(), 2)
    np.testing.assert_allclose(m.features(torch.tensor(H)).numpy(), m.features(H), atol=1e-14)


def test_a_value_like_any_other(tmp_path: Path) -> None:
    k = mc.HomogeneousMap(mc.AdditiveChiSquared(), 3, 12.0)
    assert str(k) == "HomogeneousMap(kernel=AdditiveChiSquared(), order=3, period=12.0)"
    assert mc.parse(str(k)) == mc.parse(repr(k)) == clone(k) == pickle.loads(pickle.dumps(k)) == k
    assert k.explicit
    assert k.psd
    machine = mc.SVC(kernel=k, C=10).fit(H, H[:, 0] > np.median(H[:, 0]))
    mc.save(machine, tmp_path / "machine.mercer")
    np.testing.assert_array_equal(
        mc.load(tmp_path / "machine.mercer").decision_function(H), machine.decision_function(H)
    )


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match=r"AdditiveChiSquared.*Nystrom"):
        mc.HomogeneousMap(mc.ChiSquared())
    with pytest.raises(ValueError, match="order"):
        mc.HomogeneousMap(mc.AdditiveChiSquared(), -1)
    with pytest.raises(ValueError, match="period must be a positive number"):
        mc.HomogeneousMap(mc.AdditiveChiSquared(), 2, 0.0)
    with pytest.raises(mc.DataError, match="at least 0"):
        mc.HomogeneousMap(mc.AdditiveChiSquared())([[-1.0]])
