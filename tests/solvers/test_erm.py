"""One door for any loss: which solver it takes, and that all of them solve the same problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.gram import DenseGram
from mercer.losses import EpsilonInsensitive, Hinge, Huber, Logistic, Loss, Pinball, Squared
from mercer.problems import DualQP, SmoothSolution
from mercer.solvers.erm import Limits, minimise

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 3))
TARGET = X[:, 0] + 0.3 * rng.standard_normal(80)
SIGN = np.where(TARGET > 0, 1.0, -1.0)
W = rng.uniform(0.3, 2.0, 80)


class PlainSquared(Loss):
    """(y − f)² with no more than its value and gradient: by L-BFGS."""

    def value(self, y: Any, f: Any) -> Any:
        return (y - f) ** 2

    def gradient(self, y: Any, f: Any) -> Any:
        return 2 * (f - y)


class CurvedSquared(PlainSquared):
    """The same with its curvature: by Newton's method."""

    def curvature(self, y: Any, f: Any) -> Any:
        return np.full(len(f), 2.0)


class TwoPieces(Loss):
    """max(τr, (τ − 1)r) of a user who knows the dual."""

    def value(self, y: Any, f: Any) -> Any:
        return Pinball(0.4).value(y, f)

    def gradient(self, y: Any, f: Any) -> Any:
        return Pinball(0.4).gradient(y, f)

    def dual(self, y: Any, price: Any, coupled: bool) -> DualQP:
        return Pinball(0.4).dual(y, price, coupled)


def _objective(loss: Loss, y: Any, ridge: float, fit: SmoothSolution, K: Any) -> float:
    return float(np.sum(W * loss.value(y, K @ fit.coef + fit.bias)) + ridge * fit.coef @ K @ fit.coef)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("loss", "y", "gaussian", "polynomial"),
    [
        (Squared(), TARGET, "cholesky", "woodbury"),
        (Pinball(0.3), TARGET, "dual", "dual"),
        (EpsilonInsensitive(0.1), TARGET, "dual", "dual"),
        (Hinge(), SIGN, "dual", "dual"),
        (TwoPieces(), TARGET, "dual", "dual"),
        (Huber(0.5), TARGET, "newton-cholesky", "newton-woodbury"),
        (Logistic(), SIGN, "newton-cholesky", "newton-woodbury"),
        (PlainSquared(), TARGET, "lbfgs", "lbfgs"),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, Loss) else "",
)
def test_the_table(loss: Loss, y: Any, gaussian: str, polynomial: str, bias: bool) -> None:
    for kernel, solver in ((mc.Gaussian(0.5), gaussian), (mc.Polynomial(2), polynomial)):
        fit = minimise(loss, y, W, 0.2, bias, kernel.gram(X), Limits())
        K = kernel(X)
        assert fit.solver == solver
        assert fit.stop_reason == "gap"
        assert np.shape(fit.bias) == ()
        assert bias or fit.bias == 0.0
        np.testing.assert_allclose(fit.values, K @ fit.coef + fit.bias, atol=1e-6)
        best = _objective(loss, y, 0.2, fit, K)
        assert fit.objective == pytest.approx(best, rel=1e-6)
        for seed in range(20):  # nothing near is lower
            step = 1e-3 * np.random.default_rng(seed).standard_normal(81)
            near = SmoothSolution(fit.coef + step[:80], fit.bias + bias * step[80], fit.values, 0.0, 0.0, 0, "", "")
            assert _objective(loss, y, 0.2, near, K) >= best - 1e-6 * best


@pytest.mark.parametrize("solver", ["cholesky", "woodbury", "cg"])
def test_what_was_asked_for(solver: str) -> None:
    gram = mc.Polynomial(2).gram(X)
    assert minimise(Squared(), TARGET, W, 0.2, True, gram, Limits(solver=solver)).solver == solver
    assert minimise(Huber(), TARGET, W, 0.2, True, gram, Limits(solver=solver)).solver == f"newton-{solver}"
    assert minimise(Hinge(), SIGN, W, 0.2, True, gram, Limits(solver=solver)).solver == "dual"


