"""The choice of landmarks, and pivoted Cholesky factors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer as mc
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.gram import CHOICES, DenseGram, Gram, LowRankGram, pivoted_cholesky, uniform


def _data(n: int, d: int = 3) -> Array:
    return np.random.default_rng(0).standard_normal((n, d))


def _factor(gram: Gram, rank: int, seed: int = 0) -> Array:
    return pivoted_cholesky(gram, rank, np.random.default_rng(seed))[0]


@pytest.mark.parametrize("gamma", [0.05, 0.5])
@pytest.mark.parametrize("rank", [30, 100, 200])
@pytest.mark.thorough
def test_what_is_left_is_nearly_the_least_there_could_be(rank: int, gamma: float) -> None:
    """K − F F^T is positive semi-definite, and its trace is near that of the best of two thirds of the columns."""
    X = _data(300)
    K = mc.Gaussian(gamma)(X)
    F = _factor(mc.Gaussian(gamma).gram(X), rank)
    assert F.shape[0] == 300
    assert F.shape[1] <= rank
    left = K - F @ F.T
    values = np.linalg.eigvalsh(K)[::-1]
    assert np.linalg.eigvalsh(left)[0] > -1e-9
    assert np.trace(left) <= 2 * values[2 * rank // 3 :].sum() + 1e-8


@given(rank=st.integers(1, 20), n=st.integers(1, 90), seed=st.integers(0, 50))
@pytest.mark.thorough
def test_features_are_found_again(rank: int, n: int, seed: int) -> None:
    """Of a matrix of rank r a factor of r columns (or a few more, of rounding) is all of it."""
    Phi = np.random.default_rng(seed).standard_normal((n, rank))
    F = _factor(LowRankGram(Phi), n)
    np.testing.assert_allclose(F @ F.T, Phi @ Phi.T, rtol=0, atol=1e-5 * float(np.max(np.sum(Phi**2, axis=1))))
    assert F.shape[1] <= n


def test_duplicates_are_of_no_use_twice() -> None:
    X = np.repeat(_data(20), 30, axis=0)
    F = _factor(mc.Gaussian(0.5).gram(X), 600)
    assert F.shape[1] <= 25
    np.testing.assert_allclose(F @ F.T, mc.Gaussian(0.5)(X), rtol=0, atol=1e-8)


def test_nothing_to_factor() -> None:
    F = _factor(DenseGram(np.zeros((5, 5))), 3)
    assert F.shape[0] == 5
    assert not F.any()


def test_the_same_bits_again() -> None:
    gram = mc.Gaussian(0.5).gram(_data(300))
    one = _factor(gram, 100)
    np.testing.assert_array_equal(one, _factor(gram, 100))
    threads = mc.Gaussian(0.5).gram(_data(300), compute=Compute(threads=3))
    np.testing.assert_array_equal(one, _factor(threads, 100))
    assert np.abs(one - _factor(gram, 100, 1)).max() > 0.01


# -- the choice ------------------------------------------------------------------------------------------------------

RULES = ["uniform", *CHOICES]


def _chosen(rule: str, gram: Gram, count: int, seed: int = 0, weights: Array | None = None, tol: float = 0.0) -> Array:
    w, random = np.ones(gram.shape[0]) if weights is None else weights, np.random.default_rng(seed)
    return uniform(len(w), count, random, w) if rule == "uniform" else CHOICES[rule](gram, count, random, w, tol)


def _missed(K: Array, index: Array) -> float:
    """tr(K − C G^+ C^T)/tr K, written out."""
    C, G = K[:, index], K[np.ix_(index, index)]
    return float(np.trace(K - C @ np.linalg.pinv(G, rcond=1e-12, hermitian=True) @ C.T) / np.trace(K))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rule", RULES)
def test_distinct_numbers_of_items(rule: str, seed: int) -> None:
    gram = mc.Gaussian(0.5).gram(_data(150))
    for count in (1, 2, 20, 149):
        index = _chosen(rule, gram, count, seed)
        assert len(np.unique(index)) == len(index)
        assert index.min() >= 0
        assert index.max() < 150
        assert len(index) == count if rule != "pivoted" else min(count, 100) <= len(index) <= count


@pytest.mark.parametrize("rule", RULES)
def test_weights_of_zero_are_never_chosen(rule: str) -> None:
    weights = np.where(np.arange(80) % 4 == 0, 1.0 + np.arange(80), 0.0)
    gram = mc.Gaussian(0.5).gram(_data(80))
    for seed in range(10):
        for count in (5, 20, 60):
            index = _chosen(rule, gram, count, seed, weights)
            assert (index % 4 == 0).all()
            assert len(np.unique(index)) == len(index) <= 20


@pytest.mark.parametrize("rule", RULES)
def test_more_than_there_are(rule: str) -> None:
    index = _chosen(rule, mc.Gaussian(2.0).gram(_data(30)), 500)
    np.testing.assert_array_equal(np.sort(index), np.arange(30))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", ["kmeans++", "pivoted"])
def test_copies_are_found_out(rule: str, dtype: type) -> None:
    """Ten different items, eight times each: ten landmarks are all there is to see, and each is among them."""
    X = np.repeat(_data(10), 8, axis=0).astype(dtype)
    index = _chosen(rule, mc.Gaussian(0.5).gram(X), 30)
    assert set(index // 8) == set(range(10))
    assert len(index) == 10 if rule == "kmeans++" else len(index) <= 30


@pytest.mark.parametrize("rule", RULES)
def test_a_matrix_of_zeros(rule: str) -> None:
    index = _chosen(rule, DenseGram(np.zeros((6, 6))), 3)
    assert 1 <= len(index) <= 3
    assert len(np.unique(index)) == len(index)


@pytest.mark.parametrize("rule", RULES)
def test_one_item(rule: str) -> None:
    np.testing.assert_array_equal(_chosen(rule, mc.Gaussian(0.5).gram(_data(1)), 3), [0])


def _clusters() -> Array:
    """A large heap and nine small ones far from it: of twenty landmarks at random, few are in those."""
    rng = np.random.default_rng(0)
    small = np.repeat(8 * np.arange(1, 10), 4)[:, None] + 0.3 * rng.standard_normal((36, 2))
    return np.vstack([0.3 * rng.standard_normal((400, 2)), small])


@pytest.mark.thorough
@pytest.mark.parametrize("rule", ["kmeans++", "leverage", "pivoted"])
def test_small_groups_are_not_missed(rule: str) -> None:
    X = _clusters()
    gram, K = mc.Gaussian(0.5).gram(X), mc.Gaussian(0.5)(X)
    ours = np.mean([_missed(K, _chosen(rule, gram, 40, seed)) for seed in range(10)])
    plain = np.mean([_missed(K, _chosen("uniform", gram, 40, seed)) for seed in range(10)])
    assert ours < 0.25 * plain


@pytest.mark.thorough
@pytest.mark.parametrize("rule", ["kmeans++", "pivoted"])
def test_few_landmarks_are_chosen_with_care_too(rule: str) -> None:
    X = _clusters()
    gram, K = mc.Gaussian(0.5).gram(X), mc.Gaussian(0.5)(X)
    ours = np.mean([_missed(K, _chosen(rule, gram, 20, seed)) for seed in range(10)])
    assert ours < 5 * np.linalg.eigvalsh(K)[:-20].sum() / np.trace(K)


@pytest.mark.parametrize("tol", [0.3, 0.1, 0.01, 1e-4])
@pytest.mark.thorough
def test_pivots_until_the_trace_is_reached(tol: float) -> None:
    X = _data(300)
    gram, K = mc.Gaussian(0.5).gram(X), mc.Gaussian(0.5)(X)
    index = _chosen("pivoted", gram, 300, tol=tol)
    assert _missed(K, index) <= tol
    assert len(index) < 300
    if tol <= 0.01:  # not many more than it takes: without the last draw, of 64, it is not reached
        assert _missed(K, index[:-64]) > tol


def test_uniform_choices_follow_the_weights() -> None:
    counts = np.zeros(4)
    for seed in range(400):
        counts[_chosen("uniform", DenseGram(np.eye(4)), 1, seed, np.array([1.0, 2.0, 0.0, 1.0]))] += 1
    np.testing.assert_allclose(counts / 400, [0.25, 0.5, 0.0, 0.25], atol=0.08)


def test_pivots_beyond_the_budget_are_refused() -> None:
    gram = mc.Gaussian(0.5).gram(_data(5000), compute=Compute(memory="1MB"))
    with pytest.raises(MemoryError, match="500 pivoted landmarks of 5000 items"):
        _chosen("pivoted", gram, 500)


@pytest.mark.parametrize("rule", RULES)
def test_threads_choose_alike(rule: str) -> None:
    one, two = (mc.Gaussian(0.5).gram(_data(2000), compute=Compute(threads=threads)) for threads in (1, 2))
    np.testing.assert_array_equal(_chosen(rule, one, 30), _chosen(rule, two, 30))
