"""Labels of graphs: which are equal and which are not."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data import Graphs
from tests.graph_samples import labelled


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (True, 1),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.str_("ab"), "ab"),
        ((1, 2), (1.0, 2.0)),
        (("a", np.int64(2)), ("a", 2)),
        (-0.0, 0),
        (2**70, float(2**70)),
        (b"A", np.bytes_(b"A")),
        (np.True_, 1),
        (2**62, 2.0**62),
        (-(2**63), -(2.0**63)),
    ],
    ids=repr,
)
def test_labels_that_are_equal_are_the_same(a: Any, b: Any) -> None:
    assert a == b
    assert mc.VertexHistogram()([mc.Graph([], [a])], [mc.Graph([], [b])])[0, 0] == 1.0
    one, other = (mc.Graph([(0, 1)], [x, x], [x]) for x in (a, b))
    assert mc.EdgeHistogram()([one], [other])[0, 0] == 1.0
    assert mc.Walk(1)([one], [other])[0, 0] == 4.0


def test_labels_that_differ_are_different() -> None:
    labels: list[Any] = [
        0, 1, "1", b"1", 1.5, "1.5", "one", ("one",), ("on", "e"), (1,), ((1,),), "", "(1,)", "None", 10**30, "é",
        "e\u0301", -1, 2**62, -(2**62), 2**62 - 1, 2**63, 2**64 - 1, 2**53, 2**53 + 1, float("inf"), "\ud800", "\0",
        " ", (), "()",
    ]  # fmt: skip
    np.testing.assert_array_equal(mc.VertexHistogram()([mc.Graph([], [x]) for x in labels]), np.eye(len(labels)))
    np.testing.assert_array_equal(
        mc.EdgeHistogram()([mc.Graph([(0, 1)], None, [x]) for x in labels]), np.eye(len(labels))
    )
    np.testing.assert_array_equal(
        mc.VertexHistogram()([mc.Graph([], [x]) for x in labels], [mc.Graph(n_vertices=1)]), np.zeros((len(labels), 1))
    )


@pytest.mark.parametrize(
    "value", [0, -1, 2**31, 2**53 + 1, 2**61, 2**62 - 1, 2**62, 2**62 + 5, 2**63 - 1, -(2**62), -(2**63)]
)
def test_large_numbers_are_the_same_label_in_arrays_and_lists(value: int) -> None:
    forms = [[value], np.array([value]), [np.int64(value)], np.array([value], object)]
    for a, b in itertools.product(forms, repeat=2):
        assert mc.VertexHistogram()([mc.Graph([], a)], [mc.Graph([], b)])[0, 0] == 1.0
        assert mc.VertexHistogram()([mc.Graph([], a), mc.Graph([], b)])[0, 1] == 1.0


def test_large_numbers_in_arrays_of_different_types_are_themselves() -> None:
    Z = [
        np.array([2**63 + 5], np.uint64),
        np.array([2**63 + 6], np.uint64),
        np.array([-(2**63) + 5]),
        np.array([2**53]),
        np.array([2**53 + 1]),
    ]
    np.testing.assert_array_equal(mc.VertexHistogram()([mc.Graph([], z) for z in Z]), np.eye(5))
    Z = [np.array([2**53 + 1]), np.array([2**53], np.uint64)]
    np.testing.assert_array_equal(mc.VertexHistogram()([mc.Graph([], z) for z in Z]), np.eye(2))
    Z = [np.array([3], np.int8), np.array([3], np.uint64), np.array([3], np.uint8)]
    np.testing.assert_array_equal(mc.VertexHistogram()([mc.Graph([], z) for z in Z]), np.ones((3, 3)))


@pytest.mark.thorough
def test_labels_are_the_same_in_every_process() -> None:
    script = (
        "import mercer as mc; from mercer.data import Graphs; p = Graphs().check([mc.Graph([(0, 1)], ['ab', ('x', 1)],"
        " [frozenset('pqrs')]), mc.Graph([], [2.5, -3, b'x'])]); print(p.labels, p.marks)"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True, text=True
    ).stdout
    here = Graphs().check([mc.Graph([(0, 1)], ["ab", ("x", 1)], [frozenset("pqrs")]), mc.Graph([], [2.5, -3, b"x"])])
    assert found.split() == f"{here.labels} {here.marks}".split()


def test_labels_never_seen() -> None:
    Z, y = labelled()
    for kernel in (
        mc.VertexHistogram(),
        mc.WeisfeilerLehman(2),
        mc.PathBag(3),
        mc.Walk(2),
        mc.ShortestPath(),
        mc.Graphlet(2),
    ):
        model = mc.SVC(kernel=kernel, C=1.0).fit(Z, y)
        new = [mc.Graph([(0, 1)], ["Xx", "Yy"]), mc.Graph([(0, 1)], [10**40, ("a", "b")]), mc.Graph([(0, 1)]), Z[0]]
        values = model.decision_function(new)
        np.testing.assert_allclose(values[:3], model.intercept_[0], rtol=1e-12)
        np.testing.assert_allclose(values[3], model.decision_function(Z[:1])[0], rtol=1e-12)


def test_labelled_and_unlabelled_graphs_have_nothing_in_common() -> None:
    bare, named = mc.Graph([(0, 1)]), mc.Graph([(0, 1)], ["C", "C"])
    assert mc.VertexHistogram()([bare], [named])[0, 0] == 0
    assert mc.VertexHistogram()([bare])[0, 0] == 4
    assert mc.Walk(1)([bare], [named])[0, 0] == 0
    assert mc.EdgeHistogram()([bare], [named])[0, 0] == 1
    assert mc.EdgeHistogram()([bare], [mc.Graph([(0, 1)], None, ["single"])])[0, 0] == 0


@pytest.mark.thorough
def test_many_labels() -> None:
    n = 20_000
    one = mc.Graph([(k, k + 1) for k in range(n - 1)], [f"label {k}" for k in range(n)])
    other = mc.Graph([(k, k + 1) for k in range(n - 1)], [f"label {k}" for k in range(n)][::-1])
    for kernel in (mc.VertexHistogram(), mc.WeisfeilerLehman(3), mc.PathBag(3), mc.Graphlet(3)):
        K = kernel([one, other])
        assert (K[0, 0] == K).all()
    assert mc.WeisfeilerLehman(3)([one])[0, 0] == 4 * n
