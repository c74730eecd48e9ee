"""Names of features: every kernel with features of structured data has them, and they say what the features count."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.cases import SEQUENCES, STRUCTURES, Case, graphs, graphs_with_numbers, molecules

NAMELESS = {
    "Diffusion": "coordinates in the space of a network, of which no single one means anything",
    "ExponentialDiffusion": "as of Diffusion",
    "MatrixPower": "as of Diffusion",
    "RegularizedLaplacian": "as of Diffusion",
    "PStepWalk": "as of Diffusion",
    "CommuteTime": "as of Diffusion",
    "Fisher": "whitened scores of a model of rows of numbers",
    "FisherScores": "as of Fisher",
}


def _explicit() -> list[Case]:
    found = [case for case in SEQUENCES + STRUCTURES if case.kernel.explicit or case.kernel._data_driven]
    return [case for case in found if not {type(part).__name__ for part in case.kernel._parts()} & NAMELESS.keys()]


@pytest.mark.parametrize("case", _explicit(), ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_feature_has_a_name(case: Case) -> None:
    """A class with ``_map`` has ``_names`` too, or says above why its features have none."""
    X = case.data()
    if not case.kernel.bind(X)._listed().explicit:
        pytest.skip("it has no features when it is bound")
    names, phi = case.kernel.feature_names(X), case.kernel.features(X)
    assert len(names) == phi.shape[1] > 0
    assert all(str(name) for name in names)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_those_without_names_say_so() -> None:
    cases = [c for c in STRUCTURES if {type(part).__name__ for part in c.kernel._parts()} & NAMELESS.keys()]
    assert cases
    for case in cases:
        with pytest.raises(TypeError, match="have no names"):
            case.kernel.feature_names(case.data())


@pytest.mark.parametrize(
    "kernel",
    [
        mc.ShortestPath(),
        mc.WeisfeilerLehman(2),
        mc.WLOptimalAssignment(2),
        mc.WeisfeilerLehman(1, mc.PathBag(1)),
        mc.Graphlet(3),
        mc.Subgraph(3),
    ],
    ids=str,
)
def test_different_features_of_graphs_have_different_names(kernel: mc.Kernel) -> None:
    names = kernel.feature_names(graphs())
    assert len(names) == len(set(names))


CHAIN = mc.Graph([(0, 1), (1, 2), (1, 3)], ["C", "C", "O", "O"], [1, 2, 1])


def _counts(kernel: mc.Kernel, g: Any) -> dict[Any, float]:
    return dict(zip(kernel.feature_names([g]), kernel.features([g]).toarray()[0].tolist(), strict=True))


def test_pairs_of_vertices_and_their_distance() -> None:
    assert _counts(mc.ShortestPath(), CHAIN) == {
        "C to C in 1": 1, "C to O in 1": 2, "C to O in 2": 2, "O to O in 2": 1,
    }  # fmt: skip
    assert set(mc.ShortestPath().feature_names([mc.Graph([(1, 0)], ["a", "b"], directed=True)])) == {"b to a in 1"}


def test_refined_labels_are_trees() -> None:
    assert _counts(mc.WeisfeilerLehman(1), CHAIN) == {
        "C": 2, "O": 2, "C(-C)": 1, "C(-C,-O,=O)": 1, "O(=C)": 1, "O(-C)": 1,
    }  # fmt: skip
    assert "C(-C(-C,-O,=O))" in mc.WeisfeilerLehman(2).feature_names([CHAIN])
    assert set(mc.WeisfeilerLehman(2).feature_names([mc.Graph(labels=["C"])])) == {"C", "C()", "C()()"}
    ahead = mc.Graph([(0, 1)], ["a", "b"], directed=True)
    assert {"a(->b)", "b(<-a)"} < set(mc.WeisfeilerLehman(1).feature_names([ahead]))
    assert _counts(mc.WLOptimalAssignment(0), CHAIN) == {"C": 1, "C ×2": 1, "O": 1, "O ×2": 1}


BENT = mc.Graph([(0, 1), (1, 2)], ["C", "C", "O"], attributes=[[0.0, 0.0], [1.5, 0.0], [1.5, 1.4]])


def test_numbers_of_vertices_are_told_by_bins_and_columns() -> None:
    assert _counts(mc.PathLength(0.5), BENT) == {"C … C, 1.5–2": 1, "C … O, 1–1.5": 1, "C … O, 2.5–3": 1}
    arc = mc.Graph([(1, 0)], ["C", "O"], attributes=[0.0, 1.2], directed=True)
    assert mc.PathLength().feature_names([arc]) == ["O -> C, 1–2"]
    edge = mc.Graph([(1, 0)], ["C", "O"], attributes=[0.0, 1.2])
    steps = [f" after {i} of {j} edges, column 0" for j in (0, 1) for i in range(j + 1)]
    assert _counts(mc.GraphHopper(), edge) == {v + step: x for v, x in (("C", 0.0), ("O", 1.2)) for step in steps}
    found = _counts(mc.GraphHopper(None), mc.Graph(BENT.edges, BENT.labels))
    assert (found["C after 1 of 2 edges"], found["C after 0 of 2 edges"], found["O after 2 of 2 edges"]) == (2, 1, 1)
    draws = _counts(mc.HashedAttributes(mc.VertexHistogram(), draws=2, width=1000.0), BENT)
    assert {name.partition(" in bin ")[0] for name in draws} == {"draw 1: C", "draw 1: O", "draw 2: C", "draw 2: O"}
    assert sorted(draws.values()) == pytest.approx([0.5**0.5, 0.5**0.5, 2**0.5, 2**0.5])


def test_cells_of_coordinates() -> None:
    triangle = mc.Graph([(0, 1), (1, 2), (2, 0)])  # all entries are 1/√3
    assert set(mc.PyramidMatch(1, 1).feature_names([triangle])) == {
        f"*: coordinate 1, level {level}{often}"
        for level in ("0, cell 1 of 1", "1, cell 2 of 2")
        for often in ("", " ×2", " ×3")
    }


@pytest.mark.parametrize(
    "kernel",
    [
        mc.PathLength(0.3),
        mc.PyramidMatch(3, 3),
        mc.GraphHopper(),
        mc.HashedAttributes(mc.WeisfeilerLehman(1), draws=2, width=0.5),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_different_features_of_numbers_have_different_names(kernel: mc.Kernel) -> None:
    names = kernel.feature_names(graphs_with_numbers())
    assert len(names) == len(set(names))


def test_a_tree_that_is_large_is_cut_and_told_apart() -> None:
    star = mc.Graph([(0, v) for v in range(1, 300)], [f"leaf{v}" for v in range(300)])
    other = mc.Graph([(0, v) for v in range(1, 300)], [f"leaf{v}" for v in range(299)] + ["last"])
    names = mc.WeisfeilerLehman(2).feature_names([star, other])
    assert max(map(len, names)) < 1000
    assert len(set(names)) == len(names)


def test_subgraphs_are_written_as_molecules_are() -> None:
    ring = mc.Graph([(0, 1), (1, 2), (2, 0), (2, 3)], ["C", "C", "O", "N"])
    assert _counts(mc.Graphlet(3), ring) == {"C1-C-O-1": 1, "C-O-N": 2}
    assert _counts(mc.Graphlet(4), CHAIN) == {"C-C(-O)=O": 1}
    assert _counts(mc.Subgraph(3), ring) == {
        "C": 2, "O": 1, "N": 1, "C-C": 1, "C-O": 2, "N-O": 1, "C-C-O": 2, "C-O-C": 1, "C1-C-O-1": 1, "C-O-N": 2,
    }  # fmt: skip
    assert mc.Graphlet(2).feature_names([mc.Graph([(1, 0)], ["a", "b"], directed=True)]) == ["a<-b"]


def test_the_atoms_of_graphlets_explain_an_answer() -> None:
    X = ["CCO", "CCN", "CC=O", "CCCC"]
    machine = mc.KernelRidge(kernel=mc.Graphlet(3).atoms()).fit(X, [1.0, 2.0, 3.0, 4.0])
    for e, answer in zip(mc.explain(machine, X, by="place"), machine.predict(X), strict=True):
        assert np.sum(e.values) + e.base == pytest.approx(answer)


def test_products_and_sums_are_called_by_their_parts() -> None:
    k = mc.Spectrum(1) * mc.Spectrum(2) + 1.0
    assert Counter(k.feature_names(["AC"])) == {"A × AC": 1, "C × AC": 1, "constant": 1}
    assert set((mc.Spectrum(1) ** 2).feature_names(["AC"])) == {"A × A", "A × C", "C × A", "C × C"}
    k = mc.polynomial(mc.Spectrum(2), [1.0, 0.0, 1.0])
    assert sorted(k.feature_names(["ACA"])) == ["AC × AC", "AC × CA", "CA × AC", "CA × CA", "constant"]
    both = mc.Morgan(0, bits=4) + mc.AtomPairs(bits=5)
    assert len(both.feature_names(molecules())) == 9
    squared = mc.Morgan(0, bits=4) ** 2
    assert len(squared.feature_names(molecules())) == 16


def test_members_of_sets_are_themselves() -> None:
    assert set(mc.Intersection().feature_names([{"a", 1}, {(2, "b")}])) == {"a", 1, (2, "b")}
    assert mc.Intersection().feature_names(np.array([[0, 1, 1]])) == [0, 1, 2]


def test_words_and_their_places() -> None:
    assert _counts(mc.WeightedDegree(2), "ACA").keys() == {"A at 0", "AC at 0", "C at 1", "CA at 1", "A at 2"}


# ---------------------------------------------------------------------------------------------------------------------
# Molecules
# ---------------------------------------------------------------------------------------------------------------------

SMILES = [
    "CCO",
    "C[C@H](N)C(=O)[O-]",
    "c1ccccc1C1CC1",
    "[13CH4]",
    "[H][H]",
    "C[NH3+]",
    "c1cc[nH]c1",
    "O=S(=O)(N)c1ccc(Cl)cc1",
    "[Na+].CCC(=O)[O-].OC",
]


@pytest.mark.parametrize("smiles", SMILES)
def test_names_of_morgan_are_patterns_that_the_molecule_has(smiles: str) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    mol = chem.MolFromSmiles(smiles)
    pieces = {name for part in smiles.split(".") for name in mc.Morgan(2, chirality=False).feature_names([part])}
    assert pieces == set(mc.Morgan(2, chirality=False).feature_names([smiles]))
    names = mc.Morgan(2, chirality=False).feature_names([smiles])
    assert names
    for name in names:
        assert mol.HasSubstructMatch(chem.MolFromSmarts(name)), name


def test_names_of_fingerprints() -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(ValueError, match="at least 5"):
        mc.AtomPairs(bits=4)
    assert _counts(mc.TopologicalPaths(2, True), "CCO") == {"CC": 1, "CO": 1, "CCO": 1}
    assert _counts(mc.AtomPairs(True), "CCO") == {"CX1-(1)-CX2": 1, "CX2-(1)-OX1": 1, "CX1-(2)-OX1": 1}
    assert set(mc.AtomPairs().feature_names(["C=O"])) == {"CX1.-(1)-OX1."}
    folded = mc.Morgan(0, bits=2).feature_names(["CCO", "CN"])
    assert len(folded) == 2
    assert {part for name in folded for part in name.split(" | ")} == {"[CH3]", "[CH2]", "[OH]", "[NH2]"}
    assert "bit 3" in mc.Morgan(0, bits=64).feature_names(["C"])


def test_the_weights_of_a_function_have_names() -> None:
    pytest.importorskip("rdkit")
    X, y = ["CCO", "CCCO", "CCN", "CCCN"], [1.0, 1.0, 0.0, 0.0]
    names, weights = mc.KernelRidge(kernel=mc.Morgan(0)).fit(X, y).function_.feature_weights()
    found = dict(zip(names, np.asarray(weights).reshape(-1).tolist(), strict=True))
    assert found["[OH]"] > 0 > found["[NH2]"]
