"""Probabilities for a machine that gives values: a sigmoid on what each sample would get if it had been left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg
from scipy.special import expit

from mercer.arrays import Array
from mercer.gram import Gram

_LARGEST = 1500  # free support vectors that the span is taken over
_LEAST = 1e-7  # of Platt's probabilities, as in libsvm


def leave_one_out(gram: Gram, values: Array, coef: Array, free: Array) -> Array:
    """f(x_i) of the machine trained without i, for each i, by the span estimate: values_i − coef_i S_i², values being
    those of the whole machine.

    S_i² is the squared distance of φ(x_i) from the affine span of the ``free`` support vectors: how far f must move at
    x_i when its weight is taken away and the others keep their margins. Samples without weight keep their value. No
    refitting: one factorisation of the free ones.
    """
    support, free = np.flatnonzero(coef), np.flatnonzero(free)
    if len(free) > _LARGEST:
        free = np.sort(np.random.default_rng(0).permutation(free)[:_LARGEST])
    diagonal = np.asarray(gram.diag(), np.float64)
    span = diagonal.copy()
    if len(free) > 1:
        exact = gram.astype(np.float64)
        K = np.array(exact.sub(free, free).dense(), np.float64)
        bordered = np.ones((len(free) + 1, len(free) + 1))
        bordered[:-1, :-1], bordered[-1, -1] = K + 1e-10 * diagonal.mean() * np.eye(len(free)), 0.0
        inverse = linalg.inv(bordered, check_finite=False)
        span[free] = 1.0 / np.maximum(np.diagonal(inverse)[:-1], 1e-12)
        others = np.setdiff1d(support, free, assume_unique=True)
        for start in range(0, len(others), 4096):
            some = others[start : start + 4096]
            v = np.ones((len(free) + 1, len(some)))
            v[:-1] = exact.sub(free, some).dense()
            span[some] = diagonal[some] - np.einsum("ij,ij->j", v, inverse @ v)
    span[support] = np.clip(span[support], 0.0, 4 * diagonal[support])
    return values - coef * span


@dataclass(frozen=True)
class ScoreSigmoid:
    """P(y = 1 | f) = σ(a f) with a slope of its own on each side of 0: ½ where the prediction changes, so the two never
    disagree.
    """

    below: float
    above: float
    agrees: ClassVar[bool] = True  # whether the likelier class is always the predicted one

    def __call__(self, f: Array) -> Array:
        return expit(self.logit(f))

    def logit(self, f: Array) -> Array:
        """log P/(1 − P)."""
        return np.where(f > 0, self.above, self.below) * f

    @classmethod
    def fit(cls, f: Array, y: Array, weights: Array) -> ScoreSigmoid:
        """Maximum likelihood with Platt's targets, which are short of 0 and 1 by what the number of samples leaves
        open.
        """
        total = {s: float(weights[y == s].sum()) for s in (1.0, -1.0)}
        target = np.where(y > 0, (total[1.0] + 1) / (total[1.0] + 2), 1 / (total[-1.0] + 2))
        both = cls._slope(f, target, weights, prior=1.0)
        sides = [
            cls._slope(f[side], target[side], weights[side], prior=both) if side.any() else both
            for side in (f <= 0, f > 0)
        ]
        return cls(*sides)

    @staticmethod
    def _slope(f: Array, target: Array, weights: Array, prior: float) -> float:
        """The a ≥ 0 of largest likelihood: the derivative falls in a, so bisection on log a finds its zero, whatever
        the data.
        """
        scale = float(np.mean(np.abs(f))) or 1.0

        def derivative(a: float) -> float:
            return float(np.sum(weights * f * (target - expit(a * f)))) - 1e-3 * scale * (a - prior)

        low, high = 1e-4 / scale, 1e4 / scale
        if derivative(low) <= 0:
            return low
        if derivative(high) >= 0:
            return high
        for _ in range(60):
            middle = np.sqrt(low * high)
            low, high = (middle, high) if derivative(middle) > 0 else (low, middle)
        return float(np.sqrt(low * high))


@dataclass(frozen=True)
class PlattSigmoid:
    """P(y = 1 | f) = σ(slope f + offset), Platt's form and libsvm's: ½ need not be where the prediction changes."""

    slope: float
    offset: float
    agrees: ClassVar[bool] = False

    def __call__(self, f: Array) -> Array:
        return np.clip(expit(self.logit(f)), _LEAST, 1 - _LEAST)

    def logit(self, f: Array) -> Array:
        """log P/(1 − P)."""
        return self.slope * f + self.offset

    @classmethod
    def fit(cls, f: Array, y: Array) -> PlattSigmoid:
        """Maximum likelihood with Platt's targets, by Newton's method with steps that are halved until they descend; f
        are values of samples that were not trained on.
        """
        positive, negative = float((y > 0).sum()), float((y <= 0).sum())
        target = np.where(y > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
        design = np.column_stack([f, np.ones(len(f))])
        point = np.array([0.0, np.log((positive + 1) / (negative + 1))])

        def loss(at: Array) -> float:
            z = design @ at
            return float(np.sum(np.logaddexp(0.0, z) - target * z))

        value = loss(point)
        for _ in range(100):
            p = expit(design @ point)
            gradient = design.T @ (p - target)
            if np.max(np.abs(gradient)) < 1e-8 * len(f):
                break
            curvature = design.T @ ((p * (1 - p))[:, None] * design) + 1e-12 * np.eye(2)
            step, length = linalg.solve(curvature, gradient, assume_a="sym"), 1.0
            while length > 1e-10 and loss(point - length * step) > value - 1e-4 * length * float(gradient @ step):
                length /= 2
            if length <= 1e-10:
                break
            point = point - length * step
            value = loss(point)
        return cls(float(point[0]), float(point[1]))
