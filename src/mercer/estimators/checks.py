"""Tables and parameters that are checked alike wherever they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from mercer.data import Vectors


def checked_table(estimator: Any, X: Any, y: Any = "no_validation", *, missing: bool = False, **options: Any) -> Any:
    """X (and y) by scikit-learn's rules, but for missing and infinite entries: these are named, with the cure. ``missing``: NaN is allowed."""
    options = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], **options}
    found = validate_data(estimator, X, y, ensure_all_finite=False, **options)
    accepted, names = found[0] if isinstance(found, tuple) else found, getattr(estimator, "feature_names_in_", None)
    if isinstance(getattr(estimator, "kernel", ""), str):  # no kernel that could say what a missing value means
        Vectors(missing=missing).check_finite(accepted, names, cure="Drop the row or fill it.")
    else:
        Vectors(missing=missing).check_finite(accepted, names)
    return found


def check_whole(machine: Any, *names: str, least: int = 1) -> None:
    """Raise where one of the parameters is not a whole number of at least ``least``."""
    for name in names:
        value = getattr(machine, name)
        if isinstance(value, bool) or not (isinstance(value, int | np.integer) and value >= least):
            raise ValueError(f"{type(machine).__name__}({name}={value!r}): give a whole number of at least {least}.")
