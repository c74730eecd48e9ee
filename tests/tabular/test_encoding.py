"""Rows of numbers from the columns of a table, against what is computed by hand."""

from __future__ import annotations

import datetime as dt
import math
import statistics
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mercer.tabular.encoding import Encoding, Number, View
from mercer.tabular.kinds import clean, infer_kinds

RANK, BY_REGRESSION = View("rank"), View("size", "regression")


def encoding_of(frame: pl.DataFrame, view: View | None = None, **kinds: str) -> tuple[Encoding, Any]:
    """The encoding of a table, and the table in form."""
    found = infer_kinds(frame, None, kinds)
    X = clean(frame, found)
    return Encoding.of(X, found, view or View()), X


def column_of(encoding: Encoding, rows: Any, name: str) -> Any:
    return rows[:, encoding.names.index(name)]


# -- numbers -----------------------------------------------------------------------------------------------------------


def test_numbers_are_distances_from_the_median_in_spreads() -> None:
    x = [3.5, -1.0, 2.0, 8.25, 0.5, 4.0, 1.0, 6.5, 2.5]
    low, median, high = statistics.quantiles(x, n=4, method="inclusive")
    encoding, X = encoding_of(pl.DataFrame({"x": x}))
    expected = [(v - median) * 1.349 / (high - low) for v in x]
    np.testing.assert_allclose(encoding(X)[:, 0], expected, rtol=1e-12)
    assert encoding.names == ["x"]


def test_a_column_that_is_mostly_one_value_has_a_spread_too() -> None:
    x = [0.0] * 90 + [1.0] * 10
    encoding, X = encoding_of(pl.DataFrame({"x": x}), x="numeric")
    rows = encoding(X)[:, 0]
    assert rows[0] == 0.0
    assert rows[-1] == pytest.approx(1 / np.std(x))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_far_counts_by_its_logarithm(sign: float) -> None:
    number = Number("x", median=10.0, spread=2.0, typical=2.0)
    z = np.array([0.5, 7.9, 8.0, 16.0, 8.0 * math.e, 80.0])
    expected = [0.5, 7.9, 8.0, 8 + math.log(2), 9.0, 8 + math.log(10)]
    np.testing.assert_allclose(number(10.0 + 2.0 * sign * z), sign * np.array(expected), rtol=1e-12)


@pytest.mark.parametrize("value", [1e300, -1e300, 1e308, math.inf, -math.inf])
@pytest.mark.parametrize("view", [View(), RANK])
def test_the_largest_numbers_stay_in_reach(value: float, view: View) -> None:
    x = [*np.random.default_rng(0).standard_normal(100), value]
    encoding, X = encoding_of(pl.DataFrame({"x": x, "plain": np.linspace(0, 1, 101)}), view)
    rows = encoding(X)
    assert np.isfinite(rows).all()
    assert np.abs(rows).max() <= 20
    assert rows[-1, 0] == (rows[:, 0].max() if value > 0 else rows[:, 0].min())
    if np.isfinite(value):
        (note,) = encoding.notes
        assert f"x ({value:.3g})" in note
        assert "plain" not in note


@pytest.mark.parametrize("unit", [1.7e308, 1e200, 1e-200, 1e-310])
@pytest.mark.parametrize("view", [View(), RANK])
def test_numbers_of_any_unit(unit: float, view: View) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, 100)
    encoding, X = encoding_of(pl.DataFrame({"x": unit * x}), view)
    rows = encoding(X)[:, 0]
    assert np.isfinite(rows).all()
    assert np.abs(rows).max() <= 20
    assert (np.diff(rows[np.argsort(x)]) >= 0).all()


def test_ordinary_numbers_are_not_named() -> None:
    encoding, _ = encoding_of(pl.DataFrame({"x": np.random.default_rng(0).standard_cauchy(300)}))
    assert not encoding.notes


def test_ranks_are_uniform_of_variance_1_and_keep_the_order() -> None:
    x = np.exp(2 * np.random.default_rng(0).standard_normal(1001))
    encoding, X = encoding_of(pl.DataFrame({"x": x}), RANK)
    rows = encoding(X)[:, 0]
    assert rows.mean() == pytest.approx(0, abs=0.01)
    assert rows.var() == pytest.approx(1, abs=0.02)
    assert (np.diff(rows[np.argsort(x)]) > 0).all()
    # ranks from 0 to 1, of mean 1/2 and variance 1/12
    expected = math.sqrt(12) * ((stats.rankdata(x) - 1) / (len(x) - 1) - 0.5)
    np.testing.assert_allclose(rows, expected, atol=math.sqrt(12) / 256)


def test_ranks_end_where_the_training_rows_do() -> None:
    encoding, _ = encoding_of(pl.DataFrame({"x": [0.5, 1.0, 4.0, 9.5, 20.0]}), RANK)
    rows = encoding(pl.DataFrame({"x": [-100.0, 0.5, 20.0, 1e9]}))[:, 0]
    np.testing.assert_allclose(rows, math.sqrt(3) * np.array([-1, -1, 1, 1]))


