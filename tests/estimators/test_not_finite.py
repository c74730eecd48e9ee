"""Missing and infinite entries: every estimator names the cell and the cure, whatever the table comes as."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import mercer as mc
from mercer.data import DataError
from tests.estimator_cases import ESTIMATORS, ROWS, Case

NAMES = ["height", "weight", "age"]
# a table of numbers, and what the second column is called in it
FORMS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "dense": (np.asarray, "1"),
    "float32": (lambda A: A.astype(np.float32), "1"),
    "list": (lambda A: A.tolist(), "1"),
    "sparse": (sparse.csr_matrix, "1"),
    "sparse columns": (sparse.csc_array, "1"),
    "sparse float32": (lambda A: sparse.csr_array(A.astype(np.float32)), "1"),
    "pandas": (lambda A: pd.DataFrame(A, columns=NAMES), "'weight' (1)"),
    "pandas float32": (lambda A: pd.DataFrame(A.astype(np.float32), columns=NAMES), "'weight' (1)"),
    "polars": (lambda A: pl.DataFrame(A, schema=NAMES), "'weight' (1)"),
}
BAD = {np.nan: "a missing value (NaN)", np.inf: "infinite", -np.inf: "infinite"}
MACHINES: list[Any] = [
    mc.SVC(), mc.SVR(), mc.KernelRidge(), mc.KernelRidgeCV(), mc.KernelLogistic(), mc.KernelPCA(2), mc.OneClassSVM(),
    mc.KernelKMeans(2), mc.MKLClassifier(kernel=mc.Gaussian() + mc.Linear()), mc.KernelRidge(centers=5),
    mc.ConformalRegressor(mc.KernelRidge(), scale="residuals"),
]  # fmt: skip


def _spoiled(value: float, A: Any = ROWS) -> Any:
    A = A.copy()
    A[4, 1] = value
    return A


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
@pytest.mark.parametrize("form", FORMS)
def test_the_cell_and_the_cure(machine: Any, form: str) -> None:
    make, column = FORMS[form]
    y = np.arange(len(ROWS)) % 2
    for value, word in BAD.items():
        with pytest.raises(DataError, match=re.escape(f"Row 4, column {column} is {word}. ")) as found:
            machine.fit(make(_spoiled(value)), y)
        cure = "kernel.imputed()" if value != value else "clip the column to finite values"
        assert cure in str(found.value)


@pytest.mark.parametrize("machine", [mc.SVC(), mc.KernelRidge(), mc.KernelPCA(2)], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("form", FORMS)
def test_new_samples_too(machine: Any, form: str) -> None:
    make, column = FORMS[form]
    machine.fit(make(ROWS), np.arange(len(ROWS)) % 2)
    ask = machine.transform if hasattr(machine, "transform") else machine.predict
    for value, word in BAD.items():
        with pytest.raises(DataError, match=re.escape(f"Row 4, column {column} is {word}. ")):
            ask(make(_spoiled(value)))


@pytest.mark.parametrize("name", [name for name, case in ESTIMATORS.items() if not case.strings])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_every_estimator(name: str, value: float) -> None:
    case: Case = ESTIMATORS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # nothing was computed with it
        with pytest.raises(ValueError, match=re.escape(f"Row 4, column 1 is {BAD[value]}")):
            case.fitted(X=_spoiled(value))


@pytest.mark.parametrize("form", [form for form in FORMS if "sparse" not in form])
def test_the_cure_is_one(form: str) -> None:
    """What the message says, done."""
    make = FORMS[form][0]
    y = np.arange(len(ROWS)) % 2
    for machine in (mc.SVC(kernel=mc.Gaussian().imputed()), mc.KernelRidge(kernel=mc.Gaussian().imputed())):
        assert np.isfinite(machine.fit(make(_spoiled(np.nan)), y).predict(make(_spoiled(np.nan)))).all()
        with pytest.raises(DataError, match=r"Row 4, column .* is infinite"):
            machine.fit(make(_spoiled(np.inf)), y)
