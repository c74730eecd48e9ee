"""On real data sets, where they are there."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

import mercer as mc


@pytest.mark.parametrize(
    "kernel", [mc.Gaussian(0.03), mc.Polynomial(2), mc.Linear().normalized(), mc.HistogramIntersection(), mc.Laplacian(0.03)], ids=str
)
def test_a9a_sparse_is_dense(shared_data: Path, kernel: mc.Kernel) -> None:
    X = load_svmlight_file(str(shared_data / "a9a" / "a9a.bz2"), n_features=123)[0]
    some, few = X[:700], X[700:900]
    np.testing.assert_allclose(kernel(some, few), kernel(some.toarray(), few.toarray()), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(few), kernel(few.toarray()), rtol=1e-12, atol=1e-12)


def test_a9a_is_never_densified(shared_data: Path) -> None:
    X = load_svmlight_file(str(shared_data / "a9a" / "a9a.bz2"), n_features=123)[0]
    gram = mc.Gaussian(0.03).gram(X, X[:200])
    tracemalloc.start()
    gram @ np.ones(200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.shape[0] * 123 * 8 / 2
