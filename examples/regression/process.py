"""
How far ahead can a series be told?
===================================

A Gaussian process goes on where the data end, and says how sure it is there. What it says depends on the kernel
alone: a smooth function knows nothing after one length scale; a sum of a slow part, a daily cycle and what is left
over for some hours goes on with the cycle. Here both learn three weeks of a transformer's load and tell the next six
days. All their parameters are those of the largest marginal likelihood: how probable the three weeks are under the
kernel.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, INK = "#0072B2", "#D55E00", "#222222"
data = at_hand.transformer(4800)
print(data.source)
load = data.loads[4130:4778, 0]
day = np.arange(len(load))[:, None] / 24
ahead = 6 * 24
x, y, later, truth = day[:-ahead], load[:-ahead], day[-ahead:], load[-ahead:]

# %%
# ``tune`` climbs the marginal likelihood by exact gradients, from where the parameters stand. ``KernelRidge`` is the
# mean of the process, its ``alpha`` the variance of the noise over that of the signal.

kernels = {
    "smooth": mc.Matern(1.0, nu=1.5),
    "slow + daily + hours": 0.5 * mc.Matern(10.0, nu=1.5)
    + mc.Periodic(1.0, 1.0) * mc.Matern(20.0, nu=2.5)
    + 0.3 * mc.Matern(0.1, nu=0.5),
}
machines, error, width = {}, {}, {}
for name, kernel in kernels.items():
    found = mc.tune(mc.KernelRidge(0.1, kernel), x, y, criterion="marginal likelihood", max_iter=25)
    machines[name] = found.estimator.fit(x, y)
    mean, deviation = machines[name].predict(later, return_std=True, include_noise=True)
    error[name] = np.sqrt(np.mean((mean - truth) ** 2))
    width[name] = deviation
    inside = np.mean(np.abs(mean - truth) < 1.96 * deviation)
    print(f"{name}: −log p(y) from {found.start:.0f} to {found.value:.0f}; {machines[name].kernel}")
    print(f"    error of six days {error[name]:.2f}, {inside:.0%} of the hours within 1.96 deviations")
    assert found.value < found.start
    assert inside > 0.85
constant = np.sqrt(np.mean((truth - y.mean()) ** 2))
print(f"error of the mean of the three weeks: {constant:.2f}")
assert error["slow + daily + hours"] < 0.8 * constant  # the cycle goes on
assert error["smooth"] > 0.9 * constant  # a smooth function is back at its mean
assert np.all(width["slow + daily + hours"] < 0.95 * width["smooth"])

# %%
# The band of the smooth function opens within a day to all that the load has been, and its mean is a constant. The
# sum goes on with the cycle, and its band stays narrower.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5.4), layout="constrained", height_ratios=[3, 2])
shown = slice(14 * 24, None)
for (name, machine), colour in zip(machines.items(), (BLUE, VERMILION), strict=True):
    mean, deviation = machine.predict(day[shown], return_std=True, include_noise=True)
    top.plot(day[shown], mean, color=colour, lw=1.8, label=name)
    top.fill_between(
        day[shown, 0], mean - 1.96 * deviation, mean + 1.96 * deviation, color=colour, alpha=0.15, linewidth=0
    )
top.plot(day[shown], load[shown], ".", color=INK, ms=3, label="measured")
top.axvline(x[-1, 0], color="0.4", ls="--", lw=1)
top.text(x[-1, 0] + 0.1, top.get_ylim()[0], "not seen", va="bottom")
top.set(xlabel="day", ylabel="load", xlim=(day[shown][0, 0], day[-1, 0]))
top.legend(loc="upper left", ncols=3, frameon=False)
top.margins(y=0.2)

# %%
# A sum of kernels is a sum of functions: ``explain`` takes the mean apart into its terms.

parts = mc.explain(machines["slow + daily + hours"], day, "term")
terms = np.array([[e.values[j] for j in range(3)] for e in parts])
assert np.allclose(parts[0].base + terms.sum(1)[0], machines["slow + daily + hours"].predict(day[:1]))
for values, label, colour in zip(terms.T, ("slow", "daily", "some hours"), ("0.3", VERMILION, BLUE), strict=True):
    bottom.plot(day, values, color=colour, lw=1.2, label=label)
bottom.axvline(x[-1, 0], color="0.4", ls="--", lw=1)
bottom.set(xlabel="day", ylabel="share of the mean", xlim=(0, day[-1, 0]))
bottom.legend(loc="upper left", ncols=3, frameon=False)
bottom.margins(y=0.25)
plt.show()
