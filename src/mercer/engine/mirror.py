"""A tile into both halves of a symmetric matrix, in one pass over it: stored, stored transposed, and checked for what
is not finite.

Imported only when a matrix is large enough: it imports Numba.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mercer.arrays import Array
from mercer.native.vector import Vector, register_bytes
from mercer.runtime import compiling

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing import Signature


@intrinsic
def _square(context, tile, t, lds, out, upper, lower, ldo, stream):  # type: ignore[no-untyped-def]  # Numba reads the signature
    """One square of registers to both places, past the cache if ``stream``; 0·x summed over it, which is 0 if all is
    finite and NaN if not.
    """
    signature = tile.dtype(tile, types.intp, types.intp, out, types.intp, types.intp, types.intp, types.boolean)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        v = Vector(builder, np.dtype(str(sig.args[0].dtype)))
        source, place = (target.make_array(sig.args[k])(target, builder, values[k]).data for k in (0, 3))

        def at(pointer: ir.Value, first: ir.Value, stride: ir.Value, k: int) -> Any:
            return builder.gep(pointer, [builder.add(first, builder.mul(stride, ir.Constant(ir.IntType(64), k)))])

        def store(rows: list[ir.Value], first: ir.Value) -> None:
            with builder.if_else(values[7]) as (streamed, stored):
                for branch, past in ((streamed, True), (stored, False)):
                    with branch:
                        for k, row in enumerate(rows):
                            v.store(row, at(place, first, values[6], k), stream=past)

        rows = [v.load(at(source, values[1], values[2], k)) for k in range(v.lanes)]
        total = v.constant(0)
        for row in rows:
            total = v.fma(row, v.constant(0), total)
        store(rows, values[4])
        store(v.transposed(rows), values[5])
        return _lanes_summed(v, total)  # NaN anywhere stays

    return signature, code


def _lanes_summed(v: Vector, total: ir.Value) -> Any:
    result = v.b.extract_element(total, ir.Constant(ir.IntType(32), 0))
    for lane in range(1, v.lanes):
        result = v.b.fadd(result, v.b.extract_element(total, ir.Constant(ir.IntType(32), lane)))
    return result


def _mirror(tile, lds, r, c, out, ldo, i, j, lanes, aligned):  # type: ignore[no-untyped-def]
    """out[i:i+r, j:j+c] = tile and out[j:j+c, i:i+r] = tileᵀ, on flat arrays; whether all of it is finite.

    Where i = j, r ≤ c, the first r columns meet the diagonal, and of them the upper triangle is taken.
    """
    total, upper = tile[0] * 0, i == j
    whole_r, whole_c = r - r % lanes, c - c % lanes
    for a in range(0, whole_r, lanes):
        for b in range(a + lanes if upper else 0, whole_c, lanes):
            total += _square(tile, a * lds + b, lds, out, (i + a) * ldo + j + b, (j + b) * ldo + i + a, ldo, aligned)
    for a in range(r):  # what whole registers leave over: left of the squares, and right of them
        b = a if upper else 0
        left = whole_c if a >= whole_r else a - a % lanes + lanes if upper else 0
        while True:
            if b == left:
                b = whole_c
            if b >= c:
                break
            x = tile[a * lds + b]
            total += x * 0
            out[(i + a) * ldo + j + b] = x
            out[(j + b) * ldo + i + a] = x
            b += 1
    return total == 0


spread = compiling.jit(_mirror)


def mirror(tile: Array, out: Array, i: int, j: int) -> bool:
    """Write a tile (rows contiguous) into both halves of a square matrix whose rows are contiguous; False if something
    in it is not finite.

    Of a tile on the diagonal, i = j, the upper triangle is taken.
    """
    lds, width = tile.strides[0] // tile.itemsize, register_bytes()
    flat = np.lib.stride_tricks.as_strided(tile, (lds * tile.shape[0],), (tile.itemsize,))
    ldo = out.strides[0] // out.itemsize
    whole = np.lib.stride_tricks.as_strided(out, ((out.shape[0] - 1) * ldo + out.shape[1],), (out.itemsize,))
    aligned = all(x % width == 0 for x in (out.ctypes.data, out.strides[0], i * tile.itemsize, j * tile.itemsize))
    return bool(spread(flat, lds, *tile.shape, whole, ldo, i, j, width // tile.itemsize, aligned))
