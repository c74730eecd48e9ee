"""What leaving a row out changes: against machines that are trained without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone

import mercer as mc

RNG = np.random.default_rng(5)
X = RNG.standard_normal((40, 3))
Y = np.column_stack([np.sin(X[:, 0]) + 0.2 * RNG.standard_normal(40), X[:, 1] ** 2])
K = mc.Gaussian(0.3)


def _refits(model: Any, y: Any, w: Any) -> tuple[Any, Any, Any]:
    """(f₋ᵢ(x_i), ‖f − f₋ᵢ‖, f(x_j) − f₋ᵢ(x_j)) of machines trained without each row."""
    whole = model.function_
    left, norms, changes = [], [], []
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        without = clone(model).fit(X[rest], y[rest], sample_weight=w[rest]).function_
        left.append(without(X[i : i + 1])[0])
        norms.append((whole - without).norm())
        changes.append(whole(X) - without(X))
    return np.array(left), np.array(norms), np.stack(changes, axis=1)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("outputs", [1, 2])
def test_a_ridge_is_what_refitting_gives(bias: bool, outputs: int) -> None:
    w, y = RNG.uniform(0.5, 2.0, len(X)), Y[:, 0] if outputs == 1 else Y
    model = mc.KernelRidge(0.3, kernel=K, fit_intercept=bias, tol=1e-13).fit(X, y, sample_weight=w)
    found = mc.influence(model, X, y, sample_weight=w)
    left, norms, changes = _refits(model, y, w)
    assert found.exact
    np.testing.assert_allclose(found.left_out, left, atol=1e-8)
    np.testing.assert_allclose(found.norms, norms, atol=1e-8)
    np.testing.assert_allclose(found.changes, changes, atol=1e-8)
    assert found.top(3)[0][1] == pytest.approx(np.linalg.norm(norms.reshape(len(X), -1), axis=1).max())


def test_a_row_of_no_weight_changes_nothing() -> None:
    w = np.ones(len(X))
    w[7] = 0.0
    model = mc.KernelRidge(0.3, kernel=K, tol=1e-13).fit(X, Y[:, 0], sample_weight=w)
    found = mc.influence(model, X, Y[:, 0], sample_weight=w)
    assert found.changes is not None
    assert found.norms[7] == 0.0
    assert not found.changes[:, 7].any()
    rest = np.delete(np.arange(len(X)), 7)
    alone = mc.influence(mc.KernelRidge(0.3, kernel=K, tol=1e-13).fit(X[rest], Y[rest, 0]), X[rest], Y[rest, 0])
    np.testing.assert_allclose(found.norms[rest], alone.norms, atol=1e-8)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (mc.KernelLogistic(0.5, kernel=K), (Y[:, 0] > 0).astype(int)),
        (mc.KernelLogistic(0.5, kernel=K, class_weight={0: 1.0, 1: 2.0}), (Y[:, 0] > 0.4).astype(int)),
        (mc.KernelPoisson(0.5, kernel=K), np.round(np.exp(Y[:, 0]))),
        (mc.KernelExpectile(alpha=0.5, kernel=K, tau=0.8), Y[:, 0]),
    ],
    ids=["logistic", "weighted classes", "poisson", "expectile"],
)
@pytest.mark.thorough
def test_a_smooth_loss_is_a_newton_step_away(model: Any, y: Any) -> None:
    model = model.fit(X, y)
    found = mc.influence(model, X, y)
    left, norms, changes = _refits(model, y, np.ones(len(X)))
    assert not found.exact
    assert spearmanr(found.norms, norms).statistic > 0.97
    assert found.changes is not None
    np.testing.assert_allclose(found.changes, changes, atol=0.25 * np.abs(changes).max())
    assert np.abs(found.left_out - left).max() < 0.3 * np.abs(left - model.function_(X)).max()


@pytest.mark.thorough
def test_the_span_ranks_rows_as_refitting_does() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    rows = rng.standard_normal((90, 2)) + 1.5 * y[:, None]
    model = mc.SVC(1.0, kernel=mc.Gaussian(0.3), tol=1e-8).fit(rows, y)
    found = mc.influence(model, rows, y)
    whole, norms, left = model.function_, [], []
    for i in range(len(rows)):
        rest = np.delete(np.arange(len(rows)), i)
        without = clone(model).fit(rows[rest], y[rest]).function_
        norms.append((whole - without).norm())
        left.append(without(rows[i : i + 1])[0])
    support = model.support_
    assert spearmanr(found.left_out, left).statistic > 0.95
    assert spearmanr(found.left_out[support], np.array(left)[support]).statistic > 0.9
    assert spearmanr(found.norms, norms).statistic > 0.8
    assert not np.delete(found.norms, support).any()


def test_bad_questions_are_answered() -> None:
    model = mc.KernelRidge(0.3, kernel=K).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="40 samples and y has 3"):
        mc.influence(model, X, Y[:3, 0])
    with pytest.raises(ValueError, match="more than these 30"):
        mc.influence(model, X[:30], Y[:30, 0])
    with pytest.raises(TypeError, match="OneClassSVM has no closed form"):
        mc.influence(mc.OneClassSVM(kernel=K).fit(X), X, Y[:, 0])
    with pytest.raises(TypeError, match="one function"):
        mc.influence(mc.KernelLogistic(kernel=K).fit(X, np.arange(40) % 3), X, np.arange(40) % 3)
