"""Are x and y independent once z is known?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from sklearn.utils import check_array

from mercer import arrays
from mercer.annotations import RandomNumbers, RandomState, Samples
from mercer.arrays import Array
from mercer.data import Vectors, size
from mercer.hypotheses.kernels import items
from mercer.hypotheses.permutations import check_permutations
from mercer.hypotheses.result import Outcome, permutation_outcome
from mercer.kernels.base import Kernel
from mercer.kernels.families import squared_distances
from mercer.kernels.vectors.radial import Gaussian
from mercer.native.linalg import centred, eigh
from mercer.runtime import threads
from mercer.runtime.randomness import drawn_from
from mercer.troubles import coded, coding_scikit_learn

_WIDTHS = 2.0 ** np.arange(-3, 4)  # of the kernel of z, in median distances
_RIDGES = 10.0 ** np.arange(-6, 2)
_NEIGHBOURS = 10
_SEEN = 1e-5  # of the largest eigenvalue: what is kept of a kernel's features


def kci_test(
    X: Samples, Y: Samples, Z: Samples, kernel_x: Kernel | None = None, kernel_y: Kernel | None = None,
    kernel_z: Kernel | None = None, *, method: str = "gamma", n_permutations: int = 1000,
    random_state: RandomState = None,
) -> Outcome:  # fmt: skip
    """X ⟂ Y | Z: T = Σ_ij ⟨a_i, a_j⟩⟨b_i, b_j⟩ k(z_i, z_j)/n, where a and b are what is left of φ(x) and ψ(y) after
    regression on z.

    Tests whether x and y are independent once z is known: whether z explains all dependence between them. The level is
    approximate.

    Parameters
    ----------
    X, Y, Z : collections of samples
        n items each, at least 10, that belong together. Of one dimension, numbers are a table of one column.
    kernel_x, kernel_y : Kernel or None, default=None
        For x and y; where these are vectors, for what the regression on z leaves of them, standardised. None:
        exp(−d²/2m), m the median squared distance.
    kernel_z : Kernel or None, default=None
        None: Gaussians of widths chosen by leave-one-out on standardised columns.
    method : {"gamma", "local"}, default="gamma"
        "gamma": the null's mean and variance, and a gamma distribution. "local": residuals a permuted among those of
        near z, ``n_permutations`` times.
    n_permutations : int, default=1000
        Only for "local".
    random_state : int, RandomState, Generator or None, default=None
        Only for "local".

    Returns
    -------
    Outcome
        With ``statistic`` and ``pvalue``; ``null`` is empty for "gamma".

    Raises
    ------
    ValueError
        If X, Y and Z are not of the same length, or have fewer than 10 items.

    See Also
    --------
    hsic_test : Independence without a condition; exact.

    Notes
    -----
    The plain permutation is invalid here: it destroys the dependence through z as well. And what a regression leaves
    over passes for dependence, so that with a fixed ridge, true hypotheses are rejected almost always when z decides
    much. Here vectors are first replaced by what a kernel ridge regression on z leaves of them (given z, nothing is
    lost), then their features are regressed again; widths and ridges are those of the least leave-one-out error; and
    the null is scaled by what the regressions themselves do to independent noise.

    Memory: some matrices of n². Time: n³.

    References
    ----------
    Zhang, K. et al. (2011). Kernel-based conditional independence test and application in causal discovery. UAI.

    Runge, J. (2018). Conditional independence testing based on a nearest-neighbor estimator of conditional mutual
    information. AISTATS.

    Examples
    --------
    x and y both follow z, and nothing else connects them:

    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal(120)
    >>> x, y = z + 0.5 * rng.standard_normal(120), z**2 + 0.5 * rng.standard_normal(120)
    >>> mc.hsic_test(x, y, n_permutations=200, random_state=0).pvalue < 0.01
    True
    >>> mc.kci_test(x, y, z).pvalue > 0.05
    True
    """
    if method not in ("gamma", "local"):
        raise ValueError(
            coded(
                f"method={method!r}: choose 'gamma' or 'local'. (A plain permutation is not valid for conditional"
                " independence.)",
                "M205",
            )
        )
    for k in (kernel_x, kernel_y, kernel_z):
        if k is not None and not isinstance(k, Kernel):
            raise TypeError(coded(f"kernel={k!r}: give a kernel such as mercer.Gaussian('median'), or None.", "M203"))
    X, Y, Z = (items(V, k) for V, k in ((X, kernel_x), (Y, kernel_y), (Z, kernel_z)))
    n = size(X)
    if size(Y) != n or size(Z) != n:
        raise ValueError(coded(f"X, Y and Z have {n}, {size(Y)} and {size(Z)} items: they must come together.", "M111"))
    if n < 10:
        raise ValueError(coded(f"{n} items are too few to see dependence given Z: at least 10 are needed.", "M310"))
    ridges, nearness, distances = _conditions(Z, kernel_z)
    with threads.single_threaded_if_small(n):
        a, S = _left(X, kernel_x, ridges, "X")
        b, R = _left(Y, kernel_y, ridges, "Y")
        noise = (S @ S.T) * (R @ R.T)
        scale = float(np.sum(noise * nearness) / np.trace(noise))
        name = "conditional independence"
        if method == "gamma":
            return _gamma(name, (a @ a.T) * (b @ b.T) * nearness, scale)
        W = (b @ b.T) * nearness
        rng, count = drawn_from(random_state), check_permutations(n_permutations)
        near = np.argsort(distances, axis=1, kind="stable")[:, : min(_NEIGHBOURS, n)]
        null = np.array([scale * _quadratic(a[_among(near, rng)], W) for _ in range(count)]) / n
        return permutation_outcome(name, _quadratic(a, W) / n, null, f"among {near.shape[1]} neighbours")


def _gamma(name: str, M: Array, scale: float) -> Outcome:
    n = len(M)
    own = np.diag(M)
    mean, variance = scale * float(own.sum()) / n, 2 * scale**2 * float(np.sum(M * M) - np.sum(own**2)) / n**2
    T = float(M.sum()) / n
    if not (mean > 0 and variance > 0):
        return Outcome(name, T, 1.0, note="nothing is left of X or Y given Z")
    return Outcome(name, T, float(stats.gamma.sf(T, mean**2 / variance, scale=variance / mean)), note="gamma")


def _quadratic(a: Array, W: Array) -> float:
    return float(np.einsum("ir,ir->", a, W @ a))


def _among(near: Array, rng: RandomNumbers) -> Array:
    """An order in which each item stands for one of its neighbours, as far as possible each once."""
    n, k = near.shape
    used, order = np.zeros(n, bool), np.empty(n, np.int64)
    shuffled = np.take_along_axis(near, np.argsort(rng.uniform(size=(n, k)), axis=1), axis=1)
    for i in rng.permutation(n):
        free = shuffled[i][~used[shuffled[i]]]
        order[i] = free[0] if len(free) else shuffled[i][-1]
        used[order[i]] = True
    return order


@dataclass(frozen=True, eq=False)
class _Ridges:
    """Kernel ridge regressions on z, each kernel decomposed once: K_z = U diag(w) U^T, centred."""

    spectra: list[tuple[Array, Array]]

    def best(self, targets: Array) -> Array:
        """S = I − 11^T/n − K(K + λ)^−1, what the regression of the least leave-one-out error leaves: of targets,
        S·targets.
        """
        n = len(targets)
        best, found = np.inf, (0, 0.0)
        for i, (w, U) in enumerate(self.spectra):
            inner, squares = U.T @ targets, U**2
            for ridge in _RIDGES:
                shares = w / (w + ridge)
                left = targets - U @ (shares[:, None] * inner)
                leverage = np.maximum(1 - 1 / n - squares @ shares, 1e-9)
                error = float(np.sum(np.einsum("ir,ir->i", left, left) / leverage**2))
                if error < best:
                    best, found = error, (i, float(ridge))
        w, U = self.spectra[found[0]]
        return np.eye(n) - 1 / n - (U * (w / (w + found[1]))) @ U.T


def _conditions(Z: Samples, kernel: Kernel | None) -> tuple[_Ridges, Array, Array]:
    """Regressions on z, k(z_i, z_j) ≤ 1 for the statistic, and squared distances."""
    if kernel is not None:
        K = np.asarray(arrays.to_numpy(kernel.normalized().gram(Z).dense()), np.float64)
        return _Ridges([_spectrum(K)]), K, np.diag(K)[:, None] + np.diag(K) - 2 * K
    d2 = squared_distances(*[_standardised(_numbers(Z, "Z"))] * 2)
    middle = _middle(d2)
    kernels = [np.exp(-d2 / (2 * width**2 * middle)) for width in _WIDTHS]
    return _Ridges([_spectrum(K) for K in kernels]), np.exp(-d2 / (4 * middle)), d2


def _left(V: Samples, kernel: Kernel | None, ridges: _Ridges, name: str) -> tuple[Array, Array]:
    """(what is left of the features of a view, and the matrix by which it came about)."""
    n = size(V)
    first = np.eye(n) - 1 / n
    if kernel is None or isinstance(kernel.domain, Vectors):
        values = _standardised(_numbers(V, name))
        first = ridges.best(values)
        V = _standardised(first @ values)
        kernel = kernel or Gaussian(0.5 / _middle(squared_distances(V, V)))
    w, U = _spectrum(
        np.asarray(arrays.to_numpy(kernel.bind(kernel.domain.check(V)).gram(V).dense()), np.float64), _SEEN
    )
    features = U * np.sqrt(w)
    second = ridges.best(features)
    return second @ features, second @ first


def _spectrum(K: Array, least: float = 1e-9) -> tuple[Array, Array]:
    """Eigenvalues and vectors of the centred matrix, those that count."""
    w, U = eigh(centred(K.copy()))
    used = w > least * max(float(w[-1]), 1e-300)
    return w[used], U[:, used]


def _numbers(V: Samples, name: str) -> Array:
    with coding_scikit_learn():
        return np.asarray(check_array(V.toarray() if hasattr(V, "toarray") else V, dtype=np.float64, input_name=name))


def _standardised(V: Array) -> Array:
    spread = V.std(axis=0)
    varies = spread > 1e-12 * np.abs(V).max(axis=0)
    return np.where(varies, V - V.mean(axis=0), 0.0) / np.where(varies, spread, 1.0)


def _middle(d2: Array) -> float:
    """The median squared distance between different items."""
    apart = d2[np.triu_indices(len(d2), 1)]
    return float(np.median(apart)) or float(np.mean(apart)) or 1.0
