"""Functions in the space of a kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import Samples, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import HashedRows, check_weights, chunks, listed, meet, size, stack, take
from mercer.kernels.base import Kernel
from mercer.native.linalg import least_squares
from mercer.troubles import coded

_AT_ONCE = 4096  # items whose features are held


@dataclass(frozen=True, eq=False)
class RKHSFunction:
    """f = Σ_i α_i k(·, x_i) + b: what solvers find and estimators predict with.

    ⟨f, k(·, x)⟩ = f(x) (for b = 0: the bias is outside the space). f is unique though α need not be: equal centres can
    share their weight in any way. Functions of one kernel add, subtract and scale: ``f + g``, ``f - g``, ``2 * f``.
    Fitted kernel machines have theirs as ``function_``.

    Parameters
    ----------
    kernel : Kernel
        k; it is bound to the centres.
    centers : collection of samples
        x_1 … x_n.
    coef : array-like of shape (n,) or (n, m)
        α: one function, or m functions of the same centres.
    bias : float or array of shape (m,), default=0.0
        b.

    See Also
    --------
    mean_embedding : The mean of φ over a sample.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> f = mc.RKHSFunction(mc.Gaussian(0.5), np.array([[0.0], [1.0]]), np.array([1.0, -1.0]))
    >>> f([[0.0], [2.0]]).round(3)
    array([ 0.393, -0.471])
    >>> round(f.norm(), 3), float(f.inner(f).round(3))
    (0.887, 0.787)
    """

    kernel: Kernel
    centers: Samples
    coef: Array
    bias: float | Array = 0.0

    def __post_init__(self) -> None:
        coef = self.coef if arrays.is_tensor(self.coef) else np.asarray(self.coef, dtype=None)
        if coef.ndim not in (1, 2) or len(coef) != size(self.centers):
            raise ValueError(
                coded(
                    f"There are {size(self.centers)} centres and coefficients of shape {tuple(coef.shape)}; give one"
                    " (row) for each centre.",
                    "M111",
                )
            )
        object.__setattr__(self, "coef", coef)
        # fixed to its centres, so that values do not depend on what else is asked together
        object.__setattr__(self, "kernel", self.kernel.bind(self.centers))

    def __call__(self, X: Samples, compute: Compute | None = None) -> Array:
        """f(x) for each row of X; the matrix k(X, centres) is not stored.

        Parameters
        ----------
        X : collection of samples
            Where to evaluate.
        compute : Compute, optional
            Device, precision, memory and threads.

        Returns
        -------
        ndarray of shape (n,) or (n, m)
            The values.
        """
        return self.kernel.gram(X, self.centers, compute) @ self.coef + self.bias

    def gradient(self, X: Samples, compute: Compute | None = None) -> Array:
        """∇f(x) for each row of X, from the formula of the kernel: how f changes with each column.

        Of kernels of distances, of inner products, of sums over columns, and of features that can be differentiated;
        and of what is made of them. Where k has a kink (x at a centre of ``Laplacian``, say) its part is taken as 0.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Where.
        compute : Compute, optional
            Device, precision, memory and threads.

        Returns
        -------
        ndarray of shape (n, d), or (n, m, d) of m functions
            The gradients.

        Raises
        ------
        NoGradient
            A TypeError: where the kernel does not compare rows of numbers, or its derivative is not known.

        Examples
        --------
        >>> import numpy as np
        >>> import mercer as mc
        >>> f = mc.RKHSFunction(mc.Gaussian(0.5), np.array([[0.0, 0.0]]), np.array([1.0]))
        >>> f.gradient([[1.0, 0.0]]).round(3)  # −x exp(−‖x‖²/2)
        array([[-0.607, -0.   ]])
        """
        one = self.coef.ndim == 1
        found = self.kernel._combined_gradient(X, self.centers, self.coef[:, None] if one else self.coef, compute)
        return found[:, 0] if one else found

    def __add__(self, other: RKHSFunction) -> RKHSFunction:
        self._same_space(other)
        centers = stack(self.centers, other.centers)
        return RKHSFunction(self.kernel, centers, np.concatenate([self.coef, other.coef]), self.bias + other.bias)

    def __mul__(self, scalar: float) -> RKHSFunction:
        return RKHSFunction(self.kernel, self.centers, scalar * self.coef, scalar * self.bias)

    __rmul__ = __mul__

    def __neg__(self) -> RKHSFunction:
        return -1.0 * self

    def __sub__(self, other: RKHSFunction) -> RKHSFunction:
        return self + (-other)

    def inner(self, other: RKHSFunction) -> Array:
        """⟨f, g⟩ = α^T K β, biases left out; m × m' values for functions of several outputs."""
        self._same_space(other)
        return self.coef.T @ (self.kernel.gram(self.centers, other.centers) @ other.coef)

    def norm(self) -> Any:
        """‖f‖ = √(α^T K α), biases left out; one number for each output."""
        square = self.inner(self)
        return (
            math.sqrt(max(float(square), 0.0))
            if square.ndim == 0
            else np.sqrt(np.maximum(np.diagonal(arrays.to_numpy(square)), 0.0))
        )

    def simplified(self) -> RKHSFunction | FeatureFunction:
        """The same function without centres of weight 0.

        Returns
        -------
        RKHSFunction or FeatureFunction
            As weights, ⟨w, φ(x)⟩ + b, when the kernel has features and they are fewer than the centres.
        """
        used = np.flatnonzero(np.any(arrays.to_numpy(self.coef).reshape(len(self.coef), -1) != 0, axis=1))
        kept = (
            RKHSFunction(self.kernel, take(self.centers, used), self.coef[used], self.bias)
            if len(used) < len(self.coef)
            else self
        )
        if self.kernel.explicit and len(used):
            phi = self.kernel._embedded(kept.centers)
            if isinstance(phi, HashedRows):
                return FeatureFunction(self.kernel, phi.combined(kept.coef), self.bias, np.ndim(kept.coef) == 1)
            if phi.shape[1] < len(used):
                return FeatureFunction(self.kernel, phi.T @ kept.coef, self.bias)
        return kept

    def feature_weights(self) -> tuple[list[Any], Array]:
        """f(x) = Σ weight·φ_name(x) + b over the features that occur in the centres; for kernels whose features have
        names.

        Returns
        -------
        names : list
            What the features stand for: words, paths, …
        weights : ndarray of shape (n_features,) or (n_features, m)
            Their weights.
        """
        return self.kernel.feature_names(self.centers), np.asarray(self.kernel.features(self.centers).T @ self.coef)

    def compressed(self, n: int) -> RKHSFunction:
        """The nearest function, in the norm of the space, that needs only n of its centres.

        Parameters
        ----------
        n : int
            How many centres to keep, at least 1; predictions cost in proportion.

        Returns
        -------
        RKHSFunction
            The function of the centres that ``nearest`` chooses, or f itself if it has no more.
        """
        kept, weights = self.nearest(n)
        return (
            RKHSFunction(self.kernel, take(self.centers, kept), weights, self.bias)
            if len(kept) < len(self.coef)
            else self
        )

    def nearest(self, n: int) -> tuple[Array, Array]:
        """n centres chosen one by one, and the weights on them that come nearest to f.

        Each time the centre is taken in whose direction the rest of f points most, |⟨f − g, φ(z)⟩|/‖φ(z) − projection‖,
        and g is then the projection of f onto all that are chosen (orthogonal matching pursuit). Memory: a matrix of n
        × centres.

        Parameters
        ----------
        n : int
            How many centres to choose, at least 1.

        Returns
        -------
        chosen : ndarray of int
            The numbers of the centres.
        weights : ndarray of shape (len(chosen),) or (len(chosen), m)
            Their weights.
        """
        count = len(self.coef)
        if n < 1:
            raise ValueError(coded(f"compressed({n}): keep at least one centre.", "M205"))
        if n >= count:
            return np.arange(count), self.coef
        gram = self.kernel.gram(self.centers).astype(np.float64)
        coef = np.asarray(arrays.to_numpy(self.coef), np.float64).reshape(count, -1)
        rest = np.asarray(gram @ coef)  # ⟨f − g, φ(z)⟩ for every centre z and output
        left = np.array(gram.diag(), np.float64)  # ‖φ(z) − projection onto what is chosen‖²
        floor = 1e-10 * max(float(left.max()), 1e-300)
        basis, chosen = np.zeros((n, count)), []
        for k in range(n):
            gain = np.where(left > floor, np.sum(rest**2, axis=1) / np.maximum(left, floor), -1.0)
            z = int(np.argmax(gain))
            if gain[z] < 0:
                break
            column = np.asarray(gram.rows([z]), np.float64)[0]
            e = (column - basis[:k, z] @ basis[:k]) / np.sqrt(left[z])
            basis[k] = e
            rest -= np.outer(e, rest[z] / e[z])
            left = np.maximum(left - e**2, 0.0)
            left[z] = 0.0
            chosen.append(z)
        kept = np.array(chosen)
        K = np.asarray(gram.sub(kept, kept).dense())
        right = np.asarray(gram.sub(kept, slice(None)) @ coef)
        weights = least_squares(K, right, 1e-12)
        return kept, weights[:, 0] if np.ndim(self.coef) == 1 else weights

    def _same_space(self, other: RKHSFunction) -> None:
        if self.kernel != other.kernel:
            raise ValueError(
                coded(
                    f"The functions live in the spaces of different kernels, {self.kernel} and {other.kernel}; they"
                    " have no sum or inner product.",
                    "M215",
                )
            )


