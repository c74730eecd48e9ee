"""The command line: fitting, predicting, and what is said of wrong input."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

import mercer as mc
from mercer.app.cli import app
from mercer.app.inventory import entries
from tests.app.command import fitted, run, runner, table_of
from tests.tabular.tables import however_busy


@pytest.fixture(scope="module", autouse=True)
def _however_busy() -> Iterator[None]:
    yield from however_busy()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of flowers, some columns of every kind."""
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
    return where


@pytest.fixture(scope="module")
def folder(data: Path, _however_busy: None) -> Path:
    """The same, and a model of it."""
    summary = fitted(data / "flowers.csv", "--target", "species", "--out", data / "m.mercer")
    assert summary["saved"] == str(data / "m.mercer")
    assert (summary["task"], summary["metric"], summary["rows"]) == ("classification", "accuracy", 100)
    assert summary["classes"] == load_iris().target_names.tolist()
    assert summary["score"] > 0.8 > 0.5 > summary["baseline"]
    assert [summary["columns"][name][0] for name in ("plot", "garden")] == ["constant", "nominal"]
    assert next(iter(summary["importance"])) in ("petal_length", "petal_width")
    return data


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
    assert _predicted(folder, "known.parquet") == predicted  # the target in the table is not looked at for that
    result = runner.invoke(
        app, ["predict", str(folder / "m.mercer"), str(folder / "new.csv"), "--out", str(folder / "out.csv")]
    )
    assert result.exit_code == 0
    assert pl.read_csv(folder / "out.csv").get_column("species").to_list() == predicted


@pytest.mark.thorough
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
    assert result.exit_code == 3
    assert result.stderr.startswith("mercer: ")
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


@pytest.mark.thorough
def test_predict_says_what_is_wrong_with_a_table(folder: Path) -> None:
    new = (folder / "new.csv").read_text()
    _refused(folder, "gone.csv", None, "gone.csv")
    _refused(folder, "empty.csv", "", "empty")
    _refused(folder, "header.csv", new.splitlines()[0] + "\n", "no rows")
    _refused(folder, "short.csv", new.replace("petal_width", "petal_widht"), "'petal_width'", "petal_widht")
    _refused(folder, "delimiter.csv", new.replace(",", "^"), "one column", "delimiter")
    _refused(folder, "words.csv", new.replace("\n", "\nlarge,", 1), "line 2")
    lines = new.splitlines()
    lines[3] = ",".join(["large", *lines[3].split(",")[1:]])
    _refused(folder, "text.csv", "\n".join(lines), "'sepal_length'", "large")


