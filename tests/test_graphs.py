"""Graphs and sets as users have them: in every form, broken, huge, strange, in estimators; every kernel against its
literal definition.
"""

from __future__ import annotations

import functools
import itertools
import os
import pickle
import subprocess
import sys
import time
import warnings
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, train_test_split
from sklearn.pipeline import Pipeline

import mercer as mc
from mercer.data import DataError, Graphs
from mercer.kernels.compose.feature_space import ZeroNormWarning
from tests import graph_oracles as truth
from tests.graph_oracles import Plain, random_plain, relabelled
from tests.oracles import matrix

zero_norms_are_expected = pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")


# --- kernels and what they should be
# ------------------------------------------------------------------------------------------

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
explicit = pytest.mark.parametrize("kernel", EXPLICIT, ids=str)
KINDS = list(itertools.product([False, True], [False, True], [1, 2]))
kinds = pytest.mark.parametrize(
    ("directed", "loops", "edge_labels"),
    KINDS,
    ids=lambda v: {False: "no", True: "yes"}.get(v, v) if isinstance(v, bool) else v,
)


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


def permuted(p: Plain, seed: int = 0) -> Plain:
    return relabelled(p, np.random.default_rng(seed).permutation(len(p.labels)).tolist())


@zero_norms_are_expected
@kinds
@every
def test_every_kernel_is_its_definition(kernel: mc.Kernel, directed: bool, loops: bool, edge_labels: int) -> None:
    X, Y = (
        plain_set(seed, 5, directed, loops, edge_labels, 4 if isinstance(kernel, mc.Subgraph) else 5) for seed in (1, 2)
    )
    oracle = ORACLES[kernel]
    expected = oracle(X)
    K = kernel(graphs(X))
    assert K.dtype == np.float64
    np.testing.assert_allclose(K, expected, rtol=1e-11)
    np.testing.assert_allclose(kernel(graphs(Y), graphs(X)), oracle(Y, X), rtol=1e-11)
    np.testing.assert_allclose(kernel.diag(graphs(X)), np.diagonal(expected), rtol=1e-11)
    np.testing.assert_array_equal(K, K.T)


@st.composite
def plains(draw: Any, directed: bool = False) -> Plain:
    n = draw(st.integers(0, 5))
    labels = tuple(draw(st.lists(st.sampled_from(["C", "N", 1]), min_size=n, max_size=n)))
    possible = [(u, v) for u in range(n) for v in range(n) if directed or u <= v]
    marks = draw(st.sampled_from([[None], ["s"], ["s", "d"]]))
    chosen = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    return Plain(labels, {e: draw(st.sampled_from(marks)) for e in chosen}, directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "kernel",
    [
        mc.ShortestPath(),
        mc.PathBag(4, counts=True),
        mc.WeisfeilerLehman(3),
        mc.WLOptimalAssignment(2),
        mc.Walk(3),
        mc.Graphlet(3),
    ],
    ids=str,
)
def test_any_pair_of_graphs(kernel: mc.Kernel, directed: bool) -> None:
    @settings(max_examples=15)
    @given(plains(directed), plains(directed))
    def check(x: Plain, z: Plain) -> None:
        np.testing.assert_allclose(kernel(graphs([x, z])), ORACLES[kernel]([x, z]), rtol=1e-12)
        np.testing.assert_array_equal(
            kernel(graphs([x]), graphs([z])), kernel(graphs([permuted(x)]), graphs([permuted(z, 1)]))
        )

    check()


