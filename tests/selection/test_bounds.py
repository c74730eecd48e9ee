"""What ``generalisation`` says, beside refitting without each sample, large test sets and formulas written out
again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import svm as libsvm

import mercer as mc
from mercer.selection.bounds import rademacher_bound, vc_dimension


def _data(n: int = 40, shift: float = 1.0, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:4] = 1, 1, -1, -1
    return rng.standard_normal((n, 2)) + shift * y[:, None], y


def _left_out(K: Any, y: Any, C: float, weights: Any = None) -> float:
    """The share of errors of libsvm, refitted without each sample."""
    n, wrong = len(y), 0
    w = np.ones(n) if weights is None else weights
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        machine = libsvm.SVC(C=C, kernel="precomputed", tol=1e-8).fit(
            K[np.ix_(rest, rest)], y[rest], sample_weight=w[rest]
        )
        wrong += int(y[i] * machine.decision_function(K[i : i + 1, rest])[0] <= 0)
    return wrong / n


CELLS = [(C, gamma, seed) for C in (0.1, 1.0, 30.0) for gamma in (0.05, 0.5) for seed in range(2)]


@pytest.mark.parametrize(("C", "gamma", "seed"), CELLS)
def test_the_numbers_by_their_definitions(C: float, gamma: float, seed: int) -> None:
    X, y = _data(seed=seed)
    n, K = len(y), mc.Gaussian(gamma)(X)
    machine = mc.SVC(C, mc.Gaussian(gamma), tol=1e-8).fit(X, y)
    found = mc.generalisation(machine, X, y)
    assert found.training_error == pytest.approx(1 - machine.score(X, y))
    assert found.support_share == np.mean(np.isin(np.arange(n), machine.support_))
    assert found.effective_dimension == pytest.approx(np.trace(K @ np.linalg.inv(K + np.eye(n) / (2 * C))), rel=1e-6)
    values = machine.decision_function(X)
    norm = np.sqrt(machine.function_.norm() ** 2 + machine.intercept_[0] ** 2)
    # k(x, x) = 1, and 1 for the bias
    assert found.rademacher == pytest.approx(rademacher_bound(y * values, norm, 2 * n), rel=1e-9)


@pytest.mark.thorough
def test_leave_one_out_is_at_most_the_share_of_support_vectors() -> None:
    seen = []
    for C, gamma, seed in CELLS:
        X, y = _data(seed=seed + 10)
        machine = mc.SVC(C, mc.Gaussian(gamma), tol=1e-8).fit(X, y)
        error = _left_out(mc.Gaussian(gamma)(X), y, C)
        share = mc.generalisation(machine, X, y).support_share
        assert error <= share
        seen.append((error, share))
    errors, shares = np.array(seen).T
    assert errors.max() > 0.15  # else it was no test
    assert shares.min() < 0.5


@pytest.mark.thorough
def test_the_span_is_close_to_leaving_out() -> None:
    differences, errors, naive = [], [], []
    for seed in range(12):
        X, y = _data(40, 0.8, seed)
        C, gamma = (0.3, 0.5, 1.0)[seed % 3], 0.3
        machine = mc.SVC(C, mc.Gaussian(gamma), tol=1e-8).fit(X, y)
        error, found = _left_out(mc.Gaussian(gamma)(X), y, C), mc.generalisation(machine, X, y)
        errors.append(error)
        differences.append(abs(found.span_error - error))
        naive.append(abs(found.training_error - error))
    assert np.mean(errors) > 0.08
    assert np.mean(differences) < 0.02
    assert np.mean(differences) < np.mean(naive) / 2


@pytest.mark.thorough
def test_the_span_with_prices_of_classes() -> None:
    """Support vectors at a bound of C times their class's weight are not free."""
    differences = []
    for seed in range(10):
        X, y = _data(40, 0.8, seed)
        weights = np.where(y > 0, 0.2, 3.0)
        machine = mc.SVC(1.0, mc.Gaussian(0.3), tol=1e-8, class_weight={1.0: 0.2, -1.0: 3.0}).fit(X, y)
        differences.append(
            abs(mc.generalisation(machine, X, y).span_error - _left_out(mc.Gaussian(0.3)(X), y, 1.0, weights))
        )
    assert np.mean(differences) < 0.025


