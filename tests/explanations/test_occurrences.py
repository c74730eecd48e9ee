"""Where features come from: the occurrences in an item are its features, counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data import HashedRows, take
from tests.cases import SEQUENCES, STRUCTURES, Case, aligned_strings, molecules, strings

MORE = [
    Case(mc.BagOfWords("counts").over(["a", "rose"], "letter"), None, lambda: ["a rose is a rose", "", "red rose"]),
    Case(mc.Gappy(3, 2).over("ACG"), None, strings),
    Case(mc.Gappy(3, 2).both_strands(), None, strings),
    Case(mc.WeightedDegree(3).over("ACG"), None, aligned_strings),
    Case(mc.Morgan(2, True), None, molecules),
    Case(mc.AtomPairs(True), None, molecules),
    Case(mc.TopologicalPaths(3, True), None, molecules),
    Case(mc.Gappy(9, 4)._listed(), None, strings),
    Case(mc.Mismatch(7, 1, "ACGT")._listed(), None, strings),
    Case(mc.Mismatch(4, 2, "ACG")._listed(), None, strings),
]


def _leaves(case: Case) -> tuple[Any, Any]:
    X = case.data()
    k = case.kernel.bind(X)
    return k, k.domain.check(X)


def _known() -> list[Case]:
    """Those that say where their features are, and have them listed."""
    return [
        case
        for case in SEQUENCES + STRUCTURES + MORE
        if type(case.kernel)._occurrences is not mc.Kernel._occurrences
        and (case.kernel.explicit or case.kernel._data_driven)
    ]


@pytest.mark.parametrize("case", _known(), ids=str)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_occurrences_are_the_features(case: Case) -> None:
    """Each code occurs, and as often as a kernel that counts says; places are places of the item."""
    k, X = _leaves(case)
    labels = k.domain.labels(case.data())
    counting = (
        case.kernel._integer_features
        and getattr(case.kernel, "counts", True) is True
        and not isinstance(case.kernel, mc.Tanimoto)
    )
    for i in range(len(case.data())):
        one = take(X, slice(i, i + 1))
        found = k._occurrences(one)
        phi = HashedRows.of(k._features(k._prepare(one)))
        codes, often = np.unique(found.codes, return_counts=True)
        order = np.argsort(phi.codes)
        present = order[phi.values[order] != 0]
        if not getattr(case.kernel, "bits", None):
            np.testing.assert_array_equal(codes, phi.codes[present])
        if counting:
            np.testing.assert_array_equal(often, phi.values[present])
        assert labels is None or len(labels[i]) == found.size
        assert len(found.places) == len(found.codes)
        assert all(0 <= p < found.size for p in found.places.values)
        assert all(len(set(places.tolist())) == len(places) > 0 for places in found.places)


def test_words_with_mismatches_have_their_names() -> None:
    f = mc.RKHSFunction(mc.Mismatch(7, 1, "ACGT"), ["ACGTACG"], np.array([1.0]))
    [e] = mc.explain(f, ["TCGTACG"], "feature")
    assert sorted(e.names) == ["ACGTACG", "CCGTACG", "GCGTACG", "TCGTACG"]


def test_places_of_words() -> None:
    k = mc.Gappy(3, 2)
    found = k._occurrences(k.domain.check(["ACGA"]))
    assert [tuple(p) for p in found.places] == [(0, 1), (0, 2), (1, 2), (1, 2), (1, 3), (2, 3)]
    names = k._names(["ACGA"])
    assert [names[int(code)] for code in found.codes] == ["AC.", "A.G", ".CG", "CG.", "C.A", ".GA"]


def test_a_refined_label_covers_its_neighbourhood() -> None:
    k = mc.WeisfeilerLehman(1)
    found = k._occurrences(k.domain.check([mc.Graph([(0, 1), (1, 2)], labels=["C", "C", "O"])]))
    assert [tuple(p) for p in found.places] == [(0,), (1,), (2,), (0, 1), (0, 1, 2), (1, 2)]
