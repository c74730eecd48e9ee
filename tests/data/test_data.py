from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from mercer.data import (
    Anything,
    DataError,
    Graphs,
    Histograms,
    Nodes,
    Ragged,
    Sequences,
    Vectors,
    chunks,
    select,
    size,
    take,
)

X = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize(
    "given",
    [
        X,
        X.tolist(),
        X.astype(int),
        X.astype(object),
        pd.DataFrame(X),
        pl.DataFrame(X, schema=["a", "b", "c"]),
        sparse.csr_array(X),
        sparse.csr_matrix(X),
        sparse.coo_array(X),
        sparse.csc_array(X),
    ],
    ids=lambda g: type(g).__module__.split(".")[0] + "." + type(g).__name__,
)
def test_vectors_from_everything(given: Any) -> None:
    out = Vectors().check(given)
    dense = out.toarray() if sparse.issparse(out) else out
    np.testing.assert_array_equal(dense, X)
    assert out.dtype == np.float64
    assert sparse.issparse(out) == sparse.issparse(given)
    again = Vectors().check(out)
    assert again is out or (again != out).nnz == 0  # idempotent


def test_float32_stays() -> None:
    assert Vectors().check(X.astype(np.float32)).dtype == np.float32
    assert Vectors().check(X.astype(np.float16)).dtype == np.float32
    assert Vectors().check(sparse.csr_array(X.astype(np.float32))).dtype == np.float32
    assert Vectors().check(pd.DataFrame(X.astype(np.float32))).dtype == np.float32
    assert Vectors().check(pl.DataFrame(X.astype(np.float32), schema=["a", "b", "c"])).dtype == np.float32
    assert Vectors().check(pd.DataFrame({"a": np.ones(3, np.float32), "b": np.ones(3)})).dtype == np.float64


def test_no_copy_of_what_is_fine() -> None:
    assert Vectors().check(X) is X


@pytest.mark.torch
def test_torch_tensors_stay() -> None:
    torch = pytest.importorskip("torch")
    t = torch.from_numpy(X)
    assert Vectors().check(t) is t
    assert Vectors().check(t.int()).dtype == torch.float64
    with pytest.raises(DataError, match="Row 1, column 2"):
        Vectors().check(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, float("nan")]]))


