"""svmlight files, and tables that stay sparse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import mercer as mc
from mercer.data import DataError
from mercer.files.readers import read_table
from mercer.files.svmlight import SparseTable
from mercer.tabular.job import learn
from tests.files.written import file_of


@pytest.mark.parametrize("name", ["d.libsvm", "d.svm", "d.txt", "a9a", "a9a.t", "german.numer_scale"])
def test_svmlight(tmp_path: Path, name: str) -> None:
    frame = read_table(file_of(tmp_path, "# a comment\n+1 1:0.5 3:-2e1 # note\n-1 qid:7 2:1\n\n+1\n", name))
    expected = pl.DataFrame(
        {"target": [1, -1, 1], "x1": [0.5, 0.0, 0.0], "x2": [0.0, 1.0, 0.0], "x3": [-20.0, 0.0, 0.0]}
    )
    assert_frame_equal(frame, expected)


def test_svmlight_as_scikit_learn_writes_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((20, 5)) < 0.5, 0, rng.standard_normal((20, 5)))
    X[0] = 1.0
    for zero_based in (True, False):
        path = tmp_path / f"{zero_based}.svmlight"
        dump_svmlight_file(X, rng.standard_normal(20), str(path), zero_based=zero_based)
        frame = read_table(path)
        assert frame.columns[1] == ("x0" if zero_based else "x1")
        np.testing.assert_allclose(frame.drop("target").to_numpy(), X, rtol=1e-15)
        assert frame["target"].dtype == pl.Float64


def test_svmlight_features_that_are_not_mentioned_are_zero(tmp_path: Path) -> None:
    path = file_of(tmp_path, "0 1:5\n", "test.libsvm")
    assert read_table(path, columns=["x1", "x4"]).rows() == [(5.0, 0.0)]
    with pytest.raises(DataError, match="no column 'age'"):
        read_table(path, columns=["age"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n1 b:2\n", r"line 2: 'b:2' is not 'index:value'"),
        ("1 1:2\n1 3\n", r"line 2: '3' is not 'index:value'"),
        ("1 1:x\n", r"line 1: '1:x' is not"),
        ("1,2 1:5\n", r"line 1: the label '1,2' is not a number; several labels"),
        ("1 1:1 2:3 1:2\n", r"line 1: the index 1 stands there twice"),
        ("1 1:1\n1 9999999999999999999:1\n", r"line 2: .*at most 18 digits"),
        ("# nothing\n", r"has no rows"),
    ],
)
def test_svmlight_errors(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(file_of(tmp_path, text, "d.libsvm"))


def test_sparse_stays_sparse(tmp_path: Path) -> None:
    table = read_table(file_of(tmp_path, "1 1000000:1\n", "one.svm"))
    assert isinstance(table, SparseTable)
    assert (table.X.shape, table.X.nnz, table.indices.tolist(), table.target.tolist()) == ((1, 1), 1, [1_000_000], [1])
    far = read_table(file_of(tmp_path, "1 999999999999999999:1 3:2\n-1 2:5\n", "far.svm"))
    assert far.X.toarray().tolist() == [[0, 2, 1], [5, 0, 0]]
    assert far.indices.tolist() == [2, 3, 999_999_999_999_999_999]


@pytest.mark.thorough
def test_a_sparse_table_is_what_scikit_learn_reads(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = sparse.csr_array(
        (
            rng.standard_normal(2000),
            (rng.integers(0, 60, 2000, np.int32), rng.permutation(20_000)[:2000].astype(np.int32)),
        ),
        shape=(60, 20_000),
    )
    y = rng.standard_normal(60)
    dump_svmlight_file(X, y, str(tmp_path / "d.svm"), zero_based=False)
    table = read_table(tmp_path / "d.svm")
    expected, target = load_svmlight_file(str(tmp_path / "d.svm"), n_features=20_000, zero_based=False)
    assert isinstance(table, SparseTable)
    assert (table.on(np.arange(1, 20_001)) != sparse.csr_array(expected)).nnz == 0
    np.testing.assert_array_equal(table.target, target)
    assert table.frame(["x7", "target", "x19999"])["x7"].to_list() == expected[:, 6].toarray().ravel().tolist()
    assert table.frame().width == table.width + 1 == int(table.indices[-1]) + 1
    assert isinstance(read_table(tmp_path / "d.svm", sparse=False), pl.DataFrame)
    with pytest.raises(DataError, match="with every zero written out"):
        read_table(tmp_path / "d.svm", sparse=False, max_bytes="1MB")


def test_which_form_suits(tmp_path: Path) -> None:
    narrow = file_of(tmp_path, "1 1:1 2:3\n-1 3:1\n", "narrow.svm")
    assert isinstance(read_table(narrow), pl.DataFrame)
    table = read_table(narrow, sparse=True)
    assert isinstance(table, SparseTable)
    assert_frame_equal(table.frame(), read_table(narrow))
    many_zeros = file_of(tmp_path, "1 1:1\n-1 9000:1\n" * 2000, "zeros.svm")
    assert isinstance(read_table(many_zeros), SparseTable)


@pytest.mark.thorough
def test_sparse_all_the_way_to_a_fit(tmp_path: Path) -> None:
    """A table that would take 8 TB with its zeros: read, learnt from, saved, read again, predicted."""
    rng = np.random.default_rng(0)

    def text(n: int) -> str:
        lines = []
        for _ in range(n):
            label, words = rng.choice([-1, 1]), np.unique(rng.integers(1, 10**9, 20))
            lines.append(f"{label} " + " ".join(f"{j}:1" for j in [*words, *([10**9 + 1] if label > 0 else [])]))
        return "\n".join(lines) + "\n"

    train, test = (read_table(file_of(tmp_path, text(n), f"{n}.svm")) for n in (1000, 50))
    assert isinstance(train, SparseTable)
    machine = mc.SVC(kernel=mc.Linear()).fit(train.X, train.target)
    assert machine.score(test.on(train.indices), test.target) > 0.95
    model = learn(train, "target", seconds=3)
    mc.save(model, tmp_path / "m.mercer")
    again = mc.load(tmp_path / "m.mercer")
    assert again.score(test) > 0.95
    np.testing.assert_array_equal(again.predict(test), model.predict(test))
    with pytest.raises(DataError, match="what stands first in a line is called 'target'"):
        learn(train, "x1", seconds=1)


@pytest.mark.slow
def test_a_model_of_a_table_takes_later_tables_in_either_form(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = np.where(rng.random((80, 6)) < 0.4, 0.0, rng.standard_normal((80, 6)))
    y = np.where(X[:, 0] + X[:, 3] > 0, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "d.svm"), zero_based=False)
    frame, table = read_table(tmp_path / "d.svm"), read_table(tmp_path / "d.svm", sparse=True)
    for trained in (learn(frame, "target", seconds=2), learn(table, "target", seconds=2)):
        np.testing.assert_array_equal(trained.predict(frame), trained.predict(table))
        # not all columns, and one that is new
        few = read_table(file_of(tmp_path, "0 1:1\n0 2:3 77:5\n", "few.svm"), sparse=True)
        assert len(trained.predict(few)) == 2
        assert trained.prepared(few)[1] == ["x77"]
