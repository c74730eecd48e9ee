"""A first point for the dual of a kernel with features, one variable at a time, without a matrix.

    min ½ b^T Φ Φ^T b + p^T b,  lower ≤ b ≤ upper,  sum of b kept

w = Φ^T b is at hand, so a step in b_i costs the features of one item: an epoch costs what the data holds. The sum is
kept by the method of multipliers: ``level`` is its price, and μ/2 (sum − wanted)² is added, as if each item had one
feature √μ more. Hsieh et al. 2008 without the sum. Steps become small long before the gap is; the active set goes on
from here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Features, Gram
from mercer.problems import DualQP
from mercer.runtime import compiling
from mercer.runtime.threads import stopping

_EPOCHS = 100
_ENOUGH = 0.05  # of the scale of the linear term: how far the gradient may be from optimal
_SWEEPS = 5  # epochs between two looks at the price of the sum


def usable(problem: DualQP, gram: Gram) -> Features | None:
    """The features, where there are any on this machine, and one sum or none."""
    found = gram.features(at_most=np.inf) if problem.group is None else None
    return found if found is not None and found.symmetric and not arrays.is_tensor(found.factored[0]) else None


def descend(problem: DualQP, features: Features, gram: Gram, seed: int) -> Array:
    """b near the optimum, within its bounds; its sum is about right."""
    phi, factors = features.factored
    phi = sparse.csr_array(phi) if sparse.issparse(phi) else sparse.csr_array(np.asarray(phi, np.float64))
    items = np.arange(len(problem)) if problem.index is None else np.asarray(problem.index)
    diagonal = np.asarray(gram.diag(), np.float64)
    b = np.array(problem.start, np.float64)
    w = np.asarray(phi.T @ (factors * problem.items(b, phi.shape[0]))) if b.any() else np.zeros(phi.shape[1])
    mu = float(np.mean(diagonal)) if problem.coupled else 0.0
    state = np.array([0.0, 0.0])  # the price of the sum, and the sum less what it should be
    random, scale = np.random.default_rng(seed), float(np.max(np.abs(problem.linear), initial=0.0)) or 1.0
    parts = (problem.linear, problem.lower, problem.upper)
    for _ in range(_EPOCHS // _SWEEPS):
        for _ in range(_SWEEPS):
            order = random.permutation(len(problem))
            worst = _loop()(phi.indptr, phi.indices, phi.data, factors, items, order, *parts, diagonal, mu, b, w, state)
        state[0] += mu * state[1]
        if stopping() or (worst < _ENOUGH * scale and mu * abs(state[1]) < _ENOUGH * scale):
            break
    return b


@cache
def _loop() -> Any:
    return compiling.jit(_epoch)


def _epoch(indptr, indices, data, factors, items, order, linear, lower, upper, diagonal, mu, b, w, state):  # type: ignore[no-untyped-def]
    """Every variable once; returns the largest violation that was met."""
    worst = 0.0
    for t in order:
        i = items[t]
        value = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            value += data[k] * w[indices[k]]
        g = linear[t] + state[0] + mu * state[1] + factors[i] * value
        if (g > 0.0 and b[t] > lower[t]) or (g < 0.0 and b[t] < upper[t]):
            worst = max(worst, abs(g))
            curvature = diagonal[i] + mu
            new = (
                min(max(b[t] - g / curvature, lower[t]), upper[t])
                if curvature > 0.0
                else (lower[t] if g > 0.0 else upper[t])
            )
            step = new - b[t]
            b[t] = new
            state[1] += step
            step *= factors[i]
            for k in range(indptr[i], indptr[i + 1]):
                w[indices[k]] += step * data[k]
    return worst
