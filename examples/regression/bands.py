"""
How wide must a band be, and where?
===================================

A band that shall hold nine of ten new values must be wide where values scatter and narrow where they do not. Here the
values are concentrations in the urine of children, high and scattered in the first year, low and alike later; and
they scatter further upwards than downwards. Three bands at 90 %:

* the Gaussian process: normal noise of one size is part of the model;
* quantiles: two machines that look for the 5 % and the 95 % line themselves;
* conformal: the quantiles, moved until nine of ten *samples held out* lie between, for which nothing is assumed of
  the noise.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
data = at_hand.urine()
print(data.source)
x, y = np.log1p(data.age)[:, None], data.gag  # children change as the logarithm of their age


def bands(train, seed):
    """Lower and upper ends at new ages, of each way."""
    kernel = mc.Gaussian(2.0)
    process = mc.KernelRidgeCV(kernel=kernel).fit(x[train], y[train])
    process = mc.KernelRidge(process.alpha_, kernel).fit(x[train], y[train])
    quantiles = mc.KernelQuantile([0.05, 0.95], 0.01, kernel)
    alone = mc.KernelQuantile([0.05, 0.95], 0.01, kernel).fit(x[train], y[train])
    conformal = mc.ConformalRegressor(quantiles, 0.9, random_state=seed).fit(x[train], y[train])

    def gaussian(at):
        mean, deviation = process.predict(at, return_std=True, include_noise=True)
        return np.column_stack([mean - 1.645 * deviation, mean + 1.645 * deviation])

    return {"Gaussian process": gaussian, "quantiles": alone.predict, "conformal": conformal.predict_interval}


# %%
# Twenty times, a third of the children is kept out; how many of them lie between, the young and the old?

inside = {}
for seed in range(20):
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[: len(y) // 3], order[len(y) // 3 :]
    young = data.age[test] < 2
    for name, ends in bands(train, seed).items():
        low, high = ends(x[test]).T
        between = (low <= y[test]) & (y[test] <= high)
        width = high - low
        row = between.mean(), between[young].mean(), between[~young].mean(), width[young].mean(), width[~young].mean()
        inside.setdefault(name, []).append(row)
inside = {name: np.mean(rows, axis=0) for name, rows in inside.items()}
for name, (all_, young, old, wide_young, wide_old) in inside.items():
    print(
        f"{name:<16} {all_:.1%} of new children inside; below two years {young:.1%} (width {wide_young:.1f}),"
        f" above {old:.1%} (width {wide_old:.1f})"
    )
all_, young, old, wide_young, wide_old = inside["conformal"]
assert inside["Gaussian process"][1] < 0.85 < 0.95 < inside["Gaussian process"][2]  # right on average only
assert inside["quantiles"][0] < all_  # quantiles of the training samples are too narrow for new ones
assert 0.87 < all_ < 0.94
assert min(young, old) > 0.86
assert wide_young > 1.8 * wide_old

# %%
# The process keeps its promise on average: too few of the young lie inside, too many of the old, and below the old
# children its band goes down to where no concentration is. The quantiles follow the noise, but hold too few, for they
# are quantiles of the samples they have learnt from. The conformal band follows the noise and keeps the promise.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", width_ratios=[3, 2])
age = np.linspace(data.age.min(), data.age.max(), 300)
left.plot(data.age, y, ".", color="0.55", ms=4)
ways = bands(np.arange(len(y)), 0)
assert ways["Gaussian process"](np.log1p([[10.0]]))[0, 0] < 0 < ways["conformal"](np.log1p([[10.0]]))[0, 0]
colours = {"Gaussian process": BLUE, "quantiles": GREEN, "conformal": VERMILION}
for name, ends in ways.items():
    for j, end in enumerate(ends(np.log1p(age)[:, None]).T):
        left.plot(age, end, color=colours[name], lw=1.8, label=None if j else name)
left.axhline(0, color="0.3", lw=0.8)
left.set(xlabel="age, years", ylabel="GAG in urine")
left.legend(frameon=False)

place = np.arange(3)
for j, (name, shares) in enumerate(inside.items()):
    right.bar(place + 0.27 * (j - 1), shares[:3], 0.25, color=colours[name])
right.axhline(0.9, color="0.2", lw=1, ls="--")
right.set_xticks(place, ["all", "below 2", "2 and above"])
right.set(xlabel="age, years", ylabel="share of new children inside", ylim=(0.6, 1))
plt.show()
