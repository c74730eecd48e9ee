"""Cuts of graphs and their relaxation: against the definition, all partitions, and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster as peers
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import mercer as mc
from tests import unsupervised_oracles as oracle
from tests.estimators.cluster_samples import blobs, counts, gaussian, two_families, two_rings


def _affinity(n: int, seed: int, planted: bool = False) -> Any:
    """A connected weighted graph; planted: two halves with weak bonds between."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(0.2, 1.0, (n, n)) * (rng.random((n, n)) < 0.5), 1)
    A[np.arange(n - 1), np.arange(1, n)] += 0.3
    A = A + A.T
    if planted:
        side = np.arange(n) < n // 2
        A = np.where(side[:, None] == side, A + 0.5 * (1 - np.eye(n)), 0.15 * A)
    return A


@pytest.mark.parametrize("n", [8, 9, 10])
def test_kernel_kmeans_is_the_normalised_cut(n: int) -> None:
    """Weights D and kernel σD⁻¹ + D⁻¹AD⁻¹: the objectives differ by one constant over all partitions, and our fit is on
    that line.
    """
    for seed in range(3):
        A = _affinity(n, seed)
        lowest = np.linalg.eigvalsh(A / np.sqrt(np.outer(A.sum(1), A.sum(1))))[0]
        K, d = oracle.cut_kernel(A, -lowest)
        every = list(oracle.partitions(n))
        cuts = np.array([oracle.normalised_cut(A, p) for p in every])
        gaps = np.array([oracle.kernel_kmeans_objective(K, p, d) for p in every]) - cuts
        np.testing.assert_allclose(gaps, gaps[0], atol=1e-10)
        m = mc.KernelKMeans(2, "precomputed", n_init=50, random_state=0).fit(K, sample_weight=d)
        np.testing.assert_allclose(m.inertia_ - gaps[0], oracle.normalised_cut(A, m.labels_), atol=1e-9)
        assert m.inertia_ >= cuts.min() + gaps[0] - 1e-9


@pytest.mark.parametrize("rounding", ["auto", "qr", "kmeans"])
@pytest.mark.parametrize("seed", range(4))
def test_planted_halves_are_the_best_cut(seed: int, rounding: str) -> None:
    A = _affinity(10, seed, planted=True)
    best = min(oracle.partitions(10), key=lambda p: oracle.normalised_cut(A, p))
    m = mc.SpectralClustering(2, "precomputed", rounding=rounding, random_state=0).fit(A)
    assert oracle.same_partition(m.labels_, best)
    assert oracle.same_partition(m.labels_, np.arange(10) < 5)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_eigenvalues_of_the_normalised_affinity(k: int) -> None:
    A = _affinity(20, 0)
    d = A.sum(axis=1)
    truth = np.linalg.eigvalsh(A / np.sqrt(np.outer(d, d)))[::-1][:k]
    m = mc.SpectralClustering(k, "precomputed", random_state=0).fit(A)
    np.testing.assert_allclose(m.eigenvalues_, truth, atol=1e-8)
    np.testing.assert_allclose(m.eigenvalues_[0], 1.0, atol=1e-8)
    assert m.embedding_.shape == (20, k)
    assert k - m.eigenvalues_.sum() <= oracle.normalised_cut(A, m.labels_) + 1e-9  # the relaxation is a bound


def test_the_ratio_is_the_relaxation_of_kernel_kmeans() -> None:
    """max Tr(UᵀKU), UᵀU = I: the k largest eigenvalues bound what any partition reaches."""
    X, y = blobs()
    K = gaussian(X, X, 0.1)
    m = mc.SpectralClustering(3, mc.Gaussian(0.1), cut="ratio", random_state=0).fit(X)
    np.testing.assert_allclose(m.eigenvalues_, np.linalg.eigvalsh(K)[::-1][:3], rtol=1e-7)
    assert oracle.same_partition(m.labels_, y)
    assert np.trace(K) - m.eigenvalues_.sum() <= oracle.kernel_kmeans_objective(K, m.labels_) + 1e-9
    w = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    m = mc.SpectralClustering(3, mc.Gaussian(0.1), cut="ratio", random_state=0).fit(X, sample_weight=w)
    # W^½KW^½
    np.testing.assert_allclose(m.eigenvalues_, np.linalg.eigvalsh(np.sqrt(np.outer(w, w)) * K)[::-1][:3], rtol=1e-7)
    assert oracle.same_partition(m.labels_, y)


@pytest.mark.parametrize("cut", ["normalized", "ratio"])
def test_spectral_weights_are_repetitions(cut: str) -> None:
    X, y = blobs(60, 0.8)
    w = counts(60)
    one = mc.SpectralClustering(3, mc.Gaussian(0.2), cut=cut, random_state=0).fit(X, sample_weight=w)
    other = mc.SpectralClustering(3, mc.Gaussian(0.2), cut=cut, random_state=0).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-8 * other.eigenvalues_[0])
    assert oracle.same_partition(np.repeat(one.labels_, w), other.labels_)
    assert oracle.same_partition(one.labels_[w > 0], y[w > 0])


