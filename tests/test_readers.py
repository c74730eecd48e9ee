from __future__ import annotations

import bz2
import contextlib
import csv
import datetime as dt
import gzip
import io
import lzma
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import mercer as mc
from mercer.app.job import learn
from mercer.data import DataError
from mercer.files.delimited import MISSING, _cells
from mercer.files.readers import read_table, write_table
from mercer.files.svmlight import SparseTable


def _written(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoted", [False, True])
def test_delimiters_line_ends_and_quotes(tmp_path: Path, delimiter: str, end: str, quoted: bool) -> None:
    town = '"Aachen"' if quoted else "Aachen"
    lines = [["age", "town", "smoker"], ["31", town, "true"], ["", "Köln", "False"], ["7", "?", "TRUE"]]
    frame = read_table(_written(tmp_path, end.join(delimiter.join(line) for line in lines) + end))
    expected = pl.DataFrame({"age": [31, None, 7], "town": ["Aachen", "Köln", None], "smoker": [True, False, True]})
    assert_frame_equal(frame, expected)


def test_delimiters_inside_quotes_and_other_delimiters_inside_fields(tmp_path: Path) -> None:
    frame = read_table(
        _written(tmp_path, 'name,price\n"Smith, J.",1.5\n"said ""no""; left",2\n"two\nlines",3\n5" pipe,4\n')
    )
    assert frame["name"].to_list() == ["Smith, J.", 'said "no"; left', "two\nlines", '5" pipe']
    frame = read_table(_written(tmp_path, "id;text\n1;a, b, c\n2;d, e, f\n"))
    assert frame["text"].to_list() == ["a, b, c", "d, e, f"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    frame = read_table(_written(tmp_path, "größe,n\nklein,1\ngroß,2\n".encode(encoding)))
    assert_frame_equal(frame, pl.DataFrame({"größe": ["klein", "groß"], "n": [1, 2]}))


def test_latin_1_is_refused_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 3: byte 0xdf is not UTF-8; save it again as UTF-8"):
        read_table(_written(tmp_path, "a,b\nx,1\ngroß,2\n".encode("latin-1")))


@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")])
def test_compressed(tmp_path: Path, pack: Any, suffix: str) -> None:
    content = pack(b"a,b\n1,2\n")
    assert read_table(_written(tmp_path, content, "table.csv" + suffix)).rows() == [(1, 2)]
    # packed though the name does not say so
    assert read_table(_written(tmp_path, content, "table.csv")).rows() == [(1, 2)]
    assert read_table(_written(tmp_path, pack(b"1 2:0.5\n-1 1:2\n"), "a1a" + suffix)).columns == ["target", "x1", "x2"]
    with pytest.raises(DataError, match="damaged or cut off"):
        read_table(_written(tmp_path, content[:-6], "table.csv" + suffix))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n", ["a", "b"]),
        ("1,2\n3,4\n", ["column_1", "column_2"]),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", ["column_1", "column_2", "column_3"]),
        ("?,x\n3,y\n", ["column_1", "column_2"]),
        ("cap,odour\nx,p\nb,a\n", ["cap", "odour"]),
        ("x,p\nb,a\nx,n\n", ["column_1", "column_2"]),  # all text, found again below: data
        (",a,b\n0,1,2\n1,3,4\n", ["index", "a", "b"]),
        ("a,b,\n1,2,\n3,4,\n", ["a", "b"]),
        ("a,,c\n1,2,3\n", ["a", "column_2", "c"]),
        ("country,2001\nFrance,5.5\nSpain,3.5\n", ["column_1", "column_2"]),
        ("name,age\n,1\n,2\n", ["name", "age"]),
    ],
)
def test_headers(tmp_path: Path, text: str, names: list[str]) -> None:
    frame = read_table(_written(tmp_path, text))
    assert frame.columns == names
    assert frame.height == text.count("\n") - (not names[0].startswith("column"))


