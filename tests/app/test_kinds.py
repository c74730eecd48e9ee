from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import mercer as mc
from mercer.app.kinds import Kind, clean, conform, infer_kinds, task_of
from mercer.data import DataError

N = 200
rng = np.random.default_rng(0)


def _cycle(*values: Any, n: int = N) -> list[Any]:
    return [values[i % len(values)] for i in range(n)]


SENTENCES = [f"the patient number {i} was seen and sent home again" for i in range(N)]


@pytest.mark.parametrize(
    ("name", "values", "kind", "reason"),
    [
        ("x", rng.standard_normal(N), "numeric", "numbers"),
        ("x", [None, float("nan"), *rng.standard_normal(N - 2)], "numeric", "numbers, 1 % missing"),
        ("x", [None, *rng.standard_normal(N - 1)], "numeric", "numbers, 1 missing"),
        ("x", rng.integers(0, 1000, N), "numeric", r"whole numbers, \d+ … \d+"),
        ("rooms", _cycle(1, 2, 3, 4), "numeric", "whole numbers, 1 … 4"),
        ("year", _cycle(2006, 2007, 2008), "numeric", "whole numbers, 2006 … 2008"),
        ("binary", _cycle(0, 1), "numeric", "whole numbers, 0 … 1"),
        ("quality", _cycle(3.0, 4.0, 9.0), "numeric", "whole numbers, 3 … 9"),
        ("ward", _cycle(101, 250, 930), "nominal", "codes: 3 distinct whole numbers, 101 … 930"),
        ("ZipCode", _cycle(1, 2, 3), "nominal", "codes: 3 distinct"),
        ("zone", _cycle(1, 2, 3, n=20), "numeric", "whole numbers"),  # too few rows to tell
        ("town", _cycle("Aachen", "Köln", None), "nominal", "2 distinct texts, 33 % missing"),
        ("flag", _cycle(True, False, None), "nominal", "true or false, 33 % missing"),
        ("mark", _cycle("x", None), "nominal", "'x' or missing, 50 % missing"),
        ("c", _cycle(7), "constant", "always 7, left out"),
        ("c", _cycle("no"), "constant", "always 'no', left out"),
        ("c", _cycle(None), "constant", "no value at all"),
        ("c", _cycle(float("nan")), "constant", "no value at all"),
        ("n", list(range(N)), "identifier", "counts the rows from 0"),
        ("n", list(range(1, N + 1)), "identifier", "counts the rows from 1"),
        ("n", list(range(2, N + 2)), "numeric", "whole numbers"),
        ("n", [1, 2, 3], "numeric", "whole numbers"),  # three rows count nothing
        ("patient_id", rng.permutation(10 * N)[:N], "identifier", "the name of an identifier"),
        ("PassengerId", rng.permutation(10 * N)[:N], "identifier", "the name of an identifier"),
        (
            "Id",
            [7, *rng.permutation(10 * N)[1:N]],
            "identifier",
            r"\d+ different whole numbers in 200 rows, and the name",
        ),
        ("humid", rng.permutation(10 * N)[:N], "numeric", "whole numbers"),
        ("name", [f"P{i}" for i in range(N)], "identifier", "a different text in each row"),
        ("name", [f"P{max(i, 5)}" for i in range(N)], "identifier", "nearly all different"),
        ("note", SENTENCES, "text", r"200 distinct texts of \d+ words on average"),
        (
            "gene",
            [s.replace(" ", "") for s in SENTENCES],
            "sequence",
            r"200 distinct sequences of \d+ letters on average",
        ),
        ("note", _cycle(*SENTENCES[:4]), "nominal", "4 distinct texts"),
        ("day", _cycle(dt.date(2024, 1, 1), dt.date(2024, 1, 2)), "date", "dates, as days"),
        (
            "time",
            _cycle(dt.datetime(2024, 1, 1), None, dt.datetime(2025, 1, 2)),
            "date",
            "dates, as days, 34 % missing",
        ),
        ("stay", _cycle(dt.timedelta(1), dt.timedelta(2)), "date", "durations, as days"),
        ("list", _cycle([1], [2]), "other", "no kernel for it"),
    ],
)
def test_kinds_and_their_reasons(name: str, values: Any, kind: str, reason: str) -> None:
    import re

    found = infer_kinds(pl.DataFrame({name: pl.Series(values, strict=False)}))[name]
    assert found.name == kind, found
    assert re.search(reason, found.reason), found.reason
    assert found.used == (kind in ("numeric", "nominal", "date", "text", "sequence"))
    assert found.used != ("left out" in found.reason)


