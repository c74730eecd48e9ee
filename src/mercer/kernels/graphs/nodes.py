"""Kernels between the vertices of one graph, functions of its Laplacian: one file, since all are spectral.

Small graphs are diagonalised once, by the graph itself: another kernel or parameter costs a scaling. On large ones only
the columns that are asked for are computed, by products with the sparse operator; there is never an n × n matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial.chebyshev import chebval
from scipy import sparse
from scipy.fft import dct
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from mercer.annotations import Items, Samples
from mercer.arrays import Array
from mercer.compute import bounds
from mercer.data import Domain, chunks
from mercer.data.networks import Network, Vertices
from mercer.formula import dot, sqnorm
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.parameters import natural, nonnegative, positive
from mercer.runtime import threads
from mercer.troubles import coded

_DENSE = 3000  # vertices, up to which the spectrum is computed
_EXACT, _CLOSE = 1e-14, 1e-12  # terms that do not matter; what is close enough
_MOST_TERMS = 2**16
_COLUMNS = 64  # computed together: few enough to stay in a cache


class OnVertices(Kernel):
    """U f(Λ) U^T, UΛU^T an operator of the graph: leaves ``operator`` and ``_values``, f of the eigenvalues, to write.

    ``_applied``, f(operator) times some columns, is by Chebyshev polynomials unless a kernel knows better.
    """

    _halves: ClassVar[bool] = True
    operator: ClassVar[str]
    signed: ClassVar[bool] = False
    graph: Any

    def _validate(self) -> None:
        self.graph = Network.of(self.graph, signed=self.signed)

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return Vertices(self.graph)

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return len(self.graph) <= _DENSE

    def _values(self, eigenvalues: Array) -> Array:
        raise NotImplementedError

    def _finite(self, eigenvalues: Array) -> Array:
        """``_values``, or an error where one is more than a float holds."""
        with np.errstate(over="ignore", invalid="ignore"):
            f = self._values(eigenvalues)
        if not np.isfinite(f).all():
            raise FloatingPointError(
                coded(
                    f"{self} has no finite value for the eigenvalue {eigenvalues[np.argmax(~np.isfinite(f))]:.3g}:"
                    " scale the weights or parameters.",
                    "M210",
                )
            )
        return f

    def _applied(self, X: Array) -> Array:
        return chebyshev(self.graph.operator(self.operator), self._finite, X)

    def _prepare(self, X: Samples) -> Any:
        if not self.explicit:
            return X
        values, vectors = self.graph.spectrum(self.operator)
        f = self._finite(values)
        return vectors[X.ids] * np.sqrt(np.maximum(f, 0.0))

    def _columns(self, ids: Array) -> Array:
        """K e_j for some vertices j."""
        out = np.empty((len(self.graph), len(ids)))
        for some in chunks(len(ids), _COLUMNS):
            if threads.stopping():
                break
            unit = np.zeros((len(self.graph), some.stop - some.start))
            unit[ids[some], np.arange(unit.shape[1])] = 1.0
            out[:, some] = self._applied(unit)
        return out

    def _block(self, A: Items, B: Items) -> Any:
        if self.explicit:
            return dot(A, B)
        if hasattr(A, "__formula__"):
            raise TypeError("vertices are looked up by number, not by symbol")
        key, room = (
            f"{type(self).__name__} {self.get_params(deep=False)}",
            max(1, bounds().budget // (32 * len(self.graph))),
        )
        values, place = self.graph.columns(key, B.ids, self._columns, room)
        return values[np.ix_(A.ids, place)]

    def _diag(self, A: Items) -> Any:
        if self.explicit:
            return sqnorm(A)
        if hasattr(A, "__formula__"):
            raise TypeError("vertices are looked up by number, not by symbol")
        out = np.empty(len(A))
        for some in chunks(len(A), _COLUMNS):
            out[some] = self._columns(A.ids[some])[A.ids[some], np.arange(some.stop - some.start)]
        return out

    def _width(self, A: Items) -> int:
        return int(A.shape[1])

    def _features(self, A: Items) -> Any:
        return A


def chebyshev(M: sparse.csr_array, f: Callable[[Array], Array], X: Array) -> Array:
    """f(M) X for a symmetric sparse M by a series of Chebyshev polynomials on an interval that holds its spectrum, as
    long as its terms matter.
    """
    low, high = _interval(M)
    middle, half = (high + low) / 2, (high - low) / 2
    look = np.cos(np.linspace(0.0, np.pi, 101))
    wanted, count = f(middle + half * look), 32
    while True:
        nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
        c = dct(f(middle + half * nodes), type=2) / count
        c[0] /= 2
        if np.abs(chebval(look, c) - wanted).max() <= _CLOSE * np.abs(wanted).max():
            break
        count *= 2
        if count > _MOST_TERMS:
            raise FloatingPointError(
                coded(
                    f"No polynomial of {_MOST_TERMS} terms follows this kernel over the spectrum up to {high:.3g}.",
                    "M210",
                )
            )
    used = int(np.max(np.flatnonzero(np.abs(c) > _EXACT * np.abs(c).max()), initial=0)) + 1
    scaled = sparse.csr_array((M - middle * sparse.eye_array(len(X))) / half)
    before, now, total = X.copy(), scaled @ X, c[0] * X
    for k in range(1, used):
        if threads.stopping():
            break
        total += c[k] * now
        after = scaled @ now
        after *= 2.0
        after -= before
        before, now = now, after
    return total


def _interval(M: sparse.csr_array) -> tuple[float, float]:
    """An interval that holds the spectrum: by Lanczos with a margin, within Gershgorin's."""
    reach, diagonal = np.asarray(abs(M).sum(axis=1)).ravel(), M.diagonal()
    bounds = (
        float(np.min(diagonal + np.abs(diagonal) - reach, initial=0.0)),
        float(np.max(diagonal - np.abs(diagonal) + reach, initial=0.0)),
    )
    start = np.random.default_rng(0).standard_normal(M.shape[0])
    low, high = bounds
    try:
        high = float(eigsh(M, 1, which="LA", v0=start, tol=1e-4, return_eigenvectors=False)[0])
        if low < -_EXACT * max(1.0, abs(high)):  # else 0, exactly: a Laplacian
            low = float(eigsh(M, 1, which="SA", v0=start, tol=1e-4, return_eigenvectors=False)[0])
    except ArpackNoConvergence:
        low, high = bounds
    margin = 0.05 * max(abs(low), abs(high), 1e-12)
    return (max(bounds[0], low - margin) if low < 0 else 0.0), max(min(bounds[1], high + margin), 1e-9)


