"""The kernels on strings and sequences against their literal definitions in tests/sequence_oracles.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import mercer as mc
from tests import sequence_oracles as truth
from tests.oracles import Oracle, matrix

AB, ACGT, UNICODE = "AB", "ACGT", "é😀\0"
TOKENS: list[Any] = [1, 1.0, "1", b"1", ("a", 2), "ab"]  # 1 == 1.0, the others all differ
DECAYS = st.sampled_from([0.1, 0.5, 0.9, 1.0])
SIGMAS = st.sampled_from([0.5, 1.0, 2.5])
few = settings(max_examples=40, deadline=None)
zero_norms_are_expected = pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")


# --- inputs and comparisons
# ---------------------------------------------------------------------------------------------------


def samples(sequence: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Lists of 2 to 5 sequences."""
    return st.lists(sequence, min_size=2, max_size=5)


def strings(longest: int = 8, alphabets: tuple[str, ...] = (AB, ACGT, UNICODE)) -> st.SearchStrategy[list[str]]:
    """Lists of 2 to 5 strings over one of the alphabets, of 0 to `longest` letters."""
    return st.sampled_from(alphabets).flatmap(lambda letters: samples(st.text(letters, max_size=longest)))


def of_one_length(longest: int = 8, alphabets: tuple[str, ...] = (AB, ACGT, UNICODE)) -> st.SearchStrategy[list[str]]:
    """Lists of 2 to 5 strings of the same length over one of the alphabets."""
    return st.tuples(st.sampled_from(alphabets), st.integers(0, longest)).flatmap(
        lambda p: samples(st.text(p[0], min_size=p[1], max_size=p[1]))
    )


def token_lists(longest: int = 6) -> st.SearchStrategy[list[list[Any]]]:
    """Lists of 2 to 5 lists of whole numbers, or of tokens of mixed types."""
    pools = [st.sampled_from([0, 1, -7, 2**40]), st.sampled_from(TOKENS)]
    return st.sampled_from(pools).flatmap(lambda pool: samples(st.lists(pool, max_size=longest)))


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


def features_agree(kernel: Any, X: list[Any]) -> None:
    """Φ Φᵀ = K."""
    phi = kernel.features(X)
    inner = phi @ phi.T
    same(inner.toarray() if sparse.issparse(inner) else inner, kernel(X))


def score_of(match: float, mismatch: float) -> Callable[[Any, Any], float]:
    """match if a = b, else mismatch."""
    return lambda a, b: match if a == b else mismatch


def random_strings(seed: int, letters: str, lengths: list[int]) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), n)) for n in lengths]


# --- faster second definitions, to check the oracles with, and for longer inputs
# ------------------------------------------------


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


@few
@given(X=strings(7), length=st.integers(1, 4), decay=DECAYS)
def test_the_oracle_of_subsequences(X: list[str], length: int, decay: float) -> None:
    same(
        matrix(partial(subsequence_by_programme, length=length, decay=decay), X),
        matrix(partial(truth.subsequence, length=length, decay=decay), X),
    )


@few
@given(X=strings(), g=st.integers(1, 5), data=st.data())
def test_the_oracle_of_gapped_words(X: list[str], g: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, g))
    assert matrix(partial(truth.gappy_by_distance, g=g, k=k), X) == matrix(partial(truth.gappy, g=g, k=k), X)
    assert matrix(partial(truth.gappy, g=g, k=g), X) == matrix(partial(truth.spectrum, k=g), X)


@few
@given(X=strings(), k=st.integers(1, 3))
def test_the_oracles_of_words(X: list[str], k: int) -> None:
    letters = sorted(set("".join(X)))
    assert matrix(partial(truth.mismatch, k=k, m=0, alphabet=letters), X) == matrix(partial(truth.spectrum, k=k), X)
    same(
        matrix(partial(truth.mismatch, k=k, m=k, alphabet="ABC"), X),
        3**k * np.outer(*2 * [[max(0, len(x) - k + 1) for x in X]]),
    )
    assert matrix(partial(truth.substring, longest=k), X) == matrix(partial(truth.spectrum, k=k, k_min=1), X)
    assert matrix(truth.substring, X) == matrix(partial(truth.spectrum, k=8, k_min=1), X)


