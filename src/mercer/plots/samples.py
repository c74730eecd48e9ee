"""What a picture takes from data: rows of numbers, one value for each of them, and the plane on which they are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer import arrays
from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.data import Vectors, as_frame
from mercer.native.linalg import signed


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane in the space of the data: its two columns, or the first two principal axes through the mean."""

    origin: Array
    axes: Array  # (2, d), orthonormal
    names: tuple[str, str]
    principal: bool

    @classmethod
    def of(cls, table: Any) -> Plane:
        X = as_numbers(table)
        n, d = X.shape
        if d < 2:
            raise ValueError("The data has one column; a picture of a plane needs at least two.")
        if d == 2:
            frame = as_frame(table)
            first, second = map(str, frame.columns) if frame is not None else ("x₁", "x₂")
            return cls(np.zeros(2), np.eye(2), (first, second), principal=False)
        if n < 2:
            raise ValueError("One row has no principal axes; give at least two.")
        origin = X.mean(axis=0)
        _, values, axes = np.linalg.svd(X - origin, full_matrices=False)
        shares = values**2 / max(float(np.sum(values**2)), 1e-300)
        first, second = (f"principal axis {i + 1} ({percent(shares[i])} of the variance)" for i in range(2))
        return cls(origin, signed(axes[:2].T).T, (first, second), principal=True)

    def project(self, X: Array) -> Array:
        return (X - self.origin) @ self.axes.T

    def lift(self, points: Array) -> Array:
        return points @ self.axes + self.origin


def as_numbers(X: Samples) -> Array:
    """Rows of finite numbers, as a dense array of float64."""
    checked = Vectors().check(X)
    dense = checked.toarray() if hasattr(checked, "toarray") else arrays.to_numpy(checked)
    if not len(dense):
        raise ValueError("There are no rows to show.")
    return np.asarray(dense, np.float64)


def one_each(values: Any, n: int, name: str) -> Array:
    """One value for each of n rows; what NumPy cannot sort goes by its text."""
    array = np.asarray(arrays.to_numpy(values) if arrays.is_tensor(values) else values)
    if array.shape != (n,):
        raise ValueError(f"{name} of shape {array.shape}: one value is needed for each of {n} rows.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name}[{int(np.argmin(np.isfinite(array)))}] is not finite.")
    return array.astype(str) if array.dtype.kind == "O" else array


def like(points: Array, X: Samples) -> Any:
    """Points as a data frame of the kind and the columns of X, if X is one."""
    frame = as_frame(X)
    if frame is None:
        return points
    return nw.from_dict(dict(zip(frame.columns, points.T, strict=True)), backend=frame.implementation).to_native()


def called(estimator: Estimator) -> str:
    return type(estimator).__name__


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"
