"""Kernel logistic regression against scikit-learn's on the features, and the meaning of its probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV

import mercer as mc


def _data(n: int = 150, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    return make_classification(
        n, 4, n_informative=3, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )


K = mc.Gaussian(0.3)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Polynomial(2)], ids=str)
@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_it_is_scikit_learns_on_the_features(alpha: float, kernel: Any, classes: int) -> None:
    """C = 1/(2α); neither penalises the intercept."""
    X, y = _data(classes=classes)
    w = np.random.default_rng(0).uniform(0.2, 2.0, 150)
    Phi = kernel.features(X)
    ours = mc.KernelLogistic(alpha, kernel).fit(X, y, w)
    peer = LogisticRegression(C=1 / (2 * alpha), tol=1e-12, solver="newton-cholesky").fit(Phi, y, w)
    penalty = alpha * float(np.sum(peer.coef_**2))
    best = log_loss(y, peer.predict_proba(Phi), sample_weight=w, normalize=False) + penalty
    assert ours.converged_
    assert abs(ours.objective_ - best) <= 1e-8 * best
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(Phi), atol=1e-5)
    assert np.mean(ours.predict(X) == peer.predict(Phi)) > 0.98


@pytest.mark.parametrize("classes", [2, 3])
def test_without_intercept(classes: int) -> None:
    X, y = _data(classes=classes)
    ours = mc.KernelLogistic(0.5, mc.Linear(), fit_intercept=False).fit(X, y)
    peer = LogisticRegression(C=1.0, tol=1e-12, solver="newton-cholesky", fit_intercept=False).fit(X, y)
    assert not np.any(ours.intercept_)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities(classes: int) -> None:
    X, y = _data(classes=classes)
    machine = mc.KernelLogistic(0.01, K).fit(X, y)
    new = 2 * np.random.default_rng(1).standard_normal((500, 4))
    p = machine.predict_proba(new)
    assert p.shape == (500, classes)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_array_equal(machine.classes_[np.argmax(p, axis=1)], machine.predict(new))
    f = machine.decision_function(new)
    expected = 1 / (1 + np.exp(-f)) if classes == 2 else (np.exp(f) / np.exp(f).sum(axis=1, keepdims=True))[:, 1]
    np.testing.assert_allclose(p[:, 1], expected, rtol=1e-10)
    np.testing.assert_allclose(np.exp(machine.predict_log_proba(new)), p, rtol=1e-10)
    # what a free bias sees to
    np.testing.assert_allclose(machine.predict_proba(X).mean(axis=0), np.bincount(y) / 150, atol=1e-5)


def test_logarithms_of_small_probabilities() -> None:
    """Far from the boundary P is 0 to rounding, its logarithm is not: −log(1 + e^|f|)."""
    X = np.linspace(-1, 1, 40)[:, None]
    for y in ((X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.3, 0.3])):
        machine = mc.KernelLogistic(1e-3, mc.Linear()).fit(X, y)
        far = np.array([[-200.0], [200.0]])
        f = machine.decision_function(far)
        assert np.abs(f).max() > 1000
        expected = (
            np.column_stack([-np.logaddexp(0, f), -np.logaddexp(0, -f)])
            if f.ndim == 1
            else f - np.logaddexp.reduce(f, axis=1)[:, None]
        )
        np.testing.assert_allclose(machine.predict_log_proba(far), expected, rtol=1e-10)


def test_iris() -> None:
    X, y = load_iris(return_X_y=True)
    machine = mc.KernelLogistic(0.05).fit(X, y)
    assert machine.score(X, y) > 0.96
    assert machine.function_(X).shape == (150, 3)
    np.testing.assert_allclose(machine.function_(X), machine.decision_function(X), atol=1e-10)


# -- classes and weights
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_labels_of_any_kind(classes: int) -> None:
    X, y = _data(classes=classes)
    names = np.array(["wolf", "ant", "bee"])[y]
    machine, coded = mc.KernelLogistic(0.1, K).fit(X, names), mc.KernelLogistic(0.1, K).fit(X, y)
    assert list(machine.classes_) == sorted(set(names))
    order = [list(machine.classes_).index(name) for name in ["wolf", "ant", "bee"][:classes]]
    np.testing.assert_allclose(machine.predict_proba(X)[:, order], coded.predict_proba(X), atol=1e-6)
    assert np.mean(machine.predict(X) == names) == np.mean(coded.predict(X) == y)
    flags = mc.KernelLogistic(0.1, K).fit(X, y == 1)
    assert flags.predict(X).dtype == bool


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", [K, mc.Gaussian(), mc.Linear()], ids=str)
def test_weights_are_repetitions(kernel: Any, classes: int) -> None:
    X, y = _data(90, classes)
    w = np.random.default_rng(0).integers(0, 4, 90)
    one = mc.KernelLogistic(0.1, kernel).fit(X, y, w)
    other = mc.KernelLogistic(0.1, kernel).fit(np.repeat(X, w, 0), np.repeat(y, w))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_class_weights(classes: int) -> None:
    X, y = _data(400, 3)
    some = np.concatenate(
        [np.flatnonzero(y == c)[:m] for c, m in enumerate([100, 50 if classes == 2 else 30, 0 if classes == 2 else 20])]
    )
    X, y = X[some], y[some]
    counts = np.bincount(y)
    balanced = mc.KernelLogistic(0.1, K, class_weight="balanced").fit(X, y)
    given = mc.KernelLogistic(0.1, K, class_weight={c: 150 / (classes * counts[c]) for c in range(classes)}).fit(X, y)
    weights = (150 / (classes * counts))[y]
    by_hand = mc.KernelLogistic(0.1, K).fit(X, y, weights)
    np.testing.assert_allclose(balanced.predict_proba(X), given.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(balanced.predict_proba(X), by_hand.predict_proba(X), atol=1e-6)
    # with the classes of equal weight, so is what is predicted for them
    np.testing.assert_allclose(np.average(balanced.predict_proba(X), axis=0, weights=weights), 1 / classes, atol=1e-5)
    assert np.abs(mc.KernelLogistic(0.1, K).fit(X, y).predict_proba(X) - balanced.predict_proba(X)).max() > 0.05


# -- data of any kind
# ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_precomputed_sparse_and_single_precision(classes: int) -> None:
    X, y = _data(classes=classes)
    p = mc.KernelLogistic(0.1, K).fit(X, y).predict_proba(X[:20])
    given = mc.KernelLogistic(0.1, "precomputed").fit(K(X), y)
    np.testing.assert_allclose(given.predict_proba(K(X[:20], X)), p, atol=1e-7)
    thin = mc.KernelLogistic(0.1, K).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_matrix(X[:20])), p, atol=1e-7)
    single = mc.KernelLogistic(0.1, K).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.predict_proba(X[:20].astype(np.float32)), p, atol=1e-4)


def test_solvers_agree() -> None:
    X, y = _data(classes=3)
    k = mc.Polynomial(2)
    every = {s: mc.KernelLogistic(0.1, k, solver=s).fit(X, y) for s in ("auto", "woodbury", "cholesky", "cg")}
    assert [m.solver_ for m in every.values()] == ["newton-woodbury", "newton-woodbury", "newton-cholesky", "newton-cg"]
    for machine in every.values():
        np.testing.assert_allclose(machine.predict_proba(X), every["auto"].predict_proba(X), atol=1e-5)


def test_in_a_search() -> None:
    X, y = _data()
    search = GridSearchCV(
        mc.KernelLogistic(kernel=mc.Gaussian(0.3)), {"alpha": [1e-2, 1e3]}, scoring="neg_log_loss", cv=3
    ).fit(X, y)
    assert search.best_params_ == {"alpha": 1e-2}


# -- ends, and says why
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_separable_classes_and_next_to_no_penalty(classes: int) -> None:
    """Probabilities near 0 and 1, curvature near nothing: it ends at a minimum all the same."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 2)) + 20 * np.eye(3, 2)[np.arange(90) % classes]
    y = np.arange(90) % classes
    machine = mc.KernelLogistic(1e-8, mc.Gaussian(0.1)).fit(X, y)
    assert machine.converged_
    assert machine.score(X, y) == 1.0
    more = mc.KernelLogistic(1e-8, mc.Gaussian(0.1), tol=1e-12).fit(X, y)
    assert machine.objective_ == pytest.approx(more.objective_, rel=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_limits_are_reported(classes: int) -> None:
    X, y = _data(classes=classes)
    with pytest.warns(ConvergenceWarning, match="KernelLogistic stopped after max_iter=1 steps") as found:
        machine = mc.KernelLogistic(1e-4, K, max_iter=1).fit(X, y)
    assert not any("no longer falls" in str(w.message) for w in found)
    assert (machine.n_iter_, machine.converged_, machine.stop_reason_) == (1, False, "max_iter")
    assert machine.gap_ > machine.tol
    np.testing.assert_allclose(machine.predict_proba(X).sum(axis=1), 1.0)
    whole = mc.KernelLogistic(1e-4, K).fit(X, y)
    assert whole.converged_
    assert whole.gap_ <= whole.tol
    assert whole.objective_ < machine.objective_
    with pytest.warns(ConvergenceWarning, match="max_time"):
        assert mc.KernelLogistic(1e-4, K, max_time=0.0).fit(X, y).stop_reason_ == "max_time"


def test_interrupts() -> None:
    X, y = _data()

    def interrupt(state: Any) -> bool:
        if state["n_iter"] == 2:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        mc.KernelLogistic(1e-4, K, progress=interrupt).fit(X, y)
    kept = mc.KernelLogistic(1e-4, K, progress=interrupt, on_interrupt="keep").fit(X, y)
    assert (kept.stop_reason_, kept.n_iter_) == ("interrupted", 2)
    assert kept.score(X, y) > 0.6
    stopped = mc.KernelLogistic(1e-4, K, progress=lambda state: True).fit(X, y)
    assert (stopped.stop_reason_, stopped.n_iter_) == ("callback", 1)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (mc.KernelLogistic(0.0), "alpha must be a positive number"),
        (mc.KernelLogistic("1"), "alpha must be a positive number"),
        (mc.KernelLogistic(class_weight={7: 1.0}), "not in y"),
        (mc.KernelLogistic(class_weight="equal"), "balanced"),
        (mc.KernelLogistic(solver="lbfgs"), "choose one of"),
        (mc.KernelLogistic(tol=-1.0), "must be positive"),
        (mc.KernelLogistic(on_interrupt="never"), "on_interrupt"),
    ],
)
def test_errors(machine: Any, message: str) -> None:
    X, y = _data(40)
    with pytest.raises(ValueError, match=message):
        machine.fit(X, y)


def test_errors_of_data() -> None:
    X, y = _data(40)
    with pytest.raises(ValueError, match="at least 2 classes"):
        mc.KernelLogistic().fit(X, np.ones(40))
    with pytest.raises(ValueError, match="at least 2 classes"):
        mc.KernelLogistic().fit(X, y, (y == 1).astype(float))
    with pytest.raises(ValueError, match="continuous"):
        mc.KernelLogistic().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="inconsistent"):
        mc.KernelLogistic().fit(X, y[:-1])


def test_an_indefinite_kernel_is_not_an_internal_error() -> None:
    """It names what is wrong and the cure."""
    X, y = _data()
    with (
        pytest.warns(UserWarning, match="The kernel matrix is indefinite"),
        pytest.raises(ValueError, match=r"matrix plus the ridge is not positive definite.*kernel\.repaired"),
    ):
        mc.KernelLogistic(1e-3, mc.Sigmoid(-1.0, 1.0)).fit(X, y)
