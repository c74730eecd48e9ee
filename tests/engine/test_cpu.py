"""The fused engine against its plain twin."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer as mc
from mercer.compute import Compute
from mercer.engine import cpu, tiles
from mercer.engine.mirror import mirror
from mercer.formula import exp, sqrt
from mercer.kernels.base import kernel
from mercer.kernels.families import Inner, Radial
from mercer.kernels.parameters import positive
from tests.cases import CASES, Case, one_of_each, real

FUSED = [
    *one_of_each(Radial, Inner),
    mc.Periodic(1.7, 0.8),
    mc.Matern([0.5, 1.0, 2.0, 3.0], 2.5),
    mc.Gaussian([0.1, 0.2, 0.3, 0.4]),
    (mc.Linear() + mc.Gaussian(0.3)).normalized(),
    2 * mc.Gaussian(0.3) * mc.Polynomial(2) + mc.exp(0.1 * mc.Linear()),
    mc.Gaussian(0.3) * mc.Matern(1.3, 1.5) * mc.RationalQuadratic(0.8, 1.7),
    mc.Gaussian(0.3).centered().bind(real()),
]


@pytest.fixture
def fused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_WORTH_COMPILING", 0)


def _plain(function: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "_WORTH_COMPILING", 2**62)
        return function()


def _gram(k: mc.Kernel, *data: Any) -> Any:
    """The Gram in tiles even where features would be narrower."""
    from mercer.gram import KernelGram

    bound, A, B = k._enter(*data) if len(data) == 2 else k._enter(data[0], None)
    return KernelGram.of(bound, A, B, Compute())


@pytest.mark.thorough
@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", FUSED, ids=str)
def test_fused_is_plain(kernel: mc.Kernel, dtype: str) -> None:
    X, Y = real(150).astype(dtype), real(77).astype(dtype)
    gram = _gram(kernel, X, Y)
    assert gram._tiles._fused is not None, "this formula should be fused"
    tolerance = 1e-13 if dtype == "float64" else 2e-6
    for data in ((X, Y), (X,)):
        reference = _plain(lambda data=data: _gram(kernel, *data).dense()).astype(float)
        scale = np.abs(reference).max()
        gram = _gram(kernel, *data)
        np.testing.assert_allclose(gram.dense(), reference, rtol=0, atol=tolerance * scale)
        for rows in ([5, 3], [7, 7, 0, 149, 2], slice(3, 60), []):
            np.testing.assert_allclose(gram.rows(rows), reference[rows], rtol=0, atol=tolerance * scale)
        some = [5, 3, 9], np.arange(70)[::-3]
        np.testing.assert_allclose(gram.sub(*some).dense(), reference[np.ix_(*some)], rtol=0, atol=tolerance * scale)
        np.testing.assert_allclose(gram.T.dense(), reference.T, rtol=0, atol=tolerance * scale)
        V = np.ones((data[-1].shape[0], 2), dtype)
        np.testing.assert_allclose(gram @ V / len(V), reference @ V / len(V), rtol=0, atol=tolerance * scale)


@pytest.mark.thorough
@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", FUSED, ids=str)
def test_products_in_registers(kernel: mc.Kernel, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """K v with the tile never stored: row sums, row and column sums of a symmetric matrix, and both of parts of it."""
    monkeypatch.setattr(tiles, "_EDGE", {"float32": 64, "float64": 64})
    monkeypatch.setattr(tiles, "_SUMMED_WIDTH", 128)
    X, Y = real(301).astype(dtype), real(77).astype(dtype)
    v = np.random.default_rng(0).standard_normal(301).astype(dtype)
    tolerance = 1e-13 if dtype == "float64" else 2e-6
    for data in ((Y, X), (X,)):
        reference = _plain(lambda data=data: _gram(kernel, *data).dense()).astype(float)
        scale = np.abs(reference).max() * np.abs(v).sum()
        gram = _gram(kernel, *data)
        np.testing.assert_allclose(gram @ v, reference @ v, rtol=0, atol=tolerance * scale)
        some, chosen = np.arange(0, 77, 2)[::-1], np.arange(3, 301, 5)
        for rows, cols in ((slice(None), chosen), (some, slice(None)), (some, chosen), (slice(4, 71), slice(9, 230))):
            expected = reference[rows][:, cols] @ v[cols]
            np.testing.assert_allclose(gram.sub(rows, cols) @ v[cols], expected, rtol=0, atol=tolerance * scale)
        np.testing.assert_array_equal(gram @ v, _gram(kernel, *data) @ v, err_msg="the same bits each time")


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_case_with_the_engine_on(case: Case, dtype: str) -> None:
    """Fused where it can be, plain where not: the same values."""
    X = case.data().astype(dtype)
    for data in ((X, X[:9]), (X,)):
        expected = _plain(lambda data=data: case.kernel(*data)).astype(float)
        scale = max(float(np.abs(expected).max()), 1e-300)
        np.testing.assert_allclose(
            case.kernel(*data), expected, rtol=0, atol=(1e-13 if dtype == "float64" else 2e-6) * scale
        )


SHAPES = st.sampled_from([0, 1, 3, 4, 5, 31, 63, 64, 65, 130])


@pytest.mark.thorough
@given(
    n=SHAPES, m=SHAPES, d=st.sampled_from([1, 2, 7, 64, 128, 129, 200]), dtype=st.sampled_from(["float32", "float64"])
)
def test_any_shape(n: int, m: int, d: int, dtype: str) -> None:
    X, Y = real(130, d)[:n].astype(dtype), real(131, d)[:m].astype(dtype)
    kernel = mc.Gaussian(1 / d)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu, "_WORTH_COMPILING", 0)
        patch.setattr(tiles, "_EDGE", {"float32": 64, "float64": 64})
        wide, square = kernel(X, Y), kernel(X)
    tolerance = 1e-13 if dtype == "float64" else 3e-6
    np.testing.assert_allclose(wide, _plain(lambda: kernel(X.astype(float), Y.astype(float))), rtol=0, atol=tolerance)
    np.testing.assert_allclose(square, _plain(lambda: kernel(X.astype(float))), rtol=0, atol=tolerance)
    np.testing.assert_array_equal(square, square.T)


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("scales", [1.0, [0.5, 1.0, 3.0]])
def test_nearly_equal_points(scales: Any) -> None:
    rng = np.random.default_rng(0)
    X = 1e6 + 1e6 * rng.standard_normal((40, 3))
    Y = X + 1e-6 * rng.standard_normal((40, 3))

    @kernel
    class Distance(Radial):
        """d² itself."""

        scale: Any = 1.0
        psd: ClassVar[Any] = None

        def _metric(self) -> Any:
            return self.scale

        def _profile(self, d2: Any) -> Any:
            return 1.0 * d2 + 0.0 * d2

    gram = _gram(Distance(scales), X, Y)
    assert gram._tiles._fused is not None
    exact = (((X.astype(np.longdouble) - Y) / np.asarray(scales, np.longdouble)) ** 2).sum(1)
    np.testing.assert_allclose(np.diagonal(gram.dense()), exact.astype(float), rtol=1e-6)


@kernel
class Mine(Radial):
    """A user's formula: exp(−√(1 + γ d²))."""

    gamma: float = positive(1.0)

    def _profile(self, d2: Any) -> Any:
        return exp(-sqrt(1.0 + self.gamma * d2))


