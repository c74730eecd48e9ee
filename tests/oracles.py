"""Brute-force kernels for the tests: the literal mathematical definitions, in plain Python floats and loops, slow on
purpose.

Nothing here comes from the library. A base oracle is called `name(x, z, **parameters)` with one sample each side; the
composites at the end take callables `k(x, z)` and return a new one; `matrix` is the double loop.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

Vector = Sequence[float]
Oracle = Callable[[Any, Any], float]


def _pairs(x: Vector, z: Vector) -> list[tuple[float, float]]:
    """[(x_1, z_1), ..., (x_n, z_n)] as Python floats; different lengths are an error."""
    return [(float(a), float(b)) for a, b in zip(x, z, strict=True)]


def _histogram_pairs(x: Vector, z: Vector) -> list[tuple[float, float]]:
    """The pairs (x_i, z_i), all of them ≥ 0, else an error."""
    pairs = _pairs(x, z)
    if any(a < 0 or b < 0 for a, b in pairs):
        raise ValueError("negative input")
    return pairs


def _smaller(x: Vector, z: Vector) -> float:
    """min(x, z) for samples of exactly one non-negative column."""
    ((a, b),) = _histogram_pairs(x, z)
    return min(a, b)


def _scaled_squared_distance(x: Vector, z: Vector, length_scale: float | Vector) -> float:
    """Σ ((x_i − z_i)/ℓ_i)²."""
    pairs = _pairs(x, z)
    scales = (
        [float(length_scale)] * len(pairs)
        if isinstance(length_scale, (int, float))
        else [float(v) for v in length_scale]
    )
    return math.fsum(((a - b) / s) ** 2 for (a, b), s in zip(pairs, scales, strict=True))


# --- vectors
# ---------------------------------------------------------------------------------------------------------------


def linear(x: Vector, z: Vector) -> float:
    """Σ x_i z_i."""
    return math.fsum(a * b for a, b in _pairs(x, z))


def polynomial(x: Vector, z: Vector, degree: int = 2, offset: float = 1.0, scale: float = 1.0) -> float:
    """(scale·⟨x, z⟩ + offset)^degree, multiplied out degree times."""
    base = scale * linear(x, z) + offset
    value = 1.0
    for _ in range(degree):
        value *= base
    return value


def gaussian(x: Vector, z: Vector, gamma: float) -> float:
    """exp(−γ Σ (x_i − z_i)²)."""
    return math.exp(-gamma * math.fsum((a - b) ** 2 for a, b in _pairs(x, z)))


def laplacian(x: Vector, z: Vector, gamma: float) -> float:
    """exp(−γ Σ |x_i − z_i|)."""
    return math.exp(-gamma * math.fsum(abs(a - b) for a, b in _pairs(x, z)))


def _matern_by_integral(r: float, nu: float, step: float = 0.005) -> float:
    """2^{1−ν}/Γ(ν) t^ν K_ν(t), t = √(2ν) r > 0, K_ν(t) = ∫_0^∞ exp(−t cosh u) cosh(νu) du by the trapezoid rule.

    The factor before the integral goes inside, in logarithms, so that a large K_ν never overflows. The integrand has
    its peak at or before u = asinh(ν/t) ≤ log(1 + 2ν/t); past that the sum stops once a term no longer counts.
    """
    log_t = 0.5 * math.log(2 * nu) + math.log(r)
    log_factor = (1 - nu) * math.log(2) - math.lgamma(nu) + nu * log_t
    past_peak = math.log(2 * nu + math.exp(log_t)) - log_t
    terms: list[float] = []
    largest = 0.0
    for i in itertools.count():
        u = i * step
        t_cosh = 0.5 * (math.exp(log_t + u) + math.exp(log_t - u))
        log_cosh = nu * u + math.log1p(math.exp(-2 * nu * u)) - math.log(2)
        term = math.exp(log_factor + log_cosh - t_cosh) * (0.5 if i == 0 else 1.0)
        terms.append(term)
        largest = max(largest, term)
        if u > past_peak and term <= 1e-25 * largest:
            return step * math.fsum(terms)
    raise AssertionError("unreachable")


def matern(x: Vector, z: Vector, length_scale: float | Vector, nu: float) -> float:
    """2^{1−ν}/Γ(ν) (√(2ν) r)^ν K_ν(√(2ν) r), r² = Σ ((x_i − z_i)/ℓ_i)²; 1 at r = 0; exp(−r²/2) for ν = ∞."""
    r = math.sqrt(_scaled_squared_distance(x, z, length_scale))
    if r == 0:
        return 1.0
    if nu == 0.5:
        return math.exp(-r)
    if nu == 1.5:
        return (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r)
    if nu == 2.5:
        return (1 + math.sqrt(5) * r + 5 * r**2 / 3) * math.exp(-math.sqrt(5) * r)
    if nu == math.inf:
        return math.exp(-(r**2) / 2)
    return _matern_by_integral(r, nu)


def rational_quadratic(x: Vector, z: Vector, length_scale: float | Vector, alpha: float) -> float:
    """(1 + Σ ((x_i − z_i)/ℓ_i)² / (2α))^−α."""
    return float((1 + _scaled_squared_distance(x, z, length_scale) / (2 * alpha)) ** -alpha)


def power_exponential(x: Vector, z: Vector, length_scale: float | Vector, power: float) -> float:
    """exp(−(Σ ((x_i − z_i)/ℓ_i)²)^(q/2))."""
    return math.exp(-(_scaled_squared_distance(x, z, length_scale) ** (power / 2)))


def power_laplacian(x: Vector, z: Vector, gamma: float, power: float) -> float:
    """exp(−γ Σ |x_i − z_i|^q)."""
    return math.exp(-gamma * sum(abs(a - b) ** power for a, b in _pairs(x, z)))


def periodic(x: Vector, z: Vector, period: float | Vector, length_scale: float) -> float:
    """Π_i exp(−2 sin²(π(x_i − z_i)/p_i)/ℓ²)."""
    pairs = _pairs(x, z)
    periods = [period] * len(pairs) if isinstance(period, float) else list(period)
    return math.prod(
        math.exp(-2 * math.sin(math.pi * (a - b) / p) ** 2 / length_scale**2)
        for (a, b), p in zip(pairs, periods, strict=True)
    )


def _angle(x: Vector, z: Vector) -> float:
    """θ = 2 atan2(‖x/‖x‖ − z/‖z‖‖, ‖x/‖x‖ + z/‖z‖‖), the angle between x and z (accurate near 0 and π); π/2 for a zero
    vector.
    """
    pairs = _pairs(x, z)
    norm_x, norm_z = math.hypot(*(a for a, _ in pairs)), math.hypot(*(b for _, b in pairs))
    if norm_x == 0 or norm_z == 0:
        return math.pi / 2
    difference = math.hypot(*(a / norm_x - b / norm_z for a, b in pairs))
    total = math.hypot(*(a / norm_x + b / norm_z for a, b in pairs))
    return 2 * math.atan2(difference, total)


def arc_cosine(x: Vector, z: Vector, order: int) -> float:
    """(1/π) ‖x‖ⁿ ‖z‖ⁿ J_n(θ): J_0 = π−θ, J_1 = sin θ + (π−θ) cos θ, J_2 = 3 sin θ cos θ + (π−θ)(1 + 2cos²θ)."""
    theta = _angle(x, z)
    if order == 0:
        j = math.pi - theta
    elif order == 1:
        j = math.sin(theta) + (math.pi - theta) * math.cos(theta)
    elif order == 2:
        j = 3 * math.sin(theta) * math.cos(theta) + (math.pi - theta) * (1 + 2 * math.cos(theta) ** 2)
    else:
        raise ValueError("order must be 0, 1 or 2")
    value = j / math.pi
    for _ in range(order):
        value *= math.hypot(*(float(a) for a in x)) * math.hypot(*(float(b) for b in z))
    return value


def sigmoid(x: Vector, z: Vector, scale: float, offset: float) -> float:
    """tanh(scale·⟨x, z⟩ + offset)."""
    return math.tanh(scale * linear(x, z) + offset)


def bilinear(x: Vector, z: Vector, A: Sequence[Vector]) -> float:
    """Σ_i Σ_j x_i A_ij z_j."""
    return math.fsum(
        float(a) * float(a_ij) * float(b) for a, row in zip(x, A, strict=True) for a_ij, b in zip(row, z, strict=True)
    )


def minimum(x: Vector, z: Vector) -> float:
    """min(x, z), one column, x, z ≥ 0."""
    return _smaller(x, z)


def geometric_min(x: Vector, z: Vector) -> float:
    """1/(1 − min(x, z)), one column, 0 ≤ x, z < 1."""
    if float(x[0]) >= 1 or float(z[0]) >= 1:
        raise ValueError("input must be below 1")
    return 1 / (1 - _smaller(x, z))


def anova(x: Vector, z: Vector, degree: int) -> float:
    """Σ_{|A|=degree} Π_{i∈A} x_i z_i over the subsets A of the columns."""
    return math.fsum(
        math.prod((a * b for a, b in subset), start=1.0) for subset in itertools.combinations(_pairs(x, z), degree)
    )


def all_subsets(x: Vector, z: Vector) -> float:
    """Σ_A Π_{i∈A} x_i z_i over every subset A of the columns, which is Π (1 + x_i z_i)."""
    pairs = _pairs(x, z)
    subsets = itertools.chain.from_iterable(itertools.combinations(pairs, size) for size in range(len(pairs) + 1))
    return math.fsum(math.prod((a * b for a, b in subset), start=1.0) for subset in subsets)


def constant(x: Any, z: Any, c: float) -> float:
    """c."""
    return float(c)


def overlap(x: Vector, z: Vector) -> float:
    """The number of places at which x and z have the same value."""
    return float(sum(1 for a, b in _pairs(x, z) if a == b))


def categorical(x: Sequence[Any], z: Sequence[Any]) -> float:
    """1 if x = z in every column, else 0."""
    return 1.0 if all(a == b for a, b in zip(x, z, strict=True)) else 0.0


def taylor_gaussian(x: Vector, z: Vector, gamma: float, degree: int) -> float:
    """exp(−γ‖x‖²) exp(−γ‖z‖²) Σ_{|n| ≤ degree} (2γ)^{|n|}/n! xⁿ zⁿ over multi-indices n, n! = Π n_i!."""
    pairs = _pairs(x, z)
    terms = []
    for n in itertools.product(range(degree + 1), repeat=len(pairs)):
        if sum(n) <= degree:
            weight = (2 * gamma) ** sum(n) / math.prod(math.factorial(n_i) for n_i in n)
            terms.append(weight * math.prod(a**n_i * b**n_i for (a, b), n_i in zip(pairs, n, strict=True)))
    return math.exp(-gamma * linear(x, x)) * math.exp(-gamma * linear(z, z)) * math.fsum(terms)


# --- histograms
# ------------------------------------------------------------------------------------------------------------


def histogram_intersection(x: Vector, z: Vector) -> float:
    """Σ min(x_i, z_i)."""
    return math.fsum(min(a, b) for a, b in _histogram_pairs(x, z))


def hellinger(x: Vector, z: Vector) -> float:
    """Σ √(x_i z_i)."""
    return math.fsum(math.sqrt(a * b) for a, b in _histogram_pairs(x, z))


def chi_squared(x: Vector, z: Vector, gamma: float) -> float:
    """exp(−γ Σ (x_i − z_i)²/(x_i + z_i)), 0/0 = 0."""
    return math.exp(
        -gamma * math.fsum((a - b) ** 2 / (a + b) if a + b != 0 else 0.0 for a, b in _histogram_pairs(x, z))
    )


def additive_chi_squared(x: Vector, z: Vector) -> float:
    """Σ 2 x_i z_i/(x_i + z_i), 0/0 = 0."""
    return math.fsum(2 * a * b / (a + b) if a + b != 0 else 0.0 for a, b in _histogram_pairs(x, z))


# --- composites
# ------------------------------------------------------------------------------------------------------------


def sum_of(ks: Sequence[Oracle]) -> Oracle:
    """Σ_m k_m(x, z)."""
    return lambda x, z: math.fsum(k(x, z) for k in ks)


def product_of(ks: Sequence[Oracle]) -> Oracle:
    """Π_m k_m(x, z)."""
    return lambda x, z: math.prod((k(x, z) for k in ks), start=1.0)


def scaled(a: float, k: Oracle) -> Oracle:
    """a·k(x, z)."""
    return lambda x, z: a * k(x, z)


def power(k: Oracle, n: int) -> Oracle:
    """k(x, z)ⁿ, multiplied out n times."""
    return lambda x, z: math.prod((k(x, z) for _ in range(n)), start=1.0)


def exponential(k: Oracle) -> Oracle:
    """exp(k(x, z))."""
    return lambda x, z: math.exp(k(x, z))


def geometric(k: Oracle) -> Oracle:
    """1/(1 − k(x, z)), |k(x, z)| < 1."""

    def value(x: Any, z: Any) -> float:
        base = k(x, z)
        if abs(base) >= 1:
            raise ValueError("|k| must be below 1")
        return 1 / (1 - base)

    return value


def polynomial_of(k: Oracle, coefficients: Sequence[float]) -> Oracle:
    """Σ_m c_m k(x, z)^m, coefficients c_0, c_1, c_2, … (constant term first)."""
    return lambda x, z: math.fsum(float(c) * power(k, m)(x, z) for m, c in enumerate(coefficients))


def normalized(k: Oracle) -> Oracle:
    """k(x, z)/√(k(x, x) k(z, z)); 0 when k(x, x) = 0 or k(z, z) = 0; an error when one is negative."""

    def value(x: Any, z: Any) -> float:
        k_xx, k_zz = k(x, x), k(z, z)
        if k_xx < 0 or k_zz < 0:
            raise ValueError("k(x, x) < 0")
        if k_xx == 0 or k_zz == 0:
            return 0.0
        return k(x, z) / (math.sqrt(k_xx) * math.sqrt(k_zz))

    return value


def seen_by(k: Oracle, landmarks: Sequence[Any], inverse: Any) -> Oracle:
    """Σ_ij k(x, l_i) (K^−1)_ij k(l_j, z), from the inverse of the matrix of the landmarks."""
    M = [[float(v) for v in row] for row in inverse]

    def value(x: Any, z: Any) -> float:
        left, right = [k(x, s) for s in landmarks], [k(s, z) for s in landmarks]
        return math.fsum(a * m * b for a, row in zip(left, M, strict=True) for m, b in zip(row, right, strict=True))

    return value


def centered(k: Oracle, sample: Sequence[Any], weights: Vector | None = None) -> Oracle:
    """k(x, z) − Σ_i w_i k(x, s_i) − Σ_i w_i k(s_i, z) + Σ_ij w_i w_j k(s_i, s_j), Σ_i w_i = 1 (w_i = 1/n by
    default).
    """
    raw = [1.0] * len(sample) if weights is None else [float(w) for w in weights]
    weighted = [(w / math.fsum(raw), s) for w, s in zip(raw, sample, strict=True)]
    grand_mean = math.fsum(w * v * k(s, t) for w, s in weighted for v, t in weighted)

    def value(x: Any, z: Any) -> float:
        return math.fsum(
            [k(x, z), grand_mean, *(-w * k(x, s) for w, s in weighted), *(-w * k(s, z) for w, s in weighted)]
        )

    return value


def outer(g: Callable[[Any], float]) -> Oracle:
    """g(x) g(z)."""
    return lambda x, z: g(x) * g(z)


def mapped(k: Oracle, f: Callable[[Any], Any]) -> Oracle:
    """k(f(x), f(z))."""
    return lambda x, z: k(f(x), f(z))


def matrix(k: Oracle, X: Sequence[Any], Y: Sequence[Any] | None = None) -> list[list[float]]:
    """K_ij = k(X_i, Y_j), Y = X when it is None."""
    return [[float(k(x, z)) for z in (X if Y is None else Y)] for x in X]


def random_waves(x: Vector, z: Vector, frequencies: list[list[float]]) -> float:
    """The mean of cos(ω·(x − z)) over the frequencies."""
    angles = [sum(w * (a - b) for w, a, b in zip(omega, x, z, strict=True)) for omega in frequencies]
    return sum(math.cos(angle) for angle in angles) / len(angles)


def sketch(x: Vector, z: Vector, cells: Any, offset: float, scale: float, size: int) -> float:
    """Every product of three features, one of each factor, in the cell that is the sum of theirs: no Fourier
    transform.
    """

    def sketched(row: Vector) -> list[float]:
        phi = [math.sqrt(scale) * v for v in row] + [math.sqrt(offset)]
        out = [0.0] * size
        for chosen in itertools.product(range(len(phi)), repeat=3):
            places = [int(cells[t][j]) for t, j in enumerate(chosen)]
            value = math.prod(math.copysign(phi[j], phi[j] * c) for j, c in zip(chosen, places, strict=True))
            out[sum(abs(c) - 1 for c in places) % size] += value
        return out

    return sum(a * b for a, b in zip(sketched(x), sketched(z), strict=True))


def sampled_chi_squared(x: Vector, z: Vector, order: int, period: float) -> float:
    step, total = 2 * math.pi / period, 0.0
    for a, b in zip(x, z, strict=True):
        if a > 0 and b > 0:
            waves = (
                math.cos(i * step * math.log(a / b)) / math.cosh(math.pi * i * step) for i in range(-order, order + 1)
            )
            total += math.sqrt(a * b) * step * sum(waves)
    return total
