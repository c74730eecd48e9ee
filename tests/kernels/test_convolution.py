"""Convolution kernels against the double loop; kernels between sets; tables inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from tests import graph_oracles as truth
from tests import sequence_oracles as sequences
from tests.cases import halves


def test_values_are_the_double_loop() -> None:
    rng = np.random.default_rng(0)
    X = ["", *("".join(rng.choice(list("ab"), k)) for k in rng.integers(1, 6, 7))]
    kernel = mc.Convolution(halves, (mc.Spectrum(1), mc.Subsequence(2, 0.5)))
    parts = (lambda a, b: sequences.spectrum(a, b, 1), lambda a, b: sequences.subsequence(a, b, 2, 0.5))
    wanted = np.array([[truth.convolution(x, z, halves, parts) for z in X[:3]] for x in X])
    np.testing.assert_allclose(kernel(X, X[:3]), wanted, rtol=1e-12)


@pytest.mark.thorough
def test_kernels_between_sets() -> None:
    X: list[Any] = [[1.0, 2.0], [], [3.0], [0.5, 0.5, 4.0]]
    k = mc.Convolution(None, mc.Gaussian(0.7))
    wanted = np.array([[sum(np.exp(-0.7 * (a - b) ** 2) for a in x for b in z) for z in X] for x in X])
    np.testing.assert_allclose(k(X), wanted, rtol=1e-12)
    points = [np.random.default_rng(i).standard_normal((i, 2)) for i in range(1, 6)]
    wanted = np.array([[np.exp(-((x[:, None] - z) ** 2).sum(-1)).sum() for z in points] for x in points])
    np.testing.assert_allclose(mc.Convolution(None, mc.Gaussian(1.0))(points), wanted, rtol=1e-12)
    graphs = [["CC", "CO"], ["CC"]]
    pytest.importorskip("rdkit")
    assert mc.Convolution(None, mc.VertexHistogram())(graphs).tolist() == [[4 + 2 + 2 + 2, 4 + 2], [4 + 2, 4]]


def test_data_driven_parts_are_bound_to_all_parts() -> None:
    X = [[1.0, 2.0], [3.0], [0.5, 4.0]]
    kernel = mc.Convolution(None, mc.Gaussian()).bind(X)
    flat = mc.Gaussian().bind(np.array([[1.0], [2.0], [3.0], [0.5], [4.0]]))
    assert kernel.parts[0] == flat
    np.testing.assert_allclose(mc.Convolution(None, mc.Gaussian())(X), kernel(X))


def test_parameters_and_estimators() -> None:
    kernel = mc.Convolution(halves, [mc.Spectrum(1), mc.Spectrum(2)])
    assert kernel.psd
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = [rng.normal(2.0 * k, 1.0, rng.integers(3, 9)).tolist() for k in y]
    machine = mc.SVC(kernel=mc.Convolution(None, mc.Gaussian(0.5)).normalized(), C=10.0).fit(X[:40], y[:40])
    assert (machine.predict(X[40:]) == y[40:]).mean() > 0.9


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mc.Convolution(halves, ()), "parts"),
        (lambda: mc.Convolution(3, mc.Linear()), "decompose"),
        (lambda: mc.Convolution(halves, (mc.Spectrum(1),) * 3)(["ab"]), "Item 0.*2 parts.*3 kernels"),
        (lambda: mc.Convolution(None, mc.Linear())([[1.0], 3.0]), "Item 1.*taken apart"),
    ],
)
def test_errors(make: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_nothing_to_compare() -> None:
    assert mc.Convolution(None, mc.Gaussian(1.0))([[], []]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
