"""Hinge, tube and pinball losses over centers from 4096 samples on, where passes take the place of a matrix: the
conditions of the optimum, written out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.arrays import Array
from mercer.gram import Landmarks
from mercer.losses import EpsilonInsensitive, Hinge, Pinball
from mercer.problems import DualQP
from mercer.solvers import landmark_dual
from mercer.solvers.dual import ActiveSet

K = mc.Laplacian(0.3)
N = 4300
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 2))
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * RNG.standard_normal(N)
SIGNS = np.where(NUMBERS + 0.5 * RNG.standard_normal(N) > 0, 1.0, -1.0)
W = RNG.uniform(0.2, 2.0, N)
Z = RNG.standard_normal((20, 2))
PHI = np.linalg.solve(np.linalg.cholesky(K(Z)), K(Z, X)).T


def _primal(coef: Array, bias: float, loss: Any, y: Array, w: Array, alpha: float) -> float:
    """Σ w ℓ(y, f) + λ‖f‖² of f = Σ c_j k(·, z_j) + b."""
    return float(np.sum(w * loss.value(y, K(X, Z) @ coef + bias)) + alpha * coef @ K(Z) @ coef)


CASES = {"hinge": (Hinge(), SIGNS), "tube": (EpsilonInsensitive(0.1), NUMBERS), "pinball": (Pinball(0.3), NUMBERS)}


@pytest.mark.thorough
@pytest.mark.parametrize("weights", [None, W], ids=["", "weights"])
@pytest.mark.parametrize("name", CASES)
def test_the_objective_is_that_of_the_features(name: str, weights: Any) -> None:
    loss, y = CASES[name]
    w = np.ones(N) if weights is None else weights
    ours = mc.RepresenterMachine(loss, 0.5, K, centers=Z, tol=1e-4).fit(X, y, sample_weight=weights)
    assert ours.converged_
    assert ours.gap_ <= 1e-4
    found = _primal(ours.dual_coef_[0], float(ours.intercept_[0]), loss, y, w, 0.5)
    exact = mc.RepresenterMachine(loss, 0.5, mc.Linear(), tol=1e-5).fit(PHI, y, sample_weight=weights)
    assert ours.objective_ == pytest.approx(found, rel=1e-5)
    assert found == pytest.approx(exact.objective_, rel=1e-5)


def _gap(b: Array, g: Array, lower: Array, upper: Array) -> float:
    """max over b < upper of −g plus max over b > lower of g: 0 at the optimum."""
    return float(np.max(-g[b < upper]) + np.max(g[b > lower]))


@pytest.mark.thorough
@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_the_dual_point_of_the_machine_is_optimal(tol: float) -> None:
    """From the coefficients of all samples, as the solver leaves them: bounds, sum, and the gap from K̃ b − y."""
    captured: dict[str, Array] = {}

    class Watched(mc.SVC):
        def _assemble(self, codes: Any, machines: Any, parts: Any) -> None:
            captured["b"] = machines[0].coef
            super()._assemble(codes, machines, parts)

    model = Watched(2.0, K, centers=Z, tol=tol).fit(X, SIGNS, sample_weight=W)
    b = captured["b"]
    lower, upper = np.minimum(0, 2.0 * W * SIGNS), np.maximum(0, 2.0 * W * SIGNS)
    assert (b >= lower).all()
    assert (b <= upper).all()
    assert abs(b.sum()) < 1e-8 * np.abs(b).sum()
    theta = PHI.T @ b
    g = PHI @ theta - SIGNS
    assert _gap(b, g, lower, upper) <= tol * (1 + 1e-6)
    assert model.gap_ == pytest.approx(max(_gap(b, g, lower, upper), 0.0), abs=1e-7)
    # and f is the function of this point
    np.testing.assert_allclose(model.decision_function(X), PHI @ theta + model.intercept_, atol=1e-7)
    # the primal is above the dual by no more than the gap allows
    primal = 0.5 * theta @ theta + 2.0 * np.sum(W * np.maximum(0, 1 - SIGNS * model.decision_function(X)))
    dual = SIGNS @ b - 0.5 * theta @ theta
    assert dual <= primal + 1e-9
    assert primal - dual <= tol * np.abs(upper - lower).sum()


UNEQUAL = {
    "a rare class": np.where(NUMBERS > 2.2, 40.0, 1.0),
    "six orders": 10 ** RNG.uniform(-3.0, 3.0, N),
    "many of weight 0": np.where(RNG.random(N) < 0.04, 0.0, 10 ** RNG.uniform(-1.0, 1.0, N)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", UNEQUAL)
def test_bounds_of_unlike_widths(name: str) -> None:
    """Each variable is smoothed over its own width: few steps, and the primal objective is the dual one. (No other
    machine is asked: over six orders the active set stalls at a gap of 10⁻³.)
    """
    w = UNEQUAL[name]
    for machine, y, loss in (
        (mc.SVC(1.0, K, centers=Z, tol=1e-4), SIGNS, Hinge()),
        (mc.SVR(1.0, 0.1, K, centers=Z, tol=1e-4), NUMBERS, EpsilonInsensitive(0.1)),
    ):
        machine.fit(X, y, sample_weight=w)
        assert machine.gap_ <= 1e-4
        assert machine.n_iter_ < 60
        primal = _primal(machine.dual_coef_[0], float(machine.intercept_[0]), loss, y, w, 0.5)
        assert -machine.objective_ <= primal * (1 + 1e-9)
        assert -machine.objective_ == pytest.approx(primal, rel=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("coupled", [True, False])
def test_variables_that_cannot_move(coupled: bool) -> None:
    """Bounds of width 0, at 0 and elsewhere: the programme of the others with what these contribute."""
    upper, lower = np.maximum(0, SIGNS), np.minimum(0, SIGNS)
    upper[:40], lower[:40] = np.repeat([0.0, 0.5], 20), np.repeat([0.0, 0.5], 20)
    start = np.clip(np.zeros(N), lower, upper)
    start[np.flatnonzero(lower < 0)[-10:]] = -1.0
    problem = DualQP(-SIGNS, lower, upper, start, coupled=coupled)
    marks = Landmarks.of(K.gram(X, Z), K.gram(Z))
    found = landmark_dual.solve_dual(problem, marks, ActiveSet(tol=1e-4))
    assert found.stop_reason == "gap"
    np.testing.assert_array_equal(found.coef[:40], upper[:40])
    exact = ActiveSet(tol=1e-5).solve(problem, mc.Linear().gram(PHI))
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("budget", ["2MB", "1GB"])
def test_few_or_all_items_near_their_bounds(budget: str) -> None:
    """Steps of stored features, or of passes alone where these do not fit: one optimum."""
    centers = RNG.standard_normal((60, 2))
    compute = mc.Compute(memory=budget)
    ours = mc.SVC(1.0, K, centers=centers, tol=1e-5, compute=compute).fit(X, SIGNS)
    features = np.linalg.solve(np.linalg.cholesky(K(centers)), K(centers, X)).T
    exact = mc.SVC(1.0, mc.Linear(), tol=1e-5).fit(features, SIGNS)
    assert ours.gap_ <= 1e-5
    assert ours.objective_ == pytest.approx(exact.objective_, rel=1e-6)


@pytest.mark.thorough
def test_regression_in_a_tube() -> None:
    ours = mc.SVR(1.0, 0.1, K, centers=Z, tol=1e-4).fit(X, NUMBERS, sample_weight=W)
    exact = mc.SVR(1.0, 0.1, mc.Linear(), tol=1e-5).fit(PHI, NUMBERS, sample_weight=W)
    assert ours.gap_ <= 1e-4
    assert ours.objective_ == pytest.approx(exact.objective_, rel=1e-6)
    np.testing.assert_allclose(ours.predict(X), exact.predict(PHI), atol=5e-3)


@pytest.mark.thorough
def test_quantiles() -> None:
    ours = mc.KernelQuantile([0.1, 0.5, 0.9], 0.5, K, centers=Z, tol=1e-4).fit(X, NUMBERS)
    assert ours.gap_ <= 1e-4
    below = (ours.predict(X) > NUMBERS[:, None]).mean(axis=0)
    np.testing.assert_allclose(below, [0.1, 0.5, 0.9], atol=0.01)  # what the bias's condition says
    exact = mc.KernelQuantile([0.1, 0.5, 0.9], 0.5, mc.Linear(), tol=1e-5).fit(PHI, NUMBERS)
    assert ours.objective_ == pytest.approx(exact.objective_, rel=1e-5)


@pytest.mark.thorough
def test_without_a_bias() -> None:
    ours = mc.RepresenterMachine(Pinball(0.3), 0.5, K, centers=Z, tol=1e-4, fit_intercept=False).fit(X, NUMBERS)
    exact = mc.RepresenterMachine(Pinball(0.3), 0.5, mc.Linear(), tol=1e-5, fit_intercept=False).fit(PHI, NUMBERS)
    assert ours.intercept_[0] == 0
    assert ours.objective_ == pytest.approx(exact.objective_, rel=1e-5)


@pytest.mark.thorough
def test_classes_of_different_sizes() -> None:
    """Pairs above and below 4096 samples."""
    y = np.where(NUMBERS > 2.4, 2, SIGNS > 0)
    ours = mc.SVC(1.0, K, centers=Z, tol=1e-5).fit(X, y)
    exact = mc.SVC(1.0, mc.Linear(), tol=1e-5).fit(PHI, y)
    assert ours.objective_ == pytest.approx(exact.objective_, rel=1e-6)
    assert np.mean(ours.predict(X) == exact.predict(PHI)) > 0.999


@pytest.mark.thorough
def test_float32_and_threads() -> None:
    one, two = (
        mc.SVC(1.0, K, centers=Z, compute=mc.Compute(threads=threads)).fit(X, SIGNS).dual_coef_ for threads in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    single = mc.SVC(1.0, K, centers=Z.astype(np.float32), tol=1e-3).fit(X.astype(np.float32), SIGNS)
    exact = mc.SVC(1.0, mc.Linear(), tol=1e-5).fit(PHI, SIGNS)
    assert single.converged_
    assert single.objective_ == pytest.approx(exact.objective_, rel=1e-4)
