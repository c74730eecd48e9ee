"""The picture of a classifier is what the classifier says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.svm
from sklearn.datasets import load_iris, make_moons
from sklearn.neighbors import KNeighborsClassifier

import mercer as mc
from mercer.plots import MachineDisplay
from tests.plots.drawn import drawn, title, words

X, y = make_moons(60, noise=0.25, random_state=0)
IRIS, KINDS = load_iris(return_X_y=True)


class Sides:
    """f(x) = 2x₁: class "b" to the right, margins at x₁ = ±½."""

    classes_ = np.array(["a", "b"])
    n_support_ = np.array([1, 1])
    support_ = np.array([0, 1])
    support_vectors_ = np.array([[-0.5, 0.0], [0.5, 1.0]])

    def decision_function(self, X: Any) -> Any:
        return 2 * np.asarray(X)[:, 0]

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def _edge(contours: Any) -> Any:
    return np.concatenate([path.vertices for path in contours.get_paths() if len(path.vertices)])


def test_boundary_and_margins_lie_where_f_says() -> None:
    display = drawn(MachineDisplay.from_estimator(Sides(), X, np.where(y, "a", "b"), resolution=30))
    gx, _ = np.meshgrid(display.x, display.y)
    np.testing.assert_allclose(display.values, 2 * gx, atol=1e-12)
    np.testing.assert_allclose(_edge(display.boundary_)[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(_edge(display.margins_)[:, 0]), 0.5, atol=1e-12)
    np.testing.assert_array_equal(display.regions, gx > 0)
    np.testing.assert_array_equal(display.support_.get_offsets(), Sides.support_vectors_)
    for name, points in zip("ab", display.scatters_, strict=True):
        np.testing.assert_array_equal(points.get_offsets(), X[np.where(y, "a", "b") == name])
    assert words(display) == ["a", "b", "support vector", "margin, f = ±1"]
    assert title(display) == "Sides: 2 classes, 2 support vectors"


@pytest.mark.thorough
@pytest.mark.parametrize("machine", [mc.SVC(C=5.0), mc.NuSVC(0.4), sklearn.svm.SVC(C=5.0)], ids=repr)
def test_machines_with_margins(machine: Any) -> None:
    machine.fit(X, y)
    display = drawn(MachineDisplay.from_estimator(machine, X, y, resolution=15))
    at = np.array([[display.x[3], display.y[7]]])
    assert display.values[7, 3] == pytest.approx(machine.decision_function(at)[0])
    np.testing.assert_allclose(display.support, X[machine.support_])
    assert display.margins
    # labels of ±1 are classes, and no noise
    assert words(drawn(MachineDisplay.from_estimator(machine.fit(X, 2 * y - 1), X, resolution=5)))[:2] == ["-1", "1"]


def test_a_machine_without_margins_has_none() -> None:
    display = drawn(MachineDisplay.from_estimator(mc.KernelLogistic().fit(X, y), X, y, resolution=10))
    assert (display.margins_, display.support_, display.support) == (None, None, None)


@pytest.mark.parametrize("machine", [mc.SVC(), mc.KernelLogistic(), KNeighborsClassifier()], ids=repr)
def test_regions_of_several_classes_are_predictions(machine: Any) -> None:
    machine.fit(IRIS[:, 2:], KINDS)
    display = drawn(MachineDisplay.from_estimator(machine, IRIS[:, 2:], KINDS, resolution=12))
    grid = np.stack(np.meshgrid(display.x, display.y), axis=-1).reshape(-1, 2)
    np.testing.assert_array_equal(display.regions.ravel(), machine.predict(grid))
    assert words(display)[:3] == ["0", "1", "2"]
    assert len(display.surface_) == len(np.unique(display.regions))


def test_only_predict_and_only_probabilities() -> None:
    only = SimpleNamespace(classes_=np.array([0, 1]), predict=lambda X: (X[:, 1] > 0.2).astype(int))
    display = drawn(MachineDisplay.from_estimator(only, X, resolution=8))
    np.testing.assert_array_equal(display.regions[:, 0], display.y > 0.2)
    only.predict_proba = lambda X: np.column_stack([1 - X[:, 0] / 9, X[:, 0] / 9])
    display = drawn(MachineDisplay.from_estimator(only, X, resolution=8))
    np.testing.assert_allclose(display.values[0], display.x / 9)
    assert display.zero == 0.5


def test_on_the_principal_plane_named_in_the_title() -> None:
    machine = mc.SVC().fit(IRIS, KINDS > 0)
    display = drawn(MachineDisplay.from_estimator(machine, IRIS, KINDS > 0, resolution=8))
    assert "on the plane of the first two principal axes" in title(display)
    middle, axes = IRIS.mean(axis=0), np.linalg.svd(IRIS - IRIS.mean(axis=0))[2][:2]
    np.testing.assert_allclose(np.abs(display.support), np.abs((IRIS[machine.support_] - middle) @ axes.T), atol=1e-9)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_and_searches(frame: Any) -> None:
    table = frame({"width": X[:, 0], "height": X[:, 1]})
    search = mc.KernelSearchCV(mc.SVC(), {"C": [0.1, 1.0]}, cv=2).fit(table, y)
    display = drawn(MachineDisplay.from_estimator(search, table, y, resolution=6))
    assert display.ax_.get_xlabel() == "width"
    assert len(display.support) == len(search.best_estimator_.support_)
    assert title(display).startswith("SVC:")


@pytest.mark.thorough
def test_two_points_and_thousands() -> None:
    two = mc.SVC().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    drawn(MachineDisplay.from_estimator(two, np.array([[0.0, 0.0], [1.0, 1.0]]), [0, 1], resolution=5))
    many, labels = make_moons(4000, noise=0.2, random_state=0)
    machine = mc.SVC(centers=20, random_state=0).fit(many, labels)
    display = drawn(MachineDisplay.from_estimator(machine, many, labels, resolution=5, max_points=1000))
    assert sum(len(points.get_offsets()) for points in display.scatters_) == 1000
    assert title(display) == "SVC: 2 classes, 20 centers, 1000 of 4000 points shown"


@pytest.mark.thorough
def test_on_axes_given_and_a_class_that_the_machine_does_not_know() -> None:
    figure, ax = plt.subplots()
    display = MachineDisplay.from_estimator(Sides(), X[:3], ["a", "b", "c"], resolution=5, ax=ax, s=9)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert plt.get_fignums() == [figure.number]
    assert words(display)[:3] == ["a", "b", "c"]
    assert display.scatters_[0].get_sizes()[0] == 9


def test_a_dollar_is_no_mathematics() -> None:
    machine = mc.KernelLogistic().fit(pd.DataFrame({"a$1$": X[:, 0], "b$_$": X[:, 1]}), np.where(y, "5$_6$", "$x^$"))
    table = pd.DataFrame({"a$1$": X[:, 0], "b$_$": X[:, 1]})
    display = drawn(MachineDisplay.from_estimator(machine, table, resolution=5))
    assert words(display) == [r"\$x^\$", r"5\$_6\$"]
    assert display.ax_.get_xlabel() == r"a\$1\$"


def test_refuses() -> None:
    with pytest.raises(ValueError, match="RegressionDisplay"):
        MachineDisplay.from_estimator(mc.KernelRidge().fit(X, y), X)
    with pytest.raises(ValueError, match="precomputed"):
        MachineDisplay.from_estimator(mc.SVC(kernel="precomputed").fit(X @ X.T, y), X @ X.T)
    with pytest.raises(ValueError, match="one column"):
        MachineDisplay.from_estimator(Sides(), X[:, :1])
    with pytest.raises(ValueError, match="each of 60 rows"):
        MachineDisplay.from_estimator(Sides(), X, y[:5])
    with pytest.raises(ValueError, match="resolution=1"):
        MachineDisplay.from_estimator(Sides(), X, resolution=1)
    assert not plt.get_fignums()
