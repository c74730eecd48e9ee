"""How good predictions are, against independent computations of it."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, confusion_matrix

import mercer as mc
from mercer.plots import CalibrationDisplay, ConfusionDisplay
from mercer.plots.calibration import wilson
from tests.plots.drawn import drawn, title

rng = np.random.default_rng(0)
P = rng.uniform(size=500) ** 2
CAME = rng.uniform(size=500) < P
X = rng.standard_normal((90, 2))
KINDS = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.5])


# -- probabilities ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_curve_is_that_of_scikit_learn(strategy: str) -> None:
    display = drawn(CalibrationDisplay.from_predictions(CAME, P, n_bins=7, strategy=strategy))
    observed, predicted = calibration_curve(CAME, P, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(display.observed, observed)
    np.testing.assert_allclose(display.predicted, predicted)
    np.testing.assert_allclose(display.line_.get_xydata(), np.column_stack([predicted, observed]))
    assert display.counts.sum() == 500


@pytest.mark.parametrize("bins", [1, 5, 400])
def test_the_parts_of_the_score_are_the_score(bins: int) -> None:
    display = CalibrationDisplay.from_predictions(CAME, P, n_bins=bins)
    parts = display.reliability - display.resolution + display.uncertainty + display.within
    assert parts == pytest.approx(display.brier, abs=1e-14)
    assert display.brier == pytest.approx(brier_score_loss(CAME, P))
    assert display.uncertainty == pytest.approx(np.var(CAME))


def test_of_few_different_probabilities_nothing_is_left_inside_of_bins() -> None:
    p = np.round(P * 4) / 4
    display = drawn(CalibrationDisplay.from_predictions(CAME, p, n_bins=4, strategy="uniform"))
    by_value = [(p == v, v) for v in (0.0, 0.25, 0.5, 0.75, 1.0)]
    top = (p >= 0.75, p[p >= 0.75].mean())  # 1 belongs to the last bin
    groups = [*by_value[:3], top]
    reliability = sum(g.mean() * (CAME[g].mean() - v) ** 2 for g, v in groups)
    assert display.reliability == pytest.approx(reliability)
    exact = CalibrationDisplay.from_predictions(CAME[p < 0.7], p[p < 0.7], n_bins=4, strategy="uniform")
    assert exact.within == pytest.approx(0.0, abs=1e-15)


def test_wilson_intervals() -> None:
    hits, n = np.array([0, 3, 40, 50]), np.array([10, 10, 50, 50])
    expected = [stats.binomtest(int(h), int(m)).proportion_ci(0.95, "wilson") for h, m in zip(hits, n, strict=True)]
    np.testing.assert_allclose(wilson(hits, n, 0.95), [(e.low, e.high) for e in expected], atol=1e-12)
    display = CalibrationDisplay.from_predictions(CAME, P)
    np.testing.assert_allclose(display.intervals, wilson(display.observed * display.counts, display.counts, 0.95))


@pytest.mark.thorough
def test_probabilities_of_a_machine() -> None:
    machine = mc.SVC(probability=True).fit(X, KINDS)
    display = drawn(CalibrationDisplay.from_estimator(machine, X, KINDS, target=1))
    np.testing.assert_array_equal(display.probabilities, machine.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(display.outcomes, KINDS == 1)
    assert f"SVC, Brier score {display.brier:.3f}" in title(display)
    words = np.array(["no", "yes"])[(KINDS > 0).astype(int)]
    display = drawn(CalibrationDisplay.from_estimator(LogisticRegression().fit(X, words), X, words))
    np.testing.assert_array_equal(display.outcomes, words == "yes")
    assert display.axes_[1].get_xlabel() == "predicted P(yes)"


@pytest.mark.thorough
def test_probabilities_of_two_samples_and_of_thousands() -> None:
    drawn(CalibrationDisplay.from_predictions([0, 1], [0.2, 0.9]))
    drawn(CalibrationDisplay.from_predictions([1, 1], [1.0, 1.0]))
    p = rng.uniform(size=20000)
    display = drawn(CalibrationDisplay.from_predictions(rng.uniform(size=20000) < p, p))
    assert display.reliability < 1e-3
    _, ax = plt.subplots()
    assert display.plot(ax).histogram_ is None


def test_probabilities_are_refused() -> None:
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        (CAME, P + 1, {}, "between 0 and 1"),
        (CAME[:3], P, {}, "each of 500 rows"),
        (CAME, np.column_stack([P, P]), {}, "one probability"),
        (np.arange(500) % 3, P, {}, "3 classes"),
        (CAME, P, {"n_bins": 0}, "n_bins=0"),
        (CAME, P, {"strategy": "even"}, "strategy='even'"),
    ]
    for y, p, options, message in cases:
        with pytest.raises(ValueError, match=message):
            CalibrationDisplay.from_predictions(y, p, **options)
    with pytest.raises(ValueError, match="no predict_proba"):
        CalibrationDisplay.from_estimator(mc.SVC().fit(X, KINDS), X, KINDS)
    assert not plt.get_fignums()


# -- confusions ------------------------------------------------------------------------------------------------------


def test_counts_are_those_of_scikit_learn() -> None:
    machine = mc.SVC(C=0.1).fit(X, KINDS)
    display = drawn(ConfusionDisplay.from_estimator(machine, X, KINDS))
    np.testing.assert_array_equal(display.counts, confusion_matrix(KINDS, machine.predict(X)))
    np.testing.assert_allclose(
        display.image_.get_array(), confusion_matrix(KINDS, machine.predict(X), normalize="true")
    )
    right = int((machine.predict(X) == KINDS).sum())
    assert f"SVC: {right} of 90 right" in title(display)
    assert sum(int(text.get_text().split("\n")[0]) for text in display.ax_.texts) == 90


def test_classes_in_the_order_given() -> None:
    y, p = ["low", "high", "high", "mid"], ["low", "low", "high", "high"]
    display = drawn(ConfusionDisplay.from_predictions(y, p, classes=["low", "mid", "high"]))
    np.testing.assert_array_equal(display.counts, confusion_matrix(y, p, labels=["low", "mid", "high"]))
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["low", "mid", "high"]
    assert display.pairs() == [("mid", "high", 1, 1.0), ("high", "low", 1, 0.5)]
    assert drawn(ConfusionDisplay.from_predictions(y, p)).classes.tolist() == ["high", "low", "mid"]


def test_of_many_classes_the_pairs_that_are_confused_most() -> None:
    y = rng.integers(0, 30, 3000)
    p = np.where(rng.uniform(size=3000) < 0.2, (y + 1) % 30, y)
    p[y == 4] = 5
    display = drawn(ConfusionDisplay.from_predictions(y, p))
    assert display.image_ is None
    assert display.pairs(1) == [(4, 5, int((y == 4).sum()), 1.0)]
    widths = [bar.get_width() for bar in display.bars_][::-1]
    wrong = confusion_matrix(y, p) * (1 - np.eye(30, dtype=int))
    assert widths == sorted(wrong.ravel(), reverse=True)[:20]
    assert "30 classes, the 20 pairs" in title(display)


def test_confusions_of_two_and_none() -> None:
    drawn(ConfusionDisplay.from_predictions([0, 1], [0, 0]))
    assert ConfusionDisplay.from_predictions([True], [True]).pairs() == []
    display = drawn(ConfusionDisplay.from_predictions(np.arange(25), np.arange(25)))  # nothing is confused
    assert display.pairs() == []
    with pytest.raises(ValueError, match="ResidualDisplay"):
        ConfusionDisplay.from_estimator(mc.KernelRidge().fit(X, KINDS), X, KINDS)
    with pytest.raises(ValueError, match="predictions are such as"):
        ConfusionDisplay.from_predictions(["a"], [1])
    with pytest.raises(ValueError, match="each of 2 rows"):
        ConfusionDisplay.from_predictions([1], [1, 2])
    with pytest.raises(ValueError, match="no rows"):
        ConfusionDisplay.from_predictions([], [])
