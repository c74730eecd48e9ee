"""Shapley values of columns: against the sum over all 2^d subsets."""

from __future__ import annotations

from itertools import chain, combinations
from math import factorial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer as mc
from mercer.explanations import shapley as shapley_module
from mercer.kernels.columns import column_terms
from tests.cases import CASES, Case

RNG = np.random.default_rng(3)


def shapley(f: Any, x: Any, Z: Any) -> Any:
    """From the definition, over all subsets."""
    d = len(x)

    def worth(subset: tuple[int, ...]) -> Any:
        rows = np.array(Z, np.float64)
        rows[:, list(subset)] = x[list(subset)]
        return np.asarray(f(rows)).mean(axis=0)

    subsets = chain.from_iterable(combinations(range(d), r) for r in range(d + 1))
    v = {s: worth(s) for s in subsets}
    phi = []
    for j in range(d):
        others = (s for s in v if j not in s)
        phi.append(
            sum(
                factorial(len(s)) * factorial(d - len(s) - 1) / factorial(d) * (v[tuple(sorted((*s, j)))] - v[s])
                for s in others
            )
        )
    return np.array(phi)


def machine(kernel: Any, X: Any, outputs: int = 0) -> mc.RKHSFunction:
    rng = np.random.default_rng(0)
    coef = rng.standard_normal((len(X), outputs) if outputs else len(X))
    return mc.RKHSFunction(kernel, X, coef, rng.standard_normal(outputs) if outputs else 0.7)


def test_a_model_over_descriptors_is_explained_by_descriptor() -> None:
    pytest.importorskip("rdkit")
    from mercer.data.descriptors import described

    X, y, names = ["CCO", "CCCO", "c1ccccc1", "CC(=O)O", "CCN"], [1.0, 2.0, 3.0, 4.0, 5.0], ["MolWt", "TPSA"]
    model = mc.KernelRidge(kernel=mc.Descriptors(mc.Gaussian(0.3), names)).fit(X, y)
    rows = described(X, names)
    plain = mc.KernelRidge(kernel=mc.Gaussian(0.3).standardized()).fit(rows, y)
    for by in ("column", "gradient"):
        for e, expected in zip(mc.explain(model, X[:2], by), mc.explain(plain, rows[:2], by), strict=True):
            assert e.names == names
            np.testing.assert_allclose(e.values, expected.values, rtol=1e-8, atol=1e-12)
    [e] = mc.explain(model, X[:1], "column", background=X[1:])
    [expected] = mc.explain(plain, rows[:1], "column", background=rows[1:])
    np.testing.assert_allclose(e.values, expected.values, rtol=1e-8, atol=1e-12)


def test_what_is_computed_from_structures_has_no_columns() -> None:
    water = (["O", "H", "H"], [[0.0, 0.0, 0.12], [0.0, 0.76, -0.48], [0.0, -0.76, -0.48]])
    f = machine(mc.Coulomb(mc.Laplacian(0.1), size=3), [water])
    with pytest.raises(TypeError, match=r'no gradient by them\. Ask explain by="sample"'):
        mc.explain(f, [water], "gradient")
    with pytest.raises(TypeError, match='samples are none; ask by="sample"'):
        mc.explain(f, [water], "column")


