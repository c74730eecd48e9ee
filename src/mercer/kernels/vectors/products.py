"""Kernels of inner products and of sums over columns: one file, since most of it is their documentation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Items, Samples, Symbol
from mercer.arrays import Array
from mercer.data import DataError, Domain, Vectors
from mercer.formula import arcsin, minimum, sqdist, sqrt, tanh, where
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.columns import MOST, ColumnTerm, column_terms, power, product
from mercer.kernels.families import Additive, Columnwise, Explicit, Inner, Spectral
from mercer.kernels.parameters import check_psd_matrix, natural, positive, real


@kernel
class Linear(Explicit):
    """⟨x, z⟩: the inner product of the vectors themselves.

    Its features are x, so that a linear model f(x) = ⟨w, x⟩ has the norm ‖w‖ and learners work with d columns in place
    of n² values. Sparse tables stay sparse.

    See Also
    --------
    Polynomial : Products of columns as well.
    Bilinear : x^T A z with a matrix A.

    Examples
    --------
    >>> import mercer as mc
    >>> X = [[1.0, 0.0], [1.0, 2.0]]
    >>> mc.Linear()(X)
    array([[1., 1.],
           [1., 5.]])
    """

    domain: ClassVar[Domain] = Vectors()
    _rotation_invariant = True
    _over_columns = "sum"

    def _map(self, X: Samples) -> Any:
        return X

    def _pull_back(self, X: Samples, gradients: Array) -> Any:
        return gradients


@kernel
class Polynomial(Inner):
    """(scale·⟨x, z⟩ + offset)^degree: the inhomogeneous polynomial kernel.

    Its features are the monomials of degree ≤ ``degree`` (exactly ``degree`` when offset = 0), of which there are C(d +
    degree, degree); learners use them where they are fewer than the samples. Positive semi-definite for offset ≥ 0 and
    scale ≥ 0; with a negative one, ``psd`` is None and there is no feature map. Values grow with ‖x‖^(2·degree):
    ``standardized()`` or ``normalized()`` keep them moderate.

    Parameters
    ----------
    degree : int, default=2
        At least 1. The highest number of columns that are multiplied with each other.
    offset : float, default=1.0
        The weight of low degrees against high ones; 0 leaves the monomials of degree ``degree`` alone.
    scale : float, default=1.0
        The factor of the inner product, 1/d for instance.

    See Also
    --------
    Anova : Products of different columns only.
    AllSubsets : One feature for each subset of the columns.
    TensorSketch : Fewer features, which approximate it.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Polynomial(degree=2)
    >>> k([[1.0, 2.0]], [[3.0, 1.0]])
    array([[36.]])
    >>> k.features([[1.0, 2.0]]).round(3)  # 1, √2·x₁, √2·x₂, x₁², √2·x₁x₂, x₂²
    array([[1.   , 1.414, 2.828, 1.   , 2.828, 4.   ]])
    """

    degree: int = natural(2)
    offset: float = real(1.0)
    scale: float = real(1.0)

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.offset >= 0 and self.scale >= 0 else None

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return bool(self.psd)

    def _profile(self, s: Symbol, xx: Symbol, zz: Symbol) -> Any:
        return (self.scale * s + self.offset) ** int(self.degree)

    def _width(self, A: Items) -> int:
        d = A.shape[1]
        return (
            math.comb(d + self.degree, self.degree) if self.offset > 0 else math.comb(d + self.degree - 1, self.degree)
        )

    def _features(self, A: Items) -> Any:
        columns = [
            math.sqrt(math.comb(self.degree, t) * self.offset ** (self.degree - t) * self.scale**t) * monomials
            for t, monomials in _monomials(A, self.degree)
            if t == self.degree or self.offset > 0
        ]
        return arrays.namespace(*columns).concatenate(columns, axis=1)

    def _factors(self) -> tuple[Kernel, ...]:
        """The kernels that it is the product of."""
        if not self.psd:
            return (self,)
        factor = Linear() * self.scale
        return (factor + self.offset if self.offset > 0 else factor,) * int(self.degree)

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        return power(column_terms(self._factors()[0], X, Y), int(self.degree)) if self.psd else None


@kernel
class TaylorGaussian(Explicit):
    """exp(−γ‖x‖²) exp(−γ‖z‖²) Σ_{|n| ≤ degree} (2γ)^|n|/n! · x^n z^n: the Gaussian with its cross term expanded.

    A positive semi-definite kernel with C(d + degree, degree) features, which approximates ``Gaussian(gamma)`` with an
    error of at most (2γ‖x‖‖z‖)^(degree + 1)/(degree + 1)!. Useful for few columns of moderate size and very many
    samples.

    Parameters
    ----------
    gamma : float
        γ > 0, that of the Gaussian.
    degree : int, default=4
        At least 0. The total degree at which the series ends.

    See Also
    --------
    Gaussian : The kernel it approximates; ``Gaussian(gamma).taylor(degree)`` is this one.

    Examples
    --------
    >>> import mercer as mc
    >>> X = [[0.0], [1.0]]
    >>> mc.TaylorGaussian(gamma=0.5, degree=4)(X).round(3)
    array([[1.   , 0.607],
           [0.607, 0.996]])
    >>> mc.Gaussian(gamma=0.5)(X).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    domain: ClassVar[Domain] = Vectors()
    gamma: float = positive(symbol="γ", continuous=False)
    degree: int = natural(4, minimum=0)

    def _map(self, X: Samples) -> Any:
        X = X.toarray() if sparse.issparse(X) else X
        xp = arrays.namespace(X)
        weight = xp.exp(-self.gamma * xp.einsum("ij,ij->i", X, X))[:, None]
        # Σ_{|n| = t} x^n z^n t!/n! = ⟨x, z⟩^t, so the monomials of degree t need 1/t! besides (2γ)^t
        parts = [math.sqrt((2 * self.gamma) ** t / math.factorial(t)) * m for t, m in _monomials(X, self.degree)]
        return weight * xp.concatenate(parts, axis=1)

    def _pull_back(self, X: Samples, gradients: Array) -> Any:
        """Of exp(−γ‖x‖²)·c·x^n by x_j: exp(−γ‖x‖²)·c·n_j x^(n − e_j), less 2γx_j times itself."""
        X = X.toarray() if sparse.issparse(X) else X
        X = arrays.astype(X, np.float64)
        own = arrays.namespace(X).einsum("iof,if->io", gradients, arrays.like(self._map(X), gradients))
        out = -2.0 * self.gamma * own[:, :, None] * X[:, None, :]
        weight, column = arrays.namespace(X).exp(-self.gamma * (X * X).sum(1)), 0
        for t in range(self.degree + 1):
            for chosen in combinations_with_replacement(range(X.shape[1]), t):
                scale = math.sqrt((2 * self.gamma) ** t / math.factorial(t) * _multinomial(chosen))
                for j in dict.fromkeys(chosen):
                    slope = scale * chosen.count(j) * weight
                    for k in range(X.shape[1]):
                        slope = slope * X[:, k] ** (chosen.count(k) - (k == j))
                    out[:, :, j] += gradients[:, :, column] * slope[:, None]
                column += 1
        return out


