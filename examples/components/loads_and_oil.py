"""
How late does one series answer to another?
===========================================

The oil of a transformer is warmed by the currents that it carries, and by the weather. Loads and oil are on one clock,
an hour a row. Temporal kernel CCA gives the oil at t all loads around it, x(t − τ) for τ = −12 … 12 hours, with a
function f_τ for each lag, and looks for the largest correlation of Σ_τ f_τ(x(t − τ)) with g(y(t)). The correlogram
λ(τ) = corr(f_τ(x(t − τ)), g(y(t))) says which lags matter: to the right of 0 the load comes first.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, GREY = "#0072B2", "#9A9A9A"
data = at_hand.transformer(2000)
known = 1500  # hours to learn from; those after judge
print(data.source)

# %%
# Whatever follows the day correlates with whatever else does, at many lags, and so it is with what drifts through the
# weeks. So the usual day is subtracted from both series, and the mean of three days around. What is left are a load
# and an oil that are higher or lower than they usually are at that hour.


def less_the_usual(V):
    hour = np.arange(len(V)) % 24
    V = V - np.array([V[:known][hour[:known] == h].mean(0) for h in range(24)])[hour]
    drift = np.column_stack([np.convolve(column, np.ones(73) / 73, mode="valid") for column in V.T])
    V = V[36:-36] - drift
    return (V - V[:known].mean(0)) / V[:known].std(0)


loads, oil = less_the_usual(data.loads), less_the_usual(data.oil)

# %%
# A correlation of 6·25 columns can be had by chance, so that γ is chosen by blocks of time held out, and the pair of
# functions is judged by the hours that are kept back. A Gaussian kernel can say more and has the higher correlation in
# training; on new hours the linear one has.

judged = {}
for name, kernel in {"linear": mc.Linear(), "Gaussian": mc.Gaussian("median")}.items():
    cca = mc.TemporalKernelCCA(kernel, kernel, max_lag=12, rank=40, random_state=0).fit(loads[:known], oil[:known])
    f, g = cca.transform(loads[known:], oil[known:])
    judged[name] = cca, float(np.corrcoef(f[:, 0], g[:, 0])[0, 1])
    print(f"{name:<9} correlation {cca.correlations_[0]:.2f} in training, {judged[name][1]:.2f} on new hours")
assert judged["Gaussian"][0].correlations_[0] > judged["linear"][0].correlations_[0] + 0.01
assert judged["linear"][1] > max(0.3, judged["Gaussian"][1])

# %%
# The band is what 95 % of resampled blocks of time give: hours whose values are well inside each other's bands are not
# told apart. What can be told is that the load of the last hours counts, and that of half a day ago or ahead much less.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
cca = judged["linear"][0]
display = mc.CorrelogramDisplay.from_estimator(cca, ax=left)
display.line_.set_color(BLUE)
left.set(xlabel="τ in hours: the load comes first by so much", ylabel="λ(τ)", title="")
f, g = (Z[:120, 0] / Z[:120, 0].std() for Z in cca.transform(loads[known:], oil[known:]))
days = np.arange(120) / 24
right.plot(days, g, color=GREY, lw=3, label="oil, g(y(t))")
right.plot(days, f, color=BLUE, label="loads, Σ f_τ(x(t − τ))")
right.set(xlabel="days, of those kept back", ylabel="less the usual, in standard deviations", ylim=(-3.5, 4.5))
right.legend(frameon=False, loc="upper left")

best, (low, high) = cca.best_lag_, cca.band_[:, 0]
print(f"the largest λ is at τ = {best} h, between {low[best + 12]:.2f} and {high[best + 12]:.2f}")
assert 0 <= best <= 5
assert low[best + 12] > 1.2 * np.abs(cca.correlogram_[0, [0, -1]]).max()
plt.show()