@few
@given(X=samples(st.lists(st.floats(-3, 3), min_size=1, max_size=5)), sigma=SIGMAS)
def test_the_oracle_of_global_alignment(X: list[list[float]], sigma: float) -> None:
    same(
        matrix(partial(global_alignment_by_programme, sigma=sigma), X),
        matrix(partial(truth.global_alignment, sigma=sigma), X),
    )


@few
@given(
    X=strings(5),
    beta=st.sampled_from([0.1, 0.5, 1.0]),
    gaps=st.sampled_from([(3.0, 1.0), (1.0, 0.5), (11.0, 1.0), (2.0, 2.0)]),
)
def test_the_oracle_of_local_alignment(X: list[str], beta: float, gaps: tuple[float, float]) -> None:
    parameters: dict[str, Any] = {
        "score": score_of(2.0, -1.0),
        "beta": beta,
        "gap_open": gaps[0],
        "gap_extend": gaps[1],
    }
    same(
        matrix(partial(local_alignment_by_programme, **parameters), X),
        matrix(partial(truth.local_alignment, **parameters), X),
    )


# --- every kernel against its oracle
# --------------------------------------------------------------------------------------------


@few
@given(X=strings(), k=st.integers(1, 4), data=st.data())
def test_spectrum(X: list[str], k: int, data: st.DataObject) -> None:
    agrees(mc.Spectrum(k), partial(truth.spectrum, k=k), X)
    k_min = data.draw(st.integers(1, k))
    agrees(mc.Spectrum(k, k_min=k_min), partial(truth.spectrum, k=k, k_min=k_min), X)
    weights = data.draw(
        st.lists(st.sampled_from([0.0, 0.3, 1.0, 7.0]), min_size=k - k_min + 1, max_size=k - k_min + 1).filter(any)
    )
    weighted = mc.Spectrum(k, k_min=k_min, weights=weights)
    agrees(weighted, partial(truth.spectrum, k=k, k_min=k_min, weights=weights), X)
    features_agree(weighted, X)


@few
@given(X=strings(), alphabet_too_large=st.booleans(), km=st.sampled_from([(1, 0), (2, 0), (2, 1), (3, 1), (3, 2)]))
def test_mismatch(X: list[str], alphabet_too_large: bool, km: tuple[int, int]) -> None:
    k, m = km
    alphabet = "".join(sorted(set("".join(X)))) + ("xy" if alphabet_too_large else "")
    assume(len(alphabet) > 0)
    kernel = mc.Mismatch(k, m, alphabet=alphabet)
    agrees(kernel, partial(truth.mismatch, k=k, m=m, alphabet=alphabet), X)
    features_agree(kernel, X)


@few
@given(X=strings(), km=st.sampled_from([(1, 0), (2, 1), (3, 2)]))
def test_mismatch_takes_its_alphabet_at_bind(X: list[str], km: tuple[int, int]) -> None:
    k, m = km
    alphabet = sorted(set("".join(X)))
    assume(len(alphabet) > 0)
    agrees(mc.Mismatch(k, m).bind(X), partial(truth.mismatch, k=k, m=m, alphabet=alphabet), X)


@few
@given(X=strings(), g=st.integers(1, 5), data=st.data())
def test_gappy(X: list[str], g: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, g))
    agrees(mc.Gappy(g, k), partial(truth.gappy, g=g, k=k), X)
    features_agree(mc.Gappy(g, k), X)


@few
@given(X=of_one_length(), degree=st.integers(1, 5), shift=st.integers(0, 4))
def test_weighted_degree(X: list[str], degree: int, shift: int) -> None:
    agrees(mc.WeightedDegree(degree), partial(truth.weighted_degree, degree=degree), X)
    agrees(mc.WeightedDegree(degree, shift=shift), partial(truth.weighted_degree, degree=degree, shift=shift), X)
    features_agree(mc.WeightedDegree(degree), X)


