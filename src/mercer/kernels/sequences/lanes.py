"""Kernels on sequences that are compared one against many: leaves a compiled loop to write.

The sequences of a block are sorted by length and packed, some to a batch, one in each lane; the loop then takes one
sequence after the other against a batch. Of a block of items with themselves each pair is computed once, but for those
within a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from mercer.annotations import Items
from mercer.arrays import Array
from mercer.compute import bounds
from mercer.data import Domain, Ragged, Sequences, chunks
from mercer.kernels.base import Kernel
from mercer.kernels.scaled import Scalable, plain
from mercer.kernels.sequences.letters import letters_of, numbered_letters
from mercer.runtime import threads

_CELLS = 2**24  # of a call: a twentieth of a second, so that an interrupt is not late
_TOGETHER = 16  # sequences whose values with themselves are found in one block
_LINE = 64  # bytes
_LETTERS = 254  # that a byte can tell apart, beside padding and the letter that equals nothing

Sweep = Callable[[Ragged, Array, "Batch", int, int], Array]


def zeros_in_lines(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> Array:
    """Zeros that begin where a line of cache begins: else each register that is read or written lies in two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + _LINE, np.uint8)
    first = -room.ctypes.data % _LINE
    out: Array = room[first : first + size].view(dtype).reshape(shape)
    return out


class Batch:
    """Sequences side by side: ``packed[place, lane]``, and ``members``, their numbers in the block ``source``."""

    def __init__(self, B: Ragged, members: Array, lanes: int, padding: int) -> None:
        self.source, self.members, self.lengths = B, members, B.lengths[members]
        self.longest = int(self.lengths.max(initial=0))
        self.packed = zeros_in_lines((self.longest + padding, lanes, *B.values.shape[1:]), B.values.dtype)
        for lane, m in enumerate(members):
            self.packed[: self.lengths[lane], lane] = B[m]
        self._made: tuple[Array, ...] | None = None

    def also(self, values: Array) -> Array:
        """Numbers that go with the places of the block, side by side like these; 0 after the end of a sequence."""
        out = np.zeros((self.longest, self.packed.shape[1]))
        for lane, m in enumerate(self.members):
            out[: self.lengths[lane], lane] = values[self.source.offsets[m] : self.source.offsets[m + 1]]
        return out

    def once(self, make: Callable[[], tuple[Array, ...]]) -> tuple[Array, ...]:
        """What a loop makes of the batch, or keeps from one call to the next."""
        if self._made is None:
            self._made = make()
        return self._made


def held(batch: Batch) -> Array:
    """The frames of a batch, places × channels × lanes; after its end a series stays as it was: what is computed there
    is not read, but should not be extreme.
    """
    frames = batch.packed.copy()
    for lane in range(frames.shape[1]):
        length = int(batch.lengths[lane]) if lane < len(batch.lengths) else 0
        frames[length:, lane] = frames[length - 1, lane] if length else frames[: len(frames) - length, 0]
    return np.ascontiguousarray(frames.transpose(0, 2, 1))


