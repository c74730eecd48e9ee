"""The mathematics that solvers are given: problems as values, and their solutions, in one file.

A problem does not hold the kernel matrix: solvers are given both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.arrays import Array

if TYPE_CHECKING:
    from mercer.losses.contract import Loss


@dataclass(frozen=True, eq=False)
class DualQP:
    """min ½ b^T K b + p^T b over lower ≤ b ≤ upper, with the sum of b over each group kept at that of ``start``.

    The variables are signed (an SVC's b_i is y_i α_i), so that the quadratic form is a kernel matrix itself:
    K[index[s], index[t]] is its entry (s, t). SVC, SVR, their ν forms, one-class, SVDD and quantile regression are each
    one of these.

    Parameters
    ----------
    linear : ndarray of shape (m,)
        p.
    lower, upper : ndarray of shape (m,)
        The bounds of each variable, finite.
    start : ndarray of shape (m,)
        A point within the bounds. The solver starts there and keeps its sums.
    index : ndarray of int of shape (m,), optional
        The item of each variable; None: variable t is item t. SVR has two variables per item.
    group : ndarray of int of shape (m,), optional
        0 or 1 for each variable; None: all in one group. The ν forms have two sums to keep.
    coupled : bool, default=True
        False: no sum is kept, a machine without bias.

    See Also
    --------
    Solution : What a solver returns for it.
    mercer.losses.Loss.dual : The problem of a loss made of straight lines.

    Examples
    --------
    The hard margin between −1 and 3 on the line, with C so large that it is never met:

    >>> import numpy as np
    >>> import mercer as mc
    >>> from mercer.problems import DualQP
    >>> from mercer.solvers.dual import ActiveSet
    >>> y = np.array([-1.0, 1.0])
    >>> problem = DualQP(-y, np.minimum(0, 100 * y), np.maximum(0, 100 * y), start=np.zeros(2))
    >>> found = ActiveSet().solve(problem, mc.Linear().gram([[-1.0], [3.0]]))
    >>> found.coef.round(4), found.multipliers.round(4), found.stop_reason
    (array([-0.125,  0.125]), array([-0.5]), 'gap')
    """

    linear: Array
    lower: Array
    upper: Array
    start: Array
    index: Array | None = None
    group: Array | None = None
    coupled: bool = True

    def __len__(self) -> int:
        """The number of variables."""
        return len(self.linear)

    @property
    def groups(self) -> list[Any]:
        """Which variables share a sum: a slice of all, or a mask for each group."""
        return [slice(None)] if self.group is None else [self.group == k for k in range(int(self.group.max()) + 1)]

    def part(self, chosen: Array) -> DualQP:
        """The problem of some of the variables, all others held where they are.

        Its matrix is the part of K that belongs to these variables, so it has no ``index``. A solver of it starts from
        their gradient, which contains what the others contribute.
        """
        group = None if self.group is None else self.group[chosen]
        return DualQP(
            self.linear[chosen], self.lower[chosen], self.upper[chosen], self.start[chosen], None, group, self.coupled
        )

    def items(self, b: Array, n: int) -> Array:
        """The coefficient of each of n items: the sum of b over its variables."""
        return b if self.index is None else np.bincount(self.index, weights=b, minlength=n)

    def of_items(self, values: Array) -> Array:
        """Values of the items as values of the variables: that of its item for each."""
        return values if self.index is None else values[self.index]

    def violation(self, b: Array, g: Array) -> tuple[float, Array, Array]:
        """(gap, multiplier, key) at the point b with gradient g = K b + p: how far the point is from optimal.

        With up = {b < upper} and down = {b > lower}, the point is optimal if max over up of −g plus max over down of g
        is at most 0.

        Parameters
        ----------
        b, g : ndarray of shape (m,)
            A point within the bounds, and the gradient there.

        Returns
        -------
        gap : float
            That sum (libsvm's m − M), the largest over groups; without a sum to keep, the largest projected gradient.
        multiplier : ndarray
            One number for each group, the midpoint of the two: an estimate of the multiplier of its sum (the bias).
        key : ndarray of shape (m,)
            How far each variable is on the wrong side of its multiplier: free ones about 0, violating ones up to gap/2,
            those safely at a bound far below.
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

    def multipliers(self, b: Array, g: Array, free: Array | None = None) -> Array:
        """The multiplier of each sum: the mean of −g over the ``free`` variables, those between their bounds, else the
        midpoint of the interval that is left.
        """
        free = (b < self.upper) & (b > self.lower) if free is None else free
        inside = [g[free] if isinstance(members, slice) else g[free & members] for members in self.groups]
        means = [-float(x.sum()) / len(x) if self.coupled and len(x) else None for x in inside]
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

    Parameters
    ----------
    targets : ndarray of shape (n,) or (n, m)
        Y, one column for each output.
    weights : ndarray of shape (n,)
        W, at least 0; a sample of weight 0 has no coefficient.
    ridge : float or ndarray of shape (m,)
        λ; one for each output where the matrix is that of landmarks.
    bias : bool, default=True
        Whether there is a b; without it b = 0 and the sums of A are free.
    total : ndarray of shape (m,), optional
        What the columns of A sum to; None: 0.

    See Also
    --------
    LinearSolution : What a solver returns for it.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> from mercer.problems import LinearSystem
    >>> from mercer.solvers.linear import ConjugateGradients
    >>> problem = LinearSystem(np.array([0.0, 2.0]), np.ones(2), ridge=1.0)
    >>> found = ConjugateGradients().solve(problem, mc.Linear().gram([[-1.0], [1.0]]))
    >>> found.coef.round(4).ravel(), found.bias.round(4)
    (array([-0.3333,  0.3333]), array([1.]))
    """

    targets: Array
    weights: Array
    ridge: Any
    bias: bool = True
    total: Array | None = None


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """What solves a ``LinearSystem``, and how exactly.

    Attributes
    ----------
    coef : ndarray of shape (n, m)
        A.
    bias : ndarray of shape (m,)
        b.
    residual : float
        ‖what is left‖/‖right side‖ of the worst output, computed in float64 from the matrix itself.
    n_iter : int
        Steps that were taken.
    solver : str
        How it was found.
    stop_reason : str
        As of a ``Solution``.
    of_landmarks : ndarray of shape (n_landmarks, m), optional
        The coefficients of the landmarks, where the matrix is of that form.
    """

    coef: Array
    bias: Array
    residual: float
    n_iter: int
    solver: str
    stop_reason: str
    of_landmarks: Array | None = None


@dataclass(frozen=True, eq=False)
class SmoothERM:
    """min Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖², f = Σ_i α_i k(·, x_i) + b with Σ_i α_i = 0 where there is a bias.

    Parameters
    ----------
    loss : mercer.losses.Loss
        With ``value`` and ``gradient`` and, where they are known, ``curvature`` or ``prox``.
    targets : ndarray of shape (n,)
        y.
    weights : ndarray of shape (n,)
        w, positive.
    ridge : float
        λ.
    bias : bool, default=True
        Whether there is a b.

    See Also
    --------
    SmoothSolution : What a solver returns for it.
    mercer.solvers.erm.minimise : Chooses problem and solver for any loss.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> from mercer.losses import Logistic
    >>> from mercer.problems import SmoothERM
    >>> from mercer.solvers.smooth import Descent
    >>> problem = SmoothERM(Logistic(), np.array([-1.0, -1.0, 1.0]), np.ones(3), ridge=0.1)
    >>> found = Descent().solve(problem, mc.Linear().gram([[0.0], [1.0], [3.0]]))
    >>> found.values.round(3), found.converged
    (array([-3.605, -1.855,  1.645]), True)
    """

    loss: Loss
    targets: Array
    weights: Array
    ridge: float
    bias: bool = True


@dataclass(frozen=True, eq=False)
class SmoothSolution:
    """What a problem with a loss was solved to.

    Attributes
    ----------
    coef : ndarray of shape (n,) or (n, m)
        α, one column for each output where the loss couples several.
    bias : float or ndarray of shape (m,)
        b.
    values : ndarray of the shape of ``coef``
        f(x_i).
    objective : float
        Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖² there.
    gap : float
        How far from the optimum it may be, in the units of its solver.
    n_iter : int
        Steps that were taken.
    stop_reason : str
        As of a ``Solution``.
    solver : str
        How it was found, as "newton-cholesky".
    note : str
        What was measured about the cause, where it did not converge.
    of_landmarks : ndarray of shape (n_landmarks, m), optional
        The coefficients of the landmarks, where the matrix is of that form.
    """

    coef: Array
    bias: float | Array
    values: Array
    objective: float
    gap: float
    n_iter: int
    stop_reason: str
    solver: str
    note: str = ""
    of_landmarks: Array | None = None

    @property
    def converged(self) -> bool:
        """Whether the gap that was asked for was reached."""
        return self.stop_reason == "gap"


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found for a ``DualQP``, and how it ended.

    Attributes
    ----------
    coef : ndarray of shape (m,)
        b, one number for each variable of the problem.
    multipliers : ndarray
        The multiplier of each sum that the problem keeps: an SVC's bias.
    objective : float
        ½ b^T K b + p^T b.
    gap : float
        How far from optimal, in units of the gradient, computed in float64 (``DualQP.violation``).
    n_iter : int
        Steps that were taken.
    stop_reason : str
        "gap" (converged), "stalled", "max_iter", "max_time", "callback" or "interrupted".
    gradient : ndarray of shape (m,)
        K b + p.
    free : ndarray of bool of shape (m,)
        Which variables are strictly between their bounds.
    note : str
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
        """Whether the gap that was asked for was reached."""
        return self.stop_reason == "gap"


@dataclass(frozen=True, eq=False)
class Eigen:
    """The ``count`` largest eigenvalues of P S K S P and their vectors: S = W^½, P = I − uu^T along u = S1/‖S1‖, or P =
    I if not ``centred``.

    Centring in feature space is P: with unit weights P K P is HKH, and it is never formed.

    Parameters
    ----------
    count : int
        How many eigenvalues are sought.
    weights : ndarray of shape (n,)
        W, positive.
    centred : bool, default=True
        Whether the mean in feature space is taken out.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> from mercer.problems import Eigen
    >>> from mercer.solvers.eigen import solve_eigen
    >>> found = solve_eigen(Eigen(1, np.ones(3)), mc.Linear().gram([[0.0], [1.0], [5.0]]))
    >>> found.values.round(3), round(found.trace, 3)
    (array([14.]), 14.0)
    """

    count: int
    weights: Array
    centred: bool = True


@dataclass(frozen=True, eq=False)
class EigenSolution:
    """Eigenvalues and eigenvectors of an ``Eigen`` problem.

    Attributes
    ----------
    values : ndarray of shape (m,)
        Eigenvalues, falling.
    vectors : ndarray of shape (n, m)
        Orthonormal eigenvectors, each with its largest entry positive.
    means : ndarray of shape (n,)
        K w/Σw: the inner product of each item with the mean of all.
    trace : float
        The sum of all eigenvalues, also of those that were not asked for.
    residual : float
        The largest ‖A u − λu‖ over the largest eigenvalue.
    n_iter : int
        Steps that were taken.
    solver : str
        How they were found.
    spectrum : ndarray, optional
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
