"""LAPACK in place and without the GIL, so that a call of seconds can be made on a thread that Ctrl-C or a deadline
leaves alone.

SciPy's own wrappers hold the GIL from beginning to end, and NumPy's copy the matrix. The routines are those that SciPy
exports to compiled code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.runtime import threads
from mercer.runtime.watch import Result
from mercer.troubles import coded

LARGE = 600  # rows from which a call may be felt


@cache
def address(name: str) -> int:
    """Where the routine ``name`` (``dposv``) is in memory, for compiled code to call."""
    from scipy.linalg import cython_lapack

    capsule, api = cython_lapack.__pyx_capi__[name], ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = (
        ctypes.c_void_p,
        [ctypes.py_object, ctypes.c_char_p],
    )
    return int(api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule)))


@cache
def _routine(name: str) -> Any:
    return ctypes.CFUNCTYPE(None)(address(name))  # a call by ctypes releases the GIL


def call(name: str, *given: Array | bytes | int) -> int:
    """The routine ``name`` (``syevd``) of the precision of the arrays; letters as bytes, whole numbers, arrays. Returns
    ``info``.
    """
    precision = next(x.dtype for x in given if isinstance(x, np.ndarray) and x.dtype.kind == "f")
    info = ctypes.c_int(0)
    arguments: list[Any] = []
    for x in given:
        if isinstance(x, np.ndarray):
            arguments.append(ctypes.c_void_p(x.ctypes.data))
        else:
            arguments.append(ctypes.c_char_p(x) if isinstance(x, bytes) else ctypes.byref(ctypes.c_int(int(x))))
    _routine({"float32": "s", "float64": "d"}[precision.name] + name)(*arguments, ctypes.byref(info))
    return info.value


def unhurried(n: int, work: Callable[[], Result], stage: str) -> Result:
    """``work()`` on a matrix of n rows: on a thread that can be left alone where it may be felt."""
    return work() if n < LARGE else threads.abandonable(work, stage)


def _apart(A: Array) -> int:
    """Entries from one row to the next: LAPACK's leading dimension of A^T, whose columns are the rows of A."""
    assert A.strides[1] == A.itemsize
    assert A.strides[0] >= A.itemsize * A.shape[1]
    return int(A.strides[0] // A.itemsize)


def eigh(A: Array) -> tuple[Array, Array]:
    """Eigenvalues, rising, and eigenvectors of a symmetric matrix, which they overwrite. Memory: two matrices of
    work.
    """
    n = len(A)
    values, work, whole = np.empty(n, A.dtype), np.empty(1 + 6 * n + 2 * n * n, A.dtype), np.empty(3 + 5 * n, np.int32)
    info = unhurried(
        n, lambda: call("syevd", b"V", b"L", n, A, _apart(A), values, work, len(work), whole, len(whole)), "eigenvalues"
    )
    if info != 0:
        raise np.linalg.LinAlgError(coded("The eigenvalues did not converge.", "M301"))
    return values, A.T


def eigh_largest(A: Array, count: int) -> tuple[Array, Array]:
    """The ``count`` largest eigenvalues, rising, and their vectors; A is overwritten."""
    n, zero = len(A), np.zeros(1, A.dtype)
    values, vectors, found = np.empty(n, A.dtype), np.empty((n, count), A.dtype, order="F"), np.empty(1, np.int32)
    ends, work, whole = np.empty(2 * n, np.int32), np.empty(32 * n, A.dtype), np.empty(16 * n, np.int32)
    given = (b"V", b"I", b"L", n, A, _apart(A), zero, zero, n - count + 1, n, zero, found, values, vectors, n, ends)
    if unhurried(n, lambda: call("syevr", *given, work, len(work), whole, len(whole)), "eigenvalues") != 0:
        raise np.linalg.LinAlgError(coded("The eigenvalues did not converge.", "M301"))
    return values[:count], vectors


def sytrd(A: Array) -> tuple[Array, Array, Array, Array]:
    """(A, main, beside, tau): A^T holds the reflectors that make A, overwritten, tridiagonal (LAPACK's lower form)."""
    n = len(A)
    main, beside, tau, work = (
        np.empty(n, A.dtype),
        np.empty(n - 1, A.dtype),
        np.empty(n - 1, A.dtype),
        np.empty(64 * n, A.dtype),
    )
    info = unhurried(
        n, lambda: call("sytrd", b"L", n, A, _apart(A), main, beside, tau, work, len(work)), "tridiagonal form"
    )
    assert info == 0
    return A.T, main, beside, tau


def orgqr(reflectors: Array, tau: Array) -> Array:
    """Q of square Fortran-ordered reflectors, which it overwrites."""
    n, work = len(reflectors), np.empty(64 * len(reflectors), reflectors.dtype)
    info = unhurried(n, lambda: call("orgqr", n, n, n, reflectors, n, tau, work, len(work)), "tridiagonal form")
    assert info == 0
    return reflectors


def potrs(L: Array, B: Array) -> Array:
    """(L L^T)^−1 B in the memory of B, a Fortran-ordered matrix or a vector."""
    n, count = len(L), B.shape[1] if B.ndim == 2 else 1
    # the transposed of a C-ordered matrix is what LAPACK calls upper, without a copy
    info = unhurried(n, lambda: call("potrs", b"U", n, count, L, _apart(L), B, n), "system")
    assert info == 0
    return B


def trtrs(L: Array, B: Array, *, transposed: bool) -> Array:
    """L^−1 B, or L^−T B, in the memory of B, a Fortran-ordered matrix or a vector."""
    n, count = len(L), B.shape[1] if B.ndim == 2 else 1
    way = b"N" if transposed else b"T"
    info = unhurried(n, lambda: call("trtrs", b"U", way, b"N", n, count, L, _apart(L), B, n), "system")
    assert info == 0
    return B


def potri(L: Array) -> Array:
    """The lower triangle of (L L^T)^−1 in the memory of the lower triangle of L."""
    n = len(L)
    # the transposed of a C-ordered matrix is what LAPACK calls upper, without a copy
    info = unhurried(n, lambda: call("potri", b"U", n, L, _apart(L)), "inverse")
    assert info == 0
    return L
