"""A formula of one inner product fused into one pass: one file, a micro-kernel and the text that surrounds it.

Packed panels, the reduction and the rest of the formula in registers.

For formulas whose only reductions are ⟨a, b⟩ and ‖a − b‖² of the same dense items, a tile is filled by a micro-kernel:
a few rows times a few vectors of columns are accumulated in registers over the columns of the data, the recorded
formula is applied to them there, and the values are stored once. Nothing goes through memory twice, so a Gaussian value
costs about what its inner product alone costs a BLAS.

The code is generated as text around an ``@intrinsic`` and kept in the user's cache, so that Numba caches what it
compiled. Numbers in a formula are arguments of the code: a new γ compiles nothing. Nor do many: a *family* is one
formula with several sets of numbers, each with a weight; the reduction is computed once, and a loop in registers goes
through the members.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.annotations import Index
from mercer.arrays import Array
from mercer.engine.expression import Node
from mercer.engine.packing import ROWS, Panels, Rows, is_all, up
from mercer.engine.reductions import TINY, DotBlock, SqDistBlock
from mercer.runtime import compiling, threads

if TYPE_CHECKING:
    from llvmlite import ir
    from numba.core.base import BaseContext
    from numba.core.typing import Signature

# columns of data; beyond, the inner products are a BLAS product, and the rest of the formula follows in registers
_WIDEST = 128
_STRIP = 64  # rows of a symmetric matrix that are computed together: a multiple of ROWS and of the width of a panel
_WORTH_COMPILING = 2**20  # values; fewer are there before a compiler has started
_LOWERED = {
    "add",
    "subtract",
    "multiply",
    "divide",
    "negative",
    "exp",
    "log",
    "sqrt",
    "tanh",
    "absolute",
    "minimum",
    "maximum",
    "greater",
    "equal",
    "where",
}

Spec = tuple[Any, ...]


def vectors() -> int:
    """Registers of columns in a micro-tile: 4 × 4 accumulators where there are 32 registers, 4 × 2 where there are
    16.
    """
    from mercer.native.vector import register_bytes

    return 4 if register_bytes() == 64 else 2


def fusible(
    operands: dict[Node, Any],
    steps: list[Node],
    values: dict[Node, Any],
    shape: tuple[int, int],
    budget: int,
    compiled: bool = False,
) -> bool:
    """Whether a formula is a function of inner products and squared distances of one pair of dense arrays, and large
    enough, or ``compiled`` code is wanted however small it is.

    The items are copied twice on each side (centred, and as given), which must fit the budget.
    """
    if (
        (shape[0] * shape[1] < _WORTH_COMPILING and not compiled)
        or not operands
        or any(n.op not in _LOWERED for n in steps)
    ):
        return False
    if any(getattr(values.get(a), "dtype", np.dtype(float)).kind in "iu" for n in steps for a in n.args):
        return False  # codes of categories: a float could not hold them
    leaves = {n.args for n in operands}
    kinds = [n.op for n in operands]
    first = next(iter(operands.values()))
    return (
        len(leaves) == 1
        and len(set(kinds)) == len(kinds)  # at most one of each: a second metric would need a second sum
        and all(isinstance(o, DotBlock | SqDistBlock) and o.dense and o.all_columns for o in operands.values())
        and (
            "dot" not in kinds
            or len(kinds) == 1
            or all(o.inverse is None for o in operands.values() if isinstance(o, SqDistBlock))
        )
        and 2 * sum(shape) * first.A.shape[1] * first.dtype.itemsize <= budget
    )


def is_wide(operands: dict[Node, Any]) -> bool:
    return bool(next(iter(operands.values())).A.shape[1] > _WIDEST)


class FusedTile:
    """Fills tiles of one formula, or sums them with weights as they pass; made for a pair of item sets, remade for
    parts of them.
    """

    def __init__(
        self, operands: dict[Node, Any], steps: list[Node], result: Node, values: dict[Node, Any], dtype: np.dtype[Any]
    ) -> None:
        self.dtype = dtype
        metric = next((o for o in operands.values() if isinstance(o, SqDistBlock)), None)
        self.spec, inputs = specify(operands, steps, result)
        self.lanes = _lanes(dtype)
        self.width = vectors() * self.lanes
        first = next(iter(operands.values()))
        # an inner product beside the distance is that of the data as it is, so only a distance alone can be centred
        centred = metric is not None and len(operands) == 1
        self.scale = np.ones(first.A.shape[1], dtype)
        as_given = metric is not None and metric.A.dtype == dtype == metric.B.dtype
        if metric is not None and metric.inverse is not None and as_given:
            self.scale = np.asarray(metric.inverse, dtype)

        def prepared(x: Array) -> tuple[Array, Array | None, Array]:
            """The items of inner products, the items of differences, and the norms of the former."""
            items = metric.centred(x) if centred and metric is not None else x.astype(dtype, copy=False)
            if metric is None:
                return items, None, np.zeros(len(items), dtype)
            # differences are taken on the data as given; in another precision than the data's, on the centred data,
            # which loses less
            raw = x if as_given else items if centred else metric.centred(x)
            return items, raw, np.einsum("ij,ij->i", items, items)

        self.wide = is_wide(operands)
        self._both = prepared(first.B) if first.A is first.B else None  # of the left items too, until they are wanted
        self.rows = [np.asarray(values[n], dtype) for n in inputs["row"]]
        self.prepare, self.source = prepared, first.A
        self._left: Rows | None = None
        columns = [np.asarray(values[n], dtype) for n in inputs["col"]]
        self.right = Panels(*(self._both or prepared(first.B)), columns, self.width)
        self.scalars = np.array([values[n] for n in inputs["scalar"]] or [0.0], dtype)
        self.numbers: Array | None = None  # of each member of a family

    def family(self, numbers: Array, weights: Array) -> FusedTile:
        """Σ_m w_m of this formula with each row of ``numbers`` in the place of its own."""
        other = copy(self)
        other.numbers = numbers
        other.scalars = np.column_stack([numbers, weights]).astype(self.dtype).reshape(-1)
        return other

    @property
    def members(self) -> int:
        return 1 if self.numbers is None else len(self.numbers)

    @property
    def _members(self) -> tuple[int, int]:
        """How many sets of numbers there are, and how far they are apart."""
        return self.members, len(self.scalars) // self.members

    @property
    def _loop(self) -> Any:
        return _compiled(self.spec, self.dtype, vectors(), self.wide, self.numbers is not None)

    @property
    def left(self) -> Rows:
        """All left items, prepared when first needed; sinks that pass over them once ask for a strip at a time."""
        if self._left is None:
            self._left, self._both = Rows(*(self._both or self.prepare(self.source)), self.rows), None
        return self._left

    def strip(self, rows: slice) -> FusedTile:
        """The same for some of the rows, prepared for this once."""
        other = copy(self)
        other._left = (
            self._left.part(rows)
            if self._left is not None
            else Rows(*self.prepare(self.source[rows]), [x[rows] for x in self.rows])
        )
        return other

    def fill(self, rows: slice, cols: slice, buffer: Array) -> Array:
        """The tile rows × cols, in ``buffer``, which holds ``buffer_size(…)`` values; rows start at a multiple of ROWS,
        columns of the packed width.
        """
        r, c = rows.stop - rows.start, cols.stop - cols.start
        height, width = up(r, ROWS), up(c, self.width)
        out = buffer[: height * width].reshape(height, width)
        if self.wide:
            self._inner_products(rows, cols, out)
        self._run(_STORED, rows, cols, out.reshape(-1), width, _no_sums(self.scalars))
        return out[:r, :c]

    def symmetric(self, diagonal: Array, out: Array, workers: int) -> bool:
        """The whole of a symmetric matrix of moderate size in one call for each thread, half of it computed; whether
        all of it is finite.
        """
        ldo, turn, found = out.strides[0] // out.itemsize, np.zeros(1, np.int64), []
        length = (len(out) - 1) * ldo + len(out)
        flat = (
            out.reshape(-1)
            if out.flags.c_contiguous
            else np.lib.stride_tricks.as_strided(out, (length,), out.strides[1:])
        )
        aligned = not any(x % (self.lanes * out.itemsize) for x in (out.ctypes.data, out.strides[0]))
        loop, members = self._loop, self._members
        sides, sums = (*self.left.arrays, *self.right.arrays), _no_sums(self.scalars)

        def task(_: int) -> None:
            strip = np.empty(_STRIP * len(self.right.items) * self.width, self.dtype)
            place = (diagonal, flat, ldo, aligned, turn)
            found.append(loop(*sides, self.scale, self.scalars, *members, _SYMMETRIC, strip, 0, 0, 0, 0, *sums, *place))

        busy = min(workers, -(-len(out) // (8 * _STRIP)))  # a few strips are there before another thread is awake
        threads.run_tasks(task, range(busy), workers, blas=False)
        return all(found)

    def padded(self, v: Array, side: int) -> Array:
        """The weights of the items of one side, and zeros for the items that pad it."""
        out = np.zeros(up(len(v), (ROWS, self.width)[side]), self.dtype)
        out[: len(v)] = v
        return out

    def sum(
        self,
        rows: slice,
        cols: slice,
        of_cols: Array,
        row_sums: Array,
        of_rows: Array | None = None,
        col_sums: Array | None = None,
        room: tuple[Array, Array] | None = None,
    ) -> None:
        """row_sums += K v for the tile rows × cols, and col_sums += K^T u where u is given; the tile is not stored.

        ``of_cols`` and ``of_rows`` are the padded v and u. Sums within the tile run in registers, sums of tiles in
        float64. Of a family each member has sums of its own, and its weight is not asked: both are (members, items).
        ``room`` is memory for the sums of a tile, to be used again.
        """
        both = of_rows is not None and col_sums is not None
        height, width = up(rows.stop - rows.start, ROWS), up(cols.stop - cols.start, self.width)
        u, found = (of_rows, col_sums) if both else (of_cols, np.zeros(0))
        assert found is not None
        sums = (
            of_cols,
            u,
            *self._zeros((self.members * height * self.lanes, self.members * width if both else 1), room),
            row_sums.reshape(-1),
            found.reshape(-1),
        )
        tile = self.scalars
        if self.wide:
            tile = np.empty((height, width), self.dtype)
            self._inner_products(rows, cols, tile)
        self._run(_BOTH_SUMS if both else _ROW_SUMS, rows, cols, tile.reshape(-1), width, sums)

    def _zeros(self, sizes: tuple[int, int], room: tuple[Array, Array] | None) -> list[Array]:
        if room is None:
            return [np.zeros(size, self.dtype) for size in sizes]
        found = [memory[:size] for size, memory in zip(sizes, room, strict=True)]
        for memory in found:
            memory.fill(0)
        return found

    def room(self, rows: int, cols: int) -> tuple[Array, Array]:
        """Memory for the sums of tiles of so many rows and columns."""
        sizes = up(rows, ROWS) * self.lanes, max(1, up(cols, self.width))
        return np.empty(self.members * sizes[0], self.dtype), np.empty(self.members * sizes[1], self.dtype)

    def _inner_products(self, rows: slice, cols: slice, out: Array) -> None:
        """⟨a, b⟩ of a tile of wide items by BLAS; the micro-kernel reads them instead of adding them up."""
        first = cols.start // self.width
        panels = self.right.items[first : first + out.shape[1] // self.width]
        for k, panel in enumerate(panels):
            np.matmul(
                self.left.items[rows.start : rows.start + len(out)],
                panel,
                out=out[:, k * self.width : (k + 1) * self.width],
            )

    def _run(self, sink: int, rows: slice, cols: slice, tile: Array, width: int, sums: tuple[Any, ...]) -> None:
        place = (rows.start, rows.start + up(rows.stop - rows.start, ROWS), cols.start // self.width)
        sides = (*self.left.arrays, *self.right.arrays)
        given = (*sides, self.scale, self.scalars, *self._members)
        self._loop(*given, sink, tile, width, *place, *sums, *_no_matrix(self.scalars))

    def part(self, rows: Index, cols: Index) -> FusedTile:
        """The same for some of the rows and columns; a side that is wanted whole is shared."""
        other = copy(self)
        other._left, other.right = self._left if is_all(rows) else self.left.part(rows), self.right.part(cols)
        return other

    def buffer_size(self, r: int, c: int) -> int:
        return up(r, ROWS) * up(c, self.width)


def _lanes(dtype: np.dtype[Any]) -> int:
    from mercer.native.vector import register_bytes

    return register_bytes() // dtype.itemsize


# ---------------------------------------------------------------------------------------------------------------------
# The formula as a plain value, and the code around it
# ---------------------------------------------------------------------------------------------------------------------


def specify(operands: dict[Node, Any], steps: list[Node], result: Node) -> tuple[Spec, dict[str, list[Node]]]:
    """The formula as nested tuples, with what changes from call to call (scalars, vectors) by number; and what those
    are.
    """
    inputs: dict[str, list[Node]] = {"scalar": [], "row": [], "col": []}
    position: dict[Node, int] = {}
    program: list[Any] = []

    def reference(n: Node) -> tuple[str, int]:
        if n in position:
            return "step", position[n]
        if n in operands:
            return n.op, 0
        known = inputs[n.kind]
        if n not in known:
            known.append(n)
        return n.kind, known.index(n)

    for n in steps:
        program.append((n.op, tuple(reference(a) for a in n.args)))
        position[n] = len(program) - 1
    kinds = tuple(sorted({n.op for n in operands}))
    return (kinds, tuple(program), reference(result)), inputs


# What the micro-kernel is given: arrays, whole numbers (offsets, strides, positions, the sink), and the bound ``near``.
_ARRAYS = (
    "A",
    "raw_A",
    "na",
    "rows",
    "B",
    "raw_B",
    "nb",
    "cols",
    "scale",
    "scalars",
    "tile",
    "v",
    "u",
    "row_sums",
    "col_sums",
)
_NUMBERS = (
    "a",
    "b",
    "raw_a",
    "raw_b",
    "d",
    "ldr",
    "ldc",
    "o",
    "ldt",
    "i",
    "j",
    "s",
    "c",
    "sink",
    "members",
    "stride",
    "lds",
)
_ARGUMENTS = ", ".join((*_ARRAYS, *_NUMBERS, "near"))
# What becomes of a tile: it is stored, or summed with weights over its columns, or over both; or it is a strip of a
# whole symmetric matrix.
_STORED, _ROW_SUMS, _BOTH_SUMS, _SYMMETRIC = range(4)

# One function with the micro-kernel in it once, whatever the sink: compiling the micro-kernel is what takes the time,
# and one branch for hundreds of values costs nothing.
_MODULE = """
# written by {writer}
from numba.extending import intrinsic

