"""A formula of one inner product fused into one pass: packed panels, the reduction and the rest of the formula in registers.

For formulas whose only reductions are ⟨a, b⟩ and ‖a − b‖² of the same dense items, a tile is filled by a micro-kernel: a few rows times a
few vectors of columns are accumulated in registers over the columns of the data, the recorded formula is applied to them there, and the
values are stored once. Nothing goes through memory twice, so a Gaussian value costs about what its inner product alone costs a BLAS.

The code is generated as text around an ``@intrinsic`` and kept in the user's cache, so that Numba caches what it compiled. Numbers in a
formula are arguments of the code: a new γ compiles nothing.
"""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import Any

import numpy as np

from mercer import backend
from mercer.backend import Array
from mercer.engine.expression import Node
from mercer.engine.reductions import TINY, DotBlock, SqDistBlock

ROWS = 4  # rows of a micro-tile; times VECTORS registers of columns
_WIDEST = 128  # columns of data; beyond, a BLAS product followed by the element-wise steps is as fast
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
    """Registers of columns in a micro-tile: 4 × 4 accumulators where there are 32 registers, 4 × 2 where there are 16."""
    from mercer.engine.vector import register_bytes

    return 4 if register_bytes() == 64 else 2


def fusible(operands: dict[Node, Any], steps: list[Node], values: dict[Node, Any], shape: tuple[int, int], budget: int) -> bool:
    """Whether a formula is a function of inner products and squared distances of one pair of dense arrays, and large enough.

    The items are copied twice on each side (centred, and as given), which must fit the budget.
    """
    if shape[0] * shape[1] < _WORTH_COMPILING or not operands or any(n.op not in _LOWERED for n in steps):
        return False
    if any(getattr(values.get(a), "dtype", np.dtype(float)).kind in "iu" for n in steps for a in n.args):
        return False  # codes of categories: a float could not hold them
    leaves = {n.args for n in operands}
    kinds = [n.op for n in operands]
    first = next(iter(operands.values()))
    return (
        len(leaves) == 1
        and len(set(kinds)) == len(kinds)  # at most one of each: a second metric would need a second sum
        and all(isinstance(o, DotBlock | SqDistBlock) and o.dense and o.whole for o in operands.values())
        and ("dot" not in kinds or len(kinds) == 1 or all(o.inverse is None for o in operands.values() if isinstance(o, SqDistBlock)))
        and first.A.shape[1] <= _WIDEST
        and 2 * sum(shape) * first.A.shape[1] * first.dtype.itemsize <= budget
    )