def test_unknown_solvers_are_refused() -> None:
    for loss in (Squared(), Huber(), Pinball()):
        with pytest.raises(ValueError, match="'auto', 'cholesky', 'woodbury', 'cg'"):
            minimise(loss, TARGET, W, 0.2, True, mc.Gaussian(0.5).gram(X), Limits(solver="lu"))


@pytest.mark.parametrize("bias", [True, False])
def test_three_solvers_of_one_problem(bias: bool) -> None:
    """Squares by the linear system, by Newton's method, and by L-BFGS."""
    gram = mc.Gaussian(0.5).gram(X)
    one, two, three = (
        minimise(loss, TARGET, W, 0.2, bias, gram, Limits(tol=1e-12))
        for loss in (Squared(), CurvedSquared(), PlainSquared())
    )
    assert {one.solver, two.solver, three.solver} == {"cholesky", "newton-cholesky", "lbfgs"}
    for other in (two, three):
        assert other.objective == pytest.approx(one.objective, rel=1e-9)
        np.testing.assert_allclose(other.values, one.values, atol=1e-4)
        np.testing.assert_allclose(other.bias, one.bias, atol=1e-4)


def test_several_outputs_of_squares() -> None:
    Y = np.column_stack([TARGET, SIGN])
    gram = mc.Gaussian(0.5).gram(X)
    both = minimise(Squared(), Y, W, 0.2, True, gram, Limits())
    alone = [minimise(Squared(), y, W, 0.2, True, gram, Limits()) for y in (TARGET, SIGN)]
    np.testing.assert_allclose(both.coef, np.column_stack([fit.coef for fit in alone]), atol=1e-9)
    np.testing.assert_allclose(both.bias, [fit.bias for fit in alone], atol=1e-9)
    np.testing.assert_allclose(both.values, np.column_stack([fit.values for fit in alone]), atol=1e-9)
    assert both.objective == pytest.approx(sum(fit.objective for fit in alone), rel=1e-10)


@pytest.mark.parametrize(
    ("loss", "y"), [(Huber(0.1), TARGET), (Logistic(), SIGN), (EpsilonInsensitive(0.01), TARGET)], ids=str
)
def test_limits_arrive(loss: Loss, y: Any) -> None:
    gram = DenseGram(mc.Gaussian(0.5)(X))
    hard = {"weights": W, "ridge": 1e-5, "bias": True, "gram": gram}
    assert minimise(loss, y, **hard, limits=Limits(1e-12, max_iter=1)).stop_reason == "max_iter"  # type: ignore[arg-type]
    assert minimise(loss, y, **hard, limits=Limits(1e-12, max_time=0.0)).stop_reason == "max_time"  # type: ignore[arg-type]
    assert minimise(loss, y, **hard, limits=Limits(1e-12, progress=lambda state: True)).stop_reason == "callback"  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", [Huber(0.1), EpsilonInsensitive(0.01)], ids=str)
def test_a_note_is_about_what_happened(loss: Loss) -> None:
    """A limit of steps says nothing about slopes."""
    fit = minimise(loss, TARGET, W, 1e-5, True, DenseGram(mc.Gaussian(0.5)(X)), Limits(1e-12, max_iter=1))
    assert "no longer falls" not in fit.note


def test_an_interrupt_keeps_what_is_asked_for() -> None:
    gram = mc.Gaussian(0.5).gram(X)

    def interrupt(state: dict[str, Any]) -> bool:
        raise KeyboardInterrupt

    fit = minimise(Huber(0.1), TARGET, W, 1e-5, True, gram, Limits(1e-12, progress=interrupt, keep_on_interrupt=True))
    assert fit.stop_reason == "interrupted"
    for loss in (Huber(0.1), Squared()):
        with pytest.raises(KeyboardInterrupt):
            minimise(loss, TARGET, W, 1e-5, True, gram, Limits(1e-12, progress=interrupt))
