"""Reductions over the columns of the data, tile by tile: ⟨a, b⟩, ‖a − b‖², folds, and blocks that kernels compute
themselves.

Each block is made for two item sets, gives a tile with ``fill(rows, cols, out)``, and is restricted to some items by
``sub``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index, Items
from mercer.arrays import Array, is_tensor, namespace
from mercer.data import Bits, HashedRows, LazyCounts, chunks, size, take
from mercer.engine.bits import BitDot
from mercer.engine.expression import Fold, Node, VectorParameter, adds_up, fold_variable, walk
from mercer.engine.folds import compilable, compiled
from mercer.engine.joins import SparseDot
from mercer.engine.parts import PartsDot
from mercer.engine.steps import elementwise
from mercer.troubles import coded

if TYPE_CHECKING:
    from mercer.engine.tiles import Tiles

_AT_ONCE = 2**18  # column steps that are done together: columns are many where samples are few
_WORTH_COMPILING = 2**22  # column steps; fewer are done before a compiler has started
_WIDEST_DENSE_PANEL = 256  # columns; wider data is multiplied sparse × sparse
_WORTH_SINGLE = 2**18  # pairs, for which a look at all entries is cheap
_WORTH_JOINING = 2**16  # entries; fewer are multiplied before a compiler has started
# below this share of ‖a‖² + ‖b‖², a − b is subtracted before it is squared; by dtype, whose name is slow to read
TINY = {np.dtype(np.float64): 1e-4, np.dtype(np.float32): 1e-2}


def rebuild(symbols: Items, left: list[Any], right: list[Any], rows: Index = None, cols: Index = None) -> Any:
    """A representation from its symbols, restricted to some rows (left leaves) and columns (right leaves)."""
    if isinstance(symbols, tuple):
        return tuple(rebuild(s, left, right, rows, cols) for s in symbols)
    found, chosen = (left, rows) if symbols.kind == "row" else (right, cols)
    return found[symbols.data] if chosen is None else take(found[symbols.data], chosen)


def _numbers(symbols: Items) -> Any:
    """Which leaves the symbols stand for, whatever their side."""
    return tuple(map(_numbers, symbols)) if isinstance(symbols, tuple) else symbols.data


def _dense(x: Items, dtype: DTypeLike, device: str | None) -> Array:
    """A few rows as a dense array of the computation."""
    if sparse.issparse(x):
        x = x.toarray()
    return arrays.to_device(x, device, dtype)


def sqnorm(x: Items) -> Array:
    if isinstance(x, HashedRows):
        return x.sqnorm()
    if isinstance(x, Bits):
        return x.counts()
    if sparse.issparse(x):
        return arrays.squared_rows(x)
    return namespace(x).einsum("ij,ij->i", x, x)


def in_single(A: Items, B: Items, dtype: DTypeLike) -> tuple[Array, Array] | None:
    """Both in float32 where that is exact: many columns of whole numbers whose inner products stay below 2^24; else
    None.
    """
    wide = (
        isinstance(A, np.ndarray)
        and isinstance(B, np.ndarray)
        and A.shape[1] > _WIDEST_DENSE_PANEL
        and len(A) * len(B) >= _WORTH_SINGLE
    )
    if not wide or np.dtype(dtype) != np.float64:
        return None
    from mercer.engine.lists import are_integers

    for x in (A,) if B is A else (A, B):
        if (
            x.dtype.kind != "f"
            or (x[: len(x) // 64 + 1] % 1).any()
            or not are_integers(x.ravel())
            or not float(sqnorm(x).max(initial=0.0)) < 2**24
        ):
            return None
    single = A.astype(np.float32)
    return single, single if B is A else B.astype(np.float32)


def dot_block(
    A: Items, B: Items, dtype: DTypeLike, device: str | None, budget: int
) -> DotBlock | SparseDot | PartsDot | BitDot:
    """⟨a, b⟩, by what the rows are."""
    if isinstance(A, Bits):
        return BitDot(A, B)
    if isinstance(A, LazyCounts) and B is A:
        return PartsDot(A, dtype, budget)
    wide = (
        sparse.issparse(A)
        and sparse.issparse(B)
        and device is None
        and A.shape[1] > _WIDEST_DENSE_PANEL
        and A.nnz + B.nnz > _WORTH_JOINING
    )
    return SparseDot(A, B, dtype, budget) if wide or isinstance(A, HashedRows) else DotBlock(A, B, dtype, device)


class DotBlock:
    """⟨a, b⟩ of dense rows, or of sparse ones with few columns."""

    def __init__(self, A: Items, B: Items, dtype: DTypeLike, device: str | None) -> None:
        self.A, self.B, self.dtype, self.device = A, B, dtype, device
        self.all_columns = True
        self.sparse = sparse.issparse(A) and sparse.issparse(B) and device is None
        # counts that float32 holds exactly, for values in float64
        self.single = (
            isinstance(A, np.ndarray)
            and A.dtype == np.float32 != dtype
            and isinstance(B, np.ndarray)
            and B.dtype == np.float32
        )
        self.dense = not (self.single or sparse.issparse(A) or sparse.issparse(B))

    def sub(self, rows: Index, cols: Index, view: Tiles) -> DotBlock:
        same = self.A is self.B and view.symmetric
        A = take(self.A, rows)
        return DotBlock(A, A if same else take(self.B, cols), self.dtype, self.device)

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        A, B = self.A[rows], self.B[cols]
        if self.single:
            out[...] = A @ B.T
            return out
        if self.sparse:
            A = A.astype(self.dtype, copy=False)  # the sums are
            out[...] = A @ B.T.toarray() if A.shape[1] <= _WIDEST_DENSE_PANEL else (A @ B.T).toarray()
            return out
        A, B = _dense(A, self.dtype, self.device), _dense(B, self.dtype, self.device)
        return namespace(out).matmul(A, B.T, out=out)


class SqDistBlock:
    """‖a − b‖² (or its part from one column) as one GEMM, [√2·a, 1, ‖a‖²]·[−√2·b, ‖b‖², 1], after centring both sides.

    The expansion loses what is much smaller than ‖a‖² + ‖b‖²; such entries are computed again from a − b, on the data
    as given.
    """

    def __init__(
        self,
        A: Items,
        B: Items,
        scale: VectorParameter | None,
        column: int | None,
        dtype: DTypeLike,
        device: str | None,
        budget: int,
    ) -> None:
        self.dtype, self.device = dtype, device
        if column is not None:
            A, B = A[:, [column]], B[:, [column]]
        self.A, self.B = A, B
        values = None if scale is None else np.asarray(scale.powers if column is None else [scale.powers[column]])
        if values is not None and len(values) != A.shape[1]:
            raise ValueError(
                coded(
                    f"There are {len(values)} length scales for {A.shape[1]} columns; give one per column, or a single"
                    " number.",
                    "M104",
                )
            )
        self.inverse = None if values is None else arrays.to_device(1.0 / values.astype(dtype), device)
        self.sparse = sparse.issparse(A) or sparse.issparse(B)
        self.dense, self.all_columns = not self.sparse, column is None
        # differences are taken in the wider of the data's precision and the computation's: each rounding there counts
        self.wide = np.result_type(arrays.numpy_dtype(A), arrays.numpy_dtype(B), dtype)
        self._origin: Array | None = None
        self.L: Array | None = None
        self.R: Array | None = None
        self._na: Array | None = None
        self._nb: Array | None = None
        self.panel_bytes = (size(A) + size(B)) * (A.shape[1] + 2) * np.dtype(dtype).itemsize
        self.budget = budget
        if self.sparse:
            left = self.scaled(A)
            self.dot = dot_block(left, left if B is A else self.scaled(B), dtype, device, budget)

    def prepare(self) -> None:
        """Norms of all items, and their panels where there is room (else each tile makes its own), before threads could
        each start to.
        """
        _ = self.na, self.nb
        if self.dense and self.panel_bytes <= self.budget and self.L is None:
            self.L, self.R = self._panel(self.A, self.na, left=True), self._panel(self.B, self.nb, left=False)

    def sub(self, rows: Index, cols: Index, view: Tiles) -> SqDistBlock:
        part = object.__new__(SqDistBlock)
        part.__dict__.update(self.__dict__)
        part.A, part._na = take(self.A, rows), None if self._na is None else take(self._na, rows)
        part.B, part._nb = take(self.B, cols), None if self._nb is None else take(self._nb, cols)
        part.L = None if self.L is None else take(self.L, rows)
        part.R = None if self.R is None else take(self.R, cols)
        if self.sparse:
            part.dot = self.dot.sub(rows, cols, view)
        return part

    @property
    def origin(self) -> Array | None:
        """The mean of the right items, from which both sides are centred."""
        if self._origin is None and not self.sparse and len(self.B):
            mean = self.B.mean(0, dtype=namespace(self.B).float64)
            self._origin = arrays.to_device(mean, self.device, self.wide)
        return self._origin

    @property
    def na(self) -> Array:
        if self._na is None:
            self._na = self._norms(self.A)
        return self._na

    @property
    def nb(self) -> Array:
        if self._nb is None:
            self._nb = self._norms(self.B)
        return self._nb

    def scaled(self, x: Items) -> Any:
        if self.inverse is None:
            return x
        return x @ sparse.diags_array(self.inverse) if sparse.issparse(x) else x * self.inverse

    def centred(self, x: Array) -> Array:
        x = arrays.to_device(x, self.device, self.wide)
        return self.scaled(arrays.astype(x if self.origin is None else x - self.origin, self.dtype))

    def _norms(self, x: Items) -> Array:
        if self.sparse:
            return arrays.to_device(sqnorm(self.scaled(x)), self.device, self.dtype)
        out = arrays.empty((size(x),), self.dtype, arrays.to_device(x[:0], self.device))
        for i in chunks(size(x), 8192):
            out[i] = sqnorm(self.centred(x[i]))
        return out

    def _panel(self, x: Array, norms: Array, *, left: bool) -> Array:
        d = x.shape[1]
        out = arrays.empty((size(x), d + 2), self.dtype, norms)
        root = float(np.sqrt(2.0))
        for i in chunks(size(x), 8192):
            out[i, :d] = self.centred(x[i]) * (root if left else -root)
        out[:, d + (not left)] = 1
        out[:, d + left] = norms
        return out

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        na, nb = self.na[rows], self.nb[cols]
        if self.sparse:
            self.dot.fill(rows, cols, out)
            out *= -2.0
            out += na[:, None]
            out += nb[None, :]
        else:
            left = self._panel(self.A[rows], na, left=True) if self.L is None else self.L[rows]
            right = self._panel(self.B[cols], nb, left=False) if self.R is None else self.R[cols]
            namespace(out).matmul(left, right.T, out=out)
        if out.shape[0] and out.shape[1]:
            tiny = TINY[np.dtype(self.dtype)]
            if not float(out.min()) >= tiny * (float(na.max()) + float(nb.max())):
                self._subtract_first(rows, cols, out, tiny * (na[:, None] + nb[None, :]))
        return out

    def _subtract_first(self, rows: slice, cols: slice, out: Array, bound: Array) -> None:
        i, j = namespace(out).nonzero(out < bound) if not is_tensor(out) else (out < bound).nonzero(as_tuple=True)
        A, B = self.A[rows], self.B[cols]
        step = max(1, 2**20 // max(1, A.shape[1]))
        for some in chunks(len(i), step):
            a, b = i[some], j[some]
            if self.sparse:
                difference = self.scaled(take(A, arrays.to_numpy(a)) - take(B, arrays.to_numpy(b)))
                out[a, b] = arrays.to_device(sqnorm(sparse.csr_array(difference)), self.device, self.dtype)
            else:
                difference = arrays.to_device(A[a], self.device, self.wide) - arrays.to_device(
                    B[b], self.device, self.wide
                )
                out[a, b] = sqnorm(self.scaled(arrays.astype(difference, self.dtype)))


class FoldBlock:
    """state ← step(state, a_j, b_j) over the columns: compiled where it pays, else step by step on tiles."""

    def __init__(
        self, fold: Fold, A: Items, B: Items, dtype: DTypeLike, device: str | None, wanted: bool = False
    ) -> None:
        self.fold, self.A, self.B, self.dtype, self.device, self.all_columns = fold, A, B, dtype, device, True
        worth_it = wanted or size(A) * size(B) * A.shape[1] >= _WORTH_COMPILING
        self.compile = worth_it and device is None and compilable(fold.steps) and not (is_tensor(A) or is_tensor(B))

    def sub(self, rows: Index, cols: Index, view: Tiles) -> FoldBlock:
        part = FoldBlock(self.fold, take(self.A, rows), take(self.B, cols), self.dtype, self.device)
        part.compile = self.compile
        return part

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        A, B = (_dense(x, self.dtype, self.device) for x in (self.A[rows], self.B[cols]))
        if self.compile:
            compiled(self.fold, np.dtype(self.dtype))(np.ascontiguousarray(A), np.ascontiguousarray(B.T), out)
        else:
            out[...] = _run_fold(self.fold, A.T[:, :, None], B.T[:, None, :], out)
        return out


def _run_fold(fold: Fold, left: Array, right: Array, like: Array) -> Any:
    """The fold over the first axis of ``left`` and ``right``, whose entries broadcast: pairs, or items with
    themselves.
    """
    variables = [fold_variable(f"s{k}") for k in range(len(fold.start))]
    steps = list(dict.fromkeys(n for step in fold.steps for n in walk(step) if n.op != "variable"))
    zero = 0 * left[:1].sum(0) + 0 * right[:1].sum(0)
    if len(left) > 1 and len(left) * math.prod(zero.shape) <= _AT_ONCE and adds_up(fold):
        known: dict[Node, Any] = {variables[0]: 0.0, fold_variable("x"): left, fold_variable("z"): right}
        for n in steps:
            known[n] = n.data if n.op == "number" else elementwise(n.op, [known[a] for a in n.args], like)
        return fold.start[0] + (0 * left + 0 * right + known[fold.steps[0]]).sum(0)
    states = [zero + start for start in fold.start]
    for x, z in zip(left, right, strict=True):
        values: dict[Node, Any] = dict(zip(variables, states, strict=True)) | {
            fold_variable("x"): x,
            fold_variable("z"): z,
        }
        for n in steps:
            values[n] = n.data if n.op == "number" else elementwise(n.op, [values[a] for a in n.args], like)
        states = [values[step] for step in fold.steps]
    return states[-1]


def fold_self(fold: Fold, A: Items) -> Array:
    """The fold of every item with itself."""
    out = arrays.empty((size(A),), arrays.numpy_dtype(A), A if is_tensor(A) else None)
    for i in chunks(size(A), 4096):
        rows = _dense(A[i], arrays.numpy_dtype(A), None).T
        out[i] = _run_fold(fold, rows, rows, out)
    return out


class OpaqueBlock:
    """A kernel's own block on the data itself. ``halves``: given the same items twice, the kernel computes each pair
    once by itself.
    """

    def __init__(self, n: Node, left: list[Any], right: list[Any], dtype: DTypeLike, device: str | None) -> None:
        self.node, self.left, self.right, self.dtype, self.device = n, left, right, dtype, device
        self.halves = getattr(getattr(n.data.function, "__self__", None), "_halves", False)

    def sub(self, rows: Index, cols: Index, view: Tiles) -> OpaqueBlock:
        return OpaqueBlock(self.node, view.left, view.right, self.dtype, self.device)

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        o = self.node.data
        if o.transposed:  # the formula's left items are this matrix's columns
            A, B = (rebuild(s, self.right, self.left, cols, rows) for s in (o.left, o.right))
            values = _shaped(o.function(A, B), (cols.stop - cols.start, rows.stop - rows.start), o.function).T
        else:
            A = rebuild(o.left, self.left, self.right, rows, cols)
            twice = self.right is self.left and rows == cols and _numbers(o.left) == _numbers(o.right)
            B = A if twice else rebuild(o.right, self.left, self.right, rows, cols)
            values = _shaped(o.function(A, B), (rows.stop - rows.start, cols.stop - cols.start), o.function)
        out[...] = arrays.to_device(values, self.device)
        return out


def _shaped(values: Any, shape: tuple[int, ...], function: Callable[..., Any]) -> Any:
    """What a kernel's own code returned, which must be one value for each pair, or each item."""
    if np.shape(values) != shape:
        kernel = type(owner).__name__ if (owner := getattr(function, "__self__", None)) is not None else "The kernel"
        name, asked = getattr(function, "__name__", "function"), " × ".join(map(str, shape))
        raise ValueError(
            coded(
                f"{kernel}.{name} returned an array of shape {np.shape(values)} for {asked} items; it must be of shape"
                f" {shape}.",
                "M216",
            )
        )
    return values


def item_values_of(function: Callable[..., Any], items: Items, count: int) -> Any:
    """A kernel's own values of single items."""
    return _shaped(function(items), (count,), function)
