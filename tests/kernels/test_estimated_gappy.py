"""Gapped words whose counts are estimated: LS-GKM's values, the weights, and when they are positive semi-definite."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.kernels.sequences.estimated import weights_by_distance
from tests import sequence_oracles as truth
from tests.sequence_samples import dna, reverse_complement

X = ["GATTACAGATTACATTGCAGC", "GATTGCAGATTACACTGTAGCCA", "TGCTGTAACCTAATCTGTAATCC", "CCGGTTAACCGGTATTACAGATA"]
# by the kernel routines of LS-GKM (libsvm_gkm.c, commit 53b418b), transcribed without threads, with the options
# -l 7 -k 5 -d 3 -g 2 -M 50 -H 4: the values below the diagonal
LS_GKM = {
    0: [0.51010263654043519, 0.5475427784506649, 0.32669954578257548, 0.22659114886791346, 0.086419285454654646,
        0.23913343583607802],
    1: [0.38140002303996889, 0.4739923350304554, 0.19988004499023657, 0.17344430042566772, 0.019607657730946401,
        0.16077461574248153],
    2: [0.47466399397203057, 0.52663129355006733, 0.29242925336195441, 0.21379484788236466, 0.071328994254020464,
        0.2223788814932452],
    3: [0.34970266572320691, 0.38800486029653242, 0.24289124353946198, 0.20754433401377512, 0.15608695682408005,
        0.21113823095130169],
    4: [0.53454791611654418, 0.4256484911687724, 0.25811911170889867, 0.13114020952596531, 0.056231625001007493,
        0.11766126454540182],
    5: [0.39419712885341796, 0.31704770810888677, 0.22678297488695029, 0.17592111741001665, 0.15144439516804051,
        0.1712420081083548],
}  # fmt: skip


@pytest.mark.parametrize("kind", LS_GKM)
def test_the_values_of_ls_gkm(kind: int) -> None:
    peak = 50 if kind in (4, 5) else 1
    k = mc.EstimatedGappy(7, 5, 3, {0: "none", 1: "full"}.get(kind, "truncated"), peak, 4.0).both_strands().normalized()
    if kind in (3, 5):
        k = mc.exp(2 * k).normalized()
    np.testing.assert_allclose(k(X)[np.tril_indices(4, -1)], LS_GKM[kind], rtol=1e-13)


@pytest.mark.parametrize("filter", ["truncated", "full", "none"])
def test_the_weights_are_those_of_the_paper(filter: str) -> None:
    for g, k, letters in ((4, 2, 4), (5, 4, 3), (3, 3, 4), (6, 1, 2), (7, 3, 2)):
        found = [float(c) for c in weights_by_distance(g, k, filter, letters)]
        np.testing.assert_allclose(found, truth.gapped_weights(g, k, filter, letters), rtol=1e-12, atol=1e-15)


def test_without_a_filter_and_a_limit_it_is_gappy() -> None:
    Z = dna(9, 30, seed=4)
    np.testing.assert_array_equal(mc.EstimatedGappy(9, 4, 9, "none")(Z), mc.Gappy(9, 4)(Z))


@pytest.mark.parametrize("filter", ["truncated", "full", "none"])
@pytest.mark.thorough
def test_psd_is_told_exactly(filter: str) -> None:
    told = set()
    for g, letters in ((3, "AC"), (4, "AC"), (5, "AC"), (3, "ACG"), (4, "ACG"), (3, "ACGT")):
        words = ["".join(w) for w in itertools.product(letters, repeat=g)]
        for k, d in itertools.product(range(1, g + 1), range(g + 1)):
            kernel = mc.EstimatedGappy(g, k, d, filter, alphabet=letters)
            smallest = np.linalg.eigvalsh(kernel(words))[0]
            assert kernel.psd == (smallest > -1e-9), kernel
            told.add(kernel.psd)
    assert told == {True, False}


def test_it_is_positive_semi_definite_where_it_says_so() -> None:
    k = mc.EstimatedGappy(5, 3, 5, peak=9, half_life=2.0)
    assert k.psd
    assert k.both_strands().normalized().psd
    for seed in range(50):
        rng = np.random.default_rng(seed)
        Z = ["".join(rng.choice(list("ACGTN"), n)) for n in rng.integers(0, 14, 9)]
        K = k(Z)
        assert np.linalg.eigvalsh(K)[0] >= -1e-12 * max(1.0, K.max())


def test_what_it_does_not_see() -> None:
    k = mc.EstimatedGappy(5, 3, 2, peak=20, half_life=3.0)
    Z = ["ACGTTAGCATTA", "NACGTTAGCNTA", "ACGT", "", "NNNNNNN"]
    K = k(Z)
    assert K[1, 1] > 0
    assert not K[2:].any()
    folded = k.over("ACGT", case="fold")
    np.testing.assert_array_equal(folded([z.lower() for z in Z], Z), K)
    both = k.both_strands()
    for even in (11, 12):  # also of an even number of windows
        W = dna(5, even, seed=even)
        np.testing.assert_allclose(both([reverse_complement(w) for w in W], W), both(W), rtol=1e-13)
    swapped = [z.translate(str.maketrans("ACGT", "GTAC")) for z in Z]  # which letters they are does not matter
    np.testing.assert_array_equal(k(swapped), K)


def test_high_windows_of_long_sequences() -> None:
    rng = np.random.default_rng(0)
    Z = ["".join(rng.choice(list("AC"), n)) for n in (900, 700, 40)]
    k = mc.EstimatedGappy(3, 2, 3, peak=255, half_life=1e6, alphabet="AC")
    np.testing.assert_allclose(k(Z), 255.0**2 * mc.EstimatedGappy(3, 2, 3, alphabet="AC")(Z), rtol=1e-12)


@pytest.mark.parametrize(
    "given",
    [{"k": 12}, {"d": 12}, {"filter": "half"}, {"alphabet": "A"}, {"alphabet": "ACA"}, {"peak": 256}, {"g": 61}],
)
def test_bad_parameters_are_named(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(given))):
        mc.EstimatedGappy(**given)


def test_a_machine_is_saved(tmp_path: Path) -> None:
    Z, y = dna(20, 24, seed=5), np.arange(20) % 2
    machine = mc.SVC(kernel=mc.EstimatedGappy(6, 4, 6).both_strands().normalized()).fit(Z, y)
    mc.save(machine, tmp_path / "m.mercer")
    np.testing.assert_array_equal(mc.load(tmp_path / "m.mercer").decision_function(Z), machine.decision_function(Z))
