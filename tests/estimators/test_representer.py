"""Any convex loss over any kernel: against the machines that each loss has elsewhere, and the promises about ending and
errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import svm as libsvm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import PoissonRegressor, QuantileRegressor
from threadpoolctl import threadpool_limits

import mercer as mc
from mercer.estimators.representer import LossRegressor
from mercer.losses import (
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Pinball,
    Poisson,
    Squared,
)

MACHINES = [  # every one there is
    cls()
    for cls in (getattr(mc, name) for name in mc.__all__)
    if isinstance(cls, type) and issubclass(cls, LossRegressor)
]


def _data(n: int = 120, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, 2.0 + X[:, 0] + np.sin(2 * X[:, 1]) + 0.4 * rng.standard_normal(n)


NEW = np.random.default_rng(7).standard_normal((30, 3))
K = mc.Gaussian(0.5)
EVERY = [
    mc.RepresenterMachine(Logistic(), 0.2, K),
    mc.RepresenterMachine(Hinge(), 0.2, K),
    mc.KernelExpectile(0.2, 0.8, K),
    mc.KernelQuantile(0.3, 0.2, K, tol=1e-8),
    mc.KernelQuantile([0.2, 0.7], 0.2, K, tol=1e-8),
    *(clone(machine).set_params(alpha=0.2, kernel=K, tol=1e-8) for machine in MACHINES),
]


def _targets(machine: Any, y: Any) -> Any:
    loss = machine._losses()[0]
    return (
        np.where(y > 2, 1.0, -1.0)
        if isinstance(loss, Logistic | Hinge)
        else np.round(np.abs(y))
        if isinstance(loss, Poisson)
        else y
    )


def _named(machine: Any) -> str:
    return f"{type(machine).__name__}-{type(machine._losses()[0]).__name__}-{len(machine._losses())}"


# -- the same as elsewhere
# ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.5, 5.0])
def test_hinge_and_tube_are_the_support_vector_machines(alpha: float) -> None:
    """C = 1/(2α)."""
    X, y = _data()
    sign = np.where(y > 2, 1.0, -1.0)
    C = 1 / (2 * alpha)
    ours = mc.RepresenterMachine(Hinge(), alpha, K).fit(X, sign)
    peer = libsvm.SVC(C=C, gamma=0.5, tol=1e-9).fit(X, sign)
    np.testing.assert_allclose(ours.predict(NEW), peer.decision_function(NEW), atol=1e-5)
    np.testing.assert_allclose(ours.predict(NEW), mc.SVC(C, K, tol=1e-9).fit(X, sign).decision_function(NEW), atol=1e-7)
    ours = mc.RepresenterMachine(EpsilonInsensitive(0.1), alpha, K).fit(X, y)
    np.testing.assert_allclose(
        ours.predict(NEW), libsvm.SVR(C=C, epsilon=0.1, gamma=0.5, tol=1e-9).fit(X, y).predict(NEW), atol=1e-5
    )
    np.testing.assert_allclose(ours.predict(NEW), mc.SVR(C, 0.1, K, tol=1e-9).fit(X, y).predict(NEW), atol=1e-7)
    assert ours.solver_ == "dual"
    assert len(ours.support_) < 120  # those inside the tube are not kept


@pytest.mark.parametrize("intercept", [True, False])
def test_squares_are_ridge(intercept: bool) -> None:
    """Huber's beyond every error is half of them; the expectile of ½ too."""
    X, y = _data()
    w = np.random.default_rng(1).uniform(0.2, 2.0, 120)
    same = {"kernel": K, "fit_intercept": intercept}
    exact, half = (mc.KernelRidge(alpha, **same, tol=1e-12).fit(X, y, w).predict(NEW) for alpha in (0.3, 0.6))  # type: ignore[arg-type]
    np.testing.assert_allclose(mc.RepresenterMachine(None, 0.3, **same).fit(X, y, w).predict(NEW), exact, atol=1e-7)  # type: ignore[arg-type]
    np.testing.assert_allclose(
        mc.RepresenterMachine(Squared(), 0.3, **same).fit(X, y, w).predict(NEW), exact, atol=1e-7
    )  # type: ignore[arg-type]
    np.testing.assert_allclose(mc.KernelHuber(0.3, 1e6, **same).fit(X, y, w).predict(NEW), half, atol=1e-6)  # type: ignore[arg-type]
    np.testing.assert_allclose(mc.KernelExpectile(0.3, 0.5, **same).fit(X, y, w).predict(NEW), half, atol=1e-6)  # type: ignore[arg-type]


