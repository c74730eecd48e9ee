"""How fast this machine is: measured once for each process, a few hundredths of a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from mercer.native.linalg import cholesky, inner_products, tridiagonal

_ROWS = 1024  # of the matrix that is factored
_FEW = 400  # of the one that is decomposed
_WALL = 3.0  # how much slower a decomposition is that does not fit in the cache: half of it is products with vectors
_BYTES = 32 * 2**20


@dataclass(frozen=True)
class Speed:
    """Operations a second of a Cholesky factor in float32 and in float64, of products of matrices, and of a
    decomposition; bytes a second that are read, and that are written to memory never used before.
    """

    single: float
    double: float
    multiply: float
    decompose: float
    read: float
    write: float

    def factor(self, n: float, dtype: Any = np.float64) -> float:
        """Seconds of a Cholesky factor of n rows."""
        return n**3 / 3 / (self.single if np.dtype(dtype) == np.float32 else self.double)

    def products(self, operations: float) -> float:
        """Seconds of products of matrices of so many multiplications and additions."""
        return operations / self.multiply

    def tridiagonal(self, n: float) -> float:
        """Seconds until a symmetric matrix has two diagonals, with the rotations that make it so."""
        return 8 / 3 * n**3 / self.decompose * min(_WALL, max(1.0, n / _FEW))

    def eigen(self, n: float) -> float:
        """Seconds of all eigenvectors: those, and about half as much for those of the two diagonals."""
        return 2.0 * self.tridiagonal(n)

    def reading(self, size: float) -> float:
        return size / self.read

    def writing(self, size: float) -> float:
        return size / self.write


def quickest(work: Callable[[], Any], times: int = 3) -> float:
    """Seconds of the quickest of a few runs: others use the machine too."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return max(min(found), 1e-9)


@cache
def speed(workers: int) -> Speed:
    """Of so many threads."""
    rates = {}
    for dtype in (np.float32, np.float64):
        K = np.full((_ROWS, _ROWS), 0.5, dtype)
        K[np.arange(_ROWS), np.arange(_ROWS)] = _ROWS
        room = K.copy()

        def work(K: Any = K, room: Any = room) -> None:
            np.copyto(room, K)
            cholesky(room, workers)

        work()
        rates[dtype] = _ROWS**3 / 3 / quickest(work)
    A = np.ones((2 * _ROWS, _ROWS // 2))
    multiply = A.shape[0] * A.shape[1] ** 2 * 2 / quickest(lambda: inner_products(A, workers), 2)
    small = np.ones((_FEW, _FEW)) + _FEW * np.eye(_FEW)
    decompose = 8 / 3 * _FEW**3 / quickest(lambda: tridiagonal(small.copy()))
    room = np.ones(_BYTES // 8)
    read = _BYTES / quickest(room.sum)
    write = _BYTES / quickest(lambda: np.zeros(_BYTES // 8).fill(1.0), 2)
    return Speed(rates[np.float32], rates[np.float64], multiply, decompose, read, write)
