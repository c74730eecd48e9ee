"""Sparse rows over an open set of columns: one file, the form and its products.

It is what explicit kernels on structured data prepare.

A column is a 64-bit code computed from what it stands for (a word, a subtree), so that two sets of items need no shared
vocabulary. Two of a million different things share a code with probability 3·10⁻⁸. Products join entries of equal code,
or number the codes that occur and use ordinary matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index, Items, Weights
from mercer.arrays import Array
from mercer.data.representations import batches, offsets_of, spans
from mercer.native.mixing import mix
from mercer.runtime import compiling, threads
from mercer.runtime.threads import cached_property

_SEED = np.uint64(0x9E3779B97F4A7C15)
_FIRST_TABLE = 2**12
_NORMS = 2**18  # entries of a part that are counted at once for the norms of their rows
_PART, _MOST_PARTS = 2**15, 8  # codes of a part; bits of a part's number


def salted(codes: Array, salt: int) -> Any:
    """Other codes for the same things: what stands in another place, or in another part of a kernel, is another
    column.
    """
    return mix(codes + np.array([salt + 1], np.uint64) * _SEED)


def repeated(codes: Array, rank: Array) -> Any:
    """The codes of the first, second, … time that something is there; ``rank`` counts from 0."""
    return mix(codes + rank.astype(np.uint64) * _SEED)


@dataclass(frozen=True, eq=False)
class HashedRows:
    """Row i has ``values[k]`` in column ``keys[k]`` for k from ``offsets[i]`` to ``offsets[i + 1]``; each column once
    in a row, in any order.

    values
        Floats, or counts as whole numbers.
    keys
        64-bit codes; or, with a ``legend``, places in it: the legend has ``codes``, a length, and equals another with
        the same columns.
    """

    keys: Array
    values: Array
    offsets: Array
    legend: Any = None
    __array_ufunc__ = None  # an array times this is for ``__rmul__`` to say

    @property
    def codes(self) -> Any:
        return self.keys if self.legend is None else self.legend.codes[self.keys]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.offsets) - 1, 2**64

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision to compute in: counts that are kept as small whole numbers stand for float64."""
        found: np.dtype[Any] = self.values.dtype
        return found if found.kind == "f" else np.dtype(np.float64)

    @property
    def per_row(self) -> int:
        """Entries of a row, on average."""
        return -(-len(self.keys) // max(1, self.shape[0]))

    def take(self, rows: Index) -> HashedRows:
        part, offsets = spans(self.offsets, rows)
        return HashedRows(self.keys[part], self.values[part], offsets, self.legend)

    def __getitem__(self, rows: slice) -> HashedRows:
        return self.take(rows)

    def __rmul__(self, factor: float | Array) -> HashedRows:
        """A number, or one per row, times each row."""
        if not np.ndim(factor):
            return self.valued(self.values.astype(self.dtype, copy=False) * factor)
        out = np.empty(len(self.values), self.dtype)
        compiling.compiled(_scale_loop)(self.values, self.offsets, np.asarray(factor, out.dtype), out)
        return self.valued(out)

    def valued(self, values: Array) -> HashedRows:
        """The same columns with other values."""
        return HashedRows(self.keys, values, self.offsets, self.legend)

    def astype(self, dtype: DTypeLike, copy: bool = True) -> HashedRows:
        return self.valued(self.values.astype(dtype, copy=copy))

    def sqnorm(self) -> Any:
        return row_norms(self.values, self.offsets).astype(self.dtype, copy=False)

    @property
    def rows(self) -> Any:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.offsets))

    @classmethod
    def of(cls, phi: Items) -> HashedRows:
        """An ordinary feature matrix: its columns are numbered by their place."""
        if isinstance(phi, HashedRows):
            return phi
        csr = sparse.csr_array(arrays.to_numpy(phi) if not sparse.issparse(phi) else phi)
        return cls(csr.indices.astype(np.uint64), csr.data, csr.indptr.astype(np.int64))

    def unary(self) -> HashedRows:
        """Whole numbers c as c ones in columns of their own, so that ⟨a, b⟩ becomes Σ min(a, b)."""
        counts = self.values.astype(np.int64)
        rank = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        codes = repeated(np.repeat(self.codes, counts), rank)
        ends = np.concatenate([[0], np.cumsum(counts)])
        return HashedRows(codes, np.ones(len(codes)), ends[self.offsets])

    def __add__(self, other: HashedRows) -> HashedRows:
        room = len(self.keys) + len(other.keys)
        codes, values, lengths = np.empty(room, np.uint64), np.empty(room), np.empty(self.shape[0], np.int64)
        sides = (self.codes, self.values, self.offsets, other.codes, other.values, other.offsets)
        end = compiling.compiled(_sum_loop)(*sides, codes, values, lengths)
        return HashedRows(codes[:end], values[:end], offsets_of(lengths))

    def combined(self, weights: Weights) -> HashedRows:
        """weights^T Φ, one row for each column of ``weights``: the features folded into functions."""
        W = np.asarray(weights, np.float64).reshape(self.shape[0], -1)
        codes, place = np.unique(self.codes, return_inverse=True)
        compact = sparse.csr_array((self.values, place, self.offsets), shape=(self.shape[0], len(codes)))
        total = np.asarray((compact.T @ W).T)
        return HashedRows(np.tile(codes, W.shape[1]), total.ravel(), np.arange(W.shape[1] + 1) * len(codes))

    def tocsr(self) -> tuple[sparse.csr_array, Any]:
        """As a matrix of the columns that occur, and their codes, in order."""
        codes, place = np.unique(self.codes, return_inverse=True)
        return sparse.csr_array(
            (self.values.astype(self.dtype), place, self.offsets), shape=(self.shape[0], len(codes))
        ), codes


