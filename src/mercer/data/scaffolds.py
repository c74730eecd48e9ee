"""What molecules are built on: rings and what joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mercer.data.molecules import chemistry, molecule
from mercer.data.tables import DataError


def scaffolds(items: Sequence[Any]) -> list[str]:
    """The Bemis–Murcko scaffold of each molecule as SMILES: its rings and the chains between them, without chirality;
    empty where there are no rings.
    """
    chemistry()
    from rdkit.Chem.Scaffolds import MurckoScaffold

    scaffold: Any = MurckoScaffold.MurckoScaffoldSmiles
    found = []
    for i, item in enumerate(items):
        try:
            found.append(str(scaffold(mol=molecule(item), includeChirality=False)))
        except DataError as error:
            raise DataError(f"Item {i} of the molecules: {error}.", "M110") from None
    return found
