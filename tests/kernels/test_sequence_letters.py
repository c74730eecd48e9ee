"""Letters and tokens of every kind, and symbols outside an alphabet."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data import DataError
from tests import sequence_oracles as truth
from tests.oracles import matrix
from tests.sequence_samples import (
    FREE,
    OPTIONS,
    WORDS,
    X,
    dna,
    every,
    of_any_length,
    with_holes,
    zero_norms_are_expected,
)

OF_ANY_LETTERS = [*WORDS, mc.Mismatch(3, 1), *FREE]

of_any_letters = pytest.mark.parametrize("kernel", OF_ANY_LETTERS, ids=str)

STRANGE = [
    "é",
    "中文中",
    "😀👩‍👩‍👧😀",
    "\0\0A\0",
    "\xfe\xfe",
    "\xff\xfe\xff",
    "\ud800\udfff\ud800",
    "A\nA\tA",
    "e\u0301e\u0301",
    "\U0010ffff\U0010ffff",
    "",
]


def oracle_of(kernel: Any) -> Callable[[Any, Any], float] | None:
    """The literal definition of one of the kernels above."""

    def value(x: Any, z: Any) -> float:
        match kernel:
            case mc.Spectrum():
                return truth.spectrum(x, z, kernel.k, kernel.k_min, kernel.weights)
            case mc.Gappy():
                return truth.gappy_by_distance(x, z, kernel.g, kernel.k)
            case mc.Subsequence():
                return truth.subsequence(x, z, kernel.length, kernel.decay)
            case mc.Substring():
                return truth.substring(x, z, kernel.decay, kernel.longest)
            case mc.GlobalAlignment():
                return truth.global_alignment(list(map(str, x)), list(map(str, z)), kernel.sigma)
            case mc.LocalAlignment():
                return truth.local_alignment(
                    x, z, lambda a, b: 2.0 if a == b else -1.0, kernel.beta, kernel.gap_open, kernel.gap_extend
                )
        raise NotImplementedError

    return None if isinstance(kernel, mc.Mismatch) else value


@pytest.mark.thorough
@zero_norms_are_expected
@of_any_letters
def test_strange_letters(kernel: mc.Kernel) -> None:
    K = kernel(STRANGE)
    oracle = oracle_of(kernel)
    if oracle is not None:
        np.testing.assert_allclose(K, matrix(oracle, STRANGE), rtol=1e-12)
    np.testing.assert_allclose(kernel([list(s) for s in STRANGE]), K, rtol=1e-14)
    for part in (STRANGE[:1], STRANGE[4:5], STRANGE[6:9]):
        bound = kernel.bind(STRANGE)
        rows = [STRANGE.index(s) for s in part]
        np.testing.assert_allclose(bound(part, STRANGE), K[rows], rtol=1e-14)
        np.testing.assert_allclose(bound(STRANGE, part), K[:, rows], rtol=1e-14)


def test_strange_letters_at_places() -> None:
    Z = ["éé\0", "中文\0", "😀\xff\ud800", "\ud800\xff\ud800", "\xfe\xfe\xfe", "\0\0\0"]
    for shift in (0, 2):
        expected = matrix(lambda x, z, shift=shift: truth.weighted_degree(x, z, 2, shift), Z)
        np.testing.assert_allclose(mc.WeightedDegree(2, shift)(Z), expected, rtol=1e-14)


def test_strange_letters_in_mismatches() -> None:
    letters = ["😀", "\0", "\ud800", "\xff"]
    Z = ["😀\0😀", "\ud800\0\xff\0", "\xff\xff"]
    for kernel in (mc.Mismatch(2, 1), mc.Mismatch(2, 1, letters), mc.Mismatch(2, 1, "".join(letters))):
        np.testing.assert_allclose(kernel(Z), matrix(lambda x, z: truth.mismatch(x, z, 2, 1, letters), Z))


@pytest.mark.thorough
@of_any_letters
def test_more_letters_than_a_byte_tells_apart(kernel: Any) -> None:
    rng = np.random.default_rng(3)
    named = isinstance(kernel, mc.GlobalAlignment)  # numbers would be numbers
    length = 4 if isinstance(kernel, mc.GlobalAlignment | mc.LocalAlignment) else 7
    oracle = oracle_of(kernel)
    for top in (254, 255, 256, 257, 300):  # every boundary between bytes and more
        parts = [
            rng.permutation(top)[:length],
            np.arange(length),
            np.arange(length)[::-1],
            np.arange(top - length, top),
            np.arange(top),
        ]
        Z = [tuple(f"letter {i}" if named else int(i) for i in part) for part in parts]
        K = kernel(Z)
        bound = kernel.bind(Z)
        np.testing.assert_allclose(bound(Z[:4]), K[:4, :4], rtol=1e-12)
        np.testing.assert_allclose(bound(Z[:4], Z), K[:4], rtol=1e-12)
        if oracle is not None:
            np.testing.assert_allclose(K[:4, :4], matrix(oracle, Z[:4]), rtol=1e-12)


@pytest.mark.parametrize("shift", [0, 1])
def test_places_of_more_letters_than_a_byte_tells_apart_are_refused(shift: int) -> None:
    Z = [np.arange(300), np.arange(300)[::-1], np.arange(300) % 150, np.arange(5, 305)]
    with pytest.raises(DataError, match="at most 254 letters"):
        mc.WeightedDegree(2, shift)(Z)
    few = [z % 254 for z in Z]
    expected = matrix(lambda x, z: truth.weighted_degree(x, z, 2, shift), [z.tolist() for z in few])
    np.testing.assert_allclose(mc.WeightedDegree(2, shift)(few), expected, rtol=1e-12)


def test_numbers_of_every_size_are_themselves() -> None:
    top = [2**64 - 1, 2**63, 2**62, 2**62 - 1]
    low = [-1, -(2**63), -(2**62)]
    numbers: list[Any] = [np.array([n], np.uint64) for n in top] + [np.array([n], np.int64) for n in (*low, 2**63 - 1)]
    K = mc.Spectrum(1)(numbers)
    np.testing.assert_array_equal(K, np.eye(len(numbers)))
    np.testing.assert_array_equal(mc.Spectrum(1)([[n] for n in (*top, *low, 2**63 - 1)], numbers), np.eye(len(numbers)))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (True, 1),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.str_("ab"), "ab"),
        ((1, 2), (1.0, 2.0)),
        ((1, True), (1, 1)),
        (("a", np.int64(2)), ("a", 2)),
        ((np.str_("a"), "b"), ("a", "b")),
        (frozenset([0, 8]), frozenset([8, 0])),
        (-0.0, 0),
        (2**70, float(2**70)),
        (b"A", np.bytes_(b"A")),
    ],
    ids=repr,
)
def test_tokens_that_are_equal_are_the_same_token_on_both_sides(a: Any, b: Any) -> None:
    assert a == b
    assert mc.Spectrum(1)([[a]], [[b]])[0, 0] == 1.0


def test_tokens_that_differ_are_different_tokens() -> None:
    tokens: list[Any] = [
        1,
        "1",
        b"1",
        1.5,
        "1.5",
        "one",
        ("one",),
        ("on", "e"),
        (1,),
        ((1,),),
        "",
        "(1,)",
        None.__class__.__name__,
        10**30,
        "é",
        "e\u0301",
    ]
    np.testing.assert_array_equal(mc.Spectrum(1)([[t] for t in tokens]), np.eye(len(tokens)))
    np.testing.assert_array_equal(mc.Substring()([[t] for t in tokens]), np.eye(len(tokens)))


@pytest.mark.thorough
def test_tokens_are_the_same_in_every_process() -> None:
    script = (
        "import mercer as mc; print(mc.data.Sequences().check([['ab', ('x', 1), 2.5, frozenset(['p', 'q', 'r', 's']),"
        " -3]]).values.tolist())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", f"import mercer.data; {script}"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert found != {""}


@pytest.mark.thorough
def test_two_alphabets_of_fifty_thousand_tokens() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.permutation(50_000)
    tokens = np.array([f"token {i}" for i in range(50_000)], dtype=object)
    Z = [tokens[numbers], tokens[numbers[::-1]], tokens[numbers[:300]], tokens[numbers[100:400]]]
    for kernel in (mc.Spectrum(1), mc.BagOfWords("counts"), mc.Substring(1.0, 1), mc.Subsequence(1, 1.0)):
        np.testing.assert_allclose(
            kernel(Z),
            [[50_000, 50_000, 300, 300], [50_000, 50_000, 300, 300], [300, 300, 300, 200], [300, 300, 200, 300]],
        )
    K = mc.Substring()(Z)
    np.testing.assert_allclose(K[0], [50_000 * 50_001 / 2, 50_000, 300 * 301 / 2, 300 * 301 / 2])
    np.testing.assert_allclose(K[2, 3], 200 * 201 / 2)
    np.testing.assert_allclose(mc.Spectrum(3)(Z)[0], [49_998, 0, 298, 298])


@pytest.mark.thorough
def test_gaps_and_alignments_of_fifty_thousand_tokens() -> None:
    rng = np.random.default_rng(0)
    Z = [rng.permutation(50_000)[:400] for _ in range(3)]
    Z = [*Z, Z[0][::-1], np.r_[Z[0][:200], Z[1][:200]], np.arange(50_000)[49_600:]]
    same = np.diagonal(mc.Gappy(10, 5)(Z))
    np.testing.assert_allclose(same, [391 * 252] * 6)
    np.testing.assert_allclose(
        mc.Gappy(10, 5)(Z[:1], Z[4:5]), [[191 * 252 + sum(math.comb(10 - d, 5) for d in range(1, 10))]]
    )
    K = mc.Subsequence(2, 1.0)(Z)
    assert K[0, 0] == 400 * 399 / 2
    assert K[0, 4] >= 200 * 199 / 2
    np.testing.assert_allclose(mc.LocalAlignment(**OPTIONS).diag(Z), 1.0)
    L = mc.LocalAlignment(**OPTIONS)(Z)
    assert np.isfinite(L).all()
    np.testing.assert_allclose(np.diagonal(L), 1.0, rtol=1e-10)


@pytest.mark.thorough
def test_a_million_letters() -> None:
    a, b = dna(2, 10**6, seed=5)
    counts = [Counter(s[i : i + 8] for i in range(len(s) - 7)) for s in (a, b)]
    K = mc.Spectrum(8)([a, b])
    assert K[0, 1] == sum(n * counts[1][w] for w, n in counts[0].items())
    assert K[0, 0] == sum(n * n for n in counts[0].values())
    np.testing.assert_allclose(mc.Substring(1.0, 8)([a], [b]), mc.Spectrum(8, 1)([a], [b]), rtol=1e-12)
    G = mc.Gappy(6, 4)([a, b])
    assert G[0, 0] > 15 * (10**6 - 5)
    np.testing.assert_allclose(G[0, 1], (10**6 - 5.0) ** 2 * 15 / 4**4, rtol=0.01)


@pytest.mark.thorough
def test_a_million_equal_letters() -> None:
    n = 10**6
    x = "A" * n
    assert mc.Spectrum(8)([x])[0, 0] == float(n - 7) ** 2
    np.testing.assert_allclose(mc.Substring()([x])[0, 0], sum(float(i) ** 2 for i in range(1, n + 1)), rtol=1e-9)
    assert mc.Gappy(6, 4)([x])[0, 0] == 15 * float(n - 5) ** 2


def test_counts_that_no_small_number_holds() -> None:
    n = 3000
    assert mc.Gappy(12, 6)(["A" * n], ["A" * n, "C" * 300 + "A" * 300])[0].tolist() == [
        924.0 * (n - 11) ** 2,
        _windows_of_two(n),
    ]
    n = 66_000
    for degree, shift in ((5, 0), (127, 3)):
        beta = [2 * (degree - d + 1) / (degree * (degree + 1)) for d in range(1, degree + 1)]
        places = [n - d + sum((n - d - s) / (s + 1) for s in range(1, shift + 1)) for d in range(degree)]
        np.testing.assert_allclose(mc.WeightedDegree(degree, shift)(["A" * n] * 2), np.dot(beta, places), rtol=1e-12)


def _windows_of_two(n: int) -> float:
    """Gappy(12, 6) of n letters A with 300 letters C and then 300 letters A."""
    return (n - 11) * (289.0 * math.comb(12, 6) + sum(math.comb(12 - d, 6) for d in range(1, 12)))


def pieces(x: str, alphabet: str = "ACGT") -> list[str]:
    return "".join(c if c in alphabet else " " for c in x).split(" ")


@pytest.mark.parametrize(
    "kernel",
    [mc.Spectrum(1), mc.Spectrum(3), mc.Spectrum(4, 2, [1.0, 0.5, 2.0]), mc.Substring(0.7), mc.Substring(1.0, 3)],
    ids=str,
)
def test_skipped_symbols_cut_the_string(kernel: mc.Kernel) -> None:
    Z = with_holes()
    parts = [pieces(z) for z in Z]
    flat = [p for part in parts for p in part]
    K = kernel(flat)
    ends = np.cumsum([0, *map(len, parts)])
    expected = [[K[a:b, c:d].sum() for c, d in itertools.pairwise(ends)] for a, b in itertools.pairwise(ends)]
    skipping = kernel.over("ACGT")
    np.testing.assert_allclose(skipping(Z), expected, rtol=1e-12)
    np.testing.assert_allclose(skipping(Z[:3], Z), expected[:3], rtol=1e-12)
    np.testing.assert_allclose(skipping.diag(Z), np.diagonal(expected), rtol=1e-12)


class Hole:
    """A symbol that equals nothing, not even itself."""

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 0


def holed(x: str, alphabet: str = "ACGT") -> list[Any]:
    return [c if c in alphabet else Hole() for c in x]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel",
    [mc.Gappy(4, 2), mc.Gappy(9, 4), mc.Subsequence(2, 0.6), mc.Subsequence(4, 0.9), mc.LocalAlignment(**OPTIONS)],
    ids=str,
)
def test_skipped_symbols_equal_nothing(kernel: mc.Kernel) -> None:
    short = isinstance(kernel, mc.LocalAlignment | mc.Subsequence)
    Z = (
        [z[:6] for z in with_holes()]
        if isinstance(kernel, mc.LocalAlignment)
        else [z[:10] for z in with_holes()]
        if short
        else with_holes()
    )
    oracle = oracle_of(kernel)
    assert oracle is not None
    if isinstance(kernel, mc.LocalAlignment):  # a hole is paired with nothing at all

        def oracle(x: Any, z: Any) -> float:
            score = lambda a, b: 2.0 if a == b else -1.0 if isinstance(a, str) and isinstance(b, str) else -np.inf  # noqa: E731
            return truth.local_alignment(x, z, score, 0.5, 3.0, 1.0)

    expected = matrix(lambda x, z: oracle(holed(x), holed(z)), Z)
    np.testing.assert_allclose(kernel.over("ACGT")(Z), expected, rtol=1e-10)
    np.testing.assert_allclose(kernel.over("ACGT")(Z[2:5], Z), expected[2:5], rtol=1e-10)
    np.testing.assert_allclose(kernel.over("ACGT").diag(Z), np.diagonal(expected), rtol=1e-10)


@pytest.mark.parametrize("shift", [0, 2])
def test_skipped_symbols_at_places(shift: int) -> None:
    Z = with_holes()[:12]
    expected = matrix(lambda x, z: truth.weighted_degree(holed(x), holed(z), 3, shift), Z)
    np.testing.assert_allclose(mc.WeightedDegree(3, shift).over("ACGT")(Z), expected, rtol=1e-12)
    np.testing.assert_allclose(mc.WeightedDegree(3, shift).over("ACGT").diag(Z), np.diagonal(expected), rtol=1e-12)


@pytest.mark.parametrize(("k", "m"), [(3, 1), (7, 1), (9, 2)])  # features, a table, windows
def test_words_with_a_skipped_symbol_do_not_count_for_mismatches(k: int, m: int) -> None:
    Z = with_holes(length=60)
    parts = [pieces(z) for z in Z]
    flat = [p for part in parts for p in part]
    K = mc.Mismatch(k, m, "ACGT")(flat)
    ends = np.cumsum([0, *map(len, parts)])
    expected = [[K[a:b, c:d].sum() for c, d in itertools.pairwise(ends)] for a, b in itertools.pairwise(ends)]
    for kernel in (mc.Mismatch(k, m, "ACGT"), mc.Mismatch(k, m, "ACGT").over("ACGT"), mc.Mismatch(k, m).over("ACGT")):
        np.testing.assert_allclose(kernel(Z), expected, rtol=1e-12)
        np.testing.assert_allclose(kernel.diag(Z), np.diagonal(expected), rtol=1e-12)


@zero_norms_are_expected
@of_any_length
def test_other_symbols_can_be_one_letter(kernel: mc.Kernel) -> None:
    Z = [z[:14] for z in with_holes()]
    translated = ["".join(c if c in "ACGT" else "\0" for c in z) for z in Z]
    unrestricted = isinstance(kernel, mc.Mismatch) and kernel.alphabet is not None
    expected = mc.Mismatch(kernel.k, kernel.m, "ACGT\0")(translated) if unrestricted else kernel(translated)  # type: ignore[attr-defined]
    if not unrestricted:
        np.testing.assert_allclose(kernel.over("ACGT", "letter")(Z), expected, rtol=1e-12)
        np.testing.assert_allclose(
            kernel.over("ACGT", "letter")(Z[:4], Z), kernel(translated[:4], translated), rtol=1e-12
        )


def test_other_symbols_as_one_letter_keep_out_of_the_alphabet() -> None:
    Z = ["\0N\0", "NX\0", "\0\0\0", "NNX"]
    expected = mc.Spectrum(2)(["\0?\0", "??\0", "\0\0\0", "???"])
    np.testing.assert_array_equal(mc.Spectrum(2).over("\0", "letter")(Z), expected)
    np.testing.assert_array_equal(
        mc.Mismatch(2, 1).over("\0", "letter")(Z), mc.Mismatch(2, 1)(["\0?\0", "??\0", "\0\0\0", "???"])
    )
    np.testing.assert_array_equal(
        mc.Spectrum(1).over(["ab", 3], "letter")([["ab", 3, "x"], [4, "y"]]), mc.Spectrum(1)(["ab?", "??"])
    )


def test_other_symbols_can_be_an_error() -> None:
    for kernel in (
        mc.Spectrum(2),
        mc.Substring(),
        mc.Mismatch(2, 1),
        mc.GlobalAlignment(1.0),
        mc.Spectrum(2).normalized(),
    ):
        strict = kernel.over("ACGT", "error")
        np.testing.assert_array_equal(strict(X), kernel(X))
        with pytest.raises(DataError, match=r"Item 3 .*'N' at place 2"):
            strict([X[0], "", "ACGT", "ACNGT", "NN"])
        with pytest.raises(DataError, match=r"Item 0 .*'é' at place 0"):
            strict(["éA"])
        with pytest.raises(DataError, match=r"Item 1 .*'N' at place 4"):
            strict(X, [X[0], "ACGTN"])
    with pytest.raises(DataError, match=r"Item 1 .*place 0"):
        mc.Spectrum(1).over(["ab", "cd"], "error")([["ab"], ["xy"]])


def test_an_alphabet_of_tokens() -> None:
    Z: list[Any] = [["ab", 3, ("x", 1), "zz", "ab"], [3, "zz", "zz"], []]
    np.testing.assert_array_equal(mc.Spectrum(1).over(["ab", 3, ("x", 1)])(Z), [[6, 1, 0], [1, 1, 0], [0, 0, 0]])


def test_an_alphabet_of_words_for_texts() -> None:
    K = mc.BagOfWords("counts").over(["cat", "dog"])(["the cat", "the dog and the cat"])
    np.testing.assert_array_equal(K, [[1, 1], [1, 2]])


@every
def test_an_alphabet_that_has_every_letter_changes_nothing(kernel: mc.Kernel) -> None:
    for unknown in ("skip", "letter", "error"):
        np.testing.assert_array_equal(kernel.over("TGCA", unknown)(X), kernel(X))
