"""How the items of both sides lie in memory for the micro-kernel."""

from __future__ import annotations

import numpy as np

from mercer.annotations import Index
from mercer.arrays import Array
from mercer.engine.reductions import TINY

ROWS = 4  # rows of a micro-tile; times ``cpu.vectors()`` registers of columns


class Rows:
    """The left items one after the other; the last micro-tile is filled up with the last item, so that what is computed
    for it is finite.
    """

    def __init__(self, items: Array, raw: Array | None, norms: Array, inputs: list[Array]) -> None:
        """``raw``: the items that differences are taken of."""
        self.count = len(items)
        self.items = extended(items, ROWS)
        self.raw = None if raw is None else self.items if raw is items else extended(raw, ROWS)
        self.norms = extended(norms, ROWS)
        self.inputs = np.stack([extended(x, ROWS) for x in inputs]) if inputs else np.zeros((0, 1), items.dtype)
        none = np.zeros((1, 1), items.dtype)
        near = none[0] if raw is None else TINY[items.dtype] * self.norms.reshape(-1, ROWS).max(axis=1)
        self.arrays = (self.items, none if self.raw is None else self.raw, self.norms, near, self.inputs)

    def part(self, chosen: Index) -> Rows:
        if is_all(chosen):
            return self
        items, norms = self.items[: self.count][chosen], self.norms[: self.count][chosen]
        raw = None if self.raw is None else items if self.raw is self.items else self.raw[: self.count][chosen]
        return Rows(items, raw, norms, [x[: self.count][chosen] for x in self.inputs])


class Panels:
    """The right items in panels, column by column of the data, so that the micro-kernel reads straight on; the last
    panel is filled up with the last item.
    """

    def __init__(self, items: Array, raw: Array | None, norms: Array, inputs: list[Array], width: int) -> None:
        self.count = len(items)
        self.items = packed(items, width)
        self.raw = None if raw is None else self.items if raw is items else packed(raw, width)
        self.norms = extended(norms, width)
        self.inputs = np.stack([extended(x, width) for x in inputs]) if inputs else np.zeros((0, 1), items.dtype)
        none = np.zeros((1, 1, 1), items.dtype)
        near = none[0, 0] if raw is None else TINY[items.dtype] * self.norms.reshape(-1, width).max(axis=1)
        self.arrays = (self.items, none if self.raw is None else self.raw, self.norms, near, self.inputs)

    def part(self, chosen: Index) -> Panels:
        if is_all(chosen):
            return self
        width = self.items.shape[2]
        index = np.arange(self.count)[chosen]
        panel, lane = index // width, index % width
        items = self.items[panel, :, lane]
        raw = None if self.raw is None else items if self.raw is self.items else self.raw[panel, :, lane]
        return Panels(items, raw, self.norms[index], [x[index] for x in self.inputs], width)


def extended(x: Array, by: int) -> Array:
    """x, contiguous, and its last entry as often as makes the length a multiple of ``by``."""
    more = -len(x) % by
    if not more:
        return np.ascontiguousarray(x)
    out = np.empty((len(x) + more, *x.shape[1:]), x.dtype)
    out[: len(x)] = x
    out[len(x) :] = x[-1]
    return out


def packed(x: Array, width: int) -> Array:
    m, d = x.shape
    out = np.empty((-(-m // width), d, width), x.dtype)
    whole = m // width
    out[:whole] = x[: whole * width].reshape(whole, width, d).transpose(0, 2, 1)
    if whole * width < m:
        out[whole] = extended(x[whole * width :], width).T
    return out


def up(n: int, by: int) -> int:
    return -(-n // by) * by


def is_all(chosen: Index) -> bool:
    return isinstance(chosen, slice) and chosen == slice(None)
