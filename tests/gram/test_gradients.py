"""∇f of functions in the space of a kernel, against differences of f itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import mercer as mc
from mercer.gram import NoGradient
from tests.cases import EVERY

RNG = np.random.default_rng(0)
X, T, COEF = RNG.uniform(0.1, 0.9, (30, 4)), RNG.uniform(0.1, 0.9, (7, 4)), RNG.standard_normal((30, 2))
M = RNG.standard_normal((4, 2)) @ RNG.standard_normal((2, 4))
M = M @ M.T
OF_VECTORS = [
    mc.Gaussian(0.7),
    mc.Gaussian([0.5, 1.0, 2.0, 3.0]),
    mc.Laplacian(0.7),
    mc.Matern(1.0, 0.5),
    mc.Matern([1.0, 2.0, 1.0, 0.5], 2.5),
    mc.Matern(1.0, 1.7),
    mc.RationalQuadratic(1.0, 2.0),
    mc.PowerExponential(1.0, 1.4),
    mc.PowerLaplacian(0.7, 1.5),
    mc.PowerLaplacian(0.7, 0.8),
    mc.Periodic(2.0),
    mc.Periodic([2.0, 3.0, 1.0, 1.5], 0.7),
    mc.Linear(),
    mc.Polynomial(3, 1.0),
    mc.TaylorGaussian(0.5, 3),
    mc.Sigmoid(),
    mc.ArcCosine(0),
    mc.ArcCosine(1),
    mc.ArcCosine(2),
    mc.Bilinear(M),
    mc.Min().on([0]),
    mc.GeometricMin().on([1]),
    mc.HistogramIntersection(),
    mc.ChiSquared(),
    mc.AdditiveChiSquared(),
    mc.Hellinger(),
    mc.RandomFeatures(mc.Gaussian(0.7), 31, random_state=0),
    mc.RandomFeatures(mc.ArcCosine(1), 30, random_state=0),
    mc.RandomFeatures(mc.ArcCosine(2), 30, random_state=0),
    mc.HomogeneousMap(mc.AdditiveChiSquared(), 2),
]
COMPOSED = [
    mc.Gaussian(0.7) + 2 * mc.Linear(),
    mc.Gaussian(0.7) * mc.Polynomial(2),
    mc.Gaussian(0.7) * mc.Laplacian(0.3) + mc.Linear(),
    mc.Polynomial(2, 1.0).normalized(),
    mc.Laplacian(0.5).centered(),
    mc.Polynomial(2).centered().normalized(),
    mc.Gaussian(0.5).standardized(),
    mc.Gaussian(0.5).on([0, 2]) + mc.Linear().on([1]),
    mc.exp(mc.Linear()),
    mc.exp(mc.Linear()).normalized(),
    mc.Gaussian(0.3) ** 2,
    mc.Constant(2.0) + mc.Gaussian(1.0),
    mc.Gaussian(1.0).imputed(),
    mc.Gaussian(0.7).metric(M),
    mc.PowerExponential(1.0, 1.4).metric(M).standardized(),
    mc.PowerLaplacian(0.7).metric([1.0, 0.0, 2.0, 3.0]),
    mc.Laplacian(0.7).metric(M),
    mc.geometric(0.2 * mc.Linear()),
    mc.polynomial(mc.Linear(), [1.0, 0.5, 2.0]),
]


def differences(f: Any, T: Any, h: float = 1e-6) -> Any:
    return np.stack([(f(T + h * e) - f(T - h * e)) / (2 * h) for e in np.eye(T.shape[1])], -1)


@pytest.mark.parametrize("kernel", [*OF_VECTORS, *COMPOSED], ids=str)
def test_gradients_are_the_limits_of_differences(kernel: mc.Kernel) -> None:
    f = mc.RKHSFunction(kernel, X, COEF)
    expected = differences(f, T)
    np.testing.assert_allclose(f.gradient(T), expected, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(expected).max()))
    assert f.gradient(T[:0]).shape == (0, 2, 4)
    one = mc.RKHSFunction(kernel, X, COEF[:, 0], 3.0)
    np.testing.assert_allclose(one.gradient(T), f.gradient(T)[:, 0], atol=1e-12)


def test_every_family_of_vectors_is_here() -> None:
    """A kernel of distances, inner products or sums over columns that is added is to be tried above."""
    tried = {type(part).__name__ for k in OF_VECTORS for part in k._parts()}
    families = {
        name
        for case in EVERY
        for part in case.kernel._parts()
        if isinstance(part.domain, mc.data.Vectors) and (name := type(part).__name__) in dir(mc)
    }
    # programmes over the columns, sketches, and what looks at vectors in another way
    programmes = {
        "AllSubsets",
        "Anova",
        "Fisher",
        "Tanimoto",
        "MinMax",
        "Precomputed",
        "Function",
        "Outer",
        "GlobalAlignment",
        "TensorSketch",
        "Nystrom",
        "Overlap",  # of codes, which have no neighbours
    }
    assert families - programmes <= tried


@pytest.mark.parametrize(
    "kernel", [mc.Gaussian(0.7), mc.Laplacian(0.7), mc.Matern(1.0, 0.5), mc.PowerLaplacian(0.7, 0.8)], ids=str
)
def test_at_a_centre_the_kink_counts_as_nothing(kernel: mc.Kernel) -> None:
    f = mc.RKHSFunction(kernel, X, COEF[:, 0])
    for i in (0, 7):
        others = np.arange(30) != i
        rest = mc.RKHSFunction(kernel, X[others], COEF[others, 0])
        np.testing.assert_allclose(f.gradient(X[[i]]), rest.gradient(X[[i]]), atol=1e-10)


@pytest.mark.parametrize("kernel", [mc.Gaussian(0.7), mc.PowerLaplacian(0.7, 1.5), mc.Polynomial(2)], ids=str)
def test_compiled_as_written_out_and_in_float32(kernel: mc.Kernel) -> None:
    many, at, coef = RNG.random((1500, 4)), RNG.random((1200, 4)), RNG.standard_normal(1500)
    f = mc.RKHSFunction(kernel, many, coef)
    found = f.gradient(at)
    few = np.vstack([f.gradient(at[i : i + 5]) for i in range(0, 40, 5)])
    np.testing.assert_allclose(found[:40], few, rtol=1e-9, atol=1e-9 * np.abs(few).max())
    low = mc.RKHSFunction(kernel, many.astype(np.float32), coef).gradient(at.astype(np.float32))
    np.testing.assert_allclose(low, found, atol=2e-4 * np.abs(found).max())
    threads = [f.gradient(at, mc.Compute(threads=t)) for t in (1, 3)]
    np.testing.assert_array_equal(*threads)


def test_sparse_tables_frames_and_missing_values() -> None:
    f = mc.RKHSFunction(mc.Gaussian(0.7), sparse.csr_array(X), COEF)
    np.testing.assert_allclose(f.gradient(sparse.csr_array(T)), mc.RKHSFunction(mc.Gaussian(0.7), X, COEF).gradient(T))
    frame, at = (pd.DataFrame(table, columns=list("abcd")) for table in (X, T))
    k = mc.Gaussian(0.5).on(["c", "a"]) + mc.Linear().on(["b"])
    plain = mc.Gaussian(0.5).on([2, 0]) + mc.Linear().on([1])
    np.testing.assert_allclose(
        mc.RKHSFunction(k, frame, COEF).gradient(at[list("dcba")]), mc.RKHSFunction(plain, X, COEF).gradient(T)
    )
    gaps = np.where(np.arange(28).reshape(7, 4) % 5 == 0, np.nan, T)
    g = mc.RKHSFunction(mc.Gaussian(0.5).imputed(indicator=True), X, COEF[:, 0])
    assert (g.gradient(gaps)[np.isnan(gaps)] == 0).all()
    assert (g.gradient(gaps)[~np.isnan(gaps)] != 0).all()


@pytest.mark.parametrize(
    ("kernel", "items", "why"),
    [
        (mc.AllSubsets(), X, "programme over the columns"),
        (mc.Gaussian(0.5).map(np.square), X, "derivative of map is not known"),
        (mc.Spectrum(2), ["ACA", "CAC"], "no row of numbers|no gradient"),
        (mc.Linear().rooted(), X, "does not define one"),
        (mc.Function(lambda A, B: A @ B.T), X, "not by a recorded formula"),
    ],
)
def test_what_has_no_gradient_says_why(kernel: mc.Kernel, items: Any, why: str) -> None:
    f = mc.RKHSFunction(kernel, items, np.ones(len(items)))
    with pytest.raises(NoGradient, match=why):
        f.gradient(items)
