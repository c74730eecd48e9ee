"""A function of each block as a Dask array, computed when it is asked for; and samples brought here."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.distributed.collections import as_block, blocks_of
from mercer.distributed.workers import Workers


def lazily(of: Callable[[Any], Any], X: Samples, example: Any) -> Any:
    """``of`` each block of a collection, as a Dask array that is computed when it is asked for, or a tuple of such;
    ``example`` is what it returns for one sample.
    """
    from dask import delayed

    blocks, sizes = blocks_of(X)
    several = isinstance(example, tuple)
    empty = tuple(map(_none_of, example)) if several else _none_of(example)
    name, number = getattr(of, "__name__", "answer"), uuid.uuid4().hex
    sent, apply = delayed(of, traverse=False, pure=False, name=f"machine-{number}"), delayed(_answer, pure=False)
    answers = [apply(sent, block, k, empty, dask_key_name=f"{name}-{number}-{k}") for k, block in enumerate(blocks)]
    if not several:
        return _joined(answers, sizes, empty)
    pick = delayed(_item, pure=False)
    return tuple(
        _joined(
            [pick(answer, i, dask_key_name=f"{name} {i}-{number}-{k}") for k, answer in enumerate(answers)], sizes, one
        )
        for i, one in enumerate(empty)
    )


def _none_of(example: Array) -> Any:
    import numpy as np

    return np.empty((0, *example.shape[1:]), example.dtype)


def _joined(answers: list[Any], sizes: list[int | None], empty: Any) -> Any:
    import dask.array as da

    rest = empty.shape[1:]
    shapes = [(float("nan") if size is None else size, *rest) for size in sizes]
    parts = [da.from_delayed(each, shape, meta=empty) for each, shape in zip(answers, shapes, strict=True)]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def computed(X: Samples) -> Any:
    """All of a collection in memory, as a NumPy array."""
    import numpy as np

    parts = Workers().compute(blocks_of(X)[0], "collecting")
    return np.concatenate([np.asarray(as_block(part)) for part in parts])


def first_sample(X: Samples, workers: Workers) -> Any:
    """One sample of a collection, in a collection of its own kind; None where there is none."""
    from dask import delayed

    head = delayed(_head, pure=False)
    for k, block in enumerate(blocks_of(X)[0]):
        found = workers.compute([head(block, dask_key_name=f"first sample-{uuid.uuid4().hex}-{k}")], "first sample")[0]
        if found is not None:
            return found
    return None


def _item(answer: tuple[Any, ...], i: int) -> Any:
    return answer[i]


def _head(block: Samples) -> Any:
    block = as_block(block)
    rows = block.iloc if hasattr(block, "iloc") else block
    count = block.shape[0] if hasattr(block, "shape") else len(block)
    return rows[:1] if count else None


def _answer(of: Callable[[Any], Any], block: Samples, number: int, empty: Array | tuple[Array, ...]) -> Any:
    block = as_block(block)
    if not (block.shape[0] if hasattr(block, "shape") else len(block)):
        return empty
    try:
        return of(block)
    except ValueError as error:
        raise type(error)(f"Block {number}: {error}") from None
