"""Matrices that are products of features, K = Φ Ψ^T: what is done with them costs the features, never n²."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index, Items
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import HashedRows, meet, take
from mercer.engine.tiles import same_selection
from mercer.formula import dot, sqnorm
from mercer.gram.computed import KernelGram, common_dtype
from mercer.gram.contract import Gram, as_index, precision
from mercer.runtime.threads import cached_property
from mercer.troubles import coded


class Features:
    """Φ of K = Φ Ψ^T. Made when they are looked at: to know that there are few costs nothing."""

    def __init__(self, gram: FactoredGram, factor: Array | None = None) -> None:
        """``factor``: of each row, on both sides."""
        self._gram, self._factor = gram, factor

    @property
    def width(self) -> int:
        """How many there are."""
        return self._gram.width

    @property
    def fixed(self) -> bool:
        """Whether the columns are the same in every matrix of the kernel, and not an open set that is numbered for
        each.
        """
        return self._gram.fixed

    @property
    def symmetric(self) -> bool:
        """Whether Ψ is Φ."""
        return self._gram.symmetric

    @cached_property
    def phi(self) -> Any:
        """(n, width), an array or CSR, with columns of its own."""
        phi, u = self._gram._numbered[0], self._factor
        if u is None:
            return phi
        return (
            sparse.csr_array(sparse.diags_array(u) @ phi)
            if sparse.issparse(phi)
            else arrays.like(u, phi)[:, None] * phi
        )

    @property
    def factored(self) -> tuple[Any, Array]:
        """Φ as a matrix and one factor for each of its rows: of counts, the counts themselves."""
        phi, factor = self._gram._factors()
        return phi, factor if self._factor is None else factor * self._factor

    @property
    def on_host(self) -> bool:
        return not arrays.is_tensor(self.phi)

    def array(self) -> Array:
        """Φ as a dense array of float64 on the host."""
        return np.asarray(self.phi.toarray() if sparse.issparse(self.phi) else arrays.to_numpy(self.phi), np.float64)

    def weighted(self, u: Array) -> Features:
        """Of diag(u) K diag(u)."""
        return Features(self._gram, u if self._factor is None else u * self._factor)


class FactoredGram(Gram):
    """A matrix with features: leaves ``_numbered`` and the formula of its values to write."""

    quick_products = True
    fixed = False

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Whether Ψ is Φ, and so the matrix symmetric."""

    @property
    @abstractmethod
    def _numbered(self) -> tuple[Any, Any]:
        """(Φ, Ψ) with columns of their own."""

    @abstractmethod
    def _lazy(self) -> KernelGram:
        """The same matrix by its pairs."""

    @property
    def width(self) -> int:
        """How many features, columns of Φ, there are."""
        return int(self._numbered[0].shape[1])

    def _factors(self) -> tuple[Any, Array]:
        """Φ as a matrix and one factor for each of its rows."""
        return self._numbered[0], np.ones(self.shape[0])

    def features(self, at_most: float = 0.75) -> Features | None:
        return Features(self) if self.width < at_most * self.shape[0] else None

    def rows(self, idx: Index) -> Array:
        return self._lazy().rows(idx)

    def _dense(self, out: Array | None = None) -> Array:
        return self._lazy()._dense(out)


