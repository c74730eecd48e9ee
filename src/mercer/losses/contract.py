"""The hooks of a loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from mercer.arrays import Array
from mercer.problems import DualQP


class Loss(ABC):
    """ℓ(y, f), convex in f: what the prediction f costs where the target is y.

    A new loss is a frozen dataclass that derives from this class; its fields are its parameters. ``value`` and
    ``gradient`` must be written, every other hook has a default. Which hooks there are decides how
    min Σ_i w_i ℓ(y_i, f(x_i)) + λ‖f‖² is solved, first match first:

    =============================  =======================================================================
    ``dual`` gives a problem       a quadratic programme, by active sets: for losses made of straight lines
    ``curvature`` gives an array   Newton's method: few steps, quadratic convergence
    ``prox`` gives an array        splitting (ADMM): for losses with corners and no dual, tolerance 1e-6
    none of them                   L-BFGS in the inner product of the kernel: for smooth losses
    =============================  =======================================================================

    Hooks are given checked arrays and check nothing. They work on all samples at once. ``y`` and ``f`` have n rows; f
    is (n,), or (n, m) for a loss that couples m outputs.

    Attributes
    ----------
    relative : bool
        Class attribute: whether the loss is the same if a constant is added to all outputs of a sample, as in a
        softmax. Only for coupled outputs.

    See Also
    --------
    mercer.RepresenterMachine : The estimator that takes any loss of one output.

    Notes
    -----
    The loss must be convex in f, and finite for finite f but for overflow: a line search steps back from infinity.
    docs/add_a_loss.md has every hook with an example.

    Examples
    --------
    log cosh(y − f), between the squared and the absolute error, with its two derivatives:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import mercer as mc
    >>> from mercer.losses import Loss
    >>> @dataclass(frozen=True)
    ... class LogCosh(Loss):
    ...     def value(self, y, f):
    ...         return np.logaddexp(y - f, f - y) - np.log(2)
    ...
    ...     def gradient(self, y, f):
    ...         return np.tanh(f - y)
    ...
    ...     def curvature(self, y, f):
    ...         return 1 - np.tanh(f - y) ** 2
    >>> X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 4.0, 50.0])
    >>> machine = mc.RepresenterMachine(LogCosh(), alpha=0.01, kernel=mc.Linear()).fit(X, y)
    >>> machine.converged_, machine.solver_
    (True, 'newton-woodbury')
    >>> machine.predict([[2.0]]).round(2)
    array([2.25])
    """

    relative = False

    @abstractmethod
    def value(self, y: Array, f: Array) -> Array:
        """ℓ(y_i, f_i) for each sample.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Targets, for which ``check`` did not raise.
        f : ndarray of shape (n,) or (n, m)
            Predictions; m where ``outputs`` says so.

        Returns
        -------
        ndarray of shape (n,)
            The cost of each sample, without its weight. Infinity where it overflows, without a warning
            (``np.errstate(over="ignore")``).
        """

    @abstractmethod
    def gradient(self, y: Array, f: Array) -> Array:
        """∂ℓ/∂f, of the shape of f.

        Where the loss has a corner, any slope between those of the two sides: then ℓ(y, g) ≥ ℓ(y, f) + gradient·(g − f)
        for all g.
        """

    def curvature(self, y: Array, f: Array) -> Array | None:
        """∂²ℓ/∂f², the diagonal of it where outputs are coupled, of the shape of f; None: unknown.

        All values are at least 0. On straight pieces they are 0, which is allowed: the solver puts 1e-8 of the largest
        in their place, and goes down the slope where that leads nowhere. A loss made of straight pieces alone has no
        use for it and returns None, for every y and f.
        """
        return None

    def hessian(self, y: Array, f: Array, V: Array) -> Array:
        """∂²ℓ/∂f² times V, sample by sample, of the shape of f.

        To be written for coupled outputs, of which ``curvature`` is only the diagonal; for one output the default,
        ``curvature(y, f) * V``, is right.
        """
        curvature = self.curvature(y, f)
        assert curvature is not None
        return curvature * V

    def dual(self, y: Array, C: Array, coupled: bool) -> DualQP | None:
        """The dual of Σ_i C_i ℓ(y_i, f_i) + ½‖f‖², where that is a quadratic programme with bounds; else None.

        With the coefficients b of f = Σ_i b_i k(·, x_i) + bias, the dual is min ½ b^T K b + Σ_i C_i ℓ*(y_i, −b_i/C_i),
        ℓ* the conjugate in f. It is a ``DualQP`` where ℓ is made of straight lines: ℓ* is then linear between the
        steepest slopes, and infinite beyond them.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Targets.
        C : ndarray of shape (n,)
            What the loss of each sample is multiplied by, w_i/(2λ).
        coupled : bool
            Whether there is a bias, which keeps the sum of b at 0: given on to the ``DualQP``.

        Returns
        -------
        DualQP or None
            Its first n variables must be those of the samples in their order, and ``start`` must lie within the bounds
            and sum to 0.
        """
        return None

    def prox(self, y: Array, z: Array, step: Array) -> Array | None:
        """argmin_v step_i ℓ(y_i, v) + ½(v − z_i)² for each sample: for a loss with corners; None: unknown.

        Used only where there is neither ``dual`` nor ``curvature``, and for one output.

        Parameters
        ----------
        y, z : ndarray of shape (n,)
            Targets, and the points to stay near to.
        step : ndarray of shape (n,)
            Positive.

        Returns
        -------
        ndarray of shape (n,), or None
        """
        return None

    def outputs(self, y: Array) -> int:
        """How many functions are sought: 0 means one, f of shape (n,); m ≥ 1 means that f is of shape (n, m)."""
        return 0

    def start(self, y: Array, weights: Array) -> Any:
        """A constant f to start from, near the best one: a number, or one for each output.

        It is the bias of the first step; without a bias the solver starts from 0. A good one saves steps, any one is
        right.
        """
        return 0.0

    def mean(self, f: Array) -> Array:
        """What is predicted from f: E[y], or the like. For a loss of y − f that is f itself."""
        return f

    def check(self, y: Array) -> None:  # noqa: B027  # most losses take any number
        """Raise ValueError if these targets are impossible; y is of float64 and finite.

        Called once, before anything is computed. The message says what was found and what the loss is of.
        """
