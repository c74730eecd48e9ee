"""(ρI + S K S)^−1 applied, exactly or nearly, S a diagonal of square roots of weights: what regularised systems are
preconditioned with.

    p < n features                    Woodbury     p³ + np²
    the matrix fits in memory         Factored     n³/3, in float32 where n is large
    else                              Woodbury of a pivoted Cholesky factor, approximate

The first two are exact but for rounding; the loop in ``solvers.linear`` sees to the rest, and checks the residual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Features, Gram, pivoted_cholesky
from mercer.native.linalg import NotPositive, cholesky, cholesky_solve

Apply = Callable[[Array], Array]

_SINGLE = 2048  # rows from which a factor is in float32: half the time and memory, and as good a preconditioner
_DIRECT = 20_000  # rows up to which a factorisation on the CPU is quicker than iterations
_RANK = 1000  # of a pivoted factor


class Factored:
    """By a Cholesky factor of the whole matrix: one copy of it, in float32 where that will do."""

    name, exact = "cholesky", True

    def __init__(self, gram: Gram, single: bool | None = None) -> None:
        self.gram = gram
        self.single = gram.shape[0] >= _SINGLE and not on_device(gram) if single is None else single

    def shifted(self, scale: Array, ridge: float) -> Apply:
        """V ↦ (ρI + S K S)^−1 V; where only float32 fits in memory and fails, the approximate one."""
        n = len(scale)
        if self.single and 8 * n * n > self.gram.compute.budget:
            try:
                L = self._factor(scale, ridge, np.float32)
            except NotPositive:
                return Woodbury.pivoted(self.gram).shifted(scale, ridge)
        else:
            L = self.factor(scale, ridge)
        return lambda V: arrays.astype(cholesky_solve(L, V), np.float64)

    def factor(self, scale: Array, ridge: float) -> Array:
        """L with L L^T = ρI + S K S. A matrix that is only just not positive gets the least ridge more that makes it
        so.
        """
        size = float(np.max(scale**2 * np.abs(arrays.to_numpy(self.gram.diag())), initial=0.0)) or 1.0
        attempts: list[tuple[Any, float]] = [(np.float32, 0.0)] if self.single else []
        attempts += [(np.float64, extra * size) for extra in (0.0, 1e-14 * len(scale), 1e-12 * len(scale))]
        pivot = 0
        for dtype, extra in attempts:
            try:
                return self._factor(scale, ridge + extra, dtype)
            except NotPositive as found:
                pivot = found.pivot  # not the error itself, which would keep the matrix alive
        raise NotPositive(pivot)

    def _factor(self, scale: Array, ridge: float, dtype: DTypeLike) -> Array:
        K = self.gram.fresh(dtype)
        s = arrays.astype(arrays.like(scale, K), dtype)
        if (scale != 1).any():
            K *= s[:, None]
            K *= s[None, :]
        k = np.arange(len(scale))
        K[k, k] += ridge
        return cholesky(K, self.gram.compute.workers)


class Woodbury:
    """By K ≈ Φ Φ^T of p < n features: (I − SΦ(ρI + Φ^T S² Φ)^−1 Φ^T S)/ρ. The n × n matrix is never formed."""

    def __init__(self, features: Any, workers: int, *, exact: bool) -> None:
        self.features, self.workers, self.exact = features, workers, exact
        self.name = "woodbury" if exact else "cg"

    @classmethod
    def of(cls, features: Features, workers: int) -> Woodbury:
        return cls(arrays.astype(features.phi, np.float64), workers, exact=True)

    @classmethod
    def pivoted(cls, gram: Gram, rank: int = _RANK) -> Woodbury:
        """From a pivoted Cholesky factor of at most ``rank`` columns, within an eighth of the memory budget."""
        most = max(16, gram.compute.budget // 8 // (8 * gram.shape[0]))
        factor, _ = pivoted_cholesky(gram, min(rank, most, gram.shape[0]), np.random.default_rng(0))
        return cls(factor, gram.compute.workers, exact=False)

    def shifted(self, scale: Array, ridge: float) -> Apply:
        phi = self.features
        s = arrays.like(scale, phi) if not sparse.issparse(phi) else scale
        weighted = sparse.diags(scale) @ phi if sparse.issparse(phi) else phi * s[:, None]
        inner = weighted.T @ weighted
        inner = np.asarray(inner.toarray()) if sparse.issparse(inner) else inner
        k = np.arange(inner.shape[0])
        inner[k, k] += ridge
        L = cholesky(inner, self.workers)

        def apply(V: Array) -> Array:
            V = arrays.like(V, phi) if not sparse.issparse(phi) else V
            return (V - weighted @ cholesky_solve(L, weighted.T @ V)) / ridge

        return apply


Inverse = Factored | Woodbury


def choose(gram: Gram, solver: str = "auto") -> Inverse:
    """The table at the head of this file; ``solver`` overrides it."""
    n = gram.shape[0]
    features = (
        gram.features(at_most=np.inf if solver == "woodbury" else 1.0) if solver in ("auto", "woodbury") else None
    )
    if solver == "woodbury" and features is None:
        raise ValueError(
            "solver='woodbury' is for kernels with fewer features than samples (kernel.explicit); this one has no such"
            " features here."
        )
    if features is not None and (solver == "woodbury" or 16 * features.width**2 <= gram.compute.budget):
        return Woodbury.of(features, gram.compute.workers)
    if solver == "cholesky" or (solver == "auto" and fits(gram) and (n <= _DIRECT or on_device(gram))):
        return Factored(gram)
    return Woodbury.pivoted(gram)


def fits(gram: Gram) -> bool:
    """Whether a factor of the whole matrix is within the budget."""
    n = gram.shape[0]
    return n * n * (4 if n >= _SINGLE and not on_device(gram) else 8) <= 0.8 * gram.compute.budget


def on_device(gram: Gram) -> bool:
    return arrays.is_tensor(gram.diag())
