"""Factorisations of large symmetric matrices: in place, on all threads with the same bits for any number of them,
stopped by Ctrl-C.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext

import numpy as np
from scipy import linalg

from mercer import arrays
from mercer.arrays import Array
from mercer.native import lapack, products
from mercer.runtime import threads, watch
from mercer.runtime.threads import Interrupted, run_tasks, stopping

_BASE = 256  # rows that LAPACK factors in one call
_WHOLE = 1024  # rows of a matrix that it factors as a whole: in some milliseconds, less than a second thread would save
_TILE = 1024  # rows and columns of one task
_FELT = 2500  # rows of a system whose solution may be felt
ALONE = 4000  # rows of a matrix that one thread makes tridiagonal


class NotPositive(ValueError):
    """The matrix is not positive definite in its precision; ``pivot`` is the row where that showed."""

    def __init__(self, pivot: int) -> None:
        super().__init__(
            f"The kernel matrix plus the ridge is not positive definite, which shows at row {pivot}. Raise alpha; if"
            " the kernel is not positive semi-definite on these data, use kernel.repaired('clip')."
        )
        self.pivot = pivot


def cholesky(A: Array, workers: int = 1) -> Array:
    """L with L L^T = A, written over the lower triangle of A, which it is given alone; what is above the diagonal is of
    no use afterwards.

    By halves: [L₁, 0; A₂₁L₁^−T, chol(A₂₂ − L₂₁L₂₁^T)], so that nearly all is products of large tiles, dealt to the
    threads in pieces that depend on n alone: the bits are the same for any number of threads, and Ctrl-C waits for one
    tile. LAPACK's own is 1.2–1.4 times as fast and neither. Raises NotPositive where there is no L.
    """
    if arrays.is_tensor(A):
        factor, info = arrays.namespace(A).linalg.cholesky_ex(A)
        if int(info) != 0:
            raise NotPositive(int(info) - 1)
        return factor
    with threads.single_threaded_blas():
        if len(A) <= _WHOLE and A.flags.c_contiguous:
            _factored_whole(A)
        else:
            _Cholesky(A, workers).factor(0, len(A))
    return A


def _factored_whole(A: Array) -> None:
    """By one call of LAPACK, to which the lower triangle of a C-ordered matrix is the upper one of its own order."""
    factor, info = linalg.lapack.get_lapack_funcs("potrf", (A,))(A.T, lower=0, clean=0, overwrite_a=1)
    if info != 0:
        raise NotPositive(int(info) - 1)
    if not np.isfinite(known := np.diagonal(factor)).all():  # LAPACK may pass NaN on
        raise NotPositive(int(np.argmin(np.isfinite(known))))
    if not np.shares_memory(factor, A):
        A[...] = factor.T


def lower_triangle(L: Array) -> Array:
    """L with zeros above its diagonal, in its memory."""
    for i in range(0, len(L), _TILE):
        rows = slice(i, min(i + _TILE, len(L)))
        L[rows, rows.stop :] = 0.0
        L[rows, rows] = np.tril(L[rows, rows])
    return L


def is_positive(A: Array) -> bool:
    """Whether a small symmetric matrix is positive definite: whether it has a Cholesky factor."""
    with threads.single_threaded_if_small(len(A)):
        factor, info = linalg.lapack.dpotrf(A, lower=1)
    return info == 0 and bool(np.isfinite(np.diagonal(factor)).all())


class _Cholesky:
    def __init__(self, A: Array, workers: int) -> None:
        self.A, self.workers = A, workers
        self.potrf, self.trtri = linalg.lapack.get_lapack_funcs(("potrf", "trtri"), (A,))
        self.inverses: dict[int, Array] = {}  # of the blocks on the diagonal, by their first row
        self.room = threading.local()

    def factor(self, low: int, high: int) -> None:
        """The block of rows and columns low…high, from which all before has been subtracted."""
        if high - low <= _BASE:
            factor, info = self.potrf(self.A[low:high, low:high], lower=1, clean=1)
            if info != 0:
                raise NotPositive(low + int(info) - 1)
            if not np.isfinite(factor).all():  # LAPACK may pass NaN on
                raise NotPositive(low + int(np.argmin(np.isfinite(factor).all(axis=1))))
            self.A[low:high, low:high] = factor
            self.inverses[low] = self.trtri(factor, lower=1)[0]
            return
        middle = _middle(low, high)
        self.factor(low, middle)
        run_tasks(
            lambda rows: self.divide(rows, low, middle),
            _cut(middle, high, 8, 128, _TILE // 2),
            self.workers,
            stage="factorisation",
        )
        tiles = _cut(middle, high, 4, 256, _TILE)
        below = [(rows, cols) for k, rows in enumerate(tiles) for cols in tiles[: k + 1]]
        run_tasks(
            lambda tile: self.subtract(tile[0], tile[1], slice(low, middle)), below, self.workers, stage="factorisation"
        )
        self.factor(middle, high)

    def known(self) -> None:
        """A is L already."""
        for low in range(0, len(self.A), _BASE):
            block = self.A[low : low + _BASE, low : low + _BASE]
            self.inverses[low] = self.trtri(np.tril(block), lower=1)[0]

    def divide(self, rows: slice, low: int, high: int) -> None:
        """A[rows, low:high] ← A[rows, low:high] L^−T, L the block low…high."""
        self.divided(self.A[rows], low, high)

    def divided(self, B: Array, low: int, high: int) -> None:
        """The same for rows B that need not be of A."""
        if high - low <= _BASE:
            part = B[:, low:high]
            part[...] = np.matmul(part, self.inverses[low].T, out=self._room(part.shape))
            return
        middle = _middle(low, high)
        self.divided(B, low, middle)
        self.subtracted(B, slice(middle, high), slice(low, middle))
        self.divided(B, middle, high)

    def subtract(self, rows: slice, cols: slice, inner: slice) -> None:
        """A[rows, cols] −= A[rows, inner] A[cols, inner]^T, in pieces of a tenth of a second."""
        self.subtracted(self.A[rows], cols, inner)

    def subtracted(self, B: Array, cols: slice, inner: slice) -> None:
        """B[:, cols] −= B[:, inner] A[cols, inner]^T."""
        for some in _cut(cols.start, cols.stop, 1, _TILE, _TILE):
            part = B[:, some]
            for few in _cut(inner.start, inner.stop, 1, _TILE, 2 * _TILE):
                if stopping():
                    raise Interrupted
                watch.look("factorisation")
                part -= np.matmul(B[:, few], self.A[some, few].T, out=self._room(part.shape))

    def _room(self, shape: tuple[int, ...]) -> Array:
        """Memory of this thread for a product: fresh memory would cost more than the product saves."""
        count = shape[0] * shape[1]
        if getattr(self.room, "values", np.empty(0)).size < count:
            self.room.values = np.empty(max(count, _TILE * _TILE), self.A.dtype)
        return self.room.values[:count].reshape(shape)


def _middle(low: int, high: int) -> int:
    """Half way, at a multiple of the base from ``low``."""
    return low + _BASE * (((high - low) // _BASE + 1) // 2)


def _cut(low: int, high: int, parts: int, least: int, most: int) -> list[slice]:
    step = min(max(-(-(high - low) // parts), least), most)
    return [slice(i, min(i + step, high)) for i in range(low, high, step)]


def congruence(P: Array, s: Array, workers: int = 1) -> Array:
    """P diag(s) P of a symmetric P: one half and its mirror, in tiles between which Ctrl-C is heard."""
    n, scaled = len(P), P * s
    if n <= _TILE // 2:
        return np.asarray(scaled @ P)
    out = np.empty((n, n), P.dtype)
    tiles = _cut(0, n, 1, _TILE // 2, _TILE // 2)

    def task(tile: tuple[slice, slice]) -> None:
        rows, cols = tile
        part = scaled[rows] @ P[:, cols]
        out[rows, cols] = part
        out[cols, rows] = part.T

    run_tasks(task, [(rows, cols) for k, rows in enumerate(tiles) for cols in tiles[: k + 1]], workers, stage="product")
    return out


def whitened(A: Array, L: Array, workers: int = 1) -> Array:
    """L^−1 A L^−T in the memory of a symmetric A, on and below the diagonal; L as ``cholesky`` leaves it."""
    n, by = len(L), _Cholesky(L, workers)
    by.known()

    def divide(rows: slice, columns: int) -> None:
        by.divided(A[rows], 0, columns)

    with threads.single_threaded_blas():
        pieces = _cut(0, n, 8, 128, _TILE // 2)
        run_tasks(lambda rows: divide(rows, n), pieces, workers, stage="factorisation")
        _transpose(A)
        # of the second division the part on and below the diagonal
        run_tasks(
            lambda rows: divide(rows, min(n, -(-rows.stop // _BASE) * _BASE)), pieces, workers, stage="factorisation"
        )
    return A


def _transpose(A: Array) -> None:
    tiles = _cut(0, len(A), 1, _TILE, _TILE)
    for k, rows in enumerate(tiles):
        A[rows, rows] = A[rows, rows].T.copy()
        for cols in tiles[:k]:
            below = A[rows, cols].copy()
            A[rows, cols] = A[cols, rows].T
            A[cols, rows] = below.T


def symmetric_root(M: Array) -> Array:
    """M^½ of a small positive semi-definite matrix: symmetric, and itself positive semi-definite."""
    values, vectors = np.linalg.eigh(M)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def symmetric_part(A: Array) -> Array:
    """(A + A^T)/2, in the memory of A, in tiles between which Ctrl-C is heard."""
    tiles = _cut(0, len(A), 1, _TILE, _TILE)
    for k, rows in enumerate(tiles):
        for cols in tiles[: k + 1]:
            watch.look("symmetric part")
            half = (A[rows, cols] + A[cols, rows].T) / 2
            A[rows, cols], A[cols, rows] = half, half.T
    return A


def cholesky_solve(L: Array, B: Array) -> Array:
    """(L L^T)^−1 B, L as ``cholesky`` leaves it."""
    if arrays.is_tensor(L):
        xp = arrays.namespace(L)
        half = xp.linalg.solve_triangular(L, arrays.astype(arrays.like(B, L), arrays.numpy_dtype(L)), upper=False)
        return xp.linalg.solve_triangular(L.T, half, upper=True)
    with threads.single_threaded_blas():
        if len(L) >= _FELT:
            return lapack.potrs(L, np.array(B, L.dtype, order="F"))
        solve = linalg.lapack.get_lapack_funcs("potrs", (L,))
        # the transposed of a C-ordered matrix is what LAPACK calls upper, without a copy
        x, info = solve(L.T, np.asfortranarray(B, L.dtype), lower=0, overwrite_b=0)
    assert info == 0
    return np.asarray(x)


def triangular_solve(L: Array, B: Array, *, transposed: bool = False) -> Array:
    """L^−1 B, or L^−T B; L as ``cholesky`` leaves it."""
    if arrays.is_tensor(L):
        right = arrays.astype(arrays.like(B, L), arrays.numpy_dtype(L))
        return arrays.namespace(L).linalg.solve_triangular(L.T if transposed else L, right, upper=transposed)
    if len(L) >= _FELT or len(L) ** 2 * np.size(B) > _FELT**3:
        return lapack.trtrs(np.ascontiguousarray(L), np.array(B, L.dtype, order="F"), transposed=transposed)
    trans = "N" if transposed else "T"
    return np.asarray(
        linalg.solve_triangular(L.T, np.asarray(B, L.dtype), trans=trans, lower=False, check_finite=False)
    )


def inverse(L: Array) -> Array:
    """(L L^T)^−1 as a full matrix, in the memory of L; L as ``cholesky`` leaves it."""
    if arrays.is_tensor(L):
        return arrays.namespace(L).cholesky_inverse(L)
    with threads.single_threaded_if_small(len(L)):
        out = lapack.potri(np.ascontiguousarray(L))  # the lower triangle is the inverse's
    upper = np.triu_indices(len(out), 1) if len(out) <= 256 else None
    if upper is not None:
        out[upper] = out.T[upper]
        return out
    for i in range(0, len(out), _BASE):
        rows = slice(i, min(i + _BASE, len(out)))
        out[rows, rows.stop :] = out[rows.stop :, rows].T
        corner = out[rows, rows]
        corner[...] = np.where(np.tri(len(corner), dtype=bool), corner, corner.T)
    return out


def eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues, rising, and eigenvectors of a symmetric matrix, which may be overwritten."""
    if arrays.is_tensor(A):
        values, vectors = arrays.namespace(A).linalg.eigh(A)
        return values, vectors
    if len(A) >= lapack.LARGE and A.dtype.kind == "f":
        return lapack.eigh(A if A.strides[1] == A.itemsize <= A.strides[0] else np.array(A, order="C"))
    with threads.single_threaded_if_small(len(A)):
        values, vectors = linalg.eigh(
            A.T, lower=True, overwrite_a=True, driver="evr" if len(A) < 64 else "evd", check_finite=False
        )
    return values, vectors


