"""Clusters from eigenvectors: the relaxation of normalised cut and of kernel k-means, and the way back from
eigenvectors to labels.

normalised cut       max Σ_c z_c^T A z_c/z_c^T D z_c over partitions z, D the degrees;
                     relaxed: the largest eigenvectors of D^−½ A D^−½
kernel k-means       max Σ_c z_c^T K z_c/z_c^T z_c; relaxed: the largest eigenvectors of K
Both are W^½ K W^½ for weights w: 1/degree, or those of the samples. Weighted kernel k-means with weights d_i and kernel
D^−1 A D^−1 is normalised cut.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from mercer import arrays
from mercer.annotations import RandomState
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.gram import Gram, Outline, Work
from mercer.native.linalg import NotPositive, cholesky, cholesky_solve, signed
from mercer.problems import Eigen, EigenSolution
from mercer.runtime import threads
from mercer.runtime.randomness import generator
from mercer.runtime.watch import abandonable
from mercer.solvers import eigen
from mercer.solvers.eigen import block_krylov, block_size, solve_eigen
from mercer.solvers.lloyd import Clustering, Points, cluster

_STEPS = 5  # with the inverse, by experience
_SMALL = 700  # rows that are decomposed as they are
_LARGE = 12_000  # rows up to which the matrix is factored
_BEYOND = 1e-7  # how far beyond 1, the largest eigenvalue, the shift lies


def relaxed(
    gram: Gram, weights: Array, count: int, *, normalised: bool, random_state: RandomState = 0
) -> EigenSolution:
    """The ``count`` largest eigenvectors of W^½ K W^½.

    Normalised, all eigenvalues are at most 1, and of well separated clusters so many are near 1 that no iteration with
    products would part them: where the matrix fits, it is with the inverse of (1 + ε)I − W^½KW^½, whose factor costs
    n³/3.
    """
    n = gram.shape[0]
    graph = gram.sparse() if normalised and n > _SMALL else None
    if graph is not None:
        return _of_graph(graph, weights, count, random_state)
    if not by_inverse(gram, normalised):
        return solve_eigen(
            Eigen(min(count, n), weights, centred=False),
            gram,
            "exact" if n <= _SMALL else "auto",
            tol=1e-8,
            random_state=random_state,
        )
    root = np.sqrt(weights)
    S = np.asarray(arrays.to_numpy(gram.fresh(np.float64)))
    S *= root[:, None]
    S *= -root[None, :]
    S[np.arange(n), np.arange(n)] += 1 + _BEYOND
    trace = n * (1 + _BEYOND) - float(np.trace(S))
    try:
        L = cholesky(S, gram.compute.workers)
    except NotPositive:  # similarities that are not those of a graph
        return solve_eigen(
            Eigen(min(count, n), weights, centred=False), gram, "auto", tol=1e-8, random_state=random_state
        )
    start = generator(random_state).standard_normal((n, block_size(n, count)))
    with threads.single_threaded_blas():
        values, vectors, steps, residual = block_krylov(
            lambda V: cholesky_solve(L, V), start, count, n, tol=1e-8, max_iter=60
        )
    return EigenSolution(1 + _BEYOND - 1 / values, signed(vectors), np.empty(0), trace, residual, steps, "inverse")


def by_inverse(gram: Gram, normalised: bool) -> bool:
    """Whether the matrix is factored."""
    n = gram.shape[0]
    return normalised and _SMALL < n <= _LARGE and 2 * 8 * n * n <= gram.compute.budget


def outlook(outline: Outline, count: int, *, normalised: bool) -> Work:
    """``relaxed``."""
    n = outline.shape[0]
    if not by_inverse(outline, normalised):
        return eigen.outlook(outline, min(count, n), "exact" if n <= _SMALL else "auto")
    block = block_size(n, count)
    memory = outline.bytes(np.float64) + 8.0 * n * (2 * count + 10 * block)
    seconds = outline.storing(np.float64) + outline.speed.factor(n)
    seconds += _STEPS * outline.speed.reading(2 * outline.bytes(np.float64))
    return Work(memory, seconds, f"{count} eigenvectors by the inverse, a Cholesky factor of {n} rows", "inverse")


def _of_graph(graph: sparse.csr_array, weights: Array, count: int, random_state: RandomState) -> EigenSolution:
    """Of a sparse matrix: by products, which are all but free; where these do not part the eigenvalues, the graph is
    one that falls into parts along few edges, and so does its factor: then by the inverse.
    """
    n, root = graph.shape[0], sparse.diags_array(np.sqrt(weights))
    S = (root @ graph @ root).tocsr()
    start = generator(random_state).standard_normal((n, block_size(n, count)))
    with threads.single_threaded_blas():
        values, vectors, steps, residual = block_krylov(S.__matmul__, start, count, n, tol=1e-8, max_iter=60)
        if residual > 1e-8:
            shifted = ((1 + _BEYOND) * sparse.eye_array(n) - S).tocsc()
            symmetric = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
            factor = abandonable(lambda: splu(shifted, **symmetric))
            values, vectors, more, residual = block_krylov(factor.solve, start, count, n, tol=1e-8, max_iter=60)
            values, steps = 1 + _BEYOND - 1 / values, steps + more
    return EigenSolution(values, signed(vectors), np.empty(0), float(S.trace()), residual, steps, "graph")


def by_pivots(V: Array) -> Array:
    """Labels from k eigenvectors (n, k) by QR with column pivoting: k rows that are as orthogonal as can be stand for
    the clusters (Damle et al. 2018).
    """
    _, _, pivots = linalg.qr(V.T, mode="economic", pivoting=True, check_finite=False)
    U, _, Wt = linalg.svd(V[pivots[: V.shape[1]]].T, check_finite=False)
    return np.asarray(np.argmax(np.abs(V @ (U @ Wt)), axis=1))


def on_sphere(V: Array) -> Array:
    """Rows of length 1; rows of 0 stay."""
    norms = np.linalg.norm(V, axis=1)
    return V / np.where(norms > 0, norms, 1.0)[:, None]


def by_means(R: Array, weights: Array, start: Array, count: int, n_init: int, rng: RandomState) -> Clustering:
    """k-means of rows, from given labels and ``n_init`` starts of its own."""
    space = Points(R, weights, Compute().workers)
    return cluster(space, count, n_init=n_init, max_iter=100, random_state=rng, starts=[start])


def association(gram: Gram, labels: Array, count: int, weights: Array, mass: Array) -> float:
    """Σ_c z_c^T W K W z_c/(mass of c): what both cuts make large."""
    Z = np.zeros((len(labels), count))
    Z[np.arange(len(labels)), labels] = weights
    inside = np.einsum("ic,ic->c", Z, np.asarray(arrays.to_numpy(gram @ Z), np.float64))
    total = np.bincount(labels, weights=mass, minlength=count)
    return float(np.sum(np.divide(inside, total, out=np.zeros(count), where=total > 0)))
