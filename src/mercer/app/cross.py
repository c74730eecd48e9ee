"""``mercer cv``: how good a machine with a kernel of one's own is on samples that it was not trained on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from mercer.annotations import Estimator
from mercer.app.samples import Rows
from mercer.arrays import Array
from mercer.data import DataError, take
from mercer.estimators.logistic import KernelLogistic
from mercer.estimators.nu_svm import NuSVC
from mercer.estimators.representer import KernelHuber, KernelPoisson
from mercer.estimators.ridge import KernelRidge
from mercer.estimators.svm import SVC
from mercer.estimators.svr import SVR, NuSVR
from mercer.kernels.base import Kernel
from mercer.troubles import coded

MACHINES: dict[str, type[Any]] = {
    "svc": SVC, "nusvc": NuSVC, "logistic": KernelLogistic, "svr": SVR, "nusvr": NuSVR, "ridge": KernelRidge,
    "huber": KernelHuber, "poisson": KernelPoisson,
}  # fmt: skip
_CLASSIFIERS = ("svc", "nusvc", "logistic")
_MOST_CLASSES = 20  # whole numbers of fewer values than that are taken for labels


def machine_of(name: str, kernel: Kernel, parameters: dict[str, float | None]) -> Any:
    """The machine of that name with those of the parameters that are given; ValueError where it has them not."""
    if name not in MACHINES:
        raise ValueError(coded(f"--machine {name}: choose one of {', '.join(MACHINES)}.", "M205"))
    cls = MACHINES[name]
    given = {key: value for key, value in parameters.items() if value is not None}
    known = cls(kernel=kernel).get_params(deep=False)
    for key in given:
        if key not in known:
            has = ", ".join(f"--{own}" for own in parameters if own in known)
            raise ValueError(coded(f"--{key}: {name} has no {key}; it has {has}.", "M204"))
    return cls(kernel=kernel, **given)


def suited(y: Array) -> str:
    """The machine for a target: classes, or a number."""
    few = y.dtype.kind in "iu" and len(np.unique(y)) < _MOST_CLASSES
    return "svc" if y.dtype.kind not in "iuf" or few else "ridge"


def cross_validate(rows: Rows, name: str, machine: Estimator, folds: int, seed: int) -> dict[str, Any]:
    """The scores on each fold by a machine trained on the others, their mean and its standard error."""
    n, classes = len(rows), name in _CLASSIFIERS
    if rows.y is None or not 2 <= folds <= n:
        raise DataError(f"{folds} folds of {n} samples: there are from 2 folds to as many as samples.", "M205")
    y = np.asarray(rows.y, object).astype(str) if rows.y.dtype.kind == "O" else rows.y
    if classes:
        y, counts = (y.astype(np.int64) if y.dtype.kind == "b" else y), np.unique(y, return_counts=True)[1]
        if counts.min() < folds:
            raise DataError(f"{folds} folds: a class has {counts.min()} samples; take at most that many folds.", "M310")
    elif y.dtype.kind not in "iuf":
        raise DataError(f"The target is not a number, as {name} needs it; --machine svc is for classes.", "M112")
    rule = (StratifiedKFold if classes else KFold)(folds, shuffle=True, random_state=seed)
    scores: dict[str, list[float]] = {}
    said: list[str] = []
    for inside, outside in rule.split(np.zeros(n), y):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            machine.fit(take(rows.X, inside), y[inside])
            found = machine.predict(take(rows.X, outside))
        said += [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
        for key, value in _scores(y[outside], found, classes).items():
            scores.setdefault(key, []).append(value)
    return {
        "machine": name,
        "kernel": repr(machine.kernel),
        "samples": n,
        "folds": folds,
        "scores": {
            key: {"mean": float(np.mean(v)), "standard_error": float(np.std(v, ddof=1) / np.sqrt(len(v))), "folds": v}
            for key, v in scores.items()
        },
        "converged": not said,
        "warnings": list(dict.fromkeys(said)),
        "model": None,
    }


def _scores(y: Array, found: Array, classes: bool) -> dict[str, float]:
    if classes:
        shares = [float(np.mean(found[y == label] == label)) for label in np.unique(y)]
        return {"accuracy": float(np.mean(found == y)), "balanced_accuracy": float(np.mean(shares))}
    error = float(np.mean((found - y) ** 2))
    spread = float(np.var(y))
    return {
        "rmse": error**0.5,
        "mae": float(np.mean(np.abs(found - y))),
        "r2": 1.0 - error / spread if spread else 0.0,  # as scikit-learn has it
    }


def in_words(result: dict[str, Any]) -> str:
    """The result for a person."""
    lines = [
        f"{result['machine']}, {result['kernel']}: {result['samples']} samples, {result['folds']} folds",
        *(
            f"{key.replace('_', ' '):<18} {s['mean']:.4f} ± {s['standard_error']:.4f}"
            for key, s in result["scores"].items()
        ),
        "No model is written: mercer train and mercer fit write one.",
    ]
    return "\n".join(lines)
