"""Packed files, unpacked within a limit: how large something becomes is checked while it is unpacked, and before memory
is taken for an array.

The limit is an eighth of the machine's memory unless the caller says otherwise: reading a table takes several times the
size of its text.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mercer.compute import Compute, physical_memory
from mercer.data.tables import DataError, excerpt

_SHARE = 8  # of the machine's memory, one part of so many
_FIELD = 16  # bytes of a file that a field counts for, however short: as part of a table it takes four times as much
_UNPACK: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda f: gzip.GzipFile(fileobj=f),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    MemoryError,
    lzma.LZMAError,
    zlib.error,
    zipfile.BadZipFile,
)


def most_bytes(given: int | str | None) -> int:
    """A limit on what a file unpacks to, in bytes: as given (a number, or a text such as "2GB"), or an eighth of the
    machine's memory.
    """
    if given is None:
        return physical_memory() // _SHARE
    try:
        return Compute(memory=given).budget
    except (TypeError, ValueError):
        raise DataError(
            f"max_bytes={given!r} is not a size: write a number of bytes, or '500MB', '2GB', '1.5GiB'.", "M205"
        ) from None


def too_large(path: str | Path, size: int | None, limit: int) -> DataError:
    """The error for a file that would be larger than the limit; ``size`` is None where it was not counted to the
    end.
    """
    found = "unpacks to" if size is None else f"holds {size / 1e6:.4g} MB,"
    return DataError(
        f"{path} {found} more than the {limit / 1e6:.4g} MB that may be read of one file. If it is meant to be so"
        " large, allow more: max_bytes='8GB' in Python, --max-bytes 8GB on the command line.",
        "M503",
    )


def check_fields(path: Path, count: int, limit: int) -> None:
    """Raise DataError if a text has more fields than the limit allows: many short ones take more memory than they have
    letters.
    """
    if _FIELD * count > limit:
        raise too_large(f"{path}, with {count} fields of {_FIELD} bytes at least,", _FIELD * count, limit)


def unpacked(path: Path, limit: int) -> bytes:
    """The bytes of a file; what gzip, bzip2 or xz packed, unpacked, whatever the name says."""
    with path.open("rb") as file:
        magic = file.read(6)
        file.seek(0)
        opener = next((make for start, make in _UNPACK.items() if magic.startswith(start)), None)
        if opener is None:
            size = path.stat().st_size
            if size > limit:
                raise too_large(path, size, limit)
            return file.read()
        try:
            content = bytes(opener(file).read(limit + 1))
        except _DAMAGE:
            raise DataError(f"{path} is compressed, and damaged or cut off; fetch or pack it again.", "M502") from None
    if len(content) > limit:
        raise too_large(path, None, limit)
    return content


class Archive:
    """The parts of a zip archive, of which no more than ``limit`` bytes are read in all.

    What an archive says of the size of a part is what is read of it, never more: zipfile sees to that.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self.path, self.limit, self.read_so_far = path, limit, 0
        try:
            self.file = zipfile.ZipFile(path)
            self.parts = {info.filename: info for info in self.file.infolist()}
        except _DAMAGE:
            raise DataError(f"{path} is not a zip archive, or is damaged; fetch or pack it again.", "M502") from None

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def read(self, name: str) -> bytes:
        """A part, whole."""
        self.read_so_far += self.parts[name].file_size
        if self.read_so_far > self.limit:
            raise too_large(self.path, self.read_so_far, self.limit)
        try:
            return self.file.read(name)
        except (*_DAMAGE, KeyError):
            raise DataError(
                f"{self.path}: its part {excerpt(name)} is damaged; fetch or pack it again.", "M502"
            ) from None


def read_array(content: bytes, place: str) -> Any:
    """The array in the content of an .npy file: its shape and type must be those of the bytes that are there; never of
    Python objects.
    """
    shape, dtype = check_array(content, place)
    if dtype.hasobject:
        raise DataError(
            f"{place} cannot be read: Object arrays are not data. Instead, save it as numbers or texts, X.astype(float)"
            " or X.astype(str).",
            "M502",
        )
    try:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # of a type that NumPy can describe and not make
        raise DataError(
            f"{place} of {excerpt(dtype.str)} and shape {shape} cannot be read: {str(error)[:200]}. Save it again.",
            "M502",
        ) from None


def check_array(content: bytes, place: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and type that the first lines of an .npy file declare, if so many values are there, and texts of
    characters.
    """
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    except Exception:  # NumPy reads it with Python's parser, which has errors of every kind
        raise DataError(
            f"{place} is not an array, or is damaged; write it with numpy.save or numpy.savez.", "M502"
        ) from None
    shape = tuple(int(n) for n in shape)
    if min(shape, default=0) < 0:
        raise DataError(f"{place} declares the shape {excerpt(shape)}, which no array has.", "M502")
    count: int = math.prod(shape)
    declared, there = count * dtype.itemsize, len(content) - stream.tell()
    if not dtype.hasobject and (declared != there or (not declared and max(shape, default=0) > len(content))):
        raise DataError(
            f"{place} declares {excerpt(shape)} values of {excerpt(dtype.str)}, {declared} bytes; {there} are there. It"
            " is damaged.",
            "M502",
        )
    if (
        dtype.kind == "U"
        and np.frombuffer(content, np.dtype("u4").newbyteorder(dtype.byteorder), offset=stream.tell()).max(initial=0)
        > sys.maxunicode
    ):
        raise DataError(f"{place} holds what is not a character. It is damaged.", "M502")
    return shape, dtype