def _monomials(X: Samples, degree: int) -> Any:
    """For t = 0…degree: t and the columns √(t!/n!)·x^n, |n| = t, whose inner products are ⟨x, z⟩^t."""
    X = X.toarray() if sparse.issparse(X) else X
    n, d = X.shape
    for t in range(degree + 1):
        powers = list(combinations_with_replacement(range(d), t))
        out = arrays.empty((n, len(powers)), arrays.numpy_dtype(X), X)
        for column, chosen in enumerate(powers):
            out[:, column] = math.sqrt(_multinomial(chosen))
            with np.errstate(over="ignore"):  # what is infinite is reported with its row
                for j in chosen:
                    out[:, column] *= X[:, j]
        yield t, out


def _multinomial(chosen: tuple[int, ...]) -> float:
    """t!/n!, how often a product of t columns occurs in ⟨x, z⟩^t."""
    repeats = (chosen.count(j) for j in set(chosen))
    return math.factorial(len(chosen)) / math.prod(math.factorial(r) for r in repeats)


@kernel
class Sigmoid(Inner):
    """tanh(scale·⟨x, z⟩ + offset): the sigmoid similarity.

    It is not positive semi-definite in general (``psd`` is False): learners that need that say so, and ``repaired()``
    makes a positive semi-definite kernel of it.

    Parameters
    ----------
    offset : float, default=0.0
        What is added to it.
    scale : float, default=1.0
        The factor of the inner product; small values keep tanh from saturating.

    See Also
    --------
    ArcCosine : A kernel of infinitely many units of a neural network, positive semi-definite.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Sigmoid(offset=-1.0, scale=0.5)
    >>> k([[0.0], [2.0]]).round(3)
    array([[-0.762, -0.762],
           [-0.762,  0.762]])
    >>> k.psd
    False
    """

    offset: float = real(0.0)
    scale: float = real(1.0)
    psd = False

    def _profile(self, s: Symbol, xx: Symbol, zz: Symbol) -> Any:
        return tanh(self.scale * s + self.offset)


