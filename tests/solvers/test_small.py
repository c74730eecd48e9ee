"""Small problems in one compiled call, against the general solver and against their own optimality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.gram import DenseGram
from mercer.problems import DualQP
from mercer.solvers.dual import ActiveSet
from mercer.solvers.small import LARGEST, solve_small


def _problem(kind: str, y: Any, C: float) -> DualQP:
    n = len(y)
    if kind == "regression":  # two variables per item
        target = np.concatenate([0.1 - y, -0.1 - y])
        zeros = np.zeros(n)
        return DualQP(
            target, np.r_[zeros, zeros - C], np.r_[zeros + C, zeros], np.zeros(2 * n), index=np.tile(np.arange(n), 2)
        )
    lower, upper = np.minimum(0, C * y), np.maximum(0, C * y)
    if kind == "nu":
        start = np.where(y > 0, 1.0, -np.sum(y > 0) / np.sum(y < 0)) * C / n
        return DualQP(np.zeros(n), lower, upper, start, group=(y > 0).astype(np.int8))
    return DualQP(-y, lower, upper, np.zeros(n), coupled=kind == "bias")


def _general(problem: DualQP, K: Any, tol: float = 1e-10) -> Any:
    return ActiveSet(tol=tol, progress=lambda _: None).solve(problem, DenseGram(K))  # watched, so not in one call


def _data(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


@pytest.mark.parametrize("kind", ["bias", "no bias", "nu", "regression"])
@pytest.mark.parametrize("n", [2, 5, 64, 200])
@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_the_optimum(kind: str, n: int, C: float) -> None:
    X, y = _data(n, n)
    K = np.asarray(mc.Gaussian(0.7)(X))
    problem = _problem(kind, y, C)
    items = np.arange(n) if problem.index is None else problem.index
    (found,) = solve_small([problem], K, [items], 1e-3)
    if found is None:  # too many steps: for the general solver
        assert n == 200
        assert kind in ("nu", "no bias")
        found = ActiveSet().solve(problem, DenseGram(K))
    assert found is not None
    assert found.stop_reason == "gap"
    assert (found.coef >= problem.lower).all()
    assert (found.coef <= problem.upper).all()
    Q = K[np.ix_(items, items)]
    np.testing.assert_allclose(found.gradient, Q @ found.coef + problem.linear, atol=1e-10 * max(1, C))
    gap, _, _ = problem.violation(found.coef, Q @ found.coef + problem.linear)
    assert gap < 1e-8
    assert abs(gap - found.gap) < 1e-10
    for members in problem.groups if problem.coupled else ():
        assert found.coef[members].sum() == pytest.approx(problem.start[members].sum(), abs=1e-10 * max(1, C))
    other = _general(problem, K)
    assert found.objective == pytest.approx(
        problem.objective(other.coef, Q @ other.coef + problem.linear), rel=1e-9, abs=1e-12
    )
    np.testing.assert_allclose(
        K @ problem.items(found.coef, n), K @ problem.items(other.coef, n), atol=1e-6 * max(1, C)
    )
    np.testing.assert_allclose(found.multipliers, other.multipliers, atol=1e-6)


def test_many_on_parts_of_one_matrix() -> None:
    """Each as if it were alone, in their order, the same bits for any number of threads."""
    X, y = _data(300, 0)
    K = np.asarray(mc.Gaussian(0.5)(X))
    rng = np.random.default_rng(1)
    parts = [np.sort(rng.permutation(300)[: rng.integers(20, 90)]) for _ in range(150)]
    problems = [_problem("bias", y[part], 3.0) for part in parts]
    found = solve_small(problems, K, parts, 1e-3)
    twice = solve_small(problems, K, parts, 1e-3, workers=2)
    for problem, part, one, two in zip(problems, parts, found, twice, strict=True):
        assert one is not None
        assert two is not None
        np.testing.assert_array_equal(one.coef, two.coef)
        (alone,) = solve_small([problem], np.ascontiguousarray(K[np.ix_(part, part)]), [np.arange(len(part))], 1e-3)
        assert alone is not None
        np.testing.assert_array_equal(one.coef, alone.coef)


def test_what_is_left_to_the_general_solver() -> None:
    X, y = _data(120, 0)
    K = np.asarray(mc.Gaussian(0.01)(X))
    hard = _problem("bias", y, 1e7)
    assert solve_small([hard], K, [np.arange(120)], 1e-3) == [None]
    assert ActiveSet().solve(hard, DenseGram(K)).converged
    indefinite = -K
    assert solve_small([_problem("bias", y, 10.0)], indefinite, [np.arange(120)], 1e-3) == [None]


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_that_is_given_stays_as_it_is(order: Any) -> None:
    """The memory of a user's matrix is not ours to work in, also not afterwards."""
    X, _ = _data(150, 0)
    y = np.arange(150) % 4
    K = np.array(mc.Gaussian(0.5)(X), order=order)
    before = K.copy()
    parts = [np.flatnonzero((y == a) | (y == b)) for a, b in ((0, 1), (1, 2), (2, 3))]
    problems = [_problem("bias", np.where(y[part] == y[part[0]], 1.0, -1.0), 1.0) for part in parts]
    # the second would work in what the first has left
    for other in (DenseGram(K), mc.Gaussian(0.1).gram(_data(200, 1)[0])):
        ActiveSet().solve_all(problems, other, parts)
    np.testing.assert_array_equal(K, before)
    first = mc.SVC(kernel="precomputed").fit(K, y)
    mc.SVC(kernel=mc.Gaussian(0.1)).fit(*_data(900, 1))
    mc.SVC(kernel=mc.Gaussian(0.1)).fit(_data(900, 1)[0], np.arange(900) % 3)
    np.testing.assert_array_equal(K, before)
    K.setflags(write=False)
    np.testing.assert_array_equal(first.dual_coef_, mc.SVC(kernel="precomputed").fit(K, y).dual_coef_)


def test_solve_all_is_solve_of_each() -> None:
    X, y = _data(700, 3)
    gram = mc.Gaussian(0.5).gram(X)
    parts = [np.arange(0, 40), np.arange(10, 700), np.arange(100, 400)]
    problems = [_problem("bias", y[part], 2.0) for part in parts]
    assert max(map(len, problems)) > LARGEST
    for chosen in ([0, 2], [0, 1, 2]):
        together = ActiveSet().solve_all([problems[t] for t in chosen], gram, [parts[t] for t in chosen])
        for t, s in zip(chosen, together, strict=True):
            alone = ActiveSet().solve(problems[t], gram.sub(parts[t], parts[t]))
            assert s.converged
            assert s.objective == pytest.approx(alone.objective, rel=1e-5)
            np.testing.assert_allclose(s.multipliers, alone.multipliers, atol=2e-3)
