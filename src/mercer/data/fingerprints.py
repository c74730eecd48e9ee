"""RDKit's fingerprints of molecules: the features, the atoms that they cover, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mercer.arrays import Array
from mercer.data.invariants import Invariants
from mercer.data.molecules import chemistry, molecule
from mercer.data.tables import DataError

if TYPE_CHECKING:
    from rdkit import Chem


class Found(NamedTuple):
    """An occurrence of a feature: its key, its atoms, the bonds between them that belong to it, and for Morgan's the
    atom in the middle.
    """

    key: int
    atoms: tuple[int, ...]
    bonds: tuple[int, ...] = ()
    middle: int = -1


@dataclass(frozen=True)
class Fingerprints:
    """What RDKit's generator ``kind`` finds with ``options``. With ``bits``, features are folded into so many columns;
    ``counts``: how often, else whether. ``invariants``: what atoms are told apart by, in place of RDKit's own.
    """

    kind: str
    options: dict[str, Any] = field(default_factory=dict)
    bits: int | None = None
    counts: bool = False
    invariants: Invariants | None = None

    def of(self, X: list[Any]) -> Any:
        """Of molecules: with ``bits``, an array; else, for each, how often each of its features occurs."""
        maker = self._maker()
        found = []
        for i, item in enumerate(X):
            try:
                mol = molecule(item)
                own = self._own(mol)
            except DataError as error:
                raise DataError(f"Item {i} of the molecules: {error}.", "M110") from None
            if self.bits is None:
                found.append(maker.GetSparseCountFingerprint(mol, **own).GetNonzeroElements())
            else:
                take = maker.GetCountFingerprintAsNumPy if self.counts else maker.GetFingerprintAsNumPy
                found.append(take(mol, **own))
        return found if self.bits is None else np.array(found).reshape(len(X), self.bits)

    def occurrences(self, item: str | Chem.Mol) -> list[Found]:
        """Each occurrence of a feature in one molecule."""
        return list(self._occurrences(molecule(item)))

    def words(self, item: str | Chem.Mol) -> dict[int, str]:
        """What the features of one molecule are called, by their keys; the names of features that were folded into one
        column are joined.
        """
        mol = molecule(item)
        write = _WRITERS[self.kind](mol)
        found: dict[int, dict[str, None]] = {}
        for each in self._occurrences(mol):
            names = found.setdefault(each.key, {})
            if self.bits is not None or not names:
                names[write(each)] = None
        return {key: " | ".join(names) for key, names in found.items()}

    def _maker(self) -> Any:
        chemistry()
        from rdkit.Chem import rdFingerprintGenerator

        made = getattr(rdFingerprintGenerator, f"Get{self.kind}Generator")
        return made(**self.options, **({} if self.bits is None else {"fpSize": self.bits}))

    def _own(self, mol: Chem.Mol) -> dict[str, Any]:
        return {} if self.invariants is None else {"customAtomInvariants": self.invariants.numbers(mol)}

    def _occurrences(self, mol: Chem.Mol) -> Iterator[Found]:
        from rdkit.Chem import rdFingerprintGenerator

        maker, told = self._maker(), rdFingerprintGenerator.AdditionalOutput()
        told.AllocateBitInfoMap()
        told.AllocateBitPaths()
        if self.bits is None:
            maker.GetSparseCountFingerprint(mol, additionalOutput=told, **self._own(mol))
        else:
            take = maker.GetCountFingerprint if self.counts else maker.GetFingerprint
            take(mol, additionalOutput=told, **self._own(mol))
        if self.kind == "RDKitFP":
            for key, paths in told.GetBitPaths().items():
                for bonds in paths:
                    yield Found(key, _ends(mol, bonds), tuple(bonds))
            return
        apart = chemistry().GetDistanceMatrix(mol) if mol.GetNumAtoms() else np.zeros((0, 0))
        for key, pairs in told.GetBitInfoMap().items():
            for a, b in pairs:  # an atom and a radius, or two atoms
                yield _around(mol, apart, key, a, b) if self.kind == "Morgan" else Found(key, (a, b))


def _ends(mol: Chem.Mol, bonds: Iterable[int]) -> tuple[int, ...]:
    ends = ((mol.GetBondWithIdx(b).GetBeginAtomIdx(), mol.GetBondWithIdx(b).GetEndAtomIdx()) for b in bonds)
    return tuple(sorted({atom for pair in ends for atom in pair}))


def _around(mol: Chem.Mol, apart: Array, key: int, middle: int, radius: int) -> Found:
    bonds = chemistry().FindAtomEnvironmentOfRadiusN(mol, radius, middle, enforceSize=False) if radius else ()
    return Found(key, tuple(np.flatnonzero(apart[middle] <= radius).tolist()), tuple(bonds), middle)


# ---------------------------------------------------------------------------------------------------------------------
# What features are called
# ---------------------------------------------------------------------------------------------------------------------


def _environments(mol: Chem.Mol) -> Any:
    """Neighbourhoods as SMARTS from the atom in the middle outwards: each atom with its hydrogens, R in a ring."""
    chem, mapping = chemistry(), list[tuple[int, ...]]()
    # a text begins at an atom of choice only in a molecule of one piece
    pieces = chem.GetMolFrags(mol, asMols=True, sanitizeFrags=False, fragsMolAtomMapping=mapping)
    at = {atom: (p, place) for p, atoms in enumerate(mapping) for place, atom in enumerate(atoms)}
    patterns = [[_pattern(mol.GetAtomWithIdx(atom)) for atom in atoms] for atoms in mapping]
    for piece in pieces:
        chem.FastFindRings(piece)

    def write(found: Found) -> str:
        p, middle = at[found.middle]
        ends = [(mol.GetBondWithIdx(b).GetBeginAtomIdx(), mol.GetBondWithIdx(b).GetEndAtomIdx()) for b in found.bonds]
        return str(
            chem.MolFragmentToSmiles(
                pieces[p],
                [at[atom][1] for atom in found.atoms],
                [pieces[p].GetBondBetweenAtoms(at[u][1], at[v][1]).GetIdx() for u, v in ends],
                atomSymbols=patterns[p],
                rootedAtAtom=middle,
                isomericSmiles=False,
            )
        )

    return write


def _pattern(atom: Chem.Atom) -> str:
    symbol, hydrogens, charge = atom.GetSymbol(), atom.GetTotalNumHs(), atom.GetFormalCharge()
    written = symbol.lower() if atom.GetIsAromatic() else symbol
    if symbol == "H":
        written = "#1"  # in a pattern, H after something else counts hydrogens
    return (
        f"[{atom.GetIsotope() or ''}{written}"
        + ("" if not hydrogens else "H" if hydrogens == 1 else f"H{hydrogens}")
        + ("R" if atom.IsInRing() else "")
        + ("" if not charge else f"{'+' if charge > 0 else '-'}{abs(charge) if abs(charge) > 1 else ''}")
        + "]"
    )


def _subgraphs(mol: Chem.Mol) -> Any:
    """Paths and branched subgraphs as SMILES of their atoms alone; aromatic ones in small letters."""
    symbols = [atom.GetSymbol().lower() if atom.GetIsAromatic() else atom.GetSymbol() for atom in mol.GetAtoms()]

    def write(found: Found) -> str:
        return str(
            chemistry().MolFragmentToSmiles(mol, found.atoms, found.bonds, atomSymbols=symbols, isomericSmiles=False)
        )

    return write


def _pairs(mol: Chem.Mol) -> Any:
    """Pairs of atoms as Carhart wrote them: CX1-(2)-OX1 are atoms with one neighbour, two bonds apart; a dot for each
    electron in a π orbital.
    """
    kinds = [
        f"{atom.GetSymbol()}X{atom.GetDegree()}{'.' * chemistry().GetNumPiElectrons(atom)}" for atom in mol.GetAtoms()
    ]
    apart = chemistry().GetDistanceMatrix(mol) if mol.GetNumAtoms() else np.zeros((0, 0))

    def write(found: Found) -> str:
        first, second = found.atoms
        one, other = sorted((kinds[first], kinds[second]))
        return f"{one}-({int(apart[first, second])})-{other}"

    return write


_WRITERS = {"Morgan": _environments, "RDKitFP": _subgraphs, "AtomPair": _pairs}
