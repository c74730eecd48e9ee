"""A table by its columns, array or data frame: what they are called, what they hold, and rows with other values in one
of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data import as_frame
from mercer.troubles import coded


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of a table: a data frame of any library, or an array."""

    frame: nw.DataFrame[Any] | None
    array: Any  # where there is no data frame

    @classmethod
    def of(cls, X: Samples) -> Columns:
        frame = as_frame(X)
        if frame is not None:
            found = cls(frame, None)
        else:
            array = (
                X.toarray() if hasattr(X, "toarray") else np.asarray(arrays.to_numpy(X) if arrays.is_tensor(X) else X)
            )
            if array.ndim != 2:
                raise ValueError(coded(f"Expected a table, samples × columns, got shape {array.shape}.", "M103"))
            found = cls(None, array)
        if not len(found) or not found.names:
            raise ValueError(
                coded(f"There is nothing to show in {len(found)} rows of {len(found.names)} columns.", "M116")
            )
        return found

    def __len__(self) -> int:
        return len(self.array if self.frame is None else self.frame)

    @property
    def names(self) -> list[str]:
        if self.frame is None:
            return [f"column {j}" for j in range(self.array.shape[1])]
        return [str(name) for name in self.frame.columns]

    def place(self, column: Any) -> int:
        """The number of a column that is given by its number or its name."""
        count = len(self.names)
        if isinstance(column, int | np.integer) and not isinstance(column, bool):
            if not -count <= column < count:
                raise ValueError(coded(f"column={column}: there are {count} columns, counted from 0.", "M105"))
            return int(column) % count
        if column not in self.names:
            known = ", ".join(self.names[:10]) + (", …" if count > 10 else "")
            raise ValueError(coded(f"column={column!r}: there is no such column; there are {known}.", "M105"))
        return self.names.index(column)

    def values(self, j: int) -> Array:
        """What column j holds; what is neither a number nor missing stays as it is."""
        found = np.asarray(self.array[:, j] if self.frame is None else self._series(j).to_numpy())
        return found.astype(np.float64) if found.dtype.kind in "iuf" else found

    def is_number(self, j: int) -> bool:
        """Whether column j holds numbers, rather than categories, texts or dates."""
        if self.frame is None:
            return bool(self.array.dtype.kind in "iuf")
        return bool(self._series(j).dtype.is_numeric())

    def categories(self, j: int) -> list[Any]:
        """The values of column j, the most frequent first, those that are equally frequent in their order; no gaps."""
        found = self.array[:, j].tolist() if self.frame is None else self._series(j).to_list()
        counts = Counter(v for v in found if v is not None and v == v)
        return sorted(counts, key=lambda value: (-counts[value], str(value)))

    def _series(self, j: int) -> Any:
        assert self.frame is not None
        return self.frame[self.frame.columns[j]]

    # -- other rows --------------------------------------------------------------------------------------------------

    def take(self, rows: Array) -> Columns:
        """Some of the rows."""
        if self.frame is None:
            return Columns(None, self.array[rows])
        return Columns(self.frame[rows.tolist()], None)

    def repeated(self, times: int) -> Columns:
        """All rows, and again all rows, so often."""
        return self.take(np.tile(np.arange(len(self)), times))

    def put(self, j: int, values: Any) -> Columns:
        """The same rows with these values in column j, one for each, or one for all; its type stays, but for whole
        numbers, which become floats.
        """
        given = list(np.broadcast_to(np.asarray(values), (len(self),))) if np.ndim(values) == 0 else list(values)
        if self.frame is None:
            whole = self.array.dtype.kind in "iub"
            array = self.array.astype(np.float64 if whole else self.array.dtype)
            array[:, j] = given
            return Columns(None, array)
        series = self._series(j)
        dtype = nw.Float64() if series.dtype.is_integer() and not _whole(given) else series.dtype
        plain = [v.item() if isinstance(v, np.generic) else v for v in given]
        made = nw.new_series(series.name, plain, backend=self.frame.implementation).cast(dtype)
        if hasattr(native := made.to_native(), "set_axis"):  # pandas puts values where the labels of the rows agree
            made = nw.from_native(native.set_axis(self.frame.to_native().index), series_only=True)
        return Columns(self.frame.with_columns(made.alias(series.name)), None)

    def typical(self) -> Columns:
        """One row: the median of each column of numbers, the most frequent value of the others."""
        row = self.take(np.array([0]))
        for j in range(len(self.names)):
            if self.is_number(j):
                row = row.put(j, float(np.nanmedian(self.values(j))))
            elif found := self.categories(j):
                row = row.put(j, [found[0]])
        return row

    def native(self) -> Any:
        """For an estimator: of the kind that was given."""
        return self.array if self.frame is None else self.frame.to_native()


def _whole(values: list[Any]) -> bool:
    return all(float(v).is_integer() for v in values)
