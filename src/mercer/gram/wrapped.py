"""Matrices made of others: with weights on rows and columns, with float32 and float64 values from two places, with rows
that are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index
from mercer.arrays import Array
from mercer.data import take
from mercer.engine.tiles import same_selection
from mercer.gram.contract import Cost, Gram, as_index, precision
from mercer.gram.factored import Features
from mercer.gram.stored import DenseGram
from mercer.troubles import coded


class WeightedGram(Gram):
    """diag(u) K diag(v): weights on the rows and columns of another Gram.

    Nothing is computed or copied; features and sparse forms of K are kept.

    Parameters
    ----------
    base : Gram
        K.
    u : array-like of shape (n,)
        The weights of the rows.
    v : array-like of shape (m,), optional
        The weights of the columns. None: those of the rows, for a symmetric matrix.

    See Also
    --------
    Outer : g(x) k(x, z) g(z) as a kernel, ``k * Outer(g)``.

    Examples
    --------
    >>> import mercer as mc
    >>> base = mc.Linear().gram([[1.0], [2.0]])
    >>> mc.WeightedGram(base, [1.0, 0.5]).dense()
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(self, base: Gram, u: Any, v: Any = None) -> None:
        self.base, self.compute = base, base.compute
        self.shape, self.dtype = base.shape, base.dtype
        self.u = u if arrays.is_tensor(u) else np.asarray(u)
        self.v = self.u if v is None else v if arrays.is_tensor(v) else np.asarray(v)
        if (len(self.u), len(self.v)) != self.shape:
            raise ValueError(
                coded(
                    f"Weights of lengths {len(self.u)} and {len(self.v)} do not fit a {self.shape[0]} × {self.shape[1]}"
                    " matrix.",
                    "M111",
                )
            )

    @property
    def cost(self) -> Cost:  # type: ignore[override]
        return self.base.cost

    @property
    def recomputable(self) -> bool:  # type: ignore[override]
        return self.base.recomputable

    @property
    def quick_products(self) -> bool:  # type: ignore[override]
        return self.base.quick_products

    def features(self, at_most: float = 0.75) -> Features | None:
        found = self.base.features(at_most) if self.v is self.u else None
        return None if found is None else found.weighted(self.u)

    def sparse(self) -> Any:
        found = self.base.sparse()
        return (
            None if found is None else sparse.csr_array(sparse.diags_array(self.u) @ found @ sparse.diags_array(self.v))
        )

    def _weigh(self, values: Array, u: Array, v: Array) -> Array:
        return arrays.astype(values * u[:, None] * v[None, :], self.dtype)

    def rows(self, idx: Index) -> Array:
        idx = as_index(idx, self.shape[0])
        return self._weigh(self.base.rows(idx), take(self.u, idx), self.v)

    def sub(self, rows: Index, cols: Index) -> WeightedGram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        same = self.v is self.u and same_selection(rows, cols, self.shape[0])
        return WeightedGram(self.base.sub(rows, cols), take(self.u, rows), None if same else take(self.v, cols))

    def astype(self, dtype: DTypeLike) -> WeightedGram:
        return WeightedGram(self.base.astype(dtype), self.u, self.v)

    def diag(self) -> Array:
        n = min(self.shape)
        return arrays.astype(self.base.diag() * self.u[:n] * self.v[:n], self.dtype)

    @property
    def T(self) -> WeightedGram:
        return WeightedGram(self.base.T, self.v, self.u)

    def _dense(self, out: Array | None = None) -> Array:
        K = self.base.fresh(self.dtype) if out is None else self.base.dense(out)
        K *= arrays.astype(self.u, self.dtype)[:, None]
        K *= arrays.astype(self.v, self.dtype)[None, :]
        return K

    def _product(self, V: Array) -> Array:
        return self.u[:, None] * self.base._product(self.v[:, None] * V)


class MixedGram(Gram):
    """float32 values from one Gram, all others from another that is the same matrix: stored or kept, and computed anew
    where digits matter.

    A part of it takes its part of the second only when that is asked for.
    """

    mixed = True

    def __init__(self, base: Gram, single: Gram, part: tuple[Any, Any] | None = None) -> None:
        """``part``: rows and columns of ``base`` that ``single`` is of; None: all."""
        self._base, self.single, self.part = base, single, part
        self.compute, self.shape, self.dtype = base.compute, single.shape, base.dtype

    @property
    def recomputable(self) -> bool:  # type: ignore[override]
        return self._base.recomputable

    @property
    def base(self) -> Gram:
        return self._base if self.part is None else self._base.sub(*self.part)

    def astype(self, dtype: DTypeLike) -> Gram:
        return self.single if precision(dtype) == np.float32 else self.base.astype(dtype)

    def sub(self, rows: Index, cols: Index) -> MixedGram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        inner = self.part or (slice(None), slice(None))
        chosen = zip(inner, (rows, cols), self._base.shape, strict=True)
        first, second = (new if _all(of) else take(np.arange(n)[of], new) for of, new, n in chosen)
        return MixedGram(self._base, self.single.sub(rows, cols), (first, second))

    def rows(self, idx: Index) -> Array:
        return self.astype(self.dtype).rows(idx)

    def diag(self) -> Array:
        if (
            self.part is not None
            and self.shape[0] == self.shape[1]
            and np.array_equal(*(np.arange(self._base.shape[0])[p] for p in self.part))
        ):
            return take(self._base.diag(), self.part[0])
        return self.base.diag()

    @property
    def T(self) -> Gram:
        return MixedGram(self._base.T, self.single.T, None if self.part is None else self.part[::-1])

    def fresh(self, dtype: DTypeLike) -> Array:
        return (self.single if precision(dtype) == np.float32 else self.base).fresh(dtype)

    def _dense(self, out: Array | None = None) -> Array:
        return self.astype(self.dtype).dense(out)

    def _product(self, V: Array) -> Array:
        return self.astype(self.dtype)._product(V)


