"""Graphs from GraphML, GEXF and lists of edges, and from the objects of other libraries."""

from __future__ import annotations

import gzip
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import mercer as mc
from mercer.data import DataError

pytestmark = pytest.mark.filterwarnings("ignore::mercer.IgnoredWarning")


def molecule(directed: bool = False) -> Any:
    g = nx.DiGraph() if directed else nx.Graph()
    for name, label, q in (("a", "C", 0.5), ("b", "O", -0.5), ("c", "C", 0.0)):
        g.add_node(name, label=label, q=q, size=2, metal=False)
    g.add_edge("a", "b", label="double")
    g.add_edge("b", "c", label="single")
    return g


def same(one: mc.Graph, other: mc.Graph) -> bool:
    """Whether two graphs are the same vertex by vertex."""
    k = mc.WeisfeilerLehman(2).normalized()
    return bool(k([one], [other])[0, 0] == pytest.approx(1.0)) and one.directed == other.directed


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("kind", "write"), [("graphml", nx.write_graphml_xml), ("gexf", nx.write_gexf)])
def test_what_networkx_writes(tmp_path: Path, kind: str, write: Any, directed: bool) -> None:
    g = molecule(directed)
    write(g, tmp_path / f"g.{kind}")
    [found] = mc.read_graphs(tmp_path / f"g.{kind}", attributes=["q", "size"])
    assert same(found, mc.as_graphs([g])[0])
    assert list(found.labels) == ["C", "O", "C"]
    assert sorted(found.edge_labels) == ["double", "single"]
    np.testing.assert_array_equal(found.attributes, [[0.5, 2], [-0.5, 2], [0, 2]])
    (tmp_path / f"packed.{kind}.gz").write_bytes(gzip.compress((tmp_path / f"g.{kind}").read_bytes()))
    both = mc.read_graphs(tmp_path)
    assert len(both) == 2
    assert same(*both)
    bare = mc.read_graphs([tmp_path / f"g.{kind}"], label=None, edge_label=None)[0]
    assert bare.labels is None
    assert bare.edge_labels is None
    by_metal = mc.read_graphs(tmp_path / f"g.{kind}", label="metal")[0]
    assert list(by_metal.labels) == [False] * 3


@pytest.mark.parametrize("delimiter", [" ", "\t", ","])
def test_lists_of_edges(tmp_path: Path, delimiter: str) -> None:
    file = tmp_path / "g.edgelist"
    lines = ["# a comment", "b,a,2", "% another", "", "b,c,1", "alone"]
    file.write_text("\n".join(lines).replace(",", delimiter))
    [g] = mc.read_graphs(file, edge_label="weight")
    assert (g.n_vertices, g.directed, sorted(g.edge_labels)) == (4, False, [1, 2])
    assert mc.read_graphs(file, directed=True)[0].directed
    file.write_text("source,target,kind\n3,1,x\n1,2,y\n".replace(",", delimiter))
    [g] = mc.read_graphs(file, edge_label="kind")
    assert sorted(map(tuple, g.edges.tolist())) == [(0, 1), (0, 2)]  # vertices in the order of their numbers
    assert sorted(g.edge_labels) == ["x", "y"]


def test_lists_as_networkx_writes_them(tmp_path: Path) -> None:
    nx.write_edgelist(molecule(), tmp_path / "g.edgelist")
    nx.write_edgelist(molecule(), tmp_path / "h.csv", delimiter=",")
    for g in mc.read_graphs(tmp_path):
        assert sorted(g.edge_labels) == ["double", "single"]


HEADERS = [  # the text, edges, and what is told
    ("u v\nv w\nw u", 3, "'u v', is taken for an edge: .*header=True"),
    ("u v\na b\nb c", 2, "'u v', is taken for the names.*header=False"),
    ("u v\n1 2\n2 3", 2, None),
    ("source target\na b\nb c", 2, None),
    ("source target\nsource b\nb c", 3, "is taken for an edge"),
    ("person friend\n1 2\n2 3", 3, "is taken for an edge"),
    ("protein1 protein2 combined_score\nP1 P2 900\nP2 P3 0.5", 2, r"read_graphs\(path, edge_label='combined_score'\)"),
    ("a b x\nb c y", 2, None),
]


@pytest.mark.filterwarnings("error::mercer.IgnoredWarning")
@pytest.mark.parametrize(("text", "edges", "told"), HEADERS, ids=[text.split("\n")[0] for text, _, _ in HEADERS])
def test_a_first_line_is_a_header_where_that_is_certain(
    tmp_path: Path, text: str, edges: int, told: str | None
) -> None:
    (tmp_path / "g.edgelist").write_text(text)
    with nullcontext() if told is None else pytest.warns(mc.IgnoredWarning, match=told):
        [g] = mc.read_graphs(tmp_path / "g.edgelist")
    assert len(g.edges) == edges
    for header in (True, False):
        [g] = mc.read_graphs(tmp_path / "g.edgelist", header=header, edge_label=None)
        assert len(g.edges) == text.count("\n") + (not header)


