"""The main job: what it chooses, that it keeps to its time, and that what it saves predicts the same."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from mercer.tabular import job
from mercer.tabular.job import learn
from mercer.tabular.model import Model
from mercer.data import DataError
from mercer.estimators.ridge import KernelRidge
from mercer.files.persistence import load, save
from mercer.kernels.vectors.radial import Gaussian
from mercer.selection.cost import CostEstimate


def _diabetes() -> pl.DataFrame:
    data = load_diabetes()
    return pl.DataFrame(data.data, schema=list(data.feature_names)).with_columns(pl.Series("progression", data.target))


@pytest.mark.thorough
def test_regression_beats_the_mean_and_survives_its_file(tmp_path: Path) -> None:
    frame = _diabetes()
    model = learn(frame[:350], "progression", seconds=4.0)
    assert model.task.name == "regression"
    test = frame[350:]
    assert -model.score(test) < 0.8 * np.std(test.get_column("progression").to_numpy())
    save(model, tmp_path / "m.mercer")
    again = load(tmp_path / "m.mercer")
    assert isinstance(again, Model)
    assert np.array_equal(again.predict(test), model.predict(test))
    assert again.summary == model.summary


@pytest.mark.thorough
def test_labels_come_back_as_they_were_given() -> None:
    data = load_breast_cancer()
    X = pl.DataFrame(data.data[:, :5], schema=[f"x{j}" for j in range(5)])
    for labels in (data.target.astype(bool), np.where(data.target, "good", "bad"), data.target * 3 - 1):
        model = learn(X.with_columns(pl.Series("y", labels)), "y", seconds=1.5)
        assert set(model.predict(X[:50])) <= set(labels.tolist())
        assert model.score(X.with_columns(pl.Series("y", labels))) > 0.9


@pytest.mark.thorough
def test_rows_without_a_target_are_left_out_and_counted() -> None:
    frame = _diabetes().with_columns(
        pl.when(pl.int_range(pl.len()) < 40).then(None).otherwise(pl.col("progression")).alias("progression")
    )
    model = learn(frame, "progression", seconds=1.5)
    assert (model.summary["rows"], model.summary["rows_without_target"]) == (402, 40)


@pytest.mark.thorough
def test_keeps_to_its_time() -> None:
    """Also where rows are many: the grid sees some of them, and what is trained at the end is what time allows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 6))
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(6)]).with_columns(
        pl.Series("y", np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(6000))
    )
    start = time.perf_counter()
    model = learn(frame, "y", seconds=8.0)
    # a promise about time: the whole grid on all rows takes many minutes; three times the limit is for a busy machine
    assert time.perf_counter() - start < 24.0
    assert -model.score(frame) < 0.3


@pytest.mark.thorough
def test_interrupt_keeps_the_best_so_far() -> None:
    seen: list[dict[str, Any]] = []

    def report(state: dict[str, Any]) -> None:
        seen.append(state)
        if state["tried"] and state["stage"] == "search":
            raise KeyboardInterrupt

    model = learn(_diabetes(), "progression", seconds=60.0, report=report)
    assert any(state["stage"] == "interrupted" for state in seen)
    assert model.summary["score"] < model.summary["baseline"]


@pytest.mark.thorough
def test_same_seed_same_model() -> None:
    frame = _diabetes()
    a, b = (learn(frame, "progression", seconds=300.0, random_state=3, report=_stop_after(2)) for _ in range(2))
    assert np.array_equal(a.predict(frame), b.predict(frame))


def _stop_after(families: int) -> Any:
    names: set[str] = set()

    def report(state: dict[str, Any]) -> None:
        names.add(state.get("name", ""))
        if len(names) > families and state["stage"] == "search":
            raise KeyboardInterrupt

    return report


def test_refuses_what_cannot_be_learned() -> None:
    with pytest.raises(DataError, match="at least 10"):
        learn(_diabetes()[:5], "progression")
    with pytest.raises(DataError, match="No column is left"):
        learn(pl.DataFrame({"a": [1] * 20, "y": list(range(10)) * 2}), "y")
    with pytest.raises(ValueError, match="some seconds"):
        learn(_diabetes(), "progression", seconds=0.0)


