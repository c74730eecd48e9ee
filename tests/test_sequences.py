"""Strings and sequences as users have them: in every form, broken, huge, strange, in estimators, interrupted."""

from __future__ import annotations

import itertools
import math
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline

import mercer as mc
from mercer.data import DataError
from tests import sequence_oracles as truth
from tests.oracles import matrix

LENGTH = 14
OPTIONS = {"match": 2.0, "mismatch": -1.0, "gap_open": 3.0, "gap_extend": 1.0, "beta": 0.5}

# one of each way of computing; all letters of the data occur in all of them, so that None as an alphabet means the same
# everywhere
WORDS = [mc.Spectrum(2), mc.Spectrum(3, 1, [0.5, 1.0, 2.0]), mc.Gappy(4, 2), mc.Gappy(9, 4)]
MISMATCHES = [mc.Mismatch(3, 1), mc.Mismatch(4, 1, "ACGTKMNRY"), mc.Mismatch(9, 2, "ACGT")]
PLACES = [mc.WeightedDegree(3), mc.WeightedDegree(3, 2)]
FREE = [
    mc.Subsequence(2, 0.6),
    mc.Substring(0.7),
    mc.Substring(1.0, 3),
    mc.LocalAlignment(**OPTIONS),
    mc.GlobalAlignment(0.8),
]
EVERY = [*WORDS, *MISMATCHES, *PLACES, *FREE]
OF_ANY_LENGTH = [*WORDS, *MISMATCHES, *FREE]
OF_ANY_LETTERS = [*WORDS, mc.Mismatch(3, 1), *FREE]

every = pytest.mark.parametrize("kernel", EVERY, ids=str)
of_any_length = pytest.mark.parametrize("kernel", OF_ANY_LENGTH, ids=str)
of_any_letters = pytest.mark.parametrize("kernel", OF_ANY_LETTERS, ids=str)
zero_norms_are_expected = pytest.mark.filterwarnings("ignore::mercer.kernels.compose.feature_space.ZeroNormWarning")


def dna(n: int, length: int = LENGTH, seed: int = 0, letters: str = "ACGT") -> list[str]:
    rng, alphabet = np.random.default_rng(seed), np.array(list(letters))
    return ["".join(alphabet[rng.integers(0, len(letters), length)]) for _ in range(n)]


def labelled(n: int = 40, length: int = 24, seed: int = 0) -> tuple[list[str], Any]:
    """Strings with and without a planted word."""
    rng = np.random.default_rng(seed)
    X, y = dna(n, length, seed), np.arange(n) % 2
    for i in np.flatnonzero(y):
        at = int(rng.integers(0, length - 5))
        X[i] = X[i][:at] + "GATTA" + X[i][at + 5 :]
    return X, y


class Record:
    """What Biopython calls a SeqRecord: an identifier and a sequence."""

    def __init__(self, seq: Any, id: str = "") -> None:
        self.seq, self.id = seq, id


class Seq:
    """What Biopython calls a Seq: not a string, but str() gives one."""

    def __init__(self, letters: str) -> None:
        self._letters = letters

    def __str__(self) -> str:
        return self._letters

    def __len__(self) -> int:
        return len(self._letters)

    def __getitem__(self, i: Any) -> Any:
        return self._letters[i]


X = [*dna(9), "ACGTACGTACGTAC"]
OTHERS = [*dna(6, seed=1), X[0]]

FORMS: dict[str, Callable[[list[str]], Any]] = {
    "tuple": tuple,
    "generator": lambda x: (s for s in x),
    "deque": deque,
    "keys of a dictionary": lambda x: dict.fromkeys(x).keys(),
    "bytes": lambda x: [s.encode() for s in x],
    "bytearrays": lambda x: [bytearray(s.encode()) for s in x],
    "lists": lambda x: [list(s) for s in x],
    "tuples": lambda x: [tuple(s) for s in x],
    "array of strings": np.array,
    "array of bytes": lambda x: np.array(x, dtype="S"),
    "array of variable strings": lambda x: np.array(x, dtype=np.dtypes.StringDType()),
    "array of objects": lambda x: np.array(x, dtype=object),
    "column of an array": lambda x: np.array(x, dtype=object)[:, None],
    "arrays of letters": lambda x: [np.array(list(s)) for s in x],
    "table of letters": lambda x: np.array([list(s) for s in x]),
    "table of objects": lambda x: np.array([list(s) for s in x], dtype=object),
    "pandas": pd.Series,
    "pandas, shuffled index": lambda x: pd.Series(x, index=np.arange(len(x))[::-1]),
    "pandas strings": lambda x: pd.Series(x, dtype="string"),
    "pandas categories": lambda x: pd.Series(x, dtype="category"),
    "polars": pl.Series,
    "polars categories": lambda x: pl.Series(x, dtype=pl.Categorical),
    "polars lists": lambda x: pl.Series([list(s) for s in x]),
    "arrow": lambda x: pa.chunked_array([x]),
    "records": lambda x: [Record(Seq(s)) for s in x],
    "records of strings": lambda x: [Record(s) for s in x],
    "records of bytes": lambda x: [Record(s.encode()) for s in x],
    "mixed": lambda x: [
        form(s) for form, s in zip(itertools.cycle([str, list, str.encode, Record, np.str_]), x, strict=False)
    ],
}
NUMBERS: dict[str, Callable[[list[str]], Any]] = {
    "lists of numbers": lambda x: [[ord(c) for c in s] for s in x],
    "arrays of numbers": lambda x: [np.array([ord(c) for c in s]) for s in x],
    "arrays of small numbers": lambda x: [np.array([ord(c) for c in s], np.int8) for s in x],
    "arrays of unsigned numbers": lambda x: [np.array([ord(c) for c in s], np.uint64) for s in x],
    "table of numbers": lambda x: np.array([[ord(c) for c in s] for s in x]),
    "table of bytes": lambda x: np.array([[ord(c) for c in s] for s in x], np.uint8),
    "polars lists of numbers": lambda x: pl.Series([[ord(c) for c in s] for s in x]),
}


# --- every form of input
# ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_matrix(form: str) -> None:
    for kernel in EVERY:
        same = FORMS[form]
        np.testing.assert_array_equal(kernel(same(X)), kernel(X), str(kernel))
        np.testing.assert_array_equal(kernel(same(OTHERS), X), kernel(OTHERS, X), str(kernel))
        np.testing.assert_array_equal(kernel(OTHERS, same(X)), kernel(OTHERS, X), str(kernel))
        np.testing.assert_array_equal(kernel.diag(same(X)), kernel.diag(X), str(kernel))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_in_composites(form: str) -> None:
    for kernel in (
        mc.Spectrum(2).normalized(),
        mc.Spectrum(2).both_strands(),
        mc.Spectrum(2) + mc.Substring(),
        mc.Gappy(9, 4).over("ACGT"),
    ):
        np.testing.assert_array_equal(kernel(FORMS[form](X)), kernel(X), str(kernel))
        np.testing.assert_array_equal(kernel(OTHERS, FORMS[form](X)), kernel(OTHERS, X), str(kernel))


@pytest.mark.parametrize("form", NUMBERS)
def test_code_points_are_letters(form: str) -> None:
    for kernel in EVERY[:-1]:
        np.testing.assert_array_equal(kernel(NUMBERS[form](X)), kernel(X), str(kernel))
        np.testing.assert_array_equal(kernel(NUMBERS[form](OTHERS), X), kernel(OTHERS, X), str(kernel))


TEXTS = ["The cat sat on the mat.", "A cat!", "", "the dog, the Dog; the DOG", "zebra crossing"]


