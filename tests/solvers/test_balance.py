"""The free variables at once, against a system with the sums as its border."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer.native.lapack import address
from mercer.solvers.balance import balanced
from mercer.solvers.smo import row_length


def _state(q: int, groups: int, seed: int, *, buffer: float = 1e3) -> dict[str, Any]:
    """A point with free variables and some at a bound, in the arrays of SMO."""
    rng = np.random.default_rng(seed)
    A, ld = rng.standard_normal((q, q + 5)), row_length(q, np.float64)
    K, b, p = A @ A.T / q, rng.standard_normal(q), rng.standard_normal(q)
    lower, upper = b - buffer, b + buffer
    upper[::5], lower[1::7] = b[::5], b[1::7]
    group = np.arange(q) % groups

    def padded(x: Any, fill: float = 0.0) -> Any:
        return np.concatenate([x, np.full(ld - q, fill)])

    block = np.zeros((q + 1, ld))
    block[:q, :q] = K
    grow, shrink = np.full((groups, ld), -np.inf), np.full((groups, ld), -np.inf)
    for k in range(groups):
        grow[k, :q][(group == k) & (b < upper)] = 0.0
        shrink[k, :q][(group == k) & (b > lower)] = 0.0
    return {
        "K": K, "p": p, "group": group, "block": block, "ld": ld, "q": q, "g": padded(K @ b + p), "b": padded(b),
        "lower": padded(lower), "upper": padded(upper), "grow": grow, "shrink": shrink,
    }  # fmt: skip


def _move(s: dict[str, Any], *, coupled: bool, worth: float = np.inf) -> bool:
    buffer = np.empty((s["ld"] + 3) * s["ld"])
    return bool(
        balanced(
            s["block"].reshape(-1), s["ld"], s["q"], s["g"], s["b"], s["lower"], s["upper"], s["grow"].reshape(-1),
            s["shrink"].reshape(-1), len(s["grow"]), coupled, worth, buffer, *np.empty((2, s["ld"]), np.int64),
            address("dposv"),
        )
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("q", [2, 7, 40, 130])
@pytest.mark.parametrize(("groups", "coupled"), [(1, True), (2, True), (1, False)])
def test_free_variables_go_where_their_gradients_are_equal(q: int, groups: int, coupled: bool) -> None:
    s = _state(q, groups, seed=q)
    before, free = s["b"][:q].copy(), (s["b"] > s["lower"])[:q] & (s["b"] < s["upper"])[:q]
    border = [free & (s["group"] == k) for k in range(groups)] if coupled else []
    border = [members[free].astype(float) for members in border if members.any()]
    f = int(free.sum())
    system = np.zeros((f + len(border), f + len(border)))
    system[:f, :f] = s["K"][np.ix_(free, free)]
    for k, members in enumerate(border):
        system[:f, f + k] = system[f + k, :f] = members
    step = np.linalg.solve(system, np.concatenate([-s["g"][:q][free], np.zeros(len(border))]))[:f]
    moved = _move(s, coupled=coupled)
    assert moved == (f > len(border))
    np.testing.assert_allclose(s["b"][:q][free], before[free] + (step if moved else 0.0), atol=1e-8)
    np.testing.assert_array_equal(s["b"][:q][~free], before[~free])
    if moved:
        g = (s["K"] @ s["b"][:q] + s["p"])[free]
        for members in border or [np.eye(f)[k] for k in range(f)]:  # equal in a group, or 0 where no sum is kept
            np.testing.assert_allclose(g[members > 0], np.mean(g[members > 0]) if coupled else 0.0, atol=1e-9)


def test_a_bound_on_the_way_is_where_it_ends() -> None:
    s = _state(40, 1, seed=0, buffer=1e-3)
    before = np.count_nonzero((s["b"] == s["lower"])[:40] | (s["b"] == s["upper"])[:40])
    total, value = s["b"][:40].sum(), 0.5 * s["b"][:40] @ (s["g"][:40] + s["p"])
    assert _move(s, coupled=True)
    b, (lower, upper) = s["b"][:40], (s["lower"][:40], s["upper"][:40])
    assert (b >= lower).all()
    assert (b <= upper).all()
    assert np.count_nonzero((b == lower) | (b == upper)) == before + 1
    np.testing.assert_allclose(b.sum(), total, atol=1e-12)
    assert 0.5 * b @ s["K"] @ b + s["p"] @ b < value


def test_points_that_depend_on_each_other_are_left_alone() -> None:
    s = _state(20, 1, seed=1)
    s["block"][:20, :20] = 1.0
    before = s["b"].copy()
    assert not _move(s, coupled=True)
    np.testing.assert_array_equal(s["b"], before)


def test_a_system_that_is_not_worth_it_is_not_solved() -> None:
    s = _state(20, 1, seed=2)
    assert not _move(s, coupled=True, worth=100)
    assert _move(s, coupled=True, worth=20**3)
