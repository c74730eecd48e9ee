"""Data and models of libsvm for tests: the tools where they are installed, and a model that svm-train 3.24 wrote."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

needs_tools = pytest.mark.skipif(shutil.which("svm-train") is None, reason="libsvm's tools are not installed")


def tool(name: str, *arguments: Any) -> str:
    """What svm-train or svm-predict prints."""
    return subprocess.run(
        [f"svm-{name}", *map(str, arguments)], capture_output=True, text=True, check=True, timeout=120
    ).stdout


def blobs(classes: int, n: int = 90, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping clouds; labels that are not in order when they come."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, n)
    X = rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((classes, d))[codes]
    X[rng.random(X.shape) < 0.1] = 0.0
    return X, np.array([7, -2, 4, 1])[codes]


def svmlight(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    rows = (" ".join(f"{j + 1}:{v:.17g}" for j, v in enumerate(row) if v) for row in X)
    path.write_text("".join(f"{t:.17g} {row}\n" for t, row in zip(y, rows, strict=True)))
    return path
