"""Kernels of inner products, and of sums and products over columns."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.data import DataError, Domain, Vectors
from mercer.formula import (
    arcsin,
    minimum,
    sqdist,
    sqrt,
    tanh,
    where,
)
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.families import Additive, Columnwise, Explicit, Inner
from mercer.kernels.parameters import natural, positive, real


@kernel
class Linear(Explicit):
    """⟨x, z⟩.  Its features are x; the norm of f(x) = ⟨w, x⟩ is ‖w‖."""

    domain: ClassVar[Domain] = Vectors()

    def _map(self, X: Any) -> Any:
        return X


@kernel
class Polynomial(Inner):
    """(scale·⟨x, z⟩ + offset)^degree.  Features: the monomials of degree ≤ d (exactly d when offset = 0).

    Positive semi-definite for offset ≥ 0 and scale ≥ 0; with a negative one, ``psd`` is not True.
    """

    degree: int = natural(2)
    offset: float = real(1.0)
    scale: float = real(1.0)

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.offset >= 0 and self.scale >= 0 else None

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return bool(self.psd)

    def _profile(self, s: Any, xx: Any, zz: Any) -> Any:
        return (self.scale * s + self.offset) ** int(self.degree)

    def _width(self, A: Any) -> int:
        d = A.shape[1]
        return (
            math.comb(d + self.degree, self.degree) if self.offset > 0 else math.comb(d + self.degree - 1, self.degree)
        )

    def _features(self, A: Any) -> Any:
        columns = [
            math.sqrt(math.comb(self.degree, t) * self.offset ** (self.degree - t) * self.scale**t) * monomials
            for t, monomials in _monomials(A, self.degree)
            if t == self.degree or self.offset > 0
        ]
        return arrays.namespace(*columns).concatenate(columns, axis=1)


@kernel
class TaylorGaussian(Explicit):
    """exp(−γ‖x‖²) exp(−γ‖z‖²) Σ_{|n| ≤ degree} (2γ)^|n|/n! · x^n z^n: the Gaussian with its cross term expanded.

    The error is at most (2γ‖x‖‖z‖)^(degree+1)/(degree+1)!.
    """

    domain: ClassVar[Domain] = Vectors()
    gamma: float = positive(symbol="γ", continuous=False)
    degree: int = natural(4, minimum=0)

    def _map(self, X: Any) -> Any:
        X = X.toarray() if sparse.issparse(X) else X
        xp = arrays.namespace(X)
        weight = xp.exp(-self.gamma * xp.einsum("ij,ij->i", X, X))[:, None]
        # Σ_{|n| = t} x^n z^n t!/n! = ⟨x, z⟩^t, so the monomials of degree t need 1/t! besides (2γ)^t
        parts = [math.sqrt((2 * self.gamma) ** t / math.factorial(t)) * m for t, m in _monomials(X, self.degree)]
        return weight * xp.concatenate(parts, axis=1)


def _monomials(X: Any, degree: int) -> Any:
    """For t = 0…degree: t and the columns √(t!/n!)·x^n, |n| = t, whose inner products are ⟨x, z⟩^t."""
    X = X.toarray() if sparse.issparse(X) else X
    n, d = X.shape
    for t in range(degree + 1):
        powers = list(combinations_with_replacement(range(d), t))
        out = arrays.empty((n, len(powers)), arrays.numpy_dtype(X), X)
        for column, chosen in enumerate(powers):
            repeats = np.bincount(chosen, minlength=1) if chosen else np.zeros(1, int)
            weight = math.factorial(t) / math.prod(math.factorial(int(r)) for r in repeats)
            out[:, column] = math.sqrt(weight)
            with np.errstate(over="ignore"):  # what is infinite is reported with its row
                for j in chosen:
                    out[:, column] *= X[:, j]
        yield t, out


@kernel
class Sigmoid(Inner):
    """tanh(scale·⟨x, z⟩ + offset).  Not positive semi-definite in general; learners that need that say so."""

    scale: float = real(1.0)
    offset: float = real(0.0)
    psd = False

    def _profile(self, s: Any, xx: Any, zz: Any) -> Any:
        return tanh(self.scale * s + self.offset)


@kernel
class ArcCosine(Kernel):
    """‖x‖ⁿ‖z‖ⁿ J_n(θ)/π, θ the angle between x and z.  An infinite layer of threshold (n = 0), ramp (1) or squared-ramp
    (2) units.

    The angle comes from the distance d of the unit vectors, θ = 2 arcsin(d/2): the arc cosine of their product would
    lose half the digits where they nearly agree. A zero vector has no angle; θ = π/2 keeps the kernel positive
    semi-definite.  Cho & Saul 2009.
    """

    domain: ClassVar[Domain] = Vectors()
    order: int = natural(1, minimum=0, maximum=2)

    def _prepare(self, X: Any) -> Any:
        X = X.toarray() if sparse.issparse(X) else X
        xp = arrays.namespace(X)
        norms = xp.sqrt(xp.einsum("ij,ij->i", X, X))
        return X / xp.where(norms > 0, norms, xp.ones_like(norms))[:, None], norms

    def _block(self, A: Any, B: Any) -> Any:
        return self._of_angle(sqdist(A[0], B[0]), A[1] * B[1])

    def _diag(self, A: Any) -> Any:
        return self._of_angle(0.0 * A[1], A[1] * A[1])

    def _of_angle(self, d2: Any, norms: Any) -> Any:
        d2 = where(norms > 0, minimum(d2, 4.0), 2.0)
        theta = 2.0 * arcsin(minimum(0.5 * sqrt(d2), 1.0))
        if self.order == 0:
            return (math.pi - theta) / math.pi
        cosine, sine = 1.0 - 0.5 * d2, sqrt(d2 * (1.0 - 0.25 * d2))
        if self.order == 1:
            return norms * (sine + (math.pi - theta) * cosine) / math.pi
        return norms * norms * (3.0 * sine * cosine + (math.pi - theta) * (1.0 + 2.0 * cosine * cosine)) / math.pi


@kernel
class Bilinear(Explicit):
    """x^T A z with A symmetric positive semi-definite, checked.  Features L^T x, A = LL^T, also when A is singular."""

    domain: ClassVar[Domain] = Vectors()
    A: Any

    def _validate(self) -> None:
        A = np.asarray(self.A, np.float64)
        if A.ndim != 2 or A.shape[0] != A.shape[1] or not np.isfinite(A).all():
            raise ValueError(f"Bilinear(A): A must be a square matrix of finite numbers, got shape {A.shape}.")
        if not np.allclose(A, A.T, rtol=1e-10, atol=1e-12 * max(1.0, float(np.abs(A).max()))):
            i, j = np.unravel_index(np.argmax(np.abs(A - A.T)), A.shape)
            raise ValueError(
                f"Bilinear(A): A is not symmetric, A[{i}, {j}] = {A[i, j]:g} but A[{j}, {i}] = {A[j, i]:g}; use (A +"
                " A.T)/2."
            )
        smallest, largest = np.linalg.eigvalsh(A)[[0, -1]]
        if smallest < -1e-10 * max(abs(largest), 1e-300):
            raise ValueError(
                f"Bilinear(A): A has the negative eigenvalue {smallest:.3g}, so x^T A x can be negative; use A @ A.T."
            )

    def _map(self, X: Any) -> Any:
        values, vectors = np.linalg.eigh(np.asarray(self.A, np.float64))
        if X.shape[1] != len(values):
            raise DataError(f"Bilinear(A) has A of size {len(values)}, the data has {X.shape[1]} columns.")
        keep = values > 1e-14 * max(values[-1], 0.0)
        L = (vectors[:, keep] * np.sqrt(values[keep])).astype(arrays.numpy_dtype(X))
        return X @ arrays.like(L, X)


@kernel
class Min(Additive):
    """min(x, z) on one non-negative column.  Its RKHS: f(0) = 0, ⟨f, g⟩ = ∫ f′g′ (Brownian motion's covariance)."""

    domain: ClassVar[Domain] = Vectors(minimum=0.0, columns=1)

    def _term(self, x: Any, z: Any) -> Any:
        return minimum(x, z)


@kernel
class GeometricMin(Additive):
    """1/(1 − min(x, z)) on one column, 0 ≤ x, z < 1.  Diverges at 1."""

    domain: ClassVar[Domain] = Vectors(minimum=0.0, below=1.0, columns=1)

    def _term(self, x: Any, z: Any) -> Any:
        return minimum(x, z)

    def _profile(self, s: Any) -> Any:
        return 1.0 / (1.0 - s)


@kernel
class AllSubsets(Columnwise):
    """Π_j (1 + x_j z_j): one feature Π_{j∈A} x_j for each subset A of the columns."""

    def _start(self) -> tuple[float, ...]:
        return (1.0,)

    def _step(self, state: tuple[Any, ...], x: Any, z: Any) -> tuple[Any, ...]:
        return (state[0] + state[0] * (x * z),)


@kernel
class Anova(Columnwise):
    """Σ_{|A| = degree} Π_{j∈A} x_j z_j: one feature for each subset of exactly ``degree`` columns.

    Dynamic programme e_s ← e_s + x_j z_j e_(s−1), degree·d steps per value.
    """

    degree: int = natural(2, minimum=0)

    def _start(self) -> tuple[float, ...]:
        return (1.0,) + (0.0,) * int(self.degree)

    def _step(self, state: tuple[Any, ...], x: Any, z: Any) -> tuple[Any, ...]:
        product = x * z
        return state[:1] + tuple(e + product * lower for lower, e in pairwise(state))
