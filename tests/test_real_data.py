"""On real data sets, where they are there."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

import mercer as mc


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel",
    [mc.Gaussian(0.03), mc.Polynomial(2), mc.Linear().normalized(), mc.HistogramIntersection(), mc.Laplacian(0.03)],
    ids=str,
)
def test_a9a_sparse_is_dense(shared_data: Path, kernel: mc.Kernel) -> None:
    X = load_svmlight_file(str(shared_data / "a9a" / "a9a.bz2"), n_features=123)[0]
    some, few = X[:700], X[700:900]
    np.testing.assert_allclose(kernel(some, few), kernel(some.toarray(), few.toarray()), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(few), kernel(few.toarray()), rtol=1e-12, atol=1e-12)


@pytest.mark.thorough
def test_a9a_is_never_densified(shared_data: Path) -> None:
    X = load_svmlight_file(str(shared_data / "a9a" / "a9a.bz2"), n_features=123)[0]
    gram = mc.Gaussian(0.03).gram(X, X[:200])
    gram @ np.ones(200)  # what is compiled and imported stays
    tracemalloc.start()
    gram @ np.ones(200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.shape[0] * 123 * 8 / 2


def test_svmguide1_is_published(shared_data: Path) -> None:
    """Scaled to [−1, 1], C = 2, γ = 2: 96.875 % in LIBSVM's guide."""
    with np.load(shared_data / "svmguide1" / "svmguide1.npz") as z:
        X, y, T, t = (z[key] for key in ("X", "y", "X_test", "y_test"))
    low, high = X.min(0), X.max(0)
    X, T = (2 * (A - low) / (high - low) - 1 for A in (X, T))
    assert mc.SVC(2.0, mc.Gaussian(2.0)).fit(X, y).score(T, t) == 0.96875


@pytest.mark.slow
def test_letter_usps_and_a9a_are_published(shared_data: Path) -> None:
    X, y = load_svmlight_file(str(shared_data / "letter" / "letter.scale.bz2"), n_features=16)
    T, t = load_svmlight_file(str(shared_data / "letter" / "letter.scale.t.bz2"), n_features=16)
    assert mc.SVC(16.0, mc.Gaussian(4.0)).fit(X, y).score(T, t) >= 0.9796
    with np.load(shared_data / "usps" / "usps.npz") as z:
        assert (
            mc.SVC(10.0, mc.Gaussian(1 / 128)).fit(z["X"] / 1000, z["y"]).score(z["X_test"] / 1000, z["y_test"])
            >= 0.953
        )
    X, y = load_svmlight_file(str(shared_data / "a9a" / "a9a.bz2"), n_features=123)
    T, t = load_svmlight_file(str(shared_data / "a9a" / "a9a.t.bz2"), n_features=123)
    assert abs(mc.SVC(1.0, mc.Gaussian(0.03)).fit(X, y).score(T, t) - 0.84989) < 5e-4
