"""Kernels between molecules, reactions and structures by their definitions, one pair at a time."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np


def _neighbourhoods(smiles: str, radius: int) -> Counter[int]:
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    maker = rdFingerprintGenerator.GetMorganGenerator(radius=radius)
    return Counter(maker.GetSparseCountFingerprint(Chem.MolFromSmiles(smiles)).GetNonzeroElements())


def reaction_of_counts(x: str, z: str) -> float:
    """⟨φ(products) − φ(reactants), …⟩ of counts of neighbourhoods of radius 1."""

    def change(reaction: str) -> Counter[int]:
        before, _, after = reaction.split(">")
        found = _neighbourhoods(after, 1)
        found.subtract(_neighbourhoods(before, 1))
        return found

    one, other = change(x), change(z)
    return float(sum(n * other[feature] for feature, n in one.items()))


def side(x: str, z: str, place: int, radius: int) -> float:
    """Common neighbourhoods of one side."""
    return float(
        len(set(_neighbourhoods(x.split(">")[place], radius)) & set(_neighbourhoods(z.split(">")[place], radius)))
    )


def both_sides(x: str, z: str) -> float:
    return side(x, z, 0, 1) + side(x, z, 2, 1)


def _tanimoto(x: str, z: str) -> float:
    a, b = set(_neighbourhoods(x, 1)), set(_neighbourhoods(z, 1))
    return len(a & b) / len(a | b)


def reaction_of_sets(x: str, z: str) -> float:
    """k(P, P′) + k(R, R′) − k(P, R′) − k(R, P′) of Tanimoto's."""
    (r, _, p), (s, _, q) = x.split(">"), z.split(">")
    return _tanimoto(p, q) + _tanimoto(r, s) - _tanimoto(p, s) - _tanimoto(r, q)


def described(x: str, z: str, names: list[str], gamma: float, data: list[str]) -> float:
    """exp(−γ‖d(x) − d(z)‖²) of standardised descriptors."""
    from rdkit import Chem
    from rdkit.Chem import Descriptors

    total = 0.0
    for name in names:
        values = [getattr(Descriptors, name)(Chem.MolFromSmiles(item)) for item in data]
        mean = math.fsum(values) / len(values)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))
        a, b = (getattr(Descriptors, name)(Chem.MolFromSmiles(item)) for item in (x, z))
        total += ((a - b) / spread) ** 2
    return math.exp(-gamma * total)


def _coulomb(structure: Any) -> list[list[float]]:
    elements, positions = structure
    return [
        [
            0.5 * float(a) ** 2.4 if i == j else float(a) * float(b) / math.dist(positions[i], positions[j])
            for j, b in enumerate(elements)
        ]
        for i, a in enumerate(elements)
    ]


def coulomb_spectrum(x: Any, z: Any, gamma: float) -> float:
    """exp(−γ Σ |λ_i − λ′_i|) of eigenvalues, the largest in absolute value first, zeros after the last."""
    one, other = (sorted(np.linalg.eigvals(_coulomb(s)).real.tolist(), key=abs, reverse=True) for s in (x, z))
    one, other = (v + [0.0] * (7 - len(v)) for v in (one, other))
    return math.exp(-gamma * sum(abs(a - b) for a, b in zip(one, other, strict=True)))


def coulomb_sorted(x: Any, z: Any) -> float:
    """Σ_ij C_ij C′_ij of matrices whose rows and columns are in the order of the norms of the rows."""

    def ordered(structure: Any) -> Any:
        matrix = _coulomb(structure)
        order = sorted(range(len(matrix)), key=lambda i: math.hypot(*matrix[i]), reverse=True)
        return [[matrix[i][j] for j in order] for i in order]

    one, other = ordered(x), ordered(z)
    n = min(len(one), len(other))
    return math.fsum(one[i][j] * other[i][j] for i in range(n) for j in range(n))
