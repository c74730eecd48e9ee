"""Names of the features of kernels on sequences, and their weights in a machine."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import mercer as mc
from mercer.kernels.sequences.mismatches import ListedMismatch
from tests import sequence_oracles as truth
from tests.sequence_samples import FORMS, TEXTS, X, labelled, reverse_complement


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
    assert sorted(mc.Spectrum(2).feature_names([b"ACAC", b"CA"])) == [b"AC", b"CA"]
    assert sorted(mc.Spectrum(1).feature_names([["noun", "verb"], ["verb"]])) == [("noun",), ("verb",)]


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
    mc.Spectrum(2).over("AC").both_strands().normalized(),
]  # fmt: skip


@pytest.mark.parametrize("kernel", COMPOSED, ids=str)
def test_names_belong_to_the_features(kernel: mc.Kernel) -> None:
    Z = ["ACNAC", "CCAGA"]
    names = kernel.feature_names(Z)
    assert len(names) == kernel.features(Z).shape[1]
    assert len(set(map(str, names))) == len(names)
    if ".over('AC', 'skip')" in repr(kernel):
        assert not any("N" in name or "G" in name for name in names)


def test_names_of_products_are_pairs_of_words() -> None:
    kernel, Z = mc.Spectrum(2) * mc.Spectrum(1), ["ACNAC", "CCAGA"]
    for z, row in zip(Z, counted(kernel.feature_names(Z), kernel.features(Z)), strict=True):
        twos, ones = Counter(z[i : i + 2] for i in range(4)), Counter(z)
        assert row == {f"{u} × {v}": m * n for u, m in twos.items() for v, n in ones.items()}


def test_names_of_words_of_both_strands() -> None:
    kernel, Z = mc.Spectrum(2).both_strands(), ["AACC", "ACGT"]
    found = counted(kernel.feature_names(Z), kernel.features(Z))
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


# Features of large kernels
@pytest.mark.thorough
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


NAMELESS = [mc.Substring(), mc.Subsequence(3), mc.WeightedDegree(20, 2), mc.LocalAlignment()]


@pytest.mark.parametrize("kernel", NAMELESS, ids=str)
def test_other_features_have_no_names_in_words(kernel: mc.Kernel) -> None:
    with pytest.raises(TypeError, match="have no names"):
        kernel.feature_names(["ACGTACGTAC", "ACGTTCGTAC"])


@pytest.mark.parametrize(("k", "m", "alphabet"), [(7, 1, "ACGT"), (9, 2, "ACGT"), (3, 2, "AC"), (3, 0, "ACGT")])
def test_listed_words_with_mismatches_are_the_kernel(k: int, m: int, alphabet: str) -> None:
    given = mc.Mismatch(k, m, alphabet)
    listed = ListedMismatch(k, m, alphabet)
    np.testing.assert_allclose(listed(X), given(X))


@pytest.mark.parametrize("alphabet", ["TGCA", ["up", "down", "left"]])
def test_names_of_words_with_mismatches(alphabet: Any) -> None:
    """The words within one letter of a word, however they are listed."""
    letters = list(alphabet)
    word = [letters[0], letters[1], letters[0]]
    items = ["".join(word)] if isinstance(alphabet, str) else [word]
    held, listed = mc.Mismatch(3, 1, alphabet), ListedMismatch(3, 1, alphabet)
    expected = {
        w for w in itertools.product(letters, repeat=3) if sum(a != b for a, b in zip(w, word, strict=True)) <= 1
    }
    for k in (held, listed):
        phi = k.features(items)
        counts = phi.toarray()[0] if hasattr(phi, "toarray") else phi[0]
        names = k.feature_names(items)
        assert {tuple(name) for name, count in zip(names, counts, strict=True) if count} == expected
