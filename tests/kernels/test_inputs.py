from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder

import mercer as mc
from mercer.data import DataError
from tests.cases import doubled, real

X = real(20)
FRAME = pd.DataFrame(
    {
        "age": X[:, 0],
        "dose": X[:, 1],
        "colour": np.random.default_rng(0).choice(["red", "green", "blue"], 20),
        "batch": np.arange(20) % 3,
    }
)


@pytest.mark.thorough
@pytest.mark.parametrize("table", [FRAME, pl.from_pandas(FRAME)], ids=["pandas", "polars"])
def test_tables_of_mixed_columns(table: Any) -> None:
    k = mc.Gaussian(0.5).on(["age", "dose"]) + 2 * mc.Categorical().on("colour") * mc.Categorical().on("batch")
    same_colour = FRAME["colour"].to_numpy()[:, None] == FRAME["colour"].to_numpy()
    same_batch = FRAME["batch"].to_numpy()[:, None] == FRAME["batch"].to_numpy()
    np.testing.assert_allclose(k(table), mc.Gaussian(0.5)(X[:, :2]) + 2.0 * (same_colour & same_batch), atol=1e-13)
    np.testing.assert_allclose(k(table[:5], table), k(table)[:5], atol=1e-13)
    assert mc.parse(str(k)) == k == clone(k)
    assert k.psd is True


def test_numbered_columns_and_extra_ones() -> None:
    k = mc.Gaussian(0.5).on([0, 1])
    np.testing.assert_allclose(k(X), mc.Gaussian(0.5)(X[:, :2]), atol=1e-14)
    np.testing.assert_allclose(k(X, X[:, :3]), k(X), atol=1e-14)  # columns that are not looked at may differ
    np.testing.assert_array_equal(k(FRAME), k(FRAME[["age", "dose"]]))
    mixed = FRAME.to_numpy()
    np.testing.assert_allclose(
        (mc.Gaussian(0.5).on([0, 1]) + mc.Categorical().on(2))(mixed),
        k(X) + mc.Categorical()(FRAME["colour"]),
        atol=1e-14,
    )
    np.testing.assert_array_equal(mc.Min().on(3)(FRAME), np.minimum.outer(np.arange(20) % 3, np.arange(20) % 3))
    with pytest.raises(DataError, match="no column 'weight'"):
        mc.Gaussian().on("weight")(FRAME)


def test_bind_sees_the_columns_only() -> None:
    assert mc.Gaussian().on(["age", "dose"]).bind(FRAME).kernel == mc.Gaussian().bind(X[:, :2])
    both = (mc.Gaussian().on("age") + mc.Linear()).on(["age", "dose"]).bind(FRAME)
    assert both.kernel.terms[0].kernel == mc.Gaussian().bind(X[:, :1])


def test_the_nominal_kernel_is_the_one_hot_linear_kernel() -> None:
    onehot = OneHotEncoder().fit_transform(FRAME[["colour"]])
    np.testing.assert_array_equal(mc.Categorical().on("colour")(FRAME), mc.Linear()(onehot))
    two = OneHotEncoder().fit_transform(FRAME[["colour", "batch"]])
    np.testing.assert_array_equal(
        (mc.Categorical().on("colour") + mc.Categorical().on("batch"))(FRAME), mc.Linear()(two)
    )


@pytest.mark.thorough
def test_categories_are_compared_by_value() -> None:
    values = [1, 1.0, True, "1", None, float("nan"), b"1"]
    group = np.array([0, 0, 0, 1, 2, 2, 3])
    np.testing.assert_array_equal(mc.Categorical()(values), group[:, None] == group)
    np.testing.assert_array_equal(
        mc.Categorical()(FRAME[["colour", "batch"]]), mc.Categorical()(pl.from_pandas(FRAME[["colour", "batch"]]))
    )
    assert mc.Categorical()([float("inf"), float("inf")]).all()
    with pytest.raises(DataError, match="Item 1 is a object without a value"):
        mc.Categorical()(["a", object()])


def test_map() -> None:
    np.testing.assert_allclose(mc.Gaussian(0.5).map(doubled)(X), mc.Gaussian(2.0)(X), atol=1e-14)
    words = ["a", "bbb", "cc"]
    lengths = mc.Linear().map(lambda w: np.array([[float(len(s))] for s in w]))
    np.testing.assert_array_equal(lengths(words), np.outer([1, 3, 2], [1, 3, 2]))
    assert lengths.explicit
    assert mc.Gaussian().map(doubled).bind(X).kernel == mc.Gaussian().bind(2 * X)
    with pytest.raises(DataError, match="20 samples and returned 3"):
        mc.Linear().map(lambda x: x[:3])(X)
    with pytest.raises(TypeError, match="function"):
        mc.Linear().map("f")  # type: ignore[arg-type]


def test_outer() -> None:
    k = mc.Outer(lambda x: x[:, 0] ** 2)
    np.testing.assert_allclose(k(X), np.outer(X[:, 0] ** 2, X[:, 0] ** 2))
    with pytest.raises(DataError, match="one number for each"):
        mc.Outer(lambda x: x)(X)
    with pytest.raises(TypeError, match="function"):
        mc.Outer(3)  # type: ignore[arg-type]


