"""The lazy matrix K(X, Y).

Solvers see a matrix and nothing of data: ``shape dtype rows(idx) sub(rows, cols) astype(dtype) diag() @ T dense()`` and
``normal(V) = K^T(KV)``. Whether its entries are stored, factored, or computed when asked for is the business of the classes here.
All of them stay inside ``Compute.memory``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from mercer import backend, threads
from mercer.backend import Array, Compute, human
from mercer.data import Coded, chunks, leaves, meet, size, take
from mercer.engine.expression import Node, VectorParameter, log_derivative, parameter, parameter_names, symbolic, trace, trace_items
from mercer.engine.tiles import NonFinite, Tiles
from mercer.threads import cached_property


def as_index(idx: Any, n: int) -> Any:
    """A number, list, mask or slice as a slice or an array of positions 0…n−1."""
    if isinstance(idx, slice) and (idx.step is None or idx.step > 0):
        return idx
    if isinstance(idx, slice):
        return np.arange(n)[idx]
    chosen = np.atleast_1d(backend.to_numpy(idx))
    return np.arange(n)[chosen if chosen.size else chosen.astype(np.int64)]


def _precision(dtype: Any) -> np.dtype[Any]:
    wanted: np.dtype[Any] = np.dtype(dtype)
    if wanted.name not in ("float32", "float64"):
        raise ValueError(f"A Gram matrix is of float32 or float64, not of {wanted}.")
    return wanted


_WORTH_COMPILING = 2**20  # values
_STRIP = 512  # rows that are multiplied in one task
_FEW = 64  # blocks that are copied one by one
_STORED_WHOLE = 16_384  # rows


class Gram(ABC):
    """A matrix of kernel values that need not exist as numbers. Abstract; the methods without underscore are the contract."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    compute: Compute
    dear = False  # whether a value costs more to compute than to read back from memory
    opaque = False  # whether it is the work of a kernel of its own, which may cost anything
    name = "of these features"  # the kernel, for messages

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
        """The whole matrix as an array, or a MemoryError before anything is allocated; written into ``out``, if given."""
        need = self.shape[0] * self.shape[1] * self.dtype.itemsize
        if need > self.compute.budget and out is None:
            n, m = self.shape
            smaller = f"Compute(dtype='float32') ({human(need // 2)})" if self.dtype.itemsize == 8 else "fewer rows (gram.rows, gram.sub)"
            raise MemoryError(
                f"A dense {n} × {m} matrix of {self.dtype} takes {human(need)}, the memory budget is {human(self.compute.budget)}. "
                f"Either keep it lazy (gram @ v, gram.rows(i) and gram.sub(i, j) never store it), "
                f"or halve it with {smaller}, or raise the budget: Compute(memory='{human(1.1 * need).replace(' ', '')}')."
            )
        return self._dense(out)

    def _right(self, V: Any) -> Array:
        """What the matrix is multiplied with, checked."""
        V = V.toarray() if sparse.issparse(V) else V if backend.is_tensor(V) else np.asarray(V)
        if V.ndim not in (1, 2) or V.shape[0] != self.shape[1]:
            raise ValueError(f"A {self.shape[0]} × {self.shape[1]} Gram matrix cannot be multiplied with an array of shape {tuple(V.shape)}.")
        if not backend.is_tensor(V) and V.dtype.kind not in "fiub":
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

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(backend.to_numpy(self.dense()), dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.shape[0]} × {self.shape[1]} {self.dtype}>"


