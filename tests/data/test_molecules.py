"""Molecules as graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer as mc
from mercer.data import DataError
from tests.graph_samples import every, joined_cycles, zero_norms_are_expected

MOLECULES = {
    "CCO": mc.Graph([(0, 1), (1, 2)], ["C", "C", "O"], [1, 1]),
    "C=O": mc.Graph([(0, 1)], ["C", "O"], [2]),
    "C#N": mc.Graph([(0, 1)], ["C", "N"], [3]),
    "c1ccccc1": mc.Graph(joined_cycles(6), ["C"] * 6, [1.5] * 6),
    "C1=CC=CC=C1": mc.Graph(joined_cycles(6), ["C"] * 6, [1.5] * 6),
    "C1CCCCC1": mc.Graph(joined_cycles(6), ["C"] * 6, [1] * 6),
    "[Na+].[Cl-]": mc.Graph([], ["Na", "Cl"]),
    "[H][H]": mc.Graph([(0, 1)], ["H", "H"], [1]),
    "C": mc.Graph([], ["C"]),
    "": mc.Graph(),
    "CC(=O)O": mc.Graph([(0, 1), (1, 2), (1, 3)], ["C", "C", "O", "O"], [1, 2, 1]),
    "C[C@H](N)C(=O)O": mc.Graph(
        [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5)], ["C", "C", "N", "C", "O", "O"], [1, 1, 1, 2, 1]
    ),
}
SMILES, DRAWN = list(MOLECULES), list(MOLECULES.values())


@zero_norms_are_expected
@every
def test_molecules_are_graphs(kernel: mc.Kernel) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    kernel = kernel.atoms()  # by their elements: some have charges
    K = kernel(DRAWN)
    np.testing.assert_array_equal(kernel(SMILES), K)
    np.testing.assert_array_equal(kernel([chem.MolFromSmiles(s) for s in SMILES]), K)
    np.testing.assert_array_equal(kernel(SMILES, DRAWN), K)
    np.testing.assert_array_equal(kernel([chem.MolFromSmiles(SMILES[0]), *SMILES[1:3], *DRAWN[3:]]), K)


@zero_norms_are_expected
def test_every_column_of_molecules() -> None:
    pytest.importorskip("rdkit")
    kernel = mc.Tanimoto(mc.PathBag(7)).atoms()
    K = kernel(DRAWN)
    forms: list[Callable[[list[str]], Any]] = [
        tuple, iter, np.array, pd.Series, pl.Series, lambda x: np.array(x, object),
        lambda x: pd.Series(x, dtype="string"), lambda x: pd.Series(x, index=range(len(x), 0, -1)),
        lambda x: pd.Series(x, dtype="category"), lambda x: pl.Series(x, dtype=pl.Categorical),
        lambda x: pd.DataFrame({"smiles": x}), lambda x: pl.DataFrame({"smiles": x}),
        lambda x: np.array(x, dtype=np.dtypes.StringDType()),
    ]  # fmt: skip
    for form in forms:
        np.testing.assert_array_equal(kernel(form(SMILES)), K)
        np.testing.assert_array_equal(kernel(form(SMILES), DRAWN), K)
    for make in (pd.DataFrame, pl.DataFrame):
        frame = make({"name": SMILES, "smiles": SMILES})
        np.testing.assert_array_equal(kernel.on("smiles")(frame), K)
        np.testing.assert_array_equal(kernel.on(1)(frame), K)


@pytest.mark.parametrize("text", ["hello world", "C1CC", "CC(", "C(C)(C)(C)(C)C", "xyz", "ACGT", "\0", "中"])
def test_strings_that_are_no_molecules_are_named(text: str) -> None:
    pytest.importorskip("rdkit")
    for kernel in (mc.WeisfeilerLehman(2), mc.Walk(2), mc.Tanimoto(mc.PathBag(3))):
        with pytest.raises(DataError, match=r"Graph 2: .*SMILES"):
            kernel(["CCO", "C", text, "CC"])
        with pytest.raises(DataError, match=r"Graph 1: .*SMILES"):
            kernel(["CCO"], np.array(["C", text], object))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["CCO", "C", None]),
        pd.Series(["CCO", "C", np.nan]),
        pd.Series(["C", "C", pd.NA], dtype="string"),
        pl.Series(["C", "C", None]),
    ],
)
def test_missing_molecules_are_named(column: Any) -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(DataError, match=r"Item 2 .*missing.*drop it"):
        mc.WeisfeilerLehman(2)(column)
