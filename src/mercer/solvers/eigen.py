"""The largest eigenvalues of a Gram matrix, centred or not: by all of them, by Lanczos, or by block Krylov spaces that
need only products.

Kernel PCA, spectral clustering and kernel CCA ask no more of their matrix, and it need not exist as numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from mercer import arrays
from mercer.annotations import RandomState
from mercer.arrays import Array
from mercer.gram import Cost, Gram, Outline, Use, Work, held, outlined
from mercer.native.linalg import signed
from mercer.problems import Eigen, EigenSolution
from mercer.runtime import threads
from mercer.runtime.randomness import generator
from mercer.runtime.watch import asked_to_stop
from mercer.solvers import spectral
from mercer.solvers.spectral import Eigendecomposition
from mercer.troubles import coded

_SMALL = 400  # rows that are decomposed as they are
_COARSE = 3e-6  # the residual to which float32 products serve
_NARROW = 2000  # features whose singular values are all found
_COUNTED = 4000  # rows of an indefinite matrix whose negative eigenvalues are all counted
_STEPS = 12  # of a Krylov space, by experience
SOLVERS = ("auto", "exact", "lanczos", "krylov")


def solve_eigen(
    problem: Eigen,
    gram: Gram,
    solver: str = "auto",
    *,
    tol: float = 1e-9,
    max_iter: int = 300,
    random_state: RandomState = 0,
) -> EigenSolution:
    """The decision table: everything where the matrix is small, much of it is asked for, or features are few; else
    block Krylov.

    ``tol`` is for the residual over the largest eigenvalue. Memory: exact, two matrices; the others, some vectors and
    what products need.
    """
    n = gram.shape[0]
    solver = route(gram, problem.count, solver)
    if solver == "exact":
        return _exact(problem, gram)
    matrix = _Operator(held(gram, Use.PRODUCTS), problem)
    tol = max(tol, 1e-6 if gram.dtype == np.float32 else 1e-14)
    rng = generator(random_state)
    count = min(problem.count, n - int(problem.centred))
    with threads.single_threaded_blas():  # matrices of few columns
        if solver == "lanczos" and count < n - 1:
            values, vectors, steps, residual = _lanczos(matrix, count, tol, max_iter, rng)
        else:
            start = matrix.project(rng.standard_normal((n, block_size(n, count))))
            options: dict[str, Any] = {"tol": tol, "max_iter": max_iter}
            in_two = gram.recomputable and gram.cost is Cost.CHEAP and gram.dtype == np.float64
            found = _mixed(matrix, start, count, options) if in_two else None
            values, vectors, steps, residual = found or block_krylov(
                matrix.__matmul__, start, count, matrix.space, **options
            )
    return EigenSolution(values, signed(vectors), matrix.means, matrix.trace, residual, steps, solver)


def route(gram: Gram, count: int, solver: str = "auto") -> str:
    """Which of "exact", "lanczos" and "krylov" it will be."""
    if solver != "auto":
        return solver
    features = gram.features()
    few = features is not None and features.width <= max(_NARROW, 4 * count)
    return "exact" if few or gram.shape[0] <= _SMALL or 8 * count >= gram.shape[0] else "krylov"


def outlook(outline: Outline, count: int, solver: str = "auto") -> Work:
    """``solve_eigen``; how many steps a Krylov space takes is for the eigenvalues to say, most often about ten."""
    n, way = outline.shape[0], route(outline, count, solver)
    if way == "exact":
        return spectral.outlook(outline)
    matrix, made = outlined(outline, Use.PRODUCTS)
    block = block_size(n, count)
    room = min(n, max(8 * block, 2 * count + 4 * block)) + block
    memory, seconds = 8.0 * n * (room + 5 * block), _STEPS * outline.speed.products(4.0 * n * block * room)
    if outline.recomputable and outline.cost is Cost.CHEAP and outline.dtype == np.float64:
        coarse, stored = outlined(matrix, Use.COARSE_PRODUCTS)
        memory, seconds = memory + stored.memory + 8.0 * n * block, seconds + stored.seconds
        seconds += _STEPS * coarse.product(block, np.float32) + matrix.product(block, np.float64)
    else:
        seconds += _STEPS * matrix.product(block)
    plan = f"{count} eigenvectors by {way} spaces, about {_STEPS} products of the {n} × {n} matrix with {block} vectors"
    return Work(memory + made.memory, seconds + made.seconds, plan, way)


class _Operator:
    """A = P S K S P by products. The first product also finds ``means``, at the cost of one more column."""

    def __init__(self, gram: Gram, problem: Eigen) -> None:
        self.gram, self.weights = gram, np.asarray(problem.weights, np.float64)
        self.scale = np.sqrt(self.weights)
        self.u = self.scale / np.linalg.norm(self.scale) if problem.centred else None
        self.means = np.empty(0)

    def project(self, V: Array) -> Array:
        return V if self.u is None else V - np.outer(self.u, self.u @ V)

    def __matmul__(self, V: Array) -> Array:
        right = self.scale[:, None] * self.project(V)
        if self.means.size:
            return self.project(self.scale[:, None] * self._product(right))
        products = self._product(np.column_stack([right, self.weights / self.weights.sum()]))
        self.means = products[:, -1]
        return self.project(self.scale[:, None] * products[:, :-1])

    def _product(self, V: Array) -> Array:
        return np.asarray(arrays.to_numpy(self.gram @ V), np.float64)

    @property
    def space(self) -> int:
        """The dimension of the space it acts in."""
        return len(self.scale) - (self.u is not None)

    @property
    def trace(self) -> float:
        whole = float(self.weights @ np.asarray(arrays.to_numpy(self.gram.diag()), np.float64))
        return whole if self.u is None else whole - float(self.weights @ self.means)


def _exact(problem: Eigen, gram: Gram) -> EigenSolution:
    found = Eigendecomposition.of(gram, problem.weights, problem.centred, problem.count)
    order = np.argsort(found.values)[::-1][: problem.count]
    matrix = _Operator(gram, problem)
    matrix.means = matrix._product(matrix.weights / matrix.weights.sum())
    return EigenSolution(
        found.values[order], signed(found.vectors[:, order]), matrix.means, matrix.trace, 0.0, 1, "exact", found.values
    )


@dataclass(frozen=True)
class Negatives:
    """``count`` eigenvalues are negative and sum to −``mass``; where not ``every`` one was looked for, at least so many
    and so much.
    """

    count: int = 0
    mass: float = 0.0
    every: bool = True

    @classmethod
    def among(cls, values: Array, floor: float, every: bool = True) -> Negatives:
        """Those below −``floor``."""
        found = values[values < -floor]
        return cls(len(found), -float(found.sum()), every)


def negatives(problem: Eigen, gram: Gram, floor: float, random_state: RandomState = 0) -> Negatives:
    """The eigenvalues below −``floor``. The smallest ones by products; if there are any, all of them, where the matrix
    is of a size to decompose.
    """
    n = gram.shape[0]
    matrix = _Operator(held(gram, Use.PRODUCTS), problem)
    start = matrix.project(generator(random_state).standard_normal((n, min(n, 8))))
    with threads.single_threaded_blas():
        least, _, _, _ = block_krylov(lambda V: -(matrix @ V), start, min(4, n), matrix.space, tol=1e-3, max_iter=40)
    below = Negatives.among(-least, floor, every=False)
    if not below.count:
        return Negatives()
    if n > _COUNTED or 3 * 8 * n * n > gram.compute.budget:
        return below
    return Negatives.among(Eigendecomposition.of(gram, problem.weights, problem.centred).values, floor)


def _lanczos(
    matrix: _Operator, count: int, tol: float, max_iter: int, rng: np.random.Generator
) -> tuple[Array, Array, int, float]:
    """ARPACK's, one vector at a time, restarted implicitly."""
    n, calls = len(matrix.scale), [0]

    def product(v: Array) -> Array:
        calls[0] += 1
        return (matrix @ v.reshape(n, 1))[:, 0]

    start = matrix.project(rng.standard_normal((n, 1)))[:, 0]
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    try:
        values, vectors = eigsh(operator, count, which="LA", v0=start, tol=tol, maxiter=max_iter * max(count, 10))
    except ArpackError as failure:
        raise RuntimeError(
            coded(f"ARPACK did not find {count} eigenvalues ({failure}); use solver='krylov'.", "M301")
        ) from None
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    left = matrix @ vectors - vectors * values
    return (
        values,
        vectors,
        calls[0],
        float(np.max(np.linalg.norm(left, axis=0), initial=0.0)) / max(float(values.max(initial=0.0)), 1e-300),
    )


