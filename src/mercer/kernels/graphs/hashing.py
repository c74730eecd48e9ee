"""Kernels between labelled graphs for graphs with numbers: these become labels, at random and several times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Array
from mercer.data import DataError, Domain, Graphs, PackedGraphs, salted
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.graphs.labelled import OverLabellings, WeisfeilerLehman
from mercer.kernels.graphs.points import InWidths
from mercer.kernels.graphs.words import Written
from mercer.kernels.occurrences import Occurrences, together
from mercer.kernels.parameters import natural, positive
from mercer.native.mixing import mix
from mercer.troubles import coded

_MOST_BINS = 2.0**62


@kernel
class HashedAttributes(InWidths, OverLabellings):
    """The mean over ``draws`` of base(x_t, z_t), x_t the graph with random bins of the numbers of its vertices for
    labels: hash graph kernels.

    The bin of a vertex with the numbers a is ⌊Σ_j ω_j a_j/width_j + b⌋, ω standard normal and b uniform, others for
    each draw: near vertices share a label in many draws. Labels that are there already must agree as well. Features
    are those of the base, in columns of their own for each draw; positive semi-definite where the base is. Draws follow
    from ``random_state`` alone, and are the same for all data. Cost: ``draws`` times that of the base.

    Parameters
    ----------
    base : Kernel, default=WeisfeilerLehman(depth=2)
        A kernel between labelled graphs, as ``WeisfeilerLehman`` or ``ShortestPath``.
    draws : int, default=20
        How many random labellings are averaged, at least 1. The error of the mean falls as 1/√draws.
    width : float, array-like or "scale", default="scale"
        The length of a bin, > 0, or one for each number of a vertex. "scale": the standard deviation of each over all
        vertices of the data.
    random_state : int, default=0
        The seed of the draws, at least 0.

    See Also
    --------
    Propagation : Bins of numbers that spread along edges.
    GraphHopper : A kernel between numbers, in place of bins.

    References
    ----------
    .. [1] C. Morris, N. M. Kriege, K. Kersting and P. Mutzel. Faster kernels for graphs with continuous attributes via
       hashing. ICDM 2016.

    Examples
    --------
    >>> import mercer as mc
    >>> edges = [(0, 1), (1, 2)]
    >>> near = [mc.Graph(edges, attributes=[0.0, 1.0, 0.1 * far]) for far in (0, 1, 30)]
    >>> mc.HashedAttributes(mc.VertexHistogram(), width=1.0)(near)
    array([[6.6, 6.6, 4.7],
           [6.6, 6.6, 4.7],
           [4.7, 4.7, 4.5]])
    """

    _same_items = False
    usage: ClassVar[str] = 'HashedAttributes(base, draws=20, width="scale", random_state=0)'
    base: Kernel = WeisfeilerLehman(2)
    draws: int = natural(default=20)
    width: Any = positive(default="scale", words=("scale",), vector=True, continuous=False)
    random_state: int = natural(default=0, minimum=0)

    def _validate(self) -> None:
        super()._validate()
        if isinstance(self.base.domain, Graphs) and self.base.domain.numbers:
            raise TypeError(
                coded(
                    f"HashedAttributes(base={self.base}): the base compares numbers by itself; leave them to it.",
                    "M205",
                )
            )

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return Graphs(numbers=True)

    @property
    def _share(self) -> float:  # type: ignore[override]
        return 1.0 / int(self.draws)

    def _labellings(self, X: PackedGraphs) -> Iterator[PackedGraphs]:
        scaled = self._in_widths(X)
        for t in range(int(self.draws)):
            bins = mix(self._bins(scaled, t).view(np.uint64) + np.uint64(1))
            yield PackedGraphs(X.offsets, mix(X.labels + bins), X.starts, X.ends, X.marks, X.directed)

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        """Those of the base in each draw."""
        found = []
        for t, labelled in enumerate(self._labellings(x)):
            part = self.base._occurrences(labelled) if self.explicit else None
            if part is None:
                return None
            found.append(Occurrences(salted(part.codes, t), part.places, part.size))
        return together(found)

    def _written(self, x: PackedGraphs, g: Written) -> Iterator[Written]:
        scaled = self._in_widths(x)
        for t in range(int(self.draws)):
            bins = self._bins(scaled, t).tolist()
            yield replace(g, names=[f"{g.text(v)} in bin {b}" for v, b in enumerate(bins)])

    def _called(self, t: int, word: object) -> Any:
        return f"draw {t + 1}: {word}"

    def _bins(self, rows: Array, t: int) -> Any:
        """The bin of each vertex. Sums row by row, so that the bin does not depend on the rows beside it."""
        rng = np.random.default_rng([int(self.random_state), t])
        shift, direction = rng.random(), rng.standard_normal(rows.shape[1])
        places = (rows * direction).sum(axis=1) + shift
        if np.abs(places).max(initial=0.0) >= _MOST_BINS:
            raise DataError(
                f"{self}: the numbers of the vertices fall into more bins than can be counted; take a larger width.",
                "M120",
            )
        return np.floor(places).astype(np.int64)
