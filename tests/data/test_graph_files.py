"""Sets of graphs in the files of the TU benchmarks."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data import DataError
from tests import graph_oracles as truth
from tests.graph_oracles import Plain
from tests.graph_samples import SOME, X, assert_equal, coded, graphs, unmarked


def written_tu(
    folder: Path,
    some: Sequence[Plain],
    y: Sequence[Any],
    name: str = "SET",
    marks: bool = True,
    targets: str = "graph_labels",
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    starts = np.cumsum([1, *(len(p.labels) for p in some)])
    arcs = [(u + s, v + s, m) for p, s in zip(some, starts, strict=False) for u, v, m in truth.steps(p)]
    files = {
        "A": [f"{u}, {v}" for u, v, _ in arcs],
        "graph_indicator": [str(i + 1) for i, p in enumerate(some) for _ in p.labels],
        "node_labels": [str("CNO".index(x)) for p in some for x in p.labels],
        targets: [str(t) for t in y],
        **({"edge_labels": [str(m) for *_, m in arcs]} if marks else {}),
    }
    for what, lines in files.items():
        (folder / f"{name}_{what}.txt").write_text("".join(line + "\n" for line in lines))
    return folder


@pytest.mark.thorough
def test_files_are_graphs(tmp_path: Path) -> None:
    y = [1, -1, 1, -1, 1, -1, 1, -1]
    folder = written_tu(tmp_path / "SET", X, y)
    found, targets = mc.read_tu(folder)
    assert targets.tolist() == y
    expected = graphs([coded(p) for p in X])
    for kernel in SOME:
        assert_equal(kernel, kernel(found), kernel(expected))
        assert_equal(kernel, kernel(found, expected), kernel(expected))
    bare, _ = mc.read_tu(folder, edge_labels=False)
    np.testing.assert_array_equal(mc.Walk(2)(bare), mc.Walk(2)(graphs([unmarked(coded(p)) for p in X])))
    with zipfile.ZipFile(tmp_path / "SET.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"SET/{path.name}")
    packed, targets = mc.read_tu(tmp_path / "SET.zip")
    assert targets.tolist() == y
    np.testing.assert_array_equal(mc.WeisfeilerLehman(2)(packed), mc.WeisfeilerLehman(2)(expected))
    np.testing.assert_array_equal(mc.WeisfeilerLehman(2)(mc.read_tu(str(folder))[0]), mc.WeisfeilerLehman(2)(expected))


def test_files_with_numbers_to_learn_and_attributes(tmp_path: Path) -> None:
    folder = written_tu(tmp_path, X[:2], [0.5, 2.25], marks=False, targets="graph_attributes")
    (tmp_path / "SET_node_attributes.txt").write_text(
        "\n".join(f"{k}, {k / 2}" for k in range(sum(len(p.labels) for p in X[:2]))) + "\n"
    )
    found, y = mc.read_tu(folder)
    assert y.tolist() == [0.5, 2.25]
    assert [g.attributes.shape for g in found] == [(len(p.labels), 2) for p in X[:2]]
    assert found[0].edge_labels is None


def test_a_graph_without_vertices_in_files(tmp_path: Path) -> None:
    some = [X[0], Plain((), {}), X[1]]
    found, y = mc.read_tu(written_tu(tmp_path, some, [0, 1, 0]))
    assert [g.n_vertices for g in found] == [len(p.labels) for p in some]
    assert len(y) == 3
    np.testing.assert_array_equal(
        mc.WeisfeilerLehman(1)(found), mc.WeisfeilerLehman(1)(graphs([coded(p) for p in some]))
    )


@pytest.mark.parametrize(
    ("what", "text", "message"),
    [
        ("graph_indicator", "1\n999999999999\n", r"names graph 999999999999, and has 2 vertices"),
        ("graph_indicator", "1\n1.5\n", r"line 2 of .* has 1.5 where a whole number is needed"),
        ("graph_indicator", "1\nnan\n", r"line 2 of .* has nan where"),
        ("A", "1, 1e300\n", r"line 1 of .* has 1e\+300 where"),
        ("A", "1\n2\n1\n", r"_A.txt has 3 numbers"),
        ("A", "1, x\n", r"not a table of numbers"),
        ("node_labels", "\ud800", r"is not a text"),
    ],
)
def test_spoiled_sets_of_graphs_are_refused_in_words(tmp_path: Path, what: str, text: str, message: str) -> None:
    files = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n", "node_labels": "0\n1\n", what: text}
    for name, content in files.items():
        (tmp_path / f"SET_{name}.txt").write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(mc.DataError, match=message):
        mc.read_tu(tmp_path)


def test_sets_of_graphs_are_limited_by_what_they_unpack_to(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "SET.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SET_A.txt", "1, 1\n" * 1_000_000)
        archive.writestr("SET_graph_indicator.txt", "1\n")
    with pytest.raises(mc.DataError, match=r"more than the 1 MB that may be read.*max_bytes"):
        mc.read_tu(tmp_path / "SET.zip", max_bytes="1MB")
    (tmp_path / "cut.zip").write_bytes((tmp_path / "SET.zip").read_bytes()[:-30])
    with pytest.raises(mc.DataError, match="not a zip archive, or is damaged"):
        mc.read_tu(tmp_path / "cut.zip")


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"nothing\n", b"\n\n\n999999  0  0\nM  END\n$$$$\n", bytes(range(256)) * 4]
)
def test_spoiled_molecules_are_refused_in_words(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.sdf").write_bytes(content)
    with pytest.raises(mc.DataError, match=r"m\.sdf"):
        mc.read_sdf(tmp_path / "m.sdf")


def test_packed_molecules_and_records_that_are_left_out(tmp_path: Path) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    block = chem.MolToMolBlock(chem.MolFromSmiles("CCO"))
    text = f"one{block}$$$$\ntwö\n  x\n\nfoo\n$$$$\nthree{block}$$$$\n"
    for content in (text.encode(), text.encode("latin-1")):
        (tmp_path / "m.sdf.gz").write_bytes(gzip.compress(content))
        with pytest.raises(mc.DataError, match=r"read record 2 \('twö'\) of 3; .*errors=\"skip\""):
            mc.read_sdf(tmp_path / "m.sdf.gz")
        with pytest.warns(UserWarning, match=r"1 of 3 records are left out.*: record 2 \('twö'\)"):
            found = mc.read_sdf(tmp_path / "m.sdf.gz", errors="skip")
        assert [mol.GetProp("_Name") for mol in found] == ["one", "three"]
    with pytest.raises(mc.DataError, match="more than the"):
        mc.read_sdf(tmp_path / "m.sdf.gz", max_bytes=100)
    with pytest.raises(ValueError, match="errors='ignore'"):
        mc.read_sdf(tmp_path / "m.sdf.gz", errors="ignore")  # type: ignore[arg-type]


def test_broken_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="neither a folder nor a zip"):
        mc.read_tu(tmp_path / "nowhere")
    with pytest.raises(DataError, match="no files named …_graph_indicator"):
        mc.read_tu(tmp_path)
    folder = written_tu(tmp_path / "a", X[:2], [0, 1])
    (folder / "SET_A.txt").unlink()
    with pytest.raises(DataError, match=r"no SET_A\.txt"):
        mc.read_tu(folder)
    folder = written_tu(tmp_path / "b", X[:2], [0, 1])
    (folder / "SET_A.txt").write_text("1, 2\n2, 1\n1, 999\n")
    with pytest.raises(DataError, match=r"line 3 of _A\.txt"):
        mc.read_tu(folder)
    folder = written_tu(tmp_path / "c", X[:2], [0, 1])
    (folder / "SET_node_labels.txt").write_text("1\ntwo\n")
    with pytest.raises(DataError, match=r"SET_node_labels\.txt"):
        mc.read_tu(folder)
    folder = written_tu(tmp_path / "d", X[:2], [0, 1])
    (folder / "SET_graph_indicator.txt").write_text("2\n1\n")
    with pytest.raises(DataError, match=r"_graph_indicator"):
        mc.read_tu(folder)
    folder = written_tu(tmp_path / "e", X[:2], [0, 1])
    written_tu(tmp_path / "e", X[:2], [0, 1], name="OTHER")
    with pytest.raises(DataError, match=r"2 files"):
        mc.read_tu(folder)


@pytest.mark.parametrize("what", ["node_labels", "edge_labels", "graph_labels"])
def test_files_of_different_lengths_are_named(what: str, tmp_path: Path) -> None:
    folder = written_tu(tmp_path, X[:3], [0, 1, 0])
    path = folder / f"SET_{what}.txt"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(DataError):
        mc.read_tu(folder)


def test_an_edge_between_two_graphs_of_files_is_named(tmp_path: Path) -> None:
    folder = written_tu(tmp_path, X[:2], [0, 1], marks=False)
    with (folder / "SET_A.txt").open("a") as file:
        file.write(f"1, {len(X[0].labels) + 1}\n")
    with pytest.raises(DataError, match=r"graph 1"):
        mc.read_tu(folder)
