"""Where the features of a structured item come from: letters of a sequence, vertices of a graph, atoms of a molecule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.data import Ragged

Places = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Every occurrence of a feature in one item: its code, as in the features of the kernel, and the places it covers,
    of ``size`` places in all. A code occurs as often as the kernel counts it, or more often where it only says whether.
    """

    codes: Array
    places: list[Places]
    size: int

    def recoded(self, codes: Array) -> Occurrences:
        return Occurrences(codes, self.places, self.size)

    def moved(self, places: list[Places]) -> Occurrences:
        return Occurrences(self.codes, places, self.size)


def together(parts: list[Occurrences]) -> Occurrences:
    """Those of several kinds in one item."""
    codes = np.concatenate([np.empty(0, np.uint64), *(part.codes for part in parts)])
    return Occurrences(codes, [p for part in parts for p in part.places], max((part.size for part in parts), default=0))


def windows_of(x: Any, width: int) -> Ragged:
    """All windows of one sequence, each as a sequence of its own."""
    values = x.values
    count = max(0, len(values) - width + 1)
    rows = np.arange(count)[:, None] + np.arange(width)
    return Ragged(values[rows.reshape(-1)], np.arange(count + 1, dtype=np.int64) * width)


def span(begin: int, width: int) -> Places:
    return tuple(range(begin, begin + width))
