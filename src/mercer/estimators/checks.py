"""Tables and parameters that are checked alike wherever they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer import arrays
from mercer.annotations import Estimator, Samples, Targets
from mercer.compute import Compute, human
from mercer.data import Blocks, Vectors, size
from mercer.data.notices import warn
from mercer.estimators.scikit_checks import validate_data
from mercer.estimators.spread import SpreadSamples
from mercer.gram import Gram
from mercer.kernels.base import Kernel
from mercer.native.linalg import eigenvalues, is_positive
from mercer.troubles import coded

_DRAWN = 20_000  # samples of blocks, from which landmarks are chosen
_SEEN = 128  # items on which a kernel without a proof is looked at: a millisecond


def checked_table(
    estimator: Estimator, X: Samples, y: Targets = "no_validation", *, missing: bool = False, **options: Any
) -> Any:
    """X (and y) by scikit-learn's rules, but for missing and infinite entries: these are named, with the cure.
    ``missing``: NaN is allowed.
    """
    options = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], **options}
    if _plain(estimator, X, y, **options):
        estimator.n_features_in_, found = X.shape[1], X if isinstance(y, str) else (X, y)
    else:
        found = validate_data(estimator, X, y, ensure_all_finite=False, **options)
    accepted, names = found[0] if isinstance(found, tuple) else found, getattr(estimator, "feature_names_in_", None)
    if isinstance(getattr(estimator, "kernel", ""), str):  # no kernel that could say what a missing value means
        Vectors(missing=missing).check_finite(accepted, names, cure="Drop the row or fill it.")
    else:
        Vectors(missing=missing).check_finite(accepted, names)
    return found


def _plain(
    estimator: Estimator, X: Samples, y: Targets, *, dtype: DTypeLike, reset: bool = True, **options: Any
) -> bool:
    """Whether there is nothing to convert and nothing to complain of but what is not finite: small data would wait for
    scikit-learn to find that.
    """
    known = options.keys() <= {"accept_sparse", "y_numeric", "multi_output"} and not hasattr(
        estimator, "feature_names_in_"
    )
    if not (
        known
        and type(X) is np.ndarray
        and X.ndim == 2
        and X.size
        and X.dtype in (dtype if isinstance(dtype, list) else [dtype])
    ):
        return False
    if not reset and X.shape[1] != getattr(estimator, "n_features_in_", None):
        return False
    if isinstance(y, str):
        return y == "no_validation"
    plain = type(y) is np.ndarray and y.ndim == 1 and len(y) == len(X)
    return plain and (y.dtype.kind in "iub" or (y.dtype == np.float64 and bool(np.isfinite(y).all())))


def check_whole(machine: Estimator, *names: str, least: int = 1) -> None:
    """Raise where one of the parameters is not an integer of at least ``least``."""
    for name in names:
        value = getattr(machine, name)
        if isinstance(value, bool) or not (isinstance(value, int | np.integer) and value >= least):
            raise ValueError(
                coded(f"{type(machine).__name__}({name}={value!r}): give a whole number of at least {least}.", "M205")
            )


def check_room(kernel: Kernel, X: Samples, compute: Compute) -> None:
    """Raise where the features of an approximation are more than two fifths of the budget: who learns from them has a
    copy.
    """
    single = compute.dtype == "float32" or str(getattr(X, "dtype", "")).endswith("float32")
    need = min(int(getattr(kernel, "n_components", 0)), size(X)) * size(X) * (4 if single else 8)
    if need > 0.4 * compute.budget:
        raise MemoryError(
            coded(
                f"The features of {kernel} of {size(X)} samples take {human(need)}, and two fifths of the memory budget"
                f" are {human(0.4 * compute.budget)}. Take fewer, float32 data, an estimator with centers, or raise the"
                f" budget: Compute(memory='{human(2.6 * need).replace(' ', '')}').",
                "M401",
            )
        )


def samples_to_draw(X: Blocks | SpreadSamples, centers: int, compute: Compute) -> int:
    """Samples of blocks from which landmarks are chosen: no more than an eighth of the budget holds."""
    head = X.head
    room = compute.budget // 8 * size(head) // max(1, getattr(head, "nbytes", 1))
    return min(len(X), max(_DRAWN, 4 * centers), max(centers, room))


def indefiniteness(gram: Gram) -> str | None:
    """What is seen of negative eigenvalues in a part of the matrix, ``_SEEN`` items evenly chosen: the whole has then
    some too.
    """
    seen = np.unique(np.linspace(0, gram.shape[0] - 1, _SEEN).astype(int))
    K = np.array(arrays.to_numpy(gram.sub(seen, seen).dense()), np.float64)
    shift = 1e-9 * float(np.max(np.diagonal(K)))  # at most that part of the largest eigenvalue
    if is_positive(K + shift * np.eye(len(K))):  # which is found sooner than eigenvalues
        return None
    values = eigenvalues(K)
    rounding = 10 * len(seen) * float(np.finfo(gram.dtype).eps) * float(np.abs(values).max())
    if values[0] >= -max(rounding, 1e-9 * float(np.abs(values).max())):
        return None
    return (
        f"among {len(seen)} of the samples it has {int(np.sum(values < -rounding))} negative eigenvalues, the smallest"
        f" {values[0]:.3g} where the largest is {values[-1]:.3g}"
    )


def warn_if_indefinite(gram: Gram, who: str) -> None:
    found = indefiniteness(gram)
    if found is None:
        return
    warn(
        f"The kernel matrix is indefinite: {found}. {who} is defined for positive semi-definite"
        " kernels; here its optimum need be neither the only one nor the best. Choose another kernel or other"
        " parameters, or repair this one: kernel.repaired('clip').",
        "M209",
    )
