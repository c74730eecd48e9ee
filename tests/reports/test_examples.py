"""Samples that are worth a look."""

from __future__ import annotations

import numpy as np

from mercer.reports.examples import of_classes, of_numbers


def test_of_classes() -> None:
    right = np.array([True, False, True, False, True])
    sure = np.array([0.9, 0.8, 0.6, 0.95, 0.55])
    found = of_classes(right, sure)
    assert found["most typical"].tolist() == [0, 2, 4]
    assert found["most doubtful"].tolist() == [4, 2, 1, 0, 3]
    assert found["surest and wrong"].tolist() == [3, 1]
    assert len(of_classes(np.ones(5, bool), sure)["surest and wrong"]) == 0


def test_of_numbers() -> None:
    y, predicted = np.array([0.0, 1.0, 2.0, 3.0, 9.0, 5.0]), np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    found = of_numbers(y, predicted)
    assert found["farthest off"][0] == 4
    assert found["most typical"][0] in (2, 3)
