"""How fast this machine is: measured once for each process, a few hundredths of a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer.native.linalg import ALONE, tridiagonal
from mercer.runtime.threads import run_tasks, single_threaded_blas

_ROWS = 640  # of the matrices that are multiplied
_EFFICIENCY = 0.6  # of products inside of other things
_DIAGONAL = 6e-6  # seconds for a row of a factor
_FEW = 400  # of the one that is decomposed
_WALL = 3.0  # how much slower a decomposition is that does not fit in the cache: half of it is products with vectors
_BYTES = 32 * 2**20
_LOOK = 0.05  # seconds


@dataclass(frozen=True)
class Speed:
    """Of all threads together: operations a second of products of matrices in float32 and in float64, and of a
    decomposition; bytes a second that are read, and that are written to memory never used before.
    """

    single: float
    double: float
    decompose: float
    read: float
    write: float
    workers: int

    def factor(self, n: float, dtype: DTypeLike = np.float64) -> float:
        """Seconds of a Cholesky factor of n rows: products, and blocks on the diagonal."""
        rate = self.single if np.dtype(dtype) == np.float32 else self.double
        return n**3 / 3 / (_EFFICIENCY * rate) + _DIAGONAL * n

    def products(self, operations: float) -> float:
        """Seconds of products of matrices in float64, of so many multiplications and additions."""
        return operations / (_EFFICIENCY * self.double)

    def tridiagonal(self, n: float) -> float:
        """Seconds until a symmetric matrix has two diagonals, with the rotations that make it so."""
        return 8 / 3 * n**3 / self.decompose * (1.0 if n < ALONE else _WALL)

    def eigen(self, n: float) -> float:
        """Seconds of all eigenvectors: those, and about as much for those of the two diagonals."""
        return 2.0 * 8 / 3 * n**3 / self.decompose * min(_WALL, max(1.0, n / _FEW))

    def reading(self, size: float) -> float:
        return size / self.read

    def writing(self, size: float) -> float:
        return size / self.write


def quickest(work: Callable[[], Any], times: int = 4) -> float:
    """Seconds of the quickest of a few runs, or those of the processor where they are fewer: others use the machine
    too, of which ``share`` knows.
    """
    found = []
    for _ in range(times):
        start, busy = time.perf_counter(), time.process_time()
        work()
        found.append(min(time.perf_counter() - start, time.process_time() - busy))
    return max(min(found), 1e-9)


def share(workers: int) -> float:
    """The part of so many cores that this process gets now, beside all others."""
    start, busy = time.perf_counter(), time.process_time()
    values = np.ones(2**16)

    def task(_: int) -> None:
        while time.perf_counter() - start < _LOOK:
            for _ in range(20):
                values.sum()

    run_tasks(task, range(workers), workers)
    return float(np.clip((time.process_time() - busy) / (time.perf_counter() - start) / workers, 0.05, 1.0))


@cache
def speed(workers: int) -> Speed:
    """Of so many threads, from one: that is measured in seconds of the processor, whatever others do."""
    rates = {}
    with single_threaded_blas():
        for dtype in (np.float32, np.float64):
            A = np.ones((_ROWS, _ROWS), dtype)
            room = np.empty_like(A)
            multiply = partial(np.matmul, A, A, out=room)
            multiply()
            rates[dtype] = workers * 2 * _ROWS**3 / quickest(multiply)
        small = np.ones((_FEW, _FEW)) + _FEW * np.eye(_FEW)
        decompose = 8 / 3 * _FEW**3 / quickest(lambda: tridiagonal(small.copy()))
        values = np.ones(_BYTES // 8)
        read = _BYTES / quickest(values.sum)
        write = _BYTES / quickest(lambda: np.zeros(_BYTES // 8).fill(1.0), 2)
    return Speed(rates[np.float32], rates[np.float64], decompose, read, write, workers)
