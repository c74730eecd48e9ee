"""Words counted in cells are the words that are counted by their codes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data import HashedRows, Ragged
from mercer.kernels.sequences import cells

KERNELS = [
    mc.Spectrum(1),
    mc.Spectrum(3),
    mc.Spectrum(4, k_min=2),
    mc.Spectrum(3, k_min=1, weights=[0.5, 2.0, 1.0]),
    mc.Gappy(4, 2),
    mc.Gappy(5, 5),
    mc.Gappy(6, 3),
]


def _strings(alphabet: str, n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(alphabet), rng.integers(0, 60))) for _ in range(n)]


def _entries(phi: HashedRows) -> list[dict[int, float]]:
    return [
        dict(zip(phi.codes[a:b].tolist(), phi.values[a:b].tolist(), strict=True))
        for a, b in zip(phi.offsets[:-1], phi.offsets[1:], strict=True)
    ]


def _hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "_PER_PATTERN", 0)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("rule", ["letter", "skip"])
def test_the_same_columns_and_counts(kernel: Any, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = _strings("ACGT" if rule == "letter" else "ACGTN", 30, 0)
    items = kernel.domain.check(X)
    if rule == "skip":  # N equals nothing
        items = Ragged(np.where(items.values == ord("N") + 1, 0, items.values), items.offsets)
    found = kernel._prepare(items)
    assert found.legend is not None
    assert len(found.legend) == len(found.legend.codes) == len(set(found.legend.codes.tolist()))
    assert found.dtype == np.float64
    _hashed(monkeypatch)
    other = kernel._prepare(items)
    assert other.legend is None
    assert _entries(found) == _entries(other)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_sets_of_different_alphabets_meet(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, Z = _strings("ACGT", 25, 0), _strings("ACGTN", 20, 1), _strings("GT", 8, 2)
    pairs = [(X, Y), (X, Z), (Y, Z), (X, X[:5])]
    wanted = []
    with monkeypatch.context() as patch:
        _hashed(patch)
        wanted = [(kernel(A, B), kernel.gram(A, B) @ np.ones(len(B))) for A, B in pairs]
    for (A, B), (values, product) in zip(pairs, wanted, strict=True):
        np.testing.assert_allclose(kernel(A, B), values, rtol=1e-13)
        np.testing.assert_allclose(kernel.gram(A, B) @ np.ones(len(B)), product, rtol=1e-12)
    names = dict(zip(kernel.feature_names(X), kernel.features(X).sum(axis=0).tolist(), strict=True))
    with monkeypatch.context() as patch:
        _hashed(patch)
        assert names == dict(zip(kernel.feature_names(X), kernel.features(X).sum(axis=0).tolist(), strict=True))


def test_algebra_of_counts() -> None:
    """What is done with counts as whole numbers is done in float64."""
    X = [x + "ACGT" for x in _strings("ACGT", 12, 3)]
    k = mc.Gappy(4, 2)
    K = k(X)
    root = np.sqrt(np.diagonal(K))
    np.testing.assert_allclose(k.normalized()(X), K / np.outer(root, root), rtol=1e-13)
    np.testing.assert_allclose(
        k.normalized().features(X).toarray() @ k.normalized().features(X).toarray().T,
        K / np.outer(root, root),
        rtol=1e-12,
    )
    np.testing.assert_allclose((0.3 * k)(X), 0.3 * K, rtol=1e-13)
    np.testing.assert_allclose((k + mc.Spectrum(2))(X), K + mc.Spectrum(2)(X), rtol=1e-13)
    assert k.features(X).dtype == np.float64
    assert k.rooted().features(X).dtype == np.float64
    np.testing.assert_allclose((k.rooted().features(X) ** 2).toarray(), k.features(X).toarray(), rtol=1e-13)
    phi = k._prepare(k.domain.check(X))
    again = pickle.loads(pickle.dumps(phi))
    assert again.legend == phi.legend
    assert hash(again.legend) == hash(phi.legend)
    assert _entries(again) == _entries(phi)


def test_long_strings_and_many_letters() -> None:
    """Counts beyond 16 bits; alphabets that leave no room for cells; nothing to count."""
    long = "A" * 70_000
    assert mc.Spectrum(1)([long])[0, 0] == 70_000.0**2
    many = ["".join(chr(200 + c) for c in range(300))]
    assert mc.Spectrum(1)._prepare(mc.Spectrum(1).domain.check(many)).legend is None
    assert mc.Spectrum(1)(many)[0, 0] == 300
    assert mc.Gappy(3, 2)(["", ""]).tolist() == [[0, 0], [0, 0]]


def test_equal_patterns_of_other_kernels_are_other_columns() -> None:
    """Spectrum(3) and Gappy(3, 3) count the same windows under codes of their own."""
    X = _strings("ACGT", 10, 0)
    legends = [k._prepare(k.domain.check(X)).legend for k in (mc.Spectrum(3), mc.Gappy(3, 3), mc.Spectrum(3))]
    assert legends[0] != legends[1]
    assert legends[0] == legends[2]


def test_products_of_large_counts() -> None:
    """A product of counts does not fit the whole numbers that the counts do."""
    X = ["A" * 600 + "C", "AC" * 200]
    k = mc.Spectrum(1)
    np.testing.assert_allclose((k * k).features(X).toarray() @ (k * k).features(X).toarray().T, k(X) ** 2, rtol=1e-13)
    np.testing.assert_allclose((9 * k).features(X).toarray() @ (9 * k).features(X).toarray().T, 9 * k(X), rtol=1e-13)
    np.testing.assert_allclose(mc.MinMax(k)(X)[0, 1], (200 + 1) / (601 + 400 - 201), rtol=1e-13)
