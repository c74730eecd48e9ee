"""Mixtures of Gaussians: scikit-learn from the same start, EM step by step, finite differences, and what weights
mean.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.mixture import GaussianMixture as Theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from tests import unsupervised_oracles as oracle

KINDS = ["full", "tied", "diag", "spherical"]
K, D = 3, 2


@pytest.mark.thorough
@parametrize_with_checks([mc.GaussianMixture(covariance_type=kind) for kind in KINDS])
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


def _data(n: int = 150, spread: float = 0.8) -> Any:
    rng = np.random.default_rng(0)
    shapes = np.array([[[1.0, 0.6], [0.6, 1.0]], [[0.3, 0.0], [0.0, 1.0]], [[0.8, -0.4], [-0.4, 0.5]]]) * spread
    y = rng.choice(K, n, p=[0.5, 0.3, 0.2])
    return np.array([rng.multivariate_normal([[0.0, 0.0], [3.0, 1.0], [-1.0, 4.0]][c], shapes[c]) for c in y])


def _counts(n: int = 150) -> Any:
    return np.random.default_rng(3).integers(0, 4, n)


def _start(kind: str, shift: float = 0.0) -> dict[str, Any]:
    """A start that is nobody's optimum, as precisions."""
    precision = np.array([[1.2, 0.3], [0.3, 0.9]])
    precisions = {
        "full": np.array([precision, 2 * precision, np.eye(2)]),
        "tied": precision,
        "diag": np.array([[1.0, 2.0], [0.5, 1.0], [1.5, 1.5]]),
        "spherical": np.array([1.0, 2.0, 0.5]),
    }[kind]
    means = np.array([[0.5, -0.5], [2.0, 1.5], [-0.5, 2.5]]) + shift
    return {"weights_init": np.array([0.3, 0.3, 0.4]), "means_init": means, "precisions_init": precisions}


def _covariances(kind: str, precisions: Any) -> Any:
    return np.linalg.inv(precisions) if kind in ("full", "tied") else 1 / precisions


