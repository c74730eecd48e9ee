"""Clusters: the objective by its definition, scikit-learn's optimum, all partitions of a few points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import ks_2samp
from sklearn import cluster as peers
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

import mercer as mc
from tests import unsupervised_oracles as oracle
from tests.estimators.cluster_samples import blobs, counts, gaussian, two_families, two_rings


def _networks() -> tuple[list[Any], Any]:
    nx = pytest.importorskip("networkx")
    every = [make(k) for k in range(5, 11) for make in (nx.cycle_graph, nx.star_graph)]
    for g in every:
        nx.set_node_attributes(g, "A", "label")
    return every, np.arange(12) % 2


def _means(name: str, k: int, n_init: int = 10, seed: int = 0) -> Any:
    """One of the two machines of centres."""
    kernels = {"linear": mc.Linear(), "Gaussian": mc.Gaussian(0.2), "default": None}
    return (
        mc.KMeans(k, n_init=n_init, random_state=seed)
        if name == "plain"
        else mc.KernelKMeans(k, kernels[name], n_init=n_init, random_state=seed)
    )


NEW = np.random.default_rng(9).uniform(-1, 7, (25, 2))


def test_kmeans_is_its_definition() -> None:
    X, y = blobs()
    m = mc.KMeans(3, random_state=0).fit(X)
    assert oracle.same_partition(m.labels_, y)
    for c in range(3):
        np.testing.assert_allclose(m.cluster_centers_[c], X[m.labels_ == c].mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(
        m.inertia_, sum(np.sum((X[i] - m.cluster_centers_[m.labels_[i]]) ** 2) for i in range(60)), rtol=1e-10
    )
    D = np.array([[np.linalg.norm(x - c) for c in m.cluster_centers_] for x in NEW])
    np.testing.assert_allclose(m.transform(NEW), D, atol=1e-9)
    np.testing.assert_array_equal(m.predict(NEW), D.argmin(axis=1))
    np.testing.assert_array_equal(m.predict(X), m.labels_)
    np.testing.assert_array_equal(clone(m).fit_predict(X), m.labels_)
    assert 1 <= m.n_iter_ <= 300


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["plain", "linear"])
def test_the_optimum_is_scikit_learns(name: str) -> None:
    X, _ = blobs()
    np.testing.assert_allclose(
        _means(name, 3).fit(X).inertia_, peers.KMeans(3, n_init=5, random_state=0).fit(X).inertia_, rtol=1e-9
    )
    for seed, k in ((0, 4), (1, 5), (2, 6)):
        Z = np.random.default_rng(seed).standard_normal((150, 3))  # no clusters at all
        assert (
            _means(name, k, 20).fit(Z).inertia_
            <= 1.001 * peers.KMeans(k, n_init=20, random_state=0, tol=0).fit(Z).inertia_
        )


def test_kmeans_far_from_the_origin() -> None:
    X, y = blobs()
    near, far = (mc.KMeans(3, random_state=0).fit(X + shift) for shift in (0.0, 1e6))
    assert oracle.same_partition(far.labels_, y)
    np.testing.assert_allclose(far.inertia_, near.inertia_, rtol=1e-6)


@pytest.mark.parametrize("name", ["plain", "linear", "Gaussian", "default"])
def test_weights_are_repetitions(name: str) -> None:
    X, y = blobs()
    w = counts(60)
    X[w == 0] += 100 * np.random.default_rng(0).standard_normal((np.sum(w == 0), 2))  # what is absent may be anywhere
    one, other = _means(name, 3).fit(X, sample_weight=w), _means(name, 3).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(one.inertia_, other.inertia_, rtol=1e-8)
    assert oracle.same_partition(one.labels_[w > 0], y[w > 0])
    assert oracle.same_partition(np.repeat(one.labels_, w), other.labels_)
    np.testing.assert_allclose(np.sort(one.transform(NEW), axis=1), np.sort(other.transform(NEW), axis=1), atol=1e-7)
    heavier = _means(name, 3).fit(X, sample_weight=2.5 * w)
    np.testing.assert_allclose(heavier.inertia_, 2.5 * one.inertia_, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "linear"])
def test_one_start_is_distributed_as_with_repetitions(name: str) -> None:
    """The weights enter the starting centres as well: a single start ends in the same optima equally often."""
    heavy = np.arange(36) < 12  # in the middle; starts that overlook the weights fall on the others (p < 1e-12)
    X, w = (
        np.random.default_rng(0).standard_normal((36, 2)) * np.where(heavy, 1.0, 3.0)[:, None],
        np.where(heavy, 30, 1),
    )
    long = np.repeat(X, w, axis=0)
    one = [_means(name, 4, 1, s).fit(X, sample_weight=w).inertia_ for s in range(400)]
    other = [_means(name, 4, 1, 1000 + s).fit(long).inertia_ for s in range(400)]
    assert np.ptp(one) > 1e-3 * np.mean(one)  # there are several optima
    assert ks_2samp(np.round(one, 6), np.round(other, 6)).pvalue > 1e-3


@pytest.mark.parametrize("name", ["plain", "linear", "Gaussian"])
@pytest.mark.parametrize("k", [9, 10])
def test_no_cluster_stays_empty(name: str, k: int) -> None:
    """Ten places, many points on each."""
    places = np.random.default_rng(0).standard_normal((10, 2)) * 3
    X = np.repeat(places, np.arange(1, 11), axis=0)
    m = _means(name, k).fit(X)
    assert set(m.labels_) == set(range(k))
    assert np.isfinite(m.transform(X)).all()
    assert np.isfinite(m.inertia_)
    if k == 10:
        np.testing.assert_allclose(m.inertia_, 0, atol=1e-9)
        assert len({tuple(row) for row in np.column_stack([X, m.labels_])}) == 10  # equal points are together


@pytest.mark.parametrize("name", ["plain", "linear", "Gaussian"])
def test_no_start_leaves_a_cluster_empty(name: str) -> None:
    X = np.random.default_rng(0).standard_normal((15, 1))
    for seed in range(30):
        assert len(set(_means(name, 12, 1, seed).fit(X).labels_)) == 12


@pytest.mark.parametrize("gamma", [0.05, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_kernel_kmeans_is_its_definition(k: int, weighted: bool, gamma: float) -> None:
    X = np.random.default_rng(0).standard_normal((40, 3))
    w = np.random.default_rng(1).uniform(0.2, 3.0, 40) if weighted else None
    Z = X[:7] + 0.3
    K, K_new = gaussian(X, X, gamma), gaussian(Z, X, gamma)
    m = mc.KernelKMeans(k, mc.Gaussian(gamma), random_state=0).fit(X, sample_weight=w)
    assert set(m.labels_) == set(range(k))
    np.testing.assert_allclose(m.inertia_, oracle.kernel_kmeans_objective(K, m.labels_, w), rtol=1e-9)
    # nobody is nearer to another centre
    np.testing.assert_array_equal(oracle.lloyd_step(K, m.labels_, k, w), m.labels_)
    np.testing.assert_array_equal(m.predict(X), m.labels_)
    d2 = oracle.squared_distances(K, m.labels_, k, w, K_new, np.ones(7))
    np.testing.assert_allclose(m.transform(Z) ** 2, d2, atol=1e-9)
    np.testing.assert_array_equal(m.predict(Z), d2.argmin(axis=1))


def test_the_objective_never_rises() -> None:
    X = np.random.default_rng(0).standard_normal((150, 3))
    for seed in range(5):
        m = mc.KernelKMeans(6, mc.Gaussian(0.3), n_init=1, random_state=seed).fit(X)
        assert len(m.objectives_) > 2
        assert (np.diff(m.objectives_) <= 1e-10 * m.objectives_[0]).all()
        np.testing.assert_allclose(m.objectives_[-1], m.inertia_, rtol=1e-9)
    many = mc.KernelKMeans(6, mc.Gaussian(0.3), n_init=10, random_state=0).fit(X)
    np.testing.assert_allclose(many.objectives_[-1], many.inertia_, rtol=1e-9)


def test_more_starts_are_never_worse() -> None:
    X = np.random.default_rng(0).standard_normal((80, 3))
    each = [mc.KernelKMeans(6, mc.Gaussian(0.3), n_init=1, random_state=s).fit(X).inertia_ for s in range(15)]
    assert np.ptp(each) > 0
    assert mc.KernelKMeans(6, mc.Gaussian(0.3), n_init=30, random_state=0).fit(X).inertia_ <= np.median(each)


def test_seeds_are_kept() -> None:
    X = np.random.default_rng(0).standard_normal((80, 3))
    for model in (
        mc.KMeans(5, n_init=2, random_state=4),
        mc.KernelKMeans(5, n_init=2, random_state=4),
        mc.SpectralClustering(5, random_state=4),
    ):
        np.testing.assert_array_equal(clone(model).fit(X).labels_, clone(model).fit(X).labels_)


def test_rings_by_kernel_kmeans() -> None:
    """With this width the rings are the best partition, which no straight line is."""
    X, y = two_rings()
    m = mc.KernelKMeans(2, mc.Gaussian(3.0), random_state=0).fit(X)
    assert adjusted_rand_score(y, m.labels_) > 0.95
    assert adjusted_rand_score(y, mc.KMeans(2, random_state=0).fit(X).labels_) < 0.3
    inside, outside = m.predict([[0.0, 0.1], [0.1, 0.0]]), m.predict([[0.0, 1.0], [-1.0, 0.0]])
    assert inside[0] == inside[1] != outside[0] == outside[1]


def test_a_precomputed_matrix() -> None:
    X, _ = blobs()
    w = counts(60)
    K, K_new = gaussian(X, X, 0.1), gaussian(NEW, X, 0.1)
    for weights in (None, w):
        ours = mc.KernelKMeans(3, "precomputed", random_state=0).fit(K, sample_weight=weights)
        same = mc.KernelKMeans(3, mc.Gaussian(0.1), random_state=0).fit(X, sample_weight=weights)
        np.testing.assert_allclose(ours.inertia_, same.inertia_, rtol=1e-9)
        assert oracle.same_partition(ours.labels_, same.labels_)
        with pytest.raises(ValueError, match="precomputed"):  # distances of new items need their k(x, x)
            ours.transform(K_new)
        assert oracle.same_partition(ours.predict(K_new), same.predict(NEW))


def test_strings_and_graphs(tmp_path: Path) -> None:
    for (objects, y), k in (
        (two_families(), mc.Spectrum(3).normalized()),
        (_networks(), mc.WeisfeilerLehman(2).normalized()),
    ):
        K = np.asarray(k(objects), float)
        m = mc.KernelKMeans(int(y.max()) + 1, k, random_state=0).fit(objects)
        assert oracle.same_partition(m.labels_, y)
        np.testing.assert_allclose(m.inertia_, oracle.kernel_kmeans_objective(K, m.labels_), rtol=1e-8)
        np.testing.assert_array_equal(m.predict(objects[::-1]), m.labels_[::-1])
        mc.save(m, tmp_path / "model")
        np.testing.assert_array_equal(mc.load(tmp_path / "model").predict(objects), m.labels_)
        spectral = mc.SpectralClustering(int(y.max()) + 1, k, random_state=0).fit(objects)
        assert oracle.same_partition(spectral.labels_, y)


@pytest.mark.parametrize("machine", [mc.KMeans, mc.KernelKMeans, mc.SpectralClustering])
def test_bad_input(machine: Any) -> None:
    X, _ = blobs()
    bad = X.copy()
    bad[2, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        machine(3).fit(bad)
    for k in (0, -1):
        with pytest.raises(ValueError, match="n_clusters"):
            machine(k).fit(X)
    with pytest.raises(ValueError, match=r"n_clusters|n_samples"):
        machine(61).fit(X)
    with pytest.raises(ValueError, match="n_init"):
        machine(2, n_init=0).fit(X)
    for w in (-np.ones(60), np.zeros(60), np.ones(59)):
        with pytest.raises(ValueError, match=r"weight"):
            machine(3).fit(X, sample_weight=w)
    if hasattr(machine, "predict"):
        with pytest.raises(NotFittedError):
            machine(3).predict(X)
        with pytest.raises(ValueError, match="features"):
            machine(3).fit(X).predict(X[:, :1])


def test_bad_options() -> None:
    X, _ = blobs()
    for options, message in (({"cut": "min"}, "cut"), ({"rounding": "up"}, "rounding")):
        with pytest.raises(ValueError, match=message):
            mc.SpectralClustering(3, **options).fit(X)
    for machine in (mc.KernelKMeans, mc.SpectralClustering):
        with pytest.raises(ValueError, match="square"):
            machine(2, "precomputed").fit(X)
        with pytest.raises(ValueError, match=r"write mercer\.Gaussian"):
            machine(2, "rbf").fit(X)
    with pytest.raises(ValueError, match=r"negative|affinit|degree"):
        mc.SpectralClustering(2, "precomputed").fit(np.array([[1.0, -2.0, 0.1], [-2.0, 1.0, 0.3], [0.1, 0.3, 1.0]]))


def _overlapping(n: int = 200) -> Any:
    return np.random.default_rng(0).standard_normal((n, 3)) * [3.0, 2.0, 1.0] + 50.0


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("max_iter", [1, 2, 3, 300])
def test_given_centres_are_descended_from_as_in_scikit_learn(form: str, max_iter: int) -> None:
    X = _overlapping()
    centres = X[:4] + 0.1
    theirs = peers.KMeans(4, init=centres, n_init=1, max_iter=max_iter, tol=0).fit(X)
    ours = mc.KMeans(4, init=centres, max_iter=max_iter, tol=0).fit(sparse.csr_array(X) if form == "sparse" else X)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_


def test_a_function_gives_centres() -> None:
    X = _overlapping()
    seen = []

    def init(X: Any, n_clusters: int, random_state: Any) -> Any:
        seen.append((X.shape, n_clusters))
        return X[random_state.permutation(len(X))[:n_clusters]]

    model = mc.KMeans(4, init=init, n_init=3, random_state=0).fit(X)
    assert seen == [((200, 3), 4)] * 3
    same = mc.KMeans(4, init=lambda *_, **__: model.cluster_centers_, n_init=1).fit(X)
    np.testing.assert_allclose(same.cluster_centers_, model.cluster_centers_, atol=1e-8)


def test_random_starts_and_automatic_numbers_of_them() -> None:
    X, y = blobs()
    for init in ("random", "k-means++"):
        assert adjusted_rand_score(mc.KMeans(3, init=init, n_init="auto", random_state=0).fit(X).labels_, y) > 0.5
    assert adjusted_rand_score(mc.KMeans(3, init="random", random_state=0).fit(X).labels_, y) == 1
    one, ten = (
        mc.KMeans(12, init="random", n_init=n, random_state=3).fit(_overlapping()).inertia_ for n in (1, "auto")
    )
    assert ten < one
    w = np.where(y == 0, 1.0, 1e-9)  # starts are drawn by weight, so nearly always in the heavy blob
    low = mc.KMeans(3, init="random", n_init=1, max_iter=1, random_state=0).fit(X, sample_weight=w)
    assert np.sum(np.linalg.norm(low.cluster_centers_, axis=1) < 3) >= 2


@pytest.mark.parametrize(
    ("init", "said"),
    [
        ("kmeans", "k-means"),
        (np.zeros((3, 2)), "number of clusters"),
        (np.zeros((4, 2)), "features of the data"),
        (np.full((4, 3), np.nan), "NaN"),
    ],
)
def test_starts_that_are_none(init: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        mc.KMeans(4, init=init).fit(_overlapping())


def test_verbose_writes_a_line_for_each_step(capsys: Any) -> None:
    mc.KMeans(3, n_init=1, random_state=0).fit(_overlapping())
    assert capsys.readouterr().out == ""
    model = mc.KMeans(3, n_init=1, random_state=0, verbose=1).fit(_overlapping(), sample_weight=np.full(200, 4.0))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Initialization complete"
    assert lines[-1].startswith("Converged at iteration")
    np.testing.assert_allclose(float(lines[-2].split("inertia ")[1].rstrip(".")), model.inertia_, rtol=1e-4)
