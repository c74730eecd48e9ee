"""``KernelSearchCV``: the scores of scikit-learn's GridSearchCV on the same splits,
for data, splitters and kernels of every kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ParameterGrid, RepeatedKFold, ShuffleSplit
from sklearn.svm import SVC, SVR

import mercer as mc
from mercer.gram import Gram
from mercer.kernels.base import kernel
from mercer.kernels.families import Pairwise
from mercer.kernels.parameters import positive
from mercer.solvers.spectral import Tridiagonal
from tests.selection.search_samples import (
    FIVE,
    THREE,
    assert_same_results,
    classes_to_learn,
    compare,
    numbers_to_learn,
    share_of_hits,
)

CASES = {
    "binary SVC": (
        mc.SVC(tol=1e-6),
        {"C": [0.1, 1.0, 30.0], "kernel": [mc.Gaussian(0.05), mc.Gaussian(0.5), mc.Linear()]},
        2,
        None,
    ),
    "SVC of three classes": (
        mc.SVC(tol=1e-6, kernel=mc.Gaussian(0.1)),
        {"C": [0.1, 10.0], "kernel__gamma": [0.05, 1.0]},
        3,
        None,
    ),
    "SVC's probabilities": (
        mc.SVC(tol=1e-6, kernel=mc.Gaussian(0.1), probability=True),
        {"C": [0.1, 5.0]},
        2,
        "neg_log_loss",
    ),
    "SVC's ranks": (mc.SVC(tol=1e-7, kernel=mc.Gaussian(0.1)), {"C": [0.1, 1.0, 5.0]}, 2, "roc_auc"),
    "class weights": (
        mc.SVC(tol=1e-6, kernel=mc.Gaussian(0.1)),
        {"C": [0.1, 5.0], "class_weight": [None, "balanced", {"a": 5.0}]},
        2,
        "f1_macro",
    ),
    "logistic": (
        mc.KernelLogistic(kernel=mc.Gaussian(0.1)),
        {"alpha": [0.01, 0.1, 10.0], "kernel__gamma": [0.1, 1.0]},
        2,
        "neg_log_loss",
    ),
    "logistic of three classes": (
        mc.KernelLogistic(kernel=mc.Gaussian(0.1)),
        {"alpha": [0.1, 10.0]},
        3,
        "neg_log_loss",
    ),
    "SVR": (
        mc.SVR(tol=1e-9, kernel=mc.Gaussian(0.2)),
        {"C": [0.1, 5.0], "epsilon": [0.05, 0.3], "kernel__gamma": [0.1, 1.0]},
        0,
        None,
    ),
    "ridge": (
        mc.KernelRidge(kernel=mc.Gaussian(0.2)),
        {"alpha": np.logspace(-3, 2, 9), "kernel__gamma": [0.1, 1.0]},
        0,
        None,
    ),
    "ridge with few": (mc.KernelRidge(kernel=mc.Gaussian(0.2)), {"alpha": [0.01, 1.0]}, 0, "neg_mean_absolute_error"),
    "ridge without bias": (
        mc.KernelRidge(kernel=mc.Gaussian(0.2), fit_intercept=False),
        {"alpha": np.logspace(-3, 2, 9)},
        0,
        None,
    ),
    "ridge on features": (
        mc.KernelRidge(kernel=mc.Linear()),
        {"alpha": np.logspace(-3, 2, 9), "kernel": [mc.Linear(), mc.Polynomial(2)]},
        0,
        None,
    ),
    "ridge of alpha 0": (mc.KernelRidge(kernel=mc.Linear()), {"alpha": [0.0, *np.logspace(-1, 3, 9)]}, 0, None),
    "huber": (mc.KernelHuber(kernel=mc.Gaussian(0.2)), {"alpha": [0.01, 1.0], "delta": [0.1, 1.0]}, 0, None),
    "quantile": (
        mc.KernelQuantile(0.8, kernel=mc.Gaussian(0.2), tol=1e-9),
        {"alpha": [0.01, 1.0], "kernel__gamma": [0.1, 1.0]},
        0,
        make_scorer(mean_pinball_loss, alpha=0.8, greater_is_better=False),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", list(CASES))
def test_scores_are_those_of_grid_search(name: str) -> None:
    estimator, grid, classes, scoring = CASES[name]
    X, y = classes_to_learn(classes=classes) if classes else numbers_to_learn()
    loose = {"SVC's probabilities": 1e-4, "SVR": 1e-6, "quantile": 1e-6, "huber": 1e-6}
    compare(
        estimator,
        grid,
        X,
        y,
        THREE if classes else FIVE,
        atol=loose.get(name, 1e-9 if classes else 1e-7),
        scoring=scoring,
    )


DRIVEN = [
    mc.Gaussian(),
    mc.Gaussian("median"),
    mc.Laplacian("scale") + 0.1 * mc.Linear(),
    mc.Gaussian(0.3).centered(),
    mc.Gaussian().centered(),
    mc.Polynomial(2).normalized(),
    mc.Gaussian().normalized(),
]


@pytest.mark.thorough
@pytest.mark.parametrize("k", DRIVEN, ids=str)
def test_kernels_that_take_something_from_data(k: Any) -> None:
    X, y = classes_to_learn()
    compare(mc.SVC(kernel=k, tol=1e-6), {"C": [0.01, 1.0, 10.0]}, X, y, THREE)
    X, y = numbers_to_learn()
    compare(mc.KernelRidge(kernel=k), {"alpha": np.logspace(-2, 2, 9)}, X, y, FIVE, atol=1e-7)


@pytest.mark.thorough
def test_missing_values() -> None:
    X, y = numbers_to_learn()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    k = mc.Gaussian(0.3)
    grid = {
        "alpha": [0.01, 1.0],
        "kernel": [k.imputed("mean"), k.imputed("median"), k.imputed("mean", indicator=True), mc.Gaussian().imputed()],
    }
    compare(mc.KernelRidge(kernel=k.imputed()), grid, X, y, FIVE, atol=1e-8)


@kernel
class Noted(mc.Gaussian):  # type: ignore[misc]
    """Gaussian("scale") that notes how many rows it is bound to."""

    def bind(self, X: Any, weights: Any = None) -> Any:
        if isinstance(self.gamma, str):
            bound_to.append(np.asarray(X)[:, 0].copy())
        return super().bind(X, weights)


bound_to: list[Any] = []


def test_data_driven_parts_see_the_training_fold_only() -> None:
    X, y = numbers_to_learn()
    bound_to.clear()
    mc.KernelSearchCV(mc.KernelRidge(kernel=Noted()), {"alpha": [0.1, 1.0]}, cv=FIVE, refit=False).fit(X, y)
    folds = [set(X[train, 0]) for train, _ in FIVE.split(X)]
    seen = [set(rows) for rows in bound_to]
    assert all(rows in folds for rows in seen)
    assert all(fold in seen for fold in folds)


def test_a_wide_test_fold_does_not_leak() -> None:
    """An outlier in the test fold changes no score through "scale": the same as binding by hand."""
    X, y = numbers_to_learn(60)
    X[7] = 50.0
    ours = mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=FIVE).fit(X, y)
    for s, (train, test) in enumerate(FIVE.split(X)):
        gamma = 1 / (X.shape[1] * X[train].var())
        for c, alpha in enumerate([0.1, 1.0]):
            machine = mc.KernelRidge(alpha, mc.Gaussian(gamma)).fit(X[train], y[train])
            assert ours.cv_results_[f"split{s}_test_score"][c] == pytest.approx(
                machine.score(X[test], y[test]), rel=1e-8
            )


@pytest.mark.thorough
def test_scores_are_libsvms() -> None:
    """Not only Mercer beside itself: the same grid by scikit-learn's own estimators."""
    X, y = classes_to_learn(120, 3)
    ours = mc.KernelSearchCV(
        mc.SVC(kernel=mc.Gaussian(1.0), tol=1e-6), {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.05, 0.5]}, cv=THREE
    ).fit(X, y)
    peer = GridSearchCV(SVC(tol=1e-6, break_ties=True), {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5]}, cv=THREE).fit(
        X, y
    )
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], atol=1.1 / 120)
    X, y = numbers_to_learn()
    regressor = mc.KernelSearchCV(
        mc.SVR(kernel=mc.Gaussian(1.0), tol=1e-8), {"C": [0.1, 10.0], "kernel__gamma": [0.05, 0.5]}, cv=FIVE
    ).fit(X, y)
    other = GridSearchCV(SVR(tol=1e-8), {"C": [0.1, 10.0], "gamma": [0.05, 0.5]}, cv=FIVE).fit(X, y)
    np.testing.assert_allclose(
        regressor.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], atol=1e-5
    )
    alphas = np.logspace(-3, 2, 9)
    ridge = mc.KernelSearchCV(
        mc.KernelRidge(kernel=mc.Gaussian(0.5), fit_intercept=False), {"alpha": alphas}, cv=FIVE
    ).fit(X, y)
    theirs = GridSearchCV(KernelRidge(kernel="rbf", gamma=0.5), {"alpha": alphas}, cv=FIVE).fit(X, y)
    assert_same_results(ridge, theirs, 1e-9)
    assert ridge.best_params_["alpha"] == theirs.best_params_["alpha"]


