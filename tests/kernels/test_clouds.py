"""Kernels between sets of vectors: what they do not see, proofs, derivatives, learners, other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import mercer as mc
from mercer.kernels.clouds import sums
from mercer.testing import assert_reads_back
from tests import cloud_oracles as truth
from tests.cases import diagrams, images, point_sets

SETS = [
    mc.MeanEmbedding(mc.Gaussian(0.3)),
    mc.MeanEmbedding(mc.Laplacian(0.3)),
    mc.MeanEmbedding(mc.Linear()),
    mc.MeanEmbedding(mc.RandomFeatures(mc.Gaussian(0.3), 8, random_state=0)),
    mc.SlicedWasserstein(0.4, 7),
    mc.SlicedWasserstein(0.4, 7, power=1),
]
DIAGRAMS = [
    mc.PersistenceScaleSpace(0.2),
    mc.PersistenceWeightedGaussian(1.5, 2.0, 1.3),
    mc.PersistenceSlicedWasserstein(0.8, 6),
]


def _mixed(X: list[Any]) -> list[Any]:
    rng = np.random.default_rng(5)
    return [x[rng.permutation(len(x))] for x in X]


@pytest.mark.parametrize("k", SETS, ids=str)
def test_neither_order_nor_repetition_of_all_points_matters(k: mc.Kernel) -> None:
    X = point_sets()
    for other in (_mixed(X), [np.concatenate([x, x]) for x in X]):
        np.testing.assert_allclose(k(other, X), k(X), rtol=1e-10)


@pytest.mark.parametrize("k", DIAGRAMS, ids=str)
def test_diagrams_do_not_see_order_nor_the_diagonal(k: mc.Kernel) -> None:
    X = diagrams()
    with_more = [np.concatenate([x, [[0.3, 0.3], [0.5, 0.5]]]) for x in X]
    np.testing.assert_allclose(k(_mixed(X), X), k(X), rtol=1e-10)
    np.testing.assert_array_equal(k(with_more, X), k(list(X), X))
    near = [np.concatenate([x, [[0.3, 0.3 + 1e-9]]]) for x in X]
    np.testing.assert_allclose(k(near, X), k(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("k", [*SETS, *DIAGRAMS], ids=str)
def test_fifty_random_collections_are_positive_semi_definite(k: mc.Kernel) -> None:
    assert k.psd is True
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X = [np.sort(rng.random((n, 2)), axis=1) for n in rng.integers(1, 5, 12)]
        assert np.linalg.eigvalsh(k(X))[0] > -1e-10


def test_motions_of_the_space_are_not_seen() -> None:
    X, turn = point_sets(), np.array([[0.6, -0.8], [0.8, 0.6]])
    k = mc.MeanEmbedding(mc.Gaussian(0.3))
    np.testing.assert_allclose(k([x @ turn + 3.0 for x in X]), k(X), rtol=1e-10)
    for power in (1, 2):
        sliced = mc.SlicedWasserstein(0.4, 7, power)
        np.testing.assert_allclose(sliced([x + 3.0 for x in X]), sliced(X), rtol=1e-10)
    many = mc.SlicedWasserstein(0.4, 2000)
    np.testing.assert_allclose(many([x @ turn for x in X]), many(X), rtol=1e-5)
    for k in DIAGRAMS:
        later = k([x + 2.0 for x in diagrams()])
        np.testing.assert_allclose(later, k(diagrams()), rtol=1e-9, atol=1e-12)


def test_distance_of_means_is_the_maximum_mean_discrepancy() -> None:
    X, k = point_sets(), mc.Gaussian(0.3)
    embedded = mc.MeanEmbedding(k)
    wanted = (mc.mean_embedding(k, X[0]) - mc.mean_embedding(k, X[1])).norm()
    assert mc.distance(embedded, X[:2])[0, 1] == pytest.approx(wanted, rel=1e-10)
    assert mc.exp(2 * 0.7 * embedded).normalized()(X[:2])[0, 1] == pytest.approx(np.exp(-0.7 * wanted**2), rel=1e-10)


@pytest.mark.parametrize(
    "points",
    [
        mc.Gaussian(0.5),
        mc.Gaussian([0.5, 2.0]),
        mc.Polynomial(2, 0.0, 0.3),
        mc.Matern(1.0, 0.8),
        2 * mc.Gaussian(0.3) + mc.Linear(),
    ],
    ids=str,
)
def test_derivatives_are_differences(points: mc.Kernel) -> None:
    X = point_sets()[:8]
    for k in (mc.MeanEmbedding(points), mc.exp(0.1 * mc.MeanEmbedding(points)).normalized()):
        _assert_derivatives(k, X)


@pytest.mark.parametrize("k", [*DIAGRAMS, mc.SlicedWasserstein(0.4, 7)], ids=str)
def test_derivatives_of_diagrams_are_differences(k: mc.Kernel) -> None:
    _assert_derivatives(k, diagrams()[1:9])


def _assert_derivatives(k: mc.Kernel, X: Any) -> None:
    h = 1e-5
    found = k.gradient(X)
    assert {name.split("[")[0] for name in found} == set(k._continuous(""))
    for name, slope in found.items():
        parameter, _, entry = name.partition("[")
        value = k.get_params()[parameter]
        if not entry and value == 0.0:
            assert not slope.dense().any()
            continue

        def at(factor: float, value: Any = value, entry: str = entry, parameter: str = parameter) -> Any:
            changed = np.array(value, float)
            changed[int(entry[:-1]) if entry else ()] *= factor
            return clone(k).set_params(**{parameter: changed if entry else float(changed)})(X)

        difference = (at(np.exp(h)) - at(np.exp(-h))) / (2 * h)
        np.testing.assert_allclose(slope.dense(), difference, atol=1e-8 * max(1.0, np.abs(difference).max()))


def test_features_of_sets_are_means_of_features() -> None:
    X = point_sets()
    k = mc.MeanEmbedding(mc.RandomFeatures(mc.Gaussian(0.3), 20, random_state=0)).bind(X)
    phi = k.points.features(np.concatenate(X))  # type: ignore[attr-defined]
    ends = np.cumsum([len(x) for x in X])[:-1]
    np.testing.assert_allclose(k.features(X), [part.mean(0) for part in np.split(phi, ends)], rtol=1e-10)
    polynomial = mc.MeanEmbedding(mc.Polynomial(2))
    phi = polynomial.features(X)
    np.testing.assert_allclose(phi @ phi.T, polynomial(X), rtol=1e-10)


def test_values_do_not_depend_on_how_many_points_are_together(monkeypatch: pytest.MonkeyPatch) -> None:
    X = [*point_sets(), np.random.default_rng(0).standard_normal((200, 2))]
    for k in (
        mc.MeanEmbedding(mc.Gaussian(0.3)),
        mc.MeanEmbedding(mc.RandomFeatures(mc.Gaussian(0.3), 8, random_state=0)),
    ):
        wanted = k(X)
        for name, value in (("_OWN", 3), ("_WORTH_COMPILING", 1), ("_FEATURES", 16)):
            with monkeypatch.context() as changed:
                changed.setattr(sums, name, value)
                np.testing.assert_allclose(k(X), wanted, rtol=1e-12)
                np.testing.assert_allclose(k.diag(X), np.diagonal(wanted), rtol=1e-12)


@pytest.mark.thorough
def test_many_points_in_compiled_code() -> None:
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((n, 2)) for n in (900, 40, 700, 3)]
    wanted = [[np.exp(-0.5 * ((x[:, None] - z) ** 2).sum(-1)).mean() for z in X] for x in X]
    np.testing.assert_allclose(mc.MeanEmbedding(mc.Gaussian(0.5))(X), wanted, rtol=1e-10)
    one, two = (mc.MeanEmbedding(mc.Gaussian(0.5)).gram(X, compute=mc.Compute(threads=n)).dense() for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_memory_is_of_blocks_of_pairs() -> None:
    """3000 × 3000 pairs of points would be 72 MB."""
    import tracemalloc

    X = np.random.default_rng(0).standard_normal((30, 100, 2))
    k = mc.MeanEmbedding(mc.Gaussian(0.5))
    k(X)
    tracemalloc.start()
    k(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50e6


def test_data_driven_parameters_follow_all_points() -> None:
    X = point_sets()
    together = np.concatenate(X)
    assert mc.MeanEmbedding().bind(X).points == mc.Gaussian("median").bind(together)  # type: ignore[attr-defined]
    weights = np.arange(23.0)
    bound = mc.MeanEmbedding(mc.Gaussian()).bind(X, weights)
    repeated = mc.MeanEmbedding(mc.Gaussian()).bind([x for x, n in zip(X, range(23), strict=True) for _ in range(n)])
    assert bound.points.gamma == pytest.approx(repeated.points.gamma, rel=1e-10)  # type: ignore[attr-defined]
    distances = mc.SlicedWasserstein(1.0).distances(X)
    median = np.median(distances[np.triu_indices(23, 1)])
    assert mc.SlicedWasserstein().bind(X).gamma == pytest.approx(1 / median)  # type: ignore[attr-defined]
    lives = np.concatenate([x[:, 1] - x[:, 0] for x in diagrams()])
    weighted = mc.PersistenceWeightedGaussian().bind(diagrams())
    assert weighted.weight == pytest.approx(np.median(lives) ** -5)  # type: ignore[attr-defined]


def test_directions_are_those_of_the_seed() -> None:
    X = [np.random.default_rng(n).standard_normal((n, 3)) for n in range(1, 6)]
    one, again, other = (mc.SlicedWasserstein(0.4, 5, seed=seed)(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 1e-6
    exact = mc.SlicedWasserstein(0.4, 3000, seed=1)(X)
    assert np.abs(exact - mc.SlicedWasserstein(0.4, 3000, seed=2)(X)).max() < 1e-3  # the sphere is filled evenly


def test_words_are_learnt_by_weight() -> None:
    X = [[0.0, 0.1, 0.2], [10.0, 10.1], [50.0]]
    k = mc.VisualWords(mc.KMeans(2, random_state=0), mc.Linear())
    words = sorted(k.bind(X, [1.0, 1.0, 0.0]).words[:, 0])  # type: ignore[attr-defined]
    assert words == pytest.approx([0.1, 10.05])
    assert k(X).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert mc.VisualWords(mc.KMeans(2, random_state=0), mc.Hellinger()).explicit


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: mc.MeanEmbedding(mc.Spectrum(2)), TypeError, "rows of numbers"),
        (
            lambda: mc.MeanEmbedding(mc.Gaussian(0.3))(point_sets(), [[[1.0]]]),
            mc.DataError,
            r"2 numbers, each set of Y .* 1; all",
        ),
        (lambda: mc.SlicedWasserstein(0.3)([[[1.0, 2.0]]], [[[1.0]]]), mc.DataError, "must have the same"),
        (lambda: mc.SlicedWasserstein(power=3), ValueError, "power"),
        (lambda: mc.SlicedWasserstein()([[1.0], [1.0]]), mc.DataError, "no two sets differ"),
        (lambda: mc.PersistenceWeightedGaussian()([[], []]), mc.DataError, "all diagrams are empty"),
        (lambda: mc.VisualWords(3), TypeError, "clusterer"),
        (lambda: mc.VisualWords(mc.KMeans(2), mc.Spectrum(2)), TypeError, "histograms"),
        (lambda: mc.MeanEmbedding().patches(0), ValueError, "size"),
    ],
)
def test_errors(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_single_sets_and_text() -> None:
    x, z = point_sets()[:2]
    assert mc.MeanEmbedding(mc.Gaussian(0.3))(x, z) == pytest.approx(truth.mean_of_pairs(x, z, _gaussian))
    assert_reads_back(mc.MeanEmbedding(mc.Gaussian(0.5)).patches(3, 2).normalized() + mc.SlicedWasserstein().patches(2))


def _gaussian(a: Any, b: Any) -> float:
    return float(np.exp(-0.3 * truth.squared(a, b)))


LEARNERS = [
    lambda k: mc.SVC(kernel=k),
    lambda k: mc.KernelRidge(kernel=k),
    lambda k: mc.KernelLogistic(kernel=k),
    lambda k: mc.OneClassSVM(kernel=k),
    lambda k: mc.KernelKMeans(2, kernel=k, random_state=0),
    lambda k: mc.KernelPCA(2, kernel=k),
    lambda k: mc.KernelRidge(kernel=k, centers=8),
]


@pytest.mark.thorough
@pytest.mark.parametrize("make", LEARNERS)
def test_learners_save_and_load(make: Any, tmp_path: Path) -> None:
    y = np.arange(23) % 2
    moved = [x + 2.0 * c for x, c in zip(point_sets(), y, strict=True)]
    pictures = [x + 2.0 * c for x, c in zip(images(), y, strict=True)]
    for k, X in (
        (mc.MeanEmbedding(), moved),
        (mc.SlicedWasserstein(), moved),
        (mc.MeanEmbedding(mc.RandomFeatures(mc.Gaussian(), 8, random_state=0)), moved),
        (mc.VisualWords(mc.KMeans(4, random_state=0)).patches(2), pictures),
        (mc.PersistenceSlicedWasserstein(), diagrams()),
        (mc.PersistenceWeightedGaussian() + 0.1, diagrams()),
    ):
        machine = make(k).fit(X, y)
        mc.save(machine, tmp_path / "machine.mercer")
        again = mc.load(tmp_path / "machine.mercer")
        answers = [m.predict(X[:5]) if hasattr(m, "predict") else m.transform(X[:5]) for m in (machine, again)]
        np.testing.assert_array_equal(*answers)


def test_a_column_of_a_table_and_a_search() -> None:
    y = np.arange(23) % 2
    X = [x + 2.0 * c for x, c in zip(point_sets(), y, strict=True)]
    table = pl.DataFrame({"cloud": [x.tolist() for x in X], "age": np.linspace(0, 1, 23)})
    k = mc.MeanEmbedding(mc.Gaussian(0.3)).on("cloud") * mc.Gaussian(1.0).on("age")
    np.testing.assert_allclose(k(table), mc.MeanEmbedding(mc.Gaussian(0.3))(X) * mc.Gaussian(1.0)(table[["age"]]))
    assert mc.SVC(kernel=k, C=100.0).fit(table, y).score(table, y) > 0.8
    searched = mc.KernelSearchCV(
        mc.SVC(kernel=mc.MeanEmbedding(mc.Gaussian(0.3))), {"kernel__points__gamma": [1e-6, 0.3]}
    ).fit(X, y)
    assert searched.best_params_ == {"kernel__points__gamma": 0.3}


def test_agrees_with_pot() -> None:
    ot = pytest.importorskip("ot")
    X, lines = point_sets(), np.array(truth.half_circle(9)).T
    for power in (1, 2):
        wanted = [[ot.sliced_wasserstein_distance(x, z, projections=lines, p=power) ** power for z in X] for x in X]
        np.testing.assert_allclose(mc.SlicedWasserstein(1.0, 9, power).distances(X), wanted, atol=1e-10)


def test_agrees_with_gudhi() -> None:
    gudhi = pytest.importorskip("gudhi.representations")
    X = diagrams()[1:]
    theirs = gudhi.PersistenceScaleSpaceKernel(bandwidth=(4 * 0.2) ** 0.5).fit(X).transform(X)
    ours = mc.PersistenceScaleSpace(0.2)(X)
    np.testing.assert_allclose(ours / ours[0, 0], theirs / theirs[0, 0], rtol=1e-9)  # their scale is another
    theirs = gudhi.SlicedWassersteinDistance(num_directions=3000).fit(X).transform(X)
    np.testing.assert_allclose(mc.PersistenceSlicedWasserstein(1.0, 3000).distances(X), theirs, atol=1e-3)


@pytest.mark.filterwarnings("ignore::mercer.IgnoredWarning")
@pytest.mark.parametrize("points", [mc.Linear(), mc.RandomFeatures(mc.Gaussian(1.0), 8, random_state=0)])
def test_sets_that_are_all_empty_have_the_features_of_the_others(points: mc.Kernel) -> None:
    k = mc.MeanEmbedding(points).bind(point_sets(5))
    assert k.features([[], []]).shape == k.features(point_sets(5)[:2]).shape
    np.testing.assert_array_equal(k([[]], point_sets(5)), np.zeros((1, 5)))


@pytest.mark.filterwarnings("ignore::mercer.IgnoredWarning")
@pytest.mark.parametrize(
    "base",
    [mc.ChiSquared(), mc.Gaussian(0.5), mc.Linear() + 1, mc.RandomFeatures(mc.Gaussian(0.5), 8, random_state=0)],
    ids=str,
)
def test_empty_sets_have_no_words_and_the_value_zero(base: mc.Kernel) -> None:
    X = [[0.0, 1.0, 5.0], [], [1.0, 5.0], []]
    k = mc.VisualWords(mc.KMeans(2, random_state=0), base)
    K = k(X)
    assert not K[[1, 3]].any()
    assert not K[:, [1, 3]].any()
    assert K[0, 2] > 0
    np.testing.assert_allclose(k.diag(X), np.diagonal(K))
    if k.explicit:
        phi = k.bind(X).features(X)
        np.testing.assert_allclose(phi @ phi.T, K)


def test_visual_words_are_equal_where_the_parameters_of_their_clusterers_are() -> None:
    k = mc.VisualWords(mc.KMeans(4, random_state=0))
    assert clone(k) == k
    assert hash(clone(k)) == hash(k)
    assert k != mc.VisualWords(mc.KMeans(5, random_state=0))


@pytest.mark.parametrize(
    "k",
    [mc.MeanEmbedding(mc.Gaussian(1.0)), mc.SlicedWasserstein(1.0, 5), mc.VisualWords(mc.KMeans(2, random_state=0))],
    ids=str,
)
def test_points_of_another_width_than_those_of_the_fit_are_refused(k: mc.Kernel) -> None:
    machine = mc.KernelRidge(kernel=k).fit([np.zeros((2, 3)), np.ones((3, 3))], [0.0, 1.0])
    with pytest.raises(mc.DataError, match=r"set.* 4 numbers.* 3; all points must have the same"):
        machine.predict([np.ones((2, 4))])


def test_complex_points_are_refused() -> None:
    with pytest.raises(mc.DataError, match=r"Set 0 has complex numbers; .*real"):
        mc.MeanEmbedding(mc.Gaussian(1.0))([[1 + 1j, 2.0]])


def test_images_with_channels_first_are_told_of() -> None:
    X = np.random.default_rng(0).random((2, 3, 32, 32))
    with pytest.warns(mc.IgnoredWarning, match=r"\(3, 32, 32\).*X.transpose\(0, 2, 3, 1\)") as told:
        mc.patches(X, 2, 8)
    assert len(told) == 1
    with pytest.raises(mc.DataError, match=r"If its channels come first, give"):
        mc.patches(X, 5)