def test_the_better_rounding_wins() -> None:
    for seed in range(12):
        A = _affinity(14, seed)
        cuts, rounding = {}, {}
        for way in ("auto", "qr", "kmeans"):
            m = mc.SpectralClustering(3, "precomputed", rounding=way, random_state=0).fit(A)
            cuts[way] = oracle.normalised_cut(A, m.labels_)
            rounding[way] = m.rounding_
            assert len(set(m.labels_)) == 3
        assert (rounding["qr"], rounding["kmeans"]) == ("qr", "kmeans")
        assert cuts["auto"] == pytest.approx(min(cuts["qr"], cuts["kmeans"]), abs=1e-9)
        assert cuts[rounding["auto"]] == pytest.approx(cuts["auto"], abs=1e-9)


def test_the_objective_is_that_of_the_labels() -> None:
    """The cut itself, or what stays inside, k − cut."""
    A = _affinity(14, 0)
    m = mc.SpectralClustering(3, "precomputed", random_state=0).fit(A)
    cut = oracle.normalised_cut(A, m.labels_)
    assert min(abs(m.objective_ - cut), abs(m.objective_ - (3 - cut))) < 1e-8


def test_the_karate_club() -> None:
    nx = pytest.importorskip("networkx")
    club = nx.karate_club_graph()
    A = nx.to_numpy_array(club, weight=None)
    faction = np.array([club.nodes[v]["club"] == "Officer" for v in club])
    m = mc.SpectralClustering(2, "precomputed", random_state=0).fit(A)
    assert adjusted_rand_score(faction, m.labels_) > 0.7
    assert oracle.normalised_cut(A, m.labels_) <= oracle.normalised_cut(A, faction) + 1e-9
    theirs = peers.SpectralClustering(2, affinity="precomputed", assign_labels="cluster_qr", random_state=0).fit(A)
    assert oracle.normalised_cut(A, m.labels_) <= oracle.normalised_cut(A, theirs.labels_) + 1e-9


@pytest.mark.parametrize("k", [mc.Gaussian(30.0), None], ids=str)
def test_rings_moons_and_blobs(k: Any) -> None:
    """Also with the width found from the data."""
    for X, y in (two_rings(300, 0.4), make_moons(300, noise=0.04, random_state=0)):
        m = mc.SpectralClustering(2, k, random_state=0).fit(X)
        assert adjusted_rand_score(y, m.labels_) > 0.95
    X, y = blobs(90, 0.5)
    m = mc.SpectralClustering(3, k if k is None else mc.Gaussian(0.5), random_state=0).fit(X)
    assert oracle.same_partition(m.labels_, y)


def test_the_found_width_does_not_depend_on_units() -> None:
    X, y = two_rings(300, 0.4)
    for scale in (1e-3, 1e3):
        m = mc.SpectralClustering(2, random_state=0).fit(scale * X)
        assert adjusted_rand_score(y, m.labels_) > 0.95
        assert type(m.kernel_) is mc.Gaussian


def test_separate_components_are_the_clusters() -> None:
    """A graph in three pieces: eigenvalue 1 three times, cut 0."""
    A = np.zeros((15, 15))
    for c in range(3):
        A[5 * c : 5 * c + 5, 5 * c : 5 * c + 5] = _affinity(5, c)
    m = mc.SpectralClustering(3, "precomputed", random_state=0).fit(A)
    assert oracle.same_partition(m.labels_, np.repeat([0, 1, 2], 5))
    np.testing.assert_allclose(m.eigenvalues_, 1.0, atol=1e-8)


def _moons(n: int = 300) -> tuple[Any, Any]:
    return make_moons(n, noise=0.05, random_state=0)


def _graph(K: Any, count: int) -> Any:
    """(C + C^T)/2 by sorting the distances of feature space."""
    D = np.diag(K)[:, None] + np.diag(K) - 2 * K
    np.fill_diagonal(D, -np.inf)
    C = np.zeros_like(D)
    np.put_along_axis(C, np.argsort(D, axis=1)[:, :count], 1.0, axis=1)
    return (C + C.T) / 2


