from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import chi2_kernel

import mercer as mc
from mercer.data import DataError
from tests.cases import histograms

H = histograms(30, 8)
KERNELS = [mc.HistogramIntersection(), mc.Hellinger(), mc.ChiSquared(0.7), mc.AdditiveChiSquared()]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_dense_is_sparse_and_negative_is_refused(kernel: mc.Kernel) -> None:
    np.testing.assert_allclose(kernel(sparse.csr_array(H)), kernel(H), rtol=1e-12, atol=1e-13)
    with pytest.raises(DataError, match="at least 0"):
        kernel(H - 0.1)


def test_chi_squared_is_scikit_learns() -> None:
    np.testing.assert_allclose(mc.ChiSquared(0.7)(H), chi2_kernel(H, gamma=0.7), rtol=1e-12)


def test_additive_chi_squared_is_the_kernel_not_the_distance() -> None:
    """Σ2xz/(x+z) = ½Σ(x+z) − ½Σ(x−z)²/(x+z)."""
    mass = H.sum(1)
    distance = -np.log(mc.ChiSquared(1.0)(H))
    np.testing.assert_allclose(
        mc.AdditiveChiSquared()(H), (mass[:, None] + mass - distance) / 2, rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_empty_bins(kernel: mc.Kernel, dtype: type) -> None:
    Z = np.zeros((3, 4), dtype)
    Z[0, 0] = 1
    K = kernel(Z)
    assert np.isfinite(K).all()
    assert K[1, 2] == (1.0 if isinstance(kernel, mc.ChiSquared) else 0.0)
