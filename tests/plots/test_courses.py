"""How a model came about: its fit, its search, its weights, and the spectrum of its kernel."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

import mercer as mc
from mercer.plots import ConvergenceDisplay, SpectrumDisplay, ValidationDisplay, WeightsDisplay
from mercer.plots.validation import is_geometric
from tests.plots.drawn import drawn, title, words

X, y = make_moons(120, noise=0.25, random_state=0)
KERNELS = [mc.Gaussian(0.1), mc.Gaussian(3.0), mc.Linear()]


# -- fits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine", [mc.SVC(C=10.0), mc.KernelLogistic(0.1), mc.KernelRidge(0.1, solver="cg")], ids=repr
)
def test_a_fit_is_recorded_to_its_end(machine: Any) -> None:
    display = drawn(ConvergenceDisplay.record(machine, X, y))
    (course,) = display.courses
    # a fit that nobody listens to may take its last steps all at once
    fitted = type(machine)(**{**machine.get_params(deep=False), "progress": lambda state: None}).fit(X, y)
    assert course["value"][-1] <= machine.tol
    assert course["n_iter"][-1] == fitted.n_iter_
    assert np.all(np.diff(course["seconds"]) >= 0)
    assert display.tolerance_.get_ydata()[0] == machine.tol
    assert display.ax_.get_yscale() == "log"
    assert machine.progress is None
    assert not hasattr(machine, "gap_")  # the estimator itself stays as it is
    assert "ended by 'gap'" in title(display)


def test_a_course_over_seconds_and_another_measure() -> None:
    display = drawn(ConvergenceDisplay.record(mc.KernelLogistic(0.1), X, y, over="seconds", measure="objective"))
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), display.courses[0]["seconds"])
    assert np.all(np.diff(display.courses[0]["value"]) <= 1e-9)  # Newton's steps descend
    assert (display.tol, display.ax_.get_yscale(), display.ax_.get_xlabel()) == (None, "linear", "seconds")


def test_courses_that_machines_keep() -> None:
    machine = mc.MKLClassifier(kernel=KERNELS).fit(X, y)
    display = drawn(ConvergenceDisplay.from_estimator(machine))
    np.testing.assert_array_equal(display.courses[0]["value"], [step["gap"] for step in machine.history_])
    recorded = ConvergenceDisplay.record(mc.MKLClassifier(kernel=KERNELS), X, y)
    np.testing.assert_allclose(recorded.courses[0]["value"], display.courses[0]["value"], rtol=1e-6)
    clusters = mc.KernelKMeans(3, random_state=0).fit(X)
    display = drawn(ConvergenceDisplay.from_estimator(clusters))
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), clusters.objectives_)


@pytest.mark.thorough
def test_several_problems_are_apart_or_mixed() -> None:
    display = drawn(ConvergenceDisplay.record(mc.KernelQuantile([0.1, 0.9], 0.1), X, X[:, 0]))
    values = np.concatenate([course["value"] for course in display.courses])
    assert len(values) >= 2
    steps = [{"n_iter": i, "gap": 1 / (i + 1)} for i in (0, 3, 0, 2, 5)]
    two = SimpleNamespace(tol=0.1, intercept_=np.zeros(2))
    apart = drawn(ConvergenceDisplay._of(two, steps, None, None, "n_iter", None, {}))
    assert [course["n_iter"].tolist() for course in apart.courses] == [[0, 3], [0, 2, 5]]
    assert words(apart) == ["problem 1", "problem 2", "tol = 0.1"]
    three = SimpleNamespace(tol=0.1, intercept_=np.zeros(3))
    mixed = drawn(ConvergenceDisplay._of(three, steps, None, None, "n_iter", None, {}))
    assert mixed.mixed
    assert mixed.lines_[0].get_linestyle() == "None"
    assert "several problems at a time" in title(mixed)


def test_courses_are_refused() -> None:
    with pytest.raises(ValueError, match=r"ConvergenceDisplay\.record"):
        ConvergenceDisplay.from_estimator(mc.SVC().fit(X, y))
    with pytest.raises(ValueError, match="no parameter progress"):
        ConvergenceDisplay.record(LogisticRegression(), X, y)
    with pytest.raises(ValueError, match="measure='objective'"):
        ConvergenceDisplay.record(mc.SVC(), X, y, measure="objective")
    with pytest.raises(ValueError, match="over='hours'"):
        ConvergenceDisplay([], over="hours")
    with pytest.raises(ValueError, match="kept by steps"):
        ConvergenceDisplay([{"n_iter": X[:2, 0], "value": X[:2, 1]}], over="seconds")
    assert not plt.get_fignums()


# -- searches --------------------------------------------------------------------------------------------------------


def _search(grid: Any, peer: bool = False) -> Any:
    machine = mc.SVC(kernel=mc.Gaussian(1.0))
    return (GridSearchCV if peer else mc.KernelSearchCV)(machine, grid, cv=4).fit(X, y)


def _means(search: Any) -> dict[tuple[float, float], float]:
    results = search.cv_results_
    return {
        (one["C"], one["kernel__gamma"]): mean
        for mean, one in zip(results["mean_test_score"], results["params"], strict=True)
    }


@pytest.mark.parametrize("peer", [False, True])
def test_a_curve_with_its_standard_error(peer: bool) -> None:
    search = _search({"C": [10.0, 0.1, 1.0]}, peer)  # numbers are sorted
    display = drawn(ValidationDisplay.from_search(search))
    order, results = [1, 2, 0], search.cv_results_
    splits = np.array([results[f"split{k}_test_score"] for k in range(4)])[:, order]
    np.testing.assert_allclose(display.scores, splits.mean(axis=0))
    np.testing.assert_allclose(display.errors, stats.sem(splits, axis=0))
    assert display.values == [[0.1, 1.0, 10.0]]
    assert display.ax_.get_xscale() == "log"
    assert display.values[0][display.best[0]] == search.best_params_["C"]
    np.testing.assert_allclose(display.best_.get_ydata(), search.best_score_)


@pytest.mark.thorough
def test_a_surface_and_the_best_of_the_rest() -> None:
    search = _search({"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.1, 1.0], "class_weight": [None, "balanced"]})
    display = drawn(ValidationDisplay.from_search(search, ("C", "kernel__gamma")))
    for i, C in enumerate([0.1, 1.0, 10.0]):
        for j, gamma in enumerate([0.1, 1.0]):
            scores = [
                mean
                for mean, one in zip(search.cv_results_["mean_test_score"], search.cv_results_["params"], strict=True)
                if (one["C"], one["kernel__gamma"]) == (C, gamma)
            ]
            assert display.scores[i, j] == max(scores)
    assert display.scores[display.best] == search.best_score_
    assert "the best over class_weight" in title(display)
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "log")
    rest = _search({"C": [0.1, 10.0], "kernel__gamma": [1.0, 1e-4]})  # the last that is tried is the worst
    means = _means(rest)
    assert means[10.0, 1.0] > means[10.0, 1e-4]
    np.testing.assert_array_equal(
        ValidationDisplay.from_search(rest, "C").scores, [max(means[C, 1.0], means[C, 1e-4]) for C in (0.1, 10.0)]
    )
    cells = drawn(ValidationDisplay.from_search(search, ["class_weight", "kernel__gamma"]))
    assert words(cells)[-2:] == ["None", "balanced"]  # two kinds: a curve each
    with pytest.raises(ValueError, match="3 parameters"):
        ValidationDisplay.from_search(search)
    with pytest.raises(ValueError, match="choose one or two of C"):
        ValidationDisplay.from_search(search, "alpha")


@pytest.mark.thorough
def test_kinds() -> None:
    search = _search({"kernel": KERNELS, "class_weight": [None, "balanced"]})
    display = drawn(ValidationDisplay.from_search(search))
    assert display.surface_.get_array().shape == (3, 2)
    assert len(display.ax_.texts) == 6
    one = drawn(ValidationDisplay.from_search(_search({"kernel": KERNELS})))
    assert [tick.get_text() for tick in one.ax_.get_xticklabels()] == [str(k) for k in KERNELS]
    assert one.lines_[0][0].get_linestyle() == "None"
    several = drawn(ValidationDisplay.from_search(_search({"kernel": KERNELS, "C": [0.1, 1.0]})))
    assert len(several.lines_) == 3


@pytest.mark.thorough
def test_grids_that_are_not_full() -> None:
    drawn(ValidationDisplay.from_search(_search([{"C": [1.0], "kernel__gamma": [0.1]}, {"C": [2.0]}])))
    without = _search([{"C": [1e-4], "kernel__gamma": [0.01, 0.02]}, {"C": [10.0]}])
    assert without.best_params_ == {"C": 10.0}
    display = drawn(ValidationDisplay.from_search(without, "kernel__gamma"))
    assert display.scores[display.best] == max(without.cv_results_["mean_test_score"][:2])
    apart = _search([{"C": [1.0, 2.0]}, {"kernel__gamma": [0.1, 1.0]}])
    with pytest.raises(ValueError, match="No candidate"):
        ValidationDisplay.from_search(apart)
    random = RandomizedSearchCV(
        mc.SVC(kernel=mc.Gaussian(1.0)),
        {"C": stats.loguniform(0.1, 100), "kernel__gamma": stats.loguniform(0.1, 10)},
        n_iter=6,
        cv=2,
        random_state=0,
    ).fit(X, y)
    display = drawn(ValidationDisplay.from_search(random))
    assert np.isfinite(display.scores).sum() == 6
    assert display.scores[display.best] == random.best_score_
    line = drawn(ValidationDisplay.from_search(random, "C"))
    assert not line.joined
    assert "each with its own kernel__gamma" in title(line)
    drawn(ValidationDisplay.from_search(_search({"C": [1.0]})))


@pytest.mark.parametrize(
    ("values", "log"), [([1, 2, 3], False), ([1, 10, 100], True), ([0.0, 1.0], False), ([1, 2], False), ([1, 10], True)]
)
def test_what_grows_by_a_factor(values: Any, log: bool) -> None:
    assert is_geometric(np.array(values, float)) == log


def test_no_search() -> None:
    with pytest.raises(ValueError, match="fit a KernelSearchCV"):
        ValidationDisplay.from_search(mc.SVC())


# -- spectra and weights ---------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_spectrum_is_that_of_the_matrix() -> None:
    K = mc.Gaussian(0.5)(X)
    display = drawn(SpectrumDisplay.from_kernel(mc.Gaussian(0.5), X, alphas=[0.01, 2.0]))
    values = np.linalg.eigvalsh(K)[::-1]
    np.testing.assert_allclose(display.eigenvalues, values, atol=1e-12)
    np.testing.assert_allclose(display.line_.get_ydata(), values[values > display.floor], atol=1e-12)
    expected = [np.trace(K @ np.linalg.inv(K + a * np.eye(120))) for a in (0.01, 2.0)]
    np.testing.assert_allclose(display.dimensions, expected, rtol=1e-9)
    np.testing.assert_allclose(display.dimensions[1], mc.effective_dimension(K, 2.0))
    np.testing.assert_allclose(display.shares[9], values[:10].sum() / np.trace(K))
    r = display.rank(0.9)
    assert values[:r].sum() >= 0.9 * np.trace(K) > values[: r - 1].sum()
    assert words(display)[2] == f"α = 2: dimension {expected[1]:.3g}"


@pytest.mark.thorough
def test_the_spectrum_of_many_rows_is_estimated_from_some() -> None:
    points = np.random.default_rng(0).standard_normal((600, 2))
    display = drawn(SpectrumDisplay.from_kernel(mc.Gaussian(0.5), points, max_rows=250, alphas=1.0))
    whole = np.linalg.eigvalsh(mc.Gaussian(0.5)(points))[::-1]
    np.testing.assert_allclose(display.eigenvalues[:5], whole[:5], rtol=0.15)
    assert display.dimensions[0] == pytest.approx(np.sum(whole / (whole + 1)), rel=0.15)
    assert "from 250 of 600 rows" in title(display)


@pytest.mark.thorough
def test_small_and_indefinite_spectra() -> None:
    display = drawn(SpectrumDisplay.from_gram(np.diag([4.0, 1.0, -0.5, 1e-18]), alphas=1.0))
    assert "1 are 0 up to rounding" in title(display)
    assert display.dimensions == [pytest.approx(0.8 + 0.5)]
    drawn(SpectrumDisplay.from_gram([[2.0]]))
    drawn(SpectrumDisplay.from_gram(np.zeros((2, 2))))
    _, ax = plt.subplots()
    assert display.plot(ax).share_ is None
    for K, options, message in (
        (np.ones((2, 3)), {}, "square"),
        ([[1.0, 2.0], [0.0, 1.0]], {}, "not symmetric"),
        (np.eye(2), {"alphas": [0.0]}, "ridges are positive"),
        (np.eye(2), {"max_rows": 0}, "at least one"),
    ):
        with pytest.raises(ValueError, match=message):
            SpectrumDisplay.from_gram(K, **options)


def test_weights_of_kernels() -> None:
    machine = mc.MKLClassifier(kernel={"wide": KERNELS[0], "narrow": KERNELS[1], "a$b": KERNELS[2]}).fit(X, y)
    display = drawn(WeightsDisplay.from_estimator(machine))
    assert [bar.get_width() for bar in display.bars_] == sorted(machine.weights_)
    top = display.ax_.get_yticklabels()[-1].get_text()
    assert top == machine.kernel_names_[int(machine.weights_.argmax())].replace("$", r"\$")
    assert title(display).startswith(f"MKLClassifier: {np.count_nonzero(machine.weights_)} of 3 kernels")


def test_weights_of_many_kernels_and_of_one() -> None:
    many = drawn(WeightsDisplay(np.arange(40.0), [f"kernel {m}" for m in range(40)]).plot())
    assert [bar.get_width() for bar in many.bars_] == list(range(10, 40))
    drawn(WeightsDisplay(np.zeros(1), ["nothing"]).plot())
    _, ax = plt.subplots()
    assert many.plot(ax).ax_ is ax
    with pytest.raises(ValueError, match="no weights_"):
        WeightsDisplay.from_estimator(mc.SVC().fit(X, y))
    with pytest.raises(ValueError, match="2 names for weights of shape"):
        WeightsDisplay(np.ones(3), ["a", "b"])
