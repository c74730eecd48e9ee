"""A formula evaluated tile by tile: one file, since tiles, sinks and what is prepared for them are one plan.

With NumPy or torch this is the plain engine, and the twin that every other is tested against.

Reductions (⟨a, b⟩, ‖a − b‖², folds over columns) are computed for a tile that fits in cache; the element-wise rest of
the formula runs over it in place before it leaves. Four sinks take the tiles: stored as a matrix, multiplied with
vectors, K^T(KV), and either of the first two with each half of a symmetric matrix computed once. The tiles, and the
order in which their contributions are added, depend on shapes alone, so the result is the same to the bit for any
number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mercer import arrays
from mercer.annotations import Index, Items
from mercer.arrays import Array, is_tensor
from mercer.compute import Compute, release_workspace
from mercer.data import check_same_width, chunks, take
from mercer.engine.cpu import FusedTile, fusible, is_wide, specify
from mercer.engine.expression import ELEMENTWISE, REDUCTIONS, Node, transposed, walk
from mercer.engine.gpu import Launch, launchable
from mercer.engine.joins import SparseDot
from mercer.engine.parts import PartsDot, SummedDot
from mercer.engine.reductions import (
    FoldBlock,
    OpaqueBlock,
    SqDistBlock,
    dot_block,
    fold_self,
    in_single,
    item_values_of,
    rebuild,
    sqnorm,
)
from mercer.engine.steps import allocate, elementwise
from mercer.runtime.threads import Interrupted, run_tasks, stopping
from mercer.runtime.watch import look

# tiles of 1.2–1.6 MB: about the second-level cache, and no power of two, which would alias in it
_EDGE = {"float32": 640, "float64": 384}
_TORCH_EDGE = 4096
_MODERATE = 4096  # rows of a symmetric matrix that is stored by one compiled call: some milliseconds
_AT_ONCE = 2**29  # values of such a matrix, where it is a sum of many: nobody can look at the clock in between
_COSTLY_EDGE, _LEAST_EDGE = 384, 32  # of tiles that a kernel computes itself, by halves where it can
_GROUPS = 16  # independent sums of products: many enough to feed the cores, few enough to hold
_WORTH_COMPILING = 2**20  # values
_STRIP_BYTES = 32 * 2**20
_CACHED_BYTES = 2**20  # of a strip that is read twice more, out of the second-level cache
_PREPARED = 4096  # rows that are prepared together
_SUMMED_WIDTH = 2048  # columns of a tile that is summed in registers and stored nowhere

Between = Callable[[slice, Array], Array]  # of rows and values there


class NonFinite(FloatingPointError):
    """Entry (row, column) is NaN or infinite."""

    def __init__(self, row: int, column: int, value: float) -> None:
        super().__init__(f"entry ({row}, {column}) is {value}")
        self.row, self.column, self.value = row, column, value


class Tiles:
    """The matrix formula(a_i, b_j) over two lists of leaves, computed on demand.

    ``symmetric`` promises that both sides are the same items and the formula is symmetric; ``diagonal`` is then the
    exact diagonal, which rounding in a product of norms would miss.
    """

    def __init__(
        self, formula: Node, left: list[Any], right: list[Any], shape: tuple[int, int], dtype: DTypeLike, compute:
        Compute, diagonal: Node | None = None, compiled: bool = False,
    ) -> None:  # fmt: skip
        self.shape, self.dtype, self.compute = shape, np.dtype(dtype), compute
        self._like = arrays.empty((0,), self.dtype, _home(left + right, compute))
        self.formula, self.left = formula, [_moved(x, self._device) for x in left]
        self.right = self.left if right is left else [_moved(x, self._device) for x in right]
        self.symmetric = diagonal is not None
        self.diagonal, self._compiled = diagonal, compiled
        self._workspace = threading.local()
        self._compile()

    # -- building ----------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """What it was made from; the compiled parts are made again."""
        parts = (
            self.formula,
            self.left,
            self.right,
            self.shape,
            self.dtype,
            self.compute,
            self.diagonal,
            self._compiled,
        )
        return {"parts": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Tiles.__init__(self, *state["parts"])

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
        self._fuse()
        self._registers = allocate(self._steps, list(self._operands), self.formula)
        opaque = [o for o in self._operands.values() if isinstance(o, OpaqueBlock)]
        self.opaque, self.halves = bool(opaque), all(o.halves for o in opaque)
        self._joined()
        self._diagonal_values: Array | None = None

    def _joined(self) -> None:
        """Sparse inner products, which are computed in strips as wide as the matrix."""
        found = [o.dot if isinstance(o, SqDistBlock) and o.sparse else o for o in self._operands.values()]
        self._joins = [o for o in found if isinstance(o, SparseDot | PartsDot | SummedDot)]

    def _fuse(self) -> None:
        """Let a compiled micro-kernel fill the tiles, where the formula and the size allow it."""
        parts = (self._operands, self._steps, self._values)
        self.fits = not is_tensor(self._like) and fusible(*parts, self.shape, self.compute.budget // 4, self._compiled)
        self._packed: FusedTile | None = None
        self.wide = self.fits and is_wide(self._operands)
        ready = launchable(*parts, self._like, self.shape)
        fast = self.compute.dtype == "tf32"
        self._launch = (
            Launch(self._operands, self._steps, self.formula, self._values, self.shape, self.dtype, self._like, fast)
            if ready
            else None
        )

    @property
    def _fused(self) -> FusedTile | None:
        """Packed when first needed: a matrix may be there only to be seen in another precision. Sinks ask before they
        start threads.
        """
        if self.fits and self._packed is None:
            self._packed = FusedTile(self._operands, self._steps, self.formula, self._values, self.dtype)
        return self._packed

    def _pack(self) -> None:
        """All that tiles read, before threads could each start to make it; not before, since a plan is often replaced
        by that of another precision or part.
        """
        if self._fused is not None:
            _ = self._fused.left
        elif self._launch is None:
            for operand in self._operands.values():
                if isinstance(operand, SqDistBlock):
                    operand.prepare()

    @property
    def _diagonal_is_cheap(self) -> bool:
        """Whether it follows from a recorded formula, or from values with themselves that the tiles need anyway."""
        if not self.opaque or self._diagonal_values is not None:
            return True
        assert self.diagonal is not None
        return all(n.op != "items" or n in self._values for n in walk(self.diagonal))

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
        return arrays.to_device(x, self._device, self.dtype)

    @property
    def _device(self) -> str | None:
        return str(self._like.device) if is_tensor(self._like) else None

    def _items(self, n: Node) -> Array:
        """A formula of one value per left item, evaluated for all of them."""
        for part in walk(n):
            if part not in self._values and not (part.op == "leaf" and self._vector_leaf(part) is None):
                self._values[part] = self._item_value(part)
        out = arrays.empty((self.shape[0],), self.dtype, self._like)
        out[...] = self._values[n]
        return out

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is found where it is used
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
                return self._per_item(sqnorm(self._leaf(n.args[0])))
            case "fold_self":
                return self._per_item(fold_self(n.data, self._leaf(n.args[0])))
            case "items":
                count = self.shape[0 if n.kind == "row" else 1]
                return self._per_item(
                    item_values_of(n.data.function, rebuild(n.data.left, self.left, self.right), count)
                )
            case "mean":
                return self._mean(
                    n, self.left if n.kind == "row" else self.right, self.shape[0 if n.kind == "row" else 1]
                )
            case "grand_mean":
                return self._grand_mean(n)
            case "apply":
                return n.data[0](
                    *(self._per_item(np.asarray(a, self.dtype)) if isinstance(a, float) else a for a in args)
                )
            case _ if n.op in ELEMENTWISE:
                return elementwise(n.op, args, self._like)
        raise TypeError(f"{n.op!r} cannot be computed")

    def _per_item(self, values: Array) -> Array:
        return arrays.to_device(values, self._device, self.dtype)

    def _mean(self, n: Node, items: list[Any], count: int) -> Array:
        e = n.data
        weights = np.asarray(e.weights, self.dtype)
        inner = Tiles(e.formula, items, e.reference, (count, len(weights)), self.dtype, self.compute)
        return self._per_item(inner.product(arrays.to_device(weights, self._device)[:, None])[:, 0])

    def _grand_mean(self, n: Node) -> float:
        e = n.data
        if e.known is not None:
            return float(e.known)
        means = arrays.to_numpy(self._mean(n, e.reference, len(e.weights)))
        return float(np.dot(np.asarray(e.weights, np.float64), means.astype(np.float64)))

    def _operand(self, n: Node) -> Any:
        if n.op == "opaque":
            return OpaqueBlock(n, self.left, self.right, self.dtype, self._device)
        A, B = (self._leaf(a) for a in n.args)
        check_same_width(A, B)
        if n.op == "fold":
            return FoldBlock(n.data, A, B, self.dtype, self._device, self._compiled)
        if n.op == "dot":
            pair = in_single(A, B, self.dtype) if n is self.formula else None
            left, right = pair or (A, B)
            return dot_block(left, right, self.dtype, self._device, self.compute.budget)
        scale, column = n.data
        return SqDistBlock(A, B, scale, column, self.dtype, self._device, self.compute.budget // 4)

    # -- one tile ----------------------------------------------------------------------------------------------------

    def block(self, rows: slice, cols: slice) -> Array:
        """The tile rows × cols. It lives in this thread's workspace until the next call."""
        # infinities and NaN are reported with their pair, not as a warning
        with np.errstate(over="ignore", invalid="ignore"):
            return self._with_diagonal(self._block(rows, cols), rows, cols)

    def _block(self, rows: slice, cols: slice) -> Array:
        r, c = rows.stop - rows.start, cols.stop - cols.start
        if self._fused is not None:
            return self._fused.fill(rows, cols, self._scratch(0, self._fused.buffer_size(r, c)))
        tile: dict[Node, Any] = {}
        if self.opaque:  # which may take long
            if stopping():
                raise Interrupted
            look()
        for n, operand in self._operands.items():
            tile[n] = operand.fill(rows, cols, self._buffer(self._registers[n], r, c))
        for n in self._steps:
            args = [self._argument(a, tile, rows, cols) for a in n.args]
            if n.op == "apply":
                tile[n] = n.data[0](*args)
            else:
                tile[n] = elementwise(n.op, args, self._like, self._buffer(self._registers[n], r, c))
        out = tile.get(self.formula)
        if out is None:  # the formula is not a tile: a constant, or one value per row or column
            out = self._buffer(0, r, c)
            out[...] = self._argument(self.formula, tile, rows, cols)
        return out

    def _with_diagonal(self, tile: Array, rows: slice, cols: slice) -> Array:
        if self.symmetric and self._diagonal_is_cheap:
            lo, hi = max(rows.start, cols.start), min(rows.stop, cols.stop)
            if lo < hi:
                k = np.arange(lo, hi)
                tile[k - rows.start, k - cols.start] = self._diagonal[lo:hi]
        return tile

    def _finite_block(self, rows: slice, cols: slice) -> Array:
        tile = self.block(rows, cols)
        if not arrays.all_finite(tile):  # one pass of additions while the tile is in cache
            bad = ~np.isfinite(values := arrays.to_numpy(tile))
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
            return arrays.empty((r, c), self.dtype, self._like)  # torch's allocator recycles its blocks
        return self._scratch(register, r * c)[: r * c].reshape(r, c)

    def _scratch(self, register: int, count: int) -> Array:
        buffers: dict[Any, Any] = self._workspace.__dict__
        flat = buffers.get(register)
        if flat is None or flat.size < count:
            height, width = self.edges
            flat = buffers[register] = np.empty(max(count, height * width), self.dtype)
        return flat

    @property
    def edges(self) -> tuple[int, int]:
        """Height and width of a tile."""
        if is_tensor(self._like):
            return _TORCH_EDGE, _TORCH_EDGE
        if self._joins and not self.opaque:
            return min(join.height(self.shape[1]) for join in self._joins), max(1, self.shape[1])
        if self.opaque and self.halves:  # costly values: enough tiles for all threads
            edge = min(_COSTLY_EDGE, max(_LEAST_EDGE, -(-max(self.shape) // (4 * _LEAST_EDGE)) * _LEAST_EDGE))
            return edge, edge
        return _EDGE[self.dtype.name], _EDGE[self.dtype.name]

    # -- sinks -------------------------------------------------------------------------------------------------------

    @property
    def _workers(self) -> int:
        return 1 if is_tensor(self._like) else self.compute.workers

    def store(self, out: Array | None = None) -> Array:
        """The whole matrix; a symmetric one is computed by halves."""
        if out is None:
            out = arrays.empty(self.shape, self.dtype, self._like)
        self._pack()
        if self._launch is not None:
            return self._launched(out)
        if self.symmetric:
            view = self._summed_up()
            view._store_symmetric(out)
            for join in view._joins:
                if isinstance(join, SummedDot):
                    release_workspace(join.total.reshape(-1))
            return out
        height, width = self.edges

        def task(t: tuple[slice, slice]) -> None:
            out[t[0], t[1]] = self._finite_block(*t)

        run_tasks(
            task, ((i, j) for i in chunks(self.shape[0], height) for j in chunks(self.shape[1], width)), self._workers
        )
        return out

    def _summed_up(self) -> Tiles:
        """The same with all inner products at hand, where they cost less together."""
        if not any(isinstance(join, PartsDot) for join in self._joins):
            return self
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        view._workspace = threading.local()
        view._operands = {
            n: o.summed(self._workers) if isinstance(o, PartsDot) else o for n, o in self._operands.items()
        }
        view._joined()
        return view

    def _launched(self, out: Array) -> Array:
        assert self._launch is not None
        self._launch.store(out)
        if self.symmetric:
            k = np.arange(self.shape[0])
            out[k, k] = self._diagonal
        if not arrays.all_finite(out):
            self.check_finite()
        return out

    def _upper(self) -> list[tuple[slice, slice]]:
        """Tiles that cover the upper half: squares, or strips from the diagonal on."""
        n, (height, width) = self.shape[0], self.edges
        if self._joins and not self.opaque:
            return [(i, slice(i.start, n)) for i in chunks(n, height)]
        strips = chunks(n, max(height, width))
        return [(i, j) for a, i in enumerate(strips) for j in strips[a:]]

    def _store_symmetric(self, out: Array) -> None:
        if not (self.opaque and self.halves):
            _ = self._diagonal  # computed before the threads could each start to
        fused, plain = (
            self._fused,
            not is_tensor(out) and out.dtype == self.dtype and out.strides[1] == out.itemsize <= out.strides[0],
        )
        values = len(out) ** 2 * (fused.members if fused is not None else 1)
        at_once = fused is not None and not fused.wide and len(out) <= _MODERATE and values <= _AT_ONCE and plain
        if at_once and fused is not None and fused.symmetric(self._diagonal, out, self._workers):
            return  # else by tiles, to name an entry
        mirror: Callable[[Array, Array, int, int], bool] | None = None
        large = self._fused is not None or (
            not is_tensor(out) and not self.opaque and self.shape[0] ** 2 >= _WORTH_COMPILING
        )
        if large and plain:
            from mercer.engine.mirror import mirror

        def task(t: tuple[slice, slice]) -> None:
            i, j = t
            if i == j and mirror is None:
                out[i, i] = self._diagonal_block(i)
                return
            tile = self.block(i, j) if mirror is not None else self._finite_block(i, j)
            square = max(0, min(i.stop, j.stop) - j.start)  # columns that meet the diagonal
            for part, at in ((tile[:, :square], j.start), (tile[:, square:], j.start + square)):
                if not part.shape[1]:
                    continue
                if mirror is None:
                    if at == i.start:
                        _mirrored(part)
                    out[i, at : at + part.shape[1]] = part
                    out[at : at + part.shape[1], i] = part.T
                elif not mirror(part, out, i.start, at):
                    self._finite_block(i, j)  # computed again, to name the entry

        run_tasks(task, self._upper(), self._workers)

    def _diagonal_block(self, i: slice) -> Array:
        """A tile on the diagonal, exactly symmetric.

        An opaque formula may be costly, so none of its pairs is computed twice: the tile is halved until nothing but
        the diagonal is left. A recorded one is cheaper to compute whole and mirror.
        """
        n = i.stop - i.start
        if not self.opaque or self.halves:
            return _mirrored(self._finite_block(i, i))
        out = arrays.empty((n, n), self.dtype, self._like)
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
        V = arrays.like(V, self._like)
        if self._launch is not None:
            return self._launch.product(V)
        panel = arrays.astype(V, self.dtype)
        out = arrays.zeros((self.shape[0], V.shape[1]), np.float64, self._like)
        # in registers; several columns are multiplied tile by tile
        summed = self._fused is not None and V.shape[1] == 1
        if self.symmetric and not self.opaque:
            self._symmetric_product(panel, out, summed)
        else:
            self._strips_product(panel, out, summed)
        return out

    def _strips_product(self, V: Array, out: Array, summed: bool) -> None:
        height, width = self.edges
        columns = chunks(self.shape[1], _SUMMED_WIDTH if summed else width)
        fused = self._fused if summed else None
        weights = fused.padded(V[:, 0], 1) if fused is not None else V
        if fused is None:
            self._pack()

        def task(i: slice) -> None:
            for j in columns:
                out[i] += self.block(i, j) @ V[j]

        def summing(i: slice) -> None:
            assert fused is not None
            strip, total = fused.strip(i), out[i, 0]
            for j in columns:
                strip.sum(slice(0, i.stop - i.start), j, weights, total)

        if fused is not None:  # nothing is stored: higher strips, but enough of them to keep the threads busy
            height *= max(1, min(4, self.shape[0] // (16 * height)))
        run_tasks(task if fused is None else summing, chunks(self.shape[0], height), self._workers)

    def _symmetric_product(self, V: Array, out: Array, summed: bool) -> None:
        """Each tile of the upper half once, for its rows and for its columns. Tiles are dealt to groups that add up
        apart, each in its order.
        """
        _ = self._diagonal  # computed before the threads could each start to
        self._pack()
        n, tiles = self.shape[0], self._upper()
        fused = self._fused if summed else None
        weights = [fused.padded(V[:, 0], side) for side in (0, 1)] if fused is not None else []
        count = max(1, min(_GROUPS, len(tiles), max(2, self.compute.budget // 8 // max(1, 8 * n * V.shape[1]))))
        sums = [out, *(arrays.zeros(out.shape, np.float64, self._like) for _ in range(count - 1))]

        def task(group: int) -> None:
            total = sums[group]
            for i, j in tiles[group::count]:
                if stopping():  # a group is a long task: it ends where another thread was interrupted
                    return
                look()
                if fused is not None and i != j:
                    fused.sum(i, j, weights[1], total[:, 0], weights[0], total[:, 0])
                    continue
                tile = self.block(i, j)
                total[i] += tile @ V[j]
                below = max(0, i.stop - j.start)  # rows of the other half that are not in the tile itself
                if below < tile.shape[1]:
                    total[j.start + below : j.stop] += tile[:, below:].T @ V[i]

        run_tasks(task, range(count), self._workers)
        for other in sums[1:]:
            out += other

    def normal(self, V: Array, between: Between | None = None) -> Array:
        """K^T h(K V): each strip of K is computed once and used twice; ``between`` is h, given rows and K V there, on
        any thread.
        """
        if self.symmetric or self._launch is not None:
            values = self.product(V)
            if between is not None:
                values = arrays.like(between(slice(0, self.shape[0]), arrays.to_numpy(values)), values)
            return self.T.product(values)
        V = arrays.astype(arrays.like(V, self._like), np.float64)
        n, m = self.shape
        fused = self._fused
        if fused is None:
            self._pack()
        most = _STRIP_BYTES if fused is None else _CACHED_BYTES
        height = max(8, min(self.edges[0], most // max(1, m * self.dtype.itemsize)) // 8 * 8)
        strips = chunks(n, height if fused is None else _PREPARED)
        count = max(1, min(_GROUPS, len(strips), self.compute.budget // 4 // max(1, 8 * m * V.shape[1])))
        sums = [arrays.zeros((m, V.shape[1]), np.float64, self._like) for _ in range(count)]
        panel = arrays.astype(V, self.dtype)

        one = V.shape[1] == 1 and not is_tensor(V)  # a vector, for which BLAS has a routine of its own

        def add(total: Array, rows: slice, strip: Array) -> None:
            values = (strip @ panel[:, 0])[:, None] if one else strip @ panel
            if between is not None:
                found = between(rows, arrays.to_numpy(arrays.astype(values, np.float64)))
                values = arrays.astype(arrays.like(found, strip), self.dtype)
            if one:
                total[:, 0] += values[:, 0] @ strip
            else:
                total += strip.T @ values

        def task(group: int) -> None:
            for i in strips[group::count]:
                if stopping():
                    return
                look()
                if fused is None:
                    add(sums[group], i, self._strip(i))
                    continue
                part = fused.strip(i)
                buffer = self._scratch(0, part.buffer_size(height, m))
                for k in chunks(i.stop - i.start, height):
                    add(sums[group], slice(i.start + k.start, i.start + k.stop), part.fill(k, slice(0, m), buffer))

        run_tasks(task, range(count), self._workers)
        return sum(sums[1:], sums[0])

    def _strip(self, rows: slice) -> Array:
        """Some rows, all columns."""
        strip = arrays.empty((rows.stop - rows.start, self.shape[1]), self.dtype, self._like)
        for j in chunks(self.shape[1], self.edges[1]):
            strip[:, j] = self.block(rows, j)
        return strip

    # -- views -------------------------------------------------------------------------------------------------------

    def sub(self, rows: Index, cols: Index) -> Tiles:
        """The matrix of some rows and columns (slices or index arrays), sharing what was prepared for the whole."""
        if not self.fits:
            self._pack()
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__)
        view._workspace = threading.local()
        same = self.symmetric and same_selection(rows, cols, self.shape[0])
        view.symmetric = same
        view.shape = (len(range(self.shape[0])[rows]) if isinstance(rows, slice) else len(rows),
                      len(range(self.shape[1])[cols]) if isinstance(cols, slice) else len(cols))  # fmt: skip
        view.left, view.right = [take(x, rows) for x in self.left], [take(x, cols) for x in self.right]
        choose = {"row": rows, "col": cols}
        view._values = {n: v if n.kind == "scalar" else take(v, choose[n.kind]) for n, v in self._values.items()}
        view._operands = {n: o.sub(rows, cols, view) for n, o in self._operands.items()}
        view._joined()
        if self._fused is not None:
            # a side wanted whole is shared: what a solver asks for again and again
            view._packed, view._launch = self._fused.part(rows, cols), None
        else:
            view._fuse()
        view.diagonal = self.diagonal if same else None
        view._diagonal_values = take(self._diagonal, rows) if same and not self.opaque else None
        return view

    @property
    def T(self) -> Tiles:
        if self.symmetric:
            return self
        return Tiles(
            transposed(self.formula),
            self.right,
            self.left,
            self.shape[::-1],
            self.dtype,
            self.compute,
            None,
            self._compiled,
        )

    def astype(self, dtype: DTypeLike) -> Tiles:
        if self.dtype == dtype:
            return self
        return Tiles(
            self.formula, self.left, self.right, self.shape, dtype, self.compute, self.diagonal, self._compiled
        )

    def compiled(self) -> Tiles:
        """The same by compiled code, however small: for a caller that is compiled itself, and may ask for it often."""
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, _workspace=threading.local(), _compiled=True)
        view._operands = {n: view._operand(n) if n.op == "fold" else o for n, o in self._operands.items()}
        view._fuse()
        return view

    def diag(self) -> Array:
        """K_ii without the rest."""
        if self.symmetric:
            return self._diagonal
        n = min(self.shape)
        out = arrays.empty((n,), self.dtype, self._like)
        for i in chunks(n, 64):  # small tiles: all but their diagonal is thrown away
            tile = self.block(i, i)
            k = np.arange(i.stop - i.start)
            out[i] = tile[k, k]
        return out

    @property
    def family_key(self) -> Any:
        """The same for formulas that differ in their numbers alone, between the same items in memory; None where no
        registers hold them.
        """
        if not self.fits or self.wide:
            return None
        spec, inputs = specify(self._operands, self._steps, self.formula)
        items = tuple(id(x) for x in self.left + self.right)
        same = (*self._operands, *inputs["row"], *inputs["col"])
        return self.shape, self.dtype, self.symmetric, items, spec, same

    @property
    def numbers(self) -> list[float]:
        """Those of the formula, which the members of a family do not share."""
        _, inputs = specify(self._operands, self._steps, self.formula)
        return [float(self._values[n]) for n in inputs["scalar"]]

    def check_finite(self) -> None:
        """Compute every entry, store none, and raise NonFinite at the first that is not a finite number."""
        for i in chunks(self.shape[0], self.edges[0]):
            for j in chunks(self.shape[1], self.edges[1]):
                self._finite_block(i, j)


def _mirrored(tile: Array) -> Array:
    """A square tile with its lower triangle that of the upper."""
    lower = np.tri(len(tile), k=-1, dtype=bool)
    if is_tensor(tile):
        lower = arrays.to_device(lower, str(tile.device))
        tile[lower] = tile.T[lower]
    else:
        np.copyto(tile, tile.T, where=lower)
    return tile


def same_selection(rows: Index, cols: Index, n: int) -> bool:
    """Whether two slices or index arrays choose the same of n items in the same order."""
    if isinstance(rows, slice) and isinstance(cols, slice):
        return range(n)[rows] == range(n)[cols]
    return rows is cols or bool(np.array_equal(np.arange(n)[rows], np.arange(n)[cols]))


def _home(found: list[Any], compute: Compute) -> Array:
    """An empty array of the kind to compute with: on the device asked for, else where the data is."""
    tensor = next((x for x in found if is_tensor(x)), None)
    if tensor is None and (compute.device is None or compute.device.startswith("cpu")):
        return np.empty(0)
    return arrays.to_device(np.empty(0) if tensor is None else tensor[:0], compute.device)


def _moved(x: Items, device: str | None) -> Any:
    """A leaf of numbers on the device; anything else stays where it is, and goes there tile by tile."""
    numbers = is_tensor(x) or (isinstance(x, np.ndarray) and x.dtype.kind in "fiub")
    return arrays.to_device(x, device) if numbers and device is not None else x
