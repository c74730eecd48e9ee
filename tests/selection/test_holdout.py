"""``tune`` on landmarks: the hold-out criterion against a dense formula, its gradient against differences of that, and
what it finds.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.selection.holdout import HoldOut, apart
from mercer.selection.objectives import OnLandmarks
from mercer.selection.tuning import _sample

RNG = np.random.default_rng(0)
N, M, TRAIN = 400, 40, 300
X = RNG.standard_normal((N, 3))
Y = np.column_stack([np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * RNG.standard_normal(N) + 3.0, X[:, 2] ** 2])
W = RNG.uniform(0.3, 2.0, N)
ARD = mc.Matern([0.8, 1.3, 2.0], nu=1.5)
KERNELS = [
    mc.Gaussian(0.4),
    ARD,
    mc.Matern([0.8, 1.3, 2.0], nu=math.inf),
    mc.RationalQuadratic([1.0, 2.0, 1.5], 0.7),
    1.5 * mc.Gaussian(0.4) + 0.3 * mc.Laplacian(0.2),
    1.5 * ARD + 0.3 * mc.Linear(),
    mc.Gaussian(0.5).on([0, 1]) * mc.Matern([1.4], 1.5).on([2]),
    ARD + mc.Matern([2.0, 1.0, 0.5], nu=2.5),
]


def _dense(k: Any, ridge: float, Z: Any, bias: bool) -> float:
    """The criterion by its normal equations, bias and all."""
    F, P = k(X, Z), ridge * k(Z)
    if bias:
        F, P = np.c_[F, np.ones(N)], np.pad(P, (0, 1))
    weighted = F[:TRAIN].T * W[:TRAIN]
    c = np.linalg.solve(weighted @ F[:TRAIN] + P, weighted @ Y[:TRAIN])
    r = Y[TRAIN:] - F[TRAIN:] @ c
    return float(np.log(np.sum(W[TRAIN:, None] * r**2) / W[TRAIN:].sum()))


def _objective(k: Any, bias: bool, Z: Any) -> OnLandmarks:
    estimator = mc.KernelRidge(0.1, k, fit_intercept=bias, centers=Z)
    made = OnLandmarks(k, estimator, X, Y, W)
    made.held_out = HoldOut(X, Y, W, TRAIN, Z, bias=bias)
    return made


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("k", KERNELS, ids=str)
def test_value_and_gradient(k: Any, bias: bool) -> None:
    """By every parameter and λ, two outputs, weights."""
    objective, Z = _objective(k, bias, X[:M]), X[:M]
    theta = objective.start() + 0.1 * np.cos(np.arange(len(objective.start())))
    value, gradient = objective(theta)

    def dense(theta: Any) -> float:
        return _dense(objective.kernel_at(theta), math.exp(theta[-1]), Z, bias)

    assert value == pytest.approx(dense(theta), abs=1e-6)
    h = 1e-4
    expected = [(dense(theta + h * e) - dense(theta - h * e)) / (2 * h) for e in np.eye(len(theta))]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5)


def test_single_precision() -> None:
    k = mc.Matern([0.8, 1.3, 2.0], nu=1.5)
    names = list(k.gradient(X[:2]))
    exact = HoldOut(X, Y, W, TRAIN, X[:M])(k, 0.1, names, np.zeros(4))
    A = X.astype(np.float32)
    found = HoldOut(A, Y, W, TRAIN, A[:M])(k, 0.1, names, np.zeros(4))
    assert found[0] == pytest.approx(exact[0], abs=1e-4)
    np.testing.assert_allclose(found[1], exact[1], atol=1e-3)
    assert found[2] == pytest.approx(exact[2], abs=1e-3)


def test_with_all_training_samples_as_landmarks_it_is_the_error_of_the_ridge() -> None:
    k = mc.Gaussian(0.4)
    ridge = mc.KernelRidge(0.1, k).fit(X[:TRAIN], Y[:TRAIN], W[:TRAIN])
    error = np.average(np.sum((Y[TRAIN:] - ridge.predict(X[TRAIN:])) ** 2, axis=1), weights=W[TRAIN:])
    found = HoldOut(X, Y, W, TRAIN, X[:TRAIN])(k, 0.1, [], np.zeros(1))
    assert found[0] == pytest.approx(math.log(error), abs=1e-6)


def test_a_preconditioner_serves_again_where_nothing_moved_far(monkeypatch: pytest.MonkeyPatch) -> None:
    from mercer.selection import holdout

    made: list[int] = []
    new = holdout.preconditioner
    monkeypatch.setattr(holdout, "preconditioner", lambda *a, **k: made.append(1) or new(*a, **k))
    objective = _objective(ARD, True, X[:M])
    theta = objective.start()
    values = [objective(theta + step)[0] for step in (0.0, 0.01, 0.02, 1.0, 1.01)]
    assert len(made) == 2
    for step, value in zip((0.01, 1.01), (values[1], values[4]), strict=True):
        assert value == pytest.approx(_objective(ARD, True, X[:M])(theta + step)[0], abs=1e-6)


def test_the_split() -> None:
    random = np.random.default_rng(1)
    A, y, w, n = apart(X, Y, W, 0.25, random)
    assert n == 300
    where = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in A]
    assert sorted(where) == list(range(N))
    np.testing.assert_array_equal(y, Y[where])
    np.testing.assert_array_equal(w, W[where])
    part = HoldOut(A, y, w, n, A[:M]).of_some(40, random)
    assert (len(part.w), part.n_train) == (40, 30)
    rows = [int(np.flatnonzero((row == A).all(axis=1))[0]) for row in part.X]
    assert max(rows[:30]) < n <= min(rows[30:])


@pytest.mark.thorough
def test_columns_without_relevance_get_long_length_scales_at_scale() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5000, 6))
    y = np.sin(2 * A[:, 1]) * np.cos(A[:, 3]) + 0.1 * rng.standard_normal(5000)
    machine = mc.KernelRidge(1.0, mc.Matern(np.full(6, 2.0), nu=math.inf), centers=100, random_state=0)
    found = mc.tune(machine, A, y, random_state=0, max_iter=30)
    scales = np.asarray(found.estimator.kernel.length_scale)
    assert scales[[0, 2, 4, 5]].min() > 4 * scales[[1, 3]].max()
    assert found.value < found.start - 0.5
    assert math.exp(found.value / 2) < 0.13
    fresh = rng.standard_normal((1000, 6))
    truth = np.sin(2 * fresh[:, 1]) * np.cos(fresh[:, 3])
    before, after = (np.mean((m.fit(A, y).predict(fresh) - truth) ** 2) for m in (machine, found.estimator))
    assert after < before / 10


@pytest.mark.thorough
def test_fewer_samples_judge_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from mercer.selection import objectives

    monkeypatch.setattr(objectives, "_FEWER", 200)
    monkeypatch.setattr(objectives, "_FEWER_TIMES", 4)
    seen: list[int] = []
    call = HoldOut.__call__

    def counting(self: HoldOut, *given: Any) -> Any:
        seen.append(len(self.w))
        return call(self, *given)

    monkeypatch.setattr(HoldOut, "__call__", counting)
    A = RNG.standard_normal((1000, 2))
    y = np.sin(2 * A[:, 0]) + 0.1 * RNG.standard_normal(1000)
    machine = mc.KernelRidge(1.0, mc.Gaussian(5.0), centers=30)
    found = mc.tune(machine, A, y, random_state=0)
    turn = seen.index(1000)
    assert set(seen[:turn]) == {200}
    assert set(seen[turn:]) == {1000}
    assert found.n_evaluations == len(found.history) == len(seen)
    assert found.start == found.history[-1]
    assert found.value == min(found.history[turn:]) < found.start
    stopped = mc.tune(machine, A, y, random_state=0, progress=lambda state: state["evaluations"] == 2)
    assert stopped.n_evaluations == 2
    assert stopped.start == stopped.history[0]


def test_which_criterion() -> None:
    A, y = X[:120], Y[:120, 0]
    plain = mc.KernelRidge(0.2, mc.Gaussian(1.0))
    assert mc.tune(plain, A, y, max_iter=2).history == mc.tune(plain, A, y, "loo", max_iter=2).history
    few = mc.KernelRidge(0.2, mc.Gaussian(1.0), centers=20)
    options: dict[str, Any] = {"max_iter": 2, "random_state": 0}
    assert mc.tune(few, A, y, **options).history == mc.tune(few, A, y, "hold-out", **options).history
    assert mc.tune(few, A, y, "loo", **options).history == mc.tune(plain, A, y, "loo", **options).history
    # without centers over all that are trained on
    B, z, w = _sample(plain, A, y, None, None, np.random.default_rng(0))
    B, z, w, n = apart(B, z, w, 0.3, np.random.default_rng(0))
    error = np.mean((z[n:, 0] - plain.fit(B[:n], z[:n, 0]).predict(B[n:])) ** 2)
    found = mc.tune(plain, A, y, "hold-out", validation_fraction=0.3, max_iter=1, random_state=0)
    assert found.start == pytest.approx(math.log(error), abs=1e-6)


@pytest.mark.thorough
def test_classes_and_other_machines() -> None:
    labels = np.where(np.abs(X[:, 0]) > 0.7, "b", "a")
    for machine in (mc.KernelLogistic(1.0, mc.Gaussian(30.0), centers=50), mc.SVC(1.0, mc.Gaussian(30.0), centers=50)):
        found = mc.tune(machine, X, labels, random_state=0, max_iter=10)
        assert found.value < found.start - 0.1
        assert found.fit(X, labels).score(X, labels) > 0.9


def test_words() -> None:
    """Whatever the kernel compares; the ridge alone is to be found."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(150)]
    y = np.array([w.count("a") - w.count("b") for w in words]) + 0.1 * rng.standard_normal(150)
    found = mc.tune(mc.KernelRidge(500.0, mc.Spectrum(1), centers=40, random_state=0), words, y, random_state=0)
    assert found.value < found.start


@pytest.mark.thorough
def test_a_limit_of_time() -> None:
    machine = mc.KernelRidge(1.0, ARD, centers=30)
    found = mc.tune(machine, X, Y, max_time=0.5, restarts=10**6, random_state=0)
    assert found.n_evaluations >= 1
    assert found.value <= found.start


def test_errors() -> None:
    machine = mc.KernelRidge(1.0, mc.Gaussian(1.0), centers=30)
    with pytest.raises(ValueError, match="validation_fraction"):
        mc.tune(machine, X, Y, validation_fraction=1.0)
    with pytest.raises(ValueError, match="max_samples"):
        mc.tune(machine, X, Y, max_samples="all")
    with pytest.raises(TypeError, match="blocks"):
        mc.tune(machine, mc.Blocks([X[:200], X[200:]]), Y)
