"""Promise: on a cluster of two worker processes, ridge with 1000 centers grows with the rows at most as n^1.1, takes at
most a quarter longer than the solver of one machine at n = 10⁶, keeps every process below 1.5 GB, and sends in each
step just what docs/cluster.md says.

Rows are made on the workers, d = 20, in blocks of 62 500. Bytes are those that all processes, the scheduler and the
client among them, write to their connections between two steps.
"""

from __future__ import annotations

import math
import resource
import time
from typing import Any

import numpy as np
from measure import QUICK, interleaved, judged, promise, sized, skipped, table

import mercer as mc

try:
    import dask
    import dask.array as da
    from dask.distributed import Client, LocalCluster
except ImportError:  # the extra "cluster"
    dask = None

D, M, WORKERS = 20, 1000, 2
ROWS = sized(62_500, 5000)  # of a block
SIZES = [sized(n, n // 50) for n in (100_000, 1_000_000, 4_000_000)]


def block(number: int, rows: int, d: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal((rows, d))


def target(X: np.ndarray, number: int) -> np.ndarray:
    noise = np.random.default_rng(10_000 + number).standard_normal(len(X))
    return np.sin(X[:, 0] * X[:, 1]) + 0.3 * X[:, 2] ** 2 + 0.1 * noise


def spread(n: int, rows: int) -> tuple[Any, Any]:
    """(X, y), whose blocks are made where they are needed."""
    blocks = [dask.delayed(block)(k, min(rows, n - k * rows), D) for k in range(-(-n // rows))]
    sizes = [min(rows, n - k * rows) for k in range(len(blocks))]
    X = da.concatenate([da.from_delayed(b, (size, D), float) for b, size in zip(blocks, sizes, strict=True)])
    y = da.concatenate(
        [
            da.from_delayed(dask.delayed(target)(b, k), (size,), float)
            for k, (b, size) in enumerate(zip(blocks, sizes, strict=True))
        ]
    )
    return X, y


def in_memory(n: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    parts = [block(k, min(rows, n - k * rows), D) for k in range(-(-n // rows))]
    return np.concatenate(parts), np.concatenate([target(X, k) for k, X in enumerate(parts)])


def machine(m: int = M, **options: Any) -> mc.KernelRidge:
    return mc.KernelRidge(1.0, mc.Gaussian(0.02), centers=block(10**6, m, D), **{"tol": 1e-9, **options})


def warm() -> None:
    """What a process compiles once."""
    X = block(0, 500, D)
    machine(20).fit(X, target(X, 0))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def count_bytes() -> None:
    """From now on each message that this process writes is noted, with its time and bytes."""
    from distributed.comm.tcp import TCP

    write, TCP.noted = TCP.write, []

    async def noted(self: Any, *args: Any, **options: Any) -> int:
        size = await write(self, *args, **options)
        TCP.noted.append((time.time(), size))
        return size

    TCP.write = noted


def bytes_between(begin: float, end: float) -> int:
    from distributed.comm.tcp import TCP

    return sum(size for at, size in TCP.noted if begin <= at < end)


def growth(client: Any) -> None:
    print(f"\nridge with {M} centers on {WORKERS} processes, to a residual of 1e-9")
    seconds = []
    for n in SIZES:
        X, y = spread(n, ROWS)
        start = time.perf_counter()
        found = machine().fit(X, y)
        seconds.append(time.perf_counter() - start)
        print(f"  n = {n:>9,}: {seconds[-1]:7.2f} s, {found.n_iter_} steps, {1e9 * seconds[-1] / n:7.0f} ns a row")
    workers = max(client.run(peak).values())
    print(f"  peak: {workers:.2f} GB of a worker, {peak():.2f} GB here")
    slopes = np.diff(np.log(seconds)) / np.diff(np.log(SIZES))
    whole = math.log(seconds[-1] / seconds[0]) / math.log(SIZES[-1] / SIZES[0])
    print(f"  slopes of log time: {slopes[0]:.2f}, {slopes[1]:.2f}")
    promise("growth with n, slope of log time", max(whole, *slopes), at_most=1.1, unit="")
    promise("peak of a process", max(workers, peak()), at_most=1.5, unit="GB")


def overhead() -> None:
    n = SIZES[1]
    (X, y), (A, b) = spread(n, ROWS), in_memory(n, ROWS)
    times = interleaved(
        {"two worker processes": lambda: machine().fit(X, y), "one machine": lambda: machine().fit(A, b)}, rounds=3
    )
    ratios = table(f"ridge with {M} centers, n = {n:,}", times, "one machine")
    promise("time on the cluster over that of one machine", ratios["two worker processes"], at_most=1.25)


def wire(client: Any) -> None:
    """Vectors of the landmarks that travel in a step, and bytes of Dask's own messages: the bytes of a step are a
    straight line in m. Without work stealing, which moves blocks where a worker is idle because the machine is busy.
    """
    blocks, first, last = 16, 3, 13
    places = sorted(client.nthreads())
    X = [client.submit(block, k, 2000, D, workers=places[k % WORKERS]) for k in range(blocks)]
    y = [client.submit(target, rows, k, workers=places[k % WORKERS]) for k, rows in enumerate(X)]
    sent = {}
    for m in (1000, 4000):
        begun: dict[int, float] = {}
        machine(
            m, tol=1e-16, max_iter=last, progress=lambda p, at=begun: at.setdefault(p.get("n_iter", 0), time.time()) < 0
        ).fit(X, y)
        window = begun[first], begun[last]
        all_bytes = bytes_between(*window) + sum(client.run(bytes_between, *window).values())
        sent[m] = all_bytes / (last - first)
    vectors = (sent[4000] - sent[1000]) / (8 * 3000)
    own = sent[1000] - 8 * 1000 * vectors
    said = WORKERS + 3 + blocks * (1 - 1 / WORKERS)
    print(f"\na step with {blocks} blocks on {WORKERS} workers: {vectors:.2f} m-vectors, {own / 1000:.1f} kB beside")
    print(f"  bytes at m = 1000: {sent[1000]:,.0f}, at m = 4000: {sent[4000]:,.0f}; said: {said:.0f} m-vectors")
    promise("m-vectors that travel in a step, over what is said", vectors / said, at_most=1.05)
    promise("m-vectors that travel in a step, over what is said", vectors / said, at_least=0.95)
    promise("Dask's own messages, of a block", own / blocks, at_most=5000, unit="bytes")


def main() -> None:
    if dask is None:
        skipped("dask")
        return
    options = {"n_workers": WORKERS, "threads_per_worker": 1, "memory_limit": "4GB", "dashboard_address": None}
    warm()
    if not QUICK:
        count_bytes()
        with (
            dask.config.set({"distributed.scheduler.work-stealing": False}),
            LocalCluster(**options) as cluster,
            Client(cluster) as client,
        ):
            client.run(warm)
            client.run(count_bytes)
            wire(client)
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(warm)
        growth(client)
        overhead()


if __name__ == "__main__":
    judged(main)
