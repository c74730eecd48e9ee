"""Trees that follow what is left over, against the same trees grown by trying every division."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.native import boosting as native
from mercer.runtime import threads, watch
from mercer.tabular import boosting
from mercer.tabular.boosting import _Binned, boosted


def spread(r: Any, w: Any) -> float:
    """Σ w‖r − mean‖²."""
    if not w.sum():
        return 0.0
    return float((w[:, None] * (r - np.average(r, axis=0, weights=w)) ** 2).sum())


def by_trying(codes: Any, r: Any, w: Any, rows: Any, drawn: Any, least: int, cells: int) -> list[tuple[Any, Any]]:
    """Rows and mean of every leaf: each time the one division of all leaves that lowers the squared error most."""
    leaves = [(0, np.sort(rows))]
    names = itertools.count(1)
    while 2 * len(leaves) + 1 <= cells:
        found: list[tuple[float, int, Any, Any]] = []
        for place, (name, members) in enumerate(leaves):
            for column in drawn[name]:
                for cut in range(256):
                    low = members[codes[column, members] <= cut]
                    high = members[codes[column, members] > cut]
                    if min(len(low), len(high)) < least or not w[low].sum() or not w[high].sum():
                        continue
                    gain = spread(r[members], w[members]) - spread(r[low], w[low]) - spread(r[high], w[high])
                    found.append((gain, place, low, high))
        best = max(found, key=lambda f: f[0], default=None)
        if best is None or best[0] < 1e-9:
            break
        _, place, low, high = best
        del leaves[place]
        leaves += [(next(names), low), (next(names), high)]
    return [(members, np.average(r[members], axis=0, weights=w[members])) for _, members in leaves]


def grown(codes: Any, r: Any, w: Any, rows: Any, drawn: Any, least: int, cells: int) -> tuple[Any, ...]:
    feature, cut, left, right = (np.empty(cells, np.int64) for _ in range(4))
    value = np.empty((cells, r.shape[1]))
    many = native.tree(codes, r, w, rows.copy(), drawn, least, feature, cut, left, right, value)
    return tuple(a[:many] for a in (feature, cut, left, right, value))


def leaf_of(codes: Any, i: int, feature: Any, cut: Any, left: Any, right: Any) -> int:
    c = 0
    while feature[c] >= 0:
        c = left[c] if codes[feature[c], i] <= cut[c] else right[c]
    return c


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_a_tree_is_the_one_of_the_best_divisions(seed: int, outputs: int, least: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n, columns, cells = 24, 4, 9
    codes = rng.integers(0, 6, (columns, n)).astype(np.uint8)
    r = rng.standard_normal((n, outputs))
    w = rng.random(n) + 1e-3 if weighted else np.ones(n)  # without zeros: what they divide is a matter of taste
    rows = np.sort(rng.permutation(n)[:18])
    drawn = np.argsort(rng.random((cells, columns)), axis=1)[:, :2]
    feature, cut, left, right, value = grown(codes, r, w, rows, drawn, least, cells)
    where = np.array([leaf_of(codes, i, feature, cut, left, right) for i in rows])
    expected = by_trying(codes, r, w, rows, drawn, least, cells)
    found = [(rows[where == c], value[c]) for c in np.unique(where)]
    assert {tuple(m) for m, _ in found} == {tuple(m) for m, _ in expected}
    for members, mean in found:
        np.testing.assert_allclose(mean, np.average(r[members], axis=0, weights=w[members]), atol=1e-12)


def test_what_is_learnt_is_taken_off() -> None:
    rng = np.random.default_rng(0)
    codes, r = rng.integers(0, 9, (3, 40)).astype(np.uint8), rng.standard_normal((40, 2))
    tree = grown(codes, r, np.ones(40), np.arange(20), np.tile(np.arange(3), (7, 1)), 2, 7)
    rest = r.copy()
    native.learn(codes, *tree, 0.1, rest)
    expected = r - 0.1 * np.array([tree[4][leaf_of(codes, i, *tree[:4])] for i in range(40)])
    np.testing.assert_allclose(rest, expected, atol=1e-15)


def test_a_constant_target_is_not_divided() -> None:
    codes = np.arange(50, dtype=np.uint8)[None]
    feature, *_ = grown(codes, np.full((50, 1), 0.1), np.ones(50), np.arange(50), np.zeros((7, 1), np.int64), 1, 7)
    assert feature.tolist() == [-1]


@pytest.mark.parametrize("power", [1, 2])  # of whole numbers, many edges are values
@pytest.mark.parametrize("distinct", [1, 2, 200, 256, 257, 3000])
def test_codes_say_what_the_thresholds_say(distinct: int, power: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.permutation(np.arange(3000) % distinct).astype(np.float32) ** power
    binned = _Binned.of(x[:, None])
    edges = binned.edges[0]
    assert len(edges) == distinct - 1 if distinct <= 256 else 200 < len(edges) < 256
    for b, edge in enumerate(edges):
        np.testing.assert_array_equal(binned.codes[0] <= b, x <= edge)


def test_cells_of_rows_are_those_of_their_codes() -> None:
    """Thresholds in values put a row where its codes put it."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.standard_normal((500, 2)), rng.integers(0, 3, 500)])
    found = boosted(X, X[:, 0] * X[:, 2], None, 0, trees=7)
    codes = found.codes(X)
    assert codes.shape == (500, 7)
    assert max(len(np.unique(codes[:, t])) for t in range(7)) == boosting._LEAVES
    for t in range(7):  # trees are grown from halves of the rows: a leaf has at least so many of them
        assert np.unique(codes[:, t], return_counts=True)[1].min() >= boosting._LEAST


