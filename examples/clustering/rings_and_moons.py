"""
Compact or connected: which clustering for which groups?
========================================================

Three machines are asked for the same number of groups. k-means wants samples near the mean of their group, in the
plane. Kernel k-means wants the same in the space of a kernel. Spectral clustering cuts as little similarity as it can,
so that groups are what is connected. Each is right about some data and wrong about other; none says that it is wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import mercer as mc

COLOURS = np.array(["#0072B2", "#D55E00", "#009E73"])
rng = np.random.default_rng(0)
group = rng.integers(3, size=400)
middle = np.array([[0.0, 0.0], [3.0, 0.0], [1.5, 2.6]])
data = {
    "rings": make_circles(400, noise=0.05, factor=0.4, random_state=0),
    "moons": make_moons(400, noise=0.07, random_state=0),
    "heaps that touch": (middle[group] + 0.6 * rng.standard_normal((400, 2)), group),
    "moons that touch": make_moons(400, noise=0.18, random_state=0),
}

# %%
# Kernel k-means has one width for all, and is tried at a narrow one as well. Spectral clustering chooses its own, from
# distances between neighbours.

ways = {
    "k-means": lambda k: mc.KMeans(k, random_state=0),
    "kernel k-means, γ = 1": lambda k: mc.KernelKMeans(k, mc.Gaussian(1.0), random_state=0),
    "kernel k-means, γ = 10": lambda k: mc.KernelKMeans(k, mc.Gaussian(10.0), random_state=0),
    "spectral clustering": lambda k: mc.SpectralClustering(k, random_state=0),
}

# %%
# The adjusted Rand index is 1 where the groups are found and 0 on average where labels are dealt by chance.

figure, axes = plt.subplots(len(data), len(ways), figsize=(8, 8), layout="constrained")
found = {}
for row, (name, (X, truth)) in zip(axes, data.items(), strict=True):
    for ax, (way, machine) in zip(row, ways.items(), strict=True):
        labels = machine(len(set(truth))).fit(X).labels_
        found[name, way] = adjusted_rand_score(truth, labels)
        ax.scatter(*X.T, s=5, c=COLOURS[labels], linewidths=0)
        ax.set(xticks=[], yticks=[], aspect="equal", xlabel=f"{round(found[name, way], 2) + 0.0:.2f}")
    row[0].set_ylabel(name)
for ax, way in zip(axes[0], ways, strict=True):
    ax.set_title(way, fontsize=10)
for (name, way), value in found.items():
    print(f"{name:<17} {way:<23} {round(value, 2) + 0.0:.2f}")

# %%
# * Rings: means in the plane are of no use. A narrow kernel makes the ring within a heap of its own; the right γ has to
#   be known.
# * Moons are connected and not compact, also in the space of a Gaussian.
# * Heaps that touch are what k-means is for, and a narrow kernel spoils it: most values are 0, and no mean is near.
# * Moons that touch are one connected thing. No cut is cheap between them, and spectral clustering fails too.

assert found["rings", "spectral clustering"] > 0.95 > 0.1 > found["rings", "k-means"]
assert found["rings", "kernel k-means, γ = 10"] > 0.95 > 0.1 > found["rings", "kernel k-means, γ = 1"]
assert found["moons", "spectral clustering"] > 0.95
assert max(found["moons", way] for way in ways if way != "spectral clustering") < 0.8
assert found["heaps that touch", "k-means"] > 0.9 > 0.6 > found["heaps that touch", "kernel k-means, γ = 10"]
assert max(found["moons that touch", way] for way in ways) < 0.7
plt.show()