class FusedTile:
    """Fills tiles of one formula; made for a pair of item sets, remade for parts of them."""

    def __init__(self, operands: dict[Node, Any], steps: list[Node], result: Node, values: dict[Node, Any], dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        metric = next((o for o in operands.values() if isinstance(o, SqDistBlock)), None)
        spec, inputs = specify(operands, steps, result)
        self.loop = _compiled(spec, dtype.name, vectors())
        self.width = vectors() * _lanes(dtype)
        first = next(iter(operands.values()))
        # an inner product beside the distance is that of the data as it is, so only a distance alone can be centred
        A, B = (metric.centred(x) if metric is not None and len(operands) == 1 else x.astype(dtype, copy=False) for x in (first.A, first.B))
        self.A, self.B = _padded(A, dtype), _packed(B, self.width, dtype)
        zero = np.zeros((1, 1), dtype)
        self.na = self.nb = zero[0]
        self.raw_A, self.raw_B = zero, np.zeros((1, 1, 1), dtype)
        self.scale = np.ones(A.shape[1], dtype)
        self.metric, self.row_inputs = metric is not None, bool(inputs["row"])
        if metric is not None:
            self.na, self.nb = (np.einsum("ij,ij->i", x, x) for x in (A, B))
            # differences are taken on the data as given; in another precision than the data's, on the centred data, which loses less
            wide = [metric.A, metric.B] if metric.A.dtype == dtype == metric.B.dtype else [metric.centred(x) for x in (metric.A, metric.B)]
            self.raw_A, self.raw_B = _padded(wide[0], dtype), _packed(wide[1], self.width, dtype)
            if metric.inverse is not None and wide[0] is metric.A:
                self.scale = np.asarray(metric.inverse, dtype)
        self.largest_a, self.largest_b = (TINY[dtype.name] * _blockwise_max(x, by) for x, by in ((self.na, ROWS), (self.nb, self.width)))
        self.na, self.nb = _extended(self.na, ROWS), _extended(self.nb, self.width)
        self.rows = np.stack([_extended(np.asarray(values[n], dtype), ROWS) for n in inputs["row"]]) if inputs["row"] else zero
        self.cols = np.stack([_extended(np.asarray(values[n], dtype), self.width) for n in inputs["col"]]) if inputs["col"] else zero
        self.scalars = np.array([values[n] for n in inputs["scalar"]] or [0.0], dtype)

    def fill(self, rows: slice, cols: slice, buffer: Array) -> Array:
        """The tile rows × cols, in ``buffer``, which holds ``room(…)`` values; columns start at a multiple of the packed width."""
        r, c = rows.stop - rows.start, cols.stop - cols.start
        height, width = -(-r // ROWS) * ROWS, -(-c // self.width) * self.width
        out = buffer[: height * width].reshape(height, width)
        self.loop(
            self.A, self.B, self.raw_A, self.raw_B, self.scale, self.na, self.nb, self.largest_a, self.largest_b,
            self.rows, self.cols, self.scalars, out, rows.start, rows.start + height, cols.start // self.width,
        )  # fmt: skip
        return out[:r, :c]

    def part(self, rows: Any) -> FusedTile:
        """The same for some of the rows, sharing the packed columns."""
        other = copy(self)
        other.A = _padded(self.A[:-ROWS][rows], self.dtype)
        if self.metric:
            na = self.na[:-ROWS][rows]
            other.na, other.largest_a = _extended(na, ROWS), TINY[self.dtype.name] * _blockwise_max(na, ROWS)
            other.raw_A = _padded(self.raw_A[:-ROWS][rows], self.dtype)
        if self.row_inputs:
            other.rows = np.stack([_extended(x[:-ROWS][rows], ROWS) for x in self.rows])
        return other

    def room(self, r: int, c: int) -> int:
        return (-(-r // ROWS) * ROWS) * (-(-c // self.width) * self.width)


def _lanes(dtype: np.dtype[Any]) -> int:
    from mercer.engine.vector import register_bytes

    return register_bytes() // dtype.itemsize


def _padded(x: Array, dtype: np.dtype[Any]) -> Array:
    """Rows one after the other, and a few of zeros behind them for the last micro-tile to read."""
    out = np.zeros((len(x) + ROWS, x.shape[1]), dtype)
    out[: len(x)] = x
    return out


def _packed(x: Array, width: int, dtype: np.dtype[Any]) -> Array:
    """Panels of ``width`` items, column by column of the data, so that the micro-kernel reads straight on."""
    m, d = x.shape
    out = np.zeros((-(-m // width), d, width), dtype)
    whole = m // width
    out[:whole] = x[: whole * width].reshape(whole, width, d).transpose(0, 2, 1)
    if whole * width < m:
        out[whole, :, : m - whole * width] = x[whole * width :].T
    return out


def _blockwise_max(x: Array, by: int) -> Array:
    """The largest of each ``by`` consecutive entries, and one more for a block that starts among the last."""
    padded = np.concatenate([x, np.zeros(-len(x) % by + by, x.dtype)])
    return padded.reshape(-1, by).max(axis=1)


def _extended(x: Array, by: int) -> Array:
    return np.concatenate([x, np.zeros(by, x.dtype)])


# ---------------------------------------------------------------------------------------------------------------------
# The formula as a plain value, and the code around it
# ---------------------------------------------------------------------------------------------------------------------


def specify(operands: dict[Node, Any], steps: list[Node], result: Node) -> tuple[Spec, dict[str, list[Node]]]:
    """The formula as nested tuples, with what changes from call to call (scalars, vectors) by number; and what those are."""
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


# What the micro-kernel is given: arrays, whole numbers (offsets, strides, positions), and the bound ``near``.
_ARGUMENTS = ("A", "a", "d", "B", "b", "raw_A", "raw_a", "raw_B", "raw_b", "scale", "na", "nb",
              "rows", "ldr", "cols", "ldc", "scalars", "out", "o", "ldo", "i", "j", "near")  # fmt: skip

_MODULE = """
from numba.extending import intrinsic

from mercer.engine.cpu import micro_kernel

SPEC = {spec!r}


@intrinsic
def micro(context, A, a, d, B, b, raw_A, raw_a, raw_B, raw_b, scale, na, nb, rows, ldr, cols, ldc, scalars, out, o, ldo, i, j, near):
    given = (A, a, d, B, b, raw_A, raw_a, raw_B, raw_b, scale, na, nb, rows, ldr, cols, ldc, scalars, out, o, ldo, i, j, near)
    return micro_kernel(SPEC, {dtype!r}, {vectors}, given)


def loop(A, B, raw_A, raw_B, scale, na, nb, largest_a, largest_b, rows, cols, scalars, out, first, last, panel):
    d, width = B.shape[1], B.shape[2]
    ldo = out.shape[1]
    raw = raw_B.shape[1] == d and raw_B.shape[2] == width
    for p in range(ldo // width):
        b = (panel + p) * d * width
        far = largest_b[panel + p if raw else 0]
        for i in range(first, last, {rows}):
            a = i * d
            near = far + max(largest_a[i // {rows} if raw else 0], largest_a[(i + {rows} - 1) // {rows} if raw else 0])
            micro(A, a, d, B, b, raw_A, a if raw else 0, raw_B, b if raw else 0, scale, na, nb, rows, rows.shape[1], cols, cols.shape[1],
                  scalars, out, (i - first) * ldo + p * width, ldo, i, (panel + p) * width, near)
"""


@cache
def _compiled(spec: Spec, dtype: str, count: int) -> Any:
    one = np.ones(1, dtype)
    width = count * _lanes(np.dtype(dtype))
    panel, rows = np.ones((1, 1, width), dtype), np.ones((ROWS, 1), dtype)
    many, wide = np.ones((8, ROWS), dtype), np.ones((8, width), dtype)
    example = (
        rows,
        panel,
        rows,
        panel,
        one,
        many[0],
        wide[0],
        many[0],
        one,
        many,
        wide,
        np.ones(64, dtype),
        np.ones((ROWS, width), dtype),
        0,
        ROWS,
        0,
    )
    return backend.jit_source("loop", _MODULE.format(spec=spec, dtype=dtype, vectors=count, rows=ROWS), *example)


def micro_kernel(spec: Spec, dtype: str, count: int, arguments: tuple[Any, ...]) -> Any:
    """Signature and code of the micro-kernel for ``numba.extending.intrinsic``."""
    from numba import types

    names = _ARGUMENTS
    arrays = {"A", "B", "raw_A", "raw_B", "scale", "na", "nb", "rows", "cols", "scalars", "out"}
    signature = types.void(*(t if name in arrays or name == "near" else types.intp for name, t in zip(names, arguments, strict=True)))

    def code(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        given = {
            name: context.make_array(t)(context, builder, value).data if name in arrays else value
            for name, t, value in zip(names, sig.args, values, strict=True)
        }
        _Emitter(spec, np.dtype(dtype), count, builder, given).emit()
        return context.get_dummy_value()

    return signature, code


class _Emitter:
    """Writes one micro-kernel at the builder's position."""

    def __init__(self, spec: Spec, dtype: np.dtype[Any], count: int, builder: Any, given: dict[str, Any]) -> None:
        from llvmlite import ir

        from mercer.engine.vector import Vector

        self.kinds, self.program, self.result = spec
        self.v, self.b, self.g, self.count, self.dtype = Vector(builder, dtype), builder, given, count, dtype
        self.int64 = ir.IntType(64)

    def _int(self, value: int) -> Any:
        from llvmlite import ir

        return ir.Constant(self.int64, value)

    def _at(self, pointer: str, *offsets: Any) -> Any:
        total = offsets[0]
        for o in offsets[1:]:
            total = self.b.add(total, o)
        return self.b.gep(self.g[pointer], [total])

    def emit(self) -> None:
        grid = [(r, q) for r in range(ROWS) for q in range(self.count)]
        dots = self._accumulate("A", "a", "B", "b", lambda x, y, total: self.v.fma(x, y, total))
        reduced: dict[str, dict[tuple[int, int], Any]] = {"dot": dots}
        if "sqdist" in self.kinds:
            reduced["sqdist"] = self._distances(grid, dots)
        for r, q in grid:
            self._finish(r, q, {name: values[r, q] for name, values in reduced.items()})

    def _accumulate(self, left: str, a: str, right: str, b: str, step: Any, *, scaled: bool = False) -> dict[tuple[int, int], Any]:
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
        """‖a‖² + ‖b‖² − 2⟨a, b⟩; where one of the micro-tile is small against the norms, all of it again as Σ(a − b)²."""
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

            def step(x: Any, y: Any, total: Any, weight: Any) -> Any:
                difference = self.b.fmul(self.b.fsub(x, y), weight)
                return self.v.fma(difference, difference, total)

            exact = self._accumulate("raw_A", "raw_a", "raw_B", "raw_b", step, scaled=True)
            for cell, value in exact.items():
                self.b.store(value, cells[cell])
        return {cell: self.b.load(pointer) for cell, pointer in cells.items()}

    def _finish(self, r: int, q: int, reduced: dict[str, Any]) -> None:
        """The rest of the formula on one register, and its store."""
        steps: list[Any] = []

        def operand(reference: tuple[str, int]) -> Any:
            kind, index = reference
            match kind:
                case "step":
                    return steps[index]
                case "scalar":
                    return self.v.splat(self.b.load(self._at("scalars", self._int(index))))
                case "row":
                    offset = self.b.mul(self.g["ldr"], self._int(index))
                    return self.v.splat(self.b.load(self._at("rows", offset, self.g["i"], self._int(r))))
                case "col":
                    offset = self.b.mul(self.g["ldc"], self._int(index))
                    return self.v.load(self._at("cols", offset, self.g["j"], self._int(q * self.v.lanes)))
                case _:
                    return reduced[kind]

        for op, references in self.program:
            steps.append(getattr(self.v, op)(*(operand(x) for x in references)))
        row = self.b.mul(self.g["ldo"], self._int(r))
        self.v.store(operand(self.result), self._at("out", self.g["o"], row, self._int(q * self.v.lanes)))
