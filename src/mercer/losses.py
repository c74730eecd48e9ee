"""Losses ℓ(y, f): what an error costs. Each is a value with its value, its gradient in f and, where it has one, its
curvature.

A loss that is made of straight lines has no curvature to follow; it says instead which quadratic programme its dual is.
A user's own loss is a subclass with ``value`` and ``gradient``; with ``curvature`` it is solved by Newton's method,
with ``prox`` (for corners) by splitting, and otherwise by L-BFGS.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, softmax

from mercer.arrays import Array
from mercer.problems import DualQP


class Loss(ABC):
    """ℓ(y, f), convex in f. ``y`` and ``f`` have n rows; f is (n,), or (n, m) for a loss that couples m outputs."""

    relative = False  # whether only differences between the outputs matter

    @abstractmethod
    def value(self, y: Array, f: Array) -> Array:
        """ℓ(y_i, f_i) for each sample."""

    @abstractmethod
    def gradient(self, y: Array, f: Array) -> Array:
        """∂ℓ/∂f, of the shape of f."""

    def curvature(self, y: Array, f: Array) -> Array | None:
        """∂²ℓ/∂f², the diagonal of it where outputs are coupled, of the shape of f; None: unknown."""
        return None

    def hessian(self, y: Array, f: Array, V: Array) -> Array:
        """∂²ℓ/∂f² times V."""
        curvature = self.curvature(y, f)
        assert curvature is not None
        return curvature * V

    def dual(self, y: Array, C: Array, coupled: bool) -> DualQP | None:
        """The dual of Σ_i price_i ℓ(y_i, f_i) + ½‖f‖², where that is a quadratic programme with bounds; else None."""
        return None

    def prox(self, y: Array, z: Array, step: Array) -> Array | None:
        """argmin_v step_i ℓ(y_i, v) + ½(v − z_i)² for each sample: for a loss with corners; None: unknown."""
        return None

    def outputs(self, y: Array) -> int:
        """How many functions are sought: 0 means one, f of shape (n,)."""
        return 0

    def start(self, y: Array, weights: Array) -> Any:
        """A constant f to start from; near the best one."""
        return 0.0

    def mean(self, f: Array) -> Array:
        """What is predicted from f: E[y], or the like."""
        return f

    def check(self, y: Array) -> None:  # noqa: B027  # most losses take any number
        """Raise ValueError if these targets are impossible."""


@dataclass(frozen=True)
class Squared(Loss):
    """(y − f)²."""

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
    """log(1 + e^{−yf}), y = ±1: the negative log-likelihood of P(y = 1) = σ(f)."""

    def value(self, y: Array, f: Array) -> Array:
        return np.logaddexp(0.0, -y * f)

    def gradient(self, y: Array, f: Array) -> Array:
        return -y * expit(-y * f)

    def curvature(self, y: Array, f: Array) -> Array:
        return expit(f) * expit(-f)

    def mean(self, f: Array) -> Array:
        return np.asarray(expit(f))

    def check(self, y: Array) -> None:
        if not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError("The logistic loss is of labels −1 and 1.")


@dataclass(frozen=True)
class Multinomial(Loss):
    """−log softmax(f)_y for m classes 0…m−1: one function for each, of which only differences matter."""

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
    """½r² for |r| ≤ δ, δ(|r| − δ/2) beyond, r = y − f: squared for small errors, absolute for outliers."""

    delta: float = 1.35

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise ValueError(f"Huber(delta={self.delta!r}): where squares end must be a positive number.")

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
    """|τ − [y < f]| (y − f)²: the mean for τ = ½, and what quantiles are to the median for other τ."""

    tau: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.tau < 1:
            raise ValueError(f"Expectile(tau={self.tau!r}): a share between 0 and 1.")

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
    """e^f − yf for counts y: E[y] = e^f."""

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
                f"The Poisson loss is of counts; target {int(np.argmax(y < 0))} is {y[np.argmax(y < 0)]:g}."
            )
        if not (y > 0).any():
            raise ValueError("All counts are 0: their rate is 0, whose logarithm is no number.")


@dataclass(frozen=True)
class Pinball(Loss):
    """τr for r ≥ 0, (τ − 1)r for r < 0, r = y − f: its minimum is the τ-quantile."""

    tau: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.tau < 1:
            raise ValueError(f"Pinball(tau={self.tau!r}): a quantile is a share between 0 and 1.")

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
    """max(0, |y − f| − ε): errors up to ε are free. ε = 0 is the absolute error."""

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        if not (isinstance(self.epsilon, int | float | np.number) and np.isfinite(self.epsilon) and self.epsilon >= 0):
            raise ValueError(
                f"EpsilonInsensitive(epsilon={self.epsilon!r}): the width that is free must be a number of at least 0."
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
            linear,
            np.concatenate([zero, -C]),
            np.concatenate([C, zero]),
            np.zeros(2 * n),
            item,
            coupled=coupled,
        )


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 − yf), y = ±1: the support vector machine's."""

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, 1 - y * f)

    def gradient(self, y: Array, f: Array) -> Array:
        return np.where(y * f < 1, -y, 0.0)

    def dual(self, y: Array, C: Array, coupled: bool) -> DualQP:
        return DualQP(-y, np.minimum(0.0, y * C), np.maximum(0.0, y * C), np.zeros(len(y)), coupled=coupled)

    def check(self, y: Array) -> None:
        if not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError("The hinge loss is of labels −1 and 1.")


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """max(0, 1 − yf)², y = ±1."""

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, 1 - y * f) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        return -2 * y * np.maximum(0.0, 1 - y * f)

    def curvature(self, y: Array, f: Array) -> Array:
        return 2.0 * (y * f < 1)

    def check(self, y: Array) -> None:
        Hinge().check(y)
