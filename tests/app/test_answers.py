"""What ``mercer predict`` writes and says, with models that are made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from mercer.app.answers import answers, judged
from mercer.tabular.metrics import metric_of


def of_numbers(found: Any, metric: str = "rmse", target: str = "y", score: float = -0.5) -> Any:
    return SimpleNamespace(
        target=target, task_=SimpleNamespace(name="regression"), labels_=[], metric_=metric_of("regression", metric),
        predict=lambda table: np.asarray(found)[: table.height],
        predict_interval=lambda table, share: np.column_stack([np.asarray(found) - share, np.asarray(found) + share]),
        novelty=lambda table: np.full(table.height, 0.25), score=lambda table: score,
    )  # fmt: skip


def of_classes(labels: list[Any], codes: list[int]) -> Any:
    p = np.eye(len(labels))[codes] * 0.5 + 0.5 / len(labels)
    return SimpleNamespace(
        target="y", task_=SimpleNamespace(name="classification"), labels_=labels, metric_=metric_of("classification"),
        predict=lambda table: np.array(labels)[codes][: table.height], predict_proba=lambda table: p,
        predict_set=lambda table, share: p > 0.2, score=lambda table: 0.75,
    )  # fmt: skip


TABLE = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})


def test_numbers() -> None:
    model = of_numbers([1.5, 2.5, 3.5, 4.5])
    assert answers(model, TABLE).to_dict(as_series=False) == {"y": [1.5, 2.5, 3.5, 4.5]}
    found = answers(model, TABLE, interval=0.5, novelty=True)
    assert found.columns == ["y", "lower", "upper", "novelty"]
    assert found["lower"].to_list() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="no probabilities"):
        answers(model, TABLE, probabilities=True)


@pytest.mark.parametrize("target", ["lower", "upper", "novelty"])
def test_a_target_of_any_name_keeps_its_predictions(target: str) -> None:
    model = of_numbers([1.5, 2.5, 3.5, 4.5], target=target)
    found = answers(model, TABLE, interval=0.5, novelty=True)
    assert found.width == 4
    assert found[target].to_list() == [1.5, 2.5, 3.5, 4.5]


@pytest.mark.parametrize("labels", [["a", "b", "c"], [1, 2, 3]])
def test_classes(labels: list[Any]) -> None:
    model = of_classes(labels, [0, 2, 1, 0])
    found = answers(model, TABLE, probabilities=True, interval=0.9)
    assert found["y"].to_list() == [labels[k] for k in (0, 2, 1, 0)]
    assert found.columns == ["y", *(f"P({label})" for label in labels), "set"]
    assert found["set"].to_list() == [str(labels[k]) for k in (0, 2, 1, 0)]
    assert found[f"P({labels[0]})"].to_list() == pytest.approx([2 / 3, 1 / 6, 1 / 6, 2 / 3])


def test_confusions_are_counted() -> None:
    model = of_classes(["cat", "dog"], [0, 1, 1, 0])
    table = TABLE.with_columns(pl.Series("y", ["cat", "cat", "dog", None]))
    lines = judged(model, table).splitlines()
    assert lines[0] == "accuracy on 3 rows: 75.0 %"
    assert [line.split() for line in lines[2:]] == [["cat", "1", "1"], ["dog", "0", "1"]]
    assert lines[1].split()[-2:] == ["cat", "dog"]


def test_without_a_target_nothing_is_said() -> None:
    model = of_numbers([1.0] * 4)
    assert judged(model, TABLE) == ""
    assert judged(model, TABLE.with_columns(pl.lit(None, pl.Float64).alias("y"))) == ""


@pytest.mark.parametrize(
    ("metric", "score", "said"), [("rmse", -0.5, "0.5"), ("r2", 0.25, "0.25"), ("r2", -0.25, "-0.25")]
)
def test_the_sign_of_a_score(metric: str, score: float, said: str) -> None:
    """An error is positive, and an R² may be negative."""
    model = of_numbers([1.0] * 4, metric, score=score)
    told = judged(model, TABLE.with_columns(pl.lit(1.0).alias("y")))
    assert told == f"{model.metric_.words} on 4 rows: {said}"
