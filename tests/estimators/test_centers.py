"""Machines whose f is a sum over centers: with all samples they are the exact ones, with some what is written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

import mercer as mc
from mercer.arrays import Array
from mercer.losses import Huber, Logistic, Loss, Pinball
from tests.estimator_cases import NEW, NEW_STRINGS, ROWS, STRINGS, TARGETS, WORDS

K = mc.Laplacian(0.3)
MACHINES: dict[str, tuple[Callable[..., Any], str]] = {
    "KernelRidge": (lambda **p: mc.KernelRidge(**{"alpha": 0.1, "kernel": K, "tol": 1e-10} | p), "numbers"),
    "KernelLogistic": (lambda **p: mc.KernelLogistic(**{"alpha": 0.1, "kernel": K, "tol": 1e-14} | p), "classes"),
    "KernelHuber": (
        lambda **p: mc.KernelHuber(**{"alpha": 0.1, "delta": 0.3, "kernel": K, "tol": 1e-14} | p),
        "numbers",
    ),
    "KernelExpectile": (
        lambda **p: mc.KernelExpectile(**{"alpha": 0.1, "tau": 0.7, "kernel": K, "tol": 1e-14} | p),
        "numbers",
    ),
    "KernelPoisson": (lambda **p: mc.KernelPoisson(**{"alpha": 0.1, "kernel": K, "tol": 1e-14} | p), "counts"),
    "KernelQuantile": (
        lambda **p: mc.KernelQuantile(**{"quantiles": [0.2, 0.8], "alpha": 0.1, "kernel": K, "tol": 1e-9} | p),
        "numbers",
    ),
    "RepresenterMachine": (
        lambda **p: mc.RepresenterMachine(**{"loss": Huber(0.3), "alpha": 0.1, "kernel": K, "tol": 1e-14} | p),
        "numbers",
    ),
    "SVC": (lambda **p: mc.SVC(**{"C": 1.0, "kernel": K, "tol": 1e-9} | p), "classes"),
    "SVR": (lambda **p: mc.SVR(**{"C": 1.0, "epsilon": 0.05, "kernel": K, "tol": 1e-9} | p), "numbers"),
}
WEIGHTS = np.random.default_rng(1).uniform(0.2, 3.0, 36) * (np.arange(36) % 7 > 0)


def _output(model: Any, X: Any) -> Array:
    return np.asarray(model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X))


def _same(name: str, X: Any = ROWS, new: Any = NEW, weights: Any = None, y: Any = None, **options: Any) -> None:
    """With all samples as centers and without any, to the same predictions."""
    make, learns = MACHINES[name]
    y = TARGETS[learns] if y is None else y
    exact = make(**options).fit(X, y, sample_weight=weights)
    ours = make(**options, centers=X).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(_output(ours, new), _output(exact, new), atol=1e-8 if name == "KernelRidge" else 1e-6)
    drawn = make(**options, centers=10_000, random_state=0).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(_output(drawn, new), _output(exact, new), atol=1e-8 if name == "KernelRidge" else 1e-6)
    np.testing.assert_array_equal(np.sort(drawn.support_), np.arange(36) if weights is None else weights.nonzero()[0])


@pytest.mark.parametrize("name", MACHINES)
def test_all_samples_are_the_exact_machine(name: str) -> None:
    _same(name)
    _same(name, weights=WEIGHTS)


@pytest.mark.parametrize("name", [name for name in MACHINES if name not in ("SVC", "SVR")])
def test_without_intercept(name: str) -> None:
    _same(name, fit_intercept=False)
    make, learns = MACHINES[name]
    assert not make(fit_intercept=False, centers=5, random_state=0).fit(ROWS, TARGETS[learns]).intercept_.any()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["KernelLogistic", "SVC"])
def test_classes(name: str) -> None:
    y = np.array(["north", "east", "west"])[np.digitize(TARGETS["numbers"], [-0.3, 0.9])]
    _same(name, y=y)
    _same(name, y=y, weights=WEIGHTS, class_weight="balanced")
    _same(name, class_weight={0: 2.0, 1: 0.5})


def test_probabilities_of_an_svm() -> None:
    for y in (TARGETS["classes"], np.digitize(TARGETS["numbers"], [-0.3, 0.9])):
        exact, ours = (
            mc.SVC(1.0, K, probability=True, tol=1e-9, centers=c).fit(ROWS, y).predict_proba(NEW) for c in (None, ROWS)
        )
        np.testing.assert_allclose(ours, exact, atol=1e-6)


@pytest.mark.thorough
def test_outputs_with_gaps_and_a_ridge_each() -> None:
    Y = np.column_stack([TARGETS["numbers"], ROWS[:, 2] ** 2, ROWS[:, 0]])
    _same("KernelRidge", y=Y)
    _same("KernelRidge", y=Y, alpha=[0.1, 3.0, 0.5], weights=WEIGHTS)
    gaps = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    _same("KernelRidge", y=gaps)
    _same("KernelRidge", y=gaps, alpha=[0.1, 3.0, 0.5], weights=WEIGHTS, fit_intercept=False)
    _same("KernelRidge", y=Y, alpha=np.linspace(0.1, 1, 3).tolist())


def test_least_squares_among_outputs_with_a_ridge() -> None:
    """Each output as if it were alone, also where other labels are missing, and α = 0 in one of them."""
    Y = np.column_stack([TARGETS["numbers"], ROWS[:, 2] ** 2])
    Y[::3, 0] = Y[1::4, 1] = np.nan
    both = mc.KernelRidge([0.0, 0.5], K, centers=ROWS[:9]).fit(ROWS, Y)
    for t, alpha in enumerate([0.0, 0.5]):
        known = ~np.isnan(Y[:, t])
        alone = mc.KernelRidge(alpha, K, centers=ROWS[:9]).fit(ROWS[known], Y[known, t])
        np.testing.assert_allclose(both.predict(NEW)[:, t], alone.predict(NEW), atol=1e-7)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MACHINES)
def test_sparse_tables_and_data_frames(name: str) -> None:
    thin = sparse.csr_array(np.where(np.abs(ROWS) > 0.4, ROWS, 0.0))
    _same(name, X=thin, new=sparse.csr_array(NEW))
    wide = sparse.hstack([thin, sparse.csr_array((36, 300))]).tocsr()
    _same(name, X=wide, new=wide[:9])
    frame = pl.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1], "c": ROWS[:, 2]})
    _same(name, X=frame, new=frame[:9])
    _same(name, X=frame.to_pandas(), new=frame[:9].to_pandas())


@pytest.mark.parametrize("name", MACHINES)
def test_strings(name: str) -> None:
    kernel = mc.Spectrum(3) + 0.1 * mc.Function(_equal)
    _same(name, X=STRINGS, new=NEW_STRINGS, kernel=kernel)
    make, learns = MACHINES[name]
    some = make(kernel=WORDS, centers=STRINGS[:6]).fit(STRINGS, TARGETS[learns])
    assert some.support_vectors_ == STRINGS[:6]
    assert np.isfinite(_output(some, NEW_STRINGS)).all()


def _equal(A: list[str], B: list[str]) -> Array:
    return np.array([[float(a == b) for b in B] for a in A])


# -- fewer centers than samples --------------------------------------------------------------------------------------

RNG = np.random.default_rng(3)
X = RNG.standard_normal((700, 2))
f = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2
W = RNG.uniform(0.1, 2.0, 700)
Z = RNG.standard_normal((25, 2))


@pytest.mark.parametrize("weights", [None, W], ids=["", "weights"])
@pytest.mark.parametrize("intercept", [True, False], ids=["bias", "none"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ridge_is_the_system_written_out(dtype: Any, intercept: bool, weights: Any) -> None:
    """(C^T W C + λG)c + C^T W 1 b = C^T W y, 1^T W(C c + b) = 1^T W y, for several outputs."""
    data, centers = X.astype(dtype), Z.astype(dtype)
    Y = np.column_stack([f + 0.1 * RNG.standard_normal(700), X[:, 0]])
    model = mc.KernelRidge(0.3, K, centers=centers, fit_intercept=intercept).fit(data, Y, sample_weight=weights)
    w = np.ones(700) if weights is None else weights
    C, G = K(data.astype(float), centers.astype(float)), K(centers.astype(float))
    A = np.hstack([C, np.ones((700, 1))]) if intercept else C
    penalty = np.zeros((A.shape[1], A.shape[1]))
    penalty[:25, :25] = 0.3 * G
    solved = np.linalg.solve(A.T @ (w[:, None] * A) + penalty, A.T @ (w[:, None] * Y))
    single = dtype == np.float32
    np.testing.assert_allclose(model.dual_coef_.T, solved[:25], atol=2e-3 if single else 1e-6)
    new = RNG.standard_normal((40, 2)).astype(dtype)
    B = K(new.astype(float), centers.astype(float))
    expected = np.hstack([B, np.ones((40, 1))]) @ solved if intercept else B @ solved
    np.testing.assert_allclose(model.predict(new), expected, atol=1e-4 if single else 1e-7)
    np.testing.assert_array_equal(model.support_, -np.ones(25))
    assert model.converged_
    assert model.solver_ == "landmarks"


def _objective(loss: Loss, y: Array, w: Array, alpha: float) -> Callable[[Array], tuple[float, Array]]:
    C, G = K(X, Z), K(Z)

    def value(p: Array) -> tuple[float, Array]:
        c, b = p[:-1], p[-1]
        values = C @ c + b
        slope = w * loss.gradient(y, values)
        total = float(np.sum(w * loss.value(y, values)) + alpha * c @ G @ c)
        return total, np.append(C.T @ slope + 2 * alpha * G @ c, slope.sum())

    return value


class _LogCosh(Loss):
    """A loss of one's own without a curvature."""

    def value(self, y: Array, f: Array) -> Array:
        return np.log(np.cosh(y - f))

    def gradient(self, y: Array, f: Array) -> Array:
        return -np.tanh(y - f)


