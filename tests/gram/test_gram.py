from __future__ import annotations

import gc
import threading
import weakref
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import sparse

import mercer as mc
from mercer.compute import Compute
from mercer.data import Anything, Domain, Ragged, Vectors
from mercer.gram import KernelGram
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.families import Pairwise, Radial
from tests.cases import real

X, Y = real(40), real(25)


class Counter:
    """Counts pairs; copies of a kernel share it."""

    def __init__(self) -> None:
        self.pairs = 0
        self.lock = threading.Lock()

    def add(self, n: int) -> None:
        with self.lock:
            self.pairs += n


@kernel
class Counting(Kernel):
    """⟨x, z⟩ by a block of its own, which counts the pairs it computes."""

    domain: ClassVar[Domain] = Vectors()
    counter: Any

    def _block(self, A: Any, B: Any) -> Any:
        self.counter.add(len(A) * len(B))
        return A @ B.T


@kernel
class CountingPair(Pairwise):
    """Common letters of two strings, counting calls."""

    counter: Any

    def _pair(self, a: str, b: str) -> float:
        self.counter.add(1)
        return float(len(set(a) & set(b)))


@pytest.mark.parametrize("n", [1, 2, 3, 40, 500, 1000])
def test_a_symmetric_matrix_costs_each_pair_once(n: int) -> None:
    counter, Z = Counter(), real(n)
    K = Counting(counter).gram(Z).dense()
    np.testing.assert_allclose(K, Z @ Z.T, atol=1e-12)
    assert counter.pairs == n * (n + 1) // 2


def test_each_pair_once_for_a_pair_function_on_strings() -> None:
    words = ["abc", "bcd", "xyz", "", "aab"]
    counter = Counter()
    K = CountingPair(counter)(words)
    assert counter.pairs == 15
    np.testing.assert_array_equal(K, [[float(len(set(a) & set(b))) for b in words] for a in words])
    counter.pairs = 0
    CountingPair(counter)(words, words[:2])
    assert counter.pairs == 10


def test_rows_and_products_cost_what_they_say() -> None:
    counter = Counter()
    gram = Counting(counter).gram(X, Y)
    assert counter.pairs == 0  # lazy
    gram.rows([3, 4])
    assert counter.pairs == 2 * 25
    gram.sub([0, 1, 2], [5]).dense()
    assert counter.pairs == 2 * 25 + 3
    gram @ np.ones(25)
    assert counter.pairs == 2 * 25 + 3 + 40 * 25
    gram.normal(np.ones(25))
    assert counter.pairs == 2 * 25 + 3 + 2 * 40 * 25  # K^T(KV) in one pass


def test_a_dense_matrix_beyond_the_budget_is_refused_before_it_is_computed() -> None:
    counter = Counter()
    gram = Counting(counter).gram(X, compute=Compute(memory="10kB"))
    with pytest.raises(
        MemoryError,
        match=r"40 × 40 matrix of float64 takes 12.8 kB, the memory budget is 10 kB.*lazy.*float32.*Compute\(memory=",
    ):
        gram.dense()
    assert counter.pairs == 0
    np.testing.assert_allclose(gram @ X, X @ (X.T @ X))
    huge = mc.Gaussian(1.0).gram(np.zeros((200_000, 2)), compute=Compute(memory="2GB"))
    with pytest.raises(MemoryError, match="320 GB"):
        huge.dense()


@kernel
class Broken(Radial):
    """1/‖x − z‖², infinite where points coincide."""

    value: float = 1.0

    def _profile(self, d2: Any) -> Any:
        return self.value / d2


def test_what_is_not_finite_is_reported_with_kernel_and_pair() -> None:
    Z = X.copy()
    Z[7] = Y[3]
    for ask in (
        lambda g: g.dense(),
        lambda g: g @ np.ones(25),
        lambda g: g.normal(np.ones(25)),
        lambda g: g.rows([5, 7]),
    ):
        with pytest.raises(
            FloatingPointError, match=r"kernel Broken\(\) gives inf for the pair \(7, 3\): row 7 of X with row 3 of Y"
        ):
            ask(Broken().gram(Z, Y))
    with pytest.raises(FloatingPointError, match=r"Polynomial.*pair \(0, 0\).*or compute in float64"):
        mc.Polynomial(30)(np.full((2, 3), 1e3, np.float32))


def test_a_product_with_nan_is_not_blamed_on_the_kernel() -> None:
    assert np.isnan(mc.Gaussian(1.0).gram(X) @ np.full(40, np.nan)).all()


