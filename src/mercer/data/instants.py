"""Dates, time stamps and durations as numbers: seconds, of dates and stamps since 1970-01-01 00:00 (UTC where there is
a zone), whatever library and unit they come in.
"""

from __future__ import annotations

import datetime
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import Array
from mercer.data.sequences import is_missing
from mercer.data.tables import as_frame, column_to_numpy

_BEGIN = np.datetime64("1970-01-01T00:00:00", "s")
_SECOND = np.timedelta64(1, "s")


def numbers_of(item: object) -> Array:
    """An array, a list, a column or a data frame as float64, with instants as seconds; what is missing is NaN."""
    frame = as_frame(item) if hasattr(item, "columns") else None
    if frame is not None:
        columns = [_column(frame.get_column(name), i) for i, name in enumerate(frame.columns)]
        return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))
    series = nw.from_native(item, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and _is_instant(series.dtype):
        return _column(series, 0)
    values = np.asarray(item)
    if values.dtype.kind in "mM":
        return _seconds(values)
    if values.dtype == object and values.ndim in (1, 2) and any(map(_is_moment, values.flat)):
        return np.array([_moment(value) for value in values.flat], np.float64).reshape(values.shape)
    return values.astype(np.float64)


def _column(column: nw.Series[Any], position: int) -> Array:
    if _is_instant(column.dtype):
        values = _without_zone(column).to_numpy()
        return _seconds(values) if values.dtype.kind in "mM" else numbers_of(np.array(column.to_list(), object))
    if column.dtype == nw.Object and any(map(_is_moment, column.to_list())):  # dates of pandas
        return numbers_of(np.array(column.to_list(), object))
    return np.asarray(column_to_numpy(column, position), np.float64)


def _is_instant(kind: nw.dtypes.DType) -> bool:
    return bool(kind in (nw.Date, nw.Duration) or kind == nw.Datetime)


def _without_zone(column: nw.Series[Any]) -> nw.Series[Any]:
    zoned = column.dtype == nw.Datetime and getattr(column.dtype, "time_zone", None) is not None
    return column.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if zoned else column


def _seconds(values: Array) -> Array:
    """Of datetime64 and timedelta64 of any unit; NaT is NaN."""
    return np.asarray((values - _BEGIN if values.dtype.kind == "M" else values) / _SECOND, np.float64)


def _is_moment(value: object) -> bool:
    return isinstance(value, datetime.date | datetime.timedelta | np.datetime64 | np.timedelta64)


def _moment(value: Any) -> float:
    """One value among others: an instant in seconds, a number as it is."""
    if is_missing(value):
        return float("nan")
    if not _is_moment(value):
        return float(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    wide = value if isinstance(value, np.generic) else np.array(value, f"{'m' if _is_span(value) else 'M'}8[us]")
    return float(_seconds(np.asarray(wide)))


def _is_span(value: object) -> bool:
    return isinstance(value, datetime.timedelta)