def test_categoricals_are_nominal() -> None:
    frame = pl.DataFrame(
        {
            "c": pl.Series(_cycle("a", "b"), dtype=pl.Categorical),
            "e": pl.Series(_cycle("a", "b"), dtype=pl.Enum(["a", "b"])),
        }
    )
    assert [k.name for k in infer_kinds(frame).values()] == ["nominal", "nominal"]
    assert clean(frame, infer_kinds(frame)).schema == {"c": pl.String, "e": pl.String}


def test_the_target_is_left_out() -> None:
    frame = pl.DataFrame({"a": [1.5, 2.5], "y": [0, 1]})
    assert list(infer_kinds(frame, "y")) == ["a"]
    with pytest.raises(DataError, match=r"no column 'z' to predict; the columns are 'a', 'y'"):
        infer_kinds(frame, "z")
    with pytest.raises(DataError, match=r"is it 'quality'\?"):
        infer_kinds(frame.rename({"y": "quality"}), "qualty")


@pytest.mark.parametrize(
    ("values", "task", "reason"),
    [
        (["a", "b", "a"], "classification", "2 distinct texts"),
        ([True, False], "classification", "true or false"),
        ([0, 1, 1, 0], "classification", "2 distinct whole numbers in 4 rows"),
        ([-1.0, 1.0, None], "classification", "2 distinct whole numbers in 2 rows"),
        (_cycle(*range(10)), "classification", "10 distinct whole numbers in 200 rows"),
        (list(range(N)), "regression", "200 distinct whole numbers in 200 rows"),
        (_cycle(*range(10), n=20), "regression", "10 distinct whole numbers in 20 rows"),
        ([0.5, 1.0], "regression", "not whole"),
        ([0.0, 1.0, float("inf")], "regression", "not whole"),
    ],
)
def test_tasks(values: list[Any], task: str, reason: str) -> None:
    found = task_of(pl.Series("y", values))
    assert found.name == task
    assert reason in found.reason


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 1], "one value, 1: there is nothing to learn"),
        ([None, float("nan")], "no value at all"),
        ([dt.date(2024, 1, 1), dt.date(2025, 1, 1)], "of Date"),
    ],
)
def test_targets_that_cannot_be_learned(values: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        task_of(pl.Series("y", values))


KINDS = {
    name: Kind(kind, "") for name, kind in [("x", "numeric"), ("c", "nominal"), ("d", "date"), ("id", "identifier")]
}  # type: ignore[arg-type]


def test_clean_brings_one_form() -> None:
    frame = pl.DataFrame(
        {
            "id": [5, 6, 7],
            "c": [1.0, None, float("nan")],
            "d": [dt.date(1970, 1, 2), None, dt.date(1969, 12, 31)],
            "x": [1, None, 3],
        }
    )
    out = clean(frame, KINDS)
    assert out.columns == ["x", "c", "d"]
    assert_frame_equal(out, pl.DataFrame({"x": [1.0, None, 3.0], "c": ["1", None, None], "d": [1.0, None, -1.0]}))


@pytest.mark.parametrize(
    ("given", "days"),
    [
        (pl.Series([dt.datetime(1970, 1, 1, 12)]), 0.5),
        (pl.Series([dt.datetime(1970, 1, 3)], dtype=pl.Datetime("ms")), 2.0),
        (pl.Series([dt.datetime(1970, 1, 3)], dtype=pl.Datetime("ns")), 2.0),
        (pl.Series([dt.timedelta(hours=36)]), 1.5),
        (pl.Series([dt.time(6)]), 0.25),
        (pl.Series(["1970-01-11"]), 10.0),
        (pl.Series(["1970-01-11 06:00:00"]), 10.25),
    ],
)
def test_dates_are_days_since_1970(given: pl.Series, days: float) -> None:
    frame = pl.DataFrame({"d": given})
    assert clean(frame, {"d": Kind("date", "")}).item() == days


def test_a_category_does_not_depend_on_what_its_column_was_read_as() -> None:
    as_text = pl.Series(["01", "1.0", "2.5", "TRUE", "x", None])
    forms = [pl.Series([1]), pl.Series([1.0, 2.5]), pl.Series([True]), pl.Series([1], dtype=pl.Int8)]
    kinds = {"c": Kind("nominal", "")}
    assert clean(pl.DataFrame({"c": as_text}), kinds)["c"].to_list() == ["1", "1", "2.5", "true", "x", None]
    assert [clean(pl.DataFrame({"c": form}), kinds)["c"].to_list() for form in forms] == [
        ["1"],
        ["1", "2.5"],
        ["true"],
        ["1"],
    ]


def test_conform_names_what_is_missing_and_lists_what_is_extra() -> None:
    frame = pl.DataFrame({"x": [1.0], "c": ["new category"], "d": ["2024-02-29"], "z": [1], "id": [3]})
    out, extra = conform(frame, KINDS)
    assert out.row(0) == (1.0, "new category", 19782.0)
    assert extra == ["z"]
    kinds = {"age": Kind("numeric", ""), "town": Kind("nominal", ""), "gone": Kind("constant", "")}
    with pytest.raises(DataError, match=r"lacks 2 column\(s\).*'age' \(is it 'Age'\?\), 'town'\. It has 'Age', 'x'"):
        conform(pl.DataFrame({"Age": [1], "x": [2]}), kinds)


@pytest.mark.parametrize(
    ("column", "given", "message"),
    [
        ("x", ["1", None, "", " 2 ", "two"], r"Row 4, column 'x' is 'two', not a number.*leave it empty"),
        ("x", [dt.date(2024, 1, 1)], r"Row 0, column 'x' is .*not a number"),
        ("d", ["2024-01-01", "2024-01-01 10:00:00", "", "soon"], r"Row 3, column 'd' is 'soon', not a date"),
        ("d", [None, 5], r"Row 1, column 'd' is 5, not a date"),
    ],
)
def test_conform_names_row_and_column(column: str, given: list[Any], message: str) -> None:
    frame = pl.DataFrame({column: given})
    with pytest.raises(DataError, match=message):
        conform(frame, {column: KINDS[column]})


def test_columns_without_any_value_conform() -> None:
    frame = pl.DataFrame({"x": [None], "c": [None], "d": pl.Series([None], dtype=pl.Float64)})
    out, _ = conform(frame, KINDS)
    assert out.schema == {"x": pl.Float64, "c": pl.String, "d": pl.Float64}
    assert out.row(0) == (None, None, None)


def test_booleans_where_numbers_were() -> None:
    assert conform(pl.DataFrame({"x": [True, None]}), {"x": KINDS["x"]})[0]["x"].to_list() == [1.0, None]


_cells = st.none() | st.floats() | st.integers(-(2**40), 2**40) | st.text("aB01.e-", max_size=4) | st.booleans()


@pytest.mark.thorough
@given(st.lists(_cells, min_size=1, max_size=30), st.sampled_from([pl.Float64, pl.String, None]))
def test_clean_is_idempotent_and_keeps_rows(values: list[Any], dtype: Any) -> None:
    column = (
        [None if v is None else str(v) for v in values]
        if dtype == pl.String or dtype is None
        else [v for v in values if not isinstance(v, str)]
    )
    frame = pl.DataFrame({"c": pl.Series(column, dtype=dtype or pl.String, strict=False)})
    for kinds in (infer_kinds(frame), {"c": Kind("nominal", "")}):
        once = clean(frame, kinds)
        assert_frame_equal(clean(once, kinds), once)
        assert once.height == (frame.height if any(k.used for k in kinds.values()) else 0)


def test_an_estimator_takes_what_clean_returns() -> None:
    frame = pl.DataFrame(
        {
            "age": [*rng.standard_normal(40)],
            "town": _cycle("a", "b", n=40),
            "day": _cycle(dt.date(2024, 1, 1), dt.date(2024, 6, 1), n=40),
        }
    )
    kinds = infer_kinds(frame)
    kernel = mc.Gaussian(1.0).on(["age", "day"]) + mc.Categorical().on("town")
    model = mc.SVC(kernel=kernel).fit(clean(frame, kinds), [0, 1] * 20)
    new, _ = conform(frame.with_columns(town=pl.lit("never seen")).reverse(), kinds)
    assert model.predict(new).shape == (40,)