class KernelGram(Gram):
    """Values of a formula between two sets of items, computed in tiles when asked for and never stored.

    Memory: a few tiles per thread, and a centred copy of the items where that fits a quarter of the budget.
    """

    def __init__(self, tiles: Tiles, name: str, cure: str, *, as_numpy: bool) -> None:
        self._tiles, self.name, self._cure, self._as_numpy = tiles, name, cure, as_numpy
        self.shape, self.dtype, self.compute = tiles.shape, tiles.dtype, tiles.compute

    @classmethod
    def of(cls, kernel: Any, A: Any, B: Any, compute: Compute, *, mirror: bool = True, name: str = "") -> KernelGram:
        """The Gram of a kernel (anything with ``_block`` and ``_diag``) between prepared items.

        If ``B is A``, one half is computed and mirrored; not so without ``mirror``, to see whether the kernel is symmetric.
        ``name`` is the kernel's in messages.
        """
        left, left_leaves, right, right_leaves = _symbols(A, B)
        diagonal = trace_items(kernel._diag, left) if B is A and mirror else None
        return cls._make(kernel, name or str(kernel), trace(kernel._block, left, right), left_leaves, right_leaves, A, B, compute, diagonal)

    @classmethod
    def gradients(cls, kernel: Any, symbols: Any, A: Any, B: Any, compute: Compute) -> dict[str, KernelGram]:
        """∂K/∂log θ for every parameter that occurs in the formula of ``symbols``, the kernel with symbols for parameters."""
        left, left_leaves, right, right_leaves = _symbols(A, B)
        formula = trace(symbols._block, left, right)
        diagonal = trace_items(symbols._diag, left) if B is A else None

        def gradient(name: str) -> KernelGram:
            d = None if diagonal is None else log_derivative(diagonal, name)
            return cls._make(kernel, str(kernel), log_derivative(formula, name), left_leaves, right_leaves, A, B, compute, d)

        return {name: gradient(name) for name in parameter_names(formula)}

    @classmethod
    def _make(
        cls, kernel: Any, name: str, formula: Node, left: list[Any], right: list[Any], A: Any, B: Any, compute: Compute, diagonal: Node | None
    ) -> KernelGram:
        tiles = Tiles(formula, left, right, (size(A), size(B)), common_dtype((A, B), compute), compute, diagonal)
        cure = getattr(kernel, "_cure", "Scale the data or the kernel's parameters")
        return cls(tiles, name, cure, as_numpy=not any(backend.is_tensor(x) for x in leaves((A, B))))

    def _out(self, x: Array) -> Array:
        return backend.to_numpy(x) if self._as_numpy else x

    def _view(self, tiles: Tiles) -> KernelGram:
        return KernelGram(tiles, self.name, self._cure, as_numpy=self._as_numpy)

    def rows(self, idx: Any) -> Array:
        idx = as_index(idx, self.shape[0])
        with self._naming(idx):
            out = self._tiles.sub(idx, slice(None)).store()
        if self._tiles.symmetric and self._tiles._diagonal_is_cheap:
            k = np.arange(self.shape[0])[idx]
            out[np.arange(len(k)), k] = self._tiles.diag()[k]
        return self._out(out)

    def sub(self, rows: Any, cols: Any) -> KernelGram:
        return self._view(self._tiles.sub(as_index(rows, self.shape[0]), as_index(cols, self.shape[1])))

    def astype(self, dtype: Any) -> KernelGram:
        return self._view(self._tiles.astype(_precision(dtype)))

    def compiled(self) -> KernelGram:
        """The same by compiled code, however small: for a solver that is compiled itself, and may ask for it often."""
        return self if self._tiles.fits or self.opaque else self._view(self._tiles.compiled())

    def diag(self) -> Array:
        return self._out(1 * self._tiles.diag())

    @property
    def T(self) -> KernelGram:
        return self if self._tiles.symmetric else self._view(self._tiles.T)

    @property
    def opaque(self) -> bool:  # type: ignore[override]
        return self._tiles.opaque

    @property
    def dear(self) -> bool:  # type: ignore[override]
        return (not self._tiles.fits or self._tiles.wide) and not backend.is_tensor(self._tiles._like)

    def _dense(self, out: Array | None = None) -> Array:
        with self._naming():
            return self._out(self._tiles.store(out))

    def _product(self, V: Array) -> Array:
        return self._finite_product(self._tiles.product(V), V)

    def _normal(self, V: Array) -> Array:
        return self._finite_product(self._tiles.normal(V), V)

    def _finite_product(self, values: Array, V: Array) -> Array:
        """A product that is not finite is the kernel's doing if what it was multiplied with is; then look for the pair."""
        if not backend.all_finite(values) and backend.all_finite(V):
            with self._naming():
                self._tiles.check_finite()
            raise FloatingPointError(f"The product with {self.name} overflows {self.dtype} though the kernel does not: use gram.astype('float64').")
        return self._out(values)

    @contextmanager
    def _naming(self, idx: Any = None) -> Iterator[None]:
        """Name the kernel and the pair in an error about a value that is not finite."""
        try:
            yield
        except NonFinite as found:
            i = found.row if idx is None else int(np.arange(self.shape[0])[idx][found.row])
            raise FloatingPointError(
                f"The kernel {self.name} gives {found.value} for the pair ({i}, {found.column}): row {i} of X with row {found.column} of "
                f"{'X' if self._tiles.symmetric else 'Y'}. {self._cure}" + (", or compute in float64." if self.dtype == np.float32 else ".")
            ) from None


