"""Graphs to test with, and the kernels on them with their literal definitions; shared by the tests of graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests import graph_oracles as truth
from tests.graph_oracles import Plain, random_plain
from tests.oracles import matrix

zero_norms_are_expected = pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")

DECAY = 0.03  # below 1/(largest degree)² of graphs with five vertices


def of_counts(features: Callable[[Plain], Any]) -> Callable[..., Any]:
    """The matrix of inner products of counts, each graph looked at once."""

    def gram(X: Sequence[Plain], Y: Sequence[Plain] | None = None) -> Any:
        left = [features(x) for x in X]
        right = left if Y is None else [features(y) for y in Y]
        return np.array([[truth.dot(a, b) for b in right] for a in left]).reshape(len(left), len(right))

    return gram


def of_pairs(oracle: Callable[..., float], **parameters: Any) -> Callable[..., Any]:
    def gram(X: Sequence[Plain], Y: Sequence[Plain] | None = None) -> Any:
        return np.array(matrix(lambda x, z: oracle(x, z, **parameters), X, Y))

    return gram


EXPLICIT: dict[Any, Callable[..., Any]] = {
    mc.VertexHistogram(): of_pairs(truth.vertex_histogram),
    mc.EdgeHistogram(): of_pairs(truth.edge_histogram),
    mc.ShortestPath(): of_pairs(truth.shortest_path),
    mc.PathBag(0): of_counts(lambda g: truth._path_counts(g, 0, False)),
    mc.PathBag(3): of_counts(lambda g: truth._path_counts(g, 3, False)),
    mc.PathBag(4, counts=True): of_counts(lambda g: truth.path_features(g, 4)),
    mc.WeisfeilerLehman(0): of_pairs(truth.weisfeiler_lehman, depth=0),
    mc.WeisfeilerLehman(3): of_pairs(truth.weisfeiler_lehman, depth=3),
    mc.WeisfeilerLehman(2, mc.EdgeHistogram()): of_pairs(truth.weisfeiler_lehman, depth=2, base="edge"),
    mc.WeisfeilerLehman(2, mc.ShortestPath()): of_pairs(truth.weisfeiler_lehman, depth=2, base="shortest_path"),
    mc.WLOptimalAssignment(2): of_pairs(truth.wl_optimal_assignment, depth=2),
    mc.Graphlet(1): of_counts(lambda g: truth.graphlet_features(g, 1)),
    mc.Graphlet(2): of_counts(lambda g: truth.graphlet_features(g, 2)),
    mc.Graphlet(3): of_counts(lambda g: truth.graphlet_features(g, 3)),
    mc.Graphlet(4): of_counts(lambda g: truth.graphlet_features(g, 4)),
    mc.Subgraph(1): of_counts(lambda g: truth.subgraph_features(g, 1)),
    mc.Subgraph(3): of_counts(lambda g: truth.subgraph_features(g, 3)),
}
IMPLICIT: dict[Any, Callable[..., Any]] = {
    **{mc.Walk(length): of_pairs(truth.walk, length=length) for length in range(4)},
    mc.GeometricWalk(0.0): of_pairs(truth.vertex_histogram),
    mc.GeometricWalk(DECAY): of_pairs(truth.geometric_walk, decay=DECAY),
    mc.Tanimoto(mc.PathBag(3)): of_pairs(truth.path_tanimoto, length=3),
    mc.Tanimoto(mc.PathBag(3, counts=True)): of_pairs(truth.path_tanimoto, length=3, counts=True),
    mc.MinMax(mc.PathBag(3)): of_pairs(truth.path_minmax, length=3, counts=False),
    mc.MinMax(mc.PathBag(3, counts=True)): of_pairs(truth.path_minmax, length=3),
}
ORACLES = {**EXPLICIT, **IMPLICIT}
EVERY = list(ORACLES)
COMPOSED = [
    mc.WeisfeilerLehman(2).normalized(),
    mc.ShortestPath() + mc.Walk(2),
    mc.VertexHistogram() * mc.EdgeHistogram(),
    2 * mc.Graphlet(3) + 1,
    mc.WeisfeilerLehman(1, mc.Walk(2)),
    mc.WeisfeilerLehman(1, mc.PathBag(2)),
    mc.WeisfeilerLehman(1, mc.Graphlet(3)),
    mc.WeisfeilerLehman(1, mc.WeisfeilerLehman(1)),
    mc.Tanimoto(mc.Walk(2)),
    mc.Tanimoto(mc.WeisfeilerLehman(2)),
    mc.MinMax(mc.WeisfeilerLehman(2)),
    mc.MinMax(mc.Graphlet(3)),
    mc.PathBag(2).normalized() * mc.GeometricWalk(DECAY),
]
every = pytest.mark.parametrize("kernel", EVERY, ids=str)


def graph(p: Plain) -> mc.Graph:
    marks = list(p.edges.values())
    return mc.Graph(list(p.edges), p.labels, None if None in marks else marks, directed=p.directed)


def graphs(some: Sequence[Plain]) -> list[mc.Graph]:
    return [graph(p) for p in some]


def plain_set(
    seed: int, n: int = 7, directed: bool = False, loops: bool = False, edge_labels: int = 1, n_max: int = 5
) -> list[Plain]:
    """Random graphs, an empty one, a single vertex, and one with no edges."""
    rng = np.random.default_rng(seed)
    some = [random_plain(rng, n_max, 2, edge_labels, directed, loops, density) for density in rng.uniform(0.2, 0.8, n)]
    return [*some, Plain((), {}, directed), Plain(("A",), {}, directed), Plain(("B", "A", "A"), {}, directed)]


def joined_cycles(*lengths: int) -> list[tuple[int, int]]:
    edges, start = [], 0
    for length in lengths:
        edges += [(start + k, start + (k + 1) % length) for k in range(length)]
        start += length
    return edges


def bonded(seed: int, n: int, directed: bool = False) -> list[Plain]:
    """Connected graphs with labels C, N, O and edge labels 1 and 2; in directed ones each edge has a direction."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        size = int(rng.integers(3, 8))
        edges = {(int(rng.integers(0, v)), v): int(rng.integers(1, 3)) for v in range(1, size)}
        edges |= {(u, v): 1 for u, v in [sorted(rng.permutation(size)[:2].tolist())] if (u, v) not in edges}
        if directed:
            edges = {(e if rng.random() < 0.5 else e[::-1]): m for e, m in edges.items()}
        found.append(Plain(tuple("CNO"[int(k)] for k in rng.integers(0, 3, size)), edges, directed))
    return found


