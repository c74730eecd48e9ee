"""Kernels of how far two vectors are apart, with a bandwidth or length scales."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse, special

from mercer import arrays
from mercer.data import DataError, Domain, Vectors, check_weights, chunks, weighted_median
from mercer.formula import (
    absolute,
    exp,
    fold,
    log,
    maximum,
    pointwise,
    sin,
    sqdist,
    sqnorm,
    sqrt,
)
from mercer.gram import departures
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.families import Additive, Radial
from mercer.kernels.parameters import positive
from mercer.kernels.vectors.products import TaylorGaussian


class Bandwidth(Kernel):
    """A kernel with a γ that may follow the data: a number, "scale" or "median"."""

    gamma: float | str

    def bind(self, X: Any, weights: Any = None) -> Kernel:
        if not isinstance(self.gamma, str):
            return self
        X = self.domain.check(X)
        return self._replace(gamma=_scale(X, weights) if self.gamma == "scale" else _median(self, X, weights))

    @property
    def _data_driven(self) -> bool:
        return isinstance(self.gamma, str)


@kernel
class Gaussian(Bandwidth, Radial):
    """exp(−γ‖x − z‖²).  One GEMM per block; bounded by 1.

    γ "scale" is 1/(d·variance of the entries), scikit-learn's rule; "median" is 1/(median squared distance). Both are
    fixed by ``bind``. ``from_sigma(s)`` is exp(−‖x − z‖²/s²), not exp(−‖x − z‖²/2s²).
    """

    gamma: float | str = positive("scale", symbol="γ", words=("scale", "median"))

    @classmethod
    def from_sigma(cls, sigma: float) -> Self:
        return cls(1.0 / sigma**2)

    def _profile(self, d2: Any) -> Any:
        return exp(-self.gamma * d2)  # type: ignore[operator]

    def spectral_density(self, omega: Any) -> Any:
        """(4πγ)^(−d/2) exp(−‖ω‖²/4γ): what k is the Fourier transform of, ∫ p(ω) exp(iω·δ) dω = k(δ)."""
        omega, gamma = _frequencies(self, omega, self.gamma)
        return (4 * np.pi * gamma) ** (-omega.shape[1] / 2) * np.exp(-np.sum(omega**2, axis=1) / (4 * gamma))

    def taylor(self, degree: int) -> TaylorGaussian:
        """Its Taylor polynomial of total degree ``degree``, a kernel with finitely many features."""
        if isinstance(self.gamma, str):
            raise ValueError(f"γ = {self.gamma!r} is fixed by data: bind the kernel first.")
        return TaylorGaussian(self.gamma, degree)


@kernel
class Laplacian(Bandwidth, Additive):
    """exp(−γ Σ_j |x_j − z_j|).  Bounded by 1; d additions per value.

    γ "scale" is 1/(d·variance), "median" 1/(median ℓ₁ distance), fixed by ``bind``.
    """

    gamma: float | str = positive("scale", symbol="γ", words=("scale", "median"))

    def _term(self, x: Any, z: Any) -> Any:
        return absolute(x - z)

    def _profile(self, s: Any) -> Any:
        return exp(-self.gamma * s)  # type: ignore[operator]

    def spectral_density(self, omega: Any) -> Any:
        """Π_j γ/(π(γ² + ω_j²)): a product of Cauchy densities."""
        omega, gamma = _frequencies(self, omega, self.gamma)
        return np.prod(gamma / (np.pi * (gamma**2 + omega**2)), axis=1)


@kernel
class Matern(Radial):
    """2^(1−ν)/Γ(ν) · t^ν K_ν(t), t = √(2ν)·‖(x − z)/ℓ‖.  ν = ½, 3/2, 5/2 and ∞ are closed forms, as fast as the
    Gaussian.

    ℓ may be one number or one per column.
    """

    length_scale: Any = positive(1.0, symbol="ℓ", vector=True)
    nu: float = positive(1.5, symbol="ν", continuous=False, infinite=True)

    def _metric(self) -> Any:
        return self.length_scale

    def _profile(self, d2: Any) -> Any:
        if self.nu == math.inf:
            return exp(-0.5 * d2)
        t = sqrt(2.0 * self.nu * maximum(d2, 0.0))
        if self.nu == 0.5:
            return exp(-t)
        if self.nu == 1.5:
            return (1.0 + t) * exp(-t)
        if self.nu == 2.5:
            return (1.0 + t + t * t / 3.0) * exp(-t)
        return pointwise(_bessel(self.nu, self.nu), t, derivative=_bessel_derivative(self.nu))

    def spectral_density(self, omega: Any) -> Any:
        """A multivariate Student density with 2ν degrees of freedom; a Gaussian one for ν = ∞."""
        omega = np.atleast_2d(np.asarray(omega, np.float64))
        d = omega.shape[1]
        scale = np.broadcast_to(np.asarray(self.length_scale, np.float64), (d,))
        square, volume = np.sum((omega * scale) ** 2, axis=1), np.prod(scale)
        if self.nu == math.inf:
            return volume * (2 * np.pi) ** (-d / 2) * np.exp(-square / 2)
        nu = self.nu
        log_constant = special.gammaln(nu + d / 2) - special.gammaln(nu) - d / 2 * np.log(2 * np.pi * nu)
        return volume * np.exp(log_constant - (nu + d / 2) * np.log1p(square / (2 * nu)))


def _bessel(nu: float, order: float) -> Any:
    """t ↦ 2^(1−ν)/Γ(ν) · t^ν K_order(t), with its limit at 0."""

    def function(t: Any) -> Any:
        x = arrays.to_numpy(t).astype(np.float64)
        with np.errstate(all="ignore"):
            values = 2 ** (1 - nu) / special.gamma(nu) * x**nu * special.kv(order, x)
        values = np.where(x > 0, values, 1.0 if order == nu else 0.0)
        return arrays.like(values.astype(arrays.numpy_dtype(t)), t)

    return function


def _bessel_derivative(nu: float) -> Any:
    """d/dt t^ν K_ν(t) = −t^ν K_(ν−1)(t)."""
    lower = _bessel(nu, nu - 1.0)
    return lambda t: -lower(t)


@kernel
class RationalQuadratic(Radial):
    """(1 + ‖(x − z)/ℓ‖²/2α)^(−α).  A mixture of Gaussians of all widths; ℓ may be one number or one per column."""

    length_scale: Any = positive(1.0, symbol="ℓ", vector=True)
    alpha: float = positive(1.0, symbol="α")

    def _metric(self) -> Any:
        return self.length_scale

    def _profile(self, d2: Any) -> Any:
        return exp(-self.alpha * log(1.0 + d2 / (2.0 * self.alpha)))  # vectorised exp and log beat a general power


@kernel
class Periodic(Kernel):
    """exp(−(2/ℓ²) Σ_j sin²(π(x_j − z_j)/p_j)): x and z are alike where they are at the same point of their periods.

    A Gaussian of the points (cos 2πx_j/p_j, sin 2πx_j/p_j) on circles, whose squared distances are 4 sin²(π(x_j −
    z_j)/p_j): one GEMM per block, and positive semi-definite for any number of columns, being a product over them.
    (exp(−2 sin²(π‖x − z‖/p)/ℓ²), scikit-learn's ExpSineSquared, is the same for one column and not positive
    semi-definite for more.)

    Parameters
    ----------
    period
        p, in the units of the data: one number, or one for each column.
    length_scale
        ℓ, without units: small values tell nearby points of a period apart.
    """

    domain: ClassVar[Domain] = Vectors()
    period: Any = positive(1.0, symbol="p", vector=True)
    length_scale: float = positive(1.0, symbol="ℓ")

    def _prepare(self, X: Any) -> Any:
        """The points on the circles, and the angles, all and each column, by which a derivative by the period is
        written.
        """
        X = X.toarray() if sparse.issparse(X) else X
        if np.ndim(self.period) and len(self.period) != X.shape[1]:
            raise DataError(f"Periodic(period) has {len(self.period)} periods, the data has {X.shape[1]} columns.")
        xp, dtype = arrays.namespace(X), arrays.numpy_dtype(X)
        period = arrays.like(np.broadcast_to(np.asarray(self.period, dtype), (X.shape[1],)).copy(), X)
        turn = (2.0 * math.pi / period) * xp.fmod(X, period)  # the remainder is exact: late in time loses no digits
        angles = (2.0 * math.pi / period) * X
        return (
            xp.concatenate([xp.cos(turn), xp.sin(turn)], axis=1),
            angles,
            tuple(angles[:, j : j + 1] for j in range(X.shape[1])),
        )

    def _block(self, A: Any, B: Any) -> Any:
        d2, changes = sqdist(A[0], B[0]), departures(self.period)
        sides = [(A[1], B[1])] if len(changes) == 1 else zip(A[2], B[2], strict=True)
        for change, (a, b) in zip(changes, sides, strict=False):
            d2 = d2 - 2.0 * change * fold(_angle_times_sine, (0.0,), a, b)
        return self._of_distance(d2)

    def _diag(self, A: Any) -> Any:
        return self._of_distance(0.0 * sqnorm(A[0]))

    def _of_distance(self, d2: Any) -> Any:
        return exp(-0.5 * d2 / (self.length_scale * self.length_scale))


def _angle_times_sine(state: tuple[Any, ...], x: Any, z: Any) -> tuple[Any, ...]:
    return (state[0] + (x - z) * sin(x - z),)


def _scale(X: Any, weights: Any) -> float:
    """1/(d·Var), the variance over all entries; 1 for constant data."""
    n, d = X.shape
    w = check_weights(n, weights)
    total = w.sum() * d
    if sparse.issparse(X):
        mean = float(w @ np.asarray(X.sum(axis=1)).reshape(-1)) / total
        variance = float(w @ np.asarray(X.multiply(X).sum(axis=1)).reshape(-1)) / total - mean**2
    else:
        x = arrays.to_numpy(X)
        mean = float(w @ x.sum(axis=1, dtype=np.float64)) / total
        # deviations from the mean, in chunks: the difference of two large moments would lose a small variance
        variance = (
            sum(float(w[i] @ np.square(x[i].astype(np.float64) - mean).sum(axis=1)) for i in chunks(n, 8192)) / total
        )
    return _usable(1.0 / (d * variance), "'scale', 1/(d·Var X)") if variance > 0 or variance != variance else 1.0


def _usable(gamma: float, words: str) -> float:
    """A γ found from data, if it is one."""
    if not (math.isfinite(gamma) and gamma > 0):
        raise DataError(
            f"gamma={words}, is {gamma:g} for these data, whose numbers are too large or too small: scale the columns,"
            " or give a number."
        )
    return gamma


_MEDIAN_ROWS = 1000


def _median(k: Any, X: Any, weights: Any) -> float:
    """1/(weighted median distance) over the pairs of at most 1000 rows, evenly chosen; equal rows count only if most
    are equal.
    """
    w = check_weights(X.shape[0], weights)
    chosen = np.flatnonzero(w > 0)
    if len(chosen) > _MEDIAN_ROWS:
        chosen = chosen[np.linspace(0, len(chosen) - 1, _MEDIAN_ROWS).astype(int)]
    X, w = X[chosen], w[chosen]
    # the kernel's own formula, asked for its distances: −log k at γ = 1
    try:
        distances = arrays.to_numpy(_distances(k, X)).astype(np.float64)
    except FloatingPointError:
        return _usable(0.0, "'median', 1/(the median distance)")
    i, j = np.triu_indices(len(w), 1)
    value = np.concatenate([distances[i, j], np.zeros(len(w))])
    weight = np.concatenate([w[i] * w[j], w * np.maximum(w - 1, 0) / 2])
    if not (value * weight > 0).any():
        return 1.0
    median = weighted_median(value, weight)
    return _usable(
        1.0 / (median if median > 0 else weighted_median(value[value > 0], weight[value > 0])),
        "'median', 1/(the median distance)",
    )


def _distances(k: Any, X: Any) -> Any:
    class Distance(type(k)):  # type: ignore[misc]
        def _profile(self, s: Any) -> Any:
            return s

    return Distance(1.0)(X)


def _frequencies(k: Kernel, omega: Any, gamma: Any) -> tuple[Any, float]:
    if isinstance(gamma, str):
        raise ValueError(f"γ = {gamma!r} is fixed by data: bind the kernel first.")
    return np.atleast_2d(np.asarray(omega, np.float64)), float(gamma)