def _mixed(
    matrix: _Operator, start: Array, count: int, options: dict[str, Any]
) -> tuple[Array, Array, int, float] | None:
    """Most products in float32, one of them in float64; None where float32 does not resolve the matrix.

    A Krylov space of float32 products gives vectors to a few digits. The product with these is then exact, and what
    follows works on their residuals: a correction of size δ with products of relative error ε leaves δε. Where that is
    not below ``tol``, once more from what it gave.
    """
    problem = Eigen(count, matrix.weights, matrix.u is not None)
    single = _Operator(held(matrix.gram, Use.COARSE_PRODUCTS), problem)
    try:
        values, V, steps, _ = block_krylov(
            single.__matmul__, start, count, matrix.space, **{**options, "tol": max(options["tol"], _COARSE)}, more=True
        )
    except FloatingPointError:  # beyond the range of float32
        return None
    # the size of what is rounded, over the largest eigenvalue that centring leaves
    noise = (
        8
        * np.finfo(np.float32).eps
        * max(1.0, float(matrix.weights @ np.abs(single.means)) / max(float(values[0]), 1e-300))
    )
    while noise < 1e-3 and steps < options["max_iter"]:
        first = _orthonormal(V)
        values, V, more, residual = block_krylov(
            _Once(matrix, single), first, count, matrix.space, **options, more=True
        )
        steps += more
        X = V[:, :count]
        moved = float(np.max(np.linalg.norm(X - first @ (first.T @ X), axis=0), initial=0.0))
        if moved * noise <= options["tol"]:
            return values, X, steps, residual
    return None


