"""The case table: every kernel once, with its literal definition and data it is defined on. A new kernel is one line
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

import mercer as mc
from tests import chemistry_oracles as chemistry
from tests import cloud_oracles as clouds
from tests import graph_number_oracles as numbers
from tests import graph_oracles as graph_truth
from tests import oracles
from tests import sequence_oracles as sequences

Oracle = Callable[..., float]


def real(n: int = 23, d: int = 4) -> Any:
    return np.random.default_rng(n + d).standard_normal((n, d))


def histograms(n: int = 23, d: int = 5) -> Any:
    x = np.random.default_rng(n + d).random((n, d))
    return np.where(x < 0.3, 0.0, x)  # empty bins, also common ones


def column(n: int = 23) -> Any:
    return np.random.default_rng(n).random((n, 1)) * 0.95


def categories(n: int = 23) -> Any:
    return np.random.default_rng(n).integers(0, 4, (n, 1)).astype(float)


def codes(n: int = 23, d: int = 5) -> Any:
    return np.random.default_rng(n + d).integers(0, 3, (n, d)).astype(float)


def strings(n: int = 23, letters: str = "ACGT", length: int = 30) -> list[str]:
    rng = np.random.default_rng(n)
    return ["", *("".join(rng.choice(list(letters), k)) for k in rng.integers(1, length, n - 1))]


def ambiguous_strings(n: int = 23) -> list[str]:
    return strings(n, "ACGTACGTNRYB-", 20)


def profiles(n: int = 23) -> list[Any]:
    rng = np.random.default_rng(n)
    return [rng.dirichlet([0.3] * 4, k) for k in rng.integers(0, 12, n)]


def aligned_strings(n: int = 23) -> list[str]:
    rng = np.random.default_rng(n)
    return ["".join(rng.choice(list("ACGT"), 12)) for _ in range(n)]


def texts(n: int = 23) -> list[str]:
    rng = np.random.default_rng(n)
    return [
        "",
        *(
            " ".join(rng.choice(["a", "rose", "is", "a", "rose", "by", "any", "other", "name"], k))
            for k in rng.integers(1, 12, n - 1)
        ),
    ]


def series(n: int = 23) -> list[Any]:
    rng = np.random.default_rng(n)
    return [rng.standard_normal((k, 2)) for k in rng.integers(1, 12, n)]


def timed_series(n: int = 23) -> list[Any]:
    """Those with their second channel as the time."""
    return [np.column_stack([x[:, 0], np.sort(x[:, 1])]) for x in series(n)]


def filled_series(n: int = 23) -> list[Any]:
    return [np.concatenate([x, x[:1]]) for x in series(n)]


def series_in_time(n: int = 23) -> list[Any]:
    """With a channel of times, and some values not seen."""
    rng = np.random.default_rng(n)
    found = []
    for x in filled_series(n):
        gaps = rng.random(x.shape) < 0.3
        gaps[0] = False
        times = np.cumsum(0.2 + rng.random(len(x)))
        found.append(np.column_stack([np.where(gaps, np.nan, x), times]))
    return found


def graphs(n: int = 23) -> list[mc.Graph]:
    rng = np.random.default_rng(n)
    return [
        mc.Graph(labels=[]),
        mc.Graph(labels=["A"]),
        *(_graph(graph_truth.random_plain(rng, 6, 2, 2, loops=True)) for _ in range(n - 2)),
    ]


def filled_graphs(n: int = 23) -> list[mc.Graph]:
    return [g for g in graphs(n + 9) if g.n_vertices][:n]


def _graph(g: graph_truth.Plain) -> mc.Graph:
    return mc.Graph(list(g.edges), list(g.labels), list(g.edges.values()), g.attributes, len(g.labels), g.directed)


def on_graphs(oracle: Oracle, **parameters: Any) -> Oracle:
    def plain(g: mc.Graph) -> graph_truth.Plain:
        marks = [None] * len(g.edges) if g.edge_labels is None else g.edge_labels
        edges = dict(zip(map(tuple, g.edges.tolist()), marks, strict=True))
        rows = None if g.attributes is None else tuple(map(tuple, g.attributes.tolist()))
        return graph_truth.Plain(tuple(g.labels), edges, g.directed, rows)

    return lambda x, z: oracle(plain(x), plain(z), **parameters)


def graphs_with_numbers(n: int = 23) -> list[mc.Graph]:
    rng = np.random.default_rng(n)
    return [mc.Graph(g.edges, g.labels, attributes=rng.standard_normal((g.n_vertices, 2))) for g in graphs(n)]


def graphs_with_marks(n: int = 23) -> list[mc.Graph]:
    """Numbers of vertices, and labels of edges."""
    some = zip(graphs(n), graphs_with_numbers(n), strict=True)
    return [mc.Graph(g.edges, g.labels, g.edge_labels, numbered.attributes) for g, numbered in some]


def trees(n: int = 23) -> list[Any]:
    rng = np.random.default_rng(n)

    def tree(depth: int) -> Any:
        label = str(rng.choice(list("SNV")))
        below = [] if depth == 0 or rng.random() < 0.25 else [tree(depth - 1) for _ in range(rng.integers(1, 3))]
        return (label, *below)

    return [tree(3) for _ in range(n)]


def in_brackets(tree: Any) -> str:
    return f"({' '.join([tree[0], *(in_brackets(below) for below in tree[1:])])})"


def listed(X: Any) -> list[Any]:
    return [x.tolist() for x in X]


def sets(n: int = 23) -> Any:
    return (np.random.default_rng(n).random((n, 70)) < 0.2).astype(float)


def collections(n: int = 23) -> list[Any]:
    rng = np.random.default_rng(n)
    return [[], *(list(rng.choice(list("abcdef"), k)) for k in rng.integers(1, 9, n - 1))]


def molecules(n: int = 23) -> list[str]:
    pytest.importorskip("rdkit")
    atoms = ["C", "N", "O", "c1ccccc1", "C(=O)", "S"]
    rng = np.random.default_rng(n)
    return ["".join(rng.choice(atoms, k)) for k in rng.integers(1, 8, n)]


def reactions(n: int = 12) -> list[str]:
    before, after, helpers = molecules(n), molecules(n + 1), ["", "O", "CCO"]
    return [f"{x}.O>{helpers[i % 3]}>{z}" for i, (x, z) in enumerate(zip(before, after, strict=False))]


def structures(n: int = 12) -> list[Any]:
    rng = np.random.default_rng(n)
    return [(rng.choice([1, 6, 7, 8], k), 2 * rng.standard_normal((k, 3))) for k in rng.integers(1, 7, n)]


def point_sets(n: int = 23) -> list[Any]:
    rng = np.random.default_rng(n)
    return [rng.standard_normal((k, 2)) for k in rng.integers(1, 9, n)]


def diagrams(n: int = 23) -> list[Any]:
    rng = np.random.default_rng(n)
    return [np.empty((0, 2)), *(np.sort(rng.random((k, 2)), axis=1) for k in rng.integers(1, 9, n - 1))]


def pairs(n: int = 23) -> Any:
    return np.sort(np.random.default_rng(n).random((n, 2)), axis=1)


def images(n: int = 23) -> list[Any]:
    rng = np.random.default_rng(n)
    return [rng.random((5, k)) for k in rng.integers(3, 8, n)]


def vertices(n: int = 23) -> Any:
    return np.random.default_rng(n).permutation(NETWORK.shape[0])[:n]


def halves(x: Any) -> list[Any]:
    return [(x[:i], x[i:]) for i in range(len(x) + 1)]


def row_norm(X: Any) -> Any:
    return (X * X).sum(1) ** 0.5


def inner_products(X: Any, Z: Any) -> Any:
    return X @ Z.T


def doubled(X: Any) -> Any:
    return 2 * X


@dataclass(frozen=True)
class Case:
    """``oracle`` is k(x, z) on one pair of rows; None: checked elsewhere. Of a kind of data, in one of its cases:
    ``forms`` make other forms of the same samples, ``refused`` are collections with the words of their error.
    """

    kernel: Any
    oracle: Oracle | None
    data: Callable[[], Any] = real
    forms: tuple[Callable[[Any], Any], ...] = ()
    refused: tuple[tuple[Any, str], ...] = ()

    def __str__(self) -> str:
        return str(self.kernel)[:60]


def _with(oracle: Oracle, **parameters: Any) -> Oracle:
    return lambda x, z: oracle(x, z, **parameters)


A = [[2.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]
SCALES = [0.5, 1.0, 2.0, 3.0]
DRAWN = mc.RandomFeatures(mc.Gaussian(0.3), 8, random_state=0).bind(real())
SEEN = mc.Nystrom(mc.Laplacian(0.3), 8, random_state=0).bind(real())
SKETCH = mc.TensorSketch(mc.Polynomial(3, 0.5, 0.7), 6, 0).bind(real())
gaussian, linear = _with(oracles.gaussian, gamma=0.3), oracles.linear

KERNELS = [
    Case(mc.Linear(), linear),
    Case(mc.Polynomial(3, 0.5, 0.7), _with(oracles.polynomial, degree=3, offset=0.5, scale=0.7)),
    Case(mc.Polynomial(2, 0.0), _with(oracles.polynomial, degree=2, offset=0.0, scale=1.0)),
    Case(mc.Polynomial(5, -0.5, 0.3), _with(oracles.polynomial, degree=5, offset=-0.5, scale=0.3)),
    Case(mc.Gaussian(0.3), gaussian),
    Case(mc.Gaussian(0.25), _with(oracles.gaussian, gamma=0.25)),
    Case(mc.TaylorGaussian(0.2, 3), _with(oracles.taylor_gaussian, gamma=0.2, degree=3)),
    Case(mc.Laplacian(0.3), _with(oracles.laplacian, gamma=0.3)),
    *(
        Case(mc.Matern(1.3, nu), _with(oracles.matern, length_scale=1.3, nu=nu))
        for nu in (0.5, 1.5, 2.5, math.inf, 0.8, 3.2)
    ),
    Case(mc.Matern(SCALES, 2.5), _with(oracles.matern, length_scale=SCALES, nu=2.5)),
    Case(mc.PowerLaplacian(0.4, 1.5), _with(oracles.power_laplacian, gamma=0.4, power=1.5)),
    Case(mc.PowerLaplacian(0.4, 0.7), _with(oracles.power_laplacian, gamma=0.4, power=0.7)),
    Case(mc.PowerExponential(0.8, 1.4), _with(oracles.power_exponential, length_scale=0.8, power=1.4)),
    Case(mc.PowerExponential(SCALES, 0.6), _with(oracles.power_exponential, length_scale=SCALES, power=0.6)),
    Case(mc.RationalQuadratic(0.8, 1.7), _with(oracles.rational_quadratic, length_scale=0.8, alpha=1.7)),
    Case(mc.RationalQuadratic(SCALES, 0.6), _with(oracles.rational_quadratic, length_scale=SCALES, alpha=0.6)),
    Case(mc.Periodic(1.7, 0.8), _with(oracles.periodic, period=1.7, length_scale=0.8)),
    Case(mc.Periodic(SCALES, 1.3), _with(oracles.periodic, period=SCALES, length_scale=1.3)),
    *(Case(mc.ArcCosine(order), _with(oracles.arc_cosine, order=order)) for order in (0, 1, 2)),
    Case(mc.Sigmoid(-0.1, 0.3), _with(oracles.sigmoid, scale=0.3, offset=-0.1)),
    Case(mc.Bilinear(A), _with(oracles.bilinear, A=A)),
    Case(mc.Min(), oracles.minimum, column),
    Case(mc.GeometricMin(), oracles.geometric_min, column),
    Case(mc.AllSubsets(), oracles.all_subsets),
    *(Case(mc.Anova(degree), _with(oracles.anova, degree=degree)) for degree in (0, 1, 2, 3, 4, 5)),
    Case(mc.Constant(2.5), _with(oracles.constant, c=2.5)),
    Case(mc.Categorical(), oracles.categorical, categories),
    Case(mc.Overlap(), oracles.overlap, codes),
    Case(mc.HistogramIntersection(), oracles.histogram_intersection, histograms),
    Case(mc.Hellinger(), oracles.hellinger, histograms),
    Case(mc.ChiSquared(0.7), _with(oracles.chi_squared, gamma=0.7), histograms),
    Case(mc.AdditiveChiSquared(), oracles.additive_chi_squared, histograms),
]

COMPOSITES = [
    Case(mc.Gaussian(0.3) + mc.Linear(), oracles.sum_of([gaussian, linear])),
    Case(
        2 * mc.Gaussian(0.3) + mc.Linear() + 1.5,
        oracles.sum_of([oracles.scaled(2, gaussian), linear, _with(oracles.constant, c=1.5)]),
    ),
    Case(mc.Gaussian(0.3) * mc.Linear(), oracles.product_of([gaussian, linear])),
    Case(
        (mc.Linear() + mc.Constant(0.5)) * mc.Linear(),
        oracles.product_of([oracles.sum_of([linear, _with(oracles.constant, c=0.5)]), linear]),
    ),
    Case(0 * mc.Linear(), oracles.scaled(0, linear)),
    Case(mc.Linear() ** 3, oracles.power(linear, 3)),
    Case(mc.exp(0.1 * mc.Linear()), oracles.exponential(oracles.scaled(0.1, linear))),
    Case(mc.geometric(0.5 * mc.Gaussian(0.3)), oracles.geometric(oracles.scaled(0.5, gaussian))),
    Case(mc.polynomial(mc.Linear(), [1.0, 0.0, 2.0]), oracles.polynomial_of(linear, [1.0, 0.0, 2.0])),
    Case(mc.Polynomial(2).normalized(), oracles.normalized(_with(oracles.polynomial, degree=2, offset=1.0, scale=1.0))),
    Case((mc.Linear() + mc.Gaussian(0.3)).normalized(), oracles.normalized(oracles.sum_of([linear, gaussian]))),
    Case(mc.HistogramIntersection().normalized(), oracles.normalized(oracles.histogram_intersection), histograms),
    Case(mc.Gaussian(0.3).centered().bind(real()), oracles.centered(gaussian, real().tolist())),
    Case(
        mc.Linear().centered().bind(real(), np.arange(23.0)), oracles.centered(linear, real().tolist(), list(range(23)))
    ),
    Case(mc.Gaussian(0.3).metric([4.0, 4.0, 4.0, 4.0]), oracles.mapped(gaussian, lambda x: [2 * v for v in x])),
    Case(mc.Gaussian(0.3).map(doubled), oracles.mapped(gaussian, lambda x: [2 * v for v in x])),
    Case(mc.Function(inner_products), linear),
    Case(mc.Outer(row_norm), oracles.outer(lambda x: math.sqrt(sum(v * v for v in x)))),
    Case(
        mc.Gaussian(0.3).on([0, 2]) + mc.Linear().on(1), lambda x, z: gaussian([x[0], x[2]], [z[0], z[2]]) + x[1] * z[1]
    ),
    Case(mc.Gaussian(0.3).imputed("zero"), gaussian),
    Case(mc.RandomFeatures(mc.Matern(1.3), 9, "quasi", 0), None),
    Case(mc.RandomFeatures(mc.ArcCosine(1), 9, "plain", 0) + mc.Linear(), None),
    Case(DRAWN, _with(oracles.random_waves, frequencies=DRAWN.frequencies.tolist())),
    Case(mc.Nystrom(mc.Gaussian(0.3), 9, "pivoted", random_state=0), None),
    Case(
        SEEN,
        oracles.seen_by(
            _with(oracles.laplacian, gamma=0.3),
            SEEN.reference.tolist(),
            np.linalg.inv(mc.Laplacian(0.3)(SEEN.reference)),
        ),
    ),
    Case(mc.TensorSketch(mc.Linear() * mc.Polynomial(2), 16, 0), None),
    Case(SKETCH, _with(oracles.sketch, cells=SKETCH.cells, offset=0.5, scale=0.7, size=6)),
    Case(mc.HomogeneousMap(mc.HistogramIntersection(), 2), None, histograms),
    Case(
        mc.HomogeneousMap(mc.AdditiveChiSquared(), 3, 12.0),
        _with(oracles.sampled_chi_squared, order=3, period=12.0),
        histograms,
    ),
    Case(mc.Sigmoid(-0.1, 0.3).repaired("clip").bind(real()), None),
    Case(mc.Sigmoid(-0.1, 0.3).repaired("flip").bind(real()), None),
    Case(mc.Sigmoid(-0.1, 0.3).repaired("shift").bind(real()), None),
]

CASES = KERNELS + COMPOSITES  # on rows of numbers


def one_of_each(*families: type) -> list[Any]:
    """The first kernel of each class of these families, on rows of any numbers: a new one is in the tests of the
    engine without a word.
    """
    found = {type(case.kernel): case.kernel for case in reversed(KERNELS) if case.data is real}
    return [k for cls, k in sorted(found.items(), key=lambda item: item[0].__name__) if issubclass(cls, families)]


SEQUENCES = [
    Case(mc.Spectrum(2), _with(sequences.spectrum, k=2), strings),
    Case(mc.Spectrum(3, 1, [0.5, 1.0, 2.0]), _with(sequences.spectrum, k=3, k_min=1, weights=[0.5, 1.0, 2.0]), strings),
    Case(mc.Gappy(4, 2), _with(sequences.gappy, g=4, k=2), strings),
    Case(mc.Gappy(9, 4), _with(sequences.gappy_by_distance, g=9, k=4), strings),
    Case(mc.EstimatedGappy(5, 3, 2), _with(sequences.estimated_gappy, g=5, k=3, d=2), strings),
    Case(
        mc.EstimatedGappy(4, 2, 4, "full", 20, 3.0),
        _with(sequences.estimated_gappy, g=4, k=2, d=4, filter="full", peak=20, half_life=3.0),
        strings,
    ),
    Case(mc.Profile(2, 1.5, "ACGT"), _with(sequences.profile, k=2, threshold=1.5), profiles),
    Case(mc.Profile(3, 6.5), None, strings),
    Case(mc.Mismatch(3, 1, "ACGT"), _with(sequences.mismatch, k=3, m=1, alphabet="ACGT"), strings),
    Case(mc.Mismatch(7, 1, "ACGT"), None, strings),
    Case(mc.Mismatch(9, 2, "ACGT"), None, strings),
    Case(mc.WeightedDegree(4), _with(sequences.weighted_degree, degree=4), aligned_strings),
    Case(mc.WeightedDegree(4, 2), _with(sequences.weighted_degree, degree=4, shift=2), aligned_strings),
    Case(mc.Subsequence(2, 0.6), _with(sequences.subsequence, length=2, decay=0.6), strings),
    Case(mc.Substring(0.5), _with(sequences.substring, decay=0.5), strings),
    Case(mc.BagOfWords("counts"), sequences.bag_of_words, texts),
    Case(mc.BagOfWords("binary"), None, texts),
    Case(mc.BagOfWords().bind(texts()), lambda x, z: sequences.tfidf(x, z, texts()), texts),
    Case(mc.GlobalAlignment(0.8), None, series),
    Case(mc.GlobalAlignment(0.8, 2.5), _with(sequences.triangular_alignment, sigma=0.8, triangle=2.5), series),
    Case(
        mc.GlobalAlignment(1.5, 0.9, 1),
        _with(sequences.triangular_alignment, sigma=1.5, triangle=0.9, times=1),
        timed_series,
    ),
    Case(mc.SoftDTW(0.7, 0.4), _with(sequences.soft_dtw, gamma=0.7, rate=0.4), series),
    Case(mc.CrossCorrelation(3.0, 13), _with(sequences.cross_correlation, gamma=3.0, length=13), series),
    Case(mc.GlobalAlignment(0.8, 2.5, 2).interpolated("drop", 2), None, series_in_time),
    Case(mc.CrossCorrelation(3.0).resampled(9), None, filled_series),
    Case(mc.Gaussian(0.3).resampled(5, 2), None, series_in_time),
    Case(mc.Signature(scale=0.5), _with(sequences.signature, scale=0.5, time=1.0), series),
    Case(
        mc.Signature(mc.Gaussian(0.3), 0.7, 0.0, True, 1),
        _with(sequences.signature, gamma=0.3, scale=0.7, basepoint=True, refine=1),
        series,
    ),
    Case(
        mc.TruncatedSignature(3, scale=0.5, time=0.5),
        _with(sequences.truncated_signature, levels=3, scale=0.5, time=0.5),
        series,
    ),
    Case(
        mc.TruncatedSignature(2, mc.Gaussian(0.3), 0.7, 0.0, True),
        _with(sequences.truncated_signature, levels=2, gamma=0.3, scale=0.7, basepoint=True),
        series,
    ),
    Case(mc.LocalAlignment(1.0, -0.5, 2.0, 0.7, 0.6), None, strings),
    Case(mc.Spectrum(2).normalized() + mc.Spectrum(3), None, aligned_strings),
    Case(mc.Spectrum(1) * mc.Gappy(3, 2), None, strings),
    Case((mc.Spectrum(1) ** 2).normalized(), None, aligned_strings),
    Case(mc.polynomial(mc.Spectrum(2), [1.0, 0.5, 2.0]), None, strings),
    Case(
        mc.Spectrum(2).centered().bind(strings()), oracles.centered(_with(sequences.spectrum, k=2), strings()), strings
    ),
    Case(mc.Spectrum(2).both_strands(), sequences.both_strands(_with(sequences.spectrum, k=2)), strings),
    Case(mc.Substring(0.5).both_strands(), sequences.both_strands(_with(sequences.substring, decay=0.5)), strings),
    *(
        Case(k.expanded(6), sequences.expanded(oracle, width, 6), ambiguous_strings)
        for k, oracle, width in (
            (mc.Spectrum(3), _with(sequences.spectrum, k=3), 3),
            (mc.Mismatch(3, 1, "ACGT"), _with(sequences.mismatch, k=3, m=1, alphabet="ACGT"), 3),
        )
    ),
    Case(mc.Spectrum(2).over("ACG"), None, strings),
    Case(mc.Subsequence(2).over("ACG", "letter"), None, strings),
    Case(mc.Spectrum(2).over("acgt", case="fold"), _with(sequences.spectrum, k=2), strings),
]

NETWORK = np.triu(np.random.default_rng(0).random((30, 30)) * (np.random.default_rng(1).random((30, 30)) < 0.15), 1)
NETWORK[:, 3] = NETWORK[3] = 0.0  # one vertex is alone
NETWORK = NETWORK + NETWORK.T
SIGNED = (np.random.default_rng(2).standard_normal((30, 30)) + np.random.default_rng(2).standard_normal((30, 30)).T) / 4


def entry(matrix: Any) -> Oracle:
    return lambda x, z: float(matrix[x, z])


def _in_words(x: Any, z: Any) -> Any:
    return (clouds.shares_of_words(side, WORDS.words.tolist()) for side in (x, z))  # type: ignore[attr-defined]


def shared(x: Any, z: Any) -> float:
    return sum(a * b for a, b in zip(x, z, strict=True))


WAVES = mc.MeanEmbedding(mc.RandomFeatures(mc.Gaussian(0.3), 8, random_state=0)).bind(point_sets())
WORDS = mc.VisualWords(mc.KMeans(4, random_state=0), mc.ChiSquared(0.7)).bind(point_sets())
MIXTURE = mc.GaussianMixture(2, random_state=0).fit(real())
truth = graph_truth

STRUCTURES = [
    Case(mc.VertexHistogram(), on_graphs(truth.vertex_histogram), graphs),
    Case(mc.EdgeHistogram(), on_graphs(truth.edge_histogram), graphs),
    Case(mc.ShortestPath(), on_graphs(truth.shortest_path), graphs),
    Case(mc.PathBag(3), on_graphs(truth.path_bag, length=3), graphs),
    Case(mc.PathBag(5, True), on_graphs(truth.path_bag, length=5, counts=True), graphs),
    Case(mc.Tanimoto(mc.PathBag(2)), on_graphs(truth.path_tanimoto, length=2), filled_graphs),
    Case(mc.MinMax(mc.PathBag(3, True)), on_graphs(truth.path_minmax, length=3), filled_graphs),
    Case(mc.WeisfeilerLehman(3), on_graphs(truth.weisfeiler_lehman, depth=3), graphs),
    Case(
        mc.WeisfeilerLehman(2, mc.ShortestPath()),
        on_graphs(truth.weisfeiler_lehman, depth=2, base="shortest_path"),
        graphs,
    ),
    Case(mc.WeisfeilerLehman(1, mc.Walk(2)), on_graphs(truth.weisfeiler_lehman, depth=1, base="walk"), graphs),
    Case(mc.WLOptimalAssignment(2), on_graphs(truth.wl_optimal_assignment, depth=2), graphs),
    Case(mc.Walk(3), on_graphs(truth.walk, length=3), graphs),
    Case(mc.GeometricWalk(0.02), on_graphs(truth.geometric_walk, decay=0.02), graphs),
    Case(mc.Graphlet(3), on_graphs(truth.graphlet, size=3), graphs),
    Case(mc.Subgraph(3), on_graphs(truth.subgraph, max_size=3), graphs),
    Case(mc.Propagation(2, 0.5), on_graphs(numbers.propagation, spreads=2, width=0.5), graphs_with_numbers),
    Case(mc.GraphHopper(), on_graphs(numbers.graph_hopper, vertices=linear), graphs_with_numbers),
    Case(mc.GraphHopper(mc.Gaussian(0.3)), on_graphs(numbers.graph_hopper, vertices=gaussian), graphs_with_numbers),
    Case(
        mc.KernelWalk(2, mc.Gaussian(0.3)),
        on_graphs(numbers.kernel_walk, length=2, vertices=gaussian),
        graphs_with_marks,
    ),
    Case(mc.KernelWalk(1, mc.Linear()), on_graphs(numbers.kernel_walk, length=1, vertices=linear), graphs_with_numbers),
    Case(
        mc.HashedAttributes(mc.VertexHistogram(), draws=3, width=0.7),
        on_graphs(numbers.hashed_attributes, base=truth.vertex_histogram, draws=3, width=0.7),
        graphs_with_numbers,
    ),
    Case(
        mc.HashedAttributes(mc.Walk(1), draws=2, width=1.5),
        on_graphs(numbers.hashed_attributes, base=_with(truth.walk, length=1), draws=2, width=1.5),
        graphs_with_numbers,
    ),
    Case(mc.WassersteinWL(2, 0.8), on_graphs(numbers.wasserstein_wl, depth=2, gamma=0.8), lambda: filled_graphs(10)),
    Case(
        mc.WassersteinAttributes(2, 0.8, 1.3),
        on_graphs(numbers.wasserstein_attributes, depth=2, gamma=0.8, width=1.3),
        lambda: [g for g in graphs_with_numbers(19) if g.n_vertices][:10],
    ),
    Case(mc.PathLength(0.7), on_graphs(numbers.path_length, width=0.7), graphs_with_numbers),
    Case(mc.PyramidMatch(3, 3), on_graphs(numbers.pyramid_match, dimension=3, levels=3), graphs),
    Case(mc.GraphHopper(None), on_graphs(numbers.graph_hopper), graphs),
    Case(mc.WeisfeilerLehman(2).normalized() + 0.5 * mc.Walk(1), None, filled_graphs),
    Case(
        mc.TreeKernel(0.4),
        _with(truth.subset_tree, decay=0.4),
        trees,
        forms=(iter, lambda X: [in_brackets(x) for x in X]),
        refused=((["(S (N a)"], "Tree 0"), ([("S",), ()], "Tree 1 has a node without a label")),
    ),
    Case(mc.TreeKernel(0.4, "subtree"), _with(truth.subtree, decay=0.4), trees),
    Case(mc.Intersection(), shared, sets),
    Case(mc.Intersection(), lambda x, z: float(len(set(x) & set(z))), collections),
    Case(mc.Tanimoto(), lambda x, z: shared(x, z) / (sum(x) + sum(z) - shared(x, z)), sets),
    Case(mc.MinMax(mc.Linear()), lambda x, z: sum(map(min, x, z)) / sum(map(max, x, z)), histograms),
    *(
        Case(k, None, molecules)
        for k in (
            mc.Morgan(2),
            mc.Morgan(1, True, 64),
            mc.Morgan(1, invariants=["element", "ring"]),
            mc.TopologicalPaths(4),
            mc.AtomPairs(bits=128),
        )
    ),
    Case(mc.PathBag(3).atoms(charge=True, chirality=True), None, molecules),
    Case(mc.WeisfeilerLehman(1).atoms(invariants="hydrogens"), None, molecules),
    Case(mc.Reaction(mc.Morgan(1, counts=True)), chemistry.reaction_of_counts, reactions),
    Case(mc.Reaction(mc.Tanimoto(mc.Morgan(1))), chemistry.reaction_of_sets, reactions),
    Case(mc.Reactants(mc.Morgan(1)) + mc.Products(mc.Morgan(1)), chemistry.both_sides, reactions),
    Case(mc.Agents(mc.Morgan(0)) + 1.0, lambda x, z: 1.0 + chemistry.side(x, z, 1, 0), reactions),
    Case(mc.Descriptors(mc.Gaussian(0.05), ["MolWt", "TPSA"]), None, molecules),
    Case(mc.Descriptors(mc.Linear()), None, molecules),
    Case(mc.Coulomb(mc.Laplacian(0.02), size=7), _with(chemistry.coulomb_spectrum, gamma=0.02), structures),
    Case(mc.Coulomb(mc.Linear(), "sorted", 7), chemistry.coulomb_sorted, structures),
    Case(mc.Diffusion(NETWORK, 0.7), entry(truth.diffusion(NETWORK, 0.7)), vertices),
    Case(mc.ExponentialDiffusion(SIGNED, 0.5), entry(truth.exponential_diffusion(SIGNED, 0.5)), vertices),
    Case(mc.MatrixPower(SIGNED, 4), entry(np.linalg.matrix_power(SIGNED, 4)), vertices),
    Case(mc.RegularizedLaplacian(NETWORK, 1.5), entry(truth.regularized_laplacian(NETWORK, 1.5)), vertices),
    Case(mc.PStepWalk(NETWORK, 2.5, 3), entry(truth.p_step_walk(NETWORK, 2.5, 3)), vertices),
    Case(mc.CommuteTime(NETWORK), entry(truth.commute_time(NETWORK)), vertices),
    Case(mc.Fisher(MIXTURE).bind(real()), None),
    Case(mc.Fisher(MIXTURE, diagonal=True).bind(real()).rooted().normalized(), None),
    Case(mc.Spectrum(2).rooted(), None, strings),
    Case(
        mc.Convolution(halves, (mc.Spectrum(1), mc.Spectrum(2))),
        _with(
            truth.convolution, decompose=halves, parts=(_with(sequences.spectrum, k=1), _with(sequences.spectrum, k=2))
        ),
        strings,
    ),
    Case(mc.Convolution(None, mc.Spectrum(1)), None, collections),
]

CLOUDS = [
    Case(mc.MeanEmbedding(mc.Gaussian(0.3)), _with(clouds.mean_of_pairs, kernel=gaussian), point_sets),
    Case(mc.MeanEmbedding(mc.Polynomial(2)), None, point_sets),
    Case(
        WAVES,
        _with(
            clouds.mean_of_pairs,
            kernel=_with(oracles.random_waves, frequencies=WAVES.points.frequencies.tolist()),  # type: ignore[attr-defined]
        ),
        point_sets,
    ),
    Case(mc.MeanEmbedding().bind(point_sets()).normalized(), None, point_sets),
    Case(
        mc.exp(2 * 0.8 * mc.MeanEmbedding(mc.Gaussian(0.3))).normalized(),
        _with(clouds.of_mmd, kernel=gaussian, gamma=0.8),
        point_sets,
    ),
    *(
        Case(
            mc.SlicedWasserstein(0.4, 7, power),
            _with(clouds.on_lines, gamma=0.4, lines=clouds.half_circle(7), power=power),
            point_sets,
            forms=(listed, tuple, iter, lambda X: pl.Series(listed(X))),
            refused=(
                ([[[1.0, 2.0]], None], "Set 1 is missing"),
                ([[[1.0, float("nan")]]], "Set 0, point 0, column 1 is nan"),
                ([[[1.0, 2.0], [3.0]]], "Set 0 is .* the same number of numbers for each point"),
            ),
        )
        for power in (1, 2)
    ),
    Case(WORDS, lambda x, z: oracles.chi_squared(*_in_words(x, z), gamma=0.7), point_sets),
    Case(
        mc.MeanEmbedding(mc.Gaussian(0.3)).patches(3, 2),
        lambda x, z: clouds.mean_of_pairs(*(clouds.patches_of(image, 3, 2) for image in (x, z)), gaussian),
        images,
    ),
    Case(mc.PersistenceScaleSpace(0.2), _with(clouds.scale_space, sigma=0.2), diagrams),
    Case(
        mc.PersistenceWeightedGaussian(1.5, 2.0, 1.3),
        _with(clouds.weighted_gaussian, gamma=1.5, weight=2.0, power=1.3),
        diagrams,
    ),
    Case(mc.PersistenceSlicedWasserstein(0.8, 6), _with(clouds.sliced_diagrams, gamma=0.8, directions=6), diagrams),
    Case(mc.PersistenceScaleSpace(0.2)._between_points(), lambda p, q: clouds.scale_space([p], [q], 0.2), pairs),
    Case(
        mc.PersistenceWeightedGaussian(1.5, 2.0, 1.3)._between_points(),
        lambda p, q: clouds.weighted_gaussian([p], [q], 1.5, 2.0, 1.3),
        pairs,
    ),
]

EVERY = CASES + SEQUENCES + STRUCTURES + CLOUDS
