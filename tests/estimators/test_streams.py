"""Machines of streams: against the rules written out, the batch, the bound of the perceptron, and one sample at a
time.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.losses import (
    EpsilonInsensitive,
    Expectile,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Perceptron,
    Pinball,
    Poisson,
    Squared,
    SquaredHinge,
)

G = mc.Gaussian(0.3)
REASON = "steps are taken in an order, and one of twice the length is not two"


def _expected(machine: Any) -> dict[str, str]:
    weights = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    return {} if isinstance(machine, mc.KernelRLS) else dict.fromkeys(weights, REASON)


@parametrize_with_checks(
    [mc.KernelSGDClassifier(), mc.KernelSGDClassifier(Logistic()), mc.KernelSGDRegressor(), mc.KernelRLS()],
    expected_failed_checks=_expected,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def data(n: int = 80, d: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n)


# -- the rules, written out


LOSSES = [Squared(), Huber(0.4), Expectile(0.7), Pinball(0.3), EpsilonInsensitive(0.1), Poisson()]
SIGNS = [Logistic(), Hinge(), SquaredHinge(), Perceptron()]


def literal(
    K: Any, y: Any, w: Any, loss: Loss, ridge: float, lengths: Any, bias: bool
) -> tuple[Any, float, Any, float]:
    """The rule of the docstring with nothing removed: coefficients and bias of f, and of the average."""
    n = len(y)
    a, b, mean, mean_b = np.zeros(n), 0.0, np.zeros(n), 0.0
    for t in range(n):
        slope = float(loss.gradient(y[t : t + 1], np.array([K[t] @ a + b]))[0])
        a, b = (1 - 2 * lengths[t] * ridge) * a, (1 - 2 * lengths[t] * ridge) * b
        a[t] -= lengths[t] * w[t] * slope
        b -= lengths[t] * w[t] * slope if bias else 0.0
        mean, mean_b = mean + (a - mean) / (t + 1), mean_b + (b - mean_b) / (t + 1)
    return a, b, mean, mean_b


@pytest.mark.parametrize("loss", LOSSES + SIGNS, ids=str)
@pytest.mark.parametrize(("step", "bias"), [("sqrt", True), ("inverse", False), ("constant", True)])
def test_the_rule(loss: Loss, step: str, bias: bool) -> None:
    X, y = data()
    y = np.sign(y) if loss in SIGNS else np.round(np.exp(y)) if isinstance(loss, Poisson) else y
    t, w, ridge, eta = np.arange(1, 81), np.random.default_rng(1).uniform(0.5, 2.0, 80), 0.01, 0.07
    lengths = {"sqrt": eta / np.sqrt(t), "inverse": np.minimum(eta, 1 / (2 * ridge * t)), "constant": np.full(80, eta)}
    a, b, mean, mean_b = literal(G(X), y, w, loss, ridge, lengths[step], bias)
    for average, coef, intercept in ((False, a, b), (True, mean, mean_b)):
        machine = mc.KernelSGDRegressor(
            loss, ridge, G, budget=80, step=step, eta0=eta, fit_intercept=bias, average=average, removal="oldest"
        ).partial_fit(X, y, sample_weight=w)
        found = np.zeros(80)
        found[machine.support_] = machine.dual_coef_[0]
        np.testing.assert_allclose(found, coef, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(machine.intercept_, [intercept], rtol=1e-9, atol=1e-11)
        f = loss.mean(G(X) @ coef + intercept)
        np.testing.assert_allclose(machine.predict(X), f, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("average", [False, True])
def test_projection(average: bool) -> None:
    """Each time one too many is kept, the one goes whose projection leaves the least: found by least squares for
    each.
    """
    X, y = data(60)
    K, y, budget, eta, ridge = G(X), np.sign(y), 7, 0.5, 0.05
    kept: list[int] = []
    a, mean, lost, removals = np.zeros(60), np.zeros(60), 0.0, 0
    for t in range(60):
        slope = Hinge().gradient(y[t : t + 1], np.array([K[t] @ a]))[0]
        a, lost = (1 - 2 * eta * ridge) * a, (1 - 2 * eta * ridge) * lost
        if slope != 0:
            a[t] -= eta * slope
            kept.append(t)
        if len(kept) > budget:
            options = []
            for r in kept:
                others = [i for i in kept if i != r]
                d = np.linalg.solve(K[np.ix_(others, others)], K[others, r])
                left = K[r, r] - K[r, others] @ d
                options.append(((a[r] ** 2 + average * mean[r] ** 2) * left, r, others, d, left))
            _, r, others, d, left = min(options, key=lambda option: option[0])
            lost, removals = lost + abs(a[r]) * np.sqrt(left), removals + 1
            for v in (a, mean):
                v[others] += d * v[r]
                v[r] = 0.0
            kept.remove(r)
        mean += (a - mean) / (t + 1)
    machine = mc.KernelSGDClassifier(
        None, ridge, G, budget=budget, step="constant", eta0=eta, fit_intercept=False, average=average
    ).partial_fit(X, y, classes=[-1.0, 1.0])
    assert removals > 10
    assert set(machine.support_) == set(kept)
    np.testing.assert_allclose(machine.dual_coef_[0], (mean if average else a)[machine.support_], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(machine.removal_error_, lost, rtol=1e-6)


@pytest.mark.parametrize("removal", ["oldest", "smallest"])
def test_removal_of_one(removal: str) -> None:
    X, y = data(50)
    K, y, eta, ridge = G(X), np.sign(y), 0.5, 0.05
    kept: list[int] = []
    a, lost = np.zeros(50), 0.0
    for t in range(50):
        slope = Hinge().gradient(y[t : t + 1], np.array([K[t] @ a]))[0]
        a, lost = (1 - 2 * eta / np.sqrt(t + 1) * ridge) * a, (1 - 2 * eta / np.sqrt(t + 1) * ridge) * lost
        if slope != 0 and len(kept) == 6:
            r = kept[0] if removal == "oldest" else min(kept, key=lambda i: abs(a[i]))
            lost += abs(a[r])
            a[r] = 0.0
            kept.remove(r)
        if slope != 0:
            a[t] -= eta / np.sqrt(t + 1) * slope
            kept.append(t)
    machine = mc.KernelSGDClassifier(
        None, ridge, G, budget=6, step="sqrt", eta0=eta, fit_intercept=False, removal=removal
    ).partial_fit(X, y, classes=[-1.0, 1.0])
    assert set(machine.support_) == set(kept)
    np.testing.assert_allclose(machine.dual_coef_[0], a[machine.support_], rtol=1e-9)
    np.testing.assert_allclose(machine.removal_error_, lost, rtol=1e-9)


def test_what_others_span_is_not_kept() -> None:
    """A linear kernel of three columns has room for three samples, whatever the budget; nothing is lost by it."""
    X, y = data(200)
    options: Any = {"alpha": 0.01, "kernel": mc.Linear(), "fit_intercept": False, "eta0": 0.05}
    few = mc.KernelSGDRegressor(**options).partial_fit(X, y)
    all_of_them = mc.KernelSGDRegressor(**options, budget=200, removal="oldest").partial_fit(X, y)
    assert len(few.support_) == 3
    assert len(all_of_them.support_) == 200
    np.testing.assert_allclose(few.coef_, all_of_them.coef_, rtol=1e-6)
    assert few.removal_error_ < 1e-5


# -- blocks are samples one by one


def _many(k: Any) -> list[Any]:
    options: Any = {"kernel": k, "budget": 20}
    return [
        mc.KernelSGDClassifier(**options),
        mc.KernelSGDClassifier(Logistic(), **options, average=True, step="sqrt"),
        mc.KernelSGDClassifier(SquaredHinge(), **options, removal="smallest"),
        mc.KernelSGDRegressor(**options),
        mc.KernelSGDRegressor(Huber(0.5), **options, removal="oldest", average=True),
        mc.KernelRLS(0.1, k, 1e-2, 15),
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("machine", _many(G), ids=str)
@pytest.mark.parametrize("size", [1, 7])
def test_a_block_is_its_samples_one_by_one(machine: Any, size: int) -> None:
    (X, y), machine = data(150), clone(machine)
    options = {}
    if isinstance(machine, mc.KernelSGDClassifier):
        y = np.digitize(y, [-0.5, 0.5])
        options = {"classes": [0, 1, 2]}
    w = np.random.default_rng(2).uniform(0.2, 2.0, 150)
    w[10:14] = 0.0
    whole = machine.partial_fit(X, y, sample_weight=w, **options)
    pieces = clone(machine)
    for start in range(0, 150, size):
        some = slice(start, start + size)
        if w[some].any():
            pieces.partial_fit(X[some], y[some], sample_weight=w[some], **options)
        else:
            pieces.n_samples_seen_ += len(X[some])  # weights of 0 alone are refused, as by every estimator
    np.testing.assert_array_equal(pieces.support_, whole.support_)
    np.testing.assert_allclose(pieces.dual_coef_, whole.dual_coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(pieces.intercept_, whole.intercept_, rtol=1e-8, atol=1e-10)
    assert pieces.n_samples_seen_ == whole.n_samples_seen_ == 150


def test_long_streams_stay_exact() -> None:
    """K⁻¹ is changed thousands of times: projections are still those of K."""
    X, y = data(6000)
    machine = mc.KernelSGDRegressor(kernel=G, budget=40).partial_fit(X, y)
    kept = machine._stream.kept
    np.testing.assert_allclose(kept.K[:40, :40], G(machine.support_vectors_), atol=1e-9)
    np.testing.assert_allclose(kept.inverse[:40, :40] @ kept.K[:40, :40], np.eye(40), atol=1e-5)


@pytest.mark.parametrize("machine", _many(mc.Gaussian(0.3)), ids=str)
def test_threads_change_nothing(machine: Any) -> None:
    X, y = data(700)
    y = (y > 0) * 1.0
    if not isinstance(machine, mc.KernelRLS):
        machine = clone(machine).set_params(random_state=0, max_iter=2)
    one, two = (clone(machine).set_params(compute=mc.Compute(threads=threads)).fit(X, y) for threads in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.support_, two.support_)


# -- what is learnt


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [G, mc.Linear()], ids=str)
def test_the_perceptron_keeps_its_bound(k: Any, seed: int) -> None:
    """No more mistakes than (R/ρ)² on a stream with margin ρ, however often it passes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 2))
    X += 0.3 * np.sign(X[:, :1]) * [1.0, 0.0]
    y = np.sign(X[:, 0])
    machine = mc.KernelSGDClassifier(
        Perceptron(), 0.0, k, budget=300, step="constant", eta0=1.0, fit_intercept=False, removal="oldest"
    )
    for _ in range(5):
        machine.partial_fit(X, y, classes=[-1.0, 1.0])
    K = k(X)
    best = mc.RepresenterMachine(Hinge(), 1e-8, k, fit_intercept=False, tol=1e-6).fit(X, y)  # hard margin
    f = best.predict(X)
    margin = float(np.min(y * f)) / best.function_.norm()
    assert margin > 0
    assert 0 < machine.n_mistakes_ <= np.max(np.diagonal(K)) / margin**2
    # it is the perceptron: whole coefficients that count mistakes
    assert np.array_equal(np.abs(machine.dual_coef_), np.ones_like(machine.dual_coef_))
    assert len(machine.support_) == machine.n_mistakes_