def stored(gram: Gram) -> Gram:
    """The matrix in memory, where half the budget holds it; one with features, or beyond that, as it is."""
    if isinstance(gram, DenseGram | LowRankGram) or gram.shape[0] * gram.shape[1] * gram.dtype.itemsize > gram.compute.budget // 2:
        return gram
    return DenseGram(gram.dense(), gram.compute)


def _symbols(A: Any, B: Any) -> tuple[Any, list[Any], Any, list[Any]]:
    left, left_leaves = symbolic(A, "row")
    right, right_leaves = symbolic(B, "col")
    return left, left_leaves, right, left_leaves if B is A else right_leaves


def parameter_symbol(name: str, value: Any) -> Any:
    """What stands for a continuous parameter, a number or one per column, in a formula to be differentiated."""
    return VectorParameter(name, tuple(float(v) for v in value)) if hasattr(value, "__len__") else parameter(name, float(value))


def departures(symbol: Any) -> list[Node]:
    """θ/θ₀ − 1 for a parameter θ that is now θ₀, or for each of its components: 0, with the derivative 1 by log θ. Of plain numbers, none.

    For a parameter that has already gone into the prepared items: adding departure·slope to a formula says how it changes with the parameter.
    """
    if isinstance(symbol, VectorParameter):
        return [node for j, value in enumerate(symbol.values) for node in departures(parameter(f"{symbol.name}[{j}]", value))]
    return [symbol / symbol.data[1] - 1.0] if isinstance(symbol, Node) else []


def common_dtype(rep: Any, compute: Compute) -> np.dtype[Any]:
    """The precision to compute in: what was asked for, else float32 if all numbers are, else float64."""
    if compute.dtype is not None:
        return np.dtype("float32" if compute.dtype == "tf32" else compute.dtype)
    found = [backend.numpy_dtype(x) for x in leaves(rep) if hasattr(x, "dtype") and backend.numpy_dtype(x).kind == "f"]
    return np.result_type(*found) if found else np.dtype(np.float64)


def item_values(function: Callable[[Any], Any], A: Any, dtype: Any) -> Array:
    """A formula of one value per prepared item, evaluated."""
    symbols, found = symbolic(A, "row")
    formula = trace_items(function, symbols)
    return Tiles(formula, found, found, (size(A), size(A)), dtype, Compute(threads=1), diagonal=formula).diag()