def test_the_worked_values_of_walks() -> None:
    triangle, path = mc.Graph([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"]), mc.Graph([(0, 1), (1, 2)], ["C", "O", "C"])
    values = [mc.Walk(length)([triangle, path]) for length in range(5)]
    assert [K[0, 1] for K in values] == [5, 8, 20, 32, 80]
    assert [K[0, 0] for K in values] == [5, 12, 32, 80, 208]
    assert [K[1, 1] for K in values] == [5, 8, 20, 32, 80]
    assert [K[1, 0] for K in values] == [5, 8, 20, 32, 80]


def test_worked_values() -> None:
    triangle, path = mc.Graph([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"]), mc.Graph([(0, 1), (1, 2)], ["C", "O", "C"])
    Z = [triangle, path]
    assert mc.VertexHistogram()(Z).tolist() == [[5, 5], [5, 5]]
    assert mc.EdgeHistogram()(Z).tolist() == [[9, 6], [6, 4]]
    assert mc.ShortestPath()(Z).tolist() == [[5, 4], [4, 5]]  # CC1, 2 CO1 and 2 CO1, CC2
    assert mc.PathBag(1)(Z).tolist() == [[4, 3], [3, 3]]  # C, O, C-C, C-O
    assert mc.PathBag(2)(Z).tolist() == [[6, 4], [4, 4]]  # and C-C-O, C-O-C
    assert mc.PathBag(2, counts=True)(Z).tolist() == [[5 + 5 + 5, 5 + 4 + 1], [5 + 4 + 1, 5 + 4 + 1]]
    assert mc.WeisfeilerLehman(1)(Z).tolist() == [[10, 6], [6, 10]]  # O has two neighbours C in both
    assert mc.WLOptimalAssignment(1)(Z).tolist() == [[6, 4], [4, 6]]
    assert mc.Graphlet(3)(Z).tolist() == [[1, 0], [0, 1]]
    assert mc.Subgraph(3)(Z).tolist() == [[5 + 5 + 6, 5 + 4 + 1], [5 + 4 + 1, 5 + 4 + 1]]


def test_a_long_walk_is_a_power() -> None:
    g = mc.Graph([(0, 1), (1, 2), (0, 2)])
    for length in (10, 30, 60):
        np.testing.assert_allclose(mc.Walk(length)([g])[0, 0], 9 * 4.0**length, rtol=1e-13)
    np.testing.assert_allclose(mc.GeometricWalk(0.2499)([g])[0, 0], 9 / (1 - 4 * 0.2499), rtol=1e-8)


@pytest.mark.parametrize("directed", [False, True])
def test_sums_over_walks_near_their_limit(directed: bool) -> None:
    X = [p for p in plain_set(3, 6, directed, True) if p.labels]
    radius = max(truth.spectral_radius(truth.product_graph(x, z)) for x in X for z in X)
    decay = 0.99 / radius
    expected = of_pairs(truth.geometric_walk, decay=decay)(X)
    np.testing.assert_allclose(mc.GeometricWalk(decay)(graphs(X)), expected, rtol=1e-8)


def test_sums_over_walks_without_cycles_have_any_decay() -> None:
    X = [Plain(("A", "A", "A"), {(0, 1): None, (1, 2): None}, True), Plain(("A", "A"), {(0, 1): None}, True)]
    np.testing.assert_allclose(
        mc.GeometricWalk(0.9)(graphs(X)), of_pairs(truth.geometric_walk, decay=0.9)(X), rtol=1e-12
    )
    np.testing.assert_allclose(
        mc.GeometricWalk(50.0)(graphs(X)), of_pairs(truth.geometric_walk, decay=50.0)(X), rtol=1e-12
    )


def test_optimal_assignments_are_the_best_of_all() -> None:
    X = plain_set(5, 6, n_max=4)
    np.testing.assert_array_equal(
        mc.WLOptimalAssignment(2)(graphs(X)), of_pairs(truth.wl_optimal_assignment_by_bijections, depth=2)(X)
    )


@pytest.mark.parametrize("size", range(1, 7))
@pytest.mark.parametrize("directed", [False, True])
def test_graphlets_of_every_size(size: int, directed: bool) -> None:
    if directed and size == 6:
        size = 5
    rng = np.random.default_rng(size)
    count = 3 if size > 4 else 6
    X = [random_plain(rng, 7 if size < 6 else 6, 2, 2, directed, True, 0.4) for _ in range(count)]
    np.testing.assert_array_equal(
        mc.Graphlet(size)(graphs(X)), of_counts(lambda g: truth.graphlet_features(g, size))(X)
    )


def test_subgraphs_of_four_and_five_vertices() -> None:
    rng = np.random.default_rng(4)
    X = [random_plain(rng, 5, 2, 2, False, False, 0.6) for _ in range(4)]
    for size in (4, 5):
        np.testing.assert_array_equal(
            mc.Subgraph(size)(graphs(X)), of_counts(lambda g, size=size: truth.subgraph_features(g, size))(X)
        )


# --- isomorphic if and only if of one code
# ------------------------------------------------------------------------------------


def least_codes(M: Any) -> Any:
    """For each square table of digits, the least number it reads in any order of its rows and columns."""
    count, n, _ = M.shape
    weights = (int(M.max(initial=0)) + 1) ** np.arange(n * n, dtype=np.int64)
    best = np.full(count, np.iinfo(np.int64).max)
    for p in itertools.permutations(range(n)):
        order = list(p)
        np.minimum(best, M[:, order][:, :, order].reshape(count, -1) @ weights, out=best)
    return best


def connected_ones(M: Any) -> Any:
    """Those whose vertices hang together."""
    joined = (M + M.transpose(0, 2, 1) > 0) | np.eye(M.shape[1], dtype=bool)
    reach = joined.astype(int)
    for _ in range(3):
        reach = np.minimum(reach @ reach, 1)
    return M[reach.all(axis=(1, 2))]


def of_digits(m: Any, directed: bool) -> mc.Graph:
    """Digits beside the diagonal are labels of edges, those on it twice the label of the vertex, plus 1 for a loop."""
    n = len(m)
    edges = [
        (u, v)
        for u in range(n)
        for v in range(n)
        if (m[u, v] and u != v and (directed or u < v)) or (u == v and m[u, u] % 2)
    ]
    return mc.Graph(
        edges,
        [int(m[v, v]) // 2 for v in range(n)],
        [int(m[e]) if e[0] != e[1] else 1 for e in edges],
        directed=directed,
    )


def digits(rng: Any, count: int, n: int, directed: bool, labels: int, marks: int, loops: bool, density: float) -> Any:
    M = np.where(rng.random((count, n, n)) < density, rng.integers(1, marks + 1, (count, n, n)), 0)
    if not directed:
        M = np.triu(M, 1) + np.triu(M, 1).transpose(0, 2, 1)
    places = np.arange(n)
    M[:, places, places] = 2 * rng.integers(0, labels, (count, n)) + (rng.integers(0, 2, (count, n)) if loops else 0)
    return M


def assert_codes_tell_isomorphism(M: Any, directed: bool) -> None:
    kernel = mc.Graphlet(M.shape[1])
    phi = kernel.features([of_digits(m, directed) for m in M])
    assert (np.diff(phi.indptr) == 1).all()
    assert (phi.data == 1).all()
    codes = least_codes(M)
    pairs = set(zip(codes.tolist(), phi.indices.tolist(), strict=True))
    assert len(pairs) == len(set(codes.tolist())) == len(set(phi.indices.tolist()))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_graphs_of_up_to_five_vertices(n: int) -> None:
    places = list(itertools.combinations(range(n), 2))
    M = np.zeros((2 ** len(places), n, n), int)
    for k, (u, v) in enumerate(places):
        M[:, u, v] = M[:, v, u] = np.arange(len(M)) >> k & 1
    M = connected_ones(M)
    assert_codes_tell_isomorphism(M, False)
    assert mc.Graphlet(n).features([of_digits(m, False) for m in M]).shape[1] == [1, 1, 2, 6, 21][n - 1]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_directed_graphs_of_up_to_three_vertices(n: int) -> None:
    M = np.array(list(itertools.product([0, 1], repeat=n * n))).reshape(-1, n, n)  # with loops
    M = connected_ones(np.where(np.eye(n, dtype=bool), 0, M)) if n > 1 else M
    assert_codes_tell_isomorphism(M, True)


@pytest.mark.parametrize(
    ("n", "directed", "labels", "marks", "loops", "density", "count"),
    [
        (4, False, 1, 2, False, 0.8, 729),
        (4, False, 2, 2, True, 0.7, 1500),
        (5, False, 1, 2, False, 0.9, 1500),
        (5, False, 1, 3, False, 1.0, 1500),
        (5, False, 2, 1, True, 0.6, 1500),
        (4, True, 1, 1, False, 0.5, 1500),
        (4, True, 1, 2, True, 0.5, 1000),
        (5, True, 1, 1, False, 0.4, 1000),
        (5, True, 1, 1, False, 0.9, 1000),
        (6, False, 1, 1, False, 0.5, 400),
        (6, False, 1, 1, False, 0.8, 400),
        (6, False, 1, 2, False, 0.9, 300),
        (6, True, 1, 1, False, 0.9, 300),
    ],
)
def test_samples_of_labelled_graphs(
    n: int, directed: bool, labels: int, marks: int, loops: bool, density: float, count: int
) -> None:
    M = connected_ones(digits(np.random.default_rng(n), count, n, directed, labels, marks, loops, density))
    turned = np.stack([m[np.ix_(p, p)] for m in M[:100] for p in [np.random.default_rng(1).permutation(n)]])
    assert_codes_tell_isomorphism(np.concatenate([M, turned]), directed)


def joined_cycles(*lengths: int) -> list[tuple[int, int]]:
    edges, start = [], 0
    for length in lengths:
        edges += [(start + k, start + (k + 1) % length) for k in range(length)]
        start += length
    return edges


def complement(edges: Any, n: int) -> list[tuple[int, int]]:
    there = {frozenset(e) for e in edges}
    return [(u, v) for u, v in itertools.combinations(range(n), 2) if frozenset((u, v)) not in there]


def test_regular_graphs_that_refinement_cannot_tell_apart() -> None:
    prism, k33 = (mc.Graph(complement(joined_cycles(*c), 6)) for c in ([6], [3, 3]))
    assert mc.Graphlet(6)([prism, k33]).tolist() == [[1, 0], [0, 1]]
    assert mc.WeisfeilerLehman(5).normalized()([prism], [k33])[0, 0] == pytest.approx(1.0)
    one, two = (mc.Graph(complement(joined_cycles(*c), 7)) for c in ([7], [3, 4]))
    assert mc.Graphlet(7)([one, two]).tolist() == [[1, 0], [0, 1]]
    twist = [(0, 2, "a"), (1, 3, "a"), (0, 3, "b"), (1, 2, "b"), (2, 4, "a"), (3, 5, "a"), (2, 5, "b"), (3, 4, "b")]
    ends = [[(0, 4, "a"), (1, 5, "a"), (0, 5, "b"), (1, 4, "b")], [(0, 4, "b"), (1, 5, "b"), (0, 5, "a"), (1, 4, "a")]]
    pair = [mc.Graph([e[:2] for e in twist + end], None, [e[2] for e in twist + end]) for end in ends]
    assert mc.Graphlet(6)(pair).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("n", [128, 256, 512])  # from 1024 on they do
def test_long_paths_whose_labels_defeat_polynomials_as_codes(n: int) -> None:
    labels = [k.bit_count() % 2 for k in range(n)]  # of Thue and Morse
    path = [(k, k + 1) for k in range(n - 1)]
    one, other = mc.Graph(path, labels), mc.Graph(path, [1 - x for x in labels])
    same = labels in ([1 - x for x in labels], [1 - x for x in labels[::-1]])
    assert mc.PathBag(n - 1)([one], [other])[0, 0] - mc.PathBag(n - 2)([one], [other])[0, 0] == float(same)


def test_directed_triples_that_look_alike_from_each_vertex() -> None:
    one, other = (
        mc.Graph(joined_cycles(5), directed=True),
        mc.Graph([(v, u) for u, v in joined_cycles(5)], directed=True),
    )
    # a cycle and the cycle the other way round are isomorphic
    assert mc.Graphlet(5)([one, other]).tolist() == [[1, 1], [1, 1]]
    tournaments = [
        mc.Graph([(u, (u + d) % 5) for u in range(5) for d in steps], directed=True)
        for steps in ([1, 2], [1, 3], [2, 4], [4, 3])
    ]
    np.testing.assert_array_equal(mc.Graphlet(5)(tournaments), np.ones((4, 4)))


# --- what every kernel must keep
# ----------------------------------------------------------------------------------------------


@explicit
def test_numbers_of_vertices_have_no_say_to_the_bit(kernel: mc.Kernel) -> None:
    for kind in KINDS:
        X = plain_set(7, 12, *kind)
        turned = [permuted(x, seed) for seed, x in enumerate(X)]
        K = kernel(graphs(X))
        np.testing.assert_array_equal(kernel(graphs(turned)), K)
        np.testing.assert_array_equal(kernel(graphs(turned), graphs(X)), K)
        both = kernel.features(graphs(X + turned))
        assert (both[: len(X)] != both[len(X) :]).nnz == 0


@zero_norms_are_expected
@pytest.mark.parametrize("kernel", [*IMPLICIT, *COMPOSED], ids=str)
def test_numbers_of_vertices_have_no_say(kernel: mc.Kernel) -> None:
    X = plain_set(7, 12, loops=True, edge_labels=2)
    K = kernel(graphs(X))
    np.testing.assert_allclose(kernel(graphs([permuted(x, 3) for x in X]), graphs(X)), K, rtol=1e-11)


@zero_norms_are_expected
@pytest.mark.parametrize("kernel", [*EVERY, *COMPOSED], ids=str)
def test_fifty_sets_of_graphs_have_positive_matrices(kernel: mc.Kernel) -> None:
    for seed in range(50):
        directed, loops, edge_labels = KINDS[seed % 8]
        X = graphs(plain_set(100 + seed, 5, directed, loops, edge_labels))
        verdict = mc.check_kernel(kernel, X)
        assert verdict, (seed, str(verdict))
    assert kernel.psd is True


@zero_norms_are_expected
@pytest.mark.parametrize("kernel", [*EXPLICIT, *(k for k in COMPOSED if k.explicit)], ids=str)
def test_features_have_the_matrix_as_products(kernel: mc.Kernel) -> None:
    for directed, loops, edge_labels in KINDS:
        X = graphs(plain_set(9, 12, directed, loops, edge_labels))
        phi = kernel.features(X)
        assert phi.shape[0] == len(X)
        K = phi @ phi.T
        np.testing.assert_allclose(K.toarray() if sparse.issparse(K) else K, kernel(X), rtol=1e-12, atol=1e-12)


@zero_norms_are_expected
@pytest.mark.parametrize("kernel", [k for k in EVERY if not isinstance(k, mc.Tanimoto | mc.MinMax)], ids=str)
def test_normalized_isomorphic_graphs_have_the_value_one(kernel: mc.Kernel) -> None:
    for directed in (False, True):
        X = plain_set(11, 8, directed, True, 2)
        normal = kernel.normalized()
        K = normal(graphs(X), graphs([permuted(x, 5) for x in X]))
        there = kernel.diag(graphs(X)) > 0
        np.testing.assert_allclose(np.diagonal(K), there.astype(float), rtol=1e-13)
        assert (np.abs(K) <= 1 + 1e-12).all()
        np.testing.assert_array_equal(normal.diag(graphs(X)), there.astype(float))


@every
@zero_norms_are_expected
def test_the_lazy_matrix_is_the_matrix(kernel: mc.Kernel) -> None:
    X = graphs(plain_set(13, 60, loops=True, edge_labels=2))
    gram, K = kernel.gram(X), kernel(X)
    v = np.random.default_rng(0).standard_normal((len(X), 2))
    np.testing.assert_allclose(gram @ v, K @ v, rtol=1e-9, atol=1e-9 * np.abs(K).max())
    np.testing.assert_allclose(gram.rows([5, 2, 61]), K[[5, 2, 61]], rtol=1e-12)
    np.testing.assert_allclose(gram.sub([1, 50], slice(3, 50)).dense(), K[[1, 50], 3:50], rtol=1e-12)
    np.testing.assert_allclose(gram.diag(), np.diagonal(K), rtol=1e-12)
    np.testing.assert_allclose(kernel.gram(X[:5], X).dense(), K[:5], rtol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(gram)).dense(), K, rtol=1e-14)


def test_algebra() -> None:
    X = graphs(plain_set(15, 10, edge_labels=2))
    W, S = mc.WeisfeilerLehman(2)(X), mc.ShortestPath()(X)
    np.testing.assert_allclose((mc.WeisfeilerLehman(2) + mc.ShortestPath())(X), W + S)
    np.testing.assert_allclose((mc.WeisfeilerLehman(2) * mc.ShortestPath())(X), W * S)
    np.testing.assert_allclose((3 * mc.ShortestPath())(X), 3 * S)
    H = np.eye(len(X)) - 1 / len(X)
    np.testing.assert_allclose(mc.WeisfeilerLehman(2).centered()(X), H @ W @ H, atol=1e-10)


@zero_norms_are_expected
@every
def test_empty_graphs_have_the_value_zero(kernel: mc.Kernel) -> None:
    Z = [
        mc.Graph(),
        mc.Graph([(0, 1)], ["C", "O"]),
        mc.Graph([], []),
        mc.Graph(np.empty((0, 2), int), np.array([]), [], n_vertices=0),
    ]
    K = kernel(Z)
    assert K.shape == (4, 4)
    assert not K[[0, 2, 3]].any()
    assert not K[:, [0, 2, 3]].any()
    assert not kernel([mc.Graph()]).any()
    assert not kernel([mc.Graph()], Z).any()
    assert not kernel.diag([mc.Graph(), mc.Graph()]).any()


@pytest.mark.parametrize("kernel", [*EVERY, *COMPOSED], ids=str)
def test_no_graphs_at_all(kernel: mc.Kernel) -> None:
    X = graphs([p for p in plain_set(1) if p.labels])[:3]
    empty: Any
    for empty in ([], (), np.array([], dtype=object), pd.Series([], dtype=object)):
        assert kernel(empty).shape == (0, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZeroNormWarning)
            assert kernel(empty, X).shape == (0, 3)
            assert kernel(X, empty).shape == (3, 0)
        assert kernel.diag(empty).shape == (0,)


def test_features_of_no_graphs() -> None:
    for kernel in (mc.VertexHistogram(), mc.PathBag(2), mc.WeisfeilerLehman(2)):
        assert kernel.features([]).shape == (0, 0)
        assert kernel.features([mc.Graph()]).shape == (1, 0)
    assert mc.PathBag(2).feature_names([]) == []
    assert mc.VertexHistogram().feature_names([mc.Graph()]) == []


# --- names of features
# --------------------------------------------------------------------------------------------------------


def counted(names: list[Any], phi: Any) -> list[dict[Any, float]]:
    return [
        {names[j]: v for j, v in zip(row.indices, row.data, strict=True)}
        for row in (phi[[i]] for i in range(phi.shape[0]))
    ]


def test_names_of_labels() -> None:
    X = plain_set(17)
    kernel = mc.VertexHistogram()
    names, phi = kernel.feature_names(graphs(X)), kernel.features(graphs(X))
    assert len(names) == phi.shape[1] == len(set(names))
    assert counted(names, phi) == [dict(Counter(x.labels)) for x in X]
    assert set(kernel.feature_names([mc.Graph([], ["a", 1, (2, "b")])])) == {"a", 1, (2, "b")}


def test_names_of_labels_where_there_are_none() -> None:
    assert len(mc.VertexHistogram().feature_names([mc.Graph([(0, 1)])])) == 1
    assert sorted(mc.PathBag(1).feature_names([mc.Graph([(0, 1)])])) == ["*", "*-*"]
    assert len(mc.VertexHistogram().feature_names([mc.Graph([(0, 1)]), mc.Graph([], ["C"])])) == 2


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("edge_labels", [1, 2])
def test_names_of_paths(directed: bool, edge_labels: int) -> None:
    X = [
        Plain(p.labels, {e: None if m is None else m + 1 for e, m in p.edges.items()}, directed)
        for p in plain_set(19, 8, directed, True, edge_labels)
    ]
    kernel = mc.PathBag(3, counts=True)
    names, phi = kernel.feature_names(graphs(X)), kernel.features(graphs(X))
    assert len(names) == phi.shape[1] == len(set(names))

    def written(read: tuple[Any, ...]) -> str:
        return "".join({None: "-", 1: "-", 2: "="}[x] if k % 2 else x for k, x in enumerate(read))

    for x, row in zip(X, counted(names, phi), strict=True):
        expected = truth.path_features(x, 3)
        assert len(row) == len(expected)
        for read, n in expected.items():
            assert n in [row.get(written(read)), None if directed else row.get(written(read[::-1]))]


def test_names_of_paths_of_molecules() -> None:
    pytest.importorskip("rdkit")
    names = mc.PathBag(2).feature_names(["CC=O", "C#N", "c1ccccc1"])
    assert {min(n, n[::-1]) for n in names} == {"C", "O", "N", "C-C", "C=O", "C-C=O", "C#N", "C:C", "C:C:C"}


@pytest.mark.parametrize("kernel", [mc.VertexHistogram(), mc.PathBag(3), mc.PathBag(3, counts=True)], ids=str)
def test_weights_of_features_are_the_decision_function(kernel: Any) -> None:
    Z, y = labelled()
    model = mc.SVC(kernel=kernel, C=1.0).fit(Z, y)
    w = kernel.features(model.support_vectors_).T @ model.dual_coef_[0]
    weight = dict(zip(kernel.feature_names(model.support_vectors_), w, strict=True))
    new = [*labelled(10, seed=3)[0], mc.Graph(), mc.Graph([(0, 1)], ["?", "!"])]
    names = kernel.feature_names(new)
    found = kernel.features(new) @ np.array([_weight(weight, name) for name in names]) + model.intercept_[0]
    np.testing.assert_allclose(found, model.decision_function(new), rtol=1e-9, atol=1e-9)


def _weight(weight: dict[Any, float], name: Any) -> float:
    return weight.get(name, weight.get(name[::-1], 0.0))


@pytest.mark.parametrize("kernel", [mc.VertexHistogram().on("molecule"), mc.PathBag(2).on("molecule")], ids=str)
def test_names_of_features_of_columns(kernel: mc.Kernel) -> None:
    pytest.importorskip("rdkit")
    frame = pd.DataFrame({"molecule": ["CCO", "CN"], "age": [1, 2]})
    assert len(kernel.feature_names(frame)) == kernel.features(frame).shape[1]


# --- every form of input
# ------------------------------------------------------------------------------------------------------


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


def edge_index(p: Plain) -> tuple[Any, Any]:
    arcs = truth.steps(p)
    return np.array([[a[0] for a in arcs], [a[1] for a in arcs]]), np.array([a[2] for a in arcs])


def neighbours(p: Plain, name: Callable[[int], Any] = int) -> dict[Any, list[Any]]:
    return {name(v): [name(b) for a, b, _ in truth.steps(p) if a == v] for v in range(len(p.labels))}


def one_hot(p: Plain) -> Any:
    return np.eye(3)[["CNO".index(x) for x in p.labels]]


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


def names_reversed(p: Plain, name: Callable[[int], Any]) -> dict[Any, Any]:
    """Labels by name, the last vertex first."""
    return {name(v): p.labels[v] for v in reversed(range(len(p.labels)))}


def title(v: int) -> str:
    return f"vertex {v}"


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
    "array of objects": lambda x: _objects(x),
    "column of an array": lambda x: _objects(x)[:, None],
    "pandas": pd.Series,
    "pandas, shuffled index": lambda x: pd.Series(x, index=np.arange(len(x))[::-1]),
    "a table of one column": lambda x: pd.DataFrame({"graph": x}),
}


def _objects(x: list[Any]) -> Any:
    out = np.empty(len(x), object)
    for i, item in enumerate(x):
        out[i] = item
    return out


def _mark_matrix(p: Plain) -> Any:
    A = np.zeros((len(p.labels),) * 2, int)
    for u, v, m in truth.steps(p):
        A[u, v] = m
    return A


def _with_zeros(A: Any) -> Any:
    rows, columns = np.indices(A.shape)
    return sparse.coo_array((A.ravel(), (rows.ravel(), columns.ravel())), shape=A.shape)


X = bonded(0, 8)
OTHERS = [*bonded(1, 4), X[0]]
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


def assert_same(form: Callable[[Plain], Any], left: list[Plain], right: list[Plain]) -> None:
    for kernel in SOME:
        assert_equal(kernel, kernel([form(p) for p in left]), kernel(graphs(left)))
        assert_equal(kernel, kernel([form(p) for p in right], graphs(left)), kernel(graphs(right), graphs(left)))
    np.testing.assert_array_equal(SOME[0].diag([form(p) for p in left]), SOME[0].diag(graphs(left)))


@pytest.mark.parametrize("form", MARKED)
def test_every_form_has_the_same_matrix(form: str) -> None:
    assert_same(MARKED[form], X, OTHERS)


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


def test_dictionaries_of_labels_are_read_by_their_keys_or_refused() -> None:
    expected = mc.Graph([(0, 1), (1, 2)], ["C", "N", "O"], ["x", "y"])
    try:
        found = mc.Graph([(0, 1), (1, 2)], {2: "O", 1: "N", 0: "C"}, {(1, 2): "y", (0, 1): "x"})
    except (DataError, TypeError):
        return
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


# --- labels
# -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (True, 1),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.str_("ab"), "ab"),
        ((1, 2), (1.0, 2.0)),
        (("a", np.int64(2)), ("a", 2)),
        (-0.0, 0),
        (2**70, float(2**70)),
        (b"A", np.bytes_(b"A")),
        (np.True_, 1),
        (2**62, 2.0**62),
        (-(2**63), -(2.0**63)),
    ],
    ids=repr,
)
def test_labels_that_are_equal_are_the_same(a: Any, b: Any) -> None:
    assert a == b
    assert mc.VertexHistogram()([mc.Graph([], [a])], [mc.Graph([], [b])])[0, 0] == 1.0
    one, other = (mc.Graph([(0, 1)], [x, x], [x]) for x in (a, b))
    assert mc.EdgeHistogram()([one], [other])[0, 0] == 1.0
    assert mc.Walk(1)([one], [other])[0, 0] == 4.0


def test_labels_that_differ_are_different() -> None:
    labels: list[Any] = [
        0, 1, "1", b"1", 1.5, "1.5", "one", ("one",), ("on", "e"), (1,), ((1,),), "", "(1,)", "None", 10**30, "é",
        "e\u0301", -1, 2**62, -(2**62), 2**62 - 1, 2**63, 2**64 - 1, 2**53, 2**53 + 1, float("inf"), "\ud800", "\0",
        " ", (), "()",
    ]  # fmt: skip
    np.testing.assert_array_equal(mc.VertexHistogram()([mc.Graph([], [x]) for x in labels]), np.eye(len(labels)))
    np.testing.assert_array_equal(
        mc.EdgeHistogram()([mc.Graph([(0, 1)], None, [x]) for x in labels]), np.eye(len(labels))
    )
    np.testing.assert_array_equal(
        mc.VertexHistogram()([mc.Graph([], [x]) for x in labels], [mc.Graph(n_vertices=1)]), np.zeros((len(labels), 1))
    )


@pytest.mark.parametrize(
    "value", [0, -1, 2**31, 2**53 + 1, 2**61, 2**62 - 1, 2**62, 2**62 + 5, 2**63 - 1, -(2**62), -(2**63)]
)
def test_large_numbers_are_the_same_label_in_arrays_and_lists(value: int) -> None:
    forms = [[value], np.array([value]), [np.int64(value)], np.array([value], object)]
    for a, b in itertools.product(forms, repeat=2):
        assert mc.VertexHistogram()([mc.Graph([], a)], [mc.Graph([], b)])[0, 0] == 1.0
        assert mc.VertexHistogram()([mc.Graph([], a), mc.Graph([], b)])[0, 1] == 1.0


def test_large_numbers_in_arrays_of_different_types_are_themselves() -> None:
    Z = [
        np.array([2**63 + 5], np.uint64),
        np.array([2**63 + 6], np.uint64),
        np.array([-(2**63) + 5]),
        np.array([2**53]),
        np.array([2**53 + 1]),
    ]
    np.testing.assert_array_equal(mc.VertexHistogram()([mc.Graph([], z) for z in Z]), np.eye(5))
    Z = [np.array([2**53 + 1]), np.array([2**53], np.uint64)]
    np.testing.assert_array_equal(mc.VertexHistogram()([mc.Graph([], z) for z in Z]), np.eye(2))
    Z = [np.array([3], np.int8), np.array([3], np.uint64), np.array([3], np.uint8)]
    np.testing.assert_array_equal(mc.VertexHistogram()([mc.Graph([], z) for z in Z]), np.ones((3, 3)))


def test_labels_are_the_same_in_every_process() -> None:
    script = (
        "import mercer as mc; from mercer.data import Graphs; p = Graphs().check([mc.Graph([(0, 1)], ['ab', ('x', 1)],"
        " [frozenset('pqrs')]), mc.Graph([], [2.5, -3, b'x'])]); print(p.labels, p.marks)"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True, text=True
    ).stdout
    here = Graphs().check([mc.Graph([(0, 1)], ["ab", ("x", 1)], [frozenset("pqrs")]), mc.Graph([], [2.5, -3, b"x"])])
    assert found.split() == f"{here.labels} {here.marks}".split()


def test_labels_never_seen() -> None:
    Z, y = labelled()
    for kernel in (
        mc.VertexHistogram(),
        mc.WeisfeilerLehman(2),
        mc.PathBag(3),
        mc.Walk(2),
        mc.ShortestPath(),
        mc.Graphlet(2),
    ):
        model = mc.SVC(kernel=kernel, C=1.0).fit(Z, y)
        new = [mc.Graph([(0, 1)], ["Xx", "Yy"]), mc.Graph([(0, 1)], [10**40, ("a", "b")]), mc.Graph([(0, 1)]), Z[0]]
        values = model.decision_function(new)
        np.testing.assert_allclose(values[:3], model.intercept_[0], rtol=1e-12)
        np.testing.assert_allclose(values[3], model.decision_function(Z[:1])[0], rtol=1e-12)


def test_labelled_and_unlabelled_graphs_have_nothing_in_common() -> None:
    bare, named = mc.Graph([(0, 1)]), mc.Graph([(0, 1)], ["C", "C"])
    assert mc.VertexHistogram()([bare], [named])[0, 0] == 0
    assert mc.VertexHistogram()([bare])[0, 0] == 4
    assert mc.Walk(1)([bare], [named])[0, 0] == 0
    assert mc.EdgeHistogram()([bare], [named])[0, 0] == 1
    assert mc.EdgeHistogram()([bare], [mc.Graph([(0, 1)], None, ["single"])])[0, 0] == 0


def test_many_labels() -> None:
    n = 20_000
    one = mc.Graph([(k, k + 1) for k in range(n - 1)], [f"label {k}" for k in range(n)])
    other = mc.Graph([(k, k + 1) for k in range(n - 1)], [f"label {k}" for k in range(n)][::-1])
    began = time.perf_counter()
    for kernel in (mc.VertexHistogram(), mc.WeisfeilerLehman(3), mc.PathBag(3), mc.Graphlet(3)):
        K = kernel([one, other])
        assert (K[0, 0] == K).all()
    assert mc.WeisfeilerLehman(3)([one])[0, 0] == 4 * n
    assert time.perf_counter() - began < 20


# --- molecules
# ----------------------------------------------------------------------------------------------------------------

MOLECULES = {
    "CCO": mc.Graph([(0, 1), (1, 2)], ["C", "C", "O"], [1, 1]),
    "C=O": mc.Graph([(0, 1)], ["C", "O"], [2]),
    "C#N": mc.Graph([(0, 1)], ["C", "N"], [3]),
    "c1ccccc1": mc.Graph(joined_cycles(6), ["C"] * 6, [1.5] * 6),
    "C1=CC=CC=C1": mc.Graph(joined_cycles(6), ["C"] * 6, [1.5] * 6),
    "C1CCCCC1": mc.Graph(joined_cycles(6), ["C"] * 6, [1] * 6),
    "[Na+].[Cl-]": mc.Graph([], ["Na", "Cl"]),
    "[H][H]": mc.Graph([(0, 1)], ["H", "H"], [1]),
    "C": mc.Graph([], ["C"]),
    "": mc.Graph(),
    "CC(=O)O": mc.Graph([(0, 1), (1, 2), (1, 3)], ["C", "C", "O", "O"], [1, 2, 1]),
    "C[C@H](N)C(=O)O": mc.Graph(
        [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5)], ["C", "C", "N", "C", "O", "O"], [1, 1, 1, 2, 1]
    ),
}
SMILES, DRAWN = list(MOLECULES), list(MOLECULES.values())


