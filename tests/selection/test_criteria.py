"""Every criterion from its definition (refits, hat matrices, densities, quadratic programmes by SciPy), every
derivative by differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.svm import SVC

import mercer as mc
from mercer.selection import criteria
from mercer.selection.criteria import CRITERIA, Projected
from mercer.solvers.spectral import Eigendecomposition

REGRESSION = ("loo", "gcv", "marginal likelihood", "alignment")
CLASSIFICATION = ("radius-margin", "span")


def _problem(n: int = 14, outputs: int = 1, seed: int = 0) -> tuple[Any, Any, Any]:
    """A matrix of full rank, targets that are not centred, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    Y = np.column_stack([np.sin(2 * X[:, 0] + t) + 0.3 * rng.standard_normal(n) + 1.5 for t in range(outputs)])
    return mc.Gaussian(0.7)(X), Y, rng.uniform(0.3, 3.0, n)


def _classes(n: int = 16, seed: int = 0) -> tuple[Any, Any, Any]:
    """Two classes that overlap a little, with both margin errors and samples that are no support vectors."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, 2)) + 1.3 * y[:, None]
    return mc.Gaussian(0.2)(X), y[:, None], rng.uniform(0.5, 2.0, n)


def _cases() -> list[Any]:
    out = []
    for name in (*REGRESSION, *CLASSIFICATION):
        for bias in (True, False):
            for weighted in (True, False):
                out.append(
                    pytest.param(
                        name,
                        bias,
                        weighted,
                        id=f"{name}-{'bias' if bias else 'no bias'}-{'weights' if weighted else 'equal'}",
                    )
                )
    return out


def _data(name: str, weighted: bool, outputs: int = 2) -> tuple[Any, Any, Any]:
    K, Y, w = _classes(11) if name in CLASSIFICATION else _problem(outputs=outputs)
    return K, Y, w if weighted else np.ones(len(w))


# -- derivatives ------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "bias", "weighted"), _cases())
def test_derivative_by_every_entry(name: str, bias: bool, weighted: bool) -> None:
    """M_ij + M_ji is the derivative by K_ij = K_ji, M_ii that by K_ii, for all pairs."""
    K, Y, w = _data(name, weighted)
    judge, ridge, h = CRITERIA[name], 0.3, 1e-5
    value, M, _ = judge(K, Y, w, ridge, bias)
    assert np.isfinite(value)
    np.testing.assert_allclose(M, M.T, atol=1e-12 * np.abs(M).max())
    found, expected = [], []
    for i in range(len(K)):
        for j in range(i + 1):
            E = np.zeros_like(K)
            E[i, j] = E[j, i] = h
            expected.append((judge(K + E, Y, w, ridge, bias)[0] - judge(K - E, Y, w, ridge, bias)[0]) / (2 * h))
            found.append(M[i, i] if i == j else M[i, j] + M[j, i])
    assert np.abs(expected).max() > 1e-3  # a criterion that does not depend on K would pass
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(("name", "bias", "weighted"), _cases())
def test_derivative_by_the_ridge(name: str, bias: bool, weighted: bool) -> None:
    K, Y, w = _data(name, weighted)
    judge, h = CRITERIA[name], 1e-5
    for ridge in (0.05, 0.3, 2.0):
        slope = judge(K, Y, w, ridge, bias)[2]
        expected = (judge(K, Y, w, ridge * np.exp(h), bias)[0] - judge(K, Y, w, ridge * np.exp(-h), bias)[0]) / (2 * h)
        assert slope == pytest.approx(expected, rel=1e-6, abs=1e-8)
        assert (expected == 0) == (name == "alignment")


def test_the_matrix_given_is_not_changed() -> None:
    for name in CRITERIA:
        K, Y, w = _data(name, True)
        before = K.copy()
        CRITERIA[name](K, Y, w, 0.3, True)
        np.testing.assert_array_equal(K, before)


# -- the ridge --------------------------------------------------------------------------------------------------------


def _fit(K: Any, Y: Any, w: Any, ridge: float, bias: bool) -> tuple[Any, Any]:
    """Coefficients and bias of the weighted ridge, from its bordered system."""
    n = len(K)
    S = np.zeros((n + 1, n + 1))
    S[:n, :n] = K + ridge * np.diag(1 / w)
    if not bias:
        return np.linalg.solve(S[:n, :n], Y), np.zeros(Y.shape[1])
    S[n, :n] = S[:n, n] = 1.0
    solution = np.linalg.solve(S, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return solution[:n], solution[n]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_leave_one_out_is_refitting(bias: bool, weighted: bool) -> None:
    """Refitted without each sample, by its own solver and by ``KernelRidge``."""
    K, Y, w = _data("loo", weighted)
    n, ridge = len(K), 0.3
    residuals = np.empty_like(Y)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        alpha, b = _fit(K[np.ix_(rest, rest)], Y[rest], w[rest], ridge, bias)
        residuals[i] = Y[i] - K[i, rest] @ alpha - b
        machine = mc.KernelRidge(ridge, "precomputed", fit_intercept=bias).fit(
            K[np.ix_(rest, rest)], Y[rest], sample_weight=w[rest]
        )
        np.testing.assert_allclose(Y[i] - machine.predict(K[i : i + 1, rest])[0], residuals[i], atol=1e-9)
    expected = np.log(np.sum(w[:, None] * residuals**2) / w.sum())
    assert CRITERIA["loo"](K, Y, w, ridge, bias)[0] == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(Projected.of(K, Y, w, ridge, bias).leave_one_out(), residuals, atol=1e-10)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_gcv_by_the_hat_matrix(bias: bool, weighted: bool) -> None:
    K, Y, w = _data("gcv", weighted)
    n, ridge = len(K), 0.3
    alpha, b = _fit(K, np.eye(n), w, ridge, bias)  # the fit of each unit vector is a column of the hat matrix
    H = K @ alpha + b
    r = Y - H @ Y
    expected = np.log(n * np.sum(w[:, None] * r**2) / (n - np.trace(H)) ** 2)
    assert CRITERIA["gcv"](K, Y, w, ridge, bias)[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_marginal_likelihood_by_densities(bias: bool, weighted: bool) -> None:
    """max over σ² of the density of y, or of n − 1 orthonormal contrasts of it, which do not see the bias, and 1^T 1 =
    n of the integral over b.
    """
    K, Y, w = _data("marginal likelihood", weighted)
    n, ridge = len(K), 0.3
    C = K + ridge * np.diag(1 / w)
    A = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))[0][:, 1:].T if bias else np.eye(n)
    total = 0.0
    for y in Y.T:

        def minus_log(log_variance: Any, y: Any = y) -> float:
            return -float(multivariate_normal(np.zeros(len(A)), np.exp(log_variance[0]) * A @ C @ A.T).logpdf(A @ y))

        total += minimize(minus_log, [0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).fun
    # ∫ N(y; b1, σ²C) db over the length of 1: the contrasts' density times 1/√(1^T 1)
    expected = total + (Y.shape[1] * 0.5 * np.log(n) if bias else 0.0)
    assert CRITERIA["marginal likelihood"](K, Y, w, ridge, bias)[0] == pytest.approx(expected, rel=1e-9)


def test_marginal_likelihood_by_integration() -> None:
    """The integral over b, done numerically, of the density at the best variance."""
    K, Y, w = _problem(6)
    ridge, n = 0.3, 6
    C = K + ridge * np.diag(1 / w)
    value = CRITERIA["marginal likelihood"](K, Y, w, ridge, True)[0]
    grid, step = np.linspace(-30, 30, 40001, retstep=True)

    def minus_log(log_variance: Any) -> float:
        V = np.exp(log_variance[0]) * C
        r = Y[:, 0][:, None] - grid
        quadratic = np.sum(r * np.linalg.solve(V, r), axis=0)
        density = np.exp(-0.5 * quadratic) / np.sqrt((2 * np.pi) ** n * np.linalg.det(V))
        return -float(np.log(np.sum(density) * step))

    assert value == pytest.approx(
        minimize(minus_log, [0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10}).fun, rel=1e-7
    )


@pytest.mark.parametrize("bias", [True, False])
def test_criteria_of_the_ridge_are_those_of_the_spectrum(bias: bool) -> None:
    """Two ways in the library to the same three numbers, summed over outputs as each does."""
    K, Y, w = _problem(outputs=1)
    spectrum = Eigendecomposition.of(mc.DenseGram(K), w, bias)
    for ridge in (0.01, 1.0, 30.0):
        e = spectrum.leave_one_out(Y, ridge)[0]
        assert CRITERIA["loo"](K, Y, w, ridge, bias)[0] == pytest.approx(
            np.log(np.sum(w[:, None] * e**2) / w.sum()), rel=1e-8
        )
        assert CRITERIA["gcv"](K, Y, w, ridge, bias)[0] == pytest.approx(
            np.log(spectrum.generalised(Y, ridge)[0, 0]), rel=1e-8
        )
        assert CRITERIA["marginal likelihood"](K, Y, w, ridge, bias)[0] == pytest.approx(
            -spectrum.likelihood(Y, ridge)[0, 0], rel=1e-8
        )


def test_a_constant_added_to_y_changes_nothing_with_a_bias() -> None:
    K, Y, w = _problem()
    for name in REGRESSION:
        one, other = CRITERIA[name](K, Y, w, 0.3, True), CRITERIA[name](K, Y + 100.0, w, 0.3, True)
        assert one[0] == pytest.approx(other[0], rel=1e-9)
        np.testing.assert_allclose(one[1], other[1], rtol=1e-6, atol=1e-9)
    assert abs(CRITERIA["loo"](K, Y, w, 0.3, False)[0] - CRITERIA["loo"](K, Y + 100.0, w, 0.3, False)[0]) > 1


# -- alignment --------------------------------------------------------------------------------------------------------


def test_alignment_by_definition_and_weights_as_repetition() -> None:
    K, Y, _ = _problem(outputs=2)
    n = len(K)
    w = np.random.default_rng(0).integers(1, 4, n).astype(float)
    again = np.repeat(np.arange(n), w.astype(int))
    m = len(again)
    H = np.eye(m) - 1 / m
    Kc, T = H @ K[np.ix_(again, again)] @ H, H @ Y[again] @ Y[again].T @ H
    expected = -np.sum(Kc * T) / (np.linalg.norm(Kc) * np.linalg.norm(T))
    value, M, slope = CRITERIA["alignment"](K, Y, w, 0.3, True)
    assert value == pytest.approx(expected, rel=1e-12)
    assert slope == 0.0
    assert -1 <= value <= 1
    repeated, R, _ = CRITERIA["alignment"](K[np.ix_(again, again)], Y[again], np.ones(m), 0.3, True)
    assert value == pytest.approx(repeated, rel=1e-12)
    of = again[:, None] == np.arange(n)
    np.testing.assert_allclose(of.T @ R @ of, M, atol=1e-12)


def test_alignment_of_the_ideal_kernel_is_one() -> None:
    _, Y, w = _problem()
    centred = Y - np.average(Y, axis=0, weights=w)
    value, M, _ = CRITERIA["alignment"](centred @ centred.T, Y, w, 0.3, True)
    assert value == pytest.approx(-1.0, abs=1e-12)
    np.testing.assert_allclose(M, 0.0, atol=1e-12)  # the smallest it can be


def test_alignment_is_that_of_the_library_without_weights() -> None:
    K, Y, _ = _problem()
    n = len(K)
    H = np.eye(n) - 1 / n
    value = CRITERIA["alignment"](K, Y, np.ones(n), 0.3, True)[0]
    # both have mean 0
    assert -value == pytest.approx(np.corrcoef((H @ K @ H).ravel(), (H @ Y @ Y.T @ H).ravel())[0, 1], rel=1e-10)


# -- the machine with squared slacks ----------------------------------------------------------------------------------


def _squared_slacks(K: Any, y: Any, w: Any, C: float, bias: bool) -> tuple[float, float]:
    """‖f‖² and R² in the kernel K + I/(C w), each from its primal or dual programme, by SciPy."""
    n = len(y)
    Kc = K + np.diag(1 / (C * w))
    Q = np.outer(y, y) * Kc
    equal = [LinearConstraint(y[None, :], 0.0, 0.0)] if bias else []
    options = {"gtol": 1e-10, "xtol": 1e-12, "maxiter": 3000}
    dual = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(), np.full(n, 0.1), jac=lambda a: Q @ a - 1, hess=lambda a: Q,
        bounds=Bounds(0, np.inf), constraints=equal, method="trust-constr", options=options,
    )  # fmt: skip
    diagonal = np.diagonal(Kc)
    ball = minimize(
        lambda b: b @ Kc @ b - b @ diagonal, np.full(n, 1 / n), jac=lambda b: 2 * Kc @ b - diagonal,
        hess=lambda b: 2 * Kc, bounds=Bounds(0, np.inf), constraints=[LinearConstraint(np.ones((1, n)), 1.0, 1.0)],
        method="trust-constr", options=options,
    )  # fmt: skip
    return -2 * float(dual.fun), -float(ball.fun)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_radius_and_margin_by_scipy(bias: bool, weighted: bool) -> None:
    K, Y, w = _data("radius-margin", weighted)
    ridge = 0.25
    margin, radius = _squared_slacks(K, Y[:, 0], w, 1 / (2 * ridge), bias)
    assert CRITERIA["radius-margin"](K, Y, w, ridge, bias)[0] == pytest.approx(np.log(radius * margin), abs=1e-5)


def test_radius_of_the_ball_by_its_points() -> None:
    """With orthogonal samples both problems have closed forms: ‖f‖² = n/(1 + 1/C) and R² = (1 + 1/C)(1 − 1/n)."""
    n, ridge = 10, 0.25
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    value = CRITERIA["radius-margin"](np.eye(n), y[:, None], np.ones(n), ridge, True)[0]
    assert value == pytest.approx(np.log(n - 1), rel=1e-9)


def _machine(K: Any, y: Any, C: float) -> Any:
    """The machine with squared slacks: a hard margin in K + I/C, by libsvm."""
    return SVC(C=1e8, kernel="precomputed", tol=1e-9).fit(K + np.eye(len(y)) / C, y)


def test_span_by_its_definition() -> None:
    """S_p², the squared distance of φ(x_p) to the affine span of the other support vectors, by least squares; the rest
    is arithmetic.
    """
    K, Y, _ = _classes(40)
    y, ridge = Y[:, 0], 0.25
    C = 1 / (2 * ridge)
    machine = _machine(K, y, C)
    Kc, chosen = K + np.eye(len(y)) / C, machine.support_
    alpha = np.abs(machine.dual_coef_[0])
    assert 2 < len(chosen) < len(y)
    total = 0.0
    for p, a in zip(chosen, alpha, strict=True):
        rest = np.setdiff1d(chosen, [p])
        # min over λ, Σλ = 1, of ‖φ_p − Σ λ_i φ_i‖²
        n = len(rest)
        system = np.block([[Kc[np.ix_(rest, rest)], np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        weights = np.linalg.solve(system, np.append(Kc[rest, p], 1.0))[:n]
        span2 = Kc[p, p] - 2 * weights @ Kc[rest, p] + weights @ Kc[np.ix_(rest, rest)] @ weights
        total += expit(5.0 * (a * span2 - 1))
    assert CRITERIA["span"](K, Y, np.ones(len(y)), ridge, True)[0] == pytest.approx(total / len(y), abs=1e-5)


@pytest.mark.thorough
def test_span_is_leave_one_out_on_an_easy_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """With steep sigmoids it counts errors; brute force refits the machine with squared slacks without each sample."""
    monkeypatch.setattr(criteria, "_STEEPNESS", 1e4)
    differences, errors = [], []
    for seed in range(8):
        K, Y, _ = _classes(30, seed)
        y, ridge, n = Y[:, 0], 0.5, 30
        C, wrong = 1 / (2 * ridge), 0
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            wrong += int(
                _machine(K[np.ix_(rest, rest)], y[rest], C).decision_function(K[i : i + 1, rest])[0] * y[i] <= 0
            )
        errors.append(wrong / n)
        differences.append(CRITERIA["span"](K, Y, np.ones(n), ridge, True)[0] - wrong / n)
    assert np.mean(errors) > 0.03  # else there was nothing to count
    assert np.mean(np.abs(differences)) <= 0.5 / 30
    assert np.max(np.abs(differences)) <= 1.01 / 30


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_two_classes_only(name: str) -> None:
    K, Y, w = _problem()
    with pytest.raises(ValueError, match="two classes"):
        CRITERIA[name](K, Y, w, 0.3, True)
    with pytest.raises(ValueError, match="two classes"):
        CRITERIA[name](K, np.ones((len(K), 3)), w, 0.3, True)
