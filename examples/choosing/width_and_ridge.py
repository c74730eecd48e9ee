"""
How wide a kernel, how much of a ridge?
=======================================

The width γ says how far a sample speaks for others, λ how little single samples are believed. Both too small or too
large make the error on new rows large, in different ways, and the two must be chosen together.

For each γ one decomposition K = UΣUᵀ of the matrix serves all λ, and more: with H = K(K + λI)⁻¹, which says how the
answers follow from the targets, the residual of row i by a machine that never saw row i is (yᵢ − f(xᵢ))/(1 − Hᵢᵢ).
So the leave-one-out error of n machines costs no machine at all. (The constant term changes H a little, not the idea.)
"""

import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

INK, BLUE, VERMILION, GREY = "#222222", "#0072B2", "#D55E00", "#9A9A9A"
data = at_hand.abalones()
X, y = np.column_stack([column for name, column in data.columns.items() if name != "sex"]), data.rings
order = np.random.default_rng(0).permutation(len(y))[:1600]
known, new = order[:400], order[400:]
X = (X - X[known].mean(0)) / X[known].std(0)
print(data.source)
print(f"{len(known)} shells to learn from, whose rings tell their age; {len(new)} to see whether the choice was right")

# %%
# 15 widths, 25 λ: 375 machines, each left-one-out 400 times, would be 150 000 fits.

gammas, lambdas = np.geomspace(1e-3, 3.0, 15), np.geomspace(1e-6, 1e2, 25)
kernels = [mc.Gaussian(gamma) for gamma in gammas]
began = time.perf_counter()
search = mc.KernelRidgeCV(lambdas, kernels).fit(X[known], y[known])
seconds = time.perf_counter() - began
left_out = np.sqrt(-np.asarray(search.scores_)[:, :, 0])
at = np.unravel_index(left_out.argmin(), left_out.shape)
print(f"γ = {gammas[at[0]]:.3g}, λ = {lambdas[at[1]]:.2g}: leave-one-out error {left_out.min():.2f} rings")

# %%
# Is the formula true? Here are some of the machines that it saves.

kernel, ridge = kernels[at[0]], lambdas[at[1]]
some = range(0, 400, 20)
began = time.perf_counter()
for i in some:
    others = np.delete(known, i)
    f = mc.KernelRidge(ridge, kernel).fit(X[others], y[others])
    residual = y[known[i]] - f.predict(X[known[i : i + 1]])[0]
    assert np.isclose(residual, search.loo_residuals_[i], atol=1e-6)
each = (time.perf_counter() - began) / len(some)
print(f"all of it took {seconds:.1f} s; one by one the machines would take {left_out.size * len(known) * each:.0f} s")
assert seconds < 0.05 * left_out.size * len(known) * each

# %%
# The surface has a valley. On the right is a cut through it, at a width that is too narrow: as λ falls, the error of
# training falls with it and says nothing, while that on new rows, which was no part of any choice, grows. The
# leave-one-out error is near it around the best λ, and large where it is large.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.9), layout="constrained")
levels = np.geomspace(left_out.min(), left_out.min() * 2.5, 12)
surface = left.contourf(lambdas, gammas, left_out, levels, cmap="cividis", extend="max")
left.plot(lambdas[at[1]], gammas[at[0]], "*", color="white", markersize=14, markeredgecolor=INK)
left.set(xscale="log", yscale="log", xlabel="λ", ylabel="γ", title="leave-one-out error, rings")
figure.colorbar(surface, ax=left, format="%.1f", ticks=levels[::2])
cut = int(np.searchsorted(gammas, 0.3))
curves = {"training": [], "new rows": []}
for value in lambdas:
    f = mc.KernelRidge(value, kernels[cut]).fit(X[known], y[known])
    for name, rows in (("training", known), ("new rows", new)):
        curves[name].append(float(np.sqrt(np.mean((f.predict(X[rows]) - y[rows]) ** 2))))
right.semilogx(lambdas, curves["training"], color=GREY, label="training")
right.semilogx(lambdas, left_out[cut], color=VERMILION, lw=2, label="leave-one-out")
right.semilogx(lambdas, curves["new rows"], color=BLUE, label="new rows")
left.axhline(gammas[cut], color="white", lw=1, ls=":")
right.set(
    xlabel="λ",
    ylabel="root mean squared error, rings",
    title=f"along the dotted line, γ = {gammas[cut]:.2g}",
    ylim=(0, None),
)
right.legend(frameon=False)

training, truth = (np.array(curves[name]) for name in ("training", "new rows"))
chosen = mc.KernelRidge(ridge, kernel).fit(X[known], y[known])
reached = float(np.sqrt(np.mean((chosen.predict(X[new]) - y[new]) ** 2)))
print(f"the chosen machine has an error of {reached:.2f} rings on new rows")
assert abs(reached - left_out.min()) < 0.25 * reached
assert reached < 1.05 * truth.min()  # no better machine on the dotted line
assert training[0] < 0.5 * truth[0]
assert truth[0] > 1.3 * truth.min()
assert abs(np.log10(lambdas[left_out[cut].argmin()] / lambdas[truth.argmin()])) < 1.1
plt.show()
