"""Support vector classification: the hinge loss, and ν in its place, one against one over any kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer.backend import Array, Compute
from mercer.data import size
from mercer.estimators.callbacks import with_callbacks
from mercer.estimators.machine import SupportVectorMachine, check_nu, filled
from mercer.estimators.multiclass import class_weights, couple, pairs_of, scores_of_pairs
from mercer.estimators.probability import Sigmoid, leave_one_out
from mercer.gram import Gram
from mercer.kernels.base import Kernel
from mercer.losses import Hinge
from mercer.problems import DualQP, Solution
from mercer.solvers.dual import ActiveSet, kept
from mercer.threads import run_tasks


class Pair(NamedTuple):
    """A machine for two classes: coefficients, bias, values at its samples, and the solution they come from."""

    coef: Array
    bias: float
    values: Array
    solution: Solution


class Classifier(ClassifierMixin, SupportVectorMachine):  # type: ignore[misc]
    """One-vs-one over a binary machine: its problem, and what the solution means."""

    class_weight: Any = None
    probability: bool

    def _problem(self, y: Array, weights: Array) -> DualQP:
        """The problem for labels ±1."""
        raise NotImplementedError

    def _machine(self, s: Solution, y: Array) -> Pair:
        """The machine for labels ±1 from the solution of its problem."""
        raise NotImplementedError

    def _feasible(self, counts: dict[Any, float]) -> None:
        """Raise if the parameters do not fit the weights of the classes."""

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on samples X with labels y; a weight counts as that many repetitions of its sample."""
        X, y = self._accept(X, y, reset=True)
        self._open_task(X, y)
        if y.dtype.kind not in "iub":  # whole numbers are labels, and small data would wait for the proof
            check_classification_targets(y)
        X, y, weights, original = self._without_zeros(X, y, self._weights(X, sample_weight))
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs samples of at least 2 classes in y; the data has one class, {self.classes_[0]!r}.")
        solver = self._solver()
        counts = {label: float(weights[codes == k].sum()) for k, label in enumerate(self.classes_)}
        self._feasible(counts)
        bounds = weights * class_weights(self.class_weight, counts)[codes]
        self._bind(X, weights)
        if len(self.classes_) > 2:  # class by class, so that what a pair needs lies together
            order = np.argsort(codes, kind="stable")
            X, codes, bounds, original = self._some(X, order), codes[order], bounds[order], original[order]
        self._fit_pairs(X, self._gram(X), codes, bounds, original, solver)
        self._close_task()
        return self

    def _fit_pairs(self, X: Any, gram: Gram, codes: Array, bounds: Array, original: Array, solver: ActiveSet) -> None:
        k, pairs = len(self.classes_), pairs_of(len(self.classes_))
        members = [np.flatnonzero(codes == c) for c in range(k)]
        parts = [np.concatenate([members[a], members[b]]) if k > 2 else np.arange(len(codes)) for a, b in pairs]
        labels = [np.where(codes[part] == b, 1.0, -1.0) for part, (_, b) in zip(parts, pairs, strict=True)]
        problems = [self._problem(y, bounds[part]) for part, y in zip(parts, labels, strict=True)]
        solutions = [solver.solve(problems[0], gram)] if k == 2 else solver.solve_all(problems, gram, parts)
        machines = [self._machine(s, y) for s, y in zip(solutions, labels, strict=True)]
        self._sigmoids: list[Any] = [None] * len(pairs)

        def sigmoid(t: int) -> None:
            part = gram if k == 2 else gram.sub(parts[t], parts[t])
            left_out = leave_one_out(part, machines[t].values, machines[t].coef, machines[t].solution.free)
            self._sigmoids[t] = Sigmoid.fit(left_out, labels[t], bounds[parts[t]])

        if self.probability:
            run_tasks(sigmoid, range(len(pairs)), gram.compute.workers)
        # libsvm's layout: row r of a support vector's coefficients is that against the r-th other class
        coef = np.zeros((len(codes), k - 1))
        for (a, b), part, pair, y in zip(pairs, parts, machines, labels, strict=True):
            coef[part[y < 0], b - 1] = pair.coef[y < 0]
            coef[part[y > 0], a] = pair.coef[y > 0]
        self._keep(X, coef, original)
        self.n_support_ = np.array([np.count_nonzero(np.any(coef[m] != 0, axis=1)) for m in members], np.int32)
        self.intercept_ = np.array([pair.bias for pair in machines])
        self._report(solutions, X, gram)

    # -- prediction --------------------------------------------------------------------------------------------------

    def _functions(self) -> Array:
        """One column for each pair of classes."""
        k = len(self.classes_)
        if k == 2 or self._compressed:
            return self.dual_coef_.T
        out = np.zeros((len(self.support_), k * (k - 1) // 2))
        of = np.repeat(np.arange(k), self.n_support_)
        for t, (a, b) in enumerate(pairs_of(k)):
            out[of == a, t], out[of == b, t] = self.dual_coef_[b - 1, of == a], self.dual_coef_[a, of == b]
        return out

    def _counts(self, kept: Array) -> Array:
        if len(self.classes_) == 2:
            return np.array([np.count_nonzero(self.dual_coef_[0, kept] < 0), np.count_nonzero(self.dual_coef_[0, kept] > 0)], np.int32)
        return np.bincount(np.repeat(np.arange(len(self.classes_)), self.n_support_)[kept], minlength=len(self.classes_)).astype(np.int32)

    def _pair_values(self, X: Any) -> Array:
        """The decision of each pair (a, b): positive for b."""
        if len(self.classes_) == 2 or self._compressed:
            return self._values(X)
        check_is_fitted(self)
        X = self._accept_new(X)
        cross, n = self._evaluated(X), size(X)
        stops = np.cumsum(self.n_support_)
        parts = []
        for start, stop in zip(stops - self.n_support_, stops, strict=True):
            block = slice(int(start), int(stop))
            coef = self.dual_coef_[:, block].T
            parts.append(np.asarray(cross.sub(slice(None), block) @ coef) if stop > start else np.zeros((n, coef.shape[1])))
        values = [parts[a][:, b - 1] + parts[b][:, a] for a, b in pairs_of(len(self.classes_))]
        return np.column_stack(values) + self.intercept_

    def decision_function(self, X: Any) -> Array:
        """f(x) for two classes, positive for ``classes_[1]``; for more, one score per class whose largest is the prediction."""
        check_is_fitted(self)
        values = self._pair_values(X)
        return values[:, 0] if len(self.classes_) == 2 else scores_of_pairs(values, len(self.classes_))

    def predict(self, X: Any) -> Array:
        """The class of each sample."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    @available_if(lambda self: self.probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """P(class | x), columns in the order of ``classes_``; the likeliest class is always the predicted one."""
        check_is_fitted(self)
        values = self._pair_values(X)
        p = np.column_stack([s(values[:, t]) for t, s in enumerate(self._sigmoids)])
        if len(self.classes_) == 2:
            return np.column_stack([1 - p[:, 0], p[:, 0]])
        return couple(p, np.argmax(scores_of_pairs(values, len(self.classes_)), axis=1), len(self.classes_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags


class SVC(Classifier):
    """min ½‖w‖² + Σ_i C w_i max(0, 1 − y_i f(x_i)), f = ⟨w, φ(x)⟩ + b: soft-margin classification.

    Trained by its dual in float32 blocks with a float64 check, to a gap of ``tol``; stops at the limits and says why. Several classes: one
    against one, in parallel.

    C
        The price of an error; ``class_weight`` and ``sample_weight`` multiply it.
    kernel
        Any kernel; None: ``Gaussian()``; "precomputed": X is the matrix.
    fit_intercept
        False: b = 0.
    probability
        Whether to provide ``predict_proba``: sigmoids on leave-one-out values (span estimate), no refitting.
    max_iter, max_time
        Limits in steps and seconds; None: 10⁶ + 1000 n steps, no limit of time.
    progress
        Called several times a second with a dictionary (gap, tol, n_iter, seconds, active); returns True to stop.
    on_interrupt
        "raise", or "keep" the model found so far on Ctrl-C.
    """

    def __init__(
        self, C: float = 1.0, kernel: Kernel | str | None = None, *, fit_intercept: bool = True, class_weight: Any = None, probability: bool = False,
        tol: float = 1e-3, max_iter: int | None = None, max_time: float | None = None, progress: Any = None, on_interrupt: str = "raise",
        compute: Compute | None = None,
    ) -> None:  # fmt: skip
        self.C, self.kernel, self.fit_intercept, self.class_weight, self.probability = C, kernel, fit_intercept, class_weight, probability
        self.tol, self.max_iter, self.max_time, self.progress = tol, max_iter, max_time, progress
        self.on_interrupt, self.compute = on_interrupt, compute

    def _problem(self, y: Array, weights: Array) -> DualQP:
        return Hinge().dual(y, self._positive("C") * weights, self.fit_intercept)

    def _machine(self, s: Solution, y: Array) -> Pair:
        bias = float(s.levels[0]) if self.fit_intercept else 0.0
        return Pair(s.coef, bias, s.gradient + y + bias, s)

    def _feasible(self, counts: dict[Any, float]) -> None:
        self._positive("C")

    _along = "C"

    def _path(self, X: Any, y: Any, machines: Sequence[Any], **given: Any) -> list[Any]:
        if self.probability or len(np.unique(np.asarray(y))) != 2:
            return super()._path(X, y, machines, **given)
        by_C = {machine.C: machine for machine in self.path(X, y, [machine.C for machine in machines], given.get("sample_weight"))}
        return [by_C[float(machine.C)] for machine in machines]

    def path(self, X: Any, y: Any, Cs: Sequence[float], sample_weight: Any = None) -> list[SVC]:
        """The machine for each C in increasing order, each started from the last; the matrix is prepared once. Two classes."""
        machines = []
        X, y = self._accept(X, y, reset=True)
        X, y, weights, original = self._without_zeros(X, y, self._weights(X, sample_weight))
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) != 2:
            raise ValueError(f"A path is of two classes; y has {len(classes)}.")
        self._bind(X, weights)
        gram, signs = kept(self._gram(X)), np.where(codes == 1, 1.0, -1.0)
        before: tuple[float, Array] | None = None
        for C in sorted(float(c) for c in Cs):
            one = clone(self).set_params(C=C)
            one.classes_, one.kernel_, one.n_features_in_ = classes, self.kernel_, getattr(self, "n_features_in_", None)
            bounds = weights * class_weights(one.class_weight, {label: float(weights[codes == k].sum()) for k, label in enumerate(classes)})[codes]
            # scaled with C the last point stays feasible, and at small C, where most are at their bound, near
            start = None if before is None else before[1] * (C / before[0] if C <= 10 else 1.0)
            with one._watching():
                coef, bias, _, solution = one._machine(one._solver().solve(one._problem(signs, bounds), gram, start), signs)
            one._keep(X, coef[:, None], original)
            one.n_support_ = np.array([np.count_nonzero(coef[codes == k]) for k in (0, 1)], np.int32)
            one.intercept_, one._sigmoids = np.array([bias]), [None]
            one._report([solution], X, gram)
            before = (C, coef)
            machines.append(one)
        return machines


class NuSVC(Classifier):
    """SVC where ν, not C, is chosen: at most a share ν of the samples are on the wrong side of their margin, at least ν are support vectors.

    Feasible for ν ≤ 2 min(n₊, n₋)/n in each pair of classes. Classes have no prices here: weigh the samples.
    """

    def __init__(
        self, nu: float = 0.2, kernel: Kernel | str | None = None, *, probability: bool = False, tol: float = 1e-3, max_iter: int | None = None,
        max_time: float | None = None, progress: Any = None, on_interrupt: str = "raise", compute: Compute | None = None,
    ) -> None:  # fmt: skip
        self.nu, self.kernel, self.probability = nu, kernel, probability
        self.tol, self.max_iter, self.max_time, self.progress = tol, max_iter, max_time, progress
        self.on_interrupt, self.compute = on_interrupt, compute

    def _feasible(self, counts: dict[Any, float]) -> None:
        nu = check_nu(self)
        labels = list(counts)
        for k, a in enumerate(labels):
            for b in labels[k + 1 :]:
                most = 2 * min(counts[a], counts[b]) / (counts[a] + counts[b])
                if nu > most * (1 + 1e-12):
                    raise ValueError(f"NuSVC: specified nu is infeasible: nu={nu:g}, but nu ≤ {most:.3g} for classes {a!r} and {b!r} of this y.")

    def _problem(self, y: Array, weights: Array) -> DualQP:
        half = self.nu * weights.sum() / 2
        b = np.where(y > 0, filled(np.where(y > 0, weights, 0.0), half), -filled(np.where(y < 0, weights, 0.0), half))
        return DualQP(np.zeros(len(y)), np.minimum(0.0, y * weights), np.maximum(0.0, y * weights), b, group=(y > 0).astype(np.int8))

    def _machine(self, s: Solution, y: Array) -> Pair:
        negative, positive = s.levels
        margin = (negative - positive) / 2  # where f = ±margin are the edges; in the units of SVC it is 1
        if not margin > 0:
            margin = 1.0
        bias = float((negative + positive) / (2 * margin))
        return Pair(s.coef / margin, bias, s.gradient / margin + bias, s)
