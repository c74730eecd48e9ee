"""Which samples are worth a look: the most typical, those in doubt, and those that are wrong."""

from __future__ import annotations

import numpy as np

from mercer.arrays import Array

_EACH = 5


def of_classes(right: Array, sure: Array) -> dict[str, Array]:
    """Numbers of samples by what they are examples of, from whether the answer is right and how sure it is."""
    wrong = int((~right).sum())
    return {
        "most typical": np.argsort(-np.where(right, sure, -np.inf), kind="stable")[: min(_EACH, int(right.sum()))],
        "most doubtful": np.argsort(sure, kind="stable")[:_EACH],
        "surest and wrong": np.argsort(-np.where(right, -np.inf, sure), kind="stable")[: min(_EACH, wrong)],
    }


def of_numbers(y: Array, predicted: Array) -> dict[str, Array]:
    """The same of numbers: near the middle of the predictions and right, and farthest off."""
    error = np.abs(y - predicted)
    return {
        "most typical": np.argsort(np.abs(predicted - np.median(predicted)) + error, kind="stable")[:_EACH],
        "farthest off": np.argsort(-error, kind="stable")[:_EACH],
    }
