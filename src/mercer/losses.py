"""Losses ℓ(y, f), what an error costs, and the hooks of a new one: one file, since each is a formula and its slope.

A loss has its value, its gradient in f and, where there is one, its curvature. A loss that is made of straight lines
has no curvature; it says instead which quadratic programme its dual is. A user's own loss is a subclass with ``value``
and ``gradient``; with ``curvature`` it is solved by Newton's method, with ``prox`` (for corners) by splitting, and
otherwise by L-BFGS (docs/add_a_loss.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, softmax

from mercer.arrays import Array
from mercer.problems import DualQP
from mercer.troubles import coded


class Loss(ABC):
    """ℓ(y, f), convex in f: what the prediction f costs where the target is y.

    A new loss is a frozen dataclass that derives from this class; its fields are its parameters. ``value`` and
    ``gradient`` must be written, every other hook has a default. Which hooks there are decides how
    min Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖² is solved, first match first:

    =============================  =======================================================================
    ``dual`` gives a problem       a quadratic programme, by active sets: for losses made of straight lines
    ``curvature`` gives an array   Newton's method: few steps, quadratic convergence
    ``prox`` gives an array        splitting (ADMM): for losses with corners and no dual, tolerance 1e-6
    none of them                   L-BFGS in the inner product of the kernel: for smooth losses
    =============================  =======================================================================

    Hooks are given checked arrays and check nothing. They work on all samples at once. ``y`` and ``f`` have n rows; f
    is (n,), or (n, m) for a loss that couples m outputs.

    Attributes
    ----------
    relative : bool
        Class attribute: whether the loss is the same if a constant is added to all outputs of a sample, as in a
        softmax. Only for coupled outputs.

    See Also
    --------
    mercer.RepresenterMachine : The estimator that takes any loss of one output.

    Notes
    -----
    The loss must be convex in f, and finite for finite f but for overflow: a line search steps back from infinity.
    docs/add_a_loss.md has every hook with an example.

    Examples
    --------
    log cosh(y − f), between the squared and the absolute error, with its two derivatives:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import mercer as mc
    >>> from mercer.losses import Loss
    >>> @dataclass(frozen=True)
    ... class LogCosh(Loss):
    ...     def value(self, y, f):
    ...         return np.logaddexp(y - f, f - y) - np.log(2)
    ...
    ...     def gradient(self, y, f):
    ...         return np.tanh(f - y)
    ...
    ...     def curvature(self, y, f):
    ...         return 1 - np.tanh(f - y) ** 2
    >>> X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 4.0, 50.0])
    >>> machine = mc.RepresenterMachine(LogCosh(), alpha=0.01, kernel=mc.Linear()).fit(X, y)
    >>> machine.converged_, machine.solver_
    (True, 'newton-woodbury')
    >>> machine.predict([[2.0]]).round(2)
    array([2.25])
    """

    relative = False

    @abstractmethod
    def value(self, y: Array, f: Array) -> Array:
        """ℓ(y_i, f_i) for each sample.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Targets, for which ``check`` did not raise.
        f : ndarray of shape (n,) or (n, m)
            Predictions; m where ``outputs`` says so.

        Returns
        -------
        ndarray of shape (n,)
            The cost of each sample, without its weight. Infinity where it overflows, without a warning
            (``np.errstate(over="ignore")``).
        """

    @abstractmethod
    def gradient(self, y: Array, f: Array) -> Array:
        """∂ℓ/∂f, of the shape of f.

        Where the loss has a corner, any slope between those of the two sides: then ℓ(y, g) ≥ ℓ(y, f) + gradient·(g − f)
        for all g.
        """

    def curvature(self, y: Array, f: Array) -> Array | None:
        """∂²ℓ/∂f², the diagonal of it where outputs are coupled, of the shape of f; None: unknown.

        All values are at least 0. On straight pieces they are 0, which is allowed: the solver puts 1e-8 of the largest
        in their place, and goes down the slope where that leads nowhere. A loss made of straight pieces alone has no
        use for it and returns None, for every y and f.
        """
        return None

    def hessian(self, y: Array, f: Array, V: Array) -> Array:
        """∂²ℓ/∂f² times V, sample by sample, of the shape of f.

        To be written for coupled outputs, of which ``curvature`` is only the diagonal; for one output the default,
        ``curvature(y, f) * V``, is right.
        """
        curvature = self.curvature(y, f)
        assert curvature is not None
        return curvature * V

    def dual(self, y: Array, C: Array, coupled: bool) -> DualQP | None:
        """The dual of Σ_i C_i ℓ(y_i, f_i) + ½‖f‖², where that is a quadratic programme with bounds; else None.

        With the coefficients b of f = Σ_i b_i k(·, x_i) + bias, the dual is min ½ b^T K b + Σ_i C_i ℓ*(y_i, −b_i/C_i),
        ℓ* the conjugate in f. It is a ``DualQP`` where ℓ is made of straight lines: ℓ* is then linear between the
        steepest slopes, and infinite beyond them.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Targets.
        C : ndarray of shape (n,)
            What the loss of each sample is multiplied by, w_i/(2λ).
        coupled : bool
            Whether there is a bias, which keeps the sum of b at 0: given on to the ``DualQP``.

        Returns
        -------
        DualQP or None
            Its first n variables must be those of the samples in their order, and ``start`` must lie within the bounds
            and sum to 0.
        """
        return None

    def prox(self, y: Array, z: Array, step: Array) -> Array | None:
        """argmin_v step_i ℓ(y_i, v) + ½(v − z_i)² for each sample: for a loss with corners; None: unknown.

        Used only where there is neither ``dual`` nor ``curvature``, and for one output.

        Parameters
        ----------
        y, z : ndarray of shape (n,)
            Targets, and the points to stay near to.
        step : ndarray of shape (n,)
            Positive.

        Returns
        -------
        ndarray of shape (n,), or None
        """
        return None

    def outputs(self, y: Array) -> int:
        """How many functions are sought: 0 means one, f of shape (n,); m ≥ 1 means that f is of shape (n, m)."""
        return 0

    def start(self, y: Array, weights: Array) -> Any:
        """A constant f to start from, near the best one: a number, or one for each output.

        It is the bias of the first step; without a bias the solver starts from 0. A good one saves steps, any one is
        right.
        """
        return 0.0

    def mean(self, f: Array) -> Array:
        """What is predicted from f: E[y], or the like. For a loss of y − f that is f itself."""
        return f

    def check(self, y: Array) -> None:  # noqa: B027  # most losses take any number
        """Raise ValueError if these targets are impossible; y is of float64 and finite.

        Called once, before anything is computed. The message says what was found and what the loss is of.
        """


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
class Logistic(Loss):
    """log(1 + e^{−yf}), y = ±1: the negative log-likelihood of P(y = 1) = σ(f).

    ``mean`` is that probability, σ(f) = 1/(1 + e^{−f}). The loss of ``mercer.KernelLogistic`` for two classes.

    See Also
    --------
    Multinomial : The same for more classes.
    Hinge : Of the support vector machine; no probabilities, but few samples with a coefficient.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Logistic
    >>> Logistic().value(np.array([1.0, 1.0]), np.array([0.0, 3.0])).round(4)
    array([0.6931, 0.0486])
    >>> Logistic().mean(np.array([0.0, 3.0])).round(4)
    array([0.5   , 0.9526])
    """

    def value(self, y: Array, f: Array) -> Array:
        return np.logaddexp(0.0, -y * f)

    def gradient(self, y: Array, f: Array) -> Array:
        return -y * expit(-y * f)

    def curvature(self, y: Array, f: Array) -> Array:
        return expit(f) * expit(-f)

    def mean(self, f: Array) -> Array:
        return expit(f)

    def check(self, y: Array) -> None:
        if not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError(coded("The logistic loss is of labels −1 and 1.", "M112"))


@dataclass(frozen=True)
class Multinomial(Loss):
    """−log softmax(f)_y for m classes 0…m−1: one function for each, of which only differences matter.

    The loss of ``mercer.KernelLogistic`` for three classes and more. ``mean`` gives the probabilities, (n, m); y are
    the numbers of the classes, as integers. Its Hessian couples the outputs: diag(p) − p p^T.

    Parameters
    ----------
    classes : int
        m, at least 2.

    See Also
    --------
    Logistic : For two classes, with one function.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Multinomial
    >>> f = np.log([[0.7, 0.2, 0.1]])
    >>> Multinomial(3).mean(f).round(3)
    array([[0.7, 0.2, 0.1]])
    >>> Multinomial(3).value(np.array([0]), f).round(4)
    array([0.3567])
    """

    classes: int
    relative = True

    def value(self, y: Array, f: Array) -> Array:
        return -log_softmax(f, axis=1)[np.arange(len(f)), y]

    def gradient(self, y: Array, f: Array) -> Array:
        p = softmax(f, axis=1)
        p[np.arange(len(f)), y] -= 1.0
        return p

    def curvature(self, y: Array, f: Array) -> Array:
        p = softmax(f, axis=1)
        return p * (1 - p)

    def hessian(self, y: Array, f: Array, V: Array) -> Array:
        p = softmax(f, axis=1)
        return p * (V - np.sum(p * V, axis=1, keepdims=True))

    def outputs(self, y: Array) -> int:
        return self.classes

    def start(self, y: Array, weights: Array) -> Array:
        share = np.bincount(y, weights=weights, minlength=self.classes) / weights.sum()
        logs = np.log(np.maximum(share, 1e-3))
        return logs - logs.mean()

    def mean(self, f: Array) -> Array:
        return np.asarray(softmax(f, axis=1))


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


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 − yf), y = ±1: the support vector machine's.

    Samples on the right side with a margin of more than 1 cost nothing and have no coefficient. The loss of
    ``mercer.SVC``; its dual is 0 ≤ y_i b_i ≤ C_i with the linear term −y.

    See Also
    --------
    SquaredHinge : Without a corner.
    Logistic : With probabilities.

    References
    ----------
    Cortes, C. and Vapnik, V. (1995). Support-vector networks. Machine Learning 20.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Hinge
    >>> y = np.array([1.0, -1.0])
    >>> Hinge().value(y, np.array([0.3, 0.3]))
    array([0.7, 1.3])
    >>> problem = Hinge().dual(y, C=np.array([10.0, 10.0]), coupled=True)
    >>> problem.lower, problem.upper
    (array([  0., -10.]), array([10.,  0.]))
    """

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, 1 - y * f)

    def gradient(self, y: Array, f: Array) -> Array:
        return np.where(y * f < 1, -y, 0.0)

    def dual(self, y: Array, C: Array, coupled: bool) -> DualQP:
        return DualQP(-y, np.minimum(0.0, y * C), np.maximum(0.0, y * C), np.zeros(len(y)), coupled=coupled)

    def check(self, y: Array) -> None:
        if not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError(coded("The hinge loss is of labels −1 and 1.", "M112"))


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """max(0, 1 − yf)², y = ±1: the hinge loss squared, which has a slope everywhere.

    Newton's method solves it; violations of the margin count by their square, and samples beyond the margin cost
    nothing.

    See Also
    --------
    Hinge : The support vector machine's own.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([1.0, 1.0]), np.array([0.0, 2.0]))
    array([1., 0.])
    """

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, 1 - y * f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        return -2 * y * np.maximum(0.0, 1 - y * f)

    def curvature(self, y: Array, f: Array) -> Array:
        return 2.0 * (y * f < 1)

    def check(self, y: Array) -> None:
        Hinge().check(y)


