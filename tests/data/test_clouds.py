"""Sets of vectors and diagrams at the door: all forms of a sample, errors that name the item, what is told."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer as mc
from mercer.data import DataError, take
from mercer.data.clouds import Diagrams, PointSets

SETS = [np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[4.0, 5.0]])]


@pytest.mark.parametrize(
    "form",
    [
        SETS,
        [x.tolist() for x in SETS],
        [tuple(map(tuple, x.tolist())) for x in SETS],
        (x for x in SETS),
        [pd.DataFrame(x, columns=["a", "b"]) for x in SETS],
        [pl.DataFrame(x, schema=["a", "b"]) for x in SETS],
        pl.DataFrame({"cloud": [x.tolist() for x in SETS]}),
        pl.Series([x.tolist() for x in SETS]),
        [x.astype(int) for x in SETS],
    ],
)
def test_all_forms_are_the_same(form: Any) -> None:
    found = PointSets().check(form)
    assert found.values.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert found.offsets.tolist() == [0, 2, 3]
    assert PointSets().check(found) is found
    assert take(found, np.array([1, 0])).values[:, 0].tolist() == [4.0, 0.0, 2.0]


def test_arrays_of_three_axes_and_flat_lists() -> None:
    assert PointSets().check(np.zeros((4, 3, 2))).offsets.tolist() == [0, 3, 6, 9, 12]
    assert PointSets().check([[1.0, 2.0], [3.0]]).values.tolist() == [[1.0], [2.0], [3.0]]


def test_single_precision_stays_where_all_have_it() -> None:
    single = [x.astype(np.float32) for x in SETS]
    assert PointSets().check(single).values.dtype == np.float32
    assert PointSets().check([single[0], SETS[1]]).values.dtype == np.float64
    k = mc.MeanEmbedding(mc.Gaussian(0.3))
    np.testing.assert_allclose(k(single), k(SETS), rtol=1e-5)


def test_what_is_kept_is_read_as_the_same_sets() -> None:
    stored = PointSets().to_store([pl.DataFrame(SETS[0], schema=["a", "b"]), SETS[1].tolist()])
    assert all(type(x) is np.ndarray for x in stored)
    assert PointSets().check(stored).values.tolist() == PointSets().check(SETS).values.tolist()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (SETS[0], r"one table of shape \(2, 2\).*\[X\]"),
        ([SETS[0], [[1.0, 2.0, 3.0]]], "set 1 have 3 numbers, those of set 0 have 2"),
        ([SETS[0], [[np.nan, 1.0]]], "Set 1, point 0, column 0 is nan"),
        ([SETS[0], [[1.0, np.inf]]], "Set 1, point 0, column 1 is inf"),
        ([SETS[0], None], "Set 1 is missing"),
        ([SETS[0], "abc"], "Set 1 is 'abc'"),
        ([SETS[0], [[1.0, 2.0], [3.0]]], "Set 1 is .*same number of numbers"),
        ([SETS[0], np.zeros((2, 2, 2))], r"Set 1 has shape \(2, 2, 2\)"),
        ("abc", "one str"),
        (pl.DataFrame({"a": [1.0], "b": [2.0]}), "2 columns"),
        (3.0, "Expected a collection of sets"),
    ],
)
def test_errors_of_sets(given: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        PointSets().check(given)


def test_an_empty_set_is_told_of_once() -> None:
    for k in (mc.MeanEmbedding(mc.Gaussian(0.3)), mc.SlicedWasserstein(0.3), mc.MeanEmbedding(mc.Linear())):
        with pytest.warns(mc.IgnoredWarning, match="1 of 3 sets are empty, the first is set 1") as told:
            K = k([SETS[0], [], SETS[1]])
        assert len(told) == 1
        assert (K[1] == 0).all()
        assert (K[:, 1] == 0).all()
        assert K[0, 0] > 0
    with pytest.warns(mc.IgnoredWarning, match="2 of 2"):
        assert mc.MeanEmbedding(mc.Gaussian(0.3))([[], np.empty((0, 2))]).tolist() == [[0, 0], [0, 0]]


def test_endless_pairs_and_the_diagonal_are_left_out() -> None:
    with pytest.warns(mc.IgnoredWarning, match="2 pairs of the diagrams never die .the first in diagram 1."):
        found = Diagrams().check([[[0.0, 1.0], [2.0, 2.0]], [[0.0, np.inf], [1.0, 3.0], [2.0, np.inf]], []])
    assert found.values.tolist() == [[0.0, 1.0], [1.0, 3.0]]
    assert found.offsets.tolist() == [0, 1, 2, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Diagrams().check([[], []]).values.shape == (0, 2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([[[0.0, 1.0, 2.0]]], "Diagram 0 has 3 columns"),
        ([[[0.0, 1.0], [2.0, 1.0]]], "Diagram 0, pair 1 is born at 2 and dies at 1.*−birth"),
        ([[[-np.inf, 1.0]]], "Diagram 0, pair 0 is born at -inf"),
        ([[[0.0, np.nan]]], "Diagram 0, pair 0"),
        ([[0.0, 1.0]], "Diagram 0 has 1 columns"),
    ],
)
def test_errors_of_diagrams(given: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        Diagrams().check(given)


def test_patches_of_images() -> None:
    image = np.arange(24.0).reshape(2, 4, 3).transpose(1, 2, 0)  # 4 × 3, two channels
    found = mc.patches([image, np.zeros((5, 3, 2))], 2, 2)
    assert [x.shape for x in found] == [(2, 8), (2, 8)]
    assert found[0][1].tolist() == image[2:4, :2].reshape(-1).tolist()
    with pytest.raises(DataError, match="Image 1 is 1 × 3, smaller than a patch of 2 × 2"):
        mc.patches([np.zeros((3, 3)), np.zeros((1, 3))], 2)
    with pytest.raises(DataError, match=r"Image 0 has shape \(9,\).*reshape"):
        mc.patches(np.zeros((2, 9)), 2)
    with pytest.raises(DataError, match="Image 0 is not an array"):
        mc.patches(["abc"], 2)
    with pytest.raises(ValueError, match="size=0"):
        mc.patches(np.zeros((1, 3, 3)), 0)
