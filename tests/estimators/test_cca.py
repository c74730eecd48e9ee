"""Canonical correlation: scikit-learn's, the closed form, the dense block eigenproblem with kernels, and delays planted
in series.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse, stats
from sklearn import cross_decomposition
from sklearn.base import clone

import mercer as mc
from tests.cases import filled_graphs, strings

G = mc.Gaussian(0.3)


def _views(n: int = 80, seed: int = 0, noise: float = 0.5) -> tuple[Any, Any]:
    """Two views of one circle and one line, with private noise."""
    rng = np.random.default_rng(seed)
    s, t = rng.uniform(-2, 2, n), rng.standard_normal(n)
    X = np.column_stack([s, t, rng.standard_normal(n)]) + noise * rng.standard_normal((n, 3))
    Y = np.column_stack([np.sin(2 * s), t - s, rng.standard_normal(n), t]) + noise * rng.standard_normal((n, 4))
    return X, Y


def _centred(K: Any) -> Any:
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def _range(K: Any) -> tuple[Any, Any]:
    s, U = np.linalg.eigh(K)
    keep = s > 1e-11 * s[-1]
    return s[keep], U[:, keep]


def _dense(Kx: Any, Ky: Any, gamma: float, m: int) -> tuple[Any, Any, Any]:
    """[[0, KxKy], [KyKx, 0]] v = λ [[Kx² + γKx, 0], [0, Ky² + γKy]] v on the ranges of centred matrices: λ, α, β for
    the m largest.
    """
    (s, U), (t, V) = _range(Kx), _range(Ky)
    C = (s[:, None] * (U.T @ V)) * t
    left = np.block([[np.zeros((len(s), len(s))), C], [C.T, np.zeros((len(t), len(t)))]])
    values, vectors = linalg.eigh(left, np.diag(np.concatenate([s * s + gamma * s, t * t + gamma * t])))
    order = np.argsort(-values)[:m]
    return values[order], U @ vectors[: len(s), order], V @ vectors[len(s) :, order]


def _columns(Z: Any) -> Any:
    """Columns of mean 0 and length 1, the largest entry positive: directions without scale and sign."""
    Z = Z - Z.mean(0)
    Z = Z / np.linalg.norm(Z, axis=0)
    return Z * np.sign(Z[np.argmax(np.abs(Z), axis=0), np.arange(Z.shape[1])])


def _correlations(Zx: Any, Zy: Any) -> Any:
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(Zx.T, Zy.T, strict=True)])


def _closed_form(X: Any, Y: Any) -> Any:
    """Singular values of Sxx^−½ Sxy Syy^−½."""
    X, Y = X - X.mean(0), Y - Y.mean(0)
    half = [linalg.inv(linalg.sqrtm(A.T @ A).real) for A in (X, Y)]
    return linalg.svdvals(half[0] @ (X.T @ Y) @ half[1])


# -- CCA ---------------------------------------------------------------------------------------------------------------


def test_cca_is_the_closed_form_and_scikit_learns() -> None:
    X, Y = _views(200)
    ours = mc.CCA(3).fit(X, Y)
    peer = cross_decomposition.CCA(n_components=3, tol=1e-12, max_iter=10000).fit(X, Y)
    np.testing.assert_allclose(ours.correlations_, _closed_form(X, Y)[:3], atol=1e-9)
    np.testing.assert_allclose(ours.correlations_, _correlations(*peer.transform(X, Y)), atol=1e-5)
    Zx, Zy = ours.transform(X, Y)
    np.testing.assert_allclose(_columns(Zx), _columns(peer.transform(X)), atol=1e-3)
    np.testing.assert_allclose(_correlations(Zx, Zy), ours.correlations_, atol=1e-9)
    np.testing.assert_array_equal(ours.transform(X), Zx)


def test_cca_variates_are_uncorrelated_within_and_across() -> None:
    X, Y = _views(150)
    Zx, Zy = mc.CCA(3).fit(X, Y).transform(X, Y)
    both = np.corrcoef(Zx.T, Zy.T)
    both[np.arange(3), np.arange(3, 6)] = both[np.arange(3, 6), np.arange(3)] = 0.0
    np.testing.assert_allclose(both, np.eye(6), atol=1e-9)


def test_cca_does_not_see_invertible_maps_and_shifts() -> None:
    X, Y = _views(100)
    rng = np.random.default_rng(3)
    a = mc.CCA(2).fit(X, Y)
    b = mc.CCA(2).fit(X @ rng.standard_normal((3, 3)) + 7.0, 1e4 * Y @ rng.standard_normal((4, 4)))
    np.testing.assert_allclose(a.correlations_, b.correlations_, atol=1e-8)
    c = mc.CCA(2).fit(Y, X)
    np.testing.assert_allclose(a.correlations_, c.correlations_, atol=1e-10)


def test_cca_on_new_points_is_affine() -> None:
    X, Y = _views(100)
    new, _ = _views(30, seed=1)
    model = mc.CCA(2).fit(X, Y)
    design = np.column_stack([X, np.ones(len(X))])
    W = np.linalg.lstsq(design, model.transform(X), rcond=None)[0]
    np.testing.assert_allclose(model.transform(new), np.column_stack([new, np.ones(30)]) @ W, atol=1e-9)


# -- kernel CCA: the definition ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [1e-2, 1.0, 30.0])
@pytest.mark.thorough
def test_canonical_values_solve_the_block_eigenproblem(gamma: float) -> None:
    X, Y = _views()
    values, _, _ = _dense(_centred(G(X)), _centred(mc.Gaussian(0.5)(Y)), gamma, 4)
    model = mc.KernelCCA(4, G, mc.Gaussian(0.5), alpha=gamma).fit(X, Y)
    np.testing.assert_allclose(model.canonical_values_, values, atol=1e-7)
    assert np.all(np.asarray(model.alpha_) == gamma)  # one number, or one for each view


def test_correlations_are_those_of_the_projections_and_at_most_one() -> None:
    X, Y = _views()
    for gamma in (1e-6, 0.1, 10.0):
        model = mc.KernelCCA(5, G, G, alpha=gamma).fit(X, Y)
        np.testing.assert_allclose(model.correlations_, _correlations(*model.transform(X, Y)), atol=1e-8)
        assert np.all(np.abs(model.correlations_) <= 1 + 1e-12)
        assert np.all(model.canonical_values_ <= 1 + 1e-12)
        assert np.all(np.diff(model.canonical_values_) <= 1e-12)
    assert np.all(model.canonical_values_ < model.correlations_ - 0.01)  # γ = 10 shrinks the value, not the correlation


@pytest.mark.parametrize("new", [False, True], ids=["training points", "new points"])
def test_transform_is_the_definition(new: bool) -> None:
    """Σ_i α_i k_c(x, x_i), centred with training means; the eigenvalues here are apart, so each direction is
    determined.
    """
    X, Y = _views()
    A, B = _views(25, seed=5) if new else (X, Y)
    Kx, Ky = G(X), G(Y)
    values, alpha, beta = _dense(_centred(Kx), _centred(Ky), 1.0, 3)
    assert np.all(np.diff(values) < -1e-3)
    model = mc.KernelCCA(3, G, G, alpha=1.0).fit(X, Y)
    for ours, k, K, a in ((model.transform(A), G(A, X), Kx, alpha), (model.transform_y(B), G(B, Y), Ky, beta)):
        truth = (k - k.mean(1, keepdims=True) - K.mean(0) + K.mean()) @ a
        scale = np.sum(ours * truth, 0) / np.sum(truth * truth, 0)  # least squares: no shift allowed
        np.testing.assert_allclose(ours, truth * scale, atol=1e-6 * np.abs(ours).max())
    Zx, Zy = model.transform(A, B)
    np.testing.assert_array_equal(Zx, model.transform(A))
    np.testing.assert_array_equal(Zy, model.transform_y(B))


def test_projections_have_the_scale_of_the_constraint() -> None:
    """αᵀ(K² + γK)α = 1 in both views."""
    X, Y = _views()
    _, alpha, beta = _dense(_centred(G(X)), _centred(G(Y)), 2.0, 2)
    Zx, Zy = mc.KernelCCA(2, G, G, alpha=2.0).fit(X, Y).transform(X, Y)
    for Z, K, a in ((Zx, _centred(G(X)), alpha), (Zy, _centred(G(Y)), beta)):
        unit = a / np.sqrt(np.sum(a * ((K @ K + 2.0 * K) @ a), 0))
        np.testing.assert_allclose(np.abs(Z), np.abs(K @ unit), atol=1e-7)


def test_pairs_of_projections_agree_in_sign() -> None:
    X, Y = _views()
    assert np.all(mc.KernelCCA(3, G, G, alpha=1.0).fit(X, Y).correlations_ > 0)


@pytest.mark.parametrize("gamma", [0.0, 1e-8])
def test_linear_kernels_are_cca(gamma: float) -> None:
    """Rank 3 + 4 ≤ n − 1: here γ = 0 is a well-posed problem."""
    X, Y = _views(120)
    ours, plain = mc.KernelCCA(3, mc.Linear(), mc.Linear(), alpha=gamma).fit(X, Y), mc.CCA(3).fit(X, Y)
    np.testing.assert_allclose(ours.canonical_values_, _closed_form(X, Y)[:3], atol=1e-7)
    np.testing.assert_allclose(ours.correlations_, plain.correlations_, atol=1e-7)
    np.testing.assert_allclose(_columns(ours.transform(X)), _columns(plain.transform(X)), atol=1e-5)


def test_views_may_be_exchanged_and_rows_reordered() -> None:
    X, Y = _views()
    order = np.random.default_rng(0).permutation(len(X))
    one = mc.KernelCCA(3, G, mc.Linear(), alpha=0.5).fit(X, Y)
    two = mc.KernelCCA(3, mc.Linear(), G, alpha=0.5).fit(Y, X)
    three = mc.KernelCCA(3, G, mc.Linear(), alpha=0.5).fit(X[order], Y[order])
    np.testing.assert_allclose(one.canonical_values_, two.canonical_values_, atol=1e-9)
    np.testing.assert_allclose(one.correlations_, two.correlations_, atol=1e-7)
    np.testing.assert_allclose(_columns(one.transform(X)), _columns(three.transform(X)), atol=1e-6)


def test_precomputed_matrices_are_their_kernels() -> None:
    X, Y = _views()
    new, _ = _views(9, seed=2)
    one = mc.KernelCCA(2, G, G, alpha=1.0).fit(X, Y)
    two = mc.KernelCCA(2, "precomputed", G, alpha=1.0).fit(G(X), Y)
    np.testing.assert_allclose(two.canonical_values_, one.canonical_values_, atol=1e-10)
    np.testing.assert_allclose(_columns(two.transform(G(new, X))), _columns(one.transform(new)), atol=1e-7)


def test_a_nonlinear_relation_is_found_out_of_sample() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (300, 1))
    y = x**2 + 0.2 * rng.standard_normal((300, 1))
    kernel, line = (mc.KernelCCA(1, k, k, alpha=1.0).fit(x[:150], y[:150]) for k in (mc.Gaussian(0.5), mc.Linear()))
    assert kernel.score(x[150:], y[150:]) > 0.85
    assert abs(line.score(x[150:], y[150:])) < 0.35
    np.testing.assert_allclose(
        kernel.score(x[150:], y[150:]), _correlations(*kernel.transform(x[150:], y[150:])).mean(), atol=1e-12
    )


# -- low rank ----------------------------------------------------------------------------------------------------------


def test_the_low_rank_form_tends_to_the_exact_one() -> None:
    X, Y = _views()
    exact = mc.KernelCCA(3, G, G, alpha=1.0).fit(X, Y)
    errors = []
    for rank in (5, 25, 80):
        low = mc.KernelCCA(3, G, G, alpha=1.0, rank=rank).fit(X, Y)
        errors.append(np.abs(low.canonical_values_ - exact.canonical_values_).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-6
    np.testing.assert_allclose(_columns(low.transform(X)), _columns(exact.transform(X)), atol=1e-4)
    new, _ = _views(12, seed=4)
    scale = np.abs(exact.transform(new)).max()
    np.testing.assert_allclose(np.abs(low.transform(new)), np.abs(exact.transform(new)), atol=1e-4 * scale)


def test_a_rank_the_kernel_has_loses_nothing() -> None:
    X, Y = _views(100)
    exact, low = (mc.KernelCCA(3, mc.Linear(), mc.Linear(), alpha=0.3, rank=r).fit(X, Y) for r in (None, 5))
    np.testing.assert_allclose(low.canonical_values_, exact.canonical_values_, atol=1e-8)


# -- regularisation ----------------------------------------------------------------------------------------------------


def test_without_regularisation_the_degenerate_problem_is_refused_with_the_reason() -> None:
    """Rank n − 1 twice: any two views would correlate perfectly."""
    X, Y = _views(30)
    with pytest.raises(ValueError, match=r"(?s)(?=.*rank)(?=.*(?:29|30|58|n − 1|n - 1))"):
        mc.KernelCCA(1, mc.Gaussian(5.0), mc.Gaussian(5.0), alpha=0).fit(X, Y)
    wide = np.random.default_rng(0).standard_normal((2, 15, 10))
    # linear kernels too, once they have too many columns: 10 + 10 > 15 − 1
    with pytest.raises(ValueError, match="rank"):
        mc.KernelCCA(1, mc.Linear(), mc.Linear(), alpha=0).fit(wide[0], wide[1])


@pytest.mark.parametrize("bad", [-1.0, np.nan, [], [1.0, -1.0], "much"])
def test_a_bad_regularisation_is_refused(bad: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        mc.KernelCCA(1, G, G, alpha=bad).fit(*_views(20))


def test_the_regularisation_is_chosen_by_what_holds_out_of_sample() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (1060, 1))
    y = x**2 + 0.3 * rng.standard_normal((1060, 1))
    k, seen, unseen = mc.Gaussian(1.0), (x[:60], y[:60]), (x[60:], y[60:])
    candidates = [1e-9, 1.0]
    outside = [mc.KernelCCA(1, k, k, alpha=g).fit(*seen).score(*unseen) for g in candidates]
    assert outside[1] > outside[0] + 0.3  # the case is a clear one
    model = mc.KernelCCA(1, k, k, alpha=candidates).fit(*seen)
    assert np.all(np.asarray(model.alpha_) == 1.0)
    np.testing.assert_allclose(model.canonical_values_, _dense(*(_centred(k(v)) for v in seen), 1.0, 1)[0], atol=1e-7)
    assert mc.KernelCCA(1, k, k).fit(*seen).score(*unseen) > outside[1] - 0.1  # the grid of alpha=None


def test_the_choice_is_the_seeds() -> None:
    X, Y = _views(60)
    grid = list(np.logspace(-3, 2, 11))
    chosen = [mc.KernelCCA(1, G, G, alpha=grid, random_state=s).fit(X, Y).alpha_ for s in (0, 0)]
    assert chosen[0] == chosen[1]
    assert np.isin(chosen[0], grid).all()


# -- test of independence ----------------------------------------------------------------------------------------------


def test_the_permutation_test_sees_dependence() -> None:
    X, Y = _views(60)
    result = mc.KernelCCA(1, G, G, alpha=1.0).fit(X, Y).test(X, Y, n_permutations=99, random_state=0)
    assert result.pvalue == pytest.approx(0.01)
    assert len(result.null) == 99
    again = mc.KernelCCA(1, G, G, alpha=1.0).fit(X, Y).test(X, Y, n_permutations=99, random_state=0)
    np.testing.assert_array_equal(result.null, again.null)
    assert result.pvalue == (1 + np.sum(result.null >= result.statistic)) / 100


@pytest.mark.thorough
def test_the_permutation_test_keeps_calm_without_dependence() -> None:
    """30 independent pairs of views: p-values are uniform, so their mean has deviation 0.053 and the smallest is rarely
    under 0.02.
    """
    p = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, Y = rng.standard_normal((25, 2)), rng.standard_normal((25, 2))
        p.append(mc.KernelCCA(1, G, G, alpha=1.0).fit(X, Y).test(X, Y, n_permutations=39, random_state=seed).pvalue)
    assert 0.3 < np.mean(p) < 0.7
    assert np.mean(np.array(p) <= 0.05) <= 0.2


@pytest.mark.slow
def test_p_values_of_independent_views_are_uniform() -> None:
    p, rng = [], np.random.default_rng(0)
    for seed in range(400):
        X, Y = rng.standard_normal((30, 2)), rng.standard_normal((30, 2))
        p.append(mc.KernelCCA(1, G, G, alpha=1.0).fit(X, Y).test(X, Y, n_permutations=99, random_state=seed).pvalue)
    spread = np.array(p) - rng.uniform(0, 0.01, 400)  # on the steps of 1/100 a uniform variable
    assert stats.kstest(spread, "uniform").pvalue > 0.01
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) < 0.03


# -- other data, files, estimators
# --------------------------------------------------------------------------------------


def test_strings_and_graphs_are_views() -> None:
    words, some = strings(30)[1:], filled_graphs(29)
    kernel, other = mc.Spectrum(2), mc.WeisfeilerLehman(2)
    numbers = np.array([[w.count("A"), w.count("C")] for w in words], dtype=float)
    for view, k in ((words, kernel), (some, other)):
        model = mc.KernelCCA(2, k, mc.Linear(), alpha=5.0).fit(view, numbers)
        values, _, _ = _dense(_centred(k(view)), _centred(numbers @ numbers.T), 5.0, 2)
        np.testing.assert_allclose(model.canonical_values_, values, atol=1e-7)
        assert model.transform(view[:4]).shape == (4, 2)
    both = mc.KernelCCA(1, kernel, other, alpha=5.0).fit(words, some)
    np.testing.assert_allclose(
        both.canonical_values_, _dense(_centred(kernel(words)), _centred(other(some)), 5.0, 1)[0], atol=1e-7
    )


@pytest.mark.thorough
def test_a_saved_model_is_the_model(tmp_path: Path) -> None:
    X, Y = _views(40)
    new = _views(10, seed=1)
    models = (
        mc.CCA(2).fit(X, Y),
        mc.KernelCCA(2, G, mc.Linear(), alpha=1.0).fit(X, Y),
        mc.KernelCCA(1, G, G, alpha=1.0, rank=10).fit(X, Y),
    )
    for model in models:
        mc.save(model, tmp_path / "model")
        for a, b in zip(mc.load(tmp_path / "model").transform(*new), model.transform(*new), strict=True):
            np.testing.assert_array_equal(a, b)


def test_they_are_cloned_and_left_alone() -> None:
    X, Y = _views(30)
    copies = X.copy(), Y.copy()
    model = mc.KernelCCA(2, G, alpha=[0.1, 1.0], cv=3, random_state=0)
    twin = clone(model)
    assert model.get_params() == twin.get_params()
    assert model.fit(X, Y) is model
    assert model.alpha == [0.1, 1.0]  # parameters are not touched by fitting
    np.testing.assert_array_equal(twin.fit(X, Y).canonical_values_, model.canonical_values_)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(Y, copies[1])


@pytest.mark.parametrize(
    "model",
    [mc.CCA(1), mc.KernelCCA(1, G, G, alpha=1.0), mc.TemporalKernelCCA(G, G, 1, alpha=1.0, n_bootstrap=5)],
    ids=repr,
)
def test_bad_views_are_refused(model: Any) -> None:
    X, Y = _views(20)
    hole = X.copy()
    hole[3, 1] = np.nan
    for a, b in ((X, Y[:-1]), (X[:1], Y[:1]), (hole, Y), (Y, hole), (X[:0], Y[:0])):
        with pytest.raises(ValueError, match=r"\w+ \w+"):
            clone(model).fit(a, b)


def test_new_points_must_fit() -> None:
    X, Y = _views(20)
    for model in (mc.CCA(1).fit(X, Y), mc.KernelCCA(1, G, G, alpha=1.0).fit(X, Y)):
        with pytest.raises(ValueError, match="3"):
            model.transform(Y)  # 4 columns; it was fitted on 3
    with pytest.raises(ValueError, match="fit"):  # NotFittedError is a ValueError
        mc.KernelCCA().transform(X)


# -- series ------------------------------------------------------------------------------------------------------------


def _delayed(delay: int, T: int = 150, seed: int = 0, square: bool = False) -> tuple[Any, Any]:
    """x and y with y(t) = x(t − delay), or its square, plus noise; y runs ahead where the delay is negative."""
    rng = np.random.default_rng(seed)
    long = rng.standard_normal(T + 40)
    x, y = long[20 : 20 + T], long[20 - delay : 20 - delay + T]
    return x[:, None], (y**2 if square else y)[:, None] + 0.3 * rng.standard_normal((T, 1))


@pytest.mark.parametrize("delay", [-4, -1, 0, 2, 5])
def test_a_planted_delay_is_found(delay: int) -> None:
    X, Y = _delayed(delay)
    model = mc.TemporalKernelCCA(mc.Linear(), mc.Linear(), 6, alpha=1.0, n_bootstrap=20).fit(X, Y)
    np.testing.assert_array_equal(model.lags_, np.arange(-6, 7))
    assert model.best_lag_ == delay
    peak = np.abs(model.correlogram_[0])
    assert peak[delay + 6] > 0.85
    assert np.delete(peak, delay + 6).max() < 0.5


@pytest.mark.parametrize("delay", [-3, 3])
def test_a_delay_of_a_square_needs_a_kernel(delay: int) -> None:
    X, Y = _delayed(delay, square=True)
    model = mc.TemporalKernelCCA(mc.Gaussian(0.5), mc.Gaussian(0.5), 5, alpha=1.0, n_bootstrap=20).fit(X, Y)
    line = mc.TemporalKernelCCA(mc.Linear(), mc.Linear(), 5, alpha=1.0, n_bootstrap=20).fit(X, Y)
    assert model.best_lag_ == delay
    at = delay + 5
    assert abs(model.correlogram_[0, at]) > 0.7
    assert abs(line.correlogram_[0, at]) < 0.5


def test_series_exchanged_have_the_opposite_delay() -> None:
    X, Y = _delayed(3)
    assert mc.TemporalKernelCCA(mc.Linear(), mc.Linear(), 5, alpha=1.0, n_bootstrap=5).fit(Y, X).best_lag_ == -3


@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Gaussian(0.4)], ids=repr)
def test_it_is_cca_of_the_explicit_embedding(kernel: Any) -> None:
    """K̃_x(t, t′) = Σ_τ k(x(t−τ), x(t′−τ)) on the t whose window lies in the series; λ(τ) = corr(Σ_t′ α_t′ k(x(t−τ),
    x(t′−τ)), g(y(t))).
    """
    rng = np.random.default_rng(1)
    T, L, gamma = 34, 2, 1.5
    X, Y = _delayed(1, T, seed=1)
    X, Y = np.column_stack([X, rng.standard_normal(T)]), np.column_stack([rng.standard_normal(T), Y])
    inside = np.arange(L, T - L)
    parts = {lag: kernel(X[inside - lag]) for lag in range(-L, L + 1)}
    Ky = kernel(Y[inside])
    values, alpha, beta = _dense(_centred(sum(parts.values())), _centred(Ky), gamma, 2)
    assert values[0] - values[1] > 1e-3
    truth = np.array(
        [[np.corrcoef(parts[lag] @ alpha[:, c], Ky @ beta[:, c])[0, 1] for lag in range(-L, L + 1)] for c in range(2)]
    )
    model = mc.TemporalKernelCCA(kernel, kernel, L, n_components=2, alpha=gamma, n_bootstrap=10).fit(X, Y)
    np.testing.assert_allclose(model.correlogram_, truth, atol=1e-6)
    assert model.best_lag_ == np.argmax(np.abs(truth[0])) - L
    Zx, Zy = model.transform(X, Y)
    np.testing.assert_allclose(_columns(Zx), _columns(sum(parts.values()) @ alpha), atol=1e-5)
    np.testing.assert_allclose(_columns(Zy), _columns(Ky @ beta), atol=1e-5)


def test_without_lags_it_is_kernel_cca() -> None:
    X, Y = _views(50)
    still = mc.TemporalKernelCCA(G, G, 0, alpha=1.0, n_bootstrap=5).fit(X, Y)
    assert list(still.lags_) == [0]
    np.testing.assert_allclose(
        still.correlogram_[0, 0], mc.KernelCCA(1, G, G, alpha=1.0).fit(X, Y).correlations_[0], atol=1e-7
    )


def test_the_band_is_around_the_correlogram_and_the_seeds() -> None:
    X, Y = _delayed(2, 100)
    model = mc.TemporalKernelCCA(mc.Linear(), mc.Linear(), 4, n_components=1, alpha=1.0, n_bootstrap=40, random_state=3)
    one, two = clone(model).fit(X, Y), clone(model).fit(X, Y)
    assert one.correlogram_.shape == (1, 9)
    assert one.band_.shape == (2, 1, 9)
    assert np.all(one.band_[0] <= one.correlogram_ + 1e-12)
    assert np.all(one.correlogram_ <= one.band_[1] + 1e-12)
    assert np.all(one.band_[1] > one.band_[0])
    assert one.band_[0, 0, 6] > np.delete(np.abs(one.correlogram_[0]), 6).max()  # the planted delay stands out
    np.testing.assert_array_equal(one.band_, two.band_)
    other = clone(model).set_params(random_state=4).fit(X, Y)
    np.testing.assert_array_equal(one.correlogram_, other.correlogram_)
    assert not np.array_equal(one.band_, other.band_)


def test_a_series_shorter_than_its_lags_is_refused() -> None:
    X, Y = _delayed(0, 15)
    with pytest.raises(ValueError, match="lag"):
        mc.TemporalKernelCCA(max_lag=10, alpha=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="lag"):
        mc.TemporalKernelCCA(max_lag=-1, alpha=1.0).fit(X, Y)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_weights_are_the_functions_of_the_columns(alpha: float, offset: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)) * [1.0, 10.0, 0.1]
    Y = X[:, :2] + rng.standard_normal((80, 2))
    model = mc.CCA(2, alpha=alpha).fit(X + offset * (alpha == 0), Y)
    scores, other = model.transform(X + offset * (alpha == 0), Y)
    for table, rotations, values in ((X, model.x_rotations_, scores), (Y, model.y_rotations_, other)):
        std = table.std(0, ddof=1) if alpha == 0 else 1.0
        np.testing.assert_allclose(
            (table - table.mean(0)) / std @ rotations, values - values.mean(0), atol=1e-8 * np.abs(values).max()
        )


# -- scikit-learn's attributes, and weights
# -----------------------------------------------------------------------------

NAMES = (
    "x_weights_",
    "y_weights_",
    "x_rotations_",
    "y_rotations_",
    "x_loadings_",
    "y_loadings_",
    "coef_",
    "intercept_",
)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_cca_means_what_scikit_learn_means(m: int) -> None:
    X, Y = _views(150)
    X, Y = X + 3, Y * [1.0, 20.0, 0.3, 1.0] - 5
    ours, theirs = mc.CCA(m).fit(X, Y), cross_decomposition.CCA(m, tol=1e-15, max_iter=100_000).fit(X, Y)
    for name in NAMES:
        truth = getattr(theirs, name)
        np.testing.assert_allclose(getattr(ours, name), truth, atol=1e-5 * np.abs(truth).max(), err_msg=name)
    new, _ = _views(20, seed=4)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-4)
    for mine, his in zip(ours.transform(X, Y), theirs.transform(X, Y), strict=True):
        np.testing.assert_allclose(mine, his, atol=1e-4)
    for mine, his in zip(
        ours.inverse_transform(*ours.transform(X, Y)), theirs.inverse_transform(*theirs.transform(X, Y)), strict=True
    ):
        np.testing.assert_allclose(mine, his, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(ours.function_x_(X).reshape(150, m), ours.transform(X), atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_cca_describes_itself_alike_for_all_forms_of_a_table(alpha: float) -> None:
    X, Y = _views(120)
    X[np.abs(X) < 0.5] = 0.0
    dense, thin = mc.CCA(2, alpha=alpha).fit(X, Y), mc.CCA(2, alpha=alpha).fit(sparse.csr_array(X), Y)
    for name in NAMES:
        np.testing.assert_allclose(getattr(thin, name), getattr(dense, name), atol=1e-9)
    np.testing.assert_allclose(thin.predict(sparse.csr_array(X)), dense.predict(X), atol=1e-9)
    Z = (X - X.mean(0)) / (X.std(0, ddof=1) if alpha == 0 else 1)
    T = Z @ dense.x_rotations_
    np.testing.assert_allclose(dense.transform(X), T, atol=1e-9)
    np.testing.assert_allclose(dense.x_loadings_, np.linalg.lstsq(T, Z, rcond=None)[0].T, atol=1e-9)
    np.testing.assert_allclose(dense.x_weights_.T @ dense.x_weights_, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(dense.predict(X), (X - X.mean(0)) @ dense.coef_.T + Y.mean(0), atol=1e-9)


def test_cca_predicts_one_column_as_one(tmp_path: Path) -> None:
    X, Y = _views(60)
    ours, theirs = mc.CCA(1).fit(X, Y[:, 0]), cross_decomposition.CCA(1).fit(X, Y[:, 0])
    assert ours.predict(X).shape == (60,)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    assert mc.CCA(1).fit(X, Y[:, :1]).predict(X).shape == (60, 1)
    mc.save(ours, tmp_path / "cca.mercer")
    np.testing.assert_array_equal(mc.load(tmp_path / "cca.mercer").predict(X), ours.predict(X))
    with pytest.raises(ValueError, match="1 components"):
        ours.inverse_transform(np.zeros((3, 2)))


@pytest.mark.parametrize(
    "model",
    [
        mc.CCA(2),
        mc.CCA(2, alpha=1.0),
        mc.KernelCCA(2, G, G, alpha=1.0),
        mc.KernelCCA(2, G, G, alpha=(0.5, 2.0), rank=30),
    ],
    ids=["plain", "ridge", "kernel", "incomplete"],
)
def test_a_weight_is_a_repetition(model: Any) -> None:
    X, Y = _views(80)
    w = np.random.default_rng(1).integers(0, 4, 80)
    one = clone(model).fit(X, Y, sample_weight=w)
    many = clone(model).fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
    np.testing.assert_allclose(one.canonical_values_, many.canonical_values_, rtol=1e-9)
    np.testing.assert_allclose(one.correlations_, many.correlations_, rtol=1e-9)
    for mine, his in zip(one.transform(X, Y), many.transform(X, Y), strict=True):
        np.testing.assert_allclose(mine, his, atol=1e-7 * np.abs(his).max())
    np.testing.assert_allclose(
        one.score(X, Y, sample_weight=w), many.score(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0)), rtol=1e-9
    )


def test_an_indefinite_view_is_named() -> None:
    X, Y = _views(80)
    with pytest.warns(UserWarning, match=r"of its 80\s+eigenvalues are negative"):
        mc.KernelCCA(1, mc.Sigmoid(0.0, 1.0), G, alpha=1.0).fit(X, Y)
    with pytest.warns(UserWarning, match=r"k\(x, z\)² exceeds"):
        mc.KernelCCA(1, mc.Sigmoid(0.0, 1.0), G, alpha=1.0, rank=20).fit(X, Y)
