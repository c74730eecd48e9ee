"""What machines of the form f = Σ_i a_i k(·, x_i) + b share: one file, the fit and the prediction.

What is kept of the data; for the support vector family also the solver and its report."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from mercer import arrays
from mercer.annotations import Estimator, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import Blocks, DataError, HashedRows, Vectors, chunks, size, take
from mercer.data.notices import one_call, warn
from mercer.distributed import is_collection
from mercer.estimators.base import KernelEstimator
from mercer.estimators.callbacks import Reporting, watched, with_callbacks
from mercer.estimators.multiclass import class_weights, classes_and_codes
from mercer.estimators.parameters import ClassWeight, Progress
from mercer.estimators.scikit_checks import (
    assert_all_finite,
    check_classification_targets,
    check_is_fitted,
    column_or_1d,
)
from mercer.estimators.spread import Coded, SpreadPasses, SpreadSamples
from mercer.estimators.weights import checked, relative
from mercer.functions import RKHSFunction
from mercer.gram import Gram, Landmarks, is_gram
from mercer.kernels.approximations.nystrom import Nystrom
from mercer.kernels.base import Kernel
from mercer.problems import Solution
from mercer.solvers.dual import EPS32, ActiveSet, Tried
from mercer.solvers.landmarks import adjoint
from mercer.troubles import coded, coding_scikit_learn

_AT_ONCE = 8192  # items that are not vectors, predicted together
_FEATURES = 10_000  # of a kernel, as many as landmarks could be
_MANY = 512  # support vectors; fewer are quick in any precision
_STOPS = {
    "max_iter": "stopped after max_iter={n_iter} steps",
    "max_time": "stopped after max_time={max_time} s",
    "stalled": "stopped because the gap no longer shrinks",
    "callback": "was stopped by the callback",
    "interrupted": "was interrupted",
}


class KernelMachine(Reporting, KernelEstimator):
    """f = Σ_i a_i k(·, x_i) + b over the items that are kept."""

    tol: Any
    max_iter: Any
    max_time: float | None
    progress: Progress | None
    on_interrupt: str
    _targets: ClassVar[dict[str, bool]] = {}  # what y is: y_numeric, multi_output
    _first_report: ClassVar[dict[str, Any]] = {"gap": np.inf, "n_iter": 0}
    intercept_: Array
    _dual_coef: Array  # (m, n_support), dense: what all that computes reads
    _compressed = False  # then the coefficients are those of the functions themselves, not in libsvm's layout
    _by_classes = True  # whether the samples of a class are kept together
    _supervised = False  # whether it learns from targets
    _coarse = False  # whether float32 values of the kernel serve to predict

    # -- training ----------------------------------------------------------------------------------------------------

    def _fitted(self, X: Samples, y: Targets, sample_weight: Weights) -> Self:
        """All of a fit: the door, the matrix, what is learnt from it, and what is kept of the samples."""
        if is_collection(X):
            return self._fitted_spread(X, y, sample_weight)
        X, y = self._accept_training(X, y)
        self._open_task(X, y)
        self._check()
        part, targets, weights, used = self._without_zeros(X, y, self._weights(size(X), sample_weight))
        gram = self._matrix(part, weights, self._learned_kernel(part, targets, weights))
        self._learn(gram, targets, weights, part)
        self._n_items = size(X)
        self._remember(X, gram, used)
        self._close_task()
        return self

    def _accept_training(self, X: Samples, y: Targets) -> tuple[Any, Any]:
        """X and y, checked."""
        if isinstance(X, Blocks):
            X, y = self._accept_blocks(X, y)
        else:
            X, y = self._accept(X, y, reset=True, **self._targets)
        with coding_scikit_learn():
            return X, np.asarray(y, np.float64) if self._targets.get("y_numeric") else y

    def _fitted_spread(self, X: Samples, y: Targets, sample_weight: Weights) -> Self:
        """The same of a Dask collection, whose samples stay where they are."""
        if type(self)._learn_spread is KernelMachine._learn_spread:
            raise TypeError(
                coded(
                    f"{type(self).__name__} does not learn from Dask collections; KernelRidge, KernelLogistic,"
                    " KernelHuber, SVC, SVR, KernelPCA and KernelKMeans do. Give it samples in memory: some of them,"
                    " X.compute().",
                    "M313",
                )
            )
        self._check()
        if y is None and self._supervised:
            raise ValueError(coded(f"{type(self).__name__} requires y to be passed, but the target y is None.", "M112"))
        compute, numeric = self.compute or Compute(), bool(self._targets.get("y_numeric"))
        classes = self._supervised and not numeric
        samples = SpreadSamples.of(X, y, sample_weight, compute, numeric=numeric, classes=classes)
        if (samples.outputs or 1) > 1 and not self._targets.get("multi_output"):
            raise ValueError(coded(f"y should be a 1d array, got {samples.outputs} columns instead.", "M112"))
        self._accept(samples.head, reset=True)
        self._open_task(X, y)
        marks = self._landmark_matrix(self._spread_rule(samples), samples, None).landmarks()
        assert marks is not None
        self._learn_spread(SpreadPasses.of(self, samples, marks), samples, marks)
        self._n_items = samples.items
        self._onto_landmarks(marks, None)
        self._close_task()
        return self

    def _spread_rule(self, samples: SpreadSamples) -> Nystrom:
        """How landmarks are chosen: as is said, or, of a kernel with few features, as many samples as it has of
        these, whose functions are all there are.
        """
        kernel = self._given_kernel
        rule = self._landmark_rule() if hasattr(self, "centers") else kernel._nystrom
        if rule is not None:
            return rule
        width = None if self._precomputed else _few_features(kernel, self._unpacked(samples.head))
        if width is None:
            name = type(self).__name__
            raise ValueError(
                coded(
                    f"{name} learns from a Dask collection as a sum over some of the samples: "
                    + (
                        "give centers, such as centers=2000." if hasattr(self, "centers") else _landmarks_wanted(kernel)
                    ),
                    "M313",
                )
            )
        return Nystrom(kernel, min(width, len(samples)))

    def _learn_spread(self, passes: SpreadPasses, samples: SpreadSamples, marks: Landmarks) -> None:
        """``_learn`` from samples that are spread: sets ``_of_landmarks`` and all else that is fitted."""
        raise NotImplementedError

    def _rule_of_blocks(self) -> Nystrom:
        """How landmarks are chosen of samples that come in blocks, which only a sum over some of them is learnt
        from.
        """
        rule = None if self._learns_kernel else self._landmark_rule()
        if rule is None:
            if self._learns_kernel:
                said = "learns its kernel from samples in memory: give it some of them, and KernelRidge its kernel_."
            elif hasattr(self, "centers"):
                said = "learns from blocks as a sum over some of the samples: give centers, such as centers=2000."
            else:
                said = "does not learn from blocks; KernelRidge, KernelLogistic, SVC and others with centers do."
            raise ValueError(coded(f"{type(self).__name__} {said}", "M313"))
        return rule

    def _accept_blocks(self, X: Blocks, y: Targets) -> tuple[Blocks, Array]:
        """Blocks, of which the first is checked now and each when a pass comes to it; and y."""
        self._rule_of_blocks()
        if y is None:
            raise ValueError(coded(f"{type(self).__name__} requires y to be passed, but the target y is None.", "M112"))
        found = arrays.to_numpy(y)
        found = found if self._targets.get("multi_output") else column_or_1d(found, warn=True)
        if len(found) != len(X):
            raise ValueError(
                coded(f"Found input variables with inconsistent numbers of samples: {[len(X), len(found)]}", "M111")
            )
        if found.dtype.kind == "f":
            assert_all_finite(found, input_name="y")
        if next(X.each(partial(self._accept, reset=True)), None) is None:
            raise DataError("There are no samples in these blocks.", "M103")
        return X, found

    def _learned_kernel(self, X: Samples, y: Targets, weights: Array) -> Kernel | None:
        """The kernel, where it is itself learnt from samples and targets; None: the given one."""
        return None

    def _check(self) -> None:
        """Raise if a parameter is out of range whatever the data; those of solvers are checked here, for all."""
        tol, on_interrupt, progress, compute = (
            getattr(self, name, None) for name in ("tol", "on_interrupt", "progress", "compute")
        )
        if tol is not None and not (isinstance(tol, int | float | np.number) and tol > 0):
            raise ValueError(coded(f"tol={tol}: the gap to reach must be positive.", "M205"))
        for name in ("max_iter", "max_time"):
            limit = getattr(self, name, None)
            if limit is not None and not (isinstance(limit, int | float | np.number) and limit >= 0):
                raise ValueError(coded(f"{name}={limit!r}: a number of at least 0, or None for no limit.", "M205"))
        if on_interrupt not in (None, "raise", "keep"):
            raise ValueError(
                coded(f"on_interrupt={on_interrupt!r}: 'raise', or 'keep' the model found so far.", "M205")
            )
        if progress is not None and not callable(progress):
            raise TypeError(coded(f"progress={progress!r}: a function of a dictionary, or None.", "M205"))
        if compute is not None and not isinstance(compute, Compute):
            raise TypeError(coded(f"compute={compute!r}: a mercer.Compute, or None.", "M205"))

    def _learn(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> None:
        """All that is fitted but what is kept of the samples, from their matrix; ``support_`` are numbers of its rows.
        Weights are positive, y is None where there are no targets. X, the samples themselves where they are at hand,
        tells copies apart and the cause of a warning.
        """
        raise NotImplementedError

    def _remember(self, X: Samples, gram: Gram, used: Array) -> None:
        """What is kept of the samples X to predict with; learnt was from those numbered ``used``, of which ``gram`` is
        the matrix.
        """
        if "_landmarks" in self.__dict__:
            self._onto_landmarks(gram.landmarks(), used)
            return
        self.support_ = used[self.support_].astype(np.int32)
        self.support_vectors_ = self._items(X, self.support_)

    def _onto_landmarks(self, marks: Landmarks | None, used: Array | None) -> None:
        """f as a sum over the landmarks, from what the solver found of them, or from the coefficients of all samples:
        Φ^T a = L^−1 C^T a. ``used``: the numbers of the samples that were learnt from, None for all.
        """
        assert marks is not None
        found = self.__dict__.pop("_of_landmarks", None)
        if found is None:
            functions = self._functions()
            every = np.zeros((marks.values.shape[0], functions.shape[1]))
            every[self.support_] = functions
            found = marks.coefficients(marks.of_values(adjoint(marks.values, every)))
        numbers = marks.index if marks.index is None or used is None else used[marks.index]
        self.support_ = np.full(len(marks), -1, np.int32) if numbers is None else _whole(numbers)
        self.support_vectors_ = self.__dict__.pop("_landmarks")
        self.dual_coef_, self._compressed, self._by_classes = np.ascontiguousarray(found.T), True, False
        if hasattr(self, "n_support_"):
            self.n_support_ = self.__dict__.pop("_classes_of_landmarks", np.array([len(marks)], np.int32))

    @watched
    def _learned(self, gram: Gram, y: Targets, weights: Array, X: Samples = None) -> Self:
        """This machine, having learnt from a matrix alone: new items are then given by their matrix with all items of
        that.
        """
        self._check()
        self._learn(gram, y, weights, X)
        return self

    def _learn_path(self, gram: Gram, y: Targets, weights: Array, machines: Sequence[Any], X: Samples = None) -> None:
        """``machines``, which differ from this one only in the parameter ``_along``, learn from a matrix."""
        for machine in machines:
            machine._learned(gram, y, weights, X)

    def _learn_rows(
        self, gram: Gram, y: Targets, sample_weight: Weights, machines: Sequence[Any], X: Samples = None
    ) -> Array:
        """The same with the weights of all rows, of which those of weight 0 are not there; the numbers of the
        others. X: the samples of the rows, where they are at hand.
        """
        for machine in machines:
            machine._n_items = gram.shape[0]
        part, y, weights, used = self._without_zeros(gram, y, self._weights(gram.shape[0], sample_weight))
        self._learn_path(part, y, weights, machines, X if X is None or part is gram else take(X, used))
        return used

    def _came_to(self) -> Tried:
        """What a dual problem came to, of this machine that has learnt from a few samples."""
        coef = np.atleast_2d(self._dual_coef)
        edges = np.stack([coef.max(axis=1), coef.min(axis=1)], axis=1)
        at_edge = (np.abs(coef[:, :, None] - edges[:, None, :]) <= 1e-6 * np.abs(edges)[:, None, :]).any(axis=2)
        free = float(np.mean(np.sum((coef != 0) & ~at_edge, axis=1)))
        support = float(np.mean(np.sum(coef != 0, axis=1)))
        n = max(1, self._n_items)
        return Tried(support / n, free / n, self.n_iter_ / (n * len(self.intercept_)))

    def _warn(self, reason: str, gap: float, note: str, X: Samples) -> None:
        """Say that the solver did not converge, how it ended, and what was measured about the cause."""
        if reason in ("callback", "interrupted"):
            return
        stop = _STOPS[reason].format(n_iter=self.n_iter_, max_time=self.max_time)
        cause = "; ".join(part for part in (note, _uneven(X)) if part) or "none found"
        said = (
            f"{type(self).__name__} {stop}: the gap is {gap:.3g}{'' if self.tol is None else f', tol {self.tol:g}'}."
            f" Measured cause: {cause}."
        )
        warn(said, "M302" if reason == "stalled" else "M301", ConvergenceWarning)

    def _positive(self, name: str) -> float:
        value = getattr(self, name)
        if not (isinstance(value, int | float | np.number) and np.isfinite(value) and value > 0):
            wanted = (
                "finite; a large number comes near to it"
                if value in (np.inf, np.float32("inf"))
                else "a positive number"
            )
            raise ValueError(coded(f"{type(self).__name__}({name}={value!r}): {name} must be {wanted}.", "M205"))
        return float(value)

    def _without_zeros(self, X: Samples, y: Targets, weights: Array | None) -> tuple[Any, Any, Array, Array]:
        """Samples of weight 0 are not there; (X, y, weights, the numbers of those that are)."""
        n = size(X)
        if weights is None:
            return X, y, np.ones(n), np.arange(n)
        used = np.flatnonzero(weights > 0)
        return (
            (X, y, weights, used)
            if len(used) == n
            else (self._some(X, used), None if y is None else y[used], weights[used], used)
        )

    def _keep(self, coef: Array, *, every: bool = False, order: Array | None = None) -> None:
        """Only the items with weight, unless ``every``: ``support_`` are their numbers, ``coef`` (n, m) their
        coefficients; in that ``order``, if it is given.
        """
        order = np.arange(len(coef)) if order is None else order
        self.support_ = order if every else order[np.any(coef[order] != 0, axis=1)]
        self.dual_coef_, self._compressed = np.ascontiguousarray(coef[self.support_].T), False
        self.__dict__.pop("_by_classes", None)

    # -- prediction --------------------------------------------------------------------------------------------------

    def _values(self, X: Samples) -> Array:
        """Σ_i coef_i k(x, x_i) + b for new items."""
        check_is_fitted(self)
        if isinstance(X, Blocks):
            return np.concatenate([values for _, values in X.each(self._values)])
        return self._values_of(self._accept_new(X))

    def _values_of(self, X: Samples) -> Array:
        """The same for items that have been accepted."""
        return (self._inner(X)[0] if len(self.support_) else np.zeros((size(X), 1))) + self.intercept_

    def _inner(self, X: Samples, *, own: bool = False) -> tuple[Array, Array]:
        """Σ_i coef_i k(x, x_i) for accepted items and, where it is wanted, k(x, x), from one look at them."""
        n, parts, owns = size(X), [np.zeros((0, len(self._dual_coef)))], [np.zeros(0)]
        coef = self._dual_coef.T
        coef = coef[:, 0] if coef.shape[1] == 1 else coef
        # what is prepared of items that are not vectors may be larger than they are
        with one_call():
            for some in chunks(n, max(1, n) if is_gram(X) or self._of_vectors else _AT_ONCE):
                met = self._meet(X if some == slice(0, n) else take(X, some))
                product = arrays.to_numpy(self._evaluated(met.cross) @ coef)
                parts.append(np.asarray(product).reshape(met.cross.shape[0], -1))
                owns += [met.own()] if own else []
        return parts[1] if len(parts) == 2 else np.concatenate(parts), (
            owns[1] if len(owns) == 2 else np.concatenate(owns)
        )

    def _evaluated(self, gram: Gram) -> Gram:
        """The matrix to predict with: in float32 where its rounding is a small part of what the solver left open, else
        as precise as the data.
        """
        return gram.astype(np.float32) if self._coarse and gram.recomputable else gram

    def compress(self, n: int) -> Self:
        """A copy that predicts with n of its support vectors, their weights chosen anew: the nearest such function.

        Parameters
        ----------
        n : int
            How many samples to keep, at least 1; they are chosen one by one, as ``RKHSFunction.compressed`` does.

        Returns
        -------
        estimator
            Of the same class; this one stays as it is.
        """
        check_is_fitted(self)
        if self.kernel_ is None:
            raise ValueError(
                coded("A precomputed matrix has no support vectors to compress; give the kernel itself.", "M213")
            )
        kept, weights = RKHSFunction(self.kernel_, self.support_vectors_, self._functions()).nearest(n)
        other = copy.copy(self)
        other.support_, other.support_vectors_ = self.support_[kept], take(self.support_vectors_, kept)
        other.dual_coef_, other._compressed = weights.T, True
        other.n_support_ = self._counts(kept)
        return other

    def _functions(self) -> Array:
        """The coefficients of each function the machine is made of, one column each."""
        return self._dual_coef.T

    def _counts(self, kept: Array) -> Array:
        return np.array([len(kept)], np.int32)

    @property
    def dual_coef_(self) -> Any:
        """The coefficients of the samples that are kept, (n_functions, n_support): one row for each function."""
        return self._dual_coef

    @dual_coef_.setter
    def dual_coef_(self, coef: Array) -> None:
        self._dual_coef = coef

    @property
    def function_(self) -> RKHSFunction:
        """f = Σ coef_i k(·, x_i) + b as a function in the space of the kernel; of several classes, one for each pair.

        Returns
        -------
        RKHSFunction

        Raises
        ------
        AttributeError
            Of a precomputed matrix, which has no function on data.
        """
        check_is_fitted(self)
        if self.kernel_ is None:
            raise AttributeError(coded("A precomputed matrix has no function on data; give the kernel itself.", "M213"))
        coef = self._functions()
        one = coef.shape[1] == 1
        return RKHSFunction(
            self.kernel_,
            self.support_vectors_,
            coef[:, 0] if one else coef,
            float(self.intercept_[0]) if one else self.intercept_,
        )


class Weighted(KernelMachine):
    """A machine of which f is the prediction: where the kernel has features, it is also ⟨coef, φ(x)⟩ + b."""

    @property
    def _one(self) -> bool:
        """Whether there is one function by nature, so that its weights are a vector."""
        return False

    @property
    def coef_(self) -> Any:
        """w of f(x) = ⟨w, φ(x)⟩ + b, φ = ``kernel_.features``: one row for each function, or a vector where
        scikit-learn has one (regressors with one output, support vector machines excepted); sparse where ``dual_coef_``
        is.

        For ``Linear()``, φ(x) = x. Only of kernels with a finite feature map of fixed columns, else an AttributeError;
        ``function_.feature_weights()`` has the weights of words and the like.
        """
        check_is_fitted(self)
        if self.kernel_ is None or not self.kernel_.explicit:
            raise AttributeError(
                coded(
                    "coef_ is of kernels with a finite feature map, such as Linear();"
                    f" {self.kernel_ or 'a precomputed matrix'} has none.",
                    "M212",
                )
            )
        try:
            phi = self.kernel_._embedded(self.support_vectors_)
        except MemoryError as error:
            raise AttributeError(coded(f"coef_ would be too large: {error}", "M401")) from None
        if isinstance(phi, HashedRows):
            raise AttributeError(
                coded(f"The features of {self.kernel_} have no fixed columns; see function_.feature_weights().", "M311")
            )
        functions = self._functions().T
        phi = phi if sparse.issparse(phi) else arrays.to_numpy(phi)
        coef = (type(phi)(functions) if sparse.issparse(phi) and sparse.issparse(self.dual_coef_) else functions) @ phi
        if sparse.issparse(coef):
            coef.sort_indices()
        # to change it would change no prediction
        (coef.data if sparse.issparse(coef) else coef).flags.writeable = False
        return coef[0] if self._one else coef


class Supervised(KernelMachine):
    """A machine that learns from samples and targets."""

    _supervised = True

    @with_callbacks
    def fit(self, X: Samples, y: Targets, sample_weight: Weights = None) -> Self:
        """Train on samples X with targets or labels y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            The samples, of the kind that the kernel compares: rows of a table, strings, graphs. With
            ``kernel="precomputed"`` their matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) where the estimator has several outputs
            The target or the label of each sample.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its sample; 0 leaves it out.

        Returns
        -------
        self
        """
        return self._fitted(X, y, sample_weight)


class LabelLearner(ClassifierMixin, Supervised):  # type: ignore[misc]
    """A machine whose targets are classes."""

    class_weight: ClassWeight = None

    def _accept_training(self, X: Samples, y: Targets) -> tuple[Any, Array]:
        X, y = super()._accept_training(X, y)
        if y.dtype.kind not in "iub":  # whole numbers are labels, and small data would wait for the proof
            check_classification_targets(y)
        return X, y

    def _labels(self, y: Array, weights: Array) -> tuple[Array, Array]:
        """(the number of each sample's class, weights with those of the classes); sets ``classes_``."""
        self.classes_, codes = classes_and_codes(y)
        return codes, weights * self._class_factors(np.bincount(codes, weights))[codes]

    def _class_factors(self, weights: Array) -> Array:
        """What the samples of each class count, whose weights are given."""
        if len(self.classes_) < 2:
            raise ValueError(
                coded(
                    f"{type(self).__name__} needs samples of at least 2 classes in y; the data has one class,"
                    f" {self.classes_.tolist()[0]!r}.",
                    "M113",
                )
            )
        return class_weights(self.class_weight, dict(zip(self.classes_, weights.tolist(), strict=True)))

    def _labels_of_spread(self, passes: SpreadPasses, samples: SpreadSamples, *, signs: bool) -> SpreadPasses:
        """Targets as the numbers of classes, or as ``signs`` of two; sets ``classes_``."""
        self.classes_, counts, weights = samples.classes
        factors = self._class_factors(weights)
        return passes.behind(Coded(self.classes_, factors, signs), int(counts.sum()), float(weights @ factors))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags


class Unsupervised(KernelMachine):
    """A machine that learns from samples alone."""

    _negligible = 0.0  # what is less than this part of the largest weight is 0

    @with_callbacks
    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Train on samples X alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            The samples, of the kind that the kernel compares: rows of a table, strings, graphs. With
            ``kernel="precomputed"`` their matrix (n_samples, n_samples).
        y : None
            Not used; scikit-learn's pipelines pass it.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its sample; 0 leaves it out.

        Returns
        -------
        self
        """
        return self._fitted(X, None, sample_weight)

    def _accept_training(self, X: Samples, y: Targets) -> tuple[Any, Any]:
        return self._accept(X, reset=True), None

    def _weights(self, n: int, sample_weight: Weights) -> Array | None:
        w, scale = relative(checked(sample_weight, n), self._negligible)
        return w * scale


class ManyOutputs:
    """Says to scikit-learn that y may have one column or several."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


class SupportVectorMachine(Weighted):
    """What the machines of a dual quadratic programme share: the solver and its report."""

    @property
    def dual_coef_(self) -> Any:
        """y_i α_i of the support vectors, (n_functions, n_support): one row for each function, in libsvm's layout where
        there are several classes; sparse where X was.
        """
        coef, kept = self._dual_coef, self.__dict__.get("support_vectors_")
        return type(kept)(coef) if kept is not None and sparse.issparse(kept) else coef

    @dual_coef_.setter
    def dual_coef_(self, coef: Array) -> None:
        self._dual_coef = coef

    def _solver(self) -> ActiveSet:
        keep = self.on_interrupt == "keep"
        return ActiveSet(tol=self.tol, max_iter=self.max_iter, keep_on_interrupt=keep)

    def _report(self, solutions: Sequence[Solution], X: Samples) -> None:
        """The fitted attributes about convergence, and a warning that names the measured cause where there was none."""
        worst = max(solutions, key=lambda s: (not s.converged, s.gap))
        self.n_iter_ = int(sum(s.n_iter for s in solutions))
        self.gap_, self.objective_ = worst.gap, float(sum(s.objective for s in solutions))
        self.converged_, self.stop_reason_ = all(s.converged for s in solutions), worst.stop_reason
        if not self.converged_:
            self._warn(worst.stop_reason, worst.gap, worst.note, X)

    def _remember(self, X: Samples, gram: Gram, used: Array) -> None:
        super()._remember(X, gram, used)
        self._coarse = self._is_coarse(gram)

    def _is_coarse(self, gram: Gram) -> bool:
        """Whether float32 values of the kernel serve: bounded ones, k(x, x) being constant, whose errors times ‖coef‖
        are below a twentieth of the gap. A solution that was polished is evaluated as exactly as it was found. ``gram``
        is the matrix it was trained on.
        """
        if len(self.support_) < _MANY or not gram.recomputable:
            return False
        diagonal = np.asarray(gram.diag(), np.float64)
        size_of_values = float(np.max(np.abs(diagonal)))
        norm = float(np.max(np.linalg.norm(self._dual_coef, axis=1)))
        return bool(np.ptp(diagonal) <= 1e-6 * size_of_values) and EPS32 * size_of_values * norm < 0.05 * self.gap_


def _few_features(kernel: Kernel, head: Samples) -> int | None:
    """How many features a kernel of vectors has, where they are few; ``head`` is a sample."""
    if not kernel.explicit or not isinstance(kernel.domain, Vectors):
        return None
    count = getattr(kernel, "n_components", None)
    if count is None:
        bound, A = kernel._entered(head)
        count = bound._width(A)
    return int(count) if count <= _FEATURES else None


def _landmarks_wanted(kernel: Kernel) -> str:
    return f"give kernel=Nystrom({kernel}, 1000), or RandomFeatures, or another kernel with few features."


def _whole(numbers: Array) -> Array:
    """Numbers of samples, as scikit-learn has them, in 32 bits where these are enough."""
    return numbers.astype(np.int32 if numbers.max(initial=0) <= np.iinfo(np.int32).max else np.int64)


def _uneven(X: Samples) -> str:
    """Whether the columns of a table differ in scale so much that distances are those of a few of them."""
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f" and len(X)):
        return ""
    spread = X[:10_000].std(axis=0)
    spread = spread[spread > 0]
    if len(spread) < 2 or spread.max() < 100 * spread.min():
        return ""
    return f"the columns differ in scale by a factor of {spread.max() / spread.min():.1g}: standardise them"


def check_nu(machine: Estimator) -> float:
    if not (isinstance(machine.nu, int | float | np.number) and 0 < machine.nu <= 1):
        raise ValueError(
            coded(f"{type(machine).__name__}(nu={machine.nu!r}): nu is a share, above 0 and at most 1.", "M205")
        )
    return float(machine.nu)


def filled(room: Array, total: float) -> Array:
    """``total`` given out in order, each up to its room."""
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    return np.clip(total - before, 0.0, room)