@pytest.mark.usefixtures("fused")
def test_a_users_formula_is_fused_and_new_parameters_compile_nothing() -> None:
    X = real(100)
    np.testing.assert_allclose(Mine(0.5)(X), _plain(lambda: Mine(0.5)(X)), rtol=1e-13)
    before = cpu._compiled.cache_info().misses
    for gamma in (0.1, 2.0, 30.0):
        np.testing.assert_allclose(Mine(gamma)(X), _plain(lambda g=gamma: Mine(g)(X)), rtol=1e-13)
    assert cpu._compiled.cache_info().misses == before


@pytest.mark.usefixtures("fused")
def test_same_bits_for_any_number_of_threads() -> None:
    X, v = real(900, 20), real(900)[:, 0]
    for dtype in (np.float32, np.float64):
        results = [
            (g.dense(), g @ v)
            for t in (1, 2, 5)
            for g in [mc.Gaussian(0.1).gram(X.astype(dtype), compute=Compute(threads=t))]
        ]
        for other in results[1:]:
            for a, b in zip(results[0], other, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.usefixtures("fused")
def test_what_is_not_finite_is_still_reported() -> None:
    X = real(300)
    X[7] = 1e200
    with pytest.raises(
        FloatingPointError, match=r"Polynomial\(degree=3, offset=-0.1\) gives (inf|nan|-inf) for the pair"
    ):
        mc.Polynomial(3, -0.1)(X)
    with pytest.raises(FloatingPointError, match="features of row 7 of X are not finite"):
        mc.Polynomial(3)(X)
    X = real(1500, 3)
    X[[40, 1200], 0] = 1e200  # in different tiles
    with pytest.raises(FloatingPointError, match=r"gives (inf|nan|-inf) for the pair"):
        mc.Polynomial(3, -0.1)(X)


def test_what_is_left_to_the_plain_engine() -> None:
    X = real(200)
    for k in (
        mc.ArcCosine(1),
        mc.Matern(1.0, 0.8),
        mc.Laplacian(0.3),
        mc.Anova(2),
        mc.Gaussian(0.3) * mc.Gaussian(0.5).on([0, 1]),
    ):
        assert getattr(k.gram(X), "_tiles")._fused is None  # noqa: B009
    assert mc.Gaussian(0.01).gram(real(1100, 200))._tiles.wide  # type: ignore[attr-defined]  # its inner products are BLAS
    assert mc.Gaussian(0.01).gram(real(1100, 20))._tiles._fused is not None  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 3, 64, 65, 130, 600])
