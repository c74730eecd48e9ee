"""One door, one fit: data are checked once, a machine learns from the matrix alone, and nothing pretends to be
precomputed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import mercer as mc
from mercer.data import Sequences, Vectors, size
from mercer.gram import Gram

CALLS: list[int] = []  # how many samples were checked, for each time that some were


@dataclass(frozen=True)
class CountedVectors(Vectors):
    def check(self, X: Any) -> Any:
        CALLS.append(size(X))
        return super().check(X)


@dataclass(frozen=True)
class CountedSequences(Sequences):
    def check(self, X: Any) -> Any:
        CALLS.append(len(X))
        return super().check(X)


class OfVectors(mc.Gaussian):
    domain: ClassVar[Any] = CountedVectors()


class OfWords(mc.Spectrum):
    domain: ClassVar[Any] = CountedSequences()


@pytest.fixture(autouse=True)
def _from_zero() -> Iterator[None]:
    CALLS.clear()
    yield
    CALLS.clear()


def checks(call: Callable[[], Any]) -> list[int]:
    CALLS.clear()
    call()
    return list(CALLS)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(42, 3))
NEW = RNG.normal(size=(5, 3))
WORDS = ["".join(RNG.choice(list("ACGT"), size=9)) for _ in range(42)]
NEW_WORDS = ["ACGTACG", "TTTGCA", "GGGACT", "CATCAT", "AAAACC"]
TWO, THREE = np.arange(42) % 2, np.arange(42) % 3
TARGETS = X[:, 0] + 0.1 * RNG.normal(size=42)

MACHINES: list[tuple[Any, Any]] = [
    (mc.SVC(), TWO),
    (mc.SVC(), THREE),
    (mc.SVC(probability=True), THREE),
    (mc.NuSVC(0.3), THREE),
    (mc.SVR(), TARGETS),
    (mc.SVR(), np.column_stack([TARGETS, -TARGETS])),
    (mc.NuSVR(), TARGETS),
    (mc.OneClassSVM(0.3), None),
    (mc.OneClassSVM(0.3, contamination=0.2), None),
    (mc.SVDD(0.3), None),
    (mc.SVDD(0.3, contamination=0.2), None),
    (mc.KernelRidge(), TARGETS),
    (mc.KernelRidgeCV([0.1, 1.0]), TARGETS),
    (mc.RepresenterMachine(), TARGETS),
    (mc.KernelHuber(), TARGETS),
    (mc.KernelExpectile(), TARGETS),
    (mc.KernelPoisson(), np.abs(TARGETS)),
    (mc.KernelQuantile([0.2, 0.8]), TARGETS),
    (mc.KernelLogistic(), TWO),
    (mc.KernelLogistic(), THREE),
    (mc.KernelPCA(2), None),
    (mc.KernelPCANovelty(3), None),
    (mc.KernelKMeans(2, random_state=0), None),
    (mc.SpectralClustering(2, random_state=0), None),
    (mc.SpectralClustering(2, affinity="nearest_neighbors", random_state=0), None),
]


def _ids(machines: list[Any]) -> list[str]:
    return [f"{k}-{type(m[0] if isinstance(m, tuple) else m).__name__}" for k, m in enumerate(machines)]


def _answer(machine: Any, new: Any) -> Any:
    method = next(name for name in ("decision_function", "transform", "predict") if hasattr(machine, name))
    return getattr(machine, method)(new)


@pytest.mark.parametrize(("machine", "y"), MACHINES, ids=_ids(MACHINES))
@pytest.mark.parametrize("words", [False, True], ids=["vectors", "words"])
def test_data_are_checked_once(machine: Any, y: Any, words: bool) -> None:
    k, data, new = (OfWords(2), WORDS, NEW_WORDS) if words else (OfVectors(0.3), X, NEW)
    machine = clone(machine).set_params(kernel=k)
    assert checks(lambda: machine.fit(data, y)) == [42]
    if hasattr(machine, "predict") or hasattr(machine, "transform"):
        assert checks(lambda: _answer(machine, new)) == [5, len(machine.support_)]  # and what was kept


def test_other_machines_check_once_too() -> None:
    k = OfVectors(0.3)
    assert checks(lambda: mc.KernelHebbian(2, k).fit(X)) == [42]
    assert checks(lambda: mc.KernelCCA(1, k, mc.Linear(), alpha=0.1).fit(X, X[:, :2])) == [42]
    assert checks(lambda: mc.KernelCCA(1, k, mc.Linear(), alpha=0.1, rank=5).fit(X, X[:, :2])) == [42]
    assert checks(lambda: mc.TemporalKernelCCA(k, mc.Linear(), 1, alpha=0.1, n_bootstrap=0).fit(X, X[:, :2])) == [42]
    ridge = mc.KernelRidge(kernel=k).fit(X, TARGETS)
    ridge.predict(NEW, return_std=True)  # which factors the matrix of what was kept, once
    assert checks(lambda: ridge.predict(NEW, return_std=True)) == [5, 42]
    assert checks(lambda: mc.SVC(kernel=k).path(X, TWO, [0.1, 1.0, 10.0])) == [42]
    kernels = [OfVectors(0.1), OfVectors(1.0)]
    assert checks(lambda: mc.KernelRidgeCV([0.1], kernels).fit(X, TARGETS)) == [42, 42]  # once for each kernel


COMPOSED: list[Any] = [
    lambda k: k + k,
    lambda k: k + 1.0,
    lambda k: 2 * k,
    lambda k: k * k,
    lambda k: k**2,
    lambda k: k.normalized(),
    lambda k: (2 * k + k.normalized()).normalized(),
    lambda k: mc.exp(k) + k,
    lambda k: (k * k).normalized() + 0.5,
]


@pytest.mark.parametrize("compose", COMPOSED, ids=range(len(COMPOSED)))
@pytest.mark.parametrize("words", [False, True], ids=["vectors", "words"])
def test_parts_of_one_domain_are_checked_together(compose: Any, words: bool) -> None:
    base, data = (OfWords(2), WORDS) if words else (OfVectors(0.3), X)
    k = compose(base)
    assert k.domain == base.domain
    assert checks(lambda: mc.SVC(kernel=k).fit(data, THREE)) == [42]
    assert checks(lambda: k(data)) == [42]
    plain = compose(mc.Spectrum(2) if words else mc.Gaussian(0.3))
    np.testing.assert_array_equal(k(data), plain(data))


def test_kernels_of_one_domain_take_single_items_as_their_parts_do() -> None:
    k = mc.Spectrum(2)
    assert (k + mc.Spectrum(1))("abc", "abd") == k("abc", "abd") + mc.Spectrum(1)("abc", "abd") == 3.0
    assert (2 * k.normalized())("abc", "abd") == pytest.approx(1.0)


def test_parts_of_different_domains_look_for_themselves() -> None:
    k = OfVectors(0.3).on([0, 1]) + mc.Gaussian(1.0).imputed().on([2])
    holes = X.copy()
    holes[3, 2] = np.nan
    assert np.isfinite(k(holes)).all()
    assert mc.Gaussian(0.3).map(lambda words: np.array([[len(w), 1.0] for w in words]))(WORDS).shape == (42, 42)
    both = mc.HistogramIntersection() + mc.Gaussian(0.5)
    assert both.domain == Vectors()
    with pytest.raises(mc.DataError, match="at least 0"):
        both(X)


def test_a_centred_kernel_is_bound_to_words_as_they_are_written_or_read() -> None:
    k = mc.Spectrum(2).centered()
    for data in (WORDS, k.domain.check(WORDS)):
        np.testing.assert_allclose(k.bind(data)(WORDS), k(WORDS), atol=1e-12)
    phi = mc.Spectrum(2).features(WORDS).toarray()
    phi = phi - phi.mean(axis=0)
    np.testing.assert_allclose(k(WORDS), phi @ phi.T, atol=1e-10)


def test_what_is_not_used_is_told_once_for_each_fit() -> None:
    g = nx.Graph()
    g.add_nodes_from([(0, {"atom": "C"}), (1, {"atom": "O"}), (2, {"atom": "C"})])
    g.add_edges_from([(0, 1), (1, 2)])
    graphs = [g, nx.path_graph(4), nx.star_graph(3), nx.cycle_graph(5)]
    for kernel in (
        mc.WeisfeilerLehman(1),
        2 * mc.WeisfeilerLehman(1),
        mc.WeisfeilerLehman(1).normalized() + mc.ShortestPath().normalized(),
    ):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            machine = mc.SVC(kernel=kernel).fit(graphs, [0, 1, 1, 0])
        assert [w.category for w in told] == [mc.IgnoredWarning]
        assert all(isinstance(kept, mc.Graph) for kept in machine.support_vectors_)


@pytest.mark.parametrize(
    "machine",
    [mc.SVC(max_iter=1), mc.SVR(max_iter=1), mc.OneClassSVM(max_iter=1), mc.KernelLogistic(max_iter=1)],
    ids=str,
)
def test_a_warning_is_at_the_line_of_the_user(machine: Any) -> None:
    with pytest.warns(ConvergenceWarning) as told:
        machine.set_params(kernel=mc.Gaussian(0.3)).fit(X, TWO)
    with pytest.warns(mc.IgnoredWarning) as also:
        mc.Spectrum(2)(["ACGTacgt", "ACGT"])
    assert {w.filename for w in [*told, *also]} == {__file__}


def test_plain_tables_are_refused_as_any_other() -> None:
    machine = mc.SVR(kernel=mc.Linear()).fit(X, TARGETS)
    for data, y, message in (
        (X[:0], TARGETS[:0], "minimum of 1 is required"),
        (X[:, :0], TARGETS, "minimum of 1 is required"),
        (X[:-1], TARGETS, "inconsistent numbers"),
        (X, np.where(X[:, 0] > 2, np.nan, np.inf), "contains infinity"),
        (X[0], TARGETS, "Expected 2D array"),
        (np.where(X.max() == X, np.nan, X), TARGETS, "missing value"),
        (X, None, "requires y"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(machine).fit(data, y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        machine.predict(X[:, :2])
    named = mc.SVR(kernel=mc.Linear()).fit(pd.DataFrame(X, columns=["a", "b", "c"]), TARGETS)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(X)
    named.fit(X, TARGETS)
    assert not hasattr(named, "feature_names_in_")
    np.testing.assert_array_equal(named.predict(NEW), machine.predict(NEW))


# ---------------------------------------------------------------------------------------------------------------------
# Learning from the matrix
# ---------------------------------------------------------------------------------------------------------------------

FROM_MATRIX = [(m, y) for m, y in MACHINES if not isinstance(m, mc.SpectralClustering)]


@pytest.mark.parametrize(("machine", "y"), FROM_MATRIX, ids=_ids(FROM_MATRIX))
def test_a_machine_learns_from_the_matrix_what_it_learns_from_the_data(machine: Any, y: Any) -> None:
    k = mc.Gaussian(0.3)
    machine, w = clone(machine).set_params(kernel=k), np.where(np.arange(42) % 7 == 0, 0.0, 1.0 + np.arange(42) % 2)
    whole = clone(machine).fit(X, y, sample_weight=w)
    door = clone(machine)
    data, targets = door._accept_training(X, y)
    one = clone(machine)
    used = one._learn_rows(k.gram(data), targets, w, [one])
    assert not hasattr(one, "support_vectors_")
    np.testing.assert_array_equal(used[one.support_], whole.support_)
    one.support_ = used[one.support_]
    if not isinstance(machine, mc.SVDD | mc.KernelPCANovelty | mc.KernelKMeans):
        np.testing.assert_allclose(_answer(one, k.gram(NEW, X)), _answer(whole, NEW), atol=1e-9)
    else:
        with pytest.raises(ValueError, match=r"does not hold k\(x, x\)"):
            _answer(one, k.gram(NEW, X))


def test_a_path_learns_from_one_matrix() -> None:
    w = np.where(np.arange(42) % 5 == 0, 0.0, 1.0)
    frame = sparse.csr_array(np.where(np.abs(X) > 0.3, X, 0.0))
    for data in (X, frame):
        for one in mc.SVC(kernel=mc.Gaussian(0.3), tol=1e-8).path(data, TWO, [10.0, 0.1, 1.0], w):
            alone = mc.SVC(one.C, mc.Gaussian(0.3), tol=1e-8).fit(data, TWO, w)
            np.testing.assert_allclose(one.decision_function(data), alone.decision_function(data), atol=1e-6)
            np.testing.assert_array_equal(one.support_, alone.support_)
            assert type(one.support_vectors_) is type(alone.support_vectors_)
            assert one.n_features_in_ == 3


@pytest.mark.thorough
def test_folds_look_at_the_data_once_and_nothing_pretends_to_be_precomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    real = mc.SVC.score

    def score(machine: Any, new: Any, y: Any) -> float:
        seen.append((machine.kernel, isinstance(new, Gram), hasattr(machine, "support_vectors_")))
        return float(real(machine, new, y))

    grid = {"C": [0.1, 1.0, 10.0], "kernel": [OfWords(2).normalized(), OfWords(3).normalized()]}
    search = mc.KernelSearchCV(mc.SVC(), grid, cv=KFold(3))
    # once for each kernel, and the best is trained on its matrix
    with monkeypatch.context() as patched:
        patched.setattr(mc.SVC, "score", score)
        assert checks(lambda: search.fit(WORDS, THREE)) == [42, 42]
    assert {kernel for kernel, *_ in seen} == {OfWords(2).normalized(), OfWords(3).normalized()}
    assert {flags for _, *rest in seen for flags in [tuple(rest)]} == {(True, False)}
    peer = GridSearchCV(mc.SVC(), grid, cv=KFold(3)).fit(WORDS, THREE)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])
    best = search.best_estimator_
    assert best.kernel == best.kernel_ == search.best_params_["kernel"]
    np.testing.assert_allclose(
        best.decision_function(NEW_WORDS), peer.best_estimator_.decision_function(NEW_WORDS), atol=1e-6
    )
    CALLS.clear()
    scores = mc.nested_scores(search, WORDS, THREE, cv=KFold(3))
    assert CALLS == [42, 42]
    np.testing.assert_allclose(
        scores, cross_val_score(GridSearchCV(mc.SVC(), grid, cv=KFold(3)), WORDS, THREE, cv=KFold(3))
    )


def test_intervals_from_folds_of_one_matrix() -> None:
    machine = mc.SVR(kernel=OfVectors(0.3), tol=1e-8)
    conformal = mc.ConformalRegressor(machine, 0.8, folds=4)
    assert checks(lambda: conformal.fit(X, TARGETS)) == [42, 42]  # the machine on all, and all folds together
    for fitted, _, train in conformal._machines:
        alone = clone(machine).fit(X[train], TARGETS[train])
        np.testing.assert_allclose(fitted.predict(NEW), alone.predict(NEW), atol=1e-6)
        np.testing.assert_array_equal(fitted.support_, train[alone.support_])


def test_parameters_of_solvers_are_checked_alike() -> None:
    wrong = {"tol": -1.0, "max_iter": -1, "max_time": "1 s", "progress": 3, "on_interrupt": "stay", "compute": "cpu"}
    for machine, y in FROM_MATRIX:
        for name in wrong.keys() & machine.get_params().keys():
            with pytest.raises((ValueError, TypeError), match=f"{name}={wrong[name]!r}: "):
                clone(machine).set_params(**{name: wrong[name]}).fit(X, y)
