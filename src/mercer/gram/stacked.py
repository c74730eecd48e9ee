"""Matrices of blocks of rows, one below the other, each made when a pass comes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import DTypeLike

from mercer import arrays
from mercer.annotations import Index, Samples
from mercer.arrays import Array
from mercer.data import Blocks
from mercer.gram.contract import Gram, as_index, precision
from mercer.runtime.watch import look


class StackedGram(Gram):
    """The rows of samples that come in blocks, the columns in memory. It is multiplied, block by block.

    Parameters
    ----------
    blocks : Blocks
        The samples of the rows.
    gram_of : callable
        The matrix of a block, a Gram.
    """

    def __init__(self, blocks: Blocks, gram_of: Callable[[Samples], Gram], like: Gram | None = None) -> None:
        self._blocks, self._gram_of = blocks, gram_of
        self._like = like or gram_of(blocks.head)
        self.shape, self.dtype, self.compute = (len(blocks), self._like.shape[1]), self._like.dtype, self._like.compute
        self.name, self.cost, self.recomputable = self._like.name, self._like.cost, self._like.recomputable

    def by_blocks(self) -> Iterator[tuple[slice, Gram]]:
        n = max(1, self.shape[0])
        for rows, gram in self._blocks.each(self._gram_of):
            look("a pass over the data", rows.start / n)
            yield rows, gram

    def rows(self, idx: Index) -> Array:
        return self.sub(idx, slice(None)).dense()

    def sub(self, rows: Index, cols: Index) -> Gram:
        wanted = np.arange(self.shape[0])[as_index(rows, self.shape[0])]
        every = isinstance(cols, slice) and cols == slice(None)
        if every and len(wanted) > self._blocks.rows and (np.diff(wanted) > 0).all():  # in blocks again
            return StackedGram(self._blocks.kept(wanted), self._gram_of, self._like)
        order = np.argsort(wanted, kind="stable")
        found = self._gram_of(self._blocks.take(wanted[order]))
        return found.sub(np.argsort(order, kind="stable"), as_index(cols, self.shape[1]))

    def astype(self, dtype: DTypeLike) -> Gram:
        wanted, made = precision(dtype), self._gram_of
        if wanted == self.dtype:
            return self
        return StackedGram(self._blocks, lambda block: made(block).astype(wanted), self._like.astype(wanted))

    def diag(self) -> Array:
        raise NotImplementedError("A matrix of blocks of rows with other columns has no diagonal.")

    @property
    def T(self) -> Gram:
        raise NotImplementedError("A matrix of blocks of rows is multiplied from the left by normal(V, between).")

    def _dense(self, out: Array | None = None) -> Array:
        out = np.empty(self.shape, self.dtype) if out is None else out
        for rows, gram in self.by_blocks():
            out[rows] = arrays.to_numpy(gram.dense())
        return out

    def _product(self, V: Array) -> Array:
        out = np.empty((self.shape[0], V.shape[1]))
        for rows, gram in self.by_blocks():
            out[rows] = arrays.to_numpy(gram @ V)
        return out

    def _normal(self, V: Array, between: Callable[[slice, Array], Array] | None = None) -> Array:
        total = np.zeros((self.shape[1], V.shape[1]))
        for rows, gram in self.by_blocks():

            def shifted(some: slice, values: Array, start: int = rows.start) -> Array:
                return values if between is None else between(slice(start + some.start, start + some.stop), values)

            total += np.asarray(arrays.to_numpy(gram.normal(V, shifted)))
        return total
