"""What must not change the results of the unsupervised learners, and what scikit-learn finds too."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.cluster
import sklearn.decomposition
import sklearn.mixture
from scipy import sparse
from sklearn.base import clone

import mercer as mc
from tests.estimators.unsupervised_samples import ALL, ONE, N, X, Y, fitted, outcome, output, rng

ORDER = rng.permutation(60)
REPEATS = rng.integers(0, 4, 60)

WEIGHTED = [name for name in ONE if name != "KernelHebbian"]


# weights
@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize(
    "weights",
    [np.zeros(60), np.r_[-1.0, np.ones(59)], np.ones(3), np.r_[np.nan, np.ones(59)], np.ones((60, 2)), ["a"] * 60],
)
def test_weights_are_checked(name: str, weights: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        ALL[name]().fit(X, sample_weight=weights)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["KernelPCA", "KMeans", "KernelKMeans", "GaussianMixture", "KernelPCANovelty"])
@pytest.mark.parametrize("scale", [2.0, 0.5, 1 / 60, 1e-6, 1e6, 1e-100, 1e100])
def test_weights_of_any_common_size(name: str, scale: float) -> None:
    plain, weighted = ALL[name]().fit(X), ALL[name]().fit(X, sample_weight=np.full(60, scale))
    np.testing.assert_allclose(output(weighted, N), output(plain, N), atol=1e-6)


@pytest.mark.parametrize("scale", [2.0, 0.5, 1 / 60, 1e-6, 1e6])
def test_weights_of_any_common_size_for_spectral_clustering(scale: float) -> None:
    model = mc.SpectralClustering(3, mc.Gaussian(0.1), random_state=0)
    np.testing.assert_array_equal(
        output(clone(model).fit(X, sample_weight=np.full(60, scale))), output(clone(model).fit(X))
    )


def test_weights_that_sum_to_one_do_not_break_the_automatic_width() -> None:
    np.testing.assert_array_equal(
        output(ALL["SpectralClustering"]().fit(X, sample_weight=np.full(60, 1 / 60))),
        output(fitted("SpectralClustering")),
    )


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["PCA", "KMeans", "KernelKMeans", "GaussianMixture", "KernelPCANovelty"])
def test_a_weight_is_a_repetition(name: str) -> None:
    weighted, repeated = ALL[name]().fit(X, sample_weight=REPEATS), ALL[name]().fit(np.repeat(X, REPEATS, axis=0))
    np.testing.assert_allclose(np.sort(output(weighted, N)), np.sort(output(repeated, N)), atol=1e-6)


@pytest.mark.parametrize("solver", ["exact", "lanczos", "krylov"])
@pytest.mark.parametrize(
    "kernel", [None, mc.Gaussian(0.1), mc.Linear(), mc.Polynomial(2).normalized(), mc.Gaussian(0.1).centered()], ids=str
)
def test_a_weight_is_a_repetition_for_kernel_pca(kernel: Any, solver: str) -> None:
    weighted = mc.KernelPCA(2, kernel, solver=solver).fit(X, sample_weight=REPEATS)
    repeated = mc.KernelPCA(2, kernel, solver=solver).fit(np.repeat(X, REPEATS, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(weighted.transform(N), repeated.transform(N), atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_signs_of_kernel_pca_do_not_depend_on_weights_or_copies(seed: int) -> None:
    weights = np.random.default_rng(seed).integers(0, 4, 60)
    weighted, repeated = (
        mc.KernelPCA(3, mc.Linear()).fit(X, sample_weight=weights),
        mc.KernelPCA(3, mc.Linear()).fit(np.repeat(X, weights, axis=0)),
    )
    np.testing.assert_allclose(weighted.transform(N), repeated.transform(N), atol=1e-6)


@pytest.mark.parametrize("cut", ["normalized", "ratio"])
@pytest.mark.parametrize("kernel", [None, mc.Gaussian(0.1)], ids=str)
def test_a_weight_is_a_repetition_for_spectral_clustering(kernel: Any, cut: str) -> None:
    weighted = mc.SpectralClustering(3, kernel, cut=cut, random_state=0).fit(X, sample_weight=REPEATS)
    repeated = mc.SpectralClustering(3, kernel, cut=cut, random_state=0).fit(np.repeat(X, REPEATS, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-6)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-4, abs=1e-9)


# invariance
@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in ALL if name not in ("SpectralClustering", "TemporalKernelCCA")])
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    np.testing.assert_allclose(
        np.sort(output(fitted(name, X[ORDER], Y[ORDER]), N)), np.sort(output(fitted(name), N)), atol=1e-6
    )


@pytest.mark.thorough
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("name", [*ONE, "CCA", "KernelCCA"])
def test_translations(name: str, offset: float) -> None:
    moved = fitted(name, X + offset, Y + offset)
    np.testing.assert_allclose(output(moved, N + offset), output(fitted(name), N), rtol=1e-4, atol=1e-5)


# beyond, the values k(x, z) themselves have lost the digits; PCA has not
@pytest.mark.parametrize("offset", [1e3, 1e5])
def test_translations_of_linear_kernels(offset: float) -> None:
    for make in (lambda: mc.KernelPCA(2, mc.Linear()), lambda: mc.KernelPCANovelty(2, mc.Linear())):
        moved, still = make().fit(X + offset), make().fit(X)
        np.testing.assert_allclose(moved.explained_variance_, still.explained_variance_, rtol=1e-4)
        np.testing.assert_allclose(np.abs(output(moved, N + offset)), np.abs(output(still, N)), atol=1e-3)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
@pytest.mark.parametrize(
    "make",
    [lambda: mc.KMeans(3, random_state=0), lambda: mc.KernelKMeans(3, mc.Linear(), random_state=0)],
    ids=["KMeans", "KernelKMeans"],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_translations_of_clusters(make: Callable[[], Any], container: Any, offset: float) -> None:
    assert make().fit(container(X + offset)).inertia_ == pytest.approx(make().fit(X).inertia_, rel=1e-4)


def test_float32_clusters_far_from_zero() -> None:
    A = (X + 1000).astype("f")
    for model in (mc.KMeans(3, random_state=0), mc.KernelKMeans(3, mc.Linear(), random_state=0)):
        exact = clone(model).fit(A.astype(float)).inertia_
        assert clone(model).fit(A).inertia_ == pytest.approx(exact, rel=1e-3)
        assert clone(model).fit(sparse.csr_array(A)).inertia_ == pytest.approx(exact, rel=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e12, 1e100])
def test_scales(scale: float) -> None:
    np.testing.assert_allclose(
        mc.PCA(2).fit(X * scale).explained_variance_ratio_, mc.PCA(2).fit(X).explained_variance_ratio_
    )
    for name in ("KernelPCA", "KernelPCANovelty", "KernelHebbian"):
        np.testing.assert_allclose(output(fitted(name, X * scale), N * scale), output(fitted(name), N), atol=1e-8)
    np.testing.assert_array_equal(output(fitted("SpectralClustering", X * scale)), output(fitted("SpectralClustering")))
    assert mc.KMeans(3, random_state=0).fit(X * scale).inertia_ / scale**2 == pytest.approx(
        mc.KMeans(3, random_state=0).fit(X).inertia_
    )
    np.testing.assert_allclose(
        mc.KernelCCA(2).fit(X * scale, Y * scale).correlations_, mc.KernelCCA(2).fit(X, Y).correlations_, atol=1e-8
    )
    assert outcome(X * scale, N * scale).pvalue == outcome(X, N).pvalue


def test_canonical_correlations_do_not_depend_on_units() -> None:
    np.testing.assert_allclose(
        mc.CCA(2).fit(X * [1e9, 1, 1e-9], Y).correlations_, mc.CCA(2).fit(X, Y).correlations_, rtol=1e-4
    )
    np.testing.assert_allclose(
        mc.CCA(2).fit(np.c_[X, X[:, 0]], np.c_[Y, np.ones(60)]).correlations_,
        mc.CCA(2).fit(X, Y).correlations_,
        rtol=1e-6,
    )


def test_hebbian_is_kernel_pca_with_its_signs() -> None:
    exact = mc.KernelPCA(3, mc.Gaussian(0.05)).fit(X)
    whole, parts = mc.KernelHebbian(3, mc.Gaussian(0.05)).fit(X), mc.KernelHebbian(3, mc.Gaussian(0.05))
    for start in range(0, 60, 7):
        parts.partial_fit(X[start : start + 7])
    for model in (whole, parts):
        np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_)
        np.testing.assert_allclose(np.abs(model.transform(N)), np.abs(exact.transform(N)), atol=1e-8)
        np.testing.assert_allclose(model.transform(N), exact.transform(N), atol=1e-8)


# scikit-learn has the same
@pytest.mark.parametrize("whiten", [False, True])
def test_pca_is_that_of_scikit_learn(whiten: bool) -> None:
    ours, theirs = mc.PCA(2, whiten=whiten).fit(X), sklearn.decomposition.PCA(2, whiten=whiten).fit(X)
    np.testing.assert_allclose(np.abs(ours.transform(N)), np.abs(theirs.transform(N)), atol=1e-9)
    for attribute in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(ours, attribute), getattr(theirs, attribute))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(N)), theirs.inverse_transform(theirs.transform(N)))


def test_kernel_pca_is_that_of_scikit_learn() -> None:
    ours, theirs = (
        mc.KernelPCA(3, mc.Gaussian(0.1)).fit(X),
        sklearn.decomposition.KernelPCA(3, kernel="rbf", gamma=0.1).fit(X),
    )
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_)
    np.testing.assert_allclose(np.abs(ours.transform(N)), np.abs(theirs.transform(N)), atol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("covariance", ["full", "tied", "diag", "spherical"])
def test_mixtures_are_those_of_scikit_learn(covariance: str) -> None:
    options = {
        "covariance_type": covariance,
        "means_init": X[[0, 25, 50]],
        "tol": 1e-10,
        "max_iter": 1000,
        "random_state": 0,
    }
    ours, theirs = mc.GaussianMixture(3, **options).fit(X), sklearn.mixture.GaussianMixture(3, **options).fit(X)
    np.testing.assert_allclose(ours.score_samples(N), theirs.score_samples(N), rtol=1e-5)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-4, atol=1e-4)
    assert ours.bic(X) == pytest.approx(theirs.bic(X))
    assert ours.aic(X) == pytest.approx(theirs.aic(X))


@pytest.mark.thorough
def test_clusters_are_not_worse_than_those_of_scikit_learn() -> None:
    A = np.concatenate(
        [np.random.default_rng(1).normal(size=(20, 2)) + c for c in 20 * np.random.default_rng(2).normal(size=(12, 2))]
    )
    theirs = sklearn.cluster.KMeans(12, n_init=10, random_state=0).fit(A).inertia_
    for model in (mc.KMeans(12, random_state=0), mc.KernelKMeans(12, mc.Linear(), random_state=0)):
        assert model.fit(A).inertia_ <= 1.02 * theirs


# degenerate data and seeds
@pytest.mark.parametrize("name", ["KMeans", "KernelKMeans", "SpectralClustering", "GaussianMixture"])
def test_copies_of_two_rows_are_two_clusters(name: str) -> None:
    A = np.repeat(X[[0, 30]], 30, axis=0)
    model = ALL[name]().set_params(**{"n_components" if name == "GaussianMixture" else "n_clusters": 2}).fit(A)
    labels = model.predict(A) if name == "GaussianMixture" else model.labels_
    assert len(set(labels[:30])) == len(set(labels[30:])) == 1
    assert labels[0] != labels[30]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [0, np.int64(3), np.random.RandomState(0)], ids=["int", "int64", "RandomState"])
def test_seeds(seed: Any) -> None:
    state = pickle.dumps(seed)
    for test in (
        lambda s: outcome(X, N, random_state=s).null,
        lambda s: mc.hsic_test(X, Y, n_permutations=19, random_state=s).null,
    ):
        np.testing.assert_array_equal(test(pickle.loads(state)), test(pickle.loads(state)))
    for make in (
        lambda s: mc.KMeans(5, random_state=s, n_init=1),
        lambda s: mc.KernelKMeans(5, random_state=s, n_init=1),
    ):
        np.testing.assert_array_equal(
            make(pickle.loads(state)).fit(X).labels_, make(pickle.loads(state)).fit(X).labels_
        )


@pytest.mark.thorough
def test_threads_do_not_change_results() -> None:
    A = np.random.default_rng(0).normal(size=(700, 4))
    for make in (
        lambda c: mc.KernelPCA(3, mc.Gaussian(0.1), compute=c),
        lambda c: mc.KernelKMeans(3, mc.Gaussian(0.1), random_state=0, compute=c),
    ):
        one, two = make(mc.Compute(threads=1)).fit(A).transform(A), make(mc.Compute(threads=2)).fit(A).transform(A)
        np.testing.assert_allclose(one, two, atol=1e-12)
