"""What each column of a table is to a kernel: numbers to measure distances by, categories to compare, texts, molecules,
or nothing of use.

``infer_kinds`` decides once, on the training table, and says why in words; ``clean`` and ``conform`` bring that table
and every later one into the same form: numbers and dates as Float64, categories as text, missing values as null. How
the cells of a column of texts are written ("$1,234.50", 29.02.2024) is found by ``mercer.data.cells`` and kept in the
kind, so that later tables are read the same way.

The rule for whole numbers: they are numbers unless they look like codes, that is, have at most 10 distinct values, 10
rows or more for each, and either a name that says so (ends in code, type, class, category, group, zone, zip …) or
values of the same three digits or more at uneven steps (101, 250, 930). Order is worth keeping where it may mean
something: a Gaussian over 1, 2, 3 can still tell the three apart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import polars as pl

from mercer.data import DataError
from mercer.data.cell_dates import Dates
from mercer.data.cell_numbers import Numbers
from mercer.data.cells import Form, booleans_of, dates_in, numbers_in
from mercer.data.molecules import are_molecules, unreadable
from mercer.data.tables import excerpt, shown
from mercer.tabular.conversions import CONVERSIONS, TEXTS, are_whole, nearest, without_nan
from mercer.tabular.tasks import Task, target_values, task_of

__all__ = ["USED", "Kind", "Task", "clean", "conform", "infer_kinds", "target_values", "task_of"]

Name = Literal["numeric", "nominal", "date", "text", "sequence", "molecule", "constant", "identifier", "other"]
USED = ("numeric", "nominal", "date", "text", "sequence", "molecule")
_FEW = 10  # distinct values of what may be a code, and rows for each
_COUNTING = 10  # rows above which 1, 2, 3, … is taken for a count of the rows
_WORDS, _LETTERS = 4, 40  # on average, of what is a text rather than a name
_IDENTIFIER = re.compile(r"(?i:(^|[\s_.-])(id|idx|index|key|uuid|guid|row)$)|[a-z]I[dD]$|^Unnamed: 0$")
_CODE = re.compile(
    r"(code|type|class|category|cat|group|cluster|zone|zip|zipcode|postcode|region|status|flag|kind|label)$"
)
_SMILES = re.compile(r"(?i)smiles|molecule|compound")
_LOOKED_AT = 50  # texts that may be molecules
_DATE = re.compile(r"(?i)date|datum|day|dob|(^|[^a-z])dt($|[^a-z])")
_COMPACT = (18000101, 21991231)  # dates that whole numbers may be


@dataclass(frozen=True)
class Kind:
    """What a column is, the reason in words, and how its cells are written where they are texts to be read as something
    else; ``used`` says whether it goes to the kernel.
    """

    name: Name
    reason: str
    form: Form | None = None

    @property
    def used(self) -> bool:
        return self.name in USED


# ---------------------------------------------------------------------------------------------------------------------
# Deciding
# ---------------------------------------------------------------------------------------------------------------------


def infer_kinds(
    frame: pl.DataFrame,
    target: str | None = None,
    given: Mapping[str, str] | None = None,
    dropped: Collection[str] = (),
) -> dict[str, Kind]:
    """The kind of every column but the target, in the order of the table: what was ``given`` for it by name, else what
    its cells say; ``dropped`` columns are left out.
    """
    given = given or {}
    if target is not None and target not in frame.columns:
        raise DataError(
            f"There is no column {target!r} to predict{nearest(target, frame.columns)}; the columns are"
            f" {_listed(frame.columns)}.",
            "M601",
        )
    _check_asked(frame.columns, target, given, dropped)
    kinds = {}
    for name in frame.columns:
        if name in dropped:
            kinds[name] = Kind("other", "left out, as asked")
        elif name != target:
            column = frame.get_column(name)
            kinds[name] = _as_asked(column, given[name]) if name in given else _kind(column)
    return kinds


def _kind(given: pl.Series) -> Kind:
    column = without_nan(given)
    present, dtype = column.drop_nulls(), column.dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        return Kind("other", f"{dtype}: no kernel for it, left out; a machine over kernel.on({given.name!r}) reads it")
    distinct = present.n_unique()
    if distinct == 0:
        return Kind("constant", "no value at all, left out")
    if distinct == 1:
        if len(present) == len(column):
            return Kind("constant", f"always {_shown(present[0])}, left out")
        return Kind("nominal", f"{_shown(present[0])} or missing{_missing(column)}")
    if dtype == pl.Boolean:
        return Kind("nominal", f"true or false{_missing(column)}")
    if dtype.is_temporal():
        return Kind("date", f"{'durations' if dtype == pl.Duration else 'dates'}, as days{_missing(column)}")
    if dtype.is_numeric():
        return _kind_of_numbers(column)
    # what is typed as categories is nothing else
    read = _kind_by_form(column) if dtype == pl.String else None
    return read or _kind_of_texts(column, present.cast(pl.String), distinct)


def _kind_by_form(column: pl.Series) -> Kind | None:
    """The kind of texts that are written numbers, dates, yes and no; None where they are texts."""
    words = booleans_of(column)
    if words is not None:
        return Kind("nominal", f"{words}{_missing(column)}", words)
    numbers = numbers_in(column)
    if numbers is not None:
        return _kind_of_numbers(numbers.parse(column), numbers, _gaps(column, numbers))
    dates = dates_in(column)
    return None if dates is None else Kind("date", f"{dates}, as days{_gaps(column, dates)}", dates)


def _kind_of_numbers(column: pl.Series, form: Numbers | None = None, gaps: str | None = None) -> Kind:
    """The kind of numbers, which were texts of some form where it is given, and what is to be said of its gaps."""
    of, gaps, present = str(form or "numbers"), _missing(column) if gaps is None else gaps, column.drop_nulls()
    if not are_whole(present):
        return Kind("numeric", f"{of}{gaps}", form)
    whole, distinct = present.cast(pl.Int64, strict=False), present.n_unique()
    if _DATE.search(column.name) and _are_compact(whole):
        return Kind("date", f"{Dates('compact')}, as days{gaps}", Dates("compact", lenient=bool(form and form.lenient)))
    if distinct == len(column) >= _COUNTING and whole[0] in (0, 1) and bool((whole.diff().drop_nulls() == 1).all()):
        return Kind("identifier", f"counts the rows from {whole[0]}, left out")
    if 10 * distinct >= 9 * len(column) and _is_identifier(column.name):
        return Kind(
            "identifier",
            f"{distinct} different whole numbers in {len(column)} rows, and the name of an identifier, left out",
        )
    span = f"{_shown(present.min())} … {_shown(present.max())}"
    if distinct <= _FEW and len(present) >= _FEW * distinct and _are_codes(column.name, whole.unique().sort()):
        return Kind("nominal", f"codes: {distinct} distinct whole {of}, {span}{gaps}")
    return Kind("numeric", f"whole {of}, {span}{gaps}", form)


def _kind_of_texts(column: pl.Series, present: pl.Series, distinct: int) -> Kind:
    many = len(present) >= _COUNTING
    if (
        many
        and _SMILES.search(column.name)
        and are_molecules(present.unique(maintain_order=True).head(_LOOKED_AT).to_list())
    ):
        return Kind("molecule", f"{distinct} distinct molecules as SMILES{_missing(column)}")
    letters = present.str.len_chars().mean()
    words = (present.str.strip_chars().str.count_matches(r"\s+") + 1).mean()
    assert isinstance(letters, float)
    assert isinstance(words, float)
    if many and 2 * distinct >= len(present) and (words >= _WORDS or letters >= _LETTERS):
        if words >= 2:
            return Kind("text", f"{distinct} distinct texts of {words:.0f} words on average{_missing(column)}")
        return Kind("sequence", f"{distinct} distinct sequences of {letters:.0f} letters on average{_missing(column)}")
    if distinct == len(column) and (many or _is_identifier(column.name)):
        return Kind("identifier", "a different text in each row, left out")
    if many and 10 * distinct >= 9 * len(present):
        return Kind("identifier", f"{distinct} distinct texts in {len(present)} rows, nearly all different, left out")
    return Kind("nominal", f"{distinct} distinct texts{_missing(column)}")


def _are_codes(name: str, values: pl.Series) -> bool:
    if len(values) < 3:  # of two values, one is as far from the other as any
        return False
    if _CODE.search(name.lower()):
        return True
    digits = values.cast(pl.String).str.len_chars()
    return values[0] >= 100 and digits.n_unique() == 1 and values.diff().drop_nulls().n_unique() > 1


def _are_compact(whole: pl.Series) -> bool:
    """Whether all of some whole numbers are dates, yyyymmdd."""
    return bool(whole.is_between(*_COMPACT).all()) and not Dates("compact").parse(whole).null_count()


def _is_identifier(name: str) -> bool:
    return _IDENTIFIER.search(name) is not None


def _gaps(column: pl.Series, form: Numbers | Dates) -> str:
    """What is said of the cells of texts that hold nothing, and of those that could not be read."""
    column = column.set(column.str.strip_chars() == "", None)
    wrong = column.filter(form.parse(column).is_null() & column.is_not_null())
    if not len(wrong):
        return _missing(column)
    share, what = 100 * len(wrong) / len(column), "number" if isinstance(form, Numbers) else "date"
    told = f"{share:.0f} % of cells are no {what}s" if share >= 1 else f"{len(wrong)} cells are no {what}s"
    told = told if len(wrong) > 1 else f"1 cell is no {what}"
    often = wrong.value_counts(sort=True)[column.name][0]
    return f"{_missing(column)}, {told} ({excerpt(often)})"


def _missing(column: pl.Series) -> str:
    count = column.null_count()
    if not count:
        return ""
    share = 100 * count / len(column)
    return f", {share:.0f} % missing" if share >= 1 else f", {count} missing"


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, int) else repr(value)


# ---------------------------------------------------------------------------------------------------------------------
# What was asked for
# ---------------------------------------------------------------------------------------------------------------------


def _check_asked(
    columns: Sequence[str], target: str | None, given: Mapping[str, str], dropped: Collection[str]
) -> None:
    for name in [*given, *dropped]:
        if name not in columns:
            raise DataError(
                f"There is no column {name!r}{nearest(name, columns)}; the columns are {_listed(list(columns))}.",
                "M105",
            )
        if name == target:
            raise DataError(
                f"{name!r} is the column to predict: it has a task, not a kind, and cannot be left out.", "M604"
            )
        if name in given and name in dropped:
            raise DataError(
                f"The column {name!r} is to be left out and to be {given[name]}: ask for one of the two.", "M604"
            )
    for name, kind in given.items():
        if kind not in USED:
            raise DataError(
                f"{kind!r}, asked for the column {name!r}, is not a kind{nearest(kind, USED)}; the kinds are"
                f" {', '.join(USED)}.",
                "M604",
            )


def _as_asked(given: pl.Series, name: str) -> Kind:
    """A kind that was asked for, if a column can be of it; what never changes is left out all the same."""
    column = without_nan(given)
    inferred, dtype, texts = _kind(column), column.dtype, column.dtype in TEXTS
    if inferred.name in (name, "constant"):
        return inferred
    form: Form | None = None
    if inferred.name == "other":
        raise DataError(f"The column {column.name!r} is of {dtype}, which cannot be {name}: leave it out.", "M604")
    if name == "numeric" and not (dtype.is_numeric() or dtype == pl.Boolean):
        form = numbers_in(column, 0) if texts else None
        if form is None:
            raise _impossible(column, name, "a number")
    if name == "date":
        form = dates_in(column, 0) if texts else None
        compact = Dates("compact")
        if form is None and (texts or dtype.is_numeric()):
            whole = column.cast(pl.String if texts else pl.Int64, strict=False)
            read = compact.parse(whole).count()
            form = replace(compact, lenient=read < column.count()) if read else None
        if form is None:
            raise _impossible(column, name, "a date")
    if name == "nominal" and dtype == pl.String:
        form = booleans_of(column)
    if name == "molecule":
        wrong = unreadable(column.cast(pl.String).fill_null("").to_list())
        if wrong is not None:
            raise _impossible(column, name, "a molecule as SMILES", wrong)
    gaps = _gaps(column.cast(pl.String), form) if isinstance(form, Numbers | Dates) else _missing(column)
    return Kind(cast(Name, name), f"as asked{f', {form}' if form else ''}{gaps}", form)


def _impossible(column: pl.Series, name: str, expected: str, row: int | None = None) -> DataError:
    row = int(column.is_not_null().arg_true()[0]) if row is None else row
    return DataError(
        f"The column {column.name!r} cannot be {name}, as was asked: row {row} is {shown(column[row])}, not {expected}."
        " Ask for another kind, or leave the column out.",
        "M604",
    )


# ---------------------------------------------------------------------------------------------------------------------
# One form for training and prediction
# ---------------------------------------------------------------------------------------------------------------------


def clean(frame: pl.DataFrame, kinds: Mapping[str, Kind]) -> pl.DataFrame:
    """The columns that are used, in the order of ``kinds``: numbers and dates (as days since 1970) as Float64,
    categories as text, texts and sequences as they are written.

    A category is written as a number would be, "01" and 1.0 as "1", and TRUE as "true": what a file's column is read as
    depends on its other rows, what a category is must not.
    """
    used = {name: kind for name, kind in kinds.items() if kind.used}
    absent = [name for name in used if name not in frame.columns]
    if absent:
        told = ", ".join(f"{name!r}{nearest(name, frame.columns)}" for name in absent)
        alone = (
            " It has only one column: is its delimiter tab, semicolon, bar or comma?"
            if frame.width == 1 < len(used)
            else ""
        )
        raise DataError(
            f"The table lacks {len(absent)} column(s) that the model was trained on: {told}. It has"
            f" {_listed(frame.columns)}.{alone}",
            "M602",
        )
    return pl.DataFrame([CONVERSIONS[kind.name](frame.get_column(name), kind.form) for name, kind in used.items()])


def conform(frame: pl.DataFrame, kinds: Mapping[str, Kind]) -> tuple[pl.DataFrame, list[str]]:
    """A later table in the form of the training table, and the names of the columns that training did not have."""
    return clean(frame, kinds), [name for name in frame.columns if name not in kinds]


def _listed(names: list[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
