"""Tiles of A B^T for sparse A and B, whatever the number of columns.

Columns that are filled on both sides are multiplied densely (in float32 where all inner products are whole numbers that
it holds). For the others, each column is a list of the rows that have it, on either side; lists are read straight on,
column by column, and added to strips as wide as the matrix, whose rows stay in cache meanwhile. Columns that only one
row has meet nothing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer.annotations import Index, Items, Samples
from mercer.arrays import Array
from mercer.compute import release_workspace, workspace
from mercer.data import HashedRows, chunks, numbered
from mercer.data.hashed_rows import row_norms, together
from mercer.data.representations import spans
from mercer.native.mixing import mix
from mercer.runtime import threads
from mercer.runtime.threads import cached_property

if TYPE_CHECKING:
    from mercer.engine.tiles import Tiles

# share of pairs of rows that both fill a column, above which a dense product of it takes less time than a join
DENSE = 1 / 64
EXACT = 2**24  # whole numbers below are exact in float32
_ROWS = 256  # of a strip
_STRIP = 4 * 2**20  # bytes of a strip
_GROUP_BITS, _PARTS = 8, 16  # groups of columns, and parts of the rows, that are sorted apart

Lists = tuple[Array, Array, Array]  # where the list of each column begins, its rows in their order, and their values


class _Side:
    """Rows of one side: their frequent columns as a matrix (None: there are none), the others as lists."""

    def __init__(self, frequent: Array | None, lists: Lists, norms: Array) -> None:
        self.frequent, self.lists, self.norms = frequent, lists, norms

    @cached_property
    def _by_row(self) -> Lists:
        """The lists of the rows: where each begins, its columns in their order, and their values."""
        from mercer.engine.lists import transposed

        found: Lists = transposed(*self.lists, len(self.norms), np.int32(0))
        return found

    def take(self, chosen: Index) -> _Side:
        from mercer.engine.lists import transposed

        offsets, columns, values = self._by_row
        part, begins = spans(offsets, chosen)
        norms = self.norms[chosen]
        lists = transposed(begins, columns[part], values[part], len(self.lists[0]) - 1, number(len(norms)))
        return _Side(None if self.frequent is None else self.frequent[chosen], lists, norms)


class SparseDot:
    """⟨a, b⟩ of sparse rows."""

    all_columns = True
    dense = False

    def __init__(self, A: Items, B: Items, dtype: DTypeLike, budget: int) -> None:
        from mercer.engine import lists

        self.dtype = np.dtype(dtype)
        sides = [A] if B is A else [A, B]
        sides = [
            s if isinstance(s, HashedRows) or getattr(s, "distinct", False) or s.has_canonical_format else _summed(s)
            for s in sides
        ]
        entries = [
            (s.offsets, s.values) if isinstance(s, HashedRows) else (s.indptr.astype(np.int64), s.data) for s in sides
        ]
        if isinstance(A, HashedRows):
            places, width = together(sides)
        else:
            places, width = [s.indices for s in sides], A.shape[1]
            if width > sum(map(len, places)):
                places, width = numbered([mix(p.astype(np.uint64)) for p in places])
        norms = [row_norms(values, offsets) for offsets, values in entries]
        exact = all(
            lists.are_integers(values) and n.max(initial=0.0) < EXACT
            for (_, values), n in zip(entries, norms, strict=True)
        )
        self.kind = np.dtype(np.float32) if exact else self.dtype
        made = _sorted_out(
            [(*e, p) for e, p in zip(entries, places, strict=True)],
            width,
            self.kind,
            budget // (64 * max(1, sum(map(len, norms)))),
        )
        found = [_Side(*side, n.astype(self.dtype)) for side, n in zip(made, norms, strict=True)]
        self.left, self.right = found[0], found[-1]
        # which item a row is, and a column
        self.items: tuple[Array, Array] | None = (np.arange(len(norms[0])),) * 2 if B is A else None

    def height(self, width: int) -> int:
        """Rows of a strip: each reads all lists, and is read and written where they lead."""
        return int(max(8, min(_ROWS, _STRIP // max(1, width * self.kind.itemsize))))

    def sub(self, rows: Index, cols: Index, view: Tiles) -> SparseDot:
        part = object.__new__(SparseDot)
        part.dtype, part.kind = self.dtype, self.kind
        part.left = self.left.take(rows)
        part.right = part.left if view.symmetric else self.right.take(cols)
        part.items = None if self.items is None else (self.items[0][rows], self.items[1][cols])
        return part

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        from mercer.engine.lists import add

        left, right = self.left, self.right
        total = out if self.kind == out.dtype else np.empty(out.shape, self.kind)  # whole numbers in float32
        if left.frequent is None or right.frequent is None:
            total[...] = 0
        else:
            np.matmul(left.frequent[rows], right.frequent[cols].T, out=total)
        add(*left.lists, *right.lists, rows.start, rows.stop, cols.start, cols.stop, total)
        if total is not out:
            out[...] = total
        if self.items is not None:  # an item meets itself in all its columns, also in those that it alone has
            i, j = _equal(self.items[0][rows], self.items[1][cols])
            out[i, j] = left.norms[rows][i]
        return out


def _equal(rows: Array, cols: Array) -> tuple[Array, Array]:
    """Where a row and a column are the same item."""
    if (
        len(rows)
        and len(cols) >= len(rows)
        and np.array_equal(rows, cols[: len(rows)])
        and len(np.unique(cols)) == len(cols)
    ):
        return np.arange(len(rows)), np.arange(len(rows))  # a strip of a symmetric matrix, from the diagonal on
    i, j = np.nonzero(rows[:, None] == cols)
    return i, j


def _summed(X: Samples) -> Any:
    X = X.copy()
    X.sum_duplicates()
    return X


def number(n: int) -> Any:
    """A zero of the type that numbers of n rows are kept in."""
    return np.uint16(0) if n < 2**16 else np.int32(0)


def _sorted_out(
    sides: list[tuple[Array, Array, Array]], width: int, kind: np.dtype[Any], buffer: int
) -> list[tuple[Array | None, Lists]]:
    """(offsets, values, columns) of one side, or of two, as matrices of the frequent columns, at most ``buffer`` of
    them, and lists of the rare ones.

    Entries are dealt to groups of neighbouring columns first: all that is done with the columns of a group then stays
    in cache, and threads take groups.
    """
    from mercer.engine import lists

    shift = max(0, int(width).bit_length() - _GROUP_BITS)
    groups = range((max(1, width) - 1 >> shift) + 1)
    dealt = [_dealt(*side, shift, len(groups), kind) for side in sides]
    # the number among the rare ones of its group; −1: it meets nothing; −2, −3, …: among the frequent ones
    column = np.empty(width, np.int32)
    # rare and frequent columns of each group, and rare entries of both sides
    found = np.zeros((len(groups), 4), np.int64)
    rows = [len(offsets) - 1 for offsets, _, _ in sides]

    def members(g: int) -> tuple[slice, list[slice]]:
        return slice(g << shift, min(width, (g + 1) << shift)), [slice(side[3][g], side[3][g + 1]) for side in dealt]

    def sort_out(least: float) -> None:
        def task(g: int) -> None:
            mine, some = members(g)
            keys = [side[0][part] for side, part in zip(dealt, some, strict=True)]
            found[g] = lists.sort_out(keys[0], keys[-1], len(sides) == 1, mine.start, least, column[mine])

        threads.run_loops(task, groups)

    least = DENSE * rows[0] * rows[-1]
    sort_out(least)
    if found[:, 1].sum() > buffer:  # the most frequent of them
        counts = [lists.tally(places, np.zeros(width, np.int32)) for *_, places in sides]
        both = np.sort((counts[0].astype(np.float64) * counts[-1])[column < -1])
        sort_out(float(both[-buffer]) * (1 + 1e-12) if buffer else np.inf)
    bases = np.concatenate([np.zeros((1, 4), np.int64), np.cumsum(found, axis=0)])
    many, out = int(bases[-1, 1]), []
    for t, (keys, numbers, values, *_) in enumerate(dealt):
        frequent, starts = np.zeros((rows[t], many), kind), np.empty(int(bases[-1, 0]) + 1, np.int64)
        starts[-1] = total = int(bases[-1, 2 + t])
        list_rows, list_values = np.empty(total, numbers.dtype), np.empty(total, kind)

        def task(
            g: int, t: int = t, made: Any = (keys, numbers, values, frequent, starts, list_rows, list_values)
        ) -> None:
            keys, numbers, values, frequent, starts, list_rows, list_values = made
            mine, some = members(g)
            rare, often, *entries = bases[g]
            part, end = some[t], bases[g + 1]
            lists.place(
                keys[part],
                numbers[part],
                values[part],
                mine.start,
                column[mine],
                often,
                entries[t],
                starts[rare : end[0]],
                list_rows[entries[t] : end[2 + t]],
                list_values[entries[t] : end[2 + t]],
                frequent,
            )

        threads.run_loops(task, groups)
        out.append((frequent if many else None, (starts, list_rows, list_values)))
    release_workspace(dealt[0][-1])
    return out


def _dealt(
    offsets: Array, values: Array, columns: Array, shift: int, groups: int, kind: np.dtype[Any]
) -> tuple[Array, ...]:
    """Columns, rows and values by group of columns, each in the order of the rows; where each group begins; and the
    memory all but that is in.
    """
    from mercer.engine import lists

    n = len(offsets) - 1
    parts = chunks(n, max(1, -(-n // _PARTS)))
    counts = np.zeros((len(parts), groups), np.int64)
    threads.run_loops(
        lambda p: lists.share(offsets[parts[p].start : parts[p].stop + 1], columns, shift, counts[p]), range(len(parts))
    )
    first = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    begins = np.cumsum(counts, axis=0) - counts + first[:-1]
    count, kind_of_row = len(columns), number(n).dtype
    # wide ones first, so that all are aligned
    bytes_of = [0, *np.cumsum([count * np.dtype(x).itemsize for x in (kind, np.int32, kind_of_row)])]
    buffer = workspace(bytes_of[-1], np.uint8)
    values_out, *numbers = (
        buffer[a:b].view(x) for (a, b), x in zip(pairwise(bytes_of), (kind, np.int32, kind_of_row), strict=True)
    )
    out = (*numbers, values_out)

    def task(p: int) -> None:
        lists.deal(offsets[parts[p].start : parts[p].stop + 1], columns, values, parts[p].start, shift, begins[p], *out)

    threads.run_loops(task, range(len(parts)))
    return *out, first, buffer
