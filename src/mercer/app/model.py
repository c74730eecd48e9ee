"""The model of a column: a fitted estimator with all that is needed to read a table for it, and to judge it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mercer.annotations import Estimator, Index
from mercer.app.kinds import Kind, Task, conform, infer_kinds
from mercer.arrays import Array
from mercer.data import DataError, as_frame
from mercer.files.places import is_text
from mercer.files.readers import read_table
from mercer.files.svmlight import SparseTable
from mercer.files.text import first_line

Rows = Any  # a data frame of polars or pandas, or a SparseTable


@dataclass(eq=False)
class Model:
    """A fitted estimator with all that is needed to read a table for it."""

    estimator: Estimator
    kinds: dict[str, Kind]
    target: str
    task: Task
    labels: list[Any]
    summary: dict[str, Any] = field(default_factory=dict)
    indices: Index = None  # of the columns of a sparse table, where it was trained on one

    def prepared(self, table: Rows) -> tuple[Any, list[str]]:
        """The columns the model was trained on, in the same form, and those that it does not know."""
        table = as_table(table)
        if self.indices is not None:
            entries = table if isinstance(table, SparseTable) else SparseTable.of_frame(table, self.target)
            return entries.on(self.indices), entries.unknown(self.indices)
        if isinstance(table, SparseTable):
            used = [name for name, kind in self.kinds.items() if kind.used]
            return conform(table.frame(used), self.kinds)[0], [name for name in table.names if name not in self.kinds]
        return conform(table.drop(self.target) if self.target in table.columns else table, self.kinds)

    def predict(self, table: Rows) -> Array:
        X, _ = self.prepared(table)
        if not X.shape[0]:
            return np.empty(0)
        values = self.estimator.predict(X)
        return (
            np.array([self.labels[int(v)] for v in values], dtype=object)
            if self.task.name == "classification"
            else np.asarray(values)
        )

    def score(self, table: Rows) -> float:
        """Accuracy, or minus the root mean squared error, on a table that has the target."""
        table = as_table(table)
        column = target_column(table, self.target)
        known = is_present(column).to_numpy()
        truth = as_targets(column.filter(pl.Series(known)), self.task, self.labels)[0]
        return score(
            self.task, truth, np.asarray(self.estimator.predict(self.prepared(table)[0][np.flatnonzero(known)]))
        )


def read_for(model: Model, path: Path, max_bytes: int | str | None = None) -> tuple[pl.DataFrame | SparseTable, str]:
    """The table in a file, read for a model, and a note where something was assumed.

    For a model of one column the file may be of one column, its values one a line: with the name of the column above
    them, or without.
    """
    used = [name for name, kind in model.kinds.items() if kind.used]
    if len(used) != 1 or not is_text(path):
        return read_table(path, sparse=True, max_bytes=max_bytes), ""
    name = used[0]
    try:
        table = read_table(path, sparse=True, max_bytes=max_bytes)
    except DataError:  # lines of text hold different numbers of commas
        values, first = _lines_of(path, name, max_bytes)
        if name in first and first.strip() != name:
            raise  # a header of several columns
        return values, _assumed(path, name, first)
    if isinstance(table, SparseTable) or (name in table.columns and table.width > 1):
        return table, ""
    if table.width > 1:
        raise DataError(
            f"{path} lacks the column {name!r} that the model was trained on; it has"
            f" {', '.join(map(repr, table.columns[:8]))}. If it is of one column, write the name {name!r} above it."
        )
    values, first = _lines_of(path, name, max_bytes)
    return values, _assumed(path, name, first)


def _lines_of(path: Path, name: str, max_bytes: int | str | None) -> tuple[pl.DataFrame, str]:
    """A file of one column, and its first line."""
    values = read_table(path, lines=name, sparse=False, max_bytes=max_bytes)
    return values, first_line(path, max_bytes)


def _assumed(path: Path, name: str, first: str) -> str:
    return (
        ""
        if first.strip().casefold() == name.casefold()
        else f"{path} has no header: every line was taken as a value of {name!r}."
    )


def score(task: Task, truth: Array, predicted: Array) -> float:
    if task.name == "classification":
        return float(np.mean(truth == predicted))
    return -float(np.sqrt(np.mean((truth - predicted) ** 2)))


def as_table(given: Any) -> pl.DataFrame | SparseTable:
    """A table as polars has it, from any library of data frames."""
    if isinstance(given, pl.DataFrame | SparseTable):
        return given
    frame = as_frame(given)
    if frame is None:
        raise DataError(
            f"A table is a data frame of polars or pandas, or what read_table returns, not a {type(given).__name__}."
        )
    columns = {str(name): frame.get_column(name) for name in frame.columns}
    return pl.DataFrame([pl.Series(name, _values(column), strict=False) for name, column in columns.items()])


def _values(column: Any) -> Any:
    """The values of a column, None where one is missing."""
    if column.dtype.is_numeric() and not column.null_count():
        return column.to_numpy()
    return [None if value is None or value != value else value for value in column.to_list()]


def target_column(table: pl.DataFrame | SparseTable, target: str) -> pl.Series:
    """The column to predict."""
    if isinstance(table, SparseTable):
        if target != "target":
            raise DataError(
                f"There is no column {target!r} to predict; in a svmlight file, what stands first in a line is called"
                " 'target'."
            )
        return pl.Series("target", table.target)
    if target not in table.columns:
        infer_kinds(table, target)  # says so, and what there is
    return table.get_column(target)


def is_present(column: pl.Series) -> pl.Series:
    return column.is_not_null() & (column.is_not_nan() if column.dtype.is_float() else True)


def as_targets(column: pl.Series, task: Task, labels: list[Any] | None = None) -> tuple[Array, list[Any]]:
    """Numbers, or codes of classes, and the classes."""
    if task.name == "regression":
        return column.cast(pl.Float64).to_numpy().astype(np.float64), []
    values = column.to_list()
    labels = sorted(set(values), key=lambda v: (str(type(v)), v)) if labels is None else labels
    codes = {label: k for k, label in enumerate(labels)}
    return np.array([codes.get(v, -1) for v in values], np.int64), labels
