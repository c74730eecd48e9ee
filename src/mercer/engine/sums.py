"""A matrix summed over blocks of consecutive rows and columns, of which nothing is stored but the sums."""

from __future__ import annotations

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.data import chunks
from mercer.data.representations import sums_of_rows, touched
from mercer.engine.cpu import FusedTile
from mercer.engine.tiles import Tiles
from mercer.runtime.threads import stopping

_HEIGHT = 4096  # rows that are summed together in registers


def block_sums(tiles: Tiles, row_offsets: Array, col_offsets: Array, *, lower: bool = False) -> Array:
    """The sums over the blocks that the offsets begin and end, tiles in float64; with ``lower`` only those of blocks on
    the diagonal and below. On this thread.
    """
    out = np.zeros((len(row_offsets) - 1, len(col_offsets) - 1))
    fused = None if tiles.wide else tiles._fused
    if fused is not None and tiles.shape[1] >= fused.width * out.shape[1]:
        _in_registers(fused, row_offsets, col_offsets, lower, out)
    else:
        _by_tiles(tiles, row_offsets, col_offsets, lower, out)
    return out


def _in_registers(fused: FusedTile, row_offsets: Array, col_offsets: Array, lower: bool, out: Array) -> None:
    """One pass for each block of columns, as a product with its ones: a pack of columns that belongs to two is computed
    for both.
    """
    ones = fused.padded(np.zeros(int(col_offsets[-1])), 1)
    for i in chunks(int(row_offsets[-1]), _HEIGHT):
        strip = fused.strip(i)
        down, rows = touched(row_offsets, i)
        for j in range(min(down.stop, out.shape[1]) if lower else out.shape[1]):
            if stopping():
                return
            begin, end = int(col_offsets[j]), int(col_offsets[j + 1])
            if begin == end:
                continue
            total = np.zeros(i.stop - i.start)
            ones[begin:end] = 1.0
            strip.sum(slice(0, len(total)), slice(begin // fused.width * fused.width, end), ones, total)
            ones[begin:end] = 0.0
            out[down, j] += sums_of_rows(total[:, None], rows)[:, 0]


def _by_tiles(tiles: Tiles, row_offsets: Array, col_offsets: Array, lower: bool, out: Array) -> None:
    """Narrow blocks, and what has no compiled loop."""
    tiles._pack()
    height, width = tiles.edges
    for j in chunks(tiles.shape[1], width):
        across, cols = touched(col_offsets, j)
        total = np.zeros((len(out), j.stop - j.start))
        for i in chunks(tiles.shape[0], height):
            if stopping():
                return
            down, rows = touched(row_offsets, i)
            if not lower or down.stop > across.start:
                total[down] += sums_of_rows(arrays.to_numpy(tiles.block(i, j)), rows)
        out[:, across] += sums_of_rows(total.T, cols).T
