from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, sparse

import mercer as mc
from mercer.functions import FeatureFunction, RKHSFunction
from tests.cases import real

X, Y = real(12), real(7)
rng = np.random.default_rng(0)
alpha, beta = rng.standard_normal(12), rng.standard_normal(7)
GAUSSIAN = mc.Gaussian(0.4)


def test_evaluation_and_the_space_operations() -> None:
    f, g = mc.RKHSFunction(GAUSSIAN, X, alpha, 0.5), mc.RKHSFunction(GAUSSIAN, Y, beta)
    Z = real(5)
    np.testing.assert_allclose(f(Z), GAUSSIAN(Z, X) @ alpha + 0.5)
    np.testing.assert_allclose((2 * f + g)(Z), 2 * f(Z) + g(Z))
    np.testing.assert_allclose((f - g)(Z), f(Z) - g(Z))
    np.testing.assert_allclose(f.inner(g), alpha @ GAUSSIAN(X, Y) @ beta)
    assert f.norm() == pytest.approx(math.sqrt(alpha @ GAUSSIAN(X) @ alpha))
    assert (f + g).norm() <= f.norm() + g.norm() + 1e-12
    assert abs(f.inner(g)) <= f.norm() * g.norm() + 1e-12


def test_reproducing_property() -> None:
    f = mc.RKHSFunction(GAUSSIAN, X, alpha)
    for z in Y:
        section = mc.RKHSFunction(GAUSSIAN, z[None], np.ones(1))
        assert f.inner(section) == pytest.approx(f(z[None])[0])


def test_several_outputs() -> None:
    coef = rng.standard_normal((12, 3))
    f = mc.RKHSFunction(GAUSSIAN, X, coef, np.arange(3.0))
    np.testing.assert_allclose(f(Y), GAUSSIAN(Y, X) @ coef + np.arange(3.0))
    assert f.inner(f).shape == (3, 3)
    np.testing.assert_allclose(f.norm(), [mc.RKHSFunction(GAUSSIAN, X, coef[:, j]).norm() for j in range(3)])


def test_the_function_is_unique_though_coefficients_are_not() -> None:
    twice = np.vstack([X, X])
    f = mc.RKHSFunction(GAUSSIAN, X, alpha)
    for share in (0.0, 0.3, 2.0):
        g = mc.RKHSFunction(GAUSSIAN, twice, np.concatenate([share * alpha, (1 - share) * alpha]))
        assert (f - g).norm() == pytest.approx(0, abs=1e-6)
        np.testing.assert_allclose(g(Y), f(Y), atol=1e-12)


def test_norm_of_a_linear_function() -> None:
    f = mc.RKHSFunction(mc.Linear(), X, alpha)
    assert f.norm() == pytest.approx(np.linalg.norm(X.T @ alpha))


def test_norm_of_a_quadratic_form() -> None:
    """k = ⟨x, z⟩²: f(x) = x^T A x with A = Σα x x^T, and the norm is Frobenius'."""
    f = mc.RKHSFunction(mc.Polynomial(2, 0.0), X, alpha)
    A = (X.T * alpha) @ X
    np.testing.assert_allclose(f(Y), np.einsum("ij,jk,ik->i", Y, A, Y))
    assert f.norm() == pytest.approx(np.linalg.norm(A))


def test_norm_in_the_space_of_min() -> None:
    """‖f‖² = ∫ f′²: f is linear between its centres."""
    centers = np.sort(rng.random((6, 1)), axis=0)
    coef = rng.standard_normal(6)
    f = mc.RKHSFunction(mc.Min(), centers, coef)
    knots = np.vstack([[[0.0]], centers])
    slopes = np.diff(f(knots)) / np.diff(knots[:, 0])
    assert f.norm() ** 2 == pytest.approx(np.sum(slopes**2 * np.diff(knots[:, 0])))
    assert f(np.zeros((1, 1)))[0] == 0


def test_norm_in_the_space_of_the_gaussian() -> None:
    """‖f‖² = (2π)^−d ∫ |f̂|²/k̂; for f = Σα k(·, x) this is ∫ |Σ α e^(iωx)|² p(ω) dω, p the spectral density."""
    centers, coef = rng.standard_normal((4, 1)), rng.standard_normal(4)
    f = mc.RKHSFunction(GAUSSIAN, centers, coef)

    def integrand(w: float) -> float:
        return float(abs(np.exp(1j * w * centers[:, 0]) @ coef) ** 2 * GAUSSIAN.spectral_density([[w]])[0])

    square, _ = integrate.quad(integrand, -30, 30, limit=400)
    assert f.norm() ** 2 == pytest.approx(square, rel=1e-6)


