"""The ridge system over functions of landmarks, on samples that are spread: what ``landmarks.solve_system`` does, each
product one sum over the pieces.

Nothing of the samples comes back but sums: the bias and (y − b)^T W (y − b − f), which the estimate of the variance
needs, follow from Φ^T W y, Φ^T w and the moments of y.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.arrays import Array
from mercer.gram import Landmarks
from mercer.solvers.landmarks import NormalEquations, ended, preconditioner
from mercer.solvers.linear import ConjugateGradients
from mercer.solvers.spread import Piece, Spread


class SpreadRidge(NamedTuple):
    """Coefficients of the landmarks, biases, how well they solve the system, and (y − b)^T W (y − b − f) of each
    output.
    """

    of_landmarks: Array
    bias: Array
    residual: float
    n_iter: int
    stop_reason: str
    square: Array


class _Equations(NormalEquations):
    """The normal equations, multiplied where the samples are."""

    rows = 0  # whose values are kept here

    def __init__(
        self,
        spread: Spread,
        few: Landmarks,
        weights: Array,
        sums: Array | None,
        ridges: Array,
        solver: ConjugateGradients,
    ) -> None:
        self.spread, self.marks, self.sums, self.ridges, self.solver = spread, few, sums, ridges, solver
        self.total, self.coarse = spread.passes.weight, spread.passes.coarse
        self.apply = preconditioner(few, weights, ridges, solver.tol, bias=sums is not None, every=True)

    def weighed(self, theta: Array, exact: bool, keep: Array | None = None) -> Array:
        V = self.marks.coefficients(theta)
        (found,) = self.spread.passes.total("product with the normal equations", _weighed, V, exact)
        return self.marks.of_values(found)


def solve_spread(spread: Spread, ridges: Array, bias: bool, solver: ConjugateGradients, budget: int) -> SpreadRidge:
    """The system of all outputs, each with its λ."""
    few, _, weights = spread.few(solver.tol, budget, once=True)
    outputs = len(ridges)
    first, _ = spread.passes.total("mean of the targets", _moments, np.zeros(outputs))
    total = spread.passes.weight
    shift = first / total if bias else np.zeros(outputs)
    _, second = spread.passes.total("mean of the targets", _moments, shift)
    (found,) = spread.passes.total("right side", _right_side, shift, len(few))
    sums = few.of_values(found)
    right, g = sums[:, :-1], sums[:, -1]
    equations = _Equations(spread, few, weights, g if bias else None, ridges, solver)
    # what is left of constant targets is rounding: no right side to be measured by
    floor = 1e-14 * np.sqrt((second + total * shift**2) * total) + 1e-300
    theta, _, residual, n_iter, reason = equations.solve(right, floor)
    mean = g @ theta / total if bias else np.zeros(outputs)
    # Σ w (u + s)(u + s − f) with u = y − shift, whose weighted mean is 0 where there is a bias, and b = shift − s
    square = second + mean**2 * total - np.sum(theta * right, axis=0) - mean * (g @ theta)
    return SpreadRidge(
        few.coefficients(theta), shift - mean, residual, n_iter, ended(residual, solver.tol, reason), square
    )


def _moments(piece: Piece, shift: Array) -> tuple[Array, Array]:
    """Σ w (y − shift) and Σ w (y − shift)²."""
    Y = piece.targets.reshape(len(piece.weights), -1) - shift
    return piece.weights @ Y, piece.weights @ Y**2


def _right_side(piece: Piece, shift: Array, m: int) -> tuple[Array]:
    """C^T [w (y − shift), w]."""
    Y = piece.targets.reshape(len(piece.weights), -1) - shift
    U = piece.weights[:, None] * np.column_stack([Y, np.ones(len(Y))])
    return (piece.normal(np.zeros((m, U.shape[1])), lambda rows, _: U[rows]),)


def _weighed(piece: Piece, V: Array, exact: bool) -> tuple[Array]:
    """C^T W C V."""
    w = piece.weights[:, None]
    return (piece.normal(V, lambda rows, found: w[rows] * found, exact=exact),)
