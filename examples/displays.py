"""Draw the picture of docs/pictures.md: nine displays of fitted models. Needs matplotlib."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_moons

import mercer as mc


def main(path: Path) -> None:
    rng = np.random.default_rng(0)
    plt.rcParams.update({"font.size": 8})
    figure, axes = plt.subplots(3, 3, figsize=(13, 10), layout="constrained")
    spots = iter(axes.flat)

    moons, side = make_moons(120, noise=0.25, random_state=0)
    machine = mc.SVC(C=5.0, kernel=mc.Gaussian(1.0))
    mc.MachineDisplay.from_estimator(machine.fit(moons, side), moons, side, ax=next(spots))
    petals, kinds = load_iris(return_X_y=True)
    flowers = mc.KernelLogistic(0.1).fit(petals, kinds)
    mc.MachineDisplay.from_estimator(flowers, petals, kinds, ax=next(spots))

    x = rng.uniform(-3, 3, (80, 1))
    y = np.sin(x[:, 0]) + 0.2 * rng.standard_normal(80)
    ridge = mc.KernelRidge(0.1, mc.Gaussian(0.5)).fit(x, y)
    mc.RegressionDisplay.from_estimator(ridge, x, y, ax=next(spots))

    patients, progress = load_diabetes(return_X_y=True, as_frame=True)
    disease = mc.KernelRidge(1.0, mc.Gaussian("median")).fit(patients, progress)
    mc.EffectDisplay.from_estimator(disease, patients, "bmi", ax=next(spots))

    grid = {"C": np.geomspace(0.01, 1000, 11).tolist(), "kernel__gamma": np.geomspace(0.01, 100, 9).tolist()}
    search = mc.KernelSearchCV(machine, grid, cv=5).fit(moons, side)
    mc.ValidationDisplay.from_search(search, ax=next(spots))

    cells, benign = load_breast_cancer(return_X_y=True)
    cells = ((cells - cells.mean(axis=0)) / cells.std(axis=0))[:, :3]
    likely = mc.KernelLogistic(0.1, mc.Gaussian("median")).fit(cells[::2], benign[::2])
    mc.CalibrationDisplay.from_estimator(likely, cells[1::2], benign[1::2], ax=next(spots))

    mc.SpectrumDisplay.from_kernel(mc.Gaussian("median"), patients, alphas=[0.01, 1.0], ax=next(spots))
    kernels = {f"column {j}": mc.Gaussian(1.0).on(j) for j in range(6)}
    points = rng.standard_normal((200, 6))
    weighed = mc.MKLClassifier(kernel=kernels).fit(points, points[:, 0] ** 2 + points[:, 1] > 1)
    mc.WeightsDisplay.from_estimator(weighed, ax=next(spots))
    mc.ConvergenceDisplay.record(mc.KernelLogistic(0.001), moons, side, ax=next(spots))
    drawn = BytesIO()
    figure.savefig(drawn, dpi=100)
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(200).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "displays.png"))
