"""Promise: small data and many classes, where the time is checks and overhead, ≥ 1× scikit-learn's speed.

Each is timed twice: one fit after a pause, where caches and the second core have gone cold, and ten fits in a row, as a
search makes them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from measure import interleaved, judged, table
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC
from svm_data import generated

import mercer as mc


def compare(title: str, ours: Any, theirs: Any, X: Any, y: Any) -> None:
    for many, words in ((1, ""), (10, ", ten in a row")):
        tasks = {"mercer": partial(again, ours, X, y, many), "scikit-learn": partial(again, theirs, X, y, many)}
        table(title + words, interleaved(tasks, rounds=15), "mercer", promised={"scikit-learn": 1.0})


def again(machine: Any, X: Any, y: Any, many: int) -> None:
    for _ in range(many):
        machine.fit(X, y)


def main() -> None:
    for n in (100, 200, 500, 1000):
        X, y = generated("mc", n)
        compare(
            f"two classes, n = {n}, d = 20, C = 1", mc.SVC(1.0, mc.Gaussian(1 / 20)), SVC(C=1.0, gamma=1 / 20), X, y
        )
    iris, digits = load_iris(), load_digits()
    compare("iris, 3 classes, n = 150", mc.SVC(1.0, mc.Gaussian(0.5)), SVC(C=1.0, gamma=0.5), iris.data, iris.target)
    compare(
        "digits, 10 classes, n = 1797",
        mc.SVC(10.0, mc.Gaussian(0.02)),
        SVC(C=10.0, gamma=0.02),
        digits.data / 16,
        digits.target,
    )
    rng = np.random.default_rng(0)
    y = np.arange(480) % 6
    K = mc.Gaussian(0.01)(rng.standard_normal((480, 30)) + 0.5 * rng.standard_normal((6, 30))[y])
    compare("precomputed, 6 classes, n = 480", mc.SVC(10.0, "precomputed"), SVC(C=10.0, kernel="precomputed"), K, y)


if __name__ == "__main__":
    judged(main)
