"""Tests of hypotheses on Dask collections: block beside block, where the samples are."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import mercer as mc

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1200, 2))
Y = RNG.standard_normal((1200, 2))
SHIFTED = Y + np.array([0.4, 0.0])
DEPENDENT = np.column_stack([X[:, 0] ** 2, Y[:, 1]]) + 0.3 * Y
KERNEL = mc.Gaussian(0.5)


def _array(values: np.ndarray, rows: int = 300) -> da.Array:
    return da.from_array(values, chunks=(rows, 2))


def test_mmd_of_blocks_is_the_mean_over_their_parts() -> None:
    """The statistic, by hand: the mean of the unbiased MMD² of 35 samples of each side, beside each other."""
    found = mc.mmd_test(_array(X), _array(SHIFTED), KERNEL, statistic="block", n_permutations=99, random_state=0)
    wanted = []
    for start in (0, 300, 600, 900):
        for k in range(300 // 35):
            rows = slice(start + 35 * k, start + 35 * (k + 1))
            K, L, M = (
                KERNEL(a, b) for a, b in ((X, X), (SHIFTED, SHIFTED), (X, SHIFTED)) for a, b in [(a[rows], b[rows])]
            )
            off = ~np.eye(35, dtype=bool)
            wanted.append(K[off].mean() + L[off].mean() - 2 * M.mean())
    assert found.statistic == pytest.approx(np.mean(wanted), rel=1e-9)
    assert found.pvalue == 0.01
    assert found.note == "32 blocks of 35"


@pytest.mark.thorough
def test_hsic_of_blocks_sees_dependence() -> None:
    found = mc.hsic_test(_array(X), _array(DEPENDENT), statistic="block", n_permutations=99, random_state=0)
    assert found.pvalue == 0.01
    alone = mc.hsic_test(_array(X), _array(Y), statistic="block", n_permutations=99, random_state=0)
    assert alone.pvalue > 0.05


@pytest.mark.slow
def test_the_level_is_kept() -> None:
    """Of 200 samples without a difference no more are rejected than a binomial of 10 % allows (99.9 %: 35)."""
    rejected = [0, 0]
    for seed in range(200):
        rng = np.random.default_rng(seed)
        A, B = (da.from_array(rng.standard_normal((60, 1)), chunks=(30, 1)) for _ in range(2))
        options = {"statistic": "block", "n_permutations": 19, "random_state": seed}
        with dask.config.set(scheduler="synchronous"):
            rejected[0] += mc.mmd_test(A, B, KERNEL, **options).pvalue <= 0.1
            rejected[1] += mc.hsic_test(A, B, KERNEL, KERNEL, **options).pvalue <= 0.1
    assert 5 < rejected[0] <= 35
    assert 5 < rejected[1] <= 35


def test_it_is_the_same_whoever_computes() -> None:
    options = {"statistic": "block", "n_permutations": 19, "random_state": 3}
    found = []
    for scheduler in ("threads", "synchronous"):
        with dask.config.set(scheduler=scheduler):
            found.append(mc.mmd_test(_array(X), _array(Y), **options))
    assert found[0].statistic == found[1].statistic
    assert np.array_equal(found[0].null, found[1].null)


def test_frames_may_have_their_columns_in_another_order() -> None:
    A, B = pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(SHIFTED, columns=["a", "b"])
    options = {"statistic": "block", "n_permutations": 19, "random_state": 0}
    one = mc.mmd_test(*(dd.from_pandas(F, npartitions=4) for F in (A, B)), KERNEL, **options)
    other = mc.mmd_test(*(dd.from_pandas(F, npartitions=4) for F in (A, B[["b", "a"]])), KERNEL, **options)
    assert one.statistic == pytest.approx(other.statistic, rel=1e-12)


def test_strings_in_delayed_blocks() -> None:
    rng = np.random.default_rng(0)
    words = [["".join(rng.choice(list(letters), 8)) for _ in range(120)] for letters in ("aab", "abb")]
    blocks = [[dask.delayed(some[:60]), dask.delayed(some[60:])] for some in words]
    found = mc.mmd_test(*blocks, mc.Spectrum(2), statistic="block", n_permutations=99, random_state=0)
    assert found.pvalue == 0.01


def test_a_block_without_samples_adds_nothing() -> None:
    none = [dask.delayed(X[:0])]
    blocks = [[dask.delayed(V[:600]), dask.delayed(V[600:])] for V in (X, SHIFTED)]
    options = {"statistic": "block", "n_permutations": 19, "random_state": 0}
    one = mc.mmd_test(*blocks, KERNEL, **options)
    more = mc.mmd_test(*(some + none for some in blocks), KERNEL, **options)
    assert one.statistic == more.statistic


@pytest.mark.parametrize(
    ("first", "second", "options", "said"),
    [
        (_array(X), Y, {}, "both samples as Dask collections"),
        (_array(X), _array(Y), {"statistic": "unbiased"}, "of Dask collections give 'block'"),
        (_array(X), _array(Y, 400), {}, "4 and 3 blocks"),
        (_array(X), _array(Y), {"kernel": [KERNEL, mc.Gaussian(2.0)]}, "for one kernel"),
        (_array(X, 10), _array(Y, 10), {}, "No block has 35 samples"),
        (_array(X), da.from_array(np.zeros((1200, 3)), chunks=(300, 3)), {}, "2 columns"),
    ],
)
def test_what_cannot_be_tested_is_said(first: object, second: object, options: dict, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        mc.mmd_test(first, second, **{"kernel": KERNEL, "statistic": "block", "n_permutations": 19, **options})


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="Block 1 has 300 samples of X and 200 of Y"):
        mc.hsic_test(
            _array(X[:600]), da.from_array(Y[:500], chunks=((300, 200), 2)), statistic="block", n_permutations=19
        )
    with pytest.raises(ValueError, match="give 'block'"):
        mc.hsic_test(_array(X), _array(Y))