@zero_norms_are_expected
@every
def test_molecules_are_graphs(kernel: mc.Kernel) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    kernel = kernel.atoms()  # by their elements: some have charges
    K = kernel(DRAWN)
    np.testing.assert_array_equal(kernel(SMILES), K)
    np.testing.assert_array_equal(kernel([chem.MolFromSmiles(s) for s in SMILES]), K)
    np.testing.assert_array_equal(kernel(SMILES, DRAWN), K)
    np.testing.assert_array_equal(kernel([chem.MolFromSmiles(SMILES[0]), *SMILES[1:3], *DRAWN[3:]]), K)


@zero_norms_are_expected
def test_every_column_of_molecules() -> None:
    pytest.importorskip("rdkit")
    kernel = mc.Tanimoto(mc.PathBag(7)).atoms()
    K = kernel(DRAWN)
    forms: list[Callable[[list[str]], Any]] = [
        tuple, iter, np.array, pd.Series, pl.Series, lambda x: np.array(x, object),
        lambda x: pd.Series(x, dtype="string"), lambda x: pd.Series(x, index=range(len(x), 0, -1)),
        lambda x: pd.Series(x, dtype="category"), lambda x: pl.Series(x, dtype=pl.Categorical),
        lambda x: pd.DataFrame({"smiles": x}), lambda x: pl.DataFrame({"smiles": x}),
        lambda x: np.array(x, dtype=np.dtypes.StringDType()),
    ]  # fmt: skip
    for form in forms:
        np.testing.assert_array_equal(kernel(form(SMILES)), K)
        np.testing.assert_array_equal(kernel(form(SMILES), DRAWN), K)
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make({"name": SMILES, "smiles": SMILES})
        np.testing.assert_array_equal(kernel.on("smiles")(frame), K)
        np.testing.assert_array_equal(kernel.on(1)(frame), K)


