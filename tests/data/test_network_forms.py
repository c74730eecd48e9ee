"""One graph in every form that users have it in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import mercer as mc
from mercer.data import DataError

W = np.array([[0.0, 2.0, 0.0, 0.0], [2.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.5], [0.0, 0.0, 0.5, 0.0]])
NAMES = ["Ann", "Bob", "Cid", "Dot"]
EDGES = [("Ann", "Bob", 2.0), ("Bob", "Cid", 1.0), ("Cid", "Dot", 0.5)]


def weighted(kind: Any = nx.Graph) -> Any:
    g = kind()
    g.add_weighted_edges_from(EDGES)
    return g


def added_up() -> Any:
    g = nx.MultiGraph()
    g.add_weighted_edges_from([("Ann", "Bob", 1.5), ("Ann", "Bob", 0.5), *EDGES[1:]])
    return g


FORMS = {
    "matrix": (W, NAMES),
    "sparse": (sparse.csr_array(W), NAMES),
    "networkx": (weighted(), None),
    "networkx, both ways": (weighted(nx.Graph).to_directed(), None),
    "networkx, edges that add up": (added_up(), None),
    "edges": (EDGES, None),
    "edges as lists": ([list(e) for e in EDGES] + [["Bob", "Ann", 2.0]], None),
    "edges of networkx": (list(weighted().edges(data=True)), None),
    "table of edges": (pd.DataFrame(EDGES, columns=["from", "to", "weight"]), None),
    "table of weights": (pd.DataFrame(W, NAMES, NAMES), None),
    "neighbours": ({"Ann": {"Bob": 2.0}, "Bob": {"Ann": 2.0, "Cid": 1.0}, "Cid": {"Dot": 0.5}}, None),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_one_network(form: str) -> None:
    network = mc.Network(*FORMS[form])
    assert network.names == NAMES
    np.testing.assert_array_equal(network.W.toarray(), W)
    K = mc.Diffusion(FORMS[form][0] if FORMS[form][1] is None else network, 0.7)(NAMES)
    values, vectors = np.linalg.eigh(np.diag(W.sum(1)) - W)
    np.testing.assert_allclose(K, vectors * np.exp(-0.7 * values) @ vectors.T, atol=1e-13)


def test_edges_without_weights_weigh_one() -> None:
    pairs = [("Ann", "Bob"), ("Bob", "Cid"), ("Cid", "Dot")]
    for form in (
        pairs,
        np.array(pairs),
        nx.Graph(pairs),
        pd.DataFrame(pairs),
        {"Ann": ["Bob"], "Bob": ["Ann", "Cid"], "Cid": ["Dot"]},
    ):
        assert mc.Network(form) == mc.Network((W > 0).astype(float), NAMES)
    assert (
        mc.Network([(0, 1), (1, 2), (2, 3)])
        == mc.Network(mc.Graph([(0, 1), (1, 2), (2, 3)]))
        == mc.Network(nx.path_graph(4))
    )
    assert mc.Network([(7, 3), (3, 5)]).names == [3, 5, 7]


def test_names_may_say_more_than_the_edges() -> None:
    network = mc.Network(EDGES, names=["Eve", *NAMES[::-1]])
    assert len(network) == 5
    assert network.W[[0]].nnz == 0
    assert mc.Diffusion(network)(["Eve"], ["Eve", "Ann"]).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (nx.DiGraph([("a", "b")]), r"directed.*to_undirected"),
        (Path("graph.csv"), r"'graph.csv'.*is not a graph here; give"),
        ("graph.csv", r"str \('graph.csv'\) is not a graph here; give"),
        (5, "int is not a graph"),
        ([1, 2], r"Edge 0 is 1; an edge is \(u, v\)"),
        ([("a", "b"), ("a",)], "Edge 1 has 1 parts"),
        ([("a", "b", 1.0, 2)], "Edge 0 has more than 3 parts"),
        ([("a", "b", "heavy")], "Edge 0 .* its weight is a number"),
        ([(["a"], "b")], "Edge 0 .* names or numbers"),
        ([("a", "b", 1.0), ("b", "a", 2.0)], "two weights, 1 and 2"),
        ([("a", "b", -1.0)], "at least 0"),
        ([("a", "b", np.nan)], "two weights|finite"),
        (nx.Graph([("a", "b", {"weight": "x"})]), r"\('a', 'b'\) has the weight 'x'"),
        (np.zeros((2, 5)), "square"),
        (pd.DataFrame(np.zeros((2, 5))), "5 columns"),
    ],
)
def test_what_is_no_graph_is_told_so(graph: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        mc.Network(graph)
    with pytest.raises(DataError, match="not among the names"):
        mc.Network(EDGES, names=["Ann", "Bob"])


def test_weights_of_another_name_are_missed() -> None:
    g = nx.Graph()
    g.add_edge("a", "b", strength=2.0)
    with pytest.warns(
        UserWarning, match=r"All edges weigh 1.*'strength'.*nx.to_numpy_array\(g, weight='strength'\), list\(g\)"
    ):
        mc.Network(g)
    assert mc.Network(nx.to_numpy_array(g, weight="strength"), list(g)).W[0, 1] == 2.0
