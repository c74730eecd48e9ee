"""What families say of rows held out, against fitting every setting on every split by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.tabular import families
from mercer.tabular.boosting import boosted
from mercer.tabular.cell_ridge import CellRidge
from mercer.tabular.families import Cells, Coded, Growth, OfCells, OfKernel, OfMetric, OfWeights, in_silence, values
from mercer.tabular.partitions import Partitions
from mercer.tabular.plan import Plan
from mercer.tabular.problem import Problem

rng = np.random.default_rng(0)
N = 90
X = rng.standard_normal((N, 3))
SIGNAL = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0)
NUMBERS = SIGNAL + 0.1 * rng.standard_normal(N)
NUMBERS = (NUMBERS - NUMBERS.mean()) / NUMBERS.std()
CLASSES = np.digitize(SIGNAL, np.quantile(SIGNAL, [0.4, 0.7]))
COUNTS = rng.poisson(np.exp(SIGNAL)).astype(float)
WEIGHTS = rng.random(N) + 0.1
ORDER = rng.permutation(N)
SPLITS = [(np.sort(np.setdiff1d(ORDER, ORDER[k::3])), np.sort(ORDER[k::3])) for k in range(3)]


def targets(kind: str) -> Coded:
    if kind == "numbers":
        return Coded(NUMBERS)
    if kind == "counts":
        return Coded(NUMBERS, None, COUNTS)
    return Coded.of_classes(CLASSES if kind == "three" else (CLASSES > 0).astype(int), 3 if kind == "three" else 2)


def weight(kind: str) -> Any:
    return WEIGHTS if kind == "weights" else None


RIDGE = OfKernel("ridge", mc.KernelRidge(kernel=mc.Gaussian(0.3)), "alpha", (1e-3, 0.1, 10.0))
SUPPORT = OfKernel("SVC", mc.SVC(kernel=mc.Laplacian(0.3), tol=1e-8), "C", (0.3, 3.0), "codes", factors=False)
POISSON = OfKernel("Poisson", mc.KernelPoisson(kernel=mc.Gaussian(0.3)), "alpha", (0.1, 1.0), "y")
SVR = OfKernel("SVR", mc.SVR(kernel=mc.Gaussian(0.3), epsilon=0.05, tol=1e-8), "C", (0.3, 3.0), factors=False)


@pytest.mark.parametrize("weighted", ["", "weights"])
@pytest.mark.parametrize(
    ("family", "kind", "near"),
    [
        (RIDGE, "numbers", 1e-8),
        (RIDGE, "two", 1e-8),
        (RIDGE, "three", 1e-8),
        (SUPPORT, "two", 1e-5),
        (SUPPORT, "three", 1e-5),
        (SVR, "numbers", 1e-5),
        (POISSON, "counts", 1e-5),
    ],
)
def test_machines_over_a_kernel(family: OfKernel, kind: str, near: float, weighted: str) -> None:
    target, w = targets(kind), weight(weighted)
    found = in_silence(family.tested, X, target, w, SPLITS)
    outputs = 3 if kind == "three" else 1
    assert found.shape == (len(family.settings), N, outputs)
    y = {"SVC": target.codes, "Poisson": COUNTS}.get(family.name, target.numbers)
    for s, setting in enumerate(family.settings):
        for train, test in SPLITS:
            machine = type(family.estimator)(**{**family.estimator.get_params(deep=False), family.along: setting})
            machine.fit(X[train], y[train], sample_weight=None if w is None else w[train])
            asked = machine.decision_function if family.name == "SVC" else machine.predict
            np.testing.assert_allclose(found[s, test], asked(X[test]).reshape(len(test), -1), atol=near, rtol=near)


def test_rows_that_nobody_tests_have_no_values() -> None:
    found = RIDGE.tested(X, targets("numbers"), None, SPLITS[:1])
    tested = SPLITS[0][1]
    assert np.isfinite(found[:, tested]).all()
    assert np.isnan(np.delete(found, tested, axis=1)).all()


@pytest.mark.thorough
@pytest.mark.parametrize("weighted", ["", "weights"])
@pytest.mark.parametrize("kind", ["numbers", "two", "three"])
@pytest.mark.parametrize("grow", [Partitions.grown, boosted])
def test_cells(grow: Growth, kind: str, weighted: str) -> None:
    target, w = targets(kind), weight(weighted)
    family = OfCells("cells", grow, 15, tuple(Cells(a, s) for s in (0.0, 0.5) for a in (0.03, 0.3)), 0.2, 4)
    found = family.tested(X, target, w, SPLITS)
    for s, setting in enumerate(family.settings):
        for train, test in SPLITS:
            machine = family.fit(setting, X[train], target.at(train), None if w is None else w[train])
            expected = values(machine, X[test]).reshape(len(test), -1)
            np.testing.assert_allclose(found[s, test], expected, atol=3e-5)  # codes and matrices are of float32


def test_cells_are_a_ridge_over_common_leaves() -> None:
    """Without distances: (K + λI)⁻¹, K the share of trees in one leaf, the mean left free."""
    family = OfCells("cells", Partitions.grown, 20, (), 0.2, 0)
    machine = family.fit(Cells(0.3, 0.0), X, targets("numbers"), None)
    codes = machine.partitions.codes(X)
    K = (codes[:, None] == codes).mean(axis=2)
    ridge = mc.KernelRidge(0.3, "precomputed").fit(K, NUMBERS)
    np.testing.assert_allclose(machine.predict(X), ridge.predict(K), atol=1e-5)


def test_a_smooth_part_is_a_laplacian_of_the_rows() -> None:
    family = OfCells("cells", Partitions.grown, 20, (), 0.2, 0)
    machine = family.fit(Cells(0.3, 0.5), X, targets("numbers"), None)
    codes = machine.partitions.codes(X)
    apart = np.abs(X[:, None] - X).sum(axis=2)
    K = 0.5 * (codes[:, None] == codes).mean(axis=2) + 0.5 * np.exp(-0.2 * apart)
    ridge = mc.KernelRidge(0.3, "precomputed").fit(K, NUMBERS)
    np.testing.assert_allclose(machine.predict(X), ridge.predict(K), atol=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("weighted", ["", "weights"])
@pytest.mark.parametrize("kind", ["numbers", "three"])
def test_a_learnt_metric(kind: str, weighted: str) -> None:
    target, w = targets(kind), weight(weighted)
    family = OfMetric("metric", mc.FeatureMachineRegressor(random_state=0))
    found = in_silence(family.tested, X, target, w, SPLITS)
    assert family.settings == (None,)
    for train, test in SPLITS:
        machine = mc.FeatureMachineRegressor(random_state=0)
        in_silence(machine.fit, X[train], target.numbers[train], None if w is None else w[train])
        np.testing.assert_allclose(found[0, test], machine.predict(X[test]).reshape(len(test), -1), atol=1e-8)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "family",
    [
        RIDGE,
        SUPPORT,
        POISSON,
        OfWeights("weights", (mc.Gaussian(0.3), mc.Linear()), (0.1, 1.0), 0),
        OfMetric("metric", mc.FeatureMachineRegressor(random_state=0)),
    ],
    ids=lambda family: family.name,
)
def test_sums_over_some_of_the_rows(family: Any) -> None:
    """Where rows are too many: near what all rows say, and not the same; the same for one seed."""
    target = targets({"SVC": "two", "Poisson": "counts"}.get(family.name, "numbers"))
    setting = family.settings[-1] if family.name == "SVC" else family.settings[0]
    plan = replace(Plan.of(N, 3, 1, 60.0, None), exact=20, centers=45)
    few, said = family.within(N, plan, 3)
    assert said
    assert few.name == family.name
    assert family.within(20, plan, 3) == (family, False)
    whole = values(in_silence(family.fit, setting, X, target, None), X).ravel()
    a, b = (values(in_silence(few.fit, setting, X, target, None), X).ravel() for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert a.shape == whole.shape
    assert np.corrcoef(a, whole)[0, 1] > 0.8
    assert not np.array_equal(a, whole)


@pytest.mark.thorough
def test_cells_of_many_rows_are_solved_by_the_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows are in the sum, as where they are few; trees are grown from some of them."""
    target, plan = targets("numbers"), replace(Plan.of(N, 3, 1, 60.0, None), exact=N - 1)
    family = OfCells(
        "cells", Partitions.grown, 20, tuple(Cells(a, s) for s in (0.0, 0.5) for a in (0.03, 0.3)), 0.2, 0
    ).many_rows()
    assert {setting.smooth for setting in family.settings} == {0.0}
    many, said = family.within(N, plan, 3)
    assert not said
    assert many.grown_from == plan.grown > N  # all of them
    setting = family.settings[-1]
    a = values(family.fit(setting, X, target, None), X)
    monkeypatch.setattr(families, "_MANY", N - 1)
    machine = many.fit(setting, X, target, None)
    assert isinstance(machine.ridge, CellRidge)
    b = values(machine, X)
    beside = many.fit(replace(setting, smooth=0.5), X, target, None)  # which no cells can say
    assert beside.smooth
    assert isinstance(beside.ridge, mc.KernelRidge)
    np.testing.assert_allclose(a, b, atol=1e-2)


