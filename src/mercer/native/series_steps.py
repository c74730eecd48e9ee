"""Steps of the dynamic programmes of kernels on series, one against many: LLVM instructions, as in ``lanes``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mercer.native.lanes import FAR_BELOW, STEPS, Floats

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing import Signature

_INT64 = ir.IntType(64)
_ROW = types.int64


@intrinsic
def product_step(context, steps, j, x, channels, out):  # type: ignore[no-untyped-def]  # Numba reads the signature
    """out[j] = Σ_c x[c]·steps[j, c], for j and the three places after it."""
    signature = types.void(_ROW, _ROW, _ROW, types.int64, _ROW)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        steps, j, x, channels, out = values
        places = [builder.add(j, ir.Constant(_INT64, step)) for step in range(STEPS)]
        sums = [[cgutils.alloca_once_value(builder, f.v.constant(0.0)) for _ in (0, 1)] for _ in places]
        with cgutils.for_range(builder, channels) as loop:
            factor = f.scalar(x, loop.index)
            for place, total in zip(places, sums, strict=True):
                row = f.load(steps, builder.add(builder.mul(place, channels), loop.index))
                for part in (0, 1):
                    builder.store(f.v.fma(factor, row[part], builder.load(total[part])), total[part])
        for place, total in zip(places, sums, strict=True):
            f.store([builder.load(part) for part in total], out, place)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def difference_step(context, values, j, edges, out):  # type: ignore[no-untyped-def]
    """e = values[j + 1] − values[j]; out[j] = e − edges[j]; edges[j] ← e."""
    signature = types.void(_ROW, _ROW, _ROW, _ROW)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        values, j, edges, out = values
        following = builder.add(j, ir.Constant(_INT64, 1))
        edge = f.each(f.v.subtract, f.load(values, following), f.load(values, j))
        f.store(f.each(f.v.subtract, edge, f.load(edges, j)), out, j)
        f.store(edge, edges, j)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def signature_step(context, increments, j, sums, ends, carried):  # type: ignore[no-untyped-def]
    """For j and the three places after it, with u = sums[j], b = ends[j], and a, h, u as ``carried``:

    b ← b + d(u + a/2),  h ← h + (d/2)(a + (d/2)u),  a ← a + d(u + b/2),  sums[j + 1] ← sums[j + 1] + a + h; what
    stands on the right is the old value, but for the last. ``carried`` is then a, h and the old sums[j + 1].
    """
    signature = types.void(_ROW, _ROW, _ROW, _ROW, _ROW)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        increments, j, sums, ends, carried = values
        places = [ir.Constant(_INT64, k) for k in range(3)]
        half = v.constant(0.5)
        a, h, u = (f.load(carried, place) for place in places)
        for step in range(STEPS):
            at = builder.add(j, ir.Constant(_INT64, step))
            following = builder.add(at, ir.Constant(_INT64, 1))
            d, b, old = f.load(increments, at), f.load(ends, at), f.load(sums, following)
            halved = f.each(v.multiply, d, half)
            f.store(f.each(v.fma, d, f.each(v.fma, a, half, u), b), ends, at)
            h = f.each(v.fma, halved, f.each(v.fma, halved, u, a), h)
            a = f.each(v.fma, d, f.each(v.fma, b, half, u), a)
            f.store(f.each(v.add, old, f.each(v.add, a, h)), sums, following)
            u = old
        for value, place in zip((a, h, u), places, strict=True):
            f.store(value, carried, place)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def fine_signature_rows(context, increments, count, order, share, sums, ends):  # type: ignore[no-untyped-def]
    """``signature_step`` along two rows at once, the same increments taken in 2^order steps, order ≥ 1: of places
    2^order·j … 2^order·(j + 1) − 1, for j < count, the increment is share·increments[j].

    Two rows and two places have one increment. What the second row needs of the first is in registers, one place
    behind, so that ``sums`` and ``ends`` are read and written once for both.
    """
    signature = types.void(_ROW, types.int64, types.int64, types.float64, _ROW, _ROW)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        increments, count, order, share, sums, ends = values
        zero, one = ir.Constant(_INT64, 0), ir.Constant(_INT64, 1)
        half, share = v.constant(0.5), v.splat(share)
        nothing, first = [v.constant(0.0)] * 2, f.load(sums, zero)  # sums of the empty path: the same before every row
        rows = [[_variables(builder, start) for start in (nothing, nothing, first)] for _ in (0, 1)]
        above = builder.sub(order, one)
        with cgutils.for_range(builder, builder.shl(count, above)) as loop:
            d = f.each(v.multiply, f.load(increments, builder.lshr(loop.index, above)), share)
            halved = f.each(v.multiply, d, half)
            for step in (0, 1):
                at = builder.add(builder.shl(loop.index, one), ir.Constant(_INT64, step))
                following = builder.add(at, one)
                b, new = f.load(ends, at), f.load(sums, following)
                for row in rows:
                    old = new
                    a, h, u = ([builder.load(part) for part in variable] for variable in row)
                    before = b
                    b = f.each(v.fma, d, f.each(v.fma, a, half, u), before)
                    h = f.each(v.fma, halved, f.each(v.fma, halved, u, a), h)
                    a = f.each(v.fma, d, f.each(v.fma, before, half, u), a)
                    new = f.each(v.add, old, f.each(v.add, a, h))
                    for variable, value in zip(row, (a, h, old), strict=True):
                        for part in (0, 1):
                            builder.store(value[part], variable[part])
                f.store(b, ends, at)
                f.store(new, sums, following)
        return target.get_dummy_value()

    return signature, code


def _variables(builder: ir.IRBuilder, start: list[ir.Value]) -> list[ir.Value]:
    """Two registers that a loop changes."""
    return [cgutils.alloca_once_value(builder, value) for value in start]


@intrinsic
def chain_step(context, increments, j, below, above, carried):  # type: ignore[no-untyped-def]
    """carried += increments[j]·below[j], above[j + 1] += carried, for j and the three places after it."""
    signature = types.void(_ROW, _ROW, _ROW, _ROW, _ROW)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        increments, j, below, above, carried = values
        zero = ir.Constant(_INT64, 0)
        a = f.load(carried, zero)
        for step in range(STEPS):
            at = builder.add(j, ir.Constant(_INT64, step))
            following = builder.add(at, ir.Constant(_INT64, 1))
            a = f.each(v.fma, f.load(increments, at), f.load(below, at), a)
            f.store(f.each(v.add, f.load(above, following), a), above, following)
        f.store(a, carried, zero)
        return target.get_dummy_value()

    return signature, code


def _changed(soft: bool) -> Any:
    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        local, powers, j, known, *band = values
        at, zero, one = builder.add(j, ir.Constant(_INT64, 1)), v.constant(0.0), v.constant(1.0)
        x, known = f.load(local, at), v.splat(known)
        power = f.each(v.multiply, f.load(powers, at), known)
        # what x is beside 1
        beside = f.each(lambda p, y: builder.select(builder.fcmp_ordered("==", p, zero), y, zero), power, x)
        if soft:
            new = f.each(lambda y, b: v.divide(v.add(y, y), v.add(one, b)), x, beside)
        else:
            times, now, width = band
            apart = f.each(v.subtract, f.load(now, ir.Constant(_INT64, 0)), f.load(times, j))
            share = f.each(lambda d: v.subtract(one, v.divide(v.absolute(d), v.splat(width))), apart)
            w = f.each(lambda y: builder.select(builder.fcmp_ordered(">", y, zero), y, zero), share)
            new = f.each(lambda y, b, w: v.divide(v.multiply(w, y), v.fma(v.subtract(one, w), b, one)), x, beside, w)
        f.store(new, local, at)
        far = v.constant(FAR_BELOW)
        f.store(f.each(lambda y, p: builder.select(builder.fcmp_ordered(">", y, zero), p, far), new, power), powers, at)
        return target.get_dummy_value()

    return code


@intrinsic
def triangle_step(context, local, powers, j, known, times, now, width):  # type: ignore[no-untyped-def]
    """local[j + 1] = e/(2 − e) ← ωe/(2 − ωe), ω = max(0, 1 − |now − times[j]|/width); times 2^(512 powers), of which
    those there are taken as 0 unless ``known`` is 1.
    """
    signature = types.void(_ROW, _ROW, _ROW, types.float64, _ROW, _ROW, types.float64)
    return signature, _changed(soft=False)


@intrinsic
def soft_step(context, local, powers, j, known):  # type: ignore[no-untyped-def]
    """The same from e/(2 − e) to e."""
    return types.void(_ROW, _ROW, _ROW, types.float64), _changed(soft=True)
