"""The error of a ridge over landmarks on samples held out, with its derivative by every parameter, in passes.

With C_t, C_v the values of training and held-out samples with the landmarks and G those among the landmarks, the ridge
is c and b with C_t^T W e = λ G c and 1^T W e = 0, e = y_t − C_t c − b, and is judged by J = Σ w r²/Σ w of r = y_v − C_v
c − b. With g = 2 w r/Σ w let q and β solve the same equations for the sides −C_v^T g and −1^T g (the adjoint). Then

    dJ = (W e)^T dC_t q − (W(C_t q + β))^T dC_t c − g^T dC_v c − λ q^T dG c − dλ q^T G c

so that a parameter costs one pass over ∂C/∂log θ, multiplied with c and q (all length scales of the columns together
one, ``gram.gradients``), and all of them two systems, whose steps are passes too. No matrix of all samples is formed,
with each other or with the landmarks; what is stored are vectors of n, and m × m.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import size, take
from mercer.gram import Gram, Landmarks, Use, held, parameter_slopes
from mercer.kernels.base import Kernel
from mercer.solvers.inverses import Apply
from mercer.solvers.landmarks import NormalEquations, adjoint, in_float64, preconditioner
from mercer.solvers.linear import ConjugateGradients
from mercer.troubles import coded

_NEAR = 0.03  # how far the logarithm of a parameter may have moved since the preconditioner was made
_SLOWER, _MORE = 1.5, 4  # times the steps that it took when it was new, and so many more
_TOL = 1e-7  # the residual of both systems


@dataclass
class _Last:
    """What an evaluation leaves for the next, which is often near."""

    apply: Apply
    at: Array  # the logarithms of the parameters, of which the preconditioner was made
    steps: int  # of that time
    slow: bool = False


class HoldOut:
    """log J as a function of kernel and λ.

    Parameters
    ----------
    X : collection of samples
        Those to train on, and below them those that are held out.
    Y : ndarray of shape (n, outputs)
        Targets.
    w : ndarray of shape (n,)
        Weights.
    n_train : int
        How many are to train on.
    landmarks : collection of samples
        What f is a sum over.
    bias : bool, default=True
        Whether there is a b.
    compute : Compute, optional
        Device, precision, memory and threads.
    """

    def __init__(
        self,
        X: Samples,
        Y: Array,
        w: Array,
        n_train: int,
        landmarks: Samples,
        *,
        bias: bool = True,
        compute: Compute | None = None,
    ) -> None:
        self.X, self.Y, self.w, self.n_train, self.landmarks = X, Y, w, n_train, landmarks
        self.bias, self.compute = bias, compute
        self.passes = 0  # over the values of all samples with the landmarks, or of most
        self._last: _Last | None = None

    def of_some(self, n: int, random: np.random.Generator) -> HoldOut:
        """The same of about n samples, with the same landmarks."""
        rows = [np.arange(self.n_train), np.arange(self.n_train, len(self.w))]
        some = [np.sort(random.choice(r, max(1, round(n * len(r) / len(self.w))), replace=False)) for r in rows]
        chosen = np.concatenate(some)
        return HoldOut(
            take(self.X, chosen), self.Y[chosen], self.w[chosen], len(some[0]), self.landmarks, bias=self.bias,
            compute=self.compute
        )  # fmt: skip

    def __call__(self, kernel: Kernel, ridge: float, names: Iterable[str], at: Array) -> tuple[float, Array, float]:
        """(log J, its derivatives by log θ for each θ named, by log λ); ``at`` are the logarithms of all that moves."""
        t, v = slice(0, self.n_train), slice(self.n_train, len(self.w))
        C = held(kernel.gram(self.X, self.landmarks, compute=self.compute), Use.PRODUCTS)
        among = kernel.gram(self.landmarks, compute=self.compute)
        try:
            marks = Landmarks.of(C.sub(t, slice(None)), among)
        except ValueError as error:
            raise FloatingPointError(coded(str(error), "M210")) from None
        held_out = C.sub(v, slice(None)).astype(np.float64)
        w, Y = self.w[t], self.Y[t]
        total, shift = float(w.sum()), np.average(Y, axis=0, weights=w) if self.bias else np.zeros(Y.shape[1])

        right = np.column_stack([w[:, None] * (Y - shift), w])
        sums = marks.of_values(adjoint(in_float64(marks.values), right))
        equations, fresh = self._equations(marks, w, sums[:, -1], np.full(Y.shape[1], ridge), at)
        B = sums[:, :-1]
        theta, values, *_, steps, _ = equations.solve(B, np.full(Y.shape[1], 1e-300))
        self._judge_preconditioner(equations.apply, at, steps, fresh)
        b = shift - (w @ values / total if self.bias else 0.0)
        c = marks.coefficients(theta)
        r = self.Y[v] - _product(held_out, c) - b
        share = self.w[v] / float(self.w[v].sum())
        J = float(np.sum(share[:, None] * r**2))
        names = list(names)
        if not (np.isfinite(J) and J > 0):
            return np.nan, np.zeros(len(names)), 0.0
        g = 2 * share[:, None] * r / J

        R, rho = -marks.of_values(adjoint(held_out, g)), -g.sum(axis=0)
        side = R - np.outer(sums[:, -1], rho / total) if self.bias else R
        theta_q, values_q, *_, more, _ = equations.solve(side, np.full(Y.shape[1], 1e-300))
        beta = (rho - w @ values_q) / total if self.bias else 0.0
        q = marks.coefficients(theta_q)
        self.passes += steps + more + 6

        U_c = np.concatenate([-w[:, None] * (values_q + beta), -g])
        U_q = np.concatenate([w[:, None] * (Y - values - b), np.zeros_like(g)])
        found = self._along(kernel, names, np.hstack([c, q]), np.hstack([U_c, U_q]), ridge)
        return float(np.log(J)), found, -ridge * float(np.sum(theta_q * theta))

    def _along(self, kernel: Kernel, names: list[str], V: Array, U: Array, ridge: float) -> Array:
        """⟨U, ∂C V⟩ − λ⟨q, ∂G c⟩ for each parameter; V = [c, q]."""
        if not names:
            return np.zeros(0)
        c, q = np.hsplit(V, 2)
        k, A, Z = kernel._enter(self.X, self.landmarks)
        of_all = parameter_slopes(k, A, Z, U, V, self.compute or Compute())
        among = parameter_slopes(k, Z, Z, q, c, self.compute or Compute())
        self.passes += len({name.split("[")[0] for name in names})
        return np.array([of_all[name] - ridge * among[name] for name in names])

    def _equations(
        self, marks: Landmarks, w: Array, sums: Array, ridges: Array, at: Array
    ) -> tuple[NormalEquations, bool]:
        """The systems, with the preconditioner of before where nothing moved far; whether there is a new one."""
        solver = ConjugateGradients(_TOL)
        last = self._last
        near = last is not None and not last.slow and float(np.max(np.abs(at - last.at), initial=0.0)) <= _NEAR
        apply = last.apply if last is not None and near else preconditioner(marks, w, ridges, _TOL, bias=self.bias)
        return NormalEquations(marks, w, sums if self.bias else None, ridges, solver, apply), not near

    def _judge_preconditioner(self, apply: Apply, at: Array, steps: int, fresh: bool) -> None:
        if fresh or self._last is None:
            self._last = _Last(apply, at.copy(), steps)
        else:
            self._last = replace(self._last, slow=steps > _SLOWER * self._last.steps + _MORE)


def _product(gram: Gram, V: Array) -> Any:
    return np.asarray(arrays.to_numpy(gram @ V))


def apart(X: Samples, Y: Array, w: Array, share: float, random: np.random.Generator) -> tuple[Any, Array, Array, int]:
    """Samples in another order, those to train on first, and how many these are; a ``share`` of them is below."""
    n = size(X)
    n_test = min(max(1, round(share * n)), n - 1)
    order = random.permutation(n)
    order = np.concatenate([np.sort(order[n_test:]), np.sort(order[:n_test])])
    return take(X, order), Y[order], w[order], n - n_test
