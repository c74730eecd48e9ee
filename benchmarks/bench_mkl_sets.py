"""Promise: on ten data sets learnt weights of kernels are never more than one point below the best single kernel.

Accuracy (classes, ``MKLClassifier``) or R² (numbers, ``MKLRidge``) in points, the mean of five folds. Kernels of each
set, over standardised columns: Gaussians of four widths, linear, polynomials of degree 2 and 3, and a Gaussian on each
of up to four groups of columns. All that is chosen is chosen inside the training part, by three folds: C or λ for
everyone; for the single kernel which one, for learnt weights p of 1 and 2. A single kernel is the same machine with one
kernel, in the same units.
"""

from __future__ import annotations

import csv
import gzip
import time
import warnings
from typing import Any

import numpy as np
from measure import QUICK, judged, promise, skipped
from sklearn.model_selection import KFold, StratifiedKFold
from tables import FOLDER, table, uci

import mercer as mc

CLASSES = ("australian", "german_numer", "heart_scale", "ionosphere", "pima_diabetes", "sonar", "vehicle")
NUMBERS = ("concrete", "energy", "yacht")
C = {"C": [0.3, 3.0, 30.0]}
RIDGE = {"alpha": [1e-3, 1e-2, 1e-1]}


def small(name: str) -> tuple[Any, Any] | None:
    """A set of classes from a table of texts: the last column is the class, constant columns say nothing."""
    path = FOLDER / "mlbench_small" / f"{name}.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt") as file:
        _, *rows = csv.reader(file)
    cells = np.array(rows)
    columns = [_numbers(cells[:, j]) for j in range(cells.shape[1] - 1)]
    return np.column_stack(columns), np.unique(cells[:, -1], return_inverse=True)[1]


def _numbers(column: Any) -> Any:
    try:
        return column.astype(np.float64)
    except ValueError:
        return np.unique(column, return_inverse=True)[1].astype(np.float64)


def samples(name: str) -> tuple[Any, Any] | None:
    found: Any = uci(name) if name in NUMBERS else table(name) or small(name)
    if found is None:
        return None
    X, y = np.asarray(found[0], np.float64), np.asarray(found[1])
    X = X[:, X.std(0) > 0]
    return (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std() if name in NUMBERS else y


def kernels(d: int) -> list[Any]:
    groups = [g.tolist() for g in np.array_split(np.arange(d), min(4, d))]
    return [
        *(mc.Gaussian(w / d) for w in (0.1, 0.3, 1.0, 3.0)),
        mc.Linear(),
        mc.Polynomial(2),
        mc.Polynomial(3),
        *(mc.Gaussian(1.0 / len(g)).on(g) for g in groups),
    ]


def chosen(machine: Any, grid: Any, X: Any, y: Any, **options: Any) -> Any:
    """The machine with C or λ by three folds, and how good it was in them."""
    return mc.KernelSearchCV(machine(**options), grid, cv=3).fit(X, y)


def fold(machine: Any, grid: Any, some: list[Any], X: Any, y: Any, test: tuple[Any, Any]) -> dict[str, float]:
    single = [chosen(machine, grid, X, y, kernel=[k], weighting="average") for k in some]
    learnt = {p: chosen(machine, grid, X, y, kernel=some, p=p, tol=1e-3) for p in (1.0, 2.0)}
    best = max(single, key=lambda s: s.best_score_)
    found = {
        "single": best,
        "average": chosen(machine, grid, X, y, kernel=some, weighting="average"),
        "p = 1": learnt[1.0],
        "p = 2": learnt[2.0],
        "learnt": max(learnt.values(), key=lambda s: s.best_score_),
    }
    return {name: 100 * float(search.score(*test)) for name, search in found.items()}


def compare(name: str) -> dict[str, float] | None:
    data = samples(name)
    if data is None:
        skipped(name, "is not there")
        return None
    (X, y), numbers = data, name in NUMBERS
    machine, grid = (mc.MKLRidge, RIDGE) if numbers else (mc.MKLClassifier, C)
    folds = (KFold if numbers else StratifiedKFold)(5, shuffle=True, random_state=0)
    start, found = time.perf_counter(), []
    some = kernels(X.shape[1])
    for train, test in list(folds.split(X, y))[: 1 if QUICK else 5]:
        found.append(fold(machine, grid, some, X[train], y[train], (X[test], y[test])))
    scores = {title: float(np.mean([f[title] for f in found])) for title in found[0]}
    shown = "   ".join(f"{title} {score:6.2f}" for title, score in scores.items())
    what = f"{name:<14} {len(X):5d} × {X.shape[1]:<3d} {len(some):2d} kernels"
    print(f"  {what}   {shown}   {time.perf_counter() - start:5.1f} s", flush=True)
    return scores


def main() -> None:
    warnings.simplefilter("ignore")
    names = ("heart_scale", "sonar", "yacht") if QUICK else CLASSES + NUMBERS
    found = {name: scores for name in names if (scores := compare(name)) is not None}
    if found:
        worst = min(found, key=lambda name: found[name]["learnt"] - found[name]["single"])
        apart = found[worst]["learnt"] - found[worst]["single"]
        promise(f"learnt weights over the best single kernel on {len(found)} sets, worst ({worst})", apart,
                at_least=-1.0, unit="points")  # fmt: skip


if __name__ == "__main__":
    judged(main)
