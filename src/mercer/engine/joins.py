"""Tiles of A B^T for sparse A and B: the entries of a strip of rows in the order of their columns, and two such lists joined.

Work: the entries of both strips, plus one multiplication for each pair of entries in the same column; nothing depends on the number of columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from mercer import backend
from mercer.backend import Array
from mercer.data import Coded

_DIGIT = 11  # bits of a pass of the radix sort


@dataclass(frozen=True)
class Strip:
    """The entries of some rows by column: column ``columns[c]`` has ``rows[k], values[k]`` for k from ``starts[c]`` to ``starts[c + 1]``."""

    columns: Array
    starts: Array
    rows: Array
    values: Array

    @classmethod
    def of(cls, csr: Any, rows: slice, dtype: Any) -> Strip:
        coded = isinstance(csr, Coded)
        offsets, columns, values = (csr.offsets, csr.codes, csr.values) if coded else (csr.indptr, csr.indices, csr.data)
        begin, end = offsets[rows.start], offsets[rows.stop]
        lengths = np.diff(offsets[rows.start : rows.stop + 1])
        row = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        column, value = np.ascontiguousarray(columns[begin:end]), values[begin:end].astype(dtype)
        if coded:
            return cls(*_compiled(_sorted_codes_loop)(column, row, value))
        return cls(*_compiled(_sorted_loop)(column, row, value, np.int64(csr.shape[1])))

    def times(self, other: Strip, out: Array) -> Array:
        """out = A B^T."""
        out[...] = 0
        _compiled(_join_loop)(self.columns, self.starts, self.rows, self.values, other.columns, other.starts, other.rows, other.values, out)
        return out


@cache
def _compiled(loop: Any) -> Any:
    return backend.jit(loop)


def _sorted_loop(column, row, value, width):  # type: ignore[no-untyped-def]
    """Radix sort by column, eleven bits at a time; then where each column begins."""
    n = len(column)
    order, other = np.arange(n), np.empty(n, np.int64)
    shift = 0
    while width >> shift:
        count = np.zeros(1 << _DIGIT, np.int64)
        for k in range(n):
            count[(column[k] >> shift) & ((1 << _DIGIT) - 1)] += 1
        total = 0
        for d in range(1 << _DIGIT):
            count[d], total = total, total + count[d]
        for k in range(n):
            d = (column[order[k]] >> shift) & ((1 << _DIGIT) - 1)
            other[count[d]] = order[k]
            count[d] += 1
        order, other = other, order
        shift += _DIGIT
    columns, starts, found = np.empty(n, np.int32), np.empty(n + 1, np.int64), 0
    rows, values = np.empty(n, np.int32), np.empty(n, value.dtype)
    for k in range(n):
        o = order[k]
        if k == 0 or column[o] != columns[found - 1]:
            columns[found], starts[found] = column[o], k
            found += 1
        rows[k], values[k] = row[o], value[o]
    starts[found] = n
    return columns[:found].copy(), starts[: found + 1].copy(), rows, values


def _sorted_codes_loop(code, row, value):  # type: ignore[no-untyped-def]
    """The same for codes of 64 bits, as good as random: two passes over their first 22 bits leave few equal; those are sorted by exchange."""
    n = len(code)
    order, other = np.arange(n), np.empty(n, np.int64)
    for shift in (42, 53):
        count = np.zeros(1 << _DIGIT, np.int64)
        for k in range(n):
            count[(code[k] >> np.uint64(shift)) & np.uint64((1 << _DIGIT) - 1)] += 1
        total = 0
        for d in range(1 << _DIGIT):
            count[d], total = total, total + count[d]
        for k in range(n):
            d = (code[order[k]] >> np.uint64(shift)) & np.uint64((1 << _DIGIT) - 1)
            other[count[d]] = order[k]
            count[d] += 1
        order, other = other, order
    for k in range(1, n):
        o, p = order[k], k
        while p > 0 and code[order[p - 1]] > code[o]:
            order[p] = order[p - 1]
            p -= 1
        order[p] = o
    codes, starts, found = np.empty(n, np.uint64), np.empty(n + 1, np.int64), 0
    rows, values = np.empty(n, np.int32), np.empty(n, value.dtype)
    for k in range(n):
        o = order[k]
        if k == 0 or code[o] != codes[found - 1]:
            codes[found], starts[found] = code[o], k
            found += 1
        rows[k], values[k] = row[o], value[o]
    starts[found] = n
    return codes[:found].copy(), starts[: found + 1].copy(), rows, values


def _join_loop(left, left_starts, left_rows, left_values, right, right_starts, right_rows, right_values, out):  # type: ignore[no-untyped-def]
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] < right[j]:
            i += 1
        elif left[i] > right[j]:
            j += 1
        else:
            for s in range(left_starts[i], left_starts[i + 1]):
                line, x = out[left_rows[s]], left_values[s]
                for t in range(right_starts[j], right_starts[j + 1]):
                    line[right_rows[t]] += x * right_values[t]
            i += 1
            j += 1
