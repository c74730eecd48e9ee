"""What is told of a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.tabular.tables import curves, flowers, however_busy


@pytest.fixture(scope="module")
def models() -> Iterator[dict[str, Any]]:
    for _ in however_busy():
        yield {
            "classes": mc.learn(flowers(), "kind", seconds=1.0, random_state=0),
            "numbers": mc.learn(curves(), "y", seconds=1.0, random_state=0),
            "quantile": mc.learn(curves(noise=0.5), "y", seconds=1.0, random_state=0, metric="pinball:0.9"),
        }


@pytest.mark.thorough
def test_plain_values(models: dict[str, Any]) -> None:
    for model in models.values():
        assert json.loads(json.dumps(model.summary_)) == model.summary_


@pytest.mark.thorough
def test_of_classes(models: dict[str, Any]) -> None:
    s = models["classes"].summary_
    frame = flowers()
    assert (s["target"], s["task"], s["metric"], s["rows"]) == ("kind", "classification", "accuracy", 120)
    assert s["classes"] == ["iris", "lily", "rose"]
    often = frame["kind"].value_counts()["count"].max() / 120
    assert s["baseline"] == pytest.approx(often, abs=0.1)  # of the rows that are judged
    assert s["score"] > often + 0.2
    assert {"accuracy", "balanced_accuracy", "auc", "log_loss"} <= set(s["scores"])
    recalls = [s["scores"][f"recall of {label}"] for label in s["classes"]]
    assert s["scores"]["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert s["columns"]["id"][0] == "identifier"
    assert set(s["importance"]) == {"length", "width", "garden", "seen"}
    assert sum(m["weight"] for m in s["members"]) == pytest.approx(1)
    assert s["model"] == " & ".join(m["name"] for m in s["members"])


@pytest.mark.thorough
def test_of_numbers(models: dict[str, Any]) -> None:
    s = models["numbers"].summary_
    y = curves()["y"].to_numpy()
    assert s["baseline"] == pytest.approx(np.std(y), rel=0.2)  # of the rows that are judged
    assert s["scores"]["r2"] == pytest.approx(1 - (s["scores"]["rmse"] / s["baseline"]) ** 2)
    assert 0 < s["standard_error"] < s["score"] < s["baseline"]
    assert next(iter(s["importance"])) in ("a", "b")


@pytest.mark.thorough
def test_of_a_quantile(models: dict[str, Any]) -> None:
    s = models["quantile"].summary_
    y = curves(noise=0.5)["y"].to_numpy()
    away = y - np.quantile(y, 0.9)
    assert s["baseline"] == pytest.approx(np.mean(np.maximum(0.9 * away, -0.1 * away)), rel=0.2)
    assert s["score"] < s["baseline"]


@pytest.mark.thorough
def test_told_in_lines(models: dict[str, Any]) -> None:
    for model in models.values():
        s, said = model.summary_, str(model.report())
        assert said.startswith(f"{s['target']}: {s['task']} ({s['reason']}); {s['rows']} rows\n")
        assert all(m["kernel"] in said for m in s["members"])
        assert s["metric_in_words"] in said
        assert said.endswith(f"next: {s['next']}\n{s['ended']}")
        assert s["ended"].startswith(f"Ended after {s['seconds']:.0f} of ")
        assert "what matters: " in said
    assert f"{100 * models['classes'].summary_['score']:.1f} %" in str(models["classes"].report())
