"""Vertices of graphs as samples of another kernel: what kernels between graphs with numbers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Index, Items, Samples, Weights
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import DataError, Domain, Graphs, PackedGraphs, check_weights, take
from mercer.data.representations import spans
from mercer.gram import KernelGram
from mercer.kernels.base import Kernel
from mercer.troubles import coded


@dataclass(frozen=True, eq=False)
class Points:
    """The vertices of graphs: the codes of their labels, and their ``width`` numbers each as a kernel has prepared
    them; None where these have no say.
    """

    offsets: Array
    labels: Array
    numbers: Items
    width: int = 0

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Index) -> Points:
        vertices, offsets = spans(self.offsets, rows)
        numbers = None if self.numbers is None else take(self.numbers, vertices)
        return Points(offsets, self.labels[vertices], numbers, self.width)

    def chosen(self, vertices: Array) -> Points:
        """Some vertices, in any order, as those of one graph."""
        numbers = None if self.numbers is None else take(self.numbers, vertices)
        return Points(np.array([0, len(vertices)]), self.labels[vertices], numbers, self.width)

    @property
    def graphs(self) -> Any:
        """The graph of each vertex."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def attributes_of(X: PackedGraphs, k: Kernel) -> Array:
    """The numbers of all vertices; an error where there are vertices without."""
    if X.attributes is None:
        raise DataError(
            f"The vertices of the graphs have no attributes (numbers), which {k} compares; give"
            " mercer.Graph(edges, labels, attributes=numbers), or take a kernel that compares labels alone, as"
            " WeisfeilerLehman.",
            "M107",
        )
    found: Array = X.attributes
    return found


class InWidths(Kernel):
    """A kernel between graphs that divides each number of a vertex by its ``width``: one for all, one for each, or
    "scale", the standard deviation of each over all vertices of the data.
    """

    width: Any

    @property
    def _data_driven(self) -> bool:
        return isinstance(self.width, str)

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        X = self.domain.check(X)
        rows = attributes_of(X, self)
        each = np.repeat(check_weights(len(X), weights), np.diff(X.offsets))
        mean = np.average(rows, axis=0, weights=each)
        spread = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=each))
        return self._replace(width=np.where(spread > 0, spread, 1.0))

    def _in_widths(self, X: PackedGraphs) -> Array:
        """The numbers of all vertices, divided."""
        width = np.asarray(self.width, np.float64)
        if not len(X.labels):
            return np.zeros((0, max(1, width.size)))
        rows = attributes_of(X, self)
        if width.ndim and len(width) != rows.shape[1]:
            raise DataError(
                f"The vertices of the graphs have {rows.shape[1]} attributes and {type(self).__name__} has {len(width)}"
                " widths; there must be one for each.",
                "M104",
            )
        scaled: Array = rows / width
        return scaled


class OnPoints(Kernel):
    """A kernel between graphs by a kernel ``vertices`` between the numbers of their vertices."""

    domain: ClassVar[Domain] = Graphs(numbers=True)
    _same_items = False
    vertices: Kernel

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.vertices.psd else None

    def _continuous(self, prefix: str) -> list[str]:
        """None: the values of the kernel between vertices are added up by compiled code, of which no formula is
        recorded.
        """
        return []

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        X = self.domain.check(X)
        each = None if weights is None else np.repeat(np.asarray(weights, np.float64), np.diff(X.offsets))
        rows = self.vertices.domain.check(attributes_of(X, self))
        return self._replace(vertices=self.vertices.bind(rows, each))

    def _points(self, X: PackedGraphs) -> Points:
        if not len(X.labels):
            return Points(X.offsets, X.labels, None)
        rows = attributes_of(X, self)
        return Points(X.offsets, X.labels, self.vertices._prepared(rows, self.domain), rows.shape[1])

    def _between(self, A: Points, B: Points) -> Array:
        """The values of ``vertices`` between all vertices of both."""
        if A.width != B.width:
            raise DataError(
                f"The vertices of X have {A.width} attributes and those of Y {B.width}; both must have those that the"
                " kernel was made for, in the same order.",
                "M104",
            )
        try:
            values: Array = KernelGram.of(self.vertices, A.numbers, B.numbers, Compute(threads=1)).dense()
        except FloatingPointError as error:
            raise FloatingPointError(coded(f"{self}, between the vertices of some graphs: {error}", "M210")) from None
        return values
