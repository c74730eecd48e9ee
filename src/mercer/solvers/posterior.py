"""How sure a ridge is of f: the posterior of a Gaussian process with covariance k and noise λ/w.

Var f(x) = k(x, x) − c^T (K + λW^−1)^−1 c,  c = k(X, x);  + (1 − 1^T (K + λW^−1)^−1 c)²/(1^T (K + λW^−1)^−1 1) where the
bias is free
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Items
from mercer.arrays import Array
from mercer.data import chunks
from mercer.gram import Gram, Landmarks
from mercer.native.linalg import cholesky, least_squares, symmetric_part, triangular_solve
from mercer.solvers.inverses import Factored
from mercer.solvers.landmarks import adjoint

_BLOCK = 1024  # new items at a time
_COLUMNS = 512  # of Φ^T W Φ in one pass


@dataclass(frozen=True, eq=False)
class Posterior:
    """``factor`` L with L L^T = λI + S K S, or, of p < n features, λI + Φ^T W Φ; then ``features`` is S Φ."""

    factor: Array
    scale: Array
    ridge: float
    bias: bool
    features: Any = None

    @classmethod
    def of(cls, gram: Gram, weights: Array, ridge: float, bias: bool) -> Posterior:
        scale = np.sqrt(weights)
        found = gram.features(at_most=np.inf)
        if found is not None and found.fixed:
            phi = scale[:, None] * found.array()
            inner = phi.T @ phi
            inner[np.diag_indices_from(inner)] += ridge
            return cls(cholesky(inner, gram.compute.workers), scale, ridge, bias, phi)
        return cls(Factored(gram, single=False).factor(scale, ridge), scale, ridge, bias)

    def variance(self, cross: Gram, diagonal: Array) -> Array:
        """Of f at new items; ``cross`` is K(new, training), ``diagonal`` k(x, x)."""
        parts = [
            self._variance(cross.sub(rows, slice(None)), diagonal[rows]) for rows in chunks(cross.shape[0], _BLOCK)
        ]
        return np.maximum(np.concatenate(parts), 0.0) if parts else np.zeros(0)

    def _variance(self, cross: Gram, diagonal: Array) -> Array:
        if self.features is not None:
            return self.of_features(self._features_of(cross))
        c = self.scale[:, None] * np.asarray(arrays.to_numpy(cross.astype(np.float64).dense()), np.float64).T
        half = arrays.to_numpy(triangular_solve(self.factor, c))
        out = diagonal - np.einsum("ij,ij->j", half, half)
        if self.bias:
            ones = arrays.to_numpy(triangular_solve(self.factor, self.scale[:, None]))[:, 0]
            out = out + (1 - ones @ half) ** 2 / float(ones @ ones)
        return np.asarray(out)

    def _features_of(self, cross: Gram) -> Any:
        """φ of the new items: given, or what explains their values with the training items, K(new, X) = φ Φ^T."""
        found = cross.features(at_most=np.inf)
        if found is not None and found.fixed:
            return found.phi
        values = np.asarray(arrays.to_numpy(cross.astype(np.float64).dense()), np.float64)
        return least_squares(self.features, (values * self.scale).T).T

    def of_features(self, new: Items) -> Array:
        """The same from features, where the factor is of them: λ φ^T M^−1 φ, M = λI + Φ^T W Φ; the bias is one more
        without penalty.
        """
        phi = np.asarray(new.toarray() if sparse.issparse(new) else arrays.to_numpy(new), np.float64)
        half = triangular_solve(self.factor, phi.T)
        out = self.ridge * np.einsum("ij,ij->j", half, half)
        if self.bias:
            sums = triangular_solve(self.factor, (self.features.T @ self.scale)[:, None])[:, 0]
            free = float(self.scale @ self.scale) - float(sums @ sums)
            out = out + self.ridge * (1 - sums @ half) ** 2 / max(free, 1e-300)
        return np.asarray(out)


@dataclass(frozen=True, eq=False)
class LandmarkPosterior:
    """The same over functions of landmarks, by the deterministic training conditional (DTC): what the landmarks see
    has the posterior of their features, the rest of k(x, x) its prior variance.

    Var f(x) = k(x, x) − ‖φ(x)‖² + λ φ(x)^T (Φ^T W Φ + λI)^−1 φ(x), with one feature 1 more, without penalty, where the
    bias is free. ``root`` is L of the landmarks, ``factors`` those of Φ^T W Φ + λI for each λ.
    """

    root: Array
    factors: dict[float, Array]
    bias: bool

    @classmethod
    def of(cls, marks: Landmarks, weights: Array, ridges: Array, bias: bool) -> LandmarkPosterior:
        """4nm² operations: Φ^T W Φ by passes over the data, some columns at a time."""
        m = len(marks)
        inner = np.empty((m, m))
        for some in chunks(m, _COLUMNS):
            theta = np.eye(m)[:, some]
            found = marks.values.normal(marks.coefficients(theta), lambda rows, f: weights[rows, None] * f)
            inner[:, some] = marks.of_values(np.asarray(arrays.to_numpy(found)))
        inner = symmetric_part(inner)
        if bias:
            sums = marks.of_values(adjoint(marks.values, weights[:, None]))
            inner = np.block([[inner, sums], [sums.T, np.array([[float(weights.sum())]])]])
        factors = {}
        k = np.arange(m)
        for ridge in np.unique(ridges):
            shifted = inner.copy()
            shifted[k, k] += ridge
            factors[float(ridge)] = cholesky(shifted, marks.values.compute.workers)
        return cls(marks.factor, factors, bias)

    def variance(self, cross: Gram, diagonal: Array, ridge: float) -> Array:
        """Of f at new items; ``cross`` is K(new, landmarks), ``diagonal`` k(x, x)."""
        out = np.empty(cross.shape[0])
        for rows in chunks(cross.shape[0], _BLOCK):
            values = np.asarray(arrays.to_numpy(cross.sub(rows, slice(None)).astype(np.float64).dense()))
            phi = triangular_solve(self.root, values.T)
            full = np.vstack([phi, np.ones((1, phi.shape[1]))]) if self.bias else phi
            half = triangular_solve(self.factors[ridge], full)
            missed = np.maximum(diagonal[rows] - np.einsum("ij,ij->j", phi, phi), 0.0)
            out[rows] = missed + ridge * np.einsum("ij,ij->j", half, half)
        return out
