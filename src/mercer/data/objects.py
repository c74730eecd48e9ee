"""Domains of objects that are looked at one by one, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer import arrays
from mercer.annotations import Samples
from mercer.data.representations import Ragged, Rep
from mercer.data.tables import DataError, as_frame


@dataclass(frozen=True)
class Domain:
    """A kind of sample. ``check`` is idempotent: what it returns, it accepts and returns unchanged."""

    def check(self, X: Samples) -> Rep:
        """The internal form of a collection of samples."""
        raise NotImplementedError

    def to_store(self, X: Samples) -> Any:
        """Samples in a form that a fitted model can keep, and a file hold."""
        return X

    def labels(self, X: Samples) -> list[list[Any]] | None:
        """What stands at each place of each item: letters, labels of vertices, atoms; None: there are no places."""
        return None

    def pair(self, x: object, z: object) -> tuple[Any, Any] | None:
        """If x and z are two single samples rather than two collections: each as a collection of one. Else None."""
        return None


@dataclass(frozen=True)
class Anything(Domain):
    """Any collection with a length; the kernel, or a part of it, looks closer."""

    def check(self, X: Samples) -> Rep:
        if hasattr(X, "shape") or isinstance(X, tuple | list | Ragged) or hasattr(X, "take") or as_frame(X) is not None:
            return list(X) if isinstance(X, tuple) else X
        if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
            raise DataError(
                f"Expected a collection of samples, got a single {type(X).__name__}; put it in a list.", "M103"
            )
        return list(X)


@dataclass(frozen=True)
class Objects(Domain):
    """A list of objects of one kind, unexamined but for what a single one would look like."""

    noun: str = "objects"
    single: tuple[type, ...] = (str, bytes)

    def check(self, X: Samples) -> Rep:
        if isinstance(X, self.single):
            raise DataError(
                f"Expected a collection of {self.noun}, got one {type(X).__name__}; put it in a list: [x].", "M103"
            )
        series = nw.from_native(X, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            X = series.to_list()
        if not isinstance(X, Iterable):
            raise DataError(f"Expected a collection of {self.noun}, got {type(X).__name__}.", "M103")
        items = X if isinstance(X, list) else list(X)
        for i, item in enumerate(items):
            self._check_item(i, item)
        return items

    def _check_item(self, i: int, item: object) -> None:
        if item is None:
            raise DataError(
                f"Item {i} of the {self.noun} is missing (None); drop it or put an empty one in its place.", "M101"
            )


@dataclass(frozen=True)
class Nodes(Domain):
    """The numbers 0…count−1 of the objects of a fixed set: vertices of one graph, rows of a precomputed matrix."""

    count: int

    def check(self, X: Samples) -> Rep:
        series = nw.from_native(X, series_only=True, pass_through=True)
        ids = arrays.to_numpy(series.to_numpy() if isinstance(series, nw.Series) else X)
        if ids.ndim == 2 and ids.shape[1] == 1:
            ids = ids[:, 0]
        if ids.ndim != 1:
            raise DataError(
                f"Expected a list of object numbers 0…{self.count - 1}, got an array of shape {ids.shape}. A matrix"
                " k(new, train) is for a machine with kernel='precomputed'.",
                "M103",
            )
        numbers = ids.astype(np.int64) if ids.dtype.kind in "iufb" else None
        wrong = (
            np.ones(len(ids), bool) if numbers is None else (numbers != ids) | (numbers < 0) | (numbers >= self.count)
        )
        if wrong.any():
            i = int(np.argmax(wrong))
            raise DataError(
                f"Row {i} is {ids.tolist()[i]!r}; expected a whole number from 0 to {self.count - 1}, the number of an"
                " object.",
                "M107",
            )
        return numbers
