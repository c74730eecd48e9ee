"""The report of a model of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import mercer as mc
from mercer.data import DataError
from mercer.reports.blocks import Facts
from tests.tabular.tables import curves, flowers

QUICK = {"seconds": 1.0, "random_state": 0}
HOSTILE = "<script>alert(1)</script>"


def fact(report: mc.Report, title: str, name: str) -> str:
    section = next(s for s in report.page.sections if s.title == title)
    return next(f.value for b in section.blocks if isinstance(b, Facts) for f in b.facts if f.name == name)


@pytest.fixture(scope="module")
def model() -> Any:
    frame = flowers()
    name = frame.columns[0]
    hostile = frame.with_columns(pl.col("kind").replace({frame["kind"][0]: HOSTILE})).rename({name: f"<b>{name}"})
    return mc.learn(hostile, "kind", **QUICK)


@pytest.mark.thorough
def test_the_page(model: Any, tmp_path: Path) -> None:
    report = model.report()
    text = report.html
    assert str(report).startswith("kind: classification")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert len(text) < 2e6
    titles = [s.title for s in report.page.sections]
    assert titles == [
        "What the data is", "What the model is", "How it was chosen", "How good it is", "What it compares by",
        "What matters", "Rows to look at", "How the fit went", "What to try next",
    ]  # fmt: skip
    right = np.mean(model.judged_.answers.argmax(axis=1) == model.judged_.y)
    assert fact(report, "How good it is", "Right").startswith(f"{100 * right:.1f} %")
    # what a file keeps is enough
    model.save(tmp_path / "m.mercer")
    again = mc.load(tmp_path / "m.mercer").report()
    assert fact(again, "How good it is", "Right") == fact(report, "How good it is", "Right")


@pytest.mark.thorough
def test_of_other_rows() -> None:
    model = mc.learn(curves(150), "y", **QUICK)
    later = curves(80, seed=5)
    report = mc.report(model, later)
    rmse = np.sqrt(np.mean((model.predict(later) - later["y"].to_numpy()) ** 2))
    assert fact(report, "How good it is", "Typical error (RMSE)") == f"{rmse:.4g}"
    ends = model.predict_interval(later)
    inside = np.mean((ends[:, 0] <= later["y"].to_numpy()) & (later["y"].to_numpy() <= ends[:, 1]))
    assert fact(report, "How good it is", "Intervals of 90.0 %") == f"{100 * inside:.1f} %"
    with pytest.raises(DataError, match="y"):
        model.report(later.drop("y"))


@pytest.mark.thorough
def test_without_matplotlib(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercer.reports.figures.can_draw", lambda: False)
    monkeypatch.setattr("mercer.tabular.findings.can_draw", lambda: False)
    text = model.report().html
    assert "mercer[plots]" in text
    assert "<figure" not in text


@pytest.mark.thorough
def test_targets_far_from_0_and_rows_that_are_not_known() -> None:
    far = curves(120).with_columns(pl.col("y") + 1.7e9)
    model = mc.learn(far, "y", **QUICK)
    said = float(fact(model.report(), "How good it is", "Typical error (RMSE)"))
    assert said == pytest.approx(model.summary_["scores"]["rmse"], rel=1e-3)
    beside = mc.report(model, far.drop("y"), far["y"])  # y beside the table
    assert fact(beside, "How good it is", "Typical error (RMSE)")
    known = mc.learn(flowers(), "kind", **QUICK)
    other = flowers().with_columns(
        pl.when(pl.int_range(pl.len()) < 5).then(pl.lit("?")).otherwise("kind").alias("kind")
    )
    assert "5 more are of classes that it does not know" in known.report(other).html
