"""Delimited text, lines and FASTA: what is read, what is written, what is refused."""

from __future__ import annotations

import bz2
import csv
import datetime as dt
import gzip
import io
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from mercer.data import DataError
from mercer.files.delimited import MISSING, _cells
from mercer.files.readers import read_table, write_table
from tests.files.written import file_of


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoted", [False, True])
def test_delimiters_line_ends_and_quotes(tmp_path: Path, delimiter: str, end: str, quoted: bool) -> None:
    town = '"Aachen"' if quoted else "Aachen"
    lines = [["age", "town", "smoker"], ["31", town, "true"], ["", "Köln", "False"], ["7", "?", "TRUE"]]
    frame = read_table(file_of(tmp_path, end.join(delimiter.join(line) for line in lines) + end))
    expected = pl.DataFrame({"age": [31, None, 7], "town": ["Aachen", "Köln", None], "smoker": [True, False, True]})
    assert_frame_equal(frame, expected)


def test_delimiters_inside_quotes_and_other_delimiters_inside_fields(tmp_path: Path) -> None:
    frame = read_table(
        file_of(tmp_path, 'name,price\n"Smith, J.",1.5\n"said ""no""; left",2\n"two\nlines",3\n5" pipe,4\n')
    )
    assert frame["name"].to_list() == ["Smith, J.", 'said "no"; left', "two\nlines", '5" pipe']
    frame = read_table(file_of(tmp_path, "id;text\n1;a, b, c\n2;d, e, f\n"))
    assert frame["text"].to_list() == ["a, b, c", "d, e, f"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    frame = read_table(file_of(tmp_path, "größe,n\nklein,1\ngroß,2\n".encode(encoding)))
    assert_frame_equal(frame, pl.DataFrame({"größe": ["klein", "groß"], "n": [1, 2]}))


def test_latin_1_is_refused_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 3: byte 0xdf is not UTF-8; save it again as UTF-8"):
        read_table(file_of(tmp_path, "a,b\nx,1\ngroß,2\n".encode("latin-1")))


@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")])
def test_compressed(tmp_path: Path, pack: Any, suffix: str) -> None:
    content = pack(b"a,b\n1,2\n")
    assert read_table(file_of(tmp_path, content, "table.csv" + suffix)).rows() == [(1, 2)]
    # packed though the name does not say so
    assert read_table(file_of(tmp_path, content, "table.csv")).rows() == [(1, 2)]
    assert read_table(file_of(tmp_path, pack(b"1 2:0.5\n-1 1:2\n"), "a1a" + suffix)).columns == ["target", "x1", "x2"]
    with pytest.raises(DataError, match="damaged or cut off"):
        read_table(file_of(tmp_path, content[:-6], "table.csv" + suffix))


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
    frame = read_table(file_of(tmp_path, text))
    assert frame.columns == names
    assert frame.height == text.count("\n") - (not names[0].startswith("column"))


def test_missing_values_and_types(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{token},{token},text" for i, token in enumerate(MISSING))
    frame = read_table(file_of(tmp_path, f"i,number,nothing,text\n{rows}\n99, 2.5 ,, x\n"))
    assert frame["number"].to_list() == [None] * len(MISSING) + [2.5]
    assert frame["nothing"].null_count() == frame.height
    assert frame.schema == {"i": pl.Int64, "number": pl.Float64, "nothing": pl.Float64, "text": pl.String}
    frame = read_table(
        file_of(tmp_path, "day,moment,large,mixed\n2024-02-29,2024-02-29 12:30:00,99999999999999999999,1\n?,?,1,a\n")
    )
    assert frame.row(0) == (dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30), 1e20, "1")
    assert frame.row(1) == (None, None, 1.0, "a")
    frame = read_table(file_of(tmp_path, "a,b\n1e3,inf\n-.5,+2\n"))
    assert frame.rows() == [(1000.0, float("inf")), (-0.5, 2.0)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;b\nx;1,5\ny;2\n", [("x", 1.5), ("y", 2.0)]),
        ("1,5;2,5\n3,5;4,5\n", [(1.5, 2.5), (3.5, 4.5)]),  # a number is no header
        ("n;2,5\nm;NA\nn;-3,125\n", [("n", 2.5), ("m", None), ("n", -3.125)]),
        ("a;b\n1.234,5;1,234\n2,5;7,125\n", [(1234.5, 1.234), (2.5, 7.125)]),
        ("a;b\n1.234;1,5\n5.678;2,25\n", [(1234.0, 1.5), (5678.0, 2.25)]),  # points beside decimal commas
        ("a;b\n1.234;1\n5.678;2\n", [(1.234, 1), (5.678, 2)]),
        ("a;b\n1,234;2.5\n3,456;1.5\n", [("1,234", 2.5), ("3,456", 1.5)]),  # whatever they are, not decimal
        ("2.5;1,5\n1.234;2,5\n", [(2.5, "1,5"), (1.234, "2,5")]),
        ('a,b\nx,"12,345"\n', [("x", "12,345")]),
        ("a;b\nx;1,5\ny;unknown\n", [("x", "1,5"), ("y", "unknown")]),
        ("a,b\n$5,3.1%\n$7,4%\n", [("$5", "3.1%"), ("$7", "4%")]),
        ("a,b\n1,31.12.2024\n2,01.01.2025\n", [(1, "31.12.2024"), (2, "01.01.2025")]),
    ],
)
def test_numbers_with_commas(tmp_path: Path, text: str, rows: list[Any]) -> None:
    """Decimal between semicolons; what is in doubt stays text."""
    assert read_table(file_of(tmp_path, text)).rows() == rows


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ("NA,EU,AF,AS", ["NA", "EU", "AF", "AS"]),  # North America
        ("NA,EU,AF", [None, "EU", "AF"]),  # too few to know
        ("NA,EU,AF,Asia", [None, "EU", "AF", "Asia"]),
        ("NA,,no,low,None,null", ["NA", None, "no", "low", "None", "null"]),  # the empty cell is the gap
        ("NA,no,low", [None, "no", "low"]),
        ("None,Low,High", ["None", "Low", "High"]),
        (",".join(["None"] + ["Low"] * 19), ["None"] + ["Low"] * 19),
        (",".join(["None"] + ["Low"] * 20), [None] + ["Low"] * 20),
        (",".join(["None"] + [f"name{i}" for i in range(19)]), ["None"] + [f"name{i}" for i in range(19)]),
        (",".join(["None"] * 9 + [f"name{i}" for i in range(20)]), [None] * 9 + [f"name{i}" for i in range(20)]),
        ("?,,nan,N/A,a,b", [None, None, None, None, "a", "b"]),
        ("NA,,1,None", [None, None, 1, None]),
        ("NA,,$1,$2,None", [None, None, "$1", "$2", None]),  # numbers, only not read as such here
        ("NA,,2024-02-29", [None, None, dt.date(2024, 2, 29)]),
        ("NA,,true,false", [None, None, True, False]),
        ("NA,,yes,no", [None, None, "yes", "no"]),
    ],
)
def test_names_that_are_also_words_for_a_gap(tmp_path: Path, cells: str, values: list[Any]) -> None:
    rows = "\n".join(f"{i},{cell}" for i, cell in enumerate(cells.split(",")))
    assert read_table(file_of(tmp_path, f"i,code\n{rows}\n"))["code"].to_list() == values


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    assert read_table(file_of(tmp_path, "\na,b\n\n1,2\n\n")).rows() == [(1, 2)]
    assert read_table(file_of(tmp_path, '\na,b\n\n"1",2\n\n')).rows() == [(1, 2)]


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
        ("a,b\n1,\0\n", r"is not text"),
    ],
)
def test_errors_name_the_place_and_the_cure(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(file_of(tmp_path, text))


def test_errors_of_paths(tmp_path: Path) -> None:
    file_of(tmp_path, "a,b\n1,2\n", "iris.csv")
    with pytest.raises(DataError, match=r"There is no file .*iris\.cvs|is not a kind of table"):
        read_table(tmp_path / "iris.cvs")
    with pytest.raises(DataError, match=r"There is no file .*irs\.csv. Did you mean 'iris\.csv'"):
        read_table(tmp_path / "irs.csv")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_table(folder)
    with pytest.raises(DataError, match=r"'\.xlsx' is not a kind of table.*\.csv, \.tsv.*\.parquet"):
        read_table(file_of(tmp_path, "x", "book.xlsx"))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(tmp_path, "a,b\n1,2\n")
    monkeypatch.setattr("os.access", lambda *_: False)  # root may read everything
    with pytest.raises(DataError, match="may not be read"):
        read_table(path)


def test_columns_are_chosen_in_order(tmp_path: Path) -> None:
    path = file_of(tmp_path, "age,town,size\n1,x,3\n")
    assert read_table(path, columns=["size", "age"]).rows() == [(3, 1)]
    with pytest.raises(
        DataError, match=r"no column 'sice'; its columns are 'age', 'town', 'size'. Did you mean 'size'"
    ):
        read_table(path, columns=["sice"])


@pytest.mark.parametrize("name", ["d.txt", "d.data", "d", "d.csv"])
def test_unspecific_names_are_looked_into(tmp_path: Path, name: str) -> None:
    assert read_table(file_of(tmp_path, "a|b\n1|2\n", name)).rows() == [(1, 2)]


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


@pytest.mark.thorough
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


@pytest.mark.thorough
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
        file_of(tmp_path, 'text,n\n"Good" film,1\n"never closed,2\nsaid "so",3\n"a ""b"" c" ,4\n""x"",5\n')
    )
    assert frame["text"].to_list() == ['"Good" film', '"never closed', 'said "so"', 'a "b" c', '""x""']