# -- radius and margin ------------------------------------------------------------------------------------------------


def _squared_slacks_left_out(K: Any, y: Any, C: float, bias: bool = True) -> float:
    """Leave-one-out of the machine with squared slacks: a hard margin in K + I/C."""
    n, wrong = len(y), 0
    hard = mc.SVC(1e7, "precomputed", tol=1e-7, fit_intercept=bias)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        if len(set(y[rest])) == 1:  # one class is left: it is what is predicted
            wrong += 1
            continue
        machine = hard.fit(K[np.ix_(rest, rest)] + np.eye(n - 1) / C, y[rest])
        wrong += int(y[i] * machine.decision_function(K[i : i + 1, rest])[0] <= 0)
    return wrong / n


@pytest.mark.thorough
@pytest.mark.parametrize("bias", [True, False])
def test_leave_one_out_of_squared_slacks_is_at_most_radius_and_margin(bias: bool) -> None:
    errors, bounds = [], []
    for seed in range(6):
        for C, gamma in ((0.3, 0.05), (3.0, 0.5), (30.0, 3.0)):
            X, y = _data(16, 1.2, seed)
            machine = mc.SVC(C, mc.Gaussian(gamma), fit_intercept=bias).fit(X, y)
            errors.append(_squared_slacks_left_out(mc.Gaussian(gamma)(X), y, C, bias))
            bounds.append(mc.generalisation(machine, X, y).radius_margin)
    assert (np.array(errors) <= np.array(bounds) + 1e-9).all()
    assert max(errors) > 0.1
    assert min(bounds) < 1


def test_radius_and_margin_where_nothing_is_alike() -> None:
    """Samples that are orthogonal, half of each class: each that is left out is taken for the other class, the error is
    1.
    """
    X = np.arange(10.0)[:, None]
    y = np.where(np.arange(10) % 2 == 0, 1.0, -1.0)
    k = mc.Gaussian(100.0)
    assert _squared_slacks_left_out(k(X), y, 1.0) == 1.0
    found = mc.generalisation(mc.SVC(1.0, k).fit(X, y), X, y).radius_margin
    assert found == pytest.approx(0.9)  # which is why the inequality has a four in it
    assert 4 * found >= 1.0


@pytest.mark.thorough
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_radius_and_margin_without_bias_far_from_the_origin(offset: float) -> None:
    """A hyperplane through the origin cannot follow data that is moved: nor may the radius be that of a ball that
    is.
    """
    violations = []
    for seed in range(12):
        X, y = _data(12, 0.4, seed)
        X = X + offset
        k = mc.Linear()
        machine = mc.SVC(1.0, k, fit_intercept=False).fit(X, y)
        error = _squared_slacks_left_out(np.asarray(k(X)), y, 1.0, False)
        violations.append(error - mc.generalisation(machine, X, y).radius_margin)
    assert max(violations) <= 1e-9


# -- Rademacher -------------------------------------------------------------------------------------------------------


def test_rademachers_formula() -> None:
    """Written out for norms in (2, 4], the second power of two: δ/(6·7)."""
    margins = np.array([-0.5, 0.2, 0.9, 3.0])
    empirical = (1.0 + 0.8 + 0.1 + 0.0) / 4
    for norm in (2.1, 3.0, 4.0):
        expected = empirical + 2 * 4 * np.sqrt(9.0) / 4 + 3 * np.sqrt(np.log(2 / (0.1 / 42)) / 8)
        assert rademacher_bound(margins, norm, 9.0, 0.1) == pytest.approx(expected, rel=1e-12)
    assert rademacher_bound(margins, 4.1, 9.0, 0.1) > rademacher_bound(margins, 4.0, 9.0, 0.1) + 1
    wide = np.mean([1.0, 0.9, 0.55, 0.0]) + 2 * 4 * 3 / (2 * 4) + 3 * np.sqrt(np.log(2 / (0.1 / 42)) / 8)
    assert rademacher_bound(margins, 3.0, 9.0, 0.1, rho=2.0) == pytest.approx(wide, rel=1e-12)


