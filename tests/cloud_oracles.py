"""Kernels between sets of vectors, literally: double loops over points, and quantiles on a common refinement."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def mean_of_pairs(x: Any, z: Any, kernel: Callable[..., float]) -> float:
    return sum(kernel(a, b) for a in x for b in z) / (len(x) * len(z))


def squared(a: Any, b: Any) -> float:
    return sum((s - t) ** 2 for s, t in zip(a, b, strict=True))


def of_mmd(x: Any, z: Any, kernel: Callable[..., float], gamma: float) -> float:
    """exp(−γ MMD²)."""
    mmd = mean_of_pairs(x, x, kernel) + mean_of_pairs(z, z, kernel) - 2 * mean_of_pairs(x, z, kernel)
    return math.exp(-gamma * mmd)


def on_lines(x: Any, z: Any, gamma: float, lines: Any, power: int) -> float:
    """exp(−γ SW_p^p): both sets repeated until they have as many points, and sorted along each line."""
    most = math.lcm(len(x), len(z))
    total = 0.0
    for line in lines:
        a = sorted(float(np.dot(p, line)) for p in x for _ in range(most // len(x)))
        b = sorted(float(np.dot(p, line)) for p in z for _ in range(most // len(z)))
        total += sum(abs(s - t) ** power for s, t in zip(a, b, strict=True)) / most
    return math.exp(-gamma * total / len(lines))


def half_circle(count: int) -> list[tuple[float, float]]:
    angles = [math.pi * (i / count - 0.5) for i in range(count)]
    return [(math.cos(t), math.sin(t)) for t in angles]


def scale_space(x: Any, z: Any, sigma: float) -> float:
    total = sum(
        math.exp(-squared(p, q) / (8 * sigma)) - math.exp(-squared(p, (q[1], q[0])) / (8 * sigma)) for p in x for q in z
    )
    return total / (8 * math.pi * sigma)


def weighted_gaussian(x: Any, z: Any, gamma: float, weight: float, power: float) -> float:
    def w(p: Any) -> float:
        return math.atan(weight * (p[1] - p[0]) ** power)

    return sum(w(p) * w(q) * math.exp(-gamma * squared(p, q)) for p in x for q in z)


def sliced_diagrams(x: Any, z: Any, gamma: float, directions: int) -> float:
    """Each diagram with the other's projections onto the diagonal, sorted along each line."""

    def onto(diagram: Any) -> list[tuple[float, float]]:
        return [((p[0] + p[1]) / 2, (p[0] + p[1]) / 2) for p in diagram]

    first, second, total = [*map(tuple, x), *onto(z)], [*map(tuple, z), *onto(x)], 0.0
    for c, s in half_circle(directions):
        a, b = sorted(c * p[0] + s * p[1] for p in first), sorted(c * p[0] + s * p[1] for p in second)
        total += sum(abs(u - v) for u, v in zip(a, b, strict=True))
    return math.exp(-gamma * total / directions)


def patches_of(image: Any, size: int, stride: int) -> list[list[float]]:
    rows, columns = range(0, len(image) - size + 1, stride), range(0, len(image[0]) - size + 1, stride)
    return [[float(image[i + u][j + v]) for u in range(size) for v in range(size)] for i in rows for j in columns]


def shares_of_words(x: Any, words: Any) -> list[float]:
    nearest = [min(range(len(words)), key=lambda w: squared(p, words[w])) for p in x]
    return [nearest.count(w) / len(x) for w in range(len(words))]
