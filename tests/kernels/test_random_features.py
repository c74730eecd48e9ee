"""Random features: their mean is the kernel, their error falls as it must, and they are a kernel like any other."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer as mc
from mercer.kernels.approximations.draws import DRAWS, draw
from mercer.testing import assert_kernel_contract, assert_reads_back

X = np.concatenate([np.random.default_rng(0).standard_normal((5, 3)) * 0.7, np.zeros((1, 3))])
SPECTRAL = [
    mc.Gaussian(0.3),
    mc.Gaussian([0.3, 1.0, 2.0]),
    mc.Laplacian(0.4),
    mc.Matern([1.0, 2.0, 0.5], 1.5),
    mc.Matern(1.3, 0.8),
    mc.Matern(1.0, math.inf),
    mc.RationalQuadratic([1.0, 2.0, 0.5], 0.7),
    mc.PowerExponential([1.0, 2.0, 1.5], 1.3),
    mc.PowerExponential(1.0, 2.0),
    mc.PowerExponential(1.0, 0.5),
    mc.PowerLaplacian(0.4, 1.5),
    mc.PowerLaplacian(0.4, 0.7),
    mc.PowerLaplacian(0.4, 2.0),
    mc.Periodic([1.7, 2.0, 3.0], 0.8),
    mc.ArcCosine(0),
    mc.ArcCosine(1),
    mc.ArcCosine(2),
]


def drawn(k: mc.Kernel, D: int, draws: str, seeds: int, rows: Any = X) -> Any:
    return np.array([mc.RandomFeatures(k, D, draws, seed).bind(rows)(rows) for seed in range(seeds)])


def error(k: mc.Kernel, D: int, draws: str, seeds: int, rows: Any) -> float:
    return float(np.sqrt(np.mean((drawn(k, D, draws, seeds, rows) - k(rows)) ** 2)))


@pytest.mark.thorough
@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("k", SPECTRAL, ids=str)
def test_the_mean_over_draws_is_the_kernel(k: mc.Kernel, draws: str) -> None:
    """Each of 21 values within 4 standard errors, an odd number of features among them."""
    found = drawn(k, 21, draws, 200)
    spread = found.std(axis=0, ddof=1) / math.sqrt(200)
    expected = k(X)
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - expected), 4 * spread + 1e-12)
    assert spread.max() > 0


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("k", SPECTRAL[:-3], ids=str)
def test_the_diagonal_is_exact(k: mc.Kernel, draws: str) -> None:
    bound = mc.RandomFeatures(k, 10, draws, 0).bind(X)
    np.testing.assert_allclose(bound(X).diagonal(), 1.0, rtol=1e-14)
    odd = mc.RandomFeatures(k, 11, draws, 0).bind(X)
    np.testing.assert_allclose(odd(X).diagonal(), 1.0, atol=1 / 11 + 1e-12)
    assert odd.features(X).shape == (6, 11)
    assert mc.RandomFeatures(k, 1, draws, 0).bind(X).features(X).shape == (6, 1)


@pytest.mark.thorough
def test_the_variance_of_independent_draws() -> None:
    """(1 − k²)²/D for the Gaussian, of 2000 draws within 15 per cent."""
    k, pair = mc.Gaussian(0.3), X[:2]
    value = k(pair)[0, 1]
    assert drawn(k, 10, "plain", 2000, pair)[:, 0, 1].var() == pytest.approx((1 - value**2) ** 2 / 10, rel=0.15)


def test_orthogonal_draws_have_less_variance() -> None:
    rows = np.random.default_rng(1).standard_normal((20, 8))
    k = mc.Gaussian(0.06)
    assert error(k, 64, "orthogonal", 40, rows) < 0.75 * error(k, 64, "plain", 40, rows)


@pytest.mark.parametrize(("d", "ratio"), [(1, 0.2), (2, 0.2), (4, 0.4), (8, 0.6)])
def test_quasi_random_draws_are_nearer(d: int, ratio: float) -> None:
    rows = np.random.default_rng(d).standard_normal((30, d))
    k = mc.Gaussian(0.5 / d)
    assert error(k, 1000, "quasi", 4, rows) < ratio * error(k, 1000, "plain", 4, rows)


@pytest.mark.thorough
@pytest.mark.parametrize("draws", ["plain", "orthogonal"])
@pytest.mark.parametrize("k", [mc.Gaussian(0.3), mc.Laplacian(0.4), mc.Matern(1.0, 1.5)], ids=str)
def test_the_error_falls_as_the_root_of_the_number(k: mc.Kernel, draws: str) -> None:
    rows, sizes = np.random.default_rng(3).standard_normal((40, 3)), 2 ** np.arange(6, 13)
    errors = [error(k, int(D), draws, 60, rows) for D in sizes]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.05)


@pytest.mark.parametrize("draws", DRAWS)
def test_what_is_drawn(draws: str) -> None:
    """Rows of standard normal and of uniform numbers, uncorrelated; orthogonal in blocks where that was asked for."""
    normal, uniform = draw(draws, 8192, 3, np.random.default_rng(0))
    assert normal.shape == (8192, 3)
    assert uniform.shape == (8192, 4)
    together = np.hstack([normal, (uniform - 0.5) * math.sqrt(12)])
    np.testing.assert_allclose(np.cov(together.T), np.eye(7), atol=0.06)
    assert np.isfinite(normal).all()
    assert ((uniform > 0) & (uniform < 1)).all()
    np.testing.assert_allclose((normal**2).sum(1).var(), 6, rtol=0.1)  # that of χ² with 3 degrees of freedom
    products = normal[:8190].reshape(-1, 3, 3) @ normal[:8190].reshape(-1, 3, 3).swapaxes(1, 2)
    orthogonal = np.abs(products[:, *np.triu_indices(3, 1)]).max()
    assert orthogonal < 1e-12 if draws == "orthogonal" else orthogonal > 1


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_few_orthogonal_frequencies_of_many_columns(count: int) -> None:
    normal, _ = draw("orthogonal", count, 5, np.random.default_rng(0))
    products = normal[:5] @ normal[:5].T
    np.testing.assert_allclose(products, np.diag(products.diagonal()), atol=1e-12)
    assert normal.shape == (count, 5)


@pytest.mark.thorough
def test_a_value_like_any_other(tmp_path: Path) -> None:
    k = mc.RandomFeatures(mc.Gaussian(0.5), 20, "quasi", 3)
    assert str(k) == "RandomFeatures(kernel=Gaussian(γ=0.5), n_components=20, draws='quasi', random_state=3)"
    assert mc.parse(str(k)) == mc.parse(repr(k)) == clone(k) == pickle.loads(pickle.dumps(k)) == k
    assert hash(clone(k)) == hash(k)
    assert k.get_params()["kernel__gamma"] == 0.5
    assert k.set_params(kernel__gamma=0.7).kernel == mc.Gaussian(0.7)
    assert k.psd
    assert k.explicit
    bound = k.bind(X)
    assert_reads_back(bound)
    assert bound.bind(X[:2]) is bound
    assert clone(bound) == bound
    machine = mc.KernelRidge(kernel=k).fit(X, X[:, 0])
    mc.save(machine, tmp_path / "machine.mercer")
    np.testing.assert_array_equal(mc.load(tmp_path / "machine.mercer").predict(X), machine.predict(X))


def test_draws_repeat_with_a_number_and_differ_without() -> None:
    seeded, free = mc.RandomFeatures(mc.Gaussian(0.3), 10, random_state=0), mc.RandomFeatures(mc.Gaussian(0.3), 10)
    assert seeded.bind(X) == seeded.bind(X)
    assert seeded.bind(X) == seeded.bind(X[:2])
    assert free.bind(X) != free.bind(X)
    shared = mc.RandomFeatures(mc.Gaussian(0.3), 10, random_state=np.random.default_rng(0))
    assert shared.bind(X) != shared.bind(X)


def test_the_kernel_inside_follows_the_data() -> None:
    rows = np.random.default_rng(0).standard_normal((60, 3))
    k = mc.RandomFeatures(mc.Gaussian("median"), 4000, random_state=0)
    weights = np.arange(60.0)
    assert k.bind(rows, weights).kernel == mc.Gaussian("median").bind(rows, weights)
    np.testing.assert_allclose(k(rows), mc.Gaussian("median")(rows), atol=0.1)


COMPOSED = {
    "a sum": lambda k: 2 * k + mc.Linear(),
    "a product": lambda k: k * mc.Linear(),
    "columns": lambda k: k.on([0, 2]) + mc.Gaussian(0.3).on([1]),
    "normalised": lambda k: (k + 1.0).normalized(),
    "centred": lambda k: k.centered(),
    "standardised": lambda k: k.standardized(),
    "a metric": lambda k: k.metric([1.0, 2.0, 0.0]),
    "rooted": lambda k: k.rooted(),
}


@pytest.mark.parametrize("how", COMPOSED)
def test_in_the_algebra(how: str) -> None:
    rows = np.random.default_rng(0).standard_normal((30, 3))
    made = COMPOSED[how](mc.RandomFeatures(mc.Gaussian(0.3), 7, random_state=0))
    assert_kernel_contract(made, rows)
    if how != "columns":
        assert made.bind(rows).features(rows).shape[0] == 30


@pytest.mark.thorough
def test_in_machines() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 2))
    y = np.sin(rows[:, 0]) * np.cos(rows[:, 1])
    labels = y > np.median(y)
    k, exact = mc.RandomFeatures(mc.Gaussian(0.5), 200, random_state=0), mc.Gaussian(0.5)
    scores = [
        mc.SVC(kernel=each, C=10).fit(rows[:200], labels[:200]).score(rows[200:], labels[200:]) for each in (k, exact)
    ]
    assert scores[0] >= scores[1] - 0.02
    assert scores[1] > 0.9
    near, truth = (mc.KernelRidge(kernel=each, alpha=0.1).fit(rows[:200], y[:200]) for each in (k, exact))
    assert near.score(rows[200:], y[200:]) > truth.score(rows[200:], y[200:]) - 0.01
    assert np.std(near.predict(rows[200:]) - truth.predict(rows[200:])) < 0.1 * y.std()
    grid = {"kernel__kernel__gamma": [0.01, 0.5], "alpha": [0.1, 1.0]}
    search = mc.KernelSearchCV(mc.KernelRidge(kernel=k), grid, cv=3).fit(rows, y)
    assert search.best_params_["kernel__kernel__gamma"] == 0.5
    values = [mc.KernelPCA(2, kernel=each).fit(rows).eigenvalues_ for each in (k, exact)]
    np.testing.assert_allclose(values[0], values[1], rtol=0.1)
    with pytest.raises(ValueError, match=r"3 features|3 columns"):
        near.predict(np.zeros((4, 3)))


@pytest.mark.parametrize("k", [mc.Gaussian(0.3), mc.Laplacian(0.3), mc.ArcCosine(1)], ids=str)
def test_precision_and_sparse_tables(k: mc.Kernel) -> None:
    rows = np.where(np.random.default_rng(0).random((40, 6)) < 0.6, 0.0, 1.5)
    bound = mc.RandomFeatures(k, 50, random_state=0).bind(rows)
    phi = bound.features(rows)
    single = bound.features(rows.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, phi, atol=1e-4)
    np.testing.assert_allclose(bound.features(sparse.csr_array(rows)), phi, atol=1e-12)


@pytest.mark.torch
def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    for k in (mc.Gaussian(0.3), *(mc.ArcCosine(order) for order in (0, 1, 2))):
        bound = mc.RandomFeatures(k, 11, random_state=0).bind(X)
        found = bound.features(torch.tensor(X))
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(), bound.features(X), atol=1e-12)
        of_tensor = mc.RandomFeatures(k, 11, random_state=0).bind(torch.tensor(X))
        np.testing.assert_array_equal(of_tensor.frequencies, bound.frequencies)


def test_many_rows_and_threads_make_no_difference() -> None:
    rows = np.random.default_rng(0).standard_normal((3000, 3))
    bound = mc.RandomFeatures(mc.Gaussian(0.3), 400, random_state=0).bind(rows)
    phi = bound.features(rows)
    P = rows @ bound.frequencies.T
    np.testing.assert_allclose(phi, np.hstack([np.cos(P), np.sin(P)]) * math.sqrt(2 / 400), atol=1e-13)
    np.testing.assert_array_equal(phi, bound.features(rows))
    assert bound.features(rows[:0]).shape == (0, 400)


def test_frequencies_without_bounds_stay_finite() -> None:
    """The tails of PowerLaplacian(power=0.05) are beyond what a float holds."""
    for k in (mc.PowerLaplacian(1.0, 0.05), mc.PowerExponential(1.0, 0.05), mc.Matern(1.0, 0.02)):
        bound = mc.RandomFeatures(k, 2000, random_state=0).bind(X)
        assert np.isfinite(bound.features(X.astype(np.float32))).all()
        np.testing.assert_allclose(bound(X), k(X), atol=0.15)


def test_chi_squared_by_two_maps() -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(8), 40)
    inner = mc.HomogeneousMap(mc.AdditiveChiSquared(), 5)
    k = mc.RandomFeatures(mc.Gaussian(0.7), 4000, random_state=0).map(inner.features)
    np.testing.assert_allclose(k(rows), mc.ChiSquared(0.7)(rows), atol=0.03)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="n_components must be a whole number of at least 1"):
        mc.RandomFeatures(mc.Gaussian(), 0)
    with pytest.raises(ValueError, match="n_components"):
        mc.RandomFeatures(mc.Gaussian(), 10.5)
    with pytest.raises(ValueError, match=r"draws='sobol'.*'plain', 'orthogonal', 'quasi'"):
        mc.RandomFeatures(mc.Gaussian(), 10, "sobol")
    for wrong in (-1, 0.5, "0", True):
        with pytest.raises(ValueError, match="random_state"):
            mc.RandomFeatures(mc.Gaussian(), 10, random_state=wrong)
    for other in (mc.Linear(), mc.Gaussian(1.0) + mc.Laplacian(1.0), mc.Spectrum(2), mc.ChiSquared()):
        with pytest.raises(TypeError, match="Nystrom"):
            mc.RandomFeatures(other)
    with pytest.raises(TypeError, match="made of kernels"):
        mc.RandomFeatures("Gaussian")
    with pytest.raises(mc.DataError, match="drawn for 3 columns, the data has 2"):
        mc.RandomFeatures(mc.Gaussian(0.3), 10).bind(X)(X[:, :2])
    with pytest.raises(ValueError, match="columns"):
        mc.RandomFeatures(mc.Gaussian([1.0, 2.0]), 10).bind(X)
    with pytest.raises(mc.DataError, match="at most 10000 columns"):
        mc.RandomFeatures(mc.Gaussian(0.3), 10, "quasi").bind(sparse.csr_array((2, 10001)))
    with pytest.raises(TypeError, match="Tune the kernel inside"):
        mc.tune(mc.KernelRidge(kernel=mc.RandomFeatures(mc.Gaussian(0.3), 10)), X, X[:, 0])
