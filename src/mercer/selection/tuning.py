"""Hyper-parameters by gradient: all continuous parameters of a kernel, and λ or C, at once (SPEC §10)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone, is_classifier

from mercer.annotations import Estimator, RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import Blocks, check_weights, distinct, size, take
from mercer.estimators.base import KernelEstimator
from mercer.runtime.randomness import generator
from mercer.runtime.watch import Stopped, watching
from mercer.selection.criteria import CRITERIA, Criterion
from mercer.selection.objectives import Objective, OnLandmarks, OnMatrix
from mercer.troubles import coded

_MOST = 3000  # samples whose matrix is judged


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
        The values of the criterion, in order; where fewer samples judged at first, theirs come first.
    untouched : tuple of str
        The numbers of the kernel that have no derivative and stayed as they were; ``KernelSearchCV`` searches them.
    """

    estimator: Estimator
    value: float
    start: float
    parameters: dict[str, Any]
    n_evaluations: int
    seconds: float
    history: list[float] = field(repr=False)
    untouched: tuple[str, ...] = ()

    def fit(self, X: Samples, y: Targets, **given: Any) -> Any:
        """The estimator, fitted: a clone of ``estimator`` trained on X and y; ``given`` is for its ``fit``."""
        return clone(self.estimator).fit(X, y, **given)


