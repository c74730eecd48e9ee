"""Machines between convex hulls: where these meet there is no margin, and a linear programme says where that is; the
hard margin; any scale.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn import svm as libsvm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import mercer as mc


def _overlapping(n: int = 200, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, X[:, 0] + 1.5 * rng.standard_normal(n) > 0


def _least_nu(X: Any, y: Any) -> float:
    """min Σξ/n with y_i (⟨w, x_i⟩ + b) ≥ 1 − ξ_i, by linear programming: for ν up to that, the reduced convex hulls
    meet (Chang and Lin 2001).
    """
    signs, n = np.where(y == np.unique(y)[1], 1.0, -1.0), len(y)
    rows = -np.column_stack([signs[:, None] * X, signs, np.eye(n)])
    free, cost = X.shape[1] + 1, np.concatenate([np.zeros(X.shape[1] + 1), np.ones(n)])
    found = linprog(cost, rows, -np.ones(n), bounds=[(None, None)] * free + [(0, None)] * n)
    return float(found.fun) / n


def _fitted(machine: Any, X: Any, y: Any) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        machine.fit(X, y)
    return machine, [str(w.message) for w in found]


def _said(message: str) -> tuple[float, float]:
    low, high = re.findall(r"nu from ([\d.]+) to ([\d.]+) they do not", message)[0]
    return float(low), float(high)


@pytest.mark.parametrize("n", [200, 900])
def test_hulls_that_meet_give_a_constant_and_the_nu_that_is_large_enough(n: int) -> None:
    X, y = _overlapping(n)
    truth = _least_nu(X, y)
    for nu in (0.2, 0.5, 0.98 * truth):
        machine, (message,) = _fitted(mc.NuSVC(nu, mc.Linear()), X, y)
        assert "meet" in message
        assert machine.converged_
        assert machine.n_support_.tolist() == [0, 0]
        majority = y.mean() > 0.5
        assert (machine.predict(X) == majority).all()
        np.testing.assert_array_equal(machine.decision_function(X), 1.0 if majority else -1.0)
        low, high = _said(message)
        assert truth <= low <= truth + 0.05
        for feasible in (low, high):
            proper, said = _fitted(mc.NuSVC(feasible, mc.Linear()), X, y)
            assert not said
            assert proper.converged_
            assert proper.score(X, y) > 0.6
            # ν bounds the share of errors of the margin from above and that of support vectors from below
            errors = np.where(y, 1, -1) * proper.decision_function(X) < 1 - 1e-2
            assert errors.mean() <= feasible <= proper.n_support_.sum() / n


def test_a_nu_above_the_least_is_libsvms() -> None:
    X, y = _overlapping()
    nu = _least_nu(X, y) + 0.02
    ours, peer = mc.NuSVC(nu, mc.Linear(), tol=1e-6).fit(X, y), libsvm.NuSVC(nu=nu, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_the_scale_of_the_kernel_does_not_matter(scale: float) -> None:
    """The tolerance is a share of the margin: K·c has the same machine. (Above 512 samples, beyond the solver of small
    problems.)
    """
    X, y = _overlapping(700)
    nu = _least_nu(X, y) + 0.03
    one, other = (mc.NuSVC(nu, mc.Linear()).fit(c * X, y).decision_function(c * X) for c in (1.0, scale))
    np.testing.assert_allclose(one, other, atol=1e-6)
    assert "meet" in _fitted(mc.NuSVC(0.3, mc.Linear()), scale * X, y)[1][0]
    for kind in (mc.OneClassSVM, mc.SVDD):
        one, other = (kind(0.1, mc.Linear()).fit(c * (X + 3)).predict(c * (X + 3)) for c in (1.0, scale))
        assert 0.05 < np.mean(one < 0) < 0.12
        assert np.mean(one != other) < 0.01


def test_features_far_from_the_origin() -> None:
    X, y = _overlapping()
    _, (message,) = _fitted(mc.NuSVC(0.3, mc.Linear()), X + 1000, y)
    low, high = _said(message)
    assert _least_nu(X, y) <= low < high
    assert mc.NuSVC(low, mc.Linear()).fit(X + 1000, y).score(X + 1000, y) > 0.6


def test_classes_of_different_sizes() -> None:
    """The mean of the smaller class is inside the other, for any ν; classes that weigh the same are their means at ν =
    1.
    """
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 2)), (np.arange(300) < 60).astype(int)
    assert _least_nu(X, y) > 2 * 60 / 300 * 0.999
    machine, (message,) = _fitted(mc.NuSVC(0.3, mc.Linear(), probability=True), X, y)
    assert "no nu" in message
    assert "balanced" in message
    assert (machine.predict(X) == 0).all()
    np.testing.assert_allclose(machine.predict_proba(X)[:, 1], 0.2, atol=0.02)
    balanced, said = _fitted(mc.NuSVC(1.0, mc.Linear(), class_weight="balanced"), X, y)
    assert not said
    direction = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    cosine = balanced.coef_[0] @ direction / np.linalg.norm(direction) / np.linalg.norm(balanced.coef_)
    assert cosine > 1 - 1e-9


def test_several_classes_share_one_nu() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = np.argmax(X @ rng.standard_normal((2, 3)) + 2.0 * rng.standard_normal((300, 3)), axis=1)
    machine, messages = _fitted(mc.NuSVC(0.1, mc.Linear()), X, y)
    assert len(messages) == 1
    assert "other pairs" in messages[0]
    assert (machine.decision_function(X) == machine.decision_function(X[:1])).all()
    low, high = _said(messages[0])
    pairs = [(y == a) | (y == b) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert low >= max(_least_nu(X[pair], y[pair]) for pair in pairs)
    proper, said = _fitted(mc.NuSVC(low, mc.Linear()), X, y)
    assert not said
    assert proper.score(X, y) > 0.45
    assert high <= min(2 * min(np.bincount(y[pair])[np.unique(y[pair])]) / pair.sum() for pair in pairs)


def test_class_weights_of_the_nu_machine_are_weights() -> None:
    X, y = _overlapping()
    one = mc.NuSVC(0.4, mc.Gaussian(2.0), class_weight={True: 2.0, False: 1.0}).fit(X, y)
    other = mc.NuSVC(0.4, mc.Gaussian(2.0)).fit(X, y, sample_weight=np.where(y, 2.0, 1.0))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-8)
    assert mc.NuSVC().nu == libsvm.NuSVC().nu
    with pytest.raises(ValueError, match=r"balanced"):
        mc.NuSVC(0.9).fit(X, np.arange(200) < 20)
    assert mc.NuSVC(0.9, mc.Gaussian(2.0), class_weight="balanced").fit(X, np.arange(200) < 20).converged_


def test_a_limit_is_not_called_a_margin() -> None:
    """Stopped long before the end, the machine says so, and divides by no margin that it has not found."""
    X, y = _overlapping(900)
    machine, messages = _fitted(mc.NuSVC(0.4, mc.Gaussian(0.1), max_iter=50), X, y)
    assert not machine.converged_
    assert machine.gap_ > machine.tol
    assert "max_iter" in messages[0]
    assert np.abs(machine.decision_function(X)).max() < 10


# -- the hard margin --------------------------------------------------------------------------------------------------


def _apart(n: int = 200) -> tuple[Any, Any]:
    X = np.random.default_rng(1).standard_normal((n, 3))
    y = X[:, 0] + X[:, 1] > 0
    return X + np.where(y, 0.2, -0.2)[:, None], y


@pytest.mark.parametrize("scale", [1e-4, 1.0])
def test_an_infinite_price_is_the_hard_margin(scale: float) -> None:
    X, y = _apart()
    hard = mc.SVC(np.inf, mc.Linear()).fit(scale * X, y)
    peer = libsvm.SVC(C=1e10, kernel="linear", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(hard.decision_function(scale * X), peer.decision_function(X), atol=1e-5)
    signed = np.where(y, 1, -1) * hard.decision_function(scale * X)
    assert signed.min() > 1 - 1e-3
    assert hard.score(scale * X, y) == 1.0
    np.testing.assert_allclose(
        mc.SVC(kernel=mc.Linear()).path(X, y, [1.0, np.inf])[1].coef_, scale * hard.coef_, rtol=1e-5
    )


def test_a_hard_margin_of_several_classes() -> None:
    X, y = load_iris(return_X_y=True)
    hard, soft = mc.SVC(np.inf, mc.Gaussian(5.0)).fit(X, y), mc.SVC(1e7, mc.Gaussian(5.0), tol=1e-7).fit(X, y)
    np.testing.assert_allclose(hard.decision_function(X), soft.decision_function(X), atol=1e-4)
    assert hard.score(X, y) == 1.0


def test_no_hard_margin_is_refused_in_words() -> None:
    X, y = _overlapping()
    machine = mc.SVC(kernel=mc.Linear()).fit(X, y)
    before = machine.decision_function(X)
    with pytest.raises(ValueError, match=r"no hard margin: give a finite C"):
        machine.set_params(C=np.inf).fit(X, y)
    np.testing.assert_array_equal(machine.decision_function(X), before)
    with pytest.raises(ValueError, match="fit_intercept=True or a finite C"):
        mc.SVC(np.inf, fit_intercept=False).fit(X, y)
    with pytest.raises(ValueError, match="must be finite"):
        mc.SVR(np.inf).fit(X, X[:, 0])


# -- one class --------------------------------------------------------------------------------------------------------


def test_one_class_around_the_origin_is_said_to_be_none() -> None:
    X, _ = _overlapping()
    machine, (message,) = _fitted(mc.OneClassSVM(0.1, mc.Linear()), X, None)
    assert "origin" in message
    assert np.abs(machine.score_samples(X)).max() < 1e-9
    assert (machine.predict(X) == 1).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.simplefilter("error", UserWarning)
        mc.OneClassSVM(0.1, mc.Linear()).fit(X + 5)
