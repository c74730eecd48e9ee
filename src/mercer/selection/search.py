"""Cross-validation that computes each kernel matrix once: one file, since a search is its table of scores and the rest.

A grid over kernel parameters and C or λ asks for few matrices and many fits. Candidates are grouped by their kernel,
which is a value: its matrix is computed once for all folds and all of them; only what a kernel takes from data is bound
in each training fold, as it must be. Along C machines start from one another, along λ one decomposition gives all.
Machines over landmarks share those of a fold, and along λ the passes over its data.
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer, _PassthroughScorer
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils.metaestimators import available_if

from mercer.annotations import Estimator, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import listed, size, take
from mercer.distributed import Partitions, Workers, is_collection
from mercer.estimators.base import KernelEstimator
from mercer.estimators.parameters import Progress, estimator
from mercer.estimators.scikit_checks import assert_all_finite, check_is_fitted
from mercer.gram import Outline, Use, Work, outlined
from mercer.kernels.base import Kernel
from mercer.kernels.given import PRECOMPUTED
from mercer.runtime.watch import Stopped, Watch, watching
from mercer.selection.folds import Entered, EnteredByLandmarks, Fold, learns_from_matrix, learns_on_landmarks
from mercer.troubles import coded

Split = tuple[Array, Array]


class NothingFinished(ValueError):
    """No candidate has a score on all folds: the time was over before, or every score is NaN."""


@dataclass(eq=False)
class Cells:
    """Scores of candidates (rows) on splits (columns), filled kernel by kernel; NaN is not done."""

    estimator: Estimator
    candidates: list[dict[str, Any]]
    splits: list[Split]
    scorer: Callable[[Any, Any, Any], float]
    progress: Progress | None = None
    max_time: float | None = None
    error_score: float | str = "raise"

    def __post_init__(self) -> None:
        self.scores = np.full((len(self.candidates), len(self.splits)), np.nan)
        self.seconds = np.full((2, *self.scores.shape), np.nan)  # of fitting, of scoring
        self.machines = [clone(self.estimator).set_params(**values) for values in self.candidates]
        # the data as the best kernel so far sees them: the best machine is trained on its matrix
        self.kept: Entered | None = None
        self.watch: Watch | None = None

    def fit(self, c: int, X: Samples, y: Targets, weights: Array | None) -> Any:
        """Candidate c on all samples."""
        machine = clone(self.machines[c])
        if self.kept is None or self.kept.stored is None or _kernel_of(machine) != _kernel_of(self.kept.door):
            return machine.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
        return self.kept.train(machine, weights)

    def fill(self, X: Samples, y: Targets, weights: Array | None) -> str:
        """All cells; what ended it before, in words. Those that are done stand, whatever is raised."""
        with watching(
            self.max_time, self.progress, done=0, of=self.scores.size, params={}, scores=self.scores
        ) as watch:
            self.watch = watch
            try:
                self._fill(X, y, weights)
            except Stopped as stop:
                if stop.watch is not watch:
                    raise
                return (
                    "stopped by the callback"
                    if stop.reason == "callback"
                    else f"stopped after max_time={self.max_time:g} s"
                )
        return ""

    def _fill(self, X: Samples, y: Targets, weights: Array | None) -> None:
        compute = getattr(self.estimator, "compute", None)
        if compute is not None and compute.client is not None:
            self._fill_on_workers(compute, X, y, weights)
            return
        for shared, members in self._by_kernel().items():
            self._fill_one(shared, members, X, y, weights)

    def _fill_one(
        self,
        shared: Kernel | str | _ByLandmarks | None,
        members: list[int],
        X: Samples,
        y: Targets,
        weights: Array | None,
    ) -> None:
        """The candidates of one kernel."""
        if isinstance(shared, _ByLandmarks):
            self._fill_by_landmarks(members, X, y, weights)
        else:
            self._fill_by_matrix(shared, members, X, y, weights)

    def _fill_on_workers(self, compute: Compute, X: Samples, y: Targets, weights: Array | None) -> None:
        """The candidates of each kernel are a task of a worker, who computes its matrix; the data are sent once."""
        workers = Workers(compute.client)
        groups = list(self._by_kernel().values())
        # those that share no matrix are tasks of their own
        groups = [
            part for members in groups for part in ([members] if self._shares(members) else [[c] for c in members])
        ]
        share = workers.share(compute, len(groups))
        tasks = Partitions(workers, [list(members) for members in groups])
        alone = clone(self.estimator).set_params(compute=share)
        sent = (alone, self.candidates, self.splits, self.scorer, self.error_score, X, y, weights)
        for members, (scores, seconds, told) in zip(
            groups, tasks.each("candidates of a kernel", _filled, sent), strict=True
        ):
            self.scores[members], self.seconds[:, members] = scores, seconds
            for message, kind in told:
                warnings.warn(message, kind, stacklevel=4)
            self._after(members)

    def _shares(self, members: list[int]) -> bool:
        """Whether these candidates learn from one matrix, or from the same landmarks."""
        machine = self.machines[members[0]]
        return learns_on_landmarks(machine) or _kernel_of(machine) is not None

    def _fill_by_matrix(
        self, kernel: Kernel | str | None, members: list[int], X: Samples, y: Targets, weights: Array | None
    ) -> None:
        """Candidates with the same kernel, None for those that do not learn from one matrix."""
        entered = None if kernel is None else Entered.of(self.machines[members[0]], X, y)
        for s, (train, test) in enumerate(self.splits):
            fold = None if entered is None else entered.fold(train, test, _some(weights, train))
            for path in self._paths(members) if kernel is not None else [[c] for c in members]:
                machines = [clone(self.machines[c]) for c in path]
                given = {} if weights is None else {"sample_weight": weights[train]}
                if entered is None or fold is None:
                    learn = partial(_fit_one, take(X, train), _some(y, train), given)
                else:
                    learn = partial(self._learn_fold, fold, _some(entered.y, train), _some(weights, train))
                new = fold.cross if fold is not None and self._asks_machines(fold) else take(X, test)
                self._cells(path, s, machines, learn, (new, _some(y, test), _some(weights, test)))
        if self.best_index() in members:
            self.kept = entered

    def _fill_by_landmarks(self, members: list[int], X: Samples, y: Targets, weights: Array | None) -> None:
        """Candidates with the same kernel and landmarks: those of a fold are chosen once."""
        entered = EnteredByLandmarks.of(self.machines[members[0]], X, y)
        for s, (train, test) in enumerate(self.splits):
            fold = entered.fold(train, _some(weights, train))
            new = take(X, test), _some(y, test), _some(weights, test)
            for path in self._paths(members):
                self._cells(path, s, [clone(self.machines[c]) for c in path], fold.learn, new)
        if self.best_index() in members:
            self.kept = None

    def _asks_machines(self, fold: Fold) -> bool:
        """Whether the score asks a machine for its answers and nothing else, as scikit-learn's own do: then a matrix
        serves in the place of samples.
        """
        return fold.items is None or isinstance(self.scorer, _BaseScorer | _PassthroughScorer)

    def _learn_fold(self, fold: Fold, y: Targets, weights: Array | None, machines: list[Any]) -> None:
        fold.learn(machines, y, weights)
        if not self._asks_machines(fold):
            fold.remember(machines)

    def best_index(self) -> int | None:
        """The first of the best candidates that are finished."""
        mean = np.where(np.isfinite(self.scores).all(axis=1), self.scores.mean(axis=1), -np.inf)
        return int(np.argmax(mean)) if np.isfinite(mean).any() else None

    def _by_kernel(self) -> dict[Any, list[int]]:
        """Candidates with the same kernel, and landmarks where they learn on those; under None those that learn
        neither way.
        """
        groups: dict[Any, list[int]] = {}
        for c, machine in enumerate(self.machines):
            shared = _ByLandmarks.of(machine) if learns_on_landmarks(machine) else _kernel_of(machine)
            groups.setdefault(shared, []).append(c)
        return groups

    def _paths(self, members: list[int]) -> list[list[int]]:
        """Candidates that differ only in the parameter along which the estimator has a path."""
        along = getattr(self.estimator, "_along", None)
        if along is None:
            return [[c] for c in members]
        groups: dict[str, list[int]] = {}
        for c in members:
            rest = {
                name: pickle.dumps(value) if hasattr(value, "__array__") else value  # of which too little is written
                for name, value in self.candidates[c].items()
                if name != along
            }
            groups.setdefault(repr(sorted(rest.items())), []).append(c)
        return list(groups.values())

    def _cells(
        self, path: list[int], s: int, machines: list[Any], learn: Callable[[list[Any]], Any], test: tuple[Any, ...]
    ) -> None:
        start = time.perf_counter()
        try:
            learn(machines)
        except (ValueError, ArithmeticError, MemoryError, TimeoutError) as error:
            # the search's own time
            if self.error_score == "raise" or (isinstance(error, Stopped) and not error.watch.partial):
                raise
            if len(path) > 1:  # whose fault it was shows when each learns alone
                for c in path:
                    self._cells([c], s, [clone(self.machines[c])], learn, test)
                return
            warnings.warn(
                coded(f"{self.candidates[path[0]]} could not be fitted on fold {s}: {error}", "M309"),
                FitFailedWarning,
                stacklevel=4,
            )
            self._after(path)
            return
        middle = time.perf_counter()
        B, y_test, weights = test
        weighed = {} if weights is None or not self._weighs else {"sample_weight": weights}
        for c, machine in zip(path, machines, strict=True):
            self.scores[c, s] = float(self.scorer(machine, B, y_test, **weighed))
        self.seconds[0, path, s] = (middle - start) / len(path)
        self.seconds[1, path, s] = (time.perf_counter() - middle) / len(path)
        self._after(path)

    @property
    def _weighs(self) -> bool:
        """Whether the score takes weights: scikit-learn's own do, and functions that name them."""
        parameters = signature(self.scorer).parameters.values()
        return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)

    def _after(self, path: list[int]) -> None:
        if self.watch is not None:
            self.watch.say(
                done=int(np.isfinite(self.scores).sum()),
                of=self.scores.size,
                params=self.candidates[path[-1]],
                scores=self.scores,
            )


