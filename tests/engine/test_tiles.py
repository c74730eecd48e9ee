from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mercer as mc
from mercer.compute import Compute
from mercer.engine import tiles
from mercer.engine.joins import SparseDot
from mercer.engine.reductions import SqDistBlock
from tests.cases import CASES, Case, histograms, real

EDGES = st.sampled_from([0, 1, 2, 7, 16, 17, 33, 50])
KERNELS = [
    mc.Gaussian(0.3),
    mc.Laplacian(0.3),
    mc.Polynomial(3).normalized(),
    mc.Anova(2) + mc.Linear(),
    mc.Gaussian(0.3) * mc.Constant(2.0),
]


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of 16, so that small matrices have many, and ragged ones."""
    monkeypatch.setattr(tiles, "_EDGE", {"float32": 16, "float64": 16})


@pytest.mark.thorough
@given(n=EDGES, m=EDGES, kernel=st.sampled_from(KERNELS))
def test_any_shape(n: int, m: int, kernel: mc.Kernel) -> None:
    """A matrix in tiles of 16 is the matrix in one tile, for every sink."""
    X, Y = real(50)[:n], real(51)[:m]
    V = np.random.default_rng(0).standard_normal((m, 2))
    whole, product = kernel(X, Y), kernel.gram(X, Y) @ V
    square, self_product = kernel(Y), kernel.gram(Y) @ V
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "_EDGE", {"float32": 16, "float64": 16})
        np.testing.assert_allclose(kernel(X, Y), whole, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(kernel(Y), square, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(kernel.gram(X, Y) @ V, product, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(kernel.gram(Y) @ V, self_product, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(kernel.gram(X, Y).normal(V), whole.T @ (whole @ V), rtol=1e-9, atol=1e-9)


@pytest.mark.thorough
@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_same_bits_for_any_number_of_threads(kernel: mc.Kernel, dtype: Any) -> None:
    X, Y = real(150).astype(dtype), real(90).astype(dtype)
    v, w = real(150)[:, 0], real(90)[:, 0]
    results = []
    for threads in (1, 2, 3, 8):
        square, wide = (
            kernel.gram(X, compute=Compute(threads=threads)),
            kernel.gram(X, Y, compute=Compute(threads=threads)),
        )
        results.append((square.dense(), square @ v, wide.dense(), wide @ w, wide.normal(w), square.rows([3, 100])))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def _exact_sqdist(a: Any, b: Any) -> Fraction:
    return sum(((Fraction(float(x)) - Fraction(float(y))) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))


@pytest.mark.parametrize("scales", [None, [0.5, 1.0, 3.0]])
def test_nearly_equal_points_far_from_the_origin(scales: Any) -> None:
    """Points 1e-6 apart in a cloud at offset and spread 1e6: relative error of the distance < 1e-6 against the stored
    floats.
    """
    rng = np.random.default_rng(0)
    X = 1e6 + 1e6 * rng.standard_normal((40, 3))
    Y = X + 1e-6 * rng.standard_normal((40, 3))
    kernel = mc.RationalQuadratic(1.0 if scales is None else scales, 1.0)  # 1/(1 + d²/2ℓ²): d² is read off
    inverse = [Fraction(1)] * 3 if scales is None else [Fraction(1) / Fraction(s) for s in scales]
    for K in (
        kernel(X, Y),
        kernel.gram(X, Y).rows(np.arange(40)),
        kernel.gram(np.vstack([X, Y])).sub(np.arange(40), np.arange(40, 80)).dense(),
    ):
        for i in range(40):
            a, b = (np.array([Fraction(float(v)) * s for v, s in zip(p[i], inverse, strict=True)]) for p in (X, Y))
            exact = sum((p - q) ** 2 for p, q in zip(a, b, strict=True))
            # 1 − k = d²/2/(1 + d²/2) of size 1e-12: rounding of k itself allows 1e-4 of it, so look at the engine's
            # distance
            assert K[i, i] == pytest.approx(float(1 / (1 + exact / 2)), rel=1e-15)
    block = SqDistBlock(X, Y, None if scales is None else _scale(scales), None, np.dtype(float), None, 10**9)
    block.prepare()
    out = block.fill(slice(0, 40), slice(0, 40), np.empty((40, 40)))
    for i in range(40):
        exact = sum(
            (Fraction(float(p)) - Fraction(float(q))) ** 2 * s * s for p, q, s in zip(X[i], Y[i], inverse, strict=True)
        )
        assert abs(Fraction(float(out[i, i])) / exact - 1) < Fraction(1, 10**6)
    far = _exact_sqdist(X[0], Y[1])
    if scales is None:
        assert float(out[0, 1]) == pytest.approx(float(far), rel=1e-10)


def _scale(values: list[float]) -> Any:
    from mercer.engine.expression import VectorParameter

    return VectorParameter(None, tuple(values))


def test_distance_of_equal_rows_is_zero_whatever_the_offset() -> None:
    X = np.random.default_rng(0).standard_normal((30, 5)) + 1e8
    assert (np.diagonal(mc.Gaussian(100.0)(X, X.copy())) == 1).all()
    assert (mc.Gaussian(1.0)(X) <= 1).all()


def test_panels_made_on_the_fly_give_the_same_matrix() -> None:
    """When a copy of the data does not fit the budget, centred panels are made tile by tile."""
    X = real(300, 40) + 5
    tight = Compute(memory=2 * 300 * 40 * 8)
    gram = mc.Gaussian(0.01).gram(X, compute=tight)
    assert next(iter(gram._tiles._operands.values())).L is None  # type: ignore[attr-defined]
    np.testing.assert_allclose(gram @ X, mc.Gaussian(0.01)(X) @ X, rtol=1e-12)


# not those bound to, or made of functions of, dense arrays
BOUND = ("CenteredAt", "Outer", ".map(", "Categorical", "Projected")


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.data in (real, histograms) and not any(b in repr(c.kernel) for b in BOUND)], ids=str
)
def test_sparse_is_dense(case: Case) -> None:
    X = case.data()
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        np.testing.assert_allclose(case.kernel(kind(X)), case.kernel(X), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(case.kernel(kind(X), kind(X[:5])), case.kernel(X, X[:5]), rtol=1e-12, atol=1e-12)


def test_wide_sparse_data_is_never_densified() -> None:
    X = sparse.random_array((60, 10**6), density=1e-5, rng=np.random.default_rng(0), format="csr")
    for kernel in (mc.Linear(), mc.Gaussian(0.5), mc.Polynomial(2)):
        K = kernel(X)
        narrow = X[:, np.unique(X.indices)].toarray()
        np.testing.assert_allclose(K, kernel(narrow), rtol=1e-10, atol=1e-12)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_torch_is_numpy(case: Case, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    X = case.data().astype(dtype)
    t = torch.from_numpy(X)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    expected = case.kernel(X)
    scale = np.abs(expected).max()
    K = case.kernel(t)
    # these look at no numbers
    assert isinstance(K, torch.Tensor) or isinstance(case.kernel, mc.Constant | mc.Categorical)
    np.testing.assert_allclose(np.asarray(K), expected, rtol=tolerance, atol=tolerance * scale)
    wide = case.kernel.bind(t).gram(t, t[:7])
    np.testing.assert_allclose(np.asarray(wide.dense()), expected[:, :7], rtol=tolerance, atol=tolerance * scale)
    v = np.ones(7, dtype)
    for argument in (v, torch.from_numpy(v)):
        np.testing.assert_allclose(
            np.asarray(wide @ argument), expected[:, :7].astype(float).sum(1), rtol=1e-4, atol=1e-4 * scale
        )
    np.testing.assert_allclose(
        np.asarray(wide.normal(v)), expected[:, :7].T @ expected[:, :7] @ v, rtol=1e-3, atol=1e-4 * scale**2
    )
    np.testing.assert_allclose(np.asarray(case.kernel.diag(t)), np.diagonal(expected), rtol=1e-4, atol=1e-4 * scale)


def test_sparse_tiles_are_the_product() -> None:
    """Entries joined by column: any sparsity, empty rows, both precisions, parts, several tiles."""
    rng = np.random.default_rng(0)
    A = sparse.random_array((900, 5000), density=0.03, rng=rng, format="csr")
    B = sparse.random_array((450, 5000), density=0.03, rng=rng, format="csr")
    A = sparse.csr_array(sparse.diags_array((np.arange(900) % 7 > 0).astype(float)) @ A)  # every seventh row is empty
    for left, right in ((A, A), (A, B)):
        wanted = (left @ right.T).toarray()
        gram = mc.Linear().gram(left, None if right is left else right)
        np.testing.assert_allclose(gram.dense(), wanted, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(gram.astype(np.float32).dense(), wanted, rtol=2e-5, atol=2e-5)
        rows, cols = np.arange(0, 900, 2), np.arange(1, right.shape[0], 3)
        np.testing.assert_allclose(gram.sub(rows, cols).dense(), wanted[np.ix_(rows, cols)], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(gram @ np.ones(right.shape[0]), wanted.sum(1), rtol=1e-10, atol=1e-10)


@pytest.mark.thorough
@pytest.mark.parametrize("room", [0, 3, 10**6])
@pytest.mark.parametrize("whole", [True, False])
def test_frequent_and_rare_columns(room: int, whole: bool) -> None:
    """Dense products of as many columns as there is room for, lists of the others: the same product, for parts too, in
    strips and in squares.
    """
    rng = np.random.default_rng(room)
    shares = np.concatenate([np.full(20, 0.6), np.full(300, 0.05), np.full(2000, 0.002)])

    def rows(n: int) -> Any:
        X = (rng.random((n, len(shares))) < shares) * rng.integers(1, 5, (n, len(shares)))
        return sparse.csr_array(X if whole else X * rng.random(X.shape))

    A, B = rows(700).astype(float), rows(300).astype(float)
    for left, right in ((A, A), (A, B)):
        K = (left @ right.T).toarray()
        join = SparseDot(left, right, np.float64, 64 * room * (len(K) + (0 if right is left else K.shape[1])))
        assert (join.left.frequent is None) == (room == 0)
        assert join.left.frequent is None or join.left.frequent.shape[1] <= max(room, 20)
        for i, j in (
            (slice(0, 700), slice(0, K.shape[1])),
            (slice(64, 200), slice(64, K.shape[1])),
            (slice(5, 90), slice(120, 250)),
        ):
            out = join.fill(i, j, np.full((i.stop - i.start, j.stop - j.start), np.nan))
            np.testing.assert_allclose(out, K[i, j], rtol=1e-12, atol=1e-12)
        chosen, others = rng.permutation(700)[:90], rng.permutation(K.shape[1])[:40]
        view = SimpleNamespace(symmetric=False)
        part = join.sub(chosen, others, view)  # type: ignore[arg-type]
        np.testing.assert_allclose(
            part.fill(slice(0, 90), slice(0, 40), np.empty((90, 40))), K[np.ix_(chosen, others)], rtol=1e-12, atol=1e-12
        )
        again = part.sub(slice(3, 50), np.array([7, 2, 2]), view)  # type: ignore[arg-type]
        wanted = K[np.ix_(chosen[3:50], others[[7, 2, 2]])]
        np.testing.assert_allclose(
            again.fill(slice(0, 47), slice(0, 3), np.empty((47, 3))), wanted, rtol=1e-12, atol=1e-12
        )


@pytest.mark.thorough
def test_more_rows_than_sixteen_bits() -> None:
    A = sparse.random_array((70_000, 5000), density=0.001, rng=np.random.default_rng(0), format="csr")
    B = A[69_990:]
    out = SparseDot(A, B, np.float64, 2**30).fill(slice(0, 70_000), slice(0, 10), np.empty((70_000, 10)))
    np.testing.assert_allclose(out, (A @ B.T).toarray(), atol=1e-12)


def test_sparse_rows_with_repeated_columns() -> None:
    rng = np.random.default_rng(0)
    A = sparse.random_array((400, 20_000), density=0.02, rng=rng, format="csr")
    twice = sparse.csr_array((np.repeat(A.data / 2, 2), np.repeat(A.indices, 2), 2 * A.indptr), shape=A.shape)
    wanted = (A @ A.T).toarray()
    gram = mc.Linear().gram(twice)
    np.testing.assert_allclose(gram.sub(np.arange(5), np.arange(3, 9)).dense(), wanted[:5, 3:9], atol=1e-12)
    np.testing.assert_allclose(gram.dense(), wanted, atol=1e-12)
