"""The dual quadratic programme by a primal-dual interior-point method, for problems that are small and hard.

    min ½ x^T K x + p^T x,  lower ≤ x ≤ upper,  A x = s

Some twenty factorisations whatever C and the conditioning of K, where SMO may need a step for every pair of variables
many times over.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from mercer.arrays import Array
from mercer.problems import DualQP

_ROUNDS = 80


def interior_point(problem: DualQP, K: Array) -> Array | None:
    """A feasible point within rounding of the optimum, or None if K is not positive semi-definite enough to factor.

    Mehrotra's predictor and corrector on variables scaled to lie within [0, 1].
    """
    moving = np.flatnonzero(problem.upper > problem.lower)
    fixed = problem.start.copy()
    fixed[moving] = 0.0
    width, low = (problem.upper - problem.lower)[moving], problem.lower[moving]
    groups = [np.arange(len(problem))[g] for g in problem.groups] if problem.coupled else []
    member = np.zeros((len(groups), len(problem)))
    for k, g in enumerate(groups):
        member[k, g] = 1.0
    A = member[:, moving] * width
    s = member @ problem.start - member[:, moving] @ low - member @ fixed
    at_low = fixed.copy()
    at_low[moving] = low
    p = width * (problem.linear[moving] + K[moving] @ at_low)
    H = width[:, None] * K[np.ix_(moving, moving)] * width
    size = max(float(np.max(np.abs(p), initial=0.0)), float(np.max(np.abs(np.diagonal(H)), initial=0.0)), 1e-300)
    H, p = H / size, p / size
    scale = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    A, s = A / scale[:, None], s / scale

    x, zl, zu, rho = np.full(len(moving), 0.5), np.ones(len(moving)), np.ones(len(moving)), np.zeros(len(A))
    best = (np.inf, x)
    for _ in range(_ROUNDS):
        dual = H @ x + p + A.T @ rho - zl + zu
        primal = A @ x - s
        mu = float(x @ zl + (1 - x) @ zu) / (2 * len(x))
        error = max(float(np.max(np.abs(dual))), float(np.max(np.abs(primal), initial=0.0)), mu)
        if error < 0.9 * best[0]:
            best = (error, x)
        if error < 1e-15:
            break
        try:
            factor = linalg.cho_factor(H + np.diag(zl / x + zu / (1 - x) + 1e-16), lower=True, check_finite=False)
        except (linalg.LinAlgError, ValueError):
            break

        dx, _, dzl, dzu = _step(factor, A, (x, zl, zu), (dual, primal), (0.0, 0.0))
        step = min(_room(x, dx), _room(1 - x, -dx)), min(_room(zl, dzl), _room(zu, dzu))
        after = float((x + step[0] * dx) @ (zl + step[1] * dzl) + (1 - x - step[0] * dx) @ (zu + step[1] * dzu)) / (
            2 * len(x)
        )
        centre = mu * min(1.0, (after / mu) ** 3) if mu > 0 else 0.0
        dx, drho, dzl, dzu = _step(factor, A, (x, zl, zu), (dual, primal), (centre - dx * dzl, centre + dx * dzu))
        if not (np.isfinite(dx).all() and np.isfinite(dzl).all() and np.isfinite(dzu).all()):
            break
        primal_step, dual_step = (
            0.995 * min(_room(x, dx), _room(1 - x, -dx)),
            0.995 * min(_room(zl, dzl), _room(zu, dzu)),
        )
        x = np.clip(x + primal_step * dx, 1e-300, 1 - 1e-16)
        rho, zl, zu = (
            rho + dual_step * drho,
            np.maximum(zl + dual_step * dzl, 1e-300),
            np.maximum(zu + dual_step * dzu, 1e-300),
        )
    if not best[0] < 1e-3:
        return None
    x = best[1]
    out = fixed
    out[moving] = np.where(
        x < 1e-9, problem.lower[moving], np.where(x > 1 - 1e-9, problem.upper[moving], low + x * width)
    )
    return with_sums(problem, out)


def _step(
    factor: tuple[Array, bool],
    A: Array,
    point: tuple[Array, ...],
    residual: tuple[Array, Array],
    to: tuple[float | Array, float | Array],
) -> tuple[Array, ...]:
    """Newton's step (dx, dρ, dzl, dzu) towards x·zl = to[0], (1 − x)·zu = to[1] and no residual."""
    (x, zl, zu), (dual, primal), (cl, cu) = point, residual, to
    right = -dual + cl / x - zl - cu / (1 - x) + zu
    solved = linalg.cho_solve(factor, np.column_stack([right, A.T]), check_finite=False)
    drho = np.linalg.lstsq(A @ solved[:, 1:], A @ solved[:, 0] + primal, rcond=None)[0] if len(A) else np.zeros(0)
    dx = solved[:, 0] - solved[:, 1:] @ drho
    return dx, drho, (cl - zl * dx) / x - zl, (cu + zu * dx) / (1 - x) - zu


def _room(x: Array, dx: Array) -> float:
    """The longest step, at most 1, that keeps x positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return min(1.0, float(np.min(np.where(dx < 0, -x / dx, np.inf), initial=1.0)))


def with_sums(problem: DualQP, b: Array) -> Array:
    """b with the sums of its groups mended, to rounding, by those that have room."""
    for members in problem.groups if problem.coupled else []:
        g = np.arange(len(problem))[members]
        for _ in range(50):
            missing = float(problem.start[g].sum() - b[g].sum())
            room = (problem.upper[g] - b[g]) if missing > 0 else (b[g] - problem.lower[g])
            inside = (b[g] > problem.lower[g]) & (b[g] < problem.upper[g])
            room = room * inside if (room * inside).sum() > abs(missing) else room
            total = float(room.sum())
            if missing == 0 or total == 0 or abs(missing) < 1e-15 * max(1.0, float(np.abs(b[g]).sum())):
                break
            b[g] = np.clip(b[g] + missing * room / total, problem.lower[g], problem.upper[g])
    return b
