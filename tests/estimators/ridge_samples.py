"""Data shared by the tests of ridge regression."""

from __future__ import annotations

from typing import Any

import numpy as np

import mercer as mc


def problem(n: int = 100, outputs: int = 0, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    Y = (
        np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2, X[:, 2] - X[:, 0]])
        + 0.1 * rng.standard_normal((n, 3))
        + 1.0
    )
    return X, Y[:, :outputs] if outputs else Y[:, 0]


NEW = np.random.default_rng(7).standard_normal((25, 3))
K = mc.Gaussian(0.5)


def some_weights(n: int, seed: int = 3) -> Any:
    return np.random.default_rng(seed).uniform(0.1, 3.0, n)
