"""Molecules through RDKit: the only place that knows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.data.graphs import Graph
from mercer.data.tables import DataError


def chemistry() -> Any:
    """The module ``rdkit.Chem``, or an error that says how to get it."""
    try:
        from rdkit import Chem
    except ImportError:
        raise ImportError('Molecules are read with RDKit, which is not installed: pip install "mercer[molecules]".') from None
    return Chem


def molecule(item: Any) -> Any:
    """An RDKit molecule: itself, or read from a SMILES string."""
    if hasattr(item, "GetAtoms"):
        return item
    if not isinstance(item, str):
        raise DataError(f"a {type(item).__name__} is not a molecule; give SMILES strings or RDKit molecules")
    chem = chemistry()
    from rdkit import rdBase

    with rdBase.BlockLogs():  # the error below says it
        found = chem.MolFromSmiles(item)
    if found is None:
        raise DataError(f"{item!r} is not a SMILES string that RDKit can read")
    return found


def molecule_graph(item: Any) -> Graph:
    """Atoms labelled by their element, bonds by their kind (single, double, triple, aromatic); hydrogens that are not written are left out."""
    mol = molecule(item)
    labels = [atom.GetSymbol() for atom in mol.GetAtoms()]
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), b.GetBondTypeAsDouble()) for b in mol.GetBonds()]
    edges = np.array([b[:2] for b in bonds], np.int64).reshape(-1, 2)
    return Graph(edges, labels, [b[2] for b in bonds], n_vertices=len(labels))
