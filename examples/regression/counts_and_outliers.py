"""
What if the noise is not normal?
================================

Least squares are right for normal noise of one size. Two ways in which data are otherwise, and the losses for them:

* *Counts.* Their variance is their mean, and a mean is not negative. ``KernelPoisson`` is exp(f), the f of the
  largest likelihood: effects multiply.
* *Gross errors.* ``KernelHuber`` is squared for errors up to δ and linear beyond, so that a sample pulls with a force
  of at most δ, however wrong it is.

The counts are disasters in coal mines, the gross errors concentrations that were noted in a wrong unit.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#9A9A9A"

# %%
# How many disasters were there a year, when it was many, and when few? The variance of the counts should be the rate:
# the mean of (count − rate)²/rate is near 1 in each third of the years. One variance for all, as the ridge has it, is
# too small for the first third and too large for the others; its band goes down to less than nothing.

mines = at_hand.disasters()
print(f"{mines.source}: {mines.count.sum()} disasters in {len(mines.year)} years")
years, count = (mines.year[:, None] - 1900) / 20, mines.count
kernel = mc.Gaussian(1.0)
poisson = mc.KernelPoisson(1.0, kernel).fit(years, count)
ridge = mc.KernelRidge(1.0, kernel).fit(years, count)
rate = poisson.predict(years)
mean, deviation = ridge.predict(years, return_std=True, include_noise=True)
thirds = np.array_split(np.arange(len(count)), 3)
squares = (count - rate) ** 2
spread = [np.mean(squares[t] / rate[t]) for t in thirds]
constant = [np.mean(squares[t]) / np.mean(squares) for t in thirds]
print("squared errors over the rate, by thirds of the years:", np.round(spread, 2))
print("over one variance for all:", np.round(constant, 2))
assert rate.min() > 0
assert np.isclose(rate.sum(), count.sum())  # the slope by the constant is zero
assert 0.6 < min(spread) < max(spread) < 1.4
assert constant[0] > 1.3 > 0.8 > max(constant[1:])
assert (mean - 1.645 * deviation)[thirds[2]].max() < 0

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
left.vlines(mines.year, 0, count, color=GREY, lw=2)
left.plot(mines.year, rate, color=VERMILION, lw=2, label="Poisson: rate")
left.fill_between(
    mines.year,
    *stats.poisson.ppf([[0.05], [0.95]], rate),
    color=VERMILION,
    alpha=0.2,
    linewidth=0,
    label="… 90 % of years",
)
left.plot(mines.year, mean + 1.645 * deviation, color=BLUE, ls="--", lw=1.2, label="ridge: 90 % of years")
left.plot(mines.year, mean - 1.645 * deviation, color=BLUE, ls="--", lw=1.2)
left.axhline(0, color="0.3", lw=0.8)
left.set(xlabel="year", ylabel="disasters")
left.legend(frameon=False)

# %%
# Now eight of a hundred concentrations are noted in a wrong unit, ten times too large. The median error on children
# whose values are right, ten times with other children:

children = at_hand.urine()
print(children.source)
x, y = np.log1p(children.age)[:, None], children.gag
machines = {
    "KernelRidge": mc.KernelRidge(1.0, mc.Gaussian(2.0)),
    "KernelHuber": mc.KernelHuber(1.0, 3.0, mc.Gaussian(2.0)),  # δ = 3 in the units of y
}
errors = {name: [] for name in machines}
for seed in range(10):
    rng = np.random.default_rng(seed)
    train, test = np.split(rng.permutation(len(y)), [200])
    spoiled = y[train].copy()
    spoiled[rng.choice(200, 16, replace=False)] *= 10
    for name, machine in machines.items():
        both = [machine.fit(x[train], t).predict(x[test]) for t in (y[train], spoiled)]
        errors[name].append([np.median(np.abs(f - y[test])) for f in both])
for name in machines:
    clean, wrong = np.mean(errors[name], axis=0)
    print(f"{name}: {clean:.2f} from right values, {wrong:.2f} with those in a wrong unit among them")
(clean, spoilt), (clean_huber, spoilt_huber) = (np.mean(errors[name], axis=0) for name in machines)
assert clean_huber < 1.15 * clean  # costs little where nothing is wrong …
assert spoilt > 2.5 * clean  # … where squares are misled …
assert spoilt_huber < 1.2 * clean  # … and it is hardly

# %%
# The coefficient of a sample is its force. Of the Huber loss it is at most δ/(2λ), and just those samples reach it
# whose errors are larger than δ: the machine says itself which values it does not believe.

huber, misled = (machines[name].fit(x[train], spoiled) for name in ("KernelHuber", "KernelRidge"))
age = np.linspace(children.age.min(), children.age.max(), 300)
wrong = spoiled != y[train]
right.plot(children.age[train], spoiled, ".", color=GREY, ms=4)
right.plot(children.age[train][wrong], spoiled[wrong], "x", color="0.2", ms=5, label="wrong unit")
right.plot(age, misled.predict(np.log1p(age)[:, None]), color=BLUE, lw=2, label="KernelRidge")
right.plot(age, huber.predict(np.log1p(age)[:, None]), color=VERMILION, lw=2, label="KernelHuber")
right.set(xlabel="age, years", ylabel="concentration as noted", ylim=(-5, 190))
right.legend(frameon=False)
at_most = 3.0 / (2 * huber.alpha)
force = np.zeros(len(train))
force[huber.support_] = np.ravel(huber.dual_coef_)
assert np.abs(force).max() < at_most * (1 + 1e-6)
disbelieved = np.abs(force) > at_most * (1 - 1e-6)
print(
    f"not believed: {np.mean(disbelieved[wrong]):.0%} of the wrong values, {np.mean(disbelieved[~wrong]):.0%} of others"
)
error = np.abs(spoiled - huber.predict(x[train]))
assert np.all(disbelieved[error > 3.0 + 1e-6])
assert not disbelieved[error < 3.0 - 1e-6].any()
assert np.mean(disbelieved[wrong]) > 0.8 > 0.5 > np.mean(disbelieved[~wrong])
plt.show()