def test_one_decomposition_for_many_ridges(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    made = Tridiagonal.of.__func__  # type: ignore[attr-defined]

    def counted(cls: Any, gram: Any, weights: Any, bias: bool) -> Any:
        calls.append(gram.shape[0])
        return made(cls, gram, weights, bias)

    monkeypatch.setattr(Tridiagonal, "of", classmethod(counted))
    X, y = numbers_to_learn()
    mc.KernelSearchCV(
        mc.KernelRidge(kernel=mc.Gaussian(0.2)), {"alpha": np.logspace(-3, 2, 12), "kernel__gamma": [0.1, 1.0]}, cv=FIVE
    ).fit(X, y)
    assert calls == [72] * 10


@pytest.mark.thorough
def test_sparse() -> None:
    X, y = classes_to_learn()
    X = sparse.random_array((90, 200), density=0.05, rng=np.random.default_rng(0)) + sparse.hstack(
        [sparse.csr_array(X), sparse.csr_array((90, 195))]
    )
    grid = {"C": [0.1, 10.0], "kernel": [mc.Gaussian(0.05), mc.Gaussian(), mc.Linear(), mc.Gaussian().centered()]}
    for form in ("csr", "csc", "coo"):
        compare(mc.SVC(tol=1e-6), grid, X.asformat(form) if form != "coo" else X.tocsr(), y, THREE)
    coo = mc.KernelSearchCV(mc.SVC(tol=1e-6), grid, cv=THREE).fit(X.tocoo(), y)
    assert coo.best_score_ == GridSearchCV(mc.SVC(tol=1e-6), grid, cv=THREE).fit(X.tocsr(), y).best_score_


@pytest.mark.thorough
def test_frames() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = numbers_to_learn()
    k = mc.Gaussian(0.5).on(["a", "b"]) + mc.Linear().on("c") + mc.Categorical().on("kind")
    columns = dict(zip("abcd", X.T, strict=True)) | {"kind": np.array(["x", "y", "z"])[np.arange(90) % 3]}
    compare(
        mc.KernelRidge(kernel=k), {"alpha": np.logspace(-2, 1, 8)}, pd.DataFrame(columns), pd.Series(y), FIVE, atol=1e-8
    )
    found = [
        mc.KernelSearchCV(mc.KernelRidge(kernel=k), {"alpha": [0.01, 1.0]}, cv=FIVE).fit(frame, targets)
        for frame, targets in (
            (pd.DataFrame(columns), y),
            (pl.DataFrame(columns), y),
            (pl.DataFrame(columns), pl.Series(y)),
        )
    ]
    assert len({search.best_score_ for search in found}) == 1
    assert list(found[0].feature_names_in_) == [*"abcd", "kind"]
    assert list(found[0].best_estimator_.feature_names_in_) == [*"abcd", "kind"]
    np.testing.assert_allclose(found[1].predict(pl.DataFrame(columns)), found[0].predict(pd.DataFrame(columns)))
    plain = mc.KernelSearchCV(mc.KernelRidge(kernel=mc.Gaussian(0.5)), {"alpha": [0.01, 1.0]}, cv=FIVE).fit(
        pd.DataFrame(X, columns=list("abcd")), y
    )
    with pytest.raises(ValueError, match="feature names"):
        plain.predict(pd.DataFrame(X, columns=list("abce")))


@pytest.mark.thorough
def test_a_series_of_targets_goes_by_position() -> None:
    """Whatever its index says: rows were shuffled, or dropped, before."""
    pd = pytest.importorskip("pandas")
    X, y = numbers_to_learn()
    shuffled = pd.Series(y, index=np.random.default_rng(0).permutation(90))
    named = pd.Series(y, index=[f"row {i}" for i in range(90)])
    for targets in (shuffled, named):
        compare(
            mc.KernelRidge(kernel=mc.Gaussian(0.2)),
            {"alpha": np.logspace(-2, 1, 8)},
            pd.DataFrame(X, index=targets.index),
            targets,
            FIVE,
            1e-7,
        )


@kernel
class Subwords(Pairwise):
    """Common pairs of letters, with a weight for single ones."""

    weight: float = positive(1.0)

    def _pair(self, a: Any, b: Any) -> float:
        pairs = [{s[i : i + 2] for i in range(len(s) - 1)} for s in (a, b)]
        return float(len(pairs[0] & pairs[1]) + self.weight * len(set(a) & set(b)))


def _words(n: int = 60) -> tuple[list[str], Any]:
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdef"), 6)) for _ in range(n)]
    return words, np.array(["yes" if w.count("a") + w.count("b") > 2 else "no" for w in words])


@pytest.mark.thorough
def test_strings() -> None:
    words, y = _words()
    ours, peer = compare(
        mc.SVC(kernel=Subwords(), tol=1e-6), {"C": [0.01, 0.1, 10.0], "kernel__weight": [0.1, 3.0]}, words, y, THREE
    )
    np.testing.assert_array_equal(ours.predict(words), peer.predict(words))
    compare(mc.SVC(kernel=Subwords().normalized(), tol=1e-6), {"C": [0.01, 10.0]}, words, y, THREE)
    direct = clone(ours.best_estimator_).fit(words, y)
    np.testing.assert_allclose(ours.decision_function(words), direct.decision_function(words), atol=1e-10)
    assert set(vars(ours.best_estimator_)) == set(vars(direct))  # nothing is left of the matrix it was trained on


def test_a_precomputed_matrix() -> None:
    X, y = classes_to_learn(classes=3)
    K = mc.Gaussian(0.2)(X)
    ours, peer = compare(mc.SVC(kernel="precomputed", tol=1e-6), {"C": [0.1, 1.0, 10.0]}, K, y, THREE)
    np.testing.assert_array_equal(ours.predict(K), peer.predict(K))
    by_kernel = mc.KernelSearchCV(mc.SVC(kernel=mc.Gaussian(0.2), tol=1e-6), {"C": [0.1, 1.0, 10.0]}, cv=THREE).fit(
        X, y
    )
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], by_kernel.cv_results_["mean_test_score"])
    objects = mc.KernelSearchCV(mc.SVC(kernel=mc.Precomputed(K), tol=1e-6), {"C": [0.1, 1.0, 10.0]}, cv=THREE).fit(
        np.arange(90), y
    )
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], objects.cv_results_["mean_test_score"])


