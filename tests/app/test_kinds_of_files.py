"""Fitting and predicting from files of one column, of molecules and of sequences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from mercer.app.cli import app
from tests.app.command import fitted, run, runner
from tests.tabular.tables import however_busy, sequences


@pytest.fixture(scope="module", autouse=True)
def _however_busy() -> Iterator[None]:
    yield from however_busy()


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
def of_texts(tmp_path_factory: pytest.TempPathFactory, _however_busy: None) -> Path:
    """A folder with a model whose only column is of texts."""
    where = tmp_path_factory.mktemp("texts")
    rows = [
        (f"{text} {word}", topic)
        for topic, texts in TOPICS.items()
        for text in texts
        for word in ("today", "again", "as ever", "they say")
    ]
    pl.DataFrame(rows, schema=["text", "topic"], orient="row").write_csv(where / "texts.csv")
    summary = fitted(where / "texts.csv", "-t", "topic", "-o", where / "m.mercer")
    assert summary["columns"]["text"][0] == "text"
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
        assert result.exit_code == 3
        assert word in result.stderr
    (of_texts / "several.csv").write_text("number,text\n1,the goal\n2,bread\n")
    result = runner.invoke(app, ["predict", str(of_texts / "m.mercer"), str(of_texts / "several.csv")])
    assert result.stdout.splitlines() == ["topic", "sport", "food"]
    assert "ignored: number" in result.stderr


@pytest.mark.thorough
def test_molecules_from_files_of_smiles(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    lines = [f"{'C' * k}{end} m{k}{end} {k + (5 if end else 0) + 0.5}" for k in range(2, 11) for end in ("", "O", "N")]
    (tmp_path / "chains.smi").write_text("smiles name size\n" + "\n".join(lines) + "\n")
    summary = fitted(tmp_path / "chains.smi", "-t", "size", "-o", tmp_path / "m.mercer")
    assert summary["columns"]["smiles"][0] == "molecule"
    assert summary["score"] < summary["baseline"]
    answers = []
    for name, text in (
        ("new.smi", "CCCO a\nCCN b\nCC c\n"),
        ("new.txt", "smiles\nCCCO\nCCN\nCC\n"),
        ("bare.txt", "CCCO\nCCN\nCC\n"),
    ):
        (tmp_path / name).write_text(text)
        answers.append(run("predict", tmp_path / "m.mercer", tmp_path / name).stdout)
    assert len(answers[0].splitlines()) == 4
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.thorough
def test_sequences_from_fasta(tmp_path: Path) -> None:
    def written(name: str, table: pl.DataFrame, label: bool) -> Path:
        lines = [
            f">g{i}{f' promoter={box}' if label else ''}\n{gene[:40]}\n{gene[40:]}\n"
            for i, (gene, box) in enumerate(table.iter_rows())
        ]
        (tmp_path / name).write_text("".join(lines))
        return tmp_path / name

    summary = fitted(written("genes.fasta", sequences(), True), "-t", "promoter", "-o", tmp_path / "m.mercer")
    assert summary["columns"]["sequence"][0] == "sequence"
    assert summary["columns"]["id"][0] == "identifier"
    later = sequences(40, seed=1)
    found = run("predict", tmp_path / "m.mercer", written("new.fasta", later, False)).stdout.splitlines()[1:]
    assert np.mean([a.lower() == str(b).lower() for a, b in zip(found, later["promoter"], strict=True)]) > 0.8