class DenseGram(Gram):
    """A matrix that is already there (precomputed)."""

    def __init__(self, K: Any, compute: Compute | None = None) -> None:
        K = K if backend.is_tensor(K) else np.asarray(K)
        if K.ndim != 2:
            raise ValueError(f"A Gram matrix has two dimensions, got shape {K.shape}.")
        if backend.numpy_dtype(K).kind != "f":
            K = backend.astype(K, np.float64)
        self.K, self.compute = K, compute or Compute()
        self.shape, self.dtype = (K.shape[0], K.shape[1]), backend.numpy_dtype(K)

    def rows(self, idx: Any) -> Array:
        return take(self.K, as_index(idx, self.shape[0]))

    def sub(self, rows: Any, cols: Any) -> Gram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        if backend.is_tensor(self.K) or not (isinstance(rows, np.ndarray) and isinstance(cols, np.ndarray)):
            return DenseGram(take(take(self.K, rows).T, cols).T, self.compute)
        return DensePart(self, rows, cols)

    def astype(self, dtype: Any) -> DenseGram:
        return DenseGram(backend.astype(self.K, _precision(dtype)), self.compute)

    def diag(self) -> Array:
        k = np.arange(min(self.shape))
        return self.K[k, k]

    @property
    def T(self) -> DenseGram:
        return DenseGram(self.K.T, self.compute)

    def dense(self, out: Array | None = None) -> Array:
        return self._dense(out)  # it exists: there is no memory to refuse

    def _dense(self, out: Array | None = None) -> Array:
        if out is None:
            return self.K
        out[...] = self.K
        return out

    def _product(self, V: Array) -> Array:
        V = backend.astype(backend.like(V, self.K), self.dtype)
        if backend.is_tensor(self.K) or self.K.size < _WORTH_COMPILING:
            return backend.astype(self.K @ V, np.float64)
        out = np.empty((self.shape[0], V.shape[1]))

        def task(rows: slice) -> None:  # strips of fixed size: the same bits for any number of threads
            out[rows] = self.K[rows] @ V

        threads.run_tasks(task, chunks(self.shape[0], _STRIP), self.compute.workers)
        return out


def _gather_loop(K, rows, cols, out):  # type: ignore[no-untyped-def]
    for i in range(len(rows)):
        row, place = K[rows[i]], out[i]
        for j in range(len(cols)):
            place[j] = row[cols[j]]


def _runs(index: Array) -> list[tuple[slice, slice]]:
    """Places and values of an index that count up by one: a few blocks where whole classes are chosen."""
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(index) != 1) + 1, [len(index)]]) if len(index) else np.zeros(1, np.int64)
    return [(slice(a, b), slice(int(index[a]), int(index[a]) + b - a)) for a, b in pairwise(cuts.tolist())]


@cache
def _gather() -> Any:
    return backend.jit(_gather_loop)


class DensePart(Gram):
    """Some rows and columns of a matrix that is there, gathered when they are asked for."""

    def __init__(self, whole: DenseGram, rows: Array, cols: Array) -> None:
        self.whole, self.index, self.compute = whole, (rows, cols), whole.compute
        self.shape, self.dtype = (len(rows), len(cols)), whole.dtype

    @cached_property
    def _gathered(self) -> DenseGram:
        return DenseGram(self._dense(), self.compute)

    def rows(self, idx: Any) -> Array:
        return self._gathered.rows(idx)

    def sub(self, rows: Any, cols: Any) -> Gram:
        chosen = (as_index(rows, self.shape[0]), as_index(cols, self.shape[1]))
        return self.whole.sub(*(of[part] for of, part in zip(self.index, chosen, strict=True)))

    def astype(self, dtype: Any) -> Gram:
        return self if _precision(dtype) == self.dtype else self._gathered.astype(dtype)

    def diag(self) -> Array:
        n = min(self.shape)
        return self.whole.K[self.index[0][:n], self.index[1][:n]]

    @property
    def T(self) -> Gram:
        return self.whole.T.sub(*self.index[::-1])

    def dense(self, out: Array | None = None) -> Array:
        return self._dense(out)

    def _dense(self, out: Array | None = None) -> Array:
        out = np.empty(self.shape, self.dtype) if out is None else out
        runs = [_runs(index) for index in self.index]
        if len(runs[0]) * len(runs[1]) <= _FEW:
            for r, i in runs[0]:
                for c, j in runs[1]:
                    out[r, c] = self.whole.K[i, j]
        elif self.shape[0] * self.shape[1] < _WORTH_COMPILING:
            out[...] = self.whole.K[np.ix_(*self.index)]
        else:
            gather, (rows, cols) = _gather(), self.index
            threads.run_tasks(lambda i: gather(self.whole.K, rows[i], cols, out[i]), chunks(len(rows), 256), self.compute.workers)
        return out

    def _product(self, V: Array) -> Array:
        return self._gathered._product(V)


