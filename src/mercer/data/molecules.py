"""Molecules through RDKit: the only place that knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mercer.annotations import Samples
from mercer.data.archives import most_bytes, unpacked
from mercer.data.graphs import Graph
from mercer.data.invariants import Invariants
from mercer.data.notices import lost, warn
from mercer.data.objects import Domain
from mercer.data.representations import Rep
from mercer.data.sequences import is_missing, items_of
from mercer.data.tables import DataError, excerpt, shown
from mercer.troubles import coded

if TYPE_CHECKING:
    from rdkit import Chem


def chemistry() -> Any:
    """The module ``rdkit.Chem``, or an error that says how to get it."""
    try:
        from rdkit import Chem
    except ImportError:
        raise ImportError(
            coded('Molecules are read with RDKit, which is not installed: pip install "mercer[molecules]".', "M402")
        ) from None
    return Chem


def molecule(item: object) -> Any:
    """An RDKit molecule: itself, or read from a SMILES string."""
    if hasattr(item, "GetAtoms"):
        return item
    if not isinstance(item, str):
        raise DataError(f"a {type(item).__name__} is not a molecule; give SMILES strings or RDKit molecules", "M107")
    chem = chemistry()
    from rdkit import rdBase

    with rdBase.BlockLogs():  # the error below says it
        found = chem.MolFromSmiles(item)
    if found is None:
        raise DataError(f"{shown(item)} is not a SMILES string that RDKit can read", "M110")
    return found


@dataclass(frozen=True)
class Molecules(Domain):
    """Molecules as SMILES strings or RDKit objects; the internal form is a list of these, read when a kernel prepares
    them. A model keeps both as they are: the SMILES of a molecule with hydrogens is read without them.
    """

    def check(self, X: Samples) -> Rep:
        if isinstance(X, str) or hasattr(X, "GetAtoms"):
            raise DataError("Expected a collection of molecules, got one; put it in a list: [molecule].", "M103")
        return [_checked(i, item) for i, item in enumerate(items_of(X, "molecules"))]

    def labels(self, X: Samples) -> list[list[Any]] | None:
        return [[str(atom.GetSymbol()) for atom in molecule(item).GetAtoms()] for item in self.check(X)]

    def to_store(self, X: Samples) -> Any:
        return [_copied(item) for item in self.check(X)]


def _checked(i: int, item: object) -> Any:
    if isinstance(item, str) or hasattr(item, "GetAtoms"):
        return item
    what = "missing" if is_missing(item) else f"a {type(item).__name__}"
    raise DataError(f"Item {i} of the molecules is {what}; give SMILES strings or RDKit molecules.", "M107")


def as_given(X: Samples) -> list[Any] | None:
    """Texts, molecules of RDKit and ASE's ``Atoms`` as they are, for kernels that each read something else of them;
    None where there is anything else.
    """
    if not isinstance(X, list) and not (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1):
        return None
    known = all(isinstance(item, str) or hasattr(item, "GetAtoms") or is_ase(item) for item in X)
    return [_copied(item) for item in X] if known else None


def is_ase(item: object) -> bool:
    """Whether it is ASE's ``Atoms``."""
    return hasattr(item, "get_atomic_numbers") and hasattr(item, "get_positions")


def _copied(item: Any) -> Any:
    """What a model can keep: not what a user may change later."""
    if isinstance(item, str):
        return item
    return chemistry().Mol(item) if hasattr(item, "GetAtoms") else item.copy()


def unreadable(smiles: list[str]) -> int | None:
    """The number of the first text that is not a molecule; an empty one is a molecule without atoms."""
    for i, item in enumerate(smiles):
        try:
            molecule(item)
        except DataError:
            return i
    return None


def first_unreadable(smiles: list[str]) -> int | None:
    """``unreadable`` where RDKit is installed; without it nothing is known to be wrong."""
    try:
        chemistry()
    except ImportError:
        return None
    return unreadable(smiles)


def smiles_of_block(block: str) -> str | None:
    """The SMILES of a structure as MOL and SDF files have it; None where RDKit cannot read it."""
    chem = chemistry()
    from rdkit import rdBase

    with rdBase.BlockLogs():  # who asks says what is wrong
        try:
            found = chem.MolFromMolBlock(block)
            return None if found is None else str(chem.MolToSmiles(found))
        except (RuntimeError, ValueError):
            return None


def are_molecules(texts: list[str]) -> bool:
    """Whether nearly all of some texts are SMILES; never without RDKit."""
    try:
        chemistry()
    except ImportError:
        return False
    return sum(unreadable([text]) is None for text in texts) >= 0.9 * len(texts) > 0


