"""What ``mercer predict`` writes: predictions, and on request probabilities, intervals or sets, and novelty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from mercer.arrays import Array
from mercer.files.svmlight import SparseTable
from mercer.tabular.intake import Rows, is_present
from mercer.tabular.model import TableModel
from mercer.troubles import coded

_CLASSES = 12  # of which a table of confusions is shown


def answers(
    model: TableModel, table: Rows, probabilities: bool = False, interval: float | None = None, novelty: bool = False
) -> pl.DataFrame:
    """A column of predictions under the name of the target, and beside it what was asked for."""
    columns = {model.target: pl.Series(model.predict(table).tolist(), strict=False)}
    classes = model.task_.name == "classification"
    if probabilities:
        if not classes:
            raise ValueError(
                coded(f"{model.target} is a number, which has no probabilities: ask for --interval 0.9.", "M311")
            )
        found = model.predict_proba(table)
        columns |= {f"P({label})": pl.Series(found[:, k]) for k, label in enumerate(model.labels_)}
    if interval is not None and classes:
        inside = model.predict_set(table, interval)
        labels = [str(label) for label in model.labels_]
        columns[_free("set", columns)] = pl.Series(
            [" | ".join(np.array(labels)[row]) for row in inside], dtype=pl.String
        )
    elif interval is not None:
        ends = model.predict_interval(table, interval)
        columns |= {_free(name, columns): pl.Series(ends[:, j]) for j, name in enumerate(("lower", "upper"))}
    if novelty:
        columns[_free("novelty", columns)] = pl.Series(model.novelty(table))
    return pl.DataFrame([column.alias(name) for name, column in columns.items()])


def _free(name: str, columns: Mapping[str, Any]) -> str:
    """The name, or one like it where the target has it."""
    return name if name not in columns else _free(f"{name}_", columns)


def judged(model: TableModel, table: pl.DataFrame | SparseTable) -> str:
    """The score on a table that has the target, and which classes were taken for which; "" where it has not."""
    if isinstance(table, SparseTable) or model.target not in table.columns:
        return ""
    known = table.filter(is_present(table.get_column(model.target)))
    if not known.height:
        return ""
    score = model.score(known)
    value = score if model.metric_.greater else -score
    said = f"{model.metric_.words} on {known.height} rows: {model.metric_.shown(value)}"
    if model.task_.name != "classification" or len(model.labels_) > _CLASSES:
        return said
    return f"{said}\n{_confusions(known.get_column(model.target).to_list(), model.predict(known), model.labels_)}"


def _confusions(truth: list[Any], found: Array, labels: list[Any]) -> str:
    names = [str(label) for label in labels]
    counts = [[sum(t == a and f == b for t, f in zip(truth, found, strict=True)) for b in labels] for a in labels]
    width = max(len("was ↓ found →"), *(len(name) for name in names))
    cells = [max(len(name), len(str(max(row[k] for row in counts)))) for k, name in enumerate(names)]
    lines = [
        "  ".join([f"{'was ↓ found →':<{width}}", *(f"{name:>{w}}" for name, w in zip(names, cells, strict=True))])
    ]
    for name, row in zip(names, counts, strict=True):
        lines.append("  ".join([f"{name:<{width}}", *(f"{count:>{w}}" for count, w in zip(row, cells, strict=True))]))
    return "\n".join(lines)
