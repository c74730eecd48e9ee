"""Sets of vectors, of any size: point clouds, samples of distributions, bags of patches, persistence diagrams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data.notices import lost
from mercer.data.objects import Domain
from mercer.data.representations import Ragged, Rep, offsets_of
from mercer.data.sequences import is_missing, items_of
from mercer.data.tables import DataError, as_frame, frame_to_numpy, shown


@dataclass(frozen=True)
class PointSets(Domain):
    """Sets of points of d numbers each: lists, arrays, tensors or data frames of points × d, one for each set; a flat
    list is a set of numbers. An array of three axes is sets × points × d.

    The order of points is not looked at; a point that is there twice counts twice. A set may be empty, and is told of.
    The internal form is a ``Ragged`` with columns, float32 where all sets are, else float64.
    """

    noun: ClassVar[str] = "set"
    told: ClassVar[bool] = True  # whether an empty one is worth a word

    def check(self, X: Samples) -> Rep:
        if isinstance(X, Ragged):
            return X
        found = self._points(X)
        without = np.flatnonzero(found.lengths == 0)
        if len(without) and self.told:
            lost(
                "empty sets",
                f"{len(without)} of {len(found)} {self.noun}s are empty, the first is {self.noun} {without[0]}: their"
                " values with all sets are 0, with each other too. Drop them if that is not meant.",
            )
        return found

    def to_store(self, X: Samples) -> Any:
        return X if isinstance(X, Ragged) else [self._one(i, item) for i, item in enumerate(self._listed(X))]

    def pair(self, x: object, z: object) -> tuple[Any, Any] | None:
        return ([x], [z]) if all(_is_table(side) for side in (x, z)) else None

    def _points(self, X: Samples) -> Ragged:
        """All points, set by set, of the same number of columns."""
        found = [self._one(i, item) for i, item in enumerate(self._listed(X))]
        widths = np.array([points.shape[1] if len(points) else 0 for points in found], np.int64)
        filled = np.flatnonzero(widths)
        width = int(widths[filled[0]]) if len(filled) else 1
        other = filled[widths[filled] != width]
        if len(other):
            raise DataError(
                f"The points of {self.noun} {other[0]} have {widths[other[0]]} numbers, those of {self.noun}"
                f" {filled[0]} have {width}; all points must have the same.",
                "M118",
            )
        single = len(filled) and all(found[i].dtype == np.float32 for i in filled)
        values = np.concatenate([np.empty((0, width)), *(found[i] for i in filled)])
        return Ragged(values.astype(np.float32) if single else values, offsets_of([len(points) for points in found]))

    def _listed(self, X: Samples) -> list[Any]:
        if _is_table(X):
            raise DataError(
                f"Expected a collection of {self.noun}s, got one table of shape {tuple(X.shape)}; put it in a list,"
                f" [X], or give a list of arrays, one for each {self.noun}.",
                "M103",
            )
        return items_of(X, f"{self.noun}s")

    def _one(self, i: int, item: object) -> Array:
        """The points of set i, one in each row."""
        if is_missing(item):
            raise DataError(
                f"{self.noun.capitalize()} {i} is missing ({item}); drop it, or give an empty one, [].", "M101"
            )
        frame = as_frame(item) if hasattr(item, "columns") else None
        item = arrays.to_numpy(item) if arrays.is_tensor(item) else item if frame is None else frame_to_numpy(frame)
        try:
            points = np.asarray(item)
            if points.dtype.kind == "c":
                raise DataError(
                    f"{self.noun.capitalize()} {i} has complex numbers; give their parts as columns of real numbers,"
                    " np.column_stack([z.real, z.imag]).",
                    "M102",
                )
            points = points if points.dtype == np.float32 else points.astype(np.float64)
        except DataError:
            raise
        except (TypeError, ValueError):
            raise DataError(
                f"{self.noun.capitalize()} {i} is {shown(item)}; give an array of points × numbers, the same number of"
                " numbers for each point.",
                "M107",
            ) from None
        if not points.size:
            return np.empty((0, 1))
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2:
            raise DataError(
                f"{self.noun.capitalize()} {i} has shape {points.shape}; give an array of two axes, points × numbers.",
                "M107",
            )
        self._check_values(i, points)
        return points

    def _check_values(self, i: int, points: Array) -> None:
        if not np.isfinite(points).all():
            j, column = np.argwhere(~np.isfinite(points))[0]
            raise DataError(
                f"{self.noun.capitalize()} {i}, point {j}, column {column} is {points[j, column]}; drop the point, or"
                " fill in a number.",
                "M101",
            )


def check_same_points(first: int, second: int) -> None:
    """Raise where the points of X have not as many numbers as those of Y."""
    if first != second:
        raise DataError(
            f"Each set of X has points of {first} numbers, each set of Y (what the kernel was fitted to) points of"
            f" {second}; all points must have the same numbers, in the same order.",
            "M104",
        )


def _is_table(X: Samples) -> bool:
    """Whether it is one set and not a collection of them: an array of two axes, of numbers."""
    if sparse.issparse(X):
        return True
    return getattr(X, "ndim", None) == 2 and hasattr(X, "dtype") and arrays.numpy_dtype(X).kind in "fiub"


@dataclass(frozen=True)
class Diagrams(PointSets):
    """Persistence diagrams: arrays of (birth, death), one pair in each row, death ≥ birth.

    A pair on the diagonal, birth = death, says nothing and is left out. So is one that never dies, death = ∞, which is
    told of: how late it should die is for the user to say. A diagram may be empty. The internal form is a ``Ragged``
    with two columns.
    """

    noun: ClassVar[str] = "diagram"
    told: ClassVar[bool] = False  # nothing has been born that lives: as good a diagram as any

    def _points(self, X: Samples) -> Ragged:
        found = super()._points(X)
        values = found.values if len(found.values) else np.empty((0, 2))
        endless = np.isinf(values[:, 1])
        if endless.any():
            first = int(np.searchsorted(found.offsets, int(np.argmax(endless)), side="right")) - 1
            lost(
                "endless pairs",
                f"{int(endless.sum())} pairs of the diagrams never die (the first in diagram {first}) and are left"
                " out: write the largest value of the filtration in place of infinity if they are to count.",
            )
        kept = ~endless & (values[:, 1] > values[:, 0])
        before = np.concatenate([[0], np.cumsum(kept)])
        return Ragged(values[kept], before[found.offsets])

    def _check_values(self, i: int, points: Array) -> None:
        if not len(points):
            return
        if points.shape[1] != 2:
            raise DataError(f"Diagram {i} has {points.shape[1]} columns; give pairs (birth, death).", "M117")
        wrong = ~np.isfinite(points[:, 0]) | np.isnan(points[:, 1]) | (points[:, 1] < points[:, 0])
        if wrong.any():
            j = int(np.argmax(wrong))
            raise DataError(
                f"Diagram {i}, pair {j} is born at {points[j, 0]:g} and dies at {points[j, 1]:g}; births are finite,"
                " and deaths not before them. Of a filtration that descends, give (−birth, −death).",
                "M117",
            )
