"""Rows of numbers from the columns of a table: what kernels of vectors, learnt metrics and trees look at.

    number    (x − median)/spread, squeezed beyond 8 spreads; or its rank among the training rows
    date      days, a circle each for the year and the day, and the seven days of the week
    category  a column of 0 and 1 for each that is not rare; in one view, whole numbers that come again and again are
              categories as well: they may be the numbers of shops or subjects
    molecule  a dozen descriptors, beside the molecule itself
    a gap     filled with the median, or by a regression on the other columns, and marked where gaps are not few

All is measured on the training rows once. Texts, sequences and molecules go through as they are, for kernels of their
own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from mercer.arrays import Array
from mercer.data.descriptors import DESCRIPTORS, descriptors
from mercer.tabular.kinds import Kind

_SQUEEZED = 8.0  # spreads from the median, beyond which a number counts by its logarithm
_FAR = 1e6  # spreads: such a number is named
_FARTHEST = 20.0
_SMALLEST, _LARGEST = 1e-300, 1e100  # of a spread, and of numbers in spreads, whose differences are still numbers
_KNOTS = 257  # quantiles that ranks are read from
_MARKED = 0.01  # share of gaps, from which on they are marked
_RARE = 0.002  # share of the rows of a category, below which it has no column of its own
_MOST = 350  # categories of a column
_KINDS = 9  # blocks of columns that have a kernel of their own
_ROWS_OF_CODE = 5  # on average, of whole numbers that may be names
_YEAR, _WEEK = 365.2425, 7.0
_RIDGE = 1e-2  # times the number of rows, of the regressions that fill gaps
_REGRESSED = 200  # columns: with more, gaps are filled with medians


@dataclass(frozen=True)
class View:
    """How columns are looked at: numbers by their size or their rank, gaps filled with the median or by regression,
    whole numbers as categories too or not.
    """

    numbers: Literal["size", "rank"] = "size"
    gaps: Literal["median", "regression"] = "median"
    codes: bool = False

    def __str__(self) -> str:
        said = (["ranks"] if self.numbers == "rank" else []) + (
            ["gaps filled by regression"] if self.gaps == "regression" else []
        )
        said += ["whole numbers as categories"] if self.codes else []
        return ", ".join(said)


@dataclass(frozen=True, eq=False)
class Number:
    """A column of numbers, as distances from its median in spreads, or as ranks of variance 1 between ``knots``."""

    name: str
    median: float
    spread: float
    knots: Array | None = None
    typical: float = 0.0  # the spread of the middle half; 0 where that is one value

    @classmethod
    def of(cls, name: str, values: Array, ranks: bool) -> Number:
        present = values[np.isfinite(values)]
        if not len(present):
            return cls(name, 0.0, 1.0)
        low, median, high = np.quantile(present, [0.25, 0.5, 0.75])
        knots = np.quantile(present, np.linspace(0, 1, _KNOTS)) if ranks else None
        present = present[np.abs(present) < 1e150]  # whose squares are numbers
        spread = typical = float(high - low) / 1.349  # the standard deviation, were it normal
        if spread <= 0:  # more than half are one value
            near = present[np.abs(present) <= np.quantile(np.abs(present), 0.999)] if len(present) else present
            spread = (float(np.std(near)) or float(np.std(present)) or 1.0) if len(near) else 1.0
        spread = max(spread, _SMALLEST) if np.isfinite(spread) else 1.0
        found = cls(name, float(median), spread, None, typical)
        return found if knots is None else replace(found, knots=np.unique(found._in_spreads(knots)))

    def __call__(self, values: Array) -> Array:
        if self.knots is not None and len(self.knots) > 1:
            places = np.linspace(0, 1, len(self.knots))
            return np.sqrt(12.0) * (np.interp(self._in_spreads(values), self.knots, places) - 0.5)
        z = self._in_spreads(values)
        far = np.abs(z) > _SQUEEZED
        beyond = np.minimum(_SQUEEZED + np.log(np.maximum(np.abs(z), _SQUEEZED) / _SQUEEZED), _FARTHEST)
        return np.where(far, np.sign(z) * beyond, z)

    def _in_spreads(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.clip((values - self.median) / self.spread, -_LARGEST, _LARGEST)

    def far(self, values: Array) -> Array:
        """Numbers so far out that they are errors, or of another kind than the rest."""
        if self.typical <= 0:  # most are one value, and no other has a scale
            return values[:0]
        return values[np.abs(self._in_spreads(values)) > _FAR]


@dataclass(frozen=True)
class Category:
    """A column of 0 and 1 for each value that is not rare; a rare or new one is 0 in all."""

    name: str
    values: tuple[str, ...]

    @classmethod
    def of(cls, name: str, column: pl.Series) -> Category:
        counts = _in_words(column).drop_nulls().alias("value").value_counts(sort=True)
        often = counts.filter(counts["count"] >= max(2, _RARE * len(column))).sort(
            "count", "value", descending=[True, False]
        )
        return cls(name, tuple(sorted(often["value"].to_list()[:_MOST])))

    def __call__(self, column: pl.Series) -> Array:
        if not self.values:
            return np.zeros((len(column), 0))
        codes = _in_words(column).replace_strict(
            {v: j for j, v in enumerate(self.values)}, default=-1, return_dtype=pl.Int64
        )
        return (codes.fill_null(-1).to_numpy()[:, None] == np.arange(len(self.values))).astype(np.float64)


@dataclass(frozen=True)
class Cycle:
    """What comes again in a column of days: a point on a circle, or which day of the week it is."""

    name: str
    days: float

    def __call__(self, values: Array) -> Array:
        if self.days == _WEEK:
            weekday = np.floor(np.where(np.isfinite(values), values, 0.0) + 3) % 7  # 1970 began on a Thursday
            return (weekday[:, None] == np.arange(7)) * np.isfinite(values)[:, None] * 1.0
        angle = 2 * np.pi * values / self.days
        return np.nan_to_num(np.column_stack([np.sin(angle), np.cos(angle)]))

    @property
    def labels(self) -> list[str]:
        if self.days == _WEEK:
            return ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        what = "year" if self.days == _YEAR else "day"
        return [f"{what}, sine", f"{what}, cosine"]


@dataclass(eq=False)
class Encoding:
    """x ↦ a row of numbers, measured on the training rows; with texts, sequences or molecules, a frame of both."""

    view: View
    numbers: list[Number]
    marked: list[str]
    cycles: list[Cycle]
    categories: list[Category]
    written: dict[str, str] = field(default_factory=dict)  # the kind of each column that goes through as it is
    coefficients: Array | None = None  # of the regressions that fill gaps, one column for each number
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, frame: pl.DataFrame, kinds: Mapping[str, Kind], view: View) -> Encoding:
        """Measured on a table that ``clean`` has brought into form."""
        used: dict[str, str] = {name: kind.name for name, kind in kinds.items() if kind.used}
        written = {name: kind for name, kind in used.items() if kind in ("text", "sequence", "molecule")}
        plain = [name for name, kind in used.items() if kind in ("numeric", "date")]
        table = _numbers(frame, plain, [name for name, kind in written.items() if kind == "molecule"])
        found = cls(
            view,
            [Number.of(name, values, view.numbers == "rank") for name, values in table.items()],
            [name for name, values in table.items() if np.isnan(values).mean() >= _MARKED],
            [cycle for name, kind in used.items() if kind == "date" for cycle in _cycles(name, table[name])],
            [
                Category.of(name, frame.get_column(name))
                for name, kind in used.items()
                if kind == "nominal" or (view.codes and kind == "numeric" and may_be_codes(table[name]))
            ],
            written,
        )
        outliers = {n.name: far for n in found.numbers if len(far := n.far(table[n.name]))}
        if outliers:
            said = ", ".join(f"{name} ({far[0]:.3g})" for name, far in list(outliers.items())[:3])
            more = f" and {len(outliers) - 3} columns more" if len(outliers) > 3 else ""
            found.notes.append(
                f"Numbers that are a million times the spread of the others away from them were pulled in: {said}"
                f"{more}."
            )
        if view.gaps == "regression" and found.marked and len(found.numbers) <= _REGRESSED:
            found.coefficients = found._regressions(frame)
        return found

    @property
    def names(self) -> list[str]:
        """What each column of the rows is, in words."""
        return [
            *(number.name for number in self.numbers), *(f"{name} missing" for name in self.marked),
            *(f"{cycle.name}: {label}" for cycle in self.cycles for label in cycle.labels),
            *(f"{category.name} = {value}" for category in self.categories for value in category.values),
        ]  # fmt: skip

    @property
    def sources(self) -> list[str]:
        """The column of the table that each column of the rows is from."""
        described = _descriptors(self._molecules)
        return [
            *(described.get(number.name, number.name) for number in self.numbers), *self.marked,
            *(cycle.name for cycle in self.cycles for _ in cycle.labels),
            *(category.name for category in self.categories for _ in category.values),
        ]  # fmt: skip

    @property
    def blocks(self) -> list[str]:
        """Labels for a metric: columns of a category, or of a cycle, have one of their own; all numbers share one."""
        return [
            *([""] * (len(self.numbers) + len(self.marked))),
            *(f"{cycle.name}, {cycle.days}" for cycle in self.cycles for _ in cycle.labels),
            *(category.name for category in self.categories for _ in category.values),
        ]

    @property
    def places(self) -> dict[str, list[int]]:
        """Which columns of the rows are of each block; the least common categories share one."""
        out: dict[str, list[int]] = {}
        for j, block in enumerate(self.blocks):
            known = block in out or len(out) < _KINDS
            out.setdefault(block if known else "others", []).append(j)
        return out

    def __call__(self, frame: pl.DataFrame) -> Any:
        """The rows, (n, columns); a frame of columns ``#0``, ``#1``, … and of what is written, where there is such."""
        rows = self._rows(frame)
        if not self.written:
            return rows
        numbers = [pl.Series(name, rows[:, j]) for j, name in enumerate(self.columns)]
        return pl.DataFrame([*numbers, *(frame.get_column(name) for name in self.written)])

    @property
    def columns(self) -> list[str]:
        """The names of the columns of numbers, where the rows are a frame."""
        mark = "#" * (1 + max((len(name) - len(name.lstrip("#")) for name in self.written), default=0))
        return [f"{mark}{j}" for j in range(len(self.names))]

    @property
    def _molecules(self) -> list[str]:
        return [name for name, kind in self.written.items() if kind == "molecule"]

    def _table(self, frame: pl.DataFrame) -> dict[str, Array]:
        described = _descriptors(self._molecules)
        return _numbers(frame, [n.name for n in self.numbers if n.name not in described], self._molecules)

    def _rows(self, frame: pl.DataFrame) -> Array:
        table = self._table(frame)
        parts = [self._filled(table, frame.height)]
        parts += [np.isnan(table[name])[:, None] * 1.0 for name in self.marked]
        parts += [cycle(table[cycle.name]) for cycle in self.cycles]
        parts += [category(frame.get_column(category.name)) for category in self.categories]
        return np.column_stack(parts) if parts else np.zeros((frame.height, 0))

    def _filled(self, table: Mapping[str, Array], rows: int) -> Array:
        """The numbers, every gap filled: by the median, or what the other columns say."""
        Z = np.empty((rows, len(self.numbers)))
        for j, number in enumerate(self.numbers):
            Z[:, j] = number(table[number.name])
        gaps = np.isnan(Z)
        Z = np.where(gaps, [float(number(np.array([number.median]))[0]) for number in self.numbers], Z)
        if self.coefficients is not None:
            guess = Z @ self.coefficients[1:] + self.coefficients[0]
            Z[gaps] = np.clip(guess[gaps], -_SQUEEZED, _SQUEEZED)
        return Z

    def _regressions(self, frame: pl.DataFrame) -> Array:
        """Each number by a ridge regression on the others, of the rows that have it: constants, then coefficients."""
        table = self._table(frame)
        missing = np.column_stack([np.isnan(table[number.name]) for number in self.numbers])
        Z = self._filled(table, frame.height)
        out = np.zeros((1 + Z.shape[1], Z.shape[1]))
        for j in np.flatnonzero(missing.any(axis=0)):
            rest = np.delete(np.arange(Z.shape[1]), j)
            A, b = Z[~missing[:, j]][:, rest], Z[~missing[:, j], j]
            if len(rest) and len(b):
                mean, centre = A.mean(axis=0), float(b.mean())
                A, b = A - mean, b - centre
                found = np.linalg.solve(A.T @ A + (_RIDGE * len(b) + 1e-9) * np.eye(len(rest)), A.T @ b)
                out[1 + rest, j], out[0, j] = found, centre - mean @ found
        return out


