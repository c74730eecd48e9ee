"""What a collection of Dask is, and its blocks, each a task that returns samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from mercer.annotations import Samples, Targets
from mercer.troubles import coded


def is_collection(X: Samples) -> bool:
    """Whether X is a Dask array, data frame, series or bag, or a list of delayed blocks."""
    if isinstance(X, list | tuple):
        return bool(X) and all(_is_delayed(block) for block in X)
    return _is_dask(X) and not _is_delayed(X)


def _is_dask(X: Samples) -> bool:
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def _is_delayed(X: Samples) -> bool:
    module = type(X).__module__
    return module == "dask.delayed" or (module == "distributed.client" and type(X).__name__ == "Future")


def blocks_of(X: Samples) -> tuple[list[Any], list[int | None]]:
    """The blocks of a collection, each a Delayed, and how many samples they have, None where Dask does not know."""
    from dask import delayed

    if isinstance(X, list | tuple):
        return [block if hasattr(block, "dask") else delayed(_same)(block) for block in X], [None] * len(X)
    if hasattr(X, "chunks") and hasattr(X, "rechunk"):
        if X.ndim == 0:
            raise ValueError(coded("A Dask array of no dimension holds no samples.", "M103"))
        if any(len(sizes) > 1 for sizes in X.chunks[1:]):
            X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
        sizes = [None if size != size else int(size) for size in X.chunks[0]]
        return list(X.to_delayed().ravel()), sizes
    blocks = list(X.to_delayed())
    return blocks, [None] * len(blocks)


def in_blocks_of(y: Targets, sizes: Sequence[int | None], what: str) -> list[Any]:
    """Targets or weights in the blocks of the samples, whose sizes are given: those of a collection are made to agree
    where all sizes are known; an array, whose samples' sizes must be known, is cut.
    """
    total = sum(size or 0 for size in sizes)
    if not is_collection(y):
        if len(y) != total:
            raise ValueError(
                coded(f"Found input variables with inconsistent numbers of samples: {[total, len(y)]}", "M111")
            )
        stops = list(itertools.accumulate(size or 0 for size in sizes))
        rows = y.iloc if hasattr(y, "iloc") else y
        return [rows[stop - (size or 0) : stop] for stop, size in zip(stops, sizes, strict=True)]
    if hasattr(y, "rechunk") and None not in sizes and not any(size != size for size in y.chunks[0]):
        if y.shape[0] != total:
            raise ValueError(
                coded(f"Found input variables with inconsistent numbers of samples: {[total, y.shape[0]]}", "M111")
            )
        y = y.rechunk({0: tuple(sizes)})
    blocks, _ = blocks_of(y)
    if len(blocks) != len(sizes):
        raise ValueError(
            coded(
                f"X has {len(sizes)} blocks and {what} has {len(blocks)}, of sizes that Dask does not know: give both"
                " the same partitions, or arrays of known sizes (array.compute_chunk_sizes(),"
                " frame.to_dask_array(lengths=True)).",
                "M119",
            )
        )
    return blocks


def as_block(block: Samples | Iterator[Any]) -> Any:
    """A block as a collection of samples: an iterator, as bags have them, as a list."""
    return list(block) if isinstance(block, Iterator) else block


def _same(block: Any) -> Any:
    return block
