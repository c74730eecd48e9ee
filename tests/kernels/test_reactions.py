"""Kernels between reactions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.cases import reactions

pytest.importorskip("rdkit")

ESTER, AGENT = "CCO.CC(=O)O>>CC(=O)OCC.O", "CCO.CC(=O)O>OS(=O)(=O)O>CC(=O)OCC.O"


def test_all_forms_are_one() -> None:
    from rdkit.Chem import rdChemReactions

    forms = [
        ESTER,
        ("CCO.CC(=O)O", "CC(=O)OCC.O"),
        ("CCO.CC(=O)O", "N", "CC(=O)OCC.O"),
        f"{ESTER} |f:0.1|",
        rdChemReactions.ReactionFromSmarts(ESTER, useSmiles=True),
    ]
    K = mc.Reaction()(forms)
    assert K[0, 0] > 0
    assert (K[0, 0] == K).all()
    k = mc.Agents(mc.Morgan(0))
    assert k([AGENT])[0, 0] > 0
    assert k([ESTER])[0, 0] == 0


def test_what_does_not_change_does_not_count() -> None:
    k = mc.Reaction(mc.Morgan(1, counts=True))
    assert k.diag(["CCO>>CCO"]) == 0
    np.testing.assert_allclose(k([ESTER]), k(["CCO.CC(=O)O.CCCN>>CC(=O)OCC.O.CCCN"]))
    np.testing.assert_allclose(k(["CCO>>CC=O"], ["CC=O>>CCO"]), -k(["CCO>>CC=O"]))


def test_atom_maps_do_not_matter() -> None:
    k = mc.Reaction(mc.Morgan(2, counts=True))
    mapped = "[CH3:1][CH2:2][OH:3]>>[CH3:1][CH:2]=[O:3]"
    np.testing.assert_allclose(k(["CCO>>CC=O"]), k(["CCO>>CC=O"], [mapped]))


@pytest.mark.parametrize(
    "kernel",
    [
        mc.Reaction(),
        mc.Reaction(mc.Tanimoto(mc.Morgan(1))),
        mc.Reaction(mc.WeisfeilerLehman(2).atoms()),
        mc.Reaction(mc.Descriptors(mc.Gaussian(0.1))),
        mc.Reaction().normalized() + mc.Reactants(mc.Tanimoto(mc.Morgan())),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_they_are_kernels_and_machines_keep_them(kernel: mc.Kernel, tmp_path: Any) -> None:
    assert kernel.psd is True
    X = reactions()
    K = np.asarray(kernel(X))
    assert np.linalg.eigvalsh(K).min() > -1e-9 * np.abs(K).max()
    machine = mc.KernelRidge(kernel=kernel).fit(X, np.arange(len(X)) * 1.0)
    mc.save(machine, tmp_path / "model.mercer")
    np.testing.assert_allclose(mc.load(tmp_path / "model.mercer").predict(X), machine.predict(X))
    assert mc.parse(repr(kernel)) == kernel


def _zeros(X: Any) -> Any:
    return np.zeros((len(X), 1))


def test_explicit_and_implicit_agree() -> None:
    X = reactions()
    np.testing.assert_allclose(
        mc.Reaction(mc.Morgan(1, counts=True))(X),
        mc.Reaction(mc.Morgan(1, counts=True) * mc.Gaussian(1.0).map(_zeros))(X),
    )
    assert mc.Reaction(mc.Morgan(1)).explicit
    assert not mc.Reaction(mc.Tanimoto(mc.Morgan(1))).explicit


def test_names_are_those_of_molecules() -> None:
    k = mc.Reaction(mc.Morgan(0, counts=True))
    found = dict(zip(k.feature_names(["CCO>>CC=O"]), k.features(["CCO>>CC=O"]).toarray()[0].tolist(), strict=True))
    assert {name: n for name, n in found.items() if n} == {"[CH2]": -1, "[OH]": -1, "[CH]": 1, "[O]": 1}


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (["CCO"], r"Item 0 of the reactions is 'CCO', with 0 signs >"),
        ([ESTER, "A>B"], "Item 1 .* with 1 signs >"),
        ([ESTER, None], "Item 1 of the reactions is missing"),
        ([("CC", 3)], "Item 0 .* give reaction SMILES"),
        ([ESTER, "CC>>CX"], "The products of the reactions: Item 1 of the molecules: 'CX' is not a SMILES"),
        (ESTER, "put it in a list"),
    ],
)
def test_errors_name_the_item(X: Any, words: str) -> None:
    with pytest.raises(mc.DataError, match=words):
        mc.Reaction()(X)
    with pytest.raises(TypeError, match="made of kernels"):
        mc.Reaction(3)