@pytest.mark.thorough
def test_weights_of_kernels_follow_what_they_are_good_for() -> None:
    target = targets("numbers")
    noise = mc.Linear().on([2]) if X.shape[1] > 2 else mc.Linear()
    family = OfWeights("weights", (mc.Gaussian(0.3), noise), (0.1, 1.0), 0)
    splits = [(np.arange(40, N), np.arange(40))]
    found = family.tested(X, target, None, splits)
    assert found.shape[:2] == (2, N)
    assert np.isnan(found[:, 40:]).all()
    machine = family.fit(0.1, X[40:], target.at(np.arange(40, N)), None)
    np.testing.assert_allclose(values(machine, X[:40]).ravel(), found[0, :40].ravel(), atol=1e-8)


def test_targets_of_classes() -> None:
    coded = Coded.of_classes(np.array([0, 2, 1]), 3)
    assert coded.numbers.tolist() == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
    assert Coded.of_classes(np.array([0, 1]), 2).numbers.tolist() == [-1, 1]


def test_problems_and_families_agree_on_classes() -> None:
    from mercer.tabular.metrics import metric_of

    problem = Problem(None, CLASSES, ["a", "b", "c"], metric_of("classification"))
    np.testing.assert_array_equal(problem.coded(None).numbers, targets("three").numbers)
