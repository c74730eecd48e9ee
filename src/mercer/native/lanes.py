"""One sequence against many at once: one file, the operations that dynamic programmes in lanes are made of.

Each lane of a register holds another sequence, and the programmes run in all of them together.

``Lane`` builds LLVM instructions on vectors of bytes or of floats; each intrinsic below is one step of a programme for
all lanes, on memory that the loop around it addresses by number. Numba's own vectoriser gives up on such loops: they
take ten times as long there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mercer.native.vector import Vector, register_bytes

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing import Signature

BYTES = 64  # lanes of bytes
FLOATS = 2 * register_bytes() // 8  # lanes of float64: two registers, so that one can wait for the other
UNROLLED = 8  # steps of a count that stay in registers
STEPS = 4  # the same for dynamic programmes
_INT8, _INT16, _INT32, _INT64 = (ir.IntType(n) for n in (8, 16, 32, 64))


# ---------------------------------------------------------------------------------------------------------------------
# Bytes
# ---------------------------------------------------------------------------------------------------------------------


class Bytes:
    """Vectors of 64 small whole numbers."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.b = builder
        self.type = ir.VectorType(_INT8, BYTES)

    def _at(self, base: ir.Value, row: ir.Value, type_: ir.VectorType) -> Any:
        pointer = self.b.gep(
            self.b.inttoptr(base, type_.element.as_pointer()), [self.b.mul(row, ir.Constant(_INT64, BYTES))]
        )
        return self.b.bitcast(pointer, type_.as_pointer())

    def load(self, base: ir.Value, row: ir.Value, bits: int = 8) -> Any:
        value = self.b.load(self._at(base, row, ir.VectorType(ir.IntType(bits), BYTES)))
        value.align = bits // 8
        return value

    def store(self, value: ir.Value, base: ir.Value, row: ir.Value) -> None:
        self.b.store(value, self._at(base, row, value.type)).align = value.type.element.width // 8

    def splat(self, x: ir.Value, bits: int = 8) -> Any:
        vector = ir.VectorType(ir.IntType(bits), BYTES)
        undefined = ir.Constant(vector, ir.Undefined)
        first = self.b.insert_element(undefined, x, ir.Constant(_INT32, 0))
        return self.b.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, BYTES), [0] * BYTES))

    def minus_equal(self, x: ir.Value, y: ir.Value) -> Any:
        """−1 where x = y, else 0."""
        return self.b.sext(self.b.icmp_unsigned("==", x, y), self.type)