def test_missing_values_are_a_choice() -> None:
    Z = X.copy()
    Z[3, 1] = Z[5, 0] = np.nan
    with pytest.raises(DataError, match=r"Row 3, column 1 is a missing value.*imputed"):
        mc.Gaussian(0.5)(Z)
    filled = np.where(np.isnan(Z), np.nanmean(Z, axis=0), Z)
    np.testing.assert_allclose(mc.Gaussian(0.5).imputed()(Z), mc.Gaussian(0.5)(filled), atol=1e-14)
    medians = np.where(np.isnan(Z), np.nanmedian(Z, axis=0), Z)
    np.testing.assert_allclose(mc.Gaussian(0.5).imputed("median")(Z), mc.Gaussian(0.5)(medians), atol=1e-14)
    zeros = np.nan_to_num(Z)
    np.testing.assert_allclose(
        mc.Linear().imputed("zero", True)(Z), zeros @ zeros.T + np.isnan(Z) @ np.isnan(Z).T.astype(float), atol=1e-13
    )
    new = np.array([[np.nan, np.nan, 0.0, 0.0]])
    np.testing.assert_allclose(
        mc.Linear().imputed().bind(Z)(new, Z), [[np.nanmean(Z[:, 0]), np.nanmean(Z[:, 1]), 0, 0]] @ filled.T, atol=1e-13
    )
    frame = pd.DataFrame(Z, columns=list("abcd"))
    np.testing.assert_allclose(mc.Gaussian(0.5).imputed()(frame), mc.Gaussian(0.5)(filled), atol=1e-14)
    assert mc.Gaussian().imputed().bind(Z).kernel == mc.Gaussian().bind(filled)


def test_missing_values_and_weights() -> None:
    w = np.random.default_rng(0).integers(0, 4, 20)
    Z = X.copy()
    Z[3, 1] = np.nan
    for how in ("mean", "median"):
        a, b = mc.Linear().imputed(how).bind(Z, w), mc.Linear().imputed(how).bind(np.repeat(Z, w, axis=0))
        np.testing.assert_allclose(a.values, b.values)


def test_imputed_kernels_are_psd_on_any_mask() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        Z = np.where(rng.random(X.shape) < rng.uniform(0, 0.8), np.nan, X)
        for k in (mc.Gaussian(0.5).imputed("zero", True), mc.Laplacian(0.3).imputed("zero")):
            assert np.linalg.eigvalsh(k(Z))[0] > -1e-10


def test_imputation_errors() -> None:
    Z = X.copy()
    Z[:, 2] = np.nan
    with pytest.raises(DataError, match="Column 2 has no value at all"):
        mc.Gaussian(1.0).imputed()(Z)
    with pytest.raises(ValueError, match="'mean', 'median', 'zero'"):
        mc.Gaussian().imputed("guess")
    with pytest.raises(DataError, match="bound to 4 columns, the data has 3"):
        mc.Gaussian(1.0).imputed().bind(X)(X[:, :3])


def test_standardized_is_the_kernel_of_standardised_columns() -> None:
    """Means and variances are those of the data given to bind, weights counting as repetitions; a constant column is
    only centred.
    """
    rng = np.random.default_rng(5)
    Z = np.column_stack([rng.normal(3, 10, 20), rng.normal(-1, 0.01, 20), np.full(20, 7.0)])
    new = Z[:4] + 0.5
    mean, spread = Z.mean(0), np.array([Z[:, 0].std(), Z[:, 1].std(), 1.0])
    k = mc.Gaussian(0.5)
    np.testing.assert_allclose(k.standardized()(Z), k((Z - mean) / spread), atol=1e-12)
    bound = k.standardized().bind(Z)
    np.testing.assert_allclose(bound(new, Z), k((new - mean) / spread, (Z - mean) / spread), atol=1e-12)
    np.testing.assert_allclose(
        mc.Gaussian("scale").standardized()(Z), mc.Gaussian("scale")((Z - mean) / spread), atol=1e-12
    )
    w = rng.integers(0, 4, 20)
    a, b = (mc.Linear().standardized().bind(*data) for data in ((Z, w), (np.repeat(Z, w, axis=0),)))
    np.testing.assert_allclose(a(Z), b(Z), atol=1e-10)
    holes = Z.copy()
    holes[3, 0] = np.nan
    filled = np.where(np.isnan(holes), np.nanmedian(holes, axis=0), holes)
    np.testing.assert_allclose(k.standardized().imputed("median")(holes), k.standardized()(filled), atol=1e-12)
    assert mc.parse(str(k.standardized())) == k.standardized()
    with pytest.raises(DataError, match="bound to 3 columns"):
        bound(Z[:, :2], Z)
    gradient = bound.gradient(Z)
    assert list(gradient) == ["kernel__gamma"]


def test_gaps_pass_the_standardisation() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3)) * [1.0, 10.0, 100.0] + [5.0, 0.0, -3.0]
    X[rng.random(X.shape) < 0.2] = np.nan
    k = mc.Gaussian(0.3).imputed().standardized()
    Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    np.testing.assert_allclose(k.bind(X)(X), mc.Gaussian(0.3)(np.nan_to_num(Z, nan=0.0)), atol=1e-14)  # the mean is 0
    weights = rng.integers(0, 3, 50)
    np.testing.assert_allclose(k.bind(X, weights)(X), k.bind(np.repeat(X, weights, axis=0))(X), atol=1e-13)
    with pytest.raises(mc.DataError, match="M101"):
        mc.Gaussian(0.3).standardized()(X)