@few
@given(X=strings(7), length=st.integers(1, 4), decay=DECAYS)
def test_subsequence(X: list[str], length: int, decay: float) -> None:
    agrees(mc.Subsequence(length, decay), partial(truth.subsequence, length=length, decay=decay), X)


@few
@given(X=strings(), decay=DECAYS, longest=st.sampled_from([None, 1, 2, 5, 20]))
def test_substring(X: list[str], decay: float, longest: int | None) -> None:
    agrees(mc.Substring(), truth.substring, X)
    agrees(mc.Substring(decay=decay, longest=longest), partial(truth.substring, decay=decay, longest=longest), X)


TEXTS = st.text("aAbBéÉßİ_1 ,'\n", max_size=12)
BAGS = st.lists(st.sampled_from(["a", "A", "é", 3, ("x", 1)]), max_size=6)


@few
@given(X=st.one_of(samples(TEXTS), samples(BAGS)))
def test_bag_of_words(X: list[Any]) -> None:
    agrees(mc.BagOfWords("counts"), truth.bag_of_words, X)
    agrees(mc.BagOfWords(weights="counts"), truth.bag_of_words, X)
    features_agree(mc.BagOfWords("counts"), X)


@few
@given(both=st.one_of(st.tuples(samples(TEXTS), samples(TEXTS)), st.tuples(samples(BAGS), samples(BAGS))))
def test_tfidf_weights_come_from_the_corpus(both: tuple[list[Any], list[Any]]) -> None:
    X, corpus = both
    for data in (X, corpus, corpus + X):  # words the corpus has not have df = 0
        kernel = mc.BagOfWords(weights="tfidf").bind(corpus)
        agrees(kernel, partial(truth.tfidf, corpus=corpus), data)
        features_agree(kernel, data)


@zero_norms_are_expected
@few
@given(X=samples(st.lists(st.floats(-3, 3), max_size=5)), sigma=SIGMAS)
def test_global_alignment_of_series(X: list[list[float]], sigma: float) -> None:
    agrees(
        mc.GlobalAlignment(sigma), partial(truth.global_alignment, sigma=sigma), [np.array(x, dtype=float) for x in X]
    )


@zero_norms_are_expected
@few
@given(X=samples(st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), max_size=5)), sigma=SIGMAS)
def test_global_alignment_of_several_channels(X: list[list[tuple[float, float]]], sigma: float) -> None:
    agrees(
        mc.GlobalAlignment(sigma),
        partial(truth.global_alignment, sigma=sigma),
        [np.array(x, dtype=float).reshape(-1, 2) for x in X],
    )


@zero_norms_are_expected
@few
@given(X=strings(5), sigma=SIGMAS)
def test_global_alignment_of_strings(X: list[str], sigma: float) -> None:
    agrees(mc.GlobalAlignment(sigma), partial(truth.global_alignment, sigma=sigma), X)


@few
@given(
    X=strings(5),
    scores=st.sampled_from([(1.0, -1.0), (2.0, 0.0), (5.0, -4.0)]),
    gaps=st.sampled_from([(3.0, 1.0), (1.0, 0.5), (11.0, 1.0), (2.0, 2.0)]),
    beta=st.sampled_from([0.1, 0.5, 1.0]),
)
def test_local_alignment(X: list[str], scores: tuple[float, float], gaps: tuple[float, float], beta: float) -> None:
    kernel = mc.LocalAlignment(match=scores[0], mismatch=scores[1], gap_open=gaps[0], gap_extend=gaps[1], beta=beta)
    agrees(
        kernel,
        partial(truth.local_alignment, score=score_of(*scores), beta=beta, gap_open=gaps[0], gap_extend=gaps[1]),
        X,
    )


