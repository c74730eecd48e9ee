"""Intervals that hold what they say, whatever the noise: conformal prediction for every regressor."""

from __future__ import annotations

from dataclasses import KW_ONLY
from itertools import count
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.model_selection import KFold
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params, check_is_fitted, column_or_1d

from mercer import arrays
from mercer.annotations import Estimator, Index, RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import chunks, size, take
from mercer.estimators.base import KernelEstimator
from mercer.estimators.parameters import estimator
from mercer.estimators.ridge import KernelRidge
from mercer.runtime.randomness import generator
from mercer.selection.criteria import Projected
from mercer.selection.folds import Entered, learns_from_matrix

_BLOCK = 512  # new samples at a time
_METHODS = ("split", "loo")


@estimator
class ConformalRegressor(RegressorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor with ``predict_interval``: for exchangeable data P(y ∈ interval) ≥ coverage, without any assumption
    on the noise.

    The probability is over new samples and the training sample together, not for each x: where the noise differs from
    place to place, intervals of one width are too wide here and too narrow there. Quantiles as the estimator mend that.

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
    random_state : int or None, default=0
        Of the split, and of the folds.

    Attributes
    ----------
    estimator_ : regressor
        Trained on all samples; for "split", on its part.
    errors_ : ndarray
        |y − f(x)| of samples that f was not trained on; of two quantiles, how far y lies outside, negative inside.
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
    """

    estimator: Estimator
    coverage: float = 0.9
    method: str = "loo"
    _: KW_ONLY
    calibration: float = 0.3
    folds: int = 10
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
            If there are too few samples for this coverage: the interval would be infinite.
        """
        if not 0 < self.coverage < 1:
            raise ValueError(f"coverage={self.coverage!r}: a share between 0 and 1.")
        if self.method not in _METHODS:
            raise ValueError(f"method={self.method!r}: choose one of {', '.join(map(repr, _METHODS))}.")
        if not 0 < self.calibration < 1:
            raise ValueError(f"calibration={self.calibration!r}: a share between 0 and 1.")
        X, y = self._accepted(X, y)
        params = (
            process_routing(self, "fit", **params).estimator.fit
            if get_config().get("enable_metadata_routing")
            else params
        )
        n = size(X)
        if n < 2:
            raise ValueError(f"Errors on other samples need at least 2 samples, n_samples = {n}.")
        self._closed: tuple[Array, Array, Array] | None = None
        if self.method == "split":
            train, rest = self._split(n)
            self._check_enough(len(rest))
            self._trained_on = train
            self.estimator_ = self._trained(X, y, train, params)
            self.errors_ = self._errors(y[rest], self.estimator_.predict(self._part(X, rest, train)))
            return self
        self._check_enough(n)
        self.estimator_ = clone(self.estimator).fit(X, y, **params)
        ridge = self.estimator_
        if (
            isinstance(ridge, KernelRidge)
            and ridge.kernel_ is not None
            and learns_from_matrix(ridge)
            and np.ndim(ridge.alpha) == 0
            and ridge.alpha > 0
        ):
            self._fit_closed(X, y)
        else:
            self._fit_folds(X, y, params)
        return self

    def _trained(self, X: Samples, y: Array, train: Array, params: dict[str, Any]) -> Any:
        """The estimator on some of the samples, with what belongs to them."""
        return clone(self.estimator).fit(
            self._part(X, train, train), y[train], **_check_method_params(X, params, train)
        )

    @staticmethod
    def _errors(y: Array, predicted: Any) -> Array:
        """How far y lies from the prediction; outside of two predicted quantiles, negative inside."""
        lower, upper = _two(predicted)
        return np.maximum(lower - y, y - upper)

    def _accepted(self, X: Samples, y: Targets) -> tuple[Any, Array]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = np.asarray(column_or_1d(y, warn=True), np.float64)
        X = X if hasattr(X, "shape") or isinstance(X, list) or not hasattr(X, "__array__") else np.asarray(X)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        if isinstance(self.estimator, KernelEstimator):
            clone(self.estimator)._accept(X, reset=True)
        if size(X) != len(y):
            raise ValueError(f"X and y have inconsistent numbers of samples: {size(X)} and {len(y)}.")
        return X, y

    @property
    def n_features_in_(self) -> int:
        """How many columns the data had."""
        return int(self.estimator_.n_features_in_)

    def _split(self, n: int) -> tuple[Array, Array]:
        order = generator(self.random_state).permutation(n)
        kept = max(1, round(self.calibration * n))
        return np.sort(order[kept:]), np.sort(order[:kept])

    def _check_enough(self, n: int) -> None:
        if np.ceil((n + 1) * self.coverage) > n:
            least = next(m for m in count(1) if np.ceil((m + 1) * self.coverage) <= m)
            raise ValueError(
                f"Coverage {self.coverage:g} needs errors of at least {least} samples, n_samples = {n}: the interval"
                " would be infinite."
            )

    def _fit_closed(self, X: Samples, y: Array) -> None:
        machine = self.estimator_
        K = np.asarray(
            arrays.to_numpy(
                machine.kernel_.gram(machine.support_vectors_, compute=machine.compute).astype(np.float64).dense()
            )
        )
        w, ridge = machine._sample_weight, float(machine.alpha)
        whole = Projected.of(K, y[machine.support_, None], w, ridge, machine.fit_intercept)
        residuals = whole.leave_one_out()[:, 0]
        self.errors_ = np.abs(residuals)
        self._closed = (whole.P, whole.of_bias, residuals)

    def _fit_folds(self, X: Samples, y: Array, params: dict[str, Any]) -> None:
        splits = list(
            KFold(min(self.folds, len(y)), shuffle=True, random_state=self.random_state).split(np.zeros(len(y)))
        )
        self._machines, self._fold = [], np.empty(len(y), np.int64)
        self.errors_ = np.empty(len(y))
        shared = learns_from_matrix(self.estimator) and self.estimator._one_kernel and not self.estimator._precomputed
        entered = Entered.of(self.estimator, X, y) if shared and set(params) <= {"sample_weight"} else None
        for k, (train, test) in enumerate(splits):
            if entered is None:
                machine = self._trained(X, y, train, params)
                predicted = machine.predict(self._part(X, test, train))
            else:
                machine, predicted = self._on_fold(
                    entered, train, test, _check_method_params(X, params, train).get("sample_weight")
                )
            self._machines.append((machine, train))
            self._fold[test] = k
            self.errors_[test] = self._errors(y[test], predicted)

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
            n = len(self.errors_)
            width = np.sort(self.errors_)[int(np.ceil((n + 1) * self.coverage)) - 1]
            lower, upper = self._both(X)
            return np.sort(np.column_stack([lower - width, upper + width]), axis=1)
        parts = [self._ends(take(X, rows)) for rows in chunks(size(X), _BLOCK)]
        return np.concatenate(parts) if parts else np.empty((0, 2))

    def _ends(self, X: Samples) -> Array:
        """Jackknife+: quantiles over i of (prediction without i) ± |error of i|."""
        below, above = self._without_each(X)
        n = below.shape[1]
        k = int(np.ceil((n + 1) * self.coverage))
        lower, upper = below - self.errors_, above + self.errors_
        ends = [np.partition(lower, n - k, axis=1)[:, n - k], np.partition(upper, k - 1, axis=1)[:, k - 1]]
        return np.sort(np.column_stack(ends), axis=1)

    def _without_each(self, X: Samples) -> tuple[Array, Array]:
        """f without sample i at each x, (new, n), or both quantiles. A ridge is linear in y, so leaving i out is
        putting its own prediction in the place of y_i.
        """
        if self._closed is None:
            both = [_two(machine.predict(self._part(X, slice(None), train))) for machine, train in self._machines]
            return tuple(np.column_stack(end)[:, self._fold] for end in zip(*both, strict=True))  # type: ignore[return-value]
        P, q, residuals = self._closed
        machine = self.estimator_
        cross = machine._meet(machine._accept_new(X)).cross.astype(np.float64)
        influence = np.asarray(arrays.to_numpy(cross.dense())) @ P + q
        left = self.predict(X)[:, None] - influence * residuals
        return left, left


def _two(predicted: Any) -> tuple[Array, Array]:
    """The lower and the upper of two quantiles for each sample; one prediction is both."""
    values = np.asarray(predicted, np.float64)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim == 1:
        return values, values
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(
            f"The estimator predicts {values.shape[1:]} numbers for each sample; an interval is around one, or between"
            " two quantiles, as of KernelQuantile([0.05, 0.95])."
        )
    return values.min(axis=1), values.max(axis=1)
