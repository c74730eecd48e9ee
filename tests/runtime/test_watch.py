"""Deadlines and progress reach whatever takes long; Ctrl-C leaves it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

import mercer as mc
from mercer.kernels.base import Kernel, kernel
from mercer.runtime import watch
from mercer.runtime.compiling import jit
from mercer.runtime.threads import run_tasks
from mercer.runtime.watch import OutOfTime, Stopped, abandonable, asked_to_stop, look, report, watching
from mercer.selection.search import NothingFinished

computed: list[int] = []  # values of each tile of a slow kernel


@kernel
class Slow(Kernel):
    """A kernel of a millisecond for each row of a tile: min(x, z), positive semi-definite."""

    def _block(self, A: Any, B: Any) -> Any:
        computed.append(len(A) * len(B))
        time.sleep(1e-3 * len(A))
        return np.minimum(np.asarray(A), np.asarray(B).T)


X = np.random.default_rng(0).uniform(size=(2000, 1))
Y = X[:, 0] > 0.4


def test_nothing_is_watched_by_default() -> None:
    assert watch.current() is None
    with watching() as nothing:
        assert nothing is None
    look()
    report(gap=1.0)


def test_the_outermost_deadline_is_the_one_that_counts() -> None:
    with watching(0.0) as outer, watching(0.0, partial=True):
        with pytest.raises(OutOfTime, match="max_time=0 s") as caught:
            report()
        assert caught.value.watch is outer


def test_a_solver_ends_only_for_who_takes_a_part() -> None:
    with watching(0.0, partial=True):
        assert asked_to_stop(gap=1.0) == "max_time"
        time.sleep(0.1)
        look()  # from then on what is left may be finished
        assert asked_to_stop(gap=1.0) == "max_time"  # but nothing new is done
    with watching(0.0), pytest.raises(OutOfTime):
        asked_to_stop(gap=1.0)
    with watching(listener=lambda state: True, partial=True):
        assert asked_to_stop(gap=1.0) == "callback"


@pytest.mark.thorough
def test_reports_of_work_add_to_those_of_the_solver() -> None:
    seen: list[dict[str, Any]] = []
    with watching(listener=seen.append, partial=True):
        report(gap=0.5)
        for threads in (1, 2):
            run_tasks(lambda _: time.sleep(0.05), range(10), threads, stage="something")
    assert seen[0]["gap"] == 0.5
    assert seen[0]["stage"] == "solver"
    later = [state for state in seen if state["stage"] == "something"]
    assert later
    assert all(state["gap"] == 0.5 and 0 < state["share"] <= 1 and state["seconds"] > 0 for state in later)


@pytest.mark.thorough
def test_a_listener_may_work_itself() -> None:
    """Also where the inner machine has a listener of its own, and reports come from two threads."""
    inner: list[Any] = []

    def listener(_: Any) -> None:
        inner.append(mc.SVC(progress=lambda state: inner.append(state), kernel=mc.Gaussian(1.0)).fit(X[:200], Y[:200]))

    mc.SVC(C=0.01, kernel=Slow(), progress=listener).fit(X[:300], Y[:300])
    assert any(isinstance(x, mc.SVC) for x in inner)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "machine",
    [
        mc.SVC(kernel=Slow(), max_time=0.3),
        mc.KernelLogistic(1.0, Slow(), max_time=0.3),
        mc.SVR(kernel=Slow(), max_time=0.3),
    ],
)
def test_the_deadline_reaches_the_matrix(machine: Any) -> None:
    """The matrix alone takes seven seconds, mostly asleep; what there is by then is a constant, and the warning says
    so. Told by what was computed, not by the clock: a busy machine computes less in its time.
    """
    computed.clear()
    with pytest.warns(ConvergenceWarning, match=r"max_time=0\.3"):
        machine.fit(X, Y.astype(float) if isinstance(machine, mc.SVR) else Y)
    assert sum(computed) < len(X) ** 2 / 4
    assert machine.stop_reason_ == "max_time"
    assert not machine.converged_
    assert len(set(machine.predict(X[:5]))) == 1


@pytest.mark.thorough
def test_where_there_is_nothing_to_return_the_error_is_one_of_time() -> None:
    computed.clear()
    with pytest.raises(
        TimeoutError, match=r"OneClassSVM took more than max_time=0\.3 s \(kernel values(, \d+% done)?\).*more time"
    ):
        mc.OneClassSVM(kernel=Slow(), max_time=0.3).fit(X)
    assert sum(computed) < len(X) ** 2 / 4


@pytest.mark.thorough
@pytest.mark.parametrize(
    "fit",
    [
        lambda heard: mc.SVC(kernel=Slow(), progress=heard).fit(X, Y),
        pytest.param(lambda heard: mc.KernelLogistic(1.0, Slow(), progress=heard).fit(X, Y), marks=pytest.mark.slow),
        pytest.param(lambda heard: mc.KernelRidge(1.0, Slow(), progress=heard).fit(X, Y), marks=pytest.mark.slow),
        pytest.param(lambda heard: mc.KernelRidgeCV(kernel=Slow(), progress=heard).fit(X, Y), marks=pytest.mark.slow),
        lambda heard: mc.KernelPCA(2, Slow(), progress=heard).fit(X),
        pytest.param(lambda heard: mc.KernelKMeans(2, Slow(), progress=heard).fit(X), marks=pytest.mark.slow),
        lambda heard: mc.OneClassSVM(kernel=Slow(), progress=heard).fit(X),
        pytest.param(lambda heard: mc.KernelPCANovelty(kernel=Slow(), progress=heard).fit(X), marks=pytest.mark.slow),
        lambda heard: mc.KernelSearchCV(mc.SVC(), {"kernel": [Slow()]}, progress=heard, cv=2).fit(X, Y),
        lambda heard: mc.tune(mc.KernelRidge(kernel=2 * Slow()), X, Y, progress=heard, max_samples=None),
    ],
)
def test_progress_is_told_while_the_matrix_is_computed(fit: Callable[[Any], Any]) -> None:
    seen: list[dict[str, Any]] = []

    def heard(state: dict[str, Any]) -> bool:
        seen.append(state)
        return state.get("share") is not None  # until the first tile is there, nobody knows

    with suppress(Stopped, NothingFinished):  # stopped before there was a result
        fit(heard)
    assert seen[-1]["stage"] == "kernel values"
    assert 0 < seen[-1]["share"] < 1


@pytest.mark.thorough
def test_a_search_ends_in_time() -> None:
    computed.clear()
    with pytest.raises(ValueError, match=r"max_time=0\.3 s.*more time"):
        mc.KernelSearchCV(mc.SVC(), {"kernel": [Slow()]}, max_time=0.3, cv=2).fit(X, Y)
    assert sum(computed) < len(X) ** 2 / 4
    computed.clear()
    with pytest.raises(TimeoutError, match="tune took more than"):
        mc.tune(mc.KernelRidge(kernel=2 * Slow()), X, Y, max_time=0.3, max_samples=None)
    assert sum(computed) < len(X) ** 2 / 4


class Late(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A machine that is sometimes out of its own time."""

    def __init__(self, late: bool = False) -> None:
        self.late = late

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        if self.late:
            with watching(0.0, partial=True):
                report()
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def test_a_machine_with_a_limit_of_its_own_fails_alone() -> None:
    """Its time is not the search's: the other candidates go on."""
    search = mc.KernelSearchCV(Late(), {"late": [True, False]}, cv=2, error_score=np.nan)
    with pytest.warns(FitFailedWarning, match="max_time=0 s"):
        search.fit(X, Y)
    assert search.best_params_ == {"late": False}
    with pytest.raises(TimeoutError):
        mc.KernelSearchCV(Late(), {"late": [True, False]}, cv=2).fit(X, Y)