def test_simplified_drops_zeros_and_folds_features() -> None:
    coef = np.where(np.arange(12) % 2, 0.0, alpha)
    f = mc.RKHSFunction(GAUSSIAN, X, coef, 1.0)
    g = f.simplified()
    assert isinstance(g, mc.RKHSFunction)
    assert len(g.coef) == 6
    np.testing.assert_allclose(g(Y), f(Y), rtol=1e-13)
    h = mc.RKHSFunction(mc.Linear(), X, coef, 1.0)
    folded = h.simplified()
    assert isinstance(folded, FeatureFunction)
    assert folded.weights.shape == (4,)
    np.testing.assert_allclose(folded(Y), h(Y))
    assert folded.norm() == pytest.approx(h.norm())


def test_any_kind_of_centre() -> None:
    S = sparse.csr_array(X)
    f, g = mc.RKHSFunction(mc.Linear(), S, alpha), mc.RKHSFunction(mc.Linear(), sparse.csr_array(Y), beta)
    np.testing.assert_allclose((f + g)(Y), Y @ (X.T @ alpha + Y.T @ beta))
    words = mc.RKHSFunction(mc.Categorical(), ["a", "b"], [1.0, 2.0])
    np.testing.assert_array_equal((words + words)(["b", "c"]), [4.0, 0.0])


def test_errors() -> None:
    f = mc.RKHSFunction(GAUSSIAN, X, alpha)
    with pytest.raises(ValueError, match="different kernels"):
        f + mc.RKHSFunction(mc.Linear(), X, alpha)
    with pytest.raises(ValueError, match="12 centres and coefficients of shape"):
        mc.RKHSFunction(GAUSSIAN, X, beta)


def test_unbound_kernels_are_fixed_by_the_centres() -> None:
    f = mc.RKHSFunction(mc.Gaussian(), X, alpha)
    assert f.kernel == mc.Gaussian().bind(X)


def test_mean_embedding() -> None:
    mu = mc.mean_embedding(GAUSSIAN, X)
    f = mc.RKHSFunction(GAUSSIAN, Y, beta)
    assert mu.inner(f) == pytest.approx(f(X).mean())
    w = rng.random(12)
    assert mc.mean_embedding(GAUSSIAN, X, w).inner(f) == pytest.approx(np.average(f(X), weights=w))
    nu = mc.mean_embedding(GAUSSIAN, Y)
    mmd2 = GAUSSIAN(X).mean() + GAUSSIAN(Y).mean() - 2 * GAUSSIAN(X, Y).mean()
    assert (mu - nu).norm() ** 2 == pytest.approx(mmd2)
    with pytest.raises(ValueError, match="not all 0"):
        mc.mean_embedding(GAUSSIAN, X, np.zeros(12))


def test_the_nearest_function_of_fewer_centres() -> None:
    """A projection: what is left over is orthogonal to the centres that are kept, and shrinks as there are more of
    them.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    f = RKHSFunction(mc.Gaussian(0.3), X, rng.standard_normal(60))
    errors = []
    for n in (5, 20, 40):
        g = f.compressed(n)
        assert len(g.coef) == n
        rest = f - g
        np.testing.assert_allclose(rest(g.centers), 0.0, atol=1e-8)
        errors.append(rest.norm())
    assert errors[0] > errors[1] > errors[2]
    twice = RKHSFunction(mc.Gaussian(0.3), np.vstack([X[:5], X[:5]]), np.ones(10)).compressed(6)
    assert len(twice.coef) == 5
    np.testing.assert_allclose(twice(X), 2 * RKHSFunction(mc.Gaussian(0.3), X[:5], np.ones(5))(X), atol=1e-10)


def test_functions_of_words_fold_into_weights() -> None:
    """Σ c_i k(·, x_i) = Σ weight·φ_word: the same values, also on words never seen; norms agree."""
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(40)]
    new = ["ACGTNNACGT", *("".join(rng.choice(list("ACGT"), 50)) for _ in range(20))]
    for coef in (rng.standard_normal(40), rng.standard_normal((40, 3))):
        f = mc.RKHSFunction(mc.Spectrum(3) + mc.Gappy(4, 2).normalized(), X, coef, 0.5)
        folded = f.simplified()
        assert type(folded).__name__ == "FeatureFunction"
        np.testing.assert_allclose(folded(new), f(new), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(folded.norm(), f.norm(), rtol=1e-10)
        names, weights = f.feature_weights()
        assert {len(name) for name in names} == {3, 4}
        assert weights.shape == (len(names), *coef.shape[1:])