@pytest.mark.parametrize("weights", ["tfidf", "counts", "binary"])
@pytest.mark.parametrize(
    "form",
    [
        tuple,
        iter,
        np.array,
        pd.Series,
        pl.Series,
        lambda x: np.array(x, object),
        lambda x: [re.findall(r"\w+", s.lower()) for s in x],
    ],
)
def test_every_form_of_texts(weights: str, form: Any) -> None:
    np.testing.assert_array_equal(mc.BagOfWords(weights)(form(TEXTS)), mc.BagOfWords(weights)(TEXTS))


def test_texts_of_bytes_are_texts() -> None:
    K = mc.BagOfWords("counts")(TEXTS)
    np.testing.assert_array_equal(mc.BagOfWords("counts")([s.encode() for s in TEXTS]), K)
    np.testing.assert_array_equal(mc.BagOfWords("counts")([Record(s) for s in TEXTS]), K)


@every
def test_tensors_of_numbers(kernel: mc.Kernel) -> None:
    torch = pytest.importorskip("torch")
    table = np.array([[ord(c) for c in s] for s in X])
    if not isinstance(kernel, mc.GlobalAlignment):
        np.testing.assert_array_equal(kernel(torch.from_numpy(table)), kernel(X))
        np.testing.assert_array_equal(kernel(list(torch.from_numpy(table))), kernel(X))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@every
def test_columns_of_data_frames(make: Any, kernel: mc.Kernel) -> None:
    age = np.arange(len(X)) / 5
    frame, turned = make({"age": age, "dna": X}), make({"dna": OTHERS, "age": np.arange(len(OTHERS)) / 3})
    np.testing.assert_array_equal(kernel.on("dna")(frame), kernel(X))
    np.testing.assert_array_equal(kernel.on(1)(frame), kernel(X))
    np.testing.assert_array_equal(kernel.on("dna")(turned, frame), kernel(OTHERS, X))
    total = mc.Gaussian(1.0).on(["age"]) + kernel.on("dna")
    ages = mc.Gaussian(1.0)(age[:, None])
    np.testing.assert_allclose(total(frame), ages + kernel(X), rtol=1e-14)
    np.testing.assert_allclose((mc.Gaussian(1.0).on(["age"]) * kernel.on("dna"))(frame), ages * kernel(X), rtol=1e-14)
    v = np.linspace(-1, 1, len(X))
    np.testing.assert_allclose(total.gram(frame) @ v, (ages + kernel(X)) @ v, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_of_one_column_is_that_column_and_not_its_name(make: Any) -> None:
    np.testing.assert_array_equal(mc.Spectrum(2)(make({"dna": X})), mc.Spectrum(2)(X))
    np.testing.assert_array_equal(mc.Spectrum(2).on(["dna"])(make({"dna": X, "age": range(len(X))})), mc.Spectrum(2)(X))
    np.testing.assert_array_equal(mc.BagOfWords()(make({"text": TEXTS})), mc.BagOfWords()(TEXTS))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_of_several_columns_is_no_list_of_strings(make: Any) -> None:
    with pytest.raises(DataError):
        mc.Spectrum(1)(make({"dna": X, "rna": X}))


def test_columns_of_arrays_of_objects() -> None:
    table = np.array([[1.0, s] for s in X], dtype=object)
    np.testing.assert_array_equal(mc.Spectrum(2).on(1)(table), mc.Spectrum(2)(X))


def test_two_strings_have_a_number() -> None:
    assert mc.Spectrum(2)("ACGTAC", "ACAC") == 4.0
    assert mc.Spectrum(2)(b"ACGTAC", "ACAC") == 4.0


# --- every kind of letter
# -----------------------------------------------------------------------------------------------------

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


def ordered(x: str) -> list[int]:
    return [ord(c) for c in x]


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
def test_places_of_more_letters_than_a_byte_tells_apart_are_right_or_refused(shift: int) -> None:
    Z = [np.arange(300), np.arange(300)[::-1], np.arange(300) % 150, np.arange(5, 305)]
    expected = matrix(lambda x, z: truth.weighted_degree(x, z, 2, shift), [z.tolist() for z in Z])
    try:
        np.testing.assert_allclose(mc.WeightedDegree(2, shift)(Z), expected, rtol=1e-12)
    except DataError as error:
        assert "254 letters" in str(error)  # noqa: PT017
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


def test_two_alphabets_of_fifty_thousand_tokens() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.permutation(50_000)
    tokens = np.array([f"token {i}" for i in range(50_000)], dtype=object)
    Z = [tokens[numbers], tokens[numbers[::-1]], tokens[numbers[:300]], tokens[numbers[100:400]]]
    began = time.perf_counter()
    for kernel in (mc.Spectrum(1), mc.BagOfWords("counts"), mc.Substring(1.0, 1), mc.Subsequence(1, 1.0)):
        np.testing.assert_allclose(
            kernel(Z),
            [[50_000, 50_000, 300, 300], [50_000, 50_000, 300, 300], [300, 300, 300, 200], [300, 300, 200, 300]],
        )
    K = mc.Substring()(Z)
    np.testing.assert_allclose(K[0], [50_000 * 50_001 / 2, 50_000, 300 * 301 / 2, 300 * 301 / 2])
    np.testing.assert_allclose(K[2, 3], 200 * 201 / 2)
    np.testing.assert_allclose(mc.Spectrum(3)(Z)[0], [49_998, 0, 298, 298])
    assert time.perf_counter() - began < 20


def test_gaps_and_alignments_of_fifty_thousand_tokens() -> None:
    rng = np.random.default_rng(0)
    Z = [rng.permutation(50_000)[:400] for _ in range(3)]
    Z = [*Z, Z[0][::-1], np.r_[Z[0][:200], Z[1][:200]], np.arange(50_000)[49_600:]]
    began = time.perf_counter()
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
    assert time.perf_counter() - began < 20


def test_a_million_letters() -> None:
    a, b = dna(2, 10**6, seed=5)
    counts = [Counter(s[i : i + 8] for i in range(len(s) - 7)) for s in (a, b)]
    began = time.perf_counter()
    K = mc.Spectrum(8)([a, b])
    assert K[0, 1] == sum(n * counts[1][w] for w, n in counts[0].items())
    assert K[0, 0] == sum(n * n for n in counts[0].values())
    np.testing.assert_allclose(mc.Substring(1.0, 8)([a], [b]), mc.Spectrum(8, 1)([a], [b]), rtol=1e-12)
    G = mc.Gappy(6, 4)([a, b])
    assert G[0, 0] > 15 * (10**6 - 5)
    np.testing.assert_allclose(G[0, 1], (10**6 - 5.0) ** 2 * 15 / 4**4, rtol=0.01)
    assert time.perf_counter() - began < 30


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


# --- errors that say where
# ----------------------------------------------------------------------------------------------------

MISSING: list[Any] = [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT]


@pytest.mark.parametrize("item", [*MISSING, 7, 2.5, 1j, np.int64(3)], ids=repr)
def test_an_item_that_is_no_sequence_is_named(item: Any) -> None:
    for kernel in (*EVERY, mc.Spectrum(2).normalized(), mc.Spectrum(2).both_strands(), mc.Spectrum(2) + mc.Spectrum(1)):
        with pytest.raises(DataError, match="Item 2 "):
            kernel([*X[:2], item, *X[2:]])
        with pytest.raises(DataError, match="Item 1 "):
            kernel(X, [X[0], item])


@pytest.mark.parametrize("kernel", [mc.BagOfWords(), mc.BagOfWords("counts"), mc.BagOfWords("binary")], ids=str)
@pytest.mark.parametrize("item", [*MISSING, 7], ids=repr)
def test_a_text_that_is_none_is_named(kernel: mc.Kernel, item: Any) -> None:
    with pytest.raises(DataError, match="Item 1 "):
        kernel(["a rose", item, "by any other name"])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([*X[:3], None]), pd.Series([*X[:3], np.nan]), pd.Series([*X[:3], pd.NA], dtype="string"),
        pd.Series([*X[:3], None], dtype="category"), pl.Series([*X[:3], None]), np.array([*X[:3], None], dtype=object),
        pa.chunked_array([[*X[:3], None]]),
    ],
)  # fmt: skip
def test_missing_values_of_columns_are_named(column: Any) -> None:
    for kernel in (
        mc.Spectrum(2),
        mc.Mismatch(2, 1),
        mc.GlobalAlignment(1.0),
        mc.BagOfWords(),
        mc.Spectrum(2).normalized(),
        mc.Spectrum(2).both_strands(),
    ):
        with pytest.raises(DataError, match=r"Item 3 .*missing"):
            kernel(column)