@pytest.mark.parametrize("option", ["folder", "nowhere/out.csv", "/proc/out.csv", "out.xlsx"])
def test_where_nothing_can_be_written_is_found_before_the_work(
    data: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by root, who may write where the permissions say otherwise, and not in /proc."""
    (data / "folder").mkdir(exist_ok=True)
    if option.startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("there is no /proc")

    def began(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("mercer.tabular.reading.load", began)  # imports what would else keep the next one
    monkeypatch.setattr("mercer.files.readers.read_table", began)
    place = option if option.startswith("/") else str(data / option)
    commands = [["predict", str(data / "m.mercer"), str(data / "new.csv"), "-o", place]]
    if option != "out.xlsx":  # a model may have any name
        commands.append(["fit", str(data / "flowers.csv"), "-t", "species", "-o", place])
    for command in commands:
        result = runner.invoke(app, command)
        assert result.exit_code == 3, result.output
        assert result.stderr.startswith(f"mercer: {place}"), result.stderr
        assert (".csv, .tsv" if option == "out.xlsx" else "folder") in result.stderr


def test_fit_without_out_checks_the_folder_it_is_in(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = data / "inside"
    inside.mkdir()
    (inside / "flowers.mercer").mkdir()
    monkeypatch.chdir(inside)
    result = runner.invoke(app, ["fit", str(data / "flowers.csv"), "-t", "species", "--time", "1", "--no-report"])
    assert (result.exit_code, result.stderr) == (3, "mercer: flowers.mercer is a folder; name a file in it. [M501]\n")


def test_a_protected_file_is_found_before_the_work(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "there.csv").write_text("mine")
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)
    result = runner.invoke(
        app, ["predict", str(data / "m.mercer"), str(data / "new.csv"), "-o", str(data / "there.csv")]
    )
    assert result.exit_code == 3
    assert "is there, and protected" in result.stderr
    assert (data / "there.csv").read_text() == "mine"


@pytest.mark.thorough
def test_the_limit_on_reading_is_an_option(folder: Path) -> None:
    predict, fit = (
        ("predict", folder / "m.mercer", folder / "new.csv"),
        ("fit", folder / "flowers.csv", "-t", "species"),
    )
    assert "--max-bytes 8GB" in run(*predict, "--max-bytes", "1kB", code=3).stderr
    run(*fit, "--max-bytes", "1kB", "-o", folder / "never.mercer", code=3)
    run(*predict, "--max-bytes", "1MB")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--target", "speices"], "species"),
        (["--target", "plot"], "nothing to learn"),
        (["--target", "species", "--memory", "much"], "not a size"),
        (["--target", "species", "--metric", "rmse"], "is not for classification"),
        (["--target", "species", "--task", "guess"], "is not a task"),
        (["--target", "species", "--kind", "garden"], "write COLUMN=KIND, as zip=nominal"),
        (["--target", "species", "--kind", "=nominal"], "write COLUMN=KIND"),
        (["--target", "species", "--kind", "garden=colour"], "the kinds are numeric, nominal"),
        (["--target", "species", "--kind", "graden=nominal"], "'garden'"),
        (["--target", "species", "--kind", "garden=numeric"], "cannot be numeric"),
        (["--target", "species", "--drop", "nothing"], "no column 'nothing'"),
        (["--target", "species", "--weight", "garden"], "not of numbers"),
        (["--target", "species", "--group", "plot"], "one group only"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_fit_says_what_is_wrong(data: Path, arguments: list[str], said: str) -> None:
    wrongly = said.startswith("write COLUMN=KIND") or said == "not a size"
    assert (
        said
        in run("fit", data / "flowers.csv", *arguments, "--time", "1", "--no-report", code=2 if wrongly else 3).stderr
    )


@pytest.mark.thorough
def test_files_that_are_not_there_and_files_that_are_no_models(data: Path) -> None:
    assert "nothing.csv" in run("fit", data / "nothing.csv", "--target", "species", code=3).stderr
    run("predict", data / "flowers.csv", data / "new.csv", code=3)
    mc.save(mc.SVC().fit([[0.0], [1.0]], [0, 1]), data / "svc.mercer")
    said = run("predict", data / "svc.mercer", data / "new.csv", code=3).stderr
    assert "holds a SVC, not a model of mercer fit" in said
    assert run("fit", data / "flowers.csv", "-t", "species", "--time", "0", code=2)


@pytest.mark.thorough
def test_fit_prints_what_it_learned(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And, where there is no terminal, what it does meanwhile."""
    monkeypatch.setattr("mercer.app.console._EVERY", 0.0)
    result = run(
        "fit", folder / "flowers.csv", "-t", "petal_width", "--time", "1", "--no-report", "-o", folder / "width.mercer"
    )
    said = " ".join(result.output.split())
    for word in (
        "Target petal_width: regression", "root mean squared error", "Model", "KernelRidge", "constant, left out",
        "share of the loss", "always the same answer", "mercer predict", "Next", "candidates. Ended after",
    ):  # fmt: skip
        assert word in said, word
    assert "s: search ridge" in said
    assert "best: " in said
    assert "Trained on" not in said  # all rows


@pytest.mark.thorough
def test_every_option_of_fit(folder: Path) -> None:
    frame = pl.read_csv(folder / "flowers.csv")
    n = len(frame)
    frame.with_columns(
        pl.Series("zone", np.arange(n) % 30), pl.Series("person", [f"p{i % 12}" for i in range(n)]),
        pl.Series("count", 1.0 + np.arange(n) % 2), pl.Series("when", np.arange(n) * 1.5),
    ).write_csv(folder / "more.csv")  # fmt: skip
    common = [
        "--target",
        "petal_width",
        "--task",
        "regression",
        "--metric",
        "mae",
        "--seed",
        "3",
        "--memory",
        "1GB",
        "--max-bytes",
        "1MB",
        "--kind",
        "zone=nominal",
        "--drop",
        "plot",
        "--drop",
        "garden",
        "--weight",
        "count",
    ]
    out = folder / "more.mercer"
    grouped = fitted(folder / "more.csv", *common, "--group", "person", "-o", out)
    assert (grouped["task"], grouped["metric"]) == ("regression", "mae")
    assert grouped["reason"].startswith("as asked")
    assert grouped["columns"]["zone"][0] == "nominal"
    assert all("left out" in grouped["columns"][name][1] for name in ("plot", "garden", "person", "count"))
    assert "groups together" in grouped["measured"]
    assert mc.load(out).random_state == 3
    forward = fitted(folder / "more.csv", *common, "--time-column", "when", "-o", out)
    assert "each by earlier ones" in forward["measured"]
    found = table_of(run("predict", out, folder / "more.csv").stdout)
    assert found.columns == ["petal_width"]
    assert found.height == n


@pytest.mark.thorough
def test_fit_names_the_model_after_the_data(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("fit", folder / "flowers.csv", "-t", "species", "--time", "1", "--no-report")
    assert isinstance(mc.load(tmp_path / "flowers.mercer"), mc.TableModel)


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["--json", "words"])
def test_a_model_that_cannot_be_saved_is_rescued(folder: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from mercer.files import persistence

    place, save = folder / "full.mercer", persistence.save

    def full(model: Any, path: Any) -> None:
        if Path(path) == place:
            raise OSError(28, "No space left on device")
        save(model, path)

    monkeypatch.setattr(persistence, "save", full)
    more = ["--json"] if form == "--json" else []
    result = run(
        "fit", folder / "flowers.csv", "-t", "species", "--time", "1", "--no-report", "-o", place, *more, code=3
    )
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"mercer: {place} could not be written; the model is in ")
    rescued = Path(last.removesuffix(".").split(" the model is in ")[1])
    assert isinstance(mc.load(rescued), mc.TableModel)
    assert not place.exists()
    if form == "--json":
        assert json.loads(result.stdout)["saved"] == str(rescued)
    rescued.unlink()


# -- what predict can say ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_probabilities_sets_and_novelty(folder: Path) -> None:
    result = run("predict", folder / "m.mercer", folder / "new.csv", "-p", "--interval", "0.9", "--novelty")
    found = table_of(result.stdout)
    labels = ["setosa", "versicolor", "virginica"]
    assert found.columns == ["species", *(f"P({label})" for label in labels), "set", "novelty"]
    p = found.select(f"P({label})" for label in labels).to_numpy()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)
    assert found["species"].to_list() == [labels[k] for k in p.argmax(axis=1)]
    for row in found.iter_rows(named=True):
        assert row["species"] in row["set"].split(" | ")
    assert found["novelty"].is_between(0, 1).all()
    assert not result.stderr  # the table has no target to judge by


