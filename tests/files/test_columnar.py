"""Parquet and NPZ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from mercer.data import DataError
from mercer.files.readers import read_table
from tests.files.written import file_of


def test_parquet(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": ["x", "NA"], "c": [0.1, float("nan")]})
    frame.write_parquet(tmp_path / "t.parquet")
    assert_frame_equal(read_table(tmp_path / "t.parquet"), frame)
    assert read_table(tmp_path / "t.parquet", columns=["b"]).columns == ["b"]
    frame.clear().write_parquet(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="no rows"):
        read_table(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_table(file_of(tmp_path, "a,b\n1,2\n", "fake.parquet"))


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
        read_table(file_of(tmp_path, "a,b\n1,2\n", "fake.npz"))
    np.save(tmp_path / "p.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(DataError, match="is not an NPZ file"):  # a pickle under a false name
        read_table((tmp_path / "p.npy").rename(tmp_path / "p.npz"))