def may_be_codes(values: Array) -> bool:
    """Whether numbers may be names of things: whole ones, more than two, each in several rows on average."""
    present = values[np.isfinite(values)]
    if not len(present) or (present != np.floor(present)).any() or np.abs(present).max() >= 2**53:
        return False
    distinct = len(np.unique(present))
    return 2 < distinct <= min(_MOST, len(present) / _ROWS_OF_CODE)


def _in_words(column: pl.Series) -> pl.Series:
    """Categories as they are, whole numbers as texts."""
    return column.cast(pl.Int64, strict=False).cast(pl.String) if column.dtype.is_float() else column


def _descriptors(molecules: Sequence[str]) -> dict[str, str]:
    """The names of the columns of numbers that describe molecules, and the column of each."""
    return {f"{label} of {name}": name for name in molecules for label in DESCRIPTORS}


def _numbers(frame: pl.DataFrame, columns: Sequence[str], molecules: Sequence[str]) -> dict[str, Array]:
    """Columns of numbers, NaN where one is missing: those of the table, and the descriptors of its molecules."""
    out = {name: frame.get_column(name).cast(pl.Float64).to_numpy() for name in columns}
    for name in molecules:
        found = descriptors(frame.get_column(name).to_list())
        out |= {label: found[:, j] for j, label in enumerate(_descriptors([name]))}
    return out


def _cycles(name: str, days: Array) -> list[Cycle]:
    """The year, the week and the day, where the dates are spread over more than one of each."""
    present = days[np.isfinite(days)]
    span = float(np.ptp(present)) if len(present) else 0.0
    fractions = bool(np.any(np.abs(present - np.round(present)) > 1e-6))
    out = [Cycle(name, period) for period, least in ((_YEAR, _YEAR), (_WEEK, 2 * _WEEK)) if span >= least]
    return out + ([Cycle(name, 1.0)] if fractions and span >= 1 else [])
