"""What is said of answers, against scikit-learn's measures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from mercer.reports import quality
from mercer.reports.blocks import Facts, Section, Share, Table


def facts(section: Section) -> dict[str, str]:
    block = section.blocks[0]
    assert isinstance(block, Facts)
    return {fact.name: fact.value for fact in block.facts}


@pytest.mark.thorough
@pytest.mark.parametrize("classes", [2, 4])
def test_of_classes(classes: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, 200)
    P = rng.dirichlet(np.ones(classes), 200) + 0.5 * (y[:, None] == np.arange(classes))
    P /= P.sum(axis=1, keepdims=True)
    predicted = P.argmax(axis=1)
    section = quality.of_classes(y, P, predicted, [f"c{k}" for k in range(classes)], "drawn")
    said = facts(section)
    assert said["Right"].startswith(f"{100 * metrics.accuracy_score(y, predicted):.1f} %")
    assert said["Right in each class"] == f"{100 * metrics.balanced_accuracy_score(y, predicted):.1f} %"
    area = metrics.roc_auc_score(y, P[:, 1]) if classes == 2 else metrics.roc_auc_score(y, P, multi_class="ovr")
    assert said["Ranking"] == f"{area:.3f}"
    assert said["Log loss"] == f"{metrics.log_loss(y, P):.3f}"
    table = section.blocks[1]
    assert isinstance(table, Table)
    recalls = metrics.recall_score(y, predicted, average=None)
    assert [row[0] for row in table.rows] == [f"c{k}" for k in np.argsort(recalls, kind="stable")]
    first = table.rows[0][2]
    assert isinstance(first, Share)
    assert first.share == pytest.approx(recalls.min())
    pictures = section.blocks[2].pictures  # type: ignore[union-attr]
    assert len(pictures) == (3 if classes == 2 else 2)
    assert all(p.drawn.svg.startswith("<svg") and "#123457" not in p.drawn.svg for p in pictures)


@pytest.mark.thorough
def test_of_numbers() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal(300)
    predicted = y + 0.3 * rng.standard_normal(300)
    interval = np.column_stack([predicted - 0.5, predicted + 0.5])
    said = facts(quality.of_numbers(y, predicted, "drawn", interval))
    assert said["Typical error (RMSE)"] == f"{metrics.root_mean_squared_error(y, predicted):.4g}"
    assert said["Explained"] == f"{100 * metrics.r2_score(y, predicted):.1f} %"
    assert said["Intervals of 90.0 %"] == f"{100 * np.mean(np.abs(y - predicted) <= 0.5):.1f} %"


@pytest.mark.thorough
def test_one_class_and_a_constant_target() -> None:
    y = np.zeros(10, int)
    assert facts(quality.of_classes(y, None, y, ["a", "b"], ""))["Right"].startswith("100.0 %")
    assert facts(quality.of_numbers(np.ones(10), np.ones(10), ""))["Explained"] == "0.0 %"
