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
from mercer.annotations import Items
from mercer.arrays import Array
from mercer.gram import Features, Gram, Outline, Work, pivoted_cholesky
from mercer.native.linalg import NotPositive, cholesky, cholesky_solve
from mercer.native.products import inner
from mercer.troubles import coded

Apply = Callable[[Array], Array]

_SINGLE = 2048  # rows from which a factor is in float32: half the time and memory, and as good a preconditioner
_DIRECT = 20_000  # rows up to which a factorisation on the CPU is quicker than iterations
_RANK = 1000  # of a pivoted factor
_REFINING, _STEPS = 3, 30  # steps, by experience: with a factor in float32, with a pivoted one


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

    def __init__(self, features: Items, workers: int, *, exact: bool) -> None:
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

    @classmethod
    def none(cls, n: int) -> Woodbury:
        """1/ρ alone, of K ≈ 0: no preconditioner."""
        return cls(np.zeros((n, 1)), 1, exact=False)

    def shifted(self, scale: Array, ridge: float) -> Apply:
        phi = self.features
        s = arrays.like(scale, phi) if not sparse.issparse(phi) else scale
        weighted = sparse.diags(scale) @ phi if sparse.issparse(phi) else phi * s[:, None]
        dense = isinstance(weighted, np.ndarray)
        system: Any = inner(weighted, self.workers) if dense else weighted.T @ weighted
        system = np.asarray(system.toarray()) if sparse.issparse(system) else system
        k = np.arange(system.shape[0])
        system[k, k] += ridge
        L = cholesky(system, self.workers)

        def apply(V: Array) -> Array:
            V = arrays.like(V, phi) if not sparse.issparse(phi) else V
            return (V - weighted @ cholesky_solve(L, weighted.T @ V)) / ridge

        return apply


Inverse = Factored | Woodbury


def choose(gram: Gram, solver: str = "auto") -> Inverse:
    """The table at the head of this file; ``solver`` overrides it."""
    way, features = route(gram, solver)
    if way == "woodbury":
        return Woodbury.of(features, gram.compute.workers)
    return Factored(gram) if way == "cholesky" else Woodbury.pivoted(gram)


def route(gram: Gram, solver: str = "auto") -> tuple[str, Any]:
    """Which of "woodbury", "cholesky" and "cg" it will be, and the features of the first."""
    features = (
        gram.features(at_most=np.inf if solver == "woodbury" else 1.0) if solver in ("auto", "woodbury") else None
    )
    if solver == "woodbury" and features is None:
        raise ValueError(
            coded(
                "solver='woodbury' is for kernels with fewer features than samples (kernel.explicit); this one has no"
                " such features here.",
                "M212",
            )
        )
    if features is not None and (solver == "woodbury" or 16 * features.width**2 <= gram.compute.budget):
        return "woodbury", features
    direct = gram.shape[0] <= _DIRECT or on_device(gram)
    return ("cholesky" if solver == "cholesky" or (solver == "auto" and fits(gram) and direct) else "cg"), None


def outlook(outline: Outline, solver: str, factors: int = 1, products: int = 1) -> Work:
    """An inverse and so many products in float64 for each of so many factors, one after the other."""
    way, features = route(outline, solver)
    n, speed = outline.shape[0], outline.speed
    if way == "woodbury":
        # Φ and Φ with its weights, p × p twice; a product with K is one with Φ
        p = features.width
        memory = 8 * (2.0 * n * p + 2 * p**2)
        seconds = speed.products(2.0 * n * p**2) + speed.factor(p) + products * speed.reading(4 * 8.0 * n * p)
        plan = f"a factor of {p} features, K = ΦΦᵀ never formed"
    elif way == "cholesky":
        single = n >= _SINGLE and not on_device(outline)
        dtype = np.float32 if single else np.float64
        memory = outline.bytes(dtype)
        steps = products * (_REFINING if single else 1)
        seconds = outline.storing(dtype) + speed.factor(n, dtype)
        seconds += steps * (outline.product(dtype=np.float64) + speed.reading(outline.bytes(dtype)))
        plan = f"a {np.dtype(dtype).name} Cholesky factor of {n} rows" + (", refined in float64" if single else "")
        if memory > outline.compute.budget:
            return Work(memory, factors * seconds, plan, way, "the factor is larger than the budget")
    else:
        rank = max(1, min(_RANK, max(16, outline.compute.budget // 8 // (8 * n)), n))
        memory = 8 * (2.0 * n * rank + 2 * rank**2)
        seconds = outline.storing(rows=rank, columns=n) + speed.products(2.0 * n * rank**2) * 2 + speed.factor(rank)
        seconds += products * _STEPS * (outline.product(dtype=np.float64) + speed.reading(4 * 8.0 * n * rank))
        plan = f"conjugate gradients, about {_STEPS} steps, with a preconditioner of rank {rank}; K is never stored"
    return Work(memory, factors * seconds, plan, way)


def fits(gram: Gram) -> bool:
    """Whether a factor of the whole matrix is within the budget."""
    n = gram.shape[0]
    return n * n * (4 if n >= _SINGLE and not on_device(gram) else 8) <= 0.8 * gram.compute.budget


def on_device(gram: Gram) -> bool:
    return arrays.is_tensor(gram.diag())
