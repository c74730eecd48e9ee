"""How much worse the answers get without a column: its values are shuffled among rows that were not trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from scipy.cluster.hierarchy import fcluster, linkage

from mercer.arrays import Array

_ROWS = 400
_TIMES = 2
_MOST = 40  # columns or groups of them


def importance(X: pl.DataFrame, loss: Callable[[Any], float], random: np.random.Generator) -> dict[str, float]:
    """By what the loss on these rows grows when a column, or a group of columns that go together, is shuffled."""
    whole = loss(X)
    out = {}
    for group in _groups(X):
        grown = []
        for _ in range(_TIMES):
            order = random.permutation(X.height)
            grown.append(loss(X.with_columns(X.get_column(name)[order].alias(name) for name in group)) - whole)
        label = group[0] if len(group) == 1 else f"{group[0]} and {len(group) - 1} like it"
        out[label] = float(np.mean(grown))
    return dict(sorted(out.items(), key=lambda item: -item[1]))


def rows_to_ask(rows: Array, random: np.random.Generator) -> Array:
    """As many of these as say enough."""
    return np.sort(random.permutation(rows)[:_ROWS])


def _groups(X: pl.DataFrame) -> list[list[str]]:
    """Each column for itself; where they are many, numbers by how they correlate, and what is no number for itself."""
    if X.width <= _MOST:
        return [[name] for name in X.columns]
    numbers = [name for name in X.columns if X.get_column(name).dtype.is_numeric()]
    others = [[name] for name in X.columns if name not in numbers]
    if len(numbers) < 3:
        return [[name] for name in X.columns]
    table = np.nan_to_num(X.select(numbers).fill_null(0.0).to_numpy())
    table = (table - table.mean(axis=0)) / np.maximum(table.std(axis=0), 1e-12)
    apart = 1 - np.abs(np.clip(table.T @ table / len(table), -1, 1))
    which = fcluster(
        linkage(apart[np.triu_indices(len(numbers), 1)], "average"), max(2, _MOST - len(others)), "maxclust"
    )
    return [[numbers[j] for j in np.flatnonzero(which == g)] for g in np.unique(which)] + others
