"""Contributions of features and places: they add up, and are where they were planted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.cases import EVERY, SEQUENCES, STRUCTURES, Case, filled_graphs, molecules, strings
from tests.explanations.test_columns import machine

MORE = [
    Case(0.5 * mc.exp(0.01 * mc.Spectrum(2)) + 2.0, None, strings),
    Case(mc.Tanimoto(mc.Morgan(2)), None, molecules),
    Case(mc.MinMax(mc.Morgan(1, True)), None, molecules),
    Case(mc.WeisfeilerLehman(2).normalized() * mc.VertexHistogram(), None, filled_graphs),
    Case(mc.Gappy(4, 2).over("ACGT").both_strands().normalized(), None, strings),
]


# those that say where their features are
WITH_PLACES = (
    "AtomPairs", "BagOfWords", "EdgeHistogram", "Gappy", "Graphlet", "HashedAttributes", "MinMax", "Mismatch", "Morgan",
    "PathBag", "Profile", "Propagation", "PyramidMatch", "Reactants", "ShortestPath", "Spectrum", "Subgraph",
    "Tanimoto", "TopologicalPaths", "VertexHistogram", "WLOptimalAssignment", "WeightedDegree", "WeisfeilerLehman",
)  # fmt: skip
# by the beginning of their text: those that do not, and items without places; what is in neither list may be either
WITHOUT = (
    "EstimatedGappy",
    "WeightedDegree(degree=4, shift",
    "Subsequence",
    "Substring",
    "GlobalAlignment",
    "LocalAlignment",
    "SoftDTW",
    "CrossCorrelation",
    "Gaussian(γ=0.3).resampled",
    "Signature",
    "TruncatedSignature",
    "WeisfeilerLehman(depth=1, base=Walk",
    "WeisfeilerLehman(depth=2).normalized() + ",
    "Walk",
    "GeometricWalk",
    "GraphHopper",
    "KernelWalk",
    "HashedAttributes(base=Walk",
    "Wasserstein",
    "TreeKernel",
    "Intersection",
    "Tanimoto()",
    "MinMax(base=Linear",
    "Diffusion",
    "ExponentialDiffusion",
    "MatrixPower",
    "RegularizedLaplacian",
    "PStepWalk",
    "CommuteTime",
    "FisherScores",
    "Convolution",
    "Reaction(",
    "Descriptors",
    "Coulomb",
)


def has_places(f: mc.RKHSFunction, X: Any) -> bool:
    try:
        mc.explain(f, X, "place")
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("case", SEQUENCES + STRUCTURES + MORE, ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_places_and_features_add_up(case: Case) -> None:
    X = case.data()
    f, few = machine(case.kernel, X, 2), X[:3]
    known = str(case).startswith((*WITH_PLACES, *WITHOUT))
    if str(case).startswith(WITHOUT) or (not known and not has_places(f, few)):
        with pytest.raises(TypeError, match='by="sample"'):
            mc.explain(f, few, "place")
        return
    for by in ("place", "feature"):
        for e, answer in zip(mc.explain(f, few, by), f(few), strict=True):
            np.testing.assert_allclose(e.total, answer, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("case", EVERY, ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_kernel_has_an_explanation_that_adds_up(case: Case) -> None:
    X = case.data()
    f = machine(case.kernel, X)
    for by in ("sample", "term", "auto"):
        found = mc.explain(f, X[:2], by, n_permutations=4, random_state=0)
        np.testing.assert_allclose([e.total for e in found], f(X[:2]), rtol=1e-8, atol=1e-8)


def test_what_each_question_falls_to() -> None:
    strings = ["ACGT", "CCGA", "ATTA"]
    assert mc.explain(machine(mc.Spectrum(2).normalized(), strings), strings[:1])[0].by == "place"
    assert mc.explain(machine(mc.Subsequence(2), strings), strings[:1])[0].by == "sample"
    assert mc.explain(machine(mc.Gaussian(1.0), np.eye(3)), np.eye(3)[:1])[0].by == "column"
    table = np.array([[1.0, "ACG"], [2.0, "CCG"]], dtype=object)
    mixed = machine(mc.Gaussian(1.0).on([0]) + mc.Spectrum(2).on(1), table)
    [e] = mc.explain(mixed, table[:1])
    assert (e.by, e.names) == ("term", ["Gaussian(γ=1.0).on([0])", "Spectrum(k=2).on(1)"])


def test_shares_by_hand() -> None:
    """One centre, AC twice and CG once in it: each of x's words has its count there; a place has half of each word."""
    f = mc.RKHSFunction(mc.Spectrum(2), ["ACACG"], np.array([3.0]), 0.5)
    [e] = mc.explain(f, ["ACGT"], "feature")
    assert dict(zip(e.names, e.values.tolist(), strict=True)) == {"AC": 6.0, "CG": 3.0}
    assert e.places == [(0, 1), (1, 2)]
    assert e.base == 0.5
    [e] = mc.explain(f, ["ACGT"], "place")
    assert e.names == [0, 1, 2, 3]
    assert e.labels == list("ACGT")
    np.testing.assert_allclose(e.values, [3.0, 4.5, 1.5, 0.0])


