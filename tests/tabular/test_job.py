"""``learn``: kinds of targets and columns, and what is asked for."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mercer as mc
from mercer.data import DataError
from tests.tabular.tables import counts, curves, flowers, however_busy, molecules, sequences, stars, texts

QUICK = {"seconds": 1.0, "random_state": 0}


@pytest.fixture(autouse=True)
def _however_busy() -> Iterator[None]:
    yield from however_busy()


# -- kinds of targets --------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_counts() -> None:
    model = mc.learn(counts(), "y", **QUICK)
    later = counts(300, seed=1)
    assert model.task_.name == "count"
    assert any(name.startswith("Poisson") for name in model.summary_["leaders"])
    found = model.predict(later)
    assert found.min() >= 0
    assert found.mean() == pytest.approx(later["y"].mean(), rel=0.15)
    assert -model.score(later) < 0.8 * later["y"].std()


@pytest.mark.thorough
def test_ranks_are_asked_for() -> None:
    model = mc.learn(stars(), "y", task="ordinal", **QUICK)
    later = stars(200, seed=1)
    found = model.predict(later)
    assert set(found) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert model.metric_.name == "mae"
    assert np.abs(found - later["y"].to_numpy()).mean() < 0.6
    assert mc.learn(stars(), "y", **QUICK).task_.name == "classification"
    uneven = stars().with_columns(pl.col("y").replace_strict({1: 0, 2: 1, 3: 5, 4: 20, 5: 21}))
    assert set(mc.learn(uneven, "y", task="ordinal", **QUICK).predict(later)) <= {0.0, 1.0, 5.0, 20.0, 21.0}


@pytest.mark.thorough
@pytest.mark.parametrize("labels", [[False, True], ["bad", "good"], [3, 7], ["NA", "yes"], [1.0, 2.0]], ids=str)
def test_labels_come_back_as_they_were_given(labels: list[Any]) -> None:
    frame = curves(80)
    column = [labels[v > 0] for v in frame["y"]]
    model = mc.learn(frame.with_columns(pl.Series("y", column)), "y", **QUICK)
    found = model.predict(frame).tolist()
    assert model.classes_.tolist() == labels
    assert set(map(type, found)) == {type(labels[0])}
    assert np.mean([a == b for a, b in zip(found, column, strict=True)]) > 0.85


@pytest.mark.thorough
@pytest.mark.parametrize("level", [0.2, 0.9])
def test_quantiles(level: float) -> None:
    model = mc.learn(curves(300, noise=0.5), "y", metric=f"pinball:{level}", **QUICK)
    later = curves(1000, seed=1, noise=0.5)
    assert np.mean(later["y"].to_numpy() <= model.predict(later)) == pytest.approx(level, abs=0.08)
    away = later["y"].to_numpy() - model.predict(later)
    assert model.score(later) == pytest.approx(-np.mean(np.maximum(level * away, (level - 1) * away)))


@pytest.mark.thorough
def test_balanced_accuracy_finds_the_rare() -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(300) % 12 == 0, "rare", "usual")
    frame = pl.DataFrame({"x": rng.standard_normal(300) + 1.2 * (y == "rare"), "z": rng.random(300), "y": y})
    metrics = ("accuracy", "balanced accuracy")
    found = {metric: mc.learn(frame, "y", metric=metric, **QUICK).predict(frame) for metric in metrics}
    recall = {metric: np.mean(answers[y == "rare"] == "rare") for metric, answers in found.items()}
    assert recall["balanced accuracy"] > 0.5 > recall["accuracy"]


# -- kinds of columns --------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_texts(tmp_path: Path) -> None:
    model = mc.learn(texts(), "topic", **QUICK)
    assert model.kinds_["note"].name == "text"
    later = texts(100, seed=1)
    assert model.score(later) > 0.9
    model.save(tmp_path / "m.mercer")
    np.testing.assert_array_equal(mc.load(tmp_path / "m.mercer").predict_proba(later), model.predict_proba(later))
    assert np.isfinite(model.predict_proba(pl.DataFrame({"note": ["", "unheard", None]}))).all()


@pytest.mark.thorough
def test_sequences() -> None:
    model = mc.learn(sequences(), "promoter", **QUICK)
    assert model.kinds_["gene"].name == "sequence"
    assert model.score(sequences(100, seed=1)) > 0.85


@pytest.mark.thorough
def test_molecules(tmp_path: Path) -> None:
    """Also of one atom, of which some fingerprints say nothing: that is no news for who learns from a table."""
    pytest.importorskip("rdkit")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = mc.learn(molecules(), "acid", **QUICK)
        later = molecules(80, seed=1)
        assert model.score(later) > 0.95
    model.save(tmp_path / "m.mercer")
    np.testing.assert_array_equal(mc.load(tmp_path / "m.mercer").predict_proba(later), model.predict_proba(later))
    with pytest.raises(DataError, match=r"Row 1, column 'smiles' is 'nonsense', not a molecule"):
        model.predict(later.head(3).with_columns(smiles=pl.Series(["CCO", "nonsense", "C"])))


@pytest.mark.thorough
def test_texts_beside_numbers() -> None:
    """Half of what is to be told is in the text, half in a number."""
    frame = texts(120)
    x = np.random.default_rng(5).standard_normal(120)
    y = 1.5 * (frame["topic"] == "sport").to_numpy() + x
    model = mc.learn(pl.DataFrame({"note": frame["note"], "x": x, "y": y}), "y", **QUICK)
    assert model.summary_["score"] < 0.6 * np.std(y)
    assert set(model.summary_["importance"]) == {"note", "x"}
    assert min(model.summary_["importance"].values()) > 0


@pytest.mark.thorough
def test_categories_alone() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.choice(["p", "q", "r"], 120), rng.choice(["u", "v"], 120)
    frame = pl.DataFrame({"a": a, "b": b, "y": np.where((a == "p") ^ (b == "u"), "yes", "no")})
    assert mc.learn(frame, "y", **QUICK).score(frame) > 0.95


@pytest.mark.thorough
def test_dates_alone() -> None:
    days = [dt.date(2023, 1, 1) + dt.timedelta(days=3 * k) for k in range(200)]
    y = [10.0 if day.weekday() >= 5 else 0.1 * (i % 7) for i, day in enumerate(days)]
    model = mc.learn(pl.DataFrame({"day": days, "y": y}), "y", **QUICK)
    saturday, monday = model.predict(pl.DataFrame({"day": [dt.date(2024, 2, 10), dt.date(2024, 2, 12)]}))
    assert saturday > monday + 5


# -- rows and columns that are odd -------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_gaps_that_come_with_prediction() -> None:
    frame = curves()
    model = mc.learn(frame, "y", **QUICK)
    holes = frame.with_columns(pl.when(pl.int_range(pl.len()) % 3 != 0).then("b"))
    found = model.predict(holes)
    assert np.isfinite(found).all()
    at = np.arange(frame.height) % 3 != 0
    np.testing.assert_allclose(found[at], model.predict(frame)[at])


@pytest.mark.thorough
def test_rows_without_a_target_are_left_out_and_counted() -> None:
    frame = curves(130).with_columns(pl.when(pl.int_range(pl.len()) >= 40).then("y"))
    s = mc.learn(frame, "y", **QUICK).summary_
    assert (s["rows"], s["rows_without_target"]) == (90, 40)


@pytest.mark.slow
def test_a_file_sorted_by_its_target() -> None:
    """What is drawn is drawn from everywhere."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((900, 2)), rng.standard_normal((300, 2)) + 1.5])
    frame = pl.DataFrame(X, schema=["a", "b"]).with_columns(pl.Series("y", ["no"] * 900 + ["yes"] * 300))
    model = mc.learn(frame, "y", **QUICK)
    assert model.score(frame) > 0.8
    assert set(model.predict(frame)) == {"no", "yes"}


