"""Data, splits and comparisons shared by the tests of searches."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

import mercer as mc

FIVE = KFold(5, shuffle=True, random_state=1)
THREE = StratifiedKFold(3, shuffle=True, random_state=1)


def classes_to_learn(n: int = 90, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    X, y = make_classification(
        n, 5, n_informative=4, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )
    return X, np.array(["c", "a", "b"])[y]


def numbers_to_learn(n: int = 90, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(n)


def assert_same_results(ours: Any, peer: Any, atol: float = 1e-9) -> None:
    """All fold scores, their means, deviations and ranks, and the choice."""
    a, b = ours.cv_results_, peer.cv_results_
    assert len(a["params"]) == len(b["params"])
    order = [a["params"].index(params) for params in b["params"]]
    for name in b:
        if name.endswith("test_score") and not name.startswith("rank"):
            np.testing.assert_allclose(np.asarray(a[name])[order], b[name], atol=atol, err_msg=name)
    assert np.ptp(b["mean_test_score"]) > 10 * atol, "all candidates are the same: nothing is compared"
    assert ours.best_score_ == pytest.approx(peer.best_score_, abs=atol)


def compare(estimator: Any, grid: Any, X: Any, y: Any, cv: Any, atol: float = 1e-9, **options: Any) -> tuple[Any, Any]:
    """The search beside GridSearchCV of the same Mercer estimator: both fit for themselves."""
    scoring = options.pop("scoring", None)
    ours = mc.KernelSearchCV(estimator, grid, cv=cv, scoring=scoring).fit(X, y, **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*sample_weight")  # of a scorer that takes none
        peer = GridSearchCV(clone(estimator), grid, cv=cv, scoring=scoring, error_score="raise").fit(X, y, **options)
    assert_same_results(ours, peer, atol)
    return ours, peer


def share_of_hits(machine: Any, X: Any, y: Any) -> float:
    """Accuracy, or minus the absolute error, in which all samples count the same: a scorer that takes no weights."""
    found = machine.predict(X)
    return float(np.mean(found == y)) if is_classifier(machine) else -float(np.mean(np.abs(found - y)))
