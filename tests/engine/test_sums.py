"""Sums over blocks of a matrix against the matrix, in registers and tile by tile."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import mercer as mc
from mercer.engine import sums
from mercer.gram import KernelGram


@pytest.mark.parametrize("kernel", [mc.Gaussian(0.5), mc.Laplacian(0.5), mc.Linear()], ids=str)
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("mean", [3, 60])  # columns of a block, below and above a pack of them
def test_sums_are_those_of_the_matrix(
    kernel: mc.Kernel, compiled: bool, mean: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums, "_HEIGHT", 28)
    rng = np.random.default_rng(mean)
    a, b = (np.concatenate([[0], np.cumsum(np.r_[0, rng.integers(0, 2 * mean, 12), 1, 0])]) for _ in range(2))
    X, Y = rng.standard_normal((a[-1], 2)), rng.standard_normal((b[-1], 2))
    for Z, offsets in ((Y, b), (X, a)):
        K = kernel(X, Z)
        wanted = [[K[i:j, k:m].sum() for k, m in pairwise(offsets)] for i, j in pairwise(a)]
        gram = KernelGram.of(kernel, X, Z, mc.Compute(threads=1))
        gram = gram.compiled() if compiled else gram
        np.testing.assert_allclose(gram.sums(a, offsets), wanted, rtol=1e-10, atol=1e-10)
        lower = gram.sums(a, offsets, lower=True)
        np.testing.assert_allclose(np.tril(lower), np.tril(wanted), rtol=1e-10, atol=1e-10)


def test_what_is_not_finite_is_named() -> None:
    X = np.array([[1.0], [1e200]])
    with pytest.raises(FloatingPointError, match=r"pair \(0, 1\)"):
        KernelGram.of(mc.Polynomial(2), X, X, mc.Compute()).sums(np.array([0, 2]), np.array([0, 2]))
