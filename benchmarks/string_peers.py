"""Other libraries' string kernels, and the recipes one would write in NumPy: each takes a list of strings and returns
the whole Gram matrix.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

DNA = "ACGT"
PROTEIN = "ABCDEFGHIKLMNPQRSTVWXYZ"


def has(*modules: str) -> bool:
    return all(importlib.util.find_spec(m) is not None for m in modules)


def random_dna(n: int, low: int, high: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(low, high + 1, n)
    letters = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, lengths.sum())].tobytes().decode()
    ends = np.cumsum(lengths)
    return [letters[e - k : e] for e, k in zip(ends, lengths, strict=True)]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """What C code prints goes nowhere."""
    sys.stdout.flush()
    saved, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(null)


# -- libraries --------------------------------------------------------------------------------------------------------


def count_vectorizer(X: list[str], k: int, *, dense: bool) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    S = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False, dtype=np.float32).fit_transform(X)
    if dense:
        S = S.toarray()
        return S @ S.T
    return (S @ S.T).toarray()


def fastsk(X: list[str], g: int, m: int, threads: int = 2) -> Any:
    """Exact, and always normalised. It ends the process if a string is shorter than g."""
    from fastsk import FastSK

    if min(map(len, X)) < g:
        raise ValueError("a string is shorter than g")
    code = {c: i for i, c in enumerate(sorted(set("".join(X))))}
    table = [[code[c] for c in x] for x in X]
    with quiet():
        f = FastSK(g=g, m=m, t=threads, approx=False)
        f.compute_train(table)
        return np.array(f.get_train_kernel())


def strkernel_mismatch(X: list[str], k: int, m: int) -> Any:
    """The trie of strkernel, given letters of our own numbering: its own reader takes an alphabet from each string and
    cuts all to the shortest.
    """
    from strkernel.mismatch_kernel import MismatchKernel

    code = {c: i for i, c in enumerate(DNA)}
    A = np.full((len(X), max(map(len, X))), -1)
    for i, x in enumerate(X):
        A[i, : len(x)] = [code[c] for c in x]

    class Ragged(MismatchKernel):  # type: ignore[misc]
        def compute_kmers(self, training_data: Any, k: int) -> None:
            self.kmers = {i: np.array([(o, 0) for o in range(len(x) - k + 1)]) for i, x in enumerate(X) if len(x) >= k}

    return Ragged(l=len(DNA), k=k, m=m).get_kernel(A, normalize=False).kernel


def strkernels_subsequence(X: list[str], n: int, decay: float) -> Any:
    """It sums the lengths 1 … n (C, OpenMP): more than is asked, in less time than the difference of two runs that is
    equal to it.
    """
    from strkernels import SubsequenceStringKernel

    return SubsequenceStringKernel(normalizer=None, maxlen=n, ssk_lambda=decay)(X, X)


def tslearn_alignment(X: Any, sigma: float) -> Any:
    from tslearn.metrics import cdist_gak

    return cdist_gak(X, sigma=sigma, n_jobs=2)


# -- recipes ----------------------------------------------------------------------------------------------------------


def _letters(X: list[str], alphabet: str) -> tuple[Any, Any]:
    table = np.zeros(256, np.uint8)
    table[np.frombuffer(alphabet.encode(), np.uint8)] = np.arange(len(alphabet))
    return table[np.frombuffer("".join(X).encode("latin-1"), np.uint8)], np.fromiter(map(len, X), np.int64, len(X))


def _windows(lengths: Any, g: int) -> tuple[Any, Any]:
    counts = np.maximum(lengths - g + 1, 0)
    rows = np.repeat(np.arange(len(lengths)), counts)
    first = np.cumsum(lengths) - lengths
    return np.arange(counts.sum()) + np.repeat(first - (np.cumsum(counts) - counts), counts), rows


def _words(codes: Any, positions: Any, base: int) -> Any:
    width = max(positions) + 1
    out = np.zeros(max(len(codes) - width + 1, 0), np.int64)
    for p in positions:
        out *= base
        out += codes[p : p + len(out)]
    return out


def _counts(X: list[str], k: int, alphabet: str) -> Any:
    codes, lengths = _letters(X, alphabet)
    starts, rows = _windows(lengths, k)
    size = len(alphabet) ** k
    words = _words(codes, range(k), len(alphabet))[starts] + rows * size
    return np.bincount(words, minlength=len(X) * size).reshape(len(X), -1).astype(np.float32)


def recipe_dense(X: list[str], k: int) -> Any:
    C = _counts(X, k, DNA)
    return C @ C.T


def recipe_sparse(X: list[str], k: int, alphabet: str = DNA) -> Any:
    codes, lengths = _letters(X, alphabet)
    starts, _ = _windows(lengths, k)
    words, width = _words(codes, range(k), len(alphabet))[starts], len(alphabet) ** k
    if width > 1 << 22:
        used, words = np.unique(words, return_inverse=True)
        width = len(used)
    indptr = np.concatenate([[0], np.cumsum(np.maximum(lengths - k + 1, 0))])
    S = csr_array(
        (np.ones(len(words), np.float32), words.astype(np.int32), indptr.astype(np.int32)), shape=(len(X), width)
    )
    S.sum_duplicates()
    return (S @ S.T).toarray()


def recipe_mismatch(X: list[str], k: int) -> Any:
    """m = 1: the counts summed over one axis at a time."""
    C, n = _counts(X, k, DNA), len(X)
    phi = -np.float32(k - 1) * C
    for j in range(k):
        phi.reshape(n, 4**j, 4, -1)[...] += C.reshape(n, 4**j, 4, -1).sum(axis=2, keepdims=True)
    return phi @ phi.T


def recipe_gapped(X: list[str], g: int, m: int) -> Any:
    """One bincount and one product for each choice of places."""
    codes, lengths = _letters(X, DNA)
    starts, rows = _windows(lengths, g)
    size = 4 ** (g - m)
    K = np.zeros((len(X), len(X)), np.float32)
    for places in itertools.combinations(range(g), g - m):
        words = _words(codes, places, 4)[starts] + rows * size
        C = np.bincount(words, minlength=len(X) * size).reshape(len(X), -1).astype(np.float32)
        K += C @ C.T
    return K