def test_names_that_are_patterns_to_polars(tmp_path: Path) -> None:
    path = file_of(tmp_path, "*,^a.*$,a,ab\n1,x,2024-02-29,0.5\n2,y,2024-03-01,1.5\n")
    assert read_table(path).columns == ["*", "^a.*$", "a", "ab"]
    assert read_table(path, columns=["^a.*$", "*"]).rows() == [("x", 1), ("y", 2)]


def test_messages_are_short_whatever_the_names_are(tmp_path: Path) -> None:
    name = "n" * 100_000
    with pytest.raises(DataError) as caught:
        read_table(file_of(tmp_path, f"{name};{name}\n1;2\n"))
    assert len(str(caught.value)) < 600
    with pytest.raises(DataError) as caught:
        read_table(file_of(tmp_path, f"a;{name}\n1;2\n"), columns=["b"])
    assert len(str(caught.value)) < 600


def test_files_of_one_column(tmp_path: Path) -> None:
    assert read_table(file_of(tmp_path, "a\n1\n2\n")).rows() == [(1,), (2,)]
    assert read_table(file_of(tmp_path, "smiles\nCCO\nc1ccccc1\n", "m.txt")).columns == ["smiles"]
    text = 'Good, really\n"quoted, ""text"""\n\n"not" quoted\nplain\n'
    values = ["Good, really", 'quoted, "text"', None, '"not" quoted', "plain"]
    for header in ("review\n", "REVIEW\n", ""):
        assert read_table(file_of(tmp_path, header + text, "m.txt"), lines="review")["review"].to_list() == values