class _Once:
    """Products with one matrix the first time, with another afterwards."""

    def __init__(self, first: _Operator, then: _Operator) -> None:
        self.now, self.then = first, then

    def __call__(self, V: Array) -> Array:
        product = self.now @ V
        self.now = self.then
        return product


def block_size(n: int, count: int) -> int:
    """Vectors of a block with which ``count`` eigenvalues are looked for."""
    return min(n, max(8, count + 4 + count // 4))


def block_krylov(
    product: Callable[[Array], Array],
    start: Array,
    count: int,
    space: int,
    *,
    tol: float,
    max_iter: int,
    more: bool = False,
) -> tuple[Array, Array, int, float]:
    """(values, vectors, steps, residual): Rayleigh–Ritz in the Krylov space of a block, kept orthonormal by two
    projections, restarted with its best.

    A block converges as fast as its number of vectors allows (gap to λ_{b+1}, not to the next eigenvalue), and a pass
    over the matrix costs nearly the same for one vector as for a dozen. ``space`` is the dimension of the space that
    ``start`` lies in; with ``more``, a whole block of vectors is returned, of which ``count`` have converged.
    """
    n, block = start.shape
    room = min(n, max(8 * block, 2 * count + 4 * block))
    basis = np.empty((n, room + block), order="F")
    T = np.zeros((room + block, room + block))
    fresh = _orthonormal(start)
    size = 0
    values, residual, steps = np.empty(0), np.inf, 0
    while True:
        steps += 1
        width = fresh.shape[1]
        now = slice(size, size + width)
        basis[:, now] = fresh
        W = product(fresh)
        Q = basis[:, : now.stop]
        H = Q.T @ W
        W -= Q @ H
        again = Q.T @ W
        W -= Q @ again
        T[: now.stop, now] = H + again
        T[now, : now.stop] = T[: now.stop, now].T
        T[now, now] = (T[now, now] + T[now, now].T) / 2
        size = now.stop
        fresh, R = _remainder(W, float(np.max(np.abs(H), initial=0.0)), space - size)
        theta, vectors = np.linalg.eigh(T[:size, :size])
        theta, vectors = theta[::-1], vectors[:, ::-1]
        wanted = min(count, size)
        left = np.linalg.norm(R @ vectors[now][:, :wanted], axis=0) if fresh.size else np.zeros(wanted)
        residual = float(left.max(initial=0.0)) / max(float(theta[0]), 1e-300)
        values = theta[:wanted]
        stop = asked_to_stop(step=steps, residual=residual)
        if stop or not fresh.size or (wanted == count and residual <= tol) or steps >= max_iter:
            return values, basis[:, :size] @ (vectors[:, :block] if more else vectors[:, :wanted]), steps, residual
        if size + fresh.shape[1] > room:  # restart
            kept = min(size, count + block)
            basis[:, :kept] = basis[:, :size] @ vectors[:, :kept]
            T[:] = 0.0
            T[np.arange(kept), np.arange(kept)] = theta[:kept]
            size = kept
            fresh = _orthonormal(fresh - basis[:, :size] @ (basis[:, :size].T @ fresh))


def _orthonormal(V: Array) -> Array:
    return np.asarray(linalg.qr(V, mode="economic", check_finite=False)[0])


def _remainder(W: Array, size: float, room: int) -> tuple[Array, Array]:
    """Q, R with W = Q R: an orthonormal basis of what is new in W, at most ``room`` vectors; none where the space is
    invariant.
    """
    Q, R, order = linalg.qr(W, mode="economic", pivoting=True, check_finite=False)
    rank = min(int(np.sum(np.abs(np.diag(R)) > 1e-13 * max(size, 1e-300))), room)
    back = np.empty_like(R)
    back[:, order] = R
    return Q[:, :rank], back[:rank]
