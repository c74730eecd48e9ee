"""Broken graphs, and parameters that do not fit them: the error says where."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import mercer as mc
from mercer.data import DataError
from tests.graph_samples import GOOD, FakeIgraph, X, networked

LABELS = ["a", "b", "c"]
SQUARE = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])

BROKEN: dict[str, tuple[Any, str]] = {
    "an edge out of range": (([(0, 1), (1, 5)], LABELS), r"edge \(1, 5\).*there are 3"),
    "an edge just out of range": (([(0, 3)], LABELS), r"edge \(0, 3\).*there are 3"),
    "a negative vertex": (([(0, -1)], LABELS), r"edge \(0, -1\)"),
    "a negative vertex of edge_index": ({"edge_index": [[0, 1], [1, -2]]}, r"edge \(1, -2\)"),
    "an edge beyond num_nodes": ({"edge_index": [[0, 1], [1, 4]], "num_nodes": 3}, r"edge \(1, 4\).*there are 3"),
    "floats": (([(0, 1.0)], LABELS), r"pairs of vertex numbers.*float"),
    "halves": (([(0, 1.5)], LABELS), r"pairs of vertex numbers.*float"),
    "floats in edge_index": ({"edge_index": [[0.5, 1], [1, 2.7]]}, r"numbers"),
    "bools": (([(True, False)], LABELS), r"pairs of vertex numbers"),
    "three columns": (([(0, 1, 2)], LABELS), r"pairs of vertex numbers.*\(1, 3\)"),
    "three columns, floats": (
        np.array([[0, 1, 2.0], [1, 2, 3.0], [0, 2, 1.0], [0, 1, 1.0]]),
        r"pairs of vertex numbers.*\(4, 3\)",
    ),
    "three columns of names": (([("a", "b", 2.0)], {"a": 1, "b": 2}), r"edge|pair"),
    "edges of different lengths": (([(0, 1), (1,)], LABELS), r"pairs"),
    "edges that are numbers": (([0, 1, 2], LABELS), r"pairs|edges"),
    "edges that are names": (([("a", "b")], LABELS), r"pairs of vertex numbers"),
    "edge_index the wrong way round": ({"edge_index": [[0, 1], [1, 2], [2, 0]]}, r"edge_index|shape"),
    "edge_index of one row": ({"edge_index": [0, 1, 2, 3]}, r"edge_index|shape"),
    "ragged edge_index": ({"edge_index": [[0, 1], [1]]}, r"edge_index|shape"),
    "no edges": ((None, LABELS), r"edges"),
    "a number of edges": ((3, LABELS), r"edges"),
    "labels that are a number": (([(0, 1)], 5), r"labels"),
    "too few labels": (([(0, 1)], ["a"]), r"edge \(0, 1\).*there are 1"),
    "too few labels for the number": (
        {"edges": [(0, 1)], "labels": ["a", "b"], "n_vertices": 3},
        r"n_vertices say 3.*labels say 2",
    ),
    "too few labels for the matrix": ((SQUARE, ["a", "b"]), r"labels"),
    "too many labels for the matrix": ((SQUARE, ["a", "b", "c", "d"]), r"labels"),
    "too few labels for the sparse matrix": ((sparse.csr_array(SQUARE), ["a", "b"]), r"labels"),
    "too few edge labels": (([(0, 1), (1, 2)], LABELS, ["x"]), r"2 edges and 1 edge labels"),
    "too many edge labels": (([(0, 1)], LABELS, ["x", "y"]), r"1 edges and 2 edge labels"),
    "two labels for an edge": (([(0, 1), (1, 0)], LABELS, ["x", "y"]), r"edge \(0, 1\) has two labels, 'x' and 'y'"),
    "two labels for an edge of edge_index": (
        {"edge_index": [[0, 1], [1, 0]], "edge_attr": [1, 2]},
        r"edge \(0, 1\) has two labels",
    ),
    "a name without a label": (([("a", "z")], {"a": 1, "b": 2}), r"'z'.*no label"),
    "an edge without a label": (
        ([("a", "b"), ("b", "c")], {"a": 1, "b": 2, "c": 3}, {("a", "b"): 1}),
        r"edge.*'b'.*'c'",
    ),
    "an edge of the matrix without a label": ((SQUARE, LABELS, {(0, 1): "x"}), r"edge.*1.*2"),
    "a vertex of the matrix without a label": ((SQUARE, {0: "a", 1: "b", 5: "c"}), r"vertex 2"),
    "a matrix that is not square": ((np.zeros((3, 4), int), LABELS), r"\(3, 4\)"),
    "a sparse matrix that is not square": ((sparse.csr_array((3, 4)), LABELS), r"\(3, 4\)"),
    "a sparse matrix alone that is not square": (sparse.csr_array((3, 4)), r"square.*\(3, 4\)"),
    "a matrix with a missing number": ((np.where(SQUARE == 1, np.nan, 0.0), LABELS), r"adjacency|finite|missing"),
    "ragged attributes": (([(0, 1)], ["a", "b"], None, [[1.0, 2.0], [3.0]]), r"attribute"),
    "attributes that are no numbers": (([(0, 1)], ["a", "b"], None, ["x", "y"]), r"attribute"),
    "attributes that are not finite": (
        ([(0, 1)], ["a", "b"], None, [[1.0, 2.0], [np.nan, 1.0]]),
        r"vertex 1 .*attribute",
    ),
    "infinite rows": ({"edge_index": [[0], [1]], "x": [[0.5, 1.0], [2.0, np.inf]]}, r"vertex 1 .*attribute"),
    "too few attributes": (([(0, 1)], ["a", "b"], None, [[1.0, 2.0]]), r"attributes say 1"),
    "a missing label": (([(0, 1)], ["a", None]), r"vertex 1: .*missing"),
    "a label that is no number": (([(0, 1)], [1.0, np.nan]), r"vertex 1: .*missing"),
    "an array with a missing label": (([(0, 1)], np.array([np.nan, 1.0])), r"vertex 0: .*missing"),
    "a label of pandas that is missing": (([(0, 1)], ["a", pd.NA]), r"vertex 1: .*missing"),
    "a missing edge label": (([(0, 1), (1, 2)], LABELS, ["x", None]), r"edge 1: .*missing"),
    "an edge label that is no number": (([(0, 1), (1, 2)], LABELS, np.array([1.0, np.nan])), r"edge 1: .*missing"),
    "a label that is a list": (([(0, 1)], ["a", ["b"]]), r"vertex 1: .*list"),
    "rows as labels": (([(0, 1)], np.zeros((2, 2))), r"vertex 0: "),
    "a label that is a dictionary": (([(0, 1), (1, 2)], LABELS, ["x", {}]), r"edge 1: .*dict"),
    "a label without a value": (([(0, 1)], ["a", object()]), r"vertex 1"),
    "a number": (3, r"int is not a graph"),
    "a pair of numbers": ((0, 1), r"edges|graph"),
    "an object": (object(), r"object is not a graph"),
    "nothing": ((), r"tuple is not a graph"),
    "five things": (([(0, 1)], ["a", "b"], None, None, None), r"tuple is not a graph"),
    "an empty dictionary": ({}, r"'edge_index' or 'edges'"),
    "a dictionary of neighbours alone": ({0: [1], 1: [0]}, r"'edge_index' or 'edges'"),
    "edge labels of different lengths": ({"edges": [(0, 1), (1, 2)], "edge_labels": ["x", ["y"]]}, r"edge 1"),
    "a negative number of vertices": ({"edges": [], "n_vertices": -1}, r"n_vertices|number of vertices"),
    "half a vertex": ({"edges": [(0, 1)], "n_vertices": 2.5}, r"n_vertices|number of vertices"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_graphs_are_named(what: str) -> None:
    item, pattern = BROKEN[what]
    for kernel in (mc.VertexHistogram(), mc.Walk(1), mc.WeisfeilerLehman(1).normalized(), mc.Tanimoto(mc.PathBag(2))):
        with pytest.raises(DataError, match=rf"(?s)Graph 2\b.*(?:{pattern})"):
            kernel([GOOD, GOOD, item, GOOD])
        with pytest.raises(DataError, match=rf"(?s)Graph 1\b.*(?:{pattern})"):
            kernel([GOOD], [GOOD, item])


@pytest.mark.parametrize("item", [None, float("nan"), np.nan, pd.NA, pd.NaT], ids=repr)
def test_missing_graphs_are_named(item: Any) -> None:
    for kernel in (
        mc.VertexHistogram(),
        mc.Walk(1),
        mc.WeisfeilerLehman(1) + mc.ShortestPath(),
        mc.MinMax(mc.PathBag(2)),
    ):
        with pytest.raises(DataError, match=r"Item 2 .*missing.*drop it"):
            kernel([GOOD, GOOD, item])
        with pytest.raises(DataError, match=r"Item 0 .*missing.*drop it"):
            kernel([GOOD, GOOD], [item])
    with pytest.raises(DataError, match=r"Item 1 "):
        mc.SVC(kernel=mc.VertexHistogram()).fit([GOOD, item, GOOD], [0, 1, 0])
    with pytest.raises(DataError, match=r"Item 1 "):
        mc.as_graphs([GOOD, item])


def test_more_than_one_edge_between_two_vertices() -> None:
    nx = pytest.importorskip("networkx")
    for make in (nx.MultiGraph, nx.MultiDiGraph):
        with pytest.raises(DataError, match=r"Graph 1: .*multigraph.*networkx\.Graph"):
            mc.WeisfeilerLehman(1)([GOOD, make([(0, 1), (0, 1)])])


def test_attributes_of_some_vertices_are_named() -> None:
    nx = pytest.importorskip("networkx")
    g = nx.path_graph(["x", "y", "z"])
    g.nodes["x"]["label"] = g.nodes["y"]["label"] = "C"
    with pytest.raises(DataError, match=r"Graph 1: vertex 'z' has no attribute 'label'"):
        mc.VertexHistogram()([GOOD, g])
    g.nodes["z"]["label"] = "O"
    g.edges["x", "y"]["label"] = 1
    with pytest.raises(DataError, match=r"Graph 1: edge \('y', 'z'\) has no attribute 'label'"):
        mc.VertexHistogram()([GOOD, g])
    g.edges["y", "z"]["label"] = float("nan")
    with pytest.raises(DataError, match=r"Graph 1, edge 1: .*missing"):
        mc.VertexHistogram()([GOOD, g])


def test_attributes_that_are_not_there_are_named() -> None:
    pytest.importorskip("networkx")
    with pytest.raises(DataError, match=r"Graph 1\b.*'place'"):
        mc.as_graphs([GOOD, networked(X[0])], attributes="place")


def test_attributes_of_some_graphs_are_named() -> None:
    with pytest.raises(DataError, match=r"Graph 1 has no vertex attributes"):
        mc.VertexHistogram()([mc.Graph([], ["a"], attributes=[[1.0]]), mc.Graph([], ["a"])])
    with pytest.raises(DataError, match=r"1 and 2"):
        mc.VertexHistogram()([mc.Graph([], ["a"], attributes=[[1.0]]), mc.Graph([], ["a"], attributes=[[1.0, 2.0]])])


@pytest.mark.parametrize(
    "make",
    [
        lambda: mc.Graph([(0, 5)], ["a"]),
        lambda: mc.Graph([(0, -1)]),
        lambda: mc.Graph([(0.5, 1)]),
        lambda: mc.Graph([(0, 1, 2)]),
        lambda: mc.Graph([(0, 1)], ["a", "b"], ["x", "y"]),
        lambda: mc.Graph([(0, 1)], ["a", "b"], n_vertices=3),
        lambda: mc.Graph([(0, 1), (1, 0)], None, [1, 2]),
        lambda: mc.Graph([(0, 1)], attributes=[[1.0], [np.nan]]),
        lambda: mc.Graph([(0, 1)], attributes=[1.0]),
        lambda: mc.Graph(n_vertices=-1),
        lambda: mc.Graph([(0, 1)], n_vertices=2.5),
        lambda: mc.Graph([(0, 1)], n_vertices="three"),
        lambda: mc.Graph(3),
        lambda: mc.Graph([0, 1]),
        lambda: mc.Graph("CCO"),
        lambda: mc.Graph([(0, 1), (0,)]),
        lambda: mc.Graph([(0, 1)], attributes=[[1.0], [1.0, 2.0]]),
        lambda: mc.Graph([("a", "b")]),
        lambda: mc.Graph([(0, 2**70)]),
        lambda: mc.Graph(np.array([[0, 2**64 - 1]], np.uint64)),
    ],
)
def test_a_broken_graph_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        make()


def test_one_graph_is_no_list() -> None:
    ones = [GOOD, {"edges": [(0, 1)]}, SimpleNamespace(edge_index=[[0], [1]]), FakeIgraph(X[0]), "CCO"]
    for one in ones:
        for kernel in (mc.VertexHistogram(), mc.Walk(1), mc.WeisfeilerLehman(2), mc.Tanimoto(mc.PathBag(2))):
            with pytest.raises(DataError, match=r"put it in a list"):
                kernel(one)
            with pytest.raises(DataError, match=r"put it in a list"):
                kernel([GOOD], one)
    with pytest.raises(DataError, match=r"put it in a list"):
        mc.as_graphs(GOOD)


def test_one_graph_is_no_list_for_estimators() -> None:
    with pytest.raises(DataError, match=r"put it in a list"):
        mc.SVC(kernel=mc.VertexHistogram()).fit(GOOD, [0, 1])


def test_one_graph_is_no_list_for_predictions() -> None:
    model = mc.SVC(kernel=mc.VertexHistogram()).fit([GOOD, mc.Graph([], ["C"])], [0, 1])
    with pytest.raises(DataError, match=r"put it in a list"):
        model.predict(GOOD)


@pytest.mark.parametrize(
    "one", [GOOD, {"edges": [(0, 1)]}, SimpleNamespace(edge_index=[[0], [1]]), FakeIgraph(X[0]), "CCO"], ids=type
)
def test_one_graph_is_no_list_for_sums(one: Any) -> None:
    with pytest.raises(DataError, match=r"put it in a list|collection"):
        (mc.VertexHistogram() + mc.Walk(2))(one)
    with pytest.raises(DataError, match=r"put it in a list|collection"):
        mc.WeisfeilerLehman(2).normalized()(one)


def test_one_graph_of_networkx_or_rdkit_is_no_list() -> None:
    pytest.importorskip("networkx")
    with pytest.raises(DataError, match=r"put it in a list"):
        mc.VertexHistogram()(networked(X[0]))
    chem = pytest.importorskip("rdkit.Chem")
    with pytest.raises(DataError, match=r"put it in a list"):
        mc.VertexHistogram()(chem.MolFromSmiles("CCO"))


@pytest.mark.parametrize(
    "one",
    [SQUARE, sparse.csr_array(SQUARE), sparse.coo_array(SQUARE), ([(0, 1)], ["C", "O"]), 3, 2.5, None, object()],
    ids=type,
)
def test_what_is_no_list_of_graphs(one: Any) -> None:
    with pytest.raises((DataError, TypeError)):
        mc.VertexHistogram()(one)


def test_a_table_of_several_columns_is_no_list_of_graphs() -> None:
    for make in (pd.DataFrame, pl.DataFrame):
        with pytest.raises(DataError):
            mc.VertexHistogram()(make({"a": ["CCO", "C"], "b": ["CCO", "C"]}))


@pytest.mark.parametrize(
    "make",
    [
        lambda: mc.WeisfeilerLehman(-1),
        lambda: mc.WeisfeilerLehman(1.5),
        lambda: mc.WeisfeilerLehman("2"),
        lambda: mc.WeisfeilerLehman(True),
        lambda: mc.WeisfeilerLehman(2, mc.Gaussian()),
        lambda: mc.WeisfeilerLehman(2, mc.Spectrum(2)),
        lambda: mc.WeisfeilerLehman(2, "vertex"),
        lambda: mc.WeisfeilerLehman(2, None),
        lambda: mc.WLOptimalAssignment(-1),
        lambda: mc.WLOptimalAssignment(0.5),
        lambda: mc.Walk(-1),
        lambda: mc.Walk(2.5),
        lambda: mc.Walk(None),
        lambda: mc.GeometricWalk(-0.1),
        lambda: mc.GeometricWalk(np.nan),
        lambda: mc.GeometricWalk(np.inf),
        lambda: mc.GeometricWalk("0.1"),
        lambda: mc.Graphlet(0),
        lambda: mc.Graphlet(-1),
        lambda: mc.Graphlet(8),
        lambda: mc.Graphlet(2.5),
        lambda: mc.Subgraph(0),
        lambda: mc.Subgraph(7),
        lambda: mc.Subgraph(1.5),
        lambda: mc.PathBag(-1),
        lambda: mc.PathBag(2.5),
        lambda: mc.PathBag(),
        lambda: mc.Tanimoto("sets"),
        lambda: mc.Tanimoto(3),
        lambda: mc.MinMax(),
        lambda: mc.MinMax(None),
        lambda: mc.MinMax(mc.Walk(2)),
        lambda: mc.MinMax(mc.Gaussian(1.0)),
        lambda: mc.MinMax(mc.GeometricWalk(0.1)),
        lambda: mc.MinMax(mc.Tanimoto()),
    ],
)
def test_parameters_are_checked(make: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        make()


def test_parameters_are_checked_again_when_they_were_set() -> None:
    with pytest.raises(ValueError, match="depth must be a whole number"):
        mc.WeisfeilerLehman(2).set_params(depth=-1)([GOOD])
    with pytest.raises(ValueError, match="size must be a whole number"):
        mc.Graphlet(3).set_params(size=8)([GOOD])


def test_bags_need_features() -> None:
    with pytest.raises(TypeError, match=r"no finite feature map.*Tanimoto"):
        mc.MinMax(mc.Walk(2))
    with pytest.raises((TypeError, ValueError), match=r"feature"):
        mc.MinMax(mc.Gaussian())(np.arange(6.0).reshape(3, 2))


@pytest.mark.thorough
def test_numbers_of_walks_that_no_float_holds_are_refused() -> None:
    Z = [mc.Graph([(0, 1), (1, 2), (0, 2)]), mc.Graph(list(itertools.combinations(range(5), 2)))]
    with pytest.raises(FloatingPointError, match="inf"):
        mc.Walk(600)(Z)
    np.testing.assert_allclose(mc.Walk(600).normalized()(Z), 1.0, rtol=1e-12)  # 3·2^l and 5·4^l walks: a product


@pytest.mark.thorough
def test_sums_over_walks_that_diverge_are_refused() -> None:
    triangle, edge = mc.Graph([(0, 1), (1, 2), (0, 2)]), mc.Graph([(0, 1)])
    kernel = mc.GeometricWalk(0.3)
    assert kernel([edge])[0, 0] == pytest.approx(4 / (1 - 0.3))
    with pytest.raises(DataError, match=r"decay=0\.3.*diverges.*2 and 2.*below 0\.25"):
        kernel([edge, triangle])
    for decay in (0.25, 0.2500001, 1.0, 1e6):
        with pytest.raises(DataError, match=r"diverges"):
            mc.GeometricWalk(decay)([triangle])
        with pytest.raises(DataError, match=r"diverges"):
            mc.GeometricWalk(decay).diag([triangle])
    with pytest.raises(DataError, match=r"diverges"):
        mc.SVC(kernel=kernel).fit([edge, triangle], [0, 1])
    with pytest.raises(DataError, match=r"diverges"):
        mc.SVC(kernel=mc.GeometricWalk(1.1)).fit([mc.Graph([(0, 1)], directed=True), edge], [0, 1])
    star = mc.Graph([(0, k) for k in range(1, 40)])
    model = mc.KernelRidge(kernel=kernel).fit([edge, mc.Graph([], n_vertices=2)], [0.0, 1.0])
    with pytest.raises(DataError, match=r"diverges.*39"):
        model.predict([edge, star])
    with pytest.raises(DataError, match=r"diverges"):
        (mc.GeometricWalk(0.3) + mc.VertexHistogram())([triangle])


def test_attributes_that_are_no_numbers_are_named_with_the_cure() -> None:
    with pytest.raises(DataError, match=r"vertex 0 has the attribute 'a'.*words are labels"):
        mc.Graph([(0, 1)], attributes=["a", "b"])
    with pytest.raises(DataError, match="vertex 1 has 1 attributes and vertex 0 has 2"):
        mc.Graph([(0, 1)], attributes=[[1.0, 2.0], [1.0]])
    with pytest.raises(DataError, match=r"Graph 0: vertex 1 .* nan in column 0; fill it by the mean of the column, or"):
        mc.ShortestPath()([([(0, 1)], None, None, [1.0, float("nan")])])
