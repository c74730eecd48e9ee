"""The matrix of blocks of rows is that of all rows."""

from __future__ import annotations

import numpy as np
import pytest

import mercer as mc
from mercer.arrays import Array
from mercer.gram import StackedGram

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((130, 3)), RNG.standard_normal((9, 3))
KERNEL = mc.Gaussian(0.4)
K = np.exp(-0.4 * ((X[:, None] - Y) ** 2).sum(axis=2))


def _stacked() -> StackedGram:
    return StackedGram(mc.Blocks([X[:50], X[:0], X[50:51], X[51:]]), lambda block: KERNEL.gram(block, Y))


def test_values() -> None:
    gram = _stacked()
    assert gram.shape == (130, 9)
    V = RNG.standard_normal((9, 2))
    np.testing.assert_allclose(gram.dense(), K, atol=1e-14)
    np.testing.assert_allclose(gram @ V, K @ V, atol=1e-13)
    np.testing.assert_allclose(gram @ V[:, 0], K @ V[:, 0], atol=1e-13)
    np.testing.assert_allclose(gram.normal(V), K.T @ K @ V, atol=1e-12)


def test_rows_keep_their_numbers_in_a_pass() -> None:
    w, V = RNG.uniform(0, 1, 130), RNG.standard_normal((9, 2))

    def between(rows: slice, values: Array) -> Array:
        return w[rows, None] * np.tanh(values)

    np.testing.assert_allclose(_stacked().normal(V, between), K.T @ (w[:, None] * np.tanh(K @ V)), atol=1e-12)


def test_parts() -> None:
    gram = _stacked()
    i, j = np.array([129, 3, 50, 3, 77]), np.array([8, 0, 4])
    np.testing.assert_allclose(gram.sub(i, j).dense(), K[np.ix_(i, j)], atol=1e-14)
    np.testing.assert_allclose(gram.sub(slice(40, 60), slice(None)).dense(), K[40:60], atol=1e-14)
    np.testing.assert_allclose(gram.rows(i), K[i], atol=1e-14)
    np.testing.assert_allclose(gram.rows(np.arange(130) % 2 == 0), K[::2], atol=1e-14)
    single = gram.astype(np.float32)
    assert single.dense().dtype == np.float32
    np.testing.assert_allclose(single.dense(), K, atol=1e-6)
    assert single.astype(np.float32) is single


def test_what_it_is_not_asked_for() -> None:
    for ask in (lambda gram: gram.T, lambda gram: gram.diag()):
        with pytest.raises(NotImplementedError, match="blocks of rows"):
            ask(_stacked())