def eigenvalues(A: Array) -> Array:
    """The eigenvalues of a symmetric matrix, rising."""
    with threads.single_threaded_if_small(len(A)):
        return lapack.unhurried(len(A), lambda: np.linalg.eigvalsh(A), "eigenvalues")


def tridiagonal(A: Array, before: Array | None = None) -> tuple[Array, Array, Array]:
    """(main, beside, Q^T) with A = Q T Q^T, T of two diagonals; A, of at least 3 rows, may be overwritten.

    ``before``, a unit vector v of one more entry with v_0 > 0: A is a part of (I − 2vv^T) B (I − 2vv^T) without its
    first row and column, and Q is returned in the coordinates of B. The reflection is one more of those that Q is made
    of, so that costs nothing.
    """
    n, shift = len(A), 0 if before is None else 1
    # half of it is products with vectors, at which a second thread of BLAS waits more than it works: where others want
    # the cores, ten times as long
    with threads.single_threaded_blas() if n < ALONE else nullcontext():
        reflectors, main, beside, tau = lapack.sytrd(np.ascontiguousarray(A))
        all_of_them, taus = np.zeros((n + shift, n + shift), order="F"), np.zeros(n + shift)
        all_of_them[1 + shift :, 1 + shift :], taus[1 + shift :] = reflectors[1:, :-1], tau
        if before is not None:
            all_of_them[:, 0], taus[0] = before / before[0], 2 * before[0] ** 2
        q = lapack.orgqr(all_of_them, taus)
    return main, beside, q.T[shift:]


