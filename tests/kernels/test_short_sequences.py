"""No strings, empty strings, strings too short for the kernel."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer as mc
from mercer.data import DataError
from tests import sequence_oracles as truth
from tests.sequence_samples import EVERY, PLACES, X, dna, every, of_any_length, zero_norms_are_expected


@zero_norms_are_expected
@of_any_length
def test_empty_strings_have_the_value_zero(kernel: mc.Kernel) -> None:
    Z = ["", "ACGTACGTACGTA", "", "A"]
    K = kernel(Z)
    if isinstance(kernel, mc.LocalAlignment):
        assert (K > 0).all()
        assert (K[[0, 0, 2], [0, 2, 2]] == 1).all()
        one = truth.local_alignment("", Z[3], lambda a, b: 2.0 if a == b else -1.0, 0.5, 3.0, 1.0)
        np.testing.assert_allclose(K[0, 3], one, rtol=1e-12)
    else:
        assert not K[[0, 2]].any()
        assert not K[:, [0, 2]].any()
        assert K[1, 1] > 0
    np.testing.assert_allclose(kernel.diag(Z), np.diagonal(K), rtol=1e-12)
    for part in ([""], ["", ""]):
        bound = kernel.bind(Z)
        np.testing.assert_allclose(bound(part, Z), K[[0] * len(part)], rtol=1e-12)
        np.testing.assert_allclose(bound(part), K[0, 0], rtol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [
        mc.Spectrum(5),
        mc.Mismatch(5, 1, "ACGT"),
        mc.Mismatch(9, 2, "ACGT"),
        mc.Gappy(5, 2),
        mc.Gappy(12, 6),
        mc.Subsequence(5),
    ],
    ids=str,
)
def test_strings_that_are_too_short_have_the_value_zero(kernel: mc.Kernel) -> None:
    short, long = ["ACGT", "", "A"], ["ACGTACGTACGTACGT", "TTTTTTTTTTTTTTTTT"]
    assert not kernel(short).any()
    assert not kernel(short, long).any()
    assert not kernel(long, short).any()
    assert kernel(long).any()
    assert not kernel.diag(short).any()
    assert not (kernel.gram(short, long) @ np.ones(2)).any()


@pytest.mark.parametrize("kernel", [*PLACES, mc.BagOfWords("counts"), mc.Spectrum(1)], ids=str)
def test_nothing_but_empty_strings(kernel: mc.Kernel) -> None:
    assert not kernel(["", ""]).any()
    assert kernel(["", ""]).shape == (2, 2)


@pytest.mark.parametrize("kernel", [*EVERY, mc.BagOfWords("counts")], ids=str)
def test_no_strings_at_all(kernel: mc.Kernel) -> None:
    bound = kernel.bind(X)
    empty: list[Any]
    for empty in ([], np.array([], dtype=str), pd.Series([], dtype=object), pl.Series([], dtype=pl.String)):  # type: ignore[assignment]
        assert bound(empty, X).shape == (0, len(X))
        assert bound(X, empty).shape == (len(X), 0)
        assert bound(empty).shape == (0, 0)
        assert bound.diag(empty).shape == (0,)
        assert (bound.gram(X, empty) @ np.empty(0)).tolist() == [0.0] * len(X)


@pytest.mark.parametrize(
    "kernel",
    [
        mc.Spectrum(2).normalized(),
        mc.Spectrum(2).both_strands(),
        mc.Substring().both_strands(),
        mc.Gappy(9, 4).normalized(),
        mc.Spectrum(2).over("ACG"),
        mc.Spectrum(2) + mc.Substring(),
        mc.Spectrum(1) * mc.Gappy(3, 2),
    ],
    ids=str,
)
def test_no_strings_for_composites(kernel: mc.Kernel) -> None:
    assert kernel([], X).shape == (0, len(X))
    assert kernel(X, []).shape == (len(X), 0)
    assert kernel([]).shape == (0, 0)


@pytest.mark.parametrize("kernel", [mc.BagOfWords(), mc.GlobalAlignment()], ids=str)
def test_what_follows_data_needs_some(kernel: mc.Kernel) -> None:
    with pytest.raises(DataError, match=r"no rows|empty"):
        kernel([])


@every
def test_a_single_string(kernel: mc.Kernel) -> None:
    bound = kernel.bind(X)
    K = bound(X)
    np.testing.assert_allclose(bound(X[:1]), K[:1, :1], rtol=1e-14)
    np.testing.assert_allclose(bound(X[:1], X), K[:1], rtol=1e-14)
    np.testing.assert_allclose(bound(X, X[:1]), K[:, :1], rtol=1e-14)
    np.testing.assert_allclose(bound.diag(X[:1]), K[0, :1], rtol=1e-14)


@every
def test_equal_strings_have_equal_values(kernel: mc.Kernel) -> None:
    K = kernel([X[0], X[1], X[0]])
    np.testing.assert_allclose(K[0], K[2], rtol=1e-13)
    np.testing.assert_allclose(K[:, 0], K[:, 2], rtol=1e-13)


@of_any_length
def test_more_strings_than_a_batch_holds(kernel: mc.Kernel) -> None:
    rng = np.random.default_rng(8)
    Z = ["".join(rng.choice(list("ACGT"), n)) for n in rng.integers(0, 25, 150)]
    Z[7] = "ACGTACGTACGTACGT"
    bound = kernel.bind(Z)
    K = bound(Z)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(bound.diag(Z), np.diagonal(K), rtol=1e-12)
    np.testing.assert_allclose(bound(Z[100:], Z), K[100:], rtol=1e-10, atol=1e-300)
    for i, j in ((0, 0), (7, 7), (3, 140), (149, 65), (64, 63)):
        np.testing.assert_allclose(bound([Z[i]], [Z[j]])[0, 0], K[i, j], rtol=1e-10, atol=1e-300)


@every
def test_the_lazy_matrix_is_the_matrix(kernel: mc.Kernel) -> None:
    Z = dna(90, seed=4)
    gram, K = kernel.gram(Z), kernel(Z)
    v = np.random.default_rng(0).standard_normal((90, 2))
    np.testing.assert_allclose(gram @ v, K @ v, rtol=1e-9, atol=1e-9 * np.abs(K).max())
    np.testing.assert_allclose(gram.rows([5, 2, 89]), K[[5, 2, 89]], rtol=1e-12)
    np.testing.assert_allclose(gram.sub([1, 80], slice(3, 50)).dense(), K[[1, 80], 3:50], rtol=1e-12)
    np.testing.assert_allclose(gram.diag(), np.diagonal(K), rtol=1e-12)
    np.testing.assert_allclose(gram.T.dense(), K, rtol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(gram)).dense(), K, rtol=1e-14)
