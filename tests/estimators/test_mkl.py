"""Learnt weights of kernels: against a general solver over libsvm, planted weights, and what must not go wrong."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC as LibSVC
from sklearn.svm import SVR as LibSVR
from sklearn.svm import OneClassSVM as LibOneClass
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.kernels.base import kernel
from mercer.kernels.families import Pairwise

KERNELS = [mc.Gaussian(g).on(j) for g, j in ((0.1, 0), (1.0, 1), (5.0, 2))] + [mc.Linear(), mc.Gaussian(0.3)]


def data(n: int = 150) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, 4))
    f = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1 + 0.3 * rng.standard_normal(n)
    return X, np.where(f > 0, 1, -1), f


def normalised(X: Any, kernels: Any = KERNELS) -> Any:
    """K_m/(tr(H K_m)/n), literally."""
    n = len(X)
    H = np.eye(n) - 1 / n
    return [k(X) / (np.trace(H @ k(X)) / n) for k in kernels]


def slow_value(kind: str, y: Any, K: Any) -> tuple[float, Any]:
    """J at a matrix, and the coefficients, by libsvm."""
    n = len(K)
    b = np.zeros(n)
    if kind == "ridge":
        A = np.block([[K + 0.2 * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        b = np.linalg.solve(A, np.append(y, 0.0))[:n]
        return float(b @ y - 0.1 * b @ b - 0.5 * b @ K @ b), b
    machine = {
        "classes": LibSVC(C=2.0, kernel="precomputed", tol=1e-10),
        "numbers": LibSVR(C=2.0, epsilon=0.1, kernel="precomputed", tol=1e-10),
        "one": LibOneClass(nu=0.2, kernel="precomputed", tol=1e-10),
    }[kind].fit(K, y)
    b[machine.support_] = machine.dual_coef_[0]
    linear = {"classes": b @ y, "numbers": b @ y - 0.1 * np.abs(b).sum(), "one": 0.0}[kind]
    return float(linear - 0.5 * b @ K @ b), b


def slow_minimum(kind: str, y: Any, matrices: Any, p: float) -> float:
    """The least J over the weights, by sequential quadratic programming."""

    def of(beta: Any) -> tuple[float, Any]:
        value, b = slow_value(kind, y, np.tensordot(beta, matrices, 1))
        return value, np.array([-0.5 * b @ K @ b for K in matrices])

    count = len(matrices)
    kept = {"type": "eq", "fun": lambda v: np.sum(v**p) - 1, "jac": lambda v: p * v ** (p - 1)}
    found = minimize(
        of, np.full(count, count ** (-1 / p)), jac=True, bounds=[(1e-9, 1)] * count, constraints=[kept],
        method="SLSQP", options={"ftol": 1e-13, "maxiter": 500},
    )  # fmt: skip
    return float(found.fun)


# of the objective: λ‖f‖² is 2λ times ½‖f‖², λ = 0.2, and the margin of one class is made large
UNITS = {"classes": 1.0, "numbers": 1.0, "ridge": 0.4, "one": -1.0}


def machine(kind: str, p: float, **options: Any) -> Any:
    options = {"kernel": KERNELS, "p": p, "tol": 1e-8} | options
    return {
        "classes": lambda: mc.MKLClassifier(2.0, **options),
        "numbers": lambda: mc.MKLRegressor(2.0, 0.1, **options),
        "ridge": lambda: mc.MKLRidge(0.2, **options),
        "one": lambda: mc.MKLOneClass(0.2, **options),
    }[kind]()


@pytest.mark.thorough
@pytest.mark.parametrize("p", [1.0, 4 / 3, 2.0])
@pytest.mark.parametrize("kind", ["classes", "numbers", "ridge", "one"])
def test_the_objective_is_that_of_a_general_solver(kind: str, p: float) -> None:
    X, labels, f = data()
    y = labels if kind == "classes" else f
    found = machine(kind, p).fit(X, None if kind == "one" else y)
    matrices = np.array(normalised(X))
    least = slow_minimum(kind, y, matrices, p)
    assert found.objective_ == pytest.approx(UNITS[kind] * least, rel=1e-6)
    assert found.converged_
    assert found.gap_ <= 1e-8
    # the weights themselves: what libsvm makes of them is no worse
    assert slow_value(kind, y, np.tensordot(found.weights_, matrices, 1))[0] <= least + 1e-6 * abs(least)
    assert np.sum(found.weights_**p) == pytest.approx(1.0)
    objectives = [step["objective"] / UNITS[kind] for step in found.history_]
    assert all(after <= before * (1 + 1e-9) + 1e-9 for before, after in pairwise(objectives))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["classes", "numbers", "ridge", "one"])
def test_the_gap_is_a_bound(kind: str) -> None:
    """After every number of rounds the objective is within its gap of the minimum."""
    X, labels, f = data(80)
    y = labels if kind == "classes" else f
    least = slow_minimum(kind, y, np.array(normalised(X)), 1.0)
    for rounds in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = machine(kind, 1.0, tol=1e-15, max_iter=rounds).fit(X, None if kind == "one" else y)
        assert found.n_iter_ <= rounds
        objective = found.objective_ / UNITS[kind]
        size = max(abs(objective), abs(least))
        assert least - 1e-6 * size <= objective <= least + found.gap_ * size + 1e-6 * size


@pytest.mark.thorough
def test_planted_weights_are_found() -> None:
    """y is a sum of functions in three of twelve spaces; the others are noise, with weight exactly 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 12))
    kernels = [mc.Gaussian(0.5).on(j) for j in range(12)]
    planted = np.zeros(12)
    planted[[1, 4, 9]] = 3.0, 2.0, 1.0
    f = np.zeros(400)
    for j in np.flatnonzero(planted):
        K = normalised(X, [kernels[j]])[0]
        g = K @ rng.standard_normal(400)
        f += planted[j] * g / np.sqrt(g @ np.linalg.solve(K + 1e-6 * np.eye(400), g))
    f = f / f.std()
    ridge = mc.MKLRidge(1.0, kernels).fit(X, f + 0.1 * rng.standard_normal(400))
    cosine = ridge.weights_ @ planted / np.linalg.norm(ridge.weights_) / np.linalg.norm(planted)
    assert cosine > 0.95
    assert (ridge.weights_[planted == 0] == 0).all()
    classes = mc.MKLClassifier(0.1, kernels).fit(X, f > np.median(f))
    assert classes.weights_[planted > 0].sum() > 0.95