def _weights(n: int = 90) -> Any:
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, n) * rng.choice([0.1, 5.0], n)


@pytest.mark.thorough
@pytest.mark.parametrize("k", [mc.Gaussian(0.2), mc.Gaussian(), mc.Gaussian(0.2).centered()], ids=str)
def test_sample_weights_in_training(k: Any) -> None:
    """They weigh the machine, and what its kernel takes from data."""
    w = _weights()
    X, y = numbers_to_learn()
    for alphas in (np.logspace(-2, 1, 8), [0.1, 1.0]):
        ours, peer = compare(
            mc.KernelRidge(kernel=k),
            {"alpha": alphas},
            X,
            y,
            FIVE,
            atol=1e-7,
            sample_weight=list(w),
            scoring=share_of_hits,
        )
        np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-7)
    X, y = classes_to_learn()
    grid = {"C": [0.01, 0.1, 10.0]}
    ours, peer = compare(mc.SVC(kernel=k, tol=1e-6), grid, X, y, THREE, sample_weight=w, scoring=share_of_hits)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-5)


def test_sample_weights_in_scores() -> None:
    """As in GridSearchCV, a score that can be weighted is (scikit-learn 1.7 and later)."""
    X, y = classes_to_learn()
    compare(mc.SVC(kernel=mc.Gaussian(0.2), tol=1e-6), {"C": [0.01, 0.1, 10.0]}, X, y, THREE, sample_weight=_weights())
    X, y = numbers_to_learn()
    compare(
        mc.KernelRidge(kernel=mc.Gaussian(0.2)), {"alpha": [0.1, 1.0]}, X, y, FIVE, atol=1e-7, sample_weight=_weights()
    )


