"""k.metric(M): ‖x − z‖_M in kernels of vectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import mercer as mc

RNG = np.random.default_rng(0)
X, Z = RNG.standard_normal((9, 3)), RNG.standard_normal((5, 3))
L = RNG.standard_normal((3, 2))
M = L @ L.T  # of rank 2


def test_distances_and_inner_products_are_those_of_the_metric() -> None:
    difference = X[:, None] - Z[None]
    square = np.einsum("ijk,kl,ijl->ij", difference, M, difference)
    np.testing.assert_allclose(mc.Gaussian(0.5).metric(M)(X, Z), np.exp(-0.5 * square), atol=1e-12)
    np.testing.assert_allclose(mc.Linear().metric(M)(X, Z), X @ M @ Z.T, atol=1e-12)
    weights = np.array([2.0, 0.0, 1.0])
    np.testing.assert_allclose(mc.Gaussian(0.5).metric(weights)(X, Z), mc.Gaussian(0.5).metric(np.diag(weights))(X, Z))
    np.testing.assert_allclose(mc.Gaussian(0.5).metric(weights)(X, Z), np.exp(-0.5 * (difference**2 @ weights)))
    # of a kernel that rotations change, the symmetric root is meant
    values, vectors = np.linalg.eigh(M)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    np.testing.assert_allclose(mc.Laplacian(0.5).metric(M)(X, Z), mc.Laplacian(0.5)(X @ root, Z @ root))


def test_it_is_a_value() -> None:
    k = mc.PowerExponential(2.0, 1.4).metric(M)
    assert k == mc.PowerExponential(2.0, 1.4).metric(M.copy())
    assert k != mc.PowerExponential(2.0, 1.4).metric(2 * M)
    assert mc.parse(str(k)) == k
    assert k.psd
    assert mc.Linear().metric(M).explicit
    assert k.get_params()["kernel__power"] == 1.4
    assert set(k.gradient(X)) == {"kernel__length_scale", "kernel__power"}
    low = k(X.astype(np.float32))
    assert low.dtype == np.float32
    np.testing.assert_allclose(low, k(X), atol=1e-5)
    for weights in (M, np.diagonal(M)):
        kernel = mc.Gaussian(0.5).metric(weights)
        np.testing.assert_allclose(kernel(sparse.csr_array(X)), kernel(X), atol=1e-12)


@pytest.mark.parametrize(
    ("metric", "complaint"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], "not symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "negative eigenvalue"),
        ([1.0, -1.0], "at least 0"),
        ([1.0, np.nan], "finite"),
        ([[1.0, 2.0]], "square"),
        (3.0, "square"),
    ],
)
def test_what_is_no_metric_is_refused(metric: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        mc.Gaussian().metric(metric)


def test_another_number_of_columns_is_refused() -> None:
    with pytest.raises(mc.DataError, match="M of size 2, the data has 3 columns"):
        mc.Gaussian(1.0).metric([1.0, 2.0])(X)


def test_what_is_no_number_is_named() -> None:
    for M in (["a"], "full", None, [[1.0, "b"], [2.0, 3.0]], [[1.0], [2.0, 3.0]]):
        with pytest.raises(ValueError, match=r"metric\("):
            mc.Gaussian(1.0).metric(M)
