"""What each column of a table is to a kernel: numbers to measure distances by, categories to compare, texts, molecules,
or nothing of use.

``infer_kinds`` decides once, on the training table, and says why in words; ``clean`` and ``conform`` bring that table
and every later one into the same form: numbers and dates as Float64, categories as text, missing values as null.

The rule for whole numbers: they are numbers unless they look like codes, that is, have at most 10 distinct values, 10
rows or more for each, and either a name that says so (ends in code, type, class, category, group, zone, zip …) or
values of the same three digits or more at uneven steps (101, 250, 930). Order is worth keeping where it may mean
something: a Gaussian over 1, 2, 3 can still tell the three apart.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import polars as pl

from mercer.data import DataError
from mercer.data.molecules import are_molecules, unreadable

Name = Literal["numeric", "nominal", "date", "text", "sequence", "molecule", "constant", "identifier", "other"]
USED = ("numeric", "nominal", "date", "text", "sequence", "molecule")
_FEW = 10  # distinct values of what may be a code, and rows for each
_CLASSES = 20  # distinct whole numbers of what may be a class
_COUNTING = 10  # rows above which 1, 2, 3, … is taken for a count of the rows
_WORDS, _LETTERS = 4, 40  # on average, of what is a text rather than a name
_IDENTIFIER = re.compile(r"(?i:(^|[\s_.-])(id|idx|index|key|uuid|guid|row)$)|[a-z]I[dD]$|^Unnamed: 0$")
_CODE = re.compile(
    r"(code|type|class|category|cat|group|cluster|zone|zip|zipcode|postcode|region|status|flag|kind|label)$"
)
_SMILES = re.compile(r"(?i)smiles|molecule|compound")
_LOOKED_AT = 50  # texts that may be molecules
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Kind:
    """What a column is, and the reason in words; ``used`` says whether it goes to the kernel."""

    name: Name
    reason: str

    @property
    def used(self) -> bool:
        return self.name in USED


class Task(NamedTuple):
    """What a target asks for, and the reason in words."""

    name: Literal["classification", "regression"]
    reason: str


# ---------------------------------------------------------------------------------------------------------------------
# Deciding
# ---------------------------------------------------------------------------------------------------------------------


def infer_kinds(frame: pl.DataFrame, target: str | None = None) -> dict[str, Kind]:
    """The kind of every column but the target, in the order of the table."""
    if target is not None and target not in frame.columns:
        raise DataError(
            f"There is no column {target!r} to predict{_nearest(target, frame.columns)}; the columns are"
            f" {_listed(frame.columns)}."
        )
    return {name: _kind(frame.get_column(name)) for name in frame.columns if name != target}


def task_of(column: pl.Series) -> Task:
    """Classification for texts, booleans and few whole numbers; regression for other numbers.

    Few are two, or at most 20 with five rows for each on average.
    """
    values = _without_nan(column).drop_nulls()
    distinct, dtype = values.n_unique(), values.dtype
    if distinct < 2:
        found = "no value at all" if distinct == 0 else f"one value, {values[0]!r}"
        raise DataError(f"The target {column.name!r} has {found}: there is nothing to learn. Choose another column.")
    if dtype == pl.Boolean:
        return Task("classification", "true or false")
    if dtype.is_numeric():
        if not _are_whole(values):
            return Task("regression", "numbers that are not whole")
        few = distinct == 2 or (distinct <= _CLASSES and len(values) >= 5 * distinct)
        return Task(
            "classification" if few else "regression", f"{distinct} distinct whole numbers in {len(values)} rows"
        )
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return Task("classification", f"{distinct} distinct texts")
    raise DataError(
        f"The target {column.name!r} is of {dtype}: only numbers, texts and booleans can be predicted. Turn it into a"
        " number first."
    )


def _kind(given: pl.Series) -> Kind:
    column = _without_nan(given)
    present, dtype = column.drop_nulls(), column.dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        return Kind("other", f"{dtype}: no kernel for it, left out")
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
        return _kind_of_numbers(column, present, distinct)
    return _kind_of_texts(column, present.cast(pl.String), distinct)


def _kind_of_numbers(column: pl.Series, present: pl.Series, distinct: int) -> Kind:
    if not _are_whole(present):
        return Kind("numeric", f"numbers{_missing(column)}")
    whole = present.cast(pl.Int64, strict=False)
    if distinct == len(column) >= _COUNTING and whole[0] in (0, 1) and bool((whole.diff().drop_nulls() == 1).all()):
        return Kind("identifier", f"counts the rows from {whole[0]}, left out")
    if 10 * distinct >= 9 * len(column) and _is_identifier(column.name):
        return Kind(
            "identifier",
            f"{distinct} different whole numbers in {len(column)} rows, and the name of an identifier, left out",
        )
    span = f"{_shown(present.min())} … {_shown(present.max())}"
    if distinct <= _FEW and len(present) >= _FEW * distinct and _are_codes(column.name, whole.unique().sort()):
        return Kind("nominal", f"codes: {distinct} distinct whole numbers, {span}{_missing(column)}")
    return Kind("numeric", f"whole numbers, {span}{_missing(column)}")


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


def _is_identifier(name: str) -> bool:
    return _IDENTIFIER.search(name) is not None


def _are_whole(values: pl.Series) -> bool:
    if values.dtype.is_integer():
        return True
    real = values.cast(pl.Float64)
    return bool((real.is_finite() & (real == real.floor()) & (real.abs() < 2**53)).all())


def _without_nan(column: pl.Series) -> pl.Series:
    return column.fill_nan(None) if column.dtype.is_float() else column


def _missing(column: pl.Series) -> str:
    count = column.null_count()
    if not count:
        return ""
    share = 100 * count / len(column)
    return f", {share:.0f} % missing" if share >= 1 else f", {count} missing"


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, int) else repr(value)


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
        told = ", ".join(f"{name!r}{_nearest(name, frame.columns)}" for name in absent)
        alone = (
            " It has only one column: is its delimiter tab, semicolon, bar or comma?"
            if frame.width == 1 < len(used)
            else ""
        )
        raise DataError(
            f"The table lacks {len(absent)} column(s) that the model was trained on: {told}. It has"
            f" {_listed(frame.columns)}.{alone}"
        )
    return pl.DataFrame([_CONVERSIONS[kind.name](frame.get_column(name)) for name, kind in used.items()])


def conform(frame: pl.DataFrame, kinds: Mapping[str, Kind]) -> tuple[pl.DataFrame, list[str]]:
    """A later table in the form of the training table, and the names of the columns that training did not have."""
    return clean(frame, kinds), [name for name in frame.columns if name not in kinds]


def _to_numbers(column: pl.Series) -> pl.Series:
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64).fill_nan(None)
    texts = column.cast(pl.String).str.strip_chars() if column.dtype in (pl.String, pl.Categorical, pl.Enum) else None
    if texts is None:
        raise _unexpected(column, 0, "a number")
    numbers = texts.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & texts.is_not_null() & (texts != "")).arg_true()
    if len(wrong):
        raise _unexpected(column, int(wrong[0]), "a number")
    return numbers.fill_nan(None)


def _to_days(column: pl.Series) -> pl.Series:
    dtype = column.dtype
    if dtype == pl.String:
        texts = column.str.strip_chars()
        dates = texts.str.to_date("%Y-%m-%d", strict=False).cast(pl.Datetime("us"))
        dates = dates.zip_with(
            dates.is_not_null(), texts.str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us", strict=False)
        )
        wrong = (dates.is_null() & texts.is_not_null() & (texts != "")).arg_true()
        if len(wrong):
            raise _unexpected(column, int(wrong[0]), "a date such as 2024-02-29")
        return _to_days(dates)
    if not dtype.is_temporal():
        present = column.is_not_null().arg_true()
        if len(present):
            raise _unexpected(column, int(present[0]), "a date such as 2024-02-29")
        return column.cast(pl.Float64)
    if dtype == pl.Date:
        return column.cast(pl.Int32).cast(pl.Float64)
    if dtype == pl.Time:
        return column.cast(pl.Int64).cast(pl.Float64) / (1000 * _DAY)
    if isinstance(dtype, pl.Datetime):
        return column.dt.cast_time_unit("us").cast(pl.Int64).cast(pl.Float64) / _DAY
    return column.dt.total_microseconds().cast(pl.Float64) / _DAY


def _to_texts(column: pl.Series) -> pl.Series:
    column = _without_nan(column)
    if column.dtype.is_numeric() and _are_whole(column.drop_nulls()):
        return column.cast(pl.Int64).cast(pl.String)
    texts = column.cast(pl.String)
    numbers = texts.cast(pl.Float64, strict=False)
    lower = texts.str.to_lowercase()
    whole = numbers.is_finite() & (numbers == numbers.floor()) & (numbers.abs() < 2**53)
    as_whole = pl.when(whole).then(numbers).otherwise(0.0).cast(pl.Int64).cast(pl.String)
    short = pl.when(whole).then(as_whole).when(numbers.is_not_null()).then(numbers.cast(pl.String))
    form = short.when(lower.is_in(["true", "false"])).then(lower).otherwise(texts)
    return pl.select(form).to_series().alias(column.name)


def _as_written(column: pl.Series) -> pl.Series:
    """Texts and sequences; a missing one is empty."""
    return column.cast(pl.String).fill_null("")


def _to_molecules(column: pl.Series) -> pl.Series:
    texts = _as_written(column)
    wrong = unreadable(texts.to_list())
    if wrong is not None:
        raise _unexpected(column, wrong, "a molecule as SMILES")
    return texts


_CONVERSIONS = {
    "numeric": _to_numbers, "nominal": _to_texts, "date": _to_days, "text": _as_written, "sequence": _as_written,
    "molecule": _to_molecules,
}  # fmt: skip


def _unexpected(column: pl.Series, row: int, expected: str) -> DataError:
    value = column[row]
    return DataError(
        f"Row {row}, column {column.name!r} is {value!r}, not {expected}, which the model was trained on in this"
        " column. Correct the value, or leave it empty if it is missing."
    )


def _nearest(name: str, present: list[str]) -> str:
    near = difflib.get_close_matches(name, present, n=1)
    return f" (is it {near[0]!r}?)" if near else ""


def _listed(names: list[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