def test_the_places_of_a_reaction_are_its_atoms() -> None:
    pytest.importorskip("rdkit")
    f = mc.RKHSFunction(mc.Products(mc.Morgan(0)) + mc.Agents(mc.Morgan(0)), ["C>O>CN"], np.array([1.0]))
    [e] = mc.explain(f, ["CC>O>CN"], "place")
    assert e.labels == ["C", "C", "O", "C", "N"]
    np.testing.assert_allclose(e.values, [0.0, 0.0, 1.0, 1.0, 1.0])


def test_a_product_gives_each_factor_the_same() -> None:
    f = mc.RKHSFunction(mc.Spectrum(1) * mc.Spectrum(2), ["ACAC"], np.array([1.0]))
    [e] = mc.explain(f, ["AC"], "feature")  # 4 · 2, of which A, C and AC have 2, 2 and 4
    assert dict(zip(e.names, e.values.tolist(), strict=True)) == {"A": 2.0, "C": 2.0, "AC": 4.0}


def test_a_value_without_features_is_a_constant() -> None:
    f = mc.RKHSFunction(mc.exp(mc.Spectrum(2)), ["GGG", "ACA"], np.array([1.0, 1.0]))
    [e] = mc.explain(f, ["GG"], "place")
    assert e.names == [0, 1, "constant"]
    np.testing.assert_allclose(e.values, [np.exp(2) / 2, np.exp(2) / 2, 1.0])


def test_a_kernel_without_places_says_what_can_be_asked() -> None:
    f = machine(mc.Spectrum(2) + mc.Subsequence(2), ["ACGT", "CCGT"])
    with pytest.raises(TypeError, match=r'Subsequence.*by="sample"'):
        mc.explain(f, ["ACG"], "place")
    with pytest.raises(TypeError, match='have no places; ask by="sample"'):
        mc.explain(machine(mc.Gaussian(1.0), np.eye(2)), np.eye(2), "place")


def _planted(rng: Any, n: int, fragment: str) -> tuple[list[str], Any]:
    """Chains, half of them with the fragment as a branch."""
    backbone = ["C", "CC", "CO", "C(C)", "CN", "C(O)"]
    out, y = [], np.arange(n) % 2
    for has in y:
        parts = list(rng.choice(backbone, rng.integers(4, 8)))
        if has:
            parts.insert(int(rng.integers(1, len(parts))), f"C({fragment})")
        out.append("".join(parts))
    return out, y


@pytest.mark.parametrize("kernel", [mc.Tanimoto(mc.Morgan(2)), mc.WeisfeilerLehman(2).normalized()], ids=str)
def test_the_atoms_of_a_planted_fragment_are_found(kernel: mc.Kernel) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    from sklearn.metrics import roc_auc_score

    fragment = "S(=O)(=O)C(F)(F)F"
    smiles, y = _planted(np.random.default_rng(0), 120, fragment)
    pattern = chem.MolFromSmarts(fragment)
    model = mc.SVC(kernel=kernel).fit(smiles[:80], y[:80])
    values, truth = [], []
    tests = [s for s, has in zip(smiles[80:], y[80:], strict=True) if has]
    for e, s in zip(mc.explain(model, tests, "place"), tests, strict=True):
        mol = chem.MolFromSmiles(s)
        inside = set(mol.GetSubstructMatch(pattern))
        values += e.values[: mol.GetNumAtoms()].tolist()
        truth += [v in inside for v in range(mol.GetNumAtoms())]
    assert roc_auc_score(truth, values) > 0.95