@few
@given(X=strings(6, (ACGT,)))
def test_both_strands(X: list[str]) -> None:
    pairs: list[tuple[Any, Oracle]] = [
        (mc.Spectrum(2), partial(truth.spectrum, k=2)),
        (
            mc.Spectrum(3, k_min=1, weights=[1.0, 0.5, 2.0]),
            partial(truth.spectrum, k=3, k_min=1, weights=[1.0, 0.5, 2.0]),
        ),
        (mc.Mismatch(2, 1, alphabet=ACGT), partial(truth.mismatch, k=2, m=1, alphabet=ACGT)),
        (mc.Gappy(3, 2), partial(truth.gappy, g=3, k=2)),
        (mc.Subsequence(2, 0.5), partial(truth.subsequence, length=2, decay=0.5)),
        (mc.Substring(decay=0.5), partial(truth.substring, decay=0.5)),
    ]
    for kernel, oracle in pairs:
        agrees(kernel.both_strands(), truth.both_strands(oracle), X)


@few
@given(X=of_one_length(6, (ACGT,)), shift=st.integers(0, 2))
def test_both_strands_at_positions(X: list[str], shift: int) -> None:
    agrees(
        mc.WeightedDegree(3, shift=shift).both_strands(),
        truth.both_strands(partial(truth.weighted_degree, degree=3, shift=shift)),
        X,
    )


# --- every kind of sequence
# -----------------------------------------------------------------------------------------------------

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


@FAMILIES
def test_letters_that_only_the_second_list_has(name: str) -> None:
    X = random_strings(0, "CD", [9] * 5)
    Y = [*random_strings(1, "ABCDé", [9] * 4), *X[:1], *random_strings(2, "AZ", [9] * 2)]
    kernel = KERNELS[name]()
    if name == "mismatch":
        kernel = mc.Mismatch(3, 1, alphabet="ABCDZé")
    square = kernel(X + Y)
    same(kernel(X, Y), square[:5, 5:], rtol=1e-12)
    same(kernel(Y, X), square[5:, :5], rtol=1e-12)
    same(kernel(X, X), square[:5, :5], rtol=1e-12)
    same(kernel.diag(Y), np.diagonal(square)[5:], rtol=1e-12)


def test_words_that_only_the_second_list_has() -> None:
    X, Y = ["the cat sat", "a cat"], ["The dog, the cat", "zebra", ""]
    square = mc.BagOfWords("counts")(X + Y)
    same(mc.BagOfWords("counts")(X, Y), square[:2, 2:])
    same(mc.BagOfWords("counts")(Y, X), square[2:, :2])
    same(square, matrix(truth.bag_of_words, X + Y))


@FAMILIES
@pytest.mark.parametrize("letters", [AB, ACGT])
def test_bytes_and_lists_of_letters_are_strings(name: str, letters: str) -> None:
    X = random_strings(3, letters, [10] * 6)
    expected = KERNELS[name]().bind(X)(X)
    for Z in ([x.encode("ascii") for x in X], [list(x) for x in X]):
        kernel = KERNELS[name]().bind(Z)
        same(kernel(Z), expected, rtol=1e-12)
        same(kernel(Z[:2], Z[2:]), expected[:2, 2:], rtol=1e-12)
        same(kernel.diag(Z), np.diagonal(expected), rtol=1e-12)


@few
@given(X=token_lists())
def test_tokens(X: list[list[Any]]) -> None:
    score: dict[str, Any] = {"beta": 0.5, "gap_open": 3.0, "gap_extend": 1.0}
    agrees(mc.Spectrum(2, k_min=1), partial(truth.spectrum, k=2, k_min=1), X)
    agrees(mc.Gappy(3, 2), partial(truth.gappy, g=3, k=2), X)
    agrees(mc.Subsequence(2, 0.5), partial(truth.subsequence, length=2, decay=0.5), X)
    agrees(mc.Substring(decay=0.5), partial(truth.substring, decay=0.5), X)
    agrees(mc.BagOfWords("counts"), truth.bag_of_words, X)
    short = [x[:4] for x in X]
    agrees(
        mc.LocalAlignment(match=2.0, mismatch=-1.0, **score),
        partial(truth.local_alignment, score=score_of(2.0, -1.0), **score),
        short,
    )
    alphabet = list(dict.fromkeys(token for x in X for token in x))
    assume(len(alphabet) > 0)
    agrees(mc.Mismatch(2, 1).bind(X), partial(truth.mismatch, k=2, m=1, alphabet=alphabet), X)
    agrees(mc.Mismatch(2, 1, alphabet=alphabet), partial(truth.mismatch, k=2, m=1, alphabet=alphabet), X)


