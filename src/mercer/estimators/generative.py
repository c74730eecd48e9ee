"""Models of data that kernels are made of."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from mercer.estimators.lazy import LazyAnswers
from mercer.kernels.equality import same_values


class GenerativeModel(LazyAnswers, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A generative model; equal to another of its class with the same parameters and the same fit, so that kernels made
    of them are.
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return mine.keys() == theirs.keys() and all(same_values(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))
