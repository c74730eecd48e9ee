"""What is to be learnt: rows, a target, weights, how rows belong together, and what an answer is judged by."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data import DataError
from mercer.selection.splits import forward
from mercer.tabular.calibration import Calibration
from mercer.tabular.families import Coded, Split
from mercer.tabular.metrics import Metric
from mercer.tabular.targets import Scale

_GROUPS = 5  # that a part of the table has at least, where there are so many
_LEAST_OF_CLASS = 10  # rows that a part of the table keeps of a rare class


@dataclass(frozen=True, eq=False)
class Problem:
    """``X`` is a table in form or a sparse matrix, ``y`` codes of classes or numbers; ``labels`` names the classes.

    Rows of one group are on one side of every split; where there are ``times``, what is tested comes after what is
    trained on.
    """

    X: Samples
    y: Array
    labels: list[Any]
    metric: Metric
    weights: Array | None = None
    groups: Array | None = None
    times: Array | None = None

    @property
    def classes(self) -> bool:
        return bool(self.labels)

    def __len__(self) -> int:
        return len(self.y)

    def at(self, rows: Array) -> Problem:
        def of(values: Array | None) -> Array | None:
            return None if values is None else values[rows]

        return Problem(
            self.X[rows], self.y[rows], self.labels, self.metric, of(self.weights), of(self.groups), of(self.times)
        )

    def coded(self, scale: Scale | None) -> Coded:
        """The target as machines learn it."""
        if self.classes:
            return Coded.of_classes(self.y, len(self.labels))
        assert scale is not None
        return Coded(scale.to(self.y), None, self.y)

    # -- parts -------------------------------------------------------------------------------------------------------

    def part(self, rows: int, random: np.random.Generator) -> Array:
        """So many rows at random, in order: of few groups, every class with some rows; the last ones of a time."""
        n = len(self)
        if rows >= n:
            return np.arange(n)
        if self.times is not None:
            return np.sort(np.argsort(self.times, kind="stable")[n - rows :])
        if self.groups is not None:
            names, of = np.unique(self.groups, return_inverse=True)
            order = random.permutation(len(names))
            taken = np.cumsum(np.bincount(of)[order]) <= rows
            taken[:_GROUPS] = True
            found = np.flatnonzero(np.isin(of, order[taken]))
            return found if len(found) <= rows else np.sort(random.permutation(found)[:rows])
        if not self.classes:
            return np.sort(random.permutation(n)[:rows])
        counts = np.bincount(self.y, minlength=len(self.labels))
        wanted = np.maximum(np.round(rows * counts / n), np.minimum(counts, _LEAST_OF_CLASS)).astype(int)
        picked = [random.permutation(np.flatnonzero(self.y == k))[: wanted[k]] for k in np.flatnonzero(counts)]
        return np.sort(np.concatenate(picked))

    def splits(self, folds: int, seed: int) -> list[Split]:
        """Rows to train on and rows to test on; of one fold, a single split of a fifth of the rows."""
        n, several = len(self), max(folds, 2) if folds > 1 else 5
        if self.times is not None:
            return self._some(self._forward(several)[-folds:])
        found: Any
        if self.groups is not None:
            several = min(several, len(np.unique(self.groups)))
            found = (
                StratifiedGroupKFold(several, shuffle=True, random_state=seed) if self.classes else GroupKFold(several)
            )
            found = found.split(np.zeros(n), self.y, self.groups)
        elif self.classes:
            several = max(2, min(several, int(np.bincount(self.y).max())))
            found = StratifiedKFold(several, shuffle=True, random_state=seed).split(np.zeros(n), self.y)
        else:
            found = KFold(min(several, n), shuffle=True, random_state=seed).split(np.zeros(n))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class of fewer rows than folds is absent from some tests
            return self._some([split for split in list(found)[:folds] if self._can_train(split[0])])

    def _some(self, splits: list[Split]) -> list[Split]:
        if splits:
            return splits
        of_groups = "of other groups" if self.groups is not None else "left"
        kept = "of earlier times" if self.times is not None else of_groups
        lack = "rows" if not self.classes else "two classes"
        raise DataError(f"No row can be held out: among those {kept} there are no {lack} to train on.", "M605")

    def _forward(self, several: int) -> list[Split]:
        assert self.times is not None
        return [split for split in forward(self.times, several) if len(split[1]) and self._can_train(split[0])]

    def _can_train(self, rows: Array) -> bool:
        return len(np.unique(self.y[rows])) > 1 if self.classes else len(rows) > 1

    # -- answers -----------------------------------------------------------------------------------------------------

    def answers(self, values: Array, finish: Any) -> Array:
        """Probabilities, (n, classes), or numbers, (n,), from the values of a machine."""
        return np.asarray(finish(values) if self.classes else finish.back(values[:, 0]))

    def finish(self, values: Array, scale: Scale | None) -> Any:
        """What makes answers of values, from those of rows that were not trained on."""
        if self.classes:
            return Calibration.of(values, self.y, len(self.labels), self.weights)
        assert scale is not None
        return scale.smeared(self.y, values[:, 0], self.weights)

    def loss(self, answers: Array) -> float:
        """What candidates are compared by: near the metric, and smooth where that counts errors."""
        w = self.weights
        if not self.classes:
            if self.metric.level is not None:
                return self.metric(self.y, answers + self.shift(answers), w)
            return float(np.average((self.y - answers) ** 2, weights=w))
        if self.metric.name == "log_loss":
            return self.metric(self.y, answers, w)
        squares = ((answers - (self.y[:, None] == np.arange(len(self.labels)))) ** 2).sum(axis=1)
        if self.metric.name == "balanced_accuracy":
            w = self.balanced()
        return float(np.average(squares, weights=w))

    def balanced(self) -> Array:
        """Weights by which all classes count alike."""
        w = np.ones(len(self)) if self.weights is None else self.weights
        totals = np.bincount(self.y, weights=w, minlength=len(self.labels))
        return np.asarray(w / np.maximum(totals[self.y], 1e-300))

    def shift(self, answers: Array) -> float:
        """What is added to answers so that the share of rows below them is that of the level that is asked for."""
        if self.classes or self.metric.level is None:
            return 0.0
        return float(np.quantile(self.y - answers, self.metric.level))

    def priors(self) -> Array:
        """The shares of the classes."""
        found = np.bincount(self.y, weights=self.weights, minlength=len(self.labels)).astype(np.float64)
        return np.asarray(found / found.sum())

    def score(self, answers: Array, priors: Array | None = None) -> float:
        """The metric itself, of answers that are probabilities or numbers."""
        if self.metric.of == "labels":
            return self.metric(self.y, decided(answers, self.metric, priors), self.weights)
        return self.metric(self.y, answers, self.weights)


def decided(probabilities: Array, metric: Metric, priors: Array | None) -> Array:
    """The class to name: the likeliest; by balanced accuracy, the one whose share gains most by knowing x."""
    if metric.name == "balanced_accuracy" and priors is not None:
        return np.asarray(np.argmax(probabilities / np.maximum(priors, 1e-12), axis=1))
    return np.asarray(np.argmax(probabilities, axis=1))
