"""What a target asks for: classes to tell apart, numbers to come close to, counts, or ranks.

``task_of`` decides by the values of the column unless it is told; ``target_values`` are the numbers of a target, also
where they are written as "$1,234.50". The rules:

- Few whole numbers are classes: two, or at most 20 with five rows for each on average. Amounts, which have a currency,
  a unit or a decimal comma, are classes only where there are two.
- Whole numbers from 0 or 1 up to at most 1000 are counts if they look like them: more spread than a Poisson variable of
  their mean, with a standard deviation of at least half the mean, and most of them below the mean. What is in doubt
  (ages, uniform numbers) is regression, which is never wrong for counts.
- Ranks are never guessed: 1 … 5 may be classes as well.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, cast, get_args

import polars as pl

from mercer.data import DataError
from mercer.data.cell_numbers import Numbers
from mercer.data.cells import numbers_in
from mercer.data.tables import shown
from mercer.tabular.conversions import TEXTS, are_whole, nearest, to_numbers, without_nan

TaskName = Literal["classification", "regression", "count", "ordinal"]
TASKS: tuple[TaskName, ...] = get_args(TaskName)
_CLASSES = 20  # distinct whole numbers of what may be a class
_COUNT = 1000  # the largest of what is taken for counts
_RANKS = 100  # distinct values of what may be ranks


class Task(NamedTuple):
    """What a target asks for, the reason in words, and how its numbers are written where they are texts."""

    name: TaskName
    reason: str
    form: Numbers | None = None


def task_of(column: pl.Series, given: str | None = None) -> Task:
    """Classification for texts, booleans and few whole numbers; counts for what looks like them; regression for other
    numbers, also those that are written with currencies, units and decimal commas. ``given`` decides otherwise.
    """
    if given is not None and given not in TASKS:
        raise DataError(f"{given!r} is not a task{nearest(given, TASKS)}; the tasks are {', '.join(TASKS)}.", "M603")
    values = without_nan(column).drop_nulls()
    distinct, dtype = values.n_unique(), values.dtype
    if distinct < 2:
        found = "no value at all" if distinct == 0 else f"one value, {values[0]!r}"
        raise DataError(
            f"The target {column.name!r} has {found}: there is nothing to learn. Choose another column.", "M603"
        )
    if dtype != pl.Boolean and not dtype.is_numeric() and dtype not in TEXTS:
        raise DataError(
            f"The target {column.name!r} is of {dtype}: only numbers, texts and booleans can be predicted. Turn it into"
            " a number first.",
            "M603",
        )
    if given == "classification":
        return Task("classification", f"as asked; {distinct} distinct values")
    if given is not None:
        return _as_asked(column, cast(TaskName, given), distinct)
    if dtype == pl.Boolean:
        return Task("classification", "true or false")
    if dtype.is_numeric():
        return _task_of_numbers(values)
    return _task_of_texts(column) or Task("classification", f"{distinct} distinct texts")


def target_values(column: pl.Series, task: Task) -> pl.Series:
    """The numbers of a target as Float64, read as those that the task was found on; null where missing."""
    return to_numbers(column, task.form).rename(column.name)


def _task_of_numbers(values: pl.Series) -> Task:
    distinct = values.n_unique()
    if not are_whole(values):
        return Task("regression", "numbers that are not whole")
    found = f"{distinct} distinct whole numbers in {len(values)} rows"
    if distinct == 2 or (distinct <= _CLASSES and len(values) >= 5 * distinct):
        return Task("classification", found)
    if _look_like_counts(values.cast(pl.Float64)):
        return Task("count", f"{found} that look like counts, most of them small")
    return Task("regression", found)


def _task_of_texts(column: pl.Series) -> Task | None:
    """The task of texts that are numbers; None where they are classes."""
    form = numbers_in(column) if column.dtype == pl.String else None
    if form is None:
        return None
    numbers = form.parse(column).drop_nulls()
    task, distinct = _task_of_numbers(numbers), numbers.n_unique()
    if distinct < 2 or (task.name == "classification" and (distinct == 2 or not form.marked)):
        return None
    wrong = _unread(column, form)
    if wrong is not None:
        if distinct <= _CLASSES:
            return None
        raise DataError(
            f"Row {wrong}, the target {column.name!r}, is {shown(column[wrong])}, and nearly all others are numbers."
            " Correct the value, leave it empty if it is missing, or ask for classification if it is a class.",
            "M603",
        )
    return Task("regression" if task.name == "classification" else task.name, f"{form}: {task.reason}", form)


def _look_like_counts(values: pl.Series) -> bool:
    least, most, mean, median, deviation = (
        float(cast(float, value))
        for value in (values.min(), values.max(), values.mean(), values.median(), values.std())
    )
    spread = deviation**2 >= mean and 2 * deviation >= mean
    return least in (0.0, 1.0) and most <= _COUNT and spread and median < mean


def _as_asked(column: pl.Series, name: TaskName, distinct: int) -> Task:
    """A task of numbers that was asked for, if the values allow it."""
    texts = column.dtype in TEXTS
    form = numbers_in(column, 0) if texts else None
    wrong = _unread(column, form) if texts else None
    if wrong is not None:
        cure = (
            "write the ranks as numbers in their order, 1, 2, 3, or ask for classification"
            if name == "ordinal"
            else "correct the value, leave it empty if it is missing, or ask for classification"
        )
        raise DataError(
            f"{name} was asked for, but row {wrong} of the target {column.name!r} is {shown(column[wrong])}, not a"
            f" number: {cure}.",
            "M603",
        )
    task = Task(name, f"as asked; {distinct} distinct {form or 'numbers'}", form)
    if name == "count":
        values = target_values(column, task)
        bad = ((values < 0) | (values != values.floor()) | values.is_infinite()).fill_null(False).arg_true()
        if len(bad):
            raise DataError(
                f"count was asked for, but row {bad[0]} of the target {column.name!r} is {shown(column[bad[0]])}:"
                " counts are 0, 1, 2, …. Ask for regression.",
                "M603",
            )
    if name == "ordinal" and distinct > _RANKS:
        raise DataError(
            f"ordinal was asked for, but the target {column.name!r} has {distinct} distinct values, and ranks are at"
            f" most {_RANKS}. Ask for regression.",
            "M603",
        )
    return task


def _unread(column: pl.Series, form: Numbers | None) -> int | None:
    """The first cell of texts that is there and no number of the form."""
    read = column.is_null() if form is None else form.parse(column).is_not_null() | column.is_null()
    wrong = (~read).arg_true()
    return int(wrong[0]) if len(wrong) else None
