"""Faster second definitions of kernels on sequences, and comparisons; shared by the tests of sequences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests.oracles import Oracle, matrix

AB, ACGT, UNICODE = "AB", "ACGT", "é😀\0"


def same(found: Any, expected: Any, rtol: float = 1e-10) -> None:
    """Equal shapes, and equal values to the relative tolerance: all of them are sums of positive terms, so a zero is a
    zero.
    """
    expected = np.asarray(expected, dtype=float)
    assert np.shape(found) == expected.shape
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=0)


def agrees(kernel: Any, oracle: Oracle, X: list[Any]) -> None:
    """The square matrix, the diagonal and both rectangular parts are those of the oracle."""
    expected = np.array(matrix(oracle, X))
    same(kernel(X), expected)
    same(kernel.diag(X), np.diagonal(expected))
    same(kernel(X[:1], X[1:]), expected[:1, 1:])
    same(kernel(X[1:], X[:1]), expected[1:, :1])


def score_of(match: float, mismatch: float) -> Callable[[Any, Any], float]:
    """match if a = b, else mismatch."""
    return lambda a, b: match if a == b else mismatch


def random_strings(seed: int, letters: str, lengths: list[int]) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), n)) for n in lengths]


def subsequence_by_programme(x: Any, z: Any, length: int, decay: float) -> float:
    """Lodhi's recursion K'_r(x a, z) = λ K'_r(x, z) + Σ_{j: z_j = a} K'_{r−1}(x, z[:j]) λ^{|z| − j + 1}, with plain
    tables.
    """
    n, m = len(x), len(z)
    prefix = [[1.0] * (m + 1) for _ in range(n + 1)]
    for _ in range(1, length):
        nxt = [[0.0] * (m + 1) for _ in range(n + 1)]
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                ends = math.fsum(
                    prefix[i - 1][t - 1] * decay ** (j - t + 2) for t in range(1, j + 1) if z[t - 1] == x[i - 1]
                )
                nxt[i][j] = decay * nxt[i - 1][j] + ends
        prefix = nxt
    return math.fsum(prefix[i][j] * decay**2 for i in range(n) for j in range(m) if x[i] == z[j])


def log_global_alignment(x: Any, z: Any, sigma: float) -> float:
    """log Σ_paths Π κ by L_ij = log κ_ij + log(e^{L_{i−1,j−1}} + e^{L_{i−1,j}} + e^{L_{i,j−1}}), one antidiagonal at a
    time.
    """
    x, z = np.asarray(x, dtype=float), np.asarray(z, dtype=float)
    n, m = len(x), len(z)
    before, last = np.full(n + 1, -np.inf), np.full(n + 1, -np.inf)
    before[0] = 0.0
    for total in range(2, n + m + 1):
        i = np.arange(max(1, total - m), min(n, total - 1) + 1)
        e = -np.sum(((x[i - 1] - z[total - i - 1]) ** 2).reshape(len(i), -1), axis=1) / (2 * sigma**2)
        now = np.full(n + 1, -np.inf)
        now[i] = np.logaddexp(np.logaddexp(before[i - 1], last[i - 1]), last[i]) + e - np.log(2 - np.exp(e))
        before, last = last, now
    return float(last[n])


def global_alignment_by_programme(x: Any, z: Any, sigma: float) -> float:
    """exp(log k(x, z) − ½ log k(x, x) − ½ log k(z, z))."""
    return math.exp(
        log_global_alignment(x, z, sigma)
        - log_global_alignment(x, x, sigma) / 2
        - log_global_alignment(z, z, sigma) / 2
    )


def local_alignment_by_programme(
    x: Any, z: Any, score: Callable[[Any, Any], float], beta: float, gap_open: float, gap_extend: float
) -> float:
    """k/√(k k): k = 1 + Σ_ij M_ij, M_ij = e^{β score(x_i, z_j)} (1 + Σ_{a<i, b<j} M_ab e^{−β(g(i−a−1) + g(j−b−1))})."""

    def raw(u: Any, v: Any) -> float:
        n, m = len(u), len(v)
        gap = np.array([1.0] + [math.exp(-beta * (gap_open + gap_extend * (p - 1))) for p in range(1, max(n, m) + 1)])
        ending = np.zeros((n, m))
        for i in range(n):
            for j in range(m):
                ending[i, j] = math.exp(beta * score(u[i], v[j])) * (1 + gap[:i][::-1] @ ending[:i, :j] @ gap[:j][::-1])
        return 1 + float(ending.sum())

    return raw(x, z) / math.sqrt(raw(x, x) * raw(z, z))


# One kernel of each family, made when a test asks for it. WeightedDegree is only given sequences of one length.
KERNELS: dict[str, Callable[[], Any]] = {
    "spectrum": lambda: mc.Spectrum(2),
    "spectra": lambda: mc.Spectrum(3, k_min=1, weights=[0.5, 1.0, 2.0]),
    "mismatch": lambda: mc.Mismatch(3, 1),
    "gappy": lambda: mc.Gappy(4, 2),
    "degree": lambda: mc.WeightedDegree(3),
    "shifts": lambda: mc.WeightedDegree(3, shift=2),
    "subsequence": lambda: mc.Subsequence(3, 0.6),
    "substring": lambda: mc.Substring(decay=0.7),
    "substrings": lambda: mc.Substring(),
    "global": lambda: mc.GlobalAlignment(1.0),
    "local": lambda: mc.LocalAlignment(match=2.0, mismatch=-1.0, gap_open=3.0, gap_extend=1.0, beta=0.5),
}
FAMILIES = pytest.mark.parametrize("name", list(KERNELS))
