"""One against one: a machine for every pair of classes, and one answer from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.troubles import coded


def classes_and_codes(y: Array) -> tuple[Array, Array]:
    """The classes in order, and the number of each sample's; without sorting labels that are in order, as those of many
    small data sets are.
    """
    if y.dtype.kind not in "iub" or not len(y) or (y[1:] < y[:-1]).any():
        return np.unique(y, return_inverse=True)
    begins = np.concatenate([[True], y[1:] != y[:-1]])
    return y[begins], np.cumsum(begins) - 1


def pairs_of(k: int) -> list[tuple[int, int]]:
    """(a, b) with a < b; a positive value of its machine means a, as in libsvm."""
    return [(a, b) for a in range(k) for b in range(a + 1, k)]


def scores_of_pairs(values: Array, k: int, ranks: Array | None = None) -> Array:
    """Votes, and a sum of the values squeezed into (−⅓, ⅓) that decides between classes of as many votes; where
    ``ranks`` are given, the class of the lowest rank is taken, libsvm's rule.
    """
    votes, sums = np.zeros((len(values), k)), np.zeros((len(values), k))
    for t, (a, b) in enumerate(pairs_of(k)):
        v = values[:, t]
        sums[:, a] += v
        sums[:, b] -= v
        votes[v > 0, a] += 1
        votes[v <= 0, b] += 1
    return votes + sums / (3 * (np.abs(sums) + 1)) if ranks is None else votes - ranks / (3 * k)


def couple(p: Array, predicted: Array | None, k: int) -> Array:
    """Probabilities of k classes from those of pairs (p[:, t] is that of a against b), by Wu, Lin and Weng's second
    method.

    It solves min Σ_{a≠b} (r_ba p_a − r_ab p_b)² with Σ p = 1, a linear system for each sample. Where its largest is not
    the class that the votes predict, the two exchange their probabilities: what is likeliest is what is predicted. They
    do not where nothing is said to be ``predicted``.
    """
    r = np.zeros((len(p), k, k))
    for t, (a, b) in enumerate(pairs_of(k)):
        r[:, a, b], r[:, b, a] = p[:, t], 1 - p[:, t]
    Q = -np.einsum("nba,nab->nab", r, r)
    diagonal = np.einsum("nba,nba->na", r, r)
    Q[:, np.arange(k), np.arange(k)] = diagonal + 1e-12
    bordered = np.ones((len(p), k + 1, k + 1))
    bordered[:, :k, :k], bordered[:, k, k] = Q, 0.0
    right = np.zeros((len(p), k + 1, 1))
    right[:, k] = 1.0
    out = np.clip(np.linalg.solve(bordered, right)[:, :k, 0], 0.0, None)
    out /= out.sum(axis=1, keepdims=True)
    if predicted is None:
        return out
    rows, top = np.arange(len(p)), np.argmax(out, axis=1)
    out[rows, predicted], out[rows, top] = out[rows, top], out[rows, predicted].copy()
    return out


def class_weights(given: Mapping[Any, float] | str | None, counts: dict[Any, float]) -> Array:
    """One weight for each class of ``counts``: from a dictionary, "balanced" (inversely to the counts), or 1 where
    nothing is given.

    A dictionary may name classes that are not there (a fold may lack one), if it names all that are.
    """
    if given is None:
        return np.ones(len(counts))
    if isinstance(given, str):
        if given != "balanced":
            raise ValueError(
                coded(f"class_weight={given!r}: give a dictionary {{class: weight}}, 'balanced' or None.", "M205")
            )
        total = sum(counts.values())
        return np.array([total / (len(counts) * c) for c in counts.values()])
    unnamed, named = [label for label in counts if label not in given], sum(label in given for label in counts)
    # scikit-learn's rule: a fold may lack a class, but not if its own are not all named
    if unnamed and named < len(given):
        unknown = sorted(set(given) - set(counts), key=str)
        raise ValueError(
            coded(
                f"class_weight has classes that are not in y: {unknown}, and does not name {unnamed}, which are: name"
                " every class.",
                "M205",
            )
        )
    weights = np.array([float(given.get(label, 1.0)) for label in counts])
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(coded(f"class_weight={given!r}: weights are numbers of at least 0.", "M114"))
    return weights
