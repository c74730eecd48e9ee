"""Promise: regression sets with fixed splits, parameters by the gradient of the marginal likelihood: the RMSE of
scikit-learn's Gaussian process over ours ≥ 1×, and the published one of PBP over ours ≥ 1×, the mean over the sets;
with a metric that is learnt (``FeatureMachineRegressor``, as it comes), both on each of wine and protein.

``python bench_uci.py [splits] [sets]``: the first so many splits of each set (3 if not given), a third of them for sets
of more than 5000 rows.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from measure import QUICK, judged, machine, promise, skipped
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.kernel_ridge import KernelRidge as Peer
from sklearn.model_selection import GridSearchCV
from tables import uci

import mercer as mc

PUBLISHED = {  # RMSE of PBP and of dropout (Hernández-Lobato & Adams 2015; Gal & Ghahramani 2016)
    "yacht": (1.02, 1.11), "energy": (1.80, 1.66), "concrete": (5.67, 5.23), "wine_quality_red": (0.64, 0.62),
    "kin8nm": (0.10, 0.10), "power_plant": (4.12, 4.02), "naval_propulsion_plant": (0.01, 0.01),
    "protein_tertiary_structure": (4.73, 4.36),
}  # fmt: skip
TUNED_ROWS = 1500
MOST = 15_000  # rows to train on
PEER_ROWS = 1500  # of scikit-learn's Gaussian process, whose cost is the same cube
ROUGH = ("wine_quality_red", "protein_tertiary_structure")  # where lengths of columns of a Gaussian lose


def ours(X: Any, y: Any, T: Any, t: Any) -> tuple[float, float]:
    d = X.shape[1]
    found = []
    for length, alpha in ((1.0, 0.5), (np.sqrt(d), 0.05)):  # local with much noise, global with little
        kernel = 1.0 * mc.Matern(np.full(d, length), np.inf) + 0.1 * mc.Linear()
        restarts = 2 if len(X) < 500 else 0
        found.append(
            mc.tune(
                mc.KernelRidge(alpha, kernel),
                X,
                y,
                "marginal likelihood",
                max_samples=TUNED_ROWS,
                max_iter=100,
                restarts=restarts,
            )
        )
    best = min(found, key=lambda tuned: tuned.value)
    if len(X) > MOST:  # noise this small needs a factor: iterations would not end
        kept = np.random.default_rng(1).permutation(len(X))[:MOST]
        return float(np.sqrt(np.mean((best.fit(X[kept], y[kept]).predict(T) - t) ** 2))), np.nan
    ridge = best.fit(X, y)
    mean, std = ridge.predict(T, return_std=True)
    scale = float((y - y.mean()) @ ridge.dual_coef_[0]) / (len(y) - 1)  # the σ² that explains y best
    variance = scale * (std**2 + ridge.alpha)
    return float(np.sqrt(np.mean((mean - t) ** 2))), float(
        np.mean(-0.5 * np.log(2 * np.pi * variance) - (mean - t) ** 2 / (2 * variance))
    )


def learned(X: Any, y: Any, T: Any, t: Any) -> float:
    kept = np.random.default_rng(1).permutation(len(X))[:MOST]
    machine = mc.FeatureMachineRegressor(random_state=0).fit(X[kept], y[kept])
    return float(np.sqrt(np.mean((machine.predict(T) - t) ** 2)))


def gaussian_process(X: Any, y: Any, T: Any, t: Any) -> tuple[float, float]:
    some = np.random.default_rng(0).permutation(len(X))[:PEER_ROWS]
    kernel = (
        ConstantKernel() * RBF(np.full(X.shape[1], np.sqrt(X.shape[1])))
        + ConstantKernel(0.1) * DotProduct()
        + WhiteKernel(0.05)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = GaussianProcessRegressor(kernel, n_restarts_optimizer=0).fit(X[some], y[some])
    mean, std = machine.predict(T, return_std=True)
    return float(np.sqrt(np.mean((mean - t) ** 2))), float(
        np.mean(-0.5 * np.log(2 * np.pi * std**2) - (mean - t) ** 2 / (2 * std**2))
    )


def ridge(X: Any, y: Any, T: Any, t: Any) -> float:
    some = np.random.default_rng(0).permutation(len(X))[:2000]
    d = X.shape[1]
    grid = {"alpha": [1e-3, 1e-2, 1e-1, 1.0], "gamma": [0.03 / d, 0.1 / d, 0.3 / d, 1 / d, 3 / d]}
    best = (
        GridSearchCV(Peer(kernel="rbf"), grid, cv=3, scoring="neg_mean_squared_error")
        .fit(X[some], y[some])
        .best_estimator_
    )
    kept = np.random.default_rng(1).permutation(len(X))[:12_000]
    return float(np.sqrt(np.mean((best.fit(X[kept], y[kept]).predict(T) - t) ** 2)))


def main() -> None:
    splits = int(sys.argv[1]) if len(sys.argv) > 1 else 1 if QUICK else 3
    names = sys.argv[2:] or (["yacht"] if QUICK else list(PUBLISHED))
    ratios: list[tuple[float, float]] = []
    print(f"{machine()}\n{splits} splits, {max(1, splits // 3)} of large sets; RMSE (mean log-likelihood)")
    print(
        f"{'set':<28} {'n':>6}   {'Mercer':>18}   {'metric':>8}   {'scikit-learn GP':>18}   {'its ridge':>10}  "
        f" {'PBP':>6} {'dropout':>8}   seconds"
    )
    for name in names:
        found, published = uci(name), PUBLISHED[name]
        if found is None:
            skipped(name, "is not at hand")
            continue
        X, y, tests = found
        rows: list[Any] = []
        start = time.perf_counter()
        used = splits if len(y) <= 5000 else max(1, splits // 3)
        for test in tests[:used]:
            train = np.setdiff1d(np.arange(len(y)), test)
            mean, std = X[train].mean(0), X[train].std(0)
            std[std == 0] = 1
            A, B = (X[train] - mean) / std, (X[test] - mean) / std
            m, s = y[train].mean(), y[train].std()
            a, b = (y[train] - m) / s, (y[test] - m) / s
            begun = time.perf_counter()
            r, ll = ours(A, a, B, b)
            mine = time.perf_counter() - begun
            gr, gll = gaussian_process(A, a, B, b)
            other = ridge(A, a, B, b)
            rows.append((r * s, ll - np.log(s), gr * s, gll - np.log(s), other * s, mine, learned(A, a, B, b) * s))
        v = np.mean(rows, axis=0)
        digits = 4 if v[0] < 0.2 else 3
        print(
            f"{name:<28} {len(y):6d}   {v[0]:9.{digits}f} ({v[1]:6.2f})   {v[6]:8.{digits}f}  "
            f" {v[2]:9.{digits}f} ({v[3]:6.2f})   {v[4]:10.{digits}f}   {published[0]:6.2f} {published[1]:8.2f}  "
            f" {v[5]:.0f} of {(time.perf_counter() - start) / used:.0f}",
            flush=True,
        )
        ratios.append((v[2] / v[0], published[0] / v[0]))
        if name in ROUGH:
            promise(
                f"{name}: RMSE of scikit-learn's Gaussian process over a learnt metric's", v[2] / v[6], at_least=1.0
            )
            promise(f"{name}: RMSE of PBP over a learnt metric's", published[0] / v[6], at_least=1.0)
    if not ratios:
        return
    gaussian_processes, published_ones = np.mean(ratios, axis=0)
    sets = f"over ours, mean of {len(ratios)} sets"
    promise(f"RMSE of scikit-learn's Gaussian process {sets}", float(gaussian_processes), at_least=1.0)
    promise(f"RMSE of PBP {sets}", float(published_ones), at_least=1.0)


if __name__ == "__main__":
    judged(main)
