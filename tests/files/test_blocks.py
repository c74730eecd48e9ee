"""Parquet files in blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import mercer as mc
from mercer.data import DataError
from tests.files.written import file_of

RNG = np.random.default_rng(0)
FRAME = pl.DataFrame({"a": RNG.standard_normal(250), "b": RNG.standard_normal(250), "y": RNG.standard_normal(250)})


def _one(folder: Path) -> Path:
    FRAME.write_parquet(folder / "t.parquet", row_group_size=70)
    return folder / "t.parquet"


def _many(folder: Path) -> Path:
    for k, (start, stop) in enumerate([(0, 100), (100, 100), (100, 130), (130, 250)]):
        FRAME[start:stop].write_parquet(folder / f"part{k}.parquet")
    return folder


@pytest.mark.parametrize("make", [_one, _many], ids=["a file", "a folder"])
def test_blocks_are_the_table(make: object, tmp_path: Path) -> None:
    path = make(tmp_path)  # type: ignore[operator]
    X = mc.scan_parquet(path, rows=60)
    assert len(X) == 250
    assert max(len(block) for block in X) <= 60
    assert_frame_equal(pl.concat(list(X)), FRAME)
    X, y = mc.scan_parquet(str(path), target="y", rows=60)
    assert_frame_equal(pl.concat(list(X)), FRAME.drop("y"))
    np.testing.assert_array_equal(y, FRAME["y"])
    X, y = mc.scan_parquet(path, columns=["b"], target="y")
    assert X.head.columns == ["b"]
    assert_frame_equal(
        mc.scan_parquet(path, columns=["b", "a"]).take(np.array([0, 99, 130])), FRAME[[0, 99, 130]]["b", "a"]
    )


@pytest.mark.parametrize("make", [_one, _many], ids=["a file", "a folder"])
def test_learnt_from(make: object, tmp_path: Path) -> None:
    X, y = mc.scan_parquet(make(tmp_path), target="y", rows=60)  # type: ignore[operator]
    model = mc.KernelRidge(0.1, mc.Laplacian(0.5), centers=FRAME[:20].drop("y")).fit(X, y)
    memory = mc.KernelRidge(0.1, mc.Laplacian(0.5), centers=FRAME[:20].drop("y")).fit(FRAME.drop("y"), FRAME["y"])
    np.testing.assert_allclose(model.predict(X), memory.predict(FRAME.drop("y")), atol=1e-7)
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_labels(tmp_path: Path) -> None:
    frame = FRAME.with_columns(pl.Series("y", np.where(FRAME["a"] > 0, "up", "down")))
    frame.write_parquet(tmp_path / "t.parquet")
    X, y = mc.scan_parquet(tmp_path / "t.parquet", target="y", rows=60)
    model = mc.SVC(10.0, mc.Gaussian(0.5), centers=30, random_state=0).fit(X, y)
    assert set(model.classes_) == {"up", "down"}
    assert model.score(X, y) > 0.95


def test_what_cannot_be_read(tmp_path: Path) -> None:
    path = _one(tmp_path)
    with pytest.raises(DataError, match="has no column 'z'; it has 'a', 'b', 'y'"):
        mc.scan_parquet(path, columns=["a", "z"])
    with pytest.raises(DataError, match="has no column 't'"):
        mc.scan_parquet(path, target="t")
    with pytest.raises(DataError, match="There is no file"):
        mc.scan_parquet(tmp_path / "none.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no file \*\.parquet in the folder"):
        mc.scan_parquet(tmp_path / "empty")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        mc.scan_parquet(file_of(tmp_path, "a,b\n1,2\n", "fake.parquet"))


def test_a_damaged_file(tmp_path: Path) -> None:
    path = _one(tmp_path)
    data = bytearray(path.read_bytes())
    data[100:1500] = bytes(1400)  # values, not the description at the end
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"t\.parquet"):
        list(mc.scan_parquet(path, rows=60))


def test_a_damaged_target(tmp_path: Path) -> None:
    path = _one(tmp_path)
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 2] = bytes(len(data) // 2 - 4)
    path.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"t\.parquet"):
        mc.scan_parquet(path, target="y")


def test_a_folder_of_different_columns(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    FRAME.drop("b").write_parquet(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet"):
        list(mc.scan_parquet(tmp_path, columns=["a", "b"]))
    with pytest.raises(DataError, match=r"b\.parquet"):
        mc.scan_parquet(tmp_path, target="b")