@few
@given(X=st.integers(0, 6).flatmap(lambda n: samples(st.lists(st.sampled_from(TOKENS), min_size=n, max_size=n))))
def test_tokens_at_positions(X: list[list[Any]]) -> None:
    agrees(mc.WeightedDegree(3), partial(truth.weighted_degree, degree=3), X)
    agrees(mc.WeightedDegree(3, shift=1), partial(truth.weighted_degree, degree=3, shift=1), X)


@pytest.mark.parametrize("length", [None, 7])  # seven each: not to be taken for a matrix of numbers
def test_arrays_of_whole_numbers(length: int | None) -> None:
    rng = np.random.default_rng(4)
    X = [rng.integers(-2, 3, rng.integers(0, 9) if length is None else length) for _ in range(6)]
    for Z in (X, [x.tolist() for x in X]):
        agrees(mc.Spectrum(2), partial(truth.spectrum, k=2), Z)
        agrees(mc.Gappy(3, 2), partial(truth.gappy, g=3, k=2), Z)
        agrees(mc.Subsequence(2, 0.5), partial(truth.subsequence, length=2, decay=0.5), Z)
        agrees(mc.Substring(), truth.substring, Z)


# --- worked values, long words, long sequences
# ------------------------------------------------------------------------------------


def test_the_worked_values() -> None:
    x, z = "ACGTTTACGA", "AGTTTACG"
    values = [21, 10, 6, 4, 3, 2, 1, 0]
    assert [truth.spectrum(x, z, k=k) for k in range(1, 9)] == values
    assert truth.substring(x, z) == sum(values)
    assert truth.subsequence("cat", "car", length=2, decay=0.5) == 0.5**4
    assert [float(mc.Spectrum(k)([x], [z])[0, 0]) for k in range(1, 9)] == values
    assert float(mc.Substring()([x], [z])[0, 0]) == sum(values)
    for decay in (0.25, 0.5, 1.0):
        K = mc.Subsequence(2, decay)(["cat", "car"])
        same(K, [[2 * decay**4 + decay**6, decay**4], [decay**4, 2 * decay**4 + decay**6]], rtol=1e-14)


@pytest.mark.parametrize("k", [5, 17, 33, 40, 64, 70])
def test_words_longer_than_a_machine_word(k: int) -> None:
    a, b, c = random_strings(5, ACGT, [60, 60, 90])
    X = [a + b, b + a, c + a[:50] + b, c[:-1] + "A" + c[1:], "A" * 110, ""]
    agrees(mc.Spectrum(k), partial(truth.spectrum, k=k), X)
    agrees(
        mc.Spectrum(k, k_min=k - 3, weights=[1.0, 0.5, 0.25, 2.0]),
        partial(truth.spectrum, k=k, k_min=k - 3, weights=[1.0, 0.5, 0.25, 2.0]),
        X,
    )
    same(mc.Substring(longest=k)(X), matrix(partial(truth.substring, longest=k), X))


def test_a_large_alphabet() -> None:
    rng = np.random.default_rng(6)
    base = rng.permutation(2000)[:60].tolist()
    X = [
        base,
        base[::-1],
        base[20:] + base[:20],
        base[:30] + base[:30],
        [*base[:10], -1, *base[11:]],
        list(range(2000)),
    ]
    for k in (1, 3, 8, 12):
        agrees(mc.Spectrum(k), partial(truth.spectrum, k=k), X)
    agrees(mc.Gappy(7, 5), partial(truth.gappy_by_distance, g=7, k=5), X[:5])
    agrees(mc.Subsequence(2, 0.5), partial(subsequence_by_programme, length=2, decay=0.5), X[:5])


