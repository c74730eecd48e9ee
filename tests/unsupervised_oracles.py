"""Unsupervised learning by its definitions: dense matrices, loops and repeated rows, slow on purpose. Nothing here
comes from the library.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal

# -- kernel PCA
# ---------------------------------------------------------------------------------------------------------


def centred(K: Any) -> Any:
    """H K H, H = I − 11ᵀ/n."""
    H = np.eye(len(K)) - 1.0 / len(K)
    return H @ np.asarray(K, float) @ H


def kernel_pca(K: Any, m: int) -> tuple[Any, Any]:
    """The m largest eigenvalues of HKH, falling, and their eigenvectors, the largest |entry| of each positive."""
    values, vectors = np.linalg.eigh(centred(K))
    values, vectors = values[::-1][:m], vectors[:, ::-1][:, :m]
    return values, vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(m)])


def repeated(K: Any, w: Any) -> Any:
    """The matrix of the sample in which row i stands w_i times."""
    rows = np.repeat(np.arange(len(K)), w)
    return np.asarray(K)[np.ix_(rows, rows)]


def centred_rows(K: Any, K_new: Any) -> Any:
    """⟨φ(z) − μ, φ(x_j) − μ⟩ entry by entry, μ the mean of the training sample."""
    n, out = len(K), np.zeros(np.shape(K_new))
    for i, j in np.ndindex(*out.shape):
        out[i, j] = K_new[i, j] - sum(K_new[i]) / n - sum(K[:, j]) / n + np.sum(K) / n**2
    return out


def projections(K: Any, K_new: Any, m: int) -> Any:
    """f_l(z) = Σ_j u_jl/√λ_l ⟨φ(z) − μ, φ(x_j) − μ⟩."""
    values, vectors = kernel_pca(K, m)
    return centred_rows(K, K_new) @ vectors / np.sqrt(values)


def reconstruction_errors(K: Any, K_new: Any, diag_new: Any, m: int) -> Any:
    """‖φ(z) − μ‖² less the squared length of its projection onto m components."""
    n = len(K)
    squares = np.array([diag_new[i] - 2 * sum(K_new[i]) / n + np.sum(K) / n**2 for i in range(len(K_new))])
    return squares - np.sum(projections(K, K_new, m) ** 2, axis=1)


def sine(A: Any, B: Any) -> float:
    """The sine of the largest angle between the columns' spaces."""
    return float(np.sin(linalg.subspace_angles(np.asarray(A, float), np.asarray(B, float)).max()))


def up_to_sign(A: Any, B: Any) -> Any:
    """A with each column turned to the side of B's."""
    return A * np.where(np.sum(A * B, axis=0) < 0, -1.0, 1.0)


# -- clusters
# -----------------------------------------------------------------------------------------------------------


def squared_distances(
    K: Any, labels: Any, n_clusters: int, w: Any = None, K_new: Any = None, diag_new: Any = None
) -> Any:
    """‖φ(z) − μ_c‖² = k(z,z) − 2/W Σ_{i∈c} w_i k(z,x_i) + 1/W² Σ_{i,j∈c} w_i w_j k(x_i,x_j), W = Σ_{i∈c} w_i."""
    w = np.ones(len(K)) if w is None else w
    K_new, diag_new = (K, np.diagonal(K)) if K_new is None else (K_new, diag_new)
    out = np.full((len(K_new), n_clusters), np.inf)
    for c in range(n_clusters):
        members = [i for i in range(len(K)) if labels[i] == c]
        W = sum(w[i] for i in members)
        if not W > 0:
            continue
        inner = sum(w[i] * w[j] * K[i, j] for i in members for j in members) / W**2
        for z in range(len(K_new)):
            out[z, c] = diag_new[z] - 2 * sum(w[i] * K_new[z, i] for i in members) / W + inner
    return out


def kernel_kmeans_objective(K: Any, labels: Any, w: Any = None) -> float:
    """Σ_i w_i ‖φ(x_i) − μ_{c(i)}‖²."""
    w = np.ones(len(K)) if w is None else w
    d = squared_distances(K, labels, int(max(labels)) + 1, w)
    return float(sum(w[i] * d[i, labels[i]] for i in range(len(K))))