def _filled(members: list[int], sent: tuple[Any, ...]) -> tuple[Array, Array, list[tuple[str, Any]]]:
    """The scores and times of some candidates, and what was warned of, on a worker."""
    alone, candidates, splits, scorer, error_score, X, y, weights = sent
    cells = Cells(alone, [candidates[c] for c in members], splits, scorer, error_score=error_score)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        cells.fill(X, y, weights)
    return cells.scores, cells.seconds, [(str(found.message), found.category) for found in told]


@estimator
class KernelSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """The best of a grid of parameters by cross-validation; scores are those of scikit-learn's GridSearchCV on the same
    splits.

    Each kernel matrix is computed once, for all folds and all candidates with that kernel; along C machines start from
    one another, along λ one decomposition gives all. So a grid of C or λ costs little more than one value, and a new
    kernel parameter costs a matrix. What a kernel takes from data ("scale", means) is bound in each training fold.
    Machines with ``centers`` have no such matrix: those of one kernel have the same landmarks in a fold, and all λ of a
    ridge are found in the same passes. Where the estimator has a ``Compute(client=…)``, the candidates of each kernel
    are a task of one of its workers. After ``fit`` the search predicts and scores as its best estimator.

    Parameters
    ----------
    estimator : estimator
        Any estimator of Mercer (others work, without the savings).
    param_grid : dict or list of dict
        As for GridSearchCV: {"C": [1, 10], "kernel__gamma": [0.1, 1.0]}, or {"kernel": [Gaussian(), Linear()]}, or a
        list of such.
    cv : int, splitter or iterable, default=None
        A number of folds (None: 5; stratified for classifiers) or a scikit-learn splitter (stratified, grouped, …).
    scoring : str or callable, default=None
        As for GridSearchCV, one score; None: the estimator's own.
    refit : bool, default=True
        Whether to train the best on all data: ``best_estimator_``.
    max_time : float, optional
        Seconds after which the best of what is finished is taken.
    progress : callable, optional
        Called with done, of, seconds, params, scores after each fit, or each path of fits along C or λ, and, with
        ``stage`` and ``share``, several times a second while a matrix is computed; returns True to stop.
    error_score : "raise" or NaN, default="raise"
        With NaN a candidate that cannot be fitted is out of the race, with a FitFailedWarning that says why.
    on_interrupt : {"keep", "raise"}, default="keep"
        "keep": Ctrl-C ends the search, and the best of the finished candidates stands. "raise": it is an error.

    Attributes
    ----------
    best_params_ : dict
        The candidate of the best mean score, the first of several.
    best_score_ : float
        Its mean score over the folds. It was chosen as the largest, so it is optimistic: see ``nested_scores``.
    best_index_ : int
        Its place in ``cv_results_``.
    best_estimator_ : estimator
        It, trained on all data, where ``refit``.
    cv_results_ : dict of arrays
        As of GridSearchCV; ``frame()`` is the same as a data frame.
    n_splits_ : int
        The number of folds.
    stopped_ : str
        What ended the search before all was done, in words; "" otherwise.
    classes_, n_features_in_, feature_names_in_ : optional
        Those of ``best_estimator_``, where it has them.

    See Also
    --------
    nested_scores : What choosing is worth, unbiased.
    tune : All continuous parameters at once, by gradient.
    KernelRidgeCV : λ by leave-one-out, without a grid of fits.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (60, 2))
    >>> y = (X**2).sum(axis=1) > 0.6
    >>> grid = {"C": [1.0, 100.0], "kernel": [mc.Linear(), mc.Gaussian(1.0)]}
    >>> search = mc.KernelSearchCV(mc.SVC(), grid, cv=4).fit(X, y)
    >>> search.best_params_
    {'C': 1.0, 'kernel': Gaussian(gamma=1.0)}
    >>> search.frame().select("param_C", "param_kernel", "mean_test_score").shape
    (4, 3)
    >>> search.predict([[0.0, 0.0], [1.0, 1.0]])
    array([False,  True])
    """

    estimator: Estimator
    param_grid: Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Iterable[Any]]]
    _: KW_ONLY
    cv: Any = None
    scoring: str | Callable[..., float] | None = None
    refit: bool = True
    max_time: float | None = None
    progress: Progress | None = None
    error_score: float | str = "raise"
    on_interrupt: str = "keep"

    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None, groups: Any = None) -> KernelSearchCV:
        """Score every candidate on every fold, then train the best on all.

        Parameters
        ----------
        X : collection of samples
            What the estimator takes; for ``kernel="precomputed"`` the square matrix.
        y : array of shape (n,) or (n, outputs), optional
            Targets or labels.
        sample_weight : array of shape (n,), optional
            Weights in training, and in the score where that takes weights.
        groups : array of shape (n,), optional
            For splitters that keep groups together.

        Returns
        -------
        KernelSearchCV
            Itself, fitted.

        Raises
        ------
        ValueError
            If no candidate has a score on all folds.
        """
        X, y, weights, splits = self._prepared(X, y, sample_weight, groups)
        cells = self._cells(splits)
        self.stopped_ = ""
        try:
            self.stopped_ = cells.fill(X, y, weights)
        except KeyboardInterrupt:
            if self.on_interrupt == "raise" or not np.isfinite(cells.scores).all(axis=1).any():
                raise
            self.stopped_ = "interrupted"
        self._take(cells, X, y, weights)
        return self

    def _prepared(
        self, X: Samples, y: Targets, sample_weight: Weights, groups: Any
    ) -> tuple[Any, Any, Array | None, list[Split]]:
        if is_collection(X):
            raise TypeError(
                coded(
                    "KernelSearchCV takes samples in memory, whose folds its candidates share: give some of the"
                    " collection, and Compute(client=…) to score the candidates on the workers.",
                    "M313",
                )
            )
        X = (
            X.tocsr()
            if hasattr(X, "tocsr")
            else np.asarray(X)
            if hasattr(X, "__array__") and not hasattr(X, "shape")
            else listed(X)
        )
        door = clone(self.estimator)
        # before any work
        if isinstance(door, KernelEstimator) and not any(
            "kernel" in values for values in ParameterGrid(self.param_grid)
        ):
            door._accept(X, reset=True)
            door._weights(size(X), sample_weight)
        y = None if y is None else np.asarray(y)
        if y is not None and y.dtype.kind == "f":
            assert_all_finite(y, allow_nan=y.ndim == 2, input_name="y")  # among several outputs NaN is a missing label
        n = size(X)
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        for name, values in (("y", y), ("sample_weight", weights), ("groups", groups)):
            if values is not None and len(values) != n:
                raise ValueError(
                    coded(f"X and {name} have inconsistent numbers of samples: {n} and {len(values)}.", "M111")
                )
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(cv.split(X if _looks_at_samples(cv) else np.zeros(n), y, groups))
        if not splits:
            raise ValueError(coded("cv gives no split.", "M205"))
        return X, y, weights, splits

    def _cells(self, splits: list[Split]) -> Cells:
        candidates = list(ParameterGrid(self.param_grid))
        if not candidates:
            raise ValueError(coded(f"param_grid={self.param_grid!r} has no candidate.", "M205"))
        if self.on_interrupt not in ("raise", "keep"):
            raise ValueError(
                coded(f"on_interrupt={self.on_interrupt!r}: 'raise', or 'keep' the best found so far.", "M205")
            )
        if isinstance(self.scoring, list | tuple | set | dict):
            raise ValueError(
                coded(
                    f"scoring={self.scoring!r}: one score to choose by; others can be computed from the best"
                    " estimator.",
                    "M205",
                )
            )
        return Cells(
            self.estimator,
            candidates,
            splits,
            check_scoring(self.estimator, self.scoring),
            self.progress,
            self.max_time,
            self.error_score,
        )

    def _cost_of_grid(
        self, n: int, y: Targets, outline_of: Callable[[Any], Outline], cost: Callable[..., Work]
    ) -> Work:
        """Of all candidates, by ``_fill``: for each kernel its matrix, for each fold the part of it, for each path
        along C or λ its fits; and the best on all samples. ``cost`` is that of a machine, or of so many along its path.
        """
        found = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        folds = found.get_n_splits(np.zeros(n), y)
        cells = self._cells([])
        train = n - n // max(2, folds)
        total, fits, solver = Work(), 0, ""
        groups = cells._by_kernel()
        for kernel, members in groups.items():
            machine = cells.machines[members[0]]
            outline = outline_of(machine)
            whole, made = (outline, Work()) if kernel is None else outlined(outline, Use.FOLDS)
            part, copied = (whole.of(train), Work()) if kernel is None else outlined(whole.of(train), Use.FOLD)
            paths = cells._paths(members)
            for path in paths:
                one = cost(cells.machines[path[0]], part, len(path))
                cross = part.product() * (n - train) / max(1, train) * len(path)
                solver = one.solver
                # the part of the fold before is there until that of the next is
                one = replace(one, memory=max(one.memory, copied.memory))
                every = one.beside(made.memory + copied.memory, copied.seconds / len(paths) + cross)
                total = total.then(every.times(folds))
                fits += folds * len(path)
            # that of the best kernel so far is kept beside
            total = total.then(Work(0.0, made.seconds)).beside(made.memory if len(groups) > 1 else 0.0)
            total = replace(total, memory=min(total.memory, float(outline.compute.budget)))
        last = cost(cells.machines[0], outline_of(cells.machines[0]), 1) if self.refit else Work()
        plan = f"{fits} fits on {train} samples with {len(groups)} matrices"
        return replace(total.then(last), plan=f"{plan}, each {one.plan}", solver=solver)

    def _take(self, cells: Cells, X: Samples, y: Targets, weights: Array | None) -> None:
        best = cells.best_index()
        if best is None:
            why = self.stopped_ or "every score is NaN"
            raise NothingFinished(
                coded(
                    f"No candidate has a score on all folds ({why}): give more time, fewer folds or fewer samples.",
                    "M309",
                )
            )
        done = np.isfinite(cells.scores).all(axis=1)
        mean = np.where(done, cells.scores.mean(axis=1), np.nan)
        self.best_index_ = best
        self.best_params_, self.best_score_ = cells.candidates[best], float(mean[best])
        self.n_splits_ = len(cells.splits)
        order = np.where(done, -mean, np.inf)
        results: dict[str, Any] = {}
        for name, seconds in zip(("fit_time", "score_time"), cells.seconds, strict=True):
            results |= {f"mean_{name}": seconds.mean(axis=1), f"std_{name}": seconds.std(axis=1)}
        for name in sorted({name for values in cells.candidates for name in values}):
            results[f"param_{name}"] = np.fromiter((values.get(name) for values in cells.candidates), object)
        results["params"] = cells.candidates
        results |= {f"split{s}_test_score": cells.scores[:, s] for s in range(self.n_splits_)}
        results |= {"mean_test_score": mean, "std_test_score": np.where(done, cells.scores.std(axis=1), np.nan)}
        results["rank_test_score"] = np.array([int(np.sum(order < value)) + 1 for value in order], np.int32)
        self.cv_results_ = results
        if self.refit:
            self.best_estimator_ = cells.fit(self.best_index_, X, y, weights)
            for name in ("classes_", "n_features_in_", "feature_names_in_"):
                if hasattr(self.best_estimator_, name):
                    setattr(self, name, getattr(self.best_estimator_, name))

    def frame(self) -> Any:
        """The results, one row for each candidate, as a polars data frame: ``cv_results_`` without ``params``, kernels
        as text.
        """
        import polars as pl

        check_is_fitted(self, "cv_results_")
        columns = {}
        for name, values in self.cv_results_.items():
            if name != "params":
                plain = all(value is None or isinstance(value, int | float | np.number) for value in values)
                columns[name] = [value if plain or value is None else str(value) for value in values]
        return pl.DataFrame(columns)

    # -- the best estimator's methods --------------------------------------------------------------------------------

    def predict(self, X: Samples, **options: Any) -> Any:
        """What the best estimator predicts for X; ``options`` are those of its ``predict``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X, **options)

    @available_if(lambda self: hasattr(getattr(self, "best_estimator_", self.estimator), "decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Samples) -> Any:
        """The decision function of the best estimator, where it has one."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)

    @available_if(lambda self: hasattr(getattr(self, "best_estimator_", self.estimator), "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Samples) -> Any:
        """The probability of each class by the best estimator, where it has one."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)

    @available_if(lambda self: hasattr(getattr(self, "best_estimator_", self.estimator), "predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Samples) -> Any:
        """The logarithm of ``predict_proba``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_log_proba(X)

    def score(self, X: Samples, y: Targets = None) -> float:
        """The score that was searched by, of the best estimator on X and y."""
        check_is_fitted(self, "best_estimator_")
        return float(check_scoring(self.estimator, self.scoring)(self.best_estimator_, X, y))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags, tags.regressor_tags = (
            inner.estimator_type,
            inner.classifier_tags,
            inner.regressor_tags,
        )
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags


class _ByLandmarks(NamedTuple):
    """What candidates share that have the same landmarks."""

    kernel: Kernel
    centers: int | np.integer[Any] | bytes | None
    random_state: int | np.integer[Any] | bytes | None

    @classmethod
    def of(cls, machine: Estimator) -> _ByLandmarks:
        return cls(machine._given_kernel, _written(machine.centers), _written(machine.random_state))


def _written(value: object) -> Any:
    """A value to tell parameters apart by: of collections and of sources of random numbers, all that is in them."""
    return value if value is None or isinstance(value, int | np.integer) else pickle.dumps(value)


def _kernel_of(machine: Estimator) -> Any:
    """The kernel of whose matrix a machine learns, "precomputed" where that is given; None where it does not learn from
    one.
    """
    if not learns_from_matrix(machine):
        return None
    return PRECOMPUTED if machine._precomputed else machine._given_kernel if machine._one_kernel else None


def _fit_one(X: Samples, y: Targets, given: dict[str, Any], machines: list[Any]) -> None:
    """The estimator, not of ours, of a path of one."""
    machines[0].fit(X, y, **given)


def _some(values: Targets, chosen: Array) -> Any:
    return None if values is None else values[chosen]


def _looks_at_samples(cv: object) -> bool:
    """Whether a splitter may ask for more than how many samples there are; scikit-learn's own do not."""
    return hasattr(cv, "split") and not type(cv).__module__.startswith("sklearn.")


def nested_scores(
    search: KernelSearchCV, X: Samples, y: Targets, *, cv: Any = None, sample_weight: Weights = None, groups: Any = None
) -> Array:
    """The score on each outer fold of the candidate that the inner cross-validation chooses without it: what choosing
    is worth, unbiased.

    The same numbers as ``cross_val_score(search, X, y, cv=cv)``, but inner and outer folds share the matrices: each is
    computed once.

    Parameters
    ----------
    search : KernelSearchCV
        The search, fitted or not; its ``cv`` makes the inner folds. It is not changed.
    X : collection of samples
        As for ``search.fit``.
    y : array of shape (n,)
        Targets or labels.
    cv : int, splitter or iterable, default=None
        The outer folds; None: 5.
    sample_weight, groups : array of shape (n,), optional
        As for ``search.fit``.

    Returns
    -------
    ndarray of shape (outer folds,)
        One score for each outer fold.

    Raises
    ------
    ValueError
        If ``search.max_time`` was over, or its ``progress`` ended it, before all folds were done.

    Examples
    --------
    Labels that nothing explains: the best of the search looks better than chance, the nested score does not.

    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((50, 3)), rng.integers(0, 2, 50)
    >>> search = mc.KernelSearchCV(mc.SVC(), {"kernel__gamma": [0.01, 0.1, 1.0, 10.0]}, cv=3)
    >>> round(search.fit(X, y).best_score_, 2), round(float(mc.nested_scores(search, X, y, cv=3).mean()), 2)
    (0.54, 0.5)
    """
    X, y, weights, outer = KernelSearchCV(search.estimator, search.param_grid, cv=cv)._prepared(
        X, y, sample_weight, groups
    )
    splits: list[Split] = []
    inside: list[slice] = []
    for train, _ in outer:
        kept = None if groups is None else np.asarray(groups)[train]
        part = take(X, train) if _looks_at_samples(search.cv) else np.zeros((len(train), 1))
        *_, inner = search._prepared(part, _some(y, train), None, kept)
        inside.append(slice(len(splits), len(splits) + len(inner)))
        splits += [(train[a], train[b]) for a, b in inner]
    cells = search._cells([*splits, *outer])
    stopped = cells.fill(X, y, weights)
    if stopped:
        raise NothingFinished(
            coded(f"{stopped}, before all folds were done: half a nested cross-validation says nothing.", "M309")
        )
    best = [int(np.nanargmax(cells.scores[:, part].mean(axis=1))) for part in inside]
    return np.array([cells.scores[c, len(splits) + k] for k, c in enumerate(best)])
