"""The model of a column of a table, an estimator that finds its kernels by itself; one file: its methods."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from mercer.annotations import Samples, Targets
from mercer.arrays import Array
from mercer.compute import Compute, peak_bytes
from mercer.data import DataError
from mercer.estimators.parameters import Progress, estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.explanations.explain import explain
from mercer.files.persistence import save
from mercer.files.svmlight import SparseTable
from mercer.reports.page import Report
from mercer.runtime.randomness import as_seed
from mercer.selection.conformal_sets import conformal_sets
from mercer.selection.ranks import check_coverage
from mercer.tabular.explaining import by_columns
from mercer.tabular.findings import reported
from mercer.tabular.held_out import HeldOut
from mercer.tabular.intake import (
    Asked,
    Rows,
    Taken,
    as_table,
    as_targets,
    filtered,
    is_present,
    take_in,
    target_column,
    with_target,
)
from mercer.tabular.kinds import conform
from mercer.tabular.members import Nearness, Noise, average
from mercer.tabular.problem import decided
from mercer.tabular.search import Choice, Search
from mercer.tabular.summary import ended, summarised
from mercer.tabular.training import importances, some, trained
from mercer.troubles import coded

_TARGET = "target"  # the name of y where it comes beside the table
_EXPLAINED = 50  # training rows whose values are put in the place of a row's own


def _of_classes(model: TableModel) -> bool:
    return hasattr(model, "task_") and model.task_.name == "classification"


def _of_numbers(model: TableModel) -> bool:
    return hasattr(model, "task_") and model.task_.name != "classification"


@estimator
class TableModel(BaseEstimator):  # type: ignore[misc]
    """Learns to predict a column of a table: kinds of columns, kernels, machines, parameters and an average of the best
    are found inside a time.

    What ``mercer fit`` does, as an estimator of scikit-learn. Tables are data frames of polars, pandas or pyarrow with
    columns of any kind: numbers, dates, categories, texts, sequences, molecules (SMILES), with gaps.

    Parameters
    ----------
    target : str, default="target"
        The column to predict; ``fit(X, y)`` takes y in its place.
    seconds : float, default=60.0
        How long to search. What is planned for that time is done to its end, so that equal seeds give equal models: it
        takes up to half as long again, and on a busy machine longer.
    task : {"classification", "regression", "count", "ordinal"} or None, default=None
        What the target asks for; None: as its values look.
    metric : str or None, default=None
        What is judged by: "accuracy", "balanced_accuracy", "auc" or "log_loss" of classes; "rmse", "mae", "r2" or
        "pinball:0.9", a quantile, of numbers. None: accuracy, or the root mean squared error.
    kinds : dict or None, default=None
        What columns are, where their looks mislead: {"zip": "nominal"}. Kinds are numeric, nominal, date, text,
        sequence and molecule.
    drop : collection of str, default=()
        Columns that are not looked at.
    group : str or None, default=None
        A column whose equal values belong together: rows of one group are never on both sides of a test.
    time_column : str or None, default=None
        A column of times: rows are tested by models of earlier rows.
    weight : str or None, default=None
        A column of weights of the rows.

    Attributes
    ----------
    summary_ : dict
        What was found, in plain values: task, score and how it was measured, model, kernels, importance, notes.
    classes_ : ndarray of shape (n_classes,)
        The labels, of classes.
    kinds_ : dict of str to Kind
        What each column was taken for, and why.
    members_ : list
        The trained machines and their weights.
    task_ : Task
        What the target was taken for, and why.
    n_features_in_ : int
        The number of columns that were looked at.

    See Also
    --------
    learn : The same in one call.
    KernelSearchCV : One machine over a grid that is given.

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> model = mc.TableModel("target", seconds=2.0, random_state=0).fit(frame)
    >>> bool(model.summary_["score"] > 0.9), model.predict(frame[:2]).tolist()
    (True, [0, 0])
    """

    target: str = _TARGET
    seconds: float = 60.0
    _: KW_ONLY
    task: str | None = None
    metric: str | None = None
    kinds: Mapping[str, str] | None = None
    drop: Collection[str] = ()
    group: str | None = None
    time_column: str | None = None
    weight: str | None = None
    progress: Progress | None = None
    random_state: int | None = None
    compute: Compute | None = None

    # -- fitting -----------------------------------------------------------------------------------------------------

    def fit(self, X: Rows, y: Targets = None) -> Self:
        """Find the model of a table.

        Ctrl-C ends the search, and the best so far is trained.

        Parameters
        ----------
        X : data frame, or SparseTable
            With the target among its columns, unless y is given.
        y : array-like of shape (n_rows,), optional
            The target, where it is not a column.

        Returns
        -------
        TableModel
            Itself, fitted.

        Raises
        ------
        DataError
            If nothing can be learnt from the table; the message says why.
        """
        began = time.perf_counter()
        if self.seconds <= 0:
            raise ValueError(coded(f"seconds={self.seconds:g}: give some seconds.", "M205"))
        table = with_target(as_table(X), self.target, y)
        asked = Asked(self.task, self.metric, self.kinds or {}, self.drop, self.group, self.time_column, self.weight)
        taken = take_in(table, self.target, asked)
        seed = as_seed(self.random_state)
        search = Search(
            taken.problem, taken.kinds, self.seconds, self.compute, seed, self.progress, taken.task.name == "count"
        )
        try:
            search.run()
        except KeyboardInterrupt:
            if not search.rounds or not search.last.tried:
                raise
            search.interrupted = True
            search.say("interrupted")
        if not search.last.tried:
            raise DataError("Nothing could be learnt from these columns: " + " ".join(search.notes[:2]), "M605")
        self._trained(taken, search, search.choose(), began)
        return self

    def _trained(self, taken: Taken, search: Search, choice: Choice, began: float) -> None:
        problem = taken.problem
        self.kinds_, self.task_, self.indices_ = taken.kinds, taken.task, taken.indices
        self.labels_, self.metric_ = problem.labels, problem.metric
        self.n_features_in_ = problem.X.shape[1]
        if problem.labels:
            self.classes_ = np.array(problem.labels, dtype=None if _alike(problem.labels) else object)
        self.levels_ = np.unique(problem.y) if taken.task.name == "ordinal" else None
        self.priors_ = problem.priors() if problem.classes else None
        self.members_, said = trained(search, choice)
        judged = search.last.problem
        self.shift_ = judged.shift(choice.answers)
        random = np.random.default_rng(search.seed)
        main = max(self.members_, key=lambda m: m.weight)
        self.noise_: Noise | None = None
        once = np.arange(len(judged) // search.last.repeats)
        self.held_out_: Array | None = None
        if problem.classes:
            # of rows that were not trained on, the probability of what they are: for sets of labels
            self.held_out_ = np.sort(choice.answers[np.arange(len(judged)), judged.y])
        else:
            self.noise_ = Noise.of((judged.y - choice.answers)[once], judged.X[once], main.encoding)
        self.judged_ = HeldOut.of(judged.y[once], choice.answers[once], judged.X[once])
        self.judged_.weigh(main, problem.X, problem.y)
        self.background_ = problem.X[some(np.arange(len(problem)), _EXPLAINED, random)]
        self.nearness_ = Nearness.of(main.machine, main.encoding, problem.X, random)
        columns = importances(search, choice, random) if isinstance(problem.X, pl.DataFrame) else {}
        self.summary_ = {"target": self.target} | summarised(taken, search, choice, self.members_, columns, said)
        self.summary_["seconds"] = time.perf_counter() - began
        self.summary_["ended"] = ended(search, self.summary_["seconds"])
        self.summary_["peak_bytes"] = peak_bytes()

    # -- answering ---------------------------------------------------------------------------------------------------

    def prepared(self, table: Rows) -> tuple[Any, list[str]]:
        """The columns the model was trained on, in the same form, and those that it does not know."""
        check_is_fitted(self)
        table = as_table(table)
        if self.indices_ is not None:
            entries = table if isinstance(table, SparseTable) else SparseTable.of_frame(table, self.target)
            return entries.on(self.indices_), entries.unknown(self.indices_)
        if isinstance(table, SparseTable):
            used = [name for name, kind in self.kinds_.items() if kind.used]
            return conform(table.frame(used), self.kinds_)[0], [name for name in table.names if name not in self.kinds_]
        return conform(table.drop(self.target) if self.target in table.columns else table, self.kinds_)

    def _answers(self, table: Rows) -> Array:
        X, _ = self.prepared(table)
        if not X.shape[0]:
            return np.empty((0, len(self.labels_))) if self.labels_ else np.empty(0)
        return self._averaged(X)

    def predict(self, X: Rows) -> Array:
        """The target of each row.

        Parameters
        ----------
        X : data frame, or SparseTable
            With the columns that the model was trained on; others are not looked at.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels as they were given, or numbers; of an ordinal target, the nearest of its levels.
        """
        found = self._answers(X)
        if self.labels_:
            return np.asarray(self.classes_[decided(found, self.metric_, self.priors_)])
        return nearest(self.levels_, found) if self.task_.name == "ordinal" else found

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Rows) -> Array:
        """P(class | x) for each row, calibrated on rows that were not trained on.

        Parameters
        ----------
        X : data frame, or SparseTable
            With the columns that the model was trained on.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns in the order of ``classes_``; rows sum to 1.
        """
        return self._answers(X)

    @available_if(_of_numbers)  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Rows, coverage: float = 0.9) -> Array:
        """An interval for each row that holds its target with the probability ``coverage``.

        From the errors on rows that were not trained on (split conformal prediction), wider where the columns say that
        errors are larger.

        Parameters
        ----------
        X : data frame, or SparseTable
            With the columns that the model was trained on.
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            The lower and the upper end.
        """
        check_coverage(coverage)
        rows, _ = self.prepared(X)
        centre = self._answers(X) - self.shift_
        assert self.noise_ is not None
        width = self.noise_.widths(rows, coverage) if len(centre) else np.empty(0)
        return np.column_stack([centre - width, centre + width])

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def predict_set(self, X: Rows, coverage: float = 0.9) -> Array:
        """The labels that a row may have: a set that holds its label with the probability ``coverage``.

        Parameters
        ----------
        X : data frame, or SparseTable
            With the columns that the model was trained on.
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        ndarray of bool of shape (n_rows, n_classes)
            Which of ``classes_`` are in the set.
        """
        check_coverage(coverage)
        assert self.held_out_ is not None
        return conformal_sets(self.held_out_, self._answers(X), coverage)

    def novelty(self, X: Rows) -> Array:
        """How unlike the training rows each row is: the share of training rows that are nearer to another one.

        Parameters
        ----------
        X : data frame, or SparseTable
            With the columns that the model was trained on.

        Returns
        -------
        ndarray of shape (n_rows,)
            Between 0 and 1; near 1, the row is far from all that the model has seen.
        """
        rows, _ = self.prepared(X)
        return self.nearness_(rows)

    def score(self, X: Rows, y: Targets = None) -> float:
        """The metric on a table that has the target, or beside which it is given; larger is better: errors are
        negative.
        """
        table = with_target(as_table(X), self.target, y)
        column = target_column(table, self.target)
        known = is_present(column).to_numpy()
        truth = as_targets(column.filter(pl.Series(known)), self.task_, self.labels_)[0]
        found = self._answers(filtered(table, known))
        if self.metric_.of == "labels":
            found = decided(found, self.metric_, self.priors_)
        value = self.metric_(truth, found)
        return value if self.metric_.greater else -value

    def explain(self, X: Rows) -> pl.DataFrame:
        """What each column did to the answer of each row: its Shapley value, ``base`` and all columns adding up to the
        answer.

        A column's value is what it adds when it takes the place of a training row's, averaged over 50 training rows
        and, by sampling, over orders of the columns. ``mercer.explain(model, X)`` has all classes, and standard errors.

        Parameters
        ----------
        X : data frame
            A few rows: each costs some two hundred times as many answers as the table has columns.

        Returns
        -------
        polars.DataFrame
            ``answer``, a number or the probability of the most probable class; ``base``, the mean answer for those
            training rows; and a column for each of the table's.
        """
        seed = 0 if self.random_state is None else int(self.random_state)
        return by_columns(explain(self, X, random_state=seed), list(self._explained(X)[0].columns))

    def _explained(self, X: Rows) -> tuple[pl.DataFrame, Any, None, None, None, Any]:
        """What ``mercer.explain`` asks for: rows, what answers for such rows, and rows to compare them with."""
        rows, _ = self.prepared(X)
        if not isinstance(rows, pl.DataFrame):
            raise ValueError(coded("Only tables of named columns are explained.", "M311"))
        return rows, self._averaged, None, None, None, self.background_

    def _averaged(self, rows: Samples) -> Array:
        """Probabilities, or numbers, of rows in the form that the members were trained on."""
        found = average(self.members_, rows)
        return found if self.labels_ else found + self.shift_

    def report(self, X: Rows | None = None, y: Targets = None) -> Report:
        """What was learnt, as one HTML page, and as some lines of text.

        How the table was read, the kernel as mathematics and in words, how the choice was made, how good the answers
        are and where they are not, what the columns do, rows to look at, and what to try next.

        Parameters
        ----------
        X : data frame, optional
            Rows with the target, to judge by; None: those that were held out while the model was chosen, of which
            20 000 answers and 400 rows are kept.
        y : array-like of shape (n_rows,), optional
            The target, where it is not a column.

        Returns
        -------
        Report
            ``report().save("model.html")`` writes the page; ``print(report())`` is the text.
        """
        check_is_fitted(self)
        return reported(self, None if X is None else with_target(as_table(X), self.target, y))

    def _reported(self, X: Rows | None, y: Targets = None) -> Report:
        return self.report(X, y)

    def save(self, path: str | Path) -> None:
        """Write the model to a file; see ``mercer.save``."""
        check_is_fitted(self)
        save(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "summary_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if _of_classes(self):
            from sklearn.utils import ClassifierTags

            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        elif _of_numbers(self):
            from sklearn.utils import RegressorTags

            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.target_tags.required = False
        return tags


def nearest(levels: Array | None, values: Array) -> Array:
    """Of the levels, in ascending order, the one that is nearest to each value."""
    assert levels is not None
    return np.asarray(levels[np.searchsorted((levels[1:] + levels[:-1]) / 2, values)])


def _alike(labels: list[Any]) -> bool:
    return len({type(label) for label in labels}) == 1 and isinstance(labels[0], str | int | float | bool)