@pytest.mark.parametrize("text", ["hello world", "C1CC", "CC(", "C(C)(C)(C)(C)C", "xyz", "ACGT", "\0", "中"])
def test_strings_that_are_no_molecules_are_named(text: str) -> None:
    pytest.importorskip("rdkit")
    for kernel in (mc.WeisfeilerLehman(2), mc.Walk(2), mc.Tanimoto(mc.PathBag(3))):
        with pytest.raises(DataError, match=r"Graph 2: .*SMILES"):
            kernel(["CCO", "C", text, "CC"])
        with pytest.raises(DataError, match=r"Graph 1: .*SMILES"):
            kernel(["CCO"], np.array(["C", text], object))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["CCO", "C", None]),
        pd.Series(["CCO", "C", np.nan]),
        pd.Series(["C", "C", pd.NA], dtype="string"),
        pl.Series(["C", "C", None]),
    ],
)
def test_missing_molecules_are_named(column: Any) -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(DataError, match=r"Item 2 .*missing.*drop it"):
        mc.WeisfeilerLehman(2)(column)


# --- errors that say where
# ----------------------------------------------------------------------------------------------------

GOOD = mc.Graph([(0, 1)], ["C", "O"])
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


def test_numbers_of_walks_that_no_float_holds_are_refused() -> None:
    Z = [mc.Graph([(0, 1), (1, 2), (0, 2)]), mc.Graph(list(itertools.combinations(range(5), 2)))]
    with pytest.raises(FloatingPointError, match="inf"):
        mc.Walk(600)(Z)
    np.testing.assert_allclose(mc.Walk(600).normalized()(Z), 1.0, rtol=1e-12)  # 3·2^l and 5·4^l walks: a product


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


# --- files of the TU benchmarks
# -----------------------------------------------------------------------------------------------