@pytest.mark.parametrize("weighting", ["learned", "average", "alignment"])
@pytest.mark.thorough
def test_the_learnt_sum_is_an_ordinary_kernel(weighting: str) -> None:
    X, y, f = data()
    found = mc.MKLClassifier(2.0, KERNELS, weighting=weighting, tol=1e-8).fit(X, y)
    plain = mc.SVC(2.0, found.kernel_, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), plain.decision_function(X), atol=1e-6)
    K = np.tensordot(found.weights_, np.array(normalised(X)), 1)
    np.testing.assert_allclose(found.kernel_(X), K, rtol=1e-9, atol=1e-12)
    ridge = mc.MKLRidge(0.5, KERNELS, weighting=weighting).fit(X, f)
    np.testing.assert_allclose(ridge.predict(X), mc.KernelRidge(0.5, ridge.kernel_).fit(X, f).predict(X), atol=1e-6)


@pytest.mark.thorough
def test_alignment_is_largest() -> None:
    """No other weights, drawn at random or one kernel alone, are more aligned with the targets."""
    X, y, _ = data()
    found = mc.MKLClassifier(2.0, KERNELS, weighting="alignment").fit(X, y)
    H = np.eye(len(X)) - 1 / len(X)
    centred = np.array([H @ K @ H for K in normalised(X)])
    T = H @ np.outer(y, y) @ H

    def aligned(beta: Any) -> float:
        K = np.tensordot(beta, centred, 1)
        return float(np.sum(K * T) / np.linalg.norm(K))

    rng = np.random.default_rng(0)
    best = aligned(found.weights_)
    others = [*np.eye(len(KERNELS)), *rng.dirichlet(np.ones(len(KERNELS)), 200)]
    near = [np.abs(found.weights_ + 1e-3 * rng.standard_normal(len(KERNELS))) for _ in range(50)]
    assert all(aligned(beta) <= best * (1 + 1e-12) for beta in others + near)


