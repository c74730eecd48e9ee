"""All λ from one decomposition against refitting, hat matrices written out, and Gaussian densities integrated
numerically.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, linalg, sparse
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

import mercer as mc
from mercer.gram import DenseGram, LowRankGram
from mercer.native.linalg import NotPositive
from mercer.solvers.spectral import Eigendecomposition, Tridiagonal, grid

RIDGES = np.array([1e-4, 0.03, 1.0, 20.0])
N = 40


def _data(n: int, d: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((n, d))


def _grams() -> dict[str, tuple[Any, Any]]:
    """(Gram, the matrix): of full rank, of features dense and sparse, of more features than samples, and stored."""
    X = _data(N)
    K = mc.Gaussian(0.5)(X)
    Phi = _data(N, 7)
    thin = np.where(np.abs(Phi) < 0.7, 0.0, Phi)
    wide = _data(N, 35)
    return {
        "lazy": (mc.Gaussian(0.5).gram(X), K),
        "stored": (DenseGram(K), K),
        "features": (LowRankGram(Phi), Phi @ Phi.T),
        "sparse": (LowRankGram(sparse.csr_matrix(thin)), thin @ thin.T),
        "wide": (LowRankGram(wide), wide @ wide.T),
    }


GRAMS = ["lazy", "stored", "features", "sparse", "wide"]
WEIGHTS = {"ones": np.ones(N), "weights": np.random.default_rng(5).uniform(0.2, 3.0, N)}


def _fit(K: Any, Y: Any, w: Any, ridge: float, bias: bool) -> tuple[Any, Any]:
    """Coefficients and bias from the bordered matrix."""
    n = len(K)
    M = np.zeros((n + 1, n + 1))
    M[:n, :n] = K + ridge * np.diag(1 / w)
    M[n, :n] = M[:n, n] = float(bias)
    M[n, n] = 0.0 if bias else 1.0
    found = np.linalg.solve(M, np.vstack([Y, np.zeros(Y.shape[1])]))
    return found[:n], found[n]


def _hat(K: Any, w: Any, ridge: float, bias: bool) -> Any:
    """What maps y to its predictions."""
    A, b = _fit(K, np.eye(len(K)), w, ridge, bias)
    return K @ A + b


each = pytest.mark.parametrize("kind", GRAMS)
with_bias = pytest.mark.parametrize("bias", [True, False])
weighted = pytest.mark.parametrize("w", list(WEIGHTS.values()), ids=list(WEIGHTS))


@each
@with_bias
@weighted
def test_coefficients_and_biases(kind: str, bias: bool, w: Any) -> None:
    gram, K = _grams()[kind]
    Y = _data(N, 3, 1) + 2.0
    decomposition = Eigendecomposition.of(gram, w, bias)
    assert decomposition.complete == (kind in ("lazy", "stored", "wide"))
    A = decomposition.coefficients(Y, RIDGES)
    assert A.shape == (4, N, 3)
    for coef, ridge in zip(A, RIDGES, strict=True):
        expected, b = _fit(K, Y, w, ridge, bias)
        np.testing.assert_allclose(coef, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        np.testing.assert_allclose(_biases(decomposition, gram, Y, coef), b, rtol=0, atol=1e-8)


def test_the_matrix_that_was_given_is_not_touched() -> None:
    K = mc.Gaussian(0.5)(_data(N))
    kept = K.copy()
    for bias in (True, False):
        Eigendecomposition.of(DenseGram(K), WEIGHTS["weights"], bias)
    np.testing.assert_array_equal(K, kept)


@each
@with_bias
@weighted
def test_leaving_one_out_is_fitting_without_it(kind: str, bias: bool, w: Any) -> None:
    gram, K = _grams()[kind]
    Y = _data(N, 3, 1) + 2.0
    found = Eigendecomposition.of(gram, w, bias).leave_one_out(Y, RIDGES)
    assert found.shape == (4, N, 3)
    for residuals, ridge in zip(found, RIDGES, strict=True):
        brute = np.empty_like(Y)
        for i in range(N):
            rest = np.delete(np.arange(N), i)
            A, b = _fit(K[np.ix_(rest, rest)], Y[rest], w[rest], ridge, bias)
            brute[i] = Y[i] - K[i, rest] @ A - b
        np.testing.assert_allclose(residuals, brute, rtol=1e-8, atol=1e-8 * np.abs(brute).max())


@each
@with_bias
@weighted
def test_degrees_are_the_trace_of_the_hat_matrix(kind: str, bias: bool, w: Any) -> None:
    gram, K = _grams()[kind]
    traces = [np.trace(_hat(K, w, ridge, bias)) for ridge in RIDGES]
    np.testing.assert_allclose(Eigendecomposition.of(gram, w, bias).degrees(RIDGES), traces, rtol=1e-9)


@each
@with_bias
@weighted
def test_generalised_cross_validation_from_the_hat_matrix(kind: str, bias: bool, w: Any) -> None:
    gram, K = _grams()[kind]
    Y = _data(N, 3, 1) + 2.0
    found = Eigendecomposition.of(gram, w, bias).generalised(Y, RIDGES)
    for values, ridge in zip(found, RIDGES, strict=True):
        H = _hat(K, w, ridge, bias)
        r = Y - H @ Y
        np.testing.assert_allclose(values, N * (w @ r**2) / (N - np.trace(H)) ** 2, rtol=1e-7)


# -- likelihood
# ---------------------------------------------------------------------------------------------------------


@each
@with_bias
@weighted
def test_the_likelihood_is_that_of_contrasts(kind: str, bias: bool, w: Any) -> None:
    """The density of C^T y at its best σ², C an orthonormal basis of what has sum 0.

    To integrate over b, along (1, …, 1) and not along its direction, takes ½ log n off.
    """
    gram, K = _grams()[kind]
    Y = _data(N, 2, 1) + 2.0
    C = linalg.null_space(np.ones((1, N))) if bias else np.eye(N)
    m = C.shape[1]
    found = Eigendecomposition.of(gram, w, bias).likelihood(Y, RIDGES)
    for values, ridge in zip(found, RIDGES, strict=True):
        Sigma = C.T @ (K + ridge * np.diag(1 / w)) @ C
        for value, t in zip(values, (C.T @ Y).T, strict=True):
            sigma2 = float(t @ np.linalg.solve(Sigma, t)) / m
            best = multivariate_normal(np.zeros(m), sigma2 * Sigma).logpdf(t)
            assert value == pytest.approx(best - (0.5 * np.log(N) if bias else 0.0), rel=1e-8, abs=1e-6)
            for other in (0.9, 1.1):  # it is a maximum
                assert multivariate_normal(np.zeros(m), other * sigma2 * Sigma).logpdf(t) < best


def test_the_bias_is_integrated_out() -> None:
    """max over σ² of ∫ N(y; b, σ²(K + λW^−1)) db, by quadrature."""
    n, ridge = 8, 0.3
    K, w, y = mc.Gaussian(0.5)(_data(n)), np.random.default_rng(0).uniform(0.5, 2.0, n), _data(n, 1, 1)[:, 0] + 1.0
    Sigma = K + ridge * np.diag(1 / w)

    def evidence(log_sigma2: float) -> float:
        density = multivariate_normal(np.zeros(n), np.exp(log_sigma2) * Sigma)
        centre = density.logpdf(y - y.mean())
        area = integrate.quad(
            lambda b: np.exp(density.logpdf(y - b) - centre),
            -30,
            30,
            points=[y.mean()],
            limit=500,
            epsabs=0,
            epsrel=1e-10,
        )[0]
        return float(centre + np.log(area))

    best = minimize_scalar(lambda s: -evidence(s), bounds=(-4, 4), method="bounded", options={"xatol": 1e-6})
    found = Eigendecomposition.of(DenseGram(K), w, True).likelihood(y[:, None], [ridge])[0, 0]
    assert found == pytest.approx(-best.fun, rel=1e-8)


def test_a_constant_in_y_is_no_evidence() -> None:
    gram, _ = _grams()["lazy"]
    Y = _data(N, 1, 1)
    decomposition = Eigendecomposition.of(gram, WEIGHTS["weights"], True)
    np.testing.assert_allclose(
        decomposition.likelihood(Y + 1e5, RIDGES), decomposition.likelihood(Y, RIDGES), rtol=1e-7
    )
    assert (
        np.abs(
            Eigendecomposition.of(gram, WEIGHTS["weights"], False).likelihood(Y + 1e5, RIDGES)
            - decomposition.likelihood(Y, RIDGES)
        ).max()
        > 10
    )


# -- least norm
# ---------------------------------------------------------------------------------------------------------


@each
@with_bias
@weighted
def test_no_ridge_is_the_pseudo_inverse(kind: str, bias: bool, w: Any) -> None:
    """Least squares with weights, and of all of them the one of least ‖f‖."""
    gram, K = _grams()[kind]
    Y = _data(N, 2, 1) + 2.0
    decomposition = Eigendecomposition.of(gram, w, bias)
    A = decomposition.coefficients(Y, 0.0)[0]
    b = _biases(decomposition, gram, Y, A)
    s = np.sqrt(w)
    P = np.eye(N) - np.outer(s, s) / w.sum() if bias else np.eye(N)
    pseudo = np.linalg.pinv(P @ (s[:, None] * K * s) @ P, rcond=1e-11, hermitian=True)
    np.testing.assert_allclose(A, s[:, None] * (pseudo @ (s[:, None] * Y)), rtol=0, atol=1e-6 * np.abs(A).max())
    # against least squares on features of the kernel: minimum norm in them, the bias free
    values, vectors = np.linalg.eigh(K)
    used = values > 1e-11 * values[-1]
    Phi = vectors[:, used] * np.sqrt(values[used])
    mean = (w @ Phi / w.sum()) * bias
    theta = np.linalg.lstsq(s[:, None] * (Phi - mean), s[:, None] * (Y - bias * (w @ Y) / w.sum()), rcond=1e-10)[0]
    np.testing.assert_allclose(K @ A + b, (Phi - mean) @ theta + bias * (w @ Y) / w.sum(), rtol=0, atol=1e-6)


@each
@with_bias
def test_degrees_without_a_ridge_are_the_rank(kind: str, bias: bool) -> None:
    gram, K = _grams()[kind]
    H = np.eye(N) - np.full((N, N), 1 / N) if bias else np.eye(N)
    rank = np.linalg.matrix_rank(H @ K @ H, tol=1e-10 * np.linalg.norm(K, 2))
    np.testing.assert_allclose(Eigendecomposition.of(gram, np.ones(N), bias).degrees(0.0), rank + bias, rtol=1e-9)


def test_duplicates_and_a_tiny_ridge() -> None:
    """Eigenvalues that are zero but for rounding, some below it: nothing blows up."""
    X = np.repeat(_data(10), 4, axis=0)
    K, Y = mc.Gaussian(0.5)(X), _data(N, 2, 1)
    for bias in (True, False):
        decomposition = Eigendecomposition.of(DenseGram(K), np.ones(N), bias)
        f = K @ decomposition.coefficients(Y, 0.0)[0]
        f = f + _biases(decomposition, DenseGram(K), Y, decomposition.coefficients(Y, 0.0)[0])
        # ten groups: their means
        np.testing.assert_allclose(f, np.repeat(Y.reshape(10, 4, 2).mean(axis=1), 4, axis=0), atol=1e-8)
        np.testing.assert_allclose(decomposition.degrees(0.0), 10, rtol=1e-9)


def test_one_or_two_samples() -> None:
    for n in (1, 2):
        K = mc.Gaussian(0.5)(_data(n))
        for bias in (True, False):
            A = Eigendecomposition.of(DenseGram(K), np.ones(n), bias).coefficients(np.arange(1.0, n + 1)[:, None], 0.5)[
                0
            ]
            np.testing.assert_allclose(A, _fit(K, np.arange(1.0, n + 1)[:, None], np.ones(n), 0.5, bias)[0], atol=1e-12)


def test_the_grid_covers_what_matters() -> None:
    """From a ridge that changes nothing to one that leaves little but the mean, whatever the scale of the kernel."""
    X = _data(200)
    for scale in (1e-4, 1.0, 1e5):
        gram = (scale * mc.Gaussian(0.5)).gram(X)
        ridges = grid(gram)
        assert len(ridges) == 20
        assert (np.diff(ridges) > 0).all()
        degrees = Eigendecomposition.of(gram, np.ones(200), True).degrees(ridges)
        assert degrees[0] > 150
        assert degrees[-1] < 3
    assert len(grid(gram, 7)) == 7


def _biases(decomposition: Eigendecomposition, gram: Any, Y: Any, A: Any) -> Any:
    """The weighted mean of y − K A, in which the ridge's part λW^−1 A sums to zero."""
    return (
        np.average(Y - np.asarray(gram @ A), axis=0, weights=decomposition.scale**2)
        if decomposition.bias
        else np.zeros(A.shape[1])
    )