@pytest.mark.thorough
def test_splitters() -> None:
    X, y = classes_to_learn(100)
    groups = np.random.default_rng(0).integers(0, 12, 100)
    machine, grid = mc.SVC(kernel=mc.Gaussian(0.2), tol=1e-6), {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.05, 0.5]}
    for cv in (
        None,
        4,
        THREE,
        ShuffleSplit(4, test_size=0.3, random_state=0),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ):
        compare(machine, grid, X, y, cv)
    ours, _ = compare(machine, grid, X, y, GroupKFold(4), groups=groups)
    assert ours.n_splits_ == 4
    given = [(np.arange(50), np.arange(50, 100)), (np.arange(40, 100), np.arange(40))]
    compare(machine, grid, X, y, given)
    with pytest.raises(ValueError, match="no split"):
        mc.KernelSearchCV(machine, grid, cv=[]).fit(X, y)


def test_a_small_budget_of_memory_changes_nothing() -> None:
    """Where neither the matrix nor that of a fold may be stored, machines compute what they need themselves."""
    X, y = numbers_to_learn(120)
    grid = {"alpha": [0.1, 1.0], "kernel__gamma": [0.1, 1.0]}
    plenty = mc.KernelSearchCV(mc.KernelRidge(kernel=mc.Gaussian(0.2)), grid, cv=FIVE).fit(X, y)
    for memory in (400_000, 200_000):
        tight = mc.KernelRidge(kernel=mc.Gaussian(0.2), compute=mc.Compute(memory=memory))
        ours = mc.KernelSearchCV(tight, grid, cv=FIVE).fit(X, y)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], plenty.cv_results_["mean_test_score"], atol=1e-7
        )