def test_a_third_column_of_numbers_is_a_weight(tmp_path: Path) -> None:
    (tmp_path / "a.edgelist").write_text("a b 0.9\nb c 1")
    with pytest.warns(mc.IgnoredWarning, match=r"read_graphs\(path, edge_label='weight'\);.*edge_label=None"):
        [g] = mc.read_graphs(tmp_path / "a.edgelist")
    assert g.edge_labels is None
    [g] = mc.read_graphs(tmp_path / "a.edgelist", edge_label="weight")
    assert g.edge_labels == [0.9, 1]
    (tmp_path / "b.edgelist").write_text("a b x\nb c 1")  # one column of two files: texts in both
    assert [g.edge_labels for g in mc.read_graphs(tmp_path)] == [["0.9", "1"], ["x", "1"]]


GRAPHML = (
    '<graphml>\n<key id="k" for="node" attr.name="label" attr.type="int"/>\n<graph edgedefault="undirected">\n'
    "{}\n</graph></graphml>"
)
GEXF = "<gexf>\n<graph>\n{}\n</graph></gexf>"
A, LOOP, VALUE = '<node id="a"/>', '<edge source="a" target="a" {}/>', '<attvalue for="0" value="1"/>'
BAD = [
    ("x.graphml", GRAPHML.format('<node id="a"><data key="k">no</data></node>'), "line 4: 'no' is not of type int"),
    ("x.graphml", GRAPHML.format('<node id="a"><data key="l">1</data></node>'), "line 4: the key 'l' is not declared"),
    ("x.graphml", GRAPHML.format(A + "\n" + A), "line 5: the vertex 'a' is there twice"),
    ("x.graphml", GRAPHML.format(A + '\n<edge source="a" target="b"/>'), "line 5: .* vertex 'b', which is not"),
    ("x.graphml", GRAPHML.format(A + "\n" + LOOP.format('directed="true"')), "line 5: .*directed"),
    ("x.graphml", GRAPHML.format("<node/>"), "line 4: <node> has no 'id'"),
    ("x.graphml", GRAPHML.format("<hyperedge/>"), "line 4: .*hyperedge"),
    ("x.graphml", GRAPHML.format('<node id="a"><graph/></node>'), "line 4: a <graph> in a <node>"),
    ("x.graphml", "<graphml>\n<graph>", "line 2: it is not well-formed XML"),
    ("x.graphml", "<graphml/>", "holds no graph"),
    ("x.graphml", GEXF.format(""), "line 1: it begins with 'gexf'"),
    ("x.graphml", '<!DOCTYPE g [<!ENTITY a "aaaa">]>\n<graphml/>', "line 1: it declares a document type"),
    ("x.graphml", "<a>" * 100, "line 1: elements are nested too deeply"),
    ("x.gexf", GEXF.format(f"<nodes>{A[:-2]}><attvalues>\n{VALUE}</attvalues></node></nodes>"), "4: the attribute"),
    ("x.gexf", GEXF.format(f"<nodes>{A}</nodes>\n<edges>{LOOP}</edges>").format('weight="x"'), "4: 'x' is not"),
    ("x.gexf", GEXF.format('<nodes><node id="a"><nodes/></node></nodes>'), "line 3: vertices inside"),
    ("x.edges", "a b\na b c d", "line 2: it has 4 fields"),
    ("x.edges", "a b\na b {'x': open('f')}", "line 2: .* is not a dictionary"),
    ("x.edges", "a b\n,,", "line 2: .* names no vertices"),
    ("x.edges", b"a b\n\xff c", "line 2: it is not a text"),
    ("x.edges", "a b x\nb a y", "x.edges: Graph 0: the edge .* has two labels"),
    ("x.xlsx", "", "'.xlsx' is not a kind of file of graphs"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), BAD, ids=[f"{i}" for i in range(len(BAD))])
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, name: str, content: Any, words: str) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=words):
        mc.read_graphs(tmp_path / name)


def test_names_that_python_would_take_for_one_number_are_different(tmp_path: Path) -> None:
    path = tmp_path / "grid.edgelist"
    path.write_text("1_10 11_0\n01 1\n+1 1\n", "utf-8")
    assert mc.read_graphs(path)[0].n_vertices == 5
    path.write_text("(0, 0) (0, 1)\n", "utf-8")
    with pytest.raises(DataError, match=r"line 1: .* name in brackets"):
        mc.read_graphs(path)


