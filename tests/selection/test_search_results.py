"""What a search leaves: its results, the best estimator, its place among estimators, its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from tests.selection.search_samples import FIVE, THREE, classes_to_learn, compare, numbers_to_learn


def test_results_are_laid_out_as_by_grid_search() -> None:
    X, y = classes_to_learn()
    grid = [
        {"C": [0.1, 1.0, 10.0], "kernel": [mc.Gaussian(0.2), mc.Linear()]},
        {"C": [1.0], "class_weight": ["balanced"]},
    ]
    ours, peer = compare(mc.SVC(kernel=mc.Gaussian(0.2), tol=1e-6), grid, X, y, THREE)
    assert ours.cv_results_["params"] == peer.cv_results_["params"]
    times = {"std_fit_time", "mean_score_time", "std_score_time"}
    assert set(ours.cv_results_) >= set(peer.cv_results_) - times
    np.testing.assert_array_equal(ours.cv_results_["rank_test_score"], peer.cv_results_["rank_test_score"])
    assert ours.cv_results_["rank_test_score"].dtype == peer.cv_results_["rank_test_score"].dtype
    assert ours.best_index_ == peer.best_index_
    assert ours.best_params_ == peer.best_params_
    assert ours.n_splits_ == peer.n_splits_
    for name in ("param_C", "param_kernel", "param_class_weight"):
        for a, b in zip(ours.cv_results_[name], peer.cv_results_[name], strict=True):
            assert a == b or (a is None and b is np.ma.masked)
    assert (ours.cv_results_["mean_fit_time"] > 0).all()


def test_all_keys_of_grid_search() -> None:
    """Code that reads GridSearchCV's results, times included, reads these."""
    X, y = numbers_to_learn(30)
    ours, peer = compare(mc.KernelRidge(kernel=mc.Gaussian(0.2)), {"alpha": [0.1, 1.0]}, X, y, 3, atol=1e-8)
    assert set(ours.cv_results_) == set(peer.cv_results_)


def test_frame() -> None:
    pl = pytest.importorskip("polars")
    X, y = classes_to_learn(60)
    kernels = [mc.Gaussian(0.2), mc.Linear()]
    search = mc.KernelSearchCV(mc.SVC(), {"C": [0.1, 1.0], "kernel": kernels}, cv=3).fit(X, y)
    frame = search.frame()
    assert isinstance(frame, pl.DataFrame)
    assert len(frame) == 4
    assert frame["param_C"].to_list() == [0.1, 0.1, 1.0, 1.0]
    assert frame["param_kernel"].to_list() == [str(k) for k in kernels] * 2
    np.testing.assert_array_equal(frame["mean_test_score"].to_numpy(), search.cv_results_["mean_test_score"])
    assert frame.sort("rank_test_score")["rank_test_score"][0] == 1
    several = (
        mc.KernelSearchCV(mc.SVC(), [{"C": [0.1, 1]}, {"kernel": kernels}, {"class_weight": [None, "balanced"]}], cv=3)
        .fit(X, y)
        .frame()
    )
    assert len(several) == 6
    assert several["param_C"].to_list() == [0.1, 1.0, None, None, None, None]
    with pytest.raises(NotFittedError):
        mc.KernelSearchCV(mc.SVC(), {"C": [1.0]}).frame()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("estimator", "grid", "kind"),
    [
        (mc.SVC(kernel=mc.Gaussian(0.1)), {"C": [0.1, 3.0], "kernel__gamma": [0.05, 0.5]}, 2),
        (mc.SVC(kernel=mc.Gaussian(0.1), probability=True), {"C": [0.1, 3.0]}, 3),
        (mc.SVC(kernel=mc.Linear()), {"C": [0.1, 3.0]}, 3),
        (mc.SVR(kernel=mc.Gaussian(0.1)), {"C": [0.1, 3.0], "kernel__gamma": [0.05, 0.5]}, 0),
        (mc.KernelRidge(kernel=mc.Gaussian(0.1)), {"alpha": np.logspace(-2, 1, 8)}, 0),
        (mc.KernelRidge(kernel=mc.Polynomial(2)), {"alpha": np.logspace(-2, 1, 8)}, 0),
        (mc.KernelLogistic(kernel=mc.Gaussian(0.1)), {"alpha": [0.1, 1.0]}, 3),
        (mc.SVC(), {"C": [0.1, 3.0]}, 2),
    ],
    ids=str,
)
def test_the_best_is_a_direct_fit(estimator: Any, grid: Any, kind: int) -> None:
    """Trained on the stored matrix, it is in every respect as if fitted to the data."""
    X, y = classes_to_learn(classes=kind) if kind else numbers_to_learn()
    w = np.random.default_rng(0).integers(0, 3, 90)
    new = X[:20] + 0.1
    for weights in (None, w):
        given = {} if weights is None else {"sample_weight": weights}
        search = mc.KernelSearchCV(estimator, grid, cv=THREE if kind else FIVE).fit(X, y, **given)
        best, direct = search.best_estimator_, clone(estimator).set_params(**search.best_params_).fit(X, y, **given)
        f = "decision_function" if kind else "predict"
        scale = max(1.0, np.abs(getattr(direct, f)(new)).max())
        np.testing.assert_allclose(getattr(best, f)(new), getattr(direct, f)(new), atol=1e-10 * scale)
        np.testing.assert_array_equal(search.predict(new), best.predict(new))
        np.testing.assert_array_equal(best.support_, direct.support_)
        np.testing.assert_array_equal(np.asarray(best.support_vectors_), np.asarray(direct.support_vectors_))
        assert repr(best) == repr(direct)
        assert best.kernel_ == direct.kernel_
        assert best.n_features_in_ == direct.n_features_in_ == search.n_features_in_ == X.shape[1]
        if kind and hasattr(direct, "predict_proba"):
            np.testing.assert_allclose(search.predict_proba(new), direct.predict_proba(new), atol=1e-8)
        if kind:
            np.testing.assert_array_equal(search.classes_, np.unique(y))
    if isinstance(estimator, mc.KernelRidge):
        np.testing.assert_allclose(
            best.predict(new, return_std=True)[1], direct.predict(new, return_std=True)[1], atol=1e-8
        )
        np.testing.assert_array_equal(search.predict(new, return_std=True)[1], best.predict(new, return_std=True)[1])