@pytest.mark.parametrize(("g", "k"), [(6, 6), (8, 5), (10, 4), (12, 6)])
def test_longer_gapped_words(g: int, k: int) -> None:
    X = random_strings(7, ACGT, [60, 45, 30, 12, 11, 5])
    agrees(mc.Gappy(g, k), partial(truth.gappy_by_distance, g=g, k=k), X)


@pytest.mark.parametrize(("k", "m"), [(5, 1), (4, 3), (5, 2), (4, 2)])
def test_longer_words_with_mismatches(k: int, m: int) -> None:
    X = random_strings(8, ACGT, [25, 18, 5, 4])
    agrees(mc.Mismatch(k, m, alphabet=ACGT), partial(truth.mismatch, k=k, m=m, alphabet=ACGT), X)


@pytest.mark.parametrize(("length", "decay"), [(1, 0.5), (3, 0.3), (5, 0.9), (12, 1.0)])
def test_longer_subsequences(length: int, decay: float) -> None:
    X = random_strings(9, AB, [40, 33, 20, 12, 11])
    agrees(mc.Subsequence(length, decay), partial(subsequence_by_programme, length=length, decay=decay), X)


def test_longer_substrings() -> None:
    X = [*random_strings(10, AB, [150, 90]), "A" * 120, "AB" * 70, "ABB" * 20, ""]
    for decay in (1.0, 0.8):
        agrees(mc.Substring(decay=decay), partial(truth.substring, decay=decay), X)


def test_longer_local_alignments() -> None:
    X = random_strings(11, ACGT, [40, 35, 30, 1])
    parameters: dict[str, Any] = {"beta": 0.5, "gap_open": 5.0, "gap_extend": 0.5}
    oracle = partial(local_alignment_by_programme, score=score_of(4.0, -2.0), **parameters)
    agrees(mc.LocalAlignment(match=4.0, mismatch=-2.0, **parameters), oracle, X)


def test_long_local_alignments_do_not_overflow() -> None:
    X = random_strings(12, ACGT, [1500, 1400])
    # k(x, x) > exp(3750) before the normalisation
    K = mc.LocalAlignment(match=5.0, mismatch=-4.0, gap_open=11.0, gap_extend=1.0, beta=0.5)(X)
    assert np.isfinite(K).all()
    assert (K >= 0).all()
    same(np.diagonal(K), [1.0, 1.0])


def test_global_alignments_of_unequal_lengths() -> None:
    rng = np.random.default_rng(13)
    X = [np.cumsum(rng.standard_normal(n)) for n in (1, 2, 50, 80, 80)]
    agrees(mc.GlobalAlignment(20.0), partial(global_alignment_by_programme, sigma=20.0), X)


@pytest.mark.parametrize("sigma", [1000.0, 3000.0])
def test_global_alignments_of_long_random_walks(sigma: float) -> None:
    X = list(np.cumsum(np.random.default_rng(0).standard_normal((2, 5000)), axis=1))
    K = mc.GlobalAlignment(sigma)(X)
    assert np.isfinite(K).all()
    assert (K > 0).all()
    assert (K <= 1).all()
    same(np.diagonal(K), [1.0, 1.0])
    same(K[0, 1], global_alignment_by_programme(X[0], X[1], sigma), rtol=1e-7)
    same(K[1, 0], K[0, 1])


