"""Kernels on histograms: rows of non-negative numbers, checked."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Samples, Symbol
from mercer.arrays import Array
from mercer.data import Domain, Histograms
from mercer.formula import exp, maximum, minimum, sqrt
from mercer.kernels.base import kernel
from mercer.kernels.families import Additive, Explicit, Homogeneous
from mercer.kernels.parameters import positive

_SMALLEST = 1e-30  # below any bin worth counting, above the smallest float32: makes 0/0 a plain 0


@kernel
class HistogramIntersection(Homogeneous, Additive):
    """Σ_j min(x_j, z_j): what two histograms have in common.

    For counts or shares, rows of non-negative numbers. Of histograms with equal totals it is that total less half their
    ℓ₁ distance.

    See Also
    --------
    Min : The same for one column.
    MinMax : The share of the intersection in the union.
    HomogeneousMap : A finite feature map that approximates it.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.HistogramIntersection()([[3.0, 1.0], [0.0, 4.0]])
    array([[4., 1.],
           [1., 4.]])
    """

    domain: ClassVar[Domain] = Histograms()

    def _term(self, x: Symbol, z: Symbol) -> Any:
        return minimum(x, z)

    def _spectrum(self, frequency: Array) -> Array:
        return 2.0 / math.pi / (1.0 + 4.0 * frequency**2)


@kernel
class Hellinger(Explicit):
    """Σ_j √(x_j z_j): the Bhattacharyya coefficient of two histograms.

    Its features are √x, so that learners work with d columns and a linear model of them; distances in feature space are
    Hellinger's. Large counts weigh less than under ``Linear``.

    See Also
    --------
    AdditiveChiSquared : Another kernel that damps large counts.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Hellinger()([[0.5, 0.5], [0.9, 0.1]]).round(3)
    array([[1.   , 0.894],
           [0.894, 1.   ]])
    """

    domain: ClassVar[Domain] = Histograms()
    _over_columns = "sum"

    def _map(self, X: Samples) -> Any:
        return X.sqrt() if sparse.issparse(X) else sqrt(X)

    def _pull_back(self, X: Samples, gradients: Array) -> Any:
        X = X.toarray() if sparse.issparse(X) else X
        xp = arrays.namespace(X)
        slope = xp.where(X > 0, 0.5 / xp.sqrt(xp.where(X > 0, X, xp.ones_like(X))), 0.0 * X)
        return gradients * slope[:, None, :]


@kernel
class ChiSquared(Additive):
    """exp(−γ Σ_j (x_j − z_j)²/(x_j + z_j)), 0/0 = 0: the exponential χ² kernel for histograms.

    The usual choice for bags of visual words and the like: differences count relative to the size of the bins. Rows
    must be non-negative.

    Parameters
    ----------
    gamma : float, default=1.0
        γ > 0. Start with 1/(mean χ² distance) of the data.

    See Also
    --------
    AdditiveChiSquared : Its additive form, without γ.
    Gaussian : Differences that count alike at every size.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.ChiSquared(gamma=0.5)([[3.0, 1.0], [1.0, 3.0], [3.0, 0.0]]).round(3)
    array([[1.   , 0.368, 0.607],
           [0.368, 1.   , 0.135],
           [0.607, 0.135, 1.   ]])
    """

    domain: ClassVar[Domain] = Histograms()
    gamma: float = positive(1.0, symbol="γ")
    _over_columns = "product"

    def _term(self, x: Symbol, z: Symbol) -> Any:
        difference = x - z
        return difference * difference / maximum(x + z, _SMALLEST)

    def _profile(self, s: Symbol) -> Any:
        return exp(-self.gamma * s)


@kernel
class AdditiveChiSquared(Homogeneous, Additive):
    """Σ_j 2 x_j z_j/(x_j + z_j), 0/0 = 0: the sum over bins of the harmonic means.

    A kernel, positive semi-definite; scikit-learn's function of this name is a negated distance, −Σ(x−z)²/(x+z). Rows
    must be non-negative.

    See Also
    --------
    ChiSquared : exp(−γ χ² distance).
    Hellinger : The geometric means.
    HomogeneousMap : A finite feature map that approximates it.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.AdditiveChiSquared()([[3.0, 1.0], [1.0, 3.0]])
    array([[4., 3.],
           [3., 4.]])
    """

    domain: ClassVar[Domain] = Histograms()
    _over_columns = "sum"

    def _term(self, x: Symbol, z: Symbol) -> Any:
        return x * z / maximum(x + z, _SMALLEST)

    def _profile(self, s: Symbol) -> Any:
        return 2.0 * s

    def _spectrum(self, frequency: Array) -> Array:
        small = np.exp(-math.pi * np.abs(frequency))
        return np.asarray(2.0 * small / (1.0 + small * small))
