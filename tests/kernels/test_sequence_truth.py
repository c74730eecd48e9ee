"""The kernels on strings and sequences against their literal definitions in tests/sequence_oracles.py."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import mercer as mc
from tests import sequence_oracles as truth
from tests.kernels.sequence_definitions import (
    AB,
    ACGT,
    FAMILIES,
    KERNELS,
    UNICODE,
    agrees,
    global_alignment_by_programme,
    local_alignment_by_programme,
    random_strings,
    same,
    score_of,
    subsequence_by_programme,
)
from tests.oracles import Oracle, matrix

TOKENS: list[Any] = [1, 1.0, "1", b"1", ("a", 2), "ab"]  # 1 == 1.0, the others all differ
DECAYS = st.sampled_from([0.1, 0.5, 0.9, 1.0])
SIGMAS = st.sampled_from([0.5, 1.0, 2.5])
few = settings(max_examples=40, deadline=None)
zero_norms_are_expected = pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")


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


def features_agree(kernel: Any, X: list[Any]) -> None:
    """Φ Φᵀ = K."""
    phi = kernel.features(X)
    inner = phi @ phi.T
    same(inner.toarray() if sparse.issparse(inner) else inner, kernel(X))


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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
@few
@given(X=st.one_of(samples(TEXTS), samples(BAGS)))
def test_bag_of_words(X: list[Any]) -> None:
    agrees(mc.BagOfWords("counts"), truth.bag_of_words, X)
    agrees(mc.BagOfWords(weights="counts"), truth.bag_of_words, X)
    features_agree(mc.BagOfWords("counts"), X)


@pytest.mark.thorough
@few
@given(both=st.one_of(st.tuples(samples(TEXTS), samples(TEXTS)), st.tuples(samples(BAGS), samples(BAGS))))
def test_tfidf_weights_come_from_the_corpus(both: tuple[list[Any], list[Any]]) -> None:
    X, corpus = both
    for data in (X, corpus, corpus + X):  # words the corpus has not have df = 0
        kernel = mc.BagOfWords(weights="tfidf").bind(corpus)
        agrees(kernel, partial(truth.tfidf, corpus=corpus), data)
        features_agree(kernel, data)


@pytest.mark.thorough
@zero_norms_are_expected
@few
@given(X=samples(st.lists(st.floats(-3, 3), max_size=5)), sigma=SIGMAS)
def test_global_alignment_of_series(X: list[list[float]], sigma: float) -> None:
    agrees(
        mc.GlobalAlignment(sigma), partial(truth.global_alignment, sigma=sigma), [np.array(x, dtype=float) for x in X]
    )


@pytest.mark.thorough
@zero_norms_are_expected
@few
@given(X=samples(st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), max_size=5)), sigma=SIGMAS)
def test_global_alignment_of_several_channels(X: list[list[tuple[float, float]]], sigma: float) -> None:
    agrees(
        mc.GlobalAlignment(sigma),
        partial(truth.global_alignment, sigma=sigma),
        [np.array(x, dtype=float).reshape(-1, 2) for x in X],
    )


@pytest.mark.thorough
@zero_norms_are_expected
@few
@given(X=strings(5), sigma=SIGMAS)
def test_global_alignment_of_strings(X: list[str], sigma: float) -> None:
    agrees(mc.GlobalAlignment(sigma), partial(truth.global_alignment, sigma=sigma), X)


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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
@pytest.mark.thorough
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
