"""Canonical correlations between two views that are each given by the principal components of their matrix.

max ⟨K_x α, K_y β⟩ subject to α^T(K_x² + γ_x K_x)α = β^T(K_y² + γ_y K_y)β = 1, both matrices centred. With K = UΛU^T and
D = (Λ/(Λ + γ))^½, the values are the singular values of D_x U_x^T U_y D_y = A Σ B^T, and f = K_x α = U_x D_x A. Without
γ any two views of n items are perfectly correlated once their ranks sum to more than n − 1: two subspaces of R^{n−1}
that must meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array
from mercer.native import lapack
from mercer.native.linalg import signs, singular_values, svd, thin_svd
from mercer.runtime import threads
from mercer.troubles import coded

_WHOLE = 300  # components below which all singular values are found


@dataclass(frozen=True, eq=False)
class Spectra:
    """Eigenvalues, falling and positive, and eigenvectors (n, r) of a centred matrix; of weighted items, of P S K S P
    with S² = diag(``weights``).
    """

    values: Array
    vectors: Array
    weights: Array | None = None

    @classmethod
    def of(cls, scores: Array, weights: Array | None = None) -> tuple[Spectra, Array, Array]:
        """(spectra, V, mean) of the matrix of centred rows: S(scores − mean) = U Λ^½ V^T."""
        mean = np.average(scores, axis=0, weights=weights)
        U, singular, Vt = thin_svd(scores - mean if weights is None else np.sqrt(weights)[:, None] * (scores - mean))
        # they fall
        used = int(
            np.sum(
                singular > max(scores.shape) * np.finfo(np.float64).eps * max(float(singular.max(initial=0.0)), 1e-300)
            )
        )
        return cls(singular[:used] ** 2, U[:, :used], weights), Vt[:used].T, mean

    def scores(self, most: int | None = None) -> Array:
        """The first ``most`` principal components of the items, centred: S^−1 U Λ^½."""
        out: Array = self.vectors[:, :most] * np.sqrt(self.values[:most])
        return out if self.weights is None else out / np.sqrt(self.weights)[:, None]

    @property
    def rank(self) -> int:
        return len(self.values)

    def shrunk(self, alpha: float) -> Array:
        """D."""
        return np.sqrt(self.values / (self.values + alpha))


@dataclass(frozen=True, eq=False)
class Canonical:
    """``values`` Σ, and for each view the weights (r, count) of its principal components: f = Σ_l weight_l·(score
    l).
    """

    values: Array
    x: Array
    y: Array


class Degenerate(ValueError):
    """Without regularisation these views correlate perfectly, whatever they are."""


def canonical(x: Spectra, y: Spectra, count: int, alpha: tuple[float, float], inner: Array | None = None) -> Canonical:
    """The ``count`` largest canonical values, and the weights of both views; ``inner`` is U_x^T U_y, where it is
    known.
    """
    n = len(x.vectors)
    for gamma in alpha:
        if not gamma >= 0:
            raise ValueError(coded(f"alpha={gamma!r}: the regularisation must be a number of at least 0.", "M205"))
    if min(alpha) == 0 and x.rank + y.rank > n - 1:
        raise Degenerate(
            coded(
                "Without regularisation every pair of views would correlate perfectly here: their centred matrices"
                f" have ranks {x.rank} and {y.rank}, and two subspaces of dimensions that sum to more than n − 1 ="
                f" {n - 1} always meet. Give alpha > 0 (or None to have it chosen), or reduce the number of columns or"
                " the rank.",
                "M307",
            )
        )
    Dx, Dy = x.shrunk(alpha[0]), y.shrunk(alpha[1])
    M = Dx[:, None] * (x.vectors.T @ y.vectors if inner is None else inner) * Dy
    size = float(np.max(np.abs(M), initial=0.0)) or 1.0  # where γ is large, tiny
    A, values, B = _largest(M / size, min(count, *M.shape))
    values = values * size
    f = x.vectors @ (Dx[:, None] * A)
    sign = signs(f if x.weights is None else f / np.sqrt(x.weights)[:, None])
    return Canonical(
        np.minimum(values, 1.0),
        sign * A / np.sqrt(x.values + alpha[0])[:, None],
        sign * B / np.sqrt(y.values + alpha[1])[:, None],
    )


def _largest(M: Array, count: int) -> tuple[Array, Array, Array]:
    """Singular vectors and values, the largest first."""
    small = M if M.shape[0] >= M.shape[1] else M.T
    if small.shape[1] <= _WHOLE or 4 * count >= small.shape[1]:
        with threads.single_threaded_if_small(small.shape[1]):
            A, values, Bt = svd(M)
        return A[:, :count], values[:count], Bt[:count].T
    squares, B = lapack.eigh_largest(small.T @ small, count)
    values, B = np.sqrt(np.maximum(squares[::-1], 0.0)), B[:, ::-1]
    A = small @ B / np.maximum(values, 1e-300)
    return (A, values, B) if M.shape[0] >= M.shape[1] else (B, values, A)


def largest_values(x: Spectra, y: Spectra, regs: list[tuple[float, float]], order: Array) -> Array:
    """The first canonical value for each γ, the items of y taken in another order."""
    with threads.single_threaded_if_small(max(x.rank, y.rank)):
        inner = x.vectors.T @ y.vectors[order]
        return np.array([singular_values(x.shrunk(a)[:, None] * inner * y.shrunk(b))[0] for a, b in regs])


def correlations(F: Array, G: Array, weights: Array | None = None) -> Array:
    """The empirical correlation of each column of F with the same column of G; 0 where one is constant."""
    F, G = (_unit(Z, weights) for Z in (F, G))
    return np.einsum("ij,ij->j", F, G)


def _unit(Z: Array, weights: Array | None) -> Array:
    """Columns S(z − mean) of length 1; constant ones 0."""
    Z = Z - np.average(Z, axis=0, weights=weights)
    Z = Z if weights is None else np.sqrt(weights)[:, None] * Z
    largest = np.max(np.abs(Z), axis=0, initial=0.0)
    Z = np.divide(Z, largest, out=np.zeros_like(Z), where=largest > 0)  # squares of tiny numbers would vanish
    return Z / np.maximum(np.linalg.norm(Z, axis=0), 1.0)


def choose_reg(
    X: Array,
    Y: Array,
    count: int,
    candidates: list[tuple[float, float]],
    folds: list[tuple[Array, Array]],
    weights: Array | None = None,
) -> tuple[tuple[float, float], Array]:
    """The candidate of the largest correlation on held-out items, the mean over folds and components, and those of all;
    X, Y are scores (n, r).
    """
    found = np.zeros((len(folds), len(candidates)))
    for k, (train, test) in enumerate(folds):
        w, held = (None, None) if weights is None else (weights[train], weights[test])
        (x, Vx, mean_x), (y, Vy, mean_y) = Spectra.of(X[train], w), Spectra.of(Y[train], w)
        inner = x.vectors.T @ y.vectors  # serves all candidates
        new_x, new_y = (X[test] - mean_x) @ Vx, (Y[test] - mean_y) @ Vy
        for c, alpha in enumerate(candidates):
            try:
                s = canonical(x, y, count, alpha, inner)
            except Degenerate:
                found[k, c] = -np.inf
                continue
            found[k, c] = float(np.mean(correlations(new_x @ s.x, new_y @ s.y, held)))
    scores = found.mean(axis=0)
    return candidates[int(np.argmax(scores))], scores
