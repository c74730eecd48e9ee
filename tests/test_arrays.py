"""Questions about arrays."""

from __future__ import annotations

import tracemalloc

import numpy as np
from scipy import sparse

from mercer import arrays


def test_all_finite() -> None:
    x = np.zeros((3, 4))
    assert arrays.all_finite(x)
    assert arrays.all_finite(x[:0])
    assert arrays.all_finite(np.full(10, 1e308))  # the sum would overflow
    for bad in (np.nan, np.inf, -np.inf):
        x[1, 2] = bad
        assert not arrays.all_finite(x)


def test_squared_rows() -> None:
    dense = np.array([[0.0, 2.0, -3.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.5]])
    expected = [13.0, 0.0, 1.25]
    for dtype in (np.float64, np.float32):
        for made in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
            assert arrays.squared_rows(made(dense.astype(dtype))).tolist() == expected
    # one place twice: 2 = 1.5 + 0.5, whose squares add up to 2.5
    twice = sparse.csr_array((np.array([1.5, 0.5, -3.0, 1.0, 0.5]), [1, 1, 2, 0, 2], [0, 3, 3, 5]), shape=(3, 3))
    assert arrays.squared_rows(twice).tolist() == expected
    assert twice.nnz == 5  # as it was given


def test_squared_rows_take_the_memory_of_the_values() -> None:
    x = sparse.random_array((2000, 500), density=0.2, format="csr", rng=np.random.default_rng(0))
    arrays.squared_rows(x)
    tracemalloc.start()
    try:
        arrays.squared_rows(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.2 * x.data.nbytes