from mercer.native.atomics import count
from mercer.engine.cpu import micro_kernel
from mercer.engine.mirror import spread

SPEC = {spec!r}


@intrinsic
def micro(context, {arguments}):
    return micro_kernel(SPEC, {dtype!r}, {vectors}, {loaded}, {family}, ({arguments}))


def loop(A, raw_A, na, near_a, rows, B, raw_B, nb, near_b, cols, scale, scalars, members, stride, sink, tile, ldt,
         first, last, panel, v, u, row_sums, col_sums, total_rows, total_cols, diagonal, out, ldo, aligned, turn):
    d, width, lanes, finite, n, r = B.shape[1], B.shape[2], {lanes}, True, len(diagonal), 0
    raw = raw_B.shape[1] == d and raw_B.shape[2] == width
    ldr, ldc = rows.shape[1], cols.shape[1]
    while True:
        if sink == {symmetric}:
            first = {height} * count(turn, 0)
            if first >= n:
                return finite
            r = n - first if n - first < {height} else {height}
            last, panel, ldt = first + (r + {rows} - 1) // {rows} * {rows}, first // width, len(B) * width - first
        lds = (last - first) * lanes
        for p in range(ldt // width):
            b = (panel + p) * d * width
            far = near_b[panel + p if raw else 0]
            for i in range(first, last, {rows}):
                a = i * d
                near = far + near_a[i // {rows} if raw else 0]
                raw_a, raw_b, j = a if raw else 0, b if raw else 0, (panel + p) * width
                o, s, c = (i - first) * ldt + p * width, (i - first) * lanes, p * width
                micro({arguments})
        if sink != {symmetric}:
            break
        for k in range(r):
            tile[k * ldt + k] = diagonal[first + k]
        finite &= spread(tile, ldt, r, n - first, out, ldo, first, first, lanes, aligned)
    if sink != {stored}:
        start, n_rows, n_cols = panel * width, len(total_rows) // members, len(total_cols) // members
        for m in range(members):
            for i in range(first, min(last, n_rows)):
                total = 0.0
                for lane in range(lanes):
                    total += row_sums[m * lds + (i - first) * lanes + lane]
                total_rows[m * n_rows + i] += total
            for c in range(min(ldt, n_cols - start)):
                total_cols[m * n_cols + start + c] += col_sums[m * ldt + c]
    return finite
"""


@cache
def _writer() -> str:
    """A digest of the code that writes micro-kernels, and of what is compiled into their loop: what an earlier version
    wrote must not be found in the cache.
    """
    from mercer.engine import mirror
    from mercer.native import vector

    return hashlib.sha256(
        "".join(map(inspect.getsource, (vector, mirror, sys.modules[__name__]))).encode()
    ).hexdigest()[:16]


@cache
def _compiled(spec: Spec, dtype: np.dtype[Any], count: int, loaded: bool, family: bool) -> Any:
    lanes = _lanes(dtype)
    width = count * lanes
    one, many = np.ones(64, dtype), np.ones((1, width), dtype)
    rows, panel = np.ones((2 * ROWS, 1), dtype), np.ones((1, 1, width), dtype)
    left, right = (rows, rows, one, one, many), (panel, panel, one, one, many)
    text = _MODULE.format(
        spec=spec,
        dtype=dtype.name,
        vectors=count,
        rows=ROWS,
        lanes=lanes,
        loaded=loaded,
        family=family,
        height=_STRIP,
        stored=_STORED,
        symmetric=_SYMMETRIC,
        arguments=_ARGUMENTS,
        writer=_writer(),
    )
    tile = np.ones(ROWS * width, dtype)
    return compiling.jit_source(
        "loop", text, *left, *right, one, one, 1, 1, _STORED, tile, width, 0, ROWS, 0, *_no_sums(one), *_no_matrix(one)
    )


def _no_sums(none: Array) -> tuple[Any, ...]:
    """What a loop is given in place of weights and sums."""
    nothing = np.zeros(0)
    return none, none, none, none, nothing, nothing


def _no_matrix(none: Array) -> tuple[Any, ...]:
    """What a loop is given in place of a symmetric matrix, its diagonal and the counter of its strips."""
    return none, none, 0, False, _NO_TURN


_NO_TURN = np.zeros(1, np.int64)


def micro_kernel(spec: Spec, dtype: str, count: int, loaded: bool, family: bool, arguments: tuple[Any, ...]) -> Any:
    """Signature and code of the micro-kernel for ``numba.extending.intrinsic``."""
    from numba import types

    names = (*_ARRAYS, *_NUMBERS, "near")
    signature = types.void(*(types.intp if name in _NUMBERS else t for name, t in zip(names, arguments, strict=True)))

    def code(context: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        given = {
            name: context.make_array(t)(context, builder, value).data if name in _ARRAYS else value
            for name, t, value in zip(names, sig.args, values, strict=True)
        }
        _Emitter(spec, np.dtype(dtype), count, builder, given).emit(loaded, family)
        return context.get_dummy_value()

    return signature, code


class _Emitter:
    """Writes one micro-kernel at the builder's position."""

    def __init__(
        self, spec: Spec, dtype: np.dtype[Any], count: int, builder: ir.IRBuilder, given: dict[str, Any]
    ) -> None:
        from llvmlite import ir

        from mercer.native.vector import Vector

        self.kinds, self.program, self.result = spec
        self.v, self.b, self.g, self.count, self.dtype = Vector(builder, dtype), builder, given, count, dtype
        self.int64 = ir.IntType(64)
        self.inputs: dict[Any, Any] = {}
        self.first: ir.Value | None = None  # of the numbers of one member

    def _int(self, value: int) -> Any:
        from llvmlite import ir

        return ir.Constant(self.int64, value)

    def _at(self, pointer: str, *offsets: ir.Value) -> Any:
        total = offsets[0]
        for o in offsets[1:]:
            total = self.b.add(total, o)
        return self.b.gep(self.g[pointer], [total])

    def emit(self, loaded: bool, family: bool) -> None:
        """``loaded``: the inner products stand in ``tile`` already."""
        grid = [(r, q) for r in range(ROWS) for q in range(self.count)]
        if loaded:
            dots = {cell: self.v.load(self._place(*cell)) for cell in grid}
        else:
            dots = self._accumulate("A", "a", "B", "b", lambda x, y, total: self.v.fma(x, y, total))
        reduced: dict[str, dict[tuple[int, int], Any]] = {"dot": dots}
        if "sqdist" in self.kinds:
            reduced["sqdist"] = self._distances(grid, dots)
        if family:
            self._members(reduced)
            return
        finished = {}
        for r, q in grid:
            finished[r, q] = self._finish(r, q, {name: values[r, q] for name, values in reduced.items()})
        with self.b.if_else(self._sinks(_ROW_SUMS, _BOTH_SUMS)) as (summed, stored):
            with summed:
                self._sum_rows(finished)
                with self.b.if_then(self._sinks(_BOTH_SUMS)):
                    self._sum_cols(finished)
            with stored:
                for (r, q), value in finished.items():
                    self.v.store(value, self._place(r, q))

    def _members(self, reduced: dict[str, dict[tuple[int, int], Any]]) -> None:
        """The formula once for each member, row by row: added up with weights and stored, or summed apart."""
        from numba.core import cgutils

        for r in range(ROWS):
            row = [{name: values[r, q] for name, values in reduced.items()} for q in range(self.count)]
            for kind, index in {x for _, found in (*self.program, ("", (self.result,))) for x in found}:
                for q in range(self.count):  # what the loop reads must be there before it
                    if kind in ("row", "col"):
                        self._input(kind, index, r if kind == "row" else q)
            totals = [cgutils.alloca_once_value(self.b, self.v.constant(0)) for _ in row]
            known = dict(self.inputs)
            with cgutils.for_range(self.b, self.g["members"]) as loop:
                m = loop.index
                self.first = self.b.mul(m, self.g["stride"])
                values = [self._finish(r, q, found) for q, found in enumerate(row)]
                with self.b.if_else(self._sinks(_ROW_SUMS, _BOTH_SUMS)) as (summed, stored):
                    with summed:
                        self._sum_row_of(m, r, values)
                        with self.b.if_then(self._sinks(_BOTH_SUMS)):
                            self._sum_cols_of(m, r, values)
                    with stored:
                        last = self.b.sub(self.b.add(self.first, self.g["stride"]), self._int(1))
                        weight = self.v.splat(self.b.load(self._at("scalars", last)))
                        for total, value in zip(totals, values, strict=True):
                            self.b.store(self.v.fma(value, weight, self.b.load(total)), total)
            self.inputs = known
            with self.b.if_then(self.b.not_(self._sinks(_ROW_SUMS, _BOTH_SUMS))):
                for q, total in enumerate(totals):
                    self.v.store(self.b.load(total), self._place(r, q))

    def _sum_row_of(self, m: ir.Value, r: int, values: list[ir.Value]) -> None:
        """Σ_q K[r, q] v[q] of one member."""
        place = self._at("row_sums", self.b.mul(m, self.g["lds"]), self.g["s"], self._int(r * self.v.lanes))
        total = self.v.load(place)
        for q, value in enumerate(values):
            weight = self.v.load(self._at("v", self.g["j"], self._int(q * self.v.lanes)))
            total = self.v.fma(value, weight, total)
        self.v.store(total, place)

    def _sum_cols_of(self, m: ir.Value, r: int, values: list[ir.Value]) -> None:
        """K[r, q] u[r] of one member, added to the sums of the columns."""
        weight = self.v.splat(self.b.load(self._at("u", self.g["i"], self._int(r))))
        for q, value in enumerate(values):
            place = self._at("col_sums", self.b.mul(m, self.g["ldt"]), self.g["c"], self._int(q * self.v.lanes))
            self.v.store(self.v.fma(value, weight, self.v.load(place)), place)

    def _sinks(self, *which: int) -> Any:
        """One bit: whether the sink is one of these."""
        found = [self.b.icmp_signed("==", self.g["sink"], self._int(sink)) for sink in which]
        return found[0] if len(found) == 1 else self.b.or_(*found)

    def _place(self, r: int, q: int) -> Any:
        return self._at("tile", self.g["o"], self.b.mul(self.g["ldt"], self._int(r)), self._int(q * self.v.lanes))

    def _sum_rows(self, values: dict[tuple[int, int], Any]) -> None:
        """A register of partial sums for each row: Σ_q K[r, q] v[q]; its lanes are added up once a tile."""
        weights = [self.v.load(self._at("v", self.g["j"], self._int(q * self.v.lanes))) for q in range(self.count)]
        for r in range(ROWS):
            place = self._at("row_sums", self.g["s"], self._int(r * self.v.lanes))
            total = self.v.load(place)
            for q in range(self.count):
                total = self.v.fma(values[r, q], weights[q], total)
            self.v.store(total, place)

    def _sum_cols(self, values: dict[tuple[int, int], Any]) -> None:
        """Σ_r K[r, q] u[r] for each register of columns."""
        weights = [self.v.splat(self.b.load(self._at("u", self.g["i"], self._int(r)))) for r in range(ROWS)]
        for q in range(self.count):
            place = self._at("col_sums", self.g["c"], self._int(q * self.v.lanes))
            total = self.v.load(place)
            for r in range(ROWS):
                total = self.v.fma(values[r, q], weights[r], total)
            self.v.store(total, place)

    def _accumulate(
        self, left: str, a: str, right: str, b: str, step: Callable[..., ir.Value], *, scaled: bool = False
    ) -> dict[tuple[int, int], Any]:
        """step(x, y, total) over the columns of the data, in registers, for each row and each vector of columns."""
        from numba.core import cgutils

        lanes, width = self.v.lanes, self.count * self.v.lanes
        zero = self.v.constant(0)
        totals = {(r, q): cgutils.alloca_once_value(self.b, zero) for r in range(ROWS) for q in range(self.count)}
        rows = [self._at(left, self.g[a], self.b.mul(self.g["d"], self._int(r))) for r in range(ROWS)]
        with cgutils.for_range(self.b, self.g["d"]) as loop:
            k = loop.index
            panel = self.b.mul(k, self._int(width))
            ys = [self.v.load(self._at(right, self.g[b], panel, self._int(q * lanes))) for q in range(self.count)]
            weight = self.v.splat(self.b.load(self._at("scale", k))) if scaled else None
            for r in range(ROWS):
                x = self.v.splat(self.b.load(self.b.gep(rows[r], [k])))
                for q in range(self.count):
                    total = self.b.load(totals[r, q])
                    value = step(x, ys[q], total) if weight is None else step(x, ys[q], total, weight)
                    self.b.store(value, totals[r, q])
        return {key: self.b.load(total) for key, total in totals.items()}

    def _distances(self, grid: list[tuple[int, int]], dots: dict[tuple[int, int], Any]) -> dict[tuple[int, int], Any]:
        """‖a‖² + ‖b‖² − 2⟨a, b⟩; where one of the micro-tile is small against the norms, all of it again as Σ(a −
        b)².
        """
        from numba.core import cgutils

        left = [self.v.splat(self.b.load(self._at("na", self.g["i"], self._int(r)))) for r in range(ROWS)]
        right = [self.v.load(self._at("nb", self.g["j"], self._int(q * self.v.lanes))) for q in range(self.count)]
        cells = {}
        smallest = self.v.constant(np.inf)
        for r, q in grid:
            value = self.v.fma(dots[r, q], self.v.constant(-2.0), self.b.fadd(left[r], right[q]))
            smallest = self.v.least(value, smallest)
            cells[r, q] = cgutils.alloca_once_value(self.b, value)
        # ``near`` is the caller's bound for this panel and these rows: a share of the largest norms
        with self.b.if_then(self.v.any_less(smallest, self.v.splat(self.g["near"])), likely=False):

            def step(x: ir.Value, y: ir.Value, total: ir.Value, weight: ir.Value) -> Any:
                difference = self.b.fmul(self.b.fsub(x, y), weight)
                return self.v.fma(difference, difference, total)

            exact = self._accumulate("raw_A", "raw_a", "raw_B", "raw_b", step, scaled=True)
            tiny = self.v.constant(TINY[self.dtype])
            for (r, q), value in exact.items():
                # each pair by its own norms, so that a value does not depend on what else is in the micro-tile
                expanded = self.b.load(cells[r, q])
                close = self.b.fcmp_ordered("<", expanded, self.b.fmul(tiny, self.b.fadd(left[r], right[q])))
                self.b.store(self.b.select(close, value, expanded), cells[r, q])
        return {cell: self.b.load(pointer) for cell, pointer in cells.items()}

    def _finish(self, r: int, q: int, reduced: dict[str, Any]) -> Any:
        """The rest of the formula on one register."""
        steps: list[Any] = []

        def operand(reference: tuple[str, int]) -> Any:
            kind, index = reference
            if kind == "step":
                return steps[index]
            return reduced[kind] if kind in reduced else self._input(kind, index, {"row": r, "col": q}.get(kind, 0))

        for op, references in self.program:
            if op == "exp" and (scaled := self._scaled(references[0])):
                factor, x = scaled
                steps.append(self.v.exp_scaled(operand(factor), operand(x)))
            else:
                steps.append(getattr(self.v, op)(*(operand(x) for x in references)))
        return operand(self.result)

    def _scaled(self, reference: tuple[str, int]) -> tuple[Any, Any] | None:
        """(c, x) where a step is c·x with a scalar c: exp(c x) then takes one multiplication in all."""
        if reference[0] == "step" and self.program[reference[1]][0] == "multiply":
            one, other = self.program[reference[1]][1]
            if "scalar" in (one[0], other[0]):
                return (one, other) if one[0] == "scalar" else (other, one)
        return None

    def _input(self, kind: str, index: int, place: int) -> Any:
        """A scalar, or what belongs to a row or a register of columns; loaded once a micro-tile, before anything is
        stored.
        """
        key = (kind, index, place)
        if key not in self.inputs:
            if kind == "scalar":
                place_of = (self._int(index),) if self.first is None else (self.first, self._int(index))
                self.inputs[key] = self.v.splat(self.b.load(self._at("scalars", *place_of)))
            elif kind == "row":
                offset = self.b.mul(self.g["ldr"], self._int(index))
                self.inputs[key] = self.v.splat(self.b.load(self._at("rows", offset, self.g["i"], self._int(place))))
            else:
                offset = self.b.mul(self.g["ldc"], self._int(index))
                self.inputs[key] = self.v.load(self._at("cols", offset, self.g["j"], self._int(place * self.v.lanes)))
        return self.inputs[key]
