"""What a Gram matrix is to whoever learns from it: a matrix that is asked for what is needed, never for what it is.

    values       rows(idx) sub(rows, cols) diag() dense() fresh(dtype) T, @ V, normal(V) = K^T(KV), astype(dtype)
    capabilities features(at_most) sparse() at_hand(dtype), and what it costs: cost, stored, recomputable, mixed,
    quick_products

Whether entries are stored, factored, or computed when asked for is the business of the classes of this package. All of
them stay inside ``Compute.memory``; which form pays for which use is said in ``policy`` alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.arrays import Array
from mercer.compute import Compute, human

if TYPE_CHECKING:
    from mercer.gram.factored import Features


def as_index(idx: Any, n: int) -> Any:
    """A number, list, mask or slice as a slice or an array of positions 0…n−1."""
    if isinstance(idx, slice) and (idx.step is None or idx.step > 0):
        return idx
    if isinstance(idx, slice):
        return np.arange(n)[idx]
    chosen = np.atleast_1d(arrays.to_numpy(idx))
    return np.arange(n)[chosen if chosen.size else chosen.astype(np.int64)]


def is_gram(X: Any) -> bool:
    """Whether samples are given by their Gram matrix instead of as themselves."""
    return isinstance(X, Gram)


def precision(dtype: Any) -> np.dtype[Any]:
    wanted: np.dtype[Any] = np.dtype(dtype)
    if wanted.name not in ("float32", "float64"):
        raise ValueError(f"A Gram matrix is of float32 or float64, not of {wanted}.")
    return wanted


class Cost(IntEnum):
    """What a value costs against reading it back from memory."""

    CHEAP = 0  # no more than that
    COSTLY = 1  # more
    ANY = 2  # it is the work of a kernel of its own, and may cost anything: no pair is asked for twice


class Gram(ABC):
    """A matrix of kernel values that need not exist as numbers. Abstract; the methods without underscore are the
    contract.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    compute: Compute
    name = "of these features"  # the kernel, for messages

    cost = Cost.CHEAP
    stored = False  # whether its values are read, not computed
    recomputable = False  # whether they come from a known formula, and so again in any precision
    mixed = False  # whether float32 and float64 values come from different places, the latter computed anew
    quick_products = False  # whether a product with a vector costs less than its pairs

    # -- values ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self, idx: Any) -> Array:
        """K[idx, :] as an array, computed now."""

    @abstractmethod
    def sub(self, rows: Any, cols: Any) -> Gram:
        """K[rows][:, cols] as a lazy matrix; slices or index arrays."""

    @abstractmethod
    def astype(self, dtype: Any) -> Gram:
        """The same matrix in another precision; a lazy one is computed anew in it, not rounded."""

    @abstractmethod
    def diag(self) -> Array:
        """The diagonal, without computing the rest."""

    @abstractmethod
    def _dense(self, out: Array | None = None) -> Array:
        """The whole matrix, in ``out`` if given; the memory budget has been checked."""

    @abstractmethod
    def _product(self, V: Array) -> Array:
        """K V for a V of two dimensions, in float64."""

    @property
    @abstractmethod
    def T(self) -> Gram:
        """The transposed matrix."""

    def dense(self, out: Array | None = None) -> Array:
        """The whole matrix as an array, or a MemoryError before anything is allocated; written into ``out``, if
        given.
        """
        need = self.shape[0] * self.shape[1] * self.dtype.itemsize
        if need > self.compute.budget and out is None:
            n, m = self.shape
            smaller = (
                f"Compute(dtype='float32') ({human(need // 2)})"
                if self.dtype.itemsize == 8
                else "fewer rows (gram.rows, gram.sub)"
            )
            raise MemoryError(
                f"A dense {n} × {m} matrix of {self.dtype} takes {human(need)}, the memory budget is"
                f" {human(self.compute.budget)}. Either keep it lazy (gram @ v, gram.rows(i) and gram.sub(i, j) never"
                f" store it), or halve it with {smaller}, or raise the budget:"
                f" Compute(memory='{human(1.1 * need).replace(' ', '')}')."
            )
        return self._dense(out)

    def fresh(self, dtype: Any) -> Array:
        """The whole matrix in this precision, in memory that the caller may overwrite."""
        return self.astype(dtype).dense()

    def _right(self, V: Any) -> Array:
        """What the matrix is multiplied with, checked."""
        V = V.toarray() if sparse.issparse(V) else V if arrays.is_tensor(V) else np.asarray(V)
        if V.ndim not in (1, 2) or V.shape[0] != self.shape[1]:
            raise ValueError(
                f"A {self.shape[0]} × {self.shape[1]} Gram matrix cannot be multiplied with an array of shape"
                f" {tuple(V.shape)}."
            )
        if not arrays.is_tensor(V) and V.dtype.kind not in "fiub":
            raise TypeError(f"A Gram matrix is multiplied with real numbers, not with {V.dtype}.")
        return V

    def __matmul__(self, V: Any) -> Array:
        V = self._right(V)
        return self._product(V[:, None])[:, 0] if V.ndim == 1 else self._product(V)

    def normal(self, V: Any) -> Array:
        """K^T (K V)."""
        V = self._right(V)
        out = self._normal(V[:, None] if V.ndim == 1 else V)
        return out[:, 0] if V.ndim == 1 else out

    def _normal(self, V: Array) -> Array:
        return self.T @ (self @ V)

    # -- capabilities ------------------------------------------------------------------------------------------------

    def features(self, at_most: float = 0.75) -> Features | None:
        """K = Φ Ψ^T, where Φ has fewer columns than this share of the rows: what costs rows² then costs columns²."""
        return None

    def sparse(self) -> Any:
        """The matrix as a CSR array, where most of its values are 0; else None."""
        return None

    def at_hand(self, dtype: Any) -> Array | None:
        """The values in host memory, if they are there in this precision; not to be overwritten."""
        return None

    def compiled(self) -> Gram:
        """The same by compiled code, however small: for a solver that is compiled itself, and may ask for it often."""
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(arrays.to_numpy(self.dense()), dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.shape[0]} × {self.shape[1]} {self.dtype}>"
