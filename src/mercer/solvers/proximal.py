"""Losses with corners and no dual of their own: by splitting (ADMM).

    min Σ_i w_i ℓ(y_i, v_i) + λ α^T K α   with   v = K α + b

In turns: (α, b) is a ridge with targets v − u, always the same system, of which one factor is enough; v_i is the
proximal point of ℓ at f_i + u_i, one sample at a time; u adds up what is between them. ρu is the gradient in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.gram import Gram, Use, held
from mercer.problems import SmoothERM, SmoothSolution
from mercer.runtime import threads
from mercer.runtime.watch import Stopped, asked_to_stop, begin, watching
from mercer.solvers.inverses import choose
from mercer.solvers.linear import within_plane

_RELAXED = 1.6
_BALANCE = 25  # steps between two looks at whether ρ is right


@dataclass(frozen=True)
class Splitting:
    """Solver of a ``SmoothERM`` whose loss need not be smooth but has ``prox``.

    tol
        What may be left of v − f and of the change of v, as shares of their sizes.
    """

    tol: float = 1e-6
    max_iter: int = 5000
    max_time: float | None = None
    solver: str = "auto"
    progress: Callable[[dict[str, Any]], Any] | None = None
    keep_on_interrupt: bool = False

    def solve(self, problem: SmoothERM, gram: Gram) -> SmoothSolution:
        with (
            watching(self.max_time, self.progress, partial=True, gap=np.inf, tol=self.tol, n_iter=0),
            threads.single_threaded_if_small(gram.shape[0]),
        ):
            return self._solve(problem, held(gram, Use.SYSTEMS).astype(np.float64))

    def _solve(self, problem: SmoothERM, gram: Gram) -> SmoothSolution:
        loss, y, w, n = problem.loss, problem.targets, problem.weights, gram.shape[0]
        inverse, ones = choose(gram, self.solver), np.ones(n)
        plane = ones / np.sqrt(n) if problem.bias else None
        rho = 1.0 / max(float(np.std(y)), 1e-12)
        v, u = np.full(n, float(loss.start(y, w)) if problem.bias else 0.0), np.zeros(n)
        ridge: Callable[[Array], Array] | None = None
        reason, gap, n_iter = "max_iter", np.inf, 0
        alpha, b, f = np.zeros(n), 0.0, np.zeros(n)
        try:
            begin()
            while n_iter < self.max_iter:
                if ridge is None:
                    ridge = within_plane(inverse.shifted(ones, 2 * problem.ridge / rho), plane)
                target = v - u
                alpha = ridge(target[:, None])[:, 0]
                f = np.asarray(arrays.to_numpy(gram @ alpha))
                b = float(np.mean(target - f)) if problem.bias else 0.0
                f = f + b
                mixed = _RELAXED * f + (1 - _RELAXED) * v
                before, v = v, np.asarray(loss.prox(y, mixed + u, w / rho), np.float64)
                u = u + mixed - v
                n_iter += 1
                apart = float(np.linalg.norm(f - v)) / max(float(np.linalg.norm(f)), float(np.linalg.norm(v)), 1e-300)
                moved = float(np.linalg.norm(v - before)) / max(float(np.linalg.norm(u)), 1e-300)
                gap = max(apart, moved)
                if gap <= self.tol:
                    reason = "gap"
                    break
                if asked := asked_to_stop(gap=gap, tol=self.tol, n_iter=n_iter):
                    reason = asked
                    break
                if n_iter % _BALANCE == 0 and n_iter <= 20 * _BALANCE and max(apart, moved) > 10 * min(apart, moved):
                    change = 3.0 if apart > moved else 1 / 3.0
                    rho, u, ridge = rho * change, u / change, None
        except Stopped as stop:
            reason = stop.accepted()
        except KeyboardInterrupt:
            if not self.keep_on_interrupt:
                raise
            reason = "interrupted"
        objective = float(np.sum(w * loss.value(y, f))) + problem.ridge * float(alpha @ (f - b))
        return SmoothSolution(alpha, b, f, objective, float(gap), n_iter, reason, f"splitting-{inverse.name}")
