"""``KernelSearchCV``: the scores of scikit-learn's GridSearchCV on the same splits, each kernel value once, and every
way of ending early.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.kernels.base import kernel
from mercer.kernels.families import Pairwise
from mercer.kernels.parameters import positive
from mercer.solvers.spectral import Tridiagonal

FIVE = KFold(5, shuffle=True, random_state=1)
THREE = StratifiedKFold(3, shuffle=True, random_state=1)


def _classes(n: int = 90, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    X, y = make_classification(
        n, 5, n_informative=4, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )
    return X, np.array(["c", "a", "b"])[y]


def _values(n: int = 90, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(n)


def _same(ours: Any, peer: Any, atol: float = 1e-9) -> None:
    """All fold scores, their means, deviations and ranks, and the choice."""
    a, b = ours.cv_results_, peer.cv_results_
    assert len(a["params"]) == len(b["params"])
    order = [a["params"].index(params) for params in b["params"]]
    for name in b:
        if name.endswith("test_score") and not name.startswith("rank"):
            np.testing.assert_allclose(np.asarray(a[name])[order], b[name], atol=atol, err_msg=name)
    assert np.ptp(b["mean_test_score"]) > 10 * atol, "all candidates are the same: nothing is compared"
    assert ours.best_score_ == pytest.approx(peer.best_score_, abs=atol)


def _compare(estimator: Any, grid: Any, X: Any, y: Any, cv: Any, atol: float = 1e-9, **options: Any) -> tuple[Any, Any]:
    """The search beside GridSearchCV of the same Mercer estimator: both fit for themselves."""
    scoring = options.pop("scoring", None)
    ours = mc.KernelSearchCV(estimator, grid, cv=cv, scoring=scoring).fit(X, y, **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*sample_weight")  # of a scorer that takes none
        peer = GridSearchCV(clone(estimator), grid, cv=cv, scoring=scoring, error_score="raise").fit(X, y, **options)
    _same(ours, peer, atol)
    return ours, peer


# -- the scores are scikit-learn's ------------------------------------------------------------------------------------

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


@pytest.mark.parametrize("name", list(CASES))
def test_scores_are_those_of_grid_search(name: str) -> None:
    estimator, grid, classes, scoring = CASES[name]
    X, y = _classes(classes=classes) if classes else _values()
    loose = {"SVC's probabilities": 1e-4, "SVR": 1e-6, "quantile": 1e-6, "huber": 1e-6}
    _compare(
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


@pytest.mark.parametrize("k", DRIVEN, ids=str)
def test_kernels_that_take_something_from_data(k: Any) -> None:
    X, y = _classes()
    _compare(mc.SVC(kernel=k, tol=1e-6), {"C": [0.01, 1.0, 10.0]}, X, y, THREE)
    X, y = _values()
    _compare(mc.KernelRidge(kernel=k), {"alpha": np.logspace(-2, 2, 9)}, X, y, FIVE, atol=1e-7)


def test_missing_values() -> None:
    X, y = _values()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    k = mc.Gaussian(0.3)
    grid = {
        "alpha": [0.01, 1.0],
        "kernel": [k.imputed("mean"), k.imputed("median"), k.imputed("mean", indicator=True), mc.Gaussian().imputed()],
    }
    _compare(mc.KernelRidge(kernel=k.imputed()), grid, X, y, FIVE, atol=1e-8)


@kernel
class Noted(mc.Gaussian):  # type: ignore[misc]
    """Gaussian("scale") that notes how many rows it is bound to."""

    def bind(self, X: Any, weights: Any = None) -> Any:
        if isinstance(self.gamma, str):
            bound_to.append(np.asarray(X)[:, 0].copy())
        return super().bind(X, weights)


bound_to: list[Any] = []


def test_data_driven_parts_see_the_training_fold_only() -> None:
    X, y = _values()
    bound_to.clear()
    mc.KernelSearchCV(mc.KernelRidge(kernel=Noted()), {"alpha": [0.1, 1.0]}, cv=FIVE, refit=False).fit(X, y)
    folds = [set(X[train, 0]) for train, _ in FIVE.split(X)]
    seen = [set(rows) for rows in bound_to]
    assert all(rows in folds for rows in seen)
    assert all(fold in seen for fold in folds)


def test_a_wide_test_fold_does_not_leak() -> None:
    """An outlier in the test fold changes no score through "scale": the same as binding by hand."""
    X, y = _values(60)
    X[7] = 50.0
    ours = mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=FIVE).fit(X, y)
    for s, (train, test) in enumerate(FIVE.split(X)):
        gamma = 1 / (X.shape[1] * X[train].var())
        for c, alpha in enumerate([0.1, 1.0]):
            machine = mc.KernelRidge(alpha, mc.Gaussian(gamma)).fit(X[train], y[train])
            assert ours.cv_results_[f"split{s}_test_score"][c] == pytest.approx(
                machine.score(X[test], y[test]), rel=1e-8
            )


def test_scores_are_libsvms() -> None:
    """Not only Mercer beside itself: the same grid by scikit-learn's own estimators."""
    X, y = _classes(120, 3)
    ours = mc.KernelSearchCV(
        mc.SVC(kernel=mc.Gaussian(1.0), tol=1e-6), {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.05, 0.5]}, cv=THREE
    ).fit(X, y)
    peer = GridSearchCV(SVC(tol=1e-6, break_ties=True), {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5]}, cv=THREE).fit(
        X, y
    )
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], atol=1.1 / 120)
    X, y = _values()
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
    _same(ridge, theirs, 1e-9)
    assert ridge.best_params_["alpha"] == theirs.best_params_["alpha"]


