"""Tiles of |a ∩ b| for sets packed into bits: ands and counts of bits, a word of 64 at a time, vectors of words where
the machine has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mercer.annotations import Index
from mercer.arrays import Array
from mercer.data import Bits, take
from mercer.runtime import compiling

if TYPE_CHECKING:
    from mercer.engine.tiles import Tiles


class BitDot:
    """⟨a, b⟩ of rows of bits."""

    all_columns = True
    dense = False

    def __init__(self, A: Bits, B: Bits) -> None:
        self.A, self.B = A, B

    def sub(self, rows: Index, cols: Index, view: Tiles) -> BitDot:
        return BitDot(take(self.A, rows), take(self.B, cols))

    def fill(self, rows: slice, cols: slice, out: Array) -> Array:
        compiling.compiled(_meet_loop)(self.A.words[rows], self.B.words[cols], out)
        return out


def _meet_loop(left, right, out):  # type: ignore[no-untyped-def]
    """The sum over fields of 2, 4, 8 bits is known to compilers as a count of bits, and becomes one instruction."""
    one, two, four = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    ones, words = np.uint64(0x0101010101010101), left.shape[1]
    for i in range(len(left)):
        for j in range(len(right)):
            total = np.uint64(0)
            for w in range(words):
                x = left[i, w] & right[j, w]
                x = x - ((x >> np.uint64(1)) & one)
                x = (x & two) + ((x >> np.uint64(2)) & two)
                x = (x + (x >> np.uint64(4))) & four
                total += (x * ones) >> np.uint64(56)
            out[i, j] = total
