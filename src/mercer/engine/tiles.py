"""A formula evaluated tile by tile with NumPy or torch: the plain engine, and the twin that every other is tested against.

Reductions (⟨a, b⟩, ‖a − b‖², folds over columns) are computed for a tile that fits in cache; the element-wise rest of the formula
runs over it in place before it leaves. Four sinks take the tiles: stored as a matrix, multiplied with vectors, K^T(KV), and
either of the first two with each half of a symmetric matrix computed once. The tiles, and the order in which their contributions
are added, depend on shapes alone, so the result is the same to the bit for any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from mercer import backend
from mercer.backend import Array, Compute, is_tensor, namespace, run_tasks
from mercer.data import check_same_width, chunks, size, take
from mercer.engine.expression import ELEMENTWISE, REDUCTIONS, Fold, Node, fold_variable, transposed, walk
from mercer.engine.folds import compilable, compiled

_EDGE = {"float32": 640, "float64": 384}  # tiles of 1.2–1.6 MB: about the second-level cache, and no power of two, which would alias in it
_WORTH_COMPILING = 2**22  # column steps; fewer are done before a compiler has started
_TORCH_EDGE = 4096
_GROUPS = 16  # independent sums of K^T(KV): many enough to feed the cores, few enough to hold
_STRIP_BYTES = 32 * 2**20
_WIDEST_DENSE_PANEL = 20_000  # columns; sparser-than-that data is multiplied sparse × sparse
_TINY = {"float64": 1e-4, "float32": 1e-2}  # below this share of ‖a‖² + ‖b‖², a − b is subtracted before it is squared


class NonFinite(FloatingPointError):
    """Entry (row, column) is NaN or infinite."""

    def __init__(self, row: int, column: int, value: float) -> None:
        super().__init__(f"entry ({row}, {column}) is {value}")
        self.row, self.column, self.value = row, column, value


class Tiles:
    """The matrix formula(a_i, b_j) over two lists of leaves, computed on demand.

    ``symmetric`` promises that both sides are the same items and the formula is symmetric; ``diagonal`` is then the exact
    diagonal, which rounding in a product of norms would miss.
    """

    def __init__(
        self, formula: Node, left: list[Any], right: list[Any], shape: tuple[int, int], dtype: Any, compute: Compute, diagonal: Node | None = None
    ) -> None:
        self.shape, self.dtype, self.compute = shape, np.dtype(dtype), compute
        self._like = backend.empty((0,), self.dtype, _home(left + right, compute))
        self.formula, self.left = formula, [_moved(x, self._device) for x in left]
        self.right = self.left if right is left else [_moved(x, self._device) for x in right]
        self.symmetric = diagonal is not None
        self.diagonal = diagonal
        self._workspace = threading.local()
        self._compile()

    # -- building ----------------------------------------------------------------------------------------------------

    def _compile(self) -> None:
        """Split the formula: scalars and per-item vectors now, reductions and pair-wise steps for each tile."""
        self._values: dict[Node, Any] = {}  # scalars, and vectors over all items
        self._steps: list[Node] = []
        self._operands: dict[Node, Any] = {}
        for n in walk(self.formula):
            if n.op == "leaf" and self._vector_leaf(n) is None:
                continue  # a matrix: only reductions read it
            if n.kind != "tile":
                self._values[n] = self._item_value(n)
            elif n.op in REDUCTIONS:
                self._operands[n] = self._operand(n)
            else:
                self._steps.append(n)
        self._registers = _allocate(self._steps, list(self._operands), self.formula)
        self.opaque = any(n.op == "opaque" for n in self._operands)
        self._diagonal_values: Any = None

    @property
    def _diagonal(self) -> Array:
        if self._diagonal_values is None:
            assert self.diagonal is not None
            self._diagonal_values = self._items(self.diagonal)
        return self._diagonal_values

    def _leaf(self, n: Node) -> Any:
        return (self.left if n.kind == "row" else self.right)[n.data]

    def _vector_leaf(self, n: Node) -> Any:
        x = self._leaf(n)
        if len(getattr(x, "shape", ())) != 1 or (isinstance(x, np.ndarray) and x.dtype == object):
            return None
        return backend.to_device(x, self._device, self.dtype)

    @property
    def _device(self) -> str | None:
        return str(self._like.device) if is_tensor(self._like) else None

    def _items(self, n: Node) -> Array:
        """A formula of one value per left item, evaluated for all of them."""
        for part in walk(n):
            if part not in self._values and not (part.op == "leaf" and self._vector_leaf(part) is None):
                self._values[part] = self._item_value(part)
        out = backend.empty((self.shape[0],), self.dtype, self._like)
        out[...] = self._values[n]
        return out

    def _item_value(self, n: Node) -> Any:
        """The value of a scalar or per-item node: a number, or a vector over all items of its side."""
        if self.symmetric and n.kind == "col" and (twin := transposed(n)) in self._values:
            return self._values[twin]
        args = [self._values.get(a) for a in n.args]
        match n.op:
            case "number":
                return n.data
            case "parameter":
                return n.data[1]
            case "leaf":
                return self._vector_leaf(n)
            case "sqnorm":
                return self._per_item(_sqnorm(self._leaf(n.args[0])))
            case "fold_self":
                return self._per_item(_fold_self(n.data, self._leaf(n.args[0])))
            case "items":
                return self._per_item(n.data.function(_rebuild(n.data.left, self.left, self.right)))
            case "mean":
                return self._mean(n, self.left if n.kind == "row" else self.right, self.shape[0 if n.kind == "row" else 1])
            case "grand_mean":
                return self._grand_mean(n)
            case "apply":
                return n.data[0](*(self._per_item(np.asarray(a, self.dtype)) if isinstance(a, float) else a for a in args))
            case _ if n.op in ELEMENTWISE:
                return _elementwise(n.op, args, self._like)
        raise TypeError(f"{n.op!r} cannot be computed")

    def _per_item(self, values: Any) -> Array:
        return backend.to_device(values, self._device, self.dtype)

    def _mean(self, n: Node, items: list[Any], count: int) -> Array:
        e = n.data
        weights = np.asarray(e.weights, self.dtype)
        inner = Tiles(e.formula, items, e.reference, (count, len(weights)), self.dtype, self.compute)
        return self._per_item(inner.product(backend.to_device(weights, self._device)[:, None])[:, 0])

    def _grand_mean(self, n: Node) -> float:
        e = n.data
        if e.known is not None:
            return float(e.known)
        means = backend.to_numpy(self._mean(n, e.reference, len(e.weights)))
        return float(np.dot(np.asarray(e.weights, np.float64), means.astype(np.float64)))

    def _operand(self, n: Node) -> Any:
        if n.op == "opaque":
            return _OpaqueBlock(n, self.left, self.right, self.dtype, self._device)
        A, B = (self._leaf(a) for a in n.args)
        check_same_width(A, B)
        if n.op == "fold":
            return _FoldBlock(n.data, A, B, self.dtype, self._device)
        if n.op == "dot":
            return _DotBlock(A, B, self.dtype, self._device)
        scale, column = n.data
        return _SqDistBlock(A, B, scale, column, self.dtype, self._device, self.compute.budget // 4)

    # -- one tile ----------------------------------------------------------------------------------------------------

    def block(self, rows: slice, cols: slice) -> Array:
        """The tile rows × cols. It lives in this thread's workspace until the next call."""
        tile: dict[Node, Any] = {}
        r, c = rows.stop - rows.start, cols.stop - cols.start
        for n, operand in self._operands.items():
            tile[n] = operand.fill(rows, cols, self._buffer(self._registers[n], r, c))
        for n in self._steps:
            args = [self._argument(a, tile, rows, cols) for a in n.args]
            if n.op == "apply":
                tile[n] = n.data[0](*args)
            else:
                tile[n] = _elementwise(n.op, args, self._like, self._buffer(self._registers[n], r, c))
        out = tile.get(self.formula)
        if out is None:  # the formula is not a tile: a constant, or one value per row or column
            out = self._buffer(0, r, c)
            out[...] = self._argument(self.formula, tile, rows, cols)
        if self.symmetric and not self.opaque:
            lo, hi = max(rows.start, cols.start), min(rows.stop, cols.stop)
            if lo < hi:
                k = np.arange(lo, hi)
                out[k - rows.start, k - cols.start] = self._diagonal[lo:hi]
        return out

    def _finite_block(self, rows: slice, cols: slice) -> Array:
        tile = self.block(rows, cols)
        if not backend.all_finite(tile):  # one pass of additions while the tile is in cache
            bad = ~np.isfinite(values := backend.to_numpy(tile))
            row, column = divmod(int(np.argmax(bad)), tile.shape[1])
            raise NonFinite(rows.start + row, cols.start + column, float(values[row, column]))
        return tile

    def _argument(self, a: Node, tile: dict[Node, Any], rows: slice, cols: slice) -> Any:
        if a in tile:
            return tile[a]
        value = self._values[a]
        if a.kind == "row":
            return value[rows, None]
        return value[None, cols] if a.kind == "col" else value

    def _buffer(self, register: int | None, r: int, c: int) -> Any:
        """Scratch for a tile, one per register and thread; contiguous whatever the tile's shape."""
        if register is None:
            return None
        if is_tensor(self._like):
            return backend.empty((r, c), self.dtype, self._like)  # torch's allocator recycles its blocks
        buffers: dict[Any, Any] = self._workspace.__dict__
        flat = buffers.get(register)
        if flat is None or flat.size < r * c:
            height, width = self.edges
            flat = buffers[register] = np.empty(max(r * c, height * width), self.dtype)
        return flat[: r * c].reshape(r, c)

    @property
    def edges(self) -> tuple[int, int]:
        """Height and width of a tile."""
        if is_tensor(self._like):
            return _TORCH_EDGE, _TORCH_EDGE
        return _EDGE[self.dtype.name], _EDGE[self.dtype.name]

    # -- sinks -------------------------------------------------------------------------------------------------------

    @property
    def _workers(self) -> int:
        return 1 if is_tensor(self._like) else self.compute.workers

    def store(self, out: Array | None = None) -> Array:
        """The whole matrix; a symmetric one is computed by halves."""
        if out is None:
            out = backend.empty(self.shape, self.dtype, self._like)
        if self.symmetric:
            self._store_symmetric(out)
            return out
        height, width = self.edges

        def task(t: tuple[slice, slice]) -> None:
            out[t[0], t[1]] = self._finite_block(*t)

        run_tasks(task, ((i, j) for i in chunks(self.shape[0], height) for j in chunks(self.shape[1], width)), self._workers)
        return out

    def _store_symmetric(self, out: Array) -> None:
        strips = chunks(self.shape[0], max(self.edges))
        _ = self._diagonal  # computed before the threads could each start to

        def task(t: tuple[slice, slice]) -> None:
            i, j = t
            if i == j:
                out[i, i] = self._diagonal_block(i)
                return
            tile = self._finite_block(i, j)
            out[i, j] = tile
            out[j, i] = tile.T

        run_tasks(task, ((i, j) for a, i in enumerate(strips) for j in strips[a:]), self._workers)

    def _diagonal_block(self, i: slice) -> Array:
        """A tile on the diagonal, exactly symmetric.

        An opaque formula may be dear, so none of its pairs is computed twice: the tile is halved until nothing but the
        diagonal is left. A recorded one is cheaper to compute whole and mirror.
        """
        n = i.stop - i.start
        if not self.opaque:
            tile = self._finite_block(i, i)
            lower = np.tri(n, k=-1, dtype=bool)
            if is_tensor(tile):
                lower = backend.to_device(lower, self._device)
            tile[lower] = tile.T[lower]
            return tile
        out = backend.empty((n, n), self.dtype, self._like)
        if n == 1:
            out[0, 0] = self._diagonal[i.start]
            return out
        middle = n // 2
        first, second = slice(i.start, i.start + middle), slice(i.start + middle, i.stop)
        out[:middle, :middle] = self._diagonal_block(first)
        out[middle:, middle:] = self._diagonal_block(second)
        tile = self._finite_block(first, second)
        out[:middle, middle:] = tile
        out[middle:, :middle] = tile.T
        return out

    def product(self, V: Array) -> Array:
        """K V in float64 sums, K never stored; each half of a symmetric K computed once."""
        V = backend.like(V, self._like)
        panel = backend.astype(V, self.dtype)
        out = backend.zeros((self.shape[0], V.shape[1]), np.float64, self._like)
        if self.symmetric and not self.opaque:
            self._symmetric_product(panel, out)
        else:
            height, width = self.edges
            columns = chunks(self.shape[1], width)

            def task(i: slice) -> None:
                for j in columns:
                    out[i] += self.block(i, j) @ panel[j]

            run_tasks(task, chunks(self.shape[0], height), self._workers)
        return out

    def _symmetric_product(self, V: Array, out: Array) -> None:
        """Rounds of a tournament: in each, every strip of rows meets one other, so no two tasks write to the same rows."""

        def task(t: tuple[slice, slice]) -> None:
            i, j = t
            tile = self.block(i, j)
            out[i] += tile @ V[j]
            if i != j:
                out[j] += tile.T @ V[i]

        for pairs in _tournament(chunks(self.shape[0], max(self.edges))):
            run_tasks(task, pairs, self._workers)

    def normal(self, V: Array) -> Array:
        """K^T (K V): each strip of K is computed once and used twice."""
        if self.symmetric:
            return self.product(self.product(V))
        V = backend.astype(backend.like(V, self._like), np.float64)
        n, m = self.shape
        height = max(1, min(self.edges[0], _STRIP_BYTES // max(1, m * self.dtype.itemsize)))
        strips = chunks(n, height)
        count = max(1, min(_GROUPS, len(strips), self.compute.budget // 4 // max(1, 8 * m * V.shape[1])))
        sums = [backend.zeros((m, V.shape[1]), np.float64, self._like) for _ in range(count)]
        panel = backend.astype(V, self.dtype)

        def task(group: int) -> None:
            for i in strips[group::count]:
                strip = backend.empty((i.stop - i.start, m), self.dtype, self._like)
                for j in chunks(m, self.edges[1]):
                    strip[:, j] = self.block(i, j)
                sums[group] += strip.T @ (strip @ panel)

        run_tasks(task, range(count), self._workers)
        return sum(sums[1:], sums[0])

    # -- views -------------------------------------------------------------------------------------------------------

    def sub(self, rows: Any, cols: Any) -> Tiles:
        """The matrix of some rows and columns (slices or index arrays), sharing what was prepared for the whole."""
        view = object.__new__(Tiles)
        view.__dict__.update(self.__dict__)
        view._workspace = threading.local()
        same = self.symmetric and _same_selection(rows, cols, self.shape[0])
        view.symmetric = same
        view.shape = (len(range(self.shape[0])[rows]) if isinstance(rows, slice) else len(rows),
                      len(range(self.shape[1])[cols]) if isinstance(cols, slice) else len(cols))  # fmt: skip
        view.left, view.right = [take(x, rows) for x in self.left], [take(x, cols) for x in self.right]
        choose = {"row": rows, "col": cols}
        view._values = {n: v if n.kind == "scalar" else take(v, choose[n.kind]) for n, v in self._values.items()}
        view._operands = {n: o.sub(rows, cols, view) for n, o in self._operands.items()}
        view.diagonal = self.diagonal if same else None
        view._diagonal_values = take(self._diagonal, rows) if same and not self.opaque else None
        return view

    @property
    def T(self) -> Tiles:
        if self.symmetric:
            return self
        return Tiles(transposed(self.formula), self.right, self.left, self.shape[::-1], self.dtype, self.compute)

    def astype(self, dtype: Any) -> Tiles:
        return Tiles(self.formula, self.left, self.right, self.shape, dtype, self.compute, self.diagonal)

    def diag(self) -> Array:
        """K_ii without the rest."""
        if self.symmetric:
            return self._diagonal
        n = min(self.shape)
        out = backend.empty((n,), self.dtype, self._like)
        for i in chunks(n, 64):  # small tiles: all but their diagonal is thrown away
            tile = self.block(i, i)
            k = np.arange(i.stop - i.start)
            out[i] = tile[k, k]
        return out

    def check_finite(self) -> None:
        """Compute every entry, store none, and raise NonFinite at the first that is not a finite number."""
        for i in chunks(self.shape[0], self.edges[0]):
            for j in chunks(self.shape[1], self.edges[1]):
                self._finite_block(i, j)


def _same_selection(rows: Any, cols: Any, n: int) -> bool:
    if isinstance(rows, slice) and isinstance(cols, slice):
        return range(n)[rows] == range(n)[cols]
    return rows is cols or bool(np.array_equal(np.arange(n)[rows], np.arange(n)[cols]))


def _tournament(strips: list[slice]) -> Iterator[list[tuple[slice, slice]]]:
    """Rounds of disjoint pairs (i ≤ j) that together hold each pair, and each strip with itself, once."""
    players = len(strips) + (len(strips) + 1) % 2  # an odd number; the one too many, if any, sits out
    for turn in range(players):
        pairs = ((i, (turn - i) % players) for i in range(players))
        yield [(strips[i], strips[j]) for i, j in pairs if i <= j < len(strips)]


# ---------------------------------------------------------------------------------------------------------------------
# Element-wise steps, in place where NumPy allows
# ---------------------------------------------------------------------------------------------------------------------


def _allocate(steps: list[Node], reductions: list[Node], result: Node) -> dict[Node, int | None]:
    """Registers for the tiles of a formula, by last use: a step writes over an argument that nobody reads again."""
    last: dict[Node, int] = {}
    for t, n in enumerate(steps):
        last.update(dict.fromkeys(n.args, t))
    last[result] = len(steps)
    registers: dict[Node, int | None] = {n: k for k, n in enumerate(reductions)}
    free: list[int] = []
    count = len(reductions)
    for t, n in enumerate(steps):
        mine = None
        for a in dict.fromkeys(n.args):
            register = registers.get(a)
            if register is not None and last.get(a) == t:
                free.append(register)
        if n.op != "apply":
            # where() writes its second branch first and so must not write over its condition or its first branch
            busy = {registers.get(a) for a in n.args} if n.op == "where" else set()
            mine = next((f for f in reversed(free) if f not in busy), None)
            if mine is None:
                mine, count = count, count + 1
            else:
                free.remove(mine)
        registers[n] = mine
    return registers


def _elementwise(op: str, args: list[Any], like: Array, out: Array | None = None) -> Any:
    """One operation on scalars, vectors or tiles; NumPy writes into ``out``."""
    if is_tensor(like):
        return _torch_elementwise(op, args, like)
    with np.errstate(all="ignore"):  # infinities and NaN are reported with their pair, not as a warning
        if op == "where":
            condition, x, z = args
            if out is None:
                return np.where(condition, x, z)
            np.copyto(out, z)
            np.copyto(out, x, where=condition if condition.dtype == bool else condition != 0)
            return out
        if out is None:
            return getattr(np, op)(*args)
        return getattr(np, op)(*args, out=out, casting="unsafe")


_TORCH = {"absolute": "abs", "arcsin": "asin", "divide": "true_divide", "equal": "eq", "power": "pow"}


def _torch_elementwise(op: str, args: list[Any], like: Array) -> Any:
    torch = namespace(like)
    tensors = [x if is_tensor(x) else torch.as_tensor(x, dtype=like.dtype, device=like.device) for x in args]
    if op == "where" and tensors[0].dtype != torch.bool:
        tensors[0] = tensors[0] != 0
    result = getattr(torch, _TORCH.get(op, op))(*tensors)
    return result.to(like.dtype) if op in ("equal", "greater") else result


# ---------------------------------------------------------------------------------------------------------------------
# Reductions
# ---------------------------------------------------------------------------------------------------------------------


def _home(found: list[Any], compute: Compute) -> Array:
    """An empty array of the kind to compute with: on the device asked for, else where the data is."""
    tensor = next((x for x in found if is_tensor(x)), None)
    if tensor is None and (compute.device is None or compute.device.startswith("cpu")):
        return np.empty(0)
    return backend.to_device(np.empty(0) if tensor is None else tensor[:0], compute.device)


def _moved(x: Any, device: str | None) -> Any:
    """A leaf of numbers on the device; anything else stays where it is, and goes there tile by tile."""
    numbers = is_tensor(x) or (isinstance(x, np.ndarray) and x.dtype.kind in "fiub")
    return backend.to_device(x, device) if numbers and device is not None else x


def _rebuild(symbols: Any, left: list[Any], right: list[Any], rows: Any = None, cols: Any = None) -> Any:
    """A representation from its symbols, restricted to some rows (left leaves) and columns (right leaves)."""
    if isinstance(symbols, tuple):
        return tuple(_rebuild(s, left, right, rows, cols) for s in symbols)
    found, chosen = (left, rows) if symbols.kind == "row" else (right, cols)
    return found[symbols.data] if chosen is None else take(found[symbols.data], chosen)


def _dense(x: Any, dtype: Any, device: str | None) -> Array:
    """A few rows as a dense array of the computation."""
    if sparse.issparse(x):
        x = x.toarray()
    return backend.to_device(x, device, dtype)


def _sqnorm(x: Any) -> Array:
    if sparse.issparse(x):
        return np.asarray(x.multiply(x).sum(axis=1)).reshape(-1)
    return namespace(x).einsum("ij,ij->i", x, x)


class _DotBlock:
    """⟨a, b⟩."""

    def __init__(self, A: Any, B: Any, dtype: Any, device: str | None) -> None:
        self.A, self.B, self.dtype, self.device = A, B, dtype, device

    def sub(self, rows: Any, cols: Any, view: Tiles) -> _DotBlock:
        return _DotBlock(take(self.A, rows), take(self.B, cols), self.dtype, self.device)

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        A, B = self.A[rows], self.B[cols]
        if sparse.issparse(A) and sparse.issparse(B) and self.device is None:
            if A.shape[1] <= _WIDEST_DENSE_PANEL:
                out[...] = A @ B.T.toarray()
            else:
                out[...] = (A @ B.T).toarray()
            return out
        A, B = _dense(A, self.dtype, self.device), _dense(B, self.dtype, self.device)
        return namespace(out).matmul(A, B.T, out=out)


class _SqDistBlock:
    """‖a − b‖² (or its part from one column) as one GEMM, [√2·a, 1, ‖a‖²]·[−√2·b, ‖b‖², 1], after centring both sides.

    The expansion loses what is much smaller than ‖a‖² + ‖b‖²; such entries are computed again from a − b, on the data as given.
    """

    def __init__(self, A: Any, B: Any, scale: Any, column: int | None, dtype: Any, device: str | None, budget: int) -> None:
        self.dtype, self.device = dtype, device
        if column is not None:
            A, B = A[:, [column]], B[:, [column]]
        self.A, self.B = A, B
        values = None if scale is None else np.asarray(scale.values if column is None else [scale.values[column]])
        if values is not None and len(values) != A.shape[1]:
            raise ValueError(f"There are {len(values)} length scales for {A.shape[1]} columns; give one per column, or a single number.")
        self.inverse = None if values is None else backend.to_device(1.0 / values.astype(dtype), device)
        self.sparse = sparse.issparse(A) or sparse.issparse(B)
        # differences are taken in the wider of the data's precision and the computation's: each rounding there counts
        self.wide = np.result_type(backend.numpy_dtype(A), backend.numpy_dtype(B), dtype)
        mean = None if self.sparse or not len(B) else B.mean(0, dtype=namespace(B).float64)
        self.origin = None if mean is None else backend.to_device(mean, device, self.wide)
        self.na, self.nb = self._norms(A), self._norms(B)
        room = (size(A) + size(B)) * (A.shape[1] + 2) * np.dtype(dtype).itemsize
        stored = not self.sparse and room <= budget
        self.L = self._panel(A, self.na, left=True) if stored else None
        self.R = self._panel(B, self.nb, left=False) if stored else None
        if self.sparse:
            self.dot = _DotBlock(self._scaled(A), self._scaled(B), dtype, device)

    def sub(self, rows: Any, cols: Any, view: Tiles) -> _SqDistBlock:
        part = object.__new__(_SqDistBlock)
        part.__dict__.update(self.__dict__)
        part.A, part.na = take(self.A, rows), take(self.na, rows)
        part.B, part.nb = take(self.B, cols), take(self.nb, cols)
        part.L = None if self.L is None else take(self.L, rows)
        part.R = None if self.R is None else take(self.R, cols)
        if self.sparse:
            part.dot = self.dot.sub(rows, cols, view)
        return part

    def _scaled(self, x: Any) -> Any:
        if self.inverse is None:
            return x
        return x @ sparse.diags_array(self.inverse) if sparse.issparse(x) else x * self.inverse

    def _centred(self, x: Any) -> Array:
        x = backend.to_device(x, self.device, self.wide)
        return self._scaled(backend.astype(x if self.origin is None else x - self.origin, self.dtype))

    def _norms(self, x: Any) -> Array:
        if self.sparse:
            return backend.to_device(_sqnorm(self._scaled(x)), self.device, self.dtype)
        out = backend.empty((size(x),), self.dtype, backend.to_device(x[:0], self.device))
        for i in chunks(size(x), 8192):
            out[i] = _sqnorm(self._centred(x[i]))
        return out

    def _panel(self, x: Any, norms: Array, *, left: bool) -> Array:
        d = x.shape[1]
        out = backend.empty((size(x), d + 2), self.dtype, norms)
        root = float(np.sqrt(2.0))
        for i in chunks(size(x), 8192):
            out[i, :d] = self._centred(x[i]) * (root if left else -root)
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
            tiny = _TINY[np.dtype(self.dtype).name]
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
                difference = self._scaled(take(A, backend.to_numpy(a)) - take(B, backend.to_numpy(b)))
                out[a, b] = backend.to_device(_sqnorm(sparse.csr_array(difference)), self.device, self.dtype)
            else:
                difference = backend.to_device(A[a], self.device, self.wide) - backend.to_device(B[b], self.device, self.wide)
                out[a, b] = _sqnorm(self._scaled(backend.astype(difference, self.dtype)))


class _FoldBlock:
    """state ← step(state, a_j, b_j) over the columns: compiled where it pays, else step by step on tiles."""

    def __init__(self, fold: Fold, A: Any, B: Any, dtype: Any, device: str | None) -> None:
        self.fold, self.A, self.B, self.dtype, self.device = fold, A, B, dtype, device
        worth_it = size(A) * size(B) * A.shape[1] >= _WORTH_COMPILING
        self.compile = worth_it and device is None and compilable(fold) and not (is_tensor(A) or is_tensor(B))

    def sub(self, rows: Any, cols: Any, view: Tiles) -> _FoldBlock:
        part = _FoldBlock(self.fold, take(self.A, rows), take(self.B, cols), self.dtype, self.device)
        part.compile = self.compile
        return part

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        A, B = (_dense(x, self.dtype, self.device) for x in (self.A[rows], self.B[cols]))
        if self.compile:
            compiled(self.fold, self.dtype)(np.ascontiguousarray(A), np.ascontiguousarray(B.T), out)
        else:
            out[...] = _run_fold(self.fold, A.T[:, :, None], B.T[:, None, :], out)
        return out


def _run_fold(fold: Fold, left: Any, right: Any, like: Array) -> Any:
    """The fold over the first axis of ``left`` and ``right``, whose entries broadcast: pairs, or items with themselves."""
    variables = [fold_variable(f"s{k}") for k in range(len(fold.start))]
    steps = list(dict.fromkeys(n for step in fold.steps for n in walk(step) if n.op != "variable"))
    zero = 0 * left[:1].sum(0) + 0 * right[:1].sum(0)
    states = [zero + start for start in fold.start]
    for x, z in zip(left, right, strict=True):
        values: dict[Node, Any] = dict(zip(variables, states, strict=True)) | {fold_variable("x"): x, fold_variable("z"): z}
        for n in steps:
            values[n] = n.data if n.op == "number" else _elementwise(n.op, [values[a] for a in n.args], like)
        states = [values[step] for step in fold.steps]
    return states[-1]


def _fold_self(fold: Fold, A: Any) -> Array:
    """The fold of every item with itself."""
    out = backend.empty((size(A),), backend.numpy_dtype(A), A if is_tensor(A) else None)
    for i in chunks(size(A), 4096):
        rows = _dense(A[i], backend.numpy_dtype(A), None).T
        out[i] = _run_fold(fold, rows, rows, out)
    return out


class _OpaqueBlock:
    """A kernel's own block on the data itself."""

    def __init__(self, n: Node, left: list[Any], right: list[Any], dtype: Any, device: str | None) -> None:
        self.node, self.left, self.right, self.dtype, self.device = n, left, right, dtype, device

    def sub(self, rows: Any, cols: Any, view: Tiles) -> _OpaqueBlock:
        return _OpaqueBlock(self.node, view.left, view.right, self.dtype, self.device)

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        o = self.node.data
        if o.transposed:  # the formula's left items are this matrix's columns
            A, B = (_rebuild(s, self.right, self.left, cols, rows) for s in (o.left, o.right))
            values = o.function(A, B).T
        else:
            A, B = (_rebuild(s, self.left, self.right, rows, cols) for s in (o.left, o.right))
            values = o.function(A, B)
        out[...] = backend.to_device(values, self.device)
        return out
