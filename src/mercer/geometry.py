"""The geometry of the space of a kernel: distances, angles between kernels, dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.gram import Gram, as_gram
from mercer.kernels.base import Kernel
from mercer.native.linalg import eigenvalues
from mercer.troubles import coded


def distance(kernel: Kernel, X: Samples, Y: Samples = None) -> Array:
    """‖φ(x) − φ(z)‖ = √(k(x, x) + k(z, z) − 2k(x, z)) for all pairs: distances in feature space.

    Parameters
    ----------
    kernel : Kernel
        k; a kernel that is not bound is bound to Y, or to X without Y.
    X, Y : collection of samples
        Without Y, the distances within X.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        The distances.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.distance(mc.Linear(), [[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    >>> mc.distance(mc.Spectrum(2).normalized(), ["ACAC", "CACG"]).round(3)
    array([[0.   , 0.671],
           [0.671, 0.   ]])
    """
    kernel = kernel.bind(X if Y is None else Y)
    K = kernel(X, Y)
    xx = kernel.diag(X)
    zz = xx if Y is None else kernel.diag(Y)
    xp = arrays.namespace(K)
    return xp.sqrt(xp.clip(xx[:, None] + zz[None, :] - 2 * K, 0, None))


def alignment(K: Any, L: Any, *, centered: bool = True) -> float:
    """⟨K, L⟩/(‖K‖‖L‖) in Frobenius' inner product: how alike two kernels see the same data.

    Of centred matrices it is 1 when they agree up to a factor and a shift of the features, and near 0 when they have
    nothing in common. With L = y y^T it says how well a kernel fits the targets.

    Parameters
    ----------
    K, L : array-like or Gram of shape (n, n)
        The two matrices, of the same objects.
    centered : bool, default=True
        Whether to centre both matrices first.

    Returns
    -------
    float
        The alignment, at most 1.

    Raises
    ------
    ValueError
        When the shapes differ, or a matrix is constant.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> round(mc.alignment(mc.Linear()(X), np.outer(y, y)), 3)
    0.8
    """
    K, L = (_matrix(M) for M in (K, L))
    if K.shape != L.shape:
        raise ValueError(coded(f"Matrices of shapes {K.shape} and {L.shape} do not describe the same objects.", "M111"))
    if centered:
        K, L = (M - M.mean(0) - M.mean(1)[:, None] + M.mean() for M in (K, L))
    norms = float(np.linalg.norm(K) * np.linalg.norm(L))
    if norms == 0:
        raise ValueError(coded("A constant kernel has no alignment: centred, it is zero.", "M214"))
    return float(np.vdot(K, L)) / norms


def effective_dimension(K: ArrayLike | Gram, alpha: float) -> float:
    """tr(K(K + αI)^−1) = Σ λ_i/(λ_i + α): how many directions a ridge of α leaves.

    The degrees of freedom of kernel ridge regression with the penalty α.

    Parameters
    ----------
    K : array-like or Gram of shape (n, n)
        A symmetric matrix; negative eigenvalues count as 0.
    alpha : float
        α > 0.

    Returns
    -------
    float
        Between 0 and n.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> mc.effective_dimension(np.diag([1.0, 1.0, 0.0]), alpha=1.0)
    1.0
    """
    return dimension_of_spectrum(eigenvalues(_matrix(K)), alpha)


def dimension_of_spectrum(values: Array, alpha: float) -> float:
    """Σ λ_i/(λ_i + α); negative λ_i count as 0."""
    if alpha <= 0:
        raise ValueError(coded(f"alpha={alpha}: the ridge must be positive.", "M205"))
    values = np.maximum(values, 0.0)
    return float(np.sum(values / (values + alpha)))


def _matrix(K: ArrayLike | Gram) -> Any:
    gram = as_gram(K)
    return arrays.to_numpy(gram.dense()).astype(np.float64)
