"""Kernel principal components of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests import unsupervised_oracles as oracle
from tests.estimators.component_samples import NEW, G, cloud, counts, two_families


def _stream(n: int = 60) -> Any:
    """Two directions well above the others."""
    return np.random.default_rng(5).standard_normal((n, 3)) * [2.0, 1.0, 0.1]


@pytest.mark.parametrize("k", [mc.Linear(), mc.Gaussian(0.1), mc.Gaussian()], ids=str)
def test_the_stream_finds_the_components_of_the_batch(k: Any) -> None:
    """With room for all, it is the same, each component and not only their span."""
    X, Z = _stream(), _stream(20)[::-1] * 0.9
    batch, stream = mc.KernelPCA(2, k).fit(X), mc.KernelHebbian(2, k, budget=100, tol=1e-12).fit(X)
    A, B = batch.transform(X), stream.transform(X)
    assert oracle.sine(A - A.mean(axis=0), B - B.mean(axis=0)) < 1e-5
    np.testing.assert_allclose(oracle.up_to_sign(B, A), A, atol=1e-5 * np.abs(A).max())
    np.testing.assert_allclose(
        oracle.up_to_sign(stream.transform(Z), batch.transform(Z)), batch.transform(Z), atol=1e-5 * np.abs(A).max()
    )
    np.testing.assert_allclose(stream.explained_variance_, batch.explained_variance_, rtol=1e-6)


def test_pieces_of_a_stream() -> None:
    X = _stream()
    model, seen = mc.KernelHebbian(2, mc.Gaussian(0.1), budget=100, tol=1e-12), 0
    for piece in (X[:25], X[25:26], X[26:]):
        assert model.partial_fit(piece) is model
        seen += len(piece)
        assert model.n_samples_seen_ == seen
        batch = mc.KernelPCA(2, mc.Gaussian(0.1)).fit(X[:seen])  # at any time the components of all that has passed
        A, B = batch.transform(X), model.transform(X)
        np.testing.assert_allclose(oracle.up_to_sign(B, A), A, atol=1e-5 * np.abs(A).max())
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2])
    assert model.fit(X[:30]).n_samples_seen_ == 30  # fit begins again


@pytest.mark.parametrize("budget", [5, 20])
def test_the_budget_holds(budget: int) -> None:
    X = np.random.default_rng(0).standard_normal((200, 3))
    model = mc.KernelHebbian(2, mc.Gaussian(0.5), budget=budget)
    for start in range(0, 200, 40):
        model.partial_fit(X[start : start + 40])
        assert 1 <= len(model.centers_) <= budget
    Z = model.transform(X)
    assert Z.shape == (200, 2)
    assert np.isfinite(Z).all()
    assert (Z.std(axis=0) > 0).all()
    assert len(mc.KernelHebbian(2, mc.Gaussian(0.5), budget=budget).fit(X).centers_) <= budget


def test_a_larger_budget_comes_nearer() -> None:
    X = np.random.default_rng(0).standard_normal((150, 2)) * [2.0, 1.0]
    A = mc.KernelPCA(2, mc.Gaussian(0.2)).fit(X).transform(X)
    sines = [
        oracle.sine(A, (Z := mc.KernelHebbian(2, mc.Gaussian(0.2), budget=b).fit(X).transform(X)) - Z.mean(axis=0))
        for b in (4, 150)
    ]
    assert sines[1] < 0.01 < sines[0]


def test_a_stream_is_deterministic_and_takes_strings() -> None:
    X = _stream()
    one, two = (mc.KernelHebbian(2, G).fit(X).transform(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    S, k = two_families(), mc.Spectrum(3).normalized()
    A, B = (
        mc.KernelPCA(1, k).fit(S).transform(S),
        mc.KernelHebbian(1, k).partial_fit(S[::2]).partial_fit(S[1::2]).transform(S),
    )
    np.testing.assert_allclose(oracle.up_to_sign(B, A), A, atol=1e-3 * np.abs(A).max())


@pytest.mark.parametrize(("parameters", "message"), [({"n_components": 0}, "n_components"), ({"budget": 0}, "budget")])
def test_streams_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mc.KernelHebbian(**parameters).fit(_stream())


def test_a_weight_in_a_stream_is_a_repetition() -> None:
    X, w = cloud(), counts()
    one, many = mc.KernelHebbian(3, G).fit(X, sample_weight=w), mc.KernelHebbian(3, G).fit(np.repeat(X, w, axis=0))
    whole, parts = mc.KernelPCA(3, G).fit(X, sample_weight=w), mc.KernelHebbian(3, G)
    for some in np.array_split(np.arange(len(X)), 3):
        parts.partial_fit(X[some], sample_weight=1e-300 * w[some])
    for other in (many, whole, parts):
        np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=1e-7)
        np.testing.assert_allclose(np.abs(one.transform(NEW)), np.abs(other.transform(NEW)), atol=1e-6)
