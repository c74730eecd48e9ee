from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import mercer as mc
from mercer.app.cli import app
from mercer.app.inventory import entries

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of flowers, some columns of every kind, and a model of it."""
    where = tmp_path_factory.mktemp("flowers")
    iris = load_iris()
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {name.split(" (")[0].replace(" ", "_"): iris.data[:, j] for j, name in enumerate(iris.feature_names)}
    )
    frame = frame.with_columns(
        pl.Series("petal_length", [None if i % 11 == 0 else v for i, v in enumerate(iris.data[:, 2])]),
        pl.Series("garden", [["north", "south", "west"][i] for i in rng.integers(0, 3, 150)]),
        pl.Series("plot", ["A"] * 150), pl.Series("species", [str(iris.target_names[t]) for t in iris.target]),
    ).sample(fraction=1.0, shuffle=True, seed=1)  # fmt: skip
    frame[:100].write_csv(where / "flowers.csv")
    frame[100:].drop("species").write_csv(where / "new.csv")
    frame[100:].write_parquet(where / "known.parquet")
    result = runner.invoke(
        app,
        [
            "fit",
            str(where / "flowers.csv"),
            "--target",
            "species",
            "--time",
            "4",
            "--out",
            str(where / "m.mercer"),
            "--json",
        ],
    )
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout.splitlines()[-1])
    assert (summary["task"], summary["metric"], summary["rows"], summary["classes"]) == (
        "classification",
        "accuracy",
        100,
        iris.target_names.tolist(),
    )
    assert summary["score"] > 0.9 > 0.5 > summary["baseline"]
    assert [summary["columns"][name][0] for name in ("plot", "garden")] == ["constant", "nominal"]
    assert next(iter(summary["importance"])) in ("petal_length", "petal_width")
    return where


def _predicted(folder: Path, table: str) -> list[str]:
    result = runner.invoke(app, ["predict", str(folder / "m.mercer"), str(folder / table)])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "species"
    return lines[1:]


@pytest.mark.thorough
def test_fit_then_predict(folder: Path) -> None:
    truth = pl.read_parquet(folder / "known.parquet").get_column("species").to_list()
    predicted = _predicted(folder, "new.csv")
    assert np.mean([a == b for a, b in zip(predicted, truth, strict=True)]) > 0.88
    assert _predicted(folder, "known.parquet") == predicted  # the target in the table is not looked at
    result = runner.invoke(
        app, ["predict", str(folder / "m.mercer"), str(folder / "new.csv"), "--out", str(folder / "out.csv")]
    )
    assert result.exit_code == 0
    assert pl.read_csv(folder / "out.csv").get_column("species").to_list() == predicted


def test_predict_takes_columns_as_they_come(folder: Path) -> None:
    """Another order, columns that nobody asked for, categories never seen, gaps where there were none."""
    new, expected = pl.read_csv(folder / "new.csv"), _predicted(folder, "new.csv")
    new.select(new.columns[::-1]).with_columns(pl.lit("x").alias("extra")).write_csv(folder / "odd.csv")
    result = runner.invoke(app, ["predict", str(folder / "m.mercer"), str(folder / "odd.csv")])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == expected
    assert "ignored: extra" in result.stderr
    new.with_columns(pl.lit("moon").alias("garden"), pl.lit(None).cast(pl.Float64).alias("sepal_width")).write_csv(
        folder / "unseen.csv"
    )
    assert len(_predicted(folder, "unseen.csv")) == len(new)


def _refused(folder: Path, name: str, text: str | None, *words: str) -> None:
    if text is not None:
        (folder / name).write_text(text)
    result = runner.invoke(app, ["predict", str(folder / "m.mercer"), str(folder / name)])
    assert result.exit_code == 1
    assert result.stderr.startswith("mercer: ")
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


def test_predict_says_what_is_wrong_with_a_table(folder: Path) -> None:
    new = (folder / "new.csv").read_text()
    _refused(folder, "gone.csv", None, "gone.csv")
    _refused(folder, "empty.csv", "", "empty")
    _refused(folder, "header.csv", new.splitlines()[0] + "\n", "no rows")
    _refused(folder, "short.csv", new.replace("petal_width", "petal_widht"), "'petal_width'", "petal_widht")
    _refused(folder, "delimiter.csv", new.replace(",", "^"), "one column", "delimiter")
    _refused(
        folder,
        "words.csv",
        new.replace("sepal_length", "sepal_length", 1).replace("\n", "\nlarge,", 1).replace("large,", "large,", 1),
        "line 2",
    )
    lines = new.splitlines()
    lines[3] = ",".join(["large", *lines[3].split(",")[1:]])
    _refused(folder, "text.csv", "\n".join(lines), "'sepal_length'", "large")


@pytest.mark.parametrize("option", ["folder", "nowhere/out.csv", "/proc/out.csv", "out.xlsx"])
def test_where_nothing_can_be_written_is_found_before_the_work(
    folder: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by root, who may write where the permissions say otherwise, and not in /proc."""
    (folder / "folder").mkdir(exist_ok=True)
    if option.startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("there is no /proc")

    def began(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("mercer.files.readers.read_table", began)
    monkeypatch.setattr("mercer.files.persistence.load", began)
    place = option if option.startswith("/") else str(folder / option)
    commands = [["predict", str(folder / "m.mercer"), str(folder / "new.csv"), "-o", place]]
    if option != "out.xlsx":  # a model may have any name
        commands.append(["fit", str(folder / "flowers.csv"), "-t", "species", "-o", place])
    for command in commands:
        result = runner.invoke(app, command)
        assert result.exit_code == 1, result.output
        assert result.stderr.startswith(f"mercer: {place}"), result.stderr
        assert (".csv, .tsv" if option == "out.xlsx" else "folder") in result.stderr


def test_fit_without_out_checks_the_folder_it_is_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = folder / "inside"
    inside.mkdir()
    (inside / "flowers.mercer").mkdir()
    monkeypatch.chdir(inside)
    result = runner.invoke(app, ["fit", str(folder / "flowers.csv"), "-t", "species", "--time", "1"])
    assert (result.exit_code, result.stderr) == (1, "mercer: flowers.mercer is a folder; name a file in it.\n")


def test_a_protected_file_is_found_before_the_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "there.csv").write_text("mine")
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)
    result = runner.invoke(
        app, ["predict", str(folder / "m.mercer"), str(folder / "new.csv"), "-o", str(folder / "there.csv")]
    )
    assert result.exit_code == 1
    assert "is there, and protected" in result.stderr
    assert (folder / "there.csv").read_text() == "mine"


