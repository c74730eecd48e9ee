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
from mercer.cli import app
from mercer.inventory import entries

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of flowers, some columns of every kind, and a model of it."""
    where = tmp_path_factory.mktemp("flowers")
    iris = load_iris()
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name.split(" (")[0].replace(" ", "_"): iris.data[:, j] for j, name in enumerate(iris.feature_names)})
    frame = frame.with_columns(
        pl.Series("petal_length", [None if i % 11 == 0 else v for i, v in enumerate(iris.data[:, 2])]),
        pl.Series("garden", [["north", "south", "west"][i] for i in rng.integers(0, 3, 150)]), pl.Series("plot", ["A"] * 150),
        pl.Series("species", [str(iris.target_names[t]) for t in iris.target]),
    ).sample(fraction=1.0, shuffle=True, seed=1)  # fmt: skip
    frame[:100].write_csv(where / "flowers.csv")
    frame[100:].drop("species").write_csv(where / "new.csv")
    frame[100:].write_parquet(where / "known.parquet")
    result = runner.invoke(app, ["fit", str(where / "flowers.csv"), "--target", "species", "--time", "4", "--out", str(where / "m.mercer"), "--json"])
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


def test_fit_then_predict(folder: Path) -> None:
    truth = pl.read_parquet(folder / "known.parquet").get_column("species").to_list()
    predicted = _predicted(folder, "new.csv")
    assert np.mean([a == b for a, b in zip(predicted, truth, strict=True)]) > 0.88
    assert _predicted(folder, "known.parquet") == predicted  # the target in the table is not looked at
    result = runner.invoke(app, ["predict", str(folder / "m.mercer"), str(folder / "new.csv"), "--out", str(folder / "out.csv")])
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
    new.with_columns(pl.lit("moon").alias("garden"), pl.lit(None).cast(pl.Float64).alias("sepal_width")).write_csv(folder / "unseen.csv")
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
        folder, "words.csv", new.replace("sepal_length", "sepal_length", 1).replace("\n", "\nlarge,", 1).replace("large,", "large,", 1), "line 2"
    )
    lines = new.splitlines()
    lines[3] = ",".join(["large", *lines[3].split(",")[1:]])
    _refused(folder, "text.csv", "\n".join(lines), "'sepal_length'", "large")


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


def test_fit_prints_what_it_learned(folder: Path) -> None:
    result = runner.invoke(app, ["fit", str(folder / "flowers.csv"), "-t", "petal_width", "--time", "3", "-o", str(folder / "width.mercer")])
    assert result.exit_code == 0, result.output
    for word in ("regression", "root mean squared error", "Kernel", "constant, left out", "worse without it", "mercer predict"):
        assert word in " ".join(result.output.split())
    assert "Trained on" not in result.output  # all rows


def test_demo_learns_and_predicts() -> None:
    result = runner.invoke(app, ["demo", "--time", "4"])
    assert result.exit_code == 0, result.output
    for word in ("mercer fit biopsies.csv", "texture", "missing", "accuracy", "diagnoses that it had not seen are right"):
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
    assert (gaussian.formula, gaussian.psd, gaussian.features) == ("exp(−γ‖x − z‖²)", "yes", "no")
    assert all(e.formula for e in entries(composites=True))


def test_versions() -> None:
    result = runner.invoke(app, ["versions"])
    assert result.exit_code == 0
    out = io.StringIO()
    mc.show_versions(out)
    for text in (result.output, out.getvalue()):
        for word in ("mercer", "numpy", "scikit-learn", "blas", "memory", "device"):
            assert word in text


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["fit", "--help"], ["kernels", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['mercer', *{arguments!r}]\n"
        "from mercer.cli import main\n"
        "try:\n    main()\nexcept SystemExit as e:\n    assert not e.code\n"
        "heavy = [m for m in ('numpy', 'scipy', 'sklearn', 'numba', 'torch', 'dask', 'matplotlib', 'rdkit', 'polars', 'skops') if m in sys.modules]\n"
        "assert not heavy, heavy"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}, timeout=60)
    assert result.returncode == 0, result.stderr
