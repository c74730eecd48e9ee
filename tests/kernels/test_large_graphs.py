"""Many graphs, and large ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mercer as mc
from tests.graph_samples import assert_equal, every, zero_norms_are_expected


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


@pytest.mark.thorough
def test_five_thousand_tiny_graphs() -> None:
    Z = tiny_graphs(5000, seed=1)
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


@pytest.mark.thorough
def test_a_path_of_a_hundred_thousand_vertices() -> None:
    n = 10**5
    path = mc.Graph(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))
    cycle = mc.Graph(np.stack([np.arange(n), np.roll(np.arange(n), -1)], axis=1))
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


@pytest.mark.thorough
def test_a_random_graph_of_a_hundred_thousand_vertices() -> None:
    rng = np.random.default_rng(0)
    n = 10**5
    edges = rng.integers(0, n, (3 * n, 2))
    labels = rng.integers(0, 5, n)
    turned = rng.permutation(n)
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


def test_a_star_of_a_hundred_thousand_leaves() -> None:
    n = 10**5
    star = mc.Graph(np.stack([np.zeros(n, int), np.arange(1, n + 1)], axis=1), ["C"] + ["H"] * n)
    assert mc.WeisfeilerLehman(2)([star])[0, 0] == 3 * (1 + float(n) ** 2)
    assert mc.PathBag(1, counts=True)([star])[0, 0] == 1 + 2 * float(n) ** 2
    np.testing.assert_allclose(mc.Walk(2)([star])[0, 0], float(n) ** 2 + float(n) ** 4, rtol=1e-12)


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
