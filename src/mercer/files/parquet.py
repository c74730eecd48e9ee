"""Tables from Parquet files, which declare their sizes: these are checked before they are believed.

A few bytes may stand for any number of values, and a reader that takes memory for a wrong number may end the process.
So the description at the end of the file and the heading of each page are read here first: sizes that are there,
numbers of values that agree, and no more in all than the limit. Both are structures of the compact protocol of Thrift,
read as {number of the field: value}.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import polars as pl

from mercer.data.archives import too_large
from mercer.data.tables import DataError

_MAGIC = b"PAR1"
_VALUE = 16  # bytes that a value takes as part of a table, at most where it is not a text
_DEEPEST = 32
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def read_parquet(path: Path, limit: int) -> pl.DataFrame:
    """The table in a file that unpacks to no more than ``limit`` bytes."""
    check_parquet(path, limit)
    try:
        return pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise DataError(
            f"{path} cannot be read as Parquet: {str(error).splitlines()[0][:200] if str(error) else 'it is damaged'}",
            "M502",
        ) from None


def check_parquet(path: Path, limit: int) -> None:
    """Raise DataError unless the sizes in a file agree, and it unpacks to no more than ``limit`` bytes."""
    damaged = DataError(
        f"{path} cannot be read as Parquet: it is cut off, damaged or something else; write it again.", "M502"
    )
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            size = _Pages(content).unpacked()
    except (
        _Damage,
        LookupError,
        AttributeError,
        TypeError,
        ValueError,
        OverflowError,
        OSError,
    ):  # also a field of another kind
        raise damaged from None
    if size > limit:
        raise too_large(path, size, limit)


class _Damage(Exception):
    """Something that a Parquet file cannot say."""


class _Pages:
    """The pages of a file, as its description says."""

    def __init__(self, content: mmap.mmap) -> None:
        self.content, self.end = content, len(content) - 8
        if self.end < 4 or content[:4] != _MAGIC or content[-4:] != _MAGIC:
            raise _Damage
        start = self.end - int.from_bytes(content[self.end : self.end + 4], "little")
        _need(start >= 4)
        self.groups = _Compact(content, start, self.end).struct()[4]

    def unpacked(self) -> int:
        """Bytes that the values of all pages take."""
        return sum(self._column(chunk[3], group[3]) for group in self.groups for chunk in group[1])

    def _column(self, column: dict[int, Any], rows: int) -> int:
        count, size = column[5], column[7]
        at = min(offset for offset in (column[9], column.get(11) or column[9]))
        end = at + size
        _need(count >= 0 and rows >= 0 and size >= 0 and at >= 4 and end <= self.end)
        total = found = 0
        while at < end:
            compact = _Compact(self.content, at, end)
            page = compact.struct()
            packed, unpacked, values = page[3], page[2], self._values(page)
            at = compact.at + packed
            _need(packed >= 0 and unpacked >= 0 and values >= 0 and at <= end)
            found += values if 7 not in page else 0
            total += unpacked + _VALUE * values
        _need(found == count)
        return total

    @staticmethod
    def _values(page: dict[int, Any]) -> int:
        """How many values a page has: by the heading of data pages of either version, or of a dictionary."""
        heading = page.get(5) or page.get(8) or page.get(7)
        if heading is None:
            return 0
        _need(7 not in page or heading[1] <= page[2])
        _need(8 not in page or (heading[5] >= 0 and heading[6] >= 0 and heading[5] + heading[6] <= page[3]))
        return int(heading[1])


def _need(truth: bool) -> None:
    if not truth:
        raise _Damage


class _Compact:
    """Thrift's compact protocol, from ``at`` on and not beyond ``end``."""

    def __init__(self, content: mmap.mmap, at: int, end: int) -> None:
        self.content, self.at, self.end = content, at, end

    def _byte(self) -> int:
        _need(self.at < self.end)
        self.at += 1
        return int(self.content[self.at - 1])

    def _natural(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            _need(shift <= 63)

    def _whole(self) -> int:
        value = self._natural()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, count: int) -> None:
        _need(count <= self.end - self.at)
        self.at += count

    def struct(self, depth: int = 0) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        _need(depth < _DEEPEST)
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind < _DOUBLE:
            return self._whole()
        if kind in (_DOUBLE, _BINARY):  # of which no size depends
            return self._skip(8 if kind == _DOUBLE else self._natural())
        if kind in (_LIST, _SET):
            head = self._byte()
            count = self._natural() if head >> 4 == 15 else head >> 4
            _need(count <= self.end - self.at)
            return [
                self.struct(depth + 1) if head & 15 == _STRUCT else self._value(head & 15, depth + 1)
                for _ in range(count)
            ]
        if kind == _MAP:
            count = self._natural()
            kinds = self._byte() if count else 0
            _need(count <= self.end - self.at)
            return [(self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1)) for _ in range(count)]
        _need(kind == _STRUCT)
        return self.struct(depth + 1)
