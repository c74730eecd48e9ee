"""From a table and the name of a column to a problem: rows that have a target, what each column is, what is odd."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from scipy import stats

from mercer.annotations import Index, Targets
from mercer.arrays import Array
from mercer.data import DataError, as_frame
from mercer.data.tables import shown
from mercer.files.svmlight import SparseTable
from mercer.tabular.kinds import Kind, Task, clean, infer_kinds, target_values, task_of
from mercer.tabular.metrics import metric_of
from mercer.tabular.problem import Problem

Rows = Any  # a data frame of any library, or a SparseTable
_LEAST = 10  # rows
_LARGEST = 1e150  # of a target
_COPY = 0.9999  # correlation of ranks with the target, from which on a column is taken for a copy of it
_FORETELLS = 0.9  # of an identifier, from which on it is said


@dataclass(frozen=True)
class Asked:
    """What a user may say of a table, beside the target."""

    task: str | None = None
    metric: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    drop: Collection[str] = ()
    group: str | None = None
    time_column: str | None = None
    weight: str | None = None


@dataclass(frozen=True, eq=False)
class Taken:
    """A problem, and what is needed to read later tables for it and to tell of this one."""

    problem: Problem
    task: Task
    kinds: dict[str, Kind]
    indices: Index
    shown: dict[str, list[str]]
    without_target: int
    notes: list[str]


def take_in(table: pl.DataFrame | SparseTable, target: str, asked: Asked) -> Taken:
    """What is to be learnt from a table; a DataError says why nothing can be."""
    column = target_column(table, target)
    present = is_present(column).to_numpy()
    known = column.filter(pl.Series(present))
    if len(known) < _LEAST:
        raise DataError(
            f"There are {len(known)} rows with a value of {target!r}; at least {_LEAST} are needed to learn from.",
            "M605",
        )
    if asked.group and asked.time_column:
        raise DataError("Rows are held out by groups or by time, not by both: give group or time_column.", "M217")
    rows, notes = np.flatnonzero(present), []
    weights = None
    if asked.weight is not None:
        weights = _weights(_of_rows(table, asked.weight, target, rows), asked.weight)
        rows, known, weights = rows[weights > 0], known.filter(pl.Series(weights > 0)), weights[weights > 0]
    task = task_of(known, asked.task)
    y, labels = as_targets(known, task)
    if not labels:
        _check_numbers(target, y, rows)
    if labels:
        kept, said = _classes_of_several_rows(target, y, labels)
        rows, y, notes, weights = rows[kept], y[kept], said, None if weights is None else weights[kept]
        y, labels = _without_absent(y, labels)
    of_rows = {name: _of_rows(table, name, target, rows) for name in (asked.group, asked.time_column) if name}
    apart = {name for name in (asked.weight, asked.group) if name}
    if isinstance(table, SparseTable):
        X, kinds, shown = _entries(table, rows, asked)
        indices: Index = table.indices
    else:
        X, kinds, shown = _columns(table[rows], target, asked, apart)
        indices = None
        notes += _oddities(table[rows], X, kinds, y, bool(labels), target)
    times = None
    if asked.time_column is not None:
        times = _order(of_rows[asked.time_column], asked.time_column)
    groups = None if asked.group is None else of_rows[asked.group].fill_null("").cast(pl.String).to_numpy()
    if groups is not None and len(np.unique(groups)) < 2:
        raise DataError(f"The column {asked.group!r} has one group only: there is nothing to hold out.", "M605")
    problem = Problem(X, y, labels, metric_of(task.name, asked.metric), weights, groups, times)
    return Taken(problem, task, kinds, indices, shown, int((~present).sum()), notes)


def _check_numbers(target: str, y: Array, rows: Array) -> None:
    """That squares of the target are numbers."""
    wrong = np.flatnonzero(~(np.abs(y) < _LARGEST))
    if len(wrong):
        raise DataError(
            f"Row {rows[wrong[0]]}, column {target!r} is {y[wrong[0]]:g}: a target is a number below {_LARGEST:g}."
            " Correct it, or leave it empty.",
            "M603",
        )


def _entries(table: SparseTable, rows: Array, asked: Asked) -> tuple[Any, dict[str, Kind], dict[str, list[str]]]:
    X = table.X[rows]
    if asked.kinds or asked.drop or asked.weight or asked.group or asked.time_column:
        raise DataError(
            "In a sparse table (svmlight) columns have no names: kinds, drop, weight, group and time are for tables.",
            "M606",
        )
    if not X.nnz:
        raise DataError("No column is left to learn from (no row has an entry).", "M605")
    of = f"{X.nnz} entries in {X.shape[1]} columns, the rest 0"
    return X, {}, {f"x{table.indices[0]} … x{table.indices[-1]}": ["numeric", of]}


def _columns(
    known: pl.DataFrame, target: str, asked: Asked, apart: Collection[str]
) -> tuple[pl.DataFrame, dict[str, Kind], dict[str, list[str]]]:
    dropped = [*asked.drop, *apart]
    found = infer_kinds(known, target, asked.kinds, dropped)
    kinds = {name: _enough(kind, known.get_column(name)) for name, kind in found.items()}
    shown = {name: [kind.name, kind.reason] for name, kind in kinds.items()}
    X = clean(known, kinds)
    if not X.width:
        reasons = "; ".join(f"{name!r}: {kind.reason}" for name, kind in kinds.items())
        raise DataError(f"No column is left to learn from ({reasons or 'the table has only one column'}).", "M605")
    return X, kinds, shown


def _enough(kind: Kind, column: pl.Series) -> Kind:
    """A column of numbers that are nearly all missing has nothing to say, and some folds would see none of them."""
    present = int(is_present(column).sum())
    if kind.name in ("numeric", "date") and present < max(_LEAST, 0.05 * len(column)):
        return Kind("other", f"only {present} of {len(column)} rows have a value")
    return kind


def _classes_of_several_rows(target: str, y: Array, labels: list[Any]) -> tuple[Array, list[str]]:
    """Classes of one row can be trained on but not judged by; many classes of few rows are no classes."""
    if len(labels) > max(20, len(y) // 5):
        raise DataError(
            f"{target!r} has {len(labels)} different values in {len(y)} rows: too many to be classes, and no numbers.",
            "M603",
        )
    counts = np.bincount(y)
    rare = [str(labels[k]) for k in np.flatnonzero(counts == 1)]
    kept = counts[y] > 1
    if len(np.unique(y[kept])) < 2:
        raise DataError(
            f"The target {target!r} has one class with more than one row: there is nothing to tell apart.", "M113"
        )
    if not rare:
        return kept, []
    said = f"Classes of a single row were left out: {', '.join(rare[:5])}{', …' if len(rare) > 5 else ''}."
    return kept, [said]


def _without_absent(y: Array, labels: list[Any]) -> tuple[Array, list[Any]]:
    present, codes = np.unique(y, return_inverse=True)
    return codes, [labels[k] for k in present]


def _of_rows(table: pl.DataFrame | SparseTable, name: str, target: str, rows: Array) -> pl.Series:
    if isinstance(table, SparseTable) or name not in table.columns:
        there = [] if isinstance(table, SparseTable) else table.columns
        raise DataError(
            f"There is no column {name!r}; the columns are {', '.join(map(repr, there[:8])) or 'without names'}.",
            "M105",
        )
    if name == target:
        raise DataError(f"The column {name!r} is the target; it cannot be weight, group or time too.", "M606")
    return table.get_column(name)[rows]


def _weights(column: pl.Series, name: str) -> Array:
    if not column.dtype.is_numeric():
        raise DataError(f"The column {name!r} of weights is of {column.dtype}, not of numbers.", "M606")
    weights = column.cast(pl.Float64).to_numpy()
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise DataError(
            f"Row {wrong[0]}, column {name!r} is {weights[wrong[0]]:g}: a weight is a number of at least 0.", "M114"
        )
    if not weights.any():
        raise DataError(f"All weights in the column {name!r} are 0.", "M114")
    return weights / weights[weights > 0].mean()


def _order(column: pl.Series, name: str) -> Array:
    kind = infer_kinds(
        pl.DataFrame({name: column}), None, {name: "date"} if not column.dtype.is_numeric() else {name: "numeric"}
    )
    values = clean(pl.DataFrame({name: column}), kind).get_column(name).to_numpy()
    wrong = np.flatnonzero(np.isnan(values))
    if len(wrong):
        raise DataError(f"Row {wrong[0]}, column {name!r} has no time: fill it in, or leave the row out.", "M606")
    return np.asarray(values)


def _oddities(
    known: pl.DataFrame, X: pl.DataFrame, kinds: Mapping[str, Kind], y: Array, classes: bool, target: str
) -> list[str]:
    """Columns that are the target in another dress, and identifiers that foretell it: what a model learns from them is
    nothing that later tables will have.
    """
    out = []
    few = np.linspace(0, len(y) - 1, min(len(y), 5000)).astype(int)
    for name, kind in kinds.items():
        if kind.name in ("numeric", "date") and _agreement(X.get_column(name)[few].to_numpy(), y[few]) >= _COPY:
            out.append(f"{name} orders the rows as {target} does: a copy of it? If so, leave it out (--drop {name}).")
        elif kind.name == "nominal" and classes and _names_classes(X.get_column(name)[few], y[few]):
            out.append(
                f"{name} has one value for each class of {target}: a copy of it? If so, leave it out (--drop {name})."
            )
        elif kind.name == "identifier" and known.get_column(name).dtype.is_numeric():
            found = _agreement(known.get_column(name)[few].cast(pl.Float64).to_numpy(), y[few])
            if found >= _FORETELLS:
                out.append(
                    f"{name} was left out as an identifier, and yet foretells {target} (rank correlation {found:.2f}):"
                    " are rows sorted by it?"
                )
    return out


def _agreement(values: Array, y: Array) -> float:
    here = np.isfinite(values)
    if here.sum() < _LEAST or np.ptp(values[here]) == 0 or np.ptp(y[here]) == 0 or here.mean() < 0.5:
        return 0.0
    return abs(float(stats.spearmanr(values[here], y[here]).statistic))


def _names_classes(column: pl.Series, y: Array) -> bool:
    pairs = pl.DataFrame({"value": column, "class": y}).drop_nulls()
    return len(pairs) >= 0.5 * len(y) and pairs.unique().height == pairs["value"].n_unique() == pairs[
        "class"
    ].n_unique() == len(np.unique(y))


def as_table(given: Rows) -> pl.DataFrame | SparseTable:
    """A table as polars has it, from any library of data frames."""
    if isinstance(given, pl.DataFrame | SparseTable):
        return given
    frame = as_frame(given)
    if frame is None:
        raise DataError(
            f"A table is a data frame of polars or pandas, or what read_table returns, not a {type(given).__name__}.",
            "M103",
        )
    columns = {str(name): frame.get_column(name) for name in frame.columns}
    return pl.DataFrame([_as_series(name, _values(column)) for name, column in columns.items()])


def _as_series(name: str, values: Array | list[Any]) -> pl.Series:
    """A column of polars; arrays, lists and other things that are no cells stay the objects that they are."""
    if isinstance(values, list) and any(_is_collection(value) for value in values):
        return pl.Series(name, values, dtype=pl.Object)
    return pl.Series(name, values, strict=False)


def _is_collection(value: object) -> bool:
    return isinstance(value, list | tuple | dict | set) or getattr(value, "ndim", 0) > 0


def _values(column: nw.Series[Any]) -> Any:
    """The values of a column, None where one is missing."""
    if column.dtype.is_numeric() and not column.null_count():
        return column.to_numpy()
    return [None if _is_missing(value) else value for value in column.to_list()]


def _is_missing(value: object) -> bool:
    """None, NaN, or pandas' NA, of which no comparison is true or false."""
    if value is None or _is_collection(value):
        return value is None
    try:
        return bool(value != value)
    except TypeError:
        return True


