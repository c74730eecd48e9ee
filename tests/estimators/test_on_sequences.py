"""Estimators on strings and sequences."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline

import mercer as mc
from tests import sequence_oracles as truth
from tests.oracles import matrix
from tests.sequence_samples import EVERY, FORMS, NUMBERS, OPTIONS, dna, every, labelled, zero_norms_are_expected

OF_ANY_LETTERS = [
    mc.Spectrum(3), mc.Spectrum(3).normalized(), mc.Gappy(5, 3), mc.Gappy(9, 4).normalized(), mc.Mismatch(3, 1),
    mc.Subsequence(2, 0.5).normalized(), mc.Substring(0.5).normalized(), mc.LocalAlignment(**OPTIONS),
]  # fmt: skip
LEARNERS = [*OF_ANY_LETTERS, mc.WeightedDegree(3, 1), mc.Spectrum(3).both_strands().normalized()]


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", LEARNERS, ids=str)
def test_machines_on_strings_are_those_of_the_matrix(kernel: mc.Kernel) -> None:
    Z, y = labelled()
    new = [*labelled(10, seed=9)[0], Z[0]]
    K, cross = kernel.bind(Z)(Z), kernel.bind(Z)(new, Z)
    target = np.array([z.count("A") for z in Z], float)
    model, twin = mc.SVC(kernel=kernel, C=1.0).fit(Z, y), mc.SVC(kernel="precomputed", C=1.0).fit(K, y)
    np.testing.assert_allclose(model.decision_function(new), twin.decision_function(cross), rtol=1e-6, atol=1e-4)
    assert (model.predict(Z) == twin.predict(K)).all()
    assert [str(v) for v in model.support_vectors_] == [Z[i] for i in model.support_]
    ridge, twin = mc.KernelRidge(kernel=kernel).fit(Z, target), mc.KernelRidge(kernel="precomputed").fit(K, target)
    np.testing.assert_allclose(ridge.predict(new), twin.predict(cross), rtol=1e-6, atol=1e-6)
    one, twin = mc.OneClassSVM(kernel=kernel, nu=0.3).fit(Z), mc.OneClassSVM(kernel="precomputed", nu=0.3).fit(K)
    np.testing.assert_allclose(
        one.decision_function(new), twin.decision_function(cross), rtol=1e-5, atol=1e-3 * np.abs(cross).max()
    )
    logistic, twin = mc.KernelLogistic(kernel=kernel).fit(Z, y), mc.KernelLogistic(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(logistic.predict_proba(new), twin.predict_proba(cross), atol=1e-4)


MACHINES = [
    (lambda k: mc.SVC(kernel=k, C=1.0), "decision_function"), (lambda k: mc.KernelRidge(kernel=k), "predict"),
    (lambda k: mc.KernelLogistic(kernel=k), "predict_proba"),
    (lambda k: mc.OneClassSVM(kernel=k, nu=0.3), "decision_function"),
]  # fmt: skip
machines = pytest.mark.parametrize(
    ("make", "method"), MACHINES, ids=["SVC", "KernelRidge", "KernelLogistic", "OneClassSVM"]
)


@pytest.mark.thorough
@machines
@pytest.mark.parametrize("form", FORMS)
def test_machines_take_every_form(make: Any, method: str, form: str) -> None:
    Z, y = labelled(20, 16)
    new = labelled(6, 16, seed=3)[0]
    expected = getattr(make(mc.Spectrum(3)).fit(Z, y), method)(new)
    model = make(mc.Spectrum(3)).fit(FORMS[form](Z), y)
    np.testing.assert_array_equal(getattr(model, method)(new), expected)
    np.testing.assert_array_equal(getattr(model, method)(FORMS[form](new)), expected)


@machines
@pytest.mark.parametrize(
    "kernel",
    [mc.Spectrum(3), mc.Mismatch(3, 1), mc.Gappy(9, 4).normalized(), mc.GlobalAlignment(), mc.Spectrum(2).over("ACGT")],
    ids=str,
)
def test_models_are_saved_and_pickled(make: Any, method: str, kernel: mc.Kernel, tmp_path: Path) -> None:
    Z, y = labelled(36, 16)
    model = make(kernel).fit(Z, y)
    new = labelled(6, 16, seed=3)[0]
    expected = getattr(model, method)(new)
    mc.save(model, tmp_path / "model")
    again = mc.load(tmp_path / "model")
    np.testing.assert_array_equal(getattr(again, method)(new), expected)
    assert again.kernel_ == model.kernel_
    np.testing.assert_array_equal(getattr(pickle.loads(pickle.dumps(model)), method)(new), expected)


STORED: dict[str, Callable[[list[str]], Any]] = {
    "strange letters": lambda x: [s.translate({65: "\ud800", 67: "\0", 71: "\U0001f600"}) for s in x],
    **{
        name: FORMS[name]
        for name in (
            "bytes",
            "bytearrays",
            "lists",
            "tuples",
            "generator",
            "array of strings",
            "array of bytes",
            "array of objects",
        )
    },
    **{
        name: FORMS[name]
        for name in ("table of letters", "pandas", "pandas, shuffled index", "pandas strings", "polars", "polars lists")
    },
    **NUMBERS,
    "lists of tokens": lambda x: [[("letter", c) for c in s] for s in x],
}


@pytest.mark.thorough
@pytest.mark.parametrize("form", STORED)
@pytest.mark.parametrize("count", [8, 60])
def test_models_of_every_form_are_saved(form: str, count: int, tmp_path: Path) -> None:
    Z, y = labelled(count, 16)
    new = STORED[form](labelled(6, 16, seed=3)[0])
    new = list(new) if form == "generator" else new
    for kernel in (mc.Spectrum(2), mc.Mismatch(2, 1)):
        model = mc.SVC(kernel=kernel, C=0.1).fit(STORED[form](Z), y)
        mc.save(model, tmp_path / "model")
        np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(new), model.decision_function(new))
        np.testing.assert_array_equal(
            pickle.loads(pickle.dumps(model)).decision_function(new), model.decision_function(new)
        )


@pytest.mark.thorough
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_machines_on_data_frames(make: Any, tmp_path: Path) -> None:
    Z, y = labelled(40)
    age = np.random.default_rng(0).standard_normal(40)
    frame = make({"age": age, "dna": Z})
    kernel = mc.Gaussian(1.0).on(["age"]) + mc.Spectrum(3).normalized().on("dna")
    model = mc.SVC(kernel=kernel, C=1.0).fit(frame, y)
    K = mc.Gaussian(1.0)(age[:, None]) + mc.Spectrum(3).normalized()(Z)
    np.testing.assert_allclose(
        model.decision_function(frame), mc.SVC(kernel="precomputed", C=1.0).fit(K, y).decision_function(K), atol=1e-4
    )
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(frame), model.decision_function(frame))


@pytest.mark.thorough
@zero_norms_are_expected
@pytest.mark.parametrize(
    "kernel",
    [*OF_ANY_LETTERS, mc.GlobalAlignment(1.0), mc.BagOfWords(), mc.Spectrum(2).over("ACGT", "letter")],
    ids=str,
)
def test_words_and_letters_never_seen(kernel: mc.Kernel) -> None:
    Z, y = labelled(20, 16)
    model = mc.SVC(kernel=kernel, C=1.0).fit(Z, y)
    new = ["zzzzzzzzzzzzzzzz", "中文中文中文中文中文中文中文中文", "\ud800" * 16, "ACGTACGTACGTACGÿ", Z[0]]
    with np.errstate(all="raise", under="ignore"):
        values = model.decision_function(new)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values[-1], model.decision_function(Z[:1])[0], rtol=1e-10, atol=1e-12)
    if isinstance(kernel, mc.Spectrum | mc.Gappy | mc.Mismatch | mc.BagOfWords):
        np.testing.assert_allclose(values[:3], model.intercept_[0])


def test_an_empty_string_at_prediction_is_the_bias() -> None:
    Z, y = labelled(20, 16)
    for kernel in (mc.Spectrum(3), mc.Gappy(9, 4), mc.Substring(0.5), mc.Subsequence(2), mc.Mismatch(3, 1)):
        model = mc.SVC(kernel=kernel, C=1.0).fit(Z, y)
        np.testing.assert_allclose(model.decision_function(["", ""]), model.intercept_[0])


def test_predicting_nothing_is_nothing() -> None:
    Z, y = labelled(20, 16)
    for kernel in (mc.Spectrum(3), mc.Gappy(9, 4)):
        assert mc.SVC(kernel=kernel, C=1.0).fit(Z, y).decision_function([]).shape == (0,)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel", [*EVERY, mc.BagOfWords(), mc.Spectrum(2).over("AC", "letter").both_strands().normalized()], ids=str
)
def test_clones_and_texts_of_kernels(kernel: mc.Kernel, tmp_path: Path) -> None:
    assert clone(kernel) == kernel
    assert mc.parse(repr(kernel)) == kernel
    assert mc.parse(str(kernel)) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    mc.save(kernel, tmp_path / "kernel")
    assert mc.load(tmp_path / "kernel") == kernel
    assert hash(clone(kernel)) == hash(kernel)
    assert clone(mc.SVC(kernel=kernel)).kernel == kernel


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel",
    [
        mc.Mismatch(2, 1, "A·C"),
        mc.Mismatch(2, 1, "AC^"),
        mc.Mismatch(2, 1, "x²³"),
        mc.Mismatch(2, 1, "AC*-"),
        mc.Mismatch(2, 1, "'\"\\\n\0é😀"),
        mc.Mismatch(2, 1, "\ud800A"),
        mc.Mismatch(2, 1, [0, 1, -5]),
        mc.Mismatch(2, 1, ["noun", "verb"]),
        mc.Mismatch(2, 1, ("A", "C")),
        mc.Mismatch(2, 1, np.array(["A", "C"])),
        mc.Mismatch(2, 1, np.array([3, 4])),
        (mc.Spectrum(2).over("(.") + mc.Spectrum(3)).normalized(),
        (mc.Spectrum(2).over(").") + mc.Spectrum(3)).normalized(),
        (mc.Spectrum(2).over(" +") * mc.Spectrum(3)).normalized(),
        2 * (mc.Spectrum(2).over("[") + mc.Spectrum(1)),
        mc.LocalAlignment(scores="BLOSUM62"),
        mc.LocalAlignment(scores="blosum62"),
        mc.LocalAlignment(scores=("AC", [[1.0, -1.0], [-1.0, 2.0]])),
        mc.LocalAlignment(scores=("AC", np.eye(2))),
        mc.LocalAlignment(scores=(["noun", "verb"], np.eye(2))),
        mc.Spectrum(3, 1, np.array([0.1, 0.2, 0.3])),
        mc.Spectrum(3, 1, (1, 2, 3)),
        mc.Spectrum(np.int64(3)),
        mc.Subsequence(3, 1.0),
        mc.Substring(1.0, np.int32(4)),
        mc.GlobalAlignment("median"),
        mc.Spectrum(2).on("dna") + mc.Gaussian(1.0).on(["age"]),
    ],
    ids=str,
)
def test_kernels_of_strange_parameters_are_read_back(kernel: mc.Kernel, tmp_path: Path) -> None:
    assert mc.parse(repr(kernel)) == kernel
    assert mc.parse(str(kernel)) == kernel
    assert clone(kernel) == kernel
    mc.save(kernel, tmp_path / "kernel")
    assert mc.load(tmp_path / "kernel") == kernel
    assert isinstance(hash(kernel), int)


def test_tables_of_scores() -> None:
    Z = ["WARD", "WARS", "XJ*", "", "ward"]
    named = mc.LocalAlignment(scores="BLOSUM62")
    assert named.psd is True
    K = named(Z)
    assert K[0, 1] > K[0, 4]
    table = mc.LocalAlignment(scores=("AC", [[2.0, -1.0], [-1.0, 2.0]]))
    np.testing.assert_allclose(table(["ACCA", "CA"]), mc.LocalAlignment(2.0, -1.0)(["ACCA", "CA"]), rtol=1e-14)

    def score(a: str, b: str) -> float:
        return {("A", "A"): 2.0, ("C", "C"): 3.0, ("A", "C"): -1.0, ("C", "A"): -1.0}.get((a, b), -1.0)

    others = mc.LocalAlignment(scores=("CA", [[3.0, -1.0], [-1.0, 2.0]]))
    Z = ["ACNA", "XYC", "NC", "CA", ""]
    expected = matrix(lambda x, z: truth.local_alignment(x, z, score, 0.5, 3.0, 1.0), Z)
    np.testing.assert_allclose(others(Z), expected, rtol=1e-12)


@pytest.mark.thorough
def test_scikit_learn_takes_lists_of_strings() -> None:
    Z, y = labelled()
    cv = KFold(4, shuffle=True, random_state=0)
    model = mc.SVC(kernel=mc.Spectrum(3).normalized(), C=1.0)
    scores = cross_val_score(model, Z, y, cv=cv)
    K = mc.Spectrum(3).normalized()(Z)
    np.testing.assert_array_equal(scores, cross_val_score(mc.SVC(kernel="precomputed", C=1.0), K, y, cv=cv))
    for form in (np.array, pd.Series, FORMS["pandas, shuffled index"]):
        np.testing.assert_array_equal(cross_val_score(model, form(Z), y, cv=cv), scores)
    grid = GridSearchCV(mc.SVC(kernel=mc.Spectrum(3)), {"kernel__k": [2, 3, 5], "C": [0.1, 1.0]}, cv=cv).fit(Z, y)
    ours = mc.KernelSearchCV(mc.SVC(kernel=mc.Spectrum(3)), {"kernel__k": [2, 3, 5], "C": [0.1, 1.0]}, cv=cv).fit(Z, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"])
    assert ours.best_params_ == grid.best_params_
    np.testing.assert_array_equal(ours.predict(Z), grid.predict(Z))
    piped = Pipeline([("svc", mc.SVC(kernel=mc.Gappy(5, 3).normalized(), C=10.0))]).fit(Z, y)
    assert piped.score(Z, y) > 0.9


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", [mc.Spectrum(3), mc.Mismatch(2, 1)], ids=str)
def test_searches_take_every_form(form: str, kernel: mc.Kernel) -> None:
    Z, y = labelled(24, 16)
    cv = KFold(3, shuffle=True, random_state=0)
    search = mc.KernelSearchCV(mc.SVC(kernel=kernel), {"kernel__k": [2, 3]}, cv=cv)
    expected = clone(search).fit(Z, y)
    found = clone(search).fit(FORMS[form](Z), y)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(found.best_estimator_.support_, expected.best_estimator_.support_)
    np.testing.assert_array_equal(found.predict(Z), expected.predict(Z))


def test_sample_weights_follow_the_strings() -> None:
    Z, y = labelled(20, 16)
    w = np.arange(20) % 3
    new = labelled(5, 16, seed=2)[0]
    repeated = [z for z, n in zip(Z, w, strict=True) for _ in range(n)]
    for kernel in (mc.Spectrum(3), mc.Mismatch(3, 1), mc.BagOfWords()):
        some = mc.SVC(kernel=kernel, C=0.1, tol=1e-8).fit(Z, y, sample_weight=w)
        twin = mc.SVC(kernel=kernel, C=0.1, tol=1e-8).fit(repeated, np.repeat(y, w))
        np.testing.assert_allclose(some.decision_function(new), twin.decision_function(new), atol=1e-5)
        assert [Z[i] for i in some.support_] == list(some.support_vectors_)


def test_functions_of_strings() -> None:
    Z, y = labelled(20, 16)
    model = mc.SVC(kernel=mc.Spectrum(3), C=1.0).fit(Z, y)
    f, new = model.function_, [*labelled(5, 16, seed=2)[0], "zzzz", ""]
    expected = model.decision_function(new)
    np.testing.assert_allclose(f(new), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(f.simplified()(new), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(f.simplified()(s for s in new), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose((f + f)(new), 2 * expected, rtol=1e-10, atol=1e-12)


@pytest.mark.thorough
@every
def test_threads_change_no_bit(kernel: mc.Kernel) -> None:
    Z = dna(210, 20, seed=6)
    one, two = mc.Compute(threads=1), mc.Compute(threads=2)
    np.testing.assert_array_equal(kernel.gram(Z, compute=one).dense(), kernel.gram(Z, compute=two).dense())
    np.testing.assert_array_equal(
        kernel.gram(Z[:50], Z, compute=one).dense(), kernel.gram(Z[:50], Z, compute=two).dense()
    )
    v = np.random.default_rng(0).standard_normal(210)
    np.testing.assert_array_equal(kernel.gram(Z, compute=one) @ v, kernel.gram(Z, compute=two) @ v)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel",
    [mc.Spectrum(3), mc.Gappy(9, 4).normalized(), mc.Subsequence(2, 0.5), mc.LocalAlignment(**OPTIONS)],
    ids=str,
)
def test_threads_change_no_model(kernel: mc.Kernel) -> None:
    Z, y = labelled(150, 20)
    values = [
        mc.SVC(kernel=kernel, C=1.0, compute=mc.Compute(threads=n)).fit(Z, y).decision_function(Z) for n in (1, 2)
    ]
    np.testing.assert_array_equal(*values)
