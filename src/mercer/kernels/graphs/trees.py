"""Kernels between parse trees."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mercer.annotations import Items
from mercer.arrays import Array
from mercer.data import Domain
from mercer.data.trees import PackedTrees, Trees
from mercer.kernels.base import kernel
from mercer.kernels.graphs.pairs import PairwiseKernel
from mercer.kernels.parameters import positive
from mercer.troubles import coded

_FRAGMENTS = ("subset", "subtree")


@kernel
class TreeKernel(PairwiseKernel):
    """Σ over common fragments of two ordered trees of decay^(number of inner nodes), each pair of occurrences once.

    For parse trees. A fragment has, with each of its inner nodes, all children of that node; a leaf alone is no
    fragment. Trees are nested tuples or lists (label, child, …), text in brackets, "(S (NP John) (VP sees))", or
    objects with ``label()`` that are lists of their children (nltk). Cost: O(|x||z|) per pair. ``normalized()`` keeps
    large trees from having large values.

    Parameters
    ----------
    decay : float, default=0.4
        > 0, the weight of a fragment for each inner node: small values keep large fragments from dominating.
    fragments : {"subset", "subtree"}, default="subset"
        "subset": a child may be cut, and is then a bare label (subset trees [1]_). "subtree": everything below a node
        is in the fragment [2]_.

    References
    ----------
    .. [1] M. Collins and N. Duffy. Convolution kernels for natural language. NIPS 2002.
    .. [2] S. V. N. Vishwanathan and A. J. Smola. Fast kernels for string and tree matching. NIPS 2003.

    Examples
    --------
    >>> import mercer as mc
    >>> trees = ["(NP (D a) (N dog))", "(NP (D a) (N cat))"]
    >>> mc.TreeKernel(decay=1.0)(trees)
    array([[6., 3.],
           [3., 6.]])
    >>> mc.TreeKernel().normalized()(trees).round(3)
    array([[1.   , 0.606],
           [0.606, 1.   ]])
    """

    domain: ClassVar[Domain] = Trees()
    decay: float = positive(0.4, continuous=False)
    fragments: str = "subset"

    def _validate(self) -> None:
        if self.fragments not in _FRAGMENTS:
            raise ValueError(
                coded(
                    f"TreeKernel(fragments={self.fragments!r}): choose one of {', '.join(map(repr, _FRAGMENTS))}.",
                    "M205",
                )
            )

    def _cost(self, A: PackedTrees, B: PackedTrees) -> float:
        return float(np.mean(np.diff(A.offsets))) * len(B.productions)

    def _sums(self, A: Items, B: Items, same: bool, first: int, out: Array, powers: Array) -> None:
        from mercer.native import trees

        sides = [(x.offsets, x.productions, x.starts, x.children) for x in (A, B)]
        trees.fragments(*sides[0], *sides[1], float(self.decay), self.fragments == "subtree", same, first, out, powers)
