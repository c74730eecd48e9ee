"""What the covariances of a mixture may be: a matrix or a variance for each component, or one matrix for all.

Deviations are taken where components are far apart for their size, for no difference of large numbers is then formed;
else sums of products serve.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import linalg

from mercer.arrays import Array
from mercer.troubles import coded

STRIP = 256  # rows whose deviations from all means stay in the cache


class Family(ABC):
    """What covariances may be."""

    strip = 8 * STRIP  # rows that are worked on together
    matrices = False  # whether covariances are matrices

    @abstractmethod
    def factors(self, covariances: Array) -> Array:
        """What turns deviations into distances: Cholesky factors of the inverses, or inverse standard deviations."""

    @abstractmethod
    def squares(self, X: Array, means: Array, factors: Array) -> tuple[Array, Any]:
        """Squared Mahalanobis distances (rows, k), and what ``moments`` can use again."""

    @abstractmethod
    def log_root(self, factors: Array, d: int, k: int) -> Array:
        """log |Σ_k|^−½."""

    @abstractmethod
    def moments(self, X: Array, R: Array, means: Array, differences: Array | None) -> Array:
        """Σ_i r_ik (x_i − μ_k)(x_i − μ_k)^T, as much of it as the family needs."""

    @abstractmethod
    def covariances(self, moments: Array, mass: Array, shift: Array, floor: float) -> Array:
        """From moments about means that were ``shift`` away from those of the data."""

    @abstractmethod
    def count(self, k: int, d: int) -> int:
        """Free numbers in the covariances."""

    @abstractmethod
    def of_precisions(self, precisions: Array) -> Array:
        """Covariances with the given inverses."""

    @abstractmethod
    def precisions(self, factors: Array) -> Array:
        """The inverses of covariances, from ``factors``."""

    @abstractmethod
    def dense(self, covariances: Array, k: int, d: int) -> Array:
        """As matrices (k, d, d)."""

    @abstractmethod
    def slopes(self, R: Array, deviations: Array, covariances: Array) -> Array:
        """∂ log p(x)/∂ the free numbers of the covariances; ``deviations`` (rows, k, d) are x − μ_k."""


_COLLAPSED = (
    "A component's covariance is not positive definite: it has collapsed onto few samples, or columns are copies of"
    " others. Raise reg_covar, use fewer components, or scale the columns."
)
_FAR = 1e9  # squared distance to the centre over the smallest variance, from which on sums of products lose too much


def _cholesky_inverse(C: Array) -> Array:
    """U with U U^T = C^−1, upper triangular."""
    try:
        L = linalg.cholesky(C, lower=True, check_finite=False)
    except linalg.LinAlgError:
        raise ValueError(coded(_COLLAPSED, "M307")) from None
    return np.asarray(linalg.solve_triangular(L, np.eye(len(C)), lower=True, check_finite=False)).T


class Full(Family):
    """One matrix for each component."""

    strip = STRIP
    matrices = True

    def factors(self, covariances: Array) -> Array:
        return np.stack([_cholesky_inverse(C) for C in covariances])

    def squares(self, X: Array, means: Array, factors: Array) -> tuple[Array, Any]:
        D = X - means[:, None, :]  # (k, rows, d)
        Y = D @ factors
        return np.einsum("kid,kid->ik", Y, Y), D

    def log_root(self, factors: Array, d: int, k: int) -> Array:
        return np.sum(np.log(np.einsum("kdd->kd", factors)), axis=1)

    def moments(self, X: Array, R: Array, means: Array, differences: Array | None) -> Array:
        D = X - means[:, None, :] if differences is None else differences
        return np.asarray(np.swapaxes(D * R.T[:, :, None], 1, 2) @ D)

    def covariances(self, moments: Array, mass: Array, shift: Array, floor: float) -> Array:
        C = moments / mass[:, None, None] - shift[:, :, None] * shift[:, None, :]
        k = np.arange(C.shape[1])
        C[:, k, k] += floor
        return C

    def count(self, k: int, d: int) -> int:
        return k * d * (d + 1) // 2

    def of_precisions(self, precisions: Array) -> Array:
        return np.linalg.inv(precisions)

    def precisions(self, factors: Array) -> Array:
        return np.asarray(factors @ np.swapaxes(factors, -1, -2))

    def dense(self, covariances: Array, k: int, d: int) -> Array:
        return covariances

    def slopes(self, R: Array, deviations: Array, covariances: Array) -> Array:
        P = np.linalg.inv(covariances)
        z = np.einsum("kde,ike->ikd", P, deviations)
        i, j = np.triu_indices(P.shape[1])
        twice = np.where(i == j, 0.5, 1.0)  # an entry off the diagonal stands twice
        return (R[:, :, None] * (z[:, :, i] * z[:, :, j] - P[:, i, j]) * twice).reshape(len(R), -1)


class Tied(Full):
    """One matrix for all."""

    strip = 8 * STRIP

    def factors(self, covariances: Array) -> Array:
        return _cholesky_inverse(covariances)

    def squares(self, X: Array, means: Array, factors: Array) -> tuple[Array, Any]:
        Y = X @ factors
        if float(np.max(np.einsum("id,id->i", Y, Y), initial=0.0)) > _FAR:
            return super().squares(X, means, np.broadcast_to(factors, (len(means), *factors.shape)))
        return _expanded(Y, means @ factors), None

    def log_root(self, factors: Array, d: int, k: int) -> Array:
        return np.full(k, np.sum(np.log(np.diag(factors))))

    def moments(self, X: Array, R: Array, means: Array, differences: Array | None) -> Array:
        if differences is not None:
            return super().moments(X, R, means, differences).sum(axis=0)
        inner = R.T @ X  # Σ_ik r_ik (x − μ_k)(x − μ_k)^T, by sums of products
        cross = inner.T @ means
        return (X * R.sum(axis=1)[:, None]).T @ X - cross - cross.T + (means * R.sum(axis=0)[:, None]).T @ means

    def covariances(self, moments: Array, mass: Array, shift: Array, floor: float) -> Array:
        return (moments - (shift * mass[:, None]).T @ shift) / mass.sum() + floor * np.eye(len(moments))

    def count(self, k: int, d: int) -> int:
        return d * (d + 1) // 2

    def dense(self, covariances: Array, k: int, d: int) -> Array:
        return np.broadcast_to(covariances, (k, d, d))

    def slopes(self, R: Array, deviations: Array, covariances: Array) -> Array:
        k, d = deviations.shape[1:]
        return super().slopes(R, deviations, np.broadcast_to(covariances, (k, d, d))).reshape(len(R), k, -1).sum(axis=1)


def _expanded(X: Array, means: Array) -> Array:
    """‖x − μ‖² as ‖x‖² − 2⟨x, μ⟩ + ‖μ‖²."""
    return np.maximum(np.einsum("id,id->i", X, X)[:, None] - 2 * X @ means.T + np.einsum("kd,kd->k", means, means), 0.0)


class Diagonal(Family):
    """A variance for each component and column."""

    def factors(self, covariances: Array) -> Array:
        if not np.min(covariances) > 0:
            raise ValueError(coded(_COLLAPSED, "M307"))
        return 1 / np.sqrt(covariances)

    def squares(self, X: Array, means: Array, factors: Array) -> tuple[Array, Any]:
        P = factors**2
        if float(np.max(P)) * float(np.max(X * X, initial=0.0)) > _FAR:
            D = X - means[:, None, :]
            return np.einsum("kid,kd->ik", D * D, P if P.ndim == 2 else np.repeat(P[:, None], X.shape[1], axis=1)), D
        return self._products(X, means, P), None

    def _products(self, X: Array, means: Array, P: Array) -> Array:
        return np.maximum((X * X) @ P.T - 2 * X @ (means * P).T + np.sum(means**2 * P, axis=1), 0.0)

    def log_root(self, factors: Array, d: int, k: int) -> Array:
        return np.sum(np.log(factors), axis=1)

    def moments(self, X: Array, R: Array, means: Array, differences: Array | None) -> Array:
        if differences is not None:
            return np.einsum("ik,kid->kd", R, differences * differences)
        return R.T @ (X * X) - 2 * means * (R.T @ X) + R.sum(axis=0)[:, None] * means**2

    def covariances(self, moments: Array, mass: Array, shift: Array, floor: float) -> Array:
        return np.maximum(moments / mass[:, None] - shift**2, 0.0) + floor

    def count(self, k: int, d: int) -> int:
        return k * d

    def of_precisions(self, precisions: Array) -> Array:
        return 1 / precisions

    def precisions(self, factors: Array) -> Array:
        return np.asarray(factors**2)

    def dense(self, covariances: Array, k: int, d: int) -> Array:
        return covariances[:, :, None] * np.eye(d)

    def slopes(self, R: Array, deviations: Array, covariances: Array) -> Array:
        return (R[:, :, None] * ((deviations / covariances) ** 2 - 1 / covariances) / 2).reshape(len(R), -1)


class Spherical(Diagonal):
    """One variance for each component."""

    def _products(self, X: Array, means: Array, P: Array) -> Array:
        return _expanded(X, means) * P

    def log_root(self, factors: Array, d: int, k: int) -> Array:
        return d * np.log(factors)

    def covariances(self, moments: Array, mass: Array, shift: Array, floor: float) -> Array:
        return super().covariances(moments, mass, shift, floor).mean(axis=1)

    def count(self, k: int, d: int) -> int:
        return k

    def dense(self, covariances: Array, k: int, d: int) -> Array:
        return covariances[:, None, None] * np.eye(d)

    def slopes(self, R: Array, deviations: Array, covariances: Array) -> Array:
        square = np.sum(deviations**2, axis=2) / covariances**2
        return R * (square - deviations.shape[2] / covariances) / 2


FAMILIES: dict[str, Family] = {"full": Full(), "tied": Tied(), "diag": Diagonal(), "spherical": Spherical()}
