"""
Do two quantities depend on each other?
=======================================

Correlation sees straight lines. HSIC, the squared norm of the covariance between φ(x) and ψ(y), is zero only where x
and y are independent, if the kernels are characteristic; its permutations make the level exact. The first picture
asks both of the same four pairs.

Then a third quantity comes in. Two things that follow a common cause depend on each other, and no longer do once the
cause is known. Shuffling cannot ask that, since it destroys the dependence on the cause as well; ``kci_test`` looks
at what regressions on the cause leave.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import pearsonr

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#9A9A9A"
rng = np.random.default_rng(0)
n = 250


def said(p):
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


# %%
# Four laws of pairs: a line with noise, a circle, noise whose size follows x, and independence.

x = rng.standard_normal(n)
turn = rng.uniform(0, 2 * np.pi, n)
pairs = {
    "a line": (x, 0.5 * x + rng.standard_normal(n)),
    "a circle": (np.cos(turn) + 0.1 * rng.standard_normal(n), np.sin(turn) + 0.1 * rng.standard_normal(n)),
    "noise that grows": (x, np.abs(x) * rng.standard_normal(n)),
    "nothing": (x, rng.standard_normal(n)),
}
figure, axes = plt.subplots(1, 4, figsize=(8, 2.6), layout="constrained")
found = {}
for ax, (name, (a, b)) in zip(axes, pairs.items(), strict=True):
    straight, any_kind = pearsonr(a, b).pvalue, mc.hsic_test(a, b, n_permutations=999, random_state=0).pvalue
    found[name] = straight < 0.05, any_kind < 0.05
    print(f"{name:<17} correlation {said(straight)}, HSIC {said(any_kind)}")
    ax.plot(a, b, ".", ms=4, color=VERMILION if found[name][1] else GREY)
    ax.set_title(f"{name}\ncorrelation: {said(straight)}\nHSIC: {said(any_kind)}", fontsize=8)
    ax.set(xticks=[], yticks=[])
figure.supxlabel("orange: HSIC finds a dependence at the level of 0.05", fontsize=9)
assert found == {
    "a line": (True, True), "a circle": (False, True), "noise that grows": (False, True), "nothing": (False, False)
}  # fmt: skip

# %%
# How often does each find it, over many samples? The level, where nothing is to be found, is kept: 5 %.

sizes, repeats = [20, 40, 80, 160], 60
power = {"circle, HSIC": [], "circle, correlation": [], "nothing, HSIC": []}
for size in sizes:
    hits = np.zeros(3)
    for r in range(repeats):
        turn = rng.uniform(0, 2 * np.pi, size)
        a, b = np.cos(turn) + 0.1 * rng.standard_normal(size), np.sin(turn) + 0.1 * rng.standard_normal(size)
        hits[0] += mc.hsic_test(a, b, n_permutations=99, random_state=r).pvalue <= 0.05
        hits[1] += pearsonr(a, b).pvalue <= 0.05
        hits[2] += mc.hsic_test(a, rng.permutation(b), n_permutations=99, random_state=r).pvalue <= 0.05
    for name, share in zip(power, hits / repeats, strict=True):
        power[name].append(share)
for name, shares in power.items():
    print(
        f"{name:<20} finds it in", *[f"{share:.0%} of {size} pairs," for share, size in zip(shares, sizes, strict=True)]
    )
assert power["circle, HSIC"][-1] > 0.9 > 0.3 > max(power["circle, correlation"])
assert np.mean(power["nothing, HSIC"]) < 0.12

# %%
# Whoever wants the age of a sea snail weighs it; the rings, which are the age, are tedious to count. Is it worth
# weighing the viscera or the shell too? Both depend on the age, as all weights do. The question is whether they still
# do among snails of one whole weight.

data = at_hand.abalones()
print(data.source)
some = np.random.default_rng(1).choice(len(data.rings), 200, replace=False)
rings, whole = data.rings[some], np.asarray(data.columns["whole"], float)[some]
figure, axes = plt.subplots(2, 2, figsize=(8, 5.6), layout="constrained")


def left(v):
    """What a regression on the whole weight leaves of v."""
    standard = ((v - v.mean()) / v.std())[:, None]
    on = ((whole - whole.mean()) / whole.std())[:, None]
    return standard[:, 0] - mc.KernelRidgeCV(kernel=mc.Gaussian(0.5)).fit(on, standard[:, 0]).predict(on)


given = {}
for (plain, conditional), part in zip(axes.T, ("viscera", "shell"), strict=True):
    weight = np.asarray(data.columns[part], float)[some]
    together = mc.hsic_test(rings, weight, n_permutations=999, random_state=0).pvalue
    given[part] = mc.kci_test(rings, weight, whole).pvalue
    print(f"rings and {part:<8} {said(together)}; given the whole weight {said(given[part])}")
    assert together < 0.01
    plain.plot(weight, rings, ".", color=VERMILION, ms=5)
    plain.set(xlabel=f"weight of the {part}, g", ylabel="rings", title=f"as they are: {said(together)}")
    conditional.plot(left(weight), left(rings), ".", color=VERMILION if given[part] < 0.05 else GREY, ms=5)
    conditional.set(xlabel=f"{part}: what the whole weight leaves", ylabel="rings: what it leaves")
    conditional.set_title(f"given the whole weight: {said(given[part])}")

# %%
# The weight of the shell says more of the age than the whole weight does: old shells are heavy for their animal. That
# of the viscera is not seen to. (Not to see is no proof: among more snails less would be seen.)

assert given["shell"] < 0.01 < 0.05 < given["viscera"]
plt.show()