@dataclass(frozen=True)
class Perceptron(Loss):
    """max(0, −yf), y = ±1: the perceptron's, which asks for the right side and no margin.

    f = 0 costs nothing, so that its minimum says nothing: it is a loss of streams, where each mistake moves f
    (``mercer.KernelSGDClassifier``). At yf = 0 the slope is −y: a sample on the boundary is a mistake.

    See Also
    --------
    Hinge : The same with a margin of 1.

    References
    ----------
    Rosenblatt, F. (1958). The perceptron. Psychological Review 65.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.losses import Perceptron
    >>> y = np.array([1.0, -1.0])
    >>> Perceptron().value(y, np.array([0.3, 0.3]))
    array([0. , 0.3])
    >>> Perceptron().gradient(y, np.array([0.0, 0.3]))
    array([-1.,  1.])
    """

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, -y * f)

    def gradient(self, y: Array, f: Array) -> Array:
        return np.where(y * f <= 0, -y, 0.0)

    def dual(self, y: Array, C: Array, coupled: bool) -> DualQP:
        return DualQP(
            np.zeros(len(y)), np.minimum(0.0, y * C), np.maximum(0.0, y * C), np.zeros(len(y)), coupled=coupled
        )

    def check(self, y: Array) -> None:
        if not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError(coded("The perceptron loss is of labels −1 and 1.", "M112"))
