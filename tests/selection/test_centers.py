"""Searches and cross-validation over machines with centers: the scores of fits by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score

import mercer as mc

RNG = np.random.default_rng(0)
X = RNG.standard_normal((240, 2))
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * RNG.standard_normal(240)
NEW = RNG.standard_normal((200, 2))
LATER = np.sin(2 * NEW[:, 0]) + NEW[:, 1] + 0.2 * RNG.standard_normal(200)
CLASSES = (NUMBERS > 0).astype(int)
K = mc.Laplacian(0.3)
MODELS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "KernelRidge": (
        mc.KernelRidge(0.1, K, centers=15, random_state=0),
        NUMBERS,
        {"alpha": [0.01, 1.0], "kernel__gamma": [0.1, 1.0]},
    ),
    "KernelRidge along alpha": (
        mc.KernelRidge(0.1, K, centers=15, random_state=0),
        NUMBERS,
        {"alpha": np.logspace(-3, 2, 10).tolist()},
    ),
    "SVC": (mc.SVC(1.0, K, centers=15, random_state=0, tol=1e-6), CLASSES, {"C": [0.1, 10.0]}),
    "KernelLogistic": (mc.KernelLogistic(0.1, K, centers=15, random_state=0), CLASSES, {"alpha": [0.01, 1.0]}),
    "how many": (mc.KernelRidge(0.1, K, random_state=0), NUMBERS, {"centers": [3, 30, None]}),
    "Nystrom": (mc.KernelRidge(0.1, mc.Nystrom(K, 15, random_state=0)), NUMBERS, {"kernel__n_components": [3, 15]}),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_a_search_scores_as_fits_by_hand(name: str) -> None:
    model, y, grid = MODELS[name]
    folds = StratifiedKFold(3) if y is CLASSES else KFold(3)
    search = mc.KernelSearchCV(model, grid, cv=folds).fit(X, y)
    theirs = GridSearchCV(model, grid, cv=folds).fit(X, y)
    ours = {str(sorted(p.items())): s for p, s in _scores(search)}
    for params, score in _scores(theirs):
        assert ours[str(sorted(params.items()))] == pytest.approx(score, abs=1e-7)
    best = clone(model).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(search.predict(X), best.predict(X), atol=1e-8)


def _scores(search: Any) -> list[tuple[dict[str, Any], float]]:
    return list(zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True))


@pytest.mark.parametrize("name", ["KernelRidge", "SVC", "KernelLogistic"])
def test_cross_validation(name: str) -> None:
    model, y, _ = MODELS[name]
    found = cross_val_score(model, X, y, cv=KFold(4))
    by_hand = [clone(model).fit(X[train], y[train]).score(X[test], y[test]) for train, test in KFold(4).split(X)]
    np.testing.assert_allclose(found, by_hand, atol=1e-12)


def test_given_centers_in_a_search() -> None:
    grid = {"alpha": [0.01, 1.0]}
    search = mc.KernelSearchCV(mc.KernelRidge(0.1, K, centers=X[:15]), grid, cv=KFold(3)).fit(X, NUMBERS)
    np.testing.assert_array_equal(search.best_estimator_.support_vectors_, X[:15])


def test_conformal_intervals() -> None:
    model = mc.ConformalRegressor(mc.KernelRidge(0.1, K, centers=15, random_state=0), random_state=0).fit(X, NUMBERS)
    assert np.isfinite(model.predict(X)).all()
    low, high = model.predict_interval(NEW).T
    assert np.mean((low <= LATER) & (high >= LATER)) > 0.8
