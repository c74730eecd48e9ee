"""Words with ambiguous letters of DNA: expectations over what they can be read as."""

from __future__ import annotations

import numpy as np
import pytest

import mercer as mc
from tests import sequence_oracles as truth
from tests.cases import ambiguous_strings
from tests.sequence_samples import dna, reverse_complement

KERNELS = [
    mc.Spectrum(3),
    mc.Spectrum(4, 2, [0.5, 1.0, 2.0]),
    mc.Gappy(4, 2),
    mc.Gappy(9, 4),
    mc.Mismatch(3, 1, "ACGT"),
]
of_words = pytest.mark.parametrize("kernel", KERNELS, ids=str)


@of_words
def test_without_ambiguous_letters_it_is_the_kernel(kernel: mc.Kernel) -> None:
    X = dna(8, 30, seed=1)
    np.testing.assert_allclose(kernel.expanded()(X), kernel(X), rtol=1e-12)
    rna = [x.replace("T", "U") for x in X]
    np.testing.assert_array_equal(kernel.expanded()(rna), kernel.expanded()(X))


@of_words
def test_it_is_the_mean_over_all_readings(kernel: mc.Kernel) -> None:
    """Of strings with one ambiguous letter, φ itself is the mean."""
    x, z = "ACGTRACGTTACG", "TTACGNACGTACGA"
    readings = [[s.replace(a, b) for b in truth.IUPAC[a]] for s, a in ((x, "R"), (z, "N"))]
    np.testing.assert_allclose(kernel.expanded()([x], [z])[0, 0], kernel(*readings).mean(), rtol=1e-12)
    np.testing.assert_allclose(kernel.expanded()([x])[0, 0], kernel(readings[0]).mean(), rtol=1e-12)


def test_gapped_words_beside_an_ambiguous_letter_count_once() -> None:
    k = mc.Gappy(3, 2).expanded(most=2)
    assert sorted(k.feature_names(["ANC"])) == ["A.C"]  # N can be read in four ways, A.C does not need it
    names = k.feature_names(["ARC"])
    values = dict(zip(names, k.features(["ARC"]).toarray()[0], strict=True))
    assert {n: v for n, v in values.items() if v} == {"A.C": 1.0, "AA.": 0.5, "AG.": 0.5, ".AC": 0.5, ".GC": 0.5}


def test_words_that_can_be_read_in_too_many_ways_do_not_count() -> None:
    X = ["ANNA", "ANAA"]
    assert mc.Spectrum(3).expanded(most=4).diag(X).tolist() == [0.0, 0.5**2 + 6 * 0.25**2]
    assert mc.Spectrum(3).expanded(most=16).diag(X)[0] == pytest.approx(4 / 8**2 + 24 / 16**2)
    assert not mc.Spectrum(2).expanded()(["A-", "--", "", "N"]).any()


@of_words
def test_either_strand(kernel: mc.Kernel) -> None:
    both, X = kernel.expanded(16).both_strands(), ambiguous_strings(9)
    np.testing.assert_allclose(both([reverse_complement(x) for x in X], X), both(X), rtol=1e-12)


@pytest.mark.parametrize("kernel", [mc.Spectrum(3).expanded(), mc.Gappy(4, 3).expanded(4)], ids=str)
def test_it_is_positive_semi_definite(kernel: mc.Kernel) -> None:
    assert kernel.psd
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X = ["".join(rng.choice(list("ACGTNRYSW-"), n)) for n in rng.integers(0, 12, 8)]
        assert np.linalg.eigvalsh(kernel(X))[0] >= -1e-12


def test_the_alphabet_of_the_data_has_no_ambiguous_letters() -> None:
    X = ["ACGTNNACG", "RACGTTT"]
    assert mc.Mismatch(3, 1).expanded().bind(X).kernel.alphabet == "ACGT"
    assert mc.Mismatch(3, 1).expanded().bind(["ACGUN", "é中"]).kernel.alphabet == "ACGT"
    tokens = [["A", "C", "G", -3], ["A", "C", "G", "exon"]]
    assert mc.Spectrum(2).expanded()(tokens).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert mc.Spectrum(2).expanded().over(case="fold")(["acn"])[0, 0] == mc.Spectrum(2).expanded()(["ACN"])[0, 0]
    assert mc.Spectrum(2).expanded()(["acn"])[0, 0] == mc.Spectrum(2).expanded()(["ACN"])[0, 0]


@pytest.mark.parametrize("kernel", [mc.Substring(), mc.Spectrum(2).normalized(), mc.WeightedDegree(3)], ids=str)
def test_other_kernels_have_no_words_to_read(kernel: mc.Kernel) -> None:
    with pytest.raises(TypeError, match="directly behind Spectrum"):
        kernel.expanded()