def test_one_decomposition_for_many_ridges(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    made = Tridiagonal.of.__func__  # type: ignore[attr-defined]

    def counted(cls: Any, gram: Any, weights: Any, bias: bool) -> Any:
        calls.append(gram.shape[0])
        return made(cls, gram, weights, bias)

    monkeypatch.setattr(Tridiagonal, "of", classmethod(counted))
    X, y = _values()
    mc.KernelSearchCV(
        mc.KernelRidge(kernel=mc.Gaussian(0.2)), {"alpha": np.logspace(-3, 2, 12), "kernel__gamma": [0.1, 1.0]}, cv=FIVE
    ).fit(X, y)
    assert calls == [72] * 10


# -- data and splitters -----------------------------------------------------------------------------------------------


def test_sparse() -> None:
    X, y = _classes()
    X = sparse.random_array((90, 200), density=0.05, rng=np.random.default_rng(0)) + sparse.hstack(
        [sparse.csr_array(X), sparse.csr_array((90, 195))]
    )
    grid = {"C": [0.1, 10.0], "kernel": [mc.Gaussian(0.05), mc.Gaussian(), mc.Linear(), mc.Gaussian().centered()]}
    for form in ("csr", "csc", "coo"):
        _compare(mc.SVC(tol=1e-6), grid, X.asformat(form) if form != "coo" else X.tocsr(), y, THREE)
    coo = mc.KernelSearchCV(mc.SVC(tol=1e-6), grid, cv=THREE).fit(X.tocoo(), y)
    assert coo.best_score_ == GridSearchCV(mc.SVC(tol=1e-6), grid, cv=THREE).fit(X.tocsr(), y).best_score_


def test_frames() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = _values()
    k = mc.Gaussian(0.5).on(["a", "b"]) + mc.Linear().on("c") + mc.Categorical().on("kind")
    columns = dict(zip("abcd", X.T, strict=True)) | {"kind": np.array(["x", "y", "z"])[np.arange(90) % 3]}
    _compare(
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


def test_a_series_of_targets_goes_by_position() -> None:
    """Whatever its index says: rows were shuffled, or dropped, before."""
    pd = pytest.importorskip("pandas")
    X, y = _values()
    shuffled = pd.Series(y, index=np.random.default_rng(0).permutation(90))
    named = pd.Series(y, index=[f"row {i}" for i in range(90)])
    for targets in (shuffled, named):
        _compare(
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


def test_strings() -> None:
    words, y = _words()
    ours, peer = _compare(
        mc.SVC(kernel=Subwords(), tol=1e-6), {"C": [0.01, 0.1, 10.0], "kernel__weight": [0.1, 3.0]}, words, y, THREE
    )
    np.testing.assert_array_equal(ours.predict(words), peer.predict(words))
    _compare(mc.SVC(kernel=Subwords().normalized(), tol=1e-6), {"C": [0.01, 10.0]}, words, y, THREE)
    direct = clone(ours.best_estimator_).fit(words, y)
    np.testing.assert_allclose(ours.decision_function(words), direct.decision_function(words), atol=1e-10)
    assert set(vars(ours.best_estimator_)) == set(vars(direct))  # nothing is left of the matrix it was trained on


def test_a_precomputed_matrix() -> None:
    X, y = _classes(classes=3)
    K = mc.Gaussian(0.2)(X)
    ours, peer = _compare(mc.SVC(kernel="precomputed", tol=1e-6), {"C": [0.1, 1.0, 10.0]}, K, y, THREE)
    np.testing.assert_array_equal(ours.predict(K), peer.predict(K))
    by_kernel = mc.KernelSearchCV(mc.SVC(kernel=mc.Gaussian(0.2), tol=1e-6), {"C": [0.1, 1.0, 10.0]}, cv=THREE).fit(
        X, y
    )
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], by_kernel.cv_results_["mean_test_score"])
    objects = mc.KernelSearchCV(mc.SVC(kernel=mc.Precomputed(K), tol=1e-6), {"C": [0.1, 1.0, 10.0]}, cv=THREE).fit(
        np.arange(90), y
    )
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], objects.cv_results_["mean_test_score"])


