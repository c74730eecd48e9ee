"""Kernels on histograms: rows of non-negative numbers, checked."""

from __future__ import annotations

from typing import Any, ClassVar

from scipy import sparse

from mercer.data import Domain, Histograms
from mercer.formula import exp, maximum, minimum, sqrt
from mercer.kernels.base import kernel
from mercer.kernels.families import Additive, Explicit
from mercer.kernels.parameters import positive

_SMALLEST = 1e-30  # below any bin worth counting, above the smallest float32: makes 0/0 a plain 0


@kernel
class HistogramIntersection(Additive):
    """Σ_j min(x_j, z_j)."""

    domain: ClassVar[Domain] = Histograms()

    def _term(self, x: Any, z: Any) -> Any:
        return minimum(x, z)


@kernel
class Hellinger(Explicit):
    """Σ_j √(x_j z_j).  Features √x."""

    domain: ClassVar[Domain] = Histograms()

    def _map(self, X: Any) -> Any:
        return X.sqrt() if sparse.issparse(X) else sqrt(X)


@kernel
class ChiSquared(Additive):
    """exp(−γ Σ_j (x_j − z_j)²/(x_j + z_j)), 0/0 = 0."""

    domain: ClassVar[Domain] = Histograms()
    gamma: float = positive(1.0, symbol="γ")

    def _term(self, x: Any, z: Any) -> Any:
        difference = x - z
        return difference * difference / maximum(x + z, _SMALLEST)

    def _profile(self, s: Any) -> Any:
        return exp(-self.gamma * s)


@kernel
class AdditiveChiSquared(Additive):
    """Σ_j 2 x_j z_j/(x_j + z_j), 0/0 = 0.  A kernel; scikit-learn's function of this name is a negated distance,
    −Σ(x−z)²/(x+z).
    """

    domain: ClassVar[Domain] = Histograms()

    def _term(self, x: Any, z: Any) -> Any:
        return x * z / maximum(x + z, _SMALLEST)

    def _profile(self, s: Any) -> Any:
        return 2.0 * s