def lloyd_step(K: Any, labels: Any, n_clusters: int, w: Any = None) -> Any:
    """Everyone to the nearest centre."""
    return squared_distances(K, labels, n_clusters, w).argmin(axis=1)


def normalised_cut(A: Any, labels: Any) -> float:
    """Σ_c cut(c, rest)/vol(c), vol(c) = Σ_{i∈c} d_i."""
    total, n = 0.0, len(A)
    for c in sorted(set(labels)):
        inside = [i for i in range(n) if labels[i] == c]
        outside = [i for i in range(n) if labels[i] != c]
        total += sum(A[i, j] for i in inside for j in outside) / sum(A[i, j] for i in inside for j in range(n))
    return float(total)


def cut_kernel(A: Any, shift: float) -> tuple[Any, Any]:
    """(σD⁻¹ + D⁻¹AD⁻¹, degrees): with these weights, kernel k-means is the normalised cut up to a constant."""
    d = np.sum(A, axis=1)
    return shift * np.diag(1 / d) + A / np.outer(d, d), d


def partitions(n: int) -> Iterator[Any]:
    """All partitions of n things into two non-empty parts."""
    for rest in itertools.product([0, 1], repeat=n - 1):
        if any(rest):
            yield np.array([0, *rest])


def same_partition(a: Any, b: Any) -> bool:
    """Equal up to the names of the clusters."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len({p for p, _ in pairs}) == len({q for _, q in pairs})


# -- Gaussian mixtures
# --------------------------------------------------------------------------------------------------


def matrices(covariances: Any, kind: str, k: int, d: int) -> list[Any]:
    """One d × d matrix for each component."""
    if kind == "full":
        return [np.asarray(covariances[j]) for j in range(k)]
    if kind == "tied":
        return [np.asarray(covariances)] * k
    return [np.diag(covariances[j]) if kind == "diag" else covariances[j] * np.eye(d) for j in range(k)]


def mixture_joint(X: Any, weights: Any, means: Any, covariances: Any, kind: str) -> Any:
    """log π_j + log N(x_i | μ_j, Σ_j), one column for each component."""
    k, d = np.shape(means)
    sigma = matrices(covariances, kind, k, d)
    columns = [np.log(weights[j]) + np.atleast_1d(multivariate_normal(means[j], sigma[j]).logpdf(X)) for j in range(k)]
    return np.column_stack(columns)


def mixture_log_density(X: Any, weights: Any, means: Any, covariances: Any, kind: str) -> Any:
    return logsumexp(mixture_joint(X, weights, means, covariances, kind), axis=1)


def em_step(X: Any, w: Any, weights: Any, means: Any, covariances: Any, kind: str, reg: float) -> tuple[Any, Any, Any]:
    """q_ij ∝ π_j N(x_i | μ_j, Σ_j); weights, means and covariances of q, reg on the diagonal."""
    (n, d), k = np.shape(X), len(weights)
    q = softmax(mixture_joint(X, weights, means, covariances, kind), axis=1) * np.asarray(w, float)[:, None]
    mass = q.sum(axis=0)
    new_means = np.array([sum(q[i, j] * X[i] for i in range(n)) / mass[j] for j in range(k)])
    full = np.zeros((k, d, d))
    for j in range(k):
        for i in range(n):
            full[j] += q[i, j] * np.outer(X[i] - new_means[j], X[i] - new_means[j]) / mass[j]
    eye = np.eye(d)
    new_covariances = {
        "full": lambda: full + reg * eye,
        "tied": lambda: np.tensordot(mass, full, 1) / mass.sum() + reg * eye,
        "diag": lambda: np.array([np.diagonal(s) for s in full]) + reg,
        "spherical": lambda: np.array([np.trace(s) / d for s in full]) + reg,
    }[kind]()
    return mass / mass.sum(), new_means, new_covariances


# -- correlation between views
# ------------------------------------------------------------------------------------------


def _range(K: Any, rtol: float = 1e-10) -> Any:
    values, vectors = np.linalg.eigh(K)
    return vectors[:, values > rtol * values[-1]]


def kernel_cca(Kx: Any, Ky: Any, gamma: float, m: int) -> tuple[Any, Any, Any]:
    """[[0, KxKy], [KyKx, 0]] v = λ [[Kx² + γKx, 0], [0, Ky² + γKy]] v on the ranges of the centred matrices: (λ
    falling, α, β).

    Each of α, β is scaled to αᵀ(K² + γK)α = 1.
    """
    Kx, Ky = centred(Kx), centred(Ky)
    U, V = _range(Kx), _range(Ky)
    left, right, across = U.T @ (Kx @ Kx + gamma * Kx) @ U, V.T @ (Ky @ Ky + gamma * Ky) @ V, U.T @ Kx @ Ky @ V
    top = np.hstack([np.zeros((U.shape[1], U.shape[1])), across])
    bottom = np.hstack([across.T, np.zeros((V.shape[1], V.shape[1]))])
    values, vectors = linalg.eigh(np.vstack([top, bottom]), linalg.block_diag(left, right))
    values, vectors = values[::-1][:m], vectors[:, ::-1][:, :m] * np.sqrt(2)  # half of the norm lies in each block
    return values, U @ vectors[: U.shape[1]], V @ vectors[U.shape[1] :]


def correlation(a: Any, b: Any) -> float:
    a, b = a - np.mean(a), b - np.mean(b)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


Kernel = Callable[[Any, Any], float]


def temporal_kernel_cca(
    X: Any, Y: Any, kx: Kernel, ky: Kernel, max_lag: int, gamma: float, m: int = 1
) -> tuple[Any, Any, Any]:
    """(lags, λ of the eigenproblem, correlogram (m, lags)): x embedded at all lags over the times that have them all,
    both signs free.
    """
    lags = np.arange(-max_lag, max_lag + 1)
    times = np.arange(max_lag, len(X) - max_lag)
    n = len(times)
    by_lag = np.zeros((len(lags), n, n))
    for a, tau in enumerate(lags):
        for i, j in np.ndindex(n, n):
            by_lag[a, i, j] = kx(X[times[i] - tau], X[times[j] - tau])
    Ky = np.array([[ky(Y[s], Y[t]) for t in times] for s in times])
    values, alpha, beta = kernel_cca(by_lag.sum(axis=0), Ky, gamma, m)
    g = centred(Ky) @ beta
    correlogram = np.array(
        [[correlation(by_lag[a] @ alpha[:, c], g[:, c]) for a in range(len(lags))] for c in range(m)]
    )
    return lags, values, correlogram


# -- tests
# --------------------------------------------------------------------------------------------------------------


def mmd2(Kxx: Any, Kyy: Any, Kxy: Any, unbiased: bool) -> float:
    """Mean k(x,x') + mean k(y,y') − 2 mean k(x,y); unbiased: without the pairs of a point with itself."""
    n, m = np.shape(Kxy)
    xx = sum(Kxx[i, j] for i in range(n) for j in range(n) if i != j or not unbiased)
    yy = sum(Kyy[i, j] for i in range(m) for j in range(m) if i != j or not unbiased)
    xy = sum(Kxy[i, j] for i in range(n) for j in range(m))
    return float(
        xx / (n * (n - 1) if unbiased else n * n) + yy / (m * (m - 1) if unbiased else m * m) - 2 * xy / (n * m)
    )


def hsic(K: Any, L: Any) -> float:
    """Mean k l + mean k · mean l − 2 mean_i (mean_j k_ij)(mean_j l_ij) = Tr(KHLH)/n²."""
    n = len(K)
    first = sum(K[i, j] * L[i, j] for i in range(n) for j in range(n)) / n**2
    means = sum(K[i, j] for i in range(n) for j in range(n)) * sum(L[i, j] for i in range(n) for j in range(n)) / n**4
    cross = sum(sum(K[i, j] for j in range(n)) * sum(L[i, j] for j in range(n)) for i in range(n)) / n**3
    return float(first + means - 2 * cross)
