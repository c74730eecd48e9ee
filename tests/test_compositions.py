"""What a kernel can do, kernels made of it can do as well: counts, features, proofs, derivatives, and what a value
costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.gram import CountsGram, MixedGram, Use, held

RNG = np.random.default_rng(0)
STRINGS = ["".join(RNG.choice(list("ACGT"), 30)) for _ in range(40)]
VECTORS = RNG.uniform(0.1, 1.0, (40, 3))


def _same(X: Any) -> Any:
    return X


WAYS = {
    "scaled": lambda k: 2.5 * k,
    "with a constant": lambda k: k + 0.01,
    "twice": lambda k: k + k,
    "normalised": lambda k: k.normalized(),
    "normalised with a constant": lambda k: (k + 0.01).normalized(),
    "scaled and normalised": lambda k: 3 * (0.5 * k).normalized(),
    "mapped": lambda k: k.map(_same),
    "scaled sum": lambda k: 0.5 * (k + 2 * k),
}
KERNELS = {
    "spectrum": (mc.Spectrum(2), STRINGS),
    "gappy": (mc.Gappy(2, 1), STRINGS),
    "linear": (mc.Linear(), VECTORS),
    "gaussian": (mc.Gaussian(0.7), VECTORS),
    "polynomial": (mc.Polynomial(2, 1.0), VECTORS),
    "histograms": (mc.HistogramIntersection(), VECTORS),
    "sigmoid": (mc.Sigmoid(0.0, 0.5), VECTORS),
    "random features": (mc.RandomFeatures(mc.Gaussian(0.7), 6, random_state=0), VECTORS),
    "sketch": (mc.TensorSketch(mc.Polynomial(2), 6, 0), VECTORS),
    "map of histograms": (mc.HomogeneousMap(mc.AdditiveChiSquared(), 1), VECTORS),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KERNELS)
def test_a_composition_keeps_what_its_parts_can(name: str, way: str) -> None:
    kernel, X = KERNELS[name]
    made = WAYS[way](kernel)
    base, gram = kernel.gram(X), made.gram(X)
    assert made.explicit == kernel.explicit
    assert made.psd is True if kernel.psd else made.psd is not True
    assert isinstance(gram, CountsGram) == isinstance(base, CountsGram)
    assert (gram.features(at_most=np.inf) is None) == (base.features(at_most=np.inf) is None)
    assert gram.quick_products == base.quick_products
    assert gram.cost == base.cost
    ends = {parameter.split("__")[-1] for parameter in made.gradient(X)}
    assert ends >= set(kernel.gradient(X))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["spectrum", "gappy"])
def test_counts_of_compositions_are_their_values(name: str, way: str) -> None:
    """Against the values of the kernel itself, put together by hand; every way to look at the matrix, of one set and
    between two.
    """
    kernel, X = KERNELS[name]
    phi = kernel.features(X).toarray()
    K = phi @ phi.T

    def normalised(M: Any) -> Any:
        root = np.sqrt(np.diag(M))
        return M / root[:, None] / root

    expected = {
        "scaled": 2.5 * K,
        "with a constant": K + 0.01,
        "twice": 2 * K,
        "normalised": normalised(K),
        "normalised with a constant": normalised(K + 0.01),
        "scaled and normalised": 3 * normalised(K),
        "mapped": K,
        "scaled sum": 1.5 * K,
    }[way]
    made = WAYS[way](kernel)
    close = {"rtol": 1e-12, "atol": 1e-12 * float(np.abs(expected).max())}
    V, i, j = np.random.default_rng(1).standard_normal((40, 3)), np.arange(5, 30, 2), np.arange(33)
    gram = made.gram(X)
    np.testing.assert_allclose(gram.dense(), expected, **close)
    np.testing.assert_allclose(made(X), expected, **close)
    for seen in (gram, gram.sub(np.arange(40), np.arange(40)), gram.astype(np.float32).astype(np.float64)):
        np.testing.assert_allclose(seen @ V, expected @ V, rtol=1e-9, atol=1e-10 * float(np.abs(expected).max()))
        np.testing.assert_allclose(seen.diag(), np.diag(expected), **close)
        np.testing.assert_allclose(seen.sub(i, j).dense(), expected[np.ix_(i, j)], **close)
        np.testing.assert_allclose(seen.rows([3]), expected[[3]], **close)
        features = seen.features(at_most=np.inf)
        np.testing.assert_allclose(features.array() @ features.array().T, expected, **close)
        rows, factor = features.factored
        scaled = factor[:, None] * rows.toarray()
        np.testing.assert_allclose(scaled @ scaled.T, expected, **close)
    between = WAYS[way](kernel).gram(X[:25], X[10:])
    np.testing.assert_allclose(between.dense(), expected[:25, 10:], **close)
    np.testing.assert_allclose(
        between @ V[10:], expected[:25, 10:] @ V[10:], rtol=1e-9, atol=1e-10 * float(np.abs(expected).max())
    )
    np.testing.assert_allclose(between.T.dense(), expected[10:, :25], **close)


def _kinds() -> dict[str, Any]:
    K = mc.Gaussian(0.5)(VECTORS)
    gram = mc.Gaussian(0.5).gram(VECTORS)
    return {
        "computed": gram,
        "of anything": mc.Function(lambda A, B: np.exp(-0.5 * np.abs(A[:, None] - B[None]).sum(2))).gram(VECTORS),
        "dense": mc.DenseGram(K),
        "part": mc.DenseGram(np.tile(K, (2, 2))).sub(np.arange(40), np.arange(40)),
        "features": mc.Linear().gram(VECTORS),
        "counts": mc.Spectrum(2).gram(STRINGS),
        "weighted": mc.WeightedGram(gram, np.arange(1.0, 41.0)),
        "weighted features": mc.WeightedGram(mc.Linear().gram(VECTORS), np.arange(1.0, 41.0)),
        "cached": mc.CachedGram(gram),
        "cached, of a matrix": mc.CachedGram(mc.DenseGram(K)),
        "in two precisions": MixedGram(mc.DenseGram(K), mc.DenseGram(K.astype(np.float32))),
    }


@pytest.mark.parametrize("use", Use)
@pytest.mark.parametrize("kind", sorted(_kinds()))
def test_held_is_the_same_matrix(kind: str, use: Use) -> None:
    """Whatever form pays, its values, products and float64 values are those of the matrix."""
    gram = _kinds()[kind]
    K, found = gram.dense(), held(gram, use)
    coarse = use is Use.COARSE_PRODUCTS
    close = {"rtol": 0, "atol": (2e-6 if coarse else 1e-12) * float(np.abs(K).max())}
    v = np.random.default_rng(2).standard_normal(40)
    np.testing.assert_allclose(found.astype(np.float64).dense(), K, **close)
    np.testing.assert_allclose(found @ v, K @ v, rtol=0, atol=40 * close["atol"])
    np.testing.assert_allclose(found.sub([1, 5], [2, 3, 9]).dense(), K[np.ix_([1, 5], [2, 3, 9])], **close)
    again = held(found, use)
    np.testing.assert_allclose(again.astype(np.float64).dense(), K, **close)


@pytest.mark.parametrize("kind", sorted(_kinds()))
def test_fresh_memory_may_be_overwritten(kind: str) -> None:
    gram = _kinds()[kind]
    before = np.array(gram.dense())
    for dtype in (np.float64, np.float32):
        taken = gram.fresh(dtype)
        assert taken.dtype == dtype
        np.testing.assert_allclose(taken, before, rtol=1e-5, atol=1e-5 * np.abs(before).max())
        taken[...] = np.nan
        np.testing.assert_array_equal(gram.dense(), before)


@pytest.mark.parametrize("kind", sorted(_kinds()))
def test_features_multiply_to_the_matrix(kind: str) -> None:
    gram = _kinds()[kind]
    features = gram.features(at_most=np.inf)
    assert (features is not None) == ("features" in kind or kind == "counts")
    i = np.arange(3, 20)
    assert (gram.sub(i, i).features(at_most=np.inf) is not None) == (features is not None)
    if features is not None:
        np.testing.assert_allclose(features.array() @ features.array().T, gram.dense(), rtol=1e-12)
        assert gram.features(at_most=features.width / 40) is None
        assert gram.features(at_most=(features.width + 0.5) / 40) is not None


def test_values_that_may_cost_anything_are_computed_once() -> None:
    """Whatever a matrix is held for, no pair is asked for twice."""
    calls = []

    def function(A: Any, B: Any) -> Any:
        calls.append(len(A) * len(B))
        return A @ B.T

    mc.Function(function).gram(VECTORS).dense()
    once = sum(calls)
    for use in (Use.VALUES, Use.PRODUCTS, Use.SYSTEMS, Use.AGAIN, Use.ACTIVE, Use.ACTIVE_PARTS, Use.FOLDS):
        calls.clear()
        found = held(mc.Function(function).gram(VECTORS), use)
        for _ in range(3):
            found @ np.ones(40)
            found.sub([1, 2], [3]).dense()
        assert sum(calls) <= once, use


def test_counts_are_exact_in_every_precision() -> None:
    """A float32 Gram of counts, asked for float64, gives what float64 would have given: its diagonal too."""
    S = ["a" * 5001 + "b" * 2, "a" * 4001 + "b" * 3] * 3
    gram = mc.Spectrum(1).gram(S, compute=mc.Compute(dtype="float32")).astype("float64")
    exact = float(5001**2 + 4)
    for _ in range(2):
        assert gram.diag()[0] == gram.dense()[0, 0] == gram.dense()[0, 2] == exact
        gram @ np.ones(6)


def test_predictions_with_counts_and_a_constant_use_features() -> None:
    assert isinstance((mc.Spectrum(4) + 1.0).gram(STRINGS, STRINGS[:10]), CountsGram)
