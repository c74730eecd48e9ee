"""Samples in blocks: one source read in many passes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import mercer as mc
from mercer.data import DataError
from mercer.data.blocks import joined

X = np.random.default_rng(0).standard_normal((250, 3))
FRAME = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})


class Slices:
    """What can only be sliced, as HDF5 and Zarr."""

    shape = X.shape

    def __getitem__(self, rows: slice) -> Any:
        assert isinstance(rows, slice)
        return X[rows]


def _iterator() -> Iterator[Any]:
    return (X[i : i + 60] for i in range(0, 250, 60))


SOURCES: dict[str, Callable[[], mc.Blocks]] = {
    "an array": lambda: mc.Blocks(X, rows=60),
    "one block": lambda: mc.Blocks(X),
    "slices": lambda: mc.Blocks(Slices(), rows=60),
    "a list": lambda: mc.Blocks([X[:60], X[60:61], X[61:]]),
    "a tuple with empty blocks": lambda: mc.Blocks((X[:0], X[:60], X[:0], X[60:], X[:0])),
    "a function": lambda: mc.Blocks(_iterator),
    "sparse": lambda: mc.Blocks(sparse.csr_array(X), rows=60),
    "sparse blocks": lambda: mc.Blocks([sparse.csr_array(X[:60]), sparse.csr_array(X[60:])]),
    "a data frame": lambda: mc.Blocks(FRAME, rows=60),
    "of pandas": lambda: mc.Blocks(FRAME.to_pandas(), rows=60),
    "data frames": lambda: mc.Blocks([FRAME[:60], FRAME[60:]]),
    "lists": lambda: mc.Blocks([X[:60].tolist(), X[60:].tolist()]),
}


def _array(block: Any) -> Any:
    return block.toarray() if sparse.issparse(block) else np.asarray(block)


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name: str) -> None:
    blocks = SOURCES[name]()
    assert len(blocks) == 250
    assert repr(blocks) == "<Blocks of 250 samples>"
    for _ in range(2):  # passes
        np.testing.assert_array_equal(np.vstack([_array(block).reshape(-1, 3) for block in blocks]), X)
    at = [(rows.start, rows.stop) for rows, _ in blocks.numbered()]
    assert at[0][0] == 0
    assert at[-1][1] == 250
    assert all(before[1] == after[0] for before, after in itertools.pairwise(at))
    for index in (np.array([0, 59, 60, 61, 249]), np.array([100]), np.arange(250)):
        np.testing.assert_array_equal(_array(blocks.take(index)), X[index])
    assert len(_array(blocks.head)) > 0
    np.testing.assert_array_equal(_array(blocks.head), X[: len(_array(blocks.head))])


def test_the_kind_of_samples_stays() -> None:
    assert sparse.issparse(SOURCES["sparse"]().head)
    assert isinstance(SOURCES["a data frame"]().head, pl.DataFrame)
    assert isinstance(SOURCES["of pandas"]().take(np.array([1, 200])), pd.DataFrame)
    assert mc.Blocks([["AC", "GT"], ["TT"]]).take(np.array([0, 2])) == ["AC", "TT"]


def test_a_file_that_is_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    blocks = mc.Blocks(np.load(tmp_path / "x.npy", mmap_mode="r"), rows=100)
    np.testing.assert_array_equal(np.vstack(list(blocks)), X)
    assert not any(isinstance(block, np.memmap) for block in blocks)  # each is read


def test_another_number_of_samples_in_another_pass() -> None:
    passes = 0

    def shrinking() -> Iterator[Any]:
        nonlocal passes
        passes += 1
        yield X[:60]
        yield X[60 : 120 - passes]

    blocks = mc.Blocks(shrinking)
    assert len(blocks) == 119
    with pytest.raises(DataError, match="Block 1 has 58 samples"):
        list(blocks)

    def ending() -> Iterator[Any]:
        nonlocal passes
        passes -= 1
        yield from [X[:60]] * passes

    passes = 4
    blocks = mc.Blocks(ending)
    assert len(blocks) == 180
    with pytest.raises(DataError, match="A pass gave 2 blocks, the one before 3"):
        list(blocks)


def test_what_is_no_source() -> None:
    for source in (iter([X]), _iterator(), "abc", 3, None):
        with pytest.raises(TypeError, match="give an array, a list of blocks, or a function"):
            mc.Blocks(source)
    for rows in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="at least 1"):
            mc.Blocks(X, rows)  # type: ignore[arg-type]
    for nothing in ([], [X[:0]], X[:0]):
        with pytest.raises(DataError, match="no samples"):
            _ = mc.Blocks(nothing).head
    with pytest.raises(DataError, match="no samples"):
        joined([])


def test_what_is_wrong_is_said_with_its_block() -> None:
    def refuse(block: Any) -> Any:
        if len(block) == 70:
            raise DataError("Row 3 is wrong.")
        return len(block)

    blocks = mc.Blocks([X[:60], X[:0], X[:70]])
    found = blocks.each(refuse)
    assert next(found) == (slice(0, 60), 60)
    with pytest.raises(DataError, match="Block 2, samples 60 to 129: Row 3 is wrong"):
        next(found)