@pytest.mark.parametrize(
    "token",
    [["C"], {"C": 1}, np.array(["C", "G"]), np.array([1, 2]), np.array([1]), None, float("nan"), pd.NA, pd.NaT, {1}],
    ids=repr,
)
def test_a_token_that_is_none_is_named(token: Any) -> None:
    for kernel in (mc.Spectrum(2), mc.Substring(), mc.BagOfWords("counts"), mc.LocalAlignment()):
        with pytest.raises(DataError, match=r"Item 1 .*place 2"):
            kernel([["A", "C", "G"], ["A", "C", token]])


def test_nested_tables_are_named() -> None:
    for table in (
        np.zeros((3, 4, 2), int),
        [np.zeros((4, 2), int)] * 2,
        [[["A", "C"], ["G"]]],
        np.array([[["A"] * 3] * 2] * 2),
    ):
        with pytest.raises(DataError, match="Item 0 "):
            mc.Spectrum(2)(table)
    with pytest.raises(DataError, match="Item 1 "):
        mc.Spectrum(2)([[1, 2], np.array(3)])


@pytest.mark.parametrize("one", ["ACGT", b"ACGT", bytearray(b"ACGT"), np.str_("ACGT")], ids=repr)
def test_one_string_is_no_list(one: Any) -> None:
    for kernel in (*EVERY, mc.BagOfWords("counts"), mc.Spectrum(2).normalized(), mc.Spectrum(2) + mc.Spectrum(3)):
        with pytest.raises(DataError, match=r"put it in a list|Item 0 "):
            kernel(one)
        with pytest.raises(DataError, match=r"put it in a list|Item 0 "):
            kernel(["ACGT"], one)


def test_one_string_is_no_list_for_estimators() -> None:
    with pytest.raises(DataError, match="put it in a list"):
        mc.SVC(kernel=mc.Spectrum(2)).fit("ACGT", [0, 1, 0, 1])
    model = mc.SVC(kernel=mc.Spectrum(2)).fit(["AAAA", "CCCC"], [0, 1])
    with pytest.raises(DataError, match="put it in a list"):
        model.predict("ACGT")


@pytest.mark.parametrize("shift", [0, 2])
def test_unequal_lengths_are_named(shift: int) -> None:
    kernel = mc.WeightedDegree(2, shift)
    with pytest.raises(DataError, match=r"Item 2 .* 3 letters.*item 0 .* 4"):
        kernel(["ACGT", "ACGA", "ACG", "AC"])
    with pytest.raises(DataError, match=r"4 letters.*5"):
        kernel(["ACGT"], ["ACGTA", "ACGTC"])
    with pytest.raises(DataError, match=r"4 letters.*0"):
        kernel(["ACGT"], [""])
    model = mc.KernelRidge(kernel=kernel).fit(["ACGT", "ACGA", "TTTT"], [0.0, 1.0, 2.0])
    with pytest.raises(DataError, match="letters"):
        model.predict(["ACGTA"])


def test_broken_series_are_named() -> None:
    kernel, good = mc.GlobalAlignment(1.0), np.ones((5, 2))
    with pytest.raises(DataError, match=r"Item 2 .* 3 channels.* 2"):
        kernel([good, good, np.ones((4, 3))])
    with pytest.raises(DataError, match="channels"):
        kernel([good], [np.ones((4, 3))])
    for bad in (np.nan, np.inf, -np.inf):
        broken = good.copy()
        broken[3, 1] = bad
        with pytest.raises(DataError, match=r"Item 1 .*time 3"):
            kernel([good, broken])
    with pytest.raises(DataError, match=r"Item 1 .*time 2"):
        kernel([[1.0, 2.0], [1.0, 2.0, None]])
    with pytest.raises(DataError, match="Item 1 "):
        kernel([[1.0, 2.0], "ACGT"])
    with pytest.raises(DataError, match="Item 0 "):
        kernel([np.ones((2, 2, 2))])
    with pytest.raises(DataError, match="Item 0 "):
        kernel([[1.0, [2.0, 3.0]]])
    with pytest.raises(DataError):
        kernel(np.ones(5))
    with pytest.raises(DataError):
        kernel(["ACGT"], [[1.0, 2.0]])


def test_letters_and_numbers_do_not_mix() -> None:
    with pytest.raises(DataError, match="Item 1 "):
        mc.GlobalAlignment(1.0)([[1.0, 2.0], "ACGT"])
    with pytest.raises(DataError, match="Item 1 "):
        mc.GlobalAlignment(1.0)(["ACGT", [1.0, 2.0]])


