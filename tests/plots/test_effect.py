"""Effects are partial dependences, whoever computes them."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import mercer as mc
from mercer.plots import EffectDisplay
from mercer.plots.columns import Columns
from tests.plots.drawn import drawn, title

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 3))
y = X[:, 0] * X[:, 1] + X[:, 2]
TOWNS = np.array(["Rome", "Oslo", "Rome", "Bern"] * 20)
TABLE = {"age": X[:, 0], "town": TOWNS, "members": rng.integers(0, 4, 80)}
RICH = np.where(X[:, 0] + (TOWNS == "Oslo") > 0.3, "yes", "no")


def _reference(machine: Any, table: Any, column: Any, grid: Any, **options: Any) -> Any:
    found = partial_dependence(
        machine, table, [column], custom_values={column: grid}, method="brute", kind="both", **options
    )
    return found["average"][0], found["individual"][0]


def test_numbers_are_those_of_scikit_learn() -> None:
    ridge = mc.KernelRidge(0.1).fit(X, y)
    display = drawn(EffectDisplay.from_estimator(ridge, X, [0, 2], resolution=9))
    for column, effect in zip([0, 2], display.effects, strict=True):
        average, curves = _reference(ridge, X, column, effect.grid)
        np.testing.assert_allclose(effect.average, average)
        np.testing.assert_allclose(effect.curves, curves)
        np.testing.assert_allclose(effect.grid, np.quantile(X[:, column], np.linspace(0.01, 0.99, 9)))


def test_curves_are_drawn_from_their_first_value() -> None:
    ridge = mc.KernelRidge(0.1).fit(X, y)
    display = drawn(EffectDisplay.from_estimator(ridge, X, 1, resolution=5))
    effect = display.effects[0]
    np.testing.assert_allclose(display.averages_[0].get_ydata(), effect.average - effect.average[0])
    np.testing.assert_allclose(display.curves_[0][7].get_ydata(), effect.curves[7] - effect.curves[7, 0])
    assert display.ax_.get_ylabel() == "change of prediction"
    display.centered = False
    drawn(display.plot(max_curves=0))
    np.testing.assert_allclose(display.averages_[0].get_ydata(), effect.average)
    assert display.curves_ == [[]]
    assert display.ax_.get_ylabel() == "prediction"


@pytest.mark.parametrize("target", [0, 1, 2])
@pytest.mark.parametrize("response", ["predict_proba", "decision_function"])
def test_classes(target: int, response: str) -> None:
    labels = np.digitize(y, [-0.5, 0.5])
    machine = LogisticRegression().fit(X, labels)
    display = drawn(EffectDisplay.from_estimator(machine, X, 0, target=target, response=response, resolution=4))
    grid = display.effects[0].grid
    found = partial_dependence(
        machine, X, [0], custom_values={0: grid}, method="brute", kind="average", response_method=response
    )
    np.testing.assert_allclose(display.effects[0].average, found["average"][target])


def test_the_first_of_two_classes_is_the_other_sign() -> None:
    machine = mc.SVC().fit(X, y > 0)
    second, first = (EffectDisplay.from_estimator(machine, X, 0, target=t) for t in (None, False))
    np.testing.assert_array_equal(first.effects[0].curves, -second.effects[0].curves)
    assert second.response == "decision function for True"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.thorough
def test_categories_are_bars(frame: Any) -> None:
    encoder = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    machine = make_pipeline(encoder, LogisticRegression()).fit(frame(TABLE), RICH)
    display = drawn(EffectDisplay.from_estimator(machine, frame(TABLE), ["age", "town", "members"], target="yes"))
    age, town, members = display.effects
    assert town.grid == ["Rome", "Bern", "Oslo"]  # the most frequent first
    assert members.grid.tolist() == [0, 1, 2, 3]
    for k, name in enumerate(town.grid):
        rows = pd.DataFrame(TABLE).assign(town=name)
        expected = machine.predict_proba(frame({c: rows[c].to_numpy() for c in rows}))[:, 1]
        np.testing.assert_allclose(town.curves[:, k], expected)
    heights = [bar.get_height() for bar in display.averages_[1]]
    np.testing.assert_allclose(heights, town.average - town.average[0])
    assert display.axes_[1].get_xlabel() == "town (against Rome)"
    assert display.axes_[0].get_ylabel() == "change of P(yes)"
    assert display.figure_.get_suptitle() == "Pipeline: effect of columns, the others as they are"
    average, _ = (
        _reference(machine, pd.DataFrame(TABLE), "age", age.grid) if frame is pd.DataFrame else (age.average, 0)
    )
    np.testing.assert_allclose(age.average, average)


@pytest.mark.slow
def test_a_model_of_a_table() -> None:
    frame = pl.DataFrame(TABLE)
    model = mc.TableModel(seconds=1.0, random_state=0).fit(frame, RICH)
    display = drawn(EffectDisplay.from_estimator(model, frame, ["age", "town"], target="yes", resolution=3))
    put = frame.with_columns(pl.lit(display.effects[0].grid[1]).alias("age"))
    np.testing.assert_allclose(display.effects[0].curves[:, 1], model.predict_proba(put)[:, 1])
    put = frame.with_columns(pl.lit("Oslo").alias("town"))
    k = display.effects[1].grid.index("Oslo")
    np.testing.assert_allclose(display.effects[1].curves[:, k], model.predict_proba(put)[:, 1])


def test_a_dollar_is_no_mathematics() -> None:
    class Model:
        classes_ = ("low$", "$high$_")

        def predict_proba(self, table: Any) -> Any:
            return np.full((len(table), 2), 0.5)

    table = pd.DataFrame({"$_$": ["$^$", "b"], "n$_$": [1.0, 2.0]})
    display = drawn(EffectDisplay.from_estimator(Model(), table, "$_$"))
    assert display.ax_.get_xlabel() == r"\$_\$ (against \$^\$)"
    assert display.ax_.get_xticklabels()[0].get_text() == r"\$^\$"
    assert r"effect of \$_\$" in title(display)
    assert display.ax_.get_ylabel() == r"change of P(\$high\$_)"
    drawn(EffectDisplay.from_estimator(Model(), table, ["$_$", "n$_$"]))


def test_two_rows_and_thousands() -> None:
    ridge = mc.KernelRidge().fit(X, y)
    drawn(EffectDisplay.from_estimator(ridge, X[:2], 0))
    many = rng.standard_normal((3000, 3))
    display = drawn(EffectDisplay.from_estimator(ridge, many, 0, resolution=5, max_rows=200))
    assert display.effects[0].curves.shape == (200, 5)
    assert len(display.curves_[0]) == 100
    assert "200 of 3000 rows used" in title(display)


def test_on_axes_given() -> None:
    figure, axes = plt.subplots(1, 2)
    ridge = mc.KernelRidge().fit(X, y)
    display = EffectDisplay.from_estimator(ridge, X, [0, 1], ax=axes)
    assert (display.axes_, plt.get_fignums()) == (list(axes), [figure.number])
    with pytest.raises(ValueError, match="as many axes"):
        display.plot(axes[0])
    with pytest.raises(ValueError, match="no more axes"):
        EffectDisplay.from_estimator(ridge, X, 0, ax=axes)


def test_refuses() -> None:
    ridge, labels = mc.KernelRidge().fit(X, y), np.digitize(y, [-0.5, 0.5])
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        (ridge, 3, {}, "column=3: there are 3"),
        (ridge, [], {}, "at least one"),
        (ridge, 0, {"response": "predict_proba"}, "no predict_proba"),
        (ridge, 0, {"response": "f"}, "response='f'"),
        (ridge, 0, {"tails": 0.5}, "tails=0.5"),
        (ridge, 0, {"resolution": 1}, "resolution=1"),
        (mc.SVC().fit(X, labels), 0, {}, "3 classes: choose one"),
        (mc.SVC().fit(X, labels), 0, {"target": 7}, "target=7"),
        (mc.SVC().fit(X, labels), 0, {"response": "predict", "target": 1}, "predicts classes"),
        (mc.KernelRidge().fit(X, X[:, :2]), 0, {}, "2 outputs"),
        (mc.KernelRidge(kernel="precomputed").fit(X @ X.T, y), 0, {}, "precomputed"),
    ]
    for machine, columns, options, message in cases:
        with pytest.raises(ValueError, match=message):
            EffectDisplay.from_estimator(machine, X, columns, **options)
    assert not plt.get_fignums()


# -- tables by their columns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_typical_row_and_other_values(frame: Any) -> None:
    table = Columns.of(
        frame({"n": [1, 2, 5], "word": ["u", "v", "v"], "gap": [1.0, None, 3.0], "yes": [True, True, False]})
    )
    row = table.typical().native()
    assert row["n"][0] == 2
    assert row["word"][0] == "v"
    assert row["gap"][0] == 2.0
    assert bool(row["yes"][0])
    assert [table.is_number(j) for j in range(4)] == [True, False, True, False]
    put = table.put(0, [0.5, 1.5, 2.5]).native()
    assert put["n"].to_list() == [0.5, 1.5, 2.5]
    assert put["word"].to_list() == ["u", "v", "v"]
    assert len(table.repeated(3)) == 9


def test_rows_of_pandas_keep_what_they_are_called() -> None:
    frame = pd.DataFrame({"n": [1.0, 2.0], "kind": pd.Categorical(["u", "v"])}, index=[7, 7])
    table = Columns.of(frame)
    put = table.put(0, [3.0, 4.0]).put(1, "v").native()
    assert put["n"].tolist() == [3.0, 4.0]
    assert put["kind"].tolist() == ["v", "v"]
    assert put["kind"].dtype == "category"


def test_nothing_to_show() -> None:
    with pytest.raises(ValueError, match="nothing to show in 0 rows"):
        Columns.of(np.empty((0, 2)))
    with pytest.raises(ValueError, match="samples × columns"):
        Columns.of(np.ones(3))
