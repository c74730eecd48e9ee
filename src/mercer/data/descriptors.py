"""Numbers that describe molecules as wholes, by RDKit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.data.molecules import chemistry, molecule

DESCRIPTORS = (
    "MolWt", "MolLogP", "TPSA", "MolMR", "NumHDonors", "NumHAcceptors", "NumRotatableBonds", "RingCount",
    "NumAromaticRings", "FractionCSP3", "HeavyAtomCount", "NumHeteroatoms", "LabuteASA", "BertzCT", "FormalCharge",
)  # fmt: skip


def descriptors(items: Sequence[Any]) -> Any:
    """Numbers that describe a molecule as a whole, in the order of ``DESCRIPTORS``; NaN in the rows of empty ones."""
    chemistry()
    from rdkit.Chem import Descriptors, rdmolops

    functions = [
        rdmolops.GetFormalCharge if name == "FormalCharge" else getattr(Descriptors, name) for name in DESCRIPTORS
    ]
    out = np.full((len(items), len(functions)), np.nan)
    for i, item in enumerate(items):
        found = molecule(item)
        if found.GetNumAtoms():
            out[i] = [function(found) for function in functions]
    return out
