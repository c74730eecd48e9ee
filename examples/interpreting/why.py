"""
Why did the model say so, and who taught it?
============================================

Two questions to one answer. Which *columns* of the row made it what it is: the Shapley values, which add up to f(x)
less the mean answer, exactly, since the kernel is a product over columns. And which *rows* of training: what would
the answer be without row i? For a ridge that needs no refitting. The same numbers find rows that are wrong, since
what a row says is then far from what the machine says without it.

The rows are mixtures of concrete, the answer is their strength.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#9A9A9A"
data = at_hand.concrete()
print(data.source)
X, y = data.X.copy(), data.y
X[:, 7] = np.log(X[:, 7])  # concrete hardens as the logarithm of its age
names = [*data.names[:7], "log age"]
rng = np.random.default_rng(0)
train, test = np.split(rng.permutation(len(y)), [600])
kernel = mc.Gaussian("median").standardized()
alpha = mc.KernelRidgeCV(kernel=kernel).fit(X[train], y[train]).alpha_
ridge = mc.KernelRidge(alpha, kernel).fit(X[train], y[train])
f = ridge.predict(X[test])
error = np.sqrt(np.mean((f - y[test]) ** 2))
print(f"error on {len(test)} mixtures {error:.1f} MPa, their spread {y[test].std():.1f} MPa")
assert error < 0.4 * y[test].std()

# %%
# One answer, the strongest mixture, beside those of 100 training rows: each column's part, in MPa.

strongest = int(np.argmax(f))
[one] = mc.explain(ridge, X[test[[strongest]]], "column", background=X[train[:100]])
print(f"{one.total:.1f} MPa, of {one.base:.1f} on average:")
for j, part in one.top(8):
    print(
        f"    {names[j]:<12}{part:+6.1f}  (here {data.X[test[strongest], j]:.0f}, on average {data.X[:, j].mean():.0f})"
    )
assert abs(one.total - f[strongest]) < 1e-6

# %%
# Many answers: what the columns do in general. A dot is a mixture; its colour is the value of the column.

some = test[:150]
parts = np.array([e.values for e in mc.explain(ridge, X[some], "column", background=X[train[:100]])])
weight = np.abs(parts).mean(0)
order = np.argsort(weight)
print("on average:", ", ".join(f"{names[j]} {weight[j]:.1f} MPa" for j in order[::-1]))
assert {names[j] for j in order[-2:]} == {"cement", "log age"}
assert np.corrcoef(parts[:, 0], X[some, 0])[0, 1] > 0.8  # the more cement, the stronger

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", width_ratios=[3, 2])
for place, j in enumerate(order):
    rank = np.argsort(np.argsort(X[some, j])) / (len(some) - 1)
    height = place + rng.uniform(-0.28, 0.28, len(some))
    dots = left.scatter(parts[:, j], height, c=rank, cmap="PuOr_r", s=8, linewidths=0)
left.plot(one.values[order], np.arange(8), "D", color="black", mfc="none", ms=6, label="the strongest mixture")
left.axvline(0, color="0.5", lw=0.8)
left.set_yticks(range(8), [names[j] for j in order])
left.set(xlabel="part of the answer, MPa")
left.set_ylim(-1.4, 7.6)
left.legend(frameon=False, loc="lower left")
figure.colorbar(dots, ax=left, label="value of the column: violet low, orange high", ticks=[])

# %%
# Now twelve of the training rows are noted without their last digit. Rows are put in the order of how far what they
# say is from f₋ᵢ(x_i), the answer of the machine that has not seen them.

wrong = rng.choice(len(train), 12, replace=False)
spoiled = y[train].copy()
spoiled[wrong] /= 10
misled = mc.KernelRidge(alpha, kernel).fit(X[train], spoiled)
found = mc.influence(misled, X[train], spoiled)
away = np.abs(spoiled - found.left_out)
rank = np.empty(len(train), int)
rank[np.argsort(-away)] = np.arange(len(train))
print("places of the wrong rows when all 600 are sorted:", np.sort(rank[wrong]) + 1)
assert np.median(rank[wrong]) < 15
assert np.mean(rank[wrong] < 60) > 0.7

# %%
# ``changes[j, i]`` is what row i does to the answer for row j; refitting without the row says the same.

i = wrong[np.argmin(rank[wrong])]
rest = np.delete(np.arange(len(train)), i)
bound = misled.kernel_  # the widths as the whole machine has them
without = mc.KernelRidge(alpha, bound).fit(X[train[rest]], spoiled[rest]).predict(X[train])
assert np.allclose(misled.predict(X[train]) - without, found.changes[:, i], atol=1e-4)
near = np.argsort(-np.abs(found.changes[:, i]))[1:4]
print(f"row {i}, noted as {spoiled[i]:.1f} MPa, moves its neighbours by", np.round(found.changes[near, i], 1), "MPa")

right.semilogy(np.sort(away)[::-1], ".", color=GREY, ms=4, label="rows as they are")
right.semilogy(rank[wrong], away[wrong], "o", color=VERMILION, label="rows that are wrong")
right.set(xlabel="place in the order", ylabel="what the row says, less f without it, MPa", ylim=(0.1, None))
right.legend(frameon=False)
plt.show()
