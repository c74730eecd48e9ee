"""The mathematics that solvers are given: problems as values, and their solutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array


@dataclass(frozen=True, eq=False)
class DualQP:
    """min ½ b^T K b + p^T b over lower ≤ b ≤ upper, with the sum of b over each group kept at that of ``start``.

    The variables are signed (an SVC's b_i is y_i α_i), so that Q is a kernel matrix itself: K[index[s], index[t]] is
    its entry (s, t). SVC, SVR, their ν forms, one-class, SVDD and quantile regression are each one of these.

    index
        The item of each variable; None: variable t is item t. SVR has two variables per item.
    group
        0 or 1 for each variable; None: all in one group. The ν forms have two sums to keep.
    coupled
        False: no sum is kept, a machine without bias.
    """

    linear: Array
    lower: Array
    upper: Array
    start: Array
    index: Array | None = None
    group: Array | None = None
    coupled: bool = True

    def __len__(self) -> int:
        return len(self.linear)

    @property
    def groups(self) -> list[Any]:
        """Which variables share a sum: slices or masks."""
        return [slice(None)] if self.group is None else [self.group == k for k in range(int(self.group.max()) + 1)]

    def part(self, chosen: Array) -> DualQP:
        """The problem of some of the variables, all others held where they are; it is given their gradient, so that
        items need no names.
        """
        group = None if self.group is None else self.group[chosen]
        return DualQP(
            self.linear[chosen], self.lower[chosen], self.upper[chosen], self.start[chosen], None, group, self.coupled
        )

    def items(self, b: Array, n: int) -> Array:
        """The coefficient of each of n items."""
        return b if self.index is None else np.bincount(self.index, weights=b, minlength=n)

    def of_items(self, values: Array) -> Array:
        """What belongs to each item, for each variable."""
        return values if self.index is None else values[self.index]

    def violation(self, b: Array, g: Array) -> tuple[float, Array, Array]:
        """(gap, multiplier, key) at the point b with gradient g.

        With up = {b < upper} and down = {b > lower}, the point is optimal if max over up of −g plus max over down of g
        is at most 0: the ``gap`` (libsvm's m − M), the largest over groups; without a sum, the largest projected
        gradient. ``multiplier``, one number a group, is the midpoint of the two, an estimate of the multiplier of its
        sum (the bias). ``key`` says how far each variable is on the wrong side of its multiplier: free ones about 0,
        violating ones up to gap/2, those safely at a bound far below.
        """
        up, down = b < self.upper, b > self.lower
        gap, multipliers = 0.0, []
        key = np.empty(len(b))
        for members in self.groups:
            g_k, up_k, down_k = g[members], up[members], down[members]
            highest = float(np.max(-g_k, where=up_k, initial=-np.inf))
            lowest = float(np.max(g_k, where=down_k, initial=-np.inf))
            if not self.coupled:
                multiplier, violated = 0.0, max(highest, lowest, 0.0)
            elif np.isinf(highest) or np.isinf(
                lowest
            ):  # nothing can move: the one bound that is left is the multiplier
                multiplier, violated = (-lowest if np.isinf(highest) else highest), 0.0
                multiplier = 0.0 if np.isinf(multiplier) else multiplier
            else:
                multiplier, violated = (highest - lowest) / 2, highest + lowest
            key[members] = np.maximum(
                np.where(up_k, -g_k - multiplier, -np.inf), np.where(down_k, g_k + multiplier, -np.inf)
            )
            gap = max(gap, violated)
            multipliers.append(multiplier)
        return gap, np.array(multipliers), key

    def multipliers(self, b: Array, g: Array) -> Array:
        """The multiplier of each sum: the mean of −g over the free variables, else the midpoint of the interval that is
        left.
        """
        free = (b < self.upper) & (b > self.lower)
        inside = [np.flatnonzero(free if isinstance(members, slice) else free & members) for members in self.groups]
        means = [-float(g[x].sum()) / len(x) if self.coupled and len(x) else None for x in inside]
        if None in means:
            _, middle, _ = self.violation(b, g)
            means = [m if mean is None else mean for mean, m in zip(means, middle, strict=True)]
        return np.array(means, np.float64)

    def objective(self, b: Array, g: Array) -> float:
        """½ b^T K b + p^T b, from the gradient g = K b + p."""
        return 0.5 * float(np.dot(b, g + self.linear))


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """(K + λW^−1) A + 1 b^T = Y with 1^T A = ``total``: min Σ_i w_i ‖y_i − f(x_i)‖² + λ‖f‖², f = Σ_i a_i k(·, x_i) + b.

    Without ``bias``, b = 0 and the sums are free. One column of Y for each output; a sample of weight 0 has no
    coefficient.
    """

    targets: Array
    weights: Array
    ridge: float
    bias: bool = True
    total: Array | None = None


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """Coefficients (n, m) and biases (m,) of a ``LinearSystem``; ``residual`` is ‖what is left‖/‖right side‖, of the
    worst output, computed in float64 from the matrix itself; ``solver`` how it was found, in ``n_iter`` steps;
    ``stop_reason`` as of a ``Solution``.
    """

    coef: Array
    bias: Array
    residual: float
    n_iter: int
    solver: str
    stop_reason: str


@dataclass(frozen=True, eq=False)
class SmoothERM:
    """min Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖², f = Σ_i α_i k(·, x_i) + b with Σ_i α_i = 0 where there is a bias.

    ``loss`` has ``value``, ``gradient`` and, where it is known, ``curvature`` (``mercer.losses.Loss``).
    """

    loss: Any
    targets: Array
    weights: Array
    ridge: float
    bias: bool = True


@dataclass(frozen=True, eq=False)
class SmoothSolution:
    """What a problem with a loss was solved to. ``values`` are f(x_i); ``gap``, in the units of its solver, is how far
    from the optimum it may be.
    """

    coef: Array
    bias: Any
    values: Array
    objective: float
    gap: float
    n_iter: int
    stop_reason: str
    solver: str
    note: str = ""

    @property
    def converged(self) -> bool:
        return self.stop_reason == "gap"


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found for a ``DualQP``, and how it ended.

    coef
        One number per variable of the problem.
    multipliers
        The multiplier of each sum that the problem keeps: an SVC's bias.
    gap
        How far from optimal, in units of the gradient, computed in float64.
    stop_reason
        "gap" (converged), "stalled", "max_iter", "max_time", "callback" or "interrupted".
    gradient
        K b + p.
    free
        Which variables are strictly between their bounds.
    note
        What was measured about the cause, where it did not converge.
    """

    coef: Array
    multipliers: Array
    objective: float
    gap: float
    n_iter: int
    stop_reason: str
    gradient: Array
    free: Array
    note: str = ""

    @property
    def converged(self) -> bool:
        return self.stop_reason == "gap"


@dataclass(frozen=True, eq=False)
class Eigen:
    """The ``count`` largest eigenvalues of P S K S P and their vectors: S = W^½, P = I − uu^T along u = S1/‖S1‖, or P =
    I if not ``centred``.

    Centring in feature space is P: with unit weights P K P is HKH, and it is never formed.
    """

    count: int
    weights: Array
    centred: bool = True


@dataclass(frozen=True, eq=False)
class EigenSolution:
    """Eigenvalues, falling, and orthonormal eigenvectors (n, m) of an ``Eigen`` problem, each with its largest entry
    positive.

    means
        K w/Σw: the inner product of each item with the mean of all.
    trace
        The sum of all eigenvalues, also of those that were not asked for.
    residual
        The largest ‖A u − λu‖ over the largest eigenvalue.
    spectrum
        All eigenvalues, where they were found.
    """

    values: Array
    vectors: Array
    means: Array
    trace: float
    residual: float
    n_iter: int
    solver: str
    spectrum: Array | None = None
