"""Promise: the logistic objective no more than scikit-learn's on explicit features (to 1e-8); Brier scores of a
calibrated SVC over ours ≥ 1×, the mean over the sets; the pinball loss of linear quantile regression over ours ≥ 1×,
the mean over the sets, without a crossing.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
from measure import QUICK, judged, promise, skipped
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, QuantileRegressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as PeerSVC
from tables import FOLDER, table

import mercer as mc
from mercer.files.readers import read_table
from mercer.losses import Pinball

TAUS = (0.1, 0.5, 0.9)


def optimum() -> None:
    """The objective of scikit-learn's logistic regression on the explicit features, against ours on the kernel."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :8]
    kernel = mc.Polynomial(2, 1.0, 0.1)
    print("\nlogistic objective, kernel against explicit features (quadratic polynomial, breast cancer)")
    for alpha in (0.01, 0.1, 1.0):
        ours = mc.KernelLogistic(alpha, kernel).fit(X, y)
        phi = np.asarray(kernel.features(X))
        peer = LogisticRegression(C=1 / (2 * alpha), tol=1e-12, max_iter=100_000).fit(phi, y)
        f = phi @ peer.coef_[0] + peer.intercept_[0]
        theirs = float(np.sum(np.logaddexp(0, -np.where(y == 1, 1, -1) * f)) + alpha * np.sum(peer.coef_**2))
        print(
            f"  λ = {alpha:<5} {ours.objective_:.10f} and {theirs:.10f}   relative difference "
            f"{(theirs - ours.objective_) / theirs:+.1e}   {ours.solver_}"
        )
        above = (float(ours.objective_) - theirs) / theirs
        promise(f"λ = {alpha}, objective above the peer's, relative", above, at_most=1e-8, unit="")


def brier() -> None:
    print("\nBrier score, 5 folds                     KernelLogistic   calibrated SVC")
    sets: dict[str, Any] = {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "heart": table("heart_scale"),
        "german": table("german_numer"),
    }
    ratios = []
    for name, found in sets.items():
        if found is None:
            skipped(name, "is not at hand")
            continue
        X, y = found
        y = (y == np.max(y)).astype(int)
        ours, theirs = [], []
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            scaler = StandardScaler().fit(X[train])
            A, B = scaler.transform(X[train]), scaler.transform(X[test])
            gamma = 0.3 / X.shape[1]
            grid = {"alpha": [0.03, 0.1, 0.3, 1.0], "kernel__gamma": [gamma / 3, gamma, 3 * gamma]}
            logistic = mc.KernelSearchCV(
                mc.KernelLogistic(kernel=mc.Gaussian(gamma)), grid, cv=5, scoring="neg_brier_score"
            ).fit(A, y[train])
            svc = mc.KernelSearchCV(
                mc.SVC(kernel=mc.Gaussian(gamma)), {"C": [0.3, 1, 3, 10], "kernel__gamma": grid["kernel__gamma"]}, cv=5
            ).fit(A, y[train])
            best = svc.best_estimator_
            calibrated = CalibratedClassifierCV(PeerSVC(C=best.C, gamma=best.kernel.gamma), cv=5).fit(A, y[train])
            ours.append(np.mean((logistic.predict_proba(B)[:, 1] - y[test]) ** 2))
            theirs.append(np.mean((calibrated.predict_proba(B)[:, 1] - y[test]) ** 2))
        print(f"  {name:<38} {np.mean(ours):14.4f}   {np.mean(theirs):14.4f}")
        ratios.append(float(np.mean(theirs) / np.mean(ours)))
    promise(
        f"Brier score of the calibrated SVC over ours, mean of {len(ratios)} sets", float(np.mean(ratios)), at_least=1.0
    )


