"""The search: equal seeds, interrupts, what is left out, and scores that can be believed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import mercer as mc
from mercer.tabular.families import OfCells, OfMetric
from tests.tabular.tables import curves, flowers, however_busy

FRAME = curves()


@pytest.fixture(autouse=True)
def _however_busy(request: pytest.FixtureRequest) -> Iterator[None]:
    """Quick, but for the tests of the whole search."""
    yield from however_busy(request.function not in (test_equal_seeds_give_equal_models, test_what_is_reported))


def interrupted(stage: str, after: int = 0) -> Any:
    """What a user does who presses Ctrl-C in that stage, after so many candidates of it."""
    seen = [0]

    def report(state: dict[str, Any]) -> None:
        if state["stage"] == stage:
            seen[0] += 1
            if seen[0] > after:
                raise KeyboardInterrupt

    return report


@pytest.mark.thorough
def test_equal_seeds_give_equal_models() -> None:
    a, b = (mc.learn(FRAME, "y", seconds=1.0, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(a.predict(FRAME), b.predict(FRAME))
    first, second = ({k: v for k, v in m.summary_.items() if k not in ("seconds", "ended")} for m in (a, b))
    assert first == second


@pytest.mark.thorough
@pytest.mark.parametrize("stage", ["search", "more rows"])
def test_ctrl_c_keeps_the_best_so_far(stage: str) -> None:
    """In the first round, where one kernel is done, and in the second before and after its first family."""
    for after in (2,) if stage == "search" else (0, 1):
        model = mc.learn(FRAME, "y", seconds=1.0, progress=interrupted(stage, after), random_state=0)
        later = curves(60, seed=1)
        assert model.summary_["score"] < model.summary_["baseline"]
        assert -model.score(later) < 0.6 * later["y"].std()
        assert model.predict_interval(later).shape == (60, 2)


def test_ctrl_c_before_anything_is_finished_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt):
        mc.learn(FRAME, "y", seconds=1.0, random_state=0, progress=interrupted("search"))


@pytest.mark.thorough
def test_what_is_reported() -> None:
    states: list[dict[str, Any]] = []
    model = mc.learn(FRAME, "y", seconds=1.0, random_state=0, progress=states.append)
    assert all({"stage", "name", "left", "best", "tried"} <= set(s) for s in states)
    stages = list(dict.fromkeys(s["stage"] for s in states))
    assert stages[:2] == ["search", "more rows"]
    assert "train" in stages
    tried = [s["tried"] for s in states]
    assert tried == sorted(tried)
    assert tried[-1] == model.summary_["tried"] > 20
    assert states[0]["best"] is None
    assert states[-1]["best"].name in {*model.summary_["leaders"]}


@pytest.mark.thorough
def test_what_is_late_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercer.tabular.plan._LATE", 0.0)
    model = mc.learn(FRAME, "y", seconds=1.0, random_state=0)
    assert any("Not tried" in note and "--time" in note for note in model.summary_["notes"])
    assert "more time" in model.summary_["next"]
    assert np.isfinite(model.predict(FRAME)).all()


@pytest.mark.thorough
def test_a_family_that_fails_is_noted_and_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def tested(self: Any, *args: Any) -> Any:
        raise ValueError("it is too hot")

    monkeypatch.setattr("mercer.tabular.finalists.WIDEST", 400)
    monkeypatch.setattr(OfCells, "tested", tested)
    monkeypatch.setattr(OfMetric, "tested", tested)
    model = mc.learn(FRAME, "y", seconds=1.0, random_state=0)
    hot = [note for note in model.summary_["notes"] if "could not be tried: it is too hot" in note]
    assert len(hot) == 3
    assert model.summary_["score"] < 0.5 * model.summary_["baseline"]


@pytest.mark.thorough
@pytest.mark.parametrize("classes", [False, True])
def test_noise_is_not_said_to_be_learnt(classes: bool) -> None:
    """Of some fifty candidates one always looks good; what is told is not that."""
    rng = np.random.default_rng(0)
    y = rng.choice(["heads", "tails"], 120) if classes else rng.standard_normal(120)
    s = mc.learn(FRAME.with_columns(pl.Series("y", y)), "y", seconds=1.0, random_state=0).summary_
    best = 0.5 if classes else float(np.std(y))
    if classes:
        assert s["score"] < best + 2 * s["standard_error"]
    else:
        assert s["score"] > best - 2 * s["standard_error"]


@pytest.mark.thorough
def test_the_score_is_that_of_later_rows() -> None:
    model = mc.learn(curves(200, noise=0.5), "y", seconds=1.0, random_state=0)
    later = -model.score(curves(2000, seed=7, noise=0.5))
    assert abs(later - model.summary_["score"]) < 4 * model.summary_["standard_error"]
    assert later > 0.5  # no one foretells the noise
    assert later < 0.65


@pytest.mark.thorough
def test_a_target_over_several_powers_is_learnt_as_a_logarithm() -> None:
    frame = curves().with_columns((2 * pl.col("y")).exp().alias("y"))
    model = mc.learn(frame, "y", seconds=1.0, random_state=0)
    assert all(member.finish.logarithm for member in model.members_)
    assert model.predict(frame).min() >= 0
    assert model.score(frame) > -0.5 * frame["y"].std()


@pytest.mark.thorough
def test_how_rows_were_held_out_is_said() -> None:
    frame = flowers(90).with_columns(pl.Series("when", np.random.default_rng(0).permutation(90) * 1.5))
    said = {
        option: mc.learn(frame, "kind", seconds=1.0, random_state=0, **{option: column}).summary_["measured"]
        for option, column in (("group", "garden"), ("time_column", "when"))
    }
    assert "groups together" in said["group"]
    assert "earlier" in said["time_column"]
    assert all("rows that were not trained on" in text for text in said.values())


@pytest.mark.thorough
def test_groups_are_not_known_by_heart() -> None:
    """A column that names the group tells the target of known groups only: rows held out by group say so."""
    rng = np.random.default_rng(0)
    of = np.repeat(np.arange(20), 8)
    frame = pl.DataFrame(
        {"place": rng.standard_normal(20)[of] + 1e-3 * rng.standard_normal(160), "group": [f"g{k}" for k in of],
         "y": rng.standard_normal(20)[of]}
    )  # fmt: skip
    blind, told = (
        mc.learn(frame, "y", seconds=1.0, random_state=0, **o).summary_
        for o in ({"drop": ["group"]}, {"group": "group"})
    )
    assert blind["score"] < 0.5 * blind["baseline"]
    assert told["score"] > 0.8 * told["baseline"]
