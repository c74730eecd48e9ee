"""Samples as a person sees them."""

from __future__ import annotations

import numpy as np
import pytest

import mercer as mc
from mercer.reports.blocks import Drawn, Letter
from mercer.reports.items import drawn_graph, drawn_molecule, letters, shown, written


def test_letters_are_as_strong_as_their_contributions() -> None:
    found = letters("ACGT", np.array([0.0, 2.0, -1.0, 0.5]))
    assert [(x.letter, x.shade) for x in found] == [("A", 0.0), ("C", 1.0), ("G", -0.5), ("T", 0.2)]
    assert [x.letter for x in letters("A" * 1000)][-1] == "…"
    assert all(x.shade == 0 for x in letters("ACGT", np.zeros(4)))


def test_graphs_are_drawn_with_escaped_labels() -> None:
    graph = mc.Graph([(0, 1), (1, 2)], ["<b>", "O", "C"])
    found = drawn_graph(graph, np.array([1.0, -1.0, 0.0]))
    assert isinstance(found, Drawn)
    assert found.svg.count("<circle") == 3
    assert found.svg.count("<line") == 2
    assert "<b>" not in found.svg
    assert drawn_graph(mc.Graph([], n_vertices=100)) == "100 vertices, 0 edges"
    assert isinstance(drawn_graph(mc.Graph([], ["C"])), Drawn)
    assert drawn_graph(mc.Graph([])) == "0 vertices, 0 edges"


def test_molecules() -> None:
    pytest.importorskip("rdkit")
    found = drawn_molecule("CCO", np.array([1.0, 0.0, -1.0]))
    assert isinstance(found, Drawn)
    assert found.svg.startswith("<svg")
    assert drawn_molecule("not a molecule") == "not a molecule"


def test_numbers_and_texts() -> None:
    assert shown(np.array([1.0, 2.0]), np.array([0.1, -3.0]), ["a", "b"]) == "b = 2, a = 1"
    assert shown(np.arange(9.0)).endswith(", …")
    assert written(None) == written(float("nan")) == "–"
    assert written(1 / 3) == "0.33333"
    assert len(written("x" * 1000)) < 300
    assert isinstance(shown("ACG")[0], Letter)
