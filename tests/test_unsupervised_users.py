"""What users of the unsupervised learners may expect."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.cluster
import sklearn.decomposition
import sklearn.mixture
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer as mc

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) * [3, 2, 1]
X[:20] += 4
X[20:40] -= 4
Y = np.c_[X[:, :1] ** 2 + 0.1 * rng.normal(size=(60, 1)), rng.normal(size=(60, 1))]
N, NY = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
ORDER = rng.permutation(60)
REPEATS = rng.integers(0, 4, 60)
TARGET = np.repeat([0, 1, 2], 20)
K, KN = mc.Gaussian(0.1)(X), mc.Gaussian(0.1)(N, X)

ONE: dict[str, Callable[[], Any]] = {
    "PCA": lambda: mc.PCA(2),
    "KernelPCA": lambda: mc.KernelPCA(2),
    "KernelHebbian": lambda: mc.KernelHebbian(2),
    "KMeans": lambda: mc.KMeans(3, random_state=0),
    "KernelKMeans": lambda: mc.KernelKMeans(3, random_state=0),
    "SpectralClustering": lambda: mc.SpectralClustering(3, random_state=0),
    "GaussianMixture": lambda: mc.GaussianMixture(2, random_state=0),
    "KernelPCANovelty": lambda: mc.KernelPCANovelty(2),
}
TWO: dict[str, Callable[[], Any]] = {
    "CCA": lambda: mc.CCA(1),
    "KernelCCA": lambda: mc.KernelCCA(1, alpha=0.1),
    "TemporalKernelCCA": lambda: mc.TemporalKernelCCA(max_lag=2, n_bootstrap=10, alpha=0.1),
}
ALL = ONE | TWO
MAPS = ["PCA", "KernelPCA", "KernelHebbian", "KMeans", "KernelKMeans"]
WEIGHTED = [name for name in ONE if name != "KernelHebbian"]


def fitted(name: str, A: Any = X, B: Any = Y) -> Any:
    return ALL[name]().fit(A, B) if name in TWO else ALL[name]().fit(A)


def partition(labels: Any) -> np.ndarray:
    """Labels numbered as they appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def output(model: Any, A: Any = X) -> np.ndarray:
    for method in ("transform", "score_samples"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(A))
    return partition(model.labels_)


def outcome(A: Any, B: Any, **options: Any) -> Any:
    return mc.mmd_test(A, B, **{"n_permutations": 19, "random_state": 0} | options)


def locked(A: np.ndarray) -> np.ndarray:
    A = A.copy()
    A.flags.writeable = False
    return A


def tensor(A: np.ndarray) -> Any:
    return pytest.importorskip("torch").tensor(A)


