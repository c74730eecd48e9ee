"""Sets of classes: the threshold by hand, and how often the true class really is inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer.selection.conformal_sets import conformal_sets
from mercer.selection.ranks import check_enough, rank


def _drawn(rng: Any, n: int, classes: int = 4) -> tuple[Any, Any]:
    """Probabilities, and classes drawn by them."""
    p = rng.dirichlet(np.full(classes, 0.7), n)
    return p, (p.cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)


def _true(p: Any, y: Any) -> Any:
    return p[np.arange(len(y)), y]


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
def test_the_threshold_by_hand(coverage: float) -> None:
    """The bound that ⌈(m + 1)·coverage⌉ of the m samples reach."""
    rng = np.random.default_rng(0)
    (p, y), (new, _) = _drawn(rng, 39), _drawn(rng, 50)
    own = np.sort(_true(p, y))
    bound = own[39 - round(40 * coverage)]
    assert np.sum(own >= bound) == round(40 * coverage)
    expected = (new >= bound) | (new == new.max(axis=1, keepdims=True))
    np.testing.assert_array_equal(conformal_sets(_true(p, y), new, coverage), expected)


@pytest.mark.parametrize(
    "spoil", [lambda p: p, lambda p: p**4, lambda p: p[:, ::-1], lambda p: np.sqrt(p) * [1, 2, 1, 1]]
)
@pytest.mark.parametrize("m", [19, 200])
def test_the_coverage_is_exact_however_wrong_the_probabilities_are(spoil: Any, m: int) -> None:
    """⌈(m + 1)c⌉/(m + 1) on average without the class that is always there, and no less with it."""
    rng, draws, new, c = np.random.default_rng(0), 300, 60, 0.9
    inside, bare = [], []
    for _ in range(draws):
        (p, y), (q, z) = _drawn(rng, m), _drawn(rng, new)
        p, q = spoil(p), spoil(q)
        sets = conformal_sets(_true(p, y), q, c)
        inside.append(_true(sets, z).mean())
        alone = (sets.sum(axis=1) == 1) & (q.max(axis=1) < np.sort(_true(p, y))[m - rank(m, c)])
        bare.append((_true(sets, z) & ~alone).mean())
    promised = rank(m, c) / (m + 1)
    error = np.sqrt(promised * (1 - promised) * (1 / (m + 2) + 1 / new) / draws)
    assert np.mean(bare) == pytest.approx(promised, abs=3.5 * error)
    assert np.mean(inside) >= promised - 3.5 * error
    assert np.mean(inside) < promised + 0.05


def test_right_probabilities_give_small_sets() -> None:
    """Fewer classes than by any other score of the same coverage: here the cumulative one, classes taken until their
    probabilities sum to enough (Romano et al. 2020).
    """
    rng = np.random.default_rng(1)
    (p, y), (q, z) = _drawn(rng, 4000), _drawn(rng, 4000)
    sets = conformal_sets(_true(p, y), q, 0.9)
    assert _true(sets, z).mean() == pytest.approx(0.9, abs=0.02)
    assert set(sets.sum(axis=1)) >= {1, 2, 3}

    def before(a: Any) -> Any:  # the probability of all classes that are at least as probable, itself included
        return np.where(a[:, None, :] >= a[:, :, None], a[:, None, :], 0.0).sum(axis=2)

    cumulative = before(q) <= np.sort(_true(before(p), y))[rank(4000, 0.9) - 1]
    assert _true(cumulative, z).mean() == pytest.approx(0.9, abs=0.02)
    assert sets.sum(axis=1).mean() <= cumulative.sum(axis=1).mean()


def test_no_set_is_empty_and_few_samples_rule_out_nothing() -> None:
    rng = np.random.default_rng(0)
    q = _drawn(rng, 50)[0]
    assert conformal_sets(np.full(99, 1.0), q, 0.9).sum(axis=1).tolist() == [1] * 50
    assert conformal_sets(np.full(8, 0.9), q, 0.9).all()
    assert not conformal_sets(np.full(9, 0.9), q, 0.9).all()
    assert conformal_sets([], q, 0.5).all()
    assert conformal_sets(np.full(9, 0.9), q[:0], 0.9).shape == (0, 4)
    assert conformal_sets(np.full(9, 0.5), q, 0.9).dtype == bool


@pytest.mark.parametrize("coverage", [0.07, 0.29, 0.55, 0.57, 0.58, 0.9, 0.99])
def test_ranks_are_those_of_whole_numbers(coverage: float) -> None:
    """0.55·100 is 55, though not in floating point."""
    for n in range(1, 300):
        exact = -(-(n + 1) * round(100 * coverage) // 100)
        assert rank(n, coverage) == exact
        if exact <= n:
            check_enough(n, coverage)
        else:
            with pytest.raises(ValueError, match=f"n_samples = {n}: the interval would be infinite"):
                check_enough(n, coverage)


def test_errors() -> None:
    p = [[0.5, 0.5]]
    for coverage in (0.0, 1.0, 90):
        with pytest.raises(ValueError, match=f"coverage={coverage}"):
            conformal_sets([0.5], p, coverage)
    with pytest.raises(ValueError, match=r"held_out has shape \(1, 2\)"):
        conformal_sets(p, p)
    with pytest.raises(ValueError, match=r"probabilities has shape \(2,\)"):
        conformal_sets([0.5], [0.5, 0.5])
    with pytest.raises(ValueError, match=r"probabilities\[0, 1\] is NaN"):
        conformal_sets([0.5], [[1.0, np.nan]])
    with pytest.raises(ValueError, match=r"held_out\[1\] is NaN"):
        conformal_sets([0.5, np.nan], p)