def test_compiled_however_small(n: int, dtype: str) -> None:
    """The same values, exactly symmetric, into memory of any row length, the same for any number of threads."""
    X = real(n).astype(dtype)
    plain = mc.Gaussian(0.3).gram(X)
    small = plain.compiled()  # type: ignore[attr-defined]
    assert small._tiles._fused is not None
    assert small.astype(np.float32)._tiles.fits
    assert small.sub([0], [n - 1])._tiles.fits
    out = np.full((n, n + 7), 5, dtype)
    K = small.dense(out=out[:, :n])
    np.testing.assert_allclose(K, plain.dense(), atol=1e-13 if dtype == "float64" else 2e-6)
    np.testing.assert_array_equal(K, K.T)
    assert (out[:, n:] == 5).all()
    np.testing.assert_array_equal(K, mc.Gaussian(0.3).gram(X, compute=mc.Compute(threads=1)).compiled().dense())  # type: ignore[attr-defined]
    np.testing.assert_allclose(small @ np.ones(n), plain @ np.ones(n), rtol=1e-12 if dtype == "float64" else 1e-5)


def test_an_infinite_value_is_named_at_any_size() -> None:
    X = np.ones((70, 2))
    X[3] = 1e3
    with pytest.raises(FloatingPointError, match=r"pair \(0, 3\)"):
        mc.exp(mc.Linear()).gram(X).compiled().dense()  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(16, 16), (17, 5), (40, 64), (33, 70)])
def test_mirror(shape: tuple[int, int], dtype: Any) -> None:
    r, c = shape
    for n in (128, 150):
        tile = np.random.default_rng(0).standard_normal((r, c + 6)).astype(dtype)[:, :c]
        out = np.zeros((n, n), dtype)
        assert mirror(tile, out, 0, n - c - 1)
        np.testing.assert_array_equal(out[:r, n - c - 1 : n - 1], tile)
        np.testing.assert_array_equal(out, out.T)
        assert np.count_nonzero(out) == 2 * tile.size
        for bad in (np.nan, np.inf, -np.inf):
            spoiled = tile.copy()
            spoiled[r - 1, c - 1] = bad
            assert not mirror(spoiled, out, 0, n - c - 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("r", "c"), [(16, 16), (5, 5), (40, 40), (32, 64), (32, 75), (48, 48)])
@pytest.mark.parametrize("start", [0, 16, 21])
def test_mirror_from_the_diagonal_on(r: int, c: int, start: int, dtype: Any) -> None:
    """Of the columns that meet the diagonal the upper triangle is taken; what stands below it is not looked at."""
    tile = np.random.default_rng(0).standard_normal((r, c)).astype(dtype)
    tile[np.tril_indices(r, -1)] = np.nan
    for n in (128, 150):
        out = np.zeros((n, n), dtype)
        assert mirror(tile, out, start, start)
        expected = np.zeros((n, n), dtype)
        upper = np.where(np.arange(c) >= np.arange(r)[:, None], tile, 0)
        expected[start : start + r, start : start + c] = upper
        expected = np.where(expected != 0, expected, expected.T)
        np.testing.assert_array_equal(out, expected)
        for a, b in ((0, 0), (r - 1, c - 1), (0, c - 1), (r - 1, r - 1)):
            spoiled = tile.copy()
            spoiled[a, b] = np.inf
            assert not mirror(spoiled, out, start, start)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", FUSED, ids=str)
def test_large_matrices_with_the_engine_on_and_off(kernel: mc.Kernel, dtype: str) -> None:
    """Several tiles in each direction, every sink; the plain engine is the reference."""
    X, Y = real(3001).astype(dtype), real(1777).astype(dtype)
    v, w = np.ones((3001, 2)), np.ones((1777, 2))
    results = []
    for limit in (0, 2**62):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cpu, "_WORTH_COMPILING", limit)
            square, wide = _gram(kernel, X), _gram(kernel, X, Y)
            assert (wide._tiles._fused is not None) == (limit == 0)
            results.append(
                [
                    square.dense(),
                    wide.dense(),
                    square @ v / 3001,
                    wide @ w / 1777,
                    wide.normal(w) / 3001 / 1777,
                    square.rows([5, 2999]),
                ]
            )
    scale = np.abs(results[1][1]).max()
    for power, (fused, plain) in zip((1, 1, 1, 1, 2, 1), zip(*results, strict=True), strict=True):
        np.testing.assert_allclose(fused, plain, rtol=0, atol=(1e-12 if dtype == "float64" else 1e-5) * scale**power)


@pytest.mark.parametrize("n", [100, 1100])
def test_any_memory_can_be_written_to(n: int) -> None:
    """Of another precision, from the last row to the first, column by column: the values are the same."""
    X = real(n)
    gram = mc.Gaussian(0.3).gram(X).compiled()  # type: ignore[attr-defined]
    K = gram.dense()
    for out in (
        np.empty((n, n), np.float32),
        np.empty((2 * n, n))[::-2],
        np.empty((n, n), order="F"),
        np.empty((n, 2 * n))[:, ::2],
    ):
        gram.dense(out=out)
        np.testing.assert_allclose(out, K, atol=1e-7)