@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Hinge(), Logistic(), EpsilonInsensitive(0.1)], ids=str)
def test_it_comes_near_the_optimum(loss: Loss) -> None:
    X, y = data(200)
    y = np.sign(y) if loss in SIGNS else y
    k, ridge = mc.Gaussian(0.3), 0.01
    best = mc.RepresenterMachine(loss, 200 * ridge, k, fit_intercept=False).fit(X, y)
    machine = mc.KernelSGDRegressor(
        loss, ridge, k, budget=200, fit_intercept=False, average=True, max_iter=60, random_state=0
    ).fit(X, y)

    def objective(model: Any) -> float:
        f = k(X, model.support_vectors_) @ model.dual_coef_[0]
        return float(np.mean(loss.value(y, f)) + ridge * model.function_.norm() ** 2)

    assert objective(best) * (1 - 1e-9) <= objective(machine) <= 1.03 * objective(best)


@pytest.mark.thorough
def test_several_classes() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[y] + rng.standard_normal((600, 2))
    labels = np.array(["ant", "bee", "cat"])[y]
    batch = mc.KernelLogistic(alpha=600 * 0.001, kernel=mc.Gaussian(0.2)).fit(X, labels)
    for loss in (None, Logistic(), Multinomial(3)):
        machine = mc.KernelSGDClassifier(
            loss, 0.001, mc.Gaussian(0.2), budget=60, average=True, max_iter=20, random_state=0
        ).fit(X, labels)
        assert machine.dual_coef_.shape == (3, len(machine.support_))
        assert machine.score(X, labels) > batch.score(X, labels) - 0.02
        if loss is None:
            assert not hasattr(machine, "predict_proba")
        else:
            P = machine.predict_proba(X)
            np.testing.assert_allclose(P.sum(axis=1), 1.0)
            assert np.abs(P - batch.predict_proba(X)).mean() < 0.03
    first = mc.KernelSGDClassifier(kernel=G).partial_fit(X[y == 0], labels[y == 0], classes=["cat", "bee", "ant"])
    assert (first.predict(X) == "ant").all()


