"""
What makes a molecule active?
=============================

A support vector machine over molecules is f(x) = Σᵢ αᵢ k(x, xᵢ) + b. Where k counts what two molecules have in common,
f is a sum over the parts of x as well, and each atom has its share of the answer. Here the question is which parts of
a molecule let it pass from the blood to the brain.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem
from rdkit.Chem import AllChem
from sklearn.metrics import roc_auc_score

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

data = at_hand.blood_brain_barrier()
smiles, passes = data.smiles, data.passes
print(data.source)
print(f"{len(smiles)} molecules, {passes.mean():.0%} of them pass")

# %%
# Molecules with one scaffold stay on one side of the split: what is tested is unlike what was learnt, which a random
# split would not ask. The kernel is Tanimoto's, ``|A ∩ B| / |A ∪ B|``, of the circular neighbourhoods of atoms up to
# radius 2 (Morgan fingerprints, not folded; mirror images count as alike).

train, test = next(mc.ScaffoldSplit(0.2).split(smiles))
kernel = mc.Tanimoto(mc.Morgan(2, chirality=False))
machine = mc.SVC(C=3.0, kernel=kernel, class_weight="balanced").fit([smiles[i] for i in train], passes[train])
scores = machine.decision_function([smiles[i] for i in test])
auc = roc_auc_score(passes[test], scores)
print(f"AUC on {len(test)} molecules of other scaffolds: {auc:.3f}")
assert auc > 0.65

# %%
# ``explain`` takes answers apart. By atom, an atom has an even share of each neighbourhood that covers it; the parts
# and the constant add up to f(x). One scale of colour serves all molecules.

shown = [i for i in np.argsort(-np.abs(scores)) if 10 <= Chem.MolFromSmiles(smiles[test[i]]).GetNumAtoms() <= 24]
shown = [*[i for i in shown if scores[i] > 0][:3], *[i for i in shown if scores[i] < 0][:3]]
told = mc.explain(machine, [smiles[test[i]] for i in shown], "place")
for i, e in zip(shown, told, strict=True):
    assert abs(e.total - scores[i]) < 1e-4  # the parts are the whole


def draw(ax, s, values, scale):
    """The molecule in the plane, its atoms coloured by their values."""
    molecule = Chem.MolFromSmiles(s)
    AllChem.Compute2DCoords(molecule)
    at = molecule.GetConformer().GetPositions()[:, :2]
    for bond in molecule.GetBonds():
        ends = [bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]
        double = bond.GetBondTypeAsDouble() > 1
        ax.plot(*at[ends].T, color="0.45", lw=3.2 if double else 1.2, zorder=1)
    dots = ax.scatter(*at.T, c=values, cmap="PuOr_r", vmin=-scale, vmax=scale, s=170, edgecolors="0.45", zorder=2)
    for atom, (x, y), value in zip(molecule.GetAtoms(), at, values, strict=True):
        ink = "white" if abs(value) > 0.6 * scale else "black"
        if atom.GetSymbol() != "C":
            ax.text(x, y, atom.GetSymbol(), ha="center", va="center", fontsize=8, color=ink, zorder=3)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.axis("off")
    return dots


scale = max(np.abs(e.values[:-1]).max() for e in told)
figure, axes = plt.subplots(2, 3, figsize=(8, 4.4), layout="constrained")
for ax, i, e in zip(axes.flat, shown, told, strict=True):
    atoms = [j for j, name in enumerate(e.names) if name != "constant"]
    dots = draw(ax, smiles[test[i]], e.values[atoms], scale)
    ax.set_title(f"f = {scores[i]:+.2f}, {'passes' if passes[test[i]] else 'does not pass'}", fontsize=10)
figure.colorbar(dots, ax=axes, shrink=0.7, label="share of f: orange passes, violet is held back")

# %%
# The same by neighbourhood instead of atom: names are SMARTS, and each is a pattern that RDKit finds again.
# ``mc.MoleculeDisplay.from_estimator(machine, s)`` draws a molecule as an SVG in one line.

sums = {}
for e in mc.explain(machine, [smiles[i] for i in test], "feature"):
    for name, value in zip(e.names, e.values, strict=True):
        sums.setdefault(name, []).append(value)
mean = sorted((np.mean(v), len(v), name) for name, v in sums.items() if len(v) >= 8)
for value, count, name in [*mean[:4], *mean[-4:]]:
    print(f"{value:+.3f} on average in {count:3d} molecules   {name}")
plt.show()
