"""Data shared by the tests of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np


def blobs(n: int = 60, spread: float = 0.3, seed: int = 0) -> tuple[Any, Any]:
    y = np.arange(n) % 3
    return np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[y] + spread * np.random.default_rng(seed).standard_normal(
        (n, 2)
    ), y


def two_rings(n: int = 200, inner: float = 0.2) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    t, y = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 2
    return np.column_stack([np.cos(t), np.sin(t)]) * np.where(y, 1.0, inner)[:, None] + 0.03 * rng.standard_normal(
        (n, 2)
    ), y


def two_families() -> tuple[list[str], Any]:
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list(letters), 20)) for letters in ("AC", "GT", "AG") for _ in range(8)], np.repeat(
        [0, 1, 2], 8
    )


def gaussian(A: Any, B: Any, gamma: float) -> Any:
    return np.array([[np.exp(-gamma * np.sum((a - b) ** 2)) for b in B] for a in A])


def counts(n: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(0, 4, n)