# by the beginning of their text: those that are known to be sums of products over columns, but for those below
EXACT_FORMS = (
    "AdditiveChiSquared", "AllSubsets", "Anova", "Categorical", "ChiSquared", "Gaussian", "GeometricMin", "Hellinger",
    "HistogramIntersection", "Laplacian", "Linear", "(Linear", "Matern", "Min", "Overlap", "Periodic", "Polynomial",
    "PowerLaplacian", "exp", "polynomial",
)  # fmt: skip
# and those that are not; a kernel that stands in neither list may be either
SAMPLED = (
    "Polynomial(degree=5, offset=-0.5",
    "Polynomial().normalized",
    "TaylorGaussian",
    *(f"Matern(ℓ=1.3{rest}" for rest in (", ν=0.5", ")", ", ν=2.5", ", ν=0.8", ", ν=3.2")),
    "Matern(ℓ=[",
    "PowerExponential",
    "RationalQuadratic",
    "ArcCosine",
    "Sigmoid",
    "Bilinear",
    "geometric",
    "(Linear() + Gaussian(γ=0.3)).normalized",
    "HistogramIntersection().normalized",
    "CenteredAt",
    "Gaussian(γ=0.3).map",
    "Function",
    "Outer",
    "RandomFeatures",
    "DrawnFeatures",
    "Nystrom",
    "AtLandmarks",
    "TensorSketch",
    "Sketched",
    "HomogeneousMap",
    "Projected",
)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_terms_over_columns_are_the_kernel(case: Case) -> None:
    X = case.data()
    k = case.kernel.bind(X)
    checked = k.domain.check(X)
    terms = column_terms(k, checked, checked)
    if str(case).startswith((*EXACT_FORMS, *SAMPLED)):
        assert (terms is None) == str(case).startswith(SAMPLED)
    if terms is None:
        return
    K = k(X)
    found = sum((t.scale * np.prod([np.ones(K.shape), *t.factors.values()], axis=0) for t in terms), np.zeros(K.shape))
    np.testing.assert_allclose(found, K, atol=1e-12 * max(1.0, np.abs(K).max()))


EXACT = [
    mc.Gaussian(0.3),
    mc.Gaussian([0.1, 0.5, 0.2, 0.7, 0.3]),
    mc.Laplacian(0.2).standardized(),
    mc.exp(0.1 * mc.Linear()),
    mc.Linear() + 2.0 * mc.Gaussian(0.1) * mc.Linear().on([1, 3]) + 1.5,
    mc.Gaussian(0.2).on([0, 2]) + mc.Matern(1.0).on(1) + mc.AllSubsets().on([3, 4]),
    mc.Polynomial(2),
    mc.Anova(3),
    mc.Gaussian(0.4).metric([1.0, 0.0, 2.0, 0.5, 1.0]),
]


@pytest.mark.parametrize("kernel", EXACT, ids=str)
@pytest.mark.parametrize("outputs", [0, 2])
def test_exact_values_are_the_sum_over_all_subsets(kernel: mc.Kernel, outputs: int) -> None:
    X = RNG.standard_normal((25, 5))
    f, new, Z = machine(kernel, X, outputs), RNG.standard_normal((3, 5)), X[:6]
    for x, e in zip(new, mc.explain(f, new, "column", background=Z), strict=True):
        assert e.errors is None
        np.testing.assert_allclose(e.values, shapley(f, x, Z), atol=1e-8)
        np.testing.assert_allclose(e.total, f(x[None])[0], atol=1e-8)


@pytest.mark.thorough
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X = RNG.standard_normal((25, 4))
    f = machine(mc.Gaussian(0.3) + mc.Polynomial(3), X, 2)
    whole = [e.values for e in mc.explain(f, X[:7], "column")]
    monkeypatch.setattr(shapley_module, "_ROWS", 3)
    monkeypatch.setattr(shapley_module, "_MEMORY", 1)
    np.testing.assert_allclose([e.values for e in mc.explain(f, X[:7], "column")], whole, atol=1e-11)


@pytest.mark.thorough
def test_of_ten_columns() -> None:
    X = RNG.standard_normal((12, 10))
    f = machine(mc.Gaussian(0.05) * mc.AllSubsets(), X)
    [e] = mc.explain(f, X[:1] + 0.1, "column", background=X[3:6])
    np.testing.assert_allclose(e.values, shapley(f, X[0] + 0.1, X[3:6]), atol=1e-8)


def test_columns_that_are_not_looked_at_have_no_value() -> None:
    X = RNG.standard_normal((20, 4))
    [e] = mc.explain(machine(mc.Gaussian(0.3).on([1, 2]), X), X[:1], "column")
    assert e.values[0] == e.values[3] == 0.0
    assert np.abs(e.values[1:3]).min() > 0


@pytest.mark.parametrize(
    "kernel", [mc.Matern(1.0), mc.Gaussian(0.2).normalized() + mc.Matern(2.0), mc.Sigmoid(0.0, 0.1)], ids=str
)
def test_sampled_values_are_near_the_sum_over_all_subsets(kernel: mc.Kernel) -> None:
    X = RNG.standard_normal((25, 5))
    f, new, Z = machine(kernel, X, 2), RNG.standard_normal((4, 5)), X[:6]
    for x, e in zip(new, mc.explain(f, new, "column", background=Z, random_state=0), strict=True):
        assert e.errors is not None
        assert (np.abs(e.values - shapley(f, x, Z)) <= 4 * e.errors + 1e-12).all()
        assert e.errors.max() < 0.2 * np.abs(e.values).max()
        np.testing.assert_allclose(e.total, f(x[None])[0], atol=1e-8)


