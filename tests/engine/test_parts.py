"""Matrices summed up part by part are those of the double loop, whatever the columns look like."""

from __future__ import annotations

import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data import HashedRows, LazyCounts
from mercer.engine import parts
from mercer.gram import KernelGram


def _strings(n: int, length: int, letters: str, weights: Any = None, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(0, length), p=weights)) for _ in range(n)]


def _related(n: int, length: int, letters: str, seed: int = 0) -> list[str]:
    """Families with few changes: the same words in many rows."""
    rng = np.random.default_rng(seed)
    parents = [rng.choice(list(letters), length) for _ in range(3)]
    return [
        "".join(np.where(rng.random(length) < 0.1, rng.choice(list(letters), length), parents[i % 3])) for i in range(n)
    ]


def _gapped(x: str, g: int, k: int) -> Counter[Any]:
    masks = list(combinations(range(g), k))
    return Counter((m, *(x[i + p] for p in mask)) for i in range(len(x) - g + 1) for m, mask in enumerate(masks))


def _words(x: str, low: int, high: int) -> Counter[Any]:
    return Counter(x[i : i + k] for k in range(low, high + 1) for i in range(len(x) - k + 1))


def _double_loop(rows: list[Counter[Any]]) -> Any:
    return np.array([[sum(v * b[u] for u, v in a.items()) for b in rows] for a in rows], float)


DATA = {
    "even": _strings(40, 70, "ACGT"),
    "skewed": _strings(50, 70, "ACGT", [0.85, 0.05, 0.05, 0.05]),
    "related": _related(60, 40, "ACDEFGHIKL"),
    "repeats": ["A" * 50, "AC" * 20, "", "G", *_strings(20, 40, "AC")],
    "two": ["ACGTACGT", "ACGTTGCA"],
}


@pytest.mark.thorough
@pytest.mark.parametrize("X", DATA.values(), ids=DATA)
@pytest.mark.parametrize("threads", [1, 2])
def test_gapped_words_of_all_pairs(X: list[str], threads: int) -> None:
    for g, k in ((4, 2), (5, 3), (6, 4)):
        wanted = _double_loop([_gapped(x, g, k) for x in X])
        kernel, A, _ = mc.Gappy(g, k)._enter(X, None)
        assert isinstance(A, LazyCounts)
        found = KernelGram.of(kernel, A, A, mc.Compute(threads=threads)).dense()
        assert np.array_equal(found, wanted)
        assert "made" not in A.__dict__  # no entry was held
        assert np.array_equal(A.sqnorm(), np.diagonal(wanted))
        assert np.array_equal(mc.Gappy(g, k).gram(X).dense(), wanted)


@pytest.mark.parametrize("X", DATA.values(), ids=DATA)
def test_parts_of_different_widths(X: list[str]) -> None:
    """Short words fill their columns, long ones do not."""
    assert np.array_equal(mc.Spectrum(5, k_min=1)(X), _double_loop([_words(x, 1, 5) for x in X]))


def test_both_ways_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: Counter[str] = Counter()
    for name in ("add_filled", "add_lists"):
        plain = getattr(parts._Sums, name)
        monkeypatch.setattr(
            parts._Sums, name, lambda self, m, plain=plain, name=name: (taken.update([name]), plain(self, m))[1]
        )
    mc.Spectrum(5, k_min=1)(DATA["even"])
    assert taken == {"add_filled": 4, "add_lists": 1}


def test_frequent_columns_are_multiplied_when_there_is_no_more_room_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    X = DATA["related"]
    wanted = mc.Gappy(5, 3)(X)
    monkeypatch.setattr(parts, "_COLUMNS", 3)
    monkeypatch.setattr(parts, "_OPERATIONS", 1)
    assert np.array_equal(mc.Gappy(5, 3)(X), wanted)
    assert np.array_equal(mc.Spectrum(2)(X), _double_loop([_words(x, 2, 2) for x in X]))


def test_sums_that_float32_does_not_hold_are_made_in_float64() -> None:
    X = ["A" * 4999 + "C", "A" * 4801, "ACGT"]
    wanted = _double_loop([_words(x, 1, 1) for x in X])
    assert wanted.max() >= 2**24
    assert np.array_equal(mc.Spectrum(1)(X), wanted)
    assert np.array_equal(mc.Spectrum(1)(X, list(X)), wanted)


