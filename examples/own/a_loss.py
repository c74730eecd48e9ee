"""
What if some values are only known to be small?
===============================================

An instrument has a limit: below it there is no number, only "less than". To leave such samples out makes the curve
too high, for it is the low ones that are missing; to write the limit in their place does so as well. What is known of
them is that they are below, and how probable that is depends on f(x): a loss can say that.

A loss of one's own is a class with two methods. Here the values below the limit are known to us and hidden from the
machines, so that one can see who finds the curve through all of them.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import log_ndtr
from sklearn.base import clone

import mercer as mc
from mercer.losses import Loss

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#9A9A9A"

# %%
# With normal noise of the size σ a measured value costs (y − f)²/2σ², as usual, and one below the limit the logarithm
# of its probability, −log Φ((limit − f)/σ): next to nothing where f is far below, and more the higher f is. Both are
# convex in f. Value and slope are enough; the curvature lets the solver take Newton's steps.


@dataclass(frozen=True)
class Censored(Loss):
    """(y − f)²/2σ² for y above the limit, −log Φ((limit − f)/σ) for y at it: there y is only known to be no larger."""

    limit: float
    sigma: float

    def value(self, y, f):
        return np.where(y > self.limit, 0.5 * ((y - f) / self.sigma) ** 2, -log_ndtr((self.limit - f) / self.sigma))

    def gradient(self, y, f):
        return np.where(y > self.limit, (f - y) / self.sigma**2, self._hazard(f)[0] / self.sigma)

    def curvature(self, y, f):
        hazard, s = self._hazard(f)
        return np.where(y > self.limit, 1.0, hazard * (hazard + s)) / self.sigma**2

    def _hazard(self, f):
        """φ(s)/Φ(s) at s = (limit − f)/σ, and s."""
        s = (self.limit - f) / self.sigma
        return np.exp(-0.5 * s**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(s)), s


# %%
# Slope and curvature against differences, and the loss above its tangents, which is what convex means.

rng = np.random.default_rng(0)
y, f, h = np.maximum(rng.standard_normal(200), 0.0), rng.standard_normal(200), 1e-6
loss = Censored(0.0, 0.5)
assert np.allclose(loss.gradient(y, f), (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h), atol=1e-6)
assert np.allclose(loss.curvature(y, f), (loss.gradient(y, f + h) - loss.gradient(y, f - h)) / (2 * h), atol=1e-5)
g = f + rng.standard_normal(200)
assert np.all(loss.value(y, g) >= loss.value(y, f) + loss.gradient(y, f) * (g - f) - 1e-12)

# %%
# Concentrations in the urine of children, on the scale of their logarithm, seen by an instrument that stops at 5. The
# curve through all values is what the machines should find. σ is the scatter of children below two years, of whom
# nearly all can be measured.

data = at_hand.urine()
print(data.source)
x, full = np.log1p(data.age)[:, None], np.log(data.gag)
limit, old = np.log(5.0), data.age > 8
seen, below = np.maximum(full, limit), full <= limit
print(f"below the limit: {below.mean():.0%} of {len(full)} values, {below[old].mean():.0%} of those above eight years")
kernel, young = mc.Gaussian(2.0), data.age < 2
sigma = np.std(seen[young] - mc.KernelRidge(0.1, kernel).fit(x[young], seen[young]).predict(x[young]))
alpha = 0.5
ridge = mc.KernelRidge(2 * alpha * sigma**2, kernel)  # the same weight of the norm
curves = {
    "all values (not known)": clone(ridge).fit(x, full),
    "left out": clone(ridge).fit(x[~below], full[~below]),
    "limit in their place": clone(ridge).fit(x, seen),
    "the loss that knows": mc.RepresenterMachine(Censored(limit, sigma), alpha=alpha, kernel=kernel).fit(x, seen),
}
truth = curves["all values (not known)"].predict(x)
print(f"σ = {sigma:.2f}; solved by {curves['the loss that knows'].solver_}")
assert curves["the loss that knows"].converged_
away = {}
for name, machine in list(curves.items())[1:]:
    away[name] = np.mean(machine.predict(x)[old] - truth[old])
    print(f"{name:<22} above eight years {np.exp(away[name]) - 1:+.0%} from the curve through all values")
assert abs(away["the loss that knows"]) < 0.5 * min(away["left out"], away["limit in their place"])

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ax.plot(data.age[~below], data.gag[~below], ".", color="0.4", ms=5, label="measured")
ax.plot(data.age[below], data.gag[below], ".", color="0.85", ms=5, label="below the limit: not seen")
age = np.linspace(data.age.min(), data.age.max(), 300)
styles = [("0.2", "--"), (GREEN, "-"), (BLUE, "-"), (VERMILION, "-")]
for (name, machine), (colour, style) in zip(curves.items(), styles, strict=True):
    ax.plot(age, np.exp(machine.predict(np.log1p(age)[:, None])), style, color=colour, lw=2, label=name)
ax.axhline(5.0, color=GREY, lw=1, ls=":")
ax.set(xlabel="age, years", ylabel="GAG in urine", yscale="log", ylim=(1.5, 60))
ax.set_yticks([2, 5, 7, 10, 20, 50], ["2", "5", "7", "10", "20", "50"])
ax.minorticks_off()
ax.legend(frameon=False)

# %%
# With a limit that no value reaches the machine is the ridge.

never = mc.RepresenterMachine(Censored(-10.0, sigma), alpha=alpha, kernel=kernel).fit(x, full)
assert np.allclose(never.predict(x), truth, atol=1e-6)
plt.show()
