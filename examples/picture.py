"""Draw the picture of the README: how kernels on a line look, and what their sum and product see. Needs matplotlib."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

INK, ACCENT, SOFT = "#1b2a41", "#c8553d", "#8fa3bf"


def main(path: Path) -> None:
    x = np.linspace(-3, 3, 241)[:, None]
    expressions = [
        "Gaussian(γ=2.0)",
        "0.15·Linear() + Constant(c=0.3)",
        "Gaussian(γ=2.0) + 0.15·Linear() + Constant(c=0.3)",
        "Laplacian(γ=1.0)·Gaussian(γ=0.2)",
    ]
    rng = np.random.default_rng(3)
    figure, axes = plt.subplots(2, 4, figsize=(13, 5.2), height_ratios=[1, 1.15], constrained_layout=True)
    for column, text in enumerate(expressions):
        kernel = mc.parse(text)
        K = kernel(x)
        axes[0, column].imshow(K, cmap="bone_r", extent=(-3, 3, 3, -3), aspect="auto")
        axes[0, column].set_title(text.replace(" + Constant", "\n+ Constant"), fontsize=9, color=INK)
        root = np.linalg.cholesky(K + 1e-9 * np.trace(K) * np.eye(len(K)))
        for colour in (SOFT, SOFT, ACCENT):
            axes[1, column].plot(x[:, 0], root @ rng.standard_normal(len(x)), color=colour, lw=1.6)
        axes[1, column].axhline(0, color=INK, lw=0.5)
        for axis in axes[:, column]:
            axis.set_xticks([-3, 0, 3])
            axis.set_yticks([])
            axis.tick_params(labelsize=8, colors=INK)
            for side in axis.spines.values():
                side.set_color(SOFT)
    axes[0, 0].set_ylabel("the matrix k(x, z)", fontsize=9, color=INK)
    axes[1, 0].set_ylabel("random functions with covariance k", fontsize=9, color=INK)
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "docs" / "kernels.png")