@pytest.mark.thorough
def test_a_copy_of_the_target_is_said() -> None:
    frame = curves().with_columns((2 * pl.col("y")).alias("double"))
    assert any("double" in note for note in mc.learn(frame, "y", **QUICK).summary_["notes"])


# -- what is asked for -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_kinds_and_columns_left_out() -> None:
    frame = flowers(80).with_columns(pl.Series("zone", np.random.default_rng(0).integers(1, 40, 80)))
    model = mc.learn(frame, "kind", kinds={"zone": "nominal"}, drop=["garden"], **QUICK)
    assert model.kinds_["zone"].name == "nominal"
    assert not model.kinds_["garden"].used
    assert set(model.summary_["importance"]) == {"length", "width", "seen", "zone"}
    assert len(model.predict(frame.drop("garden"))) == 80


@pytest.mark.thorough
def test_weights_say_which_rows_count() -> None:
    """Rows of two worlds: those of weight are learnt from."""
    frame = curves(200, noise=0.05)
    other = np.arange(200) % 2 == 0
    y = np.where(other, -frame["y"].to_numpy(), frame["y"].to_numpy())
    table = frame.with_columns(pl.Series("y", y), pl.Series("w", np.where(other, 1e-3, 1.0)))
    model = mc.learn(table, "y", weight="w", **QUICK)
    later = curves(200, seed=1)
    assert "w" not in model.summary_["importance"]
    assert np.corrcoef(model.predict(later), later["y"])[0, 1] > 0.9


