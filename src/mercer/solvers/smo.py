"""Sequential minimal optimisation on a stored block: two variables at a time, chosen by second-order gain, in vector code.

    min ½ b^T K b + linear,  lower ≤ b ≤ upper,  sums of groups kept

i is the variable with the largest −g among those that can grow; j, among those that can shrink, the one whose step with i gains most,
(g_j − g_i)²/(K_ii + K_jj − 2K_ij). One pass updates the gradient and finds the next i; one pass finds j. Both passes hold several registers
of running maxima and of where they were found; Numba's own loops take five times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mercer import backend
from mercer.vector import Vector, register_bytes

_UNROLLED = 4  # registers in flight
_INT64 = ir.IntType(64)


def row_length(q: int, dtype: Any) -> int:
    """The length of the rows of a block of q variables: whole registers, and no multiple of 1 KB, which would alias in the cache."""
    size = np.dtype(dtype).itemsize
    by = int(_UNROLLED * register_bytes() // size)
    length = -(-q // by) * by
    return length + by if length * size % 1024 == 0 else length


class _Best:
    """Running maxima of a quantity, with where they were found: one pair of registers for each of the unrolled steps."""

    def __init__(self, v: Vector, start: float) -> None:
        self.v = v
        self.value = [cgutils.alloca_once_value(v.b, v.constant(start)) for _ in range(_UNROLLED)]
        self.where = [cgutils.alloca_once_value(v.b, v.integer(0)) for _ in range(_UNROLLED)]

    def offer(self, s: int, x: Any, turn: Any) -> Any:
        """Keep x where it is larger, NaN never; returns that condition."""
        b = self.v.b
        better = b.fcmp_ordered(">", x, b.load(self.value[s]))
        b.store(b.select(better, x, b.load(self.value[s])), self.value[s])
        b.store(b.select(better, turn, b.load(self.where[s])), self.where[s])
        return better

    def found(self) -> tuple[Any, Any]:
        """The largest of all, and its position."""
        v, b = self.v, self.v.b
        best, place = b.load(self.value[0]), self._position(0)
        for s in range(1, _UNROLLED):
            best, place = _larger(v, b.load(self.value[s]), self._position(s), best, place)
        return _across(v, best, place)

    def _position(self, s: int) -> Any:
        v = self.v
        first = v.b.mul(v.b.load(self.where[s]), v.integer(v.lanes * _UNROLLED))
        return v.b.add(first, ir.Constant(v.int_type, [v.lanes * s + lane for lane in range(v.lanes)]))


def _larger(v: Vector, x: Any, at_x: Any, y: Any, at_y: Any) -> tuple[Any, Any]:
    better = v.b.fcmp_ordered(">", x, y)
    return v.b.select(better, x, y), v.b.select(better, at_x, at_y)


def _across(v: Vector, value: Any, place: Any) -> tuple[Any, Any]:
    """The largest lane and what stands beside it, by halves."""
    stride = v.lanes // 2
    while stride:
        order = ir.Constant(ir.VectorType(ir.IntType(32), v.lanes), [(lane + stride) % v.lanes for lane in range(v.lanes)])
        other, at_other = (v.b.shuffle_vector(x, x, order) for x in (value, place))
        value, place = _larger(v, other, at_other, value, place)
        stride //= 2
    zero = ir.Constant(ir.IntType(32), 0)
    position = v.b.extract_element(place, zero)
    return v.b.extract_element(value, zero), position if v.bits == 64 else v.b.sext(position, _INT64)


def _turns(v: Vector, index: Any) -> Any:
    """The number of the turn in every lane."""
    narrow = index if v.bits == 64 else v.b.trunc(index, ir.IntType(32))
    undefined = ir.Constant(v.int_type, ir.Undefined)
    first = v.b.insert_element(undefined, narrow, ir.Constant(ir.IntType(32), 0))
    return v.b.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), v.lanes), [0] * v.lanes))


def _steps(v: Vector, count: Any) -> Any:
    return v.b.udiv(count, ir.Constant(_INT64, v.lanes * _UNROLLED))


@intrinsic
def _update(context, g, can_grow, can_shrink, at, K, row_i, row_j, t, count):  # type: ignore[no-untyped-def]  # Numba reads the signature
    """g += t (K_i − K_j); the largest of can_grow − g and of can_shrink + g, each with its place."""
    result = types.Tuple((g.dtype, types.int64, g.dtype, types.int64))
    signature = result(g, can_grow, can_shrink, types.intp, K, types.intp, types.intp, g.dtype, types.intp)

    def code(target: Any, builder: Any, sig: Any, values: Any) -> Any:
        v = Vector(builder, np.dtype(str(sig.args[0].dtype)))
        g, up, down, K = (target.make_array(sig.args[k])(target, builder, values[k]).data for k in (0, 1, 2, 4))
        up, down = builder.gep(up, [values[3]]), builder.gep(down, [values[3]])
        left, right, t = builder.gep(K, [values[5]]), builder.gep(K, [values[6]]), v.splat(values[7])
        grow, shrink = _Best(v, -np.inf), _Best(v, -np.inf)
        with cgutils.for_range(builder, _steps(v, values[8])) as loop:
            turn = _turns(v, loop.index)
            for s in range(_UNROLLED):
                o = builder.add(builder.mul(loop.index, ir.Constant(_INT64, v.lanes * _UNROLLED)), ir.Constant(_INT64, v.lanes * s))

                def at(pointer: Any, o: Any = o) -> Any:
                    return builder.gep(pointer, [o])

                x = v.fma(t, builder.fsub(v.load(at(left)), v.load(at(right))), v.load(at(g)))
                v.store(x, at(g))
                grow.offer(s, builder.fsub(v.load(at(up)), x), turn)
                shrink.offer(s, builder.fadd(v.load(at(down)), x), turn)
        return target.make_tuple(builder, sig.return_type, [*grow.found(), *shrink.found()])

    return signature, code


@intrinsic
def _partner(context, g, can_shrink, at, K, row_i, diagonal, g_i, K_ii, count):  # type: ignore[no-untyped-def]
    """The j with the largest max(g_j − g_i, 0)²/(K_ii + K_jj − 2K_ij): compared by cross-multiplication, without a division."""
    result = types.Tuple((g.dtype, types.int64))
    signature = result(g, can_shrink, types.intp, K, types.intp, diagonal, g.dtype, g.dtype, types.intp)

    def code(target: Any, builder: Any, sig: Any, values: Any) -> Any:
        v = Vector(builder, np.dtype(str(sig.args[0].dtype)))
        g, down, K, diagonal = (target.make_array(sig.args[k])(target, builder, values[k]).data for k in (0, 1, 3, 5))
        down, row = builder.gep(down, [values[2]]), builder.gep(K, [values[4]])
        g_i, K_ii = v.splat(values[6]), v.splat(values[7])
        best = _Best(v, 0.0)  # the numerators; the denominators stand beside them
        below = [cgutils.alloca_once_value(builder, v.constant(1.0)) for _ in range(_UNROLLED)]
        with cgutils.for_range(builder, _steps(v, values[8])) as loop:
            turn = _turns(v, loop.index)
            for s in range(_UNROLLED):
                o = builder.add(builder.mul(loop.index, ir.Constant(_INT64, v.lanes * _UNROLLED)), ir.Constant(_INT64, v.lanes * s))

                def at(pointer: Any, o: Any = o) -> Any:
                    return builder.gep(pointer, [o])

                d = builder.fsub(builder.fadd(v.load(at(down)), v.load(at(g))), g_i)
                d = builder.select(builder.fcmp_ordered(">", d, v.constant(0)), d, v.constant(0))
                curve = v.fma(v.load(at(row)), v.constant(-2.0), builder.fadd(K_ii, v.load(at(diagonal))))
                curve = builder.select(builder.fcmp_ordered(">", curve, v.constant(TAU)), curve, v.constant(TAU))
                gain = builder.fmul(d, d)
                old, old_curve = builder.load(best.value[s]), builder.load(below[s])
                better = builder.fcmp_ordered(">", builder.fmul(gain, old_curve), builder.fmul(old, curve))
                builder.store(builder.select(better, gain, old), best.value[s])
                builder.store(builder.select(better, curve, old_curve), below[s])
                builder.store(builder.select(better, turn, builder.load(best.where[s])), best.where[s])
        for s in range(_UNROLLED):
            builder.store(builder.fdiv(builder.load(best.value[s]), builder.load(below[s])), best.value[s])
        return target.make_tuple(builder, sig.return_type, [*best.found()])

    return signature, code


TAU = 1e-12  # stands for a curvature that rounding, or an indefinite kernel, makes zero or negative


def _iterate(K, ld, q, g, b, lower, upper, diagonal, grow, shrink, groups, coupled, tol, steps):  # type: ignore[no-untyped-def]
    """At most ``steps`` steps, until the gap is at most ``tol``; (steps taken, gap, steps of negative curvature, stuck).

    Flat arrays of a length that is a multiple of the registers'; ``grow`` and ``shrink`` hold, group after group, 0 for a variable of the
    group that can move that way and −∞ otherwise. Row q of K is zero.
    """
    size, zero = len(g), g[0] * 0
    row_i, row_j, t = q * ld, q * ld, zero
    negative = 0
    for step in range(steps + 1):
        gap, i, k = -np.inf, 0, 0
        for group in range(groups):
            up, at_up, down, at_down = _update(g, grow, shrink, group * size, K, row_i, row_j, t, size)
            t = zero  # the gradient is updated once
            found = up + down if coupled else max(up, down)
            if found > gap:
                gap, i, k = found, at_down if not coupled and down > up else at_up, group
        if not gap > tol or step == steps:
            return step, gap, negative, False
        if not coupled:
            curve = max(float(diagonal[i]), TAU)
            change = -float(g[i]) / curve
            change = min(max(change, lower[i] - b[i]), upper[i] - b[i])
            if change == 0.0:
                return step, gap, negative, True
            b[i] += change
            grow[i] = zero if b[i] < upper[i] else -np.inf
            shrink[i] = zero if b[i] > lower[i] else -np.inf
            row_i, t = i * ld, zero + change
            continue
        gain, j = _partner(g, shrink, k * size, K, i * ld, diagonal, g[i], diagonal[i], size)
        if not gain > 0:
            return step, gap, negative, True
        curve = float(diagonal[i]) + float(diagonal[j]) - 2.0 * float(K[i * ld + j])
        if curve < -1e-6 * (abs(float(diagonal[i])) + abs(float(diagonal[j]))):
            negative += 1
        change = (float(g[j]) - float(g[i])) / max(curve, TAU)
        room_i, room_j = upper[i] - b[i], b[j] - lower[j]
        change = min(change, room_i, room_j)
        if not change > 0.0:
            return step, gap, negative, True
        before_i, before_j = b[i], b[j]
        b[i] = upper[i] if change == room_i else b[i] + change
        b[j] = lower[j] if change == room_j else b[j] - change
        if b[i] == before_i and b[j] == before_j:
            return step, gap, negative, True
        at_i, at_j = k * size + i, k * size + j
        grow[at_i] = zero if b[i] < upper[i] else -np.inf
        shrink[at_i] = zero
        grow[at_j] = zero
        shrink[at_j] = zero if b[j] > lower[j] else -np.inf
        row_i, row_j, t = i * ld, j * ld, zero + change
    return steps, gap, negative, False


_loop = backend.jit(_iterate)


class Block:
    """The problem on a stored block of the matrix, solved a number of steps at a time.

    K
        (q + 1) × ld values, ld ``row_length(q, dtype)``; the last row, and what stands right of column q, is zero.
    """

    def __init__(self, K: Any, q: int, g: Any, b: Any, lower: Any, upper: Any, group: Any, coupled: bool) -> None:
        self.K, self.q, self.ld = K, q, K.shape[1]
        padded = self.ld
        self.g, self.b = np.zeros(padded, K.dtype), np.zeros(padded)
        self.lower, self.upper = np.zeros(padded), np.zeros(padded)
        self.g[:q], self.b[:q], self.lower[:q], self.upper[:q] = g, b, lower, upper
        self.diagonal = np.zeros(padded, K.dtype)
        self.diagonal[:q] = K[np.arange(q), np.arange(q)]
        self.groups, self.coupled = 1 if group is None else int(group.max()) + 1, coupled
        self.grow = np.full((self.groups, padded), -np.inf, K.dtype)
        self.shrink = self.grow.copy()
        for k in range(self.groups):
            mine = slice(None) if group is None else group == k
            self.grow[k, :q][mine] = np.where(b < upper, 0.0, -np.inf)[mine]
            self.shrink[k, :q][mine] = np.where(b > lower, 0.0, -np.inf)[mine]
        self.negative = 0

    def run(self, tol: float, steps: int) -> tuple[int, float, bool]:
        """(steps taken, gap, stuck)."""
        taken, gap, negative, stuck = _loop(
            self.K.reshape(-1), self.ld, self.q, self.g, self.b, self.lower, self.upper, self.diagonal,
            self.grow.reshape(-1), self.shrink.reshape(-1), self.groups, self.coupled, tol, steps,
        )  # fmt: skip
        self.negative += negative
        return taken, float(gap), stuck
