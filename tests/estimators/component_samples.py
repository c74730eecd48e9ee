"""Data and features shared by the tests of principal components."""

from __future__ import annotations

from typing import Any

import numpy as np

import mercer as mc

SCALES = np.array([3.0, 2.0, 1.0, 0.5])
G = mc.Gaussian(0.1)


def cloud(n: int = 60, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((n, 4)) * SCALES + [5.0, -3.0, 0.0, 20.0]


NEW = cloud(17, 7)


def gaussian(A: Any, B: Any, gamma: float = 0.1) -> Any:
    return np.array([[np.exp(-gamma * np.sum((a - b) ** 2)) for b in B] for a in A])


def counts(n: int = 60, seed: int = 3) -> Any:
    return np.random.default_rng(seed).integers(0, 4, n)


def two_families() -> list[str]:
    """Two families of their own motifs, no two alike."""
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list(letters), 20)) for letters in ("AC", "GT") for _ in range(12)]
