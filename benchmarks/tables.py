"""Published regression and classification sets, where they are at hand."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from svm_data import published

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


REGRESSION = (
    "concrete", "wine_quality_red", "abalone", "kin8nm", "power_plant", "naval_propulsion_plant", "california_housing",
    "protein_tertiary_structure",
)  # fmt: skip
BINARY = ("german_numer", "spam", "svmguide1", "HIGGS_sub", "a9a", "ijcnn1", "celeba")


def split(name: str, most: int = 8000, test: int = 10_000) -> tuple[Any, Any, Any, Any] | None:
    """(X, y, X_test, y_test) of a set of numbers or of two classes, as ±1: a random part of at most so many rows."""
    found = _binary(name) if name in BINARY else uci(name) or table(name)
    if found is None:
        return None
    X, y = found[0], np.asarray(found[1], np.float64)
    if name in BINARY:
        y = np.where(y == y.max(), 1.0, -1.0)
    order = np.random.default_rng(0).permutation(len(X))
    n = min(most, int(0.8 * len(X)))
    rows, held = order[:n], order[n : n + test]
    return X[rows], y[rows], X[held], y[held]


def _binary(name: str) -> tuple[Any, Any] | None:
    if name in ("a9a", "ijcnn1", "svmguide1"):
        found = published(name)
        if found is None:
            return None
        parts = [A.toarray() if sparse.issparse(A) else A for A in (found[0], found[2])]
        return np.vstack(parts), np.concatenate([found[1], found[3]])
    if name == "spam":
        path = FOLDER / "kernlab_data" / "spam.csv.gz"
        if not path.exists():
            return None
        with gzip.open(path, "rt") as file:
            header, *rows = csv.reader(file)
        numbers = [j for j, column in enumerate(header) if column != "type" and _is_number(rows[0][j])]
        first = numbers[1:] if header[numbers[0]] in ("", "rownames") else numbers
        kind = header.index("type")
        return np.array([[float(row[j]) for j in first] for row in rows]), np.array(
            [row[kind] == "spam" for row in rows]
        )
    places = {
        "HIGGS_sub": ("HIGGS_sub/higgs_sub.npz", "X_sas", "y_sas"),
        "celeba": ("big_tabular/celeba.npz", "X", "y"),
    }
    if name in places:
        path = FOLDER / places[name][0]
        if not path.exists():
            return None
        with np.load(path) as z:
            return z[places[name][1]].astype(np.float64), z[places[name][2]]
    return table(name)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