@pytest.mark.thorough
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n", [8, 33, 300])
def test_two_diagonals_say_what_eigenvalues_say(n: int, bias: bool) -> None:
    """Every quantity, for every λ, with weights and several outputs."""
    rng = np.random.default_rng(n)
    X, Y, w = rng.standard_normal((n, 4)), rng.standard_normal((n, 3)) + 50, rng.uniform(0.2, 3, n)
    ridges = np.geomspace(1e-3, 10, 6)
    for kernel in (mc.Gaussian(0.2), mc.Gaussian(5.0), mc.Laplacian(0.5)):
        gram = kernel.gram(X)
        a, b = Eigendecomposition.of(gram, w, bias), Tridiagonal.of(gram, w, bias)
        for name in ("coefficients", "leave_one_out", "generalised", "likelihood"):
            expected = getattr(a, name)(Y, ridges)
            np.testing.assert_allclose(
                getattr(b, name)(Y, ridges), expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max()
            )
        np.testing.assert_allclose(b.diagonal(ridges), a.diagonal(ridges), rtol=1e-9)
        np.testing.assert_allclose(b.degrees(ridges), a.degrees(ridges), rtol=1e-9, atol=1e-9)


def test_two_diagonals_refuse_what_is_not_positive() -> None:
    """Then ``KernelRidgeCV`` goes by eigenvalues."""
    rng = np.random.default_rng(0)
    K = rng.standard_normal((30, 30))
    K = K + K.T
    with pytest.raises(NotPositive):
        Tridiagonal.of(DenseGram(K), np.ones(30), True).coefficients(np.ones((30, 1)), [1e-3])
    y = rng.standard_normal(30)
    with pytest.warns(UserWarning, match="indefinite"):
        found = mc.KernelRidgeCV([1e-3, 1e3], "precomputed").fit(K, y)
    left = [
        y[i]
        - mc.KernelRidge(found.alpha_, "precomputed", solver="eigen")
        .fit(np.delete(np.delete(K, i, 0), i, 1), np.delete(y, i))
        .predict(np.delete(K[[i]], i, 1))[0]
        for i in range(30)
    ]
    np.testing.assert_allclose(found.loo_residuals_, left, rtol=1e-6)
