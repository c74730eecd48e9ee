"""Explanations of answers as a table."""

from __future__ import annotations

import numpy as np
import polars as pl

from mercer.explanations.result import Explanation


def by_columns(found: list[Explanation], columns: list[str]) -> pl.DataFrame:
    """A row for each explanation by column: ``answer``, ``base``, and what each column adds; of classes, of the most
    probable one.
    """
    likely = [int(np.argmax(np.ravel(e.total))) for e in found]
    values = [e.values.reshape(len(columns), -1)[:, j] for e, j in zip(found, likely, strict=True)]
    answer, base = (name + "_" * (name in columns) for name in ("answer", "base"))  # a column may be called so
    sums = {
        answer: [float(np.ravel(e.total)[j]) for e, j in zip(found, likely, strict=True)],
        base: [float(np.ravel(e.base)[j]) for e, j in zip(found, likely, strict=True)],
    }
    table = np.array(values, np.float64).reshape(len(found), len(columns))
    return pl.DataFrame(sums | dict(zip(columns, table.T, strict=True)))
