"""Kernels between parse trees."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Array
from mercer.data import Domain
from mercer.data.trees import PackedTrees, Trees
from mercer.kernels.base import kernel
from mercer.kernels.graphs.pairs import PairwiseKernel
from mercer.kernels.parameters import positive

_FRAGMENTS = ("subset", "subtree")


@kernel
class TreeKernel(PairwiseKernel):
    """Σ over common fragments of two ordered trees of decay^(number of their inner nodes), each pair of occurrences
    once.

    A fragment has, with each of its inner nodes, all children of that node. With ``fragments="subset"`` a child may be
    cut, and is then a bare label (subset trees, Collins & Duffy 2002); with "subtree" everything below is in it
    (Vishwanathan & Smola 2003). A leaf alone is none. Cost: O(|x||z|) per pair.
    """

    domain: ClassVar[Domain] = Trees()
    decay: float = positive(0.4, continuous=False)
    fragments: str = "subset"

    def _validate(self) -> None:
        if self.fragments not in _FRAGMENTS:
            raise ValueError(
                f"TreeKernel(fragments={self.fragments!r}): choose one of {', '.join(map(repr, _FRAGMENTS))}."
            )

    def _cost(self, A: PackedTrees, B: PackedTrees) -> float:
        return float(np.mean(np.diff(A.offsets))) * len(B.productions)

    def _sums(self, A: Any, B: Any, same: bool, first: int, out: Array, powers: Array) -> None:
        from mercer.native import trees

        sides = [(x.offsets, x.productions, x.starts, x.children) for x in (A, B)]
        trees.fragments(*sides[0], *sides[1], float(self.decay), self.fragments == "subtree", same, first, out, powers)