def test_the_shares_of_delta_add_up_to_at_most_delta() -> None:
    """The union over all powers of 2 holds only if what each may fail with is within δ together."""
    n, delta = 50, 0.05
    shares = []
    for k in range(-60, 61):
        rest = rademacher_bound(np.full(n, 2.0), 2.0**k, 0.0, delta)  # no errors, no trace: the last term alone
        shares.append(2 * np.exp(-((rest / 3) ** 2) * 2 * n))
    assert 0.5 * delta < sum(shares) <= delta
    assert max(shares) == pytest.approx(shares[60])  # norms of about 1 are the cheapest


def _draw(rng: Any, n: int, noise: float) -> tuple[Any, Any]:
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.standard_normal((n, 2)) + 2.0 * y[:, None]
    return X, np.where(rng.random(n) < noise, -y, y)


@pytest.mark.parametrize(("noise", "C", "gamma"), [(0.0, 0.1, 0.1), (0.2, 1.0, 0.5), (0.5, 1000.0, 20.0)])
def test_rademachers_bound_holds(noise: float, C: float, gamma: float) -> None:
    """On at least 1 − δ of the draws; where labels are noise and the machine learns them by heart, too."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(12):
        X, y = _draw(rng, 120, noise)
        machine = mc.SVC(C, mc.Gaussian(gamma)).fit(X, y)
        found = mc.generalisation(machine, X, y)
        T, t = _draw(rng, 4000, noise)
        held.append(found.rademacher >= np.mean(machine.predict(T) != t))
        if noise == 0.5:
            assert found.training_error < 0.05
    assert np.mean(held) >= 0.95


@pytest.mark.thorough
def test_rademachers_bound_says_something() -> None:
    """Two clouds far apart and enough samples: below 0.8, and still above the error."""
    rng = np.random.default_rng(1)
    X, y = _draw(rng, 700, 0.0)
    machine = mc.SVC(0.03, mc.Gaussian(0.05)).fit(X, y)
    found = mc.generalisation(machine, X, y)
    T, t = _draw(rng, 20_000, 0.0)
    assert np.mean(machine.predict(T) != t) <= found.rademacher < 0.8


def test_less_confidence_is_a_smaller_bound() -> None:
    X, y = _data()
    machine = mc.SVC().fit(X, y)
    bounds = [mc.generalisation(machine, X, y, delta).rademacher for delta in (0.001, 0.05, 0.5)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[2]


# -- VC dimension -----------------------------------------------------------------------------------------------------


def _worst_margin(X: Any) -> float:
    """The smallest margin over all labellings of the points with both classes, by a hard-margin machine; 0 where one
    cannot be separated.
    """
    worst = np.inf
    m = len(X)
    for code in range(1, 2**m - 1):
        y = np.where([(code >> i) & 1 for i in range(m)], 1, -1)
        machine = libsvm.SVC(C=1e9, kernel="linear", tol=1e-10, max_iter=100_000).fit(X, y)
        if machine.score(X, y) < 1:
            return 0.0
        worst = min(worst, 1 / np.linalg.norm(machine.coef_))
    return worst


def _simplex(m: int) -> Any:
    """m points in m − 1 dimensions, all at distance 1 from the origin and equally far from one another."""
    centred = np.eye(m) - 1 / m
    points = centred @ np.linalg.svd(centred)[2][: m - 1].T
    return points / np.linalg.norm(points[0])


def test_as_many_points_as_the_dimension_can_be_shattered() -> None:
    """Points of a simplex in the unit ball are separated in every way, with margin ρ: so h ≥ m, and the bound must not
    be below.

    For 3 points ρ = ¾ and R²/ρ² = 16/9: only rounded up (Burges 1998) does the theorem hold.
    """
    for m in (2, 3, 4, 5):
        margin = _worst_margin(_simplex(m))
        assert margin > 0.1
        bound = vc_dimension(1.0, margin, m - 1)
        assert bound >= m - 1e-6
        assert vc_dimension(1.0, 1e-9, m - 1) == m  # hyperplanes in d dimensions: d + 1
        assert vc_dimension(4.0, 2 * margin, m - 1) == pytest.approx(bound)  # units do not matter
    assert vc_dimension(1.0, 0.5, np.inf) == 5.0


def test_the_dimension_of_planted_separable_data() -> None:
    """A gap of 2ρ in data of radius R: the margin of the machine gives R²/ρ² + 1, or that rounded up, whatever the
    number of columns.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 30)) * 0.05
    y = np.where(np.arange(60) % 2 == 0, 1.0, -1.0)
    X[:, 0] = 0.8 * y
    X[:2, 1:] = 0.0  # two points that face each other
    machine = mc.SVC(1e6, mc.Linear(), tol=1e-8).fit(X, y)
    margin = 1 / machine.function_.norm()
    assert margin == pytest.approx(0.8, abs=0.01)
    assert 1 / 0.8**2 + 1 - 0.05 <= vc_dimension(1.0, margin, 30) <= 3


