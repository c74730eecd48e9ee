"""What the data has and a kernel does not use is told once for each call, with the cure; and nothing is said where
nothing is lost.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import mercer as mc
from mercer.data.notices import lost, one_call, quietly, used


def told(call: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert all(issubclass(w.category, mc.IgnoredWarning) for w in found)
    return [str(w.message) for w in found]


def test_a_call_tells_each_thing_once_and_what_is_used_not() -> None:
    def call() -> None:
        with one_call():
            for _ in range(3):
                lost("this", "this is lost")
                lost("that", "that is lost")
            with one_call():
                used("that")

    assert told(call) == ["this is lost [M115]"]
    assert told(lambda: lost("this", "this is lost")) == ["this is lost [M115]"]

    def quiet() -> None:
        with quietly():
            lost("this", "this is lost")

    assert told(quiet) == []


# ---------------------------------------------------------------------------------------------------------------------
# Graphs
# ---------------------------------------------------------------------------------------------------------------------


def ethanal() -> Any:
    g = nx.Graph()
    g.add_nodes_from([(0, {"atom": "C"}), (1, {"atom": "C"}), (2, {"atom": "O"})])
    g.add_edges_from([(0, 1, {"bond": 1}), (1, 2, {"bond": 2})])
    return g


def renamed() -> Any:
    g = nx.Graph()
    g.add_nodes_from((v, {"label": data["atom"], "pos": (0.0, 1.0)}) for v, data in ethanal().nodes(data=True))
    g.add_edges_from((u, v, {"label": data["bond"], "weight": 1.0}) for u, v, data in ethanal().edges(data=True))
    return g


def test_attributes_of_other_names() -> None:
    k = mc.WeisfeilerLehman(2)
    for call in (
        lambda: k([ethanal()]),
        lambda: k([ethanal()], [ethanal()] * 2),
        lambda: k.gram([ethanal()]),
        lambda: k.diag([ethanal()]),
    ):
        vertices, edges = told(call)
        assert re.search(
            r"vertices of graph 0 have 'atom', and nothing called 'label'.*as_graphs\(X, label='atom'\)", vertices
        )
        assert re.search(
            r"edges of graph 0 have 'bond', and nothing called 'label'.*as_graphs\(X, edge_label='bond'\)", edges
        )
    read = mc.as_graphs([ethanal()], label="atom", edge_label="bond")  # the cure
    assert told(lambda: k(read)) == []
    np.testing.assert_array_equal(k(read), k([mc.Graph([(0, 1), (1, 2)], ["C", "C", "O"], [1, 2])]))
    assert told(lambda: k([renamed()])) == []  # what is beside the labels is not meant
    assert told(lambda: k([nx.path_graph(3), nx.Graph()])) == []


def test_weights_of_edges() -> None:
    W = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 0.5], [0.0, 0.5, 0.0]])
    k = mc.ShortestPath()
    heavy = nx.Graph()
    heavy.add_weighted_edges_from([(0, 1, 2.0), (1, 2, 0.5)])
    for graph in (W, sparse.csr_array(W), sparse.lil_array(W), (W, ["a", "b", "c"]), heavy):
        (message,) = told(lambda graph=graph: k([graph, graph]))  # type: ignore[misc]
        assert "weights, which kernels between graphs do not use" in message
        assert "labels: " in message
    for graph in ((W, ["a", "b", "c"], W), W > 0, (W > 0).astype(float), 3.0 * (W > 0), nx.path_graph(3)):
        assert told(lambda graph=graph: k([graph])) == []  # type: ignore[misc]
    assert told(lambda: k(mc.as_graphs([heavy], edge_label="weight"))) == []
    assert told(lambda: mc.Diffusion(W)([0, 1])) == []


def test_numbers_of_vertices() -> None:
    g = mc.Graph([(0, 1)], ["A", "B"], attributes=[[1.0], [2.0]])
    for k in (mc.WeisfeilerLehman(1), mc.GraphHopper(None), mc.WeisfeilerLehman(1).normalized() + mc.ShortestPath()):
        (message,) = told(lambda k=k: k([g, g], [g]))  # type: ignore[misc]
        assert "have attributes (numbers), which this kernel does not use: GraphHopper, " in message
    for k in (
        mc.Propagation(2),
        mc.WeisfeilerLehman(1, mc.Propagation(2)),
        mc.ShortestPath() + mc.Propagation(2).normalized(),
        mc.GraphHopper(),
        mc.HashedAttributes(mc.ShortestPath()),
        mc.WassersteinAttributes(1),
    ):
        assert told(lambda k=k: k([g, g], [g])) == []  # type: ignore[misc]
    assert told(lambda: mc.WeisfeilerLehman(1)([mc.Graph(g.edges, g.labels, g.edge_labels)])) == []


# ---------------------------------------------------------------------------------------------------------------------
# Sequences
# ---------------------------------------------------------------------------------------------------------------------

MASKED = ["ACGTacgtNN", "acgtACGT-A", "TTTTTTTTTTTT"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "k",
    [mc.Spectrum(3), mc.Gappy(9, 5), mc.Mismatch(3, 1), mc.Subsequence(2), mc.Substring(), mc.LocalAlignment()],
    ids=str,
)
def test_soft_masked_dna(k: mc.Kernel) -> None:
    (message,) = told(lambda: k(MASKED, MASKED[:2]))
    assert re.search(
        r"DNA in upper and lower case \(item 0 has 'a' at place 4\).*kernel.over\('ACGT', case='fold'\)", message
    )
    upper = [x.upper() for x in MASKED]
    for written in (
        MASKED,
        [x.encode() for x in MASKED],
        [list(x) for x in MASKED],
        [x.lower() for x in MASKED],
        [x.swapcase() for x in MASKED],
    ):
        assert told(lambda written=written: k.over(case="fold")(written)) == []  # type: ignore[misc]
        np.testing.assert_array_equal(k.over(case="fold")(written), k(upper))
        np.testing.assert_array_equal(k.over("ACGT", case="fold")(written), k.over("ACGT")(upper))
    np.testing.assert_array_equal(k.over("acgt", "letter", "fold")(MASKED), k.over("ACGT", "letter")(upper))
    np.testing.assert_array_equal(
        k.over("ACGT", case="fold").both_strands()(MASKED), k.over("ACGT").both_strands()(upper)
    )
    assert told(lambda: k.over("ACGT", case="fold").both_strands().normalized()(MASKED)) == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mc.IgnoredWarning)
        as_it_is = k(MASKED)
    assert told(lambda: k.over(case="keep")(MASKED)) == []
    np.testing.assert_array_equal(k.over(case="keep")(MASKED), as_it_is)


def test_what_is_not_dna_in_both_cases_may_be() -> None:
    k = mc.Spectrum(2)
    for X in (
        ["ACGT", "TTNN"],
        ["acgt", "nnac"],
        ["Act at a cat", "TAG"],
        ["MKvl", "ACDE"],
        [[1, 2], [66, 98]],
        [],
        [""],
        ["ACGTé", "acgt"],
    ):
        assert told(lambda X=X: k(X)) == []  # type: ignore[misc]
    assert told(lambda: mc.BagOfWords("counts")(["ACGT", "acgt"])) == []


def test_case_of_other_letters() -> None:
    k = mc.Spectrum(1).over(case="fold")
    assert k("äß", "ÄSS") == 1.0  # a letter becomes one letter, or stays
    assert k("ÿ", "Ÿ") == 1.0
    assert k(["ab"], [["ab", "A"]])[0, 0] == 1.0  # a token of several characters is not taken apart
    assert k.feature_names(["aB"]) == mc.Spectrum(1).feature_names(["AB"])
    assert mc.parse(str(mc.Spectrum(3).over("ACGT", case="fold"))) == mc.Spectrum(3).over("ACGT", case="fold")
    with pytest.raises(ValueError, match="case='lower': choose one of"):
        mc.Spectrum(3).over("ACGT", case="lower")
    with pytest.raises(ValueError, match=r"give an alphabet, as over\('ACGT'\)"):
        mc.Spectrum(3).over()


def test_a_machine_tells_once_when_it_learns_and_once_when_it_predicts(tmp_path: Any) -> None:
    y = [0, 1, 1]
    assert len(told(lambda: mc.SVC(kernel=mc.Spectrum(3)).fit(MASKED, y))) == 1
    model = mc.SVC(kernel=mc.Spectrum(3).over("ACGT", case="fold")).fit(MASKED, y)
    assert told(lambda: model.predict([x.lower() for x in MASKED])) == []
    np.testing.assert_array_equal(model.decision_function(MASKED), model.decision_function([x.upper() for x in MASKED]))
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(
        mc.load(tmp_path / "model").decision_function(MASKED), model.decision_function(MASKED)
    )


# ---------------------------------------------------------------------------------------------------------------------
# Molecules
# ---------------------------------------------------------------------------------------------------------------------

CHARGED, LEFT, RIGHT, TRANS, CIS = "C[N+](C)(C)C", "C[C@H](O)F", "C[C@@H](O)F", "C/C=C/C", "C/C=C\\C"


def test_charge_and_chirality_are_told() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    k = mc.PathBag(3)
    for read in (lambda x: x, chem.MolFromSmiles):
        (message,) = told(lambda read=read: k([read("CCO"), read(CHARGED)]))  # type: ignore[misc]
        assert re.search(
            r"have charge \(the first is molecule 1\).*kernel.atoms\(charge=True\).*kernel.atoms\(\)", message
        )
        for some in ((LEFT, RIGHT), (TRANS, CIS)):
            (message,) = told(lambda read=read, some=some: k([read(x) for x in some]))  # type: ignore[misc]
            assert re.search(r"have chirality \(the first is molecule 0\).*kernel.atoms\(chirality=True\)", message)
    assert told(lambda: k(["CCO", "[NH3]", "[CH3][CH3]", "[13CH4]", ""])) == []  # brackets alone say nothing
    for deliberate in (
        k.atoms(),
        k.atoms(True, True),
        mc.Tanimoto(k).atoms(),
        (k + mc.WeisfeilerLehman(1)).atoms(True, True),
    ):
        assert told(lambda deliberate=deliberate: deliberate([CHARGED, LEFT, CIS])) == []  # type: ignore[misc]
    assert len(told(lambda: mc.as_graphs([CHARGED, LEFT]))) == 2
    assert told(lambda: mc.as_graphs([CHARGED, LEFT], charge=False, chirality=True)) == []


def test_charge_and_chirality_as_labels() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    (graph,) = mc.as_graphs(["[Ca+2].[O-]S"], charge=True)
    assert sorted(graph.labels) == ["Ca+2", "O-", "S"]
    left, right = mc.as_graphs([LEFT, RIGHT], chirality=True)
    assert {*left.labels, *right.labels} == {"C", "O", "F", "C@R", "C@S"}
    k = mc.WeisfeilerLehman(2).atoms(chirality=True).normalized()
    K = k([LEFT, RIGHT, TRANS, CIS])
    assert K[0, 1] < 1 > K[2, 3]
    assert mc.WeisfeilerLehman(2).atoms().normalized()([LEFT], [RIGHT])[0, 0] == pytest.approx(1.0, abs=1e-14)
    turned = [
        chem.MolToSmiles(chem.MolFromSmiles(x), doRandom=True) for x in (LEFT, RIGHT, TRANS, CIS) for _ in range(3)
    ]
    # whatever the order of atoms
    np.testing.assert_allclose(np.diagonal(k(turned, [x for x in (LEFT, RIGHT, TRANS, CIS) for _ in range(3)])), 1.0)
    assert "C-C=E=C-C" in mc.PathBag(3).atoms(chirality=True).feature_names([TRANS])
    assert mc.parse(str(mc.PathBag(3).atoms(True, True))) == mc.PathBag(3).atoms(True, True)
    with pytest.raises(TypeError, match="not a kernel between graphs"):
        mc.Spectrum(2).atoms()


def test_fingerprints_tell_of_chirality() -> None:
    pytest.importorskip("rdkit")
    for k in (mc.Morgan(2), mc.AtomPairs()):
        name = type(k).__name__
        (message,) = told(lambda k=k: k([CHARGED, LEFT, RIGHT]))  # type: ignore[misc]
        assert f"{name}(chirality=True) does, {name}(chirality=False) says" in message
        for said in (True, False):
            asked = k._replace(chirality=said)
            assert told(lambda asked=asked: asked([CHARGED, LEFT, RIGHT])) == []  # type: ignore[misc]
            assert (asked.normalized()([LEFT], [RIGHT])[0, 0] < 1 - 1e-9) == said
    assert [re.search("charge|chirality", m)[0] for m in told(lambda: mc.TopologicalPaths(3)([CHARGED, LEFT]))] == [
        "charge",
        "chirality",
    ]  # type: ignore[index]
