"""s(x), what the width of an interval at x is proportional to.

Errors divided by s(x) are compared, and the interval is f(x) ± q·s(x). Any s keeps the coverage, if it is
learnt without the samples whose errors it divides; a good one makes the widths follow the noise.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.estimators.base import KernelEstimator
from mercer.estimators.ridge_cv import KernelRidgeCV
from mercer.selection.folds import learns_from_matrix
from mercer.troubles import coded

SCALES = (None, "std", "residuals")
_SMALL = 0.01  # of the mean error, added to each: an error of 0 says little of the noise, and its logarithm too much


@dataclass(frozen=True, eq=False)
class PosteriorScale:
    """s(x) is the standard deviation of a new y at x, by the machine itself."""

    machine: Estimator

    def at(self, X: Samples) -> Array:
        """s of each sample."""
        noise = {"include_noise": True} if "include_noise" in _options(self.machine) else {}
        std = np.asarray(self.machine.predict(X, return_std=True, **noise)[1], np.float64).reshape(-1)
        if not (np.isfinite(std) & (std > 0)).all():
            i = int(np.argmin(np.isfinite(std) & (std > 0)))
            raise ValueError(
                coded(
                    f"The standard deviation at sample {i} is {std[i]:g}, and errors are to be divided by it: give the"
                    " estimator some noise (KernelRidge: alpha > 0), or choose scale='residuals'.",
                    "M205",
                )
            )
        return std


@dataclass(frozen=True, eq=False)
class LearnedScale:
    """s(x) = exp g(x), g a regression of log(|e| + small) on x, e errors of samples that f was not trained on.

    Of e = s(x)·z, with z independent of x, the logarithm is log s(x) + log|z|: the noise of that regression is the same
    everywhere, as least squares likes it, and what E log|z| adds to g is a factor of s, which does not matter. g is
    held to the range of the logarithms it was learnt from, for it may lead anywhere where there were no samples.
    """

    machine: Estimator
    least: float
    most: float

    @classmethod
    def of(cls, estimator: Estimator, X: Samples, errors: Array) -> LearnedScale:
        """Learnt by what suits the estimator whose errors on X these are."""
        size = np.abs(errors)
        logs = np.log(size + (_SMALL * float(size.mean()) or 1.0))
        return cls(_machine_beside(estimator).fit(X, logs), float(logs.min()), float(logs.max()))

    def at(self, X: Samples) -> Array:
        """s of each sample."""
        g = np.asarray(self.machine.predict(X), np.float64).reshape(-1)
        return np.exp(np.clip(g, self.least, self.most))


def _machine_beside(estimator: Estimator) -> Any:
    """A ridge with the kernel of the estimator, and λ by leave-one-out: how smooth f is says nothing of how smooth the
    noise is. Where there is no one kernel, or but landmarks, another machine like the estimator.
    """
    if isinstance(estimator, KernelEstimator) and learns_from_matrix(estimator) and estimator._one_kernel:
        return KernelRidgeCV(kernel=clone(estimator.kernel, safe=False), compute=estimator.compute)
    return clone(estimator)


def check_scale(scale: str | None, estimator: Estimator) -> None:
    """Raise ValueError unless a scale is known, and the estimator has it."""
    if scale not in SCALES:
        raise ValueError(coded(f"scale={scale!r}: choose one of {', '.join(map(repr, SCALES))}.", "M205"))
    if scale == "std" and "return_std" not in _options(estimator):
        raise ValueError(
            coded(
                f"scale='std' asks the estimator for a standard deviation, and predict of {type(estimator).__name__}"
                " takes no return_std, as that of KernelRidge does: choose scale='residuals'.",
                "M311",
            )
        )


def _options(estimator: Estimator) -> set[str]:
    """The options of ``predict``; of who passes them on (a pipeline, a search), those of who is asked in the end."""
    if hasattr(estimator, "steps"):
        return _options(estimator.steps[-1][1])
    found = inspect.signature(estimator.predict).parameters if hasattr(estimator, "predict") else {}
    passed_on = any(option.kind is inspect.Parameter.VAR_KEYWORD for option in found.values())
    return _options(estimator.estimator) if passed_on and hasattr(estimator, "estimator") else set(found)
