"""Sums of a kernel between points over all pairs of a point of one set with a point of another."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Index, Items
from mercer.arrays import Array
from mercer.compute import Compute
from mercer.data import Ragged, Rep, chunks, take
from mercer.data.clouds import check_same_points
from mercer.data.representations import batches, spans, sums_of_rows, touched
from mercer.formula import recorded
from mercer.gram import Gram, KernelGram, departures
from mercer.kernels.base import Kernel
from mercer.troubles import coded

_WORTH_COMPILING = 2**20  # pairs of points, in blocks that are too small each
_OWN = 2**9  # points whose sets are compared with themselves together
_FEATURES = 2**22  # of points that are held


@dataclass(frozen=True, eq=False)
class Clouds:
    """The points of set i are the rows ``offsets[i]`` … ``offsets[i + 1]`` of ``rep``, which a kernel between points
    has prepared; ``columns`` is how many numbers a point has.
    """

    offsets: Array
    rep: Rep
    columns: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def points(self) -> int:
        """How many there are."""
        return int(self.offsets[-1])

    def take(self, rows: Index) -> Clouds:
        part, offsets = spans(self.offsets, rows)
        return Clouds(offsets, take(self.rep, part), self.columns)


class SumOverPairs(Kernel):
    """Σ over points a of x and b of z of κ(a, b): leaves ``_between_points()``, κ, to write.

    κ is a kernel of rows of numbers, and its derivatives by its parameters are those of this one. An empty set has the
    value 0 with every other. Values come in blocks: the matrix between all points is never there.
    """

    _mean: ClassVar[bool] = False  # whether the mean over the pairs, in place of the sum

    def _between_points(self) -> Kernel:
        """κ, with this kernel's parameters, which may be symbols."""
        raise NotImplementedError

    def _prepare(self, X: Ragged) -> Any:
        rep = prepared_points(self._between_points(), X.values) if len(X.values) else X.values
        return Clouds(X.offsets, rep, X.values.shape[1])

    def _gram(self, A: Items, B: Items, compute: Compute) -> Gram:
        if A.points and B.points:
            check_same_points(A.columns, B.columns)  # features would not say that it is sets that differ
        return super()._gram(A, B, compute)

    def _block(self, A: Items, B: Items) -> Any:
        return self._with_slopes(lambda pairs: recorded(pairs.block, A, B))

    def _diag(self, A: Items) -> Any:
        return self._with_slopes(lambda pairs: recorded(pairs.own, A))

    def _with_slopes(self, of: Callable[[_Pairs], Any]) -> Any:
        """What the sum of κ is of, and how it changes with each parameter that is a symbol: by the sum of ∂κ."""
        numbers: Any = getattr(self, "_with_numbers", self)
        inner, symbolic = numbers._between_points(), self._between_points()
        total = of(_Pairs(numbers, lambda a, b: KernelGram.of(inner, a, b, _HERE)))
        for name, departure in _symbols(symbolic).items():

            def slope(a: Rep, b: Rep, name: str = name) -> KernelGram:
                return KernelGram.gradients(inner, symbolic, a, b, _HERE)[name]

            total = total + departure * of(_Pairs(numbers, slope))
        return total


_HERE = Compute(threads=1)  # a block is on a thread already


def prepared_points(k: Kernel, points: Array) -> Rep:
    """Points, of which there are some, as a kernel of rows of numbers prepares them."""
    return k._prepare(k.domain.check(points))


def _symbols(k: Kernel) -> dict[str, Any]:
    """The departures of a kernel's parameters that are symbols, but for those that have gone into what it holds."""
    if k._bound_to_values:
        return {}
    mine = [departures(getattr(k, f.name)) for f in dataclasses.fields(k)]
    return {
        name: node for each in [*mine, *(_symbols(child) for _, child in k._children())] for name, node in each.items()
    }


class _Pairs:
    """The sums, over the pairs of points of two sets, of a matrix between points."""

    _halves = True

    def __init__(self, owner: SumOverPairs, gram: Callable[[Rep, Rep], KernelGram]) -> None:
        self.owner, self.gram = owner, gram

    def block(self, A: Items, B: Items, *, compiled: bool = False) -> Array:
        """The sums, or means, between some sets; of the same sets, each pair of them once."""
        if hasattr(A, "__formula__"):
            raise TypeError("sets of points are compared as they are, not as symbols")
        out = np.zeros((len(A), len(B)))
        if not A.points or not B.points:
            return out
        check_same_points(A.columns, B.columns)
        try:
            gram = self.gram(A.rep, B.rep)
            sums = (gram.compiled() if compiled else gram).sums(A.offsets, B.offsets, lower=B is A)
        except FloatingPointError as error:
            raise FloatingPointError(coded(f"{self.owner}, between the points of some sets: {error}", "M210")) from None
        if B is A:
            np.copyto(sums, sums.T, where=np.tri(len(sums), k=-1, dtype=bool).T)
        return sums / np.outer(_counts(A), _counts(B)) if self.owner._mean else sums

    def own(self, A: Items) -> Array:
        """The sums, or means, of each set with itself."""
        if hasattr(A, "__formula__"):
            raise TypeError("sets of points are compared as they are, not as symbols")
        parts = [A.take(some) for some in batches(A.offsets, _OWN)]
        many = A.points * _OWN >= _WORTH_COMPILING
        found = [np.diagonal(self.block(part, part, compiled=many)) for part in parts]
        return np.concatenate([np.empty(0), *found])


def _counts(A: Clouds) -> Array:
    """How many points each set has; 1 for an empty one, so that one can divide by it."""
    return np.maximum(np.diff(A.offsets), 1)


def mean_features(offsets: Array, width: int, of: Callable[[slice], Any]) -> Array:
    """The mean over each set of what ``of`` says of its points, rows of ``width`` numbers; some points at a time."""
    out = np.zeros((len(offsets) - 1, width))
    for part in chunks(int(offsets[-1]), max(1, _FEATURES // max(1, width))):
        rows = of(part)
        sets, inside = touched(offsets, part)
        out[sets] += sums_of_rows(rows.toarray() if hasattr(rows, "toarray") else rows, inside)
    return out / np.maximum(np.diff(offsets), 1)[:, None]