def test_a_loss_of_ones_own() -> None:
    @dataclass(frozen=True)
    class Mine(Loss):
        def value(self, y: Any, f: Any) -> Any:
            return (y - f) ** 2

        def gradient(self, y: Any, f: Any) -> Any:
            return 2 * (f - y)

        def curvature(self, y: Any, f: Any) -> Any:
            return np.full(np.shape(f), 2.0)

    X, y = data()
    for budget in (10, 100):
        mine, known = (
            mc.KernelSGDRegressor(loss, kernel=G, budget=budget, random_state=0, max_iter=3).fit(X, y)
            for loss in (Mine(), Squared())
        )
        np.testing.assert_allclose(mine.predict(X), known.predict(X), rtol=1e-10)
    labels = np.digitize(y, [-0.5, 0.5])
    mine, known = (
        mc.KernelSGDClassifier(loss, kernel=G, random_state=0, max_iter=3).fit(X, labels)
        for loss in (Mine(), Squared())
    )
    np.testing.assert_allclose(mine.decision_function(X), known.decision_function(X), rtol=1e-8, atol=1e-10)


def test_counts_do_not_run_away() -> None:
    """e^f grows quickly: η0 that is chosen keeps the steps where they belong, also for large counts and weights."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (3000, 1))
    y = rng.poisson(np.exp(3 + X[:, 0]))
    machine = mc.KernelSGDRegressor(Poisson(), 1e-6, mc.Gaussian(1.0), step="sqrt").partial_fit(X[:1], [0])
    machine.partial_fit(X, y, sample_weight=np.where(np.arange(3000) % 10, 1.0, 20.0))
    np.testing.assert_allclose(machine.predict([[-0.5], [0.5]]), np.exp([2.5, 3.5]), rtol=0.2)
    with pytest.raises(ValueError, match="smaller eta0"), np.errstate(all="ignore"):
        mc.KernelSGDRegressor(kernel=G, step="constant", eta0=1e3).partial_fit(*data(500))


# -- recursive least squares


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("k", [G, mc.Linear(), mc.Laplacian(0.5)], ids=str)
def test_with_room_for_all_it_is_the_ridge(k: Any, bias: bool) -> None:
    X, y = data()
    y = y + 3.0
    w = np.random.default_rng(1).uniform(0.1, 3.0, 80)
    stream = mc.KernelRLS(0.1, k, 0.0, 80, fit_intercept=bias)
    for some in (slice(0, 1), slice(1, 40), slice(40, 41), slice(41, 80)):
        stream.partial_fit(X[some], y[some], sample_weight=w[some])
        seen = slice(0, some.stop)
        batch = mc.KernelRidge(0.1, k, fit_intercept=bias).fit(X[seen], y[seen], sample_weight=w[seen])
        np.testing.assert_allclose(stream.predict(X), batch.predict(X), rtol=1e-8, atol=1e-8)
    assert stream.n_samples_seen_ == 80
    assert stream.projection_error_ < 1e-6


def test_projected_samples_are_learnt_from() -> None:
    """With a threshold it is the ridge of the projections onto the span at the time each sample came."""
    X, y = data(100, d=2)
    K, threshold = G(X), 0.05
    kept: list[int] = []
    projections, worst = np.zeros((100, 100)), 0.0
    for t in range(100):
        d = np.linalg.solve(K[np.ix_(kept, kept)], K[kept, t])
        rest = K[t, t] - K[t, kept] @ d
        if rest > threshold:
            kept.append(t)
            projections[t, t] = 1.0
        else:
            projections[t, kept] = d
            worst = max(worst, rest)
    A, Kkk = projections[:, kept], K[np.ix_(kept, kept)]
    M = A @ Kkk
    alpha = np.linalg.solve(M.T @ M + 0.1 * Kkk, M.T @ y)
    machine = mc.KernelRLS(0.1, G, threshold, fit_intercept=False).fit(X, y)
    assert 5 < len(kept) < 60
    np.testing.assert_array_equal(machine.support_, kept)
    np.testing.assert_allclose(machine.predict(X), K[:, kept] @ alpha, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(machine.projection_error_, np.sqrt(worst), rtol=1e-8)
    small = mc.KernelRLS(0.1, G, threshold, 5).fit(X, y)
    np.testing.assert_array_equal(small.support_, kept[:5])


# -- use


def _classify(k: Any) -> Any:
    return mc.KernelSGDClassifier(None, 0.001, k, budget=15, random_state=0)


def test_strings_sparse_tables_and_float32() -> None:
    words = ["banana", "bandana", "ananas", "kernel", "colonel", "kennel"] * 5
    y = [0, 0, 0, 1, 1, 1] * 5
    machine = _classify(mc.Spectrum(2))
    for start in range(0, 30, 4):
        machine.partial_fit(words[start : start + 4], y[start : start + 4], classes=[0, 1])
    assert machine.score(words, y) == 1.0
    assert all(isinstance(word, str) for word in machine.support_vectors_)
    X, z = data(60)
    z = (z > 0).astype(int)
    dense = _classify(G).partial_fit(X, z, classes=[0, 1]).decision_function(X)
    S = sparse.csr_array(X)
    thin = _classify(G).partial_fit(S[:30], z[:30], classes=[0, 1]).partial_fit(S[30:], z[30:])
    np.testing.assert_allclose(thin.decision_function(S), dense, rtol=1e-8)
    assert sparse.issparse(thin.support_vectors_)
    mixed = _classify(G).partial_fit(S[:30], z[:30], classes=[0, 1]).partial_fit(X[30:], z[30:])
    np.testing.assert_allclose(mixed.decision_function(X), dense, rtol=1e-8)
    single = _classify(G).partial_fit(X.astype(np.float32), z, classes=[0, 1])
    assert single.support_vectors_.dtype == np.float32
    np.testing.assert_allclose(single.decision_function(X.astype(np.float32)), dense, atol=1e-3)


def test_a_stream_goes_on_after_fit_and_after_a_file(tmp_path: Path) -> None:
    X, y = data(90)
    y = (y > 0).astype(int)
    for machine in (_classify(G).fit(X[:60], y[:60]), mc.KernelRLS(0.1, G).fit(X[:60], y[:60])):
        mc.save(machine, tmp_path / "model.mercer")
        copies = [pickle.loads(pickle.dumps(machine)), mc.load(tmp_path / "model.mercer")]
        before = machine.predict(X)
        machine.partial_fit(X[60:], y[60:])
        assert machine.n_samples_seen_ == 90
        assert machine.support_.max() >= 60
        np.testing.assert_array_equal(X[machine.support_], machine.support_vectors_)
        for copy in copies:
            np.testing.assert_array_equal(copy.predict(X), before)
            copy.partial_fit(X[60:], y[60:])
            np.testing.assert_array_equal(copy.dual_coef_, machine.dual_coef_)
        again = machine.fit(X[:60], y[:60]).predict(X)
        np.testing.assert_array_equal(again, before)


def test_a_matrix_and_a_search() -> None:
    X, y = data(60)
    y = (y > 0).astype(int)
    given = _classify("precomputed").fit(G(X), y)
    np.testing.assert_allclose(given.decision_function(G(X)), _classify(G).fit(X, y).decision_function(X), rtol=1e-8)
    with pytest.raises(ValueError, match="give the kernel itself"):
        given.partial_fit(G(X), y)
    search = mc.KernelSearchCV(_classify(G), {"alpha": [1e-4, 1e-2]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.7


def test_a_stopped_fit_is_a_model() -> None:
    X, y = data(3000)
    machine = mc.KernelSGDRegressor(kernel=G, budget=10, max_iter=50, progress=lambda state: state["n_samples"] > 4000)
    machine.fit(X, y)
    assert machine.stop_reason_ == "callback"
    assert machine.n_iter_ == 2
    assert not machine.converged_
    assert machine.score(X, y) > 0.3
    stream = mc.KernelSGDRegressor(kernel=G, budget=10, progress=lambda state: state["n_samples"] > 600)
    stream.partial_fit(X, y)
    assert stream.stop_reason_ == "callback"
    assert 600 < stream.n_samples_seen_ < 1500
    assert stream.support_.max() < stream.n_samples_seen_


@pytest.mark.parametrize("keep", [True, False])
def test_an_interrupt(keep: bool) -> None:
    X, y = data(3000)

    def press(state: dict[str, Any]) -> None:
        if state["n_samples"] > 1000:
            raise KeyboardInterrupt

    machine = mc.KernelSGDRegressor(kernel=G, budget=10).partial_fit(X[:100], y[:100])
    before = machine.predict(X)
    machine.set_params(progress=press, on_interrupt="keep" if keep else "raise")
    if keep:
        assert machine.partial_fit(X, y).stop_reason_ == "interrupted"
        assert 1000 < machine.n_samples_seen_ < 3000
    else:
        with pytest.raises(KeyboardInterrupt):
            machine.partial_fit(X, y)
        assert machine.n_samples_seen_ == 100
        np.testing.assert_array_equal(machine.predict(X), before)


def test_what_is_wrong_is_said() -> None:
    X, y = data(20)
    labels = (y > 0).astype(int)
    for options, match in [
        ({"removal": "newest"}, "project, oldest, smallest"),
        ({"step": "none"}, "sqrt, inverse, constant"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": 0.0}, "positive alpha"),
        ({"eta0": 0.0}, "eta0"),
        ({"eta0": np.inf, "step": "sqrt"}, "eta0"),
        ({"budget": 0}, "budget"),
        ({"max_iter": 0}, "max_iter"),
        ({"loss": Poisson()}, "counts"),
        ({"loss": Multinomial(3)}, "not of 2 classes"),
    ]:
        with pytest.raises(ValueError, match=match):
            mc.KernelSGDClassifier(**options).fit(X, labels)
    with pytest.raises(TypeError, match="Huber"):
        mc.KernelSGDRegressor("squared").fit(X, y)
    with pytest.raises(ValueError, match="KernelSGDClassifier"):
        mc.KernelSGDRegressor(Multinomial(3)).fit(X, y)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        mc.KernelSGDClassifier().partial_fit(X, labels)
    machine = mc.KernelSGDClassifier(kernel=G).partial_fit(X, labels, classes=[0, 1])
    with pytest.raises(ValueError, match="7, which is not among"):
        machine.partial_fit(X, np.full(20, 7))
    with pytest.raises(ValueError, match="began with"):
        machine.partial_fit(X, labels, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="compressed"):
        machine.compress(2).partial_fit(X, labels)
    with pytest.raises(ValueError, match="threshold"):
        mc.KernelRLS(threshold=2.0).fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        mc.KernelRLS(0.0).fit(X, y)
