"""Sequential minimal optimisation on a stored block: one file, since its passes are compiled as one loop.

Two variables at a time, chosen by second-order gain, in vector code.

    min ½ b^T K b + linear,  lower ≤ b ≤ upper,  sums of groups kept

i is the variable with the largest −g among those that can grow; j, among those that can shrink, the one whose step with
i gains most, (g_j − g_i)²/(K_ii + K_jj − 2K_ij). One pass updates the gradient and finds the next i; one pass finds j.
Both passes hold several registers of running maxima and of where they were found; Numba's own loops take five times as
long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import DTypeLike

from mercer.arrays import Array
from mercer.native.atomics import claim, read, write
from mercer.native.vector import Vector, register_bytes
from mercer.problems import DualQP
from mercer.runtime import compiling, threads

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing import Signature

_UNROLLED = 4  # registers in flight
_SPLIT = 3072  # variables from which a pass is worth two threads
_INT64 = ir.IntType(64)
_AHEAD = 2048  # bytes of a row that are asked for before they are read
_WORTH_SHRINKING = 512  # variables
_SHRUNK = 0.7  # of them: a block of fewer is worth gathering
_AGAIN = 8  # times
MARGIN = 0.2  # of the gap: how far inside its bound a variable may be and still be expected to move


def row_length(q: int, dtype: DTypeLike) -> int:
    """The length of the rows of a block of q variables: whole registers, and no multiple of 1 KB, which would alias in
    the cache.
    """
    size = np.dtype(dtype).itemsize
    by = int(_UNROLLED * register_bytes() // size)
    length = -(-q // by) * by
    return length + by if length * size % 1024 == 0 else length


class _Best:
    """Running maxima of a quantity, with where they were found: one pair of registers for each of the unrolled
    steps.
    """

    def __init__(self, v: Vector, start: float) -> None:
        self.v = v
        self.value = [cgutils.alloca_once_value(v.b, v.constant(start)) for _ in range(_UNROLLED)]
        self.where = [cgutils.alloca_once_value(v.b, v.integer(0)) for _ in range(_UNROLLED)]

    def offer(self, s: int, x: ir.Value, turn: ir.Value) -> Any:
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


def _larger(v: Vector, x: ir.Value, at_x: ir.Value, y: ir.Value, at_y: ir.Value) -> tuple[Any, Any]:
    better = v.b.fcmp_ordered(">", x, y)
    return v.b.select(better, x, y), v.b.select(better, at_x, at_y)


def _across(v: Vector, value: ir.Value, place: ir.Value) -> tuple[Any, Any]:
    """The largest lane and what stands beside it, by halves."""
    stride = v.lanes // 2
    while stride:
        order = ir.Constant(
            ir.VectorType(ir.IntType(32), v.lanes), [(lane + stride) % v.lanes for lane in range(v.lanes)]
        )
        other, at_other = (v.b.shuffle_vector(x, x, order) for x in (value, place))
        value, place = _larger(v, other, at_other, value, place)
        stride //= 2
    zero = ir.Constant(ir.IntType(32), 0)
    position = v.b.extract_element(place, zero)
    return v.b.extract_element(value, zero), position if v.bits == 64 else v.b.sext(position, _INT64)


def _turns(v: Vector, index: ir.Value) -> Any:
    """The number of the turn in every lane."""
    narrow = index if v.bits == 64 else v.b.trunc(index, ir.IntType(32))
    undefined = ir.Constant(v.int_type, ir.Undefined)
    first = v.b.insert_element(undefined, narrow, ir.Constant(ir.IntType(32), 0))
    return v.b.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), v.lanes), [0] * v.lanes))


def _registers(v: Vector, count: ir.Value) -> Iterator[tuple[int, Callable[[Any], Any], Any]]:
    """A loop over the registers of a row: which of those in flight it is, its place behind a pointer, and the number of
    the turn.
    """
    by = v.lanes * _UNROLLED
    with cgutils.for_range(v.b, v.b.udiv(count, ir.Constant(_INT64, by))) as loop:
        turn = _turns(v, loop.index)
        for s in range(_UNROLLED):
            o = v.b.add(v.b.mul(loop.index, ir.Constant(_INT64, by)), ir.Constant(_INT64, v.lanes * s))
            yield s, partial(_place, v, o), turn


def _ask(v: Vector, row: ir.Value, count: ir.Value) -> None:
    """Ask for the beginning of a row: the loop asks for the rest ``_AHEAD`` of where it is. Rows are too short for a
    processor to see them coming.
    """
    for line in range(0, _AHEAD, 64):
        v.prefetch(v.b.gep(row, [ir.Constant(_INT64, line // v.dtype.itemsize)]))


def _place(v: Vector, offset: ir.Value, pointer: ir.Value) -> Any:
    return v.b.gep(pointer, [offset])


@intrinsic
def _update(context, g, can_grow, can_shrink, at, K, row_i, row_j, t, first, count):  # type: ignore[no-untyped-def]  # Numba reads the signature
    """g += t (K_i − K_j) from ``first`` on; the largest of can_grow − g and of can_shrink + g there, each with its
    place.
    """
    result = types.Tuple((g.dtype, types.int64, g.dtype, types.int64))
    signature = result(g, can_grow, can_shrink, types.intp, K, types.intp, types.intp, g.dtype, types.intp, types.intp)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        v = Vector(builder, np.dtype(str(sig.args[0].dtype)))
        g, up, down, K = (target.make_array(sig.args[k])(target, builder, values[k]).data for k in (0, 1, 2, 4))
        first = values[8]
        g = builder.gep(g, [first])
        up, down = (builder.gep(x, [builder.add(values[3], first)]) for x in (up, down))
        left, right = (builder.gep(K, [builder.add(row, first)]) for row in (values[5], values[6]))
        t = v.splat(values[7])
        grow, shrink = _Best(v, -np.inf), _Best(v, -np.inf)
        _ask(v, right, values[9])
        for s, at, turn in _registers(v, values[9]):
            v.prefetch(builder.gep(at(right), [ir.Constant(_INT64, _AHEAD // v.dtype.itemsize)]))
            x = v.fma(t, builder.fsub(v.load(at(left)), v.load(at(right))), v.load(at(g)))
            v.store(x, at(g))
            grow.offer(s, builder.fsub(v.load(at(up)), x), turn)
            shrink.offer(s, builder.fadd(v.load(at(down)), x), turn)
        (up, at_up), (down, at_down) = grow.found(), shrink.found()
        return target.make_tuple(
            builder, sig.return_type, [up, builder.add(at_up, first), down, builder.add(at_down, first)]
        )

    return signature, code


@intrinsic
def _partner(context, g, can_shrink, at, K, row_i, diagonal, g_i, K_ii, first, count):  # type: ignore[no-untyped-def]
    """The j with the largest max(g_j − g_i, 0)²/(K_ii + K_jj − 2K_ij): compared by cross-multiplication, without a
    division.
    """
    result = types.Tuple((g.dtype, types.int64))
    signature = result(g, can_shrink, types.intp, K, types.intp, diagonal, g.dtype, g.dtype, types.intp, types.intp)

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        v = Vector(builder, np.dtype(str(sig.args[0].dtype)))
        g, down, K, diagonal = (target.make_array(sig.args[k])(target, builder, values[k]).data for k in (0, 1, 3, 5))
        first = values[8]
        g, diagonal = builder.gep(g, [first]), builder.gep(diagonal, [first])
        down, row = builder.gep(down, [builder.add(values[2], first)]), builder.gep(K, [builder.add(values[4], first)])
        g_i, K_ii = v.splat(values[6]), v.splat(values[7])
        best = _Best(v, 0.0)  # the numerators; the denominators stand beside them
        below = [cgutils.alloca_once_value(builder, v.constant(1.0)) for _ in range(_UNROLLED)]
        _ask(v, row, values[9])
        for s, at, turn in _registers(v, values[9]):
            v.prefetch(builder.gep(at(row), [ir.Constant(_INT64, _AHEAD // v.dtype.itemsize)]))
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
        gain, place = best.found()
        return target.make_tuple(builder, sig.return_type, [gain, builder.add(place, first)])

    return signature, code


TAU = 1e-12  # stands for a curvature that rounding, or an indefinite kernel, makes zero or negative

# ---------------------------------------------------------------------------------------------------------------------
# Two threads: the second half of a pass is for whoever comes first
# ---------------------------------------------------------------------------------------------------------------------

# A step takes a microsecond or two, so threads meet by watching a number, not by waiting for the system. Each pass is a
# job; a helper that is
# awake claims its second half, and if none does, the first thread goes on to it itself. So a busy machine costs nothing
# but the help. Which thread computes a half does not change a bit of it.
_POSTED, _CLAIMED, _DONE = 0, 16, 32  # places in ``flags``, two cache lines apart
_STOP = -1


def _assist(flags, K, g, grow, shrink, diagonal, middle, number, value, found, place):  # type: ignore[no-untyped-def]
    """A helper: claims jobs until it is told to stop. ``number`` and ``value`` describe a job; its results are
    ``found`` and ``place``.
    """
    seen, rest = 0, len(g) - middle
    while True:
        job = read(flags, _POSTED)
        if job == _STOP:
            return
        if job != seen:
            if claim(flags, _CLAIMED, job):
                if number[0] == 0:
                    up, at_up, down, at_down = _update(
                        g, grow, shrink, number[1], K, number[2], number[3], value[0], middle, rest
                    )
                    found[0], place[0], found[1], place[1] = up, at_up, down, at_down
                else:
                    gain, j = _partner(g, shrink, number[1], K, number[2], diagonal, value[0], value[1], middle, rest)
                    found[0], place[0] = gain, j
                write(flags, _DONE, job)
            seen = job


_assisting = compiling.jit(_assist)


def _iterate(  # type: ignore[no-untyped-def]
    K, ld, q, g, b, lower, upper, diagonal, grow, shrink, groups, coupled, tol, steps, middle, flags, number, value,
    found, place,
):  # fmt: skip
    """At most ``steps`` steps, until the gap is at most ``tol``; (steps taken, gap, steps of negative curvature,
    stuck).

    Flat arrays of a length that is a multiple of the registers'; ``grow`` and ``shrink`` hold, group after group, 0 for
    a variable of the group that can move that way and −∞ otherwise. Row q of K is zero.

    Each pass stands here once, in a loop over the halves that this thread takes: a second copy of it would be compiled
    a second time.
    """
    size, zero = len(g), g[0] * 0
    row_i, row_j, t = q * ld, q * ld, zero
    negative, job, gap, stuck = 0, 0, -np.inf, False
    for step in range(steps + 1):
        gap, i, k = -np.inf, 0, 0
        for group in range(groups):
            if middle < size:
                number[0] = 0
                number[1] = group * size
                number[2] = row_i
                number[3] = row_j
                value[0] = t
                job += 1
                write(flags, _POSTED, job)
            up, down = zero, zero
            at_up, at_down = 0, 0
            first, stop = 0, middle
            while True:
                high, at_high, low, at_low = _update(
                    g, grow, shrink, group * size, K, row_i, row_j, t, first, stop - first
                )
                if first == 0 or high > up:
                    up, at_up = high, at_high
                if first == 0 or low > down:
                    down, at_down = low, at_low
                if stop == size:
                    break
                if not claim(flags, _CLAIMED, job):  # the helper has it
                    while read(flags, _DONE) != job:
                        pass
                    if found[0] > up:
                        up, at_up = found[0], place[0]
                    if found[1] > down:
                        down, at_down = found[1], place[1]
                    break
                first, stop = middle, size
            t = zero  # the gradient is updated once
            falls = not coupled and down > up
            violated = up + down if coupled else down if falls else up
            if violated > gap:
                gap, i, k = violated, at_down if falls else at_up, group
        if not gap > tol or step == steps:
            break
        b_i, g_i, d_i, row_i = b[i], g[i], diagonal[i], i * ld
        low_i, high_i = lower[i] - b_i, upper[i] - b_i
        if not coupled:
            curve = float(d_i)
            change = -float(g_i) / (curve if curve > TAU else TAU)
            change = low_i if change < low_i else change
            change = high_i if change > high_i else change
            if change == 0.0:
                stuck = True
                break
            b[i] = b_i + change
            grow[i] = zero if b[i] < upper[i] else -np.inf
            shrink[i] = zero if b[i] > lower[i] else -np.inf
            t = zero + change
            continue
        if middle < size:
            number[0] = 1
            number[1] = k * size
            number[2] = row_i
            value[0] = g_i
            value[1] = d_i
            job += 1
            write(flags, _POSTED, job)
        gain, j = zero, 0
        first, stop = 0, middle
        while True:
            most, at_most = _partner(g, shrink, k * size, K, row_i, diagonal, g_i, d_i, first, stop - first)
            if most > gain:
                gain, j = most, at_most
            if stop == size:
                break
            if not claim(flags, _CLAIMED, job):
                while read(flags, _DONE) != job:
                    pass
                if found[0] > gain:
                    gain, j = found[0], place[0]
                break
            first, stop = middle, size
        if not gain > 0:
            stuck = True
            break
        b_j, d_j, row_j = b[j], diagonal[j], j * ld
        high_j = b_j - lower[j]
        curve = float(d_i) + float(d_j) - 2.0 * float(K[row_i + j])
        if curve < -1e-6 * (abs(float(d_i)) + abs(float(d_j))):
            negative += 1
        change = (float(g[j]) - float(g_i)) / (curve if curve > TAU else TAU)
        change = high_i if change > high_i else change
        change = high_j if change > high_j else change
        new_i = upper[i] if change == high_i else b_i + change
        new_j = lower[j] if change == high_j else b_j - change
        if not change > 0.0 or (new_i == b_i and new_j == b_j):
            stuck = True
            break
        b[i] = new_i
        b[j] = new_j
        at_i, at_j = k * size + i, k * size + j
        grow[at_i] = zero if new_i < upper[i] else -np.inf
        shrink[at_i] = zero
        grow[at_j] = zero
        shrink[at_j] = zero if new_j > lower[j] else -np.inf
        t = zero + change
    return step, gap, negative, stuck


iterate = compiling.jit(_iterate)


def job_memory(dtype: DTypeLike) -> tuple[Any, ...]:
    """flags, and number, value, found, place of a job; what different threads write stands in different cache lines."""
    raw = np.zeros(128 + 6 * 128, np.uint8)
    at = -raw.ctypes.data % 128

    def part(line: int, lines: int, kind: DTypeLike, count: int) -> Any:
        start = at + 128 * line
        return raw[start : start + 128 * lines].view(kind)[:count]

    return (
        part(0, 3, np.int64, 33),
        part(3, 1, np.int64, 4),
        part(4, 1, dtype, 2),
        part(5, 1, dtype, 2),
        part(5, 1, np.int64, 16)[8:10],
    )


def _gather(K, ld, chosen, out, new):  # type: ignore[no-untyped-def]
    """Rows and columns of a flat matrix of row length ``ld`` as one of row length ``new``, with its zeros."""
    m = len(chosen)
    for a in range(m):
        row, place = K[chosen[a] * ld : (chosen[a] + 1) * ld], out[a * new : (a + 1) * new]
        for c in range(m):
            place[c] = row[chosen[c]]
        place[m:] = 0
    out[m * new :] = 0


def _add_rows(g, K, ld, chosen, delta):  # type: ignore[no-untyped-def]
    """g += Σ_a delta_a K[chosen_a]."""
    for a in range(len(chosen)):
        t = delta[a]
        if t != 0:
            row = K[chosen[a] * ld : chosen[a] * ld + len(g)]
            for c in range(len(g)):
                g[c] += t * row[c]


_gathered, _added = compiling.jit(_gather), compiling.jit(_add_rows)


class Block:
    """The problem on a stored block of the matrix, solved a number of steps at a time.

    From the gap ``early`` on, the variables that may still move have a block of their own, gathered from this one: rows
    as short as they are many. What that leaves undone shows in the gradient of all.

    K
        (q + 1) × ld values for the q variables of ``problem``, ld ``row_length(q, dtype)``; the last row, and what
        stands right of column q, is zero.
    """

    def __init__(self, K: Array, problem: DualQP, b: Array, g: Array, workers: int = 1, early: float = 0.0) -> None:
        q = len(problem)
        self.K, self.q, self.ld, self.workers = K, q, K.shape[1], workers
        self.problem, self.early = problem, early if q >= _WORTH_SHRINKING else 0.0
        self.g, self._b = np.zeros(self.ld, K.dtype), np.zeros(self.ld)
        self.lower, self.upper = np.zeros(self.ld), np.zeros(self.ld)
        self.g[:q], self._b[:q], self.lower[:q], self.upper[:q] = g, b, problem.lower, problem.upper
        self._start = self._b.copy()
        self.diagonal = np.zeros(self.ld, K.dtype)
        self.diagonal[:q] = K[np.arange(q), np.arange(q)]
        self.grow = np.full((len(problem.groups), self.ld), -np.inf, K.dtype)
        self.shrink = self.grow.copy()
        self._part: tuple[Any, Block] | None = None
        self.negative = self._returns = self._taken = 0
        self._mark()

    @property
    def b(self) -> Any:
        """The point, q values."""
        self._return()
        return self._b[: self.q]

    def moved(self) -> float:
        """‖b − where it began‖."""
        step = self._b - self._start
        if self._part is not None:
            chosen, part = self._part
            step[chosen] = part.b - self._start[chosen]
        return float(np.linalg.norm(step))

    def run(self, tol: float, steps: int) -> tuple[int, float, bool]:
        """(steps taken, gap, stuck): until the gap is at most ``tol``, or the steps are taken."""
        taken = 0
        while True:
            if self._part is not None:
                more, gap, stuck = self._part[1]._run(tol, steps - taken)
                taken += more
                if taken >= steps:
                    return taken, gap, stuck
                self._return()
            more, gap, stuck = self._run(max(tol, self.early), steps - taken)
            taken += more
            if gap <= tol or stuck or taken >= steps:
                return taken, gap, stuck
            # after few steps few are left, and a gathered block would not pay
            if self._taken < self.q or self._returns == _AGAIN or not self._depart():
                self.early = 0.0

    def _depart(self) -> bool:
        """Give those that may still move a block of their own, unless they are nearly all."""
        gap, _, key = self.problem.violation(self._b[: self.q], self.g[: self.q])
        chosen = np.flatnonzero(key > -MARGIN * gap)
        if len(chosen) > _SHRUNK * self.q:
            return False
        K = np.empty((len(chosen) + 1, row_length(len(chosen), self.K.dtype)), self.K.dtype)
        _gathered(self.K.reshape(-1), self.ld, chosen, K.reshape(-1), K.shape[1])
        self._part = chosen, Block(K, self.problem.part(chosen), self._b[chosen], self.g[chosen], self.workers)
        return True

    def _return(self) -> None:
        """Take over what the part has found."""
        if self._part is None:
            return
        (chosen, part), self._part = self._part, None
        delta = part.b - self._b[chosen]
        _added(self.g, self.K.reshape(-1), self.ld, chosen, delta.astype(self.K.dtype))
        self._b[chosen] = part.b
        self.negative += part.negative
        self._returns += 1
        self._mark()

    def _mark(self) -> None:
        """Which variables can move which way."""
        q = self.q
        for k, mine in enumerate(self.problem.groups):
            self.grow[k, :q][mine] = np.where(self._b[:q] < self.upper[:q], 0.0, -np.inf)[mine]
            self.shrink[k, :q][mine] = np.where(self._b[:q] > self.lower[:q], 0.0, -np.inf)[mine]

    def _run(self, tol: float, steps: int) -> tuple[int, float, bool]:
        K, grow, shrink = self.K.reshape(-1), self.grow.reshape(-1), self.shrink.reshape(-1)
        size = self.ld
        by = row_length(1, K.dtype)
        middle = size // 2 // by * by if size >= _SPLIT else size
        flags, *job = job_memory(K.dtype)

        def help() -> None:
            _assisting(flags, K, self.g, grow, shrink, self.diagonal, middle, *job)

        def stop() -> None:
            flags[_POSTED] = _STOP

        with threads.assistant(help, stop, self.workers if middle < size else 1):
            taken, gap, negative, stuck = iterate(
                K, self.ld, self.q, self.g, self._b, self.lower, self.upper, self.diagonal, grow, shrink,
                len(grow) // size, self.problem.coupled, tol, steps, middle, flags, *job,
            )  # fmt: skip
        self.negative += negative
        self._taken += taken
        return taken, float(gap), stuck