def test_an_empty_series_has_any_number_of_channels() -> None:
    good = np.ones((5, 2))
    K = mc.GlobalAlignment(1.0)([np.empty(0), good, np.empty((0, 2)), []])
    assert K.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert mc.GlobalAlignment(1.0)([[]], [good]).tolist() == [[0.0]]
    assert mc.GlobalAlignment(1.0)([good], [[]]).tolist() == [[0.0]]
    with pytest.raises(DataError, match=r"Item 2 .* 3 channels.* 2"):
        mc.GlobalAlignment(1.0)([np.empty(0), good, np.ones((4, 3))])
    np.testing.assert_array_equal(mc.GlobalAlignment(1.0)([[], ["A", "C"]]), mc.GlobalAlignment(1.0)(["", "AC"]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: mc.Spectrum(0),
        lambda: mc.Spectrum(-1),
        lambda: mc.Spectrum(2.0),
        lambda: mc.Spectrum(True),
        lambda: mc.Spectrum("3"),
        lambda: mc.Spectrum(3, 4),
        lambda: mc.Spectrum(3, 0),
        lambda: mc.Spectrum(3, 1.5),
        lambda: mc.Spectrum(3, 1, [1.0]),
        lambda: mc.Spectrum(3, 1, [1.0, 1.0, -1.0]),
        lambda: mc.Spectrum(3, 1, [1.0, 1.0, np.nan]),
        lambda: mc.Spectrum(3, 1, 2.0),
        lambda: mc.Mismatch(0, 0),
        lambda: mc.Mismatch(3, 4),
        lambda: mc.Mismatch(3, -1),
        lambda: mc.Mismatch(3, 1, ""),
        lambda: mc.Mismatch(3, 1, "ACCA"),
        lambda: mc.Mismatch(3, 1, []),
        lambda: mc.Gappy(3, 4),
        lambda: mc.Gappy(0, 0),
        lambda: mc.Gappy(3, 0),
        lambda: mc.Gappy(201, 3),
        lambda: mc.WeightedDegree(0),
        lambda: mc.WeightedDegree(128),
        lambda: mc.WeightedDegree(3, -1),
        lambda: mc.Subsequence(0, 0.5),
        lambda: mc.Subsequence(2, 1.5),
        lambda: mc.Subsequence(2, 0.0),
        lambda: mc.Subsequence(2, -0.5),
        lambda: mc.Subsequence(2, np.nan),
        lambda: mc.Substring(0.0),
        lambda: mc.Substring(-1.0),
        lambda: mc.Substring(1.0, 0),
        lambda: mc.Substring(1.0, 2.5),
        lambda: mc.Substring(np.nan),
        lambda: mc.Substring(np.inf),
        lambda: mc.BagOfWords("idf"),
        lambda: mc.BagOfWords(None),
        lambda: mc.GlobalAlignment(0.0),
        lambda: mc.GlobalAlignment("mean"),
        lambda: mc.GlobalAlignment(-1.0),
        lambda: mc.GlobalAlignment(np.inf),
        lambda: mc.LocalAlignment(scores="PAM250"),
        lambda: mc.LocalAlignment(scores=("AC", [[1.0]])),
        lambda: mc.LocalAlignment(scores=("AC", [[1.0, 2.0], [0.0, 1.0]])),
        lambda: mc.LocalAlignment(scores=("AC", [[1.0, np.nan], [np.nan, 1.0]])),
        lambda: mc.LocalAlignment(scores=("AA", np.eye(2))),
        lambda: mc.LocalAlignment(scores=("", np.empty((0, 0)))),
        lambda: mc.LocalAlignment(scores=3),
        lambda: mc.LocalAlignment(beta=0.0),
        lambda: mc.LocalAlignment(beta=np.inf),
        lambda: mc.LocalAlignment(gap_open=-1.0),
        lambda: mc.LocalAlignment(match=np.nan),
        lambda: mc.LocalAlignment(beta=1000.0),
        lambda: mc.Spectrum(2).over(""),
        lambda: mc.Spectrum(2).over([]),
        lambda: mc.Spectrum(2).over("AA"),
        lambda: mc.Spectrum(2).over("AC", "drop"),
        lambda: mc.Spectrum(2).over(None),
        lambda: mc.Spectrum(2).over(4),
    ],
)
def test_parameters_are_checked(make: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        make()


def test_parameters_are_checked_again_when_they_were_set() -> None:
    kernel = mc.Spectrum(3).set_params(k=0)
    with pytest.raises(ValueError, match="k must be a whole number"):
        kernel(X)
    with pytest.raises(ValueError, match="at most g"):
        mc.Gappy(4, 2).set_params(k=5)(X)


# --- nothing, and little
# ------------------------------------------------------------------------------------------------------


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


# --- symbols outside an alphabet
# ----------------------------------------------------------------------------------------------


def pieces(x: str, alphabet: str = "ACGT") -> list[str]:
    return "".join(c if c in alphabet else " " for c in x).split(" ")


def with_holes(n: int = 12, length: int = 30, seed: int = 2) -> list[str]:
    return [*dna(n, length, seed, "ACGTACGTACGTNRé"), "NNNN", "ACGT", "", "N"]


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


# --- names of features
# --------------------------------------------------------------------------------------------------------


def counted(names: list[Any], phi: Any) -> list[dict[Any, float]]:
    return [
        dict(sorted((names[j], v) for j, v in zip(row.indices, row.data, strict=True)))
        for row in (phi[[i]] for i in range(phi.shape[0]))
    ]


@pytest.mark.parametrize(
    "form", ["tuple", "generator", "array of strings", "pandas", "polars", "records", "records of strings"]
)
def test_names_of_words(form: str) -> None:
    kernel, Z = mc.Spectrum(3, 2), ["ACGTACG", "AC", "A", "", "GGGG"]
    phi, names = kernel.features(FORMS[form](Z)), kernel.feature_names(FORMS[form](Z))
    assert sparse.issparse(phi)
    assert phi.format == "csr"
    assert len(names) == phi.shape[1] == len(set(names))
    assert counted(names, phi) == [
        dict(sorted(Counter(x[i : i + k] for k in (2, 3) for i in range(len(x) - k + 1)).items())) for x in Z
    ]


def test_names_of_words_of_tokens() -> None:
    for Z in ([[1, 2, 1, 2], [2, 1]], [np.array([1, 2, 1, 2]), np.array([2, 1])]):
        names = mc.Spectrum(2).feature_names(Z)
        assert sorted(names) == [(1, 2), (2, 1)]
    assert mc.Spectrum(2).feature_names([b"ACAC", b"CA"])
    assert mc.Spectrum(1).feature_names([["noun", "verb"], ["verb"]]) in (
        [("noun",), ("verb",)],
        [("verb",), ("noun",)],
    )


def test_names_of_weighted_words() -> None:
    kernel, Z = mc.Spectrum(2, 1, [4.0, 0.0]), ["ACA", "CC"]
    names, phi = kernel.feature_names(Z), kernel.features(Z).toarray()
    assert len(names) == phi.shape[1]
    assert phi[0, names.index("A")] == 4.0
    assert not phi[:, [len(n) == 2 for n in names]].any()


@pytest.mark.parametrize(("g", "k"), [(3, 2), (4, 2), (5, 5), (3, 1)])
def test_names_of_gapped_words(g: int, k: int) -> None:
    kernel, Z = mc.Gappy(g, k), ["ACGTAAAA", "AAAAAAA", "TGCATGCA", "AC", ""]
    names, phi = kernel.feature_names(Z), kernel.features(Z)

    def patterns(x: str) -> Counter[str]:
        places = list(itertools.combinations(range(g), k))
        return Counter(
            "".join(x[i + p] if p in place else "." for p in range(g))
            for i in range(len(x) - g + 1)
            for place in places
        )

    assert len(set(names)) == len(names) == phi.shape[1]
    assert counted(names, phi) == [dict(sorted(patterns(x).items())) for x in Z]


def test_names_of_gapped_tokens() -> None:
    Z = [["the", "old", "cat"], ["the", "big", "cat"]]
    names, phi = mc.Gappy(3, 2).feature_names(Z), mc.Gappy(3, 2).features(Z).toarray()
    both = [name for name, column in zip(names, phi.T, strict=True) if column.all()]
    assert both == [("the", ".", "cat")]


@pytest.mark.parametrize("weights", ["counts", "binary", "tfidf"])
def test_names_of_words_of_texts(weights: str) -> None:
    kernel = mc.BagOfWords(weights)
    names, phi = kernel.feature_names(TEXTS), kernel.features(TEXTS)
    assert sorted(names) == sorted({w for t in TEXTS for w in truth.tokens(t)})
    found = counted(names, phi)
    for text, row in zip(TEXTS, found, strict=True):
        assert set(row) == set(truth.tokens(text))
    if weights == "counts":
        assert found == [dict(sorted(Counter(truth.tokens(t)).items())) for t in TEXTS]
    bound = kernel.bind(TEXTS)
    assert set(bound.feature_names(["a new zebra"])) == {"a", "new", "zebra"}


@pytest.mark.parametrize(
    "kernel", [mc.Spectrum(3), mc.Spectrum(3, 1), mc.Gappy(4, 2), mc.BagOfWords("counts")], ids=str
)
def test_weights_of_words_are_the_decision_function(kernel: Any) -> None:
    Z, y = labelled()
    new = [*labelled(12, seed=9)[0], "GATTA", "NNGATTANN", ""]
    if isinstance(kernel, mc.BagOfWords):
        Z, new = [" ".join(re.findall("..", z)) for z in Z], ["ga tt a", "zz", ""]
    model = mc.SVC(kernel=kernel, C=1.0).fit(Z, y)
    vectors, coef = model.support_vectors_, model.dual_coef_[0]
    w = kernel.features(vectors).T @ coef
    weight = dict(zip(kernel.feature_names(vectors), w, strict=True))
    phi, names = kernel.features(new), kernel.feature_names(new)
    found = phi @ np.array([weight.get(name, 0.0) for name in names]) + model.intercept_[0]
    np.testing.assert_allclose(found, model.decision_function(new), rtol=1e-9, atol=1e-9)


def test_features_without_words() -> None:
    for kernel in (mc.Spectrum(5), mc.Gappy(5, 2)):
        assert kernel.features(["AC", ""]).shape == (2, 0)
        assert kernel.feature_names(["AC", ""]) == []
        assert kernel.features([]).shape == (0, 0)
        assert kernel.feature_names([]) == []
    assert mc.BagOfWords("counts").features(["", "?!"]).shape == (2, 0)


COMPOSED = [
    mc.Spectrum(2).over("AC"), mc.Gappy(3, 2).over("AC"), mc.Spectrum(2).over("AC", "letter"),
    mc.Gappy(3, 2).over("AC", "letter"), mc.Spectrum(2).normalized(), mc.Spectrum(2).both_strands(),
    mc.Gappy(3, 2).both_strands(), mc.Spectrum(2) + mc.Spectrum(3), 2 * mc.Spectrum(2),
    mc.Spectrum(2) * mc.Spectrum(1), mc.Spectrum(2).over("AC").both_strands().normalized(),
]  # fmt: skip


@pytest.mark.parametrize("kernel", COMPOSED, ids=str)
def test_names_belong_to_the_features_or_there_are_none(kernel: mc.Kernel) -> None:
    Z = ["ACNAC", "CCAGA"]
    try:
        names = kernel.feature_names(Z)
    except TypeError as error:
        assert "no names" in str(error)  # noqa: PT017
        return
    assert len(names) == kernel.features(Z).shape[1]
    assert len(set(map(str, names))) == len(names)
    if ".over('AC', 'skip')" in repr(kernel):
        assert not any("N" in name or "G" in name for name in names)


def test_names_of_words_of_both_strands() -> None:
    kernel, Z = mc.Spectrum(2).both_strands(), ["AACC", "ACGT"]
    try:
        names = kernel.feature_names(Z)
    except TypeError as error:
        assert "no names" in str(error)  # noqa: PT017
        return
    found = counted(names, kernel.features(Z))
    for x, row in zip(Z, found, strict=True):
        expected = Counter(s[i : i + 2] for s in (x, reverse_complement(x)) for i in range(3))
        assert row == pytest.approx({w: n * 0.5**0.5 for w, n in expected.items()})


@pytest.mark.parametrize(
    "kernel",
    [
        mc.Spectrum(2).normalized(),
        mc.Spectrum(2).both_strands(),
        mc.Spectrum(2).over("ACG"),
        mc.Spectrum(2) + mc.Gappy(3, 2),
        mc.Spectrum(2) * mc.Gappy(3, 2),
        2 * mc.Spectrum(2),
        mc.Spectrum(2) ** 2,
        mc.Mismatch(2, 1, "ACGT").both_strands(),
        mc.WeightedDegree(3),
        (mc.Spectrum(2) + mc.Mismatch(2, 1, "ACGT")).normalized(),
    ],
    ids=str,
)
def test_features_of_composites(kernel: mc.Kernel) -> None:
    phi = kernel.features(X)
    inner = phi @ phi.T
    np.testing.assert_allclose(inner.toarray() if sparse.issparse(inner) else inner, kernel(X), rtol=1e-12, atol=1e-12)


def test_features_over_an_alphabet_from_data() -> None:
    phi = mc.Mismatch(2, 1).features(X)
    np.testing.assert_allclose(phi @ phi.T, mc.Mismatch(2, 1)(X))


# --- learning
# -----------------------------------------------------------------------------------------------------------------

LEARNERS = [
    mc.Spectrum(3), mc.Spectrum(3).normalized(), mc.Gappy(5, 3), mc.Gappy(9, 4).normalized(), mc.Mismatch(3, 1),
    mc.Subsequence(2, 0.5).normalized(), mc.Substring(0.5).normalized(), mc.LocalAlignment(**OPTIONS),
    mc.WeightedDegree(3, 1), mc.Spectrum(3).both_strands().normalized(),
]  # fmt: skip


@pytest.mark.parametrize("kernel", LEARNERS, ids=str)
def test_machines_on_strings_are_those_of_the_matrix(kernel: mc.Kernel) -> None:
    Z, y = labelled()
    new = [*labelled(10, seed=9)[0], Z[0]]
    K, cross = kernel.bind(Z)(Z), kernel.bind(Z)(new, Z)
    target = np.array([z.count("A") for z in Z], float)
    model, twin = mc.SVC(kernel=kernel, C=1.0).fit(Z, y), mc.SVC(kernel="precomputed", C=1.0).fit(K, y)
    np.testing.assert_allclose(model.decision_function(new), twin.decision_function(cross), rtol=1e-6, atol=1e-4)
    assert (model.predict(Z) == twin.predict(K)).all()
    assert [str(v) for v in model.support_vectors_] == [Z[i] for i in model.support_]
    ridge, twin = mc.KernelRidge(kernel=kernel).fit(Z, target), mc.KernelRidge(kernel="precomputed").fit(K, target)
    np.testing.assert_allclose(ridge.predict(new), twin.predict(cross), rtol=1e-6, atol=1e-6)
    one, twin = mc.OneClassSVM(kernel=kernel, nu=0.3).fit(Z), mc.OneClassSVM(kernel="precomputed", nu=0.3).fit(K)
    np.testing.assert_allclose(
        one.decision_function(new), twin.decision_function(cross), rtol=1e-5, atol=1e-3 * np.abs(cross).max()
    )
    logistic, twin = mc.KernelLogistic(kernel=kernel).fit(Z, y), mc.KernelLogistic(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(logistic.predict_proba(new), twin.predict_proba(cross), atol=1e-4)


MACHINES = [
    (lambda k: mc.SVC(kernel=k, C=1.0), "decision_function"), (lambda k: mc.KernelRidge(kernel=k), "predict"),
    (lambda k: mc.KernelLogistic(kernel=k), "predict_proba"),
    (lambda k: mc.OneClassSVM(kernel=k, nu=0.3), "decision_function"),
]  # fmt: skip
machines = pytest.mark.parametrize(
    ("make", "method"), MACHINES, ids=["SVC", "KernelRidge", "KernelLogistic", "OneClassSVM"]
)


@machines
@pytest.mark.parametrize("form", FORMS)
def test_machines_take_every_form(make: Any, method: str, form: str) -> None:
    Z, y = labelled(20, 16)
    new = labelled(6, 16, seed=3)[0]
    expected = getattr(make(mc.Spectrum(3)).fit(Z, y), method)(new)
    model = make(mc.Spectrum(3)).fit(FORMS[form](Z), y)
    np.testing.assert_array_equal(getattr(model, method)(new), expected)
    np.testing.assert_array_equal(getattr(model, method)(FORMS[form](new)), expected)


@machines
@pytest.mark.parametrize(
    "kernel",
    [mc.Spectrum(3), mc.Mismatch(3, 1), mc.Gappy(9, 4).normalized(), mc.GlobalAlignment(), mc.Spectrum(2).over("ACGT")],
    ids=str,
)
def test_models_are_saved_and_pickled(make: Any, method: str, kernel: mc.Kernel, tmp_path: Path) -> None:
    Z, y = labelled(36, 16)
    model = make(kernel).fit(Z, y)
    new = labelled(6, 16, seed=3)[0]
    expected = getattr(model, method)(new)
    mc.save(model, tmp_path / "model")
    again = mc.load(tmp_path / "model")
    np.testing.assert_array_equal(getattr(again, method)(new), expected)
    assert again.kernel_ == model.kernel_
    np.testing.assert_array_equal(getattr(pickle.loads(pickle.dumps(model)), method)(new), expected)


STORED: dict[str, Callable[[list[str]], Any]] = {
    "strange letters": lambda x: [s.translate({65: "\ud800", 67: "\0", 71: "\U0001f600"}) for s in x],
    **{
        name: FORMS[name]
        for name in (
            "bytes",
            "bytearrays",
            "lists",
            "tuples",
            "generator",
            "array of strings",
            "array of bytes",
            "array of objects",
        )
    },
    **{
        name: FORMS[name]
        for name in ("table of letters", "pandas", "pandas, shuffled index", "pandas strings", "polars", "polars lists")
    },
    **NUMBERS,
    "lists of tokens": lambda x: [[("letter", c) for c in s] for s in x],
}


@pytest.mark.parametrize("form", STORED)
@pytest.mark.parametrize("count", [8, 60])
def test_models_of_every_form_are_saved(form: str, count: int, tmp_path: Path) -> None:
    Z, y = labelled(count, 16)
    new = STORED[form](labelled(6, 16, seed=3)[0])
    new = list(new) if form == "generator" else new
    for kernel in (mc.Spectrum(2), mc.Mismatch(2, 1)):
        model = mc.SVC(kernel=kernel, C=0.1).fit(STORED[form](Z), y)
        mc.save(model, tmp_path / "model")
        np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(new), model.decision_function(new))
        np.testing.assert_array_equal(
            pickle.loads(pickle.dumps(model)).decision_function(new), model.decision_function(new)
        )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_machines_on_data_frames(make: Any, tmp_path: Path) -> None:
    Z, y = labelled(40)
    age = np.random.default_rng(0).standard_normal(40)
    frame = make({"age": age, "dna": Z})
    kernel = mc.Gaussian(1.0).on(["age"]) + mc.Spectrum(3).normalized().on("dna")
    model = mc.SVC(kernel=kernel, C=1.0).fit(frame, y)
    K = mc.Gaussian(1.0)(age[:, None]) + mc.Spectrum(3).normalized()(Z)
    np.testing.assert_allclose(
        model.decision_function(frame), mc.SVC(kernel="precomputed", C=1.0).fit(K, y).decision_function(K), atol=1e-4
    )
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(frame), model.decision_function(frame))


