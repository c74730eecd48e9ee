"""Names of the features of kernels on graphs, and their weights in a machine."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mercer as mc
from tests import graph_oracles as truth
from tests.graph_oracles import Plain
from tests.graph_samples import graphs, labelled, plain_set


def counted(names: list[Any], phi: Any) -> list[dict[Any, float]]:
    return [
        {names[j]: v for j, v in zip(row.indices, row.data, strict=True)}
        for row in (phi[[i]] for i in range(phi.shape[0]))
    ]


def test_names_of_labels() -> None:
    X = plain_set(17)
    kernel = mc.VertexHistogram()
    names, phi = kernel.feature_names(graphs(X)), kernel.features(graphs(X))
    assert len(names) == phi.shape[1] == len(set(names))
    assert counted(names, phi) == [dict(Counter(x.labels)) for x in X]
    assert set(kernel.feature_names([mc.Graph([], ["a", 1, (2, "b")])])) == {"a", 1, (2, "b")}


def test_names_of_labels_where_there_are_none() -> None:
    assert len(mc.VertexHistogram().feature_names([mc.Graph([(0, 1)])])) == 1
    assert sorted(mc.PathBag(1).feature_names([mc.Graph([(0, 1)])])) == ["*", "*-*"]
    assert len(mc.VertexHistogram().feature_names([mc.Graph([(0, 1)]), mc.Graph([], ["C"])])) == 2


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("edge_labels", [1, 2])
def test_names_of_paths(directed: bool, edge_labels: int) -> None:
    X = [
        Plain(p.labels, {e: None if m is None else m + 1 for e, m in p.edges.items()}, directed)
        for p in plain_set(19, 8, directed, True, edge_labels)
    ]
    kernel = mc.PathBag(3, counts=True)
    names, phi = kernel.feature_names(graphs(X)), kernel.features(graphs(X))
    assert len(names) == phi.shape[1] == len(set(names))

    def written(read: tuple[Any, ...]) -> str:
        return "".join({None: "-", 1: "-", 2: "="}[x] if k % 2 else x for k, x in enumerate(read))

    for x, row in zip(X, counted(names, phi), strict=True):
        expected = truth.path_features(x, 3)
        assert len(row) == len(expected)
        for read, n in expected.items():
            assert n in [row.get(written(read)), None if directed else row.get(written(read[::-1]))]


def test_names_of_paths_of_molecules() -> None:
    pytest.importorskip("rdkit")
    names = mc.PathBag(2).feature_names(["CC=O", "C#N", "c1ccccc1"])
    assert {min(n, n[::-1]) for n in names} == {"C", "O", "N", "C-C", "C=O", "C-C=O", "C#N", "C:C", "C:C:C"}


@pytest.mark.parametrize("kernel", [mc.VertexHistogram(), mc.PathBag(3), mc.PathBag(3, counts=True)], ids=str)
def test_weights_of_features_are_the_decision_function(kernel: Any) -> None:
    Z, y = labelled()
    model = mc.SVC(kernel=kernel, C=1.0).fit(Z, y)
    w = kernel.features(model.support_vectors_).T @ model.dual_coef_[0]
    weight = dict(zip(kernel.feature_names(model.support_vectors_), w, strict=True))
    new = [*labelled(10, seed=3)[0], mc.Graph(), mc.Graph([(0, 1)], ["?", "!"])]
    names = kernel.feature_names(new)
    found = kernel.features(new) @ np.array([_weight(weight, name) for name in names]) + model.intercept_[0]
    np.testing.assert_allclose(found, model.decision_function(new), rtol=1e-9, atol=1e-9)


def _weight(weight: dict[Any, float], name: Any) -> float:
    return weight.get(name, weight.get(name[::-1], 0.0))


@pytest.mark.parametrize("kernel", [mc.VertexHistogram().on("molecule"), mc.PathBag(2).on("molecule")], ids=str)
def test_names_of_features_of_columns(kernel: mc.Kernel) -> None:
    pytest.importorskip("rdkit")
    frame = pd.DataFrame({"molecule": ["CCO", "CN"], "age": [1, 2]})
    assert len(kernel.feature_names(frame)) == kernel.features(frame).shape[1]