def _share_of_hits(machine: Any, X: Any, y: Any) -> float:
    """Accuracy, or minus the absolute error, in which all samples count the same: a scorer that takes no weights."""
    found = machine.predict(X)
    return float(np.mean(found == y)) if is_classifier(machine) else -float(np.mean(np.abs(found - y)))


def _weights(n: int = 90) -> Any:
    rng = np.random.default_rng(0)
    return rng.integers(0, 4, n) * rng.choice([0.1, 5.0], n)


@pytest.mark.parametrize("k", [mc.Gaussian(0.2), mc.Gaussian(), mc.Gaussian(0.2).centered()], ids=str)
def test_sample_weights_in_training(k: Any) -> None:
    """They weigh the machine, and what its kernel takes from data."""
    w = _weights()
    X, y = _values()
    for alphas in (np.logspace(-2, 1, 8), [0.1, 1.0]):
        ours, peer = _compare(
            mc.KernelRidge(kernel=k),
            {"alpha": alphas},
            X,
            y,
            FIVE,
            atol=1e-7,
            sample_weight=list(w),
            scoring=_share_of_hits,
        )
        np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-7)
    X, y = _classes()
    grid = {"C": [0.01, 0.1, 10.0]}
    ours, peer = _compare(mc.SVC(kernel=k, tol=1e-6), grid, X, y, THREE, sample_weight=w, scoring=_share_of_hits)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-5)


def test_sample_weights_in_scores() -> None:
    """As in GridSearchCV, a score that can be weighted is (scikit-learn 1.7 and later)."""
    X, y = _classes()
    _compare(mc.SVC(kernel=mc.Gaussian(0.2), tol=1e-6), {"C": [0.01, 0.1, 10.0]}, X, y, THREE, sample_weight=_weights())
    X, y = _values()
    _compare(
        mc.KernelRidge(kernel=mc.Gaussian(0.2)), {"alpha": [0.1, 1.0]}, X, y, FIVE, atol=1e-7, sample_weight=_weights()
    )


def test_splitters() -> None:
    X, y = _classes(100)
    groups = np.random.default_rng(0).integers(0, 12, 100)
    machine, grid = mc.SVC(kernel=mc.Gaussian(0.2), tol=1e-6), {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.05, 0.5]}
    for cv in (
        None,
        4,
        THREE,
        ShuffleSplit(4, test_size=0.3, random_state=0),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ):
        _compare(machine, grid, X, y, cv)
    ours, _ = _compare(machine, grid, X, y, GroupKFold(4), groups=groups)
    assert ours.n_splits_ == 4
    given = [(np.arange(50), np.arange(50, 100)), (np.arange(40, 100), np.arange(40))]
    _compare(machine, grid, X, y, given)
    with pytest.raises(ValueError, match="no split"):
        mc.KernelSearchCV(machine, grid, cv=[]).fit(X, y)


