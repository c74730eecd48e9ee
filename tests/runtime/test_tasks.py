"""Tasks on several threads, and BLAS held to one while they run."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from mercer.runtime.threads import run_tasks, single_threaded_blas


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_tasks_run_once_each(workers: int) -> None:
    done: list[int] = []
    lock = threading.Lock()

    def task(t: int) -> None:
        with lock:
            done.append(t)

    run_tasks(task, range(100), workers)
    assert sorted(done) == list(range(100))


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_in_a_task_stops_the_others_and_is_raised(workers: int) -> None:
    done: list[int] = []

    def task(t: int) -> None:
        if t == 5:
            raise KeyError("five")
        done.append(t)

    with pytest.raises(KeyError, match="five"):
        run_tasks(task, range(10_000), workers)
    assert len(done) < 10_000


def test_a_task_may_run_tasks() -> None:
    total = np.zeros(4)

    def inner(i: int) -> None:
        run_tasks(lambda j: total.__setitem__(i, total[i] + j), range(10), 2)

    run_tasks(inner, range(4), 2)
    np.testing.assert_array_equal(total, 45.0)


def _blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_is_restored_when_the_last_one_leaves() -> None:
    before = _blas_threads()
    first, second = single_threaded_blas(), single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert _blas_threads() == {1}
    second.__exit__(None, None, None)
    assert _blas_threads() == before