def test_each_machine_is_its_loss() -> None:
    X, y = _data()
    counts = np.round(np.abs(y))
    for machine, loss, t in (
        (mc.KernelHuber(0.2, 0.5, K), Huber(0.5), y),
        (mc.KernelExpectile(0.2, 0.8, K), Expectile(0.8), y),
        (mc.KernelPoisson(0.2, K), Poisson(), counts),
        (mc.KernelQuantile(0.3, 0.2, K, tol=1e-9), Pinball(0.3), y),
    ):
        one, other = machine.fit(X, t), mc.RepresenterMachine(loss, 0.2, K).fit(X, t)
        np.testing.assert_allclose(one.predict(NEW), other.predict(NEW), atol=1e-9)
        assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)


@pytest.mark.parametrize("machine", EVERY, ids=_named)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_objective_is_the_least(machine: Any, intercept: bool) -> None:
    """As reported, as computed from what is predicted, and against SciPy where the loss is smooth."""
    X, y = _data(60)
    y = _targets(machine, y)
    machine.set_params(fit_intercept=intercept).fit(X, y)
    assert machine.converged_
    assert machine.stop_reason_ == "gap"
    gram = K(X)
    total = 0.0
    for k, loss in enumerate(machine._losses()):
        coef = np.zeros(60)
        coef[machine.support_] = machine.dual_coef_[k]
        f = gram @ coef + machine.intercept_[k]
        total += float(np.sum(loss.value(y, f)) + 0.2 * coef @ gram @ coef)
        if loss.curvature(y, f) is not None:
            L = np.linalg.cholesky(gram + 1e-12 * np.eye(60))

            def objective(v: Any, loss: Loss = loss, L: Any = L) -> float:
                return float(np.sum(loss.value(y, L @ v[:60] + intercept * v[60])) + 0.2 * v[:60] @ v[:60])

            def slope(v: Any, loss: Loss = loss, L: Any = L) -> Any:
                g = loss.gradient(y, L @ v[:60] + intercept * v[60])
                return np.append(L.T @ g + 0.4 * v[:60], intercept * g.sum())

            exact = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000}
            with threadpool_limits(1):  # thousands of tiny products
                best = minimize(objective, np.zeros(61), jac=slope, method="L-BFGS-B", options=exact)
            assert float(np.sum(loss.value(y, f)) + 0.2 * coef @ gram @ coef) <= best.fun + 1e-8 * abs(best.fun)
    assert machine.objective_ == pytest.approx(total, rel=1e-6)
    assert intercept or not np.any(machine.intercept_)


def test_poisson_is_scikit_learns_on_features() -> None:
    X, _ = _data()
    y = np.random.default_rng(0).poisson(np.exp(0.5 * X[:, 0])).astype(float)
    k = mc.Polynomial(2)
    ours = mc.KernelPoisson(0.5, k).fit(X, y)
    peer = PoissonRegressor(alpha=2 * 0.5 / 120, tol=1e-10, solver="newton-cholesky").fit(k.features(X), y)
    np.testing.assert_allclose(ours.predict(NEW), peer.predict(k.features(NEW)), rtol=1e-5)


def test_rates_are_positive() -> None:
    X, _ = _data()
    y = np.random.default_rng(0).poisson(np.exp(X[:, 0])).astype(float)
    machine = mc.KernelPoisson(0.01, K).fit(X, y)
    assert (machine.predict(np.vstack([X, NEW, 100 * NEW])) > 0).all()
    assert machine.predict(X).sum() == pytest.approx(y.sum(), rel=1e-6)  # what a free bias sees to


def test_outliers_do_not_bend_huber() -> None:
    X, y = _data()
    clean = mc.KernelHuber(0.5, 0.5, K).fit(X, y).predict(NEW)
    wild = y.copy()
    wild[::15] += 1e4
    bent = mc.KernelHuber(0.5, 0.5, K).fit(X, wild).predict(NEW)
    assert np.abs(bent - clean).max() < 3.0
    assert np.abs(mc.KernelRidge(1.0, K).fit(X, wild).predict(NEW) - clean).max() > 100


