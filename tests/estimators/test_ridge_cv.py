"""The ridge chosen by leaving one out: against refitting without each sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import mercer as mc
from tests.estimators.ridge_samples import NEW, K, problem, some_weights


def _brute(X: Any, Y: Any, w: Any, alpha: float, k: Any, intercept: bool) -> Any:
    """y_i − (prediction for i of the model without it), each from a system of its own."""
    out, gram = np.empty_like(Y), k(X)
    for train, (i,) in LeaveOneOut().split(X):
        n = len(train)
        M, right = np.zeros((n + 1, n + 1)), np.vstack([Y[train], np.zeros(Y.shape[1])])
        M[:n, :n] = gram[np.ix_(train, train)] + alpha * np.diag(1 / w[train])
        M[n, :n] = M[:n, n] = float(intercept)
        M[n, n] = 0.0 if intercept else 1.0
        found = np.linalg.solve(M, right)
        out[i] = Y[i] - gram[i, train] @ found[:n] - found[n]
    return out


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("k", [K, mc.Polynomial(2)], ids=str)
def test_leaving_one_out_is_fitting_without_it(k: Any, weighted: bool, intercept: bool) -> None:
    X, Y = problem(60, 3)
    w = some_weights(60) if weighted else np.ones(60)
    alphas = [1e-2, 0.3, 20.0]
    machine = mc.KernelRidgeCV(alphas, k, fit_intercept=intercept).fit(X, Y, w)
    brute = {alpha: _brute(X, Y, w, alpha, k, intercept) for alpha in alphas}
    scores = [-(w @ brute[alpha] ** 2) / w.sum() for alpha in alphas]
    np.testing.assert_allclose(machine.scores_[0], scores, rtol=1e-8)
    best = alphas[int(np.argmax(np.sum(scores, axis=1)))]
    assert machine.alpha_ == best
    assert machine.best_score_ == pytest.approx(np.mean(scores, axis=1).max(), rel=1e-8)
    np.testing.assert_allclose(machine.loo_residuals_, brute[best], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(machine.loo_predictions_, Y - brute[best], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        machine.predict(NEW),
        mc.KernelRidge(best, k, fit_intercept=intercept, tol=1e-12).fit(X, Y, w).predict(NEW),
        atol=1e-8,
    )


@pytest.mark.thorough
def test_two_hundred_samples() -> None:
    X, y = problem(200)
    machine = mc.KernelRidgeCV([0.05], K).fit(X, y)
    brute = cross_val_predict(mc.KernelRidge(0.05, K, tol=1e-12), X, y, cv=LeaveOneOut())
    np.testing.assert_allclose(machine.loo_predictions_, brute, rtol=1e-8, atol=1e-8)


def test_each_target_its_own() -> None:
    rng = np.random.default_rng(0)
    X, Y = problem(80, 3)
    Y[:, 1] = rng.standard_normal(80)  # nothing to learn: a large ridge
    alphas = np.geomspace(1e-3, 1e2, 12)
    both = mc.KernelRidgeCV(alphas, K, alpha_per_target=True).fit(X, Y)
    alone = [mc.KernelRidgeCV(alphas, K).fit(X, Y[:, t]) for t in range(3)]
    np.testing.assert_allclose(both.alpha_, [m.alpha_ for m in alone])
    assert len(set(both.alpha_)) > 1
    np.testing.assert_allclose(both.predict(NEW), np.column_stack([m.predict(NEW) for m in alone]), atol=1e-9)
    np.testing.assert_allclose(both.loo_residuals_, np.column_stack([m.loo_residuals_ for m in alone]), atol=1e-9)
    std = both.predict(NEW, return_std=True)[1]
    np.testing.assert_allclose(std, np.column_stack([m.predict(NEW, return_std=True)[1] for m in alone]), atol=1e-9)
    common = mc.KernelRidgeCV(alphas, K).fit(X, Y)
    assert common.alpha_ == alphas[np.argmax(common.scores_[0].sum(axis=1))]


def test_the_kernel_is_chosen_too() -> None:
    X, y = problem(80)
    kernels = [mc.Linear(), mc.Gaussian(0.5), mc.Gaussian(50.0), mc.Polynomial(2)]
    machine = mc.KernelRidgeCV([0.01, 0.1, 1.0], kernels).fit(X, y)
    alone = [mc.KernelRidgeCV([0.01, 0.1, 1.0], k).fit(X, y) for k in kernels]
    best = max(alone, key=lambda m: m.best_score_)
    assert machine.kernel_ == best.kernel_
    assert machine.alpha_ == best.alpha_
    assert machine.scores_.shape == (4, 3, 1)
    np.testing.assert_array_equal(machine.scores_, np.concatenate([m.scores_ for m in alone]))
    np.testing.assert_array_equal(machine.predict(NEW), best.predict(NEW))
    assert machine.fit(X, y).kernel_ == best.kernel_  # and again
    assert clone(machine).kernel == kernels


def test_a_grid_of_parameters() -> None:
    X, y = problem(80)
    machine = mc.KernelRidgeCV([0.01, 0.1, 1.0], mc.Gaussian(), kernel_grid={"gamma": [0.01, 0.5, 50.0]}).fit(X, y)
    listed = mc.KernelRidgeCV([0.01, 0.1, 1.0], [mc.Gaussian(g) for g in (0.01, 0.5, 50.0)]).fit(X, y)
    assert machine.kernel_ == listed.kernel_ == mc.Gaussian(0.5)
    np.testing.assert_array_equal(machine.scores_, listed.scores_)
    assert machine.kernel == mc.Gaussian()  # what was given is as it was


@pytest.mark.parametrize("intercept", [True, False])
def test_criteria(intercept: bool) -> None:
    """Each with its hat matrix or density written out."""
    X, y = problem(60)
    alphas = np.geomspace(1e-3, 10, 8)
    n, H = 60, np.eye(60) - np.full((60, 60), 1 / 60)
    C = np.linalg.eigh(H)[1][:, 1:] if intercept else np.eye(60)
    gcv, evidence = [], []
    for alpha in alphas:
        S = C.T @ (K(X) + alpha * np.eye(n)) @ C
        G = C @ np.linalg.inv(S) @ C.T
        r = alpha * G @ y  # what is left of y
        gcv.append(-n * (r @ r) / np.trace(alpha * G) ** 2)
        m = C.shape[1]
        variance = y @ G @ y / m
        constant = 0.5 * np.log(n) if intercept else 0.0
        evidence.append(-0.5 * (m * np.log(2 * np.pi * variance) + m + np.linalg.slogdet(S)[1]) - constant)
    for criterion, scores in (("gcv", gcv), ("marginal likelihood", evidence)):
        machine = mc.KernelRidgeCV(alphas, K, criterion=criterion, fit_intercept=intercept).fit(X, y)
        np.testing.assert_allclose(machine.scores_[0, :, 0], scores, rtol=1e-7)
        assert machine.alpha_ == alphas[np.argmax(scores)]


@pytest.mark.parametrize("criterion", ["loo", "gcv", "marginal likelihood"])
def test_the_usual_range_holds_the_best(criterion: str) -> None:
    """The ridge that is chosen from the usual 20 predicts as well as any of a fine grid, or nearly."""
    X, y = problem(150)
    new, truth = problem(1000, seed=1)
    machine = mc.KernelRidgeCV(kernel=K, criterion=criterion).fit(X, y)
    errors = [np.mean((mc.KernelRidge(a, K).fit(X, y).predict(new) - truth) ** 2) for a in np.geomspace(1e-4, 1e2, 13)]
    assert np.mean((machine.predict(new) - truth) ** 2) < 1.3 * min(errors)


def test_duplicates_are_left_out_together() -> None:
    """A sample is not predicted from its own copy; all copies share the residual of being left out together."""
    X, y = problem(40)
    copies = np.concatenate([np.arange(40), np.arange(10), np.arange(5)])
    machine = mc.KernelRidgeCV([0.05], K).fit(X[copies], y[copies])
    assert len(machine.loo_residuals_) == 55
    for i in (0, 7, 30):
        rest = copies != i
        alone = mc.KernelRidge(0.05, K, tol=1e-13).fit(X[copies][rest], y[copies][rest])
        np.testing.assert_allclose(machine.loo_residuals_[copies == i], y[i] - alone.predict(X[[i]])[0], rtol=1e-8)
    np.testing.assert_allclose(
        machine.predict(NEW), mc.KernelRidge(0.05, K, tol=1e-13).fit(X[copies], y[copies]).predict(NEW), atol=1e-9
    )


def test_equal_points_with_other_labels_are_samples_of_their_own() -> None:
    X, y = problem(30)
    X, y = np.vstack([X, X[:3]]), np.concatenate([y, y[:3] + 1.0])
    machine = mc.KernelRidgeCV([0.05], K).fit(X, y)
    np.testing.assert_allclose(
        machine.loo_residuals_, _brute(X, y[:, None], np.ones(33), 0.05, K, True)[:, 0], rtol=1e-8
    )


def test_samples_without_weight_have_no_residual() -> None:
    X, y = problem(50)
    w = np.where(np.arange(50) % 5 == 0, 0.0, 1.0)
    machine = mc.KernelRidgeCV([0.1], K).fit(X, y, w)
    np.testing.assert_allclose(
        machine.loo_residuals_, mc.KernelRidgeCV([0.1], K).fit(X[w > 0], y[w > 0]).loo_residuals_, atol=1e-12
    )


def test_progress_is_told_of_each_kernel_and_may_stop() -> None:
    X, y = problem(50)
    seen: list[Any] = []
    kernels = [mc.Gaussian(g) for g in (0.1, 0.5, 2.0)]
    mc.KernelRidgeCV([0.1], kernels, progress=seen.append).fit(X, y)
    assert [state["done"] for state in seen] == [1, 2, 3]
    machine = mc.KernelRidgeCV([0.1], kernels, progress=lambda state: state["done"] == 1).fit(X, y)
    assert machine.kernel_ == kernels[0]
    assert machine.scores_.shape == (1, 1, 1)


def test_all_ridges_beyond_the_memory_are_refused_before_work() -> None:
    with pytest.raises(MemoryError, match="KernelSearchCV"):
        mc.KernelRidgeCV(compute=mc.Compute(memory="1MB")).fit(
            np.random.default_rng(0).standard_normal((300, 2)), np.arange(300.0)
        )
