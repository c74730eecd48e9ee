"""Losses with corners, by splitting: against the dual programmes of the same losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.losses import EpsilonInsensitive, Loss, Pinball
from mercer.problems import SmoothERM
from mercer.solvers.erm import Limits, minimise
from mercer.solvers.proximal import Splitting


class Corner(Loss):
    """A loss of straight pieces that hides its dual: slopes −τ and 1 − τ about a free width ε."""

    def __init__(self, tau: float = 0.5, epsilon: float = 0.0, factor: float = 1.0) -> None:
        self.tau, self.epsilon, self.factor = tau, epsilon, factor

    def value(self, y: Any, f: Any) -> Any:
        r = y - f
        return self.factor * np.maximum(
            np.maximum(self.tau * (r - self.epsilon), (self.tau - 1) * (r + self.epsilon)), 0.0
        )

    def gradient(self, y: Any, f: Any) -> Any:
        r = y - f
        return self.factor * np.where(r > self.epsilon, -self.tau, np.where(r < -self.epsilon, 1 - self.tau, 0.0))

    def prox(self, y: Any, z: Any, step: Any) -> Any:
        r, up, down = y - z, self.factor * step * self.tau, self.factor * step * (1 - self.tau)
        kept = np.where(
            r > self.epsilon,
            np.maximum(r - up, self.epsilon),
            np.where(r < -self.epsilon, np.minimum(r + down, -self.epsilon), r),
        )
        return y - kept


def _data(n: int = 80) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.standard_t(2, n), rng.uniform(0.3, 2, n)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("ridge", [0.03, 1.0])
@pytest.mark.parametrize(
    ("loss", "same"),
    [
        (Corner(0.2), Pinball(0.2)),
        (Corner(0.5, 0.2, 2.0), EpsilonInsensitive(0.2)),
        (Corner(0.5, 0.0, 2.0), EpsilonInsensitive(0.0)),
    ],
)
def test_the_optimum_is_the_duals(loss: Loss, same: Loss, ridge: float, bias: bool) -> None:
    X, y, w = _data()
    gram = mc.Gaussian(0.5).gram(X)
    ours = minimise(loss, y, w, ridge, bias, gram, Limits(tol=1e-7))
    dual = minimise(same, y, w, ridge, bias, gram, Limits(tol=1e-8))
    assert ours.solver.startswith("splitting")
    assert ours.stop_reason == "gap"
    assert abs(ours.objective - dual.objective) <= 2e-5 * dual.objective
    np.testing.assert_allclose(ours.values, dual.values, atol=0.02)
    assert abs(ours.coef.sum()) < 1e-8 or not bias


def test_its_proximal_points_are_minima() -> None:
    """Of the loss in the tests above: what the solver is given must be right for the comparison to mean anything."""
    rng = np.random.default_rng(1)
    y, z, step = rng.standard_normal(50), 2 * rng.standard_normal(50), rng.uniform(0.1, 3, 50)
    loss = Corner(0.3, 0.4, 1.5)
    v = loss.prox(y, z, step)
    best = step * loss.value(y, v) + (v - z) ** 2 / 2
    for other in np.linspace(-4, 4, 401):
        assert (best <= step * loss.value(y, np.full(50, other)) + (other - z) ** 2 / 2 + 1e-12).all()


def test_limits_and_interrupts() -> None:
    X, y, w = _data()
    problem, gram = SmoothERM(Corner(0.2), y, w, 0.1), mc.Gaussian(0.5).gram(X)
    assert Splitting(max_iter=3).solve(problem, gram).stop_reason == "max_iter"
    assert Splitting(max_time=0.0).solve(problem, gram).stop_reason == "max_time"
    assert Splitting(progress=lambda state: state["n_iter"] == 2).solve(problem, gram).n_iter == 2

    def interrupt(state: dict[str, Any]) -> bool:
        raise KeyboardInterrupt

    assert Splitting(progress=interrupt, keep_on_interrupt=True).solve(problem, gram).stop_reason == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        Splitting(progress=interrupt).solve(problem, gram)


def test_as_an_estimator() -> None:
    X, y, _ = _data()
    machine = mc.RepresenterMachine(Corner(0.5, 0.0, 2.0), 0.1, mc.Gaussian(0.5)).fit(X, y)
    svr = mc.SVR(C=5.0, epsilon=0.0, kernel=mc.Gaussian(0.5), tol=1e-6).fit(X, y)
    np.testing.assert_allclose(machine.predict(X), svr.predict(X), atol=0.02)
    assert machine.solver_ == "splitting-cholesky"
