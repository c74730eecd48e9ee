"""
Which text belongs to this picture?
===================================

A picture and a text have no columns in common, so neither is near to the other. Kernel CCA of pairs finds functions f
of pictures and g of texts whose values on a pair are correlated: both views then are points of one space, where a
picture can be asked for texts. A kernel for each view is all that is needed; both are histograms here, and χ² compares
those.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#9A9A9A"
data = at_hand.pages()
some = np.random.default_rng(0).permutation(len(data.y))[:1000]
images, texts = data.images[some], data.texts[some]
print(data.source)
print(f"{len(images)} pairs to learn from, {len(data.y_test)} to ask about, {len(data.kinds)} kinds")

# %%
# The pairs have no labels: the machine knows which text stands with which picture and nothing else. A correlation
# among many functions is easily large in training; on new pairs it is less, and that is what γ is chosen by.

ccas = {
    "linear": mc.KernelCCA(6, mc.Linear(), mc.Linear(), random_state=0).fit(images, texts),
    "χ²": mc.KernelCCA(6, mc.ChiSquared(), mc.ChiSquared(), random_state=0).fit(images, texts),
}
views, held = {}, {}
for name, cca in ccas.items():
    f, g = views[name] = cca.transform(data.images_test, data.texts_test)
    held[name] = np.array([np.corrcoef(f[:, j], g[:, j])[0, 1] for j in range(6)])
    print(f"{name:<7} correlation in training {cca.correlations_[0]:.2f}, on new pairs {held[name][0]:.2f}")
    assert held[name][0] < cca.correlations_[0]

# %%
# For each picture the texts are ordered by their angle to it. Right is a text of the same kind; the mean precision at
# the places of the right ones (MAP) is that of the whole list, and about the share of the kind if the order is chance.


def right(f, g, y):
    """Row by row, which of the ordered texts are of the kind of the picture."""
    f, g = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (f, g))
    return y[np.argsort(-f @ g.T, axis=1)] == y[:, None]


def mean_precision(hits):
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return float(np.mean([p[h].mean() for p, h in zip(precision, hits, strict=True)]))


y = data.y_test
chance = float(np.mean((y == y[:, None]).mean(axis=1)))
found = {}
for name, (f, g) in views.items():
    found[name] = mean_precision(right(f, g, y)), mean_precision(right(g, f, y))
    print(f"{name:<7} MAP of pictures that ask {found[name][0]:.3f}, of texts that ask {found[name][1]:.3f}")
print(f"chance  {chance:.3f}")
assert min(found["χ²"]) > 1.5 * chance
assert sum(found["χ²"]) > sum(found["linear"])

# %%
# On the left, how many of the first texts are of the kind of the picture that asks. On the right the correlations on
# new pairs, component by component.

figure, (left, other) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", width_ratios=[3, 2])
hits = right(*views["χ²"], y)
first = np.array([hits[y == kind, :10].mean() for kind in range(len(data.kinds))])
share = np.bincount(y) / len(y)
order = np.argsort(first)
left.barh(range(len(order)), first[order], color=VERMILION, label="of the first ten texts")
left.plot(share[order], range(len(order)), "|", color="black", markersize=12, label="of all texts")
left.set_yticks(range(len(order)), [data.kinds[kind] for kind in order])
left.set(xlabel="share that is of the kind of the picture")
left.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
for (name, values), colour in zip(held.items(), (BLUE, VERMILION), strict=True):
    other.plot(range(1, 7), values, "o-", color=colour, label=name)
other.axhline(0, color=GREY, lw=1)
other.set(xlabel="component", ylabel="correlation on new pairs")
other.legend(frameon=False)
assert np.mean(first > share) >= 0.8
plt.show()
