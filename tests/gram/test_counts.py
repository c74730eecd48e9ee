"""The Gram of counts against the matrix it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import mercer as mc
from mercer.compute import Compute
from mercer.gram import CountsGram


def _strings(n: int, seed: int, alphabet: str = "ACGT") -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(alphabet), rng.integers(20, 40))) for _ in range(n)]


KERNELS = (mc.Spectrum(2), mc.Gappy(3, 2), mc.Spectrum(3, k_min=1).normalized(), mc.Gappy(4, 2).normalized())
CASES = [(kernel, cross) for kernel in KERNELS for cross in (0, 1, 2)]


@pytest.fixture(params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """The Gram, and its values from features in float64: of one set, of two, and of two with different alphabets."""
    kernel, cross = request.param
    X = _strings(300, 0)
    Y = {0: None, 1: _strings(90, 1), 2: _strings(70, 2, "ACGTN")}[cross]
    gram = kernel.gram(X, Y)
    assert isinstance(gram, CountsGram)
    both = kernel.features(X + (Y or []))
    left, right = both[: len(X)], both[len(X) :] if Y else both
    return gram, (left @ right.T).toarray()


@pytest.mark.thorough
def test_every_way_to_look_at_it(case: tuple[Any, Any]) -> None:
    gram, K = case
    rng = np.random.default_rng(3)
    v, V = rng.standard_normal(K.shape[1]), rng.standard_normal((K.shape[1], 3))
    close = {"rtol": 1e-12, "atol": 1e-12 * np.abs(K).max()}
    np.testing.assert_allclose(gram.dense(), K, **close)
    np.testing.assert_allclose(gram @ v, K @ v, rtol=1e-11, atol=1e-10 * np.abs(K).max())
    np.testing.assert_allclose(gram @ V, K @ V, rtol=1e-11, atol=1e-10 * np.abs(K).max())
    np.testing.assert_allclose(gram.T @ (K @ v), K.T @ (K @ v), rtol=1e-10)
    np.testing.assert_allclose(gram.normal(v), K.T @ (K @ v), rtol=1e-10)
    np.testing.assert_allclose(gram.diag(), np.diagonal(K), **close)
    np.testing.assert_allclose(gram.rows([3, 1, 1]), K[[3, 1, 1]], **close)
    phi = gram.features(at_most=np.inf).phi
    np.testing.assert_allclose((phi @ gram._numbered[1].T).toarray(), K, **close)
    assert gram.width == phi.shape[1]
    i, j = rng.permutation(len(K))[:40], rng.permutation(K.shape[1])[:30]
    part = gram.sub(i, j)
    np.testing.assert_allclose(part.dense(), K[np.ix_(i, j)], **close)
    np.testing.assert_allclose(part @ v[:30], K[np.ix_(i, j)] @ v[:30], rtol=1e-11, atol=1e-10 * np.abs(K).max())
    np.testing.assert_allclose(part.diag(), np.diagonal(K[np.ix_(i, j)]), **close)
    np.testing.assert_allclose(gram.sub(slice(5, 9), slice(None)).dense(), K[5:9], **close)
    if K.shape[0] == K.shape[1]:
        square = gram.sub(i, i)
        assert square.symmetric
        np.testing.assert_allclose(square.dense(), K[np.ix_(i, i)], **close)
        np.testing.assert_array_equal(square.dense(), square.dense().T)


def test_float32_shares_the_counts(case: tuple[Any, Any]) -> None:
    gram, K = case
    assert len(gram.sides) == 2  # made
    single = gram.astype(np.float32)
    assert single.sides is gram.sides
    assert single.dtype == single.dense().dtype == np.float32
    np.testing.assert_allclose(single.dense(), K, rtol=1e-5, atol=1e-6 * np.abs(K).max())
    assert gram.astype(np.float64) is gram


def test_products_keep_to_the_budget() -> None:
    """Sums of columns are held for as many columns of V, and parts of the rows, as there is room for."""
    import tracemalloc

    X = _strings(200, 0)
    wide = mc.Spectrum(7).gram(X[:100], X[100:], compute=Compute(memory="4MB"))
    assert isinstance(wide, CountsGram)
    V = np.random.default_rng(0).standard_normal((100, 60))
    tracemalloc.start()
    found = wide @ V
    assert tracemalloc.get_traced_memory()[1] < 4e6
    tracemalloc.stop()
    np.testing.assert_allclose(found, mc.Spectrum(7)(X[:100], X[100:]) @ V, rtol=1e-12, atol=1e-12)


def test_powers_between_two_sets_make_no_features() -> None:
    """Features of a power are many; its values between two sets come from those of the kernel."""
    X, Y = _strings(20, 0), _strings(12, 1)
    k = mc.Spectrum(3)
    assert not isinstance((k**3).gram(X, Y), mc.LowRankGram)
    np.testing.assert_allclose((k**3)(X, Y), k(X, Y) ** 3, rtol=1e-13)


def test_threads_do_not_change_a_bit() -> None:
    X, v = _strings(300, 0), np.random.default_rng(0).standard_normal(300)
    one, two = (mc.Gappy(4, 2).normalized().gram(X, compute=Compute(threads=t)) @ v for t in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.thorough
def test_machines_on_counts() -> None:
    """Every learner that works with features finds the model that it finds with the matrix."""
    X = _strings(700, 0)
    y = np.array([x.count("CG") > 1 for x in X]).astype(int)
    k = mc.Gappy(3, 2).normalized()
    assert isinstance(k.gram(X), CountsGram)
    K = k(X)
    a, b = mc.SVC(kernel=k, tol=1e-6).fit(X, y), mc.SVC(kernel="precomputed", tol=1e-6).fit(K, y)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(K), atol=1e-4)
    np.testing.assert_allclose(
        mc.KernelRidge(kernel=k).fit(X, y).predict(X),
        mc.KernelRidge(kernel="precomputed").fit(K, y).predict(K),
        atol=1e-6,
    )
    np.testing.assert_allclose(
        np.abs(mc.KernelPCA(3, kernel=k).fit_transform(X)),
        np.abs(mc.KernelPCA(3, kernel="precomputed").fit_transform(K)),
        atol=1e-5,
    )
    assert sparse.issparse(k.features(X))
