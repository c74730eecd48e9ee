"""Samples that are spread over many machines, as a solver sees them: it asks for sums over their pieces.

A pass sends some vectors of the landmarks and a function, and gets Σ over the pieces of what the function answers. No
vector of all samples is ever in one place: what a solver needs of the samples one by one is a function of what is sent,
or stays with the piece as its *state*. A few samples, drawn with chances in proportion to their weights, are fetched
once: they say what the system is like (``landmark_sample``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from mercer import arrays
from mercer.arrays import Array
from mercer.data import chunks
from mercer.gram import Gram, Landmarks
from mercer.gram.nystrom import together
from mercer.solvers.landmark_sample import inner_product, sample_size
from mercer.solvers.landmarks import in_float64

Answer = tuple[Any, ...]


class Piece(NamedTuple):
    """Samples that lie together: their values with the landmarks, whose factor is the root, targets, weights, and what
    a solver left there.
    """

    values: Gram
    root: Array
    targets: Array
    weights: Array
    state: Any = None
    own: Callable[[], Array] = lambda: np.zeros(0)  # k(x, x)

    def normal(self, V: Array, between: Callable[[slice, Array], Array], *, exact: bool = True) -> Array:
        """C^T h(C V), in float64 where it is to be ``exact``, else in the precision of the data."""
        C = in_float64(self.values) if exact else self.values
        return np.asarray(arrays.to_numpy(C.normal(V, between)))

    def product(self, V: Array) -> Array:
        """C V in float64."""
        return np.asarray(arrays.to_numpy(in_float64(self.values) @ V))

    def inner(self, d: Array, *, bias: bool) -> Array:
        """Φ^T D Φ, bordered by Φ^T D 1 where there is a bias, on and below the diagonal; rows of d = 0 cost nothing."""
        rows, m = np.flatnonzero(d), len(self.root)
        compute = self.values.compute
        C = in_float64(self.values)
        blocks = (
            (Landmarks(C.sub(rows[some], slice(None)), self.root).features(dtype=np.float64), d[rows[some]])
            for some in chunks(len(rows), together(m, compute.budget))
        )
        return inner_product(blocks, m, compute.workers, bias=bias)


class Passes(Protocol):
    """All pieces, wherever they are."""

    count: int  # samples
    weight: float  # Σ w
    coarse: bool  # whether there are float32 values, which first steps may use

    def total(self, stage: str, of: Callable[..., Answer], *args: Any) -> Answer:
        """Σ of(piece, *args), in the order of the pieces."""

    def each(self, stage: str, of: Callable[..., Any], *args: Any) -> list[Any]:
        """of(piece, *args) of each."""

    def leaving(self, stage: str, of: Callable[..., Any], *args: Any) -> Self:
        """The same pieces, whose state is of(piece, *args)."""

    def drawn(self, count: int) -> tuple[Gram, Array, Array]:
        """The values, targets and weights of about so many samples, drawn in proportion to their weights, which then
        say what all weigh.
        """


@dataclass(frozen=True, eq=False)
class Spread:
    """Functions of landmarks, on samples that are spread.

    Attributes
    ----------
    passes : Passes
        The samples.
    factor : ndarray of shape (m, m)
        L of the landmarks.
    """

    passes: Passes
    factor: Array

    def few(self, tol: float, budget: int, *, once: bool) -> tuple[Landmarks, Array, Array]:
        """A sample that says what Φ^T W Φ is like; its targets and weights."""
        m = len(self.factor)
        count = sample_size(self.passes.count, m, tol, budget, once=once, among=False)
        values, targets, weights = self.passes.drawn(count)
        weights = weights * (self.passes.weight / max(float(weights.sum()), 1e-300))
        return Landmarks(values, self.factor), targets, weights
