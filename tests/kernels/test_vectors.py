from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import integrate, sparse
from sklearn.svm import SVC

import mercer as mc
from mercer.data import DataError
from mercer.kernels.vectors.radial import Bandwidth, Lengths
from tests.cases import one_of_each, real

X = real(30)
LENGTHS = [kernel for kernel in Lengths.__subclasses__() if kernel.__module__.startswith("mercer.")]


def test_worked_values() -> None:
    x, z = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, -1.0, 2.0, 1.0])
    assert [mc.Anova(d)(x, z) for d in range(5)] == [1.0, 8.5, 8.0, -46.0, -24.0]
    assert mc.AllSubsets()(x, z) == -52.5
    assert mc.Anova(5)(x, z) == 0.0


def test_scale_is_scikit_learns() -> None:
    y = np.arange(30) % 2
    for data in (X, sparse.csr_array(np.where(np.abs(X) < 0.5, 0, X))):
        bound = mc.Gaussian().bind(data)
        assert bound.gamma == pytest.approx(SVC().fit(data, y)._gamma)
        dense = data if isinstance(data, np.ndarray) else data.toarray()
        assert mc.Laplacian().bind(data).gamma == pytest.approx(1 / (dense.shape[1] * dense.std()))
        assert mc.PowerLaplacian(power=1.5).bind(data).gamma == pytest.approx(1 / (dense.shape[1] * dense.std() ** 1.5))
    assert mc.Gaussian().bind(np.ones((5, 2))).gamma == 1.0


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize(("cls", "power"), [(mc.Gaussian, 2), (mc.Laplacian, 1), (mc.PowerLaplacian, 1.5)])
def test_bandwidth_follows_the_data(cls: Any, power: float, rule: str) -> None:
    base = cls(rule).bind(X).gamma
    assert cls(rule).bind(10 * X).gamma == pytest.approx(base / 10**power)
    assert cls(rule).bind(X + 1e6).gamma == pytest.approx(base, rel=1e-6)
    assert cls(rule).bind(X).bind(100 * X).gamma == base  # bound once


@pytest.mark.parametrize("kernel", one_of_each(Bandwidth, Lengths), ids=str)
def test_a_width_that_follows_the_data_is_in_their_units(kernel: Any) -> None:
    """So ``_degree`` is the power of a length that γ multiplies."""
    name = "gamma" if isinstance(kernel, Bandwidth) else "length_scale"
    for word in ("scale", "median"):
        k = kernel._replace(**{name: word})
        np.testing.assert_allclose(k.bind(10 * X)(10 * X), k.bind(X)(X), rtol=1e-9)


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize("cls", [mc.Gaussian, mc.Laplacian])
def test_a_weight_is_a_repetition(cls: Any, rule: str) -> None:
    w = np.random.default_rng(0).integers(0, 4, 30)
    assert cls(rule).bind(X, w).gamma == pytest.approx(cls(rule).bind(np.repeat(X, w, axis=0)).gamma)


def test_median_is_the_median() -> None:
    d2 = ((X[:, None] - X[None]) ** 2).sum(-1)[np.triu_indices(30, 1)]
    assert mc.Gaussian("median").bind(X).gamma == pytest.approx(1 / np.median(d2))
    many = np.vstack([X] * 50)  # 1500 rows: a thousand of them, the same each time
    assert mc.Gaussian("median").bind(many).gamma == mc.Gaussian("median").bind(many).gamma
    mostly_equal = np.vstack([np.zeros((50, 2)), np.ones((3, 2))])
    assert mc.Gaussian("median").bind(mostly_equal).gamma == pytest.approx(0.5)
    assert mc.Gaussian("median").bind(np.zeros((5, 2))).gamma == 1.0


def test_bad_weights() -> None:
    for w in (np.zeros(30), -np.ones(30), np.ones(3)):
        with pytest.raises(ValueError, match="weights must be 30 numbers"):
            mc.Gaussian().bind(X, w)
    with pytest.raises(DataError, match="no rows"):
        mc.Gaussian().bind(X[:0])


