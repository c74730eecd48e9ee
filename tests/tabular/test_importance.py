"""What columns are worth, where that is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from mercer.tabular.importance import importance, rows_to_ask

N = 400


def test_a_linear_answer() -> None:
    """The loss of f = 3a + b on y = f grows by 2·9·var a and 2·var b when a column is shuffled, by 0 for the rest."""
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"c": rng.standard_normal(N), "b": rng.standard_normal(N), "a": rng.standard_normal(N)})
    y = 3 * X["a"].to_numpy() + X["b"].to_numpy()

    def loss(table: Any) -> float:
        return float(np.mean((3 * table["a"].to_numpy() + table["b"].to_numpy() - y) ** 2))

    found = importance(X, loss, np.random.default_rng(1))
    assert list(found) == ["a", "b", "c"]
    assert found["a"] == pytest.approx(18 * np.var(X["a"].to_numpy()), rel=0.2)
    assert found["b"] == pytest.approx(2 * np.var(X["b"].to_numpy()), rel=0.2)
    assert found["c"] == 0
    again = importance(X, loss, np.random.default_rng(1))
    assert found == again


def test_columns_that_go_together_are_shuffled_together() -> None:
    rng = np.random.default_rng(0)
    base = rng.standard_normal((N, 39))
    X = pl.DataFrame(
        {f"u{j}": base[:, j] for j in range(39)}
        | {f"v{j}": -base[:, j] + 0.01 * rng.standard_normal(N) for j in range(39)}
        | {"word": rng.choice(["p", "q"], N)}
    )
    shuffled: list[set[str]] = []

    def loss(table: Any) -> float:
        shuffled.append({name for name in X.columns if not table[name].equals(X[name])})
        return float(len(shuffled))

    found = importance(X, loss, np.random.default_rng(0))
    assert {label.removesuffix(" and 1 like it") for label in found} == {*(f"u{j}" for j in range(39)), "word"}
    for j in range(39):
        assert {f"u{j}", f"v{j}"} in shuffled
    assert {"word"} in shuffled


def test_rows_to_ask() -> None:
    rows = np.arange(0, 5000, 5)
    found = rows_to_ask(rows, np.random.default_rng(0))
    assert len(found) == 400
    assert set(found) <= set(rows)
    assert (np.diff(found) > 0).all()
    assert rows_to_ask(rows[:10], np.random.default_rng(0)).tolist() == rows[:10].tolist()
