"""Nyström's approximation as a kernel: k(x, Z) K(Z, Z)⁻¹ k(Z, z), on whatever k is of."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge

import mercer as mc
from mercer.testing import assert_kernel_contract, assert_reads_back
from tests.cases import graphs

RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((60, 3)), RNG.standard_normal((11, 3))
STRINGS = ["".join(RNG.choice(list("ACGT"), 20)) for _ in range(40)]
RULES = ["uniform", "kmeans++", "leverage", "pivoted"]


def _shared(A: list[str], B: list[str]) -> Any:
    """How many letters of each kind two strings share, in products."""
    return np.array([[sum(a.count(c) * b.count(c) for c in "ACGT") for b in B] for a in A], float)


DATA: dict[str, tuple[mc.Kernel, Any]] = {
    "vectors": (mc.Gaussian(0.5), X),
    "features": (mc.Polynomial(2), X),
    "a sum": (mc.Laplacian(0.4) + 0.5 * mc.Linear(), X),
    "sparse": (mc.Gaussian(0.5), sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))),
    "strings": (mc.Spectrum(3).normalized(), STRINGS),
    "a function": (mc.Function(_shared), STRINGS[:15]),
    "graphs": (mc.WeisfeilerLehman(2), graphs()),
}


def _pinv(G: Any) -> Any:
    return np.linalg.pinv(G, rcond=1e-11, hermitian=True)


def _some(data: Any, index: Any) -> Any:
    return [data[i] for i in index] if isinstance(data, list) else data[index]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", DATA)
def test_values(name: str, rule: str) -> None:
    k, data = DATA[name]
    bound = mc.Nystrom(k, 9, rule, random_state=0).bind(data)
    Z = bound.reference
    C, G = np.asarray(k(data, Z)), np.asarray(k(Z))
    K = C @ _pinv(G) @ C.T
    close = {"rtol": 1e-6, "atol": 1e-6 * float(np.abs(K).max())}
    np.testing.assert_allclose(bound(data), K, **close)
    np.testing.assert_allclose(bound.diag(data), np.diag(K), **close)
    some = _some(data, np.arange(5))
    np.testing.assert_allclose(bound(data, some), K[:, :5], **close)
    phi = bound.features(data)
    assert phi.shape[1] <= 9
    np.testing.assert_allclose(phi @ phi.T, K, **close)
    np.testing.assert_allclose(bound(data, Z), k(data, Z), **close)  # they see themselves whole
    assert np.linalg.eigvalsh(np.asarray(k(data)) - K)[0] > -1e-6 * np.abs(K).max()


def test_as_scikit_learn_has_it() -> None:
    """With the same landmarks; its features are K^−½ k(Z, x), ours L^−1 k(Z, x): the kernel is the same."""
    theirs = Nystroem(kernel="rbf", gamma=0.5, n_components=12, random_state=0).fit(X)
    k = mc.Nystrom(mc.Gaussian(0.5), landmarks=theirs.components_)
    phi = theirs.transform(NEW)
    np.testing.assert_allclose(k.bind(X)(NEW), phi @ phi.T, atol=1e-9)
    y = np.sin(X[:, 0])
    expected = Ridge(0.3).fit(theirs.transform(X), y).predict(phi)
    np.testing.assert_allclose(mc.KernelRidge(0.3, k).fit(X, y).predict(NEW), expected, atol=1e-7)
    np.testing.assert_allclose(
        mc.KernelRidge(0.3, mc.Gaussian(0.5), centers=theirs.components_).fit(X, y).predict(NEW), expected, atol=1e-7
    )


def test_all_samples_are_the_kernel_itself() -> None:
    k = mc.Nystrom(mc.Laplacian(0.5), 1000, random_state=0)
    np.testing.assert_allclose(k.bind(X)(NEW, X), mc.Laplacian(0.5)(NEW, X), atol=1e-11)
    assert k.bind(X).trace_error(X) < 1e-12


def test_given_landmarks() -> None:
    bound = mc.Nystrom(mc.Gaussian(0.5), landmarks=NEW).bind(X)
    np.testing.assert_array_equal(bound.reference, NEW)
    assert bound == mc.Nystrom(mc.Gaussian(0.5), landmarks=NEW.tolist()).bind(X)
    words = mc.Nystrom(mc.Spectrum(2), landmarks=["ACGT", "GGGG"]).bind(STRINGS)
    assert words.features(STRINGS[:4]).shape == (4, 2)


@pytest.mark.thorough
def test_the_certificate() -> None:
    """tr(K − K̃)/tr K, and no eigenvalue of what is missed is a larger share, for any landmarks."""
    k = mc.Gaussian(0.5)
    K = k(X)
    for seed in range(100):
        bound = mc.Nystrom(k, 2 + seed % 20, RULES[seed % 4], random_state=seed).bind(X)
        C = k(X, bound.reference)
        left = K - C @ _pinv(k(bound.reference)) @ C.T
        found = bound.trace_error(X)
        np.testing.assert_allclose(found, np.trace(left) / np.trace(K), atol=1e-9)
        assert found >= np.linalg.eigvalsh(left)[-1] / np.trace(K) - 1e-12
        assert 0 <= found <= 1


def test_the_certificate_of_other_samples_and_of_nothing() -> None:
    bound = mc.Nystrom(mc.Gaussian(0.5), 10, random_state=0).bind(X)
    C = mc.Gaussian(0.5)(NEW, bound.reference)
    left = 11 - np.trace(C @ np.linalg.solve(mc.Gaussian(0.5)(bound.reference), C.T))
    assert bound.trace_error(NEW) == pytest.approx(left / 11)
    for rule in RULES:
        zero = mc.Nystrom(mc.Linear(), 3, rule, random_state=0).bind(np.zeros((6, 2)))
        assert zero.trace_error(np.zeros((6, 2))) == 0.0
        np.testing.assert_array_equal(zero(np.zeros((6, 2))), np.zeros((6, 6)))


@pytest.mark.parametrize("tol", [0.5, 0.1, 1e-3])
def test_as_many_as_the_trace_takes(tol: float) -> None:
    bound = mc.Nystrom(mc.Gaussian(0.5), 60, "pivoted", tol, random_state=0).bind(X)
    assert bound.trace_error(X) <= tol
    assert len(bound.reference) < 60


def test_float32_stays_float32() -> None:
    bound = mc.Nystrom(mc.Gaussian(0.5), 10, random_state=0).bind(X.astype(np.float32))
    assert bound(NEW.astype(np.float32)).dtype == np.float32
    exact = mc.Nystrom(mc.Gaussian(0.5), landmarks=bound.reference.astype(np.float64)).bind(X)
    np.testing.assert_allclose(bound(NEW.astype(np.float32)), exact(NEW), atol=1e-4)


@pytest.mark.thorough
def test_a_value_like_any_other(tmp_path: Path) -> None:
    k = mc.Nystrom(mc.Gaussian(0.5), 20, "pivoted", 0.01, 3)
    assert mc.parse(str(k)) == mc.parse(repr(k)) == clone(k) == pickle.loads(pickle.dumps(k)) == k
    assert hash(clone(k)) == hash(k)
    assert k.get_params()["kernel__gamma"] == 0.5
    assert k.set_params(kernel__gamma=0.7).kernel == mc.Gaussian(0.7)
    assert k.psd
    assert k.explicit
    bound = k.bind(X)
    assert_reads_back(bound)
    assert bound.bind(X[:2]) is bound
    again = clone(bound)
    np.testing.assert_array_equal(again(NEW), bound(NEW))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(bound))(NEW), bound(NEW))
    given = mc.Nystrom(mc.Gaussian(0.5), landmarks=NEW)
    assert clone(given) == pickle.loads(pickle.dumps(given)) == given
    for kernel in (k, given):
        machine = mc.KernelPCA(2, kernel).fit(X)
        mc.save(machine, tmp_path / "machine.mercer")
        np.testing.assert_allclose(
            mc.load(tmp_path / "machine.mercer").transform(NEW), machine.transform(NEW), rtol=1e-12
        )


def test_draws_repeat_with_a_number_and_differ_without() -> None:
    for rule in RULES:
        seeded, free = mc.Nystrom(mc.Gaussian(0.5), 10, rule, random_state=0), mc.Nystrom(mc.Gaussian(0.5), 10, rule)
        assert seeded.bind(X) == seeded.bind(X)
        assert free.bind(X) != free.bind(X)


def test_weights_choose_and_the_kernel_inside_follows_the_data() -> None:
    weights = np.where(np.arange(60) < 15, 1.0, 0.0)
    for rule in RULES:
        bound = mc.Nystrom(mc.Gaussian("median"), 10, rule, random_state=0).bind(X, weights)
        assert bound.kernel == mc.Gaussian("median").bind(X, weights)
        assert {tuple(row) for row in bound.reference} <= {tuple(row) for row in X[:15]}


COMPOSED = {
    "a sum": lambda k: 2 * k + mc.Linear(),
    "a product": lambda k: k * mc.Linear(),
    "columns": lambda k: k.on([0, 2]) + mc.Gaussian(0.3).on([1]),
    "normalised": lambda k: (k + 1.0).normalized(),
    "centred": lambda k: k.centered(),
    "standardised": lambda k: k.standardized(),
    "rooted": lambda k: k.rooted(),
    "of itself": lambda k: mc.Nystrom(k, 4, random_state=1),
}


@pytest.mark.parametrize("how", COMPOSED)
def test_in_the_algebra(how: str) -> None:
    made = COMPOSED[how](mc.Nystrom(mc.Gaussian(0.3), 7, random_state=0))
    assert_kernel_contract(made, X[:30])


def test_a_composition_is_of_its_values() -> None:
    bound = mc.Nystrom(mc.Gaussian(0.3), 7, random_state=0).bind(X)
    K = bound(X)
    root = np.sqrt(np.diag(K))
    np.testing.assert_allclose((2 * bound + mc.Linear())(X), 2 * K + X @ X.T, atol=1e-12)
    np.testing.assert_allclose((bound * mc.Linear())(X), K * (X @ X.T), atol=1e-12)
    np.testing.assert_allclose(bound.normalized()(X), K / root[:, None] / root, atol=1e-12)
    on = mc.Nystrom(mc.Gaussian(0.3), landmarks=NEW[:, [0, 2]]).on([0, 2])
    plain = mc.Nystrom(mc.Gaussian(0.3), landmarks=NEW[:, [0, 2]])
    np.testing.assert_allclose(on.bind(X)(X), plain.bind(X[:, [0, 2]])(X[:, [0, 2]]), atol=1e-12)


def test_what_is_refused() -> None:
    k = mc.Gaussian(0.5)
    for landmarks in ("random", "all"):
        with pytest.raises(ValueError, match=rf"landmarks='{landmarks}'.*uniform.*pivoted"):
            mc.Nystrom(k, 10, landmarks).bind(X)
    with pytest.raises(ValueError, match="pivoted"):
        mc.Nystrom(k, 10, "leverage", tol=0.1).bind(X)
    with pytest.raises(ValueError, match="pivoted"):
        mc.Nystrom(k, landmarks=NEW, tol=0.1).bind(X)
    for tol in (-0.1, 1.0, "small"):
        with pytest.raises(ValueError, match="share of the trace"):
            mc.Nystrom(k, 10, "pivoted", tol=tol).bind(X)
    for count in (0, -3, 2.5):
        with pytest.raises((TypeError, ValueError), match="n_components"):
            mc.Nystrom(k, count)
    with pytest.raises(ValueError, match="no landmarks"):
        mc.Nystrom(k, landmarks=np.zeros((0, 3))).bind(X)
    with pytest.raises(ValueError, match="columns"):
        mc.Nystrom(k, landmarks=NEW[:, :2]).bind(X)(X)
    with pytest.raises(ValueError, match=r"not positive semi-definite.*repaired"):
        mc.Nystrom(mc.Sigmoid(-1.0, 1.0), 20, random_state=0).bind(X)
    with pytest.raises(ValueError, match="random_state"):
        mc.Nystrom(k, 10, random_state="seed").bind(X)
