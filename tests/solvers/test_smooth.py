"""Smooth losses against scikit-learn and SciPy on the features, and against the condition of optimality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from threadpoolctl import threadpool_limits

import mercer as mc
from mercer.compute import Compute
from mercer.gram import DenseGram, LowRankGram
from mercer.losses import Expectile, Huber, Logistic, Loss, Multinomial, Poisson, Squared, SquaredHinge
from mercer.problems import SmoothERM, SmoothSolution
from mercer.solvers.smooth import Descent

LOSSES = [Squared(), Logistic(), Huber(0.5), Expectile(0.2), Poisson(), SquaredHinge(), Multinomial(3)]


def _data(loss: Loss, n: int = 90, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    f = X[:, 0] + np.sin(2 * X[:, 1])
    match loss:
        case Logistic() | SquaredHinge():
            return X, np.where(f + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
        case Multinomial():
            return X, np.argmax(np.column_stack([f, X[:, 2], -f]) + 0.5 * rng.standard_normal((n, 3)), axis=1)
        case Poisson():
            return X, rng.poisson(np.exp(0.5 * f)).astype(float)
    return X, 3.0 + f + 0.3 * rng.standard_t(2, n)


def _weights(n: int) -> Any:
    return np.random.default_rng(9).uniform(0.2, 3.0, n)


def _objective(problem: SmoothERM, K: Any, coef: Any, bias: Any) -> float:
    f = K @ coef + bias
    return float(
        np.sum(problem.weights * problem.loss.value(problem.targets, f)) + problem.ridge * np.sum(coef * (K @ coef))
    )


def _slope(problem: SmoothERM, K: Any, s: SmoothSolution) -> float:
    """How far from stationary, 2λα + wℓ′ = 0 and Σ wℓ′ = 0, relative to the terms that cancel."""
    f = K @ s.coef + s.bias
    w = problem.weights if f.ndim == 1 else problem.weights[:, None]
    g = w * problem.loss.gradient(problem.targets, f)
    size = np.abs(w * problem.loss.gradient(problem.targets, np.zeros_like(f))).max()
    worst = np.abs(K @ (g + 2 * problem.ridge * s.coef)).max() / np.abs(K).max()
    return float(max(worst, np.abs(g.sum(axis=0)).max() if problem.bias else 0.0) / size)


@pytest.mark.parametrize("solver", ["auto", "cg"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_end_is_stationary_and_told_as_it_is(loss: Loss, bias: bool, solver: str) -> None:
    X, y = _data(loss)
    kernel = mc.Gaussian(0.5)
    K = kernel(X)
    problem = SmoothERM(loss, y, _weights(90), 0.1, bias)
    for gram in (kernel.gram(X), DenseGram(K)):
        s = Descent(tol=1e-12, solver=solver).solve(problem, gram)
        assert s.converged
        assert s.gap <= 1e-9
        assert _slope(problem, K, s) <= 1e-5
        assert s.objective == pytest.approx(_objective(problem, K, s.coef, s.bias), rel=1e-10)
        np.testing.assert_allclose(s.values, K @ s.coef + s.bias, atol=1e-9)
        assert s.solver == ("newton-cholesky" if solver == "auto" else "newton-cg")
        assert not bias or np.abs(np.sum(s.coef, axis=0)).max() < 1e-8 * np.abs(s.coef).sum()
        if not bias:
            assert not np.any(s.bias)


def _peer(problem: SmoothERM, Phi: Any) -> float:
    """The least objective over weights of the features, by SciPy."""
    n, p = Phi.shape
    m = max(1, problem.loss.outputs(problem.targets))
    w = problem.weights

    def both(v: Any) -> tuple[float, Any]:
        theta, b = v[: p * m].reshape(p, m), v[p * m :] * problem.bias
        f = Phi @ theta + b
        shaped = f if problem.loss.outputs(problem.targets) else f[:, 0]
        g = w[:, None] * problem.loss.gradient(problem.targets, shaped).reshape(n, m)
        value = float(np.sum(w * problem.loss.value(problem.targets, shaped)) + problem.ridge * np.sum(theta**2))
        return value, np.concatenate([(Phi.T @ g + 2 * problem.ridge * theta).ravel(), g.sum(axis=0) * problem.bias])

    exact = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-10}
    with threadpool_limits(1):  # thousands of tiny products
        best = minimize(both, np.zeros((p + 1) * m), jac=True, method="L-BFGS-B", options=exact)
    return float(best.fun)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_objective_is_scipys(loss: Loss, bias: bool) -> None:
    X, y = _data(loss)
    kernel = mc.Polynomial(2)
    problem = SmoothERM(loss, y, _weights(90), 0.3, bias)
    best = _peer(problem, kernel.features(X))
    for solver in ("auto", "cholesky", "cg"):
        s = Descent(solver=solver).solve(problem, kernel.gram(X))
        assert s.converged
        assert s.solver == {"auto": "newton-woodbury"}.get(solver, f"newton-{solver}")
        assert abs(s.objective - best) <= 1e-8 * abs(best)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "cg"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_coefficients_do_not_drift_where_the_matrix_cannot_see_them(loss: Loss, solver: str) -> None:
    """Of rank 10 among 90: any α + (null vector) is the same f, but α = −wℓ′/(2λ) costs no digits."""
    X, y = _data(loss)
    kernel, w = mc.Polynomial(2), _weights(90)
    s = Descent(solver=solver).solve(SmoothERM(loss, y, w, 0.3), kernel.gram(X))
    expected = -(w if s.coef.ndim == 1 else w[:, None]) * loss.gradient(y, s.values) / 0.6
    np.testing.assert_allclose(s.coef, expected, rtol=0, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Polynomial(2)], ids=str)
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression_is_scikit_learns(kernel: Any, alpha: float, classes: int) -> None:
    """On the features, with C = 1/(2α): its objective is ours over 2α."""
    loss: Loss = Logistic() if classes == 2 else Multinomial(3)
    X, y = _data(loss, 150)
    w, Phi = _weights(150), kernel.features(X)
    problem = SmoothERM(loss, y, w, alpha)
    s = Descent().solve(problem, kernel.gram(X))
    peer = LogisticRegression(C=1 / (2 * alpha), tol=1e-12, solver="newton-cholesky").fit(Phi, y, w)
    theta, b = (peer.coef_[0], peer.intercept_[0]) if classes == 2 else (peer.coef_.T, peer.intercept_)
    best = float(np.sum(w * loss.value(y, Phi @ theta + b)) + alpha * np.sum(theta**2))
    assert abs(s.objective - best) <= 1e-8 * best
    np.testing.assert_allclose(loss.mean(s.values), loss.mean(Phi @ theta + b), atol=1e-5)


def test_poisson_regression_is_scikit_learns() -> None:
    """Its objective is half the mean deviance plus α‖w‖²/2: ours times 1/Σw, but for a constant of y."""
    X, y = _data(Poisson(), 150)
    w, Phi = _weights(150), mc.Polynomial(2).features(X)
    alpha = 0.4
    s = Descent().solve(SmoothERM(Poisson(), y, w, alpha), mc.Polynomial(2).gram(X))
    peer = PoissonRegressor(alpha=2 * alpha / w.sum(), tol=1e-10, max_iter=10**5, solver="newton-cholesky").fit(
        Phi, y, w
    )
    best = float(np.sum(w * Poisson().value(y, Phi @ peer.coef_ + peer.intercept_)) + alpha * peer.coef_ @ peer.coef_)
    assert abs(s.objective - best) <= 1e-8 * abs(best)
    np.testing.assert_allclose(np.exp(s.values), peer.predict(Phi), rtol=1e-4)


def test_squares_are_the_linear_system() -> None:
    X, y = _data(Squared())
    K, w = mc.Gaussian(0.5)(X), _weights(90)
    s = Descent(tol=1e-14).solve(SmoothERM(Squared(), y, w, 0.1), DenseGram(K))
    M = np.block([[K + 0.1 * np.diag(1 / w), np.ones((90, 1))], [np.ones((1, 90)), np.zeros((1, 1))]])
    exact = np.linalg.solve(M, np.append(y, 0.0))
    assert s.n_iter <= 2
    np.testing.assert_allclose(s.coef, exact[:-1], atol=1e-8)
    np.testing.assert_allclose(s.bias, exact[-1], atol=1e-8)


# -- losses of one's own
# ------------------------------------------------------------------------------------------------


class LogCosh(Loss):
    """log cosh(y − f), without its curvature."""

    def value(self, y: Any, f: Any) -> Any:
        r = np.abs(y - f)
        return r + np.log1p(np.exp(-2 * r)) - np.log(2)

    def gradient(self, y: Any, f: Any) -> Any:
        return np.tanh(f - y)


class CurvedLogCosh(LogCosh):
    """The same, with it."""

    def curvature(self, y: Any, f: Any) -> Any:
        return 1 - np.tanh(f - y) ** 2


@pytest.mark.thorough
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kernel", [mc.Gaussian(0.5), mc.Polynomial(2)], ids=str)
def test_with_and_without_curvature(kernel: Any, bias: bool) -> None:
    X, y = _data(Huber())
    K, w = kernel(X), _weights(90)
    solutions = [
        Descent().solve(SmoothERM(loss, y, w, 0.1, bias), kernel.gram(X)) for loss in (LogCosh(), CurvedLogCosh())
    ]
    assert solutions[0].solver == "lbfgs"
    assert solutions[1].solver.startswith("newton")
    values, vectors = np.linalg.eigh(K)
    best = _peer(SmoothERM(LogCosh(), y, w, 0.1, bias), vectors * np.sqrt(np.maximum(values, 0.0)))
    for s in solutions:
        assert s.converged
        assert abs(s.objective - best) <= 1e-7 * best
    np.testing.assert_allclose(solutions[0].values, solutions[1].values, atol=1e-3)


def test_a_coupled_loss_without_curvature() -> None:
    class Plain(Loss):
        """Multinomial's value and gradient alone."""

        def value(self, y: Any, f: Any) -> Any:
            return Multinomial(3).value(y, f)

        def gradient(self, y: Any, f: Any) -> Any:
            return Multinomial(3).gradient(y, f)

        def outputs(self, y: Any) -> int:
            return 3

    X, y = _data(Multinomial(3))
    gram, w = mc.Gaussian(0.5).gram(X), _weights(90)
    one, other = (Descent().solve(SmoothERM(loss, y, w, 0.1), gram) for loss in (Plain(), Multinomial(3)))
    assert one.converged
    assert one.solver == "lbfgs"
    assert one.objective == pytest.approx(other.objective, rel=1e-7)


