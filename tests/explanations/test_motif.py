"""Motifs: planted words are found where they were planted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mercer as mc


def planted(rng: Any, n: int, length: int, word: str, mutated: float = 0.0) -> tuple[list[str], Any, Any]:
    """Random sequences, every other one with the word at a random place, some of its letters changed; (sequences,
    labels, where the word begins).
    """
    y, out, places = np.arange(n) % 2, [], np.full(n, -1)
    for i, has in enumerate(y):
        x = list(rng.choice(list("ACGT"), length))
        if has:
            places[i] = rng.integers(0, length - len(word) + 1)
            for p, letter in enumerate(word):
                x[places[i] + p] = letter if rng.random() >= mutated else str(rng.choice(list("ACGT")))
        out.append("".join(x))
    return out, y, places


def _found(kernel: mc.Kernel, seed: int, mutated: float) -> tuple[mc.Motif, Any, str]:
    rng = np.random.default_rng(seed)
    word = "".join(rng.choice(list("ACGT"), 8))
    X, y, places = planted(rng, 200, 60, word, mutated)
    model = mc.SVC(kernel=kernel).fit(X, y)
    with_word = np.flatnonzero(y)
    return mc.motif(model, [X[i] for i in with_word], len(word)), places[with_word], word


KERNELS: list[Callable[[], mc.Kernel]] = [
    lambda: mc.Spectrum(5).normalized(),
    lambda: mc.Gappy(6, 4).normalized(),
    lambda: mc.Mismatch(5, 1, "ACGT").normalized(),
]


def test_a_planted_word_is_found() -> None:
    found, places, word = _found(KERNELS[0](), 0, 0.05)
    assert np.mean(np.abs(found.starts - places) <= 1) > 0.9
    assert found.consensus == word
    assert found.letters == list("ACGT")
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1.0)
    assert found.information.min() > 0.8
    assert found.information.max() <= 2.2


@pytest.mark.slow
@pytest.mark.parametrize("make", KERNELS, ids=["spectrum", "gappy", "mismatch"])
def test_planted_words_are_found_within_one_position(make: Callable[[], mc.Kernel]) -> None:
    """In 40 runs with a tenth of the letters changed: most windows begin within one position of the word."""
    hits = 0
    for seed in range(40):
        found, places, _ = _found(make(), seed, 0.1)
        hits += abs(float(np.median(found.starts - places))) <= 1 and np.mean(np.abs(found.starts - places) <= 1) > 0.5
    assert hits >= 38


def test_windows_of_the_other_strand_are_turned_round() -> None:
    rng, word = np.random.default_rng(0), "GATTACAG"
    X, y, places = planted(rng, 160, 40, word, 0.05)
    other = rng.random(len(X)) < 0.4
    pairs = str.maketrans("ACGT", "TGCA")
    X = [x[::-1].translate(pairs) if turn else x for x, turn in zip(X, other, strict=True)]
    places = np.where(other, 40 - len(word) - places, places)
    model = mc.SVC(kernel=mc.Spectrum(5).both_strands().normalized()).fit(X, y)
    of_class = np.flatnonzero(y)
    found = mc.motif(model, [X[i] for i in of_class], len(word))
    assert found.consensus == word
    assert found.information.min() > 0.8
    assert found.turned is not None
    assert np.mean(found.turned == other[of_class]) > 0.9
    assert np.mean(found.starts == places[of_class]) > 0.9
    assert mc.motif(mc.RKHSFunction(mc.Spectrum(2), ["ACGT"], np.ones(1)), ["ACGT"], 2).turned is None


def test_ambiguous_letters_are_of_dna() -> None:
    background = np.array([0.4, 0.3, 0.1, 0.1, 0.1])
    found = mc.Motif(np.array([[0.5, 0.1, 0.2, 0.0, 0.2]]), ["A", "C", "N", "R", "U"], np.array([0]), background)
    lines = found.meme().splitlines()
    assert lines[2] == "ALPHABET= ACGT"
    assert lines[5] == "A 0.475000 C 0.325000 G 0.075000 T 0.125000"
    assert lines[-1] == "0.550000 0.150000 0.050000 0.250000"


def test_tokens_and_several_outputs() -> None:
    rng = np.random.default_rng(1)
    X = [[str(t) for t in rng.choice(["up", "down", "left"], 20)] for _ in range(60)]
    y = np.arange(60) % 3
    X = [[*x[:5], "jump", "run", *x[7:]] if label == 2 else x for x, label in zip(X, y, strict=True)]
    model = mc.KernelRidge(0.1, kernel=mc.Spectrum(2)).fit(X, np.eye(3)[y])
    of_last = [x for x, label in zip(X, y, strict=True) if label == 2]
    assert mc.motif(model, of_last, 2, output=2).consensus == ("jump", "run")
    with pytest.raises(ValueError, match="3 functions; say which"):
        mc.motif(model, of_last, 2)


def test_bad_questions_are_answered() -> None:
    f = mc.RKHSFunction(mc.Spectrum(2), ["ACGT"], np.array([-1.0]))
    with pytest.raises(ValueError, match="width=0"):
        mc.motif(f, ["ACGT"], 0)
    with pytest.raises(mc.DataError, match="speaks for the answer"):
        mc.motif(f, ["ACGT"], 2)
    assert mc.motif(-f, ["ACGT"], 2).consensus in ("AC", "CG", "GT")


def test_a_motif_as_weights_and_as_a_text_of_meme() -> None:
    matrix = np.array([[0.7, 0.1, 0.2], [0.0, 0.5, 0.5]])
    found = mc.Motif(matrix, ["A", "C", "T"], np.array([3, -1, 0]), np.array([0.5, 0.25, 0.25]))
    np.testing.assert_allclose(2.0 ** found.pwm() * found.background, matrix, atol=1e-15)
    np.testing.assert_allclose(matrix[0] @ found.pwm()[0], found.information[0])
    lines = found.meme("GATA").splitlines()
    assert lines[:3] == ["MEME version 4", "", "ALPHABET= ACGT"]
    assert lines[5] == "A 0.500000 C 0.250000 G 0.000000 T 0.250000"
    assert lines[7:] == [
        "MOTIF GATA",
        "letter-probability matrix: alength= 4 w= 2 nsites= 2 E= 0",
        "0.700000 0.100000 0.000000 0.200000",
        "0.000000 0.500000 0.000000 0.500000",
    ]
    protein = mc.Motif(np.full((1, 2), 0.5), ["K", "W"], np.array([0]), np.full(2, 0.5)).meme()
    assert "alength= 20 w= 1" in protein
    with pytest.raises(ValueError, match="one word"):
        found.meme("two words")
    for letters in (["A", "?"], ["A", "Ω"], [1, 2]):
        with pytest.raises(mc.DataError, match="MEME knows"):
            mc.Motif(np.full((1, 2), 0.5), letters, np.array([0]), np.full(2, 0.5)).meme()


def test_biopython_reads_what_is_written() -> None:
    motifs = pytest.importorskip("Bio.motifs")
    import io

    matrix = np.random.default_rng(0).dirichlet(np.ones(4), 5).round(6)
    found = mc.Motif(matrix, list("ACGT"), np.arange(10**6), np.full(4, 0.25))
    [read] = motifs.parse(io.StringIO(found.meme("X")), "minimal")
    np.testing.assert_allclose([read.pwm[a] for a in "ACGT"], matrix.T, atol=1e-5)
