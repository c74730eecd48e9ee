"""Dask collections: what is learnt where the blocks lie is what is learnt in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import mercer as mc
from mercer.losses import EpsilonInsensitive, Squared
from mercer.runtime import watch

N, ROWS = 600, 170
NAMES = ["a", "b", "c"]


def _data() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(N)
    return X, y, rng.uniform(0.2, 3.0, N) * (rng.random(N) > 0.05)


X, Y, W = _data()
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [0.3, 1.2])]
TARGETS = {
    "number": Y,
    "two": Y > 0.8,
    "three": LABELS,
    "count": np.maximum(0, np.round(Y)),
    "columns": np.column_stack([Y, X[:, 2] * Y]),
    None: None,
}
KERNEL, CENTERS = mc.Gaussian(0.4), X[:40].copy()
WITH = {"kernel": KERNEL, "centers": CENTERS}
BY_LANDMARKS = mc.Nystrom(KERNEL, landmarks=CENTERS)


# estimator, targets, what to compare, and how near it is to be
CASES: dict[str, tuple[Any, str | None, str, float]] = {
    "ridge": (mc.KernelRidge(0.1, tol=1e-11, **WITH), "number", "predict", 1e-8),
    "ridge of two outputs": (mc.KernelRidge([0.1, 1.0], tol=1e-11, **WITH), "columns", "predict", 1e-8),
    "ridge without bias": (mc.KernelRidge(0.1, tol=1e-11, fit_intercept=False, **WITH), "number", "predict", 1e-8),
    "features": (
        mc.KernelRidge(0.1, mc.RandomFeatures(KERNEL, 30, random_state=0), tol=1e-11), "number", "predict", 1e-6
    ),
    "linear": (mc.KernelRidge(0.1, mc.Linear(), tol=1e-11), "number", "predict", 1e-8),
    "squared": (mc.RepresenterMachine(Squared(), 0.1, tol=1e-11, **WITH), "number", "predict", 1e-8),
    "huber": (mc.KernelHuber(0.1, 0.3, tol=1e-13, **WITH), "number", "predict", 1e-6),
    "expectile": (mc.KernelExpectile(0.1, 0.8, tol=1e-13, **WITH), "number", "predict", 1e-6),
    "poisson": (mc.KernelPoisson(0.1, tol=1e-13, **WITH), "count", "predict", 1e-6),
    "quantile": (mc.KernelQuantile(0.3, tol=1e-3, **WITH), "number", "predict", 1e-2),
    "logistic": (mc.KernelLogistic(0.1, tol=1e-13, **WITH), "two", "decision_function", 1e-6),
    "logistic of three": (
        mc.KernelLogistic(0.1, tol=1e-13, class_weight="balanced", **WITH), "three", "predict_proba", 1e-6
    ),
    "svc": (mc.SVC(1.0, tol=1e-3, **WITH), "two", "decision_function", 1e-2),
    "svc of three": (mc.SVC(1.0, tol=1e-2, class_weight="balanced", **WITH), "three", "_values", 5e-2),
    "svr": (mc.SVR(1.0, 0.1, tol=1e-2, **WITH), "columns", "predict", 5e-2),
    "own loss": (mc.RepresenterMachine(EpsilonInsensitive(0.2), 0.5, tol=1e-3, **WITH), "number", "predict", 1e-2),
    "pca": (mc.KernelPCA(4, BY_LANDMARKS), None, "transform", 1e-9),
    "mixture": (mc.GaussianMixture(2, random_state=0), None, "predict_proba", 1e-9),
    "variances": (mc.GaussianMixture(2, covariance_type="diag", random_state=0), None, "score_samples", 1e-9),
}  # fmt: skip


def _array(values: Any) -> Any:
    return da.from_array(values, chunks=(ROWS, *values.shape[1:]))


def _frame(values: Any) -> Any:
    columns = NAMES[: values.shape[1]] if values.ndim == 2 else None
    table = pd.DataFrame(values, columns=columns) if values.ndim == 2 else pd.Series(values)
    return dd.from_pandas(table, npartitions=4)


def _delayed(values: Any) -> Any:
    return [dask.delayed(np.copy)(values[k : k + ROWS]) for k in range(0, N, ROWS)]


KINDS: dict[str, Callable[[Any], Any]] = {"array": _array, "frame": _frame, "delayed": _delayed}
# each machine from one kind of collection, by turns, and two of them from all
LONG = ("svc of three", "svr", "own loss")  # many passes
FORMS = [
    pytest.param(name, kind, marks=pytest.mark.slow) if name in LONG else (name, kind)
    for i, name in enumerate(CASES)
    for k, kind in enumerate(KINDS)
    if i % len(KINDS) == k or name in ("ridge", "pca")
]


def _answer(machine: Any, method: str, given: Any = X) -> Any:
    if method == "_values":
        return machine._values(given)
    return getattr(machine, method)(given)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.thorough
@pytest.mark.parametrize(("name", "kind"), FORMS)
def test_a_collection_is_learnt_from_as_an_array_is(name: str, kind: str) -> None:
    machine, target, method, near = CASES[name]
    spread, y = KINDS[kind], TARGETS[target]
    given = () if y is None else (y,)
    here = clone(machine).fit(X, *given, sample_weight=W)
    there = clone(machine).fit(spread(X), *map(spread, given), sample_weight=spread(W))
    found, wanted = _answer(there, method), _answer(here, method)
    assert np.abs(np.asarray(found, float) - np.asarray(wanted, float)).max() <= near * max(1.0, np.abs(wanted).max())
    if method != "_values":
        lazy = _answer(there, method, spread(X))
        assert isinstance(lazy, da.Array)
        assert lazy.dtype == wanted.dtype
        assert lazy.ndim == np.ndim(wanted)
        assert np.allclose(lazy.compute(), found, rtol=0, atol=1e-10 * max(1.0, np.abs(wanted).max()))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.thorough
def test_clusters_of_a_collection(kind: str) -> None:
    apart = X + 6 * np.eye(3)[np.arange(N) % 3]
    here = mc.KernelKMeans(3, mc.Nystrom(mc.Gaussian(0.05), landmarks=apart[:40]), random_state=0).fit(apart)
    there = clone(here).fit(KINDS[kind](apart))
    labels = there.labels_.compute()
    assert np.array_equal(labels, there.predict(apart))
    together = labels[:, None] == labels
    assert np.mean(together == (here.labels_[:, None] == here.labels_)) > 0.98
    assert there.converged_
    assert np.all(np.diff(there.objectives_) <= 1e-9 * there.inertia_)
    # the objective is that of the labels, whose means are in the span of the landmarks
    distances = there.transform(apart)
    assert there.inertia_ == pytest.approx(float((distances.min(axis=1) ** 2).sum()), rel=1e-6)


@pytest.mark.parametrize("machine", [mc.FeatureMachineRegressor, mc.FeatureMachineClassifier])
@pytest.mark.thorough
def test_a_metric_is_learnt_of_some_and_f_of_all(machine: Any) -> None:
    options = {"kernel": mc.PowerExponential("median", 2.0), "centers": 60, "random_state": 0, "max_iter": 2}
    y = Y if machine is mc.FeatureMachineRegressor else LABELS
    found = machine(**options).fit(_array(X), _array(y))
    assert found.importances_[2] < 0.2
    assert found.score(_array(X), _array(y)) > 0.8
    with pytest.raises(ValueError, match="give centers"):
        machine(kernel=mc.PowerExponential("median", 2.0)).fit(_array(X), _array(y))


def test_the_landmarks_are_those_of_blocks_in_memory() -> None:
    machine = mc.KernelRidge(0.1, KERNEL, centers=50, random_state=3, tol=1e-11)
    here = clone(machine).fit(mc.Blocks(X, rows=ROWS), Y, sample_weight=W)
    there = clone(machine).fit(_array(X), _array(Y), sample_weight=_array(W))
    assert np.array_equal(here.support_, there.support_)
    assert np.array_equal(here.support_vectors_, there.support_vectors_)
    assert np.allclose(here.dual_coef_, there.dual_coef_, rtol=0, atol=1e-8 * np.abs(here.dual_coef_).max())
    assert there.signal_variance_ == pytest.approx(here.signal_variance_, rel=1e-8)


def test_strings_come_in_bags() -> None:
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("ab"), 8)) for _ in range(200)]
    y = np.array([word.count("ab") for word in words], float)
    machine = mc.KernelRidge(0.1, mc.Spectrum(3), centers=30, random_state=0, tol=1e-11)
    here = clone(machine).fit(mc.Blocks([words[k : k + 50] for k in range(0, 200, 50)]), y)
    bag = db.from_sequence(words, npartitions=4)
    there = clone(machine).fit(bag, y)
    assert np.allclose(here.predict(words), there.predict(bag).compute(), atol=1e-8)


@pytest.mark.thorough
def test_float32_stays_so() -> None:
    single = X.astype(np.float32)
    here = mc.KernelRidge(0.1, tol=1e-9, **WITH).fit(single, Y)
    there = mc.KernelRidge(0.1, tol=1e-9, **WITH).fit(_array(single), Y)
    assert np.allclose(here.predict(single), there.predict(single), atol=1e-4)
    assert mc.KernelPCA(2, BY_LANDMARKS).fit(_array(single)).transform(_array(single)).dtype == np.float32


# -- what is hostile ------------------------------------------------------------------------------------------------


def _fits(given: Any, y: Any = Y) -> Any:
    return mc.KernelRidge(0.1, tol=1e-11, **WITH).fit(given, y)


REFERENCE = _fits(X).predict(X)


@pytest.mark.parametrize(
    "chunks", [(0, 100, 0, 500, 0), (1,) * 30 + (570,), (600,)], ids=["empty blocks", "one row a block", "one block"]
)
@pytest.mark.thorough
def test_blocks_of_any_size(chunks: tuple[int, ...]) -> None:
    stops = np.cumsum(chunks)
    given = [X[stop - rows : stop] for stop, rows in zip(stops, chunks, strict=True)]
    given = da.concatenate([da.from_array(part, chunks=(max(1, len(part)), 2)) for part in given])
    machine = _fits(given, da.from_array(Y, chunks=150))
    assert np.allclose(machine.predict(X), REFERENCE, atol=1e-8)
    assert machine.predict(given).shape == (N,)
    blocks = [dask.delayed(X[stop - rows : stop]) for stop, rows in zip(stops, chunks, strict=True)]
    assert np.allclose(_fits(blocks).predict(blocks).compute(), REFERENCE, atol=1e-8)
    assert np.allclose(machine.predict(given).compute(), REFERENCE, atol=1e-8)


@pytest.mark.thorough
def test_unknown_sizes() -> None:
    given = _array(X)[_array(X)[:, 0] > -9]  # all, but Dask does not know
    for y in (Y, _array(Y), _array(Y)[_array(X)[:, 0] > -9]):
        machine = _fits(given, y)
        assert np.allclose(machine.predict(given).compute(), REFERENCE, atol=1e-8)
        assert machine.score(given, y) == pytest.approx(machine.score(X, Y))


def test_blocks_of_other_precision() -> None:
    parts = [dask.delayed(X[:300]), dask.delayed(X[300:].astype(np.float32))]
    assert np.allclose(_fits(parts).predict(X), REFERENCE, atol=1e-4)
    assert np.allclose(_fits([dask.delayed(X[:300]), dask.delayed(X[300:].astype(object))]).predict(X), REFERENCE)


def test_columns_in_another_order() -> None:
    table = pd.DataFrame(X, columns=NAMES)
    parts = [dask.delayed(table[:300]), dask.delayed(table[300:][["b", "a", "c"]])]
    with pytest.raises(ValueError, match=r"Block 1: (.|\n)*in the same order"):
        _fits(parts)
    machine = _fits(_frame(X))
    assert list(machine.feature_names_in_) == NAMES
    with pytest.raises(ValueError, match="in the same order"):
        machine.predict(_frame(X)[["b", "a", "c"]])


def test_a_poisoned_block_is_named() -> None:
    poisoned = X.copy()
    poisoned[17 * 20 + 3, 1] = np.nan
    given = da.from_array(poisoned, chunks=(20, 3))
    with pytest.raises(ValueError, match="Block 17: Row 3"):
        _fits(given)
    bad = Y.copy()
    bad[17 * 20 + 3] = np.inf
    with pytest.raises(ValueError, match="Block 17, row 3: the target y is not a finite number"):
        _fits(da.from_array(X, chunks=(20, 3)), bad)
    weights = np.ones(N)
    weights[44] = -1
    with pytest.raises(ValueError, match=r"Block 2 \(.*\), row 4: sample_weight is -1.0"):
        mc.KernelRidge(0.1, **WITH).fit(da.from_array(X, chunks=(20, 3)), Y, sample_weight=weights)
    with pytest.raises(ValueError, match="Block 17: Row 3"):
        _fits(X).predict(given).compute()


def test_what_does_not_fit_together() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        _fits(_array(X), Y[:-1])
    with pytest.raises(ValueError, match="X has 4 blocks and y has 2, of sizes that Dask does not know"):
        _fits(_array(X), dd.from_pandas(pd.Series(Y), npartitions=2))
    with pytest.raises(ValueError, match=r"Block 0 .* has 170 samples and 150 targets"):
        _fits(_array(X), dd.from_pandas(pd.Series(Y), npartitions=4))
    with pytest.raises(ValueError, match="no samples in these blocks"):
        _fits(_array(X)[:0], Y[:0])
    with pytest.raises(ValueError, match="sample_weight is zero for every sample"):
        mc.KernelRidge(0.1, **WITH).fit(_array(X), Y, sample_weight=np.zeros(N))
    with pytest.raises(ValueError, match="at least 2 classes"):
        mc.SVC(**WITH).fit(_array(X), np.zeros(N, int))
    with pytest.raises(ValueError, match="Unknown label type"):
        mc.SVC(**WITH).fit(_array(X), Y)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (mc.KernelRidge(0.1, KERNEL), "give centers, such as centers=2000"),
        (mc.KernelPCA(2, KERNEL), "give kernel=Nystrom"),
        (mc.KernelRidge(0.0, **WITH), "give alpha > 0"),
        (mc.KernelRidge(0.1, uncertainty=True, **WITH), "uncertainty=True is for samples in memory"),
        (mc.SVC(probability=True, **WITH), "KernelLogistic"),
        (mc.SVC(np.inf, **WITH), "give a finite C"),
        (mc.KernelLogistic(solver="cg", **WITH), "there is but 'auto'"),
    ],
)
def test_what_a_collection_is_not_learnt_with(machine: Any, message: str) -> None:
    y = Y > 0 if hasattr(machine, "class_weight") else Y
    with pytest.raises(ValueError, match=message):
        machine.fit(_array(X), *(() if isinstance(machine, mc.KernelPCA) else (y,)))


def test_who_does_not_learn_from_collections() -> None:
    for machine in (mc.OneClassSVM(), mc.NuSVC()):
        with pytest.raises(TypeError, match="does not learn from Dask collections"):
            machine.fit(_array(X), *((Y > 0,) if isinstance(machine, mc.NuSVC) else ()))
    with pytest.raises(TypeError, match="takes samples in memory"):
        mc.KernelSearchCV(mc.SVC(), {"C": [1.0]}).fit(_array(X), Y > 0)


def test_a_fit_that_fails_leaves_the_machine_as_it_was() -> None:
    machine = _fits(X)
    poisoned = X.copy()
    poisoned[5, 0] = np.nan
    with pytest.raises(ValueError, match="Block 0"):
        machine.fit(_array(poisoned), Y)
    assert np.array_equal(machine.predict(X), REFERENCE)


@pytest.mark.thorough
def test_limits_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[dict[str, Any]] = []
    machine = mc.KernelLogistic(0.1, progress=heard.append, **WITH).fit(_array(X), Y > 0.8)  # type: ignore[arg-type]
    assert machine.converged_
    assert heard
    with pytest.warns(match="stopped after max_iter=1 steps"):
        mc.KernelLogistic(0.1, max_iter=1, **WITH).fit(_array(X), Y > 0.8)
    monkeypatch.setattr(watch, "_PAUSE", 1e9)  # the clock is looked at between steps alone: before them is no result
    with pytest.warns(match="stopped after max_time=0 s"):
        mc.KernelLogistic(0.1, max_time=0, **WITH).fit(_array(X), Y > 0.8)
