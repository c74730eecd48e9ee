"""Functions of blocks, where the blocks lie: with a client, without one, and where something goes wrong."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone

import mercer as mc
from mercer.compute import Compute
from mercer.distributed import ClusterLost, Partitions, Workers, blocks_of, is_collection

# Dask leaves sockets for the collector to close.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 3))
Y = np.sin(X[:, 0]) + X[:, 1]
MACHINE = mc.KernelRidge(0.1, mc.Gaussian(0.3), centers=X[:30], tol=1e-11)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        dask.config.set({"distributed.logging.distributed": "error"}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as found,
    ):
        yield found


def _spread(values: Any = X, rows: int = 90) -> Any:
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


def _one(block: Any) -> tuple[Any]:
    return (np.array([1.0, 1e-16, 1e16, -1e16])[int(block[0]) % 4 : int(block[0]) % 4 + 1],)


def _sizes(block: Any, own: Any, factor: int) -> int:
    return own + factor * len(block)


def _worker_and_identity(_: Any, value: Any) -> tuple[str, int]:
    from distributed import get_worker

    return get_worker().address, id(value)


def _slow(block: Any) -> tuple[Any]:
    time.sleep(4)
    return (block,)


def test_what_is_a_collection() -> None:
    import dask.bag as db

    delayed = dask.delayed(np.zeros)((2, 2))
    assert is_collection(_spread())
    assert is_collection(db.from_sequence("abc"))
    assert is_collection([delayed, delayed])
    assert not any(map(is_collection, (X, X.tolist(), [], "abc", None, delayed, [delayed, X], mc.Linear().gram(X))))


@pytest.mark.thorough
def test_sums_are_added_in_the_order_of_the_blocks(client: Client) -> None:
    numbers = da.from_array(np.arange(40), chunks=1)
    here = Partitions(Workers(), blocks_of(numbers)[0])
    there = Partitions(Workers(client), blocks_of(numbers)[0])
    found = {float(parts.total("sum", _one)[0][0]) for parts in (here, there) for _ in range(3)}
    assert len(found) == 1  # to the last bit, of numbers whose sum depends on the order
    assert there.each("sizes", _sizes, 10, own=[(k,) for k in range(40)]) == [10 + k for k in range(40)]


@pytest.mark.thorough
def test_blocks_are_worked_on_where_they_lie(client: Client) -> None:
    """And what they need beside them is sent to each worker once."""
    parts = Partitions(Workers(client), blocks_of(_spread(rows=10))[0]).kept()
    parts.each("sizes", _sizes, 1, own=[(0,)] * len(parts))
    beside = parts.beside({"of": X[:30]}, "landmarks")
    identities = set()
    for _ in range(3):
        found = parts.each("places", _worker_and_identity, own=[(value,) for value in beside])
        there = parts.workers.where(parts.blocks)
        assert all(place in there[block.key] for block, (place, _) in zip(parts.blocks, found, strict=True))
        identities |= set(found)
    assert len(identities) <= 2  # a copy for each worker, the same in all passes


@pytest.mark.thorough
def test_a_client_computes_what_the_default_scheduler_does(client: Client) -> None:
    alone = clone(MACHINE).fit(_spread(), _spread(Y))
    machine = clone(MACHINE).set_params(compute=Compute(client=client)).fit(_spread(), _spread(Y))
    assert np.array_equal(machine.dual_coef_, alone.dual_coef_)
    again = clone(MACHINE).set_params(compute=Compute(client=client)).fit(_spread(), _spread(Y))
    assert np.array_equal(again.dual_coef_, machine.dual_coef_)
    with client.as_current():  # found, where none is given
        found = clone(MACHINE).fit(_spread(), Y)
        assert np.allclose(found.dual_coef_, alone.dual_coef_, rtol=1e-9)
        assert np.allclose(found.predict(_spread()).compute(), alone.predict(X))
    assert machine.score(_spread(), Y) == pytest.approx(alone.score(X, Y))


@pytest.mark.thorough
def test_states_stay_with_the_workers(client: Client) -> None:
    machine = mc.SVC(1.0, mc.Gaussian(0.3), centers=X[:30], compute=Compute(client=client))
    found = machine.fit(_spread(), _spread(Y > 0))
    wanted = mc.SVC(1.0, mc.Gaussian(0.3), centers=X[:30]).fit(X, Y > 0)
    assert np.allclose(found.decision_function(X), wanted.decision_function(X), atol=1e-2)


def test_a_client_is_no_part_of_what_is_saved(client: Client) -> None:
    compute = Compute(client=client, threads=1)
    assert deepcopy(compute).client is client
    assert pickle.loads(pickle.dumps(compute)) == Compute(threads=1)


@pytest.mark.thorough
def test_a_search_scores_its_candidates_on_the_workers(client: Client) -> None:
    grid = {"alpha": [0.01, 1.0], "kernel__gamma": [0.1, 1.0]}
    here = mc.KernelSearchCV(mc.KernelRidge(kernel=mc.Gaussian(0.1)), grid, cv=3).fit(X, Y)
    machine = mc.KernelRidge(kernel=mc.Gaussian(0.1), compute=Compute(client=client))
    heard: list[int] = []
    there = mc.KernelSearchCV(machine, grid, cv=3, progress=lambda told: heard.append(told["done"])).fit(X, Y)
    assert there.best_params_ == here.best_params_
    assert np.allclose(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], rtol=1e-10)
    assert heard[-1] == 12
    with pytest.raises(ValueError, match="alpha must be"):
        mc.KernelSearchCV(machine, {"alpha": [-1.0]}, cv=3).fit(X, Y)


def test_what_is_no_client_is_said() -> None:
    with pytest.raises(TypeError, match="Client\\(address_or_cluster\\)"):
        clone(MACHINE).set_params(compute=Compute(client="tcp://127.0.0.1:8786")).fit(_spread(), Y)


def test_a_closed_client_is_said() -> None:
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        closed = Client(cluster, set_as_default=False)
        closed.close()
    with pytest.raises(ClusterLost, match="closed: connect to a scheduler that runs"):
        clone(MACHINE).set_params(compute=Compute(client=closed)).fit(_spread(), Y)


@pytest.mark.thorough
def test_an_interrupt_cancels_the_tasks(client: Client) -> None:
    parts = Partitions(Workers(client), blocks_of(_spread(rows=200))[0])
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        parts.total("sleeping", _slow)
    assert time.perf_counter() - began < 10
    for _ in range(100):
        if not client.who_has():
            break
        time.sleep(0.1)
    assert not [key for key in client.who_has() if "sleeping" in str(key)]


def test_an_error_of_a_block_is_raised_here(client: Client) -> None:
    poisoned = X.copy()
    poisoned[100, 2] = np.inf
    with pytest.raises(ValueError, match="Block 1: Row 10"):
        clone(MACHINE).set_params(compute=Compute(client=client)).fit(_spread(poisoned), Y)


# -- processes ------------------------------------------------------------------------------------------------------

_ROWS = 20_000


def made(number: int) -> Any:
    """A block that a worker makes."""
    return np.random.default_rng(number).standard_normal((_ROWS, 20))


def answered(block: Any) -> Any:
    return np.sin(block[:, 0] * block[:, 1]) + 0.3 * block[:, 2] ** 2


def _made(blocks: int) -> tuple[Any, Any]:
    parts = [dask.delayed(made)(k) for k in range(blocks)]
    X = da.concatenate([da.from_delayed(part, (_ROWS, 20), np.float64) for part in parts])
    y = da.concatenate([da.from_delayed(dask.delayed(answered)(part), (_ROWS,), np.float64) for part in parts])
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, 100], ids=["80 000 rows", "2 000 000 rows"])
def test_a_killed_worker_changes_nothing(size: int) -> None:
    """Two processes, one of which is killed in the middle; and the memory that each has at most."""
    machine = mc.KernelRidge(1.0, mc.Gaussian(0.02), centers=made(10**6)[: 10 * size], tol=1e-10)
    X, y = _made(size)
    quiet = {"distributed.logging.distributed": "critical", "distributed.nanny.pre-spawn-environ.OMP_NUM_THREADS": 1}
    with (
        dask.config.set(quiet),
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="3GB", dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        whole = clone(machine).fit(X, y)
        peaks = client.run(mc.compute.peak_bytes)
        assert max(peaks.values()) < 1.5e9

        def kill() -> None:
            victim = next(iter(client.run(os.getpid).values()))
            os.kill(victim, signal.SIGKILL)

        heard: list[int] = []

        def told(state: dict[str, Any]) -> None:
            if state.get("n_iter", 0) >= 3 and not heard:
                heard.append(state["n_iter"])
                kill()

        hurt = clone(machine).set_params(progress=told).fit(X, y)
        assert heard
    assert np.abs(hurt.dual_coef_ - whole.dual_coef_).max() <= 1e-12 * np.abs(whole.dual_coef_).max()
    here = clone(machine).fit(np.concatenate([made(k) for k in range(size)]), y.compute(scheduler="threads"))
    assert np.abs(here.dual_coef_ - whole.dual_coef_).max() <= 1e-8 * np.abs(here.dual_coef_).max()