TOPICS = {
    "sport": [
        "the team won the match",
        "a goal, late in the game",
        "our players, tired, ran far",
        "the coach praised the goal",
    ],
    "food": [
        "bake the bread, slowly",
        "salt and butter, a little",
        "boil the soup with salt",
        "the bread, with butter",
    ],
}


@pytest.fixture(scope="module")
def of_texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model whose only column is of texts."""
    where = tmp_path_factory.mktemp("texts")
    rows = [
        (f"{text} {word}", topic)
        for topic, texts in TOPICS.items()
        for text in texts
        for word in ("today", "again", "as ever", "they say")
    ]
    pl.DataFrame(rows, schema=["text", "topic"], orient="row").write_csv(where / "texts.csv")
    result = runner.invoke(
        app, ["fit", str(where / "texts.csv"), "-t", "topic", "--time", "2", "-o", str(where / "m.mercer"), "--json"]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout.splitlines()[-1])["columns"]["text"][0] == "text"
    return where


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["new.txt", "new.csv"])
@pytest.mark.parametrize("header", ["text\n", ""])
def test_predict_takes_a_file_of_one_column(of_texts: Path, name: str, header: str) -> None:
    """Lines of text, with commas of any number in them, and a blank one: one answer for each."""
    lines = ["the goal won, late, the match", "butter and bread", "salt, soup, butter", "", "the team ran"]
    (of_texts / name).write_text(header + "\n".join(lines) + "\n")
    result = runner.invoke(app, ["predict", str(of_texts / "m.mercer"), str(of_texts / name)])
    assert result.exit_code == 0, result.output
    answers = result.stdout.splitlines()
    assert answers[0] == "topic"
    assert [answers[i] for i in (1, 2, 3, 5)] == ["sport", "food", "food", "sport"]
    assert len(answers) == 1 + len(lines)
    assert ("has no header: every line was taken as a value of 'text'" in result.stderr) == (not header)


@pytest.mark.thorough
def test_predict_tells_one_column_from_several(of_texts: Path) -> None:
    for text, word in (
        ("number,words\n1,the goal\n2,bread\n", "lacks the column 'text'"),
        ("number,text\n1,the goal\n2,bread,butter\n", "line 3 has 3 fields"),
    ):
        (of_texts / "several.csv").write_text(text)
        result = runner.invoke(app, ["predict", str(of_texts / "m.mercer"), str(of_texts / "several.csv")])
        assert result.exit_code == 1
        assert word in result.stderr
    (of_texts / "several.csv").write_text("number,text\n1,the goal\n2,bread\n")
    result = runner.invoke(app, ["predict", str(of_texts / "m.mercer"), str(of_texts / "several.csv")])
    assert result.stdout.splitlines() == ["topic", "sport", "food"]
    assert "ignored: number" in result.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("header", ["smiles\n", ""])
def test_predict_takes_a_file_of_smiles(tmp_path: Path, header: str) -> None:
    pytest.importorskip("rdkit")
    chains = [("C" * k + end, k + (5 if end else 0)) for k in range(1, 9) for end in ("", "O", "N")]
    pl.DataFrame(chains, schema=["smiles", "size"], orient="row").with_columns(pl.col("size") + 0.5).write_csv(
        tmp_path / "molecules.csv"
    )
    result = runner.invoke(
        app, ["fit", str(tmp_path / "molecules.csv"), "-t", "size", "--time", "2", "-o", str(tmp_path / "m.mercer")]
    )
    assert result.exit_code == 0, result.output
    (tmp_path / "new.smi.txt").write_text(header + "CCCO\nCCN\nCC\n")
    result = runner.invoke(app, ["predict", str(tmp_path / "m.mercer"), str(tmp_path / "new.smi.txt")])
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 4


def test_the_limit_on_reading_is_an_option(folder: Path) -> None:
    result = runner.invoke(app, ["predict", str(folder / "m.mercer"), str(folder / "new.csv"), "--max-bytes", "1kB"])
    assert result.exit_code == 1
    assert "--max-bytes 8GB" in result.stderr
    result = runner.invoke(
        app,
        ["fit", str(folder / "flowers.csv"), "-t", "species", "--max-bytes", "1kB", "-o", str(folder / "never.mercer")],
    )
    assert result.exit_code == 1
    assert (
        runner.invoke(
            app, ["predict", str(folder / "m.mercer"), str(folder / "new.csv"), "--max-bytes", "1MB"]
        ).exit_code
        == 0
    )


def test_fit_says_what_is_wrong_with_its_input(folder: Path) -> None:
    for arguments, word in (
        ([str(folder / "flowers.csv"), "--target", "speices"], "species"),
        ([str(folder / "flowers.csv"), "--target", "plot"], "nothing to learn"),
        ([str(folder / "flowers.csv"), "--target", "species", "--memory", "much"], "not a size"),
        ([str(folder / "nothing.csv"), "--target", "species"], "nothing.csv"),
    ):
        result = runner.invoke(app, ["fit", *arguments, "--time", "1"])
        assert result.exit_code == 1, result.output
        assert word in result.stderr
    result = runner.invoke(app, ["predict", str(folder / "flowers.csv"), str(folder / "new.csv")])
    assert result.exit_code == 1
    assert result.stderr.startswith("mercer: ")


@pytest.mark.thorough
def test_fit_prints_what_it_learned(folder: Path) -> None:
    result = runner.invoke(
        app,
        ["fit", str(folder / "flowers.csv"), "-t", "petal_width", "--time", "3", "-o", str(folder / "width.mercer")],
    )
    assert result.exit_code == 0, result.output
    for word in (
        "regression",
        "root mean squared error",
        "Kernel",
        "constant, left out",
        "worse without it",
        "mercer predict",
    ):
        assert word in " ".join(result.output.split())
    assert "Trained on" not in result.output  # all rows


@pytest.mark.thorough
def test_demo_learns_and_predicts() -> None:
    result = runner.invoke(app, ["demo", "--time", "4"])
    assert result.exit_code == 0, result.output
    for word in (
        "mercer fit biopsies.csv",
        "texture",
        "missing",
        "accuracy",
        "diagnoses that it had not seen are right",
    ):
        assert word in result.output.replace("\n", " ")


def test_kernels_lists_every_public_kernel() -> None:
    result = runner.invoke(app, ["kernels"])
    assert result.exit_code == 0
    for name in dir(mc):
        thing = getattr(mc, name)
        if isinstance(thing, type) and issubclass(thing, mc.Kernel) and thing is not mc.Kernel:
            assert name in result.output
    assert "k.normalized()" in result.output
    gaussian = next(e for e in entries(composites=False) if e.call.startswith("Gaussian"))
    assert gaussian.formula.startswith("exp(−γ‖x − z‖²)")
    assert (gaussian.psd, gaussian.features) == ("yes", "no")
    assert all(e.formula for e in entries(composites=True))


def test_versions() -> None:
    result = runner.invoke(app, ["versions"])
    assert result.exit_code == 0
    out = io.StringIO()
    mc.show_versions(out)
    for text in (result.output, out.getvalue()):
        for word in ("mercer", "numpy", "scikit-learn", "blas", "memory", "device"):
            assert word in text


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["fit", "--help"], ["kernels", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['mercer', *{arguments!r}]\nfrom mercer.app.cli import main\ntry:\n    main()\nexcept"
        " SystemExit as e:\n    assert not e.code\nheavy = [m for m in ('numpy', 'scipy', 'sklearn', 'numba', 'torch',"
        " 'dask', 'matplotlib', 'rdkit', 'polars', 'skops') if m in sys.modules]\nassert not heavy, heavy"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}, timeout=60
    )
    assert result.returncode == 0, result.stderr
