"""Feature machines: the metric against its definition, what moves it, what it never makes worse, and bad input."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.gram import NoGradient

pytestmark = pytest.mark.thorough  # a fit learns a metric in many ridges

SMOOTH = mc.PowerExponential("median", 2.0)


def data(n: int = 300, d: int = 6, noise: float = 0.1, seed: int = 0) -> tuple[Any, Any]:
    """A function of one direction and one column."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0] + X[:, 1]) + 0.5 * X[:, 2] ** 2 + noise * rng.standard_normal(n)


def test_a_round_by_hand() -> None:
    """f by ridge, M by differences of f, scaled to a largest diagonal entry of 1, and f again."""
    X, y = data(80, 3)
    machine = mc.FeatureMachineRegressor(0.1, mc.Gaussian(0.3), standardize=False, max_iter=1, random_state=0).fit(X, y)
    assert machine.best_round_ == 1
    f = mc.KernelRidge(0.1, mc.Gaussian(0.3)).fit(X, y)
    h = 1e-6
    G = np.stack([(f.predict(X + h * e) - f.predict(X - h * e)) / (2 * h) for e in np.eye(3)], axis=1)
    M = G.T @ G / len(G)
    values, vectors = np.linalg.eigh(M)
    root = vectors @ np.diag(np.sqrt(values)) @ vectors.T
    expected = {1.0: M / np.diagonal(M).max(), 0.5: root / np.diagonal(root).max()}
    np.testing.assert_allclose(machine.metric_, expected[machine.history_[-1]["power"]], atol=1e-6)
    same = mc.KernelRidge(0.1, mc.Gaussian(0.3).metric(machine.metric_), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(machine.predict(X), same.predict(X), atol=1e-5)
    assert machine.kernel_ == mc.Gaussian(0.3).metric(machine.metric_)


def test_what_matters_is_found_and_helps() -> None:
    X, y = data()
    T, t = data(500, noise=0.0, seed=1)
    machine = mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(X, y)
    assert machine.best_round_ > 0
    assert machine.importances_[:3].sum() > 0.95
    assert machine.metric_[0, 1] > 0.8 * machine.metric_[0, 0]  # x₀ + x₁, one direction
    plain = mc.FeatureMachineRegressor(kernel=SMOOTH, max_iter=0, random_state=0).fit(X, y)
    assert plain.best_round_ == 0
    np.testing.assert_array_equal(plain.metric_, np.eye(6))
    errors = [np.mean((each.predict(T) - t) ** 2) for each in (machine, plain)]
    assert errors[0] < 0.6 * errors[1]
    assert machine.validation_error_ <= min(h["error"] for h in machine.history_ if h["round"] == 0)
    np.testing.assert_allclose(np.diagonal(machine.metric_).max(), 1.0)
    assert np.linalg.eigvalsh(machine.metric_)[0] >= -1e-12


def test_columns_permuted_rotated_and_scaled() -> None:
    X, y = data(200, 4)
    order = np.array([2, 0, 3, 1])
    Q, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))
    for kernel, metric in ((SMOOTH, "full"), (mc.PowerLaplacian("median", 1.5), "diagonal")):
        made = {"kernel": kernel, "metric": metric, "standardize": False, "random_state": 0}
        M = mc.FeatureMachineRegressor(**made).fit(X, y).metric_
        P = mc.FeatureMachineRegressor(**made).fit(X[:, order], y).metric_
        np.testing.assert_allclose(P, M[np.ix_(order, order)] if M.ndim == 2 else M[order], atol=1e-6)
    made = {"kernel": SMOOTH, "standardize": False, "random_state": 0}
    M = mc.FeatureMachineRegressor(**made).fit(X, y).metric_
    R = mc.FeatureMachineRegressor(**made).fit(X @ Q, y).metric_
    turned = Q @ R @ Q.T
    np.testing.assert_allclose(turned / np.diagonal(turned).max(), M / np.diagonal(M).max(), atol=1e-5)
    scales = np.array([1e3, 1.0, 1e-4, 10.0])
    one, other = (mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(A, y) for A in (X, X * scales + 5))
    np.testing.assert_allclose(other.metric_, one.metric_, atol=1e-6)
    np.testing.assert_allclose(other.predict(X * scales + 5), one.predict(X), atol=1e-5)


