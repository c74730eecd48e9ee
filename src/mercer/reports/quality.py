"""How good answers are, by rows that were not trained on: facts, tables and pictures of classes and of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import RocCurveDisplay, log_loss, roc_auc_score

from mercer.arrays import Array
from mercer.plots.calibration import CalibrationDisplay
from mercer.plots.confusion import ConfusionDisplay
from mercer.plots.drawing import canvas
from mercer.plots.regression import RegressionDisplay
from mercer.plots.residuals import ResidualDisplay
from mercer.reports.blocks import Block, Cell, Fact, Facts, Section, Share, Table
from mercer.reports.figures import picture, side_by_side

_CURVES = 6  # classes that have a curve of their own
_LISTED = 30  # classes in the table
_DRAWN = 1500  # points of a scatter plot


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def of_classes(y: Array, P: Array | None, predicted: Array, labels: Sequence[Any], how: str) -> Section:
    """y and ``predicted`` are numbers of ``labels``, P their probabilities or None; ``how`` they were held out."""
    right = predicted == y
    accuracy, n = float(right.mean()), len(y)
    commonest = float(np.bincount(y, minlength=len(labels)).max() / n)
    recalls = np.array([right[y == k].mean() if (y == k).any() else np.nan for k in range(len(labels))])
    error = np.sqrt(accuracy * (1 - accuracy) / n)
    facts = [
        Fact(
            "Right",
            f"{percent(accuracy)} ± {percent(error)}",
            f"The share of {n} rows whose class is found, and its"
            f" standard error; always the commonest class would be right for {percent(commonest)}.",
        ),
        Fact(
            "Right in each class",
            percent(float(np.nanmean(recalls))),
            "The mean over classes of the share that is found (balanced"
            " accuracy): rare classes count as much as common ones.",
        ),
    ]
    if P is not None:
        truth = y[:, None] == np.arange(len(labels))
        present = np.flatnonzero(truth.any(axis=0) & ~truth.all(axis=0))
        if len(present):
            areas = [roc_auc_score(truth[:, k], P[:, k]) for k in present]
            area = float(areas[-1] if len(labels) == 2 else np.mean(areas))
            facts.append(
                Fact(
                    "Ranking",
                    f"{area:.3f}",
                    "The area under the ROC curve: how often, of a row of the"
                    " class and"
                    " one of another, the first has the higher probability; 0.5 is chance.",
                )
            )
        facts.append(
            Fact(
                "Brier score",
                f"{float(((P - truth) ** 2).sum(axis=1).mean()):.3f}",
                "The mean squared error of"
                " the probabilities; 0 is perfect, and always the shares of the classes give"
                f" {_of_shares(y, len(labels)):.3f}.",
            )
        )
        facts.append(
            Fact(
                "Log loss",
                f"{log_loss(y, P, labels=range(len(labels))):.3f}",
                "The mean of −log of the probability of what is true: being sure and wrong costs most.",
            )
        )
    names = np.array([str(label) for label in labels], dtype=object)
    blocks: list[Block] = [Facts(facts), _by_class(y, predicted, names, recalls)]
    few = _some(len(y), 20_000)
    blocks += side_by_side(
        picture(
            lambda: ConfusionDisplay.from_predictions(names[y], names[predicted], classes=names.tolist()),
            "Rows by their class and by what they are taken for. What is off the diagonal is mistaken.",
        ),
        []
        if P is None
        else picture(
            lambda: _roc(y[few], P[few], names),
            "Of every threshold, the share of the class that"
            " is found and the share of the others that is taken for it.",
        ),
        []
        if P is None or len(labels) != 2
        else picture(
            lambda: CalibrationDisplay.from_predictions(names[y[few]].astype(str), P[few, 1], target=str(names[1])),
            "Of rows with a predicted probability, how many are"
            f" {names[1]}. On the diagonal, probabilities are what they"
            " say.",
        ),
    )
    return Section("How good it is", f"Measured on rows that were not trained on: {how}.", blocks)


def _of_shares(y: Array, classes: int) -> float:
    shares = np.bincount(y, minlength=classes) / len(y)
    return float(1 - shares @ shares)


def _by_class(y: Array, predicted: Array, names: Array, recalls: Array) -> Table:
    rows: list[list[Cell]] = []
    order = np.argsort(np.nan_to_num(recalls, nan=2.0), kind="stable")[:_LISTED]
    for k in order:
        mine, said = y == k, predicted == k
        hits = float((mine & said).sum())
        wrong = predicted[mine & ~said]
        with_ = str(names[np.bincount(wrong).argmax()]) if len(wrong) else "–"
        recall = hits / mine.sum() if mine.any() else 0.0
        precision = hits / said.sum() if said.any() else 0.0
        rows.append(
            [
                str(names[k]),
                str(int(mine.sum())),
                Share(percent(recall), recall),
                Share(percent(precision), precision),
                with_,
            ]
        )
    head = ["class", "rows", "found (recall)", "right where named (precision)", "most often taken for"]
    return Table("Every class, the one that is found least first.", head, rows, numbers=(1,))


def _roc(y: Array, P: Array, names: Array) -> Any:
    ax, _ = canvas(None)
    shown: RocCurveDisplay | None = None
    if P.shape[1] == 2:
        return RocCurveDisplay.from_predictions(y == 1, P[:, 1], name=str(names[1]), plot_chance_level=True, ax=ax)
    common = np.argsort(-np.bincount(y, minlength=P.shape[1]), kind="stable")[:_CURVES]
    for k in common:
        if 0 < (y == k).sum() < len(y):
            shown = RocCurveDisplay.from_predictions(y == k, P[:, k], name=str(names[k]), ax=ax)
    return shown


def of_numbers(y: Array, predicted: Array, how: str, interval: Array | None = None, coverage: float = 0.9) -> Section:
    """Of predictions of numbers, with intervals that should hold ``coverage`` of them."""
    error = y - predicted
    rmse, spread = float(np.sqrt(np.mean(error**2))), float(np.std(y))
    facts = [
        Fact(
            "Typical error (RMSE)",
            f"{rmse:.4g}",
            f"The root of the mean squared error of {len(y)} rows; always the mean would have {spread:.4g}.",
        ),
        Fact(
            "Middle error", f"{float(np.median(np.abs(error))):.4g}", "Half of the rows are predicted closer than this."
        ),
        Fact(
            "Explained",
            percent(1 - (rmse / spread) ** 2 if spread else 0.0),
            "The share of the variance of the target that the model explains (R²); 0 is as good as the mean.",
        ),
        Fact("Bias", f"{float(error.mean()):+.3g}", "The mean error: above 0, targets are larger than predicted."),
    ]
    if interval is not None:
        inside = (interval[:, 0] <= y) & (y <= interval[:, 1])
        facts.append(
            Fact(
                f"Intervals of {percent(coverage)}",
                percent(float(inside.mean())),
                "The share of targets inside"
                f" their interval; the middle width is {float(np.median(np.ptp(interval, axis=1))):.4g}.",
            )
        )
    few = _some(len(y), _DRAWN)
    blocks: list[Block] = [Facts(facts)]
    blocks += side_by_side(
        picture(
            lambda: RegressionDisplay.from_predictions(y[few], predicted[few]),
            "Observed against predicted: on the diagonal they agree.",
        ),
        picture(
            lambda: ResidualDisplay.from_predictions(y[few], predicted[few]),
            "Errors by what is predicted, and their distribution against a normal one: a shape that is not level is"
            " something the model has missed.",
            wide=True,
        ),
    )
    return Section("How good it is", f"Measured on rows that were not trained on: {how}.", blocks)


def _some(n: int, most: int) -> Array:
    return np.linspace(0, n - 1, min(n, most)).astype(int)
