"""Molecules as graphs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer as mc
from mercer.data import DataError
from tests.graph_samples import every, joined_cycles, zero_norms_are_expected

MOLECULES = {
    "CCO": mc.Graph([(0, 1), (1, 2)], ["C", "C", "O"], [1, 1]),
    "C=O": mc.Graph([(0, 1)], ["C", "O"], [2]),
    "C#N": mc.Graph([(0, 1)], ["C", "N"], [3]),
    "c1ccccc1": mc.Graph(joined_cycles(6), ["C"] * 6, [1.5] * 6),
    "C1=CC=CC=C1": mc.Graph(joined_cycles(6), ["C"] * 6, [1.5] * 6),
    "C1CCCCC1": mc.Graph(joined_cycles(6), ["C"] * 6, [1] * 6),
    "[Na+].[Cl-]": mc.Graph([], ["Na", "Cl"]),
    "[H][H]": mc.Graph([(0, 1)], ["H", "H"], [1]),
    "C": mc.Graph([], ["C"]),
    "": mc.Graph(),
    "CC(=O)O": mc.Graph([(0, 1), (1, 2), (1, 3)], ["C", "C", "O", "O"], [1, 2, 1]),
    "C[C@H](N)C(=O)O": mc.Graph(
        [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5)], ["C", "C", "N", "C", "O", "O"], [1, 1, 1, 2, 1]
    ),
}
SMILES, DRAWN = list(MOLECULES), list(MOLECULES.values())


@zero_norms_are_expected
@every
def test_molecules_are_graphs(kernel: mc.Kernel) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    kernel = kernel.atoms()  # by their elements: some have charges
    K = kernel(DRAWN)
    np.testing.assert_array_equal(kernel(SMILES), K)
    np.testing.assert_array_equal(kernel([chem.MolFromSmiles(s) for s in SMILES]), K)
    np.testing.assert_array_equal(kernel(SMILES, DRAWN), K)
    np.testing.assert_array_equal(kernel([chem.MolFromSmiles(SMILES[0]), *SMILES[1:3], *DRAWN[3:]]), K)


@zero_norms_are_expected
def test_every_column_of_molecules() -> None:
    pytest.importorskip("rdkit")
    kernel = mc.Tanimoto(mc.PathBag(7)).atoms()
    K = kernel(DRAWN)
    forms: list[Callable[[list[str]], Any]] = [
        tuple, iter, np.array, pd.Series, pl.Series, lambda x: np.array(x, object),
        lambda x: pd.Series(x, dtype="string"), lambda x: pd.Series(x, index=range(len(x), 0, -1)),
        lambda x: pd.Series(x, dtype="category"), lambda x: pl.Series(x, dtype=pl.Categorical),
        lambda x: pd.DataFrame({"smiles": x}), lambda x: pl.DataFrame({"smiles": x}),
        lambda x: np.array(x, dtype=np.dtypes.StringDType()),
    ]  # fmt: skip
    for form in forms:
        np.testing.assert_array_equal(kernel(form(SMILES)), K)
        np.testing.assert_array_equal(kernel(form(SMILES), DRAWN), K)
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make({"name": SMILES, "smiles": SMILES})
        np.testing.assert_array_equal(kernel.on("smiles")(frame), K)
        np.testing.assert_array_equal(kernel.on(1)(frame), K)


@pytest.mark.parametrize("text", ["hello world", "C1CC", "CC(", "C(C)(C)(C)(C)C", "xyz", "ACGT", "\0", "中"])
def test_strings_that_are_no_molecules_are_named(text: str) -> None:
    pytest.importorskip("rdkit")
    for kernel in (mc.WeisfeilerLehman(2), mc.Walk(2), mc.Tanimoto(mc.PathBag(3))):
        with pytest.raises(DataError, match=r"Graph 2: .*SMILES"):
            kernel(["CCO", "C", text, "CC"])
        with pytest.raises(DataError, match=r"Graph 1: .*SMILES"):
            kernel(["CCO"], np.array(["C", text], object))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["CCO", "C", None]),
        pd.Series(["CCO", "C", np.nan]),
        pd.Series(["C", "C", pd.NA], dtype="string"),
        pl.Series(["C", "C", None]),
    ],
)
def test_missing_molecules_are_named(column: Any) -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(DataError, match=r"Item 2 .*missing.*drop it"):
        mc.WeisfeilerLehman(2)(column)


def test_properties_of_atoms_are_attributes() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    charges = pytest.importorskip("rdkit.Chem.rdPartialCharges")
    mol = chem.MolFromSmiles("CCO")
    with pytest.raises(DataError, match="Graph 0: atom 0 has no property '_GasteigerCharge'"):
        mc.as_graphs([mol], attributes="_GasteigerCharge")
    with pytest.raises(DataError, match="Graph 0: a SMILES string has no attribute"):
        mc.as_graphs(["CCO"], attributes="_GasteigerCharge")
    charges.ComputeGasteigerCharges(mol)
    mol.GetAtomWithIdx(0).SetProp("kind", "end")
    for names in ("_GasteigerCharge", ["_GasteigerCharge"]):
        expected = [[atom.GetDoubleProp("_GasteigerCharge")] for atom in mol.GetAtoms()]
        np.testing.assert_array_equal(mc.as_graphs([mol], attributes=names)[0].attributes, expected)
    with pytest.raises(DataError, match="'kind' of atom 0 is 'end', not a number"):
        mc.as_graphs([mol], attributes="kind")


def in_space(texts: list[str]) -> list[Any]:
    """Molecules with hydrogens and positions."""
    chem, geometry = pytest.importorskip("rdkit.Chem"), pytest.importorskip("rdkit.Chem.rdDistGeom")
    found = [chem.AddHs(chem.MolFromSmiles(text)) for text in texts]
    for mol in found:
        geometry.EmbedMolecule(mol, randomSeed=0)
        for atom in mol.GetAtoms():
            atom.SetDoubleProp("q", 0.5 * atom.GetDegree())
    return found


IN_SPACE = {
    "morgan": mc.Coulomb() + mc.Tanimoto(mc.Morgan(2)),
    "descriptors": mc.Coulomb() + mc.Descriptors(),
    "product": mc.Coulomb() * mc.Morgan(),
    "refined": mc.Coulomb() + mc.WeisfeilerLehman(2),
    "nested": mc.Coulomb() * (mc.Morgan() + mc.WeisfeilerLehman(1)),
    "graphs": mc.WeisfeilerLehman(2) + mc.Tanimoto(mc.Morgan(2)),
    "hydrogens": mc.Tanimoto(mc.Morgan(2)),
    "property": mc.Tanimoto(mc.Morgan(2, invariants=["q"])),
}


@pytest.mark.filterwarnings("ignore::mercer.IgnoredWarning")
@pytest.mark.parametrize("name", IN_SPACE)
def test_what_a_model_keeps_of_molecules_is_read_by_all_terms(tmp_path: Path, name: str) -> None:
    X, y = in_space(["CCO", "CCN", "c1ccccc1", "C[C@H](N)C(=O)O", "C/C=C/Cl", "CCCC"]), np.array([0, 1] * 3)
    model = mc.SVC(kernel=IN_SPACE[name]).fit(X, y)
    expected = model.kernel_(X)[:, model.support_] @ model.dual_coef_.ravel() + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    mc.save(model, tmp_path / "m.mercer")
    np.testing.assert_allclose(mc.load(tmp_path / "m.mercer").decision_function(X), expected, atol=1e-9)


def test_samples_without_a_hash_have_probabilities() -> None:
    X = [([(0, 1), (1, 2)], ["a", "b", "c"]), ([(0, 1), (0, 2)], ["a", "b", "b"])] * 8
    model = mc.SVC(kernel=mc.WeisfeilerLehman(1), probability=True).fit(X, [0, 1] * 8)
    assert model.predict_proba(X[:2]).shape == (2, 2)
