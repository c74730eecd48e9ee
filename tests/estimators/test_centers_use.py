"""Machines with centers in use: kept, sent, watched, stopped, searched."""

from __future__ import annotations

import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mercer as mc
from mercer.arrays import Array
from mercer.runtime import watch

K = mc.Laplacian(0.3)
RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((900, 2)), RNG.standard_normal((30, 2))
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1]
THREE = np.digitize(NUMBERS, [-0.5, 0.5])
MODELS: dict[str, tuple[Any, Array]] = {
    "KernelRidge": (mc.KernelRidge(0.1, K), np.column_stack([NUMBERS, X[:, 0]])),
    "KernelLogistic": (mc.KernelLogistic(0.1, K), THREE),
    "KernelHuber": (mc.KernelHuber(0.1, 0.3, K), NUMBERS),
    "KernelQuantile": (mc.KernelQuantile([0.2, 0.8], 0.1, K), NUMBERS),
    "SVC": (mc.SVC(1.0, K), THREE),
    "SVR": (mc.SVR(1.0, 0.1, K), NUMBERS),
}


def _fitted(name: str, data: Array = X, **options: Any) -> Any:
    model, y = MODELS[name]
    return clone(model).set_params(**{"centers": 20, "random_state": 0} | options).fit(data, y)


