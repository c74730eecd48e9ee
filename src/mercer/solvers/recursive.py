"""Recursive least squares: the ridge of a stream, solved anew with each sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import linalg

from mercer.arrays import Array
from mercer.gram import Gram
from mercer.runtime import compiling
from mercer.solvers.streams import blocks

_ROUNDING = 1e-11  # of k(x, x): what is less of K cannot be told from rounding


@dataclass(eq=False)
class Recursive:
    """f that minimises Σ_i w_i (y_i − f(x_i))² + λ‖f‖² over the span of the samples that are kept.

    A sample is kept while there is room, if ‖φ(x) − its projection onto the span‖² > ``threshold``·k(x, x); of others
    only the projection is seen. A threshold of 0 keeps every sample. With L L^T = K of those that are kept,
    c = L⁻¹k(kept, x) are the coordinates of the projection, and least squares in these are kept as a triangle,
    R^T R = Σ w c c^T + λI, by rotations. With a bias the first coordinate is the constant, without penalty.
    """

    bias: bool
    rows: Array  # of the Gram
    root: Array  # L^T
    triangle: Array  # R, beside it R⁻ᵀ Σ w c y as the last column
    far: Array  # the largest ‖φ(x) − projection‖² of what was not kept; the sum over all

    @classmethod
    def empty(cls, bias: bool) -> Self:
        return cls(bias, np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros((int(bias), int(bias) + 1)), np.zeros(2))

    @property
    def count(self) -> int:
        """How many samples are kept."""
        return len(self.rows)

    def renumbered(self) -> None:
        """The samples that are kept are henceforth the first rows of a Gram, in their order."""
        self.rows = np.arange(self.count)

    def copied(self) -> Recursive:
        return Recursive(self.bias, self.rows.copy(), self.root.copy(), self.triangle.copy(), self.far.copy())

    def function(self) -> tuple[Array, float]:
        """(coefficients (count,), bias) of f."""
        R, b = self.triangle[:, :-1], int(self.bias)
        if not len(R):
            return np.zeros(0), 0.0
        R = R + np.diag(np.where(np.diagonal(R) == 0, 1.0, 0.0))  # nothing seen yet of the bias
        beta = linalg.solve_triangular(R, self.triangle[:, -1], check_finite=False)
        coef = linalg.solve_triangular(self.root, beta[b:], check_finite=False)
        return np.asarray(coef), float(beta[0]) if b else 0.0

    def pass_over(
        self, gram: Gram, order: Array, y: Array, weights: Array, ridge: float, threshold: float, budget: int
    ) -> Iterator[int]:
        """Learn from the rows ``order`` of the Gram, of targets y and weights in that order; yields how many have been
        taken in, after each block.
        """
        b = int(self.bias)
        for some, values in blocks(gram, order, lambda: self.rows, budget, 4 * budget**2):
            start, room = self.count, max(self.count, min(budget, self.count + len(values)))
            root, triangle, place = np.zeros((room, room)), np.zeros((room + b, room + b + 1)), np.zeros(room, np.int64)
            root[:start, :start] = self.root
            triangle[: start + b, : start + b] = self.triangle[:, :-1]
            triangle[: start + b, -1] = self.triangle[:, -1]
            place[:start] = np.arange(start)
            n = int(
                _solving(
                    values, start, y[some], weights[some], root, triangle, place, self.far, b, ridge, threshold, budget
                )
            )
            self.rows = np.concatenate([self.rows, order[some][place[start:n] - start]])
            self.root = root[:n, :n].copy()
            self.triangle = np.column_stack([triangle[: n + b, : n + b], triangle[: n + b, -1]])
            yield some.stop


def _solve(values, start, y, weights, root, triangle, place, far, b, ridge, threshold, budget):  # type: ignore[no-untyped-def]
    """Each sample of a block into the triangle; returns how many samples are then kept."""
    n, last = start, triangle.shape[1] - 1
    z = np.empty(last + 1)
    for i in range(len(values)):
        own = values[i, start + i]
        rest = own
        for s in range(n):
            z[b + s] = values[i, place[s]]
        for s in range(n):
            line = root[s]
            value = z[b + s] / line[s]
            z[b + s] = value
            rest -= value * value
            for q in range(s + 1, n):
                z[b + q] -= value * line[q]
        room, least = n < budget, max(threshold, 0.1 * _ROUNDING) * own
        if threshold == 0 and room:
            rest += _ROUNDING * own  # every sample is kept: K + 1e-11·diag K has a root whatever K
            least = 0.0
        if room and rest > least:
            for s in range(n):
                root[s, n] = z[b + s]
            root[n, n] = z[b + n] = np.sqrt(rest)
            triangle[b + n, b + n] = np.sqrt(ridge)
            place[n] = start + i
            n += 1
        else:
            far[0] = max(far[0], rest)
            far[1] += max(rest, 0.0)
        size, target = np.sqrt(weights[i]), y[i]
        if b:
            z[0] = 1.0
        for s in range(b + n):
            z[s] *= size
        target *= size
        for s in range(b + n):  # rotations that make z 0
            if z[s] == 0:
                continue
            line = triangle[s]
            length = np.hypot(line[s], z[s])
            c, e = line[s] / length, z[s] / length
            line[s] = length
            for q in range(s + 1, b + n):
                old = line[q]
                line[q] = c * old + e * z[q]
                z[q] = c * z[q] - e * old
            old = line[last]
            line[last] = c * old + e * target
            target = c * target - e * old
    return n


_solving = compiling.jit(_solve)
