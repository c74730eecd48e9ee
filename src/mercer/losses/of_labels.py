"""Losses of labels: ±1, or one of several classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_softmax, softmax

from mercer.arrays import Array
from mercer.losses.contract import Loss
from mercer.problems import DualQP
from mercer.troubles import coded

__all__ = ["Hinge", "Logistic", "Multinomial", "Perceptron", "SquaredHinge"]


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
