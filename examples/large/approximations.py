"""
How many features are worth a kernel matrix?
============================================

An approximation is a kernel with D features, k̃(x, z) = ⟨φ(x), φ(z)⟩, and costs n·D in the place of n². Two ways to it:

* ``RandomFeatures`` of the Gaussian draw frequencies: k(x, z) = E cos(ω·(x − z)), and a mean of D draws has an error of
  order 1/√D, for any data.
* ``Nystrom`` projects φ(x) onto the span of D landmarks, K̃ = K(X, Z) K(Z, Z)⁻¹ K(Z, X). Its error follows the spectrum
  of *this* matrix, and K − K̃ is positive semi-definite.

No matrix of rank D is nearer to K in the norm ‖K − K̃‖ = √Σᵢⱼ (K − K̃)²ᵢⱼ than that of the D largest eigenvalues,
√Σ_{l>D} λₗ²: the floor of the picture.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import mercer as mc

INK, ACCENT, SOFT = "#222222", "#D55E00", "#0072B2"
X = load_digits().data[:1000] / 16.0  # images of 8 × 8 pixels
k = mc.Gaussian(0.2)
K = k(X)
eigenvalues = np.linalg.eigvalsh(K)[::-1]
counts = [16, 32, 64, 128, 256, 512]
floor = [np.sqrt(np.sum(eigenvalues[D:] ** 2) / np.sum(eigenvalues**2)) for D in counts]

# %%
# Each approximation is a kernel like any other: ``bind`` lets it look at the data, ``features`` gives φ(X).

ways = {
    "random features": lambda D: mc.RandomFeatures(k, D, "plain", random_state=0),
    "orthogonal random features": lambda D: mc.RandomFeatures(k, D, "orthogonal", random_state=0),
    "Nyström, uniform landmarks": lambda D: mc.Nystrom(k, D, "uniform", random_state=0),
    "Nyström, pivoted landmarks": lambda D: mc.Nystrom(k, D, "pivoted", random_state=0),
}
errors, seconds = {name: [] for name in ways}, {name: [] for name in ways}
for name, way in ways.items():
    way(8).bind(X).features(X)  # compiled, or read from the cache, before the clock runs
    for D in counts:
        began = time.perf_counter()
        features = np.asarray(way(D).bind(X).features(X))
        seconds[name].append(time.perf_counter() - began)
        errors[name].append(np.linalg.norm(K - features @ features.T) / np.linalg.norm(K))

# %%
# Random features fall along 1/√D. Nyström's follow the spectrum, and here come near the best that any D features can
# do.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
styles = dict(zip(ways, [(SOFT, "s--"), (SOFT, "s-"), (ACCENT, "o--"), (ACCENT, "o-")], strict=True))
for name, (colour, style) in styles.items():
    left.loglog(counts, errors[name], style, color=colour, label=name)
    right.loglog(np.array(seconds[name]) * 1000, errors[name], style, color=colour, label=name)
left.loglog(counts, floor, color=INK, label="the best of rank D")
left.set(xlabel="features D", ylabel="‖K − K̃‖ / ‖K‖", xticks=counts, xticklabels=counts)
left.minorticks_off()
left.legend(frameon=False, loc="lower left")
right.set(xlabel="milliseconds for the features of 1000 images", ylabel="‖K − K̃‖ / ‖K‖")

slope = np.polyfit(np.log(counts), np.log(errors["random features"]), 1)[0]
print(f"the error of random features falls as D to the power {slope:.2f}")
assert -0.75 < slope < -0.3
assert errors["Nyström, pivoted landmarks"][-1] < errors["random features"][-1] / 4
assert all(e >= best - 1e-9 for name in ways if "Nys" in name for e, best in zip(errors[name], floor, strict=True))

# %%
# Without K the error is still known: ``trace_error`` is tr(K − K̃)/tr(K), from the diagonal alone. Since K − K̃ is
# positive semi-definite, no eigenvalue of it is larger than its trace.

bound = ways["Nyström, pivoted landmarks"](256).bind(X)
missed = K - np.asarray(bound.features(X)) @ np.asarray(bound.features(X)).T
assert np.isclose(bound.trace_error(X), np.trace(missed) / np.trace(K), atol=1e-6)
assert np.linalg.eigvalsh(missed)[[0, -1]].min() > -1e-6
assert np.linalg.eigvalsh(missed)[-1] <= np.trace(missed)
plt.show()
