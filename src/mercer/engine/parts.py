"""A A^T for counts that are made part by part, some columns after others: nothing is held but the matrix and one part
for each thread.

Columns that many rows have are multiplied densely. For the others, the lists of a row's columns are followed, row by
row: what they lead to is a line of the matrix, which stays in cache, as do the lists of one part. All sums are whole
numbers below 2^24, which float32 adds exactly in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg.blas import ssyrk

from mercer.annotations import Index
from mercer.arrays import Array
from mercer.compute import Compute, release_workspace, workspace
from mercer.data import LazyCounts, chunks
from mercer.data.representations import offsets_of
from mercer.engine.joins import DENSE, EXACT, SparseDot, number
from mercer.runtime.threads import cached_property, run_tasks, single_threaded_blas, stopping
from mercer.runtime.watch import look

if TYPE_CHECKING:
    from mercer.engine.tiles import Tiles

_COLUMNS = 1024  # that are multiplied at once
_OPERATIONS = 2**35  # of a product: a quarter of a second
_STRIPS, _ROWS = 16, 512  # of the matrix, and rows of a strip
_STORED = 64  # rows of a strip that is stored, and stays in cache between its two halves
_ENTRY = 20  # bytes of an entry of all parts together, and of its place in a list
_ENTRIES = 2**24  # of a part that is put into lists: some tenths of a second


class PartsDot:
    """⟨a, b⟩ among rows of counts that are not made yet: from all entries, for who asks for some of the matrix; or the
    whole of it, summed up.
    """

    all_columns = True
    dense = False

    def __init__(self, A: LazyCounts, dtype: DTypeLike, budget: int) -> None:
        self.A, self.dtype, self.budget = A, np.dtype(dtype), budget
        self.exact = True

    @cached_property
    def made(self) -> SparseDot:
        return SparseDot(self.A, self.A, self.dtype, self.budget)

    def height(self, width: int) -> int:
        return self.made.height(width)

    def sub(self, rows: Index, cols: Index, view: Tiles) -> SparseDot:
        return self.made.sub(rows, cols, view)

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        return self.made.fill(rows, cols, out)

    def summed(self, workers: int) -> SummedDot | PartsDot:
        """The same with all values at hand, where there is room for them, entries are not made already, and sums are
        exact; else this.
        """
        if self.exact and "made" not in self.__dict__ and (count := _sums_with_room(self.A, workers, self.budget // 4)):
            total = _upper_half(self.A, count, workers)
            if total is not None:
                return SummedDot(total)
            self.exact = False
        return self


class SummedDot:
    """⟨a, b⟩ of all pairs, in the upper half of a matrix."""

    all_columns = True
    dense = False

    def __init__(self, total: Array) -> None:
        self.total = total

    def height(self, width: int) -> int:
        return _STORED

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        # columns that may lie left of the diagonal, where there is nothing
        meet = slice(cols.start, min(max(rows.stop, cols.start), cols.stop))
        square = meet.stop - meet.start
        upper = np.arange(rows.start, rows.stop)[:, None] <= np.arange(meet.start, meet.stop)
        out[:, :square] = np.where(upper, self.total[rows, meet], self.total[meet, rows].T)
        out[:, square:] = self.total[rows, meet.stop : cols.stop]
        return out


def _height(n: int) -> int:
    return max(8, min(_ROWS, -(-n // _STRIPS)))


def _filled(A: LazyCounts, width: int) -> bool:
    """Whether rows have so many entries among ``width`` columns that most of these are frequent."""
    return bool(A.ends[-1] >= width * DENSE**0.5 * A.shape[0])


def _sums_with_room(A: LazyCounts, workers: int, budget: int) -> int:
    """How many threads can add up parts with lists, each of its own; 0: there is no room even for one."""
    n, entries = A.shape[0], int(A.ends[-1])
    rare = [int(w) for w in A.widths if not _filled(A, int(w))]
    if n < 2 or (rare and entries > _ENTRIES):
        return 0
    # the last: frequent columns, so many there can be
    lists = 38 * entries + 8 * max(rare) + int(4 / DENSE**0.5) * entries if rare else 0
    each = 4 * n * n + 4 * n * max([_COLUMNS, *(int(w) for w in A.widths if _filled(A, int(w)))]) + lists
    if each > budget:  # the entries may be more still
        return int(each < _ENTRY * entries * len(A.widths))
    return int(min(workers, max(1, len(rare) // 2), budget // each))


def _upper_half(A: LazyCounts, count: int, workers: int) -> Array | None:
    """K_ij for i ≤ j, from parts with lists dealt to ``count`` sums; None where one might not be exact. A then knows
    its norms.
    """
    sums = [_Sums(A, workers, alone=count == 1) for _ in range(count)]
    filled = [m for m, width in enumerate(A.widths) if _filled(A, int(width))]
    for k, m in enumerate(filled):
        sums[0].add_filled(m)
        look("kernel values", (k + 1) / len(A.widths))
    sums[0].multiply()
    rare = sorted(set(range(len(A.widths))) - set(filled))

    def work(s: int) -> None:
        mine = rare[s::count]
        for k, m in enumerate(mine):
            if not stopping():
                sums[s].add_lists(m)
                look("kernel values", (k + 1) / len(mine))
        sums[s].multiply()
        sums[s].begin()

    run_tasks(work, range(count), workers, blas=count > 1)
    norms, total = np.sum([s.norms for s in sums], axis=0), sums[0].total

    def gather(rows: slice) -> None:
        for other in sums[1:]:
            total[rows, rows.start :] += other.total[rows, rows.start :]

    run_tasks(gather, sums[0].strips, workers, blas=False)
    if not norms.max(initial=0.0) < EXACT:
        return None
    A.remember(norms)
    np.fill_diagonal(total, norms)
    return total


class _Sums:
    """The upper half of a matrix, to which parts are added one after the other, and the memory for that."""

    def __init__(self, A: LazyCounts, workers: int, *, alone: bool) -> None:
        n = A.shape[0]
        self.A, self.workers, self.alone = A, workers, alone
        self.total, self.begun = workspace(n * n, np.float32).reshape(n, n), False
        self.norms = np.zeros(n)
        self.strips = chunks(n, _height(n))
        # columns that wait to be multiplied
        self.matrix, self.used = np.zeros((n, min(_COLUMNS, int(A.widths.sum()))), np.float32), 0

    def begin(self) -> None:
        if not self.begun:
            self.total[...], self.begun = 0, True

    def _each_strip(self, task: Callable[[slice], None]) -> None:
        run_tasks(lambda rows: None if stopping() else task(rows), self.strips, self.workers, blas=False)

    def add_filled(self, m: int) -> None:
        columns = self._columns(int(self.A.widths[m]))

        def task(rows: slice) -> None:
            out = self.matrix[rows, columns]
            self.A.tally(m, rows, out)
            self.norms[rows] += np.einsum("ij,ij->i", out, out)

        self._each_strip(task)

    def add_lists(self, m: int) -> None:
        from mercer.engine import lists

        self.begin()
        keys, values, lengths = self._entries
        column, n = self._column[: int(self.A.widths[m])], len(lengths)
        end = self.A.count(m, slice(0, n), keys, values, lengths)
        offsets = offsets_of(lengths)
        frequent = lists.chain(
            keys[:end], values, offsets, DENSE * n * n, column, self._tables, self._lists, self._ways, self.norms
        )
        self._each_strip(lambda rows: lists.follow(rows.start, self._ways, self._lists, self.total[rows]))
        if frequent:
            columns = self._columns(int(frequent))
            lists.spread(keys, values, offsets, column, self.matrix[:, columns])

    def _columns(self, count: int) -> slice:
        """Room for some more columns; those that wait are multiplied if there is none."""
        if self.used + count > self.matrix.shape[1]:
            self.multiply()
        if count > self.matrix.shape[1]:
            self.matrix = np.zeros((len(self.total), count), np.float32)
        self.used += count
        return slice(self.used - count, self.used)

    def multiply(self) -> None:
        """Add the products of the columns that wait: in calls that use all cores, if they may and nobody else works;
        else by strips.
        """
        n, used = len(self.total), self.used
        if self.alone and self.workers in (1, Compute().workers):
            with single_threaded_blas() if self.workers == 1 else nullcontext():
                for some in chunks(used, max(16, _OPERATIONS // n**2)):
                    ssyrk(
                        1.0,
                        self.matrix[:, some].T,
                        beta=float(self.begun),
                        c=self.total.T,
                        trans=1,
                        lower=1,
                        overwrite_c=1,
                    )
                    self.begun = True
        elif used:
            self.begin()

            def task(rows: slice) -> None:
                right = self.matrix[rows.start :, :used]
                product = workspace((rows.stop - rows.start) * len(right), np.float32).reshape(-1, len(right))
                self.total[rows, rows.start :] += np.matmul(right[: rows.stop - rows.start], right.T, out=product)
                release_workspace(product.reshape(-1))

            run_tasks(lambda rows: None if stopping() else task(rows), self.strips, self.workers)
        self.matrix[:, :used], self.used = 0, 0

    @cached_property
    def _entries(self) -> tuple[Array, Array, Array]:
        room = int(self.A.ends[-1])
        return np.empty(room, np.int32), np.empty(room, np.int32), np.empty(len(self.total), np.int64)

    @cached_property
    def _column(self) -> Array:
        return np.empty(int(self.A.widths.max()), np.int32)

    @cached_property
    def _tables(self) -> tuple[Array, Array]:
        count = 1 + min(int(self.A.widths.max()), int(self.A.ends[-1]) // 2)
        return np.empty(count, np.int32), np.empty(count, np.bool_)

    @cached_property
    def _lists(self) -> tuple[Array, Array]:
        room = int(self.A.ends[-1])
        return np.empty(room, number(len(self.total)).dtype), np.empty(room, np.float32)

    @cached_property
    def _ways(self) -> tuple[Array, ...]:
        room = int(self.A.ends[-1]) + 1
        ways: list[Array] = [
            np.empty(len(self.total) + 1, np.int64),
            np.empty(room, np.int32),
            np.empty(room, np.int32),
        ]
        return (*ways, *(np.empty_like(way) for way in ways), np.empty(room, np.float32))