def written_tu(
    folder: Path,
    some: Sequence[Plain],
    y: Sequence[Any],
    name: str = "SET",
    marks: bool = True,
    targets: str = "graph_labels",
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    starts = np.cumsum([1, *(len(p.labels) for p in some)])
    arcs = [(u + s, v + s, m) for p, s in zip(some, starts, strict=False) for u, v, m in truth.steps(p)]
    files = {
        "A": [f"{u}, {v}" for u, v, _ in arcs],
        "graph_indicator": [str(i + 1) for i, p in enumerate(some) for _ in p.labels],
        "node_labels": [str("CNO".index(x)) for p in some for x in p.labels],
        targets: [str(t) for t in y],
        **({"edge_labels": [str(m) for *_, m in arcs]} if marks else {}),
    }
    for what, lines in files.items():
        (folder / f"{name}_{what}.txt").write_text("".join(line + "\n" for line in lines))
    return folder


def test_files_are_graphs(tmp_path: Path) -> None:
    y = [1, -1, 1, -1, 1, -1, 1, -1]
    folder = written_tu(tmp_path / "SET", X, y)
    found, targets = mc.read_tu(folder)
    assert targets.tolist() == y
    expected = graphs([coded(p) for p in X])
    for kernel in SOME:
        assert_equal(kernel, kernel(found), kernel(expected))
        assert_equal(kernel, kernel(found, expected), kernel(expected))
    bare, _ = mc.read_tu(folder, edge_labels=False)
    np.testing.assert_array_equal(mc.Walk(2)(bare), mc.Walk(2)(graphs([unmarked(coded(p)) for p in X])))
    with zipfile.ZipFile(tmp_path / "SET.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"SET/{path.name}")
    packed, targets = mc.read_tu(tmp_path / "SET.zip")
    assert targets.tolist() == y
    np.testing.assert_array_equal(mc.WeisfeilerLehman(2)(packed), mc.WeisfeilerLehman(2)(expected))
    np.testing.assert_array_equal(mc.WeisfeilerLehman(2)(mc.read_tu(str(folder))[0]), mc.WeisfeilerLehman(2)(expected))


def test_files_with_numbers_to_learn_and_attributes(tmp_path: Path) -> None:
    folder = written_tu(tmp_path, X[:2], [0.5, 2.25], marks=False, targets="graph_attributes")
    (tmp_path / "SET_node_attributes.txt").write_text(
        "\n".join(f"{k}, {k / 2}" for k in range(sum(len(p.labels) for p in X[:2]))) + "\n"
    )
    found, y = mc.read_tu(folder)
    assert y.tolist() == [0.5, 2.25]
    assert [g.attributes.shape for g in found] == [(len(p.labels), 2) for p in X[:2]]
    assert found[0].edge_labels is None


def test_a_graph_without_vertices_in_files(tmp_path: Path) -> None:
    some = [X[0], Plain((), {}), X[1]]
    found, y = mc.read_tu(written_tu(tmp_path, some, [0, 1, 0]))
    assert [g.n_vertices for g in found] == [len(p.labels) for p in some]
    assert len(y) == 3
    np.testing.assert_array_equal(
        mc.WeisfeilerLehman(1)(found), mc.WeisfeilerLehman(1)(graphs([coded(p) for p in some]))
    )


@pytest.mark.parametrize(
    ("what", "text", "message"),
    [
        ("graph_indicator", "1\n999999999999\n", r"names graph 999999999999, and has 2 vertices"),
        ("graph_indicator", "1\n1.5\n", r"line 2 of .* has 1.5 where a whole number is needed"),
        ("graph_indicator", "1\nnan\n", r"line 2 of .* has nan where"),
        ("A", "1, 1e300\n", r"line 1 of .* has 1e\+300 where"),
        ("A", "1\n2\n1\n", r"_A.txt has 3 numbers"),
        ("A", "1, x\n", r"not a table of numbers"),
        ("node_labels", "\ud800", r"is not a text"),
    ],
)
def test_spoiled_sets_of_graphs_are_refused_in_words(tmp_path: Path, what: str, text: str, message: str) -> None:
    files = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n", "node_labels": "0\n1\n", what: text}
    for name, content in files.items():
        (tmp_path / f"SET_{name}.txt").write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(mc.DataError, match=message):
        mc.read_tu(tmp_path)


def test_sets_of_graphs_are_limited_by_what_they_unpack_to(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "SET.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SET_A.txt", "1, 1\n" * 1_000_000)
        archive.writestr("SET_graph_indicator.txt", "1\n")
    with pytest.raises(mc.DataError, match=r"more than the 1 MB that may be read.*max_bytes"):
        mc.read_tu(tmp_path / "SET.zip", max_bytes="1MB")
    (tmp_path / "cut.zip").write_bytes((tmp_path / "SET.zip").read_bytes()[:-30])
    with pytest.raises(mc.DataError, match="not a zip archive, or is damaged"):
        mc.read_tu(tmp_path / "cut.zip")


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"nothing\n", b"\n\n\n999999  0  0\nM  END\n$$$$\n", bytes(range(256)) * 4]
)
def test_spoiled_molecules_are_refused_in_words(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.sdf").write_bytes(content)
    with pytest.raises(mc.DataError, match=r"m\.sdf"):
        mc.read_sdf(tmp_path / "m.sdf")


def test_broken_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="neither a folder nor a zip"):
        mc.read_tu(tmp_path / "nowhere")
    with pytest.raises(DataError, match="no files named …_graph_indicator"):
        mc.read_tu(tmp_path)
    folder = written_tu(tmp_path / "a", X[:2], [0, 1])
    (folder / "SET_A.txt").unlink()
    with pytest.raises(DataError, match=r"no SET_A\.txt"):
        mc.read_tu(folder)
    folder = written_tu(tmp_path / "b", X[:2], [0, 1])
    (folder / "SET_A.txt").write_text("1, 2\n2, 1\n1, 999\n")
    with pytest.raises(DataError, match=r"line 3 of _A\.txt"):
        mc.read_tu(folder)
    folder = written_tu(tmp_path / "c", X[:2], [0, 1])
    (folder / "SET_node_labels.txt").write_text("1\ntwo\n")
    with pytest.raises(DataError, match=r"SET_node_labels\.txt"):
        mc.read_tu(folder)
    folder = written_tu(tmp_path / "d", X[:2], [0, 1])
    (folder / "SET_graph_indicator.txt").write_text("2\n1\n")
    with pytest.raises(DataError, match=r"_graph_indicator"):
        mc.read_tu(folder)
    folder = written_tu(tmp_path / "e", X[:2], [0, 1])
    written_tu(tmp_path / "e", X[:2], [0, 1], name="OTHER")
    with pytest.raises(DataError, match=r"2 files"):
        mc.read_tu(folder)


@pytest.mark.parametrize("what", ["node_labels", "edge_labels", "graph_labels"])
def test_files_of_different_lengths_are_named(what: str, tmp_path: Path) -> None:
    folder = written_tu(tmp_path, X[:3], [0, 1, 0])
    path = folder / f"SET_{what}.txt"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(DataError):
        mc.read_tu(folder)


def test_an_edge_between_two_graphs_of_files_is_named(tmp_path: Path) -> None:
    folder = written_tu(tmp_path, X[:2], [0, 1], marks=False)
    with (folder / "SET_A.txt").open("a") as file:
        file.write(f"1, {len(X[0].labels) + 1}\n")
    with pytest.raises(DataError, match=r"graph 1"):
        mc.read_tu(folder)


# --- in machines
# --------------------------------------------------------------------------------------------------------------


def labelled(n: int = 30, seed: int = 0) -> tuple[list[mc.Graph], Any]:
    """Chains, and chains that are closed to rings."""
    rng = np.random.default_rng(seed)
    Z, y = [], np.arange(n) % 2
    for i in range(n):
        size = int(rng.integers(4, 9))
        edges = [(k, k + 1) for k in range(size - 1)] + ([(0, size - 1)] if y[i] else [])
        Z.append(mc.Graph(edges, [str(x) for x in rng.choice(list("CNO"), size)]))
    return Z, y


def as_networkx(g: mc.Graph) -> Any:
    return networked(Plain(tuple(g.labels), dict.fromkeys(map(tuple, g.edges.tolist()))), title)


def as_smiles(g: mc.Graph) -> str:
    ring = len(g.edges) == g.n_vertices
    return "".join(x + ("1" if ring and k in (0, len(g.labels) - 1) else "") for k, x in enumerate(g.labels))


def networkx_list(Z: list[mc.Graph]) -> Any:
    pytest.importorskip("networkx")
    return [as_networkx(g) for g in Z]


def smiles_list(Z: list[mc.Graph]) -> Any:
    pytest.importorskip("rdkit")
    return [as_smiles(g) for g in Z]


def tuple_list(Z: list[mc.Graph]) -> Any:
    return [(g.edges.tolist(), g.labels) for g in Z]


def dictionary_list(Z: list[mc.Graph]) -> Any:
    return [{"edges": g.edges, "labels": g.labels} for g in Z]


def adjacency_list(Z: list[mc.Graph]) -> Any:
    return [
        (sparse.csr_array(adjacency(Plain(tuple(g.labels), dict.fromkeys(map(tuple, g.edges.tolist()))))), g.labels)
        for g in Z
    ]


STORED: dict[str, Callable[[list[mc.Graph]], Any]] = {
    "Graph": list,
    "networkx": networkx_list,
    "SMILES": smiles_list,
    "array of SMILES": lambda Z: np.array(smiles_list(Z)),
    "pandas column of SMILES": lambda Z: pd.Series(smiles_list(Z)),
    "polars column of SMILES": lambda Z: pl.Series(smiles_list(Z)),
    "tuples": tuple_list,
    "dictionaries": dictionary_list,
    "sparse matrices": adjacency_list,
    "array of objects": lambda Z: _objects(Z),
    "pandas column": pd.Series,
}
stored = pytest.mark.parametrize("form", STORED)
MACHINES = [
    (lambda k: mc.SVC(kernel=k, C=1.0), "decision_function"),
    (lambda k: mc.KernelRidge(kernel=k), "predict"),
    (lambda k: mc.KernelLogistic(kernel=k), "predict_proba"),
    (lambda k: mc.OneClassSVM(kernel=k, nu=0.3), "decision_function"),
]
machines = pytest.mark.parametrize(
    ("make", "method"), MACHINES, ids=["SVC", "KernelRidge", "KernelLogistic", "OneClassSVM"]
)
LEARNERS = [
    mc.WeisfeilerLehman(2),
    mc.Walk(2).normalized(),
    mc.Tanimoto(mc.PathBag(5)),
    mc.MinMax(mc.PathBag(3, counts=True)),
    mc.GeometricWalk(0.05),
]


@machines
@pytest.mark.parametrize("kernel", LEARNERS, ids=str)
def test_machines_on_graphs_are_machines_on_matrices(make: Any, method: str, kernel: mc.Kernel) -> None:
    Z, y = labelled()
    new = labelled(8, seed=5)[0]
    K, cross = kernel(Z), kernel(new, Z)
    ours = getattr(make(kernel).fit(Z, y), method)(new)
    np.testing.assert_allclose(
        ours, getattr(make("precomputed").fit(K, y), method)(cross), rtol=1e-5, atol=1e-3 * np.abs(cross).max()
    )


@machines
@stored
def test_machines_take_every_form(make: Any, method: str, form: str) -> None:
    Z, y = labelled(20)
    new = labelled(6, seed=3)[0]
    if "SMILES" in form:  # bonds of molecules have labels
        Z, new = mc.as_graphs(smiles_list(Z)), mc.as_graphs(smiles_list(new))
    kernel = mc.WeisfeilerLehman(2)
    expected = getattr(make(kernel).fit(Z, y), method)(new)
    model = make(kernel).fit(STORED[form](Z), y)
    np.testing.assert_array_equal(getattr(model, method)(new), expected)
    np.testing.assert_array_equal(getattr(model, method)(STORED[form](new)), expected)


@machines
@stored
def test_models_are_saved_and_pickled(make: Any, method: str, form: str, tmp_path: Path) -> None:
    Z, y = labelled(16)
    new = STORED[form](labelled(6, seed=3)[0])
    for kernel in (mc.WeisfeilerLehman(2), mc.Walk(2)) if form == "Graph" else (mc.WeisfeilerLehman(2),):
        model = make(kernel).fit(STORED[form](Z), y)
        expected = getattr(model, method)(new)
        np.testing.assert_array_equal(getattr(pickle.loads(pickle.dumps(model)), method)(new), expected)
        mc.save(model, tmp_path / "model")
        again = mc.load(tmp_path / "model")
        np.testing.assert_array_equal(getattr(again, method)(new), expected)
        assert again.kernel_ == model.kernel_


STRANGE = [
    mc.Graph([(0, 1)], [("C", 1), ("O", 2)], [("a", "b")]),
    mc.Graph([(0, 1)], [b"C", "\ud800"]),
    mc.Graph([(0, 1), (1, 1)], np.array([1, 2]), np.array([0.5, 1.5]), directed=True),
    mc.Graph([(0, 1)], [10**30, 1.5], attributes=[[1.0, 2.0], [3.0, 4.0]]),
    mc.Graph(),
    mc.Graph(n_vertices=3),
]


