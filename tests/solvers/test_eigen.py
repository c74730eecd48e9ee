"""Largest eigenvalues of Gram matrices: against LAPACK on the matrix that is never formed elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.gram import DenseGram
from mercer.problems import Eigen
from mercer.runtime.watch import watching
from mercer.solvers.eigen import block_krylov, solve_eigen


def truth(K: Any, w: Any, centred: bool) -> tuple[Any, Any]:
    """Eigenvalues, falling, and vectors of P S K S P, formed."""
    s = np.sqrt(w)
    A = s[:, None] * K * s
    P = np.eye(len(w)) - np.outer(s, s) / w.sum() if centred else np.eye(len(w))
    values, vectors = np.linalg.eigh(P @ A @ P)
    return values[::-1], vectors[:, ::-1]


@pytest.mark.parametrize("solver", ["exact", "lanczos", "krylov"])
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.thorough
def test_every_solver_finds_the_same(solver: str, centred: bool, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    w = rng.uniform(0.2, 3, 150) if weighted else np.ones(150)
    K = mc.Gaussian(0.3)(X)
    values, vectors = truth(K, w, centred)
    s = solve_eigen(Eigen(5, w, centred), mc.Gaussian(0.3).gram(X), solver, tol=1e-12)
    np.testing.assert_allclose(s.values, values[:5], rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(s.vectors * vectors[:, :5], axis=0)), 1, atol=1e-9)
    np.testing.assert_allclose(s.vectors.T @ s.vectors, np.eye(5), atol=1e-10)
    assert s.trace == pytest.approx(values.sum(), rel=1e-10)
    np.testing.assert_allclose(s.means, K @ w / w.sum(), rtol=1e-10)
    assert (s.vectors[np.argmax(np.abs(s.vectors), axis=0), np.arange(5)] > 0).all()
    assert s.solver == solver


def test_equal_eigenvalues_are_all_found() -> None:
    """Four clusters without a bridge: the eigenvalue 1 four times."""
    K = np.kron(np.eye(4), np.full((25, 25), 1 / 25))
    s = solve_eigen(Eigen(6, np.ones(100), centred=False), DenseGram(K), "krylov")
    np.testing.assert_allclose(s.values[:4], 1, rtol=1e-12)
    np.testing.assert_allclose(s.values[4:], 0, atol=1e-12)
    np.testing.assert_allclose(s.vectors[:, :4] @ s.vectors[:, :4].T, K, atol=1e-10)


@pytest.mark.thorough
def test_it_restarts() -> None:
    """A spectrum that falls slowly needs more steps than the room for vectors allows."""
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((600, 600)))
    values = np.linspace(1, 0.5, 600)
    K = (Q * values) @ Q.T
    start = rng.standard_normal((600, 8))
    found, vectors, steps, residual = block_krylov(lambda V: K @ V, start, 3, 600, tol=1e-9, max_iter=500)
    assert steps > 12  # 8 · 12 > 64 + …
    np.testing.assert_allclose(found, values[:3], rtol=1e-9)
    assert residual <= 1e-9
    np.testing.assert_allclose(K @ vectors, vectors * found, atol=1e-8)


def test_it_says_how_far_it_came_and_can_be_stopped() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 5))
    seen: list[dict[str, Any]] = []
    with watching(listener=lambda state: seen.append(state) or len(seen) == 2, partial=True):  # type: ignore[func-returns-value]
        s = solve_eigen(Eigen(3, np.ones(500)), mc.Gaussian(0.1).gram(X), "krylov", tol=1e-12)
    assert s.n_iter == len(seen) == 2
    assert seen[0]["residual"] > seen[1]["residual"] == s.residual > 1e-12


def test_the_same_bits_for_any_number_of_threads() -> None:
    X = np.random.default_rng(0).standard_normal((1200, 4))
    found = []
    for threads in (1, 2, 3):
        k = mc.Gaussian(0.2)
        lazy = solve_eigen(Eigen(4, np.ones(1200)), k.gram(X, compute=mc.Compute(threads=threads)), "krylov")
        stored = solve_eigen(Eigen(4, np.ones(1200)), DenseGram(k(X), mc.Compute(threads=threads)), "krylov")
        found.append((lazy.vectors, stored.vectors))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0][0], other[0])
        np.testing.assert_array_equal(found[0][1], other[1])


def test_more_than_there_are() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    s = solve_eigen(Eigen(29, np.ones(30)), mc.Linear().gram(X), "krylov")
    np.testing.assert_allclose(np.sort(s.values)[-2:], np.sort(np.linalg.eigvalsh(np.cov(X.T) * 29)), rtol=1e-10)
    np.testing.assert_allclose(s.values[2:], 0, atol=1e-10)


@pytest.mark.thorough
def test_the_choice() -> None:
    rng = np.random.default_rng(0)
    small, large = rng.standard_normal((50, 3)), rng.standard_normal((900, 3))
    assert solve_eigen(Eigen(2, np.ones(50)), mc.Gaussian().gram(small)).solver == "exact"
    assert solve_eigen(Eigen(2, np.ones(900)), mc.Gaussian().gram(large)).solver == "krylov"
    assert solve_eigen(Eigen(800, np.ones(900)), mc.Gaussian().gram(large)).solver == "exact"
    assert solve_eigen(Eigen(2, np.ones(900)), mc.Linear().gram(large)).solver == "exact"
