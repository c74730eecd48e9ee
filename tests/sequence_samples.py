"""Sequences to test with, and kernels on them; shared by the tests of sequences."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mercer as mc

LENGTH = 14
OPTIONS = {"match": 2.0, "mismatch": -1.0, "gap_open": 3.0, "gap_extend": 1.0, "beta": 0.5}

# one of each way of computing; all letters of the data occur in all of them, so that None as an alphabet means the same
# everywhere
WORDS = [mc.Spectrum(2), mc.Spectrum(3, 1, [0.5, 1.0, 2.0]), mc.Gappy(4, 2), mc.Gappy(9, 4)]
ESTIMATED = [mc.EstimatedGappy(5, 3, 2), mc.EstimatedGappy(4, 3, 2, "full", 9, 3.0)]
MISMATCHES = [mc.Mismatch(3, 1), mc.Mismatch(4, 1, "ACGTKMNRY"), mc.Mismatch(9, 2, "ACGT")]
PLACES = [mc.WeightedDegree(3), mc.WeightedDegree(3, 2)]
FREE = [
    mc.Subsequence(2, 0.6),
    mc.Substring(0.7),
    mc.Substring(1.0, 3),
    mc.LocalAlignment(**OPTIONS),
    mc.GlobalAlignment(0.8),
]
EVERY = [*WORDS, *ESTIMATED, *MISMATCHES, *PLACES, *FREE]
OF_ANY_LENGTH = [*WORDS, *ESTIMATED, *MISMATCHES, *FREE]

every = pytest.mark.parametrize("kernel", EVERY, ids=str)
of_any_length = pytest.mark.parametrize("kernel", OF_ANY_LENGTH, ids=str)

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

TEXTS = ["The cat sat on the mat.", "A cat!", "", "the dog, the Dog; the DOG", "zebra crossing"]


def with_holes(n: int = 12, length: int = 30, seed: int = 2) -> list[str]:
    return [*dna(n, length, seed, "ACGTACGTACGTNRé"), "NNNN", "ACGT", "", "N"]


def reverse_complement(x: str) -> str:
    return x[::-1].translate(str.maketrans("ACGTRYKMBDHVacgtrykmbdhv", "TGCAYRMKVHDBtgcayrmkvhdb"))