@pytest.mark.filterwarnings("ignore::mercer.IgnoredWarning")
@pytest.mark.parametrize("i", range(len(STRANGE)))
def test_strange_graphs_are_saved(i: int, tmp_path: Path) -> None:
    Z = [STRANGE[i]] * 2 + (
        [mc.Graph([(0, 1)], ["C", "O"], attributes=[[1.0, 2.0]] * 2)] * 2 if i == 3 else [GOOD, GOOD]
    )
    model = mc.KernelRidge(kernel=mc.WeisfeilerLehman(1)).fit(Z, [0.0, 1.0, 2.0, 3.0])
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").predict(Z), model.predict(Z))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(Z), model.predict(Z))
    again = pickle.loads(pickle.dumps(STRANGE[i]))
    np.testing.assert_array_equal(mc.Walk(1)([again], [STRANGE[i]]), mc.Walk(1)([STRANGE[i]]))


@pytest.mark.parametrize(
    "kernel", [*EVERY, *COMPOSED, mc.Tanimoto(), mc.Intersection(), mc.MinMax(mc.Linear())], ids=str
)
def test_clones_and_texts_of_kernels(kernel: mc.Kernel, tmp_path: Path) -> None:
    assert clone(kernel) == kernel
    assert mc.parse(repr(kernel)) == kernel
    assert mc.parse(str(kernel)) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    mc.save(kernel, tmp_path / "kernel")
    assert mc.load(tmp_path / "kernel") == kernel
    assert hash(clone(kernel)) == hash(kernel)
    assert clone(mc.SVC(kernel=kernel)).kernel == kernel


@stored
def test_searches_take_every_form(form: str) -> None:
    Z, y = labelled(24)
    cv = KFold(3, shuffle=True, random_state=0)
    given_graphs = STORED[form](Z)
    grid = {"kernel__depth": [0, 2]}
    theirs = GridSearchCV(mc.SVC(kernel=mc.WeisfeilerLehman(1)), grid, cv=cv)
    if not form.startswith("polars"):
        theirs.fit(given_graphs, y)
    ours = mc.KernelSearchCV(mc.SVC(kernel=mc.WeisfeilerLehman(1)), grid, cv=cv).fit(given_graphs, y)
    if not form.startswith("polars"):
        np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
        assert ours.best_params_ == theirs.best_params_
        predicted = cross_val_predict(mc.SVC(kernel=mc.WeisfeilerLehman(2), C=1.0), given_graphs, y, cv=cv)
        K = mc.WeisfeilerLehman(2)(given_graphs)
        np.testing.assert_array_equal(predicted, cross_val_predict(mc.SVC(kernel="precomputed", C=1.0), K, y, cv=cv))
    piped = Pipeline([("svc", mc.SVC(kernel=mc.WeisfeilerLehman(2), C=10.0))]).fit(given_graphs, y)
    assert piped.score(given_graphs, y) > 0.9


@pytest.mark.parametrize("form", ["Graph", "networkx", "SMILES", "tuples", "dictionaries", "pandas column of SMILES"])
def test_lists_of_graphs_are_split(form: str) -> None:
    Z, y = labelled(40)
    train, test, y_train, y_test = train_test_split(STORED[form](Z), y, random_state=0, stratify=y)
    model = mc.SVC(kernel=mc.WeisfeilerLehman(2).normalized(), C=10.0).fit(train, y_train)
    assert model.score(test, y_test) >= 0.5
    assert model.score(train, y_train) > 0.9


def test_searches_over_kernels_of_graphs() -> None:
    Z, y = labelled(24)
    candidates = [mc.WeisfeilerLehman(2), mc.ShortestPath().normalized(), mc.Walk(2), mc.Tanimoto(mc.PathBag(3))]
    cv = KFold(3, shuffle=True, random_state=0)
    ours = mc.KernelSearchCV(mc.SVC(kernel=candidates[0]), {"kernel": candidates}, cv=cv).fit(Z, y)
    theirs = GridSearchCV(mc.SVC(kernel=candidates[0]), {"kernel": candidates}, cv=cv).fit(Z, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def table(make: Any, n: int = 24, seed: int = 0) -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    Z, y = labelled(n, seed)
    columns = {
        "age": rng.random(n) * 50,
        "dose": rng.random(n),
        "dna": ["".join(rng.choice(list("ACGT"), 20)) for _ in range(n)],
        "molecule": [as_smiles(g) for g in Z],
    }
    return make(columns), y, columns


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_of_numbers_strings_and_molecules(make: Any, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    kernel = mc.Gaussian().on(["age", "dose"]) + mc.Spectrum(4).on("dna") + mc.Tanimoto(mc.PathBag(7)).on("molecule")
    frame, y, columns = table(make)
    new, _, others = table(make, 10, seed=1)
    model = mc.SVC(kernel=kernel, C=1.0).fit(frame, y)
    bound = mc.Gaussian().bind(np.stack([columns["age"], columns["dose"]], axis=1))

    def expected(a: dict[str, Any], b: dict[str, Any]) -> Any:
        numbers = [np.stack([c["age"], c["dose"]], axis=1) for c in (a, b)]
        return (
            bound(*numbers)
            + mc.Spectrum(4)(a["dna"], b["dna"])
            + mc.Tanimoto(mc.PathBag(7))(a["molecule"], b["molecule"])
        )

    np.testing.assert_allclose(model.kernel_(new, frame), expected(others, columns), rtol=1e-12)
    twin = mc.SVC(kernel="precomputed", C=1.0).fit(expected(columns, columns), y)
    np.testing.assert_allclose(
        model.decision_function(new), twin.decision_function(expected(others, columns)), atol=1e-3
    )
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(new), model.decision_function(new))
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).decision_function(new), model.decision_function(new)
    )
    cv = KFold(3, shuffle=True, random_state=0)
    theirs = GridSearchCV(mc.SVC(kernel=kernel), {"C": [0.1, 1.0]}, cv=cv).fit(frame, y)
    ours = mc.KernelSearchCV(mc.SVC(kernel=kernel), {"C": [0.1, 1.0]}, cv=cv).fit(frame, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    lengths = mc.KernelSearchCV(mc.SVC(kernel=kernel), {"kernel__tanimoto__kernel__base__length": [1, 3]}, cv=cv).fit(
        frame, y
    )
    assert lengths.best_params_["kernel__tanimoto__kernel__base__length"] in (1, 3)
    np.testing.assert_array_equal(clone(model).fit(frame, y).decision_function(new), model.decision_function(new))


def test_a_column_of_graphs_in_a_table() -> None:
    Z, y = labelled(20)
    frame = pd.DataFrame({"age": np.arange(20.0), "graph": Z})
    kernel = mc.Gaussian(0.1).on(["age"]) + mc.WeisfeilerLehman(2).on("graph")
    np.testing.assert_allclose(
        kernel(frame), mc.Gaussian(0.1)(np.arange(20.0)[:, None]) + mc.WeisfeilerLehman(2)(Z), rtol=1e-13
    )
    assert mc.SVC(kernel=kernel).fit(frame, y).predict(frame).shape == (20,)
    objects = np.empty((20, 2), object)
    objects[:, 0], objects[:, 1] = np.arange(20.0), _objects(Z)
    np.testing.assert_array_equal(mc.WeisfeilerLehman(2).on(1)(objects), mc.WeisfeilerLehman(2)(Z))


def test_broken_tables_are_named() -> None:
    pytest.importorskip("rdkit")
    frame = pd.DataFrame({"molecule": ["CCO", "oops(", "C"], "age": [1, 2, 3]})
    with pytest.raises(DataError, match=r"Graph 1: 'oops\('"):
        mc.PathBag(3).on("molecule")(frame)
    with pytest.raises(DataError, match=r"no column 'smiles'.*'molecule'"):
        mc.PathBag(3).on("smiles")(frame)
    with pytest.raises(DataError, match=r"Graph 0"):
        mc.PathBag(3).on("age")(frame)


# --- sets
# ---------------------------------------------------------------------------------------------------------------------

WIDTHS = [1, 63, 64, 65, 513, 2048]


def members(rows: Any) -> list[set[str]]:
    return [{f"bit {j}" for j in np.flatnonzero(row)} for row in rows]


def jaccard(x: Any, z: Any) -> float:
    union = len(set(x) | set(z))
    return len(set(x) & set(z)) / union if union else 0.0


@functools.cache
def some_sets(width: int) -> tuple[Any, ...]:
    """Rows of bits, others, and the values of Intersection and Tanimoto among the first and between both."""
    rng = np.random.default_rng(width)
    B = rng.random((8, width)) < rng.uniform(0, 1, (8, 1))
    B[3], B[4], B[5, -1] = False, True, True
    C = rng.random((4, width)) < 0.5
    S, T = members(B), members(C)
    common = [matrix(lambda x, z: float(len(x & z)), *pair) for pair in ((S,), (T, S))]
    return B, C, common[0], matrix(jaccard, S), common[1], matrix(jaccard, T, S)


SETS: dict[str, Callable[[Any], Any]] = {
    "bools": lambda B: B,
    "columns first": lambda B: np.asfortranarray(B),
    "every other column": lambda B: np.repeat(B, 2, axis=1)[:, ::2],
    "int8": lambda B: B.astype(np.int8),
    "int64": lambda B: B.astype(int),
    "uint8": lambda B: B.astype(np.uint8),
    "float32": lambda B: B.astype(np.float32),
    "float64": lambda B: B.astype(float),
    "csr": lambda B: sparse.csr_array(B.astype(float)),
    "csr of bools": sparse.csr_array,
    "csr of bytes": lambda B: sparse.csr_matrix(B.astype(np.int8)),
    "csc": lambda B: sparse.csc_array(B.astype(int)),
    "coo": lambda B: sparse.coo_array(B.astype(int)),
    "pandas": lambda B: pd.DataFrame(B.astype(int)),
    "polars": lambda B: pl.DataFrame(B.astype(int)),
    "sets": members,
    "frozensets": lambda B: [frozenset(m) for m in members(B)],
    "lists": lambda B: [sorted(m) for m in members(B)],
    "tuples, members twice": lambda B: [(*sorted(m), *m) for m in members(B)],
    "dictionaries": lambda B: [dict.fromkeys(m, 1) for m in members(B)],
    "pandas column of sets": lambda B: pd.Series(members(B)),
    "polars column of lists": lambda B: pl.Series([sorted(m) for m in members(B)], dtype=pl.List(pl.String)),
    "array of sets": lambda B: _objects(members(B)),
    "generator": lambda B: (m for m in members(B)),
    "arrays of strings": lambda B: [np.array(sorted(m), dtype="U8") for m in members(B)],
    "numbers": lambda B: [set(np.flatnonzero(row).tolist()) for row in B],
    "numbers of NumPy": lambda B: [set(np.flatnonzero(row)) for row in B],
    "tuples as members": lambda B: [{("bit", int(j)) for j in np.flatnonzero(row)} for row in B],
}


@zero_norms_are_expected
@pytest.mark.parametrize(
    ("form", "width"), [(f, w) for f in SETS for w in (WIDTHS if f in ("bools", "float64", "csr", "sets") else [65])]
)
def test_every_form_of_sets(form: str, width: int) -> None:
    B, C, common, shares, cross, cross_shares = some_sets(width)
    made = SETS[form]
    np.testing.assert_array_equal(mc.Intersection()(made(B)), common)
    np.testing.assert_allclose(mc.Tanimoto()(made(B)), shares, rtol=1e-14)
    np.testing.assert_array_equal(mc.Intersection()(made(C), made(B)), cross)
    np.testing.assert_allclose(mc.Tanimoto()(made(C), made(B)), cross_shares, rtol=1e-14)
    np.testing.assert_array_equal(mc.Intersection().diag(made(B)), np.diagonal(common))
    np.testing.assert_array_equal(mc.Tanimoto().diag(made(B)), np.diagonal(shares))
    phi = mc.Intersection().features(made(B))
    K = phi @ phi.T
    np.testing.assert_array_equal(K.toarray() if sparse.issparse(K) else K, common)
    np.testing.assert_allclose(mc.MinMax(mc.Intersection())(made(B)), shares, rtol=1e-14)


def test_bit_vectors_of_rdkit() -> None:
    structs = pytest.importorskip("rdkit.DataStructs")
    for width in (1, 63, 64, 65, 2048):
        B = np.random.default_rng(width).random((6, width)) < 0.4
        B[:, 0] = True
        vectors = []
        for row in B:
            v = structs.ExplicitBitVect(width)
            v.SetBitsFromList(np.flatnonzero(row).tolist())
            vectors.append(v)
        np.testing.assert_array_equal(mc.Intersection()(vectors), mc.Intersection()(B))
        np.testing.assert_array_equal(mc.Tanimoto()(vectors, B), mc.Tanimoto()(B))
        expected = [structs.BulkTanimotoSimilarity(v, vectors) for v in vectors]
        np.testing.assert_allclose(mc.Tanimoto()(vectors), expected, rtol=1e-14)
    with pytest.raises(DataError, match=r"one length.*64 and 65"):
        mc.Tanimoto()([structs.ExplicitBitVect(64), structs.ExplicitBitVect(65)])


def test_tensors_of_bits() -> None:
    torch = pytest.importorskip("torch")
    B = np.random.default_rng(0).random((6, 70)) < 0.4
    for dtype in (torch.bool, torch.uint8, torch.float32, torch.int64):
        np.testing.assert_array_equal(mc.Tanimoto()(torch.from_numpy(B).to(dtype)), mc.Tanimoto()(B))


def test_sparse_rows_that_are_very_wide() -> None:
    rng = np.random.default_rng(0)
    sets = [set(rng.integers(0, 400, 60).tolist()) for _ in range(8)]
    for width in (2**16, 2**16 + 1, 10**6, 2**31 - 1):
        B = sparse.csr_array(
            (
                np.ones(sum(map(len, sets))),
                (np.repeat(range(8), [len(s) for s in sets]), [j * (width // 400) for s in sets for j in s]),
            ),
            (8, width),
        )
        np.testing.assert_array_equal(mc.Intersection()(B), matrix(lambda x, z: float(len(x & z)), sets))
        np.testing.assert_allclose(mc.Tanimoto()(B[[1, 2]], B), matrix(jaccard, sets[1:3], sets), rtol=1e-14)


@pytest.mark.parametrize("form", [f for f in SETS if f != "generator"])
def test_two_empty_sets_have_the_value_zero_and_one_warning(form: str) -> None:
    B = np.zeros((3, 5), bool)
    B[1, 2] = True
    for kernel in (mc.Tanimoto(), mc.Intersection().normalized()):
        with pytest.warns(ZeroNormWarning) as caught:
            K = kernel(SETS[form](B))
        assert len(caught) == 1
        assert "2 of 3" in str(caught[0].message)
        assert K.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_empty_graphs_and_bags_have_one_warning() -> None:
    for kernel in (mc.Tanimoto(mc.PathBag(2)), mc.WeisfeilerLehman(2).normalized(), mc.MinMax(mc.PathBag(2))):
        with pytest.warns(ZeroNormWarning) as caught:
            K = kernel([mc.Graph(), GOOD, mc.Graph()])
        assert len(caught) == 1
        assert K.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_no_sets() -> None:
    for empty in (
        [],
        np.empty((0, 5), bool),
        np.empty((0, 5)),
        sparse.csr_array((0, 5)),
        pd.DataFrame({"a": [], "b": []}),
    ):
        for kernel in (mc.Intersection(), mc.Tanimoto()):
            assert kernel(empty).shape == (0, 0)
            assert kernel.diag(empty).shape == (0,)
    assert mc.Intersection()(np.empty((0, 5)), np.ones((2, 5))).shape == (0, 2)
    assert mc.Intersection()([], [{"a"}]).shape == (0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroNormWarning)
        assert mc.Tanimoto()(np.empty((3, 0))).tolist() == [[0.0] * 3] * 3


def test_members_that_are_equal_are_one() -> None:
    Z: list[Any] = [
        {1, "a", (1, 2)},
        {True, np.str_("a")},
        [1.0, (1.0, 2)],
        {np.int64(1), 2**70},
        {float(2**70)},
        {"1"},
        {b"a"},
    ]
    expected = matrix(lambda x, z: float(len(set(x) & set(z))), Z)
    np.testing.assert_array_equal(mc.Intersection()(Z), expected)
    np.testing.assert_array_equal(mc.Intersection()(Z[:2], Z[2:]), np.array(expected)[:2, 2:])


@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan, np.inf, 255])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array, pd.DataFrame])
def test_rows_of_other_numbers_are_refused(value: float, form: Any) -> None:
    B = np.ones((3, 4)) * (np.arange(4) % 2)
    B[2, 1] = value
    for kernel in (mc.Intersection(), mc.Tanimoto(), mc.Tanimoto().normalized()):
        with pytest.raises(DataError, match=r"Row 2, column 1 .*0 and 1.*MinMax"):
            kernel(form(B))
        with pytest.raises(DataError, match=r"Row 2, column 1 "):
            kernel(np.zeros((1, 4)) + 1, form(B))