def test_never_worse_than_it_began() -> None:
    """Noise alone: no round is better than none."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 5)), rng.standard_normal(200)
    machine = mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(X, y)
    first = min(h["error"] for h in machine.history_ if h["round"] == 0)
    assert machine.validation_error_ <= first


def test_the_default_chooses_a_kernel() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 5))
    steps = np.where(X[:, 0] > 0.2, 1.0, 0.0) + np.where(X[:, 1] < -0.3, 2.0, 0.0)  # of single columns
    machine = mc.FeatureMachineRegressor(random_state=0).fit(X, steps)
    assert {h["kernel"] for h in machine.history_} == {
        "PowerExponential(ℓ='median', q=1.4)", "PowerExponential(ℓ='median')", "PowerExponential(ℓ='median', q=2.0)",
        "PowerLaplacian(γ='median')", "PowerLaplacian(γ='median', q=1.0)",
    }  # fmt: skip
    assert machine.metric_.ndim == 1
    assert machine.importances_[:2].sum() > 0.9
    for metric, ndim in (("full", 2), ("diagonal", 1)):
        assert mc.FeatureMachineRegressor(metric=metric, random_state=0).fit(X, steps).metric_.ndim == ndim


def test_classes() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 8))
    two, three = X[:, 0] * X[:, 1] > 0, np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    for y in (two, np.array(["a", "b", "c"])[three]):
        machine = mc.FeatureMachineClassifier(kernel=mc.PowerExponential("median", 1.4), random_state=0)
        machine.fit(X[:300], y[:300])
        assert machine.score(X[300:], y[300:]) > 0.85
        assert machine.importances_[:2].sum() > 0.8
        share = machine.predict_proba(X[300:])
        np.testing.assert_allclose(share.sum(axis=1), 1.0)
        np.testing.assert_array_equal(machine.classes_[share.argmax(axis=1)], machine.predict(X[300:]))
    # of two classes, the regression of ±1
    a = mc.FeatureMachineClassifier(0.5, SMOOTH, random_state=0).fit(X[:300], two[:300])
    b = mc.FeatureMachineRegressor(0.5, SMOOTH, random_state=0).fit(X[:300], np.where(two[:300], 1.0, -1.0))
    np.testing.assert_allclose(a.decision_function(X), b.predict(X), atol=1e-8)
    heavy = mc.FeatureMachineClassifier(0.5, SMOOTH, class_weight={True: 10.0}, random_state=0).fit(X[:300], two[:300])
    assert heavy.predict(X).sum() > a.predict(X).sum()


def test_more_samples_than_the_metric_is_learnt_from() -> None:
    X, y = data(1500)
    machine = mc.FeatureMachineRegressor(kernel=SMOOTH, max_samples=400, random_state=0).fit(X, y)
    assert {h["samples"] for h in machine.history_} == {400}
    assert machine.dual_coef_.shape == (1, 1500)
    assert machine.converged_
    one = mc.KernelRidge(machine.alpha_, machine.kernel_).fit(X, y)
    np.testing.assert_allclose(one.predict(X), machine.predict(X), atol=1e-4)
    mean, std = machine.predict(X[:5], return_std=True)
    np.testing.assert_allclose(mean, machine.predict(X[:5]))
    assert (std > 0).all()


def test_forms_of_data_seeds_and_threads() -> None:
    X, y = data(150, 4)
    one = mc.FeatureMachineRegressor(random_state=0).fit(X, y)
    for other in (
        mc.FeatureMachineRegressor(random_state=0).fit(sparse.csr_array(X), y),
        mc.FeatureMachineRegressor(random_state=0, compute=mc.Compute(threads=1)).fit(X, y),
    ):
        np.testing.assert_allclose(other.predict(X), one.predict(X), atol=1e-9)
    low = mc.FeatureMachineRegressor(random_state=0).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(low.predict(X.astype(np.float32)), one.predict(X), atol=1e-2)
    several = mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(X, np.column_stack([y, X[:, 3]]))
    assert several.predict(X).shape == (150, 2)
    assert several.importances_[3] > 0.1  # which the second output is
    given = mc.FeatureMachineRegressor(kernel=[SMOOTH, "Laplacian('median')"], random_state=0).fit(X, y)
    assert {h["kernel"] for h in given.history_} == {str(SMOOTH), "Laplacian(γ='median')"}


def test_units_of_weights_and_outputs_and_any_alpha() -> None:
    X, y = data(150, 4)
    w = np.random.default_rng(1).uniform(0.5, 2.0, 150)
    one, other = (mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(X, y, s * w) for s in (1.0, 1000.0))
    np.testing.assert_allclose(other.alpha_, 1000 * one.alpha_)
    np.testing.assert_allclose(other.predict(X), one.predict(X), atol=1e-5)
    both = [mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(X, np.c_[y, s * X[:, 3]]) for s in (1.0, 1e6)]
    np.testing.assert_allclose(both[1].metric_, both[0].metric_, atol=1e-6)
    far = mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(X, y + 1e8)
    near = mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(X, y)
    np.testing.assert_allclose(far.predict(X) - 1e8, near.predict(X), atol=1e-4)
    for alpha in (1e5, 1e-10):
        assert mc.FeatureMachineRegressor(alpha, mc.Gaussian(0.3), random_state=0).fit(X, y).alpha_ == alpha
    assert mc.FeatureMachineRegressor(0.1, mc.Gaussian(0.3), max_iter=None, random_state=0).fit(X, y).converged_
    alike = mc.FeatureMachineRegressor(kernel=SMOOTH).fit(np.ones((10, 3)), np.ones(10))
    np.testing.assert_allclose(alike.predict(np.zeros((2, 3))), 1.0)
    much = mc.FeatureMachineRegressor(kernel=SMOOTH, validation_fraction=0.99, random_state=0).fit(X[:10], y[:10])
    assert np.isfinite(much.predict(X)).all()
    with pytest.raises(TypeError, match="learns its kernel itself"):
        mc.tune(mc.FeatureMachineRegressor(kernel=SMOOTH), X, y)


def test_classes_do_not_depend_on_the_order_of_columns() -> None:
    X = np.random.default_rng(0).standard_normal((200, 5))
    y, order = X[:, 0] * X[:, 1] > 0, np.array([3, 0, 4, 1, 2])
    one = mc.FeatureMachineClassifier(kernel=SMOOTH, random_state=0).fit(X, y)
    other = mc.FeatureMachineClassifier(kernel=SMOOTH, random_state=0).fit(X[:, order], y)
    np.testing.assert_allclose(other.importances_, one.importances_[order], atol=1e-6)


def test_stopped_between_stages_and_in_the_last_ridge(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been found by then stands."""
    from mercer.estimators.feature_metric import Race
    from mercer.estimators.ridge import KernelRidge

    X, y = data(1200)
    whole, calls = Race._stage, []

    def second(self: Any, *args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(self, *args, **options)

    monkeypatch.setattr(Race, "_stage", second)
    kept = mc.FeatureMachineRegressor(on_interrupt="keep", random_state=0).fit(X, y)
    assert kept.stop_reason_ == "interrupted"
    assert kept.score(X, y) > 0.7
    monkeypatch.setattr(Race, "_stage", whole)

    def interrupted(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(KernelRidge, "_learn", interrupted)
    last = mc.FeatureMachineRegressor(kernel=SMOOTH, on_interrupt="keep", random_state=0).fit(X, y)
    assert last.stop_reason_ == "interrupted"
    assert last.score(X, y) > 0.8
    with pytest.raises(KeyboardInterrupt):
        mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(X, y)


def test_blocks_of_columns_do_not_mix() -> None:
    X, y = data(200)
    codes = np.eye(3)[np.random.default_rng(1).integers(0, 3, 200)]
    table, target = np.hstack([X, codes]), y + codes[:, 1]
    machine = mc.FeatureMachineRegressor(
        kernel=SMOOTH, blocks=["numbers"] * 6 + ["category"] * 3, max_iter=2, random_state=0
    ).fit(table, target)
    assert machine.best_round_ > 0
    assert (machine.metric_[:6, 6:] == 0).all()
    assert machine.metric_[0, 1] != 0
    with pytest.raises(ValueError, match="one label for each of the 9 columns"):
        mc.FeatureMachineRegressor(blocks=[0, 1]).fit(table, target)


@pytest.mark.filterwarnings("error")
def test_input_that_says_little() -> None:
    X, y = data(60, 4)
    flat = mc.FeatureMachineRegressor(random_state=0).fit(X, np.full(60, 3.0))
    np.testing.assert_allclose(flat.predict(X), 3.0)
    assert flat.best_round_ == 0
    constant = np.column_stack([X, np.ones(60), np.zeros(60)])
    machine = mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(constant, y)
    assert machine.best_round_ > 0
    np.testing.assert_array_equal(machine.importances_[4:], 0.0)
    wide = np.random.default_rng(0).standard_normal((40, 120))
    many = mc.FeatureMachineRegressor(random_state=0).fit(wide, wide[:, 0])
    assert np.isfinite(many.predict(wide)).all()
    for n in (2, 3, 5):
        few = mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0).fit(X[:n], y[:n])
        assert np.isfinite(few.predict(X)).all()


def test_few_rows_and_many_columns() -> None:
    """M is that of the space which the samples span, and that of all columns is the same."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((25, 60))
    y = X[:, 0] + 0.5 * X[:, 1]
    made = {"alpha": 1e-3, "kernel": mc.Gaussian(0.02), "max_iter": 2, "standardize": False, "random_state": 0}
    machine = mc.FeatureMachineRegressor(**made).fit(X, y)
    assert machine.best_round_ > 0
    assert machine.metric_.shape == (60, 60)
    np.testing.assert_allclose(np.diagonal(machine.metric_).max(), 1.0)
    assert np.linalg.matrix_rank(machine.metric_) <= 25
    whole = mc.FeatureMachineRegressor(**made, blocks=np.zeros(60)).fit(X, y)  # one block: the same, by columns
    np.testing.assert_allclose(machine.metric_, whole.metric_, atol=1e-6)
    T = rng.standard_normal((10, 60))
    np.testing.assert_allclose(machine.predict(T), whole.predict(T), atol=1e-6)
    none = mc.FeatureMachineRegressor(**{**made, "max_iter": 0}).fit(X, y)
    np.testing.assert_array_equal(none.metric_, np.eye(60))


@pytest.mark.filterwarnings("error")
def test_weights_of_less_than_a_sample() -> None:
    X, y = data(40, 3)
    for machine in (mc.FeatureMachineRegressor(kernel=SMOOTH, random_state=0), mc.KernelRidge(1.0, mc.Gaussian(0.3))):
        machine.fit(X, y, np.full(40, 1e-8))
        assert np.isfinite(machine.signal_variance_).all()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"metric": "round"}, "'auto', 'full' or 'diagonal'"),
        ({"alpha": 0.0}, "alpha must be a positive number"),
        ({"alpha": -1.0}, "alpha must be a positive number"),
        ({"validation_fraction": 1.5}, "a share of the samples"),
        ({"max_samples": 1}, "at least 2"),
        ({"max_iter": -1}, "at least 0"),
        ({"kernel": []}, "at least one kernel"),
        ({"kernel": mc.AllSubsets()}, "no gradient"),
        ({"kernel": mc.Function(lambda A, B: A @ B.T)}, "rows of numbers"),
        ({"kernel": mc.Gaussian().imputed()}, "fill in what is missing"),
        ({"kernel": mc.Gaussian().on([0])}, "choose columns"),
        ({"kernel": "precomputed"}, "no columns"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], complaint: str) -> None:
    X, y = data(40, 3)
    with pytest.raises((ValueError, NoGradient), match=complaint):
        mc.FeatureMachineRegressor(**changes).fit(X, y)


def test_stopped_it_keeps_the_best_round() -> None:
    X, y = data(400)
    seen: list[dict[str, Any]] = []

    def enough(state: dict[str, Any]) -> bool:
        seen.append(state)
        return state.get("round") == 1

    machine = mc.FeatureMachineRegressor(kernel=SMOOTH, progress=enough, random_state=0).fit(X, y)
    assert machine.stop_reason_ == "callback"
    assert not machine.converged_
    assert machine.best_round_ == 1
    assert machine.score(X, y) > 0.8

    def interrupt(state: dict[str, Any]) -> None:
        if state.get("round") == 1:
            raise KeyboardInterrupt

    kept = mc.FeatureMachineRegressor(kernel=SMOOTH, progress=interrupt, on_interrupt="keep", random_state=0).fit(X, y)
    assert kept.stop_reason_ == "interrupted"
    np.testing.assert_allclose(kept.predict(X), machine.predict(X))
    with pytest.raises(KeyboardInterrupt):
        mc.FeatureMachineRegressor(kernel=SMOOTH, progress=interrupt, random_state=0).fit(X, y)


@parametrize_with_checks(
    [mc.FeatureMachineRegressor(), mc.FeatureMachineClassifier(kernel=mc.PowerExponential("median", 1.4), max_iter=2)]
)
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(estimator)


def test_a_sum_over_some_of_the_samples() -> None:
    """The metric is that of the machine of all samples; f is then the ridge with that kernel and these centers."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(600)
    parameters: dict[str, Any] = {"kernel": mc.Gaussian("median"), "max_samples": 300, "max_iter": 2, "random_state": 0}
    full = mc.FeatureMachineRegressor(**parameters).fit(X, y)
    some = mc.FeatureMachineRegressor(**parameters, centers=X[:80]).fit(X, y)
    np.testing.assert_allclose(some.metric_, full.metric_)
    assert len(some.support_vectors_) == 80
    ridge = mc.KernelRidge(some.alpha_, some.kernel_, centers=X[:80]).fit(X, y)
    np.testing.assert_allclose(some.predict(X), ridge.predict(X), atol=1e-4)
    with pytest.raises(ValueError, match="samples in memory"):
        mc.FeatureMachineRegressor(centers=50).fit(mc.Blocks(X), y)
