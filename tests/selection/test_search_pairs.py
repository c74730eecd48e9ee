"""A search asks a kernel for each pair once, also in nested cross-validation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer as mc
from mercer.kernels.base import kernel
from mercer.kernels.families import Pairwise
from mercer.kernels.parameters import positive
from tests.selection.search_samples import FIVE, classes_to_learn, numbers_to_learn, share_of_hits


@kernel
class Counted(Pairwise):
    """exp(−γ‖x − z‖²), counting which pairs it is asked for."""

    domain = mc.data.Vectors()
    gamma: float = positive(1.0, continuous=False)

    def _pair(self, x: Any, z: Any) -> float:
        pair = frozenset((x.tobytes(), z.tobytes()))
        asked[pair] = asked.get(pair, 0) + 1
        return float(np.exp(-self.gamma * np.sum((x - z) ** 2)))


asked: dict[Any, int] = {}


@pytest.mark.thorough
@pytest.mark.parametrize("refit", [True, False])
def test_each_pair_once_for_each_kernel(refit: bool) -> None:
    """4 γ × 10 C × 5 folds and the refit: n(n + 1)/2 pairs, each asked for 4 times."""
    X, y = classes_to_learn(50)
    asked.clear()
    grid = {"C": np.logspace(-1, 2, 10), "kernel__gamma": [0.01, 0.1, 0.3, 1.0]}
    search = mc.KernelSearchCV(mc.SVC(kernel=Counted()), grid, cv=5, refit=refit).fit(X, y)
    assert len(asked) == 50 * 51 // 2
    assert set(asked.values()) == {4}
    peer = GridSearchCV(mc.SVC(kernel=mc.Gaussian(1.0)), grid, cv=5).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], atol=1e-9)


def test_each_pair_once_when_scores_tie() -> None:
    """Ties are common with accuracy; the refit must not compute the matrix again for whichever of the best is
    chosen.
    """
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [20, 10])
    X = 0.5 * rng.standard_normal((30, 2)) + 5.0 * y[:, None]
    asked.clear()
    # 1000 k at C = 10^−3 is k at C = 1: both it and k at C = 10 separate, k at C = 10^−3 does not
    search = mc.KernelSearchCV(
        mc.SVC(), {"C": [1e-3, 10.0], "kernel": [Counted(0.1), 1000.0 * Counted(0.1)]}, cv=3
    ).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["rank_test_score"], [4, 1, 1, 1])
    assert search.best_index_ == 1
    assert set(asked.values()) == {2}


def test_each_pair_once_with_a_path_of_ridges() -> None:
    X, y = numbers_to_learn(40)
    asked.clear()
    mc.KernelSearchCV(
        mc.KernelRidge(kernel=Counted()), {"alpha": np.logspace(-2, 1, 10), "kernel__gamma": [0.1, 1.0]}, cv=FIVE
    ).fit(X, y)
    assert len(asked) == 40 * 41 // 2
    assert set(asked.values()) == {2}


def test_nested_folds_share_the_matrices() -> None:
    X, y = classes_to_learn(40)
    asked.clear()
    search = mc.KernelSearchCV(mc.SVC(kernel=Counted()), {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.1, 1.0]}, cv=3)
    mc.nested_scores(search, X, y, cv=4)
    assert len(asked) == 40 * 41 // 2
    assert set(asked.values()) == {2}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("search", "kind"),
    [
        (
            mc.KernelSearchCV(
                mc.SVC(kernel=mc.Gaussian(0.1), tol=1e-6), {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.02, 0.5]}, cv=3
            ),
            2,
        ),
        (mc.KernelSearchCV(mc.SVC(tol=1e-6), {"C": [0.1, 10.0], "kernel": [mc.Gaussian(), mc.Linear()]}, cv=3), 3),
        (
            mc.KernelSearchCV(
                mc.KernelRidge(), {"alpha": np.logspace(-2, 1, 8), "kernel": [mc.Gaussian(0.1), mc.Gaussian()]}, cv=FIVE
            ),
            0,
        ),
        (mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=FIVE, scoring="neg_mean_absolute_error"), 0),
        (
            mc.KernelSearchCV(
                make_pipeline(StandardScaler(), mc.KernelRidge()), {"kernelridge__alpha": [0.1, 1.0]}, cv=FIVE
            ),
            0,
        ),
    ],
    ids=["SVC", "SVC of three classes", "ridge", "scoring", "pipeline"],
)
def test_nested_scores_are_those_of_cross_val_score(search: Any, kind: int) -> None:
    X, y = classes_to_learn(classes=kind) if kind else numbers_to_learn()
    outer = StratifiedKFold(4, shuffle=True, random_state=3) if kind else KFold(4, shuffle=True, random_state=3)
    found = mc.nested_scores(search, X, y, cv=outer)
    np.testing.assert_allclose(found, cross_val_score(clone(search), X, y, cv=outer, scoring=search.scoring), atol=1e-7)
    assert np.ptp(found) > 0
    assert not hasattr(search, "cv_results_")


def test_nested_scores_with_weights_and_groups() -> None:
    X, y = numbers_to_learn()
    rng = np.random.default_rng(0)
    w, groups = rng.uniform(0.1, 3.0, 90), rng.integers(0, 9, 90)
    machine, grid, by = mc.KernelRidge(kernel=mc.Gaussian(0.3)), {"alpha": [0.01, 0.1, 1.0]}, share_of_hits
    search = mc.KernelSearchCV(machine, grid, cv=GroupKFold(3), scoring=by)
    found = mc.nested_scores(search, X, y, cv=GroupKFold(4), sample_weight=w, groups=groups)
    for s, (train, test) in enumerate(GroupKFold(4).split(X, y, groups)):
        inner = GridSearchCV(machine, grid, cv=GroupKFold(3), scoring=by)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*sample_weight")
            inner.fit(X[train], y[train], sample_weight=w[train], groups=groups[train])
        assert found[s] == pytest.approx(inner.score(X[test], y[test]), abs=1e-8)


def test_nested_scores_that_cannot_finish_say_so() -> None:
    X, y = numbers_to_learn()
    with pytest.raises(ValueError, match="max_time"):
        mc.nested_scores(mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3, max_time=0.0), X, y, cv=3)
