"""
Can noise be taken out of an image?
===================================

Noise goes in all directions, writing in few. Principal components of clean images span the directions of writing: to
project a noisy image on them leaves most of the noise behind. In the space of a Gaussian kernel the same is done with
φ(x), and the answer is a point of feature space; the image z whose φ(z) is nearest to it, its *pre-image*, is drawn.

What one has to choose is how many components to keep. Linear components must be few, since all of them together are the
whole image with all of its noise. A pre-image is a mixture of images that were learnt from, however many components
there are, so kernel components may be many.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

INK, ACCENT, SOFT = "#222222", "#D55E00", "#0072B2"
data = at_hand.digits()
rng = np.random.default_rng(0)
X = data.X[rng.permutation(len(data.X))[:800]]
clean = data.X_test[:150]
noisy = clean + 0.7 * rng.standard_normal(clean.shape)
print(data.source)
print(f"{len(X)} clean images to learn from, {len(noisy)} others with noise of deviation 0.7; white is −1, black is 1")


def error(Z):
    return float(np.sqrt(np.mean((Z - clean) ** 2)))


# %%
# ``pre_image="fixed_point"`` is the iteration of Mika et al.: z is a mean of training images with weights that
# depend on z.

counts = [4, 8, 16, 32, 64, 128, 256, 512]
kernel = mc.Gaussian("median")
ways = {
    "linear components": lambda m: mc.PCA(m),
    "kernel components": lambda m: mc.KernelPCA(m, kernel, pre_image="fixed_point", random_state=0),
}
back, errors = {}, {}
for name, way in ways.items():
    for m in counts:
        if name == "linear components" and m > X.shape[1]:
            continue
        machine = way(m).fit(X)
        Z = machine.inverse_transform(machine.transform(noisy))
        errors.setdefault(name, {})[m] = error(Z)
        back[name, m] = Z
best = {name: min(found, key=found.get) for name, found in errors.items()}
for name, m in best.items():
    print(f"{name}: best {m}, error {errors[name][m]:.3f}; the noisy images {error(noisy):.3f}")

# %%
# The number of linear components has to be hit; that of kernel components may be taken too large.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.9), layout="constrained", width_ratios=[3, 4])
for (name, found), colour in zip(errors.items(), (SOFT, ACCENT), strict=True):
    left.semilogx(list(found), list(found.values()), "o-", base=2, color=colour, label=name)
left.axhline(error(noisy), color=INK, linestyle="--")
left.text(counts[0], error(noisy) + 0.008, "nothing done", color=INK)
left.set(xlabel="components", ylabel="root mean squared error of a pixel", ylim=(0.25, 0.76))
left.set_xticks(counts, counts)
left.minorticks_off()
left.legend(frameon=False, loc="lower left")

shown = [int(np.flatnonzero(data.y_test[:150] == digit)[0]) for digit in (0, 2, 3, 5, 6)]
rows = {"clean": clean, "with noise": noisy} | {f"{n.split()[0]}, {m}": back[n, m] for n, m in best.items()}
height, width = data.shape
tiled = [np.hstack([np.pad(Z[i].reshape(data.shape), 1, constant_values=-1) for i in shown]) for Z in rows.values()]
right.imshow(np.vstack(tiled), cmap="Greys", vmin=-1, vmax=1)
right.set_yticks([(height + 2) * (i + 0.5) for i in range(len(rows))], list(rows))
right.set_xticks([])
right.spines[:].set_visible(False)
right.tick_params(length=0)

linear, kernelled = errors.values()
assert min(kernelled.values()) < 0.92 * min(linear.values())  # less noise is left
assert min(linear.values()) < 0.7 * error(noisy)
assert max(linear.values()) > 0.99 * error(noisy)  # all components: nothing done
assert kernelled[512] < 1.15 * min(kernelled.values())  # too many: little harm
plt.show()
