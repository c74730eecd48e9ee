"""
Is a model like its data?
=========================

A model that has the right means, variances and correlation may still draw things that never happen. The test of the
maximum mean discrepancy asks whether two samples come from *one* law, by any difference that a kernel sees. It
compares the means of the two samples in the space of the kernel, and its permutations make the level exact. Where the
two differ is told by the witness, the difference of the two means as a function.

Here the data are eruptions of a geyser. Half of them a model learns from, the other half are compared with what it
draws.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import ttest_ind

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, INK = "#0072B2", "#D55E00", "#222222"
data = at_hand.eruptions()
print(data.source)
X = data.X + np.random.default_rng(1).uniform(-0.04, 0.04, data.X.shape)  # times were rounded at night
X = (X - X.mean(0)) / X.std(0)
rng = np.random.default_rng(0)
learnt, real = np.array_split(rng.permutation(X), 2)

# %%
# Three models: the normal law of the same means and covariances; a mixture of normal laws; and the data themselves,
# the other half, for which the hypothesis is true.

mixture = mc.GaussianMixture(3, random_state=0).fit(learnt)
drawn = {
    "normal law": rng.multivariate_normal(learnt.mean(0), np.cov(learnt.T), len(real)),
    "mixture of three": mixture.sample(len(real))[0],
    "the other half": learnt,
}
kernel = mc.Gaussian(2.0)  # of standardised columns
outcomes = {}
for name, Y in drawn.items():
    outcomes[name] = mc.mmd_test(real, Y, kernel, n_permutations=999, random_state=0)
    means = ttest_ind(real, Y).pvalue.min()
    print(f"{name:<17} p = {outcomes[name].pvalue:.3f}    (t-tests of the columns: the least p is {means:.2f})")

# %%
# The normal law is found out although both columns have the right mean: none of the permutations came near. The two
# others are not told from the data. The witness is positive where the data have more than the model: at the two ends,
# short eruptions and long ones. It is negative between, at eruptions of middle length, which the model makes up.

outcome, Y = outcomes["normal law"], drawn["normal law"]
witness = mc.mean_embedding(kernel, real) - mc.mean_embedding(kernel, Y)
assert np.isclose(witness(real).mean() - witness(Y).mean(), witness.norm() ** 2)  # it attains the discrepancy

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", width_ratios=[2, 3])
left.hist(outcome.null, 40, color="0.75", label="if dealt at random")
left.axvline(outcome.statistic, color=VERMILION, lw=2, label="normal law")
left.axvline(outcomes["mixture of three"].statistic, color=BLUE, lw=2, label="mixture of three")
left.set(xlabel="squared discrepancy, unbiased", ylabel="permutations")
left.margins(y=0.35)
left.legend(frameon=False)

sides = np.linspace(-2.6, 2.6, 80)
grid = np.stack(np.meshgrid(sides, sides), axis=-1).reshape(-1, 2)
values = witness(grid).reshape(80, 80)
top = np.abs(values).max()
surface = right.contourf(sides, sides, values, np.linspace(-top, top, 15), cmap="PuOr_r")
right.plot(*real.T, ".", color=INK, ms=4, label="data")
right.plot(*Y.T, "x", color="0.45", ms=4, label="normal law")
right.set(xlabel="length of the eruption, standardised", ylabel="wait for the next, standardised")
right.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6))
right.legend(loc="upper left")
figure.colorbar(surface, ax=right, label="witness: orange, the data have more", format="%.2f")

lasts = np.array([[np.quantile(real[:, 0], q)] for q in (0.15, 0.85)])
slope = np.polyfit(*real.T, 1)
line = np.linspace(lasts[0, 0], lasts[1, 0], 50)
along = witness(np.column_stack([line, np.polyval(slope, line)]))
assert outcomes["normal law"].pvalue < 0.01 < 0.05 < outcomes["the other half"].pvalue
assert outcomes["mixture of three"].statistic < 0.3 * outcome.statistic
assert along.min() < -0.02 < 0.02 < min(along[0], along[-1])  # two ends, and nothing between
plt.show()