# -- reading it, and errors -------------------------------------------------------------------------------------------


def test_labels_and_matrices_of_any_kind() -> None:
    X, y = _data()
    k = mc.Gaussian(0.3)
    names = np.where(y > 0, "yes", "no")
    plain = mc.generalisation(mc.SVC(2.0, k).fit(X, y), X, y)
    assert mc.generalisation(mc.SVC(2.0, k).fit(X, names), X, names) == plain
    matrix = mc.generalisation(mc.SVC(2.0, "precomputed").fit(k(X), names), k(X), names)
    for name in ("training_error", "support_share", "span_error", "radius_margin", "rademacher", "effective_dimension"):
        assert getattr(matrix, name) == pytest.approx(getattr(plain, name), rel=1e-6)


def test_in_words() -> None:
    X, y = _data()
    found = mc.generalisation(mc.SVC().fit(X, y), X, y, delta=0.1)
    lines = str(found).splitlines()
    for name, value in (
        ("training error", found.training_error),
        ("support vectors/n", found.support_share),
        ("Rademacher", found.rademacher),
    ):
        (line,) = [line for line in lines if line.startswith(name)]
        assert f"{value:.4f}" in line
    assert "probability 0.9" in str(found)


def test_errors() -> None:
    X, y = _data()
    for machine in (
        mc.SVC(),
        mc.SVR().fit(X, y),
        mc.NuSVC().fit(X, y),
        mc.KernelLogistic().fit(X, y),
        mc.SVC().fit(X, np.arange(40) % 3),
        "SVC",
    ):
        with pytest.raises(TypeError, match="fitted SVC of two classes"):
            mc.generalisation(machine, X, y)
    for delta in (0.0, 1.0, -1.0):
        with pytest.raises(ValueError, match="delta"):
            mc.generalisation(mc.SVC().fit(X, y), X, y, delta=delta)


def test_other_data_than_it_was_trained_on() -> None:
    X, y = _data()
    machine = mc.SVC().fit(X, y)
    with pytest.raises(ValueError, match=r"trained|inconsistent|samples"):
        mc.generalisation(machine, X[:30], y[:30])
    with pytest.raises(ValueError, match=r"trained|inconsistent|samples"):
        mc.generalisation(machine, X, y[:30])
