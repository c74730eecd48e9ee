"""Tiles of A B^T for sparse A and B, whatever the number of columns.

Columns that are filled on both sides are multiplied densely (in float32 where all inner products are whole numbers that it holds). The entries of the
others are joined, column by column: entries of a strip of rows of A meet those of a strip of B. Columns that only one row has meet nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer import backend
from mercer.backend import Array
from mercer.data import Coded, numbered
from mercer.data.coded import mix, row_norms
from mercer.data.representations import offsets_of, spans

if TYPE_CHECKING:
    from mercer.engine.tiles import Tiles

_DENSE = 1 / 64  # share of pairs of rows that both fill a column, above which a dense product of it takes less time than a join
_EXACT = 2**24  # whole numbers below are exact in float32
_ROWS = 256  # of a task


@dataclass(frozen=True)
class _Rows:
    """Rows of one side: their frequent columns as a matrix (None: there are none), and the entries of the others."""

    frequent: Array | None
    offsets: Array
    columns: Array
    values: Array
    norms: Array

    def take(self, rows: Any) -> _Rows:
        part, offsets = spans(self.offsets, rows)
        frequent = None if self.frequent is None else self.frequent[rows]
        return _Rows(frequent, offsets, self.columns[part], self.values[part], self.norms[rows])


class SparseDot:
    """⟨a, b⟩ of sparse rows."""

    whole = True
    dense = False

    def __init__(self, A: Any, B: Any, dtype: Any, budget: int) -> None:
        self.dtype, self.budget = np.dtype(dtype), budget
        sides = [A] if B is A else [A, B]
        sides = [s if isinstance(s, Coded) or s.has_canonical_format else _summed(s) for s in sides]
        entries = [(s.offsets, s.values) if isinstance(s, Coded) else (s.indptr.astype(np.int64), s.data) for s in sides]
        if isinstance(A, Coded):
            places, width = numbered([s.codes for s in sides])
        else:
            places, width = [s.indices for s in sides], A.shape[1]
            if width > sum(map(len, places)):
                places, width = numbered([mix(p.astype(np.uint64)) for p in places])
        norms = [row_norms(values, offsets) for offsets, values in entries]
        counts = [np.bincount(p, minlength=width) for p in places]
        column, self.width, many = _sorted_out(counts, [len(n) for n in norms], budget // (64 * max(1, sum(map(len, norms)))))
        exact = all(backend.compiled(_whole_loop)(values) and n.max(initial=0.0) < _EXACT for (_, values), n in zip(entries, norms, strict=True))
        kind = np.float32 if exact else self.dtype
        made = [self._rows(*e, column[p], many, kind, n) for e, p, n in zip(entries, places, norms, strict=True)]
        self.left, self.right = made[0], made[-1]
        self.items: tuple[Array, Array] | None = (np.arange(len(norms[0])),) * 2 if B is A else None  # which item a row is, and a column
        self.strips: dict[tuple[int, int, int], tuple[Array, ...]] = {}

    def _rows(self, offsets: Array, values: Array, column: Array, many: int, kind: Any, norms: Array) -> _Rows:
        n = len(offsets) - 1
        frequent = np.zeros((n, many), kind) if many else None
        split, parts = backend.compiled(_split_loop), [slice(a, min(a + _ROWS, n)) for a in range(0, n, _ROWS)]
        room = frequent if frequent is not None else np.zeros((n, 0), kind)
        kept, lengths = (column >= 0) & (column < self.width), np.zeros(n, np.int64)

        def task(some: slice) -> None:
            split(offsets[some.start : some.stop + 1], column, values, self.width, room[some], lengths[some])

        backend.run_loops(task, parts)
        rare = np.flatnonzero(kept) if not kept.all() else slice(None)
        kept_values = values[rare].astype(self.dtype, copy=False)
        return _Rows(frequent, offsets_of(lengths), column[rare], kept_values, norms.astype(self.dtype))

    def sub(self, rows: Any, cols: Any, view: Tiles) -> SparseDot:
        part = object.__new__(SparseDot)
        part.dtype, part.budget, part.width, part.strips = self.dtype, self.budget, self.width, {}
        part.left = self.left.take(rows)
        part.right = part.left if view.symmetric else self.right.take(cols)
        part.items = None if self.items is None else (self.items[0][rows], self.items[1][cols])
        return part

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        left, right = self.left, self.right
        if left.frequent is None or right.frequent is None:
            out[...] = 0
        elif left.frequent.dtype == out.dtype:
            np.matmul(left.frequent[rows], right.frequent[cols].T, out=out)
        else:
            out[...] = left.frequent[rows] @ right.frequent[cols].T
        same = right is left
        backend.compiled(_join_loop)(*self._strip(0, left, rows), *self._strip(int(not same), right, cols), out)
        if self.items is not None:  # an item meets itself in all its columns, also in those that it alone has
            i, j = np.nonzero(self.items[0][rows, None] == self.items[1][cols])
            out[i, j] = left.norms[rows][i]
        return out

    def _strip(self, side: int, of: _Rows, rows: slice) -> tuple[Array, ...]:
        """The rare entries of some rows by column. Kept, for each meets many others, while an eighth of the memory holds them."""
        key = (side, rows.start, rows.stop)
        found = self.strips.get(key)
        if found is None:
            number = np.uint16 if rows.stop - rows.start < 2**16 else np.int32
            places = np.empty(int(of.offsets[rows.stop] - of.offsets[rows.start]), number)
            found = backend.compiled(_strip_loop)(of.offsets[rows.start : rows.stop + 1], of.columns, of.values, self.width, places)
            if 8 * (len(self.strips) + 1) * sum(x.nbytes for x in found) > self.budget:
                self.strips.clear()
            self.strips[key] = found
        return found


def _summed(X: Any) -> Any:
    X = X.copy()
    X.sum_duplicates()
    return X


def _sorted_out(counts: list[Array], rows: list[int], room: int) -> tuple[Array, int, int]:
    """A new number for each column: rare ones first, from 0, then frequent ones; −1 where nothing can meet. How many of each."""
    first, last = counts[0], counts[-1]
    both = first.astype(np.float64) * last
    frequent = both >= _DENSE * rows[0] * rows[-1]
    if np.count_nonzero(frequent) > room:
        kept = np.argsort(-both, kind="stable")[:room]
        frequent = np.zeros(len(both), bool)
        frequent[kept] = True
    rare = ((first > 0) & (last > 0) if len(counts) == 2 else first > 1) & ~frequent
    width, many = int(np.count_nonzero(rare)), int(np.count_nonzero(frequent))
    number = np.full(len(both), -1, np.int32)
    number[rare] = np.arange(width)
    number[frequent] = width + np.arange(many)
    return number, width, many


def _whole_loop(values):  # type: ignore[no-untyped-def]
    broken = 0
    for x in values:
        broken += x != np.floor(x)
    return broken == 0


def _split_loop(offsets, column, values, width, frequent, lengths):  # type: ignore[no-untyped-def]
    """The entries of frequent columns to their places; how many rare ones each row has."""
    for r in range(len(lengths)):
        for k in range(offsets[r], offsets[r + 1]):
            c = column[k]
            if c >= width:
                frequent[r, c - width] += values[k]
            elif c >= 0:
                lengths[r] += 1


def _strip_loop(offsets, columns, values, width, rows):  # type: ignore[no-untyped-def]
    """The entries of some rows in the order of their columns: where each column begins, the row in the strip, the value."""
    begin, end = offsets[0], offsets[-1]
    starts = np.zeros(width + 2, np.int32)
    for k in range(begin, end):
        starts[columns[k] + 2] += 1
    for c in range(2, width + 2):
        starts[c] += starts[c - 1]
    by_column = np.empty(end - begin, values.dtype)
    for r in range(len(offsets) - 1):
        for k in range(offsets[r], offsets[r + 1]):
            place = starts[columns[k] + 1]
            starts[columns[k] + 1] += 1
            rows[place], by_column[place] = r, values[k]
    return starts, rows, by_column


def _join_loop(starts, rows, values, other_starts, other_rows, others, out):  # type: ignore[no-untyped-def]
    for c in range(len(starts) - 2):
        begin, end = other_starts[c], other_starts[c + 1]
        if begin == end:
            continue
        for s in range(starts[c], starts[c + 1]):
            line, x = out[rows[s]], values[s]
            for t in range(begin, end):
                line[other_rows[t]] += x * others[t]