def test_missing_values_and_types(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{token},{token},text" for i, token in enumerate(MISSING))
    frame = read_table(_written(tmp_path, f"i,number,nothing,text\n{rows}\n99, 2.5 ,, x\n"))
    assert frame["number"].to_list() == [None] * len(MISSING) + [2.5]
    assert frame["nothing"].null_count() == frame.height
    assert frame.schema == {"i": pl.Int64, "number": pl.Float64, "nothing": pl.Float64, "text": pl.String}
    frame = read_table(
        _written(tmp_path, "day,moment,large,mixed\n2024-02-29,2024-02-29 12:30:00,99999999999999999999,1\n?,?,1,a\n")
    )
    assert frame.row(0) == (dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30), 1e20, "1")
    assert frame.row(1) == (None, None, 1.0, "a")
    frame = read_table(_written(tmp_path, "a,b\n1e3,inf\n-.5,+2\n"))
    assert frame.rows() == [(1000.0, float("inf")), (-0.5, 2.0)]


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    assert read_table(_written(tmp_path, "\na,b\n\n1,2\n\n")).rows() == [(1, 2)]
    assert read_table(_written(tmp_path, '\na,b\n\n"1",2\n\n')).rows() == [(1, 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"is empty"),
        (" \n\n", r"only blank lines"),
        ('""\n" "\n', r"only blank lines"),
        ("a,b\n", r"has a header but no rows"),
        ("5.1 3.5 1\n4.9 3.0 0\n", r"separated by blanks"),
        ("a,b\n1,2\n\n3\n", r"line 4 has 1 fields, the first line has 2"),
        ("a,b\n1,2\n1,2,3\n", r"line 3 has 3 fields, the first line has 2"),
        ('a,b\n"x\ny",2\n1,2,3\n', r"line 4 has 3 fields, the first line has 2"),
        ("a,b,a\n1,2,3\n", r"columns 1 and 3 are all named 'a'"),
        ("a;b\nx;1,5\ny;2\n", r"row 0, column 'b' is '1,5'.*Decimal commas.*decimal points"),
        ('a,b\nx,"12,345"\n', r"Decimal commas and separators of thousands"),
        ("1,5;2,5\n3,5;4,5\n", r"Decimal commas"),
        ("a,b\n1,\0\n", r"is not text"),
    ],
)
def test_errors_name_the_place_and_the_cure(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(_written(tmp_path, text))


def test_errors_of_paths(tmp_path: Path) -> None:
    _written(tmp_path, "a,b\n1,2\n", "iris.csv")
    with pytest.raises(DataError, match=r"There is no file .*iris\.cvs|is not a kind of table"):
        read_table(tmp_path / "iris.cvs")
    with pytest.raises(DataError, match=r"There is no file .*irs\.csv. Did you mean 'iris\.csv'"):
        read_table(tmp_path / "irs.csv")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_table(folder)
    with pytest.raises(DataError, match=r"'\.xlsx' is not a kind of table.*\.csv, \.tsv.*\.parquet"):
        read_table(_written(tmp_path, "x", "book.xlsx"))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _written(tmp_path, "a,b\n1,2\n")
    monkeypatch.setattr("os.access", lambda *_: False)  # root may read everything
    with pytest.raises(DataError, match="may not be read"):
        read_table(path)


def test_columns_are_chosen_in_order(tmp_path: Path) -> None:
    path = _written(tmp_path, "age,town,size\n1,x,3\n")
    assert read_table(path, columns=["size", "age"]).rows() == [(3, 1)]
    with pytest.raises(
        DataError, match=r"no column 'sice'; its columns are 'age', 'town', 'size'. Did you mean 'size'"
    ):
        read_table(path, columns=["sice"])


@pytest.mark.parametrize("name", ["d.txt", "d.data", "d", "d.csv"])
def test_unspecific_names_are_looked_into(tmp_path: Path, name: str) -> None:
    assert read_table(_written(tmp_path, "a|b\n1|2\n", name)).rows() == [(1, 2)]


# -- svmlight ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["d.libsvm", "d.svm", "d.txt", "a9a", "a9a.t", "german.numer_scale"])
def test_svmlight(tmp_path: Path, name: str) -> None:
    frame = read_table(_written(tmp_path, "# a comment\n+1 1:0.5 3:-2e1 # note\n-1 qid:7 2:1\n\n+1\n", name))
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
    path = _written(tmp_path, "0 1:5\n", "test.libsvm")
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
        read_table(_written(tmp_path, text, "d.libsvm"))


# -- Parquet and NPZ --------------------------------------------------------------------------------------------------


def test_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": ["x", "NA"], "c": [0.1, float("nan")]})
    frame.write_parquet(tmp_path / "t.parquet")
    assert_frame_equal(read_table(tmp_path / "t.parquet"), frame)
    assert read_table(tmp_path / "t.parquet", columns=["b"]).columns == ["b"]
    frame.clear().write_parquet(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="no rows"):
        read_table(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_table(_written(tmp_path, "a,b\n1,2\n", "fake.parquet"))


def test_npz(tmp_path: Path) -> None:
    X = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "a.npz", X=X, y=np.array([0, 1, 0]))
    assert_frame_equal(
        read_table(tmp_path / "a.npz"), pl.DataFrame({"x1": X[:, 0], "x2": X[:, 1], "target": [0, 1, 0]})
    )
    np.savez_compressed(
        tmp_path / "b.npz", age=np.array([1, 2]), name=np.array(["p", "q"]), pixel=np.zeros((2, 3), np.float16)
    )
    frame = read_table(tmp_path / "b.npz")
    assert frame.columns == ["age", "name", "pixel_1", "pixel_2", "pixel_3"]
    assert frame["name"].to_list() == ["p", "q"]
    np.savez(
        tmp_path / "d.npz",
        X=X,
        y=np.zeros(3),
        columns=np.array(["age", "size"]),
        X_test=np.ones((5, 2)),
        weight=np.ones(3),
        k=np.array(3),
    )
    assert read_table(tmp_path / "d.npz").columns == ["age", "size", "target", "weight"]
    np.savez(tmp_path / "c.npz", X=np.array([1.0, 2.0]), y=np.array([[1], [2]]))
    assert read_table(tmp_path / "c.npz").columns == ["x1", "target"]


def test_npz_errors(tmp_path: Path) -> None:
    np.savez(tmp_path / "o.npz", X=np.array([1, "a"], object))
    with pytest.raises(DataError, match=r"array 'X' cannot be read: Object arrays.*astype"):
        read_table(tmp_path / "o.npz")
    np.savez(tmp_path / "m.npz", X=np.ones((3, 2)), y=np.ones(2))
    with pytest.raises(DataError, match=r"same length; found X \(3, 2\), y \(2,\)"):
        read_table(tmp_path / "m.npz")
    np.savez(tmp_path / "l.npz", age=np.ones((3, 2)), y=np.ones(2))
    with pytest.raises(DataError, match=r"same length; found age \(3, 2\), y \(2,\)"):
        read_table(tmp_path / "l.npz")
    np.savez(tmp_path / "d.npz", X=np.ones((3, 2, 1)))
    with pytest.raises(DataError, match="1-D or 2-D"):
        read_table(tmp_path / "d.npz")
    np.savez(tmp_path / "c.npz", X=np.ones((3, 2)) * 1j)
    with pytest.raises(DataError, match="complex128"):
        read_table(tmp_path / "c.npz")
    np.savez(tmp_path / "t.npz", X=np.ones((3, 2)), x1=np.ones(3))
    with pytest.raises(DataError, match="two arrays give a column 'x1'"):
        read_table(tmp_path / "t.npz")
    with pytest.raises(DataError, match="is not an NPZ file"):
        read_table(_written(tmp_path, "a,b\n1,2\n", "fake.npz"))
    np.save(tmp_path / "p.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(DataError, match="is not an NPZ file"):  # a pickle under a false name
        read_table((tmp_path / "p.npy").rename(tmp_path / "p.npz"))


# -- writing ----------------------------------------------------------------------------------------------------------


def test_writing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"prediction": ["yes", "no"], "probability": [0.1 + 0.2, 1e-300]})
    assert write_table(frame) == "prediction,probability\nyes,0.30000000000000004\nno,1e-300\n"
    for name in ("p.csv", "p.tsv", "p.parquet"):
        assert write_table(frame, tmp_path / name) is None
        assert_frame_equal(read_table(tmp_path / name), frame, check_exact=True)
    with pytest.raises(DataError, match=r"a table is written as \.csv"):
        write_table(frame, tmp_path / "p.xlsx")
    with pytest.raises(DataError, match="there is no folder"):
        write_table(frame, tmp_path / "none" / "p.csv")


