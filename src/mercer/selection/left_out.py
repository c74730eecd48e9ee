"""A ridge without each of its samples, in closed form: it is linear in y, so leaving i out is putting its own
prediction in the place of y_i.

With P of ``Projected``, f(x) = Σ_i h_i(x) y_i, h(x) = P k(X, x) + q:

    f_−i(x) = f(x) − h_i(x) e_i        e_i = y_i − f_−i(x_i) = α_i/P_ii
    v_−i(x) = v(x) + h_i(x)²/P_ii      v_−i(x_i) + λ/w_i = 1/P_ii

v(x) being the variance of f(x) as a Gaussian process, in units of σ²: y_i, given all others, has variance 1/P_ii, and
knowing it takes h_i(x)²/P_ii from the variance at x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer import arrays
from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.estimators.ridge import KernelRidge
from mercer.selection.criteria import Projected
from mercer.selection.folds import learns_from_matrix


def has_closed_form(machine: Estimator) -> bool:
    """Whether a machine that was fitted is a ridge of one λ > 0 that has kept its samples."""
    return (
        isinstance(machine, KernelRidge)
        and machine.kernel_ is not None
        and learns_from_matrix(machine)
        and np.ndim(machine.alpha) == 0
        and machine.alpha > 0
    )


@dataclass(frozen=True, eq=False)
class LeftOut:
    """P, q and the residuals e, over the samples that have weight; ``noise`` is λ/w of each, and λ of a new one."""

    P: Array
    of_bias: Array
    residuals: Array
    noise: Array
    ridge: float

    @classmethod
    def of(cls, machine: Estimator, y: Array) -> LeftOut:
        """Of a machine that was fitted to y."""
        gram = machine.kernel_.gram(machine.support_vectors_, compute=machine.compute).astype(np.float64)
        K, w, ridge = np.asarray(arrays.to_numpy(gram.dense())), machine._sample_weight, float(machine.alpha)
        whole = Projected.of(K, y[machine.support_, None], w, ridge, machine.fit_intercept)
        return cls(whole.P, whole.of_bias, whole.leave_one_out()[:, 0], ridge / w, ridge)

    @property
    def spreads(self) -> Array:
        """√(v_−i(x_i) + λ): how sure of a new y at x_i is who has not seen sample i."""
        return np.sqrt(1 / np.diagonal(self.P) - self.noise + self.ridge)

    def at(self, machine: Estimator, X: Samples, *, spreads: bool) -> tuple[Array, Array | float]:
        """f_−i(x), and √(v_−i(x) + λ) where ``spreads`` are asked for, else 1; each (new, n)."""
        new = machine._meet(machine._accept_new(X))
        influence = np.asarray(arrays.to_numpy(new.cross.astype(np.float64).dense())) @ self.P + self.of_bias
        left = machine.predict(X)[:, None] - influence * self.residuals
        if not spreads:
            return left, 1.0
        variance: Array = machine._variances(new, noise=True)[0]
        return left, np.sqrt(variance[:, None] + influence**2 / np.diagonal(self.P))