@dataclass(frozen=True, eq=False)
class FeatureFunction:
    """f(x) = ⟨w, φ(x)⟩ + b for a kernel with features: evaluation costs the features, not the centres."""

    kernel: Kernel
    weights: Weights  # one column for each output; of an open set of columns, a ``HashedRows`` with one row for each
    bias: float | Array = 0.0
    single: bool = True  # whether the weights of a HashedRows are those of one function, or of several

    def __call__(self, X: Samples) -> Array:
        """f(x) for each item; those of a list are taken some at a time, so that their features need not all be held."""
        if not isinstance(self.weights, HashedRows):
            return self.kernel.features(X) @ self.weights + self.bias
        X = listed(X)
        n = size(X)
        values = np.empty((n, self.weights.shape[0]))
        for some in chunks(n, _AT_ONCE):
            phi, weights = meet(self.kernel._embedded(take(X, some)), self.weights)
            values[some] = (phi @ weights.T).toarray()
        return (values[:, 0] if self.single else values) + self.bias

    def norm(self) -> Any:
        """‖f‖ ≤ ‖w‖, with equality for weights that are themselves combinations of features, as those of
        ``simplified()`` are.
        """
        if isinstance(self.weights, HashedRows):
            norms = np.sqrt(self.weights.sqnorm())
            return norms[0] if self.single else norms
        return np.linalg.norm(arrays.to_numpy(self.weights), axis=0)


def mean_embedding(kernel: Kernel, X: Samples, weights: Weights = None) -> RKHSFunction:
    """μ = Σ_i w_i k(·, x_i), the weights summing to 1: the mean of φ over a sample; ⟨μ, f⟩ is the mean of f.

    The distance of the embeddings of two samples is the maximum mean discrepancy of ``mmd_test``.

    Parameters
    ----------
    kernel : Kernel
        k.
    X : collection of samples
        The sample.
    weights : array-like of shape (n,), optional
        Weights ≥ 0, which are divided by their sum. None: all alike.

    Returns
    -------
    RKHSFunction
        μ.

    See Also
    --------
    mmd_test : Whether two samples come from one distribution.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Gaussian(0.5)
    >>> mu, nu = mc.mean_embedding(k, [[0.0], [1.0]]), mc.mean_embedding(k, [[0.0], [3.0]])
    >>> round((mu - nu).norm(), 3)
    0.658
    """
    w = check_weights(size(X), weights)
    return RKHSFunction(kernel, X, w / w.sum())
