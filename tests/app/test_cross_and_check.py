"""mercer cv and mercer check: scores of a kernel on samples left out, and whether it is a kernel on data."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

import mercer as mc
from mercer.app import cross
from tests.app.command import run
from tests.files.libsvm_samples import blobs, svmlight


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("tables")
    iris = load_iris()
    frame = pl.DataFrame({f"x{j}": iris.data[:, j] for j in range(4)}).with_columns(
        pl.Series("species", iris.target_names[iris.target].tolist()), pl.Series("id", [f"n{i}" for i in range(150)])
    )
    frame.write_csv(where / "iris.csv")
    words = [("ab" if i % 2 else "cd") * (3 + i % 5) for i in range(40)]
    pl.DataFrame({"word": words, "kind": [i % 2 for i in range(40)]}).write_csv(where / "words.csv")
    svmlight(where / "three.svm", *blobs(3))
    return where


def test_scores_are_those_of_folds_left_out(folder: Path) -> None:
    result = run(
        "cv", folder / "iris.csv", "-t", "species", "--drop", "id", "--kernel", "Gaussian(0.2)", "--C", 10, "--json"
    )
    found = json.loads(result.stdout)
    X, names = load_iris().data, load_iris().target_names
    y = names[load_iris().target]
    expected = []
    for inside, outside in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        machine = mc.SVC(10.0, kernel=mc.Gaussian(0.2)).fit(X[inside], y[inside])
        expected.append(float(np.mean(machine.predict(X[outside]) == y[outside])))
    assert found["scores"]["accuracy"]["folds"] == expected
    assert found["scores"]["accuracy"]["mean"] == pytest.approx(np.mean(expected))
    assert (found["machine"], found["converged"], found["model"]) == ("svc", True, None)
    said = run("cv", folder / "iris.csv", "-t", "species", "--drop", "id", "-k", "Gaussian(0.2)", "--C", 10).stdout
    assert f"accuracy           {np.mean(expected):.4f} ± " in said
    assert "No model is written" in said


@pytest.mark.parametrize(
    ("name", "flags"),
    [("svr", ["--epsilon", 0.2]), ("ridge", ["--alpha", 0.1]), ("huber", []), ("nusvr", ["--nu", 0.4])],
)
def test_numbers(folder: Path, name: str, flags: list[object]) -> None:
    result = run(
        "cv", folder / "iris.csv", "-t", "x3", "--drop", "species", "--drop", "id", "--machine", name, *flags, "--json"
    )
    assert json.loads(result.stdout)["scores"]["r2"]["mean"] > 0.8


def test_texts_and_svmlight(folder: Path) -> None:
    found = json.loads(run("cv", folder / "words.csv", "-t", "kind", "-k", "Spectrum(2)", "--json").stdout)
    assert found["scores"]["accuracy"]["mean"] == 1.0
    found = json.loads(run("cv", folder / "three.svm", "--machine", "logistic", "--folds", 3, "--json").stdout)
    assert found["samples"] == 90
    assert found["scores"]["accuracy"]["mean"] > 0.5


def test_how_cv_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    iris = folder / "iris.csv"
    assert "--target COLUMN" in run("cv", iris, code=3).stderr
    assert "no column 'spices'" in run("cv", iris, "-t", "spices", code=3).stderr
    assert "is not the name of a kernel" in run("cv", iris, "-t", "species", "-k", "Gauss()", code=2).stderr
    assert "choose one of svc" in run("cv", iris, "-t", "species", "--machine", "tree", code=2).stderr
    assert "svc has no alpha; it has --C" in run(
        "cv", iris, "-t", "species", "--machine", "svc", "--alpha", 1, code=2
    ).stderr  # fmt: skip
    assert "not a number" in run("cv", iris, "-t", "species", "--drop", "id", "--machine", "ridge", code=3).stderr
    assert "at most that many folds" in run("cv", iris, "-t", "id", "--drop", "species", code=3).stderr
    monkeypatch.setitem(cross.MACHINES, "svc", partial(mc.SVC, max_iter=2))
    assert "SVC stopped" in run("cv", iris, "-t", "species", "--drop", "id", code=4).stderr


def test_check_says_what_it_measured(folder: Path) -> None:
    flags = [folder / "iris.csv", "--drop", "species", "--drop", "id", "--json", "--kernel"]
    found = json.loads(run("check", *flags, "Gaussian(0.2)").stdout)
    K = mc.Gaussian(0.2)(load_iris().data)
    values = np.linalg.eigvalsh(K)
    assert found["valid"]
    assert found["largest_eigenvalue"] == pytest.approx(values[-1])
    off = K[~np.eye(len(K), dtype=bool)].mean()
    assert found["mean_cosine"] == pytest.approx(off)
    assert found["condition"] is None
    assert any("singular" in one for one in found["suggestions"])  # two of these flowers are the same
    found = json.loads(run("check", *flags, "Sigmoid(-1.0, 0.01)", code=3).stdout)
    assert not found["valid"]
    assert "repaired" in found["suggestions"][0]


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        ("Gaussian(1e6)", "nearly diagonal"),
        ("Gaussian(1e-9)", "nearly constant"),
        ("Polynomial(8)", "kernel.normalized"),
        ("Laplacian(1.0)", "norms              1 to 1"),
    ],
)
def test_check_suggests(folder: Path, kernel: str, said: str) -> None:
    result = run("check", folder / "iris.csv", "--drop", "species", "--drop", "id", "-k", kernel, "--rows", 60)
    assert said in result.stdout
    assert "examined           60 of 150 samples" in result.stdout


def test_how_check_ends(folder: Path) -> None:
    assert run("check", folder / "iris.csv", code=2)
    assert "mercer: " in run("check", folder / "iris.csv", "-k", "Linear(", code=2).stderr
    assert "There is no file" in run("check", folder / "no.csv", "-k", "Linear()", code=3).stderr
    assert "Spectrum" in run("check", folder / "words.csv", "-t", "kind", "-k", "Spectrum(2)").stdout


def test_a_kernel_may_name_the_only_column(folder: Path) -> None:
    flags = ["-t", "kind", "--json", "-k"]
    found = [
        json.loads(run("cv", folder / "words.csv", *flags, k).stdout)["scores"]
        for k in ("Spectrum(2)", "Spectrum(2).on('word')")
    ]
    assert found[0] == found[1]
    run("check", folder / "words.csv", "-t", "kind", "-k", "Spectrum(2).on('word')")
