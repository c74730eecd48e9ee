"""Weights of any size: where only their ratios matter, the same answer; elsewhere that of the limit, or a word that it
was not reached.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer as mc
from mercer.data import moderate_weights
from mercer.estimators.representer import LossRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 2))
Y = X[:, 0] + 0.1 * rng.standard_normal(60)
LABELS = (X[:, 0] + 0.8 * rng.standard_normal(60) > 0).astype(int)
BASE = rng.uniform(0.5, 2, 60)
SIZES = [1e-300, 1e-100, 1e-30, 1e-8, 1e8, 1e30, 1e100, 1e300]
K = mc.Gaussian(0.5)

# what depends on the ratios of weights alone
FREE: dict[str, Callable[[Any], Any]] = {
    "NuSVC": lambda w: mc.NuSVC(0.3, K).fit(X, LABELS, w).decision_function(X[:6]),
    "OneClassSVM": lambda w: mc.OneClassSVM(0.3, K).fit(X, None, w).predict(X),
    "SVDD": lambda w: mc.SVDD(0.3, K).fit(X, None, w).predict(X),
    "KernelPCA": lambda w: np.abs(mc.KernelPCA(2, K).fit(X, None, w).transform(X[:6])),
    "PCA": lambda w: np.abs(mc.PCA(2).fit(X, None, w).transform(X[:6])),
    "KernelPCANovelty": lambda w: mc.KernelPCANovelty(kernel=K).fit(X, None, w).decision_function(X[:6]),
    "KernelKMeans": lambda w: mc.KernelKMeans(2, K, random_state=0).fit(X, None, w).labels_,
    "KernelKMeans, inertia": lambda w: mc.KernelKMeans(2, K, random_state=0).fit(X, None, w).inertia_ / w.max(),
    "KMeans": lambda w: mc.KMeans(2, random_state=0).fit(X, None, w).cluster_centers_,
    "KMeans, inertia": lambda w: mc.KMeans(2, random_state=0).fit(X, None, w).inertia_ / w.max(),
    "GaussianMixture": lambda w: mc.GaussianMixture(2, random_state=0).fit(X, None, w).means_,
    "SpectralClustering": lambda w: mc.SpectralClustering(2, K, random_state=0).fit(X, None, w).labels_,
    "the kernel itself": lambda w: mc.SVC(kernel=mc.Gaussian("scale").centered()).fit(X, LABELS, w).kernel_(X[:3]),
}


@pytest.mark.parametrize("name", FREE)
def test_only_ratios_matter(name: str) -> None:
    with warnings.catch_warnings():
        if name == "the kernel itself":
            warnings.simplefilter("ignore", ConvergenceWarning)  # that of the machine on top
        expected = FREE[name](BASE)
        for size in SIZES:
            np.testing.assert_allclose(FREE[name](size * BASE), expected, rtol=1e-6, atol=1e-9, err_msg=f"{size:g}")


# what trades the weights against a price: few weights are a constant, many the best fit there is
PRICED: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "SVC": (lambda: mc.SVC(1.0, K), LABELS, None),
    "SVR": (lambda: mc.SVR(1.0, kernel=K), Y, None),
    "NuSVR": (lambda: mc.NuSVR(0.5, 1.0, K), Y, Y),
    "KernelRidge": (lambda: mc.KernelRidge(1.0, K), Y, Y),
    "KernelRidgeCV": (lambda: mc.KernelRidgeCV([1.0], K), Y, Y),
    "KernelLogistic": (lambda: mc.KernelLogistic(1.0, K), LABELS, None),
    "KernelPoisson": (lambda: mc.KernelPoisson(alpha=1.0, kernel=K), np.abs(np.round(Y)), None),
    **{  # every other machine of a loss
        name: (lambda name=name: getattr(mc, name)(alpha=1.0, kernel=K), Y, Y)
        for name in mc.__all__
        if isinstance(getattr(mc, name), type) and issubclass(getattr(mc, name), LossRegressor)
        if name not in ("KernelPoisson", "RepresenterMachine")
    },
}


def _values(machine: Any) -> Any:
    return np.asarray(
        machine.decision_function(X) if hasattr(machine, "decision_function") else machine.predict(X)
    ).reshape(len(X), -1)[:, 0]


@pytest.mark.thorough
@pytest.mark.parametrize("name", PRICED)
def test_few_weights_are_a_constant(name: str) -> None:
    make, y, _ = PRICED[name]
    for size in (1e-300, 1e-100, 1e-30):
        machine = make().fit(X, y, size * BASE)
        values = _values(machine)
        assert np.ptp(values) < 1e-6
        if name == "KernelRidge":
            np.testing.assert_allclose(values, np.average(y, weights=BASE), atol=1e-9)
        if name == "KernelLogistic":
            odds = BASE[y == 1].sum() / BASE[y == 0].sum()
            np.testing.assert_allclose(values, np.log(odds), atol=1e-6)
        if name == "KernelHuber":  # the minimiser over constants, by brute force
            grid = np.linspace(-0.2, 0.2, 40001)
            loss = machine._trained[0]
            best = grid[np.argmin([float(BASE @ loss.value(y, np.full(60, c))) for c in grid])]
            np.testing.assert_allclose(values, best, atol=2e-5)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PRICED)
def test_many_weights_are_the_best_fit_or_said_not_to_be(name: str) -> None:
    make, y, limit = PRICED[name]
    for size in (1e8, 1e30, 1e100, 1e300):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                machine = make().fit(X, y, size * BASE)
            except ValueError as refused:
                assert "weights" in str(refused)  # noqa: PT017
                continue
        values = _values(machine)
        assert np.isfinite(values).all()
        said = any(issubclass(w.category, ConvergenceWarning) for w in caught)
        assert said == (not machine.converged_)
        if limit is not None and machine.converged_ and size >= 1e30:
            np.testing.assert_allclose(values, limit, atol=0.05)
        elif name in ("SVC", "KernelLogistic"):
            assert np.mean((values > 0) == y) == 1.0


def test_a_weight_among_others_that_counts_for_nothing_is_not_there() -> None:
    w = BASE.copy()
    w[:5] *= 1e-200
    for make, y in (
        (lambda: mc.KernelRidge(0.1, K), Y),
        (lambda: mc.SVC(1.0, K), LABELS),
        (lambda: mc.KernelHuber(alpha=0.1, kernel=K), Y),
    ):
        np.testing.assert_allclose(_values(make().fit(X, y, w)), _values(make().fit(X[5:], y[5:], w[5:])), atol=1e-9)


def test_moderate_weights_are_left_as_they_are() -> None:
    for w in (BASE, 3.0 * BASE, 1e-90 * BASE, np.array([0.0, 1.0, 7.0])):
        assert moderate_weights(w) is w
    for size in (1e-300, 1e300, 5e-324):
        w = moderate_weights(size * np.array([1.0, 2.0, 0.0]))
        assert w[2] == 0
        assert 1e-101 < w[1] < 1e101
        assert w[1] == 2 * w[0]
