"""Data of the SVM benchmarks: three generators of d columns (γ = 1/d), and published sets where they are at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file, make_classification

GENERATORS = ("mc", "noisy", "friedman")
PUBLISHED = {  # C, γ and the accuracy to reach
    "svmguide1": (2.0, 2.0, 0.96875),
    "letter": (16.0, 4.0, 0.9796),
    "usps": (10.0, 1 / 128, 0.953),
    "a9a": (1.0, 0.03, 0.8498),
    "ijcnn1": (32.0, 2.0, 0.9869),
    "mnist": (10.0, 0.02, 0.985),
}
_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


def generated(kind: str, n: int, d: int = 20, seed: int = 0) -> tuple[Any, Any]:
    """Clusters with 1 % flipped labels, two overlapping Gaussians, or a smooth boundary without noise; standardised."""
    rng = np.random.default_rng(seed)
    if kind == "mc":
        X, y = make_classification(
            n, d, n_informative=12, n_redundant=4, n_clusters_per_class=4, flip_y=0.01, random_state=seed
        )
    elif kind == "noisy":
        y = rng.integers(0, 2, n)
        X = rng.standard_normal((n, d)) + 0.27 * (2 * y[:, None] - 1)
    else:
        X = rng.standard_normal((n, d))
        y = (np.sin(X[:, 0] * X[:, 1]) + X[:, 2] ** 2 - 1 + 0.5 * X[:, 3] + 0.3 * X[:, 4] * X[:, 5] > 0).astype(int)
    return np.ascontiguousarray((X - X.mean(0)) / X.std(0)), np.asarray(y)


def published(name: str) -> tuple[Any, Any, Any, Any] | None:
    """(X, y, X_test, y_test), or None where the file is not there."""
    folder = _FOLDER / name
    if not folder.exists():
        return None
    if name in ("letter", "a9a", "ijcnn1"):
        stem, d = {"letter": ("letter.scale", 16), "a9a": ("a9a", 123), "ijcnn1": ("ijcnn1", 22)}[name]
        X, y = load_svmlight_file(str(folder / f"{stem}.bz2"), n_features=d)
        T, t = load_svmlight_file(str(folder / f"{stem}.t.bz2"), n_features=d)
        if name == "a9a":  # sparse; scikit-learn's SVC wants indices of 32 bits
            for A in (X, T):
                A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
            return X, y, T, t
        return X.toarray(), y, T.toarray(), t
    with np.load(folder / f"{name}.npz") as z:
        X, y, T, t = (z[key] for key in ("X", "y", "X_test", "y_test"))
    if name == "svmguide1":
        low, high = X.min(0), X.max(0)
        X, T = (2 * (A - low) / (high - low) - 1 for A in (X.astype(float), T.astype(float)))
    elif name == "usps":
        X, T = X / 1000.0, T / 1000.0
    else:
        X, T = ((A.reshape(len(A), -1) / 255).astype(np.float32) for A in (X, T))
    return X, y, T, t
