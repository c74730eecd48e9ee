"""Strings and sequences in every form that users have them in."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer as mc
from mercer.data import DataError
from tests.sequence_samples import EVERY, FORMS, NUMBERS, TEXTS, Record, X, dna, every

OTHERS = [*dna(6, seed=1), X[0]]


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_matrix(form: str) -> None:
    for kernel in EVERY:
        same = FORMS[form]
        np.testing.assert_array_equal(kernel(same(X)), kernel(X), str(kernel))
        np.testing.assert_array_equal(kernel(same(OTHERS), X), kernel(OTHERS, X), str(kernel))
        np.testing.assert_array_equal(kernel(OTHERS, same(X)), kernel(OTHERS, X), str(kernel))
        np.testing.assert_array_equal(kernel.diag(same(X)), kernel.diag(X), str(kernel))


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
def test_every_form_in_composites(form: str) -> None:
    for kernel in (
        mc.Spectrum(2).normalized(),
        mc.Spectrum(2).both_strands(),
        mc.Spectrum(2) + mc.Substring(),
        mc.Gappy(9, 4).over("ACGT"),
    ):
        np.testing.assert_array_equal(kernel(FORMS[form](X)), kernel(X), str(kernel))
        np.testing.assert_array_equal(kernel(OTHERS, FORMS[form](X)), kernel(OTHERS, X), str(kernel))


@pytest.mark.thorough
@pytest.mark.parametrize("form", NUMBERS)
def test_code_points_are_letters(form: str) -> None:
    for kernel in EVERY:
        if isinstance(kernel, mc.GlobalAlignment):  # for which numbers are a series
            continue
        np.testing.assert_array_equal(kernel(NUMBERS[form](X)), kernel(X), str(kernel))
        np.testing.assert_array_equal(kernel(NUMBERS[form](OTHERS), X), kernel(OTHERS, X), str(kernel))


@pytest.mark.parametrize("weights", ["tfidf", "counts", "binary"])
@pytest.mark.parametrize(
    "form",
    [
        tuple,
        iter,
        np.array,
        pd.Series,
        pl.Series,
        lambda x: np.array(x, object),
        lambda x: [re.findall(r"\w+", s.lower()) for s in x],
    ],
)
def test_every_form_of_texts(weights: str, form: Any) -> None:
    np.testing.assert_array_equal(mc.BagOfWords(weights)(form(TEXTS)), mc.BagOfWords(weights)(TEXTS))


def test_texts_of_bytes_are_texts() -> None:
    K = mc.BagOfWords("counts")(TEXTS)
    np.testing.assert_array_equal(mc.BagOfWords("counts")([s.encode() for s in TEXTS]), K)
    np.testing.assert_array_equal(mc.BagOfWords("counts")([Record(s) for s in TEXTS]), K)


@pytest.mark.torch
@every
def test_tensors_of_numbers(kernel: mc.Kernel) -> None:
    torch = pytest.importorskip("torch")
    table = np.array([[ord(c) for c in s] for s in X])
    if not isinstance(kernel, mc.GlobalAlignment):
        np.testing.assert_array_equal(kernel(torch.from_numpy(table)), kernel(X))
        np.testing.assert_array_equal(kernel(list(torch.from_numpy(table))), kernel(X))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@every
def test_columns_of_data_frames(make: Any, kernel: mc.Kernel) -> None:
    age = np.arange(len(X)) / 5
    frame, turned = make({"age": age, "dna": X}), make({"dna": OTHERS, "age": np.arange(len(OTHERS)) / 3})
    np.testing.assert_array_equal(kernel.on("dna")(frame), kernel(X))
    np.testing.assert_array_equal(kernel.on(1)(frame), kernel(X))
    np.testing.assert_array_equal(kernel.on("dna")(turned, frame), kernel(OTHERS, X))
    total = mc.Gaussian(1.0).on(["age"]) + kernel.on("dna")
    ages = mc.Gaussian(1.0)(age[:, None])
    np.testing.assert_allclose(total(frame), ages + kernel(X), rtol=1e-14)
    np.testing.assert_allclose((mc.Gaussian(1.0).on(["age"]) * kernel.on("dna"))(frame), ages * kernel(X), rtol=1e-14)
    v = np.linspace(-1, 1, len(X))
    np.testing.assert_allclose(total.gram(frame) @ v, (ages + kernel(X)) @ v, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_of_one_column_is_that_column_and_not_its_name(make: Any) -> None:
    np.testing.assert_array_equal(mc.Spectrum(2)(make({"dna": X})), mc.Spectrum(2)(X))
    np.testing.assert_array_equal(mc.Spectrum(2).on(["dna"])(make({"dna": X, "age": range(len(X))})), mc.Spectrum(2)(X))
    np.testing.assert_array_equal(mc.BagOfWords()(make({"text": TEXTS})), mc.BagOfWords()(TEXTS))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_of_several_columns_is_no_list_of_strings(make: Any) -> None:
    with pytest.raises(DataError):
        mc.Spectrum(1)(make({"dna": X, "rna": X}))


def test_columns_of_arrays_of_objects() -> None:
    table = np.array([[1.0, s] for s in X], dtype=object)
    np.testing.assert_array_equal(mc.Spectrum(2).on(1)(table), mc.Spectrum(2)(X))


def test_two_strings_have_a_number() -> None:
    assert mc.Spectrum(2)("ACGTAC", "ACAC") == 4.0
    assert mc.Spectrum(2)(b"ACGTAC", "ACAC") == 4.0
