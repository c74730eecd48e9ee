"""What ``tune`` makes small: a criterion as a function of the logarithms of the parameters of a kernel, and of λ or C.

``OnMatrix`` judges by the matrix of all samples (``criteria``), ``OnLandmarks`` by samples held out (``holdout``).
"""

from __future__ import annotations

import copy
import re
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer import arrays
from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import size, take
from mercer.gram import NoGradient
from mercer.kernels.base import Kernel
from mercer.kernels.compose.metric import factor, metric_slopes, metrics_in
from mercer.native.linalg import NotPositive
from mercer.runtime import threads
from mercer.selection.criteria import Criterion
from mercer.selection.holdout import HoldOut, apart
from mercer.troubles import coded

_NOWHERE = 1e10
_RANGE = np.log(1e4)  # how far a parameter may go from where it started, in either direction
_FAR = 1e4  # how large an entry of the factor of a metric may become, the largest at the start being 1
_FEWER, _FEWER_TIMES = 20_000, 20  # samples that judge at first, and so many for each landmark


class Objective:
    """A criterion as a function of the logarithms of the parameters."""

    least = 1e-12  # a step that lowers the criterion by less is the last

    def __init__(self, kernel: Kernel, estimator: Estimator, X: Samples, Y: Array, w: Array) -> None:
        self.kernel, self.estimator = kernel, estimator
        if any(part._bound_to_values for part in kernel._parts()):
            raise TypeError(
                coded(
                    f"{kernel}: what centring or repairing takes from data follows the parameters to be tuned. Tune the"
                    " kernel inside first.",
                    "M211",
                )
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
        self.untouched = tuple(f"kernel__{name}" for name in (*missing, *kernel._not_tuned()))
        if missing:
            warnings.warn(
                coded(
                    f"tune leaves {', '.join(missing)} of {kernel} as they are: they have no derivative, {why}.", "M211"
                ),
                UserWarning,
                stacklevel=4,
            )
        self.regularisation = next((name for name in ("alpha", "C") if hasattr(estimator, name)), None)
        self.best: tuple[float, Array] | None = None

    def _metrics(self) -> dict[str, Array]:
        """The metrics that the criterion can be differentiated by."""
        return {}

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
        """The parameters by name."""
        positive = np.exp(theta[: len(self.values)]).tolist()
        out: dict[str, Any] = {f"kernel__{name}": value for name, value in zip(self.values, positive, strict=True)}
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
        value, out, slope = self._derivatives(kernel, ridge, theta)
        if not np.isfinite(value):
            return _NOWHERE, np.zeros(len(theta))
        if self.best is None or value < self.best[0]:
            self.best = (value, theta.copy())
        if self.regularisation is not None:
            out = np.append(out, -slope if self.regularisation == "C" else slope)
        return value, out

    def _derivatives(self, kernel: Kernel, ridge: float, theta: Array) -> tuple[float, Array, float]:
        """The criterion, and its derivatives by log θ for the parameters of the kernel and by log λ."""
        raise NotImplementedError

    def of_fewer(self, random: np.random.Generator) -> Objective | None:
        """The same judged by fewer samples, where that is much cheaper."""
        return None


class OnMatrix(Objective):
    """A criterion of the matrix of all samples."""

    def __init__(self, judge: Criterion, kernel: Kernel, estimator: Estimator, X: Samples, Y: Array, w: Array) -> None:
        super().__init__(kernel, estimator, X, Y, w)
        self.judge = judge

    def _derivatives(self, kernel: Kernel, ridge: float, theta: Array) -> tuple[float, Array, float]:
        K = np.asarray(arrays.to_numpy(kernel.gram(self.X, compute=self.estimator.compute).astype(np.float64).dense()))
        value, M, slope = self.judge(K, self.Y, self.w, ridge, self.bias)
        if not np.isfinite(value):
            return value, np.zeros(self._entries.stop), 0.0
        grams = kernel.gradient(self.X, compute=self.estimator.compute)
        out = [
            float(np.vdot(M, arrays.to_numpy(grams[name].astype(np.float64).dense())))
            for name in self.values
            if name not in self.weights
        ]
        return value, np.array(out + self._metric_slopes(kernel, theta, M)), slope

    def _metrics(self) -> dict[str, Array]:
        found = metrics_in(self.kernel)
        if found:
            try:
                metric_slopes(self.kernel, take(self.X, slice(0, 2)), np.ones((min(2, size(self.X)),) * 2))
            except NoGradient as error:
                warnings.warn(
                    coded(f"tune leaves the metric of {self.kernel} as it is: {error}", "M211"),
                    UserWarning,
                    stacklevel=6,
                )
                return {}
        return found

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


class OnLandmarks(Objective):
    """The error on samples held out, of functions of landmarks."""

    least = 1e-5  # of the error, as a share: a thousandth of what chance in the samples held out makes of it
    held_out: HoldOut

    @classmethod
    def of(
        cls, kernel: Kernel, estimator: Estimator, X: Samples, Y: Array, w: Array, share: float,
        random: np.random.Generator
    ) -> OnLandmarks:  # fmt: skip
        X, Y, w, n_train = apart(X, Y, w, share, random)
        made = cls(kernel, estimator, X, Y, w)
        train, compute = take(made.X, slice(0, n_train)), estimator.compute or Compute()
        Z = train
        if getattr(estimator, "centers", None) is not None:
            Z = estimator._landmark_rule(kernel)._choose(train, w[:n_train], compute, random).landmarks
        if compute.device is not None and isinstance(made.X, np.ndarray):
            made.X, Z = arrays.to_device(made.X, compute.device), arrays.to_device(Z, compute.device)
        made.held_out = HoldOut(made.X, Y, w, n_train, Z, bias=made.bias, compute=estimator.compute)
        return made

    def of_fewer(self, random: np.random.Generator) -> Objective | None:
        enough = max(_FEWER, _FEWER_TIMES * size(self.held_out.landmarks))
        if len(self.w) < 4 * enough:
            return None
        fewer = copy.copy(self)
        fewer.held_out, fewer.best = self.held_out.of_some(enough, random), None
        return fewer

    def _derivatives(self, kernel: Kernel, ridge: float, theta: Array) -> tuple[float, Array, float]:
        return self.held_out(kernel, ridge, self.values, theta)


def _get(params: dict[str, Any], name: str) -> float:
    entry = re.fullmatch(r"(.+)\[(\d+)\]", name)
    return float(params[name] if entry is None else np.asarray(params[entry[1]])[int(entry[2])])
