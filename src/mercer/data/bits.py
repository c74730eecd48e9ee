"""Sets: rows of 0 and 1 packed into bits, or collections of anything hashable as sparse rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Index, Samples
from mercer.arrays import Array
from mercer.data.graphs import label_code
from mercer.data.hashed_rows import HashedRows
from mercer.data.objects import Domain
from mercer.data.representations import Rep, offsets_of
from mercer.data.sequences import is_missing, items_of
from mercer.data.tables import DataError, as_frame, shown

_WIDEST = 2**16  # columns of packed rows; wider sparse data stays sparse


@dataclass(frozen=True, eq=False)
class Bits:
    """Sets as rows of bits, 64 to a word, padded with 0 to whole registers; ``width`` is the number of columns."""

    words: Array
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.words), self.width

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, rows: Index) -> Bits:
        return Bits(self.words[rows], self.width)

    def counts(self) -> Any:
        """How many bits are set in each row."""
        return np.bitwise_count(self.words).sum(axis=1, dtype=np.float64)

    def unpacked(self) -> Any:
        """The rows as numbers 0 and 1."""
        return np.unpackbits(self.words.view(np.uint8), axis=1, bitorder="little")[:, : self.width].astype(np.float64)

    @classmethod
    def of(cls, rows: Index) -> Bits:
        packed = np.packbits(rows, axis=1, bitorder="little")
        words = -(-packed.shape[1] // 64) * 8
        out = np.zeros((len(packed), words * 8), np.uint8)
        out[:, : packed.shape[1]] = packed
        return cls(out.view(np.uint64), rows.shape[1])


@dataclass(frozen=True)
class Sets(Domain):
    """Rows of 0 and 1 (arrays, sparse matrices, data frames, RDKit's bit vectors), or collections of hashable things,
    each a set.

    The internal form is ``Bits`` for rows, ``HashedRows`` for the others.
    """

    def check(self, X: Samples) -> Rep:
        if isinstance(X, Bits | HashedRows):
            return X
        frame = as_frame(X)
        if frame is not None:
            X = frame.to_numpy()
        if arrays.is_tensor(X):
            X = arrays.to_numpy(X)
        if sparse.issparse(X):
            return _of_sparse(sparse.csr_array(X))
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
            return Bits.of(_binary(X))
        items = items_of(X, "sets")
        if items and all(hasattr(item, "GetNumBits") for item in items):
            return _of_vectors(items)
        return _of_collections(items)

    def members(self, X: Samples) -> dict[int, Any]:
        """What the columns of the internal form stand for: columns of rows by name or number, members of collections as
        they are.
        """
        frame, found = as_frame(X), self.check(X)
        if isinstance(found, Bits):
            return dict(enumerate(range(found.width) if frame is None else frame.columns))
        if sparse.issparse(X):
            return {int(code): int(code) for code in found.codes}
        return {label_code(member): member for item in items_of(X, "sets") for member in item}

    def to_store(self, X: Samples) -> Any:
        """RDKit's bit vectors as rows."""
        return (
            _of_vectors(list(X)).unpacked()
            if isinstance(X, list) and X and all(hasattr(item, "GetNumBits") for item in X)
            else X
        )


def _binary(X: Samples) -> Any:
    if X.dtype == bool:
        return X
    wrong = (X != 0) & (X != 1)
    if wrong.any():
        i, j = map(int, np.argwhere(wrong)[0])
        raise DataError(
            f"Row {i}, column {j} is {shown(X[i, j])}; a set is a row of 0 and 1. For counts use MinMax(Linear()).",
            "M106",
        )
    return X != 0


def _of_sparse(X: Samples) -> Any:
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    if X.nnz and not (X.data == 1).all():
        k = int(np.argmax(X.data != 1))
        i = int(np.searchsorted(X.indptr, k, side="right")) - 1
        raise DataError(
            f"Row {i}, column {X.indices[k]} is {shown(X.data[k])}; a set is a row of 0 and 1. For counts use"
            " MinMax(Linear()).",
            "M106",
        )
    return HashedRows.of(X.astype(np.float64)) if X.shape[1] > _WIDEST else Bits.of(X.toarray() != 0)


def _of_vectors(items: list[Any]) -> Bits:
    widths = {item.GetNumBits() for item in items}
    if len(widths) > 1:
        raise DataError(
            f"Bit vectors must be of one length; there are {' and '.join(map(str, sorted(widths)))}.", "M118"
        )
    rows = np.zeros((len(items), widths.pop()), bool)
    for i, item in enumerate(items):
        rows[i, list(item.GetOnBits())] = True
    return Bits.of(rows)


def _of_collections(items: list[Any]) -> HashedRows:
    if len(items) > 1 and all(
        isinstance(item, list | tuple) and len(item) == len(items[0]) > 2 and set(item) <= {0, 1} for item in items
    ):
        raise DataError(
            "Rows of 0 and 1 as lists could be sets of the numbers 0 and 1; give them as an array, numpy.array(X).",
            "M107",
        )
    known: dict[Any, int] = {}
    codes: list[int] = []
    lengths = []
    for i, item in enumerate(items):
        if is_missing(item) or isinstance(item, str | bytes) or not isinstance(item, Iterable):
            raise DataError(
                f"Item {i} of the sets is {shown(item)}; give a set, list or tuple of hashable things, or rows of 0 and"
                " 1.",
                "M107",
            )
        try:
            members = dict.fromkeys(item)
        except TypeError:
            raise DataError(
                f"Item {i} of the sets has a member that cannot be hashed; give strings, numbers or tuples of them.",
                "M107",
            ) from None
        for member in members:
            if member not in known:
                known[member] = label_code(member)
        found = dict.fromkeys(known[m] for m in members)
        codes += found
        lengths.append(len(found))
    return HashedRows(np.array(codes, np.uint64), np.ones(len(codes)), offsets_of(lengths))
