"""What holds for every unsupervised learner: any kind of item through its kernel, files, threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import mercer as mc

STRINGS = ["abcab", "bcabc", "aabbc", "xyzxy", "zyxzy", "yyxxz", "abcbc", "xyzzy"] * 2
GRAPHS = [nx.cycle_graph(i) for i in range(3, 9)] + [nx.path_graph(i) for i in range(3, 9)]
ITEMS = {"strings": (STRINGS, mc.Spectrum(2)), "graphs": (GRAPHS, mc.WeisfeilerLehman(2))}


def _table(n: int = 60) -> Any:
    return np.random.default_rng(0).standard_normal((n, 3))


MACHINES: dict[str, Any] = {
    "KernelPCA": lambda k: mc.KernelPCA(2, k),
    "KernelHebbian": lambda k: mc.KernelHebbian(2, k),
    "KernelKMeans": lambda k: mc.KernelKMeans(2, k, random_state=0),
    "KernelPCANovelty": lambda k: mc.KernelPCANovelty(2, k),
    "OneClassSVM": lambda k: mc.OneClassSVM(0.6, k),
    "SpectralClustering": lambda k: mc.SpectralClustering(2, k, random_state=0),
}


def _answer(machine: Any, X: Any) -> Any:
    for method in ("transform", "score_samples", "predict"):
        if hasattr(machine, method):
            return getattr(machine, method)(X)
    return machine.labels_


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("kind", ["vectors", *ITEMS])
def test_any_item_and_back_from_a_file(name: str, kind: str, tmp_path: Path) -> None:
    X, kernel = ITEMS[kind] if kind in ITEMS else (_table(), mc.Gaussian(0.2))
    machine = MACHINES[name](kernel).fit(X)
    answer = _answer(machine, X)
    assert len(answer) == len(X)
    assert len(np.unique(np.round(answer, 6), axis=0)) > 1
    mc.save(machine, tmp_path / "machine.mercer")
    np.testing.assert_array_equal(_answer(mc.load(tmp_path / "machine.mercer"), X), answer)


@pytest.mark.parametrize("kind", ITEMS)
def test_a_view_of_any_item(kind: str, tmp_path: Path) -> None:
    X, kernel = ITEMS[kind]
    size = np.array([float(len(x)) + 0.1 * i for i, x in enumerate(X)])
    model = mc.KernelCCA(1, kernel, mc.Linear(), reg=1.0).fit(X, size)
    assert model.correlations_[0] > 0.3
    mc.save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(mc.load(tmp_path / "model.mercer").transform(X, size), model.transform(X, size))


@pytest.mark.parametrize(
    "machine",
    [mc.PCA(2), mc.KMeans(3, random_state=0), mc.GaussianMixture(2, random_state=0), mc.TemporalKernelCCA(max_lag=2)],
    ids=lambda m: type(m).__name__,
)
def test_vectors_back_from_a_file(machine: Any, tmp_path: Path) -> None:
    X = _table()
    machine.fit(X, X[:, :1] ** 2)
    mc.save(machine, tmp_path / "machine.mercer")
    np.testing.assert_array_equal(_answer(mc.load(tmp_path / "machine.mercer"), X), _answer(machine, X))


@pytest.mark.parametrize("name", ["KernelPCA", "KernelKMeans", "KernelPCANovelty"])
def test_threads_do_not_change_a_bit(name: str) -> None:
    X = _table(1500)
    found = [_answer(MACHINES[name](mc.Gaussian(0.3)).set_params(compute=mc.Compute(threads=t)).fit(X), X) for t in (1, 2, 3)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
