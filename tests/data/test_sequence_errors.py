"""Broken sequences, and parameters that do not fit: the error says where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mercer as mc
from mercer.data import DataError
from tests.sequence_samples import EVERY, X

MISSING: list[Any] = [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT]


@pytest.mark.parametrize("item", [*MISSING, 7, 2.5, 1j, np.int64(3)], ids=repr)
def test_an_item_that_is_no_sequence_is_named(item: Any) -> None:
    for kernel in (*EVERY, mc.Spectrum(2).normalized(), mc.Spectrum(2).both_strands(), mc.Spectrum(2) + mc.Spectrum(1)):
        with pytest.raises(DataError, match="Item 2 "):
            kernel([*X[:2], item, *X[2:]])
        with pytest.raises(DataError, match="Item 1 "):
            kernel(X, [X[0], item])


@pytest.mark.parametrize("kernel", [mc.BagOfWords(), mc.BagOfWords("counts"), mc.BagOfWords("binary")], ids=str)
@pytest.mark.parametrize("item", [*MISSING, 7], ids=repr)
def test_a_text_that_is_none_is_named(kernel: mc.Kernel, item: Any) -> None:
    with pytest.raises(DataError, match="Item 1 "):
        kernel(["a rose", item, "by any other name"])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([*X[:3], None]), pd.Series([*X[:3], np.nan]), pd.Series([*X[:3], pd.NA], dtype="string"),
        pd.Series([*X[:3], None], dtype="category"), pl.Series([*X[:3], None]), np.array([*X[:3], None], dtype=object),
        pa.chunked_array([[*X[:3], None]]),
    ],
)  # fmt: skip
def test_missing_values_of_columns_are_named(column: Any) -> None:
    for kernel in (
        mc.Spectrum(2),
        mc.Mismatch(2, 1),
        mc.GlobalAlignment(1.0),
        mc.BagOfWords(),
        mc.Spectrum(2).normalized(),
        mc.Spectrum(2).both_strands(),
    ):
        with pytest.raises(DataError, match=r"Item 3 .*missing"):
            kernel(column)


@pytest.mark.parametrize(
    "token",
    [["C"], {"C": 1}, np.array(["C", "G"]), np.array([1, 2]), np.array([1]), None, float("nan"), pd.NA, pd.NaT, {1}],
    ids=repr,
)
def test_a_token_that_is_none_is_named(token: Any) -> None:
    for kernel in (mc.Spectrum(2), mc.Substring(), mc.BagOfWords("counts"), mc.LocalAlignment()):
        with pytest.raises(DataError, match=r"Item 1 .*place 2"):
            kernel([["A", "C", "G"], ["A", "C", token]])


def test_nested_tables_are_named() -> None:
    for table in (
        np.zeros((3, 4, 2), int),
        [np.zeros((4, 2), int)] * 2,
        [[["A", "C"], ["G"]]],
        np.array([[["A"] * 3] * 2] * 2),
    ):
        with pytest.raises(DataError, match="Item 0 "):
            mc.Spectrum(2)(table)
    with pytest.raises(DataError, match="Item 1 "):
        mc.Spectrum(2)([[1, 2], np.array(3)])


@pytest.mark.parametrize("one", ["ACGT", b"ACGT", bytearray(b"ACGT"), np.str_("ACGT")], ids=repr)
def test_one_string_is_no_list(one: Any) -> None:
    for kernel in (*EVERY, mc.BagOfWords("counts"), mc.Spectrum(2).normalized(), mc.Spectrum(2) + mc.Spectrum(3)):
        with pytest.raises(DataError, match=r"put it in a list|Item 0 "):
            kernel(one)
        with pytest.raises(DataError, match=r"put it in a list|Item 0 "):
            kernel(["ACGT"], one)


def test_one_string_is_no_list_for_estimators() -> None:
    with pytest.raises(DataError, match="put it in a list"):
        mc.SVC(kernel=mc.Spectrum(2)).fit("ACGT", [0, 1, 0, 1])
    model = mc.SVC(kernel=mc.Spectrum(2)).fit(["AAAA", "CCCC"], [0, 1])
    with pytest.raises(DataError, match="put it in a list"):
        model.predict("ACGT")


@pytest.mark.parametrize("shift", [0, 2])
def test_unequal_lengths_are_named(shift: int) -> None:
    kernel = mc.WeightedDegree(2, shift)
    with pytest.raises(DataError, match=r"Item 2 .* 3 letters.*item 0 .* 4"):
        kernel(["ACGT", "ACGA", "ACG", "AC"])
    with pytest.raises(DataError, match=r"4 letters.*5"):
        kernel(["ACGT"], ["ACGTA", "ACGTC"])
    with pytest.raises(DataError, match=r"4 letters.*0"):
        kernel(["ACGT"], [""])
    model = mc.KernelRidge(kernel=kernel).fit(["ACGT", "ACGA", "TTTT"], [0.0, 1.0, 2.0])
    with pytest.raises(DataError, match="letters"):
        model.predict(["ACGTA"])


def test_broken_series_are_named() -> None:
    kernel, good = mc.GlobalAlignment(1.0), np.ones((5, 2))
    with pytest.raises(DataError, match=r"Item 2 .* 3 channels.* 2"):
        kernel([good, good, np.ones((4, 3))])
    with pytest.raises(DataError, match="channels"):
        kernel([good], [np.ones((4, 3))])
    for bad in (np.nan, np.inf, -np.inf):
        broken = good.copy()
        broken[3, 1] = bad
        with pytest.raises(DataError, match=r"Item 1 .*time 3"):
            kernel([good, broken])
    with pytest.raises(DataError, match=r"Item 1 .*time 2"):
        kernel([[1.0, 2.0], [1.0, 2.0, None]])
    with pytest.raises(DataError, match="Item 1 "):
        kernel([[1.0, 2.0], "ACGT"])
    with pytest.raises(DataError, match="Item 0 "):
        kernel([np.ones((2, 2, 2))])
    with pytest.raises(DataError, match="Item 0 "):
        kernel([[1.0, [2.0, 3.0]]])
    with pytest.raises(DataError):
        kernel(np.ones(5))
    with pytest.raises(DataError):
        kernel(["ACGT"], [[1.0, 2.0]])


def test_letters_and_numbers_do_not_mix() -> None:
    with pytest.raises(DataError, match="Item 1 "):
        mc.GlobalAlignment(1.0)([[1.0, 2.0], "ACGT"])
    with pytest.raises(DataError, match="Item 1 "):
        mc.GlobalAlignment(1.0)(["ACGT", [1.0, 2.0]])


def test_an_empty_series_has_any_number_of_channels() -> None:
    good = np.ones((5, 2))
    K = mc.GlobalAlignment(1.0)([np.empty(0), good, np.empty((0, 2)), []])
    assert K.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert mc.GlobalAlignment(1.0)([[]], [good]).tolist() == [[0.0]]
    assert mc.GlobalAlignment(1.0)([good], [[]]).tolist() == [[0.0]]
    with pytest.raises(DataError, match=r"Item 2 .* 3 channels.* 2"):
        mc.GlobalAlignment(1.0)([np.empty(0), good, np.ones((4, 3))])
    np.testing.assert_array_equal(mc.GlobalAlignment(1.0)([[], ["A", "C"]]), mc.GlobalAlignment(1.0)(["", "AC"]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: mc.Spectrum(0),
        lambda: mc.Spectrum(-1),
        lambda: mc.Spectrum(2.0),
        lambda: mc.Spectrum(True),
        lambda: mc.Spectrum("3"),
        lambda: mc.Spectrum(3, 4),
        lambda: mc.Spectrum(3, 0),
        lambda: mc.Spectrum(3, 1.5),
        lambda: mc.Spectrum(3, 1, [1.0]),
        lambda: mc.Spectrum(3, 1, [1.0, 1.0, -1.0]),
        lambda: mc.Spectrum(3, 1, [1.0, 1.0, np.nan]),
        lambda: mc.Spectrum(3, 1, 2.0),
        lambda: mc.Mismatch(0, 0),
        lambda: mc.Mismatch(3, 4),
        lambda: mc.Mismatch(3, -1),
        lambda: mc.Mismatch(3, 1, ""),
        lambda: mc.Mismatch(3, 1, "ACCA"),
        lambda: mc.Mismatch(3, 1, []),
        lambda: mc.Gappy(3, 4),
        lambda: mc.Gappy(0, 0),
        lambda: mc.Gappy(3, 0),
        lambda: mc.Gappy(201, 3),
        lambda: mc.WeightedDegree(0),
        lambda: mc.WeightedDegree(128),
        lambda: mc.WeightedDegree(3, -1),
        lambda: mc.Subsequence(0, 0.5),
        lambda: mc.Subsequence(2, 1.5),
        lambda: mc.Subsequence(2, 0.0),
        lambda: mc.Subsequence(2, -0.5),
        lambda: mc.Subsequence(2, np.nan),
        lambda: mc.Substring(0.0),
        lambda: mc.Substring(-1.0),
        lambda: mc.Substring(1.0, 0),
        lambda: mc.Substring(1.0, 2.5),
        lambda: mc.Substring(np.nan),
        lambda: mc.Substring(np.inf),
        lambda: mc.BagOfWords("idf"),
        lambda: mc.BagOfWords(None),
        lambda: mc.GlobalAlignment(0.0),
        lambda: mc.GlobalAlignment("mean"),
        lambda: mc.GlobalAlignment(-1.0),
        lambda: mc.GlobalAlignment(np.inf),
        lambda: mc.LocalAlignment(scores="PAM250"),
        lambda: mc.LocalAlignment(scores=("AC", [[1.0]])),
        lambda: mc.LocalAlignment(scores=("AC", [[1.0, 2.0], [0.0, 1.0]])),
        lambda: mc.LocalAlignment(scores=("AC", [[1.0, np.nan], [np.nan, 1.0]])),
        lambda: mc.LocalAlignment(scores=("AA", np.eye(2))),
        lambda: mc.LocalAlignment(scores=("", np.empty((0, 0)))),
        lambda: mc.LocalAlignment(scores=3),
        lambda: mc.LocalAlignment(beta=0.0),
        lambda: mc.LocalAlignment(beta=np.inf),
        lambda: mc.LocalAlignment(gap_open=-1.0),
        lambda: mc.LocalAlignment(match=np.nan),
        lambda: mc.LocalAlignment(beta=1000.0),
        lambda: mc.Spectrum(2).over(""),
        lambda: mc.Spectrum(2).over([]),
        lambda: mc.Spectrum(2).over("AA"),
        lambda: mc.Spectrum(2).over("AC", "drop"),
        lambda: mc.Spectrum(2).over(None),
        lambda: mc.Spectrum(2).over(4),
    ],
)
def test_parameters_are_checked(make: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        make()


def test_parameters_are_checked_again_when_they_were_set() -> None:
    kernel = mc.Spectrum(3).set_params(k=0)
    with pytest.raises(ValueError, match="k must be a whole number"):
        kernel(X)
    with pytest.raises(ValueError, match="at most g"):
        mc.Gappy(4, 2).set_params(k=5)(X)