@zero_norms_are_expected
@pytest.mark.parametrize(
    "kernel", [*LEARNERS[:-2], mc.GlobalAlignment(1.0), mc.BagOfWords(), mc.Spectrum(2).over("ACGT", "letter")], ids=str
)
def test_words_and_letters_never_seen(kernel: mc.Kernel) -> None:
    Z, y = labelled(20, 16)
    model = mc.SVC(kernel=kernel, C=1.0).fit(Z, y)
    new = ["zzzzzzzzzzzzzzzz", "中文中文中文中文中文中文中文中文", "\ud800" * 16, "ACGTACGTACGTACGÿ", Z[0]]
    with np.errstate(all="raise", under="ignore"):
        values = model.decision_function(new)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values[-1], model.decision_function(Z[:1])[0], rtol=1e-10, atol=1e-12)
    if isinstance(kernel, mc.Spectrum | mc.Gappy | mc.Mismatch | mc.BagOfWords):
        np.testing.assert_allclose(values[:3], model.intercept_[0])


def test_an_empty_string_at_prediction_is_the_bias() -> None:
    Z, y = labelled(20, 16)
    for kernel in (mc.Spectrum(3), mc.Gappy(9, 4), mc.Substring(0.5), mc.Subsequence(2), mc.Mismatch(3, 1)):
        model = mc.SVC(kernel=kernel, C=1.0).fit(Z, y)
        np.testing.assert_allclose(model.decision_function(["", ""]), model.intercept_[0])


