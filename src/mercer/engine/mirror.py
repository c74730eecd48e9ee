"""A tile into both halves of a symmetric matrix, in one pass over it: stored, stored transposed, and checked for what is not finite.

Imported only when a matrix is large enough: it imports Numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mercer import backend
from mercer.vector import Vector, register_bytes

_ARRAYS = (0, 2, 5)


def _square(builder: Any, dtype: np.dtype[Any], tile: Any, upper: Any, lower: Any, strides: tuple[Any, Any, Any], stream: bool) -> Any:
    """One square of registers to both places; 0·x summed over it, which is 0 if all is finite and NaN if not."""
    v = Vector(builder, dtype)
    lds, ldu, ldl = strides

    def at(pointer: Any, stride: Any, k: int) -> Any:
        return builder.gep(pointer, [builder.mul(stride, ir.Constant(ir.IntType(64), k))])

    rows = [v.load(at(tile, lds, k)) for k in range(v.lanes)]
    total = v.constant(0)
    for k, row in enumerate(rows):
        v.store(row, at(upper, ldu, k), stream=stream)
        total = v.fma(row, v.constant(0), total)
    for k, row in enumerate(v.transposed(rows)):
        v.store(row, at(lower, ldl, k), stream=stream)
    # fold the lanes: NaN anywhere stays
    result = builder.extract_element(total, ir.Constant(ir.IntType(32), 0))
    for lane in range(1, v.lanes):
        result = builder.fadd(result, builder.extract_element(total, ir.Constant(ir.IntType(32), lane)))
    return result


def _intrinsic(stream: bool) -> Any:
    def spread(context, tile, t, upper, u, lds, lower, lo, ldu, ldl):  # type: ignore[no-untyped-def]  # Numba reads the signature
        signature = tile.dtype(tile, types.intp, upper, types.intp, types.intp, lower, types.intp, types.intp, types.intp)

        def code(target: Any, builder: Any, sig: Any, values: Any) -> Any:
            tile_p, upper_p, lower_p = (target.make_array(sig.args[k])(target, builder, values[k]).data for k in _ARRAYS)
            places = builder.gep(tile_p, [values[1]]), builder.gep(upper_p, [values[3]]), builder.gep(lower_p, [values[6]])
            return _square(builder, np.dtype(str(sig.args[0].dtype)), *places, (values[4], values[7], values[8]), stream)

        return signature, code

    return intrinsic(spread)


_square_stored, _square_streamed = _intrinsic(False), _intrinsic(True)


def _row_rest(tile, lds, a, start, stop, out, ldo, i, j):  # type: ignore[no-untyped-def]
    """Columns start:stop of row a of a tile to both places, one by one: what whole registers leave over; 0·x summed."""
    total = tile[0] * 0
    for b in range(start, stop):
        x = tile[a * lds + b]
        total += x * 0
        out[(i + a) * ldo + j + b] = x
        out[(j + b) * ldo + i + a] = x
    return total


_rest = backend.jit(_row_rest)


def _mirror(tile, lds, r, c, out, ldo, i, j, lanes, aligned):  # type: ignore[no-untyped-def]
    """out[i:i+r, j:j+c] = tile and out[j:j+c, i:i+r] = tileᵀ, on flat arrays; whether all of it is finite."""
    total = tile[0] * 0
    whole_r, whole_c = r - r % lanes, c - c % lanes
    for a in range(0, whole_r, lanes):
        for b in range(0, whole_c, lanes):
            if aligned:
                total += _square_streamed(tile, a * lds + b, out, (i + a) * ldo + j + b, lds, out, (j + b) * ldo + i + a, ldo, ldo)
            else:
                total += _square_stored(tile, a * lds + b, out, (i + a) * ldo + j + b, lds, out, (j + b) * ldo + i + a, ldo, ldo)
    for a in range(r):
        total += _rest(tile, lds, a, whole_c if a < whole_r else 0, c, out, ldo, i, j)
    return total == 0


def _mirror_upper(tile, lds, n, out, ldo, i, lanes):  # type: ignore[no-untyped-def]
    """out[i:i+n, i:i+n] = the upper triangle of tile, and its mirror image; whether all of it is finite."""
    total = tile[0] * 0
    whole = n - n % lanes
    for a in range(0, whole, lanes):
        for b in range(a + lanes, whole, lanes):
            total += _square_stored(tile, a * lds + b, out, (i + a) * ldo + i + b, lds, out, (i + b) * ldo + i + a, ldo, ldo)
    for a in range(n):
        corner = min(a - a % lanes + lanes, n) if a < whole else n
        total += _rest(tile, lds, a, a, corner, out, ldo, i, i) + _rest(tile, lds, a, max(corner, whole), n, out, ldo, i, i)
    return total == 0


spread, spread_upper = backend.jit(_mirror), backend.jit(_mirror_upper)


def mirror(tile: Any, out: Any, i: int, j: int) -> bool:
    """Write a tile (rows contiguous) into both halves of a square matrix whose rows are contiguous; False if something in it is not finite.

    Of a tile on the diagonal, i = j, the upper triangle is taken.
    """
    lds, width = tile.strides[0] // tile.itemsize, register_bytes()
    flat = np.lib.stride_tricks.as_strided(tile, (lds * tile.shape[0],), (tile.itemsize,))
    ldo = out.strides[0] // out.itemsize
    whole = np.lib.stride_tricks.as_strided(out, ((out.shape[0] - 1) * ldo + out.shape[1],), (out.itemsize,))
    if i == j:
        return bool(spread_upper(flat, lds, len(tile), whole, ldo, i, width // tile.itemsize))
    aligned = all(x % width == 0 for x in (out.ctypes.data, out.strides[0], i * tile.itemsize, j * tile.itemsize))
    return bool(spread(flat, lds, *tile.shape, whole, ldo, i, j, width // tile.itemsize, aligned))
