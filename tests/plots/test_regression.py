"""Bands, predictions and residuals are those of the regressor."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

import mercer as mc
from mercer.plots import RegressionDisplay, ResidualDisplay
from tests.plots.drawn import drawn, title, words

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (50, 1))
y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(50)
X3 = rng.standard_normal((60, 3))
y3 = X3 @ [1.0, -2.0, 0.0] + 0.1 * rng.standard_normal(60)


def test_band_of_the_posterior() -> None:
    ridge = mc.KernelRidge(0.1, mc.Gaussian(1.0)).fit(X, y)
    display = drawn(RegressionDisplay.from_estimator(ridge, X, y, coverage=0.8, resolution=20))
    mean, std = ridge.predict(display.at[:, None], return_std=True, include_noise=True)
    half = stats.norm.ppf(0.9) * std
    np.testing.assert_allclose(display.predicted, mean)
    np.testing.assert_allclose([display.lower, display.upper], [mean - half, mean + half])
    np.testing.assert_array_equal(display.scatter_.get_offsets(), np.column_stack([X[:, 0], y]))
    assert (display.at[0], display.at[-1]) == (X.min(), X.max())
    assert words(display) == ["80 % of the posterior", "f(x)", "samples"]
    assert title(display) == "KernelRidge over column 0"


@pytest.mark.thorough
def test_band_of_another_library() -> None:
    process = GaussianProcessRegressor(alpha=0.1).fit(X, y)
    display = drawn(RegressionDisplay.from_estimator(process, X, y, resolution=5))
    mean, std = process.predict(display.at[:, None], return_std=True)
    np.testing.assert_allclose(display.upper, mean + stats.norm.ppf(0.95) * std)


def test_band_of_quantiles_in_any_order() -> None:
    machine = mc.KernelQuantile([0.9, 0.1, 0.5], 0.1, mc.Gaussian(1.0)).fit(X, y)
    display = drawn(RegressionDisplay.from_estimator(machine, X, y, resolution=10))
    found = machine.predict(display.at[:, None])
    np.testing.assert_allclose([display.upper, display.lower, display.predicted], found.T)
    assert display.band == "quantiles 0.1 to 0.9"


def test_two_quantiles_have_their_middle() -> None:
    machine = mc.KernelQuantile([0.1, 0.9], 0.1, mc.Gaussian(1.0)).fit(X, y)
    display = drawn(RegressionDisplay.from_estimator(machine, X, y, resolution=5, band=None))
    np.testing.assert_allclose(display.predicted, machine.predict(display.at[:, None]).mean(axis=1))
    assert display.lower is None
    both = mc.ConformalRegressor(machine).fit(X, y)
    display = drawn(RegressionDisplay.from_estimator(both, X, y, resolution=5))
    np.testing.assert_allclose(display.predicted, both.predict(display.at[:, None]))


def test_a_model_of_a_table_with_categories() -> None:
    class Model:
        """The age, ten more in Rome."""

        def predict(self, table: pl.DataFrame) -> Any:
            return table["age"].to_numpy() + 10 * (table["town"] == "Rome").to_numpy()

        def predict_interval(self, table: pl.DataFrame, coverage: float = 0.9) -> Any:
            return self.predict(table)[:, None] + coverage * np.array([-1, 1])

    table = pl.DataFrame({"age": [20, 30, 40], "town": ["Rome", "Oslo", "Rome"]})
    display = drawn(RegressionDisplay.from_estimator(Model(), table, [30, 30, 50], column="age", resolution=3))
    np.testing.assert_array_equal(display.predicted, [30, 40, 50])
    np.testing.assert_array_equal(display.upper, display.predicted + 0.9)
    assert title(display).endswith("the other columns at their medians and most frequent values")


@pytest.mark.thorough
def test_band_of_conformal_intervals() -> None:
    model = mc.ConformalRegressor(mc.KernelRidge(0.1), coverage=0.8).fit(X, y)
    display = drawn(RegressionDisplay.from_estimator(model, X, y, resolution=10))
    np.testing.assert_allclose(
        np.column_stack([display.lower, display.upper]), model.predict_interval(display.at[:, None])
    )
    assert display.band == "interval that holds 80 %"


def test_without_a_band() -> None:
    for machine, band in ((LinearRegression(), "auto"), (mc.KernelRidge(), None), (mc.SVR(), "auto")):
        display = drawn(RegressionDisplay.from_estimator(machine.fit(X, y), X, y, band=band, resolution=4))
        assert (display.band_, display.lower) == (None, None)
    # with centers what a posterior needs is gathered where that is asked for
    few = mc.KernelRidge(centers=10, random_state=0).fit(X, y)
    assert drawn(RegressionDisplay.from_estimator(few, X, y)).band_ is None
    with pytest.raises(ValueError, match="uncertainty=True"):
        RegressionDisplay.from_estimator(few, X, y, band="std")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_over_one_of_several_columns(frame: Any) -> None:
    table = frame({"a": X3[:, 0], "b": X3[:, 1], "c": X3[:, 2]})
    ridge = mc.KernelRidge(0.1).fit(table, y3)
    display = drawn(RegressionDisplay.from_estimator(ridge, table, y3, column="b", resolution=7))
    rows = np.tile(np.median(X3, axis=0), (7, 1))
    rows[:, 1] = np.linspace(X3[:, 1].min(), X3[:, 1].max(), 7)
    np.testing.assert_allclose(display.predicted, ridge.predict(frame(dict(zip("abc", rows.T, strict=True)))))
    assert title(display) == "KernelRidge over b, the other columns at their medians"
    assert display.ax_.get_xlabel() == "b"


def test_predicted_against_observed() -> None:
    model = mc.ConformalRegressor(mc.KernelRidge(0.1)).fit(X3, y3)
    display = drawn(RegressionDisplay.from_estimator(model, X3, y3))
    predicted, ends = model.predict(X3), model.predict_interval(X3)
    np.testing.assert_allclose(display.scatter_.get_offsets(), np.column_stack([y3, predicted]))
    inside = np.mean((ends[:, 0] <= y3) & (y3 <= ends[:, 1]))
    assert f"R² {r2_score(y3, predicted):.3g}" in title(display)
    assert f"{100 * inside:.3g} % of the points" in title(display)
    again = drawn(RegressionDisplay.from_predictions(y3, predicted, interval=ends))
    np.testing.assert_array_equal(again.lower, display.lower)


def test_two_points_and_thousands() -> None:
    drawn(RegressionDisplay.from_estimator(LinearRegression().fit(X[:2], y[:2]), X[:2], y[:2]))
    drawn(RegressionDisplay.from_predictions([1.0, 1.0], [1.0, 2.0]))
    many = rng.standard_normal(5000)
    display = drawn(RegressionDisplay.from_predictions(many, many + 1, max_points=1500))
    assert len(display.scatter_.get_offsets()) == 1500
    assert "1500 of 5000 points shown" in title(display)


def test_on_axes_given() -> None:
    figure, ax = plt.subplots()
    display = RegressionDisplay.from_predictions(y, y, ax=ax, color="black")
    assert (display.ax_, plt.get_fignums()) == (ax, [figure.number])


def test_refuses() -> None:
    ridge = mc.KernelRidge().fit(X, y)
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (mc.SVC().fit(X, y > 0), {}, "MachineDisplay"),
        (ridge, {"band": "interval"}, "no predict_interval"),
        (ridge, {"band": "quantiles"}, "no several quantiles"),
        (LinearRegression().fit(X, y), {"band": "std"}, "return_std"),
        (mc.KernelRidge().fit(X, np.column_stack([y, y])), {}, "several outputs"),
        (ridge, {"band": "wide"}, "band='wide'"),
        (ridge, {"coverage": 1.0}, "coverage=1"),
        (ridge, {"column": 1}, "column=1: there are 1"),
        (ridge, {"column": "z"}, "no such column"),
        (ridge, {"resolution": 1}, "resolution=1"),
        (ridge, {"max_points": 0}, "at least one"),
    ]
    for machine, options, message in cases:
        with pytest.raises(ValueError, match=message):
            RegressionDisplay.from_estimator(machine, X, y, **options)
    with pytest.raises(ValueError, match="has no numbers"):
        RegressionDisplay.from_estimator(ridge, X, ["a"] * 50)
    with pytest.raises(ValueError, match="two ends"):
        RegressionDisplay.from_predictions(y, y, interval=y)
    words_of = pd.DataFrame({"a": ["u", "v"], "b": [1.0, 2.0]})
    with pytest.raises(ValueError, match="EffectDisplay"):
        RegressionDisplay.from_estimator(ridge, words_of, [0.0, 1.0], column="a")
    assert not plt.get_fignums()


# -- residuals -------------------------------------------------------------------------------------------------------


def test_residuals_and_their_quantiles() -> None:
    ridge = mc.KernelRidge(0.1).fit(X3, y3)
    display = drawn(ResidualDisplay.from_estimator(ridge, X3, y3))
    residuals = y3 - ridge.predict(X3)
    np.testing.assert_allclose(display.scatter_.get_offsets()[:, 1], residuals)
    expected, found, lower, upper = display.quantiles
    np.testing.assert_allclose(found, np.sort(stats.zscore(residuals, ddof=1)))
    simulated = np.sort(rng.standard_normal((20000, 60)), axis=1)
    np.testing.assert_allclose(expected, np.median(simulated, axis=0), atol=0.05)
    np.testing.assert_allclose([lower, upper], np.quantile(simulated, [0.025, 0.975], axis=0), atol=0.1)


def test_the_mean_of_residuals_follows_what_f_misses() -> None:
    x = np.linspace(-1, 1, 600)
    display = drawn(ResidualDisplay.from_predictions(x + x**2, x))
    at, mean = display.means
    np.testing.assert_allclose(mean, at**2, atol=0.01)
    np.testing.assert_allclose(display.mean_.get_ydata(), mean)


@pytest.mark.thorough
def test_residuals_of_two_points_and_of_thousands() -> None:
    assert drawn(ResidualDisplay.from_predictions([1.0, 2.0], [1.0, 1.0])).mean_ is None
    drawn(ResidualDisplay.from_predictions([1.0], [1.0]))
    many = rng.standard_normal(4000)
    display = drawn(ResidualDisplay.from_predictions(many, np.zeros(4000)))
    assert len(display.scatter_.get_offsets()) == 3000
    assert display.quantiles_.get_ydata().max() == display.quantiles[1].max()  # the ends are always there
    _, ax = plt.subplots()
    assert display.plot(ax).quantiles_ is None
    with pytest.raises(ValueError, match="no more axes"):
        display.plot([ax, ax, ax])
    with pytest.raises(ValueError, match="ConfusionDisplay"):
        ResidualDisplay.from_estimator(mc.SVC().fit(X, y > 0), X, y)