@intrinsic
def roll(context, matches, letters, width, j, enters, leaves):  # type: ignore[no-untyped-def]  # Numba reads the signature
    """matches[j] = matches[j − 1] + [letters[j + width − 1] = enters] − [letters[j − 1] = leaves]: both windows move on
    by one.
    """
    signature = types.void(types.int64, types.int64, types.int64, types.int64, types.uint8, types.uint8)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        v = Bytes(builder)
        matches, letters, width, j, enters, leaves = values
        before = builder.sub(j, ir.Constant(_INT64, 1))
        entering = v.minus_equal(v.load(letters, builder.add(before, width)), v.splat(enters))
        leaving = v.minus_equal(v.load(letters, before), v.splat(leaves))
        v.store(builder.add(builder.sub(v.load(matches, before), entering), leaving), matches, j)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def add_matches(context, matches, j, letters, at, letter):  # type: ignore[no-untyped-def]
    """matches[j] += [letters[at] = letter]."""
    signature = types.void(types.int64, types.int64, types.int64, types.int64, types.uint8)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        v = Bytes(builder)
        matches, j, letters, at, letter = values
        v.store(builder.sub(v.load(matches, j), v.minus_equal(v.load(letters, at), v.splat(letter))), matches, j)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def count(context, matches, j, wanted, counts):  # type: ignore[no-untyped-def]
    """counts += [matches[i] = wanted] for i = j … j + 7."""
    signature = types.void(types.int64, types.int64, types.uint8, types.int64)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        v = Bytes(builder)
        matches, j, wanted, counts = values
        zero, wanted = ir.Constant(_INT64, 0), v.splat(wanted)
        total = v.load(counts, zero)
        for step in range(UNROLLED):
            found = v.load(matches, builder.add(j, ir.Constant(_INT64, step)))
            total = builder.sub(total, v.minus_equal(found, wanted))
        v.store(total, counts, zero)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def count_valid(context, matches, valid, j, wanted, counts):  # type: ignore[no-untyped-def]
    """counts += [matches[j] = wanted] where ``valid[j]`` has all its bits."""
    signature = types.void(types.int64, types.int64, types.int64, types.uint8, types.int64)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        v = Bytes(builder)
        matches, valid, j, wanted, counts = values
        zero = ir.Constant(_INT64, 0)
        found = builder.and_(v.minus_equal(v.load(matches, j), v.splat(wanted)), v.load(valid, j))
        v.store(builder.sub(v.load(counts, zero), found), counts, zero)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def weigh(context, matches, heights, j, wanted, sums):  # type: ignore[no-untyped-def]
    """sums += heights[j]·[matches[j] = wanted], with 16 bits for a sum."""
    signature = types.void(types.int64, types.int64, types.int64, types.uint8, types.int64)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        v = Bytes(builder)
        matches, heights, j, wanted, sums = values
        zero, half = ir.Constant(_INT64, 0), ir.VectorType(_INT16, BYTES)
        found = builder.and_(v.minus_equal(v.load(matches, j), v.splat(wanted)), v.load(heights, j))
        v.store(builder.add(v.load(sums, zero, 16), builder.zext(found, half)), sums, zero)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def runs(context, letters, j, x, i, degree, run, total):  # type: ignore[no-untyped-def]
    """The length r of the run of equal letters that ends at letters[j + s] and x[i + s], at most ``degree``, for s = 0
    … 3; total += r (2·degree + 1 − r).
    """
    signature = types.void(types.int64, types.int64, types.int64, types.int64, types.uint8, types.int64, types.int64)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        v = Bytes(builder)
        letters, j, x, i, degree, run, total = values
        zero, half = ir.Constant(_INT64, 0), ir.VectorType(_INT16, BYTES)
        most, one = v.splat(degree), ir.Constant(v.type, [1] * BYTES)
        top = v.splat(
            builder.add(builder.shl(builder.zext(degree, _INT16), ir.Constant(_INT16, 1)), ir.Constant(_INT16, 1)), 16
        )
        length, gained = v.load(run, zero), None
        for step in range(STEPS):
            s = ir.Constant(_INT64, step)
            letter = builder.load(builder.gep(builder.inttoptr(x, _INT8.as_pointer()), [builder.add(i, s)]))
            # the letter 0 stands for nothing: it equals no letter, and no padding
            known = v.splat(
                builder.select(
                    builder.icmp_unsigned("!=", letter, ir.Constant(_INT8, 0)),
                    ir.Constant(_INT8, -1),
                    ir.Constant(_INT8, 0),
                )
            )
            same = builder.and_(v.minus_equal(v.load(letters, builder.add(j, s)), v.splat(letter)), known)
            longer = builder.add(length, one)
            capped = builder.select(builder.icmp_unsigned("<", longer, most), longer, most)
            length = builder.and_(capped, same)
            wide = builder.zext(length, half)
            value = builder.mul(wide, builder.sub(top, wide))
            gained = value if gained is None else builder.add(gained, value)
        v.store(length, run, zero)
        v.store(builder.add(v.load(total, zero, 32), builder.zext(gained, ir.VectorType(_INT32, BYTES))), total, zero)
        return target.get_dummy_value()

    return signature, code


# ---------------------------------------------------------------------------------------------------------------------
# Floats
# ---------------------------------------------------------------------------------------------------------------------


