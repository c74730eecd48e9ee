"""Files that are wide, or unpack to too much."""

from __future__ import annotations

import bz2
import csv
import datetime as dt
import gzip
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

from mercer.data import DataError
from mercer.files.readers import read_table
from tests.files.written import file_of


@pytest.mark.thorough
def test_wide_lines_and_long_fields(tmp_path: Path) -> None:
    """Beyond the 131 072 characters that the csv module reads, and without changing that limit for others."""
    before = csv.field_size_limit()
    names, numbers = [f"gene_{j:05d}" for j in range(15_000)], np.random.default_rng(0).integers(0, 99, (3, 15_000))
    frame = read_table(
        file_of(tmp_path, "\n".join([",".join(names), *(",".join(map(str, row)) for row in numbers.tolist())]))
    )
    assert frame.columns == names
    np.testing.assert_array_equal(frame.to_numpy(), numbers)
    chromosome = "ACGT" * 100_000
    for text in (
        f"id,sequence\n1,{chromosome}\n2,AC\n",
        f'id,sequence\n1,"{chromosome}"\n2,"A,C"\n',
        f'id,sequence\n1,"{chromosome}\n"\n2,"A,C"\n',
    ):
        assert read_table(file_of(tmp_path, text))["sequence"][0] == chromosome
    assert csv.field_size_limit() == before


@pytest.mark.thorough
def test_no_quotes_take_long(tmp_path: Path) -> None:
    """Work that grows with the square of the length would be hours here."""
    for text, shape in (
        ('"a\n' * 500_000, (500_000, 1)),
        ('x\n"' * 500_000, (500_000, 1)),
        ("\n" * 1_100_000 + "a,b\n1,2\n", (1, 2)),
    ):
        assert read_table(file_of(tmp_path, text)).shape == shape
    for text, refusal in (
        ('"' * 2_000_001, "a header but no rows"),
        (' "' * 500_000, "a header but no rows"),
        ('"",\n"' * 300_000, "line 300000 has 1 fields"),
    ):
        with pytest.raises(DataError, match=refusal):
            read_table(file_of(tmp_path, text))


BOMB = b"0,0\n" * 2_000_000


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pack", "suffix"),
    [(gzip.compress, ".csv.gz"), (bz2.compress, ".csv.bz2"), (lzma.compress, ".csv.xz"), (bytes, ".csv")],
)
def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, pack: Any, suffix: str) -> None:
    path = file_of(tmp_path, pack(BOMB), "bomb" + suffix)
    tracemalloc.start()
    with pytest.raises(
        DataError, match=r"more than the 1 MB that may be read of one file.*max_bytes='8GB'.*--max-bytes 8GB"
    ):
        read_table(path, max_bytes="1MB")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (16_000_000 if suffix == ".csv.xz" else 4_000_000)  # xz takes 8 MB to unpack anything
    with pytest.raises(DataError, match=r"with 4000000 fields of 16 bytes"):
        read_table(path, max_bytes="10MB")
    with pytest.raises(DataError, match="'much' is not a size"):
        read_table(path, max_bytes="much")


@pytest.mark.thorough
def test_the_limit_is_an_eighth_of_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(tmp_path, gzip.compress(BOMB), "bomb.csv.gz")
    monkeypatch.setattr("mercer.data.archives.physical_memory", lambda: 8_000_000)
    with pytest.raises(DataError, match="more than the 1 MB"):
        read_table(path)
    monkeypatch.setattr("mercer.data.archives.physical_memory", lambda: 8 * 2**30)
    assert read_table(path).height == 2_000_000


@pytest.mark.thorough
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
        read_table(file_of(tmp_path, b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1", "t.parquet"))


def test_parquet_of_many_rows_in_few_bytes_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"a": pl.repeat(0, 3_000_000, dtype=pl.Int32, eager=True)}).write_parquet(tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < 500_000
    with pytest.raises(DataError, match="more than the 1 MB that may be read"):
        read_table(tmp_path / "bomb.parquet", max_bytes="1MB")
    assert read_table(tmp_path / "bomb.parquet").height == 3_000_000


@pytest.mark.thorough
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


@pytest.mark.thorough
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
