"""One form for training and prediction: numbers and dates (as days since 1970) as Float64, categories as text, texts
as they are written, missing values as null.

Each conversion takes a column of a table, whatever it was read as, and how its cells are written where they are texts
(None: as a program writes them, 1234.5 and 2024-02-29). A text that is not of that form is an error, or a gap where the
training table had such cells too.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection

import polars as pl

from mercer.data import DataError
from mercer.data.cell_dates import Dates
from mercer.data.cell_numbers import Numbers
from mercer.data.cells import Booleans, Form
from mercer.data.molecules import unreadable
from mercer.data.tables import shown

TEXTS = (pl.String, pl.Categorical, pl.Enum)
_DAY = 86_400_000_000  # microseconds


def to_numbers(column: pl.Series, form: Form | None = None) -> pl.Series:
    """Float64, from numbers, booleans and texts."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64).fill_nan(None)
    if column.dtype not in TEXTS:
        raise unexpected(column, 0, "a number")
    texts = column.cast(pl.String).str.strip_chars()
    read = form.parse(texts) if isinstance(form, Numbers) else texts.cast(pl.Float64, strict=False)
    return _checked(column, texts, read, "a number", form).fill_nan(None)


def to_days(column: pl.Series, form: Form | None = None) -> pl.Series:
    """Days since 1970 with the fraction of the day, from dates, times, durations and texts."""
    dtype, wanted = column.dtype, "a date such as 2024-02-29"
    form = form if isinstance(form, Dates) else Dates()
    if form.order == "compact" and dtype.is_numeric():
        column = column.cast(pl.Int64, strict=False)
        return _checked(column, column.cast(pl.String), form.parse(column), "a date such as 20240229", form)
    if dtype in TEXTS:
        texts = column.cast(pl.String).str.strip_chars()
        return _checked(column, texts, form.parse(texts), wanted, form)
    if not dtype.is_temporal():
        present = column.is_not_null().arg_true()
        if len(present):
            raise unexpected(column, int(present[0]), wanted)
        return column.cast(pl.Float64)
    if dtype == pl.Date:
        return column.cast(pl.Int32).cast(pl.Float64)
    if dtype == pl.Time:
        return column.cast(pl.Int64).cast(pl.Float64) / (1000 * _DAY)
    if isinstance(dtype, pl.Datetime):
        return column.dt.cast_time_unit("us").cast(pl.Int64).cast(pl.Float64) / _DAY
    return column.dt.total_microseconds().cast(pl.Float64) / _DAY


def to_texts(column: pl.Series, form: Form | None = None) -> pl.Series:
    """A category as its name: a number as it is written shortest, TRUE as "true"."""
    column = without_nan(column)
    if isinstance(form, Booleans) and column.dtype in (pl.Boolean, *TEXTS):
        return form.parse(column)
    if column.dtype.is_numeric() and are_whole(column.drop_nulls()):
        return column.cast(pl.Int64).cast(pl.String)
    texts = column.cast(pl.String)
    numbers = texts.cast(pl.Float64, strict=False)
    lower = texts.str.to_lowercase()
    whole = numbers.is_finite() & (numbers == numbers.floor()) & (numbers.abs() < 2**53)
    as_whole = pl.when(whole).then(numbers).otherwise(0.0).cast(pl.Int64).cast(pl.String)
    short = pl.when(whole).then(as_whole).when(numbers.is_not_null()).then(numbers.cast(pl.String))
    name = short.when(lower.is_in(["true", "false"])).then(lower).otherwise(texts)
    return pl.select(name).to_series().alias(column.name)


def as_written(column: pl.Series, form: Form | None = None) -> pl.Series:
    """Texts and sequences; a missing one is empty."""
    return column.cast(pl.String).fill_null("")


def to_molecules(column: pl.Series, form: Form | None = None) -> pl.Series:
    """SMILES, all of which can be read."""
    texts = as_written(column)
    wrong = unreadable(texts.to_list())
    if wrong is not None:
        raise unexpected(column, wrong, "a molecule as SMILES")
    return texts


CONVERSIONS: dict[str, Callable[[pl.Series, Form | None], pl.Series]] = {
    "numeric": to_numbers, "nominal": to_texts, "date": to_days, "text": as_written, "sequence": as_written,
    "molecule": to_molecules,
}  # fmt: skip


def are_whole(values: pl.Series) -> bool:
    """Whether all of some numbers are whole, and small enough to say so."""
    if values.dtype.is_integer():
        return True
    real = values.cast(pl.Float64)
    return bool((real.is_finite() & (real == real.floor()) & (real.abs() < 2**53)).all())


def without_nan(column: pl.Series) -> pl.Series:
    """A column whose only gaps are nulls."""
    return column.fill_nan(None) if column.dtype.is_float() else column


def unexpected(column: pl.Series, row: int, expected: str) -> DataError:
    """The error for a cell that is not what its column was at training."""
    return DataError(
        f"Row {row}, column {column.name!r} is {shown(column[row])}, not {expected}, which the model was trained on in"
        " this column. Correct the value, or leave it empty if it is missing.",
        "M604",
    )


def nearest(name: str, present: Collection[str]) -> str:
    """The question whether another name was meant, where one is near."""
    near = difflib.get_close_matches(name, present, n=1)
    return f" (is it {near[0]!r}?)" if near else ""


def _checked(column: pl.Series, texts: pl.Series, read: pl.Series, expected: str, form: Form | None) -> pl.Series:
    """What was read of a column, if all that is there could be read, or need not."""
    wrong = (read.is_null() & texts.is_not_null() & (texts != "")).arg_true()
    if len(wrong) and not (isinstance(form, Numbers | Dates) and form.lenient):
        raise unexpected(column, int(wrong[0]), expected)
    return read