def _spoiled(value: Any, row: int = 2, column: int = 1) -> Any:
    Z = X.astype(object)
    Z[row, column] = value
    return Z


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (_spoiled(np.nan), r"Row 2, column 1 is a missing value \(NaN\).*imputed"),
        (_spoiled(None), r"Row 2, column 1 is a missing value"),
        (_spoiled(np.inf), r"Row 2, column 1 is infinite"),
        (_spoiled("red"), r"Row 2, column 1 is 'red', not a number.*Categorical"),
        (
            pd.DataFrame(_spoiled(np.nan).astype(float), columns=["a", "b", "c"]),
            r"Row 2, column 'b' \(1\) is a missing",
        ),
        (
            pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
            r"Row 0, column 'b' \(1\) is 'x'.*Categorical\(\).on\('b'\)",
        ),
        (pl.DataFrame({"a": [1.0, 2.0], "b": [1.0, None]}), r"Row 1, column 'b' \(1\) is a missing"),
        (sparse.csr_array(_spoiled(np.nan).astype(float)), r"Row 2, column 1"),
        (X[0], r"Expected a 2-D array.*reshape"),
        (X[None], r"Expected a 2-D array"),
        (np.zeros((3, 0)), r"no columns"),
        (X + 1j, r"complex"),
        ([[1.0, 2.0], [3.0]], r"different lengths"),
        (["a", "b"], r"2-D array of numbers"),
    ],
)
def test_errors_name_the_place_and_the_cure(given: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Vectors().check(given)


def test_the_first_offending_entry_is_named() -> None:
    Z = X.copy()
    Z[3, 0] = Z[1, 2] = np.nan
    with pytest.raises(DataError, match="Row 1, column 2"):
        Vectors().check(Z)
    Z = X.astype(object)
    Z[1, 2], Z[2, 0] = "later", "latest"
    with pytest.raises(DataError, match="Row 1, column 2"):
        Vectors().check(Z)


def test_histograms_are_checked() -> None:
    assert Histograms().check(X) is X
    for negative in (X - 1, sparse.csr_array(X - 1)):
        with pytest.raises(DataError, match="Row 0, column 0 is -1; this kernel needs entries of at least 0"):
            Histograms().check(negative)


def test_ranges_and_columns() -> None:
    with pytest.raises(DataError, match="Row 1, column 0 is 3; this kernel needs entries below 3"):
        Vectors(below=3.0).check(X)
    with pytest.raises(DataError, match=r"defined on 1 column\(s\), the data has 3"):
        Vectors(columns=1).check(X)
    assert Vectors(missing=True).check(np.array([[np.nan]])).shape == (1, 1)
    with pytest.raises(DataError, match="infinite"):
        Vectors(missing=True).check(np.array([[np.inf]]))


def test_single_pairs_are_recognised() -> None:
    pair = Vectors().pair(np.ones(3), np.zeros(3))
    assert pair is not None
    assert pair[0].shape == (1, 3)
    assert Vectors().pair([1.0, 2.0], [3.0, 4.0]) == ([[1.0, 2.0]], [[3.0, 4.0]])
    assert Vectors().pair(X, X) is None
    assert Sequences().pair(["ab"], ["cd"]) is None


def test_other_domains() -> None:
    for same in (
        ("ab", "c"),
        pd.Series(["ab", "c"]),
        np.array(["ab", "c"]),
        (b"ab", b"c"),
        [["a", "b"], ["c"]],
        (x for x in ("ab", "c")),
    ):
        found = Sequences().check(same)
        assert found.values.tolist() == [98, 99, 100]
        assert found.offsets.tolist() == [0, 2, 3]
        assert Sequences().check(found) is found
    with pytest.raises(DataError, match="put it in a list"):
        Sequences().check("abc")
    with pytest.raises(DataError, match="Item 1 of the sequences is 5"):
        Sequences().check(["a", 5])
    with pytest.raises(DataError, match=r"Item 1 of the graphs is missing"):
        Graphs().check([[(0, 1)], None])
    np.testing.assert_array_equal(Nodes(5).check([4, 0]), [4, 0])
    np.testing.assert_array_equal(Nodes(5).check(np.array([[4.0], [0.0]])), [4, 0])
    for bad in ([5], [-1], [0.5], ["a"]):
        with pytest.raises(DataError, match="Row 0 is"):
            Nodes(5).check(bad)
    assert Anything().check((1, 2)) == [1, 2]
    with pytest.raises(DataError, match="put it in a list"):
        Anything().check("abc")


def test_representations() -> None:
    ragged = Ragged.of([[1.0], [], [2.0, 3.0]])
    rep = (X[:3], (["a", "b", "c"], ragged), sparse.csr_array(X[:3]))
    assert size(rep) == 3
    for rows in (slice(1, 3), np.array([1, 2])):
        a, (b, c), d = take(rep, rows)
        np.testing.assert_array_equal(a, X[1:3])
        assert b == ["b", "c"]
        assert [list(r) for r in (c[0], c[1])] == [[], [2.0, 3.0]]
        np.testing.assert_array_equal(d.toarray(), X[1:3])
    assert chunks(5, 2) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert chunks(0, 2) == []


def test_columns_of_tables() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0], "dna": ["ac", "gt"]})
    assert select(frame, "dna").to_list() == ["ac", "gt"]
    assert list(select(frame, ["age"]).columns) == ["age"]
    assert select(pl.from_pandas(frame), "dna").to_list() == ["ac", "gt"]
    np.testing.assert_array_equal(select(X, [0, 2]), X[:, [0, 2]])
    np.testing.assert_array_equal(select(X, -1), X[:, [2]])
    assert select(np.array([["a", 1], ["b", 2]], object), 0).tolist() == ["a", "b"]
    with pytest.raises(DataError, match=r"no column 'rna'.*'age', 'dna'"):
        select(frame, "rna")
    with pytest.raises(DataError, match="no column 3 in an array of 3 columns"):
        select(X, 3)
    with pytest.raises(DataError, match="no column 'age'"):
        select(X, "age")
