"""Graphs in every form that users have them in."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import mercer as mc
from tests import graph_oracles as truth
from tests.graph_oracles import Plain
from tests.graph_samples import (
    SOME,
    FakeIgraph,
    X,
    adjacency,
    array_of,
    assert_equal,
    bonded,
    coded,
    graph,
    graphs,
    networked,
    plain_set,
    title,
    unmarked,
)


def edge_index(p: Plain) -> tuple[Any, Any]:
    arcs = truth.steps(p)
    return np.array([[a[0] for a in arcs], [a[1] for a in arcs]]), np.array([a[2] for a in arcs])


def neighbours(p: Plain, name: Callable[[int], Any] = int) -> dict[Any, list[Any]]:
    return {name(v): [name(b) for a, b, _ in truth.steps(p) if a == v] for v in range(len(p.labels))}


def one_hot(p: Plain) -> Any:
    return np.eye(3)[["CNO".index(x) for x in p.labels]]


def names_reversed(p: Plain, name: Callable[[int], Any]) -> dict[Any, Any]:
    """Labels by name, the last vertex first."""
    return {name(v): p.labels[v] for v in reversed(range(len(p.labels)))}


def place(v: int) -> tuple[str, int]:
    return "row", v


MARKED: dict[str, Callable[[Plain], Any]] = {
    "networkx": networked,
    "networkx, names": lambda p: networked(p, title),
    "networkx, tuples": lambda p: networked(p, place),
    "networkx, numbers from 10 down": lambda p: networked(p, lambda v: 10 - v),
    "networkx, mixed names": lambda p: networked(p, lambda v: [v, title(v), place(v)][v % 3]),
    "edges, labels, edge labels": lambda p: (list(p.edges), list(p.labels), list(p.edges.values())),
    "lists, tuple of labels": lambda p: ([list(e) for e in p.edges], p.labels, tuple(p.edges.values())),
    "arrays": lambda p: (np.array(list(p.edges)), np.array(p.labels), np.array(list(p.edges.values()))),
    "small arrays": lambda p: (
        np.array(list(p.edges), np.uint8),
        np.array(p.labels, object),
        np.array(list(p.edges.values()), np.int8),
    ),
    "edges, labels, dictionary": lambda p: (list(p.edges), list(p.labels), dict(p.edges)),
    "edges in both directions": lambda p: (
        [s[:2] for s in truth.steps(p)],
        list(p.labels),
        [s[2] for s in truth.steps(p)],
    ),
    "edges backwards": lambda p: ([e[::-1] for e in p.edges][::-1], list(p.labels), list(p.edges.values())[::-1]),
    "names": lambda p: (
        [(title(u), title(v)) for u, v in p.edges],
        names_reversed(p, title),
        {(title(v), title(u)): m for (u, v), m in p.edges.items()},
    ),
    "tuples as names": lambda p: (
        [(place(u), place(v)) for u, v in p.edges],
        names_reversed(p, place),
        {(place(u), place(v)): m for (u, v), m in p.edges.items()},
    ),
    "names, list of edge labels": lambda p: (
        [(title(u), title(v)) for u, v in p.edges],
        names_reversed(p, title),
        list(p.edges.values()),
    ),
    "adjacency, labels, dictionary": lambda p: (adjacency(p), list(p.labels), dict(p.edges)),
    "neighbours, labels, dictionary": lambda p: (neighbours(p), list(p.labels), dict(p.edges)),
    "neighbours by name": lambda p: (
        neighbours(p, title),
        names_reversed(p, title),
        {(title(u), title(v)): m for (u, v), m in p.edges.items()},
    ),
    "dictionary of edges": lambda p: {
        "edges": list(p.edges),
        "labels": list(p.labels),
        "edge_labels": list(p.edges.values()),
    },
    "dictionary, named": lambda p: {
        "edges": [(title(u), title(v)) for u, v in p.edges],
        "labels": names_reversed(p, title),
        "edge_labels": {(title(u), title(v)): m for (u, v), m in p.edges.items()},
    },
    "edge_index": lambda p: {"edge_index": edge_index(p)[0], "labels": list(p.labels), "edge_attr": edge_index(p)[1]},
    "edge_index, column of edge labels": lambda p: {
        "edge_index": edge_index(p)[0].tolist(),
        "node_labels": list(p.labels),
        "edge_attr": edge_index(p)[1][:, None].astype(float),
        "num_nodes": len(p.labels),
    },
    "object with edge_index": lambda p: SimpleNamespace(
        edge_index=edge_index(p)[0], labels=list(p.labels), edge_attr=edge_index(p)[1], y=3
    ),
    "igraph": FakeIgraph,
    "a matrix of edge labels": lambda p: (adjacency(p), list(p.labels), _mark_matrix(p)),
}
BARE: dict[str, Callable[[Plain], Any]] = {
    "adjacency": lambda p: (adjacency(p), list(p.labels)),
    "adjacency of bools": lambda p: (adjacency(p, bool), list(p.labels)),
    "adjacency of floats": lambda p: (adjacency(p, np.float32), np.array(p.labels)),
    "adjacency, labels by number": lambda p: (adjacency(p), dict(enumerate(p.labels))),
    "nested lists": lambda p: (adjacency(p).tolist(), list(p.labels)),
    "csr": lambda p: (sparse.csr_array(adjacency(p)), list(p.labels)),
    "csc matrix": lambda p: (sparse.csc_matrix(adjacency(p)), tuple(p.labels)),
    "coo": lambda p: (sparse.coo_array(adjacency(p, bool)), list(p.labels)),
    "lil": lambda p: (sparse.lil_array(adjacency(p)), list(p.labels)),
    "stored zeros": lambda p: (_with_zeros(adjacency(p)), list(p.labels)),
    "edges, labels": lambda p: (list(p.edges), list(p.labels)),
    "tuple of edges": lambda p: (tuple(p.edges), "".join(p.labels)),
    "set of edges": lambda p: (set(p.edges), list(p.labels)),
    "neighbours": lambda p: (neighbours(p), list(p.labels)),
    "neighbours, sets": lambda p: ({v: set(n) for v, n in neighbours(p).items()}, list(p.labels)),
    "neighbours, one way": lambda p: ({v: [w for w in n if w > v] for v, n in neighbours(p).items()}, list(p.labels)),
    "networkx, no edge labels": networked,
    "igraph, no edge labels": FakeIgraph,
    "edges and labels in a dictionary": lambda p: {
        "edges": np.array(list(p.edges)),
        "label": np.array(p.labels),
        "n_vertices": len(p.labels),
    },
}
CODED: dict[str, Callable[[Plain], Any]] = {
    "one-hot rows": lambda p: {
        "edge_index": edge_index(p)[0],
        "x": one_hot(p),
        "edge_attr": edge_index(p)[1],
        "num_nodes": len(p.labels),
    },
    "one-hot of bools": lambda p: {
        "edge_index": edge_index(p)[0],
        "x": one_hot(p).astype(bool),
        "edge_attr": edge_index(p)[1],
    },
    "one-hot in an object": lambda p: SimpleNamespace(
        edge_index=edge_index(p)[0], x=one_hot(p), edge_attr=edge_index(p)[1], num_nodes=None
    ),
    "floats as labels": lambda p: (
        list(p.edges),
        [float("CNO".index(x)) for x in p.labels],
        [float(m) for m in p.edges.values()],
    ),
    "array of floats": lambda p: (
        list(p.edges),
        np.array(coded(p).labels, float),
        np.array(list(p.edges.values()), np.float32),
    ),
    "array of bytes": lambda p: (
        list(p.edges),
        np.array(coded(p).labels, np.uint8),
        np.array(list(p.edges.values()), np.uint64),
    ),
    "numbers of NumPy": lambda p: (
        list(p.edges),
        [np.int64(x) for x in coded(p).labels],
        [np.int8(m) for m in p.edges.values()],
    ),
}
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "generator": lambda x: (g for g in x),
    "deque": deque,
    "values of a dictionary": lambda x: dict(enumerate(x)).values(),
    "array of objects": lambda x: array_of(x),
    "column of an array": lambda x: array_of(x)[:, None],
    "pandas": pd.Series,
    "pandas, shuffled index": lambda x: pd.Series(x, index=np.arange(len(x))[::-1]),
    "a table of one column": lambda x: pd.DataFrame({"graph": x}),
}


def _mark_matrix(p: Plain) -> Any:
    A = np.zeros((len(p.labels),) * 2, int)
    for u, v, m in truth.steps(p):
        A[u, v] = m
    return A


def _with_zeros(A: Any) -> Any:
    rows, columns = np.indices(A.shape)
    return sparse.coo_array((A.ravel(), (rows.ravel(), columns.ravel())), shape=A.shape)


OTHERS = [*bonded(1, 4), X[0]]


def assert_same(form: Callable[[Plain], Any], left: list[Plain], right: list[Plain]) -> None:
    for kernel in SOME:
        assert_equal(kernel, kernel([form(p) for p in left]), kernel(graphs(left)))
        assert_equal(kernel, kernel([form(p) for p in right], graphs(left)), kernel(graphs(right), graphs(left)))
    refinement = mc.WeisfeilerLehman(2)
    np.testing.assert_array_equal(refinement.diag([form(p) for p in left]), refinement.diag(graphs(left)))


@pytest.mark.thorough
@pytest.mark.parametrize("form", MARKED)
def test_every_form_has_the_same_matrix(form: str) -> None:
    assert_same(MARKED[form], X, OTHERS)


@pytest.mark.thorough
@pytest.mark.parametrize("form", BARE)
def test_every_form_without_edge_labels(form: str) -> None:
    assert_same(BARE[form], [unmarked(p) for p in X], [unmarked(p) for p in OTHERS])


@pytest.mark.parametrize("form", CODED)
def test_every_form_of_numbers_as_labels(form: str) -> None:
    for kernel in SOME:
        same = [CODED[form](p) for p in X]
        np.testing.assert_array_equal(kernel(same), kernel(graphs([coded(p) for p in X])), str(kernel))
        np.testing.assert_array_equal(
            kernel(same, graphs([coded(p) for p in OTHERS])),
            kernel(*(graphs([coded(p) for p in Z]) for Z in (X, OTHERS))),
        )


@pytest.mark.thorough
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container(container: str) -> None:
    held = CONTAINERS[container]
    forms = [
        graph,
        MARKED["edges, labels, edge labels"],
        MARKED["dictionary of edges"],
        MARKED["object with edge_index"],
    ]
    for form in forms[:1] if container == "a table of one column" else forms:
        for kernel in (mc.WeisfeilerLehman(2), mc.WeisfeilerLehman(2) + mc.ShortestPath(), mc.Walk(1).normalized()):
            np.testing.assert_array_equal(kernel(held([form(p) for p in X])), kernel(graphs(X)))
            np.testing.assert_array_equal(
                kernel(held([form(p) for p in OTHERS]), graphs(X)), kernel(graphs(OTHERS), graphs(X))
            )


def test_forms_can_be_mixed() -> None:
    forms = [graph, *MARKED.values()]
    mixed = [form(p) for form, p in zip(itertools.cycle(forms), X * 3, strict=False)]
    for kernel in SOME:
        assert_equal(kernel, kernel(mixed), np.tile(kernel(graphs(X)), (3, 3)))


def test_a_stack_of_adjacency_matrices() -> None:
    same = [Plain((0,) * 5, p.edges) for p in plain_set(21, 30) if len(p.labels) == 5]
    for kernel in (mc.Walk(2), mc.ShortestPath(), mc.Graphlet(3)):
        expected = kernel([mc.Graph(list(p.edges), n_vertices=5) for p in same])
        np.testing.assert_array_equal(kernel(np.stack([adjacency(p) for p in same])), expected)
        np.testing.assert_array_equal(kernel([adjacency(p) for p in same]), expected)
        np.testing.assert_array_equal(kernel([sparse.csr_array(adjacency(p)) for p in same]), expected)
        np.testing.assert_array_equal(kernel([(adjacency(p), None) for p in same]), expected)


def test_edges_alone() -> None:
    expected = mc.Walk(2)([mc.Graph(list(p.edges)) for p in X])
    for form in (
        list,
        set,
        frozenset,
        lambda e: np.array(list(e)),
        lambda e: (list(e),),
        lambda e: [list(p) for p in e],
        lambda e: {"edges": list(e)},
    ):
        np.testing.assert_array_equal(mc.Walk(2)([form(p.edges) for p in X]), expected)
    assert mc.Graph(itertools.pairwise(range(4))).n_vertices == 4
    assert mc.Graph(zip([0, 1], [1, 2], strict=True), "ABC").n_vertices == 3


@pytest.mark.parametrize(
    "form",
    [
        "edge_index",
        "edge_index, column of edge labels",
        "object with edge_index",
        "igraph",
        "networkx",
        "networkx, tuples",
    ],
)
def test_every_form_of_directed_graphs(form: str) -> None:
    assert_same(MARKED[form], bonded(3, 8, True), bonded(4, 4, True))


@pytest.mark.parametrize(
    "form", ["adjacency", "csr", "coo", "nested lists", "networkx, no edge labels", "igraph, no edge labels"]
)
def test_every_form_of_directed_graphs_without_edge_labels(form: str) -> None:
    assert_same(BARE[form], [unmarked(p) for p in bonded(3, 8, True)], [unmarked(p) for p in bonded(4, 4, True)])


@pytest.mark.parametrize(
    "kernel",
    [mc.ShortestPath(), mc.PathBag(2), mc.WeisfeilerLehman(2), mc.Graphlet(2), mc.Subgraph(2), mc.Walk(2)],
    ids=str,
)
def test_an_undirected_graph_prefers_no_direction(kernel: mc.Kernel) -> None:
    names = ["C", "O", "N", "F", "S", "P"]
    for a, b in itertools.combinations(names, 2):
        there, back = mc.Graph([(0, 1)], [a, b], directed=True), mc.Graph([(1, 0)], [a, b], directed=True)
        K = kernel([there, back], [mc.Graph([(0, 1)], [a, b])])
        assert K[0, 0] == K[1, 0], (a, b)


@pytest.mark.parametrize(
    "kernel",
    [mc.VertexHistogram(), mc.PathBag(2), mc.WeisfeilerLehman(2), mc.Graphlet(1), mc.Subgraph(2), mc.Walk(0)],
    ids=str,
)
def test_without_edges_there_is_no_direction(kernel: mc.Kernel) -> None:
    Z = [mc.Graph([], ["C", "O"], directed=directed) for directed in (False, True)]
    K = kernel(Z)
    assert (K[0, 0] == K).all()


def test_other_names_of_attributes() -> None:
    nx = pytest.importorskip("networkx")
    kernel, expected = mc.WeisfeilerLehman(2), mc.WeisfeilerLehman(2)(graphs(X))
    named = [networked(p, title, "element", "bond") for p in X]
    np.testing.assert_array_equal(kernel(mc.as_graphs(named, label="element", edge_label="bond")), expected)
    np.testing.assert_array_equal(
        kernel(mc.as_graphs([FakeIgraph(p, "element") for p in X], label="element", edge_label="element")), expected
    )
    np.testing.assert_array_equal(kernel(mc.as_graphs(graphs(X))), expected)
    g = nx.path_graph(3)
    nx.set_node_attributes(g, {v: [v, 2.0] for v in g}, "place")
    (found,) = mc.as_graphs([g], attributes="place")
    np.testing.assert_array_equal(found.attributes, [[0, 2], [1, 2], [2, 2]])
    assert found.labels is None
    assert found.edge_labels is None
    assert repr(found) == "<graph of 3 vertices and 2 edges>"


def test_subgraph_views_of_networkx() -> None:
    pytest.importorskip("networkx")
    g = networked(X[0], title)
    part = g.subgraph([title(0), title(1)])
    assert mc.VertexHistogram()([part])[0, 0] == mc.VertexHistogram()([mc.Graph([], X[0].labels[:2])])[0, 0]
    (turned,) = mc.as_graphs([networked(bonded(3, 1, True)[0]).reverse()])
    assert turned.directed


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore::mercer.data.notices.IgnoredWarning")  # the last has attributes that none here uses
def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    p = X[0]
    index, marks = (torch.from_numpy(a) for a in edge_index(p))
    expected = graph(coded(p))
    for given_graph in (
        {"edge_index": index, "x": torch.from_numpy(one_hot(p)), "edge_attr": marks},
        {
            "edge_index": index,
            "x": torch.from_numpy(one_hot(p)).float(),
            "edge_attr": torch.nn.functional.one_hot(marks),
        },
        {
            "edge_index": index.to(torch.int32),
            "labels": torch.tensor(coded(p).labels),
            "edge_attr": marks[:, None].double(),
        },
        SimpleNamespace(
            edge_index=index, x=torch.from_numpy(one_hot(p)).long(), edge_attr=marks, num_nodes=len(p.labels)
        ),
        (index.T, torch.tensor(coded(p).labels), marks),
        {
            "edge_index": index,
            "labels": torch.tensor(coded(p).labels),
            "edge_attr": marks,
            "x": torch.rand(len(p.labels), 4),
        },
    ):
        for kernel in SOME:
            assert kernel([given_graph], [expected])[0, 0] == kernel([expected])[0, 0]


def test_rows_that_are_no_labels_are_attributes() -> None:
    x = np.array([[0.5, 1.0], [2.0, 3.0]])
    (found,) = mc.as_graphs([{"edge_index": [[0, 1], [1, 0]], "x": x}])
    assert found.labels is None
    np.testing.assert_array_equal(found.attributes, x)
    (found,) = mc.as_graphs([{"edge_index": [[0, 1], [1, 0]], "x": x, "labels": ["C", "O"]}])
    assert list(found.labels) == ["C", "O"]
    np.testing.assert_array_equal(found.attributes, x)


def test_one_hot_rows_of_graphs_without_vertices() -> None:
    Z = [
        {"edge_index": np.empty((2, 0), int), "x": np.empty((0, 3)), "num_nodes": 0},
        {"edge_index": [[0], [1]], "x": np.eye(3)[:2]},
    ]
    assert mc.VertexHistogram()(Z).tolist() == [[0, 0], [0, 2]]


@pytest.mark.filterwarnings("ignore::mercer.IgnoredWarning")
def test_a_graph_without_vertices_may_have_attributes() -> None:
    g = mc.Graph([], [], attributes=np.empty((0, 3)))
    assert g.n_vertices == 0
    assert mc.VertexHistogram()([g, mc.Graph([], ["C"], attributes=[[1.0, 2.0, 3.0]])]).tolist() == [[0, 0], [0, 1]]


def test_vertices_without_edges_are_there() -> None:
    one = [
        mc.Graph([(0, 1)], n_vertices=4),
        (np.diag([1, 0, 0], 1) + np.diag([1, 0, 0], -1), None),
        {"edge_index": [[0, 1], [1, 0]], "num_nodes": 4},
    ]
    assert mc.VertexHistogram()(one).tolist() == [[16.0] * 3] * 3
    assert mc.VertexHistogram()([({"a": ["b"], "b": [], "c": []}, {"a": 1, "b": 1, "c": 1})]).tolist() == [[9.0]]


def test_vertices_that_have_no_neighbours_are_there() -> None:
    for neighbourhood in ({0: [1], 1: [0], 2: []}, {0: [1], 1: [], 2: [], 3: []}):
        assert mc.as_graphs([(neighbourhood,)])[0].n_vertices == len(neighbourhood)


def test_a_dictionary_may_be_directed() -> None:
    (found,) = mc.as_graphs([{"edges": [(0, 1)], "labels": ["C", "O"], "directed": True}])
    assert found.directed
    (found,) = mc.as_graphs([{"edges": [("b", "a")], "labels": {"a": "C", "b": "O"}, "directed": True}])
    assert found.directed
    assert found.edges.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    "form",
    ["networkx", "arrays", "names", "adjacency, labels, dictionary", "edge_index", "igraph", "dictionary of edges"],
)
def test_loops_in_every_form(form: str) -> None:
    looped = [Plain(p.labels, {**p.edges, (1, 1): 2, (2, 2): 1}) for p in X]
    assert_same(MARKED[form], looped, looped[:3])


def test_dictionaries_of_labels_are_read_by_their_keys() -> None:
    expected = mc.Graph([(0, 1), (1, 2)], ["C", "N", "O"], ["x", "y"])
    found = mc.Graph([(0, 1), (1, 2)], {2: "O", 1: "N", 0: "C"}, {(1, 2): "y", (0, 1): "x"})
    assert mc.Walk(2)([found], [expected])[0, 0] == mc.Walk(2)([expected])[0, 0]


def test_rows_of_an_edge_are_one_label_whatever_the_other_edges_of_the_graph() -> None:
    one = {"edge_index": [[0, 1], [1, 0]], "edge_attr": np.array([[1, 0], [1, 0]])}
    two = {"edge_index": [[0, 1, 1, 2], [1, 0, 2, 1]], "edge_attr": np.array([[1, 0], [1, 0], [1, 1], [1, 1]])}
    assert mc.EdgeHistogram()([one, two]).tolist() == [[1, 1], [1, 2]]


def test_edges_given_twice_are_one() -> None:
    once, twice = (
        mc.Graph([(0, 1), (1, 2)], "ABC", ["x", "y"]),
        mc.Graph([(1, 0), (2, 1), (0, 1), (1, 2), (1, 2)], "ABC", ["x", "y", "x", "y", "y"]),
    )
    for kernel in SOME:
        K = kernel([once, twice])
        assert (K[0, 0] == K).all()
    directed = mc.Graph([(0, 1), (1, 0), (0, 1)], "AB", directed=True)
    assert len(directed.edges) == 2
    assert len(mc.Graph([(1, 1), (1, 1)]).edges) == 1


def test_reading_a_graph_does_not_depend_on_the_others() -> None:
    ring, arrow = np.roll(np.eye(3), 1, 1) + np.roll(np.eye(3), -1, 1), np.triu(np.ones((3, 3)), 1)
    for graphs_read in ([ring], [ring, arrow]):
        assert mc.ShortestPath()([ring], graphs_read)[0, 0] == 9


def test_edge_labels_by_both_ends_leave_the_number_of_vertices() -> None:
    (g,) = mc.as_graphs([{"edges": [(0, 1)], "edge_labels": {(0, 1): "x"}, "n_vertices": 4}])
    assert (g.n_vertices, list(g.edge_labels)) == (4, ["x"])
