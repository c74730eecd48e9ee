"""Principal components against scikit-learn, and as a model of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition as peers

import mercer as mc
from tests import unsupervised_oracles as oracle
from tests.estimators.component_samples import NEW, cloud, counts


@pytest.mark.thorough
@pytest.mark.parametrize("shape", [(60, 4), (5, 12)])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("m", [None, 1, 3, 0.8])
def test_pca_is_scikit_learns(m: Any, whiten: bool, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal(shape) * np.geomspace(3, 0.3, shape[1]) + 2.0, rng.standard_normal((6, shape[1]))
    ours, theirs = mc.PCA(m, whiten=whiten).fit(X), peers.PCA(m, whiten=whiten, svd_solver="full").fit(X)
    # with fewer rows than columns, the last direction has no variance and is anyone's
    rank = min(len(X) - 1, X.shape[1])
    count = ours.n_components_
    assert count == (rank if m is None else theirs.n_components_)  # None: all that have variance
    np.testing.assert_allclose(ours.mean_, theirs.mean_, atol=1e-10)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name)[:count], atol=1e-10)
    for mine, other in ((ours.components_.T, theirs.components_.T), (ours.transform(Z), theirs.transform(Z))):
        np.testing.assert_allclose(
            oracle.up_to_sign(mine, other[:, :count])[:, :rank], other[:, : min(count, rank)], atol=1e-9
        )
    np.testing.assert_allclose(ours.transform(X), ours.fit_transform(X), atol=1e-9)
    back = theirs.inverse_transform(theirs.transform(X))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), back, atol=1e-8)


def test_pca_signs_do_not_depend_on_the_sample() -> None:
    for seed in range(5):
        C = mc.PCA().fit(cloud(seed=seed)).components_
        assert (C[np.arange(4), np.abs(C).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_approximation_of_the_rank_is_better(k: int) -> None:
    """Eckart–Young: the error is the variance left out, and no other affine plane has less."""
    X = cloud()
    model = mc.PCA(k).fit(X)
    error = np.sum((model.inverse_transform(model.transform(X)) - X) ** 2)
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(error, np.sum(s[k:] ** 2), rtol=1e-10)
    rng = np.random.default_rng(0)
    for _ in range(50):
        near = model.components_.T + 0.05 * rng.standard_normal((4, k))
        Q = np.linalg.qr(near)[0]
        C = X - X.mean(axis=0)
        assert np.sum((C - C @ Q @ Q.T) ** 2) > error


def test_pca_weights_are_repetitions() -> None:
    X, w = cloud(), counts()
    one, other, absent = (
        mc.PCA().fit(X, sample_weight=w),
        mc.PCA().fit(np.repeat(X, w, axis=0)),
        mc.PCA().fit(X[w > 0], sample_weight=w[w > 0]),
    )
    for m in (one, absent):
        for name in ("mean_", "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"):
            np.testing.assert_allclose(getattr(m, name), getattr(other, name), atol=1e-10)
        np.testing.assert_allclose(m.transform(NEW), other.transform(NEW), atol=1e-9)
    assert np.abs(one.mean_ - X.mean(axis=0)).max() > 1e-3  # the weights matter here


def test_pca_keeps_float32_and_stands_far_from_the_origin() -> None:
    X = cloud()
    small = mc.PCA(2).fit(X.astype(np.float32))
    assert small.components_.dtype == small.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(small.transform(X.astype(np.float32)), mc.PCA(2).fit(X).transform(X), atol=1e-3)
    near, far = mc.PCA().fit(X), mc.PCA().fit(X + 1e7)
    np.testing.assert_allclose(far.explained_variance_, near.explained_variance_, rtol=1e-6)


def test_pca_of_sparse_rows() -> None:
    X = np.where(np.abs(cloud()) > 2, cloud(), 0.0)
    model, dense = mc.PCA(2).fit(sparse.csr_array(X)), mc.PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(dense.components_), atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_, dense.explained_variance_, rtol=1e-10)


@pytest.mark.parametrize("m", [0, -1, 5, 1.5, "two"])
def test_pca_refuses(m: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="n_components"):
        mc.PCA(m).fit(cloud())


@pytest.mark.parametrize("shape", [(60, 4), (20, 30)])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_pca_is_scikit_learns_model_of_the_data(shape: tuple[int, int], m: int) -> None:
    X = np.random.default_rng(0).standard_normal(shape) @ np.diag(np.linspace(3, 0.5, shape[1])) + 4
    ours, theirs = mc.PCA(m).fit(X), peers.PCA(m, svd_solver="full").fit(X)
    assert (ours.n_samples_, ours.n_components_, ours.n_features_in_) == (theirs.n_samples_, m, shape[1])
    for name in ("noise_variance_", "mean_", "singular_values_", "explained_variance_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-12)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), atol=1e-10)
    new = X[:7] + 0.3
    np.testing.assert_allclose(ours.score_samples(new), theirs.score_samples(new), rtol=1e-10)
    np.testing.assert_allclose(
        mc.PCA(m).fit(sparse.csr_array(X)).score(sparse.csr_array(new)), theirs.score(new), rtol=1e-9
    )
    assert ours.get_feature_names_out().tolist() == [f"pca{i}" for i in range(m)]


def test_pca_of_all_components_is_the_gaussian_of_the_data() -> None:
    X = cloud()
    model = mc.PCA().fit(X)
    np.testing.assert_allclose(model.get_covariance(), np.cov(X.T), atol=1e-12)
    np.testing.assert_allclose(model.get_precision() @ np.cov(X.T), np.eye(4), atol=1e-10)
    from scipy.stats import multivariate_normal

    np.testing.assert_allclose(
        model.score_samples(NEW), multivariate_normal(X.mean(0), np.cov(X.T)).logpdf(NEW), rtol=1e-9
    )


def test_whitening_does_not_change_the_model() -> None:
    X = cloud()
    np.testing.assert_allclose(mc.PCA(2, whiten=True).fit(X).score(X), mc.PCA(2).fit(X).score(X), rtol=1e-12)


def test_a_density_needs_an_inverse() -> None:
    X = np.random.default_rng(0).standard_normal((5, 12))
    with pytest.raises(ValueError, match="rank 4 and 12 columns"):
        mc.PCA().fit(X).score(X)


@pytest.mark.parametrize("unit", [1.0, 1e-9])
def test_the_likeliest_number_of_components(unit: float) -> None:
    rng = np.random.default_rng(0)
    for k in (1, 3, 6):
        X = unit * (
            rng.standard_normal((300, k)) @ rng.standard_normal((k, 10)) * 3 + 0.3 * rng.standard_normal((300, 10))
        )
        ours = mc.PCA("mle").fit(X)
        assert ours.n_components_ == k == peers.PCA("mle").fit(X / unit).n_components_
    with pytest.raises(ValueError, match="n_samples >= n_features"):
        mc.PCA("mle").fit(X[:9])


def test_the_likeliest_number_of_repetitions_and_of_white_noise() -> None:
    X = np.random.default_rng(1).standard_normal((40, 2)) @ np.random.default_rng(2).standard_normal((2, 6)) * 2
    X += 0.5 * np.random.default_rng(3).standard_normal((40, 6))
    w = 1 + counts(40)
    one, other = mc.PCA("mle").fit(X, sample_weight=w), peers.PCA("mle").fit(np.repeat(X, w, axis=0))
    assert one.n_components_ == other.n_components_
    np.testing.assert_allclose(one.noise_variance_, other.noise_variance_, rtol=1e-10)
    assert mc.PCA("mle").fit(np.eye(5).repeat(3, axis=0)).n_components_ >= 1  # equal eigenvalues are no failure
