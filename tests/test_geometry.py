from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.cases import real

X, Y = real(12), real(7)
GAUSSIAN = mc.Gaussian(0.4)


def test_feature_space_distance() -> None:
    np.testing.assert_allclose(
        mc.distance(mc.Linear(), X, Y), np.linalg.norm(X[:, None] - Y[None], axis=-1), atol=1e-12
    )
    D = mc.distance(GAUSSIAN, X)
    assert (np.diagonal(D) == 0).all()
    np.testing.assert_allclose(D**2, 2 - 2 * GAUSSIAN(X), atol=1e-12)


def test_alignment_and_effective_dimension() -> None:
    K = GAUSSIAN(X)
    assert mc.alignment(K, 3 * K + 2) == pytest.approx(1.0)
    assert mc.alignment(K, K, centered=False) == pytest.approx(1.0)
    y = np.sign(np.random.default_rng(0).standard_normal(12))
    assert -1 <= mc.alignment(K, np.outer(y, y)) <= 1
    np.testing.assert_allclose(mc.effective_dimension(K, 0.5), np.trace(K @ np.linalg.inv(K + 0.5 * np.eye(12))))
    assert mc.effective_dimension(mc.Linear().gram(X), 1e-6) == pytest.approx(4, abs=1e-5)
    bad: Any
    for bad in (
        lambda: mc.alignment(K, np.ones((12, 12))),
        lambda: mc.alignment(K, K[:3, :3]),
        lambda: mc.effective_dimension(K, 0.0),
    ):
        with pytest.raises(ValueError, match=r"constant|same objects|positive"):
            bad()
