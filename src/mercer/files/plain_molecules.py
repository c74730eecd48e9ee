"""Molecules of RDKit and atoms of ASE in plain form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mercer.arrays import Array
from mercer.data.molecules import chemistry, is_ase
from mercer.files.plain_form import Plain

if TYPE_CHECKING:
    from ase import Atoms
    from rdkit import Chem


def in_plain_form(value: Any) -> Plain | None:
    """The plain form of a molecule; None of anything else."""
    if hasattr(value, "GetAtoms") and hasattr(value, "GetNumConformers"):
        return Molecule.of(value)
    return AtomsInSpace.of(value) if is_ase(value) else None


@dataclass(frozen=True)
class Molecule(Plain):
    """A molecule of RDKit as its JSON, with conformers, and the properties of its atoms that the JSON leaves out."""

    json: str
    properties: list[Any]

    @classmethod
    def of(cls, mol: Chem.Mol) -> Molecule:
        found = [atom.GetPropsAsDict(True, False) for atom in mol.GetAtoms()]
        kept = [{k: v for k, v in each.items() if type(v) in _SETTERS} for each in found]
        return cls(str(chemistry().MolToJSON(mol)), kept if any(kept) else [])

    def restored(self) -> Any:
        chem = chemistry()
        [mol] = chem.JSONToMols(self.json)
        mol.UpdatePropertyCache(strict=False)
        chem.GetSymmSSSR(mol)  # rings are not in the JSON of a molecule without any
        for atom, own in zip(mol.GetAtoms(), self.properties, strict=False):
            for name, value in own.items():
                getattr(atom, _SETTERS[type(value)])(name, value)
        return mol


_SETTERS = {str: "SetProp", int: "SetIntProp", float: "SetDoubleProp", bool: "SetBoolProp"}


@dataclass(frozen=True)
class AtomsInSpace(Plain):
    """ASE's ``Atoms``: what they are, where, and the cell that repeats them."""

    numbers: Array
    positions: Array
    cell: Array
    periodic: Array

    @classmethod
    def of(cls, atoms: Atoms) -> AtomsInSpace:
        return cls(atoms.get_atomic_numbers(), atoms.get_positions(), atoms.get_cell()[:], atoms.get_pbc())

    def restored(self) -> Any:
        from ase import Atoms

        return Atoms(self.numbers, positions=self.positions, cell=self.cell, pbc=self.periodic)
