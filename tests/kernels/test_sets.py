"""Sets and bags in every form, against their definitions."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_predict

import mercer as mc
from mercer.data import DataError
from mercer.kernels.compose.feature_space import ZeroNormWarning
from tests.graph_samples import GOOD, array_of, zero_norms_are_expected
from tests.oracles import matrix

WIDTHS = [1, 63, 64, 65, 513, 2048]


def members(rows: Any) -> list[set[str]]:
    return [{f"bit {j}" for j in np.flatnonzero(row)} for row in rows]


def jaccard(x: Any, z: Any) -> float:
    union = len(set(x) | set(z))
    return len(set(x) & set(z)) / union if union else 0.0


@functools.cache
def some_sets(width: int) -> tuple[Any, ...]:
    """Rows of bits, others, and the values of Intersection and Tanimoto among the first and between both."""
    rng = np.random.default_rng(width)
    B = rng.random((8, width)) < rng.uniform(0, 1, (8, 1))
    B[3], B[4], B[5, -1] = False, True, True
    C = rng.random((4, width)) < 0.5
    S, T = members(B), members(C)
    common = [matrix(lambda x, z: float(len(x & z)), *pair) for pair in ((S,), (T, S))]
    return B, C, common[0], matrix(jaccard, S), common[1], matrix(jaccard, T, S)


SETS: dict[str, Callable[[Any], Any]] = {
    "bools": lambda B: B,
    "columns first": lambda B: np.asfortranarray(B),
    "every other column": lambda B: np.repeat(B, 2, axis=1)[:, ::2],
    "int8": lambda B: B.astype(np.int8),
    "int64": lambda B: B.astype(int),
    "uint8": lambda B: B.astype(np.uint8),
    "float32": lambda B: B.astype(np.float32),
    "float64": lambda B: B.astype(float),
    "csr": lambda B: sparse.csr_array(B.astype(float)),
    "csr of bools": sparse.csr_array,
    "csr of bytes": lambda B: sparse.csr_matrix(B.astype(np.int8)),
    "csc": lambda B: sparse.csc_array(B.astype(int)),
    "coo": lambda B: sparse.coo_array(B.astype(int)),
    "pandas": lambda B: pd.DataFrame(B.astype(int)),
    "polars": lambda B: pl.DataFrame(B.astype(int)),
    "sets": members,
    "frozensets": lambda B: [frozenset(m) for m in members(B)],
    "lists": lambda B: [sorted(m) for m in members(B)],
    "tuples, members twice": lambda B: [(*sorted(m), *m) for m in members(B)],
    "dictionaries": lambda B: [dict.fromkeys(m, 1) for m in members(B)],
    "pandas column of sets": lambda B: pd.Series(members(B)),
    "polars column of lists": lambda B: pl.Series([sorted(m) for m in members(B)], dtype=pl.List(pl.String)),
    "array of sets": lambda B: array_of(members(B)),
    "generator": lambda B: (m for m in members(B)),
    "arrays of strings": lambda B: [np.array(sorted(m), dtype="U8") for m in members(B)],
    "numbers": lambda B: [set(np.flatnonzero(row).tolist()) for row in B],
    "numbers of NumPy": lambda B: [set(np.flatnonzero(row)) for row in B],
    "tuples as members": lambda B: [{("bit", int(j)) for j in np.flatnonzero(row)} for row in B],
}


@pytest.mark.thorough
@zero_norms_are_expected
@pytest.mark.parametrize(
    ("form", "width"), [(f, w) for f in SETS for w in (WIDTHS if f in ("bools", "float64", "csr", "sets") else [65])]
)
def test_every_form_of_sets(form: str, width: int) -> None:
    B, C, common, shares, cross, cross_shares = some_sets(width)
    made = SETS[form]
    np.testing.assert_array_equal(mc.Intersection()(made(B)), common)
    np.testing.assert_allclose(mc.Tanimoto()(made(B)), shares, rtol=1e-14)
    np.testing.assert_array_equal(mc.Intersection()(made(C), made(B)), cross)
    np.testing.assert_allclose(mc.Tanimoto()(made(C), made(B)), cross_shares, rtol=1e-14)
    np.testing.assert_array_equal(mc.Intersection().diag(made(B)), np.diagonal(common))
    np.testing.assert_array_equal(mc.Tanimoto().diag(made(B)), np.diagonal(shares))
    phi = mc.Intersection().features(made(B))
    K = phi @ phi.T
    np.testing.assert_array_equal(K.toarray() if sparse.issparse(K) else K, common)
    np.testing.assert_allclose(mc.MinMax(mc.Intersection())(made(B)), shares, rtol=1e-14)


def test_bit_vectors_of_rdkit() -> None:
    structs = pytest.importorskip("rdkit.DataStructs")
    for width in (1, 63, 64, 65, 2048):
        B = np.random.default_rng(width).random((6, width)) < 0.4
        B[:, 0] = True
        vectors = []
        for row in B:
            v = structs.ExplicitBitVect(width)
            v.SetBitsFromList(np.flatnonzero(row).tolist())
            vectors.append(v)
        np.testing.assert_array_equal(mc.Intersection()(vectors), mc.Intersection()(B))
        np.testing.assert_array_equal(mc.Tanimoto()(vectors, B), mc.Tanimoto()(B))
        expected = [structs.BulkTanimotoSimilarity(v, vectors) for v in vectors]
        np.testing.assert_allclose(mc.Tanimoto()(vectors), expected, rtol=1e-14)
    with pytest.raises(DataError, match=r"one length.*64 and 65"):
        mc.Tanimoto()([structs.ExplicitBitVect(64), structs.ExplicitBitVect(65)])


@pytest.mark.torch
def test_tensors_of_bits() -> None:
    torch = pytest.importorskip("torch")
    B = np.random.default_rng(0).random((6, 70)) < 0.4
    for dtype in (torch.bool, torch.uint8, torch.float32, torch.int64):
        np.testing.assert_array_equal(mc.Tanimoto()(torch.from_numpy(B).to(dtype)), mc.Tanimoto()(B))


def test_sparse_rows_that_are_very_wide() -> None:
    rng = np.random.default_rng(0)
    sets = [set(rng.integers(0, 400, 60).tolist()) for _ in range(8)]
    for width in (2**16, 2**16 + 1, 10**6, 2**31 - 1):
        B = sparse.csr_array(
            (
                np.ones(sum(map(len, sets))),
                (np.repeat(range(8), [len(s) for s in sets]), [j * (width // 400) for s in sets for j in s]),
            ),
            (8, width),
        )
        np.testing.assert_array_equal(mc.Intersection()(B), matrix(lambda x, z: float(len(x & z)), sets))
        np.testing.assert_allclose(mc.Tanimoto()(B[[1, 2]], B), matrix(jaccard, sets[1:3], sets), rtol=1e-14)


@pytest.mark.parametrize("form", [f for f in SETS if f != "generator"])
def test_two_empty_sets_have_the_value_zero_and_one_warning(form: str) -> None:
    B = np.zeros((3, 5), bool)
    B[1, 2] = True
    for kernel in (mc.Tanimoto(), mc.Intersection().normalized()):
        with pytest.warns(ZeroNormWarning) as caught:
            K = kernel(SETS[form](B))
        assert len(caught) == 1
        assert "2 of 3" in str(caught[0].message)
        assert K.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_empty_graphs_and_bags_have_one_warning() -> None:
    for kernel in (mc.Tanimoto(mc.PathBag(2)), mc.WeisfeilerLehman(2).normalized(), mc.MinMax(mc.PathBag(2))):
        with pytest.warns(ZeroNormWarning) as caught:
            K = kernel([mc.Graph(), GOOD, mc.Graph()])
        assert len(caught) == 1
        assert K.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_no_sets() -> None:
    for empty in (
        [],
        np.empty((0, 5), bool),
        np.empty((0, 5)),
        sparse.csr_array((0, 5)),
        pd.DataFrame({"a": [], "b": []}),
    ):
        for kernel in (mc.Intersection(), mc.Tanimoto()):
            assert kernel(empty).shape == (0, 0)
            assert kernel.diag(empty).shape == (0,)
    assert mc.Intersection()(np.empty((0, 5)), np.ones((2, 5))).shape == (0, 2)
    assert mc.Intersection()([], [{"a"}]).shape == (0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroNormWarning)
        assert mc.Tanimoto()(np.empty((3, 0))).tolist() == [[0.0] * 3] * 3


def test_members_that_are_equal_are_one() -> None:
    Z: list[Any] = [
        {1, "a", (1, 2)},
        {True, np.str_("a")},
        [1.0, (1.0, 2)],
        {np.int64(1), 2**70},
        {float(2**70)},
        {"1"},
        {b"a"},
    ]
    expected = matrix(lambda x, z: float(len(set(x) & set(z))), Z)
    np.testing.assert_array_equal(mc.Intersection()(Z), expected)
    np.testing.assert_array_equal(mc.Intersection()(Z[:2], Z[2:]), np.array(expected)[:2, 2:])


@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan, np.inf, 255])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array, pd.DataFrame])
def test_rows_of_other_numbers_are_refused(value: float, form: Any) -> None:
    B = np.ones((3, 4)) * (np.arange(4) % 2)
    B[2, 1] = value
    for kernel in (mc.Intersection(), mc.Tanimoto(), mc.Tanimoto().normalized()):
        with pytest.raises(DataError, match=r"Row 2, column 1 .*0 and 1.*MinMax"):
            kernel(form(B))
        with pytest.raises(DataError, match=r"Row 2, column 1 "):
            kernel(np.zeros((1, 4)) + 1, form(B))


def test_stored_zeros_of_sparse_rows_are_zeros() -> None:
    B = sparse.csr_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 2]), np.array([0, 2, 3])), shape=(2, 3))
    assert mc.Intersection()(B).tolist() == mc.Intersection()(B.toarray()).tolist() == [[1, 0], [0, 1]]


def test_entries_stored_twice_are_their_sum() -> None:
    B = sparse.csr_array((np.array([1.0, 1.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    assert B.toarray().tolist() == [[0, 2, 0]]
    with pytest.raises(DataError, match=r"Row 0, column 1 "):
        mc.Intersection()(B)


@pytest.mark.parametrize("item", [None, "abc", b"abc", 3, 2.5, np.nan, [["a"]], [{}]], ids=repr)
def test_items_that_are_no_sets_are_named(item: Any) -> None:
    for kernel in (mc.Intersection(), mc.Tanimoto()):
        with pytest.raises(DataError, match=r"Item 1 of the sets"):
            kernel([{"a"}, item])
        with pytest.raises(DataError, match=r"Item 1 of the sets"):
            kernel([{"a"}], [{"a"}, item])


def test_rows_of_different_widths_are_refused() -> None:
    with pytest.raises(DataError, match=r"3 columns.*4|4 columns.*3"):
        mc.Intersection()(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(DataError):
        mc.Intersection()(np.ones((2, 3)), [{"a"}])
    model = mc.SVC(kernel=mc.Tanimoto()).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"4"):
        model.predict(np.eye(5))


@pytest.mark.thorough
def test_sets_in_machines(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    B = rng.random((40, 65)) < 0.3
    y = np.arange(40) % 2
    B[y == 1, :6] = True
    expected = None
    for form in ("bools", "int64", "float64", "csr", "sets", "lists", "pandas", "polars", "pandas column of sets"):
        Z = SETS[form](B)
        model = mc.SVC(kernel=mc.Tanimoto(), C=1.0).fit(Z, y)
        values = model.decision_function(Z)
        expected = values if expected is None else expected
        np.testing.assert_allclose(values, expected, atol=1e-6)
        mc.save(model, tmp_path / "model")
        np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(Z), values)
        if form != "polars":
            assert cross_val_predict(mc.SVC(kernel=mc.Tanimoto(), C=1.0), Z, y, cv=3).shape == (40,)


def test_models_of_frozen_sets_are_saved(tmp_path: Path) -> None:
    Z = [frozenset(m) for m in members(np.eye(6, dtype=bool) | (np.arange(6) % 2 == 0))]
    model = mc.SVC(kernel=mc.Tanimoto(), C=1.0).fit(Z, [0, 1] * 3)
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(Z), model.decision_function(Z))


def minmax(x: Any, z: Any) -> float:
    largest = sum(map(max, zip(x, z, strict=True)))
    return sum(map(min, zip(x, z, strict=True))) / largest if largest else 0.0


@zero_norms_are_expected
@pytest.mark.parametrize(
    "form", [np.array, sparse.csr_array, sparse.csc_array, pd.DataFrame, lambda D: D.tolist(), np.asfortranarray]
)
@pytest.mark.parametrize("whole", [False, True])
def test_bags_of_numbers(form: Any, whole: bool) -> None:
    rng = np.random.default_rng(0)
    D, E = (np.where(rng.random((n, 9)) < 0.4, 0.0, rng.random((n, 9)) * 5) for n in (12, 5))
    D[3] = 0.0
    if whole:
        D, E = np.floor(D), np.floor(E)
    kernel = mc.MinMax(mc.Linear())
    np.testing.assert_allclose(kernel(form(D)), matrix(minmax, D), rtol=1e-13)
    np.testing.assert_allclose(kernel(form(E), form(D)), matrix(minmax, E, D), rtol=1e-13)
    np.testing.assert_allclose(kernel.diag(form(D)), np.diagonal(matrix(minmax, D)), rtol=1e-13)
    assert mc.check_kernel(kernel, form(D))


@pytest.mark.parametrize("form", [np.array, sparse.csr_array, sparse.coo_array])
def test_bags_with_negative_numbers_are_refused(form: Any) -> None:
    D = np.ones((3, 4))
    D[1, 2] = -0.5
    with pytest.raises(DataError, match=r"at least 0.*-0\.5"):
        mc.MinMax(mc.Linear())(form(D))
    with pytest.raises(DataError, match=r"at least 0"):
        mc.MinMax(mc.Linear())(form(np.ones((2, 4))), form(D))
    with pytest.raises(DataError):
        mc.MinMax(mc.Linear())(np.ones((2, 4)), sparse.csr_array(np.ones((2, 4))))


@pytest.mark.parametrize(
    "base",
    [mc.Spectrum(2), mc.BagOfWords("counts"), mc.Intersection(), 0.5 * mc.Spectrum(2), mc.Spectrum(2) + mc.Spectrum(1)],
    ids=str,
)
def test_bags_of_other_features(base: mc.Kernel) -> None:
    Z: Any = ["ACGT ACG", "ACCA TT", "GGGG"]
    if isinstance(base, mc.Intersection):
        Z = [set(z) for z in Z]
    phi = base.features(Z)
    phi = phi.toarray() if sparse.issparse(phi) else np.asarray(phi)
    np.testing.assert_allclose(mc.MinMax(base)(Z), matrix(minmax, phi), rtol=1e-13)
    np.testing.assert_allclose(mc.MinMax(base)(Z[:1], Z), matrix(minmax, phi[:1], phi), rtol=1e-13)
    K = base(Z)
    expected = K / (np.diagonal(K)[:, None] + np.diagonal(K) - K)
    np.testing.assert_allclose(mc.Tanimoto(base)(Z), expected, rtol=1e-13)


def test_minima_leave_the_items_as_they_are() -> None:
    """Of more items than one block, whose sparse values are not whole numbers."""
    X = ["".join(np.random.default_rng(i).choice(list("ACGT"), 6)) for i in range(500)]
    k = mc.MinMax(mc.Spectrum(3, 1, [0.5, 1.0, 2.0]))
    K = k(X)
    for i, j in ((0, 0), (3, 450), (450, 3), (499, 400)):
        np.testing.assert_allclose(K[i, j], k([X[i]], [X[j]])[0, 0], rtol=1e-12)
