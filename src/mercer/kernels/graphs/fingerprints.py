"""Fingerprints of molecules as sets or bags of features, for ``Tanimoto`` and ``MinMax``. RDKit computes them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Samples
from mercer.data import Bits, Domain, HashedRows
from mercer.data.molecules import Molecules, atoms_of_features, fingerprints, tell_of_charge_and_chirality
from mercer.data.representations import offsets_of
from mercer.kernels.base import kernel
from mercer.kernels.families import Explicit
from mercer.kernels.occurrences import Occurrences
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

    def _all_options(self) -> dict[str, Any]:
        return self._options() | ({"includeChirality": True} if self.chirality else {})

    def _occurrences(self, x: Any) -> Occurrences | None:
        found = atoms_of_features(x[0], self.kind, self._all_options(), bits=self.bits, counts=self.counts)
        codes = np.array(found[0], np.uint64)
        return Occurrences.of(codes if self.bits is not None else mix(codes + np.uint64(1)), *found[1:])

    def _map(self, X: Samples) -> Any:
        found = fingerprints(X, self.kind, self._all_options(), bits=self.bits, counts=self.counts)
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
    """Common circular neighbourhoods of atoms of radius 0 … ``radius``: Morgan fingerprints, of radius 2 called ECFP4.

    The standard description of molecules for activity and property models, usually as ``Tanimoto(Morgan())``. Molecules
    are SMILES strings or RDKit objects; RDKit computes the features. Charges are part of them; chirality is on request.

    Parameters
    ----------
    radius : int, default=2
        At least 0: how many bonds a neighbourhood reaches.
    counts : bool, default=False
        Whether features count how often a neighbourhood occurs, or say that it does.
    bits : int, optional
        Fold the features into so many columns, 2048 for instance; different neighbourhoods may then share one. None:
        each feature is a column of its own, as RDKit numbers it.
    chirality : bool, optional
        Whether neighbourhoods tell chirality. None: not, with a warning where molecules have any; False: not, and no
        warning.

    Warns
    -----
    IgnoredWarning
        When ``chirality`` is None and a molecule has chirality.

    See Also
    --------
    AtomPairs : Pairs of atoms and their distance.
    TopologicalPaths : Paths and branched subgraphs.
    Tanimoto : The usual similarity of fingerprints.

    References
    ----------
    .. [1] D. Rogers and M. Hahn. Extended-connectivity fingerprints. Journal of Chemical Information and Modeling 50,
       2010.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Tanimoto(mc.Morgan())(["CCO", "CCN", "c1ccccc1"]).round(3)
    array([[1.   , 0.333, 0.   ],
           [0.333, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
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
    """Common paths and branched subgraphs of 1 … ``length`` bonds: RDKit's topological fingerprint.

    Molecules are SMILES strings or RDKit objects. Its features tell neither charges nor chirality; ``Morgan`` does.

    Parameters
    ----------
    length : int, default=7
        At least 1: the largest number of bonds.
    counts : bool, default=False
        Whether features count how often a subgraph occurs, or say that it does.
    bits : int, optional
        Fold the features into so many columns. None: each feature is a column of its own.

    Warns
    -----
    IgnoredWarning
        When a molecule has charges or chirality, which these features do not tell.

    See Also
    --------
    Morgan : Circular neighbourhoods.
    PathBag : Paths alone, of any labelled graphs, without RDKit's rules.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Tanimoto(mc.TopologicalPaths(length=3))(["CCO", "CCN", "CCCO"]).round(3)
    array([[1.   , 0.2  , 0.6  ],
           [0.2  , 1.   , 0.143],
           [0.6  , 0.143, 1.   ]])
    """

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
    """Common pairs of atoms with the number of bonds between them: atom pair fingerprints.

    Molecules are SMILES strings or RDKit objects; RDKit computes the features. They describe the shape of a molecule
    beyond the neighbourhoods that ``Morgan`` sees.

    Parameters
    ----------
    counts : bool, default=False
        Whether features count how often a pair occurs, or say that it does.
    bits : int, optional
        Fold the features into so many columns. None: each feature is a column of its own.
    chirality : bool, optional
        Whether atoms tell chirality. None: not, with a warning where molecules have any; False: not, and no warning.

    Warns
    -----
    IgnoredWarning
        When ``chirality`` is None and a molecule has chirality.

    See Also
    --------
    Morgan : Circular neighbourhoods.
    Tanimoto : The usual similarity of fingerprints.

    References
    ----------
    .. [1] R. E. Carhart, D. H. Smith and R. Venkataraghavan. Atom pairs as molecular features in structure-activity
       studies. Journal of Chemical Information and Computer Sciences 25, 1985.

    Examples
    --------
    >>> import mercer as mc
    >>> mc.Tanimoto(mc.AtomPairs())(["CCO", "CCN", "CCCO"]).round(3)
    array([[1.   , 0.2  , 0.286],
           [0.2  , 1.   , 0.125],
           [0.286, 0.125, 1.   ]])
    """

    kind: ClassVar[str] = "AtomPair"
    counts: bool = False
    bits: int | None = None
    chirality: bool | None = None