class LowRankGram(Gram):
    """Φ Ψ^T from feature matrices, dense or sparse: products cost the features, never n².

    ``diagonal``, for a symmetric one, is the exact diagonal where rounding in Φ Φ^T would miss it.
    """

    def __init__(self, left: Any, right: Any = None, compute: Compute | None = None, diagonal: Any = None) -> None:
        self.left, self.compute = left, compute or Compute()
        self.right = left if right is None else right
        self.diagonal = diagonal if self.right is self.left else None
        # whether the columns are the same in every such matrix of the kernel, or an open set that is numbered for each
        self.fixed = not isinstance(left, Coded)
        if self.left.shape[1] != self.right.shape[1]:
            raise ValueError(f"The feature matrices have {self.left.shape[1]} and {self.right.shape[1]} columns; they must agree.")
        for name, phi in (("X", self.left), ("Y", self.right)):
            if isinstance(phi, Coded):
                continue  # counts and their products
            if not backend.all_finite(phi.data if sparse.issparse(phi) else phi):
                finite = np.isfinite(phi.sum(axis=1) if sparse.issparse(phi) else backend.to_numpy(phi).sum(axis=1))
                raise FloatingPointError(
                    f"The features of row {int(np.argmin(finite))} of {name} are not finite. Scale the data, or compute in float64."
                )
        self.shape = (int(self.left.shape[0]), int(self.right.shape[0]))
        self.dtype = common_dtype((self.left, self.right), self.compute)

    def _lazy(self) -> KernelGram:
        if self.diagonal is not None:
            return KernelGram.of(_WithDiagonal, items := (self.left, self.diagonal), items, self.compute, name=self.name)
        return KernelGram.of(_InnerProduct, self.left, self.right, self.compute, name=self.name)

    def rows(self, idx: Any) -> Array:
        return self._lazy().rows(idx)

    def sub(self, rows: Any, cols: Any) -> LowRankGram:
        left, right = self._numbered  # once for all parts
        return self._like(take(left, as_index(rows, self.shape[0])), take(right, as_index(cols, self.shape[1])), self.compute)

    def astype(self, dtype: Any) -> LowRankGram:
        dtype = _precision(dtype)
        sides = self._numbered if "_numbered" in self.__dict__ else (self.left, self.right)
        left = backend.astype(sides[0], dtype)
        right = left if sides[1] is sides[0] else backend.astype(sides[1], dtype)
        diagonal = None if self.diagonal is None else backend.astype(self.diagonal, dtype)
        return self._like(left, right, Compute(**{**self.compute.__dict__, "dtype": None}), diagonal)

    def diag(self) -> Array:
        if self.diagonal is not None:
            return 1 * self.diagonal
        n = min(self.shape)
        left, right = (side[:n] for side in self._numbered)
        if sparse.issparse(left):
            return np.asarray(left.multiply(right).sum(axis=1)).reshape(-1)
        return backend.namespace(left).einsum("ij,ij->i", left, right)

    @property
    def T(self) -> LowRankGram:
        return self if self.right is self.left else self._like(self.right, self.left, self.compute)

    def _dense(self, out: Array | None = None) -> Array:
        return self._lazy()._dense(out)

    def _product(self, V: Array) -> Array:
        left, right = self._numbered
        V = backend.astype(backend.like(V, left), backend.numpy_dtype(left))
        with np.errstate(over="ignore", invalid="ignore"):
            product = backend.astype(left @ (right.T @ V), np.float64)
        if not backend.all_finite(product) and backend.all_finite(V):
            raise FloatingPointError(f"The product with a matrix of features overflows {self.dtype}. Scale the data, or compute in float64.")
        return product

    @cached_property
    def _numbered(self) -> tuple[Any, Any]:
        """The features with columns of their own; an open set of columns is numbered when a product with vectors first needs it."""
        return meet(self.left, self.right)

    @property
    def features(self) -> Any:
        """Φ, with columns of its own."""
        return self._numbered[0]

    @property
    def rows_and_scale(self) -> tuple[Any, Array]:
        """Φ as a matrix and one factor for each of its rows."""
        return self.features, np.ones(self.shape[0])

    @property
    def width(self) -> int:
        """How many features there are."""
        return int(self.features.shape[1])

    def _like(self, left: Any, right: Any, compute: Compute, diagonal: Any = None) -> LowRankGram:
        other = LowRankGram(left, right, compute, diagonal)
        other.fixed, other.name = self.fixed, self.name
        return other