_numbers = st.floats(allow_nan=False, width=64)
_words = st.text("abcXYZ,;|\t\n\"' é0", min_size=1, max_size=8).map(str.strip).filter(lambda w: w not in MISSING)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(
            st.none() | _numbers, st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | _words, st.booleans()
        ),
        min_size=1,
    ),
    name=st.sampled_from(["t.csv", "t.tsv"]),
)
def test_what_is_written_reads_back_the_same(tmp_path: Path, rows: list[Any], name: str) -> None:
    schema = {"real": pl.Float64, "whole": pl.Int64, "word": pl.String, "flag": pl.Boolean}
    # the last row fixes what each column is
    frame = pl.DataFrame([*rows, (0.5, 1, "a word", True)], schema=schema, orient="row")
    write_table(frame, tmp_path / name)
    assert_frame_equal(read_table(tmp_path / name), frame, check_exact=True)


@given(
    st.lists(st.lists(st.text("ab1.-,;\"\n '", max_size=5), min_size=3, max_size=3), min_size=1, max_size=12),
    st.sampled_from(",;"),
)
def test_records_are_those_of_the_standard_library(rows: list[list[str]], delimiter: str) -> None:
    """Of what csv writes, the cells are those that csv reads."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([["p", "q", "r"], *rows])
    expected = [tuple(record) for record in csv.reader(io.StringIO(out.getvalue()), delimiter=delimiter)]
    cells, width = _cells(out.getvalue(), delimiter, Path("table.csv"))
    assert (cells.to_list(), width) == ([field for record in expected for field in record], 3)


def test_quotes_that_do_not_enclose_a_field_are_characters(tmp_path: Path) -> None:
    frame = read_table(
        _written(tmp_path, 'text,n\n"Good" film,1\n"never closed,2\nsaid "so",3\n"a ""b"" c" ,4\n""x"",5\n')
    )
    assert frame["text"].to_list() == ['"Good" film', '"never closed', 'said "so"', 'a "b" c', '""x""']


def test_names_that_are_patterns_to_polars(tmp_path: Path) -> None:
    path = _written(tmp_path, "*,^a.*$,a,ab\n1,x,2024-02-29,0.5\n2,y,2024-03-01,1.5\n")
    assert read_table(path).columns == ["*", "^a.*$", "a", "ab"]
    assert read_table(path, columns=["^a.*$", "*"]).rows() == [("x", 1), ("y", 2)]


def test_messages_are_short_whatever_the_names_are(tmp_path: Path) -> None:
    name, value = "n" * 100_000, "1," * 50_000 + "1"
    for text in (f"{name};{name}\n1;2\n", f"a;{name}\n1;{value}\n2;1,5\n"):
        with pytest.raises(DataError) as caught:
            read_table(_written(tmp_path, text))
        assert len(str(caught.value)) < 600
    with pytest.raises(DataError) as caught:
        read_table(_written(tmp_path, f"a;{name}\n1;2\n"), columns=["b"])
    assert len(str(caught.value)) < 600


# -- size -------------------------------------------------------------------------------------------------------------


def test_wide_lines_and_long_fields(tmp_path: Path) -> None:
    """Beyond the 131 072 characters that the csv module reads, and without changing that limit for others."""
    before = csv.field_size_limit()
    names, numbers = [f"gene_{j:05d}" for j in range(15_000)], np.random.default_rng(0).integers(0, 99, (3, 15_000))
    frame = read_table(
        _written(tmp_path, "\n".join([",".join(names), *(",".join(map(str, row)) for row in numbers.tolist())]))
    )
    assert frame.columns == names
    np.testing.assert_array_equal(frame.to_numpy(), numbers)
    chromosome = "ACGT" * 100_000
    for text in (
        f"id,sequence\n1,{chromosome}\n2,AC\n",
        f'id,sequence\n1,"{chromosome}"\n2,"A,C"\n',
        f'id,sequence\n1,"{chromosome}\n"\n2,"A,C"\n',
    ):
        assert read_table(_written(tmp_path, text))["sequence"][0] == chromosome
    assert csv.field_size_limit() == before


def test_no_quotes_take_long(tmp_path: Path) -> None:
    """Work that grows with the square of the length would be hours here."""
    for text in (
        '"' * 2_000_001,
        '"a\n' * 500_000,
        'x\n"' * 500_000,
        "\n" * 1_100_000 + "a,b\n1,2\n",
        ' "' * 500_000,
        '"",\n"' * 300_000,
    ):
        with contextlib.suppress(DataError):
            assert read_table(_written(tmp_path, text)).height


BOMB = b"0,0\n" * 2_000_000


@pytest.mark.parametrize(
    ("pack", "suffix"),
    [(gzip.compress, ".csv.gz"), (bz2.compress, ".csv.bz2"), (lzma.compress, ".csv.xz"), (bytes, ".csv")],
)
def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, pack: Any, suffix: str) -> None:
    path = _written(tmp_path, pack(BOMB), "bomb" + suffix)
    tracemalloc.start()
    with pytest.raises(
        DataError, match=r"more than the 1 MB that may be read of one file.*max_bytes='8GB'.*--max-bytes 8GB"
    ):
        read_table(path, max_bytes="1MB")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000 or suffix == ".csv.xz"  # which takes 8 MB to unpack anything
    with pytest.raises(DataError, match=r"with 4000000 fields of 16 bytes"):
        read_table(path, max_bytes="10MB")
    with pytest.raises(DataError, match="'much' is not a size"):
        read_table(path, max_bytes="much")


def test_the_limit_is_an_eighth_of_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _written(tmp_path, gzip.compress(BOMB), "bomb.csv.gz")
    monkeypatch.setattr("mercer.data.archives.physical_memory", lambda: 8_000_000)
    with pytest.raises(DataError, match="more than the 1 MB"):
        read_table(path)
    monkeypatch.setattr("mercer.data.archives.physical_memory", lambda: 8 * 2**30)
    assert read_table(path).height == 2_000_000


def test_arrays_that_unpack_to_too_much_are_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((1000, 1000)))
    with pytest.raises(DataError, match="holds 8 MB, more than the 1 MB"):
        read_table(tmp_path / "bomb.npz", max_bytes="1MB")
    assert read_table(tmp_path / "bomb.npz").shape == (1000, 1000)


@pytest.mark.parametrize("shape", [(10**12, 10), (10**12, 0), (0, 10**12), (-1, 3)])
@pytest.mark.parametrize("descr", ["<f8", "<U0", "|V0", "<U100000000"])
def test_arrays_that_declare_what_is_not_there_are_refused(tmp_path: Path, shape: tuple[int, ...], descr: str) -> None:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", content)
    with pytest.raises(DataError):
        read_table(tmp_path / "a.npz")


@pytest.mark.parametrize("code", [0x110000, 0xFFFFFFFF, 0xD800])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("name", ["columns", "town"])
def test_texts_of_what_are_no_characters_are_refused(tmp_path: Path, code: int, order: str, name: str) -> None:
    texts = np.array([code, 97], f"{order}u4").view(f"{order}U1")
    np.savez(tmp_path / "a.npz", **{"X": np.ones((2, 2)), name: texts})
    with pytest.raises(DataError, match=r"character|cannot be read"):
        read_table(tmp_path / "a.npz")


@pytest.mark.parametrize(
    "footer", [b"\x19" * 5001, b"\x49\x1c\x19\x19\x19\x15\x00\x00\x00", b"\x45\x02\x00", b"\x00", b""]
)
def test_a_description_of_something_else_is_refused(tmp_path: Path, footer: bytes) -> None:
    """Lists in lists of any depth, a field that is of another kind than it must be, nothing."""
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_table(_written(tmp_path, b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1", "t.parquet"))


def test_parquet_of_many_rows_in_few_bytes_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"a": pl.repeat(0, 3_000_000, dtype=pl.Int32, eager=True)}).write_parquet(tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 500_000
    with pytest.raises(DataError, match="more than the 1 MB that may be read"):
        read_table(tmp_path / "bomb.parquet", max_bytes="1MB")
    assert read_table(tmp_path / "bomb.parquet").height == 3_000_000


@pytest.mark.parametrize(
    "options",
    [{}, {"compression": "snappy", "row_group_size": 7}, {"use_pyarrow": True}, {"compression": "uncompressed"}],
    ids=str,
)
def test_parquet_files_of_every_kind_pass_the_check(tmp_path: Path, options: dict[str, Any]) -> None:
    n = 50
    frame = pl.DataFrame(
        {
            "whole": range(n),
            "none": pl.Series([None] * n, dtype=pl.Float64),
            "text": ["x" * i for i in range(n)],
            "flag": [True, None] * (n // 2),
            "lists": [[1, 2], []] * (n // 2),
            "day": [dt.date(2024, 2, 29)] * n,
            "struct": [{"a": 1, "b": None}] * n,
            "kind": pl.Series(["a", "b"] * (n // 2), dtype=pl.Categorical),
        }
    )
    frame.write_parquet(tmp_path / "t.parquet", **options)
    found = read_table(tmp_path / "t.parquet")
    assert found.drop("kind").equals(frame.drop("kind"))
    pq.write_table(
        pa.table({"a": list(range(n)), "s": ["x"] * n}),
        tmp_path / "v2.parquet",
        data_page_version="2.0",
        data_page_size=64,
    )
    assert read_table(tmp_path / "v2.parquet").shape == (n, 2)


def test_parquet_with_a_negative_number_of_values_is_refused(tmp_path: Path) -> None:
    """One bit in the heading of a page; in its own process, for a reader that takes memory for so many values ends
    it.
    """
    pl.DataFrame({"a": [1, None, 3] * 40}).write_parquet(
        tmp_path / "t.parquet", compression="uncompressed", statistics=False
    )
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    # a field of 32 bits: 120 values
    place = next(i for i in range(4, len(content)) if bytes(content[i : i + 3]) == b"\x15\xf0\x01")
    content[place + 1] ^= 1
    (tmp_path / "t.parquet").write_bytes(content)
    code = (
        f"import mercer as mc\ntry:\n    mc.read_table({str(tmp_path / 't.parquet')!r})\nexcept mc.DataError as"
        " error:\n    print('refused', error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("refused"), done.stderr[-500:]


# -- sparse -----------------------------------------------------------------------------------------------------------


def test_sparse_stays_sparse(tmp_path: Path) -> None:
    table = read_table(_written(tmp_path, "1 1000000:1\n", "one.svm"))
    assert isinstance(table, SparseTable)
    assert (table.X.shape, table.X.nnz, table.indices.tolist(), table.target.tolist()) == ((1, 1), 1, [1_000_000], [1])
    far = read_table(_written(tmp_path, "1 999999999999999999:1 3:2\n-1 2:5\n", "far.svm"))
    assert far.X.toarray().tolist() == [[0, 2, 1], [5, 0, 0]]
    assert far.indices.tolist() == [2, 3, 999_999_999_999_999_999]


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
    narrow = _written(tmp_path, "1 1:1 2:3\n-1 3:1\n", "narrow.svm")
    assert isinstance(read_table(narrow), pl.DataFrame)
    table = read_table(narrow, sparse=True)
    assert isinstance(table, SparseTable)
    assert_frame_equal(table.frame(), read_table(narrow))
    many_zeros = _written(tmp_path, "1 1:1\n-1 9000:1\n" * 2000, "zeros.svm")
    assert isinstance(read_table(many_zeros), SparseTable)


def test_sparse_all_the_way_to_a_fit(tmp_path: Path) -> None:
    """A table that would take 8 TB with its zeros: read, learnt from, saved, read again, predicted."""
    rng = np.random.default_rng(0)

    def text(n: int) -> str:
        lines = []
        for _ in range(n):
            label, words = rng.choice([-1, 1]), np.unique(rng.integers(1, 10**9, 20))
            lines.append(f"{label} " + " ".join(f"{j}:1" for j in [*words, *([10**9 + 1] if label > 0 else [])]))
        return "\n".join(lines) + "\n"

    train, test = (read_table(_written(tmp_path, text(n), f"{n}.svm")) for n in (1000, 50))
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


def test_a_model_of_a_table_takes_later_tables_in_either_form(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = np.where(rng.random((80, 6)) < 0.4, 0.0, rng.standard_normal((80, 6)))
    y = np.where(X[:, 0] + X[:, 3] > 0, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "d.svm"), zero_based=False)
    frame, table = read_table(tmp_path / "d.svm"), read_table(tmp_path / "d.svm", sparse=True)
    for trained in (learn(frame, "target", seconds=2), learn(table, "target", seconds=2)):
        np.testing.assert_array_equal(trained.predict(frame), trained.predict(table))
        # not all columns, and one that is new
        few = read_table(_written(tmp_path, "0 1:1\n0 2:3 77:5\n", "few.svm"), sparse=True)
        assert len(trained.predict(few)) == 2
        assert trained.prepared(few)[1] == ["x77"]


# -- one column -------------------------------------------------------------------------------------------------------


def test_files_of_one_column(tmp_path: Path) -> None:
    assert read_table(_written(tmp_path, "a\n1\n2\n")).rows() == [(1,), (2,)]
    assert read_table(_written(tmp_path, "smiles\nCCO\nc1ccccc1\n", "m.txt")).columns == ["smiles"]
    text = 'Good, really\n"quoted, ""text"""\n\n"not" quoted\nplain\n'
    values = ["Good, really", 'quoted, "text"', None, '"not" quoted', "plain"]
    for header in ("review\n", "REVIEW\n", ""):
        assert read_table(_written(tmp_path, header + text, "m.txt"), lines="review")["review"].to_list() == values


def test_importing_mercer_does_not_import_polars() -> None:
    code = "import sys, mercer; mercer.Gaussian; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_fasta(tmp_path: Path) -> None:
    text = ">seq1 a gene\nACGT\nac gt\n\n; a remark\n>0\n\n>last  of all\nTTT\n"
    path = tmp_path / "genes.fasta.gz"
    path.write_bytes(gzip.compress(text.encode()))
    frame = read_table(path)
    assert frame.columns == ["id", "description", "sequence"]
    assert frame.rows() == [("seq1", "a gene", "ACGTacgt"), ("0", "", ""), ("last", "of all", "TTT")]
    (tmp_path / "no.fa").write_text("ACGT\n")
    with pytest.raises(DataError, match="line 1: a FASTA file begins"):
        read_table(tmp_path / "no.fa")
    (tmp_path / "empty.fna").write_text("; nothing\n")
    with pytest.raises(DataError, match="no records"):
        read_table(tmp_path / "empty.fna")