def _in_parts(A: Ragged, rows: Array, batch: Batch, sweep: Sweep, cost: int) -> Iterator[tuple[Array, Array]]:
    """(rows, values), a part at a time, so that no call takes long; a long sequence is taken up where the last call
    left it.
    """
    lengths = A.lengths[rows]
    longest = int(lengths.max(initial=0))
    step = _CELLS // max(1, cost * longest)
    if step >= 1:
        for some in chunks(len(rows), step):
            if threads.stopping():
                return
            yield rows[some], sweep(A, rows[some], batch, 0, longest)
        return
    for r in range(len(rows)):
        values = sweep(A, rows[r : r + 1], batch, 0, 0)
        for part in chunks(int(lengths[r]), max(1, _CELLS // max(1, cost))):
            if threads.stopping():
                return
            values = sweep(A, rows[r : r + 1], batch, part.start, part.stop)
        yield rows[r : r + 1], values


def swept(
    A: Ragged, B: Ragged, lanes: int, padding: int, sweep: Sweep, *, cells: bool = True, work: int = 1,
    dtype: DTypeLike = np.float64,
) -> Array:  # fmt: skip
    """The matrix of ``sweep(A, rows, batch, begin, end)`` over all batches of B: rows × lanes, for the places begin …
    end of the rows.

    Its cost is ``work`` times the product of lengths, or, without ``cells``, the length of the rows.
    """
    out = np.empty((len(A), len(B)), dtype)
    order = np.argsort(B.lengths, kind="stable")
    for lane in chunks(len(B), lanes):
        batch = Batch(B, order[lane], lanes, padding)
        rows = order[: lane.stop] if B is A else np.arange(len(A))
        for some, values in _in_parts(A, rows, batch, sweep, work * lanes * (max(1, batch.longest) if cells else 1)):
            out[np.ix_(some, batch.members)] = values[:, : len(batch.members)]
            if B is A:
                out[np.ix_(batch.members, some)] = values[:, : len(batch.members)].T
    return out


def with_itself(A: Ragged, lanes: int, padding: int, sweep: Sweep) -> Array:
    """The values of each sequence with itself."""
    out = np.empty(len(A))
    order = np.argsort(A.lengths, kind="stable")

    def task(lane: slice) -> None:
        batch = Batch(A, order[lane], lanes, padding)
        found = [values for _, values in _in_parts(A, batch.members, batch, sweep, lanes * max(1, batch.longest))]
        if found and sum(map(len, found)) == len(batch.members):
            out[batch.members] = np.diagonal(np.concatenate(found))

    threads.run_tasks(task, chunks(len(A), lanes), bounds().workers)
    return out


def lane_by_lane(A: Ragged, lanes: int, sweep: Sweep) -> Array:
    """The same by a loop that takes each lane of a batch with itself."""
    out = np.empty(len(A))
    order = np.argsort(A.lengths, kind="stable")

    def task(lane: slice) -> None:
        batch = Batch(A, order[lane], lanes, 0)
        values, step = np.full((1, lanes), -np.inf), max(1, _CELLS // max(1, lanes * batch.longest))
        for part in chunks(batch.longest, step):
            if threads.stopping():
                return
            values = np.maximum(values, sweep(A, batch.members[:1], batch, part.start, part.stop))
        out[batch.members] = values[0, : len(batch.members)]

    threads.run_tasks(task, chunks(len(A), lanes), bounds().workers)
    return out


def as_bytes(A: Ragged, B: Ragged) -> tuple[Ragged, Ragged] | None:
    """Both with letters of one byte below 255, the same letter the same number; None where there are too many
    letters.
    """
    sides = [A] if B is A else [A, B]
    if all(side.values.dtype == np.uint8 and side.values.max(initial=0) < 255 for side in sides):
        return A, B
    ranked = as_ranks(A, B)
    if max(int(side.values.max(initial=0)) for side in ranked) > _LETTERS:
        return None
    first = Ragged(ranked[0].values.astype(np.uint8), ranked[0].offsets)
    return first, first if B is A else Ragged(ranked[1].values.astype(np.uint8), ranked[1].offsets)


def as_ranks(A: Ragged, B: Ragged) -> tuple[Ragged, Ragged]:
    """Both with their letters numbered 1, 2, … together; 0, which equals nothing, stays 0."""
    letters = letters_of(A.values) if B is A else letters_of(A.values, B.values)

    def ranked(side: Ragged) -> Ragged:
        return Ragged(numbered_letters(side.values, letters, 1, 0, np.int64), side.offsets)

    first = ranked(A)
    return first, first if B is A else ranked(B)


class LaneKernel(Kernel):
    """A kernel on sequences computed in lanes: leaves ``_lane_matrix(A, B)``, the matrix between two packed sets, to
    write.
    """

    domain: ClassVar[Domain] = Sequences()
    _halves: ClassVar[bool] = True
    _turns: ClassVar[bool] = False  # whether it is the same, to the last bit, of both sequences' other strands

    def _lane_matrix(self, A: Ragged, B: Ragged) -> Array:
        raise NotImplementedError

    def _block(self, A: Items, B: Items) -> Any:
        return self._lane_matrix(items(A), A if B is A else items(B))

    def _diag(self, A: Items) -> Any:
        A = items(A)
        order = np.argsort(A.lengths, kind="stable")
        out = np.empty(len(A))
        for some in chunks(len(A), _TOGETHER):
            part = A.take(order[some])
            out[order[some]] = np.diagonal(self._lane_matrix(part, part))
        return out


class SweptScaled(Scalable):
    """The same for values that may be no floats: leaves ``_scaled(A, B)`` to write."""

    domain: ClassVar[Domain] = Sequences()

    def _alike(self, A: Ragged) -> Array:
        return np.argsort(A.lengths, kind="stable")


items = plain