def test_a_long_call_can_be_left() -> None:
    gate, after = threading.Event(), threading.Event()

    def call() -> int:
        gate.wait(30)
        after.set()
        return 3

    with watching(0.1), pytest.raises(OutOfTime):
        abandonable(call)
    assert not after.is_set()
    gate.set()
    assert after.wait(10)  # it went on alone
    assert abandonable(call) == 3
    with pytest.raises(ZeroDivisionError):
        abandonable(lambda: 1 // 0)


def test_compiling_can_be_left() -> None:
    release = threading.Event()

    def loop(x):  # type: ignore[no-untyped-def]
        return x + 1

    compiled = jit(loop, cached=False)
    assert compiled(1) == 2
    assert "_compile_for_args" in vars(compiled)  # numba asks the object for it by name
    slow = jit(loop, cached=False)
    inner = slow.compile
    slow.compile = lambda types: (release.wait(30), inner(types))[1]
    with watching(0.1), pytest.raises(OutOfTime, match="compiling"):
        slow(1.5)
    release.set()
    assert slow(1.5) == 2.5


INTERRUPTED = """
import sys, threading, time, _thread, signal, os
import numpy as np, mercer as mc
def later():
    time.sleep({wait}); print("signal", time.perf_counter(), flush=True); os.kill(os.getpid(), signal.SIGINT)
X = np.random.default_rng(0).standard_normal(({n}, 5)); y = X[:, 0]
{before}
threading.Thread(target=later, daemon=True).start()
try:
    {work}
    print("finished")
except KeyboardInterrupt:
    print("caught", time.perf_counter(), flush=True)
"""


def seconds_to_stop(work: str, n: int, wait: float, before: str = "pass") -> float:
    """From SIGINT to the end of the call, in a process of its own, which must also end."""
    text = INTERRUPTED.format(work=work, n=n, wait=wait, before=before)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False)
    words = dict(line.split() for line in done.stdout.splitlines() if " " in line)
    assert "caught" in words, done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    return float(words["caught"]) - float(words["signal"])


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize(
    ("work", "n"),
    [
        ("mc.KernelPCA(None, mc.Gaussian(0.1)).fit(X)", 5000),
        pytest.param("mc.KernelRidgeCV(kernel=mc.Gaussian(0.1)).fit(X, y)", 5000, marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_leaves_a_long_factorisation(work: str, n: int) -> None:
    """LAPACK's calls take half a minute here; half a second, on an idle machine, is measured in
    ``benchmarks/bench_interrupts.py``.
    """
    assert seconds_to_stop(work, n, 4.0, "mc.Gaussian(0.1).gram(X[:200]).dense()") < 12.0