def _fit(X: Any, kind: str, weights: Any = None, k: int = K, shift: float = 0.0, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mc.GaussianMixture(k, covariance_type=kind, **{**_start(kind, shift), **options}).fit(
            X, sample_weight=weights
        )


def _theirs(X: Any, kind: str, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return Theirs(K, covariance_type=kind, **{**_start(kind), **options}).fit(X)


def _parameters(m: Any) -> tuple[Any, Any, Any]:
    return m.weights_, m.means_, m.covariances_


# -- the same as elsewhere
# ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tol", [1e-3, 1e-10])
def test_from_the_same_start_it_is_scikit_learns(tol: float, kind: str) -> None:
    X = _data()
    ours, theirs = _fit(X, kind, tol=tol, max_iter=2000), _theirs(X, kind, tol=tol, max_iter=2000)
    assert ours.converged_
    assert theirs.converged_
    assert ours.n_iter_ == theirs.n_iter_ > 2
    np.testing.assert_allclose(ours.lower_bound_, theirs.lower_bound_, atol=1e-8)
    for name in ("weights_", "means_", "covariances_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name))
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-7)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.score(X), theirs.score(X), atol=1e-8)
    np.testing.assert_allclose(ours.bic(X), theirs.bic(X), rtol=1e-9)
    np.testing.assert_allclose(ours.aic(X), theirs.aic(X), rtol=1e-9)
    np.testing.assert_allclose(ours.bic(X[:40]), theirs.bic(X[:40]), rtol=1e-7)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_from_its_own_start_it_is_as_good(kind: str) -> None:
    X = _data()
    ours = mc.GaussianMixture(K, covariance_type=kind, tol=1e-8, max_iter=1000, n_init=10, random_state=0).fit(X)
    theirs = Theirs(K, covariance_type=kind, tol=1e-8, max_iter=1000, n_init=10, random_state=0).fit(X)
    assert ours.score(X) >= theirs.score(X) - 1e-4


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_each_step_is_em(weighted: bool, kind: str) -> None:
    X = _data(60)
    w = np.random.default_rng(1).uniform(0.1, 3.0, 60) if weighted else None
    start = _start(kind)
    now = (start["weights_init"], start["means_init"], _covariances(kind, start["precisions_init"]))
    for steps in (1, 2, 3):
        now = oracle.em_step(X, np.ones(60) if w is None else w, *now, kind, 0.01)
        m = _fit(X, kind, w, max_iter=steps, tol=0.0, reg_covar=0.01)
        for mine, truth in zip(_parameters(m), now, strict=True):
            np.testing.assert_allclose(mine, truth, atol=1e-10)
        assert m.n_iter_ == steps


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.thorough
def test_the_density_is_the_definition(kind: str) -> None:
    X = _data()
    m = _fit(X, kind)
    Z = np.vstack([X[:20], X[:5] * 100])  # far out, where densities underflow
    truth = oracle.mixture_log_density(Z, *_parameters(m), kind)
    assert (truth < -800).any()
    np.testing.assert_allclose(m.score_samples(Z), truth, rtol=1e-10)
    np.testing.assert_allclose(
        m.predict_proba(Z), softmax(oracle.mixture_joint(Z, *_parameters(m), kind), axis=1), atol=1e-9
    )
    np.testing.assert_allclose(m.score(Z), truth.mean(), rtol=1e-10)
    np.testing.assert_allclose(m.weights_.sum(), 1.0)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_the_likelihood_never_falls(kind: str) -> None:
    X = _data(80)
    scores = np.array([_fit(X, kind, max_iter=k, tol=0.0, reg_covar=0.0).score(X) for k in range(1, 15)])
    assert (np.diff(scores) >= -1e-12).all()
    assert scores[-1] > scores[0] + 1e-3
    bounds = np.array([_fit(X, kind, max_iter=k, tol=0.0, reg_covar=0.0).lower_bound_ for k in range(1, 15)])
    assert (np.diff(bounds) >= -1e-12).all()


def test_an_end_without_convergence_is_said() -> None:
    with pytest.warns(ConvergenceWarning):
        m = mc.GaussianMixture(K, tol=1e-12, max_iter=2, **_start("full")).fit(_data())
    assert not m.converged_


# -- weights
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_repetitions(kind: str) -> None:
    X, w = _data(), _counts()
    one, other, absent = _fit(X, kind, w), _fit(np.repeat(X, w, axis=0), kind), _fit(X[w > 0], kind, w[w > 0])
    plain = _fit(X, kind)
    for m in (one, absent):
        for mine, truth in zip(_parameters(m), _parameters(other), strict=True):
            np.testing.assert_allclose(mine, truth, atol=1e-9)
        np.testing.assert_allclose(m.lower_bound_, other.lower_bound_, atol=1e-10)
        assert m.n_iter_ == other.n_iter_
    assert np.abs(plain.means_ - one.means_).max() > 1e-3
    np.testing.assert_allclose(_fit(X, kind, 7.5 * w).means_, one.means_, atol=1e-9)  # their scale is nothing to it


@pytest.mark.parametrize("w", [-np.ones(150), np.zeros(150), np.ones(149)])
def test_weights_are_refused(w: Any) -> None:
    with pytest.raises(ValueError, match=r"weight"):
        mc.GaussianMixture(2).fit(_data(), sample_weight=w)


# -- numbers
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_floor_of_the_variances(kind: str) -> None:
    """A constant column, then one point many times."""
    X = np.column_stack([_data()[:, 0], np.full(150, 2.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        flat = mc.GaussianMixture(2, covariance_type=kind, reg_covar=1e-4, random_state=0).fit(X)
        point = mc.GaussianMixture(2, covariance_type=kind, reg_covar=1e-4, random_state=0).fit(np.ones((20, 2)))
    for m in (flat, point):
        for S in oracle.matrices(m.covariances_, kind, 2, 2):
            assert np.linalg.eigvalsh(S)[0] >= 1e-4 * (1 - 1e-9)
        assert np.isfinite(m.score_samples(X)).all()
        assert np.isfinite(m.lower_bound_)
    for S in oracle.matrices(point.covariances_, kind, 2, 2):
        np.testing.assert_allclose(S, 1e-4 * np.eye(2), atol=1e-12)
    if kind != "spherical":
        for S in oracle.matrices(flat.covariances_, kind, 2, 2):
            np.testing.assert_allclose(S[1, 1], 1e-4, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.thorough
def test_far_from_the_origin(kind: str) -> None:
    X = _data()
    near, far = _fit(X, kind), _fit(X + 1e6, kind, shift=1e6)
    np.testing.assert_allclose(far.covariances_, near.covariances_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(far.means_ - 1e6, near.means_, atol=1e-6)
    np.testing.assert_allclose(far.lower_bound_, near.lower_bound_, atol=1e-6)
    np.testing.assert_allclose(far.score_samples(X + 1e6), near.score_samples(X), atol=1e-5)
    own = [mc.GaussianMixture(K, covariance_type=kind, random_state=0).fit(X + s).score(X + s) for s in (0.0, 1e6)]
    np.testing.assert_allclose(own[1], own[0], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_one_component_is_the_sample(kind: str) -> None:
    X = _data()
    S = np.cov(X.T, bias=True)
    m = mc.GaussianMixture(covariance_type=kind, reg_covar=0.0).fit(X)
    np.testing.assert_allclose(m.means_, X.mean(axis=0)[None], rtol=1e-12)
    truth = {"full": S[None], "tied": S, "diag": np.diagonal(S)[None], "spherical": np.array([np.trace(S) / 2])}[kind]
    np.testing.assert_allclose(m.covariances_, truth, rtol=1e-10)


# -- gradients
# ----------------------------------------------------------------------------------------------------------


def _difference(f: Any, at: Any, step: float = 1e-5) -> Any:
    """∂f/∂θ by central differences, one column for each entry of θ."""
    at, columns = np.asarray(at, float), []
    for i in np.ndindex(*at.shape):
        e = np.zeros(at.shape)
        e[i] = step
        columns.append((f(at + e) - f(at - e)) / (2 * step))
    return np.column_stack(columns)


def _symmetric_difference(f: Any, at: Any, step: float = 1e-5) -> Any:
    """∂f along E_ij + E_ji (E_ii on the diagonal) for matrices (…, d, d): shape (n, matrices, d, d)."""
    at = np.asarray(at, float)
    flat = at.reshape(-1, D, D)
    out = np.zeros((len(f(at)), len(flat), D, D))
    for c, i, j in np.ndindex(*flat.shape):
        e = np.zeros(flat.shape)
        e[c, i, j] = e[c, j, i] = step
        out[:, c, i, j] = (f(at + e.reshape(at.shape)) - f(at - e.reshape(at.shape))) / (2 * step)
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_score_vectors_are_gradients(kind: str) -> None:
    """In η (π = softmax of η_1, …, η_{k−1}, 0), the means, and the entries of the covariances."""
    X = _data()
    m = _fit(X, kind)
    w, means, covariances = _parameters(m)
    Z = X[:15]
    U = np.asarray(m.score_vectors(Z))
    eta = np.log(w[:-1] / w[-1])
    by_eta = _difference(lambda e: oracle.mixture_log_density(Z, softmax([*e, 0.0]), means, covariances, kind), eta)
    by_means = _difference(lambda a: oracle.mixture_log_density(Z, w, a, covariances, kind), means)
    np.testing.assert_allclose(U[:, : K - 1], by_eta, atol=1e-6)
    np.testing.assert_allclose(U[:, K - 1 : K - 1 + K * D], by_means, atol=1e-6)
    rest = U[:, K - 1 + K * D :]

    def density(S: Any) -> Any:
        return oracle.mixture_log_density(Z, w, means, S, kind)

    if kind in ("diag", "spherical"):
        np.testing.assert_allclose(rest, _difference(density, covariances), atol=1e-6)
        return
    along = _symmetric_difference(density, covariances)  # moving both (i, j) and (j, i)
    rows, columns = np.triu_indices(D)
    np.testing.assert_allclose(rest, along[:, :, rows, columns].reshape(len(Z), -1), atol=1e-6)


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_the_mean_score_at_the_optimum_is_zero(kind: str) -> None:
    X = _data()
    m = _fit(X, kind, tol=1e-14, max_iter=5000, reg_covar=0.0)
    np.testing.assert_allclose(np.mean(m.score_vectors(X), axis=0), 0, atol=1e-5)
    assert mc.Fisher(m).bind(X)(X[:5]).shape == (5, 5)


# -- the rest
# -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_of_the_mixture(kind: str) -> None:
    m = _fit(_data(), kind, random_state=0)
    X, y = m.sample(20000)
    assert X.shape == (20000, D)
    assert y.shape == (20000,)
    sigma = oracle.matrices(m.covariances_, kind, K, D)
    for c in range(K):
        mine = X[y == c]
        p, n = m.weights_[c], len(mine)
        assert abs(n - 20000 * p) < 5 * np.sqrt(20000 * p * (1 - p))
        assert (np.abs(mine.mean(axis=0) - m.means_[c]) < 5 * np.sqrt(np.diagonal(sigma[c]) / n)).all()
        v = np.diagonal(sigma[c])
        error = np.sqrt((np.outer(v, v) + sigma[c] ** 2) / n)  # of the entries of a sample covariance
        assert (np.abs(np.cov(mine.T) - sigma[c]) < 5 * error).all()
    again = _fit(_data(), kind, random_state=0).sample(20000)[0]
    np.testing.assert_array_equal(again, X)
    with pytest.raises(ValueError, match=r"n_samples|sample"):
        m.sample(0)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded(kind: str, tmp_path: Path) -> None:
    X = _data()
    m = _fit(X, kind)
    mc.save(m, tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").score_samples(X), m.score_samples(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariance_type": "round"}, "covariance_type"),
        ({"n_components": 0}, "n_components"),
        ({"reg_covar": -1.0}, "reg_covar"),
        ({"max_iter": -1}, "max_iter"),
        ({"n_init": 0}, "n_init"),
        ({"weights_init": [0.5, 0.6]}, "weights"),
        ({"weights_init": [1.5, -0.5]}, "weights"),
        ({"weights_init": [1.0]}, "weights"),
        ({"means_init": np.zeros((3, 2))}, "means"),
        ({"precisions_init": np.ones((2, 3, 3))}, "precision"),
        ({"precisions_init": np.array([-np.eye(2), np.eye(2)])}, "precision"),
    ],
)
def test_parameters_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mc.GaussianMixture(**{"n_components": 2, **options}).fit(_data())


def test_data_are_refused() -> None:
    X = _data()
    with pytest.raises(NotFittedError):
        mc.GaussianMixture(2).predict(X)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        mc.GaussianMixture(2).fit(X)
    with pytest.raises(ValueError, match=r"n_samples|n_components"):
        mc.GaussianMixture(10).fit(np.zeros((3, 2)))


# -- what scikit-learn's users expect
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.thorough
def test_precisions_are_scikit_learns(kind: str) -> None:
    X = _data()
    options = {"covariance_type": kind, "tol": 1e-9, "max_iter": 500, **_start(kind)}
    ours, theirs = mc.GaussianMixture(K, **options).fit(X), Theirs(K, **options).fit(X)
    for name in ("precisions_", "precisions_cholesky_", "covariances_", "means_", "weights_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(ours.lower_bound_, theirs.lower_bound_, rtol=1e-10)
    assert (ours.n_iter_, ours.converged_) == (theirs.n_iter_, True)
    assert len(ours.lower_bounds_) == ours.n_iter_
    assert np.all(np.diff(ours.lower_bounds_) > -1e-12)
    for name in ("aic", "bic"):
        np.testing.assert_allclose(getattr(ours, name)(X), getattr(theirs, name)(X), rtol=1e-9)


@pytest.mark.thorough
def test_a_warm_start_goes_on() -> None:
    X = _data()
    cold = mc.GaussianMixture(K, tol=1e-6, max_iter=100, random_state=0).fit(X)
    warm = mc.GaussianMixture(K, tol=1e-6, max_iter=3, random_state=0, warm_start=True)
    bounds, steps = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        while not getattr(warm, "converged_", False):
            warm.fit(X)
            bounds += warm.lower_bounds_
            steps += warm.n_iter_
    assert steps == cold.n_iter_ > 3
    np.testing.assert_allclose(bounds, cold.lower_bounds_, rtol=1e-10)
    np.testing.assert_allclose(warm.means_, cold.means_, rtol=1e-9)
    with pytest.raises(ValueError, match="warm_start"):
        warm.set_params(covariance_type="diag").fit(X)


@pytest.mark.parametrize("how", ["kmeans", "k-means++", "random", "random_from_data"])
@pytest.mark.thorough
def test_ways_to_start(how: str) -> None:
    X = _data(300, 0.05)
    start = mc.GaussianMixture(K, init_params=how, max_iter=0, random_state=0).fit(X)
    assert (start.n_iter_, start.converged_) == (0, False)
    assert len(np.unique(start.means_, axis=0)) == K
    assert np.all((X.min(0) <= start.means_) & (start.means_ <= X.max(0)))
    spread = np.linalg.norm(start.means_ - X.mean(0), axis=1).max()
    assert (spread < 1) == (how == "random")  # random shares of all samples have nearly the mean of all
    best = max(
        (mc.GaussianMixture(K, init_params=how, max_iter=500, random_state=s).fit(X) for s in range(5)),
        key=lambda m: m.lower_bound_,
    )
    np.testing.assert_allclose(
        best.lower_bound_, mc.GaussianMixture(K, n_init=5, random_state=0).fit(X).lower_bound_, atol=0.01
    )
    np.testing.assert_allclose(
        mc.GaussianMixture(2, init_params=how, means_init=X[:2], max_iter=0).fit(X).means_, X[:2]
    )


def test_a_way_to_start_that_is_none() -> None:
    with pytest.raises(ValueError, match="init_params='best'"):
        mc.GaussianMixture(init_params="best").fit(_data())


@pytest.mark.thorough
def test_verbose_writes_of_steps(capsys: Any) -> None:
    mc.GaussianMixture(K, random_state=0, tol=1e-6).fit(_data())
    assert capsys.readouterr().out == ""
    model = mc.GaussianMixture(K, random_state=0, tol=1e-6, verbose=1, verbose_interval=2).fit(_data())
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Initialization 0"
    assert lines[-1] == "Initialization converged."
    assert len(lines) == 2 + model.n_iter_ // 2