# -- gaps --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gaps", "marked"), [(1, False), (4, True)])
def test_gaps_are_the_median_and_marked_where_they_are_not_few(gaps: int, marked: bool) -> None:
    x = np.random.default_rng(0).standard_normal(200) + 5.0
    frame = pl.DataFrame({"x": [None] * gaps + x[gaps:].tolist()})
    encoding, X = encoding_of(frame)
    rows = encoding(X)
    assert (rows[:gaps, 0] == 0.0).all()
    assert column_of(encoding, encoding(pl.DataFrame({"x": [float(np.median(x[gaps:]))]})), "x") == pytest.approx([0.0])
    assert encoding.names == (["x", "x missing"] if marked else ["x"])
    if marked:
        assert rows[:, 1].tolist() == [1.0] * gaps + [0.0] * (200 - gaps)


def test_a_gap_is_the_median_among_ranks_too() -> None:
    """Also where the median is tied with many: most rows are 0 here."""
    x = [0.0] * 70 + np.linspace(1, 30, 30).tolist()
    encoding, _ = encoding_of(pl.DataFrame({"x": [*x, None]}), RANK, x="numeric")
    median, gap = encoding(pl.DataFrame({"x": [0.0, None]}))[:, 0]
    assert gap == pytest.approx(median)


def test_gaps_by_regression_recover_a_linear_relation() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 400))
    c = 2 * a - b + 3
    holes = rng.random(400) < 0.15
    frame = pl.DataFrame({"a": a, "b": b, "c": [None if h else v for h, v in zip(holes, c, strict=True)]})
    encoding, X = encoding_of(frame, BY_REGRESSION)
    number = encoding.numbers[2]
    truth = (c - number.median) / number.spread
    found = encoding(X)[:, 2]
    np.testing.assert_allclose(found[~holes], truth[~holes], rtol=1e-9)
    assert np.abs(found[holes] - truth[holes]).max() < 0.2 < 1.0 < np.abs(truth[holes]).max()
    # a gap of a column that had none at training is the median
    later = encoding(pl.DataFrame({"a": [None], "b": [1.0], "c": [2.0]}, schema=dict.fromkeys("abc", pl.Float64)))
    assert later[0, 0] == 0.0


# -- categories and dates ----------------------------------------------------------------------------------------------


def test_categories_are_columns_of_0_and_1() -> None:
    towns = ["Ulm", "Aachen", None, "Ulm", "Bonn", "Aachen"] * 20 + ["Rome"]
    encoding, X = encoding_of(pl.DataFrame({"x": np.linspace(0, 1, 121), "town": towns}))
    assert encoding.names == ["x", "town = Aachen", "town = Bonn", "town = Ulm"]  # one Rome is rare
    expected = [[float(t == name) for name in ("Aachen", "Bonn", "Ulm")] for t in towns]
    assert encoding(X)[:, 1:].tolist() == expected
    later = encoding(pl.DataFrame({"x": [0.5] * 4, "town": ["Paris", "Rome", None, "Bonn"]}))
    assert later[:, 1:].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_a_table_of_categories_alone() -> None:
    encoding, X = encoding_of(pl.DataFrame({"a": ["p", "q", "q"] * 10, "b": ["u", None] * 15}))
    assert encoding.names == ["a = p", "a = q", "b = u"]
    assert encoding(X)[:3].tolist() == [[1, 0, 1], [0, 1, 0], [0, 1, 1]]


def test_days_have_a_year_a_week_and_a_clock() -> None:
    rng = np.random.default_rng(0)
    times = [dt.datetime(2021, 3, 1) + dt.timedelta(hours=int(h)) for h in rng.integers(0, 3 * 365 * 24, 300)]
    encoding, X = encoding_of(pl.DataFrame({"seen": [*times, None]}))
    rows = encoding(X)
    for j, day in enumerate(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]):
        expected = [float(t.weekday() == j) for t in times] + [0.0]
        assert column_of(encoding, rows, f"seen: {day}").tolist() == expected
    clock = [2 * math.pi * t.hour / 24 for t in times]
    np.testing.assert_allclose(column_of(encoding, rows, "seen: day, sine")[:-1], np.sin(clock), atol=1e-9)
    np.testing.assert_allclose(column_of(encoding, rows, "seen: day, cosine")[:-1], np.cos(clock), atol=1e-9)
    assert (rows[-1, [name.startswith("seen: ") for name in encoding.names]] == 0).all()
    days = [(t - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1) for t in times]
    z = column_of(encoding, rows, "seen")[:-1]
    np.testing.assert_allclose(np.diff(z) / np.diff(days), 1 / encoding.numbers[0].spread, rtol=1e-6)


