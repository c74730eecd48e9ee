"""Cells as people write them: every form with literal values, and written numbers and dates that read back the same."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.data.cell_dates import Dates
from mercer.data.cell_numbers import Numbers
from mercer.data.cells import Booleans, dates_in, form_of, numbers_in


def _column(*cells: str | None) -> pl.Series:
    return pl.Series("c", cells, dtype=pl.String)


def _since_1970(moment: dt.datetime) -> float:
    return (moment - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1)


NUMBERS: list[tuple[list[str], list[float], Numbers]] = [
    (["$1,234.50", "$12"], [1234.5, 12], Numbers(".", ",", "$")),
    (["€ 5", "-€ 7.5", "€-8"], [5, -7.5, -8], Numbers(before="€")),
    (["5 USD", "1,000,000 usd"], [5, 1e6], Numbers(".", ",", after="usd")),
    (["EUR 3,50", "EUR 1.234,00"], [3.5, 1234], Numbers(",", ".", "EUR")),
    (["£3", "¥4", "£5"], [], Numbers()),  # two currencies, and neither in nine of ten cells
    (["R$ 1.234,56", "R$ 2"], [1234.56, 2], Numbers(",", ".", "R$")),
    (["3.1%", "4 %", "5"], [3.1, 4, 5], Numbers(after="%")),
    (["3,14", "2,7183"], [3.14, 2.7183], Numbers(",")),
    (["1.234,50", "7"], [1234.5, 7], Numbers(",", ".")),
    (["1,234", "2,345"], [1234, 2345], Numbers(".", ",")),
    (["1,234", "2,345", "3,5"], [1.234, 2.345, 3.5], Numbers(",")),
    (["0,123", "2,345"], [0.123, 2.345], Numbers(",")),
    (["1.234", "2.345"], [1.234, 2.345], Numbers()),
    (["1.234", "1.234.567"], [1234, 1234567], Numbers(",", ".")),
    (["1 234,5", "12\u00a0345", "9\u202f876"], [1234.5, 12345, 9876], Numbers(",", " ")),
    (["1 234.5", "12"], [1234.5, 12], Numbers(".", " ")),
    (["1'234.5", "1’000"], [1234.5, 1000], Numbers(".", "'")),
    (["12,34,567", "1,000"], [1234567, 1000], Numbers(".", ",")),
    (["12 kg", "3.4KG", "5"], [12, 3.4, 5], Numbers(after="kg")),
    (["85 m2", "90.5 m²"], [85, 90.5], Numbers(after="m²")),
    (["20 °C", "-3.5 °C"], [20, -3.5], Numbers(after="°C")),
    (["5 km/h", "120 km/h"], [5, 120], Numbers(after="km/h")),
    (["1200 sq ft", "900 sq ft"], [1200, 900], Numbers(after="sq ft")),
    (["12 kg", "500 g"], [], Numbers()),
    (["10x20", "30x40"], [], Numbers()),
    (["(1,200)", "35"], [-1200, 35], Numbers(".", ",")),
    (["($1,200)", "$(5)", "$35"], [-1200, -5, 35], Numbers(".", ",", "$")),
    (["+5", "−4", "–3", "-2"], [5, -4, -3, -2], Numbers()),
    (["1e3", "2.5E-2", ".5", "5."], [1000, 0.025, 0.5, 5], Numbers()),
    (["-$-5", "--4"], [], Numbers()),
    (["007", "012"], [], Numbers()),
    (["192.168.0.1", "10.0.0.255"], [], Numbers()),
    (["A1", "B2"], [], Numbers()),
]


@pytest.mark.parametrize(("cells", "values", "form"), NUMBERS, ids=[case[0][0] for case in NUMBERS])
def test_numbers(cells: list[str], values: list[float], form: Numbers) -> None:
    found = form_of(_column(*cells))
    if not values:
        assert found is None
        return
    assert isinstance(found, Numbers)
    assert (found.decimal, found.thousands) == (form.decimal, form.thousands)
    assert (found.before, found.after.lower()) == (form.before, form.after.lower())
    assert found.parse(_column(*cells, None)).to_list() == [*values, None]
    assert not found.lenient


FEBRUARY = 19782.0  # 2024-02-29, by the calendar of Unix: date -d 2024-02-29 +%s is 86400 times that
DATES: list[tuple[list[str], list[float], str, bool]] = [
    (["2024-02-29", "2024-02-29 12:00"], [FEBRUARY, FEBRUARY + 0.5], "ymd", False),
    (["2024-02-29T06:00:00Z", "2024-02-29T06:00:00+02:00"], [FEBRUARY + 0.25] * 2, "ymd", False),
    (["2024-02-29 06:00:00.000", "2024-02-29T06:00:00.000000-0500"], [FEBRUARY + 0.25] * 2, "ymd", False),
    (["2024/02/29", "2024/2/9"], [FEBRUARY, FEBRUARY - 20], "ymd", False),
    (["29.02.2024", "1.3.2024"], [FEBRUARY, FEBRUARY + 1], "dmy", False),
    (["01.02.2024", "02.02.2024"], [FEBRUARY - 28, FEBRUARY - 27], "dmy", False),
    (["29.02.24", "28.02.24 18:00"], [FEBRUARY, FEBRUARY - 0.25], "dmy", False),
    (["01.01.69", "01.01.70", "31.12.68"], [-365, 0, 36159], "dmy", False),
    (["29/02/2024", "01/03/2024"], [FEBRUARY, FEBRUARY + 1], "dmy", False),
    (["02/29/2024", "03/01/2024"], [FEBRUARY, FEBRUARY + 1], "mdy", False),
    (["03/01/2024", "03/02/2024"], [FEBRUARY + 1, FEBRUARY + 2], "mdy", True),
    (["2/29/24 6:00 PM", "2/29/24 12:00 AM"], [FEBRUARY + 0.75, FEBRUARY], "mdy", False),
    (["2/29/2024 12:00\u202fp.m.", "2/28/2024, 06:00 am"], [FEBRUARY + 0.5, FEBRUARY - 0.75], "mdy", False),
    (["29-02-2024", "01-03-2024"], [FEBRUARY, FEBRUARY + 1], "dmy", False),
    (["01-03-2024", "02-03-2024"], [FEBRUARY + 1, FEBRUARY + 2], "dmy", True),
    (["29 Feb 2024", "1 March 2024", "29-FEB-24"], [FEBRUARY, FEBRUARY + 1, FEBRUARY], "dmy", False),
    (["Thu, 29 Feb 2024 06:00:00 GMT", "1st Mar 2024"], [FEBRUARY + 0.25, FEBRUARY + 1], "dmy", False),
    (["Feb 29, 2024", "March 1 2024", "Sept. 1, 2024"], [FEBRUARY, FEBRUARY + 1, FEBRUARY + 185], "mdy", False),
    (["06:00", "18:00:00", "6:00 PM"], [0.25, 0.75, 0.75], "time", False),
]


@pytest.mark.parametrize(("cells", "days", "order", "assumed"), DATES, ids=[case[0][0] for case in DATES])
def test_dates(cells: list[str], days: list[float], order: str, assumed: bool) -> None:
    found = form_of(_column(*cells))
    assert found == Dates(order, assumed)  # type: ignore[arg-type]
    assert found.parse(_column(*cells, None)).to_list() == [*days, None]
    assert ("assumed" in str(found)) == assumed


@pytest.mark.parametrize("cell", ["2024-02-30", "31.11.2024", "13/13/2024", "25:00", "13:00 PM", "1.2.3", "20240229"])
def test_what_is_no_date(cell: str) -> None:
    assert dates_in(_column(cell, cell)) is None


def test_compact_dates_are_read_where_they_are_known_to_be_dates() -> None:
    form = Dates("compact")
    assert form.parse(_column("20240229", "20240230", "x")).to_list() == [FEBRUARY, None, None]
    assert form.parse(pl.Series([20240229, None])).to_list() == [FEBRUARY, None]


@pytest.mark.parametrize(
    ("cells", "form", "read"),
    [
        (["Yes", "no", "YES"], Booleans("yes", "no"), ["yes", "no", "yes"]),
        (["Y", "n", "Yes", "NO"], Booleans("yes", "no"), ["yes", "no", "yes", "no"]),
        (["y", "N"], Booleans("y", "n"), ["y", "n"]),
        (["TRUE", "False"], Booleans("true", "false"), ["true", "false"]),
        (["T", "f"], Booleans("t", "f"), ["t", "f"]),
        (["On", "off"], Booleans("on", "off"), ["on", "off"]),
        (["yes", "no", "maybe"], None, []),
        (["y", "yes"], None, []),
    ],
)
def test_booleans(cells: list[str], form: Booleans | None, read: list[str]) -> None:
    assert form_of(_column(*cells)) == form
    assert form is None or form.parse(_column(*cells, None, "maybe")).to_list() == [*read, None, "maybe"]


PLENTY = [str(i) for i in range(97)]


@pytest.mark.parametrize(
    ("cells", "lenient"),
    [
        ([*PLENTY, ">5", "unknown", "about 7"], True),
        ([*PLENTY, *["unknown"] * 60], True),  # words for a gap do not count against nine of ten,
        ([*PLENTY, *["unknown"] * 98], None),  # as long as half of the cells are numbers
        ([*PLENTY, *["many"] * 10], True),
        ([*PLENTY, *["many"] * 11], None),
        ([*["0"] * 97, "a", "b", "c"], None),  # codes
        ([*["1", "2", "3"] * 30, "unknown"], True),
        ([*["1", "2", "3"] * 30, "A"], None),
        ([*["5"] * 30, "unknown"], None),
        ([*PLENTY, "", " "], False),  # an empty cell is a gap in any form
        ([*PLENTY, "007"], None),
        ([*(str(i) for i in range(300)), *(f"word {i}x" for i in range(20))], True),
        ([*(str(i) for i in range(300)), *(f"word {i}x" for i in range(21))], None),
    ],
)
def test_how_many_cells_may_be_no_numbers(cells: list[str], lenient: bool | None) -> None:
    found = form_of(_column(*cells))
    assert (None if found is None else found.lenient) is lenient  # type: ignore[union-attr]


def test_any_share_is_enough_where_one_asks() -> None:
    assert numbers_in(_column("3 kg", "x", "y"), 0) == Numbers(after="kg", lenient=True)
    assert numbers_in(_column("007", "8"), 0) == Numbers()
    assert numbers_in(_column("x", "y"), 0) is None
    assert dates_in(_column("1.2.2024", "x", "y"), 0) == Dates("dmy", lenient=True)
    assert form_of(_column()) is form_of(_column(None, " ")) is None


@pytest.mark.thorough
def test_a_long_column_is_known_by_some_of_it_and_read_by_all() -> None:
    """One "3,14" in a hundred thousand cells says that commas are decimal; one day above 12, which part is the day."""
    n = 100_000
    thousands = pl.Series([f"{i % 9 + 1},{i % 900 + 100}" for i in range(n)])
    assert form_of(thousands) == Numbers(".", ",")
    assert form_of(thousands.set(pl.Series(range(n)) == 777, "3,14")) == Numbers(",")
    days = pl.Series([f"{i % 12 + 1}/{i % 11 + 1}/2024" for i in range(n)])
    assert form_of(days) == Dates("mdy", assumed=True)
    assert form_of(days.set(pl.Series(range(n)) == 777, "13/1/2024")) == Dates("dmy")
    assert form_of(pl.Series([f"no {i}" for i in range(n)])) is None


# -- written and read back -------------------------------------------------------------------------------------------

_amounts = st.lists(st.integers(-(10**11), 10**11), min_size=1, max_size=20)


def _written(cents: int, decimal: str, thousands: str, before: str, after: str, parentheses: bool) -> str:
    whole, rest = divmod(abs(cents), 100)
    body = before + f"{whole:,}".replace(",", thousands) + f"{decimal}{rest:02d}" + after
    return body if cents >= 0 else f"({body})" if parentheses else f"−{body}"


@pytest.mark.thorough
@given(
    _amounts,
    st.sampled_from([(d, t) for d in ".," for t in ("", " ", "\u202f", "'", ".", ",") if d != t]),
    st.sampled_from([("", ""), ("$", ""), ("EUR ", ""), ("", "%"), ("", " kg"), ("", "\u00a0€")]),
    st.booleans(),
)
def test_a_number_in_any_form_reads_back(
    cents: list[int], marks: tuple[str, str], around: tuple[str, str], parentheses: bool
) -> None:
    cells = _column(*(_written(c, *marks, *around, parentheses) for c in cents))
    found = form_of(cells)
    assert isinstance(found, Numbers)
    assert found.parse(cells).to_list() == [c / 100 for c in cents]
    # a later column is read by the form of the first, also where its own would be another
    later = _column(_written(123456, *marks, *around, parentheses))
    if marks[1] == "" or max(map(abs, cents)) >= 10**5:
        assert found.parse(later).to_list() == [1234.56]


@pytest.mark.thorough
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.sampled_from(["", " cm"]))
def test_what_a_program_writes_reads_back(values: list[float], unit: str) -> None:
    cells = _column(*(f"{value!r}{unit}" for value in values))
    assert numbers_in(cells).parse(cells).to_list() == values  # type: ignore[union-attr]


_moments = st.lists(
    st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2068, 12, 31)).map(lambda m: m.replace(microsecond=0)),
    min_size=1,
    max_size=20,
)


@pytest.mark.thorough
@given(
    _moments,
    st.sampled_from(["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%d %b %Y", "%d-%b-%y", "%b %d, %Y", "%B %d %Y"]),
    st.sampled_from(["", "%H:%M", "%H:%M:%S", "%H:%M:%S.000", "%I:%M %p", "%I:%M:%S%p"]),
)
def test_a_date_in_any_form_reads_back(moments: list[dt.datetime], date: str, time: str) -> None:
    seconds, hours = "%S" in time, time != ""
    moments = [m.replace(second=m.second if seconds else 0) if hours else m.replace(hour=0, minute=0, second=0)
               for m in moments]  # fmt: skip
    cells = _column(*(m.strftime(f"{date} {time}".strip()) for m in moments))
    found = form_of(cells)
    assert isinstance(found, Dates)
    assert found.parse(cells).to_list() == pytest.approx([_since_1970(m) for m in moments], abs=1e-9)


@pytest.mark.thorough
@given(_moments, st.sampled_from([("%d/%m/%Y", "dmy"), ("%m/%d/%Y", "mdy"), ("%d-%m-%y", "dmy")]))
def test_days_and_months_are_told_apart_by_the_whole_column(moments: list[dt.datetime], form: tuple[str, Any]) -> None:
    midnights = [m.replace(hour=0, minute=0, second=0) for m in [*moments, dt.datetime(2024, 5, 31)]]
    cells = _column(*(m.strftime(form[0]) for m in midnights))
    assert form_of(cells) == Dates(form[1])
    assert Dates(form[1]).parse(cells).to_list() == [_since_1970(m) for m in midnights]