def test_several_classes_share_the_weights() -> None:
    """J is the sum over the pairs of classes."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 4))
    y = np.argmax(X[:, :3] + 0.5 * rng.standard_normal((120, 3)), axis=1)
    found = mc.MKLClassifier(2.0, KERNELS, tol=1e-8).fit(X, y)
    matrices = np.array(normalised(X))

    def total(beta: Any) -> float:
        value = 0.0
        for a, b in ((0, 1), (0, 2), (1, 2)):
            rows = np.flatnonzero((y == a) | (y == b))
            K = np.tensordot(beta, matrices, 1)[np.ix_(rows, rows)]
            value += slow_value("classes", np.where(y[rows] == a, 1, -1), K)[0]
        return value

    assert found.objective_ == pytest.approx(total(found.weights_), rel=1e-6)
    rng = np.random.default_rng(0)
    for step in (0.3, 0.03):
        for _ in range(10):
            beta = np.maximum(0, found.weights_ + step * rng.standard_normal(len(KERNELS)))
            assert total(beta / beta.sum()) >= found.objective_ * (1 - 1e-6)


def test_a_weight_is_a_repetition() -> None:
    X, y, _ = data(60)
    weights = np.resize([1.0, 2.0, 0.0, 3.0], 60)
    rows = np.repeat(np.arange(60), weights.astype(int))
    for p in (1.0, 2.0):
        found = machine("classes", p).fit(X, y, sample_weight=weights)
        again = machine("classes", p).fit(X[rows], y[rows])
        np.testing.assert_allclose(found.weights_, again.weights_, atol=1e-5)
        np.testing.assert_allclose(found.decision_function(X), again.decision_function(X), atol=1e-4)


@kernel
class Counted(Pairwise):
    """A Gaussian that counts the pairs it is asked for."""

    gamma: float = 1.0
    asked = 0

    def _pair(self, x: Any, z: Any) -> float:
        Counted.asked += 1
        return float(np.exp(-self.gamma * np.sum((np.asarray(x) - np.asarray(z)) ** 2)))


@pytest.mark.thorough
def test_a_search_computes_each_part_once() -> None:
    X, y, _ = data(40)
    Counted.asked = 0
    kernels = [Counted(0.1), Counted(1.0), mc.Gaussian(0.5)]
    given = {"C": [0.1, 1.0, 10.0], "p": [1.0, 2.0]}
    search = mc.KernelSearchCV(mc.MKLClassifier(kernel=kernels), given, cv=3, refit=False).fit(X, y)
    assert Counted.asked <= 2 * 40 * 41 // 2
    slow = GridSearchCV(mc.MKLClassifier(kernel=kernels), given, cv=3, refit=False).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])


@pytest.mark.thorough
def test_a_search_binds_what_depends_on_data_in_each_fold() -> None:
    """Widths and units follow the training samples, and test samples are compared by the learnt weights."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = X[:, 0] ** 2 + np.sin(2 * X[:, 1]) > 1
    for one, given, t in (
        (mc.MKLClassifier(), {"C": [0.1, 10.0], "p": [1.0, 2.0]}, y),
        (mc.MKLRidge(kernel=[mc.Gaussian().on(0), mc.Gaussian().on(1)]), {"alpha": [0.1, 1.0]}, X[:, 0] ** 2),
    ):
        quick = mc.KernelSearchCV(one, given, cv=3).fit(X, t).cv_results_["mean_test_score"]
        slow = GridSearchCV(one, given, cv=3).fit(X, t).cv_results_["mean_test_score"]
        np.testing.assert_allclose(quick, slow, atol=1e-6)


def test_a_matrix_of_new_items_must_keep_its_parts_apart() -> None:
    X, y, _ = data(60)
    kernels = [mc.Gaussian(0.5), mc.Linear()]
    found = mc.MKLClassifier(kernel=kernels).fit(X, y)
    apart = mc.SumGram([k.gram(X[:5], X) for k in kernels], np.ones(2))
    np.testing.assert_allclose(found.decision_function(apart), found.decision_function(X[:5]))
    with pytest.raises(ValueError, match="SumGram"):
        found.decision_function(kernels[0].gram(X[:5], X))


@pytest.mark.parametrize("p", [1.0001, 1.001, 1.01, 50.0])
@pytest.mark.parametrize("kind", ["classes", "numbers", "ridge", "one"])
def test_p_near_1_and_large(kind: str, p: float) -> None:
    X, labels, f = data(80)
    found = machine(kind, p, tol=1e-5).fit(X, None if kind == "one" else labels if kind == "classes" else f)
    assert found.converged_
    assert np.sum(found.weights_**p) == pytest.approx(1.0)


def test_a_weight_that_became_0_comes_back() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(102)
    n = int(rng.integers(60, 200))
    table = pandas.DataFrame({"d": rng.random(n), "c": rng.choice(list("rgb"), n)})
    kernels = [mc.Gaussian().on("d"), mc.Categorical().on("c")]
    found = mc.MKLClassifier(0.1, kernels).fit(table, (table.d > 0.5) ^ (table.c == "r"))
    assert found.converged_


