"""Kernel ridge regression against scikit-learn, a Gaussian process, and least squares of minimum norm."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from sklearn import kernel_ridge
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.model_selection import GridSearchCV

import mercer as mc
from mercer.compute import Compute
from mercer.data import Anything
from mercer.kernels.base import Kernel, kernel
from tests.estimators.ridge_samples import NEW, K, problem, some_weights


@pytest.mark.parametrize("outputs", [0, 3])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 50.0])
def test_without_intercept_it_is_scikit_learns(alpha: float, outputs: int) -> None:
    X, y = problem(outputs=outputs)
    w = some_weights(100)
    for weights in (None, w):
        ours = mc.KernelRidge(alpha, K, fit_intercept=False).fit(X, y, weights)
        peer = kernel_ridge.KernelRidge(alpha=alpha, kernel="rbf", gamma=0.5).fit(X, y, weights)
        np.testing.assert_allclose(ours.predict(NEW), peer.predict(NEW), atol=1e-8)
        assert not np.any(ours.intercept_)
        assert ours.converged_
        assert ours.gap_ <= 1e-8


def test_the_intercept_is_not_penalised() -> None:
    """(K + λW^−1)α + b = y with Σα = 0, as one system."""
    X, y = problem(outputs=2)
    w = some_weights(100)
    M = np.ones((101, 101))
    M[:100, :100], M[100, 100] = K(X) + 0.3 * np.diag(1 / w), 0.0
    exact = np.linalg.solve(M, np.vstack([y, np.zeros(2)]))
    ours = mc.KernelRidge(0.3, K).fit(X, y, w)
    np.testing.assert_allclose(ours.predict(NEW), K(NEW, X) @ exact[:100] + exact[100], atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, exact[100], atol=1e-9)
    np.testing.assert_allclose(ours.dual_coef_, exact[:100].T, atol=1e-8)
    np.testing.assert_allclose(ours.function_(NEW), ours.predict(NEW), atol=1e-12)


def test_linear_ridge_on_features() -> None:
    """Polynomial features with an unpenalised intercept: scikit-learn's Ridge."""
    from sklearn.linear_model import Ridge

    X, y = problem()
    k = mc.Polynomial(3)
    peer = Ridge(2.0, solver="cholesky", tol=1e-14).fit(k.features(X), y)
    for solver in ("auto", "woodbury", "cholesky", "cg", "eigen"):
        ours = mc.KernelRidge(2.0, k, solver=solver).fit(X, y)
        np.testing.assert_allclose(ours.predict(NEW), peer.predict(k.features(NEW)), atol=1e-6)
        assert ours.solver_ == ("woodbury" if solver == "auto" else solver)


@pytest.mark.thorough
@pytest.mark.parametrize("solver", ["auto", "cholesky", "cg", "eigen"])
def test_a_constant_passes_through(solver: str) -> None:
    """y + 10⁶: the predictions follow to rounding."""
    X, y = problem()
    tol = 1e-8 if solver == "eigen" else 1e-12
    one, far = (mc.KernelRidge(0.1, K, solver=solver, tol=tol).fit(X, t).predict(NEW) for t in (y, y + 1e6))
    np.testing.assert_allclose(far - 1e6, one, rtol=0, atol=20 * np.finfo(float).eps * 1e6)


