"""One-class machines: libsvm's, the ball's geometry, and thresholds that mean what they say."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import svm as libsvm

import mercer as mc


def _data(n: int = 400) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, 3))


@pytest.mark.parametrize("nu", [0.05, 0.5])
def test_one_class_is_libsvms(nu: float) -> None:
    X = _data()
    ours, peer = (
        mc.OneClassSVM(nu, mc.Gaussian(0.3), tol=1e-6).fit(X),
        libsvm.OneClassSVM(nu=nu, gamma=0.3, tol=1e-8).fit(X),
    )
    total = nu * len(X)  # libsvm's sum of coefficients; ours is 1
    np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X) / total, atol=1e-6)
    np.testing.assert_allclose(ours.offset_, peer.offset_[0] / total, atol=1e-5)
    assert np.isclose(ours.dual_coef_.sum(), 1.0)
    assert np.mean(ours.predict(X) == -1) <= nu + 1e-9 <= np.mean(np.isin(np.arange(len(X)), ours.support_)) + 1e-9


@pytest.mark.parametrize("machine", [mc.OneClassSVM, mc.SVDD])
@pytest.mark.parametrize("share", [0.0, 1e-4, 0.01, 0.1, 0.37, 0.5])
def test_contamination_is_the_share_of_outliers(machine: type, share: float) -> None:
    X = _data(1000)
    assert (machine(0.2, contamination=share).fit(X).predict(X) == -1).sum() == round(share * 1000)


@pytest.mark.parametrize("nu", [1e-6, 1e-4, 1e-2])
def test_a_tiny_nu_does_not_reject_everything(nu: float) -> None:
    """libsvm calls 99.9 % of these outliers."""
    X = np.random.default_rng(0).uniform(size=(2000, 2))
    for machine in (mc.OneClassSVM(nu), mc.SVDD(nu)):
        assert np.mean(machine.fit(X).predict(X) == -1) <= nu + 1e-3


def test_the_ball_is_the_smallest() -> None:
    """SVDD with room for no outlier, linear kernel: the smallest enclosing ball of a triangle and its inner points."""
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]])
    X = np.vstack([corners, corners.mean(0) + 0.1 * _data(10)[:, :2]])
    ball = mc.SVDD(1e-3, mc.Linear(), tol=1e-9).fit(X)
    centre = ball.dual_coef_[0] @ ball.support_vectors_
    # the circle through the corners: its centre has y = ¾, radius 1.25
    np.testing.assert_allclose(centre, [1.0, 0.75], atol=1e-6)
    np.testing.assert_allclose(-ball.offset_, 1.25**2, rtol=1e-5)
    np.testing.assert_allclose(ball.score_samples(X), -np.sum((X - centre) ** 2, axis=1), atol=1e-9)


def test_for_a_radial_kernel_the_ball_is_the_half_space() -> None:
    X = _data()
    one, ball = mc.OneClassSVM(0.2, mc.Gaussian(0.3), tol=1e-7).fit(X), mc.SVDD(0.2, mc.Gaussian(0.3), tol=1e-7).fit(X)
    np.testing.assert_allclose(ball.decision_function(X), 2 * one.decision_function(X), atol=1e-5)


def test_weights_are_repetitions() -> None:
    X = _data(80)
    w = np.random.default_rng(1).integers(0, 4, 80)
    for machine in (mc.OneClassSVM, mc.SVDD):
        a, b = machine(0.3).fit(X, sample_weight=w), machine(0.3).fit(np.repeat(X, w, 0))
        np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-7)
