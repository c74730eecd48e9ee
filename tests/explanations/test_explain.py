"""The door: every machine is explained, and its parts add up to its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import mercer as mc
from tests.estimator_cases import ESTIMATORS, NEW, NEW_STRINGS, Case

MACHINES = {name: case for name, case in ESTIMATORS.items() if hasattr(getattr(mc, name, None), "function_")}
RNG = np.random.default_rng(0)


def test_there_are_machines() -> None:
    assert {"SVC", "SVR", "KernelRidge", "KernelLogistic", "OneClassSVM", "KernelPCA", "MKLRidge"} <= MACHINES.keys()


@pytest.mark.parametrize("case", MACHINES.values(), ids=MACHINES.keys())
def test_parts_add_up_to_the_function(case: Case) -> None:
    model = case.fitted()
    X = NEW_STRINGS[:2] if case.strings else NEW[:2]
    answers = model.function_(X)
    for by in ("sample", "term", "auto"):
        found = mc.explain(model, X, by, n_permutations=4, random_state=0)
        np.testing.assert_allclose([e.total for e in found], answers, atol=1e-8)
    assert mc.explain(model, X, "sample")[0].values.shape[0] == len(model.support_vectors_)


def test_answers_are_decisions_and_predictions() -> None:
    X = RNG.standard_normal((50, 3))
    y = np.where(X[:, 0] > X[:, 1] ** 2, "yes", "no")
    svc = mc.SVC(kernel=mc.Gaussian(0.3)).fit(X, y)
    np.testing.assert_allclose([e.total for e in mc.explain(svc, X[:5])], svc.decision_function(X[:5]), atol=1e-8)
    assert mc.explain(svc, X[:1], "sample")[0].names == svc.support_.tolist()
    ridge = mc.KernelRidge(kernel=mc.Gaussian(0.3)).fit(X, X[:, :2])
    np.testing.assert_allclose([e.total for e in mc.explain(ridge, X[:5])], ridge.predict(X[:5]), atol=1e-8)


def test_a_term_is_its_own_sum() -> None:
    X = RNG.standard_normal((20, 3))
    terms = [mc.Gaussian(0.5).on([0, 1]), 2.0 * mc.Linear().on(2), mc.Constant(0.5)]
    alpha = RNG.standard_normal(20)
    f = mc.RKHSFunction(terms[0] + terms[1] + terms[2], X, alpha, 0.25)
    [e] = mc.explain(f, X[:1], "term")
    np.testing.assert_allclose(e.values, [float((k(X[:1], X) @ alpha)[0]) for k in terms])
    assert e.names == [str(k) for k in terms]
    assert e.base == 0.25


@pytest.mark.parametrize("outputs", [0, 2])
def test_gradients_are_differences(outputs: int) -> None:
    X = RNG.standard_normal((30, 3))
    alpha = RNG.standard_normal((30, outputs) if outputs else 30)
    f = mc.RKHSFunction(mc.Gaussian(0.4) + mc.Polynomial(2), X, alpha, 0.3)
    for e, x in zip(mc.explain(f, X[:3], "gradient"), X[:3], strict=True):
        steps = 1e-5 * np.eye(3)
        differences = (f(x + steps) - f(x - steps)) / 2e-5
        np.testing.assert_allclose(e.values, differences, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(e.total, f(x[None])[0])


def test_columns_have_their_names_in_any_order() -> None:
    frame = pd.DataFrame(RNG.standard_normal((30, 2)), columns=["age", "height"])
    model = mc.KernelRidge(kernel=mc.Gaussian(0.4)).fit(frame, frame["age"])
    [e] = mc.explain(model, frame[:1])
    assert e.names == ["age", "height"]
    with pytest.raises(ValueError, match="feature names"):
        mc.explain(model, frame[["height", "age"]][:1])
    other = frame[["height", "age"]]  # a background is put in order
    np.testing.assert_allclose(mc.explain(model, frame[:1], background=other[:9])[0].total, e.total)


def test_a_precomputed_matrix_has_no_function() -> None:
    model = mc.SVC(kernel="precomputed").fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(AttributeError, match="give the kernel itself"):
        mc.explain(model, np.eye(4))


def test_lags_of_a_series_add_up_to_its_score() -> None:
    x = RNG.standard_normal((120, 1))
    y = np.roll(x, 2, axis=0) ** 2 + 0.1 * RNG.standard_normal((120, 1))
    model = mc.TemporalKernelCCA(mc.Gaussian(0.5), mc.Linear(), max_lag=4, n_bootstrap=0).fit(x, y)
    found = mc.explain(model, x)
    np.testing.assert_allclose([e.total for e in found], model.transform(x), atol=1e-8)
    assert found[0].names == list(range(-4, 5))
    spread = np.std([e.values[:, 0] for e in found], axis=0)
    assert found[0].names[int(np.argmax(spread))] == model.best_lag_
    with pytest.raises(TypeError, match="models of series"):
        mc.explain(mc.SVC().fit(NEW, [0, 1, 0, 1, 0, 1, 0]), NEW, "lag")


def test_no_model() -> None:
    with pytest.raises(TypeError, match="str cannot be explained"):
        mc.explain("model", np.eye(2))


def test_it_is_printed() -> None:
    e = mc.Explanation("column", list("abcdefghijkl"), np.arange(12.0), 2.0, np.full(12, 0.1))
    lines = str(e).splitlines()
    assert lines[0] == "68 = 2 + 12 parts by column"
    assert lines[1].split() == ["l", "11", "±", "0.1"]
    assert lines[-1].split() == ["(2", "more)", "1"]
    two: Any = mc.Explanation("gradient", ["a", "b"], np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, 1.5]))
    assert str(two).splitlines()[0].split() == ["∇f", "where", "f", "=", "0.5", "1.5"]
    assert str(two).splitlines()[1].split() == ["b", "3", "4"]
    assert two.top(1)[0][0] == "b"