def test_without_room_the_matrix_is_made_from_its_entries() -> None:
    X = DATA["even"]
    kernel, A, _ = mc.Spectrum(3)._enter(X, None)
    gram = KernelGram.of(kernel, A, A, mc.Compute(memory=len(X) ** 2 * 8 + 2000))
    assert parts._sums_with_room(A, 2, gram.compute.budget // 4) == 0
    assert parts._sums_with_room(A, 2, 2**30) == 1
    assert np.array_equal(gram.dense(), mc.Spectrum(3)(X))


def test_normalised_and_composed() -> None:
    X = [*DATA["even"][:25], "ACGTACGTA"]
    K = mc.Gappy(5, 3)(X)
    found = (mc.Gappy(5, 3) * 2.0 + 1.0)(X)
    np.testing.assert_allclose(found, 2 * K + 1, rtol=1e-14)
    long = [x for x in X if len(x) >= 5]
    K = mc.Gappy(5, 3)(long)
    kernel, A, _ = mc.Gappy(5, 3).normalized()._enter(long, None)
    KernelGram.of(kernel, A, A, mc.Compute()).dense()
    assert "made" not in A.__dict__
    root = np.sqrt(np.diagonal(K))
    np.testing.assert_allclose(mc.Gappy(5, 3).normalized()(long), K / np.outer(root, root), rtol=1e-14)
    np.testing.assert_allclose(mc.exp(mc.Gappy(5, 3) * 0.01)(X[:3]), np.exp(0.01 * mc.Gappy(5, 3)(X[:3])), rtol=1e-13)


def test_letters_that_equal_nothing() -> None:
    X = ["ACGNACGT", "NNNN", "ACGT", "TTTTTNA"]
    kernel = mc.Spectrum(2)
    items = kernel.domain.check(X)
    items = type(items)(np.where(items.values == ord("N") + 1, 0, items.values), items.offsets)
    A = kernel._prepare(items)
    found = KernelGram.of(kernel, A, A, mc.Compute()).dense()
    assert np.array_equal(
        found, _double_loop([Counter(w for w in _words(x, 2, 2).elements() if "N" not in w) for x in X])
    )


def test_entries_are_made_when_they_are_read() -> None:
    _, A, _ = mc.Gappy(5, 3)._enter(DATA["even"], None)
    assert np.array_equal(A.sqnorm(), np.diagonal(mc.Gappy(5, 3)(DATA["even"])))
    assert "made" not in A.__dict__
    assert A.shape[0] == len(DATA["even"])
    assert A.dtype == np.float64
    bound = A.per_row
    assert bound >= len(A.keys) / A.shape[0]
    assert A.per_row == bound
    copy = pickle.loads(pickle.dumps(A))
    assert type(copy) is HashedRows
    assert np.array_equal(copy.keys, A.keys)
    assert np.array_equal(copy.codes, A.codes)
    assert np.array_equal(A.take(slice(2, 5)).values, A.values[A.offsets[2] : A.offsets[5]])


def test_an_interrupt_ends_it_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: Any, m: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(parts._Sums, "add_lists", stop)
    kernel, A, _ = mc.Gappy(6, 4)._enter(DATA["related"], None)
    gram = KernelGram.of(kernel, A, A, mc.Compute())
    with pytest.raises(KeyboardInterrupt):
        gram.dense()
    monkeypatch.undo()
    assert np.array_equal(gram.dense(), mc.Gappy(6, 4)(DATA["related"]))


def test_every_tile_is_right_wherever_it_lies() -> None:
    X = DATA["related"]
    _, A, _ = mc.Gappy(5, 3)._enter(X, None)
    wanted, n = mc.Gappy(5, 3)(X), len(X)
    dot = parts.PartsDot(A, np.float64, 2**30).summed(2)
    assert isinstance(dot, parts.SummedDot)
    dot.total[np.tri(n, k=-1, dtype=bool)] = np.nan  # there is nothing below the diagonal
    for rows in (slice(0, n), slice(0, 7), slice(20, 41), slice(n - 1, n)):
        for cols in (slice(0, n), slice(0, 5), slice(18, 30), slice(40, n), slice(n - 1, n)):
            out = np.empty((rows.stop - rows.start, cols.stop - cols.start))
            assert np.array_equal(dot.fill(rows, cols, out), wanted[rows, cols])


@pytest.mark.thorough
def test_sums_with_kernels_of_other_kinds() -> None:
    """Their tiles are of other sizes: strips, or squares."""
    rng = np.random.default_rng(5)
    X = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(120)]
    K = mc.Spectrum(4, k_min=2)(X)
    for other in (mc.WeightedDegree(3), mc.Subsequence(2, 0.5), mc.Gappy(9, 4), mc.Spectrum(9)):
        np.testing.assert_allclose((0.3 * mc.Spectrum(4, k_min=2) + other)(X), 0.3 * K + other(X), rtol=1e-13)
        np.testing.assert_allclose((mc.Spectrum(4, k_min=2) * other)(X), K * other(X), rtol=1e-13)


@pytest.mark.thorough
def test_threads_of_a_user_do_not_share_sums() -> None:
    X = DATA["related"]
    wanted = mc.Gappy(6, 4)(X)
    kernel, A, _ = mc.Gappy(6, 4)._enter(X, None)
    gram = KernelGram.of(kernel, A, A, mc.Compute())
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(K, wanted) for K in pool.map(lambda _: gram.dense(), range(40)))


def test_few_threads_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a user wants fewer threads than there are, BLAS has to keep to it, and columns are multiplied by strips."""
    X = DATA["even"]
    wanted = mc.Spectrum(3)(X)
    monkeypatch.setattr(parts, "Compute", lambda: mc.Compute(threads=7))
    monkeypatch.setattr(parts, "ssyrk", None)  # it would take all cores
    kernel, A, _ = mc.Spectrum(3)._enter(X, None)
    assert np.array_equal(KernelGram.of(kernel, A, A, mc.Compute(threads=2)).dense(), wanted)