def named(A: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(A, columns=list("abc")[: A.shape[1]])


CONTAINERS: dict[str, Callable[[np.ndarray], Any]] = {
    "lists": np.ndarray.tolist,
    "Fortran": np.asfortranarray,
    "read-only": locked,
    "strided": lambda A: np.repeat(A, 2, axis=0)[::2],
    "big-endian": lambda A: A.astype(">f8"),
    "object": lambda A: A.astype(object),
    "pandas": named,
    "pandas without names": pd.DataFrame,
    "polars": lambda A: pl.DataFrame(A, schema=list("abc")[: A.shape[1]]),
    "torch": tensor,
} | {form: getattr(sparse, form + "_array") for form in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")}


# containers


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", ALL)
def test_containers_do_not_matter(name: str, container: str) -> None:
    if name == "GaussianMixture" and container in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        with pytest.raises(TypeError, match="toarray"):
            fitted(name, CONTAINERS[container](X))
        return
    make = CONTAINERS[container]
    np.testing.assert_allclose(output(fitted(name, make(X), make(Y)), make(X)), output(fitted(name)), atol=1e-9)


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_do_not_matter_to_tests(container: str) -> None:
    make = CONTAINERS[container]
    assert mc.hsic_test(make(X), make(Y), n_permutations=9, random_state=0).statistic == pytest.approx(
        mc.hsic_test(X, Y, n_permutations=9, random_state=0).statistic, rel=1e-9
    )
    assert mc.kci_test(make(X[:, :1]), make(Y), make(X[:, 1:])).pvalue == pytest.approx(
        mc.kci_test(X[:, :1], Y, X[:, 1:]).pvalue, rel=1e-6
    )
    assert outcome(make(X), make(N)).statistic == pytest.approx(outcome(X, N).statistic, rel=1e-9)


def test_samples_in_different_containers() -> None:
    expected = pytest.approx(outcome(X, N).statistic, rel=1e-9)
    assert outcome(named(X), N).statistic == expected
    assert outcome(named(X), named(N)[["c", "a", "b"]]).statistic == expected
    assert outcome(sparse.csr_array(X), N).statistic == expected
    assert outcome(named(X), pl.DataFrame(N, schema=list("abc"))).statistic == expected


def test_a_tensor_and_an_array_are_two_samples() -> None:
    assert outcome(tensor(X), N).statistic == pytest.approx(outcome(X, N).statistic, rel=1e-9)


def test_one_dimension_is_one_column_for_all_tests_or_for_none() -> None:
    expected = outcome(X[:, :1], N[:, :1]).statistic
    mc.hsic_test(X[:, 0], Y[:, 0], n_permutations=9)
    mc.kci_test(X[:, 0], Y[:, 0], X[:, 1])
    assert outcome(X[:, 0], N[:, 0]).statistic == pytest.approx(expected)


@pytest.mark.parametrize("name", ALL)
def test_float32(name: str) -> None:
    np.testing.assert_allclose(
        output(fitted(name, X.astype("f"), Y.astype("f")), X.astype("f")), output(fitted(name)), atol=2e-4, rtol=1e-3
    )


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_values_are_named(name: str, bad: float) -> None:
    A = X.copy()
    A[3, 1] = bad
    with pytest.raises(ValueError, match=r"Row 3, column 1 is (a missing value \(NaN\)|infinite)"):
        fitted(name, A)


@pytest.mark.parametrize("name", ALL)
def test_messages_name_the_class_the_user_knows(name: str) -> None:
    for A in (X * np.nan, X[:, :, None], X[:, :0]):
        with pytest.raises(ValueError, match=r".") as error:
            fitted(name, A)
        assert not any(word in str(error.value) for word in ("Side", "Moments"))


@pytest.mark.parametrize("name", ["CCA", "KernelCCA"])
def test_messages_of_two_views(name: str) -> None:
    model = fitted(name)
    with pytest.raises(ValueError, match=f"X has 2 features, but {name} is expecting 3"):
        model.transform(N[:, :2])
    with pytest.raises(ValueError, match=r"constant|the same for all"):
        fitted(name, X, np.ones((60, 1)))
    for call in (model.test, model.score):
        with pytest.raises(ValueError, match=r"60.*4|inconsistent"):
            call(X, Y[:4])


def test_words_about_a_linear_method_do_not_speak_of_widths() -> None:
    with pytest.raises(ValueError, match=r".") as error:
        mc.CCA(1).fit(X, np.ones((60, 1)))
    assert "Gaussian" not in str(error.value)


def test_nothing_to_fit_is_no_crash() -> None:
    with pytest.raises(ValueError, match=r"."):
        mc.TemporalKernelCCA().fit(None, None)
    with pytest.raises(ValueError, match="sample"):
        mc.KernelCCA(1).fit(X[:2], Y[:2])
    with pytest.raises(ValueError, match=r"3 and 2 (columns|features)|columns"):
        outcome(X, Y)


# parameters


@pytest.mark.parametrize("name", [name for name in ALL if "Clustering" not in name and "Means" not in name])
@pytest.mark.parametrize("value", [0, -1, 1.5, "many", np.nan])
def test_numbers_of_components_are_checked(name: str, value: Any) -> None:
    model = ALL[name]().set_params(n_components=value)
    with pytest.raises(ValueError, match="n_components"):
        model.fit(X, Y)


@pytest.mark.parametrize("name", ["KMeans", "KernelKMeans", "SpectralClustering"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "many", 61])
def test_numbers_of_clusters_are_checked(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="n_clusters"):
        ALL[name]().set_params(n_clusters=value).fit(X)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (mc.KMeans(2, tol=-1.0), "tol"),
        (mc.KernelHebbian(2, tol=-1.0), "tol"),
        (mc.KernelHebbian(2, tol=np.nan), "tol"),
        (mc.GaussianMixture(2, tol=-1.0), "tol"),
        (mc.GaussianMixture(2, means_init=np.full((2, 3), np.nan)), "means_init"),
        (mc.GaussianMixture(2, covariance_type="round"), "covariance_type"),
        (mc.KernelPCA(2, solver="x"), "solver"),
        (mc.KernelPCA(2, tol=-1), "tol"),
        (mc.KernelPCANovelty(2, contamination=0.7), "contamination"),
        (mc.SpectralClustering(2, cut="x"), "cut"),
        (mc.KernelCCA(1, rank=0), "rank"),
        (mc.KernelCCA(1, alpha=-1), "alpha"),
        (mc.KernelCCA(1, alpha=0), "alpha"),
        (mc.TemporalKernelCCA(max_lag=1, n_bootstrap=-1), "n_bootstrap"),
        (mc.TemporalKernelCCA(max_lag=-1), "max_lag"),
    ],
    ids=str,
)
def test_parameters_are_checked(model: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        model.fit(X, Y)


def test_without_bootstrap_there_is_no_band() -> None:
    model = mc.TemporalKernelCCA(max_lag=1, n_bootstrap=0, alpha=0.1).fit(X, Y)
    assert model.band_ is None or np.isnan(model.band_).all()


def test_an_array_of_candidates_is_a_list_of_candidates() -> None:
    assert (
        mc.KernelCCA(1, alpha=np.array([0.1, 1.0])).fit(X, Y).alpha_
        == mc.KernelCCA(1, alpha=[0.1, 1.0]).fit(X, Y).alpha_
    )
    assert (
        mc.KernelCCA(1, alpha=np.logspace(-2, 1, 4)).fit(X, Y).alpha_
        == mc.KernelCCA(1, alpha=[*np.logspace(-2, 1, 4)]).fit(X, Y).alpha_
    )


def test_more_components_than_rank() -> None:
    with pytest.warns(UserWarning, match="rank 59, 100 components"):
        model = mc.KernelPCA(100).fit(X)
    assert model.transform(N).shape == (7, 100)


# weights


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize(
    "weights",
    [np.zeros(60), np.r_[-1.0, np.ones(59)], np.ones(3), np.r_[np.nan, np.ones(59)], np.ones((60, 2)), ["a"] * 60],
)
def test_weights_are_checked(name: str, weights: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        ALL[name]().fit(X, sample_weight=weights)


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


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("SpectralClustering", "TemporalKernelCCA")])
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    np.testing.assert_allclose(
        np.sort(output(fitted(name, X[ORDER], Y[ORDER]), N)), np.sort(output(fitted(name), N)), atol=1e-6
    )


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