def unmarked(p: Plain) -> Plain:
    return Plain(p.labels, dict.fromkeys(p.edges), p.directed)


def coded(p: Plain) -> Plain:
    return Plain(tuple("CNO".index(x) for x in p.labels), p.edges, p.directed)


def adjacency(p: Plain, dtype: Any = int) -> Any:
    A = np.zeros((len(p.labels),) * 2, dtype)
    for u, v, _ in truth.steps(p):
        A[u, v] = 1
    return A


class FakeIgraph:
    """What igraph calls a Graph."""

    class Sequence:
        def __init__(self, values: dict[str, list[Any]]) -> None:
            self.values = values

        def attributes(self) -> list[str]:
            return list(self.values)

        def __getitem__(self, name: str) -> list[Any]:
            return self.values[name]

    def __init__(self, p: Plain, label: str = "label") -> None:
        self.p = p
        marks = list(p.edges.values())
        self.vs, self.es = (
            self.Sequence({label: list(p.labels)}),
            self.Sequence({} if None in marks else {label: marks}),
        )

    def get_edgelist(self) -> list[tuple[int, int]]:
        return list(self.p.edges)

    def vcount(self) -> int:
        return len(self.p.labels)

    def is_directed(self) -> bool:
        return self.p.directed


def networked(p: Plain, name: Callable[[int], Any] = int, label: str = "label", edge_label: str = "label") -> Any:
    nx = pytest.importorskip("networkx")
    g = nx.DiGraph() if p.directed else nx.Graph()
    for v, x in enumerate(p.labels):
        g.add_node(name(v), **{label: x})
    for (u, v), m in p.edges.items():
        g.add_edge(name(u), name(v), **({} if m is None else {edge_label: m}))
    return g


def title(v: int) -> str:
    return f"vertex {v}"


def array_of(x: list[Any]) -> Any:
    out = np.empty(len(x), object)
    for i, item in enumerate(x):
        out[i] = item
    return out


X = bonded(0, 8)

SOME = [
    mc.WeisfeilerLehman(2),
    mc.ShortestPath(),
    mc.EdgeHistogram(),
    mc.PathBag(3),
    mc.GeometricWalk(0.01),
    mc.Graphlet(3),
]


def assert_equal(kernel: mc.Kernel, found: Any, expected: Any) -> None:
    """To the bit, but for sums that have a last digit to round."""
    np.testing.assert_allclose(
        found, expected, rtol=1e-14 if isinstance(kernel, mc.GeometricWalk) else 0, err_msg=str(kernel)
    )


GOOD = mc.Graph([(0, 1)], ["C", "O"])


def labelled(n: int = 30, seed: int = 0) -> tuple[list[mc.Graph], Any]:
    """Chains, and chains that are closed to rings."""
    rng = np.random.default_rng(seed)
    Z, y = [], np.arange(n) % 2
    for i in range(n):
        size = int(rng.integers(4, 9))
        edges = [(k, k + 1) for k in range(size - 1)] + ([(0, size - 1)] if y[i] else [])
        Z.append(mc.Graph(edges, [str(x) for x in rng.choice(list("CNO"), size)]))
    return Z, y
