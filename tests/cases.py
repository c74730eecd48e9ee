"""The case table: every kernel once, with its literal definition and data it is defined on. A new kernel is one line here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mercer as mc
from tests import oracles
from tests import sequence_oracles as sequences

Oracle = Callable[..., float]


def real(n: int = 23, d: int = 4) -> Any:
    return np.random.default_rng(n + d).standard_normal((n, d))


def histograms(n: int = 23, d: int = 5) -> Any:
    x = np.random.default_rng(n + d).random((n, d))
    return np.where(x < 0.3, 0.0, x)  # empty bins, also common ones


def column(n: int = 23) -> Any:
    return np.random.default_rng(n).random((n, 1)) * 0.95


def categories(n: int = 23) -> Any:
    return np.random.default_rng(n).integers(0, 4, (n, 1)).astype(float)


def strings(n: int = 23, letters: str = "ACGT", length: int = 30) -> list[str]:
    rng = np.random.default_rng(n)
    return ["", *("".join(rng.choice(list(letters), k)) for k in rng.integers(1, length, n - 1))]


def aligned_strings(n: int = 23) -> list[str]:
    rng = np.random.default_rng(n)
    return ["".join(rng.choice(list("ACGT"), 12)) for _ in range(n)]


def texts(n: int = 23) -> list[str]:
    rng = np.random.default_rng(n)
    return ["", *(" ".join(rng.choice(["a", "rose", "is", "a", "rose", "by", "any", "other", "name"], k)) for k in rng.integers(1, 12, n - 1))]


def series(n: int = 23) -> list[Any]:
    rng = np.random.default_rng(n)
    return [rng.standard_normal((k, 2)) for k in rng.integers(1, 12, n)]


def row_norm(X: Any) -> Any:
    return (X * X).sum(1) ** 0.5


def doubled(X: Any) -> Any:
    return 2 * X


@dataclass(frozen=True)
class Case:
    kernel: Any
    oracle: Oracle | None  # k(x, z) on one pair of rows; None: checked elsewhere
    data: Callable[[], Any] = real

    def __str__(self) -> str:
        return str(self.kernel)[:60]


def _with(oracle: Oracle, **parameters: Any) -> Oracle:
    return lambda x, z: oracle(x, z, **parameters)


A = [[2.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]
SCALES = [0.5, 1.0, 2.0, 3.0]
gaussian, linear = _with(oracles.gaussian, gamma=0.3), oracles.linear

KERNELS = [
    Case(mc.Linear(), linear),
    Case(mc.Polynomial(3, 0.5, 0.7), _with(oracles.polynomial, degree=3, offset=0.5, scale=0.7)),
    Case(mc.Polynomial(2, 0.0), _with(oracles.polynomial, degree=2, offset=0.0, scale=1.0)),
    Case(mc.Polynomial(5, -0.5, 0.3), _with(oracles.polynomial, degree=5, offset=-0.5, scale=0.3)),
    Case(mc.Gaussian(0.3), gaussian),
    Case(mc.Gaussian.from_sigma(2.0), _with(oracles.gaussian, gamma=0.25)),
    Case(mc.TaylorGaussian(0.2, 3), _with(oracles.taylor_gaussian, gamma=0.2, degree=3)),
    Case(mc.Laplacian(0.3), _with(oracles.laplacian, gamma=0.3)),
    *(Case(mc.Matern(1.3, nu), _with(oracles.matern, length_scale=1.3, nu=nu)) for nu in (0.5, 1.5, 2.5, math.inf, 0.8, 3.2)),
    Case(mc.Matern(SCALES, 2.5), _with(oracles.matern, length_scale=SCALES, nu=2.5)),
    Case(mc.RationalQuadratic(0.8, 1.7), _with(oracles.rational_quadratic, length_scale=0.8, alpha=1.7)),
    Case(mc.RationalQuadratic(SCALES, 0.6), _with(oracles.rational_quadratic, length_scale=SCALES, alpha=0.6)),
    *(Case(mc.ArcCosine(order), _with(oracles.arc_cosine, order=order)) for order in (0, 1, 2)),
    Case(mc.Sigmoid(0.3, -0.1), _with(oracles.sigmoid, scale=0.3, offset=-0.1)),
    Case(mc.Bilinear(A), _with(oracles.bilinear, A=A)),
    Case(mc.Min(), oracles.minimum, column),
    Case(mc.GeometricMin(), oracles.geometric_min, column),
    Case(mc.AllSubsets(), oracles.all_subsets),
    *(Case(mc.Anova(degree), _with(oracles.anova, degree=degree)) for degree in (0, 1, 2, 3, 4, 5)),
    Case(mc.Constant(2.5), _with(oracles.constant, c=2.5)),
    Case(mc.Categorical(), oracles.categorical, categories),
    Case(mc.HistogramIntersection(), oracles.histogram_intersection, histograms),
    Case(mc.Hellinger(), oracles.hellinger, histograms),
    Case(mc.ChiSquared(0.7), _with(oracles.chi_squared, gamma=0.7), histograms),
    Case(mc.AdditiveChiSquared(), oracles.additive_chi_squared, histograms),
]

COMPOSITES = [
    Case(mc.Gaussian(0.3) + mc.Linear(), oracles.sum_of([gaussian, linear])),
    Case(2 * mc.Gaussian(0.3) + mc.Linear() + 1.5, oracles.sum_of([oracles.scaled(2, gaussian), linear, _with(oracles.constant, c=1.5)])),
    Case(mc.Gaussian(0.3) * mc.Linear(), oracles.product_of([gaussian, linear])),
    Case((mc.Linear() + mc.Constant(0.5)) * mc.Linear(), oracles.product_of([oracles.sum_of([linear, _with(oracles.constant, c=0.5)]), linear])),
    Case(0 * mc.Linear(), oracles.scaled(0, linear)),
    Case(mc.Linear() ** 3, oracles.power(linear, 3)),
    Case(mc.exp(0.1 * mc.Linear()), oracles.exponential(oracles.scaled(0.1, linear))),
    Case(mc.geometric(0.5 * mc.Gaussian(0.3)), oracles.geometric(oracles.scaled(0.5, gaussian))),
    Case(mc.polynomial(mc.Linear(), [1.0, 0.0, 2.0]), oracles.polynomial_of(linear, [1.0, 0.0, 2.0])),
    Case(mc.Polynomial(2).normalized(), oracles.normalized(_with(oracles.polynomial, degree=2, offset=1.0, scale=1.0))),
    Case((mc.Linear() + mc.Gaussian(0.3)).normalized(), oracles.normalized(oracles.sum_of([linear, gaussian]))),
    Case(mc.HistogramIntersection().normalized(), oracles.normalized(oracles.histogram_intersection), histograms),
    Case(mc.Gaussian(0.3).centered().bind(real()), oracles.centered(gaussian, real().tolist())),
    Case(mc.Linear().centered().bind(real(), np.arange(23.0)), oracles.centered(linear, real().tolist(), list(range(23)))),
    Case(mc.Gaussian(0.3).map(doubled), oracles.mapped(gaussian, lambda x: [2 * v for v in x])),
    Case(mc.Outer(row_norm), oracles.outer(lambda x: math.sqrt(sum(v * v for v in x)))),
    Case(mc.Gaussian(0.3).on([0, 2]) + mc.Linear().on(1), lambda x, z: gaussian([x[0], x[2]], [z[0], z[2]]) + x[1] * z[1]),
    Case(mc.Gaussian(0.3).imputed("zero"), gaussian),
    Case(mc.Sigmoid(0.3, -0.1).repaired("clip").bind(real()), None),
    Case(mc.Sigmoid(0.3, -0.1).repaired("flip").bind(real()), None),
    Case(mc.Sigmoid(0.3, -0.1).repaired("shift").bind(real()), None),
]

CASES = KERNELS + COMPOSITES  # on rows of numbers

SEQUENCES = [
    Case(mc.Spectrum(2), _with(sequences.spectrum, k=2), strings),
    Case(mc.Spectrum(3, 1, [0.5, 1.0, 2.0]), _with(sequences.spectrum, k=3, k_min=1, weights=[0.5, 1.0, 2.0]), strings),
    Case(mc.Gappy(4, 2), _with(sequences.gappy, g=4, k=2), strings),
    Case(mc.Gappy(9, 4), _with(sequences.gappy_by_distance, g=9, k=4), strings),
    Case(mc.Mismatch(3, 1, "ACGT"), _with(sequences.mismatch, k=3, m=1, alphabet="ACGT"), strings),
    Case(mc.Mismatch(7, 1, "ACGT"), None, strings),
    Case(mc.Mismatch(9, 2, "ACGT"), None, strings),
    Case(mc.WeightedDegree(4), _with(sequences.weighted_degree, degree=4), aligned_strings),
    Case(mc.WeightedDegree(4, 2), _with(sequences.weighted_degree, degree=4, shift=2), aligned_strings),
    Case(mc.Subsequence(2, 0.6), _with(sequences.subsequence, length=2, decay=0.6), strings),
    Case(mc.Substring(0.5), _with(sequences.substring, decay=0.5), strings),
    Case(mc.BagOfWords("counts"), sequences.bag_of_words, texts),
    Case(mc.BagOfWords("binary"), None, texts),
    Case(mc.BagOfWords().bind(texts()), lambda x, z: sequences.tfidf(x, z, texts()), texts),
    Case(mc.GlobalAlignment(0.8), None, series),
    Case(mc.LocalAlignment(1.0, -0.5, 2.0, 0.7, 0.6), None, strings),
    Case(mc.Spectrum(2).normalized() + mc.Spectrum(3), None, aligned_strings),
    Case(mc.Spectrum(1) * mc.Gappy(3, 2), None, strings),
    Case((mc.Spectrum(1) ** 2).normalized(), None, aligned_strings),
    Case(mc.polynomial(mc.Spectrum(2), [1.0, 0.5, 2.0]), None, strings),
    Case(mc.Spectrum(2).centered().bind(strings()), oracles.centered(_with(sequences.spectrum, k=2), strings()), strings),
    Case(mc.Spectrum(2).both_strands(), sequences.both_strands(_with(sequences.spectrum, k=2)), strings),
    Case(mc.Substring(0.5).both_strands(), sequences.both_strands(_with(sequences.substring, decay=0.5)), strings),
    Case(mc.Spectrum(2).over("ACG"), None, strings),
    Case(mc.Subsequence(2).over("ACG", "letter"), None, strings),
]

EVERY = CASES + SEQUENCES
