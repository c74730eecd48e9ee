"""Σ_m w_m K_m with its parts apart, against the sum of arrays."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.gram import Use, held, held_parts
from mercer.kernels.compose.terms import Sum

X = np.random.default_rng(0).standard_normal((1100, 3))
Y = X[:40] + 0.1
KERNELS = [mc.Gaussian(0.5), mc.Linear(), mc.Laplacian(0.2)]
WEIGHTS = np.array([0.5, 2.0, 1.5])


def _products(A: Any, B: Any) -> Any:
    return A @ B.T


def summed(left: Any = X, right: Any = None) -> tuple[Any, Any]:
    grams = [k.gram(left, right) for k in KERNELS]
    total = mc.SumGram(grams, WEIGHTS, symmetric=right is None)
    return total, sum(w * k(left, right) for w, k in zip(WEIGHTS, KERNELS, strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize("right", [None, Y])
def test_values(right: Any) -> None:
    total, K = summed(X, right)
    V = np.random.default_rng(1).standard_normal((K.shape[1], 2))
    np.testing.assert_allclose(total.dense(), K, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(total.rows([3, 1]), K[[3, 1]], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(total.sub([5, 2], slice(0, 7)).dense(), K[[5, 2], :7], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(total.diag(), np.diagonal(K), rtol=1e-12)
    np.testing.assert_allclose(total @ V, K @ V, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(total.normal(V), K.T @ (K @ V), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(total.T.dense(), K.T, rtol=1e-12, atol=1e-12)
    single = total.astype("float32")
    assert single.dtype == np.float32 == single.dense().dtype
    np.testing.assert_allclose(single.dense(), K, rtol=1e-4, atol=1e-4)
    out = np.empty(K.shape)
    assert total.dense(out) is out
    np.testing.assert_allclose(out, K, rtol=1e-12, atol=1e-12)


def test_a_symmetric_sum_is_exactly_so() -> None:
    K = summed()[0].dense()
    assert np.array_equal(K, K.T)
    part = summed()[0].sub(np.arange(0, 900, 3), np.arange(0, 900, 3)).dense()
    assert np.array_equal(part, part.T)


def test_the_same_for_any_number_of_threads() -> None:
    one, two = (
        mc.SumGram([k.gram(X, compute=mc.Compute(threads=t)) for k in KERNELS], WEIGHTS, symmetric=True).dense()
        for t in (1, 2)
    )
    assert np.array_equal(one, two)


def test_a_part_of_weight_0_is_not_asked() -> None:
    def wrong(A: Any, B: Any) -> Any:
        raise AssertionError("asked")

    total = mc.SumGram([KERNELS[0].gram(Y), mc.Function(wrong).gram(Y)], [2.0, 0.0], symmetric=True)
    np.testing.assert_allclose(total.dense(), 2 * KERNELS[0](Y))
    np.testing.assert_allclose(total @ np.ones(40), 2 * KERNELS[0](Y) @ np.ones(40))
    np.testing.assert_allclose(total.rows([1]), 2 * KERNELS[0](Y)[[1]])
    nothing = total.weighted([0.0, 0.0])
    assert not nothing.dense().any()
    assert not (nothing @ np.ones(40)).any()


def test_features_stand_side_by_side() -> None:
    total = mc.SumGram([mc.Linear().gram(X), mc.Polynomial(2).gram(X)], [4.0, 0.5], symmetric=True)
    found = total.features()
    assert found is not None
    phi = found.array()
    np.testing.assert_allclose(phi @ phi.T, 4 * mc.Linear()(X) + 0.5 * mc.Polynomial(2)(X), rtol=1e-10, atol=1e-10)
    assert summed()[0].features() is None  # a Gaussian has none


def test_what_is_held() -> None:
    """Folds keep the parts apart; who has settled the weights gets one matrix. Costly parts are stored, in float32."""
    total, K = summed()
    assert len(held(total, Use.FOLDS).parts) == 3
    settled = held(total, Use.SYSTEMS)
    assert settled.stored
    np.testing.assert_allclose(settled.dense(), K, rtol=1e-12, atol=1e-12)
    cheap, costly = held_parts([mc.Gaussian(0.5).gram(X), mc.Function(_products).gram(X)])
    assert not cheap.stored
    assert costly.stored
    assert costly.dtype == np.float32
    small = held_parts([mc.Gaussian(0.5).gram(Y)])[0]
    assert small.stored
    assert small.dtype == np.float64
    tight = mc.Compute(memory="4MB")  # one such matrix is 4.84 MB
    lean = held_parts([mc.Function(_products).gram(X, compute=tight)])[0]
    assert not lean.stored


@pytest.mark.parametrize(
    ("weights", "message"), [([1.0], "sum of 2 matrices"), ([1.0, -1.0], "at least 0"), ([1.0, np.nan], "at least 0")]
)
def test_weights_that_are_none(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mc.SumGram([KERNELS[0].gram(Y), KERNELS[1].gram(Y)], weights)


def test_matrices_of_different_shapes() -> None:
    with pytest.raises(ValueError, match="cannot be added"):
        mc.SumGram([KERNELS[0].gram(Y), KERNELS[1].gram(X)], [1.0, 1.0])


@pytest.mark.thorough
def test_parts_of_one_kind_are_added_in_registers() -> None:
    """Large sums of one formula with several numbers are computed together: the same values."""
    Z = np.random.default_rng(2).standard_normal((1700, 4))
    kernels = [mc.Gaussian(0.1 * (m + 1)) for m in range(5)] + [mc.Linear()]
    bound, A = Sum(tuple(kernels))._entered(Z)
    parts = [term._gram(items, items, mc.Compute()) for term, items in zip(bound.terms, A, strict=True)]
    weights = np.arange(1.0, 7.0)
    total = mc.SumGram(held_parts(parts), weights, symmetric=True)
    assert len(total._used) == 2  # the Gaussians, and the features
    K = sum(w * k(Z) for w, k in zip(weights, kernels, strict=True))
    some = np.arange(0, 1700, 7)
    np.testing.assert_allclose(total.dense(), K, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(total.sub(some, slice(None)).dense(), K[some], rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(total @ Z, K @ Z, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(total @ Z[:, 0], K @ Z[:, 0], rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(total.diag(), np.diagonal(K), rtol=1e-12)
    np.testing.assert_allclose(total.astype("float32").dense(), K, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(total.sub(some, slice(None)).T.dense(), K[some].T, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(total.sub(some, some).parts[2].dense(), kernels[2](Z[some]), rtol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(total)).rows([3]), K[[3]], rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.thorough
def test_products_of_all_parts(columns: int) -> None:
    """In one pass or part by part, of the whole or of some rows and columns, whatever the weights."""
    Z = np.random.default_rng(3).standard_normal((1100, 4))
    kernels = [mc.Gaussian(0.3), mc.Linear(), mc.Gaussian(2.0), mc.Gaussian(0.01), mc.Laplacian(1.0)]
    bound, A = Sum(tuple(kernels))._entered(Z)
    parts = [term._gram(items, items, mc.Compute()) for term, items in zip(bound.terms, A, strict=True)]
    total = mc.SumGram([part.compiled() for part in parts], [1.0, 0.0, 2.0, 0.0, 3.0], symmetric=True)
    V = np.random.default_rng(4).standard_normal((1100, columns))
    K = [k(Z) for k in kernels]
    some = np.arange(0, 1100, 3)
    for rows, cols in ((slice(None), slice(None)), (some, some), (slice(5, 700), some), (some[:1], some[:1])):
        expected = np.stack([M[rows][:, cols] @ V[cols] for M in K])
        np.testing.assert_allclose(total.sub(rows, cols).products(V[cols]), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(total.products(V[:, 0]), np.stack([M @ V[:, 0] for M in K]), rtol=1e-10, atol=1e-10)


def test_products_are_the_same_for_any_number_of_threads() -> None:
    Z, v = np.random.default_rng(3).standard_normal((1300, 4)), np.random.default_rng(4).standard_normal(1300)
    found = []
    for threads in (1, 2):
        bound, A = Sum(tuple(mc.Gaussian(0.2 * (m + 1)) for m in range(6)))._entered(Z)
        compute = mc.Compute(threads=threads)
        parts = [term._gram(items, items, compute) for term, items in zip(bound.terms, A, strict=True)]
        total = mc.SumGram(held_parts(parts), np.arange(6.0), symmetric=True)
        found.append((total.products(v), total.dense(), total @ v))
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)