def test_a_small_budget_of_memory_changes_nothing() -> None:
    """Where neither the matrix nor that of a fold may be stored, machines compute what they need themselves."""
    X, y = _values(120)
    grid = {"alpha": [0.1, 1.0], "kernel__gamma": [0.1, 1.0]}
    plenty = mc.KernelSearchCV(mc.KernelRidge(kernel=mc.Gaussian(0.2)), grid, cv=FIVE).fit(X, y)
    for memory in (400_000, 200_000):
        tight = mc.KernelRidge(kernel=mc.Gaussian(0.2), compute=mc.Compute(memory=memory))
        ours = mc.KernelSearchCV(tight, grid, cv=FIVE).fit(X, y)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], plenty.cv_results_["mean_test_score"], atol=1e-7
        )


def test_several_outputs() -> None:
    X, y = _values()
    Y = np.column_stack([y, X[:, 2] ** 2])
    _compare(mc.KernelRidge(kernel=mc.Gaussian(0.2)), {"alpha": np.logspace(-2, 1, 8)}, X, Y, FIVE, atol=1e-7)
    _compare(mc.SVR(kernel=mc.Gaussian(0.2), tol=1e-8), {"C": [0.1, 10.0]}, X, Y, FIVE, atol=1e-5)


# -- each value once --------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("refit", [True, False])
def test_each_pair_once_for_each_kernel(refit: bool) -> None:
    """4 γ × 10 C × 5 folds and the refit: n(n + 1)/2 pairs, each asked for 4 times."""
    X, y = _classes(50)
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
    X, y = _values(40)
    asked.clear()
    mc.KernelSearchCV(
        mc.KernelRidge(kernel=Counted()), {"alpha": np.logspace(-2, 1, 10), "kernel__gamma": [0.1, 1.0]}, cv=FIVE
    ).fit(X, y)
    assert len(asked) == 40 * 41 // 2
    assert set(asked.values()) == {2}


def test_nested_folds_share_the_matrices() -> None:
    X, y = _classes(40)
    asked.clear()
    search = mc.KernelSearchCV(mc.SVC(kernel=Counted()), {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.1, 1.0]}, cv=3)
    mc.nested_scores(search, X, y, cv=4)
    assert len(asked) == 40 * 41 // 2
    assert set(asked.values()) == {2}


# -- nested -----------------------------------------------------------------------------------------------------------


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
    X, y = _classes(classes=kind) if kind else _values()
    outer = StratifiedKFold(4, shuffle=True, random_state=3) if kind else KFold(4, shuffle=True, random_state=3)
    found = mc.nested_scores(search, X, y, cv=outer)
    np.testing.assert_allclose(found, cross_val_score(clone(search), X, y, cv=outer, scoring=search.scoring), atol=1e-7)
    assert np.ptp(found) > 0
    assert not hasattr(search, "cv_results_")


def test_nested_scores_with_weights_and_groups() -> None:
    X, y = _values()
    rng = np.random.default_rng(0)
    w, groups = rng.uniform(0.1, 3.0, 90), rng.integers(0, 9, 90)
    machine, grid, by = mc.KernelRidge(kernel=mc.Gaussian(0.3)), {"alpha": [0.01, 0.1, 1.0]}, _share_of_hits
    search = mc.KernelSearchCV(machine, grid, cv=GroupKFold(3), scoring=by)
    found = mc.nested_scores(search, X, y, cv=GroupKFold(4), sample_weight=w, groups=groups)
    for s, (train, test) in enumerate(GroupKFold(4).split(X, y, groups)):
        inner = GridSearchCV(machine, grid, cv=GroupKFold(3), scoring=by)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*sample_weight")
            inner.fit(X[train], y[train], sample_weight=w[train], groups=groups[train])
        assert found[s] == pytest.approx(inner.score(X[test], y[test]), abs=1e-8)


