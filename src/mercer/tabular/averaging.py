"""An average of a few candidates, and what choosing among many of them is worth on rows that nobody looked at.

Weights β ≥ 0 of sum 1 that make the squared error of Σ β_c p_c least, over rows that no candidate was trained on
(stacking). A candidate of little weight is not worth its time at prediction.

The best of many scores is too good to be true. So the choice itself is repeated on bootstrap samples of the rows: what
is chosen by the rows in a sample is judged by those outside of it (Tsamardinos et al. 2018). No machine is trained
again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from mercer.arrays import Array

_LEAST = 0.08  # weight of a candidate that is kept
MOST = 4  # candidates that are kept
_SAMPLES = 100


def weights_of(answers: Sequence[Array], truth: Array, weights: Array | None, most: int = MOST) -> Array:
    """β over the candidates, of which ``most`` are kept: answers of each, (n,) or (n, classes), and the truth in the
    same form.
    """
    w = np.ones(len(truth)) if weights is None else np.asarray(weights)
    root = np.sqrt(w / w.sum())
    P = np.stack([_weighted(a, root) for a in answers], axis=1)
    beta = _simplex(P.T @ P, P.T @ _weighted(truth, root))
    keep = np.argsort(-beta, kind="stable")[:most]
    keep = keep[beta[keep] >= _LEAST]
    out = np.zeros(len(answers))
    few = P[:, keep]
    out[keep] = _simplex(few.T @ few, few.T @ _weighted(truth, root))
    return out


def _weighted(values: Array, root: Array) -> Array:
    return np.asarray((values.reshape(len(values), -1) * root[:, None]).ravel())


def _simplex(A: Array, b: Array) -> Array:
    """argmin βᵀAβ − 2bᵀβ over β ≥ 0 of sum 1: least squares of a root of A, the sum as one more row that weighs."""
    values, vectors = np.linalg.eigh(A)
    root = np.sqrt(np.maximum(values, 1e-12 * max(values[-1], 1e-300)))
    heavy = 1e3 * root[-1]
    left = np.vstack([(vectors * root).T, np.full(len(b), heavy)])
    beta = nnls(left, np.append((vectors / root).T @ b, heavy))[0]
    return np.asarray(beta / beta.sum() if beta.sum() > 0 else np.full(len(b), 1 / len(b)))


@dataclass(frozen=True)
class Claim:
    """A score that can be told, and the standard error of it, from so many rows."""

    score: float
    error: float
    rows: int


def claimed(
    rows: int,
    repeats: int,
    choose: Callable[[Array], Callable[[Array], float]],
    score: Callable[[Array], float],
    seed: int,
) -> Claim:
    """``choose(rows)`` gives the score, on any rows, of what would be chosen by these; ``score`` is that of the final
    choice, whose spread over samples is the standard error. Every row is there ``repeats`` times, one copy after the
    other; copies are drawn together.
    """
    random, n = np.random.default_rng(seed), rows // repeats
    copies = n * np.arange(repeats)[:, None]
    outside, spread = [], []
    for _ in range(_SAMPLES):
        drawn = random.integers(0, n, n)
        rest = np.setdiff1d(np.arange(n), drawn)
        drawn = np.sort((drawn + copies).ravel())
        if len(rest):
            outside.append(choose(drawn)((rest + copies).ravel()))
        spread.append(score(drawn))
    found = float(np.nanmean(outside)) if outside else score(np.arange(rows))
    return Claim(found, float(np.nanstd(spread)), n)