def test_neighbours_of_vectors_are_scikit_learns() -> None:
    X, y = _moons()
    ours = mc.SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=8, random_state=0).fit(X)
    from sklearn.neighbors import kneighbors_graph

    C = kneighbors_graph(X, 8, include_self=True)
    np.testing.assert_array_equal(ours.affinity_matrix_.toarray(), (C + C.T).toarray() / 2)
    assert sparse.issparse(ours.affinity_matrix_)
    assert adjusted_rand_score(ours.labels_, y) == 1
    D = kneighbors_graph(X, 12, mode="distance", include_self=True)
    for distances in (D, np.linalg.norm(X[:, None] - X, axis=2)):
        given = mc.SpectralClustering(2, affinity="precomputed_nearest_neighbors", n_neighbors=8, random_state=0).fit(
            distances
        )
        np.testing.assert_array_equal(given.affinity_matrix_.toarray(), ours.affinity_matrix_.toarray())
        np.testing.assert_array_equal(given.labels_, ours.labels_)


def test_neighbours_in_the_space_of_a_kernel() -> None:
    S, y = two_families()
    k = mc.Spectrum(2)
    ours = mc.SpectralClustering(3, k, affinity="nearest_neighbors", n_neighbors=5, random_state=0).fit(S)
    A, truth = ours.affinity_matrix_.toarray(), _graph(k(S), 5)
    D = np.diag(k(S))[:, None] + np.diag(k(S)) - 2 * k(S)
    np.testing.assert_allclose((A * D).sum(), (truth * D).sum())  # ties may be broken either way
    assert adjusted_rand_score(ours.labels_, y) == 1
    X, y = _moons()
    K = mc.Polynomial(2)(X)
    for model, data in ((mc.SpectralClustering(2, mc.Polynomial(2)), X), (mc.SpectralClustering(2, "precomputed"), K)):
        model.set_params(affinity="nearest_neighbors", n_neighbors=6, random_state=0).fit(data)
        np.testing.assert_array_equal(model.affinity_matrix_.toarray(), _graph(K, 6))


@pytest.mark.parametrize("n", [300, 900])
def test_a_sparse_adjacency_matrix_is_its_dense_one(n: int) -> None:
    """Beyond 700 rows by products or the factor of the graph."""
    X, _ = _moons(n)
    A = mc.SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=6, random_state=0).fit(X).affinity_matrix_
    A = A + sparse.csr_array(([0.5, 0.5], ([0, n - 1], [n - 1, 0])), shape=(n, n))
    dense, thin = (mc.SpectralClustering(2, "precomputed", random_state=0).fit(M) for M in (A.toarray(), A))
    np.testing.assert_allclose(thin.eigenvalues_, dense.eigenvalues_, atol=1e-7)
    np.testing.assert_array_equal(thin.labels_, dense.labels_)
    np.testing.assert_allclose(thin.objective_, dense.objective_, atol=1e-8)
    with pytest.warns(ConvergenceWarning, match="not symmetric"):
        mc.SpectralClustering(2, "precomputed", random_state=0).fit(sparse.triu(A))


@pytest.mark.parametrize("how", ["vectors", "kernel", "matrix", "distances", "adjacency"])
def test_samples_without_weight_go_with_their_neighbours(how: str) -> None:
    X, y = _moons()
    w = np.where(np.arange(len(X)) % 5, 2.0, 0.0)
    k = mc.Gaussian(1.0)
    K = k(X)
    model, data = {
        "vectors": (mc.SpectralClustering(2, affinity="nearest_neighbors"), X),
        "kernel": (mc.SpectralClustering(2, k, affinity="nearest_neighbors"), X),
        "matrix": (mc.SpectralClustering(2, "precomputed", affinity="nearest_neighbors"), K),
        "distances": (
            mc.SpectralClustering(2, affinity="precomputed_nearest_neighbors"),
            np.linalg.norm(X[:, None] - X, axis=2),
        ),
        "adjacency": (mc.SpectralClustering(2, "precomputed"), sparse.csr_array(np.where(K > 0.914, K, 0.0))),
    }[how]
    labels = model.set_params(random_state=0).fit(data, sample_weight=w).labels_
    assert adjusted_rand_score(labels, y) == 1


def test_neighbours_that_are_refused() -> None:
    X, _ = _moons(20)
    with pytest.raises(ValueError, match="n_neighbors=21 is more than the n_samples=20"):
        mc.SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=21).fit(X)
    with pytest.raises(ValueError, match=r"affinity='rbf'.*kernel=mercer.Gaussian"):
        mc.SpectralClustering(2, affinity="rbf").fit(X)


def test_repetitions_are_nobodys_neighbours() -> None:
    """The width of the automatic kernel is that of the places, however often each is taken."""
    X, y = two_rings(120)
    for model in (mc.SpectralClustering(2, random_state=0).fit(X, sample_weight=np.full(120, 20.0)),
                  mc.SpectralClustering(2, random_state=0).fit(np.repeat(X, 9, axis=0))):  # fmt: skip
        assert adjusted_rand_score(model.labels_, y if len(model.labels_) == 120 else np.repeat(y, 9)) == 1
        assert model.kernel_.gamma > 1.5
