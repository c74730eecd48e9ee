"""Fisher kernels: scores against finite differences, the metric, and a task where it beats its own model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import mercer as mc
from tests import graph_oracles as truth


def samples(n: int = 60) -> Any:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 3)) + np.repeat([[0.0, 0, 0], [3, 3, 3]], n // 2, axis=0)


def strings(n: int = 30, letters: str = "ACG") -> list[str]:
    rng = np.random.default_rng(n)
    return ["".join(rng.choice(list(letters), k)) for k in rng.integers(0, 12, n)]


def test_scores_of_a_mixture_are_finite_differences() -> None:
    X = samples()
    g = mc.GaussianMixture(3, covariance_type="diag", random_state=0).fit(X)
    theta = np.concatenate([np.log(g.weights_[:-1] / g.weights_[-1]), g.means_.ravel(), g.covariances_.ravel()])
    U = g.score_vectors(X)
    for i in (0, 17, 59):

        def density(t: Any, i: int = i) -> float:
            return truth.gaussian_mixture_log_density(X[i], t[:2], t[2:11].reshape(3, 3), t[11:].reshape(3, 3))

        np.testing.assert_allclose(
            U[i], truth.numerical_score(density, theta), atol=1e-6 * max(1.0, np.abs(U[i]).max())
        )
    np.testing.assert_allclose(U.mean(axis=0), 0, atol=1e-2 * np.abs(U).max())  # at the optimum


def test_scores_of_a_chain_are_finite_differences() -> None:
    X = strings()
    m = mc.MarkovChain().fit(X)

    def softmax(v: Any) -> Any:
        return np.exp(v) / np.exp(v).sum(axis=-1, keepdims=True)

    theta = np.concatenate([np.log(m.initial_), np.log(m.transition_).ravel()])
    U = m.score_vectors(X)
    for i in range(6):

        def density(t: Any, i: int = i) -> float:
            return truth.markov_chain_log_probability(
                ["ACG".index(c) for c in X[i]], softmax(t[:3]), softmax(t[3:].reshape(3, 3))
            )

        np.testing.assert_allclose(U[i], truth.numerical_score(density, theta), atol=1e-6)
        np.testing.assert_allclose(m.score_samples(X[i : i + 1]), density(theta), rtol=1e-12)


def test_the_metric_is_the_inverse_information() -> None:
    X = samples()
    g = mc.GaussianMixture(2, random_state=0).fit(X)
    U = g.score_vectors(X)
    w = np.random.default_rng(1).random(60)
    F = np.linalg.pinv((U.T * (w / w.sum())) @ U, rcond=1e-13, hermitian=True)
    K = mc.Fisher(g).bind(X, w)(X)
    np.testing.assert_allclose(K, U @ F @ U.T, rtol=1e-6, atol=1e-6 * np.abs(K).max())
    D = 1 / ((w / w.sum()) @ (U * U))
    np.testing.assert_allclose(mc.Fisher(g, diagonal=True).bind(X, w)(X), (U * D) @ U.T, rtol=1e-9)
    # the mean of uᵀF⁻¹u is the number of parameters
    assert np.isclose(np.trace(mc.Fisher(g)(X)) / 60, np.linalg.matrix_rank(U))


@pytest.mark.thorough
def test_a_kernel_keeps_its_fitted_model(tmp_path: Any) -> None:
    X = samples()
    kernel = mc.Fisher(mc.GaussianMixture(2, random_state=0).fit(X))
    assert clone(kernel) == kernel
    machine = mc.SVC(kernel=kernel.rooted().normalized(), C=1.0).fit(X, np.repeat([0, 1], 30))
    np.testing.assert_array_equal(
        clone(machine).fit(X, np.repeat([0, 1], 30)).decision_function(X), machine.decision_function(X)
    )
    mc.save(machine, tmp_path / "m.mercer")
    np.testing.assert_allclose(mc.load(tmp_path / "m.mercer").decision_function(X), machine.decision_function(X))


class Own:
    """A model of one's own: a normal distribution of variance 1."""

    def score_vectors(self, X: Any) -> Any:
        return np.asarray(X, float)


def test_models_of_ones_own_and_errors() -> None:
    X = samples()
    assert mc.Fisher(Own())(X).shape == (60, 60)
    with pytest.raises(TypeError, match="score_vectors"):
        mc.Fisher(object())

    class Wrong:
        def score_vectors(self, X: Any) -> Any:
            return np.zeros((3, 2))

    with pytest.raises(mc.DataError, match="one row for each of the 60"):
        mc.Fisher(Wrong())(X)
    with pytest.raises(TypeError, match="no finite feature map"):
        mc.Gaussian(1.0).rooted()


def test_rooted_features() -> None:
    X = ["AACA", "ACCC", ""]
    phi = mc.Spectrum(1).features(X).toarray()
    np.testing.assert_allclose(mc.Spectrum(1).rooted()(X), np.sqrt(phi) @ np.sqrt(phi).T)
    dense = np.array([[1.0, -4.0], [9.0, 0.0]])
    root = np.array([[1.0, -2.0], [3.0, 0.0]])
    np.testing.assert_allclose(mc.Linear().rooted()(dense), root @ root.T)


def test_it_beats_the_generative_classifier() -> None:
    """Two kinds of strings that differ where one Markov chain for each is too coarse to tell: what a pair of letters
    follows.
    """
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 400)
    X = [_written(rng, k) for k in kinds]
    train, test = slice(0, 200), slice(200, 400)
    chains = [mc.MarkovChain().fit([x for x, k in zip(X[train], kinds[train], strict=True) if k == c]) for c in (0, 1)]
    likelier = np.argmax([chain.score_samples(X[test]) for chain in chains], axis=0)
    both = mc.MarkovChain().fit(X[train])
    machine = mc.SVC(kernel=mc.Fisher(both) ** 2, C=1.0).fit(X[train], kinds[train])
    generative, fisher = (likelier == kinds[test]).mean(), (machine.predict(X[test]) == kinds[test]).mean()
    assert fisher > generative + 0.1
    assert fisher > 0.8


def _written(rng: Any, kind: int) -> str:
    """Kind 0 has either many A or many C, kind 1 both or neither: the same pairs on average."""
    many = rng.integers(0, 2)
    a, c = (many, 1 - many) if kind == 0 else (many, many)
    p = np.array([1 + 4 * a, 1 + 4 * c, 2.0])
    return "".join(rng.choice(list("ACG"), 60, p=p / p.sum()))
