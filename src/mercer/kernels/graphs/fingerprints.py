"""Fingerprints of molecules as sets or bags of features, for ``Tanimoto`` and ``MinMax``. RDKit computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.annotations import Samples
from mercer.data import Bits, Domain, HashedRows
from mercer.data.fingerprints import Fingerprints
from mercer.data.invariants import Invariants
from mercer.data.molecules import Molecules, atom_count, tell_of_charge_and_chirality
from mercer.data.representations import offsets_of
from mercer.kernels.base import kernel
from mercer.kernels.families import Explicit
from mercer.kernels.occurrences import Occurrences
from mercer.kernels.parameters import natural
from mercer.native.mixing import mix
from mercer.troubles import coded


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
    invariants: Any = None
    _least: ClassVar[int] = 1  # of the bits
    charged: ClassVar[bool] = True  # whether features tell charges
    chiral: ClassVar[bool] = True  # whether they can tell chirality

    def _options(self) -> dict[str, Any]:
        return {}

    def _validate(self) -> None:
        if self.bits is not None and not (isinstance(self.bits, int | np.integer) and self.bits >= self._least):
            raise ValueError(
                coded(
                    f"{type(self).__name__}(bits={self.bits!r}): bits must be a whole number of at least {self._least},"
                    " or None to fold nothing.",
                    "M205",
                )
            )
        if self.invariants is not None:
            Invariants.of(self.invariants)

    @property
    def _fingerprints(self) -> Fingerprints:
        return Fingerprints(
            self.kind,
            self._options() | ({"includeChirality": True} if self.chirality else {}),
            self.bits,
            self.counts,
            None if self.invariants is None else Invariants.of(self.invariants),
        )

    def _codes(self, keys: Sequence[int]) -> Any:
        codes = np.array(keys, np.uint64)
        return codes if self.bits is not None else mix(codes + np.uint64(1))

    def _occurrences(self, x: Samples) -> Occurrences | None:
        found = self._fingerprints.occurrences(x[0])
        return Occurrences.of(self._codes([o.key for o in found]), [o.atoms for o in found], atom_count(x[0]))

    def _names(self, X: Samples) -> dict[int, Any]:
        found: dict[int, dict[str, None]] = {}
        for item in self.domain.check(X):
            for key, word in self._fingerprints.words(item).items():
                if self.bits is not None or key not in found:
                    found.setdefault(key, {}).update(dict.fromkeys(word.split(" | ")))
        codes = self._codes(list(found)).tolist()
        names = {code: " | ".join(words) for code, words in zip(codes, found.values(), strict=True)}
        return {j: f"bit {j}" for j in range(self.bits or 0)} | names

    def _map(self, X: Samples) -> Any:
        found = self._fingerprints.of(X)
        name, instead = type(self).__name__, "Morgan(chirality=True) tells both charge and chirality"
        cure = (
            f"{name}(chirality=True) does, {name}(chirality=False) says that it is not meant"
            if self.chiral
            else instead
        )
        tell_of_charge_and_chirality(X, charge=True if self.charged else None, chirality=self.chirality, cure=cure)
        if self.bits is not None:
            return found.astype(np.float64) if self.counts else Bits.of(found != 0)
        values = np.array([count if self.counts else 1 for row in found for count in row.values()], np.float64)
        codes = self._codes([key for row in found for key in row])
        return HashedRows(codes, values, offsets_of([len(row) for row in found]))


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
    invariants : str, callable, or list of them, optional
        What atoms are told apart by, in place of RDKit's own choice: "element", "isotope", "charge", "hydrogens",
        "degree", "aromatic", "ring", "ring_size", "hybridization", "pharmacophore" (of radius 2: FCFP4), the name
        of a property of the atoms of RDKit molecules, or a function of an RDKit atom.

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
    >>> sorted(mc.Morgan(1).feature_names(["CO"]))  # SMARTS patterns
    ['[CH3]', '[OH]', '[OH][CH3]']
    """

    kind: ClassVar[str] = "Morgan"
    radius: int = natural(2, minimum=0)
    counts: bool = False
    bits: int | None = None
    chirality: bool | None = None
    invariants: Any = None

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
    invariants : str, callable, or list of them, optional
        What atoms are told apart by, in place of RDKit's own choice: "element", "isotope", "charge", "hydrogens",
        "degree", "aromatic", "ring", "ring_size", "hybridization", "pharmacophore", the name of a property of the
        atoms of RDKit molecules, or a function of an RDKit atom.

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
    invariants: Any = None

    def _options(self) -> dict[str, Any]:
        # a column of its own for each feature is one; RDKit sets two bits for each where they are folded
        return {"maxPath": int(self.length)} | ({"numBitsPerFeature": 1} if self.bits is None else {})


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
    invariants : str, callable, or list of them, optional
        What atoms are told apart by, in place of RDKit's own choice: "element", "isotope", "charge", "hydrogens",
        "degree", "aromatic", "ring", "ring_size", "hybridization", "pharmacophore", the name of a property of the
        atoms of RDKit molecules, or a function of an RDKit atom.

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
    _least: ClassVar[int] = 5  # RDKit keeps four for how often a pair occurs
    counts: bool = False
    bits: int | None = None
    chirality: bool | None = None
    invariants: Any = None