# -- hard ones
# ----------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@settings(max_examples=40)
@given(
    loss=st.sampled_from(LOSSES),
    gamma=st.sampled_from([1e-3, 0.5, 20.0]),
    ridge=st.sampled_from([1e-6, 1e-2, 1.0, 1e4]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    bias=st.booleans(),
    seed=st.integers(0, 3),
)
def test_every_fit_ends_near_the_minimum(
    loss: Loss, gamma: float, ridge: float, scale: float, bias: bool, seed: int
) -> None:
    """Where it says that it converged, SciPy finds nothing that is lower."""
    X, y = _data(loss, 40, seed)
    y = y * scale if isinstance(loss, Squared | Huber | Expectile) else y
    K = mc.Gaussian(gamma)(X)
    problem = SmoothERM(loss, y, np.ones(40), ridge, bias)
    s = Descent().solve(problem, DenseGram(K))
    assert np.isfinite(s.objective)
    assert s.objective == pytest.approx(_objective(problem, K, s.coef, s.bias), rel=1e-6, abs=1e-9)
    assert s.converged
    values, vectors = np.linalg.eigh(K)
    used = values > 1e-12 * values[-1]
    best = _peer(problem, vectors[:, used] * np.sqrt(values[used]))
    assert s.objective <= best + 1e-6 * abs(best) + 1e-12


def test_outliers_far_away() -> None:
    """Newton from the median, with most residuals on the straight pieces."""
    X, y = _data(Huber())
    y[::7] += 1e5
    problem = SmoothERM(Huber(0.01), y, np.ones(90), 1e-3)
    K = mc.Gaussian(0.5)(X)
    s = Descent().solve(problem, DenseGram(K))
    assert s.converged
    least = Descent(tol=1e-15).solve(problem, DenseGram(K))
    assert _slope(problem, K, least) <= 1e-6
    assert s.objective - least.objective <= 1e-8 * least.objective


def test_large_counts() -> None:
    """e^f would overflow from a bad start; separable rates of 1 and 10⁶."""
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = np.where(X[:, 0] > 0, 1e6, 1.0)
    for bias in (True, False):
        problem = SmoothERM(Poisson(), y, np.ones(60), 1.0, bias)
        K = mc.Gaussian(0.5)(X)
        s = Descent().solve(problem, DenseGram(K))
        assert s.converged
        assert _slope(problem, K, s) <= 1e-5


def test_an_objective_near_zero_has_a_minimum_too() -> None:
    """Σ e^f − yf is nearly 0 at its minimum for these y: a share of it says nothing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    K = mc.Gaussian(0.5)(X)
    y = np.exp(1 + 0.5 * X[:, 0])

    def solved(factor: float) -> SmoothSolution:
        return Descent().solve(SmoothERM(Poisson(), factor * y, np.ones(60), 0.1), DenseGram(K))

    low, high = 0.1, 3.0  # the factor at which the objective changes its sign
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if solved(middle).objective > 0 else (low, middle)
    s = solved(middle)
    assert abs(s.objective) < 1e-6
    assert s.converged
    assert _slope(SmoothERM(Poisson(), middle * y, np.ones(60), 0.1), K, s) <= 1e-5


def test_without_the_matrix_in_memory() -> None:
    X, y = _data(Logistic(), 300)
    problem = SmoothERM(Logistic(), y, np.ones(300), 0.1)
    whole, lean = (
        Descent().solve(problem, mc.Gaussian(0.5).gram(X, compute=Compute(memory=memory)))
        for memory in ("1GB", "500KB")
    )
    assert whole.solver == "newton-cholesky"
    assert lean.solver == "newton-cg"
    assert lean.objective == pytest.approx(whole.objective, rel=1e-8)


# -- ends, and says why
# -------------------------------------------------------------------------------------------------


def _long() -> tuple[SmoothERM, Any]:
    X, y = _data(Logistic())
    return SmoothERM(Logistic(), y, np.ones(90), 1e-5), mc.Gaussian(0.5).gram(X)


def test_limits() -> None:
    problem, gram = _long()
    whole = Descent().solve(problem, gram)
    assert whole.n_iter > 5
    s = Descent(max_iter=2).solve(problem, gram)
    assert (s.stop_reason, s.n_iter, s.converged) == ("max_iter", 2, False)
    assert s.objective > whole.objective
    s = Descent(max_time=0.0).solve(problem, gram)
    assert (s.stop_reason, s.n_iter) == ("max_time", 1)
    seen: list[dict[str, Any]] = []
    s = Descent(progress=lambda state: seen.append(state) or len(seen) == 3).solve(problem, gram)  # type: ignore[func-returns-value]
    assert (s.stop_reason, s.n_iter, len(seen)) == ("callback", 3, 3)
    assert {"gap", "tol", "n_iter", "seconds", "objective"} <= set(seen[0])
    assert [state["objective"] for state in seen] == sorted((state["objective"] for state in seen), reverse=True)
    assert seen[-1]["objective"] == s.objective


@pytest.mark.parametrize("loss", [Logistic(), LogCosh()], ids=["newton", "lbfgs"])
def test_interrupted_work_is_kept_when_asked(loss: Loss) -> None:
    problem, gram = _long()
    problem = SmoothERM(loss, problem.targets, problem.weights, problem.ridge)

    def interrupt(state: dict[str, Any]) -> bool:
        if state["n_iter"] == 3:
            raise KeyboardInterrupt
        return False

    s = Descent(progress=interrupt, keep_on_interrupt=True).solve(problem, gram)
    assert s.stop_reason == "interrupted"
    assert s.n_iter == 3
    assert s.objective == pytest.approx(_objective(problem, gram.dense(), s.coef, s.bias), rel=1e-9)
    assert s.objective < _objective(problem, gram.dense(), np.zeros(90), 0.0)
    with pytest.raises(KeyboardInterrupt):
        Descent(progress=interrupt).solve(problem, gram)


def test_a_point_to_start_from() -> None:
    problem, gram = _long()
    first = Descent().solve(problem, gram)
    again = Descent().solve(problem, gram, first)
    assert again.converged
    assert again.n_iter <= 1
    assert again.objective == pytest.approx(first.objective, rel=1e-9)
    part = Descent(max_iter=3).solve(problem, gram)
    assert Descent().solve(problem, gram, part).objective == pytest.approx(first.objective, rel=1e-8)


@pytest.mark.thorough
def test_features_are_never_multiplied_out() -> None:
    """n = 20 000 of 3 features within 64 MB: the matrix would take 3 GB."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + rng.standard_normal(20_000) > 0, 1.0, -1.0)
    s = Descent().solve(SmoothERM(Logistic(), y, np.ones(20_000), 0.5), LowRankGram(X, compute=Compute(memory="64MB")))
    peer = LogisticRegression(C=1.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(s.coef @ X, peer.coef_[0], rtol=1e-5)
    np.testing.assert_allclose(s.bias, peer.intercept_[0], atol=1e-5)
