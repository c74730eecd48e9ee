"""Tables, weights and containers as users hand them to kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import mercer as mc
from mercer.data import DataError
from tests.cases import real

X = real(30)


def test_bound_kernels_keep_their_data() -> None:
    for kernel in (mc.Gaussian(1.0).centered(), mc.Sigmoid().repaired()):
        Z = X.copy()
        bound = kernel.bind(Z)
        before = bound(X[:5])
        Z[:] = 0
        np.testing.assert_array_equal(bound(X[:5]), before)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_are_matched_by_name(make: Any) -> None:
    frame = make({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    turned = make({"c": X[:, 2], "a": X[:, 0], "b": X[:, 1]})
    np.testing.assert_allclose(mc.Gaussian(1.0)(turned, frame), mc.Gaussian(1.0)(frame), atol=1e-14)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_functions_with_tables_as_centres(make: Any) -> None:
    frame = make({"a": X[:, 0], "c": ["u", "v"] * 15})
    k = mc.Gaussian(1.0).on(["a"]) * mc.Categorical().on("c")
    f = mc.RKHSFunction(k, frame, np.r_[1.0, 2.0, np.zeros(28)])
    np.testing.assert_allclose((f + f)(frame), 2 * f(frame))
    simple = f.simplified()
    assert isinstance(simple, mc.RKHSFunction)
    assert len(simple.coef) == 2
    np.testing.assert_allclose(simple(frame), f(frame))


@pytest.mark.parametrize(
    "kernel", [mc.Gaussian(), mc.Gaussian(1.0).centered(), mc.Gaussian(1.0).imputed(), mc.Sigmoid().repaired()], ids=str
)
@pytest.mark.parametrize("weights", [np.r_[-1.0, np.ones(29)], np.r_[np.nan, np.ones(29)], np.ones(3), np.zeros(30)])
def test_weights_are_checked_by_every_bind(kernel: mc.Kernel, weights: Any) -> None:
    with pytest.raises(ValueError, match="weights must be 30 numbers"):
        kernel.bind(X, weights)


def test_a_column_seen_only_with_weight_zero_has_no_mean() -> None:
    with pytest.raises(DataError, match="Column 0 has no value at all"):
        mc.Gaussian(1.0).imputed().bind([[np.nan, 1.0], [2.0, 3.0]], weights=[1, 0])


@pytest.mark.torch
def test_torch_of_other_kinds() -> None:
    torch = pytest.importorskip("torch")
    T = torch.from_numpy(X)
    assert mc.Gaussian(1.0)(T.half()).dtype == torch.float32
    assert mc.Gaussian(1.0)(T.bfloat16()).dtype == torch.float32
    assert mc.Gaussian(1.0)(T.clone().requires_grad_()).shape == (30, 30)
    assert mc.Gaussian(1.0).gram(T, T[:9]).rows(slice(None, None, -3)).shape == (10, 9)


def test_containers_that_are_not_arrays() -> None:
    for K in (pd.DataFrame(np.eye(3)), sparse.eye_array(3), [[1.0]]):
        with pytest.raises(TypeError, match="must be a NumPy array"):
            mc.Precomputed(K)
    with pytest.raises(DataError, match="collect"):
        mc.Gaussian(1.0)(pl.DataFrame({"a": [1.0]}).lazy())
