"""The plan follows the time and the speed by steps, not by their last digits."""

from __future__ import annotations

from typing import Any

import pytest

from mercer.native.speed import Speed
from mercer.tabular import plan
from mercer.tabular.plan import Plan

SECONDS = [0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 200.0, 600.0, 3600.0]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The plan on a machine of so many operations a second."""

    def of(rate: float, n: int = 10**6, columns: int = 20, outputs: int = 1, seconds: float = 60.0) -> Plan:
        monkeypatch.setattr(plan, "speed", lambda workers: Speed(rate, rate, rate, 1e9, 1e9, workers))
        return Plan.of(n, columns, outputs, seconds, None)

    return of


@pytest.mark.parametrize("n", [50, 2000, 20_000, 10**6])
def test_nearly_equal_speeds_have_the_same_plan(at: Any, n: int) -> None:
    for power in (-3, 0, 3):
        plans = {at(factor * plan._REFERENCE * 2.0**power, n) for factor in (0.75, 0.9, 1.0, 1.1, 1.35)}
        assert len(plans) == 1
    assert at(2.0**34) != at(2.0**40)


def test_nearly_equal_times_have_the_same_rows(at: Any) -> None:
    found = [at(2.0**37, seconds=s) for s in (60.0, 60.5, 61.0)]
    assert len({(p.first, p.second, p.folds, p.exact, p.centers) for p in found}) == 1


@pytest.mark.parametrize("n", [100, 1500, 10**6])
@pytest.mark.parametrize("rate", [2.0**33, 2.0**37, 2.0**41])
def test_more_time_is_never_less_work(at: Any, n: int, rate: float) -> None:
    plans = [at(rate, n, seconds=s) for s in SECONDS]
    for name in ("first", "second", "folds", "exact", "centers", "deadline"):
        values = [getattr(p, name) for p in plans]
        assert values == sorted(values), name
    if n > 1000:
        assert plans[0].second < plans[-1].second or plans[0].folds < plans[-1].folds


def test_a_faster_machine_and_less_to_do_are_more_rows(at: Any) -> None:
    slow, fast = at(2.0**35), at(2.0**39)
    assert slow.second < fast.second
    assert slow.exact < fast.exact
    wide, many = at(2.0**37, columns=3000), at(2.0**37, outputs=200)
    assert max(wide.second, many.second) < at(2.0**37).second


@pytest.mark.parametrize("n", [10, 300, 5000])
def test_no_more_rows_than_there_are(at: Any, n: int) -> None:
    for seconds in SECONDS:
        found = at(2.0**37, n, seconds=seconds)
        assert 0 < found.first <= n
        assert found.first <= found.second <= n or found.second == n
        assert found.deadline > seconds


def test_few_rows_have_folds_and_many_are_held_out_once(at: Any) -> None:
    assert at(2.0**37, 1000).folds == 5
    assert at(2.0**37, 10**6).folds == 1
