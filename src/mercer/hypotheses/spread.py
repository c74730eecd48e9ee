"""Two Dask collections, block beside block: statistics of blocks of samples, added up where the samples are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.annotations import RandomState, Samples
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import check_same_width, chunks, size, take
from mercer.data.blocks import joined
from mercer.distributed import Partitions, Workers, as_block, blocks_of, is_collection
from mercer.hypotheses.kernels import comparable, items
from mercer.kernels.base import Kernel
from mercer.runtime.randomness import drawn_from
from mercer.troubles import coded

_FEW = 2000  # samples of each side that a kernel takes its parameters from

# the sums of statistics of samples x and y, for the data and for each permutation
Statistics = Callable[[Any, Any, Any, Any], Array]


class SpreadPair:
    """Blocks of X and Y, each with the other, and some samples of both.

    Parameters
    ----------
    X, Y : Dask collections
        In as many blocks; with ``paired``, of the same sizes.
    kernels : pair of Kernel
        What says how the samples of each side are read.
    """

    def __init__(
        self, X: Samples, Y: Samples, kernels: tuple[Any, Any], compute: Compute | None, *, paired: bool
    ) -> None:
        if not (is_collection(X) and is_collection(Y)):
            raise TypeError(coded("Give both samples as Dask collections, or both in memory.", "M119"))
        compute = compute or Compute()
        workers = Workers(compute.client)
        blocks = blocks_of(X)[0], blocks_of(Y)[0]
        if len(blocks[0]) != len(blocks[1]):
            raise ValueError(
                coded(
                    f"The samples have {len(blocks[0])} and {len(blocks[1])} blocks: give both as many (rechunk,"
                    " repartition).",
                    "M119",
                )
            )
        count = len(blocks[0])
        self.parts = Partitions.made(
            workers, "pairs", _pair, range(count), *blocks, [kernels] * count, [paired] * count
        )
        self.compute = workers.share(compute, count)
        found = self.parts.each("looking at the blocks", _some, -(-_FEW // max(1, count)))
        there = [some for some in found if some is not None]
        self.sizes = tuple(sum(some[i] for some in there) for i in (0, 1))
        if min(self.sizes, default=0) < 2:
            raise ValueError(
                coded(f"The samples have {self.sizes[0]} and {self.sizes[1]} items: two of each are the least.", "M310")
            )
        self.some = joined([some[2] for some in there]), joined([some[3] for some in there])

    def mean(
        self,
        statistics: Statistics,
        kernels: Kernel | tuple[Kernel, Kernel],
        length: int,
        count: int,
        random_state: RandomState,
    ) -> tuple[Array, int]:
        """The mean of a statistic over blocks of ``length`` samples, and how many those are."""
        rng = drawn_from(random_state)
        seed = int(rng.integers(2**31) if isinstance(rng, np.random.Generator) else rng.randint(2**31))
        total, number = self.parts.total(
            "statistics of blocks", _summed, statistics, kernels, length, count, seed, self.compute
        )
        if not number:
            raise ValueError(
                coded(f"No block has {length} samples of each side: give larger blocks (rechunk, repartition).", "M310")
            )
        return total / number, int(number)


def _pair(number: int, x: Samples, y: Samples, kernels: tuple[Any, Any], paired: bool) -> tuple[int, Samples, Samples]:
    x, y = as_block(x), as_block(y)
    if not paired:
        y = comparable(x, y)
    X, Y = items(x, kernels[0]), items(y, kernels[1])
    if not paired:
        check_same_width(X, Y)
    if paired and size(X) != size(Y):
        raise ValueError(
            coded(f"Block {number} has {size(X)} samples of X and {size(Y)} of Y: they must come in pairs.", "M111")
        )
    return number, X, Y


def _some(pair: tuple[int, Samples, Samples], count: int) -> tuple[Any, ...] | None:
    _, X, Y = pair
    if not size(X) or not size(Y):
        return None
    return size(X), size(Y), take(X, slice(0, count)), take(Y, slice(0, count))


def _summed(
    pair: tuple[int, Samples, Samples],
    statistics: Statistics,
    kernels: Kernel | tuple[Kernel, Kernel],
    length: int,
    count: int,
    seed: int,
    compute: Compute,
) -> tuple[Array, Array]:
    number, X, Y = pair
    rng, total = np.random.default_rng((seed, number)), np.zeros(count + 1)
    rows = chunks(min(size(X), size(Y)) // length * length, length)
    for some in rows:
        total += statistics(kernels, take(X, some), take(Y, some), (length, count, rng, replace(compute, client=None)))
    return total, np.array(len(rows))
