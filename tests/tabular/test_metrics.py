"""Each metric against scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from mercer.tabular.metrics import metric_of

rng = np.random.default_rng(0)
N = 80


def of_classes(classes: int) -> tuple[Any, Any, Any]:
    """Codes, the labels that are answered, probabilities."""
    truth = np.r_[np.arange(classes), rng.integers(0, classes, N - classes)]
    p = rng.dirichlet(np.ones(classes), N) + 0.5 * (truth[:, None] == np.arange(classes))
    p /= p.sum(axis=1, keepdims=True)
    return truth, p.argmax(axis=1), p


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_of_classes(classes: int, weighted: bool) -> None:
    truth, answer, p = of_classes(classes)
    w = rng.random(N) if weighted else None
    expected = {
        "accuracy": metrics.accuracy_score(truth, answer, sample_weight=w),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, answer, sample_weight=w),
        "log_loss": metrics.log_loss(truth, p, sample_weight=w),
        "auc": metrics.roc_auc_score(truth, p[:, 1], sample_weight=w)
        if classes == 2
        else np.mean([metrics.roc_auc_score(truth == k, p[:, k], sample_weight=w) for k in range(3)]),
    }
    for name, value in expected.items():
        metric = metric_of("classification", name)
        assert metric(truth, answer if metric.of == "labels" else p, w) == pytest.approx(value), name
        assert metric.greater == (name != "log_loss")
    if classes == 3 and not weighted:
        ovr = metrics.roc_auc_score(truth, p, multi_class="ovr", average="macro")
        assert metric_of("classification", "auc")(truth, p) == pytest.approx(ovr)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_numbers(weighted: bool) -> None:
    truth, answer = rng.standard_normal((2, N))
    w = rng.random(N) if weighted else None
    expected = {
        "rmse": metrics.root_mean_squared_error(truth, answer, sample_weight=w),
        "mae": metrics.mean_absolute_error(truth, answer, sample_weight=w),
        "r2": metrics.r2_score(truth, answer, sample_weight=w),
        "pinball": metrics.mean_pinball_loss(truth, answer, sample_weight=w, alpha=0.5),
        "pinball:0.9": metrics.mean_pinball_loss(truth, answer, sample_weight=w, alpha=0.9),
    }
    for name, value in expected.items():
        metric = metric_of("regression", name)
        assert metric(truth, answer, w) == pytest.approx(value), name
        assert metric.greater == (name == "r2")
        assert metric.of == "numbers"


def test_a_class_that_is_absent() -> None:
    """A part of the rows may lack a class: the others are judged."""
    truth, answer, p = of_classes(3)
    here = truth < 2
    expected = np.mean([metrics.roc_auc_score(truth[here] == k, p[here, k]) for k in (0, 1)])
    assert metric_of("classification", "auc")(truth[here], p[here]) == pytest.approx(expected)
    assert np.isnan(metric_of("classification", "auc")(np.zeros(5, int), p[:5]))
    recalls = [np.mean(answer[truth == k] == k) for k in (0, 1)]
    assert metric_of("classification", "balanced_accuracy")(truth[here], answer[here]) == pytest.approx(
        np.mean(recalls)
    )


def test_a_probability_of_0_costs_much_and_not_everything() -> None:
    found = metric_of("classification", "log_loss")(np.array([0, 1]), np.array([[0.0, 1.0], [0.5, 0.5]]))
    assert 10 < found < 40


@pytest.mark.parametrize(
    ("task", "given", "name"),
    [
        ("classification", None, "accuracy"),
        ("regression", None, "rmse"),
        ("count", None, "rmse"),
        ("ordinal", None, "mae"),
        ("classification", "Balanced Accuracy", "balanced_accuracy"),
        ("classification", "log-loss", "log_loss"),
        ("classification", " AUC ", "auc"),
        ("regression", "R²", "r2"),
        ("regression", "pinball: 0.25", "pinball"),
    ],
)
def test_names(task: str, given: str | None, name: str) -> None:
    assert metric_of(task, given).name == name


def test_levels() -> None:
    assert metric_of("regression", "pinball:0.9").level == 0.9
    assert metric_of("regression", "mae").level == 0.5
    assert metric_of("regression", "rmse").level is None
    assert "0.9" in metric_of("regression", "pinball:0.9").words


@pytest.mark.parametrize(
    ("task", "given", "said"),
    [
        ("classification", "rmse", "is not for classification"),
        ("count", "auc", "is not for count"),
        ("regression", "beauty", "is not known; choose one of rmse"),
        ("regression", "pinball:1.5", "between 0 and 1"),
        ("regression", "pinball:much", "between 0 and 1"),
        ("regression", "rmse:0.5", "only the pinball loss has a level"),
    ],
)
def test_errors(task: str, given: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        metric_of(task, given)
    assert repr(given) in str(caught.value)


def test_better_and_shown() -> None:
    accuracy, rmse = metric_of("classification", "accuracy"), metric_of("regression", "rmse")
    assert accuracy.better(0.9, 0.8)
    assert rmse.better(0.8, 0.9)
    assert not rmse.better(0.9, 0.9)
    assert (accuracy.shown(0.9044), rmse.shown(12.34567)) == ("90.4 %", "12.35")