class _InnerProduct:
    """⟨φ, ψ⟩ as the formula of prepared features."""

    @staticmethod
    def _block(A: Any, B: Any) -> Any:
        return backend.dot(A, B)

    @staticmethod
    def _diag(A: Any) -> Any:
        return backend.sqnorm(A)


class _WithDiagonal:
    """The same for features and their known squared norms."""

    @staticmethod
    def _block(A: Any, B: Any) -> Any:
        return backend.dot(A[0], B[0])

    @staticmethod
    def _diag(A: Any) -> Any:
        return A[1]


class WeightedGram(Gram):
    """diag(u) K diag(v): weights on the rows and columns of another Gram."""

    def __init__(self, base: Gram, u: Any, v: Any = None) -> None:
        self.base, self.compute = base, base.compute
        self.shape, self.dtype = base.shape, base.dtype
        self.u = u if backend.is_tensor(u) else np.asarray(u)
        self.v = self.u if v is None else v if backend.is_tensor(v) else np.asarray(v)
        if (len(self.u), len(self.v)) != self.shape:
            raise ValueError(f"Weights of lengths {len(self.u)} and {len(self.v)} do not fit a {self.shape[0]} × {self.shape[1]} matrix.")

    def _weigh(self, values: Array, u: Array, v: Array) -> Array:
        return backend.astype(values * u[:, None] * v[None, :], self.dtype)

    def rows(self, idx: Any) -> Array:
        idx = as_index(idx, self.shape[0])
        return self._weigh(self.base.rows(idx), take(self.u, idx), self.v)

    def sub(self, rows: Any, cols: Any) -> WeightedGram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        return WeightedGram(self.base.sub(rows, cols), take(self.u, rows), take(self.v, cols))

    def astype(self, dtype: Any) -> WeightedGram:
        return WeightedGram(self.base.astype(dtype), self.u, self.v)

    def diag(self) -> Array:
        n = min(self.shape)
        return backend.astype(self.base.diag() * self.u[:n] * self.v[:n], self.dtype)

    @property
    def T(self) -> WeightedGram:
        return WeightedGram(self.base.T, self.v, self.u)

    def _dense(self, out: Array | None = None) -> Array:
        return DenseGram(self._weigh(self.base.dense(), self.u, self.v)).dense(out)

    def _product(self, V: Array) -> Array:
        return self.u[:, None] * self.base._product(self.v[:, None] * V)


class MixedGram(Gram):
    """float32 values from one Gram, all others from another that is the same matrix: stored or kept, and computed anew where digits matter.

    A part of it takes its part of the second only when that is asked for.
    """

    def __init__(self, base: Gram, single: Gram, part: tuple[Any, Any] | None = None) -> None:
        """``part``: rows and columns of ``base`` that ``single`` is of; None: all."""
        self._base, self.single, self.part = base, single, part
        self.compute, self.shape, self.dtype = base.compute, single.shape, base.dtype

    @classmethod
    def stored(cls, base: Gram) -> MixedGram:
        """The float32 values in memory: all at once for a matrix of moderate size. Beyond, a solver needs a part of it: rows as they are asked
        for, or, where fresh memory would cost more than the inner products, nothing."""
        lazy = base.astype(np.float32)
        if base.shape[0] <= _STORED_WHOLE and 4 * 4 * base.shape[0] * base.shape[1] <= base.compute.budget:
            return cls(base, DenseGram(lazy.dense(), base.compute))
        return cls(base, lazy if isinstance(lazy, KernelGram) and lazy._tiles.wide else CachedGram(lazy))

    @property
    def base(self) -> Gram:
        return self._base if self.part is None else self._base.sub(*self.part)

    def astype(self, dtype: Any) -> Gram:
        return self.single if _precision(dtype) == np.float32 else self.base.astype(dtype)

    def sub(self, rows: Any, cols: Any) -> MixedGram:
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        inner = self.part or (slice(None), slice(None))
        chosen = zip(inner, (rows, cols), self._base.shape, strict=True)
        first, second = (new if _all(of) else take(np.arange(n)[of], new) for of, new, n in chosen)
        return MixedGram(self._base, self.single.sub(rows, cols), (first, second))

    def rows(self, idx: Any) -> Array:
        return self.astype(self.dtype).rows(idx)

    def diag(self) -> Array:
        if self.part is not None and self.shape[0] == self.shape[1] and np.array_equal(*(np.arange(self._base.shape[0])[p] for p in self.part)):
            return take(self._base.diag(), self.part[0])
        return self.base.diag()

    @property
    def T(self) -> Gram:
        return MixedGram(self._base.T, self.single.T, None if self.part is None else self.part[::-1])

    def _dense(self, out: Array | None = None) -> Array:
        return self.astype(self.dtype).dense(out)

    def _product(self, V: Array) -> Array:
        return self.astype(self.dtype)._product(V)


