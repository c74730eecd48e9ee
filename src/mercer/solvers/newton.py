"""The free variables of a dual quadratic programme solved at once.

With F the variables strictly between their bounds, min ½ δ^T K_FF δ + g_F^T δ with the sums kept is a linear system.
SMO needs many steps where C is so large that F is ill-conditioned; this needs one factorisation.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from mercer.arrays import Array
from mercer.gram import Gram
from mercer.problems import DualQP

_FLOPS = 1e10  # of factorisations in one call
_SMALL = 128  # free variables whose system is solved by its eigenvalues where it may be singular
_SAFE = 1e-8  # of the largest entry: pivots above it leave half the digits


def free_step(problem: DualQP, gram: Gram, b: Array, g: Array, largest: int) -> Array | None:
    """b with its free variables moved to their optimum, or towards it until the last of them has met a bound; None if
    it cannot be done.

    The direction is one of descent whatever the rounding, and the step is exact along it, so the objective does not
    rise.
    """
    free = np.flatnonzero((b > problem.lower) & (b < problem.upper))
    if not 0 < len(free) <= largest:
        return None
    items = free if problem.index is None else problem.index[free]
    K = np.array(gram.sub(items, items).dense(), np.float64)
    group = np.zeros(len(free), np.int64) if problem.group is None else problem.group[free]
    out, gradient = b.copy(), g[free].copy()
    inside = np.ones(len(free), bool)
    for _ in range(int(np.clip(3 * _FLOPS / (len(free) ** 3 + 1e6), 4, 2 * len(free)))):
        direction = _direction(K[np.ix_(inside, inside)], gradient[inside], group[inside], problem.coupled)
        if direction is None:
            return out if not inside.all() else None
        at = free[inside]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(
                direction > 0, (problem.upper[at] - out[at]) / direction, (problem.lower[at] - out[at]) / direction
            )
        room = np.where(direction == 0, np.inf, room)
        step = min(1.0, float(room.min()))
        out[at] += step * direction
        gradient += step * (K[:, inside] @ direction)
        if step == 1.0:
            break
        met = room <= step
        upper = direction > 0
        out[at[met & upper]] = problem.upper[at[met & upper]]
        out[at[met & ~upper]] = problem.lower[at[met & ~upper]]
        inside[np.flatnonzero(inside)[met]] = False
        if not inside.any():
            break
    return out


def _direction(K: Array, g: Array, group: Array, coupled: bool) -> Array | None:
    """−K⁻¹(g + Σ_k ρ_k 1_k) with the ρ that keep the sums; None where that is no descent.

    Equal items make K singular. A small system is solved with least norm, so that what K does not see stays where it
    is; a large one is made definite by as little as is needed.
    """
    ones = indicators(group, coupled)
    direction = _solved(K, g, ones) if len(g) <= _SMALL else None
    if direction is None:
        direction = _least_norm(K, g, ones) if len(g) <= _SMALL else _regularised(K, g, ones)
    if direction is None or not np.isfinite(direction).all():
        return None
    for k in range(ones.shape[1]):  # the sums to the last bit: rounding must not drift
        mine = ones[:, k] > 0
        direction[mine] -= direction[mine].mean()
    return direction if float(direction @ g) < 0 else None


def _solved(K: Array, g: Array, ones: Array) -> Array | None:
    """The solution where K is safely definite, and there is no other."""
    factor, info = linalg.lapack.dpotrf(K, lower=1)
    pivots = np.diagonal(factor) ** 2
    if info != 0 or not pivots.min() > _SAFE * np.max(np.diagonal(K)):
        return None
    solved, _ = linalg.lapack.dpotrs(factor, np.column_stack([g, ones]), lower=1)
    return _with_sums_kept(solved, ones)


def _with_sums_kept(solved: Array, ones: Array) -> Array | None:
    """−K⁻¹(g + Σ_k ρ_k 1_k) from K⁻¹[g, 1_1, …]."""
    small = ones.T @ solved[:, 1:]
    if not np.isfinite(solved).all() or (len(small) and np.linalg.matrix_rank(small) < len(small)):
        return None
    return -without_sums(solved[:, :1], solved[:, 1:], ones)[:, 0]


def without_sums(solved: Array, border: Array, ones: Array) -> Array:
    """K⁻¹(R − Σ_k 1_k ρ_k^T) from ``solved`` = K⁻¹R and ``border`` = K⁻¹[1_1, …], with the ρ that make the sums 0."""
    return solved - border @ np.linalg.solve(ones.T @ border, ones.T @ solved) if ones.shape[1] else solved


def indicators(group: Array, coupled: bool) -> Array:
    """[1_1, …]: a column for each group whose sum is kept, none where no sum is."""
    if not coupled:
        return np.zeros((len(group), 0))
    return (group[:, None] == np.unique(group)[None, :]).astype(np.float64)


def _least_norm(K: Array, g: Array, ones: Array) -> Array:
    """The least-norm solution of the bordered system, from its eigenvalues; the border is scaled to the size of K."""
    size = float(np.max(np.abs(np.diagonal(K)), initial=0.0)) or 1.0
    corner = np.zeros((ones.shape[1], ones.shape[1]))
    values, vectors = np.linalg.eigh(np.block([[K, size * ones], [size * ones.T, corner]]))
    kept = np.abs(values) > 1e-12 * np.max(np.abs(values))
    solved = vectors[:, kept] @ ((vectors[: len(g), kept].T @ -g) / values[kept])
    return solved[: len(g)]


def _regularised(K: Array, g: Array, ones: Array) -> Array | None:
    size = float(np.mean(np.abs(np.diagonal(K)))) or 1.0
    for ridge in (1e-11, 1e-8):
        try:
            factor = linalg.cho_factor(K + ridge * size * np.eye(len(K)), lower=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        solved = linalg.cho_solve(factor, np.column_stack([g, ones]), check_finite=False)
        direction = _with_sums_kept(solved, ones)
        if direction is not None:
            return direction
    return None