class LowRankGram(FactoredGram):
    """Φ Ψ^T from feature matrices, dense or sparse: products cost the features, never n².

    Kernels with a finite feature map give it by themselves, ``Linear().gram(X)``; make one yourself from features of
    your own, such as a Nyström or random Fourier map, and give it to an estimator in the place of data.

    Parameters
    ----------
    left : ndarray, csr_array or torch.Tensor of shape (n, d)
        Φ, the features of the rows.
    right : ndarray, csr_array or torch.Tensor of shape (m, d), optional
        Ψ, the features of the columns. None: those of the rows, and the matrix is symmetric.
    compute : Compute, optional
        Device, precision, memory and threads.
    diagonal : ndarray of shape (n,), optional
        For a symmetric matrix, its exact diagonal where rounding in Φ Φ^T would miss it.

    See Also
    --------
    DenseGram : A matrix of numbers.
    Kernel.features : Φ of a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> Phi = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> gram = mc.LowRankGram(Phi)
    >>> gram.dense()
    array([[1., 1., 0.],
           [1., 2., 2.],
           [0., 2., 4.]])
    >>> gram @ np.array([1.0, 0.0, 1.0])
    array([1., 3., 4.])
    """

    def __init__(
        self, left: Items, right: Items = None, compute: Compute | None = None, diagonal: Array | None = None
    ) -> None:
        self.left, self.compute = left, compute or Compute()
        self.right = left if right is None else right
        self.diagonal = diagonal if self.right is self.left else None
        # whether the columns are the same in every such matrix of the kernel, or an open set that is numbered for each
        self.fixed = not isinstance(left, HashedRows)
        if self.left.shape[1] != self.right.shape[1]:
            raise ValueError(
                coded(
                    f"The feature matrices have {self.left.shape[1]} and {self.right.shape[1]} columns; they must"
                    " agree.",
                    "M104",
                )
            )
        for name, phi in (("X", self.left), ("Y", self.right)):
            if isinstance(phi, HashedRows):
                continue  # counts and their products
            if not arrays.all_finite(phi.data if sparse.issparse(phi) else phi):
                finite = np.isfinite(phi.sum(axis=1) if sparse.issparse(phi) else arrays.to_numpy(phi).sum(axis=1))
                raise FloatingPointError(
                    coded(
                        f"The features of row {int(np.argmin(finite))} of {name} are not finite. Scale the data, or"
                        " compute in float64.",
                        "M210",
                    )
                )
        self.shape = (int(self.left.shape[0]), int(self.right.shape[0]))
        self.dtype = common_dtype((self.left, self.right), self.compute)

    @property
    def symmetric(self) -> bool:
        return self.right is self.left

    def _lazy(self) -> KernelGram:
        if self.diagonal is not None:
            return KernelGram.of(
                _WithDiagonal, items := (self.left, self.diagonal), items, self.compute, name=self.name
            )
        return KernelGram.of(_InnerProduct, self.left, self.right, self.compute, name=self.name)

    def sub(self, rows: Index, cols: Index) -> LowRankGram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        left, right = self._numbered  # once for all parts
        part = take(left, rows)
        if not (self.symmetric and same_selection(rows, cols, self.shape[0])):
            return self._like(part, take(right, cols), self.compute)
        return self._like(part, part, self.compute, None if self.diagonal is None else take(self.diagonal, rows))

    def astype(self, dtype: DTypeLike) -> LowRankGram:
        dtype = precision(dtype)
        sides = self._numbered if "_numbered" in self.__dict__ else (self.left, self.right)
        left = arrays.astype(sides[0], dtype)
        right = left if sides[1] is sides[0] else arrays.astype(sides[1], dtype)
        diagonal = None if self.diagonal is None else arrays.astype(self.diagonal, dtype)
        return self._like(left, right, Compute(**{**self.compute.__dict__, "dtype": None}), diagonal)

    def diag(self) -> Array:
        if self.diagonal is not None:
            return 1 * self.diagonal
        left, right = self._numbered
        if sparse.issparse(left) and right is left:
            return arrays.squared_rows(left)
        left, right = (side[: min(self.shape)] for side in (left, right))
        if sparse.issparse(left):
            return np.asarray(left.multiply(right).sum(axis=1)).reshape(-1)
        return arrays.namespace(left).einsum("ij,ij->i", left, right)

    @property
    def T(self) -> LowRankGram:
        return self if self.right is self.left else self._like(self.right, self.left, self.compute)

    def _product(self, V: Array) -> Array:
        left, right = self._numbered
        V = arrays.astype(arrays.like(V, left), arrays.numpy_dtype(left))
        with np.errstate(over="ignore", invalid="ignore"):
            product = arrays.astype(left @ (right.T @ V), np.float64)
        if not arrays.all_finite(product) and arrays.all_finite(V):
            raise FloatingPointError(
                coded(
                    f"The product with a matrix of features overflows {self.dtype}. Scale the data, or compute in"
                    " float64.",
                    "M210",
                )
            )
        return product

    @cached_property
    def _numbered(self) -> tuple[Any, Any]:
        """The features with columns of their own; an open set of columns is numbered when a product with vectors first
        needs it.
        """
        return meet(self.left, self.right)

    def _like(self, left: Items, right: Items, compute: Compute, diagonal: Array | None = None) -> LowRankGram:
        other = LowRankGram(left, right, compute, diagonal)
        other.fixed, other.name = self.fixed, self.name
        return other


class _InnerProduct:
    """⟨φ, ψ⟩ as the formula of prepared features."""

    @staticmethod
    def _block(A: Items, B: Items) -> Any:
        return dot(A, B)

    @staticmethod
    def _diag(A: Items) -> Any:
        return sqnorm(A)


class _WithDiagonal:
    """The same for features and their known squared norms."""

    @staticmethod
    def _block(A: Items, B: Items) -> Any:
        return dot(A[0], B[0])

    @staticmethod
    def _diag(A: Items) -> Any:
        return A[1]
