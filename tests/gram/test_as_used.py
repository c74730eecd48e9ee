"""A Gram matrix that is changed, pickled and multiplied with what users have."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import mercer as mc
from tests.cases import real

X = real(30)


@pytest.mark.parametrize("kernel", [mc.Gaussian(1.0), mc.Linear(), mc.Polynomial(2).normalized()], ids=str)
def test_a_changed_diagonal_does_not_change_the_matrix(kernel: mc.Kernel) -> None:
    gram = kernel.gram(X)
    expected = gram.dense().copy()
    gram.diag()[:] = 7
    np.testing.assert_array_equal(gram.dense(), expected)


def test_an_overflowing_product_is_not_silent() -> None:
    with (
        pytest.raises(FloatingPointError, match="overflows float32 though the kernel does not"),
        np.errstate(over="ignore"),
    ):
        mc.Gaussian(1.0).gram(X.astype(np.float32)) @ (np.ones(30) * 1e39)


@pytest.mark.parametrize("n", [30, 1200])
def test_grams_are_pickled(n: int) -> None:
    gram = mc.Gaussian(1.0).gram(real(n))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(gram)).dense(), gram.dense())


def test_what_a_matrix_is_multiplied_with_is_checked() -> None:
    gram = mc.Gaussian(1.0).gram(X)
    with pytest.raises(ValueError, match="cannot be multiplied"):
        gram.normal(np.ones(5))
    with pytest.raises(TypeError, match="real numbers"):
        gram @ (1j * np.ones(30))
    np.testing.assert_allclose(gram @ sparse.eye_array(30), gram.dense())
    with pytest.raises(ValueError, match="float32 or float64"):
        gram.astype(int)
