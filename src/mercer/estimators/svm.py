"""Support vector classification over any kernel: one file, since SVC fills in what the machine of pairs asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import log_expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from mercer.annotations import Estimator, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import Blocks, size
from mercer.estimators import hulls
from mercer.estimators.machine import LabelLearner, SupportVectorMachine
from mercer.estimators.multiclass import couple, pairs_of, scores_of_pairs
from mercer.estimators.parameters import CenterParameters, ClassWeight, KernelLike, SolverParameters, estimator
from mercer.estimators.probability import ScoreSigmoid, leave_one_out
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.estimators.spread import Coded, SpreadPasses, SpreadSamples
from mercer.gram import Gram, Landmarks, Outline, Use, Work, held, is_gram, outlined
from mercer.kernels.vectors.radial import Gaussian
from mercer.losses import Hinge
from mercer.problems import DualQP, Solution
from mercer.runtime.threads import run_tasks
from mercer.runtime.watch import Stopped
from mercer.solvers import landmark_dual
from mercer.solvers.dual import ActiveSet, Tried, outlook
from mercer.solvers.spread import Spread
from mercer.solvers.spread_dual import solve_spread_dual
from mercer.troubles import coded


class Pair(NamedTuple):
    """A machine for two classes: coefficients, bias, values at its samples, and the solution they come from."""

    coef: Array
    bias: float
    values: Array
    solution: Solution

    @property
    def constant(self) -> bool:
        return not self.coef.any()


class Part(NamedTuple):
    """What the machine for two classes is trained on: which samples, None for all, their labels ±1, their weights, and
    the matrix of all samples.
    """

    samples: Array | None
    y: Array
    weights: Array
    full: Gram
    unit: float  # the size of the kernel, where the problem is solved in units of it

    @property
    def gram(self) -> Gram:
        return self.full if self.samples is None else self.full.sub(self.samples, self.samples)


def _has_probabilities(machine: Estimator) -> bool:
    if not machine.probability:
        raise AttributeError(
            coded(f"Probabilities are learnt by {type(machine).__name__}(probability=True), or KernelLogistic.", "M311")
        )
    return True


class Classifier(LabelLearner, SupportVectorMachine):
    """One-vs-one over a binary machine: its problem, and what the solution means."""

    probability: bool
    _ranks: Array | None = None  # of classes with as many votes the first by rank is predicted, as in libsvm

    def _problem(self, part: Part) -> DualQP:
        """The problem for labels ±1."""
        raise NotImplementedError

    def _machine(self, s: Solution, problem: DualQP, part: Part, solver: ActiveSet) -> Pair:
        """The machine for labels ±1 from the solution of its problem."""
        raise NotImplementedError

    def _bounds(self, weights: Array) -> Array:
        """What each sample may count."""
        return weights

    def _unit(self, gram: Gram) -> float:
        """In whose units the problem is solved."""
        return 1.0

    def _check_constant(self, machines: Sequence[Pair], parts: Sequence[Part], solver: ActiveSet) -> None:
        """Say what to do where a machine has no margin and is constant."""

    def _feasible(self, counts: dict[Any, float]) -> None:
        """Raise if the parameters do not fit the weights of the classes."""

    def _names(self, t: int) -> str:
        """The two classes of machine t, for a message."""
        a, b = pairs_of(len(self.classes_))[t]
        return f"{self.classes_[a]!s} and class {self.classes_[b]!s}"

    def _without_zeros(self, X: Samples, y: Targets, weights: Array | None) -> tuple[Any, Any, Array, Array]:
        """Samples of several classes also class by class, so that what a pair needs lies together."""
        X, y, weights, used = super()._without_zeros(X, y, weights)
        if self._precomputed or is_gram(X) or isinstance(X, Blocks) or not (y[1:] < y[:-1]).any():
            return X, y, weights, used
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 3:
            return X, y, weights, used
        order = np.argsort(codes, kind="stable")
        return self._some(X, order), y[order], weights[order], used[order]

    def _learn(self, gram: Gram, y: Array, weights: Array, X: Samples = None, start: Array | None = None) -> None:
        codes, weights = self._labels(y, weights)
        self._feasible(dict(zip(self.classes_, np.bincount(codes, weights).tolist(), strict=True)))
        solver, parts = self._solver(), self._parts(codes, self._bounds(weights), _ready(gram, len(self.classes_)))
        problems = [self._problem(part) for part in parts]
        if len(parts) == 1:
            solutions = [solver.solve(problems[0], parts[0].full, start)]
        else:
            solutions = solver.solve_all(
                problems, parts[0].full, [part.samples for part in parts if part.samples is not None]
            )
        machines = [
            self._machine(s, problem, part, solver) for s, problem, part in zip(solutions, problems, parts, strict=True)
        ]
        self._assemble(codes, machines, parts)
        marks = gram.landmarks()
        if marks is not None and marks.index is not None:
            self._classes_of_landmarks = np.bincount(codes[marks.index], minlength=len(self.classes_)).astype(np.int32)
        self._sigmoids = (
            self._probabilities(self._kinds(gram, codes, X)[1], machines, parts) if self.probability else None
        )
        self._report([machine.solution for machine in machines], X)
        self._check_constant(machines, parts, solver)

    def _cost(self, outline: Outline, y: Array, tried: Tried) -> Work:
        counts = np.unique(y, return_counts=True)[1].tolist()
        k = len(counts)
        probe = self._problem(Part(None, np.array([1.0, -1.0]), np.ones(2), outline, 1.0))
        usable = landmark_dual.usable(probe)
        if k == 2:
            return outlook(outline, outline.shape[0], tried, usable=usable)
        matrix, made = outlined(outline, Use.ACTIVE_PARTS)
        sizes = [counts[a] + counts[b] for a, b in pairs_of(k)]
        parts = [outlook(matrix.of(size), size, tried, usable=usable) for size in sizes]
        # as many at once as there are threads
        together = 1 if parts[0].solver == "landmarks" else min(outline.compute.workers, len(parts))
        largest = sorted(part.memory for part in parts)[-together:]
        return Work(
            made.memory + sum(largest),
            made.seconds + sum(part.seconds for part in parts),
            f"{len(parts)} pairs of classes, each by {parts[0].plan}",
            parts[0].solver,
        )

    def _parts(self, codes: Array, bounds: Array, gram: Gram) -> list[Part]:
        """The pairs of classes. Of two classes the second is +1; of more, the first of each pair, as in libsvm and
        scikit-learn.
        """
        k = len(self.classes_)
        if k == 2:
            return [Part(None, np.where(codes == 1, 1.0, -1.0), bounds, gram, self._unit(gram))]
        unit = self._unit(gram)
        members = [np.flatnonzero(codes == c) for c in range(k)]
        both = [np.concatenate([members[a], members[b]]) for a, b in pairs_of(k)]
        if gram.landmarks() is not None:  # in the order in which passes come to them
            both = [np.sort(some) for some in both]
        signs = [np.where(codes[some] == a, 1.0, -1.0) for some, (a, _) in zip(both, pairs_of(k), strict=True)]
        return [Part(some, y, bounds[some], gram, unit) for some, y in zip(both, signs, strict=True)]

    def _assemble(self, codes: Array, machines: Sequence[Pair], parts: Sequence[Part]) -> None:
        """The fitted attributes from the machines of all pairs, in libsvm's layout: support vectors class by class, and
        row r of the coefficients of one is that against the r-th other class.
        """
        k = len(self.classes_)
        if k == 2:
            coef = machines[0].coef[:, None]
        else:
            coef = np.zeros((len(codes), k - 1))
            for (a, b), part, pair in zip(pairs_of(k), parts, machines, strict=True):
                assert part.samples is not None
                of_first = codes[part.samples] == a
                coef[part.samples[of_first], b - 1] = pair.coef[of_first]
                coef[part.samples[~of_first], a] = pair.coef[~of_first]
        self._keep(coef, order=np.argsort(codes, kind="stable"))
        self.__dict__.pop("_ranks", None)
        self.n_support_ = np.bincount(codes[self.support_], minlength=k).astype(np.int32)
        self.intercept_ = np.array([pair.bias for pair in machines])

    def _probabilities(self, kinds: Array, machines: Sequence[Pair], parts: Sequence[Part]) -> list[ScoreSigmoid]:
        """A sigmoid for each pair, on leave-one-out values. Samples of one of the ``kinds``, the same in x and y, are
        one, of their weights together: a weight is a repetition here too, and no sample is judged by a machine that has
        seen its copy.
        """
        found: list[Any] = [None] * len(parts)

        def sigmoid(t: int) -> None:
            part, pair = parts[t], machines[t]
            _, first, group = np.unique(
                kinds if part.samples is None else kinds[part.samples], return_index=True, return_inverse=True
            )
            if len(first) == len(group):  # each is of its own, in whatever order
                first = group = np.arange(len(group))
            used = pair.coef != 0
            full = used & ~pair.solution.free
            coef, weights, some, filled, all_of = (
                np.bincount(group, weights=v) for v in (pair.coef, part.weights, used, full, np.ones(len(group)))
            )
            gram = part.gram if len(first) == len(group) else part.gram.sub(first, first)
            values = leave_one_out(gram, pair.values[first], coef, (some > 0) & (filled < all_of))
            found[t] = ScoreSigmoid.fit(values, part.y[first], weights)

        run_tasks(sigmoid, range(len(parts)), parts[0].full.compute.workers)
        return found

    # -- prediction --------------------------------------------------------------------------------------------------

    def _functions(self) -> Array:
        """One column for each pair of classes."""
        k = len(self.classes_)
        if k == 2 or self._compressed:
            return self._dual_coef.T
        out = np.zeros((len(self.support_), k * (k - 1) // 2))
        of = np.repeat(np.arange(k), self.n_support_)
        for t, (a, b) in enumerate(pairs_of(k)):
            out[of == a, t], out[of == b, t] = self._dual_coef[b - 1, of == a], self._dual_coef[a, of == b]
        return out

    def _counts(self, kept: Array) -> Array:
        if not self._by_classes:  # landmarks, as they were drawn
            return super()._counts(kept)
        if len(self.classes_) == 2:
            return np.array(
                [np.count_nonzero(self._dual_coef[0, kept] < 0), np.count_nonzero(self._dual_coef[0, kept] > 0)],
                np.int32,
            )
        return np.bincount(
            np.repeat(np.arange(len(self.classes_)), self.n_support_)[kept], minlength=len(self.classes_)
        ).astype(np.int32)

    def _pair_values(self, X: Samples) -> Array:
        """The decision of each pair (a, b): positive for a; of two classes, for the second."""
        if len(self.classes_) == 2 or self._compressed or not len(self.support_):
            return self._values(X)
        X = self._accept_new(X)
        cross, n = self._evaluated(self._meet(X).cross), size(X)
        stops = np.cumsum(self.n_support_)
        parts = []
        for start, stop in zip(stops - self.n_support_, stops, strict=True):
            block = slice(int(start), int(stop))
            coef = self._dual_coef[:, block].T
            parts.append(
                np.asarray(cross.sub(slice(None), block) @ coef) if stop > start else np.zeros((n, coef.shape[1]))
            )
        values = [parts[a][:, b - 1] + parts[b][:, a] for a, b in pairs_of(len(self.classes_))]
        return np.column_stack(values) + self.intercept_

    def decision_function(self, X: Samples) -> Array:
        """f(x) for two classes, positive for ``classes_[1]``; for more, one score per class whose largest is the
        prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples; with ``kernel="precomputed"`` their matrix with the training samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The margin is at ±1. Of more than two classes: the number of pairs that the class wins, and between classes
            of as many, a sum of the values squeezed into (−⅓, ⅓).
        """
        check_is_fitted(self)
        values = self._pair_values(X)
        return values[:, 0] if len(self.classes_) == 2 else self._scores_of(values)

    def _scores_of(self, values: Array) -> Array:
        return scores_of_pairs(values, len(self.classes_), self._ranks)

    def predict(self, X: Samples) -> Array:
        """The class of each sample, the one with the largest ``decision_function``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of ``classes_``.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Samples) -> Array:
        """P(class | x); the likeliest class is always the predicted one. Only with ``probability=True``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``; rows sum to 1.
        """
        values, sigmoids = self._probable(X)
        p = np.column_stack([s(values[:, t]) for t, s in enumerate(sigmoids)])
        if len(self.classes_) == 2:
            return np.column_stack([1 - p[:, 0], p[:, 0]])
        predicted = np.argmax(self._scores_of(values), axis=1) if all(s.agrees for s in sigmoids) else None
        return couple(p, predicted, len(self.classes_))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Samples) -> Array:
        """log P(class | x); of two classes without the rounding of P near 1. Only with ``probability=True``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or n_samples items
            New samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            values, (sigmoid,) = self._probable(X)
            return np.column_stack([log_expit(sign * sigmoid.logit(values[:, 0])) for sign in (-1, 1)])
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _probable(self, X: Samples) -> tuple[Array, list[Any]]:
        """The decision of each pair, and the sigmoid that makes a probability of it."""
        check_is_fitted(self)
        if self._sigmoids is None:
            raise NotFittedError(
                coded(
                    f"predict_proba is not available when fitted with probability=False, as this {type(self).__name__}"
                    " was: nothing has been learnt about probabilities. Call fit again, now that probability=True.",
                    "M312",
                )
            )
        return self._pair_values(X), self._sigmoids


@estimator
class SVC(Classifier, CenterParameters, SolverParameters):
    """min ½‖w‖² + Σ_i C w_i max(0, 1 − y_i f(x_i)), f = ⟨w, φ(x)⟩ + b: soft-margin classification.

    w_i is the weight of sample i. The dual problem is solved in float32 blocks with a float64 check, to a gap of
    ``tol``; where a limit ends it before, a warning says why. Several classes: one machine for each pair, in parallel,
    over one matrix; attributes have scikit-learn's layout, order and signs.

    Parameters
    ----------
    C : float, default=1.0
        The weight of an error against ½‖w‖²; ``class_weight`` and ``sample_weight`` multiply it. A small C gives a
        smooth f that ignores more errors. inf: the hard margin, no error allowed; ``fit`` raises ValueError where the
        classes cannot be separated in the kernel's feature space.
    probability : bool, default=False
        Whether to provide ``predict_proba``: sigmoids on leave-one-out values (span estimate), no refitting. A sample
        is left out with all its weight and all its copies, so that a weight is a repetition here too.
    tol : float, default=1e-3
        The gap to reach: the largest violation of the optimality conditions, in units of f, whose margin is 1, as in
        libsvm. With ``C=inf``, a share of the margin.
    max_iter : int or None, default=None
        The most steps of two variables, for each pair of classes; None: 10⁶ + 1000 n_samples.
    progress : callable or None, default=None
        Called several times a second with a dictionary (gap, tol, n_iter, seconds, active); returns True to stop.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class; with ``centers``, that of the centers, (1,) where these are given:
        they have no class.
    support_ : ndarray of shape (n_support,)
        The numbers of the support vectors among the training samples, class by class; with ``centers``, those of the
        centers as they were drawn, −1 for each that is given.
    support_vectors_
    dual_coef_ : array of shape (n_classes − 1, n_support)
        y_i α_i. Of two classes the second is +1; of more, the first of each pair, and row r of a support vector is its
        coefficient against the r-th other class. Sparse where X was.
    intercept_ : ndarray of shape (1,), or (n_classes (n_classes − 1)/2,) where there are more than two
        b of each pair of classes.
    coef_ : array of shape (n_pairs, n_features_of_kernel)
        w of each pair, for kernels with a finite feature map such as ``Linear()``; sparse where X was.
    objective_ : float
        The minimum of the dual problem, ½ bᵀKb − yᵀb with b_i = y_i α_i; of several pairs, the sum.
    function_, gap_, converged_, stop_reason_, n_iter_, kernel_, n_features_in_, feature_names_in_

    Warns
    -----
    ConvergenceWarning
        Where a limit or the arithmetic ended the solver before ``tol``, with the measured cause.

    See Also
    --------
    NuSVC : A share of errors in place of C.
    KernelLogistic : Probabilities by maximum likelihood; every sample has a coefficient.
    OneClassSVM : Without labels.
    KernelSearchCV : Choosing C and the kernel, the matrix of each kernel computed once.

    References
    ----------
    C. Cortes and V. Vapnik, Support-vector networks, Machine Learning 20 (1995). C.-C. Chang and C.-J. Lin, LIBSVM, ACM
    TIST 2 (2011), for the layout of several classes. O. Chapelle et al., Machine Learning 46 (2002), for the span
    estimate.

    Examples
    --------
    >>> import mercer as mc
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = mc.SVC(C=10.0, kernel=mc.Gaussian(0.1), probability=True).fit(X[::2], y[::2])
    >>> machine.predict(X[1::50]), round(machine.score(X[1::2], y[1::2]), 3)
    (array([0, 1, 2]), 0.973)
    >>> machine.predict_proba(X[[101]]).round(2)
    array([[0.02, 0.11, 0.87]])
    >>> machine.n_support_, machine.stop_reason_
    (array([5, 9, 7], dtype=int32), 'gap')
    """

    C: float = 1.0
    kernel: KernelLike = Gaussian()
    _: KW_ONLY
    fit_intercept: bool = True
    class_weight: ClassWeight = None
    probability: bool = False

    def _feasible(self, counts: dict[Any, float]) -> None:
        if not self._hard:
            self._positive("C")
        elif not self.fit_intercept:
            raise ValueError(
                coded("SVC(C=inf) without a bias is not there: give fit_intercept=True or a finite C.", "M217")
            )

    @property
    def _hard(self) -> bool:
        return isinstance(self.C, (float, np.floating)) and float(self.C) == np.inf

    def _unit(self, gram: Gram) -> float:
        return hulls.kernel_size(gram) if self._hard else 1.0

    def _problem(self, part: Part) -> DualQP:
        if self._hard:
            # no bound is reached, not even to rounding
            return hulls.nearest_points(part.y, np.full(len(part.y), 2.0), 1.0, part.unit)
        return Hinge().dual(part.y, self._positive("C") * part.weights, self.fit_intercept)

    def _machine(self, s: Solution, problem: DualQP, part: Part, solver: ActiveSet) -> Pair:
        if self._hard:
            return between_hulls(s, problem, part, solver, least=0.0)
        bias = float(s.multipliers[0]) if self.fit_intercept else 0.0
        return Pair(s.coef, bias, s.gradient + part.y + bias, s)

    def _check_constant(self, machines: Sequence[Pair], parts: Sequence[Part], solver: ActiveSet) -> None:
        found = [self._names(t) for t, machine in enumerate(machines) if self._hard and machine.constant]
        if found:
            raise ValueError(
                coded(
                    f"SVC(C=inf): no hyperplane in the feature space of this kernel separates class {found[0]} by a"
                    " margin that arithmetic can resolve, so there is no hard margin: give a finite C, or a richer"
                    " kernel, such as a narrower Gaussian.",
                    "M306",
                )
            )

    def _learn_spread(self, passes: SpreadPasses, samples: SpreadSamples, marks: Landmarks) -> None:
        if self._hard or self.probability:
            what = "C=inf" if self._hard else "probability=True"
            raise ValueError(
                coded(
                    f"SVC({what}) is for samples in memory. Of a Dask collection give a finite C; for probabilities"
                    " there is KernelLogistic.",
                    "M313",
                )
            )
        self.classes_, counts, weights = samples.classes
        factors = self._class_factors(weights)
        k, cost = len(self.classes_), self._positive("C")
        of_pairs = [Coded(self.classes_, factors, signs=True, pair=None if k == 2 else pair) for pair in pairs_of(k)]
        fits = []
        for (a, b), targets in zip(pairs_of(k), of_pairs, strict=True):
            total = float(weights[a] * factors[a] + weights[b] * factors[b])
            spread = Spread(passes.behind(targets, int(counts[a] + counts[b]), total), marks.factor)
            sample = spread.few(1e-2, marks.values.compute.budget, once=False)
            fits.append(solve_spread_dual(Hinge(), cost, spread, self.fit_intercept, self._solver(), sample))
        self.intercept_ = np.array([float(s.multipliers[0]) for s, _ in fits])
        self._of_landmarks = np.column_stack([c for _, c in fits])
        self._sigmoids, self._coarse = None, False
        self.__dict__.pop("_ranks", None)
        codes = None if samples.labels is None else np.searchsorted(self.classes_, samples.labels.reshape(-1))
        self.n_support_ = np.array([len(marks)], np.int32)
        if codes is not None:
            self._classes_of_landmarks = np.bincount(codes, minlength=k).astype(np.int32)
        self._report([s for s, _ in fits], None)

    _along = "C"

    def _learn_path(self, gram: Gram, y: Targets, weights: Array, machines: Sequence[Any], X: Samples = None) -> None:
        """In increasing order of C, each started from the last; the matrix is prepared once. Two classes."""
        if self.probability or len(np.unique(y)) != 2 or gram.landmarks() is not None:
            super()._learn_path(gram, y, weights, machines, X)
            return
        gram, before = held(gram, Use.ACTIVE), None
        for one in sorted(machines, key=lambda machine: float(machine.C)):
            start = None
            if before is not None and not one._hard:
                # scaled with C the last point stays feasible, and at small C, where most are at their bound, near
                start = np.zeros(len(weights))
                start[before.support_] = before._dual_coef[0] * (one.C / before.C if one.C <= 10 else 1.0)
            with one._watching():
                one._check()
                one._learn(gram, y, weights, start=start)
            before = one

    def path(self, X: Samples, y: Targets, Cs: Sequence[float], sample_weight: Weights = None) -> list[Self]:
        """The machine for each C in increasing order, each started from the last; the matrix is prepared once. Two
        classes.

        Parameters
        ----------
        X, y
            Samples and their labels, as for ``fit``.
        Cs : sequence of float
            The values of C, in any order.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            As for ``fit``.

        Returns
        -------
        list of SVC
            Fitted machines, C increasing; this one stays as it is.
        """
        door = clone(self)  # this machine stays what it is
        X, y = door._accept_training(X, y)
        part, targets, weights, used = door._without_zeros(X, y, door._weights(size(X), sample_weight))
        classes = len(np.unique(targets))
        if classes != 2:
            raise ValueError(coded(f"A path is of two classes; y has {classes}.", "M112"))
        gram = door._matrix(part, weights)
        machines = [clone(self).set_params(C=C)._as_entered_by(door) for C in sorted(float(c) for c in Cs)]
        door._learn_path(gram, targets, weights, machines, part)
        for one in machines:
            one._n_items = size(X)
            one._remember(X, gram, used)
        return machines


def _ready(gram: Gram, classes: int) -> Gram:
    """The matrix as all that is done with it wants it; as it is where the time is over before, which the solver then
    finds and tells.
    """
    try:
        return held(gram, Use.ACTIVE if classes == 2 else Use.ACTIVE_PARTS)
    except Stopped as stop:
        stop.accepted()
        return gram


def between_hulls(s: Solution, problem: DualQP, part: Part, solver: ActiveSet, **least: float) -> Pair:
    """The machine half-way between the nearest points, ±1 at the edges of its margin; constant where the hulls meet."""
    s = hulls.refined(s, problem, part.gram, solver, **least)
    constant, margin, bias = (
        hulls.meet(s, part.gram, **least),
        max(hulls.margin(s), s.gap),
        float(s.multipliers.sum()) / 2,
    )
    s = replace(s, objective=s.objective * part.unit**2)  # as of variables that are not divided by it
    if constant:
        excess, total = float(np.sum(part.weights * part.y)), float(part.weights.sum())
        bias = float(np.sign(excess)) if abs(excess) > 1e-9 * total else 0.0
        return Pair(np.zeros(len(part.y)), bias, np.full(len(part.y), bias), s)
    # where a limit stopped the solver the margin may be less than what is left open, and is then not to be divided by
    return Pair(s.coef / margin, bias / margin, (s.gradient + bias) / margin, replace(s, gap=s.gap / margin))
