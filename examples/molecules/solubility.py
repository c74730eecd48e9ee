"""
How soluble is a molecule, and how sure is the answer?
======================================================

Solubility depends on the groups of a molecule, which fingerprints see, and on its size and oiliness as a whole, which
they do not. Kernels add up, so one ridge looks at both; and being the mean of a Gaussian process, it says how sure it
is of each answer. It is least sure of molecules that are like none it has learnt from.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import mercer as mc

sys.path.insert(0, str(Path(sys.argv[0]).resolve().parents[1]))
import at_hand

BLUE, VERMILION = "#0072B2", "#D55E00"
data = at_hand.solubilities()
print(data.source)
train, test, y, y_test = train_test_split(data.smiles, data.y, test_size=0.3, random_state=0)

# %%
# Three kernels: common neighbourhoods of atoms, counted (MinMax is Σ min/Σ max of the counts); six numbers of the
# whole molecule, standardised; the sum of both. The ridge λ is that of the least leave-one-out error, which one
# decomposition of the matrix gives for all λ.

prints = mc.MinMax(mc.Morgan(2, counts=True, chirality=False))
whole = mc.Descriptors(
    mc.Gaussian("scale"), ["MolWt", "MolLogP", "TPSA", "NumRotatableBonds", "RingCount", "FractionCSP3"]
)
errors, machines = {}, {}
for name, kernel in {"fingerprints": prints, "descriptors": whole, "sum of both": prints + whole}.items():
    chosen = mc.KernelRidgeCV(kernel=kernel).fit(train, y)
    machines[name] = mc.KernelRidge(chosen.alpha_, kernel).fit(train, y)
    errors[name] = np.sqrt(np.mean((machines[name].predict(test) - y_test) ** 2))
    print(f"{name:<13} λ = {chosen.alpha_:.2g}, error on {len(test)} molecules {errors[name]:.2f}")
assert errors["sum of both"] < errors["fingerprints"]

# %%
# The posterior has variance σ²(k(x, x) − k_xᵀ(K + λI)⁻¹k_x), to which the noise σ²λ is added for a new measurement. If
# the model were true, errors divided by these deviations would be normal with variance 1.

mean, deviation = machines["sum of both"].predict(test, return_std=True, include_noise=True)
inside = np.mean(np.abs(y_test - mean) < 1.96 * deviation)
order = np.argsort(deviation)
thirds = [np.sqrt(np.mean((y_test - mean)[part] ** 2)) for part in np.array_split(order, 3)]
print(f"{inside:.0%} of measurements are within 1.96 deviations")
print("errors of the surest third, the next and the least sure:", np.round(thirds, 2))
assert 0.85 < inside <= 1

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(8, 3.6), layout="constrained", width_ratios=[1, 2, 2])
left.bar(list(errors), list(errors.values()), color=[BLUE, BLUE, VERMILION])
left.tick_params(axis="x", rotation=30)
left.set_ylabel("root mean squared error, log₁₀ mol/l")
mc.RegressionDisplay.from_predictions(
    y_test, mean, interval=np.column_stack([mean - 1.96 * deviation, mean + 1.96 * deviation]), ax=middle
)
middle.set(xlabel="measured, log₁₀ mol/l", ylabel="predicted, with 95 % intervals", title="")
right.scatter(deviation, np.abs(y_test - mean), s=14, color=BLUE, alpha=0.6, linewidths=0)
ends = np.array([deviation.min(), deviation.max()])
right.plot(ends, 1.96 * ends, color=VERMILION, label="1.96 deviations")
right.set(xlabel="deviation that the ridge states, log₁₀ mol/l", ylabel="error, absolute, log₁₀ mol/l")
right.legend(loc="upper left", frameon=False)

# %%
# What was the ridge least sure of?

for i in order[-4:]:
    print(f"{test[i]:<42} {mean[i]:6.2f} ± {1.96 * deviation[i]:.2f}, measured {y_test[i]:6.2f}")
plt.show()
