"""Losses of targets that are numbers, or counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array
from mercer.losses.contract import Loss
from mercer.problems import DualQP
from mercer.troubles import coded

__all__ = ["EpsilonInsensitive", "Expectile", "Huber", "Pinball", "Poisson", "Squared"]


@dataclass(frozen=True)
class Squared(Loss):
    """(y − f)²: least squares, whose minimum is the mean.

    The problem is a linear system, solved as such (``mercer.KernelRidge``). Large errors count by their square: one
    outlier can bend the whole function.

    See Also
    --------
    Huber : Squared up to δ, absolute beyond.
    Expectile : Squared with different weights for the two signs.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Squared
    >>> Squared().value(np.array([1.0, 2.0]), np.array([0.0, 4.0]))
    array([1., 4.])
    """

    def value(self, y: Array, f: Array) -> Array:
        return (y - f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        return 2 * (f - y)

    def curvature(self, y: Array, f: Array) -> Array:
        return np.full(np.shape(f), 2.0)

    def start(self, y: Array, weights: Array) -> float:
        return float(np.average(y, weights=weights))


@dataclass(frozen=True)
class Huber(Loss):
    """½r² for |r| ≤ δ, δ(|r| − δ/2) beyond, r = y − f: squared for small errors, absolute for outliers.

    The loss of ``mercer.KernelHuber``. No sample pulls by more than δ.

    Parameters
    ----------
    delta : float, default=1.35
        Where squares end, positive, in the units of y. 1.35 standard deviations of the noise lose 5 % of the
        efficiency of least squares where the noise is normal; a smaller δ is nearer to the median, a larger one to the
        mean.

    See Also
    --------
    Squared : δ → ∞.
    Pinball : The absolute error, for τ = ½.

    Notes
    -----
    For small errors it is half of ``Squared``: the same λ penalises twice as much.

    References
    ----------
    Huber, P. J. (1964). Robust estimation of a location parameter. Annals of Mathematical Statistics 35.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Huber
    >>> Huber(delta=1.0).value(np.zeros(3), np.array([0.5, 1.0, 10.0]))
    array([0.125, 0.5  , 9.5  ])
    >>> Huber(delta=1.0).gradient(np.zeros(3), np.array([0.5, 1.0, 10.0]))
    array([0.5, 1. , 1. ])
    """

    delta: float = 1.35

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise ValueError(
                coded(f"Huber(delta={self.delta!r}): where squares end must be a positive number.", "M205")
            )

    def value(self, y: Array, f: Array) -> Array:
        r = np.abs(y - f)
        return np.where(r <= self.delta, r**2 / 2, self.delta * (r - self.delta / 2))

    def gradient(self, y: Array, f: Array) -> Array:
        return np.clip(f - y, -self.delta, self.delta)

    def curvature(self, y: Array, f: Array) -> Array:
        return (np.abs(y - f) <= self.delta).astype(np.float64)

    def start(self, y: Array, weights: Array) -> float:
        return float(np.median(y))


@dataclass(frozen=True)
class Expectile(Loss):
    """|τ − [y < f]| (y − f)²: its minimum is the τ-expectile; for τ = ½, the mean.

    Expectiles relate to the mean as quantiles relate to the median. The loss is smooth, so that they are found by
    Newton's method. The loss of ``mercer.KernelExpectile``.

    Parameters
    ----------
    tau : float, default=0.5
        The weight of errors below the target (y > f), between 0 and 1; errors above it have 1 − τ. A larger τ gives a
        higher f.

    See Also
    --------
    Pinball : Of quantiles.

    References
    ----------
    Newey, W. K. and Powell, J. L. (1987). Asymmetric least squares estimation and testing. Econometrica 55.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Expectile
    >>> Expectile(0.9).value(np.array([1.0, 1.0]), np.array([0.0, 2.0]))
    array([0.9, 0.1])
    """

    tau: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.tau < 1:
            raise ValueError(coded(f"Expectile(tau={self.tau!r}): a share between 0 and 1.", "M205"))

    def _side(self, y: Array, f: Array) -> Array:
        return np.where(y < f, 1 - self.tau, self.tau)

    def value(self, y: Array, f: Array) -> Array:
        return self._side(y, f) * (y - f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        return 2 * self._side(y, f) * (f - y)

    def curvature(self, y: Array, f: Array) -> Array:
        return 2 * self._side(y, f)

    def start(self, y: Array, weights: Array) -> float:
        return float(np.average(y, weights=weights))


@dataclass(frozen=True)
class Poisson(Loss):
    """e^f − yf for counts y: the negative log-likelihood of a Poisson distribution, without log y!; E[y] = e^f.

    ``mean`` is e^f, so that predictions are positive. The loss of ``mercer.KernelPoisson``. Targets are at least 0, not
    all 0, and need not be integers.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Poisson
    >>> Poisson().mean(np.log([2.0, 5.0])).round(3)
    array([2., 5.])
    >>> Poisson().gradient(np.array([2.0, 2.0]), np.log([2.0, 5.0])).round(3)
    array([0., 3.])
    >>> Poisson().check(np.array([1.0, -2.0]))
    Traceback (most recent call last):
    ValueError: The Poisson loss is of counts; target 1 is -2. [M112]
    """

    def value(self, y: Array, f: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(f) - y * f

    def gradient(self, y: Array, f: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(f) - y

    def curvature(self, y: Array, f: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(f)

    def start(self, y: Array, weights: Array) -> float:
        return float(np.log(max(np.average(y, weights=weights), 1e-12)))

    def mean(self, f: Array) -> Array:
        return np.exp(f)

    def check(self, y: Array) -> None:
        if (y < 0).any():
            raise ValueError(
                coded(
                    f"The Poisson loss is of counts; target {int(np.argmax(y < 0))} is {y[np.argmax(y < 0)]:g}.", "M112"
                )
            )
        if not (y > 0).any():
            raise ValueError(coded("All counts are 0: their rate is 0, whose logarithm is no number.", "M112"))


@dataclass(frozen=True)
class Pinball(Loss):
    """τr for r ≥ 0, (τ − 1)r for r < 0, r = y − f: its minimum is the τ-quantile.

    The loss of ``mercer.KernelQuantile``. It is made of two straight lines: the problem is solved as a quadratic
    programme with (τ − 1)C ≤ b ≤ τC.

    Parameters
    ----------
    tau : float, default=0.5
        The quantile, between 0 and 1; ½ is the median, for which the loss is half the absolute error.

    See Also
    --------
    Expectile : The smooth relative.
    EpsilonInsensitive : The absolute error, with a tube that is free.

    References
    ----------
    Koenker, R. and Bassett, G. (1978). Regression quantiles. Econometrica 46.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Pinball
    >>> Pinball(0.9).value(np.array([1.0, 1.0]), np.array([0.0, 2.0])).round(3)
    array([0.9, 0.1])
    """

    tau: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.tau < 1:
            raise ValueError(coded(f"Pinball(tau={self.tau!r}): a quantile is a share between 0 and 1.", "M205"))

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(self.tau * (y - f), (self.tau - 1) * (y - f))

    def gradient(self, y: Array, f: Array) -> Array:
        return np.where(y > f, -self.tau, np.where(y < f, 1 - self.tau, 0.0))

    def dual(self, y: Array, C: Array, coupled: bool) -> DualQP:
        return DualQP(-y, (self.tau - 1) * C, self.tau * C, np.zeros(len(y)), coupled=coupled)

    def start(self, y: Array, weights: Array) -> float:
        return float(np.quantile(y, self.tau))


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """max(0, |y − f| − ε): errors up to ε are free. ε = 0 is the absolute error.

    The loss of ``mercer.SVR``. Samples inside the tube |y − f| < ε have no coefficient, so that a larger ε keeps fewer
    support vectors.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half the width of the tube, at least 0, in the units of y; about the size of the noise.

    See Also
    --------
    Pinball : The absolute error for any quantile.
    Huber : Smooth at 0.

    References
    ----------
    Vapnik, V. (1995). The Nature of Statistical Learning Theory. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(0.5).value(np.zeros(3), np.array([0.2, -0.5, 2.0]))
    array([0. , 0. , 1.5])
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        if not (isinstance(self.epsilon, int | float | np.number) and np.isfinite(self.epsilon) and self.epsilon >= 0):
            raise ValueError(
                coded(
                    f"EpsilonInsensitive(epsilon={self.epsilon!r}): the width that is free must be a number of at least"
                    " 0.",
                    "M205",
                )
            )

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(np.abs(y - f) - self.epsilon, 0.0)

    def gradient(self, y: Array, f: Array) -> Array:
        return np.where(np.abs(y - f) > self.epsilon, np.sign(f - y), 0.0)

    def dual(self, y: Array, C: Array, coupled: bool) -> DualQP:
        """Two variables for each sample, one for each side of the tube."""
        n, zero = len(y), np.zeros(len(y))
        linear = np.concatenate([self.epsilon - y, -self.epsilon - y])
        item = np.concatenate([np.arange(n), np.arange(n)])
        return DualQP(
            linear, np.concatenate([zero, -C]), np.concatenate([C, zero]), np.zeros(2 * n), item, coupled=coupled
        )
