"""Training what was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import mercer as mc
from mercer.tabular.plan import Plan
from mercer.tabular.training import some
from tests.tabular.tables import curves, however_busy


@pytest.fixture(autouse=True)
def _however_busy() -> Iterator[None]:
    yield from however_busy()


def test_some_rows() -> None:
    rows = np.arange(10, 60)
    found = some(rows, 20, np.random.default_rng(0))
    assert len(found) == 20
    assert set(found) <= set(rows)
    assert (np.diff(found) > 0).all()
    assert some(rows, 50, np.random.default_rng(0)).tolist() == rows.tolist()


@pytest.mark.thorough
def test_weights_sum_to_1_and_columns_that_say_nothing_are_worth_nothing() -> None:
    model = mc.learn(curves(150), "y", seconds=1.0, random_state=0)
    assert sum(member.weight for member in model.members_) == pytest.approx(1)
    worth = model.summary_["importance"]
    assert set(worth) == {"a", "b", "c"}
    assert min(worth["a"], worth["b"]) > 10 * abs(worth["c"])


@pytest.mark.thorough
def test_many_rows_are_a_sum_over_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last fit cannot be exact, and it is said."""
    planned = Plan.of
    monkeypatch.setattr(Plan, "of", lambda *args: replace(planned(*args), exact=20, centers=60))
    model = mc.learn(curves(200), "y", seconds=1.0, random_state=0)
    assert any("as a sum over" in note for note in model.summary_["notes"])
    later = curves(100, seed=1)
    assert -model.score(later) < 0.5 * later["y"].std()
