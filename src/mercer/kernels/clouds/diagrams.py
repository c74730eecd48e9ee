"""Persistence diagrams, by sums over their pairs (birth, death)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Items, Samples, Symbol, Weights
from mercer.data import DataError, Domain, Ragged, Vectors, check_weights, weighted_median
from mercer.data.clouds import Diagrams
from mercer.formula import arctan, dot, exp, expm1, power, sqdist, sqnorm, where
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.clouds.means import bound_to_points
from mercer.kernels.clouds.sums import SumOverPairs
from mercer.kernels.parameters import positive
from mercer.kernels.vectors.radial import Gaussian


class OnDiagrams(SumOverPairs):
    """Σ over the pairs p of x and q of z of a formula with the same parameters."""

    domain: ClassVar[Domain] = Diagrams()
    _formula: ClassVar[type[Kernel]]

    def _between_points(self) -> Kernel:
        return self._formula()._replace(**self.get_params(deep=False))  # not checked: they may be symbols


@kernel
class DiffusedPoint(Kernel):
    """(exp(−‖p − q‖²/8σ) − exp(−‖p − q̄‖²/8σ))/8πσ of pairs (birth, death), q̄ = (death, birth).

    ‖p − q̄‖² − ‖p − q‖² is twice the product of how long the two live: no difference of nearly equal numbers is taken.
    """

    _internal = True

    domain: ClassVar[Domain] = Vectors(columns=2)
    sigma: float = positive(1.0, symbol="σ")

    def _prepare(self, X: Samples) -> Any:
        return X, X[:, 1:] - X[:, :1]

    def _block(self, A: Items, B: Items) -> Any:
        return exp(-sqdist(A[0], B[0]) / (8.0 * self.sigma)) * self._beside(dot(A[1], B[1]))

    def _diag(self, A: Items) -> Any:
        return self._beside(sqnorm(A[1]))

    def _beside(self, lives: Symbol) -> Any:
        return -expm1(-lives / (4.0 * self.sigma)) / (8.0 * math.pi * self.sigma)


@kernel
class PersistenceScaleSpace(OnDiagrams):
    """1/(8πσ) Σ over pairs p of x and q of z of exp(−‖p − q‖²/8σ) − exp(−‖p − q̄‖²/8σ), q̄ = (death, birth): the inner
    product of two persistence diagrams, diffused for a time σ and 0 on the diagonal.

    What is born and dies soon counts little. A sample is an array of (birth, death), a pair in each row; pairs on the
    diagonal are left out, and so are those that never die, death = ∞, with a warning: write the end of the filtration
    in their place if they are to count. An empty diagram has the value 0 with every other, and ``normalized()`` keeps
    large diagrams from having large values. Positive semi-definite, an inner product of solutions of the heat equation.

    Cost: two exponentials for each two pairs, summed up while they are in registers.

    Parameters
    ----------
    sigma : float, default=1.0
        σ > 0, in squared units of the filtration: points √σ apart are alike.

    See Also
    --------
    PersistenceWeightedGaussian : Another weight of what dies soon.
    PersistenceSlicedWasserstein : By how far pairs must be moved.

    References
    ----------
    .. [1] J. Reininghaus, S. Huber, U. Bauer and R. Kwitt. A stable multi-scale kernel for topological machine
       learning. CVPR 2015.

    Examples
    --------
    >>> import mercer as mc
    >>> diagrams = [[[0.0, 1.0], [0.2, 0.3]], [[0.0, 1.0]], [[0.5, 3.0]], []]
    >>> mc.PersistenceScaleSpace(sigma=0.1)(diagrams).round(3)
    array([[0.466, 0.411, 0.002, 0.   ],
           [0.411, 0.365, 0.002, 0.   ],
           [0.002, 0.002, 0.398, 0.   ],
           [0.   , 0.   , 0.   , 0.   ]])
    """

    _formula: ClassVar[type[Kernel]] = DiffusedPoint
    sigma: float = positive(1.0, symbol="σ")


@kernel
class WeightedPoint(Kernel):
    """w(p) w(q) exp(−γ‖p − q‖²) of pairs (birth, death), w = arctan(weight·(death − birth)^power); on the diagonal and
    below it w is 0.
    """

    _internal = True

    domain: ClassVar[Domain] = Vectors(columns=2)
    gamma: float = positive(1.0, symbol="γ")
    weight: float = positive(1.0)
    power: float = positive(5.0)

    def _prepare(self, X: Samples) -> Any:
        return X, X[:, 1] - X[:, 0]

    def _block(self, A: Items, B: Items) -> Any:
        return exp(-self.gamma * sqdist(A[0], B[0])) * self._weights(A[1]) * self._weights(B[1])

    def _diag(self, A: Items) -> Any:
        w = self._weights(A[1])
        return w * w

    def _weights(self, lives: Symbol) -> Any:
        there = lives > 0  # a negative number has no power
        return where(there, arctan(self.weight * power(where(there, lives, 1.0), self.power)), 0.0)


@kernel
class PersistenceWeightedGaussian(OnDiagrams):
    """Σ over pairs p of x and q of z of w(p) w(q) exp(−γ‖p − q‖²), w = arctan(weight·(death − birth)^power): the inner
    product of two persistence diagrams as weighted measures in the space of a Gaussian.

    What is born and dies soon weighs little, all that lives long about the same. The Gaussian of this inner product,
    ``exp(2 * γ * k).normalized()``, is what [1]_ learns with. Samples and cost as for ``PersistenceScaleSpace``.

    Parameters
    ----------
    gamma : float or "median", default="median"
        γ > 0. "median" is 1/(median squared distance) of pairs of the data that the kernel is bound to.
    weight : float or "median", default="median"
        C > 0. "median" is 1/(median of (death − birth)^power).
    power : float, default=5.0
        p > 0. Beyond d + 1, for diagrams of points in d columns, the kernel is stable in what the diagrams are of.

    See Also
    --------
    PersistenceScaleSpace : A weight that follows from diffusion.
    MeanEmbedding : The unweighted mean, of sets of any vectors.

    References
    ----------
    .. [1] G. Kusano, K. Fukumizu and Y. Hiraoka. Persistence weighted Gaussian kernel for topological data analysis.
       ICML 2016.

    Examples
    --------
    >>> import mercer as mc
    >>> diagrams = [[[0.0, 1.0], [0.2, 0.3]], [[0.0, 1.0]], [[0.5, 3.0]], []]
    >>> mc.PersistenceWeightedGaussian(gamma=1.0, weight=1.0, power=1.0)(diagrams).round(3)
    array([[0.719, 0.663, 0.013, 0.   ],
           [0.663, 0.617, 0.013, 0.   ],
           [0.013, 0.013, 1.417, 0.   ],
           [0.   , 0.   , 0.   , 0.   ]])
    """

    _formula: ClassVar[type[Kernel]] = WeightedPoint
    gamma: Any = positive("median", symbol="γ", words=("median",))
    weight: Any = positive("median", words=("median",))
    power: float = positive(5.0)

    @property
    def _data_driven(self) -> bool:
        return isinstance(self.gamma, str) or isinstance(self.weight, str)

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        X = self.domain.check(X)
        if not len(X.values):
            raise DataError(
                f"{self}: all diagrams are empty, and 'median' has nothing to follow. Give numbers.", "M116"
            )
        changes: dict[str, Any] = {}
        if isinstance(self.gamma, str):
            bound = bound_to_points(Gaussian(self.gamma), X, weights)
            assert isinstance(bound, Gaussian)
            changes["gamma"] = bound.gamma
        if isinstance(self.weight, str):
            changes["weight"] = _one_over_median(X, float(self.power), weights)
        return self._replace(**changes)


def _one_over_median(X: Ragged, exponent: float, weights: Weights) -> float:
    """1/(median of (death − birth)^exponent), each pair counting as often as its diagram."""
    lives = np.asarray(X.values[:, 1] - X.values[:, 0], np.float64)
    median = float(weighted_median(lives, np.repeat(check_weights(len(X), weights), X.lengths)))
    with np.errstate(over="ignore"):
        found = float(np.float64(median) ** -exponent)
    if not 0.0 < found < np.inf:
        raise DataError(
            f"The median life of the pairs is {median:.3g}, and its power {-exponent:g} no number of floats; scale"
            " the diagrams, or give the weight.",
            "M120",
        )
    return found
