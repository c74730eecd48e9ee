"""mercer train and mercer predict as svm-train and svm-predict: flags, files, words, and how they end."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.svm import SVC as TheirSVC

import mercer as mc
from mercer.app.train import separated
from tests.app.command import run, table_of
from tests.files.libsvm_samples import GOLDEN, GOLDEN_ROWS, GOLDEN_SAID, blobs, needs_tools, svmlight, tool


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    X, y = blobs(3)
    svmlight(tmp_path / "three", X, y)
    svmlight(tmp_path / "two", *blobs(2))
    svmlight(tmp_path / "numbers", X, X[:, 0] + 0.5)
    return tmp_path


def test_a_model_beside_the_data_and_what_is_said(folder: Path) -> None:
    """scikit-learn is libsvm: the same support vectors, and objective and rho to the tolerance."""
    said = run("train", "-g", 0.3, "-c", 2, "-e", 1e-6, "-m", 200, "-h", 0, folder / "two").stdout
    X, y = blobs(2)
    theirs = TheirSVC(kernel="rbf", gamma=0.3, C=2, tol=1e-6).fit(X, y)
    assert f"Total nSV = {len(theirs.support_)}" in said
    bounded = int(np.sum(np.abs(theirs.dual_coef_) >= 2 * (1 - 1e-9)))
    assert f"nSV = {len(theirs.support_)}, nBSV = {bounded}" in said
    K, coef = mc.Gaussian(0.3)(X), np.zeros(len(X))
    coef[theirs.support_] = theirs.dual_coef_[0]
    objective = 0.5 * coef @ K @ coef - np.abs(coef).sum()
    assert float(re.search(r"obj = (\S+),", said)[1]) == pytest.approx(objective, abs=1e-4)
    first = 1 if y[0] == theirs.classes_[1] else -1  # the label that comes first is positive
    assert float(re.search(r"rho = (\S+)", said)[1]) == pytest.approx(-first * theirs.intercept_[0], abs=1e-4)
    assert f"\nlabel {y[0]} " in (folder / "two.model").read_text()
    assert np.array_equal(mc.load_libsvm("two.model").predict(X), theirs.predict(X))
    assert run("train", "-q", folder / "two", folder / "other.model").stdout == ""


@pytest.mark.parametrize(
    ("flags", "kind"),
    [
        (["-t", 0], mc.SVC), (["-s", 1, "-n", 0.3], mc.NuSVC), (["-s", 2, "-n", 0.2], mc.OneClassSVM),
        (["-s", 3, "-p", 0.2, "-t", 1, "-r", 1, "-d", 2], mc.SVR), (["-s", 4], mc.NuSVR),
    ],
)  # fmt: skip
def test_kinds_of_machines(folder: Path, flags: list[object], kind: type) -> None:
    run("train", *flags, "three", "a.model")
    machine = mc.load_libsvm("a.model")
    assert type(machine) is kind
    found = table_of(run("predict", "a.model", "three").stdout)
    assert np.allclose(found["target"].to_numpy(), machine.predict(blobs(3)[0]))


def test_weights_of_classes(folder: Path) -> None:
    X, y = blobs(2)
    a, b = np.unique(y).tolist()
    run("train", "-g", 0.3, f"-w{a}", 5, f"-w{b}", 0.5, "two", "a.model")
    same = mc.SVC(kernel=mc.Gaussian(0.3), class_weight={a: 5.0, b: 0.5}).fit(X, y)
    assert np.allclose(mc.load_libsvm("a.model").decision_function(X), same.decision_function(X), atol=1e-9)
    assert "-w99: two has no class 99" in run("train", "-w99", 2, "-q", "two").stderr
    assert separated(["-w-1", "2", "a", "-w+1", "3", "b"]) == (["a", "b"], {-1: 2.0, 1: 3.0})


def test_cross_validation_writes_nothing(folder: Path) -> None:
    result = run("train", "-v", 5, "two")
    assert re.fullmatch(r"Cross Validation Accuracy = [\d.]+%\n", result.stdout)  # which other programs read
    assert "No model is written" in result.stderr
    assert not (folder / "two.model").exists()
    result = run("train", "-v", 3, "-s", 3, "numbers")
    assert re.fullmatch(
        r"Cross Validation Mean squared error = \S+\nCross Validation Squared correlation coefficient = \S+\n",
        result.stdout,
    )
    assert run("train", "-v", 91, "two", code=3)


def test_probabilities(folder: Path) -> None:
    """Platt's, which tell sample from sample better than their shares do; and labels by them."""
    for data, classes in (("two", 2), ("three", 3)):
        X, y = blobs(classes)
        run("train", "-b", 1, "-g", 0.3, "-q", data, "a.model")
        machine = mc.load_libsvm("a.model")
        P = machine.predict_proba(X)
        right = P[np.arange(len(y)), np.searchsorted(machine.classes_, y)]
        shares = np.unique(y, return_counts=True)[1] / len(y)
        assert np.log(right).mean() > (shares * np.log(shares)).sum() + 0.2
        table = table_of(run("predict", "-b", 1, "a.model", data).stdout)
        assert table.columns == ["target", *(f"P({c})" for c in machine.classes_)]
        assert np.array_equal(table["target"].to_numpy(), machine.classes_[np.argmax(P, axis=1)])


