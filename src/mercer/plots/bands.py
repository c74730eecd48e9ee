"""How sure a regressor is, by what it can do: intervals, quantiles or a standard deviation, as the ends of a band."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.plots.samples import called, inner, percent
from mercer.troubles import coded

BANDS = ("auto", "interval", "quantiles", "std", None)


@dataclass(frozen=True, eq=False)
class Prediction:
    """f(x), and a lower and an upper end where the estimator knows them."""

    centre: Array
    lower: Array | None = None
    upper: Array | None = None
    name: str = ""  # of the band

    @classmethod
    def of(cls, estimator: Estimator, X: Samples, band: str | None, coverage: float) -> Prediction:
        """What the estimator predicts, with the band asked for; "auto" is the first that it has."""
        if band not in BANDS:
            raise ValueError(coded(f"band={band!r}: choose one of {', '.join(map(repr, BANDS))}.", "M205"))
        if not 0 < coverage < 1:
            raise ValueError(coded(f"coverage={coverage!r}: a share between 0 and 1.", "M205"))
        for name, ask in (("interval", _interval), ("quantiles", _quantiles), ("std", _std)):
            if band in ("auto", name):
                found = ask(estimator, X, coverage, band == name)
                if found is not None:
                    return found
                if band == name:
                    raise ValueError(
                        coded(f"{called(estimator)} has no {_NEEDS[name]}, which band={name!r} asks for.", "M311")
                    )
        several = _quantiles(estimator, X, coverage, False)
        return cls(_middle(estimator.predict(X)) if several is None else several.centre)


_NEEDS = {"interval": "predict_interval(X)", "quantiles": "several quantiles", "std": "predict(X, return_std=True)"}


def _interval(estimator: Estimator, X: Samples, coverage: float, asked: bool) -> Prediction | None:
    if not hasattr(estimator, "predict_interval"):
        return None
    takes = "coverage" in inspect.signature(estimator.predict_interval).parameters
    ends = np.asarray(estimator.predict_interval(X, coverage=coverage) if takes else estimator.predict_interval(X))
    kept = coverage if takes else getattr(estimator, "coverage", None)
    name = "interval" if kept is None else f"interval that holds {percent(kept)}"
    return Prediction(_middle(estimator.predict(X)), ends[:, 0], ends[:, 1], name)


def _quantiles(estimator: Estimator, X: Samples, coverage: float, asked: bool) -> Prediction | None:
    taus = np.atleast_1d(getattr(inner(estimator), "quantiles", ()))
    if len(taus) < 2:
        return None
    found, order = np.asarray(estimator.predict(X), np.float64), np.argsort(taus)
    low, middle, high = order[0], order[np.argmin(np.abs(taus[order] - 0.5))], order[-1]
    # of two quantiles neither is the middle
    centre = found[:, middle] if len(taus) > 2 else found.mean(axis=1)
    return Prediction(centre, found[:, low], found[:, high], f"quantiles {taus[low]:g} to {taus[high]:g}")


def _std(estimator: Estimator, X: Samples, coverage: float, asked: bool) -> Prediction | None:
    known = inspect.signature(inner(estimator).predict).parameters
    if "return_std" not in known:
        return None
    noise: dict[str, Any] = {"include_noise": True} if "include_noise" in known else {}
    try:
        mean, std = estimator.predict(X, return_std=True, **noise)
    except ValueError:  # of a machine that has not gathered what it needs; where it was asked for, it says so
        if asked:
            raise
        return None
    half = float(ndtri((1 + coverage) / 2)) * np.asarray(std, np.float64)
    centre = np.asarray(mean, np.float64)
    if centre.ndim != 1:
        return None
    return Prediction(centre, centre - half, centre + half, f"{percent(coverage)} of the posterior")


def _middle(predicted: Array) -> Array:
    """One number for each sample."""
    found = np.asarray(predicted, np.float64)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if found.ndim != 1:
        raise ValueError(
            coded(f"The predictions have shape {found.shape}: of several outputs show one at a time.", "M205")
        )
    return found