def atom_count(item: str | Chem.Mol) -> int:
    """How many atoms a molecule has."""
    return int(molecule(item).GetNumAtoms())


def molecule_svg(item: str | Chem.Mol, colours: Sequence[tuple[float, float, float]], size: tuple[int, int]) -> str:
    """A molecule drawn as SVG, each atom on a disc of its colour."""
    chemistry()
    from rdkit.Chem.Draw import rdMolDraw2D

    canvas = rdMolDraw2D.MolDraw2DSVG(*size)
    rdMolDraw2D.PrepareAndDrawMolecule(
        canvas,
        molecule(item),
        highlightAtoms=list(range(len(colours))),
        highlightAtomColors=dict(enumerate(colours)),
        highlightBonds=[],
    )
    canvas.FinishDrawing()
    return str(canvas.GetDrawingText())


def read_sdf(
    path: str | Path, *, errors: Literal["raise", "skip"] = "raise", max_bytes: int | str | None = None
) -> list[Any]:
    """The molecules of an SDF file, as RDKit objects; one that gzip, bzip2 or xz packed is unpacked.

    Kernels on molecules (``Morgan``, ``PathBag``, …) take them as they are. Needs RDKit: ``pip install
    "mercer[molecules]"``.

    Parameters
    ----------
    path : str or Path
        The file.
    errors : {"raise", "skip"}, default="raise"
        Whether a record that RDKit cannot read is an error, or left out with a warning that names it.
    max_bytes : int or str, optional
        The most that is read of the file after unpacking, in bytes or as "2GB". None: an eighth of the machine's
        memory.

    Returns
    -------
    list of rdkit.Chem.Mol
        One for each record.

    Raises
    ------
    DataError
        When there is no such file, it holds no molecules, or a record cannot be read; the message names the record.
    ImportError
        When RDKit is not installed.

    See Also
    --------
    read_tu : Sets of graphs.

    Examples
    --------
    >>> import mercer as mc
    >>> try:
    ...     mc.read_sdf("no-such-file.sdf")
    ... except mc.DataError as error:
    ...     print(error)
    no-such-file.sdf: there is no such file. [M501]
    """
    if errors not in ("raise", "skip"):
        raise ValueError(coded(f'errors={errors!r}: choose "raise" or "skip".', "M205"))
    if not Path(path).is_file():
        raise DataError(f"{path}: there is no such file.", "M501")
    content = unpacked(Path(path), most_bytes(max_bytes))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:  # only titles and fields have other letters
        text = content.decode("latin-1")
    chem = chemistry()
    from rdkit import rdBase

    with rdBase.BlockLogs():  # the errors below say it
        try:
            supplier = chem.SDMolSupplier()
            supplier.SetData(text)
            found = list(supplier)
            bad = {i: _record_name(i, supplier.GetItemText(i)) for i, mol in enumerate(found) if mol is None}
        except (OSError, RuntimeError, ValueError, UnicodeError) as error:
            raise DataError(
                f"{path} cannot be read as an SDF file:"
                f" {(str(error).strip() or type(error).__name__).splitlines()[0][:200]}",
                "M110",
            ) from None
    if bad and errors == "raise":
        name = next(iter(bad.values()))
        raise DataError(
            f'{path}: RDKit cannot read {name} of {len(found)}; mend it, or leave such records out: errors="skip".',
            "M110",
        )
    if len(bad) == len(found):
        raise DataError(f"{path} holds no molecules{' that RDKit can read' if bad else ''}.", "M110")
    if bad:
        names = ", ".join(list(bad.values())[:8]) + (", …" if len(bad) > 8 else "")
        warn(f"{path}: {len(bad)} of {len(found)} records are left out, which RDKit cannot read: {names}.", "M115")
    return [mol for mol in found if mol is not None]


def _record_name(i: int, text: str) -> str:
    title = text.partition("\n")[0].strip()
    return f"record {i + 1}" + (f" ({excerpt(title)})" if title else "")


def molecule_graph(
    item: Any, *, charge: bool = False, chirality: bool = False, invariants: Invariants | None = None
) -> Graph:
    """Atoms labelled by their element, bonds by their kind (single, double, triple, aromatic); hydrogens that are not
    written are left out.

    With ``charge``, a charged atom is N+ or Ca+2; with ``chirality``, C@R or C@S, and a double bond (2, "E") or (2,
    "Z"); ``invariants`` follow after semicolons.
    """
    return (_read_graph if isinstance(item, str) else _graph_of)(item, charge, chirality, invariants)


@lru_cache(maxsize=2**14)
def _read_graph(smiles: str, charge: bool, chirality: bool, invariants: Invariants | None) -> Graph:
    # a fit and its predictions read the same texts several times
    return _graph_of(molecule(smiles), charge, chirality, invariants)


