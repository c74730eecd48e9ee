"""The picture of docs/probabilities.md: what two machines say of a rare class, against how often it came.

python examples/calibration.py docs/calibration.png        # needs matplotlib
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import train_test_split

import mercer as mc
from mercer.plots import CalibrationDisplay


def main(path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 2))
    truth = 1 / (1 + np.exp(3 - 2 * X[:, 0] - np.sin(3 * X[:, 1])))
    y = (rng.random(len(X)) < truth).astype(int)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
    k = mc.Gaussian(0.5)
    machines = {
        "KernelLogistic": mc.KernelLogistic(0.1, k),
        "SVC": mc.SVC(C=1.0, kernel=k, probability=True),
        'SVC, class_weight="balanced"': mc.SVC(C=1.0, kernel=k, probability=True, class_weight="balanced"),
    }
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    for ax, (name, machine) in zip(figure.subplots(1, 3), machines.items(), strict=True):
        CalibrationDisplay.from_estimator(machine.fit(X, y), X_new, y_new, ax=ax)
        ax.set_title(name)
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "calibration.png"))
