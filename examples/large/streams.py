"""
A stream that changes: to remember, or to forget?
=================================================

Samples come in batches, each is looked at once, and at most ``budget`` of them are kept. Two machines answer before
they are told each batch's targets, so that every error is one on samples that were not seen:

* ``KernelRLS`` is the ridge of *all* that has come, exactly, in the span of the samples it keeps. All batches count
  alike.
* ``KernelSGDRegressor`` with a constant step η moves down the slope of the newest error,
  f ← (1 − 2ηλ) f − η ℓ′ k(x, ·). What it learnt t samples ago has been multiplied by (1 − 2ηλ)ᵗ, and overwritten.

As long as the law is the same, to remember everything is best. Then the function begins to move.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer as mc

INK, ACCENT, SOFT = "#222222", "#D55E00", "#0072B2"
rng = np.random.default_rng(0)
n_batches, size, turn = 240, 50, 120


def truth(x, batch):
    """sin(2x), which from batch 120 on wanders to the right."""
    return np.sin(2 * x - 0.05 * max(0, batch - turn))


def batches():
    for batch in range(n_batches):
        X = rng.uniform(-3, 3, (size, 1))
        yield batch, X, truth(X[:, 0], batch) + 0.3 * rng.standard_normal(size)


# %%
# The kernel has a number for its width: with "scale" or "median" it would be bound to the first batch.

kernel = mc.Gaussian(2.0)
machines = {
    "remembers all: KernelRLS": mc.KernelRLS(0.1, kernel, budget=60),
    "forgets: KernelSGDRegressor": mc.KernelSGDRegressor(None, 1e-4, kernel, budget=60, step="constant", eta0=0.1),
}
errors = {name: [] for name in machines}
for batch, X, y in batches():
    for name, machine in machines.items():
        f = machine.predict(X) if batch else np.zeros(size)
        errors[name].append(np.mean((f - truth(X[:, 0], batch)) ** 2))
        machine.partial_fit(X, y)

# %%
# The error is that against the function without noise, averaged over ten batches.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained", width_ratios=[3, 2])
line = np.linspace(-3, 3, 300)[:, None]
for (name, machine), colour in zip(machines.items(), (INK, ACCENT), strict=True):
    smooth = np.convolve(errors[name], np.ones(10) / 10, mode="valid")
    left.semilogy(np.arange(9, n_batches), smooth, color=colour, label=name)
    right.plot(line, machine.predict(line), color=colour, label=name)
left.axvline(turn, color=SOFT, linestyle="--")
left.text(turn + 2, left.get_ylim()[0] * 1.3, "the function begins to move", color=INK)
left.set(xlabel="batch of 50 samples", ylabel="mean squared error, before learning")
left.legend(frameon=False, loc="upper left")
right.plot(line, truth(line, n_batches), "--", color=SOFT, linewidth=3, label="truth", zorder=0)
right.set(xlabel="x", ylabel="f(x)", title="After the last batch", ylim=(-1.6, 1.6))

all_, recent = (np.array(errors[name]) for name in machines)
assert all_[40:turn].mean() < recent[40:turn].mean()  # the same law: to remember is better
assert recent[-60:].mean() < all_[-60:].mean() / 3  # a law that moves: to forget
assert all(machine.n_samples_seen_ == n_batches * size for machine in machines.values())
assert all(len(machine.support_) <= 60 for machine in machines.values())
plt.show()
