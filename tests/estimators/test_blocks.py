"""Machines on samples in blocks: as on the same samples in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer as mc
from mercer.data import DataError
from mercer.losses import Huber, Squared

K = mc.Laplacian(0.3)
RNG = np.random.default_rng(0)
N = 500
X, NEW = RNG.standard_normal((N, 3)), RNG.standard_normal((40, 3))
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1]
THREE = np.digitize(NUMBERS, [-0.5, 0.5])
W = RNG.uniform(0.1, 2.0, N) * (RNG.random(N) < 0.8)
Z = RNG.standard_normal((15, 3))
GAPS = np.where(RNG.random((N, 2)) < 0.2, np.nan, np.column_stack([NUMBERS, X[:, 0]]))
MODELS: dict[str, tuple[Any, Any]] = {
    "KernelRidge": (mc.KernelRidge(0.1, K), NUMBERS),
    "outputs": (mc.KernelRidge([0.1, 1.0], K), np.column_stack([NUMBERS, X[:, 0]])),
    "missing labels": (mc.KernelRidge(0.1, K), GAPS),
    "least squares": (mc.KernelRidge(0.0, K), NUMBERS),
    "another solver": (mc.KernelRidge(0.1, K, solver="cg"), NUMBERS),
    "KernelLogistic": (mc.KernelLogistic(0.1, K), THREE),
    "KernelHuber": (mc.KernelHuber(0.1, 0.3, K), NUMBERS),
    "KernelExpectile": (mc.KernelExpectile(0.1, 0.3, K), NUMBERS),
    "KernelPoisson": (mc.KernelPoisson(0.1, K), np.round(np.exp(NUMBERS))),
    "KernelQuantile": (mc.KernelQuantile([0.2, 0.8], 0.1, K, tol=1e-7), NUMBERS),
    "Huber": (mc.RepresenterMachine(Huber(0.3), 0.1, K), NUMBERS),
    "Squared": (mc.RepresenterMachine(Squared(), 0.1, K), NUMBERS),
    "SVC": (mc.SVC(1.0, K, tol=1e-7), (NUMBERS > 0).astype(int)),
    "classes": (mc.SVC(1.0, K, tol=1e-7), np.array(["x", "y", "z"])[THREE]),
    "probabilities": (mc.SVC(1.0, K, tol=1e-7, probability=True), THREE),
    "SVR": (mc.SVR(1.0, 0.1, K, tol=1e-7), NUMBERS),
}


def _outputs(model: Any, data: Any = NEW) -> list[Any]:
    ways = ("decision_function", "predict_proba", "predict")
    return [np.asarray(getattr(model, way)(data)) for way in ways if hasattr(model, way)]


def _same(found: Any, expected: Any, atol: float = 1e-7) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, atol=atol)
        else:
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.thorough
@pytest.mark.parametrize("weights", [None, W], ids=["", "weights"])
@pytest.mark.parametrize("name", MODELS)
def test_as_in_memory(name: str, weights: Any) -> None:
    model, y = MODELS[name]
    model = clone(model).set_params(centers=Z)
    blocks = mc.Blocks(X, rows=110)
    expected = clone(model).fit(X, y, sample_weight=weights)
    found = model.fit(blocks, y, sample_weight=weights)
    _same(_outputs(found), _outputs(expected))
    _same(_outputs(found, mc.Blocks(NEW, rows=11)), _outputs(found))
    assert found.n_features_in_ == 3


def _by_function() -> Iterator[Any]:
    return (X[i : i + 99] for i in range(0, N, 99))


FRAME = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
SOURCES: dict[str, Callable[[], Any]] = {
    "a function": lambda: mc.Blocks(_by_function),
    "a list": lambda: mc.Blocks([X[:7], X[7:400], X[400:]]),
    "empty blocks": lambda: mc.Blocks([X[:0], X[:7], X[:0], X[7:]]),
    "sparse": lambda: mc.Blocks(sparse.csr_array(X), rows=110),
    "float32": lambda: mc.Blocks(X.astype(np.float32), rows=110),
    "data frames": lambda: mc.Blocks([FRAME[:7], FRAME[7:]]),
    "a data frame": lambda: mc.Blocks(FRAME.to_pandas(), rows=110),
}


@pytest.mark.thorough
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ["KernelRidge", "KernelLogistic", "SVC"])
def test_other_sources(name: str, source: str) -> None:
    model, y = MODELS[name]
    expected = clone(model).set_params(centers=Z).fit(X, y)
    found = (
        clone(model).set_params(centers=Z.astype(np.float32) if source == "float32" else Z).fit(SOURCES[source](), y)
    )
    new = pl.DataFrame(NEW, schema=["a", "b", "c"]).to_pandas() if "frame" in source else NEW
    new = pl.from_pandas(new) if source == "data frames" else new
    _same(_outputs(found, new)[:1], _outputs(expected)[:1], atol=2e-3 if source == "float32" else 1e-6)
    if "frame" in source:
        assert found.feature_names_in_.tolist() == ["a", "b", "c"]


def test_strings() -> None:
    strings = ["".join(RNG.choice(list("ACGT"), 15)) for _ in range(90)]
    y = np.array([s.count("A") for s in strings], float)
    for centers in (strings[:10], 10):
        model = mc.KernelRidge(0.1, mc.Spectrum(2), centers=centers, random_state=0)
        blocks = mc.Blocks([strings[:40], strings[40:]])
        found, expected = clone(model).fit(blocks, y), clone(model).fit(strings, y)
        assert isinstance(found.support_vectors_, list)
        assert set(found.support_vectors_) <= set(strings)
        if centers != 10:
            np.testing.assert_allclose(found.predict(strings), expected.predict(strings), atol=1e-6)
        np.testing.assert_allclose(found.predict(mc.Blocks([strings[:30], strings[30:]])), found.predict(strings))
        assert found.score(strings, y) > 0.5


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["KernelRidge", "KernelLogistic", "SVC", "classes"])
def test_centers_are_drawn_from_all_blocks(name: str) -> None:
    model, y = MODELS[name]
    model = clone(model).set_params(centers=60, random_state=0).fit(mc.Blocks(X, rows=110), y)
    assert len(np.unique(model.support_)) == 60
    assert len(np.unique(model.support_ // 110)) == 5
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    given = clone(model).set_params(centers=X[model.support_]).fit(X, y)
    _same(_outputs(given), _outputs(model), atol=1e-6)
    weighted = clone(model).fit(mc.Blocks(X, rows=110), y, sample_weight=W)
    assert (W[weighted.support_] > 0).all()


def test_a_class_of_weight_zero_is_not_there() -> None:
    weights = np.where(THREE == 1, 0.0, 1.0)
    for name in ("KernelLogistic", "probabilities"):
        model = clone(MODELS[name][0]).set_params(centers=Z)
        found = clone(model).fit(mc.Blocks(X, rows=110), THREE, sample_weight=weights)
        np.testing.assert_array_equal(found.classes_, [0, 2])
        _same(_outputs(found), _outputs(model.fit(X, THREE, sample_weight=weights)))


def test_other_choices_of_landmarks() -> None:
    for rule in ("kmeans++", "leverage", "pivoted"):
        model = mc.KernelRidge(0.1, mc.Nystrom(K, 30, rule, random_state=0)).fit(mc.Blocks(X, rows=110), NUMBERS)
        assert model.score(mc.Blocks(X, rows=90), NUMBERS) > 0.8


def test_what_a_kernel_takes_from_data_is_that_of_a_sample() -> None:
    model = mc.KernelRidge(0.1, mc.Gaussian("median"), centers=Z).fit(mc.Blocks(X, rows=110), NUMBERS)
    assert model.kernel_ == mc.Gaussian("median").bind(X)  # all of them, where they are few


@pytest.mark.parametrize("centers", [Z, 20], ids=["given", "drawn"])
@pytest.mark.parametrize("row", [5, 345, 499])
def test_a_bad_cell_is_named_with_its_block(row: int, centers: Any) -> None:
    bad = X.copy()
    bad[row, 1] = np.nan
    block = row // 110
    said = rf"Block {block}, samples {110 * block} to .*: Row {row - 110 * block}, column 1"
    with pytest.raises(DataError, match=said):
        mc.KernelRidge(0.1, K, centers=centers).fit(mc.Blocks(bad, rows=110), NUMBERS)
    model = mc.SVC(1.0, K, centers=Z).fit(X, THREE)
    with pytest.raises(DataError, match=said):
        model.predict(mc.Blocks(bad, rows=110))


def test_a_bad_cell_of_many_samples() -> None:
    """Beyond those from which landmarks are drawn, and among them."""
    many = RNG.standard_normal((25_000, 2))
    many[20_500, 0] = np.inf
    for seed in range(3):
        with pytest.raises(DataError, match=r"Block 5, samples 20000 to 23999: Row 500, column 0"):
            mc.KernelRidge(0.1, K, centers=5, random_state=seed).fit(mc.Blocks(many, rows=4000), many[:, 1])


def test_blocks_that_do_not_fit_together() -> None:
    with pytest.raises(DataError, match=r"Block 1, samples 60 to 119: .*2 features"):
        mc.KernelRidge(0.1, K, centers=Z).fit(mc.Blocks([X[:60], X[60:120, :2]]), NUMBERS[:120])
    parts = [FRAME[:60].to_pandas(), FRAME[60:120].select("c", "a", "b").to_pandas()]
    with pytest.raises(DataError, match=r"Block 1, samples 60 to 119: .*feature names"):
        mc.KernelRidge(0.1, K, centers=Z).fit(mc.Blocks(parts), NUMBERS[:120])


def test_passes_that_differ() -> None:
    passes = 0

    def shrinking() -> Iterator[Any]:
        nonlocal passes
        passes += 1
        yield X[:100]
        yield X[100 : 200 if passes < 4 else 190]

    with pytest.raises(DataError, match="Block 1 has 90 samples"):
        mc.KernelRidge(0.1, K, centers=Z).fit(mc.Blocks(shrinking), NUMBERS[:200])


def test_what_is_refused() -> None:
    blocks = mc.Blocks(X, rows=110)
    with pytest.raises(ValueError, match="give centers, such as centers=2000"):
        mc.KernelRidge().fit(blocks, NUMBERS)
    with pytest.raises(ValueError, match="NuSVC does not learn from blocks"):
        mc.NuSVC().fit(blocks, THREE)
    for machine in (mc.KernelPCA(2), mc.OneClassSVM(0.2), mc.KernelKMeans(2)):
        with pytest.raises(TypeError, match="does not take blocks"):
            machine.fit(blocks)
    machine = mc.KernelRidge(centers=5, random_state=0)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[500, 499\]"):
        machine.fit(blocks, NUMBERS[1:])
    with pytest.raises(ValueError, match="requires y"):
        machine.fit(blocks, None)
    with pytest.raises(ValueError, match="NaN"):
        machine.fit(blocks, np.where(np.arange(N) == 3, np.nan, NUMBERS))
    with pytest.raises(ValueError, match=r"sample_weight|weights"):
        machine.fit(blocks, NUMBERS, sample_weight=W[1:])
    for nothing in ([], [X[:0]]):
        with pytest.raises(DataError, match="no samples"):
            machine.fit(mc.Blocks(nothing), [])
