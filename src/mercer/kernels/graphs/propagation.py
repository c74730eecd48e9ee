"""A kernel between graphs with vertex attributes: what spreads along their edges."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from mercer.data import DataError, Domain, Graphs, HashedRows, PackedGraphs, salted, side_by_side
from mercer.kernels.base import kernel
from mercer.kernels.graphs.labelled import by_batches, counted
from mercer.kernels.graphs.routes import around
from mercer.kernels.graphs.words import OnVertices, Written
from mercer.kernels.occurrences import Occurrences, together
from mercer.kernels.parameters import natural, positive
from mercer.native.mixing import mix

_MOST_BINS = 2.0**62
_UNIT = 2.0**32  # numbers are held as multiples of its inverse, whose sums do not depend on their order


@kernel
class Propagation(OnVertices):
    """Σ_{t=0}^{steps} Σ over vertices of x and z of 1[same bin after t steps]: for graphs with vertex attributes.

    In a step each vertex takes the mean of its neighbours' distributions of labels and of their attributes; a bin is an
    interval of length ``width`` of a random projection of these, another one for each t. The projections follow from
    ``random_state`` and the labels themselves, so that they are the same for all data. Cost: O(steps² · edges).

    Parameters
    ----------
    steps : int, default=4
        How often labels and attributes spread, at least 0.
    width : float, default=0.01
        The length of a bin, > 0. Small widths ask for near equality; attributes should be of comparable scale.
    random_state : int, default=0
        The seed of the projections, at least 0.

    See Also
    --------
    WeisfeilerLehman : For labels without attributes.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting. Propagation kernels: efficient graph kernels from
       propagated
       information. Machine Learning 102, 2016.

    Examples
    --------
    >>> import mercer as mc
    >>> edges = [(0, 1), (1, 2)]
    >>> x = mc.Graph(edges, attributes=[[0.0], [1.0], [0.0]])
    >>> z = mc.Graph(edges, attributes=[[0.0], [1.0], [5.0]])
    >>> mc.Propagation(steps=1, width=0.5)([x, z])
    array([[14., 10.],
           [10., 10.]])
    """

    domain: ClassVar[Domain] = Graphs(numbers=True)
    _integer_features = True
    steps: int = natural(4, minimum=0)
    width: float = positive(0.01, continuous=False)
    random_state: int = natural(0, minimum=0)

    def _map(self, X: PackedGraphs) -> HashedRows:
        parts = []
        for t in range(int(self.steps) + 1):
            codes = self._codes(X, t)
            parts.append(by_batches(X.relabelled(codes), lambda some: counted(some.labels, some.offsets)))
        return side_by_side(parts)

    def _codes(self, X: PackedGraphs, t: int) -> Any:
        """A code of the bins of each vertex after t steps."""
        codes = np.zeros(len(X.labels), np.uint64)
        for bins in self._bins(X, t):
            codes = mix(codes + bins.view(np.uint64) + np.uint64(1))
        return codes

    def _occurrences(self, x: PackedGraphs) -> Occurrences | None:
        """After t steps a vertex has something of all that are up to t edges away."""
        near, n = around(x), len(x.labels)
        return together(
            [
                Occurrences.of(salted(self._codes(x, t), t), [np.flatnonzero(row <= t) for row in near], n)
                for t in range(int(self.steps) + 1)
            ]
        )

    def _words(self, x: PackedGraphs, g: Written) -> dict[int, Any]:
        """The numbers of the bins, of labels and of attributes; before the first step also the label."""
        found: dict[int, Any] = {}
        for t in range(int(self.steps) + 1):
            codes, bins = salted(self._codes(x, t), t).tolist(), np.transpose(self._bins(x, t)).tolist()
            for v, (code, own) in enumerate(zip(codes, bins, strict=True)):
                what = "; ".join(f"{part} {b}" for part, b in zip(("labels", "attributes"), own, strict=False))
                found.setdefault(code, f"step {t}: {what}" if t else f"{g.text(v)}: {what}")
        return found

    def _bins(self, X: PackedGraphs, t: int) -> list[Any]:
        """The bins of each vertex after t steps: by its labels and, where there are any, by its attributes."""
        from mercer.native import graphs

        rng = np.random.default_rng([int(self.random_state), t])
        salt, shift = np.uint64(rng.integers(2**63)), rng.random(2)
        uniform = (mix(X.labels + salt) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
        fields = [ndtri(uniform)]
        if X.attributes is not None:
            fields.append(X.attributes @ rng.standard_normal(X.attributes.shape[1]))
        degree = int(np.diff(X.starts).max(initial=1))
        largest = max(float(np.abs(f).max(initial=0.0)) for f in fields)
        if largest * degree >= _UNIT / 4:
            raise DataError(
                f"Propagation: attributes of size {largest:.3g} are too large for degree {degree}; divide them, and"
                " width, alike.",
                "M120",
            )
        if largest / float(self.width) >= _MOST_BINS:
            raise DataError(
                f"Propagation(width={self.width}): numbers of size {largest:.3g} fall into more bins than can be"
                " counted; take a larger width.",
                "M120",
            )
        found = []
        for field, b in zip(fields, shift, strict=False):
            z = np.round(field * _UNIT).astype(np.int64)
            for _ in range(t):
                z = graphs.means(X.offsets, X.starts, X.ends, z)
            found.append(np.floor(z / (_UNIT * float(self.width)) + b).astype(np.int64))
        return found
