"""Kernels between graphs by how far the vertices of one must be moved to become those of the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Index, Items
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import DataError, Domain, Graphs, HashedRows, PackedGraphs
from mercer.data.representations import batches, spans
from mercer.formula import exp, recorded
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.feature_space import warn_of_zeros
from mercer.kernels.families import squared_distances
from mercer.kernels.graphs.labelled import WeisfeilerLehman
from mercer.kernels.graphs.points import InWidths
from mercer.kernels.graphs.sets import minima
from mercer.kernels.parameters import natural, positive
from mercer.kernels.scaled import plain
from mercer.runtime import threads

_ROWS, _COLUMNS = 2**8, 2**10  # vertices of both sides that are compared at once


@kernel
class WassersteinWL(Kernel):
    """exp(−γ W₁(x, z)), W₁ the least mean distance over which the vertices of x are moved onto those of z: for labels.

    Each vertex stands for its labels refined 0 … depth times, as in ``WeisfeilerLehman``; two vertices are as far apart
    as the share of refinements after which their labels differ. Vertices have equal weights, that of one graph together
    1. As a label that differs differs in all later refinements, vertices are the leaves of a tree, and W₁ is
    1 − Σ min(p, q)/(depth + 1), p and q the shares of vertices with each refined label: a distance of ℓ₁, of which the
    exponential is positive semi-definite for all γ. Cost: O(depth · edges) for a graph, O(depth · vertices) for a pair.

    Parameters
    ----------
    depth : int
        How often labels are refined, at least 0.
    gamma : float, default=1.0
        The inverse width γ, > 0; W₁ is at most 1.

    See Also
    --------
    WassersteinAttributes : The same for vertices with numbers.
    WLOptimalAssignment : Vertices assigned one to one.

    References
    ----------
    .. [1] M. Togninalli, E. Ghisu, F. Llinares-López, B. Rieck and K. Borgwardt. Wasserstein Weisfeiler–Lehman graph
       kernels. NeurIPS 2019.

    Examples
    --------
    >>> import mercer as mc
    >>> path = mc.Graph([(0, 1), (1, 2), (2, 3)])
    >>> star = mc.Graph([(0, 1), (0, 2), (0, 3)])
    >>> mc.WassersteinWL(2, gamma=1.0)([path, star]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    domain: ClassVar[Domain] = Graphs()
    depth: int = natural(minimum=0)
    gamma: float = positive(1.0, symbol="γ")

    def _prepare(self, X: PackedGraphs) -> Any:
        counts: HashedRows = WeisfeilerLehman(int(self.depth))._prepare(X)
        sizes = np.diff(X.offsets)
        shares: HashedRows = (1.0 / np.maximum(sizes, 1)) * counts
        return shares, _filled(self, X)

    def _block(self, A: Items, B: Items) -> Any:
        common = recorded(minima, A[0], B[0])
        return A[1] * B[1] * exp(-self.gamma * (1.0 - common / (int(self.depth) + 1)))

    def _diag(self, A: Items) -> Any:
        return 1.0 * A[1]


def _filled(k: Kernel, X: PackedGraphs) -> Array:
    """1 for each graph, 0 for one without vertices, which is told."""
    filled = np.minimum(np.diff(X.offsets), 1).astype(np.float64)
    warn_of_zeros(k, filled, type(k).__name__)
    return filled


@dataclass(frozen=True, eq=False)
class _Clouds:
    """The vertices of graphs as points."""

    offsets: Array
    rows: Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Index) -> _Clouds:
        vertices, offsets = spans(self.offsets, rows)
        return _Clouds(offsets, self.rows[vertices])


@kernel
class WassersteinAttributes(InWidths):
    """exp(−γ W₁(x, z)), W₁ the least mean distance over which the vertices of x are moved onto those of z: for numbers.

    Each vertex stands for its numbers after 0 … depth steps, side by side; in a step it takes the mean of its own and
    of the mean of its neighbours (its own, where it has none). Two vertices are at their Euclidean distance; labels
    play no part. W₁ is exact, by a network simplex. Not positive semi-definite for all data, unlike ``WassersteinWL``:
    the ten pairs of corners of a square have a matrix with a negative eigenvalue. ``check_kernel`` says whether it is
    on yours, and ``repaired("clip")`` makes it so. Cost: about vertices³ for a pair.

    Parameters
    ----------
    depth : int
        How many steps, at least 0.
    gamma : float, default=1.0
        The inverse width γ, > 0.
    width : float, array-like or "scale", default="scale"
        What numbers are divided by, > 0, or one for each number of a vertex. "scale": the standard deviation of each
        over all vertices of the data.

    See Also
    --------
    WassersteinWL : The same for labels.
    GraphHopper : Shortest paths of vertices with numbers.

    References
    ----------
    .. [1] M. Togninalli, E. Ghisu, F. Llinares-López, B. Rieck and K. Borgwardt. Wasserstein Weisfeiler–Lehman graph
       kernels. NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer as mc
    >>> x = mc.Graph([(0, 1)], attributes=[0.0, 2.0])
    >>> z = mc.Graph([(0, 1), (1, 2)], attributes=[0.0, 1.0, 2.0])
    >>> -np.log(mc.WassersteinAttributes(0, width=1.0)([x], [z])).round(3)  # a third of the mass moves by 1
    array([[0.333]])
    """

    domain: ClassVar[Domain] = Graphs(numbers=True)
    psd = False
    _halves: ClassVar[bool] = True
    depth: int = natural(minimum=0)
    gamma: float = positive(1.0, symbol="γ")
    width: Any = positive("scale", words=("scale",), vector=True, continuous=False)

    def _prepare(self, X: PackedGraphs) -> Any:
        from mercer.native import graphs

        steps = [self._in_widths(X)]
        for _ in range(int(self.depth)):
            steps.append(0.5 * (steps[-1] + graphs.mean_rows(X.offsets, X.starts, X.ends, steps[-1])))
        return _Clouds(X.offsets, np.concatenate(steps, axis=1)), _filled(self, X)

    def _block(self, A: Items, B: Items) -> Any:
        return A[1] * B[1] * exp(-self.gamma * recorded(self._distances, A[0], B[0]))

    def _diag(self, A: Items) -> Any:
        return 1.0 * A[1]

    def _distances(self, A: Items, B: Items) -> Array:
        """W₁ between some graphs and others."""
        from mercer.native import transport

        A, B = plain(A), plain(B)
        out = np.zeros((len(A), len(B)))
        if not out.size or not len(A.rows) or not len(B.rows):
            return out
        if A.rows.shape[1] != B.rows.shape[1]:
            wide, other = (x.rows.shape[1] // (int(self.depth) + 1) for x in (A, B))
            raise DataError(
                f"The vertices of X have {wide} attributes and those of Y {other}; both must have the same.", "M104"
            )
        for rows in batches(A.offsets, _ROWS):
            part = A.take(rows)
            for columns in batches(B.offsets, _COLUMNS):
                if threads.stopping():
                    return out
                if (B is A and columns.stop <= rows.start) or not len(part.rows):
                    continue
                other = B.take(columns)
                if len(other.rows):
                    squares = squared_distances(part.rows, other.rows, compute=Compute(threads=1))
                    target = out[rows, columns]
                    transport.distances(
                        part.offsets, other.offsets, squares, B is A, rows.start - columns.start, target
                    )
        return np.triu(out) + np.triu(out, 1).T if B is A else out
