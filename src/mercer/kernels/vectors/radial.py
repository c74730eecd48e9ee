"""Kernels of distances, with a bandwidth or length scales: one file, since they share how γ follows the data."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, special, stats

from mercer import arrays
from mercer.annotations import Items, Samples, Symbol, Weights
from mercer.arrays import Array
from mercer.data import DataError, Domain, Vectors, check_weights, chunks, weighted_median
from mercer.formula import absolute, exp, fold, log, maximum, pointwise, sin, sqdist, sqnorm, sqrt, where
from mercer.gram import departures
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.families import Additive, Radial, Spectral
from mercer.kernels.parameters import positive
from mercer.kernels.vectors.products import TaylorGaussian
from mercer.troubles import coded


class Bandwidth(Kernel):
    """A kernel with a γ that may follow the data: a number, "scale" or "median"."""

    gamma: Any
    _has_width = True

    def _widened(self, factor: float) -> Kernel:
        return self._replace(gamma=self.gamma * factor**-self._degree)

    @property
    def _degree(self) -> float:
        """Of the power of a length that γ multiplies."""
        return 1.0

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not isinstance(self.gamma, str):
            return self
        X = self.domain.check(X)
        return self._replace(
            gamma=_scale(X, weights, self._degree) if self.gamma == "scale" else _median(self, X, weights)
        )

    @property
    def _data_driven(self) -> bool:
        return isinstance(self.gamma, str)


class Lengths(Kernel):
    """A kernel of ‖(x − z)/ℓ‖ with an ℓ that may follow the data: a number, one for each column, "scale" or "median".

    The words mean the ℓ with which exp(−‖x − z‖²/(2ℓ²)) is the Gaussian of that word: ℓ = 1/√(2γ).
    """

    length_scale: Any
    _has_width = True

    def _metric(self) -> Any:
        return self.length_scale

    def _on_column(self, j: int) -> Kernel:
        return self._replace(length_scale=float(self.length_scale[j])) if np.ndim(self.length_scale) else self

    def _widened(self, factor: float) -> Kernel:
        return self._replace(length_scale=self.length_scale * factor)

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not isinstance(self.length_scale, str):
            return self
        bound = Gaussian(self.length_scale).bind(X, weights)
        assert isinstance(bound, Gaussian)
        return self._replace(length_scale=float((2.0 * bound.gamma) ** -0.5))

    @property
    def _data_driven(self) -> bool:
        return isinstance(self.length_scale, str)


@kernel
class Gaussian(Bandwidth, Spectral, Radial):
    """exp(−γ‖x − z‖²): the Gaussian kernel, also called RBF.

    The usual first choice for tables of numbers of comparable scale (see ``standardized``). A small γ gives smooth,
    nearly linear functions, a large one functions that follow single points. Values lie in (0, 1], with 1 on the
    diagonal; a block of values costs one matrix product.

    Parameters
    ----------
    gamma : float, array-like of shape (d,), "scale" or "median", default="scale"
        γ > 0, or one for each column: exp(−Σ_j γ_j (x_j − z_j)²). "scale" is 1/(d·variance of all entries),
        scikit-learn's rule; "median" is 1/(median squared distance), over the pairs of at most 1000 rows. Both words
        are replaced by a number when the kernel is bound to data, ``bind`` or ``fit``; ``tune`` and ``KernelSearchCV``
        find better values.

    See Also
    --------
    Laplacian : exp(−γ‖x − z‖₁), for functions that are not smooth.
    Matern : Smoothness as a parameter, and a length scale for each column.
    RandomFeatures, TaylorGaussian : Finite feature maps that approximate it.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Gaussian(gamma=0.5)
    >>> k([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    >>> mc.Gaussian("median").bind([[0.0], [1.0], [3.0]])
    Gaussian(gamma=0.25)
    """

    gamma: Any = positive("scale", symbol="γ", words=("scale", "median"), vector=True)
    _over_columns = "product"

    def _on_column(self, j: int) -> Kernel:
        return self if self._metric() is None else self._replace(gamma=float(self.gamma[j]))

    @property
    def _degree(self) -> float:
        return 2.0

    def _metric(self) -> Any:
        if not hasattr(self.gamma, "__len__") and not hasattr(self.gamma, "values"):
            return None
        # lengths γ^−½, of numbers or of the symbol for them
        return (np.asarray(self.gamma) if isinstance(self.gamma, list | tuple) else self.gamma) ** -0.5

    def _profile(self, d2: Symbol) -> Any:
        return exp(-d2 if self._metric() is not None else -self.gamma * d2)

    def _frequencies(self, normal: Array, uniform: Array) -> Array:
        return np.sqrt(2.0 * np.asarray(self.gamma)) * normal

    def spectral_density(self, omega: Any) -> Any:
        """p(ω) = (4πγ)^(−d/2) exp(−‖ω‖²/4γ), of which k is the Fourier transform: ∫ p(ω) exp(iω·δ) dω = k(δ).

        Parameters
        ----------
        omega : array-like of shape (n, d)
            Frequencies, one in each row.

        Returns
        -------
        ndarray of shape (n,)
            The density at each frequency. A kernel with γ "scale" or "median" must be bound first.
        """
        omega, gamma = _at_frequencies(self, omega, self.gamma)
        return np.prod((4 * np.pi * gamma) ** -0.5 * np.exp(-(omega**2) / (4 * gamma)), axis=1)

    def taylor(self, degree: int) -> TaylorGaussian:
        """Its Taylor polynomial, a kernel with finitely many features.

        Parameters
        ----------
        degree : int
            The total degree, at least 0.

        Returns
        -------
        TaylorGaussian
            The approximation with the same γ, which must be a number.
        """
        if isinstance(self.gamma, str) or self._metric() is not None:
            raise ValueError(
                coded(f"{self}: a Taylor polynomial is of one number γ; bind the kernel, or give one.", "M206")
            )
        return TaylorGaussian(self.gamma, degree)


@kernel
class Laplacian(Bandwidth, Spectral, Additive):
    """exp(−γ Σ_j |x_j − z_j|): the Laplacian kernel.

    Its functions need not be smooth, and single columns that are far apart count less than under ``Gaussian``. Values
    lie in (0, 1]; each costs d additions.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        γ > 0. "scale" is 1/(d·standard deviation of all entries), "median" is 1/(median ℓ₁ distance); both are replaced
        by a number when the kernel is bound to data.

    See Also
    --------
    Gaussian : exp(−γ‖x − z‖²), for smooth functions.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0], [4.0, 0.0]]).round(3)
    array([[0.368, 0.135]])
    """

    gamma: float | str = positive("scale", symbol="γ", words=("scale", "median"))
    _over_columns = "product"

    def _term(self, x: Symbol, z: Symbol) -> Any:
        return absolute(x - z)

    def _profile(self, s: Symbol) -> Any:
        return exp(-self.gamma * s)  # type: ignore[operator]

    def _frequencies(self, normal: Array, uniform: Array) -> Array:
        return np.asarray(self.gamma) * _symmetric_stable(1.0, special.ndtr(normal), uniform)

    def spectral_density(self, omega: Any) -> Any:
        """p(ω) = Π_j γ/(π(γ² + ω_j²)), a product of Cauchy densities, of which k is the Fourier transform.

        Parameters
        ----------
        omega : array-like of shape (n, d)
            Frequencies, one in each row.

        Returns
        -------
        ndarray of shape (n,)
            The density at each frequency. A kernel with γ "scale" or "median" must be bound first.
        """
        omega, gamma = _at_frequencies(self, omega, self.gamma)
        return np.prod(gamma / (np.pi * (gamma**2 + omega**2)), axis=1)


@kernel
class PowerLaplacian(Bandwidth, Spectral, Additive):
    """exp(−γ Σ_j |x_j − z_j|^q), 0 < q ≤ 2: the power exponential kernel, column by column.

    A product over the columns, Π_j exp(−γ|x_j − z_j|^q): points that differ much in one column are unlike, however near
    they are in the others. For tables whose columns act each by itself, as in trees; with ``metric`` each has a weight.
    Positive semi-definite for these q, and for no others.

    Parameters
    ----------
    gamma : float, "scale" or "median", default="scale"
        γ > 0. "scale" is 1/(d·σ^q), σ the standard deviation of all entries, "median" is 1/(median of
        Σ_j |x_j − z_j|^q); both are replaced by a number when the kernel is bound to data.
    power : float, default=1.5
        q, above 0 and at most 2: 1 is ``Laplacian``, 2 is ``Gaussian``. 1, 1.5 and 2 cost the least.

    See Also
    --------
    PowerExponential : The same of the distance ‖x − z‖.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.PowerLaplacian(gamma=0.5, power=1.5)([[0.0, 0.0]], [[1.0, 1.0], [4.0, 0.0]]).round(3)
    array([[0.368, 0.018]])
    """

    gamma: float | str = positive("scale", symbol="γ", words=("scale", "median"))
    power: float = positive(1.5, symbol="q", maximum=2.0, continuous=False)
    _over_columns = "product"

    @property
    def _degree(self) -> float:
        return float(self.power)

    def _term(self, x: Symbol, z: Symbol) -> Any:
        apart = absolute(x - z)
        if self.power == 1.0:
            return apart
        if self.power == 1.5:
            return apart * sqrt(apart)
        if self.power == 2.0:
            return apart * apart
        there = apart > 0.0
        return where(there, exp(self.power * log(where(there, apart, 1.0))), 0.0)

    def _profile(self, s: Symbol) -> Any:
        return exp(-self.gamma * s)  # type: ignore[operator]

    def _frequencies(self, normal: Array, uniform: Array) -> Array:
        return self.gamma ** (1.0 / self.power) * _symmetric_stable(self.power, special.ndtr(normal), uniform)  # type: ignore[operator]


@kernel
class Matern(Lengths, Spectral, Radial):
    """2^(1−ν)/Γ(ν) · t^ν K_ν(t), t = √(2ν)·‖(x − z)/ℓ‖: the Matérn kernel.

    Functions of its space are as smooth as ν says: paths of the Gaussian process with this covariance have ⌈ν⌉ − 1
    derivatives. ν = ½, 3/2, 5/2 and ∞ are closed forms, as fast as the Gaussian; other values need Bessel functions,
    which SciPy computes on the CPU.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), "scale" or "median", default=1.0
        ℓ > 0, in the units of the data: the distance over which functions change. One number, or one for each column; a
        column with a large ℓ matters little. The words are rules that follow the data: ℓ = 1/√(2γ) for the γ of
        ``Gaussian("scale")`` or ``Gaussian("median")``.
    nu : float, default=1.5
        ν > 0, the smoothness; ``math.inf`` is the Gaussian exp(−‖(x − z)/ℓ‖²/2).

    See Also
    --------
    Gaussian : The limit ν = ∞, with a bandwidth that can follow the data.
    RationalQuadratic : A mixture of Gaussians of all widths.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Matern(length_scale=[1.0, 10.0], nu=2.5)
    >>> k([[0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).round(3)
    array([[0.524, 0.992]])
    """

    length_scale: Any = positive(1.0, symbol="ℓ", words=("scale", "median"), vector=True)
    nu: float = positive(1.5, symbol="ν", continuous=False, infinite=True)

    @property
    def _over_columns(self) -> str | None:  # type: ignore[override]
        return "product" if self.nu == math.inf else None

    def _profile(self, d2: Symbol) -> Any:
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

    def _frequencies(self, normal: Array, uniform: Array) -> Array:
        """A Student distribution: normal numbers over the root of one of the gamma distribution."""
        precision = 1.0 if self.nu == math.inf else _gamma(self.nu, uniform) / self.nu
        return normal / np.asarray(self.length_scale) / np.sqrt(precision)

    def spectral_density(self, omega: Any) -> Any:
        """The density of which k is the Fourier transform: a multivariate Student density with 2ν degrees of freedom.

        It is a Gaussian one for ν = ∞.

        Parameters
        ----------
        omega : array-like of shape (n, d)
            Frequencies, one in each row.

        Returns
        -------
        ndarray of shape (n,)
            The density at each frequency.
        """
        omega, scale = _at_frequencies(self, omega, self.length_scale)
        d = omega.shape[1]
        square, volume = np.sum((omega * scale) ** 2, axis=1), np.prod(scale)
        if self.nu == math.inf:
            return volume * (2 * np.pi) ** (-d / 2) * np.exp(-square / 2)
        nu = self.nu
        log_constant = special.gammaln(nu + d / 2) - special.gammaln(nu) - d / 2 * np.log(2 * np.pi * nu)
        return volume * np.exp(log_constant - (nu + d / 2) * np.log1p(square / (2 * nu)))


def _bessel(nu: float, order: float) -> Any:
    """t ↦ 2^(1−ν)/Γ(ν) · t^ν K_order(t), with its limit at 0."""

    def function(t: Array) -> Any:
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
class RationalQuadratic(Lengths, Spectral, Radial):
    """(1 + ‖(x − z)/ℓ‖²/2α)^(−α): a mixture of Gaussians of all widths.

    For functions that vary on several scales at once. For α → ∞ it is the Gaussian exp(−‖(x − z)/ℓ‖²/2); the smaller α,
    the more distant points count.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), "scale" or "median", default=1.0
        ℓ > 0, in the units of the data: one number, or one for each column. The words are rules that follow the data:
        ℓ = 1/√(2γ) for the γ of ``Gaussian("scale")`` or ``Gaussian("median")``.
    alpha : float, default=1.0
        α > 0, how heavy the tails are.

    See Also
    --------
    Gaussian : A single width.
    Matern : Smoothness as a parameter.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.RationalQuadratic(length_scale=2.0, alpha=0.5)
    >>> k([[0.0]], [[2.0], [20.0]]).round(3)
    array([[0.707, 0.1  ]])
    """

    length_scale: Any = positive(1.0, symbol="ℓ", words=("scale", "median"), vector=True)
    alpha: float = positive(1.0, symbol="α")

    def _profile(self, d2: Symbol) -> Any:
        return exp(-self.alpha * log(1.0 + d2 / (2.0 * self.alpha)))  # vectorised exp and log beat a general power

    def _frequencies(self, normal: Array, uniform: Array) -> Array:
        """Those of a Gaussian whose γ is of the gamma distribution."""
        return normal / np.asarray(self.length_scale) * np.sqrt(_gamma(self.alpha, uniform) / self.alpha)


@kernel
class PowerExponential(Lengths, Spectral, Radial):
    """exp(−‖(x − z)/ℓ‖^q), 0 < q ≤ 2: from the Gaussian, q = 2, to ever rougher functions.

    It is positive semi-definite for these q, and for no others. q = 1 is ``Matern(nu=0.5)``; q between 1 and 2 is often
    best on tables, whose functions are neither smooth nor jagged.

    Parameters
    ----------
    length_scale : float, array-like of shape (d,), "scale" or "median", default=1.0
        ℓ > 0, in the units of the data: one number, or one for each column. The words are rules that follow the data:
        ℓ = 1/√(2γ) for the γ of ``Gaussian("scale")`` or ``Gaussian("median")``.
    power : float, default=1.0
        q, above 0 and at most 2.

    See Also
    --------
    Gaussian : q = 2, ℓ = 1/√γ.
    Matern : Another way from rough to smooth.
    Laplacian : Distances column by column, q = 1.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.PowerExponential(length_scale=2.0, power=1.4)
    >>> k([[0.0]], [[1.0], [2.0], [4.0]]).round(3)
    array([[0.685, 0.368, 0.071]])
    """

    length_scale: Any = positive(1.0, symbol="ℓ", words=("scale", "median"), vector=True)
    power: float = positive(1.0, symbol="q", maximum=2.0)

    @property
    def _over_columns(self) -> str | None:  # type: ignore[override]
        return "product" if self.power == 2.0 else None

    def _profile(self, d2: Symbol) -> Any:
        apart = d2 > 0  # the derivative of d^q by q is 0 where points coincide, which log d does not know
        distance = exp(0.5 * self.power * log(where(apart, d2, 1.0)))
        return exp(-where(apart, distance, 0.0))

    def _frequencies(self, normal: Array, uniform: Array) -> Array:
        """Those of a Gaussian whose γ is of the positive stable distribution."""
        gamma = _positive_stable(0.5 * self.power, uniform[:, :1], uniform[:, 1:2])
        return normal / np.asarray(self.length_scale) * np.sqrt(2.0 * gamma)


@kernel
class Periodic(Spectral):
    """exp(−(2/ℓ²) Σ_j sin²(π(x_j − z_j)/p_j)): x and z are alike where they are at the same point of their periods.

    A Gaussian of the points (cos 2πx_j/p_j, sin 2πx_j/p_j) on circles, whose squared distances are 4 sin²(π(x_j −
    z_j)/p_j): one matrix product per block, and positive semi-definite for any number of columns, being a product over
    them. (exp(−2 sin²(π‖x − z‖/p)/ℓ²), scikit-learn's ExpSineSquared, is the same for one column and not positive
    semi-definite for more.) ``Periodic(...) * Gaussian(...)`` is a period whose shape drifts slowly.

    Parameters
    ----------
    period : float or array-like of shape (d,), default=1.0
        p > 0, in the units of the data: one number, or one for each column.
    length_scale : float, default=1.0
        ℓ > 0, without units: small values tell nearby points of a period apart.

    See Also
    --------
    Gaussian : Likeness by distance.

    Examples
    --------
    >>> import mercer as mc
    >>> hours = [[1.0], [13.0], [25.0]]
    >>> mc.Periodic(period=24.0)(hours).round(3)
    array([[1.   , 0.135, 1.   ],
           [0.135, 1.   , 0.135],
           [1.   , 0.135, 1.   ]])
    """

    domain: ClassVar[Domain] = Vectors()
    period: Any = positive(1.0, symbol="p", vector=True)
    length_scale: float = positive(1.0, symbol="ℓ")
    _over_columns = "product"

    def _on_column(self, j: int) -> Kernel:
        return self._replace(period=float(self.period[j])) if np.ndim(self.period) else self

    def _prepare(self, X: Samples) -> Any:
        """The points on the circles, and the angles, all and each column, by which a derivative by the period is
        written.
        """
        X = X.toarray() if sparse.issparse(X) else X
        if np.ndim(self.period) and len(self.period) != X.shape[1]:
            raise DataError(
                f"Periodic(period) has {len(self.period)} periods, the data has {X.shape[1]} columns.", "M104"
            )
        xp, dtype = arrays.namespace(X), arrays.numpy_dtype(X)
        period = arrays.like(np.broadcast_to(np.asarray(self.period, dtype), (X.shape[1],)).copy(), X)
        turn = (2.0 * math.pi / period) * xp.fmod(X, period)  # the remainder is exact: late in time loses no digits
        angles = (2.0 * math.pi / period) * X
        return (
            xp.concatenate([xp.cos(turn), xp.sin(turn)], axis=1),
            angles,
            tuple(angles[:, j : j + 1] for j in range(X.shape[1])),
        )

    def _pull_back(self, X: Samples, gradients: Any) -> Any:
        """Through the points on the circles alone: their derivatives are perpendicular to them."""
        points, d = self._prepare(X)[0], X.shape[1]
        turning = points[:, None, :d] * gradients[0][:, :, d:] - points[:, None, d:] * gradients[0][:, :, :d]
        return turning * arrays.like(2.0 * math.pi / np.broadcast_to(np.asarray(self.period), (d,)), turning)

    def _block(self, A: Items, B: Items) -> Any:
        d2, changes = sqdist(A[0], B[0]), list(departures(self.period).values())
        sides = [(A[1], B[1])] if len(changes) == 1 else zip(A[2], B[2], strict=True)
        for change, (a, b) in zip(changes, sides, strict=False):
            d2 = d2 - 2.0 * change * fold(_angle_times_sine, (0.0,), a, b)
        return self._of_distance(d2)

    def _diag(self, A: Items) -> Any:
        return self._of_distance(0.0 * sqnorm(A[0]))

    def _of_distance(self, d2: Symbol) -> Any:
        return exp(-0.5 * d2 / (self.length_scale * self.length_scale))

    def _frequencies(self, normal: Array, uniform: Array) -> Array:
        """Whole multiples of 2π/p: the Fourier series of exp(cos(·)/ℓ²) has the probabilities of a difference of two
        Poisson numbers of mean 1/(2ℓ²) each.
        """
        turns = stats.poisson(0.5 / self.length_scale**2)
        return (turns.ppf(special.ndtr(normal)) - turns.ppf(uniform[:, :-1])) * (
            2.0 * math.pi / np.asarray(self.period)
        )


def _gamma(shape: float, uniform: Array) -> Array:
    """Numbers of the gamma distribution, a column, from uniform ones."""
    return np.asarray(np.maximum(special.gammaincinv(shape, uniform[:, :1]), 1e-100))


def _positive_stable(index: float, angle: Array, size: Array) -> Array:
    """Numbers S > 0 with E exp(−tS) = exp(−t^index), 0 < index ≤ 1, from uniform ones [1]_.

    .. [1] M. Kanter. Stable densities under change of scale and total variation inequalities. Annals of Probability 3,
       1975.
    """
    if index == 1.0:
        return np.ones_like(angle)
    angle = math.pi * angle
    heavy = np.log(np.sin((1.0 - index) * angle)) - np.log(-np.log(size))
    logarithm = np.log(np.sin(index * angle)) + ((1.0 - index) * heavy - np.log(np.sin(angle))) / index
    return np.asarray(np.exp(np.clip(logarithm, -200.0, 200.0)))


def _symmetric_stable(index: float, angle: Array, uniform: Array) -> Array:
    """Numbers with E exp(itS) = exp(−|t|^index), 0 < index ≤ 2, in the columns of ``angle``, from uniform ones [1]_.

    .. [1] J. M. Chambers, C. L. Mallows and B. W. Stuck. A method for simulating stable random variables. Journal of
       the American Statistical Association 71, 1976.
    """
    angle = math.pi * (angle - 0.5)
    if index == 1.0:
        return np.asarray(np.tan(angle))
    bend, cosine = (1.0 - index) / index, np.maximum(np.cos(angle), 1e-20)
    size = np.log(np.maximum(np.cos((1.0 - index) * angle), 1e-20)) - np.log(-np.log(uniform[:, : angle.shape[1]]))
    return np.asarray(np.sin(index * angle) * np.exp(np.clip(bend * size - np.log(cosine) / index, -200.0, 200.0)))


def _angle_times_sine(state: tuple[Any, ...], x: Symbol, z: Symbol) -> tuple[Any, ...]:
    return (state[0] + (x - z) * sin(x - z),)


def _scale(X: Samples, weights: Weights, power: float) -> float:
    """1/(d·σ^power), σ² the variance over all entries; 1 for constant data."""
    n, d = X.shape
    w = check_weights(n, weights)
    total = w.sum() * d
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number is told by _usable
        if sparse.issparse(X):
            mean = float(w @ np.asarray(X.sum(axis=1)).reshape(-1)) / total
            variance = float(w @ arrays.squared_rows(X)) / total - mean**2
        else:
            x = arrays.to_numpy(X)
            mean = float(w @ x.sum(axis=1, dtype=np.float64)) / total
            # deviations from the mean, in chunks: the difference of two large moments would lose a small variance
            variance = (
                sum(float(w[i] @ np.square(x[i].astype(np.float64) - mean).sum(axis=1)) for i in chunks(n, 8192))
                / total
            )
    if variance <= 0:
        return 1.0
    words = "'scale', 1/(d·Var X)" if power == 2.0 else f"'scale', 1/(d·σ^{power:g})"
    return _usable(1.0 / (d * math.sqrt(variance) ** power), words)


def _usable(gamma: float, words: str) -> float:
    """A γ found from data, if it is one."""
    if not (math.isfinite(gamma) and gamma > 0):
        raise DataError(
            f"gamma={words}, is {gamma:g} for these data, whose numbers are too large or too small: scale the columns,"
            " or give a number.",
            "M120",
        )
    return gamma


_MEDIAN_ROWS = 1000


def _median(k: Bandwidth, X: Samples, weights: Weights) -> float:
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


def _distances(k: Bandwidth, X: Samples) -> Any:
    class Distance(type(k)):  # type: ignore[misc]
        def _profile(self, s: Symbol) -> Any:
            return s

    return Distance(1.0)(X)


def _at_frequencies(k: Kernel, omega: ArrayLike, width: str | float | Array) -> tuple[Any, Any]:
    """Frequencies as rows, and γ or ℓ, one for each of their columns."""
    if isinstance(width, str):
        raise ValueError(coded(f"{k}: its width is fixed by data; bind the kernel first.", "M206"))
    omega = np.atleast_2d(np.asarray(omega, np.float64))
    return omega, np.broadcast_to(np.asarray(width, np.float64), omega.shape[1:])
