"""Columns of texts that were gathered record by record, as what they are: typed as those of a CSV file are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from mercer.files.delimited import MISSING, typed


def as_columns(texts: Mapping[str, pl.Series | Sequence[str | None]]) -> dict[str, pl.Series]:
    """By name, each column as integers, numbers, booleans, ISO dates or texts; null where a value is missing."""
    # only at the end by their names: to polars, "*" and "^a.*$" are patterns
    given = pl.DataFrame({f"column_{j}": pl.Series(c, dtype=pl.String) for j, c in enumerate(texts.values())})
    plain = given.select(pl.all().str.strip_chars())
    found = typed(plain.select(pl.when(~pl.all().is_in(list(MISSING))).then(pl.all())))
    return {name: column.alias(name) for name, column in zip(texts, found.get_columns(), strict=True)}