@pytest.mark.parametrize("outputs", [None, 3])
def test_each_tree_is_of_what_is_left_over(monkeypatch: pytest.MonkeyPatch, outputs: int | None) -> None:
    """A chain by hand: the best divisions of half of the rows, and a tenth of their means taken off all rows."""
    monkeypatch.setattr(boosting, "_LEAVES", 4)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)).astype(np.float32)
    Y = rng.standard_normal(60 if outputs is None else (60, outputs)) + (X[:, :1] if outputs else X[:, 0])
    w = rng.random(60) + 0.1
    codes = boosted(X, Y, w, 5, trees=6).codes(X)

    random, binned = np.random.default_rng([5, 0]), _Binned.of(X)
    rest = Y.reshape(60, -1) - np.average(Y.reshape(60, -1), axis=0, weights=w)
    for t in range(6):
        taken = np.sort(random.permutation(60)[:30])
        drawn = np.argsort(random.random((7, 4)), axis=1)[:, :2]
        leaves = by_trying(binned.codes, rest, w, taken, drawn, boosting._LEAST, 7)
        where = {tuple(sorted(members)) for members, _ in leaves}
        assert where == {tuple(taken[codes[taken, t] == c]) for c in np.unique(codes[taken, t])}
        for members, mean in leaves:
            rest[codes[:, t] == codes[members[0], t]] -= 0.1 * mean


def test_what_weighs_nothing_is_not_learnt() -> None:
    """Targets of rows of weight 0 change nothing; weights that are all alike are as none."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 3)), rng.standard_normal(300)
    one, two = (boosted(X, y, w, 0, trees=5) for w in (None, np.full(300, 2.5)))
    np.testing.assert_array_equal(one.codes(X), two.codes(X))
    y_else = np.where(np.arange(300) < 100, 1e6, y)
    w = (np.arange(300) >= 100) * 1.0
    np.testing.assert_array_equal(boosted(X, y, w, 0, trees=5).codes(X), boosted(X, y_else, w, 0, trees=5).codes(X))
    assert boosted(X, y, np.zeros(300), 0, trees=5).codes(X).shape == (300, 5)


def test_the_seed_decides_and_threads_do_not() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((400, 3)), rng.standard_normal(400)
    a, b, c = (boosted(X, y, None, seed, trees=250, jobs=jobs).codes(X) for seed, jobs in ((0, 1), (0, 3), (1, 1)))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    assert not np.array_equal(a[:, :100], a[:, 100:200])  # chains differ


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_few_rows(rows: int) -> None:
    X = np.arange(float(rows))[:, None]
    assert boosted(X, X[:, 0], None, 0, trees=3).codes(X).shape == (rows, 3)


@pytest.mark.parametrize("rows", [3999, 4000])
def test_many_rows_have_larger_trees(rows: int) -> None:
    X = np.random.default_rng(0).standard_normal((rows, 2))
    codes = boosted(X, np.sin(9 * X[:, 0]), None, 0, trees=2).codes(X)
    assert len(np.unique(codes[:, 0])) == (32 if rows == 4000 else 16)


def test_a_pool_that_stops_is_left_between_two_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, failed = threading.Event(), threading.Event()
    tree, after = native.tree, []

    def counted(*args: Any) -> Any:
        begun.set()
        after.append(failed.wait(10))  # every tree that is grown once the other task has failed
        time.sleep(0.05)  # until the pool knows
        return tree(*args)

    monkeypatch.setattr(native, "tree", counted)

    def task(which: int) -> None:
        if which:
            begun.wait(10)
            failed.set()
            raise KeyError
        boosted(np.random.default_rng(0).standard_normal((50, 2)), np.arange(50.0), None, 0, trees=boosting._CHAIN)

    with pytest.raises(KeyError):
        threads.run_tasks(task, [0, 1], 2, blas=False)
    assert len(after) <= 5


def test_a_deadline_is_kept_between_two_trees() -> None:
    X = np.random.default_rng(0).standard_normal((20_000, 20))
    boosted(X[:50], X[:50, 0], None, 0, trees=4)  # compiled
    began = time.perf_counter()
    with watch.watching(0.05), pytest.raises(watch.OutOfTime):
        boosted(X, X[:, 0], None, 0, trees=40_000)  # of minutes
    assert time.perf_counter() - began < 10
