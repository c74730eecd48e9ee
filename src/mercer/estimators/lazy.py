"""Answers about Dask collections: every ``predict`` and ``transform`` of a collection is a Dask array, computed block
by block when it is asked for.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.annotations import Estimator, Samples
from mercer.compute import Compute
from mercer.data import take
from mercer.distributed import Workers, computed, first_sample, is_collection, lazily
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.troubles import coding_scikit_learn

ANSWERS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "transform", "score_samples")


class LazyAnswers:
    """An estimator whose answers about a Dask collection are Dask arrays."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ANSWERS:
            method = vars(cls).get(name)
            if callable(method):
                setattr(cls, name, lazy(method))
            elif hasattr(method, "fn"):  # scikit-learn's available_if
                method.fn = lazy(method.fn)  # type: ignore[union-attr]
        score = getattr(cls, "score", None)
        if score is not None and not hasattr(score, "_of_collections"):
            cls.score = scored(score)  # type: ignore[attr-defined]


def lazy(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, which for a collection answers for each of its blocks, when it is asked to."""

    @functools.wraps(method)
    def answer(self: Any, X: Samples, *args: Any, **options: Any) -> Any:
        if not is_collection(X):
            return method(self, X, *args, **options)
        check_is_fitted(self)
        of = _Method(method.__name__, _alone(self), args, options)
        return lazily(of, X, _example(of, X))

    return answer


def scored(method: Callable[..., Any]) -> Callable[..., Any]:
    """A score, for which the answers about a collection are brought here, and the targets."""

    @functools.wraps(method)
    @coding_scikit_learn()
    def score(self: Any, X: Samples, *args: Any, **options: Any) -> Any:
        if not is_collection(X):
            return method(self, X, *args, **options)
        here = copy.copy(self)
        for name in ANSWERS:
            if hasattr(self, name):
                here.__dict__[name] = functools.partial(_computed, getattr(self, name))
        return method(here, X, *map(_here, args), **{name: _here(given) for name, given in options.items()})

    score._of_collections = True  # type: ignore[attr-defined]
    return score


def _computed(method: Callable[..., Any], X: Samples, *args: Any, **options: Any) -> Any:
    return _here(method(X, *args, **options))


def _here(given: object) -> Any:
    """A collection as an array in memory; anything else as it is."""
    return computed(given) if is_collection(given) else given


class _Method:
    """A method of an estimator with its further arguments, of one block."""

    def __init__(self, name: str, estimator: Estimator, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.__name__, self.estimator, self.args, self.options = name, estimator, args, options

    def __call__(self, block: Samples) -> Any:
        return getattr(self.estimator, self.__name__)(block, *self.args, **self.options)


def _alone(estimator: Estimator) -> Any:
    """The estimator as it is sent: it listens to nobody, and a task is one thread."""
    other = copy.copy(estimator)
    if getattr(other, "progress", None) is not None:
        other.progress = None
    if hasattr(other, "compute"):
        given = other.compute or Compute()
        other.compute = replace(given, client=None, threads=given.threads or 1)
    return other


def _example(of: _Method, X: Samples) -> Any:
    """The answer about one sample, from which the kind of the answers is known: one like those of the collection, where
    Dask knows what they are like, else one that the estimator has kept, else the first.
    """
    kept = getattr(of.estimator, "support_vectors_", None)
    if hasattr(X, "_meta_nonempty"):
        return of(X._meta_nonempty.iloc[:1])
    if kept is not None and len(getattr(kept, "shape", kept)) and np.shape(kept)[:1] != (0,):
        sample = take(kept, np.arange(1))
        if hasattr(X, "dtype") and hasattr(sample, "astype") and X.dtype.kind == "f":
            sample = sample.astype(X.dtype)
        return of(sample)
    if getattr(X, "ndim", 0) == 2 and X.shape[1] == X.shape[1]:
        return of(np.ones((1, X.shape[1]), X.dtype))
    return of(first_sample(X, Workers()))