def signs(vectors: Array) -> Array:
    """±1 for each column: what makes its largest entry positive."""
    if not vectors.size:
        return np.ones(vectors.shape[1])
    largest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(vectors.shape[1])]
    return np.where(largest < 0, -1.0, 1.0)


def signed(vectors: Array) -> Array:
    """Each column with the sign that makes its largest entry positive."""
    return vectors * signs(vectors)


def centred(K: Array) -> Array:
    """HKH of a symmetric matrix, in its memory."""
    means = K.mean(axis=0)
    K -= means
    K -= means[:, None] - means.mean()
    return K


def thin_svd(A: Array, left: bool = True) -> tuple[Array, Array, Array]:
    """U, s, V^T with A = U diag(s) V^T; without ``left``, U is empty.

    Of a tall and well-conditioned matrix from the eigenvectors of A^T A: a tenth of the time, and U orthonormal to
    10^−11; else by LAPACK's own.
    """
    n, d = A.shape
    with threads.single_threaded_if_small(min(n, d)):
        if n >= 5 * d > 0:
            squares, V = eigh(products.inner(A, threads.default_workers()))
            if squares[0] > 1e-5 * squares[-1]:
                singular, V = np.sqrt(squares[::-1]), V[:, ::-1]
                U = products.product(A, V, threads.default_workers()) if left else np.empty((0, d))
                U /= singular
                return U, singular, V.T
        U, singular, Vt = svd(A)
    return U, singular, Vt