def test_files_that_are_not_there_or_too_large(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        mc.read_graphs(tmp_path / "g.edges")
    with pytest.raises(DataError, match="holds no files of graphs"):
        mc.read_graphs(tmp_path)
    (tmp_path / "g.edges").write_text("a b\n" * 1000)
    with pytest.raises(DataError, match="more than the"):
        mc.read_graphs(tmp_path, max_bytes=1000)


def test_attributes_that_are_not_read_are_told(tmp_path: Path) -> None:
    nx.write_graphml_xml(molecule(), tmp_path / "g.graphml")
    with pytest.raises(DataError, match="No vertex of any graph has an attribute 'colour'"):
        mc.read_graphs(tmp_path / "g.graphml", label="colour")
    named = molecule()
    for _, _, data in named.edges(data=True):
        data["order"] = data.pop("label")
    nx.write_graphml_xml(named, tmp_path / "g.graphml")
    with pytest.warns(mc.IgnoredWarning, match="'order', and nothing called 'label'"):
        mc.read_graphs(tmp_path / "g.graphml")


# ---------------------------------------------------------------------------------------------------------------------
# Objects of other libraries: stand-ins, and the real ones where they are installed
# ---------------------------------------------------------------------------------------------------------------------


class StandIn:
    """What a graph of DGL has."""

    is_homogeneous, batch_size = True, 1

    def __init__(self, ends: Any, ndata: Any = None, edata: Any = None, n: int = 3) -> None:
        self.ends, self.ndata, self.edata, self.n = ends, ndata or {}, edata or {}, n

    def edges(self) -> Any:
        return tuple(np.array(self.ends).T)

    def num_nodes(self) -> int:
        return self.n


BOTH = [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_graphs_of_dgl() -> None:
    g = StandIn(BOTH, {"label": np.array([6, 8, 6]), "feat": np.ones((3, 2))}, {"feat": np.array([2, 2, 1, 1])})
    [found] = mc.as_graphs([g])
    assert not found.directed
    assert list(found.labels) == [6, 8, 6]
    assert found.attributes.shape == (3, 2)
    assert sorted(found.edge_labels) == [1, 2]
    [found] = mc.as_graphs([StandIn([(0, 1)], {"feat": np.eye(3)})])
    assert found.directed
    assert list(found.labels) == [0, 1, 2]
    with pytest.raises(DataError, match="no 'h'; ndata has 'feat'"):
        mc.as_graphs([StandIn(BOTH, {"feat": np.eye(3)})], attributes="h")
    batch = StandIn(BOTH)
    batch.batch_size = 2
    with pytest.raises(DataError, match="unbatch"):
        mc.as_graphs([batch])
    batch.is_homogeneous = False
    with pytest.raises(DataError, match="to_homogeneous"):
        mc.as_graphs([batch])
    with pytest.raises(DataError, match=r"put it in a list"):
        mc.VertexHistogram()(StandIn(BOTH))


def test_data_of_pytorch_geometric() -> None:
    data = SimpleNamespace(edge_index=np.array(BOTH).T, z=np.array([6, 8, 6]), x=np.ones((3, 2)), num_nodes=3)
    [found] = mc.as_graphs([data])
    assert list(found.labels) == [6, 8, 6]
    assert found.attributes.shape == (3, 2)
    batch = SimpleNamespace(edge_index=np.array(BOTH).T, to_data_list=list)
    with pytest.raises(DataError, match="to_data_list"):
        mc.VertexHistogram()(batch)


@pytest.mark.torch
def test_real_data_of_pytorch_geometric() -> None:
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    g = data.Data(edge_index=torch.tensor(BOTH).T, z=torch.tensor([6, 8, 6]), edge_attr=torch.eye(2)[[0, 0, 1, 1]])
    [found] = mc.as_graphs([g])
    assert list(found.labels) == [6, 8, 6]
    assert sorted(found.edge_labels) == [0, 1]
    assert not found.directed
    with pytest.raises(DataError, match="to_data_list"):
        mc.as_graphs(data.Batch.from_data_list([data.Data(x=torch.ones(3, 1), edge_index=g.edge_index)] * 2))


def test_real_graphs_of_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    g = igraph.Graph([(0, 1), (1, 2)])
    g.vs["label"], g.vs["q"], g.vs["r"] = ["C", "O", "C"], [1.0, 2.0, 3.0], [0, 0, 1]
    [found] = mc.as_graphs([g], attributes=["q", "r"])
    assert list(found.labels) == ["C", "O", "C"]
    np.testing.assert_array_equal(found.attributes, [[1, 0], [2, 0], [3, 1]])


def test_atoms_of_ase() -> None:
    build = pytest.importorskip("ase.build")
    [ethanol] = mc.as_graphs([build.molecule("CH3CH2OH")])
    assert (ethanol.n_vertices, len(ethanol.edges)) == (9, 8)
    assert sorted(ethanol.labels) == ["C"] * 2 + ["H"] * 6 + ["O"]
    with pytest.raises(DataError, match="put it in a list"):
        mc.VertexHistogram()(build.molecule("H2O"))