def test_nested_scores_that_cannot_finish_say_so() -> None:
    X, y = _values()
    with pytest.raises(ValueError, match="max_time"):
        mc.nested_scores(mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3, max_time=0.0), X, y, cv=3)


# -- the results ------------------------------------------------------------------------------------------------------


def test_results_are_laid_out_as_by_grid_search() -> None:
    X, y = _classes()
    grid = [
        {"C": [0.1, 1.0, 10.0], "kernel": [mc.Gaussian(0.2), mc.Linear()]},
        {"C": [1.0], "class_weight": ["balanced"]},
    ]
    ours, peer = _compare(mc.SVC(kernel=mc.Gaussian(0.2), tol=1e-6), grid, X, y, THREE)
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
    X, y = _values(30)
    ours, peer = _compare(mc.KernelRidge(kernel=mc.Gaussian(0.2)), {"alpha": [0.1, 1.0]}, X, y, 3, atol=1e-8)
    assert set(ours.cv_results_) == set(peer.cv_results_)


def test_frame() -> None:
    pl = pytest.importorskip("polars")
    X, y = _classes(60)
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
    X, y = _classes(classes=kind) if kind else _values()
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
    X, y = _classes(60)
    search = mc.KernelSearchCV(mc.SVC(), {"C": [0.1, 1.0]}, cv=3, refit=False).fit(X, y)
    assert search.best_params_ in search.cv_results_["params"]
    assert not hasattr(search, "best_estimator_")
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_score_is_the_score_that_was_searched_by() -> None:
    X, y = _values()
    search = mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3, scoring="neg_mean_absolute_error").fit(
        X, y
    )
    assert search.score(X, y) == pytest.approx(-np.mean(np.abs(y - search.predict(X))))
    assert search.score(X, y) != pytest.approx(
        mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, y).score(X, y)
    )


# -- an estimator among estimators ------------------------------------------------------------------------------------


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


def test_in_a_pipeline_and_in_cross_validation() -> None:
    X, y = _classes()
    grid, peers = {"C": [0.1, 1.0, 10.0]}, []
    for search in (mc.KernelSearchCV, GridSearchCV):
        inner = search(mc.SVC(tol=1e-6), grid, cv=THREE)
        peers.append(cross_val_score(make_pipeline(StandardScaler(), inner), 100 * X + 7, y, cv=4))
    np.testing.assert_array_equal(peers[0], peers[1])
    assert np.ptp(peers[0]) > 0


def test_a_pipeline_inside() -> None:
    """Estimators that are not Mercer's, or wrap it, are searched too; only without the savings."""
    X, y = _classes()
    X = X * [1.0, 100.0, 0.01, 5.0, 1.0]
    pipe = make_pipeline(StandardScaler(), mc.SVC(tol=1e-6))
    ours, peer = _compare(pipe, {"svc__C": [0.1, 10.0], "svc__kernel": [mc.Gaussian(0.1), mc.Linear()]}, X, y, THREE)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X))
    _compare(SVC(), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}, X, y, THREE)


def test_one_candidate_and_none_in_the_grid() -> None:
    X, y = _values()
    search = mc.KernelSearchCV(mc.KernelRidge(), {}, cv=FIVE).fit(X, y)
    assert search.best_params_ == {}
    assert search.best_score_ == pytest.approx(cross_val_score(mc.KernelRidge(), X, y, cv=FIVE).mean(), rel=1e-8)


# -- ending early -----------------------------------------------------------------------------------------------------


