"""Explanations as a table."""

from __future__ import annotations

import numpy as np

import mercer as mc
from mercer.tabular.explaining import by_columns


def test_rows_are_those_of_the_most_probable_class() -> None:
    found = [
        mc.Explanation("column", ["a", "base"], np.array([[0.1, -0.1], [0.3, -0.3]]), np.array([0.5, 0.5])),
        mc.Explanation("column", ["a", "base"], np.array([[-0.2, 0.2], [0.0, 0.0]]), np.array([0.5, 0.5])),
    ]
    table = by_columns(found, ["a", "base"])  # a column of the table may be called as one of the sums
    assert table.columns == ["answer", "base_", "a", "base"]
    np.testing.assert_allclose(table["answer"], [0.9, 0.7])
    np.testing.assert_allclose(table["a"], [0.1, 0.2])
    np.testing.assert_allclose(table["base"], [0.3, 0.0])
    np.testing.assert_allclose(table["base_"], 0.5)