@kernel
class ArcCosine(Spectral):
    """‖x‖ⁿ‖z‖ⁿ J_n(θ)/π, θ the angle between x and z: an infinite layer of a neural network with random weights.

    Its units are thresholds (n = 0), ramps (n = 1, ReLU) or squared ramps (n = 2). J_0 = π − θ, J_1 = sin θ + (π − θ)
    cos θ, J_2 = 3 sin θ cos θ + (π − θ)(1 + 2 cos² θ). The angle comes from the distance d of the unit vectors, θ = 2
    arcsin(d/2): the arc cosine of their product would lose half the digits where they nearly agree. A zero vector has
    no angle; θ = π/2 keeps the kernel positive semi-definite.

    Parameters
    ----------
    order : {0, 1, 2}, default=1
        n, the kind of the units. 0 depends on the angle alone.

    See Also
    --------
    RandomFeatures : As many units as one wants, in place of infinitely many.

    References
    ----------
    .. [1] Y. Cho and L. K. Saul. Kernel methods for deep learning. NIPS 2009.

    Examples
    --------
    >>> import mercer as mc
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> mc.ArcCosine(order=0)(X)
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> mc.ArcCosine(order=1)(X).round(3)
    array([[1.   , 0.318],
           [0.318, 1.   ]])
    """

    domain: ClassVar[Domain] = Vectors()
    _rotation_invariant = True
    order: int = natural(1, minimum=0, maximum=2)

    def _prepare(self, X: Samples) -> Any:
        X = X.toarray() if sparse.issparse(X) else X
        xp = arrays.namespace(X)
        norms = xp.sqrt(xp.einsum("ij,ij->i", X, X))
        return X / xp.where(norms > 0, norms, xp.ones_like(norms))[:, None], norms

    def _pull_back(self, X: Samples, gradients: Sequence[Array | None]) -> Any:
        """Through x/‖x‖ = u and ‖x‖: (g_u − ⟨g_u, u⟩u)/‖x‖ + g_‖x‖ u; 0 at 0."""
        along, lengths = gradients
        u, norms = self._prepare(X)
        xp, out = arrays.namespace(u), 0.0
        if along is not None:
            across = along - xp.einsum("iod,id->io", along, arrays.astype(u, np.float64))[:, :, None] * u[:, None, :]
            out = across / xp.where(norms > 0, norms, xp.ones_like(norms))[:, None, None]
        return out if lengths is None else out + lengths * u[:, None, :]

    def _block(self, A: Items, B: Items) -> Any:
        return self._of_angle(sqdist(A[0], B[0]), A[1] * B[1])

    def _diag(self, A: Items) -> Any:
        return self._of_angle(0.0 * A[1], A[1] * A[1])

    def _of_angle(self, d2: Symbol, norms: Symbol) -> Any:
        d2 = where(norms > 0, minimum(d2, 4.0), 2.0)
        theta = 2.0 * arcsin(minimum(0.5 * sqrt(d2), 1.0))
        if self.order == 0:
            return (math.pi - theta) / math.pi
        cosine, sine = 1.0 - 0.5 * d2, sqrt(d2 * (1.0 - 0.25 * d2))
        if self.order == 1:
            return norms * (sine + (math.pi - theta) * cosine) / math.pi
        return norms * norms * (3.0 * sine * cosine + (math.pi - theta) * (1.0 + 2.0 * cosine * cosine)) / math.pi

    _per_frequency = 1

    def _frequencies(self, normal: Array, uniform: Array) -> Array:
        return normal

    def _responses(self, projections: Array, features: int) -> list[Any]:
        """Of half-spaces; a step is ½ at 0, as the angle of a zero vector has it."""
        if self.order == 0:
            return [0.5 + 0.5 * arrays.namespace(projections).sign(projections)]
        return [projections.clip(0.0) ** int(self.order)]

    def _slopes(self, projections: Array, gradients: Array) -> Any:
        if self.order == 0:
            return 0.0 * gradients
        slope = projections > 0 if self.order == 1 else 2.0 * projections.clip(0.0)
        return slope[:, None, :] * gradients


