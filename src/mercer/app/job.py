"""The main job: from a table and the name of a column to a model that predicts it, inside a time and a memory.

kinds ─▶ candidates ─▶ search on some rows ─▶ the best again on more rows ─▶ train on all ─▶ Model
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import KFold, StratifiedKFold

from mercer import __version__
from mercer.annotations import Estimator, Index, Samples
from mercer.app.candidates import Candidate, Columns, Entries, candidates, relevance
from mercer.app.kinds import Kind, clean, infer_kinds, task_of
from mercer.app.model import Model, Rows, as_table, as_targets, is_present, score, target_column
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import DataError
from mercer.estimators.ridge import KernelRidge
from mercer.files.svmlight import SparseTable
from mercer.selection.cost import estimate_cost
from mercer.selection.search import KernelSearchCV, NothingFinished
from mercer.selection.tuning import tune

_ROWS = 2000  # that the whole grid is tried on
_MORE = 8000  # that the best are tried on again
_FOLDS = 5
_AGAIN = 4  # candidates that are tried again
_TUNED_ROWS = 1000
_LEAST = 10  # rows
_CENTERS = (4000, 2000, 1000, 500)  # over which a sum is tried in the place of all rows

Report = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Tried:
    """A candidate and its score by cross-validation: accuracy, or minus the root mean squared error."""

    name: str
    estimator: Estimator
    score: float
    spread: float = 0.0
    seconds: float = 0.0


def learn(
    table: Rows,
    target: str,
    *,
    seconds: float = 60.0,
    compute: Compute | None = None,
    random_state: int = 0,
    report: Report | None = None,
) -> Model:
    """The best model of ``target`` that is found in ``seconds``; Ctrl-C ends the search, and the best so far is
    trained.
    """
    run = _Run(table, target, seconds, compute, random_state, report)
    try:
        run.search()
    except KeyboardInterrupt:
        if not run.tried:
            raise
        run.say(stage="interrupted")
    return run.finish()


class _Run:
    def __init__(
        self,
        table: Rows,
        target: str,
        seconds: float,
        compute: Compute | None,
        random_state: int,
        report: Report | None,
    ) -> None:
        self.began, self.seconds, self.compute, self.report = time.perf_counter(), seconds, compute, report
        if seconds <= 0:
            raise ValueError(f"time={seconds:g}: give some seconds.")
        table = as_table(table)
        column = target_column(table, target)
        present = is_present(column).to_numpy()
        known, self.dropped = column.filter(pl.Series(present)), int((~present).sum())
        if len(known) < _LEAST:
            raise DataError(
                f"There are {len(known)} rows with a value of {target!r}; at least {_LEAST} are needed to learn from."
            )
        self.target, self.task = target, task_of(known)
        self._take(table, np.flatnonzero(present))
        self.y, self.labels = as_targets(known, self.task)
        self.notes: list[str] = []
        if self.task.name == "classification":
            self._without_singles()
        self.random = np.random.default_rng(random_state)
        self.order = self.random.permutation(len(self.y))
        self.fold_seed = int(self.random.integers(2**31))  # the same folds for every candidate
        self.tried: list[Tried] = []
        self.first_round: list[Tried] = []

    def _take(self, table: pl.DataFrame | SparseTable, rows: Array) -> None:
        """The samples, what is known of their columns, and what is worth trying on them."""
        self.kinds: dict[str, Kind] = {}
        self.X: Samples
        self.indices: Index = None
        self.columns: Columns | Entries
        if isinstance(table, SparseTable):
            self.X, self.indices = table.X[rows], table.indices
            if not self.X.nnz:
                raise DataError("No column is left to learn from (no row has an entry).")
            self.columns = Entries.of(self.X)
            of = f"{self.X.nnz} entries in {self.X.shape[1]} columns, the rest 0"
            self.shown = {f"x{table.indices[0]} … x{table.indices[-1]}": ["numeric", of]}
            return
        known = table[rows]
        self.kinds = {
            name: _enough(kind, known.get_column(name)) for name, kind in infer_kinds(known, self.target).items()
        }
        self.shown = {name: [kind.name, kind.reason] for name, kind in self.kinds.items()}
        self.X = clean(known, self.kinds)
        if not self.X.width:
            reasons = "; ".join(f"{name!r}: {kind.reason}" for name, kind in self.kinds.items())
            raise DataError(f"No column is left to learn from ({reasons or 'the table has only one column'}).")
        self.columns = Columns.of(self.kinds, [name for name in self.X.columns if self.X.get_column(name).null_count()])

    def _without_singles(self) -> None:
        """Classes of one row can be trained on but not judged by; many classes of few rows are no classes."""
        if len(self.labels) > max(20, len(self.y) // 5):
            raise DataError(
                f"{self.target!r} has {len(self.labels)} different values in {len(self.y)} rows: too many to be"
                " classes, and no numbers."
            )
        counts = np.bincount(self.y)
        rare = [str(self.labels[k]) for k in np.flatnonzero(counts == 1)]
        if rare:
            kept = counts[self.y] > 1
            self.X, self.y = self.X[np.flatnonzero(kept)], self.y[kept]
            self.notes.append(
                f"Classes of a single row were left out: {', '.join(rare[:5])}{', …' if len(rare) > 5 else ''}."
            )
        if len(np.unique(self.y)) < 2:
            raise DataError(
                f"The target {self.target!r} has one class with more than one row: there is nothing to tell apart."
            )

    @property
    def left(self) -> float:
        return self.seconds - (time.perf_counter() - self.began)

    def say(self, **state: Any) -> None:
        if self.report is not None:
            best = max(self.tried, key=lambda t: t.score, default=None)
            self.report({"left": self.left, "best": best, "tried": len(self.tried), **state})

    # -- searching ---------------------------------------------------------------------------------------------------

    def search(self) -> None:
        n = len(self.y)
        some = np.sort(self.order[: min(n, _ROWS)])
        spread = float(np.std(self.y)) if self.task.name == "regression" else 1.0
        families = candidates(self.columns, self.task.name, spread or 1.0, self.compute)
        later = 0.45 if n > _ROWS else 0.15  # of the time, for what comes after the grid
        for k, candidate in enumerate(families):
            share = (self.left - later * self.seconds) / (len(families) - k)
            if share > 0 or not self.tried:
                self._grid(candidate, some, max(share, 0.02 * self.seconds))
        if self.left > later * self.seconds / 2:
            self._relevance(some)
        if n > len(some):
            self._again()

    def _folds(self, rows: Array) -> list[tuple[Array, Array]]:
        y = self.y[rows]
        if self.task.name == "regression":
            return list(KFold(_FOLDS, shuffle=True, random_state=self.fold_seed).split(np.zeros(len(y)), y))
        folds = min(_FOLDS, int(np.bincount(y).max()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class of fewer rows than folds is absent from some tests
            return list(StratifiedKFold(folds, shuffle=True, random_state=self.fold_seed).split(np.zeros(len(y)), y))

    @property
    def _scoring(self) -> str:
        return "accuracy" if self.task.name == "classification" else "neg_root_mean_squared_error"

    def _grid(self, candidate: Candidate, rows: Array, seconds: float) -> None:
        self.say(stage="search", name=candidate.name)

        def heard(state: dict[str, Any]) -> None:
            self.say(stage="search", name=candidate.name, done=state["done"], of=state["of"])

        search = KernelSearchCV(
            candidate.estimator, candidate.grid, cv=self._folds(rows), scoring=self._scoring, refit=False,
            max_time=seconds, progress=heard, error_score=np.nan,
        )  # fmt: skip
        try:
            with warnings.catch_warnings():
                # a candidate that is hard to train is judged by its score
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", FitFailedWarning)
                search.fit(self.X[rows], self.y[rows])
        except NothingFinished:
            if not self.tried:  # one at least, whatever it takes
                middle = {name: [values[len(values) // 2]] for name, values in candidate.grid.items()}
                self._grid(Candidate(candidate.name, candidate.estimator, middle), rows, np.inf)
            return
        found = search.cv_results_
        for c, values in enumerate(found["params"]):
            if np.isfinite(found["mean_test_score"][c]):
                estimator, spread = clone(candidate.estimator).set_params(**values), float(found["std_test_score"][c])
                self.tried.append(
                    Tried(
                        candidate.name,
                        estimator,
                        float(found["mean_test_score"][c]),
                        spread,
                        float(found["mean_fit_time"][c]),
                    )
                )
        if search.stopped_ == "interrupted":
            raise KeyboardInterrupt

    def _relevance(self, rows: Array) -> None:
        """Lengths for every column, by the gradient of the leave-one-out error, then the grid of prices for that
        kernel.
        """
        for name, kernel in relevance(self.columns, self.task.name):
            if self.left < 0.2 * self.seconds:
                return
            self.say(stage="tune", name=name)
            # from rows that no candidate is judged by, where there are such
            spare = self.order[len(rows) :]
            some = np.sort((spare if len(spare) >= _TUNED_ROWS else self.order)[:_TUNED_ROWS])
            y = (
                self.y[some]
                if self.task.name == "regression"
                else np.where(self.y[some] == self.y[some].max(), 1.0, -1.0)
            )
            if self.task.name == "classification" and len(self.labels) > 2:
                y = np.where(self.y[some][:, None] == np.arange(len(self.labels)), 1.0, -1.0)
            try:
                found = tune(
                    KernelRidge(0.1, kernel, compute=self.compute),
                    self.X[some],
                    y,
                    "loo",
                    max_iter=40,
                    max_time=0.15 * self.seconds,
                )
            except ValueError as error:
                self.notes.append(f"Lengths for each column were not tuned: {error}")
                return
            tuned = found.estimator
            first = candidates(self.columns, self.task.name, float(np.std(self.y)) or 1.0, self.compute)[0]
            grid = {name: values for name, values in first.grid.items() if name != "kernel"} | {
                "kernel": [tuned.kernel]
            }
            self._grid(
                Candidate(f"{first.name.split(',')[0]}, {name}", first.estimator, grid), rows, 0.15 * self.seconds
            )

    def _again(self) -> None:
        """The best candidates of different kernels, on more rows: narrower kernels pay as there are more."""
        rows = np.sort(self.order[: min(len(self.y), _MORE)])
        (train, test), *_ = self._folds(rows)
        best: dict[str, Tried] = {}
        for tried in sorted(self.tried, key=lambda t: -t.score):
            best.setdefault(str(tried.estimator.kernel), tried)
        again: list[Tried] = []
        for tried in list(best.values())[:_AGAIN]:
            if again and self.left < 0.3 * self.seconds:
                break
            self.say(stage="more rows", name=tried.name)
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                machine = clone(tried.estimator).fit(self.X[rows[train]], self.y[rows[train]])
            value = score(self.task, self.y[rows[test]], machine.predict(self.X[rows[test]]))
            again.append(Tried(tried.name, tried.estimator, value, tried.spread, time.perf_counter() - start))
        self.first_round = self.tried
        self.tried = again or self.tried

    # -- the end -----------------------------------------------------------------------------------------------------

    def finish(self) -> Model:
        if not self.tried:
            raise DataError("Nothing was finished in the time that was given; give more.")
        best = max(self.tried, key=lambda t: t.score)
        machine, rows = self._affordable(best)
        self.say(stage="train", name=best.name)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            estimator = machine.fit(self.X[rows], self.y[rows])
        self.notes += [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
        return Model(
            estimator,
            self.kinds,
            self.target,
            self.task,
            self.labels,
            self._summary(best, estimator, rows),
            self.indices,
        )

    def _affordable(self, best: Tried) -> tuple[Estimator, Array]:
        """What to train, and the rows: all, where that can be foreseen to be done in the time that is left, or as a sum
        over as many of them as the time allows; else as many rows as it allows, by how long fewer took.
        """
        n, machine = len(self.y), clone(best.estimator)
        seen = min(n, _MORE if self.first_round else _ROWS) * (1 - 1 / _FOLDS)
        seconds = max(self.left, 0.3 * self.seconds)
        most = int(seen * max(1.0, seconds / max(best.seconds, 1e-3)) ** 0.4)
        if n <= 1.3 * most or n <= _ROWS or self._fits(machine, seconds):
            return machine, np.arange(n)
        for centers in [m for m in _CENTERS if hasattr(machine, "centers") and 2 * m <= n]:
            few = clone(machine).set_params(centers=centers, random_state=self.fold_seed)
            if self._fits(few, seconds):
                self.notes.append(
                    f"Trained on all {n} rows as a sum over {centers} of them: over all it would take longer than the"
                    " time allows (--time)."
                )
                return few, np.arange(n)
        self.notes.append(f"Trained on {most} of {n} rows: all would take longer than the time allows (--time).")
        return machine, np.sort(self.order[:most])

    def _fits(self, machine: Estimator, seconds: float) -> bool:
        """Whether it can be trained on all rows in so many seconds, and in memory."""
        found = estimate_cost(machine, self.X, self.y)
        return found.feasible and found.seconds <= seconds

    def _summary(self, best: Tried, estimator: Estimator, rows: Array) -> dict[str, Any]:
        classes = self.task.name == "classification"
        baseline = float(np.max(np.bincount(self.y.astype(int))) / len(self.y)) if classes else -float(np.std(self.y))
        leaders: dict[str, float] = {}
        # of the last round alone: scores on other rows do not compare
        for tried in sorted(self.tried, key=lambda t: -t.score):
            leaders.setdefault(tried.name, tried.score)
        return {
            "mercer": __version__,
            "target": self.target,
            "task": self.task.name,
            "reason": self.task.reason,
            "rows": len(self.y),
            "trained_on": len(rows),
            "rows_without_target": self.dropped,
            "metric": "accuracy" if self.task.name == "classification" else "rmse",
            "score": abs(best.score),
            "measured": self._measured(),
            "baseline": abs(baseline),
            "model": best.name,
            "kernel": str(best.estimator.kernel),
            "parameters": {
                k: v for k, v in best.estimator.get_params(deep=False).items() if k in ("C", "alpha", "epsilon")
            },
            "classes": [str(label) for label in self.labels],
            "columns": self.shown,
            "leaders": {name: abs(value) for name, value in list(leaders.items())[:6]},
            "importance": self._importance(estimator, rows),
            "tried": len(self.tried) + len(self.first_round),
            "seconds": time.perf_counter() - self.began,
            "notes": self.notes,
        }

    def _measured(self) -> str:
        """What the score is the score of."""
        if self.first_round:
            rows = min(len(self.y), _MORE)
            return f"on {rows // _FOLDS} rows that were held out of {rows}"
        return f"by {_FOLDS} folds of {min(len(self.y), _ROWS)} rows"

    def _importance(self, estimator: Estimator, rows: Array) -> dict[str, float]:
        """How much the score on (at most 500 of) its own rows falls when a column is shuffled; not asked of the many
        columns of a sparse table.
        """
        if self.indices is not None:
            return {}
        some = rows[:: max(1, len(rows) // 500)]
        X, y = self.X[some], self.y[some]
        whole = score(self.task, y, estimator.predict(X))
        out = {}
        for name in X.columns[:60]:
            order = self.random.permutation(len(X))
            shuffled = X.with_columns(X.get_column(name)[order].alias(name))
            out[name] = whole - score(self.task, y, estimator.predict(shuffled))
        return dict(sorted(out.items(), key=lambda item: -item[1]))


def _enough(kind: Kind, column: pl.Series) -> Kind:
    """A column of numbers that are nearly all missing has nothing to say, and some folds would see none of them."""
    present = int(is_present(column).sum())
    if kind.name in ("numeric", "date") and present < max(_LEAST, 0.05 * len(column)):
        return Kind("other", f"only {present} of {len(column)} rows have a value")
    return kind
