"""Kernels that count common walks of labelled graphs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from mercer import backend
from mercer.backend import Array, Compute
from mercer.data import DataError, Domain, Graphs, PackedGraphs, chunks
from mercer.data.representations import spans
from mercer.kernels.base import Kernel, kernel, natural, nonnegative

_CELLS = 2**24  # pairs of vertices, times steps, of a call: so that an interrupt is not late
_TOGETHER = 16  # graphs whose values with themselves are found in one block
_EXACT = 1e-13
_MOST = 10_000  # terms of a sum, or steps of its solution
_GUESS = 50  # steps that a solution takes, for the share of work


@dataclass(frozen=True, eq=False)
class Classes:
    """Graphs whose vertices are classes of alike ones: those with the same label from which walks read the same. Walks cannot tell them apart.

    Class c of ``sizes[c]`` vertices has for each of them ``counts[a]`` arcs with label ``marks[a]`` into class ``ends[a]``, a from ``starts[c]`` on.
    """

    offsets: Any
    labels: Any
    sizes: Any
    starts: Any
    ends: Any
    marks: Any
    counts: Any
    directed: Any
    degrees: Any  # the largest of each graph

    @classmethod
    def of(cls, X: PackedGraphs) -> Classes:
        from mercer.loops import walks

        n, e = len(X.labels), len(X.ends)
        offsets, labels, sizes = np.zeros(len(X) + 1, np.int64), np.empty(n, np.uint64), np.empty(n)
        starts, ends, marks, counts = np.zeros(n + 1, np.int64), np.empty(e, np.int32), np.empty(e, np.uint64), np.empty(e)
        found, arcs = walks.classes(X.offsets, X.labels, X.starts, X.ends, X.marks, offsets, labels, sizes, starts, ends, marks, counts)
        degree = np.concatenate([np.diff(X.starts), [0]])
        largest = np.array([int(degree[a:b].max(initial=0)) for a, b in pairwise(X.offsets)], np.int64)
        parts = (labels[:found], sizes[:found], starts[: found + 1], ends[:arcs], marks[:arcs], counts[:arcs])
        return cls(offsets, *parts, X.directed, largest)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Any) -> Classes:
        part, offsets = spans(self.offsets, rows)
        arcs, starts = spans(self.starts, part)
        own = self.labels[part], self.sizes[part], starts, self.ends[arcs], self.marks[arcs], self.counts[arcs]
        return Classes(offsets, *own, self.directed[rows], self.degrees[rows])

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.offsets, self.labels, self.sizes, self.starts, self.ends, self.marks, self.counts


class OnPairs(Kernel):
    """A kernel computed for each pair of graphs: leaves ``_sums``, the values of some rows, to write."""

    domain: ClassVar[Domain] = Graphs()
    _halves: ClassVar[bool] = True

    @property
    def _steps(self) -> int:
        raise NotImplementedError

    def _sums(self, A: Classes, B: Classes, alike: bool, same: bool, first: int, out: Array) -> None:
        raise NotImplementedError

    def _prepare(self, X: PackedGraphs) -> Any:
        return Classes.of(X)

    def _block(self, A: Any, B: Any) -> Any:
        if hasattr(A, "__formula__"):
            raise TypeError("graphs are compared as they are, not as symbols")
        out = np.zeros((len(A), len(B)))
        if not len(A) or not len(B):
            return out
        alike = bool((A.marks == A.marks[:1]).all() and (B.marks == np.concatenate([A.marks[:1], B.marks[:1]])[:1]).all())
        cost = float(np.mean(np.diff(A.offsets) + 1)) * (int(B.offsets[-1]) + len(B)) * self._steps
        for some in chunks(len(A), max(1, int(_CELLS / cost))):
            if backend.stopping():
                break
            self._sums(A.take(some), B, alike, B is A, some.start, out[some])
        if B is A:
            np.copyto(out, out.T, where=np.tri(len(out), k=-1, dtype=bool))
        return out

    def _diag(self, A: Any) -> Any:
        if hasattr(A, "__formula__"):
            raise TypeError("graphs are compared as they are, not as symbols")
        out = np.empty(len(A))

        def task(some: slice) -> None:
            part = A.take(some)
            out[some] = np.diagonal(self._block(part, part))

        backend.run_tasks(task, chunks(len(A), _TOGETHER), Compute().workers)
        return out


@kernel
class Walk(OnPairs):
    """1ᵀ A_×^length 1: the number of pairs of walks with exactly ``length`` edges that have the same labels.

    A_× is the adjacency matrix of the product graph, whose vertices are the pairs (u, v) of equal labels; it is never formed. Cost per pair of
    graphs: O(length · pairs of vertices · degree). A walk may visit vertices again; edge labels must agree too. Gärtner, Flach & Wrobel 2003.
    """

    length: int = natural(minimum=0)

    @property
    def _steps(self) -> int:
        return 4 * int(self.length) + 1

    def _sums(self, A: Classes, B: Classes, alike: bool, same: bool, first: int, out: Array) -> None:
        from mercer.loops import walks

        walks.walks(*A.arrays, *B.arrays, int(self.length), alike, same, first, out)


@kernel
class GeometricWalk(OnPairs):
    """Σ_l decay^l Walk(l) = 1ᵀ(I − decay·A_×)⁻¹1 over walks of all lengths.

    The sum exists for decay·ρ(A_×) < 1, which decay · (largest degree of x) · (largest degree of z) < 1 implies; a pair for which it does not is
    refused, when training and when predicting. Cost per pair: tens of steps of O(pairs of vertices · degree).
    """

    decay: float = nonnegative()

    @property
    def _steps(self) -> int:
        return 4 * _GUESS

    def _sums(self, A: Classes, B: Classes, alike: bool, same: bool, first: int, out: Array) -> None:
        from mercer.loops import walks

        sides = *A.arrays, A.directed, *B.arrays, B.directed
        walks.geometric(*sides, float(self.decay), alike, same, first, _EXACT, _MOST, out)
        if (out == walks.DIVERGES).any():
            i, j = map(int, np.argwhere(out == walks.DIVERGES)[0])
            a, b = int(A.degrees[i]), int(B.degrees[j])
            raise DataError(
                f"GeometricWalk(decay={self.decay:g}): the sum over walks diverges for a pair of graphs whose largest degrees are {a} and {b}; "
                f"a decay below {1 / max(1, a * b):.3g} = 1/({a}·{b}) is safe for them."
            )