def test_stored_zeros_of_sparse_rows_are_zeros() -> None:
    B = sparse.csr_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 2]), np.array([0, 2, 3])), shape=(2, 3))
    assert mc.Intersection()(B).tolist() == mc.Intersection()(B.toarray()).tolist() == [[1, 0], [0, 1]]


def test_entries_stored_twice_are_their_sum() -> None:
    B = sparse.csr_array((np.array([1.0, 1.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert B.toarray().tolist() == [[0, 2, 0]]
    with pytest.raises(DataError, match=r"Row 0, column 1 "):
        mc.Intersection()(B)


@pytest.mark.parametrize("item", [None, "abc", b"abc", 3, 2.5, np.nan, [["a"]], [{}]], ids=repr)
def test_items_that_are_no_sets_are_named(item: Any) -> None:
    for kernel in (mc.Intersection(), mc.Tanimoto()):
        with pytest.raises(DataError, match=r"Item 1 of the sets"):
            kernel([{"a"}, item])
        with pytest.raises(DataError, match=r"Item 1 of the sets"):
            kernel([{"a"}], [{"a"}, item])


def test_rows_of_different_widths_are_refused() -> None:
    with pytest.raises(DataError, match=r"3 columns.*4|4 columns.*3"):
        mc.Intersection()(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(DataError):
        mc.Intersection()(np.ones((2, 3)), [{"a"}])
    model = mc.SVC(kernel=mc.Tanimoto()).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"4"):
        model.predict(np.eye(5))


def test_sets_in_machines(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    B = rng.random((40, 65)) < 0.3
    y = np.arange(40) % 2
    B[y == 1, :6] = True
    expected = None
    for form in ("bools", "int64", "float64", "csr", "sets", "lists", "pandas", "polars", "pandas column of sets"):
        Z = SETS[form](B)
        model = mc.SVC(kernel=mc.Tanimoto(), C=1.0).fit(Z, y)
        values = model.decision_function(Z)
        expected = values if expected is None else expected
        np.testing.assert_allclose(values, expected, atol=1e-6)
        mc.save(model, tmp_path / "model")
        np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(Z), values)
        if form != "polars":
            assert cross_val_predict(mc.SVC(kernel=mc.Tanimoto(), C=1.0), Z, y, cv=3).shape == (40,)


def test_models_of_frozen_sets_are_saved(tmp_path: Path) -> None:
    Z = [frozenset(m) for m in members(np.eye(6, dtype=bool) | (np.arange(6) % 2 == 0))]
    model = mc.SVC(kernel=mc.Tanimoto(), C=1.0).fit(Z, [0, 1] * 3)
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(Z), model.decision_function(Z))


def minmax(x: Any, z: Any) -> float:
    largest = sum(map(max, zip(x, z, strict=True)))
    return sum(map(min, zip(x, z, strict=True))) / largest if largest else 0.0


@zero_norms_are_expected
@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_array, sparse.csc_array, pd.DataFrame, lambda D: D.tolist(), np.asfortranarray]
)
@pytest.mark.parametrize("whole", [False, True])
def test_bags_of_numbers(form: Any, whole: bool) -> None:
    rng = np.random.default_rng(0)
    D, E = (np.where(rng.random((n, 9)) < 0.4, 0.0, rng.random((n, 9)) * 5) for n in (12, 5))
    D[3] = 0.0
    if whole:
        D, E = np.floor(D), np.floor(E)
    kernel = mc.MinMax(mc.Linear())
    np.testing.assert_allclose(kernel(form(D)), matrix(minmax, D), rtol=1e-13)
    np.testing.assert_allclose(kernel(form(E), form(D)), matrix(minmax, E, D), rtol=1e-13)
    np.testing.assert_allclose(kernel.diag(form(D)), np.diagonal(matrix(minmax, D)), rtol=1e-13)
    assert mc.check_kernel(kernel, form(D))


@pytest.mark.parametrize("form", [np.array, sparse.csr_array, sparse.coo_array])
def test_bags_with_negative_numbers_are_refused(form: Any) -> None:
    D = np.ones((3, 4))
    D[1, 2] = -0.5
    with pytest.raises(DataError, match=r"at least 0.*-0\.5"):
        mc.MinMax(mc.Linear())(form(D))
    with pytest.raises(DataError, match=r"at least 0"):
        mc.MinMax(mc.Linear())(form(np.ones((2, 4))), form(D))
    with pytest.raises(DataError):
        mc.MinMax(mc.Linear())(np.ones((2, 4)), sparse.csr_array(np.ones((2, 4))))


@pytest.mark.parametrize(
    "base",
    [mc.Spectrum(2), mc.BagOfWords("counts"), mc.Intersection(), 0.5 * mc.Spectrum(2), mc.Spectrum(2) + mc.Spectrum(1)],
    ids=str,
)
def test_bags_of_other_features(base: mc.Kernel) -> None:
    Z: Any = ["ACGT ACG", "ACCA TT", "GGGG"]
    if isinstance(base, mc.Intersection):
        Z = [set(z) for z in Z]
    phi = base.features(Z)
    phi = phi.toarray() if sparse.issparse(phi) else np.asarray(phi)
    np.testing.assert_allclose(mc.MinMax(base)(Z), matrix(minmax, phi), rtol=1e-13)
    np.testing.assert_allclose(mc.MinMax(base)(Z[:1], Z), matrix(minmax, phi[:1], phi), rtol=1e-13)
    K = base(Z)
    expected = K / (np.diagonal(K)[:, None] + np.diagonal(K) - K)
    np.testing.assert_allclose(mc.Tanimoto(base)(Z), expected, rtol=1e-13)


# --- many and large
# -----------------------------------------------------------------------------------------------------------


def tiny_graphs(n: int, seed: int = 0) -> list[mc.Graph]:
    rng = np.random.default_rng(seed)
    found = []
    for size, labels, ends in zip(
        rng.integers(0, 7, n), rng.integers(0, 3, (n, 7)), rng.integers(0, 7, (n, 6, 2)), strict=True
    ):
        kept = ends[(ends < size).all(axis=1)]
        found.append(mc.Graph(kept, labels[:size], n_vertices=int(size)))
    return found


@zero_norms_are_expected
@every
def test_threads_have_no_say(kernel: mc.Kernel) -> None:
    pairs = isinstance(kernel, mc.Walk | mc.GeometricWalk | mc.Subgraph)
    Z = tiny_graphs(60 if pairs else 200)
    if isinstance(kernel, mc.GeometricWalk):
        kernel = mc.GeometricWalk(0.01)
    one, two = (kernel.gram(Z, compute=mc.Compute(threads=threads)) for threads in (1, 2))
    np.testing.assert_array_equal(one.dense(), two.dense())
    v = np.ones(len(Z))
    assert_equal(kernel, kernel.gram(Z[:50], Z, compute=mc.Compute(threads=1)).dense(), one.dense()[:50])
    np.testing.assert_allclose(one @ v, two @ v, rtol=1e-12)


def test_a_large_set_in_parts_is_the_set() -> None:
    Z = tiny_graphs(3000, seed=2)  # more vertices than one task
    for kernel in (
        mc.VertexHistogram(),
        mc.EdgeHistogram(),
        mc.ShortestPath(),
        mc.PathBag(3),
        mc.WeisfeilerLehman(2),
        mc.Graphlet(3),
        mc.Subgraph(2),
    ):
        phi = kernel(Z[::10], Z)
        for part in (slice(0, 100), slice(1490, 1510), slice(2900, 3000)):
            np.testing.assert_array_equal(kernel(Z[::10], Z[part]), phi[:, part])


def test_five_thousand_tiny_graphs() -> None:
    Z = tiny_graphs(5000, seed=1)
    began = time.perf_counter()
    for kernel in (
        mc.VertexHistogram(),
        mc.EdgeHistogram(),
        mc.ShortestPath(),
        mc.PathBag(4),
        mc.WeisfeilerLehman(3),
        mc.WLOptimalAssignment(2),
    ):
        K = kernel(Z[:300], Z)
        np.testing.assert_array_equal(K[:, :300], kernel(Z[:300]))
        np.testing.assert_array_equal(kernel.diag(Z)[:300], np.diagonal(K))
    for kernel in (mc.Graphlet(3), mc.Graphlet(5), mc.Subgraph(3), mc.Walk(3)):
        assert kernel(Z[:100], Z).shape == (100, 5000)
    assert time.perf_counter() - began < 30


def test_a_path_of_a_hundred_thousand_vertices() -> None:
    n = 10**5
    path = mc.Graph(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))
    cycle = mc.Graph(np.stack([np.arange(n), np.roll(np.arange(n), -1)], axis=1))
    began = time.perf_counter()
    assert mc.VertexHistogram()([path, cycle]).tolist() == [[n**2, n**2], [n**2, n**2]]
    assert mc.EdgeHistogram()([path, cycle]).tolist() == [
        [(n - 1.0) ** 2, (n - 1.0) * n],
        [(n - 1.0) * n, n * float(n)],
    ]
    sizes = [[n], [n - 2, 2], [n - 4, 2, 2], [n - 6, 2, 2, 2]]  # of classes of vertices alike after so many refinements
    expected = sum(float(c) ** 2 for level in sizes for c in level)
    K = mc.WeisfeilerLehman(3)([path, cycle])
    assert K[0, 0] == expected
    assert K[0, 1] == sum(float(level[0]) * n for level in sizes)
    assert K[1, 1] == 4.0 * n**2
    assert mc.WLOptimalAssignment(3)([path, cycle])[0, 1] == 4 * n - 12
    np.testing.assert_array_equal(
        mc.PathBag(3, counts=True)([path, cycle])[0, 0], sum(float(n - k) ** 2 for k in range(4))
    )
    assert mc.Graphlet(3)([path, cycle]).tolist() == [[(n - 2.0) ** 2, (n - 2.0) * n], [(n - 2.0) * n, float(n) ** 2]]
    assert time.perf_counter() - began < 20