def _all(chosen: Any) -> bool:
    return isinstance(chosen, slice) and chosen == slice(None)


class CachedGram(Gram):
    """Another Gram whose most recently used rows are kept: ``hits`` and ``misses`` count them. A square one is taken to be symmetric.

    capacity
        How many rows to keep; None: as many as a quarter of the memory budget holds.
    """

    def __init__(self, base: Gram, capacity: int | None = None) -> None:
        self.base, self.compute = base, base.compute
        self.shape, self.dtype = base.shape, base.dtype
        row = max(1, self.shape[1] * self.dtype.itemsize)
        self.capacity = max(1, self.compute.budget // 4 // row) if capacity is None else capacity
        if self.capacity < 1:
            raise ValueError(f"CachedGram(capacity={capacity}): keep at least one row.")
        self.hits = self.misses = 0
        self._kept: OrderedDict[int, Array] = OrderedDict()

    def rows(self, idx: Any) -> Array:
        wanted = [int(i) for i in np.arange(self.shape[0])[as_index(idx, self.shape[0])]]
        missing = [i for i in dict.fromkeys(wanted) if i not in self._kept]
        self.misses += len(missing)
        self.hits += len(wanted) - len(missing)
        # a copy of each row: a view would keep the whole batch alive
        fresh = {i: 1 * row for i, row in zip(missing, self.base.rows(np.array(missing)), strict=True)} if missing else {}
        out = backend.empty((len(wanted), self.shape[1]), self.dtype, next(iter(fresh.values()), next(iter(self._kept.values()), None)))
        for k, i in enumerate(wanted):
            out[k] = fresh[i] if i in fresh else self._kept[i]
        for i in dict.fromkeys(wanted):
            self._kept[i] = fresh[i] if i in fresh else self._kept[i]
            self._kept.move_to_end(i)
        while len(self._kept) > self.capacity:
            self._kept.popitem(last=False)
        return out

    def sub(self, rows: Any, cols: Any) -> Gram:
        """From rows that are kept, where the matrix is square and so many can be; all rows of some columns are the rows of those, transposed."""
        rows, cols = as_index(rows, self.shape[0]), as_index(cols, self.shape[1])
        square = self.shape[0] == self.shape[1]
        if square and isinstance(rows, np.ndarray) and len(rows) <= self.capacity:
            return DenseGram(take(self.rows(rows).T, cols).T, self.compute)
        if square and isinstance(rows, slice) and rows == slice(None) and isinstance(cols, np.ndarray) and len(cols) <= self.capacity:
            return DenseGram(self.rows(cols).T, self.compute)
        return self.base.sub(rows, cols)

    def astype(self, dtype: Any) -> CachedGram:
        return CachedGram(self.base.astype(dtype), self.capacity)

    def diag(self) -> Array:
        return self.base.diag()

    @property
    def T(self) -> Gram:
        return self.base.T

    def _dense(self, out: Array | None = None) -> Array:
        return self.base._dense(out)

    def _product(self, V: Array) -> Array:
        return self.base._product(V)

    def _normal(self, V: Array) -> Array:
        return self.base._normal(V)
