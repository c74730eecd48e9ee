"""Products of large matrices and inverses of triangles: in tiles between which Ctrl-C is heard, on all threads with the
same bits for any number of them, and without copies of what is large.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from mercer.arrays import Array
from mercer.runtime import watch
from mercer.runtime.threads import Interrupted, run_tasks, stopping
from mercer.troubles import coded

_TILE = 1024  # rows and columns of a task, at most
_LEAST = 256
_OPERATIONS = 4e9  # between two looks: a tenth of a second
_BLOCK = 512  # rows of a triangle that LAPACK inverts in one call


def _cut(low: int, high: int, step: int) -> list[slice]:
    return [slice(i, min(i + step, high)) for i in range(low, high, step)]


def _tiles(n: int) -> list[slice]:
    """Four or more parts of n, where that is not small: they depend on n alone."""
    return _cut(0, n, min(_TILE, max(_LEAST, -(-n // 4))))


def _hear() -> None:
    if stopping():
        raise Interrupted
    watch.look("product")


def multiply(A: Array, B: Array, out: Array) -> None:
    """out ← A B on this thread, in pieces of a tenth of a second."""
    inner = max(1, A.shape[1])
    cols = min(B.shape[1], _TILE)
    for some in _cut(0, len(A), max(16, int(_OPERATIONS / (2 * inner * max(1, cols))))):
        for few in _cut(0, B.shape[1], _TILE):
            _hear()
            if out.dtype == A.dtype == B.dtype:
                np.matmul(A[some], B[:, few], out=out[some, few])
            else:
                out[some, few] = A[some] @ B[:, few]


def product(A: Array, B: Array, workers: int = 1, out: Array | None = None) -> Array:
    """A B, by strips of the rows of A."""
    out = np.empty((len(A), B.shape[1]), np.result_type(A, B)) if out is None else out
    run_tasks(lambda rows: multiply(A[rows], B, out[rows]), _cut(0, len(A), _TILE), workers, stage="product")
    return out


def inner(A: Array, workers: int = 1) -> Array:
    """A^T A, in tiles whose bits do not depend on the number of threads, between which Ctrl-C is heard."""
    out = np.zeros((A.shape[1], A.shape[1]), A.dtype)
    add_inner(out, A, workers)
    return mirrored(out)


def add_inner(out: Array, A: Array, workers: int = 1, scale: Array | None = None) -> None:
    """Add A^T A to what ``out`` holds on and below its diagonal, without a copy of A; with ``scale``, of its rows times
    these numbers.
    """
    tiles, strips = _tiles(A.shape[1]), _cut(0, len(A), _TILE)

    def scaled(rows: slice, cols: slice) -> Array:
        return A[rows, cols] if scale is None else A[rows, cols] * scale[rows, None]

    def task(tile: tuple[slice, slice]) -> None:
        rows, cols = tile
        part = out[rows, cols]
        for some in strips:
            _hear()
            left = scaled(some, rows)
            part += left.T @ (left if rows == cols else scaled(some, cols))

    run_tasks(task, [(rows, cols) for k, rows in enumerate(tiles) for cols in tiles[: k + 1]], workers, stage="product")


def mirrored(A: Array) -> Array:
    """What is on and below the diagonal, above it too; in the memory of A."""
    tiles = _cut(0, len(A), _TILE)
    for k, rows in enumerate(tiles):
        for cols in tiles[:k]:
            A[cols, rows] = A[rows, cols].T
        block = A[rows, rows]
        above = np.triu_indices(len(block), 1)
        block[above] = block.T[above]
    return A


def triangular_inverse(L: Array, workers: int = 1) -> Array:
    """L^−1 of a lower triangle, zeros above its diagonal; block row by block row, X_i = −L_ii^−1 Σ_k L_ik X_k."""
    m = len(L)
    out = np.zeros(L.shape, L.dtype)  # what is above the diagonal is never touched
    invert = linalg.lapack.get_lapack_funcs("trtri", (L,))
    for rows in _cut(0, m, _BLOCK):
        corner, info = invert(np.tril(L[rows, rows]), lower=1)
        if info != 0:
            raise np.linalg.LinAlgError(
                coded(f"The triangle has a zero on its diagonal, at row {rows.start + int(info) - 1}.", "M307")
            )
        out[rows, rows] = corner

        def task(cols: slice, rows: slice = rows, corner: Array = corner) -> None:
            total = np.zeros((rows.stop - rows.start, cols.stop - cols.start), L.dtype)
            for some in _cut(cols.start, rows.start, 2 * _TILE):
                _hear()
                total += L[rows, some] @ out[some, cols]
            np.matmul(-corner, total, out=out[rows, cols])

        run_tasks(task, _cut(0, rows.start, _BLOCK), workers, stage="inverse")
    return out
