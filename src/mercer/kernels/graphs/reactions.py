"""Kernels between chemical reactions, made of kernels between molecules."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from mercer import arrays
from mercer.annotations import Items, Samples, Weights
from mercer.compute import Compute
from mercer.data import DataError, Domain, HashedRows, Ragged, chunks, leaves, size, take
from mercer.data.molecules import Molecules
from mercer.data.reactions import SIDES, Reactions
from mercer.formula import dot, sqnorm
from mercer.gram import KernelGram
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.composite import Composite
from mercer.kernels.graphs.fingerprints import Morgan
from mercer.kernels.occurrences import Occurrences

_TOGETHER = 8  # reactions whose products and reactants are compared in one block, of which the diagonal is needed


class OfReactions(Composite):
    """A kernel between molecules, applied to sides of reactions. The molecules of a side are compared as one, "A.B"."""

    _same_items = False
    base: Kernel

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return Reactions()

    @property
    def psd(self) -> bool | None:  # type: ignore[override]
        return True if self.base.psd else None

    @property
    def explicit(self) -> bool:  # type: ignore[override]
        return self.base.explicit

    @property
    def _compared(self) -> tuple[str, ...]:
        """The sides that are looked at."""
        raise NotImplementedError

    def _to_store(self, X: Samples) -> Any:
        return self.domain.to_store(X)

    def bind(self, X: Samples, weights: Weights = None) -> Kernel:
        if not self._data_driven:
            return self
        reactions, sides = self.domain.check(X), self._compared
        both = [each for side in sides for each in _side(reactions, side)]
        each = None if weights is None else np.tile(np.asarray(weights, np.float64), len(sides))
        return self._replace(base=self.base.bind(self.base.domain.check(both), each))

    def _entered_side(self, X: Samples, side: str) -> Any:
        try:
            return self.base._prepare(self.base.domain.check(_side(X, side)))
        except DataError as error:
            raise DataError(f"The {side} of the reactions: {error}") from None

    def _names(self, X: Samples) -> dict[int, Any]:
        reactions, found = self.domain.check(X), dict[int, Any]()
        for side in self._compared:
            found = self.base._names(_side(reactions, side)) | found
        return found


def _side(reactions: Samples, side: str) -> list[str]:
    place = SIDES.index(side)
    return [reaction[place] for reaction in reactions]


@kernel
class Reaction(OfReactions):
    """k(P, P′) + k(R, R′) − k(P, R′) − k(R, P′) over k = ``base``: what a reaction changes, φ(products) − φ(reactants).

    Reactions are reaction SMILES (reactants>agents>products), pairs of SMILES, or RDKit's. The molecules of a side are
    compared as one disconnected molecule, so that counts (``Morgan(counts=True)``) add up over them; agents are left
    out: ``Agents(base)`` compares these. Positive semi-definite over every positive semi-definite base, being an inner
    product of differences; explicit where the base is. Cost: two molecules of features a reaction, or four values of
    the base a pair.

    Parameters
    ----------
    base : Kernel, default=Morgan(counts=True)
        A kernel between molecules.

    See Also
    --------
    Reactants, Agents, Products : One side of a reaction; their sum compares both side by side.
    Morgan : Neighbourhoods of atoms.

    References
    ----------
    .. [1] N. Schneider, D. M. Lowe, R. A. Sayle and G. A. Landrum. Development of a novel fingerprint for chemical
       reactions and its application to large-scale reaction classification and similarity. Journal of Chemical
       Information and Modeling 55, 2015.

    Examples
    --------
    >>> import mercer as mc
    >>> esters = ["CCO.CC(=O)O>>CC(=O)OCC.O", "CO.CC(=O)O>>CC(=O)OC.O"]
    >>> oxidation = "CCO>>CC=O"
    >>> mc.Reaction(mc.Morgan(1, counts=True)).normalized()([*esters, oxidation]).round(2)
    array([[1.  , 0.72, 0.35],
           [0.72, 1.  , 0.18],
           [0.35, 0.18, 1.  ]])
    """

    usage: ClassVar[str] = "Reaction(base=Morgan(counts=True))"
    base: Kernel = Morgan(counts=True)

    @property
    def _compared(self) -> tuple[str, ...]:
        return "products", "reactants"

    def _prepare(self, X: Samples) -> Any:
        sides = tuple(self._entered_side(X, side) for side in self._compared)
        return _difference(*(self.base._features(side) for side in sides)) if self.explicit else sides

    def _block(self, A: Items, B: Items) -> Any:
        if self.explicit:
            return dot(A, B)
        pairs = self.base._pairs
        return pairs(A[0], B[0]) + pairs(A[1], B[1]) - pairs(A[0], B[1]) - pairs(A[1], B[0])

    def _diag(self, A: Items) -> Any:
        if self.explicit:
            return sqnorm(A)
        products, reactants = A
        if any(arrays.is_recorded(leaf) for leaf in leaves(A)):
            raise TypeError("both sides of a reaction are compared as they are, not as symbols")
        across = [
            np.diagonal(
                KernelGram.of(self.base, take(products, some), take(reactants, some), Compute(threads=1)).dense()
            )
            for some in chunks(size(products), _TOGETHER)
        ]
        return self.base._own(products) + self.base._own(reactants) - 2.0 * np.concatenate([[], *across])

    def _features(self, A: Items) -> Any:
        return A

    def _width(self, A: Items) -> int:
        return A.per_row if isinstance(A, HashedRows) else int(A.shape[1])


def _difference(products: Items, reactants: Items) -> Any:
    if isinstance(products, HashedRows):
        return products + -1.0 * reactants
    return products - reactants if sparse.issparse(products) else arrays.to_numpy(products) - arrays.to_numpy(reactants)


class OneSide(OfReactions):
    """base between one side of two reactions: leaves ``side`` to say."""

    side: ClassVar[str]

    @property
    def _compared(self) -> tuple[str, ...]:
        return (self.side,)

    def _prepare(self, X: Samples) -> Any:
        return self._entered_side(X, *self._compared)

    def _block(self, A: Items, B: Items) -> Any:
        return self.base._pairs(A, B)

    def _diag(self, A: Items) -> Any:
        return self.base._selfs(A)

    def _features(self, A: Items) -> Any:
        return self.base._features(A)

    def _width(self, A: Items) -> int:
        return self.base._width(A)

    def _occurrences(self, x: Items) -> Occurrences | None:
        """Those of the base, at the atoms of this side: the places of a reaction are its atoms, side by side."""
        found = self.base._occurrences(self.base.domain.check(_side(x, self.side)))
        if found is None:
            return None
        atoms = [len(own) for own in Molecules().labels(list(x[0])) or []]
        places = Ragged(found.places.values + sum(atoms[: SIDES.index(self.side)]), found.places.offsets)
        return Occurrences(found.codes, places, sum(atoms))

    @property
    def _integer_features(self) -> bool:  # type: ignore[override]
        return self.base._integer_features


@kernel
class Reactants(OneSide):
    """base(R, R′) between the reactants of two reactions.

    Parameters
    ----------
    base : Kernel, default=Morgan(counts=True)
        A kernel between molecules.

    See Also
    --------
    Reaction : What a reaction changes.

    Examples
    --------
    >>> import mercer as mc
    >>> side_by_side = mc.Reactants(mc.Morgan(1)) + mc.Products(mc.Morgan(1))
    >>> side_by_side(["CCO>>CC=O", "CO>>C=O"])
    array([[12.,  3.],
           [ 3.,  6.]])
    """

    usage: ClassVar[str] = "Reactants(base=Morgan(counts=True))"
    side: ClassVar[str] = "reactants"
    base: Kernel = Morgan(counts=True)


@kernel
class Agents(OneSide):
    """base(A, A′) between the agents of two reactions: solvents, catalysts, what is written between the signs >.

    Without agents a reaction has the empty molecule there, which has no features.

    Parameters
    ----------
    base : Kernel, default=Morgan(counts=True)
        A kernel between molecules.

    See Also
    --------
    Reaction : What a reaction changes.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Agents(mc.Morgan(0))(["CCO>O>CC=O", "CCO>>CC=O"])
    array([[1., 0.],
           [0., 0.]])
    """

    usage: ClassVar[str] = "Agents(base=Morgan(counts=True))"
    side: ClassVar[str] = "agents"
    base: Kernel = Morgan(counts=True)


@kernel
class Products(OneSide):
    """base(P, P′) between the products of two reactions.

    Parameters
    ----------
    base : Kernel, default=Morgan(counts=True)
        A kernel between molecules.

    See Also
    --------
    Reaction : What a reaction changes.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Products(mc.Tanimoto(mc.Morgan(1)))(["CCO>>CC=O", "CO>>C=O"]).round(3)
    array([[1.   , 0.125],
           [0.125, 1.   ]])
    """

    usage: ClassVar[str] = "Products(base=Morgan(counts=True))"
    side: ClassVar[str] = "products"
    base: Kernel = Morgan(counts=True)
