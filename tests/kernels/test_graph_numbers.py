"""Kernels between graphs whose vertices have numbers: what they must not see, what is wrong with data, and what others
compute. Their definitions are in ``tests/cases.py``.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.graph_number_oracles import transport
from tests.graph_samples import zero_norms_are_expected

RNG = np.random.default_rng(0)
WITH_NUMBERS = [
    mc.GraphHopper(),
    mc.GraphHopper(mc.Gaussian(0.3)),
    mc.KernelWalk(2, mc.Gaussian(0.3)),
    mc.HashedAttributes(mc.WeisfeilerLehman(1), draws=4, width=1.0),
    mc.HashedAttributes(mc.ShortestPath(), draws=4, width=1.0),
    mc.PathLength(0.7),
    mc.WassersteinAttributes(2, 0.7, 1.0),
]
KERNELS = [*WITH_NUMBERS, mc.GraphHopper(None), mc.WassersteinWL(2), mc.PyramidMatch(3, 3)]


def graph(rng: Any, n: int, d: int = 2, labels: bool = True, density: float = 0.4) -> mc.Graph:
    edges = [(u, v) for u, v in itertools.combinations(range(n), 2) if rng.random() < density]
    return mc.Graph(edges, rng.choice(["A", "B"], n) if labels else None, None, rng.standard_normal((n, d)), n)


def graphs(count: int, seed: int = 0, **options: Any) -> list[mc.Graph]:
    rng = np.random.default_rng(seed)
    return [graph(rng, int(rng.integers(1, 8)), **options) for _ in range(count)]


def renumbered(g: mc.Graph, rng: Any) -> mc.Graph:
    place = rng.permutation(g.n_vertices)
    back = np.argsort(place)
    return mc.Graph(place[g.edges], np.asarray(g.labels)[back], None, g.attributes[back], g.n_vertices)


@pytest.mark.filterwarnings("ignore::mercer.IgnoredWarning")  # of those that do not read numbers
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_numbers_of_the_vertices_do_not_matter(kernel: Any) -> None:
    X = graphs(12)
    K, other = kernel(X), kernel([renumbered(g, RNG) for g in X], X)
    np.testing.assert_allclose(other, K, rtol=1e-10, atol=1e-12 * np.abs(K).max())


@pytest.mark.filterwarnings("ignore::mercer.IgnoredWarning")
def test_positive_semi_definite_where_promised() -> None:
    promised = [k for k in KERNELS if k.psd]
    assert len(promised) == len(KERNELS) - 1
    for seed in range(50):
        K = promised[seed % len(promised)](graphs(9, seed))
        smallest, largest = np.linalg.eigvalsh(K)[[0, -1]]
        assert smallest >= -1e-10 * largest


def test_transport_of_numbers_is_not_positive_semi_definite() -> None:
    """The ten pairs of corners of a square."""
    corners = list(itertools.product((0.0, 1.0), repeat=2))
    X = [mc.Graph(attributes=p) for p in itertools.combinations_with_replacement(corners, 2)]
    k = mc.WassersteinAttributes(0, 0.3, 1.0)
    assert k.psd is False
    assert np.linalg.eigvalsh(k(X))[0] < -0.02


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 7), (6, 6), (5, 8), (12, 9), (10, 15)])
@pytest.mark.parametrize("whole", [False, True])  # whole coordinates: many ways of one cost
def test_transport_is_the_linear_programme(n: int, m: int, whole: bool) -> None:
    rng = np.random.default_rng(n + m)
    a, b = (np.round(p) if whole else p for p in (rng.normal(0, 2, (n, 2)), rng.normal(0, 2, (m, 2))))
    K = mc.WassersteinAttributes(0, 0.1, 1.0)([mc.Graph(attributes=a)], [mc.Graph(attributes=b)])
    C = np.array([[math.dist(p, q) for q in b] for p in a])
    np.testing.assert_allclose(-np.log(K[0, 0]) / 0.1, transport(C), rtol=1e-9, atol=1e-9)


def test_transport_on_a_line_of_large_graphs() -> None:
    """There the sorted points go to the sorted points."""
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal(300), rng.standard_normal(300) + 0.5
    K = mc.WassersteinAttributes(0, 1.0, 1.0)([mc.Graph(attributes=a)], [mc.Graph(attributes=b)])
    np.testing.assert_allclose(-np.log(K[0, 0]), np.abs(np.sort(a) - np.sort(b)).mean(), rtol=1e-10)


@pytest.mark.thorough
def test_transport_agrees_with_pot() -> None:
    ot = pytest.importorskip("ot")
    rng = np.random.default_rng(0)
    for n, m in ((40, 57), (64, 64), (1, 90), (128, 96)):
        a, b = rng.standard_normal((n, 3)), rng.standard_normal((m, 3))
        K = mc.WassersteinAttributes(0, 1.0, 1.0)([mc.Graph(attributes=a)], [mc.Graph(attributes=b)])
        np.testing.assert_allclose(-np.log(K[0, 0]), ot.emd2([], [], ot.dist(a, b, "euclidean")), rtol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "kernel"), [("linear", mc.Linear()), (("gaussian", 0.25), mc.Gaussian(0.25))])
def test_grakel_has_the_same_values(kind: Any, kernel: mc.Kernel) -> None:
    grakel = pytest.importorskip("grakel")
    X = [g for g in graphs(20, labels=False, density=0.6) if len(np.unique(g.edges)) == g.n_vertices]
    theirs = []
    for g in X:
        A = np.zeros((g.n_vertices, g.n_vertices), int)
        A[tuple(g.edges.T)] = A[tuple(g.edges.T[::-1])] = 1
        theirs.append(grakel.Graph(A, dict(enumerate(g.attributes)), {}, "all"))
    expected = grakel.kernels.GraphHopper(kernel_type=kind).fit_transform(theirs)
    np.testing.assert_allclose(mc.GraphHopper(kernel)(X), expected, rtol=1e-10)


@zero_norms_are_expected
@pytest.mark.parametrize("kernel", WITH_NUMBERS, ids=str)
def test_empty_graphs_and_lone_vertices(kernel: mc.Kernel) -> None:
    X = [mc.Graph(), mc.Graph(attributes=[[0.5, 1.0]]), mc.Graph([(0, 1)], attributes=[[0.5, 1.0], [0.0, 2.0]])]
    K = kernel(X)
    assert not K[0].any()
    assert K[2, 2] > 0
    np.testing.assert_allclose(kernel(X[:1], X[1:]), 0.0)
    np.testing.assert_allclose(kernel([mc.Graph(), mc.Graph()]), 0.0)


@pytest.mark.parametrize("kernel", WITH_NUMBERS, ids=str)
def test_missing_and_unlike_numbers(kernel: mc.Kernel) -> None:
    bare, two = mc.Graph([(0, 1)]), mc.Graph([(0, 1)], attributes=[[1.0, 2.0], [3.0, 4.0]])
    three = mc.Graph([(0, 1)], attributes=np.ones((2, 3)))
    with pytest.raises(mc.DataError, match=r"have no attributes \(numbers\), which .* compares"):
        kernel([bare])
    with pytest.raises(mc.DataError, match="Graph 1 has no vertex attributes, others have"):
        kernel([two, bare])
    with pytest.raises(mc.DataError, match="graphs with 2 and 3"):
        kernel([two, three])
    if not isinstance(kernel, mc.HashedAttributes | mc.PathLength):  # whose features do not tell how many there were
        with pytest.raises(mc.DataError, match="2 attributes and those of Y 3"):
            kernel([two], [three])
    with pytest.raises(mc.DataError, match="vertex 1 has an attribute that is not a finite number"):
        kernel([mc.Graph([(0, 1)], attributes=[1.0, np.nan])])


def test_widths_of_other_numbers_are_refused() -> None:
    X = graphs(5)
    for kernel in (mc.HashedAttributes(width=[1.0, 2.0, 3.0]), mc.WassersteinAttributes(1, width=[1.0, 2.0, 3.0])):
        with pytest.raises(mc.DataError, match=r"2 attributes and .* has 3 widths"):
            kernel(X)
    with pytest.raises(mc.DataError, match="more bins than can be counted"):
        mc.HashedAttributes(width=1e-30)(X)
    with pytest.raises(TypeError, match="compares numbers by itself"):
        mc.HashedAttributes(mc.Propagation(2))
    with pytest.raises(TypeError, match="between rows of numbers"):
        mc.GraphHopper("gaussian")  # type: ignore[arg-type]


def test_widths_follow_all_vertices() -> None:
    X = graphs(20)
    rows = np.concatenate([g.attributes for g in X])
    sizes = [g.n_vertices for g in X]
    gaussian = mc.GraphHopper(mc.Gaussian("scale")).bind(X)
    assert gaussian.get_params()["vertices__gamma"] == mc.Gaussian("scale").bind(rows).gamma
    for kernel in (mc.HashedAttributes(), mc.WassersteinAttributes(1)):
        np.testing.assert_allclose(kernel.bind(X).width, rows.std(axis=0))
        weights = np.arange(20.0)
        twice = kernel.bind([g for g, w in zip(X, weights, strict=True) for _ in range(int(w))])
        np.testing.assert_allclose(kernel.bind(X, weights).width, twice.width)
    assert (mc.HashedAttributes().bind([mc.Graph(attributes=[2.0, 2.0])]).width == 1.0).all()
    weighted = mc.KernelWalk(1).bind(X, np.arange(20.0)).vertices
    assert weighted == mc.Gaussian().bind(rows, np.repeat(np.arange(20.0), sizes))


def test_units_do_not_matter_where_widths_follow_the_data() -> None:
    X = graphs(10)
    other = [mc.Graph(g.edges, g.labels, None, g.attributes * [10.0, 0.1], g.n_vertices) for g in X]
    for k in (
        mc.HashedAttributes(),
        mc.WassersteinAttributes(1),
        mc.GraphHopper(mc.Gaussian().standardized()),
        mc.KernelWalk(2, mc.Gaussian().standardized()),
    ):
        np.testing.assert_allclose(k(other), k(X), rtol=1e-9)


def test_near_numbers_share_more_bins() -> None:
    X = [mc.Graph(attributes=[[x]]) for x in (0.0, 0.1, 0.5, 2.0, 9.0)]
    first = mc.HashedAttributes(mc.VertexHistogram(), draws=400, width=1.0)(X)[0]
    assert first[0] == pytest.approx(1.0)
    assert (np.diff(first) < 0).all()


def test_many_batches_and_a_graph_of_more_than_one() -> None:
    """Blocks of many vertices, and a graph that does not fit into one, as pair by pair."""
    rng = np.random.default_rng(1)
    ring = mc.Graph([(v, v + 1) for v in range(1100) if v % 4], None, None, rng.standard_normal((1101, 2)))
    X = [*graphs(300, labels=False), ring]
    k = mc.GraphHopper(mc.Gaussian(0.3))
    K = k(X)
    some = [0, 7, 120, 299, 300]
    for i, j in itertools.combinations_with_replacement(some, 2):
        np.testing.assert_allclose(K[i, j], k([X[i]], [X[j]])[0, 0], rtol=1e-10)
    np.testing.assert_array_equal(K, K.T)


def test_long_walks_beyond_floats() -> None:
    X = [mc.Graph([(u, v) for u, v in itertools.combinations(range(n), 2)], attributes=np.ones(n)) for n in (6, 7)]
    K = mc.KernelWalk(300, mc.Linear()).normalized()(X)
    np.testing.assert_allclose(K, 1.0)  # one vertex is like another
    with pytest.raises(FloatingPointError, match="normalized"):
        mc.KernelWalk(300, mc.Linear())(X)


def test_places_beyond_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mc.Compute, "budget", 10_000)
    path = mc.Graph([(v, v + 1) for v in range(30)], attributes=np.ones(31))
    with pytest.raises(MemoryError, match="31 vertices on shortest paths of up to 30 edges"):
        mc.GraphHopper()([path])


def test_features_of_shortest_paths() -> None:
    X = graphs(15)
    for k in (mc.GraphHopper(), mc.GraphHopper(None)):
        phi = k.features(X if k.vertices is not None else [mc.Graph(g.edges, g.labels) for g in X])
        assert phi.shape[0] == 15
    machine = mc.SVC(kernel=mc.GraphHopper().normalized()).fit(X, np.arange(15) % 2)
    assert machine.predict(X[:3]).shape == (3,)
    assert not mc.GraphHopper(mc.Gaussian()).explicit


@zero_norms_are_expected
@pytest.mark.parametrize("kernel", [mc.GraphHopper(mc.Gaussian()), mc.HashedAttributes(), mc.KernelWalk(1)], ids=str)
def test_a_fitted_machine_is_kept(kernel: mc.Kernel, tmp_path: Path) -> None:
    X, y = graphs(16), np.arange(16) % 2
    machine = mc.SVC(kernel=kernel.normalized()).fit(X, y)
    mc.save(machine, tmp_path / "machine.mercer")
    np.testing.assert_array_equal(
        mc.load(tmp_path / "machine.mercer").decision_function(X), machine.decision_function(X)
    )


def test_lengths_of_paths_do_not_see_rotations_and_shifts() -> None:
    X = graphs(12)
    Q, _ = np.linalg.qr(RNG.standard_normal((2, 2)))
    moved = [mc.Graph(g.edges, g.labels, None, g.attributes @ Q + 7.0, g.n_vertices) for g in X]
    k = mc.PathLength(0.7)
    np.testing.assert_array_equal(k(X, moved), k(X))


def test_the_shortest_way_is_not_the_one_with_fewest_edges() -> None:
    around = mc.Graph([(0, 1), (1, 2), (2, 3), (0, 3)], attributes=[[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [9.0, 2.0]])
    line = mc.Graph([(0, 1)], attributes=[0.0, 2.5])
    assert mc.PathLength(1.0)([line], [around])[0, 0] == 1.0  # 2 from 0 to 2, by 1
    with pytest.raises(mc.DataError, match="take a larger width"):
        mc.PathLength(1e-20)([around])