def test_predicting_nothing_is_nothing_or_says_so() -> None:
    Z, y = labelled(20, 16)
    for kernel in (mc.Spectrum(3), mc.Gappy(9, 4)):
        try:
            assert mc.SVC(kernel=kernel, C=1.0).fit(Z, y).decision_function([]).shape == (0,)
        except ValueError as error:
            assert "0 sample" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "kernel", [*EVERY, mc.BagOfWords(), mc.Spectrum(2).over("AC", "letter").both_strands().normalized()], ids=str
)
def test_clones_and_texts_of_kernels(kernel: mc.Kernel, tmp_path: Path) -> None:
    assert clone(kernel) == kernel
    assert mc.parse(repr(kernel)) == kernel
    assert mc.parse(str(kernel)) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    mc.save(kernel, tmp_path / "kernel")
    assert mc.load(tmp_path / "kernel") == kernel
    assert hash(clone(kernel)) == hash(kernel)
    assert clone(mc.SVC(kernel=kernel)).kernel == kernel


@pytest.mark.parametrize(
    "kernel",
    [
        mc.Mismatch(2, 1, "A·C"),
        mc.Mismatch(2, 1, "AC^"),
        mc.Mismatch(2, 1, "x²³"),
        mc.Mismatch(2, 1, "AC*-"),
        mc.Mismatch(2, 1, "'\"\\\n\0é😀"),
        mc.Mismatch(2, 1, "\ud800A"),
        mc.Mismatch(2, 1, [0, 1, -5]),
        mc.Mismatch(2, 1, ["noun", "verb"]),
        mc.Mismatch(2, 1, ("A", "C")),
        mc.Mismatch(2, 1, np.array(["A", "C"])),
        mc.Mismatch(2, 1, np.array([3, 4])),
        (mc.Spectrum(2).over("(.") + mc.Spectrum(3)).normalized(),
        (mc.Spectrum(2).over(").") + mc.Spectrum(3)).normalized(),
        (mc.Spectrum(2).over(" +") * mc.Spectrum(3)).normalized(),
        2 * (mc.Spectrum(2).over("[") + mc.Spectrum(1)),
        mc.LocalAlignment(scores="BLOSUM62"),
        mc.LocalAlignment(scores="blosum62"),
        mc.LocalAlignment(scores=("AC", [[1.0, -1.0], [-1.0, 2.0]])),
        mc.LocalAlignment(scores=("AC", np.eye(2))),
        mc.LocalAlignment(scores=(["noun", "verb"], np.eye(2))),
        mc.Spectrum(3, 1, np.array([0.1, 0.2, 0.3])),
        mc.Spectrum(3, 1, (1, 2, 3)),
        mc.Spectrum(np.int64(3)),
        mc.Subsequence(3, 1.0),
        mc.Substring(1.0, np.int32(4)),
        mc.GlobalAlignment("median"),
        mc.Spectrum(2).on("dna") + mc.Gaussian(1.0).on(["age"]),
    ],
    ids=str,
)
def test_kernels_of_strange_parameters_are_read_back(kernel: mc.Kernel, tmp_path: Path) -> None:
    assert mc.parse(repr(kernel)) == kernel
    assert mc.parse(str(kernel)) == kernel
    assert clone(kernel) == kernel
    mc.save(kernel, tmp_path / "kernel")
    assert mc.load(tmp_path / "kernel") == kernel
    assert isinstance(hash(kernel), int)