def _all(chosen: Index) -> bool:
    return isinstance(chosen, slice) and chosen == slice(None)


class CachedGram(Gram):
    """Another Gram whose most recently used rows are kept, so that they are computed once.

    For algorithms that ask for the same rows again and again, where the whole matrix does not fit. A square one is
    taken to be symmetric: some columns are read as rows.

    Parameters
    ----------
    base : Gram
        The matrix.
    capacity : int, optional
        How many rows to keep. None: as many as a quarter of the memory budget holds.

    Attributes
    ----------
    hits : int
        How many rows were read back.
    misses : int
        How many were computed.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> gram = mc.CachedGram(mc.Gaussian(0.5).gram(np.arange(4.0).reshape(4, 1)), capacity=2)
    >>> gram.rows([0, 1]).shape, gram.rows([1]).shape
    ((2, 4), (1, 4))
    >>> gram.hits, gram.misses
    (1, 2)
    """

    def __init__(self, base: Gram, capacity: int | None = None) -> None:
        self.base, self.compute = base, base.compute
        self.shape, self.dtype = base.shape, base.dtype
        row = max(1, self.shape[1] * self.dtype.itemsize)
        self.capacity = max(1, self.compute.budget // 4 // row) if capacity is None else capacity
        if self.capacity < 1:
            raise ValueError(coded(f"CachedGram(capacity={capacity}): keep at least one row.", "M205"))
        self.hits = self.misses = 0
        self._kept: OrderedDict[int, Array] = OrderedDict()

    def rows(self, idx: Index) -> Array:
        wanted = [int(i) for i in np.arange(self.shape[0])[as_index(idx, self.shape[0])]]
        missing = [i for i in dict.fromkeys(wanted) if i not in self._kept]
        self.misses += len(missing)
        self.hits += len(wanted) - len(missing)
        # a copy of each row: a view would keep the whole batch alive
        fresh = (
            {i: 1 * row for i, row in zip(missing, self.base.rows(np.array(missing)), strict=True)} if missing else {}
        )
        out = arrays.empty(
            (len(wanted), self.shape[1]), self.dtype, next(iter(fresh.values()), next(iter(self._kept.values()), None))
        )
        for k, i in enumerate(wanted):
            out[k] = fresh[i] if i in fresh else self._kept[i]
        for i in dict.fromkeys(wanted):
            self._kept[i] = fresh[i] if i in fresh else self._kept[i]
            self._kept.move_to_end(i)
        while len(self._kept) > self.capacity:
            self._kept.popitem(last=False)
        return out

    @property
    def quick_products(self) -> bool:  # type: ignore[override]
        return self.base.quick_products

    def features(self, at_most: float = 0.75) -> Features | None:
        return self.base.features(at_most)

    def sparse(self) -> Any:
        return self.base.sparse()

    def sub(self, rows: Index, cols: Index) -> Gram:
        """From rows that are kept, where the matrix is square and so many can be; all rows of some columns are the rows
        of those, transposed.
        """
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        square = self.shape[0] == self.shape[1]
        if square and isinstance(rows, np.ndarray) and len(rows) <= self.capacity:
            return DenseGram(take(self.rows(rows).T, cols).T, self.compute)
        if (
            square
            and isinstance(rows, slice)
            and rows == slice(None)
            and isinstance(cols, np.ndarray)
            and len(cols) <= self.capacity
        ):
            return DenseGram(self.rows(cols).T, self.compute)
        return self.base.sub(rows, cols)

    def astype(self, dtype: DTypeLike) -> CachedGram:
        return CachedGram(self.base.astype(dtype), self.capacity)

    def diag(self) -> Array:
        return self.base.diag()

    @property
    def T(self) -> Gram:
        return self.base.T

    def fresh(self, dtype: DTypeLike) -> Array:
        return self.base.fresh(dtype)

    def _dense(self, out: Array | None = None) -> Array:
        return self.base._dense(out)

    def _product(self, V: Array) -> Array:
        return self.base._product(V)

    def _normal(self, V: Array, between: Callable[[slice, Array], Array] | None = None) -> Array:
        return self.base._normal(V, between)