def test_unbound_kernels_bind_to_what_they_are_compared_with() -> None:
    Y = 3 * real(12)
    np.testing.assert_array_equal(mc.Gaussian()(X, Y), mc.Gaussian().bind(Y)(X, Y))
    np.testing.assert_array_equal(mc.Gaussian()(X), mc.Gaussian().bind(X)(X))
    with pytest.raises(DataError, match="bind it first"):
        mc.Gaussian()(X[0], X[1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mc.Gaussian(-1.0), r"Gaussian\(gamma=-1.0\): gamma must be a positive number or 'scale' or 'median'"),
        (lambda: mc.Gaussian("silverman"), "'scale' or 'median'"),
        (lambda: mc.Gaussian(float("nan")), "positive"),
        (lambda: mc.Gaussian(True), "positive"),
        (lambda: mc.Polynomial(0), "degree must be a whole number of at least 1"),
        (lambda: mc.Polynomial(2.5), "whole number"),
        (lambda: mc.Anova(-1), "at least 0"),
        (lambda: mc.ArcCosine(3), "from 0 to 2"),
        (lambda: mc.Matern([1.0, -1.0]), "positive, one number per column"),
        (lambda: mc.Matern(1.0, 0.0), "nu must be a positive"),
        (lambda: mc.Bilinear([[1.0, 2.0], [3.0, 4.0]]), r"not symmetric, A\[0, 1\] = 2 but A\[1, 0\] = 3"),
        (lambda: mc.Bilinear([[1.0, 2.0], [2.0, 1.0]]), "negative eigenvalue -1"),
        (lambda: mc.Bilinear([[1.0, 2.0]]), "square"),
    ],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_parameters_set_later_are_checked_when_used() -> None:
    k = mc.Gaussian(1.0).set_params(gamma=-2.0)
    with pytest.raises(ValueError, match="gamma must be a positive"):
        k(X)


