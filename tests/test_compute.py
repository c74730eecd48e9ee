from __future__ import annotations

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from mercer import arrays, formula
from mercer.compute import Compute, human, physical_memory
from mercer.formula import sqdist
from mercer.runtime.threads import run_tasks, single_threaded_blas


@pytest.mark.parametrize(
    ("text", "size"),
    [("500MB", 500 * 10**6), ("2GB", 2 * 10**9), ("1.5GiB", 3 * 2**29), ("64 KiB", 65536), ("10", 10), (7, 7)],
)
def test_memory_is_read_as_people_write_it(text: str, size: int) -> None:
    assert Compute(memory=text).budget == size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": "lots"}, "not a size"),
        ({"memory": 0}, "positive"),
        ({"dtype": "int32"}, "float32"),
        ({"dtype": "float16"}, "float32"),
        ({"threads": 0}, "at least 1"),
    ],
)
def test_bad_compute(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Compute(**options)  # type: ignore[arg-type]


def test_default_budget_is_half_the_memory() -> None:
    assert Compute().budget == physical_memory() // 2
    assert human(1.6e9) == "1.6 GB"


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


def test_all_finite() -> None:
    x = np.zeros((3, 4))
    assert arrays.all_finite(x)
    assert arrays.all_finite(x[:0])
    assert arrays.all_finite(np.full(10, 1e308))  # the sum would overflow
    for bad in (np.nan, np.inf, -np.inf):
        x[1, 2] = bad
        assert not arrays.all_finite(x)


def test_functions_agree_between_numpy_and_torch() -> None:
    torch = pytest.importorskip("torch")
    x = np.linspace(0.1, 0.9, 7)
    for name in ("exp", "log", "sqrt", "tanh", "arcsin", "absolute"):
        f = getattr(formula, name)
        np.testing.assert_allclose(f(torch.from_numpy(x)).numpy(), f(x), rtol=1e-15)
    for name in ("minimum", "maximum"):
        f = getattr(formula, name)
        np.testing.assert_allclose(f(torch.from_numpy(x), 0.5).numpy(), f(x, 0.5))


def test_reductions_are_for_formulas() -> None:
    with pytest.raises(TypeError, match="part of a kernel's formula"):
        sqdist(np.zeros((2, 2)), np.zeros((2, 2)))
