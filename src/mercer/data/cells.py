"""What the cells of a column of texts are written as, and the same numbers or dates from every later column.

``form_of`` looks at all texts of a column and finds ``Numbers``, ``Dates`` or ``Booleans``: plain values that are kept
with a model. A few cells may be something else:

- Nine tenths of the cells must be of the form; words for a gap ("unknown", "n.a.", "-") do not count, as long as half
  of the cells are.
- What is neither of the form nor such a word are few different texts, at most 20 or one for 20 rows, and there are
  more than 10 different numbers beside them: 0, a, b, c are codes, whatever the share of 0.

The form is then ``lenient``: those cells are gaps, in this column and in every later one. Whole numbers with 0 before
other digits, "007", are codes: a column of texts that has one is not of numbers, unless one asks for any share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from mercer.data.cell_dates import Dates, dates_of
from mercer.data.cell_numbers import Numbers, numbers_of, plain

SHARE = 0.9  # of the cells that are of the form
_ODD, _ODD_SHARE = 20, 0.05  # different texts that are not
_FEW = 10  # different numbers of what may be codes
_SAMPLE = 1000  # cells, by which a column of words is known at once
GAPS = [
    "na", "n/a", "n.a.", "n.a", "nan", "nat", "<na>", "null", "(null)", "none", "nil", "undefined", "unknown",
    "not known", "missing", "not available", "unavailable", "not applicable", "not given", "no data", "tbd", "tba", "?",
    "??", "-", "--", "---", ".", "..", "...", "#n/a", "#na", "#null!", "#div/0!", "#value!", "#ref!", "#num!",
]  # fmt: skip
_PAIRS = [("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("on", "off")]


@dataclass(frozen=True)
class Booleans:
    """Yes or no, in any of these words and any case; ``true`` and ``false`` are the two that a column is written as."""

    true: str = "true"
    false: str = "false"

    def parse(self, column: pl.Series) -> pl.Series:
        """The two words for all that mean the same; other texts as they are."""
        texts = plain(column)
        words = {word: self.true for word, _ in _PAIRS} | {word: self.false for _, word in _PAIRS}
        read = texts.str.to_lowercase().replace_strict(list(words), list(words.values()), default=None)
        return read.zip_with(read.is_not_null(), column.cast(pl.String)).alias(column.name)

    def __str__(self) -> str:
        return f"{self.true} or {self.false}"


Form = Numbers | Dates | Booleans
_Written = TypeVar("_Written", Numbers, Dates)


def form_of(column: pl.Series, share: float = SHARE) -> Form | None:
    """What the texts of a column are written as; None where they are texts and nothing else."""
    return booleans_of(column) or numbers_in(column, share) or dates_in(column, share)


def booleans_of(column: pl.Series) -> Booleans | None:
    """Two words for yes and no, in any case and with their one-letter forms, if there is nothing else in a column."""
    few = present(column).unique(maintain_order=True).head(_ODD).str.to_lowercase()
    both = [pair for pair in _PAIRS if few.is_in(pair).any()]
    words = [word for pair in both for word in pair]
    if not both or not few.is_in(words).all() or not present(column).str.to_lowercase().is_in(words).all():
        return None
    if not few.is_in([word for word, _ in both]).any() or not few.is_in([word for _, word in both]).any():
        return None  # y and yes, without a no
    return Booleans(*both[0])


def numbers_in(column: pl.Series, share: float = SHARE) -> Numbers | None:
    """How the numbers of a column are written, if at least such a share of its cells are numbers; of share 0, if any
    is.
    """
    texts = present(column)
    codes = share > 0 and bool(texts.str.contains("^0[0-9]+$").any())
    return None if codes else _found(numbers_of, texts, share)


def dates_in(column: pl.Series, share: float = SHARE) -> Dates | None:
    """How the dates of a column are written, if at least such a share of its cells are dates; of share 0, if any is."""
    return _found(dates_of, present(column), share)


def present(column: pl.Series) -> pl.Series:
    """The cells that hold something, without blanks around it."""
    texts = plain(column)
    return texts.filter(texts != "")


def _found(find: Callable[[pl.Series], _Written | None], texts: pl.Series, share: float) -> _Written | None:
    """The form of texts, which ``find`` looks for; in a long column only if some are of a form."""
    if share > 0 and len(texts) > 2 * _SAMPLE:
        some = texts.sample(_SAMPLE, seed=0)
        maybe = find(some)
        if maybe is None or maybe.parse(some).count() < share / 2 * len(some):
            return None
    found = find(texts)
    return None if found is None else _settled(found, texts, share)


def _settled(form: _Written, texts: pl.Series, share: float) -> _Written | None:
    """The form, lenient where some cells are not of it, or None if they are too many."""
    values = form.parse(texts)
    wrong = texts.filter(values.is_null())
    if not len(wrong):
        return form
    odd = wrong.filter(~wrong.str.to_lowercase().is_in(GAPS))
    read = values.count()
    if share > 0:
        different = values.drop_nulls().n_unique()
        if 2 * read < len(texts) or read < share * (read + len(odd)) or different < 2:
            return None
        if len(odd) and (odd.n_unique() > max(_ODD, _ODD_SHARE * len(texts)) or different <= _FEW):
            return None
    return replace(form, lenient=True) if read else None
