"""Data and learners shared by the tests of the unsupervised learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mercer as mc

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) * [3, 2, 1]
X[:20] += 4
X[20:40] -= 4
Y = np.c_[X[:, :1] ** 2 + 0.1 * rng.normal(size=(60, 1)), rng.normal(size=(60, 1))]
N, NY = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))

TARGET = np.repeat([0, 1, 2], 20)

ONE: dict[str, Callable[[], Any]] = {
    "PCA": lambda: mc.PCA(2),
    "KernelPCA": lambda: mc.KernelPCA(2),
    "KernelHebbian": lambda: mc.KernelHebbian(2),
    "KMeans": lambda: mc.KMeans(3, random_state=0),
    "KernelKMeans": lambda: mc.KernelKMeans(3, random_state=0),
    "SpectralClustering": lambda: mc.SpectralClustering(3, random_state=0),
    "GaussianMixture": lambda: mc.GaussianMixture(2, random_state=0),
    "KernelPCANovelty": lambda: mc.KernelPCANovelty(2),
}
TWO: dict[str, Callable[[], Any]] = {
    "CCA": lambda: mc.CCA(1),
    "KernelCCA": lambda: mc.KernelCCA(1, alpha=0.1),
    "TemporalKernelCCA": lambda: mc.TemporalKernelCCA(max_lag=2, n_bootstrap=10, alpha=0.1),
}
ALL = ONE | TWO


def fitted(name: str, A: Any = X, B: Any = Y) -> Any:
    return ALL[name]().fit(A, B) if name in TWO else ALL[name]().fit(A)


def partition(labels: Any) -> np.ndarray:
    """Labels numbered as they appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def output(model: Any, A: Any = X) -> np.ndarray:
    for method in ("transform", "score_samples"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(A))
    return partition(model.labels_)


def outcome(A: Any, B: Any, **options: Any) -> Any:
    return mc.mmd_test(A, B, **{"n_permutations": 19, "random_state": 0} | options)


def tensor(A: np.ndarray) -> Any:
    return pytest.importorskip("torch").tensor(A)


def named(A: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(A, columns=list("abc")[: A.shape[1]])