@pytest.mark.thorough
def test_several_outputs() -> None:
    X, y = numbers_to_learn()
    Y = np.column_stack([y, X[:, 2] ** 2])
    compare(mc.KernelRidge(kernel=mc.Gaussian(0.2)), {"alpha": np.logspace(-2, 1, 8)}, X, Y, FIVE, atol=1e-7)
    compare(mc.SVR(kernel=mc.Gaussian(0.2), tol=1e-8), {"C": [0.1, 10.0]}, X, Y, FIVE, atol=1e-5)


def test_single_precision_data_is_judged_as_it_is_trained() -> None:
    X, y = numbers_to_learn()
    X = X.astype(np.float32)
    grid = {"alpha": [0.1, 1.0], "kernel__gamma": [0.1]}
    machine = mc.KernelRidge(kernel=mc.Gaussian(0.1))
    ours, peer = mc.KernelSearchCV(machine, grid, cv=FIVE).fit(X, y), GridSearchCV(machine, grid, cv=FIVE).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], rtol=1e-4)
    np.testing.assert_allclose(
        ours.predict(X), mc.KernelRidge(ours.best_params_["alpha"], mc.Gaussian(0.1)).fit(X, y).predict(X), rtol=1e-5
    )


def test_many_ridges_with_missing_labels_and_absent_samples() -> None:
    X, y = numbers_to_learn()
    Y, w = np.column_stack([y, y]), np.ones(len(y))
    Y[3, 1], w[5] = np.nan, 0.0
    machine, gram = mc.KernelRidge(kernel=mc.Gaussian(0.2)), mc.Gaussian(0.2).gram(X)
    found = [clone(machine).set_params(alpha=a) for a in np.geomspace(0.1, 10, 9)]
    used = machine._learn_rows(gram, Y, w, found)
    for one in found:
        one.support_ = used[one.support_]
        np.testing.assert_allclose(one.predict(gram), clone(one).fit(X, Y, w).predict(X), rtol=1e-9)


# -- sums over landmarks ----------------------------------------------------------------------------------------------