def _output(model: Any, data: Array = NEW) -> Array:
    return np.asarray(model.decision_function(data) if hasattr(model, "decision_function") else model.predict(data))


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_kept_in_a_file_and_in_a_pickle(name: str, tmp_path: Path) -> None:
    model = _fitted(name)
    expected = _output(model)
    mc.save(model, tmp_path / "model.mercer")
    for again in (mc.load(tmp_path / "model.mercer"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(_output(again), expected, rtol=1e-12, atol=1e-12)
        assert again.centers == 20
    given = _fitted(name, centers=NEW)
    mc.save(given, tmp_path / "given.mercer")
    again = mc.load(tmp_path / "given.mercer")
    np.testing.assert_allclose(_output(again), _output(given), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(again.centers, NEW)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.thorough
def test_the_function(name: str) -> None:
    """f = Σ_j c_j k(·, z_j) + b, with the coefficients and samples that are kept."""
    model = _fitted(name)
    values = K(NEW, model.support_vectors_) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(np.asarray(model.function_(NEW)).reshape(values.shape), values, atol=1e-10)
    if name != "SVC":
        np.testing.assert_allclose(
            _output(model).reshape(30, -1), np.sort(values) if "Q" in name else values, atol=1e-9
        )


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_compressed(name: str) -> None:
    model = _fitted(name)
    small = model.compress(12)
    assert len(small.support_vectors_) == 12
    assert small.dual_coef_.shape == (len(model.dual_coef_), 12)
    np.testing.assert_array_equal(small.support_vectors_, X[small.support_])
    whole = model.compress(20)
    np.testing.assert_allclose(_output(whole), _output(model), atol=1e-6)
    if name == "SVC":
        assert small.n_support_.tolist() == [12]
        assert model.n_support_.sum() == 20


@pytest.mark.thorough
def test_weights_of_features() -> None:
    ridge = mc.KernelRidge(0.1, mc.Linear(), centers=10, random_state=0).fit(X, NUMBERS)
    exact = mc.KernelRidge(0.1, mc.Linear()).fit(X, NUMBERS)
    np.testing.assert_allclose(ridge.coef_, exact.coef_, atol=1e-5)  # two directions, of which ten samples have both
    np.testing.assert_allclose(NEW @ ridge.coef_ + ridge.intercept_, ridge.predict(NEW), atol=1e-9)
    several = _fitted("SVC", kernel=mc.Linear())
    assert several.coef_.shape == (3, 2)
    with pytest.raises(AttributeError, match="finite feature map"):
        _ = _fitted("KernelRidge").coef_


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_single_precision(name: str) -> None:
    model = _fitted(name)
    np.testing.assert_allclose(_output(model, NEW.astype(np.float32)), _output(model), atol=1e-4)
    single = _fitted(name, X.astype(np.float32))
    assert single.support_vectors_.dtype == np.float32
    np.testing.assert_array_equal(single.support_, model.support_)
    np.testing.assert_allclose(_output(single, NEW.astype(np.float32)), _output(model), atol=5e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_any_number_of_threads(name: str) -> None:
    one, two = (_fitted(name, compute=mc.Compute(threads=threads)) for threads in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    np.testing.assert_array_equal(_output(one), _output(two))


@pytest.mark.thorough
def test_one_generator_for_several_fits() -> None:
    random = np.random.default_rng(0)
    first = _fitted("KernelRidge", random_state=random).support_
    assert not np.array_equal(first, _fitted("KernelRidge", random_state=random).support_)
    np.testing.assert_array_equal(first, _fitted("KernelRidge", random_state=np.random.default_rng(0)).support_)
    old = np.random.RandomState(0)
    assert len(_fitted("KernelRidge", random_state=old).support_) == 20


# -- watched ---------------------------------------------------------------------------------------------------------

LARGE = RNG.standard_normal((5000, 2))
SIGNS = np.where(np.sin(2 * LARGE[:, 0]) + LARGE[:, 1] + 0.3 * RNG.standard_normal(5000) > 0, 1, -1)
WATCHED = {
    "KernelRidge": mc.KernelRidge(1e-6, mc.Gaussian(2.0)),
    "KernelLogistic": mc.KernelLogistic(1e-3, K),
    "SVC": mc.SVC(1.0, K, tol=1e-5),
}


@pytest.mark.thorough
@pytest.mark.parametrize("blocks", [False, True], ids=["array", "blocks"])
@pytest.mark.parametrize("name", WATCHED)
def test_progress_is_told_and_ends_the_fit(name: str, blocks: bool) -> None:
    data = mc.Blocks(LARGE, rows=1000) if blocks else LARGE
    seen: list[dict[str, Any]] = []
    model = clone(WATCHED[name]).set_params(
        centers=100, random_state=0, progress=lambda state: seen.append(dict(state))
    )
    whole = model.fit(data, SIGNS)
    assert whole.stop_reason_ == "gap"
    assert seen
    assert seen[-1]["n_iter"] >= 1
    assert seen[-1]["tol"] == model.tol
    stopped = clone(model).set_params(progress=lambda state: state["n_iter"] >= 1).fit(data, SIGNS)
    assert stopped.stop_reason_ == "callback"
    assert not stopped.converged_
    assert stopped.n_iter_ < whole.n_iter_
    assert np.isfinite(_output(stopped)).all()


@pytest.mark.parametrize("name", ["KernelLogistic", "SVC"])
def test_no_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, passed = time.perf_counter, [0.0]
    monkeypatch.setattr(watch.time, "perf_counter", lambda: clock() + passed[0])

    def tomorrow(state: dict[str, Any]) -> None:
        passed[0] = 86_400.0

    model = clone(WATCHED[name]).set_params(centers=100, random_state=0, max_time=3600.0, progress=tomorrow)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(LARGE, SIGNS)
    assert model.stop_reason_ == "max_time"
    assert np.isfinite(_output(model)).all()


@pytest.mark.parametrize("name", WATCHED)
def test_an_interrupt(name: str) -> None:
    def interrupt(state: dict[str, Any]) -> None:
        if state["n_iter"] >= 1:
            raise KeyboardInterrupt

    model = clone(WATCHED[name]).set_params(centers=100, random_state=0, progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(LARGE, SIGNS)
    assert not hasattr(model, "support_")
    assert "_landmarks" not in vars(model)
    if name != "KernelRidge":
        kept = model.set_params(on_interrupt="keep").fit(LARGE, SIGNS)
        assert kept.stop_reason_ == "interrupted"
        assert np.isfinite(_output(kept)).all()


@pytest.mark.thorough
def test_control_c_during_a_pass() -> None:
    """The signal itself, in the midst of the work of other threads."""
    data = RNG.standard_normal((200_000, 4))
    model = mc.KernelRidge(1e-9, mc.Gaussian(0.5), centers=400, random_state=0, max_iter=100_000, tol=1e-15)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(data, data[:, 0] ** 2)
    finally:
        timer.cancel()
    assert not hasattr(model, "support_")


def test_support_by_class() -> None:
    """As scikit-learn has it where centers are samples; given ones have no class and no number."""
    drawn = _fitted("SVC")
    np.testing.assert_array_equal(drawn.n_support_, np.bincount(THREE[drawn.support_], minlength=3))
    assert drawn.compress(5).n_support_.tolist() == [5]
    given = _fitted("SVC", centers=NEW)
    assert given.n_support_.tolist() == [len(NEW)]
    assert (given.support_ == -1).all()
    assert len(drawn.set_params(centers=None).fit(X, THREE).compress(9).n_support_) == 3
