"""What holds for every unsupervised learner: any kind of item through its kernel, files, threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.pipeline import Pipeline

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
    model = mc.KernelCCA(1, kernel, mc.Linear(), alpha=1.0).fit(X, size)
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
    found = [
        _answer(MACHINES[name](mc.Gaussian(0.3)).set_params(compute=mc.Compute(threads=t), random_state=0).fit(X), X)
        for t in (1, 2, 3)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


# -- weights of any size, and on their way
# ------------------------------------------------------------------------------

SIZES = [1e-300, 1e-100, 1e-10, 1e10, 1e100, 1e300]
BY_WEIGHT: dict[str, tuple[Any, Any]] = {  # and what of it does not depend on the size of all weights
    "PCA": (lambda: mc.PCA(2), lambda m, X: (m.transform(X), m.explained_variance_ratio_)),
    "KernelPCA": (
        lambda: mc.KernelPCA(2, mc.Gaussian(0.1)),
        lambda m, X: (m.transform(X), m.explained_variance_, m.inverse_transform(X[:, :2])),
    ),
    "KernelPCA, data-driven": (
        lambda: mc.KernelPCA(2, pre_image="ridge"),
        lambda m, X: (m.transform(X), m.inverse_transform(X[:, :2])),
    ),
    "KernelPCANovelty": (
        lambda: mc.KernelPCANovelty(2, mc.Gaussian(0.1)),
        lambda m, X: (m.score_samples(X), m.offset_, m.predict(X)),
    ),
    "KernelHebbian": (
        lambda: mc.KernelHebbian(2, mc.Gaussian(0.1)),
        lambda m, X: (m.transform(X), m.explained_variance_),
    ),
    "KMeans": (lambda: mc.KMeans(2, init=[[0.0] * 3, [5.0] * 3]), lambda m, X: (m.cluster_centers_, m.labels_)),
    "KernelKMeans": (
        lambda: mc.KernelKMeans(2, mc.Gaussian(0.1), random_state=0),
        lambda m, X: (m.labels_ == m.labels_[0],),
    ),
    "SpectralClustering": (lambda: mc.SpectralClustering(2, random_state=0), lambda m, X: (m.labels_ == m.labels_[0],)),
    "neighbours": (
        lambda: mc.SpectralClustering(2, affinity="nearest_neighbors", random_state=0),
        lambda m, X: (m.labels_ == m.labels_[0], m.affinity_matrix_.toarray()),
    ),
    "GaussianMixture": (
        lambda: mc.GaussianMixture(2, random_state=0),
        lambda m, X: (m.means_, m.covariances_, m.lower_bound_),
    ),
    "CCA": (lambda: mc.CCA(1), lambda m, X: (m.correlations_, m.coef_, m.x_weights_)),
    "KernelCCA": (
        lambda: mc.KernelCCA(1, mc.Gaussian(0.1), mc.Gaussian(0.1), random_state=0),
        lambda m, X: (m.correlations_, m.canonical_values_),
    ),
}


def _two_groups() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)) + np.repeat([0.0, 5.0], 40)[:, None]
    return X, X[:, :2] + rng.standard_normal((80, 2)), rng.uniform(0.5, 1.5, 80)


@pytest.mark.thorough
@pytest.mark.parametrize("name", BY_WEIGHT)
def test_the_size_of_all_weights_does_not_matter(name: str) -> None:
    X, Y, w = _two_groups()
    make, answer = BY_WEIGHT[name]
    truth = answer(make().fit(X, Y, sample_weight=w), X)
    for size in SIZES:
        for mine, his in zip(answer(make().fit(X, Y, sample_weight=size * w), X), truth, strict=True):
            np.testing.assert_allclose(mine, his, rtol=1e-6, atol=1e-7, err_msg=str(size))


@pytest.mark.parametrize("name", [n for n in BY_WEIGHT if n != "KernelHebbian"])
def test_next_to_no_weight_is_none(name: str) -> None:
    X, Y, w = _two_groups()
    make, answer = BY_WEIGHT[name]
    none, little = (
        answer(make().fit(X, Y, sample_weight=np.where(np.arange(80) == 3, v, w)), X) for v in (0.0, 1e-300)
    )
    for mine, his in zip(little[:2], none[:2], strict=True):
        if np.shape(mine) == np.shape(his):  # of a graph, one vertex less
            np.testing.assert_allclose(mine, his, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("size", SIZES)
def test_objectives_are_as_large_as_the_weights(size: float) -> None:
    X, _, w = _two_groups()
    for make in (lambda: mc.KMeans(2, random_state=0), lambda: mc.KernelKMeans(2, mc.Gaussian(0.1), random_state=0)):
        np.testing.assert_allclose(
            make().fit(X, sample_weight=size * w).inertia_ / size, make().fit(X, sample_weight=w).inertia_, rtol=1e-9
        )
    cut = mc.SpectralClustering(2, mc.Gaussian(0.1), cut="ratio", random_state=0)
    np.testing.assert_allclose(
        cut.fit(X, sample_weight=size * w).objective_ / size, cut.fit(X, sample_weight=w).objective_, rtol=1e-9
    )
    ours, theirs = (mc.KernelPCA(2, mc.Gaussian(0.1)).fit(X, sample_weight=v).eigenvalues_ for v in (size * w, w))
    np.testing.assert_allclose(ours / size, theirs, rtol=1e-9)
    # repetitions without end: the variance of the population; shares: the same
    truth = np.linalg.eigvalsh(np.cov(X.T, aweights=w, ddof=0))[::-1]
    np.testing.assert_allclose(mc.PCA().fit(X, sample_weight=size * w).explained_variance_, truth, rtol=1e-9)


@pytest.mark.parametrize("name", BY_WEIGHT)
@pytest.mark.parametrize("weights", [np.zeros(80), 0.0, [0] * 80])
def test_no_weight_at_all_is_refused(name: str, weights: Any) -> None:
    X, Y, _ = _two_groups()
    with pytest.raises(ValueError, match=r"sample_weight is zero for every sample"):
        BY_WEIGHT[name][0]().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("name", BY_WEIGHT)
def test_weights_are_routed_on_request(name: str) -> None:
    X, Y, w = _two_groups()
    make, answer = BY_WEIGHT[name]
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError):
            Pipeline([("last", make())]).fit(X, Y, sample_weight=w)
        ignored = Pipeline([("last", make().set_fit_request(sample_weight=False))])
        with pytest.raises(TypeError, match="sample_weight"):
            ignored.fit(X, Y, sample_weight=w)
        routed = Pipeline([("last", make().set_fit_request(sample_weight=True))]).fit(X, Y, sample_weight=w)
    for mine, his in zip(answer(routed[-1], X), answer(make().fit(X, Y, sample_weight=w), X), strict=True):
        np.testing.assert_allclose(mine, his, atol=1e-12)
