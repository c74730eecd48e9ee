"""Products in tiles against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.native import products


@pytest.mark.parametrize("n", [1, 40, 1100])
def test_inner(n: int) -> None:
    rng = np.random.default_rng(n)
    A, scale = rng.standard_normal((60, n)), rng.uniform(0.5, 2, 60)
    np.testing.assert_allclose(products.inner(A, 2), A.T @ A, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(products.inner(A, 2), products.inner(A, 1))
    out = np.tril(np.ones((n, n)))
    products.add_inner(out, A, scale=scale)
    np.testing.assert_allclose(np.tril(out), np.tril(1 + (A * scale[:, None] ** 2).T @ A), rtol=0, atol=1e-11)


@pytest.mark.parametrize("n", [1, 700])
@pytest.mark.thorough
def test_products_and_inverses(n: int) -> None:
    rng = np.random.default_rng(n)
    A, B = rng.standard_normal((90, n)), rng.standard_normal((n, 30))
    np.testing.assert_allclose(products.product(A, B, 2), A @ B, rtol=0, atol=1e-12 * n)
    L = np.tril(rng.standard_normal((n, n))) / n + 2 * np.eye(n)
    np.testing.assert_allclose(products.triangular_inverse(L, 2) @ L, np.eye(n), rtol=0, atol=1e-12)
    assert not np.triu(products.triangular_inverse(L), 1).any()
    L[0, 0] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="at row 0"):
        products.triangular_inverse(L)