def conjugate_gradients(M: sparse.csr_array, B: Array) -> Array:
    """M⁻¹B for a symmetric positive (semi-)definite sparse M and B in its range, all columns at once, scaled by the
    diagonal.
    """
    diagonal = M.diagonal()
    scale = 1.0 / np.where(diagonal > 0, diagonal, 1.0)[:, None]
    X, R = np.zeros_like(B), B.copy()
    Z = scale * R
    P, rz = Z.copy(), np.einsum("ij,ij->j", R, Z)
    goal = _CLOSE**2 * rz
    for _ in range(4 * len(B) + 1000):
        if (rz <= goal).all() or threads.stopping():
            return X
        V = M @ P
        step = np.where(rz > 0, rz / np.maximum(np.einsum("ij,ij->j", P, V), 1e-300), 0.0)
        X += step * P
        R -= step * V
        Z = scale * R
        fresh = np.einsum("ij,ij->j", R, Z)
        P = Z + np.where(rz > 0, fresh / np.maximum(rz, 1e-300), 0.0) * P
        rz = fresh
    raise FloatingPointError(
        coded(
            "The linear system of this kernel is too ill-conditioned for conjugate gradients; take a smaller sigma.",
            "M307",
        )
    )


@kernel
class Diffusion(OnVertices):
    """exp(−β L), L = D − W: heat after a time β on a graph, the kernel between its vertices.

    k(u, v) is the heat at v after a time β when it starts at u: vertices are alike when many short paths join them. Up
    to 3000 vertices the spectrum is computed once and kept with the ``Network``; on larger graphs only the columns
    asked for.

    Parameters
    ----------
    graph : Network, or what ``Network`` takes
        The graph with weights ≥ 0. Samples are its vertices: their names, or numbers 0 … n − 1. Give several kernels
        one ``Network``, so that they share its spectrum.
    beta : float, default=1.0
        β ≥ 0, the time: 0 is the identity, and for large values all vertices of a component are alike.

    See Also
    --------
    RegularizedLaplacian : (I + σ² L)⁻¹, with heavier tails.
    PStepWalk : Walks of up to p steps.
    Network : The graph.

    References
    ----------
    .. [1] R. I. Kondor and J. Lafferty. Diffusion kernels on graphs and other discrete input spaces. ICML 2002.

    Examples
    --------
    >>> import mercer as mc
    >>> friends = mc.Network([("Ann", "Bob"), ("Bob", "Cid"), ("Cid", "Dan")])
    >>> mc.Diffusion(friends, beta=0.5)(["Ann"], ["Ann", "Bob", "Dan"]).round(3)
    array([[0.674, 0.258, 0.01 ]])
    """

    operator: ClassVar[str] = "laplacian"
    graph: Any
    beta: float = nonnegative(1.0, continuous=False)

    def _values(self, eigenvalues: Array) -> Array:
        return np.exp(-float(self.beta) * np.maximum(eigenvalues, 0.0))


