"""Ridge systems against the bordered matrix solved by NumPy, and residuals against those computed with more digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mercer as mc
from mercer.compute import Compute
from mercer.gram import CachedGram, DenseGram, Gram, LowRankGram
from mercer.problems import LinearSolution, LinearSystem
from mercer.solvers.inverses import Woodbury
from mercer.solvers.linear import ConjugateGradients


def _data(n: int, d: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((n, d))


def _bordered(K: Any, system: LinearSystem) -> tuple[Any, Any]:
    """(K + λW^−1) A + 1 b^T = Y, 1^T A = c as one matrix, over the samples that have weight."""
    used = system.weights > 0
    n, Y = int(used.sum()), system.targets.reshape(len(used), -1)
    M, right = np.zeros((n + 1, n + 1)), np.zeros((n + 1, Y.shape[1]))
    M[:n, :n] = K[np.ix_(used, used)] + system.ridge * np.diag(1 / system.weights[used])
    right[:n] = Y[used]
    if system.bias:
        M[:n, n] = M[n, :n] = 1.0
        right[n] = 0.0 if system.total is None else system.total
    else:
        M[n, n] = 1.0
    found = np.linalg.solve(M, right)
    A = np.zeros(Y.shape)
    A[used] = found[:n]
    return A, found[n]


def _left(K: Any, system: LinearSystem, s: LinearSolution) -> float:
    """The residual as ``LinearSolution`` defines it, with the digits of long double."""
    w, Y = system.weights.astype(np.longdouble), system.targets.reshape(len(system.weights), -1).astype(np.longdouble)
    A, used = s.coef.astype(np.longdouble), system.weights > 0
    R = Y - K.astype(np.longdouble) @ A - s.bias.astype(np.longdouble)
    R[used] -= system.ridge * A[used] / w[used, None]
    R, B = np.sqrt(w)[:, None] * R, Y - (np.average(Y, axis=0, weights=w) if system.bias else 0.0)
    return float(
        np.max(
            np.linalg.norm(R.astype(float), axis=0) / np.linalg.norm((np.sqrt(w)[:, None] * B).astype(float), axis=0)
        )
    )


def _weights(n: int, seed: int = 2) -> Any:
    return np.random.default_rng(seed).uniform(0.1, 4.0, n)


@pytest.mark.thorough
@pytest.mark.parametrize("solver", ["auto", "cholesky", "cg"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("outputs", [0, 1, 3])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_solution_is_that_of_the_bordered_matrix(solver: str, bias: bool, outputs: int, weighted: bool) -> None:
    X, n = _data(150), 150
    Y = 3.0 + (_data(n, outputs, 1) if outputs else _data(n, 1, 1)[:, 0])
    system = LinearSystem(Y, _weights(n) if weighted else np.ones(n), 0.2, bias)
    kernel = mc.Gaussian(0.5)
    K = kernel(X)
    A, b = _bordered(K, system)
    for gram in (kernel.gram(X), DenseGram(K), CachedGram(kernel.gram(X)), kernel.gram(X, compute=Compute(threads=2))):
        s = ConjugateGradients(1e-11, solver=solver).solve(system, gram)
        np.testing.assert_allclose(s.coef, A, rtol=0, atol=1e-9 * np.abs(A).max())
        np.testing.assert_allclose(s.bias, b, rtol=0, atol=1e-9 * max(1.0, np.abs(b).max()))
        assert s.residual <= 1e-11
        assert s.solver == ("cholesky" if solver == "auto" else solver)
        assert not bias or np.abs(s.coef.sum(axis=0)).max() < 1e-10 * np.abs(A).sum()


@pytest.mark.thorough
@pytest.mark.parametrize("solver", ["auto", "woodbury", "cholesky", "cg"])
@pytest.mark.parametrize("bias", [True, False])
def test_features_dense_and_sparse(solver: str, bias: bool) -> None:
    Phi = _data(200, 12)
    Phi[np.abs(Phi) < 1.0] = 0.0
    system = LinearSystem(_data(200, 2, 1) + 1.0, _weights(200), 0.7, bias)
    A, b = _bordered(Phi @ Phi.T, system)
    for left in (Phi, sparse.csr_matrix(Phi)):
        s = ConjugateGradients(1e-12, solver=solver).solve(system, LowRankGram(left))
        np.testing.assert_allclose(s.coef, A, rtol=0, atol=1e-9 * np.abs(A).max())
        np.testing.assert_allclose(s.bias, b, rtol=0, atol=1e-9)
        assert s.solver == ("woodbury" if solver == "auto" else solver)


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_sums_that_are_asked_for(solver: str) -> None:
    X = _data(90)
    total = np.array([2.0, -1.0, 0.0])
    system = LinearSystem(_data(90, 3, 1), _weights(90), 0.2, True, total)
    s = ConjugateGradients(1e-12, solver=solver).solve(system, mc.Gaussian(0.5).gram(X))
    A, b = _bordered(mc.Gaussian(0.5)(X), system)
    np.testing.assert_allclose(s.coef.sum(axis=0), total, atol=1e-10)
    np.testing.assert_allclose(s.coef, A, rtol=0, atol=1e-9)
    np.testing.assert_allclose(s.bias, b, rtol=0, atol=1e-9)


def test_a_weight_of_zero_is_no_sample() -> None:
    X, w = _data(80), np.where(np.arange(80) % 3 == 0, 0.0, 1.3)
    for bias in (True, False):
        system = LinearSystem(_data(80, 2, 1), w, 0.2, bias)
        s = ConjugateGradients(1e-12).solve(system, mc.Gaussian(0.5).gram(X))
        A, b = _bordered(mc.Gaussian(0.5)(X), system)
        assert not s.coef[w == 0].any()
        np.testing.assert_allclose(s.coef, A, rtol=0, atol=1e-9)
        np.testing.assert_allclose(s.bias, b, rtol=0, atol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("bias", [True, False])
def test_a_factor_in_single_precision_costs_no_digits(bias: bool) -> None:
    """n = 2100: factored in float32, the solution that of float64."""
    X, n = _data(2100), 2100
    kernel = mc.Gaussian(0.5)
    system = LinearSystem(_data(n, 2, 1) + 5.0, _weights(n), 0.05, bias)
    s = ConjugateGradients(1e-12).solve(system, kernel.gram(X))
    A, b = _bordered(kernel(X), system)
    assert s.solver == "cholesky"
    assert 1 < s.n_iter < 20  # one step would mean a factor in float64
    assert s.residual <= 1e-12
    np.testing.assert_allclose(s.coef, A, rtol=0, atol=1e-8 * np.abs(A).max())
    np.testing.assert_allclose(s.bias, b, rtol=0, atol=1e-8)


def test_an_approximate_preconditioner_takes_more_steps_to_the_same_place() -> None:
    X = _data(400)
    gram = mc.Gaussian(0.5).gram(X)
    system = LinearSystem(_data(400, 2, 1), _weights(400), 0.2)
    A, b = _bordered(mc.Gaussian(0.5)(X), system)
    s = ConjugateGradients(1e-11, solver="cg").solve(system, gram, Woodbury.pivoted(gram, 40))
    assert s.n_iter > 5
    assert s.residual <= 1e-11
    np.testing.assert_allclose(s.coef, A, rtol=0, atol=1e-8 * np.abs(A).max())
    np.testing.assert_allclose(s.bias, b, rtol=0, atol=1e-8)


def test_within_little_memory() -> None:
    X = _data(400)
    gram = mc.Gaussian(0.5).gram(X, compute=Compute(memory="1MB"))
    system = LinearSystem(_data(400, 1, 1)[:, 0], np.ones(400), 0.2)
    s = ConjugateGradients().solve(system, gram)
    A, _ = _bordered(mc.Gaussian(0.5)(X), system)
    assert s.solver == "cg"
    np.testing.assert_allclose(s.coef, A, rtol=0, atol=1e-6 * np.abs(A).max())


def test_a_constant_costs_no_digits() -> None:
    """y + 10⁸ has the coefficients of y to the rounding of y itself."""
    X, y = _data(100), _data(100, 1, 1)[:, 0]
    gram = mc.Gaussian(0.5).gram(X)
    far = y + 1e8
    one, other = (ConjugateGradients(1e-12).solve(LinearSystem(t, _weights(100), 0.1), gram) for t in (far - 1e8, far))
    np.testing.assert_allclose(
        other.coef, one.coef, rtol=0, atol=1e-12 * np.abs(one.coef).max() + 1e-6 * np.finfo(float).eps * 1e8
    )
    np.testing.assert_allclose(other.bias - 1e8, one.bias, rtol=0, atol=1e-7)


def test_a_constant_alone_is_the_bias() -> None:
    s = ConjugateGradients().solve(LinearSystem(np.full(50, 7.5), _weights(50), 0.1), mc.Gaussian(0.5).gram(_data(50)))
    assert np.abs(s.coef).max() < 1e-14
    np.testing.assert_allclose(s.bias, 7.5, rtol=1e-15)
    assert s.residual <= 1e-8


def test_one_sample() -> None:
    s = ConjugateGradients().solve(LinearSystem(np.array([3.0]), np.ones(1), 0.5, False), DenseGram(np.array([[2.0]])))
    np.testing.assert_allclose(s.coef, [[3.0 / 2.5]])
    s = ConjugateGradients().solve(LinearSystem(np.array([3.0]), np.ones(1), 0.5, True), DenseGram(np.array([[2.0]])))
    np.testing.assert_allclose([s.coef[0, 0], s.bias[0]], [0.0, 3.0])


# -- ill-conditioned
# ----------------------------------------------------------------------------------------------------


def _hard(n: int, condition: float, seed: int) -> Any:
    """A matrix with eigenvalues from 1 down to 1/condition."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    K = (Q * np.geomspace(1, 1 / condition, n)) @ Q.T
    return (K + K.T) / 2