def _series(kind: str, rng: Any, n: int, k: int) -> Any:
    t = np.arange(n)
    match kind:
        case "smooth":
            return np.sin(t / 9 + k) + np.cumsum(rng.standard_normal(n)) / 40
        case "jumps":
            return np.sin(t / 9 + k) + 20 * (t > 100)
        case "far":
            return np.sin(t / 9 + k) + 1e6
        case "channels":
            return np.stack([np.sin(t / 9 + k), np.cos(t / 5), np.cumsum(rng.standard_normal(n)) / 40], axis=1)
        case "spread":
            return 30 * np.sin(t / 9 + k)
        case "one step":
            return 3.0 * (t > n - 200 + 4 * k)
        case "stairs":
            return 1.5 * (t // (37 + k)).astype(float)
        case "saw":
            return (t % 100) / 15
        case "on and off":
            return 3.0 * ((t // (61 + k)) % 2)
        case "letters":
            return ["A" if s < n - 293 + k else "B" for s in t]
    return np.cumsum(rng.standard_normal(n))


@pytest.mark.parametrize(
    "kind",
    ["smooth", "jumps", "far", "channels", "spread", "one step", "stairs", "saw", "on and off", "letters", "walk"],
)
@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0])
def test_global_alignments_of_many_blocks(kind: str, sigma: float) -> None:
    """Series that move by little, by much, and by both; whose sums are beyond a float in one block, and far from those
    in the next.
    """
    rng = np.random.default_rng(14)
    X = [_series(kind, rng, n, k) for k, n in enumerate((596, 601, 700, 65, 64, 1))]
    numbers = [np.array([float(c == "B") * math.sqrt(2) for c in x]) for x in X] if kind == "letters" else X
    K = mc.GlobalAlignment(sigma)(X)
    logs = np.array([[log_global_alignment(x, z, sigma) for z in numbers] for x in numbers])
    norms = np.diagonal(logs) / 2
    np.testing.assert_allclose(K, np.exp(logs - norms[:, None] - norms), rtol=3e-11, atol=1e-280)


def test_global_alignments_with_nothing() -> None:
    for X, Z in (([np.arange(3.0)], [np.zeros(0)] * 20), (["ABC"], [""] * 20)):
        assert np.array_equal(mc.GlobalAlignment(1.0)(X, Z), np.zeros((1, 20)))


def test_global_alignments_that_vanish() -> None:
    X = list(np.cumsum(np.random.default_rng(0).standard_normal((2, 5000)), axis=1))
    same(mc.GlobalAlignment(1.0)(X), np.eye(2))  # the logarithm is about −10⁷


# --- positive semi-definite
# ---------------------------------------------------------------------------------------------------


@FAMILIES
@pytest.mark.parametrize("letters", [AB, ACGT])
def test_positive_semi_definite(name: str, letters: str) -> None:
    for seed in range(3):
        lengths = (
            np.random.default_rng(seed).integers(1, 16, 12).tolist() if name not in ("degree", "shifts") else [10] * 12
        )
        X = random_strings(100 + seed, letters, lengths)
        kernel = KERNELS[name]().bind(X)
        # whether these two carry a proof is left to the library; they are semi-definite here all the same
        if name not in ("shifts", "local"):
            assert kernel.psd is True
        values = np.linalg.eigvalsh(kernel(X))
        assert values[0] >= -1e-9 * values[-1]
        if letters == ACGT and name not in ("global", "local"):
            values = np.linalg.eigvalsh(kernel.both_strands()(X))
            assert values[0] >= -1e-9 * values[-1]


def test_positive_semi_definite_texts_and_series() -> None:
    rng = np.random.default_rng(14)
    texts = [" ".join(rng.choice(["the", "cat", "sat", "on", "a", "mat"], 6)) for _ in range(12)]
    series = [rng.standard_normal(rng.integers(1, 20)) for _ in range(12)]
    channels = [rng.standard_normal((rng.integers(1, 20), 3)) for _ in range(12)]
    pairs: list[tuple[Any, list[Any]]] = [
        (mc.BagOfWords("counts"), texts),
        (mc.BagOfWords(weights="tfidf").bind(texts), texts),
        (mc.GlobalAlignment(0.5), series),
        (mc.GlobalAlignment(3.0), series),
        (mc.GlobalAlignment(1.0), channels),
    ]
    for kernel, X in pairs:
        assert kernel.psd is True
        values = np.linalg.eigvalsh(kernel(X))
        assert values[0] >= -1e-9 * values[-1]
