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
from mercer.data import DataError
from mercer.data.cell_dates import Dates
from mercer.data.cell_numbers import Numbers
from mercer.tabular.kinds import Kind, Task, clean, conform, infer_kinds, target_values, task_of

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
        ("day", [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2024" for i in range(N)], "date", "^dates, day first, as days$"),
        ("day", [f"{i % 28 + 1}/{i % 12 + 1}/2024" for i in range(N)], "date", "^dates, day first, as days$"),
        ("day", _cycle("1/2/2024", "3/4/2024"), "date", r"month first \(assumed: day first is as possible\), as days"),
        ("day", [*_cycle("2024-01-01T10:00Z", "2024-01-02", n=N - 2), "-", ""], "date", "1 missing, 1 cell is no date"),
        ("start", _cycle("08:15", "9:30 PM"), "date", "times of the day, as days"),
        ("sale_date", _cycle(20240131, 20240229), "date", "^dates yyyymmdd, as days$"),
        ("sale_date", _cycle("20240131", "20240229", None), "date", "^dates yyyymmdd, as days, 33 % missing$"),
        ("sale_date", _cycle(20240131, 20240230), "numeric", "whole numbers"),
        ("number", _cycle(20240131, 20240229), "numeric", "whole numbers"),
        ("price", [f"${i * 7.5:,.2f}" for i in range(N)], "numeric", r"^numbers in \$$"),
        ("rate", [f"{i / 7:.1f}%" for i in range(N)], "numeric", "^numbers in %$"),
        ("size", [f"{i / 7:.1f}".replace(".", ",") for i in range(N)], "numeric", "^numbers with decimal commas$"),
        ("mass", [f"{i} kg" for i in range(5, N + 5)], "numeric", "^whole numbers in kg, 5 … 204$"),
        (
            "x",
            [f"{i / 7}" for i in range(N - 8)] + ["unknown"] * 5 + [">5", None, ""],
            "numeric",
            r"^numbers, 1 % missing, 3 % of cells are no numbers \('unknown'\)$",
        ),
        ("x", [f"{i / 7}" for i in range(N - 1)] + ["n.a."], "numeric", r"^numbers, 1 cell is no number \('n\.a\.'\)$"),
        ("n", [str(i) for i in range(N)], "identifier", "counts the rows from 0"),
        ("holiday", _cycle(*["0"] * 20, "a", "b"), "nominal", "3 distinct texts"),
        ("zip", _cycle("01234", "12345", "23456"), "nominal", "3 distinct texts"),
        ("smoker", _cycle("Yes", "no", "NO", None), "nominal", "^yes or no, 25 % missing$"),
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


COUNTS = rng.negative_binomial(1, 0.05, 500)  # mean 19, standard deviation 19.5


@pytest.mark.parametrize(
    ("values", "task", "reason"),
    [
        ([*COUNTS, 0], "count", "distinct whole numbers in 501 rows that look like counts"),
        ([*(COUNTS + 2)], "regression", "distinct whole numbers"),
        ([*COUNTS, 0, 1001], "regression", "distinct whole numbers"),
        ([*rng.normal(40, 12, 500).round().clip(1)], "regression", "distinct whole numbers"),  # ages
        ([f"${v:,}.00" for v in rng.integers(-5000, 5000, 200)], "regression", "numbers in $"),
        (_cycle("3.1%", "4%", "5.5%"), "regression", "numbers in %: numbers that are not whole"),
        (_cycle("5 %", "10 %", "15 %"), "regression", "numbers in %: 3 distinct whole"),
        (_cycle("5 %", "10 %"), "classification", "2 distinct texts"),
        (_cycle("3,5", "4,5", "5,25"), "regression", "numbers with decimal commas"),
        (_cycle("1", "2", "3"), "classification", "3 distinct texts"),
        ([str(v) for v in rng.integers(-500, 500, 100)], "regression", "distinct whole numbers"),
        ([*_cycle("1", "2", "3"), "unknown"], "classification", "4 distinct texts"),
        (_cycle("NA", "EU", "AS"), "classification", "3 distinct texts"),
    ],
)
def test_tasks_of_counts_and_written_numbers(values: list[Any], task: str, reason: str) -> None:
    found = task_of(pl.Series("y", values))
    assert found.name == task, found
    assert reason in found.reason


def test_a_target_is_read_as_it_was_at_training() -> None:
    task = task_of(pl.Series("y", ["1,234", "3,5", "0,25"]))
    assert task == Task("regression", "numbers with decimal commas: numbers that are not whole", Numbers(","))
    assert target_values(pl.Series("y", ["1,234", "7", None]), task).to_list() == [1.234, 7.0, None]
    assert target_values(pl.Series("y", [1, 2]), task).to_list() == [1.0, 2.0]
    assert target_values(pl.Series("y", [True, False]), Task("regression", "")).to_list() == [1.0, 0.0]
    with pytest.raises(DataError, match=r"Row 1, column 'y' is 'seven', not a number"):
        target_values(pl.Series("y", ["1,5", "seven"]), task)


@pytest.mark.parametrize(
    ("values", "task", "form"),
    [
        (_cycle(1, 2, 3), "regression", None),
        (_cycle(1, 2, 3), "count", None),
        (_cycle(1, 2, 3), "ordinal", None),
        (_cycle(0.5, 1.5), "ordinal", None),
        (_cycle(0.5, 1.5), "classification", None),
        (_cycle("1", "2", "3"), "ordinal", Numbers()),
        (_cycle("5 kg", "7 kg"), "count", Numbers(after="kg")),
        (_cycle(True, False), "regression", None),
        (list(range(N)), "classification", None),
    ],
)
def test_tasks_as_asked(values: list[Any], task: str, form: Numbers | None) -> None:
    found = task_of(pl.Series("y", values), task)
    assert (found.name, found.form) == (task, form)
    assert "as asked" in found.reason


@pytest.mark.parametrize(
    ("values", "task", "message"),
    [
        ([0, 2, -1], "count", r"row 2 of the target 'y' is -1: counts are 0, 1, 2, …\. Ask for regression"),
        ([0.0, None, 2.5], "count", r"row 2 of the target 'y' is 2\.5"),
        (["low", "high"], "ordinal", r"row 0 of the target 'y' is 'low'.*write the ranks as numbers in their order"),
        (["1", "2", "many"], "regression", r"row 2 of the target 'y' is 'many', not a number.*ask for classification"),
        (list(range(101)), "ordinal", "101 distinct values.*Ask for regression"),
        ([1, 2], "regresion", r"'regresion' is not a task \(is it 'regression'\?\); the tasks are classification, reg"),
        ([f"{i / 7:.2f}" for i in range(99)] + ["unknown"], None, r"Row 99, the target 'y', is 'unknown', and nearly"),
    ],
)
def test_tasks_that_cannot_be(values: list[Any], task: str | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        task_of(pl.Series("y", values), task)


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


WRITTEN = pl.DataFrame(
    {
        "price": [f"${i * 7.5 + 1000:,.2f}" for i in range(40)],
        "size": [f"{i / 8}".replace(".", ",") for i in range(40)],
        "day": [f"{i % 28 + 1}/{i % 12 + 1}/2024" for i in range(40)],
        "dirty": [*(f"{i / 8}" for i in range(39)), "unknown"],
        "smoker": _cycle("Yes", "no", n=40),
        "sale_date": _cycle(20240131, 20240229, n=40),
    }
)


def test_later_tables_are_read_by_the_form_of_the_first() -> None:
    kinds = infer_kinds(WRITTEN)
    later = pl.DataFrame(
        {
            "price": ["1,234", "7", None],  # alone, 1,234 and 2/3 could be either
            "size": ["1,234", "0,5", ""],
            "day": ["2/3/2024", "12/11/2024", None],
            "dirty": ["7", "never heard of", "?"],
            "smoker": ["NO", "y", "perhaps"],
            "sale_date": [19700102, None, 19700103],
        }
    )
    assert conform(later, kinds)[0].rows() == [
        (1234.0, 1.234, 19784.0, 7.0, "no", 1.0),
        (7.0, 0.5, 20039.0, None, "yes", None),
        (None, None, None, None, "perhaps", 2.0),
    ]
    # all of it, some rows of it, and what it became
    once = clean(WRITTEN, kinds)
    assert_frame_equal(clean(WRITTEN[3:5], kinds), once[3:5])
    assert_frame_equal(clean(once.drop("sale_date").with_columns(WRITTEN["sale_date"], WRITTEN["day"]), kinds), once)
    typed = pl.DataFrame({"price": [5], "size": [5.5], "day": [dt.date(1970, 1, 2)], "dirty": [True], "smoker": [True]})
    typed = typed.with_columns(sale_date=pl.Series([dt.date(1970, 1, 2)]))
    assert conform(typed, kinds)[0].row(0) == (5.0, 5.5, 1.0, 1.0, "yes", 1.0)


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("price", "unknown", r"Row 0, column 'price' is 'unknown', not a number"),
        ("size", "1.5", r"column 'size' is '1\.5', not a number"),
        ("day", "13/13/2024", r"column 'day' is '13/13/2024', not a date"),
        ("sale_date", 20240230, r"column 'sale_date' is 20240230, not a date such as 20240229"),
    ],
)
def test_a_later_cell_of_another_form_is_an_error_where_training_had_none(column: str, cell: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        conform(pl.DataFrame({column: [cell]}), infer_kinds(WRITTEN.select(column)))


@pytest.mark.thorough
def test_forms_are_saved(tmp_path: Any) -> None:
    forms = [kind.form for kind in infer_kinds(WRITTEN).values()]
    model = mc.KernelRidge(1.0, mc.Gaussian(1.0)).fit([[0.0], [1.0]], [0.0, 1.0])
    model.forms_ = forms
    mc.save(model, tmp_path / "model.mercer")
    assert mc.load(tmp_path / "model.mercer").forms_ == forms


ASKED: list[tuple[str, Any, str, str, Any]] = [
    ("zone", _cycle(1, 2, 3), "numeric", "as asked", None),
    ("n", list(range(N)), "numeric", "as asked", None),
    ("rooms", _cycle(1, 2, 3), "nominal", "as asked", None),
    ("x", _cycle(1.5, 2.5), "nominal", "as asked", None),
    ("x", _cycle("1,5", "2,5"), "nominal", "as asked", None),
    ("code", _cycle("007", "12"), "numeric", "as asked, numbers", Numbers()),
    ("x", _cycle("5 kg", "x", "y"), "numeric", "66 % of cells are no numbers", Numbers(after="kg", lenient=True)),
    ("n", _cycle(20240131, 20240229), "date", "as asked, dates yyyymmdd", Dates("compact")),
    ("day", _cycle("1.2.2024", "soon"), "date", "50 % of cells are no dates", Dates("dmy", lenient=True)),
    ("town", _cycle("Bonn", "Köln", None), "text", "as asked, 33 % missing", None),
    ("gene", _cycle("ACGT", "AC"), "sequence", "as asked", None),
    ("c", _cycle(7), "numeric", "always 7, left out", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values", "kind", "reason", "form"), ASKED)
def test_kinds_as_asked(name: str, values: Any, kind: str, reason: str, form: Any) -> None:
    import re

    frame = pl.DataFrame({name: pl.Series(values, strict=False)})
    found = infer_kinds(frame, given={name: kind})[name]
    assert re.search(reason, found.reason), found
    assert found.form == form
    assert found.name == (kind if found.used else "constant")
    assert clean(frame, {name: found}).height == (N if found.used else 0)


def test_a_code_that_was_asked_to_be_a_number_is_one() -> None:
    frame = pl.DataFrame({"code": ["007", "12"]})
    assert clean(frame, infer_kinds(frame, given={"code": "numeric"}))["code"].to_list() == [7.0, 12.0]


def test_columns_are_left_out_as_asked() -> None:
    frame = pl.DataFrame({"a": [1.5, 2.5], "b": [1.5, 2.5], "y": [0, 1]})
    kinds = infer_kinds(frame, "y", dropped=["b"])
    assert kinds["b"] == Kind("other", "left out, as asked")
    assert clean(frame, kinds).columns == ["a"]


@pytest.mark.parametrize(
    ("given", "dropped", "message"),
    [
        ({"town": "numeric"}, (), r"'town' cannot be numeric, as was asked: row 1 is 'Bonn', not a number"),
        ({"town": "date"}, (), r"'town' cannot be date, as was asked: row 1 is 'Bonn', not a date"),
        ({"x": "date"}, (), r"'x' cannot be date, as was asked: row 0 is 1\.5, not a date"),
        ({"day": "numeric"}, (), r"'day' cannot be numeric, as was asked: row 0 is .*not a number"),
        ({"list": "nominal"}, (), r"'list' is of List.*cannot be nominal: leave it out"),
        ({"Town": "nominal"}, (), r"no column 'Town' \(is it 'town'\?\)"),
        ({"x": "numerical"}, (), r"'numerical', asked for the column 'x', is not a kind \(is it 'numeric'\?\)"),
        ({"x": "constant"}, (), r"'constant'.* is not a kind"),
        ({}, ["twn"], r"no column 'twn' \(is it 'town'\?\)"),
        ({"x": "nominal"}, ["x"], r"'x' is to be left out and to be nominal"),
        ({"y": "numeric"}, (), r"'y' is the column to predict"),
        ({}, ["y"], r"'y' is the column to predict"),
    ],
)
def test_kinds_that_cannot_be(given: dict[str, str], dropped: Any, message: str) -> None:
    frame = pl.DataFrame(
        {
            "x": [1.5, 2.5, 3.5],
            "town": [None, "Bonn", "Köln"],
            "day": [dt.date(2024, 1, 1), dt.date(2024, 1, 2), None],
            "list": [[1], [2], [3]],
            "y": [0, 1, 0],
        }
    )
    with pytest.raises(DataError, match=message):
        infer_kinds(frame, "y", given, dropped)


def test_molecules_as_asked() -> None:
    pytest.importorskip("rdkit")
    frame = pl.DataFrame({"m": ["CCO", "c1ccccc1", "C"], "t": ["CCO", "no molecule", "C"]})
    assert infer_kinds(frame, given={"m": "molecule"})["m"].name == "molecule"
    with pytest.raises(DataError, match=r"'t' cannot be molecule, as was asked: row 1 is 'no molecule'"):
        infer_kinds(frame, given={"t": "molecule"})


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
