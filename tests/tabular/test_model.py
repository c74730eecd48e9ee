"""The estimator: answers, how sure they are, files, and scikit-learn's contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

import mercer as mc
from mercer.data import DataError
from tests.tabular.tables import curves, entries, flowers, however_busy, steps

QUICK = {"seconds": 1.0, "random_state": 0}


@pytest.fixture(scope="module", autouse=True)
def _however_busy() -> Iterator[None]:
    yield from however_busy()


@pytest.fixture(scope="module")
def of_classes(_however_busy: None) -> Any:
    return mc.learn(flowers(), "kind", **QUICK)


@pytest.fixture(scope="module")
def of_numbers(_however_busy: None) -> Any:
    """Noise that grows with b; in a minute's plan all rows are held out once."""
    return mc.learn(uneven(400, 0), "y", seconds=60.0, random_state=0)


def uneven(n: int, seed: int) -> pl.DataFrame:
    frame, rng = curves(n, seed, 0.0), np.random.default_rng(seed + 1)
    size = 0.1 + 0.4 * (frame["b"].to_numpy() > 0)
    return frame.with_columns(pl.Series("y", frame["y"].to_numpy() + size * rng.standard_normal(n)))


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_classes(of_classes: Any) -> None:
    later = flowers(300, seed=1)
    p = of_classes.predict_proba(later)
    assert of_classes.classes_.tolist() == ["iris", "lily", "rose"]
    assert p.shape == (300, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    answers = of_classes.predict(later)
    np.testing.assert_array_equal(answers, of_classes.classes_[p.argmax(axis=1)])
    right = np.mean(answers == later["kind"].to_numpy())
    assert right > 0.85
    assert of_classes.score(later) == pytest.approx(right)
    # rows that are said to be of a class with some probability are so in that share
    said = p.max(axis=1)
    assert said.mean() == pytest.approx(right, abs=0.08)
    for name in ("predict_interval",):
        assert not hasattr(of_classes, name)


@pytest.mark.thorough
@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_hold_the_label(of_classes: Any, coverage: float) -> None:
    later = flowers(600, seed=2)
    sets = of_classes.predict_set(later, coverage)
    assert sets.shape == (600, 3)
    assert sets.dtype == bool
    truth = later["kind"].to_numpy()[:, None] == of_classes.classes_
    assert sets[truth].mean() > coverage - 0.06
    assert (of_classes.predict_set(later, 0.99).sum(axis=1) >= sets.sum(axis=1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_intervals_hold_the_target(of_numbers: Any, coverage: float) -> None:
    later = uneven(1500, 5)
    lower, upper = of_numbers.predict_interval(later, coverage).T
    y = later["y"].to_numpy()
    assert np.mean((lower <= y) & (y <= upper)) == pytest.approx(coverage, abs=0.07)
    noisy = later["b"].to_numpy() > 0.2
    quiet = later["b"].to_numpy() < -0.2
    assert (upper - lower)[noisy].mean() > 1.5 * (upper - lower)[quiet].mean()
    np.testing.assert_allclose((lower + upper) / 2, of_numbers.predict(later))
    assert not hasattr(of_numbers, "predict_proba")
    assert not hasattr(of_numbers, "predict_set")


@pytest.mark.thorough
def test_what_is_far_is_new(of_numbers: Any) -> None:
    far = pl.DataFrame({"a": [40.0], "b": [-40.0], "c": [40.0]})
    assert of_numbers.novelty(far)[0] > 0.99
    usual = of_numbers.novelty(uneven(300, 3))
    assert usual.mean() == pytest.approx(0.5, abs=0.15)
    assert ((usual >= 0) & (usual <= 1)).all()


@pytest.mark.thorough
def test_explanations(of_numbers: Any, of_classes: Any) -> None:
    rows = uneven(3, 9)
    told = of_numbers.explain(rows)
    assert told.columns == ["answer", "base", "a", "b", "c"]
    np.testing.assert_allclose(told["answer"], of_numbers.predict(rows))
    # y is near sin 2a + b: what b did is b less its mean over the training rows, and c does nothing
    np.testing.assert_allclose(told["b"], rows["b"] - uneven(400, 0)["b"].mean(), atol=0.4)
    assert np.abs(told["c"]).max() < 0.3
    np.testing.assert_allclose(told.drop("answer").sum_horizontal(), told["answer"], atol=1e-8)
    told = of_classes.explain(flowers(4, seed=1))
    assert told.columns == ["answer", "base", "length", "width", "garden", "seen"]
    np.testing.assert_allclose(told.drop("answer").sum_horizontal(), told["answer"], atol=1e-8)
    found = mc.explain(of_classes, flowers(4, seed=1), random_state=0)
    assert found[0].names == ["length", "width", "garden", "seen"]
    assert all(e.errors is not None and e.errors.shape == e.values.shape for e in found)
    np.testing.assert_allclose([e.total for e in found], of_classes.predict_proba(flowers(4, seed=1)), atol=1e-8)
    np.testing.assert_allclose(told["answer"], of_classes.predict_proba(flowers(4, seed=1)).max(axis=1))


@pytest.mark.thorough
def test_scores_are_larger_where_better(of_numbers: Any) -> None:
    later = uneven(200, 4)
    error = np.sqrt(np.mean((of_numbers.predict(later) - later["y"].to_numpy()) ** 2))
    assert of_numbers.score(later) == pytest.approx(-error)
    assert of_numbers.score(later.drop("y"), later["y"].to_numpy()) == pytest.approx(-error)
    holes = later.with_columns(pl.when(pl.int_range(pl.len()) < 150).then("y"))
    assert of_numbers.score(holes) == pytest.approx(of_numbers.score(later[:150]))


@pytest.mark.thorough
@pytest.mark.parametrize("metric", ["log_loss", "accuracy"])
def test_a_label_that_training_did_not_have_is_not_found(metric: str) -> None:
    """It is a wrong answer, and not the last of the classes."""
    model = mc.learn(flowers(90), "kind", metric=metric, **QUICK)
    rows = flowers(60, seed=1)
    new = rows.with_columns(pl.when(pl.col("kind") == "rose").then(pl.lit("tulip")).otherwise("kind").alias("kind"))
    assert model.score(new) < model.score(rows) - 0.05


@pytest.mark.thorough
def test_later_tables_are_read_row_by_row(of_classes: Any) -> None:
    later = flowers(40, seed=1)
    whole = of_classes.predict_proba(later)
    np.testing.assert_allclose(of_classes.predict_proba(later[7:9]), whole[7:9], atol=1e-9)
    shuffled = later.select(["seen", "garden", "length", "width"]).with_columns(pl.lit(1).alias("extra"))
    np.testing.assert_allclose(of_classes.predict_proba(shuffled), whole, atol=1e-9)
    assert of_classes.prepared(shuffled)[1] == ["extra"]
    odd = later.with_columns(pl.lit("moon").alias("garden"), pl.lit(None, pl.Float64).alias("length"))
    assert np.isfinite(of_classes.predict_proba(odd)).all()
    assert of_classes.predict(later[:0]).shape == (0,)
    assert of_classes.predict_proba(later[:0]).shape == (0, 3)
    with pytest.raises(DataError, match=r"lacks 1 column.*'width'"):
        of_classes.predict(later.drop("width"))


@pytest.mark.thorough
@pytest.mark.parametrize("coverage", [0.0, 1.0, 2.0, -0.5])
def test_coverage_is_a_share(of_classes: Any, of_numbers: Any, coverage: float) -> None:
    with pytest.raises(ValueError, match="a share between 0 and 1"):
        of_classes.predict_set(flowers(5), coverage)
    with pytest.raises(ValueError, match="a share between 0 and 1"):
        of_numbers.predict_interval(uneven(5, 0), coverage)


# -- files -------------------------------------------------------------------------------------------------------------


def assert_the_same(model: Any, table: Any, path: Path) -> None:
    model.save(path)
    again = mc.load(path)
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    assert again.summary_ == model.summary_
    assert again.get_params() == model.get_params()
    for name, answer in (("predict_proba", None), ("predict_interval", 0.8), ("predict_set", 0.8), ("novelty", None)):
        if hasattr(model, name):
            more = () if answer is None else (answer,)
            np.testing.assert_array_equal(getattr(again, name)(table, *more), getattr(model, name)(table, *more))


@pytest.mark.thorough
def test_what_is_saved_answers_the_same(of_classes: Any, of_numbers: Any, tmp_path: Path) -> None:
    assert_the_same(of_classes, flowers(50, seed=1), tmp_path / "m.mercer")
    assert_the_same(of_numbers, uneven(50, 1), tmp_path / "m.mercer")


@pytest.mark.slow
def test_learnt_metrics_and_cells_are_saved_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercer.tabular.finalists.WIDEST", 400)
    model = mc.learn(steps(), "y", **QUICK)
    assert {"cells of trees", "learnt metric"} & {name.split(",")[0] for name in model.summary_["leaders"]}
    assert any("cells" in m.name or "metric" in m.name for m in model.members_)
    assert -model.score(steps(300, seed=1)) < 0.7 * steps()["y"].std()
    assert_the_same(model, steps(50, seed=1), tmp_path / "m.mercer")


@pytest.mark.thorough
def test_sparse_tables(tmp_path: Path) -> None:
    model = mc.TableModel(**QUICK).fit(entries())
    later = entries(300, seed=1)
    assert model.score(later) > 0.85
    assert model.classes_.tolist() == [-1, 1]
    shifted = mc.SparseTable(later.X[:, ::-1], later.indices[::-1], later.target)
    np.testing.assert_array_equal(model.predict(shifted), model.predict(later))
    np.testing.assert_array_equal(model.predict(later.frame()), model.predict(later))
    assert_the_same(model, later, tmp_path / "m.mercer")
    with pytest.raises(ValueError, match="named columns"):
        model.explain(later)


# -- scikit-learn's contract -------------------------------------------------------------------------------------------


def test_parameters_are_those_of_scikit_learn() -> None:
    model = mc.TableModel("y", 5.0, metric="mae", drop=("c",), random_state=3)
    twin = clone(model)
    assert twin is not model
    assert twin.get_params() == model.get_params()
    assert model.get_params()["seconds"] == 5.0
    assert twin.set_params(metric="r2", group="g").get_params()["group"] == "g"
    with pytest.raises(NotFittedError):
        model.predict(curves(5))
    assert not is_classifier(model)
    assert not hasattr(model, "predict_proba")


@pytest.mark.thorough
def test_kinds_of_estimators_after_fit(of_classes: Any, of_numbers: Any) -> None:
    assert is_classifier(of_classes)
    assert is_regressor(of_numbers)
    assert not is_classifier(of_numbers)
    assert not hasattr(clone(of_classes), "summary_")
    assert of_numbers.n_features_in_ == 3


@pytest.mark.thorough
def test_cross_validation() -> None:
    pd = pytest.importorskip("pandas")
    frame = curves(90)
    X, y = pd.DataFrame(frame.drop("y").to_dict(as_series=False)), pd.Series(frame["y"].to_list())
    scores = cross_val_score(mc.TableModel(**QUICK), X, y, cv=2)
    assert len(scores) == 2
    assert (scores > -0.7 * y.std()).all()


@pytest.mark.slow
def test_a_target_beside_the_table() -> None:
    frame = flowers(80)
    X, y = frame.drop("kind"), frame["kind"]
    inside = mc.TableModel("kind", **QUICK).fit(frame).predict_proba(X)
    for given in (y, y.to_list(), y.to_numpy(), y.to_numpy().astype(object)):
        found = mc.TableModel("kind", **QUICK).fit(X, given)
        assert found.classes_.tolist() == ["iris", "lily", "rose"]
        np.testing.assert_array_equal(found.predict_proba(X), inside)
    with pytest.raises(DataError, match="X has 80 rows, y 79"):
        mc.TableModel(**QUICK).fit(X, y[:79])


@pytest.mark.thorough
def test_tables_of_pandas_and_pyarrow() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = flowers(80)
    expected = mc.learn(frame, "kind", **QUICK).predict_proba(frame)
    for given in (frame.to_pandas(), frame.to_arrow()):
        model = mc.learn(given, "kind", **QUICK)
        np.testing.assert_allclose(model.predict_proba(given), expected, atol=1e-6)
        np.testing.assert_allclose(model.predict_proba(frame), expected, atol=1e-6)
