"""Losses against differences, convexity, and the duality of the quadratic programmes they name."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from mercer import losses
from mercer.losses import (
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Perceptron,
    Pinball,
    Poisson,
)
from tests.loss_cases import EACH, LOSSES, OF_NUMBERS, Case, parameters

SMOOTH = [(case, loss) for case, loss in EACH if loss.curvature(np.ones(1), np.zeros(1)) is not None]


def each(cases: list[tuple[Case, Loss]]) -> Any:
    return pytest.mark.parametrize(("case", "loss"), cases, ids=[str(loss) for _, loss in cases])


def _from_kinks(case: Case, loss: Loss, y: Any, f: Any) -> Any:
    """The distance of f from where the loss is not smooth."""
    kinks = case.kinks(y, **parameters(loss))
    return np.min([np.abs(f - kink) for kink in kinks], axis=0) if kinks else np.full(len(f), np.inf)


def test_every_loss_of_one_output_is_in_the_table() -> None:
    found = {getattr(losses, name) for name in losses.__all__} - {Loss, Multinomial}
    assert {type(loss) for _, loss in EACH} == found


@each(EACH)
def test_values_are_the_definition(case: Case, loss: Loss) -> None:
    """As its docstring has it, in 40 digits."""
    rng = np.random.default_rng(0)
    y, f = (
        case.drawn(60, rng),
        np.concatenate([3 * rng.standard_normal(52), [0.0, 1.0, -1.0, 30.0, -30.0, 100.0, -100.0, 1e-9]]),
    )
    with mpmath.workdps(40):
        pairs = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(y, f, strict=True)]
        expected = [float(case.value(a, b, **parameters(loss))) for a, b in pairs]
    np.testing.assert_allclose(loss.value(y, f), expected, rtol=1e-14, atol=1e-14)


def test_far_out_nothing_overflows() -> None:
    f = np.array([-800.0, 800.0])
    np.testing.assert_allclose(Logistic().value(np.ones(2), f), [800.0, 0.0])
    np.testing.assert_allclose(Logistic().gradient(np.ones(2), f), [-1.0, 0.0])
    assert Poisson().value(np.ones(2), f)[1] == np.inf  # what a line search steps back from, without a warning
    assert Poisson().gradient(np.ones(2), f)[1] == Poisson().curvature(np.ones(2), f)[1] == np.inf
    F = np.array([[0.0, 800.0, -800.0]])
    assert Multinomial(3).value(np.array([0]), F)[0] == 800.0
    np.testing.assert_allclose(Multinomial(3).mean(F), [[0.0, 1.0, 0.0]], atol=1e-300)


@each(EACH)
def test_the_gradient_is_the_difference_of_values(case: Case, loss: Loss) -> None:
    rng = np.random.default_rng(1)
    y, f, h = case.drawn(400, rng), 2 * rng.standard_normal(400), 1e-5
    difference = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    smooth = _from_kinks(case, loss, y, f) > 2 * h
    assert smooth.sum() > 390
    assert loss.gradient(y, f).shape == f.shape
    np.testing.assert_allclose(loss.gradient(y, f)[smooth], difference[smooth], rtol=1e-7, atol=1e-8)


@each(SMOOTH)
def test_the_curvature_is_the_difference_of_gradients(case: Case, loss: Loss) -> None:
    rng = np.random.default_rng(2)
    y, f, h = case.drawn(400, rng), 2 * rng.standard_normal(400), 1e-5
    difference = (loss.gradient(y, f + h) - loss.gradient(y, f - h)) / (2 * h)
    smooth = _from_kinks(case, loss, y, f) > 2 * h
    curvature = loss.curvature(y, f)
    assert curvature is not None
    np.testing.assert_allclose(curvature[smooth], difference[smooth], rtol=1e-7, atol=1e-8)
    V = rng.standard_normal(400)
    np.testing.assert_allclose(loss.hessian(y, f, V)[smooth], (difference * V)[smooth], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", [Pinball(0.3), EpsilonInsensitive(), Hinge(), Perceptron()], ids=str)
def test_straight_pieces_have_no_curvature(loss: Loss) -> None:
    assert loss.curvature(np.ones(3), np.zeros(3)) is None
    assert loss.dual(np.ones(3), np.ones(3), True) is not None


@each(SMOOTH)
def test_curved_losses_have_no_dual_programme(case: Case, loss: Loss) -> None:
    assert loss.dual(np.ones(3), np.ones(3), True) is None


@given(
    one=st.sampled_from(EACH),
    f=st.floats(-20, 20),
    g=st.floats(-20, 20),
    y=st.floats(-20, 20),
    t=st.floats(0, 1),
    boundary=st.booleans(),
)
def test_convex_and_above_every_tangent(
    one: tuple[Case, Loss], f: float, g: float, y: float, t: float, boundary: bool
) -> None:
    """At kinks too, where any slope between the two sides will do."""
    case, loss = one
    y = case.target(y)
    if boundary:
        f = float((case.kinks(y, **parameters(loss)) or (y,))[-1])
    Y, F, G = (np.array([v]) for v in (y, f, g))
    at_f, at_g = float(loss.value(Y, F)[0]), float(loss.value(Y, G)[0])
    rounding = 1e-12 * (1 + abs(at_f) + abs(at_g) + abs(y * f) + abs(y * g))
    assert float(loss.value(Y, t * F + (1 - t) * G)[0]) <= t * at_f + (1 - t) * at_g + rounding
    slope = float(loss.gradient(Y, F)[0])
    assert at_g >= at_f + slope * (g - f) - rounding - 1e-12 * abs(slope) * (abs(f) + abs(g))


# -- several classes --------------------------------------------------------------------------------------------------


def test_multinomial_is_the_negative_log_likelihood() -> None:
    rng = np.random.default_rng(0)
    f, y = 3 * rng.standard_normal((50, 4)), rng.integers(0, 4, 50)
    loss = Multinomial(4)
    p = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(loss.value(y, f), -np.log(p[np.arange(50), y]), rtol=1e-12)
    np.testing.assert_allclose(loss.mean(f), p, rtol=1e-13)
    assert loss.outputs(y) == 4


def test_multinomial_derivatives_are_differences() -> None:
    rng = np.random.default_rng(0)
    f, y, V, h = rng.standard_normal((30, 4)), rng.integers(0, 4, 30), rng.standard_normal((30, 4)), 1e-5
    loss = Multinomial(4)
    for k in range(4):
        e = h * (np.arange(4) == k)
        np.testing.assert_allclose(
            loss.gradient(y, f)[:, k], (loss.value(y, f + e) - loss.value(y, f - e)) / (2 * h), atol=1e-9
        )
        np.testing.assert_allclose(
            loss.curvature(y, f)[:, k], ((loss.gradient(y, f + e) - loss.gradient(y, f - e)) / (2 * h))[:, k], atol=1e-9
        )
    product = (loss.gradient(y, f + h * V) - loss.gradient(y, f - h * V)) / (2 * h)
    np.testing.assert_allclose(loss.hessian(y, f, V), product, atol=1e-9)
    assert (np.einsum("ij,ij->i", V, loss.hessian(y, f, V)) >= 0).all()
    np.testing.assert_allclose(loss.hessian(y, f, np.ones((30, 4))), 0.0, atol=1e-15)  # only differences matter


# -- starting points, means
# ---------------------------------------------------------------------------------------------


# those that say where to start; an expectile other than the mean is only begun at it
NEAR = [loss for loss in OF_NUMBERS if "start" in vars(type(loss)) and not isinstance(loss, Expectile)]


@pytest.mark.parametrize("loss", [*NEAR, Expectile(0.5), Poisson()], ids=str)
def test_the_start_is_near_the_best_constant(loss: Loss) -> None:
    rng = np.random.default_rng(0)
    y = rng.poisson(3.0, 301).astype(float) + 0.01 * rng.random(301)
    w = np.ones(301)
    total = [float(np.sum(loss.value(y, np.full(301, c)))) for c in np.linspace(-2, 8, 2001)]
    zero = float(np.sum(loss.value(y, np.zeros(301))))
    assert float(np.sum(loss.value(y, np.full(301, loss.start(y, w))))) - min(total) <= 0.05 * (zero - min(total))


def test_the_start_of_several_classes_has_their_shares() -> None:
    y, w = np.array([0, 0, 1, 2]), np.array([1.0, 2.0, 1.0, 4.0])
    np.testing.assert_allclose(Multinomial(3).mean(Multinomial(3).start(y, w)[None, :])[0], [3 / 8, 1 / 8, 1 / 2])
    assert np.isfinite(Multinomial(4).start(y, w)).all()  # a class that is not there


def test_means() -> None:
    f = np.array([-1.0, 0.0, 2.0])
    np.testing.assert_allclose(Logistic().mean(f), 1 / (1 + np.exp(-f)))
    np.testing.assert_allclose(Poisson().mean(f), np.exp(f))
    np.testing.assert_array_equal(Huber().mean(f), f)


# -- duality
# ------------------------------------------------------------------------------------------------------------


def _pieces(loss: Loss, y: Any, f: Any) -> Any:
    """The straight lines whose maximum the loss is: (pieces, n)."""
    match loss:
        case Pinball():
            return np.stack([loss.tau * (y - f), (loss.tau - 1) * (y - f)])
        case EpsilonInsensitive():
            return np.stack([0 * f, y - f - loss.epsilon, f - y - loss.epsilon])
    return np.stack([0 * f, 1 - y * f])


def _primal(loss: Loss, y: Any, price: Any, Phi: Any, bias: bool) -> float:
    """min ½‖w‖² + Σ price t over t ≥ each piece: a quadratic programme over (w, b, t), by sequential least squares."""
    n, p = Phi.shape

    def f(v: Any) -> Any:
        return Phi @ v[:p] + v[p] * bias

    def constraint(v: Any) -> Any:
        return (v[p + 1 :] - _pieces(loss, y, f(v))).ravel()

    start = np.concatenate([np.zeros(p + 1), _pieces(loss, y, np.zeros(n)).max(axis=0) + 1])
    found = minimize(
        lambda v: 0.5 * v[:p] @ v[:p] + price @ v[p + 1 :],
        start,
        jac=lambda v: np.concatenate([v[:p], [0.0], price]),
        constraints={"type": "ineq", "fun": constraint},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    w, b = found.x[:p], found.x[p] * bias
    return float(0.5 * w @ w + price @ loss.value(y, Phi @ w + b))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "loss", [Pinball(0.2), Pinball(0.7), EpsilonInsensitive(0.3), EpsilonInsensitive(0.0), Hinge()], ids=str
)
def test_strong_duality(loss: Loss, bias: bool) -> None:
    """min Σ price ℓ + ½‖f‖² is minus the minimum of the programme, and its point gives the primal's."""
    rng = np.random.default_rng(3)
    n = 14
    Phi = rng.standard_normal((n, 3))
    y = (
        np.where(Phi[:, 0] + 0.8 * rng.standard_normal(n) > 0, 1.0, -1.0)
        if loss == Hinge()
        else Phi[:, 0] + 1.5 + rng.standard_normal(n)
    )
    price = rng.uniform(0.2, 2.0, n)
    primal = _primal(loss, y, price, Phi, bias)
    qp = loss.dual(y, price, bias)
    assert qp is not None
    assert qp.coupled == bias
    index = np.arange(n) if qp.index is None else qp.index
    assert np.array_equal(np.clip(qp.start, qp.lower, qp.upper), qp.start)
    F = Phi[index]
    found = minimize(
        lambda b: 0.5 * np.sum((b @ F) ** 2) + qp.linear @ b,
        qp.start,
        jac=lambda b: F @ (b @ F) + qp.linear,
        bounds=list(zip(qp.lower, qp.upper, strict=True)),
        constraints={"type": "eq", "fun": lambda b: b.sum(), "jac": lambda b: np.ones(len(b))} if bias else (),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert abs(primal + found.fun) <= 1e-7 * abs(primal)
    coef = qp.items(found.x, n)
    f = Phi @ (coef @ Phi)
    biases = [b + s for b in y - f for s in _shifts(loss)] if bias else [0.0]
    assert min(float(0.5 * coef @ f + price @ loss.value(y, f + b)) for b in biases) <= primal + 1e-5 * abs(primal)


def _shifts(loss: Loss) -> list[float]:
    """Where, relative to y − f, the best bias can be: at a kink of one of the samples."""
    if isinstance(loss, EpsilonInsensitive):
        return [-loss.epsilon, loss.epsilon]
    return [0.0]


# -- errors
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [case for case in LOSSES if case.refused], ids=lambda case: str(case.losses[0]))
def test_impossible_parameters(case: Case) -> None:
    for value in case.refused:
        with pytest.raises(ValueError, match=case.because):
            type(case.losses[0])(value)


def test_impossible_targets() -> None:
    for loss in (loss for case, loss in EACH if case.targets == "signs"):
        loss.check(np.array([1.0, -1.0]))
        for wrong in ([0.0, 1.0], [1.0, 2.0], [np.nan, 1.0]):
            with pytest.raises(ValueError, match="−1 and 1"):
                loss.check(np.array(wrong))
    Poisson().check(np.array([0.0, 3.0]))
    with pytest.raises(ValueError, match="target 2 is -3"):
        Poisson().check(np.array([0.0, 1.0, -3.0, -5.0]))
    with pytest.raises(ValueError, match="All counts are 0"):
        Poisson().check(np.zeros(4))
    for loss in OF_NUMBERS:
        loss.check(np.array([-1e9, 0.0, 3.5]))


def test_a_loss_needs_its_value_and_gradient() -> None:
    class Half(Loss):
        def value(self, y: Any, f: Any) -> Any:
            return f

    with pytest.raises(TypeError, match="gradient"):
        Half()  # type: ignore[abstract]


def test_losses_are_values() -> None:
    assert Huber(1.0) == Huber(1.0) != Huber(2.0)
    assert len({Pinball(0.5), Pinball(0.5), Pinball(0.6)}) == 2
