"""Intervals that hold what they say, whatever the noise: conformal prediction for every regressor."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone, is_classifier
from sklearn.model_selection import KFold
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params

from mercer.annotations import Estimator, Index, RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import chunks, size, take
from mercer.estimators.base import KernelEstimator
from mercer.estimators.parameters import estimator
from mercer.estimators.scikit_checks import check_is_fitted, column_or_1d
from mercer.runtime.randomness import for_scikit_learn, generator
from mercer.selection.folds import Entered, learns_from_matrix
from mercer.selection.left_out import LeftOut, has_closed_form
from mercer.selection.ranks import check_coverage, check_enough, rank
from mercer.selection.scales import LearnedScale, PosteriorScale, check_scale
from mercer.troubles import coded

_BLOCK = 512  # new samples at a time
_METHODS = ("split", "loo")
_INNER = 5  # refits within a part of the samples, for the errors that a scale is learnt from


@estimator
class ConformalRegressor(RegressorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor with ``predict_interval``: for exchangeable data P(y ∈ interval) ≥ coverage, without any assumption
    on the noise.

    The probability is over new samples and the training sample together, not for each x: where the noise differs from
    place to place, intervals of one width are too wide here and too narrow there. ``scale="residuals"`` mends that, and
    so do two quantiles as the estimator.

    Parameters
    ----------
    estimator : regressor
        Any regressor. One that predicts two quantiles, such as ``KernelQuantile([0.05, 0.95])``, gives ends that follow
        the noise: these two, moved by the quantile of how far targets lie outside of them (Romano et al. 2019).
    coverage : float, default=0.9
        The share of new targets that must lie inside, between 0 and 1. It needs errors of at least
        coverage/(1 − coverage) samples.
    method : {"loo", "split"}, default="loo"
        "split": trained on a part, the interval is ± the quantile of its errors on the rest (Papadopoulos et al. 2002):
        P ≥ coverage exactly. "loo": jackknife+ (Barber et al. 2021), trained on all: each sample's leave-one-out
        machine and error give the ends. P ≥ 2·coverage − 1 always, and about ``coverage`` in practice. For
        ``KernelRidge`` in closed form, from one factorisation, the kernel staying bound as it is (a bandwidth "scale"
        does not follow the sample that is left out); others are refitted on ``folds`` (CV+, whose guarantee is a little
        weaker).
    calibration : float, default=0.3
        The share of samples that "split" keeps for the errors.
    folds : int, default=10
        How many refits "loo" may take for estimators without a closed form (CV+).
    scale : {None, "std", "residuals"}, default=None
        s(x), to which the width at x is proportional: errors are divided by it before their quantile q is taken, and
        the interval is f(x) ± q·s(x) (Lei et al. 2018). What is said of the coverage stays true, for s(x) is learnt
        without the samples whose errors are divided by it. None: 1, the same width everywhere. "std": the standard
        deviation of a new y at x, by an estimator whose ``predict`` takes ``return_std``, such as ``KernelRidge``,
        with its noise: wider where samples are few; of noise that differs from place to place it knows nothing.
        "residuals": a second machine learns the logarithm of |error|, from errors of samples that f was not trained on:
        wider where there is more noise. It is a ridge with the estimator's kernel and λ by leave-one-out; for an
        estimator without one kernel, another one of its kind. It takes 5 more refits for each that there is without,
        none for ``KernelRidge``; "loo" is then by folds.
    random_state : int, RandomState, Generator or None, default=None
        Of the split, and of the folds.

    Attributes
    ----------
    estimator_ : regressor
        Trained on all samples; for "split", on its part.
    errors_ : ndarray
        |y − f(x)|/s(x) of samples that neither f nor s was trained on, s = 1 without ``scale``; of two quantiles, how
        far y lies outside, negative inside.
    n_features_in_ : int
        How many columns the data had.

    See Also
    --------
    KernelQuantile : Quantiles of y given x, without a guarantee.

    Notes
    -----
    What ``fit`` is given besides, such as ``sample_weight``, goes to the estimator: by scikit-learn's metadata routing
    where that is enabled, else as it is. The samples being exchangeable, each counts once among the errors, whatever
    its weight in training.

    References
    ----------
    Papadopoulos, H., Proedrou, K., Vovk, V. and Gammerman, A. (2002). Inductive confidence machines for regression.
    ECML.

    Lei, J., G'Sell, M., Rinaldo, A., Tibshirani, R. and Wasserman, L. (2018). Distribution-free predictive inference
    for regression. Journal of the American Statistical Association 113.

    Romano, Y., Patterson, E. and Candès, E. (2019). Conformalized quantile regression. NeurIPS.

    Barber, R. F., Candès, E., Ramdas, A. and Tibshirani, R. (2021). Predictive inference with the jackknife+. Annals
    of Statistics 49.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (500, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(500)
    >>> ridge = mc.KernelRidge(alpha=0.1, kernel=mc.Gaussian(1.0))
    >>> model = mc.ConformalRegressor(ridge, coverage=0.9).fit(X[:100], y[:100])
    >>> lower, upper = model.predict_interval(X[100:]).T
    >>> float(np.mean((lower <= y[100:]) & (y[100:] <= upper)))
    0.89

    Where there is more noise to the right, intervals that are wider there:

    >>> y = np.sin(2 * X[:, 0]) + np.where(X[:, 0] > 0, 0.5, 0.05) * rng.standard_normal(500)
    >>> model = mc.ConformalRegressor(ridge, scale="residuals", random_state=0).fit(X[:200], y[:200])
    >>> left, right = np.diff(model.predict_interval([[-1.0], [1.0]]))[:, 0]
    >>> bool(right > 3 * left)
    True
    """

    estimator: Estimator
    coverage: float = 0.9
    method: str = "loo"
    _: KW_ONLY
    calibration: float = 0.3
    folds: int = 10
    scale: str | None = None
    random_state: RandomState = None

    def get_metadata_routing(self) -> Any:
        """What goes where, for scikit-learn: all to the estimator's ``fit``."""
        return MetadataRouter(owner=self).add(
            estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit")
        )

    def fit(self, X: Samples, y: Targets, **params: Any) -> ConformalRegressor:
        """Train, and learn how large errors on other samples are.

        Parameters
        ----------
        X : collection of samples
            What the estimator takes.
        y : array of shape (n,)
            Targets.
        **params
            For the estimator's ``fit``; those with a value for each sample are divided as the samples are.

        Returns
        -------
        ConformalRegressor
            Itself, fitted.

        Raises
        ------
        ValueError
            If there are too few samples for this coverage: the interval would be infinite; if the estimator is a
            classifier, or has not what ``scale`` asks for.
        """
        self._check()
        X, y = self._accepted(X, y)
        params = (
            process_routing(self, "fit", **params).estimator.fit
            if get_config().get("enable_metadata_routing")
            else params
        )
        n = size(X)
        if n < 2:
            raise ValueError(coded(f"Errors on other samples need at least 2 samples, n_samples = {n}.", "M310"))
        self._closed: LeftOut | None = None
        if self.method == "split":
            train, rest = self._split(n)
            check_enough(len(rest), self.coverage)
            self._trained_on = train
            self.estimator_ = self._trained(X, y, train, params)
            self._scale = self._scale_beside(self.estimator_, X, y, train, params)
            part = self._part(X, rest, train)
            self.errors_ = self._errors(y[rest], self.estimator_.predict(part)) / _at(self._scale, part)
            return self
        check_enough(n, self.coverage)
        self.estimator_ = clone(self.estimator).fit(X, y, **params)
        if has_closed_form(self.estimator_) and self.scale != "residuals":
            self._closed = LeftOut.of(self.estimator_, y)
            self.errors_ = np.abs(self._closed.residuals) / (1.0 if self.scale is None else self._closed.spreads)
        else:
            self._fit_folds(X, y, params)
        return self

    def _check(self) -> None:
        check_coverage(self.coverage)
        if self.method not in _METHODS:
            raise ValueError(coded(f"method={self.method!r}: choose one of {', '.join(map(repr, _METHODS))}.", "M205"))
        if not 0 < self.calibration < 1:
            raise ValueError(coded(f"calibration={self.calibration!r}: a share between 0 and 1.", "M205"))
        if is_classifier(self.estimator):
            raise ValueError(
                coded(
                    f"{type(self.estimator).__name__} is a classifier: it answers with classes, and an interval is"
                    " around a number. Take a regressor (KernelRidge, SVR); how sure a classifier is, its"
                    " predict_proba says.",
                    "M311",
                )
            )
        check_scale(self.scale, self.estimator)

    def _trained(self, X: Samples, y: Array, train: Array, params: dict[str, Any]) -> Any:
        """The estimator on some of the samples, with what belongs to them."""
        return clone(self.estimator).fit(
            self._part(X, train, train), y[train], **_check_method_params(X, params, train)
        )

    def _errors(self, y: Array, predicted: Array) -> Array:
        """How far y lies from the prediction; outside of two predicted quantiles, negative inside."""
        lower, upper = _two(predicted)
        if self.scale is not None and upper is not lower:
            raise ValueError(
                coded(
                    f"scale={self.scale!r} is for one prediction; two quantiles follow the noise already: scale=None.",
                    "M205",
                )
            )
        return np.maximum(lower - y, y - upper)

    def _accepted(self, X: Samples, y: Targets) -> tuple[Any, Array]:
        if y is None:
            raise ValueError(coded("requires y to be passed, but the target y is None", "M112"))
        y = np.asarray(column_or_1d(y, warn=True), np.float64)
        X = X if hasattr(X, "shape") or isinstance(X, list) or not hasattr(X, "__array__") else np.asarray(X)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        if isinstance(self.estimator, KernelEstimator):
            clone(self.estimator)._accept(X, reset=True)
        if size(X) != len(y):
            raise ValueError(coded(f"X and y have inconsistent numbers of samples: {size(X)} and {len(y)}.", "M111"))
        return X, y

    @property
    def n_features_in_(self) -> int:
        """How many columns the data had."""
        return int(self.estimator_.n_features_in_)

    def _split(self, n: int) -> tuple[Array, Array]:
        order = generator(self.random_state).permutation(n)
        kept = max(1, round(self.calibration * n))
        return np.sort(order[kept:]), np.sort(order[:kept])

    def _scale_beside(
        self, machine: Estimator, X: Samples, y: Array, train: Array, params: dict[str, Any]
    ) -> PosteriorScale | LearnedScale | None:
        """s for a machine that was trained on a part of the samples, from that part alone."""
        if self.scale is None:
            return None
        if self.scale == "std":
            return PosteriorScale(machine)
        if has_closed_form(machine):
            rows, errors = train[machine.support_], LeftOut.of(machine, y[train]).residuals
        elif len(train) < 2:
            raise ValueError(
                coded(
                    f"scale='residuals' learns from errors on other samples within a part of n_samples = {len(train)},"
                    " and needs at least 2: give more samples, or scale=None.",
                    "M310",
                )
            )
        else:
            rows, errors = train, np.empty(len(train))
            for most, few in self._splits(len(train), min(_INNER, self.folds)):
                one = self._trained(X, y, train[most], params)
                errors[few] = self._errors(y[train[few]], one.predict(self._part(X, train[few], train[most])))
        return LearnedScale.of(self.estimator, self._part(X, rows, rows), errors)

    def _splits(self, n: int, folds: int) -> list[tuple[Array, Array]]:
        return list(
            KFold(min(folds, n), shuffle=True, random_state=for_scikit_learn(self.random_state)).split(np.zeros(n))
        )

    def _fit_folds(self, X: Samples, y: Array, params: dict[str, Any]) -> None:
        self._machines, self._fold = [], np.empty(len(y), np.int64)
        self.errors_ = np.empty(len(y))
        shared = (
            self.scale is None  # which would need the samples of a fold, not their matrix alone
            and learns_from_matrix(self.estimator)
            and self.estimator._one_kernel
            and not self.estimator._precomputed
        )
        entered = Entered.of(self.estimator, X, y) if shared and set(params) <= {"sample_weight"} else None
        for k, (train, test) in enumerate(self._splits(len(y), self.folds)):
            scale, s = None, 1.0
            if entered is None:
                machine = self._trained(X, y, train, params)
                scale = self._scale_beside(machine, X, y, train, params)
                part = self._part(X, test, train)
                predicted, s = machine.predict(part), _at(scale, part)
            else:
                machine, predicted = self._on_fold(
                    entered, train, test, _check_method_params(X, params, train).get("sample_weight")
                )
            self._machines.append((machine, scale, train))
            self._fold[test] = k
            self.errors_[test] = self._errors(y[test], predicted) / s

    def _on_fold(self, entered: Entered, train: Array, test: Array, weights: Weights) -> tuple[Any, Any]:
        """(a machine trained on a part of the matrix, what it predicts for the rest)."""
        machine, fold = clone(self.estimator), entered.fold(train, test, weights)
        fold.learn([machine], entered.y[train], weights)
        predicted = machine.predict(fold.cross)
        machine._remember(entered.X, entered.gram or fold.gram, train)
        return machine, predicted

    def _part(self, X: Samples, rows: Index, trained_on: Array) -> Any:
        """Samples; of a precomputed matrix, also the columns of those that were trained on."""
        part = X if isinstance(rows, slice) else take(X, rows)
        return part[:, trained_on] if getattr(self.estimator, "_precomputed", False) else part

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = self.estimator.__sklearn_tags__().input_tags
        return tags

    def predict(self, X: Samples) -> Array:
        """What the estimator trained on all (or, for "split", on its part) predicts; half-way between two quantiles."""
        lower, upper = self._both(X)
        return lower if upper is lower else (lower + upper) / 2

    def _both(self, X: Samples) -> tuple[Array, Array]:
        check_is_fitted(self, "estimator_")
        X = self._part(X, slice(None), self._trained_on) if self.method == "split" else X
        return _two(self.estimator_.predict(X))

    def predict_interval(self, X: Samples) -> Array:
        """The interval of each sample, which holds its target with the probability ``coverage``.

        Returns
        -------
        ndarray of shape (n, 2)
            The lower and the upper end.
        """
        check_is_fitted(self, "estimator_")
        if self.method == "split":
            q = np.sort(self.errors_)[rank(len(self.errors_), self.coverage) - 1]
            width = q * _at(self._scale, self._part(X, slice(None), self._trained_on))
            lower, upper = self._both(X)
            return np.sort(np.column_stack([lower - width, upper + width]), axis=1)
        parts = [self._ends(take(X, rows)) for rows in chunks(size(X), _BLOCK)]
        return np.concatenate(parts) if parts else np.empty((0, 2))

    def _ends(self, X: Samples) -> Array:
        """Jackknife+: quantiles over i of (prediction without i) ± |error of i|, in units of s without i."""
        below, above, s = self._without_each(X)
        n = below.shape[1]
        k = rank(n, self.coverage)
        lower, upper = below - self.errors_ * s, above + self.errors_ * s
        ends = [np.partition(lower, n - k, axis=1)[:, n - k], np.partition(upper, k - 1, axis=1)[:, k - 1]]
        return np.sort(np.column_stack(ends), axis=1)

    def _without_each(self, X: Samples) -> tuple[Array, Array, Array | float]:
        """f without sample i at each x, (new, n), or both quantiles; and s without sample i."""
        if self._closed is not None:
            left, s = self._closed.at(self.estimator_, X, spreads=self.scale is not None)
            return left, left, s
        answers = []
        for machine, scale, train in self._machines:
            part = self._part(X, slice(None), train)
            answers.append((*_two(machine.predict(part)), _at(scale, part) * np.ones(size(X))))
        return tuple(np.column_stack(found)[:, self._fold] for found in zip(*answers, strict=True))  # type: ignore[return-value]


def _at(scale: PosteriorScale | LearnedScale | None, X: Samples) -> Any:
    """s of each sample; 1 where none is asked for."""
    return 1.0 if scale is None else scale.at(X)


def _two(predicted: Array) -> tuple[Array, Array]:
    """The lower and the upper of two quantiles for each sample; one prediction is both."""
    values = np.asarray(predicted, np.float64)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim == 1:
        return values, values
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(
            coded(
                f"The estimator predicts {values.shape[1:]} numbers for each sample; an interval is around one, or"
                " between two quantiles, as of KernelQuantile([0.05, 0.95]).",
                "M112",
            )
        )
    return values.min(axis=1), values.max(axis=1)
