"""Promise: MNIST by centers has an error of at most 1.4 %; on the large tables of ``big_tabular`` a machine with
centers is no worse (half a point of balanced accuracy) than scikit-learn's linear model, Nystroem and RBFSampler.

Boosted trees are in the table, without a promise: kddcup and fars are tables of categories, which are theirs.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from measure import judged, promise, sized, skipped
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from tables import FOLDER

import mercer as mc

M = 1000


def mnist() -> None:
    path = FOLDER / "mnist" / "mnist.npz"
    if not path.exists():
        skipped("mnist", "is not at hand")
        return
    with np.load(path) as z:
        X, y, T, t = (
            (z[name] / 255).astype(np.float32) if "X" in name else z[name] for name in ("X", "y", "X_test", "y_test")
        )
    X, T = (np.sqrt(A / A.sum(axis=1, keepdims=True)) for A in (X, T))  # images as histograms, in Hellinger's distance
    n, m = sized(len(X), 3000), sized(20_000, 300)
    start = time.perf_counter()
    signs = np.where(y[:n, None] == np.arange(10), 1.0, -1.0)
    machine = mc.KernelRidge(1e-2, mc.Gaussian(2.0), centers=m, random_state=0, tol=1e-3).fit(X[:n], signs)
    seconds = time.perf_counter() - start
    error = 100 * float(np.mean(np.argmax(machine.predict(T), axis=1) != t))
    print(f"\nMNIST, {n} images, ridge with {m} centers: {seconds:.0f} s, {machine.n_iter_} steps, error {error:.2f} %")
    promise("MNIST, error", error, at_most=1.4, unit="%")


def codes(X: np.ndarray) -> np.ndarray:
    """Columns of few different numbers as 0/1 columns, the others standardised."""
    parts = []
    for x in X.T:
        values = np.unique(x)
        if 2 < len(values) <= 30:
            parts.append((x[:, None] == values).astype(np.float32) * np.float32(0.7))
        elif len(values) > 1:
            parts.append(((x - x.mean()) / x.std())[:, None].clip(-5, 5).astype(np.float32))
    return np.hstack(parts)


def rows(name: str) -> tuple[Any, ...] | None:
    path = FOLDER / "big_tabular" / f"{name}.npz"
    if not path.exists():
        return None
    with np.load(path) as z:
        X, y = z["X"].astype(np.float32), z["y"]
    common = np.isin(y, [label for label, count in zip(*np.unique(y, return_counts=True), strict=True) if count >= 200])
    X, y = codes(X[common]), y[common]
    order = np.random.default_rng(0).permutation(len(X))
    test = order[: min(50_000, len(X) // 4)]
    train = order[len(test) :][: sized(10**7, 4000)]
    return X[train], y[train], X[test], y[test]


def tables() -> None:
    for name in ("sleep", "fars", "celeba", "kddcup"):
        found = rows(name)
        if found is None:
            skipped(name, "is not at hand")
            continue
        X, y, T, t = found
        gamma, m = 0.5 / X.shape[1], sized(M, 100)
        linear = {"max_iter": 200, "class_weight": "balanced"}
        machines = {
            "KernelLogistic(centers)": mc.KernelLogistic(
                0.05, mc.Gaussian(gamma), centers=m, random_state=0, tol=1e-4, class_weight="balanced"
            ),
            "SVC(centers)": mc.SVC(
                kernel=mc.Gaussian(gamma), C=10.0, centers=m, random_state=0, tol=1e-2, class_weight="balanced"
            ),
            "LogisticRegression": LogisticRegression(**linear),
            "Nystroem + linear": make_pipeline(
                Nystroem(gamma=gamma, n_components=m, random_state=0), LogisticRegression(C=10.0, **linear)
            ),
            "RBFSampler + linear": make_pipeline(
                RBFSampler(gamma=gamma, n_components=m, random_state=0), LogisticRegression(C=10.0, **linear)
            ),
            "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0, class_weight="balanced"),
        }
        print(f"\n{name}: {X.shape[0]} × {X.shape[1]}, {len(np.unique(y))} classes, m = {m}")
        scores = {}
        for label, machine in machines.items():
            if label == "SVC(centers)" and len(np.unique(y)) > 2:
                continue  # one machine for each pair: the logistic machine is the one for classes
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                machine.fit(X, y)
            seconds = time.perf_counter() - start
            guessed = machine.predict(T)
            scores[label] = 100 * float(balanced_accuracy_score(t, guessed))
            print(
                f"  {label:<26} balanced {scores[label]:6.2f} %  accuracy {100 * np.mean(guessed == t):6.2f} %"
                f"  {seconds:7.1f} s"
            )
        ours = max(scores[label] for label in scores if "centers" in label)
        peers = max(scores[label] for label in ("LogisticRegression", "Nystroem + linear", "RBFSampler + linear"))
        promise(
            f"{name}, balanced accuracy less that of the best linear peer", ours - peers, at_least=-0.5, unit="points"
        )


def main() -> None:
    mnist()
    tables()


if __name__ == "__main__":
    judged(main)
