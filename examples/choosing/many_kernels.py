"""
Five ways to look at an image: which, and how much of each?
===========================================================

A flower is known by its colours, its texture and its outline, each a histogram with a kernel of its own. Kernels add
up, and the weights of a sum can be learnt together with the machine. Here are five that look at something and a sixth
that looks at random numbers; the machine is not told which.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#9A9A9A"
data = at_hand.flowers()
rng = np.random.default_rng(0)
views = data.views | {"random": rng.dirichlet(np.ones(50), len(data.y))}
known, new = train_test_split(np.arange(len(data.y)), train_size=340, stratify=data.y, random_state=0)
print(data.source)
print(f"{len(known)} images to learn from, {len(new)} to judge, {len(set(data.y))} classes")

# %%
# One table holds all views side by side, and each kernel is told its columns. χ² compares histograms,
# exp(−γ Σ_j (x_j − z_j)²/(x_j + z_j)).

X = np.column_stack(list(views.values()))
ends = np.cumsum([view.shape[1] for view in views.values()])
kernels = {
    name: mc.ChiSquared().on(list(range(end - view.shape[1], end)))
    for (name, view), end in zip(views.items(), ends, strict=True)
}

# %%
# A list of one kernel is a machine for that one in the same units. ‖β‖_p = 1 is what the weights obey: p = 1 chooses,
# larger p share, and "average" does not learn at all.

machines = {f"{name} alone": mc.MKLClassifier(C=1.0, kernel=[kernel]) for name, kernel in kernels.items()}
machines |= {"average": mc.MKLClassifier(C=1.0, kernel=kernels, weighting="average")}
machines |= {f"learnt, p = {p:g}": mc.MKLClassifier(C=1.0, kernel=kernels, p=p) for p in (1.0, 1.5, 2.0)}
scores = {name: machine.fit(X[known], data.y[known]).score(X[new], data.y[new]) for name, machine in machines.items()}
for name, score in scores.items():
    print(f"{name:<20} {score:.1%} of new images right")

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
colours = [BLUE if "alone" in name else GREY if name == "average" else VERMILION for name in scores]
left.barh(list(scores)[::-1], list(scores.values())[::-1], color=colours[::-1])
left.set(xlabel="share of new images that is right")
for p, colour, shift in ((1.0, VERMILION, -0.27), (1.5, GREEN, 0.0), (2.0, BLUE, 0.27)):
    weights = machines[f"learnt, p = {p:g}"].weights_
    right.bar(np.arange(len(kernels)) + shift, weights / weights.sum(), 0.27, color=colour, label=f"p = {p:g}")
right.set_xticks(range(len(kernels)), list(kernels), rotation=40, ha="right")
right.set(ylabel="share of the weights")
right.legend(frameon=False)

# %%
# The sum is better than each part. At p = 1 what looks at random numbers has no weight at all, where the average must
# give it a sixth; at larger p every kernel has some. That a kernel of small weight is a bad one does not follow: of two
# that see the same, one is enough.

alone = {name: score for name, score in scores.items() if "alone" in name}
learnt = {p: machines[f"learnt, p = {p:g}"].weights_ for p in (1.0, 1.5, 2.0)}
assert scores["learnt, p = 1.5"] > max(alone.values()) + 0.05
assert scores["learnt, p = 1.5"] > scores["average"] - 0.01
assert learnt[1.0][-1] < 1e-6
assert all(weights.min() > 0.01 for p, weights in learnt.items() if p > 1)
plt.show()
