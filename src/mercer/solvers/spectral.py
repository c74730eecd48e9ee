"""Ridge systems for every λ at once, from one decomposition.

Let S = W^½, u the direction of S1 (where there is a bias) and P = I − u u^T. With P S K S P = V diag(s) V^T on the complement of u,

    A = S G_λ S Y,   G_λ = V diag(1/(s + λ)) V^T,   leave-one-out residual_i = A_i/(w_i [G_λ]_ii)

(SPEC: α_i/[S^−1]_ii of the bordered matrix). A kernel with few features has few s > 0: then G_λ = V diag(1/(s + λ) − 1/λ) V^T + P/λ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from mercer import backend
from mercer.backend import Array
from mercer.gram import DenseGram, Gram, LowRankGram
from mercer.linalg import eigh, symmetric_svd


@dataclass(frozen=True, eq=False)
class Spectrum:
    """``values`` s, ``vectors`` V; ``whole`` says that V spans all of the complement of u. ``scale`` is S."""

    values: Array
    vectors: Array
    scale: Array
    bias: bool
    whole: bool

    @classmethod
    def of(cls, gram: Gram, weights: Array, bias: bool) -> Spectrum:
        """Memory: the matrix and its eigenvectors; for a kernel with few features, these."""
        scale = np.sqrt(weights)
        n = len(scale)
        if isinstance(gram, LowRankGram) and 4 * gram.left.shape[1] < 3 * n:
            phi = gram.left.toarray() if sparse.issparse(gram.left) else backend.to_numpy(gram.left)
            phi = scale[:, None] * np.asarray(phi, np.float64)
            if bias:
                u = scale / np.linalg.norm(scale)
                phi = phi - np.outer(u, u @ phi)
            return cls(*symmetric_svd(phi), scale, bias, whole=False)
        K = np.array(backend.to_numpy(gram.astype(np.float64).dense()), copy=True if isinstance(gram, DenseGram) else None)
        if (scale != 1).any():
            K *= scale[:, None]
            K *= scale[None, :]
        if not bias:
            return cls(*eigh(K), scale, bias, whole=True)
        values, vectors = eigh(_reflected(K, scale)[1:, 1:])
        return cls(values, _reflect_back(vectors, scale), scale, bias, whole=True)

    @cached_property
    def _u(self) -> Array:
        return self.scale / np.linalg.norm(self.scale) if self.bias else np.zeros(len(self.scale))

    @cached_property
    def _squares(self) -> Array:
        return self.vectors**2

    def _inverse_values(self, ridges: Array) -> Array:
        """1/(s + λ), less 1/λ where the complement is spanned by more than V; at λ = 0, 0 for what is zero but for rounding: least norm."""
        s = self.values[:, None] + ridges
        out = np.divide(1.0, s, out=np.zeros_like(s), where=self._seen(s))
        return out if self.whole else out - np.divide(1.0, ridges, out=np.zeros_like(ridges), where=ridges > 0)

    def _seen(self, s: Array) -> Array:
        """What is more than rounding of the largest eigenvalue."""
        return np.abs(s) > 1e-13 * len(self.scale) * float(np.max(np.abs(self.values), initial=0.0))

    def _rest(self, ridges: Array) -> Array:
        """The value of G_λ on the complement of V and u."""
        return np.zeros_like(ridges) if self.whole else np.divide(1.0, ridges, out=np.zeros_like(ridges), where=ridges > 0)

    def coefficients(self, Y: Array, ridges: Any) -> Array:
        """A for each λ: (λs, n, outputs)."""
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        T = self._centred(Y)
        inner = self.vectors.T @ T
        values, rest = self._inverse_values(ridges), self._rest(ridges)
        outputs = T.shape[1]
        stacked = (values[:, :, None] * inner[:, None, :]).reshape(len(inner), len(ridges) * outputs)
        X = (self.vectors @ stacked).reshape(len(T), len(ridges), outputs) + rest[:, None] * T[:, None, :]
        return np.moveaxis(self.scale[:, None, None] * X, 1, 0)

    def _centred(self, Y: Array) -> Array:
        """P S Y."""
        if not self.bias:
            return self.scale[:, None] * Y
        T = self.scale[:, None] * (Y - np.average(Y, axis=0, weights=self.scale**2))
        return T - np.outer(self._u, self._u @ T)

    def diagonal(self, ridges: Any) -> Array:
        """w_i [G_λ]_ii for each λ: (λs, n)."""
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        G = self._squares @ self._inverse_values(ridges) + self._rest(ridges) * (1 - self._u**2)[:, None]
        return (self.scale[:, None] ** 2 * G).T

    def leave_one_out(self, Y: Array, ridges: Any) -> Array:
        """y_i − (prediction for i of the model fitted without it), for each λ: (λs, n, outputs). Exact; i is left out with all its weight."""
        return self.coefficients(Y, ridges) / self.diagonal(ridges)[:, :, None]

    def degrees(self, ridges: Any) -> Array:
        """The trace of the matrix that maps y to its predictions, bias included: the effective number of parameters, for each λ."""
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        s = self.values[:, None]
        shares = np.divide(s, s + ridges, out=np.zeros((len(s), len(ridges))), where=self._seen(s + ridges))
        return shares.sum(axis=0) + float(self.bias)

    def generalised(self, Y: Array, ridges: Any) -> Array:
        """Generalised cross-validation, n Σ_i w_i r_i²/(n − degrees)² for each λ and output: (λs, outputs)."""
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        A, n = self.coefficients(Y, ridges), len(self.scale)
        squares = np.einsum("lim,i->lm", A**2, 1 / self.scale**2) * (ridges**2)[:, None]  # r = λ W^−1 A
        return n * squares / np.maximum(n - self.degrees(ridges), 1e-12)[:, None] ** 2

    def likelihood(self, Y: Array, ridges: Any) -> Array:
        """max over σ² of log N(y; b, σ²(K + λW^−1)), b integrated out, for each λ and output: the evidence for the kernel and λ."""
        ridges = np.atleast_1d(np.asarray(ridges, np.float64))
        n = len(self.scale) - int(self.bias)
        quadratic = np.einsum("lim,im->lm", self.coefficients(Y, ridges), Y)
        variance = np.maximum(quadratic / n, 1e-300)
        logs = np.sum(np.log(np.maximum(self.values[:, None] + ridges, 1e-300)), axis=0)
        if not self.whole:
            logs = logs + (n - len(self.values)) * np.log(np.maximum(ridges, 1e-300))
        sizes = -2 * float(np.sum(np.log(self.scale))) + (2 * np.log(np.linalg.norm(self.scale)) if self.bias else 0.0)
        return -0.5 * (n * np.log(2 * np.pi * variance) + n + logs[:, None] + sizes)

    def biases(self, gram: Gram, Y: Array, A: Array) -> Array:
        """b for coefficients A (n, outputs): the weighted mean of y − K A, in which the ridge's part λW^−1A sums to zero."""
        if not self.bias:
            return np.zeros(A.shape[1])
        return np.average(Y - backend.to_numpy(gram.astype(np.float64) @ A), axis=0, weights=self.scale**2)


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
    for rows in np.array_split(np.arange(len(K)), max(1, len(K) // 256)):
        a = slice(rows[0], rows[-1] + 1)
        K[a] -= np.outer(v[a], w)
        K[a] -= np.outer(w[a], v)
    return K


def _reflect_back(vectors: Array, scale: Array) -> Array:
    """H [0; V]."""
    v = _householder(scale)
    out = np.empty((len(scale), vectors.shape[1]))
    out[0], out[1:] = 0.0, vectors
    out -= np.outer(2 * v, v @ out)
    return out


def grid(gram: Gram, count: int = 20) -> Array:
    """Ridges over the range in which they matter: from 10^−7 to 10 times the mean of the diagonal times n, evenly in logarithms."""
    size = float(np.mean(backend.to_numpy(gram.diag()))) or 1.0
    return np.geomspace(1e-7, 1e1, count) * size * max(gram.shape[0], 10) / 10


Ridges = Sequence[float] | Array