def test_precomputed(folder: Path) -> None:
    X, y = blobs(3)
    K = mc.Gaussian(0.3)(X)
    svmlight(folder / "plain", X, y)
    rows = (f"{t} 0:{i + 1} " + " ".join(f"{j + 1}:{v:.17g}" for j, v in enumerate(k)) for i, (t, k) in
            enumerate(zip(y, K, strict=True)))  # fmt: skip
    (folder / "matrix").write_text("\n".join(rows))
    run("train", "-t", 4, "-e", 1e-6, "matrix", "k.model")
    run("train", "-g", 0.3, "-e", 1e-6, "plain", "x.model")
    assert run("predict", "k.model", "matrix").stdout == run("predict", "x.model", "plain").stdout
    assert "0:i 1:K(i,1)" in run("train", "-t", 4, "plain", code=3).stderr


def test_a_model_of_svm_train_predicts(folder: Path) -> None:
    (folder / "golden.model").write_text(GOLDEN)
    rows = [" ".join(f"{j + 1}:{v}" for j, v in enumerate(row)) for row in GOLDEN_ROWS]
    (folder / "new").write_text("".join(f"{said[0]} {row}\n" for said, row in zip(GOLDEN_SAID, rows, strict=True)))
    result = run("predict", "golden.model", "new", "--out", "out.csv")
    assert pl.read_csv("out.csv")["target"].to_list() == [said[0] for said in GOLDEN_SAID]
    count = len(GOLDEN_SAID)
    assert result.stderr == f"Accuracy = 100% ({count}/{count}) (classification)\n"
    # an index that the model has not counts as it does in libsvm: it is far from everything
    (folder / "far").write_text("4 1:0 2147483648000:1000\n")
    machine = mc.load_libsvm("golden.model", n_features=3)
    assert table_of(run("predict", "golden.model", "far").stdout)["target"][0] == machine.predict([[0, 0, 1000.0]])[0]


@pytest.mark.thorough
def test_how_it_ends(folder: Path) -> None:
    """2: the flags; 3: the data; 4: not converged, with a model all the same."""
    assert "there is no such flag" in run("train", "-x", 1, "two", code=2).stderr
    assert "no such flag" in run("train", "-w1.5", 1, "two", code=2).stderr
    assert "-s 0" in run("train", "-s", 1, "-w7", 2, "two", code=2).stderr
    assert "-b 1" in run("train", "-s", 3, "-b", 1, "numbers", code=2).stderr
    assert "names of files" in run("train", "a", "b", "c", code=2).stderr
    run("train", "-s", 5, "two", code=2)
    assert "There is no file" in run("train", "nothing", code=3).stderr
    assert "whole numbers" in run("train", "numbers", code=3).stderr
    (folder / "bad").write_text("1 1:x\n")
    assert "line 1" in run("train", "bad", code=3).stderr
    (folder / "zero").write_text("1 0:1\n2 0:2\n")
    assert "indices are from 1" in run("train", "zero", code=3).stderr
    result = run("train", "-e", 1e-300, "two", "n.model", code=4)
    assert "SVC stopped" in result.stderr
    assert (folder / "n.model").exists()
    (folder / "cut.model").write_text(GOLDEN[:300])
    assert "line" in run("predict", "cut.model", "two", code=3).stderr
    run("train", "-q", "two")
    assert "has no probabilities" in run("predict", "-b", 1, "two.model", "two", code=3).stderr
    assert "mercer fit" in run("predict", "--novelty", "two.model", "two", code=2).stderr


@needs_tools
@pytest.mark.thorough
def test_svm_predict_reads_what_mercer_writes(folder: Path) -> None:
    for flags in (["-g", 0.3], ["-t", 1, "-d", 2, "-r", 1], ["-s", 1, "-n", 0.3], ["-s", 3], ["-s", 2, "-n", 0.2]):
        for data in ("two", "three"):
            run("train", "-q", *flags, data, "m.model")
            tool("train", "-q", *flags, data, "t.model")
            counts = [int(re.search(r"total_sv (\d+)", Path(m).read_text())[1]) for m in ("m.model", "t.model")]
            assert abs(counts[0] - counts[1]) <= max(1, 0.01 * counts[1])
            tool("predict", data, "m.model", "m.out")
            mine = table_of(run("predict", "m.model", data).stdout)["target"].to_numpy()
            assert np.allclose(np.loadtxt("m.out"), mine, rtol=1e-5, atol=1e-5)
