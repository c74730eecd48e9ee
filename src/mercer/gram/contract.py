"""What a Gram matrix is to whoever learns from it: a matrix that is asked for what is needed, never for what it is.

    values       rows(idx) sub(rows, cols) diag() dense() fresh(dtype) T, @ V, normal(V) = K^T(KV), astype(dtype)
    capabilities features(at_most) landmarks() sparse() at_hand(dtype) parts, and what it costs: cost, stored,
    recomputable, mixed, quick_products

Whether entries are stored, factored, or computed when asked for is the business of the classes of this package. All of
them stay inside ``Compute.memory``; which form pays for which use is said in ``policy`` alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index, Samples
from mercer.arrays import Array
from mercer.compute import Compute, human
from mercer.troubles import coded

if TYPE_CHECKING:
    from mercer.gram.factored import Features
    from mercer.gram.nystrom import Landmarks


def as_index(idx: Index, n: int) -> Any:
    """A number, list, mask or slice as a slice or an array of positions 0…n−1."""
    if isinstance(idx, slice) and (idx.step is None or idx.step > 0):
        return idx
    if isinstance(idx, slice):
        return np.arange(n)[idx]
    chosen = np.atleast_1d(arrays.to_numpy(idx))
    return np.arange(n)[chosen if chosen.size else chosen.astype(np.int64)]


def is_gram(X: Samples) -> bool:
    """Whether samples are given by their Gram matrix instead of as themselves."""
    return isinstance(X, Gram)


def precision(dtype: DTypeLike) -> np.dtype[Any]:
    wanted: np.dtype[Any] = np.dtype(dtype)
    if wanted.name not in ("float32", "float64"):
        raise ValueError(coded(f"A Gram matrix is of float32 or float64, not of {wanted}.", "M205"))
    return wanted


class Cost(IntEnum):
    """What a value costs against reading it back from memory."""

    CHEAP = 0  # no more than that
    COSTLY = 1  # more
    ANY = 2  # it is the work of a kernel of its own, and may cost anything: no pair is asked for twice


class Gram(ABC):
    """A matrix of kernel values that need not exist as numbers: what ``kernel.gram(X, Y)`` returns.

    Values are computed when they are asked for, in tiles and on all cores, and stay inside ``Compute.memory``: ``gram @
    v`` and ``gram.rows(i)`` work where an n × n array would not fit. Estimators and tests take a Gram in the place of
    data. ``numpy.asarray(gram)`` is ``gram.dense()``. The class is abstract; the methods without underscore are the
    contract of all kinds of matrices.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns.
    dtype : numpy.dtype
        float32 or float64, the precision of the values.
    compute : Compute
        Device, precision, memory and threads.
    name : str
        The kernel, for messages.
    cost : Cost
        What a value costs against reading it back from memory: CHEAP, COSTLY or ANY.
    stored : bool
        Whether values are read, not computed.
    recomputable : bool
        Whether values come from a known formula, and so again in any precision.
    mixed : bool
        Whether float32 and float64 values come from different places, the latter computed anew.
    quick_products : bool
        Whether a product with a vector costs less than its pairs.

    See Also
    --------
    DenseGram : A matrix of numbers.
    LowRankGram : A product of features.
    check_gram : Whether a matrix is a valid Gram matrix.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> gram = mc.Gaussian(0.5).gram(np.arange(6.0).reshape(6, 1))
    >>> gram
    <KernelGram 6 × 6 float64>
    >>> (gram @ np.ones(6)).round(3)
    array([1.753, 2.36 , 2.495, 2.495, 2.36 , 1.753])
    >>> gram.rows([0]).round(3)
    array([[1.   , 0.607, 0.135, 0.011, 0.   , 0.   ]])
    >>> gram.sub(slice(0, 2), [0, 1]).dense().round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
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
    def rows(self, idx: Index) -> Array:
        """K[idx, :] as an array, computed now.

        Parameters
        ----------
        idx : int, slice, mask or array of int
            The rows; one number gives an array of one row.

        Returns
        -------
        ndarray or torch.Tensor of shape (n_rows, n_columns)
            The values.
        """

    @abstractmethod
    def sub(self, rows: Index, cols: Index) -> Gram:
        """K[rows][:, cols] as a lazy matrix.

        Parameters
        ----------
        rows, cols : slice or array of int
            Which rows and columns; the same for both keeps a symmetric matrix symmetric.

        Returns
        -------
        Gram
            The part.
        """

    @abstractmethod
    def astype(self, dtype: DTypeLike) -> Gram:
        """The same matrix in another precision; a lazy one is computed anew in it, not rounded.

        Parameters
        ----------
        dtype : "float32" or "float64"
            The precision.

        Returns
        -------
        Gram
            The matrix in that precision.
        """

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
        """The transposed matrix, a Gram."""

    def dense(self, out: Array | None = None) -> Array:
        """The whole matrix as an array.

        Parameters
        ----------
        out : array, optional
            Where to write it. Its memory is the caller's, and no budget is asked.

        Returns
        -------
        ndarray or torch.Tensor of shape ``shape``
            The values; of a matrix that is stored, those themselves.

        Raises
        ------
        MemoryError
            Before anything is allocated, when the matrix would take more than ``compute.budget``; the message has the
            alternatives.
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
                coded(
                    f"A dense {n} × {m} matrix of {self.dtype} takes {human(need)}, the memory budget is"
                    f" {human(self.compute.budget)}. Either keep it lazy (gram @ v, gram.rows(i) and gram.sub(i, j)"
                    f" never store it), or halve it with {smaller}, or raise the budget:"
                    f" Compute(memory='{human(1.1 * need).replace(' ', '')}').",
                    "M401",
                )
            )
        return self._dense(out)

    def by_blocks(self) -> Iterator[tuple[slice, Gram]]:
        """The matrix in the blocks of rows in which its items are at hand: all of them, unless they are read anew in
        each pass.
        """
        yield slice(0, self.shape[0]), self

    def fresh(self, dtype: DTypeLike) -> Array:
        """The whole matrix as an array of this precision, in memory that the caller may overwrite."""
        return self.astype(dtype).dense()

    def _right(self, V: Any) -> Array:
        """What the matrix is multiplied with, checked."""
        V = V.toarray() if sparse.issparse(V) else V if arrays.is_tensor(V) else np.asarray(V)
        if V.ndim not in (1, 2) or V.shape[0] != self.shape[1]:
            raise ValueError(
                coded(
                    f"A {self.shape[0]} × {self.shape[1]} Gram matrix cannot be multiplied with an array of shape"
                    f" {tuple(V.shape)}.",
                    "M111",
                )
            )
        if not arrays.is_tensor(V) and V.dtype.kind not in "fiub":
            raise TypeError(coded(f"A Gram matrix is multiplied with real numbers, not with {V.dtype}.", "M102"))
        return V

    def __matmul__(self, V: ArrayLike) -> Array:
        """K V in float64, for a vector or a matrix V; K is not stored."""
        V = self._right(V)
        return self._product(V[:, None])[:, 0] if V.ndim == 1 else self._product(V)

    def normal(self, V: ArrayLike, between: Callable[[slice, Array], Array] | None = None) -> Array:
        """K^T h(K V) for a vector or a matrix V, each value of K computed once where that is possible.

        Parameters
        ----------
        V : array-like of shape (n_columns,) or (n_columns, m)
            What K is multiplied with.
        between : callable, optional
            h: given some rows, a slice, and K V there, an array of shape (n_rows, m), it returns what K^T is multiplied
            with. Called on several threads. None: the values themselves.

        Returns
        -------
        ndarray or torch.Tensor of the shape of V
        """
        V = self._right(V)
        out = self._normal(V[:, None] if V.ndim == 1 else V, between)
        return out[:, 0] if V.ndim == 1 else out

    def _normal(self, V: Array, between: Callable[[slice, Array], Array] | None = None) -> Array:
        values = self @ V
        return self.T @ (values if between is None else between(slice(0, self.shape[0]), values))

    # -- capabilities ------------------------------------------------------------------------------------------------

    def features(self, at_most: float = 0.75) -> Features | None:
        """Φ of K = Φ Ψ^T, where there is one that pays: what costs rows² then costs columns².

        Parameters
        ----------
        at_most : float, default=0.75
            Φ must have fewer columns than this share of the rows.

        Returns
        -------
        Features or None
            None where the matrix has no such factors.
        """
        return None

    def sparse(self) -> Any:
        """The matrix as a CSR array, where most of its values are 0; else None."""
        return None

    def landmarks(self) -> Landmarks | None:
        """C and L of K = C (L L^T)^−1 C^T, where the matrix is of that form: what costs rows² then costs passes over C.

        Returns
        -------
        Landmarks or None
        """
        return None

    def at_hand(self, dtype: DTypeLike) -> Array | None:
        """The values in host memory, if they are there in this precision, else None; not to be overwritten."""
        return None

    @property
    def parts(self) -> list[Gram]:
        """The matrices that this one is a weighted sum of, where it keeps them apart; else itself alone."""
        return [self]

    def weighted(self, weights: ArrayLike) -> Gram:
        """The sum of its parts with other weights.

        Parameters
        ----------
        weights : array-like of shape (n_parts,)
            One for each of ``parts``, at least 0.

        Returns
        -------
        Gram
            The sum; its parts are the same.
        """
        from mercer.gram.summed import SumGram

        return SumGram(self.parts, weights)

    def products(self, V: Any) -> Array:
        """K_m V of each of its ``parts``, whatever their weights.

        Parameters
        ----------
        V : array-like of shape (n_columns,) or (n_columns, m)
            What the parts are multiplied with.

        Returns
        -------
        ndarray of shape (n_parts, n_rows) or (n_parts, n_rows, m)
            In float64.
        """
        return np.stack([np.asarray(arrays.to_numpy(part @ V)) for part in self.parts])

    def compiled(self) -> Gram:
        """The same matrix by compiled code, however small: for a compiled solver, which may ask for it often."""
        return self

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Any:
        return np.asarray(arrays.to_numpy(self.dense()), dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.shape[0]} × {self.shape[1]} {self.dtype}>"
