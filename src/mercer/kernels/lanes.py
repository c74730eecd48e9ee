"""Kernels on sequences that are compared one against many: leaves a compiled loop to write.

The sequences of a block are sorted by length and packed, some to a batch, one in each lane; the loop then takes one sequence after the other
against a batch. Of a block of items with themselves each pair is computed once, but for those within a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from mercer import backend
from mercer.backend import Array
from mercer.data import Domain, Ragged, Sequences, chunks
from mercer.kernels.base import Kernel

_CELLS = 2**27  # of a call: a tenth of a second, so that an interrupt is not late
_LETTERS = 254  # that a byte can tell apart, beside padding and the letter that equals nothing

Sweep = Callable[[Ragged, Array, "Batch"], Array]


class Batch:
    """Sequences side by side: ``packed[place, lane]``, and ``members``, their numbers in the block."""

    def __init__(self, B: Ragged, members: Array, lanes: int, padding: int) -> None:
        self.members, self.lengths = members, B.lengths[members]
        self.longest = int(self.lengths.max(initial=0))
        self.packed = np.zeros((self.longest + padding, lanes, *B.values.shape[1:]), B.values.dtype)
        for lane, m in enumerate(members):
            self.packed[: self.lengths[lane], lane] = B[m]


def swept(A: Ragged, B: Ragged, lanes: int, padding: int, sweep: Sweep, *, cells: bool = True) -> Array:
    """The matrix of ``sweep(A, rows, batch)``, which gives rows × lanes, over all batches of B; its cost is the product of lengths, if ``cells``."""
    out = np.empty((len(A), len(B)))
    order = np.argsort(B.lengths, kind="stable")
    longest = int(A.lengths.max(initial=0))
    for lane in chunks(len(B), lanes):
        batch = Batch(B, order[lane], lanes, padding)
        rows = order[: lane.stop] if B is A else np.arange(len(A))
        step = max(1, _CELLS // max(1, lanes * longest * max(1, batch.longest))) if cells else len(rows)
        for some in chunks(len(rows), step):
            if backend.stopping():
                return out
            values = sweep(A, rows[some], batch)[:, : len(batch.members)]
            out[np.ix_(rows[some], batch.members)] = values
            if B is A:
                out[np.ix_(batch.members, rows[some])] = values.T
    return out


def with_itself(A: Ragged, lanes: int, padding: int, sweep: Sweep) -> Array:
    """The values of each sequence with itself."""
    out = np.empty(len(A))
    order = np.argsort(A.lengths, kind="stable")
    for lane in chunks(len(A), lanes):
        members = order[lane]
        out[members] = np.diagonal(sweep(A, members, Batch(A, members, lanes, padding)))
    return out


def as_bytes(A: Ragged, B: Ragged) -> tuple[Ragged, Ragged] | None:
    """Both with letters of one byte below 255, the same letter the same number; None where there are too many letters."""
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
    found = np.unique(A.values if B is A else np.concatenate([A.values, B.values]))
    found = found[found != 0]

    def ranked(side: Ragged) -> Ragged:
        return Ragged(np.where(side.values == 0, 0, np.searchsorted(found, side.values) + 1), side.offsets)

    first = ranked(A)
    return first, first if B is A else ranked(B)


class Swept(Kernel):
    """A kernel on sequences computed in lanes: leaves ``_swept(A, B)``, the matrix between two packed sets, to write."""

    domain: ClassVar[Domain] = Sequences()
    _halves: ClassVar[bool] = True

    def _swept(self, A: Ragged, B: Ragged) -> Array:
        raise NotImplementedError

    def _block(self, A: Any, B: Any) -> Any:
        return self._swept(items(A), A if B is A else items(B))

    def _diag(self, A: Any) -> Any:
        A = items(A)
        return np.array([float(self._swept(one, one)[0, 0]) for one in (A.take(i) for i in chunks(len(A), 1))])


def items(A: Any) -> Any:
    if hasattr(A, "__formula__"):
        raise TypeError("sequences are compared as they are, not as symbols")
    return A
