"""Widths that follow the noise: the closed form beside refitting, and the coverage here and there."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.selection.scales import LearnedScale

SCALES = ["std", "residuals"]
RIDGE = mc.KernelRidge(0.2, mc.Gaussian(0.5))


def _uneven(n: int, seed: int | Any = 0) -> tuple[Any, Any]:
    """Ten times as much noise to the right of 0."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 1))
    return X, np.sin(2 * X[:, 0]) + np.where(X[:, 0] > 0, 0.5, 0.05) * rng.standard_normal(n)


def _rising(n: int, seed: int) -> tuple[Any, Any]:
    """Noise that rises from 0.05 to 0.8, sixteenfold, from left to right."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 1))
    return X, np.sin(2 * X[:, 0]) + 0.2 * 2 ** X[:, 0] * rng.standard_normal(n)


def _order(values: Any, k: int) -> Any:
    """The k-th smallest, k from 1."""
    return np.sort(values)[k - 1]


def _inside(model: Any, T: Any, t: Any) -> Any:
    ends = model.predict_interval(T)
    return (ends[:, 0] <= t) & (t <= ends[:, 1])


# -- by hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("k", [mc.Gaussian(0.5), mc.Linear() + 1.0], ids=str)
def test_the_closed_form_is_refitting(bias: bool, weighted: bool, k: Any) -> None:
    """Quantiles of f_−i(x) ∓ |y_i − f_−i(x_i)|·s_−i(x)/s_−i(x_i) over i, each machine fitted anew, s its standard
    deviation with noise.
    """
    (X, y), (T, _), n = _uneven(25), _uneven(15, 1), 25
    w = np.random.default_rng(2).uniform(0.5, 2.0, n) if weighted else np.ones(n)
    machine = mc.KernelRidge(0.2, k, fit_intercept=bias)
    found = mc.ConformalRegressor(machine, 0.8, scale="std").fit(X, y, sample_weight=w)
    left, spread, errors = np.empty((15, n)), np.empty((15, n)), np.empty(n)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        one = clone(machine).fit(X[rest], y[rest], w[rest])
        left[:, i], spread[:, i] = one.predict(T, return_std=True, include_noise=True)
        mean, std = one.predict(X[i : i + 1], return_std=True, include_noise=True)
        errors[i] = abs(y[i] - mean[0]) / std[0]
    low, high = left - errors * spread, left + errors * spread
    expected = [[_order(low[t], 5), _order(high[t], 21)] for t in range(15)]  # ⌊26·0.2⌋, ⌈26·0.8⌉
    np.testing.assert_allclose(found.predict_interval(T), expected, rtol=1e-6)


def _by_hand(machine: Any, X: Any, y: Any, splits: Any) -> Any:
    """s as the docstrings have it: a ridge with the same kernel learns log(|e| + mean/100), e of samples left out."""
    errors = np.empty(len(y))
    for train, test in splits:
        errors[test] = np.abs(y[test] - clone(machine).fit(X[train], y[train]).predict(X[test]))
    logs = np.log(errors + 0.01 * errors.mean())
    g = mc.KernelRidgeCV(kernel=machine.kernel).fit(X, logs)
    return lambda T: np.exp(np.clip(g.predict(T), logs.min(), logs.max()))


@pytest.mark.parametrize("scale", SCALES)
def test_split_by_hand(scale: str) -> None:
    (X, y), (T, _) = _uneven(60), _uneven(20, 1)
    found = mc.ConformalRegressor(RIDGE, 0.8, "split", calibration=0.4, scale=scale, random_state=3).fit(X, y)
    train, rest = found._split(60)
    one = clone(RIDGE).fit(X[train], y[train])
    learnt = _by_hand(RIDGE, X[train], y[train], KFold(36).split(X[train]))  # each alone: the closed form

    def s(Z: Any) -> Any:
        return learnt(Z) if scale == "residuals" else one.predict(Z, return_std=True, include_noise=True)[1]

    errors = np.abs(y[rest] - one.predict(X[rest])) / s(X[rest])
    np.testing.assert_allclose(found.errors_, errors, rtol=1e-6)
    width = _order(errors, 20) * s(T)  # ⌈25·0.8⌉
    np.testing.assert_allclose(found.predict_interval(T), one.predict(T)[:, None] + np.outer(width, [-1, 1]), rtol=1e-6)
    np.testing.assert_allclose(found.predict(T), one.predict(T))


@pytest.mark.thorough
@pytest.mark.parametrize("machine", [RIDGE, mc.SVR(kernel=mc.Gaussian(0.5), tol=1e-8)], ids=["ridge", "SVR"])
def test_folds_by_hand(machine: Any) -> None:
    """CV+: neither f nor s of a fold has seen its samples, nor have the errors that s is learnt from."""
    (X, y), (T, _), n = _uneven(40), _uneven(12, 1), 40
    found = mc.ConformalRegressor(machine, 0.8, folds=4, scale="residuals", random_state=0).fit(X, y)
    low, high = np.empty((12, n)), np.empty((12, n))
    for train, test in KFold(4, shuffle=True, random_state=0).split(X):
        one = clone(machine).fit(X[train], y[train])
        inner = KFold(30) if machine is RIDGE else KFold(4, shuffle=True, random_state=0)
        s = _by_hand(machine, X[train], y[train], inner.split(train))
        errors = np.abs(y[test] - one.predict(X[test])) / s(X[test])
        np.testing.assert_allclose(found.errors_[test], errors, rtol=1e-4)
        low[:, test], high[:, test] = (one.predict(T)[:, None] + c * np.outer(s(T), errors) for c in (-1, 1))
    expected = [[_order(low[t], 8), _order(high[t], 33)] for t in range(12)]  # ⌊41·0.2⌋, ⌈41·0.8⌉
    np.testing.assert_allclose(found.predict_interval(T), expected, rtol=1e-4)


def test_a_machine_that_hits_its_own_samples_is_not_believed() -> None:
    """Its errors on those are 0 everywhere; out of sample they show where the noise is."""
    X, y = _uneven(200)
    for machine in (mc.KernelRidge(1e-8, mc.Laplacian(3.0)), mc.SVR(1e6, 1e-6, mc.Laplacian(3.0))):
        assert np.abs(clone(machine).fit(X, y).predict(X) - y).max() < 1e-3
        found = mc.ConformalRegressor(machine, 0.8, "split", scale="residuals", random_state=0).fit(X, y)
        left, right = found._scale.at(np.array([[-1.2], [1.2]]))
        assert 4 < right / left < 25


def test_errors_of_nothing() -> None:
    """Where all errors are 0 the scale is a constant, and one error of 0 is no reason for a width of 0."""
    X = np.linspace(0, 1, 20)[:, None]
    assert LearnedScale.of(RIDGE, X, np.zeros(20)).at(X) == pytest.approx(np.ones(20))
    rng = np.random.default_rng(0)
    errors = np.where(np.arange(20) == 10, 0.0, rng.uniform(0.9, 1.1, 20))
    s = LearnedScale.of(RIDGE, X, errors).at(X)
    assert s.min() > 0.1


# -- coverage ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "scale"),
    [
        (RIDGE, "std"),
        (RIDGE, "residuals"),
        (mc.KernelRidge(1e-6, mc.Gaussian(50.0)), "residuals"),
        (Ridge(), "residuals"),
    ],
    ids=["std", "residuals", "wild", "line"],
)
def test_the_guarantee_of_split_is_exact(machine: Any, scale: str) -> None:
    """With m errors the coverage is ⌈(m + 1)c⌉/(m + 1) on average, whatever s is: 8/10 for m = 9, c = 0.75."""
    rng, draws, new = np.random.default_rng(0), 200, 50
    inside = []
    for draw in range(draws):
        (X, y), (T, t) = _uneven(30, rng), _uneven(new, rng)
        found = mc.ConformalRegressor(machine, 0.75, "split", scale=scale, random_state=draw).fit(X, y)
        assert len(found.errors_) == 9
        inside.append(np.mean(_inside(found, T, t)))
    error = np.sqrt(0.8 * 0.2 * (1 / 11 + 1 / new) / draws)  # the coverage given the errors is Beta(8, 2)
    assert np.mean(inside) == pytest.approx(0.8, abs=3.5 * error)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["split", "loo"])
def test_the_coverage_is_what_is_promised_on_both_sides(method: str) -> None:
    """With one width, the quiet half is always inside and the loud half far too seldom; with that of the noise, both
    are near 90 %.
    """
    halves: dict[Any, Any] = {}
    for scale in (None, "residuals"):
        found = []
        for draw in range(12):
            (X, y), (T, t) = _rising(200, 2 * draw), _rising(1000, 2 * draw + 1)
            model = mc.ConformalRegressor(RIDGE, 0.9, method, scale=scale, random_state=draw).fit(X, y)
            inside = _inside(model, T, t)
            found.append([inside[T[:, 0] < 0].mean(), inside[T[:, 0] > 0].mean(), inside.mean()])
        halves[scale] = np.mean(found, axis=0)
    quiet, loud, both = halves[None]
    assert quiet > 0.98
    assert loud < 0.84
    assert both == pytest.approx(0.9, abs=0.025)
    quiet, loud, both = halves["residuals"]
    assert quiet == pytest.approx(0.9, abs=0.04)
    assert loud == pytest.approx(0.9, abs=0.04)
    assert both == pytest.approx(0.9, abs=0.025)


@pytest.mark.thorough
def test_widths_by_the_posterior_follow_the_samples() -> None:
    """Wider where there were few, the same share inside: 90 % ± 2."""
    rng = np.random.default_rng(0)
    inside, widths = [], []
    for draw in range(40):
        X, T = (
            np.where(rng.random((n, 1)) < 0.9, rng.uniform(-2, 0, (n, 1)), rng.uniform(0, 2, (n, 1))) for n in (60, 300)
        )
        y, t = (np.sin(4 * Z[:, 0]) + 0.1 * rng.standard_normal(len(Z)) for Z in (X, T))
        model = mc.ConformalRegressor(mc.KernelRidge(0.02, mc.Gaussian(4.0)), scale="std", random_state=draw).fit(X, y)
        inside.append(_inside(model, T, t).mean())
        widths.append(np.diff(model.predict_interval([[-1.0], [1.0]]))[:, 0])
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)
    few, many = np.mean(widths, axis=0)[::-1]
    assert few > 1.5 * many


# -- who has which ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine",
    [
        mc.KernelRidgeCV(kernel=mc.Gaussian(0.5)),
        make_pipeline(StandardScaler(), RIDGE),
        mc.KernelSearchCV(RIDGE, {"alpha": [0.1, 1.0]}),
        BayesianRidge(),
        GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1), optimizer=None),
        mc.KernelRidge(0.2, mc.Gaussian(0.5), centers=10, uncertainty=True, random_state=0),
    ],
    ids=["ridge CV", "pipeline", "search", "scikit-learn", "process", "centers"],
)
@pytest.mark.parametrize("method", ["split", "loo"])
@pytest.mark.thorough
def test_everyone_with_a_standard_deviation(machine: Any, method: str) -> None:
    (X, y), (T, _) = _uneven(40), _uneven(20, 1)
    found = mc.ConformalRegressor(machine, 0.8, method, folds=3, scale="std", random_state=0).fit(X, y)
    ends = found.predict_interval(T)
    assert np.isfinite(ends).all()
    if method == "split":
        noise = (
            {}
            if type(machine).__module__.startswith("sklearn.") and not hasattr(machine, "steps")
            else {"include_noise": True}
        )
        std = found.estimator_.predict(T, return_std=True, **noise)[1]
        np.testing.assert_allclose(np.diff(ends)[:, 0] / std, np.diff(ends)[0, 0] / std[0], rtol=1e-9)


@pytest.mark.parametrize(
    "machine",
    [
        mc.SVR(kernel=mc.Gaussian(0.5)),
        mc.KernelHuber(0.1, kernel=mc.Gaussian(0.5)),
        mc.KernelQuantile(0.5, 0.1, mc.Gaussian(0.5)),
        Ridge(),
        make_pipeline(StandardScaler(), RIDGE),
        mc.KernelRidge(0.2, mc.Gaussian(0.5), centers=10, random_state=0),
        mc.KernelRidge(0.0, mc.Linear()),
    ],
    ids=["SVR", "Huber", "median", "scikit-learn", "pipeline", "centers", "no ridge"],
)
@pytest.mark.parametrize("method", ["split", "loo"])
def test_everyone_has_residuals(machine: Any, method: str) -> None:
    (X, y), (T, _) = _uneven(60), _uneven(20, 1)
    found = mc.ConformalRegressor(machine, 0.8, method, folds=3, scale="residuals", random_state=0).fit(X, y)
    ends = found.predict_interval(T)
    assert (ends[:, 0] < ends[:, 1]).all()
    assert np.ptp(np.diff(ends)) > 0


@pytest.mark.parametrize("method", ["split", "loo"])
def test_a_precomputed_matrix(method: str) -> None:
    (X, y), (T, _) = _uneven(60), _uneven(20, 1)
    k = mc.Gaussian(0.5)
    options = {"coverage": 0.8, "method": method, "folds": 3, "scale": "residuals", "random_state": 0}
    given = mc.ConformalRegressor(mc.KernelHuber(0.1, kernel="precomputed"), **options).fit(k(X), y)
    plain = mc.ConformalRegressor(mc.KernelHuber(0.1, kernel=k), **options).fit(X, y)
    np.testing.assert_allclose(given.predict_interval(k(T, X)), plain.predict_interval(T), rtol=1e-6)


@pytest.mark.thorough
def test_strings_and_frames() -> None:
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(40)]
    y = np.array([word.count("A") for word in words]) + rng.standard_normal(40)
    for scale in SCALES:
        model = mc.ConformalRegressor(mc.KernelRidge(1.0, mc.Spectrum(2)), scale=scale, random_state=0).fit(words, y)
        assert model.predict_interval(words[:3]).shape == (3, 2)
        X, z = _uneven(40)
        frame = pl.DataFrame({"x": X[:, 0]})
        one, other = (mc.ConformalRegressor(RIDGE, scale=scale, random_state=0).fit(A, z) for A in (X, frame))
        np.testing.assert_allclose(one.predict_interval(X), other.predict_interval(frame), rtol=1e-9)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("method", ["split", "loo"])
def test_saved_and_loaded(scale: str, method: str, tmp_path: Path) -> None:
    X, y = _uneven(40)
    model = mc.ConformalRegressor(RIDGE, 0.8, method, folds=3, scale=scale, random_state=0).fit(X, y)
    mc.save(model, tmp_path / "m.mercer")
    for again in (pickle.loads(pickle.dumps(model)), mc.load(tmp_path / "m.mercer")):
        np.testing.assert_allclose(again.predict_interval(X), model.predict_interval(X), rtol=1e-12)


# -- errors -----------------------------------------------------------------------------------------------------------


def test_what_is_refused() -> None:
    X, y = _uneven(40)
    with pytest.raises(ValueError, match=r"scale='spread': choose one of None, 'std', 'residuals'"):
        mc.ConformalRegressor(RIDGE, scale="spread").fit(X, y)
    for machine in (
        mc.SVR(),
        Ridge(),
        make_pipeline(StandardScaler(), mc.SVR()),
        mc.KernelSearchCV(mc.SVR(), {"C": [1.0]}),
    ):
        with pytest.raises(ValueError, match=r"takes no return_std.*scale='residuals'"):
            mc.ConformalRegressor(machine, scale="std").fit(X, y)
    for machine in (mc.SVC(), LogisticRegression(), make_pipeline(StandardScaler(), mc.SVC())):
        with pytest.raises(ValueError, match=r"is a classifier.*regressor \(KernelRidge, SVR\)"):
            mc.ConformalRegressor(machine).fit(X, y > 0)
    for method in ("split", "loo"):
        with pytest.raises(ValueError, match=r"two quantiles follow the noise already: scale=None"):
            mc.ConformalRegressor(mc.KernelQuantile([0.1, 0.9]), 0.8, method, scale="residuals").fit(X, y)
    with pytest.raises(ValueError, match=r"standard deviation at sample \d+ is 0.*scale='residuals'"):
        mc.ConformalRegressor(Sure(), 0.8, "split", scale="std").fit(X, y)


class Sure(Ridge):  # type: ignore[misc]
    """Who has no doubt."""

    def predict(self, X: Any, return_std: bool = False) -> Any:
        mean = super().predict(X)
        return (mean, 0.0 * mean) if return_std else mean


@pytest.mark.thorough
@parametrize_with_checks(
    [
        mc.ConformalRegressor(mc.KernelRidge(), coverage=0.5, scale="std", random_state=0),
        mc.ConformalRegressor(mc.KernelRidge(), coverage=0.5, scale="residuals", folds=3, random_state=0),
        mc.ConformalRegressor(mc.SVR(), coverage=0.5, method="split", scale="residuals", folds=3, random_state=0),
    ]
)
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)
