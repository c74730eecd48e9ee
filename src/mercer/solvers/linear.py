"""Ridge systems by conjugate gradients, preconditioned so well that there is often one step.

    (K + λW^−1) A + 1 b^T = Y,  1^T A = c

With A = S X, S = W^½ and u the direction of S1, it is (λI + S K S) X + u β^T = S Y with u^T X given: steps stay in that
plane, and what is left of the residual along u is the bias. The preconditioner is a factor of the matrix, of its
features, or of a part of it (``solvers.inverses``); the residual is that of the matrix itself in float64, so a factor
in float32 costs a few products and no digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Gram
from mercer.problems import LinearSolution, LinearSystem
from mercer.runtime import threads
from mercer.runtime.watch import asked_to_stop, watching
from mercer.solvers.inverses import Apply, Factored, Inverse, choose, fits
from mercer.solvers.landmarks import solve_system

_PATIENCE = 12  # steps without a smaller residual
_RESTART = 2  # times the true residual is computed and the steps begin anew


@dataclass(frozen=True)
class ConjugateGradients:
    """Solver of ``LinearSystem``.

    tol
        The residual to reach, as a share of the right side.
    solver
        "auto" (the table of ``solvers.inverses``), "cholesky", "woodbury" or "cg".
    progress
        Called after each step with the residual; returns True to stop.
    patience
        Steps without a smaller residual after which it is not to be had.
    """

    tol: float = 1e-8
    max_iter: int = 500
    max_time: float | None = None
    solver: str = "auto"
    progress: Callable[[dict[str, Any]], Any] | None = None
    patience: int = _PATIENCE

    def solve(self, system: LinearSystem, gram: Gram, inverse: Inverse | None = None) -> LinearSolution:
        marks = gram.landmarks() if self.solver == "auto" else None
        if marks is not None:
            with watching(self.max_time, self.progress, partial=True, residual=1.0, tol=self.tol, n_iter=0):
                return solve_system(system, marks, self)
        inverse = choose(gram, self.solver) if inverse is None else inverse
        with watching(self.max_time, self.progress, partial=True, residual=1.0, tol=self.tol, n_iter=0):
            with threads.single_threaded_if_small(gram.shape[0]):
                found = self._solve(system, gram, inverse)
            if found.stop_reason == "stalled" and not inverse.exact and fits(gram) and self.solver == "auto":
                found = self._solve(system, gram, Factored(gram))
        return found

    def _solve(self, system: LinearSystem, gram: Gram, inverse: Inverse) -> LinearSolution:
        scale = np.sqrt(system.weights)
        Y = system.targets.reshape(len(scale), -1)
        K = gram.astype(np.float64)
        u = scale / np.linalg.norm(scale) if system.bias else None
        # a constant in y is the bias's alone: taken out first, it costs no digits
        shift = np.average(Y, axis=0, weights=system.weights) if system.bias else np.zeros(Y.shape[1])
        start = np.zeros(Y.shape)
        if u is not None and system.total is not None:
            start = np.outer(u, system.total / np.linalg.norm(scale))

        def multiply(X: Array) -> Array:
            return system.ridge * X + scale[:, None] * arrays.to_numpy(K @ (scale[:, None] * X))

        apply = inverse.shifted(scale, system.ridge)
        # what is left of constant targets is rounding: no right side to be measured by
        floor = 1e-14 * np.linalg.norm(scale[:, None] * Y, axis=0)
        X, left, residual, n_iter, reason = self._steps(multiply, apply, scale[:, None] * (Y - shift), start, u, floor)
        bias = shift + (u @ left / np.linalg.norm(scale) if u is not None else 0.0)
        return LinearSolution(
            scale[:, None] * X, bias, residual, n_iter, inverse.name, "gap" if residual <= self.tol else reason
        )

    def _steps(
        self, multiply: Apply, apply: Apply, B: Array, X: Array, u: Array | None, floor: Array
    ) -> tuple[Array, Array, float, int, str]:
        """(X, B − A X, residual, steps, what ended them) with u^T X as it was."""
        solve = within_plane(apply, u)
        norms = np.maximum(np.linalg.norm(_outside(B, u), axis=0), floor + 1e-300)
        R = B - multiply(X) if X.any() else 1 * B
        n_iter, best, reason = 0, np.inf, "stalled"
        for attempt in range(_RESTART + 1):
            Z = solve(R)
            P, rz, since = Z, _columns(R, Z), 0
            while n_iter < self.max_iter:
                residual = float(np.max(np.linalg.norm(_outside(R, u), axis=0) / norms, initial=0.0))
                since = 0 if residual < 0.9 * best else since + 1
                best = min(best, residual)
                if residual <= 0.5 * self.tol or since > self.patience:
                    break
                AP = multiply(P)
                curved = _columns(P, AP)
                step = np.divide(rz, curved, out=np.zeros_like(rz), where=curved > 0)
                X = X + step * P
                before = R
                R = R - step * AP
                n_iter += 1
                reason = asked_to_stop(residual=residual, tol=self.tol, n_iter=n_iter) or (
                    "max_iter" if n_iter >= self.max_iter else reason
                )
                if reason != "stalled":
                    break
                Z = solve(R)
                new = _columns(R, Z)
                # Polak and Ribière's: the preconditioner rounds, so that it is not quite the same twice
                ratio = np.divide(new - _columns(before, Z), rz, out=np.zeros_like(rz), where=rz > 0)
                P, rz = Z + np.maximum(ratio, 0.0) * P, new
            R = B - multiply(X)
            residual = float(np.max(np.linalg.norm(_outside(R, u), axis=0) / norms, initial=0.0))
            if residual <= self.tol or attempt == _RESTART or residual > 0.5 * best or reason != "stalled":
                break
        return X, R, residual, n_iter, reason


def solved_directly(system: LinearSystem, inverse: Inverse) -> tuple[Array, Array]:
    """α and b by one application of an exact inverse, whose residual nobody looks at: for a search, which solves many
    such systems and keeps few.
    """
    scale = np.sqrt(system.weights)
    right = np.column_stack([system.targets.reshape(len(scale), -1) * scale[:, None], scale])
    solved = np.asarray(arrays.to_numpy(inverse.shifted(scale, system.ridge)(right)), np.float64)
    X, ones = solved[:, :-1], solved[:, -1]
    b = scale @ X / (scale @ ones) if system.bias else np.zeros(X.shape[1])
    return scale[:, None] * (X - np.outer(ones, b)), b


def within_plane(apply: Apply, u: Array | None) -> Apply:
    """The preconditioner followed by the projection that belongs to it onto u^T z = 0."""
    if u is None:
        return lambda R: arrays.to_numpy(apply(R))
    mu = arrays.to_numpy(apply(u[:, None]))
    height = float(u @ mu[:, 0])

    def solve(R: Array) -> Array:
        Z = arrays.to_numpy(apply(_outside(R, u)))  # what is along u is the bias's; its rounding would drown the rest
        return Z - mu * (u @ Z / height)

    return solve


def _outside(R: Array, u: Array | None) -> Array:
    return R if u is None else R - np.outer(u, u @ R)


def _columns(A: Array, B: Array) -> Array:
    return np.einsum("ij,ij->j", A, B)