class LazyCounts(HashedRows):
    """Counts that are made when their entries are first read; or for some columns after others, of which nothing is
    kept.

    ends
        Row r has at most ``ends[r + 1] - ends[r]`` entries in a part.
    widths
        The number of columns of each part.
    count
        ``count(m, rows, keys, values, lengths)`` makes the entries of part m in a slice of rows: places among its
        columns, counts, and how many a row has; it returns how many there are.
    tally
        ``tally(m, rows, out)`` adds them to a matrix.
    make
        Makes all entries.
    """

    ends: Array
    widths: Array
    count: Callable[..., int]
    tally: Callable[..., None]
    _make: Callable[[], HashedRows]

    def __init__(
        self,
        legend: Any,
        ends: Array,
        widths: Array,
        count: Callable[..., int],
        tally: Callable[..., None],
        make: Callable[[], HashedRows],
    ) -> None:
        self.__dict__.update(legend=legend, ends=ends, widths=widths, count=count, tally=tally, _make=make)

    @cached_property
    def made(self) -> HashedRows:
        return self._make()

    @property
    def keys(self) -> Any:
        return self.made.keys

    @property
    def values(self) -> Any:
        return self.made.values

    @property
    def offsets(self) -> Any:
        return self.made.offsets

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.ends) - 1, 2**64

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    @property
    def per_row(self) -> int:
        """At most, on average."""
        return int(np.minimum(self.widths, -(-int(self.ends[-1]) // max(1, len(self.ends) - 1))).sum())

    @cached_property
    def norms(self) -> Any:
        if "made" in self.__dict__:
            return row_norms(self.values, self.offsets)
        out = np.empty(self.shape[0])

        def task(rows: slice) -> None:
            room, total = int(self.ends[rows.stop] - self.ends[rows.start]), np.zeros(rows.stop - rows.start)
            keys, values, lengths = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(len(total), np.int64)
            for m in range(len(self.widths)):
                end = self.count(m, rows, keys, values, lengths)
                total += row_norms(values[:end], offsets_of(lengths))
            out[rows] = total

        threads.run_loops(task, batches(self.ends, _NORMS))
        return out

    def remember(self, norms: Array) -> None:
        """Norms that somebody found on the way."""
        self.__dict__["norms"] = norms

    def sqnorm(self) -> Any:
        return self.norms

    def __reduce__(self) -> Any:
        return HashedRows, (self.keys, self.values, self.offsets, self.legend)


def side_by_side(parts: list[Any]) -> HashedRows:
    """The features of several parts as those of one: no column of one part is a column of another."""
    coded = [HashedRows.of(part) for part in parts]
    offsets = np.add.reduce([p.offsets for p in coded])
    codes, values = (
        np.empty(int(offsets[-1]), np.uint64),
        np.empty(int(offsets[-1]), np.result_type(*(p.dtype for p in coded))),
    )
    begin = offsets[:-1].copy()
    for t, p in enumerate(coded):
        place = np.repeat(begin - p.offsets[:-1], np.diff(p.offsets)) + np.arange(len(p.codes))
        codes[place], values[place] = salted(p.codes, t), p.values
        begin += np.diff(p.offsets)
    return HashedRows(codes, values, offsets)


def tensor(a: Items, b: Items) -> HashedRows:
    """Row by row, all products of an entry of a with one of b."""
    a, b = HashedRows.of(a), HashedRows.of(b)
    wide = np.diff(b.offsets)
    counts = np.repeat(wide, np.diff(a.offsets))  # for each entry of a, how many of b it meets
    left = np.repeat(np.arange(len(a.codes)), counts)
    begin = offsets_of(counts)[:-1]
    right = np.repeat(np.repeat(b.offsets[:-1], np.diff(a.offsets)) - begin, counts) + np.arange(len(left))
    codes = mix(salted(a.codes[left], 0) + b.codes[right])
    # not in the small whole numbers that counts may be
    values = a.values.astype(a.dtype, copy=False)[left] * b.values[right]
    return HashedRows(codes, values, offsets_of(np.diff(a.offsets) * wide))


# ---------------------------------------------------------------------------------------------------------------------
# Products
# ---------------------------------------------------------------------------------------------------------------------


def meet(A: Items, B: Items) -> tuple[Any, Any]:
    """A and B with their columns numbered together, as CSR matrices: for products with vectors. What is not HashedRows
    stays as it is.
    """
    if not (isinstance(A, HashedRows) and isinstance(B, HashedRows)):
        return A, B
    sides = [A] if B is A else [A, B]
    numbers, width = together(sides)
    made = [
        sparse.csr_array((s.values.astype(s.dtype, copy=False), ids, s.offsets), shape=(s.shape[0], max(1, width)))
        for s, ids in zip(sides, numbers, strict=True)
    ]
    return made[0], made[-1]


def together(sides: list[HashedRows]) -> tuple[list[Any], int]:
    """The columns of each side as numbers, equal ones as equal numbers; and how many there may be."""
    legend = sides[0].legend
    if legend is not None and all(side.legend == legend for side in sides):
        return [side.keys for side in sides], len(legend)
    return numbered([side.codes for side in sides])


def _scale_loop(values, offsets, factors, out):  # type: ignore[no-untyped-def]
    for r in range(len(factors)):
        for k in range(offsets[r], offsets[r + 1]):
            out[k] = values[k] * factors[r]


def row_norms(values: Array, offsets: Array) -> Any:
    """The sum of squares of each row."""
    out = np.empty(len(offsets) - 1)
    compiling.compiled(_norm_loop)(values, offsets, out)
    return out


def _norm_loop(values, offsets, out):  # type: ignore[no-untyped-def]
    for r in range(len(out)):
        total = 0.0
        for k in range(offsets[r], offsets[r + 1]):
            total += np.float64(values[k]) * np.float64(values[k])
        out[r] = total


def numbered(lists: list[Any]) -> tuple[list[Any], int]:
    """The codes of each list as numbers 0, 1, …, equal ones as equal numbers; and how many there are.

    Codes are first dealt to parts by their first bits, so that the table of a part stays in a cache, and threads take
    parts.
    """
    bits = min(_MOST_PARTS, max(0, int(sum(map(len, lists)) // _PART).bit_length()))
    dealt = [compiling.compiled(_deal_loop)(codes, bits) for codes in lists]
    ids, counts = [np.empty(len(codes), np.int32) for codes in lists], np.zeros(2**bits + 1, np.int64)
    number = compiling.compiled(_number_loop)

    def task(part: int) -> None:
        keys, places, count = np.zeros(_FIRST_TABLE, np.uint64), np.full(_FIRST_TABLE, -1, np.int32), 0
        for codes, (order, starts), out in zip(lists, dealt, ids, strict=True):
            keys, places, count = number(codes, order[starts[part] : starts[part + 1]], keys, places, count, out)
        counts[part + 1] = count

    threads.run_loops(task, range(2**bits))
    bases = np.cumsum(counts)
    if bits:
        for codes, out in zip(lists, ids, strict=True):
            compiling.compiled(_shift_loop)(codes, bits, bases, out)
    return ids, int(bases[-1])


def _deal_loop(codes, bits):  # type: ignore[no-untyped-def]
    """The places of the codes in the order of their first bits, and where each part begins."""
    shift = np.uint64(64 - bits)
    starts, order = np.zeros(2**bits + 1, np.int64), np.empty(len(codes), np.int32)
    if bits == 0:
        for k in range(len(codes)):
            order[k] = k
        starts[1] = len(codes)
        return order, starts
    for k in range(len(codes)):
        starts[(codes[k] >> shift) + np.uint64(1)] += 1
    starts = np.cumsum(starts)
    at = starts.copy()
    for k in range(len(codes)):
        part = codes[k] >> shift
        order[at[part]] = k
        at[part] += 1
    return order, starts


def _shift_loop(codes, bits, bases, ids):  # type: ignore[no-untyped-def]
    for k in range(len(ids)):
        ids[k] += bases[codes[k] >> np.uint64(64 - bits)]


def _number_loop(codes, order, keys, places, count, ids):  # type: ignore[no-untyped-def]
    """Open addressing; the table doubles when it is half full. Codes are as good as random, so their last bits are the
    address.
    """
    mask = np.uint64(len(keys) - 1)
    for k in order:
        code = codes[k]
        h = code & mask
        while places[h] >= 0 and keys[h] != code:
            h = (h + np.uint64(1)) & mask
        if places[h] >= 0:
            ids[k] = places[h]
            continue
        keys[h], places[h], ids[k] = code, count, count
        count += 1
        if 2 * count > len(keys):
            old_keys, old_places = keys, places
            keys = np.zeros(4 * len(old_keys), np.uint64)
            places = np.full(4 * len(old_keys), np.int32(-1), np.int32)
            mask = np.uint64(len(keys) - 1)
            for slot in range(len(old_keys)):
                if old_places[slot] >= 0:
                    p = old_keys[slot] & mask
                    while places[p] >= 0:
                        p = (p + np.uint64(1)) & mask
                    keys[p], places[p] = old_keys[slot], old_places[slot]
    return keys, places, count


def _sum_loop(codes, values, offsets, others, other_values, other_offsets, out_codes, out_values, out_lengths):  # type: ignore[no-untyped-def]
    """Row by row, the entries of both sides, those of one column added; returns how many there are."""
    longest = 0
    for r in range(len(out_lengths)):
        longest = max(longest, offsets[r + 1] - offsets[r] + other_offsets[r + 1] - other_offsets[r])
    room = 16
    while room < 2 * longest:
        room *= 2
    mask = np.uint64(room - 1)
    slots, end = np.full(room, -1, np.int64), 0
    for r in range(len(out_lengths)):
        begin = end
        for k in range(offsets[r], offsets[r + 1]):
            h = codes[k] & mask
            while slots[h] >= begin:
                h = (h + np.uint64(1)) & mask
            slots[h], out_codes[end], out_values[end] = end, codes[k], values[k]
            end += 1
        for k in range(other_offsets[r], other_offsets[r + 1]):
            h = others[k] & mask
            while slots[h] >= begin and out_codes[slots[h]] != others[k]:
                h = (h + np.uint64(1)) & mask
            if slots[h] >= begin:
                out_values[slots[h]] += other_values[k]
            else:
                slots[h], out_codes[end], out_values[end] = end, others[k], other_values[k]
                end += 1
        out_lengths[r] = end - begin
    return end