@pytest.mark.thorough
def test_importing_mercer_does_not_import_polars() -> None:
    code = "import sys, mercer; mercer.Gaussian; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_fastq(tmp_path: Path) -> None:
    text = "@r1 lane one label=1\nACGT\n+r1\n@I+I\n\n@r2 label=0\nAC\nG\n+\n!~\n!\n"
    path = tmp_path / "reads.fq.gz"
    path.write_bytes(gzip.compress(text.encode()))
    frame = read_table(path)
    assert frame.columns == ["id", "description", "sequence", "quality", "label"]
    assert frame.rows() == [("r1", "lane one", "ACGT", "@I+I", 1), ("r2", None, "ACG", "!~!", 0)]
    assert read_table(path, columns=["quality"]).rows() == [("@I+I",), ("!~!",)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (">r1\nACGT\n", "line 1: a FASTQ record begins"),
        ("@r1\nACGT\n", "line 1 has no line that starts with '\\+'.*cut the last record off"),
        ("@r1\nACGT\n+\nIII\n", "line 1 has 4 letters and 3 characters of quality"),
        ("@r1\nAC\n+\nII\nI\n", "line 5: a FASTQ record begins"),
        ("@r1\nACG\n+\nI I\n", "line 4: ' ' is no quality"),
        ("\n", "empty"),
    ],
)
def test_what_is_wrong_with_a_fastq_file(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "reads.fastq"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_table(path)


def test_fasta(tmp_path: Path) -> None:
    text = ">seq1 a gene\nACGT\nac gt\n\n; a remark\n>0\n\n>last  of all\nTTT\n"
    path = tmp_path / "genes.fasta.gz"
    path.write_bytes(gzip.compress(text.encode()))
    frame = read_table(path)
    assert frame.columns == ["id", "description", "sequence"]
    assert frame.rows() == [("seq1", "a gene", "ACGTacgt"), ("0", None, ""), ("last", "of all", "TTT")]
    (tmp_path / "no.fa").write_text("ACGT\n")
    with pytest.raises(DataError, match="line 1: a FASTA file begins"):
        read_table(tmp_path / "no.fa")
    (tmp_path / "empty.fna").write_text("; nothing\n")
    with pytest.raises(DataError, match="no records"):
        read_table(tmp_path / "empty.fna")
