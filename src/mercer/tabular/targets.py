"""The scale that a target is learnt on: as it is, or its logarithm where it is skewed; centred, of variance 1."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from mercer.arrays import Array

_SKEWED = 1.0
_AT_THE_EDGE = 0.01  # share of rows at the least or the largest value, from which on that is taken for a bound


@dataclass(frozen=True)
class Scale:
    """z = (g(y) − mean)/spread, g the identity or log(y + shift); back, times ``smear`` and inside the bounds.

    E[y] is not exp(E[log y]): ``smear`` is the mean of exp(residual) (Duan 1983), ``shift`` keeps the logarithm from
    running away at 0.
    """

    mean: float
    spread: float
    logarithm: bool = False
    shift: float = 0.0
    smear: float = 1.0
    low: float = -np.inf
    high: float = np.inf

    @classmethod
    def of(cls, y: Array, weights: Array | None = None, *, logarithm: bool = False) -> Scale:
        shift = 0.0
        if logarithm:
            positive = y[y > 0]
            shift = 0.0 if y.min() > 0 else 0.5 * float(positive.min()) if len(positive) else 1.0
        g = np.log(y + shift) if logarithm else y
        mean = float(np.average(g, weights=weights))
        spread = float(np.sqrt(np.average((g - mean) ** 2, weights=weights))) or 1.0
        low, high = float(y.min()), float(y.max())
        bounded_below, bounded_above = (np.mean(y == edge) >= _AT_THE_EDGE for edge in (low, high))
        # a quantity that is never negative is not predicted to be
        floor = low if bounded_below or low == 0 else 0.0 if low > 0 and logarithm else -np.inf
        return cls(mean, spread, logarithm, shift, 1.0, floor, high if bounded_above else np.inf)

    def to(self, y: Array) -> Array:
        return ((np.log(np.maximum(y + self.shift, 1e-300)) if self.logarithm else y) - self.mean) / self.spread

    def back(self, z: Array) -> Array:
        g = z * self.spread + self.mean
        y = self.smear * np.exp(np.minimum(g, 700.0)) - self.shift if self.logarithm else g
        return np.clip(y, self.low, self.high)

    def smeared(self, y: Array, z: Array, weights: Array | None = None) -> Scale:
        """With the smear of predictions z for rows that were not trained on."""
        if not self.logarithm:
            return self
        whole = replace(self, smear=1.0, low=-np.inf, high=np.inf).back(z) + self.shift
        smear = np.average(y + self.shift, weights=weights) / np.average(whole, weights=weights)
        return replace(self, smear=float(np.clip(smear, 0.2, 5.0)))


def scales(y: Array, weights: Array | None = None) -> list[Scale]:
    """Those worth trying: the logarithm too, where it makes a skewed target less so."""
    plain = Scale.of(y, weights)
    if y.min() < 0 or (y > 0).mean() < 0.8 or len(np.unique(y)) < 10:
        return [plain]
    logarithm = Scale.of(y, weights, logarithm=True)
    skewed, after = float(stats.skew(y)), float(stats.skew(logarithm.to(y)))
    return [plain, logarithm] if skewed > _SKEWED and abs(after) < skewed else [plain]