@kernel
class Bilinear(Explicit):
    """x^T A z with a symmetric positive semi-definite matrix A: a linear kernel weighted by column and pair of columns.

    Its features are L^T x, A = LL^T, also when A is singular.

    Parameters
    ----------
    A : array-like of shape (d, d)
        Symmetric positive semi-definite, which is checked: a diagonal matrix weighs the columns, an inverse covariance
        makes distances in feature space Mahalanobis's.

    Raises
    ------
    ValueError
        When A is not square, not finite, not symmetric, or has a negative eigenvalue; the message names the entry or
        the eigenvalue.

    See Also
    --------
    Linear : A is the identity.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.Bilinear([[2.0, 1.0], [1.0, 2.0]])
    >>> k([[1.0, 0.0], [0.0, 1.0]]).round(3)
    array([[2., 1.],
           [1., 2.]])
    """

    domain: ClassVar[Domain] = Vectors()
    A: Items

    def _validate(self) -> None:
        check_psd_matrix(self.A, "Bilinear", "A")

    @property
    def _factor(self) -> Array:
        values, vectors = np.linalg.eigh(np.asarray(self.A, np.float64))
        keep = values > 1e-14 * max(values[-1], 0.0)
        return np.asarray(vectors[:, keep] * np.sqrt(values[keep]))

    def _map(self, X: Samples) -> Any:
        L = self._factor.astype(arrays.numpy_dtype(X))
        if X.shape[1] != len(L):
            raise DataError(f"Bilinear(A) has A of size {len(L)}, the data has {X.shape[1]} columns.", "M104")
        return X @ arrays.like(L, X)

    def _pull_back(self, X: Samples, gradients: Array) -> Any:
        return gradients @ arrays.like(self._factor.T, gradients)


@kernel
class Min(Additive):
    """min(x, z) on one non-negative column: the covariance of Brownian motion.

    Its space holds the functions with f(0) = 0 and ⟨f, g⟩ = ∫ f′g′: regression with it joins points by straight lines.

    See Also
    --------
    HistogramIntersection : The sum of minima over many columns.
    GeometricMin : 1/(1 − min(x, z)).

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Min()([[1.0], [2.0], [5.0]])
    array([[1., 1., 1.],
           [1., 2., 2.],
           [1., 2., 5.]])
    """

    domain: ClassVar[Domain] = Vectors(minimum=0.0, columns=1)

    def _term(self, x: Symbol, z: Symbol) -> Any:
        return minimum(x, z)


@kernel
class GeometricMin(Additive):
    """1/(1 − min(x, z)) = Σ_i min(x, z)^i on one column, 0 ≤ x, z < 1.

    It diverges at 1; other values are refused with their row.

    See Also
    --------
    Min : min(x, z).
    geometric : 1/(1 − k) of any kernel.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.GeometricMin()([[0.0], [0.5], [0.75]])
    array([[1., 1., 1.],
           [1., 2., 2.],
           [1., 2., 4.]])
    """

    domain: ClassVar[Domain] = Vectors(minimum=0.0, below=1.0, columns=1)

    def _term(self, x: Symbol, z: Symbol) -> Any:
        return minimum(x, z)

    def _profile(self, s: Symbol) -> Any:
        return 1.0 / (1.0 - s)


@kernel
class AllSubsets(Columnwise):
    """Π_j (1 + x_j z_j): one feature Π_{j∈A} x_j for each subset A of the columns.

    Interactions of all orders between different columns, 2^d features at the cost of d steps per value. Values grow
    quickly with the number of columns: scale the columns down, or take ``normalized()``.

    See Also
    --------
    Anova : Subsets of one size.
    Polynomial : Powers of a column as well.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.AllSubsets()([[1.0, 2.0]], [[3.0, 1.0]])
    array([[12.]])
    """

    _over_columns = "product"

    def _start(self) -> tuple[float, ...]:
        return (1.0,)

    def _step(self, state: tuple[Any, ...], x: Symbol, z: Symbol) -> tuple[Any, ...]:
        return (state[0] + state[0] * (x * z),)


@kernel
class Anova(Columnwise):
    """Σ_{|A| = degree} Π_{j∈A} x_j z_j: one feature for each subset of exactly ``degree`` columns.

    Interactions of one order, without powers of a single column. Computed by the dynamic programme e_s ← e_s + x_j z_j
    e_(s−1): degree·d steps per value for C(d, degree) features.

    Parameters
    ----------
    degree : int, default=2
        At least 0. How many columns interact; 1 is the linear kernel.

    See Also
    --------
    AllSubsets : Subsets of all sizes.
    Polynomial : Powers of a column as well.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Anova(degree=2)([[1.0, 2.0, 3.0]], [[1.0, 1.0, 1.0]])  # 1·2 + 1·3 + 2·3
    array([[11.]])
    """

    degree: int = natural(2, minimum=0)

    def _start(self) -> tuple[float, ...]:
        return (1.0,) + (0.0,) * int(self.degree)

    def _step(self, state: tuple[Any, ...], x: Symbol, z: Symbol) -> tuple[Any, ...]:
        product = x * z
        return state[:1] + tuple(e + product * lower for lower, e in pairwise(state))

    def _column_terms(self, X: Samples, Y: Samples) -> list[ColumnTerm] | None:
        """One for each subset of ``degree`` columns, where there are few."""
        if math.comb(X.shape[1], int(self.degree)) > MOST:
            return None
        single = column_terms(Linear(), X, Y) or []
        return [
            term
            for chosen in combinations(single, int(self.degree))
            for term in product([each] for each in chosen) or []
        ]
