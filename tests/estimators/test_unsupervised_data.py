"""What users of the unsupervised learners give them: containers, frames, precomputed matrices; and the way back."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer as mc
from tests.estimators.unsupervised_samples import ALL, TARGET, N, X, Y, fitted, named, outcome, output, rng, tensor

K, KN = mc.Gaussian(0.1)(X), mc.Gaussian(0.1)(N, X)

MAPS = ["PCA", "KernelPCA", "KernelHebbian", "KMeans", "KernelKMeans"]


def locked(A: np.ndarray) -> np.ndarray:
    A = A.copy()
    A.flags.writeable = False
    return A


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
containers = pytest.mark.parametrize(
    "container", [pytest.param(name, marks=pytest.mark.torch) if name == "torch" else name for name in CONTAINERS]
)


@pytest.mark.thorough
@containers
@pytest.mark.parametrize("name", ALL)
def test_containers_do_not_matter(name: str, container: str) -> None:
    if name == "GaussianMixture" and container in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        with pytest.raises(TypeError, match="toarray"):
            fitted(name, CONTAINERS[container](X))
        return
    make = CONTAINERS[container]
    np.testing.assert_allclose(output(fitted(name, make(X), make(Y)), make(X)), output(fitted(name)), atol=1e-9)


@pytest.mark.thorough
@containers
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


@pytest.mark.torch
def test_a_tensor_and_an_array_are_two_samples() -> None:
    assert outcome(tensor(X), N).statistic == pytest.approx(outcome(X, N).statistic, rel=1e-9)


def test_one_dimension_is_one_column_for_all_tests_or_for_none() -> None:
    expected = outcome(X[:, :1], N[:, :1]).statistic
    mc.hsic_test(X[:, 0], Y[:, 0], n_permutations=9)
    mc.kci_test(X[:, 0], Y[:, 0], X[:, 1])
    assert outcome(X[:, 0], N[:, 0]).statistic == pytest.approx(expected)


@pytest.mark.thorough
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


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_refitting_is_fitting(name: str) -> None:
    model = fitted(name, pd.DataFrame(rng.normal(size=(50, 5)), columns=list("vwxyz")), rng.normal(size=(50, 4)))
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(output(model), output(fitted(name)))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_models_travel(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    mc.save(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), mc.load(tmp_path / "model"), clone(model).fit(X, Y)):
        np.testing.assert_array_equal(output(copy), output(model))


MIXED = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": ["abc", "abd", "xyz"] * 20})
COMPOSED = mc.Gaussian(0.5).on(["a", "b"]) + mc.Spectrum(2).on("w") * mc.Gaussian(1.0).on("a")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel", [COMPOSED, COMPOSED.normalized(), COMPOSED.centered(), COMPOSED.normalized().centered()], ids=str
)
@pytest.mark.parametrize("learner", [mc.KernelPCA, mc.KernelHebbian, mc.KernelKMeans, mc.KernelPCANovelty])
def test_composed_kernels_on_frames(learner: Any, kernel: mc.Kernel) -> None:
    model = learner(2, kernel).fit(MIXED)
    np.testing.assert_allclose(output(model, MIXED[:5]), output(model, MIXED)[:5], atol=1e-10)


def test_pre_images_of_mixed_tables_are_rows() -> None:
    assert list(mc.KernelPCA(2, COMPOSED).fit(MIXED).inverse_transform(np.zeros((2, 2))).columns) == ["a", "b", "w"]


@pytest.mark.thorough
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


@pytest.mark.torch
def test_back_from_tensors() -> None:
    model = mc.KernelPCA(2).fit(tensor(X))
    expected = mc.KernelPCA(2).fit(X).inverse_transform(np.zeros((1, 2)))
    np.testing.assert_allclose(np.asarray(model.inverse_transform(np.zeros((1, 2)))), expected, atol=1e-9)


def test_back_from_strings() -> None:
    words = ["abab", "abba", "bbbb", "aaaa"]
    assert mc.KernelPCA(2, mc.Spectrum(2)).fit(words).inverse_transform(np.zeros((1, 2)))[0] in words
