"""What a picture takes from data: rows of numbers, one value for each of them, and the plane on which they are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer import arrays
from mercer.annotations import Estimator, Samples, Targets
from mercer.arrays import Array
from mercer.data import Vectors, as_frame
from mercer.native.linalg import signed
from mercer.troubles import coded


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane in the space of the data: its two columns, or the first two principal axes through the mean."""

    origin: Array
    axes: Array  # (2, d), orthonormal
    names: tuple[str, str]
    principal: bool

    @classmethod
    def of(cls, table: Samples) -> Plane:
        X = as_numbers(table)
        n, d = X.shape
        if d < 2:
            raise ValueError(coded("The data has one column; a picture of a plane needs at least two.", "M104"))
        if d == 2:
            frame = as_frame(table)
            first, second = map(str, frame.columns) if frame is not None else ("x₁", "x₂")
            return cls(np.zeros(2), np.eye(2), (first, second), principal=False)
        if n < 2:
            raise ValueError(coded("One row has no principal axes; give at least two.", "M310"))
        origin = X.mean(axis=0)
        _, values, axes = np.linalg.svd(X - origin, full_matrices=False)
        shares = values**2 / max(float(np.sum(values**2)), 1e-300)
        first, second = (f"principal axis {i + 1} ({percent(shares[i])} of the variance)" for i in range(2))
        return cls(origin, signed(axes[:2].T).T, (first, second), principal=True)

    def project(self, X: Array) -> Array:
        return (X - self.origin) @ self.axes.T

    def lift(self, points: Array) -> Array:
        return points @ self.axes + self.origin

    @property
    def where(self) -> str:
        """For the title: which plane it is, where that is not plain."""
        return "\non the plane of the first two principal axes through the mean" if self.principal else ""


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid over a plane, around some points of it."""

    x: Array
    y: Array
    rows: Samples  # what lies at its points, in the form of the data

    @classmethod
    def over(cls, plane: Plane, points: Array, X: Samples, resolution: int) -> Grid:
        if resolution < 2:
            raise ValueError(coded(f"resolution={resolution}: a grid has at least 2 points a side.", "M205"))
        x, y = (np.linspace(*_widened(column), resolution) for column in points.T)
        return cls(x, y, like(plane.lift(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)), X))

    def of(self, values: Array) -> Array:
        """Values at its rows, as (y, x) and what they have besides."""
        found = np.asarray(arrays.to_numpy(values), np.float64)
        return found.reshape(len(self.y), len(self.x), *found.shape[1:])


def inner(estimator: Estimator) -> Any:
    """The machine itself: of a search, the best one that it has trained."""
    return getattr(estimator, "best_estimator_", estimator)


def check_regressor(estimator: Estimator) -> None:
    """Raise for an estimator that does not predict numbers."""
    if not hasattr(estimator, "predict") or hasattr(estimator, "classes_"):
        raise ValueError(
            coded(
                f"{called(estimator)} does not predict numbers; classes are shown by MachineDisplay and"
                " ConfusionDisplay.",
                "M311",
            )
        )


def check_between(estimator: Estimator) -> None:
    """Raise for an estimator that cannot answer between the samples."""
    if getattr(estimator, "kernel", None) == "precomputed":
        raise ValueError(
            coded(
                "A precomputed matrix says nothing of points between the samples; fit the estimator with a kernel to"
                " see contours.",
                "M213",
            )
        )


def _widened(column: Array) -> tuple[float, float]:
    low, high = float(column.min()), float(column.max())
    margin = 0.12 * (high - low) or 1.0
    return low - margin, high + margin


def some(n: int, most: int) -> Array:
    """The numbers of n rows, or of so many of them at most, drawn at random and always the same."""
    if most < 1:
        raise ValueError(coded(f"Of {n} rows at most {most} are to be shown: show at least one.", "M205"))
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def shown_of(m: int, n: int, what: str = "points") -> str:
    """For the title: nothing where all are shown."""
    return "" if m == n else f", {m} of {n} {what} shown"


def as_numbers(X: Samples) -> Array:
    """Rows of finite numbers, as a dense array of float64."""
    checked = Vectors().check(X)
    dense = checked.toarray() if hasattr(checked, "toarray") else arrays.to_numpy(checked)
    if not len(dense):
        raise ValueError(coded("There are no rows to show.", "M116"))
    return np.asarray(dense, np.float64)


def one_each(values: Targets, n: int, name: str) -> Array:
    """One value for each of n rows; what NumPy cannot sort goes by its text."""
    array = np.asarray(arrays.to_numpy(values) if arrays.is_tensor(values) else values)
    if array.shape != (n,):
        raise ValueError(coded(f"{name} of shape {array.shape}: one value is needed for each of {n} rows.", "M111"))
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(coded(f"{name}[{int(np.argmin(np.isfinite(array)))}] is not finite.", "M101"))
    return array.astype(str) if array.dtype.kind == "O" else array


def numbers_of(values: Targets, n: int, name: str) -> Array:
    """One finite number for each of n rows."""
    array = one_each(values, n, name)
    if array.dtype.kind not in "biuf":
        raise ValueError(coded(f"{name} has no numbers, but values such as {array[0]!r}.", "M102"))
    if not len(array):
        raise ValueError(coded("There are no rows to show.", "M116"))
    return array.astype(np.float64)


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
