"""Kernels that count common walks of labelled graphs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Index, Items
from mercer.arrays import Array
from mercer.data import DataError, Domain, Graphs, PackedGraphs
from mercer.data.representations import batches, spans
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.graphs.pairs import PairwiseKernel
from mercer.kernels.graphs.points import OnPoints, Points
from mercer.kernels.parameters import natural, nonnegative
from mercer.kernels.vectors.radial import Gaussian

_EXACT = 1e-13
_MOST = 1_000_000  # terms of a sum, or steps of its solution
_GUESS = 50  # steps that a solution takes, for the share of work
_VALUES = 2**22  # of a kernel between vertices that are at hand at once


@dataclass(frozen=True, eq=False)
class Classes:
    """Graphs whose vertices are classes of alike ones: those with the same label from which walks read the same. Walks
    cannot tell them apart.

    Class c of ``sizes[c]`` vertices has for each of them ``counts[a]`` arcs with label ``marks[a]`` into class
    ``ends[a]``, a from ``starts[c]`` on.
    """

    offsets: Array
    labels: Array
    sizes: Array
    starts: Array
    ends: Array
    marks: Array
    counts: Array
    directed: Array
    degrees: Array  # the largest of each graph

    @classmethod
    def of(cls, X: PackedGraphs) -> Classes:
        from mercer.native import walks

        n, e = len(X.labels), len(X.ends)
        offsets, labels, sizes = np.zeros(len(X) + 1, np.int64), np.empty(n, np.uint64), np.empty(n)
        starts, ends, marks, counts = (
            np.zeros(n + 1, np.int64),
            np.empty(e, np.int32),
            np.empty(e, np.uint64),
            np.empty(e),
        )
        found, arcs = walks.classes(
            X.offsets, X.labels, X.starts, X.ends, X.marks, offsets, labels, sizes, starts, ends, marks, counts
        )
        degree = np.concatenate([np.diff(X.starts), [0]])
        largest = np.array([int(degree[a:b].max(initial=0)) for a, b in pairwise(X.offsets)], np.int64)
        parts = (labels[:found], sizes[:found], starts[: found + 1], ends[:arcs], marks[:arcs], counts[:arcs])
        return cls(offsets, *parts, X.directed, largest)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Index) -> Classes:
        part, offsets = spans(self.offsets, rows)
        arcs, starts = spans(self.starts, part)
        own = self.labels[part], self.sizes[part], starts, self.ends[arcs], self.marks[arcs], self.counts[arcs]
        return Classes(offsets, *own, self.directed[rows], self.degrees[rows])

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.offsets, self.labels, self.sizes, self.starts, self.ends, self.marks, self.counts


class OnGraphs(PairwiseKernel):
    """Common walks of two graphs."""

    domain: ClassVar[Domain] = Graphs()

    @property
    def _steps(self) -> int:
        raise NotImplementedError

    def _cost(self, A: Classes, B: Classes) -> float:
        return float(np.mean(np.diff(A.offsets) + 1)) * (int(B.offsets[-1]) + len(B)) * self._steps

    def _prepare(self, X: PackedGraphs) -> Any:
        return Classes.of(X)


def _alike(A: Classes | Steps, B: Classes | Steps) -> bool:
    """Whether all edges have one label."""
    one = np.concatenate([A.marks[:1], B.marks[:1]])[:1]
    return bool((A.marks == one).all() and (B.marks == one).all())


@kernel
class Walk(OnGraphs):
    """1ᵀ A_×^length 1: the number of pairs of walks with exactly ``length`` edges that have the same labels.

    A_× is the adjacency matrix of the product graph, whose vertices are the pairs (u, v) of equal labels; it is never
    formed. A walk may visit vertices again; edge labels must agree too. Cost per pair of graphs: O(length · pairs of
    vertices · degree).

    Parameters
    ----------
    length : int
        The number of edges of a walk, at least 0.

    See Also
    --------
    GeometricWalk : Walks of all lengths.
    KernelWalk : Vertices compared by a kernel, in place of equal labels.
    PathBag : Paths, which visit no vertex twice.

    References
    ----------
    .. [1] T. Gärtner, P. Flach and S. Wrobel. On graph kernels: hardness results and efficient alternatives. COLT 2003.

    Examples
    --------
    >>> import mercer as mc
    >>> edge = mc.Graph([(0, 1)])
    >>> triangle = mc.Graph([(0, 1), (1, 2), (2, 0)])
    >>> mc.Walk(2)([edge, triangle])
    array([[  4.,  24.],
           [ 24., 144.]])
    """

    length: int = natural(minimum=0)

    @property
    def _steps(self) -> int:
        return 4 * int(self.length) + 1

    def _sums(self, A: Classes, B: Classes, same: bool, first: int, out: Array, powers: Array) -> None:
        from mercer.native import walks

        walks.walks(
            *A.arrays, A.directed, *B.arrays, B.directed, int(self.length), _alike(A, B), same, first, out, powers
        )


@dataclass(frozen=True, eq=False)
class Steps:
    """Graphs whose vertices are samples of a kernel, with their arcs as in ``PackedGraphs``."""

    points: Points
    starts: Array
    ends: Array
    marks: Array
    directed: Array

    def __len__(self) -> int:
        return len(self.points)

    @property
    def offsets(self) -> Any:
        return self.points.offsets

    def take(self, rows: Index) -> Steps:
        vertices, _ = spans(self.offsets, rows)
        arcs, starts = spans(self.starts, vertices)
        return Steps(self.points.take(rows), starts, self.ends[arcs], self.marks[arcs], self.directed[rows])

    @property
    def arrays(self) -> tuple[Any, ...]:
        own = self.starts, self.ends, self.marks, np.ones(len(self.ends))
        return (self.offsets, self.points.labels, *own, self.directed)


@kernel
class KernelWalk(OnPoints, PairwiseKernel):
    """Σ over walks (v_0, …, v_length) of x and (v'_0, …, v'_length) of z of Π_t vertices(v_t, v'_t): common walks of
    graphs whose vertices have numbers.

    Labels of vertices and edges must agree, where there are any. A walk may visit vertices again. Positive
    semi-definite where ``vertices`` is. Cost per pair of graphs: O(length · pairs of vertices · degree), and a value of
    ``vertices`` for each pair of vertices.

    Parameters
    ----------
    length : int
        The number of edges of a walk, at least 0.
    vertices : Kernel, default=Gaussian()
        A kernel between the numbers of two vertices. Its width "scale" follows all vertices of the data.

    See Also
    --------
    Walk : Walks by labels alone.
    GraphHopper : Shortest paths in place of walks.

    References
    ----------
    .. [1] K. M. Borgwardt, C. S. Ong, S. Schönauer, S. V. N. Vishwanathan, A. J. Smola and H.-P. Kriegel. Protein
       function prediction via graph kernels. Bioinformatics 21, 2005.

    Examples
    --------
    >>> import mercer as mc
    >>> x = mc.Graph([(0, 1)], attributes=[1.0, 2.0])
    >>> z = mc.Graph([(0, 1), (1, 2)], attributes=[1.0, 3.0, 1.0])
    >>> mc.KernelWalk(1, mc.Linear())([x, z])
    array([[ 16.,  48.],
           [ 48., 144.]])
    """

    length: int = natural(minimum=0)
    vertices: Kernel = Gaussian()

    def _prepare(self, X: PackedGraphs) -> Any:
        return Steps(self._points(X), X.starts, X.ends, X.marks, X.directed)

    def _cost(self, A: Steps, B: Steps) -> float:
        return float(np.mean(np.diff(A.offsets) + 1)) * (int(B.offsets[-1]) + len(B)) * (4 * int(self.length) + 10)

    def _sums(self, A: Items, B: Items, same: bool, first: int, out: Array, powers: Array) -> None:
        from mercer.native import walks

        for some in batches(B.offsets, max(1, _VALUES // max(1, len(A.points.labels)))):
            part = B.take(some)
            if not len(A.points.labels) or not len(part.points.labels):
                continue
            values = self._between(A.points, part.points)
            values = values * (A.points.labels[:, None] == part.points.labels)
            target = out[:, some], powers[:, some]
            walks.alike_walks(
                *A.arrays, *part.arrays, values, int(self.length), _alike(A, part), same, first - some.start, *target
            )


@kernel
class GeometricWalk(OnGraphs):
    """Σ_l decay^l Walk(l) = 1ᵀ(I − decay·A_×)⁻¹1: common walks of all lengths of two graphs.

    The sum exists for decay·ρ(A_×) < 1, which decay · (largest degree of x) · (largest degree of z) < 1 implies. Cost
    per pair: tens of steps of O(pairs of vertices · degree).

    Parameters
    ----------
    decay : float
        At least 0, the weight of each further edge; below 1/(largest degree)² it is safe for all pairs.

    Raises
    ------
    DataError
        When the sum diverges for a pair of graphs, when training and when predicting; the message names a decay that is
        safe for them.

    See Also
    --------
    Walk : Walks of one length.

    References
    ----------
    .. [1] T. Gärtner, P. Flach and S. Wrobel. On graph kernels: hardness results and efficient alternatives. COLT 2003.

    Examples
    --------
    >>> import mercer as mc
    >>> edge = mc.Graph([(0, 1)])
    >>> triangle = mc.Graph([(0, 1), (1, 2), (2, 0)])
    >>> mc.GeometricWalk(decay=0.1)([edge, triangle]).round(3)
    array([[ 4.444,  7.5  ],
           [ 7.5  , 15.   ]])
    """

    decay: float = nonnegative(continuous=False)

    @property
    def _steps(self) -> int:
        return 4 * _GUESS

    def _sums(self, A: Classes, B: Classes, same: bool, first: int, out: Array, powers: Array) -> None:
        from mercer.native import walks

        sides = *A.arrays, A.directed, *B.arrays, B.directed
        walks.geometric(*sides, float(self.decay), _alike(A, B), same, first, _EXACT, _MOST, out)
        if (out == walks.DIVERGES).any():
            i, j = map(int, np.argwhere(out == walks.DIVERGES)[0])
            a, b = int(A.degrees[i]), int(B.degrees[j])
            raise DataError(
                f"GeometricWalk(decay={self.decay:g}): the sum over walks diverges for a pair of graphs whose largest"
                f" degrees are {a} and {b}; a decay below {1 / max(1, a * b):.3g} = 1/({a}·{b}) is safe for them.",
                "M205",
            )