@pytest.mark.parametrize("weighting", ["average", "alignment"])
def test_the_objective_of_given_weights_is_comparable(weighting: str) -> None:
    X, y, f = data()
    for p in (1.0, 2.0):
        for kind, t in (("classes", y), ("numbers", f), ("ridge", f)):
            learnt, given = machine(kind, p).fit(X, t), machine(kind, p, weighting=weighting).fit(X, t)
            assert learnt.objective_ <= given.objective_ * (1 + 1e-9)
            assert given.objective_ * (1 - given.gap_) <= learnt.objective_ * (1 + 1e-6)
            assert given.n_iter_ == 0
            assert len(given.history_) == 1
            assert np.sum(given.weights_**p) == pytest.approx(1.0)


@pytest.mark.thorough
def test_small_variance_beside_a_large_trace() -> None:
    """Far from the origin the variance is 1e-8 of the trace, and still what counts."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((700, 2)) + 1e4
    found = mc.MKLRidge(1.0, [mc.Linear().on(0), mc.Linear().on(1)]).fit(Z, Z[:, 1] - 1e4)
    np.testing.assert_allclose(found.weights_, [0.0, 1.0], atol=1e-6)
    assert found.score(Z, Z[:, 1] - 1e4) > 0.999
    costly = [mc.Function(lambda A, B, j=j: np.exp(-1e-6 * ((A[:, None, j] - B[None, :, j]) ** 2))) for j in (0, 1)]
    y = np.where(Z[:, 0] > 1e4, 1, -1)
    machine = mc.MKLClassifier(1e3, costly).fit(Z, y)
    assert machine.score(Z, y) == mc.SVC(1e3, machine.kernel_).fit(Z, y).score(Z, y)
    assert machine.weights_[0] > 0.99


def test_one_kernel_is_searched_in_its_units() -> None:
    X, _, f = data(90)
    for one in (mc.Gaussian(0.01), mc.Gaussian("scale")):
        given = {"alpha": [0.1, 1.0, 10.0]}
        quick = mc.KernelSearchCV(mc.MKLRidge(kernel=[one]), given, cv=3).fit(X, f).cv_results_["mean_test_score"]
        slow = GridSearchCV(mc.MKLRidge(kernel=[one]), given, cv=3).fit(X, f).cv_results_["mean_test_score"]
        np.testing.assert_allclose(quick, slow, atol=1e-8)


@pytest.mark.thorough
def test_one_search_over_single_kernels_equal_and_learnt_weights() -> None:
    X, y, _ = data(90)
    some = KERNELS[:3]
    alone: dict[str, Any] = {"kernel": [[k] for k in some], "C": [0.3, 3.0]}
    together = [{"kernel": [some], "weighting": ["average"], "C": [0.3, 3.0]}, {"kernel": [some], "p": [1.0, 2.0]}]
    for grid in (alone, [alone, *together]):
        quick = mc.KernelSearchCV(mc.MKLClassifier(tol=1e-8), grid, cv=3).fit(X, y)
        slow = GridSearchCV(mc.MKLClassifier(tol=1e-8), grid, cv=3).fit(X, y)
        np.testing.assert_allclose(quick.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])
        # lists of one length are one column of lists, not a table
        assert quick.cv_results_["param_kernel"].shape == (len(quick.cv_results_["params"]),)


def test_a_matrix_that_rounding_made_indefinite() -> None:
    X, _, f = data(120)
    found = mc.MKLRidge(1e-8, [mc.Gaussian(0.001), mc.Gaussian(0.01)], weighting="average")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.isfinite(found.fit(X.astype(np.float32), f).predict(X)).all()


@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize("kind", ["classes", "numbers", "ridge"])
def test_without_curvature_the_same_weights(kind: str, p: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a factorisation would cost too much, weights follow a rule that descends more slowly."""
    X, labels, f = data(80)
    y = labels if kind == "classes" else f
    exact = machine(kind, p).fit(X, y)
    monkeypatch.setattr("mercer.solvers.kernel_weights._FREE", 0)
    slow = machine(kind, p, tol=1e-2, max_iter=1000).fit(X, y)
    assert slow.converged_
    assert slow.n_iter_ > 1
    assert exact.objective_ <= slow.objective_ * (1 + 1e-9)
    assert slow.objective_ <= exact.objective_ * 1.01