def _graph_of(mol: Chem.Mol, charge: bool, chirality: bool, invariants: Invariants | None) -> Graph:
    if chirality:
        mol = chemistry().Mol(mol)
        chemistry().AssignStereochemistry(mol, cleanIt=False)
    labels = [_atom_label(atom, charge, chirality) for atom in mol.GetAtoms()]
    if invariants is not None:
        labels = invariants.labels(mol, labels)
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), _bond_label(b, chirality)) for b in mol.GetBonds()]
    edges = np.array([b[:2] for b in bonds], np.int64).reshape(-1, 2)
    return Graph(edges, labels, [b[2] for b in bonds], n_vertices=len(labels))


def _atom_label(atom: Chem.Atom, charge: bool, chirality: bool) -> str:
    label = str(atom.GetSymbol())
    if charge and (q := atom.GetFormalCharge()):
        label += ("+" if q > 0 else "-") + (str(abs(q)) if abs(q) > 1 else "")
    if chirality and atom.HasProp("_CIPCode"):
        label += f"@{atom.GetProp('_CIPCode')}"
    return label


def _bond_label(bond: Chem.Bond, chirality: bool) -> Any:
    kind = bond.GetBondTypeAsDouble()
    turn = _TURNS.get(str(bond.GetStereo())) if chirality else None
    return kind if turn is None else (kind, turn)


_TURNS = {"STEREOE": "E", "STEREOTRANS": "E", "STEREOZ": "Z", "STEREOCIS": "Z"}
_LEFT = "CHI_UNSPECIFIED"


@lru_cache(maxsize=2**14)
def _read_traits(smiles: str) -> tuple[bool, bool]:
    # a charge is written in brackets, a centre with @, a double bond with / or \\: most texts need not be read to see
    # that there are none
    return _traits_of(molecule(smiles)) if any(sign in smiles for sign in "[@/\\") else (False, False)


def _traits_of(mol: Chem.Mol) -> tuple[bool, bool]:
    """Whether a molecule has charges, and chirality."""
    charged = any(atom.GetFormalCharge() for atom in mol.GetAtoms())
    turned = any(str(atom.GetChiralTag()) != _LEFT for atom in mol.GetAtoms()) or any(
        str(b.GetStereo()) in _TURNS for b in mol.GetBonds()
    )
    return charged, turned


def atom_numbers(item: Any, names: str | tuple[str, ...]) -> list[list[float]]:
    """Properties of the atoms of a molecule of RDKit that are numbers, a row for each atom."""
    wanted = (names,) if isinstance(names, str) else names
    if isinstance(item, str):
        raise DataError(
            f"a SMILES string has no attribute {wanted[0]!r}; give RDKit molecules whose atoms have such a property",
            "M110",
        )
    rows = []
    for i, atom in enumerate(item.GetAtoms()):
        own = atom.GetPropsAsDict(True, True)
        for name in wanted:
            if name not in own:
                has = ", ".join(repr(each) for each in own if each != "__computedProps") or "none"
                raise DataError(
                    f"atom {i} has no property {name!r} (it has {has}); set it before: atom.SetDoubleProp({name!r}, …),"
                    " or, of charges, rdkit.Chem.rdPartialCharges.ComputeGasteigerCharges(mol)",
                    "M110",
                )
            if not isinstance(own[name], int | float):
                raise DataError(f"the property {name!r} of atom {i} is {shown(own[name])}, not a number", "M110")
        rows.append([float(own[name]) for name in wanted])
    return rows


def tell_of_charge_and_chirality(
    items: list[Any], *, charge: bool | None, chirality: bool | None, cure: str | None = None
) -> None:
    """Say what the molecules have of both, where neither True nor False was said; ``cure`` for kernels other than those
    between graphs.
    """
    for k, (noun, said) in enumerate((("charge", charge), ("chirality", chirality))):
        if said is None:
            first = next(
                (
                    i
                    for i, item in enumerate(items)
                    if (_read_traits(item) if isinstance(item, str) else _traits_of(item))[k]
                ),
                None,
            )
            if first is not None:
                instead = (
                    cure
                    or f"kernel.atoms({noun}=True) makes it a part of the labels of atoms, kernel.atoms() says that "
                    "it is not meant"
                )
                lost(noun, f"The molecules have {noun} (the first is molecule {first}), which is not used: {instead}.")


def reaction_smiles(reaction: Any) -> str:
    """The SMILES of a reaction of RDKit, reactants>agents>products."""
    chemistry()
    from rdkit.Chem import rdChemReactions

    return str(rdChemReactions.ReactionToSmiles(reaction))
