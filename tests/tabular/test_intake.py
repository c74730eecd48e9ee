"""From a table to a problem: rows with a target, weights, groups, times, and what is odd about columns."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import mercer as mc
from mercer.data import DataError
from mercer.tabular.intake import Asked, Taken, as_table, take_in

rng = np.random.default_rng(0)
N = 60
FRAME = pl.DataFrame(
    {
        "a": rng.standard_normal(N),
        "b": rng.random(N),
        "w": rng.random(N) + 0.5,
        "g": rng.choice(["p", "q", "r"], N),
        "day": [dt.date(2024, 1, 1) + dt.timedelta(days=int(k)) for k in rng.permutation(N)],
        "y": rng.standard_normal(N),
        "c": rng.choice(["yes", "no"], N),
    }
)


def taken(frame: Any = FRAME, target: str = "y", **asked: Any) -> Taken:
    return take_in(frame, target, Asked(**asked))


def test_columns_of_arrays_are_left_out_and_no_target() -> None:
    arrays = [np.array([1.0, 2.0]) for _ in range(N)]
    for frame in (FRAME.to_pandas().assign(s=arrays), FRAME.with_columns(pl.Series("s", [[1.0, 2.0]] * N))):
        found = taken(as_table(frame))
        assert found.kinds["s"].name == "other"
        assert "kernel.on('s')" in found.kinds["s"].reason
        with pytest.raises(DataError, match=r"The column 's' holds .* a target is a number or a class"):
            taken(as_table(frame), "s")


# -- rows --------------------------------------------------------------------------------------------------------------


def test_rows_without_a_target_are_left_out_and_counted() -> None:
    y = FRAME["y"].to_list()
    y[3], y[10], y[11] = None, float("nan"), None
    found = taken(FRAME.with_columns(pl.Series("y", y)))
    kept = [i for i in range(N) if i not in (3, 10, 11)]
    assert found.without_target == 3
    assert found.problem.X["a"].to_list() == FRAME["a"][kept].to_list()
    np.testing.assert_array_equal(found.problem.y, FRAME["y"].to_numpy()[kept])
    assert "y" not in found.problem.X.columns


def test_rows_of_weight_0_are_left_out() -> None:
    w = np.where(np.arange(N) % 4 == 0, 0.0, np.arange(N) + 1.0)
    found = taken(FRAME.with_columns(pl.Series("w", w)), weight="w", group="g")
    kept = np.flatnonzero(w)
    problem = found.problem
    assert problem.X["a"].to_list() == FRAME["a"][kept].to_list()
    np.testing.assert_allclose(problem.weights / problem.weights[0], w[kept] / w[kept][0])
    assert problem.weights.mean() == pytest.approx(1)
    assert problem.groups.tolist() == FRAME["g"][kept].to_list()
    assert len(problem.y) == len(kept)
    assert not {"w", "g"} & set(problem.X.columns)


def test_groups_and_time_together_are_refused() -> None:
    with pytest.raises(DataError, match="not by both"):
        taken(FRAME, group="g", time_column="day")


def test_a_class_whose_rows_have_no_weight_is_no_class() -> None:
    labels = np.array(["u", "v", "x"])[np.arange(N) % 3]
    frame = FRAME.with_columns(pl.Series("c", labels), pl.Series("w", np.where(labels == "x", 0.0, 1.0)))
    assert taken(frame, "c", weight="w").problem.labels == ["u", "v"]
    with pytest.raises(DataError, match="one value"):
        taken(frame.with_columns(pl.Series("w", np.where(labels == "x", 1.0, 0.0))), "c", weight="w")


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([-1.0] + [1.0] * (N - 1), "Row 0, column 'w' is -1:"),
        ([1.0, None] + [1.0] * (N - 2), "Row 1, column 'w' is nan"),
        ([1.0, 1.0, float("inf")] + [1.0] * (N - 3), "Row 2"),
        ([0.0] * N, "All weights in the column 'w' are 0"),
        (["much"] * N, "'w' of weights is of String, not of numbers"),
    ],
)
def test_bad_weights(weights: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        taken(FRAME.with_columns(pl.Series("w", weights, strict=False)), weight="w")


def test_times_are_days_or_numbers() -> None:
    found = taken(time_column="day").problem
    assert np.argsort(found.times).tolist() == np.argsort(FRAME["day"].to_numpy()).tolist()
    assert taken(time_column="b").problem.times.tolist() == FRAME["b"].to_list()
    written = FRAME.with_columns(pl.col("day").dt.strftime("%d.%m.%Y"))
    np.testing.assert_array_equal(taken(written, time_column="day").problem.times, found.times)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"group": "nowhere"}, "There is no column 'nowhere'"),
        ({"weight": "nowhere"}, "There is no column 'nowhere'; the columns are 'a', 'b'"),
        ({"time_column": "y"}, "'y' is the target"),
        ({"group": "one"}, "'one' has one group only"),
        ({"time_column": "late"}, "Row 5, column 'late' has no time"),
        ({"drop": ["aa"]}, "There is no column 'aa'"),
        ({"kinds": {"a": "colour"}}, "is not a kind"),
        ({"task": "magic"}, "is not a task"),
        ({"drop": ["a", "b", "w", "g", "day", "c", "one", "late"]}, "No column is left"),
    ],
)
def test_what_cannot_be_asked(asked: dict[str, Any], said: str) -> None:
    late = [None if i == 5 else float(i) ** 2 for i in range(N)]
    frame = FRAME.with_columns(pl.lit("x").alias("one"), pl.Series("late", late))
    with pytest.raises(DataError, match=said):
        taken(frame, **asked)


def test_a_metric_of_another_task_is_refused() -> None:
    with pytest.raises(ValueError, match="is not for regression"):
        taken(metric="auc")
    assert taken(metric="mae").problem.metric.name == "mae"
    assert taken(target="c", metric="auc").problem.metric.name == "auc"


# -- targets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([True, False], [False, True]),
        (["b", "a"], ["a", "b"]),
        ([7, 3], [3, 7]),
        (["NA", "yes"], ["NA", "yes"]),
        (["", "x"], ["", "x"]),
    ],
)
def test_labels_are_as_they_were_given(values: list[Any], labels: list[Any]) -> None:
    column = [values[i % 2] for i in range(N)]
    found = taken(FRAME.with_columns(pl.Series("c", column)), "c")
    assert found.problem.labels == labels
    assert [found.problem.labels[k] for k in found.problem.y] == column


def test_classes_of_one_row() -> None:
    column = ["u", "v"] * (N // 2 - 1) + ["u", "single"]
    found = taken(FRAME.with_columns(pl.Series("c", column)), "c")
    assert found.problem.labels == ["u", "v"]
    assert len(found.problem) == N - 1
    assert any("single row" in note and "single" in note for note in found.notes)
    with pytest.raises(DataError, match="more than one row"):
        taken(FRAME.with_columns(pl.Series("c", ["u"] * (N - 1) + ["v"])), "c")
    with pytest.raises(DataError, match="too many to be classes"):
        taken(FRAME.with_columns(pl.Series("c", [f"v{i // 2}" for i in range(N)])), "c")


def test_too_few_rows_and_one_value() -> None:
    with pytest.raises(DataError, match="at least 10"):
        taken(FRAME[:9])
    with pytest.raises(DataError, match="nothing to learn"):
        taken(FRAME.with_columns(pl.lit(3.5).alias("y")))
    with pytest.raises(DataError, match=r"There is no column 'yy' to predict"):
        taken(target="yy")


def test_a_target_that_is_no_number() -> None:
    y = [float("inf") if i == 3 else v for i, v in enumerate(FRAME["y"])]
    with pytest.raises(DataError, match="inf"):
        taken(FRAME.with_columns(pl.Series("y", y)))


# -- oddities ----------------------------------------------------------------------------------------------------------


def test_a_copy_of_the_target_is_named() -> None:
    frame = FRAME.with_columns((3 * pl.col("y") + 1).alias("tripled"), (-(pl.col("y") ** 3)).alias("cubed"))
    notes = taken(frame).notes
    assert [note.split()[0] for note in notes] == ["tripled", "cubed"]
    assert all("a copy" in note and "--drop" in note for note in notes)
    assert not taken().notes


def test_a_copy_of_the_classes_is_named() -> None:
    renamed = FRAME.with_columns(pl.col("c").replace_strict({"yes": "ja", "no": "nein"}).alias("german"))
    (note,) = taken(renamed, "c").notes
    assert note.startswith("german has one value for each class of c")
    other = renamed.with_columns(
        pl.Series("german", ["nein", *renamed["german"][1:]]), pl.Series("c", ["yes", *renamed["c"][1:]])
    )
    assert not taken(other, "c").notes  # one row is otherwise


def test_an_identifier_that_foretells() -> None:
    """Left out, and named: rows are sorted by the target."""
    frame = FRAME.sort("y").with_columns(pl.int_range(pl.len()).alias("id"))
    found = taken(frame)
    assert found.kinds["id"].name == "identifier"
    assert "id" not in found.problem.X.columns
    (note,) = found.notes
    assert "id was left out as an identifier, and yet foretells y" in note
    assert not taken(FRAME.with_columns(pl.int_range(pl.len()).alias("id"))).notes


def test_columns_with_next_to_nothing_in_them() -> None:
    frame = FRAME.with_columns(pl.Series("few", [1.5 * i if i < 6 else None for i in range(N)]))
    found = taken(frame)
    assert not found.kinds["few"].used
    assert found.shown["few"] == ["other", "only 6 of 60 rows have a value"]


# -- tables ------------------------------------------------------------------------------------------------------------


def test_tables_of_other_libraries() -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    data = {
        "n": [1, 2, None], "x": [1.5, float("nan"), 3.0], "t": ["a", None, "c"], "f": [True, False, True],
        "d": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), None],
    }  # fmt: skip
    expected = pl.DataFrame({**data, "x": [1.5, None, 3.0]}, strict=False)
    for given in (pd.DataFrame(data), pa.table(data), pd.DataFrame(data).convert_dtypes()):
        found = as_table(given)
        assert found.columns == list(data)
        for name in data:
            values = [None if v is None or v != v else v for v in found[name].to_list()]
            assert values == expected[name].to_list(), (type(given), name)


def test_what_is_no_table() -> None:
    with pytest.raises(DataError, match="A table is a data frame of polars or pandas"):
        as_table([[1, 2], [3, 4]])


def test_a_sparse_table() -> None:
    X = sparse.csr_array(np.eye(N)[:, :20])
    table = mc.SparseTable(X, np.arange(3, 23), np.arange(N) % 2)
    found = taken(table, "target")
    assert found.problem.X.shape == (N, 20)
    assert found.problem.labels == [0, 1]
    assert found.indices.tolist() == list(range(3, 23))
    with pytest.raises(DataError, match="called 'target'"):
        taken(table, "y")
    for asked in ({"drop": ["x3"]}, {"weight": "w"}, {"kinds": {"x3": "nominal"}}):
        with pytest.raises(DataError, match=r"without names|have no names"):
            taken(table, "target", **asked)
    with pytest.raises(DataError, match="No column is left"):
        taken(mc.SparseTable(sparse.csr_array((N, 2)), np.array([1, 2]), np.arange(N) % 2), "target")