def test_alignment_keeps_small_weights_at_large_p() -> None:
    X, y, _ = data(60)
    one, many = (machine("classes", p, weighting="alignment").fit(X, y).weights_ for p in (1.0, 200.0))
    np.testing.assert_allclose(many / many.max(), one / one.max(), rtol=1e-9)


def test_a_precomputed_matrix_is_refused_and_several_are_taken() -> None:
    X, y, _ = data(60)
    with pytest.raises(ValueError, match=r"mercer\.Precomputed\(K\)"):
        mc.MKLClassifier(kernel="precomputed").fit(np.eye(60), y)
    given = [mc.Precomputed(k(X)) for k in KERNELS]
    found = mc.MKLClassifier(2.0, given, tol=1e-8).fit(np.arange(60), y)
    np.testing.assert_allclose(found.weights_, machine("classes", 1.0).fit(X, y).weights_, atol=1e-6)


# -- what must not go wrong --------------------------------------------------------------------------------------------


def test_equal_kernels_share() -> None:
    X, y, _ = data()
    twice = machine("classes", 1.0, kernel=[*KERNELS, KERNELS[1]]).fit(X, y)
    once = machine("classes", 1.0).fit(X, y)
    assert twice.objective_ == pytest.approx(once.objective_, rel=1e-6)
    assert twice.weights_[1] + twice.weights_[5] == pytest.approx(once.weights_[1], abs=1e-3)


def test_the_scale_of_a_kernel_does_not_matter() -> None:
    X, y, _ = data()
    large = machine("classes", 1.0, kernel=[1e6 * KERNELS[0], *KERNELS[1:]]).fit(X, y)
    plain = machine("classes", 1.0).fit(X, y)
    np.testing.assert_allclose(large.weights_, plain.weights_, atol=1e-5)
    np.testing.assert_allclose(large.decision_function(X), plain.decision_function(X), atol=1e-4)


def test_a_constant_kernel_is_left_out() -> None:
    X, y, _ = data()
    X = np.column_stack([X, np.full(len(X), 3.0)])
    with pytest.warns(UserWarning, match=r"constant on these samples, and left out with weight 0: Gaussian.*on\(4\)"):
        found = machine("classes", 2.0, kernel=[*KERNELS[:3], mc.Gaussian(1.0).on(4)]).fit(X, y)
    assert found.weights_[3] == 0
    with pytest.raises(ValueError, match="every kernel is constant"):
        machine("classes", 1.0, kernel=[mc.Gaussian(1.0).on(4)]).fit(X, y)


def test_an_indefinite_kernel_is_refused() -> None:
    X, y, _ = data()
    with pytest.raises(ValueError, match=r"Sigmoid.* is indefinite on these samples .*repaired\('clip'\)"):
        machine("classes", 1.0, kernel=[mc.Gaussian(1.0), mc.Sigmoid(-1.0, 1.0)]).fit(X, y)
    machine("classes", 1.0, kernel=[mc.Gaussian(1.0), mc.Sigmoid(-1.0, 1.0).repaired("clip")]).fit(X, y)


def test_targets_that_say_nothing() -> None:
    X, _, _ = data(40)
    with pytest.raises(ValueError, match="at least 2 classes"):
        machine("classes", 1.0).fit(X, np.ones(40))
    found = machine("ridge", 1.0).fit(X, np.full(40, 3.0))
    np.testing.assert_allclose(found.predict(X), 3.0, atol=1e-9)
    found = machine("numbers", 1.0).fit(X, np.full(40, 3.0))
    np.testing.assert_allclose(found.predict(X), 3.0, atol=0.11)


def test_more_columns_than_samples() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 300))
    y = np.sign(X[:, 0])
    found = mc.MKLClassifier(1.0, [mc.Linear().on(j) for j in range(0, 300, 10)], tol=1e-6).fit(X, y)
    assert found.converged_
    assert np.argmax(found.weights_) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": 0.5}, "1 ≤ p < ∞"),
        ({"p": np.inf}, "1 ≤ p < ∞"),
        ({"weighting": "best"}, "weighting='best'"),
        ({"normalize": "size"}, "normalize='size'"),
        ({"kernel": []}, "at least one kernel"),
        ({"C": np.inf}, "C must be finite"),
    ],
)
def test_parameters_out_of_range(options: dict[str, Any], message: str) -> None:
    X, y, _ = data(30)
    with pytest.raises(ValueError, match=message):
        mc.MKLClassifier(**options).fit(X, y)


