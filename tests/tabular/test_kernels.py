"""Which kernels are tried on which columns, and that each is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from mercer.tabular.encoding import Encoding, View
from mercer.tabular.families import in_silence
from mercer.tabular.kernels import Named, joined, kernels_of
from mercer.tabular.kinds import clean, infer_kinds

rng = np.random.default_rng(0)
N = 40
NUMBERS = {"a": rng.standard_normal(N), "b": rng.random(N)}
TOPICS = ["the goal was won late in the game", "bread and butter with a little salt", "the coach ran out of players"]
TABLES: dict[str, dict[str, Any]] = {
    "numbers": NUMBERS,
    "text": {"note": [f"{TOPICS[i % 3]} on day {i} again" for i in range(N)]},
    "sequence": {"gene": ["".join(rng.choice(list("ACGT"), k)) for k in rng.integers(50, 70, N)]},
    "aligned": {"gene": ["".join(rng.choice(list("ACGT"), 60)) for _ in range(N)]},
    "molecule": {"smiles": [("C" * (i % 8 + 2)) + ["O", "N", "c1ccccc1", "C(=O)O", ""][i % 5] for i in range(N)]},
    "text and numbers": {**NUMBERS, "note": [f"{TOPICS[i % 3]} on day {i} again" for i in range(N)]},
    "two texts": {
        "note": [f"{TOPICS[i % 3]} on day {i} again" for i in range(N)],
        "gene": ["".join(rng.choice(list("ACGT"), 60)) for _ in range(N)],
    },
}


def seen(name: str) -> tuple[Any, Encoding]:
    if name == "molecule":
        pytest.importorskip("rdkit")
    frame = pl.DataFrame(TABLES[name])
    kinds = infer_kinds(frame)
    X = clean(frame, kinds)
    encoding = Encoding.of(X, kinds, View())
    return encoding(X), encoding


def assert_is_a_kernel(named: Named, X: Any) -> None:
    assert named.kernel.psd is True, named.name
    K = in_silence(named.kernel.bind(X), X)
    assert K.shape == (N, N)
    assert np.isfinite(K).all()
    np.testing.assert_allclose(K, K.T)
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-8 * values[-1], named.name
    assert np.ptp(K) > 0, named.name
    assert 1e-3 < np.mean(np.diag(K)) < 1e3  # of the size that settings of λ are meant for


@pytest.mark.thorough
@pytest.mark.parametrize("name", TABLES)
def test_every_kernel_is_one(name: str) -> None:
    X, encoding = seen(name)
    named = in_silence(kernels_of, X, encoding)
    assert named
    for kernel in named:
        assert_is_a_kernel(kernel, X)
    assert len({(k.name, k.width) for k in named}) == len(named)
    assert len({str(k.kernel) for k in named}) == len(named)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["text and numbers", "molecule"])
def test_joined_with_numbers(name: str) -> None:
    X, encoding = seen(name)
    first = [k for k in in_silence(kernels_of, X, encoding) if k.name not in ("Gaussian", "linear")][:2]
    found = in_silence(joined, first, X, encoding)
    for kernel in found:
        assert_is_a_kernel(kernel, X)
    numbers, written = encoding.columns[0], next(iter(encoding.written))
    changed = [
        X.with_columns((pl.col(numbers) + 5.0).alias(numbers)), X.with_columns(pl.col(written).reverse())
    ]  # fmt: skip
    for kernel in found:  # looks at both sides
        for other in changed:
            assert not np.allclose(in_silence(kernel.kernel.bind(X), X, other), in_silence(kernel.kernel.bind(X), X))


def test_kernels_of_entries() -> None:
    X = sparse.csr_array(np.where(rng.random((N, 30)) < 0.2, rng.random((N, 30)), 0.0))
    named = kernels_of(X, None)
    for kernel in named:
        assert_is_a_kernel(kernel, X)
    assert {"linear", "Gaussian"} <= {k.name for k in named}


def test_which_kernels() -> None:
    names = {name: {k.name for k in in_silence(kernels_of, *seen(name))} for name in ("numbers", "text", "sequence")}
    assert {"Gaussian", "Laplacian", "linear"} <= names["numbers"]
    assert "words" in names["text"]
    assert not {"Gaussian", "Laplacian", "linear"} & (names["text"] | names["sequence"])
    placed = {k.name for k in in_silence(kernels_of, *seen("aligned"))} - names["sequence"]
    assert placed
    assert all("place" in name for name in placed)


def test_widths_follow_the_median_distance() -> None:
    """Rows a thousand times as far apart have kernels of the same values."""
    X, _ = seen("numbers")
    for a, b in zip(kernels_of(X, None), kernels_of(1000.0 * X, None), strict=True):
        assert a.name == b.name
        np.testing.assert_allclose(a.kernel(X), b.kernel(1000.0 * X), rtol=1e-9, atol=1e-12)
    gaussian = [k for k in kernels_of(X, None) if k.name == "Gaussian"]
    typical = [float(np.median(k.kernel(X))) for k in gaussian]
    assert typical == sorted(typical, reverse=True)
    assert typical[0] > 0.5 > 0.1 > typical[-1]


def test_rows_that_are_all_alike() -> None:
    for kernel in kernels_of(np.zeros((20, 2)), None):
        assert np.isfinite(kernel.kernel(np.zeros((20, 2)))).all()
