"""The pool, BLAS and locks: in the process that made them, and after a fork."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed

import mercer as mc
from mercer.runtime import threads
from mercer.runtime.threads import ForkSafeLock, Interrupted, cached_property, run_tasks, single_threaded_blas

X = np.random.default_rng(0).standard_normal((1500, 6))
Y = X[:, 0] > 0.2
fork_only = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
# Python 3.12 warns of any fork beside threads
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def work(_: int = 0) -> float:
    """All that has threads, locks or BLAS: tiles, a factorisation, a machine, a product."""
    K = mc.Gaussian(0.1).gram(X)
    total = float(K.dense()[:5].sum()) + float((K @ np.ones(len(X)))[0])
    total += float(mc.KernelRidge(1.0, mc.Gaussian(0.1)).fit(X[:700], X[:700, 0]).predict(X[:3]).sum())
    machine = mc.SVC(kernel=mc.Gaussian(0.1)).fit(X[:700], np.digitize(X[:700, 0], [-0.5, 0.5]))
    return total + float(machine.decision_function(X[:3]).sum()) + float(mc.Spectrum(3)(["acgtacgt", "aacc"]).sum())


def _in_child(function: Callable[[], Any], seconds: float = 60.0) -> Any:
    """What the function returns in a forked child; None if it never does."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, pickle.dumps(function()))
        except BaseException as error:
            os.write(write, pickle.dumps(repr(error)))
        finally:
            os._exit(0)
    os.close(write)
    import select

    ready, _, _ = select.select([read], [], [], seconds)
    out = pickle.loads(os.read(read, 1 << 16)) if ready else None
    os.close(read)
    if not ready:
        os.kill(child, 9)
    os.waitpid(child, 0)
    return out


@fork_only
def test_a_forked_child_can_work() -> None:
    expected = work()  # the pool is there now
    assert _in_child(work) == expected


@fork_only
def test_a_fork_in_the_middle_of_a_task() -> None:
    """The thread that forks is one of the pool's, and another is inside BLAS."""
    expected, found = work(), {}

    def task(t: int) -> None:
        if t == 0:
            found["child"] = _in_child(work)

    run_tasks(task, range(2), 2)
    assert found["child"] == expected


@fork_only
def test_a_fork_while_another_thread_holds_everything() -> None:
    lock, ready, done = ForkSafeLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with single_threaded_blas(), lock:
            ready.set()
            done.wait(60)

    def child() -> tuple[int, bool]:
        with lock, single_threaded_blas():
            inside = single_threaded_blas._inside
        return inside, work() > 0

    holder = threading.Thread(target=hold)
    holder.start()
    ready.wait(60)
    try:
        assert _in_child(child) == (1, True)
    finally:
        done.set()
        holder.join()


@fork_only
def test_blas_is_restored_in_a_child_whose_parent_was_inside() -> None:
    from threadpoolctl import threadpool_info

    def blas() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before, ready, done = blas(), threading.Event(), threading.Event()

    def hold() -> None:
        with single_threaded_blas():
            ready.set()
            done.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    ready.wait(60)
    try:
        assert max(blas()) == 1
        assert _in_child(blas) == before
    finally:
        done.set()
        holder.join()


def test_blas_is_held_and_restored_by_whichever_thread_comes_first_and_leaves_last() -> None:
    from threadpoolctl import threadpool_info

    def blas() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = blas()
    with single_threaded_blas():
        pass
    first_is_in, last_may_go, seen = threading.Event(), threading.Event(), []

    def hold() -> None:
        with single_threaded_blas():
            seen.append(max(blas()))
            first_is_in.set()
            last_may_go.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    first_is_in.wait(60)
    with single_threaded_blas():
        last_may_go.set()
        other.join()
    assert seen == [1]
    assert blas() == before


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_processes(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    expected = work()
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.map_async(work, range(2)).get(timeout=120)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["loky", pytest.param("multiprocessing", marks=pytest.mark.slow), "threading"])
def test_joblib(how: str) -> None:
    expected = work()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # loky where it stops a worker
        found = Parallel(n_jobs=2, backend=how, timeout=120)(delayed(work)(i) for i in range(2))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def nested(_: int) -> list[float]:
    """Processes from inside a worker, after it has used its threads."""
    first = work()
    context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")
    out = context.SimpleQueue()
    child = context.Process(target=_put, args=(out,))
    child.start()
    child.join(60)
    alive = child.is_alive()
    if alive:
        child.kill()
    return [first, float("nan") if alive else out.get()]


def _put(out: Any) -> None:
    out.put(work())


@pytest.mark.thorough
def test_processes_from_inside_a_worker() -> None:
    expected = work()
    for first, second in Parallel(n_jobs=2, backend="loky", timeout=180)(delayed(nested)(i) for i in range(2)):
        np.testing.assert_allclose([first, second], expected, rtol=1e-12)


def test_the_error_of_a_helper_is_told() -> None:
    """Not the interruption of the others that follows from it."""
    here, both = threading.get_ident(), threading.Barrier(2, timeout=10)

    def task(_: int) -> None:
        both.wait()
        if threading.get_ident() != here:
            raise ZeroDivisionError("mine")
        while not threads.stopping():
            pass
        raise Interrupted

    with pytest.raises(ZeroDivisionError, match="mine"):
        run_tasks(task, range(2), 2)


def test_a_cached_property_holds_no_lock() -> None:
    """Two threads compute two objects' values at once: each waits for the other inside."""
    both = threading.Barrier(2, timeout=10)

    class Thing:
        @cached_property
        def value(self) -> int:
            """A value."""
            return both.wait() * 0 + 7

    things = [Thing(), Thing()]
    others = [threading.Thread(target=lambda thing=thing: thing.value) for thing in things]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join()
    assert [thing.__dict__["value"] for thing in things] == [7, 7]
    assert Thing.value.__doc__ == "A value."