def test_progress_sees_every_cell() -> None:
    X, y = _classes(60)
    seen: list[dict[str, Any]] = []
    grid = {"C": [0.1, 1.0, 10.0], "kernel__gamma": [0.1, 1.0], "class_weight": [None, "balanced"]}

    def watch(state: dict[str, Any]) -> None:
        seen.append(state | {"scores": state["scores"].copy()})

    search = mc.KernelSearchCV(mc.SVC(kernel=mc.Gaussian(0.1)), grid, cv=3, progress=watch).fit(X, y)
    assert [s["done"] for s in seen] == sorted({s["done"] for s in seen})
    assert all(s["of"] == 36 for s in seen)
    assert all(s["done"] == np.isfinite(s["scores"]).sum() for s in seen)
    assert seen[-1]["done"] == 36
    assert len(seen) >= 12  # a path of C counts as one
    assert all(s["params"] in search.cv_results_["params"] for s in seen)
    assert (np.diff([s["seconds"] for s in seen]) >= 0).all()
    np.testing.assert_array_equal(seen[-1]["scores"].mean(axis=1), search.cv_results_["mean_test_score"])
    assert search.stopped_ == ""


class _After:
    """Lets so many kernels finish, then does something else."""

    def __init__(self, done: int, then: Any) -> None:
        self.done, self.then = done, then

    def __call__(self, state: dict[str, Any]) -> Any:
        return self.then() if state["done"] >= self.done else False


def _interrupt() -> Any:
    raise KeyboardInterrupt


GRID = {"C": [0.1, 1.0], "kernel__gamma": [0.1, 0.5, 2.0]}


def _partly(**options: Any) -> Any:
    X, y = _classes(60)
    return mc.KernelSearchCV(mc.SVC(kernel=mc.Gaussian(0.1), tol=1e-6), GRID, cv=3, **options).fit(X, y)


def _check_partly(search: Any, stopped: str) -> None:
    """The first kernel's candidates are done and among them is the best; the others are not, and rank behind."""
    X, y = _classes(60)
    results = search.cv_results_
    done = np.array([params["kernel__gamma"] == 0.1 for params in results["params"]])
    assert stopped in search.stopped_
    assert search.stopped_
    np.testing.assert_array_equal(np.isfinite(results["mean_test_score"]), done)
    assert np.isnan(results["std_test_score"][~done]).all()
    assert results["rank_test_score"][done].max() < results["rank_test_score"][~done].min()
    assert search.best_params_["kernel__gamma"] == 0.1
    peer = GridSearchCV(mc.SVC(kernel=mc.Gaussian(0.1), tol=1e-6), {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ == peer.best_score_
    assert search.best_params_["C"] == peer.best_params_["C"]
    np.testing.assert_allclose(search.decision_function(X), peer.decision_function(X), atol=1e-5)
    assert len(search.frame()) == 6


def test_progress_can_stop() -> None:
    _check_partly(_partly(progress=_After(8, lambda: True)), "callback")


def test_the_limit_of_time_keeps_what_is_finished() -> None:
    def slow() -> bool:
        time.sleep(0.6)
        return False

    _check_partly(_partly(progress=_After(8, slow), max_time=0.5), "max_time")


def test_ctrl_c_keeps_what_is_finished() -> None:
    _check_partly(_partly(progress=_After(8, _interrupt)), "interrupted")


def test_ctrl_c_can_be_an_error() -> None:
    with pytest.raises(KeyboardInterrupt):
        _partly(progress=_After(8, _interrupt), on_interrupt="raise")
    with pytest.raises(KeyboardInterrupt):
        _partly(progress=_After(1, _interrupt))  # nothing is finished: there is nothing to keep


@kernel
class Broken(mc.Gaussian):  # type: ignore[misc]
    """A Gaussian that is interrupted at γ = 0.5."""

    def _prepare(self, X: Any) -> Any:
        if self.gamma == 0.5:
            raise KeyboardInterrupt
        return super()._prepare(X)


def test_ctrl_c_inside_a_kernel() -> None:
    X, y = _classes(60)
    _check_partly(mc.KernelSearchCV(mc.SVC(kernel=Broken(0.1), tol=1e-6), GRID, cv=3).fit(X, y), "interrupted")
    with pytest.raises(KeyboardInterrupt):
        mc.KernelSearchCV(mc.SVC(kernel=Broken(0.1)), GRID, cv=3, on_interrupt="raise").fit(X, y)


def test_nothing_finished_in_time() -> None:
    with pytest.raises(ValueError, match=r"max_time=0 s.*more time"):
        _partly(max_time=0.0)
    with pytest.raises(ValueError, match="stopped by the callback") as found:
        _partly(progress=lambda state: True)
    assert "max_time=None" not in str(found.value)  # there was no limit of time; the callback stopped it


# -- errors -----------------------------------------------------------------------------------------------------------


def test_errors() -> None:
    X, y = _classes(60)
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
    X, y = _classes(60)
    with pytest.raises(ValueError, match=r"param_grid|empty|candidate") as found:
        mc.KernelSearchCV(mc.SVC(), []).fit(X, y)
    assert "max_time" not in str(found.value)


def test_weights_of_another_length() -> None:
    X, y = _values()
    with pytest.raises(ValueError, match=r"sample_weight|weights"):
        mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, y, sample_weight=np.ones(89))


def test_scores_that_are_no_numbers_are_not_blamed_on_time() -> None:
    X, y = _values()
    with pytest.raises(ValueError, match=r"score|NaN|nan") as found:
        mc.KernelSearchCV(
            mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3, scoring=lambda machine, X, y: float("nan")
        ).fit(X, y)
    assert "max_time" not in str(found.value)


def test_one_score_at_a_time() -> None:
    X, y = _values()
    with pytest.raises(ValueError, match="scor"):
        mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}, cv=3, scoring=["r2", "neg_mean_absolute_error"]).fit(
            X, y
        )