@pytest.mark.thorough
def test_a_file_sorted_by_its_target() -> None:
    """What is drawn is drawn from everywhere."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((1100, 2)), rng.standard_normal((400, 2)) + 1.5])
    frame = pl.DataFrame(X, schema=["a", "b"]).with_columns(pl.Series("y", ["no"] * 1100 + ["yes"] * 400))
    model = learn(frame, "y", seconds=6.0)
    assert model.score(frame) > 0.8
    assert not model.summary["notes"]


@pytest.mark.thorough
def test_gaps_that_come_with_prediction() -> None:
    frame = _diabetes()
    model = learn(frame, "progression", seconds=1.5)
    holes = frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(pl.col("bmi")).alias("bmi")
    )
    assert np.isfinite(model.predict(holes)).all()
    assert np.array_equal(model.predict(holes)[1::3], model.predict(frame)[1::3])


@pytest.mark.thorough
def test_columns_with_next_to_nothing_in_them() -> None:
    """Filled in a few rows, or only where the target is missing: not used, and said so."""
    frame = _diabetes().with_columns(
        pl.Series("few", [1.5 * i if i < 6 else None for i in range(442)]),
        pl.Series("elsewhere", [0.5 * i if i >= 400 else None for i in range(442)]),
        pl.when(pl.int_range(pl.len()) < 400).then(pl.col("progression")).alias("progression"),
    )  # fmt: skip
    model = learn(frame, "progression", seconds=1.5)
    assert not model.kinds["few"].used
    assert not model.kinds["elsewhere"].used
    assert len(model.predict(frame)) == 442


@pytest.mark.thorough
def test_rare_classes() -> None:
    rng = np.random.default_rng(0)
    X = pl.DataFrame(rng.standard_normal((60, 2)), schema=["a", "b"])
    labels = ["p"] * 30 + ["q"] * 26 + ["r"] * 3 + ["s"]
    model = learn(X.with_columns(pl.Series("y", labels)), "y", seconds=1.5)
    assert any("single row" in note and "s" in note for note in model.summary["notes"])
    with pytest.raises(DataError, match="more than one row"):
        learn(X.with_columns(pl.Series("y", ["no"] * 59 + ["yes"])), "y", seconds=1.0)
    with pytest.raises(DataError, match="too many to be classes"):
        learn(X.with_columns(pl.Series("y", [f"v{i // 2}" for i in range(60)])), "y", seconds=1.0)


def test_interrupt_before_anything_is_finished_is_an_interrupt() -> None:
    def report(state: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(_diabetes(), "progression", seconds=60.0, report=report)


@pytest.mark.thorough
def test_interrupt_keeps_what_its_family_had_finished() -> None:
    def report(state: dict[str, Any]) -> None:
        if state.get("done", 0) >= 70:
            raise KeyboardInterrupt

    model = learn(_diabetes(), "progression", seconds=60.0, report=report)
    assert model.summary["model"] == "ridge, Gaussian"


@pytest.mark.thorough
def test_a_column_of_molecules(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    rng = np.random.default_rng(0)
    ends, middles = ["N", "O", "CC", "Cl", "N#C"], ["c1ccccc1", "C1CCCCC1", "CCC", "CC(C)C"]
    active = rng.integers(0, 2, 80)
    smiles = [f"{rng.choice(ends)}{rng.choice(middles)}{'C(=O)O' if k else 'CO'}" for k in active]
    frame = pl.DataFrame({"smiles": smiles, "dose": rng.random(80), "active": active})
    model = learn(frame, "active", seconds=5.0)
    assert "PathBag" in str(model.estimator.kernel)
    save(model, tmp_path / "m.mercer")
    assert model.score(frame) > 0.95
    assert np.array_equal(load(tmp_path / "m.mercer").predict(frame), model.predict(frame))
    with pytest.raises(DataError, match=r"Row 1, column 'smiles' is 'nonsense', not a molecule"):
        model.predict(frame.head(3).with_columns(smiles=pl.Series(["CCO", "nonsense", "C"])))


@pytest.mark.parametrize(
    ("seconds", "centers", "rows", "said"),
    [
        (lambda m: 1.0, None, 6000, ""),
        (lambda m: 1.0 if m in (500, 1000) else 1e9, 1000, 6000, "all 6000 rows as a sum over 1000"),
        (lambda m: 1e9, None, 1600, "Trained on 1600 of 6000 rows"),
    ],
)
def test_many_rows_are_learnt_as_a_sum_over_some(monkeypatch, seconds, centers, rows, said) -> None:
    def foreseen(machine, X, y) -> CostEstimate:
        assert len(X) == len(y) == 6000
        return CostEstimate(0, seconds(machine.centers), "", "", 0)

    monkeypatch.setattr(job, "estimate_cost", foreseen)
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.standard_normal(6000), "y": rng.standard_normal(6000)})
    run = job._Run(table, "y", 10.0, None, 0, None)
    machine, used = run._affordable(job.Tried("ridge", KernelRidge(kernel=Gaussian(1.0)), 1.0, seconds=1e6))
    assert (machine.centers, len(used)) == (centers, rows)
    assert said in "".join(run.notes)


@pytest.mark.thorough
def test_a_table_is_foreseen() -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.standard_normal(3000), "b": ["x", "y", "z"] * 1000, "y": rng.standard_normal(3000)})
    run = job._Run(table, "y", 10.0, None, 0, None)
    (first, *_) = job.candidates(run.columns, "regression", 1.0, None)
    machine = first.estimator.set_params(kernel=first.grid["kernel"][0])
    assert run._fits(machine, 1e6)
    assert run._fits(machine.set_params(centers=500), 1e6)
    assert not run._fits(machine, 1e-9)