def test_expectiles_are_in_order() -> None:
    X, y = _data()
    low, middle, high = (mc.KernelExpectile(0.1, tau, K).fit(X, y) for tau in (0.05, 0.5, 0.95))
    assert np.mean(low.predict(X)) < np.mean(middle.predict(X)) < np.mean(high.predict(X))
    r = y - high.predict(X)
    # at the minimum over the bias, what is above and what is below balance with their weights
    assert 0.95 * r[r > 0].sum() == pytest.approx(-0.05 * r[r < 0].sum(), rel=1e-5)


# -- quantiles
# ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.05, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("alpha", [0.02, 0.5, 20.0])
def test_the_share_below_is_the_quantile(tau: float, alpha: float) -> None:
    """Samples strictly below are at most τn, with those on it at least: the bias sees to that."""
    X, y = _data(200)
    machine = mc.KernelQuantile(tau, alpha, K, tol=1e-7).fit(X, y)
    f = machine.predict(X)
    assert np.mean(y < f - 1e-5) <= tau + 1e-9
    assert np.mean(y <= f + 1e-5) >= tau - 1e-9


def test_quantiles_are_scikit_learns_without_a_penalty() -> None:
    """A penalty of next to nothing and one column: the linear programme of quantile regression."""
    X, y = _data(80)
    for tau in (0.2, 0.7):
        ours = mc.KernelQuantile(tau, 1e-6, mc.Linear(), tol=1e-8).fit(X[:, :1], y)
        peer = QuantileRegressor(quantile=tau, alpha=0.0).fit(X[:, :1], y)
        loss = [float(np.sum(Pinball(tau).value(y, m.predict(X[:, :1])))) for m in (ours, peer)]
        assert loss[0] == pytest.approx(loss[1], rel=1e-4)


def test_quantiles_never_cross() -> None:
    """Anywhere, in whatever order they are asked for; sorting raises no summed loss."""
    X, y = _data(60)
    taus = [0.9, 0.1, 0.5, 0.3, 0.7, 0.45]
    machine = mc.KernelQuantile(taus, 0.05, K).fit(X, y)
    order = np.argsort(taus)
    far = np.vstack([NEW, 3 * NEW, X])
    found = machine.predict(far)
    assert found.shape == (len(far), 6)
    assert (np.diff(found[:, order], axis=1) >= 0).all()
    raw = machine._values(far)
    assert (np.diff(raw[:, order], axis=1) < 0).any()  # there was something to sort
    targets = np.random.default_rng(0).standard_normal(len(far)) + 2
    total = [
        sum(float(np.sum(Pinball(t).value(targets, values[:, k]))) for k, t in enumerate(taus))
        for values in (found, raw)
    ]
    assert total[0] <= total[1] + 1e-9
    for k, tau in enumerate(taus):
        alone = mc.KernelQuantile(tau, 0.05, K).fit(X, y)
        np.testing.assert_allclose(raw[:, k], alone.predict(far), atol=1e-6)


def test_one_quantile_or_a_list() -> None:
    X, y = _data(60)
    assert mc.KernelQuantile(0.5, kernel=K).fit(X, y).predict(NEW).shape == (30,)
    one = mc.KernelQuantile([0.5], kernel=K).fit(X, y).predict(NEW)
    np.testing.assert_array_equal(one[:, 0], mc.KernelQuantile(0.5, kernel=K).fit(X, y).predict(NEW))
    assert mc.KernelQuantile(np.array([0.2, 0.2]), kernel=K).fit(X, y).predict(NEW).shape == (30, 2)


# -- weights, data of any kind
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", EVERY, ids=_named)
def test_weights_are_repetitions(machine: Any) -> None:
    X, y = _data(70)
    y = _targets(machine, y)
    w = np.random.default_rng(0).integers(0, 4, 70)
    one = machine.set_params(fit_intercept=True).fit(X, y, w).predict(NEW)
    other = machine.fit(np.repeat(X, w, 0), np.repeat(y, w)).predict(NEW)
    np.testing.assert_allclose(one, other, atol=2e-5)


