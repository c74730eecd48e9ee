"""What a model is judged by: one number of the truth and the answers, for classes or for numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn import metrics

from mercer.arrays import Array
from mercer.troubles import coded


@dataclass(frozen=True)
class Metric:
    """``name`` in words; ``greater`` says which way is better; ``level`` is the quantile that a pinball loss asks for.

    ``of`` what it is the score: codes of classes that are answered, probabilities, or numbers.
    """

    name: str
    of: str
    greater: bool
    words: str
    level: float | None = None

    def __call__(self, truth: Array, answer: Array, weights: Array | None = None) -> float:
        return float(_FUNCTIONS[self.name](self, truth, answer, weights))

    def better(self, first: float, second: float) -> bool:
        return first > second if self.greater else first < second

    def shown(self, value: float) -> str:
        return f"{100 * value:.1f} %" if self.name in ("accuracy", "balanced_accuracy") else f"{value:.4g}"


def _auc(_: Metric, truth: Array, p: Array, weights: Array | None) -> float:
    present = np.unique(truth[truth >= 0])  # −1: a class that is not known
    if len(present) < 2:
        return float("nan")
    if p.shape[1] == 2:
        return float(metrics.roc_auc_score(truth == 1, p[:, 1], sample_weight=weights))
    # one class against all others, the mean over the classes that are there
    each = [metrics.roc_auc_score(truth == k, p[:, k], sample_weight=weights) for k in present]
    return float(np.mean(each))


def _log_loss(_: Metric, truth: Array, p: Array, weights: Array | None) -> float:
    own = np.where(truth >= 0, p[np.arange(len(truth)), truth], 0.0)  # −1: a class that is not known
    return float(np.average(-np.log(np.maximum(own, 1e-15)), weights=weights))


def _pinball(metric: Metric, truth: Array, answer: Array, weights: Array | None) -> float:
    level = 0.5 if metric.level is None else metric.level
    return float(metrics.mean_pinball_loss(truth, answer, alpha=level, sample_weight=weights))


_FUNCTIONS: dict[str, Callable[[Metric, Array, Array, Array | None], float]] = {
    "accuracy": lambda _, t, a, w: float(np.average(t == a, weights=w)),
    "balanced_accuracy": lambda _, t, a, w: float(
        np.mean([np.average(a[t == k] == k, weights=None if w is None else w[t == k]) for k in np.unique(t)])
    ),
    "auc": _auc,
    "log_loss": _log_loss,
    "rmse": lambda _, t, a, w: float(np.sqrt(np.average((t - a) ** 2, weights=w))),
    "mae": lambda _, t, a, w: float(np.average(np.abs(t - a), weights=w)),
    "pinball": _pinball,
    "r2": lambda _, t, a, w: float(metrics.r2_score(t, a, sample_weight=w)),
}
_CLASSES = {
    "accuracy": Metric("accuracy", "labels", True, "accuracy"),
    "balanced_accuracy": Metric("balanced_accuracy", "labels", True, "balanced accuracy"),
    "auc": Metric("auc", "probabilities", True, "area under the ROC curve"),
    "log_loss": Metric("log_loss", "probabilities", False, "log loss"),
}
_NUMBERS = {
    "rmse": Metric("rmse", "numbers", False, "root mean squared error"),
    "mae": Metric("mae", "numbers", False, "mean absolute error", 0.5),
    "pinball": Metric("pinball", "numbers", False, "pinball loss", 0.5),
    "r2": Metric("r2", "numbers", True, "R²"),
}
_DEFAULT = {"classification": "accuracy", "regression": "rmse", "count": "rmse", "ordinal": "mae"}


def metric_of(task: str, name: str | None = None) -> Metric:
    """The metric of that name, as "balanced accuracy", "AUC" or "pinball:0.9"; the usual one of a task without."""
    known = _CLASSES if task == "classification" else _NUMBERS
    if name is None:
        return known[_DEFAULT[task]]
    word, _, level = str(name).partition(":")
    key = word.strip().lower().replace(" ", "_").replace("-", "_").replace("²", "2")
    if key not in known:
        other = _NUMBERS if task == "classification" else _CLASSES
        why = f"is not for {task}" if key in other else "is not known"
        raise ValueError(coded(f"metric={name!r} {why}; choose one of {', '.join(known)}.", "M205"))
    if not level:
        return known[key]
    try:
        share = float(level)
    except ValueError:
        share = -1.0
    if key != "pinball" or not 0 < share < 1:
        raise ValueError(
            coded(f"metric={name!r}: only the pinball loss has a level, between 0 and 1, as pinball:0.9.", "M205")
        )
    return Metric("pinball", "numbers", False, f"pinball loss at {share:g}", share)
