"""The Gram of counts: K = diag(u) C D^T diag(v) for sparse matrices of whole numbers, u and v what normalisation makes of their rows.

Counts are exact in float32, so one copy of them serves every precision; products add up in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer import backend, threads
from mercer.backend import Array, Compute, dot, sqnorm
from mercer.data import Coded, chunks, take
from mercer.data.coded import row_norms, together
from mercer.engine.tiles import same_selection
from mercer.gram import KernelGram, LowRankGram, as_index
from mercer.threads import cached_property

_PARTS = 8  # of the rows, whose sums of columns are added up apart


class CountsGram(LowRankGram):
    """Features that are counts, times a number for each row."""

    fixed = False

    def __init__(self, left: Any, right: Any, scales: tuple[Any, Any], compute: Compute, dtype: Any, diagonal: Any = None) -> None:
        self.left, self.right, self.scales, self.compute = left, right, scales, compute
        self.diagonal = diagonal if right is left else None
        self.shape, self.dtype = (left.shape[0], right.shape[0]), np.dtype(dtype)

    @classmethod
    def of(cls, sides: list[Any], compute: Compute, dtype: Any, diagonal: Any = None) -> CountsGram:
        """From one set of counts, or two, each with numbers for its rows (None: 1)."""
        places, width = together([counts for counts, _ in sides])
        made = [_csr(counts, p, width) for (counts, _), p in zip(sides, places, strict=True)]
        numbers = [np.ones(counts.shape[0]) if u is None else np.asarray(u, np.float64) for counts, u in sides]
        return cls(made[0], made[-1], (numbers[0], numbers[-1]), compute, dtype, diagonal)

    @cached_property
    def _numbered(self) -> tuple[Any, Any]:
        """The features themselves, for whoever wants to see them."""
        left = _scaled(self.left, self.scales[0], self.dtype)
        return left, left if self.right is self.left else _scaled(self.right, self.scales[1], self.dtype)

    @property
    def rows_and_scale(self) -> tuple[Any, Array]:
        return self.left, self.scales[0]

    @property
    def width(self) -> int:
        return int(self.left.shape[1])

    @property
    def T(self) -> LowRankGram:
        return self if self.right is self.left else CountsGram(self.right, self.left, self.scales[::-1], self.compute, self.dtype)

    def sub(self, rows: Any, cols: Any) -> CountsGram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        left = _taken(self.left, rows)
        same = self.right is self.left and same_selection(rows, cols, self.shape[0])
        right = left if same else _taken(self.right, cols)
        diagonal = take(self.diagonal, rows) if same and self.diagonal is not None else None
        return CountsGram(left, right, (take(self.scales[0], rows), take(self.scales[1], cols)), self.compute, self.dtype, diagonal)

    def astype(self, dtype: Any) -> CountsGram:
        same = np.dtype(dtype) == self.dtype
        return self if same else CountsGram(self.left, self.right, self.scales, self.compute, dtype, self.diagonal)

    def diag(self) -> Array:
        if self.diagonal is not None:
            return np.asarray(self.diagonal, self.dtype)
        if self.right is self.left:
            return (row_norms(self.left.data, self.left.indptr) * self.scales[0] ** 2).astype(self.dtype)
        n = min(self.shape)
        values = np.asarray(self.left[:n].astype(np.float64).multiply(self.right[:n]).sum(axis=1)).reshape(-1)
        return (values * self.scales[0][:n] * self.scales[1][:n]).astype(self.dtype)

    def _lazy(self) -> KernelGram:
        compute = Compute(**{**self.compute.__dict__, "dtype": self.dtype.name})
        if self.right is not self.left:
            return KernelGram.of(_Scaled, (self.left, self.scales[0]), (self.right, self.scales[1]), compute, name=self.name)
        return KernelGram.of(_Scaled, items := (self.left, self.scales[0], self.diag()), items, compute, name=self.name)

    def _product(self, V: Array) -> Array:
        u, v = self.scales
        sums = 8 * max(1, self.width)  # bytes of the sums of one column of V and one part of the rows
        parts = int(np.clip(self.compute.budget // (8 * sums), 1, _PARTS))
        out = np.empty((self.shape[0], V.shape[1]))
        for some in chunks(V.shape[1], max(1, int(self.compute.budget // (8 * sums * (parts + 1))))):
            W = transposed_product(self.right, v[:, None] * np.asarray(V[:, some], np.float64), parts, self.compute.workers)
            out[:, some] = u[:, None] * product(self.left, W, self.compute.workers)
        return out


class _Scaled:
    """⟨c, d⟩ u v as the formula of counts, numbers for their rows, and, of one set, their known values with themselves."""

    @staticmethod
    def _block(A: Any, B: Any) -> Any:
        return dot(A[0], B[0]) * A[1] * B[1]

    @staticmethod
    def _diag(A: Any) -> Any:
        return A[2] if len(A) > 2 else sqnorm(A[0]) * A[1] * A[1]


def _csr(counts: Coded, places: Any, width: int) -> Any:
    made = sparse.csr_array((counts.shape[0], max(1, width)), dtype=np.float32)
    made.data, made.indices = counts.values.astype(np.float32), places  # as they are: the constructor would copy what it checks
    made.indptr = counts.offsets.astype(np.int32 if len(places) < 2**31 else np.int64)
    made.distinct = True  # no column twice in a row, in whatever order
    return made


def _scaled(C: Any, scale: Array, dtype: Any) -> Any:
    return sparse.csr_array(sparse.diags_array(scale) @ C.astype(np.float64)).astype(dtype)


def _taken(C: Any, rows: Any) -> Any:
    part = take(C, rows)
    part.distinct = True
    return part


def product(C: Any, V: Array, workers: int) -> Array:
    """C V in float64."""
    out = np.zeros((C.shape[0], V.shape[1]))
    loop = backend.compiled(_product_loop)

    def task(rows: slice) -> None:
        loop(C.indptr[rows.start : rows.stop + 1], C.indices, C.data, V, out[rows])

    threads.run_tasks(task, chunks(C.shape[0], max(1, -(-C.shape[0] // 32))), workers, blas=False)
    return out


def transposed_product(C: Any, V: Array, count: int, workers: int) -> Array:
    """C^T V in float64: so many parts of the rows apart, added up in their order, so that threads do not change a bit."""
    parts = chunks(C.shape[0], max(1, -(-C.shape[0] // count)))
    sums: list[Any] = [None] * len(parts)
    loop = backend.compiled(_transposed_loop)

    def task(p: int) -> None:
        rows, total = parts[p], np.zeros((C.shape[1], V.shape[1]))
        loop(C.indptr[rows.start : rows.stop + 1], C.indices, C.data, V[rows], total)
        sums[p] = total

    threads.run_tasks(task, range(len(parts)), workers, blas=False)
    return sum(sums[1:], sums[0]) if sums else np.zeros((C.shape[1], V.shape[1]))


def _product_loop(indptr, indices, data, V, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        for m in range(out.shape[1]):
            total = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                total += data[k] * V[indices[k], m]
            out[i, m] = total


def _transposed_loop(indptr, indices, data, V, out):  # type: ignore[no-untyped-def]
    for i in range(len(V)):
        for m in range(V.shape[1]):
            x = V[i, m]
            if x != 0:
                for k in range(indptr[i], indptr[i + 1]):
                    out[indices[k], m] += data[k] * x
