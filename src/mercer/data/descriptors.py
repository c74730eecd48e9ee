"""Numbers that describe molecules as wholes, by RDKit."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.arrays import Array
from mercer.data.molecules import chemistry, molecule
from mercer.data.tables import DataError
from mercer.troubles import coded

if TYPE_CHECKING:
    from rdkit import Chem

DESCRIPTORS = (
    "MolWt", "MolLogP", "TPSA", "MolMR", "NumHDonors", "NumHAcceptors", "NumRotatableBonds", "RingCount",
    "NumAromaticRings", "FractionCSP3", "HeavyAtomCount", "NumHeteroatoms", "LabuteASA", "BertzCT", "FormalCharge",
)  # fmt: skip


def descriptors(items: Sequence[Any], names: Sequence[str] = DESCRIPTORS) -> Any:
    """Numbers that describe a molecule as a whole, in the order of ``names``; NaN in the rows of empty ones."""
    wanted = tuple(names)
    for name in wanted:
        _function(name)
    out = np.full((len(items), len(wanted)), np.nan)
    for i, item in enumerate(items):
        try:
            out[i] = _read_row(item, wanted) if isinstance(item, str) else _row(item, wanted)
        except DataError as error:
            raise DataError(f"Item {i} of the molecules: {error}.", "M110") from None
    return out


@lru_cache(maxsize=2**14)
def _read_row(smiles: str, names: tuple[str, ...]) -> tuple[float, ...]:
    return _row(molecule(smiles), names)  # a fit and its predictions read the same texts several times


def _row(item: str | Chem.Mol, names: tuple[str, ...]) -> tuple[float, ...]:
    found = molecule(item)
    return tuple(float(_function(name)(found)) if found.GetNumAtoms() else np.nan for name in names)


def described(items: Sequence[Any], names: Sequence[str]) -> Array:
    """The same, all of them finite; an error names the molecule and the descriptor that is not."""
    found = np.asarray(descriptors(items, names))
    if not np.isfinite(found).all():
        i, j = map(int, np.argwhere(~np.isfinite(found))[0])
        what = "it has no atoms" if np.isnan(found[i]).all() else f"{names[j]} is {found[i, j]} there; leave it out"
        raise DataError(f"Item {i} of the molecules has descriptors that are not finite numbers: {what}.", "M101")
    return found


@cache
def _function(name: str) -> Callable[[Any], float]:
    """RDKit's function of this name; ``ValueError`` where there is none."""
    chemistry()
    from rdkit.Chem import Descriptors, rdmolops

    if name == "FormalCharge":
        return rdmolops.GetFormalCharge
    known = dict(Descriptors.descList)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or list(DESCRIPTORS)
        raise ValueError(coded(f"RDKit has no descriptor {name!r}; there are {', '.join(near)}, …", "M205"))
    return known[name]