@pytest.mark.parametrize("machine", EVERY, ids=_named)
def test_precomputed_is_the_kernel(machine: Any) -> None:
    X, y = _data(70)
    y = _targets(machine, y)
    expected = machine.fit(X, y).predict(NEW)
    given = type(machine)(**{**machine.get_params(deep=False), "kernel": "precomputed"}).fit(K(X), y)
    np.testing.assert_allclose(given.predict(K(NEW, X)), expected, atol=1e-6)


def test_solvers_agree() -> None:
    X, y = _data()
    every = {
        s: mc.KernelHuber(0.1, 0.3, mc.Polynomial(2), solver=s).fit(X, y)
        for s in ("auto", "woodbury", "cholesky", "cg")
    }
    assert [m.solver_ for m in every.values()] == ["newton-woodbury", "newton-woodbury", "newton-cholesky", "newton-cg"]
    for machine in every.values():
        np.testing.assert_allclose(machine.predict(NEW), every["auto"].predict(NEW), atol=1e-5)
    for solver in ("cholesky", "woodbury", "cg"):
        assert mc.RepresenterMachine(None, 0.1, mc.Polynomial(2), solver=solver).fit(X, y).solver_ == solver


# -- losses of one's own
# ------------------------------------------------------------------------------------------------


class LogCosh(Loss):
    """log cosh(y − f)."""

    def value(self, y: Any, f: Any) -> Any:
        r = np.abs(y - f)
        return r + np.log1p(np.exp(-2 * r)) - np.log(2)

    def gradient(self, y: Any, f: Any) -> Any:
        return np.tanh(f - y)


class Doubled(Squared):
    """2(y − f)²: a loss that is made from another is not taken for it."""

    def value(self, y: Any, f: Any) -> Any:
        return 2 * super().value(y, f)

    def gradient(self, y: Any, f: Any) -> Any:
        return 2 * super().gradient(y, f)

    def curvature(self, y: Any, f: Any) -> Any:
        return 2 * super().curvature(y, f)


def test_a_loss_of_ones_own() -> None:
    X, y = _data()
    machine = mc.RepresenterMachine(LogCosh(), 0.2, K).fit(X, y)
    assert machine.solver_ == "lbfgs"
    assert machine.converged_
    gram = K(X)
    coef = np.zeros(120)
    coef[machine.support_] = machine.dual_coef_[0]
    g = np.tanh(gram @ coef + machine.intercept_[0] - y)
    assert abs(g.sum()) < 1e-2
    assert np.abs(gram @ (g + 0.4 * coef)).max() < 1e-2
    np.testing.assert_allclose(machine.function_(NEW), machine.predict(NEW), atol=1e-10)


def test_a_subclass_of_squares_is_its_own_loss() -> None:
    X, y = _data()
    doubled = mc.RepresenterMachine(Doubled(), 0.4, K).fit(X, y)
    np.testing.assert_allclose(
        doubled.predict(NEW), mc.KernelRidge(0.2, K, tol=1e-12).fit(X, y).predict(NEW), atol=1e-6
    )


def test_a_loss_of_several_outputs_is_refused() -> None:
    X, y = _data()
    with pytest.raises(ValueError, match=r"Multinomial.* is of several functions at once.*KernelLogistic"):
        mc.RepresenterMachine(Multinomial(3), 0.2, K).fit(X, np.digitize(y, [1.5, 2.5]))


# -- ends, and says why
# -------------------------------------------------------------------------------------------------

HARD = [
    mc.KernelHuber(1e-4, 0.05, K),
    mc.KernelPoisson(1e-4, K),
    mc.RepresenterMachine(Logistic(), 1e-4, K),
    mc.KernelQuantile([0.2, 0.6], 1e-4, K),
]


@pytest.mark.parametrize("machine", HARD, ids=_named)
@pytest.mark.parametrize(("limit", "reason"), [({"max_iter": 1}, "max_iter"), ({"max_time": 0.0}, "max_time")])
def test_limits_are_reported(machine: Any, limit: dict[str, Any], reason: str) -> None:
    X, y = _data()
    y = _targets(machine, y)
    limited = type(machine)(**{**machine.get_params(deep=False), **limit})
    with pytest.warns(ConvergenceWarning, match=f"{type(machine).__name__} stopped after {reason}") as found:
        limited.fit(X, y)
    assert not any("no longer falls" in str(w.message) for w in found)  # it was not asked to go on
    assert limited.stop_reason_ == reason
    assert not limited.converged_
    assert limited.gap_ > limited.tol
    assert (
        limited.n_iter_ == len(machine._losses()) if reason == "max_iter" else limited.n_iter_ <= len(machine._losses())
    )
    assert np.isfinite(limited.predict(NEW)).all()
    whole = machine.fit(X, y)
    assert whole.converged_
    assert whole.objective_ <= limited.objective_


