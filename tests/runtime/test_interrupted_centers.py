"""Ctrl-C at every moment of a fit with centers: it stops, nothing half learnt remains, and the next fit is whole."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import mercer as mc
from mercer.arrays import Array
from mercer.gram import landmarks, nystrom
from mercer.native import linalg, products
from mercer.solvers import landmark_sample

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5000, 3))
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(len(X))
SIGNS = NUMBERS > 0
K = mc.Gaussian(0.5)
FEW: dict[str, Any] = {"centers": 100, "random_state": 0}
MACHINES: dict[str, tuple[Any, Array]] = {
    "KernelRidge": (mc.KernelRidge(1e-3, K, **FEW), NUMBERS),
    "KernelLogistic": (mc.KernelLogistic(1e-2, K, **FEW), SIGNS),
    "SVC": (mc.SVC(1.0, K, **FEW), SIGNS),
    "SVR": (mc.SVR(1.0, 0.1, K, **FEW), NUMBERS),
    "KernelQuantile": (mc.KernelQuantile(0.5, 1.0, K, **FEW), NUMBERS),
    "FeatureMachineRegressor": (
        mc.FeatureMachineRegressor(kernel=mc.PowerExponential("median", 1.4), max_iter=1, max_samples=300, **FEW),
        NUMBERS,
    ),
}
# where a fit is when the signal comes: a function, and at which of its calls
MOMENTS: dict[str, tuple[Any, str, int]] = {
    "factor of the landmarks": (nystrom, "cholesky", 1),
    "inverse of the factor": (nystrom, "triangular_inverse", 1),
    "system of the sample": (landmark_sample, "add_inner", 1),
    "factor of the system": (landmark_sample, "cholesky", 1),
    "first pass": (nystrom.Landmarks, "coefficients", 1),
    "a later pass": (nystrom.Landmarks, "coefficients", 4),
}


class Pressed:
    """Ctrl-C at the so manyth call of a function of a module or class; ``heard`` says that it came to that."""

    def __init__(self, patch: pytest.MonkeyPatch, where: Any, name: str, call: int = 1) -> None:
        self.left, self.heard, called = call, False, getattr(where, name)

        def wrapped(*args: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                self.heard = True
                signal.raise_signal(signal.SIGINT)
            return called(*args, **options)

        patch.setattr(where, name, wrapped)


def _interrupted(work: Callable[[], Any]) -> None:
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - start < 60


ONCE = ("KernelRidge", "FeatureMachineRegressor")  # of one system, for which nothing is inverted


@pytest.mark.parametrize(
    ("name", "moment"),
    [(name, moment) for name in MACHINES for moment in MOMENTS if not (name in ONCE and "inverse" in moment)],
)
def test_a_fit(name: str, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine, y = clone(MACHINES[name][0]), MACHINES[name][1]
    with monkeypatch.context() as patch:
        pressed = Pressed(patch, *MOMENTS[moment])
        _interrupted(lambda: machine.fit(X, y))
    assert pressed.heard
    assert not [attribute for attribute in vars(machine) if attribute.endswith("_") and not attribute.startswith("_")]
    assert "_landmarks" not in vars(machine)


@pytest.mark.parametrize("name", ["KernelRidge", "SVC"])
@pytest.mark.thorough
def test_a_model_that_was_there_stays(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine, y = clone(MACHINES[name][0]), MACHINES[name][1]
    before = machine.fit(X, y).predict(X[:20])
    with monkeypatch.context() as patch:
        Pressed(patch, *MOMENTS["first pass"])
        _interrupted(lambda: machine.fit(X[::2], y[::2]))
    np.testing.assert_array_equal(machine.predict(X[:20]), before)
    again = clone(machine).fit(X, y)
    np.testing.assert_array_equal(again.predict(X[:20]), before)


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["blocks", "parquet"])
@pytest.mark.parametrize("call", [1, 3, 6, 12])
def test_blocks(form: str, call: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(3)}), tmp_path / "X.parquet", row_group_size=700)
    data = mc.Blocks(X, rows=700) if form == "blocks" else mc.scan_parquet(tmp_path / "X.parquet")
    machine = mc.KernelRidge(1e-3, K, compute=mc.Compute(memory="3MB"), **FEW)  # too small to keep the values
    with monkeypatch.context() as patch:
        pressed = Pressed(patch, mc.Blocks, "numbered", call)
        _interrupted(lambda: machine.fit(data, NUMBERS))
    assert pressed.heard
    assert not hasattr(machine, "support_")
    assert np.isfinite(machine.fit(data, NUMBERS).predict(data)).all()


@pytest.mark.parametrize(
    ("rule", "where", "function", "call"),
    [
        ("pivoted", landmarks, "product", 3),
        ("leverage", landmarks, "inner", 1),
        ("leverage", landmarks, "cholesky", 1),
        ("leverage", landmarks, "product", 1),
        ("kmeans++", landmarks, "look", 20),
    ],
)
def test_the_choice_of_landmarks(
    rule: str, where: Any, function: str, call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = mc.Nystrom(K, 100, rule, random_state=0)
    with monkeypatch.context() as patch:
        pressed = Pressed(patch, where, function, call)
        _interrupted(lambda: kernel.bind(X))
    assert pressed.heard
    assert kernel.bind(X).features(X[:5]).shape[0] == 5


@pytest.mark.parametrize("moment", ["factor of the landmarks", "system of the sample"])
def test_a_search_and_tuning(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    search = mc.KernelSearchCV(
        mc.KernelRidge(kernel=K, **FEW), {"kernel__gamma": [0.3, 0.6]}, cv=3, on_interrupt="raise"
    )
    with monkeypatch.context() as patch:
        pressed = Pressed(patch, *MOMENTS[moment])
        _interrupted(lambda: search.fit(X, NUMBERS))
    assert pressed.heard
    assert not hasattr(search, "best_estimator_")


def test_tuning(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = mc.KernelRidge(kernel=K, **FEW)
    with monkeypatch.context() as patch:
        pressed = Pressed(patch, nystrom, "cholesky")
        _interrupted(lambda: mc.tune(machine, X[:600], NUMBERS[:600]))
    assert pressed.heard
    assert machine.kernel == K


@pytest.mark.thorough
def test_a_prediction() -> None:
    machine = mc.KernelRidge(1.0, K, **FEW).fit(X, NUMBERS)
    many = np.repeat(X, 800, axis=0)
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    timer.start()
    _interrupted(lambda: [machine.predict(many) for _ in range(1000)])
    timer.join()
    assert np.isfinite(machine.predict(X)).all()


@pytest.mark.parametrize(
    "machine", [mc.KernelSGDRegressor(kernel=K, budget=50), mc.KernelRLS(0.1, K, budget=50)], ids=["SGD", "RLS"]
)
def test_a_stream_goes_on(machine: Any) -> None:
    machine = clone(machine).partial_fit(X[:500], NUMBERS[:500])
    seen = machine.n_samples_seen_
    many, targets = np.repeat(X, 100, axis=0), np.repeat(NUMBERS, 100)
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    _interrupted(lambda: [machine.partial_fit(many, targets) for _ in range(1000)])
    timer.join()
    assert machine.n_samples_seen_ >= seen
    assert np.isfinite(machine.partial_fit(X[:100], NUMBERS[:100]).predict(X)).all()


def _large(m: int) -> Array:
    G = np.eye(m)
    G += 0.5 / m
    return G


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("system", lambda L: linalg.cholesky_solve(L, np.ones((len(L), 400)))),
        ("triangle", lambda L: linalg.triangular_solve(L, np.ones((len(L), 400)))),
        ("inverse", lambda L: products.triangular_inverse(L, 2)),
        ("product", lambda L: products.product(L, L, 2)),
        ("inner products", lambda L: products.inner(L, 2)),
    ],
)
def test_large_matrices(name: str, work: Callable[[Array], Any]) -> None:
    """The signal itself, in the midst of LAPACK and BLAS."""
    L = linalg.lower_triangle(linalg.cholesky(_large(2600), 2))
    timer = threading.Timer(0.02, signal.raise_signal, [signal.SIGINT])
    timer.start()
    _interrupted(lambda: [work(L) for _ in range(1000)])
    timer.join()
