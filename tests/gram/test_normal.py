"""K^T h(K V) in one pass, for every kind of matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import mercer as mc
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.gram import DenseGram, Gram, LowRankGram

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((90, 3)), RNG.standard_normal((31, 3))
WIDE = sparse.random_array((90, 5000), density=0.01, rng=RNG, format="csr")
STRINGS = ["".join(RNG.choice(list("ACGT"), 12)) for _ in range(60)]


def _inner(A: Array, B: Array) -> Array:
    return np.tanh(A @ B.T)


GRAMS: dict[str, Callable[[], Gram]] = {
    "computed": lambda: mc.Gaussian(0.3).gram(X, Y),
    "a sum of kernels": lambda: (mc.Gaussian(0.3) * mc.Linear() + mc.Laplacian(0.2)).gram(X, Y),
    "float32": lambda: mc.Gaussian(0.3).gram(X.astype(np.float32), Y.astype(np.float32)),
    "symmetric": lambda: mc.Gaussian(0.3).gram(X),
    "a part": lambda: mc.Gaussian(0.3).gram(X).sub(np.arange(5, 80, 2), np.arange(20)),
    "features": lambda: mc.Linear().gram(X, Y),
    "sparse": lambda: mc.Linear().gram(WIDE, WIDE[:40]),
    "distances of sparse": lambda: mc.Gaussian(0.1).gram(WIDE, WIDE[:40]),
    "stored": lambda: DenseGram(np.random.default_rng(1).standard_normal((40, 25))),
    "low rank": lambda: LowRankGram(X, Y),
    "a function": lambda: mc.Function(_inner).gram(X, Y),
    "strings": lambda: mc.Spectrum(2).gram(STRINGS, STRINGS[:17]),
    "pairs of strings": lambda: mc.LocalAlignment().gram(STRINGS[:20], STRINGS[:7]),
}


def _between(w: Array, shift: Array) -> Callable[[slice, Array], Array]:
    return lambda rows, values: w[rows, None] * np.sin(values + shift[rows, None])


@pytest.mark.parametrize("columns", [None, 1, 4])
@pytest.mark.parametrize("name", GRAMS)
def test_it_is_what_it_says(name: str, columns: int | None) -> None:
    gram = GRAMS[name]()
    K = np.asarray(gram, np.float64)
    n, m = K.shape
    rng = np.random.default_rng(2)
    V = rng.standard_normal(m if columns is None else (m, columns)) / np.abs(K).max()
    w, shift = rng.uniform(0, 2, n), rng.standard_normal(n)
    left = np.sin(K @ V + (shift if columns is None else shift[:, None])) * (w if columns is None else w[:, None])
    close = {"rtol": 1e-4, "atol": 1e-5} if gram.dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-10}
    scale = float(np.abs(K).sum(axis=0).max())
    found = gram.normal(V, _between(w, shift))
    assert found.shape == V.shape
    np.testing.assert_allclose(found / scale, K.T @ left / scale, **close)
    np.testing.assert_allclose(gram.normal(V) / scale, K.T @ (K @ V) / scale, **close)
    # K^T U alone, by a V of zeros
    U = rng.standard_normal((n, 2))
    alone = gram.normal(np.zeros((m, 2)), lambda rows, _: U[rows])
    np.testing.assert_allclose(alone / scale, K.T @ U / scale, **close)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(4096, 300), (1021, 1100), (60_000, 20)])
def test_many_values_are_made_in_registers_and_used_twice(shape: tuple[int, int], dtype: Any) -> None:
    n, m = shape
    rng = np.random.default_rng(n)
    A, B = rng.standard_normal((n, 2)).astype(dtype), rng.standard_normal((m, 2)).astype(dtype)
    gram = mc.Gaussian(0.4).gram(A, B)
    assert n * m >= 2**20
    A64, B64 = A.astype(np.float64), B.astype(np.float64)
    K = np.exp(-0.4 * ((A64[:, None, 0] - B64[:, 0]) ** 2 + (A64[:, None, 1] - B64[:, 1]) ** 2))
    V, w, shift = rng.standard_normal((m, 2)) / m, rng.uniform(0, 1, n), rng.standard_normal(n)
    expected = K.T @ (w[:, None] * np.sin(K @ V + shift[:, None]))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(gram.normal(V, _between(w, shift)), expected, rtol=0, atol=tolerance * n)


@pytest.mark.parametrize("kernel", [mc.Gaussian(0.4), mc.Polynomial(2), mc.Laplacian(0.3) + mc.Linear()], ids=str)
def test_the_same_bits_for_any_number_of_threads(kernel: mc.Kernel) -> None:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((5000, 3)), rng.standard_normal((220, 3))
    V, w, shift = rng.standard_normal((220, 2)) / 220, rng.uniform(0, 1, 5000), rng.standard_normal(5000)
    found = [kernel.gram(A, B, compute=Compute(threads=threads)).normal(V, _between(w, shift)) for threads in (1, 2, 3)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_every_row_is_asked_for_once() -> None:
    gram = mc.Gaussian(0.4).gram(np.random.default_rng(0).standard_normal((5000, 3)), Y)
    seen = np.zeros(5000)

    def count(rows: slice, values: Array) -> Array:
        assert values.shape == (rows.stop - rows.start, 1)
        seen[rows] += 1
        return values

    gram.normal(np.ones(31), count)
    np.testing.assert_array_equal(seen, 1)


def test_an_error_between_reaches_the_caller() -> None:
    def wrong(rows: slice, values: Array) -> Array:
        raise ZeroDivisionError("between")

    with pytest.raises(ZeroDivisionError, match="between"):
        mc.Gaussian(0.4).gram(X, Y).normal(np.ones(31), wrong)


def test_a_vector_of_the_wrong_length() -> None:
    with pytest.raises(ValueError, match="90 × 31"):
        mc.Gaussian(0.4).gram(X, Y).normal(np.ones(90))
