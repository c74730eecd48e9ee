"""The dual solvers against libsvm, against each other, and against the optimality conditions computed in float64."""

from __future__ import annotations

import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.svm import SVC as Libsvm

import mercer as mc
from mercer.gram import CachedGram, DenseGram, LowRankGram
from mercer.problems import DualQP
from mercer.solvers import dual
from mercer.solvers.dual import ActiveSet
from mercer.solvers.interior import interior_point
from mercer.solvers.newton import free_step
from mercer.solvers.smo import Block, row_length


def _hinge(y: Any, C: Any) -> DualQP:
    return DualQP(-y, np.minimum(0.0, y * C), np.maximum(0.0, y * C), np.zeros(len(y)))


def _data(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y


def _true_gap(qp: DualQP, K: Any, b: Any) -> float:
    items = qp.items(b, len(K))
    return qp.violation(b, qp.of_items(K @ items) + qp.linear)[0]


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n", [60, 700])
def test_the_objective_is_libsvms(n: int, C: float) -> None:
    X, y = _data(n)
    K = mc.Gaussian(0.3)(X)
    qp = _hinge(y, C)
    s = ActiveSet(tol=1e-6).solve(qp, mc.Gaussian(0.3).gram(X))
    peer = Libsvm(C=C, gamma=0.3, tol=1e-8).fit(X, y)
    b = np.zeros(n)
    b[peer.support_] = peer.dual_coef_[0]
    best = qp.objective(b, K @ b - y)
    assert abs(s.objective - best) <= 1e-8 * abs(best)
    assert s.converged
    assert _true_gap(qp, K, s.coef) <= 1e-6
    np.testing.assert_allclose(s.multipliers[0], peer.intercept_[0], atol=1e-5)
    assert abs(s.coef.sum()) < 1e-9 * C * n


def test_large_problems_choose_an_active_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same optimum when only some variables are in the block at a time, whatever kind of Gram."""
    X, y = _data(900)
    qp, kernel = _hinge(y, 10.0), mc.Gaussian(0.3)
    best = ActiveSet(tol=1e-5).solve(qp, kernel.gram(X)).objective
    monkeypatch.setattr(dual, "_ALL", 200)
    monkeypatch.setattr(dual, "_FIRST", 100)
    monkeypatch.setattr(dual, "_LARGEST", 400)
    K = kernel(X)
    for gram in (kernel.gram(X), DenseGram(K), CachedGram(kernel.gram(X)), DenseGram(K.astype(np.float32))):
        s = ActiveSet(tol=1e-3).solve(qp, gram)
        assert s.converged
        assert _true_gap(qp, np.asarray(gram.dense(), float), s.coef) <= 1.1e-3
        assert abs(s.objective - best) < 1e-4 * abs(best)


def test_low_rank_matrices() -> None:
    X, y = _data(300)
    qp = _hinge(y, 1.0)
    s, t = (ActiveSet(tol=1e-6).solve(qp, gram) for gram in (LowRankGram(X), DenseGram(X @ X.T)))
    assert np.isclose(s.objective, t.objective, rtol=1e-9)


@pytest.mark.parametrize("coupled", [True, False])
def test_interior_points_find_the_same_optimum(coupled: bool) -> None:
    X, y = _data(120)
    K = mc.Gaussian(0.3)(X)
    qp = DualQP(-y, np.minimum(0, 5 * y), np.maximum(0, 5 * y), np.zeros(120), coupled=coupled)
    b = interior_point(qp, K)
    assert b is not None
    assert _true_gap(qp, K, b) < 1e-6
    s = ActiveSet(tol=1e-9).solve(qp, DenseGram(K))
    assert np.isclose(qp.objective(b, K @ b - y), s.objective, rtol=1e-9)
    assert (b >= qp.lower).all()
    assert (b <= qp.upper).all()
    assert not coupled or abs(b.sum()) < 1e-9


def test_interior_points_keep_two_sums() -> None:
    X, y = _data(80)
    w = np.ones(80)
    half = 10.0
    start = np.where(y > 0, half / (y > 0).sum(), -half / (y < 0).sum())
    qp = DualQP(np.zeros(80), np.minimum(0, y * w), np.maximum(0, y * w), start, group=(y > 0).astype(np.int8))
    K = mc.Gaussian(0.3)(X)
    b = interior_point(qp, K)
    assert b is not None
    assert np.isclose(b[y > 0].sum(), half)
    assert np.isclose(b[y < 0].sum(), -half)
    assert _true_gap(qp, K, b) < 1e-7


def test_newton_ends_at_the_optimum_of_the_free() -> None:
    X, y = _data(200)
    K = mc.Gaussian(0.3)(X)
    qp = _hinge(y, 1.0)
    s = ActiveSet(tol=1e-2, polish=False).solve(qp, DenseGram(K))
    moved = free_step(qp, DenseGram(K), s.coef, s.gradient, 1000)
    assert moved is not None
    before, after = _true_gap(qp, K, s.coef), _true_gap(qp, K, moved)
    assert after < before
    assert qp.objective(moved, K @ moved - y) <= s.objective + 1e-12
    assert abs(moved.sum()) < 1e-9


def test_polished_is_exact() -> None:
    X, y = _data(150)
    K = mc.Gaussian(0.3)(X)
    assert _true_gap(_hinge(y, 1.0), K, ActiveSet(tol=1e-3).solve(_hinge(y, 1.0), DenseGram(K)).coef) < 1e-10


@pytest.mark.thorough
@given(
    n=st.sampled_from([2, 3, 17, 64, 65]),
    C=st.sampled_from([1e-3, 1.0, 1e3]),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_smo_on_a_block(n: int, C: float, dtype: str) -> None:
    """It keeps bounds and sum, never raises the objective, and ends at the gap; its gradient is that of its point."""
    X, y = _data(n, seed=n)
    y[0], y[1] = 1.0, -1.0
    K = np.zeros((n + 1, row_length(n, dtype)), dtype)
    K[:n, :n] = mc.Gaussian(0.3)(X)
    qp = _hinge(y, C)
    block = Block(K, qp, np.zeros(n), -y)
    last = 0.0
    for _ in range(200):
        _, gap, stuck = block.run(1e-3, 5)
        b = block.b[:n]
        assert (b >= qp.lower).all()
        assert (b <= qp.upper).all()
        assert abs(b.sum()) < 1e-9 * max(1, C)
        objective = qp.objective(b, K[:n, :n].astype(float) @ b - y)
        assert objective <= last + 1e-6 * max(1.0, abs(last))
        last = objective
        if gap <= 1e-3 or stuck:
            break
    _, gap, _ = block.run(1e-3, 100_000)
    assert gap <= 1e-3
    np.testing.assert_allclose(block.g[:n], K[:n, :n].astype(float) @ block.b[:n] - y, atol=1e-3 * max(1.0, C))


@pytest.mark.parametrize("coupled", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_halves_of_a_pass_by_one_thread_or_two(dtype: str, coupled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits with a helper and where this thread takes both halves; the same optimum as of whole passes, which
    may break ties otherwise.
    """
    n, C = 300, 10.0
    X, y = _data(n, seed=3)
    K = np.zeros((n + 1, row_length(n, dtype)), dtype)
    K[:n, :n] = mc.Gaussian(0.3)(X)
    qp = DualQP(-y, np.minimum(0, C * y), np.maximum(0, C * y), np.zeros(n), coupled=coupled)
    found = []
    for split, workers in ((10**6, 1), (1, 1), (1, 2)):
        monkeypatch.setattr("mercer.solvers.smo._SPLIT", split)
        block = Block(K, qp, np.zeros(n), -y, workers)
        steps, gap, stuck = block.run(1e-3, 10**6)
        assert (gap <= 1e-3, stuck) == (True, False)
        assert steps > 100
        found.append((steps, block.b, block.g))
    for whole, alone, helped in zip(*found, strict=True):
        np.testing.assert_array_equal(alone, helped)
        np.testing.assert_allclose(alone, whole, rtol=0.05, atol=0.1)


@pytest.mark.parametrize("coupled", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_block_that_shrinks(dtype: str, coupled: bool) -> None:
    """Those that may still move in a block of their own: the same optimum, a gradient that is that of its point, also
    when stopped on the way.
    """
    n, C = 900, 100.0
    X, y = _data(n, seed=3)
    K = np.zeros((n + 1, row_length(n, dtype)), dtype)
    K[:n, :n] = mc.Gaussian(0.3)(X)
    qp = DualQP(-y, np.minimum(0, C * y), np.maximum(0, C * y), np.zeros(n), coupled=coupled)
    whole, shrinking = Block(K, qp, np.zeros(n), -y), Block(K, qp, np.zeros(n), -y, early=0.2)
    departed = 0
    for steps in (5000 if coupled else 25_000, 1000, 1000, 10**6):
        taken, gap, stuck = shrinking.run(1e-3, steps)
        assert taken <= steps
        departed += shrinking._part is not None
        moved = shrinking.moved()
        np.testing.assert_allclose(moved, np.linalg.norm(shrinking.b), rtol=1e-12)  # b calls the part back
        np.testing.assert_allclose(
            shrinking.g[:n], K[:n, :n].astype(float) @ shrinking.b - y, atol=2e-3 if dtype == "float32" else 1e-9
        )
    assert departed
    assert gap <= 1e-3
    assert not stuck
    assert abs(shrinking.b.sum()) < 1e-9 * C or not coupled
    whole.run(1e-3, 10**6)

    def objective(b: Any) -> float:
        return qp.objective(b, K[:n, :n].astype(float) @ b - y)

    assert objective(shrinking.b) == pytest.approx(objective(whole.b), rel=1e-5)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [2, 3, 5])
def test_every_limit_ends(seed: int) -> None:
    """Also one that is reached between the gap that is aimed at and the one that is asked for."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=80) > 0).astype(int)
    for most in range(1, 260):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            machine = mc.SVC(C=5, max_iter=most).fit(X, y)
        assert machine.n_iter_ <= most


def test_limits() -> None:
    X, y = _data(3000)
    gram = mc.Gaussian(0.3).gram(X)
    s = ActiveSet(tol=1e-9, max_iter=50).solve(_hinge(y, 100.0), gram)
    assert s.stop_reason == "max_iter"
    assert 50 <= s.n_iter <= 60
    assert s.gap > 1e-9
    s = ActiveSet(tol=1e-9, max_time=0.0).solve(_hinge(y, 100.0), gram)
    assert s.stop_reason == "max_time"
    seen: list[dict[str, Any]] = []
    s = ActiveSet(progress=lambda state: seen.append(state) or len(seen) == 2).solve(_hinge(y, 100.0), gram)  # type: ignore[func-returns-value]
    assert s.stop_reason == "callback"
    assert len(seen) == 2
    assert {"gap", "tol", "n_iter", "seconds", "active"} <= set(seen[0])


def test_a_point_to_start_from() -> None:
    X, y = _data(800)
    gram = mc.Gaussian(0.3).gram(X)
    first = ActiveSet(polish=False).solve(_hinge(y, 1.0), gram)
    again = ActiveSet(polish=False).solve(_hinge(y, 1.0), gram, start=first.coef)
    assert again.n_iter == 0
    # neither in bounds nor of sum 0
    odd = ActiveSet(tol=1e-6).solve(_hinge(y, 1.0), gram, start=np.random.default_rng(0).uniform(-2, 2, 800))
    assert abs(odd.coef.sum()) < 1e-9
    assert np.isclose(odd.objective, ActiveSet(tol=1e-6).solve(_hinge(y, 1.0), gram).objective, rtol=1e-8)
    assert again.converged


@pytest.mark.thorough
def test_a_callback_may_start_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver within a solver has memory of its own."""
    monkeypatch.setattr(dual, "_SLICE", 0.0)  # a look every 64 steps
    X, y = _data(1500)
    gram = mc.Gaussian(0.3).gram(X)
    alone = ActiveSet(polish=False).solve(_hinge(y, 10.0), gram)

    def again(state: dict[str, Any]) -> bool:
        ActiveSet().solve(_hinge(-y, 1.0), mc.Gaussian(2.0).gram(X))
        return False

    np.testing.assert_array_equal(ActiveSet(polish=False, progress=again).solve(_hinge(y, 10.0), gram).coef, alone.coef)


def test_interrupted_work_is_kept_when_asked() -> None:
    X, y = _data(3000)

    def interrupt(state: dict[str, Any]) -> bool:
        if state["n_iter"] > 0:
            raise KeyboardInterrupt
        return False

    solver = ActiveSet(tol=1e-9, progress=interrupt, keep_on_interrupt=True)
    s = solver.solve(_hinge(y, 100.0), mc.Gaussian(0.3).gram(X))
    assert s.stop_reason == "interrupted"
    assert s.coef.any()
    with pytest.raises(KeyboardInterrupt):
        ActiveSet(tol=1e-9, progress=interrupt).solve(_hinge(y, 100.0), mc.Gaussian(0.3).gram(X))


def test_the_same_bits_for_any_number_of_threads() -> None:
    X, y = _data(5000)
    one, two = (
        ActiveSet().solve(_hinge(y, 10.0), mc.Gaussian(0.3).gram(X, compute=mc.Compute(threads=t))) for t in (1, 2)
    )
    np.testing.assert_array_equal(one.coef, two.coef)
    assert one.objective == two.objective


@pytest.mark.thorough
def test_ctrl_c_stops_a_long_fit() -> None:
    """The solver comes back to Python often enough: the problem itself takes hours."""
    X, y = _data(6000)
    gram = mc.Gaussian(0.01).gram(X)
    ActiveSet(max_iter=10).solve(_hinge(y, 1.0), gram)  # compiled before the clock starts
    solver = ActiveSet(tol=1e-12, max_iter=10**9)
    threading.Timer(1.0, lambda: __import__("_thread").interrupt_main()).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        solver.solve(_hinge(np.random.default_rng(0).permutation(y), 1e6), gram)
    assert time.perf_counter() - start < 15


@pytest.mark.thorough
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("many", [False, True])
def test_one_variable_at_a_time_leads_to_the_same_optimum(
    bias: bool, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first point from features: the same objective and gap as without it, for SVC and for SVR, whose items have
    two variables each.
    """
    from mercer.solvers import coordinate

    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 6))
    y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(700))
    monkeypatch.setattr(dual, "_ALL", 50)
    machine = (
        mc.SVR(kernel=mc.Linear(), C=0.7, epsilon=0.05, tol=1e-6)
        if many
        else mc.SVC(kernel=mc.Linear(), C=0.7, fit_intercept=bias, tol=1e-6)
    )
    called = []
    real = coordinate.descend
    monkeypatch.setattr(coordinate, "descend", lambda *args: called.append(1) or real(*args))
    machine.fit(X, y)
    assert called
    monkeypatch.setattr(coordinate, "usable", lambda *args: None)
    other = clone(machine).fit(X, y)
    assert len(called) == 1
    assert machine.gap_ <= 1e-6
    np.testing.assert_allclose(machine.objective_, other.objective_, rtol=1e-8)
