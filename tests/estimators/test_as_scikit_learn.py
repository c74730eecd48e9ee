"""What users of scikit-learn expect of an estimator: its attributes, signs and shapes, parameters of parts, functions
as kernels, words in errors.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn import linear_model
from sklearn import svm as libsvm
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.fixes import parse_version

import mercer as mc
from mercer.estimators.multiclass import class_weights

X, Y = load_iris(return_X_y=True)
DIGITS, NUMBERS = load_digits(return_X_y=True)


# -- signs and order --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y"),
    [(X, Y), (DIGITS[:600] / 16, NUMBERS[:600]), (X, Y % 2), (X, Y == 2)],
    ids=["iris", "digits", "two", "bool"],
)
def test_coefficients_are_those_of_scikit_learn(X: Any, y: Any) -> None:
    ours, peer = mc.SVC(kernel=mc.Gaussian(0.5), tol=1e-8).fit(X, y), libsvm.SVC(gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(ours.support_, peer.support_)
    np.testing.assert_array_equal(ours.n_support_, peer.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, peer.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-5)
    pairs = ours.function_(X)
    np.testing.assert_allclose(pairs, peer.set_params(decision_function_shape="ovo").decision_function(X), atol=1e-4)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_tables_have_sparse_coefficients(kind: Any) -> None:
    for ours, peer in (
        (mc.SVC(kernel=mc.Linear(), tol=1e-7), libsvm.SVC(kernel="linear", tol=1e-7)),
        (mc.OneClassSVM(), libsvm.OneClassSVM()),
    ):
        ours.fit(kind(X), Y)
        peer.fit(sparse.csr_matrix(X), Y)
        for name in ("dual_coef_", "support_vectors_"):
            assert sparse.issparse(getattr(ours, name)), name
            assert sparse.issparse(getattr(peer, name)), name
        assert ours.dual_coef_.shape == (
            len(ours.intercept_) if len(getattr(ours, "classes_", "12")) < 3 else 2,
            len(ours.support_),
        )
        dense = clone(ours).fit(X, Y)
        np.testing.assert_allclose(ours.dual_coef_.toarray(), dense.dual_coef_, atol=1e-9)
        np.testing.assert_allclose(ours.decision_function(kind(X)), dense.decision_function(X), atol=1e-9)
    assert isinstance(mc.KernelRidge().fit(kind(X), Y).dual_coef_, np.ndarray)  # as of scikit-learn's
    search = mc.KernelSearchCV(mc.SVC(kernel=mc.Linear()), {"C": [1.0, 2.0]}).fit(sparse.csr_matrix(X), Y)
    assert sparse.issparse(search.best_estimator_.dual_coef_)


# -- weights of features ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", [Y, Y % 2], ids=["three", "two"])
@pytest.mark.parametrize("table", [X, sparse.csr_matrix(X)], ids=["dense", "sparse"])
def test_coef_is_that_of_scikit_learn(table: Any, targets: Any) -> None:
    nu = 0.4 if len(set(targets)) == 3 else 0.6
    for ours, peer in (
        (mc.SVC(kernel=mc.Linear(), tol=1e-7), libsvm.SVC(kernel="linear", tol=1e-7)),
        (mc.NuSVC(nu, mc.Linear()), libsvm.NuSVC(nu=nu, kernel="linear", tol=1e-8)),
        (mc.SVR(kernel=mc.Linear(), tol=1e-7), libsvm.SVR(kernel="linear", tol=1e-8)),
    ):  # fmt: skip
        found, expected = ours.fit(table, targets).coef_, peer.fit(table, targets).coef_
        assert sparse.issparse(found) == sparse.issparse(expected)
        assert found.shape == expected.shape
        np.testing.assert_allclose(_dense(found), _dense(expected), atol=1e-3)
        with pytest.raises(AttributeError):
            ours.coef_ = found
        with pytest.raises((ValueError, RuntimeError)):
            found[0, 0] = 1.0


def _dense(coef: Any) -> Any:
    return coef.toarray() if sparse.issparse(coef) else coef


@pytest.mark.thorough
def test_every_machine_with_features_has_their_weights() -> None:
    pairs = [
        (mc.KernelRidge(2.0, mc.Linear()), linear_model.Ridge(2.0)),
        (mc.KernelRidgeCV([2.0], mc.Linear()), linear_model.RidgeCV([2.0])),
        (mc.KernelLogistic(0.5, mc.Linear()), linear_model.LogisticRegression(C=1.0, tol=1e-8, max_iter=1000)),
        (mc.KernelQuantile(0.5, 1e-3, mc.Linear(), tol=1e-8), linear_model.QuantileRegressor(alpha=0.0)),
    ]
    for ours, peer in pairs:
        assert not hasattr(ours, "coef_")
        ours.fit(X, Y)
        expected = peer.fit(X, Y).coef_
        assert ours.coef_.shape == expected.shape
        np.testing.assert_allclose(ours.coef_, expected, atol=2e-2 if isinstance(ours, mc.KernelQuantile) else 1e-4)
    both = mc.KernelRidge(kernel=mc.Linear()).fit(X, np.column_stack([Y, Y]))
    assert both.coef_.shape == (2, 4)
    for machine in (
        mc.SVC(kernel=mc.Polynomial(2)),
        mc.SVR(kernel=mc.Linear().standardized() + 1.0),
        mc.KernelHuber(kernel=mc.Linear().on([0, 2])),
    ):
        machine.fit(X, Y)
        values = machine.kernel_.features(X) @ machine.coef_.T + machine.intercept_
        np.testing.assert_allclose(values.reshape(len(X), -1), machine.function_(X).reshape(len(X), -1), atol=1e-8)
    for machine, data in (
        (mc.SVC(), X),
        (mc.SVDD(kernel=mc.Linear()), X),
        (mc.SVC(kernel="precomputed"), X @ X.T),
        (mc.SVC(kernel=mc.Spectrum(2)), WORDS),
    ):
        assert not hasattr(machine.fit(data, Y[: len(data)] if len(data) == len(Y) else [0, 1, 0, 1]), "coef_"), machine


WORDS = ["ACGT", "TTTT", "ACGA", "TTAT"]


def test_features_are_eliminated_and_selected() -> None:
    ours, peer = (
        RFE(machine, n_features_to_select=2).fit(X, Y)
        for machine in (mc.SVC(kernel=mc.Linear()), libsvm.SVC(kernel="linear"))
    )
    np.testing.assert_array_equal(ours.ranking_, peer.ranking_)
    chosen = SelectFromModel(mc.KernelRidge(kernel=mc.Linear())).fit(X, Y).get_support()
    np.testing.assert_array_equal(chosen, SelectFromModel(linear_model.Ridge()).fit(X, Y).get_support())
    # before, scikit-learn takes no norms of sparse coefficients
    if parse_version(sklearn.__version__) >= parse_version("1.9"):
        chosen = SelectFromModel(mc.SVC(kernel=mc.Linear())).fit(sparse.csr_matrix(X), Y).get_support()
        peer = SelectFromModel(libsvm.SVC(kernel="linear")).fit(X, Y).get_support()
        np.testing.assert_array_equal(chosen, peer)


# -- probabilities ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine", [mc.SVC(probability=True), mc.NuSVC(0.3, probability=True), mc.KernelLogistic()], ids=str
)
@pytest.mark.parametrize("y", [Y, Y % 2], ids=["three", "two"])
def test_log_probabilities(machine: Any, y: Any) -> None:
    machine = clone(machine).fit(X, y)
    p, logs = machine.predict_proba(X), machine.predict_log_proba(X)
    np.testing.assert_allclose(np.exp(logs), p, atol=1e-12)
    if len(machine.classes_) == 2:
        far = 1e6 * (X - X.mean(axis=0))
        assert np.isfinite(machine.predict_log_proba(far)).all()
    search = mc.KernelSearchCV(machine, {"kernel": [mc.Gaussian(2.0)]}).fit(X, y)
    np.testing.assert_allclose(np.exp(search.predict_log_proba(X)), search.predict_proba(X), atol=1e-12)


def test_probabilities_only_where_they_were_learnt() -> None:
    machine = mc.SVC()
    assert not hasattr(machine, "predict_log_proba")
    machine.fit(X, Y).set_params(probability=True)
    for method in ("predict_proba", "predict_log_proba"):
        with pytest.raises(NotFittedError, match=r"fitted with probability=False.*Call fit again"):
            getattr(machine, method)(X)
        with pytest.raises(NotFittedError):
            getattr(mc.SVC(probability=True), method)(X)
    for one in mc.SVC(probability=True).path(X, Y % 2, [0.1, 1.0]):
        np.testing.assert_allclose(
            one.predict_proba(X), mc.SVC(one.C, probability=True).fit(X, Y % 2).predict_proba(X), atol=1e-2
        )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", ["table", "sparse", "matrix", "words"])
def test_a_weight_is_a_repetition_in_probabilities(make: str, classes: int) -> None:
    """As is to have each row twice and weights of a half."""
    rng = np.random.RandomState(0)
    T = rng.standard_normal((60, 2))
    y = np.digitize(T[:, 0] + rng.standard_normal(60), [0.0] if classes == 2 else [-0.5, 0.5])
    w = rng.randint(0, 4, 60)
    copies = np.repeat(np.arange(60), w)
    words = np.array(["".join(rng.choice(list("ACGT"), 6)) for _ in range(60)], object)
    k: Any = mc.Gaussian(0.5)
    data, repeated, new = {
        "table": (T, T[copies], T),
        "sparse": (sparse.csr_array(T), sparse.csr_array(T[copies]), T),
        "matrix": (k(T), k(T[copies]), None),
        "words": (words.tolist(), words[copies].tolist(), words.tolist()),
    }[make]
    machine = mc.SVC(probability=True, kernel={"matrix": "precomputed", "words": mc.Spectrum(2)}.get(make, k))
    weighted = clone(machine).fit(data, y, sample_weight=w)
    copied = clone(machine).fit(repeated, y[copies])
    one, other = (
        weighted.predict_proba(data if new is None else new),
        copied.predict_proba(k(T, T[copies]) if new is None else new),
    )
    np.testing.assert_allclose(one, other, atol=1e-6)
    both = np.tile(np.arange(60), 2)
    halves = clone(machine).fit(
        k(T[both]) if new is None else _rows(data, both), y[both], sample_weight=np.tile(w / 2, 2)
    )
    np.testing.assert_allclose(halves.predict_proba(k(T, T[both]) if new is None else new), one, atol=1e-6)


def _rows(data: Any, chosen: Any) -> Any:
    return [data[i] for i in chosen] if isinstance(data, list) else data[chosen]


# -- class weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [{0: 2.0, 1: 3.0, 2: 5.0}, {0: 2.0, 1: 3.0}, {0: 2.0}, {0: 2.0, 2: 5.0}, {7: 1.0}, "balanced", None],
    ids=str,
)
def test_class_weights_by_the_rule_of_scikit_learn(given: Any) -> None:
    y = np.array([0, 0, 1, 1, 1])  # a fold without class 2
    counts = {0: 2.0, 1: 3.0}
    try:
        expected = compute_class_weight(given, classes=np.array([0, 1]), y=y)
    except ValueError:
        with pytest.raises(ValueError, match="class_weight has classes that are not in y"):
            class_weights(given, counts)
        return
    np.testing.assert_allclose(class_weights(given, counts), expected)


def test_a_fold_may_lack_a_class_that_has_a_weight() -> None:
    weights = {0: 1.0, 1: 2.0, 2: 3.0}
    for machine in (mc.SVC(class_weight=weights), mc.KernelLogistic(class_weight=weights)):
        assert cross_val_score(machine, X, Y, cv=KFold(3), error_score="raise").shape == (3,)


# -- functions as kernels ---------------------------------------------------------------------------------------------


def _rbf(A: Any, B: Any) -> Any:
    return rbf_kernel(A, B, gamma=0.5)


@pytest.mark.thorough
def test_a_function_is_a_kernel_everywhere() -> None:
    k = mc.Gaussian(0.5)
    for make in (mc.SVC, mc.NuSVR, mc.SVDD, mc.KernelRidge, mc.KernelRidgeCV, mc.KernelLogistic, mc.KernelHuber):
        ours, same = make(kernel=_rbf).fit(X, Y), make(kernel=k).fit(X, Y)
        np.testing.assert_allclose(ours.function_(X), same.function_(X), atol=1e-6)
        assert isinstance(ours.kernel_, mc.Function)
        assert pickle.loads(pickle.dumps(clone(ours))).kernel is _rbf
    np.testing.assert_allclose(
        mc.KernelPCA(2, _rbf).fit(X).explained_variance_, mc.KernelPCA(2, k).fit(X).explained_variance_
    )
    peer = libsvm.SVC(kernel=_rbf).fit(X, Y)
    np.testing.assert_array_equal(mc.SVC(kernel=_rbf).fit(X, Y).predict(X), peer.predict(X))
    np.testing.assert_allclose(
        mc.KernelRidge(1.0, _rbf, fit_intercept=False).fit(X, Y).predict(X),
        KernelRidge(alpha=1.0, kernel="rbf", gamma=0.5).fit(X, Y).predict(X),
    )
    grid = mc.KernelSearchCV(mc.SVC(kernel=_rbf), {"C": [0.1, 10.0]}).fit(X, Y)
    assert grid.best_score_ == pytest.approx(
        GridSearchCV(mc.SVC(kernel=_rbf), {"C": [0.1, 10.0]}).fit(X, Y).best_score_
    )


def test_a_function_of_anything() -> None:
    seen: list[Any] = []

    def common(A: Any, B: Any) -> Any:
        seen.extend((A, B))
        return [[len(set(a) & set(b)) for b in B] for a in A]

    machine = mc.SVC(kernel=common).fit(["abc", "abd", "xyz", "xy"], [0, 0, 1, 1])
    assert machine.predict(["ab", "yz"]).tolist() == [0, 1]
    assert all(isinstance(part, list) and isinstance(part[0], str) for part in seen)


@pytest.mark.parametrize(
    "wrong", [lambda A, B: 3.0, lambda A, B: A, lambda A, B: np.zeros(len(A))], ids=["number", "rows", "vector"]
)
def test_a_function_that_returns_no_matrix(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"samples and returned an array of shape .* the matrix of all pairs"):
        mc.SVC(kernel=wrong).fit(X, Y)
    with pytest.raises(TypeError, match=r"a function f\(X, Y\)"):
        mc.SVC(kernel=mc.Gaussian).fit(X, Y)  # a class, not a kernel
    with pytest.raises(TypeError, match="must be a function"):
        mc.Function("rbf")


# -- parameters of a default kernel -----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_default_kernel_has_its_parameters() -> None:
    machine = mc.SVC()
    assert machine.get_params()["kernel__gamma"] == "scale"
    assert "kernel__gamma" not in machine.get_params(deep=False)
    assert machine.kernel == clone(machine).kernel == mc.Gaussian()
    assert repr(machine) == "SVC()"
    assert machine.set_params(kernel__gamma=0.5).kernel == mc.Gaussian(0.5)
    assert mc.SVC().kernel == mc.Gaussian()  # nothing is shared
    assert mc.SVC().set_params(kernel=mc.Laplacian(), kernel__gamma=2.0).kernel == mc.Laplacian(2.0)
    assert mc.SVC(kernel="Laplacian(1)").set_params(kernel__gamma=2.0).kernel == mc.Laplacian(2.0)
    with pytest.raises(ValueError, match="nonsense"):
        mc.SVC().set_params(kernel__nonsense=1.0)
    for make in (mc.SVC, mc.KernelRidge):
        grid = {"kernel__gamma": [0.01, 0.5]}
        expected = GridSearchCV(make(kernel=mc.Gaussian()), grid).fit(X, Y)
        for search in (GridSearchCV(make(), grid), mc.KernelSearchCV(make(), grid)):
            search.fit(X, Y)
            assert search.best_params_ == expected.best_params_
            assert search.best_score_ == pytest.approx(expected.best_score_)


# -- words ------------------------------------------------------------------------------------------------------------

ESTIMATORS = [
    mc.SVC(), mc.NuSVC(), mc.SVR(), mc.NuSVR(), mc.OneClassSVM(), mc.SVDD(), mc.KernelRidge(), mc.KernelRidgeCV(),
    mc.KernelLogistic(), mc.KernelHuber(), mc.KernelQuantile(), mc.KernelPCA(), mc.KernelKMeans(), mc.KernelHebbian(),
    mc.KernelPCANovelty(), mc.SpectralClustering(), mc.PCA(), mc.KMeans(), mc.GaussianMixture(), mc.SVC(kernel=_rbf),
    mc.SVC(kernel=mc.Gaussian() + mc.Linear()), mc.SVC(kernel="precomputed"), mc.ConformalRegressor(mc.KernelRidge()),
    mc.KernelSearchCV(mc.SVC(), {"C": [1.0]}),
]  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: str(estimator).split(" at 0x")[0])
def test_a_missing_value_is_named_with_its_cure(estimator: Any) -> None:
    data = rbf_kernel(X) if getattr(estimator, "kernel", "") == "precomputed" else X
    for value, word in ((np.nan, r"missing value \(NaN\)"), (np.inf, "infinite")):
        bad = data.copy()
        bad[3, 2] = value
        with pytest.raises(ValueError, match=rf"Row 3, column 2 is (a )?{word}") as found:
            clone(estimator).fit(bad, Y)
        said = str(found.value).lower()
        assert "sklearn" not in said
        assert "scikit" not in said
        kernel = getattr(estimator, "estimator", estimator).get_params().get("kernel", "")
        assert ("kernel.imputed()" in str(found.value)) == (value != value and not isinstance(kernel, str))


def test_a_missing_value_is_named_by_its_column() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X.copy(), columns=["a", "b", "c", "d"])
    machine = mc.SVC().fit(frame, Y)
    frame.iloc[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"Row 7, column 'b' \(1\) is a missing value"):
        machine.predict(frame)
    with pytest.raises(ValueError, match=r"Row 7, column 1 is a missing value"):
        mc.SVC().fit(sparse.csr_matrix(frame.to_numpy()), Y)


@pytest.mark.parametrize(
    "machine", [mc.SVC(kernel="precomputed"), mc.SVR(kernel="precomputed"), mc.KernelPCA(2, "precomputed")], ids=str
)
def test_a_matrix_that_is_not_square(machine: Any) -> None:
    for K in (np.ones((150, 4)), np.ones((150, 160))):
        with pytest.raises(ValueError, match="must be a square matrix"):
            machine.fit(K, Y)


# -- routing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["loo", "split"])
@pytest.mark.parametrize("machine", [mc.KernelRidge(), mc.SVR()], ids=str)
@pytest.mark.thorough
def test_weights_go_to_the_estimator_of_intervals(machine: Any, method: str) -> None:
    y, w = X[:, 0], 1.0 + (Y == 1)
    plain = mc.ConformalRegressor(machine, method=method, random_state=0).fit(X[:, 1:], y)
    passed = mc.ConformalRegressor(machine, method=method, random_state=0).fit(X[:, 1:], y, sample_weight=w)
    assert np.abs(plain.predict(X[:, 1:]) - passed.predict(X[:, 1:])).max() > 1e-3
    if method == "loo":
        np.testing.assert_allclose(
            passed.predict(X[:, 1:]), clone(machine).fit(X[:, 1:], y, sample_weight=w).predict(X[:, 1:])
        )
    with sklearn.config_context(enable_metadata_routing=True):
        asked = mc.ConformalRegressor(clone(machine).set_fit_request(sample_weight=True), method=method, random_state=0)
        routed = clone(asked).fit(X[:, 1:], y, sample_weight=w)
        np.testing.assert_allclose(routed.predict_interval(X[:, 1:]), passed.predict_interval(X[:, 1:]))
        with pytest.raises(UnsetMetadataPassedError):
            mc.ConformalRegressor(machine, method=method, random_state=0).fit(X[:, 1:], y, sample_weight=w)
        scores = cross_validate(asked, X[:, 1:], y, params={"sample_weight": w}, error_score="raise")["test_score"]
        assert scores.shape == (5,)
