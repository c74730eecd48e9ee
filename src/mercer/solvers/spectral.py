"""Ridge systems for every λ at once, from one decomposition.

Let S = W^½, u the direction of S1 (where there is a bias) and P = I − u u^T. On the complement of u, P S K S P = U T
U^T and

    A = S G_λ S Y,   G_λ = U (T + λ)^−1 U^T,   leave-one-out residual_i = A_i/(w_i [G_λ]_ii)

(SPEC: α_i/[S^−1]_ii of the bordered matrix). ``Eigendecomposition``: T diagonal, the eigenvalues. ``Tridiagonal``: T
with two diagonals; it costs two thirds of the eigenvectors, and a λ still costs only n².
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.data import chunks
from mercer.gram import Gram, Outline, Work
from mercer.native.linalg import NotPositive, eigh, symmetric_svd, tridiagonal
from mercer.runtime import compiling, threads
from mercer.runtime.threads import cached_property

_TOGETHER = 2048  # rows


class Decomposition(ABC):
    """What follows from A and the diagonal of G_λ, for any decomposition. ``scale`` is S."""

    scale: Array
    bias: bool

    @abstractmethod
    def coefficients(self, Y: Array, ridges: float | Sequence[float] | Array) -> Array:
        """A for each λ: (λs, n, outputs)."""

    @abstractmethod
    def diagonal(self, ridges: float | Sequence[float] | Array) -> Array:
        """w_i [G_λ]_ii for each λ: (λs, n)."""

    @abstractmethod
    def degrees(self, ridges: float | Sequence[float] | Array) -> Array:
        """The trace of the matrix that maps y to its predictions, bias included: the effective number of parameters,
        for each λ.
        """

    @abstractmethod
    def _log_determinant(self, ridges: Array) -> Array:
        """log|T + λ| on all of the complement of u, for each λ."""

    def leave_one_out(self, Y: Array, ridges: float | Sequence[float] | Array) -> Array:
        """y_i − (prediction for i of the model fitted without it), for each λ: (λs, n, outputs). Exact; i is left out
        with all its weight.
        """
        return self.coefficients(Y, ridges) / self.diagonal(ridges)[:, :, None]

    def generalised(self, Y: Array, ridges: float | Sequence[float] | Array) -> Array:
        """Generalised cross-validation, n Σ_i w_i r_i²/(n − degrees)² for each λ and output: (λs, outputs)."""
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        A, n = self.coefficients(Y, ridges), len(self.scale)
        squares = np.einsum("lim,i->lm", A**2, 1 / self.scale**2) * (ridges**2)[:, None]  # r = λ W^−1 A
        return n * squares / np.maximum(n - self.degrees(ridges), 1e-12)[:, None] ** 2

    def likelihood(self, Y: Array, ridges: float | Sequence[float] | Array) -> Array:
        """max over σ² of log N(y; b, σ²(K + λW^−1)), b integrated out, for each λ and output: the evidence for the
        kernel and λ.
        """
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        n = len(self.scale) - int(self.bias)
        quadratic = np.einsum("lim,im->lm", self.coefficients(Y, ridges), Y)
        variance = np.maximum(quadratic / n, 1e-300)
        sizes = -2 * float(np.sum(np.log(self.scale))) + (2 * np.log(np.linalg.norm(self.scale)) if self.bias else 0.0)
        return -0.5 * (n * np.log(2 * np.pi * variance) + n + self._log_determinant(ridges)[:, None] + sizes)

    @cached_property
    def _u(self) -> Array:
        return self.scale / np.linalg.norm(self.scale) if self.bias else np.zeros(len(self.scale))

    def _centred(self, Y: Array) -> Array:
        """P S Y."""
        if not self.bias:
            return self.scale[:, None] * Y
        T = self.scale[:, None] * (Y - np.average(Y, axis=0, weights=self.scale**2))
        return T - np.outer(self._u, self._u @ T)


def decompose(gram: Gram, weights: Array, bias: bool) -> Decomposition:
    """For positive λ: by features where these are few, else tridiagonal."""
    few = gram.features() is not None
    return (
        Eigendecomposition.of(gram, weights, bias) if few or gram.shape[0] < 8 else Tridiagonal.of(gram, weights, bias)
    )


def outlook(outline: Outline, *, tridiagonal: bool = False) -> Work:
    """``decompose`` where ``tridiagonal``, else all eigenvectors."""
    n, speed, few = outline.shape[0], outline.speed, outline.features()
    if few is not None:
        p = few.width
        seconds = speed.products(4.0 * n * p**2) + speed.eigen(p)
        return Work(8.0 * 3 * n * p, seconds, f"the singular values of {n} × {p} features", "exact")
    if tridiagonal and n >= 8:
        return Work(
            3 * outline.bytes(np.float64),
            outline.storing(np.float64) + speed.tridiagonal(n),
            f"the matrix of {n} rows made tridiagonal",
            "eigen",
        )
    return Work(
        3 * outline.bytes(np.float64),
        outline.storing(np.float64) + speed.eigen(n),
        f"all eigenvectors of the matrix of {n} rows",
        "exact",
    )


def _scaled(gram: Gram, scale: Array) -> Array:
    """S K S, in memory of its own."""
    K = np.asarray(arrays.to_numpy(gram.fresh(np.float64)))
    if (scale != 1).any():
        K *= scale[:, None]
        K *= scale[None, :]
    return K


def _take_out(u: Array, V: Array) -> None:
    """V ← V − u u^T V, in its memory."""
    inner = u @ V
    for rows in chunks(len(u), _TOGETHER):
        V[rows] -= np.outer(u[rows], inner)


@dataclass(frozen=True, eq=False)
class Eigendecomposition(Decomposition):
    """T = diag(``values``), U = ``vectors``; ``complete`` says that they span all of the complement of u. If not, as
    for a kernel with few features, G_λ = V diag(1/(s + λ) − 1/λ) V^T + P/λ.
    """

    values: Array
    vectors: Array
    scale: Array
    bias: bool
    complete: bool

    @classmethod
    def of(cls, gram: Gram, weights: Array, bias: bool, count: int | None = None) -> Eigendecomposition:
        """Memory: the matrix and its eigenvectors; for a kernel with few features, a copy of these and the vectors, of
        which no more than ``count`` are wanted.
        """
        scale = np.sqrt(weights)
        few = gram.features()
        if few is not None:
            phi = scale[:, None] * few.array()
            rounding = 4 * np.finfo(np.float64).eps * float(np.linalg.norm(phi))
            u = scale / np.linalg.norm(scale)
            if bias:
                _take_out(u, phi)
            values, vectors = symmetric_svd(phi, rounding if bias else 0.0, count)
            if bias:  # once more: far from the origin, what is left of u would be multiplied with large values
                _take_out(u, vectors)
            return cls(values, vectors, scale, bias, complete=False)
        K = _scaled(gram, scale)
        if not bias:
            return cls(*eigh(K), scale, bias, complete=True)
        values, vectors = eigh(_reflected(K, scale)[1:, 1:])
        return cls(values, _reflect_back(vectors, scale), scale, bias, complete=True)

    @cached_property
    def _squares(self) -> Array:
        return self.vectors**2

    def _inverse_values(self, ridges: Array) -> Array:
        """1/(s + λ), less 1/λ where the complement is spanned by more than V; at λ = 0, 0 for what is zero but for
        rounding: least norm.
        """
        s = self.values[:, None] + ridges
        out = np.divide(1.0, s, out=np.zeros_like(s), where=self._seen(s))
        return out if self.complete else out - np.divide(1.0, ridges, out=np.zeros_like(ridges), where=ridges > 0)

    def _seen(self, s: Array) -> Array:
        """What is more than rounding of the largest eigenvalue."""
        return np.abs(s) > 1e-13 * len(self.scale) * float(np.max(np.abs(self.values), initial=0.0))

    def _rest(self, ridges: Array) -> Array:
        """The value of G_λ on the complement of V and u."""
        return (
            np.zeros_like(ridges)
            if self.complete
            else np.divide(1.0, ridges, out=np.zeros_like(ridges), where=ridges > 0)
        )

    def coefficients(self, Y: Array, ridges: float | Sequence[float] | Array) -> Array:
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        T = self._centred(Y)
        inner = self.vectors.T @ T
        values, rest = self._inverse_values(ridges), self._rest(ridges)
        outputs = T.shape[1]
        stacked = (values[:, :, None] * inner[:, None, :]).reshape(len(inner), len(ridges) * outputs)
        X = (self.vectors @ stacked).reshape(len(T), len(ridges), outputs) + rest[:, None] * T[:, None, :]
        return np.moveaxis(self.scale[:, None, None] * X, 1, 0)

    def diagonal(self, ridges: float | Sequence[float] | Array) -> Array:
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        G = self._squares @ self._inverse_values(ridges) + self._rest(ridges) * (1 - self._u**2)[:, None]
        return (self.scale[:, None] ** 2 * G).T

    def _log_determinant(self, ridges: Array) -> Array:
        logs = np.sum(np.log(np.maximum(self.values[:, None] + ridges, 1e-300)), axis=0)
        unseen = len(self.scale) - int(self.bias) - len(self.values)
        return logs if self.complete else logs + unseen * np.log(np.maximum(ridges, 1e-300))

    def degrees(self, ridges: float | Sequence[float] | Array) -> Array:
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        s = self.values[:, None]
        shares = np.divide(s, s + ridges, out=np.zeros((len(s), len(ridges))), where=self._seen(s + ridges))
        return shares.sum(axis=0) + float(self.bias)


@dataclass(frozen=True, eq=False)
class Tridiagonal(Decomposition):
    """T has ``main`` on its diagonal and ``beside`` next to it; ``rows`` is U^T. For λ at which T + λ is positive
    definite.

    With T + λ = L D L^T, [G_λ]_ii = Σ_j y_ij²/d_j where y_j = u_j − l_j y_{j−1}: one pass over U serves all λ.
    """

    main: Array
    beside: Array
    rows: Array
    scale: Array
    bias: bool
    workers: int

    @classmethod
    def of(cls, gram: Gram, weights: Array, bias: bool) -> Tridiagonal:
        """Memory: three matrices for a moment, one to keep."""
        scale = np.sqrt(weights)
        K = _scaled(gram, scale)
        before = _householder(scale) if bias else None
        part = np.ascontiguousarray(_reflected(K, scale)[1:, 1:]) if bias else K
        return cls(*tridiagonal(part, before), scale, bias, gram.compute.workers)

    def _factors(self, ridges: Array) -> tuple[Array, Array]:
        """l and d of each λ: (λs, m)."""
        d, low = np.empty((len(self.main), len(ridges))), np.zeros((len(self.main), len(ridges)))
        d[0] = self.main[0] + ridges
        for j in range(1, len(self.main)):
            low[j] = self.beside[j - 1] / d[j - 1]
            d[j] = self.main[j] + ridges - low[j] * self.beside[j - 1]
        if not (d > 0).all():
            raise NotPositive(int(np.argmin((d > 0).all(axis=1))))
        return low.T.copy(), d.T.copy()

    def coefficients(self, Y: Array, ridges: float | Sequence[float] | Array) -> Array:
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        T = self._centred(Y)
        low, d = self._factors(ridges)
        x = np.repeat((self.rows @ T)[:, None, :], len(ridges), axis=1)  # (m, λs, outputs)
        for j in range(1, len(x)):
            x[j] -= low[:, j, None] * x[j - 1]
        x /= d.T[:, :, None]
        for j in range(len(x) - 2, -1, -1):
            x[j] -= low[:, j + 1, None] * x[j + 1]
        X = (self.rows.T @ x.reshape(len(x), -1)).reshape(len(T), len(ridges), T.shape[1])
        return np.moveaxis(self.scale[:, None, None] * X, 1, 0)

    def diagonal(self, ridges: float | Sequence[float] | Array) -> Array:
        return self.scale**2 * self._diagonal(np.atleast_1d(np.asarray(ridges, np.float64)))

    def _diagonal(self, ridges: Array) -> Array:
        low, d = self._factors(ridges)
        out = np.zeros((len(ridges), len(self.scale)))
        sums = _sums()
        threads.run_tasks(
            lambda i: sums(self.rows, low, 1 / d, out, i.start, i.stop), chunks(len(self.scale), 128), self.workers
        )
        return out

    def degrees(self, ridges: float | Sequence[float] | Array) -> Array:
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        return len(self.main) - ridges * self._diagonal(ridges).sum(axis=1) + float(self.bias)

    def _log_determinant(self, ridges: Array) -> Array:
        return np.sum(np.log(self._factors(ridges)[1]), axis=1)


def _sums_loop(rows, low, inverse, out, start, stop):  # type: ignore[no-untyped-def]
    """out[λ, i] = Σ_j y_j²/d_j for start ≤ i < stop; y of all λ stays in the cache."""
    y = np.zeros((low.shape[0], stop - start))
    for j in range(rows.shape[0]):
        for k in range(low.shape[0]):
            factor, weight = low[k, j], inverse[k, j]
            for i in range(start, stop):
                t = rows[j, i] - factor * y[k, i - start]
                y[k, i - start] = t
                out[k, i] += t * t * weight


@cache
def _sums() -> Any:
    return compiling.jit(_sums_loop)


def _householder(scale: Array) -> Array:
    """v with (I − 2vv^T) u = ∓e₁, u the direction of ``scale``."""
    v = scale / np.linalg.norm(scale)
    v[0] += 1.0 if v[0] >= 0 else -1.0
    return v / np.linalg.norm(v)


def _reflected(K: Array, scale: Array) -> Array:
    """H K H in place, H the reflection that takes u to the first axis."""
    v = _householder(scale)
    p = K @ v
    w = 2 * p - 2 * float(v @ p) * v
    for some in chunks(len(K), 256):
        K[some] -= np.column_stack([v[some], w[some]]) @ np.stack([w, v])
    return K


def _reflect_back(vectors: Array, scale: Array) -> Array:
    """H [0; V]."""
    v = _householder(scale)
    out = np.empty((len(scale), vectors.shape[1]))
    out[0], out[1:] = 0.0, vectors
    out -= np.outer(2 * v, v @ out)
    return out


def grid(gram: Gram, count: int = 20) -> Array:
    """Ridges over the range in which they matter: from 10^−7 to 10 times the mean of the diagonal times n, evenly in
    logarithms.
    """
    size = float(np.mean(arrays.to_numpy(gram.diag()))) or 1.0
    return np.geomspace(1e-7, 1e1, count) * size * max(gram.shape[0], 10) / 10