def test_a_year_later_is_the_same_season() -> None:
    days = [dt.date(2000, 1, 1) + dt.timedelta(days=k) for k in range(0, 3000, 7)]
    encoding, _ = encoding_of(pl.DataFrame({"day": days}))
    later = pl.DataFrame(
        {"day": [float((dt.date(y, m, 15) - dt.date(1970, 1, 1)).days) for y in (2001, 2005) for m in (1, 7)]}
    )
    rows = encoding(later)
    around = np.column_stack([column_of(encoding, rows, f"day: year, {part}") for part in ("sine", "cosine")])
    np.testing.assert_allclose(np.linalg.norm(around, axis=1), 1)
    assert np.abs(around[0] - around[2]).max() < 0.02  # January of two years
    assert around[0] @ around[1] < -0.99  # January and July


def test_dates_of_a_week_have_no_year() -> None:
    encoding, _ = encoding_of(pl.DataFrame({"day": [dt.date(2024, 1, 1 + k % 6) for k in range(40)]}))
    assert encoding.names == ["day"]


# -- the whole ---------------------------------------------------------------------------------------------------------


def mixed(n: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "x": [None if i % 9 == 0 else v for i, v in enumerate(rng.standard_normal(n))],
            "day": [dt.date(2020, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(0, 900, n)],
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n),
            "z": rng.random(n),
            "note": [f"the patient number {i} was seen and sent home again" for i in range(n)],
        }
    )


@pytest.mark.parametrize("view", [View(), RANK, BY_REGRESSION])
def test_names_sources_blocks_and_rows_agree(view: View) -> None:
    frame = mixed()
    encoding, X = encoding_of(frame.drop("note"), view)
    rows = encoding(X)
    assert rows.shape == (120, len(encoding.names))
    assert len(encoding.names) == len(encoding.sources) == len(encoding.blocks) == len(set(encoding.names))
    assert set(encoding.sources) == {"x", "day", "town", "z"}
    for name, source in zip(encoding.names, encoding.sources, strict=True):
        assert name.startswith(source)
    labels = dict(zip(encoding.names, encoding.blocks, strict=True))
    assert labels["x"] == labels["z"] == labels["x missing"]
    assert labels["town = Ulm"] == labels["town = Bonn"] != labels["x"]
    assert labels["day: Mon"] == labels["day: Sun"] != labels["day: year, sine"]


def test_a_later_table_is_read_as_the_first() -> None:
    """Row by row, whatever else is in the table; gaps and categories that training did not have are no error."""
    encoding, X = encoding_of(mixed().drop("note"))
    rows = encoding(X)
    few = [7, 50, 3]
    np.testing.assert_array_equal(encoding(X[few]), rows[few])
    later = X[few].with_columns(pl.lit("Rome").alias("town"), pl.lit(None, pl.Float64).alias("z"))
    odd = encoding(later)
    assert np.isfinite(odd).all()
    same = [s not in ("town", "z") for s in encoding.sources]
    np.testing.assert_array_equal(odd[:, same], rows[few][:, same])
    assert not odd[:, [s == "town" for s in encoding.sources]].any()


def test_what_is_written_goes_through() -> None:
    encoding, X = encoding_of(mixed())
    frame = encoding(X)
    assert frame.columns == [*encoding.columns, "note"]
    assert frame["note"].to_list() == X["note"].to_list()
    plain, Y = encoding_of(mixed().drop("note"))
    np.testing.assert_array_equal(frame.select(encoding.columns).to_numpy(), plain(Y))


def test_molecules_are_described() -> None:
    pytest.importorskip("rdkit")
    from rdkit import Chem
    from rdkit.Chem import Descriptors

    smiles = ["CCO", "c1ccccc1C(=O)O", "C[NH3+]", "CC(C)Cc1ccc(cc1)C(C)C(=O)O", "N#CC", "OCC(O)CO"] * 3
    encoding, X = encoding_of(pl.DataFrame({"smiles": smiles}))
    assert encoding.written == {"smiles": "molecule"}
    rows = encoding(X).select(encoding.columns).to_numpy()
    described = {name.removesuffix(" of smiles"): j for j, name in enumerate(encoding.names)}
    assert len(described) >= 12
    assert set(encoding.sources) == {"smiles"}
    for label, j in described.items():
        function = Chem.GetFormalCharge if label == "FormalCharge" else getattr(Descriptors, label)
        number = encoding.numbers[j]
        truth = [function(Chem.MolFromSmiles(s)) for s in smiles]
        z = (np.array(truth) - number.median) / number.spread
        near = np.abs(z) <= 8
        np.testing.assert_allclose(rows[near, j], z[near], atol=1e-9, err_msg=label)


def test_views_in_words() -> None:
    assert [str(view) for view in (View(), RANK, BY_REGRESSION)] == ["", "ranks", "gaps filled by regression"]
