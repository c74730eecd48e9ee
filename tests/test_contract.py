"""Every kernel of the case table against its literal definition and the shipped contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.kernels.notation import kernel_classes
from mercer.testing import assert_kernel_contract
from tests import oracles
from tests.cases import CASES, EVERY, Case


@pytest.mark.parametrize("case", [case for case in EVERY if case.oracle is not None], ids=str)
def test_values_are_the_definition(case: Case) -> None:
    X = case.data()
    assert case.oracle is not None
    expected = np.array(oracles.matrix(case.oracle, _listed(X), _listed(X[:9])))
    np.testing.assert_allclose(case.kernel(X, X[:9]), expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    symmetric = case.kernel(X[:9])
    np.testing.assert_allclose(symmetric, expected[:9], rtol=1e-9, atol=1e-11 * np.abs(expected).max())


def _listed(X: Any) -> list[Any]:
    return X if isinstance(X, list) else list(X.tolist())


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_contract(case: Case) -> None:
    assert_kernel_contract(case.kernel, case.data())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_float32_stays_float32(case: Case) -> None:
    X = case.data()
    low, high = case.kernel(X.astype(np.float32)), case.kernel(X)
    # these hold, or make, numbers of their own
    of_float64 = type(case.kernel).__name__ in ("Projected", "AtLandmarks", "Categorical")
    assert low.dtype == (np.float64 if of_float64 else np.float32)
    np.testing.assert_allclose(low, high, rtol=2e-4, atol=2e-4 * np.abs(high).max())


def test_every_kernel_is_in_the_table() -> None:
    """A kernel class without a case would go untested."""
    named = " ".join(type(k).__name__ for case in EVERY for k in _all_parts(case.kernel))
    unbound = ("Centered", "Imputed", "Repaired", "Precomputed", "Standardized", "Fisher", "VisualWords")
    missing = [
        name
        for name, cls in kernel_classes().items()
        if cls.__module__.startswith("mercer.") and name not in named.split() and name not in unbound
    ]
    # what Imputed, Standardized and Descriptors become when bound: tested in test_inputs and test_vectorised
    bound = ["Filled", "Shifted", "Described"]
    # what is computed in place of others: tested in test_scaled
    normalised = ["Balanced", "Directions", "ExponentialOfDistance"]
    # what Gappy and Mismatch are when features are asked for: tested in kernels/test_sequence_features.py
    listed = ["ListedGappy", "ListedMismatch"]
    assert sorted(missing) == sorted(bound + normalised + listed)


def _all_parts(kernel: mc.Kernel) -> list[mc.Kernel]:
    return [kernel] + [part for _, child in kernel._children() for part in _all_parts(child)]
