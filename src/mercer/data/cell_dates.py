"""Dates as people write them: 2024-02-29T12:30Z, 29.02.2024, 2/29/24 1:30 PM, 29 Feb 2024, 12:30.

``dates_of`` looks at a whole column and says in which order year, month and day stand, ``Dates.parse`` reads that
column and every later one so: as days since 1970 with the fraction of the day. The rules:

- The order that reads most cells is taken: 31/12/2024 anywhere in the column says that days come first in all of it.
- Where both orders read as many, months come first between slashes, as Americans write, and days between hyphens. Such
  a choice is an assumption, and the form says so. Between dots days always come first.
- A year of two digits is one of 1969 … 2068.
- A time is what the clock showed; its zone is read and dropped.
- 20240229 is a date only for who knows that the column is of dates: ``dates_of`` does not find it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from mercer.data.cell_numbers import plain

Order = Literal["ymd", "dmy", "mdy", "compact", "time"]
_DAY = 86_400_000_000  # microseconds
_CENTURY = 69  # years of two digits from here on are of the last one, as in POSIX
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WORD = (
    r"(?P<w>(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? )?"
_Y4, _Y, _M = r"(?P<y>[0-9]{4})", r"(?P<y>[0-9]{4}|[0-9]{2})", r"(?P<m>[0-9]{1,2})"
_D = r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?"
_SIGN, _ANY = r"(?:[-/]|\. ?)", r"(?:[-/]|[.,]{0,2} |\.)"  # between numbers, and beside the name of a month
_TIME = (
    r"(?P<H>[01]?[0-9]|2[0-3]):(?P<M>[0-5][0-9])(?::(?P<S>[0-5][0-9])(?:[.,](?P<f>[0-9]{1,9}))?)?"
    r"(?: ?(?P<p>[ap])\.?m\.?)?(?: ?(?:z|utc|gmt|[+-][0-9]{2}(?::?[0-9]{2})?))?"
)
_DATES = {
    "ymd": [_Y4 + _SIGN + _M + _SIGN + _D, _Y4 + _ANY + _WORD + _ANY + _D],
    "dmy": [_D + _SIGN + _M + _SIGN + _Y, _D + _ANY + _WORD + _ANY + _Y],
    "mdy": [_M + "[-/]" + _D + "[-/]" + _Y, _WORD + _ANY + _D + _ANY + _Y],
    "compact": [r"(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})"],
}


@dataclass(frozen=True)
class Dates:
    """Dates whose parts stand in such an order, with a time after them or without; ``assumed`` where the other order
    of days and months was as possible, ``lenient`` where what is no date is a gap, and not an error.
    """

    order: Order = "ymd"
    assumed: bool = False
    lenient: bool = False

    def parse(self, column: pl.Series) -> pl.Series:
        """The dates of a column of texts (or of whole numbers, yyyymmdd) as days since 1970 in Float64, null where a
        cell is none of this form.
        """
        texts = plain(column)
        if self.order == "time":
            days = _days(_parts(texts, rf"(?i)^{_TIME}$"), dated=False)
        else:
            forms = [rf"(?i)^{_WEEKDAY}{date}(?:(?:t|,? ){_TIME})?$" for date in _DATES[self.order]]
            days = _days(_parts(texts, forms[0]))
            if len(forms) > 1 and (days.is_null() & texts.is_not_null()).any():
                days = days.zip_with(days.is_not_null(), _days(_parts(texts, forms[1])))
        return days.alias(column.name)

    def __str__(self) -> str:
        words = {"ymd": "dates", "dmy": "dates, day first", "mdy": "dates, month first", "compact": "dates yyyymmdd"}
        if self.order == "time":
            return "times of the day"
        other = "day first" if self.order == "mdy" else "month first"
        return f"{words[self.order]}{f' (assumed: {other} is as possible)' if self.assumed else ''}"


def dates_of(texts: pl.Series) -> Dates | None:
    """In which order the parts of the dates among texts stand, by most of them; None where there are none."""
    slashes = 2 * texts.str.contains(r"^[0-9]+/").sum() >= len(texts)
    orders: list[Order] = ["ymd", "mdy", "dmy", "time"] if slashes else ["ymd", "dmy", "mdy", "time"]
    some = texts if len(texts) <= 2000 else texts.sample(1000, seed=0)
    counts: dict[Order, int] = {}
    for order in orders:
        if Dates(order).parse(some).count():  # not all of a long column is read for what none of a sample is
            counts[order] = Dates(order).parse(texts).count()
    if not counts:
        return None
    best = max(counts, key=lambda order: counts[order])
    return Dates(best, assumed=counts.get("dmy") == counts.get("mdy") == counts[best])


def _parts(texts: pl.Series, pattern: str) -> pl.DataFrame:
    parts = texts.str.extract_groups(pattern).struct.unnest()
    return parts.with_columns(pl.lit(None, pl.String).alias(name) for name in "ymwdHMSfp" if name not in parts.columns)


def _days(parts: pl.DataFrame, dated: bool = True) -> pl.Series:
    """Days since 1970 from the texts of year, month (number or word), day, hour, minute, second, fraction, a or p."""
    y, d, H, M, S = (pl.col(name).cast(pl.Int64) for name in "ydHMS")
    word = pl.col("w").str.slice(0, 3).str.to_lowercase()
    m = pl.col("m").cast(pl.Int64).fill_null(word.replace_strict(_MONTHS, range(1, 13), default=None))
    short = pl.col("y").str.len_chars() == 2
    y = y + pl.when(short & (y >= _CENTURY)).then(1900).when(short).then(2000).otherwise(0)
    date = pl.format("{}-{}-{}", y, m, d).str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64)
    half = pl.col("p").str.to_lowercase()
    # 12:30 AM is half past midnight; 13:00 PM is nothing
    H = pl.when(half.is_null()).then(H).when(H <= 12).then(H % 12 + 12 * (half == "p").cast(pl.Int64))
    fraction = (pl.col("f") + "000000").str.slice(0, 6).cast(pl.Int64)
    clock = ((H * 60 + M) * 60 + S.fill_null(0)) * 1_000_000 + fraction.fill_null(0)
    day = date if dated else pl.lit(0, pl.Int64)
    # without a time it is midnight; with one that cannot be, nothing
    since = day * _DAY + (pl.when(pl.col("H").is_null()).then(0).otherwise(clock) if dated else clock)
    return parts.select((since.cast(pl.Float64) / _DAY).alias("days")).to_series()
