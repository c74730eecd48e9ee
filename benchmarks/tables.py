"""Published regression and classification sets, where they are at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


def table(name: str) -> tuple[Any, Any] | None:
    """(X, y), or None where the file is not there."""
    folder = FOLDER / name
    if not folder.exists():
        return None
    packed = sorted(folder.glob("*.bz2"))
    if packed:
        X, y = load_svmlight_file(str(packed[0]))
        return X.toarray(), y
    with np.load(folder / f"{name}.npz") as z:
        return z["X"].astype(np.float64), z["y"]


def uci(name: str) -> tuple[Any, Any, list[Any]] | None:
    """(X, y, test rows of each split) of a set with fixed splits."""
    path = FOLDER / "uci_pbp" / f"{name}.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=True) as z:
        return (
            z["X"].astype(np.float64),
            z["y"].astype(np.float64).ravel(),
            [np.asarray(rows, np.int64) for rows in z["test_idx"]],
        )