def test_clusters_are_not_worse_than_those_of_scikit_learn() -> None:
    A = np.concatenate(
        [np.random.default_rng(1).normal(size=(20, 2)) + c for c in 20 * np.random.default_rng(2).normal(size=(12, 2))]
    )
    theirs = sklearn.cluster.KMeans(12, n_init=10, random_state=0).fit(A).inertia_
    for model in (mc.KMeans(12, random_state=0), mc.KernelKMeans(12, mc.Linear(), random_state=0)):
        assert model.fit(A).inertia_ <= 1.02 * theirs


# data frames and pipelines


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_in_and_out(name: str, frame: str) -> None:
    A = named(X).set_axis(range(100, 160)) if frame == "pandas" else pl.DataFrame(X, schema=list("abc"))
    model = ALL[name]().set_output(transform=frame)
    out = model.fit_transform(A)
    assert type(out) is type(A)
    assert list(out.columns) == list(model.get_feature_names_out())
    if frame == "pandas":
        assert list(out.index) == list(range(100, 160))
    np.testing.assert_allclose(np.asarray(out), output(ALL[name]().fit(X)), atol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_refitting_is_fitting(name: str) -> None:
    model = fitted(name, pd.DataFrame(rng.normal(size=(50, 5)), columns=list("vwxyz")), rng.normal(size=(50, 4)))
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(output(model), output(fitted(name)))


@pytest.mark.parametrize("name", ALL)
def test_models_travel(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    mc.save(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), mc.load(tmp_path / "model"), clone(model).fit(X, Y)):
        np.testing.assert_array_equal(output(copy), output(model))


MIXED = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": ["abc", "abd", "xyz"] * 20})
COMPOSED = mc.Gaussian(0.5).on(["a", "b"]) + mc.Spectrum(2).on("w") * mc.Gaussian(1.0).on("a")


@pytest.mark.parametrize(
    "kernel", [COMPOSED, COMPOSED.normalized(), COMPOSED.centered(), COMPOSED.normalized().centered()], ids=str
)
@pytest.mark.parametrize("learner", [mc.KernelPCA, mc.KernelHebbian, mc.KernelKMeans, mc.KernelPCANovelty])
def test_composed_kernels_on_frames(learner: Any, kernel: mc.Kernel) -> None:
    model = learner(2, kernel).fit(MIXED)
    np.testing.assert_allclose(output(model, MIXED[:5]), output(model, MIXED)[:5], atol=1e-10)


def test_pre_images_of_mixed_tables_are_rows() -> None:
    assert list(mc.KernelPCA(2, COMPOSED).fit(MIXED).inverse_transform(np.zeros((2, 2))).columns) == ["a", "b", "w"]


def test_pipelines_and_searches() -> None:
    pipe = make_pipeline(StandardScaler(), mc.KernelPCA(2, mc.Gaussian(0.1)), LogisticRegression())
    assert (
        GridSearchCV(pipe, {"kernelpca__kernel__gamma": [0.01, 0.1], "kernelpca__n_components": [1, 2]}, cv=3)
        .fit(X, TARGET)
        .best_score_
        > 0.8
    )
    pipe = make_pipeline(mc.KernelPCA(2, "precomputed"), LogisticRegression())
    assert (
        GridSearchCV(pipe, {"kernelpca__n_components": [1, 2]}, cv=3, error_score="raise").fit(K, TARGET).best_score_
        > 0.8
    )
    assert GridSearchCV(mc.GaussianMixture(random_state=0), {"n_components": [1, 2]}, cv=3).fit(X).best_score_ < 0
    assert GridSearchCV(mc.KernelCCA(1), {"alpha": [0.01, 0.1]}, cv=3).fit(X, Y).best_score_ > 0


# precomputed


def test_precomputed_matrices() -> None:
    np.testing.assert_allclose(
        mc.KernelPCA(3, "precomputed").fit(K).transform(KN),
        mc.KernelPCA(3, mc.Gaussian(0.1)).fit(X).transform(N),
        atol=1e-9,
    )
    ours, exact = (
        mc.KernelKMeans(3, "precomputed", random_state=0).fit(K),
        mc.KernelKMeans(3, mc.Gaussian(0.1), random_state=0).fit(X),
    )
    np.testing.assert_array_equal(ours.labels_, exact.labels_)
    np.testing.assert_array_equal(ours.predict(KN), exact.predict(N))
    with pytest.raises(ValueError, match="square"):
        mc.KernelPCA(3, "precomputed").fit(KN)
    with pytest.raises(ValueError, match="expecting 60"):
        mc.KernelPCA(3, "precomputed").fit(K).transform(KN[:, :5])


def test_a_precomputed_matrix_is_enough_in_training() -> None:
    np.testing.assert_array_equal(
        mc.KernelPCANovelty(3, "precomputed").fit_predict(K), mc.KernelPCANovelty(3, mc.Gaussian(0.1)).fit_predict(X)
    )
    np.testing.assert_allclose(
        mc.KernelKMeans(3, "precomputed", random_state=0).fit_transform(K),
        mc.KernelKMeans(3, mc.Gaussian(0.1), random_state=0).fit_transform(X),
        atol=1e-9,
    )


def test_a_negative_matrix_is_not_called_constant() -> None:
    with pytest.raises(ValueError, match=r"positive|negative|indefinite"):
        mc.KernelPCA(2, "precomputed").fit(-K)


def test_isolated_vertices_do_not_break_components() -> None:
    A = np.zeros((6, 6))
    A[:5, :5] = 1
    assert len(set(mc.SpectralClustering(2, "precomputed", random_state=0).fit(A).labels_[:5])) == 1
    A = np.zeros((8, 8))
    A[:3, :3] = A[3:6, 3:6] = 1
    labels = mc.SpectralClustering(4, "precomputed", random_state=0).fit(A).labels_
    assert len(set(labels[:3])) == len(set(labels[3:6])) == 1


def test_graphs_may_be_sparse() -> None:
    A = sparse.csr_array(np.kron(np.eye(3), np.ones((5, 5))))
    labels = mc.SpectralClustering(3, "precomputed", random_state=0).fit(A).labels_
    assert [len(set(labels[i : i + 5])) for i in (0, 5, 10)] == [1, 1, 1]


# there and back


def test_scores_to_go_back_from_are_checked() -> None:
    for model in (mc.KernelPCA(2).fit(X), mc.PCA(2).fit(X)):
        with pytest.raises(ValueError, match=r"2 components|2 features"):
            model.inverse_transform(np.zeros((2, 3)))
        with pytest.raises(ValueError, match=r"NaN|finite"):
            model.inverse_transform(np.full((1, 2), np.nan))


def test_back_from_tensors() -> None:
    model = mc.KernelPCA(2).fit(tensor(X))
    expected = mc.KernelPCA(2).fit(X).inverse_transform(np.zeros((1, 2)))
    np.testing.assert_allclose(np.asarray(model.inverse_transform(np.zeros((1, 2)))), expected, atol=1e-9)


def test_back_from_strings() -> None:
    words = ["abab", "abba", "bbbb", "aaaa"]
    assert mc.KernelPCA(2, mc.Spectrum(2)).fit(words).inverse_transform(np.zeros((1, 2)))[0] in words


# state


@pytest.mark.parametrize("name", ["KernelPCA", "KernelPCANovelty", "CCA", "KernelCCA"])
def test_a_failed_fit_leaves_no_mixture_of_two_models(name: str) -> None:
    model = fitted(name)
    before = output(model, N)
    with pytest.raises(ValueError, match=r"same|constant"):
        model.fit(np.full((60, 3), 100.0), Y)
    try:
        after = output(model, N)
    except ValueError:  # NotFittedError, say: as good
        return
    np.testing.assert_array_equal(after, before)


SETUPS = {
    "KernelPCA": ("mc.KernelPCA(2)", "R(20000, 3)"),
    "KernelKMeans": ("mc.KernelKMeans(3, random_state=0)", "R(15000, 3)"),
    "GaussianMixture": ("mc.GaussianMixture(3, random_state=0)", "R(200000, 3)"),
    "KernelHebbian": ("mc.KernelHebbian(2)", "R(100000, 3)"),
}


@pytest.mark.parametrize("name", SETUPS)
def test_an_interrupted_fit_ends_soon_and_leaves_no_mixture_of_two_models(name: str) -> None:
    model, data = SETUPS[name]
    script = f"""
        import os, signal, threading, time, warnings
        import numpy as np
        import mercer as mc
        from sklearn.exceptions import NotFittedError
        warnings.simplefilter("ignore")
        def R(n, d, r=np.random.default_rng(0)):
            return r.normal(size=(n, d))
        small, big, model = R(60, 3), 50 * {data}, {model}.fit(R(60, 3))
        if {name!r} == "GaussianMixture":
            model.set_params(n_components=30, tol=0.0, max_iter=100000)
        use = model.score_samples if hasattr(model, "score_samples") else model.transform
        before, sent = use(small), []
        def send():
            time.sleep(0.5)
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=send, daemon=True).start()
        try:
            model.fit(big)
            print("finished")
        except KeyboardInterrupt:
            late = time.perf_counter() - sent[0]
            try:
                state = "kept" if np.array_equal(use(small), before) else "mixed"
            except NotFittedError:
                state = "unfitted"
            model.set_params(**({{"max_iter": 5}} if {name!r} == "GaussianMixture" else {{}})).fit(R(60, 3))
            print(state, late)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, env=os.environ
    )
    assert result.returncode == 0, result.stderr[-500:]
    if result.stdout.strip() == "finished":
        pytest.skip("too fast to interrupt")
    state, late = result.stdout.split()
    assert float(late) < 3
    assert state in ("kept", "unfitted")


# degenerate data and seeds


@pytest.mark.parametrize("name", ["KMeans", "KernelKMeans", "SpectralClustering", "GaussianMixture"])
def test_copies_of_two_rows_are_two_clusters(name: str) -> None:
    A = np.repeat(X[[0, 30]], 30, axis=0)
    model = ALL[name]().set_params(**{"n_components" if name == "GaussianMixture" else "n_clusters": 2}).fit(A)
    labels = model.predict(A) if name == "GaussianMixture" else model.labels_
    assert len(set(labels[:30])) == len(set(labels[30:])) == 1
    assert labels[0] != labels[30]


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


def test_threads_do_not_change_results() -> None:
    A = np.random.default_rng(0).normal(size=(700, 4))
    for make in (
        lambda c: mc.KernelPCA(3, mc.Gaussian(0.1), compute=c),
        lambda c: mc.KernelKMeans(3, mc.Gaussian(0.1), random_state=0, compute=c),
    ):
        one, two = make(mc.Compute(threads=1)).fit(A).transform(A), make(mc.Compute(threads=2)).fit(A).transform(A)
        np.testing.assert_allclose(one, two, atol=1e-12)


# tests


def test_p_values_are_what_they_say() -> None:
    result = outcome(X, N, n_permutations=99)
    assert result.pvalue == (1 + (result.null >= result.statistic).sum()) / 100
    assert outcome(X, X).pvalue == 1
    assert outcome(np.ones((9, 1)), np.ones((9, 1))).pvalue == 1
    assert mc.hsic_test(X, np.ones((60, 1)), n_permutations=19).pvalue == 1
    with pytest.raises(ValueError, match="n_permutations"):
        outcome(X, N, n_permutations=0)


def test_the_linear_statistic_of_few_samples_proves_nothing() -> None:
    draws = np.random.default_rng(0)
    small = 0
    for _ in range(150):
        try:
            small += outcome(draws.normal(size=(4, 2)), draws.normal(size=(4, 2)), statistic="linear").pvalue < 1e-4
        except ValueError:  # too few: as good
            return
    assert small <= 2


def test_y_follows_x_at_a_positive_lag() -> None:
    x = np.random.default_rng(0).normal(size=(300, 1))
    y = np.roll(x, 3, axis=0)
    assert mc.TemporalKernelCCA(max_lag=5, n_bootstrap=5).fit(x, y).best_lag_ == 3
    assert mc.TemporalKernelCCA(max_lag=5, n_bootstrap=5).fit(y, x).best_lag_ == -3


# displays


def test_displays() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    from mercer import plots

    for A in (X, named(X), pl.DataFrame(X, schema=list("abc")), sparse.csr_array(X), pd.DataFrame(X), X + 1e8):
        plots.GramDisplay.from_kernel(mc.Gaussian(0.1), A, labels=TARGET)
        plots.EmbeddingDisplay.from_estimator(mc.KernelPCA(2).fit(A), A, TARGET)
        plots.ClusterDisplay.from_estimator(mc.KMeans(2, random_state=0).fit(A), A)
        plots.NoveltyDisplay.from_estimator(mc.KernelPCANovelty(2).fit(A), A, resolution=10)
        plt.close("all")
    plots.CorrelogramDisplay.from_estimator(mc.TemporalKernelCCA(max_lag=1, n_bootstrap=5).fit(X, Y))
    plt.close("all")
    with pytest.raises(ValueError, match="60 samples") as error:
        plots.ClusterDisplay.from_estimator(mc.SpectralClustering(2, random_state=0).fit(X), N)
    assert "predict" not in str(error.value)  # there is none


def test_a_display_of_tensors() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    from mercer import plots

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plots.NoveltyDisplay.from_estimator(mc.KernelPCANovelty(2).fit(tensor(X)), tensor(X), resolution=10)
    plt.close("all")