@pytest.mark.thorough
@given(
    n=st.sampled_from([2, 30, 120]),
    condition=st.sampled_from([1e2, 1e6, 1e10, 1e12, 1e14]),
    ridge=st.sampled_from([1e-15, 1e-13, 1e-9, 1e-3]),
    solver=st.sampled_from(["auto", "cholesky", "cg"]),
    bias=st.booleans(),
    duplicates=st.booleans(),
    seed=st.integers(0, 3),
)
def test_the_residual_is_reached_or_the_truth_reported(
    n: int, condition: float, ridge: float, solver: str, bias: bool, duplicates: bool, seed: int
) -> None:
    K = _hard(n, condition, seed)
    if duplicates:
        half = np.concatenate([np.arange(n - n // 2), np.arange(n // 2)])
        K = K[np.ix_(half, half)]
    system = LinearSystem(_data(n, 2, seed), _weights(n, seed), ridge, bias)
    s = ConjugateGradients(1e-8, solver=solver).solve(system, DenseGram(K))
    assert np.isfinite(s.coef).all()
    true = _left(K, system, s)
    rounding = (
        20 * np.sqrt(n) * np.finfo(float).eps * np.abs(s.coef).max() * 4.0 / max(np.abs(system.targets).max(), 1e-300)
    )
    assert abs(s.residual - true) <= 0.05 * true + rounding
    smallest = ridge + (0.0 if duplicates else system.weights.min() / condition)
    if (4.0 + ridge) / smallest <= 1e7:  # rounding times the condition is then well below
        assert s.residual <= 1e-8


@pytest.mark.parametrize("ridge", [1e-10, 1e-6, 1e-2])
def test_many_duplicates(ridge: float) -> None:
    """Twenty copies each of 40 points: as many zero eigenvalues as can be."""
    X, y = np.repeat(_data(40), 20, axis=0), _data(800, 1, 1)[:, 0]
    kernel = mc.Gaussian(0.5)
    system = LinearSystem(y, np.ones(800), ridge)
    s = ConjugateGradients().solve(system, kernel.gram(X))
    assert abs(s.residual - _left(kernel(X), system, s)) <= 0.05 * s.residual + 1e-11 * np.abs(s.coef).max()
    # equal points are one of twenty times the weight and the mean label
    small = LinearSystem(y.reshape(40, 20).mean(axis=1), np.full(40, 20.0), ridge)
    A, b = _bordered(kernel(X[::20]), small)
    f = kernel(X[::20]) @ A + b
    if ridge >= 1e-6:  # else rounding times the condition, 10¹³, is in the way
        assert s.residual <= 1e-8
        np.testing.assert_allclose(kernel(X[::20], X) @ s.coef + s.bias, f, rtol=0, atol=1e-5)


# -- limits
# -------------------------------------------------------------------------------------------------------------


def _slow(n: int = 300) -> tuple[Gram, LinearSystem, Woodbury]:
    gram = mc.Gaussian(2.0).gram(_data(n))
    return gram, LinearSystem(_data(n, 1, 1)[:, 0], np.ones(n), 1e-3), Woodbury.pivoted(gram, 10)


def test_a_limit_of_steps_is_kept_and_reported() -> None:
    gram, system, inverse = _slow()
    s = ConjugateGradients(1e-10, max_iter=3, solver="cg").solve(system, gram, inverse)
    assert s.n_iter == 3
    assert s.residual > 1e-10
    assert np.isclose(s.residual, _left(np.asarray(gram.dense()), system, s), rtol=1e-6)


def test_progress_is_told_and_may_stop() -> None:
    gram, system, inverse = _slow()
    seen: list[dict[str, Any]] = []
    ConjugateGradients(1e-10, solver="cg", progress=seen.append).solve(system, gram, inverse)
    assert len(seen) > 5
    assert [state["n_iter"] for state in seen] == list(range(1, len(seen) + 1))
    assert {"residual", "tol", "seconds"} <= set(seen[0])
    few: list[Any] = []
    s = ConjugateGradients(1e-10, solver="cg", progress=lambda state: few.append(state) or len(few) == 2).solve(
        system, gram, inverse
    )  # type: ignore[func-returns-value]
    assert len(few) == s.n_iter == 2


def test_a_factor_is_the_second_attempt() -> None:
    """Where a part of the matrix is too poor a preconditioner and the whole fits, "auto" factors the whole."""
    gram, system, inverse = _slow()

    class Useless:
        name, exact = "cg", False

        def shifted(self, scale: Any, ridge: float) -> Any:
            seen = (np.arange(len(scale)) % 2 == 0).astype(float)[:, None]
            return lambda V: seen * V  # every second sample is never touched

    s = ConjugateGradients(1e-10).solve(system, gram, Useless())  # type: ignore[arg-type]
    assert s.solver == "cholesky"
    assert s.residual <= 1e-10
    limited = ConjugateGradients(1e-10, max_iter=5).solve(system, gram, inverse)  # a limit that was set is kept
    assert (limited.solver, limited.stop_reason, limited.n_iter) == ("cg", "max_iter", 5)


def test_interrupts_are_passed_on() -> None:
    gram, system, inverse = _slow()

    def interrupt(state: Any) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ConjugateGradients(1e-10, progress=interrupt).solve(system, gram, inverse)
