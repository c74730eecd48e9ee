"""Where the features of an item come from: letters of a sequence, vertices of a graph, atoms of a molecule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.data import Ragged
from mercer.data.representations import offsets_of


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Every occurrence of a feature in one item: its code, as in the features of the kernel, and the places it covers,
    a row for each, of ``size`` places in all. A code occurs as often as the kernel counts it; where it only says
    whether, as often as there are.
    """

    codes: Array
    places: Ragged
    size: int

    @classmethod
    def of(cls, codes: Array, places: Sequence[Any], size: int) -> Occurrences:
        """Of places that are tuples."""
        return cls(codes, Ragged.of(places, np.int64), size)


def together(parts: list[Occurrences]) -> Occurrences:
    """Those of several kinds in one item."""
    codes = np.concatenate([np.empty(0, np.uint64), *(part.codes for part in parts)])
    values = np.concatenate([np.empty(0, np.int64), *(part.places.values for part in parts)])
    lengths = np.concatenate([np.empty(0, np.int64), *(part.places.lengths for part in parts)])
    return Occurrences(codes, Ragged(values, offsets_of(lengths)), max((part.size for part in parts), default=0))


def windows_of(x: Ragged, width: int) -> Ragged:
    """All windows of one sequence, each as a sequence of its own."""
    begins = np.arange(max(0, len(x.values) - width + 1))
    places = stretches(begins, np.full(len(begins), width))
    return Ragged(x.values[places.values], places.offsets)


def stretches(begins: Array, lengths: Array) -> Ragged:
    """Consecutive places, so many from each beginning."""
    offsets = offsets_of(lengths)
    return Ragged(np.repeat(begins - offsets[:-1], lengths) + np.arange(offsets[-1]), offsets)