@pytest.mark.thorough
@pytest.mark.parametrize("classes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_few_groups_of_many_rows(classes: bool) -> None:
    """Each has more rows than the first round looks at."""
    frame = curves(2400)
    table = frame.with_columns(pl.Series("g", np.repeat(["p", "q", "r"], 800)))
    if classes:
        table = table.with_columns(pl.when(pl.col("y") > 0).then(pl.lit("up")).otherwise(pl.lit("down")).alias("y"))
    s = mc.learn(table, "y", group="g", **QUICK).summary_
    assert s["score"] > 0.8 if classes else s["score"] < 0.5


@pytest.mark.thorough
def test_nothing_can_be_held_out() -> None:
    """Every training part would have one class."""
    frame = curves(60).drop("y")
    halves = np.repeat(["no", "yes"], 30)
    with pytest.raises(DataError, match=r"class|group"):
        mc.learn(frame.with_columns(pl.Series("g", halves), pl.Series("y", halves)), "y", group="g", **QUICK)
    late = pl.Series("y", ["no"] * 56 + ["yes"] * 4)
    with pytest.raises(DataError, match=r"class|time"):
        mc.learn(frame.with_columns(pl.Series("t", np.arange(60) * 1.5), late), "y", time_column="t", **QUICK)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seconds": 0.0}, "some seconds"),
        ({"seconds": -1.0}, "some seconds"),
        ({"metric": "accuracy"}, "is not for regression"),
        ({"task": "guess"}, "is not a task"),
        ({"task": "count"}, "count was asked for"),
        ({"group": "nowhere"}, "There is no column 'nowhere'"),
        ({"weight": "y"}, "is the target"),
        ({"kinds": {"a": "date"}}, "cannot be date"),
    ],
)
def test_what_cannot_be_asked(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        mc.learn(curves(40), "y", **{**QUICK, **options})


def test_what_cannot_be_learnt() -> None:
    with pytest.raises(DataError, match="at least 10"):
        mc.learn(curves(5), "y")
    with pytest.raises(DataError, match="No column is left"):
        mc.learn(pl.DataFrame({"a": [1] * 20, "y": list(range(10)) * 2}), "y")
    with pytest.raises(DataError, match="nothing to learn"):
        mc.learn(curves(40).with_columns(pl.lit("same").alias("y")), "y")
    with pytest.raises(DataError, match="data frame of polars or pandas"):
        mc.learn(np.zeros((20, 3)), "y")
    with pytest.raises(TypeError, match="magic"):
        mc.learn(curves(40), "y", magic=1)
