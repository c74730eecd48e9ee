"""What a kernel is judged by on training data alone, with the derivative by every entry of its matrix.

A criterion takes (K, Y, w, λ) and returns (value, M, slope): the value to minimise, M = ∂value/∂K and slope =
∂value/∂log λ. Chained with ∂K/∂log θ, which the kernel's own formula gives, M is the gradient by every parameter at
once: ⟨M, ∂K/∂log θ⟩.

With C = K + λW^−1 and P = C^−1 − C^−1 1 1^T C^−1/(1^T C^−1 1) (the bias taken out; P = C^−1 without one), a ridge has
coefficients α = P y and leave-one-out residuals e_i = α_i/P_ii, and dα = −P dC α, dP = −P dC P.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from mercer.arrays import Array
from mercer.gram import DenseGram
from mercer.losses import Hinge
from mercer.native.linalg import cholesky, congruence, inverse
from mercer.problems import DualQP
from mercer.runtime.threads import default_workers
from mercer.solvers.dual import ActiveSet
from mercer.troubles import coded

_SMALL = 1024  # rows that one thread factors in no time

Criterion = Callable[[Array, Array, Array, float, bool], tuple[float, Array, float]]


@dataclass(frozen=True, eq=False)
class Projected:
    """P, α = P Y, log|C| + log(1^T C^−1 1), and C^−1 1/(1^T C^−1 1), by which the bias depends on y (0 without one)."""

    P: Array
    alpha: Array
    logs: float
    of_bias: Array

    @classmethod
    def of(cls, K: Array, Y: Array, w: Array, ridge: float, bias: bool) -> Projected:
        C = np.array(K, np.float64)
        C[np.diag_indices_from(C)] += ridge / w
        L = cholesky(C, default_workers() if len(C) > _SMALL else 1)
        logs = 2 * float(np.sum(np.log(np.diagonal(L))))
        P = inverse(L)
        of_bias = np.zeros(len(P))
        if bias:
            sums = P.sum(axis=1)
            total = float(sums.sum())
            of_bias = sums / total
            P -= np.outer(sums, of_bias)
            logs += float(np.log(total))
        return cls(P, P @ (Y - np.average(Y, axis=0, weights=w) if bias else Y), logs, of_bias)

    def leave_one_out(self) -> Array:
        return self.alpha / np.diagonal(self.P)[:, None]

    def through_residuals(self, by_residual: Array) -> Array:
        """∂value/∂C from ∂value/∂e: −P a α^T + P diag(a e) P with a = (∂value/∂e)/P_ii."""
        a = by_residual / np.diagonal(self.P)[:, None]
        direct = (self.P @ a) @ self.alpha.T
        through = congruence(self.P, np.sum(a * self.leave_one_out(), axis=1), default_workers())
        return through - (direct + direct.T) / 2


def _with_slope(value: float, M: Array, w: Array, ridge: float) -> tuple[float, Array, float]:
    return value, M, float(np.sum(np.diagonal(M) * ridge / w))


def leave_one_out(K: Array, Y: Array, w: Array, ridge: float, bias: bool) -> tuple[float, Array, float]:
    """log of the mean squared leave-one-out residual of the ridge, weights counting."""
    solved = Projected.of(K, Y, w, ridge, bias)
    e = solved.leave_one_out()
    J = float(np.sum(w[:, None] * e**2))
    return _with_slope(float(np.log(J / w.sum())), solved.through_residuals(2 * w[:, None] * e / J), w, ridge)


def generalised(K: Array, Y: Array, w: Array, ridge: float, bias: bool) -> tuple[float, Array, float]:
    """log of n Σ w r²/(n − degrees)²: leave-one-out with the mean of P_ii in the place of each."""
    solved = Projected.of(K, Y, w, ridge, bias)
    P, alpha, v = solved.P, solved.alpha, 1 / w[:, None]
    q, t = float(np.sum(alpha**2 * v)), float(np.sum(np.diagonal(P) / w))
    direct = (P @ (v * alpha)) @ alpha.T
    M = (2 / t) * congruence(P, v[:, 0], default_workers()) - (direct + direct.T) / q
    return _with_slope(float(np.log(q * len(K)) - 2 * np.log(t)), M, w, ridge)


def marginal_likelihood(K: Array, Y: Array, w: Array, ridge: float, bias: bool) -> tuple[float, Array, float]:
    """−log max over σ² of N(y; b, σ²C), b integrated out, summed over outputs: what ``Spectrum.likelihood`` gives, with
    its sign changed.
    """
    solved = Projected.of(K, Y, w, ridge, bias)
    n, m = len(K) - int(bias), Y.shape[1]
    centred = Y - np.average(Y, axis=0, weights=w) if bias else Y
    q = np.maximum(np.einsum("ij,ij->j", solved.alpha, centred), 1e-300)
    value = 0.5 * float(np.sum(n * np.log(2 * np.pi * q / n) + n)) + 0.5 * m * solved.logs
    M = 0.5 * m * solved.P - 0.5 * n * (solved.alpha / q) @ solved.alpha.T
    return _with_slope(value, M, w, ridge)


def centred_alignment(K: Array, Y: Array, w: Array, ridge: float, bias: bool) -> tuple[float, Array, float]:
    """−⟨HKH, yy^T⟩/(‖HKH‖ ‖Hyy^T H‖), H the weighted centring: no λ in it."""
    share = w / w.sum()
    root = np.sqrt(w)[:, None]

    def centred(A: Array) -> Array:
        mean = share @ A
        return A - mean - mean[:, None] + float(mean @ share)

    target = root * (Y - share @ Y)
    Kc = root * centred(K) * root.T
    T = target @ target.T
    size, norm = float(np.linalg.norm(Kc)), float(np.linalg.norm(T))
    value = float(np.vdot(Kc, T)) / (size * norm)
    D = root * (T / (size * norm) - value * Kc / size**2) * root.T
    rows = D.sum(axis=1)
    M = D - np.outer(share, rows) - np.outer(rows, share) + np.outer(share, share) * float(rows.sum())
    return -value, -M, 0.0


def _squared_slacks(K: Array, y: Array, w: Array, C: float, bias: bool) -> tuple[Array, Array]:
    """(K + I/(C w), signed dual coefficients) of min ½‖f‖² + ½C Σ w_i ξ_i²: a hard margin in that kernel.

    At f = 0 the objective is ½C Σ w, so ξ_i² ≤ Σw/w_i at the optimum and α_i = C w_i ξ_i ≤ C w_i √(Σw/w_i): a bound
    that is never met, for a solver that wants one.
    """
    Kc = np.array(K, np.float64)
    Kc[np.diag_indices_from(Kc)] += 1 / (C * w)
    return Kc, ActiveSet(tol=1e-9).solve(Hinge().dual(y, C * w * np.sqrt(w.sum() / w), bias), DenseGram(Kc)).coef


def radius_margin(K: Array, Y: Array, w: Array, ridge: float, bias: bool) -> tuple[float, Array, float]:
    """log R²‖f‖² of the machine with squared slacks, C = 1/(2λ): n times a bound on its leave-one-out error (Chapelle
    et al. 2002).

    That machine has a hard margin in the kernel K + I/C (I/(C w) with weights): both problems are quadratic programmes,
    and by the envelope theorem the derivatives are those with the solutions held.
    """
    y, C, n = _signs(Y), 1 / (2 * ridge), len(Y)
    Kc, b = _squared_slacks(K, y, w, C, bias)
    margin = 2 * float(y @ b) - float(b @ Kc @ b)  # ‖f‖², as twice the optimum of the dual
    diagonal = np.diagonal(Kc).copy()
    beta = (
        ActiveSet(tol=1e-9 * float(np.mean(diagonal)))
        .solve(DualQP(-diagonal / 2, np.zeros(n), np.ones(n), np.full(n, 1 / n)), DenseGram(Kc))
        .coef
    )
    radius = float(beta @ diagonal) - float(beta @ Kc @ beta)
    M = -np.outer(b, b) / margin + (np.diag(beta) - np.outer(beta, beta)) / radius
    return float(np.log(radius * margin)), M, float(np.sum(np.diagonal(M) / (C * w)))


_STEEPNESS = 5.0


def span(K: Array, Y: Array, w: Array, ridge: float, bias: bool) -> tuple[float, Array, float]:
    """The share of leave-one-out errors by the span of the support vectors, steps smoothed to sigmoids, of the machine
    with squared slacks.

    On its support vectors that machine solves the ridge system K α + α/(C w) + b = y, so α_p S_p² is the leave-one-out
    residual of that ridge: p is an error if y_p e_p > 1. The set is held while the derivative is taken.
    """
    y, C = _signs(Y), 1 / (2 * ridge)
    Kc, b = _squared_slacks(K, y, w, C, bias)
    chosen = np.flatnonzero(y * b > 1e-9 * np.max(np.abs(b)))
    part = np.ix_(chosen, chosen)
    solved = Projected.of(K[part], y[chosen, None], w[chosen], 1 / C, bias)
    e, s, weight = solved.leave_one_out(), y[chosen, None], (w[chosen] / w.sum())[:, None]
    error = expit(_STEEPNESS * (s * e - 1))
    M = np.zeros_like(Kc)
    M[part] = solved.through_residuals(weight * _STEEPNESS * error * (1 - error) * s)
    return float(np.sum(weight * error)), M, float(np.sum(np.diagonal(M) / (C * w)))


def _signs(Y: Array) -> Array:
    if Y.shape[1] != 1 or not np.isin(Y, (-1.0, 1.0)).all():
        raise ValueError(coded("Radius–margin and span are criteria for two classes.", "M217"))
    return Y[:, 0]


CRITERIA: dict[str, Criterion] = {
    "loo": leave_one_out,
    "gcv": generalised,
    "marginal likelihood": marginal_likelihood,
    "alignment": centred_alignment,
    "radius-margin": radius_margin,
    "span": span,
}