def test_without_refit() -> None:
    X, y = classes_to_learn(60)
    search = mc.KernelSearchCV(mc.SVC(), {"C": [0.1, 1.0]}, cv=3, refit=False).fit(X, y)
    assert search.best_params_ in search.cv_results_["params"]
    assert not hasattr(search, "best_estimator_")
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_score_is_the_score_that_was_searched_by() -> None:
    X, y = numbers_to_learn()
    search = mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3, scoring="neg_mean_absolute_error").fit(
        X, y
    )
    assert search.score(X, y) == pytest.approx(-np.mean(np.abs(y - search.predict(X))))
    assert search.score(X, y) != pytest.approx(
        mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, y).score(X, y)
    )


def test_clone_and_parameters() -> None:
    search = mc.KernelSearchCV(
        mc.SVC(kernel=mc.Gaussian(0.5)), {"C": [0.1, 1.0]}, cv=4, max_time=3.0, on_interrupt="raise"
    )
    assert search.get_params()["estimator__kernel__gamma"] == 0.5
    again = clone(search).set_params(estimator__kernel__gamma=0.7, cv=3)
    assert again.estimator.kernel == mc.Gaussian(0.7)
    assert search.estimator.kernel == mc.Gaussian(0.5)
    assert again.max_time == 3.0
    assert again.on_interrupt == "raise"
    assert is_classifier(search)
    assert not is_classifier(mc.KernelSearchCV(mc.SVR(), {}))
    assert hasattr(search, "decision_function")
    assert not hasattr(search, "predict_proba")
    assert not hasattr(mc.KernelSearchCV(mc.SVR(), {}), "decision_function")


@pytest.mark.thorough
def test_in_a_pipeline_and_in_cross_validation() -> None:
    X, y = classes_to_learn()
    grid, peers = {"C": [0.1, 1.0, 10.0]}, []
    for search in (mc.KernelSearchCV, GridSearchCV):
        inner = search(mc.SVC(tol=1e-6), grid, cv=THREE)
        peers.append(cross_val_score(make_pipeline(StandardScaler(), inner), 100 * X + 7, y, cv=4))
    np.testing.assert_array_equal(peers[0], peers[1])
    assert np.ptp(peers[0]) > 0