SIGNS = np.where(f + 0.5 * RNG.standard_normal(700) > 0.3, 1.0, -1.0)
SMOOTH: dict[str, tuple[Any, Array]] = {
    "KernelLogistic": (mc.KernelLogistic(0.2, K, tol=1e-15), SIGNS),
    "KernelHuber": (mc.KernelHuber(0.2, 0.3, K, tol=1e-15), f + 0.3 * RNG.standard_cauchy(700)),
    "KernelExpectile": (mc.KernelExpectile(0.2, 0.8, K, tol=1e-15), f),
    "KernelPoisson": (mc.KernelPoisson(0.2, K, tol=1e-15), RNG.poisson(np.exp(f)).astype(float)),
    "Logistic": (mc.RepresenterMachine(Logistic(), 0.2, K, tol=1e-15), SIGNS),
    "a loss without curvature": (mc.RepresenterMachine(_LogCosh(), 0.2, K, tol=1e-12), f),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_the_slope_of_the_objective_is_zero(name: str) -> None:
    model, y = SMOOTH[name]
    model = model.set_params(centers=Z).fit(X, y, sample_weight=W)
    loss = Logistic() if name == "KernelLogistic" else model._losses()[0]
    value = _objective(loss, y, W, 0.2)
    point = np.append(model.dual_coef_[0], model.intercept_)
    found, slope = value(point)
    start = value(np.zeros(26))[1]
    assert np.abs(slope).max() < 1e-5 * np.abs(start).max()
    assert model.objective_ == pytest.approx(found, rel=1e-6)


@pytest.mark.thorough
def test_many_classes_are_the_optimum() -> None:
    y = np.digitize(f, [-0.3, 0.4, 1.0])
    model = mc.KernelLogistic(0.2, K, centers=Z, tol=1e-14).fit(X, y, sample_weight=W)
    C, G, P = K(X, Z), K(Z), model.predict_proba(X)
    left = W[:, None] * (P - np.eye(4)[y])
    slope = C.T @ left + 2 * 0.2 * G @ model.dual_coef_.T
    assert np.abs(slope).max() < 1e-5 * np.abs(C.T @ (W[:, None] * (0.25 - np.eye(4)[y]))).max()
    np.testing.assert_allclose(left.sum(axis=0), 0, atol=1e-4)


@pytest.mark.parametrize("name", MACHINES)
def test_given_centers_and_weights_as_repetitions(name: str) -> None:
    make, learns = MACHINES[name]
    counts = np.random.default_rng(0).integers(0, 4, 36)
    y, again = TARGETS[learns], np.repeat(np.arange(36), counts)
    weighted = make(centers=ROWS[:8]).fit(ROWS, y, sample_weight=counts)
    repeated = make(centers=ROWS[:8]).fit(ROWS[again], y[again])
    np.testing.assert_allclose(_output(weighted, NEW), _output(repeated, NEW), atol=1e-5)


@pytest.mark.parametrize("name", MACHINES)
def test_the_chosen_are_training_samples(name: str) -> None:
    make, learns = MACHINES[name]
    model = make(centers=7, random_state=0).fit(ROWS, TARGETS[learns])
    assert len(np.unique(model.support_)) == 7
    np.testing.assert_array_equal(model.support_vectors_, ROWS[model.support_])
    again = make(centers=7, random_state=0).fit(ROWS, TARGETS[learns])
    np.testing.assert_array_equal(_output(again, NEW), _output(model, NEW))
    given = make(centers=ROWS[model.support_]).fit(ROWS, TARGETS[learns])
    np.testing.assert_allclose(_output(given, NEW), _output(model, NEW), atol=1e-10)
    other = make(centers=7, random_state=1).fit(ROWS, TARGETS[learns])
    assert np.abs(_output(other, NEW) - _output(model, NEW)).max() > 1e-6
    by_kernel = make(kernel=mc.Nystrom(K, 7, random_state=0)).fit(ROWS, TARGETS[learns])
    np.testing.assert_allclose(_output(by_kernel, NEW), _output(model, NEW), atol=1e-10)


def test_other_choices_by_the_kernel() -> None:
    for rule in ("kmeans++", "leverage", "pivoted"):
        k = mc.Nystrom(mc.Gaussian(0.5), 40, rule, random_state=0)
        model = mc.KernelRidge(0.1, k).fit(X, f)
        assert model.score(X, f) > 0.95
        np.testing.assert_array_equal(model.support_vectors_, k.bind(X).reference)


@pytest.mark.parametrize(
    "name", ["KernelRidge", "KernelHuber", "KernelExpectile", "KernelPoisson", "KernelQuantile", "SVR"]
)
def test_constant_targets(name: str) -> None:
    """The start is the optimum: nothing is left to do."""
    for value in (0.0, 3.0) if name != "KernelPoisson" else (3.0,):
        model = MACHINES[name][0](centers=5, random_state=0).fit(ROWS, np.full(36, value))
        np.testing.assert_allclose(model.predict(NEW), value, atol=1e-8)
        assert model.converged_


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("centers", [0, -3, True, np.True_, 2.5, "uniform", "all"])
def test_no_number_of_centers(centers: Any) -> None:
    with pytest.raises(ValueError, match=r"centers=.*at least 1, or the samples themselves"):
        mc.KernelRidge(centers=centers).fit(ROWS, TARGETS["numbers"])


def test_centers_that_do_not_fit() -> None:
    y = TARGETS["numbers"]
    with pytest.raises(ValueError, match="precomputed matrix"):
        mc.KernelRidge(kernel="precomputed", centers=3).fit(K(ROWS), y)
    with pytest.raises(ValueError, match="landmarks of its own"):
        mc.SVR(kernel=mc.Nystrom(K, 5), centers=3).fit(ROWS, y)
    with pytest.raises(ValueError, match="columns"):
        mc.KernelRidge(centers=ROWS[:4, :2]).fit(ROWS, y)
    with pytest.raises(ValueError, match="NaN"):
        mc.KernelRidge(centers=np.full((2, 3), np.nan)).fit(ROWS, y)
    with pytest.raises(ValueError, match="no landmarks"):
        mc.KernelRidge(centers=ROWS[:0]).fit(ROWS, y)
    with pytest.raises(ValueError, match=r"not positive semi-definite.*repaired"):
        mc.KernelRidge(kernel=mc.Sigmoid(-1.0, 1.0), centers=20, random_state=0).fit(ROWS, y)
    model = mc.KernelRidge(centers=3, random_state=0).fit(ROWS, y)
    with pytest.raises(ValueError, match="uncertainty=True"):
        model.predict(NEW, return_std=True)


def test_a_fit_that_fails_leaves_no_trace() -> None:
    model = mc.SVC(kernel=K, centers=5, random_state=0)
    with pytest.raises(ValueError, match="2 classes"):
        model.fit(ROWS, np.zeros(36))
    y = TARGETS["classes"]
    exact = mc.SVC(kernel=K).fit(ROWS, y)
    np.testing.assert_array_equal(
        model.set_params(centers=None).fit(ROWS, y).decision_function(NEW), exact.decision_function(NEW)
    )
    np.testing.assert_array_equal(model.n_support_, exact.n_support_)


def test_too_few_steps_are_told() -> None:
    many = np.random.default_rng(0).standard_normal((4000, 2))
    with pytest.warns(ConvergenceWarning, match="residual.*after 1 passes"):
        mc.KernelRidge(1e-6, mc.Gaussian(2.0), centers=100, random_state=0, max_iter=1).fit(many, many[:, 0] ** 2)
    for machine in (mc.KernelLogistic(1e-4, K), mc.KernelHuber(1e-4, 0.1, K)):
        with pytest.warns(ConvergenceWarning, match="max_iter=1"):
            machine.set_params(centers=Z, max_iter=1).fit(X, SIGNS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        mc.KernelRidge(centers=150, random_state=0, tol=1e-6),
        mc.SVC(centers=10, random_state=0),
        mc.SVR(centers=150, random_state=0),
        mc.KernelLogistic(centers=10, random_state=0),
        mc.KernelHuber(centers=150, random_state=0),
        mc.KernelQuantile(centers=150, random_state=0),
        mc.RepresenterMachine(Pinball(0.3), centers=150, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_as_scikit_learn_checks(model: Any) -> None:
    drawn = (
        "centers are drawn from other samples where these are repeated; test_given_centers_and_weights has given ones"
    )
    kinds = ("dense", "sparse")
    check_estimator(
        model,
        on_skip=None,
        expected_failed_checks={f"check_sample_weight_equivalence_on_{kind}_data": drawn for kind in kinds},
    )