def quantiles() -> None:
    folder = FOLDER / "quantile_small"
    if not folder.exists():
        skipped("quantile_small", "is not at hand")
        return
    print("\npinball loss × 100 (y with variance 1), mean of 0.1, 0.5, 0.9, 10 folds, kernel and λ by inner folds")
    print("  set                    kernel    linear    below 0.1/0.5/0.9 (kernel)   crossings")
    wins, total, crossed = 0, 0, 0
    ratios = []
    shares, weights = [], []
    for path in sorted(folder.glob("*.csv"))[: 1 if QUICK else None]:
        found = _numbers(read_table(path), path.stem)
        if found is None:
            continue
        X, y = found
        ours, peer, below, crossings = [], [], [], 0
        for train, test in KFold(10, shuffle=True, random_state=0).split(X):
            scaler, centre, spread = StandardScaler().fit(X[train]), y[train].mean(), y[train].std()
            A, B, a, b = (
                scaler.transform(X[train]),
                scaler.transform(X[test]),
                (y[train] - centre) / spread,
                (y[test] - centre) / spread,
            )
            predicted = np.column_stack([_best(A, a, tau).predict(B) for tau in TAUS])
            predicted = np.sort(predicted, axis=1)
            crossings += int(np.sum(np.diff(predicted, axis=1) < 0))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                linear = np.column_stack([QuantileRegressor(quantile=t, alpha=0.0).fit(A, a).predict(B) for t in TAUS])
            ours.append(np.mean([Pinball(t).value(b, predicted[:, k]).mean() for k, t in enumerate(TAUS)]))
            peer.append(np.mean([Pinball(t).value(b, linear[:, k]).mean() for k, t in enumerate(TAUS)]))
            below.append((b[:, None] < predicted).sum(axis=0))
        share = np.sum(below, axis=0) / len(y)
        shares.append(np.sum(below, axis=0))
        weights.append(len(y))
        crossed += crossings
        ratios.append(float(np.mean(peer) / np.mean(ours)))
        wins, total = wins + (np.mean(ours) < np.mean(peer)), total + 1
        print(
            f"  {path.stem:<20} {100 * np.mean(ours):8.2f}  {100 * np.mean(peer):8.2f}    "
            f"{share[0]:.3f} / {share[1]:.3f} / {share[2]:.3f}   {crossings:8d}",
            flush=True,
        )
    pooled = np.sum(shares, axis=0) / np.sum(weights)
    print(
        f"  kernel better on {wins} of {total} sets; pooled shares below {pooled[0]:.3f} / {pooled[1]:.3f} /"
        f" {pooled[2]:.3f}"
    )
    promise(f"pinball loss of linear quantiles over ours, mean of {total} sets", float(np.mean(ratios)), at_least=1.0)
    promise("crossings of quantiles", crossed, at_most=0, unit="")


def _best(X: Any, y: Any, tau: float) -> Any:
    gamma = 1.0 / X.shape[1]
    kernel = mc.Gaussian(gamma) + 0.1 * mc.Linear()
    grid = {
        "alpha": [0.03, 0.1, 0.3, 1.0, 3.0],
        "kernel": [mc.Gaussian(g * gamma) + 0.1 * mc.Linear() for g in (0.03, 0.1, 0.3, 1.0)],
    }

    def scorer(machine: Any, A: Any, b: Any) -> float:
        return -float(Pinball(tau).value(b, machine.predict(A)).mean())

    cv = KFold(5, shuffle=True, random_state=1)
    return mc.KernelSearchCV(mc.KernelQuantile(tau, kernel=kernel), grid, cv=cv, scoring=scorer).fit(X, y)


def _numbers(frame: pl.DataFrame, name: str) -> tuple[Any, Any] | None:
    """The columns of numbers, texts as indicators; the target is the one the study used, by name where it is known,
    else the last.
    """
    targets = {
        "engel": "foodexp",
        "mcycle": "accel",
        "bone_mineral_density": "spnbmd",
        "geyser": "waiting",
        "cpus": "perf",
        "heights": "Dheight",
        "GAGurine": "GAG",
        "topo": "z",
        "CobarOre": "z",
        "birthwt": "bwt",
        "sniffer": "Y",
        "caution": "y",
        "highway": "Rate",
        "crabs": "CW",
        "gilgais": "e80",
        "BigMac2003": "BigMac",
        "ftcollinssnow": "Late",
        "snowgeese": "photo",
        "ufc": "Height",
        "UN3": "Purban",
        "barro": "y.net",
    }
    frame = frame.drop_nulls()
    found = next((c for c in frame.columns if c == targets.get(name)), None) or next(
        (c for c in frame.columns if c.lower() == targets.get(name, "").lower()), None
    )
    target = found or frame.columns[-1]
    y = frame.get_column(target).cast(pl.Float64, strict=False).to_numpy()
    X = frame.drop(target).drop([c for c in frame.columns if c in ("index", "id", "idnum") and c != target])
    texts = [c for c in X.columns if not X.get_column(c).dtype.is_numeric() and X.get_column(c).n_unique() <= 12]
    X = X.select([c for c in X.columns if X.get_column(c).dtype.is_numeric() or c in texts]).to_dummies(
        texts, drop_first=True
    )
    values = X.to_numpy().astype(np.float64)
    values = values[:, values.std(axis=0) > 0]
    return (values, y) if len(y) >= 30 and values.shape[1] else None


def main() -> None:
    optimum()
    brier()
    quantiles()


if __name__ == "__main__":
    judged(main)
