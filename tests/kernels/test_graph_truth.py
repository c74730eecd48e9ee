"""Every kernel on graphs against its literal definition, and what every one of them must keep."""

from __future__ import annotations

import itertools
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import mercer as mc
from mercer.kernels.compose.feature_space import ZeroNormWarning
from tests import graph_oracles as truth
from tests.graph_oracles import Plain, random_plain, relabelled
from tests.graph_samples import (
    COMPOSED,
    EVERY,
    EXPLICIT,
    IMPLICIT,
    ORACLES,
    every,
    graphs,
    of_counts,
    of_pairs,
    plain_set,
    zero_norms_are_expected,
)

explicit = pytest.mark.parametrize("kernel", EXPLICIT, ids=str)
KINDS = list(itertools.product([False, True], [False, True], [1, 2]))
kinds = pytest.mark.parametrize(
    ("directed", "loops", "edge_labels"),
    KINDS,
    ids=lambda v: {False: "no", True: "yes"}.get(v, v) if isinstance(v, bool) else v,
)


def permuted(p: Plain, seed: int = 0) -> Plain:
    return relabelled(p, np.random.default_rng(seed).permutation(len(p.labels)).tolist())


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
@zero_norms_are_expected
@pytest.mark.parametrize("kernel", [*EVERY, *COMPOSED], ids=str)
def test_fifty_sets_of_graphs_have_positive_matrices(kernel: mc.Kernel) -> None:
    for seed in range(50):
        directed, loops, edge_labels = KINDS[seed % 8]
        X = graphs(plain_set(100 + seed, 5, directed, loops, edge_labels))
        verdict = mc.check_kernel(kernel, X)
        assert verdict, (seed, str(verdict))
    assert kernel.psd is True


@pytest.mark.thorough
@zero_norms_are_expected
@pytest.mark.parametrize("kernel", [*EXPLICIT, *(k for k in COMPOSED if k.explicit)], ids=str)
def test_features_have_the_matrix_as_products(kernel: mc.Kernel) -> None:
    for directed, loops, edge_labels in KINDS:
        X = graphs(plain_set(9, 12, directed, loops, edge_labels))
        phi = kernel.features(X)
        assert phi.shape[0] == len(X)
        K = phi @ phi.T
        np.testing.assert_allclose(K.toarray() if sparse.issparse(K) else K, kernel(X), rtol=1e-12, atol=1e-12)


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


def test_bases_of_refinement_may_be_composed() -> None:
    X = [mc.Graph([(0, 1), (1, 2)], list("aba")), mc.Graph([(0, 1)], list("ab"))]
    base = mc.ShortestPath() + mc.EdgeHistogram()
    K = mc.WeisfeilerLehman(2, base)(X)
    np.testing.assert_allclose(
        K, mc.WeisfeilerLehman(2, mc.ShortestPath())(X) + mc.WeisfeilerLehman(2, mc.EdgeHistogram())(X)
    )
    assert np.isfinite(mc.WeisfeilerLehman(2, mc.ShortestPath().normalized())(X)).all()


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
