"""Subgraphs have one code if and only if they are isomorphic."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.graph_samples import joined_cycles


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


@pytest.mark.thorough
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
@pytest.mark.thorough
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
