"""Draw the picture of the README: four kinds of samples, the matrix of a kernel on each, what a learner makes of it.

python examples/what_for.py docs/what_for.png        # needs matplotlib and RDKit
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from rdkit import Chem
from rdkit.Chem import AllChem

import mercer as mc

INK = "#1b2a41"
COLOURS = ["#0072B2", "#D55E00", "#009E73"]
FAINT = ListedColormap(["#d6e6f2", "#fbe3d3"])
ONE, OTHER = "CC(=O)Nc1ccc(O)cc1", "CCOC(=O)c1ccc(N)cc1"


def bare(ax: Axes, title: str = "") -> None:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=10, color=INK)


def matrix(ax: Axes, k: mc.Kernel, X: Any) -> None:
    ax.imshow(k(X), cmap="bone_r", interpolation="nearest")
    bare(ax, str(k) if len(str(k)) < 34 else str(k).replace(".normalized", "\n.normalized"))


def coloured(ax: Axes, at: Any, groups: Any) -> None:
    for group in np.unique(groups):
        ax.scatter(*at[groups == group].T, s=16, color=COLOURS[group], edgecolors="white", lw=0.5)


def points(top: Axes, middle: Axes, bottom: Axes) -> None:
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 60)
    angle, radius = rng.uniform(0, 2 * np.pi, 120), np.where(y == 0, 0.8, 1.9) + 0.2 * rng.standard_normal(120)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    k = mc.Gaussian(1.0)
    coloured(top, X, y)
    bare(top, "points")
    matrix(middle, k, X)
    side = np.linspace(-2.6, 2.6, 160)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    values = mc.SVC(10.0, k).fit(X, y).decision_function(grid).reshape(160, 160)
    bottom.imshow(values > 0, origin="lower", extent=(-2.6, 2.6, -2.6, 2.6), cmap=FAINT)
    bottom.contour(side, side, values, [-1, 0, 1], colors=INK, linewidths=[0.6, 1.4, 0.6])
    coloured(bottom, X, y)
    bare(bottom, "SVC: regions and margin")


def words(top: Axes, middle: Axes, bottom: Axes) -> None:
    rng = np.random.default_rng(5)
    parents = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(3)]
    groups = np.repeat([0, 1, 2], 12)
    X = ["".join(rng.choice(list("ACGT")) if rng.random() < 0.22 else c for c in parents[g]) for g in groups]
    k = mc.Mismatch(4, 1).normalized()
    for row, i in enumerate([0, 1, 2, 12, 13, 14, 24, 25, 26]):
        place = {"ha": "center", "va": "center", "family": "monospace", "fontsize": 8.5}
        top.text(0.5, 1 - (row + 0.7) / 9.5, X[i][:19] + "…", color=COLOURS[groups[i]], **place)
    bare(top, "strings")
    matrix(middle, k, X)
    coloured(bottom, mc.KernelPCA(2, k).fit_transform(X), groups)
    bare(bottom, "KernelPCA: a map of them")


def drawn(ax: Axes, smiles: str, shift: float, values: Any = None) -> None:
    molecule = Chem.MolFromSmiles(smiles)
    AllChem.Compute2DCoords(molecule)
    at = molecule.GetConformer().GetPositions()[:, :2]
    at = at @ np.linalg.svd(at - at.mean(0))[2].T  # lengthwise
    at = at - at.mean(0) + [0.0, shift]
    for bond in molecule.GetBonds():
        ends = [bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]
        ax.plot(*at[ends].T, color="0.5", lw=3.0 if bond.GetBondTypeAsDouble() > 1 else 1.2, zorder=1)
    if values is None:
        ax.scatter(*at.T, c="white", s=90, zorder=2)
    else:
        most = np.abs(values).max()
        ax.scatter(*at.T, c=values, cmap="PuOr_r", vmin=-most, vmax=most, s=130, edgecolors="0.5", zorder=2)
    for atom, (x, y) in zip(molecule.GetAtoms(), at, strict=True):
        if values is None or atom.GetSymbol() != "C":
            ax.text(x, y, atom.GetSymbol(), ha="center", va="center", fontsize=8, color=INK, zorder=3)
    ax.set_aspect("equal")


def molecules(top: Axes, middle: Axes, bottom: Axes) -> None:
    rng = np.random.default_rng(0)
    rings, links = ["c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccoc1"], ["", "C", "CC", "O", "N"]
    ends = ["C", "CC", "Cl", "NC(=O)", "OC(=O)", "CC(=O)N", "CO", "N#C"]
    smiles = sorted({f"{a}{b}{c}" for a in ends for b in links for c in rings}, key=lambda s: ("C(=O)" in s, s))
    chosen = np.sort(rng.permutation(len(smiles))[:60])
    X = [smiles[i] for i in chosen]
    y = np.array(["C(=O)" in s for s in X]).astype(int)
    k = mc.Tanimoto(mc.Morgan(2))
    drawn(top, ONE, 1.9)
    drawn(top, OTHER, -1.9)
    bare(top, "molecules")
    matrix(middle, k, X)
    machine = mc.SVC(3.0, k).fit(X, y)
    for s, shift in ((ONE, 1.9), (OTHER, -1.9)):
        told = mc.explain(machine, [s], "place")[0]
        drawn(
            bottom,
            s,
            shift,
            np.array([v for v, name in zip(told.values, told.names, strict=True) if name != "constant"]),
        )
    bare(bottom, "explain: what each atom adds")


def tables(top: Axes, middle: Axes, bottom: Axes) -> None:
    rng = np.random.default_rng(3)
    x = np.sort(np.concatenate([rng.uniform(0, 4, 36), rng.uniform(6, 10, 36)]))
    y = np.sin(2 * x) + 0.25 * x + 0.2 * rng.standard_normal(72)
    k = mc.Gaussian(1.0) + 0.1 * mc.Linear()
    top.plot(x, y, ".", color=COLOURS[0], ms=5)
    bare(top, "measurements")
    matrix(middle, k, x[:, None])
    machine = mc.KernelRidge(0.05, k).fit(x[:, None], y)
    at = np.linspace(0, 10, 300)[:, None]
    mean, std = machine.predict(at, return_std=True)
    bottom.fill_between(at[:, 0], mean - 2 * std, mean + 2 * std, color="#d6e6f2", lw=0)
    bottom.plot(at[:, 0], mean, color=INK, lw=1.6)
    bottom.plot(x, y, ".", color=COLOURS[0], ms=4)
    bare(bottom, "KernelRidge: mean, and how sure")


def main(path: Path) -> None:
    figure, axes = plt.subplots(3, 4, figsize=(12, 8.2), layout="constrained")
    for column, kind in enumerate((points, words, molecules, tables)):
        kind(*axes[:, column])
    for row, title in enumerate(("what can be compared …", "… has a matrix …", "… that every learner takes")):
        axes[row, 0].set_ylabel(title, fontsize=12, color=INK, labelpad=10)
    figure.savefig(path, dpi=80, facecolor="white")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "what_for.png"))