@kernel
class ExponentialDiffusion(OnVertices):
    """exp(β B), B a symmetric matrix of similarities between the vertices of a graph.

    Positive semi-definite whatever the signs in B: Σ_p β^p B^p/p! adds up chains of similarities of all lengths.

    Parameters
    ----------
    graph : Network, or what ``Network`` takes
        B, whose weights may be negative. Samples are its vertices: their names, or numbers 0 … n − 1.
    beta : float, default=1.0
        β ≥ 0: large values weigh long chains more.

    See Also
    --------
    Diffusion : The same of the Laplacian.
    MatrixPower : Chains of one length.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> B = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, -0.5], [0.0, -0.5, 1.0]])
    >>> mc.ExponentialDiffusion(B, beta=0.5)([0, 1, 2]).round(3)
    array([[ 1.701,  0.421, -0.052],
           [ 0.421,  1.753, -0.421],
           [-0.052, -0.421,  1.701]])
    """

    operator: ClassVar[str] = "weights"
    signed: ClassVar[bool] = True
    graph: Any
    beta: float = nonnegative(1.0, continuous=False)

    def _values(self, eigenvalues: Array) -> Array:
        return np.exp(float(self.beta) * eigenvalues)


@kernel
class MatrixPower(OnVertices):
    """B^p, B a symmetric matrix of similarities between the vertices of a graph, p even.

    With p = 2 two objects are alike when they are similar to the same ones; the result is positive semi-definite
    whatever the signs in B.

    Parameters
    ----------
    graph : Network, or what ``Network`` takes
        B, whose weights may be negative. Samples are its vertices: their names, or numbers 0 … n − 1.
    p : int, default=2
        An even number of at least 2; an odd power would keep negative eigenvalues.

    See Also
    --------
    ExponentialDiffusion : All powers together.

    Examples
    --------
    >>> import mercer as mc
    >>> citations = mc.Network([("a", "b"), ("b", "c"), ("c", "d")])
    >>> mc.MatrixPower(citations)(["b"], ["b", "d"]).round(3)
    array([[2., 1.]])
    """

    operator: ClassVar[str] = "weights"
    signed: ClassVar[bool] = True
    graph: Any
    p: int = natural(2)

    def _validate(self) -> None:
        super()._validate()
        if self.p % 2:
            raise ValueError(
                coded(
                    f"MatrixPower(p={self.p}): p must be even; an odd power keeps negative eigenvalues, and is not a"
                    " kernel.",
                    "M209",
                )
            )

    def _values(self, eigenvalues: Array) -> Array:
        return eigenvalues ** int(self.p)

    def _applied(self, X: Array) -> Array:
        return _power(self.graph.operator(self.operator), int(self.p), X)


@kernel
class RegularizedLaplacian(OnVertices):
    """(I + σ² L)⁻¹, L = D − W: the regularised Laplacian kernel between the vertices of a graph.

    Functions of its space have the norm ‖f‖² = Σ_u f(u)² + σ² Σ_{edges} w_uv (f(u) − f(v))²: they are smooth along
    edges. On more than 3000 vertices columns come from conjugate gradients.

    Parameters
    ----------
    graph : Network, or what ``Network`` takes
        The graph with weights ≥ 0. Samples are its vertices: their names, or numbers 0 … n − 1.
    sigma : float, default=1.0
        σ > 0: how far likeness reaches.

    See Also
    --------
    Diffusion : exp(−β L).
    CommuteTime : The pseudo-inverse of L.

    References
    ----------
    .. [1] A. J. Smola and R. Kondor. Kernels and regularization on graphs. COLT 2003.

    Examples
    --------
    >>> import mercer as mc
    >>> ring = mc.Network([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> mc.RegularizedLaplacian(ring, sigma=1.0)([0], [0, 1, 2]).round(3)
    array([[0.467, 0.2  , 0.133]])
    """

    operator: ClassVar[str] = "laplacian"
    graph: Any
    sigma: float = positive(1.0, continuous=False)

    def _values(self, eigenvalues: Array) -> Array:
        rounding = (
            10 * len(eigenvalues) * np.finfo(np.float64).eps * float(np.abs(eigenvalues).max(initial=0.0))
        )  # of the zeros, one for each component
        return 1.0 / (1.0 + np.square(float(self.sigma)) * np.where(eigenvalues > rounding, eigenvalues, 0.0))

    def _applied(self, X: Array) -> Array:
        return conjugate_gradients(
            sparse.eye_array(len(X)) + np.square(float(self.sigma)) * self.graph.operator(self.operator), X
        )