@pytest.mark.thorough
def test_a_table_with_the_target_is_judged(folder: Path) -> None:
    result = run("predict", folder / "m.mercer", folder / "known.parquet")
    truth = pl.read_parquet(folder / "known.parquet")["species"].to_list()
    found = result.stdout.splitlines()[1:]
    right = np.mean([a == b for a, b in zip(found, truth, strict=True)])
    said = result.stderr.splitlines()
    assert said[0] == f"accuracy on 50 rows: {100 * right:.1f} %"
    assert said[1].split()[-3:] == ["setosa", "versicolor", "virginica"]
    for line, label in zip(said[2:], ["setosa", "versicolor", "virginica"], strict=True):
        pairs = list(zip(truth, found, strict=True))
        expected = [sum(p == (label, other) for p in pairs) for other in ("setosa", "versicolor", "virginica")]
        assert line.split() == [label, *map(str, expected)]


@pytest.mark.thorough
def test_intervals_of_numbers(folder: Path) -> None:
    model = folder / "length.mercer"
    fitted(folder / "flowers.csv", "-t", "sepal_length", "--drop", "species", "-o", model)
    found = table_of(run("predict", model, folder / "new.csv", "--interval", "0.8").stdout)
    assert found.columns == ["sepal_length", "lower", "upper"]
    assert (found["lower"] < found["upper"]).all()
    said = run("predict", model, folder / "new.csv").stderr
    assert said.startswith("root mean squared error on 50 rows: ")
    assert "which has no probabilities: ask for --interval" in run(
        "predict", model, folder / "new.csv", "-p", code=3
    ).stderr  # fmt: skip
    assert "a share between 0 and 1" in run("predict", model, folder / "new.csv", "--interval", "2", code=3).stderr


@pytest.mark.thorough
def test_demo_learns_and_predicts() -> None:
    result = runner.invoke(app, ["demo", "--time", "1"])
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


@pytest.mark.thorough
def test_a_report_never_takes_the_place_of_a_model(folder: Path) -> None:
    said = run("fit", folder / "flowers.csv", "-t", "species", "-o", folder / "m.html", code=2).stderr
    assert "the name of a page" in said
    (folder / "page.html").write_text("not a model")
    assert run("report", folder / "page.html", "-o", folder / "page.html", code=2)
