"""Words of profiles: exact texts, thresholds, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data import Profiles
from mercer.data.amino_acids import STANDARD, substitutions
from tests.cases import profiles
from tests.sequence_samples import dna


def certain(x: str, letters: str = "ACGT") -> Any:
    return np.array([[float(a == b) for b in letters] for a in x]).reshape(-1, len(letters))


def test_of_certain_letters_it_is_the_spectrum_kernel() -> None:
    X = dna(8, 20, seed=2)
    np.testing.assert_array_equal(mc.Profile(3, 0.1, "ACGT")([certain(x) for x in X]), mc.Spectrum(3)(X))
    found = mc.Profile(3, 0.1, "ACGT")
    assert set(found.feature_names([certain(X[0])])) == set(mc.Spectrum(3).feature_names(X[:1]))


def test_of_even_chances_every_word_is_there() -> None:
    even = np.full((4, 3), 1 / 3)
    assert mc.Profile(2, 2 * np.log(3) + 1e-9, "abc")([even])[0, 0] == 9 * 3**2
    assert mc.Profile(2, 2 * np.log(3) - 1e-9, "abc")([even])[0, 0] == 0


def test_the_order_of_letters_does_not_matter() -> None:
    X, order = profiles(9), [2, 0, 3, 1]
    turned = [x[:, order] for x in X]
    np.testing.assert_array_equal(mc.Profile(3, 4.0, "ACGT")(X), mc.Profile(3, 4.0, "GATC")(turned))


def test_texts_are_smoothed() -> None:
    assert np.allclose([row.sum() for row in substitutions().values()], 1)
    for letter in STANDARD:  # nothing replaces a letter as often as itself
        assert STANDARD[int(np.argmax(substitutions()[letter]))] == letter or letter == "M"
    k = mc.Profile(2, 5.0)
    check = Profiles().check
    np.testing.assert_array_equal(k(["MKVW", "AXB"]), k([check(["MKVW"])[0], check([b"axb"])[0]]))
    assert not k(["M*W", "-", ""]).any()


def test_it_is_positive_semi_definite() -> None:
    k = mc.Profile(2, 2.5, "ACGT")
    assert k.psd
    for seed in range(50):
        rng = np.random.default_rng(seed)
        K = k([rng.dirichlet([0.5] * 4, n) for n in rng.integers(0, 7, 8)])
        assert np.linalg.eigvalsh(K)[0] >= -1e-12 * max(1.0, K.max())


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (np.ones((3, 3)), "shape .3, 3.; there must be 4 columns"),
        (np.full((2, 4), 0.5), "at place 0; a row is probabilities that sum to 1"),
        ([[0.5, 0.5, 0.0, 0.0], [1.5, -0.5, 0.0, 0.0]], "at place 1"),
        ([[np.nan] * 4], "at place 0"),
        ("ACGT", "is a text"),
        (None, "missing"),
        ([["a"] * 4], "give an array"),
    ],
)
def test_what_is_no_profile_is_named(item: Any, said: str) -> None:
    with pytest.raises(mc.DataError, match=f"^Profile 1 .*{said}"):
        mc.Profile(2, 2.0, "ACGT")([np.full((2, 4), 0.25), item])


def test_too_many_words_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercer.kernels.sequences.profiles._BYTES", 2**40)
    with pytest.raises(MemoryError, match="smaller threshold"):
        mc.Profile(3, 9.0)(["MKVWMKVW"])
    with pytest.raises(ValueError, match="64 bits"):
        mc.Profile(15)
    with pytest.raises(ValueError, match="each once"):
        mc.Profile(2, 2.0, "AA")


def test_a_machine_of_profiles_is_saved(tmp_path: Path) -> None:
    X, y = profiles(20), np.arange(20) % 2
    machine = mc.SVC(kernel=mc.Profile(2, 3.0, "ACGT") + 1).fit(X, y)
    mc.save(machine, tmp_path / "m")
    np.testing.assert_array_equal(mc.load(tmp_path / "m").decision_function(X), machine.decision_function(X))


def test_more_words_than_fit_are_refused_before_they_are_all_counted() -> None:
    with pytest.raises(MemoryError, match="item 1 has"):
        mc.Profile(8, 60.0)(["MKVLA", "MKVLAAGIT"])
