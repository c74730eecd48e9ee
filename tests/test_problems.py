"""The dual problem as a value: feasibility, optimality, and the bookkeeping of variables and items."""

from __future__ import annotations

import numpy as np

from mercer.problems import DualQP


def test_the_gap_is_that_of_all_pairs() -> None:
    """m − M by the double loop over pairs that can exchange."""
    rng = np.random.default_rng(0)
    lower, upper = -rng.random(12), rng.random(12)
    b = np.clip(rng.standard_normal(12), lower, upper)
    g, group = rng.standard_normal(12), rng.integers(0, 2, 12).astype(np.int8)
    for groups in (None, group):
        qp = DualQP(g, lower, upper, b, group=groups)
        pairs = [
            g[j] - g[i]
            for i in range(12)
            for j in range(12)
            if b[i] < upper[i] and b[j] > lower[j] and (groups is None or groups[i] == groups[j])
        ]
        gap, levels, key = qp.violation(b, g)
        assert np.isclose(gap, max(0.0, *pairs))
        assert len(levels) == (1 if groups is None else 2)
        assert np.isclose(key.max(), gap / 2) or groups is not None


def test_without_a_sum_the_gap_is_the_projected_gradient() -> None:
    g = np.array([-2.0, 1.0, 3.0])
    qp = DualQP(g, np.zeros(3), np.ones(3), np.zeros(3), coupled=False)
    assert qp.violation(np.zeros(3), g)[0] == 2.0  # the first could grow; the others are held at 0
    assert qp.violation(np.array([1.0, 0.0, 0.5]), g)[0] == 3.0


def test_nothing_can_move() -> None:
    qp = DualQP(np.array([1.0, -1.0]), np.zeros(2), np.zeros(2), np.zeros(2))
    gap, levels, _ = qp.violation(np.zeros(2), qp.linear)
    assert gap == 0
    assert np.isfinite(levels).all()


def test_variables_and_items() -> None:
    qp = DualQP(np.zeros(4), np.zeros(4), np.ones(4), np.zeros(4), index=np.array([0, 1, 0, 1]))
    np.testing.assert_array_equal(qp.items(np.array([1.0, 2.0, 3.0, 4.0]), 2), [4.0, 6.0])
    np.testing.assert_array_equal(qp.of_items(np.array([5.0, 7.0])), [5.0, 7.0, 5.0, 7.0])
