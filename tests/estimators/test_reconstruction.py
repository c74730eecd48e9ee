"""Novelty by the error of reconstruction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import decomposition as peers

import mercer as mc
from tests import unsupervised_oracles as oracle
from tests.estimators.component_samples import NEW, G, cloud, gaussian, two_families


@pytest.mark.thorough
@pytest.mark.parametrize("m", [1, 3, 6])
def test_the_score_is_the_error_of_reconstruction(m: int) -> None:
    X = cloud()
    model = mc.KernelPCANovelty(m, G).fit(X)
    for Z in (X, NEW, NEW + 100):
        truth = oracle.reconstruction_errors(gaussian(X, X), gaussian(Z, X), np.ones(len(Z)), m)
        np.testing.assert_allclose(model.score_samples(Z), -truth, atol=1e-7)
    np.testing.assert_allclose(model.decision_function(NEW), model.score_samples(NEW) - model.offset_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(NEW), np.where(model.decision_function(NEW) >= 0, 1, -1))


def test_linear_novelty_is_pcas_residual() -> None:
    X = cloud()
    model, plain = mc.KernelPCANovelty(2, mc.Linear()).fit(X), peers.PCA(2).fit(X)
    rest = NEW - plain.inverse_transform(plain.transform(NEW))
    np.testing.assert_allclose(-model.score_samples(NEW), np.sum(rest**2, axis=1), atol=1e-7)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.37, 0.5])
def test_contamination_is_the_share_rejected(share: float) -> None:
    X = cloud(200)
    model = mc.KernelPCANovelty(4, G, contamination=share).fit(X)
    assert (model.predict(X) == -1).sum() == round(share * 200)
    assert set(model.predict(np.vstack([X, X + 1e3]))) <= {-1, 1}


@pytest.mark.parametrize("m", [None, 5, 0.8])
def test_far_points_are_outliers(m: Any) -> None:
    t = np.random.default_rng(0).uniform(0, 2 * np.pi, 150)
    X = np.column_stack([np.cos(t), np.sin(t)])
    model = mc.KernelPCANovelty(m, mc.Gaussian(2.0), contamination=0.02).fit(X)
    # inside the ring is outside the sample, too
    assert (model.predict(np.array([[5.0, 5.0], [-30.0, 0.0], [0.0, 0.0]])) == -1).all()
    assert (model.predict(np.column_stack([np.cos(t + 0.01), np.sin(t + 0.01)])) == 1).mean() > 0.9


def test_a_share_of_the_variance() -> None:
    X = cloud()
    ratios = np.cumsum(mc.KernelPCA(30, G).fit(X).explained_variance_ratio_)
    m = int(np.searchsorted(ratios, 0.9)) + 1
    np.testing.assert_allclose(
        mc.KernelPCANovelty(0.9, G).fit(X).score_samples(NEW),
        mc.KernelPCANovelty(m, G).fit(X).score_samples(NEW),
        atol=1e-8,
    )


def test_novel_strings() -> None:
    S = two_families()
    model = mc.KernelPCANovelty(2, mc.Spectrum(3).normalized(), contamination=0.0).fit(S)
    assert (model.predict(S) == 1).all()
    assert model.predict(["TATATATATATATATATATA"])[0] == -1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"contamination": 0.7}, "contamination"),
        ({"contamination": -0.1}, "contamination"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 1.5}, "n_components"),
    ],
)
def test_novelty_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mc.KernelPCANovelty(**parameters).fit(cloud())
