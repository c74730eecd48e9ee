"""P(class | x) = softmax(a·f(x) + b): probabilities from the scores of a machine on rows that it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

from mercer.arrays import Array

_PULL = 1.0  # of the offsets towards 0, as much as one row
_STEPS, _HALVED = 30, 12
_FLATTEST = 1e-3  # a, where scores have spread 1


@dataclass(eq=False)
class Calibration:
    """a > 0 and b, one for each class; a score of two classes, one column f, stands for (−f/2, f/2)."""

    slope: float
    offsets: Array

    @classmethod
    def of(cls, scores: Array, codes: Array, classes: int, weights: Array | None = None) -> Calibration:
        """By maximum likelihood, the offsets held back: a class of few rows must not get one from them."""
        F = _by_class(scores)
        unit = float(np.std(F)) or 1.0
        F = F / unit
        w = np.ones(len(codes)) if weights is None else weights
        theta, value = np.concatenate([[1.0], np.zeros(classes)]), np.inf
        step = np.zeros(classes + 1)
        for _ in range(_STEPS):
            for half in range(_HALVED):
                tried = theta - step / 2**half
                tried[0] = max(tried[0], _FLATTEST)
                logs = log_softmax(tried[0] * F + tried[1:], axis=1)
                found = -float(w @ logs[np.arange(len(codes)), codes]) + _PULL / 2 * float(tried[1:] @ tried[1:])
                if found <= value:
                    break
            if np.isfinite(value) and value - found <= 1e-7 * abs(value):
                break
            theta, value = tried, found
            step = _newton(F, codes, w, theta, np.exp(logs))
        return cls(float(theta[0] / unit), theta[1:])

    def __call__(self, scores: Array) -> Array:
        return np.asarray(softmax(self.slope * _by_class(scores) + self.offsets, axis=1))


def _by_class(scores: Array) -> Array:
    F = scores.reshape(len(scores), -1)
    return np.column_stack([-F[:, 0] / 2, F[:, 0] / 2]) if F.shape[1] == 1 else F


def _newton(F: Array, codes: Array, w: Array, theta: Array, p: Array) -> Array:
    """H⁻¹g of the negative log-likelihood in (a, b)."""
    residual = p * w[:, None]
    curved = np.diag(residual.sum(axis=0)) - p.T @ residual
    residual[np.arange(len(codes)), codes] -= w
    mean = (p * F).sum(axis=1)
    across = (w[:, None] * p * (F - mean[:, None])).sum(axis=0)
    g = np.concatenate([[float((residual * F).sum())], residual.sum(axis=0) + _PULL * theta[1:]])
    H = np.empty((len(g), len(g)))
    H[0, 0] = float(w @ ((p * F**2).sum(axis=1) - mean**2)) + 1e-9
    H[0, 1:] = H[1:, 0] = across
    H[1:, 1:] = curved + _PULL * np.eye(len(across))
    return np.asarray(np.linalg.solve(H, g))