@kernel
class PStepWalk(OnVertices):
    """(aI − L_sym)^p, L_sym = I − D^−½WD^−½, a ≥ 2: walks of up to p steps between the vertices of a graph.

    Vertices that are more than p edges apart have the value 0.

    Parameters
    ----------
    graph : Network, or what ``Network`` takes
        The graph with weights ≥ 0. Samples are its vertices: their names, or numbers 0 … n − 1.
    a : float, default=2.0
        At least 2, the bound of the eigenvalues of L_sym; large values weigh staying in place more.
    p : int, default=2
        The number of steps, at least 1.

    See Also
    --------
    Diffusion : Walks of all lengths.

    References
    ----------
    .. [1] A. J. Smola and R. Kondor. Kernels and regularization on graphs. COLT 2003.

    Examples
    --------
    >>> import mercer as mc
    >>> path = mc.Network([(0, 1), (1, 2), (2, 3)])
    >>> mc.PStepWalk(path, p=2)([0], [0, 1, 2]).round(3)
    array([[1.5  , 1.414, 0.354]])
    """

    operator: ClassVar[str] = "normalized"
    graph: Any
    a: float = positive(2.0, continuous=False)
    p: int = natural(2)

    def _validate(self) -> None:
        super()._validate()
        if not self.a >= 2:
            raise ValueError(
                coded(
                    f"PStepWalk(a={self.a}): a must be at least 2, the bound of the eigenvalues of L_sym; with less it"
                    " is not a kernel.",
                    "M205",
                )
            )

    def _values(self, eigenvalues: Array) -> Array:
        return np.maximum(float(self.a) - eigenvalues, 0.0) ** int(self.p)

    def _applied(self, X: Array) -> Array:
        return _power(float(self.a) * sparse.eye_array(len(X)) - self.graph.operator(self.operator), int(self.p), X)


def _power(M: sparse.csr_array, p: int, X: Array) -> Array:
    for _ in range(p):
        X = M @ X
    return X


@kernel
class CommuteTime(OnVertices):
    """L⁺, the pseudo-inverse of L = D − W: distances in its feature space are commute times of a random walk.

    k(x, x) + k(z, z) − 2k(x, z) is the mean number of steps from x to z and back, divided by Σ W. Vertices of different
    components have the value 0. On more than 3000 vertices columns come from conjugate gradients.

    Parameters
    ----------
    graph : Network, or what ``Network`` takes
        The graph with weights ≥ 0. Samples are its vertices: their names, or numbers 0 … n − 1.

    See Also
    --------
    RegularizedLaplacian : (I + σ² L)⁻¹.

    References
    ----------
    .. [1] F. Fouss, A. Pirotte, J.-M. Renders and M. Saerens. Random-walk computation of similarities between nodes of
       a
       graph. IEEE TKDE 19, 2007.

    Examples
    --------
    >>> import mercer as mc
    >>> k = mc.CommuteTime(mc.Network([(0, 1), (1, 2)]))
    >>> (mc.distance(k, [0, 1, 2]) ** 2 * 4).round(3)  # Σ W = 4: there and back in 4 steps, or 8
    array([[0., 4., 8.],
           [4., 0., 4.],
           [8., 4., 0.]])
    """

    operator: ClassVar[str] = "laplacian"
    graph: Any

    def _values(self, eigenvalues: Array) -> Array:
        tolerance = len(eigenvalues) * np.finfo(np.float64).eps * float(np.abs(eigenvalues).max(initial=1.0))
        return np.where(eigenvalues > tolerance, 1.0 / np.where(eigenvalues > tolerance, eigenvalues, 1.0), 0.0)

    def _applied(self, X: Array) -> Array:
        count, part = connected_components(self.graph.W, directed=False)
        mean = sparse.csr_array((1.0 / np.bincount(part)[part], (part, np.arange(len(part)))), shape=(count, len(part)))
        Z = conjugate_gradients(self.graph.operator(self.operator), X - (mean @ X)[part])
        out: Array = Z - (mean @ Z)[part]
        return out
