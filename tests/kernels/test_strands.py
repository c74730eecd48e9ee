"""Norms that are exact, and kernels that do not tell a strand from its reverse complement."""

from __future__ import annotations

import numpy as np
import pytest

import mercer as mc
from tests.sequence_samples import OPTIONS, dna, every, of_any_length, reverse_complement, with_holes


@pytest.mark.thorough
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


def test_many_short_strings_have_an_exact_diagonal() -> None:
    Z = dna(300, 6, seed=12)  # fewer features than strings: products of features
    for kernel in (
        mc.Spectrum(2).normalized(),
        mc.Mismatch(2, 1).normalized(),
        mc.Gappy(3, 2).both_strands().normalized(),
    ):
        assert (np.diagonal(kernel(Z)) == 1).all()
        assert (kernel.gram(Z).diag() == 1).all()


@pytest.mark.thorough
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