def test_solvers_agree() -> None:
    X, Y = problem(outputs=3)
    w = some_weights(100)
    every = {s: mc.KernelRidge(0.05, K, solver=s, tol=1e-12).fit(X, Y, w) for s in ("auto", "cholesky", "cg", "eigen")}
    assert [m.solver_ for m in every.values()] == ["cholesky", "cholesky", "cg", "eigen"]
    for machine in every.values():
        assert machine.converged_
        np.testing.assert_allclose(machine.predict(NEW), every["eigen"].predict(NEW), atol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("k", [K, mc.Gaussian(), mc.Polynomial(2)], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_are_repetitions_and_zero_is_absence(k: Any, intercept: bool) -> None:
    X, Y = problem(outputs=2)
    w = np.random.default_rng(0).integers(0, 4, 100)
    one, other = (mc.KernelRidge(0.3, k, fit_intercept=intercept, tol=1e-11) for _ in range(2))
    one.fit(X, Y, w)
    other.fit(np.repeat(X, w, 0), np.repeat(Y, w, 0))
    np.testing.assert_allclose(one.predict(NEW), other.predict(NEW), atol=1e-8)
    np.testing.assert_allclose(one.predict(NEW, return_std=True)[1], other.predict(NEW, return_std=True)[1], atol=1e-7)
    absent = mc.KernelRidge(0.3, k, fit_intercept=intercept, tol=1e-11).fit(X[w > 0], Y[w > 0], w[w > 0])
    np.testing.assert_allclose(one.predict(NEW), absent.predict(NEW), atol=1e-12)
    np.testing.assert_array_equal(one.support_, np.flatnonzero(w))


@pytest.mark.thorough
@pytest.mark.parametrize("k", [K, mc.Polynomial(2)], ids=str)
def test_each_output_its_own_ridge(k: Any) -> None:
    X, Y = problem(outputs=3)
    alphas = [0.01, 1.0, 0.0]
    both = mc.KernelRidge(alphas, k).fit(X, Y)
    for t, alpha in enumerate(alphas):
        alone = mc.KernelRidge(alpha, k).fit(X, Y[:, t])
        np.testing.assert_allclose(both.predict(NEW)[:, t], alone.predict(NEW), atol=1e-5)
    many = np.column_stack([Y] * 4)
    ridges = np.geomspace(0.01, 10, 12)  # so many that one decomposition serves all
    several = mc.KernelRidge(ridges, k).fit(X, many)
    assert several.solver_ == "eigen"
    for t in (0, 5, 11):
        np.testing.assert_allclose(
            several.predict(NEW)[:, t], mc.KernelRidge(ridges[t], k).fit(X, many[:, t]).predict(NEW), atol=1e-7
        )
    std = mc.KernelRidge([0.01, 1.0, 0.01], k).fit(X, Y).predict(NEW, return_std=True)[1]
    assert std.shape == (25, 3)
    np.testing.assert_allclose(
        std[:, 1], mc.KernelRidge(1.0, k).fit(X, Y[:, 1]).predict(NEW, return_std=True)[1], atol=1e-10
    )


@pytest.mark.thorough
@pytest.mark.parametrize("k", [K, mc.Polynomial(2)], ids=str)
@pytest.mark.parametrize("weighted", [True, False])
def test_missing_labels_are_separate_fits(k: Any, weighted: bool) -> None:
    X, Y = problem(outputs=3)
    rng = np.random.default_rng(0)
    Y[rng.random((100, 3)) < 0.3] = np.nan
    Y[:, 2] = np.where(np.isnan(Y[:, 1]), np.nan, 5.0 + X[:, 0])  # the same gaps as another
    w = some_weights(100) if weighted else None
    machine = mc.KernelRidge([0.3, 0.1, 0.1], k, tol=1e-11).fit(X, Y, w)
    mean, std = machine.predict(NEW, return_std=True)
    for t, alpha in enumerate([0.3, 0.1, 0.1]):
        known = ~np.isnan(Y[:, t])
        alone = mc.KernelRidge(alpha, k, tol=1e-11).fit(X[known], Y[known, t], None if w is None else w[known])
        expected, sure = alone.predict(NEW, return_std=True)
        np.testing.assert_allclose(mean[:, t], expected, atol=1e-8)
        np.testing.assert_allclose(std[:, t], sure, atol=1e-8)


def test_labels_that_only_absent_samples_have() -> None:
    """An output whose labels are all at weight 0 has none; that is said, as it is of one without any."""
    X, Y = problem(outputs=2)
    Y[3:, 1] = np.nan
    with pytest.raises(ValueError, match="Output 1 of y has no label"):
        mc.KernelRidge(kernel=K).fit(X, Y, np.where(np.arange(100) < 3, 0.0, 1.0))


def test_shapes() -> None:
    X, y = problem()
    assert mc.KernelRidge(kernel=K).fit(X, y).predict(NEW).shape == (25,)
    assert mc.KernelRidge(kernel=K).fit(X, y[:, None]).predict(NEW).shape == (25, 1)
    assert mc.KernelRidgeCV(kernel=K).fit(X, y[:, None]).predict(NEW).shape == (25, 1)
    machine = mc.KernelRidgeCV(kernel=K).fit(X, y[:, None])
    assert machine.loo_residuals_.shape == (100, 1)


@pytest.mark.parametrize("intercept", [True, False])
def test_no_ridge_is_least_squares_of_minimum_norm(intercept: bool) -> None:
    """On features: lstsq, of which the bias is not counted in the norm. With copied columns there are many
    solutions.
    """
    X, y = problem()
    X = np.column_stack([X, X[:, 0], X.sum(axis=1)])
    machine = mc.KernelRidge(0.0, mc.Linear(), fit_intercept=intercept).fit(X, y)
    centre, level = (X.mean(axis=0), y.mean()) if intercept else (0.0, 0.0)
    theta = np.linalg.lstsq(X - centre, y - level, rcond=1e-10)[0]
    new = np.random.default_rng(1).standard_normal((20, 5))  # outside the plane of the training samples
    np.testing.assert_allclose(machine.predict(new), (new - centre) @ theta + level, atol=1e-9)
    assert machine.converged_


def test_no_ridge_interpolates() -> None:
    X, y = problem(40)
    np.testing.assert_allclose(mc.KernelRidge(0.0, mc.Laplacian(1.0)).fit(X, y).predict(X), y, atol=1e-8)


@pytest.mark.thorough
@pytest.mark.parametrize("weighted", [True, False])
def test_the_uncertainty_is_a_gaussian_process(weighted: bool) -> None:
    X, y = problem()
    w = some_weights(100) if weighted else np.ones(100)
    pairs = [(K, RBF(1.0)), (mc.Linear() + 4.0 * mc.Constant(), DotProduct(2.0))]
    for k, theirs in pairs:
        peer = GaussianProcessRegressor(theirs, alpha=0.2 / w, optimizer=None).fit(X, y)
        for machine in (
            mc.KernelRidge(0.2, k, fit_intercept=False, tol=1e-12),
            mc.KernelRidgeCV([0.2], k, fit_intercept=False),
        ):
            for new in (NEW, NEW[:1], X[:3]):
                mean, std = machine.fit(X, y, w).predict(new, return_std=True)
                expected, sure = peer.predict(new, return_std=True)
                np.testing.assert_allclose(mean, expected, atol=1e-8)
                np.testing.assert_allclose(std, sure * np.sqrt(machine.signal_variance_[0]), atol=1e-8)


@pytest.mark.thorough
def test_the_uncertainty_is_in_the_units_of_y() -> None:
    """As of scikit-learn's process with covariance s·k and noise s·λ, at the s of largest likelihood; another scale of
    y is one of the answer.
    """
    X, y = problem()
    machine = mc.KernelRidge(0.2, K, fit_intercept=False, tol=1e-12).fit(X, y)

    def loss(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        process = GaussianProcessRegressor(ConstantKernel(scale) * RBF(1.0), alpha=0.2 * scale, optimizer=None).fit(
            X, y
        )
        return -float(process.log_marginal_likelihood_value_)

    scale = float(np.exp(minimize_scalar(loss, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10}).x))
    np.testing.assert_allclose(machine.signal_variance_, scale, rtol=1e-5)
    peer = GaussianProcessRegressor(ConstantKernel(scale) * RBF(1.0), alpha=0.2 * scale, optimizer=None).fit(X, y)
    sure = peer.predict(NEW, return_std=True)[1]
    np.testing.assert_allclose(machine.predict(NEW, return_std=True)[1], sure, rtol=1e-5)
    np.testing.assert_allclose(
        machine.predict(NEW, return_std=True, include_noise=True)[1], np.sqrt(sure**2 + 0.2 * scale), rtol=1e-5
    )
    for intercept in (True, False):
        one, other = (
            mc.KernelRidge(0.2, K, fit_intercept=intercept, tol=1e-12).fit(X, c * y).predict(NEW, return_std=True)[1]
            for c in (1.0, 1e6)
        )
        np.testing.assert_allclose(other, 1e6 * one, rtol=1e-6)


@pytest.mark.parametrize("k", [K, mc.Linear() + 4.0 * mc.Constant()], ids=["Gaussian", "line"])
def test_the_density_of_new_targets_is_that_of_a_gaussian_process(k: Any) -> None:
    """−log p(y | x) on samples held out, from mean and standard deviation with noise, as scikit-learn's process has it
    at the same kernel, scale and noise.
    """
    X, y = problem(140)
    (X, new), (y, left) = np.split(X, [100]), np.split(y, [100])
    machine = mc.KernelRidge(0.2, k, fit_intercept=False, tol=1e-12).fit(X, y)
    mean, std = machine.predict(new, return_std=True, include_noise=True)
    scale = float(machine.signal_variance_[0])
    theirs = ConstantKernel(scale) * (RBF(1.0) if k is K else DotProduct(2.0)) + WhiteKernel(0.2 * scale)
    peer = GaussianProcessRegressor(theirs, alpha=0.0, optimizer=None).fit(X, y)
    expected, sure = peer.predict(new, return_std=True)  # the kernel has the noise, and so has what it predicts
    np.testing.assert_allclose(-norm.logpdf(left, mean, std), -norm.logpdf(left, expected, sure), atol=1e-6)


@pytest.mark.thorough
def test_intervals_from_the_uncertainty_cover_what_they_promise() -> None:
    """Data drawn from the process itself: 95 % of new y inside ±1.96 std with noise, far fewer inside those of f."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-3, 3, (900, 2))
    root = np.linalg.cholesky(K(X) + 1e-9 * np.eye(900))
    y = 70.0 * (root @ rng.standard_normal(900) + np.sqrt(0.3) * rng.standard_normal(900)) + 1e4
    machine = mc.KernelRidge(0.3, K).fit(X[:500], y[:500])
    mean, std = machine.predict(X[500:], return_std=True, include_noise=True)
    inside = np.mean(np.abs(y[500:] - mean) < 1.96 * std)
    assert 0.92 < inside < 0.98
    assert np.mean(np.abs(y[500:] - mean) < 1.96 * machine.predict(X[500:], return_std=True)[1]) < 0.8
    assert 0.8 * 70**2 < machine.signal_variance_[0] < 1.2 * 70**2


def test_the_uncertainty_of_an_interpolation_is_refused() -> None:
    """alpha = 0 and fewer features than samples."""
    X, y = problem()
    for k in (mc.Linear(), mc.Polynomial(2)):
        machine = mc.KernelRidge(0.0, k).fit(np.column_stack([X, X[:, 0]]), y)
        new = np.column_stack([NEW, NEW[:, 0]])
        with pytest.raises(ValueError, match="alpha = 0 is a process without noise"):
            machine.predict(new, return_std=True)


def test_uncertainty_survives_a_copy_and_a_second_fit() -> None:
    X, y = problem()
    machine = mc.KernelRidge(0.2, K).fit(X, y)
    std = machine.predict(NEW, return_std=True)[1]
    again = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(again.predict(NEW, return_std=True)[1], std)
    other = machine.fit(X[:30], y[:30]).predict(NEW, return_std=True)[1]
    np.testing.assert_allclose(
        other, mc.KernelRidge(0.2, K).fit(X[:30], y[:30]).predict(NEW, return_std=True)[1], atol=1e-14
    )
    unit = np.sqrt(machine.signal_variance_ / again.signal_variance_)
    assert (other > std * unit - 1e-12).all()  # fewer samples, less is known


def test_precomputed_is_the_kernel() -> None:
    X, Y = problem(outputs=2)
    direct, given = mc.KernelRidge(0.3, K).fit(X, Y), mc.KernelRidge(0.3, "precomputed").fit(K(X), Y)
    np.testing.assert_allclose(given.predict(K(NEW, X)), direct.predict(NEW), atol=1e-10)
    w = np.arange(100) % 3
    direct, given = mc.KernelRidge(0.3, K).fit(X, Y, w), mc.KernelRidge(0.3, "precomputed").fit(K(X), Y, w)
    np.testing.assert_allclose(given.predict(K(NEW, X)), direct.predict(NEW), atol=1e-10)
    best, chosen = (
        mc.KernelRidgeCV([0.01, 0.1, 1.0], K).fit(X, Y, w),
        mc.KernelRidgeCV([0.01, 0.1, 1.0], "precomputed").fit(K(X), Y, w),
    )
    assert best.alpha_ == chosen.alpha_
    np.testing.assert_allclose(chosen.predict(K(NEW, X)), best.predict(NEW), atol=1e-9)
    np.testing.assert_allclose(chosen.loo_residuals_, best.loo_residuals_, atol=1e-9)
    with pytest.raises(ValueError, match="precomputed matrix does not hold"):
        given.predict(K(NEW, X), return_std=True)


@kernel
class SharedLetters(Kernel):
    """How often letters of one word are letters of the other: an inner product of counts."""

    domain = Anything()

    def _block(self, A: Any, B: Any) -> Any:
        return np.array([[float(sum(a.count(c) for c in b)) for b in B] for a in A]).reshape(len(A), len(B))

    def _diag(self, A: Any) -> Any:
        return np.array([float(sum(a.count(c) for c in a)) for a in A])


def test_lists_of_strings() -> None:
    line = "the quick brown fox jumps over a lazy dog and some other animals that were there before it came"
    words = line.split()
    y = np.array([len(word) + (word[0] < "m") for word in words], float)
    counts = np.array([[word.count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for word in words], float)
    ours, peer = mc.KernelRidge(0.5, SharedLetters()).fit(words, y), mc.KernelRidge(0.5, mc.Linear()).fit(counts, y)
    np.testing.assert_allclose(ours.predict(words[:5]), peer.predict(counts[:5]), atol=1e-9)
    mean, std = ours.predict(words[:5], return_std=True)
    np.testing.assert_allclose(std, peer.predict(counts[:5], return_std=True)[1], atol=1e-7)
    assert mean.shape == std.shape == (5,)
    chosen = mc.KernelRidgeCV([0.1, 1.0, 10.0], SharedLetters()).fit(words, y)
    other = mc.KernelRidgeCV([0.1, 1.0, 10.0], mc.Linear()).fit(counts, y)
    assert chosen.alpha_ == other.alpha_
    np.testing.assert_allclose(chosen.loo_residuals_, other.loo_residuals_, atol=1e-9)


@pytest.mark.thorough
def test_sparse_is_dense() -> None:
    rng = np.random.default_rng(0)
    for columns in (20, 200):
        X = np.where(rng.random((80, columns)) < 0.8, 0.0, rng.standard_normal((80, columns)))
        y = X[:, 0] + rng.standard_normal(80)
        for k in (mc.Gaussian(0.1), mc.Linear()):
            for machine in (mc.KernelRidge(0.3, k), mc.KernelRidgeCV([0.1, 1.0], k)):
                dense, thin = clone(machine).fit(X, y), clone(machine).fit(sparse.csr_matrix(X), y)
                np.testing.assert_allclose(thin.predict(sparse.csr_matrix(X[:9])), dense.predict(X[:9]), atol=1e-9)
                expected = dense.predict(X[:9], return_std=True)[1]
                np.testing.assert_allclose(
                    thin.predict(sparse.csr_matrix(X[:9]), return_std=True)[1], expected, atol=1e-8
                )


def test_single_precision() -> None:
    X, y = problem()
    single, double = mc.KernelRidge(0.3, K).fit(X.astype(np.float32), y), mc.KernelRidge(0.3, K).fit(X, y)
    assert single.support_vectors_.dtype == np.float32
    assert single.converged_
    np.testing.assert_allclose(single.predict(NEW.astype(np.float32)), double.predict(NEW), atol=1e-4)
    np.testing.assert_allclose(
        single.predict(NEW.astype(np.float32), return_std=True)[1], double.predict(NEW, return_std=True)[1], atol=1e-4
    )


def test_little_memory() -> None:
    X, y = problem(400)
    lean, whole = mc.KernelRidge(0.3, K, compute=Compute(memory="1MB")).fit(X, y), mc.KernelRidge(0.3, K).fit(X, y)
    assert (lean.solver_, whole.solver_) == ("cg", "cholesky")
    np.testing.assert_allclose(lean.predict(NEW), whole.predict(NEW), atol=1e-6)


@pytest.mark.thorough
def test_in_a_search() -> None:
    X, y = problem()
    search = GridSearchCV(
        mc.KernelRidge(kernel=mc.Gaussian(0.5)), {"alpha": [1e-3, 0.1, 1e3], "kernel__gamma": [0.1, 0.5]}, cv=3
    ).fit(X, y)
    assert search.best_params_["alpha"] < 1e3
    assert search.best_score_ > 0.5


@pytest.mark.thorough
def test_an_indefinite_matrix_is_named_with_its_eigenvalue() -> None:
    X, y = problem()
    S = K(X) - 0.7 * np.eye(100)
    smallest = np.linalg.eigvalsh(S)[0]
    for intercept in (True, False):
        with pytest.warns(ConvergenceWarning, match=rf"smallest eigenvalue is {smallest:.3g}.*repaired"):
            machine = mc.KernelRidge(0.1, "precomputed", fit_intercept=intercept).fit(S, y)
        M = np.ones((101, 101))
        M[:100, :100], M[100, 100] = S + 0.1 * np.eye(100), 0.0
        exact = (
            np.linalg.solve(M, np.append(y, 0.0)) if intercept else np.append(np.linalg.solve(M[:100, :100], y), 0.0)
        )
        # the system is solved nevertheless
        np.testing.assert_allclose(machine.predict(S), S @ exact[:100] + exact[100], atol=1e-7)
    mc.KernelRidge(0.8, "precomputed").fit(S, y)  # a ridge above it: no warning


def test_an_indefinite_kernel_is_named() -> None:
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        mc.KernelRidge(1e-3, mc.Sigmoid(-1.0, 1.0)).fit(X, y)


def test_an_ill_conditioned_matrix_is_said_to_be() -> None:
    """Duplicates with different labels and next to no ridge: no digits are left, and it says so."""
    X, y = problem(60)
    X, y = np.repeat(X, 10, axis=0), np.random.default_rng(0).standard_normal(600)
    with pytest.warns(ConvergenceWarning, match=r"ill-conditioned.*Raise alpha"):
        machine = mc.KernelRidge(1e-11, K).fit(X, y)
    assert not machine.converged_
    assert machine.gap_ > machine.tol
    assert machine.stop_reason_ == "stalled"
    assert np.isfinite(machine.predict(NEW)).all()


@pytest.mark.thorough
def test_a_limit_of_steps_is_reported() -> None:
    X, y = problem(300)
    with pytest.warns(ConvergenceWarning):
        machine = mc.KernelRidge(1e-6, K, solver="cg", max_iter=1, tol=1e-15).fit(X, y)
    assert machine.n_iter_ == 1
    assert not machine.converged_


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (mc.KernelRidge(-1.0), "at least 0"),
        (mc.KernelRidge(np.nan), "at least 0"),
        (mc.KernelRidge([1.0, 2.0, 3.0]), "each of the 2 outputs"),
        (mc.KernelRidge([1.0, -2.0]), "at least 0"),
        (mc.KernelRidge([[1.0, 2.0]]), "alpha"),
        (mc.KernelRidge(solver="lu"), "choose one of 'auto', 'cholesky', 'woodbury', 'cg', 'eigen'"),
        (mc.KernelRidge(solver="woodbury"), "fewer features than samples"),
        (mc.KernelRidge(tol=0.0), "must be positive"),
        (mc.KernelRidgeCV([-1.0]), "positive numbers"),
        (mc.KernelRidgeCV([]), "positive numbers"),
        (mc.KernelRidgeCV([0.0, 1.0]), "positive numbers"),
        (mc.KernelRidgeCV(criterion="aic"), "'loo', 'gcv', 'marginal likelihood'"),
        (mc.KernelRidgeCV(kernel=[]), "at least one kernel"),
    ],
)
def test_errors(machine: Any, message: str) -> None:
    X, Y = problem(outputs=2)
    with pytest.raises(ValueError, match=message):
        machine.fit(X, Y)


def test_errors_of_data() -> None:
    X, Y = problem(outputs=2)
    gaps = Y.copy()
    gaps[:, 1] = np.nan
    with pytest.raises(ValueError, match="Output 1 of y has no label"):
        mc.KernelRidge().fit(X, gaps)
    alone = Y[:, 0].copy()
    alone[3] = np.nan
    for y in (alone, alone[:, None]):
        with pytest.raises(ValueError, match="NaN"):
            mc.KernelRidge().fit(X, y)
    gaps[:50] = 1.0
    with pytest.raises(ValueError, match="NaN"):
        mc.KernelRidgeCV().fit(X, gaps)
    with pytest.raises(ValueError, match="inconsistent"):
        mc.KernelRidge().fit(X, Y[:-1])
    infinite = Y.copy()
    infinite[0, 0], infinite[1, 1] = np.inf, np.nan
    with pytest.raises(ValueError, match="infinity"):
        mc.KernelRidge().fit(X, infinite)
    with pytest.raises(ValueError, match="square"):
        mc.KernelRidge(kernel="precomputed").fit(X, Y)
    with pytest.raises(ValueError, match=r"write mercer\.Gaussian"):
        mc.KernelRidge(kernel="rbf").fit(X, Y)
    with pytest.raises(ValueError, match="weight"):
        mc.KernelRidge().fit(X, Y, np.zeros(100))
    with pytest.raises(ValueError, match="at least 2"):
        mc.KernelRidgeCV().fit(X[:1], Y[:1])


@pytest.mark.parametrize(
    "machine",
    [mc.SVR(), mc.KernelRidge(), mc.KernelRidgeCV(), mc.KernelHuber(), mc.KernelQuantile()],
    ids=lambda m: type(m).__name__,
)
def test_targets_are_checked_for_tables_too(machine: Any) -> None:
    frame = pl.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) ** 2})
    y = np.arange(20.0)
    y[3] = np.nan
    with pytest.raises(ValueError, match="y contains NaN"):
        machine.set_params(kernel=mc.Gaussian(0.1).on(["a", "b"])).fit(frame, y)


def test_constant_targets_are_no_ill_conditioned_system() -> None:
    X = np.random.default_rng(0).standard_normal((120, 3))
    machine = mc.KernelRidge().fit(X, np.full(120, 0.1))
    assert machine.converged_
    np.testing.assert_allclose(machine.predict(X), 0.1, rtol=1e-12)


def test_uncertainty_of_duplicates_and_of_a_compressed_machine() -> None:
    X = np.repeat(np.random.default_rng(0).standard_normal((20, 2)), 4, axis=0)
    _, std = mc.KernelRidge(1e-15, mc.Gaussian(0.5), tol=1e-2).fit(X, X[:, 0]).predict(X, return_std=True)
    assert std.max() < 1e-5
    with pytest.raises(ValueError, match="compressed"):
        mc.KernelRidge(0.1, mc.Gaussian(0.5)).fit(X, X[:, 0]).compress(5).predict(X, return_std=True)


def test_equal_samples_are_equal_in_any_container() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((25, 2)), 3, axis=0)
    y = np.repeat(rng.standard_normal(25), 3)
    kernel = mc.Gaussian(1.0)
    expected = mc.KernelRidgeCV([1e-6, 1.0, 30.0], kernel).fit(X, y).alpha_
    for table in (pl.DataFrame(X, schema=["a", "b"]), pd.DataFrame(X, columns=["a", "b"])):
        assert mc.KernelRidgeCV([1e-6, 1.0, 30.0], kernel.on(["a", "b"])).fit(table, y).alpha_ == expected