def test_tables_of_scores() -> None:
    Z = ["WARD", "WARS", "XJ*", "", "ward"]
    named = mc.LocalAlignment(scores="BLOSUM62")
    assert named.psd is True
    K = named(Z)
    assert K[0, 1] > K[0, 4]
    table = mc.LocalAlignment(scores=("AC", [[2.0, -1.0], [-1.0, 2.0]]))
    np.testing.assert_allclose(table(["ACCA", "CA"]), mc.LocalAlignment(2.0, -1.0)(["ACCA", "CA"]), rtol=1e-14)

    def score(a: str, b: str) -> float:
        return {("A", "A"): 2.0, ("C", "C"): 3.0, ("A", "C"): -1.0, ("C", "A"): -1.0}.get((a, b), -1.0)

    others = mc.LocalAlignment(scores=("CA", [[3.0, -1.0], [-1.0, 2.0]]))
    Z = ["ACNA", "XYC", "NC", "CA", ""]
    expected = matrix(lambda x, z: truth.local_alignment(x, z, score, 0.5, 3.0, 1.0), Z)
    np.testing.assert_allclose(others(Z), expected, rtol=1e-12)


def test_scikit_learn_takes_lists_of_strings() -> None:
    Z, y = labelled()
    cv = KFold(4, shuffle=True, random_state=0)
    model = mc.SVC(kernel=mc.Spectrum(3).normalized(), C=1.0)
    scores = cross_val_score(model, Z, y, cv=cv)
    K = mc.Spectrum(3).normalized()(Z)
    np.testing.assert_array_equal(scores, cross_val_score(mc.SVC(kernel="precomputed", C=1.0), K, y, cv=cv))
    for form in (np.array, pd.Series, FORMS["pandas, shuffled index"]):
        np.testing.assert_array_equal(cross_val_score(model, form(Z), y, cv=cv), scores)
    grid = GridSearchCV(mc.SVC(kernel=mc.Spectrum(3)), {"kernel__k": [2, 3, 5], "C": [0.1, 1.0]}, cv=cv).fit(Z, y)
    ours = mc.KernelSearchCV(mc.SVC(kernel=mc.Spectrum(3)), {"kernel__k": [2, 3, 5], "C": [0.1, 1.0]}, cv=cv).fit(Z, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"])
    assert ours.best_params_ == grid.best_params_
    np.testing.assert_array_equal(ours.predict(Z), grid.predict(Z))
    piped = Pipeline([("svc", mc.SVC(kernel=mc.Gappy(5, 3).normalized(), C=10.0))]).fit(Z, y)
    assert piped.score(Z, y) > 0.9


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", [mc.Spectrum(3), mc.Mismatch(2, 1)], ids=str)
def test_searches_take_every_form(form: str, kernel: mc.Kernel) -> None:
    Z, y = labelled(24, 16)
    cv = KFold(3, shuffle=True, random_state=0)
    search = mc.KernelSearchCV(mc.SVC(kernel=kernel), {"kernel__k": [2, 3]}, cv=cv)
    expected = clone(search).fit(Z, y)
    found = clone(search).fit(FORMS[form](Z), y)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(found.best_estimator_.support_, expected.best_estimator_.support_)
    np.testing.assert_array_equal(found.predict(Z), expected.predict(Z))


def test_sample_weights_follow_the_strings() -> None:
    Z, y = labelled(20, 16)
    w = np.arange(20) % 3
    new = labelled(5, 16, seed=2)[0]
    repeated = [z for z, n in zip(Z, w, strict=True) for _ in range(n)]
    for kernel in (mc.Spectrum(3), mc.Mismatch(3, 1), mc.BagOfWords()):
        some = mc.SVC(kernel=kernel, C=0.1, tol=1e-8).fit(Z, y, sample_weight=w)
        twin = mc.SVC(kernel=kernel, C=0.1, tol=1e-8).fit(repeated, np.repeat(y, w))
        np.testing.assert_allclose(some.decision_function(new), twin.decision_function(new), atol=1e-5)
        assert [Z[i] for i in some.support_] == list(some.support_vectors_)


def test_functions_of_strings() -> None:
    Z, y = labelled(20, 16)
    model = mc.SVC(kernel=mc.Spectrum(3), C=1.0).fit(Z, y)
    f, new = model.function_, [*labelled(5, 16, seed=2)[0], "zzzz", ""]
    expected = model.decision_function(new)
    np.testing.assert_allclose(f(new), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(f.simplified()(new), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(f.simplified()(s for s in new), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose((f + f)(new), 2 * expected, rtol=1e-10, atol=1e-12)


@every
def test_threads_change_no_bit(kernel: mc.Kernel) -> None:
    Z = dna(210, 20, seed=6)
    one, two = mc.Compute(threads=1), mc.Compute(threads=2)
    np.testing.assert_array_equal(kernel.gram(Z, compute=one).dense(), kernel.gram(Z, compute=two).dense())
    np.testing.assert_array_equal(
        kernel.gram(Z[:50], Z, compute=one).dense(), kernel.gram(Z[:50], Z, compute=two).dense()
    )
    v = np.random.default_rng(0).standard_normal(210)
    np.testing.assert_array_equal(kernel.gram(Z, compute=one) @ v, kernel.gram(Z, compute=two) @ v)


@pytest.mark.parametrize(
    "kernel",
    [mc.Spectrum(3), mc.Gappy(9, 4).normalized(), mc.Subsequence(2, 0.5), mc.LocalAlignment(**OPTIONS)],
    ids=str,
)
def test_threads_change_no_model(kernel: mc.Kernel) -> None:
    Z, y = labelled(150, 20)
    values = [
        mc.SVC(kernel=kernel, C=1.0, compute=mc.Compute(threads=n)).fit(Z, y).decision_function(Z) for n in (1, 2)
    ]
    np.testing.assert_array_equal(*values)


# --- norms and strands
# --------------------------------------------------------------------------------------------------------


@of_any_length
def test_normalised_diagonals_are_exactly_one(kernel: mc.Kernel) -> None:
    rng = np.random.default_rng(11)
    Z = ["".join(rng.choice(list("ACGT"), n)) for n in rng.integers(12, 40, 20)]
    for composed in (kernel, kernel.both_strands(), kernel.over("ACGT"), kernel + mc.Spectrum(1), 3 * kernel):
        normalized = composed.normalized()
        assert (normalized.diag(Z) == 1).all()
        K = normalized(Z)
        np.testing.assert_allclose(K, K.T, rtol=1e-14)
        assert K.max() <= 1 + 1e-12
        assert (np.diagonal(K) == 1).all(), composed
        assert (np.diagonal(normalized.gram(Z).rows(slice(None))) == 1).all(), composed


@pytest.mark.parametrize(
    "kernel", [mc.LocalAlignment(**OPTIONS), mc.GlobalAlignment(0.8), mc.GlobalAlignment(3.0)], ids=str
)
def test_alignments_are_normalised_exactly(kernel: mc.Kernel) -> None:
    Z = dna(40, 30, seed=3)
    assert (kernel.diag(Z) == 1).all()
    assert (np.diagonal(kernel(Z)) == 1).all()


@pytest.mark.parametrize(
    "kernel", [mc.Mismatch(7, 1, "ACGT"), mc.Gappy(12, 6), mc.Substring(), mc.LocalAlignment()], ids=str
)
def test_norms_do_not_cost_more_than_the_matrix(kernel: mc.Kernel) -> None:
    Z = dna(64, 60)

    def seconds(work: Callable[[], Any]) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    matrix_of, norms_of = (min(seconds(work) for _ in range(3)) for work in (lambda: kernel(Z), lambda: kernel.diag(Z)))
    assert norms_of < 3 * matrix_of + 0.1


def test_many_short_strings_have_an_exact_diagonal() -> None:
    Z = dna(300, 6, seed=12)  # fewer features than strings: products of features
    for kernel in (
        mc.Spectrum(2).normalized(),
        mc.Mismatch(2, 1).normalized(),
        mc.Gappy(3, 2).both_strands().normalized(),
    ):
        assert (np.diagonal(kernel(Z)) == 1).all()
        assert (kernel.gram(Z).diag() == 1).all()


def reverse_complement(x: str) -> str:
    return x[::-1].translate(str.maketrans("ACGTacgt", "TGCAtgca"))


@every
def test_either_strand_has_the_same_values(kernel: mc.Kernel) -> None:
    both = kernel.both_strands()
    Z = dna(12, seed=13)
    K = both(Z)
    for i in range(len(Z)):
        turned = [*Z[:i], reverse_complement(Z[i]), *Z[i + 1 :]]
        np.testing.assert_allclose(both(turned), K, rtol=1e-12)
    turned = [reverse_complement(z) for z in Z]
    np.testing.assert_allclose(both(turned, Z), K, rtol=1e-12)
    np.testing.assert_allclose(both.diag(turned), np.diagonal(K), rtol=1e-12)


def test_either_strand_of_strings_without_all_letters() -> None:
    Z = ["AAAAAC", "AACAAA", "CAAAAA"]
    for kernel in (mc.Mismatch(2, 1), mc.Mismatch(3, 1), mc.GlobalAlignment(), mc.Spectrum(2)):
        both = kernel.both_strands()
        np.testing.assert_allclose(both([reverse_complement(Z[0]), *Z[1:]]), both(Z), rtol=1e-12)
        np.testing.assert_allclose(both(list(map(reverse_complement, Z))), both(Z), rtol=1e-12)


def test_either_strand_of_lower_case_and_of_other_letters() -> None:
    Z = ["acgtNNacca", "ACGTnnRYKM-", "", "N", "aCgT中"]
    for kernel in (mc.Spectrum(2), mc.Gappy(9, 4), mc.Substring(0.5), mc.Subsequence(2, 0.5)):
        both = kernel.both_strands()
        np.testing.assert_allclose(both(list(map(reverse_complement, Z))), both(Z), rtol=1e-12)
        np.testing.assert_allclose(both([s.encode() for s in Z[:4]]), both(Z[:4]), rtol=1e-14)


def test_either_strand_of_rna() -> None:
    Z = ["AUUCGGAU", "GGGUUA", "UUUU"]
    turned = [s[::-1].translate(str.maketrans("ACGU", "UGCA")) for s in Z]
    for kernel in (mc.Spectrum(2), mc.Substring(0.5)):
        both = kernel.both_strands()
        np.testing.assert_allclose(both(turned), both(Z), rtol=1e-12)
        np.testing.assert_allclose(both(turned, Z), both(Z), rtol=1e-12)


def test_strands_and_alphabets_in_either_order() -> None:
    Z = [z.replace("R", "N").replace("é", "N") for z in with_holes()]
    for kernel in (mc.Spectrum(3), mc.Gappy(9, 4), mc.Substring(0.5)):
        np.testing.assert_allclose(
            kernel.over("ACGT").both_strands()(Z), kernel.both_strands().over("ACGT")(Z), rtol=1e-12
        )


# --- interrupts
# ---------------------------------------------------------------------------------------------------------------

_SCRIPT = """
import numpy as np
import mercer as mc
rng = np.random.default_rng(0)
def dna(n, length): return [np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, length)].tobytes() for _ in range(n)]
def walks(n, length): return [rng.standard_normal(length).cumsum() for _ in range(n)]
def tokens(n, length): return [rng.integers(0, 300, length) for _ in range(n)]
kernel, few, many = {case}
kernel(few)
print("ready", flush=True)
try:
    kernel(many)
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
_LONG = {
    "gapped words": "mc.Gappy(12, 6), dna(2, 30), dna(130, 20_000)",
    "gapped words of tokens": "mc.Gappy(12, 6), tokens(2, 30), tokens(100, 5_000)",
    "series": "mc.GlobalAlignment(3.0), walks(2, 30), walks(40, 10_000)",
    "subsequences": "mc.Subsequence(8, 0.5), dna(20, 30), dna(100, 20_000)",
}


@pytest.mark.parametrize("name", _LONG)
def test_a_long_computation_stops_when_interrupted(name: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT.format(case=_LONG[name])], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.8)
        process.send_signal(signal.SIGINT)
        # at once, but for what may have to be compiled first; without an interrupt it takes minutes
        out, _ = process.communicate(timeout=8)
        assert out == "interrupted\n"
    finally:
        process.kill()
        process.communicate()


# ---------------------------------------------------------------------------------------------------------------------
# Features of large kernels
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letters", ["ACGT", "AC"], ids=["by hash", "by cell"])
@pytest.mark.parametrize(("g", "k"), [(10, 6), (11, 7)])
def test_gapped_words_of_usual_sizes_have_names(g: int, k: int, letters: str) -> None:
    """Each column counts the windows that fit its name; windows are compared for the values, and features listed when
    they are asked for.
    """
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list(letters), 40)) for _ in range(5)]
    kernel = mc.Gappy(g, k)
    names, phi = kernel.feature_names(X), kernel.features(X)
    assert len(set(names)) == len(names) == phi.shape[1]
    assert all(len(name) == g and name.count(".") == g - k for name in names[:100])
    for j in rng.choice(len(names), 12):
        fits = re.compile(f"(?={names[j]})")
        np.testing.assert_array_equal(phi[:, [j]].toarray().ravel(), [len(fits.findall(x)) for x in X])
    np.testing.assert_allclose((phi @ phi.T).toarray(), kernel(X), rtol=1e-12)


def test_weights_of_gapped_words() -> None:
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(8)]
    y = [0, 1] * 4
    X = [x[:9] + "TTGACATAATG" + x[20:] if label else x for x, label in zip(X, y, strict=True)]
    machine = mc.SVC(kernel=mc.Gappy(11, 7).normalized()).fit(X, y)
    names, weights = machine.function_.feature_weights()
    best = max(zip(weights, names, strict=True))[1]
    assert re.fullmatch(best, "TTGACATAATG")
    phi = mc.Gappy(11, 7).normalized().features(list(machine.function_.centers))
    np.testing.assert_allclose(
        phi @ weights + machine.function_.bias, machine.function_(list(machine.function_.centers)), rtol=1e-10
    )


@pytest.mark.parametrize("kernel", [mc.Gappy(200, 100), mc.Gappy(40, 20).normalized()], ids=str)
def test_too_many_features_are_said_to_be(kernel: mc.Kernel) -> None:
    for ask in (kernel.features, kernel.feature_names):
        with pytest.raises(MemoryError, match=r"features for each window.*Name those of fewer sequences"):
            ask(["ACGT" * 100])


NAMELESS = [
    mc.Mismatch(9, 2, "ACGT"),
    mc.Mismatch(3, 1, "ACGT"),
    mc.Substring(),
    mc.Subsequence(3),
    mc.WeightedDegree(20, 2),
    mc.LocalAlignment(),
]


@pytest.mark.parametrize("kernel", NAMELESS, ids=str)
def test_other_features_have_no_names_in_words(kernel: mc.Kernel) -> None:
    with pytest.raises(TypeError, match="have no names"):
        kernel.feature_names(["ACGTACGTAC", "ACGTTCGTAC"])
