"""Hyper-parameters by gradient: all continuous parameters of a kernel, and λ or C, at once (SPEC §10)."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone, is_classifier

from mercer import arrays
from mercer.annotations import Estimator, RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import check_weights, distinct, size, take
from mercer.estimators.base import KernelEstimator
from mercer.gram import NoGradient
from mercer.kernels.base import Kernel
from mercer.kernels.compose.metric import factor, metric_slopes, metrics_in
from mercer.native.linalg import NotPositive
from mercer.runtime import threads
from mercer.runtime.randomness import generator
from mercer.runtime.watch import Stopped, watching
from mercer.selection.criteria import CRITERIA, Criterion

_NOWHERE = 1e10
_RANGE = np.log(1e4)  # how far a parameter may go from where it started, in either direction
_FAR = 1e4  # how large an entry of the factor of a metric may become, the largest at the start being 1


@dataclass(frozen=True, eq=False)
class Tuned:
    """What ``tune`` found.

    Attributes
    ----------
    estimator : estimator
        With the kernel and λ or C in place, not fitted.
    value, start : float
        The criterion there, and at the beginning; smaller is better.
    parameters : dict
        By name, as ``{"kernel__gamma": 0.3, "alpha": 0.01}``; a metric is a matrix, ``"kernel__M"``.
    n_evaluations : int
        How often the criterion was computed.
    seconds : float
        How long it took.
    history : list of float
        The values of the criterion, in order.
    """

    estimator: Estimator
    value: float
    start: float
    parameters: dict[str, Any]
    n_evaluations: int
    seconds: float
    history: list[float] = field(repr=False)

    def fit(self, X: Samples, y: Targets, **given: Any) -> Any:
        """The estimator, fitted: a clone of ``estimator`` trained on X and y; ``given`` is for its ``fit``."""
        return clone(self.estimator).fit(X, y, **given)


def tune(
    estimator: Estimator, X: Samples, y: Targets, criterion: str | Criterion = "loo", *, sample_weight: Weights = None,
    max_samples: int | None = 3000, restarts: int = 0, max_iter: int = 100, max_time: float | None = None,
    random_state: RandomState = None, progress: Callable[[dict[str, Any]], Any] | None = None,
) -> Tuned:  # fmt: skip
    """``estimator`` with its kernel's continuous parameters, and its alpha (λ) or C, where ``criterion`` is smallest.

    Where a grid would be too large: a length scale for each column, the weights of a sum of kernels, the matrix M of
    ``k.metric(M)``. L-BFGS on the logarithms, with exact gradients: one factorisation and one pass over ∂K/∂log θ for
    each parameter; one for all the entries of a metric.

    Parameters
    ----------
    estimator : estimator of Mercer
        With a kernel; its parameters are where the search starts, and each stays within a factor of 10⁴ of that.
        Parameters that are 0 stay 0. A metric is tuned in the form it has: weights of columns as weights, a matrix of
        rank r as L L^T with L of (columns, r), whose entries may be of either sign. It stays valid, and of that rank.
    X : collection of samples
        What the kernel takes.
    y : array of shape (n,) or (n, outputs)
        Targets or labels; classes are coded ±1.
    criterion : str or callable, default="loo"
        Of the ridge with this kernel and λ (1/(2C) where there is a C): "loo" (leave-one-out error), "gcv" (generalised
        cross-validation), "marginal likelihood"; of the kernel alone: "alignment"; of a support vector machine with
        squared slacks, for two classes: "radius-margin" and "span". Or a function (K, Y, w, λ, bias) ↦ (value,
        ∂value/∂K, ∂value/∂log λ), as those in ``mercer.selection.criteria``.
    sample_weight : array of shape (n,), optional
        Each counts as that many repetitions.
    max_samples : int or None, default=3000
        The criterion costs n³: of more samples, so many drawn at random are judged by. None: all.
    restarts : int, default=0
        Further starts, parameters multiplied by e^N(0, 1); the best end is taken.
    max_iter : int, default=100
        Steps of L-BFGS from each start.
    max_time : float, optional
        Seconds after which the best so far is taken.
    random_state : int, RandomState, Generator or None, default=None
        The source of the samples drawn and of the restarts.
    progress : callable, optional
        Called with value, evaluations and seconds after each evaluation; returns True to stop.

    Returns
    -------
    Tuned
        ``estimator`` is not fitted: ``tune(…).fit(X, y)`` is.

    Raises
    ------
    TypeError
        If the estimator has no kernel, or one that is bound to the values of another (``centered``, ``repaired``): tune
        the kernel inside first.
    ValueError
        If there is nothing to tune, or all targets are the same.

    Warns
    -----
    UserWarning
        If the kernel has continuous parameters without a derivative, which stay as they are.

    See Also
    --------
    KernelSearchCV : A grid, also of kernels and of parameters that are not continuous.
    KernelRidgeCV : λ alone.
    FeatureMachineRegressor : A metric without derivatives, of many more samples.

    Notes
    -----
    Samples that are the same in x and y count as one, with their weights together: else a kernel that knows nothing but
    its own copies would look best.

    References
    ----------
    Chapelle, O., Vapnik, V., Bousquet, O. and Mukherjee, S. (2002). Choosing multiple parameters for support vector
    machines. Machine Learning 46.

    Examples
    --------
    One length scale for each column; the second column says nothing of y:

    >>> import numpy as np
    >>> import mercer as mc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (40, 2))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(40)
    >>> ridge = mc.KernelRidge(alpha=0.1, kernel=mc.Matern([1.0, 1.0], 2.5))
    >>> found = mc.tune(ridge, X, y, max_iter=15)
    >>> first, second = found.estimator.kernel.length_scale
    >>> bool(second > 10 * first), found.value < found.start
    (True, True)
    >>> model = found.fit(X, y)
    """
    if not isinstance(estimator, KernelEstimator) or estimator._precomputed:
        raise TypeError("tune needs an estimator of Mercer with a kernel; a precomputed matrix has no parameters.")
    if estimator._learns_kernel:
        raise TypeError(f"{type(estimator).__name__} learns its kernel itself; tune that of a KernelRidge.")
    judge = _criterion(criterion)
    began, random = time.perf_counter(), generator(random_state)
    X, Y, w = _sample(estimator, X, y, sample_weight, max_samples, random)
    if (np.ptp(Y, axis=0) == 0).all():
        raise ValueError("All targets are the same, one value or one class: there is nothing to judge a kernel by.")
    kernel = estimator._given_kernel.bind(estimator._given_kernel.domain.check(X), w)
    objective = _Objective(judge, kernel, estimator, X, Y, w)
    first = objective.start()
    if not len(first):
        raise ValueError(
            f"{kernel} has no continuous parameter, and {type(estimator).__name__} neither alpha nor C: there is"
            " nothing to tune."
        )
    history: list[float] = []

    def value_and_slope(theta: Array) -> tuple[float, Array]:
        value, slope = objective(theta)
        history.append(value)
        if watch is not None:
            watch.say(value=value, evaluations=len(history))
        return value, slope

    bounds, most = objective.bounds(first), objective.largest()
    options = {"maxiter": max_iter, "ftol": 1e-12, "gtol": 1e-6, "maxcor": 20}
    with watching(max_time, progress, value=np.inf, evaluations=0) as watch:
        try:
            for turn in range(restarts + 1):
                theta = first if turn == 0 else np.minimum(first + random.normal(size=len(first)), most)
                minimize(value_and_slope, theta, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        except Stopped as stop:
            if stop.watch is not watch:
                raise
            if not history:
                raise type(stop)(watch, "tune") from None
    best: Any = objective.best
    if best is None:
        raise ValueError(
            f"The criterion has no finite value at the start: {kernel} is not positive semi-definite on these data, or"
            " y is constant. Raise alpha, or use kernel.repaired('clip')."
        )
    value, theta = best
    return Tuned(
        objective.estimator_at(theta), value, history[0], objective.named(theta), len(history),
        time.perf_counter() - began, history
    )  # fmt: skip


def _criterion(criterion: str | Criterion) -> Criterion:
    if callable(criterion):
        return criterion
    if criterion not in CRITERIA:
        raise ValueError(
            f"criterion={criterion!r}: choose one of {', '.join(map(repr, CRITERIA))}, or give a function."
        )
    return CRITERIA[criterion]


def _sample(
    estimator: Estimator, X: Samples, y: Targets, weights: Weights, most: int | None, random: np.random.Generator
) -> tuple[Any, Array, Array]:
    """Samples to judge by, their targets (n, outputs), classes as ±1, and weights; those of weight 0 are not there."""
    n = size(X)
    w = check_weights(n, weights)
    y = np.asarray(y)
    if len(y) != n:
        raise ValueError(f"X has {n} samples and y has {len(y)}.")
    if is_classifier(estimator):
        classes, codes = np.unique(y, return_inverse=True)
        coded = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
        Y = coded[:, 1:] if len(classes) == 2 else coded
    else:
        Y = y.astype(np.float64).reshape(n, -1)
    chosen = np.flatnonzero(w > 0)
    if most is not None and len(chosen) > most:
        chosen = np.sort(random.permutation(chosen)[:most])
    X, Y, w = (X if len(chosen) == n else take(X, chosen)), Y[chosen], w[chosen]
    # equal samples are one of their weights together: else a kernel that knows nothing but its own copies would look
    # best
    first, kinds = distinct(X, Y)
    return (X, Y, w) if len(first) == len(kinds) else (take(X, first), Y[first], np.bincount(kinds, weights=w))


class _Objective:
    """The criterion as a function of the logarithms of the parameters."""

    def __init__(self, judge: Criterion, kernel: Kernel, estimator: Estimator, X: Samples, Y: Array, w: Array) -> None:
        self.judge, self.kernel, self.estimator = judge, kernel, estimator
        if any(part._bound_to_values for part in kernel._parts()):
            raise TypeError(
                f"{kernel}: what centring or repairing takes from data follows the parameters to be tuned. Tune the"
                " kernel inside first."
            )
        self.X, self.Y, self.w = kernel.domain.check(X), Y, w
        self.bias = bool(getattr(estimator, "fit_intercept", True))
        params = kernel.get_params(deep=True)
        self.values = {
            name: value for name in kernel.gradient(take(self.X, slice(0, 2))) if (value := _get(params, name)) > 0
        }
        metrics = self._metrics()
        self.weights = {
            f"{name}[{j}]": (name, j) for name, M in metrics.items() if M.ndim == 1 for j in np.flatnonzero(M > 0)
        }
        self.values |= {name: float(metrics[at][j]) for name, (at, j) in self.weights.items()}
        found = {name: factor(M) for name, M in metrics.items() if M.ndim == 2}
        self.factors = {name: (L, float(np.abs(L).max())) for name, L in found.items() if L.size}
        missing, why = kernel.without_derivative(self.X)
        if missing:
            warnings.warn(
                f"tune leaves {', '.join(missing)} of {kernel} as they are: they have no derivative, {why}.",
                UserWarning,
                stacklevel=3,
            )
        self.regularisation = next((name for name in ("alpha", "C") if hasattr(estimator, name)), None)
        self.best: tuple[float, Array] | None = None

    def _metrics(self) -> dict[str, Array]:
        """Those that the criterion can be differentiated by."""
        found = metrics_in(self.kernel)
        if found:
            try:
                metric_slopes(self.kernel, take(self.X, slice(0, 2)), np.ones((min(2, size(self.X)),) * 2))
            except NoGradient as error:
                warnings.warn(f"tune leaves the metric of {self.kernel} as it is: {error}", UserWarning, stacklevel=5)
                return {}
        return found

    def start(self) -> Array:
        """Logarithms of what is positive, the factors of metrics in units of their largest entry, and log λ or C."""
        last = []
        if self.regularisation is not None:
            last.append(np.log(max(float(np.mean(getattr(self.estimator, self.regularisation))), 1e-12)))
        logs = np.log(np.array(list(self.values.values()), np.float64))
        return np.concatenate([logs, *((L / unit).ravel() for L, unit in self.factors.values()), last])

    @property
    def _entries(self) -> slice:
        """Those of the factors."""
        return slice(len(self.values), len(self.values) + sum(L.size for L, _ in self.factors.values()))

    def largest(self) -> Array:
        """The largest value that each may have."""
        most = self.kernel._maxima()
        known = [np.log(most.get(name.split("[")[0], np.inf)) for name in self.values]
        far = [_FAR] * (self._entries.stop - self._entries.start)
        return np.array([*known, *far, *([np.inf] if self.regularisation is not None else [])])

    def bounds(self, first: Array) -> list[tuple[float, float]]:
        """Where each may go."""
        out = [(t - _RANGE, min(t + _RANGE, top)) for t, top in zip(first, self.largest(), strict=True)]
        out[self._entries] = [(-_FAR, _FAR)] * len(out[self._entries])
        return out

    def _metrics_at(self, theta: Array) -> dict[str, Array]:
        entries, out = theta[self._entries], {}
        for name, (L, unit) in self.factors.items():
            mine, entries = entries[: L.size].reshape(L.shape) * unit, entries[L.size :]
            out[name] = mine @ mine.T
        return out

    def kernel_at(self, theta: Array, kernel: Kernel | None = None) -> Kernel:
        """``kernel`` with these parameters; by default the one that is bound to the data."""
        kernel = clone(self.kernel if kernel is None else kernel)
        vectors: dict[str, Array] = {}
        params = self.kernel.get_params(deep=True)
        changes: dict[str, Any] = {}
        for name, value in zip(self.values, np.exp(theta[: len(self.values)]), strict=True):
            entry = re.fullmatch(r"(.+)\[(\d+)\]", name)
            if entry is None:
                changes[name] = float(value)
            else:
                vectors.setdefault(entry[1], np.array(params[entry[1]], np.float64))[int(entry[2])] = value
        kernel.set_params(**changes, **vectors, **self._metrics_at(theta))
        return kernel

    def named(self, theta: Array) -> dict[str, Any]:
        positive = np.exp(theta[: len(self.values)]).tolist()
        out = {f"kernel__{name}": value for name, value in zip(self.values, positive, strict=True)}
        out |= {f"kernel__{name}": M for name, M in self._metrics_at(theta).items()}
        return out if self.regularisation is None else {**out, self.regularisation: float(np.exp(theta[-1]))}

    def estimator_at(self, theta: Array) -> Any:
        # not the bound kernel: what else it takes from data (means of columns) it is to take from what it is trained on
        chosen: dict[str, Any] = {"kernel": self.kernel_at(theta, self.estimator._given_kernel)}
        if self.regularisation is not None:
            chosen[self.regularisation] = float(np.exp(theta[-1]))
        return clone(self.estimator).set_params(**chosen)

    def __call__(self, theta: Array) -> tuple[float, Array]:
        with threads.single_threaded_if_small(size(self.X)), np.errstate(over="ignore", invalid="ignore"):
            try:
                return self._judged(theta)
            except (NotPositive, FloatingPointError):  # parameters out of reach: nowhere to stay
                return _NOWHERE, np.zeros(len(theta))

    def _judged(self, theta: Array) -> tuple[float, Array]:
        kernel = self.kernel_at(theta)
        strength = float(np.exp(theta[-1])) if self.regularisation is not None else 1.0
        ridge = 1 / (2 * strength) if self.regularisation == "C" else strength
        K = np.asarray(arrays.to_numpy(kernel.gram(self.X, compute=self.estimator.compute).astype(np.float64).dense()))
        value, M, slope = self.judge(K, self.Y, self.w, ridge, self.bias)
        if not np.isfinite(value):
            return _NOWHERE, np.zeros(len(theta))
        if self.best is None or value < self.best[0]:
            self.best = (value, theta.copy())
        grams = kernel.gradient(self.X, compute=self.estimator.compute)
        out = [
            float(np.vdot(M, arrays.to_numpy(grams[name].astype(np.float64).dense())))
            for name in self.values
            if name not in self.weights
        ]
        out += self._metric_slopes(kernel, theta, M)
        if self.regularisation is not None:
            out.append(-slope if self.regularisation == "C" else slope)
        return value, np.array(out)

    def _metric_slopes(self, kernel: Kernel, theta: Array, by_matrix: Array) -> list[float]:
        """By the logarithms of weights, then by the entries of factors: ∂/∂L of a function of L L^T is 2 ∂/∂M L."""
        if not (self.weights or self.factors):
            return []
        slopes = metric_slopes(kernel, self.X, (by_matrix + by_matrix.T) / 2, self.estimator.compute)
        current = metrics_in(kernel)
        out = [float(slopes[name][j] * current[name][j]) for name, j in self.weights.values()]
        entries = theta[self._entries]
        for name, (L, unit) in self.factors.items():
            mine, entries = entries[: L.size].reshape(L.shape) * unit, entries[L.size :]
            out += (2.0 * unit * slopes[name] @ mine).ravel().tolist()
        return out


def _get(params: dict[str, Any], name: str) -> float:
    entry = re.fullmatch(r"(.+)\[(\d+)\]", name)
    return float(params[name] if entry is None else np.asarray(params[entry[1]])[int(entry[2])])