def _one_by_one(machine: Any, grid: Any, A: Any, y: Any, cv: Any, weights: Any) -> Any:
    def score(values: Any, train: Any, test: Any) -> float:
        given, judged = ({} if weights is None else {"sample_weight": weights[part]} for part in (train, test))
        return clone(machine).set_params(**values).fit(A[train], y[train], **given).score(A[test], y[test], **judged)

    return [[score(values, *split) for split in cv.split(A)] for values in ParameterGrid(grid)]


LANDMARKS: dict[str, Any] = {
    "a path": (mc.KernelRidge(centers=40, random_state=0), {"alpha": [1e-3, 0.1, 1.0, 100.0]}),
    "kernels": (
        mc.KernelRidge(kernel=mc.Gaussian(1.0), centers=40, random_state=0),
        {"alpha": [1e-3, 1.0], "kernel__gamma": [0.1, 1.0], "fit_intercept": [True, False]},
    ),
    "numbers": (mc.KernelRidge(random_state=0), {"alpha": [0.1, 1.0], "centers": [None, 20, 40]}),
    "nystrom": (mc.KernelRidge(kernel=mc.Nystrom(mc.Gaussian(0.5), 30, random_state=1)), {"alpha": [0.1, 1.0]}),
    "no ridge": (mc.KernelRidge(kernel=mc.Gaussian(0.5), centers=20, random_state=0), {"alpha": [0.0, 1.0]}),
}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # λ = 0
@pytest.mark.parametrize("weighted", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("name", LANDMARKS)
def test_sums_over_landmarks_have_the_scores_of_fits(name: str, weighted: bool) -> None:
    machine, grid = LANDMARKS[name]
    rng = np.random.default_rng(5)
    A = rng.standard_normal((240, 3))
    y = np.column_stack([np.sin(2 * A[:, 0]), A[:, 1]]) + 0.2 * rng.standard_normal((240, 2))
    weights, cv = rng.integers(0, 3, 240).astype(float) if weighted else None, KFold(3)
    found = mc.KernelSearchCV(machine, grid, cv=cv).fit(A, y, sample_weight=weights)
    expected = _one_by_one(machine, grid, A, y, cv, weights)
    np.testing.assert_allclose(
        np.column_stack([found.cv_results_[f"split{s}_test_score"] for s in range(3)]), expected, rtol=1e-6
    )
    best = clone(machine).set_params(**found.best_params_).fit(A, y, sample_weight=weights)
    np.testing.assert_allclose(found.predict(A[:9]), best.predict(A[:9]), rtol=1e-6)


def test_given_centers_and_classes() -> None:
    rng = np.random.default_rng(5)
    A = rng.standard_normal((200, 3))
    labels, cv = (np.abs(A[:, 0]) > 0.7).astype(int), KFold(3)
    for machine, grid in (
        (mc.SVC(kernel=mc.Gaussian(0.5), centers=A[:30]), {"C": [0.1, 10.0]}),
        (mc.KernelLogistic(kernel=mc.Gaussian(0.5), centers=30, random_state=0), {"alpha": [0.1, 10.0]}),
    ):
        found = mc.KernelSearchCV(machine, grid, cv=cv).fit(A, labels)
        expected = np.mean(_one_by_one(machine, grid, A, labels, cv, None), axis=1)
        np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected, rtol=1e-6)


@pytest.mark.thorough
def test_ridges_share_their_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight λ on landmarks: a fraction of the passes of eight fits."""
    calls: list[int] = []
    normal = Gram.normal

    def counted(self: Gram, *given: Any) -> Any:
        calls.append(1)
        return normal(self, *given)

    monkeypatch.setattr(Gram, "normal", counted)
    rng = np.random.default_rng(5)
    A = rng.standard_normal((600, 3))
    y = np.sin(2 * A[:, 0]) + 0.2 * rng.standard_normal(600)
    machine = mc.KernelRidge(kernel=mc.Gaussian(0.5), centers=40, random_state=0)
    grid, cv = {"alpha": list(np.logspace(-3, 3, 8))}, KFold(3)
    mc.KernelSearchCV(machine, grid, cv=cv, refit=False).fit(A, y)
    together = len(calls)
    calls.clear()
    _one_by_one(machine, grid, A, y, cv, None)
    assert 0 < together < len(calls) / 4
