"""Kernels of vectors on descriptors of molecules, and on Coulomb matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data.descriptors import DESCRIPTORS
from tests import chemistry_oracles
from tests.cases import molecules, structures

XYZ = """3
water
O 0.0 0.0 0.12
H 0.0 0.76 -0.48
H 0.0 -0.76 -0.48
"""
WATER = (["O", "H", "H"], [[0.0, 0.0, 0.12], [0.0, 0.76, -0.48], [0.0, -0.76, -0.48]])


@pytest.mark.parametrize("form", ["spectrum", "sorted"])
def test_positions_in_space_do_not_matter(form: str) -> None:
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    X, moved = structures(), []
    for elements, positions in X:
        order = rng.permutation(len(elements))
        moved.append((elements[order], (positions @ turn + rng.standard_normal(3))[order]))
    k = mc.Coulomb(mc.Gaussian(0.001), form)
    np.testing.assert_allclose(k(X), k(moved), atol=1e-8)
    np.testing.assert_allclose(np.diag(k(X, moved)), 1.0, atol=1e-8)


def test_all_forms_are_one() -> None:
    k = mc.Coulomb(mc.Laplacian(0.05))
    assert (k([WATER, XYZ, (np.array([8, 1, 1]), np.array(WATER[1]))]) == 1.0).all()


def test_molecules_of_rdkit_and_ase() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    from rdkit.Chem import rdDepictor, rdDistGeom

    mol = chem.AddHs(chem.MolFromSmiles("O"))
    k = mc.Coulomb(mc.Laplacian(0.01), size=3)
    with pytest.raises(mc.DataError, match=r"Item 0 .* no conformer.*EmbedMolecule"):
        k([mol])
    rdDepictor.Compute2DCoords(mol)
    with pytest.raises(mc.DataError, match="two dimensions"):
        k([mol])
    rdDistGeom.EmbedMolecule(mol, randomSeed=0)
    assert k([mol], [WATER])[0, 0] > 0.9
    build = pytest.importorskip("ase.build")
    assert k([build.molecule("H2O")], [WATER])[0, 0] > 0.9


def test_smaller_structures_are_filled_up_and_larger_ones_refused() -> None:
    X = structures()
    np.testing.assert_allclose(mc.Coulomb(mc.Laplacian(0.1))(X), mc.Coulomb(mc.Laplacian(0.1), size=40)(X))
    small = mc.Coulomb(mc.Laplacian(0.1), size=2)
    with pytest.raises(mc.DataError, match=r"Item 0 of the structures has 3 atoms.*Coulomb\(size=3\)"):
        small([WATER])
    assert mc.Coulomb(mc.Laplacian(0.1))([([], []), WATER]).shape == (2, 2)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("CCO", "SMILES string has no positions.*EmbedMolecule"),
        (XYZ.replace("3", "4", 1), "says 4 atoms and has 3"),
        (XYZ.replace("0.12", "x"), "line 3 of the xyz text"),
        ((["Q"], [[0, 0, 0]]), "'Q' is not an element"),
        (([0], [[0, 0, 0]]), "0 is not an element"),
        (([1], [[0, 0]]), "three numbers for each element"),
        (([1, 1], [[0, 0, 0]]), "three numbers for each element"),
        (([1], [[0, 0, np.nan]]), "atom 0 has a position that is not finite"),
        (([1, 1], [[0, 0, 0], [0, 0, 0]]), "atoms 0 and 1 are at the same place"),
        (None, "missing"),
        (3, "is not a structure"),
    ],
)
def test_errors_name_the_item(item: Any, words: str) -> None:
    with pytest.raises(mc.DataError, match=f"Item 1 of the structures.*{words}"):
        mc.Coulomb()([WATER, item])


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="choose one of"):
        mc.Coulomb(form="random")
    with pytest.raises(ValueError, match="size must be"):
        mc.Coulomb(size=0)
    with pytest.raises(TypeError, match="made of kernels"):
        mc.Coulomb(3)
    with pytest.raises(TypeError, match="names are a list"):
        mc.Descriptors(names="MolWt")


def test_names_of_columns() -> None:
    assert mc.Coulomb(mc.Linear(), size=2).feature_names([([1], [[0, 0, 0]])]) == ["eigenvalue 1", "eigenvalue 2"]
    pytest.importorskip("rdkit")
    assert mc.Descriptors(mc.Linear()).feature_names(molecules()) == list(DESCRIPTORS)


def test_a_machine_keeps_structures(tmp_path: Any) -> None:
    X = structures()
    machine = mc.KernelRidge(kernel=mc.Coulomb()).fit([*X, XYZ], np.arange(len(X) + 1) * 1.0)
    mc.save(machine, tmp_path / "model.mercer")
    np.testing.assert_allclose(mc.load(tmp_path / "model.mercer").predict(X), machine.predict(X))


def test_descriptors_are_standardised_by_what_was_learnt(tmp_path: Any) -> None:
    pytest.importorskip("rdkit")
    X = molecules()
    k = (mc.Descriptors() + mc.Tanimoto(mc.Morgan())).bind(X)
    np.testing.assert_allclose(k(X[:4]), k(X)[:4, :4], rtol=1e-13)
    machine = mc.KernelRidge(kernel=mc.Descriptors() + mc.Tanimoto(mc.Morgan())).fit(X, np.arange(len(X)) * 1.0)
    mc.save(machine, tmp_path / "model.mercer")
    np.testing.assert_allclose(mc.load(tmp_path / "model.mercer").predict(X), machine.predict(X))


def test_descriptors_are_their_definition() -> None:
    pytest.importorskip("rdkit")
    X, names = molecules(), ["MolWt", "TPSA"]
    expected = [[chemistry_oracles.described(x, z, names, 0.05, X) for z in X[:4]] for x in X[:4]]
    np.testing.assert_allclose(mc.Descriptors(mc.Gaussian(0.05), names).bind(X)(X[:4]), expected, rtol=1e-10)


def test_what_is_bound_is_written_shortly() -> None:
    bound = mc.Descriptors(mc.Gaussian(0.3)).bind(["CCO", "CCCO", "c1ccccc1"])
    assert str(bound) == "Described(kernel=Gaussian(γ=0.3), moments=<array 2 × 15>)"


def test_descriptors_that_are_not_there() -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(mc.DataError, match=r"Item 1 of the molecules .*: it has no atoms"):
        mc.Descriptors()(["CC", ""])
    with pytest.raises(mc.DataError, match="Item 1 of the molecules: 'X' is not"):
        mc.Descriptors()(["CC", "X"])
    with pytest.raises(ValueError, match=r"no descriptor 'MolWtt'; there are .*MolWt"):
        mc.Descriptors(names=["MolWtt"])(["CC"])
