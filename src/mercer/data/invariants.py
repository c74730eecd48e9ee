"""What atoms of molecules are told apart by, beside their element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mercer.data.sequences import canonical, token_code
from mercer.data.tables import DataError, shown
from mercer.troubles import coded

if TYPE_CHECKING:
    from rdkit import Chem


def _of_atoms(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    return lambda mol: [read(atom) for atom in mol.GetAtoms()]


def _ring_sizes(mol: Chem.Mol) -> list[int]:
    """The size of the smallest ring that each atom is in; 0: in none."""
    rings = mol.GetRingInfo()
    return [int(rings.MinAtomRingSize(v)) for v in range(mol.GetNumAtoms())]


def _roles(mol: Chem.Mol) -> list[int]:
    """Donor, acceptor, aromatic, halogen, acid, base: RDKit's six bits of each atom."""
    from rdkit.Chem import rdMolDescriptors

    return [int(bits) for bits in rdMolDescriptors.GetFeatureInvariants(mol)] if mol.GetNumAtoms() else []


KNOWN: dict[str, Callable[[Any], list[Any]]] = {
    "element": _of_atoms(lambda atom: atom.GetSymbol()),
    "isotope": _of_atoms(lambda atom: atom.GetIsotope()),
    "charge": _of_atoms(lambda atom: atom.GetFormalCharge()),
    "hydrogens": _of_atoms(lambda atom: atom.GetTotalNumHs()),
    "degree": _of_atoms(lambda atom: atom.GetDegree()),
    "aromatic": _of_atoms(lambda atom: atom.GetIsAromatic()),
    "ring": _of_atoms(lambda atom: atom.IsInRing()),
    "ring_size": _ring_sizes,
    "hybridization": _of_atoms(lambda atom: str(atom.GetHybridization()).lower()),
    "pharmacophore": _roles,
}  # for each atom of a molecule


@dataclass(frozen=True)
class Invariants:
    """Some names of ``KNOWN``, names of properties that atoms have, or functions of an RDKit atom."""

    parts: tuple[Any, ...]

    @classmethod
    def of(cls, given: object) -> Invariants:
        """From one name or function, or a list of them; a ``TypeError`` else."""
        parts = tuple(given) if isinstance(given, list | tuple) else (given,)
        wrong = next((part for part in parts if not (isinstance(part, str) or callable(part))), None)
        if wrong is not None:
            raise TypeError(
                coded(
                    f"invariants={given!r}: give names ({', '.join(KNOWN)}, or of a property that atoms have) and"
                    " functions of an RDKit atom.",
                    "M205",
                )
            )
        return cls(parts)

    def labels(self, mol: Chem.Mol, symbols: list[str]) -> list[str]:
        """Labels with what is not as in an ordinary atom: C, C;aromatic, C;hydrogens=3, C;partial=0.1."""
        for part, values in zip(self.parts, self._columns(mol), strict=True):
            name = _name(part)
            for v, value in enumerate(values):
                ordinary = isinstance(part, str) and part in KNOWN and not value
                if not ordinary and part != "element":
                    symbols[v] += f";{name}" if value is True else f";{name}={value}"
        return symbols

    def numbers(self, mol: Chem.Mol) -> list[int]:
        """A number of 32 bits for each atom, the same for the same values."""
        return [token_code(canonical(values)) & 0xFFFFFFFF for values in zip(*self._columns(mol), strict=True)]

    def _columns(self, mol: Chem.Mol) -> list[list[Any]]:
        return [_values(part, mol) for part in self.parts]


def _name(part: str | Callable[[Any], Any]) -> str:
    return part if isinstance(part, str) else getattr(part, "__name__", "value")


def _values(part: str | Callable[[Any], Any], mol: Chem.Mol) -> list[Any]:
    if isinstance(part, str) and part in KNOWN:
        return KNOWN[part](mol)
    return [_value(part, atom) for atom in mol.GetAtoms()]


def _value(part: str | Callable[[Any], Any], atom: Chem.Atom) -> Any:
    if callable(part):
        value = part(atom)
    elif atom.HasProp(part):
        value = atom.GetPropsAsDict(includePrivate=True, includeComputed=True)[part]
    else:
        raise DataError(
            f"atom {atom.GetIdx()} ({atom.GetSymbol()}) has no property {part!r}; invariants are {', '.join(KNOWN)}, a"
            " property that all atoms have, or a function of an atom",
            "M110",
        )
    try:
        token_code(canonical(value))
    except (TypeError, DataError):
        raise DataError(
            f"the invariant {_name(part)} of atom {atom.GetIdx()} is {shown(value)}; it must be a number, a string or a"
            " tuple of them",
            "M110",
        ) from None
    return value
