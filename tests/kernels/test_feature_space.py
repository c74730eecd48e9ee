from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data import DataError
from mercer.kernels.base import Kernel, kernel
from mercer.kernels.compose.feature_space import ZeroNormWarning
from tests.cases import real

X, Y = real(20), real(9)


@pytest.mark.parametrize(
    "base",
    [mc.Polynomial(3), mc.Linear(), mc.AllSubsets(), mc.Linear() + mc.Gaussian(1.0), 7.3 * mc.Matern(1.0, 0.8)],
    ids=str,
)
def test_the_diagonal_is_one_exactly(base: mc.Kernel) -> None:
    for scale in (1e-3, 1.0, 1e3):
        K = base.normalized()(scale * X)
        assert (np.diagonal(K) == 1.0).all()
        assert (np.diagonal(base.normalized().gram(scale * X).rows(np.arange(20))) == 1.0).all()


def test_objects_without_norm() -> None:
    Z = np.vstack([X, np.zeros((2, 4))])
    with pytest.warns(ZeroNormWarning, match="2 of 22 objects, the first in row 20"):
        K = mc.Linear().normalized()(Z)
    assert (K[20:] == 0).all()
    assert (K[:, 20:] == 0).all()
    with pytest.warns(ZeroNormWarning):
        assert mc.Polynomial(2, 0.0).normalized()(Z, X)[21, 3] == 0


def test_a_negative_norm_is_an_error() -> None:
    with pytest.raises(DataError, match=r"k\(x, x\) = -.* < 0 for row 0"):
        mc.Sigmoid(-100.0, 1.0).normalized()(X)


def test_centring_is_hkh() -> None:
    H = np.eye(20) - 1 / 20
    for base in (mc.Gaussian(0.3), mc.Linear(), mc.Polynomial(2), mc.Laplacian(0.2) * mc.Linear()):
        K = base(X)
        np.testing.assert_allclose(base.centered()(X), H @ K @ H, atol=1e-12 * np.abs(K).max())


def test_new_points_are_centred_with_the_training_means() -> None:
    k = mc.Gaussian(0.3).centered().bind(X)
    K, L = mc.Gaussian(0.3)(X), mc.Gaussian(0.3)(Y, X)
    one = np.full((20, 20), 1 / 20)
    expected = L - L @ one - np.full((9, 20), 1 / 20) @ K + np.full((9, 20), 1 / 20) @ K @ one
    np.testing.assert_allclose(k(Y, X), expected, atol=1e-13)
    assert k.bind(Y) is k


def test_weights_are_repetitions_in_centring() -> None:
    w = np.random.default_rng(0).integers(0, 4, 20)
    repeated = np.repeat(X, w, axis=0)
    np.testing.assert_allclose(
        mc.Gaussian(0.3).centered().bind(X, w)(Y), mc.Gaussian(0.3).centered().bind(repeated)(Y), atol=1e-13
    )


def test_data_driven_parts_inside_are_bound_once() -> None:
    np.testing.assert_allclose(
        mc.Gaussian().centered().bind(X)(Y), mc.Gaussian().bind(X).centered().bind(X)(Y), atol=1e-14
    )
    with pytest.raises(DataError, match="no rows"):
        mc.Linear().centered().bind(X[:0])


def _indefinite(n: int = 20) -> Any:
    M = np.random.default_rng(n).standard_normal((n, n))
    return (M + M.T) / 2


def test_repairs_on_the_training_data() -> None:
    K = _indefinite()
    values, U = np.linalg.eigh(K)
    k, ids = mc.Precomputed(K), np.arange(20)
    clip = k.repaired("clip")(ids)
    # the nearest positive semi-definite matrix
    np.testing.assert_allclose(clip, (U * np.maximum(values, 0)) @ U.T, atol=1e-10)
    np.testing.assert_allclose(k.repaired("flip")(ids), (U * np.abs(values)) @ U.T, atol=1e-10)
    np.testing.assert_allclose(k.repaired("shift")(ids), K - values[0] * np.eye(20), atol=1e-12)
    assert k.repaired("clip").bind(ids).explicit


def test_repairs_out_of_sample() -> None:
    K = _indefinite(30)
    train, test = np.arange(20), np.arange(20, 30)
    values, U = np.linalg.eigh(K[:20, :20])
    for how, keep in (("clip", values > 0), ("flip", values != 0)):
        bound = mc.Precomputed(K).repaired(how).bind(train)
        P = U[:, keep] / np.abs(values[keep]) @ U[:, keep].T
        np.testing.assert_allclose(bound(test, train), K[20:, :20] @ P @ K[:20, :20], atol=1e-9)
        assert np.linalg.eigvalsh(bound(np.arange(30)))[0] > -1e-9
    shifted = mc.Precomputed(K).repaired("shift").bind(train)
    np.testing.assert_allclose(shifted(test, train), K[20:, :20], atol=1e-12)


def test_a_valid_kernel_needs_no_repair() -> None:
    np.testing.assert_allclose(mc.Gaussian(0.3).repaired("clip")(X), mc.Gaussian(0.3)(X), atol=1e-9)
    with pytest.raises(ValueError, match="'clip', 'flip', 'shift'"):
        mc.Linear().repaired("bend")


def test_an_asymmetric_similarity_is_refused() -> None:
    M = np.random.default_rng(1).standard_normal((20, 20))

    @kernel
    class Lookup(Kernel):
        """M[i, j], not symmetric."""

        def _block(self, A: Any, B: Any) -> Any:
            return M[np.asarray(A)[:, 0].astype(int)][:, np.asarray(B)[:, 0].astype(int)]

    with pytest.raises(ValueError, match="not symmetric: K"):
        Lookup().repaired("clip").bind(np.arange(20)[:, None])