def test_missing_labels_and_alignment_without_targets() -> None:
    X, _, f = data(30)
    with pytest.raises(ValueError, match="y has NaN"):
        mc.MKLRidge().fit(X, np.column_stack([f, np.where(f > 0, np.nan, f)]))
    with pytest.raises(ValueError, match="MKLOneClass has none"):
        mc.MKLOneClass(weighting="alignment").fit(X)


def test_a_callback_ends_the_rounds_and_the_machine_is_whole() -> None:
    X, y, _ = data()
    told: list[dict[str, Any]] = []

    def enough(state: dict[str, Any]) -> bool:
        told.append(state)
        return "kernels" in state

    found = machine("classes", 1.0, progress=enough, tol=1e-12).fit(X, y)
    assert found.stop_reason_ == "callback"
    assert found.n_iter_ == 0
    plain = mc.SVC(2.0, found.kernel_, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), plain.decision_function(X), atol=1e-2)
    assert any("gap" in state for state in told)


def test_names_texts_and_sums() -> None:
    X, y, _ = data(60)
    named = mc.MKLClassifier(kernel={"flat": "Linear()", "round": mc.Gaussian(1.0)}).fit(X, y)
    assert named.kernel_names_ == ["flat", "round"]
    for given in ("Linear() + Gaussian(1.0)", mc.Linear() + mc.Gaussian(1.0), [mc.Linear(), mc.Gaussian(1.0)]):
        again = mc.MKLClassifier(kernel=given).fit(X, y)
        np.testing.assert_allclose(again.weights_, named.weights_)
        assert [str(k) for k in again.kernels_] == again.kernel_names_


def test_views_of_a_table_that_mixes_kinds() -> None:
    rng = np.random.default_rng(0)
    pandas = pytest.importorskip("pandas")
    words = ["".join(rng.choice(list("AACG" if c else "GGCT"), 12)) for c in np.arange(80) % 2]
    frame = pandas.DataFrame({"text": words, "noise": rng.standard_normal(80)})
    y = np.arange(80) % 2
    found = mc.MKLClassifier(kernel=[mc.Spectrum(2).on("text"), mc.Gaussian(1.0).on("noise")]).fit(frame, y)
    assert found.weights_[0] > 0.9
    assert found.score(frame, y) > 0.9


@pytest.mark.thorough
@parametrize_with_checks([mc.MKLRidge(p=2.0)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_contract_beyond_the_defaults(estimator: Any, check: Any) -> None:
    check(estimator)


def test_weights_of_classes_are_weights_of_samples() -> None:
    """In the units of kernels too."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = (X[:, 0] ** 2 + X[:, 1] > 1).astype(int)
    kernels = [mc.Gaussian(0.5), mc.Linear(), mc.Gaussian(0.1).on(0)]
    by_class = mc.MKLClassifier(1.0, kernels, class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    by_sample = mc.MKLClassifier(1.0, kernels).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(by_class.weights_, by_sample.weights_, rtol=1e-9)
    np.testing.assert_allclose(by_class.objective_, by_sample.objective_, rtol=1e-9)


def test_ridge_in_time() -> None:
    X = np.random.default_rng(0).uniform(-3, 3, (60, 2))
    machine = mc.MKLRidge(0.1, [mc.Gaussian(1.0).on(0), mc.Gaussian(1.0).on(1)], max_time=600.0)
    assert machine.fit(X, np.sin(X[:, 0])).converged_
    with pytest.raises(ValueError, match="max_time"):
        machine.set_params(max_time=-1.0).fit(X, X[:, 0])


@pytest.mark.thorough
@pytest.mark.parametrize("p", [1.0, 4 / 3, 2.0, 8.0])
def test_newton_on_the_model_takes_few_rounds(p: float) -> None:
    """Families, whose values are computed together, to a gap of 1e-6 in few rounds, and as by stored matrices."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.standard_normal(600) > 0, 1, -1)
    kernels = [mc.Gaussian(float(g)) for g in np.logspace(-2, 1, 12)]
    machine = mc.MKLClassifier(1.0, kernels, p=p, tol=1e-6).fit(X, y)
    assert machine.converged_
    assert machine.n_iter_ <= (10 if p == 1 else 6)
    stored = [mc.Precomputed(k(X)) for k in kernels]
    again = mc.MKLClassifier(1.0, stored, p=p, tol=1e-6).fit(np.arange(600), y)
    np.testing.assert_allclose(machine.objective_, again.objective_, rtol=2e-6)


def test_centers_are_refused() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.raises(ValueError, match="without centers"):
        mc.MKLRidge(kernel=mc.Gaussian(1.0) + mc.Linear(), centers=5).fit(X, X[:, 0])
