"""Gaussian mixtures and Markov chains: against scikit-learn, closed forms, and their own promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Theirs
from sklearn.utils.estimator_checks import check_estimator

import mercer as mc


def samples() -> Any:
    rng = np.random.default_rng(0)
    return rng.standard_normal((300, 3)) * [1, 2, 0.5] + np.repeat([[0.0, 0, 0], [4, 4, 4], [-5, 3, 0]], 100, axis=0)


@pytest.mark.thorough
def test_it_is_the_mixture_of_scikit_learn() -> None:
    X = samples()
    ours = mc.GaussianMixture(3, covariance_type="diag", tol=1e-12, max_iter=1000, n_init=5, random_state=0).fit(X)
    theirs = Theirs(3, covariance_type="diag", tol=1e-12, max_iter=1000, n_init=5, random_state=0).fit(X)
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-8)
    order, other = np.argsort(ours.means_[:, 0]), np.argsort(theirs.means_[:, 0])
    np.testing.assert_allclose(ours.means_[order], theirs.means_[other], atol=1e-4)
    np.testing.assert_allclose(ours.covariances_[order], theirs.covariances_[other], rtol=1e-3)
    np.testing.assert_array_equal(np.bincount(ours.predict(X)).sum(), 300)


def test_one_component_is_the_sample() -> None:
    X = samples()
    g = mc.GaussianMixture(covariance_type="diag", reg_covar=0.0).fit(X)
    np.testing.assert_allclose(g.means_[0], X.mean(axis=0))
    np.testing.assert_allclose(g.covariances_[0], X.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(g.score_samples(X), norm.logpdf(X, X.mean(0), X.std(0)).sum(axis=1), rtol=1e-9)


@pytest.mark.thorough
def test_weights_are_repetitions_and_steps_climb() -> None:
    X = samples()[::3]
    w = np.random.default_rng(1).integers(1, 4, len(X))
    heavy = mc.GaussianMixture(1).fit(X, sample_weight=w)
    repeated = mc.GaussianMixture(1).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(heavy.means_, repeated.means_)
    bounds = []
    for k in range(1, 12):
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            bounds.append(mc.GaussianMixture(3, max_iter=k, tol=0.0, random_state=0).fit(X).lower_bound_)
    assert (np.diff(bounds) >= -1e-12).all()


@pytest.mark.thorough
def test_conventions() -> None:
    check_estimator(mc.GaussianMixture(random_state=0), on_skip=None)
    with pytest.raises(ValueError, match="more than the n_samples"):
        mc.GaussianMixture(10).fit(np.zeros((3, 2)))


def test_a_chain_counts() -> None:
    m = mc.MarkovChain(smoothing=1e-9).fit(["AAB", "AB"])
    np.testing.assert_allclose(m.initial_, [1, 0], atol=1e-8)
    np.testing.assert_allclose(m.transition_[0], [1 / 3, 2 / 3], atol=1e-8)
    np.testing.assert_allclose(m.score_samples(["AB", "A", ""]), [np.log(2 / 3), 0, 0], atol=1e-7)
    # a letter that was not seen is passed over
    np.testing.assert_allclose(m.score_samples(["AXB"]), m.score_samples(["AB"]))
    with pytest.raises(ValueError, match="smoothing"):
        mc.MarkovChain(0.0).fit(["A"])
    weighted = mc.MarkovChain().fit(["AB", "BA"], sample_weight=[3, 1])
    assert weighted == mc.MarkovChain().fit(["AB", "AB", "AB", "BA"])


def test_far_from_the_origin() -> None:
    X = samples()
    near, far = mc.GaussianMixture(2, random_state=0).fit(X), mc.GaussianMixture(2, random_state=0).fit(X + 1e8)
    np.testing.assert_allclose(far.covariances_, near.covariances_, rtol=1e-4)
