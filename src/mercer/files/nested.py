"""Columns of polars whose items are lists or arrays of numbers or texts, nested or not, in plain form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mercer.arrays import Array
from mercer.files.plain_form import Plain

_NUMBERS = {str(t): t for t in (
    pl.Float32, pl.Float64, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
    pl.Boolean,
)}  # fmt: skip


def is_nested(kind: object) -> bool:
    """Whether a type is that of lists or arrays, in the end of numbers."""
    if not isinstance(kind, pl.List | pl.Array):
        return False
    return is_nested(kind.inner) or str(kind.inner) in _NUMBERS


@dataclass(frozen=True)
class Nested(Plain):
    """The numbers of all items one after the other; for each level, from the outermost, how many parts each item has
    (−1: it is missing) and the width of an array, 0 of lists; ``gone``: which numbers are missing.
    """

    kind: str
    lengths: list[Any]
    widths: list[int]
    values: Array
    gone: Array | None

    @classmethod
    def of(cls, column: pl.Series) -> Nested:
        lengths, widths = [], []
        while isinstance(column.dtype, pl.List | pl.Array):
            inner = column.dtype.inner
            widths.append(column.dtype.shape[0] if isinstance(column.dtype, pl.Array) else 0)
            if isinstance(column.dtype, pl.Array):
                column = column.cast(pl.List(inner))
            counts = column.list.len().cast(pl.Int64).fill_null(-1)
            lengths.append(counts.to_numpy())
            column = column.filter(counts > 0).explode()
        gone = column.is_null()
        values = column.fill_null(False if column.dtype == pl.Boolean else 0).to_numpy()
        return cls(
            str(column.dtype), lengths, widths, np.ascontiguousarray(values), gone.to_numpy() if gone.any() else None
        )

    def restored(self) -> Any:
        column = pl.Series(self.values, dtype=_NUMBERS[self.kind])
        if self.gone is not None:
            column = pl.select(pl.when(pl.Series(~self.gone)).then(column)).to_series()
        for counts, width in zip(reversed(self.lengths), reversed(self.widths), strict=True):
            ends = np.cumsum(np.maximum(counts, 0)).tolist()
            if (ends or [0])[-1] != len(column):
                raise ValueError("the lengths of lists do not add up to their numbers")
            parts = [
                None if count < 0 else column.slice(start, count)
                for start, count in zip([0, *ends], counts.tolist(), strict=False)
            ]
            column = pl.Series(parts, dtype=pl.List(inner := column.dtype))
            column = column.cast(pl.Array(inner, width)) if width else column
        return column