class Floats:
    """Two registers of float64: rows of ``FLOATS`` lanes behind an address."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.b, self.v = builder, Vector(builder, np.dtype(np.float64))

    def _at(self, base: ir.Value, row: ir.Value, part: int) -> Any:
        first = self.b.mul(row, ir.Constant(_INT64, FLOATS))
        return self.b.gep(
            self.b.inttoptr(base, ir.DoubleType().as_pointer()),
            [self.b.add(first, ir.Constant(_INT64, part * self.v.lanes))],
        )

    def load(self, base: ir.Value, row: ir.Value) -> list[Any]:
        return [self.v.load(self._at(base, row, part)) for part in (0, 1)]

    def store(self, values: list[ir.Value], base: ir.Value, row: ir.Value) -> None:
        for part in (0, 1):
            self.v.store(values[part], self._at(base, row, part))

    def each(self, function: Callable[..., ir.Value], *operands: ir.Value | list[ir.Value]) -> list[Any]:
        """A function of registers, for both; numbers that are the same in all lanes are given as one value."""
        return [function(*(x[part] if isinstance(x, list) else x for x in operands)) for part in (0, 1)]

    def scalar(self, base: ir.Value, place: ir.Value) -> Any:
        return self.v.splat(self.b.load(self.b.gep(self.b.inttoptr(base, ir.DoubleType().as_pointer()), [place])))


_ROW = types.int64


@intrinsic
def subsequence_step(context, letters, j, letter, below, above, carried, decay):  # type: ignore[no-untyped-def]
    """K″ ← λK″ + λ²[z_j = letter] K′_{l−1}(i−1, j−1);  K′_l(i, j) = λK′_l(i−1, j) + K″;  for j and the three places
    after it.

    ``below`` holds the K′_{l−1}(i−1, ·), its row 0 standing before the first letter; ``above`` the K′_l(i−1, ·), which
    are overwritten.
    """
    signature = types.void(_ROW, _ROW, types.float64, _ROW, _ROW, _ROW, types.float64)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        letters, j, letter, below, above, carried, decay = values
        zero = ir.Constant(_INT64, 0)
        letter, square, decay = v.splat(letter), v.splat(builder.fmul(decay, decay)), v.splat(decay)
        K = f.load(carried, zero)
        for step in range(STEPS):
            at = builder.add(j, ir.Constant(_INT64, step))
            following = builder.add(at, ir.Constant(_INT64, 1))
            met = f.each(
                lambda z, k: _where_equal(v, z, letter, v.multiply(square, k)), f.load(letters, at), f.load(below, at)
            )
            K = f.each(v.fma, K, decay, met)
            f.store(f.each(v.fma, f.load(above, following), decay, K), above, following)
        f.store(K, carried, zero)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def subsequence_end(context, letters, j, letter, below, total):  # type: ignore[no-untyped-def]
    """total += [z_j = letter] K′_{n−1}(i−1, j−1), for j and the three places after it."""
    signature = types.void(_ROW, _ROW, types.float64, _ROW, _ROW)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        letters, j, letter, below, total = values
        zero, letter = ir.Constant(_INT64, 0), v.splat(letter)
        sums = f.load(total, zero)
        for step in range(STEPS):
            at = builder.add(j, ir.Constant(_INT64, step))
            sums = f.each(
                lambda s, z, k: v.add(s, _where_equal(v, z, letter, k)), sums, f.load(letters, at), f.load(below, at)
            )
        f.store(sums, total, zero)
        return target.get_dummy_value()

    return signature, code


def _where_equal(v: Vector, x: ir.Value, y: ir.Value, value: ir.Value) -> Any:
    return v.b.select(v.b.fcmp_ordered("==", x, y), value, v.constant(0.0))


# Numbers beyond the range of floats: v·2^(512 s), 2^−256 < v < 2^256, s a whole number kept as a float. Of two that are
# to be added, the one with
# the smaller s is brought to the other's: 2^−512 times its v if they differ by one, and nothing if by more, which is
# exact to rounding.
_UNIT, _EDGE = 2.0**512, 2.0**256
_LOG_UNIT = 512 * float(np.log(2.0))
FAR_BELOW = -(2.0**40)  # the s of 0


def _aligned(v: Vector, x: ir.Value, s: ir.Value, to: ir.Value) -> Any:
    """x, of exponent s ≤ to, as a number of exponent ``to``."""
    apart = v.subtract(to, s)
    factor = v.b.select(v.b.fcmp_ordered("==", apart, v.constant(0.0)), v.constant(1.0), v.constant(0.0))
    factor = v.b.select(v.b.fcmp_ordered("==", apart, v.constant(1.0)), v.constant(1.0 / _UNIT), factor)
    return v.multiply(x, factor)


def _largest(v: Vector, x: ir.Value, y: ir.Value) -> Any:
    return v.b.select(v.b.fcmp_ordered(">", x, y), x, y)


def _shift(v: Vector, size: ir.Value) -> tuple[Any, Any]:
    """By what numbers of this size are to be multiplied, and what is to be added to their exponent, to be in range
    again.
    """
    large, small = v.b.fcmp_ordered(">", size, v.constant(_EDGE)), v.b.fcmp_ordered("<", size, v.constant(1.0 / _EDGE))
    factor = v.b.select(large, v.constant(1.0 / _UNIT), v.b.select(small, v.constant(_UNIT), v.constant(1.0)))
    return factor, v.b.select(large, v.constant(1.0), v.b.select(small, v.constant(-1.0), v.constant(0.0)))


def _gaussian(own: bool) -> Any:
    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        frames, j, x, i, channels, rate, out, exponents, plain, least = values
        sums = [cgutils.alloca_once_value(builder, v.constant(0.0)) for _ in (0, 1)]
        with cgutils.for_range(builder, channels) as loop:
            at = builder.add(builder.mul(i, channels), loop.index)
            # the frame of one series, or of the series in each lane
            one = [f.scalar(x, at)] * 2 if not own else f.load(x, at)
            row = f.load(frames, builder.add(builder.mul(j, channels), loop.index))
            for part in (0, 1):
                d = v.subtract(one[part], row[part])
                builder.store(v.fma(d, d, builder.load(sums[part])), sums[part])
        local, powers, small, lowest = [], [], [], f.load(least, ir.Constant(_INT64, 0))
        for part in (0, 1):
            y = v.multiply(builder.load(sums[part]), v.splat(rate))
            lowest[part] = v.least(y, lowest[part])
            s = v._call("nearbyint", v.multiply(y, v.constant(1.0 / _LOG_UNIT)))
            e = v.exp(v.fma(s, v.constant(-_LOG_UNIT), y))
            # else e is nothing beside 2
            within = builder.select(builder.fcmp_ordered("==", s, v.constant(0.0)), e, v.constant(0.0))
            local.append(v.divide(e, v.subtract(v.constant(2.0), within)))
            powers.append(s)
            small.append(within)
        f.store(small, plain, j)
        f.store(local, out, j)
        f.store(powers, exponents, j)
        f.store(lowest, least, ir.Constant(_INT64, 0))
        return target.get_dummy_value()

    return code


_GAUSSIAN = types.void(_ROW, _ROW, _ROW, _ROW, types.int64, types.float64, _ROW, _ROW, _ROW, _ROW)


@intrinsic
def gaussian_step(context, frames, j, x, i, channels, rate, out, exponents, plain, least):  # type: ignore[no-untyped-def]
    """out[j]·2^(512 exponents[j]) = e/(2 − e), e = exp(rate·‖x_i − z_j‖²), rate < 0. ``least`` keeps the smallest log
    e, ``plain`` e itself.
    """
    return _GAUSSIAN, _gaussian(own=False)


@intrinsic
def own_gaussian_step(context, frames, j, x, i, channels, rate, out, exponents, plain, least):  # type: ignore[no-untyped-def]
    """The same where x is in each lane another series."""
    return _GAUSSIAN, _gaussian(own=True)


SMALL = 0.09  # |t| up to which that many powers are exp(t) to the last digit
_POWERS = tuple(1.0 / math.factorial(k) for k in range(10))


@intrinsic
def moved_step(context, frames, j, slopes, channels, change, plain, out):  # type: ignore[no-untyped-def]
    """plain[j] ← e = exp(t)·plain[j] with t = change + Σ slopes·z_j, out[j] = e/(2 − e): from one frame of x to the
    next, |t| ≤ SMALL.
    """
    signature = types.void(_ROW, _ROW, _ROW, types.int64, types.float64, _ROW, _ROW)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        frames, j, slopes, channels, change, plain, out = values
        sums = [cgutils.alloca_once_value(builder, v.splat(change)) for _ in (0, 1)]
        with cgutils.for_range(builder, channels) as loop:
            slope, row = f.scalar(slopes, loop.index), f.load(frames, builder.add(builder.mul(j, channels), loop.index))
            for part in (0, 1):
                builder.store(v.fma(slope, row[part], builder.load(sums[part])), sums[part])
        e = f.each(
            lambda s, before: v.multiply(before, v._polynomial(_POWERS, builder.load(s))), sums, f.load(plain, j)
        )
        f.store(e, plain, j)
        f.store(f.each(lambda x: v.divide(x, v.subtract(v.constant(2.0), x)), e), out, j)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def global_step(context, local, powers, j, paths, exponents, corner):  # type: ignore[no-untyped-def]
    """paths[j] ← local[j]·(paths[j] + corner + paths[j − 1]), corner ← the old paths[j]; each with its exponent, that
    of ``corner`` in its row 1.
    """
    signature = types.void(_ROW, _ROW, _ROW, _ROW, _ROW, _ROW)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        local, powers, j, paths, exponents, corner = values
        zero, one = ir.Constant(_INT64, 0), ir.Constant(_INT64, 1)
        before = builder.sub(j, one)
        terms = [(f.load(paths, at), f.load(exponents, at)) for at in (j, before)] + [
            (f.load(corner, zero), f.load(corner, one))
        ]
        new, power = [], []
        for part in (0, 1):
            s = terms[0][1][part]
            for _, other in terms[1:]:
                s = _largest(v, s, other[part])
            total = v.constant(0.0)
            for x, own in terms:
                total = v.add(total, _aligned(v, x[part], own[part], s))
            total = v.multiply(total, f.load(local, j)[part])
            factor, more = _shift(v, total)
            new.append(v.multiply(total, factor))
            power.append(v.add(v.add(s, f.load(powers, j)[part]), more))
        f.store(new, paths, j)
        f.store(power, exponents, j)
        f.store(terms[0][0], corner, zero)
        f.store(terms[0][1], corner, one)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def plain_step(context, local, j, paths, corner):  # type: ignore[no-untyped-def]
    """The same for numbers that need no exponents, for j and the three places after it; row 1 of ``corner`` is paths[j
    − 1].
    """
    signature = types.void(_ROW, _ROW, _ROW, _ROW)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        local, j, paths, corner = values
        zero, one = ir.Constant(_INT64, 0), ir.Constant(_INT64, 1)
        diagonal, before = f.load(corner, zero), f.load(corner, one)
        for step in range(STEPS):
            at = builder.add(j, ir.Constant(_INT64, step))
            old, k = f.load(paths, at), f.load(local, at)
            ready = f.each(v.multiply, k, f.each(v.add, old, diagonal))  # all but the neighbour, which comes last
            before = f.each(v.fma, k, before, ready)
            f.store(before, paths, at)
            diagonal = old
        f.store(diagonal, corner, zero)
        f.store(before, corner, one)
        return target.get_dummy_value()

    return signature, code


@intrinsic
def local_step(context, scores, j, states, size, corner, total, opening, extending):  # type: ignore[no-untyped-def]
    """One cell of the local alignments. ``states`` holds M, X, Y and their exponent in four blocks of ``size`` rows.

    M ← scores[j]·(1 + corner), corner ← the old M + X + Y of this column;  X ← opening·M_old + extending·X_old;
    Y ← opening·(M + X) + extending·Y of the column before;  total += M. The exponents of ``corner`` and ``total`` are
    in their row 1, and at least 0.
    """
    signature = types.void(_ROW, _ROW, _ROW, types.int64, _ROW, _ROW, types.float64, types.float64)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        f = Floats(builder)
        v = f.v
        scores, j, states, size, corner, total, opening, extending = values
        zero, one = ir.Constant(_INT64, 0), ir.Constant(_INT64, 1)
        before = builder.sub(j, one)
        opening, extending = v.splat(opening), v.splat(extending)
        blocks = [builder.mul(size, ir.Constant(_INT64, block)) for block in range(4)]
        up, left = ([f.load(states, builder.add(block, at)) for block in blocks] for at in (j, before))
        met, met_power, sums, sums_power, score = (
            f.load(corner, zero), f.load(corner, one), f.load(total, zero), f.load(total, one), f.load(scores, j),
        )  # fmt: skip
        results: list[list[Any]] = [[] for _ in range(8)]
        for p in (0, 1):
            s_M = _largest(v, met_power[p], v.constant(0.0))
            M = v.multiply(
                score[p],
                v.add(_aligned(v, v.constant(1.0), v.constant(0.0), s_M), _aligned(v, met[p], met_power[p], s_M)),
            )
            s = _largest(v, _largest(v, s_M, up[3][p]), left[3][p])
            M = _aligned(v, M, s_M, s)
            X = _aligned(v, v.fma(up[0][p], opening, v.multiply(up[1][p], extending)), up[3][p], s)
            started = v.multiply(v.add(left[0][p], left[1][p]), opening)
            Y = _aligned(v, v.fma(left[2][p], extending, started), left[3][p], s)
            s_total = _largest(v, sums_power[p], s)
            sum_ = v.add(_aligned(v, sums[p], sums_power[p], s_total), _aligned(v, M, s, s_total))
            factor, more = _shift(v, _largest(v, _largest(v, M, X), Y))
            lowest = builder.fcmp_ordered("<", v.add(s, more), v.constant(0.0))
            factor, more = (
                builder.select(lowest, v.constant(1.0), factor),
                builder.select(lowest, v.constant(0.0), more),
            )
            down, further = _shift(v, sum_)
            down = builder.select(builder.fcmp_ordered(">", further, v.constant(0.0)), down, v.constant(1.0))
            further = _largest(v, further, v.constant(0.0))
            old = v.add(v.add(up[0][p], up[1][p]), up[2][p])
            values_ = (
                *(v.multiply(x, factor) for x in (M, X, Y)),
                v.add(s, more),
                old,
                up[3][p],
                v.multiply(sum_, down),
                v.add(s_total, further),
            )
            for kept, value in zip(results, values_, strict=True):
                kept.append(value)
        for block, value in zip(blocks, results[:4], strict=True):
            f.store(value, states, builder.add(block, j))
        for value, base, row in zip(results[4:], (corner, corner, total, total), (zero, one, zero, one), strict=True):
            f.store(value, base, row)
        return target.get_dummy_value()

    return signature, code
