"""Atoms in space: elements and positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.annotations import Samples
from mercer.arrays import Array
from mercer.data.objects import Domain
from mercer.data.representations import Rep
from mercer.data.sequences import is_missing, items_of
from mercer.data.tables import DataError, shown

_SYMBOLS = """
    H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb
    Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg
    Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og
""".split()  # noqa: SIM905
_NUMBER = {symbol: number for number, symbol in enumerate(_SYMBOLS, start=1)}
_EMBED = (
    "make one: mol = Chem.AddHs(mol); rdDistGeom.EmbedMolecule(mol, randomSeed=0), with Chem and rdDistGeom from"
    " rdkit and rdkit.Chem"
)


@dataclass(frozen=True)
class Structures(Domain):
    """Atoms in space: pairs (elements, positions) with elements as atomic numbers or symbols, xyz texts, ASE's
    ``Atoms``, RDKit molecules with a conformer in three dimensions. The internal form is a list of pairs of arrays.
    """

    def check(self, X: Samples) -> Rep:
        if isinstance(X, str) or hasattr(X, "GetAtoms") or hasattr(X, "get_atomic_numbers"):
            raise DataError("Expected a collection of structures, got one; put it in a list: [structure].", "M103")
        return [_structure(i, item) for i, item in enumerate(items_of(X, "structures"))]

    def to_store(self, X: Samples) -> Any:
        return self.check(X)

    def labels(self, X: Samples) -> list[list[Any]] | None:
        return [[_SYMBOLS[z - 1] for z in elements] for elements, _ in self.check(X)]


def _structure(i: int, item: object) -> tuple[Array, Array]:
    try:
        elements, positions = _parts(item)
        return _checked(elements, positions)
    except DataError as error:
        raise DataError(f"Item {i} of the structures: {error}.") from None


def _parts(item: Any) -> tuple[Any, Any]:
    if is_missing(item):
        raise DataError("it is missing", "M101")
    if hasattr(item, "GetAtoms"):
        if not item.GetNumConformers():
            raise DataError(f"the molecule has no conformer, hence no positions; {_EMBED}", "M117")
        if not item.GetConformer().Is3D():
            raise DataError(f"the conformer of the molecule is a drawing in two dimensions; {_EMBED}", "M117")
        return [atom.GetAtomicNum() for atom in item.GetAtoms()], item.GetConformer().GetPositions()
    if hasattr(item, "get_atomic_numbers"):
        return item.get_atomic_numbers(), item.get_positions()
    if isinstance(item, str):
        return _of_xyz(item)
    if isinstance(item, tuple | list) and len(item) == 2:
        return item[0], item[1]
    raise DataError(
        f"{shown(item)} is not a structure; give (elements, positions), an xyz text, ASE's Atoms, or an RDKit molecule"
        " with a conformer",
        "M107",
    )


def _of_xyz(text: str) -> tuple[list[str], list[list[float]]]:
    lines = text.strip("\n").split("\n")
    if not lines[0].strip().isdigit():
        raise DataError(
            f"{shown(text)} is not an xyz text, which begins with the number of atoms; a SMILES string has no"
            f" positions: {_EMBED}",
            "M117",
        )
    rows = [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != int(lines[0]):
        raise DataError(
            f"the xyz text says {int(lines[0])} atoms and has {len(rows)}; give one structure to an item", "M117"
        )
    elements, positions = [], []
    for number, row in enumerate(rows, start=3):
        try:
            positions.append([float(value) for value in row[1:4]])
            elements.append(row[0])
        except (ValueError, IndexError):
            positions.append([])
        if len(positions[-1]) != 3:
            raise DataError(
                f"line {number} of the xyz text is {shown(' '.join(row))}; it needs an element and x, y, z", "M117"
            )
    return elements, positions


def _checked(elements: Array | Sequence[Any], positions: Array | Sequence[Any]) -> tuple[Array, Array]:
    try:
        where = np.asarray(positions, np.float64).reshape(len(elements), -1 if len(elements) else 3)
    except (TypeError, ValueError):
        raise DataError("positions are three numbers for each element, a table of three columns", "M117") from None
    if len(where) and where.shape[1] != 3:
        raise DataError(
            f"positions are three numbers for each element, got an array of shape {np.shape(positions)}", "M117"
        )
    numbers = np.array([_element(element) for element in elements], np.int64)
    if not np.isfinite(where).all():
        raise DataError(
            f"atom {int(np.argmax(~np.isfinite(where).all(axis=1)))} has a position that is not finite", "M101"
        )
    return numbers, where.reshape(len(numbers), 3)


def _element(element: object) -> int:
    number = _NUMBER.get(element, 0) if isinstance(element, str) else element
    if not isinstance(number, int | np.integer) or not 1 <= number <= len(_SYMBOLS):
        raise DataError(f"{shown(element)} is not an element; give atomic numbers or symbols such as C and Cl", "M117")
    return int(number)


def coulomb_matrix(elements: Array, positions: Array) -> Array:
    """Z_i Z_j/‖r_i − r_j‖ off the diagonal, ½ Z_i^2.4 on it."""
    apart = np.sqrt(((positions[:, None] - positions[None]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, 1.0)
    if (apart == 0).any():
        i, j = np.argwhere(apart == 0)[0]
        raise DataError(f"atoms {i} and {j} are at the same place", "M117")
    z = elements.astype(np.float64)
    matrix = np.outer(z, z) / apart
    np.fill_diagonal(matrix, 0.5 * z**2.4)
    return matrix