@kernel
class Asymmetric(Pairwise):
    """a − b: not symmetric, and so not a kernel; a matrix all the same."""

    domain: ClassVar[Domain] = Anything()

    def _pair(self, a: float, b: float) -> float:
        return a - b


def test_transposition_does_not_assume_symmetry() -> None:
    a, b = [1.0, 5.0, 7.0], [2.0, 3.0]
    gram = Asymmetric().gram(a, b)
    expected = np.subtract.outer(a, b)
    np.testing.assert_array_equal(gram.T.dense(), expected.T)
    np.testing.assert_array_equal(gram.T @ np.ones(3), expected.T @ np.ones(3))
    np.testing.assert_array_equal(gram.T.T.dense(), expected)


def test_astype_recomputes() -> None:
    gram = mc.Gaussian(1.0).gram(X.astype(np.float32))
    assert gram.dtype == np.float32
    assert gram.astype(np.float64).dense().dtype == np.float64
    np.testing.assert_allclose(
        gram.astype(np.float64).dense(), mc.Gaussian(1.0)(X.astype(np.float32).astype(float)), rtol=1e-13
    )
    assert mc.Gaussian(1.0).gram(X, compute=Compute(dtype="float32")).dense().dtype == np.float32


GRAMS = [
    lambda: mc.DenseGram(X @ Y.T),
    lambda: mc.LowRankGram(X, Y),
    lambda: mc.LowRankGram(sparse.csr_array(X), sparse.csr_array(Y)),
    lambda: mc.CachedGram(mc.Linear().gram(X, Y), 5),
    lambda: mc.Linear().gram(X, Y),
    lambda: mc.WeightedGram(mc.DenseGram(X @ Y.T), np.ones(40), np.ones(25)),
]


@pytest.mark.parametrize("make", GRAMS)
def test_all_grams_keep_the_contract(make: Any) -> None:
    gram, K = make(), X @ Y.T
    V = np.arange(50.0).reshape(25, 2)
    assert gram.shape == (40, 25)
    np.testing.assert_allclose(gram.dense(), K, atol=1e-12)
    np.testing.assert_allclose(np.asarray(gram), K, atol=1e-12)
    np.testing.assert_allclose(gram.rows([3, 3, 0]), K[[3, 3, 0]], atol=1e-12)
    np.testing.assert_allclose(gram.rows(slice(2, 9)), K[2:9], atol=1e-12)
    np.testing.assert_allclose(gram.rows(4), K[4:5], atol=1e-12)
    np.testing.assert_allclose(gram.rows([-1]), K[-1:], atol=1e-12)
    np.testing.assert_allclose(gram.rows(X[:, 0] > 0), K[X[:, 0] > 0], atol=1e-12)
    np.testing.assert_allclose(gram.sub(X[:, 0] > 0, Y[:, 0] > 0).dense(), K[X[:, 0] > 0][:, Y[:, 0] > 0], atol=1e-12)
    assert gram.rows([]).shape == (0, 25)
    assert gram.sub([], [1, 2]).dense().shape == (0, 2)
    np.testing.assert_allclose(gram.sub([1, 2], slice(3, 9)).dense(), K[[1, 2], 3:9], atol=1e-12)
    np.testing.assert_allclose(gram.diag(), np.diagonal(K), atol=1e-12)
    np.testing.assert_allclose(gram @ V, K @ V, atol=1e-10)
    np.testing.assert_allclose(gram @ V[:, 0], K @ V[:, 0], atol=1e-10)
    np.testing.assert_allclose(gram.T @ (gram @ V), K.T @ K @ V, atol=1e-8)
    np.testing.assert_allclose(gram.normal(V), K.T @ K @ V, atol=1e-8)
    np.testing.assert_allclose(gram.normal(V[:, 1]), K.T @ K @ V[:, 1], atol=1e-8)
    assert gram.astype(np.float32).dense().dtype == np.float32
    assert "40 × 25" in repr(gram)
    with pytest.raises(ValueError, match="cannot be multiplied"):
        gram @ np.ones(40)


def test_weighted() -> None:
    u, v = np.arange(1.0, 41.0), np.arange(1.0, 26.0)
    gram = mc.WeightedGram(mc.Linear().gram(X, Y), u, v)
    K = u[:, None] * (X @ Y.T) * v
    np.testing.assert_allclose(gram.dense(), K, rtol=1e-12)
    np.testing.assert_allclose(gram.rows([5]), K[[5]], rtol=1e-12)
    np.testing.assert_allclose(gram.sub([5], [2]).dense(), K[5:6, 2:3], rtol=1e-12)
    np.testing.assert_allclose(gram.diag(), np.diagonal(K), rtol=1e-12)
    np.testing.assert_allclose(gram.T @ np.ones(40), K.T @ np.ones(40), rtol=1e-10)
    square = mc.WeightedGram(mc.Linear().gram(X), u)
    np.testing.assert_allclose(square.dense(), u[:, None] * (X @ X.T) * u, rtol=1e-11, atol=1e-12)
    with pytest.raises(ValueError, match="do not fit"):
        mc.WeightedGram(mc.Linear().gram(X), v)


