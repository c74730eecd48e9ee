"""Small tables of which it is known what can be learnt from them; and a search that does not look at the clock."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import mercer as mc


def however_busy(quick: bool = True) -> Iterator[None]:
    """All that is planned is tried, however busy the machine is: a test is not to hang on that. ``quick`` leaves out
    learnt metrics and trees, which take most of the time.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mercer.tabular.plan._LATE", 1e6)
        if quick:
            patch.setattr("mercer.tabular.finalists.WIDEST", 0)
        yield


def steps(n: int = 150, seed: int = 0) -> pl.DataFrame:
    """Thresholds of one column among several that say nothing: what trees are good at."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 6))
    y = np.floor(4 * X[:, 0]) % 2 + 0.05 * rng.standard_normal(n)
    return pl.DataFrame(X, schema=list("abcdef")).with_columns(pl.Series("y", y))


def curves(n: int = 120, seed: int = 0, noise: float = 0.1) -> pl.DataFrame:
    """y = sin 2a + b, up to noise; c says nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.5, 1.5, (n, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.standard_normal(n)
    return pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(pl.Series("y", y))


def flowers(n: int = 120, seed: int = 0) -> pl.DataFrame:
    """Three kinds of flowers, of numbers with gaps, a category, a date and an identifier."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    length = 2.0 * kind + 0.5 * rng.standard_normal(n)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "length": [None if u < 0.1 else v for u, v in zip(rng.random(n), length, strict=True)],
            "width": rng.standard_normal(n),
            "garden": np.where(rng.random(n) < 0.8, np.array(["north", "south", "west"])[kind], "north"),
            "seen": [dt.date(2022, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(0, 700, n)],
            "kind": np.array(["iris", "lily", "rose"])[kind],
        }
    )


def counts(n: int = 150, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    y = rng.poisson(np.exp(1.5 + 1.5 * X[:, 0]))
    return pl.DataFrame(X, schema=["a", "b"]).with_columns(pl.Series("y", y))


def stars(n: int = 150, seed: int = 0) -> pl.DataFrame:
    """Ranks 1 … 5 that follow a."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    y = np.clip(np.round(3 + 2 * X[:, 0] + 0.3 * rng.standard_normal(n)), 1, 5).astype(int)
    return pl.DataFrame(X, schema=["a", "b"]).with_columns(pl.Series("y", y))


WORDS = {
    "sport": ["team", "match", "goal", "game", "players", "coach", "ran", "won", "late", "league"],
    "food": ["bread", "butter", "salt", "soup", "bake", "boil", "oven", "little", "slowly", "plate"],
}
COMMON = ["the", "and", "with", "a", "of", "today", "again", "they", "say", "as"]


def texts(n: int = 80, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    topics = rng.choice(list(WORDS), n)
    notes = [
        " ".join(rng.permutation([*rng.choice(WORDS[t], 4), *rng.choice(COMMON, 5)]).tolist()) + f" {i}"
        for i, t in enumerate(topics)
    ]
    return pl.DataFrame({"note": notes, "topic": topics})


def sequences(n: int = 80, seed: int = 0) -> pl.DataFrame:
    """Genes with and without TATAAT somewhere."""
    rng = np.random.default_rng(seed)
    with_box = rng.integers(0, 2, n).astype(bool)
    genes = ["".join(rng.choice(list("ACGT"), k)) for k in rng.integers(50, 60, n)]
    genes = [
        g[:at] + "TATAATGC" + g[at + 8 :] if box else g
        for g, box, at in zip(genes, with_box, rng.integers(0, 40, n), strict=True)
    ]
    return pl.DataFrame({"gene": genes, "promoter": with_box})


def molecules(n: int = 80, seed: int = 0) -> pl.DataFrame:
    """Acids and alcohols, among them molecules of one atom."""
    rng = np.random.default_rng(seed)
    ends, middles = ["N", "O", "CC", "Cl", "N#C"], ["c1ccccc1", "C1CCCCC1", "CCC", "CC(C)C"]
    acid = rng.integers(0, 2, n).astype(bool)
    smiles = [f"{rng.choice(ends)}{rng.choice(middles)}{'C(=O)O' if k else 'CO'}" for k in acid]
    smiles[0], acid[0] = "C", False
    return pl.DataFrame({"smiles": smiles, "dose": rng.random(n), "acid": acid})


def entries(n: int = 120, seed: int = 0) -> Any:
    """Sparse rows of which the first ten columns say the class, with index 5 for the first of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.where(rng.random((n, 40)) < 0.1, rng.random((n, 40)), 0.0)
    X[:, :10] += np.where(y[:, None] & (rng.random((n, 10)) < 0.4), 1.0, 0.0)
    return mc.SparseTable(sparse.csr_array(X), np.arange(5, 45), np.where(y, 1, -1))
