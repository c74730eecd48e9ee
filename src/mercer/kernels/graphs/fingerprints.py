"""Fingerprints of molecules as sets or bags of features, for ``Tanimoto`` and ``MinMax``. RDKit computes them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.data import Bits, Domain, HashedRows
from mercer.data.molecules import Molecules, fingerprints, tell_of_charge_and_chirality
from mercer.data.representations import offsets_of
from mercer.kernels.base import kernel
from mercer.kernels.families import Explicit
from mercer.kernels.parameters import natural
from mercer.native.mixing import mix


class Fingerprint(Explicit):
    """⟨φ(x), φ(z)⟩ over the features that RDKit's generator ``kind`` finds in a molecule: leaves its options to write.

    Without ``bits`` each feature is a column of its own, as RDKit numbers it; with it they are folded into so many
    columns. ``counts``: how often, else whether.
    """

    domain: ClassVar[Domain] = Molecules()
    _integer_features = True
    kind: ClassVar[str]
    counts: bool
    bits: int | None
    chirality: bool | None = None
    charged: ClassVar[bool] = True  # whether features tell charges
    chiral: ClassVar[bool] = True  # whether they can tell chirality

    def _options(self) -> dict[str, Any]:
        return {}

    def _validate(self) -> None:
        if self.bits is not None and not (isinstance(self.bits, int | np.integer) and self.bits > 0):
            raise ValueError(
                f"{type(self).__name__}(bits={self.bits!r}): bits must be a whole number of at least 1, or None to fold"
                " nothing."
            )

    def _map(self, X: Any) -> Any:
        options = self._options() | ({"includeChirality": True} if self.chirality else {})
        found = fingerprints(X, self.kind, options, bits=self.bits, counts=self.counts)
        name, instead = type(self).__name__, "Morgan(chirality=True) tells both charge and chirality"
        cure = (
            f"{name}(chirality=True) does, {name}(chirality=False) says that it is not meant"
            if self.chiral
            else instead
        )
        tell_of_charge_and_chirality(X, charge=True if self.charged else None, chirality=self.chirality, cure=cure)
        if self.bits is not None:
            return found.astype(np.float64) if self.counts else Bits.of(found != 0)
        codes = np.array([key for row in found for key in row], np.uint64)
        values = np.array([count if self.counts else 1 for row in found for count in row.values()], np.float64)
        return HashedRows(mix(codes + np.uint64(1)), values, offsets_of([len(row) for row in found]))


@kernel
class Morgan(Fingerprint):
    """Common circular neighbourhoods of atoms of radius 0 … ``radius``: Morgan fingerprints, of radius 2 also called
    ECFP4. Rogers & Hahn 2010.
    """

    kind: ClassVar[str] = "Morgan"
    radius: int = natural(2, minimum=0)
    counts: bool = False
    bits: int | None = None
    chirality: bool | None = None

    def _options(self) -> dict[str, Any]:
        return {"radius": int(self.radius)}


@kernel
class TopologicalPaths(Fingerprint):
    """Common paths and branched subgraphs of 1 … ``length`` bonds: RDKit's topological fingerprint."""

    charged: ClassVar[bool] = False
    chiral: ClassVar[bool] = False
    kind: ClassVar[str] = "RDKitFP"
    length: int = natural(7)
    counts: bool = False
    bits: int | None = None

    def _options(self) -> dict[str, Any]:
        return {"maxPath": int(self.length)}


@kernel
class AtomPairs(Fingerprint):
    """Common pairs of atoms with the number of bonds between them. Carhart, Smith & Venkataraghavan 1985."""

    kind: ClassVar[str] = "AtomPair"
    counts: bool = False
    bits: int | None = None
    chirality: bool | None = None