@pytest.mark.parametrize(
    ("kernel", "data", "message"),
    [
        (mc.Min(), [[-0.5]], "at least 0"),
        (mc.Min(), [[0.5, 1.0]], r"1 column\(s\), the data has 2"),
        (mc.GeometricMin(), [[0.5], [1.0]], "Row 1, column 0 is 1; this kernel needs entries below 1"),
        (mc.Matern([1.0, 2.0]), X, "2 length scales for 4 columns"),
        (mc.Bilinear([[1.0]]), X, "A of size 1, the data has 4"),
    ],
)
def test_data_outside_the_domain(kernel: mc.Kernel, data: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernel(data)


def test_different_columns_are_not_compared() -> None:
    for kernel in (mc.Gaussian(1.0), mc.Linear(), mc.Laplacian(1.0), mc.Gaussian(1.0) + mc.Polynomial()):
        with pytest.raises(DataError, match="X has 4 columns and Y has 3"):
            kernel(X, X[:, :3])


def test_polynomial_features_are_the_monomials() -> None:
    for degree in (1, 2, 3, 4):
        assert mc.Polynomial(degree).features(X).shape == (30, math.comb(4 + degree, degree))
        assert mc.Polynomial(degree, 0.0).features(X).shape == (30, math.comb(4 + degree - 1, degree))
    assert mc.Polynomial(2, -1.0).psd is not True
    assert not mc.Polynomial(2, -1.0).explicit
    with pytest.raises(TypeError, match="no finite feature map"):
        mc.Gaussian(1.0).features(X)
    with pytest.raises(MemoryError, match="features"):
        mc.Polynomial(8).features(np.zeros((10, 200)))


def test_taylor_approaches_the_gaussian() -> None:
    small, K = 0.5 * X, mc.Gaussian(0.4)(0.5 * X)
    errors = [np.abs(mc.Gaussian(0.4).taylor(degree)(small) - K).max() for degree in (2, 5, 9)]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-4
    with pytest.raises(ValueError, match="bind the kernel, or give one"):
        mc.Gaussian().taylor(2)


@pytest.mark.parametrize(
    "kernel",
    [mc.Gaussian(0.7), mc.Laplacian(0.7), mc.Matern(1.3, 1.5), mc.Matern(1.3, math.inf), mc.Matern(0.7, 2.2)],
    ids=str,
)
def test_spectral_density_is_the_fourier_transform(kernel: Any) -> None:
    for delta in (0.0, 0.3, 1.1):
        value, _ = integrate.quad(
            lambda w, t=delta: 2 * kernel.spectral_density([[w]])[0] * math.cos(w * t), 0, 400, limit=2000
        )
        assert value == pytest.approx(kernel(np.array([0.0]), np.array([delta])), abs=3e-3)
    two = kernel.spectral_density([[0.3, -0.4]])
    assert two.shape == (1,)


def test_spectral_density_in_two_dimensions() -> None:
    w = np.linspace(-30, 30, 601)
    grid = np.stack(np.meshgrid(w, w), -1).reshape(-1, 2)
    density = mc.Matern([0.5, 1.5], 2.5).spectral_density(grid)
    x, z = np.zeros(2), np.array([0.4, -0.7])
    value = float(density @ np.cos(grid @ (x - z))) * (w[1] - w[0]) ** 2
    assert value == pytest.approx(mc.Matern([0.5, 1.5], 2.5)(x, z), abs=1e-3)


def test_matern_half_integers_are_the_bessel_form() -> None:
    for nu in (0.5, 1.5, 2.5):
        np.testing.assert_allclose(mc.Matern(1.3, nu)(X), mc.Matern(1.3, nu + 1e-9)(X), rtol=1e-6)


def test_zero_vectors_have_an_angle_too() -> None:
    Z = np.vstack([np.zeros(4), X[:3]])
    for order in (0, 1, 2):
        K = mc.ArcCosine(order)(Z)
        np.testing.assert_allclose(K[0], 0.5 if order == 0 else 0.0)
        assert np.linalg.eigvalsh(K)[0] > -1e-12


def test_negation_of_a_vector_is_opposite() -> None:
    assert mc.ArcCosine(0)(X[0], -X[0]) == pytest.approx(0.0, abs=1e-7)


def test_scikit_learn_uses_them() -> None:
    from sklearn.metrics import pairwise_kernels
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.model_selection import GridSearchCV

    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ours, theirs = SVC(kernel=mc.Gaussian(0.5)).fit(X, y), SVC(gamma=0.5).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    assert SVC(kernel=mc.Gaussian()).fit(X, y).score(X, y) > 0.5
    np.testing.assert_allclose(pairwise_kernels(X, metric=mc.Gaussian(0.5)), rbf_kernel(X, gamma=0.5), atol=1e-12)
    search = GridSearchCV(
        SVC(kernel=mc.Gaussian(1.0) + mc.Linear()), {"kernel__gaussian__gamma": [0.1, 1.0], "C": [1, 10]}, cv=2
    ).fit(X, y)
    assert "kernel__gaussian__gamma" in search.best_params_


# ---------------------------------------------------------------------------------------------------------------------
# Periodic
# ---------------------------------------------------------------------------------------------------------------------


def test_periodic_is_scikit_learns_in_one_column_and_a_kernel_in_more() -> None:
    from sklearn.gaussian_process.kernels import ExpSineSquared

    rng = np.random.default_rng(0)
    x = rng.uniform(-9, 9, (60, 1))
    np.testing.assert_allclose(mc.Periodic(2.3, 0.7)(x), ExpSineSquared(0.7, 2.3)(x), rtol=1e-12)
    X = rng.uniform(0, 1.5, (60, 2))
    smallest = np.linalg.eigvalsh(mc.Periodic(1.0, 1.0)(X))[0]
    assert smallest > -1e-12 > np.linalg.eigvalsh(ExpSineSquared(1.0, 1.0)(X))[0]  # of the norm it is none
    factors = mc.Periodic(1.7, 0.8).on(0) * mc.Periodic(0.9, 0.8).on(1)
    np.testing.assert_allclose(mc.Periodic([1.7, 0.9], 0.8)(X), factors(X), rtol=1e-12)


def test_periodic_far_from_the_origin() -> None:
    """2⁴⁰ periods later it is the same time of day: the remainder is exact."""
    x = np.array([[0.25], [0.5], [2.0**40 * 3.0 + 0.25]])
    K = mc.Periodic(3.0, 0.1)(x)
    assert K[0, 2] == 1.0
    np.testing.assert_allclose(K[1, 2], K[0, 1], rtol=1e-13)


@pytest.mark.parametrize("period", [1.3, [1.3, 0.6, 2.0]])
def test_the_period_is_learnt(period: Any) -> None:
    """Its gradient by the period, by central differences in 40 digits; one period for all columns, or one for each."""
    X = np.random.default_rng(1).uniform(-5, 5, (12, 3))
    gradients = mc.Periodic(period, 0.9).gradient(X)
    names = ["period"] if isinstance(period, float) else [f"period[{j}]" for j in range(3)]
    assert sorted(gradients) == sorted([*names, "length_scale"])
    for j, name in enumerate(names):
        with mpmath.workdps(40):

            def moved(sign: int, x: Any, z: Any, j: int = j) -> Any:
                periods = [mpmath.mpf(p) for p in np.broadcast_to(period, 3).tolist()]
                periods = [
                    p * mpmath.exp(sign * 1e-15) if len(names) == 1 or i == j else p for i, p in enumerate(periods)
                ]
                return mpmath.exp(
                    -sum(
                        mpmath.sin(mpmath.pi * (mpmath.mpf(a) - b) / p) ** 2
                        for a, b, p in zip(x, z, periods, strict=True)
                    )
                    * 2
                    / mpmath.mpf(0.9) ** 2
                )

            truth = [[float((moved(1, x, z) - moved(-1, x, z)) / 2e-15) for z in X.tolist()] for x in X.tolist()]
        np.testing.assert_allclose(gradients[name].dense(), truth, rtol=1e-9, atol=1e-12)


def test_periods_must_fit_the_columns() -> None:
    with pytest.raises(DataError, match="2 periods, the data has 3 columns"):
        mc.Periodic([1.0, 2.0])(np.zeros((4, 3)))


# -- widths that follow the data, and one for each column -------------------------------------------------------------


def test_a_gaussian_with_a_gamma_for_each_column() -> None:
    X, Y, gamma = real(7, 3), real(5, 3), [0.3, 1.0, 2.5]
    expected = np.exp(-np.sum(gamma * (X[:, None] - Y[None]) ** 2, axis=-1))
    k = mc.Gaussian(gamma)
    np.testing.assert_allclose(k(X, Y), expected, rtol=1e-12)
    np.testing.assert_allclose(k(X.astype(np.float32), Y.astype(np.float32)), expected, rtol=1e-5)
    np.testing.assert_allclose(
        k.spectral_density(X), mc.Matern(1 / np.sqrt(2 * np.array(gamma)), np.inf).spectral_density(X)
    )
    step = 1e-6
    gradient = k.gradient(X)
    for j in range(3):
        up, down = (np.array(gamma) * np.exp(sign * step * (np.arange(3) == j)) for sign in (1, -1))
        difference = (mc.Gaussian(up)(X) - mc.Gaussian(down)(X)) / (2 * step)
        np.testing.assert_allclose(gradient[f"gamma[{j}]"].dense(), difference, atol=1e-8)
    with pytest.raises(ValueError, match="one number γ"):
        k.taylor(3)
    with pytest.raises(ValueError, match="3 length scales for 4 columns"):
        k(real(5, 4))


@pytest.mark.parametrize("make", LENGTHS)
@pytest.mark.parametrize("word", ["scale", "median"])
def test_lengths_follow_the_data_as_gamma_does(make: Any, word: str) -> None:
    X = real(30, 3) * 7.0
    gamma, bound = mc.Gaussian(word).bind(X).gamma, make(word).bind(X)
    assert bound.length_scale == pytest.approx((2 * gamma) ** -0.5)
    np.testing.assert_allclose(make(word)(X), bound(X))
    np.testing.assert_allclose(mc.Matern(word, np.inf)(X), mc.Gaussian(word)(X), rtol=1e-12)
    with pytest.raises(ValueError, match="length_scale"):
        make("mean")
