"""Estimators on graphs, and on tables that have graphs in a column."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, train_test_split
from sklearn.pipeline import Pipeline

import mercer as mc
from mercer.data import DataError
from tests.graph_oracles import Plain
from tests.graph_samples import COMPOSED, EVERY, GOOD, adjacency, array_of, labelled, networked, title


def as_networkx(g: mc.Graph) -> Any:
    return networked(Plain(tuple(g.labels), dict.fromkeys(map(tuple, g.edges.tolist()))), title)


def as_smiles(g: mc.Graph) -> str:
    ring = len(g.edges) == g.n_vertices
    return "".join(x + ("1" if ring and k in (0, len(g.labels) - 1) else "") for k, x in enumerate(g.labels))


def networkx_list(Z: list[mc.Graph]) -> Any:
    pytest.importorskip("networkx")
    return [as_networkx(g) for g in Z]


def smiles_list(Z: list[mc.Graph]) -> Any:
    pytest.importorskip("rdkit")
    return [as_smiles(g) for g in Z]


def tuple_list(Z: list[mc.Graph]) -> Any:
    return [(g.edges.tolist(), g.labels) for g in Z]


def dictionary_list(Z: list[mc.Graph]) -> Any:
    return [{"edges": g.edges, "labels": g.labels} for g in Z]


def adjacency_list(Z: list[mc.Graph]) -> Any:
    return [
        (sparse.csr_array(adjacency(Plain(tuple(g.labels), dict.fromkeys(map(tuple, g.edges.tolist()))))), g.labels)
        for g in Z
    ]


STORED: dict[str, Callable[[list[mc.Graph]], Any]] = {
    "Graph": list,
    "networkx": networkx_list,
    "SMILES": smiles_list,
    "array of SMILES": lambda Z: np.array(smiles_list(Z)),
    "pandas column of SMILES": lambda Z: pd.Series(smiles_list(Z)),
    "polars column of SMILES": lambda Z: pl.Series(smiles_list(Z)),
    "tuples": tuple_list,
    "dictionaries": dictionary_list,
    "sparse matrices": adjacency_list,
    "array of objects": lambda Z: array_of(Z),
    "pandas column": pd.Series,
}
stored = pytest.mark.parametrize("form", STORED)
MACHINES = [
    (lambda k: mc.SVC(kernel=k, C=1.0), "decision_function"),
    (lambda k: mc.KernelRidge(kernel=k), "predict"),
    (lambda k: mc.KernelLogistic(kernel=k), "predict_proba"),
    (lambda k: mc.OneClassSVM(kernel=k, nu=0.3), "decision_function"),
]
machines = pytest.mark.parametrize(
    ("make", "method"), MACHINES, ids=["SVC", "KernelRidge", "KernelLogistic", "OneClassSVM"]
)
LEARNERS = [
    mc.WeisfeilerLehman(2),
    mc.Walk(2).normalized(),
    mc.Tanimoto(mc.PathBag(5)),
    mc.MinMax(mc.PathBag(3, counts=True)),
    mc.GeometricWalk(0.05),
]


@machines
@pytest.mark.parametrize("kernel", LEARNERS, ids=str)
def test_machines_on_graphs_are_machines_on_matrices(make: Any, method: str, kernel: mc.Kernel) -> None:
    Z, y = labelled()
    new = labelled(8, seed=5)[0]
    K, cross = kernel(Z), kernel(new, Z)
    ours = getattr(make(kernel).fit(Z, y), method)(new)
    np.testing.assert_allclose(
        ours, getattr(make("precomputed").fit(K, y), method)(cross), rtol=1e-5, atol=1e-3 * np.abs(cross).max()
    )


@pytest.mark.thorough
@machines
@stored
def test_machines_take_every_form(make: Any, method: str, form: str) -> None:
    Z, y = labelled(20)
    new = labelled(6, seed=3)[0]
    if "SMILES" in form:  # bonds of molecules have labels
        Z, new = mc.as_graphs(smiles_list(Z)), mc.as_graphs(smiles_list(new))
    kernel = mc.WeisfeilerLehman(2)
    expected = getattr(make(kernel).fit(Z, y), method)(new)
    model = make(kernel).fit(STORED[form](Z), y)
    np.testing.assert_array_equal(getattr(model, method)(new), expected)
    np.testing.assert_array_equal(getattr(model, method)(STORED[form](new)), expected)


@pytest.mark.thorough
@machines
@stored
def test_models_are_saved_and_pickled(make: Any, method: str, form: str, tmp_path: Path) -> None:
    Z, y = labelled(16)
    new = STORED[form](labelled(6, seed=3)[0])
    for kernel in (mc.WeisfeilerLehman(2), mc.Walk(2)) if form == "Graph" else (mc.WeisfeilerLehman(2),):
        model = make(kernel).fit(STORED[form](Z), y)
        expected = getattr(model, method)(new)
        np.testing.assert_array_equal(getattr(pickle.loads(pickle.dumps(model)), method)(new), expected)
        mc.save(model, tmp_path / "model")
        again = mc.load(tmp_path / "model")
        np.testing.assert_array_equal(getattr(again, method)(new), expected)
        assert again.kernel_ == model.kernel_


STRANGE = [
    mc.Graph([(0, 1)], [("C", 1), ("O", 2)], [("a", "b")]),
    mc.Graph([(0, 1)], [b"C", "\ud800"]),
    mc.Graph([(0, 1), (1, 1)], np.array([1, 2]), np.array([0.5, 1.5]), directed=True),
    mc.Graph([(0, 1)], [10**30, 1.5], attributes=[[1.0, 2.0], [3.0, 4.0]]),
    mc.Graph(),
    mc.Graph(n_vertices=3),
]


@pytest.mark.filterwarnings("ignore::mercer.IgnoredWarning")
@pytest.mark.parametrize("i", range(len(STRANGE)))
def test_strange_graphs_are_saved(i: int, tmp_path: Path) -> None:
    Z = [STRANGE[i]] * 2 + (
        [mc.Graph([(0, 1)], ["C", "O"], attributes=[[1.0, 2.0]] * 2)] * 2 if i == 3 else [GOOD, GOOD]
    )
    model = mc.KernelRidge(kernel=mc.WeisfeilerLehman(1)).fit(Z, [0.0, 1.0, 2.0, 3.0])
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").predict(Z), model.predict(Z))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(Z), model.predict(Z))
    again = pickle.loads(pickle.dumps(STRANGE[i]))
    np.testing.assert_array_equal(mc.Walk(1)([again], [STRANGE[i]]), mc.Walk(1)([STRANGE[i]]))


@pytest.mark.parametrize(
    "kernel", [*EVERY, *COMPOSED, mc.Tanimoto(), mc.Intersection(), mc.MinMax(mc.Linear())], ids=str
)
def test_clones_and_texts_of_kernels(kernel: mc.Kernel, tmp_path: Path) -> None:
    assert clone(kernel) == kernel
    assert mc.parse(repr(kernel)) == kernel
    assert mc.parse(str(kernel)) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    mc.save(kernel, tmp_path / "kernel")
    assert mc.load(tmp_path / "kernel") == kernel
    assert hash(clone(kernel)) == hash(kernel)
    assert clone(mc.SVC(kernel=kernel)).kernel == kernel


@pytest.mark.thorough
@stored
def test_searches_take_every_form(form: str) -> None:
    Z, y = labelled(24)
    cv = KFold(3, shuffle=True, random_state=0)
    given_graphs = STORED[form](Z)
    grid = {"kernel__depth": [0, 2]}
    theirs = GridSearchCV(mc.SVC(kernel=mc.WeisfeilerLehman(1)), grid, cv=cv)
    if not form.startswith("polars"):
        theirs.fit(given_graphs, y)
    ours = mc.KernelSearchCV(mc.SVC(kernel=mc.WeisfeilerLehman(1)), grid, cv=cv).fit(given_graphs, y)
    if not form.startswith("polars"):
        np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
        assert ours.best_params_ == theirs.best_params_
        predicted = cross_val_predict(mc.SVC(kernel=mc.WeisfeilerLehman(2), C=1.0), given_graphs, y, cv=cv)
        K = mc.WeisfeilerLehman(2)(given_graphs)
        np.testing.assert_array_equal(predicted, cross_val_predict(mc.SVC(kernel="precomputed", C=1.0), K, y, cv=cv))
    piped = Pipeline([("svc", mc.SVC(kernel=mc.WeisfeilerLehman(2), C=10.0))]).fit(given_graphs, y)
    assert piped.score(given_graphs, y) > 0.9


@pytest.mark.parametrize("form", ["Graph", "networkx", "SMILES", "tuples", "dictionaries", "pandas column of SMILES"])
def test_lists_of_graphs_are_split(form: str) -> None:
    Z, y = labelled(40)
    train, test, y_train, y_test = train_test_split(STORED[form](Z), y, random_state=0, stratify=y)
    model = mc.SVC(kernel=mc.WeisfeilerLehman(2).normalized(), C=10.0).fit(train, y_train)
    plain_train, plain_test = train_test_split(Z, random_state=0, stratify=y)
    twin = mc.SVC(kernel=mc.WeisfeilerLehman(2).normalized(), C=10.0).fit(plain_train, y_train)
    np.testing.assert_array_equal(model.predict(test), twin.predict(plain_test))
    assert model.score(test, y_test) > 0.5
    assert model.score(train, y_train) > 0.9


def test_searches_over_kernels_of_graphs() -> None:
    Z, y = labelled(24)
    candidates = [mc.WeisfeilerLehman(2), mc.ShortestPath().normalized(), mc.Walk(2), mc.Tanimoto(mc.PathBag(3))]
    cv = KFold(3, shuffle=True, random_state=0)
    ours = mc.KernelSearchCV(mc.SVC(kernel=candidates[0]), {"kernel": candidates}, cv=cv).fit(Z, y)
    theirs = GridSearchCV(mc.SVC(kernel=candidates[0]), {"kernel": candidates}, cv=cv).fit(Z, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def table(make: Any, n: int = 24, seed: int = 0) -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    Z, y = labelled(n, seed)
    columns = {
        "age": rng.random(n) * 50,
        "dose": rng.random(n),
        "dna": ["".join(rng.choice(list("ACGT"), 20)) for _ in range(n)],
        "molecule": [as_smiles(g) for g in Z],
    }
    return make(columns), y, columns


@pytest.mark.thorough
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_table_of_numbers_strings_and_molecules(make: Any, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    kernel = mc.Gaussian().on(["age", "dose"]) + mc.Spectrum(4).on("dna") + mc.Tanimoto(mc.PathBag(7)).on("molecule")
    frame, y, columns = table(make)
    new, _, others = table(make, 10, seed=1)
    model = mc.SVC(kernel=kernel, C=1.0).fit(frame, y)
    bound = mc.Gaussian().bind(np.stack([columns["age"], columns["dose"]], axis=1))

    def expected(a: dict[str, Any], b: dict[str, Any]) -> Any:
        numbers = [np.stack([c["age"], c["dose"]], axis=1) for c in (a, b)]
        return (
            bound(*numbers)
            + mc.Spectrum(4)(a["dna"], b["dna"])
            + mc.Tanimoto(mc.PathBag(7))(a["molecule"], b["molecule"])
        )

    np.testing.assert_allclose(model.kernel_(new, frame), expected(others, columns), rtol=1e-12)
    twin = mc.SVC(kernel="precomputed", C=1.0).fit(expected(columns, columns), y)
    np.testing.assert_allclose(
        model.decision_function(new), twin.decision_function(expected(others, columns)), atol=1e-3
    )
    mc.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").decision_function(new), model.decision_function(new))
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).decision_function(new), model.decision_function(new)
    )
    cv = KFold(3, shuffle=True, random_state=0)
    theirs = GridSearchCV(mc.SVC(kernel=kernel), {"C": [0.1, 1.0]}, cv=cv).fit(frame, y)
    ours = mc.KernelSearchCV(mc.SVC(kernel=kernel), {"C": [0.1, 1.0]}, cv=cv).fit(frame, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    lengths = {"kernel__tanimoto__kernel__base__length": [1, 3]}
    ours, theirs = (
        search(mc.SVC(kernel=kernel), lengths, cv=cv).fit(frame, y) for search in (mc.KernelSearchCV, GridSearchCV)
    )
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(clone(model).fit(frame, y).decision_function(new), model.decision_function(new))


def test_a_column_of_graphs_in_a_table() -> None:
    Z, y = labelled(20)
    frame = pd.DataFrame({"age": np.arange(20.0), "graph": Z})
    kernel = mc.Gaussian(0.1).on(["age"]) + mc.WeisfeilerLehman(2).on("graph")
    np.testing.assert_allclose(
        kernel(frame), mc.Gaussian(0.1)(np.arange(20.0)[:, None]) + mc.WeisfeilerLehman(2)(Z), rtol=1e-13
    )
    assert mc.SVC(kernel=kernel).fit(frame, y).predict(frame).shape == (20,)
    objects = np.empty((20, 2), object)
    objects[:, 0], objects[:, 1] = np.arange(20.0), array_of(Z)
    np.testing.assert_array_equal(mc.WeisfeilerLehman(2).on(1)(objects), mc.WeisfeilerLehman(2)(Z))


def test_broken_tables_are_named() -> None:
    pytest.importorskip("rdkit")
    frame = pd.DataFrame({"molecule": ["CCO", "oops(", "C"], "age": [1, 2, 3]})
    with pytest.raises(DataError, match=r"Graph 1: 'oops\('"):
        mc.PathBag(3).on("molecule")(frame)
    with pytest.raises(DataError, match=r"no column 'smiles'.*'molecule'"):
        mc.PathBag(3).on("smiles")(frame)
    with pytest.raises(DataError, match=r"Graph 0"):
        mc.PathBag(3).on("age")(frame)


def test_models_over_composites_of_graph_kernels_are_saved(tmp_path: Any) -> None:
    networkx = pytest.importorskip("networkx")
    X = [networkx.path_graph(3), networkx.cycle_graph(4), networkx.star_graph(3), networkx.path_graph(5)]
    for kernel in (mc.WeisfeilerLehman(2).normalized(), mc.WeisfeilerLehman(1) + mc.ShortestPath()):
        machine = mc.SVC(kernel=kernel).fit(X, [0, 1, 1, 0])
        mc.save(machine, tmp_path / "m.mercer")
        np.testing.assert_allclose(mc.load(tmp_path / "m.mercer").decision_function(X), machine.decision_function(X))