def tune(
    estimator: Estimator, X: Samples, y: Targets, criterion: str | Criterion = "auto", *, sample_weight: Weights = None,
    max_samples: int | str | None = "auto", validation_fraction: float = 0.2, restarts: int = 0, max_iter: int = 100,
    max_time: float | None = None, random_state: RandomState = None,
    progress: Callable[[dict[str, Any]], Any] | None = None,
) -> Tuned:  # fmt: skip
    """``estimator`` with its kernel's continuous parameters, and its alpha (λ) or C, where ``criterion`` is smallest.

    Where a grid would be too large: a length scale for each column, the weights of a sum of kernels, the matrix M of
    ``k.metric(M)``. L-BFGS on the logarithms, with exact gradients: one factorisation and one pass over ∂K/∂log θ for
    each parameter; one for all the entries of a metric. An estimator with ``centers`` is judged by samples held out, in
    passes over the data, so that there may be a million; its metrics stay as they are.

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
    criterion : str or callable, default="auto"
        "auto": "hold-out" for an estimator with ``centers``, else "loo". "hold-out": the error, on samples held out, of
        the ridge that is a sum over the landmarks; without ``centers``, over all others. Of the ridge with this kernel
        and λ (1/(2C) where there is a C): "loo" (leave-one-out error), "gcv" (generalised cross-validation), "marginal
        likelihood"; of the kernel alone: "alignment"; of a support vector machine with squared slacks, for two classes:
        "radius-margin" and "span". Or a function (K, Y, w, λ, bias) ↦ (value, ∂value/∂K, ∂value/∂log λ), as those in
        ``mercer.selection.criteria``.
    sample_weight : array of shape (n,), optional
        Each counts as that many repetitions.
    max_samples : int, "auto" or None, default="auto"
        Of more samples, so many drawn at random are judged by. None: all. "auto": 3000, since criteria of the matrix
        cost n³, and all by "hold-out" with ``centers``, which does not.
    validation_fraction : float, default=0.2
        The share of the samples that "hold-out" judges by; the others are trained on.
    restarts : int, default=0
        Further starts, parameters multiplied by e^N(0, 1); the best end is taken.
    max_iter : int, default=100
        Steps of L-BFGS from each start.
    max_time : float, optional
        Seconds after which the best so far is taken.
    random_state : int, RandomState, Generator or None, default=None
        The source of the samples drawn, of those held out, of landmarks, and of the restarts.
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
        If there is nothing to tune, all targets are the same, or ``validation_fraction`` is no share.

    Warns
    -----
    UserWarning
        If the kernel has continuous parameters without a derivative, which stay as they are. Those that are said to
        have none, as γ of ``CrossCorrelation``, are named by ``Tuned.untouched`` alone.

    See Also
    --------
    KernelSearchCV : A grid, also of kernels and of parameters that are not continuous.
    KernelRidgeCV : λ alone.
    FeatureMachineRegressor : A metric without derivatives, of many more samples.

    Notes
    -----
    Samples that are the same in x and y count as one, with their weights together: else a kernel that knows nothing but
    its own copies would look best.

    An evaluation of "hold-out" with m landmarks is two systems, each some 10 to 20 passes over the n × m values, which
    are computed anew in each and not stored, and one pass for each parameter, all length scales of the columns counting
    as one. The landmarks are drawn once and stay. From four times max(20 000, 20 m) samples on, so many judge until
    they see no improvement, and all from there; it ends where a step lowers the criterion by less than 10⁻⁵ of it.

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
        raise TypeError(
            coded("tune needs an estimator of Mercer with a kernel; a precomputed matrix has no parameters.", "M213")
        )
    if estimator._learns_kernel:
        raise TypeError(
            coded(f"{type(estimator).__name__} learns its kernel itself; tune that of a KernelRidge.", "M217")
        )
    if isinstance(X, Blocks):
        raise TypeError(
            coded("tune needs samples that it can draw from: give it some of the blocks, X.take(numbers).", "M313")
        )
    if not (isinstance(validation_fraction, int | float) and 0 < validation_fraction < 1):
        raise ValueError(
            coded(f"validation_fraction={validation_fraction!r}: a share of the samples, above 0 and below 1.", "M205")
        )
    few = getattr(estimator, "centers", None) is not None
    criterion = ("hold-out" if few else "loo") if isinstance(criterion, str) and criterion == "auto" else criterion
    by_passes = isinstance(criterion, str) and criterion == "hold-out"
    judge = None if by_passes else _criterion(criterion)
    most = (None if few and by_passes else _MOST) if max_samples == "auto" else max_samples
    if isinstance(most, str):
        raise ValueError(coded(f"max_samples={max_samples!r}: a number of samples, 'auto', or None for all.", "M205"))
    began, random = time.perf_counter(), generator(random_state)
    X, Y, w = _sample(estimator, X, y, sample_weight, most, random)
    if (np.ptp(Y, axis=0) == 0).all():
        raise ValueError(
            coded("All targets are the same, one value or one class: there is nothing to judge a kernel by.", "M113")
        )
    kernel = estimator._given_kernel.bind(estimator._given_kernel.domain.check(X), w)
    objective: Objective = (
        OnMatrix(judge, kernel, estimator, X, Y, w)
        if judge is not None
        else OnLandmarks.of(kernel, estimator, X, Y, w, validation_fraction, random)
    )
    first = objective.start()
    if not len(first):
        raise ValueError(
            coded(
                f"{kernel} has no parameter with a derivative, and {type(estimator).__name__} neither alpha nor C:"
                " there is nothing to tune. KernelSearchCV searches over values.",
                "M211",
            )
        )
    history: list[float] = []

    def value_and_slope(theta: Array) -> tuple[float, Array]:
        value, slope = objective(theta)
        history.append(value)
        if watch is not None:
            watch.say(value=value, evaluations=len(history))
        return value, slope

    bounds, most_of_each = objective.bounds(first), objective.largest()

    def descend(theta: Array) -> None:
        options = {"maxiter": max_iter, "ftol": objective.least, "gtol": 1e-6, "maxcor": 20}
        minimize(value_and_slope, theta, jac=True, method="L-BFGS-B", bounds=bounds, options=options)

    whole, fewer, start = objective, objective.of_fewer(random), 0  # which value is that of the start
    with watching(max_time, progress, value=np.inf, evaluations=0) as watch:
        try:
            objective = fewer or whole
            for turn in range(restarts + 1):
                descend(first if turn == 0 else np.minimum(first + random.normal(size=len(first)), most_of_each))
            if fewer is not None and fewer.best is not None:
                objective = whole
                descend(fewer.best[1])
                value_and_slope(first)
                start = len(history) - 1
        except Stopped as stop:
            if stop.watch is not watch:
                raise
            if not history:
                raise type(stop)(watch, "tune") from None
    objective = whole if whole.best is not None or fewer is None else fewer
    best: tuple[float, Array] | None = objective.best
    if best is None:
        raise ValueError(
            coded(
                f"The criterion has no finite value at the start: {kernel} is not positive semi-definite on these data,"
                " or y is constant. Raise alpha, or use kernel.repaired('clip').",
                "M209",
            )
        )
    value, theta = best
    return Tuned(
        objective.estimator_at(theta), value, history[start], objective.named(theta), len(history),
        time.perf_counter() - began, history, objective.untouched
    )  # fmt: skip


def _criterion(criterion: str | Criterion) -> Criterion:
    if callable(criterion):
        return criterion
    if criterion not in CRITERIA:
        known = ", ".join(map(repr, ("auto", "hold-out", *CRITERIA)))
        raise ValueError(coded(f"criterion={criterion!r}: choose one of {known}, or give a function.", "M205"))
    return CRITERIA[criterion]


def _sample(
    estimator: Estimator, X: Samples, y: Targets, weights: Weights, most: int | None, random: np.random.Generator
) -> tuple[Any, Array, Array]:
    """Samples to judge by, their targets (n, outputs), classes as ±1, and weights; those of weight 0 are not there."""
    n = size(X)
    w = check_weights(n, weights)
    y = np.asarray(y)
    if len(y) != n:
        raise ValueError(coded(f"X has {n} samples and y has {len(y)}.", "M111"))
    if is_classifier(estimator):
        classes, codes = np.unique(y, return_inverse=True)
        signs = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
        Y = signs[:, 1:] if len(classes) == 2 else signs
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