def test_a_pipeline_inside() -> None:
    """Estimators that are not Mercer's, or wrap it, are searched too; only without the savings."""
    X, y = classes_to_learn()
    X = X * [1.0, 100.0, 0.01, 5.0, 1.0]
    pipe = make_pipeline(StandardScaler(), mc.SVC(tol=1e-6))
    ours, peer = compare(pipe, {"svc__C": [0.1, 10.0], "svc__kernel": [mc.Gaussian(0.1), mc.Linear()]}, X, y, THREE)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X))
    compare(SVC(), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}, X, y, THREE)


def test_one_candidate_and_none_in_the_grid() -> None:
    X, y = numbers_to_learn()
    search = mc.KernelSearchCV(mc.KernelRidge(), {}, cv=FIVE).fit(X, y)
    assert search.best_params_ == {}
    assert search.best_score_ == pytest.approx(cross_val_score(mc.KernelRidge(), X, y, cv=FIVE).mean(), rel=1e-8)


def test_errors() -> None:
    X, y = classes_to_learn(60)
    with pytest.raises(ValueError, match="on_interrupt='stop'"):
        mc.KernelSearchCV(mc.SVC(), {"C": [1.0]}, on_interrupt="stop").fit(X, y)
    with pytest.raises(ValueError, match=r"C.*empty|empty.*C|need at least one|non-empty"):
        mc.KernelSearchCV(mc.SVC(), {"C": []}).fit(X, y)
    with pytest.raises(ValueError, match="width"):
        mc.KernelSearchCV(mc.SVC(kernel=mc.Gaussian()), {"kernel__width": [1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="C must be a positive number"):
        mc.KernelSearchCV(mc.SVC(), {"C": [1.0, -1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        mc.KernelSearchCV(mc.SVC(), {"C": [1.0]}).fit(X, y[:-1])
    with pytest.raises(NotFittedError):
        mc.KernelSearchCV(mc.SVC(), {"C": [1.0]}).predict(X)
    with pytest.raises(ValueError, match="magic"):
        mc.KernelSearchCV(mc.SVC(), {"C": [1.0]}, scoring="magic").fit(X, y)


def test_an_empty_list_of_grids() -> None:
    """There is nothing to choose from, whatever the time."""
    X, y = classes_to_learn(60)
    with pytest.raises(ValueError, match=r"param_grid|empty|candidate") as found:
        mc.KernelSearchCV(mc.SVC(), []).fit(X, y)
    assert "max_time" not in str(found.value)


def test_weights_of_another_length() -> None:
    X, y = numbers_to_learn()
    with pytest.raises(ValueError, match=r"sample_weight|weights"):
        mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, y, sample_weight=np.ones(89))


def test_scores_that_are_no_numbers_are_not_blamed_on_time() -> None:
    X, y = numbers_to_learn()
    with pytest.raises(ValueError, match=r"score|NaN|nan") as found:
        mc.KernelSearchCV(
            mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3, scoring=lambda machine, X, y: float("nan")
        ).fit(X, y)
    assert "max_time" not in str(found.value)


def test_one_score_at_a_time() -> None:
    X, y = numbers_to_learn()
    with pytest.raises(ValueError, match="scor"):
        mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3, scoring=["r2", "neg_mean_absolute_error"]).fit(
            X, y
        )


@pytest.mark.thorough
@parametrize_with_checks(
    [mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}), mc.KernelSearchCV(mc.SVC(), {"C": [0.1, 1.0]})]
)
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_list_of_kernels_inside_an_estimator_is_left_to_it() -> None:
    X, y = numbers_to_learn()
    machine, grid = mc.KernelRidgeCV([0.1, 1.0], [mc.Gaussian(1e-4), mc.Gaussian(0.3)]), {"criterion": ["loo", "gcv"]}
    ours, peer = mc.KernelSearchCV(machine, grid, cv=FIVE).fit(X, y), GridSearchCV(machine, grid, cv=FIVE).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])
    assert ours.best_estimator_.kernel_ == peer.best_estimator_.kernel_


def test_a_candidate_that_fails_can_be_left_behind() -> None:
    X, y = numbers_to_learn()
    with pytest.warns(FitFailedWarning, match="could not be fitted"):
        found = mc.KernelSearchCV(mc.SVR(), {"C": [1.0, -1.0]}, cv=FIVE, error_score=np.nan).fit(X, y)
    assert found.best_params_ == {"C": 1.0}
    assert np.isnan(found.cv_results_["mean_test_score"][1])