def test_cached_rows_are_counted_and_the_least_recently_used_goes() -> None:
    counter = Counter()
    gram = mc.CachedGram(Counting(counter).gram(X), capacity=2)
    gram.rows([0, 1])
    gram.rows([0])
    assert (gram.hits, gram.misses, counter.pairs) == (1, 2, 80)
    gram.rows([2])  # 1 goes
    gram.rows([0])
    assert (gram.hits, gram.misses, counter.pairs) == (2, 3, 120)
    gram.rows([1])
    assert (gram.misses, counter.pairs) == (4, 160)
    np.testing.assert_allclose(gram.rows([1, 0, 1]), (X @ X.T)[[1, 0, 1]], atol=1e-13)
    with pytest.raises(ValueError, match="at least one row"):
        mc.CachedGram(gram, capacity=0)
    assert mc.CachedGram(mc.Linear().gram(X, compute=Compute(memory=4 * 40 * 8 * 3))).capacity == 3


def test_explicit_kernels_give_factors_when_these_are_smaller() -> None:
    assert isinstance(mc.Linear().gram(X), mc.LowRankGram)
    assert isinstance((mc.Linear() + mc.Constant(1.0)).gram(X), mc.LowRankGram)
    assert isinstance(mc.Polynomial(4).gram(X), KernelGram)  # 70 features for 40 rows
    assert isinstance(mc.Linear().gram(X[:3]), KernelGram)


@pytest.mark.thorough
def test_compiled_pairs_over_ragged_rows() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def common(a: Any, b: Any, parameters: Any) -> float:
        total = 0.0
        for x in a:
            for y in b:
                total += parameters[0] if x == y else 0.0
        return total

    @kernel
    class Common(Pairwise):
        """weight × number of equal entries."""

        compiled_pair: ClassVar[Any] = common
        weight: float = 2.0

        def _parameters(self) -> tuple[float, ...]:
            return (self.weight,)

    rows = [[1.0, 2.0], [2.0], [], [2.0, 2.0, 3.0]]
    expected = [[2.0 * sum(x == y for x in a for y in b) for b in rows] for a in rows]
    np.testing.assert_array_equal(Common()(Ragged.of(rows)), expected)
    np.testing.assert_array_equal(Common()(Ragged.of(rows), Ragged.of(rows[:2])), np.array(expected)[:, :2])
    np.testing.assert_array_equal(Common().diag(Ragged.of(rows)), np.diagonal(expected))


def test_dense_rejects_what_is_not_a_matrix() -> None:
    with pytest.raises(ValueError, match="two dimensions"):
        mc.DenseGram(np.zeros(3))
    with pytest.raises(ValueError, match="must agree"):
        mc.LowRankGram(np.zeros((3, 2)), np.zeros((3, 4)))


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", [mc.Gaussian(0.3), mc.Polynomial(2).normalized()], ids=str)
def test_data_go_when_the_matrix_goes(kernel: mc.Kernel) -> None:
    """Nothing that a Gram holds waits for the collector of cycles: it may be most of the memory."""

    class Data(np.ndarray):
        pass

    items = np.random.default_rng(0).standard_normal((50, 3)).view(Data)
    gone = weakref.ref(items)
    gc.collect()
    gc.disable()
    try:
        gram = KernelGram.of(kernel, items, items, Compute())
        gram @ np.ones(50)
        gram.dense()
        del gram, items
        assert gone() is None
    finally:
        gc.enable()


def test_a_square_part_of_features_stays_symmetric() -> None:
    """With the exact diagonal of the kernel, and features that serve both sides."""
    gram = mc.Linear().normalized().gram(X)
    rows = np.array([5, 2, 7, 30])
    part = gram.sub(rows, rows.copy())
    assert part.features(at_most=np.inf).symmetric
    np.testing.assert_array_equal(part.diag(), np.ones(4))
    np.testing.assert_array_equal(part.dense(), part.dense().T)
    np.testing.assert_allclose(part.dense(), gram.dense()[np.ix_(rows, rows)], rtol=1e-14)
    assert not gram.sub(rows, rows[::-1]).features(at_most=np.inf).symmetric