def test_limits_of_squares_are_reported() -> None:
    X, y = _data(300)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        machine = mc.RepresenterMachine(None, 1e-6, K, solver="cg", max_iter=1, tol=1e-15).fit(X, y)
    assert (machine.stop_reason_, machine.converged_, machine.n_iter_) == ("max_iter", False, 1)


@pytest.mark.parametrize("machine", HARD, ids=_named)
def test_progress_may_stop_and_interrupts_are_kept(machine: Any) -> None:
    X, y = _data()
    y = _targets(machine, y)
    seen: list[Any] = []
    same = machine.get_params(deep=False)
    stopped = type(machine)(**{**same, "progress": lambda state: seen.append(state) or True}).fit(X, y)  # type: ignore[func-returns-value]
    assert stopped.stop_reason_ == "callback"
    assert len(seen) == 1  # nor is it asked again for the next quantile

    def interrupt(state: Any) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        type(machine)(**{**same, "progress": interrupt}).fit(X, y)
    kept = type(machine)(**{**same, "progress": interrupt, "on_interrupt": "keep"}).fit(X, y)
    assert kept.stop_reason_ == "interrupted"
    assert np.isfinite(kept.predict(NEW)).all()


def test_an_indefinite_kernel_is_not_an_internal_error() -> None:
    """It names what is wrong and the cure, as a ridge does."""
    X, y = _data()
    for machine in (
        mc.RepresenterMachine(None, 1e-3, mc.Sigmoid(-1.0, 1.0)),
        mc.KernelHuber(1e-3, 0.5, mc.Sigmoid(-1.0, 1.0)),
    ):
        with (
            pytest.warns(UserWarning, match="The kernel matrix is indefinite"),
            pytest.raises(ValueError, match=r"matrix plus the ridge is not positive definite.*kernel\.repaired"),
        ):
            machine.fit(X, y)


@pytest.mark.parametrize(
    ("machine", "y", "message"),
    [
        (mc.RepresenterMachine(alpha=-1.0), None, "alpha must be a positive number"),
        (mc.RepresenterMachine(alpha=0.0), None, "alpha must be a positive number"),
        (mc.RepresenterMachine(solver="lu"), None, "choose one of"),
        (mc.RepresenterMachine(Logistic()), None, "−1 and 1"),
        (mc.RepresenterMachine(Hinge()), np.arange(20) % 2, "−1 and 1"),
        (mc.KernelHuber(delta=0.0), None, "positive"),
        (mc.KernelExpectile(tau=1.0), None, "between 0 and 1"),
        (mc.KernelPoisson(), np.arange(20) - 5.0, "target 0 is -5"),
        (mc.KernelPoisson(), np.zeros(20), "All counts are 0"),
        (mc.KernelQuantile(1.5), None, "between 0 and 1"),
        (mc.KernelQuantile([0.1, 0.0]), None, "between 0 and 1"),
        (mc.KernelQuantile([]), None, "list of them"),
        (mc.KernelHuber(tol=0.0), None, "must be positive"),
        (mc.KernelHuber(on_interrupt="never"), None, "on_interrupt"),
        (mc.KernelHuber(solver="woodbury"), None, "fewer features"),
    ],
)
def test_errors(machine: Any, y: Any, message: str) -> None:
    X, target = _data(20)
    with pytest.raises(ValueError, match=message):
        machine.fit(X, target if y is None else y)


def test_a_loss_is_a_loss() -> None:
    X, y = _data(20)
    with pytest.raises(TypeError, match=r"mercer\.losses\.Huber"):
        mc.RepresenterMachine("huber").fit(X, y)
    with pytest.raises(ValueError, match="weight"):
        mc.KernelHuber().fit(X, y, np.zeros(20))