def test_standard_errors_are_the_spread_over_seeds() -> None:
    X = RNG.standard_normal((20, 4))
    f = machine(mc.Matern(1.0), X)
    runs = [mc.explain(f, X[:1], "column", background=X[:3], n_permutations=20, random_state=s)[0] for s in range(60)]
    spread = np.std([e.values for e in runs], axis=0)
    stated = np.sqrt(np.mean([np.square(e.errors) for e in runs], axis=0))
    np.testing.assert_allclose(stated, spread, rtol=0.35)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_kernel_of_rows_adds_up(case: Case) -> None:
    X = case.data()
    f = machine(case.kernel, X)
    few = X[:2]
    for by in ("sample", "term"):
        for e, answer in zip(mc.explain(f, few, by), f(few), strict=True):
            np.testing.assert_allclose(e.total, answer, rtol=1e-8, atol=1e-8)
    for e, answer in zip(
        mc.explain(f, few, "column", background=X[:3], n_permutations=4, random_state=0), f(few), strict=True
    ):
        np.testing.assert_allclose(e.total, answer, rtol=1e-8, atol=1e-8)


def test_any_function_of_rows_is_explained() -> None:
    """A linear function has the values w_j (x_j − mean of z_j), whatever the orders."""
    w, X = np.array([1.0, -2.0, 0.5]), RNG.standard_normal((6, 3))
    for e, x in zip(mc.explain(lambda rows: rows @ w, X, background=X), X, strict=True):
        np.testing.assert_allclose(e.values, w * (x - X.mean(axis=0)), atol=1e-12)
        np.testing.assert_allclose(e.errors, 0.0, atol=1e-12)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_tables_of_several_kinds_of_columns(frame: Any) -> None:
    rows = frame(
        {"size": RNG.standard_normal(30), "colour": ["red", "blue", "green"] * 10, "dna": ["ACGT", "AAC"] * 15}
    )
    exact = mc.Gaussian(0.5).on("size") * mc.Categorical().on("colour") + mc.Spectrum(2).on("dna")
    for kernel in (exact, exact.normalized()):
        model = mc.KernelRidge(kernel=kernel).fit(rows, RNG.standard_normal(30))
        found = mc.explain(model, rows[:3], "column", random_state=0, n_permutations=8)
        assert found[0].names == ["size", "colour", "dna"]
        assert (found[0].errors is None) == (kernel is exact)
        np.testing.assert_allclose([e.total for e in found], model.predict(rows[:3]), atol=1e-8)


def test_irrelevant_columns_come_last() -> None:
    X = RNG.standard_normal((150, 6))
    y = np.where(X[:, 0] * X[:, 3] + X[:, 3] > 0, 1, -1)
    model = mc.SVC(10.0, kernel=mc.Gaussian(0.1)).fit(X, y)
    size = np.mean([np.abs(e.values) for e in mc.explain(model, X[:40])], axis=0)
    assert set(np.argsort(-size)[:2]) == {0, 3}


def test_bad_questions_are_answered() -> None:
    X = RNG.standard_normal((9, 2))
    f = machine(mc.Gaussian(0.3), X)
    with pytest.raises(ValueError, match="by='colum'"):
        mc.explain(f, X, "colum")
    with pytest.raises(mc.DataError, match="3 columns, the samples have 2"):
        mc.explain(f, X, "column", background=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="background="):
        mc.explain(lambda rows: rows.sum(axis=1), X)
    with pytest.raises(TypeError, match='by="column" can'):
        mc.explain(lambda rows: rows.sum(axis=1), X, "sample", background=X)
    with pytest.raises(TypeError, match="rows of tables"):
        mc.explain(machine(mc.Spectrum(2), ["ACGT", "CCGT"]), ["ACG"], "column")
    with pytest.raises(ValueError, match="n_permutations=0"):
        mc.explain(f, X, "column", n_permutations=0)