def target_column(table: pl.DataFrame | SparseTable, target: str) -> pl.Series:
    """The column to predict."""
    if isinstance(table, SparseTable):
        if target != "target":
            raise DataError(
                f"There is no column {target!r} to predict; in a svmlight file, what stands first in a line is called"
                " 'target'.",
                "M601",
            )
        return pl.Series("target", table.target)
    if target not in table.columns:
        infer_kinds(table, target)  # says so, and what there is
    column = table.get_column(target)
    if column.dtype.is_nested() or column.dtype == pl.Object:
        raise DataError(
            f"The column {target!r} holds {column.dtype}, {shown(column.head(1).to_list()[0])} in row 0; a target is a"
            " number or a class. Make one column of each number, and learn them one by one.",
            "M603",
        )
    return column


def is_present(column: pl.Series) -> pl.Series:
    return column.is_not_null() & (column.is_not_nan() if column.dtype.is_float() else True)


def as_targets(column: pl.Series, task: Task, labels: list[Any] | None = None) -> tuple[Array, list[Any]]:
    """Numbers, or codes of classes, and the classes."""
    if task.name != "classification":
        return target_values(column, task).to_numpy().astype(np.float64), []
    values = column.to_list()
    labels = sorted(set(values), key=lambda v: (str(type(v)), v)) if labels is None else labels
    codes = {label: k for k, label in enumerate(labels)}
    return np.array([codes.get(v, -1) for v in values], np.int64), labels


def with_target(table: pl.DataFrame | SparseTable, target: str, y: Targets) -> pl.DataFrame | SparseTable:
    """The table with the target among its columns, where it comes beside it."""
    if y is None:
        return table
    if isinstance(table, SparseTable):
        return SparseTable(table.X, table.indices, np.asarray(y))
    if target in table.columns:
        raise DataError(
            f"The table has a column {target!r}, and y is given as well: name y otherwise, TableModel(target=…).",
            "M601",
        )
    values = y.to_list() if hasattr(y, "to_list") else list(y)
    if len(values) != table.height:
        raise DataError(f"X has {table.height} rows, y {len(values)}.", "M111")
    return table.with_columns(pl.Series(target, values, strict=False))


def filtered(table: pl.DataFrame | SparseTable, known: Array) -> pl.DataFrame | SparseTable:
    """The rows that are known."""
    if isinstance(table, SparseTable):
        return SparseTable(table.X[np.flatnonzero(known)], table.indices, np.asarray(table.target)[known])
    return table.filter(pl.Series(known))
