"""The kernel that a user means, in whatever form it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.kernels.given import as_kernel


def test_values_texts_functions_and_none() -> None:
    k = 2 * mc.Laplacian(0.5) + mc.Linear()
    assert as_kernel(k) is k
    assert as_kernel(str(k)) == k
    assert as_kernel("Gaussian(0.1) + Linear()") == mc.Gaussian(0.1) + mc.Linear()
    assert as_kernel(None) == mc.Gaussian()

    def inner(A: Any, B: Any) -> Any:
        return A @ B.T

    assert as_kernel(inner) == mc.Function(inner)


@pytest.mark.parametrize("name", ["rbf", "linear", "poly", "sigmoid", "laplacian", "chi2", "cosine"])
def test_names_of_scikit_learn_are_translated(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^kernel_x='{name}' is scikit-learn's name: write mercer\.") as error:
        as_kernel(name, "kernel_x")
    written = str(error.value).split("write mercer.")[1].rstrip(".")
    made = written.split("(")[0]
    assert issubclass(getattr(mc, made), mc.Kernel)


def test_what_is_no_kernel_is_told() -> None:
    with pytest.raises(ValueError, match=r"^kernel='Gausian\(1\)'.*Gausian"):
        as_kernel("Gausian(1)")
    for wrong in (3, mc.Gaussian, [mc.Gaussian()]):
        with pytest.raises(TypeError, match=r"^kernel=.*mercer\.Gaussian\(\)"):
            as_kernel(wrong)


def test_machines_take_a_text() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 2
    k = mc.Gaussian(0.1) + mc.Linear()
    for make in (mc.SVC, mc.KernelRidge, mc.KernelPCA):
        text, value = (make(kernel=kernel).fit(X, y) for kernel in (str(k), k))
        assert text.kernel_ == value.kernel_
    text, value = (mc.KernelCCA(1, kernel, kernel, alpha=1.0).fit(X, X**2) for kernel in (str(k), k))
    np.testing.assert_allclose(text.correlations_, value.correlations_)
