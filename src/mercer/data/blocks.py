"""Samples that come in blocks, and need not fit in memory together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data.representations import chunks, size, take
from mercer.data.tables import DataError, as_frame
from mercer.troubles import coded

_ROWS = 65_536


class Blocks:
    """Samples in blocks, read anew in each pass over them: X need not fit in memory.

    Machines with ``centers`` take it in the place of samples: ``KernelRidge(centers=2000).fit(Blocks(X), y)``. Targets
    and weights are arrays in memory. Predictions of blocks are arrays too.

    Parameters
    ----------
    source : array, sequence of collections, or callable
        An array that is sliced (also of ``numpy.memmap``, or any object with ``shape`` and slices: HDF5, Zarr); or a
        list of blocks, each a collection of samples; or a function without arguments that returns an iterator over
        blocks, and is called for each pass.
    rows : int, default=65536
        How many rows of an array make a block; blocks that are given stay as they are.

    See Also
    --------
    scan_parquet : The blocks of a Parquet file.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> X = np.random.default_rng(0).standard_normal((1000, 3))
    >>> y = X[:, 0] * X[:, 1]
    >>> parts = mc.Blocks(X, rows=300)
    >>> len(parts), [size for size, in [(len(block),) for block in parts]]
    (1000, [300, 300, 300, 100])
    >>> machine = mc.KernelRidge(0.01, mc.Gaussian(0.3), centers=100, random_state=0).fit(parts, y)
    >>> bool(machine.score(X, y) > 0.99)
    True
    >>> mc.Blocks(lambda: (X[i : i + 100] for i in range(0, 1000, 100)))
    <Blocks of 1000 samples>
    """

    def __init__(self, source: Any, rows: int = _ROWS) -> None:
        if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < 1:
            raise ValueError(coded(f"Blocks(rows={rows!r}): a number of rows, at least 1.", "M205"))
        self.rows = int(rows)
        self._source = source
        self._sizes: list[int] | None = None
        self._sliced = hasattr(source, "shape") and hasattr(source, "__getitem__")
        if self._sliced:
            self._sizes = [part.stop - part.start for part in chunks(int(source.shape[0]), self.rows)]
        elif isinstance(source, Sequence) and not isinstance(source, str | bytes):
            self._sizes = [size(block) for block in source]
        elif not callable(source):
            raise TypeError(
                coded(
                    f"Blocks of a {type(source).__name__}: give an array, a list of blocks, or a function that returns"
                    " an iterator over blocks; an iterator itself could be read only once.",
                    "M103",
                )
            )

    def __iter__(self) -> Iterator[Samples]:
        """The blocks, one pass."""
        found: Iterable[Any]
        if self._sliced:
            found = (_rows_of(self._source, part) for part in chunks(int(self._source.shape[0]), self.rows))
        else:
            found = self._source() if callable(self._source) else self._source
        sizes = []
        for block in found:
            sizes.append(size(block))
            if self._sizes is not None and (len(sizes) > len(self._sizes) or self._sizes[len(sizes) - 1] != sizes[-1]):
                raise DataError(
                    f"Block {len(sizes) - 1} has {sizes[-1]} samples, which it had not in the pass before: each pass"
                    " must give the same blocks.",
                    "M119",
                )
            yield block
        if self._sizes is not None and len(sizes) != len(self._sizes):
            raise DataError(f"A pass gave {len(sizes)} blocks, the one before {len(self._sizes)}.", "M119")
        self._sizes = sizes

    def __len__(self) -> int:
        if self._sizes is None:
            for _ in self:
                pass
        return sum(self._sizes or [])

    def __repr__(self) -> str:
        return f"<Blocks of {len(self)} samples>"

    def numbered(self) -> Iterator[tuple[slice, Samples]]:
        """Each block and which of all samples it has."""
        start = 0
        for block in self:
            yield slice(start, start + size(block)), block
            start += size(block)

    def each(self, of: Callable[[Samples], Any]) -> Iterator[tuple[slice, Any]]:
        """``of`` every block that has samples, and which of all samples those are; what is wrong with one is said with
        its block.
        """
        for k, (rows, block) in enumerate(self.numbered()):
            if rows.start == rows.stop:
                continue
            try:
                found = of(block)
            except ValueError as error:
                raise DataError(f"Block {k}, samples {rows.start} to {rows.stop - 1}: {error}") from None
            yield rows, found

    def kept(self, index: Array) -> Blocks:
        """The samples of these numbers, which rise, in blocks."""

        def read() -> Iterator[Samples]:
            for rows, block in self.numbered():
                low, high = np.searchsorted(index, [rows.start, rows.stop])
                if high > low:
                    yield take(block, index[low:high] - rows.start)

        found = Blocks(read, self.rows)
        if self._sizes is not None:
            ends = np.searchsorted(index, np.cumsum(self._sizes))
            found._sizes = [int(count) for count in np.diff(ends, prepend=0) if count]
        return found

    def take(self, index: Array) -> Samples:
        """The samples of these numbers, which rise, from one pass."""
        return joined(list(self.kept(index)))

    @property
    def head(self) -> Samples:
        """The first block that has samples."""
        for block in self._first():
            if size(block):
                return block
        raise DataError("There are no samples in these blocks.", "M103")

    def _first(self) -> Iterable[Samples]:
        if self._sliced:
            return (_rows_of(self._source, slice(0, self.rows)),)
        found: Callable[[], Iterable[Samples]] | Sequence[Samples] = self._source
        return found() if callable(found) else found


def _rows_of(source: Samples, rows: slice) -> Samples:
    """Some rows, read now; those of a sparse table or a data frame stay what they are."""
    if sparse.issparse(source):
        return source[rows]
    return take(source, rows) if as_frame(source) is not None else np.asarray(source[rows])


def joined(parts: list[Any]) -> Samples:
    """Collections of samples of one kind as one."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        raise DataError("There are no samples in these blocks.", "M103")
    first = parts[0]
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if as_frame(first) is not None:
        frames = [frame for part in parts if (frame := as_frame(part)) is not None]
        return nw.concat(frames).to_native()
    if hasattr(first, "shape"):
        return np.concatenate(parts)
    return [item for part in parts for item in part]