def test_a_random_graph_of_a_hundred_thousand_vertices() -> None:
    rng = np.random.default_rng(0)
    n = 10**5
    edges = rng.integers(0, n, (3 * n, 2))
    labels = rng.integers(0, 5, n)
    turned = rng.permutation(n)
    began = time.perf_counter()
    one = mc.Graph(edges, labels, n_vertices=n)
    back = np.empty(n, int)
    back[turned] = labels
    other = mc.Graph(turned[edges], back, n_vertices=n)
    for kernel in (
        mc.WeisfeilerLehman(4),
        mc.WLOptimalAssignment(2),
        mc.EdgeHistogram(),
        mc.PathBag(1, counts=True),
        mc.Graphlet(2),
    ):
        K = kernel([one, other])
        assert (K[0, 0] == K).all(), str(kernel)
    assert mc.VertexHistogram()([one])[0, 0] == float((np.bincount(labels).astype(float) ** 2).sum())
    assert time.perf_counter() - began < 25


def test_a_star_of_a_hundred_thousand_leaves() -> None:
    n = 10**5
    star = mc.Graph(np.stack([np.zeros(n, int), np.arange(1, n + 1)], axis=1), ["C"] + ["H"] * n)
    began = time.perf_counter()
    assert mc.WeisfeilerLehman(2)([star])[0, 0] == 3 * (1 + float(n) ** 2)
    assert mc.PathBag(1, counts=True)([star])[0, 0] == 1 + 2 * float(n) ** 2
    np.testing.assert_allclose(mc.Walk(2)([star])[0, 0], float(n) ** 2 + float(n) ** 4, rtol=1e-12)
    assert time.perf_counter() - began < 20


def test_dense_graphs() -> None:
    n = 40
    complete = mc.Graph(list(itertools.combinations(range(n), 2)))
    assert mc.ShortestPath()([complete])[0, 0] == (n * (n - 1) / 2) ** 2
    assert (
        mc.PathBag(2, counts=True)([complete])[0, 0] == n**2 + (n * (n - 1) / 2) ** 2 + (n * (n - 1) * (n - 2) / 2) ** 2
    )
    assert mc.Graphlet(3)([complete])[0, 0] == (n * (n - 1) * (n - 2) / 6) ** 2
    assert mc.Walk(3)([complete])[0, 0] == (n * (n - 1.0) ** 3) ** 2
    assert mc.WLOptimalAssignment(3)([complete])[0, 0] == 4 * n


# --- found in review
# ------------------------------------------------------------------------------------------------------------


def test_models_over_composites_of_graph_kernels_are_saved(tmp_path: Any) -> None:
    networkx = pytest.importorskip("networkx")
    X = [networkx.path_graph(3), networkx.cycle_graph(4), networkx.star_graph(3), networkx.path_graph(5)]
    for kernel in (mc.WeisfeilerLehman(2).normalized(), mc.WeisfeilerLehman(1) + mc.ShortestPath()):
        machine = mc.SVC(kernel=kernel).fit(X, [0, 1, 1, 0])
        mc.save(machine, tmp_path / "m.mercer")
        np.testing.assert_allclose(mc.load(tmp_path / "m.mercer").decision_function(X), machine.decision_function(X))


def test_bases_of_refinement_may_be_composed() -> None:
    X = [mc.Graph([(0, 1), (1, 2)], list("aba")), mc.Graph([(0, 1)], list("ab"))]
    base = mc.ShortestPath() + mc.EdgeHistogram()
    K = mc.WeisfeilerLehman(2, base)(X)
    np.testing.assert_allclose(
        K, mc.WeisfeilerLehman(2, mc.ShortestPath())(X) + mc.WeisfeilerLehman(2, mc.EdgeHistogram())(X)
    )
    assert np.isfinite(mc.WeisfeilerLehman(2, mc.ShortestPath().normalized())(X)).all()


def test_reading_a_graph_does_not_depend_on_the_others() -> None:
    ring, arrow = np.roll(np.eye(3), 1, 1) + np.roll(np.eye(3), -1, 1), np.triu(np.ones((3, 3)), 1)
    for X in ([ring], [ring, arrow]):
        assert mc.ShortestPath()([ring], X)[0, 0] == 9


def test_small_things() -> None:
    assert mc.Tanimoto(mc.Linear())([[1e-20, 0.0], [1e-20, 0.0]])[0, 1] == 1
    cycle = mc.Graph([(0, 1), (1, 2), (2, 0)], directed=True)
    assert mc.GeometricWalk(0.998)([cycle])[0, 0] == pytest.approx(9 / 0.002)
    assert mc.VertexHistogram()([np.zeros((2, 2), int)])[0, 0] == 4
    with pytest.raises(mc.DataError, match="shape"):
        mc.VertexHistogram()([np.array([[0, 1], [0, 1]])])
    with pytest.raises(mc.DataError, match="too large"):
        mc.Propagation()([mc.Graph([(0, 1)], attributes=[[1e12], [2e12]])])
    with pytest.raises(mc.DataError, match="max_size"):
        mc.Subgraph(5)([cycle])
    long = mc.Graph([(k, k + 1) for k in range(499)])
    assert mc.Walk(2)([long])[0, 0] == (498 * 4 + 2) ** 2  # Σ degree² walks of two edges


def test_edge_labels_by_both_ends_leave_the_number_of_vertices() -> None:
    (g,) = mc.as_graphs([{"edges": [(0, 1)], "edge_labels": {(0, 1): "x"}, "n_vertices": 4}])
    assert (g.n_vertices, list(g.edge_labels)) == (4, ["x"])
