from __future__ import annotations

import bz2
import datetime as dt
import gzip
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from sklearn.datasets import dump_svmlight_file

from mercer.data import DataError
from mercer.readers import MISSING, read_table, write_table


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
    frame = read_table(_written(tmp_path, 'name,price\n"Smith, J.",1.5\n"said ""no""; left",2\n"two\nlines",3\n5" pipe,4\n'))
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
    assert read_table(_written(tmp_path, content, "table.csv")).rows() == [(1, 2)]  # packed though the name does not say so
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
    frame = read_table(_written(tmp_path, "day,moment,large,mixed\n2024-02-29,2024-02-29 12:30:00,99999999999999999999,1\n?,?,1,a\n"))
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
        ("a,b\n", r"has a header but no rows"),
        ("a\n1\n2\n", r"only one column, whichever delimiter is tried \(tab, semicolon, bar, comma\)"),
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


def test_columns_are_chosen_in_order(tmp_path: Path) -> None:
    path = _written(tmp_path, "age,town,size\n1,x,3\n")
    assert read_table(path, columns=["size", "age"]).rows() == [(3, 1)]
    with pytest.raises(DataError, match=r"no column 'sice'; its columns are 'age', 'town', 'size'. Did you mean 'size'"):
        read_table(path, columns=["sice"])


@pytest.mark.parametrize("name", ["d.txt", "d.data", "d", "d.csv"])
def test_unspecific_names_are_looked_into(tmp_path: Path, name: str) -> None:
    assert read_table(_written(tmp_path, "a|b\n1|2\n", name)).rows() == [(1, 2)]


# -- svmlight ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["d.libsvm", "d.svm", "d.txt", "a9a", "a9a.t", "german.numer_scale"])
def test_svmlight(tmp_path: Path, name: str) -> None:
    frame = read_table(_written(tmp_path, "# a comment\n+1 1:0.5 3:-2e1 # note\n-1 qid:7 2:1\n\n+1\n", name))
    expected = pl.DataFrame({"target": [1, -1, 1], "x1": [0.5, 0.0, 0.0], "x2": [0.0, 1.0, 0.0], "x3": [-20.0, 0.0, 0.0]})
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
        ("1 1:1\n1 999999999:1\n", r"too many for a table.*load_svmlight_file"),
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
    assert_frame_equal(read_table(tmp_path / "a.npz"), pl.DataFrame({"x1": X[:, 0], "x2": X[:, 1], "target": [0, 1, 0]}))
    np.savez_compressed(tmp_path / "b.npz", age=np.array([1, 2]), name=np.array(["p", "q"]), pixel=np.zeros((2, 3), np.float16))
    frame = read_table(tmp_path / "b.npz")
    assert frame.columns == ["age", "name", "pixel_1", "pixel_2", "pixel_3"]
    assert frame["name"].to_list() == ["p", "q"]
    np.savez(tmp_path / "d.npz", X=X, y=np.zeros(3), columns=np.array(["age", "size"]), X_test=np.ones((5, 2)), weight=np.ones(3), k=np.array(3))
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
    rows=st.lists(st.tuples(st.none() | _numbers, st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | _words, st.booleans()), min_size=1),
    name=st.sampled_from(["t.csv", "t.tsv"]),
)
def test_what_is_written_reads_back_the_same(tmp_path: Path, rows: list[Any], name: str) -> None:
    schema = {"real": pl.Float64, "whole": pl.Int64, "word": pl.String, "flag": pl.Boolean}
    frame = pl.DataFrame([*rows, (0.5, 1, "a word", True)], schema=schema, orient="row")  # the last row fixes what each column is
    write_table(frame, tmp_path / name)
    assert_frame_equal(read_table(tmp_path / name), frame, check_exact=True)


@given(st.lists(st.lists(st.text("ab1.-", max_size=4), min_size=3, max_size=3), min_size=1, max_size=12))
def test_lines_split_alike_with_and_without_quotes(rows: list[list[str]]) -> None:
    from mercer.readers import _bare_cells, _quoted_cells

    text = "\n".join(",".join(row) for row in [["p", "q", "r"], *rows])
    place = Path("table.csv")
    bare, quoted = _bare_cells(text, ",", place), _quoted_cells(text, ",", place)
    assert bare.rows() == quoted.rows()


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
