"""A kernel between graphs with numbers at their vertices: where these are on shortest paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.annotations import Index, Samples
from mercer.arrays import Array
from mercer.compute import bounds, human
from mercer.data import Domain, Graphs, HashedRows, PackedGraphs, chunks, salted
from mercer.data.representations import batches, offsets_of, spans
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.graphs.points import OnPoints, Points
from mercer.kernels.graphs.words import Written, words_of
from mercer.kernels.scaled import Scalable
from mercer.kernels.vectors.products import Linear
from mercer.native.mixing import mix
from mercer.runtime import threads
from mercer.troubles import coded

_TOGETHER = 1024  # vertices of a batch, and of what is compared at once
_TASKS = 16  # of a large set, for the threads


@dataclass(frozen=True, eq=False)
class Hops:
    """Graphs by where their vertices are on shortest paths. Vertex v of graph g has the ``widths[g]`` numbers from
    ``begins[g] + v·widths[g]`` on in ``counts``: for each number of edges j, and i ≤ j, the paths with j edges on which
    it is i edges from the first vertex.
    """

    points: Points
    counts: Array
    begins: Array
    widths: Array

    def __len__(self) -> int:
        return len(self.points)

    @property
    def offsets(self) -> Any:
        return self.points.offsets

    def take(self, rows: Index) -> Hops:
        part, offsets = spans(_ends(self.begins, self.counts), rows)
        return Hops(self.points.take(rows), self.counts[part], offsets[:-1], self.widths[rows])

    def batches(self) -> list[Any]:
        """Graphs with paths of about one length, about ``_TOGETHER`` vertices each time."""
        order = np.argsort(self.widths, kind="stable")
        return [order[some] for some in batches(offsets_of(np.diff(self.offsets)[order]), _TOGETHER)]

    def rows(self, vertices: Array, graphs: Array, width: int) -> Array:
        """The counts of some vertices, 0 where a row is too short."""
        from mercer.native import hops

        out = np.empty((len(vertices), width))
        hops.padded(self.offsets, self.widths, self.begins, self.counts, vertices, graphs, out)
        return out


def _ends(begins: Array, values: Array) -> Any:
    return np.append(begins, len(values))


@kernel
class GraphHopper(OnPoints, Scalable):
    """Σ over vertices v of x and v' of z of ⟨M(v), M(v')⟩ vertices(v, v'), M_ij(v) the number of shortest paths with j
    edges on which v is i edges from the first vertex.

    For graphs whose vertices have numbers: their shortest paths are compared vertex by vertex, all pairs of equally
    long ones at once. A path counts from each of its ends (in directed graphs along its arcs), a vertex alone
    is a path without edges. Vertices with labels are compared where these agree; edge labels play no part. Positive
    semi-definite where ``vertices`` is. Cost: vertices · edges · diameter for a graph, the pairs of vertices times
    diameter² for a pair of graphs; memory of vertices · diameter². ``normalized()`` keeps large graphs from having
    large values.

    Parameters
    ----------
    vertices : Kernel or None, default=Linear()
        A kernel between the numbers of two vertices, as ``Gaussian("scale")``, whose width follows all vertices of the
        data; ``k.standardized()`` gives columns of numbers the same variance first. None: labels alone are compared.

    See Also
    --------
    Propagation : Numbers that spread along edges, with features.
    ShortestPath : The ends and the lengths of shortest paths.

    References
    ----------
    .. [1] A. Feragen, N. Kasenburg, J. Petersen, M. de Bruijne and K. Borgwardt. Scalable kernels for graphs with
       continuous attributes. NIPS 2013.

    Examples
    --------
    >>> import mercer as mc
    >>> x = mc.Graph([(0, 1), (1, 2)], attributes=[1.0, 2.0, 1.0])
    >>> z = mc.Graph([(0, 1)], attributes=[1.0, 2.0])
    >>> mc.GraphHopper()([x, z])
    array([[112.,  48.],
           [ 48.,  27.]])
    >>> mc.GraphHopper(mc.Gaussian("scale")).normalized()([x, z]).round(3)
    array([[1.   , 0.784],
           [0.784, 1.   ]])
    """

    vertices: Kernel | None = Linear()  # type: ignore[assignment]

    def _validate(self) -> None:
        if self.vertices is not None and not isinstance(self.vertices, Kernel):
            raise TypeError(
                coded(
                    f"GraphHopper(vertices={self.vertices!r}): vertices is a kernel between rows of numbers, as"
                    " Gaussian(), or None.",
                    "M205",
                )
            )

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return Graphs(numbers=self.vertices is not None)

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.vertices is None or self.vertices.psd else None

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.vertices is None or self.vertices.explicit

    def _prepare(self, X: PackedGraphs) -> Hops:
        from mercer.native import hops

        points = Points(X.offsets, X.labels, None) if self.vertices is None else self._points(X)
        some = batches(X.offsets, max(_TOGETHER, len(X.labels) // _TASKS))
        longest = np.zeros(len(X), np.int64)

        def measure(b: int) -> None:
            part = X.take(some[b])
            hops.longest(part.offsets, part.starts, part.ends, longest[some[b]])

        threads.run_loops(measure, range(len(some)))
        widths = longest * (longest + 1) // 2
        ends = offsets_of(np.diff(X.offsets) * widths)
        if ends[-1] * 8 > bounds().budget:
            raise MemoryError(
                coded(
                    f"{self}: the places of {len(X.labels)} vertices on shortest paths of up to"
                    f" {int(longest.max()) - 1} edges are {human(ends[-1] * 8)}; there are {human(bounds().budget)}."
                    " ShortestPath and Propagation need no such room.",
                    "M401",
                )
            )
        counts = np.zeros(ends[-1])

        def count(b: int) -> None:
            part, begins = X.take(some[b]), ends[some[b]]
            hops.places(part.offsets, part.starts, part.ends, longest[some[b]], begins, counts)

        threads.run_loops(count, range(len(some)))
        return Hops(points, counts, ends[:-1], widths)

    def _scaled(self, A: Hops, B: Hops) -> tuple[Array, Array | None]:
        out = np.zeros((len(A), len(B)))
        left = A.batches()
        right = left if B is A else B.batches()
        for a, rows in enumerate(left):
            first = A.take(rows)
            for columns in right[a:] if B is A else right:
                if threads.stopping():
                    return out, None
                same = B is A and columns is rows
                values = self._compared(first, first if same else B.take(columns))
                out[np.ix_(rows, columns)] = np.triu(values) + np.triu(values, 1).T if same else values
                if B is A and not same:
                    out[np.ix_(columns, rows)] = values.T
        return out, None

    def _alike(self, A: Hops) -> Array:
        return np.argsort(A.widths, kind="stable")

    def _compared(self, A: Hops, B: Hops) -> Array:
        """The values between some graphs and others, vertices with equal labels side by side."""
        out = np.zeros((len(A), len(B)))
        width = int(min(A.widths.max(initial=0), B.widths.max(initial=0)))
        left, right = _pieces(A, width), _pieces(B, width)
        for a in left:
            for b in right:
                pairs = [(s, t) for label, s in a.labels.items() if (t := b.labels.get(label)) is not None]
                if not pairs:
                    continue
                alike = None if self.vertices is None else self._between(a.points, b.points)
                for s, t in pairs:
                    products = a.counts[s] @ b.counts[t].T
                    if alike is not None:
                        products *= alike[s, t]
                    rows, columns = a.graphs[s], b.graphs[t]
                    first, second = (np.flatnonzero(np.diff(g, prepend=-1)) for g in (rows, columns))
                    sums = np.add.reduceat(np.add.reduceat(products, second, axis=1), first, axis=0)
                    out[np.ix_(rows[first], columns[second])] += sums
        return out

    def _features(self, A: Hops) -> HashedRows:
        """Σ M(v) ⊗ φ(v) over the vertices of each label."""
        points = A.points
        phi = np.ones((len(points.labels), 1))
        if self.vertices is not None and points.numbers is not None:
            phi = np.asarray(self.vertices._features(points.numbers))
        codes, values, lengths = [], [], np.zeros(len(A), np.int64)
        for g in range(len(A)):
            vertices = np.arange(points.offsets[g], points.offsets[g + 1])
            cells = int(A.widths[g]) * phi.shape[1]
            M = A.rows(vertices, np.full(len(vertices), g), int(A.widths[g]))
            for label in np.unique(points.labels[vertices]):
                mine = points.labels[vertices] == label
                codes.append(_codes(label, cells))
                values.append((M[mine].T @ phi[vertices[mine]]).reshape(-1))
                lengths[g] += cells
        return HashedRows(
            np.concatenate([np.empty(0, np.uint64), *codes]),
            np.concatenate([np.empty(0), *values]),
            offsets_of(lengths),
        )

    def _names(self, X: Samples) -> dict[int, Any]:
        return words_of(self._words, X)

    def _words(self, x: PackedGraphs, g: Written) -> dict[int, Any]:
        """The label, where it is on paths, and the column of the features of ``vertices``: C after 1 of 3 edges,
        column 0.
        """
        A = self._prepare(x)
        columns = [""]
        if self.vertices is not None and A.points.numbers is not None:
            columns = [f", column {c}" for c in range(np.shape(self.vertices._features(A.points.numbers))[1])]
        longest = next(j for j in range(len(A.points.labels) + 1) if j * (j + 1) // 2 == A.widths[0])
        steps = [f" after {i} of {j} edges" for j in range(longest) for i in range(j + 1)]
        places = [step + column for step in steps for column in columns]
        found: dict[int, Any] = {}
        for label, v in zip(*np.unique(A.points.labels, return_index=True), strict=True):
            text = g.text(int(v))
            found |= zip(_codes(label, len(places)).tolist(), (text + place for place in places), strict=True)
        return found

    def _width(self, A: Hops) -> int:
        points = A.points
        columns = 1
        if self.vertices is not None and points.numbers is not None:
            columns = self.vertices._width(points.numbers)
        graphs, _ = np.unique(np.stack([points.graphs.astype(np.uint64), points.labels]), axis=1)
        return -(-int(A.widths[graphs.astype(np.int64)].sum()) * columns // max(1, len(A)))


def _codes(label: Any, cells: int) -> Any:
    """Of the first cells of a label: the places on paths times the columns of the vertices' features."""
    return mix(salted(label[None], 0) + mix(np.arange(cells, dtype=np.uint64)))


@dataclass(frozen=True)
class _Piece:
    """Some vertices in the order of their labels: where each label is, the graph and the counts of each vertex."""

    points: Points
    graphs: Array
    labels: dict[int, slice]
    counts: Array


def _pieces(A: Hops, width: int) -> list[_Piece]:
    points, graphs = A.points, A.points.graphs
    order = np.lexsort((graphs, points.labels))
    found = []
    for some in chunks(len(order), _TOGETHER):
        chosen = order[some]
        names, starts = np.unique(points.labels[chosen], return_index=True)
        cuts = np.append(starts, len(chosen)).tolist()
        labels = {int(name): slice(cuts[k], cuts[k + 1]) for k, name in enumerate(names)}
        found.append(_Piece(points.chosen(chosen), graphs[chosen], labels, A.rows(chosen, graphs[chosen], width)))
    return found