def svd(A: Array) -> tuple[Array, Array, Array]:
    """LAPACK's U, s, V^T of the smaller shape."""
    U, singular, Vt = lapack.unhurried(max(A.shape), lambda: np.linalg.svd(A, full_matrices=False), "singular values")
    return U, singular, Vt


def singular_values(A: Array) -> Array:
    """The singular values, falling."""
    return lapack.unhurried(max(A.shape), lambda: np.linalg.svd(A, compute_uv=False), "singular values")


def least_squares(A: Array, B: Array, cutoff: float | None = None) -> Array:
    """The X of least norm with least ‖A X − B‖; singular values below ``cutoff`` times the largest are zero."""
    return lapack.unhurried(max(A.shape), lambda: np.linalg.lstsq(A, B, rcond=cutoff)[0], "least squares")


def symmetric_svd(Phi: Array, floor: float = 0.0, count: int | None = None) -> tuple[Array, Array]:
    """s, V with Φ Φ^T = V diag(s) V^T, the columns of V orthonormal and s > 0, falling; singular values up to ``floor``
    are rounding. ``count``: no more columns of V are wanted than that.
    """
    (n, d), least = Phi.shape, max(Phi.shape) * np.finfo(np.float64).eps
    if count is not None and n >= 5 * d > 0:
        squares, basis = eigh(products.inner(Phi, threads.default_workers()))
        few = min(count, d)
        if squares[-few] > 1e-5 * squares[-1] > 0:
            used = squares[::-1][squares[::-1] > max(least * squares[-1], floor**2)]
            vectors = products.product(Phi, basis[:, : -few - 1 : -1], threads.default_workers())
            vectors /= np.sqrt(squares[: -few - 1 : -1])
            return used, vectors
    U, singular, _ = thin_svd(Phi)
    seen = singular > max(least * max(float(singular.max(initial=0.0)), 1e-300), floor)
    return singular[seen] ** 2, U[:, seen]
