"""Numbers as people write them: "$1,234.50", "3,1 %", "12 kg", "(1 200)", "−4".

``numbers_of`` looks at a whole column and says how its numbers are written, ``Numbers.parse`` reads that column and
every later one so. A column is judged by the shapes of its cells, the texts with each digit as 9: there are few in a
column of numbers, however many rows it has. The rules:

- A mark is decimal or between thousands; of the eight pairs of marks the one that reads most cells is taken, at a tie
  the decimal point. So "1,234" in every cell is a thousand, with one "3,14" or "0,123" among them it is not.
- One unit or currency, the one that most numbers carry, is read and left off; a number without it is taken to be of
  it. Units are not converted: a number in another one is none.
- 5 % is the number 5: what is left off is the unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

_STYLES = [(".", ""), (".", ","), (".", " "), (".", "'"), (",", ""), (",", "."), (",", " "), (",", "'")]
_CURRENCY = (
    r"(?:[A-Z]{0,3}\p{Sc}|(?i:USD|EUR|GBP|JPY|CNY|RMB|CHF|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|KRW|"
    r"SGD|HKD|TRY|RUB|UAH|ILS|THB|Rs\.?|kr\.?|Fr\.))"
)
_UNIT = r"[\p{L}\p{Sc}%‰°″\x22][\p{L}\p{Sc}%‰°″\x22²³·./^ ]{0,11}"
_SHAPE = (
    rf"^[+-]? ?(?P<before>{_CURRENCY})? ?[+-]? ?"
    rf"(?P<body>[.,]?[09](?:[09.,' ]*[09])?[.,]?(?:[eE][+-]?[09]+)?) ?(?P<after>{_UNIT})?$"
)


@dataclass(frozen=True)
class Numbers:
    """Numbers with such a decimal mark and one between thousands, after ``before`` and before ``after``; ``lenient``
    where what is no number is a gap, and not an error.
    """

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""
    lenient: bool = False

    def parse(self, column: pl.Series) -> pl.Series:
        """The numbers of a column of texts as Float64, null where a text is none of this form."""
        before, after = (rf"(?:(?i:{re.escape(mark)}))?" if mark else "" for mark in (self.before, self.after))
        pattern = rf"^([+-]?) ?{before} ?([+-]?) ?({_body(self.decimal, self.thousands, '[0-9]', '[1-9]')}) ?{after}$"
        parts = _normal(column).str.extract_groups(pattern).struct.unnest()
        one, two, body = parts
        if self.thousands:
            body = body.str.replace_all(self.thousands, "", literal=True)
        if self.decimal != ".":
            body = body.str.replace(self.decimal, ".", literal=True)
        numbers = body.cast(pl.Float64, strict=False)
        signs = one + two
        # one sign at most: "-$-5" is nothing
        read = pl.when(signs == "-").then(-numbers).when(signs.str.len_chars() < 2).then(numbers)
        return pl.select(read).to_series().alias(column.name)

    @property
    def marked(self) -> bool:
        """Whether there is more to it than digits and a decimal point."""
        return self != Numbers(lenient=self.lenient)

    def __str__(self) -> str:
        unit = self.before or self.after
        return f"numbers{f' in {unit}' if unit else ''}{' with decimal commas' if self.decimal == ',' else ''}"


def numbers_of(texts: pl.Series, comma_first: bool = False) -> Numbers | None:
    """How the numbers among texts are written, by most of them; None where there are none.

    ``comma_first`` where commas are known to be decimal, as in a file with semicolons between its fields.
    """
    normal = _normal(texts)
    nines = normal.str.replace_all("[0-9]", "9")
    # a first 0 is kept: no thousands begin with it
    shapes = nines.str.replace("9", "0", literal=True).zip_with(normal.str.contains("^[^0-9]*0"), nines)
    counts = shapes.value_counts(name="count")
    found = counts.select(pl.col(texts.name).str.extract_groups(_SHAPE).struct.unnest(), "count")
    found = found.filter(pl.col("body").is_not_null()).with_columns(pl.col("before", "after").fill_null(""))
    if not found.height:
        return None
    before, after = (_carried(found, side) for side in ("before", "after"))
    bodies = found.filter(_is_or_lacks("before", before) & _is_or_lacks("after", after))
    styles = sorted(_STYLES, key=lambda style: style != (".", "") and style[0] == ".") if comma_first else _STYLES
    read = [
        int(bodies.filter(pl.col("body").str.contains(f"^(?:{_body(*style, '[09]', '9')})$"))["count"].sum())
        for style in styles
    ]
    best = max(read)
    return Numbers(*styles[read.index(best)], before, after) if best else None


def _normal(column: pl.Series) -> pl.Series:
    """Texts with one kind of blank, minus and apostrophe, and a minus for the parentheses of accounts."""
    texts = plain(column)
    if texts.str.contains("(", literal=True).any():
        texts = texts.str.replace(r"^([^()0-9]*)\(([^()]*[0-9][^()]*)\)([^()0-9]*)$", "-${1}${2}${3}")
    if texts.str.contains_any(
        ["m2", "m3", "t2", "t3"]
    ).any():  # of square metres and cubic feet, the only digits in units
        for digit, power in (("2", "²"), ("3", "³")):
            texts = texts.str.replace(rf"([0-9] ?(?:\p{{L}}{{0,2}}m|ft)){digit}$", f"${{1}}{power}")
    return texts


def plain(column: pl.Series) -> pl.Series:
    """Texts without blanks around them, with one kind of blank, minus and apostrophe."""
    others = dict.fromkeys("\u00a0\u2007\u2009\u202f\t", " ") | dict.fromkeys("−–", "-") | dict.fromkeys("’‘´", "'")
    return column.cast(pl.String).str.replace_many(list(others), list(others.values())).str.strip_chars()


def _body(decimal: str, thousands: str, digit: str, first: str) -> str:
    """The pattern of a number without sign and unit; ``first`` is a digit other than 0."""
    point = re.escape(decimal)
    body = rf"(?:{digit}+(?:{point}{digit}*)?|{point}{digit}+)(?:[eE][+-]?{digit}+)?"
    if not thousands:
        return body
    mark = re.escape(thousands)
    groups = rf"{first}{digit}{{0,2}}(?:{mark}{digit}{{3}})+"
    if thousands == ",":  # lakh and crore, 12,34,567
        groups = rf"(?:{groups}|{first}{digit}?(?:{mark}{digit}{{2}})+{mark}{digit}{{3}})"
    return rf"{groups}(?:{point}{digit}*)?|{body}"


def _carried(found: pl.DataFrame, side: str) -> str:
    """The mark that at least half of the numbers carry on a side, in any case of its letters; "" where none is."""
    marks = found.group_by(pl.col(side).str.to_lowercase().alias("mark"), maintain_order=True).agg(
        pl.col("count").sum(), pl.col(side).sort_by("count", descending=True).first()
    )
    most = marks.filter(pl.col("mark") != "").sort("count", "mark", descending=[True, False]).head(1)
    return str(most[side][0]) if most.height and 2 * most["count"][0] >= found["count"].sum() else ""


def _is_or_lacks(side: str, mark: str) -> pl.Expr:
    return pl.col(side).str.to_lowercase().is_in(["", mark.lower()])
