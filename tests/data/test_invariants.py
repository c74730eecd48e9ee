"""What atoms are told apart by, in graphs and in fingerprints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc

pytest.importorskip("rdkit")

PAIRS = {  # two molecules that differ in nothing else
    "isotope": ("CO", "[13CH3]O"),
    "hydrogens": ("CC", "[CH2]C"),
    "aromatic": ("c1ccccc1", "C1CCCCC1"),
    "ring": ("CCC", "C1CC1"),
    "ring_size": ("C1CC1", "C1CCC1"),
    "hybridization": ("CC", "C=C"),
    "degree": ("CC", "CCC"),
    "pharmacophore": ("CN(C)C", "CC(=O)N(C)C"),
}


@pytest.mark.parametrize("name", PAIRS)
def test_an_invariant_tells_atoms_apart(name: str) -> None:
    without, with_it = (set(mc.VertexHistogram().atoms(invariants=i).feature_names(PAIRS[name])) for i in ((), name))
    assert len(with_it) > len(without)
    assert any(f";{name}" in word for word in with_it)


def test_labels_say_what_is_not_ordinary() -> None:
    k = mc.VertexHistogram().atoms(charge=True, invariants=["isotope", "aromatic", "hydrogens"])
    assert set(k.feature_names(["[13CH4]", "c1ccccc1", "C[NH3+]"])) == {
        "C;isotope=13;hydrogens=4", "C;aromatic;hydrogens=1", "C;hydrogens=3", "N+;hydrogens=3",
    }  # fmt: skip


def test_functions_and_properties_of_atoms() -> None:
    from rdkit import Chem
    from rdkit.Chem import AllChem

    def heavy(atom: Any) -> bool:
        return bool(atom.GetMass() > 13)

    assert set(mc.VertexHistogram().atoms(invariants=heavy).feature_names(["CO"])) == {"C;heavy=False", "O;heavy"}
    mol = Chem.MolFromSmiles("CO")
    AllChem.ComputeGasteigerCharges(mol)
    for atom in mol.GetAtoms():
        atom.SetIntProp("site", 7 + atom.GetIdx())
    assert set(mc.VertexHistogram().atoms(invariants="site").feature_names([mol])) == {"C;site=7", "O;site=8"}
    assert mc.Morgan(0, invariants="site")([mol])[0, 0] == 2
    with pytest.raises(mc.DataError, match=r"Graph 1: atom 0 \(C\) has no property 'site'"):
        mc.VertexHistogram().atoms(invariants="site")([mol, "CO"])
    with pytest.raises(mc.DataError, match=r"Item 0 .*no property 'sit'"):
        mc.Morgan(invariants="sit")(["CO"])
    with pytest.raises(mc.DataError, match="invariant <lambda> of atom 0 is"):
        mc.Morgan(invariants=lambda atom: [1])(["CO"])
    with pytest.raises(TypeError, match="give names"):
        mc.Morgan(invariants=3)
    with pytest.raises(TypeError, match="give names"):
        mc.PathBag(1).atoms(invariants=[3])


def test_pharmacophores_are_rdkits_own() -> None:
    from rdkit.Chem import MolFromSmiles, rdFingerprintGenerator
    from rdkit.DataStructs import TanimotoSimilarity

    X = ["CCO", "CCN", "c1ccccc1O", "CC(=O)[O-]", "ClCCN"]
    maker = rdFingerprintGenerator.GetMorganGenerator(
        radius=2, atomInvariantsGenerator=rdFingerprintGenerator.GetMorganFeatureAtomInvGen()
    )
    prints = [maker.GetSparseFingerprint(MolFromSmiles(x)) for x in X]
    expected = [[TanimotoSimilarity(a, b) for b in prints] for a in prints]
    np.testing.assert_allclose(mc.Tanimoto(mc.Morgan(2, invariants="pharmacophore"))(X), expected)


def test_elements_alone_make_paths_of_elements() -> None:
    k = mc.TopologicalPaths(2, invariants="element")
    assert k(["c1ccccc1"], ["c1ccccc1"])[0, 0] < mc.TopologicalPaths(6, invariants="element").diag(["c1ccccc1"])[0]
    same = mc.Tanimoto(mc.Morgan(0, invariants="element"))(["CC", "CCC", "C=C"])
    assert (same == 1).all()


def test_a_model_keeps_them(tmp_path: Any) -> None:
    X, y = ["CCO", "CCN", "c1ccccc1", "C1CCCCC1"], [0.0, 1.0, 2.0, 3.0]
    for k in (mc.PathBag(2).atoms(invariants=["ring", "aromatic"]), mc.Morgan(1, invariants=["element", "ring"])):
        assert mc.parse(repr(k)) == k
        machine = mc.KernelRidge(kernel=k).fit(X, y)
        mc.save(machine, tmp_path / "model.mercer")
        np.testing.assert_array_equal(mc.load(tmp_path / "model.mercer").predict(X), machine.predict(X))


def test_paths_count_once() -> None:
    """RDKit sets two bits for a path where they are folded; unfolded, a path is one feature."""
    assert mc.TopologicalPaths(2)(["CCO"])[0, 0] == 3
    assert mc.TopologicalPaths(2, True)(["CCC"])[0, 0] == 2**2 + 1