@parametrize_with_checks(
    [mc.KernelSearchCV(mc.KernelRidge(), {"alpha": [0.1, 1.0]}), mc.KernelSearchCV(mc.SVC(), {"C": [0.1, 1.0]})]
)
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_list_of_kernels_inside_an_estimator_is_left_to_it() -> None:
    X, y = _values()
    machine, grid = mc.KernelRidgeCV([0.1, 1.0], [mc.Gaussian(1e-4), mc.Gaussian(0.3)]), {"criterion": ["loo", "gcv"]}
    ours, peer = mc.KernelSearchCV(machine, grid, cv=FIVE).fit(X, y), GridSearchCV(machine, grid, cv=FIVE).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])
    assert ours.best_estimator_.kernel_ == peer.best_estimator_.kernel_


def test_a_candidate_that_fails_can_be_left_behind() -> None:
    X, y = _values()
    with pytest.warns(FitFailedWarning, match="could not be fitted"):
        found = mc.KernelSearchCV(mc.SVR(), {"C": [1.0, -1.0]}, cv=FIVE, error_score=np.nan).fit(X, y)
    assert found.best_params_ == {"C": 1.0}
    assert np.isnan(found.cv_results_["mean_test_score"][1])


def test_single_precision_data_is_judged_as_it_is_trained() -> None:
    X, y = _values()
    X = X.astype(np.float32)
    grid = {"alpha": [0.1, 1.0], "kernel__gamma": [0.1]}
    machine = mc.KernelRidge(kernel=mc.Gaussian(0.1))
    ours, peer = mc.KernelSearchCV(machine, grid, cv=FIVE).fit(X, y), GridSearchCV(machine, grid, cv=FIVE).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], rtol=1e-4)
    np.testing.assert_allclose(
        ours.predict(X), mc.KernelRidge(ours.best_params_["alpha"], mc.Gaussian(0.1)).fit(X, y).predict(X), rtol=1e-5
    )


def test_many_ridges_with_missing_labels_and_absent_samples() -> None:
    X, y = _values()
    Y, w = np.column_stack([y, y]), np.ones(len(y))
    Y[3, 1], w[5] = np.nan, 0.0
    machine, gram = mc.KernelRidge(kernel=mc.Gaussian(0.2)), mc.Gaussian(0.2).gram(X)
    found = [clone(machine).set_params(alpha=a) for a in np.geomspace(0.1, 10, 9)]
    used = machine._learn_rows(gram, Y, w, found)
    for one in found:
        one.support_ = used[one.support_]
        np.testing.assert_allclose(one.predict(gram), clone(one).fit(X, Y, w).predict(X), rtol=1e-9)
