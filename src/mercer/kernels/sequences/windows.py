"""All windows of two sequences compared, by the number of places in which they are equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mercer.arrays import Array
from mercer.data import Ragged
from mercer.kernels.base import Kernel
from mercer.kernels.sequences.lanes import Batch, as_bytes, swept
from mercer.runtime import threads


class OfWindows(Kernel):
    """A kernel whose features add up over the windows of a sequence, and of which a window with the letter 0 has those
    that do not need that letter.
    """

    def _per_window(self) -> list[tuple[int, Kernel, float]]:
        """(width, k, factor): φ is the sum over all windows of each width of ``factor`` times the features of k."""
        raise NotImplementedError


def window_sums(
    A: Ragged, B: Ragged, width: int, least: int, weights: Sequence[float], *, exclude_unknown: bool
) -> Array:
    """Σ over pairs of windows of weights[equal places − least], between all sequences; with ``exclude_unknown``,
    windows with the letter 0 do not count.
    """
    from mercer.native import lanes, windows

    worth = np.array(weights, np.float64)
    sides = as_bytes(A, B)
    if sides is None:  # too many letters for bytes
        out = np.zeros((len(A), len(B)))
        for i, j in np.ndindex(*out.shape):
            if threads.stopping():
                break
            out[i, j] = (
                windows.window_sums_of_two(A[i], B[j], width, exclude_unknown, least, worth)
                if B is not A or i <= j
                else out[j, i]
            )
        return out

    def sweep(X: Ragged, rows: Array, batch: Batch, begin: int, end: int) -> Array:
        out = np.zeros((len(rows), lanes.BYTES))
        places = batch.longest - width + 1
        if places > 0:
            valid, matches, totals = batch.once(
                lambda: (
                    _valid(batch, width, places, exclude_unknown=exclude_unknown),
                    *_room(batch, places, len(worth)),
                )
            )
            windows.window_sums(
                X.values,
                X.offsets,
                rows,
                begin,
                end,
                batch.packed,
                valid,
                width,
                exclude_unknown,
                least,
                worth,
                matches,
                totals,
                out,
            )
        return out

    return swept(*sides, lanes.BYTES, width + lanes.UNROLLED, sweep)


def weighted_window_sums(
    A: Ragged, B: Ragged, width: int, least: int, weights: Sequence[float], heights: Callable[[int], Array]
) -> Array:
    """The same sum with each pair times the heights of its windows: ``heights(n)``, whole numbers from 1 to 255, those
    of the n windows of a sequence. Letters are bytes; windows with the letter 0 do not count.
    """
    from mercer.native import lanes, windows

    worth = np.array(weights, np.float64)

    def high(batch: Batch, places: int) -> Array:
        out = _valid(batch, width, places, exclude_unknown=True)
        for lane, length in enumerate(batch.lengths.tolist()):
            if length >= width:
                out[: length - width + 1, lane] &= heights(length - width + 1)
        return out

    def sweep(X: Ragged, rows: Array, batch: Batch, begin: int, end: int) -> Array:
        out = np.zeros((len(rows), lanes.BYTES))
        places = batch.longest - width + 1
        if places > 0:
            tall, matches, totals = batch.once(lambda: (high(batch, places), *_room(batch, places, len(worth))))
            own = Ragged.of([heights(max(0, int(n) - width + 1)) for n in X.lengths[rows]], np.int64)
            windows.weighted_window_sums(
                X.values,
                X.offsets,
                rows,
                begin,
                end,
                batch.packed,
                tall,
                own.values,
                own.offsets,
                width,
                least,
                worth,
                matches,
                totals,
                out,
            )
        return out

    return swept(A, B, lanes.BYTES, width + lanes.UNROLLED, sweep)


def _room(batch: Batch, places: int, kinds: int) -> tuple[Array, Array]:
    """Room for the matches of a window with all others, and for the sums."""
    lanes = batch.packed.shape[1]
    return np.zeros((places, lanes), np.uint8), np.zeros((kinds, lanes), np.int64)


def _valid(batch: Batch, width: int, places: int, *, exclude_unknown: bool) -> Array:
    """255 where a window begins in a lane, else 0."""
    valid = np.zeros((places, batch.packed.shape[1]), np.uint8)
    for lane, length in enumerate(batch.lengths):
        if length < width:
            continue
        valid[: length - width + 1, lane] = 255
        if exclude_unknown:
            strange = np.concatenate([[0], np.cumsum(batch.packed[:length, lane] == 0)])
            valid[: length - width + 1, lane][strange[width:] > strange[: length - width + 1]] = 0
    return valid
